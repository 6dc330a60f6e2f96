"""Names: those chosen at run time, those of two variables, those of optional imports."""
