"""The verifier: legal programs of each stage pass, and every broken rule is named with its node."""

from __future__ import annotations

from dataclasses import replace

import pytest

from weft.ir.ops import OPERATIONS
from weft.ir.scalar import apply
from weft.ir.text import parse
from weft.ir.types import BOOL, F64, FLOAT, I64, INT, DType, ScalarType
from weft.ir.verify import Stage, VerifyError, operand_problem, problem, verify

HEADER = """
program f(a, b, idx, x, n):
  size a_0 = a.shape[0]
  size b_0 = b.shape[0]
  size b_1 = b.shape[1]
  size idx_0 = idx.shape[0]
  symbol n = argument n
  param a: f64[a_0] C
  param b: f64[b_0, b_1] strided
  param idx: i64[idx_0] C
  param x: float
  local t: f64[a_0]
  local u: f64[a_0]
  local s: f64
  local w: f32
  local flag: bool
  local z: int
  result r: f64[n]
  output #0 = None
  output #1 = array r
  output #2 = scalar s

"""


def built(body):
    return parse(HEADER + "\n".join("  " + line for line in body.split("\n")) + "\n  return #0\n")


LEGAL = [
    "s = 1.0_f64",
    "a[i] = b[i, idx[i]]   for i: 0 <= i < a_0",
    "alloc t\nt[i] = sum[k: i <= k < b_1 step 2] b[i, k]   for i: 0 <= i < b_0",
    "if flag:\n  alloc t\nelse:\n  alloc t\n  z = 3\nt[0] = 1.0_f64",
    "if flag:\n  alloc r\nelse:\n  return #0\nr[0] = 1.0_f64\nreturn #1",
    "while z < 3:\n  z = z + 1\n  if flag:\n    break\n  continue",
    "prelude:\n  alloc t\n  t[0] = 0.0_f64\nwhile t[0] < a[0]:\n  t[0] = a[0]",
    "for i in 0 .. n:\n  alloc t\n  t[i] = f64(x)",
    "a[j] = 0.0_f64   for i: 0 <= i < 1, j(p): csr(idx, idx)[i]",
    "alloc t\nalloc u\nrebind t, u = u, t",
    "alloc t\nrebind t, a = a, t\nrebind t, a = a, t",
    'check all[k: 0 <= k < n] a[k] > 0.0_f64 else ValueError "{0}" {z}   for q: 0 <= q < n',
    "a[i] += 1.0_f64   for i: 0 <= i < a_0",
    "library inv {b[i, j] for i: 0 <= i < 2, j: 0 <= j < 2} gives {b[k, l] for k: 0 <= k < 2, l: 0 <= l < 2}",
    "library det {b[2 * q, j] for i: 0 <= i < 2, j: 0 <= j < 2} gives {a[q]}   for q: 0 <= q < n",
    "flag = select(flag, flag, flag)",
]
ILLEGAL = [
    ("s = 1.0", None),  # weakness may differ
    ("s = 1", "s is f64, the value int"),
    ("w = 1.0_f64", "w is f32"),
    ("s = q", "not in scope"),
    ("q = 1", "no buffer q"),
    ("n = 1", "a symbol"),
    ("s = a", "rank 1, 0 indices"),
    ("s = b[0]", "rank 2, 1 indices"),
    ("s = a[0.0]", "an index of a is float"),
    ("s = t[0]", "Alloc"),
    ("if flag:\n  alloc t\ns = t[0]", "Alloc"),
    ("for i in 0 .. n:\n  alloc t\ns = t[0]", "Alloc"),
    ("alloc a", "is an argument"),
    ("s = a[0] + 1", "operands of add differ"),
    ("z = z / z", "truediv is not defined"),
    ("flag = a[0] and flag", "operands of and differ"),
    ("flag = z and z", "not defined"),
    ("s = -flag", "neg is not defined"),
    ("s = select(z, s, s)", "not a bool"),
    ("w = (f32(s) + f32(s) as f64)", "gives f32"),
    ("if z:\n  pass", "a condition is int"),
    ("check z else ValueError", "a condition is int"),
    ("check flag else Oops", "no exception known"),
    ('check flag else ValueError "{0}" {s}', "a value of the message is f64"),
    ("a[i] = 0.0_f64   for i: 0 <= i < s", "upper bound of i is f64"),
    ("a[i] = 0.0_f64   for i: 0 <= i < i", "not in scope"),
    ("a[i] = 0.0_f64   for i: 0 <= i < n\na[i] = 0.0_f64   for i: 0 <= i < n", "i is used twice"),
    ("a[n] = 0.0_f64   for n: 0 <= n < 3", "n is used twice"),
    ("a[i] = 0.0_f64   for i: 0 <= i < n step 0", "step of i is 0"),
    ("a[j] = 0.0_f64   for j(p): csr(a, idx)[0]", "a is no integer array"),
    ("a[i] argmin= 1.0_f64   for i: 0 <= i < n", "cannot reduce into"),
    ("a[i] &= 1.0_f64   for i: 0 <= i < n", "bitand is not defined"),
    ("break", "no loop is around"),
    ("continue", "no loop is around"),
    ("return #3", "no result #3"),
    ("return #1", "may not be allocated"),
    ("alloc t\nrebind t, b = b, t", "differ in type, shape, role or layout"),
    ("rebind t, u = u, t", "no buffer in scope"),
    ("alloc t\nalloc u\nrebind t, u = t, t", "permutes"),
    ("library det {q[i, j] for i: 0 <= i < 2, j: 0 <= j < 2} gives {s}", "no buffer q"),
    ("library det {b[i, j] for i: 0 <= i < 2, j: 0 <= j < 2} gives {w}", "no loop d->f"),
    ("library det {a[i] for i: 0 <= i < 2} gives {s}", "not the core dimensions"),
    ("library det {b[i, j] for i: 0 <= i < 2, j: 0 <= j < 2} gives {s} {s}", "has the signature"),
    ("library det {b[i, idx[j]] for i: 0 <= i < 2, j: 0 <= j < 2} gives {s}", "no strided operand"),
    ("library det {b[i, j] for i: 0 <= i < 2, j: 0 <= j < 2} gives {s} status z", "no bool"),
    ("library det {t[j] for i: 0 <= i < 2, j: 0 <= j < 2} gives {s}", "Alloc"),
    ("parallel i in 0 .. n:\n  pass", "no place here yet"),
    ("call dot(a[k]): s = sum[k: 0 <= k < n] a[k]", "no place here yet"),
    ("for i in 0 .. n reducing s by add:\n  pass", "not VECTOR"),
]


@pytest.mark.parametrize("body", LEGAL)
def test_legal(body):
    verify(built(body))


@pytest.mark.parametrize(("body", "reason"), ILLEGAL, ids=[body for body, _ in ILLEGAL])
def test_illegal(body, reason):
    why = problem(built(body))
    assert why is None if reason is None else (why is not None and reason in why)


def test_the_error_names_program_stage_node_and_line():
    with pytest.raises(VerifyError) as caught:
        verify(built("s = 1.0\nz = 2.0"))
    assert str(caught.value) == "f, built: z is int, the value float\n  in: z = 2.0"


LOWERED_LEGAL = [
    "for i in 0 .. n:\n  a[i] = 0.0_f64",
    "parallel i in 0 .. n work n * 3:\n  s = 0.0_f64\n  vector k in 0 .. n reducing s by add:\n    s = s + a[k]",
    "call gemv(b[i, k], a[k]): a[i] = sum[k: 0 <= k < b_1] b[i, k] * a[k]   for i: 0 <= i < b_0",
    "parallel i in 0 .. n:\n  for k in 0 .. n:\n    if flag:\n      break",
]
LOWERED_ILLEGAL = [
    ("a[i] = 0.0_f64   for i: 0 <= i < n", "a domain is left"),
    ("check flag else ValueError   for i: 0 <= i < n", "a domain is left"),
    ("s = sum[k: 0 <= k < n] a[k]", "a Reduce is left"),
    ("s += a[0]", "reducing statement is left"),
    ("parallel i in 0 .. n:\n  parallel k in 0 .. n:\n    pass", "inside a PARALLEL"),
    ("parallel i in 0 .. n:\n  for k in 0 .. n:\n    parallel l in 0 .. n:\n      pass", "inside a PARALLEL"),
    ("parallel i in 0 .. n reducing s by add:\n  s = s + a[i]", "not VECTOR"),
    ("vector i in 0 .. n reducing a by add:\n  pass", "no accumulator"),
    ("vector i in 0 .. n reducing s by argmin:\n  pass", "argmin has no accumulator"),
    ("parallel i in 0 .. n:\n  break", "cannot be left"),
    ("parallel i in 0 .. n:\n  return #0", "inside a PARALLEL"),
    ("parallel i in 0 .. n:\n  alloc r", "RESULT allocated inside"),
    ("parallel j(p) in csr(idx, idx)[0]:\n  pass", "compressed"),
]


@pytest.mark.parametrize("body", LOWERED_LEGAL)
def test_legal_when_lowered(body):
    verify(built(body), Stage.LOWERED)


@pytest.mark.parametrize(("body", "reason"), LOWERED_ILLEGAL, ids=[body for body, _ in LOWERED_ILLEGAL])
def test_illegal_when_lowered(body, reason):
    assert reason in (problem(built(body), Stage.LOWERED) or "")


def test_stages_differ_in_calls_and_kinds():
    call = built("call dot(a[k]): s = sum[k: 0 <= k < n] a[k]")
    assert problem(call, Stage.BUILT) is not None
    verify(call, Stage.OPTIMISED)
    verify(built("vector i in 0 .. n:\n  a[i] = 0.0_f64"), Stage.OPTIMISED)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("program f():\n  output #0 = None\n\n  pass", "without a Return"),
        ("program f():\n  local c: bool\n  output #0 = None\n\n  if c:\n    return #0", "without a Return"),
        ("program f():\n  local c: bool\n  output #0 = None\n\n  while c:\n    return #0", "without a Return"),
        ("program f():\n  output #0 = None\n\n  while True:\n    return #0", None),
        ("program f():\n  output #0 = None\n\n  while True:\n    break", "without a Return"),
        ("program f():\n  output #0 = None\n\n  check False else ValueError", None),
        ("program f():\n  output #0 = scalar q\n\n  return #0", "which is no buffer"),
        ("program f():\n  local t: f64[3]\n  output #0 = array t\n\n  alloc t\n  return #0", "cannot be handed out"),
        ("program f():\n  local t: f64[3]\n  output #0 = scalar t\n\n  alloc t\n  return #0", "has rank 1"),
        ("program f(q):\n  output #0 = None\n\n  return #0", "no symbol and no buffer"),
        ("program f():\n  param a: f64[3] C\n  output #0 = None\n\n  return #0", "is no parameter"),
        ("program f():\n  size n = q.shape[0]\n  output #0 = None\n\n  return #0", "no axis of a parameter"),
        ("program f(a):\n  param a: f64[m] C\n  output #0 = None\n\n  return #0", "m is not in scope"),
        (
            "program f(a):\n  param a: f64[3] C\n  disjoint a, b\n  output #0 = None\n\n  return #0",
            "not both parameters",
        ),
    ],
)
def test_headers_and_paths(text, reason):
    why = problem(parse(text))
    assert why is None if reason is None else reason in (why or "")


def test_a_name_declared_twice():
    program = parse("program f():\n  local s: f64\n  local t: f64\n  output #0 = None\n\n  return #0")
    double = replace(program, buffers=(program.buffers[0], program.buffers[0]))
    assert "s is used twice" in (problem(double) or "")
    strange = replace(program, buffers=(replace(program.buffers[0], name="a b"),))
    assert "not usable as a name" in (problem(strange) or "")


@pytest.mark.parametrize(
    ("op", "types", "of", "legal"),
    [
        ("add", (F64, FLOAT), F64, True),
        ("add", (F64, INT), F64, False),
        ("add", (F64,), F64, False),
        ("abs", (ScalarType(DType.C64),), ScalarType(DType.F32), True),
        ("abs", (ScalarType(DType.C64),), ScalarType(DType.C64), False),
        ("lt", (INT, I64), BOOL, True),
        ("lt", (INT, I64), INT, False),
        ("shl", (ScalarType(DType.I8), I64), ScalarType(DType.I8), True),
        ("shl", (F64, I64), F64, False),
        ("complex", (F64, F64), ScalarType(DType.C128), True),
        ("sqrt", (INT,), INT, False),
        ("nosuch", (INT,), INT, False),
        ("neg", (ScalarType(DType.F32),), ScalarType(DType.F32, weak=True), False),
    ],
)
def test_operands(op, types, of, legal):
    assert (operand_problem(op, types, of) is None) == legal


@pytest.mark.parametrize("name", sorted(set(OPERATIONS) - {"select"}))
def test_what_the_verifier_admits_the_interpreter_can_compute(name):
    operation = OPERATIONS[name]
    admitted = 0
    for dtype in DType:
        of = ScalarType(dtype)
        if operand_problem(name, (of,) * operation.arity, operation.result_type(of)) is None:
            apply(name, [dtype.numpy.type(1)] * operation.arity, operation.result_type(of))
            admitted += 1
    assert admitted
