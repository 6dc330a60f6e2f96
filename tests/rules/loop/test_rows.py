"""Loops over predictions, which are arrays by key in Keras."""

from __future__ import annotations

import pytest
from test_loop import ESTIMATOR, MODEL, kept, loop, migrate

TRAINED = "estimator.train(make_input_fn(8, 1))\n"
PREDICT = "estimator.predict(make_input_fn(4, 1))"
ARRAYS = "model.predict(make_input_fn(4, 1)(), verbose=0)"
ROWS = "dict(zip(predictions, row)) for row in zip(*predictions.values())"


@pytest.mark.parametrize(
    "before, after",
    [
        (f"for p in {PREDICT}:\n    print(p['score'])\n", f"for score in {ARRAYS}['score']:\n    print(score)\n"),
        (f"print([p['score'] for p in {PREDICT}])\n", f"print([score for score in {ARRAYS}['score']])\n"),
        (
            f"print([p['score'] for p in list({PREDICT})[:2]])\n",
            f"print([score for score in {ARRAYS}['score'][:2]])\n",
        ),
        (f"for p in {PREDICT}:\n    print(p['class'])\n", f"for p in {ARRAYS}['class']:\n    print(p)\n"),
        (
            f"for p in {PREDICT}:\n    print(p['class'], p['score'])\n",
            f"predictions = {ARRAYS}\nfor class_, score in zip(predictions['class'], predictions['score']):\n"
            "    print(class_, score)\n",
        ),
        (f"for p in {PREDICT}:\n    print(p)\n", f"predictions = {ARRAYS}\nfor p in ({ROWS}):\n    print(p)\n"),
        (f"rows = list({PREDICT})\n", f"predictions = {ARRAYS}\nrows = [{ROWS}]\n"),
        (
            f"predictions = {PREDICT}\nfor p, n in zip(predictions, [1, 2]):\n    print(p['score'], n)\n",
            f"predictions = {ARRAYS}\nfor score, n in zip(predictions['score'], [1, 2]):\n    print(score, n)\n",
        ),
        (
            f"for n, p in enumerate({PREDICT}):\n    print(n, p['score'])\n",
            f"for n, score in enumerate({ARRAYS}['score']):\n    print(n, score)\n",
        ),
        (
            f"predictions = {PREDICT}\nprint(predictions)\n",
            f"outputs = {ARRAYS}\npredictions = ({ROWS.replace('predictions', 'outputs')})\nprint(predictions)\n",
        ),
        (
            f"print(next({PREDICT}))\n",
            "predictions = model.predict(make_input_fn(4, 1)().take(1), verbose=0)\n"
            "print({key: values[0] for key, values in predictions.items()})\n",
        ),
        (
            f"print(next({PREDICT})['score'])\n",
            "print(model.predict(make_input_fn(4, 1)().take(1), verbose=0)['score'][0])\n",
        ),
        (
            f"score = 1\nprint([p['score'] + score for p in {PREDICT}])\n",
            f"score = 1\nprint([p + score for p in {ARRAYS}['score']])\n",
        ),
    ],
)
def test_loops_over_predictions(before: str, after: str) -> None:
    assert loop(TRAINED + before).partition("\n")[2] == after


@pytest.mark.parametrize("keys, test", [("['score']", "in ['score']"), ("'score'", "== 'score'")])
def test_only_what_is_asked_for(keys: str, test: str) -> None:
    predict = f"estimator.predict(make_input_fn(4, 1), predict_keys={keys})"
    assert loop(f"{TRAINED}print([p['score'] for p in {predict}])\n").endswith(f"{ARRAYS}['score']])\n")
    chosen = f"{{key: values for key, values in {ARRAYS}.items() if key {test}}}"
    after = f"predictions = {chosen}\nprint([{ROWS}])\n"
    text = loop(f"{TRAINED}print(list({predict}))\n")
    assert "".join(text.split()).endswith("".join(after.split()))


def test_one_example_at_a_time_is_what_it_is_without_a_word() -> None:
    predict = "estimator.predict(make_input_fn(4, 1), yield_single_examples={single})"
    after = loop(f"{TRAINED}print([p['score'] for p in {predict.format(single=True)}])\n")
    assert after.endswith(f"print([score for score in {ARRAYS}['score']])\n") or after.endswith(
        f"{ARRAYS}['score']])\n"
    )


def test_endless_data_for_one_prediction() -> None:
    after = loop(TRAINED + "print(next(estimator.predict(make_input_fn(4, None)))['score'])\n")
    assert after.endswith("print(model.predict(make_input_fn(4, None)().take(1), verbose=0)['score'][0])\n")


@pytest.mark.parametrize(
    "before, after",
    [
        (f"for p in {PREDICT}:\n    print(p)\n", f"for p in {ARRAYS}:\n    print(p)\n"),
        (f"rows = list({PREDICT})\n", f"rows = list({ARRAYS})\n"),
        (
            f"rows = {PREDICT}\nfor row in rows:\n    break\nprint(len(list(rows)))\n",
            f"rows = iter({ARRAYS})\nfor row in rows:\n    break\nprint(len(list(rows)))\n",
        ),
        (f"rows = {PREDICT}\nprint(next(rows))\n", f"rows = iter({ARRAYS})\nprint(next(rows))\n"),
    ],
)
def test_predictions_without_keys_go_on_where_they_were_left(before: str, after: str) -> None:
    model = MODEL.replace("predictions=outputs", "predictions=predictions * 2.0")
    assert migrate(model + ESTIMATOR + TRAINED + before).endswith(after)


WHOLE = "estimator.predict(make_input_fn(4, 1), yield_single_examples=False)"
BATCHES = "map(model.predict_on_batch, make_input_fn(4, 1)().map(lambda features, *_: features))"


@pytest.mark.parametrize(
    "before, after",
    [
        (f"for batch in {WHOLE}:\n    print(batch)\n", f"for batch in {BATCHES}:\n    print(batch)\n"),
        (f"print(next({WHOLE}))\n", f"print(next({BATCHES}))\n"),
        (
            f"for n, batch in enumerate({WHOLE}):\n    print(n, batch)\n",
            f"for n, batch in enumerate({BATCHES}):\n    print(n, batch)\n",
        ),
        (f"print([len(b['score']) for b in {WHOLE}])\n", f"print([len(b['score']) for b in {BATCHES}])\n"),
    ],
)
def test_predictions_by_batches(before: str, after: str) -> None:
    assert loop(TRAINED + before).endswith(after)


def test_some_of_the_predictions_of_a_batch() -> None:
    whole = WHOLE.replace(", yield", ', predict_keys=["score"], yield')
    chosen = f'{{key: values for key, values in outputs.items() if key in ["score"]}} for outputs in {BATCHES}'
    assert chosen in " ".join(loop(f"{TRAINED}for batch in {whole}:\n    print(batch)\n").split())


@pytest.mark.parametrize(
    "more",
    [
        f"rows = {WHOLE}\nprint(next(rows))\n",
        f"rows = enumerate({WHOLE})\n",
        f"print({WHOLE.replace('False', 'FLAG')})\n",
    ],
)
def test_batches_that_are_read_elsewhere(more: str) -> None:
    kept(f"{TRAINED}{more}")


def packed(text: str) -> str:
    """A text without blanks and line breaks."""
    return "".join(text.split())


ENDLESS = "estimator.predict(make_input_fn(4, None))"
LAZY = "map(model.predict_on_batch, make_input_fn(4, None)().map(lambda features, *_: features))"


@pytest.mark.parametrize(
    "before, after",
    [
        (
            f"for p in {ENDLESS}:\n    print(p)\n    break\n",
            f"for p in (dict(zip(outputs, row)) for outputs in {LAZY} for row in zip(*outputs.values())):\n"
            "    print(p)\n    break\n",
        ),
        (
            f"for p in {ENDLESS}:\n    print(p['score'])\n    break\n",
            f"for score in (score for outputs in {LAZY} for score in outputs['score']):\n    print(score)\n    break\n",
        ),
        (
            f"rows = {ENDLESS}\nprint(next(rows))\n",
            f"rows = (dict(zip(outputs, row)) for outputs in {LAZY} for row in zip(*outputs.values()))\nprint(next(rows))\n",
        ),
        (
            f"print([p['score'] * 2 for p in {ENDLESS} if p['score']])\n",
            f"print([score * 2 for outputs in {LAZY} for score in outputs['score'] if score])\n",
        ),
    ],
)
def test_predictions_without_an_end_are_made_as_they_are_read(before: str, after: str) -> None:
    assert packed(loop(TRAINED + before)).endswith(packed(after))


@pytest.mark.parametrize(
    "before, whole",
    [
        ("print([p['score'] for p in PREDICT])\n", True),
        ("for p in PREDICT:\n    print(p['score'])\n", True),
        ("print(len(list(PREDICT)))\n", True),
        ("for i, p in enumerate(PREDICT):\n    print(i, p['score'])\n", True),
        ("for p in PREDICT:\n    print(p['score'])\n    if p['score']:\n        break\n", False),
        ("rows = PREDICT\nprint(next(rows))\n", False),
        ("print(any(p['score'] for p in PREDICT))\n", False),
        ("import itertools\nprint([p['score'] for p in itertools.islice(PREDICT, 3)])\n", False),
    ],
)
def test_predictions_of_which_all_are_read_have_an_end(before: str, whole: bool) -> None:
    text = loop(
        f"import sys\nEPOCHS = len(sys.argv)\n{TRAINED}" + before.replace("PREDICT", PREDICT.replace("1)", "EPOCHS)"))
    )
    assert ("model.predict(" in text) is whole and ("predict_on_batch" in text) is not whole


def test_batches_of_different_shapes() -> None:
    text = loop(
        "def read():\n    return tf.data.Dataset.from_tensor_slices({'x': [[1.0]]}).padded_batch(2, {'x': [None]})\n\n\n"
        f"{TRAINED}print([p['score'] for p in estimator.predict(read)])\n"
    )
    assert "for outputs in map(model.predict_on_batch, read().map(lambda features, *_: features))" in text
