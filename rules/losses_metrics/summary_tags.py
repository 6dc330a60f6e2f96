"""Tags of summaries that read the name of a tensor in the graph, which Keras does not have: they take that of the variable.

A tag that has a name of its own in a loop is written where it is read, as `call` does not have such names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Union

from migrator import rewrite
from migrator.analyse.statements.names import binds, reads, targets
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Remove, Replace, code, expr

from .summaries import EXPRESSIONS

TOLD = 'this summary is called "{tag}" now, after its variable: without a graph the tensor has no name'
_WEIGHTS = frozenset({"tensorflow.get_variable", "tensorflow.Variable"})
_LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FREE = ("i", "index", "number", "turn")
Part = Union[str, ast.expr]


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for one tag of a function; none if there is no more.

    ```python
    import tensorflow as tf


    def model_fn(features, units):
        net = features["x"]
        for n in units:
            net = tf.layers.dense(net, n)
            tf.summary.histogram(net.name + "/activation", net)
        return net
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, units):
        net = features["x"]
        for i, n in enumerate(units):
            net = tf.layers.dense(net, n)
            tf.summary.histogram("net_%d/activation" % i, net)
        return net
    ```
    """
    calls = [n for n in walk(function) if isinstance(n, ast.Call) and module.resolve(n.func) in EXPRESSIONS]
    for call in calls:
        if module.nearest(call, (ast.FunctionDef, ast.Lambda)) is not function or module.dialect(call.func) == "v2":
            continue
        changes = _spelled_out(module, function, call) or _called_after(drafts, module, function, call, calls)
        if changes:
            return changes
    return []


def _tag(call: ast.Call) -> ast.expr | None:
    given = next((keyword.value for keyword in call.keywords if keyword.arg == "name"), None)
    return call.args[0] if call.args and not isinstance(call.args[0], ast.Starred) else given


def _loops(module: Module, node: ast.AST, function: ast.AST) -> list[ast.AST]:
    """The loops of a function around a node, the innermost first."""
    found: list[ast.AST] = []
    for ancestor in module.ancestors(node):
        if ancestor is function:
            break
        if isinstance(ancestor, _LOOPS):
            found.append(ancestor)
    return found


def _spelled_out(module: Module, function: ast.FunctionDef, call: ast.Call) -> list[Change]:
    """The changes that write a tag where summaries read it, instead of a name for it."""
    tag = _tag(call)
    for name in (n for n in walk(tag) if isinstance(n, ast.Name)) if tag is not None else ():
        made = module.assignment(name)
        if made is None or not _is_text(made.value) or module.nearest(made, ast.FunctionDef) is not function:
            continue
        if not _loops(module, made, function) and not any(map(_held, walk(made.value))):
            continue
        loads = module.loads_of(name.id, module.scope(name).lookup(name.id))
        block = module.parent(made)
        body: list[ast.stmt] = next((b for b in map(block.__dict__.get, ("body", "orelse")) if b and made in b), [])
        tags = [load for load in loads if _is_in_tag(module, load)]
        below = (
            [s for s in body[body.index(made) + 1 :] if any(module.is_inside(load, s) for load in loads)]
            if body
            else []
        )
        between = body[body.index(made) + 1 : body.index(below[-1])] if below else []
        held = {name for statement in between for name in binds(statement)}
        if len(tags) < len(loads) or any(module.statement(load) not in below for load in loads):
            continue
        if held & reads(made.value):
            continue
        value = module.cst.expression(made.value)
        return Change.of(module, Remove(made), *(Replace(load, expr("({value})", value=value)) for load in loads))
    return []


def _is_text(node: ast.expr) -> bool:
    """Whether an expression is seen to be a text that is put together."""
    if isinstance(node, ast.Call):
        of_text = isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "replace", "sub")
        return of_text and not any(isinstance(n, (ast.Await, ast.NamedExpr, ast.Yield)) for n in walk(node))
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, (ast.Add, ast.Mod)) and (_is_text(node.left) or _is_text(node.right))
    return (isinstance(node, ast.Constant) and isinstance(node.value, str)) or _held(node) is not None


def _is_in_tag(module: Module, load: ast.Name) -> bool:
    call: ast.AST | None = load
    while call is not None and not isinstance(call, ast.stmt):
        if isinstance(call, ast.Call) and module.resolve(call.func) in EXPRESSIONS:
            tag = _tag(call)
            return tag is not None and (tag is load or module.is_inside(load, tag))
        call = module.parent(call)
    return False


def _held(node: ast.AST) -> ast.Name | None:
    """What ``x.name`` or ``x.op.name`` is the name of."""
    if not isinstance(node, ast.Attribute) or node.attr != "name":
        return None
    held = node.value
    held = held.value if isinstance(held, ast.Attribute) and held.attr == "op" else held
    return held if isinstance(held, ast.Name) else None


def _called_after(
    drafts: Drafts, module: Module, function: ast.FunctionDef, call: ast.Call, calls: list[ast.Call]
) -> list[Change]:
    """The changes that call a summary after the variable whose tensor it shows."""
    tag = _tag(call)
    shown = [*call.args[1:], *(keyword.value for keyword in call.keywords if keyword.arg != "name")]
    names = {n.id for part in shown for n in walk(part) if isinstance(n, ast.Name)}
    held = [name for name in map(_held, walk(tag)) if name is not None] if tag is not None else []
    if tag is not None and not held:
        texts = any(_is_text(piece) for piece in _formatted(tag) or () if isinstance(piece, ast.expr))
        text = _Text(list(_parts(module, tag)), [], 0).source(module) if texts else ""
        return Change.of(module, Replace(tag, code(text))) if text else []
    if tag is None or not held or any(not _is_tensor(module, function, name, names) for name in held):
        return []
    parts = list(_parts(module, tag))
    left = [n for part in parts if isinstance(part, ast.AST) for n in walk(part) if _held(n)]
    if left or any(isinstance(loop, ast.While) for loop in _loops(module, call, function)):
        return []
    told = set().union(*(reads(part) for part in parts if isinstance(part, ast.AST)))
    counters: list[str] = []
    changes: list[rewrite.Change] = []
    for loop in reversed(_loops(module, call, function)):
        if not isinstance(loop, ast.For):
            return []
        if not targets(loop.target) & told:
            counter = _counter(module, loop)
            if counter is None:
                counter = _free(function, counters)
                head = "{counter}, ({target})" if isinstance(loop.target, ast.Tuple) else "{counter}, {target}"
                bare = module.cst.expression(loop.target)
                if isinstance(loop.target, ast.Tuple):
                    bare = bare.with_changes(lpar=[], rpar=[])
                changes.append(Replace(loop.target, expr(head, counter=counter, target=bare)))
                changes.append(Replace(loop.iter, expr("enumerate({it})", it=module.cst.expression(loop.iter))))
            counters.append(counter)
    number = _number(module, function, call, calls, counters)
    new = _Text(parts, counters, number)
    changes.append(Replace(tag, code(new.source(module))))
    drafts.remark(module, call, TOLD.format(tag=new.shown))
    return Change.of(module, *changes)


def _is_tensor(module: Module, function: ast.FunctionDef, name: ast.Name, shown: set[str]) -> bool:
    """Whether a name is what the summary shows, and no weight, whose name in TensorFlow 1 is known."""
    bound = [binding.node for binding in module.bindings(name)]
    if name.id not in shown or not bound or module.scope(name).node is not function:
        return False
    for node in bound:
        parent = module.parent(node)
        if isinstance(node, ast.arg):
            continue
        if not isinstance(parent, ast.Assign) and not isinstance(node, ast.Assign):
            return False
        value = parent.value if isinstance(parent, ast.Assign) else getattr(node, "value", None)
        made = isinstance(value, ast.Call) and module.resolve(value.func) in _WEIGHTS
        if made and not _loops(module, node, function):
            return False
    return True


def _parts(module: Module, node: ast.expr) -> Iterator[Part]:
    """The texts and values that a tag is put together of; a name of a tensor stands as that of its variable, with ``*``."""
    bare = _bare(module, node)
    held = _held(bare)
    if held is not None:
        yield f"{held.id}*"
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value.replace("*", "_")
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        yield from _parts(module, node.left)
        yield from _parts(module, node.right)
    else:
        pieces = _formatted(node)
        if pieces is None:
            yield node
        for piece in pieces or ():
            yield from [piece] if isinstance(piece, str) else _parts(module, piece)


def _bare(module: Module, node: ast.expr) -> ast.expr:
    """The name of a tensor without what takes its number or its scopes away: ``x.name[:-2]``, ``x.name.split(":")[0]``."""
    if isinstance(node, ast.Call) and module.resolve(node.func) == "re.sub" and len(node.args) == 3:
        return _bare(module, node.args[2])
    if isinstance(node, ast.Subscript):
        inner = node.value
        split = isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr == "split"
        if split and isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
            return inner.func.value
        return inner if isinstance(node.slice, ast.Slice) else node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "replace":
        return node.func.value
    return node


def _formatted(node: ast.expr) -> list[Part] | None:
    """The pieces of a formatted text; None where its form is another one."""
    if isinstance(node, ast.JoinedStr):
        plain = [v for v in node.values if isinstance(v, ast.FormattedValue)]
        if any(v.conversion != -1 or v.format_spec is not None for v in plain):
            return None
        return [v.value if isinstance(v, ast.FormattedValue) else str(getattr(v, "value", "")) for v in node.values]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant):
        values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        return _filled(str(node.left.value), r"%[sd]", "%", values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        literal = node.func.value
        if isinstance(literal, ast.Constant) and not node.keywords:
            return _filled(str(literal.value), r"\{\}", "{", node.args)
    return None


def _filled(text: str, field: str, mark: str, values: list[ast.expr]) -> list[Part] | None:
    texts = re.split(field, text)
    if len(texts) != len(values) + 1 or any(mark in piece for piece in texts) or "*" in text:
        return None
    if any(isinstance(value, ast.Starred) for value in values):
        return None
    found: list[Part] = [texts[0]]
    for value, piece in zip(values, texts[1:]):
        found += [value, piece]
    return found


def _counter(module: Module, loop: ast.For) -> str | None:
    """The name that counts the turns of a loop."""
    maker = loop.iter.func if isinstance(loop.iter, ast.Call) else None
    if not isinstance(maker, ast.Name) or module.bindings(maker):
        return None
    counts = loop.target.elts[0] if isinstance(loop.target, ast.Tuple) else loop.target
    wanted = "enumerate" if isinstance(loop.target, ast.Tuple) else "range"
    known = is_name(maker, wanted) and isinstance(counts, ast.Name)
    return counts.id if known and isinstance(counts, ast.Name) else None


def _free(function: ast.FunctionDef, taken: list[str]) -> str:
    used = {n.id for n in walk(function) if isinstance(n, ast.Name)} | {
        n.arg for n in walk(function) if isinstance(n, ast.arg)
    }
    used |= set(taken)
    return next(name for name in (*_FREE, *(f"i_{n}" for n in range(len(used) + 1))) if name not in used)


def _number(
    module: Module, function: ast.FunctionDef, call: ast.Call, calls: list[ast.Call], counters: list[str]
) -> int:
    """How many summaries above would have the same tag: outside of loops, tags get their numbers later."""
    if not counters:
        return 0
    own = _key(module, call)
    above = [other for other in calls if other.lineno < call.lineno and _loops(module, other, function)]
    return sum(_key(module, other) == own for other in above)


def _key(module: Module, call: ast.Call) -> tuple[str, str]:
    """What tells a summary in a loop from others: its kind, and its tag without counters."""
    tag = _tag(call)
    parts = list(_parts(module, tag)) if tag is not None else []
    text = "".join(part if isinstance(part, str) else "%s" for part in parts)
    return module.resolve(call.func) or "", re.sub(r"(_\d+)?(_%[ds])+|\*", "", text)


@dataclass(frozen=True)
class _Text:
    """A tag with the name of a variable in it."""

    parts: list[Part]
    counters: list[str]
    number: int

    @property
    def shown(self) -> str:
        """It, as a message shows it."""
        texts = (part if isinstance(part, str) else "…" for part in self.parts)
        return "".join(texts).replace("*", f"{self._number}{'_0' * len(self.counters)}")

    @property
    def _number(self) -> str:
        return f"_{self.number + 1}" if self.number else ""

    def source(self, module: Module) -> str:
        """It, as source text."""
        text, values = "", list[str]()
        for part in self.parts:
            if isinstance(part, ast.AST):
                text += "%s"
                values.append(module.segment(part))
                continue
            head, star, tail = part.replace("%", "%%").partition("*")
            text += head + (self._number + "_%d" * len(self.counters) if star else "") + tail
            values += self.counters if star else []
        if not values:
            return f'"{text.replace("%%", "%")}"'
        return f'"{text}" % {values[0]}' if len(values) == 1 else f'"{text}" % ({", ".join(values)})'
