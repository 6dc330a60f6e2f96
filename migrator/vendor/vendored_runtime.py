"""Which definitions of `migrator.runtime` go into which of the two files beside a program.

One has what trains on one device, the other, made from `migrator/runtime/cluster`, strategies and clusters. It imports the
first one, never the other way round: what reaches a definition that clusters replace goes along with it.
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from pathlib import Path

from migrator.vendor.vendored_imports import module_name
from migrator.vendor.vendored_library import Definition, Library, read_library, written_statements

TRAINING_MODULE = "tf2_training"
CLUSTER_MODULE = "tf2_cluster"

_OF_CLUSTERS = "cluster."
"""How the names of modules begin that may define again what others define for one device."""
_FIELD_OF_CLUSTERS = re.compile(r"    (eval_)?strategy: .*\n")
"""A field of `RunConfig` that only they read."""
# How vendored models read feature columns, and how they read columns on preprocessing layers.
_PREPROCESSED = {
    "InputFeatures": "DenseFeatures",
    "LinearFeatures": "LinearColumns",
    "tf.feature_column.numeric_column(": "NumericColumn(",
    "get_dense_tensor(tf.__internal__.feature_column.FeatureTransformationCache(features), None)": "numbers(features)",
}


def module_of(name: str, distributed: bool = True) -> str:
    """The module beside a program that has a helper; `distributed`: the program may train on several devices or machines."""
    in_cluster = name in cluster_library().definitions
    return CLUSTER_MODULE if in_cluster and (distributed or not is_for_one_device(name)) else TRAINING_MODULE


def is_for_one_device(name: str) -> bool:
    """Whether there is a helper, or another one of that name, that trains on one device."""
    return name in training_library().definitions


def is_distributed(text: str, alone: bool = False) -> bool:
    """Whether the file for one device is that of programs for several; `alone`: whether it has all that these need."""
    return "\nclass ClusterError(" in text or (not alone and bool(_FIELD_OF_CLUSTERS.search(text)))


@functools.lru_cache(maxsize=4)
def training_library(features: str = "columns", distributed: bool = True) -> Library:
    """What trains on one device, with "preprocessing" as it reads columns on preprocessing layers.

    Where programs are `distributed`, it has what the other file looks for.
    """
    texts = {name: text for name, text in _runtime_texts().items() if not name.startswith(_OF_CLUSTERS)}
    if not distributed:
        texts["config"] = _FIELD_OF_CLUSTERS.sub("", texts["config"])
    library = read_library(texts, written_statements)
    return _on_preprocessing(library) if features == "preprocessing" else library


@functools.lru_cache(maxsize=2)
def cluster_library(features: str = "columns") -> Library:
    """What trains on several devices and machines: `migrator/runtime/cluster/*.py`, and all that reaches what these replace."""
    training = training_library(features)
    everything = read_library(_runtime_texts(), written_statements, second=_OF_CLUSTERS)
    library = _on_preprocessing(everything) if features == "preprocessing" else everything
    found = {name for name, one in library.definitions.items() if one != training.definitions.get(name)}
    reached = found & set(training.definitions)
    while reached:
        others = (one for name, one in library.definitions.items() if name not in found)
        near = [one for one in others if any(name in one.source for name in reached)]  # few of them need to be parsed
        reached = {one.name for one in near if one.uses & reached}
        found |= reached
    definitions = {name: one for name, one in library.definitions.items() if name in found}
    return replace(library, definitions=definitions, lent=frozenset(training.definitions) - found)


@functools.cache
def _runtime_texts() -> dict[str, str]:
    """The modules by their names below `migrator.runtime`."""
    folder = Path(__file__).resolve().parent.parent / "runtime"
    files = sorted(path for path in folder.rglob("*.py") if path.name != "__init__.py")
    names = (module_name(".".join(path.relative_to(folder).with_suffix("").parts)) for path in files)
    return {name: path.read_text(encoding="utf-8") for name, path in sorted(zip(names, files))}


def _on_preprocessing(library: Library) -> Library:
    """The same for programs whose columns are those of `migrator.runtime.columns.preprocessing_columns`."""
    definitions: dict[str, Definition] = {}
    for name in library.definitions:
        name = _PREPROCESSED.get(name, name)  # where the other one stood, as classes may derive from it
        source = library.definitions[name].source
        for old, new in _PREPROCESSED.items():
            source = source.replace(old, new)
        definitions.setdefault(name, replace(library.definitions[name], source=source))
    return replace(library, definitions=definitions)
