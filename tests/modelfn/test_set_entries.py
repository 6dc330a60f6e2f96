import pytest
from programs import LOSS, SPEC, TRAIN_OP, joined, manual_reason, method, migrate, model_fn

DENSE = "predictions = tf.layers.dense(features['x'], params['units'])"


def built(text: str) -> str:
    return joined(method(text, "__init__"))


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("params['units'] = 3", "units = 3\n"),
        ("params = dict(params)\nparams['units'] = 3", "units = 3\n"),
        ("params['units'] = params['units'] * 2", "units = params['units'] * 2\n"),
        ("params['units'] += 1", 'units = params["units"]\n    units += 1\n'),
        ("params.update(units=3)", "units = 3\n"),
        ("params.update({'units': 3})", "units = 3\n"),
        ("params.setdefault('units', 3)", "units = params.get('units', 3)\n"),
        ("if 'units' not in params:\n    params['units'] = 3", "units = params.get('units', 3)\n"),
        ("n = 3\nparams['units'] = n", "tf.keras.layers.Dense(n)\n"),
        (
            "if params['deep']:\n    params['units'] = 3",
            "self.units = params[\"units\"]\n    if params['deep']:\n        self.units = 3\n",
        ),
        ("params['units'] = 3\nparams['units'] = params['units'] + 1", "units = 3\n    units = units + 1\n"),
        ("print(params)\nparams['units'] = 3", "units = 3\n"),
        ("params.units = params.units * 2", "units = params.units * 2\n"),
        ("params.units += 1", "units = params.units\n    units += 1\n"),
    ],
)
def test_an_entry_that_is_set_becomes_a_variable(line: str, made: str) -> None:
    dense = DENSE.replace("['units']", ".units") if "params.units" in line else DENSE
    text = built(migrate(model_fn(f"{line}\n{dense}")))
    assert made in text and "params['units'] =" not in text and "params.units =" not in text


@pytest.mark.parametrize(
    ("call", "read"), [("pop('units')", "params['units']"), ("pop('units', 3)", "params.get('units', 3)")]
)
def test_an_entry_that_is_taken_out(call: str, read: str) -> None:
    body = f"units = params.{call}\nx = features['x']\npredictions = tf.layers.dense(x, units + params['more'])"
    assert f"units = {read}\n" in built(migrate(model_fn(body)))


@pytest.mark.parametrize(
    "body",
    [
        "units = params.pop('units')\npredictions = tf.layers.dense(features['x'], units + len(params))",
        "units = params.pop('units')\npredictions = tf.layers.dense(features['x'], units + params.get('units', 1))",
        "units = params.pop(name)\npredictions = tf.layers.dense(features['x'], units)",
        "params.units = 3\nshow(params)\npredictions = tf.layers.dense(features['x'], params.units)",
    ],
)
def test_what_is_taken_out_and_may_be_missed(body: str) -> None:
    assert manual_reason(model_fn(body))


@pytest.mark.parametrize(
    ("line", "made"),
    [
        ("params['sizes'].append(3)", "sizes = [*params['sizes'], 3]\n"),
        ("params['sizes'].insert(0, 3)", "sizes = [3, *params['sizes']]\n"),
        ("params['sizes'].extend([3, 4])", "sizes = [*params['sizes'], *[3, 4]]\n"),
    ],
)
def test_a_list_in_the_params_that_grows(line: str, made: str) -> None:
    body = f"{line}\nx = features['x']\nfor s in params['sizes']:\n    x = tf.layers.dense(x, s)\npredictions = x"
    assert made in built(migrate(model_fn(body)))


def test_a_key_that_is_a_name_already() -> None:
    body = "units = features['x']\nparams['units'] = 3\npredictions = tf.layers.dense(units, params['units'])"
    assert "params_units = 3\n" in built(migrate(model_fn(body)))


def test_an_argument_of_a_helper_that_becomes_a_part_of_the_model_fn() -> None:
    helper = "\n\ndef score(labels, classes, units):\n    return tf.metrics.mean_iou(labels, classes, units)\n"
    body = f"params['units'] = len(features) + 1\n{DENSE}"
    end = f"{LOSS}\n{TRAIN_OP}\n{SPEC}".replace(
        "train_op=train_op)", "train_op=train_op, eval_metric_ops={'iou': score(labels, predictions, params['units'])})"
    )
    init = built(migrate(model_fn(body.replace("len(features)", "len('abc')"), end=end, before=helper)))
    assert "units = len('abc') + 1\n" in init and "Dense(units)" in init and "MeanIoU(units, " in init


def test_what_trains_reads_other_entries_of_the_params() -> None:
    train = TRAIN_OP.replace("0.1", "params['rate']")
    text = migrate(model_fn(f"params['units'] = 3\n{DENSE}", end=f"{LOSS}\n{train}\n{SPEC}"))
    assert "units = 3\n" in built(text) and "SGD(params['rate'])" in text


def test_a_helper_is_given_the_entry_in_the_params() -> None:
    helper = "\n\ndef net(x, params):\n    x = tf.layers.dense(x, params['units'])\n    return tf.layers.dense(x, params['b'])\n"
    body = "params['units'] = len(open('tags').read())\npredictions = net(features['x'], params)"
    text = joined(migrate(model_fn(body, before=helper)))
    assert "Net(params, units=units)" in text and "Dense(units)" in text


@pytest.mark.parametrize(
    "line",
    [
        "for n in range(3):\n    params['units'] = n",
        "while params['units'] > 3:\n    params['units'] = params['units'] - 1",
        "shown = params\nparams['units'] = 3",
        "keep(params)\nparams['units'] = 3",
        "params['units'] = 3\ntf.identity('units' in params)",
        "params['net']['units'] = 3",
        "params['sizes'].sort()\nparams['sizes'][0] = 3",
        "if params['deep']:\n    params = dict(params)\nparams['units'] = 3",
        "del params['units']",
        "params[params['key']] = 3",
        "params['sizes'].append(params['sizes'][0])",
    ],
)
def test_left_alone(line: str) -> None:
    with pytest.raises(AssertionError):
        migrate(model_fn(f"{line}\n{DENSE}"))


def test_an_entry_that_only_a_condition_sets_may_be_missing() -> None:
    body = "if features is None:\n    params['units'] = 3\n    x = params['units']\npredictions = features['x'] * 2"
    with pytest.raises(AssertionError):
        migrate(model_fn(body))


@pytest.mark.parametrize(
    "after",
    [
        "import functools\n\nestimator = tf.estimator.Estimator(functools.partial(model_fn, params=PARAMS))\n",
        "def other(features, labels, mode):\n    return model_fn(features, labels, mode, PARAMS)\n\n\n"
        "estimator = tf.estimator.Estimator(other)\n",
    ],
)
def test_params_that_no_estimator_copies(after: str) -> None:
    source = model_fn(f"params['units'] = 3\n{DENSE}", before="PARAMS = {'units': 2}", after=after)
    assert "is changed" in manual_reason(source)


HELPER = """

def net(x, sizes, n):
    sizes.insert(0, n)
    for i in range(1, len(sizes)):
        x = tf.layers.dense(x, sizes[i] * sizes[i - 1])
    return x
"""


def test_a_list_of_the_params_that_a_helper_changes() -> None:
    text = migrate(model_fn("predictions = net(features['x'], params['sizes'], 3)", before=HELPER))
    assert "own_sizes = [n, *sizes]\n" in text and "insert" not in text


def test_a_list_that_is_made_for_the_helper() -> None:
    text = migrate(model_fn("predictions = net(features['x'], [3, 4], 3)", before=HELPER))
    assert "own_sizes = [n, *sizes]\n" in text


def test_a_change_that_is_no_statement_of_its_own_is_made_in_a_copy() -> None:
    helper = HELPER.replace("    sizes.insert(0, n)\n", "    while len(sizes) < 4:\n        sizes.append(n)\n")
    text = migrate(model_fn("predictions = net(features['x'], params['sizes'], 3)", before=helper))
    assert "own_sizes = list(sizes)\n" in text


def test_an_entry_of_what_may_be_a_list_or_a_dict_is_left_alone() -> None:
    helper = HELPER.replace("sizes.insert(0, n)", "sizes[0] = n")
    assert "is changed" in manual_reason(
        model_fn("predictions = net(features['x'], params['sizes'], 3)", before=helper)
    )


@pytest.mark.parametrize(
    "body",
    [
        "y = net(features['x'], params['sizes'], 3)\npredictions = net(y, params['sizes'], 3)",
        "y = net(features['x'], params['sizes'], 3)\npredictions = y * len(params['sizes'])",
        "y = net(features['x'], SIZES, 3)\npredictions = y",
        "y = features['x']\nfor _ in range(2):\n    y = net(y, params['sizes'], 3)\npredictions = y",
        "show(params)\npredictions = net(features['x'], params['sizes'], 3)",
    ],
)
def test_a_list_that_something_else_sees_is_left_alone(body: str) -> None:
    assert "is changed" in manual_reason(model_fn(body, before=f"SIZES = [2, 3]\n{HELPER}"))


def test_params_of_the_object_are_its_own() -> None:
    source = model_fn(f"params['units'] = 3\n{DENSE}").replace("params['units']", "self.params['units']")
    head, _, rest = source.partition("def model_fn(features, labels, mode, params):")
    inner = rest.partition("estimator =")[0].replace("\n", "\n    ").rstrip()
    text = (
        f"{head}class Net:\n    def __init__(self):\n        self.params = {{'units': 2}}\n\n"
        f"    def model_fn(self, features, labels, mode):{inner}\n\n\n"
        "net = Net()\nestimator = tf.estimator.Estimator(net.model_fn)\n"
    )
    assert "is changed" in manual_reason(text)
