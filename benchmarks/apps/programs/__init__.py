"""One file a program: a function of the file's name in plain Python and NumPy, `initialise(size)` and `SIZES`; in
`../c` and `../cython` are its ports, where there are any.
"""
