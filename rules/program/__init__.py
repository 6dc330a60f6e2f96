"""Whole Estimator programs: which files belong together, and their rewrite."""
