"""The rows of the symbol table against a real TensorFlow: names that are there, and values that stay."""

from __future__ import annotations

from typing import Any

import pytest

from tools import load, rules_of, transform

RULES = rules_of("symbols.symbol_table")
V1 = "import tensorflow as tf\ntf.train.Saver()\n"


def find(root: Any, name: str) -> Any:
    for part in name.split("."):
        root = getattr(root, part, None)
    return root


ONLY_1 = (
    *("contrib.", "examples.", "app", "flags", "logging", "python.keras.", "keras.experimental.", "keras.wrappers"),
    "keras.mixed_precision.experimental",
)
"""What `tf.compat.v1` of TensorFlow 2 has no more."""


def test_rows_agree_with_tensorflow() -> None:
    """Every name exists where the table says, and every old parameter is mapped, dropped or refused on purpose."""
    tf = pytest.importorskip("tensorflow")
    tables = load("symbols.symbol_rows")
    refused = {"data", "summarize", "default_name", "keyword_required", "partition_strategy"}
    wrong = []
    for name, row in tables.rows().items():
        old = find(tf.compat.v1, name)
        if old is None and not name.startswith(ONLY_1):
            wrong.append(f"{name}: not in tf.compat.v1")
        if row.kind in ("manual", "check"):
            continue
        new = find(tf, row.to)
        if new is None:
            wrong.append(f"{name}: no tf.{row.to}")
        if row.kind != "rename" or row.plain:
            continue
        if row.old is None or row.new is None:
            wrong.append(f"{name}: parameters not known")
            continue
        wrong += [f"{name}: {p}" for p in (*row.wrap, *row.defaults, *row.drop) if p not in row.old and "name" not in p]
        for parameter in row.old:
            target = row.keywords.get(parameter, parameter)
            if target not in row.new and parameter not in row.drop and parameter not in refused:
                wrong.append(f"{name}: nothing is known about {parameter}")
    assert wrong == []


def test_no_function_becomes_one_that_takes_keywords_alone() -> None:
    moved = load("symbols.symbol_rows").rows()
    assert [
        name for name, row in moved.items() if row.to.startswith("raw_ops.") and not name.startswith("raw_ops.")
    ] == []


X = "tf.constant([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])"


@pytest.mark.parametrize(
    "call",
    [
        "tf.log(tf.abs({x}))", "tf.to_int32({x})", "tf.to_double({x})", "tf.reduce_sum({x}, 1, keep_dims=True)",
        "tf.reduce_mean({x}, reduction_indices=[0])", "tf.argmax({x}, dimension=1)", "tf.argmin({x}, 1, 'n')",
        "tf.arg_max({x}, 1)", "tf.arg_min({x}, dimension=0, name='n')", "tf.diag({x}[0])", "tf.diag_part({x}[:, :2])",
        "tf.check_numerics({x}, 'm')", "tf.floor_div({x}, {x})", "tf.image.resize_area({x}[None, ..., None], [1, 2])",
        "tf.expand_dims({x}, dim=1)", "tf.squeeze(tf.expand_dims({x}, 0), squeeze_dims=[0])",
        "tf.nn.softmax({x}, dim=0)", "tf.nn.log_softmax({x}, dim=0)", "tf.nn.l2_normalize({x}, dim=1)",
        "tf.nn.moments({x}, [0], keep_dims=True)", "tf.count_nonzero({x}, 1)", "tf.norm({x}, axis=1, keep_dims=True)",
        "tf.cond({x}[0, 0] > 0, fn1=lambda: 1, fn2=lambda: 2)", "tf.boolean_mask({x}, [True, False, True], 'n', 1)",
        "tf.pad({x}, [[1, 0], [0, 1]], 'CONSTANT', 'n', 7)", "tf.transpose({x}, [1, 0], 'n')",
        "tf.zeros_like(tensor={x}, optimize=False)", "tf.nn.in_top_k({x}, [0, 1], 1)",
        "tf.nn.dropout({x}, 1.0)", "tf.nn.dropout({x}, keep_prob=1.0, seed=3)",
        "tf.nn.embedding_lookup({x}, [1, 0], 'mod', 'n')", "tf.gather({x}, [1], False, 'n', 1)",
        "tf.gather_nd({x}, [[0, 1]], 'n')", "tf.shape({x}, 'n', tf.int64)", "tf.size({x}, 'n')",
        "tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits={x})",
        "tf.nn.softmax_cross_entropy_with_logits_v2(labels={x}, logits={x}, dim=0)",
        "tf.nn.sigmoid_cross_entropy_with_logits(labels={x}, logits={x})", "tf.string_to_number(['1', '2'], tf.int64)",
        "tf.string_to_hash_bucket_fast(['a', 'b'], 7)", "tf.string_to_hash_bucket(['a', 'b'], 7)",
        "tf.decode_csv(['1,2'], [[0], [0]], ',', True, 'n')", "tf.decode_raw(bytes=['abcd'], out_type=tf.uint8)",
        "tf.py_func(lambda a: a * 2, [{x}], tf.float32)", "tf.div({x}, 2.0)", "tf.mod({x}, 2.0)", "tf.rsqrt(tf.abs({x}))",
        "tf.zeros_initializer(tf.float32)([2])", "tf.constant_initializer(3.0, tf.float32)([2])",
        "tf.nn.conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], 'SAME', False)",
        "tf.nn.max_pool(value=tf.reshape(tf.range(16.0), [1, 4, 4, 1]), ksize=[1, 2, 2, 1], strides=[1, 1, 1, 1], "
        "padding='SAME')",
        "tf.nn.depthwise_conv2d(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], 'SAME', [1, 1], 'n')",
        "tf.space_to_depth(tf.ones([1, 4, 4, 1]), 2, 'n')", "tf.reverse_sequence({x}, [1, 2], seq_dim=1, batch_dim=0)",
        "tf.nn.weighted_cross_entropy_with_logits(targets={x}, logits={x}, pos_weight=2.0)",
        "tf.nn.xw_plus_b({x}, tf.ones([3, 2]), tf.ones([2]))",
        "tf.floor_div(tf.constant([7, -7]), 2)", "tf.bincount(tf.constant([1, 1, 3]), minlength=6)",
        "tf.batch_gather({x}, [[2, 0], [1, 1]])", "tf.batch_to_space_nd(tf.ones([4, 1, 1, 1]), [2, 2], [[0, 0], [0, 0]])",
        "tf.space_to_batch(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), [[0, 0], [0, 0]], 2)",
        "tf.batch_to_space(tf.reshape(tf.range(16.0), [4, 2, 2, 1]), [[0, 0], [1, 0]], block_size=2)",
        "tf.extract_image_patches(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1], 'VALID')",
        "tf.image.extract_image_patches(tf.ones([1, 4, 4, 1]), ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], "
        "padding='SAME')",
        "tf.sparse_tensor_to_dense(tf.sparse_add(tf.SparseTensor([[0, 1]], [1.0], [1, 2]), "
        "tf.SparseTensor([[0, 1]], [0.1], [1, 2]), thresh=0.5))",
        "tf.sparse_reduce_sum(tf.SparseTensor([[0, 1], [0, 2]], [1.0, 3.0], [1, 3]), 1, True)",
        "tf.sparse_reduce_max(tf.SparseTensor([[0, 1], [0, 2]], [1.0, 3.0], [1, 3]), reduction_axes=1)",
        "tf.sparse_tensor_to_dense(tf.sparse_reduce_sum_sparse(tf.SparseTensor([[0, 1], [0, 2]], [1.0, 3.0], [1, 3]), 1))",
        "tf.sparse_tensor_to_dense(tf.sparse_concat(axis=1, sp_inputs=[tf.SparseTensor([[0, 1]], [1.0], [1, 2])] * 2))",
        "tf.sparse_tensor_to_dense(tf.sparse_split(axis=1, num_split=2, "
        "sp_input=tf.SparseTensor([[0, 1]], [1.0], [1, 4]))[0])",
        "tf.sparse_segment_mean({x}, [0, 1], [0, 0])", "tf.sparse_segment_sqrt_n({x}, [0, 1], [0, 0], 'n')",
        "tf.sparse_segment_sum({x}, [0, 1], [0, 0], num_segments=2)",
        "tf.nn.conv2d_backprop_input([1, 4, 4, 1], tf.fill([2, 2, 1, 1], 3.0), tf.reshape(tf.range(16.0), [1, 4, 4, 1]), "
        "[1, 1, 1, 1], 'SAME')",
        "tf.nn.depthwise_conv2d_native(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), tf.ones([2, 2, 1, 2]), [1, 1, 1, 1], 'SAME')",
        "tf.nn.depthwise_conv2d_native(tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 1]), [1, 1, 1, 1], 'SAME', "
        "dilations=[1, 2, 2, 1])",
        "tf.nn.dilation2d(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), tf.ones([2, 2, 1]), [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')",
        "tf.nn.erosion2d(tf.reshape(tf.range(16.0), [1, 4, 4, 1]), tf.ones([2, 2, 1]), [1, 1, 1, 1], [1, 1, 1, 1], 'SAME')",
        "tf.nn.ctc_loss(tf.SparseTensor([[0, 0], [0, 1]], [1, 0], [1, 2]), tf.reshape(tf.range(15.0), [5, 1, 3]) % 4.0, [5])",
        "tf.nn.ctc_loss(labels=tf.SparseTensor([[0, 0]], [1], [1, 1]), inputs=tf.reshape(tf.range(15.0), [1, 5, 3]) % 4.0, "
        "sequence_length=[4], time_major=False)",
        "tf.nn.ctc_loss(tf.SparseTensor([[0, 0]], [1], [1, 1]), tf.ones([5, 1, 3]), [5], ctc_merge_repeated=True)",
        "tf.nn.ctc_loss(tf.SparseTensor([[0, 0], [0, 1]], [1, 0], [1, 2]), tf.reshape(tf.range(3.0), [1, 1, 3]), [1], "
        "ignore_longer_outputs_than_inputs=True)",
        "tf.nn.ctc_loss(tf.SparseTensor([[0, 0]], [1], [1, 1]), tf.reshape(tf.range(15.0), [5, 1, 3]) % 4.0, [5], True, False)",
        "tf.debugging.assert_all_finite(t={x}, msg='m')", "tf.random.stateless_multinomial({x}, 3, [1, 2], tf.int32)",
        "tf.initializers.identity(2.0)([2, 2])", "tf.manip.gather_nd({x}, [[0, 1]])", "tf.VERSION", "tf.GRAPH_DEF_VERSION",
        "tf.saved_model.signature_constants.PREDICT_INPUTS", "tf.saved_model.tag_constants.SERVING",
        "tf.dimension_value(3)", "tf.confusion_matrix([0, 1], [1, 1], 2, tf.int64)",
        "tf.substr(['abc'], 1, 1)", "tf.reduce_join([['a', 'b']], reduction_indices=1)", "tf.matching_files('/no/such*')",
        "tf.sparse_tensor_to_dense(tf.SparseTensor([[0, 1]], [5], [1, 2]))", "tf.is_nan({x})", "tf.lgamma({x})",
        "tf.convert_to_tensor([1.0], tf.float32, 'n')", "tf.gfile.Exists(filename='/no/such')", "tf.gfile.Glob('/no/such*')",
    ],
)  # fmt: skip
def test_values_stay(call: str) -> None:
    """What the old call computes under tf.compat.v1, the new call computes under TensorFlow 2."""
    tf = pytest.importorskip("tensorflow")
    numpy = pytest.importorskip("numpy")
    before = call.replace("{x}", X)
    after = transform(f"{V1}y = {before}\n", RULES).splitlines()[2][len("y = ") :]
    try:
        old = eval(before, {"tf": tf.compat.v1})
    except tf.errors.UnimplementedError as error:
        pytest.skip(f"the kernels of this machine lack it: {error.message}")
    new = eval(after, {"tf": tf})
    for one_old, one_new in zip(tf.nest.flatten(old), tf.nest.flatten(new)):
        numpy.testing.assert_array_equal(numpy.asarray(one_old), numpy.asarray(one_new))
        assert numpy.asarray(one_old).dtype == numpy.asarray(one_new).dtype


@pytest.mark.parametrize(
    "call",
    [
        "tf.truncated_normal_initializer()",
        "tf.truncated_normal_initializer(1.0)",
        "tf.random_normal_initializer()",
        "tf.random_uniform_initializer()",
        "tf.random_uniform_initializer(-3.0)",
        "tf.glorot_uniform_initializer()",
        "tf.glorot_normal_initializer()",
        "tf.variance_scaling_initializer()",
        "tf.variance_scaling_initializer(2.0, 'fan_out')",
        "tf.initializers.truncated_normal()",
        "tf.initializers.he_normal()",
        "tf.initializers.lecun_uniform()",
    ],
)
def test_initializers_keep_their_distribution(call: str) -> None:
    """Quantiles over 200,000 draws agree within four times the sampling error of the outermost."""
    tf = pytest.importorskip("tensorflow")
    numpy = pytest.importorskip("numpy")
    after = transform(f"{V1}y = {call}\n", RULES).splitlines()[2][len("y = ") :]
    tf.keras.utils.set_random_seed(1)  # that of TensorFlow is not all that Keras draws from
    old = numpy.asarray(eval(call, {"tf": tf.compat.v1})([200, 1000]))
    new = numpy.asarray(eval(after, {"tf": tf})([200, 1000]))
    assert abs(old.mean() - new.mean()) < 0.02 * old.std()
    assert abs(old.std() / new.std() - 1) < 0.01
    quantiles = [0.001, 0.1, 0.5, 0.9, 0.999]
    numpy.testing.assert_allclose(numpy.quantile(old, quantiles), numpy.quantile(new, quantiles), atol=0.12 * old.std())


def test_halved_regularizer() -> None:
    tf = pytest.importorskip("tensorflow")
    after = transform(f"{V1}y = tf.contrib.layers.l2_regularizer(0.3)\n", RULES).splitlines()[2][len("y = ") :]
    weights = tf.constant([1.0, 2.0])
    assert float(eval(after, {"tf": tf})(weights)) == pytest.approx(0.3 * 5 / 2)
