"""Runs a model_fn and what it was migrated to with symbols for tensors, and compares what they compute."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from modelfn.fakes import Metric, Symbol, World
from modelfn.programs import migrate

MODES = ("train", "eval", "infer")


@contextmanager
def _modules(modules: Mapping[str, Any]) -> Iterator[None]:
    held = {name: sys.modules.get(name) for name in modules}
    sys.modules.update(modules)
    try:
        yield
    finally:
        for name, module in held.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def _features() -> dict[str, Any]:
    return {key: Symbol(f"features.{key}") for key in ("x", "w", "z")}


def old_results(source: str, params: dict[str, Any]) -> dict[str, str]:
    """What the TF1 program computes in each mode."""
    results: dict[str, str] = {}
    for mode in MODES:
        world = World()
        scope: dict[str, Any] = {"PARAMS": params}
        with _modules(world.old()):
            exec(compile(source.replace("estimator = ", "unused = "), "old.py", "exec"), scope)
            made = scope["unused"]
            given = {"features": _features(), "labels": Symbol("labels"), "mode": mode, "params": made.params}
            accepted = inspect.signature(made.model_fn).parameters
            spec = made.model_fn(**{name: value for name, value in given.items() if name in accepted})
        if mode == "infer":
            results["predictions"] = repr(spec.predictions)
        else:
            results[f"{mode} loss"] = repr(spec.loss)
        if mode == "eval" and spec.metrics:
            results["metrics"] = repr({key: repr(value) for key, value in spec.metrics.items()})
        if mode == "train":
            results["optimizer"] = repr(spec.train_op)
    return results


def new_results(source: str, params: dict[str, Any], metrics: bool) -> dict[str, str]:
    """What the migrated program computes in each mode."""
    results: dict[str, str] = {}
    for mode in MODES:
        world = World()
        scope: dict[str, Any] = {"PARAMS": params}
        with _modules(world.new()):
            exec(compile(source, "new.py", "exec"), scope)
            model = scope["estimator"]
            features = _features()
            if mode == "infer":
                results["predictions"] = repr(model.predict_step(features))
                continue
            for _ in range(2):  # what is computed must not depend on how often it was computed
                given = {"labels": Symbol("labels"), "training": mode == "train"}
                taken = inspect.signature(model.call).parameters
                output = model.call(features, **{name: value for name, value in given.items() if name in taken})
                told = "training" in inspect.signature(model.compute_loss).parameters
                phase = {"training": mode == "train"} if told else {}
                loss = model.compute_loss(x=features, y=Symbol("labels"), y_pred=output, **phase)
                results[f"{mode} loss"] = repr(loss)
            if mode == "eval" and metrics:
                model.compute_metrics(features, Symbol("labels"), output, None)
                found = [m for m in vars(model).values() if isinstance(m, Metric) and m.kind != "BatchMean"]
                results["metrics"] = repr({metric.name: metric.fed for metric in found})
            if mode == "train":
                results["optimizer"] = f"{model.optimized!r} on {results['train loss']}"
    return results


def assert_same(source: str, **params: Any) -> str:
    """Migrates `source` and checks that both sides compute the same. Returns the migrated text."""
    migrated = migrate(source)
    old = old_results(source, dict(params))
    assert new_results(migrated, dict(params), "metrics" in old) == old, migrated
    return migrated
