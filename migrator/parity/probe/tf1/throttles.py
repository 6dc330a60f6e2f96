"""Which checkpoints `train_and_evaluate` evaluates depends on the clock, by `throttle_secs`: for a comparison it is each."""

from __future__ import annotations

from typing import Any, Callable

NOTE = (
    "evaluations are those of each checkpoint on both sides: which of them `throttle_secs` passes over, the clock says"
)


def install(note: Callable[[str], None]) -> None:
    """Let the Estimators of this process evaluate each checkpoint, and `note` it where one would have been passed over."""
    from tensorflow_estimator.python.estimator import training

    timer: Any = training.basic_session_run_hooks.SecondOrStepTimer

    class EachStep(timer):  # type: ignore[misc]
        """Triggers at each step that it has not triggered at, whatever the seconds."""

        def should_trigger_for_step(self, step: int) -> bool:
            if step == self.last_triggered_step():
                return False
            if not super().should_trigger_for_step(step):
                note(NOTE)
            return True

    listener: Any = training._NewCheckpointListenerForEvaluate
    begin = listener.begin

    def begun(self: Any) -> None:
        begin(self)
        self._timer = EachStep(every_secs=self._eval_throttle_secs)

    listener.begin = begun
