"""How differences name steps and folders."""

from __future__ import annotations

import re
from collections.abc import Iterable


def steps_text(steps: Iterable[int]) -> str:
    """Steps in order; of many the first ones and the last."""
    every = [str(step) for step in sorted(steps)]
    return ", ".join(every if len(every) <= 12 else [*every[:10], "…", every[-1]])


def folder_text(place: str) -> str:
    """A folder of a sandbox as the user knows it."""
    return re.sub(r"^(program|redirected|tmp)/", "", place)


def names_text(names: Iterable[str], most: int = 3) -> str:
    """Some names in their order, and how many more there are."""
    every = list(names)
    shown = every[:most]
    return ", ".join(shown) + (f" and {len(every) - most} more" if len(every) > most else "")


def counted(number: int, thing: str) -> str:
    """A number of things."""
    return f"{number} {thing}" + ("" if number == 1 else "s")
