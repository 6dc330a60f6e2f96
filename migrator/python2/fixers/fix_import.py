"""Imports of files that stand beside the one that imports them."""

from __future__ import annotations

from typing import Any

from fissix.fixes import fix_import


class FixImport(fix_import.FixImport):
    """They become relative where the folder is a package; which files are beside, and whether it is, the options say."""

    def probably_a_local_import(self, imp_name: str) -> bool:
        """Whether a name is that of a module beside this one that has to be imported by the package."""
        head = imp_name.partition(".")[0]
        beside: Any = self.options["beside"]
        return beside.is_package and bool(head) and head in beside.modules
