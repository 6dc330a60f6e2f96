"""`slim.utils.last_dimension` and `first_dimension`: an entry of a shape, which has to be known."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Replace, expr

_PLACES = {"last_dimension": "-1", "first_dimension": "0"}
_NAMES = {
    f"{package}.utils.{name}": place
    for package in ("tensorflow.contrib.slim", "tensorflow.contrib.layers", "tf_slim", "tf_slim.layers")
    for name, place in _PLACES.items()
}


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Writes the entry. The smallest rank, which such a call may be told, checks a shape that is known before it runs.

    ```python
    from tensorflow.contrib import slim

    def depth(net):
        return slim.utils.last_dimension(net.get_shape(), min_rank=4)
    ```
    becomes
    ```python
    from tensorflow.contrib import slim

    def depth(net):
        return net.get_shape().as_list()[-1]
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each call."""
    del project
    for node, name in module.references() if b"_dimension" in module.source else ():
        call, place = module.parent(node), _NAMES.get(name)
        if place is None or not isinstance(call, ast.Call) or call.func is not node:
            continue
        try:
            shape = bind(call, "shape min_rank", name)["shape"]
        except (Unsupported, KeyError):
            continue
        if isinstance(shape, (ast.Call, ast.Attribute)):
            yield Change.of(
                module, Replace(call, expr(f"{{shape}}.as_list()[{place}]", shape=module.cst.expression(shape)))
            )
