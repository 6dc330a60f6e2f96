"""The idioms that are rewritten before a program is taken apart, in the order in which they are tried."""

from __future__ import annotations

from migrator.normalise.desugaring import Desugaring, OfCall, OfFiles, OfFunction
from migrator.normalise.functions import (
    chosen_variables,
    hoisted_counts,
    joined_values,
    known_nones,
    settled_choices,
    spread_options,
    starred,
)
from migrator.normalise.names import (
    apart,
    asserted,
    captured_model,
    fallback_sizes,
    filled_dicts,
    optional_imports,
    paired_losses,
    predicted,
    turns_of_keys,
)
from migrator.normalise.objects import copied

from ..canned import chosen_estimators, head_specs, named_makers
from ..configs import (
    early_replacements,
    handed_configs,
    kept_configs,
    own_configs,
    placed_estimators,
    replaced_configs,
    returned_configs,
)
from ..contrib import (
    applied_regularization,
    argument_scopes,
    functions,
    named_outputs,
    normalizer_functions,
    returned_scopes,
    static_sizes,
)
from ..desugar import (
    clocked_saves,
    collected_turns,
    device_filters,
    gathered_arguments,
    handed_entries,
    handed_keywords,
    held_estimators,
    imported_attributes,
    kept_iterators,
    maker_classes,
    named_estimators,
    named_ops,
    own_graphs,
    rebound_inputs,
    returned_keywords,
    session_lookups,
    unread_hooks,
    unread_returns,
    unset_arguments,
    unswitched_choices,
)
from ..distribute import cluster_sizes, export_switches
from ..estimator_calls import idle_sessions, named_results
from ..experiments import namespaces, run_configs, spelled
from ..exports import named_placeholders, returned_receivers, scoped_placeholders, split_receivers
from ..hooks import logged_modes, logging_classes, made_hooks, nested_hooks, writer_caches
from ..initializers import chosen_initializers, own_initializers
from ..inputs import (
    fed_iterators,
    named_receivers,
    read_batches,
    returned_arrays,
)
from ..layers import (
    chosen_layers,
    entered_scopes,
    extra_keywords,
    filled_sizes,
    handed_lengths,
    keras_assembled,
    keras_collected,
    keras_on_tensors,
    layers_by_hand,
    made_scopes,
    named_by_condition,
    named_values,
    normalization_by_condition,
    repeated_layers,
)
from ..losses_metrics import (
    metric_arms,
    metric_entries,
    metric_loops,
    metric_tables,
    metric_turns,
    scoped_summaries,
    summary_tags,
    unpaired_metrics,
)
from ..model_fns import (
    chosen_calls,
    declared_shapes,
    failing_specs,
    forwarded_features,
    gathered_specs,
    own_methods,
    templates,
    text_keys,
    training_constants,
)
from ..optimizers import (
    conditional_steps,
    created_train_ops,
    listed_variables,
    named_steps,
    optimize_loss,
    optimizer_wrappers,
)
from ..recurrent import called_cells, dropout_by_condition, handed_probabilities, plain_loops, zero_states
from ..symbols import package_aliases, step_keys
from . import handed_imports

REACHED: tuple[Desugaring[OfFiles], ...] = (static_sizes.expand, named_outputs.expand, called_cells.expand)
"""Those of the files of a program and of all that these reach, before all others."""

FILES: tuple[Desugaring[OfFiles], ...] = (
    optional_imports.expand,
    package_aliases.expand,
    step_keys.expand,
    handed_imports.expand,
    imported_attributes.expand,
    named_makers.expand,
    chosen_estimators.expand,
    returned_keywords.expand,
    handed_keywords.expand,
    spelled.expand,
    run_configs.expand,
    namespaces.expand,
    gathered_specs.expand,
    failing_specs.expand,
    gathered_arguments.expand,
    unset_arguments.expand,
    own_configs.expand,
    device_filters.expand,
    export_switches.expand,
    returned_configs.expand,
    early_replacements.expand,
    replaced_configs.expand,
    maker_classes.expand,
    unread_hooks.expand,
    session_lookups.expand,
    logging_classes.expand,
    idle_sessions.expand,
    own_graphs.expand,
    writer_caches.expand,
    forwarded_features.expand,
    unread_returns.expand,
    held_estimators.expand,
    own_methods.expand,
    kept_configs.expand,
    handed_configs.expand,
    named_estimators.expand,
    returned_arrays.expand,
    fed_iterators.expand,
    rebound_inputs.expand,
    read_batches.expand,
    scoped_placeholders.expand,
    named_receivers.expand,
    named_placeholders.expand,
    split_receivers.expand,
)
"""Those of the files of a program, before its Estimators are looked for."""

CALLS: tuple[Desugaring[OfCall], ...] = (
    optimize_loss.expand,
    created_train_ops.expand,
    normalization_by_condition.expand,
    dropout_by_condition.expand,
    functions.expand,
    made_scopes.expand,
    repeated_layers.expand,
    entered_scopes.expand,
    applied_regularization.expand,
    templates.expand,
    optimizer_wrappers.expand,
    starred.expand,
    spread_options.expand,
    extra_keywords.expand,
    normalizer_functions.expand,
    returned_scopes.expand,
    argument_scopes.expand,
    head_specs.expand,
    conditional_steps.expand,
    named_steps.expand,
    listed_variables.expand,
    chosen_calls.expand,
    handed_entries.expand,
    zero_states.expand,
    plain_loops.expand,
)
"""Those of one call in what a model_fn reaches."""

FUNCTIONS: tuple[Desugaring[OfFunction], ...] = (
    joined_values.expand,
    named_by_condition.expand,
    chosen_layers.expand,
    chosen_variables.expand,
    apart.expand,
    predicted.expand,
    copied.expand,
    asserted.expand,
    fallback_sizes.expand,
    filled_dicts.expand,
    turns_of_keys.expand,
    settled_choices.expand,
    known_nones.expand,
    hoisted_counts.expand,
    handed_probabilities.expand,
    collected_turns.expand,
    unswitched_choices.expand,
    unpaired_metrics.expand,
    metric_tables.expand,
    metric_loops.expand,
    metric_turns.expand,
    metric_arms.expand,
    paired_losses.expand,
    named_ops.expand,
    logged_modes.expand,
    nested_hooks.expand,
    keras_on_tensors.expand,
    keras_collected.expand,
    keras_assembled.expand,
    metric_entries.expand,
    filled_sizes.expand,
    handed_lengths.expand,
    declared_shapes.expand,
    named_values.expand,
    chosen_initializers.expand,
    layers_by_hand.expand,
    own_initializers.expand,
    summary_tags.expand,
    scoped_summaries.expand,
    kept_iterators.expand,
    training_constants.expand,
    text_keys.expand,
    captured_model.expand,
)
"""Those of a whole function that a model_fn reaches, or of the model_fn, when no call of any is left to rewrite."""

PLAIN: tuple[Desugaring[OfFiles], ...] = (
    named_results.expand,
    made_hooks.expand,
    clocked_saves.expand,
    cluster_sizes.expand,
    returned_receivers.expand,
)
"""Those of the files of a program that is to be plain Keras: where that fails, it keeps its own ways beside helpers."""
PLACED = placed_estimators.expand
"""The last one of these, without which a program is migrated anew where it is not plain with it."""
