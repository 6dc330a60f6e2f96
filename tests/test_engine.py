"""One component: rounds, overlaps, what is left alone, and rules that misbehave."""

from __future__ import annotations

import ast
import os
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from migrator.discover.sources import decode
from migrator.engine import engine, fixes, places
from migrator.engine.engine import migrate_component
from migrator.engine.fixes import Selection, splice
from migrator.engine.registry import Registry
from migrator.vendor import vendoring
from migrator.vocabulary.diagnostics import Applicability, Edit, Fix, Outcome
from migrator.vocabulary.settings import Settings

HEAD = "import tensorflow as tf\n"
ONLY = Settings(select=("TST",))


def migrate(
    registry: Registry, files: dict[str, str | bytes], settings: Settings = ONLY, **context: str
) -> list[Outcome]:
    """Migrate files given as text."""
    sources = [decode(path, text if isinstance(text, bytes) else text.encode()) for path, text in files.items()]
    beside = [decode(path + ".py", text.encode()) for path, text in context.items()]
    return migrate_component(sources, settings, registry, beside)


def one(registry: Registry, body: str | bytes, settings: Settings = ONLY) -> Outcome:
    """Migrate one file that imports TensorFlow on its first line."""
    text = HEAD.encode() + body if isinstance(body, bytes) else HEAD + body
    return migrate(registry, {"a.py": text}, settings)[0]


def codes(outcome: Outcome) -> list[str]:
    """Codes of what is left."""
    return [diagnostic.code for diagnostic in outcome.remaining]


# -- plain rewrites ---------------------------------------------------------------------------------------------------


def test_every_place_is_rewritten_and_nothing_else(sample_rules: Registry) -> None:
    outcome = one(sample_rules, "x = ( tf.old,tf . old ) # tf.old\ns = 'tf.old'\n")
    assert outcome.status == "changed"
    assert outcome.after.decode() == HEAD + "x = ( tf.new,tf . new ) # tf.old\ns = 'tf.old'\n"
    assert [str(diagnostic.location) for diagnostic in outcome.applied] == ["a.py:2:7", "a.py:2:14"]
    assert outcome.remaining == ()


@pytest.mark.parametrize(
    "text", ["", "\n", "x = tf.old\n", "import tensorflow as tf\nx = tf.other\n", "# tensorflow\n"]
)
def test_files_without_findings_are_unchanged(sample_rules: Registry, text: str) -> None:
    outcome = migrate(sample_rules, {"a.py": text})[0]
    assert (outcome.status, outcome.before, outcome.after) == ("unchanged", text.encode(), text.encode())
    assert outcome.applied == outcome.remaining == ()


def test_a_second_run_changes_nothing(sample_rules: Registry) -> None:
    first = one(sample_rules, "tf.old\ntf.lines\ntf.gone.x\n")
    second = migrate(sample_rules, {"a.py": first.after})[0]
    assert first.status == "changed" and second.status == "unchanged"
    assert codes(second) == ["TST003"]


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("encoding", ["utf-8", "latin-1"])
def test_line_ends_and_encodings_are_kept(sample_rules: Registry, newline: str, bom: bytes, encoding: str) -> None:
    if bom and encoding == "latin-1":
        return
    head = f"# coding: {encoding}\n" + HEAD
    before, after = head + "é = tf.old\ntf.lines", head + "é = tf.new\n# one\n# two\ntf.placed"
    raw = bom + before.replace("\n", newline).encode(encoding)
    outcome = migrate(sample_rules, {"a.py": raw})[0]
    assert outcome.after == bom + after.replace("\n", newline).encode(encoding)


def test_mixed_line_ends_are_kept(sample_rules: Registry) -> None:
    raw = b"import tensorflow as tf\r\nx = tf.old\ny = 1\r\ntf.lines\r\n"
    outcome = migrate(sample_rules, {"a.py": raw})[0]
    assert outcome.after == b"import tensorflow as tf\r\nx = tf.new\ny = 1\r\n# one\r\n# two\r\ntf.placed\r\n"


# -- what may be applied ----------------------------------------------------------------------------------------------


def test_unsafe_fixes_need_the_option(sample_rules: Registry) -> None:
    outcome = one(sample_rules, "tf.risky\n")
    assert outcome.status == "unchanged" and codes(outcome) == ["TST002"]
    assert outcome.remaining[0].fix is not None and outcome.remaining[0].fix.applicability == Applicability.UNSAFE
    outcome = one(sample_rules, "tf.risky\n", ONLY.merged(unsafe=True))
    assert outcome.after.decode() == HEAD + "tf.bold\n" and codes(outcome) == []


def test_select_and_ignore(sample_rules: Registry) -> None:
    body = "tf.old, tf.gone.x\n"
    assert codes(one(sample_rules, body, Settings(select=("TST003",)))) == ["TST003"]
    assert one(sample_rules, body, Settings(select=("TST",), ignore=("TST001",))).status == "unchanged"
    assert one(sample_rules, body, Settings(select=("TST001",), ignore=("TST",))).status == "changed"


@pytest.mark.parametrize(
    "comment", ["# migrate: ignore", "#migrate:ignore[TST001]", "# x # migrate: ignore[EST1, TST]"]
)
def test_a_comment_silences_its_line(sample_rules: Registry, comment: str) -> None:
    outcome = one(sample_rules, f"tf.old  {comment}\ntf.old\n")
    assert outcome.after.decode() == HEAD + f"tf.old  {comment}\ntf.new\n"


@pytest.mark.parametrize(
    "text", ["# migrate: ignore[TST002]", "; '# migrate: ignore'", "# migrate: ignored", "# ignore"]
)
def test_other_comments_do_not(sample_rules: Registry, text: str) -> None:
    assert one(sample_rules, f"tf.old  {text}\n").status == "changed"


def test_infos_are_kept(sample_rules: Registry) -> None:
    assert codes(one(sample_rules, "tf.note\n")) == ["TST004"]


# -- places -----------------------------------------------------------------------------------------------------------


def test_what_is_left_is_placed_in_the_file_that_is_there(sample_rules: Registry) -> None:
    body = "é = tf.lines, tf.gone.x\ntf.gone.y\n"
    dry = one(sample_rules, body)
    assert [str(d.location) for d in dry.remaining] == ["a.py:2:15", "a.py:3:1"]
    applied = one(sample_rules, body, ONLY.merged(apply=True))
    assert [str(d.location) for d in applied.remaining] == ["a.py:4:16", "a.py:5:1"]


def test_fixes_that_are_left_point_into_the_original(sample_rules: Registry) -> None:
    outcome = one(sample_rules, "tf.lines\ntf.risky\n")
    fix = outcome.remaining[0].fix
    assert fix is not None and len(fix.edits) == 1
    assert outcome.before[fix.edits[0].start : fix.edits[0].end] == b"tf.risky"


# -- programs ---------------------------------------------------------------------------------------------------------


def test_a_program_is_rewritten_in_all_its_files(sample_rules: Registry, tmp_path: Path) -> None:
    model, task = str(tmp_path / "model.py"), str(tmp_path / "task.py")
    outcomes = migrate(sample_rules, {model: "def program(): tf\n", task: "def program(): 1\n"})
    assert [outcome.status for outcome in outcomes] == ["changed", "changed", "created"]
    assert [outcome.after for outcome in outcomes[:2]] == [b"def migrated(): tf\n", b"def migrated(): 1\n"]
    assert outcomes[2].path == str(tmp_path / "tf2_training.py") and outcomes[2].before == b""
    assert vendoring.is_vendored(outcomes[2].after.decode()) and b"class ModeKeys" in outcomes[2].after
    assert [unit.tier for unit in outcomes[0].units] == ["native"]
    assert codes(outcomes[0]) == ["TST200"], "a remark about what was rewritten stays"
    assert not os.listdir(tmp_path), "the engine writes nothing"


def test_a_program_is_not_moved_by_half(sample_rules: Registry, tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {str(tmp_path / "model.py"): "def program(): 1\n"}
    outcomes = migrate(sample_rules, files, task="def program(): 1\n")
    assert [outcome.status for outcome in outcomes] == ["unchanged"], "its other file may not be changed here"
    assert outcomes[0].units[0].tier == "manual" and "not applied" in outcomes[0].units[0].reason


def test_an_unparsable_partner_is_reported_and_the_rest_goes_on(sample_rules: Registry, tmp_path: Path) -> None:
    path = str(tmp_path / "model.py")
    outcomes = migrate(sample_rules, {path: "def program(): 1\n", "bad.py": "def (:\n"})
    assert [outcome.status for outcome in outcomes] == ["changed", "failed", "created"]
    assert outcomes[1].before == outcomes[1].after == b"def (:\n" and codes(outcomes[1]) == ["E001"]


def test_a_manual_program_keeps_its_reason(sample_rules: Registry) -> None:
    unit = migrate(sample_rules, {"a.py": "def stuck_program(): 1\n"})[0].units[0]
    assert (unit.name, unit.tier, unit.reason) == ("stuck", "manual", "line 1 is too hard")


def test_a_file_of_somebody_else_is_not_overwritten(sample_rules: Registry, tmp_path: Path) -> None:
    (tmp_path / "tf2_training.py").write_text("mine = 1\n")
    outcomes = migrate(sample_rules, {str(tmp_path / "model.py"): "def program(): 1\n"})
    assert [outcome.status for outcome in outcomes] == ["unchanged"]
    assert codes(outcomes[0]) == ["E011"] and "tf2_training.py" in outcomes[0].remaining[0].message
    assert outcomes[0].units[0].tier == "manual"


def test_a_broken_helper_file_is_not_touched(sample_rules: Registry, tmp_path: Path) -> None:
    (tmp_path / "tf2_training.py").write_text(f"{vendoring.MARKER}\ndef (:\n")
    outcomes = migrate(sample_rules, {str(tmp_path / "model.py"): "def program(): 1\n"})
    assert [outcome.status for outcome in outcomes] == ["unchanged"]
    assert "cannot add to" in outcomes[0].remaining[0].message


def test_an_occupied_name_inside_the_component_is_reported_there(sample_rules: Registry, tmp_path: Path) -> None:
    helper = str(tmp_path / "tf2_training.py")
    outcomes = migrate(sample_rules, {str(tmp_path / "model.py"): "def program(): 1\n", helper: "mine = 1\n"})
    assert [outcome.status for outcome in outcomes] == ["unchanged", "unchanged"]
    assert [codes(outcome) for outcome in outcomes] == [["E011"], []]


def test_our_own_helper_file_is_extended(sample_rules: Registry, tmp_path: Path) -> None:
    helper = tmp_path / "tf2_training.py"
    helper.write_bytes(
        (vendoring.MARKER + "\nimport json\n\n\ndef mine():\n    return json\n").replace("\n", "\r\n").encode()
    )
    outcomes = migrate(sample_rules, {str(tmp_path / "model.py"): "def program(): 1\n"})
    assert [outcome.status for outcome in outcomes] == ["changed", "changed"]
    text = outcomes[1].after
    assert b"def mine():\r\n    return json\r\n" in text and b"class ModeKeys" in text
    assert b"\n" not in text.replace(b"\r\n", b"")
    ast.parse(text)


def test_vendored_files_are_not_migrated(sample_rules: Registry) -> None:
    outcome = migrate(sample_rules, {"tf2_training.py": f"{vendoring.MARKER}\n{HEAD}tf.old\n"})[0]
    assert outcome.status == "unchanged" and outcome.remaining == ()


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "print 'x'\n",
        "print x\n",
        "try:\n    pass\nexcept ValueError, error:\n    pass\n",
        "raise ValueError, 'x'\n",
        "exec 'x'\n",
        "x = `y`\n",
        "if x <> y: pass\n",
        "x = 0777\n",
        "x = ur'a'\n",
        "f = lambda (a, b): a\n",
        "def f(a, (b, c)): pass\n",
        "print >>f, 'x' % 1,\nprint\nprint 1\n",
    ],
)
def test_python_2_is_named(sample_rules: Registry, body: str) -> None:
    outcome = one(sample_rules, "tf.old\n" + body)
    assert outcome.status == "failed" and outcome.after == outcome.before
    assert codes(outcome) == ["E001"] and "Python 2" in outcome.remaining[0].message
    assert outcome.remaining[0].location.line >= 3


@pytest.mark.parametrize("body", ["x = (\n", "def f(:\n", "if x\n", "  x = 1\n"])
def test_other_syntax_errors_are_not_called_python_2(sample_rules: Registry, body: str) -> None:
    outcome = one(sample_rules, body)
    assert codes(outcome) == ["E001"] and "Python 2" not in outcome.remaining[0].message


@pytest.mark.parametrize(
    "text", ["x = " + " + ".join(["1"] * 100_000), "x = " + "-" * 50_000 + "1", "(" * 5000 + ")" * 5000]
)
def test_deep_nesting_is_survived(sample_rules: Registry, text: str) -> None:
    bad, good = migrate(sample_rules, {"deep.py": HEAD + text + "\n", "b.py": HEAD + "tf.old\n"})
    assert bad.after == bad.before and good.status == "changed"
    if bad.status == "failed":  # Python 3.9 parses the first
        assert codes(bad) in (["E009"], ["E001"])


def test_a_large_file_takes_seconds(sample_rules: Registry) -> None:
    block = "x = f(sin, [1, 2, 3])\n" * 49 + "x = tf.old\n"
    outcome = one(sample_rules, block * 1000)
    assert outcome.status == "changed" and outcome.after.count(b"tf.new") == 1000


# -- rules that misbehave ---------------------------------------------------------------------------------------------


def test_a_rule_that_fails_is_reported_and_the_others_go_on(sample_rules: Registry) -> None:
    outcome = one(sample_rules, "tf.crash\ntf.old\n")
    assert outcome.after.decode() == HEAD + "tf.crash\ntf.new\n"
    assert codes(outcome) == ["E005"]
    message = outcome.remaining[0].message
    assert "rule TST101 failed: ValueError: sample failure at" in message and "please report" in message


def test_a_rule_without_end_of_recursion_is_reported(sample_rules: Registry) -> None:
    outcome = one(sample_rules, "tf.deep\ntf.old\n")
    assert outcome.status == "changed" and codes(outcome) == ["E009"]


def test_text_that_does_not_parse_is_taken_back(sample_rules: Registry) -> None:
    outcome = one(sample_rules, "tf.broken\ntf.old\n")
    assert outcome.after.decode() == HEAD + "tf.broken\ntf.new\n"
    assert codes(outcome) == ["E006"] and "TST102" in outcome.remaining[0].message


def test_a_letter_that_the_encoding_lacks_is_taken_back(sample_rules: Registry) -> None:
    raw = b"# coding: latin-1\nimport tensorflow as tf\nx = '\xe9', tf.accent, tf.old\n"
    outcome = migrate(sample_rules, {"a.py": raw})[0]
    assert outcome.after == raw.replace(b"tf.old", b"tf.new")
    assert codes(outcome) == ["E003"] and "latin-1" in outcome.remaining[0].message


def test_rewrites_without_end_are_taken_back(sample_rules: Registry) -> None:
    outcome = one(sample_rules, "tf.ping\ntf.old\n")
    assert outcome.after.decode() == HEAD + "tf.ping\ntf.new\n"
    assert codes(outcome) == ["E007"] and "TST103" in outcome.remaining[0].message


def test_everything_fails_softly_when_restarts_run_out(sample_rules: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_MAX_RESTARTS", 1)
    outcome = one(sample_rules, "tf.ping\ntf.old\n")
    assert outcome.status == "failed" and outcome.after == outcome.before and codes(outcome) == ["E007"]


# -- arithmetic -------------------------------------------------------------------------------------------------------


def fix(*edits: tuple[int, int, str]) -> Fix:
    """A fix of one file."""
    return Fix("t", tuple(Edit("a", *edit) for edit in edits))


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ([(0, 2, "x")], [(2, 4, "y")], True),
        ([(0, 2, "x")], [(1, 3, "y")], False),
        ([(0, 4, "x")], [(1, 2, "y")], False),
        ([(1, 2, "x")], [(0, 4, "y")], False),
        ([(0, 2, "x")], [(0, 2, "y")], False),
        ([(0, 2, "x")], [(0, 2, "x")], True),
        ([(0, 2, "x")], [(2, 2, "y")], True),
        ([(0, 2, "x")], [(0, 0, "y")], True),
        ([(0, 2, "x")], [(1, 1, "y")], False),
        ([(1, 1, "y")], [(0, 2, "x")], False),
        ([(1, 1, ")")], [(1, 1, ")")], False),
        ([(1, 1, "import a\n")], [(1, 1, "import a\n")], True),
        ([(1, 1, "import a\n")], [(1, 1, "import b\n")], True),
        ([(0, 1, ""), (5, 6, "")], [(2, 3, ""), (5, 6, "x")], False),
    ],
)
def test_which_fixes_go_together(
    one: list[tuple[int, int, str]], other: list[tuple[int, int, str]], together: bool
) -> None:
    selection = Selection()
    assert selection.add(fix(*one))
    assert selection.add(fix(*other)) is together
    assert splice(b"abcdefgh", selection.edits()["a"]) is not None


def test_shared_edits_are_made_once() -> None:
    selection = Selection()
    assert selection.add(fix((0, 0, "import x\n"), (2, 3, "C")))
    assert selection.add(fix((0, 0, "import x\n"), (4, 5, "E")))
    assert splice(b"abcdef", selection.edits()["a"]) == b"import x\nabCdEf"


def test_an_insertion_does_not_hide_the_replacement_that_starts_at_its_place() -> None:
    selection = Selection()
    assert selection.add(fix((4, 40, "rewritten"), (4, 4, "import x\n")))
    assert not selection.add(fix((10, 12, "y")))


def test_a_fix_that_overlaps_itself_is_refused() -> None:
    assert not Selection().add(fix((0, 3, "x"), (2, 4, "y")))


def test_splice_refuses_nonsense() -> None:
    for edits in ([Edit("a", 0, 9, "")], [Edit("a", 0, 2, ""), Edit("a", 1, 3, "")], [Edit("a", 2, 1, "")]):
        with pytest.raises(ValueError):
            splice(b"abc", edits)


@st.composite
def texts_and_edits(draw: st.DrawFn) -> tuple[str, list[Edit]]:
    """A text with disjoint edits, as pieces that alternate between kept and replaced."""
    pieces = draw(st.lists(st.tuples(st.text(max_size=4), st.text(max_size=4), st.text(max_size=4)), max_size=8))
    text, edits = "", []
    for kept, replaced, new in pieces:
        text += kept
        start = len(text.encode())
        text += replaced
        edits.append(Edit("a", start, len(text.encode()), new))
    return text, edits


@given(texts_and_edits(), st.randoms(use_true_random=False))
def test_splicing_disjoint_edits_equals_joining_the_pieces(case: tuple[str, list[Edit]], random: object) -> None:
    text, edits = case
    data = text.encode()
    expected, position = b"", 0
    for edit in edits:
        expected += data[position : edit.start] + edit.text.encode()
        position = edit.end
    assert splice(data, edits) == expected + data[position:]
    chosen = Selection()
    for edit in edits:
        chosen.add(Fix("t", (edit,)))
    assert splice(data, chosen.edits().get("a", [])) is not None


@given(texts_and_edits())
def test_places_outside_of_edits_are_found_again(case: tuple[str, list[Edit]]) -> None:
    text, edits = case
    data = text.encode()
    after, shift = splice(data, edits), places.Shift.of(edits, data)
    for offset in range(len(after)):
        old, exact = shift.back(offset)
        assert 0 <= old <= len(data)
        if exact and not any(start <= offset < end for start, end in zip(shift.starts, shift.ends)):
            assert data[old] == after[offset]


def test_places_inside_of_new_text_are_those_that_it_comes_from() -> None:
    old = """\
        def model_fn(x):
            a = dense(x)  # first
            b = tf.where(a > 0, a, x)
            b = tf.where(b > 1, a, b)
            c = dense(b)
            return c
        """
    new = """\
        class Model:
            def losses(self, b):
                c = self.second(b)
                return c

            def call(self, x):
                a = self.first(x)
                b = tf.where(a > 0, a, x)
                b = tf.where(b > 1, a, b)
                return tf.cast(b, 1)
        """
    shift = places.Shift.of([Edit("a", 5, 5 + len(old), new)], b"head\n" + old.encode())
    first, second = "tf.where(a", "tf.where(b"
    for name in (first, second, "a > 0", "b > 1"):
        assert shift.back(5 + new.index(name)) == (5 + old.index(name), False)
        assert shift.forward(5 + old.index(name)) == 5 + new.index(name)
    assert shift.back(5 + new.index("self.second")) == (5, False)  # nothing is like it
    assert shift.forward(5 + old.index("dense(x)")) == 5


def test_edits_touch_only_their_spans() -> None:
    assert fixes.overlap(Edit("a", 0, 1, ""), Edit("a", 1, 2, "")) is False


def test_other_rules_leave_a_program_alone_whose_file_is_taken(root: Path, tmp_path: Path) -> None:
    (tmp_path / "tf2_training.py").write_text("mine = 1\n")
    text = (root / "fixtures" / "recurrent" / "replies" / "before.py").read_text()
    outcomes = migrate_component([decode(str(tmp_path / "model.py"), text.encode())], Settings())
    assert [outcome.status for outcome in outcomes] == ["unchanged"] and codes(outcomes[0]) == ["E011"]


@pytest.mark.parametrize("apply", [False, True])
def test_what_is_left_in_a_model_fn_is_told_where_it_stands(apply: bool) -> None:
    text = textwrap.dedent(
        """\
        import tensorflow as tf

        def model_fn(features, labels, mode):
            net = tf.layers.dense(features["x"], 4)
            net = tf.where(net > 0, net, tf.exp(net))
            logits = tf.layers.dense(net, 1)
            if mode == tf.estimator.ModeKeys.PREDICT:
                return tf.estimator.EstimatorSpec(mode, predictions=logits)
            wrong = tf.where(labels > logits, labels - logits, logits - labels)
            loss = tf.reduce_mean(wrong)
            step = tf.train.AdamOptimizer(0.01).minimize(loss, tf.train.get_global_step())
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)

        def main(input_fn):
            tf.estimator.Estimator(model_fn).train(input_fn, steps=3)
        """
    )
    (outcome, *_) = migrate_component([decode("model.py", text.encode())], Settings(apply=apply))
    assert outcome.status == "changed" and codes(outcome) == ["EST003", "EST003"]
    lines = (outcome.after if apply else outcome.before).decode().split("\n")
    for item in outcome.remaining:
        assert lines[item.location.line - 1][item.location.column - 1 :].startswith("tf.where(")
