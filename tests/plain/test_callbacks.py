"""Calls back into Python beside other calls: threads, and functions that the compiler of arrays gives up."""

from __future__ import annotations

import sys
import threading
from fractions import Fraction

import pytest

import weft
from weft.plain.function import Native
from weft.plain.runtime import load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")


def harmonic(n, k):
    x = Fraction(k)
    for i in range(1, n):
        x += Fraction(1, i * k)
    return x


def test_threads_in_calls_back_into_python_do_not_mix():
    native = Native(harmonic)
    native.extend((10, 3))
    expected = {k: harmonic(30, k) for k in range(1, 5)}
    wrong = []

    def work(k):
        wrong.extend(k for _ in range(15) if native(30, k) != expected[k])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        threads = [threading.Thread(target=work, args=(k,)) for k in expected]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert wrong == []
    assert native.versions[0].calls == 60


def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


def test_integers_that_overflow_go_to_the_compiler_of_plain_python():
    compiled = weft.jit(fibonacci)
    for _ in range(14):
        assert compiled(120) == fibonacci(120)
    assert "of any size" in compiled.inspect("types")
