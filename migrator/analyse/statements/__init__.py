"""Statements of one function: control flow, modes, binding times, effects."""
