"""Runs the command with the sample rules, in this process or in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from inspect import signature
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from migrator.cli import cli

HEAD = "import tensorflow as tf\n"
RULEPACK = Path(__file__).resolve().parent / "rulepack"


def invoke(*arguments: str, stdin: bytes | None = None, **options: Any) -> Result:
    """Run the command in this process."""
    runner = CliRunner(
        **({"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {})
    )  # click 8.1
    return runner.invoke(cli.cli, arguments, input=stdin, prog_name="migrate", **options)


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "migrator", *arguments],
        capture_output=True,
        check=False,
        timeout=60,
        **with_pack(options),
    )


def with_pack(options: dict[str, Any]) -> dict[str, Any]:
    """Let the sample rules be found."""
    root = Path(cli.__file__).resolve().parent.parent
    path = os.pathsep.join([str(RULEPACK), str(root), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, **options.pop("env", {}), "PYTHONPATH": path}
    return {"env": environment, **options}


def write(name: str, body: str) -> Path:
    """A file that imports TensorFlow."""
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + body, encoding="utf-8")
    return path
