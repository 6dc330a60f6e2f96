"""The collections of losses: what `tf.losses.*` adds to them by itself, and who reads them.

Keras has one such collection, `model.losses`, with the regularization terms of the layers.
"""

from __future__ import annotations

import ast

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, GraphCollections, Resolve, Writing, bind, is_none

from .losses import EXPRESSIONS as LOSSES

_LOSSES, _REGULARIZATION = "losses", "regularization_losses"
_READERS = {
    "tensorflow.losses.get_losses": "scope loss_collection",
    "tensorflow.losses.get_total_loss": "add_regularization_losses name scope",
    "tensorflow.losses.get_regularization_loss": "scope name",
    "tensorflow.losses.get_regularization_losses": "scope",
    "tensorflow.get_collection": "key scope",
}
_TENSORFLOW = frozenset(
    "asset_filepaths cond_context concatenated_variables eval_step global_step global_variables init_op local_init_op "
    "local_resources local_variables metric_variables model_variables moving_average_variables queue_runners "
    "ready_for_local_init_op ready_op resources saveable_objects savers streaming_model_ports summaries summary_op "
    "table_initializer table_initializers train_op trainable_resource_variables trainable_variables update_ops variables "
    "while_context".split()
)
"""Collections that TensorFlow reads itself."""
_SUMMED = frozenset({_LOSSES, _REGULARIZATION})
_SUMMING = frozenset({"get_losses", "get_total_loss", "get_regularization_loss", "get_regularization_losses"})
VARIABLES = frozenset({"tensorflow.trainable_variables"})


def _key(node: ast.expr | None, resolve: Resolve) -> str | None:
    """The name of a collection: a literal, or an attribute of ``tf.GraphKeys``."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    name = (resolve(node) or "") if node is not None else ""
    return name.rsplit(".", 1)[1].lower() if ".GraphKeys." in name else None


class LossCollections(GraphCollections):
    """The collections of TensorFlow 1."""

    def added(self, call: ast.Call, name: str, resolve: Resolve) -> tuple[str, ast.expr] | None:
        if name in LOSSES:
            given = next((k.value for k in call.keywords if k.arg == "loss_collection"), None)
            if given is None:
                return _LOSSES, call
            key = _key(given, resolve)
            if is_none(given):
                return None
            if key is None:
                raise Unsupported("the collection of a loss is not seen", given)
            return key, call
        if name in ("tensorflow.losses.add_loss", "tensorflow.add_to_collection"):
            given_add = bind(call, "loss loss_collection" if name.endswith("add_loss") else "name value", name)
            collection = given_add.get("loss_collection", given_add.get("name"))
            key = _LOSSES if collection is None else _key(collection, resolve)
            value = given_add.get("loss", given_add.get("value"))
            if key is None or value is None:
                raise Unsupported("the collection that is added to is not seen", call)
            return key, value
        return None

    def read(self, call: ast.Call, name: str, resolve: Resolve) -> tuple[str, ...]:
        if name == "tensorflow.get_collection":
            key = _key(call.args[0] if call.args else None, resolve)
            return () if key in (None, "update_ops", "trainable_variables") else (key,)
        if name == "tensorflow.losses.get_losses":
            return (_LOSSES,)
        if name == "tensorflow.losses.get_total_loss":
            return _LOSSES, _REGULARIZATION
        return (_REGULARIZATION,) if name in _READERS else ()

    def may_read(self, call: ast.Call, key: str, resolve: Resolve) -> bool:
        if key in _TENSORFLOW:
            return True
        name = resolve(call.func) or ""
        if name in _READERS and name != "tensorflow.get_collection":
            return key in self.read(call, name, resolve)
        method = call.func.attr if isinstance(call.func, ast.Attribute) else name.rsplit(".", 1)[-1]
        if method not in ("get_collection", "get_collection_ref"):
            return key in _SUMMED and method in _SUMMING
        return _key(call.args[0] if call.args else None, resolve) in (key, None)


def _given(call: ast.Call, writing: Writing) -> dict[str, ast.expr]:
    name = writing.resolve(call.func) or ""
    given = bind(call, _READERS[name], name.replace("tensorflow", "tf", 1))
    if not is_none(given.get("scope")):
        raise Unsupported("a collection is read for one scope", given["scope"])
    return given


def _terms(call: ast.Call, writing: Writing, *keys: str) -> list[str]:
    """The losses of these collections, as elements of a list: those of the model, then those that its layers keep."""
    if _REGULARIZATION in keys and writing.fact("regularized outside"):
        raise Unsupported("the regularizers of Keras layers are not in the collection of the graph", call)
    terms = [term for key in keys for term in writing.collected(call, key)]
    kept = writing.kept()
    if kept.isdisjoint(keys):
        return terms
    if not kept.issubset(keys):
        raise Unsupported("layers keep losses of several collections, of which one is read", call)
    if writing.where not in ("loss", "metrics"):
        raise Unsupported("losses that layers keep are read in the forward pass", call)
    return [*terms, "*self.losses"]


def _sum(terms: list[str], writing: Writing) -> str:
    if terms == ["*self.losses"]:  # add_n takes no empty list
        return f"{writing.tf}.{'add_n' if writing.fact('always regularized') else 'reduce_sum'}(self.losses)"
    return f"{writing.tf}.add_n([{', '.join(terms)}])" if len(terms) > 1 else "".join(terms) or "0.0"


def _list(terms: list[str]) -> str:
    return "self.losses" if terms == ["*self.losses"] else f"[{', '.join(terms)}]" if terms else ""


def regularization_loss(call: ast.Call, writing: Writing) -> str:
    """The sum of what the layers' regularizers ask for."""
    _given(call, writing)
    return _sum(_terms(call, writing, _REGULARIZATION), writing)


def regularization_losses(call: ast.Call, writing: Writing) -> str:
    """The list of regularization terms."""
    _given(call, writing)
    return _list(_terms(call, writing, _REGULARIZATION)) or "self.losses"


def losses(call: ast.Call, writing: Writing) -> str:
    """The list of losses that the program has made."""
    given = _given(call, writing)
    if "loss_collection" in given:
        raise Unsupported("losses of another collection are not migrated yet", given["loss_collection"])
    return _list(_terms(call, writing, _LOSSES)) or "[]"


def total_loss(call: ast.Call, writing: Writing) -> str:
    """The sum of all losses and regularization terms."""
    given = _given(call, writing)
    flag = given.get("add_regularization_losses")
    if flag is not None and not isinstance(flag, ast.Constant):
        raise Unsupported("whether the total loss has regularization terms is not a literal", flag)
    added = flag is None or bool(flag.value)
    terms = _terms(call, writing, _LOSSES, *([_REGULARIZATION] if added else []))
    if not terms:
        raise Unsupported("no loss is collected", call)
    return _sum(terms, writing)


def collection(call: ast.Call, writing: Writing) -> str:
    """``tf.get_collection`` of losses; other collections have no counterpart."""
    given = _given(call, writing)
    key = _key(given.get("key"), writing.resolve)
    if key == _REGULARIZATION:
        return regularization_losses(call, writing)
    members = _terms(call, writing, key) if key is not None else []
    if not members:
        raise Unsupported("this graph collection has no counterpart in Keras", call)
    return _list(members)


EXPRESSIONS: dict[str, Expression] = {
    "tensorflow.losses.get_regularization_loss": regularization_loss,
    "tensorflow.losses.get_regularization_losses": regularization_losses,
    "tensorflow.losses.get_losses": losses,
    "tensorflow.losses.get_total_loss": total_loss,
    "tensorflow.get_collection": collection,
}
