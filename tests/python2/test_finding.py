"""Which files of a tree are Python 2."""

from __future__ import annotations

import pytest

from migrator.discover.components import import_graph
from migrator.python2.finding import python_2_files

TASK = b"import model\nprint 'a'\n"
BOTH = b"def f(xs):\n    return map(str, xs)\n"


def found(**files: bytes) -> set[str]:
    contents = {name.replace("__slash__", "/") + ".py": text for name, text in files.items()}
    return set(python_2_files(contents, import_graph(contents)))


def test_what_is_imported_goes_along() -> None:
    assert found(task=TASK, model=BOTH, other=BOTH) == {"task.py", "model.py"}


def test_what_imports_goes_along() -> None:
    assert found(model=b"print 'a'\n", task=b"import model\nxs = map(str, model.xs)\n") == {"task.py", "model.py"}


@pytest.mark.parametrize(
    "newer",
    [b"x = f'{1}'\n", b"def f(*, a): pass\n", b"def f(a: int): pass\n", b"super().__init__()\n", b"x: int = 1\n"],
)
def test_python_3_does_not_go_along(newer: bytes) -> None:
    assert found(task=TASK, model=newer) == {"task.py"}


@pytest.mark.parametrize(
    "text",
    [
        b"xs = xrange(3)\n",
        b"x = isinstance(a, unicode)\n",
        b"for k in d.iteritems(): pass\n",
        b"d.has_key(1)\n",
        b"import cPickle as pickle\n",
        b"from urllib2 import urlopen\n",
    ],
)
def test_what_only_python_2_has_tells(text: bytes) -> None:
    assert found(task=text) == {"task.py"}


@pytest.mark.parametrize(
    "text",
    [
        BOTH,
        b"xrange = range\nxs = xrange(3)\n",
        b"from six.moves import xrange\nxs = xrange(3)\n",
        b"try:\n    import cPickle as pickle\nexcept ImportError:\n    import pickle\n",
        b"import sys\nif sys.version_info[0] < 3:\n    text = unicode\n",
        b"def f(file):\n    return file.name\n",
        b"print('a')\n",
    ],
)
def test_what_runs_on_both_stays(text: bytes) -> None:
    assert found(task=text) == set()


def test_what_cannot_be_read_is_told_but_tells_nothing() -> None:
    assert found(task=b"import model\nprint 'a' b (\n", model=BOTH) == {"task.py"}


def test_a_package_is_one_that_is_imported() -> None:
    package = {"pkg/__init__.py": b"", "pkg/task.py": TASK, "pkg/model.py": BOTH}
    alone = python_2_files(package, import_graph(package))
    assert not alone["pkg/task.py"].is_package and "model" in alone["pkg/task.py"].modules
    used = {**package, "run.py": b"import pkg.task\n"}
    assert python_2_files(used, import_graph(used))["pkg/task.py"].is_package
