"""tf.logging, tf.flags and tf.app were wrappers of absl; programs now use absl itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Optional

from migrator.engine.rule import Rule
from migrator.resolve.calls import bind, call_of
from migrator.resolve.module import Module
from migrator.resolve.symbols import Scope, normalize
from migrator.rewrite import Change, Import, Remove, Rename, Replace, expr, with_arguments
from migrator.vocabulary.diagnostics import Diagnostic, Severity

from .flag_reads import FLAGS, reads_flags_unparsed
from .tensorflow_names import PLAIN, inner, root_name, tensorflow_root, via_version_1_import

_LEVELS = {
    "DEBUG": "DEBUG",
    "INFO": "INFO",
    "WARN": "WARNING",
    "WARNING": "WARNING",
    "ERROR": "ERROR",
    "FATAL": "FATAL",
}
# `fatal` is missing: absl ends the process after the message, TensorFlow only logs it.
_FUNCTIONS = {
    "debug": "debug",
    "info": "info",
    "warn": "warning",
    "warning": "warning",
    "error": "error",
    "vlog": "vlog",
}
_LEVEL_FUNCTIONS = {name: name for name in ("log", "log_every_n", "log_first_n", "log_if", "set_verbosity")}
_IMPORTED = {
    "tensorflow.logging": "logging",
    "tensorflow.flags": "flags",
    "tensorflow.app.flags": "flags",
    "tensorflow.app": "app",
}
_OLD_KEYWORDS = {"flag_name": "name", "default_value": "default", "docstring": "help"}


class AbslModules(Rule):
    """Replace `tf.logging`, `tf.flags` and `tf.app` by absl.

    ## What it does
    Rewrites `tf.logging.info`, `tf.app.flags.DEFINE_string`, `tf.app.run` and their relatives to `absl.logging`,
    `absl.flags` and `absl.app`, and adds the imports. `flags = tf.app.flags` becomes the import itself.

    ## Why
    TensorFlow 2 has none of these modules. In TensorFlow 1 they were thin wrappers of absl, which TensorFlow still
    installs.

    ## Example
    ```python
    flags = tf.app.flags
    tf.logging.set_verbosity(tf.logging.INFO)
    tf.app.run()
    ```
    becomes
    ```python
    from absl import flags
    logging.set_verbosity(logging.INFO)
    app.run(main, flags_parser=lambda argv: flags.FLAGS(argv, known_only=True))
    ```

    ## Fix safety
    Safe. The wrappers differ from absl in four places. `tf.app.run` leaves flags that nobody defined to the program: it
    is called with a parser that does so, too, and without the parser absl would name such a flag and end. Three keep the
    wrapper under its name `tf.compat.v1.X`: numbers passed to `set_verbosity` are Python's levels, `fatal` does not end
    the process, and flags parse themselves when one is first read. They keep it in all files of a program together, where any
    of them reads a flag when it is imported, or before it calls `app.run`, or where none calls that.
    """

    code = "EST004"
    name = "absl-modules"
    symbols = (
        "tensorflow.logging.*",
        "tensorflow.flags.*",
        "tensorflow.app.*",
        "tensorflow.app",
        "tensorflow.flags",
        "tensorflow.logging",
    )

    def check(self, node: ast.expr, name: str, module: Module) -> Iterator[Diagnostic]:
        """One diagnostic for each place that names one of the three modules."""
        if module.explicit_dialect(node) == "v2" or via_version_1_import(module, node):
            return
        short = short_name(name)
        changes = absl_changes(module, node, short)
        if changes is None:
            if through_alias(module, node):
                return
            yield self.diagnostic(module, node, f"tf.{short} is gone; use absl")
        elif changes:
            last = changes[-1]
            stays = isinstance(last, Replace) and isinstance(last.new, str) and ".compat.v1." in last.new
            message = f"tf.{short} is gone" if stays else f"tf.{short} is gone; absl has it"
            yield self.diagnostic(module, node, message, changes=changes, severity=Severity.INFO)

    def check_module(self, module: Module) -> Iterator[Diagnostic]:
        """One diagnostic for each ``from tensorflow import logging`` or ``flags``."""
        for entry in module.imports:
            family = _IMPORTED.get(entry.target)
            statement = entry.statement
            if family is None or not isinstance(statement, ast.ImportFrom):
                continue
            alias = "" if entry.name == family else f" as {entry.name}"
            source = "absl"
            if not _is_as_good(module, family):
                source = "tensorflow.compat.v1"
            lines = [f"from {source} import {family}{alias}"]
            rest = [module.segment(other) for other in statement.names if other is not entry.alias]
            if rest:
                if module.comments_in(*module.span(statement)):
                    continue
                lines.append(f"from {statement.module} import {', '.join(rest)}")
            message = f"TensorFlow 2 has no {entry.target}; it is {source}.{family}"
            change = Import("\n".join(lines), instead=statement)
            yield self.diagnostic(module, statement, message, changes=[change], severity=Severity.INFO)


def short_name(name: str) -> str:
    """``flags.X`` for ``tensorflow.flags.X`` and ``tensorflow.app.flags.X``; else the name below ``tensorflow``."""
    short = name[len("tensorflow.") :]
    return short[len("app.") :] if short.startswith("app.flags") else short


def is_absl(name: str) -> bool:
    """Whether a qualified name lies in one of the three modules."""
    return name.startswith(("tensorflow.logging", "tensorflow.flags", "tensorflow.app"))


def through_alias(module: Module, node: ast.expr) -> bool:
    """Whether the reference starts at ``flags = tf.app.flags`` or the like, and not at TensorFlow itself."""
    raw = module.raw_names(root_name(node))
    return not all(name in PLAIN or name == "tensorflow.compat.v1" for name in raw)


def absl_changes(module: Module, node: ast.expr, short: str, root: Optional[str] = None) -> Optional[list[Change]]:
    """What changes for one reference; empty where it is right as it is, None where nothing is known to do."""
    if through_alias(module, node):
        return _through_alias(module, node, short)
    family, _, rest = short.partition(".")
    if family == "flags":
        return _flags(module, node, rest, root)
    if family == "logging":
        return _logging(module, node, rest, root)
    if short == "app.run":
        return _run(module, node, root)
    return _keep(module, node, "app", root) if short == "app" else None


def _is_as_good(module: Module, family: str) -> bool:
    """Whether a file that imports one of the modules itself may have that of absl instead."""
    return family == "flags" and not reads_flags_unparsed(module) or family == "logging" and _knows_all(module)


def _through_alias(module: Module, node: ast.expr, short: str) -> Optional[list[Change]]:
    # The assignment becomes an import that binds the same name, so its uses stay.
    family, _, rest = short.partition(".")
    return [] if family in ("flags", "logging") and rest else None


def _flags(module: Module, node: ast.expr, rest: str, root: Optional[str]) -> Optional[list[Change]]:
    levels = rest.count(".") + 1 if rest else 0
    base = inner(node, levels)
    if reads_flags_unparsed(module):
        return _keep(module, base, "flags", root)
    return _replace_base(module, node, base, "flags", _define_keywords(module, node, rest), root)


def _define_keywords(module: Module, node: ast.expr, rest: str) -> list[Change]:
    call = call_of(module, node)
    if call is None or not rest.startswith("DEFINE_"):
        return []
    return [Rename(keyword, _OLD_KEYWORDS[keyword.arg]) for keyword in call.keywords if keyword.arg in _OLD_KEYWORDS]


def _logging(module: Module, node: ast.expr, rest: str, root: Optional[str]) -> Optional[list[Change]]:
    if rest and _sets_unknown_level(module):
        # The two loggers have levels of their own: a file uses one of them throughout.
        return _keep(module, inner(node, rest.count(".") + 1), "logging", root)
    if not rest:
        if not _knows_all(module):
            return _keep(module, node, "logging", root)
        return _replace_base(module, node, node, "logging", [], root)
    member, _, more = rest.partition(".")
    base = inner(node, rest.count(".") + 1)
    new = _FUNCTIONS.get(member)
    if member in _LEVELS and not more and _feeds_absl(module, node):
        new = _LEVELS[member]
    if member in _LEVEL_FUNCTIONS and _level_is_known(module, node):
        new = member
    if new is None or more:
        return _keep(module, base, "logging", root)
    found = bind_absl(module, node, "logging")
    if found is None:
        return _keep(module, base, "logging", root)
    name, imports = found
    return [*imports, Replace(node, f"{name}.{new}")]


def _feeds_absl(module: Module, node: ast.expr) -> bool:
    """Whether a level is the argument of a call that becomes an absl call, for the numbers of the two differ."""
    parent = module.parent(node)
    if isinstance(parent, ast.keyword):
        parent = module.parent(parent)
    if not isinstance(parent, ast.Call):
        return False
    name = module.resolve(parent.func) or ""
    member = name.rpartition(".")[2]
    return name.startswith(("tensorflow.logging.", "absl.logging.")) and member in _LEVEL_FUNCTIONS


def _level_is_known(module: Module, node: ast.expr) -> bool:
    call = call_of(module, node)
    if call is None:
        return False
    level = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg in ("level", "v")), None)
    name = (level is not None and module.resolve(level)) or ""
    return name.startswith(("tensorflow.logging.", "absl.logging.")) and name.rpartition(".")[2] in _LEVELS


def _knows_all(module: Module) -> bool:
    """Whether all that is used through an alias of tf.logging exists in absl with the same meaning."""
    return not _sets_unknown_level(module) and all(
        name.rpartition(".")[2] in {*_FUNCTIONS, *_LEVEL_FUNCTIONS, *_LEVELS}
        for other, name in module.references()
        if name.startswith("tensorflow.logging.") and through_alias(module, other)
    )


def _sets_unknown_level(module: Module) -> bool:
    cached = module.memo.get("unknown_level")
    if cached is None:
        setters = [node for node, name in module.references() if name == "tensorflow.logging.set_verbosity"]
        cached = module.memo["unknown_level"] = any(not _level_is_known(module, node) for node in setters)
    return bool(cached)


def _run(module: Module, node: ast.expr, root: Optional[str]) -> Optional[list[Change]]:
    call = call_of(module, node)
    base = inner(node, 1)
    given = bind(call, ("main", "argv")) if call is not None else None
    finds_main = "main" in module.analysis.root.bindings and module.scope(base).kind == "module"
    if call is None or given is None or not ("main" in given or finds_main):
        return _keep(module, base, "app", root)
    flags = _flag_values(module, node)
    found = bind_absl(module, node, "app")
    if flags is None or found is None:
        return _keep(module, base, "app", root)
    name, imports = found
    values, more = flags
    main, parser = expr("main"), expr("lambda argv: {values}(argv, known_only=True)", values=values)
    first = {} if "main" in given or call.keywords else {0: main}
    named = {} if "main" in given or not call.keywords else {"main": main}
    new = with_arguments(module.cst.call(call), insert=first, add={**named, "flags_parser": parser})
    return [*imports, *more, Replace(base, name), Replace(call, new)]


def _flag_values(module: Module, node: ast.expr) -> Optional[tuple[str, list[Import]]]:
    """How code at `node` can name `FLAGS`, with the import that this needs, if any."""
    scope, top = module.scope(root_name(node)), module.analysis.root
    for name, bindings in top.bindings.items():
        alias = bindings[0].alias
        found = alias is not None and module.resolve(alias) in FLAGS or normalize(bindings[0].target) in FLAGS
        if found and len(bindings) == 1 and scope.lookup(name) is top:
            return name, []
    flags = bind_absl(module, node, "flags")
    return None if flags is None else (f"{flags[0]}.FLAGS", flags[1])


def _keep(module: Module, base: ast.expr, family: str, root: Optional[str]) -> Optional[list[Change]]:
    """Keep the wrapper, under the name it has in TensorFlow 2."""
    if root is None and module.explicit_dialect(base) == "v1":
        return []
    if root is None:
        found = tensorflow_root(module, base)
        if found is None:
            return None
        root, imports = found
        return [*imports, Replace(base, f"{root}.compat.v1.{family}")]
    return [Replace(base, f"{root}.compat.v1.{family}")]


def _replace_base(
    module: Module, node: ast.expr, base: ast.expr, family: str, others: list[Change], root: Optional[str]
) -> Optional[list[Change]]:
    statement = module.parent(node)
    if node is base and isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            alias = "" if target.id == family else f" as {target.id}"
            line = f"from absl import {family}{alias}"
            if _may_move_up(module, statement, target.id):
                return [Remove(statement), Import(line)]
            return [Import(line, instead=statement)]
    found = bind_absl(module, node, family)
    if found is None:
        return _keep(module, base, family, root)
    name, imports = found
    return [*imports, *others, Replace(base, name)]


def _may_move_up(module: Module, statement: ast.Assign, name: str) -> bool:
    """Whether a top-level assignment can become one of the imports at the head: no other binding, no comment of its own."""
    bindings = module.analysis.root.bindings.get(name, [])
    first, last = module.line_span(statement)
    return (
        isinstance(module.parent(statement), ast.Module)
        and len(bindings) == 1
        and module.import_position() <= first
        and module.source[first:last].strip() == module.segment(statement).encode()
    )


def bind_logging(module: Module, at: ast.expr) -> Optional[tuple[str, list[Import]]]:
    """How code at a place names absl's logging, with the import that this needs; None where a file keeps that of TensorFlow."""
    return None if _sets_unknown_level(module) else _bind(module, module.scope(at), "logging")


def bind_absl(module: Module, node: ast.expr, family: str) -> Optional[tuple[str, list[Import]]]:
    """Name under which code at `node` can use an absl module, with the import that this needs, if any."""
    return _bind(module, module.scope(root_name(node)), family)


def _bind(module: Module, scope: Scope, family: str) -> Optional[tuple[str, list[Import]]]:
    for name in _absl_names(module, family):
        if scope.lookup(name) is module.analysis.root:
            return name, []
    for name in (family, f"absl_{family}"):
        if name not in module.bound_names and not (module.star_import and name == family):
            alias = "" if name == family else f" as {name}"
            return name, [Import(f"from absl import {family}{alias}")]
    return None


def _absl_names(module: Module, family: str) -> list[str]:
    """Names at the top of a file that stand for an absl module, and for nothing else."""
    key = f"names of absl {family}"
    if key not in module.memo:
        aliases = ("tensorflow.flags", "tensorflow.app.flags") if family == "flags" else (f"tensorflow.{family}",)
        found = module.memo[key] = []
        for name, bindings in module.analysis.root.bindings.items():
            binding = bindings[0]
            if len(bindings) == 1 and (
                binding.target == f"absl.{family}"
                # `flags = tf.app.flags` in this file: it becomes the import in the same round.
                or (binding.alias is not None and family != "logging" and module.resolve(binding.alias) in aliases)
            ):
                found.append(name)
    names: list[str] = module.memo[key]
    return names
