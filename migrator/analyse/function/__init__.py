"""What is known of one function, a model_fn or a helper, and what the rules tell about a library."""
