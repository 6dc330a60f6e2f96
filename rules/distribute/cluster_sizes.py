"""What a model_fn reads of its configuration about the cluster: TF_CONFIG says the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.calls import call_of
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Replace, code

from ..estimator_calls.estimator_values import ESTIMATOR
from ..model_fns.model_fns import model_fn_behind
from ..symbols.tensorflow_names import whole_name
from .task_reads import OF_TASKS, task_text

_RESOLVER = "{tf}.distribute.cluster_resolver.TFConfigClusterResolver()"


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Asks the resolver of TF_CONFIG, where a model_fn reads nothing else of its configuration.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode, config):
        several = config.num_ps_replicas > 1


    estimator = tf.estimator.Estimator(model_fn)
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode, config):
        several = len(tf.distribute.cluster_resolver.TFConfigClusterResolver().cluster_spec().as_dict().get("ps", [])) > 1


    estimator = tf.estimator.Estimator(model_fn)
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each model_fn that a file gives to an Estimator."""
    if b"stimator" not in module.source:
        return
    for node, name in module.references():
        call = call_of(module, node) if name == ESTIMATOR else None
        if call is None:
            continue
        given = [*call.args[:1], *(keyword.value for keyword in call.keywords if keyword.arg == "model_fn")]
        found = model_fn_behind(project, module, given[0]) if given else None
        if found is not None and isinstance(found.node, ast.FunctionDef):
            yield _asked(found.module, found.node)


def _asked(module: Module, function: ast.FunctionDef) -> list[Change]:
    """The changes for all that a model_fn reads of its configuration; none where that is more than what TF_CONFIG says."""
    loads = module.loads_of_parameter("config", function)
    reads = [module.parent(load) for load in loads]
    fields = [read for read in reads if isinstance(read, ast.Attribute) and read.attr in OF_TASKS]
    library = whole_name(module)
    if not fields or len(fields) < len(reads) or library is None or library in module.scope(function.body[0]).bindings:
        return []
    resolver = _RESOLVER.format(tf=library)
    return Change.of(module, *(Replace(read, code(task_text(module, read, resolver))) for read in fields))
