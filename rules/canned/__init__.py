"""Canned Estimators and their heads."""
