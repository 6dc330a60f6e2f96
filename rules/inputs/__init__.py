"""Input functions, feature columns and lookup tables."""
