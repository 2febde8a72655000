"""One module a kernel: `initialise`, `lists`, `loops`, `operators`, `SIZES` ("S" for tests, at "M" plain CPython takes
a few seconds, at "L" textbook C about one), `KIND`, `operations(*size)` and, where they apply, `traffic(*size)` (bytes
that must move at least) and `results(*size)` (shapes of the arrays that a kernel returns).
"""
