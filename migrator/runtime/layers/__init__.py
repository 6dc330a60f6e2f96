"""Layers that Keras lacks or computes otherwise, recurrent ones among them."""
