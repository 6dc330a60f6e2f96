"""Recurrent loops of which only outputs, or parts of the last state, are read: as ``tf.keras.layers.RNN`` gives them.

A model_fn asks ``tf.nn.dynamic_rnn`` for a pair of outputs and state, the state in a tuple that depends on the cell; Keras
gives the parts of the state beside the outputs, if any. Both directions are two layers, of which one goes backwards.
Other loops, such as those that are given a state, keep the pair (see `rnn.loop`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.rewrite import Replace, Statement, expr, statements

from ..layers.layers import LayerTable
from ..symbols.tensorflow_names import whole_name
from .rnn import BACKWARD, FORWARD, LAYER, LOOPS, MODULES, is_standard

_SHORT = {"tensorflow.nn.dynamic_rnn": False, "tensorflow.nn.bidirectional_dynamic_rnn": True}
_LSTM = frozenset({"LSTMCell", "BasicLSTMCell", "LSTMBlockCell"})
_ONE = frozenset({"GRUCell", "BasicRNNCell"})
_AROUND = frozenset({"DropoutWrapper", "ResidualWrapper"})
_UNMASKED = "# without the mask, which losses and metrics would apply"
"""Layers of Keras hand on the mask of what they are given, as far as the losses, which count all steps in TensorFlow 1."""
_SAME = frozenset({"cast", "to_float", "convert_to_tensor", "Print"})
"""Operations that may give the tensor that they are given."""
_IGNORED = ("parallel_iterations", "swap_memory")


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The layers for a recurrent loop of which a statement takes apart what it gives; none for other calls.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        x = features["x"]
        cell = tf.nn.rnn_cell.LSTMCell(8)
        outputs, _ = tf.nn.dynamic_rnn(cell, x, sequence_length=features["lengths"], dtype=tf.float32)
        return tf.reduce_max(outputs, 1)
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        x = features["x"]
        cell = tf.nn.rnn_cell.LSTMCell(8)
        mask = tf.sequence_mask(features["lengths"], tf.shape(x)[1])
        outputs = tf.nn.dynamic_rnn.layer(cell, x, mask=mask, kernel=True)
        return tf.reduce_max(outputs, 1)
    ```
    """
    both = _SHORT.get(module.resolve(call.func) or "")
    statement = module.statement(call) if both is not None else None
    short = "bidirectional_dynamic_rnn" if both else "dynamic_rnn"
    root = whole_name(module)
    if not isinstance(statement, ast.Assign) or module.indent(statement) is None or root is None:
        return []
    try:
        given = bind(call, LOOPS[short], f"tf.nn.{short}")
    except Unsupported:
        return []
    cells = [given.pop(name, None) for name in (("cell_fw", "cell_bw") if both else ("cell",))]
    inputs, lengths, scope = given.pop("inputs", None), given.pop("sequence_length", None), given.pop("scope", None)
    for name in (*_IGNORED, "dtype"):  # another type than float32 is refused
        if name != "dtype" or is_none(given.get(name)) or module.resolve(given[name]) == "tensorflow.float32":
            given.pop(name, None)
    if any(not is_none(value) and not _is_constant(value, False) for value in given.values()):
        return []
    named = is_none(scope) or isinstance(scope, ast.Constant) and isinstance(scope.value, str)
    if inputs is None or not named or _has_initializer(drafts):
        return []
    known = [cell for cell in cells if cell is not None]
    taken = _both(module, statement, call, known) if both else _one(module, statement, call, known)
    if taken is None or len(known) < len(cells) or (both and _names(taken) & {n.id for n in _loaded(inputs)}):
        return []
    return _written(module, statement, root, known, inputs, lengths, scope, taken)


@dataclass
class Taken:
    """What is read of one direction: the name of the outputs, and the targets of the parts of the state in Keras's order."""

    outputs: str | None = None
    parts: list[str] = field(default_factory=list)
    last: bool = False
    """Whether the only part is the output of the last step."""
    reads: dict[ast.expr, str] = field(default_factory=dict)
    """Expressions that read the state, and what they are now."""


@dataclass
class Pair:
    """What is read of both directions, with the name that the pair of outputs has."""

    directions: list[Taken]
    outputs: str | None = None


def _one(module: Module, statement: ast.Assign, call: ast.Call, cells: list[ast.expr]) -> Pair | None:
    """What a statement takes of one direction; None where that is not seen, or nothing."""
    found = _targets(statement, call)
    taken = None if found is None else _taken(module, *found, cells[0])
    return None if taken is None else Pair([taken])


def _both(module: Module, statement: ast.Assign, call: ast.Call, cells: list[ast.expr]) -> Pair | None:
    """The same of both directions."""
    found = _targets(statement, call)
    if found is None:
        return None
    outputs, state = found
    first, second = state.elts if isinstance(state, ast.Tuple) and len(state.elts) == 2 else (None, None)
    if first is None and not (state is None or isinstance(state, ast.Name) and not _is_read(module, state)):
        return None
    if isinstance(outputs, ast.Tuple) and len(outputs.elts) == 2:
        directions = [_taken(module, o, s, c) for o, s, c in zip(outputs.elts, (first, second), cells)]
        name = None
    elif outputs is None or isinstance(outputs, ast.Name):
        name = outputs.id if outputs is not None and _is_read(module, outputs) else None
        directions = [_taken(module, None, s, c, bool(name)) for s, c in zip((first, second), cells)]
        for taken, end in zip(directions, ("fw", "bw")):
            if name is not None and taken is not None:
                taken.outputs = module.unused_name(f"{name}_{end}", statement)
    else:
        return None
    return None if any(taken is None for taken in directions) else Pair([t for t in directions if t is not None], name)


def _targets(statement: ast.Assign, call: ast.Call) -> tuple[ast.expr | None, ast.expr | None] | None:
    """The targets of outputs and state; None where the pair is kept."""
    if len(statement.targets) != 1:
        return None
    target, value = statement.targets[0], statement.value
    if value is call and isinstance(target, ast.Tuple) and len(target.elts) == 2:
        return target.elts[0], target.elts[1]
    if isinstance(value, ast.Subscript) and value.value is call and _is_constant(value.slice, 0):
        return target, None
    return None


def _taken(
    module: Module, outputs: ast.expr | None, state: ast.expr | None, cell: ast.expr, read: bool = False
) -> Taken | None:
    """What is read of one direction; None where that is not seen, or nothing. `read` is whether the outputs are anyway."""
    if not (outputs is None or isinstance(outputs, ast.Name)):
        return None
    taken = Taken(outputs.id if outputs is not None and _is_read(module, outputs) else None)
    kind, plain = _kind(module, cell)
    if isinstance(state, ast.Tuple):
        if kind != "lstm" or len(state.elts) != 2 or not all(isinstance(part, ast.Name) for part in state.elts):
            return None
        names = [part.id for part in state.elts if isinstance(part, ast.Name) and _is_read(module, part)]
        taken.parts = [part.id if part.id in names else "_" for part in state.elts if isinstance(part, ast.Name)]
    elif isinstance(state, ast.Name) and _is_read(module, state):
        if not _read_parts(module, state, kind, taken):
            return None
    elif state is not None and not isinstance(state, ast.Name):
        return None
    if set(taken.parts) <= {"_"}:
        taken.parts = []
    taken.last = plain and not (taken.outputs or read) and bool(taken.parts) and set(taken.parts[:-1]) <= {"_"}
    taken.last = taken.last and not taken.parts[-1].startswith("*")
    return taken if taken.outputs or taken.parts or read else None


def _read_parts(module: Module, state: ast.Name, kind: str | None, taken: Taken) -> bool:
    """Fill in the parts of a state by how a program reads it; whether that is seen."""
    scope = module.scope(state).lookup(state.id)
    if scope is None or len(scope.bindings.get(state.id, [])) != 1:
        return False
    loads = module.loads_of(state.id, scope)
    if kind == "one":
        taken.parts = [state.id]
        return True
    parts = [_part(module, load) for load in loads]
    if all(part is not None and (part[1] or kind == "lstm") for part in parts):
        read = {part[0]: part for part in parts if part is not None}
        names = {index: module.unused_name(f"{state.id}_{'ch'[index]}", state) for index in read}
        taken.parts = [names.get(index, "_") for index in range(2)]
        taken.reads = {part[2]: names[part[0]] for part in parts if part is not None}
        return True
    entries = [_entry(module, load) for load in loads]
    if kind == "stack" and all(entry is not None for entry in entries):
        taken.parts = [f"*{state.id}"]
        taken.reads = {entry[1]: f"{module.segment(entry[0])}[{entry[2]}]" for entry in entries if entry is not None}
        return True
    return False


def _part(module: Module, load: ast.expr) -> tuple[int, bool, ast.expr] | None:
    """Which part of an LSTM's state a read asks for, whether by its name, and where."""
    whole = module.parent(load)
    if isinstance(whole, ast.Attribute) and whole.attr in ("c", "h"):
        return "ch".index(whole.attr), True, whole
    if isinstance(whole, ast.Subscript) and whole.value is load:
        return next(((index, False, whole) for index in (0, 1) if _is_constant(whole.slice, index)), None)
    return None


def _entry(module: Module, load: ast.Name) -> tuple[ast.expr, ast.expr, int] | None:
    """The state of one cell of a stack that a read asks for a part of by its name, the whole expression, and the part."""
    one = module.parent(load)
    part = _part(module, one) if isinstance(one, ast.Subscript) and one.value is load else None
    if not isinstance(one, ast.Subscript) or part is None or not part[1] or isinstance(one.slice, ast.Slice):
        return None
    return one, part[2], part[0]


def _kind(module: Module, cell: ast.expr, depth: int = 0) -> tuple[str | None, bool]:
    """What the state of a cell is: ``lstm``, ``one`` (a tensor), ``stack`` or None if that is not seen; and whether its output is
    (the last part of) its state."""
    if isinstance(cell, ast.Name) and depth < 5:
        found = module.bindings(cell)
        made = [module.statement(binding.node) for binding in found]
        if not made or not all(isinstance(one, ast.Assign) and len(one.targets) == 1 for one in made):
            return None, False
        kinds = [_kind(module, one.value, depth + 1) for one in made if isinstance(one, ast.Assign)]
        wraps = [kind for kind in kinds if kind[0] != "itself"]
        return (wraps[0][0], all(k[1] for k in kinds)) if len({k[0] for k in wraps}) == 1 else (None, False)
    name = (module.resolve(cell.func) or "") if isinstance(cell, ast.Call) else ""
    short = name.rsplit(".", 1)[-1] if name.startswith(MODULES) else ""
    if isinstance(cell, ast.Call) and short in _AROUND and cell.args:
        inner = cell.args[0]
        target = module.parent(cell)
        again = isinstance(target, ast.Assign) and [ast.unparse(t) for t in target.targets] == [ast.unparse(inner)]
        return ("itself" if again else _kind(module, inner, depth + 1)[0]), False
    kind = "lstm" if short in _LSTM else "one" if short in _ONE else "stack" if short == "MultiRNNCell" else None
    return kind, kind in ("lstm", "one")


def _has_kernel(module: Module, cell: ast.expr) -> bool:
    """Whether a cell is, or may hold, an LSTM that one kernel runs over whole sequences."""
    if _kind(module, cell)[0] == "one":
        return False
    for call in module.nodes(ast.Call):
        name = module.resolve(call.func) or ""
        if name.startswith(MODULES) and name.rpartition(".")[2] in _LSTM and is_standard(call, name.rpartition(".")[2]):
            return True
    return False


def _is_constant(node: ast.expr, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value is value


def _is_read(module: Module, name: ast.Name) -> bool:
    return bool(module.loads_of(name.id, module.scope(name).lookup(name.id)))


def _is_computed_on(module: Module, statement: ast.Assign, pair: str | None, outputs: str) -> bool:
    """Whether operations alone read outputs, or the pair of them: what these give has no mask, which layers would hand on."""
    known = LayerTable("columns")
    loads = module.loads_of(pair or outputs, module.scope(statement).lookup(pair or outputs))
    for load in loads:
        parent = module.parent(load)
        if isinstance(parent, (ast.List, ast.Tuple)):
            parent = module.parent(parent)
        name = (module.resolve(parent.func) or "") if isinstance(parent, ast.Call) else ""
        computed = name.startswith("tensorflow.") and name not in known and not name.startswith("tensorflow.keras.")
        computed = computed and name.rpartition(".")[2] not in _SAME
        if not computed and (pair or not isinstance(parent, (ast.BinOp, ast.Subscript))):
            return False
    return True


def _loaded(node: ast.expr) -> Iterator[ast.Name]:
    return (n for n in ast.walk(node) if isinstance(n, ast.Name))


def _names(pair: Pair) -> set[str]:
    return {name for taken in pair.directions for name in (taken.outputs, *taken.parts) if name}


def _has_initializer(drafts: Drafts) -> bool:
    """Whether a scope of the program may have an initializer, for kernels too."""
    for module in drafts.project.modules.values():
        for call in module.nodes(ast.Call) if b"variable_scope" in module.source else ():
            scope = (module.resolve(call.func) or "").endswith("variable_scope")
            if scope and any(keyword.arg in ("initializer", None) for keyword in call.keywords):
                return True
    return False


def _written(
    module: Module,
    statement: ast.Assign,
    root: str,
    cells: list[ast.expr],
    inputs: ast.expr,
    lengths: ast.expr | None,
    scope: ast.expr | None,
    pair: Pair,
) -> list[Change]:
    """The statements of the layers."""
    file = module.cst
    given = file.expression(inputs)
    new: list[Statement] = []
    masked = not is_none(lengths)
    if not isinstance(inputs, ast.Name) and (masked or len(cells) > 1):
        name = module.unused_name("inputs", statement)
        new += statements("{name} = {inputs}", name=name, inputs=given)
        given = expr(name)
    if masked and lengths is not None:
        wanted = ("mask", "step_mask")
        mask = next((n for n in wanted if n == module.unused_name(n, statement)), module.unused_name("mask", statement))
        template = f"{{mask}} = {root}.sequence_mask({{lengths}}, {root}.shape({{inputs}})[1])"
        new += statements(template, mask=mask, lengths=file.expression(lengths), inputs=given)
    for taken, cell, mark in zip(pair.directions, cells, (FORWARD, BACKWARD) if len(cells) > 1 else (LAYER,)):
        told = ["mask=" + mask] if masked else []
        told += ["return_sequences=False"] if not taken.outputs else []
        told += ["return_state=True"] if taken.parts and not taken.last else []
        told += ["kernel=True"] if _has_kernel(module, cell) else []
        if isinstance(scope, ast.Constant) and isinstance(scope.value, str):
            end = {FORWARD: "/fw", BACKWARD: "/bw", LAYER: ""}[mark]
            told.append(f"scope={scope.value + end!r}")
        text = (
            f"{root}.nn.dynamic_rnn.{mark.rsplit('.', 1)[1]}({{cell}}, {{inputs}}{''.join(', ' + one for one in told)})"
        )
        if taken.last:
            left = taken.parts[-1]
        else:
            left = ", ".join([taken.outputs or "_", *taken.parts])
        around = ("", "")
        if mark == BACKWARD and taken.outputs:
            around = f"{root}.reverse(", ", axis=[1])"
        elif masked and taken.outputs and not _is_computed_on(module, statement, pair.outputs, taken.outputs):
            around = f"{root}.identity(", f")  {_UNMASKED}"
        if taken.parts:
            new += statements(f"{left} = {text}", cell=file.expression(cell), inputs=given)
            if around[0]:
                new += statements(f"{taken.outputs} = {around[0]}{taken.outputs}{around[1]}")
        else:
            new += statements(f"{left} = {around[0]}{text}{around[1]}", cell=file.expression(cell), inputs=given)
    if pair.outputs:
        names = ", ".join(taken.outputs or "" for taken in pair.directions)
        new += statements(f"{pair.outputs} = ({names})")
    reads = [Replace(node, expr(text)) for taken in pair.directions for node, text in taken.reads.items()]
    return Change.of(module, Replace(statement, new), *reads)
