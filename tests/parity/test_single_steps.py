"""Replayed programs take one step per call, whatever they are compiled for."""

from __future__ import annotations

from typing import Any

from migrator.parity.probe.steps import compile_single_steps


class Model:
    """What Keras does with what it is compiled with, as far as it matters here."""

    def compile(self, optimizer: str = "rmsprop", **named: Any) -> None:
        """Keep what was given."""
        self.given = {"optimizer": optimizer, **named}


class Derived(Model):
    """A model of a program that compiles itself."""

    def compile(self, optimizer: str = "adam", **named: Any) -> None:
        super().compile(optimizer, steps_per_execution=100, **named)


def test_models_are_compiled_for_one_step_per_call() -> None:
    base = type("Base", (Model,), {})
    compile_single_steps(base)
    models = base(), base(), type("Own", (Derived, base), {})()
    models[0].compile("sgd", steps_per_execution=100, loss="mse")
    models[1].compile("sgd")
    models[2].compile()
    assert [model.given for model in models] == [
        {"optimizer": "sgd", "steps_per_execution": 1, "loss": "mse"},
        {"optimizer": "sgd"},
        {"optimizer": "adam", "steps_per_execution": 1},
    ]
