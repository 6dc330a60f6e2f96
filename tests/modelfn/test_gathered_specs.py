"""Specs whose arguments are gathered in a dict: they become calls where nothing else can be meant, and are refused else."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, TRAIN_OP, manual_reason, migrate, model_fn, run, units
from modelfn.symbolic import assert_same

BODY = "predictions = tf.layers.dense(features['x'], 1)"
CALLS = f"""
if mode == tf.estimator.ModeKeys.PREDICT:
    specs = dict(mode=mode, predictions={{"y": predictions}})
else:
    {LOSS}
    {TRAIN_OP}
    specs = dict(
        mode=mode,  # kept
        loss=loss,
        train_op=train_op,
    )
return tf.estimator.EstimatorSpec(**specs)
"""
DISPLAYS = (
    CALLS.replace('dict(mode=mode, predictions={"y": predictions})', '{"predictions": {"y": (predictions)}}')
    .replace("dict(\n", "{\n").replace("mode=mode,  # kept", "# kept").replace("loss=loss", "'loss': (loss)")
    .replace("train_op=train_op,\n    )", "'train_op': train_op,\n    }").replace("(**specs)", "(mode=mode, **specs)")
)  # fmt: skip


@pytest.mark.parametrize("end", [CALLS, DISPLAYS, DISPLAYS.replace("mode=mode, **", "mode, **")])
def test_dicts_become_specs(end: str) -> None:
    assert "specs" not in assert_same(model_fn(BODY, end=end))


def test_the_bridge_keeps_the_calls_with_their_comments() -> None:
    outcomes = run(model_fn(BODY, end=DISPLAYS), style="bridge")
    text = outcomes["program.py"].after.decode()
    assert [unit.tier for unit in units(outcomes)] == ["bridge"]
    assert 'specs = EstimatorSpec(mode=mode, predictions={"y": (predictions)})' in text and "# kept" in text
    assert "loss=(loss)," in text and "return specs\n" in text and "**" not in text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return tf", "specs['loss'] = loss\nreturn tf"),
        ("return tf", "specs.update(loss=loss)\nreturn tf"),
        ("return tf", "print(specs)\nreturn tf"),
        ("dict(mode=mode, p", "dict(FIELDS, mode=mode, p"),
        ("(**specs)", "(mode=mode, **specs)"),
        ("(**specs)", "(**specs, **MORE)"),
        ("if mode", "specs = make_specs(mode)\nif mode"),
        ("specs = dict(\n", "for specs in [1]:\n        pass\n    specs = dict(\n"),
    ],
)
def test_what_may_be_changed_is_refused(old: str, new: str) -> None:
    assert "hidden behind * or **" in manual_reason(model_fn(BODY, end=CALLS.replace(old, new)))


def test_a_dict_called_dict_is_not_known() -> None:
    text = model_fn(BODY, end=CALLS, before="import tensorflow as tf\nfrom tables import dict")
    assert "hidden behind * or **" in manual_reason(text)


def test_other_calls_keep_their_dicts() -> None:
    text = migrate(model_fn("options = dict(units=1)\nshow(**options)\n" + BODY))
    assert "show(**options)" in text
