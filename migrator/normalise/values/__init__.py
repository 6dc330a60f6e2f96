"""Which functions, classes, objects or constants an expression may stand for."""
