"""Weights that are only looked up by ids, which layers of Keras hold: ``tf.keras.layers.Embedding``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Value, bind, is_none
from migrator.analyse.layers.site import Site
from migrator.analyse.statements.modes import ALL_MODES
from migrator.analyse.variables.askednames import asked_alike
from migrator.analyse.variables.namepatterns import literal_pattern
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.statements.flow import Leaf

_LOOKUPS = {
    "tensorflow.nn.embedding_lookup": "params ids partition_strategy name validate_indices max_norm",
    "tensorflow.gather": "params indices validate_indices name axis",
}
_IDLE = frozenset({"name", "partition_strategy", "validate_indices"})
"""Arguments of these that change nothing where a table is whole."""
_KEPT = frozenset({"name", "shape", "dtype", "initializer", "regularizer", "trainable", "constraint"})
_RENAMED = {name: f"embeddings_{name}" for name in ("regularizer", "constraint")}
LAYER = "tf.keras.layers.Embedding"
_FLOAT = "tensorflow.float32"


def find_embeddings(body: Body, apart: set[Leaf]) -> None:
    """Mark the sites of tables of which rows are looked up by ids, in statements that do not stand `apart` from the forward pass.

    What else reads a table has to come behind a look-up: the layer has no weights before.
    """
    for site in (site for site in body.sites if site.first is None and _is_table(body, site)):
        shared = [site, *(other for other in body.sites if other.first is site)]
        places = [place for each in shared for place in _places(body, each)]
        found = {place: _lookup(body, place) for place in places}
        calls = {call: (place, ids) for place, (call, ids) in found.items() if call is not None and ids is not None}
        read = [place for place, (call, _) in found.items() if call is None]
        leaves = {body.flow.leaf_of(call) for call in calls}
        sure = [leaf.index for leaf in leaves if leaf is not None and leaf.guard == ALL_MODES and not leaf.arms]
        late = bool(sure) and all(_comes_after(body, place, min(sure)) for place in read)
        if not calls or leaves & {None, *apart} or not (late or not read):
            continue
        if site.loops and (read or not all(_in_the_same_turn(site, leaf) for leaf in leaves)):
            continue
        for each in shared:
            each.embedding = True
        if site.loops:
            _rename(body, site)
        body.lookups.update(calls)
        body.tables.update((place, site) for place in read)


def embedding_arguments(site: Site) -> list[tuple[str | None, Value]]:
    """What the layer is made of instead of a weight."""
    given = dict(site.layer.arguments)
    shape = given["shape"]
    assert isinstance(shape, (ast.List, ast.Tuple))
    made: list[tuple[str | None, Value]] = [(None, size) for size in shape.elts]
    made.append(("embeddings_initializer", given.get("initializer", '"glorot_uniform"')))
    kept = ("regularizer", "constraint", "trainable", "name")
    return [*made, *((_RENAMED.get(name, name), given[name]) for name in kept if name in given)]


def _is_table(body: Body, site: Site) -> bool:
    """Whether a site makes a matrix of numbers that a layer may hold."""
    layer, given = site.layer, dict(site.layer.arguments)
    if not layer.weight or layer.vendored or layer.late or layer.built or site.leaf.guard != ALL_MODES:
        return False
    shape, dtype = given.get("shape"), given.get("dtype")
    two = isinstance(shape, (ast.List, ast.Tuple)) and len(shape.elts) == 2
    own = literal_pattern(site.layer.name)
    if not asked_alike([body.module], site.layer.name, ("embeddings", f"{own}/embeddings:0")):
        return False  # layers name what they hold otherwise
    plain = two and not any(isinstance(size, ast.Starred) for size in getattr(shape, "elts", ()))
    known = dtype is None or (isinstance(dtype, ast.expr) and body.module.resolve(dtype) == _FLOAT)
    return plain and known and None not in given and set(given) <= _KEPT


def _in_the_same_turn(site: Site, leaf: Leaf | None) -> bool:
    """Whether each turn of the loops around a table looks up rows of its own one."""
    return leaf is not None and leaf.arms == site.leaf.arms and leaf.loops == site.leaf.loops


def _rename(body: Body, site: Site) -> None:
    """Call the list of what were weights one of tables."""
    name = f"{site.attribute[: -len('_variables')]}_tables" if site.attribute.endswith("_variables") else site.attribute
    if name not in body.statics and all(other.attribute != name for other in body.sites):
        site.attribute = name


def _places(body: Body, site: Site) -> list[ast.expr]:
    """All places that read a table; none if some are not seen."""
    node = site.leaf.node
    if not isinstance(node, ast.Assign) or node.value is not site.call:
        return [site.call]
    target = node.targets[0]
    if len(node.targets) > 1 or not isinstance(target, ast.Name) or body.definitions(target.id) != [site.leaf]:
        return []
    return [n for n in walk(body.function) if isinstance(n, ast.Name) and n.id == target.id and n is not target]


def _lookup(body: Body, place: ast.expr) -> tuple[ast.Call, ast.expr] | tuple[None, None]:
    """The call that looks up rows of the table at a place, with the ids; None if something else is done there."""
    call = body.module.parent(place)
    ids = _ids(body, call, place) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or ids is None or not _runs_here(body, call):
        return None, None
    return call, ids


def _comes_after(body: Body, place: ast.expr, index: int) -> bool:
    """Whether functions of the library get a table behind a statement, in one that runs when data flow."""
    leaf = body.flow.leaf_of(place)
    if leaf is None or leaf.index <= index or body.is_static(leaf) or not _runs_here(body, place):
        return False
    calls = [n for n in body.module.ancestors(place) if isinstance(n, ast.Call) and body.module.is_inside(n, leaf.node)]
    known = all((body.module.resolve(call.func) or "").startswith("tensorflow.") for call in calls)
    return bool(calls) and known and not any(id(call) in body.site_of for call in calls)


def _runs_here(body: Body, node: ast.AST) -> bool:
    return body.module.nearest(node, (ast.Lambda, ast.FunctionDef)) is body.function


def _ids(body: Body, call: ast.Call, table: ast.expr) -> ast.expr | None:
    """The ids whose rows a call looks up in a table."""
    name = body.module.resolve(call.func) or ""
    if name not in _LOOKUPS:
        return None
    try:
        given = bind(call, _LOOKUPS[name], name)
    except Unsupported:
        return None
    told = {key: value for key, value in given.items() if not is_none(value)}
    ids = told.pop("ids" if "ids" in told else "indices", None)
    axis = told.pop("axis", None)
    of_rows = axis is None or (isinstance(axis, ast.Constant) and axis.value == 0)
    of_table = told.pop("params", None) is table
    return ids if of_rows and of_table and set(told) <= _IDLE else None
