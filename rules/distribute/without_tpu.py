"""Programs around a TPUEstimator as those around an Estimator, before they are taken apart.

`TPUEstimatorSpec` becomes `EstimatorSpec`, with the metrics as `metric_fn` gives them; what only a graph for TPUs needs
goes. They train without a TPU, unless `--strategy tpu` has given their RunConfig a TPUStrategy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from migrator import rewrite
from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.syntax import walk
from migrator.rewrite import Replace, expr, with_arguments

from ..estimator_calls.driver import Driver
from ..estimator_calls.estimator_values import Construction
from ..symbols.tensorflow_names import tensorflow_root
from . import host_calls
from .batch_sizes import of_batches
from .spec_twins import one_of_twins
from .strategies import trains_on_tpu
from .tpu import ADDED_UP, ASKS, NO_HOST_CALL, adds_up, cross_shards
from .tpu_facts import short_name

if TYPE_CHECKING:
    import libcst as cst

    from migrator.analyse.function.plan import Plan

_SPEC = (
    "mode predictions loss train_op eval_metrics export_outputs scaffold_fn host_call training_hooks evaluation_hooks "
    "prediction_hooks"
)
_SIZES = ("use_tpu", "train_batch_size", "eval_batch_size", "predict_batch_size")


def settle_tpus(drafts: Drafts, paths: Iterable[str]) -> None:
    """Write specs and optimizers of TPUs as those of an Estimator. Raises Unsupported."""
    changes: list[Change] = []
    hosts: dict[tuple[str, str], None] = {}
    functions: dict[ast.FunctionDef | None, tuple[Module, ast.Call]] = {}
    on_tpu = trains_on_tpu(drafts.project.modules.values()) is not None
    for path in paths:
        module = drafts.project.modules[path]
        around: list[ast.Call] = []
        for node, name in module.references():
            call = module.parent(node)
            if not isinstance(call, ast.Call) or call.func is not node:
                continue
            if short_name(name) == "TPUEstimatorSpec":
                given = [k.value for k in call.keywords if k.arg == "host_call" and not is_none(k.value)]
                for host_call in given:
                    drafts.remark(module, call, NO_HOST_CALL)
                    hosts.update(dict.fromkeys(host_calls.functions(drafts.project, module, host_call)))
                functions.setdefault(module.nearest(call, ast.FunctionDef), (module, call))
                twins = one_of_twins(module, call)
                if twins is not None:
                    changes += Change.of(module, twins)
                    continue
                changes += Change.of(module, *_spec(module, call, on_tpu))
                changes += (change for host_call in given for change in host_calls.left_out(module, host_call))
            elif short_name(name) == "CrossShardOptimizer":
                around.append(call)
                if adds_up(module, call):
                    drafts.remark(module, call, ADDED_UP)
        changes += map(Change, cross_shards(module, around))
    for function, (module, call) in functions.items():
        root = tensorflow_root(module, call.func)
        changes += of_batches(module, function, root[0]) if function is not None and root is not None else ()
    if changes:
        drafts.apply(changes)
        host_calls.clear(drafts, hosts)


def _spec(module: Module, call: ast.Call, on_tpu: bool) -> Iterator[rewrite.Change]:
    given = bind(call, _SPEC, "TPUEstimatorSpec")
    if len(call.args) > 5:
        raise Unsupported("a TPUEstimatorSpec with that many positional arguments is not migrated yet", call)
    root = tensorflow_root(module, call.func)
    if root is None:
        raise Unsupported("the file has no name for TensorFlow as a whole", call)
    yield from root[1]
    for keyword in call.keywords:
        if keyword.arg == "scaffold_fn":
            _check_scaffold(module, keyword.value, on_tpu)
    renamed, doomed = {"eval_metrics": "eval_metric_ops"}, ["host_call", "scaffold_fn"]
    yield Replace(call.func, f"{root[0]}.estimator.EstimatorSpec")
    yield Replace(call, with_arguments(module.cst.call(call), rename=renamed, drop=doomed))
    if not is_none(given.get("eval_metrics")):
        yield from _metrics(module, given["eval_metrics"])


def _metrics(module: Module, node: ast.expr) -> Iterator[rewrite.Change]:
    """``(metric_fn, [losses, labels])`` becomes ``metric_fn(losses, labels)``."""
    if isinstance(node, ast.Name):
        for value in _assigned(module, node):
            if not is_none(value):
                yield from _metrics(module, value)
        return
    file = module.cst
    if isinstance(node, ast.Tuple) and len(node.elts) == 2:
        function, tensors = node.elts
        if isinstance(tensors, (ast.List, ast.Tuple)) and isinstance(function, ast.Lambda):
            yield Replace(node, _body(module, function, tensors.elts))
            return
        if isinstance(tensors, (ast.List, ast.Tuple)) and isinstance(function, (ast.Name, ast.Attribute)):
            given = [file.node(element) for element in tensors.elts]
            yield Replace(node, expr("{f}({given})", f=file.expression(function), given=given))
            return
        if isinstance(tensors, ast.Name) and isinstance(function, (ast.Name, ast.Attribute)):
            if all(isinstance(value, (ast.List, ast.Tuple)) for value in _assigned(module, tensors)):
                yield Replace(node, expr("{f}(*{given})", f=file.expression(function), given=tensors.id))
                return
        if isinstance(tensors, ast.Dict) and isinstance(function, (ast.Name, ast.Attribute)):
            named = {
                str(key.value): file.expression(value)
                for key, value in zip(tensors.keys, tensors.values)
                if isinstance(key, ast.Constant) and str(key.value).isidentifier()
            }
            if len(named) == len(tensors.keys):
                yield Replace(node, with_arguments(expr("{f}()", f=file.expression(function)), add=named))
                return
    raise Unsupported("eval_metrics is not seen to be a function and a list of its tensors", node)


def _body(module: Module, function: ast.Lambda, values: list[ast.expr]) -> cst.BaseExpression:
    """What a function without a name gives for `values`. Raises Unsupported."""
    arguments, inner = function.args, (ast.Lambda, ast.comprehension, ast.NamedExpr)
    names = [argument.arg for argument in arguments.args]
    plain = not (arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs)
    if not plain or len(names) != len(values) or any(isinstance(n, (*inner, ast.Starred)) for n in walk(function.body)):
        raise Unsupported("the function of eval_metrics is not followed", function)
    given = {name: module.cst.expression(value) for name, value in zip(names, values)}
    reads = (node for node in walk(function.body) if isinstance(node, ast.Name) and node.id in given)
    return module.cst.filled(function.body, {node: given[node.id] for node in reads})


def _assigned(module: Module, node: ast.Name) -> list[ast.expr]:
    """All values that a name is given. Raises Unsupported where it is bound in another way."""
    statements = [module.statement(binding.node) for binding in module.bindings(node) if binding.node is not None]
    values = [s.value for s in statements if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name)]
    if not statements or len(values) < len(statements):
        raise Unsupported(f"what `{node.id}` of a TPUEstimatorSpec is, is not seen", node)
    return values


def _check_scaffold(module: Module, node: ast.expr, trains_on_tpu: bool) -> None:
    """Refuse a `scaffold_fn` that may be more than None; without a TPU, what is made for one is none."""
    if is_none(node):
        return
    try:
        values = _assigned(module, node) if isinstance(node, ast.Name) else [node]
    except Unsupported:
        values = [node]  # a function
    for value in values:
        tests = [ast.unparse(a.test) for a in module.ancestors(value) if isinstance(a, ast.If)]
        for_tpu = any(test.rstrip("'\"])").endswith("use_tpu") and not test.startswith("not ") for test in tests)
        if not is_none(value) and (trains_on_tpu or not for_tpu):
            raise Unsupported("a scaffold_fn prepares a graph", value)


# -- the Estimator ----------------------------------------------------------------------------------------------------


def parameters(driver: Driver, construction: Construction, plan: Plan, plain: bool) -> str:
    """The text of the parameters that hold the batch size of each mode; empty where no TPUEstimator is made.

    Those of a model alone, where its input functions are told the batch size; empty where it needs no more than it has.
    """
    if not construction.tpu:
        return ""
    given, module = construction.arguments, construction.module
    use = given.get("use_tpu")
    on_tpu = trains_on_tpu(plan.sublayers.project.modules.values()) is not None
    if not (on_tpu or plain) and (use is None or (isinstance(use, ast.Constant) and use.value is True)):
        raise Unsupported(ASKS, use or construction.call)
    if use is not None and any(use is argument for argument in construction.call.args):
        raise Unsupported("positional arguments of a TPUEstimator beyond params are not migrated yet", use)
    if "params" not in plan.statics and not plain:
        raise Unsupported("a TPUEstimator tells the batch size to a model_fn that takes no params", plan.function)
    for node in walk(plan.function):
        if isinstance(node, ast.Name) and node.id == "params" and isinstance(node.ctx, ast.Load):
            _check_read(plan.module, node)
    if plain:
        return _own(module, given, plan)
    helper = driver.need("TPUParams", construction.call)
    sizes = [name for name in _SIZES if name in given and not is_none(given[name])]
    own = [f"{name}={module.segment(given[name])}" for name in sizes if not on_tpu or name != "use_tpu"]
    if on_tpu:
        config = given.get("config")
        if not isinstance(config, (ast.Name, ast.Attribute)):
            raise Unsupported(
                "the RunConfig of a TPUEstimator has no name, by which its TPU could be asked for", config
            )
        own.append(f"num_shards={module.segment(config)}.strategy.num_replicas_in_sync")
    first = [] if is_none(given.get("params")) else [module.segment(given["params"])]
    line = f"{helper}({', '.join([*first, *own])})"
    statement = module.statement(construction.call)
    indent = " " * statement.col_offset
    if len(line) + statement.col_offset <= 100:
        return line
    return "\n".join([f"{helper}(", *(f"{indent}        {part}," for part in [*first, *own]), f"{indent}    )"])


def _own(module: Module, given: dict[str, ast.expr], plan: Plan) -> str:
    """The text of the parameters of a model that asks whether it is on a TPU; empty where it does not."""
    nodes = list(walk(plan.function))
    if not any(isinstance(node, ast.Constant) and node.value == "use_tpu" for node in nodes):
        return ""
    first = "" if is_none(given.get("params")) else f"**{module.segment(given['params'])}, "
    use = given.get("use_tpu")
    return f'{{{first}"use_tpu": {"True" if use is None else module.segment(use)}}}'


def _check_read(module: Module, node: ast.Name) -> None:
    """Refuse a model_fn that reads the batch size, or hands its parameters on."""
    parent = module.parent(node)
    key: ast.AST | None = None
    if isinstance(parent, ast.Subscript) and parent.value is node:
        key = parent.slice
    elif isinstance(parent, ast.Attribute) and parent.attr == "get":
        call = module.parent(parent)
        key = call.args[0] if isinstance(call, ast.Call) and call.args else None
    if not isinstance(key, ast.Constant) or key.value == "batch_size":
        raise Unsupported("a TPUEstimator tells the model_fn its batch size", node)
