"""A RunConfig that a function is given to make an Estimator with: the function is given its fields instead.

It makes the RunConfig itself, with what is the same everywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from migrator import rewrite
from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import given
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.objects.initializers import initializer_calls
from migrator.resolve.calls import arguments, call_of
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Remove, Replace, code, expr, with_arguments, with_parameters

from ..estimator_calls.derived_configs import RUN_CONFIG
from ..estimator_calls.driver import RUN_CONFIG as SIGNATURE
from ..estimator_calls.estimator_kinds import KINDS
from ..loop.comments import has_comments, of_what_goes
from ..loop.places import moves
from ..loop.settings import is_same
from ..symbols.tensorflow_names import whole_name


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Gives functions the fields of the RunConfig that their one caller makes for them.

    ```python
    import tensorflow as tf


    def build(config):
        return tf.estimator.Estimator(model_fn, config=config)


    def main(folder):
        return build(tf.estimator.RunConfig(model_dir=folder, save_checkpoints_steps=100))
    ```
    becomes
    ```python
    import tensorflow as tf


    def build(model_dir):
        return tf.estimator.Estimator(model_fn, config=tf.estimator.RunConfig(model_dir=model_dir, save_checkpoints_steps=100))


    def main(folder):
        return build(folder)
    ```
    """
    drafts.apply_all(paths, _found)


def _found(project: Project, module: Module) -> Iterator[list[Change]]:
    """The changes for each parameter."""
    if b"onfig" not in module.source or b"stimator" not in module.source:
        return
    for node, name in module.references():
        call = call_of(module, node) if name in KINDS else None
        if call is None:
            continue
        config = next((k.value for k in call.keywords if k.arg == "config"), None)
        bindings = module.bindings(config) if isinstance(config, ast.Name) else []
        arg = bindings[0].node if len(bindings) == 1 else None
        if isinstance(config, ast.Name) and isinstance(arg, ast.arg):
            yield _unfolded(project, module, config, arg)
    for function in module.tree.body:
        if isinstance(function, ast.FunctionDef):
            for each in function.args.args:
                loads = module.loads_of_parameter(each.arg, function)
                if not loads:
                    yield _dropped(project, module, each)
                elif all(isinstance(module.parent(load), ast.Attribute) for load in loads):
                    yield _unfolded(project, module, loads[0], each)


def _dropped(project: Project, module: Module, arg: ast.arg) -> list[Change]:
    """The changes for a parameter that nothing reads, which gets a configuration."""
    found = argument_of(project, module, arg)
    made = made_for(project, found[1], found[3]) if found is not None else None
    if found is None or made is None or made.statement is None or made.reads or len(found[0].args.defaults):
        return []
    function, there, call, value = found
    keyword = next((k for k in call.keywords if k.value is value), None)
    new = with_arguments(there.cst.call(call), drop=[arguments(call).index(keyword or value)])
    head = with_parameters(module.cst.statement(function), drop=[arg.arg])
    try:
        return Change.every(
            [
                (module, Replace(function, head)),
                (there, Replace(call, new)),
                (there, Remove(made.statement, apart=bool(of_what_goes(there, made.statement)))),
            ]
        )
    except Unsupported:
        return []


def _unfolded(project: Project, module: Module, config: ast.Name, arg: ast.arg) -> list[Change]:
    """The changes for a parameter that nothing but Estimators read, or its fields."""
    found = argument_of(project, module, arg)
    if found is None:
        return []
    function, there, call, value = found
    args = function.args
    inner = _inside(module, module.loads_of_parameter(arg.arg, function))
    if inner is None:
        return []
    made = made_for(project, there, value) or _made_above(project, there, value)
    if made is None:
        return []
    maker = _maker(module, made.module, made.call, config)
    if has_comments(made.module, made.statement or made.call):
        return []
    if not maker and any(isinstance(each, ast.Name) for each in inner):
        return []
    try:
        fields = bind(made.call, SIGNATURE, "RunConfig")
    except Unsupported:
        return []
    own = [n for n, v in fields.items() if not _stays(module, made.module, v, config)]
    names = {name: module.unused_name(name, function.body[0]) for name in own}
    taken = {each.arg for each in (*args.args, *args.kwonlyargs)}
    if taken & set(names.values()) or not _has_only(made, call):
        return []
    if any(is_name(node, name) for name in names.values() for node in walk(function)):
        return []
    known = {read: fields.get(read.attr) for read in made.reads}
    if any(field is None or not is_same(there, field, read) for read, field in known.items()):
        return []
    told = {name: names.get(name) or made.module.segment(field) for name, field in fields.items()}
    if any(isinstance(each, ast.Attribute) and each.attr not in told for each in inner):
        return []
    new_config = code(f"{maker}({', '.join(f'{name}={text}' for name, text in told.items())})")
    file = there.cst
    changes: list[rewrite.Change] = [Remove(made.statement)] if made.statement is not None else []
    changes += [Replace(read, file.expression(field)) for read, field in known.items() if field is not None]
    keyword = next((k for k in call.keywords if k.value is value), None)
    at = arguments(call).index(keyword or value)
    if made.is_above:
        given_now = {names[n]: expr(f"{{config}}.{n}", config=file.expression(value)) for n in own}
    else:
        given_now = {names[n]: file.expression(fields[n]) for n in own}
    old_head, old_call = module.cst.statement(function), file.call(call)
    if not (args.defaults or args.kwonlyargs or any(each.annotation for each in args.args)):
        instead = [n for each in args.args for n in _told(each, arg, names)]
        head = with_parameters(old_head, instead=instead)
        if keyword is not None:
            new = with_arguments(old_call, spread={at: given_now})
        else:
            new = with_arguments(old_call, drop=[at], insert={at: [*given_now.values()]})
    else:  # behind the other parameters, which have defaults or are told the types of
        head = with_parameters(old_head, drop=[arg.arg], add=[*names.values()])
        new = with_arguments(old_call, drop=[at], add=given_now)
    written: list[rewrite.Change] = [
        Replace(each, code(told[each.attr]) if isinstance(each, ast.Attribute) else new_config) for each in inner
    ]
    written.append(Replace(function, head))
    outer = [*changes, Replace(call, new)]
    try:
        return Change.every([*((module, change) for change in written), *((there, change) for change in outer)])
    except Unsupported:
        return []


def argument_of(
    project: Project, module: Module, arg: ast.arg
) -> tuple[ast.FunctionDef, Module, ast.Call, ast.expr] | None:
    """The function of the file, or method `__init__`, that has a parameter, its one call, and what it gives the parameter."""
    function = module.parent(module.parent(arg) or arg)
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return None
    args, owner = function.args, module.parent(function)
    made_by = owner if isinstance(owner, ast.ClassDef) and function.name == "__init__" else function
    holder = module.parent(made_by)
    if args.vararg or args.kwarg or args.posonlyargs or not isinstance(holder, ast.Module):
        return None
    if isinstance(made_by, ast.ClassDef):
        calls = initializer_calls(project, Definition(module, made_by)) or []
    else:
        places = project.readers.of(module, module.scope(holder), made_by.name)
        calls = [(each, call) for each, node in places[:1] if (call := call_of(each, node)) and not places[1:]]
    if len(calls) != 1:
        return None
    there, call = calls[0]
    try:
        value = given(function, call, skip=int(made_by is not function)).get(arg.arg)
    except Unsupported:
        return None
    return (function, there, call, value) if value is not None else None


def _inside(module: Module, loads: list[ast.Name]) -> list[ast.Name | ast.Attribute] | None:
    """What reads a configuration in a function: arguments of Estimators, and its fields; None where more does."""
    found: list[ast.Name | ast.Attribute] = []
    for load in loads:
        outer = module.parent(load)
        call = module.parent(outer) if isinstance(outer, ast.keyword) and outer.arg == "config" else None
        if isinstance(call, ast.Call) and module.resolve(call.func) in KINDS:
            found.append(load)
        elif isinstance(outer, ast.Attribute) and isinstance(outer.ctx, ast.Load):
            found.append(outer)
        else:
            return None
    return found


def _maker(module: Module, there: Module, made: ast.Call, config: ast.Name) -> str:
    """What makes a RunConfig where the function stands; empty where it has no name there."""
    if module is there:
        return module.segment(made.func) if is_same(module, made.func, config) else ""
    call = module.parent(module.parent(config) or config)
    maker = call.func if isinstance(call, ast.Call) else None
    package = maker.value if isinstance(maker, ast.Attribute) else None
    if package is not None and f"{module.resolve(package)}.RunConfig" == RUN_CONFIG:
        return f"{module.segment(package)}.RunConfig"
    library = whole_name(module)  # of what `tf.keras.estimator.model_to_estimator` is given
    visible = library is not None and module.scope(config).lookup(library) is module.analysis.root
    return f"{library}.estimator.RunConfig" if visible else ""


def _stays(module: Module, there: Module, field: ast.expr, config: ast.Name) -> bool:
    """Whether the function can say the value of a field itself."""
    return is_same(module, field, config) if module is there else isinstance(field, ast.Constant)


def _told(each: ast.arg, arg: ast.arg, names: dict[str, str]) -> list[str]:
    """The parameters in the place of one."""
    return [each.arg] if each is not arg else [*names.values()]


@dataclass(frozen=True)
class Made:
    """A call that makes a configuration."""

    module: Module
    call: ast.Call
    statement: ast.Assign | None = None
    """What holds it for one argument."""
    reads: Sequence[ast.Attribute] = ()
    """What else reads its fields."""
    is_above: bool = False
    """Whether functions give on what they are given."""


def made_for(project: Project, module: Module, value: ast.expr) -> Made | None:
    """The call that makes the configuration which one argument gets."""
    statement = module.assignment(value) if isinstance(value, ast.Name) else None
    made = value if statement is None else statement.value
    if not isinstance(made, ast.Call) or module.resolve(made.func) != RUN_CONFIG:
        return None
    reads: list[ast.Attribute] = []
    if statement is not None and isinstance(value, ast.Name):
        scope = module.scope(statement)
        others = [module.parent(load) for load in module.loads_of(value.id, scope) if load is not value]
        reads = [read for read in others if isinstance(read, ast.Attribute) and isinstance(read.ctx, ast.Load)]
        if len(reads) < len(others) or project.readers.elsewhere(module, scope, value.id):
            return None
    return Made(module, made, statement, reads)


def _made_above(project: Project, module: Module, value: ast.expr) -> Made | None:
    """The call that makes the configuration which a function is given, and gives on, and of which it else reads fields."""
    bindings = module.bindings(value) if isinstance(value, ast.Name) else []
    arg = bindings[0].node if len(bindings) == 1 else None
    found = argument_of(project, module, arg) if isinstance(arg, ast.arg) else None
    if found is None or not isinstance(arg, ast.arg):
        return None
    function, there, _, given_it = found
    others = [load for load in module.loads_of_parameter(arg.arg, function) if load is not value]
    if not all(
        isinstance(each := module.parent(load), ast.Attribute) and isinstance(each.ctx, ast.Load) for load in others
    ):
        return None
    made = made_for(project, there, given_it) or _made_above(project, there, given_it)
    return Made(made.module, made.call, is_above=True) if made is not None else None


def _has_only(made: Made, call: ast.Call) -> bool:
    """Whether the fields of a configuration mean the same at the call."""
    if made.statement is None:
        return True
    return moves(
        made.module, made.statement, call, [*made.call.args, *(keyword.value for keyword in made.call.keywords)]
    )
