"""The text behind ``migrate explain``."""

from __future__ import annotations

import difflib
import re

from migrator.engine.registry import AnyRule, Registry
from migrator.vocabulary.problems import MEANINGS


def explanation(code: str, registry: Registry) -> str | None:
    """Markdown about the rule with this code or name, or about a file problem; None for an unknown code."""
    if code.upper() in MEANINGS:
        return f"# {code.upper()}\n\n{MEANINGS[code.upper()]}"
    rule = registry.find(code)
    if rule is None:
        return None
    guide = f"\n\nGuide: {rule.url}" if rule.url else ""
    return f"# {rule.code} ({rule.name})\n\n{rule.documentation()}{guide}"


def listing(registry: Registry, prefix: str = "") -> list[str]:
    """A line for each rule whose code starts so; with a `prefix`, those of file problems as well."""
    rows = [(rule.code, rule.name, rule.summary()) for rule in registry.all]
    rows += [(code, "", text) for code, text in MEANINGS.items() if prefix]
    rows = [row for row in rows if row[0].startswith(prefix.upper())]
    width = max((len(name) for _, name, _ in rows), default=0)
    return [f"{code}  {name:{width}}  {text}" for code, name, text in rows]


def reference(registry: Registry) -> str:
    """One page of Markdown about all rules and file problems."""
    parts = ["# Rules", "Made by `migrate rules --markdown` from the docstrings of the rules."]
    rules = sorted(registry.all, key=lambda rule: rule.code)
    parts.append("\n".join(["| code | name | what it does |", "| --- | --- | --- |", *map(_row, rules)]))
    for rule in rules:
        text = rule.documentation().replace("\n## ", "\n### ")
        text = re.sub(r"^(### .*)\n(?=\S)", r"\1\n\n", text, flags=re.MULTILINE)
        parts += [f"## {rule.code} {rule.name}", re.sub(r"(?<=[^\n])\n```(\w+)", r"\n\n```\1", text)]
        parts += [f"Guide: <{rule.url}>"] if rule.url else []
    parts += ["## Problems of files", "\n".join(f"- **{code}**: {text}" for code, text in MEANINGS.items())]
    return "\n\n".join(parts) + "\n"


def _row(rule: AnyRule) -> str:
    anchor = f"{rule.code}-{rule.name}".lower()
    return f"| [{rule.code}](#{anchor}) | {rule.name} | {rule.summary()} |"


def unknown(code: str, registry: Registry) -> str:
    """What to say about a code that nothing has."""
    return f"unknown code {code}; {meant(code, registry)}"


def is_prefix(code: str, registry: Registry) -> bool:
    """Whether any rule or file problem has a code that starts so."""
    return any(known.startswith(code) for known in [*(rule.code for rule in registry.all), *MEANINGS])


def meant(code: str, registry: Registry) -> str:
    """Which codes a misspelt one, or the name of a rule, may have meant."""
    labels = {code: code for code in MEANINGS}
    for rule in registry.all:
        labels[rule.code] = rule.code
        labels[rule.name.upper()] = f"{rule.code} ({rule.name})"
    near = difflib.get_close_matches(code.upper(), labels, n=3, cutoff=0.6)
    near += [name for name in labels if code.upper() in name and name not in near][: 3 - len(near)]
    shown = list(dict.fromkeys(labels[name] for name in near))
    return f"did you mean {' or '.join(shown)}?" if shown else "`migrate rules` lists all"
