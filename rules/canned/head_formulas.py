"""What the heads of TensorFlow compute, written with functions of TensorFlow 1: for heads in a model_fn that are seen as a whole.

Metrics and predictions that Keras has no name for, and that the program does not name either, are left out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import is_none
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk

from .canned_heads import HEADS, head_arguments, of_tensorflow_2

_KINDS = {"BinaryClassHead": "binary", "MultiClassHead": "classes", "RegressionHead": "numbers"}
_KNOWN = frozenset({"n_classes", "label_dimension", "weight_column", "label_vocabulary", "loss_reduction"})
_KNOWN |= {"interpolate_auc", "name"}
_REDUCTIONS = frozenset({'"sum"', '"sum_over_batch_size"'})
_USED = frozenset({"create_estimator_spec", "logits_dimension"})
_GONE = {
    "binary": ("accuracy_baseline", "label/mean", "prediction/mean"),
    "classes": (),
    "numbers": ("label/mean", "prediction/mean"),
}
"""Metrics that Keras has no name for."""
_REPEATED = ("all_class_ids", "all_classes")
"""Predictions that are the same for all examples."""
_CURVE = "auc_precision_recall"
_EXPORTS = frozenset({"export_saved_model", "export_savedmodel", "experimental_export_all_saved_models"})
_EXPORTERS = ("Exporter", "make_export_strategy")
_CONDITIONS = (ast.If, ast.For, ast.While, ast.Try, ast.With)


@dataclass(frozen=True)
class HeadFormulas:
    """A head of which everything is understood."""

    kind: str
    """``binary``, ``classes`` or ``numbers``."""
    units: str
    """The width of the logits."""
    weights: str
    """The name of the feature with the weights of the examples, as an expression; nothing if they have none."""
    vocabulary: str
    """The classes, if labels are strings."""
    new: bool
    """Whether it is one of TensorFlow 2."""
    summed: bool
    """Whether the loss of a batch is the sum of its losses, not their mean."""
    exported: bool
    """Whether the program exports models."""
    made: ast.Assign | None
    """The statement that gives the head its name."""
    suffix: str = ""
    """What the keys of metrics and the tags of summaries end with: the name that the head was given, after a slash."""

    @property
    def gone(self) -> list[str]:
        """Metrics and predictions that it has, and the model does not."""
        curve = [_CURVE] if self.kind == "binary" and not self.new else []
        return [*curve, *_GONE[self.kind], *(_REPEATED if self.kind != "numbers" and not self.exported else ())]

    def predictions(self, logits: str, name: str, ids: str, tf: str) -> Iterator[str]:
        """Statements that make the predictions, called `name`, of the logits; `ids` is a name for the classes."""
        if self.kind == "numbers":
            yield f'{name} = {{"predictions": {logits}}}'
            return
        if self.kind == "binary":
            yield f"{ids} = {tf}.cast({logits} > 0, {tf}.int64)"
        else:
            yield f"{ids} = {tf}.expand_dims({tf}.argmax({logits}, axis=1), 1)"
        yield f"{name} = {{"
        yield f'    "logits": {logits},'
        if self.kind == "binary":
            yield f'    "logistic": {tf}.sigmoid({logits}),'
            yield f'    "probabilities": {tf}.sigmoid({tf}.concat([-{logits}, {logits}], axis=1)),'
        else:
            yield f'    "probabilities": {tf}.nn.softmax({logits}),'
        yield f'    "class_ids": {ids},'
        classes = f"{tf}.gather({self.vocabulary}, {ids})" if self.vocabulary else f"{tf}.as_string({ids})"
        yield f'    "classes": {classes},'
        if self.exported:
            every = f"{tf}.range({'2' if self.kind == 'binary' else self.units})"
            names = f"{tf}.constant({self.vocabulary})" if self.vocabulary else f"{tf}.as_string({every})"
            for key, values in (("all_class_ids", every), ("all_classes", names)):
                yield f'    "{key}": {tf}.tile({tf}.expand_dims({values}, 0), [{tf}.shape({logits})[0], 1]),'
        yield "}"

    def outputs(self, predictions: str, tf: str) -> str:
        """What SavedModels compute, by signature."""
        export = f"{tf}.estimator.export"
        entries = [f'"predict": {export}.PredictOutput({predictions})']
        if self.kind != "numbers":
            read = f'scores={predictions}["probabilities"], classes={predictions}["all_classes"]'
            classify = f"{export}.ClassificationOutput({read})"
            entries += [f'"{key}": {classify}' for key in ("serving_default", "classification")]
        if self.kind != "classes":
            value = f'{predictions}["{"predictions" if self.kind == "numbers" else "logistic"}"]'
            keys = ("serving_default", "regression") if self.kind == "numbers" else ("regression",)
            entries += [f'"{key}": {export}.RegressionOutput({value})' for key in keys]
        return f"{{{', '.join(entries)}}}"

    def labels(self, labels: str, name: str, table: str, tf: str) -> Iterator[str]:
        """Statements that make numbers of the labels, of the rank of the losses, called `name`."""
        if self.vocabulary:  # what is no class becomes -1, which the loss refuses
            values = f"{tf}.lookup.KeyValueTensorInitializer({self.vocabulary}, list(range({self.units})))"
            yield f"{table} = {tf}.lookup.StaticHashTable({values}, -1)"
            yield f"{name} = {table}.lookup({tf}.reshape({labels}, [-1]))"
        elif self.kind == "classes":
            yield f"{name} = {tf}.reshape({labels}, [-1])"
        else:
            value = f"{tf}.cast({labels}, {tf}.float32)"
            yield f"{name} = {f'{tf}.reshape({value}, [-1, 1])' if self.units == '1' else value}"

    def weighted(self, features: str, name: str, tf: str) -> str:
        """The statement that reads the weights, of the rank of the losses, called `name`."""
        shape = "[-1]" if self.kind == "classes" else "[-1, 1]"
        return f"{name} = {tf}.cast({tf}.reshape({features}[{self.weights}], {shape}), {tf}.float32)"

    def losses(self, labels: str, logits: str, tf: str) -> str:
        """The losses of the examples, before weights."""
        if self.kind == "numbers":
            return f"{tf}.square({logits} - {labels})"
        short = {"binary": "sigmoid", "classes": "sparse_softmax"}[self.kind]
        return f"{tf}.nn.{short}_cross_entropy_with_logits(labels={labels}, logits={logits})"

    def loss(self, labels: str, logits: str, losses: str, weights: str, tf: str) -> str:
        """The loss of a batch."""
        if self.kind == "numbers" and not weights and not self.summed:
            return f"{tf}.losses.mean_squared_error({labels}, {logits})"
        reduced = f"{tf}.reduce_{'sum' if self.summed else 'mean'}"
        return f"{reduced}({f'{losses} * {weights}' if weights else losses})"

    def shown(self, loss: str, labels: str, losses: str, weights: str, tf: str) -> dict[str, str]:
        """What summaries of a training show besides the loss, by tag."""
        named = {f"loss{self.suffix}": loss} if self.suffix and not self.new else {}
        if not self.summed or self.new:
            return named
        count = f"{tf}.cast({tf}.size({labels}), {tf}.float32)"
        if weights:
            count = f"{tf}.reduce_sum({weights} * {tf}.ones_like({losses}))"
        return {**named, f"average_loss{self.suffix}": f"{loss} / {count}"}

    def metrics(self, labels: str, logits: str, ids: str, losses: str, weights: str, tf: str) -> Iterator[str]:
        """The entries of the dict of metrics."""
        end = self.suffix
        more = f", weights={weights}" if weights else ""
        if self.kind == "numbers" and not weights:
            yield f'"average_loss{end}": {tf}.metrics.mean_squared_error({labels}, {logits})'
        else:
            yield f'"average_loss{end}": {tf}.metrics.mean({losses}{more})'
        if self.kind == "numbers":
            return
        chosen = ids if self.kind == "binary" else f"{tf}.argmax({logits}, axis=1)"
        yield f'"accuracy{end}": {tf}.metrics.accuracy({labels}, {chosen}{more})'
        if self.kind == "binary":
            yield f'"precision{end}": {tf}.metrics.precision({labels}, {ids}{more})'
            yield f'"recall{end}": {tf}.metrics.recall({labels}, {ids}{more})'
            yield f'"auc{end}": {tf}.metrics.auc({labels}, {tf}.sigmoid({logits}){more})'
            if self.new:
                exact = 'curve="PR", summation_method="careful_interpolation"'
                yield f'"{_CURVE}{end}": {tf}.metrics.auc({labels}, {tf}.sigmoid({logits}){more}, {exact})'


def formulas_of(project: Project, module: Module, head: ast.expr, at: ast.Call) -> HeadFormulas | None:
    """What a head computes that makes a spec `at` a place; None where not all of it is seen, or more of it is wanted."""
    made = module.assignment(head) if isinstance(head, ast.Name) else None
    call = made.value if made is not None else head
    name = module.resolve(call.func) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or name not in HEADS:
        return None
    if made is not None and not (isinstance(head, ast.Name) and _is_for_specs(module, made, head)):
        return None
    try:
        helper, arguments = head_arguments(call, name, module.resolve)
    except Unsupported:
        return None
    given = {key: value for key, value in arguments if isinstance(value, str) or not is_none(value)}
    if helper not in _KINDS or not set(given) <= _KNOWN or given["loss_reduction"] not in _REDUCTIONS:
        return None
    texts = {}
    for key, value in given.items():
        if key in ("loss_reduction", "interpolate_auc", "name"):
            continue
        if not isinstance(value, ast.expr) or not _is_same(module, value, at):
            return None
        texts[key] = module.segment(value)
    called, weights, vocabulary = (given.get(key) for key in ("name", "weight_column", "label_vocabulary"))
    if isinstance(called, ast.expr) and not _is_text(called):
        return None
    if isinstance(weights, ast.expr) and not _is_text(_behind(module, weights)):
        return None
    if isinstance(vocabulary, ast.expr) and not _are_texts(_behind(module, vocabulary)):
        return None
    if vocabulary is not None and _KINDS[helper] != "classes":
        return None
    exported = any(_exports(each) for each in project.modules.values())
    found = HeadFormulas(
        _KINDS[helper],
        "1" if helper == "BinaryClassHead" else texts.get("n_classes", texts.get("label_dimension", "1")),
        texts.get("weight_column", ""),
        texts.get("label_vocabulary", ""),
        of_tensorflow_2(name),
        given["loss_reduction"] == '"sum"',
        exported,
        made,
        f"/{called.value!s}" if isinstance(called, ast.Constant) else "",
    )
    named = {text for each in project.modules.values() for text in _texts(each)}
    return None if named & {*found.gone} else found


def _texts(module: Module) -> Iterator[str]:
    """All texts of a file."""
    yield from (
        node.value for node in walk(module.tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


def _exports(module: Module) -> bool:
    """Whether a file exports models."""
    attributes = any(node.attr in _EXPORTS for node in module.nodes(ast.Attribute))
    return attributes or any(name.endswith(_EXPORTERS) for _, name in module.references())


def _is_for_specs(module: Module, made: ast.Assign, head: ast.Name) -> bool:
    """Whether a head is made once, and does nothing but specs."""
    if len(made.targets) != 1 or not isinstance(made.targets[0], ast.Name):
        return False
    if any(isinstance(above, _CONDITIONS) for above in module.ancestors(made)):
        return False
    loads = module.loads_of(head.id, module.scope(head).lookup(head.id))
    parents = [module.parent(load) for load in loads]
    return all(isinstance(parent, ast.Attribute) and parent.attr in _USED for parent in parents)


def _is_same(module: Module, value: ast.expr, at: ast.Call) -> bool:
    """Whether an argument of a head says the same where the spec is made: names are bound once, and nothing is called."""
    plain = (ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.List, ast.Tuple, ast.expr_context)
    for node in walk(value):
        if isinstance(node, ast.Call):
            if not (isinstance(node.func, ast.Name) and node.func.id == "len" and len(module.bindings(node.func)) == 0):
                return False
        elif isinstance(node, ast.Name):
            if node.id == "len":
                continue
            if len(module.bindings(node)) != 1:
                return False
            if module.scope(node).lookup(node.id) is not module.scope(at).lookup(node.id):
                return False
        elif not isinstance(node, plain):
            return False
    return True


def _behind(module: Module, value: ast.expr) -> ast.expr:
    """The expression that gave a name its only value, if nothing could have changed that."""
    statement = module.assignment(value) if isinstance(value, ast.Name) else None
    if statement is None or not isinstance(value, ast.Name):
        return value
    loads = module.loads_of(value.id, module.scope(value).lookup(value.id))
    changed = any(isinstance(module.parent(load), (ast.Attribute, ast.AugAssign, ast.Delete)) for load in loads)
    return value if changed else statement.value


def _are_texts(value: ast.expr) -> bool:
    """Whether a list of texts is written out."""
    elements = value.elts if isinstance(value, (ast.List, ast.Tuple)) else []
    return bool(elements) and all(_is_text(element) for element in elements)


def _is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
