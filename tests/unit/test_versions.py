"""Versions of one function: which of them a call takes, the decision tree, small sizes, memory."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import weft
from weft.analysis.choices import MOST, choices, is_by_size
from weft.frontend.small import inner_counts, small_axes
from weft.frontend.source import load
from weft.ir.expr import Cast, Op, Read, Var, integer, real
from weft.ir.program import If, Loop
from weft.ir.types import F64, FLOAT, PYBOOL
from weft.pipeline import stages
from weft.report import memory
from weft.report.html import page
from weft.report.texts import bytes_text
from weft.report.tree import Branch, Calls, decision_tree, tree_text

RNG = np.random.default_rng(5)


def scaled(a, b):
    return a * 2.0 + b


def product(a, b):
    return a @ b


def assert_same(actual: Any, expected: Any) -> None:
    assert actual.dtype == expected.dtype and actual.shape == expected.shape
    np.testing.assert_array_equal(actual, expected)


def compiled(function: Any) -> Any:
    return weft.jit(function, fallback="error", cache=False)


# --- which version a call takes -------------------------------------------------------------------------------------


@pytest.mark.native
def test_calls_of_several_layouts_stay_native() -> None:
    """A version whose guard says no leaves the call to the others."""
    function = compiled(scaled)
    a = RNG.random((6, 6))
    arguments = [(a, a.copy()), (a.T, a), (a[::2], a[::2].copy())]
    for _ in range(3):
        for pair in arguments:
            assert_same(function(*pair), scaled(*pair))
    assert function.stats["python_calls"] == 0
    assert function.call_counts == (3, 3, 3)  # the version for any strides takes nothing that a better one fits


@pytest.mark.native
def test_a_refused_call_runs_once() -> None:
    """Guards are asked before anything happens: an argument is changed by one version only."""

    def grow(a, b):
        a += b

    function = compiled(grow)
    a, b = np.zeros((4, 4)), np.ones((4, 4))
    for view in (a, a.T, a[::2], a[:, ::-1]):
        function(view, b[: view.shape[0]])
    assert a.sum() == 16 * 3 + 8


def test_the_dispatcher_in_python_asks_all_versions_too() -> None:
    from weft.runtime.descriptor import GuardFailed, NoneResult, ScalarParam, Signature, Version
    from weft.runtime.interpreted import Dispatcher

    class Recording(Dispatcher):
        def _miss(self, args: Any, kwargs: Any, status: Any) -> Any:
            return "miss", status

    def only(limit: int) -> Any:
        def function(value: int) -> Any:
            if value > limit:
                raise GuardFailed
            return limit

        return function

    dispatcher = Recording(Signature.of(lambda n: None))
    for limit, generality in ((9, 1), (3, 0), (5, 0)):
        version = Version((ScalarParam("int"),), (NoneResult(),), only(limit))
        dispatcher.add_version(version, generality)
    assert [dispatcher(n) for n in (1, 4, 8, 8, 4, 1, 10)] == [5, 5, 9, 9, 5, 5, ("miss", 1)]
    assert dispatcher.call_counts == (2, 0, 4) and [p.refused for p in dispatcher.profiles] == [1, 3, 3]


@pytest.mark.native
def test_calls_of_versions_of_one_kind_are_summed() -> None:
    function = compiled(scaled)
    for shapes in (((4, 4), (4, 4)), ((4, 3), (4, 3)), ((5, 3), (3,)), ((4, 4), (4, 1))):
        pair = tuple(RNG.random(shape) for shape in shapes)
        assert_same(function(*pair), scaled(*pair))
    assert sum(function.stats["calls"].values()) == 4


# --- choices by size ------------------------------------------------------------------------------------------------


def test_what_is_a_choice_by_size() -> None:
    n = Cast(Var("n"), FLOAT)
    large = Op("gt", (n, real(64.0)), PYBOOL)
    assert is_by_size(large)
    assert is_by_size(Op("and", (large, Op("ne", (Read("x", (), FLOAT), real(0.0)), PYBOOL)), PYBOOL))
    assert not is_by_size(Op("gt", (Var("n"), integer(64)), PYBOOL))
    assert not is_by_size(Op("gt", (Read("x", (), F64), Read("y", (), F64)), PYBOOL))
    assert not is_by_size(Op("gt", (Op("mul", (Read("x", (), FLOAT), n), FLOAT), real(1.0)), PYBOOL))


def triangle(c, a, b):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[j, k]


def test_choices_are_numbered_in_order() -> None:
    a = RNG.random((5, 5))
    found = choices(stages(product, (a, a.copy()))[-1][1])
    assert [choice.number for choice in found] == list(range(len(found))) and len(found) <= MOST
    assert len(found) == 1 and isinstance(found[0].node, If)  # loops for small sizes have no choices of their own
    found = choices(stages(triangle, (a, a.copy(), a + 1))[-1][1])
    assert [choice.number for choice in found] == list(range(len(found)))
    assert isinstance(found[0].node, If) and isinstance(found[1].node, Loop)
    assert found[1].inside == ((0, True),)  # the panels, if there are enough


@pytest.mark.native
def test_branches_are_counted() -> None:
    function = compiled(product)
    for n in (2, 30, 40, 3, 50):
        a = RNG.random((n, n))
        np.testing.assert_allclose(function(a, a.copy()), a @ a)
    taken = function.profiles[0].choices
    assert taken[0] == 3 and taken[1] == 2  # the library, own loops
    tree = function.explain().tree
    text = "\n".join(tree_text(tree))
    assert "gemm  [3 calls]" in text and "own loops  [2 calls]" in text and "a call  [5 calls]" in text


@pytest.mark.native
def test_no_branch_is_counted_for_a_refused_call() -> None:
    function = compiled(product)
    a = RNG.random((30, 30))
    function(a, a.copy())
    function(a.T, a)
    assert function.profiles[0].choices[0] == 1 and function.profiles[0].refused == 1


@pytest.mark.native
def test_values_that_a_kernel_hands_back_are_not_tried_by_other_versions() -> None:
    function = compiled(power)
    long, short = np.ones(100), np.ones(100)[::2]
    assert function(long, 1) == function(short, 1) == 1
    before = [profile.refused for profile in function.profiles]
    assert function(long, 3) == 3**100  # beyond 64 bits: the first version finds out, Python computes it
    assert [profile.refused for profile in function.profiles][1] == before[1]


def power(a, n):
    p = 1
    for _ in range(a.shape[0]):
        p = p * n
    return p


@pytest.mark.native
def test_the_last_sizes_are_known() -> None:
    function = compiled(product)
    for shape in ((30, 30), (7, 7)):
        function(np.ones(shape), np.ones(shape))
    assert 7 in function.profiles[0].last and 30 not in function.profiles[0].last


# --- the tree -------------------------------------------------------------------------------------------------------


def test_legality_stands_above_profitability() -> None:
    class Version:
        signature = "(f64[:, :], f64[:, :])"
        program_optimised = None
        program_lowered = stages(product, (np.ones((4, 4)), np.ones((4, 4))))[-1][1]
        c_source = "kernel"

    counts = (0,) * 64
    tree = decision_tree([Version(), Version()], [Calls(3, 1, counts), Calls(2, 0, counts)], 4)
    (kind, other) = tree.branches
    assert tree.calls == 9 and kind.text == Version.signature and kind.calls == 5 and other.calls == 4
    first = kind.branches[0]
    assert first.text.startswith("version 1, if ") and first.calls == 3
    assert "> 64" in first.branches[0].text and first.branches[-1] == Branch(first.branches[-1].text, 1)
    assert "otherwise" in first.branches[-1].text


@pytest.mark.native
def test_text_json_and_page_show_the_tree() -> None:
    function = compiled(product)
    a = RNG.random((20, 20))
    function(a, a.copy())
    explanation = function.explain()
    data = json.loads(json.dumps(explanation.to_json()))
    assert data["tree"]["calls"] == 1 and data["tree"]["branches"][0]["branches"][0]["calls"] == 1
    assert data["versions"][0]["memory"]["results"]["last_call"] == 3200.0
    text = str(explanation)
    assert "└─ anything else: a new version, or plain Python  [0 calls]" in text and "memory: temporaries none" in text
    shown = page([explanation], "product")
    assert "How a call decides" in shown and "gemm" in shown and '<span class="count ran">1 call</span>' in shown


def test_a_function_without_versions_has_no_tree() -> None:
    assert compiled(product).explain().tree is None


# --- small sizes ----------------------------------------------------------------------------------------------------


def distances(p, q):
    out = np.empty(p.shape[0])
    for i in range(p.shape[0]):
        s = 0.0
        for k in range(p.shape[1]):
            s += (p[i, k] - q[i, k]) ** 2
        out[i] = s
    return out


def smoothed(x, order):
    y = np.zeros_like(x)
    for i in range(order, x.shape[0] - order):
        for k in range(-order, order + 1):
            y[i] += x[i + k] / (2 * order + 1)
    return y


def steps(x, count):
    for _ in range(count):
        for i in range(x.shape[0]):
            x[i] = x[i] * 0.5


def reassigned(x, count):
    for i in range(x.shape[0]):
        for k in range(count):
            x[i] += k
        count = 2


def test_which_axes_are_small() -> None:
    assert small_axes((1000, 3)) == {1} and small_axes((3, 1000)) == {0} and small_axes((3, 100, 4)) == {0, 2}
    assert small_axes((5, 5)) == small_axes((1000,)) == small_axes((20, 3)) == small_axes((1000, 1)) == frozenset()
    assert small_axes((1000, 9)) == small_axes((0, 3)) == small_axes(None) == frozenset()


def test_which_arguments_count_inner_loops() -> None:
    assert inner_counts(load(smoothed).tree) == {"order"}
    assert inner_counts(load(steps).tree) == inner_counts(load(reassigned).tree) == frozenset()


@pytest.mark.native
def test_small_extents_are_compiled_in() -> None:
    function = compiled(distances)
    for width in (3, 3, 5, 2, 30, 3):
        p, q = RNG.random((100, width)), RNG.random((100, width))
        np.testing.assert_allclose(function(p, q), distances(p, q))
    assert len(function.call_counts) == 2 and function.call_counts == (3, 3)
    assert function.stats["python_calls"] == 0
    assert "p.shape[1] == 3" in str(function.explain())


@pytest.mark.native
def test_small_counts_are_compiled_in() -> None:
    function = compiled(smoothed)
    x = RNG.random(200)
    for order in (2, 2, 3, 1, 40, 0, 2):
        np.testing.assert_allclose(function(x, order), smoothed(x, order))
    assert function.call_counts == (3, 4)


@pytest.mark.native
def test_small_lists_are_compiled_in() -> None:
    function = compiled(row_sums)
    rows = RNG.random((80, 3)).tolist()
    assert function(rows) == pytest.approx(row_sums(rows))
    wider = RNG.random((80, 4)).tolist()
    assert function(wider) == pytest.approx(row_sums(wider))


def row_sums(rows):
    total = []
    for row in rows:
        s = 0.0
        for value in row:
            s += value
        total.append(s)
    return total


@pytest.mark.native
def test_sizes_that_do_not_agree_raise_what_numpy_raises() -> None:
    function = compiled(scaled)
    for shapes in (((100, 3), (100, 4)), ((100, 3), (100, 3)), ((100, 3), (2,))):
        pair = tuple(RNG.random(shape) for shape in shapes)
        try:
            expected = scaled(*pair)
        except ValueError as problem:
            with pytest.raises(ValueError, match="broadcast"):
                function(*pair)
            assert "broadcast" in str(problem)
        else:
            assert_same(function(*pair), expected)


# --- memory ---------------------------------------------------------------------------------------------------------


def smooth_rows(a):
    t = a * 2.0
    u = np.empty_like(a)
    for i in range(a.shape[0]):
        row = np.sqrt(t[i])
        u[i] = row[::-1] + row
    return u.sum()


@pytest.mark.native
def test_memory_of_a_product_inside_an_expression() -> None:
    function = compiled(norm_of_product)
    a = RNG.random((40, 50))
    function(a)
    found = function.explain().versions[0].memory
    assert found is not None
    assert "a.shape[0]**2" in found.peak and found.last_peak is not None and found.last_peak >= 40 * 40 * 8
    assert found.results == "0" and found.last_results == 0.0


def norm_of_product(a):
    return np.exp(a @ a.T).sum()


def test_what_became_of_temporaries() -> None:
    arguments = (RNG.random((9, 9)),)
    program = dict(stages(smooth_rows, arguments))
    fates = {
        one.name: one.fate for one in memory.temporaries(program["built"], program["tidy"], program["version"])
    }
    assert "no memory" in fates["t"]


def test_peak_of_branches_and_threads() -> None:
    from weft.analysis import cost
    from weft.ir.text import parse

    text = """
program f(a):
  size n = a.shape[0]
  param a: f64[n] C
  local t: f64[n]
  local u: f64[2 * n]
  local v: f64[100]
  output #0 = None

  if n > 3:
    alloc t
    t[0] = 1.0_f64
  else:
    alloc u
    u[0] = 1.0_f64
  parallel i in 0 .. n work float(n):
    alloc v
    v[0] = 1.0_f64
    a[i] = v[0]
  return #0
"""
    peak = memory.peak_bytes(parse(text))
    assert cost.evaluate(peak, {"n": 10, memory.THREADS: 2}) == 2 * 10 * 8 + 2 * 800
    assert memory.buffer_bytes(parse(text).buffer("v")) == real(800.0)


def test_bytes_for_people() -> None:
    assert [bytes_text(n) for n in (12, 3200, 2.5e6, 7e9)] == ["12 bytes", "3.2 kB", "2.5 MB", "7 GB"]
