"""What a TPUEstimator of TensorFlow 1 gave to `input_fn`, where there is no TPU."""

from __future__ import annotations

from typing import Any


class TPUParams(dict[str, Any]):
    """Parameters whose `batch_size` is that of the mode: `input_fn` reads it as `params["batch_size"]`.

    Raises NotImplementedError where the program asks for a TPU.
    """

    def __init__(
        self,
        params: dict[str, Any] | None = None,
        use_tpu: bool = False,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
    ) -> None:
        if use_tpu:
            raise NotImplementedError("This model trains without TPUs: call the program with use_tpu off.")
        super().__init__(params or {}, use_tpu=False)
        self.batch_sizes = {"train": train_batch_size, "eval": eval_batch_size, "infer": predict_batch_size}

    def __call__(self, mode: str) -> dict[str, Any]:
        """The parameters in one mode: ``train``, ``eval`` or ``infer``."""
        size = self.batch_sizes[mode]
        return dict(self) if size is None else {**self, "batch_size": size}
