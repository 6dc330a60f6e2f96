"""Changes of comments and of what is imported, which take no libcst."""

from __future__ import annotations

import ast

import pytest
from changing import changed, first, parsed

from migrator.rewrite import Comments, Insert, Remove, Rename, Unprintable, statements


def test_comments_above_a_statement_become_others() -> None:
    module = parsed("if x:\n    # a\n    # b\n    y = 1  # c\n")
    assign = first(module, ast.Assign)
    assert changed(module, [Comments(assign, ("# a", "# d", "# e"))]) == (
        "if x:\n    # a\n    # d\n    # e\n    y = 1  # c\n"
    )
    assert changed(module, [Comments(assign, ())]) == "if x:\n    y = 1  # c\n"
    assert module.cst.apply([Comments(assign, ("# a", "# b"))]) == []


def test_comments_stay_where_their_statement_goes() -> None:
    module = parsed("if x:\r\n    # a\r\n    y = 1  # c\r\n")
    assign = first(module, ast.Assign)
    assert changed(module, [Comments(assign, ("# a", "# d")), Remove(assign)]) == (
        "if x:\r\n    # a\r\n    # d\r\n    pass  # c\r\n"
    )


def test_comments_stand_between_what_is_inserted_and_the_statement() -> None:
    module = parsed("@d\ndef f(): pass\n")
    function = first(module, ast.FunctionDef)
    changes = [Comments(function, ("# a",)), Insert(statements("x = 1"), before=function)]
    assert changed(module, changes) == "x = 1\n# a\n@d\ndef f(): pass\n"


def test_what_is_imported_gets_names() -> None:
    module = parsed("from ..a import (b, # c\n  d as e)\nimport f . g\n")
    imported, whole = first(module, ast.ImportFrom), first(module, ast.Import)
    changes = [
        Rename(imported, "h"),
        Rename(imported.names[0], "i", bound="b"),
        Rename(imported.names[1], "e", bound="e"),
    ]
    assert changed(module, changes) == "from ..h import (i as b, # c\n  e)\nimport f . g\n"
    with pytest.raises(Unprintable, match="f.g is written in another way here"):
        module.cst.apply([Rename(whole.names[0], "j")])


def test_a_module_that_is_named_in_parts_is_not_renamed() -> None:
    module = parsed("from . a . b import c\n")
    with pytest.raises(Unprintable, match="a.b is written in another way here"):
        module.cst.apply([Rename(first(module, ast.ImportFrom), "x")])
