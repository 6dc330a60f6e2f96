"""What the signatures of exported SavedModels compute: the same inputs are fed to those of both sides.

The old side makes the inputs, from the newest batch that its model was given: rows of features by the names of the inputs, or
serialized examples with the features that the graph parses; lines of a table are made up. What parses them gets one more that
lacks all it may lack. Both sides load what they export into a session of its own.
"""

from __future__ import annotations

import hashlib
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable

import numpy as np

from . import program
from .recorded import store

ROWS = 4
"""Examples that are fed at most."""
_UNSEEN = "not compared: the SavedModels"
_UNFINISHED = "temp-"
_CSV = "DecodeCSV"
_PARSERS = ("ParseExample", "ParseExampleV2", _CSV)
_IDLE = ("Identity", "PlaceholderWithDefault", "ExpandDims", "Reshape", "Squeeze", "StridedSlice")


class NotFed(Exception):
    """No value is known for an input, which the message names."""


def watch_estimators(recorder: Any, base: Any) -> None:
    """Record what Estimators export, which all goes through one method, and keep it in folders of the run's own."""
    export, calls = base._export_all_saved_models, itertools.count(1)

    def watched_export(self: Any, *args: Any, **named: Any) -> Any:
        path = export(self, *args, **named)
        recorder.exported.append(_full(path))
        if recorder.cluster:
            recorder.note(f"{_UNSEEN} that the program exports")
            return path
        call = next(calls)
        try:
            record(recorder.writer, call, path, recorder.features, recorder.note)
        except Exception as error:  # whatever loading and running it may raise: the program goes on
            recorder.note(f"{_UNSEEN} of export {call}, which could not be run: {_first_line(error)}")
            folder, problem = folder_of(path), _first_line(error)
            recorder.writer.event("export", call=call, folder=folder, signatures={}, problem=problem)
        return path

    base._export_all_saved_models = watched_export
    program.redirect_exports(recorder.redirect, base)


def watch_saves(replay: Any) -> None:
    """Run what `tf.saved_model.save` writes on the inputs that were recorded of exports to a folder of the same name.

    Of all of them: which one it is to be compared with is not known before the last.
    """
    import tensorflow as tf

    recorded = list(replay.reader.of("export"))
    if not recorded:
        return
    save, calls = tf.saved_model.save, itertools.count(1)
    by_folder = {name: [e for e in recorded if e["folder"] == name] for name in {e["folder"] for e in recorded}}

    def watched_save(obj: Any, export_dir: Any, *args: Any, **named: Any) -> None:
        save(obj, export_dir, *args, **named)
        replay.exported.append(_full(export_dir))
        call = next(calls)
        folder = folder_of(export_dir)
        events = by_folder.get(folder, recorded if len(by_folder) == 1 else [])
        try:
            repeat(replay.writer, replay.reader, events, call, export_dir)
        except Exception as error:  # a finding, as the old one ran
            problem = f"it does not run: {_first_line(error)}"
            replay.writer.event("export", call=call, folder=folder, signatures={}, problem=problem)

    for module in (tf.saved_model, tf.compat.v2.saved_model):
        module.save = watched_save


def note_others(replay: Any, sandbox: str, since: float) -> None:
    """Record whether the run has left any SavedModel in its sandbox, written by whatever means, `since` it began."""
    if any(replay.reader.of("export")):
        files = (
            os.path.join(folder, "saved_model.pb") for folder, _, names in os.walk(sandbox) if "saved_model.pb" in names
        )
        replay.writer.event("saved models", found=any(os.path.getmtime(file) >= since for file in files))


def record_kept(writer: store.Writer, exported: list[str]) -> None:
    """Record which of the SavedModels in `exported` are left at the end of a run, by folder.

    They are counted from the newest on, from 0, and come with what was copied beside them (`assets_extra`), and with what
    servers are asked for by their signatures, which may be written after all else.
    """
    for folder in dict.fromkeys(folder_of(path) for path in exported):
        written = [path for path in exported if folder_of(path) == folder]
        there = {str(age): path for age, path in enumerate(reversed(written)) if os.path.isdir(path)}
        left, methods = ({age: told(path) for age, path in there.items()} for told in (_copied, _methods))
        writer.event("kept exports", folder=folder, written=len(written), left=left, methods=methods)


def _copied(path: str) -> dict[str, str]:
    """The files beside a SavedModel, with a checksum of what they hold."""
    found, extra = {}, os.path.join(path, "assets.extra")
    for folder, _, names in os.walk(extra):
        for file in (os.path.join(folder, name) for name in names):
            with open(file, "rb") as opened:
                found[os.path.relpath(file, extra)] = hashlib.sha256(opened.read()).hexdigest()
    return found


def _methods(path: str) -> dict[str, str]:
    """The method names of signatures."""
    from tensorflow.python.saved_model import loader_impl

    try:
        (graph,) = loader_impl.parse_saved_model(path).meta_graphs
    except (OSError, ValueError):  # there is none, or several
        return {}
    return {name: signature.method_name for name, signature in graph.signature_def.items() if not name.startswith("__")}


def _full(path: Any) -> str:
    """Where a SavedModel is in the end: it may be written under another name first."""
    folder, name = os.path.split(os.path.abspath(os.fsdecode(path)))
    return os.path.join(folder, name[len(_UNFINISHED) :] if name.startswith(_UNFINISHED) else name)


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".split("\n")[0][:200]


def record(writer: store.Writer, call: int, path: Any, features: Any, note: Callable[[str], None]) -> None:
    """Write down what each signature of the SavedModel at `path` gives for rows of `features`; `call` counts exports."""
    signatures: dict[str, Any] = {}
    left: dict[str, list[str]] = {}
    with _loaded(path) as (session, found):
        for name, signature in sorted(found.items()):
            fields: dict[str, Any] = {"inputs": _types(signature.inputs), "outputs": _types(signature.outputs)}
            try:
                fed = {key: _fed(session, key, info, features) for key, info in signature.inputs.items()}
                values = _computed(writer, session, signature, fed)
                fields.update(fed={key: writer.array(value) for key, value in fed.items()}, values=values)
                blank = {key: _blank(session, info, features) for key, info in signature.inputs.items()}
                if all(value is not None for value in blank.values()):
                    fields["blank"] = {key: writer.array(value) for key, value in blank.items()}
                    fields["of blank"] = _or_error(writer, session, signature, blank)
            except NotFed as problem:
                left.setdefault(str(problem), []).append(name)
            except Exception as error:  # whatever running it may raise: the program goes on
                left.setdefault(f"it does not run: {_first_line(error)}", []).append(name)
            signatures[name] = fields
    for reason, names in left.items():
        note(f"{_UNSEEN}, but for the types of their signatures ({', '.join(names)}): {reason}")
    writer.event("export", call=call, folder=folder_of(path), signatures=signatures)


def repeat(writer: store.Writer, reader: store.Reader, events: list[dict[str, Any]], call: int, path: Any) -> None:
    """Write down what the signatures of another SavedModel give for the inputs of each of the recorded `events`."""
    signatures: dict[str, Any] = {}
    with _loaded(path) as (session, found):
        for name, signature in sorted(found.items()):
            fields: dict[str, Any] = {"inputs": _types(signature.inputs), "outputs": _types(signature.outputs)}
            fields.update({"values": {}, "of blank": {}})
            for event in events:
                recorded, call_of = event["signatures"].get(name, {}), str(event["call"])
                fed, blank = (
                    {key: reader.array(value) for key, value in recorded.get(part, {}).items()}
                    for part in ("fed", "blank")
                )
                if fed and recorded["inputs"] == fields["inputs"]:
                    fields["values"][call_of] = _computed(writer, session, signature, fed)
                    if blank:
                        fields["of blank"][call_of] = _or_error(writer, session, signature, blank)
            signatures[name] = fields
    writer.event("export", call=call, folder=folder_of(path), signatures=signatures)


def folder_of(path: Any) -> str:
    """The name of the folder that exports go to, each to a folder of its own in it."""
    return os.path.basename(os.path.dirname(os.path.abspath(os.fsdecode(path))))


@contextmanager
def _loaded(path: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """A session with the SavedModel, and its signatures by name."""
    import tensorflow as tf

    v1 = getattr(tf.compat, "v1", tf)
    with tf.Graph().as_default() as graph, v1.Session(graph=graph) as session:
        path = path.decode() if isinstance(path, bytes) else str(path)
        loaded = v1.saved_model.load(session, ["serve"], path)
        yield session, {name: value for name, value in loaded.signature_def.items() if not name.startswith("__")}


def _types(tensors: Any) -> dict[str, str]:
    """The type of each tensor, by the name that the signature gives to it."""
    import tensorflow as tf

    return {key: str(tf.as_dtype(info.dtype).name) for key, info in tensors.items()}


def _computed(writer: store.Writer, session: Any, signature: Any, fed: dict[str, Any]) -> dict[str, Any]:
    """The outputs by name."""
    wanted = {key: info.name for key, info in signature.outputs.items() if info.name}
    values = session.run(wanted, {signature.inputs[key].name: value for key, value in fed.items()})
    return {key: writer.array(value) for key, value in values.items()}


def _or_error(writer: store.Writer, session: Any, signature: Any, fed: dict[str, Any]) -> dict[str, Any] | None:
    """The outputs by name; None if TensorFlow refuses the inputs."""
    import tensorflow as tf

    try:
        return _computed(writer, session, signature, fed)
    except tf.errors.OpError:
        return None


def _fed(session: Any, key: str, info: Any, features: Any) -> Any:
    """A value for one input. Raises NotFed."""
    import tensorflow as tf

    if not info.name:
        raise NotFed(f"its input {key} is sparse")
    tensor = session.graph.get_tensor_by_name(info.name)
    parser = _parser(tensor) if tensor.dtype == tf.string else None
    if parser is not None and parser.type == _CSV:
        return _lines(parser)
    if features is None:
        raise NotFed("the model had no batch before")
    if parser is not None:
        return _examples(session, parser, features)
    given = features.get(key) if isinstance(features, dict) else features
    if given is None or hasattr(given, "dense_shape") or isinstance(given, (tuple, list)):
        raise NotFed(f"its input {key} is not among the features of the model")
    rows = np.asarray(given)
    if tensor.shape.rank is None or not rows.ndim:
        raise NotFed(f"its input {key} has another shape than the feature of the model")
    shape = tensor.shape.as_list()
    count = shape[0] if shape and shape[0] is not None else min(ROWS, len(rows))
    rows = rows[np.arange(count) % len(rows)]
    wanted = [count, *[size if size is not None else -1 for size in shape[1:]]]
    text = rows.dtype.kind in "OSU"
    try:
        if text != (tensor.dtype.name == "string") or wanted.count(-1) > 1:
            assert rows.ndim == len(wanted)
        rows = rows.reshape(wanted) if wanted.count(-1) < 2 else rows
        return rows if text else rows.astype(tensor.dtype.as_numpy_dtype)
    except (AssertionError, ValueError, TypeError):
        raise NotFed(f"its input {key} has another type or shape than the feature of the model") from None


def _parser(tensor: Any) -> Any:
    """The op that parses the lines or serialized examples which a tensor holds."""
    for op in tensor.consumers():
        found = op if op.type in _PARSERS else _parser(op.outputs[0]) if op.type in _IDLE else None
        if found is not None:
            return found
    return None


def _blank(session: Any, info: Any, features: Any) -> Any:
    """One line or example that lacks what the graph has defaults for, or all if it has none; None if it parses nothing."""
    import tensorflow as tf

    tensor = session.graph.get_tensor_by_name(info.name)
    parser = _parser(tensor) if tensor.dtype == tf.string else None
    if parser is None:
        return None
    if parser.type == _CSV:
        optional = [bool(len(session.run(default))) for default in parser.inputs[1:]]
        mark = parser.get_attr("field_delim")
        fields = _lines(parser)[0].split(mark)
        blank = [b"" if left_out or not any(optional) else field for field, left_out in zip(fields, optional)]
        return np.array([mark.join(blank)], object)
    sparse, dense = _keys(session, parser)
    optional = [bool(np.size(session.run(each))) for each in parser.inputs[-len(dense) :]] if dense else []
    left_out = [*sparse, *(key for key, there in zip(dense, optional) if there)] or dense
    return _examples(session, parser, features, frozenset(left_out))[:1]


def _lines(parser: Any) -> Any:
    """Lines of a table with small numbers and words."""
    kinds, mark = parser.get_attr("OUT_TYPE"), parser.get_attr("field_delim").decode()
    lines = []
    for row in range(ROWS):
        numbers = [row + column + 1 for column in range(len(kinds))]
        fields = [
            f"{n / 2}" if k.name in ("float32", "float64") else f"w{n}" if k.name == "string" else str(n)
            for k, n in zip(kinds, numbers)
        ]
        lines.append(mark.join(fields).encode())
    return np.array(lines, object)


def _keys(session: Any, parser: Any) -> tuple[list[bytes], list[bytes]]:
    """The names of the sparse and of the dense features that a graph parses. Raises NotFed if there are others."""
    if parser.type == "ParseExampleV2":
        if len(session.run(parser.inputs[4])):
            raise NotFed("it parses ragged features")
        sparse, dense = (list(session.run(parser.inputs[index])) for index in (2, 3))
        return sparse, dense
    numbers = parser.get_attr("Nsparse"), parser.get_attr("Ndense")
    keys = [session.run(part) for part in parser.inputs[2 : 2 + sum(numbers)]]
    return keys[: numbers[0]], keys[numbers[0] :]


def _examples(session: Any, parser: Any, features: Any, left_out: frozenset[bytes] = frozenset()) -> Any:
    """Serialized examples with what a graph parses, as far as the features have it. Raises NotFed for parsers of others."""
    import tensorflow as tf

    if not isinstance(features, dict):
        raise NotFed("the features of the model have no names")
    sparse, dense = _keys(session, parser)
    kinds = dict(zip(dense, parser.get_attr("Tdense")))
    kinds.update(zip(sparse, parser.get_attr("sparse_types")))
    shapes = dict(zip(dense, parser.get_attr("dense_shapes")))
    known = [value for value in features.values() if value is not None]
    count = min([ROWS, *[_length(value) for value in known]])
    examples = []
    for row in range(count):
        example = tf.train.Example()
        for key, kind in kinds.items():
            name = key.decode()
            if key in left_out:
                continue
            if name in features:
                values = _row(features[name], row)
            elif key in shapes:
                values = [b"" if kind == tf.string else 0] * int(np.prod([size.size for size in shapes[key].dim]))
            else:
                continue
            feature = example.features.feature[name]
            if kind == tf.string:
                feature.bytes_list.value.extend(v if isinstance(v, bytes) else str(v).encode() for v in values)
            elif kind == tf.float32:
                feature.float_list.value.extend(float(v) for v in values)
            else:
                feature.int64_list.value.extend(int(v) for v in values)
        examples.append(example.SerializeToString())
    return np.array(examples, object)


def _length(value: Any) -> int:
    """Examples in a feature."""
    return int(value.dense_shape[0]) if hasattr(value, "dense_shape") else len(np.atleast_1d(value))


def _row(value: Any, row: int) -> list[Any]:
    """The values of one example."""
    if hasattr(value, "dense_shape"):
        chosen = np.asarray(value.indices)[:, 0] == row
        return list(np.asarray(value.values)[chosen])
    return list(np.reshape(np.asarray(value)[row], -1))
