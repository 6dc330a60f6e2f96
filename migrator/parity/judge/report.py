"""What a comparison found, as plain data for every reporter."""

from __future__ import annotations

from dataclasses import dataclass, field

EQUAL, DIFFERENT, COULD_NOT_RUN = "equal", "different", "could not run"
SECTIONS = (
    "losses",
    "weights",
    "metrics",
    "predictions",
    "batches",
    "steps",
    "exports",
    "checkpoints",
    "summaries",
    "initial values",
)
"""What can be compared; the names that ``compare = [...]`` in a parity.toml takes."""
NUMBERS = {"losses", "weights", "metrics", "predictions", "exports", "summaries"}
"""Those of numbers that rounding moves."""
REPLAYED = (
    "not compared: the new input pipeline (`--mode live` compares its batches); initializers only by distribution"
)
"""What an equal verdict does not say where first weights and batches were replayed."""


@dataclass(frozen=True)
class Tolerance:
    """Two numbers are equal if they differ by at most ``atol + rtol * |old|``; NaN equals nothing.

    Weights and predictions are arrays: their largest difference is held against their largest value, and `rtol` is ten
    times as wide, because they carry the rounding of all steps before.
    """

    rtol: float = 1e-5
    atol: float = 1e-7

    @property
    def array_rtol(self) -> float:
        return 10 * self.rtol


@dataclass(frozen=True)
class Difference:
    """One reason why two programs are not equal."""

    section: str
    where: str
    """Such as ``step 3``, ``evaluate call 2`` or a variable name."""
    message: str

    def __str__(self) -> str:
        return f"{self.section}: {self.where}: {self.message}" if self.where else f"{self.section}: {self.message}"


@dataclass(frozen=True)
class LossRow:
    model: int
    step: int
    """Counts the training steps of this model from 1."""
    old: float
    new: float
    relative: float
    equal: bool
    drift: float = 0.0
    """How far the old program was from itself by then, if the last bit of its weights was changed before each step."""


@dataclass(frozen=True)
class ValueRow:
    """A metric: one value of one evaluation, or an array of them."""

    call: int
    key: str
    old: str
    new: str
    relative: float
    equal: bool
    with_old_weights: str = ""
    """The new metric computed from the weights of the old program, where that decided."""


@dataclass(frozen=True)
class ArrayRow:
    """A variable at the end of training, or one output of one predict call or of one signature of a SavedModel."""

    where: str
    name: str
    other_name: str
    shape: tuple[int, ...]
    max_abs: float
    max_rel: float
    equal: bool
    how: str = ""
    """How the variable was paired: ``map``, ``name``, ``order``, or ``value`` for a moving average."""


@dataclass
class SideReport:
    """One of the two processes."""

    program: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    log: str = ""
    """Where the log is, if it was kept."""
    log_tail: list[str] = field(default_factory=list)


@dataclass
class CaseReport:
    """The outcome of one case."""

    name: str
    verdict: str = COULD_NOT_RUN
    problem: str = ""
    """Why it could not run."""
    tolerance: Tolerance = field(default_factory=Tolerance)
    mode: str = "replay"
    seed: int = 0
    diagnosis: str = ""
    """Where the differences are likely to come from."""
    rounding: float = 0.0
    """How many times as far as rounding takes the old program from itself the numbers are that only this excuses; 0: none."""
    differences: list[Difference] = field(default_factory=list)
    losses: list[LossRow] = field(default_factory=list)
    metrics: list[ValueRow] = field(default_factory=list)
    weights: list[ArrayRow] = field(default_factory=list)
    predictions: list[ArrayRow] = field(default_factory=list)
    exports: list[ArrayRow] = field(default_factory=list)
    """Outputs of the signatures of SavedModels."""
    batches_compared: int = 0
    notes: list[str] = field(default_factory=list)
    old: SideReport = field(default_factory=SideReport)
    new: SideReport = field(default_factory=SideReport)

    @property
    def worst_loss(self) -> float:
        """Largest relative difference of a loss; 0 if there is none."""
        return max((row.relative for row in self.losses), default=0.0)


def exit_code(reports: list[CaseReport]) -> int:
    """0 all equal, 1 some different, 2 some could not run or there was nothing to compare."""
    verdicts = {report.verdict for report in reports}
    if not reports or COULD_NOT_RUN in verdicts:
        return 2
    return 1 if DIFFERENT in verdicts else 0
