"""The function of a program that makes the strategy of its cluster, and what its model needs there."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from migrator.emit.modelwriter import ModelWriter

EXACT = "evaluation"
"""What the arguments of `compile` are called that only parameter servers have."""


def strategy_lines(generator: ModelWriter) -> list[str]:
    """`make_strategy`, which serves where TF_CONFIG wants that."""
    indent, tf = generator.indent, generator.shared.tf
    inner, deeper, deepest = (indent + generator.unit * depth for depth in (1, 2, 3))
    servers = generator.shared.facts["servers"]
    what = "Parameter servers where TF_CONFIG has some" if servers else "The strategy that TF_CONFIG asks for"
    who = "They and the workers" if servers else "Workers and parameter servers"
    given, passed = ("variable_partitioner", ", variable_partitioner") if servers else ("", "")
    other = f"{tf}.distribute.get_strategy()"
    other = other if servers else f"{tf}.distribute.MultiWorkerMirroredStrategy() if cluster.jobs else {other}"
    alone = [f'{inner}if resolver.task_type == "evaluator":', f"{deeper}raise SystemExit  # the chief evaluates"]
    return [
        f"{indent}def make_strategy({given}):",
        f'{inner}"""{what}. {who} serve here until they are stopped."""',
        f'{inner}resolver = {tf}.distribute.cluster_resolver.TFConfigClusterResolver(rpc_layer="grpc")',
        f"{inner}cluster = resolver.cluster_spec()",
        *(alone if generator.shared.facts["validated"] else []),
        f'{inner}if "ps" in cluster.jobs:',
        f'{deeper}if resolver.task_type in ("worker", "ps"):',
        f"{deepest}{tf}.distribute.Server(cluster, resolver.task_type, resolver.task_id, protocol=resolver.rpc_layer).join()",
        f"{deeper}return {tf}.distribute.ParameterServerStrategy(resolver{passed})",
        f"{inner}return {other}",
        "",
        "",
    ]


def scope_lines(generator: ModelWriter, partitioner: str, indent: str) -> list[str]:
    """The scope in which a model is made; with what lets it be evaluated on parameter servers, where it is."""
    made, tf = f"make_strategy({partitioner})", generator.shared.tf
    if not generator.shared.facts["evaluated"]:
        return [f"{indent}with {made}.scope():"]
    exact = '{"pss_evaluation_shards": 1}'
    if not any(entry.compiled for entry in generator.entries):
        exact = '{"pss_evaluation_shards": 1, "metrics": []}'  # which looks for some
    return [
        f"{indent}strategy = {made}",
        f"{indent}# Parameter servers evaluate each example once by this, which Keras 3 does not know.",
        f"{indent}servers = isinstance(strategy, {tf}.distribute.ParameterServerStrategy)",
        f"{indent}{EXACT} = {exact} if servers else {{}}",
        f"{indent}with strategy.scope():",
    ]
