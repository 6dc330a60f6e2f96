"""Options of a program: what `add_argument` and `DEFINE_string` say of them, and what they may be."""

from __future__ import annotations

import ast

from migrator.analyse.function.translate import is_none
from migrator.normalise.values.asked import is_something
from migrator.normalise.values.possible_values import possible_values
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk

from ..values import values_of

_PARSES = frozenset({"parse_args", "parse_known_args"})


def options(project: Project, name: str) -> list[tuple[Module, ast.Call]]:
    """The calls that say what an option of that name is: ``add_argument("--name")``, ``DEFINE_string("name")``."""
    found: list[tuple[Module, ast.Call]] = []
    for path in sorted(project.modules):
        module = project.modules[path]
        known: dict[str, list[ast.Call]] | None = module.memo.get("options")
        if known is None:
            known = module.memo["options"] = {}
            for call in module.nodes(ast.Call):
                known.setdefault(_defined(call) or "", []).append(call)
        found += [(module, call) for call in known.get(name, ()) if name]
    return found


def _defined(call: ast.Call) -> str | None:
    """The option that a call defines."""
    function = call.func
    said = (
        function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""
    )
    if said != "add_argument" and not said.startswith("DEFINE"):
        return None
    named = next((keyword.value for keyword in call.keywords if keyword.arg == "name"), None)
    name_node = call.args[0] if call.args else named
    first = name_node.value if isinstance(name_node, ast.Constant) else None
    return first.lstrip("-").replace("-", "_") if isinstance(first, str) else None


def default_of(call: ast.Call) -> ast.expr | None:
    """What an option is without being given, by the call that defines it."""
    named = {keyword.arg: keyword.value for keyword in call.keywords}
    defined = isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"
    return named.get("default") or (call.args[1] if not defined and len(call.args) > 1 else None)


def is_required(project: Project, name: str) -> bool:
    """Whether a flag has to be given: ``mark_flag_as_required("name")``."""
    for _, call in project.calls():
        said = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        if said in ("mark_flag_as_required", "mark_flags_as_required") and call.args:
            first = call.args[0]
            parts = first.elts if isinstance(first, (ast.List, ast.Tuple)) else [first]
            if any(isinstance(part, ast.Constant) and part.value == name for part in parts):
                return True
    return False


def is_count(project: Project, module: Module, option: ast.Attribute) -> bool:
    """Whether an expression is an option of the program that is a number of something."""
    defaults = [default_of(call) for _, call in options(project, option.attr)]
    values = [default.value if isinstance(default, ast.Constant) else None for default in defaults]
    if not values or not all(type(value) is int and value > 0 for value in values):
        return False
    owner = ast.unparse(option)
    stores = (n for m in project.modules.values() for n in m.nodes(ast.Attribute) if not isinstance(n.ctx, ast.Load))
    return _are_options(project, module, option.value) and all(ast.unparse(store) != owner for store in stores)


def _are_options(project: Project, module: Module, node: ast.expr, depth: int = 0) -> bool:
    """Whether an expression is what a program was told: `FLAGS`, or what a parser returns."""
    if depth > 4:
        return False
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in _PARSES:
            return True
        found = project.definition(module, node.func)
        if found is None or not isinstance(found.node, ast.FunctionDef):
            return False
        values = [n.value for n in walk(found.node) if isinstance(n, ast.Return)]
        return bool(values) and all(v is not None and _are_options(project, found.module, v, depth + 1) for v in values)
    if isinstance(node, ast.Subscript):  # the first one of `parse_known_args`
        return _are_options(project, module, node.value, depth + 1)
    if (module.resolve(node) or ast.unparse(node)).rpartition(".")[2] == "FLAGS":
        return True
    bindings = module.bindings(node) if isinstance(node, ast.Name) else []
    outer = module.parent(bindings[0].node) if len(bindings) == 1 else None
    statement = module.parent(outer) if isinstance(outer, ast.Tuple) else None
    if isinstance(statement, ast.Assign) and isinstance(outer, ast.Tuple) and bindings[0].node is outer.elts[0]:
        return _are_options(project, module, statement.value, depth + 1)
    given = values_of(project, module, node)
    return bool(given) and all(v is not node and _are_options(project, m, v, depth + 1) for m, v in given)


def may_be_none(project: Project, module: Module, node: ast.expr) -> bool:
    """Whether None is one of the values of a number: of a name, or of an option that nobody has to give."""
    values = possible_values(project, module, node, whole=True).values
    open_values = [value for where, value in values if not is_something(where, value)]
    none = any(is_none(value) or _is_idle_option(project, value) for value in open_values)
    if not isinstance(node, ast.Name):
        return none
    none = none or any(binding.is_none for binding in module.bindings(node))
    return none and not _is_set_where_read(module, node)


def _is_idle_option(project: Project, node: ast.expr) -> bool:
    """Whether an expression reads an option that is None without being given."""
    return isinstance(node, ast.Attribute) and any(_may_be_left_out(call) for _, call in options(project, node.attr))


def _may_be_left_out(call: ast.Call) -> bool:
    """Whether an option is None without being given, by the call that defines it."""
    default = default_of(call)
    named = {keyword.arg for keyword in call.keywords}
    parsed = isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"
    dashed = bool(call.args) and isinstance(call.args[0], ast.Constant) and str(call.args[0].value).startswith("-")
    left = parsed and dashed and not named & {"required", "action", "nargs", None}
    return is_none(default) if default is not None else left


def _is_set_where_read(module: Module, node: ast.Name) -> bool:
    """Whether a name gets another value wherever it is read: ``if FLAGS.train: steps = …``, and ``if FLAGS.train:`` around."""
    here, bindings = _tests(module, node), module.bindings(node)
    nones = [module.span(binding.node) for binding in bindings if binding.is_none]
    later = [b.node for b in bindings if not b.is_none and all(module.span(b.node) > none for none in nones)]
    found = [_tests(module, each) for each in later]
    return here is not None and any(tests and tests <= here for tests in found)


def _tests(module: Module, node: ast.AST) -> set[str] | None:
    """The options that are asked for before code is run, if nothing else decides."""
    found: set[str] = set()
    for outer in module.ancestors(module.statement(node)):
        if isinstance(outer, (ast.FunctionDef, ast.Module)):
            return found
        if not isinstance(outer, ast.If) or not isinstance(outer.test, ast.Attribute):
            return None
        if any(module.is_inside(node, other) for other in outer.orelse):
            return None
        found.add(ast.dump(outer.test))
    return found
