"""One place where a function makes a layer or a variable, and what its attribute must not be called."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Optional

from migrator.analyse.function.translate import Layer
from migrator.analyse.statements.flow import Leaf
from migrator.analyse.statements.walks import Loop

# Attributes and methods of keras.Model that a layer's attribute must not hide (Keras 2 and 3).
RESERVED = frozenset(
    """activity_regularizer add_loss add_metric add_update add_variable add_weight autotune_steps_per_execution build
    build_from_config built call compile compile_config compile_from_config compiled_loss compiled_metrics compute_dtype
    compute_loss compute_mask compute_metrics compute_output_shape compute_output_signature count_params device_scope
    distribute_reduction_method distribute_strategy dtype dtype_policy dynamic evaluate export features finalize_state
    fit from_config get_build_config get_compile_config get_config get_input_at get_layer get_metrics_result
    get_weight_paths get_weights history inbound_nodes input input_dtype input_mask input_names input_shape input_spec
    inputs jit_compile labels layers load_own_variables load_weights loss losses make_predict_function
    make_test_function make_train_function metrics metrics_names metrics_variables name name_scope non_trainable_variables
    non_trainable_weights optimizer outbound_nodes output output_mask output_names output_shape outputs params path
    predict predict_function predict_on_batch predict_step quantize reset_metrics reset_states run_config run_eagerly
    save save_own_variables save_spec save_weights set_weights state_updates stateful stateless_call
    stateless_compute_loss stop_training submodules summary supports_jit supports_masking symbolic_call test_function
    test_on_batch test_step to_json to_yaml train_function train_on_batch train_step train_tf_function trainable
    trainable_variables trainable_weights updates variable_dtype variables weights with_name_scope loss_metric
    loss_tracker config training run_state batch_loss tf1_names init_from_checkpoint compute_losses""".split()
)
Turns = Optional[tuple[ast.comprehension, ...]]
"""Loops of the comprehensions around a call; None in functions, which run at any time."""


@dataclass(eq=False)
class Site:
    """One call that makes a layer or a variable."""

    call: ast.Call
    leaf: Leaf
    layer: Layer
    attribute: str = ""
    """Name on the model; a list of layers where the site stands in loops."""
    item: str = ""
    """Name of one element of that list inside the loop that uses it."""
    first: Site | None = None
    """The site that made the layer which this one shares (reuse)."""
    in_all_turns: bool = False
    """Whether the turns of the loops around it share one layer."""
    over_tensors: bool = False
    """Whether the number of turns is not known when the model is built: they must share one layer."""
    turns: tuple[ast.comprehension, ...] = ()
    """Loops of the comprehensions around the call, outermost first."""
    scoped: bool = False
    """Whether several layers of the model have its name, in other scopes, so that the scope is a part of its attribute."""
    embedding: bool = False
    """Whether it is a weight of which only rows are read, by ids, so that a layer may hold it."""
    asked_for: bool = False
    """Whether code asks if a condition has made it: its attribute is None where none has."""

    @property
    def makes(self) -> bool:
        """Whether `__init__` makes a layer or a variable for the site."""
        return self.first is None and not self.layer.late

    @property
    def loops(self) -> tuple[Loop, ...]:
        """Loops around the site that make a layer in each turn, outermost first."""
        return () if self.in_all_turns else (*self.leaf.loops, *self.turns)
