"""Names that stand for one variable first, and for another one below: the second gets its own.

``W`` and ``b`` of one convolution, or of every one in a loop, and then ``W`` and ``b`` of the layer on top, are such names;
``cell`` for the cells of two recurrent layers is another.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.local_names import quoted, straight_statements
from migrator.resolve.module import Module
from migrator.resolve.syntax import place_of, target_name, walk
from migrator.rewrite import Remove, Replace, expr, statements

_MADE = frozenset({"tensorflow.get_variable", "tensorflow.Variable"})
_OBJECTS = ("tensorflow.nn.rnn_cell.", "tensorflow.contrib.rnn.", "tensorflow.layers.", "tensorflow.keras.layers.")
"""Where the classes of cells and layers are."""


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """Edits that give the last variable of a name another name than those before it, such as those of the turns of a loop,
    and one before such a loop another name than what the loop makes.

    ```python
    import tensorflow as tf


    def network(x):
        w = tf.get_variable("w1", [3, 4])
        x = tf.matmul(x, w)
        w = tf.get_variable("w2", [4, 1])
        return tf.matmul(x, w)
    ```
    becomes
    ```python
    import tensorflow as tf


    def network(x):
        w = tf.get_variable("w1", [3, 4])
        x = tf.matmul(x, w)
        w_2 = tf.get_variable("w2", [4, 1])
        return tf.matmul(x, w_2)
    ```
    """
    straight = list(straight_statements(function.body))
    statements = [node for statement in function.body for node in walk(statement) if isinstance(node, ast.Assign)]
    scope = module.scope(function.body[0])
    for name in sorted(set(filter(None, (_made(module, statement) for statement in statements)))):
        found = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == name]
        if any(module.scope(n) is not scope for n in found):
            continue
        made = [statement for statement in statements if _made(module, statement) == name]
        first = min(map(place_of, made))
        below = _last_apart(module, straight, name, found)
        if below and first < min(map(place_of, below)) and not quoted(function, below):
            return _renamed(module, function, below, max(2, len([s for s in made if s in straight])))
        for loop in straight:
            if isinstance(loop, ast.For) and first < place_of(loop) and _makes_first(module, loop, name):
                above = [n for n in found if place_of(n) < place_of(loop)]
                after = any(n.lineno > _ends(loop) for n in found)
                if not after and not quoted(function, above):
                    return _renamed(module, function, above, 2)
    return (
        _apart_as_objects(module, function, straight)
        or _apart_from_options(module, function, straight)
        or _without_alias(module, function, straight)
        or _apart_from_loss(module, function, straight)
        or _apart_in_arms(module, function)
    )


def _apart_in_arms(module: Module, function: ast.FunctionDef) -> list[Change]:
    """Edits that give the variables of turns in one arm of a condition another name than one variable in the other arm."""
    for node in walk(function):
        if not isinstance(node, ast.If) or not node.orelse:
            continue
        for one, other in ((node.body, node.orelse), (node.orelse, node.body)):
            for name in sorted(set(filter(None, (_made_in_turns(module, n) for s in one for n in walk(s))))):
                inside = [n for s in one for n in walk(s) if isinstance(n, ast.Name) and n.id == name]
                beside = [n for s in other for n in walk(s) if isinstance(n, ast.Name) and n.id == name]
                every = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == name]
                holders = {module.scope(n).lookup(name) for n in every}
                if len(every) != len(inside) + len(beside) or len(holders) > 1:
                    continue
                if beside and all(_begins_anew(part) for part in (inside, beside)) and not quoted(function, inside):
                    if any(_made(module, n) == name for s in other for n in walk(s)):
                        return _renamed(module, function, inside, 2)
    return []


def _made_in_turns(module: Module, statement: ast.AST) -> str | None:
    """The name of the variable that each turn of a loop makes first."""
    if not isinstance(statement, ast.For):
        return None
    made = (_made(module, node) for node in statement.body)
    return next((name for name in made if name is not None and _makes_first(module, statement, name)), None)


def _begins_anew(names: list[ast.Name]) -> bool:
    """Whether the first of some places gives a value to a name."""
    return isinstance(min(names, key=place_of).ctx, ast.Store)


def _apart_as_objects(module: Module, function: ast.FunctionDef, straight: list[ast.stmt]) -> list[Change]:
    """Edits that give the last cell or layer of a name another name than those before it."""
    scope = module.scope(function.body[0])
    for name in sorted(
        {target_name(s) or "" for s in straight if isinstance(s, ast.Assign) and _is_object(module, s.value)}
    ):
        anew = [s for s in straight if isinstance(s, ast.Assign) and target_name(s) == name and not _reads(s, name)]
        if not anew or not _is_object(module, anew[-1].value):
            continue
        found = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == name]
        below = [n for n in found if place_of(n) >= place_of(anew[-1])]
        if len(below) < len(found) and all(module.scope(n) is scope for n in found) and not quoted(function, below):
            return _renamed(module, function, below, max(2, len(anew)))
    return []


def _is_object(module: Module, value: ast.expr) -> bool:
    """Whether an expression makes a recurrent cell or a layer."""
    name = (module.resolve(value.func) or "") if isinstance(value, ast.Call) else ""
    return name.startswith(_OBJECTS) and name.rpartition(".")[2][:1].isupper()


def _last_apart(module: Module, straight: list[ast.stmt], name: str, found: list[ast.Name]) -> list[ast.Name]:
    """Of the places of a name, those that speak of the variable which it stands for in the end; none where it may be
    something else."""
    stores = [statement for statement in straight if target_name(statement) == name]
    if not stores or _made(module, stores[-1]) is None:
        return []
    while len(stores) > 1 and _reads(stores[-1], name) and _made(module, stores[-2]) is None:
        stores.pop()  # the value of which the last variable is made, under its name
    last = stores[-1]
    if _reads(last, name):
        return []
    return [n for n in found if place_of(n) >= place_of(last)]


def _makes_first(module: Module, loop: ast.For, name: str) -> bool:
    """Whether each turn of a loop makes a variable of this name, before anything in the loop speaks of the name."""
    for node in (loop.target, loop.iter, *straight_statements(loop.body)):
        parts = [item.context_expr for item in node.items] if isinstance(node, ast.With) else [node]
        if any(isinstance(n, ast.Name) and n.id == name for part in parts for n in walk(part)):
            return _made(module, node) == name and not _reads(node, name)
    return False


def _renamed(module: Module, function: ast.FunctionDef, nodes: Sequence[ast.Name], first: int) -> list[Change]:
    """Edits that give `nodes`, which have one name, another one."""
    new = _free(module, function, nodes[0].id, first)
    return Change.of(module, *(Replace(node, new) for node in nodes))


def _ends(node: ast.stmt) -> int:
    return node.end_lineno or node.lineno


def _apart_from_options(module: Module, function: ast.FunctionDef, straight: list[ast.stmt]) -> list[Change]:
    """Edits that give a tensor another name than the parameter with a plain default whose name it takes."""
    scope = module.scope(function.body[0])
    for name in _options(function):
        found = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == name]
        stores = [n for n in found if not isinstance(n.ctx, ast.Load)]
        last = next((s for s in straight if target_name(s) == name), None)
        if len(stores) != 1 or not isinstance(last, ast.Assign) or not _is_tensor(module, last.value):
            continue
        target = last.targets[0]
        below = [n for n in found if n is target or n.lineno > _ends(last)]
        if any(module.scope(n) is not scope for n in found) or quoted(function, below):
            continue
        return _renamed(module, function, below, 2)
    return []


def _without_alias(module: Module, function: ast.FunctionDef, straight: list[ast.stmt]) -> list[Change]:
    """Edits that put what a name stands for in the end, the value of another name, in the place of the first: ``optimizer``
    that was the name of one, and is ``optimizer = optimizer_2`` below."""
    scope = module.scope(function.body[0])
    for statement in straight:
        value = statement.value if isinstance(statement, ast.Assign) else None
        name = target_name(statement)
        if name is None or not isinstance(value, ast.Name) or value.id == name:
            continue
        of_both = [n for n in walk(function) if isinstance(n, ast.Name) and n.id in (name, value.id)]
        stores = [n for n in of_both if not isinstance(n.ctx, ast.Load)]
        above = [n for n in stores if place_of(n) < place_of(statement)]
        inner = any(module.scope(n) is not scope for n in of_both)
        if inner or len(stores) != len(above) + 1 or {n.id for n in above} != {name, value.id}:
            continue
        below = [n for n in of_both if n.id == name and place_of(n) > place_of(value)]
        if below and not quoted(function, below):
            return Change.of(module, Remove(statement), *(Replace(n, value.id) for n in below))
    return []


def _apart_from_loss(module: Module, function: ast.FunctionDef, straight: list[ast.stmt]) -> list[Change]:
    """Edits that give what becomes of an output below the loss another name than what the loss reads, be it so in one case
    only: ``outputs_2 = outputs[:, -1] if outputs.shape[1] != 1 else outputs``."""
    scope = module.scope(function.body[0])
    for statement in straight:
        only = isinstance(statement, ast.If) and len(statement.body) == 1 and not statement.orelse
        inner = statement.body[0] if isinstance(statement, ast.If) and only else statement
        name = target_name(inner)
        if name is None or not isinstance(inner, ast.Assign) or not _reads(inner, name) or not _is_part(inner.value):
            continue
        found = [n for n in walk(function) if isinstance(n, ast.Name) and n.id == name]
        below = [n for n in found if n.lineno > _ends(statement)]
        if (
            not _meets_labels(function, name, statement)
            or any(module.scope(n) is not scope for n in found)
            or quoted(function, below)
        ):
            continue
        new, value = _free(module, function, name, 2), module.cst.expression(inner.value)
        if isinstance(statement, ast.If):
            test = module.cst.expression(statement.test)
            value = expr("{value} if {test} else {name}", value=value, test=test, name=name)
        made = Replace(statement, statements("{new} = {value}", new=new, value=value))
        return Change.of(module, made, *(Replace(n, new) for n in below))
    return []


def _meets_labels(function: ast.FunctionDef, name: str, end: ast.stmt) -> bool:
    """Whether something above `end` is made of what a name stands for and of the labels, the second thing a model_fn gets."""
    labels = {argument.arg for argument in function.args.args[1:2]}
    made = [n for n in walk(function) if isinstance(n, ast.Assign) and place_of(n) < place_of(end)]
    for statement in sorted(made, key=place_of):
        if any(_reads(statement.value, label) for label in labels):
            if _reads(statement.value, name):
                return True
            labels |= {target_name(statement) or name} - {name}
    return False


def _is_part(value: ast.expr) -> bool:
    """Whether a value is a part of another one: an entry, or a slice."""
    while isinstance(value, ast.Subscript):
        value = value.value
        if isinstance(value, ast.Name):
            return True
    return False


def _options(function: ast.FunctionDef) -> list[str]:
    """The parameters whose defaults are flags, numbers or texts."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [
        *zip(reversed(positional), reversed(arguments.defaults)),
        *zip(arguments.kwonlyargs, arguments.kw_defaults),
    ]
    return [
        argument.arg
        for argument, default in pairs
        if isinstance(default, ast.Constant) and isinstance(default.value, (bool, int, float, str))
    ]


def _is_tensor(module: Module, value: ast.expr) -> bool:
    """Whether a function of TensorFlow makes a value of something."""
    return (
        isinstance(value, ast.Call)
        and bool(value.args)
        and (module.resolve(value.func) or "").startswith("tensorflow.")
    )


def _made(module: Module, node: ast.AST) -> str | None:
    """The name that a statement gives to a variable which it makes."""
    made = (
        isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and module.resolve(node.value.func) in _MADE
    )
    return target_name(node) if made else None


def _reads(statement: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in walk(statement))


def _free(module: Module, function: ast.FunctionDef, name: str, first: int) -> str:
    """``W_2`` for the second ``W``, or the next number that is free."""
    used = {n.id for n in walk(function) if isinstance(n, ast.Name)} | set(module.bound_names)
    return next(
        text for text in (f"{name}_{number}" for number in range(first, first + len(used) + 2)) if text not in used
    )
