"""Optimizer classes that only edit gradients or losses on the way to an optimizer of TensorFlow: objects that hold it.

``class Clipped(tf.train.AdamOptimizer)`` with a `compute_gradients` of its own holds an AdamOptimizer, and its methods
become statements of the train op. Classes with a formula of their own stay classes: `optimizer_classes.py`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from migrator import rewrite
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.calls import arguments
from migrator.resolve.module import Module
from migrator.resolve.syntax import does_nothing, is_super, walk
from migrator.rewrite import Insert, Remove, Replace, expr, statements, with_arguments, with_parameters

from .optimizer_classes import BASES
from .optimizers import OPTIMIZERS

if TYPE_CHECKING:
    import libcst as cst

_HELD = "optimizer"
_STEPS = ("compute_gradients", "apply_gradients", "minimize")
_PARAMETERS = {
    "compute_gradients": ("loss", "var_list"),
    "apply_gradients": ("grads_and_vars", "global_step"),
    "minimize": ("loss", "global_step", "var_list"),
}
_DEFAULTS = {
    "compute_gradients": ("loss, var_list=None", "self.{held}.compute_gradients(loss, var_list)"),
    "apply_gradients": (
        "grads_and_vars, global_step=None",
        "self.{held}.apply_gradients(grads_and_vars, global_step=global_step)",
    ),
    "minimize": (
        "loss, global_step=None, var_list=None",
        "self.apply_gradients(self.compute_gradients(loss, var_list), global_step=global_step)",
    ),
}


def hold_optimizers(drafts: Drafts) -> None:
    """Write all such classes of a program without their base."""
    for path in list(drafts.project.modules):
        module = drafts.project.modules[path]
        drafts.apply([change for node in module.nodes(ast.ClassDef) for change in _changes(drafts, module, node)])


def edits_gradients(node: ast.AST) -> bool:
    """Whether a class has methods of an optimizer."""
    return isinstance(node, ast.ClassDef) and any(_name(statement) in _STEPS for statement in node.body)


def _changes(drafts: Drafts, module: Module, node: ast.ClassDef) -> list[Change]:
    base = node.bases[0] if len(node.bases) == 1 and not node.keywords and not node.decorator_list else None
    name = module.resolve(base) if base is not None else None
    if base is None or (name not in OPTIMIZERS and name not in BASES) or not edits_gradients(node):
        return []
    methods = {_name(s): s for s in node.body if isinstance(s, ast.FunctionDef)}
    made = methods.get("__init__")
    if made is None or not made.args.args or not _follows(module, node, methods):
        return []
    above = list(_above(node))
    held = _held(made, name in BASES)
    calls = [call for call, method in above if method is made]
    starts = [s for s in made.body if isinstance(s, ast.Expr) and s.value in calls]
    if held is None or len(calls) != 1 or len(starts) != 1 or (name in BASES and len(above) > 1):
        return []
    replaced: list[rewrite.Change] = [Replace(base, expr("object"))]
    told: dict[ast.Call, cst.Call] = {}
    for method in methods.values():
        own = _without_others(module, method)
        if own is None:
            return []
        head, calls_now = own
        replaced += head
        told.update(calls_now)
    if name in BASES:
        replaced.append(Remove(starts[0]))
    else:
        new = told.pop(calls[0], module.cst.call(calls[0])).with_changes(func=module.cst.expression(base))
        replaced.append(
            Replace(starts[0], statements("{holder} = {new}", holder=f"{made.args.args[0].arg}.{held}", new=new))
        )
    for call, method in above:
        if call is not calls[0] and isinstance(call.func, ast.Attribute):
            replaced.append(Replace(call.func.value, expr(f"{method.args.args[0].arg}.{held}")))
    replaced += [Replace(call, new) for call, new in told.items() if call not in calls]
    defaults = [
        f"def {step}(self, {parameters}):\n    return {body.format(held=held)}"
        for step, (parameters, body) in _DEFAULTS.items()
        if step not in methods
    ]
    replaced.append(Insert(rewrite.lines("\n\n".join(defaults)), after=node.body[-1], apart=True))
    return Change.of(module, *replaced)


def _follows(module: Module, node: ast.ClassDef, methods: dict[str, ast.FunctionDef]) -> bool:
    """Whether all that the methods read of their object is set or defined in the class."""
    if any(not isinstance(s, ast.FunctionDef) and not does_nothing(s) for s in node.body):
        return False
    known = {*methods, *_STEPS}
    read: set[str] = set()
    for method in methods.values():
        if (
            method.decorator_list
            or not method.args.args
            or method.name.startswith(("_apply_", "_resource_", "_create_"))
        ):
            return False
        this = method.args.args[0].arg
        for part in walk(method):
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == this:
                (known if isinstance(part.ctx, ast.Store) else read).add(part.attr)
            elif isinstance(part, ast.Name) and part.id == this:
                parent = module.parent(part)
                own = isinstance(parent, ast.Attribute) or (isinstance(parent, ast.Call) and is_super(parent))
                if not own:
                    return False
    return read <= known


def _held(made: ast.FunctionDef, wraps: bool) -> str | None:
    """The attribute for the optimizer of TensorFlow; that which a wrapper is given. None if there is none."""
    this, parameters = made.args.args[0].arg, [a.arg for a in made.args.args[1:]]
    stored = {
        t.attr: s.value
        for s in made.body
        if isinstance(s, ast.Assign)
        for t in s.targets
        if isinstance(t, ast.Attribute) and isinstance(t.value, ast.Name) and t.value.id == this
    }
    if not wraps:
        return None if _HELD in stored else _HELD
    names = [a for a, v in stored.items() if isinstance(v, ast.Name) and v.id in parameters and "opt" in v.id]
    return names[0] if len(names) == 1 else None


def _above(node: ast.ClassDef) -> Iterator[tuple[ast.Call, ast.FunctionDef]]:
    """The calls of methods of the base, and the methods that these stand in."""
    for method in node.body:
        for part in walk(method) if isinstance(method, ast.FunctionDef) else ():
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and is_super(part.func.value):
                assert isinstance(method, ast.FunctionDef)
                yield part, method


def _without_others(
    module: Module, method: ast.FunctionDef
) -> tuple[list[rewrite.Change], dict[ast.Call, cst.Call]] | None:
    """Names what ``*args`` and ``**kwargs`` hold of the arguments of a step, and takes them out of methods that only hand
    them on: the changes of the head, and the calls as they are then. None where a method does more with them."""
    others = [a for a in (method.args.vararg, method.args.kwarg) if a is not None]
    names = {a.arg for a in others}
    if not names:
        return [], {}
    lacking = [name for name in _PARAMETERS.get(method.name, ()) if name not in {a.arg for a in method.args.args}]
    calls: dict[ast.Call, cst.Call] = {}
    handed = 0
    for call in walk(method):
        if isinstance(call, ast.Call):
            starred = [at for at, a in enumerate(arguments(call)) if _hands_on(a, names)]
            handed += len(starred)
            if starred:
                told = {starred.pop(0): dict(zip(lacking, lacking))} if lacking else {}
                calls[call] = with_arguments(module.cst.call(call), spread=told, drop=starred)
    if handed < sum(_named(node, names) for node in walk(method)):
        return None
    added = [name if name in ("loss", "grads_and_vars") else f"{name}=None" for name in lacking]
    head = with_parameters(module.cst.statement(method), drop=[*names], add=added)
    return [Replace(method, head)], calls


def _hands_on(argument: ast.expr | ast.keyword, names: set[str]) -> bool:
    """Whether an argument is ``*args`` or ``**kwargs`` of these names."""
    if isinstance(argument, ast.keyword):
        return argument.arg is None and _named(argument.value, names)
    return isinstance(argument, ast.Starred) and _named(argument.value, names)


def _named(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _name(node: ast.stmt) -> str:
    return node.name if isinstance(node, ast.FunctionDef) else ""
