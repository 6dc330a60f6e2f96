"""Statements that come, go and move, whatever else stands on their lines."""

from __future__ import annotations

import ast
import random

import pytest
from changing import HOSTILE, changed, first, parsed

from migrator.engine.fixes import splice
from migrator.resolve.module import Module
from migrator.rewrite import (
    Change,
    Conflict,
    Insert,
    Remove,
    Replace,
    Unprintable,
    expr,
    statements,
    with_arguments,
    with_parameters,
)

FUNCTION = "def f(a, b=1):\n    # hi\n    x = 1  # c\n    return 2\n"


def statement(module: Module, text: str) -> ast.stmt:
    return next(node for node in ast.walk(module.tree) if isinstance(node, ast.stmt) and module.segment(node) == text)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("a\nb\nc\n", "b", "a\nc\n"),
        ("a\nb  # c\n# d\ne\n", "b", "a\n# d\ne\n"),
        ("a; b; c\n", "a", "b; c\n"),
        ("a; b; c\n", "b", "a; c\n"),
        ("a; b; c  # d\n", "c", "a; b  # d\n"),
        ("if a: b\n", "b", "if a: pass\n"),
        ("if a:\n    b  # c\n", "b", "if a:\n    pass  # c\n"),
        ("if a: b; c\n", "c", "if a: b\n"),
        ("if a:\n    b\nelse:\n    c\n", "c", "if a:\n    b\nelse:\n    pass\n"),
        ("a", "a", ""),
        ("if a:\r\n\tb\r\n\tc\r\n", "b", "if a:\r\n\tc\r\n"),
    ],
)
def test_a_statement_goes(source: str, target: str, expected: str) -> None:
    module = parsed(source)
    assert changed(module, [Remove(statement(module, target))]) == expected


def test_a_block_whose_statements_all_go_stays_one() -> None:
    module = parsed("if a:\n    b\n    c\nd\n")
    changes = [Remove(statement(module, "b")), Remove(statement(module, "c"))]
    assert changed(module, changes) == "if a:\n    pass\nd\n"


@pytest.mark.parametrize(
    ("source", "target", "template", "expected"),
    [
        (FUNCTION, "x = 1", "y\nz", FUNCTION.replace("x = 1", "y\n    z")),
        (FUNCTION, "x = 1", "# own\ny  # too", FUNCTION.replace("# hi\n    x = 1  # c", "# own\n    y  # too")),
        (
            FUNCTION,
            "x = 1",
            "if y:\n    {old}",
            FUNCTION.replace("# hi\n    x = 1", "if y:\n        # hi\n        x = 1"),
        ),
        ("a; b; c\n", "b", "d", "a; d; c\n"),
        ("a; b; c  # d\n", "b", "e\nf", "a\ne\nf\nc  # d\n"),
        ("if a: b\n", "b", "if c:\n    d", "if a:\n    if c:\n        d\n"),
        ("@a\nclass b: pass\n", "class b: pass", "c", "c\n"),
        ("if a:\n\tb(c,\n\t  d)\n", "b(c,\n\t  d)", "with e:\n    {old}", "if a:\n\twith e:\n\t\tb(c,\n\t\t  d)\n"),
        ("if a:\r\n  b\r\n", "b", "if c:\n    d", "if a:\r\n  if c:\r\n    d\r\n"),
        ("if a: pass\nelif b: pass\nelse: pass\n", "if a: pass\nelif b: pass\nelse: pass", "c", "c\n"),
        (
            '"""A."""\nx = """\n  a"""\n',
            'x = """\n  a"""',
            "if b:\n    {old}",
            '"""A."""\nif b:\n    x = """\n  a"""\n',
        ),
    ],
)
def test_a_statement_becomes_others(source: str, target: str, template: str, expected: str) -> None:
    module = parsed(source)
    node = statement(module, target)
    holes = {"old": [module.cst.statement(node)]} if "{old}" in template else {}
    assert changed(module, [Replace(node, statements(template, **holes))]) == expected


@pytest.mark.parametrize(
    ("source", "target", "before", "after"),
    [
        ("a\n\n# of b\nb\n", "b", "a\n\n# of b\nnew\nb\n", "a\n\n# of b\nb\nnew\n"),
        ("a; b\n", "b", "a\nnew\nb\n", "a; b\nnew\n"),
        ("if a: b\n", "b", "if a:\n    new\n    b\n", "if a: b\n    new\n"),
        ("if a:\n  b\nc", "c", "if a:\n  b\nnew\nc", "if a:\n  b\nc\nnew"),
        ("if a:\n  b", "b", "if a:\n  new\n  b", "if a:\n  b\n  new"),
    ],
)
def test_statements_come_before_and_after(source: str, target: str, before: str, after: str) -> None:
    for wanted, where in ((before, "before"), (after, "after")):
        module = parsed(source)
        node = statement(module, target)
        if where == "before":
            assert changed(module, [Insert(statements("new"), before=node)]) == wanted
        elif "if a: b\n    new" not in wanted:
            assert changed(module, [Insert(statements("new"), after=node)]) == wanted


def test_a_statement_after_the_only_one_of_a_line_with_its_head() -> None:
    module = parsed("if a: b  # c\nd\n")
    assert changed(module, [Insert(statements("new"), after=statement(module, "b"))]) == (
        "if a:\n    b  # c\n    new\nd\n"
    )


def test_statements_at_the_end_of_a_body_come_behind_those_after_its_last_one() -> None:
    module = parsed("while a:\n    b\nc\n")
    changes = [
        Insert(statements("end"), into=module.tree.body[0]),
        Insert(statements("after"), after=statement(module, "b")),
        Insert(statements("outer"), after=module.tree.body[0]),
        Insert(statements("above"), before=statement(module, "c")),
    ]
    assert changed(module, changes) == "while a:\n    b\n    after\n    end\nouter\nabove\nc\n"


def test_a_statement_moves_with_its_comments_and_what_changes_in_it() -> None:
    module = parsed("def f(a, b=1):\n    # hi\n    x = (1,\n         2)  # c\n    return 2\n")
    function, tuple_ = module.tree.body[0], first(module, ast.Tuple)
    old = statement(module, "x = (1,\n         2)")
    moved = Insert(module.cst.statement(old), before=function)
    changes = [Remove(old), moved, Replace(tuple_.elts[0], expr("g(3)"))]
    assert changed(module, changes) == "# hi\nx = (g(3),\n     2)  # c\ndef f(a, b=1):\n    return 2\n"


def test_what_happens_in_a_statement_happens_where_it_moves() -> None:
    module = parsed("if a:\n    b(c)\n")
    outer, inner = module.tree.body[0], statement(module, "b(c)")
    changes = [
        Replace(outer, statements("with w:\n    {old}", old=[module.cst.statement(outer)])),
        Insert(statements("after"), after=inner),
        Replace(first(module, ast.Call).func, expr("g.h")),
    ]
    assert changed(module, changes) == "with w:\n    if a:\n        g.h(c)\n        after\n"


def test_an_elif_is_no_statement_by_itself() -> None:
    module = parsed("if a:\n    b\nelif c:\n    d\n")
    inner = module.tree.body[0].orelse[0]  # type: ignore[attr-defined]
    with pytest.raises(Conflict, match=r"p\.py:3:1: this is a part of a statement"):
        module.cst.apply([Remove(inner)])


def test_one_statement_changes_once() -> None:
    module = parsed("a\n")
    with pytest.raises(Conflict, match=r"p\.py:1:1: two changes of the same statement"):
        module.cst.apply([Remove(module.tree.body[0]), Replace(module.tree.body[0], statements("b"))])


def test_a_statement_that_shares_its_line_with_others_that_move_stays() -> None:
    module = parsed("if a: b; c\n")
    outer = module.tree.body[0]
    wrapped = Replace(outer, statements("with w:\n    {old}", old=[module.cst.statement(outer)]))
    with pytest.raises(Unprintable, match=r"p\.py:1:7: this statement cannot change while it moves"):
        module.cst.apply([wrapped, Insert(statements("d"), before=statement(module, "b"))])


_NEW = ("new = 1", "# n\nnew(a,\n    b)", "if n:\n    d\nelse:\n    e", "x = 1\ny = 2  # n")
_AROUND = ("if n:\n    {s}", "try:\n    {s}\nfinally:\n    d()", "with n:\n    {s}\n    b", "# n\nbefore\n{s}\nafter")


class _Done(ast.NodeTransformer):
    """What changes of statements do, on a tree of `ast`."""

    def __init__(self, made: dict[ast.stmt, tuple[str, str]]) -> None:
        self.made = made

    def visit(self, node: ast.AST) -> object:
        new = super().visit(node)
        how, template = self.made.get(node, ("", "")) if isinstance(node, ast.stmt) else ("", "")
        if how == "around":
            return _Hole(new).visit(ast.parse(template.replace("{s}", "HOLE"))).body
        lines = ast.parse(template).body
        return {"before": [*lines, new], "after": [new, *lines], "instead": lines, "gone": None}.get(how, new)


class _Hole(ast.NodeTransformer):
    def __init__(self, new: object) -> None:
        self.new = new

    def visit_Expr(self, node: ast.Expr) -> object:
        return self.new if isinstance(node.value, ast.Name) and node.value.id == "HOLE" else node


def dumped(tree: ast.AST) -> str:
    """A tree as text, in which empty blocks and those with nothing but ``pass`` are the same."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and [type(one) for one in block] == [ast.Pass]:
                block.clear()
    return ast.dump(tree)


def change_of(module: Module, node: ast.stmt, how: str, template: str) -> Change:
    if how == "gone":
        return Remove(node)
    if how == "around":
        return Replace(node, statements(template, s=[module.cst.statement(node)]))
    new = statements(template)
    return {"before": Insert(new, before=node), "after": Insert(new, after=node)}.get(how) or Replace(node, new)


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_any_statements_may_come_and_go_at_once(source: str) -> None:
    choice, refused = random.Random(len(source)), 0
    for _ in range(25):
        module = parsed(source)
        made: dict[ast.stmt, tuple[str, str]] = {}
        nodes = [
            node
            for node in ast.walk(module.tree)
            if isinstance(node, ast.stmt) and not module.segment(node).startswith("elif")
        ]
        for node in choice.sample(nodes, min(len(nodes), 3)):
            how = choice.choice(["before", "after", "instead", "around", "gone"])
            near = [made[other][0] for other in made if module.is_inside(node, other) or module.is_inside(other, node)]
            if not near or not {"instead", "gone"} & {how, *near}:
                made[node] = how, "" if how == "gone" else choice.choice(_AROUND if how == "around" else _NEW)
        try:
            edits = module.cst.apply([change_of(module, node, *what) for node, what in made.items()])
        except Unprintable as error:
            assert "while it moves with others on its line" in str(error)
            refused += 1
            continue
        result = ast.parse(splice(module.source, edits))
        wanted = _Done(made).visit(module.tree)
        assert isinstance(wanted, ast.AST)
        assert dumped(result) == dumped(wanted), made
    assert refused < 10


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("a\n\n\n# c\ndef f():\n    b\n", "def f():\n    b", "a\n\n\nnew\n\n\n# c\ndef f():\n    b\n"),
        ("if a:\n    # c\n    b  # d\n", "b", "if a:\n    new\n\n    # c\n    b  # d\n"),
        ("# c\r\na\r\n", "a", "new\r\n\r\n\r\n# c\r\na\r\n"),
    ],
)
def test_definitions_are_set_off_above_the_comments(source: str, target: str, expected: str) -> None:
    module = parsed(source)
    node = statement(module, target)
    assert changed(module, [Insert(statements("new"), before=node, apart=True)]) == expected
    close = expected.replace("new\r\n\r\n\r\n", "new\r\n").replace("new\n\n\n", "new\n").replace("new\n\n", "new\n")
    assert changed(module, [Insert(statements("new"), before=node, above=True)]) == close


def test_definitions_are_set_off_below() -> None:
    module = parsed("class C:\n    def f(self):\n        a  # c\n\n\nb\n")
    method, last = statement(module, "def f(self):\n        a"), module.tree.body[-1]
    assert changed(module, [Insert(statements("new"), after=method, apart=True)]) == module.text.replace(
        "# c\n", "# c\n\n    new\n"
    )
    assert changed(module, [Insert(statements("new"), after=last, apart=True)]) == module.text + "\n\nnew\n"


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("a\n\n\n# c\ndef f():\n    b\n\n\nd\n", "def f():\n    b", "a\n\n\nd\n"),
        ("a\n\n\ndef f():\n    b\n", "def f():\n    b", "a\n"),
        ("class A:\n    # c\n    def f():\n        b\n\n\nd\n", "def f():\n        b", "class A:\n    pass\n\n\nd\n"),
        ("class A:\n    e\n\n    def f():\n        b\n\n\nd\n", "def f():\n        b", "class A:\n    e\n\n\nd\n"),
        ("import a\n\nimport b\n\n\nd\n", "import b", "import a\n\n\nd\n"),
        ("import a\nimport b\n\n\nd\n", "import b", "import a\n\n\nd\n"),
    ],
)
def test_definitions_go_with_what_sets_them_off(source: str, target: str, expected: str) -> None:
    module = parsed(source)
    assert changed(module, [Remove(statement(module, target), apart=True)]) == expected


def test_a_function_moves_to_the_level_of_the_module() -> None:
    source = "# top\ndef f(x):\n    # inner\n    def g(y):\n        return x + y  # c\n\n    return g(1)\n"
    module = parsed(source)
    outer, inner = (node for node in sorted(module.nodes(ast.FunctionDef), key=lambda node: node.lineno))
    (call,) = module.nodes(ast.Call)
    head = with_parameters(module.cst.statement(inner), add=["x"])
    told = with_arguments(module.cst.call(call), add={"x": "x"})
    changes = [Insert(head, before=outer, apart=True), Remove(inner, apart=True), Replace(call, told)]
    assert changed(module, changes) == (
        "# inner\ndef g(y, x):\n    return x + y  # c\n\n\n# top\ndef f(x):\n    return g(1, x=x)\n"
    )


def test_comments_stay_where_a_moving_statement_changes() -> None:
    module = parsed("if a:\n    # above\n    b(1)  # behind\n")
    (condition,) = (node for node in module.tree.body if isinstance(node, ast.If))
    moved = [module.cst.statement(one) for one in condition.body]
    changes: list[Change] = [Replace(condition, moved), Replace(condition.body[0], statements("c = 2"))]
    assert changed(module, changes) == "# above\nc = 2  # behind\n"


def test_a_statement_is_copied_with_others_in_the_place_of_nodes() -> None:
    module = parsed('# c\nx = f(a, "f")  # d\n\ny = 1\n')
    (call,) = module.nodes(ast.Call)
    copied = module.cst.statement(module.tree.body[0], {call.func: expr("g"), call.args[0]: expr("a + b")})
    assert changed(module, [Insert(copied, after=module.tree.body[1])]).endswith('y = 1\n# c\nx = g(a + b, "f")  # d\n')
