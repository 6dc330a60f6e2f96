"""`--features preprocessing`: functions of `tf.feature_column` become columns on Keras preprocessing layers.

The columns take the same arguments, so that only the names change, but for functions whose parameters stand in another order.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.resolve.calls import arguments, is_literal
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.symbols import dotted
from migrator.resolve.syntax import walk
from migrator.resolve.text import Spans
from migrator.rewrite import Remove, Replace, with_arguments
from migrator.vocabulary.diagnostics import Edit

from ..bridge.reached import reached
from ..estimator_calls.driver import Driver
from .feature_columns import PREPROCESSED, SHARED_SIGNATURE
from .number_columns import number_changes

_PREFIX = "tensorflow.feature_column."
_COLUMNS = {
    "numeric_column": "NumericColumn",
    "bucketized_column": "BucketizedColumn",
    "categorical_column_with_identity": "IdentityColumn",
    "categorical_column_with_hash_bucket": "HashedColumn",
    "categorical_column_with_vocabulary_list": "VocabularyListColumn",
    "categorical_column_with_vocabulary_file": "VocabularyFileColumn",
    "weighted_categorical_column": "WeightedColumn",
    "crossed_column": "CrossedColumn",
    "indicator_column": "IndicatorColumn",
    "embedding_column": "EmbeddingColumn",
    "shared_embedding_columns": "shared_table_columns",
    "sequence_categorical_column_with_identity": "IdentitySequence",
    "sequence_categorical_column_with_hash_bucket": "HashedSequence",
    "sequence_categorical_column_with_vocabulary_list": "VocabularyListSequence",
    "sequence_categorical_column_with_vocabulary_file": "VocabularyFileSequence",
    "sequence_numeric_column": "NumericSequence",
    "make_parse_example_spec": "make_parse_example_spec",
}
_SHARED = "shared_embedding_columns"
SHARED_COLUMNS = _PREFIX + _SHARED
_OTHERS = {
    "tensorflow.keras.layers.DenseFeatures": "DenseFeatures",
    "tensorflow.keras.experimental.SequenceFeatures": "SequenceFeatures",
}
_OF_CONTRIB = "tensorflow.contrib.feature_column."
# Signatures of which an argument goes, or that the two versions of TensorFlow have in another order.
_SIGNATURES = {
    "v1 categorical_column_with_vocabulary_file": (
        "key vocabulary_file vocabulary_size num_oov_buckets default_value dtype"
    ),
    "v2 categorical_column_with_vocabulary_file": (
        "key vocabulary_file vocabulary_size dtype default_value num_oov_buckets file_format"
    ),
    "embedding_column": (
        "categorical_column dimension combiner initializer ckpt_to_load_from tensor_name_in_ckpt max_norm trainable "
        "use_safe_embedding_lookup"
    ),
    _SHARED: SHARED_SIGNATURE,
}
_GONE = {
    "file_format": None,
    "ckpt_to_load_from": None,
    "tensor_name_in_ckpt": None,
    "use_safe_embedding_lookup": True,
}
"""Arguments that columns on preprocessing layers do not take, and what they may say nevertheless."""
_IN_PLACE = 3
"""So many arguments of these signatures keep their place."""


Rewritten = tuple[ast.expr, list[Edit]]


class ColumnEdits:
    """What becomes of the feature columns of each module of a program; nothing unless `features` asks for it."""

    def __init__(self, features: str) -> None:
        self.wanted = features == "preprocessing"
        self.numbers = False
        """Whether all columns are numbers by the names of features, which take their places."""
        self.shared = False
        """Whether columns of TensorFlow 1 that share a table become those of layers, where all others stay."""
        self._known: dict[str, list[Rewritten]] = {}

    def of(self, module: Module, need: Callable[[str, ast.AST], str]) -> list[Rewritten]:
        """Each reference with its edits; `need` asks for a helper. Raises Unsupported."""
        if (self.wanted or self.numbers or self.shared) and module.path not in self._known:
            made = _column_edits if self.wanted else _number_edits if self.numbers else _shared_edits
            self._known[module.path] = list(made(module, need))
        return self._known.get(module.path, [])

    def outside(self, module: Module, driver: Driver, inside: Spans) -> Iterator[Edit]:
        """The edits outside of model_fns, which take the others with them. Raises Unsupported."""
        rewritten = self.of(module, driver.need)
        for node, edits in rewritten:
            if not inside.hold(module.span(node)):
                driver.handled.add(node)
                yield from edits
        if rewritten:
            yield from idle_imports(module, rewritten)
            yield from idle_aliases(module, rewritten, driver.project)

    def modules(self, project: Project, program: Iterable[str]) -> set[str]:
        """Paths of files beside those of a program that make columns for it."""
        if not (self.wanted or self.numbers or self.shared):
            return set()
        modules = reached(project, [project.modules[path] for path in program], False)
        word = b"feature_column" if self.wanted or self.numbers else _SHARED.encode()
        return {module.path for module in modules if word in module.source}

    def share(self, project: Project, group: list[Module]) -> bool:
        """Whether a program makes columns that share a table."""
        modules = [module for module in reached(project, group, False) if _SHARED.encode() in module.source]
        return any(name == SHARED_COLUMNS for module in modules for _, name in module.references())


def idle_imports(module: Module, rewritten: list[Rewritten]) -> Iterator[Edit]:
    """Deletions of imports of feature columns that nothing else reads."""
    gone = {id(inner) for node, _ in rewritten for inner in walk(node)}
    statements = {entry.statement for entry in module.imports}
    for statement in statements:
        entries = [entry for entry in module.imports if entry.statement is statement]
        read = [node for entry in entries for node in module.loads(entry.name)]
        if all((entry.target + ".").startswith((_PREFIX, _OF_CONTRIB)) for entry in entries) and gone.issuperset(
            map(id, read)
        ):
            yield from module.cst.apply([Remove(statement)])


def idle_aliases(module: Module, rewritten: list[Rewritten], project: Project) -> Iterator[Edit]:
    """Deletions of names for all feature columns, such as ``fc = tf.feature_column``, that nothing else reads."""
    gone = {id(inner) for node, _ in rewritten for inner in walk(node)}
    others = [other for other in project.modules.values() if other is not module]
    for statement in (node for node in walk(module.tree) if isinstance(node, ast.Assign)):
        target = statement.targets[0]
        means = f"{module.resolve(statement.value)}." if dotted(statement.value) else ""
        if means not in (_PREFIX, _OF_CONTRIB) or not isinstance(target, ast.Name) or len(statement.targets) > 1:
            continue
        name = target.id
        uses = [node for node in walk(module.tree) if isinstance(node, ast.Name) and node.id == name]
        elsewhere = any(entry.alias.name == name for other in others for entry in other.imports) or any(
            node.attr == name for other in others for node in other.nodes(ast.Attribute)
        )
        if elsewhere or any(other.star_import for other in others) or "__all__" in module.analysis.root.bindings:
            continue
        if all(use is target or id(use) in gone for use in uses):
            yield from module.cst.apply([Remove(statement)])


def _column_edits(module: Module, need: Callable[[str, ast.AST], str]) -> Iterator[Rewritten]:
    for node, name in module.references():
        if ".python.feature_column" in name:
            raise Unsupported("--features preprocessing: the program looks at the inside of feature columns", node)
        if name in _OTHERS:
            yield node, module.cst.apply([Replace(node, need(_OTHERS[name], node))])
        elif name.startswith((_PREFIX, _OF_CONTRIB)) and name not in PREPROCESSED:
            short = name.rpartition(".")[2]
            if short not in _COLUMNS:
                raise Unsupported(f"--features preprocessing has no match for tf.feature_column.{short}", node)
            named = list(_arguments(module, node, short))
            yield node, module.cst.apply([Replace(node, need(_COLUMNS[short], node)), *named])


def _number_edits(module: Module, need: Callable[[str, ast.AST], str]) -> Iterator[Rewritten]:
    for node, changes in number_changes(module):
        yield node, module.cst.apply(changes)


def _shared_edits(module: Module, need: Callable[[str, ast.AST], str]) -> Iterator[Rewritten]:
    for node, name in module.references():
        if name == SHARED_COLUMNS:
            yield node, module.cst.apply([Replace(node, need(_SHARED, node)), *_arguments(module, node, _SHARED)])


def _arguments(module: Module, node: ast.expr, short: str) -> Iterator[Replace]:
    """Names for arguments by position that the column does not take in this place."""
    version = "v2" if module.dialect(node) == "v2" else "v1"
    signature = _SIGNATURES.get(short) or _SIGNATURES.get(f"{version} {short}")
    if signature is None:
        return
    call = module.parent(node)
    if not isinstance(call, ast.Call) or call.func is not node:
        raise Unsupported(f"tf.feature_column.{short} is more than called, which is not migrated yet", node)
    given = bind(call, signature, f"tf.feature_column.{short}")
    named: dict[int, str] = {}
    doomed: list[int] = []
    for place, argument in enumerate(arguments(call)):
        value = argument.value if isinstance(argument, ast.keyword) else argument
        name = next(key for key, each in given.items() if each is value)
        if name in _GONE:
            if not is_literal(value, _GONE[name]):
                raise Unsupported(f"`{name}` of tf.feature_column.{short} is not migrated yet", value)
            doomed.append(place)
        elif isinstance(argument, ast.expr) and place >= _IN_PLACE:
            named[place] = name
    if named or doomed:
        yield Replace(call, with_arguments(module.cst.call(call), named=named, drop=doomed))
