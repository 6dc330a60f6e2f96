"""What becomes of public Estimator programs: rebuilt from mirrors, migrated, run and compared."""
