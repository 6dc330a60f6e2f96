"""The text behind ``migrate explain``."""

from __future__ import annotations

import difflib

from migrator.problems import MEANINGS
from migrator.registry import Registry


def explanation(code: str, registry: Registry) -> str | None:
    """Markdown about the rule with this code or name, or about a file problem; None for an unknown code."""
    if code.upper() in MEANINGS:
        return f"# {code.upper()}\n\n{MEANINGS[code.upper()]}"
    rule = registry.find(code)
    if rule is None:
        return None
    guide = f"\n\nGuide: {rule.url}" if rule.url else ""
    return f"# {rule.code} ({rule.name})\n\n{rule.documentation()}{guide}"


def unknown(code: str, registry: Registry) -> str:
    """What to say about a code that nothing has."""
    names = {name for rule in registry.all for name in (rule.code, rule.name)} | set(MEANINGS)
    spelt = {name.upper(): name for name in names}
    near = [spelt[match] for match in difflib.get_close_matches(code.upper(), spelt, n=3, cutoff=0.6)]
    hint = f"did you mean {' or '.join(near)}?" if near else "`migrate rules` lists all"
    return f"unknown code {code}; {hint}"
