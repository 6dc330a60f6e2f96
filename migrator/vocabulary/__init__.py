"""What every part of the tool speaks of: diagnostics, settings, problems. Plain data, which imports no other part."""
