"""Tags of summaries: in TensorFlow 1 the names of their operations, with the scopes around them and unique in the graph."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import is_none
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.analyse.variables.namepatterns import literal_pattern
from migrator.resolve.syntax import walk
from migrator.rewrite import Row, in_scope, with_first_argument, without_repeated_scopes

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.function.writing import FunctionWriting

# Functions that take a name first, by the ends of their qualified names.
_NAME_FIRST = ("get_variable",)
NAME, HANDED = "name", ("name", "scope", "outer_scope")
SCOPES = ("tensorflow.variable_scope", "tensorflow.name_scope")
_Way = tuple[tuple[ast.AST, ast.FunctionDef], ...]
"""A model_fn, and the calls that lead to a helper, each with the function that it calls."""
_WITHOUT_PREFIX = "# so that Keras puts no prefix before the tag"


def tagged(writer: FunctionWriting, leaf: Leaf, found: list[Row]) -> list[Row]:
    """The rows of a statement; those of a summary with the tag that TF1 gave it."""
    call = summary_call(writer.plan, leaf)
    if call is None:
        return found
    name = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "name"), None)
    if name is not None:
        old = new = writer.text(name)
        if not begins_with_handed(writer.plan.function, name):
            new = tag_text(writer, leaf, name, _outer_path(writer.plan, leaf, name))
        found = [with_first_argument(row, old, new) for row in found]
    if writer.where != "call":
        return found
    return in_scope(f'with {writer.tf}.name_scope(""):  {_WITHOUT_PREFIX}', found)


def joined(found: list[Row]) -> list[Row]:
    """Rows without the heads of scopes that go on one that stands above."""
    return without_repeated_scopes(found, _WITHOUT_PREFIX)


def handed_scope(function: ast.FunctionDef) -> str | None:
    """The parameter in which each call of a helper hands it the names of the scopes around, by keyword, as the preparation has
    it: `NAME` is that of its layer too, the others hold a slash behind each name."""
    required = zip(function.args.kwonlyargs, function.args.kw_defaults)
    return next((argument.arg for argument, default in required if argument.arg in HANDED and default is None), None)


def begins_with_handed(function: ast.FunctionDef, tag: ast.expr) -> bool:
    """Whether a tag begins with the names of scopes that a helper is handed."""
    while isinstance(tag, ast.BinOp):
        tag = tag.left
    return isinstance(tag, ast.Name) and tag.id == handed_scope(function)


def _outer_path(plan: Body, leaf: Leaf, tag: ast.expr) -> str:
    """The names of the scopes around the one call of a helper, each with a slash. Raises Unsupported where its calls add names
    of scopes, or numbers, that the helper does not know."""
    if not plan.is_helper or handed_scope(plan.function) is not None:
        return ""
    told = reads(tag) & set(plan.statics) or any(
        reads(name) & set(plan.statics) for s in leaf.scopes for name in opened_names(plan, s) if name
    )
    paths = list(_paths(plan, plan.function, ()))
    if len({path for _, path, _ in paths}) > 1 or any("*" in path for _, path, _ in paths):
        raise Unsupported("a summary in a helper that is called in a scope, whose name its tag gets", leaf.node)
    again = any(_meet(one, other) for i, (one, _, _) in enumerate(paths) for other, _, _ in paths[:i])
    if not told and (again or any(repeated for _, _, repeated in paths)):
        raise Unsupported("a summary in a helper that is called again, whose tag gets a number then", leaf.node)
    return paths[0][1] if paths else ""


def _meet(one: _Way, other: _Way) -> bool:
    """Whether a model may go both ways: not from two model_fns, and not where one call calls one function or the other."""
    first, second = next(((a, b) for a, b in zip(one, other) if a != b), (one[-1], other[-1]))
    if one[0] != other[0]:
        return False
    return first[0] is not second[0] or first[1] is second[1]


def _paths(
    plan: Body, function: ast.FunctionDef, seen: tuple[ast.FunctionDef, ...]
) -> Iterator[tuple[_Way, str, bool]]:
    """For each way from a model_fn to a helper: the calls, the scopes around them, whether they stand in a loop.

    The path of scopes has a ``*`` for each that is not literal, or that another statement may open before.
    """
    found = [s for s in plan.sublayers.found.values() if s.definition.node is function]
    if not found or function in seen:
        yield ((function, function),), "", False
        return
    calls = {call: module for sublayer in found for module, call in sublayer.calls}
    for call, module in calls.items():
        around = list(module.ancestors(call))
        holder = next((i for i, a in enumerate(around) if isinstance(a, ast.FunctionDef)), len(around))
        opened = [i.context_expr for a in around[:holder] if isinstance(a, ast.With) for i in reversed(a.items)]
        scopes = [c for c in opened if isinstance(c, ast.Call) and module.resolve(c.func) in SCOPES]
        own = ""
        for scope in scopes:
            name = literal_pattern(scope.args[0]) if scope.args else None
            caller = around[holder] if holder < len(around) else module.tree
            others = [
                n for n in walk(caller) if isinstance(n, ast.Call) and module.resolve(n.func) in SCOPES and n.args
            ]
            once = name is not None and [literal_pattern(n.args[0]) for n in others].count(name) == 1
            own = f"{name if once else '*'}/{own}"
        repeated = any(isinstance(a, (ast.For, ast.While, ast.comprehension)) for a in around[:holder])
        above = around[holder] if holder < len(around) else None
        if not isinstance(above, ast.FunctionDef):
            yield ((call, function),), own, repeated
            continue
        for way, path, again in _paths(plan, above, (*seen, function)):
            yield (*way, (call, function)), path + own, again or repeated


def summary_call(plan: Body, leaf: Leaf) -> ast.Call | None:
    """The summary that a statement writes."""
    call = leaf.node.value if isinstance(leaf.node, ast.Expr) else None
    return call if isinstance(call, ast.Call) and _is_summary(plan, call) else None


def _is_summary(plan: Body, call: ast.expr) -> bool:
    known = isinstance(call, ast.Call) and plan.module.resolve(call.func) in plan.translations.summaries
    return known and isinstance(call, ast.Call) and plan.module.dialect(call.func) != "v2"


def write_collected(plan: Body) -> None:
    """Let summaries that have a name, or are merged where they are made, be statements: the graph collects them anyway."""
    leaves = plan.flow.leaves
    for leaf in list(leaves):
        value = leaf.node.value if isinstance(leaf.node, ast.Assign) else None
        if value is None or len(leaf.defs) != 1 or leaf.defs != leaf.kills:
            continue
        if _is_summary(plan, value):
            name = next(iter(leaf.defs))
            if all(_merged(plan, other) is not None for other in leaves if name in other.uses):
                leaf.become(ast.copy_location(ast.Expr(value), value))
            continue
        parts = [part for part in _merged(plan, leaf) or () if _is_summary(plan, part)]
        for part in parts:
            node = ast.copy_location(ast.Expr(part), part)
            leaves.insert(leaves.index(leaf), Leaf(0, node, leaf.modes, leaf.guard, leaf.frames))
    plan.flow.renumber()


def _merged(plan: Body, leaf: Leaf) -> list[ast.expr] | None:
    """What a statement merges into one summary; None if it does no such thing."""
    call = leaf.node.value if isinstance(leaf.node, ast.Assign) else None
    name = plan.module.resolve(call.func) if isinstance(call, ast.Call) else None
    if name not in ("tensorflow.summary.merge", "tensorflow.summary.merge_all") or not isinstance(call, ast.Call):
        return None
    given = call.args[0] if call.args else None
    return given.elts if isinstance(given, (ast.List, ast.Tuple)) else []


def tag_text(writer: FunctionWriting, leaf: Leaf, name: ast.expr, outer: str = "") -> str:
    """The source text of a tag, under the scopes `outer` around the call of a helper."""
    plan, text = writer.plan, writer.text(name)
    own = scope_path(plan, leaf)
    prefix = None if own is None else outer + own
    literal = name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
    if literal is not None and prefix is not None:
        tag = re.sub(r"[^-/\w.]", "_", prefix + literal).lstrip("/")
        number = 0 if leaf.loops else _uses(plan, leaf, (own or "") + literal)
        return f'"{tag}_{number}"' if number else f'"{tag}"' if tag != literal else text
    formatted = isinstance(name, ast.BinOp) and isinstance(name.op, ast.Mod) and text[:1] in "\"'"
    if formatted and prefix and text[1:3] != text[:1] * 2 and "%" not in prefix:
        return f"{text[0]}{prefix}{text[1:]}"
    parts = ([f'"{outer[:-1]}"'] if outer else []) + _scope_texts(writer, leaf)
    if not parts:
        return text
    before = " + ".join(f'{part} + "/"' for part in parts)
    atom = isinstance(name, (ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.JoinedStr))
    return f"{before} + {text}" if atom else f"{before} + ({text})"


def scope_path(plan: Body, leaf: Leaf) -> str | None:
    """The names of the scopes around a statement, each with a slash; None where they are not literal."""
    scopes = tuple(leaf.scopes)
    if scopes not in plan.scope_paths:
        plan.scope_paths[scopes] = path_of(plan, scopes)
    return plan.scope_paths[scopes]


def path_of(plan: Body, scopes: tuple[ast.With, ...]) -> str | None:
    """The names of these scopes, each inside of the one before it, each with a slash; None where they are not literal."""
    path = ""
    for node in scopes:
        for name in opened_names(plan, node):
            pattern = literal_pattern(name)
            if pattern is None or "*" in pattern:
                return None
            path += pattern + "/"
        number = _opened_before(plan, node, path) if path else 0
        path = f"{path[:-1]}_{number}/" if number else path
    return path


def opened_names(plan: Body, node: ast.With) -> list[ast.expr | None]:
    """The names that a statement opens scopes of."""
    found: list[ast.expr | None] = []
    for item in node.items:
        call = item.context_expr
        if isinstance(call, ast.Call) and plan.module.resolve(call.func) in SCOPES:
            given = {k.arg: k.value for k in call.keywords}
            name = call.args[0] if call.args else given.get("name_or_scope", given.get("name"))
            found.append(name if not is_none(name) else given.get("default_name"))
    return found


def _scope_texts(writer: FunctionWriting, leaf: Leaf) -> list[str]:
    """The texts of the names of all scopes around a statement; none if one of them may be no name."""
    texts: list[str] = []
    for node in leaf.scopes:
        for name in opened_names(writer.plan, node):
            if name is None:
                return []
            if literal_pattern(name) is None:
                if texts or not names_layer(writer.plan, name):
                    return []
                texts.append("self.name")
            else:
                texts.append(writer.text(name))
    return texts


def names_layer(plan: Body, name: ast.expr) -> bool:
    """Whether the scope of a helper has the name that its layer is given."""
    return plan.is_helper and isinstance(name, ast.Name) and name.id in plan.statics


def _opened_before(plan: Body, node: ast.With, path: str) -> int:
    """How many other statements have opened a scope of that name before."""
    seen: set[ast.With] = set()
    for leaf in plan.flow.leaves:
        scopes = leaf.scopes
        if node in scopes:
            break
        for depth, other in enumerate(scopes):
            names = [literal_pattern(name) for outer in scopes[: depth + 1] for name in opened_names(plan, outer)]
            if opened_names(plan, other) and "".join(f"{name}/" for name in names) == path:
                seen.add(other)
    return len(seen)


def _uses(plan: Body, leaf: Leaf, tag: str) -> int:
    """How many operations and scopes of training have taken the name of a tag before."""
    count = 0
    opened: set[ast.With] = set()
    for other in plan.flow.leaves[: leaf.index]:
        if "train" not in other.modes or other.mode_only:
            continue
        path = scope_path(plan, other)
        scopes = other.scopes
        if path == f"{tag}/" and scopes and scopes[-1] not in opened:
            opened.add(scopes[-1])
            count += 1
        if path is not None and tag.startswith(path):
            calls = [node for node in walk(other.node) if isinstance(node, ast.Call)]
            count += sum(path + (_taken(plan, call) or "") == tag for call in calls)
    return count


def _taken(plan: Body, call: ast.Call) -> str | None:
    """The name that a call takes in the graph; None where it is not seen, or a name for nobody to choose."""
    function = plan.module.resolve(call.func) or ""
    if not function.startswith("tensorflow."):
        return None
    name = next((k.value for k in call.keywords if k.arg == "name"), None)
    last = function.rsplit(".", 1)[1]
    if function in plan.translations.summaries or last in _NAME_FIRST:
        name = call.args[0] if call.args else name
    elif last == "identity" and len(call.args) == 2:
        name = call.args[1]
    elif name is None and function in plan.translations.metrics:
        return last
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None
