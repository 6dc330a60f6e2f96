"""The parts of benchmarks/faults.py that train nothing: which faults are planted, and where."""

from __future__ import annotations

import ast
import importlib.util
import sys
from pathlib import Path

import pytest

from migrator.parity.judge.report import CaseReport

ROOT = Path(__file__).resolve().parent.parent
for name in ("planters", "planted", "faults"):
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)

PROGRAM = """\
import tensorflow as tf


class Model(tf.keras.Model):
    def call(self, x, training=False):
        return self.dropout(tf.nn.relu(x), training=training) - 1.0  # the ä before is two bytes wide: {place}


def main():
    optimizer = tf.keras.optimizers.Adam(FLAGS.rate, epsilon=1e-8)
    model.compile(optimizer, loss=tf.keras.losses.BinaryCrossentropy(from_logits=True))
    model.fit(input_fn().take(30), callbacks=[saver])
"""


@pytest.mark.parametrize(
    ("kind", "mode", "changed"),
    [
        ("learning rate 1.1 times", "replay", "Adam(1.1 * (FLAGS.rate), epsilon=1e-8)"),
        ("larger epsilon", "replay", "Adam(FLAGS.rate, epsilon=1e5 * (1e-8))"),
        ("other beta_1", "replay", "Adam(FLAGS.rate, epsilon=1e-8, beta_1=0.8)"),
        ("logits taken for probabilities", "replay", "BinaryCrossentropy(from_logits=False)"),
        ("elu for relu", "replay", "tf.nn.elu(x)"),
        ("training is never on", "replay", "training=False)"),
        ("one step fewer", "replay", "take((30) - 1)"),
        ("no callbacks", "replay", "callbacks=None)"),
    ],
)
def test_one_place_is_changed(kind: str, mode: str, changed: str) -> None:
    (fault,) = (each for each in sys.modules["planted"].faults(PROGRAM) if each.kind == kind)
    line = PROGRAM.splitlines()[fault.line - 1]
    assert fault.mode == mode and changed in fault.text.splitlines()[fault.line - 1] and changed not in line
    assert [a for a, b in zip(PROGRAM.splitlines(), fault.text.splitlines()) if a != b] == [line]


def test_a_program_without_a_place_gets_no_fault() -> None:
    assert list(sys.modules["planted"].faults("print('nothing to train')\n")) == []


def test_faults_of_all_fixtures_are_programs_and_spread() -> None:
    fixtures = sorted(path.parent for path in (ROOT / "fixtures").glob("*/*/after.py"))
    planted = sys.modules["faults"].chosen(fixtures, 120)
    assert len(planted) == 120
    assert len({each.fault.kind for each in planted}) >= 45
    assert len({each.fixture for each in planted}) >= 40
    for each in planted:
        assert ast.dump(ast.parse(each.fault.text)) != ast.dump(
            ast.parse((each.fixture / "after.py").read_text("utf-8"))
        )


def test_what_was_not_found_is_listed_with_its_place() -> None:
    tool = sys.modules["faults"]
    fault = sys.modules["planted"].Fault("elu for relu", "replay", 7, "", "")
    planted = tool.Planted(ROOT / "fixtures" / "ctr" / "dcn", fault)
    text = tool.table(
        [
            (planted, tool.Verdict(tool.MISSED, "equal", 1.0)),
            (planted, tool.Verdict(tool.FOUND, "different", 1.0)),
            (planted, tool.Verdict(tool.CRASHED, "ran longer than 900 s", 1.0)),
        ]
    )
    assert "| elu for relu | 3 | 1 | 1 | 0 | 0 | 1 |" in text
    assert "3 planted: 1 found, 1 crashed, 0 told, 0 not run, 1 missed." in text and "ran longer" not in text
    assert "- missed: ctr/dcn/after.py:7: elu for relu: equal" in text


@pytest.mark.parametrize(
    ("said", "outcome"), [("equal", "missed"), ("different", "found"), ("could not run", "crashed")]
)
def test_a_program_that_could_not_run_is_told_from_one_that_differs(
    said: str, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = sys.modules["faults"]
    report = CaseReport("case", said, problem="it says so\nand more", diagnosis="it says so")
    monkeypatch.setattr(tool, "run_case", lambda *_, **__: report)
    verdict = tool.judge(ROOT / "fixtures" / "ctr" / "dcn", None, "replay", tmp_path, "python")
    assert (verdict.outcome, verdict.why) == (outcome, "it says so")


def test_a_place_that_the_program_never_comes_to_counts_as_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = sys.modules["faults"]
    faults = [each for each in sys.modules["planted"].faults(PROGRAM) if each.kind in ("elu for relu", "other beta_1")]
    fixture = ROOT / "fixtures" / "ctr" / "dcn"
    assert ["(1 / 0)" in each.stopping for each in faults] == [True, True]

    def judge(fixture: Path, after: str | None, *rest: object) -> object:
        return tool.Verdict("crashed" if after == faults[0].stopping else "missed", "", 1.0)

    monkeypatch.setattr(tool, "judge", judge)
    planted = [tool.Planted(fixture, each) for each in faults]
    results = tool.judged(fixture, planted, tmp_path, "python")
    assert [verdict.outcome for _, verdict in results] == ["missed", "not run"]
