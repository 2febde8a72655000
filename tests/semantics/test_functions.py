"""Calls, closures, globals, default and keyword arguments, methods, recursion; lists and types that change between
calls.
"""

from __future__ import annotations

import math
import types

import numpy as np
import pytest

import weft
from tests.support import compare, differential, differential_source, lines, made, outcome, same_as_plain

SCALE = 3.0
COUNT = 4
TABLE = np.arange(5.0)


def _square(x):
    return x * x


def _total(a):
    result = 0.0
    for i in range(len(a)):
        result += a[i]
    return result


def _bounds(n):
    return n // 2, n - 1


def _fill(a, value):
    a[:] = value


def _with_default(x, factor=2.0, *, shift=1.0):
    return x * factor + shift


def test_call_of_a_function() -> None:
    def f(a):
        return _square(a) + _square(2.0)

    differential(f, made(np.arange(4.0)))


def test_call_of_a_function_with_a_loop() -> None:
    def f(a, b):
        return _total(a) * _total(b)

    differential(f, made(np.arange(4.0), np.ones(3)), tolerance=1e-14)


def test_call_that_returns_a_tuple() -> None:
    def f(n):
        low, high = _bounds(n)
        return low + high

    differential(f, made(9))


def test_call_that_writes_its_argument() -> None:
    def f(a):
        _fill(a[1:], 4.0)
        return a.sum()

    differential(f, made(np.zeros(4)))


def test_call_inside_a_loop() -> None:
    def f(a):
        for i in range(a.shape[0]):
            a[i, 0] = _total(a[i])

    differential(f, made(np.arange(12.0).reshape(3, 4)))


def test_keyword_and_default_arguments_of_a_callee() -> None:
    def f(x):
        return (
            _with_default(x),
            _with_default(x, 3.0),
            _with_default(x, factor=4.0, shift=0.5),
            _with_default(shift=2.0, x=x),
        )

    differential(f, made(1.5))


def test_keyword_and_default_arguments_of_the_function() -> None:
    def f(a, scale=2.0, *, offset=1):
        return a * scale + offset

    compiled = weft.jit(fallback="error")(f)
    for arguments, keywords in (((3.0,), {}), ((3.0, 4.0), {}), ((3.0,), {"scale": 5.0}), ((3.0,), {"offset": 7})):
        assert compare(outcome(compiled, arguments, keywords), outcome(f, arguments, keywords)) is None
    arguments, keywords = (1.0, 2.0, 3.0), {"offset": 2}
    assert compare(outcome(compiled, arguments, keywords), outcome(f, arguments, keywords)) is None


@pytest.mark.parametrize(("arguments", "keywords"), [((), {}), ((1, 2, 3), {}), ((1,), {"c": 2})], ids=str)
def test_wrong_arguments_are_pythons_type_error(arguments: tuple[int, ...], keywords: dict[str, int]) -> None:
    def f(a, b):
        return a + b

    compiled = weft.jit(f)
    assert compare(outcome(compiled, arguments, keywords), outcome(f, arguments, keywords)) is None


def test_a_jitted_function_calls_another() -> None:
    inner = weft.jit(_square)

    @weft.jit(fallback="error")
    def f(a):
        return inner(a) + 1.0

    np.testing.assert_array_equal(f(np.arange(3.0)), np.arange(3.0) ** 2 + 1.0)


def test_closure() -> None:
    factor = 2.5
    table = np.arange(3.0)

    def f(a):
        return a * factor + table

    differential(f, made(np.ones(3)))


def test_closure_that_changes() -> None:
    factor = 2.0

    def f(x):
        return x * factor

    compiled = weft.jit(f)
    assert compiled(3.0) == 6.0
    factor = 5.0
    assert compiled(3.0) == 15.0
    factor = 7
    assert compiled(3.0) == 21.0


def test_globals_that_change() -> None:
    namespace = {"np": np, "K": 2, "A": np.ones(3)}
    source = lines("x", "return x * K + A[0]")
    compiled = differential_source(source, made(4), namespace, native=False)
    scope = compiled.py_func.__globals__
    for value in (3, 2.5, 10**30, 2):
        scope["K"] = value
        assert compiled(4) == 4 * value + 1.0
    scope["A"] = np.zeros(3)
    assert compiled(4) == 8.0
    scope["A"][0] = 5.0
    assert compiled(4) == 13.0


def test_module_constants() -> None:
    def f(a):
        total = 0.0
        for i in range(COUNT):
            total += a[i] * SCALE
        return total * math.pi + TABLE[1] + np.e

    differential(f, made(np.arange(5.0)), tolerance=1e-14)


def test_a_callee_that_changes() -> None:
    scope: dict[str, object] = {}
    source = "def helper(x):\n    return x + 1\n\ndef f(x):\n    return helper(x) * 2\n"
    compiled = differential_source(source, made(3), scope, native=False)
    assert compiled(3) == 8
    compiled.py_func.__globals__["helper"] = lambda x: x - 1
    assert compiled(3) == 4


def test_nested_function() -> None:
    def f(a, k):
        def scaled(x):
            return x * k

        return scaled(a) + scaled(1.0)

    differential(f, made(np.arange(3.0), 2.0), native=False)


def test_recursion_stays_python() -> None:
    scope: dict[str, object] = {}
    source = "def f(n):\n    if n < 2:\n        return n\n    return f(n - 1) + f(n - 2)\n"
    compiled = differential_source(source, made(10), scope, native=False)
    assert compiled(15) == 610


class _Model:
    def __init__(self, weights, bias):
        self.weights = weights
        self.bias = bias

    def predict(self, x):
        return x @ self.weights + self.bias


def test_attributes_of_self() -> None:
    model = _Model(np.arange(3.0), 0.5)
    compiled = weft.jit(fallback="error")(_Model.predict)
    x = np.ones((2, 3))
    np.testing.assert_allclose(compiled(model, x), model.predict(x))
    model.bias = 2.5
    np.testing.assert_allclose(compiled(model, x), model.predict(x))
    model.weights = np.ones(3)
    np.testing.assert_allclose(compiled(model, x), model.predict(x))


def test_jit_on_a_method() -> None:
    class Counter:
        def __init__(self):
            self.step = 2

        @weft.jit
        def advance(self, x):
            return x + self.step

    counter = Counter()
    assert counter.advance(3) == 5
    counter.step = 10
    assert counter.advance(3) == 13


def test_several_signatures() -> None:
    def f(a, b):
        return a + b

    compiled = weft.jit(f)
    for make in (
        made(1, 2), made(1.0, 2), made(np.ones(3), 2), made(np.ones((2, 2), dtype=np.int8), 1), made("x", "y"),
        made([1], [2]),
        made(1 + 2j, True), made(np.float32(1), 2), made(None, 1), made(np.ones(3, dtype=">f8"), 1), made(2**80, 1),
    ):  # fmt: skip
        same_as_plain(compiled, f, make)


def test_strings_and_none_as_arguments() -> None:
    source = lines(
        "a, mode", "if mode == 'double':", "    return a * 2", "if mode is None:", "    return a + 1", "return a"
    )
    compiled = differential_source(source, made(3.0, "double"), native=False)
    assert compiled(3.0, None) == 4.0
    assert compiled(3.0, "other") == 3.0


def test_lists_are_changed_in_place() -> None:
    source = lines("a, b", "for i in range(len(a)):", "    a[i] = a[i] + b[i][0]")
    differential_source(source, made([1.0, 2.0], [[3.0], [4.0]]))


@pytest.mark.parametrize(
    "values", [[1, 2.5, 3], [], [True, 2], [1, 2**70], [[1, 2], [3]], ["a", "b"], (1, 2, 3), [None, 1]], ids=str
)
def test_lists_of_other_things(values: object) -> None:
    source = lines("a", "n = 0", "for x in a:", "    n += 1", "return n, len(a), a")
    differential_source(source, lambda: (values,), native=False)


def test_list_with_the_same_row_twice() -> None:
    def make():
        row = [0.0, 0.0]
        return ([row, row],)

    differential_source(lines("a", "a[0][0] = 1.0", "return a[1][0]"), make, native=False)


def test_subclass_of_ndarray_keeps_its_meaning() -> None:
    differential_source(lines("a", "return a * a"), lambda: (np.matrix([[1.0, 2.0], [3.0, 4.0]]),), native=False)
    masked = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
    compiled = weft.jit(fallback="silent")(lambda a: a)
    assert compiled(masked) is masked


def test_object_and_unaligned_arrays() -> None:
    differential_source(lines("a", "return a + a"), made(np.array([1, 2.5, 10**30], dtype=object)), native=False)
    raw = np.zeros(33, dtype=np.uint8)
    differential_source(lines("a", "return a + 1"), lambda: (raw[1:].view(np.float64),), native=False)
    differential_source(
        lines("a", "return a['x'] + 1"), lambda: (np.zeros(3, dtype=[("x", "f8"), ("y", "i1")]),), native=False
    )


def test_a_warning_for_each_line_that_stays_python() -> None:
    def f(a):
        text = str(a.shape)
        return text, a + 1

    compiled = weft.jit(f)
    with pytest.warns(weft.FallbackWarning) as seen:
        compiled(np.ones(3))
    assert any("test_functions.py" in str(warning.message) for warning in seen)


def test_modules_that_are_loaded_when_they_are_asked_for() -> None:
    """Compiling asks first: that the module has the name from then on must not make the version unfit."""
    lazy = types.ModuleType("lazy_constants")

    def loaded(name: str) -> float:
        if name != "factor":
            raise AttributeError(name)
        vars(lazy)[name] = 2.5
        return 2.5

    vars(lazy)["__getattr__"] = loaded
    f = weft.jit(lambda a: a * lazy.factor, fallback="error")
    assert [f(np.ones(2)).tolist() for _ in range(2)] == [[2.5, 2.5]] * 2
    assert len(f.versions) == 1
