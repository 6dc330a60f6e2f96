"""Changes of expressions: what is written, and how little of the file that takes."""

from __future__ import annotations

import ast
import random
import subprocess
import sys
from pathlib import Path

import pytest
from changing import HOSTILE, changed, first, parsed

from migrator.engine.fixes import splice
from migrator.resolve.module import Module
from migrator.rewrite import Conflict, Import, Insert, Remove, Rename, Replace, Unprintable, expr, with_arguments


def calls(module: Module) -> list[ast.Call]:
    return sorted(module.nodes(ast.Call), key=lambda call: (call.lineno, call.col_offset, -(call.end_col_offset or 0)))


def texts(module: Module, *changes: Replace) -> list[tuple[str, str]]:
    return [(module.segment((edit.start, edit.end)), edit.text) for edit in module.cst.apply(changes)]


def test_what_the_new_code_holds_of_the_old_stays_the_bytes_it_is() -> None:
    module = parsed("x = tf.to_int32(f(y,  # c\n  z))\n")
    call = calls(module)[0]
    change = Replace(call, expr("tf.cast({x}, tf.int32)", x=module.cst.expression(call.args[0])))
    assert texts(module, change) == [("tf.to_int32", "tf.cast"), ("", ", tf.int32")]
    assert changed(module, [change]) == "x = tf.cast(f(y,  # c\n  z), tf.int32)\n"


def test_a_keyword_that_is_added_is_one_insertion() -> None:
    module = parsed("f(g(x), y)  # c\n")
    outer, inner = calls(module)
    more = Replace(outer, with_arguments(module.cst.call(outer), add={"k": "v"}))
    other = Replace(inner, with_arguments(module.cst.call(inner), add={"k": "w"}))
    assert texts(module, more) == [("", ", k=v")]
    assert texts(module, other) == [("", ", k=w")]
    assert changed(module, [more, other]) == "f(g(x, k=w), y, k=v)  # c\n"


def test_arguments_that_change_places_go_as_a_whole() -> None:
    module = parsed("f(aaaa(b), c)\n")
    first_, second = (module.cst.expression(arg) for arg in calls(module)[0].args)
    change = Replace(calls(module)[0], expr("f({c}, {a})", c=second, a=first_))
    assert changed(module, [change]) == "f(c, aaaa(b))\n"
    assert sum(len(old) for old, _ in texts(module, change)) < len("aaaa(b)")


def test_a_node_may_be_used_twice() -> None:
    module = parsed("x = f((a), b)\n")
    call = calls(module)[0]
    arg = module.cst.expression(call.args[0])
    assert changed(module, [Replace(call, expr("g({a}, {a})", a=arg))]) == "x = g((a), (a))\n"


def test_changes_of_code_that_another_change_takes_over_are_made_in_it() -> None:
    module = parsed("x = g(f(y), h)\n")
    outer, inner = calls(module)
    swap = expr("tf.swap({b}, {a})", a=module.cst.expression(outer.args[0]), b=module.cst.expression(outer.args[1]))
    changes = [Replace(outer, swap), Replace(inner.func, "tf.k.f")]
    assert changed(module, changes) == "x = tf.swap(h, tf.k.f(y))\n"


@pytest.mark.parametrize("mode", ['"train"', "'train'"])
def test_a_name_becomes_a_string_where_its_call_changes_as_well(mode: str) -> None:
    module = parsed("x = f(modes.TRAIN)\n")
    (call,) = calls(module)
    moved = Replace(call, expr("g({mode})", mode=module.cst.expression(call.args[0])))
    assert changed(module, [moved, Replace(call.args[0], mode)]) == f"x = g({mode})\n"


def test_what_a_renamed_member_is_of_may_change_as_well() -> None:
    module = parsed("x = f(a(px).make(1))\n")
    outer, made, inner = sorted(calls(module), key=lambda call: -(call.end_col_offset or 0))
    assert isinstance(made.func, ast.Attribute)
    changes = [Rename(made.func, "build"), Rename(inner.args[0], "x")]  # type: ignore[arg-type]
    assert changed(module, changes) == "x = f(a(x).build(1))\n"
    moved = Replace(outer, expr("g({made})", made=module.cst.expression(made)))
    assert changed(module, [moved, *changes]) == "x = g(a(x).build(1))\n"


def test_a_change_of_code_that_is_taken_away_is_a_conflict() -> None:
    module = parsed("x = g(f(y), h)\n")
    outer, inner = calls(module)
    with pytest.raises(Conflict, match=r"p\.py:1:7: a change of code that another change takes away"):
        module.cst.apply([Replace(outer, expr("g(1)")), Replace(inner, "a.b")])
    with pytest.raises(Conflict, match="two changes"):
        module.cst.apply([Replace(outer, expr("g(1)")), Replace(outer, expr("g(2)"))])


def test_an_optional_change_goes_with_the_code_that_is_taken_away() -> None:
    module = parsed("x = g(f(y), h)\n")
    outer, inner = calls(module)
    changes = [Replace(outer, expr("g(1)")), Replace(inner.func, "a.b", optional=True)]
    assert changed(module, changes) == "x = g(1)\n"


def test_code_that_gets_parentheses_where_it_goes_changes_there() -> None:
    module = parsed("x = f(a\n  .b(c), 1)\n")
    outer, inner = calls(module)
    changes = [
        Replace(outer, expr("{x}.d", x=module.cst.expression(outer.args[0]))),
        Replace(inner, expr("g({x})", x=module.cst.expression(inner))),
        Replace(inner.args[0], "e"),
    ]
    assert changed(module, changes) == "x = (g(a\n  .b(e))).d\n"


def test_the_same_change_twice_is_one() -> None:
    module = parsed("f(x)\n")
    change = Replace(calls(module)[0].func, "g")
    assert changed(module, [change, change]) == "g(x)\n"


@pytest.mark.parametrize(
    ("source", "kind", "template", "expected"),
    [
        ("x = not(y)\n", ast.UnaryOp, "f({x})", "x = f(not(y))\n"),
        ("x = a.b\n", ast.Attribute, "{x} or c", "x = a.b or c\n"),
        ("x = 2 * f(y)\n", ast.Call, "{x} + 1", "x = 2 * (f(y) + 1)\n"),
        ("x = (2) * (f(y))\n", ast.Call, "{x} + 1", "x = (2) * ((f(y)) + 1)\n"),
        ("x = 2 * (f(y))\n", ast.Call, "z + 1", "x = 2 * (z + 1)\n"),
        ("x = (a\n     .b())\n", ast.Call, "f({x})", "x = f((a\n     .b()))\n"),
        ("x = f(a\n     .b)\n", ast.Attribute, "{x}.c", "x = f((a\n     .b).c)\n"),
        ("f(x for x in y)\n", ast.GeneratorExp, "g({x})", "f(g(x for x in y))\n"),
        ("f(x for x in y)\n", ast.GeneratorExp, "z", "f(z)\n"),
        ("for x in 1, 2: pass\n", ast.Tuple, "f({x})", "for x in f((1, 2)): pass\n"),
        ("with a() as b: pass\n", ast.Call, "{x}.c", "with a().c as b: pass\n"),
        ("@a()\ndef b(): pass\n", ast.Call, "c({x})", "@c(a())\ndef b(): pass\n"),
        ("def b(c=d()): pass\n", ast.Call, "lambda: {x}", "def b(c=lambda: d()): pass\n"),
        ("x = a if f()else 2\n", ast.Call, "a", "x = a if a else 2\n"),
        ("assert(f())\n", ast.Call, "a, b", "assert(a, b)\n"),
        ("x = 'é', f(y)\n", ast.Call, "g({x})", "x = 'é', g(f(y))\n"),
    ],
)
def test_an_expression_gets_the_parentheses_and_blanks_that_its_place_needs(
    source: str, kind: type[ast.expr], template: str, expected: str
) -> None:
    module = parsed(source)
    node = first(module, kind)
    holes = {"x": module.cst.expression(node)} if "{x}" in template else {}
    assert changed(module, [Replace(node, expr(template, **holes))]) == expected


_TEMPLATES = (
    "f({x})", "{x}.a", "{x} + 1", "1 - {x}", "not {x}", "[{x}]", "{x} if a else b", "(lambda: {x})", "{x}[0]", "-{x}",
    "{x} ** 2", "f({x}, k={x})",
)  # fmt: skip


class _Filled(ast.NodeTransformer):
    """What a change does, on a tree of `ast`."""

    def __init__(self, templates: dict[ast.expr, str]) -> None:
        self.templates = templates

    def visit(self, node: ast.AST) -> ast.AST:
        new: ast.AST = self.generic_visit(node)
        template = self.templates.get(node) if isinstance(node, ast.expr) else None
        if template is None:
            return new
        return ast.parse(template.replace("{x}", f"({ast.unparse(new)})"), mode="eval").body


def may_change(module: Module, node: ast.AST) -> bool:
    around = [node, *module.ancestors(node)]
    if any(isinstance(one, ast.JoinedStr) or type(one).__name__.startswith(("Match", "match_")) for one in around):
        return False
    if not isinstance(node, ast.expr) or isinstance(node, (ast.Starred, ast.Slice)):
        return False
    parent = module.parent(node)
    in_subscript = isinstance(node, ast.Tuple) and isinstance(parent, ast.Subscript)
    return (
        isinstance(getattr(node, "ctx", ast.Load()), ast.Load) and not isinstance(parent, ast.Expr) and not in_subscript
    )


@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE)
def test_any_expressions_may_be_wrapped_at_once(source: str) -> None:
    choice = random.Random(len(source))
    for _ in range(25):
        module = parsed(source)
        nodes = [node for node in ast.walk(module.tree) if may_change(module, node)]
        templates = {
            node: choice.choice(_TEMPLATES) for node in choice.sample(nodes, min(len(nodes), choice.randint(1, 4)))
        }
        file = module.cst
        edits = file.apply([Replace(node, expr(text, x=file.expression(node))) for node, text in templates.items()])
        result = splice(module.source, edits).decode()
        wanted = ast.unparse(ast.fix_missing_locations(_Filled(templates).visit(module.tree)))
        assert ast.unparse(ast.parse(result)) == wanted, [ast.unparse(node) for node in templates]


def test_a_name_takes_the_place_of_a_name_without_libcst() -> None:
    code = """
import sys
from migrator.resolve.module import Module
from migrator.rewrite import Import, Remove, Replace
module = Module("p.py", "import tensorflow as tf\\nx = 1\\ntf.foo(x)\\n")
call = module.tree.body[2].value
changes = [Replace(call.func, "tf.bar"), Import("import a"), Remove(module.tree.body[1])]
print([edit.text for edit in module.cst.apply(changes)], "libcst" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "['import a\\n', '', 'tf.bar'] False\n"


def test_identifiers_are_renamed_without_what_stands_around_them() -> None:
    module = parsed("def f(a: int, b=(c . d)(e = g)):\n    return a\n")
    call, function = calls(module)[0], first(module, ast.FunctionDef)
    assert isinstance(call.func, ast.Attribute)
    changes = [Rename(call.func, "x"), Rename(call.keywords[0], "y"), Rename(function.args.args[0], "z")]
    assert changed(module, changes) == "def f(z: int, b=(c . x)(y = g)):\n    return a\n"
    outer = Replace(call, expr("h({x})", x=module.cst.call(call)))
    assert changed(module, [*changes, outer]) == "def f(z: int, b=h((c . x)(y = g))):\n    return a\n"


def test_an_identifier_that_is_written_in_another_way_stays() -> None:
    module = parsed("f(\ufb01=1)\n")  # which Python reads as `fi`
    with pytest.raises(Unprintable, match="fi is written in another way here"):
        module.cst.apply([Rename(calls(module)[0].keywords[0], "x")])


def test_libcst_is_not_imported_to_look(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import tensorflow as tf\n\ntf.print(1)\n")
    code = "import sys; from migrator.cli.cli import main; sys.argv = ['migrate', '.', '--jobs', '1']\n"
    code += "try: main()\nexcept SystemExit: print('libcst' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path)
    assert done.stdout.endswith("False\n"), done.stdout + done.stderr


def test_imports_stand_where_imports_of_their_kind_do() -> None:
    module = parsed('"""A."""\n\nimport os\nimport tensorflow as tf\n\ntf.a(x)\n')
    changes = [Import("import tensorflow.b as b"), Replace(calls(module)[0].func, "b.a")]
    assert changed(module, changes) == (
        '"""A."""\n\nimport os\nimport tensorflow.b as b\nimport tensorflow as tf\n\nb.a(x)\n'
    )


def test_what_libcst_cannot_print_is_refused_with_its_place() -> None:
    module = parsed("x = 1\ntry:\n    a(b)\nexcept f(X) :\n    c\n")
    with pytest.raises(Unprintable, match=r"p\.py:4:1: libcst prints this statement in another way than it is written"):
        module.cst.apply([Replace(calls(module)[1], expr("z + 1"))])
    assert changed(module, [Replace(calls(module)[0], expr("z + 1"))]).startswith("x = 1\ntry:\n    z + 1\n")


def test_lines_know_where_they_were_written() -> None:
    module = parsed("def f(a):\n    # hi\n    x = (1,\n         2)  # c\n    return 2\n")
    function = module.tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    moved = module.cst.statement(function.body[0])
    written = module.cst.written([Remove(function.body[0]), Insert(moved, before=function)])
    assert [one.edit.text for one in written] == ["# hi\nx = (1,\n     2)  # c\n", ""]
    assert written[0].origins == (("p.py", 2), ("p.py", 3), ("p.py", 4))
