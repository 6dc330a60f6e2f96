"""Brings Python 2 to Python 3 before any rule looks at it: `--from-python2`."""
