"""Keras objects that a model_fn makes and applies later: what they do in training, and functions and classes that make them.

In a TF1 graph such an object is in its learning phase only where its call says so, and its moving statistics move only
if the program runs the object's own updates.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Layer, Translations
from migrator.analyse.layers.layerclass import is_phased, needs_rewrite
from migrator.analyse.statements.bindingtime import Time
from migrator.normalise.draft.arguments import defaults, parameters
from migrator.normalise.functions.lift import snake
from migrator.normalise.objects.methods import own_method
from migrator.resolve.syntax import walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body
    from migrator.analyse.layers.site import Site
    from migrator.analyse.statements.flow import Leaf
    from migrator.resolve.module import Module
    from migrator.resolve.project import Definition, Project

LEARNING_PHASE = "tensorflow.keras.backend.set_learning_phase"
_UPDATES = frozenset({"updates", "get_updates_for"})
# Attributes of an object that say the same before and after: what it was made with, and what its first call makes.
_SETTINGS = frozenset({"units", "filters"})
WEIGHTS = frozenset({"trainable_weights", "trainable_variables"})
_PLAIN = _SETTINGS | WEIGHTS | {"losses", "kernel", "bias", "embeddings", "weights"}


# -- functions and classes of the program -----------------------------------------------------------------------------


def made_by_program(
    translations: Translations, body: Body, call: ast.Call, definition: Definition, given: list[ast.expr]
) -> Layer | None:
    """How a call of the program's own function or class makes a Keras object; None if that is not what it does."""
    module, node = definition.module, definition.node
    rewritten = isinstance(node, ast.ClassDef) and needs_rewrite(translations, definition)
    if isinstance(node, ast.ClassDef):
        if not is_keras_class(translations, definition):
            return None
        body.sublayers.note_classes(definition)
    elif not _only_objects(translations, module, node):
        return None
    elif isinstance(node, ast.FunctionDef) and _hides(translations, body, definition):
        raise Unsupported("a function that is made around Keras layers hides them from the model", call)
    for value in given:
        if body.modes.mentions(value):
            raise Unsupported("a Keras object is made from a value that depends on the mode", value)
    if not rewritten:
        _check_old_names(translations, module, node)
    phased = translations.phased(node, module.resolve) or (rewritten and is_phased(translations, module, node))
    old = isinstance(node, ast.ClassDef) and any(translations.old_layers(module.resolve(b) or "") for b in node.bases)
    applied: tuple[tuple[str, str], ...] = (("training", "False"),) if phased else ()
    if isinstance(node, ast.ClassDef):
        applied = _of_class(node, phased, call)
    return Layer(
        body.module.segment(call.func),
        (*((None, a) for a in call.args), *((k.arg, k.value) for k in call.keywords)),
        None,
        snake(node.name),
        keras=not old,
        applied=applied,
        moving="" if not old and _moving(translations, body.sublayers.project, definition) else None,
    )


def is_keras_class(translations: Translations, definition: Definition) -> bool:
    """Whether a class of the program is a layer or a model of Keras."""
    assert isinstance(definition.node, ast.ClassDef)
    return any(_is_keras_base(translations, definition.module, base) for base in definition.node.bases)


def _is_keras_base(translations: Translations, module: Module, base: ast.expr) -> bool:
    """Whether a base class is a layer or a model of Keras."""
    name = module.resolve(base) or ""
    return name == "tensorflow.keras.layers.Layer" or translations.objects(name) or translations.old_layers(name)


def _only_objects(translations: Translations, module: Module, node: ast.AST) -> bool:
    """Whether a function makes layers by Keras classes only, not by functions that need a tensor."""
    names = [module.resolve(n.func) for n in walk(node) if isinstance(n, ast.Call)]
    made = [name for name in names if name is not None and name in translations.layers]
    return bool(made) and all(translations.objects(name) for name in made)


def _hides(translations: Translations, body: Body, definition: Definition) -> bool:
    """Whether a function may return something that holds layers where Keras does not look for them: a closure, or an
    object of a class that is none of Keras."""
    module, function = definition.module, definition.node
    inner = {n.name for n in walk(function) if isinstance(n, ast.FunctionDef) and n is not function}
    for statement in walk(function):
        if (
            not isinstance(statement, ast.Return)
            or statement.value is None
            or _owner(module, statement) is not function
        ):
            continue
        for node in walk(statement.value):
            if isinstance(node, ast.Lambda) or (isinstance(node, ast.Name) and node.id in inner):
                return True
            made = body.sublayers.project.definition(module, node.func) if isinstance(node, ast.Call) else None
            if made is not None and isinstance(made.node, ast.ClassDef) and not is_keras_class(translations, made):
                return True
            if isinstance(node, ast.Call) and module.resolve(node.func) == "functools.partial":
                return True
    return False


def _owner(module: Module, node: ast.AST) -> ast.AST | None:
    """The function that a statement belongs to."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return module.nearest(node, functions)


def _check_old_names(translations: Translations, module: Module, node: ast.AST) -> None:
    """Refuse code that stays as it is and needs names that only TF1 has."""
    for child in walk(node):
        if isinstance(child, (ast.Name, ast.Attribute)) and not isinstance(module.parent(child), ast.Attribute):
            name = module.resolve(child)
            if name is None or module.dialect(child) == "v2" and not translations.old_only(name):
                continue
            if translations.refused(name):
                raise Unsupported(f"{name.replace('tensorflow', 'tf', 1)} is not migrated yet", child)


def _of_class(node: ast.ClassDef, phased: bool, at: ast.AST) -> tuple[tuple[str, str], ...]:
    """What the call of an instance gets: the default of `training` that its `call` has."""
    call = own_method(node, "call")
    if call is None:
        raise Unsupported("a Keras class without a `call` of its own is not followed", at)
    if "training" not in parameters(call):
        if phased:
            raise Unsupported("the `call` of a Keras class with dropout or the like takes no `training`", at)
        return ()
    default = training_default(node)
    return () if default is None else (("training", default),)


def training_default(node: ast.ClassDef) -> str | None:
    """The default of `training` that the `call` of a class has; None without one. Raises Unsupported."""
    call = own_method(node, "call")
    default = defaults(call).get("training") if call is not None else None
    if default is None:
        return None
    if not isinstance(default, ast.Constant):
        raise Unsupported("the default of `training` is not seen", default)
    return str(bool(default.value))


def _moving(translations: Translations, project: Project, definition: Definition) -> set[Definition]:
    """What has moving statistics of Keras, which `UPDATE_OPS` does not hold: a function or class, and classes that it needs."""
    found: set[Definition] = set()
    for each in _with_classes(translations, project, definition, set()):
        names = [each.module.resolve(n.func) or "" for n in walk(each.node) if isinstance(n, ast.Call)]
        if any(name.endswith(".BatchNormalization") and translations.objects(name) for name in names):
            found.add(each)
    return found


def _with_classes(
    translations: Translations, project: Project, definition: Definition, seen: set[Definition]
) -> Iterator[Definition]:
    """A function or class, and the layer classes of the program that it names."""
    if definition in seen:
        return
    seen.add(definition)
    yield definition
    for node in walk(definition.node):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            other = project.definition(definition.module, node)
            if other is not None and isinstance(other.node, ast.ClassDef) and is_keras_class(translations, other):
                yield from _with_classes(translations, project, other, seen)


# -- the objects of a body --------------------------------------------------------------------------------------------


def settled(plan: Body, sites: list[Site]) -> None:
    """Work out what the calls of the objects get, whether their statistics move, and refuse what cannot be kept."""
    phase = _learning_phase(plan, sites)
    updated = set(_updated(plan))
    for site in sites:
        layer = site.layer
        if layer.inputs is not None or not (layer.keras or layer.applied):
            continue
        held = holder(site)
        if layer.keras and layer.moving is not None:
            layer = _settled_statistics(plan, layer, site, held in updated)
        if layer.keras and layer.applied == (("training", "False"),):
            layer = replace(layer, applied=(("training", phase),))
        site.layer = layer
        _check_use(plan, site, held)


def _settled_statistics(plan: Body, layer: Layer, site: Site, updated: bool) -> Layer:
    """A layer whose moving statistics stand still where nothing runs its updates."""
    if not layer.moving:
        made, sublayers = plan.sublayers.project.definition(plan.module, site.call.func), plan.sublayers
        classes = _moving(plan.translations, sublayers.project, made) if made is not None else set()
        known = {sublayers.still.setdefault(each, not updated) for each in classes}
        if updated and known == {False}:
            return layer
        if updated or known != {True} or not all(isinstance(each.node, ast.ClassDef) for each in classes):
            raise Unsupported(
                "nothing runs the updates of this Keras model, whose moving statistics stand still", site.call
            )
        for each in classes:
            sublayers.stand_still(each)
        return layer
    if updated:
        return layer
    kept = tuple((n, v) for n, v in layer.arguments if n != layer.moving)
    return replace(layer, arguments=(*kept, (layer.moving, "1.0")))


def holder(site: Site) -> str | None:
    """``head`` of ``head = tf.layers.Dense(1)``."""
    node = site.leaf.node
    if site.layer.inputs is not None or not isinstance(node, ast.Assign) or node.value is not site.call:
        return None
    return node.targets[0].id if len(node.targets) == 1 and isinstance(node.targets[0], ast.Name) else None


def _updated(plan: Body) -> Iterator[str]:
    """Names of objects whose updates the program asks for."""
    for node in walk(plan.function):
        if isinstance(node, ast.Attribute) and node.attr in _UPDATES and isinstance(node.value, ast.Name):
            parent = plan.module.parent(node)
            for_none = isinstance(parent, ast.Call) and any(
                isinstance(a, ast.Constant) and a.value is None for a in parent.args
            )
            if not for_none:
                yield node.value.id


def reads_updates(plan: Body, node: ast.expr, at: Leaf) -> bool:
    """Whether an expression at `at` is all updates of a Keras object that is called before, which run by themselves."""
    read = node.func if isinstance(node, ast.Call) else node
    if not isinstance(read, ast.Attribute) or read.attr not in _UPDATES or object_of(plan, read.value) is None:
        return False
    if (read.attr == "updates") is isinstance(node, ast.Call):
        return False
    name = ast.unparse(read.value)
    called = {
        leaf
        for leaf in plan.flow.leaves
        for n in walk(leaf.node)
        if isinstance(n, ast.Call) and ast.unparse(n.func) == name
    }
    if not called or max(leaf.index for leaf in called) >= at.index:
        raise Unsupported("the updates of a Keras object are read before it is called", node)
    return True


def _check_use(plan: Body, site: Site, held: str | None) -> None:
    """Refuse uses of an object that are not followed: only its calls are, and a few attributes."""
    parent = plan.module.parent(site.call)
    if isinstance(parent, ast.Attribute):
        raise Unsupported(f"`{parent.attr}` of a layer that is made in place is not migrated yet", parent)
    if held is None:
        called = isinstance(parent, ast.Call) and parent.func is site.call
        if site.layer.applied and not called:
            raise Unsupported("a layer with dropout or the like is not called where it is made, nor named", site.call)
        return
    for node in walk(plan.function):
        if not isinstance(node, ast.Name) or node.id != held or not isinstance(node.ctx, ast.Load):
            continue
        parent = plan.module.parent(node)
        if isinstance(parent, ast.Attribute):
            if parent.attr not in _PLAIN | _UPDATES:
                raise Unsupported(f"`{parent.attr}` of a Keras object is not migrated yet", parent)
            statement = plan.module.statement(parent)
            if parent.attr not in _UPDATES | _SETTINGS and plan.times.of(statement) is Time.STATIC:
                raise Unsupported(f"`{parent.attr}` of a Keras object would be read before it exists", parent)
        elif site.layer.applied and not (isinstance(parent, ast.Call) and parent.func is node):
            raise Unsupported("a layer with dropout or the like is used for more than to be called", node)


def _learning_phase(plan: Body, sites: list[Site]) -> str:
    """What a Keras layer is told that is not told `training`: the learning phase of the graph, off by default."""
    asking = [s for s in sites if s.layer.keras and s.layer.applied]
    everywhere = (
        [n for n in plan.module.nodes(ast.Call) if plan.module.resolve(n.func) == LEARNING_PHASE] if asking else []
    )
    if not everywhere:
        return "False"
    table = {"train": False, "eval": False, "infer": False}
    found = 0
    for leaf in plan.flow.leaves:
        if not is_learning_phase(plan, leaf.node):
            continue
        assert isinstance(leaf.node, ast.Expr) and isinstance(leaf.node.value, ast.Call)
        found += 1
        value = leaf.node.value.args[0] if len(leaf.node.value.args) == 1 else None
        if isinstance(value, ast.Constant) and value.value in (0, 1):
            value = ast.Constant(bool(value.value))
        for mode in leaf.modes:
            known = plan.modes.evaluate(value, mode) if value is not None else None
            if known is None or leaf.frames or leaf.index > min(s.leaf.index for s in asking):
                raise Unsupported("the learning phase is set in a way that is not followed", leaf.node)
            table[mode] = known
    if found < len(everywhere):
        raise Unsupported("the learning phase is set outside of the function that makes the layers", everywhere[0])
    if table["eval"] or table["infer"]:
        raise Unsupported("the learning phase is on in evaluation or prediction", everywhere[0])
    return "training" if table["train"] else "False"


def is_learning_phase(plan: Body, node: ast.stmt) -> bool:
    """Whether a statement sets the learning phase, which the calls of the layers say afterwards."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Call)
        and plan.module.resolve(node.value.func) == LEARNING_PHASE
    )


def object_of(plan: Body, node: ast.expr) -> Site | None:
    """The site that made the object which is called: ``layer`` of ``layer(x)``."""
    if isinstance(node, ast.Call):
        site = plan.site_of.get(id(node))
        return site if site is not None and site.layer.inputs is None else None
    if not isinstance(node, ast.Name):
        return None
    sites = [plan.site_of.get(id(getattr(leaf.node, "value", None))) for leaf in plan.definitions(node.id)]
    found = [s for s in sites if s is not None and s.layer.inputs is None]
    if not found or not any(s.layer.applied for s in found):
        return found[0] if found else None
    if len(found) < len(sites) or any(s.layer.applied != found[0].layer.applied for s in found):
        raise Unsupported(f"`{node.id}` is a layer with dropout or the like, and something else as well", node)
    return found[0]


def may_have_variables(site: Site) -> bool:
    """Whether a site may make variables: not if it shares those of another one, or is a layer that has none."""
    layer = site.layer
    known = layer.variables or layer.columns or layer.weight or layer.recurrent
    return site.first is None and bool(known or layer.keras or layer.helper is not None)


def call_arguments(site: Site, node: ast.Call) -> tuple[tuple[str, str], ...]:
    """What the call of an object must say because TF1 and Keras mean different things by saying nothing."""
    if not site.layer.applied:
        return ()
    if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        raise Unsupported("the arguments of a layer are hidden behind * or **", node)
    recurrent = site.layer.constructor.endswith(("LSTM", "GRU", "RNN"))  # inputs, mask, training
    if len(node.args) >= (3 if recurrent else 2):
        return ()
    given = {k.arg for k in node.keywords}
    return tuple((name, value) for name, value in site.layer.applied if name not in given)
