"""A program whose Estimator is not found again in what was made of it is left as it is, and that is told."""

from __future__ import annotations

import pytest
from migrator.rules.program import attempts
from modelfn.programs import model_fn, run

from migrator.normalise.draft.draft import Drafts
from migrator.resolve.module import Module

BODY = """
def block(net):
    return tf.layers.dense(net, 2)
predictions = tf.layers.dense(block(features["x"]), 1)
"""


def test_an_estimator_that_a_step_loses(monkeypatch: pytest.MonkeyPatch) -> None:
    found = attempts.estimators_in

    def lost(drafts: Drafts, group: list[Module]) -> object:
        return [] if drafts.changed else found(drafts, group)

    monkeypatch.setattr(attempts, "estimators_in", lost)
    source = model_fn(BODY)
    outcome = run(source)["program.py"]
    said = " ".join(diagnostic.message for diagnostic in (*outcome.applied, *outcome.remaining))
    assert "is not found any more" in said and "bug" not in said
    assert "tf.estimator.Estimator(" in outcome.after.decode()
