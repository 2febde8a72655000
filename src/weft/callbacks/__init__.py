"""Compiled functions that other C code calls: ufuncs for NumPy, callbacks for SciPy.

`weft.vectorize` and `weft.guvectorize` make ufuncs, `weft.cfunc` makes C functions. `scalar` compiles a function of
numbers, `shims` writes the C around it, `ufuncs` hands loops to NumPy.
"""
