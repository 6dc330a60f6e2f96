"""A RunConfig that a function is given to make an Estimator with: the function is given its fields instead.

It makes the RunConfig itself, with what is the same everywhere.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from migrator import rewrite
from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import given
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.stuck import Stuck
from migrator.normalise.objects.initializers import initializer_calls
from migrator.resolve.calls import arguments, call_of
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Remove, Replace, code, with_arguments, with_parameters

from ..estimator_calls.derived_configs import RUN_CONFIG
from ..estimator_calls.driver import RUN_CONFIG as SIGNATURE
from ..estimator_calls.estimator_kinds import KINDS
from ..loop.comments import has_comments
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


def _unfolded(project: Project, module: Module, config: ast.Name, arg: ast.arg) -> list[Change]:
    """The changes for a parameter that nothing but Estimators read, or its fields."""
    function = module.parent(module.parent(arg) or arg)
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return []
    args, owner = function.args, module.parent(function)
    made_by = owner if isinstance(owner, ast.ClassDef) and function.name == "__init__" else function
    of_class = made_by is not function
    holder = module.parent(made_by)
    if args.vararg or args.kwarg or args.posonlyargs or not isinstance(holder, ast.Module):
        return []
    inner = _inside(module, module.loads_of_parameter(arg.arg, function))
    if inner is None:
        return []
    if isinstance(made_by, ast.ClassDef):
        calls = initializer_calls(project, Definition(module, made_by)) or []
    else:
        places = project.readers.of(module, module.scope(holder), made_by.name)
        calls = [(each, call) for each, node in places[:1] if (call := call_of(each, node)) and not places[1:]]
    if len(calls) != 1:
        return []
    there, call = calls[0]
    try:
        value = given(function, call, skip=int(of_class)).get(arg.arg)
    except Stuck:
        return []
    made = _made(project, there, value, call) if value is not None else None
    if value is None or made is None:
        return []
    config_call, statement, reads = made
    maker = _maker(module, there, config_call, config)
    if not maker or has_comments(there, statement or config_call):
        return []
    try:
        fields = bind(config_call, SIGNATURE, "RunConfig")
    except Unsupported:
        return []
    own = [n for n, v in fields.items() if not _stays(module, there, v, config)]
    names = {name: module.unused_name(name, function.body[0]) for name in own}
    taken = {each.arg for each in (*args.args, *args.kwonlyargs)}
    if taken & set(names.values()) or not _has_only(there, statement, config_call, call):
        return []
    if any(is_name(node, name) for name in names.values() for node in walk(function)):
        return []
    known = {read: fields.get(read.attr) for read in reads}
    if any(field is None or not is_same(there, field, read) for read, field in known.items()):
        return []
    told = {name: names.get(name) or there.segment(field) for name, field in fields.items()}
    if any(isinstance(each, ast.Attribute) and each.attr not in told for each in inner):
        return []
    new_config = code(f"{maker}({', '.join(f'{name}={text}' for name, text in told.items())})")
    file = there.cst
    changes: list[rewrite.Change] = [Remove(statement)] if statement is not None else []
    changes += [Replace(read, file.expression(field)) for read, field in known.items() if field is not None]
    keyword = next((k for k in call.keywords if k.value is value), None)
    at, given_now = arguments(call).index(keyword or value), {names[n]: file.expression(fields[n]) for n in own}
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
    except Stuck:
        return []


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


def _made(
    project: Project, module: Module, value: ast.expr, call: ast.Call
) -> tuple[ast.Call, ast.Assign | None, list[ast.Attribute]] | None:
    """The call that makes a configuration, the statement that holds it for one argument, and what else reads its fields."""
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
    return made, statement, reads


def _has_only(module: Module, statement: ast.Assign | None, config: ast.Call, call: ast.Call) -> bool:
    """Whether the fields of a configuration mean the same at the call."""
    if statement is None:
        return True
    return moves(module, statement, call, [*config.args, *(keyword.value for keyword in config.keywords)])
