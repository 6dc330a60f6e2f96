"""`train`, `evaluate` and `predict` do what Estimator does with the same program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from line_program import X, Y, checkpoint_steps, create_model, input_fn, model_fn, read_events

from migrator.runtime.optimizers.optimizers import MomentumOptimizer
from migrator.runtime.optimizers.optimizers_adam import AdamOptimizer
from migrator.runtime.training.config import RunConfig
from migrator.runtime.training.prediction import predict
from migrator.runtime.training.training import configure, evaluate, report_batch_loss, train

# What tf.estimator of TensorFlow 2.15 gives for train(steps=6), train(max_steps=15), evaluate and predict.
LOSSES = [
    *(2.8908002376556396, 2.41253399848938, 1.1637928485870361, 0.7665303349494934, 1.6139354705810547),
    *(0.35253268480300903, 0.21472635865211487, 1.5192456245422363, 0.8292973041534424, 0.4920220375061035),
    *(1.1389000415802002, 0.25014403462409973, 1.2001298666000366, 0.3686162829399109, 0.45431986451148987),
]
METRICS = {"loss": 0.5430572, "mae": 0.5940783, "global_step": 15}
FIRST_OUTPUTS = [1.7377038, 1.866255]


def losses(directory: Path) -> list[float]:
    """Training losses by step, from the event files."""
    by_step = read_events(directory)["loss"]
    assert sorted(by_step) == list(range(1, len(by_step) + 1))
    return [by_step[step] for step in sorted(by_step)]


@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
def test_recorded_values_are_those_of_estimator(tmp_path: Path) -> None:
    config = tf.estimator.RunConfig(save_summary_steps=1, save_checkpoints_steps=4, keep_checkpoint_max=3)
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path), config)
    estimator.train(input_fn, steps=6)
    assert checkpoint_steps(tmp_path) == [0, 4, 6]
    estimator.train(input_fn, max_steps=15)
    assert checkpoint_steps(tmp_path) == [10, 14, 15]
    np.testing.assert_allclose(losses(tmp_path), LOSSES, rtol=1e-6)
    assert estimator.evaluate(input_fn) == pytest.approx(METRICS)
    outputs = [row["output"][0] for row in estimator.predict(input_fn)]
    assert len(outputs) == len(X)
    np.testing.assert_allclose(outputs[:2], FIRST_OUTPUTS, rtol=1e-6)


@pytest.mark.parametrize("steps_per_execution", [1, 100])
def test_same_losses_checkpoints_metrics_and_predictions(tmp_path: Path, steps_per_execution: int) -> None:
    model = create_model(tmp_path, steps_per_execution, keep_checkpoint_max=3)
    assert train(model, input_fn, steps=6) is model
    assert checkpoint_steps(tmp_path) == [0, 4, 6]
    train(model, input_fn, max_steps=15)
    assert checkpoint_steps(tmp_path) == [10, 14, 15]
    np.testing.assert_allclose(losses(tmp_path), LOSSES, rtol=1e-6)
    assert evaluate(model, input_fn) == pytest.approx(METRICS)
    outputs = [row["output"][0] for row in predict(model, input_fn)]
    assert len(outputs) == len(X)
    np.testing.assert_allclose(outputs[:2], FIRST_OUTPUTS, rtol=1e-6)


@pytest.mark.parametrize(
    "left", [lambda data: data.take(0), lambda data: data.filter(lambda *_: False)], ids=["known", "unknown"]
)
@pytest.mark.parametrize("steps", [None, 2])
@pytest.mark.skipif(not hasattr(tf, "estimator"), reason="TensorFlow without Estimator")
def test_evaluation_without_a_batch(tmp_path: Path, left: Any, steps: int | None) -> None:
    def nothing(mode: str) -> tf.data.Dataset:
        data = input_fn(mode)
        return left(data) if mode == "eval" else data

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path / "old")).train(nothing, steps=2)
    model = train(create_model(tmp_path / "new", 100), nothing, steps=2)
    expected = estimator.evaluate(nothing, steps)
    assert set(expected) == {"loss", "mae", "global_step"}
    assert evaluate(model, nothing, steps) == pytest.approx(expected)
    found = read_events(tmp_path / "new" / "eval")
    assert found == {name: {2: value} for name, value in expected.items() if name != "global_step"}


def test_steps_between_events_run_together_with_the_same_result(tmp_path: Path) -> None:
    train(create_model(tmp_path / "singly"), input_fn, steps=15)
    train(create_model(tmp_path / "grouped", steps_per_execution=100, save_summary_steps=7), input_fn, steps=15)
    assert checkpoint_steps(tmp_path / "grouped") == [0, 4, 8, 12, 15]
    singly, grouped = losses(tmp_path / "singly"), read_events(tmp_path / "grouped")["loss"]
    assert grouped == {step: singly[step - 1] for step in (1, 8, 15)}


def test_another_model_object_resumes_with_slots_and_schedule(tmp_path: Path) -> None:
    train(create_model(tmp_path), input_fn, steps=6)
    resumed = create_model(tmp_path)
    assert evaluate(resumed, input_fn, steps=1)["global_step"] == 6  # must not hide the optimizer state from `train`
    train(resumed, input_fn, max_steps=15)
    np.testing.assert_allclose(losses(tmp_path), LOSSES, rtol=1e-6)


def test_checkpoints_of_another_model_object_are_noticed(tmp_path: Path) -> None:
    first, second = create_model(tmp_path), create_model(tmp_path)
    train(first, input_fn, steps=6)
    train(second, input_fn, steps=9)
    assert evaluate(first, input_fn) == pytest.approx(METRICS)


def test_max_steps_reached_neither_trains_nor_asks_for_data(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = create_model(tmp_path)
    train(model, input_fn, steps=3)
    calls: list[str] = []
    tf.get_logger().propagate = True
    with caplog.at_level("INFO", logger="tensorflow"):
        for again in (model, create_model(tmp_path)):
            train(again, lambda: calls.append("called"), max_steps=3)
    assert calls == []
    assert caplog.text.count("Skipping training since max_steps has already saved.") == 2


@pytest.mark.parametrize("arguments", [{"steps": 1, "max_steps": 1}, {"steps": 0}, {"max_steps": -1}])
def test_wrong_step_arguments(tmp_path: Path, arguments: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="steps"):
        train(create_model(tmp_path), input_fn, **arguments)


def unknown_length() -> tf.data.Dataset:
    return input_fn("eval").filter(lambda features, labels: True)


@pytest.mark.parametrize("data", [lambda: input_fn("eval"), unknown_length])
@pytest.mark.parametrize("limit", [{}, {"steps": 50}])
def test_training_ends_with_the_data(tmp_path: Path, data: Any, limit: dict[str, int]) -> None:
    model = create_model(tmp_path, steps_per_execution=100, save_summary_steps=None)
    train(model, data, **limit)
    assert int(model.optimizer.iterations) == 6
    assert checkpoint_steps(tmp_path) == [0, 4, 6]


class StopAfter(tf.keras.callbacks.Callback):
    """Stops in the given batch; counts the batches that it is called for."""

    def __init__(self, batches: int) -> None:
        super().__init__()
        self.batches, self.seen = batches, 0

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        self.seen += 1
        self.model.stop_training = self.seen >= self.batches


def test_endless_data_train_until_a_callback_stops(tmp_path: Path) -> None:
    model, stop = create_model(tmp_path, steps_per_execution=100), StopAfter(30)
    train(model, input_fn, callbacks=[stop])
    assert stop.seen == 30  # each batch was seen, although 100 may run in one call
    assert int(model.optimizer.iterations) == 30


def test_without_checkpoints_the_model_itself_goes_on(tmp_path: Path) -> None:
    model = create_model(tmp_path, save_checkpoints_steps=None)
    train(model, input_fn, steps=6)
    train(model, input_fn, max_steps=15)
    assert checkpoint_steps(tmp_path) == []
    assert evaluate(model, input_fn) == pytest.approx(METRICS)


def test_one_batch_of_tensors_is_repeated(tmp_path: Path) -> None:
    model = create_model(tmp_path)
    train(model, lambda: ({"x": tf.constant(X)}, tf.constant(Y)), steps=5)
    assert int(model.optimizer.iterations) == 5
    with pytest.raises(ValueError, match="endless"):
        evaluate(model, lambda: ({"x": tf.constant(X)}, tf.constant(Y)))


@pytest.mark.parametrize("data", [lambda: input_fn("eval"), unknown_length])
def test_evaluation_of_any_length(tmp_path: Path, data: Any) -> None:
    model = create_model(tmp_path, steps_per_execution=4)
    train(model, input_fn, steps=6)
    train(model, input_fn, max_steps=15)
    assert evaluate(model, data) == pytest.approx(METRICS)
    assert evaluate(model, data, steps=6) == pytest.approx(METRICS)


def test_evaluate_stops_after_steps_and_writes_to_its_folder(tmp_path: Path) -> None:
    model = create_model(tmp_path)
    train(model, input_fn, steps=2)
    results = evaluate(model, input_fn, steps=1, name="one")
    outputs = np.concatenate([row["output"] for row in predict(model, input_fn)])[:4]
    assert results["mae"] == pytest.approx(np.abs(outputs - Y[:4, 0]).mean(), rel=1e-5)
    assert set(results) == {"loss", "mae", "global_step"}
    assert read_events(tmp_path / "eval_one")["mae"] == {2: pytest.approx(results["mae"])}


def test_checkpoint_path_and_return_to_the_newest(tmp_path: Path) -> None:
    model = create_model(tmp_path)
    train(model, input_fn, steps=6)
    newest = evaluate(model, input_fn)
    initial = evaluate(model, input_fn, checkpoint_path=str(tmp_path / "model.ckpt-0"))
    assert initial["global_step"] == 0
    assert initial["loss"] > newest["loss"]
    assert next(predict(model, input_fn, checkpoint_path=str(tmp_path / "model.ckpt-0")))["output"] == [0.0]
    assert evaluate(model, input_fn) == newest
    train(model, input_fn, max_steps=15)
    assert evaluate(model, input_fn) == pytest.approx(METRICS)


def test_untrained_model_is_evaluated_as_it_is(tmp_path: Path) -> None:
    results = evaluate(create_model(tmp_path), input_fn)
    assert results["global_step"] == 0
    assert results["mae"] == pytest.approx(np.abs(Y).mean(), rel=1e-5)
    assert checkpoint_steps(tmp_path) == []


def test_loss_given_to_compile_is_a_mean_over_batches_too(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(1, kernel_initializer="zeros")])
    model.compile("sgd", loss="mse", steps_per_execution=10)
    report_batch_loss(model)
    configure(model, RunConfig(model_dir=str(tmp_path)))
    results = evaluate(model, lambda: tf.data.Dataset.from_tensor_slices((X, Y)).batch(4))
    assert results["loss"] == pytest.approx(
        np.mean([np.square(Y[i : i + 4]).mean() for i in range(0, 22, 4)]), rel=1e-5
    )


def test_input_fn_gets_the_params_of_configure_or_of_the_model(tmp_path: Path) -> None:
    def batches(params: Any, config: Any, mode: str) -> tf.data.Dataset:
        seen.append((params["size"], config.model_dir, mode))
        return input_fn(mode)

    seen: list[Any] = []
    model = create_model(tmp_path)
    model.params = {"size": 1}
    evaluate(model, batches)
    configure(model, model.run_config, params={"size": 2})
    train(model, batches, steps=1)
    next(predict(model, batches))
    assert seen == [(1, str(tmp_path), "eval"), (2, str(tmp_path), "train"), (2, str(tmp_path), "infer")]


def test_configure_chooses_the_folder(tmp_path: Path) -> None:
    model = create_model(tmp_path)
    with pytest.raises(ValueError, match="model_dir"):
        configure(model, RunConfig(model_dir="a"), model_dir="b")
    assert configure(model, RunConfig(), model_dir=str(tmp_path / "new")).run_config.model_dir == str(tmp_path / "new")
    assert (tmp_path / "new").is_dir()
    assert Path(configure(model).run_config.model_dir).is_dir()


OPTIMIZERS = {
    "adam": lambda: tf.keras.optimizers.Adam(0.1),
    "adam of the runtime": lambda: AdamOptimizer(0.1),
    "momentum of the runtime": lambda: MomentumOptimizer(0.1, 0.9),
    "legacy adam": lambda: tf.keras.optimizers.legacy.Adam(0.1),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_slots_of_optimizers_survive(tmp_path: Path, name: str) -> None:
    def create(folder: str) -> tf.keras.Model:
        model = create_model(tmp_path / folder)
        model.compile(OPTIMIZERS[name]())
        return configure(model, model.run_config)

    def endless_batch() -> Any:
        return {"x": tf.constant(X)}, tf.constant(Y)

    try:
        OPTIMIZERS[name]()
    except ImportError:
        pytest.skip("Keras 3 has no legacy optimizers")
    train(create("through"), endless_batch, steps=12)
    train(create("resumed"), endless_batch, steps=5)
    train(create("resumed"), endless_batch, max_steps=12)
    assert losses(tmp_path / "resumed") == losses(tmp_path / "through")


def test_seed_repeats_tensorflow_but_leaves_numpy_alone(tmp_path: Path) -> None:
    def shuffled() -> tf.data.Dataset:
        return input_fn("train").shuffle(6)

    np.random.seed(5)
    expected = np.random.RandomState(5).rand()
    for name in "ab":
        train(create_model(tmp_path / name, tf_random_seed=3), shuffled, steps=4)
    assert losses(tmp_path / "a") == losses(tmp_path / "b")
    assert np.random.rand() == expected


def test_metrics_are_computed_where_something_reads_them(tmp_path: Path) -> None:
    model = create_model(tmp_path, 3)
    seen: list[set[str]] = []

    class Watch(tf.keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            seen.append(set(logs))

    def count() -> float:
        return float(sum(np.sum(np.abs(v)) for metric in model.metrics if metric.name == "mae" for v in metric.weights))

    train(model, input_fn, steps=4)
    assert count() == 0.0, "nothing reads the metrics of this training"
    train(model, input_fn, steps=2, callbacks=[Watch()])
    assert seen == [{"loss", "mae"}] * 2 and count() > 0.0
    seen.clear()
    model.reset_metrics()
    train(model, input_fn, steps=9)
    assert not seen and count() == 0.0
    assert evaluate(model, input_fn)["mae"] > 0.0


def test_metrics_of_a_training_whose_summaries_show_them(tmp_path: Path) -> None:
    configured = create_model(tmp_path, 1)
    model = configure(configured, configured.run_config, training_metrics=True)
    train(model, input_fn, steps=1)
    assert all(np.any(v) for metric in model.metrics if metric.name == "mae" for v in metric.get_weights())


def test_fit_itself_computes_metrics(tmp_path: Path) -> None:
    history = create_model(tmp_path, 1).fit(input_fn("train").take(2), verbose=0).history
    assert set(history) == {"loss", "mae"} and history["mae"][0] > 0.0


@pytest.mark.parametrize("method", ["call", "compute_loss", "test_step"])
def test_an_error_of_the_model_is_told_with_its_line(tmp_path: Path, method: str) -> None:
    model = create_model(tmp_path, 100)

    def fail(*arguments: Any, **more: Any) -> Any:
        raise ValueError("the owner's own words")

    setattr(model, method, fail)
    with pytest.raises(ValueError, match="the owner's own words") as raised:
        (evaluate if method == "test_step" else train)(model, input_fn)
    assert "must be defined before the loop" not in str(raised.value)
    assert f'{Path(__file__).name}", line' in str(raised.value)
