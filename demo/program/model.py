"""DeepFM: a factorization machine and a deep network over the same embeddings."""
import tensorflow as tf


def model_fn(features, labels, mode, params):
    fields, size = params["fields"], params["embedding_size"]
    ids, values = features["ids"], features["values"]

    # The tables are shared out over the parameter servers.
    partitioner = tf.fixed_size_partitioner(params["num_ps"])
    with tf.variable_scope("fm", partitioner=partitioner):
        weights = tf.get_variable("weights", [params["features"]], initializer=tf.glorot_normal_initializer())
        factors = tf.get_variable("factors", [params["features"], size], initializer=tf.glorot_normal_initializer())
    bias = tf.get_variable("bias", [1], initializer=tf.zeros_initializer())

    # First order: sum of w x
    first_order = tf.reduce_sum(tf.nn.embedding_lookup(weights, ids, partition_strategy="div") * values, axis=1, keepdims=True)

    # Second order: half of (square of the sum - sum of the squares)
    embeddings = tf.nn.embedding_lookup(factors, ids, partition_strategy="div")
    embeddings = tf.multiply(embeddings, tf.expand_dims(values, -1))
    sum_square = tf.square(tf.reduce_sum(embeddings, axis=1))
    square_sum = tf.reduce_sum(tf.square(embeddings), axis=1)
    second_order = 0.5 * tf.reduce_sum(sum_square - square_sum, axis=1, keepdims=True)

    # Deep part
    regularizer = tf.keras.regularizers.l2(params["l2"])
    deep = tf.reshape(embeddings, [-1, fields * size])
    for i, units in enumerate(params["deep_layers"]):
        deep = tf.layers.dense(deep, units, activation=tf.nn.relu, kernel_regularizer=regularizer, name="deep_%d" % i)
        if mode == tf.estimator.ModeKeys.TRAIN:
            deep = tf.nn.dropout(deep, keep_prob=params["keep_prob"])
    deep = tf.layers.dense(deep, 1, name="deep_out")

    logits = bias + first_order + second_order + deep
    probability = tf.sigmoid(logits)
    predictions = {"probability": probability}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions=predictions)

    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits))
    loss = loss + tf.losses.get_regularization_loss()
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={
            "auc": tf.metrics.auc(labels, probability),
            "accuracy": tf.metrics.accuracy(labels, tf.round(probability)),
        })

    optimizer = tf.train.AdamOptimizer(params["learning_rate"])
    train_op = optimizer.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)
