"""The last look at what was written: names, quotes, and words."""
