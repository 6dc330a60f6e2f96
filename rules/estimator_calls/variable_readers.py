"""`get_variable_names` and `get_variable_value` of Estimators: the functions that read the variables of a model by name.

A model_fn that becomes layers has other names of its own, so that both go through the bridge there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..canned.canned import CANNED
from .estimator_values import ESTIMATOR, Construction

READERS = ("get_variable_value", "get_variable_names")
OF_GRAPHS = dict(zip(READERS, READERS))
OF_CANNED = {"get_variable_value": "variable_value", "get_variable_names": "variable_names"}


def variable_readers(constructions: Iterable[Construction], graphs: bool) -> Mapping[str, str]:
    """The vendored functions by method, for a program whose model_fns stay graphs or become layers; empty if there are none."""
    names = {construction.name for construction in constructions}
    if names <= set(CANNED):
        return OF_CANNED
    return OF_GRAPHS if graphs and names == {ESTIMATOR} else {}
