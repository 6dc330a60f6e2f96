"""Layers that several modes make: each has a graph of its own, in which names say which variables these are.

``network(x, True)`` in training and ``network(x, False)`` elsewhere are one layer in Keras. They have the same names if both
graphs make the same layers in the same order; what else may be the same is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported

if TYPE_CHECKING:
    from migrator.analyse.layers.site import Site

_TRAIN = "train"
_OTHERS = ("eval", "infer")


def share_between_modes(sites: list[Site], alike: Callable[[Site, Site], bool]) -> None:
    """Let layers that training does not make use those that it makes. Raises Unsupported where that is not certain."""
    made = [site for site in sites if site.layer.helper is not None or site.layer.variables or site.layer.recurrent]
    trained = [site for site in made if _TRAIN in site.leaf.modes]
    for mode in _OTHERS if trained else ():
        here = [site for site in made if mode in site.leaf.modes]
        if all(_TRAIN in site.leaf.modes for site in here):
            continue
        for number, site in enumerate(here):
            first = trained[number] if number < len(trained) else None
            if first is not site and (first is None or _TRAIN in site.leaf.modes or not _may_share(first, site, alike)):
                raise Unsupported("which variables of training this layer of another mode has is not seen", site.call)
            if first is not None and first is not site:
                one, other = sorted((first, site), key=sites.index)
                other.first = one.first or one


def _may_share(first: Site, second: Site, alike: Callable[[Site, Site], bool]) -> bool:
    """Whether two sites of different modes make the same layer under the same name."""
    if first.loops or second.loops or first.layer.late or second.layer.late or first.layer.recurrent:
        return False
    if first.layer.alternatives or second.layer.alternatives or first.layer.helper is not second.layer.helper:
        return False
    names = [None if site.layer.name is None else ast.dump(site.layer.name) for site in (first, second)]
    conditions = [[f for f in site.leaf.frames if isinstance(f.node, ast.If)] for site in (first, second)]
    if names[0] != names[1] or conditions[0] != conditions[1] or first.layer.scope != second.layer.scope:
        return False
    return alike(first, second)
