"""`tf.contrib.lookup`: tables of words, written with `tf.lookup`.

Vendored functions of the same names make those of which it is not seen whether unknown words have buckets.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Resolve, Writing, bind, format_call, is_none
from migrator.resolve.calls import arguments
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, expr, with_arguments

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
_COLUMNS = ("key_column_index", "value_column_index", "delimiter")
"""Which columns of a file hold words and numbers: literals, which the vendored functions do not know."""
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
    if parameter not in _KEPT and not (parameter in _COLUMNS and isinstance(value, ast.Constant)):
        raise Unsupported(f"`{parameter}` of tf.contrib.lookup.{short} is not migrated yet", value)
    return False


def _made(short: str) -> Expression:
    """The translation of a call inside a model_fn."""

    def table(call: ast.Call, writing: Writing) -> str:
        bound = bind(call, _SIGNATURES[short], short).items()
        given = {name: value for name, value in bound if not _goes(short, name, value, writing.resolve)}
        texts = {name: writing.text(value) for name, value in given.items()}
        plain = _plain(short, given, texts, writing.tf)
        if plain is not None:
            return plain
        first = next(iter(texts), None)
        return format_call(writing.need(short), [(name if name != first else None, texts[name]) for name in texts])

    return table


def _plain(short: str, given: dict[str, ast.expr], texts: dict[str, str], tf: str) -> str | None:
    """The table as one of `tf.lookup`; None where it is not seen which, or its words would have to be written twice."""
    texts = {name: texts[name] for name, value in given.items() if not is_none(value)}
    initializer = _initializer(short, given, texts, tf)
    buckets = given.get("num_oov_buckets", ast.Constant(0))
    if initializer is None or not isinstance(buckets, ast.Constant):
        for name in (name for name in _COLUMNS if name in given):
            raise Unsupported(f"`{name}` of tf.contrib.lookup.{short} is not migrated yet", given[name])
        return None
    if buckets.value:
        return f"{tf}.lookup.StaticVocabularyTable({initializer}, {texts['num_oov_buckets']})"
    usual = '"UNK"' if short.startswith("index_to_string") else "-1"
    return f"{tf}.lookup.StaticHashTable({initializer}, {texts.get('default_value', usual)})"


def _initializer(short: str, given: dict[str, ast.expr], texts: dict[str, str], tf: str) -> str | None:
    to_words = short.startswith("index_to_string")
    if "vocabulary_file" in given:
        kinds = [(f"{tf}.string", "WHOLE_LINE"), (f"{tf}.int64", "LINE_NUMBER")]
        columns = []
        for (kind, usual), name in zip(reversed(kinds) if to_words else kinds, _COLUMNS):
            columns += [kind, texts.get(name, f"{tf}.lookup.TextFileIndex.{usual}")]
        rest = [texts["vocab_size"]] if "vocab_size" in texts else []
        rest += [f"delimiter={texts['delimiter']}"] if "delimiter" in texts else []
        return f"{tf}.lookup.TextFileInitializer({', '.join([texts['vocabulary_file'], *columns, *rest])})"
    words = given.get("mapping")
    if isinstance(words, (ast.List, ast.Tuple)) and not any(isinstance(word, ast.Starred) for word in words.elts):
        numbers = f"{tf}.range({len(words.elts)}, dtype={tf}.int64)"
    elif isinstance(words, (ast.Name, ast.Attribute)):
        numbers = f"{tf}.range({tf}.size({texts['mapping']}, out_type={tf}.int64))"
    else:
        return None
    pair = (numbers, texts["mapping"]) if to_words else (texts["mapping"], numbers)
    return f"{tf}.lookup.KeyValueTensorInitializer({', '.join(pair)})"


EXPRESSIONS = {_PREFIX + short: _made(short) for short in _SIGNATURES}


def _is_renamed(driver: Driver, value: ast.expr) -> bool:
    """Whether an argument may be written in another way, or has comments, so that it has to stay where it is."""
    module = driver.module
    named = (module.resolve(node) for node in walk(value) if isinstance(node, (ast.Name, ast.Attribute)))
    return any((name or "").startswith("tensorflow") for name in named) or bool(module.comments_in(*module.span(value)))


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
    given = bind(call, _SIGNATURES[short], short).items()
    kept = {name: value for name, value in given if not _goes(short, name, value, module.resolve)}
    texts = {name: module.segment(value) for name, value in kept.items()}
    plain = _plain(short, kept, texts, driver.tensorflow())
    if plain is not None and not any(_is_renamed(driver, value) for value in kept.values()):
        driver.change(Replace(call, expr(plain)))
        driver.handled.update(walk(call))
        return True
    doomed = []
    for at, argument in enumerate(arguments(call)):
        value = argument.value if isinstance(argument, ast.keyword) else argument
        parameter = names[id(value)]
        if _goes(short, parameter, value, module.resolve):
            doomed.append(at)
            driver.handled.update(walk(argument))
    driver.replace(node, driver.need(short, node))
    driver.change(Replace(call, with_arguments(module.cst.call(call), drop=doomed)))
    return True
