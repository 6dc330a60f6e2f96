"""Runs both sides of a comparison in processes of their own."""
