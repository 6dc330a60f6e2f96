"""Reporters: each turns outcomes into one form of output."""
