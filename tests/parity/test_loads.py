"""What the old program loads from a checkpoint, the new one has to load as well, before anything is replayed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Callable

import pytest

from migrator.parity.judge.case import Case, Program
from migrator.parity.judge.recordings import Recorded
from migrator.parity.judge.report import CaseReport
from migrator.parity.run.progress import Progress
from migrator.parity.run.runner import replay_and_compare, run_side

pytest.importorskip("tensorflow_estimator")

PROGRAMS = Path(__file__).parent / "programs"
FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
LOADED = "the new program begins with the values of {} that the old one loads from topics/model.ckpt-6"
OTHER = "that the old program loads from topics/model.ckpt-6 begin with other values in the new one: "
Compare = Callable[..., CaseReport]


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Program], Recorded]:
    """Each old program runs once, in live mode, which serves replay mode as well."""
    known: dict[Program, Recorded] = {}

    def record(program: Program) -> Recorded:
        if program not in known:
            root = tmp_path_factory.mktemp("old") / "side"
            known[program] = run_side("old", program, root, Progress(quiet=True), Case("", program, mode="live"), None)
        return known[program]

    return record


@pytest.fixture
def compared(recorded: Callable[[Program], Recorded], tmp_path: Path) -> Compare:
    """Replays `programs/warm_new.py` against `programs/warm_old.py`, each with its arguments."""

    def run(old: str, *new: str, mode: str = "replay") -> CaseReport:
        before = Program(PROGRAMS / "warm_old.py", args=(old,))
        case = Case("case", before, Program(PROGRAMS / "warm_new.py", args=new), mode=mode)
        return replay_and_compare(case, recorded(before), tmp_path / "new", Progress(quiet=True))

    return run


def first_values(report: CaseReport) -> list[str]:
    return [difference.message for difference in report.differences if difference.section == "initial values"]


@pytest.mark.parametrize(
    ("mode", "way"),
    [
        ("live", "callback"),
        *(("replay", way) for way in ("restore", "hdf5", "assign", "set_weights", "callback")),
    ],
)
def test_a_program_that_loads_the_same_is_equal_however_it_does_so(compared: Compare, mode: str, way: str) -> None:
    report = compared("settings", way, mode=mode)
    assert (report.verdict, report.differences) == ("equal", [])
    assert "model 2: " + LOADED.format("3 variables") in report.notes


@pytest.mark.parametrize(
    ("mode", "way", "fault", "expected"),
    [
        ("replay", "restore", "dropped", "3 of 3 variables " + OTHER),
        ("live", "restore", "dropped", "3 of 3 variables " + OTHER),
        ("replay", "callback", "dropped", "3 of 3 variables " + OTHER),
        ("replay", "assign", "other checkpoint", "3 of 3 variables " + OTHER),
        ("live", "assign", "other checkpoint", "3 of 3 variables " + OTHER),
        ("replay", "assign", "one fewer", "1 of 3 variables " + OTHER + "encoder/hidden/kernel"),
        ("replay", "callback", "one fewer", "1 of 3 variables " + OTHER + "encoder/hidden/kernel"),
        ("replay", "assign", "rows swapped", "1 of 3 variables " + OTHER + "encoder/words"),
        ("replay", "assign", "one more", "only the new program loads gate/kernel from first.ckpt"),
        ("live", "assign", "one more", "only the new program loads gate/kernel from first.ckpt"),
        ("replay", "restore", "overwritten", "1 of 3 variables " + OTHER + "encoder/hidden/kernel"),
        ("replay", "assign", "overwritten late", "1 of 3 variables " + OTHER + "encoder/hidden/kernel"),
    ],
)
def test_a_wrong_start_is_found(compared: Compare, mode: str, way: str, fault: str, expected: str) -> None:
    report = compared("settings", way, "", fault, mode=mode)
    assert report.verdict == "different"
    assert [message for message in first_values(report) if message.startswith(expected)], report.differences
    if fault != "overwritten late":  # the training is replayed all the same
        assert {difference.section for difference in report.differences} == {"initial values"}


@pytest.mark.parity
@pytest.mark.parametrize(
    ("old", "way", "what", "count"),
    [
        ("warm_start_from", "load_weights", "", 7),
        ("mirrored", "assign", "all", 7),
        ("init_from_checkpoint", "assign", "", 3),
        ("init_fn", "callback", "", 3),
        ("hook", "assign", "", 3),
        ("init_op", "callback", "table", 1),
        ("initializer", "assign", "table", 1),
        ("rows", "callback", "rows", 1),
        ("vocabulary", "callback", "vocabulary", 1),
        ("predict", "load_weights", "predict", 7),
    ],
)
def test_each_way_of_loading_in_the_old_program_is_seen(
    compared: Compare, old: str, way: str, what: str, count: int
) -> None:
    right = compared(old, way, what)
    assert (right.verdict, right.differences) == ("equal", [])
    variables = f"{count} variable" + ("s" if count > 1 else "")
    assert any(note.endswith(LOADED.format(variables)) for note in right.notes), right.notes
    (message,) = first_values(compared(old, way, what, "dropped"))
    assert message.startswith(f"{count} of {variables} {OTHER}")


@pytest.mark.parity
def test_a_model_dir_that_the_program_has_made_itself_is_gone_on_from(compared: Compare) -> None:
    report = compared("copied", "resume")
    assert (report.verdict, report.differences) == ("equal", [])
    assert not any("earlier run" in note for note in report.notes)
    found = first_values(compared("copied", "resume", "", "dropped"))
    assert len(found) == 1, found
    message = found[0]
    assert message.startswith("7 of 7 variables that the old program loads from moods/model.ckpt-6")


@pytest.mark.parity
def test_values_that_an_init_fn_fills_in_are_compared_and_those_that_it_draws_are_not(compared: Compare) -> None:
    assert compared("assign", "assign", "table").verdict == "equal"
    (message,) = first_values(compared("assign", "assign", "table", "dropped"))
    assert message.startswith(
        "1 of 1 variable that the old program fills by the init_fn of a Scaffold begin with other"
    )
    assert compared("drawn", "", "", "dropped").verdict == "equal"


@pytest.mark.parity
@pytest.mark.parametrize(
    ("fixture", "text", "instead", "expected"),
    [
        ("training/warm_start", "WarmStart(model, warm_start_from)", "WarmStart(model, None)", "3 of 3 variables"),
        ("training/warm_start", "settings if args.warm_start else None", "settings._replace(vars_to_warm_start=None, "
         "var_name_to_prev_var_name=None)", "3 of 3 variables"),
        ("training/warm_start", "hidden_.*/kernel", "hidden_1/kernel", "1 of 3 variables"),
        ("training/warm_start", "hidden_.*/kernel", "hidden_.*", "only the new program loads encoder/hidden_0/bias"),
        ("training/warm_start", '{"encoder/hidden_1/kernel": "encoder/hidden_0/kernel"}', "{}", "1 of 3 variables"),
        ("bridge/heads_and_warm_start", ", warm_start_from=body)", ")", "6 of 6 variables"),
        ("bridge/hooks_and_scaffold", "        init_fn=init_fn,\n", "", "1 of 1 variable"),
    ],
)  # fmt: skip
def test_faults_in_migrated_programs(
    recorded: Callable[[Program], Recorded],
    tmp_path: Path,
    fixture: str,
    text: str,
    instead: str,
    expected: str,
) -> None:
    before, folder = Program(FIXTURES / fixture / "before.py"), FIXTURES / fixture
    after = (folder / "after.py").read_text("utf-8")
    assert text in after
    shutil.copy(folder / "tf2_training.py", tmp_path)
    (tmp_path / "after.py").write_text(after.replace(text, instead), "utf-8")
    for mode in ("replay", "live") if "bridge" not in fixture else ("replay",):
        case = Case("case", before, Program(tmp_path / "after.py"), mode=mode)
        report = replay_and_compare(case, recorded(before), tmp_path / "run", Progress(quiet=True))
        assert report.verdict == "different", report.problem
        assert first_values(report)[0].startswith(expected)
