"""Templates read as Python."""

from __future__ import annotations

import libcst as cst
import pytest
from changing import changed, parsed

from migrator.rewrite import Insert, expr, statements


def text(node: cst.CSTNode) -> str:
    return cst.Module([]).code_for_node(node)


def parse(source: str) -> cst.BaseExpression:
    return cst.parse_expression(source)


def bare(source: str) -> cst.BaseExpression:
    """What stands in parentheses, without them."""
    return parse(source).with_changes(lpar=[], rpar=[])


def arguments(source: str) -> list[cst.Arg]:
    call = parse(f"f({source})")
    assert isinstance(call, cst.Call)
    return list(call.args)


@pytest.mark.parametrize(
    ("template", "holes", "expected"),
    [
        ("cond({p}, {a}, {b})", {"p": parse("x or y"), "a": parse("lambda: 0"), "b": "f.g"}, "cond(x or y, lambda: 0, f.g)"),
        ("{tf}.cast({x}, {tf}.int32)", {"tf": "tf.compat", "x": "y"}, "tf.compat.cast(y, tf.compat.int32)"),
        ("1 - {v}", {"v": parse("a - b")}, "1 - (a - b)"),
        ("1 - {v}", {"v": parse("(a - b)")}, "1 - (a - b)"),
        ("{v}.x", {"v": parse("1")}, "(1).x"),
        ("not {v}", {"v": parse("a or b")}, "not (a or b)"),
        ("f({args}, k=1)", {"args": []}, "f(k=1)"),
        ("f({args})", {"args": []}, "f()"),
        ("f(a, {args})", {"args": []}, "f(a)"),
        ("f({args}, k=1)", {"args": arguments("a, *b, c = d")}, "f(a, *b, c = d, k=1)"),
        ("f({args})", {"args": [parse("x"), parse("y")]}, "f(x, y)"),
        ("f({g}, {h})", {"g": arguments("x for x in y")[0].value, "h": "b"}, "f((x for x in y), b)"),
        ("f({g})", {"g": arguments("x for x in y")[0].value}, "f(x for x in y)"),
        ("f(k={g})", {"g": arguments("x for x in y")[0].value}, "f(k=(x for x in y))"),
        ("[{items}]", {"items": [parse("x"), parse("yy")]}, "[x, yy]"),
        ("f({k}=1)", {"k": "axis"}, "f(axis=1)"),
        ("{{'a{b}': {c}}}", {"b": "foo", "c": parse("1")}, "{'afoo': 1}"),
        ("self.{name}_layer({x})", {"name": "output", "x": "y"}, "self.output_layer(y)"),
        ("lambda {p}: {b}", {"p": "x", "b": "y"}, "lambda x: y"),
        ("({a}, {b})", {"a": bare("(x, y)"), "b": bare("(yield)")}, "((x, y), (yield))"),
    ],
)  # fmt: skip
def test_expressions(template: str, holes: dict[str, object], expected: str) -> None:
    filled = expr(template, **holes)  # type: ignore[arg-type]  # of several kinds
    assert text(filled) == expected
    cst.parse_expression(text(filled))


CLASS = '''
    # about
    class {name}(tf.keras.Model):
        """A {name}, with {{braces}}."""

        def call(self, {features}, training=False):
            {body}
            return {x}  # done
    '''
PARAMETERS = [cst.Param(cst.Name("a")), cst.Param(cst.Name("b"), default=parse("1"), equal=cst.AssignEqual())]


def test_statements() -> None:
    body = statements("x = 1\n# why\ny = (2,\n    3)")
    found = statements(CLASS, name="Foo", features=PARAMETERS, body=body, x=parse("x, y"))
    assert (
        "".join(map(text, found))
        == '''\
# about
class Foo(tf.keras.Model):
    """A Foo, with {braces}."""

    def call(self, a, b = 1, training=False):
        x = 1
        # why
        y = (2,
            3)
        return x, y  # done
'''
    )


def test_a_template_may_be_filled_again() -> None:
    for name in ("A", "B"):
        found = statements(CLASS, name=name, features=PARAMETERS, body=statements("pass"), x="x")
        assert text(found[0]).startswith(f"# about\nclass {name}(")


def test_layout_is_that_of_the_file() -> None:
    module = parsed("if a:\r\n\tb\r\n")
    new = statements("if c:\n    d\n    if e:\n        f")
    assert changed(module, [Insert(new, after=module.tree.body[0])]) == (
        "if a:\r\n\tb\r\nif c:\r\n\td\r\n\tif e:\r\n\t\tf\r\n"
    )


@pytest.mark.parametrize(
    ("template", "holes", "error", "message"),
    [
        ("f({x})", {}, TypeError, "holes ['x'] are given []"),
        ("f({x})", {"x": "a", "y": "b"}, TypeError, "holes ['x'] are given ['x', 'y']"),
        ("f({x!r})", {"x": "a"}, ValueError, "is no hole"),
        ("f({x})", {"x": "a + b"}, ValueError, "'a + b' is no name: give an expression"),
        ("f('{x}')", {"x": "it's"}, ValueError, "would end the text"),
        ("f('{x}')", {"x": parse("a")}, TypeError, "{x} stands in text: give text"),
        ("a + {x}", {"x": [parse("b"), parse("c")]}, TypeError, "cannot stand in {x}"),
    ],
)
def test_what_does_not_fit_is_refused(
    template: str, holes: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as found:
        expr(template, **holes)  # type: ignore[arg-type]  # that is the point
    assert message in str(found.value)


def test_a_comment_without_a_statement_is_refused() -> None:
    with pytest.raises(ValueError, match="belongs to no statement"):
        statements("a\n# b")
