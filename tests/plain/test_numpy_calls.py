"""Functions that NumPy runs for compiled plain Python: results as NumPy's, aliases left to Python."""

from __future__ import annotations

import copy
import linecache
import warnings
from typing import Any

import numpy as np
import pytest

import weft
from tests.plain.kernels import load
from weft.plain import called, foreign
from weft.plain.function import Native

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not load() or np.__version__ < "2", reason="no run time of plain Python with arrays here"),
]

#: How each function is called; `a` is an array of five floats, `m` a matrix, `n` an array of integers.
CALLS = """
    np.insert(a, 1, 2.0)    np.append(a, 1.0)    np.delete(a, 1)    np.pad(a, 2)    np.trapezoid(a)    np.ediff1d(a)
    np.unwrap(a)    np.sinc(a)    np.vander(a)    np.polyfit(a, a * 2.0, 1)    np.polyadd(a, a)    np.polysub(a, a)
    np.polymul(a, a)    np.packbits(n > 2)    np.unpackbits(n.astype(np.uint8))    np.nanargmin(a)
    np.nanargmax(a)    np.nanprod(a)    np.nancumsum(a)    np.nancumprod(a)    np.nanstd(a)    np.nanvar(a)
    np.nanmedian(a)    np.nanpercentile(a, 30)    np.nanquantile(a, 0.3)
    np.compress(n > 2, a)    np.extract(n > 2, a)    np.take_along_axis(a, np.argsort(a), 0)
    np.indices((2, 3))    np.diagflat(a)
    np.geomspace(1.0, 9.0, 4)    np.gcd(n, 4)    np.lcm(n, 4)    np.float_power(a, 2)    np.nextafter(a, 0.0)
    np.isposinf(a)    np.isneginf(a)    np.array_equiv(a, a)    np.setxor1d(n, n + 1)    np.dstack((a, a))
    np.meshgrid(a, n)    np.logaddexp(a, a)    np.logaddexp2(a, a)    np.arcsinh(a)    np.arccosh(a + 1.0)
    np.arctanh(a / 100.0)    np.angle(a)    np.conj(a)    np.conjugate(a)    np.positive(a)    np.fix(a)
    np.triu_indices(3)    np.tril_indices(3, -1)    np.hanning(4)    np.hamming(4)    np.blackman(4)    np.bartlett(4)
    np.kaiser(4, 2.0)    np.linalg.cond(m)    np.linalg.eigh(m)    np.linalg.qr(m)    np.linalg.svd(m)
    np.linalg.slogdet(m)    np.histogram(a, 3)    np.unique(n, return_counts=True)    np.gradient(m)
    np.where(a > 1.0)
    np.fft.fftfreq(5)    np.fft.rfftfreq(5)    np.fft.fftshift(a)    np.fft.ifftshift(a)
"""
CALLS_EACH = [call for line in CALLS.strip().splitlines() for call in line.strip().split("    ") if call]


def described(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.strides, value.tobytes(), value.flags.writeable
    if isinstance(value, (list, tuple)):
        return type(value), [described(item) for item in value]
    if isinstance(value, dict):
        return {key: described(item) for key, item in value.items()}
    return type(value), repr(value)


def tables() -> dict[str, tuple[Any, ...]]:
    def one(shift: int) -> tuple[Any, ...]:
        a = np.array([3.0, 1.5, 2.0, 7.0, 5.25]) + shift
        return a, np.outer(a, a) + np.diag(a), np.array([3, 1, 2, 7, 5]) + shift

    return {"first": one(0), "second": one(1)}


def compiled(call: str, names: str = "a, m, n") -> tuple[Any, Any]:
    """A loop over a dict of tuples that calls NumPy for each; the plain function, and the compiled one."""
    text = f"def f(d):\n    out = {{}}\n    for k, ({names}) in d.items():\n        out[k] = {call}\n    return out\n"
    name = f"<numpy call {call}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"np": np}
    exec(compile(text, name, "exec"), space)
    return space["f"], weft.jit(space["f"], fallback="silent")


@pytest.mark.parametrize("first", range(0, len(CALLS_EACH), 9))
def test_results_are_numpys(first):
    plain, native = compiled(f"({', '.join(CALLS_EACH[first : first + 9])},)")
    for _ in range(2):
        given = tables()
        assert described(native(given)) == described(plain(tables()))
        assert described(given) == described(tables())
    assert any(native.stats["calls"].values()), native.stats


ALIASES = {
    "bins that are given": "np.histogram(a, np.array([0.0, 2.0, 9.0]))",
    "edges of an argument": "np.histogram(a, np.sort(a)[1:4])",
    "views that are asked for": "np.meshgrid(a, n, copy=False)",
    "in place": "np.nan_to_num(a, copy=False)",
    "an output by position": "np.add(a, a, a)",
    "a scratch argument": "np.median(a, overwrite_input=True)",
}


@pytest.mark.parametrize("call", ALIASES.values(), ids=ALIASES.keys())
def test_results_that_share_memory_are_left_to_python(call):
    plain, native = compiled(call)
    for _ in range(2):
        ours, theirs = tables(), tables()
        found, expected = native(ours), plain(theirs)
        assert described(found) == described(expected)
        assert described(ours) == described(theirs)
        for key in ours:
            mine = [np.shares_memory(r, g) for r in parts(found[key]) for g in ours[key]]
            assert mine == [np.shares_memory(r, g) for r in parts(expected[key]) for g in theirs[key]]


def parts(value: Any) -> list[Any]:
    return [item for item in (value if isinstance(value, (list, tuple)) else [value]) if isinstance(item, np.ndarray)]


def test_every_function_of_the_list_gives_new_arrays():
    """A function whose plain call gives a view does not belong into the list."""
    for call in CALLS_EACH:
        a, m, n = copy.deepcopy(tables()["first"])
        found = eval(call, {"np": np, "a": a, "m": m, "n": n})
        assert not called.is_shared(found, (a, m, n)), call


VIEWS = """
    np.reshape(a, (5, 1))    np.reshape(m, -1)    np.ravel(a)    np.ravel(m)    m.ravel()    np.transpose(m)
    np.asarray(a)
    np.asarray(a, np.float64)    np.asarray([1.0, 2.0])    np.asarray(n, float)    np.asarray(m)    np.asarray((1, 2))
"""


@pytest.mark.parametrize("call", [call for line in VIEWS.strip().splitlines() for call in line.strip().split("    ")])
def test_views_share_memory_as_numpys_do(call):
    plain, native = compiled(call)
    for _ in range(2):
        ours, theirs = tables(), tables()
        found, expected = native(ours), plain(theirs)
        assert described(found) == described(expected)
        for key in ours:
            assert [found[key] is g for g in ours[key]] == [expected[key] is g for g in theirs[key]]
            mine = [np.shares_memory(found[key], g) for g in ours[key]]
            assert mine == [np.shares_memory(expected[key], g) for g in theirs[key]]
    assert any(native.stats["calls"].values()), native.stats


@pytest.mark.parametrize("call", ["np.ravel(a)", "np.ravel(m)", "np.reshape(m, -1)", "np.asarray(m)"])
def test_views_of_other_layouts(call):
    plain, native = compiled(call)
    for layout in (lambda x: x, lambda x: x.T, lambda x: x[::-1], lambda x: x[::2], lambda x: np.asfortranarray(x)):
        ours, theirs = (
            {key: tuple(layout(part) for part in parts) for key, parts in tables().items()} for _ in range(2)
        )
        found, expected = native(ours), plain(theirs)
        assert described(found) == described(expected)
        for key in ours:
            mine = [np.shares_memory(found[key], g) for g in ours[key]]
            assert mine == [np.shares_memory(expected[key], g) for g in theirs[key]]


LOOPS = [f"np.{name}(x)" for name in foreign.LOOPS_OF_ONE if name != "arccosh"]
LOOPS += [f"np.{name}(x, y)" for name in foreign.LOOPS_OF_TWO]
LOOPS += ["np.arccosh(x + 1)", "np.power(x, 2)", "np.power(2, x)"]
INSIDE = np.linspace(0.01, 0.99, 60).tolist()
ODD = [0.0, -0.0, 1.0, -0.25, 30.5, -3.0, 1e30, 1e300, -1e300, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("kind", [float, np.float64])
def test_functions_of_single_numbers_have_numpys_bits(kind):
    """By the loops of NumPy's ufuncs."""
    plain = compiled(f"({', '.join(LOOPS)})", "x, y")[0]
    native = Native(plain)
    native._missed = lambda given: native.extend(given) is not None
    for x in map(kind, INSIDE):
        assert result(native, {"a": (x, 0.4)}) == result(plain, {"a": (x, 0.4)}), x
    assert [version.calls for version in native.versions] == [len(INSIDE)]


@pytest.mark.parametrize("kind", [float, int, np.int64, np.float32])
@pytest.mark.parametrize("call", ["np.exp(x), np.log(x)", "np.power(x, y)", "np.maximum(x, y), np.fmod(y, x)"])
def test_what_numpy_warns_of_is_left_to_it(kind, call):
    plain = compiled(f"({call},)", "x, y")[0]
    native = Native(plain)
    native._missed = lambda given: native.extend(given) is not None
    for x in ODD:
        if kind in (int, np.int64) and not abs(x) < 1e18:
            continue
        ours, theirs = ([], [])
        for function, told in ((native, ours), (plain, theirs)):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                told.append(result(function, {"a": (kind(x), 0.4)}))
            told.append([str(each.message) for each in caught])
        assert ours == theirs, x


def result(function: Any, given: Any) -> Any:
    try:
        return described(function(given))
    except Exception as problem:
        return type(problem), str(problem)
