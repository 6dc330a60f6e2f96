"""What programs of TensorFlow 1 need beside TensorFlow 2.15 to run as they did."""
