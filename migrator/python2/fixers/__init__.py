"""Fixers of 2to3 that write what a person would write. Loaded by name, as those of fissix are."""
