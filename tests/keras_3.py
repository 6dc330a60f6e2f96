"""Which fixtures are not trained with Keras 3, and why; `docs/keras-3.md` says what to do about each reason."""

from __future__ import annotations

KEPT = "a kept model_fn"
OPTIMIZERS = "an optimizer of `tf.keras.optimizers.legacy`"
SEVERAL = "several devices or machines"
LAYERS = "layers that Keras 3 computes otherwise"
SERVED = "SavedModels without a signature that is served by default, or of models with lookup tables"
RANKS = "`BinaryCrossentropy` as a metric of labels `[batch]` and logits `[batch, 1]`"

NOT_WITH_KERAS_3 = {
    "bert/train_ops": KEPT,
    "bridge/heads_and_warm_start": KEPT,
    "bridge/hooks_and_scaffold": KEPT,
    "bridge/lookup_tables": KEPT,
    "bridge/method_with_ema": KEPT,
    "canned/articles": OPTIMIZERS,
    "canned/births": SERVED,
    "canned/chosen_optimizers": OPTIMIZERS,
    "canned/clicks": SERVED,
    "canned/heating": SERVED,
    "canned/titanic": OPTIMIZERS,
    "canned/wide_and_deep/parameter servers": SEVERAL,
    "classifiers/grades": SERVED,
    "distribution/mirrored": SEVERAL,
    "distribution/sharded_tables/mirrored_workers": SEVERAL,
    "distribution/sharded_tables/parameter_servers": SEVERAL,
    "images/gan": LAYERS,
    "images/resnet": LAYERS,
    "images/sizes": LAYERS,
    "input/csv_dataset": OPTIMIZERS,
    "keras_estimator/digits": "`input_names` of a Keras model",
    "keras_layers/network": LAYERS,
    "lifecycle/checkpoints": SERVED,
    "lifecycle/formats": SERVED,
    "losses/penalties": LAYERS,
    "text/reviews": RANKS,
}
"""Fixtures, or single cases of them, and what Keras 3 does not have for them."""
