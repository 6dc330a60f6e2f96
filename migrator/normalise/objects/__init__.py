"""Objects: classes and instances of the program become functions and variables."""
