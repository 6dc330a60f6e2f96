"""What a program reads of an Estimator, or of what it returned, and what a Keras model has in its place."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from migrator.normalise.draft.returns import own_returns
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.reaching import reaching
from migrator.resolve.syntax import walk
from migrator.resolve.text import Spans

from .flow.order import is_followed
from .places import is_simple, stays
from .settings import is_same
from .sources import Place, Source
from .use import Use
from .variables import NAMES, VALUE, is_read, named

STEP, EVAL_DIR = "global_step", "eval_dir"
_MAKERS = ("os.makedirs", "os.mkdir", "tensorflow.gfile.MakeDirs", "tensorflow.io.gfile.makedirs")
_GLOBAL_STEP = re.compile(r"^global_step$|\{global_step\b|%\(global_step\)")
"""The key of an evaluation's result, by itself or in a format."""


@dataclass(frozen=True)
class Read(Place):
    """A place that reads something of an Estimator."""

    module: Module
    node: ast.expr
    """What another expression takes the place of."""
    what: str
    """``model_dir``, ``eval_dir``, ``latest_checkpoint``, ``params``, ``global_step``, ``get_variable_value`` and ``…_names``, or
    ``config`` for a field of that."""
    receiver: ast.expr
    """What stands for the Estimator."""
    sources: tuple[Source, ...]
    """Those that it may be."""
    value: ast.expr | None = None
    """What the field of its configuration says, or the name of a weight, or of evaluations."""

    @property
    def at(self) -> ast.expr:
        """Where it stands."""
        return self.node

    @property
    def needs_checkpoint(self) -> bool:
        """Whether it is about what was trained."""
        return self.what not in ("model_dir", EVAL_DIR, "params", "config")

    @property
    def by_names(self) -> bool:
        """Whether the model has to tell its weights by the names of an Estimator."""
        variables = self.sources[0].variables
        if variables is None or not variables.listed or self.what not in (NAMES, VALUE):
            return False
        return self.value is None or not variables.value(self.module, self.value, "model", lambda node: "x")

    @property
    def folder(self) -> ast.expr | None:
        """The folder of checkpoints, where it may be written once more."""
        settings = self.sources[0].settings
        known = self.by_name and len(self.sources) == 1 and not settings.temporary
        return (
            settings.directory if known and settings.directory is not None and is_simple(settings.directory) else None
        )


def read_of(module: Module, node: ast.expr, sources: tuple[Source, ...]) -> Read | str | None:
    """What is read of an Estimator at a place, or why it stays; None: something else is done with it."""
    attribute = module.parent(node)
    if not isinstance(attribute, ast.Attribute) or not isinstance(attribute.ctx, ast.Load):
        return None
    what, call = attribute.attr, module.parent(attribute)
    called = isinstance(call, ast.Call) and call.func is attribute
    if what in (NAMES, VALUE) and isinstance(call, ast.Call) and called:
        kinds = {source.variables for source in sources}
        known = kinds.pop() if len(kinds) == 1 else None
        if known is None or not is_read(known, module, call, what) or not is_simple(node):
            return f"`.{what}` of its Estimator"
        return Read(module, call, what, node, sources, named(call))
    if what == "latest_checkpoint" and isinstance(call, ast.Call) and called and not call.args and not call.keywords:
        found = Read(module, call, what, node, sources)
    elif what == EVAL_DIR and isinstance(call, ast.Call) and called and _is_only_made(module, call):
        given = next(iter(arguments(call)), None)
        found = Read(module, call, what, node, sources, given.value if isinstance(given, ast.keyword) else given)
    elif what in ("model_dir", "params") and not called:
        found = Read(module, attribute, what, node, sources)
    elif what == "config" and isinstance(call, ast.Attribute) and isinstance(call.ctx, ast.Load):
        found = _of_config(module, call, node, sources)
    else:
        return None
    params = sources[0].construction.arguments.get("params")
    if what == "params" and (len(sources) > 1 or not found.by_name or params is None or not stays(module, params)):
        return "`.params` of its Estimator"
    if found.what == "config":
        told = len(sources) == 1 and found.value is not None and is_same(module, found.value, node)
        return found if told else "`.config` of its Estimator"
    if what != "params" and any(source.settings.directory is None for source in sources):
        return f"`.{what}` of an Estimator without a folder"
    return found if is_simple(node) else "an Estimator in an expression that is not simple"


def _is_only_made(module: Module, call: ast.Call) -> bool:
    """Whether nothing is done with the folder of evaluations but to make it: TensorBoard may write to another one."""
    statement = module.statement(call)
    outer = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(outer, ast.Call):
        return False
    makes = isinstance(outer.func, ast.Attribute) and outer.func.attr == "mkdir"
    return makes or module.resolve(outer.func) in _MAKERS


def _of_config(module: Module, field: ast.Attribute, node: ast.expr, sources: tuple[Source, ...]) -> Read:
    """A field of the configuration of an Estimator; its folder is that of the Estimator."""
    if field.attr == "model_dir":
        return Read(module, field, "model_dir", node, sources)
    return Read(module, field, "config", node, sources, sources[0].settings.fields.get(field.attr))


def steps_read(
    project: Project,
    modules: Collection[Module],
    uses: list[Use],
    exports: Collection[Place],
    inside: Mapping[str, Spans],
) -> list[Read] | str:
    """The places that read the step which the result of an evaluation has, or why they are not understood."""
    found: list[Read] = []
    if all(use.method != "evaluate" for use in uses):
        return found
    for module in modules:
        spans = inside.get(module.path, Spans())
        for constant in _constants(module):
            if isinstance(module.parent(constant), (ast.List, ast.Tuple, ast.Set)) and NAMES.encode() in module.source:
                continue  # one of the names of variables
            subscript = module.parent(constant)
            if spans.hold(module.span(constant)) or _is_own(project, module, constant, subscript):
                continue
            use = _evaluated(module, subscript, uses, exports) if constant.value == STEP else None
            if use is None or not isinstance(subscript, ast.Subscript) or _trains_between(module, subscript, use, uses):
                return "the global step that an evaluation returns"
            found.append(Read(module, subscript, STEP, use.receiver, use.sources))
    return found


def _is_own(project: Project, module: Module, key: ast.Constant, at: ast.AST | None) -> bool:
    """Whether a key names a variable, or an entry of a dict of the program: one that is made, or that a function returns."""
    if isinstance(at, ast.Call):
        return isinstance(at.func, ast.Attribute) and at.func.attr == VALUE
    if isinstance(at, ast.Dict):
        return key in at.keys
    held = at.value if isinstance(at, ast.Subscript) and key is at.slice else None
    statement = module.assignment(held) if isinstance(held, ast.Name) else None
    made = statement.value if statement is not None else None
    found = project.definition(module, made.func) if isinstance(made, ast.Call) else None
    if found is None or not isinstance(found.node, ast.FunctionDef):
        return False
    shown = [each.value for each in own_returns(found.node)]
    keys = [[k.value for k in d.keys if isinstance(k, ast.Constant)] for d in shown if isinstance(d, ast.Dict)]
    return len(keys) == len(shown) > 0 and all(key.value in each for each in keys)


def _constants(module: Module) -> Iterator[ast.Constant]:
    """Strings that name the key."""
    for node in walk(module.tree) if STEP.encode() in module.source else ():
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _GLOBAL_STEP.search(node.value):
            yield node


def _evaluated(module: Module, node: ast.AST | None, uses: list[Use], exports: Collection[Place]) -> Use | None:
    """The evaluation whose result an entry is read of, in the same function."""
    if (
        not isinstance(node, ast.Subscript)
        or not isinstance(node.ctx, ast.Load)
        or not isinstance(node.value, ast.Name)
    ):
        return None
    if module.nearest(node, ast.JoinedStr) is not None:
        return None
    statement = reaching(module, node.value)
    for use in uses:
        if (
            statement is not None
            and use.call is statement.value
            and use.method == "evaluate"
            and is_simple(use.receiver)
        ):
            same = module.nearest(node, ast.FunctionDef) is module.nearest(use.call, ast.FunctionDef)
            alone = use.path is None or not (exports or is_followed(use, uses))
            return use if same and alone else None
    return None


def _trains_between(module: Module, node: ast.expr, use: Use, uses: list[Use]) -> bool:
    """Whether the model goes on before the step is read."""
    start, end = module.span(use.call)[0], module.span(node)[0]
    between = (
        each
        for each in uses
        if each.module is module and each.method == "train" and set(each.sources) & set(use.sources)
    )
    return end < start or any(start < module.span(each.call)[0] < end for each in between)
