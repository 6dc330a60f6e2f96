"""What `call` returns: the predictions, and whatever the loss and the metrics still need of the forward pass."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.plan import Plan
from migrator.analyse.layers.built import built_names
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.analyse.statements.times import is_cheap
from migrator.resolve.syntax import walk


@dataclass
class Outputs:
    """The value of `call`."""

    entries: list[tuple[str, ast.expr | str]] = field(default_factory=list)
    """Key (source text) and value of the returned dict."""
    single: str | None = None
    """Instead of a dict: the one name that is returned."""
    merged: str | None = None
    """Name of a dict that the entries are added to."""
    predicted: list[str] | None = None
    """Keys that `predict` gives; None: all of them."""
    excluded: list[str] | None = None
    """Keys that `predict` leaves out, where the others are not seen."""
    predicted_single: str | None = None
    """Key whose value alone is the prediction."""
    names: dict[str, str] = field(default_factory=dict)
    """How the loss and the metrics write a name of the forward pass."""
    dropped: set[Leaf] = field(default_factory=set)
    """Leaves that only build the dict of predictions."""


def boundary(
    plan: Plan, leaves: list[Leaf], results: list[ast.expr], mode: str, call: set[Leaf] | None = None
) -> tuple[list[str], set[Leaf]]:
    """Names of the forward pass that `leaves` and `results` read, and leaves to repeat because they are free of data.

    `call` is the forward pass, where it is not that of the plan.
    """
    inside = set(plan.call_leaves) if call is None else set(call)
    inside -= {leaf for leaf, (_, text) in built_names(plan).items() if text.startswith("self.")}
    names: dict[str, None] = {}
    repeated: set[Leaf] = set()
    end = plan.specs[mode].leaf
    readers = [(leaf, plan.slicer.inputs(leaf)) for leaf in leaves] + [
        (end, set().union(*(plan.reads(r) for r in results)))
    ]
    while readers:
        reader, wanted = readers.pop(0)
        for name in sorted(wanted):
            if plan.times.name(name) is Time.STATIC:
                continue
            sources = plan.slicer.reaching(name, reader.index, mode, reader)
            mine = [s for s in sources if s in inside and s not in repeated]
            if not mine:
                continue
            if all(_is_free(plan, s) for s in mine):
                repeated.update(mine)
                readers.extend((s, plan.slicer.inputs(s)) for s in mine)
                continue
            if any(s.loops and s.loops[:1] == reader.loops[:1] for s in mine):
                raise Unsupported(f"`{name}` has another value in each turn of a loop", reader.node)
            if len(mine) != len(sources):
                raise Unsupported(f"`{name}` comes from the forward pass or from the labels", reader.node)
            final = [s for s in plan.slicer.reaching(name, 1 << 30, mode, None) if s in inside]
            if set(final) - set(mine):
                raise Unsupported(f"`{name}` gets another value after the loss has read it", reader.node)
            names.setdefault(name)
    return list(names), repeated


def _is_free(plan: Plan, leaf: Leaf) -> bool:
    """Whether a leaf can be repeated where its value is read: it needs no tensor, or only looks into the features."""
    if plan.sites_in(leaf):
        return False
    if plan.time(leaf) is not Time.DYNAMIC:
        return True
    node = leaf.node
    if not isinstance(node, ast.Assign):
        return False
    size = _sized(plan, node.value)
    if size is None and not isinstance(node.value, (ast.Subscript, ast.Name)):
        return False
    given = (plan.features, plan.labels)
    for name in plan.slicer.inputs(leaf):
        if name in given or plan.times.name(name) is Time.STATIC:
            continue
        sources = [s for mode in leaf.modes for s in plan.slicer.reaching(name, leaf.index, mode, leaf)]
        if size is None or not sources or not all(s.index < leaf.index and _is_free(plan, s) for s in sources):
            return False
    return size is not None or is_cheap(node.value)


def _sized(plan: Plan, node: ast.expr) -> ast.expr | None:
    """The tensor whose size a value is: ``tf.shape(x)``, ``tf.shape(x)[0]``; None for other values."""
    call = node.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else node
    if not isinstance(call, ast.Call) or plan.module.resolve(call.func) != "tensorflow.shape":
        return None
    return call.args[0] if len(call.args) == 1 and not call.keywords and is_cheap(call.args[0]) else None


def _is_read_in_call(plan: Plan, made: Leaf, name: str | None) -> bool:
    """Whether the forward pass itself reads the dict of predictions, such as for a summary of an entry."""
    readers = [leaf for leaf in plan.call_leaves if leaf is not made and name in plan.slicer.inputs(leaf)]
    return any(made in plan.slicer.reaching(name or "", leaf.index, None, leaf) for leaf in readers)


def outputs(plan: Plan, needed: list[str]) -> Outputs:
    """Decides what `call` returns so that predictions, and the names in `needed`, come out of it."""
    result = Outputs()
    prediction = plan.field("infer", "predictions")
    if prediction is None:
        prediction = plan.field("eval", "predictions") if "infer" not in plan.specs else None
        if prediction is not None and any(leaf in plan.tainted for leaf in plan.slice_of(prediction, "eval")):
            prediction = None
        if prediction is not None and plan.slice_of(prediction, "eval") - set(plan.call_leaves):
            prediction = None  # nobody predicts with this model
    mode = "infer" if "infer" in plan.specs else "eval"
    if prediction is None:
        if len(needed) == 1:
            result.single = needed[0]
            result.names[needed[0]] = "y_pred"
        else:
            _add(result, needed)
        return result

    literal, leaf = plan.followed(prediction, mode)
    items = literal_items(literal)
    name = prediction.id if isinstance(prediction, ast.Name) else None
    if items is not None and not (leaf is not None and _changed(plan, leaf, name)):
        if leaf is not None:
            if not _is_read_in_call(plan, leaf, name):
                result.dropped.add(leaf)
            plan.check_still(set().union(*(reads(v) for _, v in items)), leaf, plan.specs[mode].leaf, mode)
        held = {v.id: k for k, v in items if isinstance(v, ast.Name)}
        extra = [n for n in needed if n not in held and n != name]
        taken = {ast.literal_eval(k) for k, _ in items}
        own = {n: repr_key(n if n not in taken else f"{n}_output") for n in extra}
        result.entries = [(own[n], n) for n in extra] + [(k, v) for k, v in items]
        result.names.update({n: f"y_pred[{held[n] if n in held else own[n]}]" for n in needed if n != name})
        if name is not None:
            result.names[name] = "y_pred"
        if extra:
            result.predicted = [k for k, _ in items]
        return result
    if name is not None and needed == [name] or (name is not None and not needed):
        result.single = name
        result.names[name] = "y_pred"
        return result
    if _is_dict(plan, literal, leaf, name):
        assert name is not None
        extra = [n for n in needed if n != name]
        taken = _written_keys(plan, name)
        own = {n: repr_key(n if n not in taken else f"{n}_output") for n in extra}
        result.merged = name
        result.entries = [(own[n], n) for n in extra]
        result.names.update({n: f"y_pred[{own[n]}]" for n in extra})
        result.names[name] = "y_pred"
        result.excluded = list(own.values()) or None
        return result
    needed = [n for n in needed if n != name]
    if not needed:
        result.entries = [("", prediction)]
        if name is not None:
            result.names[name] = "y_pred"
        return result
    key = name or "output"
    while key in needed:
        key += "_"
    result.entries = [(repr_key(n), n) for n in needed] + [(repr_key(key), prediction)]
    result.names.update({n: f"y_pred[{repr_key(n)}]" for n in needed})
    if name is not None:
        result.names[name] = f"y_pred[{repr_key(key)}]"
    result.predicted_single = repr_key(key)
    return result


def single(name: str) -> Outputs:
    """One tensor, out of which loss, metrics and predictions are computed."""
    return Outputs(single=name, names={name: "y_pred"})


def repr_key(name: str) -> str:
    """A name as a dict key."""
    return f'"{name}"'


def _key(node: ast.Constant) -> str:
    return repr_key(node.value) if isinstance(node.value, str) and '"' not in node.value else repr(node.value)


def _add(result: Outputs, names: list[str]) -> None:
    result.entries = [(repr_key(n), n) for n in names]
    result.names.update({n: f"y_pred[{repr_key(n)}]" for n in names})


def literal_items(node: ast.expr) -> list[tuple[str, ast.expr]] | None:
    """Keys and values of a dict display or ``dict(a=b)`` with literal keys."""
    if isinstance(node, ast.Dict):
        if any(k is None for k in node.keys):
            return None
        if not all(isinstance(k, ast.Constant) for k in node.keys):
            return None
        return [(_key(k), v) for k, v in zip(node.keys, node.values) if isinstance(k, ast.Constant)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
        if node.args or any(k.arg is None for k in node.keywords):
            return None
        return [(repr_key(k.arg or ""), k.value) for k in node.keywords]
    return None


def _changed(plan: Plan, leaf: Leaf, name: str | None) -> bool:
    return name is not None and any(name in other.defs for other in plan.flow.leaves if other is not leaf)


def _written_keys(plan: Plan, name: str) -> set[str]:
    """Literal strings in the statements that build a dict: keys that it may have."""
    return {
        node.value
        for leaf in plan.definitions(name)
        for node in walk(leaf.node)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _is_dict(plan: Plan, literal: ast.expr, leaf: Leaf | None, name: str | None) -> bool:
    del leaf
    if literal_items(literal) is not None:
        return True
    if name is None:
        return False
    for other in plan.definitions(name):
        if isinstance(other.node, ast.Assign) and literal_items(other.node.value) is not None:
            return True
    return False
