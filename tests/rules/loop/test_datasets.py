"""What is seen of datasets."""

from __future__ import annotations

import ast
import importlib

import pytest

from migrator.resolve.module import Module
from migrator.resolve.project import Project

datasets = importlib.import_module("migrator.rules.loop.data.datasets")
values = importlib.import_module("migrator.rules.loop.values")
Data = datasets.Data
SOURCE = "tf.data.Dataset.from_tensor_slices(x)"


def data_of(body: str, call: str = "input_fn") -> object:
    """What the reader says of `call`, the last expression of a file."""
    module = Module("program.py", f"import tensorflow as tf\n\nx = load()\n{body}\n{call}\n")
    reader = datasets.Reader(Project({"program.py": module}))
    return reader.result(reader.value(module, module.tree.body[-1].value))


def of(expression: str) -> object:
    """What the reader says of an expression."""
    return data_of("", f"lambda: {expression}")


@pytest.mark.parametrize(
    "expression, expected",
    [
        (SOURCE, Data(True)),
        (f"{SOURCE}.shuffle(9).map(f).batch(4).prefetch(1)", Data(True)),
        (f"{SOURCE}.repeat()", Data(False)),
        (f"{SOURCE}.repeat(None)", Data(False)),
        (f"{SOURCE}.repeat(-1)", Data(False)),
        (f"{SOURCE}.repeat(count=3)", Data(True)),
        (f"{SOURCE}.repeat(FLAGS.epochs)", Data(None)),
        (f"{SOURCE}.repeat().take(3)", Data(True)),
        (f"{SOURCE}.repeat().take(n)", Data(None)),
        (f"{SOURCE}.skip(3)", Data(True)),
        (f"{SOURCE}.skip(n).batch(2)", Data(True, skipped=True)),
        (f"{SOURCE}.filter(f)", Data(True, counted=False)),
        (f"{SOURCE}.filter(f).repeat()", Data(False)),
        (f"{SOURCE}.repeat().filter(f)", Data(False, counted=False)),
        (f"{SOURCE}.padded_batch(2, [None])", Data(True, even=False)),
        ("tf.data.TFRecordDataset(x)", Data(True, counted=False)),
        ("tf.data.Dataset.from_generator(f, tf.int32)", Data(None, counted=False, even=False, fixed=False)),
        (f"tf.data.Dataset.zip(({SOURCE}, {SOURCE}.repeat()))", Data(True)),
        (f"{SOURCE}.apply(tf.data.experimental.shuffle_and_repeat(10))", Data(False)),
        (f"{SOURCE}.apply(tf.data.experimental.shuffle_and_repeat(10, 2))", Data(True)),
        (f"{SOURCE}.apply(tf.contrib.data.batch_and_drop_remainder(4))", Data(True)),
        (f"{SOURCE}.repeat().apply(tf.data.experimental.unique())", Data(False, counted=False)),
        (
            f"{SOURCE}.apply(tf.data.experimental.bucket_by_sequence_length(f, [4], [2, 2]))",
            Data(True, counted=False, even=False),
        ),
        (f"{SOURCE}.bucket_by_sequence_length(f, [4], [2, 2])", Data(True, counted=False, even=False)),
        ("tf.data.experimental.CsvDataset(x, [tf.int32])", Data(True, counted=False)),
        ("tf.data.experimental.Counter()", Data(False)),
        (f"{SOURCE}.repeat() if training else {SOURCE}", Data(None)),
        (f"{SOURCE}.repeat() if True else {SOURCE}", Data(False)),
        (f"{SOURCE}.make_one_shot_iterator().get_next()", Data(True)),
        (f"{SOURCE}.apply(f)", None),
        (f"{SOURCE}.unknown()", None),
        ("load()", None),
        ("(x, x)", None),
    ],
)
def test_expressions(expression: str, expected: object) -> None:
    assert of(expression) == expected


MAKER = f"""
def make_input_fn(training, epochs=None):
    def input_fn():
        dataset = {SOURCE}
        if training:
            dataset = dataset.shuffle(10).repeat(epochs)
        return dataset.batch(4)

    return input_fn
"""


@pytest.mark.parametrize(
    "call, expected",
    [
        ("make_input_fn(True)", Data(False)),
        ("make_input_fn(training=True, epochs=2)", Data(True)),
        ("make_input_fn(False)", Data(True)),
        ("make_input_fn(x is None)", Data(None)),
        ("lambda: make_input_fn(True, 3)()", Data(True)),
    ],
)
def test_functions_are_read_with_their_arguments(call: str, expected: object) -> None:
    assert data_of(MAKER, call) == expected


@pytest.mark.parametrize(
    "body",
    [
        f"def input_fn():\n    for d in x:\n        dataset = {SOURCE}\n    return dataset",
        f"def input_fn():\n    dataset = {SOURCE}\n    while x:\n        dataset = dataset.repeat()\n    return dataset",
        f"def input_fn():\n    if x:\n        return {SOURCE}\n    return x",
        "def input_fn():\n    return input_fn()",
        f"@cached\ndef input_fn():\n    return {SOURCE}",
    ],
)
def test_what_is_not_seen(body: str) -> None:
    assert data_of(body) is None


def test_a_batch_of_an_iterator_stands_for_its_dataset() -> None:
    body = f"def input_fn():\n    i = {SOURCE}.make_one_shot_iterator()\n    a, b = i.get_next()\n    return a / 2, b"
    assert data_of(body) == Data(True)


def test_partial() -> None:
    body = f"import functools\ndef read(epochs, size):\n    return {SOURCE}.repeat(epochs).batch(size)"
    assert data_of(body, "functools.partial(read, None, size=3)") == Data(False)


@pytest.mark.parametrize("epochs, ends", [("", True), (", num_epochs=None", False), (", num_epochs=n", None)])
def test_arrays(epochs: str, ends: bool | None) -> None:
    assert data_of("", f"tf.estimator.inputs.numpy_input_fn(x{epochs}, shuffle=True)") == Data(ends)


@pytest.mark.parametrize("family", ["tf.data.experimental", "tf.contrib.data"])
@pytest.mark.parametrize("epochs, ends", [("", False), (", None, None, None, 2", True), (", num_epochs=n", None)])
def test_files_that_are_read_again(family: str, epochs: str, ends: bool | None) -> None:
    expected = Data(ends, counted=ends is False)
    assert of(f"{family}.make_batched_features_dataset(x, 8, spec{epochs})") == expected


def test_what_an_object_is_for_its_own_method_is_not_seen() -> None:
    text = (
        "import functools\nimport tensorflow as tf\n\n\ndef data_for(owner, count):\n"
        "    return tf.data.Dataset.from_tensor_slices(owner.rows).take(count)\n\n\n"
        "class Runner:\n    def __init__(self):\n        self.go(functools.partial(data_for, self, 8))\n\n\nRunner()\n"
    )
    module = Module("program.py", text)
    call = next(node for node in module.nodes(ast.Call) if module.segment(node.func) == "functools.partial")
    assert values.given_to(Project({"program.py": module}), module, call.args[1]) == []


@pytest.mark.parametrize(
    ("owner", "ends"),
    [
        ("args = parser.parse_args()", True),
        ("args, rest = parser.parse_known_args()", True),
        ("def parsed():\n    return parser.parse_args()\nargs = parsed()", True),
        ("args = Plan()", None),
        ("args = parser.parse_args()\nargs.epochs = None", None),
        ("for args in plans:\n    pass", None),
    ],
)
def test_an_option_that_is_a_number(owner: str, ends: bool | None) -> None:
    body = f"parser.add_argument('--epochs', type=int, default=3)\n{owner}"
    assert data_of(body, f"lambda: {SOURCE}.repeat(args.epochs)") == Data(ends)


READER = """
class Reader:
    def __init__(self, path):
        self.path = path

    def rows(self, training):
        return SOURCE.repeat() if training else self.source()

    def source(self):
        return SOURCE

    @staticmethod
    def fixed():
        return SOURCE

    @classmethod
    def made(cls):
        return SOURCE

    @property
    def shown(self):
        return lambda: SOURCE


class Owner:
    def __init__(self):
        self.reader = Reader("a")

    def rows(self):
        return self.reader.rows(True)


reader = Reader("a")
owner = Owner()
""".replace("SOURCE", SOURCE)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("lambda: reader.rows(True)", Data(False)),
        ("lambda: reader.rows(False)", Data(True)),
        ("reader.source", Data(True)),
        ("Reader('b').source", Data(True)),
        ("Reader.fixed", Data(True)),
        ("Reader.made", Data(True)),
        ("owner.rows", Data(False)),
        ("reader.shown", Data(True)),
        ("lambda: Reader.rows(reader, True)", None),
        ("reader.unknown", None),
        ("unknown.rows", None),
    ],
)
def test_methods_of_objects(call: str, expected: object) -> None:
    assert data_of(READER, call) == expected


@pytest.mark.parametrize(
    "more",
    [
        "class Other(Reader):\n    def source(self):\n        return load()\n",
        "owner.reader = None\nreader = load()\n",
        "def use(reader):\n    pass\nfor reader in load():\n    pass\n",
    ],
)
def test_methods_that_may_be_others(more: str) -> None:
    assert data_of(READER + more.replace("SOURCE", SOURCE), "reader.source") is None


FAMILY = """
import abc

class Trainer(abc.ABC):
    @abc.abstractmethod
    def made(self):
        pass

    def run(self):
        self.fit(self.source, self.made, self.either)

class First(Trainer):
    def source(self):
        return SOURCE

    def made(self):
        return SOURCE.repeat()

    def either(self):
        return SOURCE.repeat()

class Second(First):
    def either(self):
        return SOURCE
""".replace("SOURCE", SOURCE)


@pytest.mark.parametrize(("name", "expected"), [("source", Data(True)), ("made", Data(False)), ("either", Data(None))])
def test_methods_of_classes_below(name: str, expected: object) -> None:
    module = Module("a.py", f"import tensorflow as tf\n{FAMILY}")
    project = Project({"a.py": module})
    node = next(n for n in module.nodes(ast.Attribute) if n.attr == name and ast.unparse(n) == f"self.{name}")
    reader = datasets.Reader(project)
    assert reader.result(reader.value(module, node)) == expected


HANDED_ON = """
import functools

def input_fn(path, epochs=None, shuffle=False):
    return tf.data.Dataset.from_tensor_slices(path).repeat(epochs)

"""


@pytest.mark.parametrize(
    "make, call, expected",
    [
        ("def make(path, **kw):\n    return functools.partial(input_fn, path, **kw)", "make(x, epochs=1)", Data(True)),
        (
            "def make(path, **kw):\n    return functools.partial(input_fn, path, **kw)",
            "make(x, shuffle=True)",
            Data(False),
        ),
        ("def make(*given, **kw):\n    return lambda: input_fn(*given, **kw)", "make(x, 2)", Data(True)),
        ("def make(*given):\n    return lambda: input_fn(x, *given)", "make()", Data(False)),
        ("def make(**kw):\n    return lambda: input_fn(x, **kw)", "make(**dict(epochs=1))", None),
        ("def make(**kw):\n    kw.pop('epochs')\n    return lambda: input_fn(x, **kw)", "make(epochs=1)", None),
        ("def make(**kw):\n    kw = {}\n    return lambda: input_fn(x, **kw)", "make(epochs=1)", None),
        ("def make(*given):\n    return lambda: input_fn(given[0])", "make(x)", None),
        ("def make(**kw):\n    change(kw)\n    return lambda: input_fn(x, **kw)", "make(epochs=1)", None),
    ],
)
def test_arguments_that_are_handed_on(make: str, call: str, expected: object) -> None:
    assert data_of(HANDED_ON + make, call) == expected


PAIR = f"""
def make(epochs):
    return lambda: {SOURCE}.repeat(epochs), lambda: {SOURCE}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("first, second = make(None)", Data(False)),
        ("first, second = make(2)", Data(True)),
        ("second, first = make(None)", Data(True)),
        ("(first, second), third = make(None), x", None),
        ("first, *second = make(None)", None),
        ("first, second, third = make(None)", None),
        ("first, second = make(None)\nfirst = load()", None),
        ("[first, second] = load()", None),
    ],
)
def test_functions_of_a_pair(body: str, expected: object) -> None:
    assert data_of(PAIR + body, "first") == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("", Data(True)),
        ("print(P['rows'])", Data(True)),
        ("P['epochs'] = None", Data(None)),
        ("P.update(x)", Data(None)),
        ("change(P)", Data(None)),
    ],
)
def test_entries_of_dicts(body: str, expected: object) -> None:
    call = f"lambda: {SOURCE}.repeat(P['epochs'])"
    assert data_of(f"P = {{'epochs': 3, 'rows': 9}}\n{body}", call) == expected


@pytest.mark.parametrize(
    "table", ["{**x, 'epochs': 3}", "{'epochs': 3, x: None}", "{'epochs': None, 'epochs': 3}", "x"]
)
def test_dicts_that_are_not_written_out(table: str) -> None:
    assert data_of(f"P = {table}", f"lambda: {SOURCE}.repeat(P['epochs'])") == Data(None)
