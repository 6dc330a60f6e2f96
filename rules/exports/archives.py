"""Which SavedModels an `ExportArchive` of Keras writes as an Estimator did."""

from __future__ import annotations

import re
from collections.abc import Iterable

from migrator.resolve.module import Module

from .fed_features import Receiver
from .signatures import Signatures

_TABLES = re.compile(
    r"\.lookup\.|[a-z]Lookup|feature_column|TextVectorization|tensorflow_hub|saved_model\.load|load_model"
)


def has_tables(modules: Iterable[Module]) -> bool:
    """Whether models may hold lookup tables: an archive of Keras 2 leaves out those that are none of its own layers'."""
    return any(_TABLES.search(name) for module in modules for _, name in module.references())


def archives(fed: Receiver, signatures: Signatures, tables: bool, chosen: Iterable[object]) -> bool:
    """Whether an archive holds all that a model needs, and no other signatures: it adds a default where there is none.

    Functions in a table give signatures to `tf.saved_model.save`: `chosen` are those that say what is fed.
    """
    by_one = not fed.choices and (fed.function is None or fed.function not in chosen)
    return by_one and not tables and signatures.has_default(fed.text)
