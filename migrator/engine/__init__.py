"""Runs rules over files until nothing changes: registry, rounds, edits that may be made together, worker processes."""
