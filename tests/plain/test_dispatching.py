"""functools.singledispatch: the class of the first argument decides while compiling, and what is registered later is
seen."""

from __future__ import annotations

import collections.abc
import functools

import pytest

from weft.plain.function import Native
from weft.plain.runtime import last, load
from weft.plain.told import Refusal

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")


class Shape:
    def __init__(self, size):
        self.size = size


class Square(Shape):
    pass


class Circle(Shape):
    pass


def generic():
    @functools.singledispatch
    def area(shape, scale=1):
        return ("unknown", scale)

    @area.register
    def _(shape: int, scale=1):
        return shape * scale

    @area.register(str)
    def _(shape, scale=1):
        return shape + str(scale)

    @area.register
    def _(shape: Shape, scale=1):
        return shape.size * scale

    @area.register
    def _(shape: Square, scale=1):
        return shape.size**2 * scale

    @area.register(type(None))
    def _(shape, scale=1):
        return -scale

    return area


def program(area):
    def f(items):
        return [area(item) for item in items], area(items, 3), area(True, scale=2)

    return f


ITEMS = [1, "a", 2.5, None, True, Shape(2), Square(3), Circle(4)]


def test_the_class_decides_with_its_bases():
    f = program(generic())
    native = Native(f)
    version = native.extend((list(ITEMS),))
    for _ in range(2):
        assert repr(native(list(ITEMS))) == repr(f(list(ITEMS)))
    assert last(version.call).calls == 2


def test_what_is_registered_later_is_seen():
    area = generic()
    f = program(area)
    native = Native(f)
    native.extend((list(ITEMS),))
    native(list(ITEMS))
    area.register(Circle, lambda shape, scale=1: "round")
    assert native(list(ITEMS)) == f(list(ITEMS)) and "round" in native(list(ITEMS))[0]
    area.register(int, lambda shape, scale=1: "whole")
    assert native(list(ITEMS)) == f(list(ITEMS)) and "whole" in native(list(ITEMS))[0]


def test_abstract_classes_are_left_to_python():
    area = generic()
    area.register(collections.abc.Sized, lambda shape, scale=1: len(shape))
    with pytest.raises(Refusal, match="abstract"):
        Native(program(area)).extend((list(ITEMS),))


def test_bad_input():
    area = generic()

    def f(items):
        return area(items[0], *items[1:])

    native = Native(f)
    native.extend(([1, 2],))
    for bad in ([], [1, 2, 3], [1, "x"]):
        found, expected = [], []
        for function, told in ((native, found), (f, expected)):
            try:
                told.append(function(bad))
            except Exception as problem:
                told += [type(problem), str(problem)]
        assert found == expected
