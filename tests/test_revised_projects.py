"""A project in which files changed answers as one that is made anew."""

from __future__ import annotations

import ast

import pytest

from migrator.resolve.module import Module
from migrator.resolve.project import Project

FILES = {
    "net.py": "from layers import *\n\n\ndef build(x):\n    return dense(x) + helper(x)\n\n\ndef helper(x):\n    return x\n",
    "layers.py": "def dense(x):\n    return x\n\n\ndef conv(x):\n    return x\n",
    "main.py": "import net\nfrom net import helper as other\n\nprint(net.build(1), other(2), net.dense(3))\n",
}


def project(files: dict[str, str]) -> Project:
    return Project({path: Module(path, text) for path, text in files.items()})


def answers(project: Project) -> list[tuple[str, str, str | None, list[str]]]:
    """What every name that is called stands for, and who reads what the files define."""
    found = []
    for path, module in sorted(project.modules.items()):
        for call in module.nodes(ast.Call):
            definition = project.definition(module, call.func)
            where = f"{definition.module.path}:{definition.node.lineno}" if definition is not None else None
            assert definition is None or definition.module is project.modules[definition.module.path]
            found.append((path, module.segment(call.func), where, []))
        for name in module.analysis.root.bindings:
            places = project.readers.of(module, module.analysis.root, name)
            assert all(other is project.modules[other.path] for other, _ in places)
            read = [f"{other.path}:{other.segment(node)}:{node.lineno}" for other, node in places]
            found.append((path, name, None, sorted(read)))
    return found


@pytest.mark.parametrize(
    "changed",
    [
        {"net.py": FILES["net.py"].replace("helper(x)\n\n", "helper(x) * dense(x)\n\n", 1)},  # nothing that others see
        {"net.py": FILES["net.py"].replace("helper", "assist")},
        {"net.py": FILES["net.py"].replace("from layers import *", "from layers import conv as dense")},
        {"layers.py": FILES["layers.py"].replace("def dense", "def helper")},
        {"layers.py": "__all__ = ['conv']\n" + FILES["layers.py"]},
        {"main.py": "from net import build\n\nbuild(1)\n"},
        {"main.py": FILES["main.py"].replace("other(2)", "0"), "net.py": FILES["net.py"].replace("+ helper(x)", "")},
        {"more.py": "from net import build\n\nbuild(1)\n"},
    ],
)
def test_answers_are_those_of_a_new_project(changed: dict[str, str]) -> None:
    first = project(FILES)
    before = answers(first)
    revised = first.revised({path: Module(path, text) for path, text in changed.items()})
    assert answers(revised) == answers(project(FILES | changed))
    assert answers(first) == before


def test_another_change_of_a_file() -> None:
    texts = [FILES["main.py"] + f"print(net.helper({number}))\n" for number in range(3)]
    found = project(FILES)
    for text in texts:
        answers(found)
        found = found.revised({"main.py": Module("main.py", text)})
        assert answers(found) == answers(project(FILES | {"main.py": text}))
