"""Intrepydd's names over what weft has.  In: programs in Intrepydd's dialect, or Python that imports its names; out:
ordinary Python, which `weft.jit` compiles.

    from weft.pydd import *                      Array(double, 2), pfor(n), spm_mul(s, a), MinHeap(), ...
    module = weft.pydd.load("kernel.pydd")       pfor, async, finish and isolated as statements

The names of Table 2 are NumPy's own functions where it has them, so that everything known of these is known of them.
`translate` rewrites what is no Python: statements, methods of sparse matrices, `A.shape(0)`, `where(x and y)`.
"""

from __future__ import annotations

import ast
import heapq
import re
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from weft.frontend.hints import b1, f32, f64, i8, i16, i32, i64
from weft.parallel import finish as finish
from weft.parallel import isolated as isolated
from weft.parallel import prange, task

# --- types ----------------------------------------------------------------------------------------------------------

double = float64 = f64
float32 = f32
int8, int16, int32, int64 = i8, i16, i32, i64
boolean = b1


def Array(type_: Any, dimensions: int = 1) -> Any:
    """A dense array of so many dimensions: Array(double, 2) is weft.f64[:, :]."""
    return type_[(slice(None),) * dimensions]


def List(type_: Any) -> Any:
    return list[_python(type_)]  # type: ignore[misc]


def Dict(type_: Any, value: Any = None) -> Any:
    return dict[_python(type_), _python(type_ if value is None else value)]  # type: ignore[misc]


def SparseMat(type_: Any = double) -> str:
    """A sparse matrix in compressed rows; its type is told by the arguments of a call."""
    return f"SparseMat({type_!r})"


def Heap(type_: Any) -> str:
    return f"Heap({type_!r})"


def _python(type_: Any) -> Any:
    kinds = {"f": float, "i": int, "b": bool}
    return kinds[type_.dtype.kind] if hasattr(type_, "dtype") else type_


# --- parallel statements --------------------------------------------------------------------------------------------

pfor = prange
async_ = task

# --- Table 2: dense arrays ------------------------------------------------------------------------------------------

sum, prod, min, max = np.sum, np.prod, np.min, np.max
argmin, argmax, any, all, allclose = np.argmin, np.argmax, np.any, np.all, np.allclose
abs, minus, isnan, isinf, sqrt, exp = np.abs, np.negative, np.isnan, np.isinf, np.sqrt, np.exp
cos, sin, tan, acos, asin, atan = np.cos, np.sin, np.tan, np.arccos, np.arcsin, np.arctan
add, sub, mul, maximum, pow, div = np.add, np.subtract, np.multiply, np.maximum, np.power, np.true_divide
eq, neq, lt, gt, le, ge = np.equal, np.not_equal, np.less, np.greater, np.less_equal, np.greater_equal
logical_and, logical_or, logical_not = np.logical_and, np.logical_or, np.logical_not
copy, empty, zeros, ones, empty_like, zeros_like = np.copy, np.empty, np.zeros, np.ones, np.empty_like, np.zeros_like
transpose, matmult, innerprod = np.transpose, np.matmul, np.dot
matvect = vectmat = matmat = np.matmul
ndim = np.ndim


def shape(array: Any, axis: int) -> int:
    """The size of an array along an axis."""
    return array.shape[axis]  # type: ignore[no-any-return]


def log(value: Any, base: Any = None) -> Any:
    """The natural logarithm, or that to a base."""
    return np.log(value) if base is None else np.log(value) / np.log(base)


def where(condition: Any) -> Any:
    """The places at which a condition on a vector holds."""
    return np.where(condition)[0]


def syr(a: Any) -> Any:
    """a times its own transpose."""
    return a @ a.T


syrk = syr


def syr2k(a: Any, b: Any) -> Any:
    return a @ b.T + b @ a.T


def symm(a: Any, b: Any) -> Any:
    """The symmetric matrix of which `a` holds the lower half, times b."""
    lower = np.tril(a)
    return (lower + np.tril(a, -1).T) @ b


def trmm(a: Any, b: Any) -> Any:
    """The lower triangle of `a`, times b."""
    return np.tril(a) @ b


def lu(a: Any) -> Any:
    """The factors of `a` without pivoting, in one matrix: the unit lower one below the diagonal."""
    made = a * 1.0
    n = made.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                made[i, j] -= made[i, k] * made[k, j]
            made[i, j] /= made[j, j]
        for j in range(i, n):
            for k in range(i):
                made[i, j] -= made[i, k] * made[k, j]
    return made


def ludcmp(a: Any, b: Any) -> Any:
    """The solution of a @ x = b by these factors."""
    made = lu(a)
    x = b * 1.0
    n = made.shape[0]
    for i in range(n):
        for j in range(i):
            x[i] -= made[i, j] * x[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            x[i] -= made[i, j] * x[j]
        x[i] /= made[i, i]
    return x


# --- Table 2: sparse matrices ---------------------------------------------------------------------------------------


def csr_to_spm(values: Any, columns: Any, indexes: Any, count: int) -> Any:
    """The sparse matrix of these entries, their columns, and where rows begin; `count` columns."""
    from scipy.sparse import csr_array

    places = np.asarray(columns).astype(np.int64), np.asarray(indexes).astype(np.int64)
    return csr_array((values, *places), shape=(len(indexes) - 1, int(count)))


def empty_spm(rows: Any, columns: Any = None, *_: Any) -> Any:
    """A sparse matrix without entries, to be filled one by one: empty_spm(2, 3), or empty_spm([2, 3], float64)."""
    from scipy.sparse import dok_array

    extents = tuple(rows) if isinstance(rows, (list, tuple)) else (rows, columns)
    return dok_array(extents)


def spm_add(s: Any, other: Any) -> Any:
    """Sparse if both are; with a number, or what is dense, everything has a value."""
    from scipy.sparse import issparse

    if issparse(s) and issparse(other):
        return s + other
    return _dense(s) + _dense(other)


def _dense(operand: Any) -> Any:
    from scipy.sparse import issparse

    return operand.toarray() if issparse(operand) else operand


def spm_mul(s: Any, other: Any) -> Any:
    """Element by element; sparse, whichever operand is."""
    from scipy.sparse import issparse

    return s.multiply(other) if issparse(s) else other.multiply(s)


def spmv(s: Any, vector: Any) -> Any:
    return s @ vector


def spmm(s: Any, other: Any) -> Any:
    return s @ other


def spmm_dense(s: Any, other: Any) -> Any:
    """A product of which one factor at least is dense."""
    return s @ other


def spm_set_item(s: Any, value: float, row: int, column: int) -> None:
    s[row, column] = value


def nonzero_elements(s: Any) -> list[tuple[int, int, float]]:
    """(row, column, value) of each entry."""
    entries = s.tocoo()
    return list(zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist()))


def getNonZeroColumnIndices(s: Any) -> set[int]:
    return set(s.tocoo().col.tolist())


def getNonZeroRowIndices(s: Any) -> set[int]:
    return set(s.tocoo().row.tolist())


def getCol(s: Any, column: int) -> list[tuple[int, float]]:
    """The entries of a column: (row, value)."""
    return [(row, value) for row, at, value in nonzero_elements(s) if at == column]


def getRow(s: Any, row: int) -> list[tuple[int, float]]:
    return [(column, value) for at, column, value in nonzero_elements(s) if at == row]


# --- heaps ----------------------------------------------------------------------------------------------------------


class MinHeap:
    """The smallest number on top."""

    def __init__(self) -> None:
        self.items: list[float] = []

    def push(self, item: float) -> None:
        heapq.heappush(self.items, item)

    def pop(self) -> float:
        return heapq.heappop(self.items)

    def peek(self) -> float:
        return self.items[0]

    def __len__(self) -> int:
        return len(self.items)


class MaxHeap:
    """The largest number on top."""

    def __init__(self) -> None:
        self.items: list[float] = []

    def push(self, item: float) -> None:
        heapq.heappush(self.items, -item)

    def pop(self) -> float:
        return -heapq.heappop(self.items)

    def peek(self) -> float:
        return -self.items[0]

    def __len__(self) -> int:
        return len(self.items)


# --- the dialect ----------------------------------------------------------------------------------------------------

_STATEMENTS = (
    (re.compile(r"^(\s*)pfor\s+(.+?)\s+in\s+range\((.*)\)\s*:", re.M), r"\1for \2 in pfor(\3):"),
    (re.compile(r"^(\s*)pfor\s+(.+?)\s+in\s+", re.M), r"\1for \2 in "),
    (re.compile(r"^(\s*)async\s*:", re.M), r"\1with async_():"),
    (re.compile(r"^(\s*)(finish|isolated)\s*:", re.M), r"\1with \2():"),
)
#: Methods of Intrepydd's matrices that are functions here.
_METHODS = frozenset(
    {"spm_mul", "spm_add", "spmm", "spmv", "spmm_dense", "nonzero_elements", "getNonZeroColumnIndices"}
    | {"getNonZeroRowIndices", "getCol", "getRow"}
)


def translate(text: str) -> str:
    """A program in the dialect as Python; the lines stay where they are."""
    for pattern, made in _STATEMENTS:
        text = pattern.sub(made, text)
    tree = ast.parse(text)
    edits: list[tuple[ast.expr, str]] = []
    _Rewriter(text, edits).visit(tree)
    return _edited(text, edits)


class _Rewriter(ast.NodeVisitor):
    """Notes the expressions that are said in another way in Python; outermost ones only, their parts with them."""

    def __init__(self, text: str, edits: list[tuple[ast.expr, str]]) -> None:
        self.text, self.edits = text, edits

    def visit_Call(self, node: ast.Call) -> None:
        made = self.rewritten(node)
        if made is None:
            self.generic_visit(node)
        else:
            self.edits.append((node, made))

    def rewritten(self, node: ast.Call) -> str | None:
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr == "shape" and len(node.args) == 1:
            return f"{self.inner(called.value)}.shape[{self.inner(node.args[0])}]"
        if isinstance(called, ast.Attribute) and called.attr in _METHODS:
            return f"{called.attr}({', '.join(map(self.inner, (called.value, *node.args)))})"
        if not isinstance(called, ast.Name):
            return None
        if called.id == "where" and len(node.args) == 1 and isinstance(node.args[0], ast.BoolOp):
            parts, name = node.args[0].values, "and" if isinstance(node.args[0].op, ast.And) else "or"
            joined = self.inner(parts[0])
            for part in parts[1:]:
                joined = f"logical_{name}({joined}, {self.inner(part)})"
            return f"where({joined})"
        if called.id in ("float64", "float32", "int32", "int64") and not node.args:
            return f"np.{called.id}"
        return None

    def inner(self, node: ast.expr) -> str:
        """The text of a part, itself rewritten."""
        own = ast.get_source_segment(self.text, node) or ast.unparse(node)
        edits: list[tuple[ast.expr, str]] = []
        tree = ast.parse(f"({own})", mode="eval")
        _Rewriter(f"({own})", edits).visit(tree)
        return _edited(f"({own})", edits)[1:-1]


def _edited(text: str, edits: list[tuple[ast.expr, str]]) -> str:
    """The text with expressions replaced, from the last to the first."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    data = text.encode()
    for node, made in sorted(edits, key=lambda edit: (edit[0].lineno, edit[0].col_offset), reverse=True):
        assert node.end_lineno is not None and node.end_col_offset is not None
        begin, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
        breaks = data[begin:end].count(b"\n") - made.count("\n")
        data = data[:begin] + (made + " \\\n" * builtins_max(breaks, 0)).encode() + data[end:]
    return data.decode()


def builtins_max(one: int, other: int) -> int:
    """The larger of two numbers (`max` is NumPy's here)."""
    return one if one > other else other


def load(path: str | Path, **options: Any) -> types.ModuleType:
    """The module of a file in the dialect, its functions compiled by `weft.jit` with these options."""
    text = Path(path).read_text(encoding="utf-8")
    return module_of(text, str(path), **options)


def module_of(text: str, name: str = "<pydd>", **options: Any) -> types.ModuleType:
    """The module of a program in the dialect."""
    from weft.api import jit
    from weft.errors import attach_source

    made = translate(text)
    module = types.ModuleType(Path(name).stem.strip("<>"))
    module.__dict__.update({key: globals()[key] for key in __all__}, np=np)
    title = f"<translated from {name}>"
    attach_source(title, made)
    exec(compile(made, title, "exec"), module.__dict__)
    for key, value in tuple(vars(module).items()):
        if isinstance(value, types.FunctionType) and value.__code__.co_filename == title:
            setattr(module, key, jit(value, **options))
    return module


_OWN = {"annotations", "ast", "heapq", "re", "types", "Path", "Any", "Sequence", "np", "prange", "task", "builtins_max"}
_OWN |= {"f32", "f64", "i8", "i16", "i32", "i64", "b1", "translate", "load", "module_of"}
__all__: Sequence[str] = [name for name in globals() if not name.startswith("_") and name not in _OWN]
