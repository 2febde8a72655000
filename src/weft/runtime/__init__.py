"""The run time: compiler discovery, the cache of compiled code, the dispatcher, threads and BLAS. In come C source and
descriptors as plain data; out come callables. Nothing here knows the front end, the IR, the passes or code generation.
"""
