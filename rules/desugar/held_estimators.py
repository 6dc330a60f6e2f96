"""Classes derived from an Estimator that do more than to make one: they hold it instead, and so does whoever has one.

TensorFlow lets no such class define anew what an Estimator has, but for `model_fn`, so each attribute belongs to one of both.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from migrator import rewrite
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.normalise.objects.methods import members, own_method, reads_class
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import is_super, walk
from migrator.rewrite import Replace, Unprintable, expr, statements, with_arguments
from migrator.vocabulary.unsupported import Unsupported

from ..estimator_calls.estimator_kinds import KINDS
from ..estimator_calls.estimator_values import Construction
from ..estimator_calls.following import Follower

if TYPE_CHECKING:
    import libcst as cst

_Wanted = tuple[Module, rewrite.Change]
_OF_ESTIMATORS = frozenset(
    "train evaluate predict export_savedmodel export_saved_model experimental_export_all_saved_models model_dir params "
    "config model_fn latest_checkpoint get_variable_names get_variable_value eval_dir".split()
)
_QUESTIONS = frozenset({"isinstance", "type", "getattr", "setattr", "hasattr", "vars"})
_FUNCTIONS = (ast.FunctionDef, ast.Lambda)


@Desugaring
def expand(drafts: Drafts, paths: Sequence[str]) -> None:
    """Lets classes of the program hold the Estimators that they are. What cannot stays, with the obstacle noted.

    ```python
    import tensorflow as tf


    class Net(tf.estimator.Estimator):
        def __init__(self, units):
            super().__init__(model_fn, params={"units": units})

        def fit(self, input_fn):
            self.train(input_fn, steps=100)


    net = Net(8)
    net.fit(input_fn)
    net.evaluate(input_fn)
    ```
    becomes
    ```python
    import tensorflow as tf


    class Net:
        def __init__(self, units):
            self.estimator = tf.estimator.Estimator(model_fn, params={"units": units})

        def fit(self, input_fn):
            self.estimator.train(input_fn, steps=100)


    net = Net(8)
    net.fit(input_fn)
    net.estimator.evaluate(input_fn)
    ```
    """
    for path in paths:
        tried: set[str] = set()
        while (found := next(_classes(drafts.project.modules[path], tried), None)) is not None:
            node, base = found
            tried.add(node.name)
            module = drafts.project.modules[path]
            try:
                drafts.apply(_Derived(drafts.project, module, node, base).changes())
            except (Unsupported, Unprintable) as stuck:
                drafts.obstacles[path, module.segment(base)] = stuck.reason
            except SyntaxError:
                drafts.obstacles[path, module.segment(base)] = "what would hold the Estimator cannot be written"


def _classes(module: Module, tried: set[str]) -> Iterator[tuple[ast.ClassDef, ast.expr]]:
    for node in module.tree.body if b"stimator" in module.source or b"lassifier" in module.source else ():
        if isinstance(node, ast.ClassDef) and node.name not in tried:
            yield from ((node, base) for base in node.bases if module.resolve(base) in KINDS)


class _Derived:
    """One such class."""

    def __init__(self, project: Project, module: Module, node: ast.ClassDef, base: ast.expr) -> None:
        self.project = project
        self.module = module
        self.node = node
        self.base = base
        own = Definition(module, node)
        self.family = [own, *project.subclasses(own)]
        """The class, and those that are derived from it."""
        self.own = {name for one in self.family for name in members(one.node)}
        named = {part.name for one in self.family for part in one.node.body if isinstance(part, ast.FunctionDef)}
        self.of_estimators = _OF_ESTIMATORS - ({"model_fn"} & named)
        """What is not the class's own: a model_fn may be, as the one member that TensorFlow lets it define anew."""
        self.name = "_estimator" if "estimator" in self.own else "estimator"
        self.fluent: set[str] = set()
        """Methods that return their object."""

    def changes(self) -> list[Change]:
        """All changes of the program. Raises Unsupported."""
        node, module = self.node, self.module
        for one in self.family:
            assert isinstance(one.node, ast.ClassDef)
            if len(one.node.bases) > 1 or one.node.keywords or one.node.decorator_list:
                raise Unsupported(
                    "it has other bases, keywords or decorators", node if one.module is not module else one.node
                )
        for name in sorted(self.own & self.of_estimators):
            raise Unsupported(f"it has `{name}` anew, which TensorFlow refuses", node)
        old = module.cst.statement(node)
        kept = {name: getattr(old, name) for name in ("leading_lines", "body")}
        (head,) = statements("class {name}: pass", name=node.name)
        wanted: list[_Wanted] = [(module, Replace(node, head.with_changes(**kept))), (module, self._made())]
        for one in self.family:
            for method in (part for part in one.node.body if isinstance(part, ast.FunctionDef)):
                wanted += self._method(one, method)
        return Change.every([*wanted, *self._outside()])

    # -- inside -------------------------------------------------------------------------------------------------------

    def _made(self) -> rewrite.Change:
        """The statement that makes what the object holds, instead of the call of the base's `__init__`."""
        made = own_method(self.node, "__init__")
        if made is None or made.decorator_list or not made.args.args:
            raise Unsupported("it has no plain `__init__`", self.node)
        if any(isinstance(part, ast.Return) and self.module.nearest(part, _FUNCTIONS) is made for part in walk(made)):
            raise Unsupported("its `__init__` returns early", made)
        own, module = made.args.args[0].arg, self.module
        for statement in made.body:
            call = statement.value if isinstance(statement, ast.Expr) else None
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            if call.func.attr != "__init__":
                continue
            if _is_super(self.family[0], call.func.value, own):
                return self._bound(statement, own, module.cst.call(call))
            first = call.args[0] if call.args else None
            if module.resolve(call.func.value) in KINDS and isinstance(first, ast.Name) and first.id == own:
                return self._bound(statement, own, with_arguments(module.cst.call(call), drop=[0]))
        raise Unsupported("its `__init__` does not call that of the Estimator, or does by a condition", made)

    def _bound(self, statement: ast.stmt, own: str, call: cst.Call) -> rewrite.Change:
        made = call.with_changes(func=self.module.cst.expression(self.base))
        return Replace(statement, statements("{holder} = {made}", holder=f"{own}.{self.name}", made=made))

    def _method(self, owner: Definition, method: ast.FunctionDef) -> Iterator[_Wanted]:
        """What a method does with its object."""
        module, first = owner.module, owner is self.family[0]
        kinds = {module.segment(decorator) for decorator in method.decorator_list}
        if "classmethod" in kinds:
            raise Unsupported("it has a class method", method)
        if "staticmethod" in kinds or not method.args.args:
            return
        own = method.args.args[0].arg
        for load in module.loads_of_parameter(own, method):
            yield from self._load(module, method, load)
        for call in (part for part in walk(method) if is_super(part)):
            attribute = module.parent(call)
            if not isinstance(attribute, ast.Attribute) or attribute.attr == "__init__" and method.name != "__init__":
                raise Unsupported("it uses `super` for more than methods of an Estimator", call)
            if attribute.attr in self.of_estimators and _is_super(owner, call, own):
                yield module, Replace(call, expr(f"{own}.{self.name}"))
            elif attribute.attr != "__init__" and (first or attribute.attr not in self.own):
                raise Unsupported(f"it uses `{attribute.attr}` of the Estimator", call)

    def _load(self, module: Module, method: ast.FunctionDef, load: ast.Name) -> Iterator[_Wanted]:
        parent = module.parent(load)
        if isinstance(parent, ast.Attribute):
            if parent.attr in self.of_estimators:
                yield self._inner(module, load)
            elif parent.attr not in self.own:
                raise Unsupported(f"it uses `{parent.attr}` of the Estimator", parent)
        elif isinstance(parent, ast.Return):
            self.fluent.add(method.name)
        elif isinstance(parent, ast.Call) and (is_super(parent) or _is_initializer(module, parent)):
            return
        elif _is_given_to_library(module, load):
            yield self._inner(module, load)
        else:
            raise Unsupported("it hands itself on", parent or load)

    def _inner(self, module: Module, node: ast.expr) -> _Wanted:
        return module, Replace(node, expr(f"{{holder}}.{self.name}", holder=module.cst.expression(node)))

    # -- outside ------------------------------------------------------------------------------------------------------

    def _outside(self) -> Iterator[_Wanted]:
        """What is done with objects of the class."""
        calls = dict(self._calls())
        if not calls:
            raise Unsupported("nothing makes one here", self.node)
        values = Follower(self.project, [Construction(m, c, {}) for c, m in calls.items()]).run()
        for _, node, reason in values.lost:
            raise Unsupported(f"an object of it is not followed: {reason}", node)
        others = {node for _, node in Follower(self.project, self._others()).run().reads}
        for module, node in values.reads:
            if node in others:
                raise Unsupported("something may be an object of it, or another Estimator", node)
            yield from self._read(module, node, calls)

    def _read(self, module: Module, node: ast.expr, calls: dict[ast.Call, Module]) -> Iterator[_Wanted]:
        parent = module.parent(node)
        if isinstance(node, ast.Call) and node not in calls and isinstance(node.func, ast.Attribute):
            if node.func.attr == "train":  # which returns the Estimator
                if not isinstance(parent, ast.Expr):
                    raise Unsupported("what `train` returns is read", node)
                return
        if isinstance(parent, ast.Attribute):
            outer = module.parent(parent)
            if parent.attr in self.of_estimators:
                yield self._inner(module, node)
            elif parent.attr in self.fluent and not isinstance(module.parent(outer or parent), ast.Expr):
                raise Unsupported("what a method returns is the object itself", node)
            elif parent.attr not in self.own:
                raise Unsupported(f"`{parent.attr}` of the Estimator is used", parent)
        elif _is_given_to_library(module, node):
            yield self._inner(module, node)
        elif isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id in _QUESTIONS:
            raise Unsupported("its class or its attributes are asked for", node)

    def _calls(self) -> Iterator[tuple[ast.Call, Module]]:
        """The calls that make objects of the class."""
        for module in self.project.modules.values():
            for use in (use for one in self.family for use in self.project.uses(one, module)):
                call = module.parent(use)
                if isinstance(call, ast.Call) and call.func is use:
                    yield call, module
                elif not (is_super(call) or isinstance(call, ast.ClassDef) or reads_class(self.family, call)):
                    raise Unsupported("it is used for more than making Estimators", use)

    def _others(self) -> list[Construction]:
        """Other Estimators of the program."""
        found = []
        for module in self.project.modules.values():
            for node, name in module.references() if b"stimator" in module.source else ():
                call = module.parent(node)
                if name in KINDS and isinstance(call, ast.Call) and call.func is node:
                    found.append(Construction(module, call, {}))
        return found


def _is_super(owner: Definition, node: ast.AST, own: str) -> bool:
    """``super()`` or ``super(Net, self)``."""
    given = [ast.unparse(argument) for argument in node.args] if isinstance(node, ast.Call) else []
    return is_super(node) and given in ([], [owner.name, own])


def _is_initializer(module: Module, call: ast.Call) -> bool:
    """``tf.estimator.Estimator.__init__(self, …)``."""
    function = call.func
    whole = isinstance(function, ast.Attribute) and function.attr == "__init__"
    return whole and isinstance(function, ast.Attribute) and module.resolve(function.value) in KINDS


def _is_given_to_library(module: Module, node: ast.expr) -> bool:
    """Whether an expression is an argument of a function of TensorFlow."""
    outer = module.parent(node)
    call = module.parent(outer) if isinstance(outer, ast.keyword) else outer
    known = isinstance(call, ast.Call) and call.func is not node
    return known and isinstance(call, ast.Call) and (module.resolve(call.func) or "").startswith("tensorflow.")
