"""Programs that ask their RunConfig about the cluster, and become plain: the resolver of TF_CONFIG says it."""

from __future__ import annotations

import pytest
from modelfn.programs import HELPERS, joined, migrate, run
from test_loop import kept
from test_loop_clusters import OF_CLUSTER, OF_SERVERS, TRAIN

CONFIG = 'config = tf.estimator.RunConfig(model_dir="here")\n'
MADE = 'estimator = tf.estimator.Estimator(model_fn, params={"units": 1}, config=config)\n'
RESOLVER = "resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()\n"
PS = 'len(resolver.cluster_spec().as_dict().get("ps", []))'


@pytest.mark.parametrize(
    ("read", "text"),
    [
        ("print(config.is_chief)", 'print(resolver.task_type in (None, "chief", "master"))'),
        (
            "if not config.is_chief:\n    raise SystemExit",
            'if not (resolver.task_type in (None, "chief", "master")):\n',
        ),
        ('if config.task_type == "chief":\n    print("!")', 'if (resolver.task_type or "worker") == "chief":\n'),
        ("print(config.cluster_spec)", "print(resolver.cluster_spec())"),
        ("count = config.num_ps_replicas", f"count = {PS}"),
        (
            "count = config.num_worker_replicas",
            'if job in ("chief", "master", "worker")',
        ),
    ],
)
@pytest.mark.parametrize("model", [OF_CLUSTER, OF_SERVERS], ids=["workers", "servers"])
def test_the_resolver_says_what_the_configuration_said(model: str, read: str, text: str) -> None:
    after = joined(migrate(f"{model}{CONFIG}{read}\n{MADE}{TRAIN}"))
    assert f"\n{RESOLVER}" in after and text in after and "RunConfig" not in after and "model.fit(" in after


def test_nothing_is_vendored_for_it() -> None:
    assert set(run(f"{OF_CLUSTER}{CONFIG}print(config.is_chief)\n{MADE}{TRAIN}")).isdisjoint(
        {HELPERS, "tf2_cluster.py"}
    )


def test_a_model_is_given_the_number_of_servers() -> None:
    after = joined(migrate(OF_SERVERS + CONFIG + MADE.replace("1}", "config.num_ps_replicas}") + TRAIN))
    assert f'\nmodel = create_model(params={{"units": {PS}}})\n' in after


def test_a_name_that_is_taken() -> None:
    after = migrate(f"{OF_CLUSTER}resolver = 3\n{CONFIG}print(config.is_chief, resolver)\n{MADE}{TRAIN}")
    assert 'print(resolver_.task_type in (None, "chief", "master"), resolver)' in after


def test_these_fields_speak_of_a_cluster_by_themselves() -> None:
    model = OF_CLUSTER.replace('os.environ["TF_CONFIG"] = sys.argv[1]\n', "")
    assert "make_strategy()" in migrate(f"{model}{CONFIG}print(config.is_chief)\n{MADE}{TRAIN}")


def test_a_variable_of_that_name_speaks_of_none() -> None:
    model = OF_CLUSTER.replace('os.environ["TF_CONFIG"] = sys.argv[1]\n', "is_chief = True\n")
    after = migrate(model + MADE.replace(", config=config", "") + TRAIN)
    assert "make_strategy" not in after and "model.fit(" in after


@pytest.mark.parametrize(
    "more",
    [
        "print(config.task_id)\n",  # by which data are shared out
        "print(config.global_id_in_cluster)\n",
        "print(config)\n",
        "config.is_chief = True\n",
        "print(getattr(config, 'is_chief'))\n",
    ],
)
def test_other_reads_stay_with_helpers(more: str) -> None:
    kept("", f"{OF_CLUSTER}{CONFIG}{more}{MADE}{TRAIN}")


def test_a_configuration_of_a_function_of_its_own_stays_with_helpers() -> None:
    kept("", f"{OF_CLUSTER}{CONFIG}def show(config):\n    print(config.num_ps_replicas)\n\nshow(config)\n{MADE}{TRAIN}")


OF_CONFIG = OF_SERVERS.replace("mode, params)", "mode, params, config)").replace(
    "partitioner(3)", "partitioner({parts})"
)
ASKED = 'len(tf.distribute.cluster_resolver.TFConfigClusterResolver().cluster_spec().as_dict().get("ps", []))'


@pytest.mark.parametrize("parts", ["config.num_ps_replicas", "max(2, config.num_ps_replicas)"])
def test_a_model_fn_asks_for_the_number_of_servers(parts: str) -> None:
    program = OF_CONFIG.replace("{parts}", parts) + MADE.replace(", config=config", "") + TRAIN
    assert set(run(program)).isdisjoint({HELPERS, "tf2_cluster.py"})
    assert parts.replace("config.num_ps_replicas", ASKED) in joined(migrate(program))


@pytest.mark.parametrize("parts", ["len(config.model_dir)", "config.num_ps_replicas + read(config)"])
def test_a_model_fn_that_reads_more_stays_with_helpers(parts: str) -> None:
    program = OF_CONFIG.replace("{parts}", parts) + MADE.replace(", config=config", "") + TRAIN
    assert HELPERS in run(program)
