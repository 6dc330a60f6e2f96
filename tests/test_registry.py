"""Rules are found, and what is wrong with them is said plainly."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from migrator.cli.explain import explanation, unknown
from migrator.engine import registry
from migrator.engine.registry import Registry, RegistryError, build
from migrator.engine.rule import ProgramRule, Rule
from migrator.vocabulary.problems import MEANINGS


def module(**members: Any) -> ModuleType:
    """A module `m` that defines classes."""
    made = ModuleType("m")
    for name, value in members.items():
        if isinstance(value, type):
            value.__module__ = "m"
        setattr(made, name, value)
    return made


def rule(code: str, base: type = Rule) -> type:
    """A rule class."""
    return type("Made", (base,), {"code": code, "name": code.lower(), "__doc__": f"About {code}."})


def test_installed_rules_are_found() -> None:
    found = registry.load()
    codes = [rule.code for rule in found.all]
    assert codes == sorted(set(codes)) and "EST001" in codes
    assert all(rule.code.startswith("EST") for rule in found.all)


def test_entry_points_are_found(sample_rules: Registry) -> None:
    assert sample_rules.find("TST001") is not None
    assert sample_rules.find("tst001") is sample_rules.find("rename")
    assert [rule.code for rule in sample_rules.program_rules if rule.code.startswith("TST")] == ["TST200"]
    assert sample_rules.find("EST001") is not None


def test_without_the_pack_its_rules_are_gone() -> None:
    assert registry.load().find("TST001") is None


def test_rules_are_sorted_and_told_apart() -> None:
    found = build([module(A=rule("B2"), B=rule("A1"), C=rule("C3", ProgramRule))])
    assert [rule.code for rule in found.all] == ["A1", "B2", "C3"]
    assert [rule.code for rule in found.program_rules] == ["C3"]


def test_imported_and_private_classes_are_no_rules() -> None:
    imported, private = rule("A1"), rule("A2")
    private.__name__ = "_Base"
    made = module(B=private, Rule=Rule, text="x", number=1)
    made.imported = imported  # type: ignore[attr-defined]  # defined elsewhere
    Rule.__module__ = "migrator.engine.rule"
    assert build([made]).all == ()


def test_codes_are_unique() -> None:
    with pytest.raises(RegistryError, match="both have code A1"):
        build([module(A=rule("A1"), B=rule("A1"))])


def test_a_rule_needs_a_code() -> None:
    with pytest.raises(RegistryError, match="has no code"):
        build([module(A=rule(""))])


def test_missing_rules_are_said_plainly(monkeypatch: pytest.MonkeyPatch) -> None:
    registry.load.cache_clear()
    monkeypatch.setitem(sys.modules, "migrator.rules", None)
    import_module = importlib.import_module

    def fail(name: str) -> ModuleType:
        if name == "migrator.rules":
            raise ModuleNotFoundError("No module named 'migrator.rules'", name="migrator.rules")
        return import_module(name)

    monkeypatch.setattr(registry.importlib, "import_module", fail)
    with pytest.raises(RegistryError, match="pip install -e ."):
        registry.load()
    registry.load.cache_clear()


def test_a_broken_pack_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = tmp_path / "x-1.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[console_scripts]\na = b:c\n[migrator.rules]\n# comment\nx = broken_pack\n")
    (tmp_path / "broken_pack.py").write_text("import nothing_of_this_name\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry.load.cache_clear()
    with pytest.raises(RegistryError, match="rule pack broken_pack: ModuleNotFoundError"):
        registry.load()
    registry.load.cache_clear()


def test_other_groups_are_not_read(tmp_path: Path) -> None:
    file = tmp_path / "entry_points.txt"
    file.write_text("[migrator.rules.extra]\nx = a\n[other]\ny = migrator.rules\n")
    assert list(registry._declared(str(file))) == []
    file.write_bytes(b"\xff[migrator.rules]\nx = a\n")
    assert list(registry._declared(str(file))) == []


def test_explanations(sample_rules: Registry) -> None:
    text = explanation("tst001", sample_rules)
    assert text is not None and text.startswith("# TST001 (rename)\n\nRename `tf.old`") and "## What it does" in text
    assert explanation("rename", sample_rules) == text
    for code in MEANINGS:
        assert MEANINGS[code] in (explanation(code, sample_rules) or "")
    assert explanation("TST999", sample_rules) is None


def test_unknown_codes_get_a_suggestion(sample_rules: Registry) -> None:
    assert "did you mean" in unknown("TST01", sample_rules) and "TST001" in unknown("TST01", sample_rules)
    assert "rename" in unknown("renam", sample_rules)
    assert unknown("zzzzz", sample_rules) == "unknown code zzzzz; `migrate rules` lists all"
