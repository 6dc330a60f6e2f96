"""The hook that the old side puts into specs: the batch of each step, and the variables after it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import clusters
from ..recorded import averages, drawn, exercised, gradients, session_values, store
from . import lookups
from .recorder import Recorder


def make_hook(recorder: Recorder, mode: str, stream: int, replicas: list[tuple[Any, Any, Any]], scaffold: Any) -> Any:
    """`replicas` has features, labels and loss of each replica; it is complete when the graph is."""
    import tensorflow as tf

    def loaded(mark: Any) -> dict[str, Any]:
        """What is recorded of the first value of a variable that is loaded."""
        if mark is None:
            return {}
        path, part = mark
        return {
            "from": recorder.redirect.place(path),
            **({} if part is None else {"part": recorder.writer.array(part)}),
        }

    class Hook(tf.compat.v1.train.SessionRunHook):  # type: ignore[misc]
        """Fetches the batch with the step that uses it, and reads the variables after it."""

        def begin(self) -> None:
            every = tf.compat.v1.global_variables()
            slots = session_values.slot_names(every)
            self.variables = [v for v in every if session_values.logical(v)[0] not in slots]
            self.trainable = {session_values.logical(v)[0] for v in tf.compat.v1.trainable_variables()}
            self.averages = [v for v in every if averages.averaged(session_values.logical(v)[0], self.trainable)]
            self.global_step = tf.compat.v1.train.get_global_step()
            self.nudged = recorder.nudges.prepare(self.variables) if recorder.nudges and mode == "train" else []
            self.kind, self.call = recorder.stack[-1] if recorder.stack else (mode, 0)
            graph = tf.compat.v1.get_default_graph()
            self.gradients = gradients.sizes(graph) if not recorder.asynchronous else {}
            self.exercised = exercised.tensors(graph) if mode == "train" and not recorder.asynchronous else {}
            self.taken = 0

        def after_create_session(self, session: Any, coord: Any) -> None:
            if recorder.asynchronous and clusters.job() == "chief":  # before other trainers can have made a step
                self.record_start(session)

        def record_start(self, session: Any) -> None:
            if lookups.in_turn(session.graph):
                recorder.note(lookups.NOTE)
            values = session_values.read(session, self.variables)
            first = stream not in recorder.known
            waits = any(kind == "train" for kind, _ in recorder.stack[:-1])
            marks = recorder.loads.marks(session, scaffold, values, self.variables, waits) if first else {}
            listed = [
                {"name": n, "trainable": n in self.trainable, "value": recorder.writer.array(v), **loaded(marks.get(n))}
                for n, v in values.items()
            ]
            if first and not recorder.earlier and not recorder.asynchronous:
                own = {name: v for name, v in session_values.whole(self.variables).items() if name in self.trainable}
                more = drawn.of_graph(session, {name: v for name, v in own.items() if name not in marks})
                for entry in listed:
                    if entry["name"] in more:
                        entry["drawn"] = recorder.writer.array(more[entry["name"]])
            recorder.writer.event(
                "variables",
                stream=stream,
                kind=self.kind,
                call=self.call,
                variables=listed,
                filled=stream in recorder.filled,
            )
            recorder.known.add(stream)

        def before_run(self, run_context: Any) -> Any:
            if recorder.asynchronous:
                return tf.compat.v1.train.SessionRunArgs({"losses": [loss for _, _, loss in replicas]})
            if recorder.earlier and stream not in recorder.known:
                recorder.earlier.restore(run_context.session, stream, self.nudged)
            if recorder.nudges and self.nudged:
                recorder.nudges.apply(run_context.session, self.nudged)
            if stream not in recorder.known or (mode == "train" and not getattr(self, "started", False)):
                self.record_start(run_context.session)
            self.started = True
            batches = [{k: v for k, v in (("f", f), ("l", labels)) if v is not None} for f, labels, _ in replicas]
            fetches: dict[str, Any] = {"batches": batches}
            if mode == "train":
                fetches.update(
                    losses=[loss for _, _, loss in replicas], gradients=self.gradients, exercised=self.exercised
                )
            trees = [(features, labels) for features, labels, _ in replicas]
            feed = recorder.earlier.feed(self.kind, self.call, trees) if recorder.earlier else {}
            self.fed = bool(feed)
            return tf.compat.v1.train.SessionRunArgs(fetches, feed)

        def after_run(self, run_context: Any, run_values: Any) -> None:
            tree, results = recorder.writer.tree, run_values.results
            if recorder.earlier and self.fed and recorder.earlier.ends(self.kind, self.call):
                run_context.request_stop()  # data that are fed do not end by themselves
            if recorder.asynchronous:
                self.record_loss(results["losses"], batch=[None, None], others=[], sums={}, values={})
                self.stop(run_context)
                return
            recorder.features = results["batches"][0].get("f")
            encoded, *others = [[tree(batch.get("f")), tree(batch.get("l"))] for batch in results["batches"]]
            if mode != "train":
                for batch in (encoded, *others):
                    recorder.writer.event("batch", kind=self.kind, call=self.call, stream=stream, batch=batch)
                return
            values = session_values.read(run_context.session, self.variables)
            kept = {}
            size = sum(np.asarray(value).nbytes for value in values.values())
            if size <= recorder.budget:
                recorder.budget -= size
                kept = {name: recorder.writer.array(value) for name, value in values.items()}
            sums = {name: store.checksums(value) for name, value in values.items()}
            sizes = {name: float(size) for name, size in results["gradients"].items()}
            done = {
                "gradients": sizes,
                **{key: np.asarray(value).item() for key, value in results["exercised"].items()},
            }
            self.record_loss(results["losses"], batch=encoded, others=others, sums=sums, values=kept, **done)
            recorder.progress.say(recorder.taken[stream], recorder.steps)
            self.stop(run_context)

        def stop(self, run_context: Any) -> None:
            if recorder.steps and self.taken >= recorder.steps:
                run_context.request_stop()

        def record_loss(self, losses: Any, **fields: Any) -> None:
            loss = float(np.mean([np.asarray(loss).reshape(-1)[0] for loss in losses]))
            self.taken += 1
            recorder.taken[stream] = recorder.taken.get(stream, 0) + 1
            event = {"stream": stream, "call": self.call, "step": recorder.taken[stream], "loss": loss}
            recorder.writer.event("step", **event, **fields)

        def end(self, session: Any) -> None:
            if mode == "train" and not recorder.asynchronous:
                for kind, variables in (("final", self.variables), ("averages", self.averages)):
                    values = session_values.read(session, variables)
                    kept = {name: recorder.writer.array(value) for name, value in values.items()}
                    if kept or kind == "final":
                        recorder.writer.event(kind, stream=stream, call=self.call, variables=kept)

    return Hook()
