"""Types of loop-carried numbers are found before the loop is built: from names as they are there, and statements."""

from __future__ import annotations

import math

import numpy as np
import pytest

import weft
from tests.apps.kernels import KERNELS
from weft import pipeline
from weft.frontend import builder, core
from weft.frontend.foreseen import number_types


def totals(a, b):
    exact = total = count = 0
    for i in range(len(a)):
        total += a[i] * b[i, 0]
        count += 1
        exact = exact + i / 2
    return total, count, exact


def by_functions(a):
    high = root = 0
    for x in a:
        high = max(high, abs(x))
        root = root + math.sqrt(x)
    return high, root


def by_columns(b):
    size, place = 1, 0
    for q, row in enumerate(b):
        for j in range(1, row.size):
            size = size * row[j]
        place = q
    return size, place


WIDE = True


def by_branches(a):
    found = 0
    if a[0] > 0:
        found = a[0]
    narrow = 0
    if not WIDE:  # known when the function is compiled
        narrow = a[0]
    return found, narrow


def handed_on(a):
    x = y = z = 0
    while z < 10:
        z = z + y
        y = x
        x = a[0]
    return x


def of_arrays(a, b):
    spread = first = 0
    for _ in range(3):
        first = (b @ a).sum() + np.sqrt(a)[0]
        spread = (np.abs(b) * 2)[0, 0]
    return spread, first


F32, F64, MATRIX = np.ones(4, np.float32), np.ones(4), np.ones((4, 4))
CASES = [
    (totals, (F64, MATRIX), {"total": "f64", "exact": "float"}),
    (totals, (F32, MATRIX.astype(np.float32)), {"total": "f32", "exact": "float"}),
    (totals, ([1, 2], np.ones((2, 1), np.int32)), {"total": "i32", "exact": "float"}),
    (by_functions, (F32,), {"high": "f32", "root": "float"}),
    (by_columns, (MATRIX,), {"size": "f64"}),
    (by_branches, (F64,), {"found": "f64"}),
    (handed_on, (F64,), {"x": "f64", "y": "f64", "z": "f64"}),
    (of_arrays, (F64, MATRIX), {"first": "f64", "spread": "f64"}),
]


@pytest.mark.parametrize("function, arguments, expected", CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_types_of_variables_are_known_before_the_loop(monkeypatch, function, arguments, expected):
    found = {}

    def noted(*given):
        types = number_types(*given)
        found.update({name: str(of) for name, of in types.items()})
        return types

    monkeypatch.setattr(core, "number_types", noted)
    pipeline.compile(function, arguments)
    assert found == expected


class Stop(BaseException):
    """Raised where a function is built."""


def test_nearly_all_kernels_are_built_once(monkeypatch):
    """Only what tells the caller of which of two types a number is takes more than one build."""
    builds = 0
    run, settled = builder.run, builder._settled

    def counted(attempt):
        nonlocal builds
        builds += 1
        return run(attempt)

    def stopped(*given):
        settled(*given)
        raise Stop

    monkeypatch.setattr(builder, "run", counted)
    monkeypatch.setattr(builder, "_settled", stopped)
    several = []
    for name, kernel in KERNELS.items():
        for form, function in kernel.forms.items():
            builds = 0
            with pytest.raises(Stop):
                pipeline.compile(function, kernel.arguments(form, kernel.small[0]))
            if builds > 1:
                several.append(f"{name}/{form}")
    assert set(several) <= {"power_iteration/loops", "power_iteration/numpy"}


def doubled(a):
    found = []
    for x in a:
        if x > 0:
            found.append(x * 2)
    return found


def with_places(a):
    pairs = []
    for i in range(len(a)):
        pairs.append((i, a[i]))
    return pairs


def rows_summed(a):
    sums = []
    for i in range(len(a)):
        row = []
        for j in range(3):
            row.append(i * j)
        sums.append(row[0] + row[2])
    return sums


def sums_of_items(a):
    return sum(x * 2 for x in a), sum(a[i] * 0.5 for i in range(len(a))), sum(abs(x) for x in a)


@pytest.mark.parametrize("function", [doubled, with_places, rows_summed, sums_of_items])
@pytest.mark.parametrize("given", [F64, F32, np.arange(3), np.zeros(0)], ids=["f64", "f32", "i64", "none"])
def test_lists_and_sums_are_built_once(monkeypatch, function, given):
    builds = []
    run = builder.run
    monkeypatch.setattr(builder, "run", lambda attempt: builds.append(attempt) or run(attempt))
    pipeline.compile(function, (given,))
    assert len(builds) == 1
    compiled = weft.jit(fallback="error")(function)
    mine, plain = compiled(given), function(given)
    assert repr(mine) == repr(plain)


def mixed_items(a):
    out = []
    for i in range(len(a)):
        out.append(i if a[i] > 0.5 else a[i])
    out.append(7)
    return out


def by_case(a):
    out = []
    total = 0
    if len(a) > 2:
        out.append(total)
    else:
        out.append(2.5)
    for x in a:
        out.append(total)
        total += x
    return out


@pytest.mark.parametrize("function", [mixed_items, by_case])
@pytest.mark.parametrize("count", [0, 1, 4])
def test_items_of_several_types_keep_their_own(function, count):
    given = np.linspace(0.1, 0.9, count)
    for _ in range(2):
        assert repr(weft.jit(fallback="silent")(function)(given)) == repr(function(given))
