"""Train ops under `tf.cond`, and gradients that are added up over several batches; the numbers are those of tests/runtime."""

from __future__ import annotations

import textwrap

import pytest
from modelfn.programs import joined, manual_reason, method, migrate, model_fn

BODY = 'predictions = tf.layers.dense(features["x"], 1)'
SUMS = "sums = [tf.Variable(tf.zeros_like(v.initialized_value()), trainable=False) for v in variables]"
TRAIN = """
loss = tf.reduce_mean(tf.square(labels - predictions))
count = tf.train.get_global_step()
optimizer = tf.train.AdamOptimizer(0.1)
variables = tf.trainable_variables()
SUMS
gradients = tf.gradients(loss, variables)
ADD
"""
ADD = "added = [total.assign_add(gradient) for total, gradient in zip(sums, gradients)]"
APPLY = """
def apply():
    done = optimizer.apply_gradients([(total / 4, variable) for total, variable in zip(sums, variables)])
    with tf.control_dependencies([done]):
        return tf.group(*[total.assign(tf.zeros_like(total)) for total in sums])

with tf.control_dependencies(added):
    update = tf.cond(tf.equal(count % 4, 3), apply, tf.no_op)
with tf.control_dependencies([update]):
    train_op = tf.assign_add(count, 1)
"""
STEP = """\
def step():
    self.optimizer.apply_gradients([(total / 4, variable) for total, variable in zip(sums, variables)])
    for total in sums:
        total.assign(tf.zeros_like(total))

def skip():
    # a step of training all the same
    self.optimizer.iterations.assign_add(1)

"""


def program(train: str = APPLY, add: str = ADD, sums: str = SUMS, start: str = TRAIN) -> str:
    end = start.replace("SUMS", sums).replace("ADD", add) + train
    return model_fn(BODY, end=f"{end}\nreturn tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)")


def step_of(source: str) -> str:
    return method(migrate(source), "train_step")


def unindented(text: str) -> str:
    return text.replace("\n    ", "\n")


def test_adam_counts_the_steps_that_it_was_applied_in() -> None:
    text = migrate(program())
    assert "import AdamOptimizer" in text and "keras.optimizers.Adam(" not in text
    train = TRAIN.replace("SUMS", "").replace("ADD", "")
    train += "train_op = optimizer.apply_gradients(zip([2 * g for g in gradients], variables), global_step=count)"
    text = migrate(program(train, start=""))
    assert "keras.optimizers.Adam(0.1, epsilon=1e-8)" in text and "AdamOptimizer" not in text


@pytest.mark.parametrize(
    "sums",
    [
        SUMS,
        "sums = [tf.Variable(tf.zeros(v.shape), trainable=False, name='sum') for v in variables]",
        "sums = [tf.get_variable(v.op.name + '/sum', v.shape.as_list(), initializer=tf.zeros_initializer(), trainable=False)"
        " for v in variables]",
        "sums = []\nfor v in variables:\n    sums.append(tf.Variable(tf.zeros_like(v), trainable=False))",
    ],
)
def test_ways_to_make_sums(sums: str) -> None:
    text = unindented(step_of(program(sums=sums)))
    assert '\nsums = zeros_like_weights(self, "sums", variables)\n' in text
    assert STEP in text
    assert "\ntf.cond(tf.equal(count % 4, 3), step, skip)\nreturn self.compute_metrics" in text


def test_sums_of_pairs_in_a_loop() -> None:
    sums = """\
pairs = optimizer.compute_gradients(loss)
sums = []
for gradient, variable in pairs:
    # like the weight
    total = tf.get_variable(variable.op.name + "/sum", variable.get_shape(), initializer=tf.zeros_initializer, trainable=False)
    sums.append(total)"""
    text = step_of(program(sums=sums))
    assert 'sums = zeros_like_weights(self, "sums", [variable for gradient, variable in pairs])\n' in text
    assert "# like the weight\n" in text


@pytest.mark.parametrize(
    "train",
    [
        # The ops that add stand in the head of the dependencies.
        APPLY.replace("dependencies(added)", "dependencies([s.assign_add(g) for s, g in zip(sums, gradients)])"),
        APPLY.replace("with tf.control_dependencies(added)", "with tf.control_dependencies([tf.group(*added)])"),
        APPLY.replace("tf.no_op)", "lambda: tf.no_op())"),
        APPLY.replace(
            "tf.cond(tf.equal(count % 4, 3), apply, tf.no_op)",
            "tf.cond(false_fn=tf.no_op, true_fn=apply, pred=tf.equal(count % 4, 3))",
        ),
        APPLY.replace("total.assign(tf.zeros_like(total))", "tf.assign(total, tf.zeros_like(total))"),
    ],
)
def test_ways_to_apply_sums(train: str) -> None:
    add = ADD if "(added)" in train or "*added" in train else ""
    text = unindented(step_of(program(train, add)))
    assert "in zip(sums, gradients):\n    " in text and ".assign_add(g" in text
    assert STEP in text


def test_both_branches_add() -> None:
    train = """
def apply(sums, gradients):
    added = tf.group([total.assign_add(gradient) for total, gradient in zip(sums, gradients)])
    with tf.control_dependencies([added]):
        done = optimizer.apply_gradients(zip([total / 4 for total in sums], variables), global_step=None)
        with tf.control_dependencies([done]):
            return tf.group([total.assign(tf.zeros_like(total)) for total in sums])

update = tf.cond(tf.equal(count % 4, 3), lambda: apply(sums, gradients),
                 lambda: tf.group([total.assign_add(gradient) for total, gradient in zip(sums, gradients)]))
train_op = tf.group(update, tf.assign_add(count, 1))
"""
    text = step_of(program(train, ""))
    add = "        for total, gradient in zip(sums, gradients):\n            total.assign_add(gradient)\n"
    assert f"    def step():\n{add}" in text
    assert f"    def skip():\n{add}        # a step of training" in text


def test_ops_that_nobody_runs_are_left_out() -> None:
    text = step_of(program(add=f"{ADD}\nzero_ops = [total.assign(tf.zeros_like(total)) for total in sums]"))
    assert text.count("zeros_like(total)") == 1


COUNTED = """
due = tf.equal(local_step % 4, 3)
keep = 1.0 - tf.cast(tf.equal(local_step % 4, 0), tf.float32)
added = [total.assign(total * keep + gradient) for total, gradient in zip(sums, gradients)]

def apply():
    with tf.control_dependencies(added):
        return optimizer.apply_gradients(zip([total / 4 for total in sums], variables))

def wait():
    return tf.group(added)

update = tf.cond(due, apply, wait)
new_count = tf.cond(due, lambda: count + 1, lambda: count)
train_op = tf.group(update, [local_step.assign(local_step + 1), count.assign(new_count)])
"""
COUNTER = (
    "local_step = tf.get_variable('local_step', shape=[], dtype=tf.int32, trainable=False, "
    "initializer=tf.zeros_initializer)"
)


USE = """

def input_fn():
    return tf.data.Dataset.from_tensors(({"x": [[1.0]]}, [[1.0]])).repeat()


estimator = tf.estimator.Estimator(model_fn, "model", params={"every": 4})
estimator.train(input_fn, max_steps=8000)
"""


def counted(train: str = COUNTED, sums: str = f"{COUNTER}\n{SUMS}", use: str = USE) -> str:
    return program(train, "", sums).partition("\n\nestimator = ")[0] + use


def test_the_step_counts_when_the_optimizer_is_applied() -> None:
    text = migrate(counted())
    step = unindented(method(text, "train_step"))
    assert "keras.optimizers.Adam(0.1, epsilon=1e-8)" in text, "it counts its own steps"
    assert "self.local_step = self.add_weight(" in text
    assert "    total.assign(total * keep + gradient)\n" in step
    assert (
        "def step():\n    self.optimizer.apply_gradients(zip([total / 4 for total in sums], variables))\n\n"
        "tf.cond(due, step, lambda: None)\nself.local_step.assign(self.local_step + 1)\n"
    ) in step


def test_apply_gradients_may_count_it() -> None:
    train = APPLY.replace("variables)])\n", "variables)], count)\n").replace("tf.assign_add(count, 1)", "tf.no_op()")
    step = unindented(step_of(counted(f"{ADD}\n{train}", SUMS)))
    assert "\ntf.cond(tf.equal(count % 4, 3), step, lambda: None)\nreturn" in step


def test_accumulation_is_a_choice() -> None:
    inner = textwrap.indent(f"{COUNTER}\n{SUMS}\n{COUNTED.strip()}", "    ")
    plain = "train_op = optimizer.apply_gradients(zip(gradients, variables), count)"
    step = unindented(step_of(counted(f"if params['every'] > 1:\n{inner}\nelse:\n    {plain}", "")))
    assert "\n    sums = zeros_like_weights(" in step
    assert "\nelse:\n    self.optimizer.apply_gradients(zip(gradients, variables))\n" in step


def test_a_training_ends_by_the_steps_of_the_optimizer() -> None:
    text = migrate(counted())
    assert "if model.optimizer.iterations.numpy() < 8000:\n" in text
    assert "        if model.optimizer.iterations.numpy() >= 8000:\n            model.stop_training = True\n" in text
    assert "model.fit(\n        input_fn(),\n        steps_per_epoch=-1," in text
    assert 'step % 1000 == 0 and not str(checkpoints.latest_checkpoint).endswith(f"-{step}"):' in text
    text = migrate(counted(use=USE.replace("max_steps=8000", "steps=8")))
    assert "last_step = model.optimizer.iterations.numpy() + 8\n" in text


def test_gradients_of_a_multiple_of_the_loss() -> None:
    plain = "scaled = loss / params['every']\ngradients = tf.gradients(scaled, variables)"
    for form in (plain, "gradients = tf.gradients(loss / params['every'], variables)"):
        start = TRAIN.replace("gradients = tf.gradients(loss, variables)", form)
        source = program(COUNTED, "", f"{COUNTER}\n{SUMS}", start).partition("\n\nestimator = ")[0] + USE
        step = unindented(step_of(source))
        name = "scaled" if form is plain else "scaled_loss"
        assert f"    loss = self.compute_loss(x, y, y_pred, sample_weight)\n    {name} = loss / " in step
        assert f"gradients = tape.gradient({name}, variables)\n" in step
    start = TRAIN.replace("tf.gradients(loss, variables)", "tf.gradients(loss * loss, variables)")
    assert "minimizes something else" in manual_reason(program(start=start))


def test_a_name_of_a_variable_and_of_its_next_value_is_refused() -> None:
    train = "local_step = tf.cond(local_step > 3, lambda: local_step.assign(0), lambda: local_step.assign_add(1))"
    rest = COUNTED.replace("local_step.assign(local_step + 1), ", "")
    assert "stands for a variable first" in manual_reason(counted(f"{train}\n{rest}"))


def test_evaluations_amid_it_are_refused() -> None:
    specs = "tf.estimator.TrainSpec(input_fn, max_steps=80), tf.estimator.EvalSpec(input_fn)"
    use = USE.replace(
        "estimator.train(input_fn, max_steps=8000)", f"tf.estimator.train_and_evaluate(estimator, {specs})"
    )
    assert "counts some of the batches only, in a training with evaluations" in manual_reason(counted(use=use))


TURNS = """
other = tf.train.MomentumOptimizer(0.1, 0.9)
hidden, out = variables[:1], variables[1:]
train_op = tf.cond(
    tf.equal(count % 2, 0), lambda: optimizer.minimize(loss, count, variables), lambda: other.minimize(loss, count))
"""


def test_optimizers_take_turns() -> None:
    start = TRAIN.replace("SUMS\n", "").replace("gradients = tf.gradients(loss, variables)\nADD\n", "")
    text = migrate(program(TURNS.replace("hidden, out = variables[:1], variables[1:]\n", ""), start=start))
    step = method(text, "train_step")
    assert "    def step():\n        self.optimizer_2.apply_gradients(" in joined(step) or "_step():" in step
    assert step.count(".iterations.assign_add(1)") == 2


def test_one_branch_only_counts() -> None:
    start = TRAIN.replace("SUMS\n", "").replace("gradients = tf.gradients(loss, variables)\nADD\n", "")
    train = (
        "train_op = tf.cond(count < 10, lambda: optimizer.minimize(loss, count), lambda: tf.assign_add(count, 1).op)"
    )
    text = unindented(step_of(program(train, start=start)))
    assert "def skip():\n    # a step of training all the same\n    self.optimizer.iterations.assign_add(1)\n" in text


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        # TensorFlow 1 might read the sums before they are complete.
        (
            program(
                APPLY.replace("dependencies(added)", "dependencies([])").replace("([update])", "([update, more])"),
                f"{ADD}\nmore = tf.group(*added)",
            ),
            "not seen to be complete by then",
        ),
        (
            program(APPLY.replace("return tf.group(", "pass\n    return tf.group(done, ")),
            "the step is not seen to come before",
        ),
        (
            counted(
                COUNTED.replace("cond(due, lambda: count +", "cond(other, lambda: count +").replace(
                    "keep =", "other = tf.equal(local_step % 2, 1)\nkeep ="
                )
            ),
            "not those of an optimizer",
        ),
        (counted(COUNTED.replace("lambda: count + 1", "lambda: count + 2")), "the train op does more than"),
        (
            counted(
                f"bump = local_step.assign(local_step + 1)\n{COUNTED}".replace(
                    "[local_step.assign(local_step + 1), count", "[bump, count"
                )
            ),
            "not seen to have got its value by then",
        ),
        (counted(sums=COUNTER.replace("False", "True") + f"\n{SUMS}"), "the train op does more than"),
        (program(APPLY.replace("apply, tf.no_op", "tf.no_op, apply()")), "a control dependency that is more than"),
        (program(sums=SUMS.replace("False", "True")), "tf.Variable"),
        (program(sums=SUMS.replace("zeros_like", "ones_like")), "tf.Variable"),
        (program(add=ADD.replace("assign_add", "assign_sub")), "a control dependency that is more than UPDATE_OPS"),
    ],
)
def test_what_is_not_exact_is_refused(source: str, reason: str) -> None:
    assert reason in manual_reason(source)


CHOSEN = {
    "assigned": ("train_op = optimizer.minimize(loss) if mode == tf.estimator.ModeKeys.TRAIN else None", "train_op"),
    "the other way round": ("train_op = None if mode != 'train' else optimizer.minimize(loss)", "train_op"),
    "in the spec": ("", "optimizer.minimize(loss) if mode == 'train' else None"),
    "by a flag": ("training = mode == 'train'\ntrain_op = optimizer.minimize(loss) if training else None", "train_op"),
    "by a helper": ("train_op = step(optimizer, loss) if mode == 'train' else None", "train_op"),
    "nested": (
        "train_op = (None if mode == 'eval' else optimizer.minimize(loss)) if mode != 'infer' else None",
        "train_op",
    ),
    "of several": ("train_op = tf.group(optimizer.minimize(loss)) if mode == 'train' else tf.no_op()", "train_op"),
}
OWN_STEP = "def step(optimizer, loss):\n    return optimizer.minimize(loss, tf.train.get_global_step())"


def chosen(name: str) -> str:
    before, train_op = CHOSEN[name]
    start = (
        f"loss = tf.losses.mean_squared_error(labels, predictions)\noptimizer = tf.train.AdamOptimizer(0.1)\n{before}"
    )
    end = f"{start}\nreturn tf.estimator.EstimatorSpec(mode, predictions=predictions, loss=loss, train_op={train_op})"
    return model_fn(
        BODY,
        before=OWN_STEP if " step(" in before else "",
        end=end.replace("minimize(loss)", "minimize(loss, tf.train.get_global_step())"),
    )


@pytest.mark.parametrize("name", sorted(CHOSEN))
def test_a_conditional_expression_of_a_train_op(name: str) -> None:
    text = migrate(chosen(name))
    assert "tf.keras.optimizers.Adam(0.1, epsilon=1e-8)" in joined(text) and "train_op" not in text
    assert "def train_step" not in text and (" step(" in CHOSEN[name][0] or "tf.compat.v1" not in text)


def test_a_train_op_that_an_option_chooses_stays() -> None:
    source = chosen("assigned").replace("mode == tf.estimator.ModeKeys.TRAIN", "params['train']")
    assert "the train op does more than to minimize the loss" in manual_reason(source)
