"""`get_data_files` names the files that slim's function names."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrator.runtime.training.data_files import get_data_files


def test_files(tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("a.1", "a.2", "b.1")]
    for file in files:
        Path(file).touch()
    assert sorted(get_data_files(str(tmp_path / "a.*"))) == files[:2]
    assert get_data_files([files[2], str(tmp_path / "b.?"), "missing"]) == [files[2], files[2], "missing"]
    assert get_data_files((str(tmp_path / "[b].1"),)) == files[2:]


@pytest.mark.parametrize("sources", [[], "/nowhere/*", ["there", "/nowhere/?"]])
def test_no_files(sources: str | list[str]) -> None:
    with pytest.raises(ValueError, match="No data files found"):
        get_data_files(sources)
