"""Functions that say what a SavedModel is fed, and compute features of placeholders: these become parameters."""

from __future__ import annotations

import pytest
from modelfn.programs import PATH, joined, run
from test_loop_exports import CSV, EXPORT, FOLDER, HEAD, MAIN, SERVE, archived, migrated


@pytest.mark.parametrize(("fed", "key"), [('{"csv_row": rows}', "csv_row"), ("rows", "input")])
def test_placeholders_of_features_that_are_computed_become_parameters(fed: str, key: str) -> None:
    text = joined(migrated(CSV.replace('{"csv_row": rows}', fed)))
    function = "def serving_input_fn(rows):\n    values = tf.io.decode_csv(rows, record_defaults=[[0.0]] * 5)\n"
    assert function in text and "    return features\n" in text
    made = '"serving_default", lambda rows: model.predict_step(serving_input_fn(rows)), '
    assert f'{made}input_signature=[tf.TensorSpec([None], tf.string, name="{key}")]' in text


def test_placeholders_in_a_dict_with_a_name_become_parameters() -> None:
    named = CSV.replace("    return tf.estimator", '    fed = {"csv_row": rows}\n    return tf.estimator')
    named = named.replace('{"csv_row": rows})', "fed)")
    assert migrated(named) == migrated(CSV)
    read = named.replace("    return tf.estimator", "    print(fed)\n    return tf.estimator")
    assert "ServingInputReceiver(features, fed)" in migrated(read)


TWICE = """\
def serving_input_fn():
    wide = tf.placeholder(tf.float32, [None, 3])
    deep = tf.placeholder(tf.float32, [None, 2])
    return tf.estimator.export.ServingInputReceiver({"wide": wide, "deep": deep}, {"wide": wide, "deep": deep})


"""
MAKER = """\
def make_serving_input_fn(size):
    def serving_input_fn():
        wide = tf.placeholder(tf.float32, [None, size])
        deep = tf.placeholder(tf.float32, [None, 2])
        return tf.estimator.export.ServingInputReceiver({"wide": wide, "deep": deep}, {"wide": wide, "deep": deep})
    return serving_input_fn


"""


def test_the_same_dict_written_twice() -> None:
    text = joined(migrated(TWICE))
    assert 'wide = tf.TensorSpec([None, 3], tf.float32, name="wide")\n' in text
    assert '    return {"wide": wide, "deep": deep}\n' in text and archived(FOLDER, SERVE) in text


def test_sizes_that_a_maker_is_given() -> None:
    text = joined(migrated(MAKER, EXPORT.replace("serving_input_fn)", "make_serving_input_fn(3))")))
    assert 'wide = tf.TensorSpec([None, size], tf.float32, name="wide")\n' in text
    assert archived(FOLDER, SERVE.replace("serving_input_fn()", "make_serving_input_fn(3)()")) in text


def test_one_placeholder_fed_by_two_names() -> None:
    twice = TWICE.replace('"deep": deep', '"deep": wide').replace(
        "    deep = tf.placeholder(tf.float32, [None, 2])\n", ""
    )
    assert "ServingInputReceiver(" in migrated(twice)


DICT = """\
def serving_input_fn():
    fed = {
        "wide": tf.placeholder(tf.float32, [None, 3]),
        "deep": tf.placeholder(tf.float32, shape=[None, 2]),
    }
    features = FEATURES
    return tf.estimator.export.ServingInputReceiver(features, fed)


"""
COMPREHENSION = """\
def serving_input_fn():
    fed = {
        name: tf.placeholder(tf.float32, [None, size]) for name, size in SIZES.items()
    }
    features = FEATURES
    return tf.estimator.export.ServingInputReceiver(features, fed)


"""


def test_features_by_another_name() -> None:
    text = joined(migrated(COMPREHENSION.replace("FEATURES", "fed")))
    assert "tf.TensorSpec([None, size], tf.float32, name=name) for name, size in SIZES.items()" in text
    assert "    return fed\n" in text and "features = fed" not in text
    assert archived(FOLDER, SERVE) in text


COMPUTED = [
    "{name: tf.squeeze(tf.expand_dims(tensor, -1), -1) for name, tensor in fed.items()}",
    '{"wide": fed["wide"] * 2.0, "deep": fed["deep"]}',
]
SPECS = '"wide": tf.TensorSpec([None, 3], tf.float32, name="wide"), "deep": tf.TensorSpec([None, 2], tf.float32, name="deep")'
LOOP = "name: tf.TensorSpec([None, size], tf.float32, name=name) for name, size in SIZES.items()"


@pytest.mark.parametrize("features", COMPUTED)
@pytest.mark.parametrize(("receiver", "spec"), [(DICT, SPECS), (COMPREHENSION, LOOP)])
def test_a_dict_of_placeholders_becomes_a_parameter(features: str, receiver: str, spec: str) -> None:
    text = joined(migrated(receiver.replace("FEATURES", features)))
    assert f"def serving_input_fn(fed):\n    features = {features}\n    return features\n" in text
    made = '"serving_default", lambda fed: model.predict_step(serving_input_fn(fed)), '
    assert f"{made}input_signature=[{{{spec}}}]" in text and "placeholder" not in text


FILLED = """\
def serving_input_fn():
    fed = {"wide": tf.placeholder(tf.float32, [None, 3])}
    for name in NAMES:
        fed[name] = tf.placeholder(tf.float32, [None, 2])
    features = {name: tf.squeeze(tf.expand_dims(tensor, -1), -1) for name, tensor in fed.items()}
    return tf.estimator.export.ServingInputReceiver(features, fed)


"""


def test_lines_that_a_backslash_continues() -> None:
    continued = COMPREHENSION.replace(" for name", " \\\n        for name").replace("FEATURES", COMPUTED[0])
    assert f"input_signature=[{{{LOOP}}}]" in joined(migrated(continued))


def test_a_dict_that_a_loop_fills_becomes_a_parameter() -> None:
    text = joined(migrated(FILLED))
    spec = '"wide": tf.TensorSpec([None, 3], tf.float32, name="wide"), '
    spec += "**{name: tf.TensorSpec([None, 2], tf.float32, name=name) for name in NAMES}"
    assert "def serving_input_fn(fed):\n    features = {" in text and f"input_signature=[{{{spec}}}]" in text


@pytest.mark.parametrize(
    ("loop", "other"),
    [
        ("for name in NAMES:", "for name in sorted(fed):"),
        ("    features =", "    else:\n        fed.clear()\n    features ="),
    ],
)
def test_loops_that_do_more_stay(loop: str, other: str) -> None:
    assert "ServingInputReceiver(features, fed)" in migrated(FILLED.replace(loop, other))


ENGINEERED = """\
def engineered(features):
    return dict(features, wide=features["wide"] * 2.0)


"""


@pytest.mark.parametrize("given", ["fed", "fed.copy()", "features=fed"])
def test_features_that_a_function_makes_of_placeholders(given: str) -> None:
    receiver = DICT.replace("    features = FEATURES\n", f"    features = engineered({given})\n")
    text = joined(migrated(ENGINEERED + receiver))
    assert f"def serving_input_fn(fed):\n    features = engineered({given})\n    return features\n" in text


CHANGING = "def engineered(features):\n    features['wide'] = features['wide'] * 2.0\n    return features\n\n\n"


@pytest.mark.parametrize("named", [True, False])
def test_a_function_that_changes_what_it_is_given_says_what_is_fed(named: bool) -> None:
    """What is fed takes the place of what the function computes, which is another tensor of that type."""
    receiver = DICT.replace("    features = FEATURES\n", "    features = engineered(fed)\n")
    if not named:
        receiver = receiver.replace("    features = engineered(fed)\n", "").replace(
            "(features, fed)", "(engineered(fed), fed)"
        )
    text = joined(migrated(CHANGING + receiver))
    lines = "    served = tf.function(lambda fed: engineered({**fed})).get_concrete_function(fed)\n    return {"
    spec = "name: tf.TensorSpec(spec.shape, spec.dtype, name=name) for name, spec in served.structured_outputs.items()"
    assert f"{lines}{spec}}}\n" in text and archived(FOLDER, SERVE) in text
    copied = migrated(CHANGING + receiver.replace("engineered(fed)", "engineered(fed.copy())"))
    assert "structured_outputs" not in copied and ".fit(" in copied


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return features\n\n\ndef", "return dict(features)\n\n\ndef"),
        ("    return features\n\n\ndef", "    features = dict(features)\n    return features\n\n\ndef"),
        ("return features\n\n\ndef", "if features:\n        return features\n\n\ndef"),
        ("def engineered", "@cached\ndef engineered"),
        ("engineered(features):", "engineered(features, more=None):\n    print(more)"),
        ("(features, fed)", "(features, dict(fed))"),
        ("engineered(fed)\n", "engineered(fed)\n    features['deep'] = features['deep'] + 1.0\n"),
    ],
)
def test_what_changes_a_dict_of_placeholders_in_another_way(old: str, new: str) -> None:
    receiver = CHANGING + DICT.replace("    features = FEATURES\n", "    features = engineered(fed)\n")
    assert receiver.count(old) == 1
    text = migrated(receiver.replace(old, new))
    assert "structured_outputs" not in text or "more=None" in new


KEY = '"key": tf.TensorSpec([None], tf.string, name="key")'


@pytest.mark.parametrize(
    ("receiver", "spec"), [(DICT, f"{{{SPECS}, {KEY}}}"), (COMPREHENSION, f"{{**{{{LOOP}}}, {KEY}}}")]
)
def test_placeholders_that_are_added_to_a_dict(receiver: str, spec: str) -> None:
    added = '    fed["key"] = tf.placeholder(tf.string, [None])\n    features = engineered(fed)\n'
    text = joined(migrated(ENGINEERED + receiver.replace("    features = FEATURES\n", added)))
    assert "def serving_input_fn(fed):\n    features = engineered(fed)\n    return features\n" in text
    assert f"input_signature=[{spec}]" in text


@pytest.mark.parametrize(
    ("given", "spec"),
    [
        ('{"key": tf.placeholder(tf.string, [None])}', KEY),
        (
            "{key: tf.placeholder(tf.string, [None]) for key in KEYS}",
            "**{key: tf.TensorSpec([None], tf.string, name=key) for key in KEYS}",
        ),
    ],
)
def test_placeholders_that_a_dict_is_updated_with(given: str, spec: str) -> None:
    added = f"    fed.update({given})\n    features = engineered(fed)\n"
    text = joined(migrated("KEYS = ['key']\n" + ENGINEERED + DICT.replace("    features = FEATURES\n", added)))
    assert "def serving_input_fn(fed):\n    features = engineered(fed)\n    return features\n" in text
    assert f"input_signature=[{{{SPECS}, {spec}}}]" in text


@pytest.mark.parametrize("default", ['tf.constant(["no key"])', '["no key"]', "tf.constant(NO, tf.string)"])
def test_an_input_with_a_default_has_to_be_fed(default: str) -> None:
    made = f"tf.placeholder_with_default({default}, [None])"
    receiver = DICT.replace("    }\n", f'        "key": {made},\n    }}\n').replace("FEATURES", COMPUTED[0])
    text = joined(migrated(receiver))
    assert '"key": tf.TensorSpec([None], tf.string, name="key")' in text
    outcomes = run(HEAD + receiver + MAIN + EXPORT)
    assert "has to be fed all of its inputs" in str([d.message for o in outcomes.values() for d in o.remaining])


def test_an_input_with_a_default_in_a_function_of_another_file() -> None:
    made = "tf.placeholder_with_default(['no key'], [None])"
    receiver = DICT.replace("    }\n", f'        "key": {made},\n    }}\n').replace("FEATURES", COMPUTED[1])
    program = HEAD.replace("import tensorflow as tf\n", "import tensorflow as tf\nimport serving\n")
    export = EXPORT.replace("serving_input_fn", "serving.serving_input_fn")
    outcomes = run({PATH: program + MAIN + export, "serving.py": f"import tensorflow as tf\n\n\n{receiver}"})
    said = [d for o in outcomes.values() for d in o.remaining if "has to be fed all of its inputs" in d.message]
    assert [d.location.path for d in said] == [PATH]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "    features = FEATURES\n",
            "    features = FEATURES\n    fed['more'] = features['wide']\n",
        ),  # fed is another dict then
        ("    features = FEATURES\n", "    features = FEATURES\n    change(fed)\n"),
        ("tf.placeholder(tf.float32, [None, 3])", "tf.placeholder_with_default([[0.0] * 3], [None, 3])"),
    ],
)
def test_dicts_of_placeholders_that_stay(old: str, new: str) -> None:
    text = migrated(DICT.replace(old, new).replace("FEATURES", COMPUTED[0]))
    assert ".fit(" not in text and "ServingInputReceiver(" in text


PARSE = """\
def parse(rows):
    values = tf.decode_csv(rows, [[0.0]] * 5)
    {made}
    return {returned}


"""


@pytest.mark.parametrize(
    "made, returned, is_dict",
    [
        ('features = {"x": tf.stack(values, 1)}', "features, None", True),
        ("features = tf.parse_example(rows, SPEC)", "features, features.pop('y')", True),
        ("features = load(values)", "features, None", False),
        ('features = {"x": tf.stack(values, 1)}', "None, features", False),
        ('features = {"x": tf.stack(values, 1)}', "features", False),
    ],
)
def test_features_of_a_function_that_parses_training_data(made: str, returned: str, is_dict: bool) -> None:
    serving = """\
def serving_input_fn():
    rows = tf.placeholder(tf.string, [None], name="rows")
    features, _ = parse(rows)
    return tf.estimator.export.ServingInputReceiver(features, {"rows": rows})


"""
    text = migrated(PARSE.format(made=made, returned=returned) + serving)
    assert (".fit(" in text) is is_dict
    assert ("def serving_input_fn(rows):\n    features, _ = parse(rows)\n" in text) is is_dict
