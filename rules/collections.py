"""The collections of losses: what `tf.losses.*` adds to them by itself, and who reads them.

Keras has one such collection, `model.losses`, with the regularization terms of the layers.
"""

from __future__ import annotations

import ast

from migrator.modelfn.errors import Unsupported
from migrator.modelfn.translate import Expression, GraphCollections, Resolve, Writing, bind, is_none

from .losses import EXPRESSIONS as LOSSES

_LOSSES, _REGULARIZATION = "losses", "regularization_losses"
_READERS = {
    "tensorflow.losses.get_losses": "scope loss_collection",
    "tensorflow.losses.get_total_loss": "add_regularization_losses name scope",
    "tensorflow.losses.get_regularization_loss": "scope name",
    "tensorflow.losses.get_regularization_losses": "scope",
    "tensorflow.get_collection": "key scope",
}
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


def _given(call: ast.Call, writing: Writing) -> dict[str, ast.expr]:
    name = writing.resolve(call.func) or ""
    given = bind(call, _READERS[name], name.replace("tensorflow", "tf", 1))
    if not is_none(given.get("scope")):
        raise Unsupported("a collection is read for one scope", given["scope"])
    return given


def _terms(call: ast.Call, writing: Writing) -> list[str]:
    """The regularization terms, as elements of a list."""
    if writing.fact("regularized outside"):
        raise Unsupported("the regularizers of Keras layers are not in the collection of the graph", call)
    regularized = writing.fact("regularized")
    if writing.where not in ("loss", "metrics") and regularized:
        raise Unsupported("regularization terms are read in the forward pass", call)
    return writing.collected(call, _REGULARIZATION) + (["*self.losses"] if regularized else [])


def _sum(terms: list[str], writing: Writing) -> str:
    if terms == ["*self.losses"]:  # add_n takes no empty list
        return f"{writing.tf}.{'add_n' if writing.fact('always regularized') else 'reduce_sum'}(self.losses)"
    return f"{writing.tf}.add_n([{', '.join(terms)}])" if len(terms) > 1 else "".join(terms) or "0.0"


def regularization_loss(call: ast.Call, writing: Writing) -> str:
    """The sum of what the layers' regularizers ask for."""
    _given(call, writing)
    return _sum(_terms(call, writing), writing)


def regularization_losses(call: ast.Call, writing: Writing) -> str:
    """The list of regularization terms."""
    _given(call, writing)
    terms = _terms(call, writing)
    return "self.losses" if terms in ([], ["*self.losses"]) else f"[{', '.join(terms)}]"


def losses(call: ast.Call, writing: Writing) -> str:
    """The list of losses that the program has made."""
    given = _given(call, writing)
    if "loss_collection" in given:
        raise Unsupported("losses of another collection are not migrated yet", given["loss_collection"])
    return f"[{', '.join(writing.collected(call, _LOSSES))}]"


def total_loss(call: ast.Call, writing: Writing) -> str:
    """The sum of all losses and regularization terms."""
    given = _given(call, writing)
    flag = given.get("add_regularization_losses")
    if flag is not None and not isinstance(flag, ast.Constant):
        raise Unsupported("whether the total loss has regularization terms is not a literal", flag)
    added = flag is None or bool(flag.value)
    terms = writing.collected(call, _LOSSES) + (_terms(call, writing) if added else [])
    if not terms:
        raise Unsupported("no loss is collected", call)
    return _sum(terms, writing)


def collection(call: ast.Call, writing: Writing) -> str:
    """``tf.get_collection`` of losses; other collections have no counterpart."""
    given = _given(call, writing)
    key = _key(given.get("key"), writing.resolve)
    if key == _REGULARIZATION:
        return regularization_losses(call, writing)
    members = writing.collected(call, key) if key is not None else []
    if not members:
        raise Unsupported("this graph collection has no counterpart in Keras", call)
    return f"[{', '.join(members)}]"


EXPRESSIONS: dict[str, Expression] = {
    "tensorflow.losses.get_regularization_loss": regularization_loss,
    "tensorflow.losses.get_regularization_losses": regularization_losses,
    "tensorflow.losses.get_losses": losses,
    "tensorflow.losses.get_total_loss": total_loss,
    "tensorflow.get_collection": collection,
}
