"""Promotion, joining and casting of types against NumPy itself."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from weft.ir.types import (
    BOOL,
    COMPLEX,
    F32,
    F64,
    FLOAT,
    INT,
    PYBOOL,
    DType,
    ScalarType,
    can_cast,
    from_numpy,
    join,
    promote,
    type_named,
    type_of_value,
)

WEAK = {PYBOOL: True, INT: 1, FLOAT: 1.0, COMPLEX: 1j}


@pytest.mark.parametrize(("left", "right"), list(itertools.product(DType, DType)))
def test_strong_promotion_is_result_type(left, right):
    expected = np.result_type(left.numpy, right.numpy)
    assert promote(ScalarType(left), ScalarType(right)) == ScalarType(from_numpy(expected))


@pytest.mark.parametrize("weak", list(WEAK))
@pytest.mark.parametrize("strong", list(DType))
def test_weak_promotion_is_what_numpy_computes_in(weak, strong):
    array = np.ones(2, strong.numpy)
    scalar = strong.numpy.type(1)
    promoted = promote(weak, ScalarType(strong))
    assert promoted == promote(ScalarType(strong), weak)
    assert (array + WEAK[weak]).dtype == promoted.dtype.numpy
    assert (scalar + WEAK[weak]).dtype == promoted.dtype.numpy
    assert (array * WEAK[weak]).dtype == promoted.dtype.numpy
    assert not promoted.weak


@pytest.mark.parametrize(("left", "right"), list(itertools.product(WEAK, WEAK)))
def test_weak_promotion_is_pythons(left, right):
    promoted = promote(left, right)
    assert promoted.weak
    if {left, right} != {PYBOOL}:  # what an operator makes of two bools is its own rule
        assert type_of_value(WEAK[left] * WEAK[right]) == promoted


@pytest.mark.parametrize("dtype", list(DType))
def test_properties_are_numpys(dtype):
    example = dtype.numpy.type(1)
    assert from_numpy(dtype.numpy) is dtype
    assert type_of_value(example) == ScalarType(dtype)
    assert dtype.size == example.itemsize
    assert dtype.is_integer == isinstance(example, np.integer)
    assert dtype.is_inexact == isinstance(example, np.inexact)
    assert dtype.real.numpy == np.real(example).dtype
    if dtype.is_inexact:
        assert dtype.complex.numpy == np.result_type(example, np.complex64)


@pytest.mark.parametrize("of", [ScalarType(d) for d in DType] + list(WEAK))
def test_names_read_back(of):
    assert type_named(str(of)) == of


def test_names_differ():
    names = [str(ScalarType(d)) for d in DType] + [str(w) for w in WEAK]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("strange", ["f2", "g", "O", "U3", ">f8", "M8[s]"])
def test_dtypes_the_ir_has_not(strange):
    assert from_numpy(np.dtype(strange)) is None


def test_types_of_values():
    for of, value in WEAK.items():
        assert type_of_value(value) == of
    assert type_of_value("x") is None and type_of_value(np.float16(1)) is None and type_of_value([1]) is None


def test_join_keeps_equal_types_and_is_strong_otherwise():
    assert join(FLOAT, FLOAT) == FLOAT
    assert join(FLOAT, F64) == F64
    assert join(F32, FLOAT) == F32
    assert join(PYBOOL, BOOL) == BOOL


@pytest.mark.parametrize("casting", ["same_kind", "safe", "unsafe"])
def test_strong_casting_is_numpys(casting):
    for source, target in itertools.product(DType, DType):
        expected = np.can_cast(source.numpy, target.numpy, casting=casting)
        assert can_cast(ScalarType(source), target, casting) == expected, (source, target)


@pytest.mark.parametrize("weak", list(WEAK))
@pytest.mark.parametrize("target", list(DType))
def test_weak_casting_is_that_of_an_in_place_operation(weak, target):
    array = np.ones(2, target.numpy)
    try:
        np.add(array, WEAK[weak], out=array)
        allowed = True
    except TypeError:  # UFuncTypeError: cannot cast the result to the output's dtype
        allowed = False
    assert can_cast(weak, target) == allowed
