"""What a SavedModel is fed: features as they are, or examples to parse, as arguments of `tf.function`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from migrator.analyse.function.translate import is_none
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk

from ..estimator_calls.estimator_values import PREFIX
from ..loop.places import has_its_line
from ..loop.values import values_of
from .feature_dicts import is_dict, only_reads
from .held_receivers import goes, stays
from .placeholders import Told, arguments_of_call, placeholders, told_by

_RECEIVER = PREFIX + "export.ServingInputReceiver"
RAW = PREFIX + "export.build_raw_serving_input_receiver_fn"
_PARSING = PREFIX + "export.build_parsing_serving_input_receiver_fn"
NAMES = frozenset({_RECEIVER, RAW, _PARSING})
_UNSEEN = "what a SavedModel is fed is not understood"


@dataclass(frozen=True)
class Fed:
    """A placeholder that becomes a parameter."""

    statement: ast.Assign
    name: str
    key: str
    """The text of its name as an input."""
    told: Told


@dataclass(frozen=True)
class FedTogether:
    """A dict of placeholders that becomes one parameter."""

    statement: ast.Assign
    name: str
    fed: tuple[tuple[ast.Call, str], ...]
    """The placeholders, each with the text of its name as an input."""
    added: tuple[tuple[ast.stmt, ast.Call, str], ...] = ()
    """Those that statements add to the dict."""

    @property
    def every(self) -> list[tuple[ast.Call, str]]:
        """All placeholders, each with the text of its name."""
        return [*self.fed, *((call, name) for _, call, name in self.added)]


@dataclass(frozen=True)
class Computed:
    """A function that computes features of placeholders."""

    function: ast.FunctionDef
    parameters: tuple[Fed | FedTogether, ...]


@dataclass(frozen=True)
class Receiver:
    """What is fed."""

    given: ast.expr
    """The argument of the method that exports: a function, or the call that makes it."""
    names: tuple[ast.expr, ...]
    """References to names of the library that go."""
    parsed: ast.expr | None = None
    """The features of serialized examples."""
    features: ast.expr | None = None
    """Features that are fed as they are, in the file that exports: a dict of placeholders, or the name of one."""
    statement: ast.Assign | None = None
    """What holds the function that is made of either, or their dict by another name, and goes."""
    kept: bool = False
    """Whether it stays for several exports, as what holds the features of serialized examples."""
    returned: tuple[ast.expr, ast.expr] | None = None
    """What a function of the program returns, and the features in it."""
    fed: tuple[tuple[ast.Call, str], ...] = ()
    """The placeholders of that function, or of `features`, each with the text of its name as an input."""
    computed: Computed | None = None
    """How a function of the program computes the features, if it does not return what it is fed."""
    function: ast.FunctionDef | None = None
    """The function of the program that says it."""
    text: bool = False
    """Whether one string is fed, so that heads serve what classifies, too."""
    maybe_no_dict: bool = False
    """Whether its features are not seen to be a dict."""
    choices: tuple[tuple[Module, Receiver], ...] = ()
    """What functions of a table say, of which an option chooses one, or one of another file, with their files."""

    @property
    def placeholders(self) -> list[ast.Call]:
        """The calls that made what is fed."""
        fed = list(self.fed)
        alone: list[ast.Call] = []
        for each in self.computed.parameters if self.computed is not None else ():
            if isinstance(each, FedTogether):
                fed += each.every
            else:
                alone += [each.statement.value] if isinstance(each.statement.value, ast.Call) else []
        return [*(call for call, _ in fed), *alone]


def receiver_of(project: Project, module: Module, node: ast.expr, call: ast.Call) -> Receiver | str:
    """What the SavedModel of an export is fed, or why that is not understood."""
    statement = module.assignment(node) if isinstance(node, ast.Name) else None
    made = statement.value if statement is not None else node
    if isinstance(made, ast.Call) and module.resolve(made.func) == _PARSING:
        given = arguments_of_call(made, "feature_spec default_batch_size")
        if given is None or not is_none(given.get("default_batch_size")) or "feature_spec" not in given:
            return _UNSEEN
        spec = given["feature_spec"]
        gone = statement is None or goes(module, statement, node, call, spec)
        if not gone and not stays(module, node, call):
            return _UNSEEN
        return Receiver(node, (made.func,), spec, statement=statement, kept=not gone, text=True)
    if isinstance(made, ast.Call) and module.resolve(made.func) == RAW:
        return _raw(module, node, made, statement, call) or _UNSEEN
    if isinstance(node, ast.Subscript):
        return _chosen(project, module, node) or _UNSEEN
    found = project.definition(module, node)
    if found is None or not isinstance(found.node, ast.FunctionDef):
        return _UNSEEN
    if found.module is not module:
        return _of_other_file(project, module, node, found.module, found.node) or _UNSEEN
    receiver = _function(project, module, node, found.node, call)
    return _UNSEEN if receiver is None else replace(receiver, function=found.node)


def _of_other_file(
    project: Project, user: Module, node: ast.expr, module: Module, function: ast.FunctionDef
) -> Receiver | None:
    """What a function of another file says, where another one can give the signatures: ``model.serving_input_fn``, or a name
    that is imported for nothing else."""
    named = isinstance(node, ast.Attribute) or (isinstance(node, ast.Name) and imported_for(user, node) is not None)
    if not named or module.parent(function) is not module.tree:
        return None
    receiver = _function(project, module, node, function, function.body[-1])
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
        receiver = _function(project, where, value, function, table)
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
        if receiver.function is not None:
            given.setdefault((module, receiver.function), set()).add(receiver.given)
    for (module, function), nodes in given.items():
        scope = module.scope(module.parent(function) or module.tree)
        loads = {load for _, load in project.readers.of(module, scope.holder(function.name), function.name)}
        apart = any(module.parent(node) is None for node in nodes)  # of another file
        if loads != nodes or (not apart and project.readers.elsewhere(module, scope, function.name)):
            return _UNSEEN
    return ""


def _raw(
    module: Module, node: ast.expr, made: ast.Call, statement: ast.Assign | None, call: ast.Call
) -> Receiver | None:
    """Placeholders that the code around an export makes."""
    given = arguments_of_call(made, "features default_batch_size")
    if given is None or not is_none(given.get("default_batch_size")) or "features" not in given:
        return None
    features = given["features"]
    held = module.assignment(features)
    fed = _fed(module, held.value if held is not None else features, features, True)
    if fed is None or not _is_read_in(module, features, [module.statement(made)]):
        return None
    if statement is not None and not goes(module, statement, node, call, features):
        return None
    return Receiver(node, (made.func,), features=features, statement=statement, fed=tuple(fed))


def _function(
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
        return _computed(project, module, node, function, returns[0].value, call)
    names, features, alias = found
    added = _added(module, features)
    fed = _fed(module, function, features, module.resolve(names[0]) == RAW, added)
    own = [returns[0], *([alias] if alias is not None else []), *added]
    if fed is None or not _is_read_in(module, features, own):
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
    if isinstance(value, ast.Call) and module.resolve(value.func) == _RECEIVER:
        given = arguments_of_call(value, "features receiver_tensors")
    if given is None or set(given) != {"features", "receiver_tensors"}:
        return None
    assert isinstance(value, ast.Call)
    features, tensors = given["features"], given["receiver_tensors"]
    if not (isinstance(features, ast.Name) and isinstance(tensors, ast.Name)):
        return None
    if features.id == tensors.id:
        return (value.func,), features, None
    alias = _alias(module, features, tensors)
    return ((value.func,), tensors, alias) if alias is not None else None


def _alias(module: Module, name: ast.Name, other: ast.Name) -> ast.Assign | None:
    """The statement that makes a name, read nowhere else, another one of `other`."""
    bound = [binding.node for binding in module.bindings(name)]
    statement = bound[0] if len(bound) == 1 else None
    if not isinstance(statement, ast.Assign) or not has_its_line(module, statement):
        return None
    same = isinstance(statement.value, ast.Name) and statement.value.id == other.id
    return statement if same and _loads(module, name) == [name] else None


_Entries = list[tuple[ast.expr, ast.expr]]


def _added(module: Module, features: ast.expr) -> dict[ast.stmt, _Entries]:
    """The statements that add entries to a dict with a name, with these: ``name[key] = value``, ``name.update({…})``."""
    found: dict[ast.stmt, _Entries] = {}
    for load in _loads(module, features) if isinstance(features, ast.Name) else ():
        parent, statement = module.parent(load), module.statement(load)
        if isinstance(parent, ast.Subscript) and isinstance(statement, ast.Assign) and statement.targets == [parent]:
            calls = [n.func for n in walk(parent.slice) if isinstance(n, ast.Call)]
            if all(isinstance(call, ast.Name) and call.id == "str" and not module.bindings(call) for call in calls):
                found[statement] = [(parent.slice, statement.value)]  # a key is written twice then
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and call.func is parent and isinstance(parent, ast.Attribute):
            entries = _entries(call.args[0]) if len(call.args) == 1 and not call.keywords else None
            if parent.attr == "update" and entries is not None:
                found[statement] = entries
    return found


def _entries(made: ast.expr) -> _Entries | None:
    """The entries of a dict that is written."""
    if isinstance(made, ast.DictComp):
        return [(made.key, made.value)]
    if not isinstance(made, ast.Dict):
        return None
    entries = [(key, value) for key, value in zip(made.keys, made.values) if key is not None]
    return entries if len(entries) == len(made.values) else None


def _fed(
    module: Module,
    function: ast.AST,
    features: ast.expr,
    raw: bool,
    added: Mapping[ast.stmt, _Entries] = MappingProxyType({}),
) -> list[tuple[ast.Call, str]] | None:
    """All placeholders of a function, if each of them is an entry of its dict of features, or of those that are `added` to it."""
    statement = module.assignment(features)
    found: list[tuple[ast.Call, str]] = []
    entries = _entries(statement.value if statement is not None else features)
    if entries is None:
        return None
    for key, value in [*entries, *(entry for more in added.values() for entry in more)]:
        held = module.assignment(value)
        call = held.value if held is not None else value
        told = told_by(module, call) if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or told is None or (raw and not _is_batch(told.shape)):
            return None
        if held is not None and isinstance(value, ast.Name) and len(_loads(module, value)) != 1:
            return None
        found.append((call, module.segment(key)))
    every = set(placeholders(module, function))
    return found if found and every == {call for call, _ in found} else None


def _is_read_in(module: Module, name: ast.expr, statements: Sequence[ast.stmt]) -> bool:
    """Whether a name, if it is one, is read in some statements alone."""
    if not isinstance(name, ast.Name):
        return True
    return all(any(module.is_inside(load, each) for each in statements) for load in _loads(module, name))


def _computed(
    project: Project, module: Module, node: ast.expr, function: ast.FunctionDef, value: ast.expr, call: ast.AST
) -> Receiver | None:
    """A function of the program that computes features of placeholders, which become its parameters."""
    made = isinstance(value, ast.Call) and module.resolve(value.func) == _RECEIVER
    given = arguments_of_call(value, "features receiver_tensors") if made and isinstance(value, ast.Call) else None
    if given is None or set(given) != {"features", "receiver_tensors"}:
        return None
    unsure = not is_dict(project, module, given["features"])
    assert isinstance(value, ast.Call)
    tensors = given["receiver_tensors"]
    together = _together(project, module, function, tensors, call)
    if together is not None:
        parameters: tuple[Fed | FedTogether, ...] = (together,)
        return Receiver(
            node,
            (value.func,),
            returned=(value, given["features"]),
            computed=Computed(function, parameters),
            maybe_no_dict=unsure,
        )
    held_dict = module.assignment(tensors)
    if held_dict is not None and isinstance(held_dict.value, ast.Dict) and held_dict in function.body:
        alone = isinstance(tensors, ast.Name) and _loads(module, tensors) == [tensors]
        tensors = held_dict.value if alone and has_its_line(module, held_dict) else tensors
    if isinstance(tensors, ast.Dict):
        entries = [(module.segment(key), item) for key, item in zip(tensors.keys, tensors.values) if key is not None]
    else:
        entries = [('"input"', tensors)]
    fed = [each for each in (_parameter(module, key, item) for key, item in entries) if each is not None]
    every = list(placeholders(module, function))
    held = {each.statement for each in fed} & set(function.body)
    if not fed or len({len(entries), len(fed), len(held), len(every)}) > 1:
        return None
    return Receiver(
        node,
        (value.func,),
        statement=held_dict if tensors is not given["receiver_tensors"] else None,
        returned=(value, given["features"]),
        computed=Computed(function, tuple(fed)),
        text=len(fed) == 1 and fed[0].told.is_text(module),
        maybe_no_dict=unsure,
    )


def _together(
    project: Project, module: Module, function: ast.FunctionDef, tensors: ast.expr, call: ast.AST
) -> FedTogether | None:
    """A dict of placeholders that the function only reads, and that can be written where the SavedModel is made."""
    statement = module.assignment(tensors)
    if statement is None or statement not in function.body or not isinstance(tensors, ast.Name):
        return None
    added = {s: e for s, e in _added(module, tensors).items() if s in function.body}
    fed = _fed(module, function, tensors, False, added)
    if fed is None or not all(has_its_line(module, each) for each in (statement, *added)):
        return None
    more = [(each, made) for each, entries in added.items() for _, made in entries]
    keys = dict(fed)
    later = tuple((each, made, keys[made]) for each, made in more if isinstance(made, ast.Call))
    own = [(made, name) for made, name in fed if made not in {made for _, made, _ in later}]
    if len(later) < len(more) or not own or not all(module.parent(made) is statement.value for made, _ in own):
        return None
    for load in _loads(module, tensors):
        if load is not tensors and module.statement(load) not in added and not only_reads(project, module, load):
            return None
    parts = [node for part in (statement.value, *added) for node in walk(part)]
    loops = [node.target for node in parts if isinstance(node, ast.comprehension)]
    names = {n.id for target in loops for n in walk(target) if isinstance(n, ast.Name)}
    scopes = [
        module.scope(place).lookup(name.id)
        for name in parts
        if isinstance(name, ast.Name) and name.id not in {*names, tensors.id}
        for place in (statement, call)
    ]
    if any(scope is not None and scope.kind != "module" for scope in scopes):
        return None
    return FedTogether(statement, tensors.id, tuple(own), later)


def _parameter(module: Module, key: str, node: ast.expr) -> Fed | None:
    """What a placeholder that a name holds becomes."""
    statement = module.assignment(node)
    call = statement.value if statement is not None else None
    told = told_by(module, call) if isinstance(call, ast.Call) else None
    if told is None or statement is None or not has_its_line(module, statement):
        return None
    if not all(_is_everywhere(module, part) for part in told.parts()) or not isinstance(node, ast.Name):
        return None
    return Fed(statement, node.id, key, told)


def _is_everywhere(module: Module, node: ast.expr) -> bool:
    """Whether all names of an expression are those of its file."""
    names = [n for n in walk(node) if isinstance(n, ast.Name)]
    scopes = [module.scope(name).lookup(name.id) for name in names]
    return all(scope is not None and scope.kind == "module" for scope in scopes)


def _is_batch(shape: ast.expr) -> bool:
    """Whether the first of some dimensions is open, as `build_raw_serving_input_receiver_fn` makes it."""
    first = shape.elts[0] if isinstance(shape, (ast.List, ast.Tuple)) and shape.elts else None
    return first is not None and is_none(first)


def _loads(module: Module, name: ast.Name) -> list[ast.Name]:
    return module.loads_of(name.id, module.scope(name).lookup(name.id))
