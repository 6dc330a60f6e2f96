"""`tf.train.init_from_checkpoint` in a model_fn: a method of the model that gives weights the values of a checkpoint."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.effects import effects
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.names import reads
from migrator.analyse.training.updates import is_method
from migrator.analyse.variables.tf1names import names_table
from migrator.analyse.variables.variablechoices import listed
from migrator.analyse.variables.variablelists import is_trained
from migrator.emit.writer import Writer
from migrator.resolve.syntax import walk
from migrator.rewrite import Row, rows, statements, trimmed

if TYPE_CHECKING:
    from migrator.analyse.function.plan import Plan
    from migrator.emit.modelwriter import ModelWriter

METHOD = "init_from_checkpoint"
ROOTS = frozenset(f"tensorflow.{package}.init_from_checkpoint" for package in ("train", "contrib.framework"))
_SCAFFOLD = "tensorflow.train.Scaffold"
_SIGNATURE = "ckpt_dir_or_file assignment_map"
_NOUNS = {"train": "training", "eval": "evaluation", "infer": "prediction"}
_OWN = frozenset({"self", "data", "init_from_checkpoint", "tf1_variables", "create_weights"})


def starting_leaves(plan: Plan) -> set[Leaf]:
    """Statements that read first values of variables from a checkpoint, what they need, and messages about the variables.

    Raises Unsupported where a part of it is not known before data flow.
    """
    reading = {leaf for leaf in plan.flow.leaves if any(_is_root(plan, node) for node in walk(leaf.node))}
    if not reading:
        return set()
    for leaf in reading:
        if "train" not in leaf.modes:
            raise Unsupported("a checkpoint gives first values outside of the training only", leaf.node)
        if _reading_call(plan, leaf.node) is None:
            raise Unsupported("what reads first values from a checkpoint is not a statement of its own", leaf.node)
    found = set(reading)
    for leaf in effects(plan):
        if leaf not in found and "train" in leaf.modes and _is_message(plan, leaf):
            if any(_lists(plan, other) for other in _needed(plan, leaf)):
                found.add(leaf)
    for leaf in list(found):
        found |= _needed(plan, leaf)
    for leaf in found:
        if plan.time(leaf) is Time.DYNAMIC or leaf in plan.gradients:
            raise Unsupported("first values hang on a tensor", leaf.node)
    for leaf in sorted(found, key=lambda leaf: leaf.index, reverse=True):
        leaf.starting = all(reader.starting for reader in plan.flow.leaves if _reads(plan, reader, leaf))
    return found


def _is_root(plan: Plan, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and plan.module.resolve(node.func) in ROOTS


def _reading_call(plan: Plan, node: ast.AST) -> ast.Call | None:
    """The call of a statement that reads first values: by itself, or in a `scaffold_fn`, which does so on a TPU."""
    if isinstance(node, ast.FunctionDef):
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        made = body[-1].value if isinstance(body[-1], ast.Return) else None
        plain = isinstance(made, ast.Call) and not made.args and not made.keywords
        if len(body) != 2 or not isinstance(made, ast.Call) or not plain or plan.module.resolve(made.func) != _SCAFFOLD:
            return None
        node = body[0]
    call = node.value if isinstance(node, ast.Expr) else None
    return call if isinstance(call, ast.Call) and _is_root(plan, call) else None


def _without_tpu(plan: Plan, leaves: list[Leaf]) -> list[Leaf]:
    """Of two statements that do the same on a TPU and elsewhere, the one that is not in a `scaffold_fn`, for both."""
    found = list(leaves)
    for leaf in leaves:
        here = _reading_call(plan, leaf.node)
        if here is None or isinstance(leaf.node, ast.FunctionDef):
            continue
        for other in leaves:
            there = _reading_call(plan, other.node)
            if isinstance(other.node, ast.FunctionDef) and there is not None and ast.dump(there) == ast.dump(here):
                outer, (mine, its) = leaf.frames[:-1], (leaf.frames[-1:], other.frames[-1:])
                if other.frames[:-1] == outer and mine and its and mine[0].node is its[0].node and mine != its:
                    found[found.index(leaf)] = replace(leaf, frames=outer)
                    found.remove(other)
    return found


def _is_message(plan: Plan, leaf: Leaf) -> bool:
    call = leaf.node.value if isinstance(leaf.node, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    name = plan.module.resolve(call.func)
    return name not in plan.translations.summaries and plan.translations.effects(name, ast.unparse(call.func))


def _lists(plan: Plan, leaf: Leaf) -> bool:
    """Whether a statement lists variables."""
    heads = [frame.node.iter for frame in leaf.frames if isinstance(frame.node, ast.For)]
    return any(listed(plan, node) is not None for part in (leaf.node, *heads) for node in walk(part))


def _reads(plan: Plan, leaf: Leaf, source: Leaf) -> bool:
    """Whether a statement reads what another one gives a name."""
    names = plan.slicer.inputs(leaf) & source.defs
    return any(source in plan.slicer.reaching(name, leaf.index, None, leaf) for name in names)


def _needed(plan: Plan, leaf: Leaf) -> set[Leaf]:
    return {leaf} | plan.slicer.closure(plan.slicer.inputs(leaf), leaf.index, "train", leaf)


def started_elsewhere(plan: Plan) -> Iterator[tuple[ast.AST, str]]:
    """Modes that began with other values where there was no checkpoint of the model yet."""
    for leaf in plan.ordered(plan.starting):
        missing = [_NOUNS[mode] for mode in plan.specs if mode not in leaf.modes]
        if missing and any(_is_root(plan, node) for node in walk(leaf.node)):
            what = f"{' and '.join(missing)} without a checkpoint of this model"
            yield leaf.node, f"{what} begins with these values too, no longer with random ones"


class _StartWriter(Writer):
    """The statements, on the variables of the model by their names in TF1."""

    def __init__(self, generator: ModelWriter) -> None:
        super().__init__(generator.shared, "train", generator.names("train"))
        self.model = generator.plan

    def transform(self, node: ast.AST) -> str | None:
        """Lists of variables have their names in TF1; what a checkpoint gives goes to the model."""
        if isinstance(node, ast.FunctionDef):
            call = _reading_call(self.model, node)
            return self.text(call) if call is not None else None
        if isinstance(node, ast.Call):
            if self.resolve(node.func) in ROOTS:
                given = bind(node, _SIGNATURE, METHOD)
                if len(given) < 2:
                    raise Unsupported("the arguments of init_from_checkpoint are not seen", node)
                self._check_order(node)
                values = ", ".join(self.text(given[name]) for name in _SIGNATURE.split())
                return f"{self.need(METHOD)}(self, {values})"
            if listed(self.plan, node) is not None:
                self._check_order(node)
                return f"{self.need('tf1_variables')}({', '.join(['self', *self._scope(node)])})"
        return super().transform(node)

    def _scope(self, call: ast.Call) -> list[str]:
        collection = (self.resolve(call.func) or "").endswith(".get_collection")
        place = 1 if collection else 0
        given = call.args[place] if len(call.args) > place else None
        given = next((k.value for k in call.keywords if k.arg == "scope"), given)
        return [] if given is None else [self.text(given)]

    def _check_order(self, node: ast.Call) -> None:
        """Refuse to look at variables before all of them are made, or once those of an optimizer are."""
        leaf = self.plan.flow.leaf_of(node)
        later = [] if leaf is None else [site for site in self.plan.sites if site.leaf.index > leaf.index]
        # Those of a list of trained ones are not the variables of a train op, such as its counters.
        if leaf is None or (later and (any(map(is_trained, later)) or not self._is_of_trained(node, leaf))):
            raise Unsupported("first values are read before all variables are made", node)
        for other in self.plan.flow.leaves[: leaf.index]:
            if any(is_method(child, "minimize", "apply_gradients") for child in walk(other.node)):
                raise Unsupported("first values are read when the optimizer has its variables", node)

    def _is_of_trained(self, call: ast.Call, leaf: Leaf) -> bool:
        """Whether a call is, or its arguments come from, a list of variables to be trained."""
        sources = self.plan.slicer.closure(reads(call), leaf.index, "train", leaf)
        calls = [call, *(node for source in sources for node in walk(source.node) if isinstance(node, ast.Call))]
        return any(self.resolve(each.func) == "tensorflow.trainable_variables" for each in calls)


def names_kept(generator: ModelWriter) -> list[tuple[str, str]]:
    """The names of all variables in TF1, and the attributes that hold them; none where nobody asks.

    Raises Unsupported where they are not known, though one of the program's models starts from a checkpoint.
    """
    plan, facts = generator.plan, generator.shared.facts
    if not (plan.starting or facts["started"] or facts["read"] and not facts["plain"]):
        return []
    root = next((node for leaf in plan.starting for node in walk(leaf.node) if _is_root(plan, node)), plan.function)
    if plan.starting and plan.warm is not None:
        raise Unsupported("a checkpoint gives first values beside warm_start_from", root)
    try:
        return names_table(plan, root)
    except Unsupported:
        if plan.starting or facts["started"]:
            raise
        return []  # other programs are told when they read its checkpoints


def table_rows(generator: ModelWriter) -> list[Row]:
    """The names of all variables in TF1, as an attribute of the class; none where nobody asks."""
    table = names_kept(generator)
    if not table:
        return []
    unit = generator.unit
    lines = ["# Names in checkpoints of TensorFlow 1, and the attributes that hold the weights.", "tf1_names = {"]
    for name, path in table:
        line = f'{unit}"{name}": "{path}",'
        short = len(generator.indent + unit + line) <= 100
        lines += [line] if short else [f'{unit}"{name}":', f'{unit}{unit}"{path}",']
    return rows([*lines, "}"])


def start_method(generator: ModelWriter) -> Sequence[Row]:
    """The method that gives first values; none where the program does not."""
    plan = generator.plan
    leaves = [leaf for leaf in plan.ordered(plan.starting) if not plan.is_static(leaf) or not leaf.defs]
    leaves = _without_tpu(plan, leaves)
    if not leaves:
        return []
    support = generator.static_names(leaves, [])
    every = sorted({*leaves, *support}, key=lambda leaf: leaf.index)
    for leaf in every:
        if leaf.defs & _OWN:
            raise Unsupported(f"`{sorted(leaf.defs & _OWN)[0]}` is a name that the generated code needs", leaf.node)
    writer = _StartWriter(generator)
    if not generator.shared.facts["plain"]:
        return statements(
            '''
            def {method}(self):
                """Gives weights their values of a checkpoint, by their names in TensorFlow 1."""
                {body}
            ''',
            method=METHOD,
            body=trimmed(writer.rows(every)),
        )
    return statements(
        '''
        def {method}(self, data):
            """Makes weights for `data`, and gives weights their values of a checkpoint, by their names in TensorFlow 1."""
            {create_weights}(self, data.element_spec)
            {body}
        ''',
        method=METHOD,
        create_weights=generator.shared.need("create_weights"),
        body=trimmed(writer.rows(every)),
    )
