"""Classes derived from an Estimator that only say how it is made: functions that make it."""

from __future__ import annotations

from collections.abc import Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Drafts
from migrator.normalise.objects.derived import functions_of_classes

from ..estimator_calls.estimator_kinds import KINDS


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Makes functions of such classes. What is no such class stays, with the obstacle noted.

    ```python
    import tensorflow as tf


    class Net(tf.estimator.Estimator):
        def __init__(self, units):
            super().__init__(model_fn, params={"units": units})


    net = Net(8)
    ```
    becomes
    ```python
    import tensorflow as tf


    def Net(units):
        return tf.estimator.Estimator(model_fn, params={"units": units})


    net = Net(8)
    ```
    """
    functions_of_classes(drafts, list(paths), KINDS.__contains__)
