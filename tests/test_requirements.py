"""Notes on files that ask for TensorFlow 1, next to programs that leave it."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrator.cli.targets import misfits
from migrator.discover.installations import requirements
from migrator.engine.runner import run
from migrator.vocabulary.settings import Settings

PROGRAM = """\
import tensorflow as tf

def input_fn():
    return tf.data.Dataset.from_tensor_slices(({"x": [[1.0]]}, [[1.0]])).batch(1)

columns = [tf.feature_column.numeric_column("x")]
estimator = tf.estimator.LinearRegressor(columns)
estimator.train(input_fn, steps=1)
"""


@pytest.mark.parametrize(
    "line",
    [
        "tensorflow==1.15.0",
        "tensorflow-gpu>=1.12,<2",
        "tensorflow[and-cuda]~=1.14",
        '    install_requires=["tensorflow<2.0", "six"],',
        'tensorflow = "^1.15"',
        'tensorflow-gpu = "==1.13.1"',
        "  - tensorflow=1.15",
        "FROM tensorflow/tensorflow:1.15.5-gpu-py3",
        "from gcr.io/mirror/tensorflow/tensorflow:1.12.0",
        "RUN pip install --no-cache-dir tensorflow==1.15 pandas",
    ],
)
def test_lines_that_ask_for_tensorflow_1(line: str) -> None:
    [(number, message)] = requirements(f"# first\n{line}\n")
    assert number == 2 and "this asks for TensorFlow 1" in message


def test_there_is_no_package_of_this_name_any_more() -> None:
    assert [message for _, message in requirements("tensorflow-gpu\n")] == [
        "there is no tensorflow-gpu any more: install tensorflow, which uses GPUs"
    ]


@pytest.mark.parametrize(
    "line",
    [
        "tensorflow",
        "tensorflow>=1.12",
        "tensorflow==2.15.1",
        "tensorflow>=2,<3",
        "tensorflow-probability==0.8",
        "my-tensorflow==1.0",
        "tensorflow_hub==1.0",
        "# tensorflow==1.15",
        "numpy==1.19  # for tensorflow==1.15",
        'tensorflow = "^2.15"',
        "FROM tensorflow/tensorflow:2.15.0",
        "FROM tensorflow/serving:1.15.0",
    ],
)
def test_lines_that_do_not(line: str) -> None:
    assert not list(requirements(line))


def test_notes_beside_a_program_that_migrates(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "requirements-dev.txt").write_text("numpy\ntensorflow==1.15\n")
    (tmp_path / "setup.py").write_text("import setuptools\nsetuptools.setup(install_requires=['tensorflow<2'])\n")
    (tmp_path / "notes.txt").write_text("tensorflow==1.15\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "requirements.txt").write_text("tensorflow==1.15\n")
    noted = {
        (Path(outcome.path).name, note.location.line)
        for outcome in run([str(tmp_path)], Settings())
        for note in outcome.remaining
        if note.code == "E015"
    }
    assert noted == {("requirements-dev.txt", 2), ("setup.py", 2)}
    assert not any(
        outcome.path.endswith((".txt", "setup.py"))
        for outcome in run([str(tmp_path)], Settings(exclude=("*.txt", "setup.py")))
    )


def test_nothing_is_said_where_nothing_migrates(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import tensorflow as tf\nprint(tf.__version__)\n")
    (tmp_path / "requirements.txt").write_text("tensorflow==1.15\n")
    (tmp_path / "broken.cfg").write_bytes(b"\xff\xfe")
    assert [outcome.path for outcome in run([str(tmp_path)], Settings())] == [str(tmp_path / "program.py")]


def test_a_file_that_is_no_text_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "requirements.txt").write_bytes(b"\xff\xfetensorflow==1.15")
    assert not any(outcome.path.endswith(".txt") for outcome in run([str(tmp_path)], Settings()))


LETS_IN, TOO_NEW, TOO_OLD, NO_KERAS = "lets in", "asks for TensorFlow 2.16", "keeps TensorFlow below", "need tf_keras"


@pytest.mark.parametrize(
    ("line", "of_2_15", "of_2_16"),
    [
        ("tensorflow", [LETS_IN], [NO_KERAS]),
        ("tensorflow[and-cuda]>=2", [LETS_IN], [NO_KERAS]),
        ("tensorflow>=2.13,<2.16", [], [TOO_OLD, NO_KERAS]),
        ("tensorflow<=2.15.1  # the last with Estimators", [], [TOO_OLD, NO_KERAS]),
        ("tensorflow==2.15.1", [], [TOO_OLD, NO_KERAS]),
        ("tensorflow==2.15.*", [], [TOO_OLD, NO_KERAS]),
        ("tensorflow~=2.15.0", [], [TOO_OLD, NO_KERAS]),
        ("tensorflow~=2.15", [LETS_IN], [NO_KERAS]),
        ('tensorflow = "^2.15"', [LETS_IN], [NO_KERAS]),
        ("tensorflow>2.15.0,<3,!=2.17", [LETS_IN], [NO_KERAS]),
        ("tensorflow<2.16.2", [LETS_IN], [NO_KERAS]),
        ("tensorflow>=2.16", [TOO_NEW], [NO_KERAS]),
        ("tensorflow==2.21.0\ntf_keras", [TOO_NEW], []),
        ("  'tensorflow>2.15', 'tf-keras',", [TOO_NEW], []),
        ("install_requires=['tensorflow>=2; python_version>\"3.8\"']", [LETS_IN], [NO_KERAS]),
        ("tensorflow==1.15", [], [NO_KERAS]),
        ("tensorflow_hub", [], []),
        ("name = 'tensorflow tools'", [], []),
        ("# tensorflow", [], []),
    ],
)
def test_what_does_not_fit_a_target(line: str, of_2_15: list[str], of_2_16: list[str]) -> None:
    for target, wanted in (("2.15", of_2_15), ("2.16", of_2_16)):
        said = list(misfits(f"numpy\n{line}\n", target))
        assert len(said) == len(wanted) and all(part in message for part, (_, message) in zip(wanted, said))
        assert all(number == 2 for number, _ in said)


def test_a_target_adds_notes(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "requirements.txt").write_text("tensorflow\n")
    for target, count in (("any", 0), ("2.15", 1), ("2.16", 1)):
        outcomes = run([str(tmp_path)], Settings(target=target))
        assert sum(note.code == "E015" for outcome in outcomes for note in outcome.remaining) == count
