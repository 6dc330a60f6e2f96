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
    return f"unknown code {code}; {meant(code, registry)}"


def is_prefix(code: str, registry: Registry) -> bool:
    """Whether any rule or file problem has a code that starts so."""
    return any(known.startswith(code) for known in [*(rule.code for rule in registry.all), *MEANINGS])


def meant(code: str, registry: Registry) -> str:
    """Which codes a misspelt one, or the name of a rule, may have meant."""
    codes = {name.upper(): rule.code for rule in registry.all for name in (rule.code, rule.name)}
    codes.update({code: code for code in MEANINGS})
    near = difflib.get_close_matches(code.upper(), codes, n=3, cutoff=0.6)
    near += [name for name in codes if code.upper() in name and name not in near][: 3 - len(near)]
    shown = list(dict.fromkeys(codes[name] for name in near))
    return f"did you mean {' or '.join(shown)}?" if shown else "`migrate rules` lists all"
