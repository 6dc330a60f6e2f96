"""Input functions that return tensors which are other ones at each step: random numbers, or what Python code returns.

TensorFlow 1 ran the graph of an input_fn at each step. Tensors that an input_fn returns in TensorFlow 2 are made once, so
that such a program would train on its first batch only; in a dataset they are made anew.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.function.errors import Unsupported
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project

from ..estimator_calls.estimator_values import METHODS
from ..model_fns.model_fns import PARTIAL

_SPECS = frozenset({"tensorflow.estimator.TrainSpec", "tensorflow.estimator.EvalSpec"})
_DRAWN = frozenset(
    """random_normal random_uniform truncated_normal random_shuffle random_crop random_poisson random_gamma multinomial
    py_func py_function numpy_function""".split()
)
_SEEDS = frozenset({"random.set_seed", "random.set_random_seed"})


def refuse_drawn_inputs(project: Project, module: Module) -> None:
    """Raise Unsupported where an input_fn of this module makes such tensors, and no dataset."""
    for definition in dict.fromkeys(_input_fns(project, module)):
        function, home = definition.node, definition.module
        inside = home.references_in(function)
        if any(name.startswith("tensorflow.data.") for _, name in inside):
            continue
        names = [(node, name) for node, name in inside if _directly_in(home, node, function)]
        for node, name in names:
            short = name[len("tensorflow.") :]
            if short in _DRAWN or (short.startswith("random.") and short not in _SEEDS):
                raise Unsupported(
                    f"an input_fn returns what tf.{short} gives, which is made anew at each step in TensorFlow 1 and once in "
                    "TensorFlow 2: first make it in the map of a tf.data.Dataset, or in Dataset.from_generator",
                    node,
                )


def _input_fns(project: Project, module: Module) -> Iterator[Definition]:
    """Functions that are given to Estimators or to the specs of their training and evaluation."""
    for call in module.nodes(ast.Call):
        assert isinstance(call, ast.Call)
        method = isinstance(call.func, ast.Attribute) and call.func.attr in METHODS
        if not method and module.resolve(call.func) not in _SPECS:
            continue
        given = [keyword.value for keyword in call.keywords if keyword.arg == "input_fn"] or call.args[:1]
        for value in given:
            if isinstance(value, ast.Lambda) and isinstance(value.body, ast.Call):
                value = value.body.func
            elif isinstance(value, ast.Call) and module.resolve(value.func) == PARTIAL and value.args:
                value = value.args[0]
            found = project.definition(module, value)
            if found is not None and isinstance(found.node, ast.FunctionDef):
                yield found


def _directly_in(module: Module, node: ast.AST, function: ast.AST) -> bool:
    """Whether a place belongs to a function itself, and to no function inside of it."""
    inner = module.nearest(node, (ast.FunctionDef, ast.Lambda))
    return inner is function
