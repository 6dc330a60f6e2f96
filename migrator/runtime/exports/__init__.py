"""SavedModels with the signatures of an Estimator."""
