"""Cells of a notebook that stay, beside programs of other cells that move."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_tools import invoke
from notebook_tools import notebook, sources

HEAD = "import numpy as np\nimport tensorflow as tf\n"
DATA = (
    "def read():\n    return tf.data.Dataset.from_tensors(({'x': np.ones([4, 3], 'float32')}, [0, 1, 0, 1])).repeat()\n"
)
MODEL = """\
def model_fn(features, labels, mode):
    logits = tf.layers.dense(features['x'], 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
    op = tf.train.AdamOptimizer().minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, {'c': tf.argmax(logits, 1)}, loss, op)
"""
RUN = "estimator = tf.estimator.Estimator(model_fn)\nestimator.train(read, steps=20)\n"
COLUMNS = "columns = [tf.feature_column.numeric_column('x', shape=[3])]\n"
TREES = COLUMNS + "trees = tf.estimator.BoostedTreesClassifier(columns, 1)\ntrees.train(read, steps=5)\n"
CELLS = (HEAD, DATA, MODEL, RUN)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def migrated(*cells: str) -> tuple[list[str], str]:
    """The cells of a notebook after `migrate --apply`, and what it says."""
    Path("a.ipynb").write_bytes(notebook(*cells))
    result = invoke("a.ipynb", "--apply")
    return sources(Path("a.ipynb").read_bytes()), result.output


def test_a_last_cell_that_stays_keeps_no_other() -> None:
    after, said = migrated(*CELLS, TREES)
    assert "class " in after[2] and ".fit(" in after[3] and after[4] == TREES
    assert "1 of 2 programs migrated (1 native, 1 manual)" in said
    assert "a.ipynb:cell 5:1:1: E016 cell 5 stays as it is" in said and "boosted trees have no match" in said
    assert invoke("a.ipynb", "--apply").output.count("Nothing to write") == 1


@pytest.mark.parametrize(
    ("cells", "stay"),
    [
        ((HEAD, DATA, TREES, MODEL, RUN), {2}),
        ((*CELLS, TREES, "trees.evaluate(read, steps=1)\n", "print('end')\n"), {4, 5}),
        ((*CELLS, TREES.replace("trees", "estimator"), "print(estimator)\n"), {4, 5}),
        ((*CELLS, COLUMNS, TREES.replace(COLUMNS, "")), {5}),
        (
            (
                *CELLS,
                "class Mine(tf.estimator.Estimator):\n  pass\nclass Other(Mine):\n  pass\nOther(lambda features: 1).train(read)",
            ),
            {4},
        ),
    ],
)
def test_cells_that_stay(cells: tuple[str, ...], stay: set[int]) -> None:
    after, _ = migrated(*cells)
    assert any(".fit(" in text for text in after)
    assert all(after[number] == cells[number] for number in stay)


@pytest.mark.parametrize(
    "last",
    [
        TREES + "estimator.train(read, steps=1)\n",
        TREES.replace("read, steps", "lambda: read().take(len(str(model_fn))), steps"),
        COLUMNS
        + "other = tf.estimator.BoostedTreesClassifier(columns, 1, model_dir=estimator.model_dir)\nother.train(read)\n",
    ],
)
def test_what_needs_a_program_of_others_keeps_it(last: str) -> None:
    after, said = migrated(*CELLS, last)
    assert after == [*CELLS, last] and "0 of 2 programs migrated" in said


def test_a_program_is_kept_by_what_it_needs_of_a_cell_that_stays() -> None:
    cells = (HEAD, DATA, TREES.replace("trees.train", "rows = read\ntrees.train"), MODEL, RUN.replace("read", "rows"))
    after, _ = migrated(*cells)
    assert after == list(cells)


def test_a_cell_that_cannot_be_parsed_stays() -> None:
    after, said = migrated(*CELLS, "a note to myself\n", "estimator.evaluate(read, steps=1)\n", "!ls\n%%bash\necho a\n")
    assert ".fit(" in after[3] and ".evaluate(" in after[5] and after[4] == "a note to myself\n"
    assert "a.ipynb:cell 5:1:3: E013 the cell is left as it is, as it cannot be parsed" in said
    assert "a.ipynb:cell 7:3:6: E013" in said


def test_cells_of_python_2_keep_the_notebook() -> None:
    after, said = migrated(*CELLS, "print 'x'\n")
    assert after == [*CELLS, "print 'x'\n"] and "E001" in said and "--from-python2" in said


def test_a_notebook_of_broken_cells_is_told_as_a_file() -> None:
    assert "E001" in migrated("import tensorflow as tf (")[1]


@pytest.mark.parametrize(
    "cell",
    [
        "tf.log?",
        "?tf.log",
        "tf.log??",
        "??tf.log",
        "a = tf.log?",
        "tables['a'].train?",
        "f(x, 'y?').z??\nprint(1)",
        "if x:\n    tf.log?\n    !ls",
        "%timeit tf",
        "!pip install 'a<3' | tail -1",
        "names = !ls",
        "%%bash\nfor x in 1 2; do echo $x; done",
        "%%javascript\nalert('?')",
    ],
)
def test_what_ipython_reads_is_no_error(cell: str) -> None:
    after, said = migrated(*CELLS, cell)
    assert ".fit(" in after[3] and after[4] == cell and "E0" not in said, said


@pytest.mark.parametrize(
    "cell", ["x = 'why?'\n", "# why?\n", "x = '''a\nb?\n'''\n", "x = 1  # why?\n", 'f("""?\n?""")\n']
)
def test_what_python_reads_is_no_question(cell: str) -> None:
    after, said = migrated(*CELLS, cell + "tf.log(1.0)\n")
    assert after[4] == cell + "tf.math.log(1.0)\n", said
