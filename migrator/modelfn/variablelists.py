"""Lists of some of the trainable variables, chosen by their scope or name: in Keras, the attributes that hold them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.modelfn.errors import Unsupported
from migrator.modelfn.scopes import names_made, scope_prefix, variable_pairs
from migrator.modelfn.translate import is_none

if TYPE_CHECKING:
    from migrator.modelfn.body import Body
    from migrator.modelfn.flow import Leaf
    from migrator.modelfn.sites import Site

_PLAIN = re.compile(r"[\w/]*")
_COLLECTION = "tensorflow.get_collection"


@dataclass(frozen=True)
class Choice:
    """What a list of variables holds."""

    has: Callable[[str], bool]
    """Whether it has the variable of this name in TF1, ``:0`` included."""
    below: Callable[[str], bool | None]
    """Whether it has the variables whose names begin so; None where that depends on the rest of their names."""

    def __call__(self, name: str) -> bool:
        """See `has`."""
        return self.has(name)


EVERY = Choice(lambda name: True, lambda start: True)


def _starting(text: str, cut: int | None = None) -> Choice:
    def below(start: str) -> bool | None:
        return True if start.startswith(text) else None if text.startswith(start) else False

    return Choice(lambda name: name[:cut].startswith(text), below)


def _in_scope(pattern: str) -> Choice:
    if _PLAIN.fullmatch(pattern):
        return _starting(pattern)
    return Choice(lambda name: re.match(pattern, name) is not None, lambda start: None)


def _holding(text: str, wanted: bool, cut: int | None) -> Choice:
    return Choice(lambda name: (text in name[:cut]) is wanted, lambda start: wanted if text in start else None)


def _inverted(choice: Choice) -> Choice:
    def below(start: str) -> bool | None:
        found = choice.below(start)
        return None if found is None else not found

    return Choice(lambda name: not choice(name), below)


def _both(choices: Sequence[Choice]) -> Choice:
    def below(start: str) -> bool | None:
        found = [choice.below(start) for choice in choices]
        return False if False in found else None if None in found else True

    return Choice(lambda name: all(choice(name) for choice in choices), below)


def _either(choices: Sequence[Choice]) -> Choice:
    return _inverted(_both([_inverted(choice) for choice in choices]))


def listed(plan: Body, node: ast.AST | None) -> Choice | None:
    """The variables that a call lists: all, or those of a scope; None for any other call. Raises Unsupported."""
    if not isinstance(node, ast.Call):
        return None
    name = plan.module.resolve(node.func)
    arguments = list(node.args)
    if name == _COLLECTION:
        key = arguments.pop(0) if arguments else next((k.value for k in node.keywords if k.arg == "key"), None)
        if _collection_name(plan, key) != "trainable_variables":
            return None
    elif name not in plan.translations.variables:
        return None
    scope = arguments[0] if arguments else next((k.value for k in node.keywords if k.arg == "scope"), None)
    if scope is None or is_none(scope):
        return EVERY
    if not isinstance(scope, ast.Constant) or not isinstance(scope.value, str):
        raise Unsupported("variables are listed for a scope that is not a literal", scope)
    return _in_scope(scope.value)


def _collection_name(plan: Body, key: ast.expr | None) -> str:
    if isinstance(key, ast.Constant):
        return str(key.value)
    return (plan.module.resolve(key) or "").rsplit(".", 1)[-1].lower() if key is not None else ""


def chosen(plan: Body, node: ast.AST, at: Leaf) -> Choice | None:
    """The variables that ``[v for v in tf.trainable_variables() if "head" in v.name]`` chooses; None for other nodes."""
    if not isinstance(node, ast.ListComp) or len(node.generators) != 1:
        return None
    generator = node.generators[0]
    target = generator.target
    if not isinstance(target, ast.Name) or ast.unparse(node.elt) != target.id or not generator.ifs:
        return None
    source, _ = plan.followed_in(generator.iter, at, "train")
    every = listed(plan, source)
    tests = [_test(test, target.id) for test in generator.ifs]
    if every is None or any(test is None for test in tests):
        return None
    known = [test for test in tests if test is not None]
    return _both([every, *known])


def _test(node: ast.expr, variable: str) -> Choice | None:
    """A question about the name of a variable: ``"head" in v.name``, ``v.name.startswith("head")`` and the like."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = _test(node.operand, variable)
        return None if inner is None else _inverted(inner)
    if isinstance(node, ast.BoolOp):
        parts = [_test(value, variable) for value in node.values]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return _both(known) if isinstance(node.op, ast.And) else _either(known)
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], (ast.In, ast.NotIn)):
        cut = _cut(node.comparators[0], variable)
        if cut is None or not isinstance(node.left, ast.Constant) or not isinstance(node.left.value, str):
            return None
        return _holding(node.left.value, isinstance(node.ops[0], ast.In), cut)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "startswith":
        cut = _cut(node.func.value, variable)
        if cut is None or len(node.args) != 1 or not isinstance(node.args[0], ast.Constant):
            return None
        return _starting(str(node.args[0].value), cut)
    return None


def _cut(node: ast.expr, variable: str) -> int | None:
    """Where the name ends that an expression gives of a variable; None if it gives none."""
    return {f"{variable}.name": 10**6, f"{variable}.op.name": -2}.get(ast.unparse(node))


def written(plan: Body, choice: Choice, node: ast.AST) -> str:
    """The list of the chosen variables by the attributes of the model. Raises Unsupported where some are not known."""
    parts = [_part(site, node) for site in sites_of(plan, choice, node)]
    if not parts:
        raise Unsupported("a list of variables is empty", node)
    if len(parts) == 1 and parts[0].endswith(".trainable_variables"):
        return parts[0][1:]
    return f"[{', '.join(parts)}]"


def sites_of(plan: Body, choice: Choice, node: ast.AST) -> list[Site]:
    """The sites that make the chosen variables. Raises Unsupported where some are not known."""
    found: dict[int, tuple[Site, set[bool]]] = {}
    for name, path, sites in variable_pairs(plan):
        if not name or "late_weights" in path:
            raise Unsupported("variables are listed by names of which the source does not tell all", node)
        answers = {choice(name.replace("*", number) + ":0") for number in ("0", "7")}
        outer, seen = found.setdefault(id(sites[0]), (sites[0], set()))
        seen |= answers
    chosen_sites: list[Site] = []
    for site in plan.sites:
        layer = site.layer
        if site.first is not None or not (layer.variables or layer.columns or layer.keras or layer.helper is not None):
            continue
        if site.layer.helper is not None and names_made(plan, site) is None:
            raise Unsupported("variables are listed by names of which the source does not tell all", node)
        if layer.columns:
            answers = {_of_columns(plan, site, choice, node)}
        else:
            answers = found[id(site)][1] if id(site) in found else _by_scope(plan, site, choice, node)
        if len(answers) > 1:
            raise Unsupported("a list of variables has some of those of one layer", node)
        if True in answers and _is_trained(site):
            chosen_sites.append(site)
    return chosen_sites


def _of_columns(plan: Body, site: Site, choice: Choice, node: ast.AST) -> bool:
    """Whether the variables of feature columns are chosen, which are named by their columns below the scope of the layer."""
    scope = scope_prefix(plan, site.leaf)
    answer = choice.below(f"{scope}{site.layer.scope}") if scope is not None and "*" not in scope else None
    if answer is None:
        raise Unsupported("variables of feature columns are chosen by more than their scope", node)
    return answer


def _by_scope(plan: Body, site: Site, choice: Choice, node: ast.AST) -> set[bool]:
    """Whether the variables of a layer with a running number are chosen."""
    scope = scope_prefix(plan, site.leaf)
    if scope is None or "*" in scope or site.layer.keras or site.layer.helper is not None or site.layer.late:
        raise Unsupported("a list of variables is asked for where not all layers are known", node)
    numbered = [f"{scope}{site.layer.scope}{number}" for number in ("", "_7")]
    return {choice(f"{name}/{variable}:0") for name in numbered for variable, _ in site.layer.variables}


def _is_trained(site: Site) -> bool:
    value = next((k.value for k in site.call.keywords if k.arg == "trainable"), None)
    if value is None:
        return True
    if not isinstance(value, ast.Constant):
        raise Unsupported("whether a variable is trained is not a literal", value)
    return bool(value.value)


def _part(site: Site, node: ast.AST) -> str:
    """The variables of one attribute, as elements of a list."""
    if len(site.loops) > 1:
        raise Unsupported("variables of nested loops are listed", node)
    conditional = any(isinstance(frame.node, ast.If) for frame in site.leaf.arms)
    if conditional and (site.layer.weight or not site.loops):
        raise Unsupported("variables of a layer that a condition makes are listed", node)
    if site.layer.weight:
        return f"*self.{site.attribute}" if site.loops else f"self.{site.attribute}"
    if site.loops:
        made = " if layer is not None" if conditional else ""
        return f"*(variable for layer in self.{site.attribute}{made} for variable in layer.trainable_variables)"
    return f"*self.{site.attribute}.trainable_variables"
