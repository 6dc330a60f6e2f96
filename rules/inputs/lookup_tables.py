"""`tf.contrib.lookup`: tables of words, which vendored functions of the same names make with `tf.lookup`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Resolve, Writing, bind, format_call
from migrator.resolve.calls import arguments, delete_arguments
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from ..estimator_calls.driver import Driver

_PREFIX = "tensorflow.contrib.lookup."
_SIGNATURES = {
    "index_table_from_file": (
        "vocabulary_file num_oov_buckets vocab_size default_value hasher_spec key_dtype name key_column_index "
        "value_column_index delimiter"
    ),
    "index_table_from_tensor": "mapping num_oov_buckets default_value hasher_spec dtype name",
    "index_to_string_table_from_file": (
        "vocabulary_file vocab_size default_value name key_column_index value_column_index delimiter"
    ),
    "index_to_string_table_from_tensor": "mapping default_value name",
}
_KEPT = ("vocabulary_file", "mapping", "num_oov_buckets", "vocab_size", "default_value")  # they come first
_DEFAULTS = {
    "dtype": ("tensorflow.string",),
    "key_dtype": ("tensorflow.string",),
    "hasher_spec": (_PREFIX + "FastHashSpec",),
}

# What makes tables, and what they are made of.
MAKERS = frozenset(
    [_PREFIX + short for short in _SIGNATURES]
    + [f"tensorflow.lookup.{name}" for name in ("StaticHashTable", "StaticVocabularyTable")]
    + [f"tensorflow.lookup.{name}" for name in ("KeyValueTensorInitializer", "TextFileInitializer")]
)


def _goes(short: str, parameter: str, value: ast.expr, resolve: Resolve) -> bool:
    """Whether an argument says nothing that the vendored function has to know. Raises Unsupported for one it cannot know."""
    if parameter == "name" or resolve(value) in _DEFAULTS.get(parameter, ()):
        return True
    if parameter not in _KEPT:
        raise Unsupported(f"`{parameter}` of tf.contrib.lookup.{short} is not migrated yet", value)
    return False


def _made(short: str) -> Expression:
    """The translation of a call inside a model_fn."""

    def table(call: ast.Call, writing: Writing) -> str:
        given: list[tuple[str | None, str]] = []
        for parameter, value in bind(call, _SIGNATURES[short], short).items():
            if not _goes(short, parameter, value, writing.resolve):
                given.append((parameter if given else None, writing.text(value)))
        return format_call(writing.need(short), given)

    return table


EXPRESSIONS = {_PREFIX + short: _made(short) for short in _SIGNATURES}


def table_reference(driver: Driver, node: ast.expr, name: str) -> bool:
    """Migrate one reference to a function that makes a table; False if it is none that is known here.

    Raises Unsupported for keys that are no strings, another hash, and columns of a file.
    """
    short = name[len(_PREFIX) :] if name.startswith(_PREFIX) else ""
    call = driver.module.parent(node)
    if short not in _SIGNATURES or not isinstance(call, ast.Call) or call.func is not node:
        return False
    module = driver.module
    names = {id(value): parameter for parameter, value in bind(call, _SIGNATURES[short], short).items()}
    doomed = []
    for argument in arguments(call):
        value = argument.value if isinstance(argument, ast.keyword) else argument
        parameter = names[id(value)]
        if _goes(short, parameter, value, module.resolve):
            doomed.append(argument)
    driver.replace(node, driver.need(short, node))
    for argument in doomed:
        driver.handled.update(walk(argument))
    driver.edits += delete_arguments(module, call, doomed)
    return True
