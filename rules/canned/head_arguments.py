"""The head of a canned Estimator in a program: what its class says, or the call that makes one for it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field, replace

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import is_none
from migrator.normalise.values.possible_values import possible_values
from migrator.resolve.module import Module
from migrator.resolve.project import Project

from ..estimator_calls.estimator_values import Construction
from ..loop.comments import has_comments
from ..loop.settings import are_known
from ..loop.values import values_of
from .canned import CANNED
from .canned_heads import HEADS, bound_head, default_reduction, loss_reduction, of_tensorflow_2
from .heads import Head

_MEANS = frozenset({"sum_over_batch_size", "sum_by_nonzero_weights", "mean"})
_KINDS = {
    "BinaryClassHead": "binary",
    "MultiClassHead": "classes",
    "MultiLabelHead": "labels",
    "RegressionHead": "numbers",
    "poisson_regression_head": "rates",
    "logistic_regression_head": "shares",
}
_UNDERSTOOD = {
    "binary": "weight_column label_vocabulary loss_reduction name thresholds",
    "classes": "n_classes weight_column label_vocabulary loss_reduction name",
    "labels": "n_classes weight_column loss_reduction name thresholds classes_for_class_based_metrics",
    "numbers": "label_dimension weight_column loss_reduction name",
    "rates": "label_dimension weight_column loss_reduction name compute_full_loss",
    "shares": "weight_column loss_reduction name",
}
_PASSED_ON = ("n_classes", "label_dimension", "weight_column", "label_vocabulary")
_SPARSE = ("sparse", "VarLen", "string_split", "strings.split")


@dataclass(frozen=True)
class HeadArguments:
    """A head, and what the new class has to be given for it."""

    head: Head
    arguments: dict[str, ast.expr] = field(default_factory=dict)


def head_of(project: Project, construction: Construction, told: dict[str, ast.expr]) -> HeadArguments:
    """The head of an Estimator with these arguments. Raises Unsupported."""
    if construction.name.endswith("Estimator"):
        return _given_head(project, construction, told)
    module, short = construction.module, construction.name.rpartition(".")[2]
    second = construction.dialect == "v2"
    said = told.get("loss_reduction")
    default = "sum_over_batch_size" if second else "sum"
    reduction = default if said is None else loss_reduction(module.resolve, said).strip('"')
    classifies = short.endswith("Classifier")
    units = _units(project, module, told.get("n_classes" if classifies else "label_dimension"), short, classifies)
    kind = "numbers" if not classifies else "binary" if units == 1 else "classes"
    return HeadArguments(_checked(Head(kind, units, reduction, second), told))


def _checked(head: Head, told: dict[str, ast.expr]) -> Head:
    """A head whose reduction is one of Keras, where examples have no weights. Raises Unsupported."""
    if head.reduction != "sum" and head.reduction not in _MEANS:
        raise Unsupported("`loss_reduction` of its head", None)
    if head.kind == "rates" and head.summed:
        raise Unsupported("the sum of the losses of rates", None)
    return head if "weight_column" in told or head.summed else replace(head, reduction="sum_over_batch_size")


def _units(project: Project, module: Module, counted: ast.expr | None, what: str, classes: bool) -> int:
    """The width of an output. Raises Unsupported."""
    if counted is None:
        return 1
    number = number_of(project, module, counted)
    if number is None or number < 1:
        raise Unsupported(f"a number of outputs of {what} that is not seen", counted)
    return 1 if classes and number == 2 else number


def number_of(project: Project, module: Module, counted: ast.expr) -> int | None:
    """The one number that an expression is, as far as the program says."""
    numbers = {_whole_number(project, *value) for value in values_of(project, module, counted)}
    return numbers.pop() if len(numbers) == 1 else None


def _given_head(project: Project, construction: Construction, told: dict[str, ast.expr]) -> HeadArguments:
    """The head that an Estimator is given. Raises Unsupported."""
    module, value = construction.module, told.get("head")
    if value is None:
        raise Unsupported("an Estimator without a head", construction.call)
    statement = _statement(project, module, value, construction) if isinstance(value, ast.Name) else None
    call = value if statement is None else statement.value
    name = module.resolve(call.func) if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or name not in HEADS:
        raise Unsupported("a head that is not seen, or made of several", value)
    helper, given = bound_head(call, name)
    said = {key: each for key, each in given.items() if not is_none(each)}
    kind = _KINDS.get(helper, "")
    more = sorted(set(said) - set(_UNDERSTOOD.get(kind, "").split()))
    if more:
        raise Unsupported(f"`{more[0]}` of a head", said[more[0]])
    if statement is not None and not are_known(module, statement, construction.call, said.values()):
        raise Unsupported("a head that is made elsewhere", value)
    if has_comments(module, statement or call):
        raise Unsupported("a head with comments", value)
    names = (name for other in project.modules.values() for _, name in other.references()) if kind == "labels" else ()
    if any(word.lower() in each.lower() for each in names for word in _SPARSE):
        raise Unsupported("labels of several classes that may be sparse", value)
    reduction = default_reduction(name)
    if "loss_reduction" in said:
        reduction = loss_reduction(module.resolve, said["loss_reduction"]).strip('"')
    counted = said.get("label_dimension" if kind in ("numbers", "rates") else "n_classes")
    units = _units(project, module, counted, "its head", kind == "classes")
    if kind == "classes" and units == 1:
        raise Unsupported("a head of two classes with a logit for each", value)
    head = Head(
        kind,
        units,
        reduction,
        of_tensorflow_2(name),
        _numbers(module, said.get("thresholds"), float),
        tuple(map(int, _numbers(module, said.get("classes_for_class_based_metrics"), int))),
        _text(said.get("name")),
        _truth(said.get("compute_full_loss")),
        call,
        statement,
    )
    return HeadArguments(_checked(head, said), {key: each for key, each in said.items() if key in _PASSED_ON})


def _statement(project: Project, module: Module, name: ast.Name, construction: Construction) -> ast.Assign | None:
    """The statement that holds a head for Estimators alone. Raises Unsupported."""
    statement = module.assignment(name)
    if statement is None:
        raise Unsupported("a head that is not seen, or made of several", name)
    scope = module.scope(name).lookup(name.id)
    for load in module.loads_of(name.id, scope):
        outer = module.parent(load)
        call = module.parent(outer) if isinstance(outer, ast.keyword) and outer.arg == "head" else outer
        if not isinstance(call, ast.Call) or load is call.func or module.resolve(call.func) not in CANNED:
            raise Unsupported("a head that is used elsewhere", load)
    if scope is not None and project.readers.elsewhere(module, scope, name.id):
        raise Unsupported("a head that is used elsewhere", name)
    return statement


def _numbers(module: Module, node: ast.expr | None, kind: type) -> tuple[float, ...]:
    """Numbers that are written out. Raises Unsupported."""
    value = node
    if isinstance(node, ast.Name) and (statement := module.assignment(node)) is not None:
        value = statement.value
    elements = value.elts if isinstance(value, (ast.List, ast.Tuple)) else []
    found = [e.value for e in elements if isinstance(e, ast.Constant) and isinstance(e.value, (int, kind))]
    if node is not None and (not found or len(found) < len(elements)):
        raise Unsupported("thresholds or classes of a head that are not seen", node)
    return tuple(kind(each) for each in found)


def _text(node: ast.expr | None) -> str:
    if node is not None and not (isinstance(node, ast.Constant) and isinstance(node.value, str)):
        raise Unsupported("the name of a head that is not seen", node)
    return str(node.value) if isinstance(node, ast.Constant) else ""


def _truth(node: ast.expr | None) -> bool:
    if node is not None and not (isinstance(node, ast.Constant) and isinstance(node.value, bool)):
        raise Unsupported("`compute_full_loss` of a head that is not seen", node)
    return bool(node.value) if isinstance(node, ast.Constant) else True


def _whole_number(project: Project, module: Module, node: ast.expr) -> int | None:
    """A number that the source says, also as the length of a list."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len" and len(node.args) == 1:
        return _length(project, module, node.args[0])
    return None


def _length(project: Project, module: Module, node: ast.expr) -> int | None:
    """How many entries a list has that nothing makes longer."""
    found = possible_values(project, module, node, whole=True)
    loads = (load for holder in found.holders for load in project.readers.of(*holder))
    if found.stuck is not None or any(isinstance(home.parent(load), ast.Attribute) for home, load in loads):
        return None
    shown = [value.elts if isinstance(value, (ast.List, ast.Tuple)) else [] for _, value in found.values]
    lengths = {len(elements) for elements in shown if not any(isinstance(each, ast.Starred) for each in elements)}
    return lengths.pop() or None if len(lengths) == 1 and len(shown) == 1 else None
