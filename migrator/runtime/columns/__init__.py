"""Feature columns, and the same on Keras preprocessing layers."""
