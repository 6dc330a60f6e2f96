"""Input functions that end in a one-shot iterator return the dataset."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate

MODEL = f"""import tensorflow as tf


def model_fn(features, labels, mode):
    predictions = tf.layers.dense(features["x"], 1)
    {LOSS}
    {TRAIN_OP}
    {SPEC}


estimator = tf.estimator.Estimator(model_fn)


"""


def program(body: str) -> str:
    """A program with an input function."""
    return (
        MODEL
        + "def read(path):\n"
        + textwrap.indent(textwrap.dedent(body).strip() + "\n", "    ")
        + "\n\nprint(read)\n"
    )


def one(before: str, after: str) -> None:
    """Migrating `before` gives `after`."""
    expected = "def read(path):\n" + textwrap.indent(textwrap.dedent(after).strip() + "\n", "    ")
    assert method(migrate(program(before)), "read") == expected


def test_iterator_in_a_name() -> None:
    one(
        """
        data = tf.data.TFRecordDataset(path).batch(2)
        iterator = data.make_one_shot_iterator()
        features, labels = iterator.get_next()
        return features, labels
        """,
        """
        data = tf.data.TFRecordDataset(path).batch(2)
        return data
        """,
    )


@pytest.mark.parametrize(
    "returned",
    [
        "return data.make_one_shot_iterator().get_next(), None",
        "return (data.make_one_shot_iterator().get_next(), None)",
        "features = data.make_one_shot_iterator().get_next()\n        return features, None",
    ],
)
def test_no_labels(returned: str) -> None:
    one(
        f"""
        data = tf.data.Dataset.from_tensor_slices({{"x": path}}).batch(2)
        {returned}
        """,
        """
        data = tf.data.Dataset.from_tensor_slices({"x": path}).batch(2)
        return data
        """,
    )


def test_no_labels_for_fit() -> None:
    batch = "data.make_one_shot_iterator().get_next()"
    read = f'data = tf.data.Dataset.from_tensor_slices({{"x": [[1.0]]}}).batch(1)\nreturn {batch}, None'
    source = program(read).replace("(labels, ", '(features["x"], ')
    assert "model.fit(read(0))" in migrate(f"{source}\n\nestimator.train(lambda: read(0))\n")


def test_no_labels_of_elements_that_may_be_tuples() -> None:
    read = "data = tf.data.Dataset.from_tensor_slices(path)\nreturn data.make_one_shot_iterator().get_next(), None\n"
    assert "used inside an expression" in manual_reason(
        program(read).replace("estimator =", "estimator_of_file =") + "\n\nestimator_of_file.train(lambda: read(1))\n"
    )


def test_at_once() -> None:
    one(
        """
        data = tf.data.TFRecordDataset(path)
        return data.make_one_shot_iterator().get_next()
        """,
        """
        data = tf.data.TFRecordDataset(path)
        return data
        """,
    )


def test_in_one_expression() -> None:
    one(
        "return tf.data.TFRecordDataset(path).make_one_shot_iterator().get_next()",
        "return tf.data.TFRecordDataset(path)",
    )


def test_as_a_function() -> None:
    one(
        """
        data = tf.data.TFRecordDataset(path)
        features, labels = tf.data.make_one_shot_iterator(data).get_next()
        return features, labels
        """,
        """
        data = tf.data.TFRecordDataset(path)
        return data
        """,
    )


def test_a_dataset_without_a_name_gets_one() -> None:
    one(
        """
        iterator = tf.data.TFRecordDataset(path).make_one_shot_iterator()
        return iterator.get_next()
        """,
        """
        dataset = tf.data.TFRecordDataset(path)
        return dataset
        """,
    )


def test_a_name_that_is_read_no_more_is_kept() -> None:
    one(
        """
        dataset = tf.data.TFRecordDataset(path)
        iterator = dataset.repeat(2).batch(3).make_one_shot_iterator()
        features, labels = iterator.get_next()
        return features, labels
        """,
        """
        dataset = tf.data.TFRecordDataset(path)
        dataset = dataset.repeat(2).batch(3)
        return dataset
        """,
    )


@pytest.mark.parametrize("use", ["print(dataset)", "size = lambda: dataset.cardinality()"])
def test_a_name_that_something_reads_is_not_taken(use: str) -> None:
    before = f"""
        dataset = tf.data.TFRecordDataset(path)
        {use if "lambda" in use else "pass"}
        iterator = dataset.batch(3).make_one_shot_iterator()
        {use}
        return iterator.get_next()
        """
    after = f"""
        dataset = tf.data.TFRecordDataset(path)
        {use if "lambda" in use else "pass"}
        batches = dataset.batch(3)
        {use}
        return batches
        """
    one(before, after)


def test_work_on_the_batch_is_mapped() -> None:
    one(
        """
        data = tf.data.TFRecordDataset(path)
        features, labels = data.make_one_shot_iterator().get_next()
        # to floats
        features = tf.cast(features, tf.float32)  # 32 bits
        return {"x": features}, labels
        """,
        """
        data = tf.data.TFRecordDataset(path)

        def transform(features, labels):
            # to floats
            features = tf.cast(features, tf.float32)  # 32 bits
            return {"x": features}, labels

        return data.map(transform)
        """,
    )


def test_swapped_and_wrapped_results_are_mapped() -> None:
    for result in ("b, a", '{"x": a}, b', "a", "(a, b), b"):
        text = migrate(program(f"data = D(path)\na, b = data.make_one_shot_iterator().get_next()\nreturn {result}"))
        assert f"        return {result}\n" in text and "def transform(a, b):" in text
        assert "    return data.map(transform)" in text


def test_compound_statements_move_whole() -> None:
    text = migrate(
        program(
            """
            data = D(path)
            features, labels = data.make_one_shot_iterator().get_next()
            for key in ("a", "b"):
                if key in features:
                    features[key] = features[key] * 2

            note = '''
              text
            '''
            return features, labels
            """
        )
    )
    read = method(text, "read")
    assert "            if key in features:\n                features[key] = features[key] * 2\n" in read
    assert "'''\n" in read


@pytest.mark.parametrize(
    "work",
    [
        'labels = batch.pop("y")\nreturn batch, labels',
        'labels = batch["y"]\nreturn batch, labels',
        'if "y" in batch:\n    print("labels")\nreturn batch, batch.get("y")',
        "batch = {k: v for k, v in batch.items()}\nreturn batch, 1",
    ],
)
def test_a_batch_that_is_used_as_a_dict_is_one(work: str) -> None:
    inside = textwrap.indent(work, "    ")
    one(
        f"data = D(path)\nbatch = data.make_one_shot_iterator().get_next()\n{work}",
        f"data = D(path)\n\ndef transform(batch):\n{inside}\n\nreturn data.map(transform)",
    )


@pytest.mark.parametrize(
    "work", ["return batch[0], batch[1]", 'batch = batch[0]\nreturn batch, batch.pop("y")', "f(batch)\nreturn batch, 1"]
)
def test_a_batch_that_may_be_a_tuple_is_refused(work: str) -> None:
    source = program(f"data = D(path)\nbatch = data.make_one_shot_iterator().get_next()  # HERE\n{work}")
    assert "tuple or a dict" in manual_reason(source)


@pytest.mark.parametrize(
    "made",
    [
        "tf.data.TextLineDataset(path).skip(1).batch(2)",
        "tf.data.TFRecordDataset(path).map(lambda row: tf.parse_single_example(row, SPEC)).batch(2)",
        'tf.data.Dataset.from_tensor_slices({"x": path}).shuffle(9).repeat()',
        "tf.data.Dataset.from_tensors([path])",
        "tf.data.Dataset.from_generator(lambda: path, output_types=tf.float32, output_shapes=(2,)).batch(1)",
        "tf.data.Dataset.from_generator(lambda: path, {'x': tf.float32})",
    ],
)
def test_a_batch_of_single_values_is_no_tuple(made: str) -> None:
    after = made.replace("parse_single_example", "io.parse_single_example")
    one(
        f"data = {made}\nbatch = data.make_one_shot_iterator().get_next()\nreturn batch, 1",
        f"data = {after}\n\ndef transform(batch):\n    return batch, 1\n\nreturn data.map(transform)",
    )


def test_a_dataset_that_is_made_in_steps() -> None:
    steps = """\
        data = tf.data.TFRecordDataset(path)
        if path:
            data = data.shuffle(9)
        data = data.map(parse).batch(2)
        batch = data.make_one_shot_iterator().get_next()
        return batch, batch
        """
    parse = "def parse(row):\n    features = dict(x=row)\n    return features\n\n\n"
    assert "return data.map(transform)" in migrate(program(steps).replace("def read", f"{parse}def read"))
    for other in ("return features, row", "return unknown(row)"):
        source = program(steps).replace("def read", f"{parse.replace('return features', other)}def read")
        assert "tuple or a dict" in manual_reason(source)


@pytest.mark.parametrize(
    "made",
    [
        "tf.data.Dataset.from_tensor_slices((path, path)).batch(2)",
        "tf.data.Dataset.from_tensor_slices(path).batch(2)",
        "tf.data.Dataset.from_generator(lambda: path, (tf.float32, tf.float32))",
        "tf.data.TFRecordDataset(path).map(lambda row: (row, row))",
        "tf.data.TFRecordDataset(path).apply(pairs)",
        "make(path).batch(2)",
    ],
)
def test_a_batch_that_may_be_one_of_tuples_is_refused(made: str) -> None:
    source = program(f"data = {made}\nbatch = data.make_one_shot_iterator().get_next()\nreturn batch, None")
    assert "tuple or a dict" in manual_reason(source)


def test_what_is_returned_may_depend_on_the_mode() -> None:
    one(
        """
        data = D(path)
        batch = data.make_one_shot_iterator().get_next()
        if path == tf.estimator.ModeKeys.PREDICT:
            return batch
        labels = batch.pop("y")
        return batch, labels
        """,
        """
        data = D(path)

        def transform(batch):
            if path == ModeKeys.PREDICT:
                return batch
            labels = batch.pop("y")
            return batch, labels

        return data.map(transform)
        """,
    )


def test_a_dataset_that_is_mapped_gets_a_name() -> None:
    one(
        """
        a, b = tf.data.TFRecordDataset(path).map(parse).batch(2).make_one_shot_iterator().get_next()

        return {"x": a}, b
        """,
        """
        dataset = tf.data.TFRecordDataset(path).map(parse).batch(2)

        def transform(a, b):
            return {"x": a}, b

        return dataset.map(transform)
        """,
    )
    one(
        """
        dataset = D(path)
        batch = (dataset
                 .batch(2)
                 .make_one_shot_iterator()
                 .get_next())  # a dict
        return batch, batch["y"]
        """,
        """
        dataset = D(path)
        dataset = (dataset
                   .batch(2))

        def transform(batch):  # a dict
            return batch, batch["y"]

        return dataset.map(transform)
        """,
    )


def test_lambdas() -> None:
    source = MODEL + "estimator.train(lambda: data.make_one_shot_iterator().get_next(), steps=1)\n"
    assert "train(estimator, lambda: data, steps=1)" in migrate(source)


def test_nested_functions() -> None:
    text = migrate(
        program(
            """
            def input_fn():
                data = D(path)
                return data.make_one_shot_iterator().get_next()
            return input_fn
            """
        )
    )
    assert "        data = D(path)\n        return data\n    return input_fn\n" in text


def test_in_a_branch() -> None:
    text = migrate(
        program(
            """
            data = D(path)
            if path:
                features, labels = data.make_one_shot_iterator().get_next()
                return features, labels
            return data
            """
        )
    )
    assert "    if path:\n        return data\n    return data\n" in text


def test_get_next_of_other_objects_stays() -> None:
    text = migrate(program("queue = Q(path)\nreturn queue.get_next()"))
    assert "return queue.get_next()" in text


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            """
            iterator = D(path).make_one_shot_iterator()  # HERE
            return iterator.get_next(), iterator.get_next()
            """,
            "more than one get_next()",
        ),
        (
            """
            data = D(path)
            iterator = data.make_one_shot_iterator()  # HERE
            KEPT.append(iterator)
            return iterator.get_next()
            """,
            "more than one get_next()",
        ),
        (
            """
            data = D(path)
            batch = data.make_one_shot_iterator().get_next()  # HERE
            with tf.device("/cpu:0"):
                return batch
            """,
            "does not return right after",
        ),
        (
            """
            data = D(path)
            a, b = data.make_one_shot_iterator().get_next()  # HERE
            if a:
                return a
            return a, b
            """,
            "returns in more than one way",
        ),
        (
            """
            data = D(path)
            total = tf.reduce_sum(data.make_one_shot_iterator().get_next())  # HERE
            return total
            """,
            "inside an expression",
        ),
        (
            """
            data = D(path)
            (a, b), c = data.make_one_shot_iterator().get_next()  # HERE
            return {"a": a, "b": b}, c
            """,
            "unpacked in a way",
        ),
        (
            """
            data = D(path)
            it = data.make_one_shot_iterator()
            return [it.get_next() for _ in range(2)]
            """,
            "inside an expression",
        ),
    ],
)
def test_left_alone(body: str, reason: str) -> None:
    assert reason in manual_reason(program(body))


def test_outside_of_a_function() -> None:
    source = MODEL + "batch = D(1).make_one_shot_iterator().get_next()  # HERE\n"
    assert "outside of a function" in manual_reason(source)


COLLECT = "tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)"


@pytest.mark.parametrize("made", ["data.make_initializable_iterator()", "tf.data.make_initializable_iterator(data)"])
def test_an_iterator_that_is_initialized_with_the_tables(made: str) -> None:
    one(
        f"""
        data = tf.data.TFRecordDataset(path).batch(2)
        iterator = {made}
        {COLLECT}
        features, labels = iterator.get_next()
        features["y"] = labels
        return features, labels
        """,
        """
        data = tf.data.TFRecordDataset(path).batch(2)

        def transform(features, labels):
            features["y"] = labels
            return features, labels

        return data.map(transform)
        """,
    )


def test_an_initializer_that_is_collected_last() -> None:
    one(
        f"""
        data = tf.data.TFRecordDataset(path).batch(2)
        iterator = data.make_initializable_iterator()
        features, labels = iterator.get_next()
        {COLLECT}
        return features, labels
        """,
        """
        data = tf.data.TFRecordDataset(path).batch(2)
        return data
        """,
    )


@pytest.mark.parametrize(
    "statement",
    [
        "pass",
        "hook.initializer = iterator.initializer",
        "tf.add_to_collection(tf.GraphKeys.LOCAL_VARIABLES, iterator.initializer)",
        "session.run(iterator.initializer)",
        "tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, value=iterator.initializer)",
    ],
)
def test_another_initialization_is_refused(statement: str) -> None:
    body = f"""
        data = tf.data.TFRecordDataset(path)
        iterator = data.make_initializable_iterator()
        {statement}
        return iterator.get_next()
        """
    assert "an initializable iterator is not migrated yet" in manual_reason(program(body))


@pytest.mark.parametrize(
    ("made", "kept"),
    [
        ("data.make_one_shot_iterator()", "tf.compat.v1.data.make_one_shot_iterator(data)"),
        ("tf.data.make_one_shot_iterator(data)", "tf.compat.v1.data.make_one_shot_iterator(data)"),
        ("data.make_initializable_iterator()", "tf.compat.v1.data.make_initializable_iterator(data)"),
    ],
)
def test_what_nothing_calls_keeps_its_iterator(made: str, kept: str) -> None:
    debug = f"""

def debug(path):
    data = tf.data.TFRecordDataset(path)
    batch = {made}.get_next()
    with tf.Graph().as_default(), tf.Session() as session:
        print(session.run(batch))
"""
    text = migrate(MODEL + debug)
    assert f"    batch = {kept}.get_next()\n" in text
    assert "inside an expression" not in text and manual_reason(f"{MODEL}{debug}\n\ndebug('data')\n")


def test_lists_of_tensors_are_tuples_of_which_datasets_make_no_tensor() -> None:
    body = """
        it = tf.data.TFRecordDataset(path).map(parse).make_one_shot_iterator()
        x, y = it.get_next()
        if SINGLE:
            return [x], [y]
        xs = [x, 2 * x]
        return xs, [each for each in (y, y)]
    """
    made = method(migrate(program(body)), "read")
    assert "return (x,), (y,)" in made and "return tuple(xs), tuple([each for each in (y, y)])" in made
