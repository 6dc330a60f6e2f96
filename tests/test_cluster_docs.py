"""What docs/clusters.md has to start clusters with: scripts run, against stand-ins, and give clusters that are accepted."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from docs_tools import blocks

PAGE = "docs/clusters.md"
PYTHON = '#!/bin/bash\necho "$TF_CONFIG" > "$OUT/$RANDOM$RANDOM.json"\n'
SCONTROL = "#!/bin/bash\nprintf 'node%s\\n' 1 2 3 4\n"
SRUN = '#!/bin/bash\nfor SLURM_PROCID in 0 1 2 3; do export SLURM_PROCID; "$@"; done\n'


@pytest.mark.parametrize("number", [0, 1], ids=["by hand", "Slurm"])
def test_scripts_give_each_process_its_place(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tensorflow_cluster = pytest.importorskip("migrator.runtime.cluster.tasks")
    script = [block.text for block in blocks(PAGE) if block.language == "bash"][number]
    programs, out = tmp_path / "bin", tmp_path / "out"
    for folder in (programs, out):
        folder.mkdir()
    for name, text in (("python", PYTHON), ("scontrol", SCONTROL), ("srun", SRUN)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "OUT": str(out)}
    subprocess.run(["bash", "-eu", "-c", script], env={**environment, "SLURM_JOB_NODELIST": "node[1-4]"}, check=True)
    found = [path.read_text() for path in out.glob("*.json")]
    tasks = []
    for text in found:
        monkeypatch.setenv("TF_CONFIG", text)
        task = tensorflow_cluster.cluster_task()
        tasks.append((task.task_type, task.task_id))
    cluster = json.loads(found[0])["cluster"]
    listed = [(job, index) for job, hosts in cluster.items() for index in range(len(hosts))]
    assert sorted(set(tasks) - {("evaluator", 0)}) == sorted(listed) and len(tasks) == len(set(tasks))


def manifests() -> list[Any]:
    yaml = pytest.importorskip("yaml")
    return [yaml.safe_load(block.text) for block in blocks(PAGE) if block.language == "yaml"]


def test_the_manifest_of_kubeflow_has_a_chief_that_only_coordinates_workers_and_servers() -> None:
    job = manifests()[0]
    assert (job["apiVersion"], job["kind"]) == ("kubeflow.org/v1", "TFJob")
    replicas = job["spec"]["tfReplicaSpecs"]
    assert {name: spec["replicas"] for name, spec in replicas.items()} == {
        "Chief": 1,
        "Worker": 2,
        "PS": 2,
        "Evaluator": 1,
    }
    for spec in replicas.values():
        (container,) = spec["template"]["spec"]["containers"]
        assert container["name"] == "tensorflow"  # the one that the operator gives its TF_CONFIG to
        assert {mount["name"] for mount in container["volumeMounts"]} == {
            volume["name"] for volume in spec["template"]["spec"]["volumes"]
        }


def test_the_pools_of_vertex_ai_stand_in_their_order() -> None:
    pools = manifests()[1]["workerPoolSpecs"]
    assert [pool["replicaCount"] for pool in pools] == [1, 2, 2, 1]
    assert all({"machineSpec", "containerSpec"} <= set(pool) for pool in pools)
