"""Whether a program may read its flags before `app.run` parsed them, at an import or in what runs ahead of it.

The flags of TensorFlow 1 parse themselves when one of them is first read; those of absl raise. Where code runs before
`app.run` is asked by names alone, over all files of the program: a function is taken to run if code that runs names it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, field

from migrator.resolve.module import Module
from migrator.resolve.syntax import children, walk

RUNNERS = frozenset({"tensorflow.app.run", "tensorflow.python.platform.app.run", "absl.app.run"})
FLAGS = frozenset(
    {
        "tensorflow.flags.FLAGS",
        "tensorflow.app.flags.FLAGS",
        "tensorflow.python.platform.flags.FLAGS",
        "absl.flags.FLAGS",
    }
)
_UNREAD = frozenset(
    {
        "flag_values_dict", "is_parsed", "mark_as_parsed", "set_default", "find_module_defining_flag", "unparse_flags",
        "key_flags_by_module_dict", "flags_by_module_dict", "get_key_flags_for_module", "set_gnu_getopt", "append_flag_values",
        "remove_flag_values", "validate_all_flags",
    }
)  # fmt: skip
"""Methods of `FLAGS` that want nothing parsed."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.ExceptHandler)


@dataclass
class _Code:
    """What some code names, and whether it reads flags."""

    names: set[str] = field(default_factory=set)
    reads: bool = False


@dataclass
class _Facts:
    """One file: what runs when it is imported or started, and its functions, classes and values by name."""

    start: _Code = field(default_factory=_Code)
    defined: dict[str, list[_Code]] = field(default_factory=dict)
    runs: bool = False
    """Whether it has `app.run`."""
    names: bool = False
    """Whether it has `FLAGS`."""


def reads_flags_unparsed(module: Module) -> bool:
    """Whether the program of a file relies on flags that parse themselves when first read.

    Also where no file at hand calls `app.run`: then nothing else is known to parse those that somebody may read.
    """
    known = module.memo.get("flags_unparsed")
    if known is None:
        files = {**module.component, module.path: module}.values()
        known = module.memo["flags_unparsed"] = _reads_unparsed([_facts(one) for one in files])
    return bool(known)


def _reads_unparsed(program: list[_Facts]) -> bool:
    if not any(facts.runs for facts in program):
        return any(facts.names for facts in program)
    defined: dict[str, list[_Code]] = {}
    for facts in program:
        for name, found in facts.defined.items():
            defined.setdefault(name, []).extend(found)
    waiting = [facts.start for facts in program]
    seen: set[str] = set()
    while waiting:
        code = waiting.pop()
        if code.reads:
            return True
        for name in code.names - seen:
            seen.add(name)
            waiting += defined.get(name, ())
    return False


def _facts(module: Module) -> _Facts:
    known = module.memo.get("flag_facts")
    if known is None:
        known = module.memo["flag_facts"] = _Finder(module).found
    assert isinstance(known, _Facts)
    return known


class _Finder:
    """Sorts the code of a file."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._reads = module.may_name(("FLAGS",))
        self._starts = module.may_name(("run",))
        self.found = _Facts()
        self._block(module.tree.body)

    def _block(self, body: Iterable[ast.AST]) -> None:
        """Statements that run when the file is imported or started."""
        for node in body:
            if isinstance(node, _FUNCTIONS):
                self._define(node.name, self._code([node]))
                self._run(*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults))
            elif isinstance(node, ast.ClassDef):
                self._define(node.name, self._code([node]))
                self._run(*node.decorator_list, *node.bases, *node.keywords)
                self._block(node.body)
            elif isinstance(node, ast.Assign) and not any(isinstance(part, ast.Call) for part in walk(node.value)):
                code = self._code([node.value])
                self.found.start.reads |= code.reads
                for target in node.targets:  # what the value names runs once somebody calls the target
                    for part in walk(target):
                        if isinstance(part, ast.Name):
                            self._define(part.id, code)
            elif isinstance(node, _BLOCKS):
                self._block(children(node))
            else:
                self._run(node)

    def _define(self, name: str, code: _Code) -> None:
        self.found.defined.setdefault(name, []).append(code)

    def _run(self, *nodes: ast.AST) -> None:
        code = self._code(nodes)
        self.found.start.names |= code.names
        self.found.start.reads |= code.reads

    def _code(self, nodes: Iterable[ast.AST]) -> _Code:
        """What lies below `nodes`, but for the function that `app.run` calls once it has parsed the flags."""
        code = _Code()
        if not (self._starts or self._reads):
            below = [inner for node in nodes for inner in walk(node)]
            code.names.update(inner.id for inner in below if isinstance(inner, ast.Name))
            code.names.update(inner.attr for inner in below if isinstance(inner, ast.Attribute))
            return code
        waiting = list(nodes)
        while waiting:
            node = waiting.pop()
            if self._starts and isinstance(node, ast.Call) and self._module.resolve(node.func) in RUNNERS:
                self.found.runs = True
                waiting += [*node.args[1:], *(one.value for one in node.keywords if one.arg != "main")]
                continue
            code.reads = code.reads or (self._reads and self._is_read(node))
            if isinstance(node, ast.Name):
                code.names.add(node.id)
            elif isinstance(node, ast.Attribute):
                code.names.add(node.attr)
            waiting += children(node)
        return code

    def _is_read(self, node: ast.AST) -> bool:
        """Whether a node is `FLAGS` with the value of a flag wanted of it, or given to code that may want one."""
        if not isinstance(node, (ast.Name, ast.Attribute)) or not isinstance(node.ctx, ast.Load):
            return False
        if isinstance(node, ast.Attribute) and node.attr != "FLAGS" or not self._is_flags(node):
            return False
        self.found.names = True
        parent = self._module.parent(node)
        if isinstance(parent, ast.Attribute):
            return isinstance(parent.ctx, ast.Load) and parent.attr not in _UNREAD
        if isinstance(parent, ast.Call):
            return parent.func is not node
        return not isinstance(parent, (ast.Assign, ast.Subscript, ast.Compare, ast.Expr))

    def _is_flags(self, node: ast.Name | ast.Attribute) -> bool:
        name = self._module.qualified(node)
        if name is not None:
            return name in FLAGS or name.endswith(".FLAGS") and not name.startswith("tensorflow.")
        return isinstance(node, ast.Name) and node.id == "FLAGS" and not self._module.bindings(node)  # of a star import
