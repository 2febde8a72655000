"""Special methods that are no plain functions: decorated by weft, callable objects, functions of C."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import weft


class Sign:
    """A callable object is no descriptor: it gets the operand alone."""

    def __init__(self, answer):
        self.answer = answer

    def __call__(self, *operands):
        return self.answer


class Pair:
    def __init__(self, key, size):
        self.key, self.size = key, size


class Decorated(Pair):
    @weft.jit(fallback="silent")
    def __eq__(self, other):
        return self.key == other.key

    @weft.jit(fallback="silent")
    def __lt__(self, other):
        return self.key < other.key

    @weft.jit(fallback="silent")
    def __len__(self):
        return self.size

    @weft.jit(fallback="silent")
    def __add__(self, other):
        return Decorated(self.key + other.key, 1)

    @weft.jit(fallback="silent")
    def __neg__(self):
        return Decorated(-self.key, 1)


class Called(Pair):
    __eq__ = Sign(True)
    __lt__ = Sign(True)
    __len__ = Sign(0)
    __add__ = Sign(Pair(7, 7))
    __neg__ = Sign(Pair(8, 8))
    __hash__ = None


class InC(Pair):
    __eq__ = operator.is_not
    __lt__ = operator.is_
    __add__ = operator.is_not
    __neg__ = operator.not_
    __len__ = operator.is_not


def equal(a, b):
    return a == b, a != b


def ordered(a, b):
    return a < b, b > a


def true(a, b):
    return [1 if x else 0 for x in (a, b)]


def added(a, b):
    found = a + b
    return getattr(found, "key", found)


def turned(a, b):
    return (-a).key


def equal_beside_an_array(a, b):
    total = np.zeros(3)
    for i in range(3):
        total[i] = i + (1.0 if a == b else 2.0)
    return total.tolist()


def made_inside(a, b):
    return type(a)(1, 1) == type(b)(1, 1)


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("kind", [Decorated, Called, InC])
@pytest.mark.parametrize("function", [equal, ordered, true, added, turned, equal_beside_an_array, made_inside])
@pytest.mark.parametrize("keys", [(1, 1), (1, 2)])
def test_special_methods_are_those_of_the_class(kind, function, keys):
    a, b = kind(keys[0], 0), kind(keys[1], 2)
    compiled = weft.jit(fallback="silent", cache=False)(function)
    for _ in range(4):
        assert outcome(compiled, a, b) == outcome(function, a, b)


def test_a_nested_comparison_goes_through_decorated_methods():
    """`Outer.__eq__` compares attributes whose class has a decorated `__eq__`."""

    class Outer:
        def __init__(self, inner):
            self.inner = inner

        def __eq__(self, other):
            return self.inner == other.inner

    compiled = weft.jit(fallback="silent", cache=False)(Outer.__eq__)
    for _ in range(4):
        assert compiled(Outer(Decorated(1, 1)), Outer(Decorated(1, 2))) is True
        assert compiled(Outer(Decorated(1, 1)), Outer(Decorated(2, 1))) is False
