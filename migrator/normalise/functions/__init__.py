"""Functions: inlined, lifted to the module, or found behind a value that stands for them."""
