"""Copies helpers from `migrator.runtime` into migrated programs, trimmed to what each uses."""
