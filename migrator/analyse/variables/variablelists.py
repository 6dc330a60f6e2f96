"""Lists of some of the trainable variables, chosen by their scope or name: in Keras, the attributes that hold them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.statements.names import enumerated, is_count, reads
from migrator.analyse.variables.partitioners import has_partitioners
from migrator.analyse.variables.scopes import names_made, scope_calls, scope_prefix, variable_pairs
from migrator.analyse.variables.variablechoices import Choice, inverted
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.layers.site import Site

_MANY = 4
"""Of so many variables a list says which it has, not which it has not."""
_SOME = "a list of variables has some of those of one layer"


def written(plan: Body, choice: Choice, node: ast.AST) -> str:
    """The list of the chosen variables by the attributes of the model, or of all but the others. Raises Unsupported where
    neither is known."""
    try:
        held = _held(plan, choice, node)
    except Unsupported as problem:
        others = _others(plan, choice, node) if problem.reason == _SOME else []
        if not others:
            raise
        tests = " and ".join(f"variable is not {other}" for other in others)
        return f"[variable for variable in self.trainable_variables if {tests}]"
    parts = []
    for site, paths in held:
        parts += [f"self.{path}" for path in paths] or [_part(plan, site, node)]
    if not parts:
        raise Unsupported("a list of variables is empty", node)
    if len(parts) == 1 and parts[0].endswith(".trainable_variables"):
        return parts[0][1:]
    return f"[{', '.join(parts)}]"


def _others(plan: Body, choice: Choice, node: ast.AST) -> list[str]:
    """The variables that are not chosen, where each is an attribute; else none."""
    if has_partitioners(plan):  # an attribute is none of the shards that are trained
        return []
    try:
        held = _held(plan, inverted(choice), node)
    except Unsupported:
        return []
    found = [f"self.{path}" for _, paths in held for path in paths]
    for site, paths in held:
        if not paths:
            if not site.layer.weight or site.loops or any(isinstance(frame.node, ast.If) for frame in site.leaf.arms):
                return []
            found.append(f"self.{site.attribute}{'.embeddings' if site.embedding else ''}")
    return found if len(found) < _MANY else []


def sites_of(plan: Body, choice: Choice, node: ast.AST) -> list[Site]:
    """The sites that make the chosen variables. Raises Unsupported where some are not known."""
    return [site for site, _ in _held(plan, choice, node)]


def _held(plan: Body, choice: Choice, node: ast.AST) -> list[tuple[Site, list[str]]]:
    """Sites of chosen variables; with the paths to these where a site makes others, too. Raises Unsupported."""
    found: dict[int, list[tuple[str, tuple[Site, ...], set[bool]]]] = {}
    for name, path, sites in variable_pairs(plan):
        if not name or "late_weights" in path:
            raise Unsupported("variables are listed by names of which the source does not tell all", node)
        answers = _answers(plan, choice, name, sites)
        found.setdefault(id(sites[0]), []).append((path, tuple(sites), answers))
    held: list[tuple[Site, list[str]]] = []
    for site in plan.sites:
        layer = site.layer
        if site.first is not None or not (layer.variables or layer.columns or layer.keras or layer.helper is not None):
            continue
        if site.layer.helper is not None and names_made(plan, site) is None:
            raise Unsupported("variables are listed by names of which the source does not tell all", node)
        paths: list[str] = []
        if layer.columns:
            answers = _of_columns(plan, site, choice, node)
        elif id(site) in found:
            answers = set().union(*(own for _, _, own in found[id(site)]))
            paths = _single(found[id(site)]) if len(answers) > 1 else []
        else:
            answers = _by_scope(plan, site, choice, node)
        if len(answers) > 1 and not paths:
            raise Unsupported(_SOME, node)
        if True in answers and is_trained(site):
            held.append((site, paths))
    return held


def _answers(plan: Body, choice: Choice, name: str, sites: tuple[Site, ...]) -> set[bool]:
    """Whether a variable is chosen, by all that turns of loops may put into its name; both where that is not known."""
    inside = _told_by_turns(plan, sites) if "*" in name else {""}
    if inside is not None:
        return {choice(name.replace("*", each) + ":0") for each in inside or {"0", "7"}}
    answer = choice.between(name.split("*")[0], f"{name.rpartition('*')[2]}:0")
    return {True, False} if answer is None else {answer}


def _told_by_turns(plan: Body, sites: tuple[Site, ...]) -> set[str] | None:
    """What the loops around a variable give its name: running numbers, or the texts of a list; None for anything else."""
    found: set[str] = set()
    body: Body | None = plan
    for site in sites:
        assert body is not None
        layer, calls = site.layer, scope_calls(body, site.leaf)
        values = [
            layer.name,
            layer.bias_name,
            *(value for _, value in layer.given),
            *(a for c in calls for a in c.args[:1]),
        ]
        told = reads([value for value in values if value is not None])
        for loop in site.loops:
            counter, target, listed = enumerated(loop)
            asked = told & {node.id for node in walk(target) if isinstance(node, ast.Name)}
            if asked and not is_count(listed):
                held = body.module.assignment(listed)
                elements = getattr(held.value if held is not None else listed, "elts", None)
                if not isinstance(target, ast.Name) or elements is None or not all(map(_is_plain, elements)):
                    return None
                found |= {str(element.value) for element in elements}
            if (asked and is_count(listed)) or (counter is not None and told & reads([counter])):
                found |= {"0", "7"}
        body = layer.helper
    return found


def _is_plain(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, int))


def _single(variables: list[tuple[str, tuple[Site, ...], set[bool]]]) -> list[str]:
    """The paths to the chosen ones of several variables; none where not each has a path of its own."""
    for path, sites, answers in variables:
        if len(answers) > 1:
            return []
        plain = not any(site.loops or site.first or site.layer.moving for site in sites)
        once = not any(isinstance(frame.node, ast.If) for site in sites for frame in site.leaf.arms)
        if True in answers and ("*" in path or not plain or not once or not all(map(is_trained, sites))):
            return []
    return [path for path, _, answers in variables if True in answers]


def _of_columns(plan: Body, site: Site, choice: Choice, node: ast.AST) -> set[bool]:
    """Whether the variables of feature columns are chosen, which are named by their columns below the scope of the layer."""
    scope = scope_prefix(plan, site.leaf)
    known = scope is not None and "*" not in scope
    start, ends = f"{scope}{site.layer.scope}", site.layer.columns
    answers = [choice.between(start, f"/{end}:0") for end in ends] if known else []
    if not answers or None in answers:
        raise Unsupported("variables of feature columns are chosen by more than their scope", node)
    return {answer is True for answer in answers}


def _by_scope(plan: Body, site: Site, choice: Choice, node: ast.AST) -> set[bool]:
    """Whether the variables of a layer with a running number are chosen."""
    scope = scope_prefix(plan, site.leaf)
    if (
        scope is None
        or "*" in scope
        or site.layer.keras
        or site.layer.helper is not None
        or site.layer.late
        or site.layer.bias_name
    ):
        raise Unsupported("a list of variables is asked for where not all layers are known", node)
    numbered = [f"{scope}{site.layer.scope}{number}" for number in ("", "_7")]
    return {choice(f"{name}/{variable}:0") for name in numbered for variable, _ in site.layer.variables}


def is_trained(site: Site) -> bool:
    """Whether a layer or variable is one of those to be trained."""
    value = next((k.value for k in site.call.keywords if k.arg == "trainable"), None)
    if value is None:
        return True
    if not isinstance(value, ast.Constant):
        raise Unsupported("whether a variable is trained is not a literal", value)
    return bool(value.value)


def _part(plan: Body, site: Site, node: ast.AST) -> str:
    """The variables of one attribute, as elements of a list."""
    if len(site.loops) > 1:
        raise Unsupported("variables of nested loops are listed", node)
    conditional = any(isinstance(frame.node, ast.If) for frame in site.leaf.arms)
    if conditional and site.loops and site.layer.weight:
        raise Unsupported("variables of a layer that a condition makes are listed", node)
    if conditional and not site.loops:
        if not site.makes or any(other is not site and other.attribute == site.attribute for other in plan.sites):
            raise Unsupported("variables of a layer that a condition makes are listed", node)
        site.asked_for = True
        own = f"self.{site.attribute}"
        listed = f"[{own}]" if site.layer.weight and not site.embedding else f"{own}.trainable_variables"
        return f"*({listed} if {own} is not None else [])"
    if site.layer.weight and not site.embedding:
        return f"*self.{site.attribute}" if site.loops else f"self.{site.attribute}"
    if site.loops:
        made = " if layer is not None" if conditional else ""
        return f"*(variable for layer in self.{site.attribute}{made} for variable in layer.trainable_variables)"
    return f"*self.{site.attribute}.trainable_variables"
