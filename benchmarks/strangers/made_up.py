"""Makes up data for programs: files of the right form, filled by chance, always with the same seed.

A column is `name = what`, where what is `real LOW HIGH`, `series COUNT LOW HIGH` (such numbers with `;` between),
`int LOW HIGH` (both included), `one of a|b|c`, `key` (a word of its own in every row), `text COUNT a|b|c` (words),
`bytes COUNT` (in records), `path PATTERN` (with the number of the row for `{}`), `row` (that number) or `is VALUE`.
`x0..9` are ten columns.
"""

from __future__ import annotations

import json
import pickle
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Draw = Callable[[int], Any]


def _draw(what: str, chance: random.Random) -> Draw:
    kind, _, rest = what.strip().partition(" ")
    if kind == "real":
        low, high = (float(part) for part in rest.split())
        return lambda row: round(chance.uniform(low, high), 4)
    if kind == "series":
        count, _, rest = rest.partition(" ")
        one = _draw(f"real {rest}", chance)
        return lambda row: ";".join(str(one(row)) for _ in range(int(count)))
    if kind == "int":
        first, last = (int(part) for part in rest.split())
        return lambda row: chance.randint(first, last)
    if kind == "one":
        words = rest.removeprefix("of ").split("|")
        return lambda row: chance.choice(words)
    if kind == "text":
        count, _, choices = rest.partition(" ")
        return lambda row: " ".join(chance.choice(choices.split("|")) for _ in range(int(count)))
    if kind == "bytes":
        return lambda row: chance.randbytes(int(rest))
    simple: dict[str, Draw] = {
        "key": lambda row: f"k{chance.getrandbits(32):08x}",
        "row": lambda row: row,
        "path": lambda row: rest.format(row),
        "is": lambda row: rest,
    }
    return simple[kind]


def _columns(table: dict[str, Any], chance: random.Random) -> dict[str, Draw]:
    found: dict[str, Draw] = {}
    for column in table["columns"]:
        name, _, what = column.partition("=")
        several = re.fullmatch(r"(.*?)(\d+)\.\.(\d+)", name.strip())
        names = (
            [f"{several[1]}{number}" for number in range(int(several[2]), int(several[3]) + 1)]
            if several
            else [name.strip()]
        )
        found.update({name: _draw(what, chance) for name in names})
    return found


def _rows(table: dict[str, Any], chance: random.Random) -> list[dict[str, Any]]:
    columns = _columns(table, chance)
    return [{name: draw(row) for name, draw in columns.items()} for row in range(table.get("rows", 200))]


def _csv(path: Path, table: dict[str, Any], chance: random.Random) -> None:
    separator = table.get("separator", ",")
    rows = _rows(table, chance)
    lines = [table["first_line"]] if "first_line" in table else []
    lines += [separator.join(_columns(table, chance))] if table.get("header") else []
    lines += [separator.join(str(value) for value in row.values()) for row in rows]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def _json_lines(path: Path, table: dict[str, Any], chance: random.Random) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in _rows(table, chance)), "utf-8")


def _lines(path: Path, table: dict[str, Any], chance: random.Random) -> None:
    path.write_text("".join(line + "\n" for line in table["lines"]), "utf-8")


def _pickles(path: Path, table: dict[str, Any], chance: random.Random) -> None:
    """One pickle after the other."""
    path.write_bytes(b"".join(pickle.dumps(value) for value in table["values"]))


def _libsvm(path: Path, table: dict[str, Any], chance: random.Random) -> None:
    """A label, then `fields` pairs `id:value` with ids in as many ranges of `ids` together."""
    fields, ids = table["fields"], table["ids"]
    width = ids // fields
    lines = []
    for _ in range(table.get("rows", 200)):
        pairs = (f"{field * width + chance.randrange(width)}:{chance.random():.4f}" for field in range(fields))
        lines.append(f"{chance.randint(0, 1)} {' '.join(pairs)}\n")
    path.write_text("".join(lines), "utf-8")


def _tagged(path: Path, table: dict[str, Any], chance: random.Random) -> None:
    """A word and its tag a line, an empty line after each sentence."""
    words, tags = table["words"].split("|"), table["tags"].split("|")
    lines = []
    for _ in range(table.get("rows", 40)):
        lines += [f"{chance.choice(words)} {chance.choice(tags)}\n" for _ in range(chance.randint(3, 9))] + ["\n"]
    path.write_text("".join(lines), "utf-8")


def _array(path: Path, table: dict[str, Any], chance: random.Random) -> None:
    numbers = np.random.default_rng(table.get("seed", 0))
    np.save(path, numbers.random(table["shape"]).astype(table.get("dtype", "float32")))


def _whole(path: Path, table: dict[str, Any], chance: random.Random) -> None:
    """Whole numbers below `below`."""
    numbers = np.random.default_rng(table.get("seed", 0))
    np.save(path, numbers.integers(0, table["below"], table["shape"]).astype(table.get("dtype", "int64")))


def _digits(path: Path, table: dict[str, Any], chance: random.Random) -> None:
    """Pictures and labels in the two pairs of files of MNIST, in a folder."""
    numbers = np.random.default_rng(table.get("seed", 0))
    path.mkdir(parents=True, exist_ok=True)
    for part in ("train", "t10k"):
        count = table.get("rows", 200)
        pictures = numbers.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        labels = numbers.integers(0, 10, count, dtype=np.uint8)
        (path / f"{part}-images-idx3-ubyte").write_bytes(
            np.array([2051, count, 28, 28], ">i4").tobytes() + pictures.tobytes()
        )
        (path / f"{part}-labels-idx1-ubyte").write_bytes(np.array([2049, count], ">i4").tobytes() + labels.tobytes())


def _image(path: Path, table: dict[str, Any], chance: random.Random) -> None:
    """`count` pictures; `{}` in the name is the number."""
    import tensorflow as tf

    numbers = np.random.default_rng(table.get("seed", 0))
    for number in range(table.get("count", 1)):
        pixels = numbers.integers(0, 256, (*table["size"], 3), dtype=np.uint8)
        target = Path(str(path).format(number))
        encode = tf.io.encode_png if target.suffix == ".png" else tf.io.encode_jpeg
        target.write_bytes(encode(pixels).numpy())


def _records(path: Path, table: dict[str, Any], chance: random.Random) -> None:
    """Serialized Examples. A column may begin with how many values it has: `ids = 4 int 0 9`."""
    import tensorflow as tf

    counted: dict[str, tuple[int, Draw]] = {}
    for column in table["columns"]:
        name, _, what = column.partition("=")
        first, _, rest = what.strip().partition(" ")
        count, what = (int(first), rest) if first.isdigit() else (1, what)
        counted[name.strip()] = (count, _draw(what, chance))
    with tf.io.TFRecordWriter(str(path)) as writer:
        for row in range(table.get("rows", 200)):
            features = {name: _feature([draw(row) for _ in range(count)]) for name, (count, draw) in counted.items()}
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())


def _checkpoint(path: Path, table: dict[str, Any], chance: random.Random) -> None:
    """Variables of small numbers, each `name = shape`."""
    import tensorflow as tf

    shapes = {name.strip(): shape.split() for name, _, shape in (each.partition("=") for each in table["variables"])}
    numbers = np.random.default_rng(table.get("seed", 0))
    values = [numbers.normal(0, 0.02, [int(size) for size in shape]).astype("float32") for shape in shapes.values()]
    tf.raw_ops.SaveV2(prefix=str(path), tensor_names=list(shapes), shape_and_slices=[""] * len(shapes), tensors=values)


def _feature(values: list[Any]) -> Any:
    import tensorflow as tf

    if isinstance(values[0], int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    if isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(
        bytes_list=tf.train.BytesList(
            value=[value if isinstance(value, bytes) else str(value).encode() for value in values]
        )
    )


_KINDS: dict[str, Callable[[Path, dict[str, Any], random.Random], None]] = {
    "csv": _csv,
    "json": _json_lines,
    "lines": _lines,
    "pickles": _pickles,
    "libsvm": _libsvm,
    "tagged": _tagged,
    "array": _array,
    "whole": _whole,
    "digits": _digits,
    "image": _image,
    "records": _records,
    "checkpoint": _checkpoint,
}


def make(tables: tuple[dict[str, Any], ...], folder: Path) -> None:
    """Write the data files that a program needs into its folder; `file` may be a list of names."""
    for table in tables:
        names = table["file"] if isinstance(table["file"], list) else [table["file"]]
        for number, name in enumerate(names):
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            _KINDS[table["kind"]](path, table, random.Random(table.get("seed", 0) + number))
