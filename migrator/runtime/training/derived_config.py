"""A configuration of a training run that classes of the program are derived from."""

from __future__ import annotations

import dataclasses
from typing import Any

from .config import RunConfig


class DerivedRunConfig(RunConfig):
    """A `RunConfig` whose copies keep what derived classes add to it, however these are made."""

    def replace(self, **changes: Any) -> DerivedRunConfig:
        """A copy with some fields changed; giving one checkpoint interval switches the other one off."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(RunConfig)}
        replaced = type(self).__new__(type(self))
        vars(replaced).update({**vars(self), **vars(RunConfig(**fields).replace(**changes))})
        return replaced
