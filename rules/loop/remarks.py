"""What the owner of a program should know of its loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from migrator.analyse.function.plan import Plan
from migrator.analyse.training.trainop import pauses
from migrator.analyse.training.updates import GRADIENTS
from migrator.resolve.module import Module
from migrator.resolve.reaching import block_of
from migrator.resolve.syntax import walk

from ..callbacks.evaluators import SELDOM as SELDOM_ASKED
from ..callbacks.logged_values import STEPS
from ..exports.exports import Export
from ..exports.placeholders import told_by
from .flow.chosen import SELDOM
from .flow.exclusive import is_choice
from .loop import Loop
from .sources import Source
from .specs import Validation
from .use import Use
from .variables import NAMES

ALONE = (
    "the program trains on one device now, whatever TF_CONFIG says: `--strategy parameter_server` or `--strategy multi_worker` "
    "lets it train on a cluster"
)
WITH_KERAS_2 = (
    "several devices are for Keras 2: where `tf.keras` is Keras 3, install tf_keras, and set TF_USE_LEGACY_KERAS=1"
)
OF_CLUSTERS = (
    "make_strategy() reads TF_CONFIG: with parameter servers the chief coordinates and no longer trains, so it needs a worker; "
    "workers and parameter servers serve until they are stopped; an evaluator has nothing to do any more; call a master chief"
)
AT_ITS_END = "a cluster saves a checkpoint at the end of a training alone now, where there is no save_checkpoints_steps"
BY_EPOCHS = (
    "a training ends with an epoch of save_checkpoints_steps: where it does not divide max_steps, some steps later"
)
OF_PARTS = (
    "on parameter servers an initializer that goes by the size of a variable, such as Glorot's, goes by that of a part: "
    "parts begin larger than in TensorFlow 1"
)
OF_VERBS = (
    "clients call all signatures of this SavedModel by Predict: "
    "those that classify or regress have no other method any more"
)
OF_DEFAULTS = (
    "a SavedModel has to be fed all of its inputs now: those of placeholder_with_default were left to their values"
)
OF_SUMMARIES = (
    "with parameter servers nobody writes the summaries of the model: workers do not reach a writer of the chief"
)
OF_TRAININGS = (
    "summaries are written every {} steps of all trainings now; an Estimator began anew with the first step of each"
)
OF_STATISTICS = (
    "each of several workers evaluates with its own moving statistics, where no checkpoint has given it their means"
)
NO_STEP = "what `evaluate` returns has no global_step any more: `model.optimizer.iterations` is it"
OF_METRICS = "TensorBoard shows the metrics of fit, of each epoch and of batches, in place of this summary of one"
OF_COUNTING = (
    "the data are read once before the training now, as the number of its evaluations depends on how many there are"
)
OF_NAN = (
    "an Estimator's training ends with an error where its loss is not a number; fit goes on, unless it is given "
    "callbacks=[tf.keras.callbacks.TerminateOnNaN()]"
)
BY_EXAMPLES = (
    "Keras reports the loss of an evaluation as the mean over examples, an Estimator as that over batches: "
    "they differ where the last batch is shorter"
)

BY_CORES = (
    "each core of a TPU changes or clips the gradients of its own share of a batch, before they are added up; "
    "on one device that is the whole batch"
)
_BY_TURNS = (
    "the optimizer takes a step in some turns only, under a tf.cond: with several cores of a TPU such a training ends in an "
    "error; `--strategy none` writes one without a TPU"
)
_CLIPS = re.compile(r"\b(global_clipnorm|clipnorm|clipvalue)=")
"""Arguments of optimizers that clip."""
_OF_SUM = (
    "on a TPU of several cores `{}` clips the sum of their gradients, where a TPUEstimator clipped those of each core; "
    "to do so, clip in a `train_step`, before `apply_gradients`. On one device there is no difference"
)
_UNDIVIDED = (
    "on a TPU of several cores what tf.gradients gave was added up undivided (compute_gradients of a CrossShardOptimizer "
    "divides the loss by their number, tf.gradients does not); now the loss of each core is divided first. For the old sums "
    "and limits multiply the gradients by tf.distribute.get_strategy().num_replicas_in_sync in a `train_step`, before "
    "they are clipped. On one device there is no difference"
)
_WITHOUT_TPU = (
    "a TPUEstimator that is to use a TPU ended with an error where there was none; now the program says so, and trains on "
    "one device"
)
_BETWEEN_LOOPS = (
    "with a TPU checkpoints are saved after steps that are multiples both of {} and of iterations_per_loop; an Estimator "
    "saved at the end of the first loop that was as many steps after the last checkpoint"
)
WITH_ONE_WORKER = (
    "on parameter servers the training ends after as many steps as one worker has batches; in TensorFlow 1 the chief and "
    "each worker went through all of their own data: multiply steps_per_epoch by their number for as many steps"
)

OF_NOTHING = "an Estimator passes over an evaluation of no data; Keras ends it with an error, where `skip` leaves none"
OF_UNSAVED = "a TPUEstimator that saves no checkpoints evaluates the weights that it begins with; the model those that it trained"
OF_IDLE_STOPS = (
    "the training is evaluated at its end alone now, so that no evaluation stops it early: with save_checkpoints_steps in "
    "its configuration it is evaluated every so many steps"
)
OF_WAITING = "a GlobalStepWaiterHook let a worker wait for the steps of others; now all of them begin together"
BY_STEPS = "a hook asked by time whether to stop; the program does so every {} steps now"
OF_SAVERS = "the Saver of the hook no longer writes checkpoints: RunConfig says how many are kept"
BY_SAVES = "a hook saved checkpoints by time; the program does so every {} steps now"

UNTRAINED = (
    "an Estimator raised ValueError where there was no trained model to export; "
    "where there is no checkpoint, this exports the initial weights now"
)


_NAMES = "the names are those of the weights, without the global step and the slots of optimizers"
_OWN_NAMES = "the names are those that Keras gives the weights, without the global step and the slots of optimizers"


def remarks(loop: Loop) -> Iterator[tuple[Module, ast.AST, str]]:
    """What the owner of a program should know of its loop."""
    yield from loop.otherwise
    for module, whole in loop.receivers:
        for home, fed in whole.choices or [(module, whole)]:
            if any(
                told is not None and told.has_default for told in (told_by(home, each) for each in fed.placeholders)
            ):
                yield (module if fed.given is whole.given else home), fed.given, OF_DEFAULTS
    for read in (read for read in loop.reads if read.what == NAMES):
        yield read.module, read.node, _NAMES if read.by_names else _OWN_NAMES
    for module, fed in loop.receivers:
        if len(fed.choices) > 1 and loop.first.signatures.verbs(fed.text):
            yield module, fed.given, OF_VERBS
    for source in loop.sources:
        fields, call = source.settings.fields, source.construction.call
        if loop.draws and "tf_random_seed" in fields:
            yield (
                source.module,
                fields["tf_random_seed"],
                "tf_random_seed seeds no initial values any more: tf.keras.utils.set_random_seed does, and NumPy with them",
            )
        if source.settings.session is not None:
            yield source.module, *source.settings.session
        if source.settings.unsaved and any(use.method != "train" for use in loop.uses if source in use.sources):
            yield source.module, call, OF_UNSAVED
        if source.settings.tpu.always and source.settings.tpu.resolver is None:
            yield source.module, call, _WITHOUT_TPU
        if source.settings.directory is not None and not source.needs_keras_2 and (lost := _lost(loop, source)):
            yield (
                source.module,
                call,
                f"with Keras 3 a second run does not find {lost} of the first one in its checkpoints: "
                "install tf_keras, and set TF_USE_LEGACY_KERAS=1",
            )
        if source.recorded and (apart := _begins_anew(loop, source)):
            yield source.module, call, OF_TRAININGS.format(apart)
        counted = (use for use in loop.uses if use.method == "train" and use.counted)
        if any(source in use.sources and _is_seldom(use, source) for use in counted):
            yield (
                source.module,
                call,
                f"an Estimator saves a checkpoint every {_interval(fields)}; the program does so every {SELDOM} steps now",
            )
    for use in loop.uses:
        behind = [use.input] if use.method == "evaluate" else use.inputs[1:]
        if any(each.data.skipped for each in behind):
            yield use.module, use.call, OF_NOTHING
    for use in (use for use in loop.uses if use.method == "train" and use.interval is not None):
        together, interval = use.sources[0].settings.tpu.loop, use.interval
        if together is not None and isinstance(interval, (ast.expr, int)) and not _divides(together, interval):
            steps = ast.unparse(interval) if isinstance(interval, ast.expr) else str(interval)
            yield use.module, use.call, _BETWEEN_LOOPS.format(steps)
    if loop.distribution is not None:
        source, strategy = loop.first, loop.distribution.strategy
        yield source.module, strategy or source.construction.call, WITH_KERAS_2
        if strategy is None:
            yield source.module, source.construction.call, OF_CLUSTERS
            for use in (use for use in loop.uses if use.method == "train" and use.limit is None):
                yield use.module, use.call, WITH_ONE_WORKER
        for use in (use for use in loop.uses if use.method == "train" and use.saves and not use.counted):
            if use.interval is not None:
                yield use.module, use.call, AT_ITS_END
            elif use.every is not None and use.divided is None:
                yield use.module, use.call, BY_EPOCHS
        if strategy is None and source.recorded:
            yield source.module, source.construction.call, OF_SUMMARIES
        evaluated = (use for use in loop.uses if use.method == "evaluate" or use.validation is not None)
        alone = any(use.every is not None or not use.saves for use in evaluated)
        if strategy is None and loop.distribution.evened and alone:
            yield source.module, source.construction.call, OF_STATISTICS
        if loop.distribution.servers:
            yield source.module, source.construction.call, OF_PARTS
    shown = next((use for use in loop.uses if use.method == "evaluate" and _is_shown(use)), None)
    if shown is not None:
        yield shown.module, shown.call, NO_STEP
    lines = dict.fromkeys(
        (use.module if line in use.hooks.logged else use.sources[0].module, line)
        for use in loop.uses
        for line in use.logged
    )
    for module, line in lines:
        if line.averaged:
            yield module, line.at, f"Keras logs means since an epoch began: {', '.join(line.averaged)}"
        if line.timed:
            yield module, line.at, f"callbacks of Keras count steps: what was logged by time is so every {STEPS} steps"
        if line.left:
            yield (
                module,
                line.at,
                f"callbacks of Keras get single numbers: {', '.join(line.left)} is not logged any more",
            )
    for own in {own.hook.definition: own for use in loop.uses for own in use.own if own.averaged}.values():
        means = f"Keras logs means since an epoch began: {', '.join(own.averaged)}"
        yield own.hook.module, own.hook.definition, means
    unchecked = next((use for use in loop.uses if use.method == "train" and not use.terminates), None)
    if unchecked is not None:
        yield unchecked.module, unchecked.call, OF_NAN
    for module in loop.modules:
        for node, name in module.references():
            if name == "random.seed":
                yield (
                    module,
                    node,
                    "Keras draws seeds from Python's `random` when it makes layers: what the program draws from it "
                    "afterwards are other numbers than before",
                )
    served = [(export.module, export.call, export.fed, export.signatures) for export in loop.exports]
    for use in loop.uses:
        served += [(use.module, use.call, each.fed, use.sources[0].signatures) for each in use.exporters]
    plain = [(module, at) for module, at, fed, signatures in served if not loop.archives(fed, signatures)]
    for module, at in dict.fromkeys(plain):
        text = "finds no weights in what tf.saved_model.save writes, and models that are fed integers cannot be saved"
        yield module, at, f"with Keras 3 TensorFlow Serving {text}: install tf_keras, and set TF_USE_LEGACY_KERAS=1"
    for export in loop.exports:
        if export.path is None and not _is_trained(loop, export):
            yield export.module, export.call, UNTRAINED
    for use in loop.uses:
        for stop in (each for each in use.hooks.stops if not each.at_once):
            yield (
                use.module,
                stop.name,
                "the evaluation that says so ends the training now; an Estimator looked at it some steps later",
            )
        for stop in use.hooks.idle:
            yield use.module, stop.name, OF_IDLE_STOPS
        if use.hooks.waits:
            yield use.module, use.call, OF_WAITING
        for asked in (each for each in use.hooks.asked if each.every is None):
            yield use.module, asked.name, BY_STEPS.format(SELDOM_ASKED)
        if use.saver is not None and use.saver.saver is not None:
            yield use.module, use.saver.saver, OF_SAVERS
        if "save_checkpoints_secs" in (use.saver.interval if use.saver is not None else ()):
            yield use.module, use.call, BY_SAVES.format(SELDOM)
        if use.measured and not use.input.data.counted:
            yield use.module, use.call, OF_COUNTING
        if use.hooks.profiles:
            yield use.module, use.call, "the profile is for TensorBoard now, and that of one step"
        written = use.method == "train" and "output_dir" in use.sources[0].hooks.summaries
        if use.saves and (use.hooks.boards or written):
            yield (
                use.module,
                use.call,
                "what a hook wrote to a folder of its own is written to that of the checkpoints now",
            )
        if use.validation is not None:
            for told, text in _of_validation(use, use.validation, use.fields):
                yield use.module, told, text


def _is_seldom(use: Use, source: Source) -> bool:
    """Whether a training saves as often as that of an Estimator which is not told a number of steps."""
    told = "save_checkpoints_steps" in source.settings.fields
    return use.interval == SELDOM or (isinstance(use.interval, ast.expr) and is_choice(use.interval) and not told)


def _begins_anew(loop: Loop, source: Source) -> str:
    """The steps between two summaries, where a training need not begin with one of them."""
    trainings = [use for use in loop.uses if use.method == "train" and source in use.sources]
    several = len(trainings) > 1 or any(use.repeated for use in trainings)
    every = source.settings.fields.get("save_summary_steps", ast.Constant(100))
    divided = all(
        use.limit is not None and _divides(every, use.limit) and use.data[0].ends is False for use in trainings
    )
    return ast.unparse(every) if several and not divided else ""


def of_cores(loop: Loop, plan: Plan, text: str) -> Iterator[tuple[Module, ast.AST, str]]:
    """What several cores of a TPU do otherwise with gradients, by the model as it is written."""
    if not loop.on_tpu:
        return
    source = loop.first
    if pauses(plan):
        yield source.module, source.construction.call, _BY_TURNS
    elif "def train_step(" in text:
        yield source.module, source.construction.call, BY_CORES
    if (clips := _CLIPS.search(text)) is not None:
        yield source.module, source.construction.call, _OF_SUM.format(clips[1])
    calls = (node for leaf in plan.gradients for node in walk(leaf.node) if isinstance(node, ast.Call))
    taken = next((call for call in calls if plan.module.resolve(call.func) == GRADIENTS), None)
    if taken is not None:
        yield plan.module, taken, _UNDIVIDED


def _is_trained(loop: Loop, export: Export) -> bool:
    """Whether a training surely comes before an export."""
    module = export.module
    around = {module.statement(export.call), *module.ancestors(export.call)}
    for use in loop.uses:
        if use.method == "train" and use.module is module and set(export.sources) <= set(use.sources):
            block = block_of(module, module.statement(use.call))
            below = block[block.index(module.statement(use.call)) + 1 :]
            if around & set(below):
                return True
    return False


def _interval(fields: Mapping[str, ast.expr]) -> str:
    """How long an Estimator waits before it saves the next checkpoint."""
    seconds = fields.get("save_checkpoints_secs")
    return "10 minutes" if seconds is None else f"{ast.unparse(seconds)} seconds"


def _divides(part: ast.expr, whole: ast.expr | int) -> bool:
    """Whether a number of steps is seen to be a multiple of another."""
    values = [node.value if isinstance(node, ast.Constant) else node for node in (part, whole)]
    if ast.dump(part) == (ast.dump(whole) if isinstance(whole, ast.expr) else ""):
        return True
    first, second = values
    return isinstance(first, int) and isinstance(second, int) and first > 0 and second % first == 0


def _is_shown(use: Use) -> bool:
    """Whether a program prints or hands on all that an evaluation returns."""
    module, parent = use.module, use.module.parent(use.call)
    places: list[ast.expr] = [use.call]
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Name):
        name = parent.targets[0]
        places = list(module.loads_of(name.id, module.scope(name).holder(name.id)))
    outer = [module.parent(place) for place in places]
    return any(isinstance(node, (ast.Call, ast.FormattedValue, ast.keyword)) for node in outer)


def _of_validation(use: Use, validation: Validation, fields: Mapping[str, ast.expr]) -> Iterator[tuple[ast.AST, str]]:
    if "save_checkpoints_steps" not in fields:
        yield (
            use.call,
            "an Estimator evaluates amid the training, too, by save_checkpoints_secs and throttle_secs; the program does so "
            + ("at the end alone now" if use.every is None else f"every {SELDOM} steps now"),
        )
    never = isinstance(validation.throttled, ast.Constant) and validation.throttled.value == 0
    if use.every is not None and not never:
        yield use.call, "each checkpoint is evaluated now; an Estimator passes over those within throttle_secs"


def reports_loss(loop: Loop, models: list[str]) -> Use | None:
    """The first evaluation of a loop, where one of the `models`, as they are written, gives its loss to `compile`; a Keras model
    of the program does."""
    compiled = any(source.model is not None for source in loop.sources) or any(
        re.search(r"\bcompile\([^#]*?\bloss=", text) for text in models
    )
    evaluations = (use for use in loop.uses if use.method == "evaluate" or use.validation is not None)
    return next(evaluations, None) if compiled else None


def _lost(loop: Loop, source: Source) -> str:
    """What is not there when a checkpoint is restored, as nothing has made it: all weights, or those of the optimizer."""
    if not loop.built(source) or source.weights is None:
        return "the weights"
    return "" if source.weights.stepped else "what the optimizer keeps"


def of_what_is_gone(use: Use) -> list[str]:
    """Comments on what an Estimator did in a training, and `fit` does not."""
    found = []
    if use.saves and not use.counted and use.interval is not None:
        found.append("# A cluster saves a checkpoint at the end alone.")
    asked = use.validation is not None and use.validation.throttled is not None
    if asked and use.every is None and "save_checkpoints_steps" not in use.fields:
        found.append("# It is evaluated once, at the end: nothing goes by throttle_secs.")
    left = [name for line in use.logged for name in line.left]
    if left:
        found.append(f"# Not logged any more: {', '.join(left)}, of more numbers than one.")
    if use.hooks.idle:
        found.append("# No evaluation stops it early, as there is one at the end alone.")
    return found
