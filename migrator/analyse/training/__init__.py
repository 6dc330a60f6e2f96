"""Train ops: optimizers, gradients, the order of updates, and hooks."""
