"""Methods that the one class in use inherits move into it, so that what they call on their object is seen.

class Base:                          class Net(Base):
    def model_fn(self, …):               def logits(self, …): …
        logits = self.logits(…)
                                         def model_fn(self, …):
class Net(Base):                             logits = self.logits(…)
    def logits(self, …): …
"""

from __future__ import annotations

import ast

from migrator.modelfn.render import Renderer
from migrator.module import Module
from migrator.preparing.draft import Change, Drafts
from migrator.preparing.globals import outer_names
from migrator.preparing.lift import removal
from migrator.preparing.methods import Method, class_of, lookup
from migrator.preparing.stuck import Stuck
from migrator.preparing.unbox import ancestors
from migrator.project import Definition, Project
from migrator.syntax import walk


def moved_down(drafts: Drafts, module: Module, found: Method) -> list[Change]:
    """The edits that move a method into the class of the object that `found.receiver` of `module` is; none where it stands
    there, or calls nothing that this class has anew. Raises Stuck where others have it too."""
    project = drafts.project
    owner, is_class = class_of(project, module, found.receiver)
    if owner is None or is_class or owner == found.owner or found.kind != "plain":
        return []
    if not _calls_down(project, owner, found):
        return []
    function, home = found.function, found.module
    _check(project, owner, found)
    assert isinstance(owner.node, ast.ClassDef)
    last = owner.node.body[-1]
    names = outer_names(drafts, owner.module, last, home, function)
    texts = {name: text for name, text in names.texts.items() if text != name}

    def transform(node: ast.AST) -> str | None:
        if not isinstance(node, ast.Name) or node.id not in texts:
            return None
        holder = home.scope(node).lookup(node.id)
        return texts[node.id] if holder is home.analysis.root else None

    renderer = Renderer(owner.module)
    indent = renderer.indent_of(last)
    lines = Renderer(home).statement(function, transform, indent)
    while lines and not lines[0].strip():
        lines.pop(0)
    first = function.lineno - (len(lines) - ((function.end_lineno or function.lineno) - function.lineno + 1))
    origins = tuple(drafts.origin(home, max(1, first + index)) for index in range(len(lines)))
    here = drafts.origin(owner.module, last.end_lineno or last.lineno)
    start = owner.module.span(last)[1]
    text = "\n\n" + "\n".join(lines)
    inserted = Change(owner.module.insert(_line_end(owner.module, start), text), (here, here, *origins))
    return [*names.changes, inserted, removal(home, function)]


def _calls_down(project: Project, owner: Definition, found: Method) -> bool:
    """Whether the method uses something that the class of the object has anew."""
    own = found.function.args.args[0].arg
    for node in walk(found.function):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == own:
            if lookup(project, owner, node.attr) != lookup(project, found.owner, node.attr):
                return True
    return False


def _check(project: Project, owner: Definition, found: Method) -> None:
    """Raise Stuck where an object of another class may run the method, or where its text means something else below."""
    name = found.function.name
    if any(lookup(project, one, name) != lookup(project, owner, name) for one in project.subclasses(owner)):
        raise Stuck(f"which `{name}` runs is known at run time only", found.function)
    lineage = list(ancestors(project, owner))
    for one in (found.owner, *project.subclasses(found.owner)):
        shared = (lookup(project, one, name) or (None,))[0] == found.owner and one != owner
        if one in lineage:  # it only serves to derive from it, as far as is seen
            shared &= any(_makes(m, n) for m in project.modules.values() for n in project.uses(one, m))
        if shared:
            raise Stuck(f"several classes share `{name}`, which calls what they have anew", found.function)
    for node in walk(found.function):
        if isinstance(node, ast.Name) and node.id in ("super", "__class__"):
            raise Stuck(f"`{name}` of a base class uses `{node.id}`", node)
        if isinstance(node, ast.Attribute) and node.attr.startswith("__") and not node.attr.endswith("__"):
            raise Stuck(f"`{name}` of a base class uses a name that is private to it", node)
    if found.function.decorator_list:
        raise Stuck(f"`{name}` of a base class has a decorator", found.function)


def _makes(module: Module, node: ast.expr) -> bool:
    """Whether a class is used for more than to derive from it."""
    parent = module.parent(node)
    return not (isinstance(parent, ast.ClassDef) and node in parent.bases)


def _line_end(module: Module, position: int) -> int:
    found = module.source.find(b"\n", position)
    return len(module.source) if found < 0 else found
