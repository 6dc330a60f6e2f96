"""When a value is known: the binding times of the analysis."""

from __future__ import annotations

import enum


class Time(enum.IntEnum):
    """When a value is known. The time of an expression is the latest of its parts."""

    STATIC = 0
    """When the model is built: parameters, flags, constants, initializers, layer objects."""
    MODE = 1
    """When the model is built, but different in training: ``0.5 if training else 1.0``."""
    EAGER = 2
    """A tensor that depends on static values only."""
    DYNAMIC = 3
    """A tensor that depends on features or labels."""
