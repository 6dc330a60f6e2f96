"""Statements that move: into the body of a function, in the place of others, and what becomes of blank lines and comments."""

from __future__ import annotations

import ast

from changing import changed, first, parsed

from migrator.rewrite import (
    Insert,
    Remove,
    Replace,
    code,
    commented,
    in_its_line,
    lines,
    spaced,
    statements,
    with_arguments,
    with_body,
    with_function,
    with_remark,
)

RUN = "a = 1\nb = f(a,\n      2)  # c\n\n# d\nc = b\nd = 3\n"


def test_statements_in_a_row_keep_the_blank_line_between_them() -> None:
    module = parsed(RUN)
    body = module.tree.body
    (function,) = statements("def g(a):\n    {body}", body=module.cst.statements(body[1:3]))
    after = "a = 1\ndef g(a):\n    b = f(a,\n          2)  # c\n\n    # d\n    c = b\nd = 3\n"
    assert changed(module, [Replace(body[1], function), Remove(body[2])]) == after


def test_what_moves_into_the_place_before_it_changes_by_its_indentation_alone() -> None:
    module = parsed("x = y\nz = f(x)\nw = g(z)\n")
    body = module.tree.body
    (function,) = statements("def h():\n    {body}", body=module.cst.statements(body[1:]))
    edits = module.cst.apply([Replace(body[0], function), Remove(body[1]), Remove(body[2])])
    assert edits and all("f(x)" not in edit.text and "g(z)" not in edit.text for edit in edits)


def test_a_comment_behind_the_place_stays_where_what_moves_has_none() -> None:
    module = parsed("x = y  # why\nz = f(x)\n")
    body = module.tree.body
    (function,) = statements("def h():\n    {body}", body=module.cst.statements(body[1:]))
    assert "# why" in changed(module, [Replace(body[0], function), Remove(body[1])])
    headed = with_remark(function, module.cst.statement(body[0]))
    assert changed(module, [Replace(body[0], headed), Remove(body[1])]) == "def h():  # why\n    z = f(x)\n"


def test_another_body_keeps_the_head() -> None:
    module = parsed("# a\nif x(1):  # b\n    return y\nelse:\n    z\n")
    node = first(module, ast.If)
    new = with_body(module.cst.statement(node), lines("y = 1"), lines("z = 2"))
    assert changed(module, [Replace(node, new)]) == "# a\nif x(1):  # b\n    y = 1\nelse:\n    z = 2\n"
    alone = with_body(module.cst.statement(node), lines("y = 1"), [])
    assert changed(module, [Replace(node, alone)]) == "# a\nif x(1):  # b\n    y = 1\n"


def test_statements_in_a_line_take_its_comments() -> None:
    module = parsed("def f():\n    # a\n    return g(1)  # b\n")
    node = first(module, ast.Return)
    new = in_its_line(module.cst.statement(node), lines("x = 1\ny = 2"))
    assert changed(module, [Replace(node, new)]) == "def f():\n    # a\n    x = 1\n    y = 2  # b\n"


def test_comments_of_both_stay() -> None:
    module = parsed("# old\nx = 1\n")
    node = module.tree.body[0]
    new = commented(module.cst.statement(node), lines("# new\ny = 2"))
    assert changed(module, [Replace(node, new)]) == "# old\n# new\ny = 2\n"


def test_a_blank_line_is_put_above() -> None:
    module = parsed("if a:\n    x\n    y\n")
    block = first(module, ast.If).body
    assert changed(module, [Replace(block[1], spaced(lines("def z():\n    pass")))]) == (
        "if a:\n    x\n\n    def z():\n        pass\n"
    )


def test_definitions_are_set_off_on_both_sides() -> None:
    module = parsed("import a\nx = 1\n")
    new = Insert(lines("def f():\n    pass"), before=module.tree.body[1], above=True, apart=True)
    assert changed(module, [new]) == "import a\n\n\ndef f():\n    pass\n\n\nx = 1\n"


def test_names_stand_for_others() -> None:
    module = parsed("x = a * (b + c)\n")

    def instead(node: ast.AST) -> object:
        return code("d + 1") if isinstance(node, ast.Name) and node.id == "a" else None

    node = module.tree.body[0]
    new = module.cst.substituted(node, instead)  # type: ignore[arg-type]
    assert changed(module, [Replace(node, new)]) == "x = (d + 1) * (b + c)\n"


def test_arguments_of_another_call_take_the_place_of_one() -> None:
    module = parsed("e = E(partial(\n    f,\n    a=1,  # A\n    b=2), c=3, d=4)\n")
    outer = first(module, ast.Call)
    inner = outer.args[0]
    assert isinstance(inner, ast.Call)
    made = with_function(module.cst.call(outer), "f")
    new = with_arguments(made, spread={0: (module.cst.call(inner), 1)}, drop=[1])
    assert changed(module, [Replace(outer, new)]) == "e = f(\n    a=1,  # A\n    b=2, d=4)\n"
