"""SavedModels that a program exports, with the signatures that they had."""
