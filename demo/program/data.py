"""Scikit-learn's breast cancer measurements as a click-through data set would look: one id and one value per field."""
import numpy as np
from sklearn.datasets import load_breast_cancer

FIELDS = 30
BUCKETS = 8
FEATURES = FIELDS * BUCKETS


def load(split):
    """Returns {"ids": [n, 30] int32, "values": [n, 30] float32} and labels [n, 1] float32 of "train" or "test"."""
    x, y = load_breast_cancer(return_X_y=True)
    edges = np.quantile(x, np.linspace(0, 1, BUCKETS + 1)[1:-1], axis=0)
    buckets = (x[:, np.newaxis, :] > edges).sum(axis=1)
    ids = (buckets + np.arange(FIELDS) * BUCKETS).astype(np.int32)
    values = (0.5 + x / (2 * x.max(axis=0))).astype(np.float32)
    order = np.random.RandomState(0).permutation(len(y))
    chosen = order[:448] if split == "train" else order[448:]
    return {"ids": ids[chosen], "values": values[chosen]}, y[chosen, np.newaxis].astype(np.float32)
