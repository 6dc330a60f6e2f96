"""Variables: scopes, sharing, choices by name, and where their first values come from."""
