"""Strategies, replication and TPUs."""
