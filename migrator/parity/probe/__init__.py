"""What runs inside the child processes of `migrate parity`.

Needs Python 3.7, numpy and TensorFlow, and nothing else: the interpreter of the old side may be a real TF 1.15 one.
`probe_entry.py` loads this folder as a package under a private name, so that no module of the program
under test can be shadowed by one of ours.
"""
