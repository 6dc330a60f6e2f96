"""Model_fns that a decorator of the program makes of networks: they are written out.

    def estimator_model(network):
        def model_fn(features, labels, mode, params):
            logits = network(features, mode, params)
            …
            return EstimatorSpec(…)
        return model_fn

    @estimator_model
    def deep(features, mode, params):
        …

is a function `model_fn` with one more parameter, `network`, the body of `deep` as `deep_network`, and

    def deep(features, labels, mode, params):
        return model_fn(features, labels, mode, params, network=deep_network)

Both calls can be followed, and what they call is put in their places.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from migrator import rewrite
from migrator.normalise.draft.arguments import defaults, parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import OuterNames, member
from migrator.normalise.functions.lift import free_name, module_name, moved
from migrator.resolve.module import Module
from migrator.resolve.project import Definition
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Replace, statements, with_parameters
from migrator.vocabulary.unsupported import Unsupported

_WRAPS = "functools.wraps"


Name = tuple[str, str]
"""The file of a function, and what it is called."""


@dataclass(frozen=True)
class Unwrapped:
    """Model_fns that are written out."""

    changes: list[Change]
    networks: frozenset[Name]
    """What is no longer decorated."""
    decorator: Name


def unwrapped(drafts: Drafts, functions: Iterable[Definition]) -> Unwrapped:
    """The first decorator among model_fns, and all that it decorates among them. Raises Unsupported."""
    known = list(dict.fromkeys(functions))
    decorator = next(_decorator(drafts, each) for each in known if each.node.decorator_list)
    wrapper, network = _parts(decorator)
    home = decorator.module
    assert isinstance(decorator.node, ast.FunctionDef)
    new = free_name(home, wrapper, decorator.node)
    lifted = moved(home, wrapper, new, [network])[0]  # the decorator stays, for what else it decorates
    changes, networks = [(home, lifted)], set[Name]()
    for each in known:
        if each.node.decorator_list and _decorator(drafts, each) == decorator:
            name = module_name(each.module, f"{each.name}_network", each.name)
            changes += [(each.module, one) for one in _model_fn(drafts, each, name, home, wrapper, new, network)]
            networks.add((each.module.path, name))
    return Unwrapped(Change.every(changes), frozenset(networks), (home.path, decorator.name))


def _decorator(drafts: Drafts, function: Definition) -> Definition:
    """The function of the program that decorates another one, alone. Raises Unsupported."""
    module, node = function.module, function.node
    found = drafts.project.definition(module, node.decorator_list[0]) if len(node.decorator_list) == 1 else None
    if found is None or not isinstance(found.node, ast.FunctionDef) or not isinstance(module.parent(node), ast.Module):
        raise Unsupported("a decorated model_fn is not followed", node.decorator_list[0])
    return found


def _parts(decorator: Definition) -> tuple[ast.FunctionDef, str]:
    """The function that a decorator returns, and its own parameter. Raises Unsupported where it does more than that."""
    module, node = decorator.module, decorator.node
    assert isinstance(node, ast.FunctionDef)
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    wrapper, returned = (body[0], body[1]) if len(body) == 2 else (None, None)
    if not isinstance(wrapper, ast.FunctionDef) or not isinstance(returned, ast.Return):
        raise Unsupported("a decorator that does more than to define a function is not followed", node)
    value = returned.value
    asked = parameters(node)
    args = node.args
    plain = len(asked) == 1 and not (args.vararg or args.kwarg or args.defaults or args.kw_defaults)
    if not plain or node.decorator_list or not isinstance(value, ast.Name) or value.id != wrapper.name:
        raise Unsupported("a decorator that does more than to define a function is not followed", node)
    args = wrapper.args
    if args.vararg or args.kwarg or args.posonlyargs or asked[0] in parameters(wrapper) or wrapper.name == asked[0]:
        raise Unsupported("a decorator whose function has * or ** is not followed", wrapper)
    for known in wrapper.decorator_list:  # which says how the function is called in messages
        if not isinstance(known, ast.Call) or module.resolve(known.func) != _WRAPS:
            raise Unsupported("a decorator whose function is decorated is not followed", known)
    own = module.scope(node.body[0]).lookup(asked[0])
    if own is None or own.node is not node or len(own.bindings[asked[0]]) != 1:
        raise Unsupported(f"`{asked[0]}`, which a decorator is given, may have another value later", node)
    if any(isinstance(part, (ast.Nonlocal, ast.Global, ast.Yield, ast.YieldFrom)) for part in walk(wrapper)):
        raise Unsupported("a generator, or a function that changes names from outside, is not followed", wrapper)
    for read in module.loads_of(asked[0], own):
        call = module.parent(read)
        named = isinstance(call, ast.Call) and call in wrapper.decorator_list
        if not named and (not isinstance(call, ast.Call) or call.func is not read):
            raise Unsupported("a decorator that does more than to call what it decorates is not followed", read)
    return wrapper, asked[0]


def _model_fn(
    drafts: Drafts, function: Definition, name: str, home: Module, wrapper: ast.FunctionDef, new: str, network: str
) -> list[rewrite.Change]:
    """The changes that give a decorated function another name, and its own to a call of what the decorator made of it."""
    module, node = function.module, function.node
    assert isinstance(node, ast.FunctionDef)
    if defaults(wrapper):
        raise Unsupported("a decorator whose function has defaults is not followed", wrapper)
    if any(isinstance(part, ast.Name) and part.id == node.name for part in walk(node)):
        raise Unsupported("a decorated function that calls itself is not followed", node)
    names = OuterNames()
    made = new if home is module else member(drafts, module, node, home, new, names, node)
    given = parameters(wrapper)
    called = [*given[: len(wrapper.args.args)], f"{network}={name}"]
    called += [f"{each.arg}={each.arg}" for each in wrapper.args.kwonlyargs]
    text = f"def {node.name}({', '.join(given)}):\n    return {made}({', '.join(called)})\n"
    bare = with_parameters(module.cst.statement(node), name=name).with_changes(decorators=())
    return [*names.changes, Replace(node, bare), Insert(statements(text), after=node, apart=True)]
