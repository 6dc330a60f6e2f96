"""Summaries of a helper that is called in scopes, whose names TensorFlow 1 puts before their tags: the helper gets a name."""

from __future__ import annotations

import ast
import re

from migrator import rewrite
from migrator.analyse.results.tags import HANDED, NAME, begins_with_handed, handed_scope
from migrator.analyse.variables.namepatterns import literal_pattern
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.lift import keywords
from migrator.normalise.values.callers import calls_of
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, code, with_parameters
from migrator.vocabulary.unsupported import Unsupported

from ..layers.scope_ways import Step, Way, all_apart, opened_name, patterns_of, step_of, ways_to
from .summaries import EXPRESSIONS


@Desugaring
def expand(drafts: Drafts, module: Module, function: ast.FunctionDef) -> list[Change]:
    """The edits that hand the names of the scopes around its calls to a helper with summaries, and to the helpers on the ways
    to it; none where no call is in a scope, or where these do not tell the calls apart that one model_fn reaches.

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

    Where there are several scopes around one call, or none, or a helper stands between, it is told all of their names:

    ```python
    import tensorflow as tf


    def attend(x):
        tf.summary.histogram("h", x)
        return x


    def block(x, size=8, scope="block"):
        with tf.variable_scope(scope):
            return tf.layers.dense(attend(x), size)


    def network(x):
        for i in range(2):
            with tf.variable_scope("turn_%d" % i):
                x = block(x)
        return block(attend(x))
    ```
    becomes
    ```python
    import tensorflow as tf


    def attend(x, *, outer_scope):
        tf.summary.histogram(outer_scope + "h", x)
        return x


    def block(x, size=8, scope="block", *, outer_scope):
        with tf.variable_scope(scope):
            return tf.layers.dense(attend(x, outer_scope=outer_scope + scope + "/"), size)


    def network(x):
        for i in range(2):
            with tf.variable_scope("turn_%d" % i):
                x = block(x, outer_scope="turn_%d/" % i)
        return block(attend(x, outer_scope=""), outer_scope="")
    ```
    """
    summaries = [n for n in walk(function) if isinstance(n, ast.Call) and module.resolve(n.func) in EXPRESSIONS]
    try:
        tags = [(call, _tag(call)) for call in summaries]
        tags = [(call, tag) for call, tag in tags if not begins_with_handed(function, tag)]
        if not tags:
            return []
        ways = ways_to(drafts.project, Definition(module, function))
        if not any(step.scopes for way in ways for step in way):
            return []
        ends = [step_of(module, call, tag) for call, tag in tags]
        if len({(step.scopes, ast.dump(tag)) for step, (_, tag) in zip(ends, tags)}) < len(tags):
            return []  # the second one of that name gets a number
        patterns = [[patterns_of((*way, end)) for end in ends] for way in ways]
        if _is_known(ways) or not all_apart(ways, [each[0][:-1] for each in patterns]):
            return []
        plain = [step.scopes for step in ends] == [()] * len(ends) and all(_named_by_one(way) for way in ways)
        return _Telling(drafts, Definition(module, function), ways, ends, plain).changes()
    except Unsupported:
        return []


def _tag(call: ast.Call) -> ast.expr:
    given = next((keyword.value for keyword in call.keywords if keyword.arg == NAME), None)
    tag = call.args[0] if call.args else given
    if tag is None:
        raise Unsupported("a summary without a tag", call)
    return tag


def _is_known(ways: list[Way]) -> bool:
    """Whether the scopes around all calls have the same literal names, so that the helper can say them itself."""
    said = [[literal_pattern(name) for step in way for name in step.names] for way in ways]
    return all(names == said[0] for names in said) and all(name is not None and "*" not in name for name in said[0])


def _named_by_one(way: Way) -> bool:
    """Whether one scope is around a call, which the layer that is made there has the name of."""
    return len(way[-1].scopes) == 1 and not any(step.scopes for step in way[:-1])


class _Telling:
    """The changes that tell a helper, and those on the ways to it, the names of the scopes around their calls.

    With `plain`, each call has the one scope whose name the layer gets; else it is told all of them, with a slash behind each.
    """

    def __init__(self, drafts: Drafts, helper: Definition, ways: list[Way], ends: list[Step], plain: bool) -> None:
        self.drafts, self.ends, self.plain = drafts, ends, plain
        self.told = {helper: None}
        for way in ways:
            around = [bool(step.scopes) for step in way]
            inner = [(step.module, step.caller) for step in way[1:]]
            self.told.update(
                {Definition(m, f): None for i, (m, f) in enumerate(inner) if f is not None and any(around[: i + 1])}
            )
        taken = set[str]()
        for each in self.told:
            taken |= self._taken(each)
        names = [name for name in HANDED if (name == NAME) == plain and name not in taken]
        if not names:
            raise Unsupported("no name is left for the scopes")
        self.name = names[0]

    def _taken(self, helper: Definition) -> set[str]:
        function = helper.node
        assert isinstance(function, ast.FunctionDef)
        already = handed_scope(function)
        extra = function.args.vararg or function.args.kwarg or [a for a in function.args.kwonlyargs if a.arg != already]
        if extra or function.decorator_list:
            raise Unsupported("a helper with a head of another form", function)
        if already is not None:
            return {name for name in HANDED if name != already}
        return {*parameters(function), *(n.id for n in walk(function) if isinstance(n, ast.Name))}

    def changes(self) -> list[Change]:
        """The changes of all heads, calls and tags. Raises Unsupported where a call says something else already."""
        wanted: list[tuple[Module, rewrite.Change]] = []
        for helper in self.told:
            module, function = helper.module, helper.node
            assert isinstance(function, ast.FunctionDef)
            if handed_scope(function) is None:
                head = with_parameters(module.cst.statement(function), add=[self.name], by_keyword=True)
                wanted.append((module, Replace(function, head)))
            for other, call in calls_of(self.drafts.project, helper)[0]:
                text = self._text(step_of(other, call))
                said = next((k.value for k in call.keywords if k.arg == self.name), None)
                if said is None:
                    wanted.append((other, keywords(other, call, {self.name: text})))
                elif ast.dump(said) != ast.dump(ast.parse(text, mode="eval").body):
                    raise Unsupported("a call says something else", call)
        for step in self.ends:
            assert step.tag is not None
            wanted.append((step.module, Replace(step.tag, code(self._text(step)))))
        return Change.every(wanted)

    def _text(self, step: Step) -> str:
        """The source of the names of the scopes around a call, and of its tag."""
        caller = Definition(step.module, step.caller) if step.caller is not None else None
        names = [name for name in map(opened_name, step.scopes) if name is not None]
        if self.plain and step.tag is None:
            return step.module.segment(names[-1])
        parts = [self.name] if caller in self.told else []
        ahead = "/" if self.plain else ""
        for node in [*names, *([step.tag] if step.tag is not None else [])]:
            behind = "" if node is step.tag else "/"
            text = step.module.segment(node)
            joined = _extended(step.module, node, ahead, behind)
            literal = str(node.value) if isinstance(node, ast.Constant) else "?"
            if behind and re.fullmatch(r"[-\w./]*", literal):
                ahead += literal + behind
                continue
            if joined is None:
                parts += [f'"{ahead}"'] if ahead else []
                parts.append(text if isinstance(node, _ATOMS) else f"({text})")
            else:
                parts.append(joined)
            ahead = "" if joined is not None else behind
        return " + ".join([*parts, *([f'"{ahead}"'] if ahead or not parts else [])])


_ATOMS = (ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.JoinedStr)


def _extended(module: Module, node: ast.expr, ahead: str, behind: str) -> str | None:
    """The source of a text, or of one that something is formatted into, with more at its ends; None where it is not literal."""
    literal = node
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        literal = node.left
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        literal = node.func.value
    text, old = module.segment(node), module.segment(literal)
    parts = re.fullmatch(r"""([fF]?)(["'])((?:(?!\2)[^\\\n])*)\2""", old)
    if parts is None or not text.startswith(old):
        return None
    prefix, quote, inner = parts.groups()
    if literal is node and isinstance(node, ast.Constant):
        inner = re.sub(r"[^-/\w.]", "_", inner)
    return f"{prefix}{quote}{ahead}{inner}{behind}{quote}{text[len(old) :]}"
