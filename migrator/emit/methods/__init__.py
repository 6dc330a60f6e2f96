"""The methods of a generated class."""
