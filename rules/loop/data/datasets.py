"""What an input function returns: a `tf.data.Dataset`, as far as that is seen, and whether it ends.

The functions are read with the arguments that they get, so `make_input_fn(96, repeat=True)` is another dataset than
`make_input_fn(32, repeat=False)`. What is not understood is None, and nothing is said of it.
"""

from __future__ import annotations

import ast
import functools
import operator
import re
from collections.abc import Mapping
from dataclasses import replace

from migrator.normalise.draft.arguments import defaults, parameters
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.redefined import defined_above
from migrator.resolve.syntax import walk

from ..values import are_tensors, entry_of, given_to, unpacking
from .bodies import Body, bind
from .kinds import Count, Data, Env, Function, Gathered, Known, Object, Returns, Splits, Value, either, is_whole
from .methods import methods, properties
from .objects import initializer, kept
from .options import is_count
from .prepared import LOAD, SPLIT, prepared

_DATASET = "tensorflow.data.Dataset."
_PRIVATE = "tensorflow.python.data."
"""Where programs of TensorFlow 1 found the same."""
_COUNTED = frozenset({"from_tensor_slices", "from_tensors", "range", "list_files"})
_ITERATORS = ("make_one_shot_iterator", "make_initializable_iterator")
_READERS = frozenset(
    f"tensorflow.{name}"
    for name in (
        *("data.TFRecordDataset", "data.TextLineDataset", "data.FixedLengthRecordDataset"),
        *("data.experimental.CsvDataset", "data.experimental.SqlDataset", "contrib.data.CsvDataset"),
        "contrib.data.SqlDataset",
    )
)
_INHERITED = re.compile(r"^tensorflow\.data\.(TFRecord|TextLine|FixedLengthRecord)Dataset\.(?=\w)")
"""What makes a dataset is found at classes of them, too."""
_SAME = frozenset("map batch prefetch shuffle cache with_options enumerate shard scan snapshot".split())
_UNCOUNTED = frozenset(
    "filter unbatch take_while flat_map interleave group_by_window rejection_resample unique".split()
)
_FAMILIES = ("tensorflow.data.experimental.", "tensorflow.contrib.data.")
_EPOCHS = {"make_csv_dataset": 10, "make_batched_features_dataset": 6}
"""Functions that read files again and again, with the place of `num_epochs` among their arguments."""
_ENDLESS = frozenset({"Counter", "RandomDataset"})
_APPLIED_SAME = frozenset(
    """map_and_batch map_and_batch_with_legacy_function batch_and_drop_remainder prefetch_to_device copy_to_device
    assert_cardinality scan enumerate_dataset""".split()
)
_APPLIED_UNCOUNTED = frozenset(
    """parallel_interleave sloppy_interleave ignore_errors unbatch group_by_window take_while rejection_resample
    unique""".split()
)
_UNEVEN = frozenset(
    """bucket_by_sequence_length padded_batch_and_drop_remainder dense_to_ragged_batch ragged_batch dense_to_sparse_batch
    sparse_batch""".split()
)
"""What makes batches of several lengths, of a number that is not known."""
_ARRAYS = frozenset(f"tensorflow.estimator.inputs.{name}" for name in ("numpy_input_fn", "pandas_input_fn"))
_ARRAY_PARAMETERS = ("x", "y", "batch_size", "num_epochs", "shuffle")
_COMPARE = {ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Is: operator.is_, ast.IsNot: operator.is_not}
_MODES = {"TRAIN": "train", "EVAL": "eval", "PREDICT": "infer", "INFER": "infer"}
_DEEP = 16


class Reader:
    """Reads expressions of a project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self._depth = 0

    def value(self, module: Module, node: ast.expr | None, env: Mapping[str, Value] | None = None) -> Value:
        """What an expression stands for."""
        if node is None or self._depth > _DEEP:
            return None
        self._depth += 1
        try:
            return self._value(module, node, env or {})
        finally:
            self._depth -= 1

    def result(self, function: Value) -> Data | None:
        """The dataset that a function without further parameters returns."""
        if isinstance(function, Returns):
            return function.data
        found = self._applied(function, [], {}) if isinstance(function, Function) else None
        return found if isinstance(found, Data) else None

    # -- expressions --------------------------------------------------------------------------------------------------

    def _value(self, module: Module, node: ast.expr, env: Mapping[str, Value]) -> Value:
        if isinstance(node, ast.Constant):
            return Known(node.value)
        if isinstance(node, ast.UnaryOp):
            inner = self.value(module, node.operand, env)
            if isinstance(inner, Known) and isinstance(node.op, ast.Not):
                return Known(not inner.value)
            return Known(-inner.value) if isinstance(inner, Known) and isinstance(inner.value, (int, float)) else None
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _COMPARE:
            left, right = self.value(module, node.left, env), self.value(module, node.comparators[0], env)
            if isinstance(left, Known) and isinstance(right, Known):
                return Known(_COMPARE[type(node.ops[0])](left.value, right.value))
            return None
        if isinstance(node, ast.BoolOp):
            return self._choice(module, node, env)
        if isinstance(node, ast.IfExp):
            test = self.value(module, node.test, env)
            if isinstance(test, Known):
                return self.value(module, node.body if test.value else node.orelse, env)
            return either(self.value(module, node.body, env), self.value(module, node.orelse, env))
        if isinstance(node, ast.Lambda):
            return Function(module, node, env)
        if isinstance(node, (ast.Name, ast.Attribute)):
            return self._named(module, node, env)
        if isinstance(node, ast.Call):
            return self._call(module, node, env)
        if isinstance(node, ast.Tuple):
            return Gathered(places=tuple(self.value(module, part, env) for part in node.elts))
        if isinstance(node, ast.Subscript):
            kept = entry_of(self.project, module, node)
            base = self.value(module, node.value, env) if kept is None else None
            return self.value(*kept) if kept is not None else base.data if isinstance(base, Splits) else None
        return None

    def returned(self, module: Module, node: ast.expr | None, env: Mapping[str, Value]) -> Value:
        """What a function returns: one batch of features and labels counts as data."""
        if isinstance(node, ast.Tuple) and len(node.elts) == 2 and all(are_tensors(module, part) for part in node.elts):
            return Data(ends=False, batch=True)
        return self.value(module, node, env)

    def _choice(self, module: Module, node: ast.BoolOp, env: Mapping[str, Value]) -> Value:
        found: Value = None
        for part in node.values:
            found = self.value(module, part, env)
            if not isinstance(found, Known):
                return None
            if bool(found.value) is isinstance(node.op, ast.Or):
                return found
        return found

    def _named(self, module: Module, node: ast.Name | ast.Attribute, env: Mapping[str, Value]) -> Value:
        if isinstance(node, ast.Name) and node.id in env:
            return env[node.id]
        if isinstance(node, ast.Attribute) and module.resolve(node) is None:
            if (text := ast.unparse(node)) in env:
                return env[text]
            held = self.value(module, node.value, env) if isinstance(node.value, (ast.Name, ast.Call)) else None
            if isinstance(held, Object) and node.attr in (attributes := dict(held.attributes)):
                return attributes[node.attr]
        mode = (module.resolve(node) or "").rpartition("ModeKeys.")
        if mode[1]:
            return Known(_MODES[mode[2]]) if mode[2] in _MODES else None
        if (module.resolve(node) or "").startswith(SPLIT):
            return Known(node.attr if isinstance(node, ast.Attribute) else node.id)
        found = self.project.definition(module, node)
        above = defined_above(module, node, _runs_at_once) if found is None else None
        if above is not None:
            return Function(module, above, {})
        if found is not None:
            whole = isinstance(found.node, ast.FunctionDef) and not found.node.decorator_list
            return Function(found.module, found.node, {}) if whole and isinstance(found.node, ast.FunctionDef) else None
        statement = module.assignment(node) or unpacking(module, node)
        if statement is not None:
            bound: Env = {}
            bind(statement.targets[0], self.value(module, statement.value), bound)
            return bound[node.id] if isinstance(node, ast.Name) else None
        of_object = methods(self.project, module, node) if isinstance(node, ast.Attribute) else []
        if len(of_object) == 1:
            return of_object[0]
        read = properties(self.project, module, node) if isinstance(node, ast.Attribute) and not of_object else []
        if read:
            return functools.reduce(either, (self._applied(function, [], {}) for function in read))
        given: list[Value] = [*of_object]
        given = given or [self.value(where, value) for where, value in given_to(self.project, module, node)]
        if len(given) > 1 and all(is_whole(value) for value in given):
            data: list[Value] = [self.result(value) for value in given]
            both = functools.reduce(either, data) if None not in data else None
            return Returns(both) if isinstance(both, Data) else None
        if not given and isinstance(node, ast.Attribute) and is_count(self.project, module, node):
            return Count()
        return functools.reduce(either, given) if given else None

    # -- calls --------------------------------------------------------------------------------------------------------

    def _call(self, module: Module, node: ast.Call, env: Mapping[str, Value]) -> Value:
        given, named = self._places(module, node, env), self._keywords(module, node, env)
        if given is None or any(
            keyword.arg is None and self._spread(module, keyword, env) is None for keyword in node.keywords
        ):
            return _of_arrays([], named) if module.resolve(node.func) in _ARRAYS else None
        name = (module.resolve(node.func) or "").replace(_PRIVATE, "tensorflow.data.")
        name = _INHERITED.sub(_DATASET, name)
        if name in _ARRAYS:
            return _of_arrays(given, named)
        if name == "functools.partial" and given and isinstance(given[0], Function):
            first = given[0]
            return replace(first, given=(*first.given, *given[1:]), named=(*first.named, *named.items()))
        if name == LOAD:
            return prepared(given, named)
        if name.startswith("tensorflow."):
            return self._of_library(module, node, name, given, env)
        if isinstance(node.func, ast.Attribute):
            base = self.value(module, node.func.value, env)
            if isinstance(base, Data) and not base.batch:
                return self._method(module, node, base, given, named, env)
        owner = self.project.definition(module, node.func)
        init = initializer(owner) if owner is not None else None
        if owner is not None and init is not None:
            run = self._run(Function(owner.module, init, {}, (None,)), given, named, init.args.args[0].arg)
            return kept(self.project, init, run[1]) if run is not None else None
        function = self.value(module, node.func, env)
        if isinstance(function, Returns):
            return function.data
        return self._applied(function, given, named) if isinstance(function, Function) else None

    def _keywords(self, module: Module, node: ast.Call, env: Mapping[str, Value]) -> Env:
        named: Env = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                spread = self._spread(module, keyword, env)
                named.update(spread.named if spread is not None else ())
            else:
                named[keyword.arg] = self.value(module, keyword.value, env)
        return named

    def _places(self, module: Module, node: ast.Call, env: Mapping[str, Value]) -> list[Value] | None:
        """The arguments of a call that are given by place; None if some of them are not seen."""
        given: list[Value] = []
        for argument in node.args:
            value = self.value(module, argument.value if isinstance(argument, ast.Starred) else argument, env)
            if not isinstance(argument, ast.Starred):
                given.append(value)
            elif isinstance(value, Gathered):
                given += value.places
            else:
                return None
        return given

    def _spread(self, module: Module, keyword: ast.keyword, env: Mapping[str, Value]) -> Gathered | None:
        """The arguments that ``**kwargs`` stands for in a call, if that is what a function has gathered."""
        value = self.value(module, keyword.value, env)
        return value if isinstance(value, Gathered) else None

    def _of_library(
        self, module: Module, node: ast.Call, name: str, given: list[Value], env: Mapping[str, Value]
    ) -> Value:
        if name in _READERS:
            return Data(ends=True, counted=False)
        if name.startswith(_FAMILIES) and (at := _EPOCHS.get(name.rpartition(".")[2])) is not None:
            epochs = given[at : at + 1] or [self._keywords(module, node, env).get("num_epochs", Known(None))]
            return _repeated(Data(ends=True, counted=False), epochs)
        if name.startswith(_FAMILIES) and name.rpartition(".")[2] in _ENDLESS:
            return Data(ends=False)
        if name.endswith(_ITERATORS) and given:
            return given[0]
        short = name[len(_DATASET) :] if name.startswith(_DATASET) else ""
        if short in _COUNTED:
            return Data(ends=True)
        if short == "from_generator":
            return Data(ends=None, counted=False, even=False, fixed=False)
        if short == "zip" and len(node.args) == 1 and isinstance(node.args[0], ast.Tuple):
            parts = [self.value(module, part, env) for part in node.args[0].elts]
            every = [part for part in parts if isinstance(part, Data)]
            if every and len(every) == len(parts):
                ends = True if any(p.ends for p in every) else None if any(p.ends is None for p in every) else False
                return Data(
                    ends, all(p.counted for p in every), all(p.even for p in every), all(p.fixed for p in every)
                )
        return None

    def _method(
        self,
        module: Module,
        node: ast.Call,
        base: Data,
        given: list[Value],
        named: Env,
        env: Mapping[str, Value],
    ) -> Value:
        assert isinstance(node.func, ast.Attribute)
        name = node.func.attr
        if name in _SAME or name in (*_ITERATORS, "get_next"):
            return base
        if name == "padded_batch":
            return replace(base, even=False)
        if name in _UNEVEN:
            return replace(base, counted=False, even=False)
        if name in _UNCOUNTED:
            return replace(base, counted=False)
        if name == "skip":
            count = given[0] if given else named.get("count")
            return base if isinstance(count, Known) else replace(base, skipped=True)
        if name == "repeat":
            return _repeated(base, [*given, *named.values()])
        if name == "take":
            count = given[0] if given else named.get("count")
            whole = isinstance(count, Known) and isinstance(count.value, int) and count.value >= 0
            return replace(base, ends=True) if whole else replace(base, ends=True if base.ends else None)
        if name == "concatenate" and given and isinstance(given[0], Data):
            other = given[0]
            ends = False if False in (base.ends, other.ends) else base.ends and other.ends
            return Data(ends, base.counted and other.counted, base.even and other.even, base.fixed and other.fixed)
        if name == "apply" and node.args and isinstance(node.args[0], ast.Call):
            return self._transformed(module, node.args[0], base, env)
        return None

    def _transformed(self, module: Module, made: ast.Call, base: Data, env: Mapping[str, Value]) -> Value:
        """``dataset.apply(tf.data.experimental.shuffle_and_repeat(…))``."""
        name = module.resolve(made.func) or ""
        short = next((name[len(family) :] for family in _FAMILIES if name.startswith(family)), "")
        if short in _APPLIED_SAME:
            return base
        if short in _UNEVEN:
            return replace(base, counted=False, even=False)
        if short in _APPLIED_UNCOUNTED:
            return replace(base, counted=False)
        if short == "shuffle_and_repeat":
            named = self._keywords(module, made, env)
            count = [self.value(module, part, env) for part in made.args[1:2]]
            return _repeated(base, count or [named[key] for key in ("count",) if key in named])
        return None

    def _applied(self, function: Function, given: list[Value], named: Env) -> Value:
        """What a function of the program returns."""
        run = self._run(function, given, named)
        if run is not None and isinstance(function.node, ast.Lambda):
            return self.returned(function.module, function.node.body, run[1])
        return run[0].returned() if run is not None else None

    def _run(self, function: Function, given: list[Value], named: Env, own: str = "") -> tuple[Body, Env] | None:
        """A function as it has run, and what its names stand for then; `own` is that of the object that it initializes."""
        args = function.node.args
        if self._depth > _DEEP or not all(_only_hands_on(function, rest) for rest in (args.vararg, args.kwarg)):
            return None
        module, env = function.module, dict(function.around)
        names, places = [arg.arg for arg in (*args.posonlyargs, *args.args)], [*function.given, *given]
        values = {**dict(zip(names, places)), **dict(function.named), **named}
        presets, known = defaults(function.node), parameters(function.node)
        for name in known:
            env[name] = values[name] if name in values else self.value(module, presets.get(name))
        if args.vararg is not None:
            env[args.vararg.arg] = Gathered(places=tuple(places[len(names) :]))
        if args.kwarg is not None:
            more = tuple((name, value) for name, value in values.items() if name not in known)
            env[args.kwarg.arg] = Gathered(named=more)
        body = Body(self, module, own)
        if isinstance(function.node, ast.FunctionDef):
            self._depth += 1
            try:
                body.run(function.node.body, env)
            finally:
                self._depth -= 1
        return body, env


def _only_hands_on(function: Function, rest: ast.arg | None) -> bool:
    """Whether a function gives what ``*args`` or ``**kwargs`` gathers to others alone, all of it."""
    if rest is None:
        return True
    module, tree = function.module, function.node
    reads = (node for node in walk(tree) if isinstance(node, ast.Name) and node.id == rest.arg)
    parents = map(module.parent, reads)
    return all(isinstance(p, ast.Starred) or (isinstance(p, ast.keyword) and p.arg is None) for p in parents)


def _repeated(base: Data, count: list[Value]) -> Data:
    """`count` is what is given, if anything is."""
    value = count[0] if count else Known(None)
    if isinstance(value, Known) and (value.value is None or value.value == -1):
        return replace(base, ends=False, counted=True)
    if isinstance(value, Count) or (isinstance(value, Known) and isinstance(value.value, int)):
        return base
    return replace(base, ends=None if base.ends else base.ends)


def _of_arrays(given: list[Value], named: Env) -> Returns:
    """``numpy_input_fn(…)``; what is given by ``*`` is x and y."""
    arguments = {**dict(zip(_ARRAY_PARAMETERS, given)), **named}
    epochs = arguments.get("num_epochs", Known(1))
    return Returns(Data(epochs != Known(None) if isinstance(epochs, (Known, Count)) else None))


def _runs_at_once(module: Module, function: ast.Lambda, last: bool) -> bool:
    """Whether an Estimator calls a function before the next statement; predictions do so when they are read."""
    given = module.parent(function)
    call = module.parent(given) if isinstance(given, ast.keyword) else given
    method = call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""
    return method in ("train", "evaluate") or (method == "predict" and last)
