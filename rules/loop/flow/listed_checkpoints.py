"""Programs that go through the checkpoints of a folder: the first of an Estimator held what a training began with."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from migrator.resolve.module import Module

FIRST = "an Estimator saved a checkpoint before the first step as well; now the first one is that after some training"
_ALL = "all_model_checkpoint_paths"
_GLOBS = frozenset({"glob.glob", "glob.iglob", "tensorflow.gfile.Glob", "tensorflow.io.gfile.glob"})
_PATTERN = re.compile(r"ckpt.*\*|\*.*\.(index|meta)")


def lists_checkpoints(modules: Iterable[Module]) -> Iterator[tuple[Module, ast.AST]]:
    """Where a program asks for all checkpoints, or for the files of all."""
    for module in modules:
        for node in module.nodes(ast.Attribute) if _ALL.encode() in module.source else ():
            if isinstance(node, ast.Attribute) and node.attr == _ALL:
                yield module, node
        for call in module.nodes(ast.Call) if b"glob" in module.source.lower() else ():
            assert isinstance(call, ast.Call)
            name = module.resolve(call.func) or module.qualified(call.func) or ""
            texts = (n.value for n in ast.walk(call) if isinstance(n, ast.Constant) and isinstance(n.value, str))
            if name in _GLOBS and any(map(_PATTERN.search, texts)):
                yield module, call
