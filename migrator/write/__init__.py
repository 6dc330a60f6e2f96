"""Writes results: whole programs or nothing, and what takes them back."""
