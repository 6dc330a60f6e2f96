"""The `migrate` command: its options, what it shows, and reviews."""
