"""What `tf.contrib` gave to graphs of TensorFlow 1."""
