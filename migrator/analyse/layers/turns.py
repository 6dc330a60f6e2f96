"""Variables and layers that each turn of a loop makes, and lists and dicts that a loop fills with them."""

from __future__ import annotations

import ast
from collections.abc import Set
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.layers.objects import holder
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.layers.site import Site
    from migrator.analyse.statements.flow import Leaf


def made_in_turns(plan: Body, name: str) -> list[Site]:
    """The sites of ``w = tf.get_variable(…)`` in loops, where that is all that gives `name` a value.

    Raises Unsupported where a turn reads what it has not made itself.
    """
    sites = [site for site in plan.sites if site.loops and holder(site) == name]
    if not sites:
        return []
    leaves = {site.leaf: site for site in sites}
    if any(leaf not in leaves for leaf in plan.definitions(name)):
        raise Unsupported(f"`{name}` is a variable in one place and something else in another", sites[0].leaf.node)
    for leaf in plan.flow.leaves:
        if name not in plan.slicer.inputs(leaf) or any(name in frame.binds() for frame in leaf.frames):
            continue
        sources = plan.slicer.reaching(name, leaf.index, None, leaf)
        for source in sources:
            loops = leaves[source].loops
            if len(sources) > 1 or leaf.loops[: len(loops)] != loops or source.index > leaf.index:
                raise Unsupported(
                    f"`{name}` may be read in another turn of the loop than that which makes it", leaf.node
                )
    return sites


def is_read_while_filled(plan: Body, name: str) -> bool:
    """Whether a loop that adds to what `name` holds reads it as well."""
    filling = [leaf for leaf in plan.definitions(name) if leaf.loops]
    outermost = {leaf.loops[0] for leaf in filling}
    return any(
        leaf.loops and leaf.loops[0] in outermost and leaf not in filling and name in plan.slicer.inputs(leaf)
        for leaf in plan.flow.leaves
    )


def refilled(plan: Body, name: str) -> bool:
    """Whether `call` fills a list again with the variables of each turn, as it is read while a loop fills it."""
    if not is_read_while_filled(plan, name):
        return False
    for leaf in plan.definitions(name):
        if added_weight(plan, leaf) is None and (leaf.loops or not _is_empty(leaf.node)):
            return False
    return True


def _is_empty(node: ast.stmt) -> bool:
    """Whether a statement gives its names empty lists."""
    value = node.value if isinstance(node, ast.Assign) else None
    values = value.elts if isinstance(value, ast.Tuple) else [value]
    return all(isinstance(value, ast.List) and not value.elts for value in values)


def added_weight(plan: Body, leaf: Leaf) -> Site | None:
    """The site in ``weights.append(tf.get_variable(…))``."""
    call = leaf.node.value if isinstance(leaf.node, ast.Expr) else None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute) or call.func.attr != "append":
        return None
    site = plan.site_of.get(id(call.args[0])) if len(call.args) == 1 else None
    fits = isinstance(call.func.value, ast.Name) and site is not None and site.layer.weight and not site.turns
    return site if fits else None


def only_made_of(plan: Body, name: str, repeated: Set[Leaf]) -> bool:
    """Whether each turn of a loop gives `name` a value, such as a recurrent cell, for the layers that it makes alone; static
    statements that are `repeated` elsewhere read it there.
    """
    leaves = plan.definitions(name)
    if not any(leaf.loops for leaf in leaves) or any(holder(site) == name for site in plan.sites):
        return False
    made = [v for site in plan.sites if not site.layer.late for _, v in site.layer.arguments if not isinstance(v, str)]
    inside = {node for value in made for node in walk(value)}
    return all(
        isinstance(node, ast.Name) and node in inside
        for leaf in plan.flow.leaves
        if not plan.is_static(leaf) or leaf in repeated
        for node in walk(leaf.node)
        if isinstance(node, ast.Name) and node.id == name
    ) and not any(name in frame.reads() for leaf in plan.flow.leaves for frame in leaf.frames)


def refuse_mixed(plan: Body) -> None:
    """Raise Unsupported where a name stands for a variable of each turn of a loop, and for another one."""
    looped = {holder(site) for site in plan.sites if site.loops} - {None}
    for site in plan.sites:
        if not site.loops and holder(site) in looped:
            raise Unsupported(
                f"`{holder(site)}` is a variable in one place and something else in another", site.leaf.node
            )


def filled_by_loops(plan: Body, name: str) -> bool:
    """Whether loops add to what `name` holds (``weights["w%d" % i] = …``), and it is read after them only.

    Raises Unsupported where it is read inside of them.
    """
    filling = [leaf for leaf in plan.definitions(name) if leaf.loops]
    if any(name in leaf.kills for leaf in filling):
        return False
    outermost = {leaf.loops[0] for leaf in filling}
    for leaf in plan.flow.leaves:
        reading = name in plan.slicer.inputs(leaf) and leaf not in filling
        if reading and leaf.loops and leaf.loops[0] in outermost:
            raise Unsupported(f"`{name}` is read in the loop that fills it", leaf.node)
    return True
