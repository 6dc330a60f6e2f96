"""What source code says: syntax, scopes, which library name an expression stands for, modules seen together."""
