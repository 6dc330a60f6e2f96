"""What `tf.contrib` has: layers, which slim has too, what stands around them, and functions under other names."""
