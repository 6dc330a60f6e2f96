"""``--strategy`` in place of what trains on several devices by itself: SyncReplicasOptimizer, towers, Horovod.

Each of them takes the mean of the gradients of several batches, as strategies do. They go, with their hooks; what asked
Horovod for the number of a process or of all processes asks for it in the words of Estimators.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import Callable

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import bind, is_none
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.calls import call_of, is_literal
from migrator.resolve.module import Module
from migrator.resolve.syntax import is_name, walk
from migrator.rewrite import Replace, expr
from migrator.vocabulary.diagnostics import Edit

from ..optimizers.wrappers import rebinding, unwrapped
from .horovod import OPTIMIZER_SIGNATURE
from .replication import HOROVOD, REPLICATE, SYNC, TOWERS, horovod_references

Root = Callable[[Module, ast.AST], str]

_SYNC = "opt replicas_to_aggregate total_num_replicas variable_averages variables_to_average use_locking name"
_HOW_IT_SENDS = frozenset("name use_locking device_dense device_sparse compression sparse_as_dense".split())
_MEANS = tuple(f"tensorflow.losses.Reduction.{name}" for name in ("MEAN", "SUM_BY_NONZERO_WEIGHTS"))
_RUNS = frozenset("train evaluate predict train_and_evaluate export_saved_model export_savedmodel".split())
_GPUS = 'max(1, len({0}.config.experimental.list_physical_devices("GPU")))'
_REPLICAS = "{0}.distribute.get_strategy().num_replicas_in_sync"
"""Known where a strategy calls a model_fn, not around it."""
_WORKERS = "{0}.estimator.RunConfig().num_worker_replicas"
_WORKER = "{0}.estimator.RunConfig().global_id_in_cluster"
_CHIEF = "{0}.estimator.RunConfig().is_chief"
_PROCESSES = {
    "none": {"size": "1", "local_size": "1", "rank": "0", "local_rank": "0"},
    "mirrored": {"size": _GPUS, "rank": "0", "local_rank": "0"},
    "multi_worker": {"size": f"{_WORKERS} * {_GPUS}", "rank": _WORKER},
}
"""What stands for the numbers that Horovod gives, by strategy; ``{0}`` is TensorFlow."""
_ROWS = (
    "SyncReplicasOptimizer took the mean of the gradients of a looked up row over the workers that looked it up; "
    "a strategy takes it over all workers"
)
_BACKUPS = "SyncReplicasOptimizer went on after replicas_to_aggregate gradients; a strategy takes one of each worker in each step"

_ONE_DEVICE = (
    "towers, which an option asks for, are left out: the program trains on one device, which takes each batch whole; "
    "--strategy mirrored has a MirroredStrategy, for which each device takes a batch of its own"
)


def replace_replication(drafts: Drafts, paths: Iterable[str], strategy: str, root: Root) -> None:
    """Take other ways to train on several devices out of files whose RunConfigs ask for `strategy`.

    `root` gives the name of TensorFlow in a module. Raises Unsupported.
    """
    for path in paths:
        module = drafts.project.modules[path]
        found = _Replacement(module, strategy, root)
        edits = found.edits()
        for node, text in found.remarks:
            drafts.remark(module, node, text)
        drafts.apply([Change(edit) for edit in edits])
        module = drafts.project.modules[path]
        drafts.apply([Change(edit) for edit in _idle_imports(module)])


def leave_out_towers(drafts: Drafts, paths: Iterable[str]) -> None:
    """Take towers out of files that make them under a condition only: without it, one device takes the whole batch.

    Those that are not understood stay, and are refused later on.
    """
    for path in paths:
        module = drafts.project.modules[path]
        towers = [node for node, name in module.references() if name in (REPLICATE, TOWERS)]
        if not towers or not all(_is_optional(module, node) for node in towers):
            continue
        try:
            edits = _Replacement(module, "none", lambda module, node: "").of_towers()
        except Unsupported:
            return
        drafts.remark(module, towers[0], _ONE_DEVICE)
        drafts.apply([Change(edit) for edit in edits])


def _is_optional(module: Module, node: ast.AST) -> bool:
    """Whether a condition that does not ask for the mode decides if a node is reached."""
    around = [node, *module.ancestors(node)]
    for inner, outer in zip(around, around[1:]):
        if isinstance(outer, (ast.If, ast.IfExp)) and inner is not outer.test:
            if not any(is_name(part, "mode") for part in walk(outer.test)):
                return True
    return False


class _Replacement:
    """The edits of one module."""

    def __init__(self, module: Module, strategy: str, root: Root) -> None:
        self.module = module
        self.strategy = strategy
        self.root = root
        self.doomed: set[ast.AST] = set()
        """Statements that go."""
        self.done: set[ast.AST] = set()
        """References that are seen to."""
        self.remarks: list[tuple[ast.expr, str]] = []
        """What the owner should know."""
        self._wrappers = {SYNC: self._sync, TOWERS: self._tower, REPLICATE: self._replicated}

    def edits(self) -> list[Edit]:
        """All of them. Raises Unsupported."""
        module = self.module
        found = self._around((SYNC, REPLICATE, TOWERS))
        horovod = list(horovod_references(module))
        if horovod and self.strategy not in _PROCESSES:
            text = "Horovod trains in step, and on no TPU: --strategy none, mirrored or multi_worker can take its place"
            raise Unsupported(text, horovod[0][0])
        for node, name in horovod:
            if node not in self.done:
                found += self._horovod(node, name)
        return self._settled(found)

    def of_towers(self) -> list[Edit]:
        """Those of towers alone. Raises Unsupported."""
        return self._settled(self._around((REPLICATE, TOWERS)))

    def _around(self, names: Collection[str]) -> list[Edit]:
        """The edits of what wraps optimizers and model_fns."""
        found: list[Edit] = []
        for node, name in self.module.references():
            call = call_of(self.module, node) if name in names else None
            if call is not None:
                found += self._wrappers[name](call)
        return found

    def _settled(self, found: Iterable[Edit]) -> list[Edit]:
        """The edits without those of statements that go, and with their deletions."""
        module = self.module
        found = [edit for edit in found if not self._is_doomed(edit)]
        gone = {node for node in walk(module.tree) if isinstance(node, ast.stmt) and self._is_idle(node)}
        found += [module.delete_statement(node) for node in gone if module.parent(node) not in gone]
        return list(dict.fromkeys(found))

    def _is_doomed(self, edit: Edit) -> bool:
        spans = [self.module.span(statement) for statement in self.doomed]
        return any(start <= edit.start and edit.end <= end for start, end in spans)

    def _is_idle(self, node: ast.AST) -> bool:
        """Whether a statement is doomed, or a condition around nothing else."""
        if isinstance(node, ast.If) and not any(_may_act(part) for part in walk(node.test)):
            return all(self._is_idle(inner) for inner in (*node.body, *node.orelse))
        return node in self.doomed

    # -- optimizers and model_fns -----------------------------------------------------------------------------------

    def _unwrapped(self, call: ast.Call, inner: ast.expr) -> list[Edit]:
        statement = rebinding(self.module, call, inner)
        if statement is not None:
            self.doomed.add(statement)
            return []
        return unwrapped(self.module, call, inner)

    def _sync(self, call: ast.Call) -> list[Edit]:
        if self.strategy == "parameter_server":
            text = "parameter servers train asynchronously in TensorFlow 2: --strategy multi_worker trains in step"
            raise Unsupported(text, call)
        given = bind(call, _SYNC, "SyncReplicasOptimizer")
        for field in ("variable_averages", "variables_to_average"):
            if not is_none(given.get(field)):
                raise Unsupported(f"SyncReplicasOptimizer({field}=…) is not migrated yet", given[field])
        if self.strategy != "none":
            self.remarks.append((call, _ROWS))
        number, total = (given.get(field) for field in ("replicas_to_aggregate", "total_num_replicas"))
        if number is not None and total is not None and not is_none(total) and ast.dump(number) != ast.dump(total):
            self.remarks.append((call, _BACKUPS))
        edits = self._unwrapped(call, given["opt"])
        for part in walk(self.module.tree):
            if isinstance(part, ast.Attribute) and part.attr == "make_session_run_hook":
                hook = call_of(self.module, part)
                if hook is not None:
                    edits += self._without(hook)
        return edits

    def _tower(self, call: ast.Call) -> list[Edit]:
        (inner,) = bind(call, "optimizer_or_optimizer_fn", "TowerOptimizer").values()
        values = [inner]
        if isinstance(inner, ast.Name):
            statements = [self.module.statement(binding.node) for binding in self.module.bindings(inner)]
            values = [s.value for s in statements if isinstance(s, ast.Assign)]
            values = values if len(values) == len(statements) else []
        made = [isinstance(v, ast.Call) and self.module.resolve(v.func) != "functools.partial" for v in values]
        if not made or not all(made):
            raise Unsupported("what TowerOptimizer gets is not seen to be an optimizer", inner)
        return self._unwrapped(call, inner)

    def _replicated(self, call: ast.Call) -> list[Edit]:
        given = bind(call, "model_fn loss_reduction devices", "replicate_model_fn")
        reduction = given.get("loss_reduction")
        if reduction is not None and self.module.resolve(reduction) not in _MEANS:
            raise Unsupported("replicate_model_fn adds up the losses of its towers; strategies take their mean", call)
        return self._unwrapped(call, given["model_fn"])

    # -- Horovod ------------------------------------------------------------------------------------------------------

    def _horovod(self, node: ast.expr, name: str) -> list[Edit]:
        module, short = self.module, name.rpartition(".")[2]
        call = call_of(module, node)
        if call is None:
            return []  # which is refused later on, unless it goes with something else
        if short in ("init", "shutdown") and isinstance(module.parent(call), ast.Expr):
            self.doomed.add(module.statement(call))
            return []
        if short == "DistributedOptimizer":
            given = bind(call, OPTIMIZER_SIGNATURE, "DistributedOptimizer")
            for field, value in given.items():
                mean = field == "op" and (module.resolve(value) or "").endswith(".Average")
                once = field == "backward_passes_per_step" and is_literal(value, 1)
                if field not in ("optimizer", *_HOW_IT_SENDS) and not mean and not once:
                    raise Unsupported(f"DistributedOptimizer({field}=…) of Horovod is not migrated yet", value)
                self.done |= set(walk(value)) - set(walk(given["optimizer"]))
            return self._unwrapped(call, given["optimizer"])
        if short == "BroadcastGlobalVariablesHook":
            return self._without(call)
        return self._number(call, short)

    def _number(self, call: ast.Call, short: str) -> list[Edit]:
        """What asks for the number of a process, or of all."""
        module, parent, one = self.module, self.module.parent(call), self.strategy != "multi_worker"
        if short == "local_rank":
            statement = module.statement(call)
            if _chooses_device(module, statement):
                self.doomed.add(statement)  # a strategy takes all devices
                return []
        if isinstance(parent, ast.Call) and _is_shard(module, parent):
            self.done |= set(walk(parent.args[0])) | set(walk(parent.args[1]))
            return self._sharded(parent, one)
        if short == "rank" and isinstance(parent, ast.Compare) and is_literal(parent.comparators[0], 0):
            first = isinstance(parent.ops[0], (ast.Eq, ast.LtE))
            if len(parent.ops) == 1 and (first or isinstance(parent.ops[0], (ast.NotEq, ast.Gt))):
                return self._of_first(parent, first)
        text = _PROCESSES[self.strategy].get(short)
        if text is None:
            raise Unsupported(f"Horovod's {short}() has no place under --strategy {self.strategy}", call)
        if text == "1" and isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Mult):
            other = parent.left if parent.right is call else parent.right
            return module.cst.apply([Replace(parent, module.cst.expression(other))])  # `rate * size()`
        if short == "size" and not text.isdigit() and _in_model_fn(module, call):
            text = _REPLICAS
        return module.cst.apply([Replace(call, expr(text.format(self._tensorflow(call))))])

    def _of_first(self, test: ast.Compare, first: bool) -> list[Edit]:
        """``x if rank() == 0 else None`` is `x`, as only the chief writes; elsewhere the chief is asked for."""
        module, choice = self.module, self.module.parent(test)
        if isinstance(choice, ast.IfExp) and choice.test is test:
            kept, other = (choice.body, choice.orelse) if first else (choice.orelse, choice.body)
            if is_none(other) or is_literal(other, ""):
                return module.cst.apply([Replace(choice, module.cst.expression(kept))])
        if isinstance(choice, ast.If) and self.strategy == "multi_worker":
            for part in (part for statement in (*choice.body, *choice.orelse) for part in walk(statement)):
                if isinstance(part, ast.Attribute) and part.attr in _RUNS:
                    raise Unsupported(
                        "only one process does this, for which mirrored workers wait for each other", part
                    )
        text = _CHIEF.format(self._tensorflow(test))
        return module.cst.apply([Replace(test, expr(text if first else f"not {text}"))])

    def _sharded(self, call: ast.Call, one: bool) -> list[Edit]:
        """``dataset.shard(size(), rank())``: one process takes all, several workers share out."""
        module = self.module
        assert isinstance(call.func, ast.Attribute)
        if not one:
            root = self._tensorflow(call)
            texts = zip(call.args, (_WORKERS, _WORKER))
            return module.cst.apply(Replace(node, expr(text.format(root))) for node, text in texts)
        statement = rebinding(module, call, call.func.value)
        if statement is not None:
            self.doomed.add(statement)
            return []
        return module.cst.apply([Replace(call, module.cst.expression(call.func.value))])

    def _tensorflow(self, node: ast.AST) -> str:
        return self.root(self.module, node)

    # -- hooks --------------------------------------------------------------------------------------------------------

    def _without(self, hook: ast.expr) -> list[Edit]:
        """Take a hook out of the lists that hold it, and names for it."""
        module, parent = self.module, self.module.parent(hook)
        self.done |= set(walk(hook))
        if isinstance(parent, (ast.List, ast.Tuple)):
            return _without_element(module, parent, hook)
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute) and parent.func.attr == "append":
            if isinstance(module.parent(parent), ast.Expr):
                self.doomed.add(module.statement(parent))
                return []
        if isinstance(parent, ast.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name):
            target = parent.targets[0]
            holder = module.scope(target).holder(target.id)
            statements = [module.statement(binding.node) for binding in holder.bindings[target.id]]
            if all(isinstance(s, ast.Assign) and (s is parent or is_none(s.value)) for s in statements):
                self.doomed |= set(statements)
                return [edit for load in module.loads_of(target.id, holder) for edit in self._without(load)]
        raise Unsupported("the hook of what --strategy replaces is not seen to be in a list of hooks only", hook)


def _without_element(module: Module, display: ast.List | ast.Tuple, element: ast.expr) -> list[Edit]:
    """Deletes an element of a list with one of its commas."""
    old, index = module.cst.expression(display), display.elts.index(element)
    elements = list(getattr(old, "elements", ()))
    gone = elements.pop(index)
    if elements and index == len(elements):
        elements[-1] = elements[-1].with_changes(comma=gone.comma)
    return module.cst.apply([Replace(display, old.with_changes(elements=elements))])


def _may_act(node: ast.AST) -> bool:
    """Whether a part of a condition does something, as calls may but those of `get`."""
    asks = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get"
    return isinstance(node, (ast.Call, ast.NamedExpr)) and not asks


def _in_model_fn(module: Module, node: ast.AST) -> bool:
    """Whether a node stands in a function that gets a mode, as model_fns do."""
    functions = [above for above in module.ancestors(node) if isinstance(above, ast.FunctionDef)]
    return any(p.arg == "mode" for f in functions for p in (*f.args.args, *f.args.kwonlyargs))


def _chooses_device(module: Module, statement: ast.stmt) -> bool:
    """Whether a statement gives a process one of the devices."""
    if isinstance(statement, ast.Assign):
        return any(isinstance(t, ast.Attribute) and t.attr == "visible_device_list" for t in statement.targets)
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Call) and (module.resolve(value.func) or "").endswith(".set_visible_devices")


def _is_shard(module: Module, call: ast.Call) -> bool:
    """Whether a call is ``….shard(size(), rank())`` of Horovod."""
    if not isinstance(call.func, ast.Attribute) or call.func.attr != "shard" or len(call.args) != 2 or call.keywords:
        return False
    names = [module.resolve(arg.func) or "" if isinstance(arg, ast.Call) else "" for arg in call.args]
    return all(name.startswith("horovod.") for name in names) and [n.rpartition(".")[2] for n in names] == [
        "size",
        "rank",
    ]


def _idle_imports(module: Module) -> Iterator[Edit]:
    """Deletions of imports of Horovod that nothing reads."""
    if any(True for _ in horovod_references(module)):
        return
    for node in module.tree.body:
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        if names and all(f"{name}.".startswith(HOROVOD) for name in names):
            yield module.delete_statement(node)
