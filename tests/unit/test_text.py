"""The text form: what it looks like, and that it reads back as the same program, whatever the expressions and names."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.errors import Span
from weft.ir.expr import Cast, CompressedDim, Const, Dim, Op, Read, Reduce, Var, integer
from weft.ir.interp import run
from weft.ir.ops import OPERATIONS, REDUCTIONS
from weft.ir.program import (
    Accumulator,
    Alloc,
    Argument,
    ArrayOut,
    Break,
    Buffer,
    Call,
    Check,
    ConstOut,
    Continue,
    If,
    Layout,
    Library,
    Loop,
    LoopKind,
    NoneOut,
    Operand,
    Program,
    Rebind,
    Return,
    Role,
    ScalarOut,
    SizeOf,
    Stmt,
    Symbol,
    TupleOut,
    ViewOut,
    While,
)
from weft.ir.text import parse, show, show_expr, show_node
from weft.ir.text_parse import ParseError
from weft.ir.types import BOOL, COMPLEX, F32, F64, FLOAT, I64, INT, PYBOOL, DType, ScalarType

I, N = Var("i"), Var("n")
BUFFERS = (
    Buffer("a", F64, (N,), Role.PARAM),
    Buffer("sum", F64, (N, N), Role.PARAM, Layout.STRIDED),
    Buffer("alloc", I64, (N,), Role.PARAM, Layout.F),
    Buffer("max", FLOAT, ()),
    Buffer("ok", PYBOOL, ()),
    Buffer("t", F32, (Op("add", (N, Read("m", (), INT)), INT),)),
    Buffer("m", INT, ()),
    Buffer("r", F64, (N,), Role.RESULT),
)


def whole(*body, results=(NoneOut(),), guards=(), disjoint=()):
    symbols = (Symbol("n", SizeOf("a", 0)), Symbol("min", Argument("min")))
    params = ("a", "sum", "alloc", "min")
    return Program("f", params, symbols, BUFFERS, guards, (*body, Return(0)), results, disjoint)


def same(program):
    text = show(program)
    assert parse(text) == program, text
    assert show(parse(text)) == text
    return text


def value_program(value):
    return whole(Stmt((), "ok", (), value))


def read(name, *index, of=F64):
    return Read(name, index, of)


X, Y = read("max", of=FLOAT), read("a", I)
TRICKY = [
    Const(-1, INT),
    Const(1, F64),
    Const(1.0, INT),
    Const(-0.0, FLOAT),
    Const(math.inf, FLOAT),
    Const(-math.inf, F32),
    Const(math.nan, F64),
    Const(1e-300, FLOAT),
    Const(1e22, F64),
    Const(True, BOOL),
    Const(False, PYBOOL),
    Const(True, F64),
    Const(complex(1.5, -0.0), COMPLEX),
    Const(complex(-math.inf, math.nan), ScalarType(DType.C64)),
    Const(2**63 - 1, ScalarType(DType.U64)),
    Op("neg", (integer(1),), INT),
    Op("neg", (integer(-1),), INT),
    Op("neg", (Op("pow", (integer(1), integer(2)), INT),), INT),
    Op("pow", (Op("neg", (X,), FLOAT), X), FLOAT),
    Op("pow", (X, Op("pow", (X, X), FLOAT)), FLOAT),
    Op("pow", (Op("pow", (X, X), FLOAT), X), FLOAT),
    Op("sub", (X, Op("sub", (X, X), FLOAT)), FLOAT),
    Op("sub", (X, Const(-2.0, FLOAT)), FLOAT),
    Op("mul", (Const(-2.0, FLOAT), X), FLOAT),
    Op("lt", (Op("lt", (X, X), PYBOOL), Op("not", (Op("eq", (X, X), PYBOOL),), PYBOOL)), PYBOOL),
    Op("not", (Op("and", (Const(True, PYBOOL), Const(False, PYBOOL)), PYBOOL),), PYBOOL),
    Op("add", (X, Y), F64),
    Op("add", (X, Y), FLOAT),  # weak although one operand is strong: must be said
    Op("complex", (X, X), COMPLEX),
    Cast(X, COMPLEX),
    Cast(Const(3.0, FLOAT), F64),
    Op("select", (Const(True, BOOL), X, X), FLOAT),
    Read("a", (I,), FLOAT),  # read under another type than the buffer's
    Reduce("add", (), X),
    Op("add", (Reduce("maximum", (Dim("k", integer(0), N),), read("a", Var("k"))), Y), F64),
    Reduce("mul", (Dim("k", N, integer(-1), -2), Dim("l", Var("k"), N, 3)), Op("mul", (Y, Reduce("add", (), Y)), F64)),
    Reduce(
        "argmin", (CompressedDim("j", "p", "alloc", "alloc", Op("add", (I, integer(1)), INT)),), read("a", Var("p"))
    ),
    Op("add", (read("sum", I, I), read("sum", I, Op("shl", (I, integer(2)), INT))), F64),
]


@pytest.mark.parametrize("value", TRICKY, ids=lambda v: show_expr(v))
def test_tricky_expressions_read_back(value):
    same(value_program(value))


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_every_operation_reads_back(name):
    same(value_program(Op(name, (Y,) * OPERATIONS[name].arity, OPERATIONS[name].result_type(F64))))


@pytest.mark.parametrize("op", sorted(REDUCTIONS))
def test_every_reduction_reads_back(op):
    dims = (Dim("k", integer(0), N),)
    same(whole(Stmt(dims, "a", (Var("k"),), Y, reduce=op), Stmt((), "max", (), Reduce(op, dims, Y), reduce=op)))


def test_every_node_reads_back():
    cond = Read("ok", (), PYBOOL)
    stmt = Stmt(
        (Dim("x", integer(0), N),), "a", (Var("x"),), Reduce("add", (Dim("k", integer(0), N),), read("a", Var("k")))
    )
    program = whole(
        Alloc("t"),
        Alloc("r", zero=True),
        Check((Dim("y", integer(0), N),), cond, "IndexError", 'a "quoted" # text\n{0}', (Var("y"), N)),
        Check((), cond, "AssertionError"),
        Loop(Dim("b", integer(0), N), (Break(),), LoopKind.PARALLEL, work=Op("mul", (N, N), INT)),
        Loop(Dim("c", N, integer(0), -1), (Continue(),)),
        Loop(Dim("d", N, integer(0)), (), LoopKind.VECTOR, (Accumulator("max", "maximum"), Accumulator("m", "add"))),
        Loop(CompressedDim("j", "p", "alloc", "alloc", I), (Stmt((), "ok", (), cond),)),
        While((Alloc("t"),), cond, (Break(),)),
        While((), cond, ()),
        If(cond, (), (If(cond, (Break(),), (Continue(),)),)),
        If(cond, (Return(0),)),
        Rebind(("a", "r"), ("r", "a")),
        Call("gemm", stmt, (read("a", Var("k")),), Const(2.0, F64), Op("neg", (Const(1.0, F64),), F64)),
        Call("dot", stmt, ()),
        Library(
            "solve1",
            (Dim("e", integer(0), N),),
            (
                Operand("sum", (Dim("f1", integer(0), N), Dim("f2", integer(0), N)), (Var("f1"), Var("f2"))),
                Operand("a", (Dim("f3", integer(0), N),), (Op("add", (Var("e"), Var("f3")), INT),)),
            ),
            (Operand("r", (Dim("f4", integer(0), N),), (Var("f4"),)),),
            "ok",
        ),
        Library("det", (), (Operand("sum", (), (N, N)),), (Operand("max", (), ()),)),
        results=(
            TupleOut((ScalarOut("max"), ArrayOut("a"), ArrayOut("r", as_list=True), TupleOut((), as_list=True))),
            TupleOut(
                (ViewOut("a", (Dim("v", integer(0), N), Dim("w", integer(0), N)), (Var("v"),)), ConstOut("(1, 'a')"))
            ),
            TupleOut((ScalarOut("max"),), named="collections:Counter"),
            NoneOut(),
        ),
        guards=(Check((), cond, "ValueError", "no"),),
        disjoint=(("a", "sum"), ("a", "alloc")),
    )
    text = same(program)
    assert "for c in n .. 0 step -1:" in text
    assert "vector d in n .. 0 reducing max by maximum, m by add:" in text


def test_names_of_programs_need_not_be_identifiers():
    same(replace(whole(), name="<lambda>"))


def test_looks():
    text = """\
program smooth(a, w):
  size a_0 = a.shape[0]
  param a: f64[a_0] C
  param w: float
  result t: f64[a_0]
  local s: f64
  output #0 = tuple(array t, scalar s)
  guard a_0 >= 2 else ValueError "too short: {0}" {a_0}

  alloc t zero
  t[i] = f64(w) * (a[i - 1] + a[i + 1]) / 2.0_f64   for i: 1 <= i < a_0 - 1
  s = sum[k: 0 <= k < a_0] a[k] * t[k]
  return #0
"""
    assert show(parse(text)) == text


def test_source_lines_are_comments():
    span = Span("file.py", 12, 0, 12, 5)
    program = whole(Stmt((), "m", (), integer(1), span=span))
    text = show(program, lines=True)
    assert "  m = 1   # line 12\n" in text
    assert parse(text) == program
    assert show_node(program.body[0], lines=True) == "m = 1   # line 12"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("m = 1 +", "line 6"),
        ("m = sqrt(1, 2)", "no such sqrt"),
        ("m = (1", "')'"),
        ("frobnicate", "a statement expected"),
        ("m = 1 2", "end of the line"),
        ("m = 1 ? 2", "no token"),
        ("m = j(1.0, 2.0)", "type of a complex"),
        ("for i: 0 <= i < 3", "'in'"),
    ],
)
def test_errors_name_the_line(line, reason):
    with pytest.raises(ParseError, match="line 6") as caught:
        parse(f"program f():\n  local m: int\n  output #0 = None\n\n  alloc m\n  {line}\n  return #0\n")
    assert reason in str(caught.value)


# --- any expression ---

_TYPES = st.sampled_from([INT, FLOAT, PYBOOL, COMPLEX, BOOL, F64, F32, I64, ScalarType(DType.U8)])
_CONSTANTS = st.builds(
    Const,
    st.one_of(st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.complex_numbers()),
    _TYPES,
)
_LEAVES = st.one_of(
    _CONSTANTS,
    st.sampled_from([I, N, Var("min"), Var("j"), Read("max", (), FLOAT), Read("m", (), INT), Read("ok", (), PYBOOL)]),
)


def _extend(inner):
    one = st.tuples(inner)
    operations = st.sampled_from(sorted(OPERATIONS)).flatmap(
        lambda op: st.builds(Op, st.just(op), st.tuples(*[inner] * OPERATIONS[op].arity), _TYPES)
    )
    dense = st.builds(Dim, st.sampled_from(["k", "l", "min"]), inner, inner, st.sampled_from([1, 2, -1, -3]))
    compressed = st.builds(CompressedDim, st.just("j"), st.just("p"), st.just("alloc"), st.just("alloc"), inner)
    dims = st.lists(st.one_of(dense, compressed), max_size=2).map(tuple)
    return st.one_of(
        operations,
        st.builds(Cast, inner, _TYPES),
        st.builds(Read, st.sampled_from(["a", "alloc"]), one, _TYPES),
        st.builds(Read, st.just("sum"), st.tuples(inner, inner), _TYPES),
        st.builds(Reduce, st.sampled_from(sorted(REDUCTIONS)), dims, inner),
    )


@settings(max_examples=200, deadline=None)
@given(st.recursive(_LEAVES, _extend, max_leaves=12))
def test_any_expression_reads_back(value):
    same(value_program(value))


def test_sddmm_prints_parses_and_runs():
    sparse = pytest.importorskip("scipy.sparse")
    k, p, i, j = Var("k"), Var("p"), Var("i"), Var("j")
    product = Op("mul", (read("A", i, k), read("B", k, j)), F64)
    value = Op("mul", (read("s", p), Reduce("add", (Dim("k", integer(0), Var("inner")),), product)), F64)
    domain = (Dim("i", integer(0), Var("rows")), CompressedDim("j", "p", "indptr", "indices", i))
    i32 = ScalarType(DType.I32)
    program = Program(
        "sddmm",
        ("indptr", "indices", "s", "A", "B"),
        (
            Symbol("rows", SizeOf("A", 0)),
            Symbol("inner", SizeOf("A", 1)),
            Symbol("columns", SizeOf("B", 1)),
            Symbol("nnz", SizeOf("s", 0)),
        ),
        (
            Buffer("indptr", i32, (Op("add", (Var("rows"), integer(1)), INT),), Role.PARAM),
            Buffer("indices", i32, (Var("nnz"),), Role.PARAM),
            Buffer("s", F64, (Var("nnz"),), Role.PARAM),
            Buffer("A", F64, (Var("rows"), Var("inner")), Role.PARAM),
            Buffer("B", F64, (Var("inner"), Var("columns")), Role.PARAM),
            Buffer("out", F64, (Var("nnz"),), Role.RESULT),
        ),
        (),
        (Alloc("out"), Stmt(domain, "out", (p,), value), Return(0)),
        (ArrayOut("out"),),
    )
    line = "out[p] = s[p] * (sum[k: 0 <= k < inner] A[i, k] * B[k, j])   for i: 0 <= i < rows, "
    assert line + "j(p): csr(indptr, indices)[i]" in same(program)
    rng = np.random.default_rng(5)
    pattern = sparse.random(5, 7, density=0.3, format="csr", random_state=5)
    a, b = rng.random((5, 4)), rng.random((4, 7))
    out = run(
        parse(show(program)), {"indptr": pattern.indptr, "indices": pattern.indices, "s": pattern.data, "A": a, "B": b}
    )
    rebuilt = sparse.csr_array((out, pattern.indices, pattern.indptr), shape=(5, 7)).toarray()
    np.testing.assert_allclose(rebuilt, pattern.toarray() * (a @ b))
