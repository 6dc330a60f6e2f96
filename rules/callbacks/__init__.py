"""What `fit` is given to call while it trains."""
