"""Classes derived from RunConfig."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, migrate, migrate_all

HEAD = f"""import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


"""
CLASS = '''class Config(tf.estimator.RunConfig):
    """With the data."""

    SUFFIX = ".csv"

    def __init__(self, data, seed=1):
        super(Config, self).__init__(tf_random_seed=seed, session_config=None, save_checkpoints_steps=4)
        self._data = data

    @property
    def data(self):
        return self._data + self.SUFFIX, self.tf_random_seed


'''
USE = 'config = Config("births")\nestimator = tf.estimator.Estimator(model_fn, config=config)\nprint(config.data)\n'


def test_a_class_stays() -> None:
    text = migrate(HEAD + CLASS + USE)
    assert "class Config(DerivedRunConfig):" in text
    assert "super(Config, self).__init__(tf_random_seed=seed, save_checkpoints_steps=4)" in text
    assert 'config = Config("births")' in text and "create_model(config=config)" in text


def test_arguments_of_its_makers_are_those_of_run_config() -> None:
    made = 'class Config(tf.estimator.RunConfig):\n    uid = "x"\n\n\n'
    use = "import tensorflow as tf\nfrom model import Config, model_fn\n"
    use += "config = Config(keep_checkpoint_max=3, train_distribute=tf.distribute.MirroredStrategy())\n"
    use += "estimator = tf.estimator.Estimator(model_fn, config=config)\n"
    after = migrate_all({"model.py": HEAD + made, "main.py": use})
    assert "class Config(DerivedRunConfig):" in after["model.py"]
    assert "Config(keep_checkpoint_max=3, strategy=tf.distribute.MirroredStrategy())" in after["main.py"]


def test_keywords_that_are_handed_on() -> None:
    made = "class Config(tf.estimator.RunConfig):\n    def __init__(self, rate, **kwargs):\n"
    made += "        super().__init__(**kwargs)\n        self.rate = rate\n\n"
    made += "    def twice(self):\n        return 2 * self.rate\n\n\n"
    use = USE.replace('Config("births")', "Config(0.1, model_dir='m')").replace(".data", ".twice()")
    text = migrate(HEAD + made + use)
    assert "super().__init__(model_dir=model_dir)" in text and "Config(0.1, model_dir='m')" in text
    use = USE.replace('Config("births")', "Config(0.1, **more)")
    assert "hidden behind **" in manual_reason(HEAD + made + use)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("def data(self)", "def model_dir(self)", "a field of RunConfig anew"),
        ("self._data = data", "self._data = data\n        self._model_dir = data", "uses `_model_dir`"),
        ("self.tf_random_seed", "self.is_chief", "uses `is_chief`"),
        ("self.tf_random_seed", "self._session", "private to RunConfig"),
        ("(tf.estimator.RunConfig)", "(tf.estimator.RunConfig, Mixin)", "several bases"),
        ("        super", "        self.x = -1\n        super", "sets attributes before"),
        ("return self._data", "return super().replace(), self._data", "`super` for more"),
        ("\n\n\n", "\n\n\nclass Other(Config):\n    pass\n\n\n", "derived from it"),
    ],
)
def test_classes_that_do_more_are_refused(old: str, new: str, reason: str) -> None:
    made = CLASS[::-1].replace(old[::-1], new[::-1], 1)[::-1] if old.isspace() else CLASS.replace(old, new)
    assert reason in manual_reason(HEAD + made + USE)
