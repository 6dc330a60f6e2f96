"""Rewrites a TF1 program into an equal one that is easier to follow: helpers are inlined, methods become functions."""
