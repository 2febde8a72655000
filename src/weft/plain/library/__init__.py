"""Functions of builtins and of the standard library that are native: each module fills the tables of
weft.plain.builtin."""
