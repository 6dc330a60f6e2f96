"""Model_fns of objects whose class a program chooses from a table: each class gets a function of its own, and these the table.

MODELS = {"fm": FM, "deep": Deep}            def fm_model_fn(features, labels, mode, params):
                                                 return FM(params).model_fn(features, labels, mode)
model = MODELS[name](params)
estimator = Estimator(model.model_fn)        MODELS = {"fm": fm_model_fn, "deep": deep_model_fn}
                                             estimator = Estimator(MODELS[name], params=params)

What these functions do with their objects is followed as in any other model_fn.
"""

from __future__ import annotations

import ast

from migrator import rewrite
from migrator.normalise.draft.arguments import parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.returns import own_returns
from migrator.normalise.functions.lift import keywords, module_name, snake
from migrator.normalise.objects.methods import lookup
from migrator.normalise.objects.reserved import PARAMS, params_of
from migrator.normalise.values.callers import Place, calls_of, given_by_callers
from migrator.normalise.values.possible_values import asks, display
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Remove, Replace, expr, statements
from migrator.vocabulary.unsupported import Unsupported

_ASKED = ("features", "labels", "mode")


def table_of_functions(drafts: Drafts, module: Module, node: ast.expr) -> list[Change]:
    """The edits for ``model.model_fn``, where `model` is an object of a class out of a table. Raises Unsupported."""
    made = _made(module, node.value) if isinstance(node, ast.Attribute) else None
    chosen = _chosen(drafts.project, module, made) if made is not None else None
    if made is None or chosen is None or not isinstance(node, ast.Attribute):
        return []
    where, built = chosen
    choice = built.func
    assert isinstance(choice, ast.Subscript)
    found = display(drafts.project, where, choice.value)
    classes = [drafts.project.definition(found[0], value) for value in found[1].values] if found is not None else []
    if found is None or not classes or any(c is None or not isinstance(c.node, ast.ClassDef) for c in classes):
        return []
    home, table = found
    _check_alone(drafts, where, home, table, choice.value)
    given, extra = _given(drafts, home, (where, built), (module, node), direct=built is made)
    owners = [owner for owner in classes if owner is not None]
    lines: list[str] = []
    wanted: list[tuple[Module, rewrite.Change]] = []
    for value, owner in zip(table.values, owners):
        name = module_name(home, f"{snake(owner.name)}_model_fn", owner.name)
        asked = _asked(drafts, owner, node.attr)
        own = [*asked, *([PARAMS] if extra and PARAMS not in asked else [])]
        called = f"{home.segment(value)}({given}).{node.attr}({', '.join(asked)})"
        lines += [f"def {name}({', '.join(own)}):", f"    return {called}", "", ""]
        wanted.append((home, Replace(value, expr(name))))
    wanted.append((home, Insert(statements("\n".join(lines)), before=home.statement(table), apart=True)))
    if built is made:
        wanted.append((module, Replace(node, module.cst.expression(choice))))
    else:  # the function that made the object returns the one for it
        wanted.append((where, Replace(built, where.cst.expression(choice))))
        wanted.append((module, Replace(node, module.cst.expression(made))))
    if made is not node.value:
        wanted.append((module, Remove(module.statement(made))))
    estimator = params_of(drafts.project, module, node)
    if extra and estimator is not None:
        wanted.append((module, keywords(module, estimator, {PARAMS: extra})))
    return Change.every(wanted)


def _made(module: Module, node: ast.expr) -> ast.Call | None:
    """The call that makes an object; where that has a name, it is used for its model_fn alone."""
    if isinstance(node, ast.Call):
        return node
    statement = module.assignment(node)
    if not isinstance(node, ast.Name) or statement is None:
        return None
    alone = module.loads_of(node.id, module.scope(node).lookup(node.id)) == [node]
    return statement.value if alone and isinstance(statement.value, ast.Call) else None


def _chosen(project: Project, module: Module, made: ast.Call) -> tuple[Module, ast.Call] | None:
    """The call of a class out of a table that makes an object: `made` itself, or what a function returns to that alone."""
    if isinstance(made.func, ast.Subscript):
        return module, made
    maker = project.definition(module, made.func)
    if maker is None or not isinstance(maker.node, ast.FunctionDef) or maker.node.decorator_list:
        return None
    returns = own_returns(maker.node)
    built = returns[0].value if len(returns) == 1 else None
    calls, otherwise = calls_of(project, maker)
    if not isinstance(built, ast.Call) or not isinstance(built.func, ast.Subscript) or otherwise or len(calls) != 1:
        return None
    return maker.module, built


def _check_alone(drafts: Drafts, module: Module, home: Module, table: ast.Dict, used: ast.expr) -> None:
    """Refuse a table that is read for more than this choice, and for what it holds by names."""
    target = home.statement(table)
    assert isinstance(target, ast.Assign) and isinstance(target.targets[0], ast.Name)
    name = target.targets[0].id
    for other, read in drafts.project.readers.of(home, home.scope(target.targets[0]), name):
        if read is not used and not asks(other, read):
            raise Unsupported("a table of classes is used for more than a model", read)


def _given(
    drafts: Drafts, home: Module, chosen: tuple[Module, ast.Call], asked: Place, direct: bool
) -> tuple[str, str]:
    """What the functions give the classes, and what the Estimator is given as params for that; `direct` where no function of
    the program is between the two."""
    (where, built), (module, node) = chosen, asked
    values = [*built.args, *(keyword.value for keyword in built.keywords)]
    if any(isinstance(a, ast.Starred) for a in built.args) or any(k.arg is None for k in built.keywords):
        raise Unsupported("arguments are hidden behind * or **", built)
    texts, extra = [], ""
    for value, name in zip(values, [*(None for _ in built.args), *(k.arg for k in built.keywords)]):
        text = where.segment(value)
        if not _is_lasting(where, home, value):
            if extra or params_of(drafts.project, module, node) is None:
                raise Unsupported("a class out of a table is given more than params", value)
            extra = text if direct else _at_site(drafts.project, where, value, module)
            text = PARAMS
        texts.append(text if name is None else f"{name}={text}")
    return ", ".join(texts), extra


def _at_site(project: Project, where: Module, value: ast.expr, module: Module) -> str:
    """What a class is given, as the file of the Estimator says it: what the function that makes the object gets for it."""
    bound = where.bindings(value) if isinstance(value, ast.Name) else []
    parameter = bound[0].node if len(bound) == 1 else None
    if not isinstance(parameter, ast.arg):
        raise Unsupported("a class out of a table is given what a function computes", value)
    ((home, given),) = given_by_callers(project, where, parameter)  # which is one, as `_chosen` saw
    if home is not module:
        raise Unsupported("a class out of a table is given what another file has", value)
    return module.segment(given)


def _is_lasting(module: Module, home: Module, value: ast.expr) -> bool:
    """Whether a value is the same in the file of the table, whenever it is computed."""
    names = [part for part in walk(value) if isinstance(part, ast.Name)]
    root = module.analysis.root
    once = all(module.scope(n).lookup(n.id) is root and len(module.bindings(n)) == 1 for n in names)
    plain = all(isinstance(p, (ast.Constant, ast.Name, ast.Attribute, ast.expr_context)) for p in walk(value))
    return plain and once and (home is module or not names)


def _asked(drafts: Drafts, owner: Definition, name: str) -> list[str]:
    """What the model_fn of a class asks for."""
    found = lookup(drafts.project, owner, name)
    if found is None or found[1].decorator_list:
        raise Unsupported(f"`{owner.name}` has no method `{name}` that is followed", owner.node)
    asked = parameters(found[1])[1:]
    if not {*asked} <= {*_ASKED, PARAMS, "config"} or found[1].args.vararg or found[1].args.kwarg:
        raise Unsupported(f"`{name}` of `{owner.name}` is no model_fn", found[1])
    return asked
