"""Binding times of names and expressions inside one function."""

from __future__ import annotations

import ast
import builtins
from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from migrator.analyse.function.translate import Translations
from migrator.analyse.statements.bindingtime import Time
from migrator.analyse.statements.flow import Flow, Frame
from migrator.analyse.statements.lengths import Lengths
from migrator.analyse.statements.modes import ALL_MODES, Modes
from migrator.analyse.statements.names import binds, reads, root_name, targets
from migrator.analyse.statements.slicing import Slicer
from migrator.analyse.statements.walks import bound_times, comprehensions, own_reads, turns_time
from migrator.resolve.syntax import children, walk

COLLECTED = frozenset({"losses", "updates", "trainable_variables", "trainable_weights"})
"""What a layer tells of itself after its first call."""
TENSOR_SHAPE = frozenset({"shape", "get_shape"})
_CHEAP_CALLS = frozenset({"int", "float", "str", "len", "bool", "tuple", "list", "range", "min", "max", "dict"})

_CHEAP_METHODS = frozenset(
    "get items keys values split replace format lower upper strip lstrip rstrip startswith endswith".split()
)
"""Of dicts and texts."""


class Times:
    """Answers when a value is known. `dynamic` are the parameters that hold tensors, `statics` those with plain values."""

    def __init__(
        self,
        flow: Flow,
        modes: Modes,
        dynamic: set[str],
        resolve: Callable[[ast.expr], str | None],
        translations: Translations,
        calls: Callable[[ast.Call], Time | None] = lambda call: None,
        ignored: Callable[[ast.AST], set[ast.expr]] = lambda node: set(),
        statics: Iterable[str] = (),
    ) -> None:
        self._modes = modes
        self._resolve = resolve
        self._translations = translations
        self._calls = calls
        self._ignored = ignored
        self.lengths = Lengths(flow, Slicer(flow), self.of)
        self._names: dict[str, Time] = dict.fromkeys(dynamic, Time.DYNAMIC)
        self._bound = {name for leaf in flow.leaves for name in leaf.defs}
        self._weights = {name for leaf in flow.leaves for name in self._weight(leaf.node)}
        self._called = self._bound & {name for leaf in flow.leaves for name in _called(leaf.node)}
        counts = Counter([*statics, *(name for leaf in flow.leaves for name in leaf.defs)])
        constants = {name for leaf in flow.leaves for name in self._constants(leaf.node) if counts[name] == 1}
        self._settled = constants & self._read_once(flow) if constants else constants
        generators = {leaf: list(comprehensions(leaf.node)) for leaf in flow.leaves}
        heads = {frame.node: frame for leaf in flow.leaves for frame in leaf.frames}.values()
        elsewhere = {*counts, *dynamic, *(name for frame in heads for name in frame.binds())}
        self._own = {read: at for leaf in flow.leaves for read, at in own_reads(leaf.node, elsewhere)}
        self._turns: dict[tuple[ast.comprehension, str], Time] = {}
        changed = True
        while changed:
            changed = False
            for leaf in flow.leaves:
                for name, time in self._defined(leaf.node):
                    if name not in leaf.defs:  # of a loop that nobody else reads
                        continue
                    if leaf.guard != ALL_MODES and counts[name] > 1:
                        time = max(time, Time.MODE)
                    changed |= self._raise(name, time)
                for frame in leaf.frames:
                    for name, time in self._bound_by(frame):
                        changed |= self._raise(name, time)
                for generator in generators[leaf]:
                    for name, time in bound_times(generator, self.of):
                        if name in elsewhere:
                            changed |= self._turns.get((generator, name), Time.STATIC) < time
                            self._turns[generator, name] = time
                        else:
                            changed |= time > Time.STATIC and self._raise(name, time)

    def _raise(self, name: str, time: Time) -> bool:
        if time <= self._names.get(name, Time.STATIC) or (time is Time.EAGER and name in self._settled):
            return False
        self._names[name] = time
        return True

    def _named(self, node: ast.AST) -> Time:
        """When all names are known that a node reads."""
        return max((self.name(name) for name in reads(node)), default=Time.STATIC)

    def _constants(self, node: ast.stmt) -> set[str]:
        """The name of a constant tensor: if an object is made once of it, it is known when the model is built as well."""
        value = node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if not isinstance(value, ast.Call) or self._resolve(value.func) not in self._translations.constants:
            return set()
        return binds(node)

    def _weight(self, node: ast.stmt) -> set[str]:
        """The name of a variable of the model: what is computed with one is a tensor, though the variable itself is known."""
        value = node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if (
            not isinstance(value, ast.Call)
            or not isinstance(node, ast.Assign)
            or isinstance(node.targets[0], ast.Tuple)
        ):
            return set()
        made = self._resolve(value.func) in self._translations.shaped | self._translations.initialized
        return targets(node.targets[0]) if made else set()

    def _computes(self, node: ast.AST) -> bool:
        """Whether an operator is applied to a variable of the model."""
        operands: list[ast.expr] = []
        if isinstance(node, ast.BinOp):
            operands = [node.left, node.right]
        elif isinstance(node, ast.UnaryOp):
            operands = [node.operand]
        elif isinstance(node, ast.Subscript):
            operands = [node.value]
        return any(isinstance(operand, ast.Name) and operand.id in self._weights for operand in operands)

    def _applies(self, call: ast.Call) -> bool:
        """Whether a function or object that is not TensorFlow's gets a variable of the model: ``regularizer(kernel)``."""
        if isinstance(call.func, ast.Attribute) or isinstance(call.func, ast.Name) and hasattr(builtins, call.func.id):
            return False
        return any(isinstance(a, ast.Name) and a.id in self._weights for a in call.args)

    def _read_once(self, flow: Flow) -> set[str]:
        """The names that calls read which make an object once."""
        calls = [node for leaf in flow.leaves for node in walk(leaf.node) if isinstance(node, ast.Call)]
        made = [call for call in calls if self._resolve(call.func) in self._translations.made_once]
        return {name for call in made for name in reads(call)}

    def head(self, frame: Frame) -> Time:
        """When the head of a compound statement is known; of a loop, how often it turns."""
        if isinstance(frame.node, ast.If):
            test = frame.node.test
            return Time.STATIC if test in self._ignored(test) else self.of(test)
        if isinstance(frame.node, ast.For):
            return turns_time(frame.node, self.of)
        return max((self.of(i.context_expr) for i in frame.node.items), default=Time.STATIC)

    def _bound_by(self, frame: Frame) -> list[tuple[str, Time]]:
        """When the names are known that the head of a compound statement binds."""
        if isinstance(frame.node, ast.For):
            return list(bound_times(frame.node, self.of))
        return [(name, self.head(frame)) for name in frame.binds()]

    def name(self, name: str) -> Time:
        """When a name is known; names from outside the function are static."""
        if name == self._modes.parameter or name in self._modes.names:
            return Time.MODE
        return self._names.get(name, Time.STATIC)

    def _defined(self, node: ast.stmt) -> list[tuple[str, Time]]:
        if isinstance(node, ast.Assign):
            time = self.of(node.value)
            found = [(name, time) for target in node.targets for name in targets(target)]
            roots = {root_name(t) for t in node.targets if isinstance(t, (ast.Subscript, ast.Attribute))}
            return found + [(name, time) for name in self._bound if name in roots]
        if isinstance(node, (ast.AugAssign, ast.AnnAssign)):
            time = self.of(node.value) if node.value is not None else Time.STATIC
            if (
                isinstance(node, ast.AugAssign)
                and isinstance(node.target, ast.Name)
                and node.target.id in self._weights
            ):
                time = max(time, Time.EAGER)
            return [(name, time) for name in self._bound if name == root_name(node.target)]
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            return [(node.name, self._function(node))]
        hidden = self._hidden(node)
        read = (n for n in walk(node) if isinstance(n, ast.expr) and n not in hidden and not _is_target(n))
        time = max(map(self.of, read), default=Time.STATIC)
        return [(name, time) for name in binds(node)]

    def _function(self, node: ast.stmt) -> Time:
        captured = max((self.name(n) for n in self._reads(node)), default=Time.STATIC)
        tensors = any(isinstance(n, ast.Call) and self._library_call(n) is Time.EAGER for n in walk(node))
        return max(captured, Time.EAGER if tensors else Time.STATIC)

    def _library_call(self, call: ast.Call) -> Time | None:
        name = self._resolve(call.func)
        if name is None or not self._translations.library(name):
            return None
        return Time.STATIC if self._translations.static(name) else Time.EAGER

    def _reads(self, node: ast.AST) -> set[str]:
        """Names that a node reads, without those in values that only matter in training."""
        hidden = self._hidden(node)
        names = reads(node)
        if hidden:
            names &= {n.id for n in walk(node) if isinstance(n, ast.Name) and n not in hidden}
        return names

    def _hidden(self, node: ast.AST) -> set[ast.AST]:
        """What a node holds that only matters in training."""
        return {child for value in self._ignored(node) for child in walk(value)}

    def of(self, node: ast.AST) -> Time:
        """When the value of an expression is known."""
        if isinstance(node, ast.Constant):
            return Time.STATIC
        if isinstance(node, ast.Name):
            turn = self._own.get(node)
            return self.name(node.id) if turn is None else self._turns.get(turn, Time.STATIC)
        if isinstance(node, ast.Lambda):
            return max((self.name(n) for n in reads(node)), default=Time.STATIC)
        if isinstance(node, ast.Call):
            name = self._resolve(node.func)
            if self.lengths.of(node) is not None:
                return Time.STATIC
            if name in self._translations.initialized:
                return Time.DYNAMIC if self._named(node) is Time.DYNAMIC else Time.STATIC
            if name in self._translations.made_once and self._named(node) <= Time.MODE:
                return self._named(node)
            own = self._calls(node)
            if own is None:
                own = self._library_call(node)
            base = own if own is not None else Time.EAGER if self._applies(node) else Time.STATIC
            parts: list[ast.AST] = [*node.args, *(k.value for k in node.keywords)]
            if own is None or isinstance(node.func, ast.Call):
                parts.append(node.func)
            ignored = self._ignored(node)
            time = max([base, *(self.of(p) for p in parts if p not in ignored)])
            return Time.STATIC if time is Time.EAGER and name in self._translations.shaped else time
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            names = max((self.name(n) for n in self._reads(node)), default=Time.STATIC)
            inner = [self._library_call(n) or Time.STATIC for n in walk(node) if isinstance(n, ast.Call)]
            return max([names, *inner])
        if isinstance(node, ast.Attribute) and node.attr in COLLECTED and isinstance(node.value, ast.Name):
            return max(Time.EAGER if node.value.id in self._called else Time.STATIC, self.of(node.value))
        computed = Time.EAGER if self._weights and self._computes(node) else Time.STATIC
        return max([computed, *(self.of(child) for child in children(node))])


def _is_target(node: ast.expr) -> bool:
    """Whether a node only gets a value, such as the ``_`` of a loop, which may be a name of something else elsewhere."""
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def _called(node: ast.AST) -> Iterator[str]:
    """Names of what is called."""
    return (n.func.id for n in walk(node) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name))


def is_cheap(node: ast.expr) -> bool:
    """Whether computing the value again is free of cost and effects: constants, look-ups, arithmetic."""
    for child in walk(node):
        if isinstance(child, ast.Call):
            function = child.func
            method = isinstance(function, ast.Attribute) and function.attr in _CHEAP_METHODS
            if not method and not (isinstance(function, ast.Name) and function.id in _CHEAP_CALLS):
                return False
        elif isinstance(child, (ast.Await, ast.Yield, ast.YieldFrom, ast.NamedExpr)):
            return False
    return True
