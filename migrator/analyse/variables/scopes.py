"""TF1 variable scopes around a statement, and the names that TF1 gave the variables."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Layer, Value, is_none
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.analyse.variables.namepatterns import NO_NAME, Patterns, literal_pattern
from migrator.resolve.parsing import expression_tree
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.layers.site import Site

Sites = tuple["Site", ...]
Turns = tuple[frozenset[str], ...]
"""For each loop around whose turns make variables in one scope, so far: the names that hold what tells its turns apart."""
_UNTOLD: Turns = (frozenset(),)

_SCOPE_ARGUMENTS = frozenset(
    {
        "name_or_scope",
        "default_name",
        "values",
        "initializer",
        "regularizer",
        "partitioner",
        "reuse",
        "auxiliary_name_scope",
    }
)
VARIABLE_SCOPE = "tensorflow.variable_scope"
SCOPES = frozenset({VARIABLE_SCOPE, "tensorflow.name_scope"})
"""What gives names to what is made in it."""
CURRENT_SCOPE = "tensorflow.get_variable_scope"


def scope_calls(plan: Body, leaf: Leaf) -> list[ast.Call]:
    """The `variable_scope` calls around a leaf, outermost first."""
    found = []
    for frame in leaf.frames:
        if isinstance(frame.node, ast.With):
            for item in frame.node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and plan.module.resolve(call.func) == VARIABLE_SCOPE:
                    for keyword in call.keywords:
                        if keyword.arg not in _SCOPE_ARGUMENTS and not is_none(keyword.value):
                            raise Unsupported(f"variable_scope({keyword.arg}=…) is not migrated yet", keyword.value)
                    if len(call.args) > 3:
                        raise Unsupported("variable_scope with that many arguments is not migrated yet", call)
                    found.append(call)
    return found


def scope_prefix(plan: Body, leaf: Leaf, names: Patterns | None = None) -> str | None:
    """The scope name around a leaf, such as ``fm/``; None where a part is not known from the source."""
    parts = []
    for call in scope_calls(plan, leaf):
        name = _given_name(call)
        if is_current(plan, name):
            continue
        opened = _opened(plan, leaf, call, name) if isinstance(name, ast.Name) else None
        if opened is not None:  # a scope that is entered again, wherever that is
            whole = scope_prefix(plan, opened, names)
            if whole is None:
                return None
            parts = [whole]
            continue
        if is_none(name) or (isinstance(name, ast.Name) and (names or {}).get(name.id) == NO_NAME):
            name = next((k.value for k in call.keywords if k.arg == "default_name"), None)
            name = call.args[1] if len(call.args) > 1 else name
        text = literal_pattern(name, names)
        if text is None:
            return None
        parts.append(text + "/")
    return "".join(parts)


def _given_name(call: ast.Call) -> ast.expr | None:
    """What a call of `variable_scope` is told as the name, or as the scope to enter."""
    return call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "name_or_scope"), None)


def _opened(plan: Body, leaf: Leaf, call: ast.Call, name: ast.Name) -> Leaf | None:
    """A place inside of the scope that a name holds where `call` enters it around a leaf; None where that is not seen."""
    found: Leaf | None = None
    for other in plan.flow.leaves:
        if any(item.context_expr is call for node in other.scopes for item in node.items):
            break
        for depth, frame in enumerate(other.frames):
            items = frame.node.items if isinstance(frame.node, ast.With) else []
            if any(isinstance(i.optional_vars, ast.Name) and i.optional_vars.id == name.id for i in items):
                found = replace(other, frames=other.frames[: depth + 1])
    return found if found is not None and all(frame in leaf.frames for frame in found.arms) else None


def is_current(plan: Body, scope: ast.expr | None) -> bool:
    """Whether a scope is the one that is entered already: ``variable_scope(tf.get_variable_scope(), reuse=True)``."""
    return isinstance(scope, ast.Call) and plan.module.resolve(scope.func) == CURRENT_SCOPE


def given_names(site: Site, names: Patterns) -> Patterns:
    """What the parameters of a helper hold inside the call that a site is, if that names scopes and layers."""
    found: Patterns = {}
    for name, node in site.layer.given:
        pattern = literal_pattern(node, names)
        if is_none(node) or (isinstance(node, ast.Name) and names.get(node.id) == NO_NAME):
            pattern = NO_NAME
        if isinstance(node, ast.Constant) and type(node.value) is int:
            pattern = str(node.value)
        if pattern is not None:
            found[name] = pattern
    return found


def without_slashes(text: str) -> str:
    """The source of a name without the slashes of its texts, which Keras 3 does not allow: ``"a_b"`` for ``"a/b"``."""
    return re.sub(r"""("[^"{}\\]*"|'[^'{}\\]*')""", lambda literal: literal[0].replace("/", "_"), text)


def keras_name(plan: Body, site: Site, text: str, write: Callable[[ast.expr], str]) -> str:
    """The name of a variable (source text) with its TF1 scope; `write` gives the text of an expression."""
    prefix = scope_prefix(plan, site.leaf)
    if site.layer.late and (prefix is None or "*" in prefix):
        return _late_name(plan, site, text, write)
    counters = counted_by(plan, site) if prefix and "*" in prefix else []
    if counters:  # Keras 3 allows no slash
        name = "_".join([*map(_pattern, _scope_names(plan, site)), str(ast.literal_eval(text))]).replace("/", "_")
        return f'"{name}" % {write(counters[0])}'
    if not prefix or "*" in prefix:
        return text
    prefix = prefix.lstrip("/").replace("/", "_")  # Keras 3 allows no slash
    quote = re.match(r"[fF]?(?:\"\"\"|'''|[\"'])", text)
    if quote is not None and _begins_with_literal(site.layer.name) and not re.search(r"[%{}\\]", prefix):
        return text[: quote.end()] + prefix + text[quote.end() :]
    return f'"{prefix}" + {text}'


def counted_by(plan: Body, site: Site) -> list[ast.expr]:
    """What tells the scope of a weight in a turn of a loop from those of the other turns: `size` of ``"conv-%s" % size``."""
    scopes = _scope_names(plan, site)
    told = [name.right for name in scopes if isinstance(name, ast.BinOp)]
    targets = {node.id for loop in site.loops for node in walk(loop.target) if isinstance(node, ast.Name)}
    plain = site.layer.name is None or isinstance(site.layer.name, ast.Constant)
    known = site.layer.weight and plain and len(told) == 1 and all(map(_pattern, scopes))
    found = known and isinstance(told[0], ast.Name) and told[0].id in targets
    return told if found and plan.times.of(told[0]) is Time.STATIC else []


def _scope_names(plan: Body, site: Site) -> list[ast.expr | None]:
    """What the scopes around a weight are called."""
    return [call.args[0] if call.args else None for call in scope_calls(plan, site.leaf)]


def _pattern(scope: ast.expr | None) -> str:
    """A literal name, or one with a single place for a value, as it is written; else an empty text."""
    formatted = isinstance(scope, ast.BinOp) and isinstance(scope.op, ast.Mod)
    literal = scope.left if isinstance(scope, ast.BinOp) and formatted else scope
    text = literal.value if isinstance(literal, ast.Constant) and isinstance(literal.value, str) else ""
    return text if re.fullmatch(r"[\w./-]*%[sd][\w./-]*" if formatted else r"[\w./-]+", text) else ""


def _late_name(plan: Body, site: Site, text: str, write: Callable[[ast.expr], str]) -> str:
    """The name of a weight that `call` makes, which tells it from all others of its layer. Raises Unsupported."""
    names = []
    for call in scope_calls(plan, site.leaf):
        name = _given_name(call)
        if name is None or is_none(name):
            raise Unsupported("a variable of a size that data tell stands in a scope that is numbered", call)
        names.append(name)
    written = ast.unparse(site.layer.name) if site.layer.name is not None else ""
    same = [s for s in plan.sites if s.layer.late and s.layer.name is not None and ast.unparse(s.layer.name) == written]
    if len(same) == 1:  # what a call of the helper says tells layers apart, not weights of one layer
        names = [name for name in names if not reads(name) <= set(plan.statics)]
    return "".join(f'{write(name)} + "_" + ' for name in names) + text


def _begins_with_literal(node: ast.expr | None) -> bool:
    """Whether what is written first in a name is what stands first in it: ``"w%d" % i``, ``f"w{i}"`` and plain strings."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Mod, ast.Add)):
        return _begins_with_literal(node.left)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return isinstance(node.func.value, ast.Constant)
    return node is None or isinstance(node, (ast.Constant, ast.JoinedStr))


def variable_pairs(plan: Body) -> Iterator[tuple[str, str, Sites]]:
    """TF1 name (empty where it is not known), attribute path, and the sites that lead to each variable, but for those of
    recurrent cells; ``*`` is a running number."""
    return (pair for pair in _pairs(plan, plan.sites, "", "", {}, {}, ()) if not pair[0].endswith("/"))


def variable_map(plan: Body) -> tuple[tuple[str, str], ...]:
    """Pairs of TF1 variable name and attribute path, where both are known from the source; of a recurrent layer, its scope
    (``rnn/``) and the path of the layer."""
    found = _pairs(plan, plan.sites, "", "", {}, {}, ())
    return tuple((name, attribute) for name, attribute, _ in found if name)


def names_of_variables(plan: Body) -> Iterator[tuple[str, Sites]]:
    """TF1 name of each variable, empty where it is not known, with its site and the sites of the helpers around it."""
    return ((name, sites) for name, _, sites in _pairs(plan, plan.sites, "", None, {}, {}, ()))


def names_made(plan: Body, site: Site, cells: bool = False) -> frozenset[str] | None:
    """TF1 names of the variables that one site makes, ``*`` for what is formatted into them; None where some are not
    known from the source, as those of recurrent cells, for which one pattern stands if `cells` is given."""
    found = list(_pairs(plan, [site], "", None, {}, {}, ()))
    if any(not name for name, _, _ in found) or (not cells and any(sites[-1].layer.recurrent for *_, sites in found)):
        return None
    known = {id(sites[-1]) for _, _, sites in found}
    if any(id(inner) not in known for inner in _makers(site)):
        return None
    return frozenset(name for name, _, _ in found)


def path_of(plan: Body, site: Site, name: str) -> str | None:
    """The attribute path of the variable `name` that a site makes; None where `call` makes it, or a loop."""
    found = [path for other, path, _ in _pairs(plan, [site], "", "", {}, {}, ()) if other == name]
    return found[0] if found and "*" not in found[0] and "late_weights" not in found[0] else None


def _makers(site: Site) -> Iterator[Site]:
    """The sites that make variables, in a helper and in the helpers that it calls."""
    if site.layer.helper is None:
        makes = site.layer.variables or site.layer.recurrent
        yield from [site] if makes and site.first is None else []
    else:
        for inner in site.layer.helper.sites:
            yield from _makers(inner)


def exclusive(first: Site, second: Site) -> bool:
    """Whether two sites of a body stand in different arms of one `if`, or run in different modes."""
    return not first.leaf.modes & second.leaf.modes or any(
        one.node is other.node and one.arm != other.arm for one in first.leaf.frames for other in second.leaf.frames
    )


def _pairs(
    plan: Body,
    of: Iterable[Site],
    scope: str,
    path: str | None,
    names: Patterns,
    numbers: dict[str, int],
    turns: Turns,
    around: Sites = (),
) -> Iterator[tuple[str, str, Sites]]:
    """TF1 name and attribute path of each variable, with its site and the sites of the helpers around it; names alone where
    `path` is None."""
    for site in of:
        if site.first is not None:
            continue
        prefix = scope_prefix(plan, site.leaf, names)
        if prefix is None:
            if site.layer.helper is not None or site.layer.variables:
                yield "", "", (*around, site)
            continue
        own_path = f"{path or ''}{site.attribute}{'.*' * len(site.loops)}"
        if site.layer.late and site.loops and not site.layer.weight and path is not None:
            yield "", "", (*around, site)
            continue
        if site.layer.late and site.layer.weight:
            own_path = f"{path}late_weights.{_late_key(plan, site, names)}"
        if site.layer.helper is not None:
            known = given_names(site, names)
            handed = _handed_turns(site, _open_turns(plan, site, turns))
            outer = (*around, site)
            helper, inner = site.layer.helper, None if path is None else f"{own_path}."
            if site.layer.alternatives:  # which one it is, and so what it makes, is known at run time only
                for body in (helper, *site.layer.alternatives):
                    list(_pairs(body, body.sites, scope + prefix, inner, known, numbers, _UNTOLD, outer))
                yield "", "", outer
                continue
            yield from _pairs(helper, helper.sites, scope + prefix, inner, known, numbers, handed, outer)
            continue
        if site.layer.recurrent:  # which variables there are, the cells tell at run time
            called = _name_of_recurrent(plan, site, names)
            if path is None:
                yield f"{scope}{prefix}{called}*" if called is not None else "", "", (*around, site)
            elif called and not site.layer.late:
                yield f"{scope}{prefix}{called}", own_path, (*around, site)
            continue
        own = _own_name(site, numbers, scope + prefix, names, bool(_open_turns(plan, site, turns)))
        if own is None:
            if is_named(site, names) and site.layer.variables:
                yield "", "", (*around, site)
            continue
        unbiased = any(n == "use_bias" and is_false(v) for n, v in site.layer.arguments)
        for tf1, keras in site.layer.variables:
            if keras == "bias" and unbiased:
                continue
            called = own
            if keras == "bias" and site.layer.bias_name is not None:
                called = literal_pattern(site.layer.bias_name, names) or ""
                if not called:
                    yield "", "", (*around, site)
                    continue
            name = f"{scope}{prefix}{called}{'/' if tf1 and called else ''}{tf1}".lstrip(
                "/"
            )  # of scopes without a name
            attribute = "embeddings" if site.embedding else keras
            yield name, f"{own_path}.{attribute}" if attribute else own_path, (*around, site)


def scope_in_tf1(layer: Layer) -> str:
    """The scope that TensorFlow 1 gave a recurrent layer without a name; one of two directions had that of both."""
    return {"forward_rnn": "bidirectional_rnn/fw", "backward_rnn": "bidirectional_rnn/bw"}.get(layer.scope, layer.scope)


def _name_of_recurrent(plan: Body, site: Site, names: Patterns) -> str | None:
    """What a recurrent layer adds to the scopes around it in the names of its variables; None where that is not known."""
    scope = site.layer.name
    if isinstance(scope, ast.Name) and scope.id not in names:
        return "" if named_around(site, scope.id) == scope_calls(plan, site.leaf)[-1:] else None
    called = literal_pattern(scope, names) if is_named(site, names) else scope_in_tf1(site.layer)
    return None if called is None else f"{called}/"


def named_around(site: Site, name: str) -> list[ast.expr] | None:
    """The scope around a site that has the name; None where there is none."""
    for scope in reversed(site.leaf.scopes):
        for item in scope.items:
            if isinstance(item.optional_vars, ast.Name) and item.optional_vars.id == name:
                return [item.context_expr]
    return None


def _late_key(plan: Body, site: Site, names: Patterns) -> str:
    """The name under which a layer keeps a weight that `call` makes; empty where it is not known from the source."""
    name = literal_pattern(site.layer.name, names)
    known = name is not None and "*" not in name
    key = keras_name(plan, site, without_slashes(repr(name)) if known else "?", lambda node: "?")
    parts = [n for n in walk(expression_tree(key)) if isinstance(n, ast.Constant)] if "?" not in key else []
    return "".join(str(part.value) for part in sorted(parts, key=lambda part: part.col_offset))


def is_false(value: Value) -> bool:
    """Whether an argument is the literal ``False``."""
    return value == "False" or (isinstance(value, ast.Constant) and value.value is False)


def _open_turns(plan: Body, site: Site, turns: Turns) -> Turns:
    """The loops whose turns make layers in one scope: no scope around a site has what tells them apart in its name."""
    names: set[str] = set()
    for call in scope_calls(plan, site.leaf):
        names |= reads(call.args[0]) if call.args else set()
    heads = [frozenset(n.id for n in walk(loop.target) if isinstance(n, ast.Name)) for loop in site.loops]
    if site.layer.keras:
        return (*turns, *heads)
    return tuple(head for head in (*turns, *heads) if not head & names)


def _handed_turns(site: Site, turns: Turns) -> Turns:
    """The same loops inside of the helper that a site calls: its parameters may hold what tells the turns apart."""
    return tuple(frozenset(name for name, value in site.layer.given if reads(value) & head) for head in turns)


def told_apart(plan: Body, site: Site) -> bool:
    """Whether all variables that turns of loops make in a helper have what tells the turn in their names."""
    heads = tuple(frozenset(n.id for n in walk(loop.target) if isinstance(n, ast.Name)) for loop in site.loops)
    return _is_told(plan, site, {name: "*" for head in heads for name in head}, heads)


def _is_told(plan: Body, site: Site, names: Patterns, turns: Turns) -> bool:
    made = [_given_name(call) for call in scope_calls(plan, site.leaf)]
    made += [site.layer.name] if site.layer.helper is None and site.layer.name is not None else []
    for node in made:
        pattern = literal_pattern(node, names)
        if pattern is None and not is_current(plan, node):
            return False  # another scope may be entered again
        if node is not None and pattern is not None and "*" in pattern:
            turns = tuple(head for head in turns if not head & reads(node))
    helper = site.layer.helper
    if helper is None:
        return not turns or site.layer.keras or not (site.layer.variables or site.layer.recurrent)
    known, handed = given_names(site, names), _handed_turns(site, turns)
    return all(_is_told(helper, inner, known, handed) for inner in helper.sites if inner.first is None)


def is_named(site: Site, names: Patterns) -> bool:
    """Whether the program names a layer, and not just by a parameter that holds None."""
    name = site.layer.name
    return name is not None and not (isinstance(name, ast.Name) and names.get(name.id) == NO_NAME)


def _own_name(site: Site, numbers: dict[str, int], prefix: str, names: Patterns, repeated: bool) -> str | None:
    if is_named(site, names):
        return literal_pattern(site.layer.name, names)
    key = site.layer.scope if site.layer.keras else prefix + site.layer.scope  # Keras counts over all scopes
    if repeated and "*" not in prefix:
        numbers[key] = -1  # how many there are is known at run time only
    if repeated or numbers.get(key, 0) < 0:
        return None
    numbers[key] = numbers.get(key, 0) + 1
    return site.layer.scope if numbers[key] == 1 else f"{site.layer.scope}_{numbers[key] - 1}"
