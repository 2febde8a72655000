"""`numba.np`: the parts of Numba's own NumPy that programs import."""
