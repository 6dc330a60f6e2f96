"""Which fixtures are not trained with Keras 3, and why; `docs/keras-3.md` says what to do about each reason."""

from __future__ import annotations

COLUMNS = "feature columns as inputs of layers"
KEPT = "a kept model_fn"
OPTIMIZERS = "an optimizer of `tf.keras.optimizers.legacy`"
SEVERAL = "several devices or machines"
LAYERS = "layers that Keras 3 computes otherwise"
SERVED = "SavedModels without a signature that is served by default, or of models with lookup tables"
NAMES = "weights of a canned model by name"

NOT_WITH_KERAS_3 = {
    "bert/train_ops": KEPT,
    "bridge/heads_and_warm_start": KEPT,
    "bridge/hooks_and_scaffold": KEPT,
    "bridge/lookup_tables": KEPT,
    "bridge/method_with_ema": KEPT,
    "canned/articles": COLUMNS,
    "canned/births": COLUMNS,
    "canned/chosen_optimizers": COLUMNS,
    "canned/classes_by_name": COLUMNS,
    "canned/clicks": COLUMNS,
    "canned/columns": COLUMNS,
    "canned/heating": COLUMNS,
    "canned/housing": NAMES,
    "canned/iris": COLUMNS,
    "canned/titanic": OPTIMIZERS,
    "canned/wide_and_deep": COLUMNS,
    "canned/wines": COLUMNS,
    "classifiers/grades": SERVED,
    "distribution/mirrored": SEVERAL,
    "distribution/sharded_tables/parameter_servers": SEVERAL,
    "distribution/sharded_tables/mirrored_workers": SEVERAL,
    "images/gan": LAYERS,
    "images/resnet": LAYERS,
    "images/sizes": LAYERS,
    "input/csv_dataset": OPTIMIZERS,
    "keras_layers/network": LAYERS,
    "losses/penalties": LAYERS,
    "keras_estimator/digits": "`input_names` of a Keras model",
    "lifecycle/checkpoints": COLUMNS,
    "lifecycle/formats": COLUMNS,
    "lifecycle/watchers": COLUMNS,
    "programs/inherited": COLUMNS,
    "recurrent/baskets": COLUMNS,
    "text/reviews": COLUMNS,
}
"""Fixtures, or single cases of them, and what Keras 3 does not have for them."""
