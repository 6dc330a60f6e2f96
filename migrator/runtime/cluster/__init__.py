"""Helpers for several devices and machines, which programs get as `tf2_cluster.py`; no module outside imports one of these."""
