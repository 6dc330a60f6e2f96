"""TPUStrategy as far as it goes without a TPU: what is asked of TensorFlow, in which order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import tensorflow as tf

from migrator.runtime.cluster import tpu_strategies


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Any]]:
    """What is asked, with a resolver that stands for a TPU and a strategy that is one."""
    calls: list[Any] = []
    monkeypatch.setattr(tf.distribute.cluster_resolver, "TPUClusterResolver", lambda: "found")
    monkeypatch.setattr(tf.config, "experimental_connect_to_cluster", lambda given: calls.append(("connect", given)))
    monkeypatch.setattr(tf.tpu.experimental, "initialize_tpu_system", lambda given: calls.append(("start", given)))
    monkeypatch.setattr(tf.distribute, "TPUStrategy", lambda given: calls.append(("train", given)) or object())
    tpu_strategies.tpu_strategy.cache_clear()
    yield calls
    tpu_strategies.tpu_strategy.cache_clear()


@pytest.mark.parametrize(("given", "found"), [("mine", "mine"), (None, "found")])
def test_a_tpu_is_connected_and_initialized_first(given: Any, found: str, asked: list[Any]) -> None:
    tpu_strategies.tpu_strategy(given)
    assert asked == [("connect", found), ("start", found), ("train", found)]


def test_a_tpu_is_initialized_once(asked: list[Any]) -> None:
    assert tpu_strategies.tpu_strategy("mine") is tpu_strategies.tpu_strategy("mine")
    assert len(asked) == 3


def test_without_a_tpu_tensorflow_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TPU_NAME", "COLAB_TPU_ADDR", "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    tpu_strategies.tpu_strategy.cache_clear()
    with pytest.raises(Exception, match="(?i)tpu"):
        tpu_strategies.tpu_strategy()
