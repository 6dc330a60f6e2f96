"""Optimizers that are handed to a canned Estimator: by name, as an object, or as a function that makes one."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Value, is_empty
from migrator.emit.render import Renderer
from migrator.normalise.draft.returns import own_returns
from migrator.normalise.values.possible_values import may_be_none, possible_values
from migrator.resolve.module import Module
from migrator.resolve.parsing import expression_tree
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Rename, Replace, code
from migrator.vocabulary.diagnostics import Edit

from ..optimizers import contrib_optimizers, optimizers, schedules
from .canned_clipping import CLIP, clipped, rebound
from .canned_heads import HEADS, SEVERAL, head_edits, heads_of

# Optimizers by name, and the default learning rate of their classes in TensorFlow 2.
_BY_NAME = {"Adagrad": 0.001, "Adam": 0.001, "Ftrl": 0.001, "RMSProp": 0.001, "SGD": 0.01}
_CLASSES_1 = {name: f"{name}Optimizer" for name in _BY_NAME} | {"SGD": "GradientDescentOptimizer"}
_CLASSES_2 = {name: name for name in _BY_NAME} | {"RMSProp": "RMSprop"}
_KERAS = ("tensorflow.keras.optimizers.", "tensorflow.optimizers.")
_WARM = re.compile(rb"warm_start_from(?!\s*=\s*None\b)")
_OPTIONS = frozenset({"learning_rate", "beta_1", "beta_2", "epsilon", "momentum", "nesterov", "name"})
"""Arguments that these classes still have."""
_RATE = "lr"
"""What the learning rate was called once."""
_DEPTH = 5
_LINE_LENGTH = 80


def mentions(module: Module) -> Iterator[ast.AST]:
    """References to optimizers, schedules and global steps of TensorFlow 1, and to heads with their reductions."""
    known = optimizers.OPTIMIZERS | schedules.SCHEDULES | optimizers.STEPS | {CLIP}
    for node, name in module.references():
        if name in known or name in HEADS or name in SEVERAL:
            yield node
        call = module.parent(node) if name in HEADS else None
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            if keyword.arg == "loss_reduction":
                yield keyword.value


class OptimizerArguments:
    """Finds and rewrites the optimizers that reach the arguments of canned Estimators."""

    def __init__(
        self,
        project: Project,
        dialect: str,
        need: Callable[[Module, str, ast.AST | None], str],
        tensorflow: Callable[[Module], str],
        renderer: Callable[[Module], Renderer],
        module: Module,
        chosen: Mapping[str, bool],
        plain: bool = False,
    ) -> None:
        self.project, self.chosen = project, chosen
        self.dialect = dialect
        self.need, self.tensorflow, self.renderer = need, tensorflow, renderer
        self.module = module
        self.plain = plain
        """Whether `fit` of a model of the program calls them."""
        self._makers: list[tuple[Module, ast.Lambda]] = []

    def rate_of(self, name: str, rate: float | None) -> float:
        """The learning rate of an optimizer that is given by name; None is the default of its class."""
        return _BY_NAME[name] if rate is None else rate

    def facts(self, part: str) -> dict[str, bool]:
        """What is known of the variables that an optimizer updates; `part`: ``linear``, ``dnn``, ``baseline``, or empty
        for a model of Keras.
        """
        modules = self.project.modules.values()
        named = {name.rsplit(".", 1)[-1] for module in modules for _, name in module.references()}
        embeds = any("embedding" in name.lower() or "gather" in name for name in named)
        warm = any(_WARM.search(module.source) for module in modules)
        return {
            **self.chosen,
            "sparse": part == "linear" or (part != "baseline" and embeds),
            "repeated": not part and embeds,  # columns look up each id once
            "zero tables": part == "linear" and not warm,
            "scheduled": any(f"tensorflow.train.{name}" in schedules.SCHEDULES for name in named),
        }

    def by_name(self, name: str, rate: float | None, part: str) -> str:
        """The text that makes the optimizer which an Estimator made of a name."""
        if self.dialect == "v2":
            alike = self.plain and (name in ("Adagrad", "Adam", "SGD") or (name == "Ftrl" and part == "linear"))
            prefix = f"{self.tensorflow(self.module)}.keras.optimizers.{'' if alike else 'legacy.'}"
            return f"{prefix}{_CLASSES_2[name]}({self.rate_of(name, rate)})"
        call = ast.Call(ast.Name(_CLASSES_1[name]), [ast.Constant(self.rate_of(name, rate))], [])
        writing = _Writing(self, self.module, part, lambda node: ast.unparse(node))
        text = optimizers.EXPRESSIONS[f"tensorflow.train.{_CLASSES_1[name]}"](call, writing)
        assert text is not None
        return text

    def is_same(self, name: str) -> bool:
        """Whether a class of Keras computes what its namesake did that Estimators took, and Keras calls legacy now."""
        return self.plain and name in ("Adam", "SGD")

    def is_function(self, module: Module, value: ast.expr) -> bool:
        """Whether an expression is a function that makes an optimizer, not an optimizer."""
        where, node = self._followed(module, value)
        definition = self.project.definition(where, node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        return isinstance(node, ast.Lambda) or (definition is not None and isinstance(definition.node, ast.FunctionDef))

    def edits(
        self, module: Module, value: ast.expr, what: str, rate: float | None = None, part: str = ""
    ) -> list[Edit]:
        """Edits of all optimizers that `value` may be; `what` names the argument, for `part` see `facts`.

        Raises Unsupported.
        """
        if isinstance(value, ast.Name):
            found = rebound(module, value)
            if found is not None:
                inner, norm, deletion = found
                return [*self._clipped(module, inner, inner, norm, what, part), deletion]
        where, node = self._followed(module, value)
        parts = clipped(where, node)
        if parts is not None:
            return self._clipped(where, node, parts[0], parts[1], what, part)
        self._makers.clear()
        written = [
            edit
            for where, node in self._sources(module, value, what)
            for edit in self._edit(where, node, what, rate, part)
        ]
        # `compile` takes an optimizer, which a function of the program gives from now on at once.
        return [*written, *(_at_once(where, maker) for where, maker in self._makers if self.plain)]

    def _clipped(
        self, module: Module, place: ast.expr, inner: ast.expr, norm: ast.expr, what: str, part: str
    ) -> list[Edit]:
        """Write at `place` the optimizer that `inner` makes, with the norm that its gradients are clipped to."""
        name = module.resolve(inner.func) if isinstance(inner, ast.Call) else None
        if not isinstance(inner, ast.Call) or name not in optimizers.OPTIMIZERS:
            raise Unsupported(f"{what}: clip_gradients_by_norm of an optimizer that is made elsewhere", inner)
        writing = _Writing(self, module, part)
        _check_names(name, inner)
        text = optimizers.EXPRESSIONS[name](inner, writing)
        if text is None or not text.endswith(")"):
            raise Unsupported(f"{what}: the optimizer inside of clip_gradients_by_norm is not migrated yet", inner)
        text = f"{text[:-1]}, global_clipnorm={module.segment(norm)})"
        return [*_written(module, place, _laid_out(module, inner, text)), *writing.edits]

    def head_edits(self, module: Module, value: ast.expr | None, what: str) -> list[Edit]:
        """Edits of the head that `value` is. Raises Unsupported."""
        if value is None:
            raise Unsupported(f"{what} is missing", None)
        where, node = self._followed(module, value)
        name = where.resolve(node.func) if isinstance(node, ast.Call) else None
        if name in SEVERAL and isinstance(node, ast.Call):
            inner = [edit for head in heads_of(node, name or "") for edit in self.head_edits(where, head, what)]
            return [*_written(where, node.func, self.need(where, "CombinedHead", node)), *inner]
        if name not in HEADS or not isinstance(node, ast.Call):
            raise Unsupported(f"{what} is none of the heads for one label that is seen here", value)
        return head_edits(where, node, name or "", lambda wanted, at: self.need(where, wanted, at))

    def _edit(self, module: Module, node: ast.expr, what: str, rate: float | None, part: str) -> Iterator[Edit]:
        if isinstance(node, ast.Constant):
            if node.value not in _BY_NAME:
                known = ", ".join(sorted(_BY_NAME))
                raise Unsupported(f"{what}: no optimizer is called {node.value!r}; known are {known}", node)
            yield from _written(module, node, self.by_name(str(node.value), rate, part))
            return
        function = node.func if isinstance(node, ast.Call) else node
        name = module.resolve(function) or ""
        if name.startswith(_KERAS):
            short = name.rsplit(".", 1)[1]
            options = {keyword.arg for keyword in node.keywords} if isinstance(node, ast.Call) else {None}
            same = (
                self.is_same(short) and options <= _OPTIONS | {_RATE} and not (short == "SGD" and _has_momentum(node))
            )
            legacy = "" if same else "legacy."
            for keyword in node.keywords if same and isinstance(node, ast.Call) else ():
                if keyword.arg == _RATE:
                    yield from module.cst.apply([Rename(keyword, "learning_rate")])
            if ".legacy." not in name:  # what Estimators took under this name until TensorFlow 2.10
                yield from _written(module, function, f"{self.tensorflow(module)}.keras.optimizers.{legacy}{short}")
            if isinstance(node, ast.Call):
                yield from self._rates(module, node, what, part)
        elif isinstance(node, ast.Call):
            _check_names(name, node)
            writing = _Writing(self, module, part)
            text = optimizers.EXPRESSIONS[name](node, writing)
            if text is not None:
                yield from _written(module, node, _laid_out(module, node, text))
            yield from writing.edits
        else:
            raise Unsupported(f"{what} is an optimizer class, not an optimizer", node)

    def _rates(self, module: Module, node: ast.Call, what: str, part: str) -> Iterator[Edit]:
        """Edits of schedules of TensorFlow 1 that an optimizer of Keras is given. Raises Unsupported for others of its steps."""
        for value in (*node.args, *(keyword.value for keyword in node.keywords if keyword.arg is not None)):
            where, source = self._followed(module, value)
            name = where.resolve(source.func) if isinstance(source, ast.Call) else None
            if name in schedules.SCHEDULES:
                writing = _Writing(self, where, part)
                yield from _written(where, source, writing.text(source))
                yield from writing.edits
            elif any(
                module.resolve(n) in optimizers.STEPS for n in walk(value) if isinstance(n, (ast.Name, ast.Attribute))
            ):
                raise Unsupported(f"{what} reads the global step", value)

    def _sources(self, module: Module, value: ast.expr, what: str, depth: int = 0) -> Iterator[tuple[Module, ast.expr]]:
        """The optimizers, or names of optimizers, that an expression may stand for. Raises Unsupported."""
        found = possible_values(self.project, module, value, whole=True)
        places = found.values if found.stuck is None else [(module, value)]
        rebound = isinstance(value, ast.Name) and len(module.bindings(value)) > 1
        if not depth and rebound and any(isinstance(node, ast.Lambda) for _, node in places):
            raise self._unseen(module, value, what)
        tables = any(isinstance(read, (ast.Subscript, ast.Call)) for read in found.read)
        if tables and found.strangers(self.project, found.read):
            raise self._unseen(module, value, what)
        for where, node in places:
            yield from self._behind(where, node, what, depth + (len(places) > 1))

    def _behind(self, module: Module, node: ast.expr, what: str, depth: int) -> Iterator[tuple[Module, ast.expr]]:
        """The optimizers that an expression makes, itself or in a function that it is or calls."""
        function = node.func if isinstance(node, ast.Call) else node
        name = module.resolve(function)
        definition = self.project.definition(module, function)
        if isinstance(node, ast.Lambda):
            if depth:
                self._makers.append((module, node))
            yield from self._sources(module, node.body, what, depth + 1)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield module, node
        elif name in optimizers.OPTIMIZERS or (name or "").startswith(_KERAS):
            yield module, node
        elif definition is not None and isinstance(definition.node, ast.FunctionDef) and depth < _DEPTH:
            for returned in own_returns(definition.node):
                if returned.value is not None:
                    yield from self._sources(definition.module, returned.value, what, depth + 1)
        else:
            raise self._unseen(module, node, what)

    @staticmethod
    def _unseen(module: Module, node: ast.expr, what: str) -> Unsupported:
        name = module.resolve(node.func if isinstance(node, ast.Call) else node) or ""
        known = f" (tf.{name.split('.', 1)[1]})" if name.startswith("tensorflow.") else ""
        return Unsupported(f"{what} is not followed to an optimizer that is known here{known}", node)

    def _followed(self, module: Module, node: ast.expr, depth: int = 0) -> tuple[Module, ast.expr]:
        """The expression behind a name that is assigned once."""
        if isinstance(node, ast.Name) and depth < _DEPTH:
            bindings = module.bindings(node)
            if len(bindings) == 1 and isinstance(bindings[0].node, ast.Name):
                statement = module.statement(bindings[0].node)
                if isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.value is not None:
                    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                    if targets == [bindings[0].node]:
                        return self._followed(module, statement.value, depth + 1)
        return module, node


def _written(module: Module, node: ast.expr, text: str) -> list[Edit]:
    """Another expression in the place of one. The same one is written, too: names of that are settled then."""
    if text == module.segment(node):
        function = node.func if isinstance(node, ast.Call) else node
        return module.cst.apply([Replace(function, module.segment(function))])
    return module.cst.apply([Replace(node, code(text, module.indent(module.statement(node)) or ""))])


def _laid_out(module: Module, call: ast.Call, text: str) -> str:
    """The text with one argument a line, where the call had several lines and the text does not fit into one."""
    inside = module.segment(call).partition("\n")[2]
    new = expression_tree(text)
    if not inside or len(text) <= _LINE_LENGTH or not isinstance(new, ast.Call):
        return text
    indent = inside[: len(inside) - len(inside.lstrip())]
    values = [ast.get_source_segment(text, a) for a in new.args]
    values += [f"{k.arg}={ast.get_source_segment(text, k.value)}" for k in new.keywords]
    separator = f",{module.newline}{indent}"
    return f"{ast.get_source_segment(text, new.func)}({module.newline}{indent}{separator.join(map(str, values))})"


def _at_once(module: Module, maker: ast.Lambda) -> Edit:
    """What makes the value of a function in its place."""
    return Edit(module.path, module.span(maker)[0], module.span(maker.body)[0], "")


def _has_momentum(node: ast.expr) -> bool:
    """Whether SGD may have one, which the legacy class applies to the rows of a table that a batch reads alone."""
    given = [k.value for k in node.keywords if k.arg == "momentum"] if isinstance(node, ast.Call) else []
    args = node.args if isinstance(node, ast.Call) else []
    given += args[1:2] + [arg for arg in args[:1] if isinstance(arg, ast.Starred)]
    return any(not isinstance(value, ast.Constant) or value.value != 0 for value in given)


def _check_names(name: str, call: ast.Call) -> None:
    """Refuse an optimizer that looks for texts in the names of variables, which are others in a canned model."""
    asked = contrib_optimizers.NAME_TEXTS.get(name)
    if asked is not None and not is_empty(asked(call)):
        raise Unsupported("an optimizer of a canned Estimator chooses variables by name", call)


class _Writing:
    """An optimizer outside of a model_fn, as `rules.optimizers` sees it."""

    where = "factory"

    def __init__(
        self, owner: OptimizerArguments, module: Module, part: str, text: Callable[[ast.expr], str] | None = None
    ) -> None:
        self.owner, self.module = owner, module
        self.tf = owner.tensorflow(module)
        self.edits: list[Edit] = []
        self._text = text
        self._facts = owner.facts(part)

    def text(self, value: Value) -> str:
        if isinstance(value, str):
            return value
        if self._text is not None:
            return self._text(value)
        if isinstance(value, ast.Name):  # a schedule that has a name is translated where it is made
            where, source = self.owner._followed(self.module, value)
            name = where.resolve(source.func) if isinstance(source, ast.Call) else None
            if isinstance(source, ast.Call) and name in schedules.SCHEDULES:
                self.edits += _written(where, source, self.text(source))
                return value.id
        return self.owner.renderer(self.module).expression(value, self._transform)

    def _transform(self, node: ast.AST) -> str | None:
        if not isinstance(node, ast.Call):
            return None
        name = self.module.resolve(node.func)
        return optimizers.EXPRESSIONS[name](node, self) if name in schedules.SCHEDULES and name else None

    def need(self, helper: str) -> str:
        return self.owner.need(self.module, helper, None)

    def resolve(self, node: ast.expr) -> str | None:
        return self.module.resolve(node)

    def may_be_none(self, node: ast.expr) -> bool:
        return may_be_none(self.owner.project, self.module, node)

    def is_static(self, node: ast.expr) -> bool:
        value = self.followed(node)
        calls = [self.resolve(n.func) for n in walk(value) if isinstance(n, ast.Call)]
        return not isinstance(value, ast.Lambda) and not schedules.SCHEDULES & set(calls)

    def is_step(self, node: ast.expr) -> bool:
        _, source = self.owner._followed(self.module, node)
        return isinstance(source, ast.Call) and self.module.resolve(source.func) in optimizers.STEPS

    def followed(self, node: ast.expr) -> ast.expr:
        return self.owner._followed(self.module, node)[1]

    def may_come_from(self, node: ast.expr, words: tuple[str, ...]) -> bool:
        return False

    def in_training(self, node: ast.expr, neutral: float) -> str | None:
        return None

    def collected(self, call: ast.Call, key: str) -> list[str]:
        return []

    def kept(self) -> frozenset[str]:
        return frozenset()

    def fact(self, name: str) -> bool:
        return self._facts.get(name, False)
