"""What the hunt found in single calls of the knowledge base: odd arguments, arrays changed half-way, messages."""

from __future__ import annotations

import pytest

from tests.hunt.case import Case
from tests.hunt.modes import Mode, expected_of, judge

KINDS = tuple(f"np.arange(4, dtype='{of}')" for of in ("i8", "f4", "u1"))
ARRAY, HALVES = "np.arange(45)", "np.arange(45)[::2]"
CASES = {
    "np.power(a[1:], -1)": ("np.zeros(0, bool)", "np.zeros(1, bool)"),
    "np.put(a, [1, 99, 2], 5)": (ARRAY, HALVES),
    "a.put(a, 2)": ("np.array([3, 1, 7, 0])", "np.array([3, 1, 2, 0])"),
    "np.put(a, np.array([1, 2]), [5, 6])": (ARRAY, HALVES),
    "np.unique(a, return_inverse=True)": ("True", "np.array(3)", "np.array([3, 2, 3])"),
    "np.clip(a, 1, 2, min=3)": (ARRAY,),
    "a.clip(a_min=2)": (ARRAY,),
    "np.clip(a, min=3), np.clip(a, 1, None), a.clip(0, 2), a.clip(max=2), np.clip(a, a_min=1, a_max=2)": (ARRAY,),
    "np.expand_dims(a, ())": ("3.0", "np.array(3.0)", "np.array([3.0])"),
    "np.histogram2d(a, a, weights=a[1:])": ("np.arange(4.0)",),
    "np.histogram2d(a, np.arange(4, dtype='f4') / 3)": KINDS,
    "np.histogram2d(a, a, range=((0, 3), (0, 2)))": ("np.arange(4, dtype='f4')",),
    "np.bitwise_count(a - 1, dtype=np.uint8)": ("np.arange(4, dtype='u4')",),
    "np.vdot(a[a > 0], a)": ("np.arange(30).reshape(6, 5)",),
    "np.vecdot(a, a, out=a)": ("np.arange(4.0)",),
    "np.isscalar(a)": ("memoryview(b'abc')", "None", "'a'", "3"),
    "np.einsum('i,i', a[a > 1], a)": ("np.arange(5)", "np.arange(2, 4)"),
    "a[a > 1].reshape(2, 2)": ("np.arange(5)", "np.arange(6)"),
    "a[a[a > 1] > 2]": ("np.arange(5)", "np.arange(2, 6)"),
    "[x for x, y in [a[a > 1]]]": ("np.arange(4)", "np.arange(3)", "np.arange(5)"),
    "np.cumulative_sum(a[a > 0], axis=-1, include_initial=True)": ("np.zeros(4)", "np.ones(4)"),
    "np.cumulative_prod(np.asarray(a).reshape(2, -1), axis=1, include_initial=True)": ("np.zeros(0)", "np.ones(4)"),
    "np.corrcoef(a[:0], a), np.cov(a[:0], a)": ("np.ones((2, 3))",),
    "np.nanstd(a, axis=0, out=np.zeros(3, complex))": ("np.ones((2, 3))", "np.ones((0, 3))"),
    "np.nanmean(a, axis=0, out=np.zeros(3, complex))": ("np.ones((2, 3))", "np.ones((0, 3))"),
    "np.array_equal(a, np.zeros((3, 4, 4)))": ("np.zeros((3, 5, 1))", "np.zeros((3, 4, 4))", "np.zeros((0, 4, 4))"),
    "np.minimum.reduce(a.T, keepdims=True, where=False)": ("np.arange(3) > 1", "np.arange(3)"),
    "np.polysub(a, a[-1]), np.polyadd(a, [1.0])": ("np.ones((1, 1))",),
    "np.polysub(a, a[1:]), np.polyadd(a, [1.0])": ("np.ones(4)", "np.arange(1)"),
    "np.logaddexp(a, a.astype('u2')), np.heaviside(a, a.astype('u1'))": ("np.arange(4, dtype='i2')", "np.arange(4)"),
    "np.nanargmin(a), np.nanargmax(a)": ("np.array([3, 1j, np.nan])", "np.array([3.0, np.nan, 1.0])", "np.arange(3)"),
    "np.conjugate(a, dtype=np.uint8)": ("1", "True", "np.uint8(3)"),
    "np.add(a, 2, dtype=np.uint8)": ("1", "True", "np.uint8(3)"),
    "np.less(a, 1.5, dtype=bool), np.isnan(a, dtype=bool, casting='unsafe')": ("np.arange(4.0)",),
    "np.allclose(a[a > 0], np.ones((2, 1, 3)))": ("np.array([0, -1])", "np.array([0, 1])", "np.array([2, 1])"),
    "np.not_equal(a[a > 0], np.ones((1, 1)), out=np.zeros((2, 2), bool))": ("np.array([3, 2, 1])",),
    "np.vstack((a[a > 0], a[a > 1]))": ("np.array([3, 2])", "np.array([3, 1])"),
    "np.multiply(a, a[a > 0], out=a)": ("np.array([3, 2, 0])", "np.array([3, 2, 1])"),
    "np.bitwise_count(a[1], out=a, where=False)": ("np.arange(-1, 8, dtype='i2').reshape(3, 3)",),
    "np.add(a[::-1], 1, out=a, where=a > 2)": ("np.arange(5.0)", "np.arange(5, dtype='i1')"),
    "a.dot(a[::-1])": ("np.arange(36.0).reshape(4, 3, 3)[::2]",),
    "np.nanquantile(a, [0.5, 1])": ("np.zeros(0)", "np.zeros((2, 0))", "np.ones((2, 2))"),
    "np.nanpercentile(a, [], axis=0), np.nanquantile(a[a > 0], [0.5])": ("np.zeros((0, 3))", "np.ones((2, 2))"),
    "np.ldexp(2, a), np.ldexp(2, a[1]), np.ldexp(2.0, a)": ("np.arange(5, dtype='i2')", "np.arange(5)"),
    "np.absolute(a[a > 0], out=a)": ("np.array([3, 2, 0])", "np.array([3, 2, 1])"),
}


@pytest.mark.parametrize("backend", ["python", "c"])
@pytest.mark.parametrize("call", CASES)
def test_the_answer_is_numpys(call: str, backend: str) -> None:
    calls = [f"return ({argument},)" for argument in CASES[call]]
    for given in (*([each] for each in calls), calls):
        case = Case(f"def f(a):\n    return {call}\n", tuple(given))
        verdict = judge(case, Mode(backend, level="-O0"), expected_of(case)[0])
        assert not verdict.kind, f"{verdict.kind}: {verdict.text}"
