"""What a SavedModel is fed: features as they are, or examples to parse, as arguments of `tf.function`."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from migrator.analyse.function.translate import is_none
from migrator.normalise.draft.returns import own_returns
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk

from ..loop.places import has_its_line
from ..loop.values import values_of
from .computed_features import computed_receiver
from .fed_entries import added_entries, fed_by, is_read_in, loads
from .fed_features import PARSING, RAW, RECEIVER, Receiver
from .filled_dicts import changed_receiver, inner_receiver
from .held_receivers import goes, stays
from .placeholders import arguments_of_call, told_by

_UNSEEN = "what a SavedModel is fed is not understood"


def receiver_of(project: Project, module: Module, node: ast.expr, call: ast.Call) -> Receiver | str:
    """What the SavedModel of an export is fed, or why that is not understood."""
    statement = module.assignment(node) if isinstance(node, ast.Name) else None
    made = statement.value if statement is not None else node
    if isinstance(made, ast.Call) and module.resolve(made.func) == PARSING:
        given = arguments_of_call(made, "feature_spec default_batch_size")
        if given is None or not is_none(given.get("default_batch_size")) or "feature_spec" not in given:
            return _UNSEEN
        spec = given["feature_spec"]
        gone = statement is None or goes(module, statement, node, call, spec)
        if not gone and not stays(module, node, call):
            return _UNSEEN
        gone = gone or _has_name(module, spec, call)
        return Receiver(node, (made.func,), spec, statement=statement, kept=not gone, text=True)
    if isinstance(made, ast.Call) and module.resolve(made.func) == RAW:
        return _raw(module, node, made, statement, call) or _UNSEEN
    if isinstance(node, ast.Subscript):
        return _chosen(project, module, node) or _UNSEEN
    if isinstance(made, ast.Call):
        return _made(project, module, node, made, statement, call) or _UNSEEN
    found = project.definition(module, node)
    if found is None or not isinstance(found.node, ast.FunctionDef):
        return _UNSEEN
    if found.module is not module:
        return _of_other_file(project, module, node, found.module, found.node) or _UNSEEN
    receiver = function_receiver(project, module, node, found.node, call)
    return _UNSEEN if receiver is None else replace(receiver, function=found.node)


def _has_name(module: Module, value: ast.expr, call: ast.Call) -> bool:
    """Whether a value is a name that means the same at a call."""
    if not isinstance(value, ast.Name) or len(module.bindings(value)) != 1:
        return False
    return module.scope(call).lookup(value.id) is module.scope(value).lookup(value.id)


def _of_other_file(
    project: Project, user: Module, node: ast.expr, module: Module, function: ast.FunctionDef
) -> Receiver | None:
    """What a function of another file says, where another one can give the signatures: ``model.serving_input_fn``, or a name
    that is imported for nothing else."""
    named = isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and imported_for(user, node) is not None)
    if not named or module.parent(function) is not module.tree:
        return None
    receiver = function_receiver(project, module, node, function, function.body[-1])
    if receiver is None:
        return None
    own = replace(receiver, function=function)
    unsure = receiver.maybe_no_dict
    return Receiver(node, receiver.names, text=receiver.text, maybe_no_dict=unsure, choices=((module, own),))


def imported_for(module: Module, name: ast.Name) -> ast.alias | None:
    """What an import at the top of a file takes from another one under its own name, if nothing but `name` reads it."""
    root = module.analysis.root
    if module.scope(name).lookup(name.id) is not root or module.loads_of(name.id, root) != [name]:
        return None
    found = [each for each in module.imports if (each.alias.asname or each.alias.name) == name.id]
    if len(found) != 1 or found[0].alias.asname is not None or found[0].statement not in module.tree.body:
        return None
    return found[0].alias if isinstance(found[0].statement, ast.ImportFrom) else None


def _chosen(project: Project, module: Module, node: ast.Subscript) -> Receiver | None:
    """What the functions of a table say: ``SERVING_FUNCTIONS[args.export_format]``."""
    values = values_of(project, module, node)
    tables = {where.parent(value) for where, value in values}
    table = tables.pop() if len(tables) == 1 else None
    if not isinstance(table, ast.Dict) or len(table.values) != len(values):
        return None
    found: list[tuple[Module, Receiver]] = []
    for where, value in values:
        definition = project.definition(where, value)
        function = definition.node if definition is not None and definition.module is where else None
        if not isinstance(function, ast.FunctionDef) or where.scope(table).kind != "module":
            return None
        receiver = function_receiver(project, where, value, function, table)
        if receiver is None:
            return None
        found.append((where, replace(receiver, function=function)))
    names = tuple(name for _, receiver in found for name in receiver.names)
    text, unsure = any(fed.text for _, fed in found), any(fed.maybe_no_dict for _, fed in found)
    return Receiver(node, names, text=text, maybe_no_dict=unsure, choices=tuple(found))


def of_receivers(project: Project, found: Iterable[tuple[Module, Receiver]]) -> str:
    """Why functions that say what is fed stay: something else than exports reads them."""
    given: dict[tuple[Module, ast.FunctionDef], set[ast.expr]] = {}
    for module, receiver in found:
        function = receiver.maker or receiver.function
        if function is not None:
            given.setdefault((module, function), set()).add(_reference(module, receiver))
    for (module, function), nodes in given.items():
        scope = module.scope(module.parent(function) or module.tree)
        loads = {load for _, load in project.readers.of(module, scope.holder(function.name), function.name)}
        apart = any(module.parent(node) is None for node in nodes)  # of another file
        if loads != nodes or (not apart and project.readers.elsewhere(module, scope, function.name)):
            return _UNSEEN
    return ""


def _reference(module: Module, receiver: Receiver) -> ast.expr:
    """What names the function that says what is fed, or the one that makes it."""
    if receiver.maker is None:
        return receiver.given
    held = module.assignment(receiver.given)
    made = held.value if held is not None else receiver.given
    return made.func if isinstance(made, ast.Call) else made


def _raw(
    module: Module, node: ast.expr, made: ast.Call, statement: ast.Assign | None, call: ast.Call
) -> Receiver | None:
    """Placeholders that the code around an export makes."""
    given = arguments_of_call(made, "features default_batch_size")
    if given is None or not is_none(given.get("default_batch_size")) or "features" not in given:
        return None
    features = given["features"]
    held = module.assignment(features)
    fed = fed_by(module, held.value if held is not None else features, features, True)
    if fed is None or not is_read_in(module, features, [module.statement(made)]):
        return None
    if statement is not None and not goes(module, statement, node, call, features):
        return None
    return Receiver(node, (made.func,), features=features, statement=statement, fed=tuple(fed))


def _made(
    project: Project, module: Module, node: ast.expr, made: ast.Call, held: ast.Assign | None, call: ast.Call
) -> Receiver | None:
    """What a function says that another one makes: ``make_serving_input_fn(columns)``."""
    found = project.definition(module, made.func)
    maker = found.node if found is not None and found.module is module else None
    if not isinstance(maker, ast.FunctionDef) or maker.decorator_list or len(own_returns(maker)) != 1:
        return None
    last = maker.body[-1]
    returned = last.value if isinstance(last, ast.Return) else None
    inner = [each for each in maker.body if isinstance(each, ast.FunctionDef) and _names(returned, each)]
    if len(inner) != 1 or returned is None or module.loads_of(inner[0].name, module.scope(returned)) != [returned]:
        return None
    if held is not None and not stays(module, node, call):
        return None
    receiver = function_receiver(project, module, node, inner[0], inner[0].body[-1])
    return replace(receiver, function=inner[0], maker=maker) if receiver is not None else None


def _names(node: ast.expr | None, function: ast.FunctionDef) -> bool:
    return isinstance(node, ast.Name) and node.id == function.name


def function_receiver(
    project: Project, module: Module, node: ast.expr, function: ast.FunctionDef, call: ast.AST
) -> Receiver | None:
    """A function of the program that makes placeholders and returns them as features, or what it computes of them."""
    args = function.args
    inner = [p for p in walk(function) if isinstance(p, (ast.FunctionDef, ast.Lambda)) and p is not function]
    returns = [part for part in walk(function) if isinstance(part, ast.Return)]
    returns = [part for part in returns if not any(module.is_inside(part, each) for each in inner)]
    if function.decorator_list or len(returns) != 1 or returns[0] is not function.body[-1]:
        return None
    if args.args or args.kwonlyargs or args.vararg or args.kwarg or returns[0].value is None:
        return None
    found = _features(module, returns[0].value) if not inner else None
    if found is None:
        value = returns[0].value
        computed = computed_receiver(project, module, node, function, value, call)
        computed = computed or inner_receiver(project, module, node, function, value)
        return computed or changed_receiver(project, module, node, function, value)
    names, features, alias = found
    added = added_entries(module, features)
    fed = fed_by(module, function, features, module.resolve(names[0]) == RAW, added)
    own = [returns[0], *([alias] if alias is not None else []), *added]
    if fed is None or not is_read_in(module, features, own):
        return None
    told = told_by(module, fed[0][0]) if len(fed) == 1 else None
    alone = isinstance(module.parent(fed[0][0]), (ast.Dict, ast.Assign)) and told is not None
    text = alone and told is not None and told.is_text(module)
    return Receiver(node, names, statement=alias, returned=(returns[0].value, features), fed=tuple(fed), text=text)


def _features(module: Module, value: ast.expr) -> tuple[tuple[ast.expr, ...], ast.expr, ast.Assign | None] | None:
    """The names of the library in what a function returns, the features that are fed as they are, and another name of these."""
    if isinstance(value, ast.Call) and not value.args and not value.keywords and isinstance(value.func, ast.Call):
        made = value.func
        given = arguments_of_call(made, "features default_batch_size") if module.resolve(made.func) == RAW else None
        if given is None or set(given) != {"features"}:
            return None
        return (made.func,), given["features"], None
    given = None
    if isinstance(value, ast.Call) and module.resolve(value.func) == RECEIVER:
        given = arguments_of_call(value, "features receiver_tensors")
    if given is None or set(given) != {"features", "receiver_tensors"}:
        return None
    assert isinstance(value, ast.Call)
    features, tensors = (_uncopied(module, given[name]) for name in ("features", "receiver_tensors"))
    if isinstance(features, ast.Dict) and ast.dump(features) == ast.dump(tensors):
        return (value.func,), features, None
    if not (isinstance(features, ast.Name) and isinstance(tensors, ast.Name)):
        return None
    if features.id == tensors.id:
        return (value.func,), features, None
    alias = _alias(module, features, tensors)
    return ((value.func,), tensors, alias) if alias is not None else None


def _uncopied(module: Module, node: ast.expr) -> ast.expr:
    """What an expression copies: ``dict(features)``, ``features.copy()``."""
    if not isinstance(node, ast.Call) or node.keywords:
        return node
    if isinstance(node.func, ast.Attribute) and node.func.attr == "copy" and not node.args:
        return node.func.value if isinstance(node.func.value, ast.Name) else node
    made = isinstance(node.func, ast.Name) and node.func.id == "dict" and not module.bindings(node.func)
    return node.args[0] if made and len(node.args) == 1 and isinstance(node.args[0], ast.Name) else node


def _alias(module: Module, name: ast.Name, other: ast.Name) -> ast.Assign | None:
    """The statement that makes a name, read nowhere else, another one of `other`."""
    bound = [binding.node for binding in module.bindings(name)]
    statement = bound[0] if len(bound) == 1 else None
    if not isinstance(statement, ast.Assign) or not has_its_line(module, statement):
        return None
    same = isinstance(statement.value, ast.Name) and statement.value.id == other.id
    return statement if same and loads(module, name) == [name] else None
