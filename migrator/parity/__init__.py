"""Proves that a migrated program still trains to the same numbers: record, replay, compare, report.

`command.parity` is the command line; `compare.compare` judges two recordings; `probe/` runs inside the two child
processes, which may be other interpreters, and therefore imports nothing of `migrator`.
"""
