"""A class derived from RunConfig that only says what some fields are, and has more: its objects are RunConfigs with these."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from migrator.emit.render import Renderer
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.arguments import defaults, parameters
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.idle import taken_away
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import does_nothing, is_name, is_super, walk
from migrator.rewrite import Replace, code
from migrator.vocabulary.unsupported import Unsupported

from ..estimator_calls.derived_configs import RUN_CONFIG
from ..loop.comments import has_comments
from .own_fields import Fields, fields_of, reads_of, text_of

_ATOMS = (ast.Constant, ast.Name, ast.Attribute)
_PLAIN = (ast.Constant, ast.Name, ast.Attribute, ast.BinOp, ast.JoinedStr, ast.Call, ast.IfExp, ast.BoolOp, ast.Compare)


@dataclass(frozen=True)
class _Config:
    """Such a class, its initializer, and the call that it makes of that of RunConfig."""

    owner: Definition
    base: ast.expr
    made: ast.FunctionDef
    call: ast.Call
    given: tuple[tuple[str, ast.expr], ...]
    """The arguments of the call but for those that are spread, by keyword; without one, they have an empty name."""
    fields: Fields = field(default_factory=dict)
    """What it holds beside those of RunConfig, by the names under which programs read it."""


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Makes objects of such classes RunConfigs.

    ```python
    import tensorflow as tf


    class Config(tf.estimator.RunConfig):
        def __init__(self, folder, **kwargs):
            super().__init__(model_dir=folder, save_checkpoints_steps=100, **kwargs)


    config = Config("model", keep_checkpoint_max=3)
    ```
    becomes
    ```python
    import tensorflow as tf


    config = tf.estimator.RunConfig(model_dir="model", save_checkpoints_steps=100, keep_checkpoint_max=3)
    ```
    What such a class holds beside, and gives by attributes and properties, is written where it is read.
    """
    gone: list[tuple[str, str]] = []
    drafts.apply_all(paths, lambda project, module: _found(project, module, gone))
    for path, name in dict.fromkeys(gone):
        taken_away(drafts, path, name)


def _found(project: Project, module: Module, gone: list[tuple[str, str]]) -> Iterator[list[Change]]:
    """The changes for each class of a file."""
    if b"RunConfig)" not in module.source:
        return
    for node in [statement for statement in module.tree.body if isinstance(statement, ast.ClassDef)]:
        config = _config(project, module, node)
        changes = _written(project, config) if config is not None else []
        if changes:
            gone.append((module.path, node.name))
        yield changes


def _config(project: Project, module: Module, node: ast.ClassDef) -> _Config | None:
    """What a class is, if that is all that it does."""
    owner = Definition(module, node)
    if len(node.bases) != 1 or node.keywords or node.decorator_list or project.subclasses(owner):
        return None
    made = next((part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"), None)
    if made is None or made.decorator_list:
        return None
    if module.resolve(node.bases[0]) != RUN_CONFIG or has_comments(module, node):
        return None
    args = made.args
    said = [part.value for part in made.body if isinstance(part, ast.Expr) and not does_nothing(part)]
    call = said[0] if len(said) == 1 else None
    if args.vararg or args.posonlyargs or not args.args or not isinstance(call, ast.Call):
        return None
    own, function = args.args[0].arg, call.func
    if not isinstance(function, ast.Attribute) or function.attr != "__init__":
        return None
    arguments = list(call.args)
    if not is_super(function.value):
        if module.resolve(function.value) != RUN_CONFIG or not arguments or not is_name(arguments[0], own):
            return None
        arguments.pop(0)
    spread = [keyword.value for keyword in call.keywords if keyword.arg is None]
    rest = args.kwarg.arg if args.kwarg is not None else None
    if len(spread) > 1 or (spread and (rest is None or not is_name(spread[0], rest))) or (rest and not spread):
        return None
    given = [("", value) for value in arguments]
    given += [(keyword.arg, keyword.value) for keyword in call.keywords if keyword.arg is not None]
    fields = fields_of(node, made, own)
    if fields is None:
        return None
    values = [*(value for _, value in given), *(value for value in fields.values() if module.is_inside(value, made))]
    names = [part for value in values for part in walk(value) if isinstance(part, ast.Name)]
    known = {*parameters(made)} - {own}
    if any(name.id in (own, rest) for name in names) or any(isinstance(value, ast.Starred) for _, value in given):
        return None
    if not all(name.id in known or _is_lasting(module, name) for name in names):
        return None
    formatted = [part for value in values for part in walk(value) if isinstance(part, ast.JoinedStr)]
    if any(isinstance(part, ast.Name) for text in formatted for part in walk(text)):
        return None  # what is read there has no reliable place
    return _Config(owner, node.bases[0], made, call, tuple(given), fields)


def _is_lasting(module: Module, name: ast.Name) -> bool:
    """Whether a name is one of the file that never has another value."""
    return module.scope(name).lookup(name.id) is module.analysis.root and len(module.bindings(name)) == 1


def _written(project: Project, config: _Config) -> list[Change]:
    """The edits of all calls of a class; none where one of them, or another use, is not followed."""
    changes: list[tuple[Module, Replace]] = []
    owner = config.owner
    for module, node in project.readers.of(owner.module, owner.module.analysis.root, owner.name):
        call = module.parent(node)
        if module.is_inside(node, config.call):  # of `super`
            continue
        found = _arguments(module, call, config) if isinstance(call, ast.Call) and call.func is node else None
        if found is None or not isinstance(call, ast.Call):
            return []
        given, texts, more = found
        reads = reads_of(project, owner, config.fields, module, call, given)
        if reads is None:
            return []
        changes.append((module, Replace(call, code(_text(module, config, texts, more)))))
        for read, name in reads.items():
            changes.append((module, Replace(read, code(text_of(name, config.fields, owner.module, texts)))))
    try:
        return Change.every(changes)
    except Unsupported:
        return []


_Arguments = tuple[list[ast.expr], dict[str, str], list[ast.keyword]]
"""What a call gives for fields, the texts of all parameters, and arguments for RunConfig."""


def _arguments(module: Module, call: ast.Call, config: _Config) -> _Arguments | None:
    """What a call of a class gives it, if all is seen."""
    home, made = config.owner.module, config.made
    names = [argument.arg for argument in made.args.args][1:]
    if len(call.args) > len(names) or any(isinstance(a, ast.Starred) for a in call.args) or has_comments(module, call):
        return None
    values, more = dict(zip(names, call.args)), list[ast.keyword]()
    for keyword in call.keywords:
        if keyword.arg is None or keyword.arg in values:
            return None
        if keyword.arg in parameters(made)[1:]:
            values[keyword.arg] = keyword.value
        else:
            more.append(keyword)
    said = [name for name, _ in config.given]
    if more and made.args.kwarg is None or any(keyword.arg in said for keyword in more):
        return None
    if sum(not isinstance(value, _ATOMS) for value in [*values.values(), *(k.value for k in more)]) > 1:
        return None  # the order in which they are computed
    written = [value for _, value in config.given]
    texts: dict[str, str] = {}
    for name in parameters(made)[1:]:
        given = values.get(name)
        default = defaults(made).get(name)
        if given is None and not isinstance(default, ast.Constant):
            return None
        where, value = (module, given) if given is not None else (home, default)
        assert value is not None
        reads = [n for each in written for n in walk(each) if is_name(n, name)]
        if not isinstance(value, _PLAIN) or (len(reads) != 1 and not isinstance(value, _ATOMS)):
            return None
        text = where.segment(value)
        alone = all(each is not read for each in written for read in reads)
        texts[name] = f"({text})" if alone and not isinstance(value, (*_ATOMS, ast.Call)) else text
    held = {n.id for each in config.fields.values() for n in walk(each) if isinstance(n, ast.Name)}
    own = [each for each in config.fields.values() if home.is_inside(each, made)]
    outer = [n for each in (*written, *own) for n in walk(each) if isinstance(n, ast.Name) and n.id not in texts]
    if not all(_means_same(module, home, n) for n in [*outer, _root(config.base)]):
        return None
    kept = [value for name, value in values.items() if name in held]
    return (kept, texts, more) if all(isinstance(value, _ATOMS) for value in kept) else None


def _text(module: Module, config: _Config, texts: Mapping[str, str], more: Iterable[ast.keyword]) -> str:
    """The RunConfig that a call of a class comes to."""
    home = config.owner.module

    def substituted(node: ast.AST) -> str | None:
        return texts.get(node.id) if isinstance(node, ast.Name) else None

    written = [(name, Renderer(home).expression(value, substituted)) for name, value in config.given]
    written += [(keyword.arg or "", module.segment(keyword.value)) for keyword in more]
    parts = [f"{name}={text}" if name else text for name, text in written]
    return f"{home.segment(config.base)}({', '.join(parts)})"


def _root(node: ast.expr) -> ast.Name:
    while isinstance(node, ast.Attribute):
        node = node.value
    assert isinstance(node, ast.Name)
    return node


def _means_same(module: Module, home: Module, name: ast.Name) -> bool:
    """Whether a name of a file means the same at the level of another one."""
    if module is home:
        return True
    mine, theirs = ({e.target for e in each.imports if e.name == name.id and e.top_level} for each in (home, module))
    return len(mine) == 1 and mine == theirs and len(module.analysis.root.bindings.get(name.id, [])) == 1
