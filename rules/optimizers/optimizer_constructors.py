"""Constructors of optimizer classes: that of TensorFlow 1's base becomes that of a Keras optimizer."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass, field

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.analyse.training.optimizerclass import OptimizerClass
from migrator.emit.render import Renderer
from migrator.resolve.syntax import walk
from migrator.rewrite import Insert, Replace, code, expr, lines, with_parameters

from ..estimator_calls.driver import Driver

_WIDTH = 96
"""Of a line, without the indentation of a class."""
# What a Keras optimizer means by these attributes.
TAKEN = frozenset(
    """apply apply_gradients build built clipnorm clipvalue ema_momentum finish_step from_config get_config
    global_clipnorm gradient_accumulation_steps hyperparameters initial_slots iterations jit_compile keras_3 loss_scale_factor
    mesh minimize name run_kernel slot update update_step use_ema variables weight_decay""".split()
)


@dataclass
class Constructor:
    """What became of a constructor."""

    rate: str = ""
    """The attribute that held the learning rate."""
    kept: dict[str, str] = field(default_factory=dict)
    """Attributes that hold a parameter as it is, by parameter."""
    stored: set[str] = field(default_factory=set)
    """All attributes that are set."""


def rewrite_constructor(
    found: OptimizerClass, driver: Driver, renderer: Renderer, gone: Collection[str] = (), added: Collection[str] = ()
) -> Constructor:
    """Write the constructor anew, without the attributes `gone`, and with lines `added` to its end.

    Raises Unsupported where it computes with the learning rate, or sets what Keras means otherwise.
    """
    return _Rewrite(found, driver, renderer).run(gone, added)


class _Rewrite:
    def __init__(self, found: OptimizerClass, driver: Driver, renderer: Renderer) -> None:
        self.found, self.driver, self.renderer = found, driver, renderer
        self.module = found.module
        self.result = Constructor()

    def run(self, gone: Collection[str], added: Collection[str]) -> Constructor:
        constructor = self.found.method("__init__")
        assert constructor is not None
        this = constructor.args.args[0].arg
        body = [s for s in constructor.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
        begin = next((i for i, s in enumerate(body) if not _only_raises(s)), 0)
        opening = body[begin] if body else None
        first = opening.value if isinstance(opening, ast.Expr) else None
        if not isinstance(first, ast.Call) or not _is_super(first):
            raise Unsupported("the constructor of an optimizer class does not begin with that of its base", constructor)
        name = bind(first, "use_locking name", "Optimizer").get("name")
        shown = code(repr(self.found.node.name)) if name is None else self.module.cst.expression(name)
        function, rate = self.module.cst.expression(first.func), code(self.found.rate)
        made = expr("{function}({rate}, {name}, **kwargs)", function=function, rate=rate, name=shown)
        head = with_parameters(self.module.cst.statement(constructor), add=["**kwargs"])
        self.driver.change(Replace(constructor, head), Replace(first, made))
        if "kwargs" in self.found.parameters:
            raise Unsupported("`kwargs` is a name that the generated constructor needs", constructor)
        for statement in (*body[:begin], *body[begin + 1 :]):
            self._statement(statement, this, gone)
        if not self.result.rate:
            raise Unsupported("where an optimizer class keeps its learning rate is not seen", constructor)
        if added:
            self.driver.change(Insert(lines("\n".join(added)), into=constructor))
        self._configuration(constructor)
        return self.result

    def _statement(self, statement: ast.stmt, this: str, gone: Collection[str]) -> None:
        for node in walk(statement):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == this:
                if isinstance(node.ctx, ast.Store):
                    self.result.stored.add(node.attr)
                    if node.attr in TAKEN:
                        raise Unsupported(f"`{node.attr}` means something else to a Keras optimizer", node)
        target = statement.targets[0] if isinstance(statement, ast.Assign) else None
        own = isinstance(target, ast.Attribute) and ast.unparse(target).startswith(f"{this}.")
        if isinstance(statement, ast.Assign) and isinstance(target, ast.Attribute) and own:
            if target.attr in gone:
                if not is_none(statement.value):
                    raise Unsupported(
                        "an attribute of an optimizer class has one value now and another one later", statement
                    )
                self.driver.edits.append(self.module.delete_statement(statement))
                return
            if isinstance(statement.value, ast.Name) and statement.value.id == self.found.rate:
                if self.result.rate:
                    raise Unsupported("an optimizer class keeps its learning rate twice", statement)
                self.result.rate = target.attr
                self.driver.edits.append(self.module.delete_statement(statement))
                return
            if (parameter := _parameter(statement.value)) in self.found.parameters:
                self.result.kept[parameter] = target.attr
        if any(isinstance(n, ast.Name) and n.id == self.found.rate for n in walk(statement)):
            raise Unsupported("an optimizer class computes with its learning rate when it is made", statement)

    def _configuration(self, constructor: ast.FunctionDef) -> None:
        """What `get_config` has to know beside the arguments of the base."""
        names = [f'"{name}"' for name, attribute in self.result.kept.items() if name == attribute]
        if names:
            line = f"hyperparameters = ({', '.join(names)}{',' if len(names) == 1 else ''})"
            if len(line) > _WIDTH:
                line = "\n".join(["hyperparameters = (", *(f"    {name}," for name in names), ")"])
            self.driver.change(Insert(lines(line), before=constructor, apart=True))
        others = [
            f'"{n}": self.{a}' for n, a in self.result.kept.items() if n != a and n not in ("name", "use_locking")
        ]
        if others:
            entries = ["**super().get_config()", *others]
            line = f"    return {{{', '.join(entries)}}}"
            if len(line) > _WIDTH:
                line = "\n".join(["    return {", *(f"        {entry}," for entry in entries), "    }"])
            made = Insert(lines(f"def get_config(self):\n{line}"), after=self.found.node.body[-1], apart=True)
            self.driver.change(made)


def _parameter(node: ast.expr) -> str:
    """The name that an expression is, or which it makes a number of."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("float", "int", "bool") and len(node.args) == 1:
        node = node.args[0]
    return node.id if isinstance(node, ast.Name) else ""


def _only_raises(statement: ast.stmt) -> bool:
    """Whether a statement only refuses arguments."""
    return (
        isinstance(statement, ast.If) and not statement.orelse and all(isinstance(s, ast.Raise) for s in statement.body)
    )


def _is_super(call: ast.Call) -> bool:
    """Whether a call is ``super(…).__init__(…)``."""
    function = call.func
    if not isinstance(function, ast.Attribute) or function.attr != "__init__":
        return False
    return isinstance(function.value, ast.Call) and ast.unparse(function.value.func) == "super"
