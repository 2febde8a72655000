"""Integer sets: answers against a count of every point, and the careful answer where something is not affine."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.ir import domain
from weft.ir.domain import (
    Access,
    depends,
    holds,
    injective,
    is_empty,
    is_subset,
    lexmax,
    lexmin,
    overlaps,
    precondition,
)
from weft.ir.expr import Dim, Op, Var, integer
from weft.ir.index import Affine, expression
from weft.ir.scalar import apply
from weft.ir.text import parse, show_expr
from weft.ir.types import INT, PYBOOL

HEADER = """
program f(idx, n, m, c0, c1):
  size idx_0 = idx.shape[0]
  symbol n = argument n
  symbol m = argument m
  symbol c0 = argument c0
  symbol c1 = argument c1
  param idx: i64[idx_0] C
  local z: int
  local ok: pybool
  output #0 = None

"""


def expr(text):
    return parse(f"{HEADER}  check {text} else ValueError\n  return #0").body[0].condition


def dims(text):
    return parse(f"{HEADER}  z = 0   for {text}\n  return #0").body[0].domain if text else ()


def access(over, *index, where=()):
    return Access(dims(over), tuple(expr(e) for e in index), tuple(expr(c) for c in where))


def test_importing_the_module_does_not_import_isl(subprocess_environment):
    code = "import sys, weft.ir.domain; sys.exit('islpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=subprocess_environment, timeout=600).returncode == 0


@pytest.mark.parametrize(
    ("over", "where", "context", "empty"),
    [
        ("i: 0 <= i < n", (), (), False),
        ("i: 0 <= i < n", (), ("n <= 0",), True),
        ("i: 0 <= i < n, j: i <= j < i", (), (), True),
        ("i: 0 <= i < n step 2", ("i % 2 == 1",), (), True),
        ("i: 1 <= i < n step 2", ("i % 2 == 1",), (), False),
        ("i: 0 <= i < n", ("i // 4 > n",), (), True),
        ("i: 0 <= i < minimum(n, 3)", ("i >= 3",), (), True),
        ("i: n - 1 >= i > -1 step -1", ("i == n",), (), True),
        ("i: 0 <= i < n", ("idx[i] == 3_i64",), (), False),
        ("i: 0 <= i < n", ("ok and i < 0",), (), True),  # the affine part decides
        ("i: 0 <= i < n", ("not (ok or i >= 0)",), (), True),
        ("i: 0 <= i < n", ("ok or i < 0",), (), False),
        ("i: 0 <= i < n * m", ("i >= n * m",), (), True),  # a product of symbols is as fixed as they are
        ("j(p): csr(idx, idx)[0]", (), (), False),
    ],
)
def test_emptiness(over, where, context, empty):
    assert is_empty(dims(over), tuple(map(expr, where)), tuple(map(expr, context))) is empty


def test_holds():
    over = dims("i: 0 <= i < n, j: i + 1 <= j < n")
    assert holds(expr("0 <= j and j < n"), dims("j: 0 <= j < n"))
    assert holds(Op("lt", (Var("i"), Op("sub", (Var("n"), integer(1)), INT)), PYBOOL), over)
    assert not holds(Op("lt", (Var("i"), Op("sub", (Var("n"), integer(2)), INT)), PYBOOL), over)
    assert not holds(expr("idx[0] >= 0_i64"))


@pytest.mark.parametrize(
    ("first", "second", "subset"),
    [
        ("i: 1 <= i < n - 1", "j: 0 <= j < n", True),
        ("i: 0 <= i < n", "j: 1 <= j < n", False),
        ("i: 0 <= i < n step 4", "j: 0 <= j < n step 2", True),
        ("i: 0 <= i < n step 2", "j: 0 <= j < n step 4", False),
        ("i: 0 <= i < n, j: 0 <= j < i", "k: 0 <= k < n, l: 0 <= l < n", True),
        ("i: 0 <= i < n", "k: 0 <= k < n, l: 0 <= l < n", False),
        ("i: 0 <= i < n", "j: 0 <= j < z", False),
        ("i: 0 <= i < z", "j: 0 <= j < n", False),
        ("i: 0 <= i < 3", "j: 0 <= j < n", False),
    ],
)
def test_subsets(first, second, subset):
    assert is_subset(dims(first), dims(second)) is subset


def test_subset_under_a_context():
    assert is_subset(dims("i: 0 <= i < 3"), dims("j: 0 <= j < n"), (expr("n >= 3"),))


LOOP = "i: 1 <= i < n - 1"


@pytest.mark.parametrize(
    ("first", "second", "carried", "answer"),
    [
        ((LOOP, "i"), (LOOP, "i - 1"), "i", True),  # written, read by the next iteration
        ((LOOP, "i - 1"), (LOOP, "i"), "i", False),
        ((LOOP, "i"), (LOOP, "i + 1"), "i", False),
        ((LOOP, "i"), (LOOP, "i"), "i", False),
        ((LOOP, "i"), (LOOP, "i"), None, True),
        ((LOOP, "i"), (LOOP, "i + 1"), None, False),
        ((LOOP, "2 * i"), (LOOP, "2 * i + 1"), "i", False),
        ((LOOP, "2 * i"), (LOOP, "i"), "i", True),
        ((LOOP, "i"), (LOOP, "2 * i"), "i", False),
        ((LOOP, "idx[i]"), (LOOP, "i"), "i", True),
        ((LOOP, "idx[i]", "0"), (LOOP, "i", "1"), "i", False),
        ((LOOP,), (LOOP,), "i", True),  # a scalar
        (("i: 1 <= i < 2",), ("i: 1 <= i < 2",), "i", False),  # a single iteration
        (("i: n >= i > 0 step -1", "i"), ("i: n >= i > 0 step -1", "i + 1"), "i", True),
        (("i: n >= i > 0 step -1", "i"), ("i: n >= i > 0 step -1", "i - 1"), "i", False),
        (("i: 0 <= i < n, j: 0 <= j < i", "i", "j"), ("i: 0 <= i < n, j: 0 <= j < i", "j", "i"), "i", False),
        (("i: 0 <= i < n, j: 0 <= j < n", "i", "j"), ("i: 0 <= i < n, j: 0 <= j < n", "j", "i"), "i", True),
        (("i: 0 <= i < n, j: 0 <= j < n", "i", "j"), ("i: 0 <= i < n, j: 0 <= j < n", "i - 1", "j + 1"), "i", True),
        (("i: 0 <= i < n, j: 0 <= j < n", "i", "j"), ("i: 0 <= i < n, j: 0 <= j < n", "i - 1", "j + 1"), "j", False),
        (("i: 0 <= i < n, j: 0 <= j < m", "m * i + j"), ("i: 0 <= i < n, j: 0 <= j < m", "m * i + j"), "i", True),
    ],
)
def test_dependences(first, second, carried, answer):
    assert depends(access(*first), access(*second), carried) is answer


def test_dependences_under_conditions_and_context():
    write, read = access(LOOP, "i", where=("i % 2 == 0",)), access(LOOP, "i - 1", where=("i % 2 == 0",))
    assert not depends(write, read, "i")
    write, read = access("i: 0 <= i < n", "i"), access("i: 0 <= i < n", "i - m")
    assert depends(write, read, "i")
    assert not depends(write, read, "i", (expr("m >= n"),))
    assert not depends(write, read, "i", (expr("m <= 0"),))


def test_the_loop_must_be_around_both():
    with pytest.raises(ValueError, match="k is no loop"):
        depends(access(LOOP, "i"), access(LOOP, "i"), "k")


def test_large_questions_get_the_careful_answer():
    many = ", ".join(f"d{k}: 0 <= d{k} < 2" for k in range(domain.MAX_DIMS + 1))
    assert depends(access(many, "d0"), access(many, "d0 + 5"), "d0")
    assert not is_empty(dims(many))
    assert not injective(access(many, "d0"))


def test_overlap_and_injectivity():
    assert not overlaps(access("i: 0 <= i < n", "2 * i"), access("j: 0 <= j < n", "2 * j + 1"))
    assert overlaps(access("i: 0 <= i < n", "i"), access("j: 0 <= j < n", "n - 1 - j"))
    assert not overlaps(access("i: 0 <= i < n", "i"), access("j: n <= j < m", "j"))
    assert injective(access("i: 0 <= i < n, j: 0 <= j < m", "j", "i"))
    assert injective(access("i: 0 <= i < n, j: 0 <= j < 4", "4 * i + j"))
    assert not injective(access("i: 0 <= i < n, j: 0 <= j < 5", "4 * i + j"))
    assert not injective(access("i: 0 <= i < n", "idx[i]"))
    assert not injective(access("i: 0 <= i < n, j: 0 <= j < m", "i"))


@pytest.mark.parametrize(
    ("over", "condition", "context", "answer"),
    [
        ("i: 0 <= i < n", "i < c0", (), "n <= 0 or 1 <= n and n <= c0"),
        ("i: 0 <= i < n", "i < c0", ("n >= 1",), "n <= c0"),
        ("i: 0 <= i < n", "i >= 0", (), "True"),
        ("i: 0 <= i < n", "i < 0", ("n >= 1",), "False"),
        ("i: 0 <= i < n", "idx[i] < 3_i64", (), None),
        ("i: 0 <= i < z", "i < 3", (), "False"),  # the unknown bound may be anything: careful
        ("", "n < c0", (), "n + 1 <= c0"),
    ],
)
def test_preconditions(over, condition, context, answer):
    found = precondition(dims(over), expr(condition), tuple(map(expr, context)))
    assert (None if found is None else show_expr(found)) == answer


def test_the_checks_of_the_triangular_product_leave_the_loops():
    over = dims("i: 0 <= i < m - 1, j: i + 1 <= j < m")
    inside = parse(
        f"{HEADER}  check i < c0 and j < c1 else ValueError   for i: 0 <= i < m - 1, j: i + 1 <= j < m\n  return #0"
    ).body[0]
    found = precondition(over, inside.condition, (expr("m >= 2"),))
    assert {show_expr(part) for part in found.args} == {"m <= c0 + 1", "m <= c1"}


def test_first_and_last_points():
    over, context = dims("i: 0 <= i < m - 1, j: i + 1 <= j < m"), (expr("m >= 2"),)
    assert [show_expr(e) for e in lexmin(over, context)] == ["0", "1"]
    assert [show_expr(e) for e in lexmax(over, context)] == ["m - 2", "m - 1"]
    assert lexmin(over) is None  # it may be empty
    assert lexmin(dims("i: 0 <= i < z")) is None
    assert lexmin(dims("i: maximum(n, m) <= i < maximum(n, m) + 1")) is None  # needs a case distinction


# --- against a count of every point ---


def value(e, env):
    if isinstance(e, Var):
        return env[e.name]
    if isinstance(e, Op):
        return apply(e.op, [value(arg, env) for arg in e.args], INT)
    return e.value


def points(over, env):
    if not over:
        yield dict(env)
        return
    dim = over[0]
    for v in range(value(dim.lo, env), value(dim.hi, env), dim.step):
        yield from points(over[1:], {**env, dim.var: v})


def linear(names):
    return st.builds(
        lambda c, k: expression(Affine.make(dict(zip(names, c)), k)),
        st.tuples(*[st.integers(-2, 2) for _ in names]),
        st.integers(-3, 3),
    )


DOMAINS = st.builds(
    lambda outer, step, lo, hi: (Dim("i", integer(0), integer(outer)), Dim("j", lo, hi, step)),
    st.integers(1, 5),
    st.sampled_from([1, 2, -1, -3]),
    linear(("i",)),
    linear(("i",)),
)


@settings(max_examples=80, deadline=None)
@given(DOMAINS, linear(("i", "j")), linear(("i", "j")), st.sampled_from([None, "i", "j"]))
def test_dependences_are_exact(over, write, read, carried):
    def earlier(x, y):
        if carried is None:
            return x == y
        if carried == "i":
            return x["i"] < y["i"]
        return x["i"] == y["i"] and (x["j"] < y["j"]) == (over[1].step > 0) and x["j"] != y["j"]

    pairs = itertools.product(points(over, {}), repeat=2)
    expected = any(earlier(x, y) and value(write, x) == value(read, y) for x, y in pairs)
    assert depends(Access(over, (write,)), Access(over, (read,)), carried) is expected
    seen = [value(write, x) for x in points(over, {})]
    assert injective(Access(over, (write,))) is (len(set(seen)) == len(seen))
    assert is_empty(over) is (not seen)


@settings(max_examples=60, deadline=None)
@given(linear(("n",)), linear(("n",)), linear(("i", "n")), st.integers(-4, 5))
def test_preconditions_are_exact(lo, hi, bound, n):
    over = (Dim("i", lo, hi),)
    condition = Op("le", (Var("i"), bound), PYBOOL)
    found = precondition(over, condition)
    expected = all(value(Var("i"), p) <= value(bound, p) for p in points(over, {"n": n}))
    assert found is None or truth(found, {"n": n}) is expected


def truth(e, env):
    if isinstance(e, Op) and e.op in ("and", "or"):
        results = [truth(arg, env) for arg in e.args]
        return all(results) if e.op == "and" else any(results)
    if isinstance(e, Op):
        left, right = (value(arg, env) for arg in e.args)
        return left <= right if e.op == "le" else left == right
    return bool(e.value)


def test_a_mistake_in_a_question_is_no_careful_answer(monkeypatch):
    isl, _ = domain._isl()
    monkeypatch.setattr(domain, "_context", lambda names, context: ["x0 <"])
    with pytest.raises(isl.Error):
        is_empty((Dim("i", integer(0), integer(41)),), (), (Op("ge", (Var("n"), integer(17)), PYBOOL),))


def test_the_end_of_the_budget_is_a_careful_answer_wherever_it_comes():
    isl, context = domain._isl()
    text = "[s0] -> { [x0, x1] : 0 <= x0 < s0 and x0 mod 3 = 1 and x1 mod 7 = 2 and (x1 != x0 or x0 mod 5 = 1) }"
    try:
        for budget in (1, 2, 5, 20):
            context.set_max_operations(budget)
            context.reset_operations()
            with pytest.raises(isl.Error) as problem:
                isl.Set.read_from_str(context, text)
            assert domain._out_of_budget(problem.value)
    finally:
        context.set_max_operations(domain.MAX_OPERATIONS)
        context.reset_operations()
