"""Every operation of the C back end on every dtype against NumPy, on values where implementations differ."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from tests.unit.codegen import compiled, native
from weft.codegen.c_ops import CHECKED, MEANING, CFeatures, prototype
from weft.ir.expr import Cast, Const, Dim, Op, Read, Var
from weft.ir.interp import IntegerOverflow
from weft.ir.ops import OPERATIONS
from weft.ir.program import Buffer, Layout, Loop, LoopKind, NoneOut, Program, Return, Role, SizeOf, Stmt, Symbol
from weft.ir.scalar import apply
from weft.ir.types import INT, DType, ScalarType
from weft.ir.verify import operand_problem
from weft.options import Options

pytestmark = native

NUMBERS = [d for d in DType if d is not DType.BOOL]
# The vector library promises 4 units in the last place; complex functions lose some more in the smaller part.
ELEMENTARY = {op for (op, kind), meaning in MEANING.items() if type(meaning).__name__ == "Library" and op != "fmod"}
LOOSE = ELEMENTARY | {"gamma", "lgamma", "exp2", "log2", "log10", "log1p", "expm1"}


def specials(dtype: DType) -> np.ndarray:
    numpy = dtype.numpy
    if dtype is DType.BOOL:
        return np.array([False, True])
    if dtype.is_integer:
        info = np.iinfo(numpy)
        values = {0, 1, 2, 3, 5, 7, 8, 31, 32, 63, 64, 100, info.max, info.max - 1, info.min, info.min + 1}
        if dtype.kind == "i":
            values |= {-1, -2, -3, -7, -100}
        return np.array(sorted(v for v in values if info.min <= v <= info.max), numpy)
    real = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, -3.0, 0.1, 7.25, -7.25, 1e-3, 50.0, 1e30, -1e30]
    real += [np.inf, -np.inf, np.nan, float(np.finfo(dtype.real.numpy).tiny), float(np.finfo(dtype.real.numpy).max)]
    if dtype.is_float:
        return np.array(real, numpy)
    parts = [0.0, -0.0, 1.0, -2.0, 0.5, 3.0, np.inf, np.nan]
    return np.array([complex(a, b) for a in parts for b in parts], numpy)


def legal(op: str, dtype: DType) -> bool:
    of = OPERATIONS[op].result_type(ScalarType(dtype))
    arity = OPERATIONS[op].arity
    return op != "select" and operand_problem(op, (ScalarType(dtype),) * arity, of) is None


def expected(op: str, operands: list[np.ndarray]) -> np.ndarray | None:
    """NumPy's answer; None if it has no such operation or gives another dtype."""
    dtype = operands[0].dtype
    wanted = OPERATIONS[op].result_type(ScalarType(DType[_NAMES[dtype]])).dtype.numpy
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if op in ("erf", "erfc", "gamma", "lgamma", "complex"):
                values = [OPERATIONS[op].evaluate(*point) for point in zip(*operands)]
                return np.array(values, wanted)
            result = OPERATIONS[op].evaluate(*operands)
    except (TypeError, ValueError):
        return None
    return result if result.dtype == wanted else None


_NAMES = {d.numpy: d.name for d in DType}


def program(entries: list[tuple[str, DType, DType]], cast: bool = False) -> Program:
    """out_k[i] = op_k(x[i], y[i]) for each entry (op, operand dtype, result dtype), a vector loop each."""
    source = entries[0][1]
    n = Var("n")
    buffers = [Buffer(name, ScalarType(source), (n,), Role.PARAM, Layout.C) for name in ("x", "y")]
    body: list[Loop] = []
    for number, (op, dtype, result) in enumerate(entries):
        index = Var(f"i{number}")
        x, y = (Read(name, (index,), ScalarType(dtype)) for name in ("x", "y"))
        buffers.append(Buffer(f"r{number}", ScalarType(result), (n,), Role.PARAM, Layout.C))
        operands = (x, y)[: 1 if cast else OPERATIONS[op].arity]
        value = Cast(x, ScalarType(result)) if cast else Op(op, operands, ScalarType(result))
        stmt = Stmt((), f"r{number}", (index,), value)
        body.append(Loop(Dim(index.name, Const(0, INT), n), (stmt,), LoopKind.VECTOR))
    names = tuple(b.name for b in buffers)
    return Program("ops", names, (Symbol("n", SizeOf("x", 0)),), tuple(buffers), (), (*body, Return(0)), (NoneOut(),))


def distance(actual: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """The difference in units of the last place, 0 for two NaN or equal values; parts of complex numbers apart."""
    with np.errstate(all="ignore"):
        if actual.dtype.kind == "c":
            scale = np.spacing(np.maximum(np.abs(wanted.real), np.abs(wanted.imag)))
            parts = [(actual.real, wanted.real), (actual.imag, wanted.imag)]
            return np.maximum(*(_apart(a, w, scale) for a, w in parts))
        return _apart(actual, wanted, np.spacing(np.abs(wanted)))


def _apart(actual: np.ndarray, wanted: np.ndarray, unit: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        same = (actual == wanted) | (np.isnan(actual) & np.isnan(wanted))
        return np.where(same, 0, np.nan_to_num(np.abs(actual - wanted) / unit, nan=np.inf, posinf=np.inf))


def check(op: str, dtype: DType, actual: np.ndarray, wanted: np.ndarray, operands: list[np.ndarray]) -> str | None:
    """Where an operation differs from NumPy."""
    inexact = actual.dtype.kind in "fc"
    if not inexact:
        bad = actual != wanted
    else:
        limit = 0.0
        if op in LOOSE:
            limit = 128 if op in ("gamma", "lgamma") else 4  # Python's own gamma functions are that far from the truth
        if dtype.is_complex and op in LOOSE | {"mul", "truediv", "abs", "sqrt", "sign", "pow", "hypot"}:
            limit = 16  # NumPy itself multiplies with or without a fused operation, by the machine
        bad = distance(actual, wanted) > limit
        if actual.dtype.kind == "f" and op not in {"minimum", "maximum", "fmin", "fmax"}:
            bad |= np.isfinite(wanted) & (wanted == 0) & (np.signbit(actual) != np.signbit(wanted))
        if dtype.is_complex and op not in ("add", "sub", "neg", "conj", "real", "imag", "abs", "rint"):
            # Which part of a complex infinity or NaN is which differs between libraries.
            bad &= np.isfinite(wanted) & np.all([np.isfinite(o) for o in operands], axis=0)
    if not bad.any():
        return None
    where = np.flatnonzero(bad)[:4]
    shown = ", ".join(f"{[o[i] for o in operands]} -> {actual[i]} not {wanted[i]}" for i in where)
    return f"{op} on {dtype.value}: {shown}"


def table(dtype: DType, options: Options) -> list[str]:
    values = specials(dtype)
    x, y = (np.array(column) for column in zip(*itertools.product(values, values)))
    x, y = x.astype(dtype.numpy), y.astype(dtype.numpy)
    entries = []
    answers: list[tuple[list[np.ndarray], np.ndarray]] = []
    for op in OPERATIONS:
        if not legal(op, dtype):
            continue
        operands = [x, y][: OPERATIONS[op].arity]
        if op == "pow" and dtype.is_integer:
            operands = [x, np.abs(y)]
            operands[1][operands[1] < 0] = 0
        wanted = expected(op, operands)
        if wanted is None:
            continue
        assert (op, dtype.kind) in MEANING, f"C has no {op} for {dtype.value}"
        entries.append((op, dtype, DType[_NAMES[wanted.dtype]]))
        answers.append((operands, wanted))
    run = compiled(program(entries), options)
    plain = [np.zeros(len(x), wanted.dtype) for _, wanted in answers]
    powers = [np.zeros(len(x), wanted.dtype) for _, wanted in answers]
    run(x, y, *plain)
    run(x, next((o[1] for (op, *_), (o, _) in zip(entries, answers) if op == "pow"), y), *powers)
    problems = []
    for (op, *_), (operands, wanted), first, second in zip(entries, answers, plain, powers):
        problems.append(check(op, dtype, second if op == "pow" else first, wanted, operands))
    return [problem for problem in problems if problem]


@pytest.mark.parametrize("dtype", list(DType), ids=lambda d: d.value)
def test_every_operation_is_numpys(dtype):
    assert table(dtype, Options()) == []


@pytest.mark.parametrize("dtype", [DType.F32, DType.F64, DType.C128], ids=lambda d: d.value)
def test_strict_mode_uses_the_scalar_library(dtype):
    assert table(dtype, Options(fp="strict")) == []


@pytest.mark.parametrize("source", list(DType), ids=lambda d: d.value)
def test_casts_are_astype(source):
    x = specials(source)
    entries = [("", source, target) for target in DType if not (source.is_complex and target.kind in "iuf")]
    entries += [("", source, target) for target in DType if source.is_complex and target.kind == "f"]
    run = compiled(program(entries, cast=True))
    results = [np.zeros(len(x), target.numpy) for _, _, target in entries]
    run(x, x, *results)
    for (_, _, target), actual in zip(entries, results):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = np.array([v.astype(target.numpy) for v in x])
        np.testing.assert_array_equal(actual, wanted, err_msg=f"{source.value} to {target.value}")


def python_integer(op: str) -> Program:
    names = ("x", "y")[: OPERATIONS[op].arity]
    buffers = [Buffer(name, INT, (), Role.PARAM) for name in names] + [Buffer("r", INT, ())]
    value = Op(op, tuple(Read(name, (), INT) for name in names), INT)
    from weft.ir.program import ScalarOut

    body = (Stmt((), "r", (), value), Return(0))
    return Program(op, names, (), tuple(buffers), (), body, (ScalarOut("r"),))


@pytest.mark.parametrize("op", sorted(CHECKED))
def test_python_integers_never_wrap(op):
    """Beyond 64 bits the kernel asks Python to repeat the call; within, it is exact."""
    from tests.unit.codegen import Missed

    run = compiled(python_integer(op))
    values = [0, 1, -1, 2, 3, 7, -7, 62, 63, 64, 2**31, 2**32 + 5, -(2**33), 2**62, 2**63 - 1, -(2**63), -(2**63) + 1]
    seen = {True: 0, False: 0}
    for point in itertools.product(values, repeat=OPERATIONS[op].arity):
        if op in ("pow", "shl") and point[1] < 0:
            continue
        try:
            wanted = apply(op, point, INT)
        except IntegerOverflow:
            wanted = None
        try:
            actual = run(*point)
        except Missed as missed:
            assert missed.status == 1
            actual = None
        assert actual == wanted, (op, point)
        seen[wanted is None] += 1
    assert seen[True] and seen[False]


def test_prototypes_announce_vector_variants_of_what_has_them():
    vector, features = frozenset({"sin", "pow"}), CFeatures(libmvec=True)
    assert prototype("sin", features, vector).startswith("#pragma omp declare simd")
    assert prototype("powf", features, vector).endswith("extern f32 powf(f32, f32) __attribute__((const));")
    assert prototype("csin", features, vector) == "extern c128 csin(c128) __attribute__((const));"
    assert prototype("erff", features, vector).startswith("extern f32 erff(f32)")
    assert prototype("ccosf", features, vector) == "extern c64 ccosf(c64) __attribute__((const));"
    assert prototype("cosh", features, vector).startswith("extern f64 cosh(f64)")


def test_prototypes_of_functions_whose_widths_are_one_function():
    vector, features = frozenset({"sin"}), CFeatures(libmvec=True, widest="d")
    text = prototype("sin", features, vector)
    assert 'extern f64 sin(f64) __asm__("weft_sin")' in text and '__asm__("_ZGVbN2v_weft_sin")' in text
    alone = prototype("weft_scalar_sin", features, vector)
    assert alone == 'extern f64 weft_scalar_sin(f64) __asm__("sin") __attribute__((const));'
