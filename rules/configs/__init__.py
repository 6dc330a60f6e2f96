"""Configurations of Estimators: kept in objects, made in pieces, handed on; each where an Estimator is made of it."""
