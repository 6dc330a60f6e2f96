"""Parameters that are unpacked: one with a name in the place of each."""

from __future__ import annotations

from typing import Any

from fissix.fixes import fix_tuple_params


class FixTupleParams(fix_tuple_params.FixTupleParams):
    """2to3 calls it `xxx_todo_changeme`."""

    def new_name(self, template: str = "values") -> Any:
        """A name that the file does not have."""
        return super().new_name(template)
