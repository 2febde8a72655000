"""Code ahead of time for other hosts.  In: a module's functions with hints; out: a library for C, C++ and Fortran that
needs neither Python nor weft (`library`), or an extension module for Python that needs no weft (`extension`).
"""
