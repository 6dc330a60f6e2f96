"""What a program rule does to a file at the end: the plain renamings, and what stands in the way of them."""

from __future__ import annotations

import ast
from dataclasses import replace

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.calls import call_of
from migrator.resolve.module import Module
from migrator.resolve.symbols import normalize
from migrator.resolve.text import Spans, spans_of
from migrator.vocabulary.diagnostics import Edit, Fix

from ..bridge.graph_names import graph_name_fixes
from ..canned.hyperparameters import HPARAMS, MODULES
from ..estimator_calls.driver import Driver
from ..estimator_calls.estimator_values import PREFIX
from ..estimator_calls.sessions import SESSIONS, has_own_graph, makes_own_graph
from ..losses_metrics.metrics import INNER_METRICS
from ..model_fns.modes import reads_alias
from ..model_fns.translations import is_refused, needs_graph, translations
from ..program.unused_code import GRAPH_SCOPES, inside_unused, old_name, said_of_unused
from ..symbols.compat_v1 import SWITCHES, rename_edits
from ..symbols.dimensions import dimension_fixes, size_fixes
from ..symbols.tensorflow_names import VERSION_1, root_name
from .helpers import Helpers


def file_fixes(module: Module, driver: Driver, helpers: Helpers, spans: Spans) -> list[Fix]:
    """Rewrites of single references, the import of compat.v1 among them. What lies in `spans` is rewritten elsewhere.

    Raises Unsupported.
    """
    named = graph_name_fixes(module)
    rewritten = Spans([*spans, *spans_of(edit for fix in named for edit in fix.edits)])

    def excused(node: ast.expr) -> bool:
        if node in driver.handled or node in driver.awaited or rewritten.hold(module.span(node)):
            return True
        return helpers.unused.hold(module.span(node))

    fixes = [*module.fixes, *dimension_fixes(module), *size_fixes(module), *named]
    for diagnostic in rename_edits(module, excused=excused):
        if diagnostic.fix is None:
            raise Unsupported(diagnostic.message, None)
        # A rule that knows the symbol goes before the import's own respelling of it.
        taken = spans_of(e for fix in fixes for e in fix.edits if e.start < e.end)
        kept = [e for e in diagnostic.fix.edits if not taken.touch((e.start, e.end))]
        alias = helpers.tensorflow()
        fixes = [_plain(fix, alias) for fix in fixes]
        fixes.append(replace(diagnostic.fix, edits=tuple(kept)))
    return fixes


def finished(module: Module, driver: Driver, helpers: Helpers, spans: Spans) -> list[Edit]:
    """The driver's edits with those file fixes that the rewrite swallows, but for imports of helpers. Raises Unsupported."""
    own = list(dict.fromkeys(driver.edits))
    own += _dead_imports(module, own, spans)
    own += _switches(module, spans)
    replaced = spans_of(e for e in own if e.start < e.end)
    known = set(own)
    for fix in file_fixes(module, driver, helpers, spans):
        # What a rewritten or deleted place contains is gone, or was carried over by the renderer.
        outside = [e for e in fix.edits if not _swallowed(e, spans, replaced)]
        if any(replaced.touch((e.start, e.end)) for e in outside):
            if any(spans.touch((e.start, e.end)) for e in fix.edits):
                raise Unsupported("two rewrites of one place get in each other's way", None)
            continue  # its turn comes in the next round
        own += [e for e in outside if e not in known]
        known.update(outside)
    return own + _leftovers(driver, own, spans, helpers)


def _swallowed(edit: Edit, spans: Spans, replaced: Spans) -> bool:
    """Whether an edit lies in a model_fn, or in a place that is replaced; what is inserted beside such a place does not."""
    if spans.hold((edit.start, edit.end)):
        return True
    if edit.start == edit.end:
        return replaced.touch((edit.start, edit.start))
    return replaced.hold((edit.start, edit.end))


def _leftovers(driver: Driver, own: list[Edit], spans: Spans, helpers: Helpers) -> list[Edit]:
    """The edits of names of the old library in code that nothing names. Refuses all other such names that nobody rewrites:
    the program would stop at them."""
    module, found = driver.module, dict[Edit, None]()
    edited, known = spans_of(own), set(own)
    for node, name in module.references():
        span = module.span(node)
        function = inside_unused(module, node, helpers.unused) if name in SESSIONS else None
        if function is not None and not has_own_graph(module, node):
            driver.remark(node, said_of_unused(function, name))
        if name in SESSIONS and function is None and not spans.hold(span) and not helpers.unused.hold(span):
            _check_session(module, node, name, own)
        if spans.hold(span) or edited.touch(span) or not (is_refused(name) or name in GRAPH_SCOPES):
            continue
        if node in driver.handled:  # what is written for it is what it was
            continue
        statement = module.statement(node)
        # Goes when nothing reads it, but for the attribute of a class.
        alias = isinstance(statement, ast.Assign) and statement.value is node
        alias = alias and not isinstance(module.parent(statement), ast.ClassDef)
        if isinstance(statement, (ast.Import, ast.ImportFrom)) or alias:
            continue
        if module.dialect(node) != "v2" or needs_graph(name):
            apart = has_own_graph(module, node) or makes_own_graph(module, node)  # where it works as it did
            unused = helpers.unused.hold(span) or apart
            function = inside_unused(module, node, helpers.unused) if unused and not apart else None
            edits = old_name(module, node, name, helpers.tensorflow(), helpers.need) if unused else None
            if function is not None and edits is None:
                driver.remark(node, said_of_unused(function, name))
            if edits is not None:
                found.update((edit, None) for edit in edits if edit not in known)
            elif function is None and not apart and not reads_alias(module, node):
                _refuse(name, node)
    return list(found)


def _check_session(module: Module, node: ast.expr, name: str, own: list[Edit]) -> None:
    """Refuse a session on the graph that TensorFlow 2 does not have, unless it goes."""
    (start, end), last = module.span(node), name.rpartition(".")[2]
    gone = any(
        edit.start <= start and end <= edit.end and last not in edit.text for edit in own if edit.start < edit.end
    )
    if not gone and not has_own_graph(module, node):
        raise Unsupported(f"{name.replace('tensorflow', 'tf', 1)} works on the graph by itself", node)


def _refuse(name: str, node: ast.expr) -> None:
    short, known = name.replace("tensorflow", "tf", 1), translations()
    parts = (known.layers, known.training, known.metrics, known.expressions, GRAPH_SCOPES)
    if any(name in part for part in parts):
        raise Unsupported(f"{short} is in code that does not move with the model_fn", node)
    raise Unsupported(f"{short} is not migrated yet", node)


def _dead_imports(module: Module, own: list[Edit], spans: Spans) -> list[Edit]:
    """Deletion of imports of Estimator names, which are all rewritten, and of metrics from inside of TensorFlow that are."""
    edited = spans_of(own)
    rewritten = Spans([*edited, *spans])
    read = {name for node, name in module.references() if not rewritten.hold(module.span(node))}
    statements: dict[ast.stmt, list[str]] = {}
    for entry in module.imports:
        statements.setdefault(entry.statement, []).append(normalize(entry.target))
    return [
        module.delete_statement(statement)
        for statement, targets in statements.items()
        if all(
            (target + ".").startswith(PREFIX)
            or target in HPARAMS | MODULES
            or (target in INNER_METRICS and target not in read)
            for target in targets
        )
        and not edited.touch(module.span(statement))
    ]


def _switches(module: Module, spans: Spans) -> list[Edit]:
    """Deletion of ``tf.compat.v1.disable_eager_execution()`` and its like, which a Keras program does without.

    Those of an import of compat.v1 go with it.
    """
    found = []
    for node, name in module.references():
        if name[len("tensorflow.") :] not in SWITCHES or spans.hold(module.span(node)):
            continue
        statement = module.statement(node)
        called = isinstance(statement, ast.Expr) and statement.value is call_of(module, node)
        if called and VERSION_1 not in module.raw_names(root_name(node)):
            found.append(module.delete_statement(statement))
    return found


def _plain(fix: Fix, alias: str) -> Fix:
    """A fix written for a file that imports compat.v1 only, for the file that imports TensorFlow itself."""
    edits = [replace(e, text=e.text.replace(f"{alias}.compat.v2.", f"{alias}.")) for e in fix.edits]
    return replace(fix, edits=tuple(edits))
