"""Entries of tables: ``RATES[name]``, ``RATES.get(name, constant)``; and what is left of a table that nothing reads so."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from migrator import rewrite
from migrator.analyse.variables.namepatterns import parts
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.draft.globals import OuterNames
from migrator.normalise.functions.applied import applied
from migrator.normalise.functions.idle import idle_imports, imports_of
from migrator.normalise.functions.partials import idle_import
from migrator.normalise.values.possible_values import asks, display
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Remove, Replace, code, expr, with_function

from ..loop.data.options import options
from ..loop.places import moves

if TYPE_CHECKING:
    import libcst as cst

    Arm = tuple[cst.BaseExpression, cst.BaseExpression]
    """What is asked, and what is computed then."""

_OPTIMIZERS = ("Adadelta", "Adagrad", "Adam", "Ftrl", "GradientDescent", "RMSProp")
_LISTING = frozenset({"sorted", "list", "tuple", "set", "len"})


@dataclass(frozen=True)
class Lookup:
    """A read of an entry of a table that is seen."""

    home: Module
    table: ast.Dict
    name: ast.expr | None
    """How the table is named here; None if it stands here."""
    key: ast.expr
    default: ast.expr | None
    held: ast.Assign | None = None
    """The statement that gives the entry a name, which only the call reads."""
    base: ast.expr | None = None
    """Of what the entry names a member: ``getattr(tf.train, NAMES[name])``."""

    @property
    def values(self) -> list[tuple[Module, ast.expr]]:
        """All that it may give, without the default."""
        return [(self.home, value) for value in self.table.values]

    @property
    def keys(self) -> list[object]:
        """The keys of the table, each a constant and another one; empty where some are not."""
        keys: list[object] = [key.value if isinstance(key, ast.Constant) else None for key in self.table.keys]
        return keys if None not in keys and len({*keys}) == len(keys) else []

    def arms(self, asked: cst.BaseExpression, values: Sequence[cst.BaseExpression]) -> list[Arm]:
        """Tests for the keys of the table, with what is computed where the key that is `asked` for is this one."""
        keys = [_written(self.home, key) for key in self.table.keys if key is not None]
        return [(expr("{asked} == {key}", asked=asked, key=key), value) for key, value in zip(keys, values)]

    def names(self, module: Module) -> list[str | None]:
        """The names of the library of all that it may give, where the entry names or is one; None for others."""
        if self.base is None:
            return [self.home.resolve(value) for value in self.table.values]
        return [f"{module.resolve(self.base)}.{text(value)}" if text(value) else None for value in self.table.values]


def _written(home: Module, key: ast.expr) -> cst.BaseExpression:
    """A key as the program writes it, or as a text that it does not have."""
    if home.parent(key) is None:
        return code(f'"{text(key)}"')
    return home.cst.expression(key)


def lookup(project: Project, module: Module, call: ast.Call) -> Lookup | None:
    """What a call runs, if that is an entry of a table, or a name of it."""
    held = module.assignment(call.func) if isinstance(call.func, ast.Name) else None
    if held is None:
        return lookup_at(project, module, call.func, call)
    assert isinstance(call.func, ast.Name)
    found = lookup_at(project, module, held.value, call)
    alone = module.loads_of(call.func.id, module.scope(held)) == [call.func]
    if found is None or not alone or not moves(module, held, call, [found.key]):
        return None
    return replace(found, held=held)


def lookup_at(project: Project, module: Module, place: ast.expr, call: ast.Call | None = None) -> Lookup | None:
    """What is looked up at a place: ``RATES[name]`` or ``RATES.get(name, constant)``, or a member that is named so; `call` runs
    it, if it is called."""
    if is_getattr(module, place) and isinstance(place, ast.Call):
        inner = lookup_at(project, module, place.args[1]) or _chosen(project, place.args[1])
        if inner is None and call is not None and module.resolve(place.args[0]) == "tensorflow.train":
            inner = _optimizers(module, place.args[1], call)
        return replace(inner, base=place.args[0]) if inner is not None and inner.default is None else None
    key: ast.expr
    default: ast.expr | None = None
    if isinstance(place, ast.Subscript):
        where, key = place.value, place.slice
    elif isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute) and place.func.attr == "get":
        if len(place.args) != 2 or place.keywords:
            return None
        where, key, default = place.func.value, *place.args
    else:
        return None
    if isinstance(where, ast.Dict):
        return Lookup(module, where, None, key, default) if None not in where.keys else None
    found = display(project, module, where)
    return Lookup(*found, where, key, default) if found is not None else None


def _chosen(project: Project, option: ast.expr) -> Lookup | None:
    """The names among which an option of the program is one, as a table of them by themselves."""
    name = option.attr if isinstance(option, ast.Attribute) else ""
    defined = options(project, name)
    if len(defined) != 1:
        return None
    home, call = defined[0]
    choices = next((k.value for k in call.keywords if k.arg in ("choices", "enum_values")), None)
    if choices is None and (home.resolve(call.func) or "").endswith("DEFINE_enum") and len(call.args) > 2:
        choices = call.args[2]
    names = choices.elts if isinstance(choices, (ast.List, ast.Tuple)) else []
    known = names if all(map(text, names)) else []
    return Lookup(home, ast.Dict(list(known), list(known)), None, option, None) if known else None


def _optimizers(module: Module, name: ast.expr, call: ast.Call) -> Lookup | None:
    """The optimizers that a name may be one of, which need no more than a learning rate: ``name + "Optimizer"``."""
    rate = [*call.args, *(keyword.value for keyword in call.keywords if keyword.arg == "learning_rate")]
    before, option, end = parts(name)
    named = isinstance(option, (ast.Name, ast.Attribute, ast.Subscript)) and not before and end in ("", "Optimizer")
    if option is None or not named or len(rate) != 1 or len(call.args) + len(call.keywords) > 1:
        return None
    keys: list[ast.expr | None] = [ast.Constant(f"{each}Optimizer".removesuffix(end)) for each in _OPTIMIZERS]
    return Lookup(
        module, ast.Dict(keys, [ast.Constant(f"{each}Optimizer") for each in _OPTIMIZERS]), None, option, None
    )


def is_getattr(module: Module, node: ast.expr) -> bool:
    """Whether an expression asks for a member by a name."""
    named = isinstance(node, ast.Call) and is_name(node.func, "getattr") and "getattr" not in module.bound_names
    return named and isinstance(node, ast.Call) and len(node.args) == 2 and not node.keywords


def text(node: ast.expr) -> str:
    """A text that is written, and names something; empty for anything else."""
    named = isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier()
    return str(node.value) if named and isinstance(node, ast.Constant) else ""


def called_entry(
    drafts: Drafts, module: Module, call: ast.Call, found: Lookup, value: ast.expr, names: OuterNames
) -> cst.BaseExpression:
    """The call of one entry in the place of `call`. Raises Unsupported."""
    if found.base is None:
        return applied(drafts, module, call, found.home, value, names)
    member = expr(f"{{base}}.{text(value)}", base=module.cst.expression(found.base))
    return with_function(module.cst.call(call), member)


def entry(project: Project, found: Lookup, key: ast.expr) -> tuple[Module, ast.expr] | None:
    """What stands under a key of a table of which nothing is changed, nor of what is in it."""
    made = found.home.parent(found.table)
    target = made.targets[0] if isinstance(made, ast.Assign) else None
    if found.name is not None and not isinstance(target, ast.Name):
        return None
    scope = found.home.scope(found.table)
    for where, read in project.readers.of(found.home, scope, target.id) if isinstance(target, ast.Name) else ():
        place = where.parent(read)
        kept = isinstance(place, ast.Subscript) and isinstance(place.ctx, ast.Load)
        outer = where.parent(place) if place is not None else None
        if not asks(where, read) and (not kept or isinstance(outer, (ast.Subscript, ast.Attribute))):
            return None
    known = [value for each, value in zip(found.table.keys, found.table.values) if _is_same(each, key)]
    return (found.home, known[0]) if len(known) == 1 and _is_lasting(found.home, known[0]) else None


def _is_lasting(module: Module, value: ast.expr) -> bool:
    """Whether an expression means the same whenever it is computed."""
    for node in walk(value):
        name = module.resolve(node.func) or "" if isinstance(node, ast.Call) else ""
        if isinstance(node, ast.Call) and not name.startswith("tensorflow.") and not is_name(node.func, "dict"):
            return False
        if isinstance(node, ast.Name) and len(module.bindings(node)) > 1:
            return False
    return True


def _is_same(one: ast.expr | None, other: ast.expr) -> bool:
    return isinstance(one, ast.Constant) and isinstance(other, ast.Constant) and one.value == other.value


def without(project: Project, module: Module, found: Lookup) -> list[Change] | None:
    """The changes of the table itself, that nothing calls a function of any more; None where it is used otherwise."""
    if found.name is None:
        return []
    home, made = found.home, found.home.parent(found.table)
    target = made.targets[0] if isinstance(made, ast.Assign) else None
    if not isinstance(made, ast.Assign) or not isinstance(target, ast.Name) or home.comments_in(*home.span(made)):
        return None
    places = project.readers.of(home, home.scope(target), target.id)
    others = [(where, node) for where, node in places if node is not found.name]
    if any(_is_called(where, node) for where, node in others):
        return []  # its turn comes with the last one
    partials = [each for each in found.table.values if isinstance(each, ast.Call)]
    unused = idle_import(home, *(each.func for each in partials))
    gone = idle_imports(project, home, target.id, {found.name})
    if not others and len(gone) == sum(1 for _ in imports_of(project, home, target.id)):
        alone = len(getattr(home.parent(made), "body", [])) == 1
        return None if alone else [*Change.of(home, Remove(made, apart=True), *unused), *gone]
    listed = [_listing(where, node) for where, node in others]
    if None in listed:
        return None
    keys = ", ".join(home.segment(key) for key in found.table.keys if key is not None)
    wanted: list[tuple[Module, rewrite.Change]] = [
        (home, Replace(found.table, code(f"[{keys}]"))),
        *((home, each) for each in unused),
    ]
    for (where, node), place in zip(others, listed):
        if place is not node and place is not None:  # `RATES.keys()`
            wanted.append((where, Replace(place, where.cst.expression(node))))
    return Change.every(wanted)


def _is_called(module: Module, node: ast.expr) -> bool:
    """Whether what is looked up in a table is called at once."""
    entry = module.parent(node)
    if isinstance(entry, ast.Attribute) and entry.attr == "get":
        entry = module.parent(entry)
    call = module.parent(entry) if entry is not None else None
    return isinstance(entry, (ast.Subscript, ast.Call)) and isinstance(call, ast.Call) and call.func is entry


def _listing(module: Module, node: ast.expr) -> ast.expr | None:
    """The expression that reads the keys of a dict alone, as it would read a list of them; None where more is read."""
    parent = module.parent(node)
    if isinstance(parent, ast.Attribute) and parent.attr == "keys":
        call = module.parent(parent)
        assert isinstance(call, ast.Call)
        return call if _lists(module, call) else None
    return node if _lists(module, node) else None


def _lists(module: Module, node: ast.expr) -> bool:
    parent = module.parent(node)
    if isinstance(parent, ast.Compare):
        return parent.comparators == [node] and isinstance(parent.ops[0], (ast.In, ast.NotIn))
    if isinstance(parent, (ast.For, ast.comprehension)):
        return parent.iter is node
    if isinstance(parent, ast.keyword):
        return parent.arg == "choices"
    if not isinstance(parent, ast.Call) or node not in parent.args:
        return False
    joins = isinstance(parent.func, ast.Attribute) and parent.func.attr == "join"
    return joins or any(is_name(parent.func, name) for name in _LISTING) and len(parent.args) == 1
