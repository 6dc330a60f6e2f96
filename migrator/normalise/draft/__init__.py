"""The steps of the preparation, and the modules that they rewrite."""
