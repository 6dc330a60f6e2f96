"""`tf.contrib.training.HParams`: hyper-parameters as attributes, which keep their types."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from numbers import Integral, Number
from typing import Any


class HParams:
    """Hyper-parameters by name. A new value must be of the type of the first one, which is a number, text, bool or list.

    ``hparams.parse("rate=0.1,units=[16,8]")`` overrides some of them. Raises ValueError for a value of another type, and
    for the name of a method.
    """

    def __init__(self, **hparams: Any) -> None:
        self._types: dict[str, tuple[type, bool]] = {}  # and whether it is a list of them
        for name, value in hparams.items():
            self.add_hparam(name, value)

    def add_hparam(self, name: str, value: Any) -> None:
        """Adds one. Raises ValueError if there is one of that name, and for an empty list."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        several = isinstance(value, (list, tuple))
        if several and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._types[name] = (type(value[0]) if several else type(value)), several
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Overrides one. Raises KeyError if there is none of that name, ValueError for a value of another type."""
        kind, several = self._types[name]
        if several != isinstance(value, list):
            text = (
                f"Must {'' if several else 'not '}pass a list for {'multi' if several else 'single'}-valued parameter"
            )
            raise ValueError(f"{text}: {name}")
        cast = [_cast(name, kind, part) for part in value] if several else _cast(name, kind, value)
        setattr(self, name, cast)

    def del_hparam(self, name: str) -> None:
        """Removes one."""
        if hasattr(self, name):
            delattr(self, name)
            del self._types[name]

    def get(self, key: str, default: Any = None) -> Any:
        """The value of one, `default` if there is none of that name. Raises ValueError if the types differ."""
        if key not in self._types:
            return default
        kind, several = self._types[key]
        if default is not None:
            if several != isinstance(default, list):
                raise ValueError(f"Hparam '{key}' is {'' if several else 'not '}multi-valued, unlike default={default}")
            for part in default if several else [default]:
                _cast(key, kind, part)
        return getattr(self, key)

    def values(self) -> dict[str, Any]:
        """All of them by name."""
        return {name: getattr(self, name) for name in self._types}

    def override_from_dict(self, values_dict: Mapping[str, Any]) -> HParams:
        """Overrides those that `values_dict` names."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def parse(self, values: str) -> HParams:
        """Overrides those in ``name=value,name=[value,value]``. Raises ValueError for text of any other form."""
        found: dict[str, Any] = {}
        position = 0
        while position < len(values):
            match = re.compile(r"([a-zA-Z][\w.]*)\s*=\s*(?:\[([^\]]*)\]|([^,\[]*))(?:$|,\s*)").match(values, position)
            if match is None:
                raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
            name, listed, single = match.groups()
            if name not in self._types:
                raise ValueError(f"Unknown hyperparameter type for {name}")
            if name in found:
                raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
            kind = self._types[name][0]
            parts = [part.strip() for part in re.split("[ ,]", listed) if part] if single is None else None
            found[name] = _read(name, kind, single) if parts is None else [_read(name, kind, part) for part in parts]
            position = match.end()
        return self.override_from_dict(found)

    def parse_json(self, values_json: str) -> HParams:
        """Overrides those in a JSON object."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(self, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        """All of them as a JSON object."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def __contains__(self, key: str) -> bool:
        return key in self._types

    def __str__(self) -> str:
        return ",".join(f"{name}={value}" for name, value in sorted(self.values().items()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({sorted(self.values().items())})"


def _cast(name: str, kind: type, value: Any) -> Any:
    """`value` as a `kind`: an integer may become a float, and nothing else another type."""
    wrong = issubclass(kind, bool) != isinstance(value, bool)
    for family in (str, Integral, Number):
        wrong = wrong or (issubclass(kind, family) and not isinstance(value, family))
    if kind is type(None):
        return value
    if wrong:
        raise ValueError(f"Could not cast hparam '{name}' of type '{kind}' from value {value!r}")
    return kind(value)


def _read(name: str, kind: type, text: str) -> Any:
    """A value written as text."""
    try:
        if kind is bool:
            return {"true": True, "True": True, "1": True, "false": False, "False": False, "0": False}[text]
        return kind(text)
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"Could not parse hparam '{name}' of type '{kind.__name__}' with value '{text}'") from None
