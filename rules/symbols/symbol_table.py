"""Renames, moves and changed parameters: one generic rewrite over the rows of symbols.toml."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Optional, Union

from migrator.engine.rule import Rule
from migrator.resolve.calls import call_of, has_stars
from migrator.resolve.module import Module
from migrator.resolve.signatures import Signatures, carried_over
from migrator.resolve.symbols import dotted
from migrator.rewrite import Change, Import, Replace, Unprintable
from migrator.vocabulary.diagnostics import Diagnostic, Severity

from .symbol_rows import Row, endpoints, find_row
from .tensorflow_names import VERSION_1, inner, tensorflow_root, via_version_1_import

_PLACE = 3
"""Of the initializer among the arguments of `get_variable`."""


@dataclass(frozen=True)
class Rewrite:
    """What to do with one reference: `changes`, or where there are none, `message` says what is left to do."""

    kind: str
    """``renamed``, ``changed`` or ``manual``."""
    message: str
    changes: tuple[Change, ...] = ()
    severity: Severity = Severity.WARNING


class _AnySymbol:
    """What rules about all names of TensorFlow have in common."""

    symbols: ClassVar[tuple[str, ...]] = ("tensorflow.*",)

    @classmethod
    def concerns(cls, module: Module) -> bool:
        """Not a file that knows TensorFlow as ``tensorflow.compat.v1`` only: its names are right, or move with the import."""
        targets = [entry.target for entry in module.imports if "tensorflow" in entry.target]
        return not all(target.startswith(VERSION_1) for target in targets)


class RenamedSymbol(_AnySymbol, Rule):
    """Replace TensorFlow 1 names by their TensorFlow 2 names.

    ## What it does
    Renames functions, classes and constants that TensorFlow 2 keeps under another name, and adapts the arguments of the
    call: renamed keywords are renamed, positional arguments whose place changed get their keyword, defaults that differ
    are written out. Names without a successor become `tf.compat.v1.X`.

    ## Why
    TensorFlow 2 does not have these names: the program stops with an AttributeError.

    ## Example
    ```python
    tf.gfile.MakeDirs(path)
    weights = tf.truncated_normal_initializer()
    x = tf.to_float(x)
    ```
    becomes
    ```python
    tf.io.gfile.makedirs(path)
    weights = tf.keras.initializers.TruncatedNormal(stddev=1.0)
    x = tf.cast(x, tf.float32)
    ```

    ## Fix safety
    Safe: old and new name compute the same. A call whose arguments cannot be seen or carried over is left as it is, with
    a diagnostic.
    """

    code = "EST001"
    name = "renamed-symbol"

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        """One diagnostic for a reference that has another name in TensorFlow 2."""
        yield from _report(self, "renamed", node, name, module)


class ChangedParameters(_AnySymbol, Rule):
    """Adapt calls of functions that TensorFlow 2 keeps with other parameters.

    ## What it does
    Renames keywords (`keep_dims`, `dim`, `reduction_indices`), gives positional arguments whose place changed their
    keyword, and turns `keep_prob` into `rate`.

    ## Why
    The same call means something else in TensorFlow 2, or is an error: `tf.nn.dropout(x, 0.9)` keeps nine tenths in
    TensorFlow 1 and drops nine tenths in TensorFlow 2.

    ## Example
    ```python
    tf.reduce_mean(x, 1, keep_dims=True)
    tf.nn.dropout(x, 0.9)
    ```
    becomes
    ```python
    tf.reduce_mean(x, 1, keepdims=True)
    tf.nn.dropout(x, rate=1 - 0.9)
    ```

    ## Fix safety
    Safe. It fires only where the file is written for TensorFlow 1, or where the call itself uses a keyword that only
    TensorFlow 1 has.
    """

    code = "EST002"
    name = "changed-parameters"

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        """One diagnostic for a call whose arguments change."""
        yield from _report(self, "changed", node, name, module)


class ManualSymbol(_AnySymbol, Rule):
    """Point out TensorFlow 1 names that need a decision.

    ## What it does
    Reports names that have no successor, whose meaning changed, or whose call could not be rewritten; it changes nothing.

    ## Why
    An honest note is worth more than a rewrite that may compute something else.

    ## Example
    ```python
    table = tf.contrib.lookup.index_table_from_file(path)
    ```
    is reported with the advice to use `tf.lookup.StaticVocabularyTable`.

    ## Fix safety
    There is no fix.
    """

    code = "EST003"
    name = "manual-symbol"

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        """One diagnostic for a reference that is left to the reader."""
        yield from _report(self, "manual", node, name, module)


def _report(rule: Rule, kind: str, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
    cache = module.memo.setdefault("symbol_table", {})
    if node not in cache:
        cache[node] = _examine(node, name, module)
    found: Optional[Rewrite] = cache[node]
    if found is not None and found.kind == kind:
        yield rule.diagnostic(module, node, found.message, changes=found.changes, severity=found.severity)


def _examine(node: ast.expr, name: str, module: Module) -> Optional[Rewrite]:
    short = name[len("tensorflow.") :]
    explicit = module.explicit_dialect(node)
    if explicit == "v2" or via_version_1_import(module, node):
        return None
    found = find_row(short)
    if found is None:
        if explicit == "v1" and short in endpoints().same and not short.startswith("estimator."):
            return rename(module, node, f"tf.compat.v1.{short}", short)
        return None
    row, levels = found
    if levels and not row.plain and row.kind != "manual":
        return None
    reached = min(levels, len((dotted(node) or "").split(".")) - 1)
    if reached < levels:  # an import reaches into what the row is about
        members = ".".join(short.split(".")[-levels : -reached or None])
        row, levels = replace(row, name=f"{row.name}.{members}", to=f"{row.to}.{members}"), reached
    target = node if row.kind == "manual" else inner(node, levels)
    table = endpoints()
    both = row.name in table.changed or row.name in table.same
    if explicit == "v1":
        if row.kind in ("compat", "graph", "check", "manual") or not both and row.to.startswith("compat.v1."):
            return None
    elif both and not row.neutral:
        if module.module_dialect != "v1" and not uses_old_keyword(module, target, row):
            return None
        if not table.v1.get(row.name):
            return None
    elif row.neutral:
        return None
    return rewrite_row(module, target, row)


def uses_old_keyword(module: Module, node: ast.expr, row: Row) -> bool:
    """Whether the call has a keyword that only TensorFlow 1 knew, which proves what it was written for."""
    call = call_of(module, node)
    if call is None or row.new is None:
        return False
    return any(keyword.arg in row.keywords and keyword.arg not in row.new for keyword in call.keywords)


def uses_new_keyword(call: Optional[ast.Call], row: Row) -> bool:
    """Whether the call has a keyword that only TensorFlow 2 knows, for which it is written then."""
    if call is None or row.new is None or row.old is None or row.to != row.name:
        return False
    return any(keyword.arg in row.new and keyword.arg not in row.old for keyword in call.keywords)


def rewrite_row(module: Module, node: ast.expr, row: Row, root: Optional[str] = None) -> Optional[Rewrite]:
    """What the row says about this reference, which is known to mean the TensorFlow 1 name.

    `root` is the name of plain TensorFlow if the caller knows it. None where the call is right as it is.
    """
    call, told = call_of(module, node), root is not None
    old_name = f"tf.{row.name}"
    if row.kind == "manual":
        return Rewrite("manual", f"{old_name} has no successor: {row.note}")
    if row.kind == "check":
        needed = row.name != "where" or call is None or has_stars(call) or len(call.args) + len(call.keywords) > 1
        return Rewrite("manual", f"{old_name}: {row.note}", severity=Severity.INFO) if needed else None
    changes: list[Change] = []
    if root is None:
        found = tensorflow_root(module, node)
        if found is None:
            return Rewrite(
                "manual", f"{old_name} is now tf.{row.to}, but no name for TensorFlow is free here: import it"
            )
        root, changes = found[0], [*found[1]]
    made = call is None and _is_class_of_initializers(row) and is_initializer(module, node)
    if not row.plain and not made:
        changed = _arguments(module, call, row, root)
        if isinstance(changed, str) and uses_new_keyword(call, row):
            return None
        if isinstance(changed, str) and row.otherwise:
            kept = not told and module.explicit_dialect(node) == "v1"
            return None if kept else rename(module, node, old_name, row.otherwise, root)
        if isinstance(changed, str):
            return Rewrite("manual", f"{old_name} is left as it is: {changed}{'; ' + row.note if row.note else ''}")
        changes += changed
    new_text = f"{root}.{row.to}"
    if made:  # TensorFlow 1 calls a class without arguments
        new_text += f"({', '.join(f'{name}={text}' for name, text in row.defaults.items())})"
    if module.resolve(node) != f"tensorflow.{row.to}" or _spelled(module, node) != new_text:
        changes.append(Replace(node, new_text))
    if not changes:
        return None
    if row.to == row.name:
        message = f"the parameters of {old_name} changed"
        kind = "changed"
    else:
        message = f"{old_name} is tf.{row.to} in TensorFlow 2"
        kind = "renamed"
    if row.note:
        message += f"; {row.note}"
    severity = Severity.WARNING if row.kind == "graph" else Severity.INFO
    return Rewrite(kind, message, tuple(changes), severity)


def _is_class_of_initializers(row: Row) -> bool:
    """Not for the functions that return one, which TensorFlow 1 does not take for one."""
    short = row.name.rpartition(".")[2]
    family = row.to.startswith("keras.initializers.") or row.to in ("zeros_initializer", "ones_initializer")
    return family and not short.startswith(("he_", "lecun_"))


def is_initializer(module: Module, node: ast.expr) -> bool:
    """Whether something is what a layer or a variable begins with: ``dense(x, 2, kernel_initializer=…)``."""
    outer = module.parent(node)
    call = module.parent(outer) if isinstance(outer, ast.keyword) else outer
    if not isinstance(call, ast.Call) or call.func is node:
        return False
    name = module.resolve(call.func) or ""
    if not isinstance(outer, ast.keyword):
        return name == "tensorflow.get_variable" and call.args.index(node) == _PLACE
    own = isinstance(call.func, ast.Attribute) and call.func.attr in ("add_weight", "add_variable")
    told = outer.arg is not None and (outer.arg == "initializer" or outer.arg.endswith("_initializer"))
    return told and (own or name.startswith("tensorflow."))


def rename(module: Module, node: ast.expr, old: str, new: str, root: Optional[str] = None) -> Optional[Rewrite]:
    """Spell the reference as ``tf.new``."""
    imports: list[Import] = []
    if root is None:
        found = tensorflow_root(module, node)
        if found is None:
            return None
        root, imports = found
    return Rewrite("renamed", f"{old} is tf.{new} in TensorFlow 2", (*imports, Replace(node, f"{root}.{new}")))


def _spelled(module: Module, node: ast.expr) -> str:
    """The dotted expression without blanks and line breaks; aliases of members count as another spelling."""
    return "".join(module.segment(node).split())


def _arguments(module: Module, call: Optional[ast.Call], row: Row, root: str) -> Union[list[Change], str]:
    if call is None:
        if row.wrap or row.defaults or row.extra:
            return "it is passed on without being called, and its parameters differ"
        # Whoever calls it passes the first arguments by position, and those agree for a name that stayed.
        if row.to == row.name or row.old == row.new and row.old is not None:
            return []
        return "it is passed on without being called, and its parameters differ"
    if row.old is None or row.new is None:
        return "its parameters are not known"
    bound = dict(zip(row.old, call.args))
    bound.update({keyword.arg: keyword.value for keyword in call.keywords if keyword.arg})
    for name in row.single:
        if isinstance(bound.get(name), (ast.List, ast.Tuple)):
            return f"`{name}` is a list"
    extra = {name: text.replace("{tf}", root) for name, text in row.extra.items()}
    defaults = {
        row.keywords.get(name, name): row.wrap.get(name, "{}").format(text) for name, text in row.defaults.items()
    }
    signatures = Signatures(row.old, row.new, row.keywords, row.drop, row.wrap, extra, defaults, row.named)
    try:
        return carried_over(module, call, signatures)
    except Unprintable as error:
        return f"{error.reason} (line {error.location.line}); change it by hand"
