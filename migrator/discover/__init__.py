"""Which files there are to migrate: Python and notebooks, as text without loss, in components that belong together."""
