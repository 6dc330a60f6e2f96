"""Iterators that a hook initializes with arrays: the dataset is made of the arrays, and the hook goes.

Anything else than this form stays, and is refused where iterators are.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.functions.lift import removal
from migrator.normalise.values.callers import given_by_callers
from migrator.normalise.values.dropped import without_arguments
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.reaching import read_once
from migrator.resolve.syntax import walk
from migrator.rewrite import Change as Rewrite
from migrator.rewrite import Remove, Rename, Replace, expr, with_arguments, with_parameters
from migrator.vocabulary.unsupported import Unsupported

from .one_shot import INITIALIZABLE, ONE_SHOT

if TYPE_CHECKING:
    import libcst as cst

Placed = tuple[Module, Rewrite]

_HOOKS = frozenset(f"tensorflow.{place}.SessionRunHook" for place in ("train", "estimator"))
_PLACEHOLDER = "tensorflow.placeholder"


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Make datasets of arrays where placeholders are fed with them, in the modules of a program.

    ```python
    import tensorflow as tf


    class Initializer(tf.train.SessionRunHook):
        def __init__(self):
            self.initialize = None

        def after_create_session(self, session, coord):
            self.initialize(session)


    def make_input_fn(x):
        hook = Initializer()

        def input_fn():
            images = tf.placeholder(x.dtype, x.shape)
            dataset = tf.data.Dataset.from_tensor_slices(images)
            iterator = dataset.make_initializable_iterator()
            hook.initialize = lambda sess: sess.run(iterator.initializer, feed_dict={images: x})
            return iterator.get_next()

        return input_fn, hook


    def main(x):
        input_fn, hook = make_input_fn(x)
        tf.estimator.Estimator(model_fn).train(input_fn, hooks=[hook])
    ```
    becomes
    ```python
    import tensorflow as tf


    def make_input_fn(x):
        def input_fn():
            dataset = tf.data.Dataset.from_tensor_slices(x)
            iterator = dataset.make_one_shot_iterator()
            return iterator.get_next()

        return input_fn


    def main(x):
        input_fn = make_input_fn(x)
        tf.estimator.Estimator(model_fn).train(input_fn)
    ```
    """
    for path in paths:
        module = drafts.project.modules[path]
        wanted: list[Placed] = []
        classes: set[Definition] = set()
        for node in walk(module.tree) if INITIALIZABLE.encode() in module.source else ():
            fed = _fed(drafts.project, module, node) if isinstance(node, ast.Assign) else None
            found = fed.changes(drafts.project) if fed is not None else None
            if fed is None or found is None:
                continue
            wanted += found
            classes.add(fed.owner)
        with contextlib.suppress(Unsupported):  # which stays, and is refused where iterators are
            changes = Change.every(wanted)
            drafts.apply([*changes, *_removed(drafts.project, classes, changes)])


@dataclass(frozen=True)
class _Fed:
    """A hook that runs the initializer of an iterator with arrays."""

    module: Module
    hook: ast.Name | ast.arg
    """Where the hook gets its name; it may be a parameter of the function around the input function."""
    owner: Definition
    """The class of the hook."""
    statement: ast.Assign
    """What gives it the function that runs the initializer."""
    made: ast.Call
    """What makes the iterator."""
    values: dict[ast.Assign, str | cst.BaseExpression]
    """Statements that make placeholders, and what is fed."""
    held: ast.Assign | None
    """What holds the dict of both, if that has a name."""

    def changes(self, project: Project) -> list[Placed] | None:
        """What changes; None where the hook is used in another way than to be handed to trainings."""
        gone = self._handed(project, self.hook) if isinstance(self.hook, ast.arg) else self._own(project, self.hook)
        return None if gone is None else [*gone, *self._arrays()]

    def _own(self, project: Project, hook: ast.Name) -> list[Placed] | None:
        """What changes where the function makes the hook."""
        module, found = self.module, list[Placed]()
        holder = module.scope(hook).lookup(hook.id)
        for load in module.loads_of(hook.id, holder):
            parent = module.parent(load)
            if isinstance(parent, ast.Attribute) and module.parent(parent) is self.statement:
                continue
            if isinstance(parent, ast.Tuple) and isinstance(module.parent(parent), ast.Return):
                changed = self._returned(project, parent, load)
            else:
                changed = _left_out(module, load)
            if changed is None:
                return None
            found += changed
        return [*found, (module, Remove(module.statement(hook), apart=True))]

    def _handed(self, project: Project, parameter: ast.arg) -> list[Placed] | None:
        """What changes where all callers of the function give it a hook that they make."""
        module = self.module
        function = module.parent(module.parent(parameter) or parameter)
        target = self.statement.targets[0]
        assert isinstance(target, ast.Attribute) and isinstance(function, ast.FunctionDef)
        if module.loads_of(parameter.arg, module.scope(target.value).lookup(parameter.arg)) != [target.value]:
            return None
        given = given_by_callers(project, module, parameter)
        head = with_parameters(module.cst.statement(function), drop=[parameter.arg])
        found: list[Placed] = [(module, Replace(function, head)), *without_arguments(given)]
        for other, name in given:
            assert isinstance(name, ast.Name)
            statement = other.assignment(name)
            assert statement is not None
            found.append((other, Remove(statement)))
            for load in other.loads_of(name.id, other.scope(name).lookup(name.id)):
                changed = [] if load is name else _left_out(other, load)
                if changed is None:
                    return None
                found += changed
        return found

    def _arrays(self) -> list[Placed]:
        """What makes the dataset of the arrays."""
        module, function, found = self.module, self.made.func, list[Placed]()
        assert isinstance(function, ast.Attribute)
        found += [
            (module, Remove(self.statement, apart=True)),
            *([(module, Remove(self.held))] if self.held is not None else []),
        ]
        found.append((module, Rename(function, ONE_SHOT)))
        for statement, value in self.values.items():
            name, placeholder = statement.targets[0], statement.value
            loads = module.loads_of(name.id, module.scope(name)) if isinstance(name, ast.Name) else []
            inside = {id(node) for each in (self.statement, self.held) if each is not None for node in walk(each)}
            if isinstance(value, str):
                found.append((module, Remove(statement, apart=True)))
                found += ((module, Rename(load, value)) for load in loads if id(load) not in inside)
            else:
                found.append((module, Replace(placeholder, value)))
        return found

    def _returned(self, project: Project, pair: ast.Tuple, load: ast.Name) -> list[Placed] | None:
        """``return input_fn, hook``: the changes there and at all calls; None if one of them does not take it apart."""
        module = self.module
        function = module.nearest(pair, ast.FunctionDef)
        if function is None or len(pair.elts) != 2 or module.parent(function) is not module.tree:
            return None
        index = pair.elts.index(load)
        if (
            sum(isinstance(node, ast.Return) and module.scope(node) is module.scope(pair) for node in walk(function))
            > 1
        ):
            return None
        found: list[Placed] = [(module, Replace(pair, module.cst.expression(pair.elts[1 - index])))]
        hooks: list[tuple[Module, ast.Name]] = []
        for other in project.modules.values():
            for use in project.uses(Definition(module, function), other):
                call = other.parent(use)
                statement = other.parent(call) if isinstance(call, ast.Call) and call.func is use else None
                target = statement.targets[0] if isinstance(statement, ast.Assign) else None
                if not isinstance(target, ast.Tuple) or len(target.elts) != 2:
                    return None
                hook = target.elts[index]
                if (
                    not isinstance(hook, ast.Name)
                    or not isinstance(statement, ast.Assign)
                    or len(statement.targets) > 1
                ):
                    return None
                found.append((other, Replace(target, other.cst.expression(target.elts[1 - index]))))
                hooks.append((other, hook))
        reads = {
            read: other for other, hook in hooks for read in other.loads_of(hook.id, other.scope(hook).lookup(hook.id))
        }
        names = {id(hook) for _, hook in hooks}
        for read, other in reads.items():
            known = all(id(binding.node) in names for binding in other.bindings(read))
            changed = _left_out(other, read) if known else None
            if changed is None:
                return None
            found += changed
        return found


def _left_out(module: Module, hook: ast.Name) -> list[Placed] | None:
    """The change of a call with ``hooks=[hook]``, or of a list with a name, that makes it do without the hook."""
    listed = module.parent(hook)
    around = module.parent(listed) if isinstance(listed, (ast.List, ast.Call)) else None
    if isinstance(listed, ast.Call) and isinstance(around, ast.Expr) and listed.args == [hook]:
        method = listed.func
        if isinstance(method, ast.Attribute) and method.attr == "append" and isinstance(method.value, ast.Name):
            return [(module, Remove(around))]
        return None
    call = module.parent(around) if isinstance(around, ast.keyword) and around.arg == "hooks" else None
    if not isinstance(listed, ast.List) or not isinstance(around if call is None else call, (ast.Assign, ast.Call)):
        return None
    if len(listed.elts) == 1 and isinstance(call, ast.Call):
        return [(module, Replace(call, with_arguments(module.cst.call(call), drop=["hooks"])))]
    rest = [module.cst.expression(element) for element in listed.elts if element is not hook]
    return [(module, Replace(listed, expr("[{rest}]", rest=rest)))]


def _fed(project: Project, module: Module, statement: ast.Assign) -> _Fed | None:
    """What ``hook.attribute = lambda session: session.run(iterator.initializer, feed_dict={…})`` feeds."""
    target, run = statement.targets[0], statement.value
    if len(statement.targets) > 1 or not isinstance(target, ast.Attribute) or not isinstance(run, ast.Lambda):
        return None
    hook = module.assignment(target.value)
    bound = [binding.node for binding in module.bindings(target.value)] if isinstance(target.value, ast.Name) else []
    name = hook.targets[0] if hook is not None else bound[0] if len(bound) == 1 else None
    owner = _class_of(project, module, hook, name)
    if not isinstance(name, (ast.Name, ast.arg)) or owner is None or not _only_initializes(owner, target.attr):
        return None
    call, given = run.body, run.args.args
    if not isinstance(call, ast.Call) or len(given) != 1 or len(call.args) not in (1, 2) or run.args.defaults:
        return None
    feeds = next((k.value for k in call.keywords if k.arg == "feed_dict"), call.args[-1])
    held = read_once(module, feeds) if isinstance(feeds, ast.Name) else None
    feeds = held.value if held is not None else feeds
    session, initializer = call.func, call.args[0]
    if not (isinstance(session, ast.Attribute) and session.attr == "run" and isinstance(feeds, ast.Dict)):
        return None
    if ast.dump(session.value) != ast.dump(ast.Name(given[0].arg, ast.Load())):
        return None
    if not isinstance(initializer, ast.Attribute) or initializer.attr != "initializer":
        return None
    iterator = module.assignment(initializer.value)
    made = iterator.value if iterator is not None else None
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Attribute) or made.func.attr != INITIALIZABLE:
        return None
    values: dict[ast.Assign, str | cst.BaseExpression] = {}
    for key, value in zip(feeds.keys, feeds.values):
        placeholder = module.assignment(key) if key is not None else None
        array = _array(module, placeholder.value, value) if placeholder is not None else None
        if placeholder is None or array is None:
            return None
        values[placeholder] = array
    return _Fed(module, name, owner, statement, made, values, held) if values else None


def _class_of(project: Project, module: Module, hook: ast.Assign | None, name: ast.AST | None) -> Definition | None:
    """The class of a hook that an assignment makes, or that all callers make and give for a parameter."""
    made: list[tuple[Module, ast.expr | None]] = [(module, hook.value)] if hook is not None else []
    if isinstance(name, ast.arg):
        with contextlib.suppress(Unsupported):
            given = given_by_callers(project, module, name)
            statements = [
                (other, other.assignment(value) if isinstance(value, ast.Name) else None) for other, value in given
            ]
            made = [(other, each.value if each is not None else None) for other, each in statements]
    owners = {project.definition(other, v.func) if isinstance(v, ast.Call) else None for other, v in made}
    return owners.pop() if len(owners) == 1 else None


def _array(module: Module, placeholder: ast.expr, value: ast.expr) -> str | cst.BaseExpression | None:
    """What stands for a placeholder: the array, of the placeholder's type where that is another than its own."""
    if not isinstance(placeholder, ast.Call) or module.resolve(placeholder.func) != _PLACEHOLDER:
        return None
    names = [node for node in walk(value) if isinstance(node, ast.Name)]
    if not isinstance(value, (ast.Name, ast.Attribute)) or any(len(module.bindings(name)) != 1 for name in names):
        return None
    kind = next((k.value for k in placeholder.keywords if k.arg == "dtype"), (*placeholder.args, None)[0])
    if kind is None:
        return None
    if isinstance(kind, ast.Attribute) and kind.attr == "dtype" and ast.dump(kind.value) == ast.dump(value):
        return value.id if isinstance(value, ast.Name) else module.cst.expression(value)
    owner = placeholder.func.value if isinstance(placeholder.func, ast.Attribute) else None
    if owner is None:
        return None
    template = "{owner}.constant({value}, dtype={kind})"
    return expr(
        template,
        owner=module.cst.expression(owner),
        value=module.cst.expression(value),
        kind=module.cst.expression(kind),
    )


def _only_initializes(owner: Definition, attribute: str) -> bool:
    """Whether a class is a hook that calls one function with a new session, and nothing else."""
    module, node = owner.module, owner.node
    if not isinstance(node, ast.ClassDef) or [module.resolve(base) in _HOOKS for base in node.bases] != [True]:
        return False
    for part in node.body:
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
            continue
        if not isinstance(part, ast.FunctionDef) or part.name not in ("__init__", "after_create_session"):
            return False
        lines = [
            line for line in part.body if not (isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant))
        ]
        texts = [ast.unparse(line) for line in lines]
        if part.name == "__init__":
            supers = ("super().__init__()", f"super({node.name}, self).__init__()")
            if len(part.args.args) != 1 or any(text not in (*supers, f"self.{attribute} = None") for text in texts):
                return False
        elif len(part.args.args) != 3 or texts != [f"self.{attribute}({part.args.args[1].arg})"]:
            return False
    return True


def _removed(project: Project, classes: set[Definition], changes: list[Change]) -> Iterator[Change]:
    """The classes of hooks that nothing makes any more."""
    gone = [(change.edit.path, change.edit.start, change.edit.end) for change in changes]
    for owner in classes:
        used = False
        own = (owner.module.path, *owner.module.span(owner.node))  # where it calls its base class
        for other in project.modules.values():
            for use in project.uses(owner, other):
                start, end = other.span(use)
                used = used or not any(path == other.path and a <= start and end <= b for path, a, b in [*gone, own])
            imports = any(e.target.endswith(f".{owner.name}") for e in other.imports)
            used = used or (imports and other is not owner.module)
        if not used and isinstance(owner.node, ast.ClassDef):
            yield from Change.of(owner.module, removal(owner.node))
