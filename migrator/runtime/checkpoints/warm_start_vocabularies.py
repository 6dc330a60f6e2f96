"""Vocabularies of variables that start with values of a checkpoint whose vocabulary was another one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf


class VocabInfo(NamedTuple):
    """The words that the rows, or columns, of a matrix belong to, now and in a checkpoint.

    Fields:
      new_vocab: file of the words of today, one a line.
      new_vocab_size: how many of them are in use.
      num_oov_buckets: rows behind those of the words.
      old_vocab: file of the words of the checkpoint.
      old_vocab_size: how many of them were in use; -1: all. Of rows only, as in TensorFlow 1.
      backup_initializer: of what belongs to new words and to buckets; None: zeros.
      axis: 0 if rows belong to words, 1 if columns do.
    """

    new_vocab: str
    new_vocab_size: int
    num_oov_buckets: int
    old_vocab: str
    old_vocab_size: int = -1
    backup_initializer: Any = None
    axis: int = 0

    def moved(self, value: Any) -> Any:
        """The matrix for the words of today, of the one for the words of the checkpoint; buckets are not taken over."""
        old_size = self.old_vocab_size if self.axis == 0 and self.old_vocab_size > 0 else None
        places = {word: place for place, word in enumerate(vocabulary_lines(self.old_vocab)[:old_size])}
        new_words = vocabulary_lines(self.new_vocab)[: self.new_vocab_size]
        if len(new_words) < self.new_vocab_size:
            raise ValueError(f"{self.new_vocab} has fewer than {self.new_vocab_size} words.")
        old = np.moveaxis(value, self.axis, 0)
        width, unseen = old.shape[1], sum(word not in places for word in new_words)
        initialize = self.backup_initializer or tf.zeros_initializer()
        fresh = iter(np.reshape(initialize([unseen * width, 1]), [unseen, width]))
        rows = [old[places[word]] if word in places else next(fresh) for word in new_words]
        shape = [self.num_oov_buckets, width][:: -1 if self.axis else 1]
        buckets = np.moveaxis(np.asarray(initialize(shape)), self.axis, 0)
        return np.moveaxis(np.concatenate([np.reshape(rows, [-1, width]), buckets]), 0, self.axis)


def vocabulary_lines(path: str) -> list[bytes]:
    """The lines of a file."""
    with tf.io.gfile.GFile(path, "rb") as file:
        lines: list[bytes] = file.read().splitlines()
    return lines
