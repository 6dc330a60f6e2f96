"""Whether a program may train on several devices or machines, and so needs what is only for them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.resolve.text import Spans
from migrator.vendor import vendoring

_TRAINS_AND_EVALUATES = re.compile(
    rb"[.\"']train_and_evaluate|import\b[^\n(]*(\([^)]*)?\btrain_and_evaluate|learn_runner|\bExperiment\b"
)
_CLUSTER = "TF_CONFIG"
"""What counts in sentences, too: a command or a JSON text may set it."""
_OTHER_WORDS = re.compile(
    rb"Strategy\b|get_strategy|distribute\b(?!\.cluster_resolver\.T)|device_fn|device_setter|"
    rb"TF_CONFIG|ClusterSpec|\bServer\(|\bmaster\s*=|grpc:|SyncReplicas|replicate_model_fn|TowerOptimizer|(?<!U)TPU|tpu\b|horovod|"
    rb"partitioner(?!\s*=\s*None\b)|num_worker_replicas|num_ps_replicas|(?<!FLAGS)(?<!args)\.is_chief\b|(?<!TFConfigClusterResolver\(\)\.)cluster_spec|(?<!FLAGS)(?<!args)\.task_(?:type|id)\b|"
    rb"global_id_in_cluster|input_context|session_creation_timeout|TFConfigClusterResolver"
)
_WORDS = re.compile(_TRAINS_AND_EVALUATES.pattern + b"|" + _OTHER_WORDS.pattern)
"""What asks for several of them. In TensorFlow 1 only `train_and_evaluate` and Experiments start a server of TF_CONFIG; a
function of the program may have that name, too."""
_WHATEVER_IS_CHOSEN = re.compile(rb"partitioner(?!\s*=\s*None\b)|\.(train|eval)_distribute\b")
"""What needs their helpers on one device, too."""
_OF_TRIALS = frozenset({"trial", "trail"})
"""Entries of a task that say nothing of machines; a public program that many have copied misspells one."""
_OF_TPUS = frozenset({"TPU", "tpu"})
"""Those by which a program speaks of TPUs; it may have none."""
_UNDERSTOOD = frozenset(
    {"Strategy", "get_strategy", "distribute", "input_context", "TF_CONFIG", "TFConfigClusterResolver", "partitioner"}
)
"""Those words that a loop of `fit` keeps the meaning of."""


def speaks_of_several(modules: Iterable[Module], strategy: str) -> bool | None:
    """Whether a program is for several devices or machines; `strategy` is the value of the option.

    None: its files name nothing that is, so only those who import its Estimators may have it train there.
    """
    words = {"auto": _WORDS, "none": _WHATEVER_IS_CHOSEN}.get(strategy)
    if words is None or any(True for _ in _spoken(words, modules)):
        return True
    return None if strategy == "auto" else False


def only_trains_and_evaluates(modules: Iterable[Module], strategy: str) -> bool:
    """Whether `train_and_evaluate` is all that speaks for several machines: its callers may set TF_CONFIG for it."""
    programs = [m for m in modules if not vendoring.is_vendored(m.text)] if strategy == "auto" else []
    return bool(programs) and not any(True for _ in _spoken(_OTHER_WORDS, programs))


def understood_words(
    modules: Iterable[Module], on_tpu: bool, read: Mapping[str, Spans] = MappingProxyType({})
) -> frozenset[str] | None:
    """The words by which files speak for several devices or machines; None: there are others than strategies, partitioners
    and TF_CONFIG, which is meant where it is `read`. Those for TPUs are of no account, nor is, where an Estimator is for one,
    that which names its master."""
    places = ((read.get(m.path, Spans()).hold(span), word) for m, span, word in _places(_OTHER_WORDS, modules))
    found = frozenset(_CLUSTER if of_cluster else word for of_cluster, word in places)
    told = frozenset(word for word in found - _OF_TPUS if not (on_tpu and word.startswith("master")))
    return told if told <= _UNDERSTOOD else None


def speaks_of_tpus(modules: Iterable[Module]) -> bool:
    """Whether files name TPUs."""
    return any(re.search(rb"(?<!U)TPU|tpu\b", m.source) and not vendoring.is_vendored(m.text) for m in modules)


def _spoken(words: re.Pattern[bytes], modules: Iterable[Module]) -> Iterator[str]:
    """Those of `words` that stand in the code of files."""
    return (word for _, _, word in _places(words, modules))


def _places(words: re.Pattern[bytes], modules: Iterable[Module]) -> Iterator[tuple[Module, tuple[int, int], str]]:
    """Where `words` stand in the code of files, not in what people alone read: comments, docstrings, texts of help."""
    for module in modules:
        known: dict[re.Pattern[bytes], list[tuple[tuple[int, int], str]]] = module.memo.setdefault("cluster words", {})
        if words not in known:
            known[words] = list(_found(words, module))
        yield from ((module, span, word) for span, word in known[words])


def _found(words: re.Pattern[bytes], module: Module) -> Iterator[tuple[tuple[int, int], str]]:
    for match in () if vendoring.is_vendored(module.text) else words.finditer(module.source):
        word = match.group().decode()
        if word == _CLUSTER and _names_a_trial(module, match.start()):
            continue
        if word == _CLUSTER or not _is_prose(module, match.start()):
            yield match.span(), word


def _names_a_trial(module: Module, position: int) -> bool:
    """Whether TF_CONFIG is read for the number of a trial of hyperparameters alone: ``.get("task", {}).get("trial")``."""
    texts = (n for n in walk(module.tree) if isinstance(n, ast.Constant) and n.value == _CLUSTER)
    node: ast.AST | None = next((n for n in texts if module.span(n)[0] <= position < module.span(n)[1]), None)
    keys: list[object] = []
    while isinstance(node, ast.expr):
        outer = module.parent(node)
        if isinstance(outer, ast.Subscript) and outer.value is node:
            keys.append(getattr(outer.slice, "value", None))
        elif (
            isinstance(outer, ast.Attribute)
            and outer.attr == "get"
            and isinstance(call := module.parent(outer), ast.Call)
        ):
            keys.append(getattr(call.args[0], "value", None) if call.args else None)
        node = outer
    return len(keys) >= 2 and keys[0] == "task" and keys[1] in _OF_TRIALS


def _is_prose(module: Module, position: int) -> bool:
    """Whether a place is inside of a comment, or of a string of several words."""
    return module.in_comment(position) or _sentences(module).hold((position, position))


def _sentences(module: Module) -> Spans:
    """Strings of several words; those of f-strings, whose places are not told, are code."""
    if "sentences" not in module.memo:
        nodes = list(walk(module.tree))
        parts = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        texts = [node for node in nodes if isinstance(node, ast.Constant) and id(node) not in parts]
        apart = [node for node in texts if isinstance(node.value, str) and len(node.value.split()) > 1]
        module.memo["sentences"] = Spans(map(module.span, apart))
    found: Spans = module.memo["sentences"]
    return found
