"""Hooks and Scaffolds of an EstimatorSpec: the callbacks they become, and the tensors that the model hands to these."""

from __future__ import annotations

import pytest
from modelfn.programs import LOSS, SPEC, TRAIN_OP, manual_reason, method, migrate, model_fn

NET = 'predictions = tf.layers.dense(features["x"], 3, name="fc")'
HOOK = "tf.train.LoggingTensorHook({}, every_n_iter=10)"
OWN = """
class Watcher(tf.train.SessionRunHook):
    def __init__(self, every, value):
        self.every = every
        self._value = value

    def before_run(self, run_context):
        return tf.train.SessionRunArgs({"value": self._value})

    def after_run(self, run_context, run_values):
        print(self.every, run_values.results["value"])
"""


def program(hooks: str, *, between: str = "", field: str = "training_hooks", before: str = "", net: str = NET) -> str:
    """A model_fn whose spec has `hooks`."""
    spec = SPEC.replace(")", f", {field}={hooks})")
    return model_fn(net, end=f"{LOSS}\n{TRAIN_OP}\n{between}\n{spec}", before=before)


def factory(text: str) -> str:
    """The end of the function that builds the model."""
    return text[text.index("model.compile") : text.index("return configure")].split("\n", 1)[1].strip()


@pytest.mark.parametrize(
    ("hooks", "between"),
    [
        ("[{}]", ""),
        ("({},)", ""),
        ("[hook]", "hook = {}"),
        ("hooks", "hook = {}\nhooks = [hook]"),
        ("hooks", "hooks = []\nhooks.append({})"),
        ("hooks", "hooks = []\nhooks += [{}]"),
        ("[] + [{}]", ""),
        ("hooks", "hooks = []\nhook = {}\nhooks.extend([hook])"),
    ],
)
def test_lists_of_hooks(hooks: str, between: str) -> None:
    made = HOOK.format('{"loss": loss}')
    text = migrate(program(hooks.format(made), between=between.format(made)))
    assert 'watch(self, "loss", loss)' in method(text, "compute_loss")
    assert factory(text) == 'callbacks = [TensorLogger(["loss"], every_n_iter=10)]'
    assert "model_dir=model_dir, callbacks=callbacks\n    )" in text


@pytest.mark.parametrize(
    ("tensors", "statements", "made"),
    [
        ('{"mse": loss}', ['watch(self, "mse", loss)'], '["mse"]'),
        ("[loss]", ['watch(self, "loss", loss)'], '["loss"]'),
        ('{"a/b": loss}', ['watch(self, "a_b", loss)'], '{"a/b": "a_b"}'),
        (
            '{"p": predictions, "twice": 2 * loss}',
            ['watch(self, "p", predictions)', 'watch(self, "twice", 2 * loss)'],
            '["p", "twice"]',
        ),
        (
            '{"step": tf.train.get_global_step()}',
            ['watch(self, "step", self.optimizer.iterations + 1)'],
            '["step"]',
        ),
        ("tensors", ['watch(self, "loss", loss)'], '["loss"]'),
    ],
)
def test_tensors_that_are_logged(tensors: str, statements: list[str], made: str) -> None:
    text = migrate(program(f"[{HOOK.format(tensors)}]", between='tensors = {"loss": loss}'))
    written = method(text, "call") + method(text, "compute_loss")
    assert all(f"    {statement}\n" in written for statement in statements)
    assert factory(text) == f"callbacks = [TensorLogger({made}, every_n_iter=10)]"


def test_a_name_of_an_op_is_watched_where_the_op_is() -> None:
    net = 'predictions = tf.layers.dense(features["x"], 3)\nmean = tf.reduce_mean(predictions, name="mean")'
    end = f"{LOSS}\nloss += tf.abs(mean)\n{TRAIN_OP}\n" + SPEC.replace(
        ")", f", training_hooks=[{HOOK.format(['mean'])}])"
    )
    text = migrate(model_fn(net, end=end))
    assert 'watch(self, "mean", tf.reduce_mean(y_pred, name="mean"))' in method(text, "compute_loss")


def test_equal_tags_of_different_tensors_have_different_names() -> None:
    hooks = f"[{HOOK.format('{%s: loss}')}, {HOOK.format('{%s: 2 * loss}')}]".replace("%s", '"l"')
    text = migrate(program(hooks))
    assert 'watch(self, "l", loss)\n    watch(self, "l_2", 2 * loss)' in method(text, "compute_loss")
    assert 'TensorLogger({"l": "l_2"}, every_n_iter=10)' in factory(text)


def test_metrics_are_watched_where_they_are_computed() -> None:
    spec = SPEC.replace(")", ', eval_metric_ops={"mean": mean}, training_hooks=[%s])' % HOOK.format('{"m": mean[1]}'))
    metric = "mean = tf.metrics.mean(predictions)"
    text = migrate(model_fn(NET, end=f"{LOSS}\n{metric}\n{TRAIN_OP}\n{spec}"))
    assert 'watch(self, "m", self.mean.result())' in method(text, "compute_metrics")
    assert factory(text) == 'callbacks = [TensorLogger(["m"], every_n_iter=10, metrics=True)]'


def test_hooks_of_evaluations() -> None:
    text = migrate(program(f"[{HOOK.format('{%s: loss}' % repr('l'))}]", field="evaluation_hooks"))
    assert "evaluation_callbacks = [TensorLogger(" in factory(text)
    assert "evaluation_callbacks=evaluation_callbacks" in text


def test_a_comment_goes_with_its_hook() -> None:
    text = migrate(program("[hook]", between=f"# every tenth step\nhook = {HOOK.format('[loss]')}"))
    assert factory(text).startswith("# every tenth step\n    callbacks = ")


def test_other_hooks_without_tensors() -> None:
    hooks = "[tf.train.StopAtStepHook(last_step=params['last']), tf.train.NanTensorHook(loss)]"
    text = migrate(program(hooks))
    assert factory(text) == "callbacks = [StopAtStep(last_step=params['last'])]"


def test_a_hook_of_the_program_is_given_names_for_tensors() -> None:
    text = migrate(program("[Watcher(params['n'], value=loss)]", before=OWN))
    assert "callbacks = [HookCallback(Watcher(params['n'], value=\"value\"))]" in text
    assert 'watch(self, "value", loss)' in method(text, "compute_loss")
    assert "class Watcher(tf.compat.v1.train.SessionRunHook):" in text


@pytest.mark.parametrize(
    ("scaffold", "config"),
    [
        ("tf.train.Scaffold()", ""),
        ("tf.train.Scaffold(local_init_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer()))", ""),
        ("tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=3))", "keep_checkpoint_max=3"),
        ("tf.train.Scaffold(saver=tf.train.Saver())", "keep_checkpoint_max=5"),
        (
            "tf.train.Scaffold(saver=tf.train.Saver(tf.global_variables(), max_to_keep=params['n'], sharded=True))",
            "keep_checkpoint_max=params['n']",
        ),
        ("scaffold", "keep_checkpoint_max=2, keep_checkpoint_every_n_hours=1"),
    ],
)
def test_scaffolds(scaffold: str, config: str) -> None:
    between = "saver = tf.train.Saver(max_to_keep=2, keep_checkpoint_every_n_hours=1)\nscaffold = tf.train.Scaffold(saver=saver)"
    text = migrate(program(scaffold, between=between, field="scaffold"))
    line = f"    config = (config or RunConfig()).replace({config})\n    with make_strategy(config).scope():"
    assert line in text if config else "RunConfig" not in text


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("training_hooks", "[tf.train.SummarySaverHook(5, output_dir='d', summary_op=loss)]", "works on its graph"),
        ("training_hooks", "params['hooks']", "are not seen"),
        ("training_hooks", "[params['hook']]", "a hook of an EstimatorSpec is not seen"),
        ("training_hooks", f"[{HOOK.format('{params: loss}')}]", "is not a literal"),
        ("training_hooks", f"[{HOOK.format('[2 * loss]')}]", "neither a tag nor a name"),
        ("training_hooks", "[tf.train.LoggingTensorHook([loss], 5, at_end=True)]", "`at_end` of a LoggingTensorHook"),
        ("training_hooks", "[tf.train.NanTensorHook(2 * loss)]", "not the loss"),
        ("training_hooks", "[tf.train.NanTensorHook(loss, fail_on_nan_loss=False)]", "only warns"),
        ("training_hooks", f"[{HOOK.format(['tf.layers.dense(predictions, 2)'])}]".replace("'", ""), "neither a tag"),
        (
            "training_hooks",
            f"[{HOOK.format('{%s: tf.layers.dense(predictions, 2)}' % repr('d'))}]",
            "a layer or a metric that nothing else reads",
        ),
        ("evaluation_hooks", "[tf.train.StopAtStepHook(5)]", "works on its graph"),
        ("prediction_hooks", f"[{HOOK.format('[predictions]')}]", "works on its graph"),
        ("scaffold", "tf.train.Scaffold(init_fn=params['f'])", "`init_fn` of a Scaffold works on the graph"),
        ("scaffold", "tf.train.Scaffold(saver=tf.train.Saver([loss]))", "holds some variables only"),
        ("scaffold", "params['scaffold']", "is not seen"),
    ],
)
def test_what_needs_a_graph_is_left(field: str, value: str, reason: str) -> None:
    assert reason in manual_reason(program(f"{value}  # HERE\n    ", field=field))


A, B, STOP = HOOK.format('{"a": loss}'), HOOK.format('{"b": 2 * loss}'), "tf.train.StopAtStepHook(5)"
MADE_A, MADE_B = 'TensorLogger(["a"], every_n_iter=10)', 'TensorLogger(["b"], every_n_iter=10)'
TRAINING = "mode == tf.estimator.ModeKeys.TRAIN"


@pytest.mark.parametrize(
    ("hooks", "between", "made"),
    [
        ("hooks", f"hooks = []\nif params['log']:\n    hooks.append({A})", "[]\nif params['log']:\n    +{a}"),
        (f"[{A}] if params['log'] else None", "", "[]\nif params['log']:\n    +{a}"),
        (f"None if params['log'] else [{A}]", "", "[]\nif not params['log']:\n    +{a}"),
        (f"[{A}] if params['log'] else [{B}]", "", "?if params['log']:\n    ={a}\nelse:\n    ={b}"),
        (f"[{STOP}] + ([{A}] if LOG else [])", "", "[StopAtStep(num_steps=5)]\nif LOG:\n    +{a}"),
        ("hooks or None", f"hooks = []\nif LOG:\n    h = {A}\n    hooks += [h]", "[]\nif LOG:\n    +{a}"),
        ("hooks if hooks else None", f"hooks = []\nif LOG:\n    hooks += [{A}]", "[]\nif LOG:\n    +{a}"),
        ("hooks", f"hooks = None\nif {TRAINING} and LOG:\n    hooks = [{A}]", "[]\nif LOG:\n    +{a}"),
        (
            "hooks",
            f"hooks = None\nif {TRAINING} and LOG and (params['n'] or params['m']):\n    hooks = [{A}]",
            "[]\nif LOG and (params['n'] or params['m']):\n    +{a}",
        ),
        ("hooks", f"hooks = None\nif {TRAINING}:\n    hooks = [{A}]", "[{a}]"),
        ("hooks", f"hooks = [{B}]\nif LOG:\n    hooks = [{A}]", "?if LOG:\n    ={a}\nelse:\n    ={b}"),
        (
            "hooks",
            f"hooks = [{B}]\nif LOG:\n    hooks = hooks + [{A}]",
            "?if LOG:\n    ={b}, {a}\nelse:\n    ={b}",
        ),
        (
            "hooks",
            f"hooks = [{B}]\nif LOG:\n    if params['n'] > 1:\n        hooks.append({A})\nhooks.append({STOP})",
            "[{b}]\nif LOG:\n    if params['n'] > 1:\n        +{a}\n+StopAtStep(num_steps=5)",
        ),
        ("hooks", f"n = params['n']\nhooks = [{A}] if n > 3 else []", "n = params['n']\n[]\nif n > 3:\n    +{a}"),
    ],
)
def test_hooks_under_conditions(hooks: str, between: str, made: str) -> None:
    text = migrate(program(hooks, between=between, before="LOG = True"))
    lines = made.format(a=MADE_A, b=MADE_B).split("\n")
    written = []
    for line in lines:
        inner = line.lstrip()
        gap = line[: len(line) - len(inner)]
        if inner[0] == "[":
            written.append(f"{gap}callbacks = {inner}")
        elif inner[0] == "+":
            written.append(f"{gap}callbacks.append({inner[1:]})")
        elif inner[0] == "=":
            written.append(f"{gap}callbacks = [{inner[1:]}]")
        else:
            written.append(line.lstrip("?"))
    assert [line[4:] if line.startswith("    ") else line for line in factory(text).split("\n")] == written
    assert 'watch(self, "a", loss)' in method(text, "compute_loss") and "if " not in method(text, "compute_loss")


@pytest.mark.parametrize(
    ("between", "reason"),
    [
        (f"hooks = []\nif loss > 3:\n    hooks.append({STOP})", "known only later"),
        (f"hooks = []\nfor _ in range(2):\n    hooks.append({STOP})", "in a loop"),
        (f"hooks = [{A}]\nif LOG:\n    if params['n']:\n        hooks = [{B}]", "in each other"),
        (f"n = params['n']\nhooks = [{STOP}] if n else []\nn = 3", "changes later"),
        (f"hooks = []\nif LOG:\n    hooks.insert(0, {STOP})", "not seen"),
    ],
)
def test_conditions_that_are_left(between: str, reason: str) -> None:
    assert reason in manual_reason(program("hooks", between=between, before="LOG = True"))


@pytest.mark.parametrize("family", ["train", "estimator"])
def test_own_hooks_by_both_names_of_their_base(family: str) -> None:
    between = "hooks = []\nif params['n']:\n    hooks.append(Watcher(params['n'], loss))"
    text = migrate(program("hooks", between=between, before=OWN.replace("tf.train", f"tf.{family}")))
    assert "class Watcher(tf.compat.v1.train.SessionRunHook):" in text
    assert "    if params['n']:\n        callbacks.append(HookCallback(Watcher(params['n'], \"value\")))" in text


def test_a_tensor_of_one_arm_is_handed_out_there() -> None:
    between = "hooks = []\nif params['log']:\n    hooks.append(" + HOOK.format("{'d': features['debug']}") + ")"
    text = migrate(program("hooks", between=between))
    assert "if self.params['log']:\n            watch(self, \"d\", features['debug'])" in text


SCAFFOLD = "tf.train.Scaffold(saver=tf.train.Saver(max_to_keep={}))"
KEPT = "config = (config or RunConfig()).replace(keep_checkpoint_max={})"


@pytest.mark.parametrize(
    ("scaffold", "between", "lines"),
    [
        (f"{SCAFFOLD.format(3)} if LOG else None", "", ["if LOG:", "    " + KEPT.format(3)]),
        ("s", f"s = None\nif LOG:\n    s = {SCAFFOLD.format(3)}", ["if LOG:", "    " + KEPT.format(3)]),
        (
            "s",
            f"s = {SCAFFOLD.format(3)}\nif LOG:\n    s = {SCAFFOLD.format(9)}",
            ["if not LOG:", "    " + KEPT.format(3), "if LOG:", "    " + KEPT.format(9)],
        ),
        ("s", f"s = None\nif {TRAINING}:\n    s = {SCAFFOLD.format(3)}", [KEPT.format(3)]),
    ],
)
def test_scaffolds_under_conditions(scaffold: str, between: str, lines: list[str]) -> None:
    text = migrate(program(scaffold, between=between, field="scaffold", before="LOG = True"))
    made = text[text.index("go to `model_dir`") : text.index("with make_strategy")].split("\n")[1:-1]
    assert [line[4:] for line in made] == lines


@pytest.mark.parametrize(
    ("between", "reason"),
    [
        (f"s = None\nif loss > 3:\n    s = {SCAFFOLD.format(3)}", "known only later"),
        ("s = None\nif LOG:\n    s = tf.train.Scaffold(init_fn=print)", "works on the graph"),
        (f"n = len(params)\ns = {SCAFFOLD.format(3)} if n else None", "computes"),
    ],
)
def test_scaffolds_that_are_left(between: str, reason: str) -> None:
    assert reason in manual_reason(program("s", between=between, field="scaffold", before="LOG = True"))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("print(self.every, ", "print(self._value, ", "computes with a tensor"),
        ("self._value = value", "self._value = value\n        print(value)", "is not seen"),
        ("def __init__(self, every, value)", "def __init__(self, every, value, **others)", r"\*\*kwargs"),
        (
            "after_run(self, run_context, run_values):",
            "end(self, session):\n        session.run(1)",
            "uses its `session`",
        ),
    ],
)
def test_a_hook_of_the_program_that_needs_a_graph_is_left(old: str, new: str, reason: str) -> None:
    before = OWN.replace(old, new)
    assert reason.replace("\\", "") in manual_reason(program("[Watcher(5, loss)]", before=before).replace("Wat", "Wat"))


@pytest.mark.parametrize(
    ("hook", "made"),
    [
        ("tf.train.CheckpointSaverHook('d', save_steps=5)", "CheckpointSaver(checkpoint_dir='d', save_steps=5)"),
        (
            "tf.train.CheckpointSaverHook(params['d'], None, 5, tf.train.Saver(max_to_keep=3), 'model.ckpt')",
            "CheckpointSaver(checkpoint_dir=params['d'], save_secs=None, save_steps=5)",
        ),
    ],
)
def test_saves(hook: str, made: str) -> None:
    assert factory(migrate(program(f"[{hook}]"))) == f"callbacks = [{made}]"


@pytest.mark.parametrize(
    "more", ["listeners=[L()]", "saver=tf.train.Saver([v])", "scaffold=S", "checkpoint_basename=B"]
)
def test_saves_that_stay(more: str) -> None:
    manual_reason(program(f"[tf.train.CheckpointSaverHook('d', 5, {more})]"))
