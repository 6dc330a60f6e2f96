"""Layers and weights that `build` makes, as their sizes are those of the first input: ``tf.layers.dense(h, x.shape[-1])``."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from migrator.analyse.function.translate import Layer, Value
from migrator.analyse.layers.objects import holder
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.names import enumerated, targets
from migrator.analyse.statements.walks import Loop
from migrator.resolve.calls import bind
from migrator.resolve.syntax import children

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.layers.site import Site
    from migrator.analyse.statements.flow import Leaf

_PLAIN = (
    ast.Constant, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Slice, ast.Tuple, ast.List, ast.keyword, ast.operator,
    ast.unaryop, ast.IfExp, ast.Compare, ast.BoolOp, ast.cmpop, ast.boolop,
)  # fmt: skip
_FUNCTIONS = frozenset({"int", "float", "len", "min", "max", "list", "tuple", "range", "zip", "enumerate", "reversed"})
_LIBRARIES = ("numpy.", "math.", "itertools.")
_ELEMENTWISE = frozenset(
    f"tensorflow.{name}"
    for name in """nn.dropout layers.dropout nn.relu nn.relu6 nn.elu nn.selu nn.leaky_relu nn.sigmoid nn.tanh nn.softmax
    sigmoid tanh identity cast to_float stop_gradient square sqrt abs exp log""".split()
)
"""Functions whose result has the shape of their first argument."""


def built(plan: Body, leaf: Leaf, layer: Layer, turns: Iterable[Loop] = ()) -> Layer:
    """A layer, made by `build` if the shape of the first input is all that it needs to be known."""
    given, layer = layer, _of_own_type(plan, layer)
    values = [value for _, value in layer.arguments if not isinstance(value, str)]
    loops: list[Loop] = [*leaf.loops, *turns]
    walking = [loop for loop in loops if walked(plan, loop, leaf) is not None]
    counters = tuple(name for loop in loops for name in targets(loop.target) if is_known(plan, loop.iter, leaf))
    counters += tuple(name for loop in walking for name in _counter(loop))
    values += [loop.iter for loop in loops if loop not in walking]
    late = [value for value in values if plan.times.of(value) > Time.MODE]
    if (
        not (late or walking)
        or layer.maker is not None
        or not all(is_known(plan, value, leaf, counters) for value in late)
    ):
        return given
    return replace(layer, built=True)


def walked(plan: Body, loop: Loop, at: Leaf | None) -> str | None:
    """What `build` calls the shapes of the tensors over which a loop walks, if these are the first input, or a part of it."""
    iterable = enumerated(loop)[2]
    shapes = _input(plan, iterable, at) if plan.times.of(iterable) is Time.DYNAMIC else None
    return shapes if plan.is_helper else None


def _counter(loop: Loop) -> set[str]:
    """The name that counts the turns of a loop over an `enumerate`."""
    counter = enumerated(loop)[0]
    return targets(counter) if counter is not None else set()


def _of_own_type(plan: Body, layer: Layer) -> Layer:
    """A weight without ``dtype=x.dtype``, where `x` is the input of a layer: Keras casts that to the type of its weights."""
    first = plan.dynamic[0] if plan.is_helper and plan.dynamic else None
    if not layer.weight or first is None:
        return layer
    kept = [(name, value) for name, value in layer.arguments if not (name == "dtype" and _is_type_of(value, first))]
    return replace(layer, arguments=tuple(kept))


def _is_type_of(value: Value, name: str) -> bool:
    return (
        isinstance(value, ast.Attribute)
        and value.attr == "dtype"
        and isinstance(value.value, ast.Name)
        and value.value.id == name
    )


def is_one_size(plan: Body, value: Value | None) -> bool:
    """Whether the shape of a weight is a number, as in ``tf.get_variable("b", x.shape[-1])``, that of a vector."""
    if isinstance(value, ast.Attribute) and value.attr == "value":
        value = value.value
    if not isinstance(value, ast.Subscript) or isinstance(value.slice, ast.Slice):
        return False
    return shape_of(plan, value.value, None) is not None


def is_size(plan: Body, node: ast.expr) -> bool:
    """Whether an argument of a helper is a size of the first input: ``decoder(z, x.shape[1].value)``."""
    leaf = plan.flow.leaf_of(node)
    bare = shape_of(plan, node, None) is not None or isinstance(node, ast.Name) and node.id in plan.dynamic
    return leaf is not None and not bare and plan.times.of(node) > Time.MODE and is_known(plan, node, leaf)


def built_leaves(plan: Body, sites: list[Site]) -> set[Leaf]:
    """The statements that give names to shapes and sizes, which the making of `sites` reads."""
    found: set[Leaf] = set()
    making = {site.leaf for site in plan.sites if site.layer.built}
    stack: list[tuple[ast.AST, Leaf]] = [
        (value, site.leaf) for site in sites for _, value in site.layer.arguments if not isinstance(value, str)
    ]
    stack += [(loop.iter, site.leaf) for site in sites for loop in site.loops]
    while stack:
        node, at = stack.pop()
        if any(what(plan, node, None) is not None for what in (shape_of, rank_of, count_of)):
            continue  # `build` is given it
        stack += [(child, at) for child in children(node)]
        if isinstance(node, ast.Name) and plan.times.name(node.id) > Time.MODE:
            for leaf in plan.slicer.reaching(node.id, at.index, None, at):
                if leaf in found or leaf in making:
                    continue
                if isinstance(leaf.node, ast.Assign):
                    found.add(leaf)
                    stack.append((leaf.node.value, leaf))
                elif filled(plan, leaf) == node.id:
                    found.add(leaf)
    return found


def filled(plan: Body, leaf: Leaf) -> str | None:
    """The list to which a statement adds a weight of its turn: ``weights.append(w)``."""
    call = leaf.node.value if isinstance(leaf.node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return None
    held, added = call.func.value, call.args[0] if len(call.args) == 1 else None
    if not isinstance(held, ast.Name) or not isinstance(added, ast.Name):
        return None
    made = next(iter(plan.slicer.reaching(added.id, leaf.index, None, leaf)), None)
    if made is None or made.arms != leaf.arms or made.index > leaf.index or added.id not in made.kills:
        return None
    weights = plan.translations.shaped | plan.translations.initialized
    value = made.node.value if isinstance(made.node, ast.Assign) else None
    return held.id if isinstance(value, ast.Call) and plan.module.resolve(value.func) in weights else None


def _is_list_of_weights(plan: Body, name: str, at: Leaf) -> bool:
    """Whether nothing but the turns of loops that are known puts weights, and nothing else, into a list."""
    sources = plan.slicer.reaching(name, at.index, None, at)
    empty = [source for source in sources if name in source.kills]
    others = [source for source in sources if source not in empty]
    if len(empty) != 1 or empty[0].arms or not others or not isinstance(empty[0].node, ast.Assign):
        return False
    loops = [frame.node for leaf in others for frame in leaf.arms]
    return (
        isinstance(empty[0].node.value, ast.List)
        and not empty[0].node.value.elts
        and all(filled(plan, leaf) == name and leaf.index < at.index for leaf in others)
        and all(isinstance(loop, ast.For) and is_known(plan, loop.iter, others[0]) for loop in loops)
    )


def sizes_of(plan: Body) -> set[Leaf]:
    """The statements that `build` repeats, which `call` may do without."""
    return built_leaves(plan, [site for site in plan.sites if site.layer.built])


def built_names(plan: Body) -> dict[Leaf, tuple[str, str]]:
    """What gives a weight that `build` makes the only value of a name: the name, and how the model spells it."""
    found = {}
    for site in plan.sites:
        held = holder(site) if site.layer.built else None
        if held is not None and plan.definitions(held) == [site.leaf]:
            found[site.leaf] = held, site.item if site.loops else f"self.{site.attribute}"
    return found


def is_known(plan: Body, node: ast.AST, at: Leaf, counters: tuple[str, ...] = (), above: tuple[str, ...] = ()) -> bool:
    """Whether the shape of the first input is all of the data that an expression reads; `counters` of loops are known."""
    if isinstance(node, ast.Name) and node.id in counters:
        return True
    if isinstance(node, ast.expr) and plan.times.of(node) is Time.STATIC:
        return True
    if isinstance(node, ast.expr) and any(what(plan, node, at) is not None for what in (shape_of, rank_of, count_of)):
        return True
    if _is_shape_of_counter(node, counters):
        return True
    if isinstance(node, ast.Attribute):
        return (
            node.attr == "value"
            and isinstance(node.value, ast.Subscript)
            and is_known(plan, node.value, at, counters, above)
        )
    if isinstance(node, ast.Name) and node.id not in above and _is_list_of_weights(plan, node.id, at):
        return True
    if isinstance(node, ast.Name):
        sources = plan.slicer.reaching(node.id, at.index, None, at)
        return (
            node.id not in above
            and bool(sources)
            and all(
                isinstance(leaf.node, ast.Assign)
                and node.id in leaf.kills
                and not leaf.arms
                and is_known(plan, leaf.node.value, leaf, (), (*above, node.id))
                for leaf in sources
            )
        )
    if isinstance(node, ast.Call):
        name = plan.module.resolve(node.func)
        if name is None:
            known = isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and not plan.is_local(node.func.id)
        else:
            known = name.startswith(_LIBRARIES) or (plan.translations.library(name) and plan.translations.static(name))
        return known and all(is_known(plan, part, at, counters, above) for part in (*node.args, *node.keywords))
    return isinstance(node, _PLAIN) and all(is_known(plan, child, at, counters, above) for child in children(node))


def _is_shape_of_counter(node: ast.AST, counters: tuple[str, ...]) -> bool:
    """Whether an expression is the shape of a weight that a loop walks over: ``w.get_shape().as_list()``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
        if node.func.attr == "as_list":
            return _is_shape_of_counter(node.func.value, counters)
        return node.func.attr == "get_shape" and _is_counter(node.func.value, counters)
    return isinstance(node, ast.Attribute) and node.attr == "shape" and _is_counter(node.value, counters)


def _is_counter(node: ast.expr, counters: tuple[str, ...]) -> bool:
    return isinstance(node, ast.Name) and node.id in counters


def shape_of(plan: Body, node: ast.AST, at: Leaf | None) -> str | None:
    """What `build` calls the shape of the first input, or of a part of it; None for any other expression."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
        if node.func.attr == "as_list":
            shape = shape_of(plan, node.func.value, at)
            return shape if shape is None or _one_by_one(plan, node) else f"list({shape})"
        return _shape(plan, node.func.value, at, node) if node.func.attr == "get_shape" else None
    return _shape(plan, node.value, at, node) if isinstance(node, ast.Attribute) and node.attr == "shape" else None


def _shape(plan: Body, node: ast.expr, at: Leaf | None, asked: ast.expr) -> str | None:
    """The shape of the first input, of a part of it, or of one of the tensors into which it is unstacked, where `asked` asks
    for it."""
    if not isinstance(node, ast.Subscript) or isinstance(node.slice, ast.Slice):
        return _input(plan, node, at)
    whole = _unstacked(plan, node.value, at)
    if whole is None:
        return _input(plan, node, at)
    shape, axis = whole
    size = _size_asked(plan, asked)
    if size is not None and size < axis:  # the last one of what layers are made for, or one before the axis
        return shape
    return f"({shape}[:{axis}] + {shape}[{axis + 1}:])" if axis else f"{shape}[1:]"


def _size_asked(plan: Body, node: ast.AST) -> int | None:
    """Which size is asked for, -1 for the last one: ``x.shape[-1]``, ``x.get_shape().as_list()[2]``."""
    parent = plan.module.parent(node)
    if isinstance(parent, ast.Attribute) and parent.attr == "as_list":
        parent = plan.module.parent(parent)
        return _size_asked(plan, parent) if isinstance(parent, ast.Call) else None
    index = parent.slice if isinstance(parent, ast.Subscript) else None
    last = isinstance(index, ast.UnaryOp) and ast.unparse(index) == "-1"
    return -1 if last else index.value if isinstance(index, ast.Constant) and type(index.value) is int else None


def _unstacked(plan: Body, node: ast.expr, at: Leaf | None) -> tuple[str, int] | None:
    """The shape of what ``tf.unstack(x, axis=1)`` makes a list of, and the axis, counted from the front."""
    if isinstance(node, ast.Name):
        leaves = plan.definitions(node.id)
        if len(leaves) != 1 or leaves[0].arms or node.id in plan.dynamic or not isinstance(leaves[0].node, ast.Assign):
            return None
        plain = all(isinstance(target, ast.Name) for target in leaves[0].node.targets)
        return _unstacked(plan, leaves[0].node.value, leaves[0]) if plain else None
    given = None
    if isinstance(node, ast.Call) and plan.module.resolve(node.func) == "tensorflow.unstack":
        given = bind(node, ("value", "num", "axis", "name"))
    axis = (given or {}).get("axis", ast.Constant(0))
    shape = _input(plan, given["value"], at) if given is not None and "value" in given else None
    if shape is None or not isinstance(axis, ast.Constant) or type(axis.value) is not int:
        return None
    return shape, axis.value


def _one_by_one(plan: Body, node: ast.AST) -> bool:
    """Whether a list of sizes is only asked for single ones."""
    parent = plan.module.parent(node)
    if isinstance(parent, ast.Subscript):
        return not isinstance(parent.slice, ast.Slice)
    return isinstance(parent, ast.Assign) and isinstance(parent.targets[0], (ast.Tuple, ast.List))


def rank_of(plan: Body, node: ast.AST, at: Leaf | None) -> str | None:
    """The number of dimensions of the first input."""
    if not isinstance(node, ast.Attribute) or node.attr not in ("ndims", "rank"):
        return None
    shape = shape_of(plan, node.value, at)
    return None if shape is None else f"len({shape})"


def count_of(plan: Body, node: ast.AST, at: Leaf | None) -> str | None:
    """How many tensors the first input is: ``len(embeddings)``."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "len":
        return None
    if len(node.args) != 1:
        return None
    whole = _unstacked(plan, node.args[0], at)
    if whole is not None:
        return f"{whole[0]}[{whole[1]}]"
    shape = _input(plan, node.args[0], at)
    return None if shape is None else f"len({shape})"


def _input(plan: Body, node: ast.expr, at: Leaf | None) -> str | None:
    """``input_shape["x"]`` for ``features["x"]``, where `features` is the first input, or for what is computed of it element by
    element; without `at`, wherever it stands."""
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        outer = _input(plan, node.value, at)
        return None if outer is None else f"{outer}[{plan.module.segment(node.slice)}]"
    if isinstance(node, ast.Call) and node.args and plan.module.resolve(node.func) in _ELEMENTWISE:
        return _input(plan, node.args[0], at)
    if not isinstance(node, ast.Name) or not plan.dynamic:
        return None
    if node.id != plan.dynamic[0]:  # ``x = features["x"]``
        leaves = plan.definitions(node.id)
        if len(leaves) != 1 or leaves[0].arms or node.id in plan.dynamic or not isinstance(leaves[0].node, ast.Assign):
            return None
        plain = all(isinstance(target, ast.Name) for target in leaves[0].node.targets)
        return _input(plan, leaves[0].node.value, leaves[0]) if plain else None
    changed = plan.slicer.reaching(node.id, at.index, None, at) if at is not None else []
    if not changed:
        return "input_shape"
    again = changed[0].node
    plain = len(changed) == 1 and not changed[0].arms and isinstance(again, ast.Assign) and node.id in changed[0].kills
    if not plain or not isinstance(again, ast.Assign) or not isinstance(again.targets[0], ast.Name):
        return None  # another value by now
    return _input(plan, again.value, changed[0])
