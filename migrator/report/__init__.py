"""Reporters: each turns outcomes into one form of output."""

FORMATS = ("text", "diff", "json", "sarif", "github", "markdown", "html")
"""What ``--format`` takes."""
