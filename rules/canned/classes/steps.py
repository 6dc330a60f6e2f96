"""How the model of a canned Estimator is trained: by an optimizer for each of its parts."""

from __future__ import annotations

from collections.abc import Iterator

from ..networks import Network

SLOTS = "{model}.build_optimizers()"
"""The statement that makes what both optimizers keep."""


def training(network: Network, tf: str, uncounted: bool, built: bool) -> Iterator[str]:
    """The methods by which each part of a model has its optimizer, and takes no step without a batch.

    Args:
      network: the canned Estimator.
      tf: the file's name for TensorFlow.
      uncounted: whether one of several trainings may reach the end of data of an unknown number.
      built: whether both optimizers are made before a checkpoint is restored.
    """
    step = ["return super().train_step(data)"]
    if network.combined:
        yield from _compile()
        yield from _parts(network) if built else ()
        step = list(_step(network, tf, built))
    elif not uncounted:
        return
    yield from ["", "    def train_step(self, data):"]
    if uncounted:
        yield "        # Else Keras counts a step where it finds that the data end."
        yield f"        with {tf}.control_dependencies({tf}.nest.flatten(data, expand_composites=True)):"
    yield from (f"        {'    ' * uncounted}{line}" for line in step)


def _compile() -> Iterator[str]:
    """The method that takes a second optimizer."""
    yield ""
    yield "    def compile(self, optimizer, linear_optimizer, **kwargs):"
    yield "        super().compile(optimizer, **kwargs)"
    yield "        self.linear_optimizer = linear_optimizer"


def _weights(network: Network) -> Iterator[str]:
    """The lines that tell the weights of both parts apart."""
    linear = "[self.bias, *(weight for column in self.columns for weight in column.trainable_variables)]"
    if network.preprocessed:
        linear = "self.linear_model.trainable_variables"
    yield f"linear = {linear}"
    yield "network = [weight for weight in self.trainable_variables if all(weight is not other for other in linear)]"


def _parts(network: Network) -> Iterator[str]:
    """The methods that tell both parts apart, and make their optimizers."""
    yield from ["", "    def parts(self):"]
    yield '        """The weights of the network, and those of the weighted sum."""'
    yield from (f"        {line}" for line in _weights(network))
    yield "        return network, linear"
    yield from ["", "    def build_optimizers(self):"]
    yield '        """Makes what the optimizers keep, which Keras 3 restores no sooner."""'
    yield "        network, linear = self.parts()"
    yield "        self.optimizer.build(network)"
    yield "        self.linear_optimizer.build(linear)"


def _step(network: Network, tf: str, built: bool) -> Iterator[str]:
    """The step of both optimizers."""
    yield f"x, y, sample_weight = {tf}.keras.utils.unpack_x_y_sample_weight(data)"
    yield f"with {tf}.GradientTape() as tape:"
    yield "    y_pred = self(x, training=True)"
    yield "    loss = self.compute_loss(x, y, y_pred, sample_weight)"
    yield from ["network, linear = self.parts()"] if built else _weights(network)
    yield "gradients, linear_gradients = tape.gradient(loss, [network, linear])"
    yield "self.optimizer.apply_gradients(zip(gradients, network))"
    yield "self.linear_optimizer.apply_gradients(zip(linear_gradients, linear))"
    yield "return self.compute_metrics(x, y, y_pred, sample_weight)"
