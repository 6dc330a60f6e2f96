from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from migrator.engine.fixes import splice
from migrator.engine.reparsing import still_parses
from migrator.resolve.module import Module
from migrator.vocabulary.diagnostics import Edit

ROOT = Path(__file__).resolve().parent.parent
SOURCE = '''import a  # a
x = 1; y = 2
@decorated(
    b
)
class C(object):
    """Text
of several lines."""

    def m(self, n):
        if n: return 1
        elif n > 2:
            n = [
                1,
            ]
        else:
            z = """
if 1:
"""

        # a comment
        for i in n:
            pass
        try:
            a.b(c)
        except E:
            d = 1 + \\
                2

        finally:
            e = 1
        return z
# last

f = lambda: 0
'''
PIECES = [
    "", " ", "\n", "    ", "\t", "pass", "pass\n", "x = 1\n", "    x = 1\n", "        x\n", "else:", "else:\n", "(", ")", '"""',
    "'", "\\", "\\\n", ";", ":", "#", "if 1:", "if 1:\n", "import b\n", "a.b", "def g(): pass", "@", "\n\n", "elif 1:\n", ",",
]  # fmt: skip


def parses(source: bytes) -> bool:
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


def edit(source: str, old: str, new: str) -> bool:
    module = Module("p.py", source)
    start = source.encode().index(old.encode())
    change = Edit("p.py", start, start + len(old.encode()), new)
    told = still_parses(module, [change])
    assert not told or parses(splice(module.source, [change]))
    return told


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import a", "import tensorflow as a"),
        ("y = 2", "y = 'ü'"),
        ("import a  # a\n", ""),
        ("import a", "import b\nimport a"),
        ("return 1", "return (1)"),
        ("1,\n", "2,\n"),
        ("a.b(c)", "a.c(b)"),
        ("1 + \\\n", "2 + \\\n"),
        ("return z", "y = z\n        return y"),
        ("# last\n", "# first\nw = 1\n"),
        ("lambda: 0", "lambda: 1"),
        ("elif n > 2", "elif n > 3"),
        ("a.b", "tf.a.c"),
        ("a.b", "c"),
    ],
)
def test_what_parses_by_itself_is_known_to_parse(old: str, new: str) -> None:
    assert edit(SOURCE, old, new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import a", "import (a"),
        ("a.b", "a.if"),
        ("a.b", "lambda"),
        ("            pass\n", ""),
        ("            pass\n", "        pass\n"),
        ("            pass\n", "            pass\n    y\n"),
        ("a.b(c)\n", "a.b(c)"),
        ("\n        finally", "3\n        finally"),
        ("        return z", "\treturn z"),
        ("return z", "else: return z"),
        ("lambda: 0\n", "lambda: 0"),
        ("# last", '"""'),
    ],
)
def test_what_does_not_or_may_not_is_parsed_whole(old: str, new: str) -> None:
    assert not edit(SOURCE, old, new)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.sampled_from(["a", "a.b", "tf", "tf.c", "match", "if", "x1", "1", '"t"', "é", "a.b.c"]), min_size=1),
    st.data(),
)
def test_never_wrong_about_names(names: list[str], data: st.DataObject) -> None:
    forms = [
        "import {}\n",
        "from {} import d\n",
        "{}\n",
        "y = 1if {}else 2\n",
        "f(k={})\n",
        "{} = 1\n",
        "match {}:\n  case {}: pass\n",
    ]
    forms += [
        "@{}\ndef g(): pass\n",
        "f'{{{}}}'\n",
        "s = '{}'  # {}\n",
        "d.{}\n",
        "del {}\n",
        "x: {} = 3\n",
        "def g({}=1): pass\n",
    ]
    source = "".join(text for text in (form.format(*["a.b"] * 2) for form in forms) if parses(text.encode()))
    module = Module("p.py", source)
    place, edits = -1, []
    for name in names:
        place = source.find("a.b", place + 1)
        if place >= 0 and data.draw(st.booleans()):
            edits.append(Edit("p.py", place, place + 3, name))
    if parses(module.source) and still_parses(module, edits):
        assert parses(splice(module.source, edits))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_never_wrong_about_any_edits(data: st.DataObject) -> None:
    module = Module("p.py", SOURCE)
    places = sorted(data.draw(st.lists(st.integers(0, len(SOURCE)), min_size=2, max_size=6, unique=True)))
    edits = [Edit("p.py", a, b, data.draw(st.sampled_from(PIECES))) for a, b in zip(places[::2], places[1::2])]
    if still_parses(module, edits):
        assert parses(splice(module.source, edits))


def test_never_wrong_about_lines_of_real_files() -> None:
    chance, told = random.Random(0), 0
    for path in sorted((ROOT / "fixtures").glob("*/*/before.py")):
        module = Module(str(path), path.read_text("utf-8"))
        lines = module.line_starts
        for _ in range(20):
            first = chance.randrange(len(lines) - 1)
            last = min(len(lines) - 1, first + chance.choice((0, 1, 1, 2, 5)))
            other = chance.randrange(len(lines) - 1)
            text = chance.choice(("", "pass\n", module.source[lines[other] : lines[other + 1]].decode()))
            edits = [Edit(module.path, lines[first], lines[last], text)]
            if still_parses(module, edits):
                told += 1
                assert parses(splice(module.source, edits)), (path, edits)
    assert told > 100
