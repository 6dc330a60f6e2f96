"""What an expression may stand for, and where that is not seen."""

from __future__ import annotations

import ast

import pytest
from migrator.rules.loop.values import values_of

from migrator.normalise.values.possible_values import display, possible_values, text_of
from migrator.resolve.module import Module
from migrator.resolve.project import Project

HEAD = "def deep():\n    pass\n\n\ndef wide():\n    pass\n\n\n"
CLOSURE = "def outer(table):\n    def inner(name):\n        use(table[name])\n    return inner\n\n\n"
CHOICE = "def choose(name):\n    if name:\n        return deep\n    return {}\n\n\nuse(choose(NAME))\n"


def project_of(source: str, **files: str) -> tuple[Project, Module, ast.expr]:
    """A program, and what it gives to its call of `use`."""
    texts = {"program.py": HEAD + source, **{f"{name}.py": text for name, text in files.items()}}
    project = Project({path: Module(path, text) for path, text in texts.items()})
    module = project.modules["program.py"]
    calls = [call for call in module.nodes(ast.Call) if isinstance(call.func, ast.Name) and call.func.id == "use"]
    return project, module, calls[0].args[0]


def found(source: str, whole: bool = False, **files: str) -> str:
    """The values, or why they are not seen."""
    values = possible_values(*project_of(source, **files), whole=whole)
    return values.stuck.reason if values.stuck is not None else " ".join(m.segment(v) for m, v in values.values)


@pytest.mark.parametrize(
    ("source", "values"),
    [
        ("use(deep)\n", "deep"),
        ("one = deep\nuse(one)\n", "deep"),
        ("use(deep if WIDE else wide)\n", "deep wide"),
        ("T = {'a': deep, 'b': wide}\nuse(T[NAME])\n", "deep wide"),
        ("T = {'a': deep}\nuse(T.get(NAME, wide))\n", "deep wide"),
        ("T = dict(a=deep, **dict(b=wide))\nuse(T[NAME])\n", "deep wide"),
        ("T = {'a': deep, **{'b': wide}}\nuse(T[NAME])\n", "deep wide"),
        ("T = {'x': {'a': deep}, 'y': {'a': wide}}\nuse(T[X][NAME])\n", "deep wide"),
        ("T = {1: {'f': deep, 'n': 3}, 2: dict(f=wide, n=4)}\np = T[NAME]\nuse(p['f'])\n", "deep wide"),
        ("T = {'a': deep, 'b': 3, **{'a': wide}}\nuse(T['a'])\n", "deep wide"),
        ("T = {'a': deep, KEY: wide}\nuse(T.get('a'))\n", "deep wide"),
        (CLOSURE + "outer({'a': deep})\nouter(dict(b=wide))\n", "deep wide"),
        (CLOSURE + "T = {'a': deep}\nouter(table=T, **MORE)\n", "deep"),
        ("def f(one=deep):\n    use(one)\n\n\nf()\nf(wide)\n", "deep wide"),
        ("class A:\n    def f(self, one):\n        use(one)\n\n\na = A()\na.f(deep)\na.f(one=wide)\n", "deep wide"),
        (CHOICE.format("wide"), "deep wide"),
        (CHOICE.format("{'a': wide}[name]"), "deep wide"),
        ("for one in (deep, wide):\n    use(one)\n", "deep wide"),
        ("for name, one in {'a': deep}.items():\n    use(one)\n", "deep"),
        ("def f(one):\n    use(one)\n\n\nshow(f)\n", "the function is handed around"),
        ("def f(one):\n    use(one)\n\n\nf(*ALL)\n", "arguments are hidden behind * or **"),
        ("def f(*all):\n    use(all)\n\n\nf(deep)\n", "arguments are gathered by * or **"),
        ("def f(one):\n    use(one)\n", "nobody calls the function"),
        ("@cached\ndef f(one):\n    use(one)\n\n\nf(deep)\n", "who calls the function is not seen"),
        ("def f(one):\n    use(one)\n    f(one)\n\n\nf(deep)\n", "it is handed on too often"),
        (CHOICE.format("load(name)"), "choose(NAME)"),
        (CHOICE.format("(yield)"), "choose(NAME)"),
        ("T = load()\nuse(T[NAME])\n", "what the table holds is not seen"),
        ("for one in load():\n    use(one)\n", "one"),
        ("with a as one:\n    use(one)\n", "one"),
    ],
)
def test_values(source: str, values: str) -> None:
    assert found(source) == values


def test_names_of_other_files() -> None:
    zoo = "def small():\n    pass\n\n\nT = {'a': small}\nONE = small\n"
    again = "from zoo import T as TABLE, ONE\n"
    assert found("import zoo\nuse(zoo.T[NAME])\n", zoo=zoo) == "small"
    assert found("from again import TABLE\nuse(TABLE[NAME])\n", zoo=zoo, again=again) == "small"
    assert found("from again import *\nuse(ONE)\n", zoo=zoo, again=again) == "small"


def test_what_names_hold() -> None:
    assert found("N = make(3)\nuse(N)\n") == "N"
    assert found("N = make(3)\nuse(N)\n", whole=True) == "make(3)"
    assert sorted(found("N = None\nN = 3\nuse(N)\n", whole=True).split()) == ["3", "None"]


@pytest.mark.parametrize(
    ("more", "count"), [("", 1), ("'n' in P\n", 1), ("P['n'] = 5\n", 0), ("P.update(MORE)\n", 0), ("change(P)\n", 0)]
)
def test_what_a_dict_holds_is_seen_where_nothing_changes_it(more: str, count: int) -> None:
    assert len(values_of(*project_of(f"P = {{'n': 3}}\n{more}use(P['n'])\n"))) == count


def test_a_display_has_a_name() -> None:
    assert display(*project_of("T = {'a': deep}\nuse(T)\n")) is not None
    assert display(*project_of("def f(table):\n    use(table)\n\n\nf({'a': deep})\n")) is None
    assert display(*project_of("use({'a': deep})\n")) is None
    assert display(*project_of("T = {'a': deep, **MORE}\nuse(T)\n")) is None


OWN = """class H:
    def __init__(self, name='a'):
        self.name, self.n = name, 0

    def begin(self):
        use(self.name)


"""


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (OWN + "H()\n", "a"),
        (OWN + "H('b')\n", "b"),
        (OWN + "H('b')\nH('c')\n", None),
        (OWN + "H(NAME)\n", None),
        (OWN + "N = 'b'\nH(name=N)\n", "b"),
        (OWN + "h = H()\nh.name = 'b'\n", None),
        (OWN + "class I(H):\n    def f(self):\n        self.name = 'b'\n\n\nH()\n", None),
        (OWN + "class I:\n    def f(self):\n        self.name = 'b'\n\n\nH()\n", "a"),
        (OWN.replace("self.name, self.n = name, 0", "self.name, self.n = load()") + "H()\n", None),
        (OWN.replace("self.n = name", "self.n = 1 + name") + "H()\n", None),
        ("use('a' if X else 'a')\n", "a"),
    ],
)
def test_the_text_of_an_attribute(source: str, text: str | None) -> None:
    assert text_of(*project_of(source)) == text
