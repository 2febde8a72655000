"""The compiler for plain Python: containers, strings, classes, closures."""
