"""What layers are called that have no name of their own: after their kind, and numbers or words that tell several apart."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence

from migrator.analyse.layers.objects import holder
from migrator.analyse.layers.site import Site


def kind_of(site: Site) -> str:
    """What a layer without a name is called: ``dense``."""
    # The scope of contrib's dropout is Dropout.
    return site.layer.attribute or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", site.layer.scope).lower()


def kinds_of(sites: Sequence[Site], is_anonymous: Callable[[str], object]) -> dict[int, str]:
    """Names of layers that have none, by the calls that make them: the kind alone, where one is of it; where several are,
    words of what is assigned (``user_tower`` for ``user_vector = tower(…)``), or numbers."""
    groups: dict[tuple[str, bool], list[Site]] = {}
    objects: set[str] = set()
    for site in sites:
        held = holder(site)
        if held is None or held not in objects or site.loops:  # both arms of an `if` may give one object a value
            groups.setdefault((site.layer.scope, bool(site.loops)), []).append(site)
        objects |= {held} if held is not None else set()
    found: dict[int, str] = {}
    for group in groups.values():
        kind = kind_of(group[0])
        words = _telling_words(group, is_anonymous) if len(group) > 1 and not group[0].loops else []
        for number, site in enumerate(group, 1):
            suffix = f"_{number}" if len(group) > 1 else ""
            found[id(site.call)] = f"{words[number - 1]}_{kind}" if words else f"{kind}{suffix}"
    return found


def _telling_words(group: Sequence[Site], is_anonymous: Callable[[str], object]) -> list[str]:
    """The words by which the variables differ that hold what the layers of a kind give, less how all of them end."""
    names = []
    for site in group:
        node = site.leaf.node
        target = node.targets[0] if isinstance(node, ast.Assign) and node.value is site.call else None
        names.append(target.id.strip("_").split("_") if isinstance(target, ast.Name) else [""])
    while all(name[1:] and name[-1] == names[0][-1] for name in names):
        names = [name[:-1] for name in names]
    words = ["_".join(name) for name in names]
    telling = len({*words}) == len(words) and all(len(word) > 1 and not is_anonymous(word) for word in words)
    return words if telling and all(word.isidentifier() for word in words) else []
