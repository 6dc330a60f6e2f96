"""Canned Estimators as the models of a loop that is understood: with the metrics and the predictions that the program reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from migrator.resolve.module import Module
from migrator.resolve.syntax import walk

from ..exports.exports import Export
from ..loop.loop import Loop
from ..loop.sources import Place
from ..loop.use import Use
from .classes.writer import NetworkWriter
from .heads import metrics_of, predictions_of
from .networks import STATISTICS, WEIGHTS, Network
from .readings import Keys, all_of, read_of_predictions, read_of_result


@dataclass(frozen=True)
class CannedModel:
    """The model that takes the place of a canned Estimator."""

    network: Network
    metrics: tuple[str, ...]
    predictions: tuple[str, ...]
    gone: tuple[str, ...]
    """Metrics and predictions that an Estimator has, and Keras does not."""
    classifies: bool = False
    """Whether SavedModels of it that are fed strings give classes and scores."""
    mixed: bool = False
    """Whether its file has weighted sums of several kinds."""
    named: bool = False
    """Whether the program reads its weights by the names of an Estimator."""
    uncounted: bool = False
    """Whether one of several trainings may reach the end of data of an unknown number."""
    built: bool = False
    """Whether its optimizers are made before a checkpoint is restored."""
    listed: frozenset[str] = frozenset()
    """What checkpoints that Keras 3 writes and restores do not hold of layers in lists, but for their optimizers."""


def canned_models(networks: Mapping[ast.Call, Network], loop: Loop) -> dict[ast.Call, CannedModel] | str:
    """The models of a loop, by the calls that made Estimators, or why these stay. Those of one kind predict the same."""
    found: dict[ast.Call, CannedModel] = {}
    beside: dict[tuple[str, str], str] = {}
    sums: dict[str, set[tuple[bool, bool]]] = {}
    for network in (network for network in networks.values() if network.sums):
        kinds = sums.setdefault(network.construction.module.path, set())
        kinds.add(NetworkWriter(network, "", (), (), "tf").sum_kind)
    for network in networks.values():
        mixed = len(sums.get(network.construction.module.path, ())) > 1
        for part in NetworkWriter(network, "", (), (), "tf", mixed=mixed).beside():
            name = part.partition("(")[0]
            if beside.setdefault((network.construction.module.path, name), part) != part:
                return f"models that need a {name.rpartition(' ')[2]} of several kinds"
    saved = any(source.settings.directory is not None for source in loop.sources)
    lost = {STATISTICS: saved, WEIGHTS: not loop.restores_by_optimizers}
    listed = frozenset(what for what, is_lost in lost.items() if is_lost)
    built = saved and loop.restores_by_optimizers and loop.distribution is None
    named = frozenset(text for module in loop.modules for text in _texts(module))
    for call, network in networks.items():
        uses = [use for use in loop.uses if _is_of(use, call)]
        every = [read_of_result(use.module, use.call) for use in uses if use.method == "evaluate"]
        every += [None for use in uses if use.validation is not None]
        metrics = metrics_of(network.head, all_of(every), named, network.more_metrics)
        alike = [use for use in loop.uses if use.method == "predict" and _may_be(use, network, networks)]
        read = [_predicted(use) for use in alike]
        read += [None for place in (*loop.exports, *uses) if _is_served(place, call)]
        predictions = predictions_of(network.head, all_of(read), named, network.forwarded)
        if isinstance(metrics, str) or isinstance(predictions, str):
            return metrics if isinstance(metrics, str) else str(predictions)
        gone = (*(metrics[1] if every else ()), *(predictions[1] if predictions[0] else ()))
        classifies = any(_is_served(place, call) and _is_fed_text(place) for place in (*loop.exports, *uses))
        mixed = len(sums.get(network.construction.module.path, ())) > 1
        by_names = any(read.by_names and _is_of(read, call) for read in loop.reads)
        told = tuple(metrics[0] if every else ()), tuple(predictions[0]), gone
        uncounted = any(_is_of(use, call) for use in loop.uncounted)
        found[call] = CannedModel(network, *told, classifies, mixed, by_names, uncounted, built, listed)
    return found


def _texts(module: Module) -> Iterator[str]:
    """All texts of a file."""
    values = (node.value for node in walk(module.tree) if isinstance(node, ast.Constant))
    yield from (value for value in values if isinstance(value, str))


def _is_served(place: Place, call: ast.Call) -> bool:
    """Whether a place makes SavedModels of an Estimator, which give all of its predictions."""
    validation = place.validation if isinstance(place, Use) else None
    served = isinstance(place, Export) or (validation is not None and bool(validation.exporters))
    return served and _is_of(place, call)


def _is_of(place: Place, call: ast.Call) -> bool:
    """Whether a place may be one of the Estimator that a call makes."""
    return any(source.construction.call is call for source in place.sources)


def _is_fed_text(place: Place) -> bool:
    """Whether what is exported at a place is fed strings."""
    fed = (
        [place.fed] if isinstance(place, Export) else [e.fed for e in place.exporters] if isinstance(place, Use) else []
    )
    return any(each.text for each in fed)


def _may_be(use: Use, network: Network, networks: Mapping[ast.Call, Network]) -> bool:
    """Whether a use is of a network, or of one whose class may be the same."""
    others = (networks.get(source.construction.call) for source in use.sources)
    same = (network.kind, network.head.kind)
    return any(other is not None and (other.kind, other.head.kind) == same for other in others)


def _predicted(use: Use) -> Keys | None:
    keys = use.arguments.get("predict_keys")
    if keys is None:
        return read_of_predictions(use.module, use.call)
    parts = keys.elts if isinstance(keys, (ast.List, ast.Tuple)) else [keys]
    return frozenset(str(part.value) for part in parts if isinstance(part, ast.Constant))
