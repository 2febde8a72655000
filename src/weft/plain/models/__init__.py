"""Library functions as plain Python, compiled by this same compiler for the types they are called with."""
