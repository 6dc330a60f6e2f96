"""`slim.utils.collect_named_outputs`: the tensor itself, where nobody asks for what it keeps in a collection."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.calls import call_of
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Replace

_NAMES = frozenset(
    f"{package}.utils.collect_named_outputs"
    for package in ("tensorflow.contrib.slim", "tensorflow.contrib.layers", "tf_slim", "tf_slim.layers")
)
_READERS = (".utils.convert_collection_to_dict", ".utils.gather_tensors_aliases")


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Writes the tensor.

    ```python
    from tensorflow.contrib import slim

    def unit(net, outputs_collections=None):
        output = net + slim.conv2d(net, 8, 3)
        return slim.utils.collect_named_outputs(outputs_collections, "unit", output)
    ```
    becomes
    ```python
    from tensorflow.contrib import slim

    def unit(net, outputs_collections=None):
        output = net + slim.conv2d(net, 8, 3)
        return output
    ```
    """
    modules = drafts.project.modules.values()
    if any(b"collect_named_outputs" in module.source for module in modules) and not any(map(_asks, modules)):
        drafts.apply_all(paths, _found)


def _asks(module: Module) -> bool:
    """Whether a file reads a collection that such an output may be in."""
    for node, name in module.references():
        if name.endswith(_READERS):
            return True
        call = call_of(module, node) if name in ("tensorflow.get_collection", "tensorflow.get_collection_ref") else None
        key = call.args[0] if call is not None and call.args else None
        if call is not None and "GraphKeys" not in (module.resolve(key) or "" if key is not None else ""):
            return True
    return False


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each call."""
    del project
    for node, name in module.references() if b"collect_named_outputs" in module.source else ():
        call = call_of(module, node) if name in _NAMES else None
        if call is None:
            continue
        try:
            output = bind(call, "collections alias outputs", name)["outputs"]
        except (Unsupported, KeyError):
            continue
        yield Change.of(module, Replace(call, module.cst.expression(output)))
