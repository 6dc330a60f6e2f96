"""Which helpers of a model_fn have to be put into it before it can be taken apart."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from migrator.analyse.function.body import SCOPES
from migrator.analyse.function.specs import SPEC
from migrator.analyse.function.translate import Translations
from migrator.analyse.layers.objects import is_keras_class
from migrator.analyse.training.optimizerclass import derives
from migrator.normalise.draft.arguments import parameters
from migrator.normalise.draft.draft import Drafts
from migrator.normalise.draft.returns import own_returns
from migrator.normalise.draft.roots import calls_below
from migrator.normalise.draft.steps import Preparation
from migrator.normalise.functions.joined_values import joins_labels
from migrator.normalise.functions.partials import PARTIAL, filled_in
from migrator.normalise.names import registries, shared_registries
from migrator.normalise.objects.methods import lookup, method_of
from migrator.normalise.values.possible_values import handed
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import children, statements, walk

from ..bridge.graph_names import SCOPE, said_in_error
from ..canned import spec_heads
from ..contrib import argument_scopes, returned_scopes
from ..estimator_calls.estimator_values import Construction
from ..layers.graph_variables import VARIABLE
from ..losses_metrics import added_metrics
from ..model_fns import chosen_calls
from ..model_fns.translations import is_refused, translations
from ..optimizers import optimize_loss
from ..optimizers.derived_optimizers import hold_optimizers
from .desugarings import CALLS, FUNCTIONS

_VARIABLES = frozenset({"tensorflow.get_variable", VARIABLE})
_SPECS = frozenset({SPEC, "tensorflow.contrib.tpu.TPUEstimatorSpec"})
_SIZED = frozenset(f"tensorflow.{name}" for name in ("zeros", "ones", "range", "eye", "TensorShape"))
"""Functions whose arguments are sizes."""
_MINIMIZING = frozenset({"minimize", "apply_gradients", "compute_gradients", spec_heads.METHOD})
_OPS = frozenset(f"tensorflow.{name}" for name in ("group", "assign", "assign_add", "assign_sub"))
"""Functions that make what a train op runs."""
_RETURNED = f"arg_scope.{returned_scopes.MARK}"
"""What a function that returns scopes of slim calls."""


def prepared(drafts: Drafts, constructions: Callable[[], list[Construction]]) -> None:
    """Inline helpers that make specs, losses, metrics, optimizers or variables; lift nested functions and methods."""
    hold_optimizers(drafts)
    registries.written_out(drafts)
    shared_registries.written_out(drafts)
    judge = Judge(drafts, translations())

    preparation = Preparation(
        drafts,
        lambda: roots(drafts.project, constructions()),
        judge.inlined,
        judge.makes_layers,
        CALLS,
        FUNCTIONS,
    )
    preparation.run()
    while changes := added_metrics.added(drafts.project, constructions):
        drafts.apply(changes)
        preparation.run()


def roots(project: Project, constructions: list[Construction]) -> list[tuple[Module, ast.expr]]:
    """The expressions that name the model_fns of Estimators."""
    made = [(c.module, c.arguments["model_fn"]) for c in constructions if "model_fn" in c.arguments]
    ways = [(place, handed(project, *place)) for place in made]
    return [each for place, way in ways for each in (way.values if way is not None else [place])]


class Judge:
    """Looks at what a function calls, itself and through other functions of the program."""

    def __init__(self, drafts: Drafts, known: Translations) -> None:
        self.drafts = drafts
        self.known = known
        self._project: Project | None = None
        self._answers: dict[tuple[str, ast.AST, int], bool] = {}
        self._called_functions: dict[tuple[ast.AST, ast.Call], Definition | None] = {}
        self._losses: set[ast.AST] | None = None
        """The functions whose results are losses of specs."""

    def makes_layers(self, definition: Definition) -> bool:
        """Whether a function makes layers or variables."""
        return self._answer("layers", definition, self._makes_layers)

    def inlined(self, definition: Definition) -> bool:
        """Whether a function says what only a method of the model, or its factory, can say."""
        return self._answer("inlined", definition, self._is_inlined)

    def _answer(
        self, question: str, definition: Definition, answer: Callable[[Definition, int], bool], depth: int = 0
    ) -> bool:
        """An answer, kept as long as no file of the program changes; `depth` calls lead to the function."""
        if self._project is not self.drafts.project:
            self._project = self.drafts.project
            self._answers.clear()
            self._called_functions.clear()
            self._losses = None
        key = question, definition.node, depth
        if key not in self._answers:
            self._answers[key] = answer(definition, depth)
        return self._answers[key]

    def _makes_layers(self, definition: Definition, depth: int) -> bool:
        if self._of_optimizer(definition):
            return False
        for call, name in self._called(definition):
            if name is not None and name in self.known.layers:
                return True
            other = self._other(definition, call)
            if other is not None and depth < 8 and self._answer("layers", other, self._makes_layers, depth + 1):
                return True
        return False

    def _is_inlined(self, definition: Definition, depth: int) -> bool:
        if self._answer("outside", definition, self._says_what_is_outside, depth):
            return True
        if self._of_optimizer(definition):
            return False
        if joins_labels(self.drafts.project, definition):
            return True
        judge = self._is_inlined_by_itself if self.makes_layers(definition) else self._is_translated
        return self._answer("by itself", definition, judge)

    def _says_what_is_outside(self, definition: Definition, depth: int) -> bool:
        """Whether a function makes specs, metrics, optimizers and the like, itself or in functions that it calls."""
        if self._of_optimizer(definition):
            return False
        if any(name in self.known.metrics for _, name in definition.module.references_in(definition.node)):
            return True
        layers = self.makes_layers(definition)
        if layers and argument_scopes.is_told(self.drafts.project, definition):
            return True
        for call, name in self._called(definition):
            if isinstance(call.func, ast.Attribute) and call.func.attr in _MINIMIZING:
                return True
            if chosen_calls.looks_up(self.drafts.project, definition.module, call):
                return True
            if name is not None and (name in (SPEC, optimize_loss.NAME) or self._is_said_outside(name)):
                return True
            if (
                name in self.known.cells and not layers
            ):  # a function that makes cells through another one is not followed
                return True
            other = self._other(definition, call)
            if (
                other is not None
                and depth < 8
                and self._answer("outside", other, self._says_what_is_outside, depth + 1)
            ):
                return True
        return False

    def _is_translated(self, definition: Definition, depth: int) -> bool:
        """Whether a function without layers, or one that it calls, says what only the code of a model can say."""
        for call, name in self._called(definition):
            if name == SCOPE and said_in_error(definition.module, call):
                continue
            if name is not None and (name in self.known.expressions or is_refused(name)):
                return True
            if name == "tensorflow.identity" and isinstance(definition.module.parent(call), ast.Expr):
                return True  # it gives a value the name by which hooks ask for it
            other = self._other(definition, call)
            if other is not None and depth < 8 and not self.makes_layers(other):
                if self._answer("by itself", other, self._is_translated, depth + 1):
                    return True
        return False

    def _is_inlined_by_itself(self, definition: Definition, depth: int) -> bool:
        return (
            self._returns_object(definition)
            or self._only_makes(definition)
            or self._gives_loss(definition)
            or self._returns_closure(definition)
        )

    def _returns_closure(self, definition: Definition) -> bool:
        """Whether a function makes Keras layers, and returns a function of its own that applies them."""
        assert isinstance(definition.node, ast.FunctionDef)
        inner = {s.name for s in definition.node.body if isinstance(s, ast.FunctionDef) and not s.decorator_list}
        values = [r.value for r in own_returns(definition.node)]
        if len(values) != 1 or not isinstance(values[0], ast.Name) or values[0].id not in inner:
            return False
        names = [definition.module.resolve(n.func) for n in walk(definition.node) if isinstance(n, ast.Call)]
        return any(name is not None and self.known.objects(name) for name in names)

    def _of_optimizer(self, definition: Definition) -> bool:
        """Whether a function is a method of an optimizer of the program, which stays a class."""
        owner = definition.module.parent(definition.node)
        return isinstance(owner, ast.ClassDef) and derives(self.known, Definition(definition.module, owner))

    def _only_makes(self, definition: Definition) -> bool:
        """Whether a function makes variables and gets no tensors: it returns a table, or a dict of weights."""
        assert isinstance(definition.node, ast.FunctionDef)
        own = set(parameters(definition.node))
        returned = [node for value in own_returns(definition.node) for node in walk(value)]
        if any(isinstance(node, (ast.BinOp, ast.UnaryOp)) for node in returned):
            return False
        stack: list[ast.AST] = [definition.node]
        found = False
        while stack:
            node = stack.pop()
            name = definition.module.resolve(node.func) if isinstance(node, ast.Call) else None
            if isinstance(node, ast.Call):
                if name in _VARIABLES:
                    found = True
                    continue
                if self._other(definition, node) is not None:
                    return False
                if name is not None and self.known.library(name):
                    if name in self.known.layers and name not in SCOPES:
                        return False
                    if name in _SIZED:
                        continue
                    if name not in SCOPES and not self.known.static(name) and own & self._given(definition, node):
                        return False
            stack.extend(children(node))
        return found

    def _given(self, definition: Definition, call: ast.Call) -> set[str]:
        """The names that a call gets, without those that only say how large something is."""
        found: set[str] = set()
        stack: list[ast.AST] = [*call.args, *(k.value for k in call.keywords)]
        while stack:
            node = stack.pop()
            if isinstance(node, ast.Call) and (definition.module.resolve(node.func) or "") in _SIZED:
                continue
            if isinstance(node, ast.Name):
                found.add(node.id)
            stack.extend(children(node))
        return found

    def _gives_loss(self, definition: Definition) -> bool:
        """Whether the one call of a function gives a model_fn its loss, which is no matter of the forward pass."""
        if self._losses is None:
            self._losses = {found.node for found in self._loss_functions()}
        if definition.node not in self._losses:
            return False
        project = self.drafts.project
        uses = [use for module in project.modules.values() for use in project.uses(definition, module)]
        return len(uses) == 1

    def _loss_functions(self) -> Iterator[Definition]:
        """The functions whose results are losses of specs."""
        project = self.drafts.project
        for module in project.modules.values():
            for function in _called_for_loss(module):
                found = project.definition(module, function)
                if found is not None and isinstance(found.node, ast.FunctionDef):
                    yield found

    def _is_said_outside(self, name: str) -> bool:
        known = self.known
        return (
            name in known.metrics
            or name in known.training
            or name in known.steps
            or name in _OPS
            or name.endswith(_RETURNED)
            or name.startswith("tensorflow.losses.")
        )

    def _returns_object(self, definition: Definition) -> bool:
        """Whether a function returns a variable or a layer itself."""
        function = definition.node
        assert isinstance(function, ast.FunctionDef)
        made = {
            target.id: node.value
            for node in statements(function)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        values = [r.value for r in own_returns(function)]
        found = [made.get(v.id) if isinstance(v, ast.Name) else v for v in values if v is not None]
        return bool(found) and all(self._is_object(definition, value) for value in found)

    def _is_object(self, definition: Definition, value: ast.expr | None) -> bool:
        if not isinstance(value, ast.Call):
            return False
        name = definition.module.resolve(value.func)
        rule = self.known.layers.get(name) if name is not None else None
        if rule is None or name is None:
            return False
        if self.known.objects(name):
            return False  # the function may stay: what it returns is called where it is known
        last = name.rsplit(".", 1)[1]
        return last[:1].isupper() or last == "get_variable"

    def _called(self, definition: Definition) -> list[tuple[ast.Call, str | None]]:
        module = definition.module
        known: dict[ast.AST, list[tuple[ast.Call, str | None]]] = module.memo.setdefault("preparing", {})
        found = known.get(definition.node)
        if found is None:
            found = [(call, module.resolve(call.func)) for call in calls_below(module, definition.node)]
            found += [(call, module.resolve(call.args[0])) for call, name in found if name == PARTIAL and call.args]
            filled = [(call, filled_in(module, call)) for call, name in found if name is None]
            found += [(call, module.resolve(partial.args[0])) for call, partial in filled if partial is not None]
            known[definition.node] = found
        return found

    def _other(self, definition: Definition, call: ast.Call) -> Definition | None:
        """The function of the program that a call in a function runs, if it is another one."""
        key = definition.node, call
        if key not in self._called_functions:
            self._called_functions[key] = self._find_other(definition, call)
        return self._called_functions[key]

    def _find_other(self, definition: Definition, call: ast.Call) -> Definition | None:
        project = self.drafts.project
        other = project.definition(definition.module, call.func)
        if other is not None and isinstance(other.node, ast.ClassDef):
            return self._constructor(other, definition)
        if other is not None:
            same = other.node is definition.node or not isinstance(other.node, ast.FunctionDef)
            return None if same else other
        found = method_of(project, definition.module, call.func)
        return Definition(found.module, found.function) if found and found.function is not definition.node else None

    def _constructor(self, owner: Definition, caller: Definition) -> Definition | None:
        """The `__init__` of a class of the program that is no layer of Keras."""
        if is_keras_class(self.known, owner) or derives(self.known, owner):
            return None
        found = lookup(self.drafts.project, owner, "__init__")
        if found is None or found[1] is caller.node:
            return None
        return Definition(found[0].module, found[1])


def _called_for_loss(module: Module) -> list[ast.expr]:
    """What a file calls for the losses of its specs: ``loss_fn`` of ``loss = loss_fn(…)`` and ``EstimatorSpec(loss=loss)``."""
    known: list[ast.expr] | None = module.memo.get("called for loss")
    if known is None:
        known = module.memo["called for loss"] = []
        for call in module.nodes(ast.Call):
            loss = next((k.value for k in call.keywords if k.arg == "loss"), None)
            if not isinstance(loss, ast.Name) or module.resolve(call.func) not in _SPECS:
                continue
            for binding in module.bindings(loss):
                statement = module.statement(binding.node) if isinstance(binding.node, ast.Name) else None
                value = statement.value if isinstance(statement, ast.Assign) else None
                if isinstance(value, ast.Call):
                    known.append(value.func)
    return known
