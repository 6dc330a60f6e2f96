"""The function of a program that makes the strategy of its cluster, and what its model needs there."""

from __future__ import annotations

from collections.abc import Sequence

from migrator.rewrite import Row, Statement, code, expr, given, statements

EXACT = "evaluation"
"""What the arguments of `compile` are called that only parameter servers have."""


def strategy_function(tf: str, servers: bool, validated: bool, canned: bool = False) -> Sequence[Statement]:
    """`make_strategy`, which serves where TF_CONFIG wants that: for parameter servers alone, or for workers without them, too.

    Args:
        tf: what the file calls TensorFlow.
        servers: whether it is for parameter servers alone.
        validated: whether models are evaluated while they train.
        canned: whether parameter servers share variables as those of a canned Estimator do that has no partitioner, which
            are tables of 128 MiB and more.
    """
    what = "Parameter servers where TF_CONFIG has some" if servers else "The strategy that TF_CONFIG asks for"
    who = "They and the workers" if servers else "Workers and parameter servers"
    default = expr("{tf}.distribute.get_strategy()", tf=tf)
    workers = "{tf}.distribute.MultiWorkerMirroredStrategy() if cluster.jobs else {default}"
    shared = """
        # Tables of 128 MiB and more are shared, as those of canned Estimators were.
        variable_partitioner = {tf}.distribute.experimental.partitioners.MinSizePartitioner(
            min_shard_bytes=64 << 20, max_shards=len(cluster.job_tasks("ps"))
        )
        """
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
                {shared}
                return {tf}.distribute.ParameterServerStrategy(resolver, {split})
            return {other}
        ''',
        parameters="variable_partitioner" if servers and not canned else [],
        what=what,
        who=who,
        tf=tf,
        shared=statements(shared, tf=tf) if canned else [],
        alone=statements(alone) if validated else [],
        split=given("variable_partitioner" if servers else ""),
        other=default if servers else expr(workers, tf=tf, default=default),
    )


def scope(
    tf: str, partitioner: str, body: Sequence[Row], evaluated: bool = False, measured: bool = True
) -> Sequence[Statement]:
    """The scope in which a model is made; with what lets `fit` evaluate it on parameter servers, where it is `evaluated` so.

    `measured`: it is compiled with metrics.
    """
    made = code(f"make_strategy({partitioner})")
    if not evaluated:
        return statements("with {made}.scope():\n    {body}", made=made, body=body)
    exact = '{"pss_evaluation_shards": 1}'
    if not measured:
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
