"""Training and evaluation on several replicas, as an Estimator does it: each replica takes batches of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.cluster.tasks import ClusterError, cluster_task
from migrator.runtime.cluster.worker_checkpoints import PAUSE
from migrator.runtime.training.execution import StepGrouper
from migrator.runtime.training.local_run import LocalRun


class ReplicaRun(LocalRun):
    """Training and evaluation on the replicas of the strategy in whose scope the model was created."""

    def input_context(self, mode: str) -> tf.distribute.InputContext | None:
        """One of as many pipelines as there are processes. None where Estimators gave none, and read everything."""
        strategy = {"train": self.model.distribute_strategy, "eval": self.config.eval_strategy}.get(mode)
        if strategy in (None, tf.distribute.get_strategy()):
            return None
        replicas = strategy.num_replicas_in_sync
        if replicas == 1 or replicas == len(strategy.extended.worker_devices):
            return tf.distribute.InputContext(num_replicas_in_sync=replicas)
        task = cluster_task()
        return tf.distribute.InputContext(task.num_worker_replicas, task.global_id_in_cluster, replicas)

    def create_variables(self, spec: Any, training: bool) -> Any:
        with self.model.distribute_strategy.scope():
            traced = super().create_variables(spec, training)
        self.alone = training and traced is not None and gathers_rows(self.model, traced)
        return traced

    def batches(self, dataset: tf.data.Dataset, steps: int | None) -> tuple[Any, int | None]:
        strategy = self.model.distribute_strategy
        if strategy.num_replicas_in_sync == 1:
            return super().batches(dataset, steps)
        if steps is not None and dataset.cardinality() == tf.data.INFINITE_CARDINALITY:
            return share_out(strategy, dataset), steps
        # Where data may end, workers ask each other before each step whether all have a batch.
        return share_out(strategy, dataset, steps), -1

    def step_grouper(self) -> StepGrouper:
        """Lets each step that gathers rows run alone. Workers begin their calls at the same steps, and save at the same."""
        grouper, strategy = super().step_grouper(), self.model.distribute_strategy
        if isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy):
            pause = PAUSE if self.config.save_checkpoints_secs else None
            grouper = InStepGrouper(grouper.most, [*grouper.intervals, pause])
        grouper.most = 1 if self.alone else grouper.most
        return grouper

    def evaluation_batches(self, dataset: tf.data.Dataset, steps: int | None) -> tuple[Any, Any]:
        return share_out_evaluation(self.model, dataset, steps)

    def evaluate(self, batches: Any, callbacks: Sequence[Any]) -> dict[str, Any]:
        if isinstance(batches, tf.data.Dataset):
            return super().evaluate(batches, callbacks)
        model, self.model.steps_per_execution = self.model, 1
        results: dict[str, Any] = model.evaluate(batches, steps=-1, callbacks=callbacks, verbose=0, return_dict=True)
        return results

    def mean_loss(self, loss: tf.keras.metrics.Mean) -> tf.Tensor:
        """The mean of all replicas, which have added to it as often. Its own way, they sum twice: values, and their number."""
        replica = tf.distribute.get_replica_context()
        if replica is None or replica.num_replicas_in_sync == 1:
            return loss.result()
        return replica.all_reduce(tf.distribute.ReduceOp.MEAN, loss.total / loss.count)


class InStepGrouper(StepGrouper):
    """The same for workers in step: their calls have to begin at the same steps, however fast each is."""

    def in_a_second(self, steps: int) -> float:
        return self.most


def share_out(strategy: tf.distribute.Strategy, dataset: tf.data.Dataset, steps: int | None = None) -> Any:
    """Batches for `steps` in each of which each replica takes one. A rest that is too small for all is left out."""
    if strategy.num_replicas_in_sync == 1:
        return dataset if steps is None else dataset.take(steps)
    size = len(strategy.extended.worker_devices)  # replicas of this process
    if size > 1:
        number = dataset.cardinality()
        dataset = dataset.window(size, drop_remainder=True).flat_map(join_window)
        if number == tf.data.INFINITE_CARDINALITY:
            dataset = dataset.apply(tf.data.experimental.assert_cardinality(number))
    if steps is not None:
        dataset = dataset.take(steps * size)
    return strategy.distribute_datasets_from_function(lambda _: dataset)


def share_out_evaluation(model: tf.keras.Model, dataset: tf.data.Dataset, steps: int | None) -> tuple[Any, Any]:
    """Spec of what `test_step` gets, and the batches. Without an `eval_strategy` each batch counts, and counts once."""
    strategy, spec = model.distribute_strategy, dataset.element_spec
    level_statistics(model)
    if strategy.num_replicas_in_sync == 1 or model.run_config.eval_strategy is not None:
        return spec, share_out(strategy, dataset, steps)
    size = len(strategy.extended.worker_devices)
    dataset = dataset if steps is None else dataset.take(steps)
    if getattr(model, "handles_replicas", False):  # its first replica evaluates
        one = tf.data.Dataset.from_tensors
        dataset = dataset.flat_map(lambda *batch: one(batch if len(batch) > 1 else batch[0]).repeat(size))
        return spec, strategy.distribute_datasets_from_function(lambda _: dataset)

    def fill(*window: Any) -> tf.data.Dataset:
        batches = join_window(*window)
        filling = batches.take(1).repeat().map(lambda *batch: (False, batch))
        return batches.map(lambda *batch: (True, batch)).concatenate(filling).take(size)

    dataset = dataset.window(size).flat_map(fill)
    return dataset.element_spec, strategy.distribute_datasets_from_function(lambda _: dataset)


def level_statistics(model: tf.keras.Model) -> None:
    """Gives all replicas the mean of their moving statistics, as a checkpoint does: they evaluate with these."""
    if model.distribute_strategy.num_replicas_in_sync > 1:
        for variable in model.non_trainable_variables:
            if variable.synchronization == tf.VariableSynchronization.ON_READ:
                variable.assign(variable.read_value())


def join_window(*window: Any) -> tf.data.Dataset:
    """The batches of a window, of which each component is a dataset."""
    return tf.data.Dataset.zip(window if len(window) > 1 else window[0])


def run_on_replicas(model: tf.keras.Model) -> None:
    """Lets a model average gradients and losses over its replicas, as an Estimator does; Keras adds them up.

    A `train_step` that edits gradients edits those of its replica, before they are added up, as in an Estimator.

    Raises ClusterError for what would then differ.
    """
    config, compute_loss = model.run_config, model.compute_loss
    replicas = model.distribute_strategy.num_replicas_in_sync
    if config.eval_strategy is not None and config.eval_strategy.num_replicas_in_sync != replicas:
        raise ClusterError("The model evaluates on the replicas that it trains on: give the same strategy for both.")
    if config.strategy is not None and config.strategy.num_replicas_in_sync != replicas:
        raise ClusterError("The model was not created in the scope of the strategy that its RunConfig has.")
    if replicas == 1:
        return
    check_devices(model.distribute_strategy)
    if hasattr(tf.keras, "ops"):
        raise ClusterError("Keras 3 does not train on several replicas: install tf_keras, set TF_USE_LEGACY_KERAS=1.")
    if any(getattr(model.optimizer, name, None) for name in ("clipnorm", "clipvalue", "global_clipnorm")):
        raise ClusterError(
            "Keras would clip the gradients of all replicas together, not those of each: use one device."
        )
    own = getattr(model, "handles_replicas", False)
    if own and config.eval_strategy is not None:
        raise ClusterError("The model evaluates on one device: leave the strategy for evaluations out.")
    if "cond" in type(model).train_step.__code__.co_names:
        raise ClusterError("The model takes a step in some turns only, which replicas cannot: use one device.")
    if config.eval_strategy is None and not own:
        model.test_step = count_once(model, model.test_step)

    def compute_share(*args: Any, **kwargs: Any) -> Any:
        return compute_loss(*args, **kwargs) / replicas

    model.compute_loss = compute_share
    if hasattr(model, "compute_losses"):  # one for each of several optimizers
        compute_losses = model.compute_losses
        model.compute_losses = lambda *args: {name: loss / replicas for name, loss in compute_losses(*args).items()}
        model.compute_loss = compute_loss  # takes one of these
    model.distribute_reduction_method = "first"  # results are those of all replicas; Keras would sum them over workers
    held = [value for value in vars(model).values() if hasattr(value, "aggregate_gradients")]
    for optimizer in {id(optimizer): optimizer for optimizer in (*held, model.optimizer)}.values():
        if hasattr(optimizer, "aggregate_gradients"):
            sum_small_tables(optimizer)


def check_devices(strategy: tf.distribute.Strategy) -> None:
    """Raises ClusterError for devices that this process does not have: replicas would wait for them for ever."""
    devices = [tf.DeviceSpec.from_string(device.name) for device in tf.config.list_logical_devices()]
    here = [(device.device_type, device.device_index) for device in devices]
    for name in strategy.extended.worker_devices:
        device = tf.DeviceSpec.from_string(name)
        if (device.device_type, device.device_index) not in here:
            raise ClusterError(
                f"The strategy trains on {name}, which this process does not have. tf.config.list_logical_devices() has"
                " those that there are; tf.config.set_logical_device_configuration() makes several of one CPU or GPU."
            )


SMALL_TABLE = 1 << 20
"""Bytes up to which the gradients of a table are summed as a whole."""


def sum_small_tables(optimizer: Any) -> None:
    """Lets an optimizer sum the gradients of small tables with those of all other variables, in one operation.

    TensorFlow gathers rows that were looked up in three operations for each table: their number, ids and values. Each of
    them waits for all replicas, which takes longer than to send the other rows, too. How often each row was looked up is
    summed as another column, so that the optimizer is given the same rows.
    """
    aggregate = optimizer.aggregate_gradients

    def aggregate_whole(grads_and_vars: Any) -> Any:
        pairs = list(grads_and_vars)
        small = [
            isinstance(gradient, tf.IndexedSlices)
            and variable.shape.num_elements() * variable.dtype.size <= SMALL_TABLE
            for gradient, variable in pairs
        ]
        whole = [(sum_rows(*pair) if is_small else pair[0], pair[1]) for pair, is_small in zip(pairs, small)]
        summed = aggregate(whole)
        return [(looked_up_rows(*pair) if is_small else pair[0], pair[1]) for pair, is_small in zip(summed, small)]

    optimizer.aggregate_gradients = aggregate_whole


def sum_rows(gradient: tf.IndexedSlices, variable: tf.Variable) -> tf.Tensor:
    """The gradient of a table as a matrix [rows, size of a row + 1]; the last column counts how often a row is in it."""
    number = tf.shape(gradient.indices)[:1]
    values = tf.reshape(gradient.values, tf.concat([number, [variable.shape[1:].num_elements()]], 0))
    values = tf.concat([values, tf.ones(tf.concat([number, [1]], 0), values.dtype)], axis=1)
    return tf.math.unsorted_segment_sum(values, gradient.indices, variable.shape[0])


def looked_up_rows(summed: tf.Tensor, variable: tf.Variable) -> tf.IndexedSlices:
    """The rows of such a matrix that are in it at all, each once."""
    ids = tf.where(summed[:, -1] > 0)[:, 0]
    values = tf.reshape(tf.gather(summed[:, :-1], ids), [-1, *variable.shape[1:]])
    return tf.IndexedSlices(values, ids, tf.constant(variable.shape.as_list()))


def gathers_rows(model: tf.keras.Model, function: Any) -> bool:
    """Whether a traced function gathers rows of replicas, in numbers that may change from step to step.

    Replicas gather rows for the gradients of tables that are looked up. TensorFlow remembers for the whole of a call how
    many there are. Where all batches have one shape, so do these, and the shapes that are gathered first are constants.
    """
    if model.distribute_strategy.num_replicas_in_sync == 1:
        return False
    graph = function.graph.as_graph_def()
    for nodes in (graph.node, *(inner.node_def for inner in graph.library.function)):
        ops = {node.name: node.op for node in nodes}
        gathered = [ops.get(node.input[0].split(":")[0]) for node in nodes if node.op.startswith("CollectiveGather")]
        # What follows such a shape gathers the rows as they are, or padded.
        if any(op not in ("Const", "Pad", None) for op in gathered):
            return True
    return False


def count_once(model: tf.keras.Model, step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A test step for pairs (whether the batch counts, batch); one that does not leaves the metrics as they were."""

    def step_if_it_counts(data: Any) -> Any:
        counts, batch = data
        variables = [variable for metric in model.metrics for variable in metric.variables]
        before = [tf.identity(variable) for variable in variables]
        step(batch if len(batch) > 1 else batch[0])
        for variable, value in zip(variables, before):
            variable.assign(tf.where(counts, variable, value))
        return model.get_metrics_result()

    return step_if_it_counts
