"""The function of a program that makes the strategy of its cluster, and what its model needs there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from migrator.rewrite import Row, code, expr, given, statements

if TYPE_CHECKING:
    from migrator.emit.modelwriter import ModelWriter

EXACT = "evaluation"
"""What the arguments of `compile` are called that only parameter servers have."""


def strategy_function(generator: ModelWriter) -> Sequence[Row]:
    """`make_strategy`, which serves where TF_CONFIG wants that."""
    tf, servers = generator.shared.tf, generator.shared.facts["servers"]
    what = "Parameter servers where TF_CONFIG has some" if servers else "The strategy that TF_CONFIG asks for"
    who = "They and the workers" if servers else "Workers and parameter servers"
    default = expr("{tf}.distribute.get_strategy()", tf=tf)
    workers = "{tf}.distribute.MultiWorkerMirroredStrategy() if cluster.jobs else {default}"
    alone = """
        if resolver.task_type == "evaluator":
            raise SystemExit  # the chief evaluates
        """
    return statements(
        '''
        def make_strategy({parameters}):
            """{what}. {who} serve here until they are stopped."""
            resolver = {tf}.distribute.cluster_resolver.TFConfigClusterResolver(rpc_layer="grpc")
            cluster = resolver.cluster_spec()
            {alone}
            if "ps" in cluster.jobs:
                if resolver.task_type in ("worker", "ps"):
                    {tf}.distribute.Server(cluster, resolver.task_type, resolver.task_id, protocol=resolver.rpc_layer).join()
                return {tf}.distribute.ParameterServerStrategy(resolver, {split})
            return {other}
        ''',
        parameters="variable_partitioner" if servers else [],
        what=what,
        who=who,
        tf=tf,
        alone=statements(alone) if generator.shared.facts["validated"] else [],
        split=given("variable_partitioner" if servers else ""),
        other=default if servers else expr(workers, tf=tf, default=default),
    )


def scope(generator: ModelWriter, partitioner: str, body: Sequence[Row]) -> Sequence[Row]:
    """The scope in which a model is made; with what lets it be evaluated on parameter servers, where it is."""
    made, tf = code(f"make_strategy({partitioner})"), generator.shared.tf
    if not generator.shared.facts["evaluated"]:
        return statements("with {made}.scope():\n    {body}", made=made, body=body)
    exact = '{"pss_evaluation_shards": 1}'
    if not any(entry.compiled for entry in generator.entries):
        exact = '{"pss_evaluation_shards": 1, "metrics": []}'  # which looks for some
    return statements(
        """
        strategy = {made}
        # Parameter servers evaluate each example once by this, which Keras 3 does not know.
        servers = isinstance(strategy, {tf}.distribute.ParameterServerStrategy)
        {exact} = {arguments} if servers else {{}}
        with strategy.scope():
            {body}
        """,
        made=made,
        tf=tf,
        exact=EXACT,
        arguments=code(exact),
        body=body,
    )
