"""Changes of nodes in drafts: where the lines of these come from, and code that cannot be printed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from changing import parsed

from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.rewrite import Insert, Rename, Replace, expr, statements

PATH = "p.py"


def calls(module: Module) -> list[ast.Call]:
    return sorted(module.nodes(ast.Call), key=lambda call: (call.lineno, call.col_offset))


def drafted(source: str) -> Drafts:
    return Drafts(Project({PATH: parsed(source)}))


def test_moved_lines_know_where_they_stood_on_disk() -> None:
    drafts = drafted("a\nb\nx = f(1)\n")
    for expected in ("a\nb\nnet = f(1)\nx = net\n", "net = f(1)\na\nb\nnet = f(1)\nx = net\n"):
        module = drafts.project.modules[PATH]
        call = calls(module)[0]
        made = Insert(statements("net = {call}", call=module.cst.call(call)), before=module.statement(call))
        if drafts.changed:  # once more: moves a line of a draft
            line = module.cst.statement(module.statement(call))
            drafts.apply(Change.of(module, Insert(line, before=module.tree.body[0])))
        else:
            drafts.apply(Change.of(module, made, Replace(call, expr("net"))))
        assert drafts.project.modules[PATH].text == expected
    last = drafts.project.modules[PATH]
    assert [drafts.origin(last, line) for line in range(1, 6)] == [(PATH, n) for n in (3, 1, 2, 3, 3)]


def test_code_that_cannot_be_printed_stays() -> None:
    drafts = drafted("try:\n    a(b)\nexcept f(X) :\n    c\n")
    module = drafts.project.modules[PATH]
    first, second = calls(module)
    assert Change.of(module, Replace(first, expr("z + 1")), Replace(second, expr("z + 1"))) == []
    drafts.settle([PATH], lambda one: [Replace(call, expr("{x} + 1", x=one.cst.call(call))) for call in calls(one)])
    assert not drafts.changed
    assert isinstance(first.args[0], ast.Name)
    drafts.settle([PATH], lambda one: [Rename(name, "y") for name in (first.args[0],) if isinstance(name, ast.Name)])
    assert drafts.project.modules[PATH].text == module.text.replace("a(b)", "a(y)")


def test_changes_that_do_not_parse_are_not_made() -> None:
    drafts = Drafts(Project({path: Module(path, "x = 1\n") for path in ("a.py", "b.py")}))

    def find(project: Project, module: Module) -> Iterator[list[Change]]:
        if module.text.startswith("y"):
            yield [Change(other.edit((0, 1), "(")) for other in project.modules.values()]
        yield [Change(other.edit((0, 1), "y")) for other in project.modules.values()]

    drafts.apply_all(["a.py"], find)
    assert [module.text for module in drafts.project.modules.values()] == ["y = 1\n", "y = 1\n"]
    assert drafts.origin(drafts.project.modules["a.py"], 1) == ("a.py", 1)
