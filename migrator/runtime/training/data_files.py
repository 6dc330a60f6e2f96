"""Which files a pattern names."""

from __future__ import annotations

from collections.abc import Sequence

import tensorflow as tf


def get_data_files(data_sources: str | Sequence[str]) -> list[str]:
    """The files of a pattern, or of each of several. Raises ValueError where there are none.

    One without wildcards is a file, which may be missing.
    """
    if not isinstance(data_sources, str):
        files = [file for source in data_sources for file in get_data_files(source)]
    else:
        pattern = any(wildcard in data_sources for wildcard in "*?[")
        files = tf.io.gfile.glob(data_sources) if pattern else [data_sources]
    if not files:
        raise ValueError(f"No data files found in {data_sources}")
    return files
