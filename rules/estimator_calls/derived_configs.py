"""Classes of the program that are derived from RunConfig: they stay, derived from the vendored one."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from migrator.analyse.function.errors import Unsupported
from migrator.normalise.objects.methods import own_method
from migrator.resolve.module import Module
from migrator.resolve.project import Definition, Project
from migrator.resolve.syntax import walk

from .estimator_values import PREFIX

if TYPE_CHECKING:
    from .driver import Driver

RUN_CONFIG = f"{PREFIX}RunConfig"
_KEPT = frozenset(
    {
        "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
        "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
    }
)  # fmt: skip
"""Fields that the vendored class has as well."""
_GONE = frozenset(
    {
        "session_config", "train_distribute", "device_fn", "protocol", "eval_distribute", "experimental_distribute",
        "experimental_max_worker_delay_secs", "session_creation_timeout_secs", "checkpoint_save_graph_def",
    }
)  # fmt: skip
_OF_CLUSTER = frozenset(
    {
        "cluster_spec", "evaluation_master", "global_id_in_cluster", "is_chief", "master", "num_ps_replicas",
        "num_worker_replicas", "service", "task_id", "task_type",
    }
)  # fmt: skip
TAKEN = _KEPT | _GONE | _OF_CLUSTER | {"replace", "strategy", "eval_strategy"}
"""Names of attributes that the classes of either TensorFlow have."""


def why_not_derived(project: Project, module: Module, base: ast.expr) -> str | None:
    """Why a class with the base `base`, which is RunConfig, cannot stay; None where it can."""
    owner = module.parent(base)
    assert isinstance(owner, ast.ClassDef)
    try:
        _Derived(project, module, owner).check()
    except Unsupported as reason:
        return str(reason)
    return None


def derived_reference(driver: Driver, node: ast.expr, name: str) -> bool:
    """Migrate ``class Config(tf.estimator.RunConfig)``, with the arguments that it hands on; whether it is one."""
    owner = driver.module.parent(node)
    if name != RUN_CONFIG or not isinstance(owner, ast.ClassDef) or node not in owner.bases:
        return False
    derived = _Derived(driver.project, driver.module, owner)
    derived.check()
    driver.replace(node, driver.need("DerivedRunConfig", node))
    for module, call in derived.calls():
        if not any(keyword.arg is None for keyword in call.keywords):
            driver.beside(module).run_config_arguments(call)
    return True


class _Derived:
    """One such class."""

    def __init__(self, project: Project, module: Module, owner: ast.ClassDef) -> None:
        self.project = project
        self.module = module
        self.owner = owner
        self.made = own_method(owner, "__init__")

    def check(self) -> None:
        """Raise Unsupported where the class does more than to add attributes and methods."""
        owner = self.owner
        if len(owner.bases) > 1 or owner.keywords or owner.decorator_list:
            raise Unsupported("it has several bases, keywords or decorators", owner)
        if self.project.subclasses(Definition(self.module, owner)):
            raise Unsupported("other classes are derived from it", owner)
        for statement in owner.body:
            names = [t.id for t in getattr(statement, "targets", ()) if isinstance(t, ast.Name)]
            names += [statement.name] if isinstance(statement, ast.FunctionDef) else []
            if any(name in TAKEN for name in names):
                raise Unsupported("it has a field of RunConfig anew", statement)
        for node in walk(owner):
            if isinstance(node, ast.Name) and node.id in ("super", "__class__"):
                self._check_super(node)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
                self._check_attribute(node)
        for _, call in self.calls():
            self._check_arguments(call)

    def calls(self) -> list[tuple[Module, ast.Call]]:
        """The calls whose arguments RunConfig gets."""
        if self.made is not None:
            return [(self.module, call) for call in self._initializers()]
        return self._makers()

    def _makers(self) -> list[tuple[Module, ast.Call]]:
        """The calls that make objects of the class."""
        uses = ((m, use) for m in self.project.modules.values() for use in self._uses(m))
        return [(m, call) for m, use in uses if isinstance(call := m.parent(use), ast.Call) and call.func is use]

    def _uses(self, module: Module) -> list[ast.expr]:
        return list(self.project.uses(Definition(self.module, self.owner), module))

    def _initializers(self) -> list[ast.Call]:
        return [
            node
            for node in walk(self.made)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__"
        ] if self.made is not None else []  # fmt: skip

    def _check_super(self, node: ast.Name) -> None:
        call = self.module.parent(node)
        attribute = self.module.parent(call) if isinstance(call, ast.Call) else None
        around = self.module.nearest(node, (ast.FunctionDef, ast.Lambda))
        if not isinstance(attribute, ast.Attribute) or attribute.attr != "__init__" or around is not self.made:
            raise Unsupported("it uses `super` for more than its `__init__`", node)
        statement = self.module.statement(node)
        body = self.made.body if self.made is not None else []
        before = body[: body.index(statement)] if statement in body else None
        if before is None or any(
            isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store) for s in before for n in walk(s)
        ):
            raise Unsupported("it calls `super().__init__` on some ways, or sets attributes before", node)

    def _check_attribute(self, node: ast.Attribute) -> None:
        stored = isinstance(node.ctx, ast.Store)
        own = {n.attr for n in walk(self.owner) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)}
        own |= {s.name for s in self.owner.body if isinstance(s, ast.FunctionDef)}
        if node.attr.strip("_") in TAKEN and (stored or node.attr not in _KEPT):
            raise Unsupported(f"it uses `{node.attr}` of RunConfig", node)
        if node.attr.startswith("_") and node.attr not in own:
            raise Unsupported(f"it uses `{node.attr}`, which is private to RunConfig", node)

    def _check_arguments(self, call: ast.Call) -> None:
        hidden = [keyword.value for keyword in call.keywords if keyword.arg is None]
        if any(isinstance(argument, ast.Starred) for argument in call.args) or call.args and hidden:
            raise Unsupported("what RunConfig gets is hidden behind *", call)
        if not hidden:
            return
        rest = self.made.args.kwarg if self.made is not None else None
        if self.made is None or len(hidden) > 1 or rest is None or ast.unparse(hidden[0]) != rest.arg:
            raise Unsupported("what RunConfig gets is hidden behind **", call)
        texts = {n.value for n in walk(self.made) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
        given = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
        own = {a.arg for a in (*self.made.args.args, *self.made.args.kwonlyargs)}
        for _, maker in self._makers():
            names = {keyword.arg for keyword in maker.keywords}
            if None in names or not names - own <= _KEPT:
                raise Unsupported("what RunConfig gets is hidden behind **, or has no meaning any more", maker)
        if (texts | given) & (_GONE | _OF_CLUSTER):
            raise Unsupported("it sets a field that has no meaning any more", call)
