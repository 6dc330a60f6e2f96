"""A RunConfig that a function is given."""

from __future__ import annotations

import pytest
from desugared import ESTIMATOR, MODEL, TRAIN, below, plain
from modelfn.programs import HELPERS, joined, migrate, run

BUILD = """def build({parameters}):
    return tf.estimator.Estimator(model_fn, params={{"units": 1}}, config=config)


"""
MAIN = """def main(folder):
    config = tf.estimator.RunConfig({fields})
    estimator = build({given})
    {train}

main(load())
"""


def program(fields: str, parameters: str = "config", given: str = "config", more: str = "") -> str:
    return MODEL + BUILD.format(parameters=parameters) + MAIN.format(fields=fields, given=given, train=TRAIN + more)


def test_its_fields_are_given_instead() -> None:
    text = below(program("folder + '/a', keep_checkpoint_max=2, save_checkpoints_steps=5"))
    assert text.startswith('def build(model_dir):\n    model = create_model(params={"units": 1})\n')
    assert "CheckpointManager(checkpoint, model_dir, max_to_keep=2" in text
    assert "    estimator = build(folder + '/a')\n" in text and "(batch + 1) % 5 == 0" in text


@pytest.mark.parametrize(
    ("parameters", "given", "function", "call"),
    [
        ("config, size", "config, 3", "def build(size):", "build(3)"),
        ("size, config", "3, config=config", "def build(size):", "build(3)"),
        ("config", "config=config", "def build():", "build()"),
    ],
)
def test_what_is_the_same_everywhere_is_no_parameter(parameters: str, given: str, function: str, call: str) -> None:
    text = below(program("tf_random_seed=3, model_dir='here'", parameters, given))
    assert function in text and f"estimator = {call}\n" in text and "model_dir" not in text and "'here'" in text


@pytest.mark.parametrize(
    ("fields", "more"),
    [("folder", "    print(config)\n"), ("folder", "    build(config)\n"), ("**folder", "")],
)
def test_one_that_is_used_for_more_stays(fields: str, more: str) -> None:
    source = program(fields, more=more)
    assert "def build(config):" in (migrate(source) if "**" not in fields else source)


@pytest.mark.parametrize(
    ("parameters", "given", "function", "call"),
    [
        ("config=None", "config", "def build(model_dir):", "build(model_dir=folder)"),
        ("config: 'RunConfig'", "config", "def build(model_dir):", "build(model_dir=folder)"),
        ("config, size=2", "config, 3", "def build(size=2, *, model_dir):", "build(3, model_dir=folder)"),
        ("size=2, config=None", "config=config", "def build(size=2, *, model_dir):", "build(model_dir=folder)"),
        ("*, config, size=2", "config=config", "def build(*, size=2, model_dir):", "build(model_dir=folder)"),
    ],
)
def test_other_parameters_have_defaults(parameters: str, given: str, function: str, call: str) -> None:
    text = below(program("folder", parameters, given))
    assert function in text and f"estimator = {call}\n" in text


def test_the_function_reads_fields() -> None:
    build = BUILD.format(parameters="config").replace("return", "print(config.model_dir)\n    return")
    text = plain(MODEL + build + MAIN.format(fields="folder, 3", given="config", train=TRAIN))
    assert "def build(model_dir):\n    print(model_dir)\n    tf.keras.utils.set_random_seed(3)\n" in text
    for read in ("config.save_summary_steps", "config", "config.replace(model_dir='b')"):
        stays = build.replace("print(config.model_dir)", f"print({read})")
        assert "def build(config):" in migrate(
            MODEL + stays + MAIN.format(fields="folder", given="config", train=TRAIN)
        )


def test_one_of_several_estimators() -> None:
    first = 'if size:\n        return tf.estimator.Estimator(model_fn, params={"units": 2}, config=config)\n    return'
    build = BUILD.format(parameters="config, size").replace("return", first)
    text = plain(MODEL + build + MAIN.format(fields="folder + 'a'", given="config, 3", train=TRAIN))
    assert "def build(model_dir, size):" in text and text.count("CheckpointManager(checkpoint, model_dir, ") == 2


@pytest.mark.parametrize("parameters", ["config, *others", "config, **others"])
def test_parameters_behind_stars_stay(parameters: str) -> None:
    assert f"def build({parameters}):" in migrate(program("folder", parameters))


def test_a_configuration_that_another_file_has_stays() -> None:
    main = 'config = tf.estimator.RunConfig("here")\nestimator = build(config)\n'
    files = {
        "program.py": MODEL + BUILD.format(parameters="config") + main + TRAIN,
        "other.py": "from program import config\n\nprint(config.model_dir)\n",
    }
    text = run(files)["program.py"].after.decode()
    assert "\nconfig = " in text and "def build(config):" in text


def test_a_field_whose_name_is_something_else_in_the_function_is_given() -> None:
    main = 'size = load()\nestimator = build(tf.estimator.RunConfig("here", keep_checkpoint_max=size), 3)\n'
    text = below(MODEL + BUILD.format(parameters="config, size") + main + TRAIN)
    assert "def build(keep_checkpoint_max, size):" in text and "build(size, 3)" in text
    assert "max_to_keep=keep_checkpoint_max" in text


def test_a_configuration_with_comments_stays() -> None:
    main = 'estimator = build(\n    tf.estimator.RunConfig(\n        "here",  # of each night\n    )\n)\n'
    text = run(MODEL + BUILD.format(parameters="config") + main + TRAIN)["program.py"].after.decode()
    assert "# of each night" in text and "def build(config):" in text


def files(fields: str, more: str = "", build: str = BUILD.format(parameters="config")) -> dict[str, str]:
    """A program whose function that makes the Estimator stands in another file."""
    main = f"def main(folder):\n    config = tf.estimator.RunConfig({fields})\n{more}"
    main += "    estimator = model.build(config)\n    estimator.train(model.make_input_fn(8, None), steps=20)\n\n\nmain(load())\n"
    return {"model.py": MODEL + build, "task.py": f"import tensorflow as tf\n\nimport model\n\n\n{main}"}


def after(given: dict[str, str]) -> dict[str, str]:
    outcomes = run(given)
    return {path: joined(outcome.after.decode()) for path, outcome in outcomes.items()}


def test_a_function_of_another_file_is_given_the_fields() -> None:
    found = after(files("folder, save_checkpoints_steps=5, keep_checkpoint_max=2"))
    assert "def build(model_dir):" in found["model.py"] and "max_to_keep=2" in found["task.py"] + found["model.py"]
    assert "model.build(folder)" in found["task.py"] and "RunConfig" not in found["task.py"]
    assert HELPERS not in found


def test_names_of_the_file_that_makes_it_are_given() -> None:
    given = files("folder, save_checkpoints_steps=EVERY")
    found = after({**given, "task.py": given["task.py"].replace("import model\n", "import model\n\nEVERY = 5\n")})
    assert "def build(model_dir, save_checkpoints_steps):" in found["model.py"]
    assert "model.build(folder, EVERY)" in found["task.py"]


def test_what_else_reads_its_fields_reads_their_values() -> None:
    found = after(files("folder", "    print(config.model_dir)\n"))
    assert "    print(folder)\n" in found["task.py"] and "model.build(folder)" in found["task.py"]


@pytest.mark.parametrize(
    "more",
    [
        "    print(config)\n",
        "    config.folder = folder\n",
        "    print([config.model_dir for folder in (1, 2)])\n",
    ],
)
def test_a_configuration_that_is_read_otherwise_stays(more: str) -> None:
    found = after(files("folder", more))
    assert "def build(config):" in found["model.py"] and "model.build(config)" in found["task.py"]


def test_a_file_without_the_name_of_the_library_is_given_the_configuration() -> None:
    build = "Estimator = tf.estimator.Estimator\n\n\n" + BUILD.format(parameters="config")
    found = after(files("folder", build=build.replace("return tf.estimator.Estimator", "return Estimator")))
    assert "def build(config):" in found["model.py"]


def test_a_function_that_two_files_call_stays() -> None:
    given = files("folder")
    found = after({**given, "other.py": given["task.py"]})
    assert "def build(config):" in found["model.py"]


def test_a_model_fn_that_does_not_read_its_configuration() -> None:
    source = MODEL.replace("mode, params):", "mode, params, config):")
    assert plain(source + ESTIMATOR + TRAIN).endswith("model.fit(make_input_fn(8, None)().take(20))\n")
    source = source.replace("predictions = ", "print(config.model_dir)\n    predictions = ")
    assert HELPERS in run(source + ESTIMATOR + TRAIN)


def test_an_estimator_that_is_made_of_a_keras_model() -> None:
    made = """    net = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(1,))])
    net.compile("sgd", "mse")
    return tf.keras.estimator.model_to_estimator(net, config=config)


"""
    build = BUILD.format(parameters="config").partition("    return")[0] + made
    found = after(files("folder, save_checkpoints_steps=5", build=build))
    assert "def build(model_dir):" in found["model.py"] and "model.build(folder)" in found["task.py"]
