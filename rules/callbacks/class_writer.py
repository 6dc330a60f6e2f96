"""Writes the classes of hooks as those of callbacks."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from migrator.analyse.results.opnames import short_name
from migrator.resolve.syntax import does_nothing, walk
from migrator.rewrite import Change, Insert, Remove, Replace, code, lines, spaced, with_parameters

from ..hooks.session_hooks import reads_step_before
from .callback_classes import CREATED, MOMENTS, OwnHook

_TIMER = "SecondOrStepTimer"
_STEP = "self.model.optimizer.iterations"


class CallbackClass:
    """Writes the class of a hook as that of a callback. `tf` is how its file calls TensorFlow; `trains` and `evaluates` say
    what it is for."""

    def __init__(self, own: OwnHook, tf: str, trains: bool, evaluates: bool) -> None:
        self.own, self.hook, self.module = own, own.hook, own.hook.module
        self.tf, self.trains, self.evaluates = tf, trains, evaluates
        self.behind = " - 1" if trains and reads_step_before(self.module) else ""

    @property
    def references(self) -> Iterator[ast.expr]:
        """References to the library that go."""
        lookups = {part for line in self.hook.lookups for part in walk(line)}
        yield from (node for node, _ in self.module.references() if node in lookups)
        yield from (node for node, name in self.hook.spelled() if not name.endswith(_TIMER))

    @property
    def kept(self) -> Iterator[tuple[ast.expr, str]]:
        """Those that stay, with their names in `tf.compat.v1`."""
        yield from (pair for pair in self.hook.spelled() if pair[1].endswith(_TIMER))

    def changes(self) -> Iterator[Change]:
        """All changes of the class."""
        methods = self.hook.methods
        yield Replace(self.hook.definition.bases[0], f"{self.tf}.keras.callbacks.Callback")
        yield from self._constructor()
        for node in self._calls_of_step():
            yield Replace(node, code(_STEP))
        for call, step in self.hook.session_reads.items():
            held = self.module.segment(step) if isinstance(step, ast.Attribute) else _STEP
            yield Replace(call, code(f"{held}.numpy()"))
        when, written = ("train" if self.trains else "test"), []
        if CREATED in methods and "begin" not in methods:
            yield self._head(methods[CREATED], MOMENTS["begin"][0].format(when), MOMENTS["begin"][1])
            written.append(MOMENTS["begin"][0])
        elif CREATED in methods:
            yield self._head(methods[CREATED], CREATED, "self")
            yield Insert(lines(f"self.{CREATED}()"), after=methods["begin"].body[-1])
        for name, (new, parameters) in MOMENTS.items():
            if name not in methods or (name == "before_run" and self._only_asks()):
                continue
            if name == "begin" and self._only_looks:
                yield Remove(methods[name], apart=True)
                continue
            yield self._head(methods[name], new.format(when), parameters)
            written.append(new)
        yield from self._asking()
        yield from (Remove(line) for line in self.hook.lookups if not self._only_looks)
        yield from self._results()
        if self.trains and self.evaluates:
            twins = lines("\n".join(f"{name.format('test')} = {name.format('train')}" for name in written))
            yield Insert(spaced(twins), after=self.hook.definition.body[-1])

    def _head(self, method: ast.FunctionDef, name: str, parameters: str) -> Change:
        head = with_parameters(
            self.module.cst.statement(method), name=name, instead=parameters.split(", "), returns=False
        )
        return Replace(method, head)

    def _constructor(self) -> Iterator[Change]:
        """Keras asks for a call of the constructor of callbacks."""
        init = self.hook.methods.get("__init__")
        if init is None or any(isinstance(n, ast.Attribute) and n.attr == "__init__" for n in walk(init)):
            return
        body = init.body[1:] if ast.get_docstring(init) is not None and len(init.body) > 1 else init.body
        yield Insert(lines("super().__init__()"), before=body[0])

    def _calls_of_step(self) -> Iterator[ast.Call]:
        """Calls that give the global step to attributes."""
        for node in self.hook.steps:
            call = self.module.parent(node)
            statement = self.module.parent(call) if call is not None else None
            if isinstance(call, ast.Call) and isinstance(statement, ast.Assign):
                yield call

    # -- what is fetched ----------------------------------------------------------------------------------------------

    @property
    def _only_looks(self) -> bool:
        """Whether `begin` does nothing but to look tensors up."""
        begin = self.hook.methods.get("begin")
        inner = [n for n in begin.body if not does_nothing(n)] if begin is not None else []
        return bool(inner) and CREATED not in self.hook.methods and all(line in self.hook.lookups for line in inner)

    def _only_asks(self) -> bool:
        body = [n for n in self.hook.methods["before_run"].body if not does_nothing(n)]
        return all(isinstance(node, ast.Return) for node in body)

    def _asking(self) -> Iterator[Change]:
        method = self.hook.methods.get("before_run")
        if method is None:
            return
        if self._only_asks():
            yield Remove(method, apart=True)
            return
        for node in walk(method):
            if isinstance(node, ast.Return):
                yield Remove(node)

    def _value(self, node: ast.expr) -> str:
        """What a callback has for something that is fetched."""
        if isinstance(node, ast.Constant):
            return self.own.readings[short_name(str(node.value))]
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values)
            return f"{{{', '.join(f'{self.module.segment(k)}: {self._value(v)}' for k, v in pairs if k is not None)}}}"
        if isinstance(node, (ast.List, ast.Tuple)):
            return f"[{', '.join(map(self._value, node.elts))}]"
        if isinstance(node, ast.Attribute) and node.attr in self.hook.tensors:
            kind = self.own.gathered.get(self.hook.tensors[node.attr])
            if kind is None:
                return f"logs[self.{node.attr}]"
            named = f"{{name: logs[key] for name, key in self.{node.attr}.items()}}"
            return named if kind else f"[logs[key] for key in self.{node.attr}]"
        if isinstance(node, ast.Attribute) and node.attr in self.hook.looked_up:
            return self.own.readings[self.hook.looked_up[node.attr]]
        if isinstance(node, ast.Attribute):
            return f"self.{node.attr}.numpy(){self.behind}"
        return f"{_STEP}.numpy(){self.behind}"

    def _results(self) -> Iterator[Change]:
        """What was fetched, where the hook reads it; and requests to stop."""
        for name in ("before_run", "after_run"):
            method = self.hook.methods.get(name)
            for node in walk(method) if method is not None else ():
                if isinstance(node, ast.Attribute) and node.attr == "request_stop":
                    yield Replace(self.module.statement(node), lines("self.model.stop_training = True"))
        method, fetched = self.hook.methods.get("after_run"), self.own.fetched
        given = method.args.args[2].arg if method is not None else ""
        for node in walk(method) if method is not None else ():
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == given:
                yield self._result(node, fetched)

    def _result(self, node: ast.Attribute, fetched: ast.expr | None) -> Change:
        outer = self.module.parent(node)
        if fetched is None:
            return Replace(node, code("None"))
        if isinstance(outer, ast.Subscript) and isinstance(outer.slice, ast.Constant):
            if isinstance(fetched, ast.Attribute) and self.hook.tensors.get(fetched.attr) in self.own.gathered:
                part_text = f"logs[self.{fetched.attr}[{self.module.segment(outer.slice)}]]"
                return Replace(outer, code(part_text))
            part = _part(fetched, outer.slice.value)
            if part is not None:
                return Replace(outer, code(self._value(part)))
        several = isinstance(fetched, (ast.List, ast.Tuple)) and len(fetched.elts) > 1
        if several and isinstance(outer, ast.Assign) and isinstance(outer.targets[0], ast.Tuple):
            return Replace(node, code(", ".join(map(self._value, fetched.elts))))  # type: ignore[attr-defined]
        return Replace(node, code(self._value(fetched)))


def _part(fetched: ast.expr, key: object) -> ast.expr | None:
    """The part of a structure under a key."""
    if isinstance(fetched, ast.Dict):
        pairs = zip(fetched.keys, fetched.values)
        return next((v for k, v in pairs if isinstance(k, ast.Constant) and k.value == key), None)
    if isinstance(fetched, (ast.List, ast.Tuple)) and isinstance(key, int) and key < len(fetched.elts):
        return fetched.elts[key]
    return None
