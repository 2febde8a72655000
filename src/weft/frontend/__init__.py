"""The front end: from a Python function and the types of its arguments to a Program of the IR."""
