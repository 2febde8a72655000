"""Regions of a function that falls back: variables that nested functions share stay shared."""

from __future__ import annotations

import numpy as np
import pytest

import weft


def counted(n):
    c = 0

    def count(k):
        nonlocal c
        c += k

    for i in range(n):
        count(i)
    return c


def seen_by_a_function(a):
    x = 1.0

    def scaled(v):
        return v * x

    print(end="")
    total = 0.0
    for i in range(len(a)):
        x = a[i] * 2.0 + 1.0
        total += scaled(a[i]) + a[i] * 3.0
    return total


def outlives(a):
    print(end="")
    total = 0.0
    for v in a:
        total += v * 2.0 + 1.0

    def offset(v):
        return v + total

    print(end="")
    total = total * 2.0 + a[0] + a[1] + a[2]
    return offset(1.0)


@pytest.mark.parametrize("function", [counted, seen_by_a_function, outlives])
def test_nested_functions_see_the_same_variables(function):
    argument = 10 if function is counted else np.arange(4.0)
    assert weft.jit(fallback="silent")(function)(argument) == function(argument)


def set_in_some_iterations(a, b):
    best = 0
    row = column = 0
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] * b[j] > best:
                best = a[i] * b[j] / 2 if b[j] > 3 else a[i] * b[j]
                row, column = i, j
    return best, row, column


def test_a_region_gives_back_what_it_did_not_set():
    a, b = np.arange(5), np.arange(6)
    assert weft.jit(fallback="silent")(set_in_some_iterations)(a, b) == set_in_some_iterations(a, b)


def modules_of_its_own(a):
    import math as own
    from math import cos, sqrt

    print(end="")
    total = 0.0
    for i in range(len(a)):
        total += own.sin(a[i]) + sqrt(a[i]) + cos(a[i])
    return total


def copies_of_rows(m):
    import copy

    deep = copy.deepcopy(m)
    shallow = copy.copy(m)
    deep[0].append(1)
    shallow[0].append(2)
    shallow.append([7])
    return deep, shallow


def test_regions_after_an_import():
    compiled = weft.jit(fallback="silent")(modules_of_its_own)
    assert np.isclose(compiled(np.arange(4.0)), modules_of_its_own(np.arange(4.0)), rtol=1e-14)
    assert weft.jit(fallback="silent")(copies_of_rows)([[1, 2], [3]]) == copies_of_rows([[1, 2], [3]])


class Basket(dict):
    """Regions of a method are no methods: `super()` stays where it is."""

    def add(self, items, sizes):
        print(end="")
        if self:
            super().update((item, 2 * size + len(items) - 1) for item, size in zip(items, sizes))
            total = sum(size * 2.0 + 1.0 for size in sizes)
        else:
            super().update(zip(items, sizes))
            total = sum(size * 3.0 - 1.0 for size in sizes) + __class__.weight * len(self)  # noqa: F821
        return total

    weight = 2


@pytest.mark.parametrize("sizes", [[1, 2, 3], np.arange(3.0)])
def test_super_in_a_method_that_falls_back(sizes):
    compiled = weft.jit(fallback="silent", cache=False)(Basket.add)
    one, other = Basket(), Basket()
    for _ in range(3):
        assert compiled(one, ["a", "b", "c"], sizes) == other.add(["a", "b", "c"], sizes)
        assert one == other
