"""Heads with a name, which the names of their metrics end with."""

from __future__ import annotations

from typing import Any, Callable

from migrator.runtime.canned.heads import Head


def named_head(make_head: Callable[..., Head], name: str, **arguments: Any) -> Head:
    """``make_head(**arguments)`` whose metrics are called ``accuracy/name`` instead of ``accuracy``."""
    head: Any = make_head(**arguments)
    make, head.suffix = head.metrics, f"/{name}"

    def metrics() -> dict[str, Any]:
        return {key: renamed(metric, key + head.suffix) for key, metric in make().items()}

    head.metrics = metrics
    result: Head = head
    return result


def renamed(metric: Any, name: str) -> Any:
    """A metric of the same kind with another name."""
    return type(metric).from_config({**metric.get_config(), "name": name})


def name_of(head: Any) -> str:
    """The name that `named_head` gave a head."""
    return str(head.suffix[1:])
