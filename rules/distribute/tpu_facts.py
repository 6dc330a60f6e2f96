"""What a TPUEstimator says beyond an Estimator, as data: the TPU, if one is used, and the size of each mode's batches."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Optional

from migrator.analyse.function.translate import is_none
from migrator.resolve.module import Module

FAMILIES = ("tensorflow.contrib.tpu.", "tensorflow.estimator.tpu.", "tensorflow.tpu.")
"""Where TensorFlow 1 kept names around TPUs."""
_DESCRIPTIONS = frozenset({"TPUConfig", "InputPipelineConfig"})
"""What describes a TPU to a RunConfig."""
FIELDS = "tpu_config evaluation_master master cluster"
"""Parameters of its RunConfig before those of any other."""
ARGUMENTS = (
    "use_tpu train_batch_size eval_batch_size predict_batch_size batch_axis eval_on_tpu export_to_tpu export_to_cpu "
    "embedding_config_spec export_saved_model_api_version"
)
"""Its arguments beyond those of an Estimator."""
_SIZES = {"train": "train_batch_size", "eval": "eval_batch_size", "infer": "predict_batch_size"}
_CLOSED = (ast.Constant, ast.Attribute, ast.Name)


@dataclass(frozen=True)
class Tpu:
    """The TPU of an Estimator, which may be none."""

    use: ast.expr | None = None
    """Whether it is used, where the program says that when it runs, or True; None: it is not."""
    resolver: ast.expr | None = None
    """What finds it, where the program has that."""
    loop: ast.expr | None = None
    """How many steps it takes before the program hears of it."""
    sizes: Mapping[str, ast.expr] = field(default_factory=dict)
    """How large batches are over all cores, by mode."""
    dropped: tuple[ast.expr, ...] = ()
    """Values of its configuration that nothing reads any more."""

    @property
    def always(self) -> bool:
        """Whether it is used wherever the program runs."""
        return isinstance(self.use, ast.Constant)

    def given(self, mode: str, params: ast.expr | None) -> ast.expr | None:
        """What an input function gets as `params` in a mode, beside those of the program."""
        size = self.sizes.get(mode)
        if size is None:
            return params
        own: list[tuple[ast.expr | None, ast.expr]] = [] if params is None else [(None, params)]
        entries = [*own, (ast.Constant("batch_size"), size)]
        return ast.Dict([key for key, _ in entries], [value for _, value in entries])


def short_name(name: str) -> Optional[str]:
    """``TPUEstimator`` for any of the places where TensorFlow 1 kept it; None for names of other families."""
    return name.rsplit(".", 1)[1] if name.startswith(FAMILIES) else None


def describes_tpu(name: str) -> bool:
    """Whether a name only says how a TPU is set up."""
    return name.startswith(FAMILIES) and not _DESCRIPTIONS.isdisjoint(name.split("."))


def tpu_of(module: Module, arguments: Mapping[str, ast.expr], config: Mapping[str, ast.expr]) -> Tpu | str:
    """The TPU of a TPUEstimator, by its arguments and those of its RunConfig, or why it is not understood."""
    use: ast.expr | None = arguments.get("use_tpu", ast.Constant(True))
    if isinstance(use, ast.Constant) and not use.value:
        use = None
    sizes = {mode: arguments[name] for mode, name in _SIZES.items() if not is_none(arguments.get(name))}
    if not all(_stays(module, size) for size in sizes.values()):
        return "a batch size that is computed"
    resolver = config.get("cluster")
    kept = resolver if use is not None and not is_none(resolver) else None
    gone = [value for name, value in config.items() if name in FIELDS.split() and value is not kept]
    return Tpu(use, kept, _iterations(module, config.get("tpu_config")), sizes, tuple(gone))


def _iterations(module: Module, node: ast.expr | None) -> ast.expr | None:
    """The `iterations_per_loop` of a TPUConfig, where it is seen and may be written elsewhere."""
    if isinstance(node, ast.Name) and (statement := module.assignment(node)) is not None:
        node = statement.value
    if not isinstance(node, ast.Call) or short_name(module.resolve(node.func) or "") != "TPUConfig":
        return None
    first = [None if isinstance(argument, ast.Starred) else argument for argument in node.args[:1]]
    given = next((k.value for k in node.keywords if k.arg == "iterations_per_loop"), *first or [None])
    return given if not is_none(given) and given is not None and _stays(module, given) else None


def _stays(module: Module, node: ast.expr) -> bool:
    """Whether an expression is the same wherever it is written."""
    if isinstance(node, ast.BinOp):
        return _stays(module, node.left) and _stays(module, node.right)
    return isinstance(node, _CLOSED) and (not isinstance(node, ast.Name) or len(module.bindings(node)) == 1)


def strategy_lines(tf: str, unit: str, name: str, found: bool, always: bool) -> list[str]:
    """The function that makes the strategy of a program which uses a TPU `always`, or else on demand.

    `found`: it has what finds the TPU. Where it has not, one device takes the place of a TPU that is always used.
    """
    resolver = f"{tf}.distribute.cluster_resolver.TPUClusterResolver()"
    connected = [
        f"{unit}{tf}.config.experimental_connect_to_cluster(resolver)",
        f"{unit}{tf}.tpu.experimental.initialize_tpu_system(resolver)",
        f"{unit}return {tf}.distribute.TPUStrategy(resolver)",
        "",
        "",
    ]
    if always and found:
        return [
            f"def {name}(resolver):",
            f'{unit}"""Trains on the TPU that `resolver` finds, or on the one that is here."""',
            f"{unit}resolver = resolver or {resolver}",
            *connected,
        ]
    if always:
        return [
            f"def {name}():",
            f'{unit}"""Trains on the TPU that is here; where there is none, on one device."""',
            f"{unit}try:",
            f"{unit}{unit}resolver = {resolver}",
            f"{unit}except ValueError:",
            f'{unit}{unit}{tf}.get_logger().warning("There is no TPU: training on one device.")',
            f"{unit}{unit}return {tf}.distribute.get_strategy()",
            *connected,
        ]
    what = "on the TPU that `resolver` finds, or on the one that is here" if found else "on the TPU that is here"
    return [
        f"def {name}(use_tpu{', resolver' if found else ''}):",
        f'{unit}"""Trains {what}, if it is to be used; else on one device."""',
        f"{unit}if not use_tpu:",
        f"{unit}{unit}return {tf}.distribute.get_strategy()",
        f"{unit}resolver = {'resolver or ' if found else ''}{resolver}",
        *connected,
    ]
