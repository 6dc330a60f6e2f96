"""Source of the code that is copied into migrated programs."""
