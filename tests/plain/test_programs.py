"""Programs as people write them, as native plain Python against CPython: results, changed arguments, exceptions."""

from __future__ import annotations

import copy
import random

import pytest

import weft
from tests.plain import (
    programs_classes_and_closures,
    programs_collections_and_text,
    programs_records,
    programs_simulations,
    programs_special_methods,
)
from weft.plain.function import Native
from weft.plain.infer import infer, walk_order
from weft.plain.runtime import last, load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")

MODULES = (
    programs_simulations,
    programs_collections_and_text,
    programs_classes_and_closures,
    programs_records,
    programs_special_methods,
)
CASES = [case for module in MODULES for case in module.CASES]
#: What needs integers beyond 64 bits, or raises what nobody catches, falls back to Python.
DEOPTIMISES = {("overflow", "(30,)"), ("deleted", "(4,)"), ("handler", "([5, 0, 2],)")}


def outcome(function, arguments):
    """The result and the changed arguments as text; text tells 1 from 1.0 and -0.0 from 0.0."""
    given = copy.deepcopy(arguments)
    state = random.getstate()
    try:
        result = repr(function(*given))
    except Exception as problem:
        result = f"{type(problem).__name__}: {problem}"
    after = random.getstate()
    random.setstate(state)
    return result, repr(given), hash(after)


@pytest.mark.parametrize("function, arguments", CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)])
def test_native_plain_python_gives_cpythons_answer(function, arguments):
    native = Native(function)
    version = native.extend(arguments)
    expected = outcome(function, arguments)
    assert outcome(native, arguments) == expected
    assert outcome(native, arguments) == expected  # the second call finds a used heap
    found = last(version.call)
    if (function.__name__, repr(arguments)) not in DEOPTIMISES:
        assert (found.deopts, found.misses) == (0, 0), found


@pytest.mark.parametrize("function, arguments", programs_special_methods.LEFT)
def test_what_is_left_to_python_is_pythons(function, arguments):
    compiled = weft.jit(fallback="silent")(function)
    expected = outcome(function, arguments)
    for _ in range(2):
        assert outcome(compiled, arguments) == expected


@pytest.mark.parametrize("function, arguments", CASES[::4], ids=[f.__name__ for f, _ in CASES[::4]])
def test_jit_takes_the_same_programs(function, arguments):
    compiled = weft.jit(fallback="error")(function)
    expected = outcome(function, arguments)
    for _ in range(3):
        assert outcome(compiled, arguments) == expected
    assert compiled.signatures


def subsets(items):
    if not items:
        return [[]]
    rest = subsets(items[1:])
    return rest + [[items[0], *chosen] for chosen in rest]


def queens(n):
    def place(row, columns, down, up):
        if row == n:
            return 1
        free = [c for c in range(n) if not (c in columns or row + c in down or row - c in up)]
        return sum([place(row + 1, columns | {c}, down | {row + c}, up | {row - c}) for c in free])

    return place(0, set(), set(), set())


def even_parts(items, parts):
    return odd_parts(items[1:], {**parts, items[0]: len(items)}) if items else parts


def odd_parts(items, parts):
    return even_parts(items[1:], {**parts, items[0]: -len(items)}) if items else parts


def flattened(nested):
    out = []
    for item in nested:
        if isinstance(item, list):
            out.extend(flattened(item))
        else:
            out.append(item)
    return out


def by_quarters(a, b):
    n = len(a)
    if n == 1:
        return [[a[0][0] * b[0][0]]]
    k = n // 2

    def plus(x, y):
        return [[p + q for p, q in zip(r, s)] for r, s in zip(x, y)]

    def quarters(m):
        return [r[:k] for r in m[:k]], [r[k:] for r in m[:k]], [r[:k] for r in m[k:]], [r[k:] for r in m[k:]]

    a11, a12, a21, a22 = quarters(a)
    b11, b12, b21, b22 = quarters(b)
    top = plus(by_quarters(a11, b11), by_quarters(a12, b21)), plus(by_quarters(a11, b12), by_quarters(a12, b22))
    low = plus(by_quarters(a21, b11), by_quarters(a22, b21)), plus(by_quarters(a21, b12), by_quarters(a22, b22))
    return [x + y for x, y in zip(*top)] + [x + y for x, y in zip(*low)]


@pytest.mark.parametrize(
    ("function", "arguments", "most"),
    [
        (by_quarters, ([[1, 2], [3, 4]], [[5, 6], [7, 8]]), 14),  # eight calls of itself, six functions in each
        (subsets, ([1, 2, 3],), 2),
        (queens, (5,), 4),
        (even_parts, ([3, 1, 2], {}), 6),
        (flattened, ([[[1], [2]], [[3]]],), 3),  # an instance for each depth: types differ
    ],
)
def test_recursion_that_makes_new_containers_has_few_instances(function, arguments, most):
    _, root = infer(function, [(value,) for value in arguments])
    assert len(walk_order(root)) <= most
    assert outcome(Native(function), arguments) == outcome(function, arguments)
