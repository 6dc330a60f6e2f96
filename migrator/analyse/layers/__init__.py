"""Where a function makes layers, and the functions and classes of a program that make some."""
