"""Heads in a model_fn: ``head.create_estimator_spec(…)`` spelled out as the specs that it makes, so that native migrates them.

What it computes is `create_estimator_spec` of the heads of TensorFlow 1.15. The methods that the statements call are those
of the vendored heads, but for two that only mark what takes their place: `METRICS` and `EXPORTS`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.analyse.function.translate import Expression, Writing, bind, is_none
from migrator.emit.render import Renderer
from migrator.normalise.desugaring import Desugaring
from migrator.normalise.draft.draft import Change, Drafts
from migrator.resolve.module import Module
from migrator.resolve.project import Project
from migrator.resolve.syntax import walk
from migrator.rewrite import Comments, Remove, Rename, Replace, code
from migrator.rewrite import lines as statements_of

from ..symbols.tensorflow_names import whole_name
from .canned_heads import HEADS, head_arguments, head_edits
from .head_formulas import HeadFormulas, formulas_of
from .spec_heads import METHOD, heads_of_specs

if TYPE_CHECKING:
    from ..estimator_calls.driver import Driver

SIGNATURE = "features mode logits labels optimizer train_op_fn regularization_losses"
_SIGNATURE_2 = "features mode logits labels optimizer trainable_variables train_op_fn update_ops regularization_losses"
"""Of heads of TensorFlow 2."""
METRICS = "estimator_metric_ops"
EXPORTS = "estimator_export_outputs"
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


@Desugaring
def expand(drafts: Drafts, module: Module, call: ast.Call) -> list[Change]:
    """The statements that do what ``head.create_estimator_spec(…)`` does; none for other calls. Raises Unsupported.

    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        head = tf.contrib.estimator.regression_head()
        logits = tf.layers.dense(features["x"], 1)
        return head.create_estimator_spec(
            features, mode, logits, labels, optimizer=tf.train.AdamOptimizer(0.1)
        )


    estimator = tf.estimator.Estimator(model_fn)
    ```
    becomes
    ```python
    import tensorflow as tf


    def model_fn(features, labels, mode):
        logits = tf.layers.dense(features["x"], 1)
        predictions = {"predictions": logits}
        if mode == tf.estimator.ModeKeys.PREDICT:
            return tf.estimator.EstimatorSpec(mode, predictions=predictions)
        targets = tf.reshape(tf.cast(labels, tf.float32), [-1, 1])
        loss = tf.losses.mean_squared_error(targets, logits)
        if mode == tf.estimator.ModeKeys.EVAL:
            return tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, eval_metric_ops={"average_loss": tf.metrics.mean_squared_error(targets, logits)})
        with tf.name_scope("head"):
            train_op = tf.train.AdamOptimizer(0.1).minimize(loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=tf.group(train_op, *tf.get_collection(tf.GraphKeys.UPDATE_OPS)))


    estimator = tf.estimator.Estimator(model_fn)
    ```
    """  # noqa: E501
    if not isinstance(call.func, ast.Attribute) or call.func.attr != METHOD:
        return []
    project = drafts.project
    heads = heads_of_specs(project, call)
    names, new = heads.names, heads.new
    try:
        bound = bind(call, _SIGNATURE_2 if new else SIGNATURE, METHOD)
        given = {name: value for name, value in bound.items() if not is_none(value)}
    except Unsupported as problem:
        raise Unsupported(problem.reason, call) from problem
    if new and not {"trainable_variables", "optimizer"}.isdisjoint(given):
        raise Unsupported("an optimizer of Keras takes the step of a head", given.get("optimizer", call))
    alike = len({None if name is None else ast.dump(name) for name in names}) == 1
    formulas = formulas_of(project, module, call.func.value, call) if alike else None
    if formulas is None and heads.reduced is not None:
        raise Unsupported("a head in a model_fn with this `loss_reduction` writes summaries of its own", heads.reduced)
    if formulas is not None and "labels" in given and formulas.gone:
        left = ", ".join(formulas.gone)
        drafts.remark(module, call, f"of what a head reports, the model leaves out {left}, which Keras does not have")
    return _Spelling(module, call, call.func.value, given, names, new, formulas).changes()


@dataclass(frozen=True)
class _Said:
    """What takes the place of the head in the spec."""

    forward: list[str]
    """Statements that make the predictions."""
    exports: str
    before: list[str] = field(default_factory=list)
    """Statements before the loss."""
    loss: str = ""
    metrics: str = ""
    entries: list[str] = field(default_factory=list)
    """Those of the metrics, if they are a dict."""
    shown: dict[str, str] = field(default_factory=dict)
    """What summaries of a training show, by tag."""


@dataclass
class _Spelling:
    """A call of `create_estimator_spec`, and the statements that take its place."""

    module: Module
    call: ast.Call
    head: ast.expr
    given: dict[str, ast.expr]
    names: list[ast.expr | None]
    """Those of the heads that it may be a method of; None for one without."""
    new: bool
    """Whether these are heads of TensorFlow 2, which run no update ops but those that they are given."""
    formulas: HeadFormulas | None = None
    """What the head computes, if that is written out."""

    def changes(self) -> list[Change]:
        """The statements in the place of the one that returns the spec, or gives it a name."""
        module, statement = self.module, self.module.statement(self.call)
        indent = module.indent(statement)
        target = ""
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = module.segment(statement.targets[0]) + " = "
        if (
            module.parent(self.call) is not statement
            or indent is None
            or not isinstance(statement, (ast.Assign, ast.Return))
        ):
            raise Unsupported("the spec of a head is neither returned nor given a name", self.call)
        lines = self._lines("return " if isinstance(statement, ast.Return) else target)
        new = statements_of("\n".join(indent + line for line in lines))
        return [*Change.every([(module, Replace(statement, new))]), *self._units()]

    def _lines(self, start: str) -> list[str]:
        given, tf = self.given, self._tensorflow()
        head = self._text(self.head)
        for name in ("mode", "logits", "features"):
            if name not in given:
                raise Unsupported(f"{METHOD} lacks `{name}`", self.call)
        mode, loss = self._text(given["mode"]), self._unused("loss")
        penalty = given.get("regularization_losses")
        predictions, labels = self._unused("predictions"), given.get("labels")
        spec, modes = f"{start}{tf}.estimator.EstimatorSpec({mode}, ", f"{tf}.estimator.ModeKeys."
        if self.formulas is not None:
            said = self._formulas(self.formulas, predictions, loss, tf)
        else:
            said = self._asked(head, predictions)
        lines = [
            *said.forward,
            f"if {mode} == {modes}PREDICT:",
            f"    {spec}predictions={predictions}{said.exports})",
        ]
        if labels is None:  # the branch of a program for predictions alone
            return lines
        inner, metrics = said.before, said.metrics
        value = said.loss
        if penalty is not None:
            added = self._unused("regularization_loss")
            inner, value = [*inner, f"{added} = {tf}.add_n({self._text(penalty)})"], f"{value} + {added}"
            mean = f"{tf}.metrics.mean({added})"
            metrics = f"dict({metrics}, regularization_loss={mean})"
            if said.entries:
                metrics = _dict([*said.entries, f'"regularization_loss": {mean}'])
        inner = [*inner, f"{loss} = {value}"]
        evaluated = f"predictions={predictions}, loss={loss}, eval_metric_ops={metrics}"
        inner += [f"if {mode} == {modes}EVAL:", f"    {spec}{evaluated})"]
        shown = said.shown if penalty is None else {**said.shown, "regularization_loss": added}
        train = [f'{tf}.summary.scalar("{tag}", {value})' for tag, value in shown.items()]
        train += self._train(loss, spec, tf)
        if start == "return ":
            return [*lines, *inner, *train]
        inner += ["else:", *(f"    {line}" for line in train)]
        return [*lines, "else:", *(f"    {line}" for line in inner)]

    def _asked(self, head: str, predictions: str) -> _Said:
        """What is asked of the vendored head."""
        lines = []
        if isinstance(self.head, ast.Call):
            head = self._unused("head")
            lines.append(f"{head} = {self._text(self.head)}")
        lines.append(f"{predictions} = {head}.predictions({self._text(self.given['logits'])})")
        exports = f", export_outputs={head}.{EXPORTS}({predictions})"
        labels = self.given.get("labels")
        if labels is None:
            return _Said(lines, exports)
        batch = f"{self._text(self.given['features'])}, {self._text(labels)}, {predictions}"
        return _Said(lines, exports, [], f"{head}.loss({batch})", f"{head}.{METRICS}({batch})")

    def _formulas(self, head: HeadFormulas, predictions: str, total: str, tf: str) -> _Said:
        """What the head computes."""
        given, forward = self.given, []
        logits = self._text(given["logits"])
        if not isinstance(given["logits"], ast.Name):
            name = self._unused("logits")
            forward, logits = [f"{name} = {logits}"], name
        ids = self._unused("class_ids")
        forward += head.predictions(logits, predictions, ids, tf)
        exports = f", export_outputs={head.outputs(predictions, tf)}" if head.exported else ""
        if "labels" not in given:
            return _Said(forward, exports)
        labels = self._unused("label_ids" if head.kind == "classes" else "targets")
        before, weights = list(head.labels(self._text(given["labels"]), labels, self._unused("table"), tf)), ""
        losses = head.losses(labels, logits, tf)
        if head.weights:
            weights, name = self._unused("weights"), self._unused("losses")
            before += [head.weighted(self._text(given["features"]), weights, tf), f"{name} = {losses}"]
            losses = name
        loss = head.loss(labels, logits, losses, weights, tf)
        entries = list(head.metrics(labels, logits, ids, losses, weights, tf))
        if head.summed and "regularization_losses" in given:  # the summary is of the loss of the data alone
            total = self._unused("data_loss")
            before, loss = [*before, f"{total} = {loss}"], total
        shown = head.shown(total, labels, losses, weights, tf)
        return _Said(forward, exports, before, loss, _dict(entries), entries, shown)

    def _train(self, loss: str, spec: str, tf: str) -> list[str]:
        """The train op, together with the update ops that the graph has collected."""
        optimizer, function = self.given.get("optimizer"), self.given.get("train_op_fn")
        if (optimizer is None) == (function is None):
            return [f'raise ValueError("{METHOD} takes either an optimizer or a train_op_fn")']
        if optimizer is not None:
            if not isinstance(optimizer, _ATOMS):
                raise Unsupported("the optimizer of a head is not seen", optimizer)
            made = f"{self._text(optimizer)}.minimize({loss}, global_step={tf}.train.get_global_step())"
        else:
            assert function is not None
            made = self._applied(function, loss)
        name = self._unused("train_op")
        updates = f"*{tf}.get_collection({tf}.GraphKeys.UPDATE_OPS)"
        lines = [f"{name} = {made}"]
        scope = {
            node.value if isinstance(node, ast.Constant) else "head" if node is None else None for node in self.names
        }
        scope = {"training"} if self.new else scope
        if len(scope) == 1 and isinstance(named := scope.pop(), str):  # whose summaries have it before their tags
            lines = [f'with {tf}.name_scope("{named}"):', f"    {name} = {made}"]
        if self.new:
            given = self.given.get("update_ops")
            if given is None:
                return [*lines, f"{spec}loss={loss}, train_op={name})"]
            updates = f"*{self._text(given)}"
        return [*lines, f"{spec}loss={loss}, train_op={tf}.group({name}, {updates}))"]

    def _applied(self, function: ast.expr, loss: str) -> str:
        """The call of the function that makes the train op; the body of a lambda with the loss in it."""
        if not isinstance(function, ast.Lambda):
            return f"{self._text(function)}({loss})"
        arguments = function.args
        plain = len(arguments.args) == 1 and not (arguments.vararg or arguments.kwarg or arguments.kwonlyargs)
        if not plain or any(isinstance(node, (ast.Lambda, ast.comprehension)) for node in walk(function.body)):
            raise Unsupported("the train_op_fn of a head is not followed", function)
        name = arguments.args[0].arg

        def value(node: ast.AST) -> str | None:
            return loss if isinstance(node, ast.Name) and node.id == name else None

        return Renderer(self.module).expression(function.body, value)

    def _units(self) -> list[Change]:
        """The number of logits, and where it is asked whether there are labels; the head itself, where nothing is left of it
        and the function makes it (`head_reference` is about those that several functions share)."""
        module, statement = self.module, self.module.statement(self.call)
        function = next(a for a in module.ancestors(self.call) if isinstance(a, ast.FunctionDef))
        found, here = list[Change](), 0
        for node in walk(function):
            if isinstance(node, ast.Attribute) and node.attr == "logits_dimension":
                if ast.dump(node.value) == ast.dump(self.head) and module.statement(node) is not statement:
                    here += 1
                    units = None if self.formulas is None else code(self.formulas.units)
                    found += Change.of(module, Rename(node, "units") if units is None else Replace(node, units))
            elif isinstance(node, ast.Compare) and self.formulas is not None and self._asks_for_labels(node):
                op = "!=" if isinstance(node.ops[0], ast.IsNot) else "=="
                modes = f"{self._tensorflow()}.estimator.ModeKeys"
                asks = code(f"{self._text(self.given['mode'])} {op} {modes}.PREDICT")
                found += Change.of(module, Replace(node, asks))
                found += self._remark_about_labels(module.statement(node))
        made = self.formulas.made if self.formulas is not None else None
        if made is not None and module.is_inside(made, function) and isinstance(self.head, ast.Name):
            loads = module.loads_of(self.head.id, module.scope(self.head).lookup(self.head.id))
            if len(loads) == here + 1:
                found += Change.of(module, Remove(made, apart=True))
        return found

    def _remark_about_labels(self, statement: ast.stmt) -> list[Change]:
        """The deletion of comments above a condition that say when labels are None."""
        told = any("None" in line for line in self.module.comments_above(statement))
        return Change.of(self.module, Comments(statement, ())) if told and isinstance(statement, ast.If) else []

    def _asks_for_labels(self, node: ast.Compare) -> bool:
        """Whether a condition asks for the labels of the spec, which a head needs wherever it has a loss."""
        labels, mode = self.given.get("labels"), self.given["mode"]
        if not isinstance(labels, ast.Name) or not isinstance(mode, ast.Name):
            return False
        same = isinstance(node.left, ast.Name) and node.left.id == labels.id
        return same and isinstance(node.ops[0], (ast.Is, ast.IsNot)) and is_none(node.comparators[0])

    def _text(self, node: ast.expr) -> str:
        text = self.module.segment(node)
        return text if isinstance(node, (*_ATOMS, ast.Constant, ast.List, ast.Tuple, ast.Dict)) else f"({text})"

    def _unused(self, name: str) -> str:
        return self.module.unused_name(name, self.call)

    def _tensorflow(self) -> str:
        """How the file names TensorFlow 1 as a whole."""
        name = whole_name(self.module)
        if name is None:
            raise Unsupported("the file has no name for TensorFlow as a whole", self.call)
        return name


def _dict(entries: list[str]) -> str:
    return f"{{{', '.join(entries)}}}"


def _made(name: str) -> Expression:
    """The translation of a call that makes a head."""

    def translate(call: ast.Call, writing: Writing) -> str:
        helper, given = head_arguments(call, name, writing.resolve)
        texts = [f"{key}={writing.text(value)}" for key, value in given]
        function = writing.need(helper)
        if any(key == "name" for key, _ in given):
            function, texts = writing.need("named_head"), [function, *texts]
        return f"{function}({', '.join(texts)})"

    return translate


EXPRESSIONS: dict[str, Expression] = {name: _made(name) for name in HEADS}


def head_reference(driver: Driver, node: ast.expr, name: str) -> bool:
    """Migrate a head that is made outside of the model_fn which it is for; False for other names.

    One whose specs are all written out by now goes.
    """
    call = driver.module.parent(node)
    if name not in EXPRESSIONS or not isinstance(call, ast.Call) or call.func is not node:
        return False
    made = unread_head(driver.project, driver.module, node, name)
    if made is not None:
        driver.handled.update(child for child in ast.walk(call) if isinstance(child, ast.expr))
        driver.change(Remove(made, apart=True))
        return True
    reductions = [k.value for k in call.keywords if k.arg == "loss_reduction"]
    driver.handled.update((node, *reductions))
    driver.edits += head_edits(driver.module, call, name, driver.need)
    return True


def unread_head(project: Project, module: Module, node: ast.expr, name: str) -> ast.Assign | None:
    """The statement of a file that makes a head which nothing reads, by the reference to its function."""
    call = module.parent(node)
    made = module.parent(call) if name in EXPRESSIONS and isinstance(call, ast.Call) and call.func is node else None
    target = made.targets[0] if isinstance(made, ast.Assign) and len(made.targets) == 1 else None
    if not isinstance(made, ast.Assign) or not isinstance(target, ast.Name) or made not in module.tree.body:
        return None
    scope = module.analysis.root
    read = project.readers.of(module, scope, target.id) or project.readers.elsewhere(module, scope, target.id)
    return None if read else made


def is_left_head(driver: Driver, node: ast.expr, name: str) -> bool:
    """Whether a reference makes a head that no canned Estimator has taken, though the program has some."""
    if name not in EXPRESSIONS or node in driver.heads:
        return False
    return all((edit.start, edit.end) != driver.module.span(node) for edit in driver.edits)
