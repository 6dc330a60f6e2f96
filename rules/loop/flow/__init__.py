"""Which statements of a program come before which."""
