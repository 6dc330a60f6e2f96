"""Compares what both sides recorded."""
