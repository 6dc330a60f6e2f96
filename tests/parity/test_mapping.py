from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from migrator.parity.judge.case import Case, Program
from migrator.parity.probe.recorded.mapping import (
    MappingError,
    Variable,
    as_partners,
    best_fitting,
    expand,
    fitting,
    folders,
    inside,
    match,
    normalise,
)
from migrator.parity.run import runner
from migrator.vocabulary.settings import Settings


def variables(*items: tuple[str, tuple[int, ...]], trainable: bool = True) -> list[Variable]:
    return [Variable(name, shape, trainable, key) for key, (name, shape) in enumerate(items)]


def pairs(old: list[Variable], new: list[Variable]) -> dict[str, str]:
    return {pair.old.name: pair.new.name for pair in match(old, new)}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dense/kernel:0", ("dense", "kernel")),
        ("fully_connected_2/weights", ("dense_2", "kernel")),
        ("Conv/biases", ("conv2d", "bias")),
        ("a/BatchNorm/moving_mean", ("a", "batch_normalization", "moving_mean")),
        ("model/age/age_embedding/embedding_weights", ("model", "age", "kernel")),
        ("input_layer/age_embedding/embedding_weights", ("input_layer", "age_embedding", "embeddings")),
    ],
)
def test_normalise_makes_spellings_equal(name: str, expected: tuple[str, ...]) -> None:
    assert normalise(name) == expected


def test_names_pair_although_the_order_differs() -> None:
    old = variables(("a/kernel", (4, 4)), ("b/kernel", (4, 4)))
    new = variables(("model/b/kernel", (4, 4)), ("model/a/kernel", (4, 4)))
    assert pairs(old, new) == {"a/kernel": "model/a/kernel", "b/kernel": "model/b/kernel"}


def test_contrib_names_pair_with_keras_names() -> None:
    old = variables(("mlp0/weights", (4, 4)), ("mlp0/biases", (4,)), ("mlp1/weights", (4, 4)), ("mlp1/biases", (4,)))
    new = variables(("m/mlp1/kernel", (4, 4)), ("m/mlp1/bias", (4,)), ("m/mlp0/kernel", (4, 4)), ("m/mlp0/bias", (4,)))
    assert pairs(old, new)["mlp1/weights"] == "m/mlp1/kernel"


def test_numbers_that_keras_counted_on_do_not_mislead() -> None:
    old = variables(("dense/kernel", (4, 4)), ("dense_1/kernel", (4, 4)))
    new = variables(("m/dense_1/kernel", (4, 4)), ("m/dense_2/kernel", (4, 4)))
    assert pairs(old, new) == {"dense/kernel": "m/dense_1/kernel", "dense_1/kernel": "m/dense_2/kernel"}


def test_nameless_variables_pair_by_order_among_equal_shapes() -> None:
    old = variables(("x", (2,)), ("y", (3,)), ("z", (3,)))
    new = variables(("p", (3,)), ("q", (2,)), ("r", (3,)))
    assert pairs(old, new) == {"x": "q", "y": "p", "z": "r"}
    assert {pair.how for pair in match(old, new)} == {"order"}


def test_the_map_of_the_migration_wins_and_may_change_the_shape() -> None:
    old = variables(("a/kernel", (4, 1)), ("b/kernel", (4,)))
    new = variables(("m/a/kernel", (4,)), ("m/b/kernel", (4,)))
    result = match(old, new, [(old[0], new[1])])
    assert {(pair.old.name, pair.new.name, pair.how) for pair in result} == {
        ("a/kernel", "m/b/kernel", "map"),
        ("b/kernel", "m/a/kernel", "order"),
    }


def test_unequal_sizes_in_the_map_are_an_error() -> None:
    old, new = variables(("a", (4,))), variables(("a", (5,)))
    with pytest.raises(MappingError, match=r"a \[4\] to a \[5\]"):
        match(old, new, [(old[0], new[0])])


def test_ambiguity_lists_both_sides_with_shapes() -> None:
    old, new = variables(("x", (2,)), ("y", (2,))), variables(("p", (2,)))
    with pytest.raises(MappingError) as error:
        match(old, new)
    assert "x [2]" in str(error.value) and "y [2]" in str(error.value) and "p [2]" in str(error.value)


def test_counters_of_the_new_program_may_stay_alone() -> None:
    new = variables(("m/a/kernel", (2, 2))) + [Variable("m/seen", (), False)]
    assert pairs(variables(("a/kernel", (2, 2))), new) == {"a/kernel": "m/a/kernel"}


def test_trained_and_untrained_variables_do_not_mix() -> None:
    old = [
        Variable("n/gamma", (3,)),
        Variable("n/moving_mean", (3,), False),
        Variable("n/moving_variance", (3,), False),
    ]
    new = [Variable("q/moving_variance", (3,), False), Variable("q/moving_mean", (3,), False), Variable("q/g", (3,))]
    assert pairs(old, new)["n/moving_mean"] == "q/moving_mean"


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("dense*/kernel", ["dense/kernel", "dense_1/kernel", "dense_10/kernel"]),
        ("mlp*/w", ["mlp0/w", "mlp2/w"]),
        ("mlp0/w", ["mlp0/w"]),
        ("none", []),
    ],
)
def test_expand_orders_by_number(pattern: str, expected: list[str]) -> None:
    names = ["dense_10/kernel", "dense_1/kernel", "dense/kernel", "mlp2/w", "mlp0/w", "dense/bias"]
    assert expand(pattern, names) == expected


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=8), st.randoms())
def test_a_model_pairs_with_itself_under_another_root_in_any_order(
    shapes: list[tuple[int, int]], random: object
) -> None:
    old = variables(*((f"layer{index}/kernel", shape) for index, shape in enumerate(shapes)))
    new = [Variable("model/" + v.name, v.shape) for v in old]
    random.shuffle(new)  # type: ignore[attr-defined]
    assert pairs(old, new) == {v.name: "model/" + v.name for v in old}


def test_numbers_of_the_program_pair_where_all_do() -> None:
    old = variables(("dnn/h0/batchnorm_0/beta", (4,)), ("dnn/h1/batchnorm_1/beta", (4,)))
    new = variables(("m/batchnorm_1/beta", (4,)), ("m/batchnorm_0/beta", (4,)))
    assert {pair.how for pair in match(old, new)} == {"name"}
    assert pairs(old, new)["dnn/h0/batchnorm_0/beta"] == "m/batchnorm_0/beta"
    counted_on = variables(("m/batchnorm_1/beta", (4,)), ("m/batchnorm_2/beta", (4,)))
    assert {pair.how for pair in match(old, counted_on)} == {"order"}


def test_numbers_that_count_over_layers_in_layers_pair_as_they_are() -> None:
    same = (3, 3, 4, 4)
    old = variables(*((f"net/conv2d{n}/kernel:0", same) for n in ("", "_1", "_2", "_3")))
    new = variables(
        ("net/conv2d/kernel:0", same), ("net/conv2d_3/kernel:0", same),
        ("net/block/conv2d_1/kernel:0", same), ("net/block/conv2d_2/kernel:0", same),
    )  # fmt: skip
    assert pairs(old, new) == {
        "net/conv2d/kernel:0": "net/conv2d/kernel:0",
        "net/conv2d_1/kernel:0": "net/block/conv2d_1/kernel:0",
        "net/conv2d_2/kernel:0": "net/block/conv2d_2/kernel:0",
        "net/conv2d_3/kernel:0": "net/conv2d_3/kernel:0",
    }


def test_without_an_order_equal_shapes_are_not_told_apart() -> None:
    old, new = variables(("x", (3,)), ("y", (3,))), variables(("p", (3,)), ("q", (3,)))
    with pytest.raises(MappingError):
        match(old, new, ordered=False)
    assert [pair.how for pair in match(old[:1], new[:1], ordered=False)] == ["order"]


def test_equal_shapes_go_by_the_last_part_of_their_names_where_that_pairs_all() -> None:
    old = variables(("bn_0/beta", (2,)), ("bn_0/gamma", (2,)), ("bn_1/beta", (2,)), ("bn_1/gamma", (2,)))
    new = variables(("m/n/gamma", (2,)), ("m/n/beta", (2,)), ("m/n_7/gamma", (2,)), ("m/n_7/beta", (2,)))
    assert pairs(old, new) == {
        "bn_0/beta": "m/n/beta",
        "bn_0/gamma": "m/n/gamma",
        "bn_1/beta": "m/n_7/beta",
        "bn_1/gamma": "m/n_7/gamma",
    }


def test_pairs_of_a_migration_count_where_they_fit() -> None:
    """Another program than the migrated one may have other sizes, or one variable where the map has two."""
    old = variables(("a/kernel", (2,)), ("b/kernel", (2,)), ("c/kernel", (3,)))
    new = variables(("x/kernel", (2,)), ("y/kernel", (2,)), ("z/kernel", (4,)))
    first = (old[0], new[0])
    assert fitting([first, first, (old[2], new[2])]) == [first]
    assert fitting([first, (old[1], new[0])]) == []
    assert fitting([first, (old[1], new[1])]) == [first, (old[1], new[1])]


def test_of_several_models_that_counts_which_fits_best() -> None:
    """Two models of a program may both have a ``dense/kernel``, of other sizes."""
    old, new = variables(("a", (2,)), ("b", (2,))), variables(("x", (2,)), ("y", (2,)), ("z", (3,)))
    right = [(old[0], new[0]), (old[1], new[1])]
    assert best_fitting([[(old[0], new[1])], right, [(old[0], new[2]), (old[1], new[0])]]) == right
    assert best_fitting([]) == []


CHOSEN = """import sys
import tensorflow as tf

KIND = sys.argv[1]


def model_fn(features, labels, mode):
    if KIND == "wide":
        out = tf.layers.dense(features["x"], 1)
    else:
        out = tf.layers.dense(tf.layers.dense(features["x"], 8), 1)
    loss = tf.losses.mean_squared_error(labels, out)
    train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


tf.estimator.Estimator(model_fn).train(read, steps=1)
"""


def test_what_a_migration_knows_gives_way_where_a_condition_decides_which_layers_there_are(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "chosen.py").write_text(CHOSEN)
    case = runner._migrated(Case("", Program(tmp_path / "p" / "chosen.py")), tmp_path / "copies", Settings())
    assert case.variables == () and len(case.derived) == 1  # a hint, which `best_fitting` leaves out where sizes differ
    old, new = Variable("dense_1/kernel", (8, 1)), Variable("model/dense/kernel", (4, 8))
    assert fitting([(old, new)]) == []


def test_variables_of_cells_pair_inside_of_the_scopes_of_their_layers() -> None:
    old = [
        Variable(f"enc/bidirectional_rnn/{way}/multi_rnn_cell/cell_{index}/lstm_cell/{leaf}", shape)
        for way in ("fw", "bw")
        for index in range(2)
        for leaf, shape in (("bias", (12,)), ("kernel", (6, 12)))
    ]
    new = [
        Variable(f"model/rnn{suffix}/stacked_rnn_cells/{wrapper}lstm_cell_{index}/{leaf}", shape)
        for suffix, cells in (("", (3, 4)), ("_1", (7, 8)))
        for index in cells
        for leaf, shape in (("kernel", (6, 12)), ("bias", (12,)))
        for wrapper in ("dropout_wrapper/",)
    ]
    assert folders("enc/bidirectional_rnn/bw/", [v.name for v in old]) == ["enc/bidirectional_rnn/bw/"]
    pairs = inside("enc/bidirectional_rnn/bw/", old, new[4:], ordered=False)
    assert [(a.name.split("/")[4:], b.name.split("/")[-2:]) for a, b in pairs] == [
        (["cell_0", "lstm_cell", "bias"], ["lstm_cell_7", "bias"]),
        (["cell_0", "lstm_cell", "kernel"], ["lstm_cell_7", "kernel"]),
        (["cell_1", "lstm_cell", "bias"], ["lstm_cell_8", "bias"]),
        (["cell_1", "lstm_cell", "kernel"], ["lstm_cell_8", "kernel"]),
    ]
    assert inside("enc/bidirectional_rnn/bw/", old, new[5:], ordered=False) == []


def test_scopes_of_turns_are_in_the_order_of_their_numbers() -> None:
    names = [f"layer_{index}/rnn/gru_cell/gates/kernel" for index in (10, 2, 1)] + ["other/rnn/gru_cell/gates/kernel"]
    assert folders("layer_*/rnn/", names) == ["layer_1/rnn/", "layer_2/rnn/", "layer_10/rnn/"]


def test_sums_of_gradients_are_in_the_order_of_the_old_weights() -> None:
    table, kernel, bias, sums = object(), object(), object(), ["of table", "of kernel", "of bias"]
    old = [
        {"name": "kernel", "trainable": True},
        {"name": "steps", "trainable": False},
        {"name": "bias", "trainable": True},
        {"name": "table", "trainable": True},
    ]
    pairs = [("table", table), ("kernel", kernel), ("bias", bias), ("steps", object())]
    made = as_partners(sums, old, pairs, [table, kernel, bias])
    assert made == ["of kernel", "of bias", "of table"]
    assert as_partners(sums[:2], old, pairs, [table, kernel, bias]) == sums[:2]  # which may be of any two
    assert as_partners(sums, old, pairs[:2], [table, kernel, bias]) == sums


def test_variables_of_one_layer_pair_whatever_these_are_called() -> None:
    old = variables(("linear_model/a_X_b/weights", (9, 1)), ("linear_model/b_X_c/weights", (9, 1)))
    new = variables(("model/b_X_c/embedding_weights", (9, 1)), ("model/a_X_b/embedding_weights", (9, 1)))
    assert [(pair.old.name[13:14], pair.new.name[6:7], pair.how) for pair in match(old, new)] == [
        ("a", "a", "name"),
        ("b", "b", "name"),
    ]


def test_layers_that_are_numbered_or_hold_several_of_a_size_do_not_pair_by_their_names() -> None:
    old = variables(("dense/w1", (4, 4)), ("dense_1/w1", (4, 4)), ("out/u", (3,)), ("out/v", (3,)))
    new = variables(("dense_1/q", (4, 4)), ("dense_2/q", (4, 4)), ("out/r", (3,)), ("out/s", (3,)))
    assert {pair.how for pair in match(old, new)} == {"order"}
