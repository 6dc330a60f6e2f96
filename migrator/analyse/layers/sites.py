"""The places where a model_fn makes layers and variables, and the attributes that will hold them."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Obstacles, Unsupported
from migrator.analyse.function.translate import Layer
from migrator.analyse.layers.built import built, is_known, walked
from migrator.analyse.layers.lateweights import check_names, late, made_when_called
from migrator.analyse.layers.objects import holder, settled
from migrator.analyse.layers.site import RESERVED, Site, Turns
from migrator.analyse.layers.unnamed import kind_of, kinds_of
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import targets
from migrator.analyse.statements.shapes import on_shapes
from migrator.analyse.statements.walks import Comprehension, Loop, comprehensions, turns_time
from migrator.analyse.training.sums import makes_sums
from migrator.analyse.variables.scope_defaults import check_scopes, with_defaults
from migrator.analyse.variables.scopes import exclusive, scope_calls, scope_prefix
from migrator.analyse.variables.sharing import name_attributes, share
from migrator.resolve.syntax import children, walk

if TYPE_CHECKING:
    from migrator.analyse.function.body import Body as Plan

# Names that programs give to whatever flows through a network: they say nothing about one layer.
_ANONYMOUS = re.compile(
    r"^(x|h|y|z|net|out|outs|output|outputs|inp|input|inputs|hidden|layer|tmp|temp|result|res|features|last)\d*_?$"
)


_OVER_TENSORS = "a layer is made under a loop or a condition over tensors"


def find_sites(plan: Plan) -> list[Site]:
    """All sites of the body in the order of evaluation, named."""
    sites: list[Site] = []
    obstacles = Obstacles()
    for leaf in plan.flow.leaves:
        for call, turns in _calls(leaf.node, ()) if not makes_sums(plan, leaf) else ():
            with obstacles:
                sites += _sites_of(plan, leaf, call, turns)
    obstacles.refuse()
    # An object made inside the arguments of another one belongs to it: `Sequential([Dense(1)])`.
    inner = {id(c) for s in sites if s.layer.inputs is None for c in walk(s.call) if c is not s.call}
    inner |= {id(s.call) for s in sites if s.layer.inputs is None and _is_added(plan, s.call)}
    sites = [s for s in sites if id(s.call) not in inner]
    check_names(plan, sites)
    settled(plan, sites)
    check_scopes(plan, sites)
    share(plan, sites)
    for site in sites:
        if site.over_tensors and not site.in_all_turns:
            raise Unsupported(_OVER_TENSORS, site.call)
    _name(plan, sites)
    name_attributes(plan, sites)
    return sites


def _sites_of(plan: Plan, leaf: Leaf, call: ast.Call, turns: Turns) -> Iterator[Site]:
    """The site that a call is, if it makes a layer or a variable."""
    name = plan.module.resolve(call.func)
    rule = plan.translations.layers.get(name) if name is not None else None
    if rule is not None and name is not None:
        layer = rule(call, name, plan.module.resolve)
    else:
        layer = plan.sublayers.layer(plan, call)
    if layer is None:
        return
    shaped = _check_place(plan, leaf, call)
    if _has_variables(layer) and _is_left_out(plan, leaf, call):
        raise Unsupported("layers are made in one arm of an expression, and the other one is without them", call)
    if turns is None:
        raise Unsupported("layers made in a lambda or a nested function are not migrated yet", call)
    _check_turns(plan, leaf, turns, call)
    if layer.old_defaults:
        layer = _with_old_defaults(plan, layer, call)
    if layer.moving is not None and not layer.keras and not plan.updates_run:
        frozen = [(n, v) for n, v in layer.arguments if n != layer.moving]
        layer = replace(layer, arguments=(*frozen, (layer.moving, "1.0")))
    layer = with_defaults(plan, leaf, layer)
    layer = layer if shaped and layer.weight else built(plan, leaf, layer, turns)
    loops: list[Loop] = [*leaf.loops, *turns]
    layer = late(plan, layer, loops)
    over_tensors = not layer.built and any(turns_time(loop, plan.times.of) > Time.MODE for loop in loops)
    if shaped and (not made_when_called(layer.helper) if layer.helper is not None else layer.weight and not layer.late):
        raise Unsupported("variables are made under a condition on a shape", call)
    yield Site(call, leaf, layer, over_tensors=over_tensors, turns=turns)


def _with_old_defaults(plan: Plan, layer: Layer, call: ast.Call) -> Layer:
    """A layer with the defaults of TF1 written out, if TF1 is what the program means."""
    dialect = plan.module.dialect(call.func)
    if dialect is None:
        names = ", ".join(name for name, _ in layer.old_defaults)
        raise Unsupported(f"TensorFlow 1 and 2 have different defaults for {names}, and either may be meant", call)
    return layer if dialect == "v2" else replace(layer, arguments=(*layer.arguments, *layer.old_defaults))


def _is_added(plan: Plan, call: ast.Call) -> bool:
    """Whether an object is made for ``model.add(…)``."""
    parent = plan.module.parent(call)
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "add"


def _has_variables(layer: Layer) -> bool:
    """Whether a layer that is called has variables, or may have some."""
    if layer.helper is not None:
        return any(_has_variables(site.layer) for site in layer.helper.sites)
    return layer.weight or (layer.inputs is not None and bool(layer.variables or layer.columns or layer.recurrent))


def _is_left_out(plan: Plan, leaf: Leaf, call: ast.Call) -> bool:
    """Whether a condition inside of a statement decides if a call runs."""
    inner: ast.AST = call
    for outer in plan.module.ancestors(call):
        if inner is leaf.node:
            return False
        if isinstance(outer, ast.IfExp) and inner is not outer.test:
            return True
        if isinstance(outer, ast.BoolOp) and inner is not outer.values[0]:
            return True
        inner = outer
    return False


def _check_place(plan: Plan, leaf: Leaf, call: ast.Call) -> bool:
    """Refuse layers whose number is not known when the model is built. Returns whether a shape decides if one is used:
    it is made in any case, and has variables once it is used."""
    if isinstance(leaf.node, (ast.While, ast.Try, ast.For, ast.With, ast.If)):
        raise Unsupported("a layer is made inside a while loop or a try statement", call)
    shaped = [frame for frame in leaf.frames if on_shapes(plan, frame.node)]
    for frame in leaf.frames:
        if isinstance(frame.node, ast.With) or plan.times.head(frame) <= Time.MODE or frame in shaped:
            continue
        if not isinstance(frame.node, ast.For):
            raise Unsupported(_OVER_TENSORS, call)
    return bool(shaped)


def _check_turns(plan: Plan, leaf: Leaf, turns: tuple[ast.comprehension, ...], call: ast.Call) -> None:
    """Refuse comprehensions whose turns are not known when the model is built."""
    for loop in turns:
        if loop.ifs or loop.is_async:
            raise Unsupported("a layer is made in a comprehension with a condition", call)
        known = is_known(plan, loop.iter, leaf) or walked(plan, loop, leaf) is not None
        if turns_time(loop, plan.times.of) > Time.MODE and not known:
            raise Unsupported("a layer is made in a comprehension over tensors", call)
        if any(plan.is_local(name) for name in targets(loop.target)):
            raise Unsupported("a comprehension that makes layers has the name of a variable for its own", call)


def _calls(node: ast.AST, turns: Turns) -> Iterator[tuple[ast.Call, Turns]]:
    """Calls below `node` in the order in which they are evaluated, with the loops of comprehensions around them."""
    if isinstance(node, Comprehension) and turns is not None:
        yield from _calls(node.generators[0].iter, turns)
        for generator in node.generators:
            for hidden in (*([generator.iter] if generator is not node.generators[0] else []), *generator.ifs):
                yield from _calls(hidden, None)
        inner = (*turns, *node.generators)
        for part in (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,):
            yield from _calls_in(part, inner)
        return
    for child in children(node):
        yield from _calls_in(child, turns)


def _calls_in(child: ast.AST, turns: Turns) -> Iterator[tuple[ast.Call, Turns]]:
    hidden = isinstance(child, (ast.Lambda, ast.FunctionDef, ast.SetComp))
    yield from _calls(child, None if hidden else turns)
    if isinstance(child, ast.Call):
        yield child, turns


def _name(plan: Plan, sites: list[Site]) -> None:
    taken = set(RESERVED) | (set(plan.statics) - _of_layers(plan, sites))
    assigned = _assigned_once(plan, sites)
    made = [site for site in sites if site.makes and site.layer.helper is None and not site.loops]
    named: dict[str, set[str]] = {}
    """Names of layers, with what they would be together with their scopes."""
    for site in made:
        own = _own_name(plan, site, assigned) or kind_of(site)
        named.setdefault(own, set()).add(_scoped(plan, site, own))
    nameless = [site for site in sites if site.makes or (site.layer.late and not site.layer.weight)]
    nameless = [site for site in nameless if _own_name(plan, site, assigned) is None]
    apart = {site for site in nameless if site in made and len(named.get(kind_of(site), ())) > 1}
    apart = {site for site in apart if _scoped(plan, site, kind_of(site)) != kind_of(site)}
    """Those that their scopes tell from others of their kind."""
    kinds = kinds_of([site for site in nameless if site not in apart], _ANONYMOUS.match)
    items: set[str] = {n for leaf in plan.flow.leaves for c in comprehensions(leaf.node) for n in targets(c.target)}
    objects: dict[str, str] = {}
    for site in (site for site in sites if site.makes or (site.layer.late and not site.layer.weight)):
        held = holder(site)
        if held in objects and not site.loops:  # one name for the objects of both arms of an `if`
            first = next(s for s in sites if s.attribute == objects[held])
            if first.leaf.modes & site.leaf.modes and not exclusive(first, site):
                raise Unsupported(f"`{held}` is one variable or layer here, and another one above", site.call)
            site.attribute = objects[held]
            continue
        base = _own_name(plan, site, assigned)
        if base is None:
            base = kind_of(site) if site in apart else kinds[id(site.call)]
        item = base if base not in RESERVED else base + "_layer"
        if len(base) == 1 or (len(named.get(base, ())) > 1 and site in made):
            scoped = _scoped(plan, site, base)
            site.scoped, base = len(base) > 1 and scoped != base, scoped
        if site.loops:
            site.item = item
            base += "_variables" if site.layer.weight else "s" if re.search(r"(^|_)(layer|block)$", base) else "_layers"
        elif base in RESERVED:
            scope = (scope_prefix(plan, site.leaf) or "").strip("/").replace("/", "_")
            base = (
                f"{scope}_{base}" if scope.isidentifier() else base + ("_layer" if site.layer.inputs else "_variable")
            )
        attribute, number = base, 1
        while attribute in taken:
            number += 1
            attribute = f"{base}_{number}"
        taken.add(attribute)
        site.attribute = attribute
        if held is not None:
            objects[held] = attribute
        if site.loops and held is not None:
            site.item = held
        elif site.loops:
            local, number = site.item, 1
            while plan.is_local(local) or local in (*plan.dynamic, "training", *items):
                local = f"{site.item}_layer" if number == 1 else f"{site.item}_layer_{number}"
                number += 1
            site.item = local
            items.add(local)


def _own_name(plan: Plan, site: Site, assigned: dict[int, str]) -> str | None:
    """The name that a layer is given, or that its result has; a part of the network is called after its function."""
    made = site.layer.helper is None and not site.layer.recurrent  # else: what the outputs are called says less
    result = assigned.get(id(site.call)) if made else None
    if site.layer.bias_name is not None:
        return result or _scope_name(plan, site)
    return _literal_name(site.layer.name) or result or _literal_name(_key(plan, site.call))


def _scope_name(plan: Plan, site: Site) -> str | None:
    """The scope that tells what variables are for which the program made itself, one by one."""
    calls = [call for call in scope_calls(plan, site.leaf) if call.args]
    found = _literal_name(calls[-1].args[0]) if calls else None
    found = f"{found}_layer" if found in RESERVED else found
    return None if found in ("layer", "layers_layer") else found


def _of_layers(plan: Plan, sites: list[Site]) -> set[str]:
    """Parameters that only say how layers are made: nothing holds them, so that a layer may have the name of one."""
    making = [site for site in sites if site.makes and not site.layer.built]
    given = [value for site in making for _, value in site.layer.arguments if not isinstance(value, str)]
    heads = [loop.iter for site in making for loop in site.loops]
    inside = {node for part in (*given, *heads) for node in walk(part)}
    loads = (node for node in walk(plan.function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return set(plan.statics) - {node.id for node in loads if node not in inside}


def _scoped(plan: Plan, site: Site, letter: str) -> str:
    """``output_w`` of ``W`` in the scope ``output``, as a letter alone says nothing, nor a name that several have."""
    for call in reversed(scope_calls(plan, site.leaf)):
        scope = _literal_name(call.args[0]) if call.args else None
        if scope is not None:
            return scope if letter in scope.split("_") else f"{scope}_{letter}"
    return letter


def _key(plan: Plan, call: ast.Call) -> ast.expr | None:
    """``"w1"`` of ``{"w1": tf.Variable(…)}``."""
    parent = plan.module.parent(call)
    if not isinstance(parent, ast.Dict):
        return None
    return next((key for key, value in zip(parent.keys, parent.values) if value is call), None)


def _literal_name(node: ast.expr | None) -> str | None:
    """An identifier from a literal layer name; of ``"mlp%d" % i`` and the like, the fixed beginning, or if that is no more
    than a letter, what follows: ``"l%d_gate" % i``."""
    words: list[str] = []
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        words = [node.value]
    elif isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant) and isinstance(node.left.value, str):
        words = re.split(r"%[^a-zA-Z]*[a-zA-Z]|\{[^}]*\}", node.left.value)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        if isinstance(node.func.value, ast.Constant) and isinstance(node.func.value.value, str):
            words = re.split(r"\{[^}]*\}", node.func.value.value)
    elif isinstance(node, ast.JoinedStr) and node.values and isinstance(node.values[0], ast.Constant):
        words = [str(part.value) if isinstance(part, ast.Constant) else "" for part in node.values]
    below = any("/" in word for word in words[1:])  # what a layer of the turn has in its scope: `"fc%d/BatchNorm" % i`
    words = [re.sub(r"\W+", "_", re.sub(r"(?<=[a-z])(?=[A-Z][a-z])", "_" * below, word)) for word in words]
    words = [word.strip("_").lower() for word in words]
    text = words[0] if words else ""
    if below:
        text = "_".join(filter(None, words))
    elif len(text) == 1:
        text = "_".join(word for word in words[1:] if word) or text
    if not text or text[0].isdigit() or keyword.iskeyword(text):
        return None
    return text


def _assigned_once(plan: Plan, sites: list[Site]) -> dict[int, str]:
    """Names of variables that hold the result of just one site, where the name says something."""
    found: dict[int, str] = {}
    for site in sites:
        node = site.leaf.node
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
            continue
        name = node.targets[0].id
        if node.value is not site.call or _ANONYMOUS.match(name):
            continue
        if len([leaf for leaf in plan.flow.leaves if name in leaf.defs]) == 1:
            found[id(site.call)] = name
    return found
