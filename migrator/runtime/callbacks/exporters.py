"""Exports after the evaluations of `train_and_evaluate`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Callable

import tensorflow as tf

from migrator.runtime.exports.exporting import export_saved_model
from migrator.runtime.training.events import read_scalars


class LatestExporter:
    """Exports the model after each evaluation and keeps the newest `exports_to_keep` (None: all)."""

    def __init__(
        self,
        name: str,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        exports_to_keep: int | None = 5,
    ) -> None:
        if exports_to_keep is not None and exports_to_keep <= 0:
            raise ValueError(f"exports_to_keep must be positive or None, given: {exports_to_keep}")
        self.name, self.serving_input_receiver_fn = name, serving_input_receiver_fn
        self.assets_extra, self.exports_to_keep = assets_extra, exports_to_keep

    def export(
        self, model: tf.keras.Model, folder: str, checkpoint: str | None, metrics: dict[str, Any], final: bool
    ) -> bytes | None:
        """Exports to `folder` after an evaluation of `checkpoint` that gave `metrics`; `final`: after the last training step."""
        path = export_saved_model(model, folder, self.serving_input_receiver_fn, self.assets_extra)
        if self.exports_to_keep is not None:
            names = [name.rstrip("/") for name in tf.io.gfile.listdir(folder)]
            versions = sorted(name for name in names if len(name) == 10 and name.isdigit())
            for name in versions[: -self.exports_to_keep]:
                tf.io.gfile.rmtree(os.path.join(folder, name))
        return path


class FinalExporter(LatestExporter):
    """Exports the model once, when training has reached `max_steps`."""

    def __init__(
        self, name: str, serving_input_receiver_fn: Callable[[], Any], assets_extra: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, exports_to_keep=None)

    def export(
        self, model: tf.keras.Model, folder: str, checkpoint: str | None, metrics: dict[str, Any], final: bool
    ) -> bytes | None:
        return super().export(model, folder, checkpoint, metrics, final) if final else None


def loss_is_smaller(best_eval_result: dict[str, Any], current_eval_result: dict[str, Any]) -> bool:
    """Whether the current evaluation is better than the best so far."""
    return bool(best_eval_result["loss"] > current_eval_result["loss"])


class BestExporter(LatestExporter):
    """Exports the model after each evaluation that is better than all before it, and after the first of a process.

    Evaluations of earlier runs are read from the files that match `event_file_pattern` in `model_dir`.
    """

    def __init__(
        self,
        name: str = "best_exporter",
        serving_input_receiver_fn: Any = None,
        event_file_pattern: str | None = "eval/*.tfevents.*",
        compare_fn: Callable[..., bool] = loss_is_smaller,
        assets_extra: Mapping[str, str] | None = None,
        exports_to_keep: int | None = 5,
    ) -> None:
        super().__init__(name, serving_input_receiver_fn, assets_extra, exports_to_keep)
        self.event_file_pattern, self.compare_fn = event_file_pattern, compare_fn
        self.best: dict[str, Any] | None = None
        self.model_dir: str | None = None
        self.has_exported = False

    def export(
        self, model: tf.keras.Model, folder: str, checkpoint: str | None, metrics: dict[str, Any], final: bool
    ) -> bytes | None:
        if self.model_dir != model.run_config.model_dir and self.event_file_pattern:
            self.model_dir, self.best = model.run_config.model_dir, None
            for earlier in read_scalars(os.path.join(self.model_dir, self.event_file_pattern)).values():
                if self.best is None or self.compare_fn(best_eval_result=self.best, current_eval_result=earlier):
                    self.best = earlier
        better = self.best is None or self.compare_fn(best_eval_result=self.best, current_eval_result=metrics)
        if self.has_exported and not better:
            return None
        self.best, self.has_exported = metrics, True
        return super().export(model, folder, checkpoint, metrics, final)
