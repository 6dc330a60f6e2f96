"""Variables that several calls share by name: ``reuse=True``, `tf.AUTO_REUSE`. In Keras, one layer that is called again.

TF1 finds a variable by the names of the scopes around it and its own. Two calls of a body share theirs if these names are
the same expressions of values that do not change in between; helpers share all of their variables or none.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.layers.recurrent import check_recurrent, is_reused
from migrator.analyse.statements.names import reads, targets
from migrator.analyse.variables.modegraphs import share_between_modes
from migrator.analyse.variables.namepatterns import literal_pattern, may_meet
from migrator.analyse.variables.reuse import NOTHING, Flags, passed, says_no
from migrator.analyse.variables.reusecalls import reuse_values, values_told
from migrator.analyse.variables.scopes import (
    Sites,
    exclusive,
    names_made,
    names_of_variables,
    path_of,
    scope_calls,
    scope_prefix,
    told_apart,
)
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.layers.site import Site

_NOT_LITERAL = "variables may be shared under a name that is not a literal"


def share(plan: Body, sites: list[Site]) -> None:
    """Find the sites that use the layer of an earlier one. Raises Unsupported where that is not certain."""
    earlier: list[Site] = []
    check_recurrent(plan, sites)
    share_between_modes(sites, lambda first, second: _made_alike(plan, first, second))
    for site in sites:
        if site.first is not None or (site.layer.helper is None and not site.layer.variables):
            continue
        if site.layer.alternatives:
            bodies = [body for body in (site.layer.helper, *site.layer.alternatives) if body is not None]
            if is_reused(plan, site) or any(reuse for body in bodies for reuse in _reuses(body)):
                raise Unsupported(
                    "which function shares its variables is known only when the model is built", site.call
                )
        elif site.layer.helper is not None:
            _share_helper(plan, site, earlier)
        else:
            _share_variables(plan, site, earlier)
        earlier.append(site)


def _reuse_arguments(node: ast.AST, flags: Flags) -> Iterator[ast.expr]:
    """The values of ``reuse=…`` in the calls below a node, without those that say no."""
    for child in walk(node):
        if isinstance(child, ast.Call):
            yield from (k.value for k in child.keywords if k.arg == "reuse" and not says_no(k.value, flags))


def _share_variables(plan: Body, site: Site, earlier: list[Site]) -> None:
    """A layer or a variable that the body makes itself."""
    reused = is_reused(plan, site)
    own, prefix = literal_pattern(site.layer.name), scope_prefix(plan, site.leaf)
    full = None
    if prefix is not None and (site.layer.name is None or own is not None):
        full = f"{prefix}{own if own is not None else site.layer.scope}"
    if reused and site.loops and full is not None and "*" not in full:
        if not (own is not None or _starts_anew(plan, site)) or not _is_one(plan, site):
            raise Unsupported(f"the variables of `{full}` are shared by all turns of a loop", site.call)
        site.in_all_turns = True
    for other in [other for other in reversed(earlier) if other.first is None]:
        same = _same_name(plan, other, site, reused)
        if same is False or exclusive(other, site):
            continue
        if same is None:
            if reused or is_reused(plan, other):
                if not plan.is_helper:
                    raise Unsupported(_NOT_LITERAL, site.call)
                plan.doubtful.append((other, site))  # each call of the helper may tell the names
            continue
        shown = full or ast.unparse(site.layer.name or site.call.func)
        if "*" in shown and not reused and not is_reused(plan, other):
            continue  # TensorFlow 1 refuses to make a variable twice, so they have other names
        if not reused or not _alike(plan, other, site):
            raise Unsupported(f"the variables of `{shown}` are shared by two calls", site.call)
        _use(plan, other, site)
        return
    if is_reference(site):
        raise Unsupported("get_variable with neither a shape nor an initial value is not migrated yet", site.call)


def _starts_anew(plan: Body, site: Site) -> bool:
    """Whether each turn of the loops around a site enters a scope, in which layers without a name are numbered anew."""
    calls = scope_calls(plan, site.leaf)
    if not calls or site.turns:
        return False
    inner = [frame for frame in site.leaf.frames if isinstance(frame.node, (ast.With, ast.For))]
    first = next(i for i, f in enumerate(inner) if any(item.context_expr is calls[-1] for item in _items(f.node)))
    numbered = any(k.arg == "default_name" for k in calls[-1].keywords) or len(calls[-1].args) > 1
    return not numbered and all(isinstance(frame.node, ast.With) for frame in inner[first:])


def _items(node: ast.AST) -> list[ast.withitem]:
    return node.items if isinstance(node, ast.With) else []


def _is_one(plan: Body, site: Site) -> bool:
    """Whether all turns of the loops around a site would make the same layer, under the same name."""
    outer = site.loops[0]
    first = next((i for i, frame in enumerate(site.leaf.frames) if frame.node is outer), len(site.leaf.frames))
    if any(isinstance(frame.node, ast.If) for frame in site.leaf.frames[first:]) or site.layer.late:
        return False
    turns = [leaf for leaf in plan.flow.leaves if outer in leaf.loops]
    bound = {name for leaf in turns for name in leaf.defs}
    bound |= {name for leaf in turns for frame in leaf.frames[first:] for name in frame.binds()}
    bound |= {name for loop in site.turns for name in targets(loop.target)}
    values = [value for _, value in site.layer.arguments if not isinstance(value, str)]
    values += [] if site.layer.maker is None else [site.layer.maker]
    if reads([*values, *_chain(plan, site)]) & bound:
        return False
    if any(moving is not None for moving in _moving(site)):
        raise Unsupported("the moving statistics of a shared normalization are updated in no certain order", site.call)
    return True


def is_reference(site: Site) -> bool:
    """Whether a call can only find a variable: ``tf.get_variable("w")``."""
    named = {name for name, _ in site.layer.arguments}
    return site.layer.constructor == "self.add_weight" and "shape" not in named


def name_attributes(plan: Body, sites: list[Site]) -> None:
    """Give the sites that share the attribute of the layer or variable that they use."""
    for site in sites:
        first = site.first
        if first is None:
            continue
        site.attribute = first.attribute
        if first.layer.helper is not None and site.layer.helper is None:
            own, prefix = literal_pattern(site.layer.name), scope_prefix(plan, site.leaf)
            path = path_of(plan, first, f"{prefix}{own}")
            if path is None:
                raise Unsupported(f"the variable `{prefix}{own}` is shared by two calls", site.call)
            site.attribute = path


def _share_helper(plan: Body, site: Site, earlier: list[Site]) -> None:
    """A helper that is called again."""
    helper = site.layer.helper
    assert helper is not None
    flags: Flags = dict(site.layer.reuse)
    inside = list(_reuses(helper, flags))
    if site.loops and (inside or is_reused(plan, site)):
        if _is_one(plan, site) and _all_reused(helper, is_reused(plan, site), flags):
            site.in_all_turns = True
        elif not told_apart(plan, site):
            raise Unsupported("the turns of a loop may share the variables of a helper", site.call)
    for other in [other for other in reversed(earlier) if other.first is None]:
        if other.layer.helper is not helper or exclusive(other, site):
            continue
        around = is_reused(plan, site)
        if not inside and not around:
            continue
        if not _same_text(_chain(plan, other), _chain(plan, site)) or not _same_arguments(other, site):
            first, second = (names_made(plan, s, cells=True) for s in (other, site))
            if first is None or second is None or first & second:
                raise Unsupported("the calls of a helper may share some of their variables", site.call)
            if any(may_meet(a, b) for a in first for b in second):
                raise Unsupported("the calls of a helper may share some of their variables", site.call)
            continue
        if None in flags.values():
            raise Unsupported("the calls of a helper may share some of their variables", site.call)
        if not _all_reused(helper, around, flags):
            raise Unsupported("the calls of a helper share some of their variables only", site.call)
        if not _unchanged(plan, other, site):
            raise Unsupported(
                "the calls of a helper share their variables, under values that may have changed", site.call
            )
        _use(plan, other, site)
        return


def refuse_shared_variables(plan: Body) -> None:
    """Refuse two layers that are one variable in TF1, each perhaps in a helper of its own. Raises Unsupported."""
    seen: dict[str, list[Sites]] = {}
    for name, sites in names_of_variables(plan):
        if not name and _speaks_of_reuse(plan, sites):
            raise Unsupported(_NOT_LITERAL, sites[-1].call)
        if not name or "*" in name or sites[-1].layer.keras:
            continue
        for others in seen.setdefault(name, []):
            first, second = next(((a, b) for a, b in zip(others, sites) if a is not b), (sites[-1], sites[-1]))
            if first is second or not exclusive(first, second):
                raise Unsupported(f"the variable `{name}` is shared by two calls", sites[0].call)
        seen[name].append(sites)
    _settle_doubts(plan)


def _settle_doubts(plan: Body) -> None:
    """Refuse two layers of a helper that may be one variable in TF1, unless the names tell them apart which its calls give it."""
    named: dict[Sites, set[str]] = {}
    for name, sites in names_of_variables(plan):
        for depth in range(len(sites)):
            named.setdefault(sites[: depth + 1], set()).add(name)
    for around, helper in _helpers(plan):
        for first, second in helper.doubtful:
            if second.first is not None:
                continue  # it is one that was compared with `first` itself
            one, other = (named.get((*around, site), {""}) for site in (first, second))
            if "" in one | other or any(a == b or may_meet(a, b) for a in one for b in other):
                raise Unsupported(_NOT_LITERAL, second.call)


def _helpers(plan: Body, around: Sites = ()) -> Iterator[tuple[Sites, Body]]:
    """The helpers that a body calls, and those that they call, each with the sites that lead to it."""
    for site in plan.sites:
        helpers = [each for each in (site.layer.helper, *site.layer.alternatives) if each is not None]
        for helper in helpers if site.first is None else ():
            yield (*around, site), helper
            yield from _helpers(helper, (*around, site))


def _speaks_of_reuse(plan: Body, sites: Sites) -> bool:
    """Whether a site in a helper (the last one), or a scope around the calls that lead to it, speaks of reuse."""
    body: Body | None = plan
    for site in sites:
        values = [k.value for k in site.call.keywords if k.arg == "reuse"]
        values += reuse_values(body, site.leaf) if body is not None else ()
        if any(not isinstance(value, ast.Constant) or value.value for value in values):
            return True
        body = site.layer.helper
    return False


def _use(plan: Body, first: Site, site: Site) -> None:
    """Let `site` use the layer of `first`."""
    first = first.first or first
    if first.loops or site.loops:
        raise Unsupported("variables are shared by calls in loops", site.call)
    conditions = [f for f in first.leaf.frames if isinstance(f.node, ast.If)]
    if any(frame not in site.leaf.frames for frame in conditions):
        raise Unsupported("variables are shared with a call that stands under a condition", site.call)
    if first.layer.late or site.layer.late:
        raise Unsupported("a variable of a size that data tell is shared", site.call)
    if any(moving is not None for moving in _moving(first)):
        raise Unsupported("the moving statistics of a shared normalization are updated in no certain order", site.call)
    site.first = first


def _moving(site: Site) -> Iterator[str | None]:
    training = dict(site.layer.inputs or ()).get("training")
    stays = training == "False" or (isinstance(training, ast.Constant) and not training.value)
    yield None if stays else site.layer.moving
    for inner in site.layer.helper.sites if site.layer.helper is not None else ():
        yield from _moving(inner)


def _reuses(helper: Body, flags: Flags = NOTHING) -> Iterator[ast.expr]:
    """What a helper, and the helpers that it calls, say of reuse."""
    yield from _reuse_arguments(helper.function, flags)
    yield from (value for value in values_told(helper) if not says_no(value, flags))
    for site in helper.sites:
        if site.layer.helper is not None:
            yield from _reuses(site.layer.helper, passed(site, flags))


def _all_reused(helper: Body, around: bool, flags: Flags) -> bool:
    """Whether each variable of a helper is found again by name."""
    for site in helper.sites:
        reused = around or is_reused(helper, site, flags)
        if site.layer.helper is not None:
            if not _all_reused(site.layer.helper, reused, passed(site, flags)):
                return False
        elif site.layer.variables or site.layer.keras or site.layer.recurrent:
            numbered = site.layer.name is None and not scope_calls(helper, site.leaf) and not site.layer.recurrent
            if site.layer.keras or not reused or numbered:
                return False
    return True


def _same_name(plan: Body, first: Site, second: Site, reused: bool) -> bool | None:
    """Whether two sites mean the same variables; None if that is not known."""
    if first.layer.helper is not None:
        pairs = names_made(plan, first, cells=True)
        unnamed = f"{second.layer.scope}*" if second.layer.name is None else None  # with a number
        own, prefix = literal_pattern(second.layer.name) or unnamed, scope_prefix(plan, second.leaf)
        if pairs is None or own is None or prefix is None:
            return None if list(_reuses(first.layer.helper)) else False
        full = prefix + own
        if any(may_meet(full, name) for name in pairs):
            return None
        return any(name == full or name.startswith(f"{full}/") for name in pairs)
    if (first.layer.name is None) != (second.layer.name is None):
        return False
    if first.layer.name is None or second.layer.name is None:  # numbered in each scope that is entered
        if not reused or first.layer.scope != second.layer.scope or first.leaf.scopes == second.leaf.scopes:
            return False
        return _same_text(_chain(plan, first), _chain(plan, second))
    one, two = (scope_prefix(plan, site.leaf) for site in (first, second))
    own, other = literal_pattern(first.layer.name), literal_pattern(second.layer.name)
    if one is not None and two is not None and own is not None and other is not None:
        return one + own == two + other
    if not _same_text(_chain(plan, first), _chain(plan, second)):
        return None
    if ast.unparse(first.layer.name) == ast.unparse(second.layer.name):
        return True
    return None if own is None or other is None else own == other


def _chain(plan: Body, site: Site) -> list[ast.expr]:
    """What names the scopes around a site."""
    return [value for call in scope_calls(plan, site.leaf) for value in call.args[:1]]


def _same_text(first: list[ast.expr], second: list[ast.expr]) -> bool:
    return [ast.dump(node) for node in first] == [ast.dump(node) for node in second]


def _same_arguments(first: Site, second: Site) -> bool:
    """Whether two layers are made alike, as far as the text says."""

    def text(site: Site) -> set[tuple[str | None, str]]:
        return {(n, v if isinstance(v, str) else ast.dump(v)) for n, v in site.layer.arguments}

    return first.layer.constructor == second.layer.constructor and text(first) == text(second)


def _alike(plan: Body, first: Site, second: Site) -> bool:
    """Whether the second site may use what the first has made. What is said of a variable counts when it is made only."""
    if second.layer.weight:
        return first.layer.weight or first.layer.helper is not None
    return _same_arguments(first, second) and _unchanged(plan, first, second)


def _made_alike(plan: Body, first: Site, second: Site) -> bool:
    """Whether two sites make the same, in scopes of the same names."""
    same = _same_arguments(first, second) and _same_text(_chain(plan, first), _chain(plan, second))
    return same and _unchanged(plan, first, second)


def _unchanged(plan: Body, first: Site, second: Site) -> bool:
    """Whether what names and makes both sites has the same value at both."""
    values = [v for _, v in second.layer.arguments if not isinstance(v, str)] + _chain(plan, second)
    for name in sorted(reads(values)):
        before = set(plan.slicer.reaching(name, first.leaf.index, None, first.leaf))
        if before != set(plan.slicer.reaching(name, second.leaf.index, None, second.leaf)):
            return False
    return True
