"""What an input function returns."""
