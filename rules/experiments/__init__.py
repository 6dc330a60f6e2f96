"""`tf.contrib.learn.Experiment` and what runs it, spelled out as what it does with an Estimator."""
