"""Initializers: those of tf.contrib, and objects that several weights start with."""
