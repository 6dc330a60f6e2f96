"""Which Keras variable is which TF1 variable: by the map of the migration, by name, by order of creation.

Pure data, no TensorFlow: a variable is a name, a shape and whether it is trained.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class MappingError(Exception):
    """Variables that could not be told apart or have no counterpart; the text lists both sides."""


@dataclass(frozen=True)
class Variable:
    """`name` is a TF1 variable name or the name Keras gives; `key` finds the variable again."""

    name: str
    shape: tuple[int, ...]
    trainable: bool = True
    key: int = 0


@dataclass(frozen=True)
class Pair:
    """`how` is ``map``, ``name`` or ``order``."""

    old: Variable
    new: Variable
    how: str


_LEAVES = {
    "weights": "kernel",
    "biases": "bias",
    "w": "kernel",
    "b": "bias",
    "embedding_weights": "embeddings",
    "moving_mean": "moving_mean",
    "moving_var": "moving_variance",
}
_SCOPES = {
    "batchnorm": "batch_normalization",
    "fully_connected": "dense",
    "conv": "conv2d",
    "convolution": "conv2d",
    "layernorm": "layer_normalization",
    "layer_norm": "layer_normalization",
    "basic_lstm_cell": "lstm_cell",
    "peephole_lstm_cell": "lstm_cell",
    "multi_rnn_cell": "stacked_rnn_cells",
}
_WRAPPERS = re.compile(r"(?:dropout|residual)_wrapper(?:_\d+)?")
"""Layers around recurrent cells, which TF1 does not name."""
_NUMBERED = {
    "dense",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv2d_transpose",
    "separable_conv2d",
    "embedding",
    "lstm",
    "gru",
    "lstm_cell",
    "gru_cell",
    "basic_rnn_cell",
} | {
    "batch_normalization",
    "layer_normalization",
}
"""Layers that both libraries number by themselves; Keras goes on counting over all models of a process."""


def normalise(name: str) -> tuple[str, ...]:
    """Parts of a variable name with TF1, contrib and Keras spellings made equal: ``fc/weights:0`` -> (fc, kernel)."""
    parts = [part.lower() for part in name.split(":")[0].split("/") if part]
    if not parts:
        return ()
    if len(parts) > 2 and parts[-1] == "embedding_weights" and parts[-2] == f"{parts[-3]}_embedding":
        parts = [*parts[:-2], "weights"]  # a layer with the name of its column: that one's weights in a linear model
    parts = _of_cells(parts)
    parts[-1] = _LEAVES.get(parts[-1], parts[-1])
    for index, part in enumerate(parts[:-1]):
        stem, number = re.match(r"^(.*?)(_\d+)?$", part).groups()  # type: ignore[union-attr]
        parts[index] = _SCOPES.get(stem, stem) + (number or "")
    return tuple(parts)


def _of_cells(parts: list[str]) -> list[str]:
    """The parts of a variable name of recurrent cells as Keras has them: ``multi_rnn_cell/cell_1/gru_cell/gates/kernel`` ->
    ``multi_rnn_cell/gru_cell_1/gates_kernel``."""
    parts = [part for part in parts if not _WRAPPERS.fullmatch(part)]
    if len(parts) > 1 and parts[-2] in ("gates", "candidate"):
        parts[-2:] = ["_".join(parts[-2:])]
    for index, part in enumerate(parts[:-2]):
        number = re.fullmatch(r"cell(_\d+)", part)
        if number and index and parts[index - 1].startswith("multi_rnn_cell"):
            parts[index : index + 2] = [parts[index + 1] + number.group(1)]
            break
    return parts


def match(
    old: Sequence[Variable],
    new: Sequence[Variable],
    explicit: Sequence[tuple[Variable, Variable]] = (),
    ordered: bool = True,
) -> list[Pair]:
    """Pair every variable of `old` with one of `new`.

    `explicit` are pairs known from the migration; they may differ in shape but not in size. Non-trained variables of
    `new` may stay without a partner (counters and the like). `ordered` is whether both sides are in the order of
    creation. Raises MappingError, which lists both sides.
    """
    pairs = [Pair(left, right, "map") for left, right in explicit]
    for pair in pairs:
        if _size(pair.old) != _size(pair.new):
            raise MappingError(
                f"the migration maps {pair.old.name} {list(pair.old.shape)} to "
                f"{pair.new.name} {list(pair.new.shape)}: their sizes differ"
            )
    left = [v for v in old if all(v is not pair.old for pair in pairs)]
    right = [v for v in new if all(v is not pair.new for pair in pairs)]
    for by in (_by_full_name, _by_name, _by_full_name, _by_layer):
        for pair in by(left, right):
            pairs.append(pair)
        left = [v for v in left if all(v is not pair.old for pair in pairs)]
        right = [v for v in right if all(v is not pair.new for pair in pairs)]
    pairs += _by_order(left, right, ordered)
    matched = {id(pair.old) for pair in pairs} | {id(pair.new) for pair in pairs}
    rest_old = [v for v in left if id(v) not in matched]
    rest_new = [v for v in right if id(v) not in matched]
    if rest_old or any(v.trainable for v in rest_new):
        raise MappingError(_explain(rest_old, rest_new, pairs))
    rank = {id(variable): index for index, variable in enumerate(old)}
    return sorted(pairs, key=lambda pair: rank[id(pair.old)])


def folders(pattern: str, names: Sequence[str]) -> list[str]:
    """The scopes that a pattern with a slash at its end stands for, as `expand` orders them: ``layer_*/rnn/``."""
    parts = [name.split("/") for name in names]
    scopes = {"/".join(part[:depth]) for part in parts for depth in range(1, len(part))}
    return [f"{scope}/" for scope in expand(pattern[:-1], sorted(scopes))]


def inside(
    scope: str, old: Sequence[Variable], new: Sequence[Variable], ordered: bool
) -> list[tuple[Variable, Variable]]:
    """The pairs of the variables in a scope with those of the layer that has it; none where they do not fit."""
    try:
        pairs = match([variable for variable in old if variable.name.startswith(scope)], new, ordered=ordered)
    except MappingError:
        return []
    return [(pair.old, pair.new) for pair in pairs]


def fitting(pairs: Sequence[tuple[Variable, Variable]]) -> list[tuple[Variable, Variable]]:
    """Those of the `pairs` that have equal sizes and no variable in common with others."""
    count: dict[int, int] = defaultdict(int)
    found = list({(id(old), id(new)): (old, new) for old, new in pairs}.values())
    for variable in (variable for pair in found for variable in pair):
        count[id(variable)] += 1
    return [(old, new) for old, new in found if _size(old) == _size(new) and count[id(old)] == count[id(new)] == 1]


def best_fitting(models: Iterable[Sequence[tuple[Variable, Variable]]]) -> list[tuple[Variable, Variable]]:
    """The fitting pairs of the one of several models that has most of them."""
    return max(map(fitting, models), key=len, default=[])


def _renumbered(variables: Sequence[Variable]) -> dict[int, tuple[str, ...]]:
    """Normalised names by id, in which dense_3, dense_4 of one scope have become dense_0, dense_1."""
    names = {id(v): normalise(v.name) for v in variables}
    numbers: dict[tuple[tuple[str, ...], str], set[int]] = defaultdict(set)
    for name in names.values():
        for index, part in enumerate(name[:-1]):
            stem, number = re.match(r"^(.*?)(?:_(\d+))?$", part).groups()  # type: ignore[union-attr]
            if stem in _NUMBERED:
                numbers[name[:index], stem].add(int(number or 0))

    def renumber(name: tuple[str, ...]) -> tuple[str, ...]:
        parts = list(name)
        for index, part in enumerate(name[:-1]):
            stem, number = re.match(r"^(.*?)(?:_(\d+))?$", part).groups()  # type: ignore[union-attr]
            if stem in _NUMBERED:
                parts[index] = f"{stem}_{sorted(numbers[name[:index], stem]).index(int(number or 0))}"
        return tuple(parts)

    return {key: renumber(name) for key, name in names.items()}


def _by_full_name(old: Sequence[Variable], new: Sequence[Variable]) -> list[Pair]:
    """The same with numbers as they are: names may have them from a loop. Only where this pairs all of a shape and kind,
    as Keras may also have gone on counting."""
    groups: dict[Any, tuple[list[Variable], list[Variable]]] = defaultdict(lambda: ([], []))
    for side, variables in enumerate((old, new)):
        for variable in variables:
            groups[variable.shape, _leaf(variable)][side].append(variable)
    found = []
    for lefts, rights in groups.values():
        named = _by_name(lefts, rights, {id(v): normalise(v.name) for v in (*lefts, *rights)})
        found += named if len(named) == len(lefts) == len(rights) else []
    return found


def _by_name(
    old: Sequence[Variable], new: Sequence[Variable], names: dict[int, tuple[str, ...]] | None = None
) -> list[Pair]:
    """Pairs whose names share their longest tail with each other and with nobody else, at equal size."""
    names = names or {**_renumbered(old), **_renumbered(new)}

    def score(left: Variable, right: Variable) -> int:
        if _size(left) != _size(right) or _squeezed(left) != _squeezed(right):
            return 0
        a, b = names[id(left)], names[id(right)]
        common = 0
        while common < min(len(a), len(b)) and a[-1 - common] == b[-1 - common]:
            common += 1
        # A lone ``kernel`` says nothing, unless it is all there is of the name.
        return common if common >= 2 or (common == 1 and min(len(a), len(b)) == 1) else 0

    def best(one: Variable, others: Sequence[Variable]) -> Variable | None:
        scored = [(score(one, other), other) for other in others]
        top = max((value for value, _ in scored), default=0)
        winners = [other for value, other in scored if value == top]
        return winners[0] if top and len(winners) == 1 else None

    backwards = {id(right): best(right, old) for right in new}
    result = []
    for left in old:
        right = best(left, new)
        if right is not None and backwards[id(right)] is left:
            result.append(Pair(left, right, "name"))
    return result


def _by_layer(old: Sequence[Variable], new: Sequence[Variable]) -> list[Pair]:
    """Pairs of the one variable of each size in layers of one name, whatever the variables are called: Keras 3 calls the
    weights of a linear model ``age/embedding_weights``, TensorFlow 1 ``linear_model/age/weights``."""
    groups: dict[Any, tuple[list[Variable], list[Variable]]] = defaultdict(lambda: ([], []))
    for side, variables in enumerate((old, new)):
        for variable in variables:
            layer = normalise(variable.name)[-2:-1]
            if layer and re.sub(r"_\d+$", "", layer[0]) not in _NUMBERED:
                groups[layer, _size(variable), variable.trainable][side].append(variable)
    return [Pair(lefts[0], rights[0], "name") for lefts, rights in groups.values() if len(lefts) == len(rights) == 1]


def _by_order(old: Sequence[Variable], new: Sequence[Variable], ordered: bool) -> list[Pair]:
    """Among equal shapes: first to first. Only where both sides have equally many; one, if there is no order.

    Where both sides have as many of each last part of a name, such as ``beta``, those go together.
    """
    groups: dict[Any, tuple[list[Variable], list[Variable]]] = defaultdict(lambda: ([], []))
    for side, variables in enumerate((old, new)):
        for variable in variables:
            leaf = _leaf(variable) if not variable.trainable else ()
            groups[variable.shape, variable.trainable, leaf][side].append(variable)
    result = []
    for lefts, rights in groups.values():
        if sorted(map(_leaf, lefts)) == sorted(map(_leaf, rights)):
            lefts, rights = sorted(lefts, key=_leaf), sorted(rights, key=_leaf)
        if len(lefts) == len(rights) and (ordered or len(lefts) == 1):
            result += [Pair(a, b, "order") for a, b in zip(lefts, rights)]
    return result


def _leaf(variable: Variable) -> tuple[str, ...]:
    return normalise(variable.name)[-1:]


def expand(pattern: str, names: Sequence[str]) -> list[str]:
    """The names that `pattern` stands for, in the order of their numbers: ``mlp*/w`` -> mlp0/w, mlp1/w, ...

    ``*`` is a number, possibly behind an underscore, or nothing (TF1 names ``dense``, ``dense_1``, ``dense_2``).
    """
    if "*" not in pattern:
        return [pattern] if pattern in names else []
    expression = re.compile("^" + r"_?(\d*)".join(re.escape(part) for part in pattern.split("*")) + "$")
    found = []
    for name in names:
        hit = expression.match(name)
        if hit:
            found.append(([int(number or -1) for number in hit.groups()], name))
    return [name for _, name in sorted(found)]


def _size(variable: Variable) -> int:
    size = 1
    for n in variable.shape:
        size *= n
    return size


def _squeezed(variable: Variable) -> tuple[int, ...]:
    return tuple(n for n in variable.shape if n != 1)


def _explain(old: Sequence[Variable], new: Sequence[Variable], pairs: Sequence[Pair]) -> str:
    lines = ["the variables of the two programs could not be paired"]
    for title, variables in (("old program, without partner", old), ("new program, without partner", new)):
        lines.append(f"  {title}:")
        lines += [
            "    {} {}{}".format(v.name, list(v.shape), "" if v.trainable else " (not trained)") for v in variables
        ] or ["    none"]
    lines.append("  paired: {}".format(", ".join(f"{p.old.name} = {p.new.name}" for p in pairs) or "none"))
    return "\n".join(lines)


def as_partners(
    made: Sequence[Any], old: Iterable[Mapping[str, Any]], pairs: Iterable[tuple[str, Any]], trainable: Sequence[Any]
) -> list[Any]:
    """What was `made` for each of the weights `trainable`, in the order of the `old` variables that these are `pairs` with.

    It stays as it is where it is not made for all of them. Keras 3 has the weights of a model before those of its layers.
    """
    partners, places = dict(pairs), {id(weight): place for place, weight in enumerate(trainable)}
    weights = (partners.get(variable["name"]) for variable in old if variable["trainable"])
    order = [places[id(weight)] for weight in weights if id(weight) in places]
    return [made[place] for place in order] if sorted(order) == list(range(len(made))) else list(made)
