"""The tests of weft; a package so that tests share `tests.support` and the kernels of `tests.apps.kernels`."""
