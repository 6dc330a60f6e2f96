"""Summaries of a helper that is called in scopes, whose names TensorFlow 1 puts before their tags: the helper gets a name."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from migrator import rewrite
from migrator.analyse.results.tags import SCOPES
from migrator.analyse.variables.namepatterns import literal_pattern
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.lift import keywords
from migrator.normalise.values.callers import function_calls
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, expr, with_parameters

from .summaries import EXPRESSIONS

NAME, SCOPE = "name", "scope"


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The edits that hand the names of the scopes around its calls to a helper with summaries; none where no call is in a
    scope, or where these do not tell the calls apart.

    ```python
    import tensorflow as tf


    def block(x):
        h = tf.layers.dense(x, 8)
        tf.summary.histogram("h", h)
        return h


    def network(x):
        with tf.variable_scope("first"):
            x = block(x)
        with tf.variable_scope("second"):
            return block(x)
    ```
    becomes
    ```python
    import tensorflow as tf


    def block(x, *, name):
        h = tf.layers.dense(x, 8)
        tf.summary.histogram(name + "/h", h)
        return h


    def network(x):
        with tf.variable_scope("first"):
            x = block(x, name="first")
        with tf.variable_scope("second"):
            return block(x, name="second")
    ```
    """
    summaries = [n for n in walk(function) if isinstance(n, ast.Call) and module.resolve(n.func) in EXPRESSIONS]
    if not summaries or function.args.kwarg or function.args.vararg or function.args.kwonlyargs:
        return []
    if {NAME, SCOPE} & {*parameters(function), *(n.id for n in walk(function) if isinstance(n, ast.Name))}:
        return []
    tags = [_tag(call) for call in summaries]
    if any(scopes_around(module, call) for call in summaries) or any(tag is None for tag in tags):
        return []
    calls = function_calls(drafts.project, Definition(module, function))
    names = [_name(*call) for call in calls or []]
    if len(names) == 1 and names[0] is not None and "*" not in names[0].pattern:
        return []  # the one place of it is known where its tags are written
    if not calls or None in names or len({name.pattern for name in names if name is not None}) < len(names):
        return []
    # Keras 3 takes no name of a layer with a slash in it.
    told = SCOPE if any("/" in name.pattern for name in names if name is not None) else NAME
    wanted: list[tuple[Module, rewrite.Change]] = []
    for tag in tags:
        assert tag is not None
        text = module.segment(tag)
        literal = (
            isinstance(tag, ast.Constant)
            and isinstance(tag.value, str)
            and text[:1] in "\"'"
            and text[1:3] != text[:1] * 2
        )
        old = module.cst.expression(tag)
        if literal:
            joined = expr("{name} + {tag}", name=told, tag=old.with_changes(value=f"{text[0]}/{text[1:]}"))
        else:
            joined = expr('{name} + "/" + {tag}', name=told, tag=old)
        wanted.append((module, Replace(tag, joined)))
    for (other, call), name in zip(calls, names):
        assert name is not None
        wanted.append((other, keywords(other, call, {told: name.text})))
    head = with_parameters(module.cst.statement(function), add=[told], by_keyword=True)
    return Change.every([(module, Replace(function, head)), *wanted])


def scopes_around(module: Module, node: ast.AST) -> list[ast.expr]:
    """The calls that open the scopes around a node, within its function."""
    found: list[ast.expr] = []
    for ancestor in module.ancestors(node):
        if isinstance(ancestor, (ast.FunctionDef, ast.Lambda)):
            break
        if isinstance(ancestor, ast.With):
            found += [i.context_expr for i in ancestor.items if _opens(module, i.context_expr)]
    return found


def _opens(module: Module, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and module.resolve(node.func) in SCOPES


def _tag(call: ast.Call) -> ast.expr | None:
    given = next((keyword.value for keyword in call.keywords if keyword.arg == NAME), None)
    return call.args[0] if call.args else given


@dataclass(frozen=True)
class _Name:
    """What the scopes around a call are called, where each turn of the loops around it has another one."""

    pattern: str
    """With a star for what turns say."""
    text: str


def _name(module: Module, call: ast.Call) -> _Name | None:
    """The name of the scopes around a call, of which no other statement of the function opens one of the same name."""
    found = scopes_around(module, call)
    given = [scope.args[0] if isinstance(scope, ast.Call) and scope.args else None for scope in reversed(found)]
    scopes = [name for name in given if name is not None]
    patterns = [literal_pattern(name) for name in scopes]
    function = module.nearest(call, (ast.FunctionDef, ast.Lambda))
    if not scopes or len(scopes) < len(given) or None in patterns or not isinstance(function, ast.FunctionDef):
        return None
    outer = [str(name.value) for name in scopes[:-1] if isinstance(name, ast.Constant)]
    pattern = "/".join(map(str, patterns))
    if len(outer) < len(scopes) - 1 or pattern.count("/") >= len(scopes):
        return None
    loops = [a for a in module.ancestors(call) if isinstance(a, (ast.For, ast.While, ast.comprehension))]
    loops = [a for a in loops if any(node is a for node in walk(function))]
    if len(loops) > pattern.count("*"):
        return None
    opened = [n for n in walk(function) if isinstance(n, ast.Call) and _opens(module, n) and n.args]
    known = [literal_pattern(n.args[0]) for n in opened]
    if any(known.count(each) != 1 for each in patterns):
        return None
    text = module.segment(scopes[-1])
    return _Name(pattern, f'"{"/".join(outer)}/" + {text}' if outer else text)
