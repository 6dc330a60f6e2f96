"""What a TPUEstimator of TensorFlow 1 gave to `input_fn`."""

from __future__ import annotations

from typing import Any


class TPUParams(dict):  # type: ignore[type-arg]
    """Parameters whose `batch_size` is that of the mode: `input_fn` reads it as `params["batch_size"]`.

    `num_shards` is the number of cores that train: each takes a batch of its own, so `train_batch_size` is shared out.

    Raises NotImplementedError where the program asks for a TPU without them, ValueError where they cannot share a batch.
    """

    def __init__(
        self,
        params: dict[str, Any] | None = None,
        use_tpu: bool = False,
        train_batch_size: int | None = None,
        eval_batch_size: int | None = None,
        predict_batch_size: int | None = None,
        num_shards: int | None = None,
    ) -> None:
        if use_tpu and num_shards is None:
            raise NotImplementedError("This model trains without TPUs: call the program with use_tpu off.")
        if num_shards is not None and train_batch_size is not None:
            if train_batch_size % num_shards:
                raise ValueError(f"{num_shards} cores cannot share out a train_batch_size of {train_batch_size}.")
            train_batch_size //= num_shards
        super().__init__(params or {}, use_tpu=num_shards is not None)
        self.batch_sizes = {"train": train_batch_size, "eval": eval_batch_size, "infer": predict_batch_size}

    def __call__(self, mode: str) -> dict[str, Any]:
        """The parameters in one mode: ``train``, ``eval`` or ``infer``."""
        size = self.batch_sizes[mode]
        return dict(self) if size is None else {**self, "batch_size": size}
