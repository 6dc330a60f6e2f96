"""One source file as the rules see it: tree, byte spans, resolved names, and builders of edits.

Everything is computed on first use, so a file without TensorFlow costs one search for a byte string.
"""

from __future__ import annotations

import ast
import bisect
import operator
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar, Union, overload

from migrator.rewrite.changes import Remove
from migrator.rewrite.cstfile import CstFile
from migrator.rewrite.imports import import_position
from migrator.vocabulary.diagnostics import Edit, Fix

from .binding import analyze
from .dialect import module_dialect, reference_dialect
from .parsing import expression_tree, syntax_tree
from .symbols import UNKNOWN, Analysis, Binding, Import, ImportMap, Scope, dotted, normalize
from .syntax import assigned, walk
from .text import Place, Span, Text

_ANNOTATED = re.compile(rb"^[ \t]*[\w.]+[ \t]*:[ \t]*[\w\"'(]", re.MULTILINE)
"""What a file with annotated assignments has, and not many others."""

_WORD = re.compile(rb"[A-Za-z_][A-Za-z_0-9]*")

N = TypeVar("N", ast.Attribute, ast.Call, ast.ClassDef, ast.FunctionDef)
A = TypeVar("A", bound=ast.AST)
B = TypeVar("B", bound=ast.AST)


class Module(Text):
    """A source file with what its names stand for.

    Reading `tree`, and all that needs it, raises SyntaxError or RecursionError for a file that Python cannot parse; a
    `lenient` module has nothing in it then.
    """

    def __init__(self, path: str, text: str, lenient: bool = False) -> None:
        super().__init__(path, text)
        self._qualified: dict[ast.AST, str | None] = {}
        self._raw_names: dict[ast.AST, frozenset[str]] = {}
        self._lenient = lenient
        self._failed = False
        self.inherited_dialect: str | None = None
        self.inherited_reason = "decided before this run changed the file"
        """Dialect of the file before this run changed it: edits remove the very names that told TF1 from TF2."""
        self.memo: dict[str, Any] = {}
        """What a rule worked out about the file as a whole, by the rule's name."""
        self._sorted_loads: dict[str, list[tuple[ast.Name, Scope]]] = {}
        self._held_loads: dict[str, dict[ast.AST, list[ast.Name]]] = {}
        self.component: Mapping[str, Module] = {}
        """The modules that are looked at together with this one, by path; set by the engine."""
        self.find_fixes: Callable[[Module], list[Fix]] = lambda module: []
        """Gives `fixes`; set by the engine for the program rules, before anybody asks."""

    @cached_property
    def fixes(self) -> list[Fix]:
        """The safe fixes that the file rules of this round propose."""
        return self.find_fixes(self)

    @cached_property
    def mentions_tensorflow(self) -> bool:
        """Whether the word occurs at all; False means that no name of this file can resolve to TensorFlow."""
        return b"tensorflow" in self.source

    @cached_property
    def tree(self) -> ast.Module:
        """The parsed file."""
        try:
            tree = syntax_tree(self.text, self.path)
            return assigned(tree) if _ANNOTATED.search(self.source) else tree
        except Exception:
            if self._lenient:
                self._failed = True
                return ast.Module(body=[], type_ignores=[])
            raise

    def share(self, other: Module) -> None:
        """Take over what is known of the same text: the tree, and what its names stand for."""
        if self.text != other.text or other._failed:
            return
        for name in ("tree", "analysis", "_references"):
            if name in other.__dict__:
                self.__dict__[name] = other.__dict__[name]
        self._qualified, self._raw_names = other._qualified, other._raw_names

    @cached_property
    def analysis(self) -> Analysis:
        """Scopes, bindings, imports and parents."""
        return analyze(self.tree)

    @property
    def imports(self) -> ImportMap:
        """All import statements."""
        return self.analysis.imports

    @property
    def star_import(self) -> list[str]:
        """Normalised names of the modules imported with ``from … import *``."""
        return [normalize(entry.target) for entry in self.imports.stars]

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that `node` stands in."""
        return self.analysis.parents.get(node)

    def nodes(self, kind: type[N]) -> list[N]:
        """All expressions or statements of one class, in source order."""
        found: list[N] = self._nodes.get(kind, [])  # type: ignore[assignment]
        return found

    @cached_property
    def _nodes(self) -> dict[type, list[Union[ast.expr, ast.stmt]]]:
        table: dict[type, list[Union[ast.expr, ast.stmt]]] = {kind: [] for kind in N.__constraints__}
        for node in self.analysis.parents:
            if node.__class__ in table:
                table[node.__class__].append(node)  # type: ignore[arg-type]
        for nodes in table.values():
            nodes.sort(key=_place)
        return table

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Parent, grandparent and so on up to the module."""
        parents = self.analysis.parents
        while node in parents:
            node = parents[node]
            yield node

    @overload
    def nearest(self, node: ast.AST, kinds: type[A]) -> A | None: ...
    @overload
    def nearest(self, node: ast.AST, kinds: tuple[type[A], type[B]]) -> A | B | None: ...
    @overload
    def nearest(self, node: ast.AST, kinds: tuple[type[ast.AST], ...]) -> ast.AST | None: ...
    def nearest(self, node: ast.AST, kinds: Any) -> ast.AST | None:
        """The innermost of these kinds of nodes around `node`, which is not itself asked. None: there is none."""
        return next((around for around in self.ancestors(node) if isinstance(around, kinds)), None)

    def is_inside(self, node: ast.AST, outer: ast.AST | None) -> bool:
        """Whether `node` stands somewhere below `outer`."""
        return any(around is outer for around in self.ancestors(node))

    def statement(self, node: ast.AST) -> ast.stmt:
        """The innermost statement that contains `node`."""
        while not isinstance(node, ast.stmt):
            node = self.analysis.parents[node]
        return node

    def scope(self, node: ast.AST) -> Scope:
        """The scope in which the code at `node` runs."""
        scopes = self._scopes
        while node not in scopes:
            parent = self.analysis.parents.get(node)
            if parent is None:
                break
            node = parent
        return scopes.get(node, self.analysis.root)

    @cached_property
    def _scopes(self) -> dict[ast.AST, Scope]:
        return {scope.node: scope for scope in self.analysis.scope_of.values()} | dict(self.analysis.scope_of)

    def raw_names(self, node: ast.AST) -> frozenset[str]:
        """What a dotted expression may stand for, as written in the imports (``tensorflow.compat.v1.X``)."""
        found = self._raw_names.get(node)
        if found is None:
            found = self._raw_names[node] = self.analysis.raw_names(node)
        return found

    def qualified(self, node: ast.AST) -> str | None:
        """Like `resolve`, but names of relative imports are answered too, with their leading dots."""
        if node in self._qualified:
            return self._qualified[node]
        names = {normalize(name) for name in self.raw_names(node)}
        name = names.pop() if len(names) == 1 else None
        self._qualified[node] = found = None if name == UNKNOWN else name
        return found

    def resolve(self, node: ast.AST) -> str | None:
        """The library name of a dotted expression, such as ``tensorflow.estimator.Estimator`` or ``absl.flags.FLAGS``.

        ``tensorflow.compat.v1.X`` and ``tensorflow.compat.v2.X`` are answered as ``tensorflow.X``. None when the root
        of the expression is not an import or an alias of one, or when it may be one of several things.
        """
        name = self.qualified(node)
        return None if name is None or name.startswith(".") else name

    def bindings(self, node: ast.Name) -> list[Binding]:
        """All places that may have bound this name."""
        return self.analysis.bindings(node)

    def assignment(self, node: ast.expr) -> ast.Assign | None:
        """The statement ``name = …`` that a name gets its value from, if that is the only one."""
        bindings = self.bindings(node) if isinstance(node, ast.Name) else []
        target = bindings[0].node if len(bindings) == 1 else None
        statement = self.parent(target) if isinstance(target, ast.Name) else None
        return statement if isinstance(statement, ast.Assign) and statement.targets == [target] else None

    def loads(self, name: str) -> list[ast.Name]:
        """Every place that reads `name`, in source order."""
        return [node for node, _ in self._loads_of(name)]

    def loads_of(self, name: str, scope: Scope | None) -> list[ast.Name]:
        """Those that read what `scope` binds; with None, those that read a builtin or an unknown name."""
        return [node for node, at in self._loads_of(name) if at.lookup(name) is scope]

    def loads_of_parameter(self, name: str, function: ast.AST) -> list[ast.Name]:
        """Those that read a name of a function."""
        return list(self._loads_by_holder(name).get(function, ()))

    def _loads_by_holder(self, name: str) -> dict[ast.AST, list[ast.Name]]:
        """What reads `name`, by the node whose scope binds it: made once a name, as every class has its own `self`."""
        table = self._held_loads.get(name)
        if table is None:
            table = self._held_loads[name] = {}
            for node, at in self._loads_of(name):
                holder = at.lookup(name)
                if holder is not None:
                    table.setdefault(holder.node, []).append(node)
        return table

    def may_name(self, names: Collection[str]) -> bool:
        """Whether the file has one of the names in it, if only in a comment."""
        return not self._words.isdisjoint(names) or any(
            name.encode() in self.source for name in names if not (name.isascii() and name.isidentifier())
        )

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(word.decode() for word in _WORD.findall(self.source))

    @cached_property
    def _loads(self) -> dict[str, list[tuple[ast.Name, Scope]]]:
        table: dict[str, list[tuple[ast.Name, Scope]]] = {}
        for load in self.analysis.loads:
            table.setdefault(load[0].id, []).append(load)
        return table

    def _loads_of(self, name: str) -> list[tuple[ast.Name, Scope]]:
        """What reads a name, in source order."""
        found = self._sorted_loads.get(name)
        if found is None:
            found = sorted(self._loads.get(name, ()), key=lambda load: _place(load[0]))
            self._sorted_loads[name] = found
        return found

    def is_bound(self, name: str, at: ast.AST) -> bool:
        """Whether code at `at` already sees some binding of `name` in this file."""
        scope = self.scope(at)
        return scope.lookup(name) is not None or name in self.star_import

    @cached_property
    def bound_names(self) -> frozenset[str]:
        """Every name that any scope of the file binds."""
        found: set[str] = set()
        seen: set[Scope] = set()
        for scope in (self.analysis.root, *self._scopes.values()):
            if scope not in seen:
                seen.add(scope)
                found.update(scope.bindings)
        return frozenset(found)

    def unused_name(self, name: str, at: ast.AST) -> str:
        """`name` for a variable of the function around a node, with underscores behind it where the function has such a
        name or reads one from around it."""
        function = self.nearest(at, ast.FunctionDef) or self.tree
        scope = self.scope(function)
        outside = {id(None)}
        around: Scope | None = scope
        while around is not None:
            outside.add(id(around))
            around = around.parent
        while name in scope.bindings or any(
            id(where.lookup(name)) in outside and function in self.ancestors(load)
            for load, where in self._loads_of(name)
        ):
            name += "_"
        return name

    def references(self) -> list[tuple[ast.expr, str]]:
        """Every place that reads a resolved library name: outermost dotted expression and its name, in source order.

        Expressions whose position in the source is not known exactly (f-strings before Python 3.12) are left out.
        """
        return self._references

    def references_in(self, node: Union[ast.expr, ast.stmt]) -> list[tuple[ast.expr, str]]:
        """Those of `references` that lie in a node; of a function or class, its decorators are no part."""
        start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
        first, last = (bisect.bisect_left(self._reference_places, place) for place in (start, end))
        return self._references[first:last]

    @cached_property
    def _reference_places(self) -> list[tuple[int, int]]:
        return [(node.lineno, node.col_offset) for node, _ in self._references]

    @cached_property
    def _references(self) -> list[tuple[ast.expr, str]]:
        analysis = self.analysis
        parents = analysis.parents
        found: list[tuple[int, int, ast.expr, str]] = []
        suspects = self._unplaced_nodes
        nothing = frozenset({UNKNOWN})
        known: dict[tuple[Scope, str], frozenset[str]] = {}
        names: dict[tuple[frozenset[str], str], str | None] = {}
        for root, scope in analysis.loads:
            if root.id not in analysis.named:
                continue
            roots = known.get((scope, root.id))
            if roots is None:
                roots = known[scope, root.id] = analysis.root_names(root.id, scope)
            self._raw_names[root] = roots
            if not roots or roots == nothing:
                continue
            node: ast.expr = root
            tail = ""
            while True:
                parent = parents.get(node)
                if not isinstance(parent, ast.Attribute) or not isinstance(parent.ctx, ast.Load):
                    break
                node = parent
                tail += "." + parent.attr
            if (roots, tail) not in names:
                names[roots, tail] = self.resolve(node)
            name = names[roots, tail]
            if name is not None and node not in suspects:
                found.append((node.lineno, node.col_offset, node, name))
        found.sort(key=lambda item: item[:2])
        return [(node, name) for _, _, node, name in found]

    @cached_property
    def names_read(self) -> frozenset[tuple[Scope | None, str]]:
        """Each name that is read, with the scope that binds it."""
        return frozenset((scope.lookup(node.id), node.id) for node, scope in self.analysis.loads)

    @cached_property
    def _unplaced_nodes(self) -> frozenset[ast.AST]:
        """Nodes inside f-strings whose offsets do not lead to their text."""
        if sys.version_info >= (3, 12):
            return frozenset()
        bad: set[ast.AST] = set()
        for field in self.analysis.formatted:
            try:
                again = expression_tree("(" + self.segment(field.value) + ")")
                exact = ast.dump(again) == ast.dump(field.value)
            except (SyntaxError, ValueError, IndexError):
                exact = False
            if not exact:
                bad.update(walk(field.value))
        return frozenset(bad)

    # -- dialect ------------------------------------------------------------------------------------------------------

    @cached_property
    def _dialect(self) -> tuple[str | None, str]:
        if self.inherited_dialect is not None:
            return self.inherited_dialect, self.inherited_reason
        return module_dialect(self)

    @property
    def module_dialect(self) -> str | None:
        """``v1`` or ``v2``: what a plain `import tensorflow as tf` of this file means; None without evidence."""
        return self._dialect[0]

    @property
    def dialect_reason(self) -> str:
        """The evidence for `module_dialect`, as a phrase for messages."""
        return self._dialect[1]

    def dialect(self, node: ast.AST) -> str | None:
        """``v1`` or ``v2`` for one reference: by its own path through compat, else that of the module."""
        return reference_dialect(self.raw_names(node)) or self.module_dialect

    def explicit_dialect(self, node: ast.AST) -> str | None:
        """``v1`` or ``v2`` only where the reference itself goes through ``compat``."""
        return reference_dialect(self.raw_names(node))

    # -- changes --------------------------------------------------------------------------------------------------------

    @cached_property
    def cst(self) -> CstFile:
        """The file as libcst sees it: nodes for those of `tree`, and the edits that changes of them make."""
        return CstFile(self, self.tree, self.parent)

    def delete_statement(self, node: ast.stmt) -> Edit:
        """Remove a statement with its line and trailing comment; ``pass`` stays where a block would be empty."""
        (edit,) = self.cst.apply([Remove(node)])
        return edit

    def import_position(self) -> int:
        """Byte offset of the line before which a new top-level import fits."""
        return import_position(self, self.tree)


_place = operator.attrgetter("lineno", "col_offset")

__all__ = ["Binding", "Import", "ImportMap", "Module", "Place", "Scope", "Span", "dotted"]
