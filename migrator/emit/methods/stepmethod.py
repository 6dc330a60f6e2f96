"""Writes the frame of `train_step`: the tape, what is done with its gradients, and the metrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from migrator.analyse.results.fedlabels import given_labels
from migrator.rewrite import Row, code, given, rows, statements

if TYPE_CHECKING:
    from migrator.emit.modelwriter import ModelWriter


def plain_step_method(generator: ModelWriter) -> Sequence[Row]:
    """The train step of Keras, for a model that needs the labels, or without metrics."""
    minimized = statements(
        """
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        """
    )
    return step_method(generator, minimized)


def step_method(
    generator: ModelWriter,
    body: Sequence[Row],
    persistent: bool = False,
    multiples: Sequence[Row] = (),
    before: Sequence[Row] = (),
) -> Sequence[Row]:
    """A train step whose `body` updates the weights, on the gradients of a tape: those of the loss, or of `multiples` of it.

    What these read stands `before` the tape.
    """
    loss = "loss = self.compute_loss(x, y, y_pred, sample_weight)"
    metrics = "self.compute_metrics(x, y, y_pred, sample_weight)"
    return statements(
        """
        def train_step(self, data):
            x, y, sample_weight = {tf}.keras.utils.unpack_x_y_sample_weight(data)
            {before}
            with {tf}.GradientTape({persistent}) as tape:
                y_pred = self(x, {labels}, training=True)
                {loss}
                {multiples}
            {body}
            return {results}
        """,
        tf=generator.shared.tf,
        results=code('{"loss": self.loss_metric.result()}' if generator.only_evaluates else metrics),
        persistent=given("persistent=True" if persistent else ""),
        labels=given(given_labels(generator)),
        loss=rows(["losses = self.compute_losses(x, y, y_pred)" if generator.plan.partial_losses else loss]),
        before=list(before),
        multiples=list(multiples),
        body=body,
    )
