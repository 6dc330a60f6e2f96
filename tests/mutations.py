"""Mutations of real files: other code of the same kind, the same code written otherwise, and bytes that are no code.

Each is a function of the text (or the bytes) and a source of random numbers, so that a seed names a mutated file.
"""

from __future__ import annotations

import ast
import codecs
import random
import re
from collections.abc import Callable, Sequence

from migrator.engine.fixes import splice
from migrator.resolve.text import Text

Mutation = Callable[[Text, ast.Module, random.Random], str]

NAMES = ["self", "training", "x", "y", "tf", "model", "config", "params", "größe", "_", "loss", "features", "print"]
IMPORTS = [
    "import tensorflow.compat.v1 as tf",
    "import tensorflow",
    "from tensorflow.compat import v1 as tf",
    "try:\n    import tensorflow.compat.v1 as tf\nexcept ImportError:\n    import tensorflow as tf",
    "import tensorflow as tf, os as _os",
    "import tensorflow as tf; tf.disable_v2_behavior()",
]
HEADS = ["if True:", "for _ in range(1):", "with open('f') as f:", "while x:", "def inner():", "class Inner:", "try:"]


def statements(tree: ast.Module) -> list[tuple[list[ast.stmt], int]]:
    """Every statement, as a block and an index in it."""
    found = []
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                found += [(block, index) for index in range(len(block))]
    return found


def expressions(tree: ast.Module) -> list[ast.expr]:
    """Every expression that stands by itself in the text: not inside of an f-string, nor a target or a pattern."""
    inside = {id(n) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for n in ast.walk(node)}
    found = [node for node in ast.walk(tree) if isinstance(node, ast.expr) and id(node) not in inside]
    return [node for node in found if isinstance(getattr(node, "ctx", ast.Load()), ast.Load)]


def _spliced(text: Text, *changes: tuple[tuple[int, int], str]) -> str:
    edits = {text.edit(span, new) for span, new in changes}
    return splice(text.source, edits).decode("utf-8", "surrogatepass")


def _indent(text: Text, node: ast.stmt) -> str:
    start = text.line_starts[node.lineno - 1]
    return text.source[start : start + node.col_offset].decode()


def delete_statement(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """`pass` in the place of a statement."""
    block, index = pick.choice(statements(tree))
    return _spliced(text, (text.span(block[index]), "pass"))


def repeat_statement(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """A statement twice."""
    block, index = pick.choice(statements(tree))
    node = block[index]
    return _spliced(text, ((text.span(node)[1],) * 2, "\n" + _indent(text, node) + text.segment(node)))


def swap_statements(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """Two neighbours in the other order."""
    block, index = pick.choice([(b, i) for b, i in statements(tree) if i + 1 < len(b)])
    one, other = block[index], block[index + 1]
    return _spliced(text, (text.span(one), text.segment(other)), (text.span(other), text.segment(one)))


def wrap_statement(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """A statement under a head."""
    block, index = pick.choice(statements(tree))
    node, head = block[index], pick.choice(HEADS)
    indent = _indent(text, node)
    body = text.segment(node).replace("\n", "\n    ")
    tail = f"\n{indent}finally:\n{indent}    pass" if head == "try:" else ""
    return _spliced(text, (text.span(node), f"{head}\n{indent}    {body}{tail}"))


def move_into_function(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """The whole file under a head."""
    lines = text.text.split("\n")
    return pick.choice(HEADS[-3:-1]) + "\n" + "\n".join("    " + line if line.strip() else line for line in lines)


def swap_expressions(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """An expression in the place of another one."""
    one, other = pick.sample(expressions(tree), 2)
    return _spliced(text, (text.span(one), f"({text.segment(other)})"))


def drop_argument(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """A call with one argument only, or with what cannot be seen."""
    calls = [node for node in expressions(tree) if isinstance(node, ast.Call) and (node.args or node.keywords)]
    call = pick.choice(calls)
    parts = [text.segment(part) for part in call.args] + [text.segment(part) for part in call.keywords]
    kept = pick.choice(
        [[pick.choice(parts)], ["*args"], ["**options"], [*parts[1:], "**{}"], parts[:-1], [*parts, "extra=1"]]
    )
    return _spliced(text, (text.span(call), f"{text.segment(call.func)}({', '.join(kept)})"))


def name_arguments(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """A positional argument by a name that may be wrong."""
    calls = [node for node in expressions(tree) if isinstance(node, ast.Call) and node.args and not node.keywords]
    call = pick.choice(calls)
    return _spliced(text, (text.span(call.args[-1]), f"{pick.choice(NAMES)}={text.segment(call.args[-1])}"))


def rename(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """A name, wherever it is read or bound by itself, as another one."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    old, new = pick.choice(names).id, pick.choice(NAMES)
    kept = set(map(id, expressions(tree))) | {id(n) for n in names if not isinstance(n.ctx, ast.Load)}
    return _spliced(text, *((text.span(n), new) for n in names if n.id == old and id(n) in kept))


def import_otherwise(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """TensorFlow imported in another way."""
    return re.sub(r"^import tensorflow as tf$", lambda _: pick.choice(IMPORTS), text.text, flags=re.M)


def spread(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """Arguments on lines of their own, with comments."""
    calls = [node for node in expressions(tree) if isinstance(node, ast.Call) and node.args]
    call = pick.choice(calls)
    start, end = text.span(call.args[0])
    return _spliced(text, ((start, start), "\n  # before\n  "), ((end, end), "  # behind\n"))


def parenthesize(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """Brackets and blanks around some expressions."""
    chosen = pick.sample(expressions(tree), 3)
    return _spliced(text, (text.span(chosen[0]), f"(\t{text.segment(chosen[0])} )"))


def comment(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """Comments, blank lines and form feeds between and behind statements."""
    block, index = pick.choice(statements(tree))
    node = block[index]
    extra = pick.choice(
        [f"\n\n{_indent(text, node)}# über", "\n\x0c", "  # migrate: ignore", ";", "  # \U0001f40d", "\\\n"]
    )
    return _spliced(text, ((text.span(node)[1],) * 2, extra))


def newlines(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """Other line ends, or none at the end."""
    ends = pick.choice([["\r\n"], ["\r"], ["\n", "\r\n"]])
    return re.sub("\n", lambda _: pick.choice(ends), text.text.rstrip("\n") if pick.random() < 0.5 else text.text)


def tabs(text: Text, tree: ast.Module, pick: random.Random) -> str:
    """Tabs for indentation."""
    return re.sub(r"^(    )+", lambda found: "\t" * (len(found[0]) // 4), text.text, flags=re.M)


MUTATIONS: Sequence[Mutation] = (
    *(delete_statement, repeat_statement, swap_statements, wrap_statement, move_into_function, swap_expressions),
    *(drop_argument, name_arguments, rename, import_otherwise, spread, parenthesize, comment, newlines, tabs),
)


def mutated_code(path: str, raw: bytes, pick: random.Random) -> tuple[bytes, list[str]]:
    """Code after some mutations that leave it Python, and their names."""
    content, names = raw.decode("utf-8"), []
    for _ in range(pick.randint(1, 4)):
        mutation = pick.choice(MUTATIONS)
        text = Text(path, content)
        try:
            after = mutation(text, ast.parse(content), pick)
            ast.parse(after)
        except (IndexError, ValueError, SyntaxError):  # nothing of the kind is there, or it does not fit
            continue
        content = after
        names.append(mutation.__name__)
    coding = pick.choice(["utf-8", "utf-8", "utf-8-sig", "latin-1"])
    if coding == "utf-8-sig":
        return codecs.BOM_UTF8 + content.encode(), names
    if coding == "latin-1":
        end = "\r\n" if "\r\n" in content else "\r" if "\r" in content else "\n"
        try:
            return f"# coding: latin-1{end}{content}".encode("latin-1"), [*names, coding]
        except UnicodeEncodeError:
            pass
    return content.encode("utf-8", "surrogatepass"), names


def mutated_bytes(raw: bytes, pick: random.Random) -> bytes:
    """Bytes removed, repeated, moved, overwritten and cut off."""
    data = bytearray(raw)
    for _ in range(pick.randint(1, 6)):
        start = pick.randrange(len(data) + 1)
        end = min(len(data), start + pick.choice([1, 1, 2, 8, 60, 500]))
        part = bytes(data[start:end])
        kind = pick.randrange(5)
        if kind == 0:
            del data[start:end]
        elif kind == 1:
            data[start:start] = part
        elif kind == 2:
            data[start:end] = bytes(pick.randrange(256) for _ in part[:4])
        elif kind == 3:
            data[start:start] = pick.choice(
                [b"\0", b"\xff\xfe", b"\r", b"\xc3", b"(", b"'''", b"\\", b"\t", b"\x0c", b"#", b"{" * 300]
            )
        elif pick.random() < 0.2:
            del data[start:]
    return bytes(data)
