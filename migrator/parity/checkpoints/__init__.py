"""`migrate checkpoint`: turns checkpoints of Estimators into those of migrated programs."""
