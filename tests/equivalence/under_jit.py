"""A module of the standard library with all its functions under `weft.jit`, judged by CPython's own tests of it.

In: the names of a module and of its tests; out: the exit code, and what failed as text.  It runs in a process of its
own, since it replaces the functions of a module that others use.
"""

from __future__ import annotations

import importlib
import inspect
import io
import sys
import types
import unittest
import warnings
from typing import Any

import weft

_GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_MAKING = ("__new__", "__init_subclass__", "__class_getitem__")


def decorate(module: types.ModuleType) -> int:
    """Put every function and method of a module under weft; how many there are."""
    count = 0

    def wanted(value: Any) -> bool:
        return isinstance(value, types.FunctionType) and value.__code__.co_filename == module.__file__

    def compiled(function: types.FunctionType) -> Any:
        nonlocal count
        count += 1
        return function if function.__code__.co_flags & _GENERATORS else weft.jit(function, fallback="silent")

    for name, value in list(vars(module).items()):
        if wanted(value):
            setattr(module, name, compiled(value))
        elif isinstance(value, type) and value.__module__ == module.__name__:
            for method, function in list(vars(value).items()):
                if wanted(function) and method not in _MAKING:
                    setattr(value, method, compiled(function))
                elif isinstance(function, staticmethod) and wanted(function.__func__):
                    setattr(value, method, staticmethod(compiled(function.__func__)))
    return count


def main(module: str, tests: str, *left_out: str) -> int:
    """Run the tests but those `left_out`, by their names."""
    warnings.simplefilter("ignore")
    count = decorate(importlib.import_module(module))
    suite = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(f"test.{tests}"))
    chosen = unittest.TestSuite(test for test in _single(suite) if test.id().rpartition(".")[2] not in left_out)
    result = unittest.TextTestRunner(stream=io.StringIO()).run(chosen)
    for test, text in (*result.failures, *result.errors):
        print(test.id(), text, sep="\n")
    print(f"{count} functions, {result.testsRun} tests")
    return int(not result.wasSuccessful() or not count or not result.testsRun)


def _single(suite: unittest.TestSuite) -> Any:
    for part in suite:
        if isinstance(part, unittest.TestSuite):
            yield from _single(part)
        else:
            yield part


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
