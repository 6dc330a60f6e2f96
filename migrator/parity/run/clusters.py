"""What clusters a comparison runs on: ``mwms:2``, ``ps:1w2ps``, either with ``,evaluator``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from migrator.parity.judge.case import CaseError
from migrator.parity.run.local_cluster import GRACE_SECONDS, Shape

_SPEC = re.compile(r"(?:mwms:(?P<mirrored>\d+)|ps:(?P<workers>\d+)w(?P<servers>\d+)ps)(?P<evaluator>,evaluator)?")
MOST_PROCESSES = 16


@dataclass(frozen=True)
class Cluster:
    """Trainers that keep equal variables (`servers` is 0), or that share those of parameter servers."""

    text: str
    trainers: int
    servers: int
    evaluator: bool

    @property
    def asynchronous(self) -> bool:
        """Whether the losses depend on which trainer comes first, so that only many runs can be compared."""
        return self.servers > 0 and self.trainers > 1

    def shape(self, side: str) -> Shape:
        """The processes of one side: the chief of an Estimator trains, that of a Keras program only coordinates."""
        jobs = {"ps": self.servers} if self.servers else {}
        jobs["worker"] = self.trainers - (0 if self.servers and side == "new" else 1)
        jobs["chief"] = 1
        if self.evaluator or self.asynchronous:
            jobs["evaluator"] = 1
        services = frozenset({"ps", "worker"} if side == "new" and self.servers else {"ps"})
        listed = side == "old" and not self.servers  # Estimators look for themselves in the cluster of their strategy
        seconds = GRACE_SECONDS if side == "new" else 0.0  # parameter servers of Estimators never end
        return Shape({job: number for job, number in jobs.items() if number}, services, seconds, listed)

    def recorded(self) -> list[str]:
        """Names of the processes whose steps are compared."""
        return ["chief0"] + ([] if self.servers else [f"worker{index}" for index in range(self.trainers - 1)])


def parse(text: str) -> Cluster:
    """Read the text behind ``--cluster``. Raises CaseError."""
    found = _SPEC.fullmatch(text)
    if found is None:
        raise CaseError(
            f"--cluster {text}: expected mwms:2 or ps:1w2ps (workers that train, servers), or with ,evaluator"
        )
    trainers, servers = int(found["mirrored"] or found["workers"]), int(found["servers"] or 0)
    least = 2 if found["mirrored"] else 1
    if trainers < least or (found["servers"] and not servers) or trainers + servers > MOST_PROCESSES:
        raise CaseError(
            f"--cluster {text}: needs {least} to {MOST_PROCESSES} processes that train, and ps at least one"
        )
    return Cluster(text, trainers, servers, bool(found["evaluator"]))
