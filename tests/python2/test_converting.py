"""One text of Python 2 as one of Python 3."""

from __future__ import annotations

from textwrap import dedent

import pytest

from migrator.discover.sources import SourceFile, Unusable, decode
from migrator.engine.fixes import splice
from migrator.python2.converting import NotConverted, conversion, converted
from migrator.vocabulary.conversions import Beside, Conversion


def python_3(text: str, beside: Beside | None = None) -> str:
    return conversion(dedent(text), beside or Beside()).text


def new_bytes(source: SourceFile) -> bytes:
    assert source.conversion is not None and source.conversion.change.fix is not None
    return source.with_data(splice(source.data, source.conversion.change.fix.edits)).raw


def of(raw: bytes) -> Conversion:
    found = converted(decode("task.py", raw), Beside()).conversion
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('print "a", b', 'print("a", b)'),
        ('print "a",', "print(\"a\", end=' ')"),
        ("print >>log, a", "print(a, file=log)"),
        ("print", "print()"),
        ('print ("a %s" % b)', 'print ("a %s" % b)'),
        ("print (a, b)", "print((a, b))"),
        ("print(a, b)", "print(a, b)"),
        ("print()", "print()"),
        ("print(a), b", "print((a), b)"),
        ("print (a) + b", "print((a) + b)"),
        ("x = `a`", "x = repr(a)"),
        ("raise ValueError, 'a'", "raise ValueError('a')"),
        ("exec code in space", "exec(code, space)"),
        ("x = a <> 0777 or 10L", "x = a != 0o777 or 10"),
        ("x = isinstance(a, (str, unicode))", "x = isinstance(a, str)"),
        ("x = isinstance(a, basestring)", "x = isinstance(a, str)"),
        ("x = u'a' + ur'b'", "x = 'a' + r'b'"),
        ("x = d.has_key('a')", "x = 'a' in d"),
        ("x = map(str, xs)", "x = list(map(str, xs))"),
        ("x = set(map(str, xs))", "x = set(map(str, xs))"),
        ("x = zip(a, b)[0]", "x = list(zip(a, b))[0]"),
        ("x = cmp(a, b[0])", "x = ((a > b[0]) - (a < b[0]))"),
        ("x = cmp(a(), b)", "x = cmp(a(), b)"),
        ("x, y = map(int, xs)", "x, y = map(int, xs)"),
        ("x = y = map(int, xs)", "x = y = list(map(int, xs))"),
        ("x, y = zip(a, b)[0]", "x, y = list(zip(a, b))[0]"),
        ("x = map(int, zip(a, b))", "x = list(map(int, zip(a, b)))"),
        ("x, y = filter(None, xs)", "x, y = [_f for _f in xs if _f]"),
        ("x = zip(map(int, a)[1:], b)", "x = list(zip(list(map(int, a))[1:], b))"),
        ("x = enumerate(filter(f, xs))", "x = enumerate(filter(f, xs))"),
        ("x = dict(zip(a, b))", "x = dict(zip(a, b))"),
        ("x = range(3) + [4]", "x = list(range(3)) + [4]"),
        ("x = np.array(range(3))", "x = np.array(range(3))"),
        ("x = zip(range(3), d.keys())", "x = list(zip(range(3), d.keys()))"),
        ("x = len(d.keys())", "x = len(d.keys())"),
        ("x = 'a' in d.keys()", "x = 'a' in d.keys()"),
        ("x = d.values()[0]", "x = list(d.values())[0]"),
        ("x = frame.map(d.values())", "x = frame.map(list(d.values()))"),
        ("x = [k for k in d.keys()]", "x = [k for k in d.keys()]"),
        ("x = iter(d).next()", "x = next(iter(d))"),
    ],
)
def test_statements(old: str, new: str) -> None:
    assert python_3(old + "\n") == new + "\n"


@pytest.mark.parametrize(
    ("body", "is_list"),
    [
        ("use(k, v)", False),
        ("use(d[k])", False),
        ("other[k] = d[k]", False),
        ("del d[k]", True),
        ("d[k] = 1", True),
        ("d[k] += 1", True),
        ("d.pop(k)", True),
        ("change(d)", True),
    ],
)
def test_a_loop_has_a_list_only_if_it_may_change_the_dict(body: str, is_list: bool) -> None:
    items = "list(d.items())" if is_list else "d.items()"
    assert python_3(f"for k, v in d.items():\n    {body}\n") == f"for k, v in {items}:\n    {body}\n"


def test_imports_that_say_nothing_go_with_their_lines() -> None:
    text = """\
        # licence

        from __future__ import absolute_import
        from __future__ import print_function

        import os
        from itertools import izip
        import sys

        print(sys, file=os)
        for a in izip(x, y): pass
        """
    assert python_3(text) == dedent("""\
        # licence

        import os
        import sys

        print(sys, file=os)
        for a in zip(x, y): pass
        """)


def test_imports_of_files_beside_become_relative_in_a_package_only() -> None:
    beside = frozenset({"model", "__init__"})
    assert python_3("import model\nimport os\n", Beside(beside, True)) == "from . import model\nimport os\n"
    assert python_3("from model import f\n", Beside(beside, True)) == "from .model import f\n"
    assert python_3("import model\n", Beside(beside)) == "import model\n"


@pytest.mark.parametrize(
    "raw",
    [
        b"\xef\xbb\xbfprint '\xc3\xa9'\n",
        b"# coding: latin-1\nprint '\xe9'\n",
        b"if a:\r\n    print b\r\n",
        b"if a:\r\n    print b\nprint c\r\n",
        b"print b\r",
        b"print b",
        b"if a:\n    print b\n\x0c    print c\n",
        b"print 'a\x0c\tb'\n",
    ],
)
def test_bytes_around_stay(raw: bytes) -> None:
    source = converted(decode("task.py", raw), Beside())
    new = new_bytes(source)
    assert new.replace(b"print(", b"print ").replace(b")", b"") == raw


def test_edits_are_small_and_places_are_of_the_original() -> None:
    found = of(b"import sys\nx = n / 2\nprint reduce(f, x)\n")
    assert found.change.fix is not None and all(edit.text.count("\n") <= 1 for edit in found.change.fix.edits)
    assert [(note.location.line, note.location.column) for note in found.notes] == [(2, 5)]


@pytest.mark.parametrize("text", ["print 'a' b (\n", "x = (1\n", "def f(:\n", "if a:\n\tx\n  y\nprint a\n", "\x01\n"])
def test_what_is_neither_is_left(text: str) -> None:
    with pytest.raises(NotConverted):
        conversion(text, Beside())
    with pytest.raises(Unusable, match="neither Python 3"):
        converted(decode("task.py", text.encode()), Beside())


def test_what_is_both_stays_if_nothing_needs_to_change() -> None:
    source = decode("task.py", b"from __future__ import division\n\nx = [1]\n")
    assert converted(source, Beside()) is source


def test_what_is_python_3_and_cannot_be_converted_stays_with_a_remark() -> None:
    source = converted(decode("task.py", b"print('a', file=log)\n"), Beside())
    assert source.conversion is None and "was left so" in source.remarks[0].message


def test_nothing_runs(tmp_path: object) -> None:
    python_3("import os\nos.abort()\nprint `os._exit(3)`\n")
