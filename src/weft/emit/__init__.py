"""Source to source: a module that anybody can run.  In: a file and its functions, compiled for some types; out: the
text of a module that imports NumPy and nothing of weft.

`modules` puts it together, `guards` writes the decisions, `support` what generated Python needs; `forms` says what a
variant may be written in: Python, C (`native`), CuPy (`arrays`), OpenCL C (`opencl`) and tasks of Ray (`tasks`).
"""
