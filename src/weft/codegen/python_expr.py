"""Expressions of the Python back end.  In: IR expressions and a frame (the dimensions that become axes); out: NumPy
expressions over slices, or the news that there is none (`NotVector`), upon which the statement becomes a loop.

Every array expression is laid out along the last axes of the frame, so NumPy's own broadcasting lines operands up:
    frame (i, j):   a[i, j] -> a[0:n, 0:m]   x[j] -> x[0:m]   y[i] -> y[0:n, None]   sum[k] b[i, j, k] -> b.sum(axis=-1)
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from weft.analysis.facts import Facts
from weft.codegen import python_syntax as py
from weft.codegen.python_ops import GROWING, NotVector, Piece, cast, combined, operate, select
from weft.ir.expr import AnyDim, Cast, CompressedDim, Const, Dim, Expr, Limit, Op, Read, Reduce, Var, integer
from weft.ir.index import Affine, affine, canonical
from weft.ir.ops import REDUCTIONS
from weft.ir.program import Program
from weft.ir.types import INT, DType, ScalarType
from weft.ir.walk import dim_children, free_vars, reads
from weft.limits import LIMIT
from weft.records import dataclass

Frame = tuple[Dim, ...]


def vars_of(frame: Sequence[Dim]) -> frozenset[str]:
    return frozenset(dim.var for dim in frame)


def upward(dim: AnyDim) -> Dim:
    """A dense dimension counted upwards: points of a domain have no order."""
    if not isinstance(dim, Dim):
        raise NotVector("a compressed dimension")
    if dim.step > 0:
        return dim
    if dim.step != -1:
        raise NotVector("a dimension that counts down in steps")
    return Dim(dim.var, plus(dim.hi, integer(1)), plus(dim.lo, integer(1)))


def plus(left: Expr, right: Expr) -> Expr:
    if isinstance(right, Const) and right.value == 0:
        return left
    if isinstance(left, Const) and left.value == 0:
        return right
    return canonical(Op("add", (left, right), INT))


def times(factor: int, expr: Expr) -> Expr:
    return expr if factor == 1 else canonical(Op("mul", (integer(factor), expr), INT))


def split(expr: Expr, dims: frozenset[str]) -> tuple[dict[str, int], Expr] | None:
    """An index as sum(coefficient * dim) + rest, the rest free of `dims`; None if it has no such form."""
    if not free_vars(expr) & dims:
        return {}, expr
    if isinstance(expr, Var):
        return {expr.name: 1}, integer(0)
    if not isinstance(expr, Op) or expr.type != INT or expr.op not in ("add", "sub", "neg", "mul"):
        return None
    parts = [split(argument, dims) for argument in expr.args]
    if any(part is None for part in parts):
        return None
    (first, rest), *others = [part for part in parts if part is not None]
    if expr.op == "neg":
        return {name: -c for name, c in first.items()}, times(-1, rest)
    (second, other) = others[0]
    if expr.op == "mul":
        if isinstance(rest, Const) and not first:
            first, rest, second, other = second, other, first, rest
        if second or not isinstance(other, Const):
            return None
        factor = int(other.value.real)
        return {name: c * factor for name, c in first.items()}, times(factor, rest)
    sign = 1 if expr.op == "add" else -1
    total = dict(first)
    for name, coefficient in second.items():
        total[name] = total.get(name, 0) + sign * coefficient
    return {name: c for name, c in total.items() if c}, plus(rest, times(sign, other))


@dataclass(frozen=True)
class AxisSlice:
    """One axis of a strided access: the frame dimension it follows and the slice; `dim` None: a single index."""

    dim: str | None
    node: ast.expr
    flip: bool = False


class Expressions:
    """Translates the expressions of one program; `facts` is what is known where the translator stands."""

    def __init__(self, program: Program, names: py.Names, facts: Facts) -> None:
        self.program = program
        self.names = names
        self.facts = facts
        self.nonempty: frozenset[str] = frozenset()  # dimensions known to have a point
        self.clamped: set[str] = set()  # dimensions whose slices would be wrong if they had none
        self.keep_small = False  # refuse array forms much larger than the data they are made of
        self.harmless: set[tuple[str, tuple[Expr, ...]]] = set()  # accesses made anyway, so within bounds
        self._speculative = 0
        self._free: dict[int, tuple[Expr, frozenset[str]]] = {}

    # --- entry points ---

    def scalar(self, expr: Expr) -> Piece:
        return self.value(expr, ())

    def value(self, expr: Expr, frame: Frame) -> Piece:
        """The translation of `expr`; raises NotVector only if the frame has dimensions."""
        if frame and not self.free(expr) & vars_of(frame):
            frame = ()
        if isinstance(expr, Const):
            return Piece(py.number(_LITERAL[expr.of.dtype.kind](expr.value)), "literal")
        if isinstance(expr, Limit):
            return Piece(py.number(LIMIT[expr.name].default), "literal")
        if isinstance(expr, Var):
            return self._var(expr, frame)
        if isinstance(expr, Read):
            return self._read(expr, frame)
        if isinstance(expr, Op):
            return self._op(expr, frame)
        if isinstance(expr, Cast):
            if self._speculative and expr.of == INT and expr.value.type.dtype.is_inexact:
                raise NotVector("a conversion that only one side of a choice may make")
            return cast(self.value(expr.value, frame), expr.value.type, expr.of)
        assert isinstance(expr, Reduce)
        return self._reduce(expr, frame)

    def free(self, expr: Expr) -> frozenset[str]:
        known = self._free.get(id(expr))
        if known is None or known[0] is not expr:
            known = self._free[id(expr)] = (expr, frozenset(free_vars(expr)))
        return known[1]

    # --- leaves ---

    def _var(self, expr: Var, frame: Frame) -> Piece:
        if not frame:
            return Piece(py.name(self.names.of(expr.name)), "python")
        position = [dim.var for dim in frame].index(expr.name)
        dim, rank = frame[position], len(frame) - position
        return Piece(_column(self._arange(dim), rank), "numpy", rank, frozenset({dim.var}))

    def _arange(self, dim: Dim) -> ast.expr:
        lo, hi = self.scalar(dim.lo).node, self.scalar(dim.hi).node
        zero = isinstance(dim.lo, Const) and dim.lo.value == 0
        if dim.step != 1:
            return py.call("np.arange", lo, hi, py.number(dim.step))
        return py.call("np.arange", hi) if zero else py.call("np.arange", lo, hi)

    def _read(self, expr: Read, frame: Frame) -> Piece:
        buffer = py.name(self.names.of(expr.buffer))
        if not expr.index:
            kind = self.program.buffer(expr.buffer).type
            return Piece(buffer, "python" if kind.weak else "numpy")
        if self._speculative:
            self._must_be_inside(expr, frame)
        if not frame:
            node = py.subscript(buffer, [self.index(e).node for e in expr.index])
            return Piece(py.call("int", node), "python") if expr.of == INT else Piece(node)
        axes = self.slices(expr.buffer, expr.index, frame)
        if axes is None:
            pieces = [self.index(e, frame) for e in expr.index]
            return combined(py.subscript(buffer, [piece.node for piece in pieces]), pieces)
        return self._strided(buffer, axes, frame)

    def _must_be_inside(self, expr: Read, frame: Frame) -> None:
        """On the side of a choice that is not taken an index may be anything, and arrays compute both sides."""
        if (expr.buffer, expr.index) in self.harmless:
            return
        facts = self.facts.with_domain(frame)
        for place, extent in zip(expr.index, self.program.buffer(expr.buffer).shape):
            low, high = facts.linear(place), facts.linear(extent)
            if low is None or high is None or not facts.prove(low) or not facts.prove(high - low - Affine((), 1)):
                raise NotVector("a read that only one side of a choice may make")

    def index(self, expr: Expr, frame: Frame = ()) -> Piece:
        """An index; NumPy integers serve as they are, so a conversion to a Python integer at the top is dropped."""
        if isinstance(expr, Cast) and expr.of == INT and expr.value.type.dtype.is_integer:
            return self.index(expr.value, frame)
        if isinstance(expr, Read) and expr.of == INT and not frame and expr.index and not self._speculative:
            places = [self.index(e).node for e in expr.index]
            return Piece(py.subscript(py.name(self.names.of(expr.buffer)), places))
        return self.value(expr, frame)

    # --- strided accesses ---

    def slices(self, buffer: str, index: tuple[Expr, ...], frame: Frame) -> list[AxisSlice] | None:
        """The slices of an access whose indices each follow at most one dimension, none of them twice; else None."""
        dims = vars_of(frame)
        parts = [split(e, dims) for e in index]
        followed = [name for part in parts if part is not None for name in part[0]]
        if any(part is None or len(part[0]) > 1 for part in parts) or len(set(followed)) != len(followed):
            return None
        known = {dim.var: dim for dim in frame}
        axes: list[AxisSlice] = []
        for part, extent, expr in zip(parts, self.program.buffer(buffer).shape, index):
            assert part is not None
            if not part[0]:
                axes.append(AxisSlice(None, self.index(expr).node))
                continue
            ((name, coefficient),) = part[0].items()
            if coefficient < 0 and known[name].step != 1:
                return None
            axes.append(self._slice(known[name], coefficient, part[1], extent))
        return axes

    def _slice(self, dim: Dim, coefficient: int, rest: Expr, extent: Expr) -> AxisSlice:
        """Every index coefficient * dim + rest as one slice; backwards ones are sliced forwards and flipped."""
        last = plus(dim.hi, integer(-1))
        begin, end = (dim.lo, last) if coefficient > 0 else (last, dim.lo)
        start = plus(times(coefficient, begin), rest)
        stop = plus(plus(times(coefficient, end), rest), integer(1))
        step = abs(coefficient) * dim.step
        at_start = isinstance(start, Const) and start.value == 0
        if step == 1 and at_start and stop == canonical(extent):
            return AxisSlice(dim.var, py.span(None, None), coefficient < 0)
        stop_node = self.scalar(stop).node
        if not self._stop_is_safe(dim, start, stop, extent):
            self.clamped.add(dim.var)
            stop_node = py.call("max", stop_node, py.number(0))
        return AxisSlice(dim.var, py.span(self.scalar(start).node, stop_node, step), coefficient < 0)

    def _stop_is_safe(self, dim: Dim, start: Expr, stop: Expr, extent: Expr) -> bool:
        """Whether the end of a slice cannot be negative, or is so only where the slice is empty all the same.

        A dimension without points may have any bounds; a[0:-1] would then mean all but one element.
        """
        if dim.var in self.nonempty:
            return True
        form, size, begin = (self.facts.linear(e) for e in (stop, extent, start))
        if form is None:
            return False
        if self.facts.prove(form):
            return True
        if size is None or begin is None or not begin.is_constant:
            return False
        # A stop of size - c < 0 is read as 2 * size - c <= c - 2: nothing, if the slice starts there or later.
        distance = size - form
        return distance.is_constant and begin.constant >= distance.constant - 2

    def _strided(self, buffer: ast.expr, axes: list[AxisSlice], frame: Frame) -> Piece:
        order = [axis.dim for axis in axes if axis.dim is not None]
        wanted = [dim.var for dim in frame if dim.var in order]
        if order == wanted and not any(axis.flip for axis in axes):
            return self._padded(buffer, axes, frame)
        node = _sliced(buffer, [axis.node for axis in axes])
        node = _flipped_axes(node, axes)
        if order != wanted:
            permutation = [order.index(name) for name in wanted]
            if permutation == list(range(len(order)))[::-1]:
                node = py.attribute(node, "T")
            else:
                node = py.method(node, "transpose", *(py.number(p) for p in permutation))
        return align(node, wanted, frame)

    def _padded(self, buffer: ast.expr, axes: list[AxisSlice], frame: Frame) -> Piece:
        """Axes in order: the missing ones between them are made in the same subscript, a[0:n, None, 0:m]."""
        present = [axis.dim for axis in axes if axis.dim is not None]
        first = [dim.var for dim in frame].index(present[0])
        nodes: list[ast.expr] = []
        position = first
        for axis in axes:
            if axis.dim is not None:
                while frame[position].var != axis.dim:
                    nodes.append(py.number(None))
                    position += 1
                position += 1
            nodes.append(axis.node)
        nodes += [py.number(None)] * (len(frame) - position)
        return Piece(_sliced(buffer, nodes), "numpy", len(frame) - first, frozenset(d for d in present if d), view=True)

    def target(self, buffer: str, axes: list[AxisSlice]) -> ast.expr:
        """The left side of an assignment to a strided access whose axes are in the frame's order."""
        node = py.subscript(py.name(self.names.of(buffer)), [axis.node for axis in axes])
        return _flipped_axes(node, axes)

    # --- operations ---

    def _op(self, expr: Op, frame: Frame) -> Piece:
        if expr.op == "select":
            return self._select(expr, frame)
        operand = ScalarType(expr.args[-1].type.dtype, all(argument.type.weak for argument in expr.args))
        if frame and expr.type == INT and expr.op in GROWING:
            return self._affine(expr, frame)
        args = [self.value(argument, frame) for argument in expr.args]
        return operate(expr.op, args, operand, expr.of)

    def _affine(self, expr: Op, frame: Frame) -> Piece:
        """Sums of index variables cannot overflow: entry guards keep them small."""
        form = affine(expr)
        if form is None:
            raise NotVector(f"{expr.op} of Python integers could leave 64 bits")
        args = [self.value(argument, frame) for argument in expr.args]
        nodes = [piece.node for piece in args]
        node = py.minus(nodes[0]) if expr.op == "neg" else py.binary(expr.op, *nodes)
        return combined(node, args)

    def _select(self, expr: Op, frame: Frame) -> Piece:
        condition = self.value(expr.args[0], frame)
        if not frame:
            return select(condition, self.scalar(expr.args[1]), self.scalar(expr.args[2]), expr.of)
        self._speculative += 1
        try:
            then, orelse = (self.value(argument, frame) for argument in expr.args[1:])
        finally:
            self._speculative -= 1
        return select(condition, then, orelse, expr.of)

    # --- reductions ---

    def _reduce(self, expr: Reduce, frame: Frame) -> Piece:
        try:
            return self._reduce_array(expr, frame)
        except NotVector:
            if frame:
                raise
        return self._reduce_loop(expr)

    def _reduce_array(self, expr: Reduce, frame: Frame) -> Piece:
        inner = tuple(upward(dim) for dim in expr.dims)
        bound = vars_of(inner) | vars_of(frame)
        if any(self.free(e) & bound for dim in inner for e in dim_children(dim)):
            raise NotVector("a reduction whose bounds depend on its own dimensions")
        if expr.type == INT and expr.op in ("add", "mul"):
            raise NotVector("a sum of Python integers could leave 64 bits")
        product = self._contraction(expr, frame, inner)
        if product is not None:
            return product
        if self.keep_small and frame and self._blows_up(expr.value, frame + inner):
            raise NotVector("an array form much larger than its operands")
        piece = self.value(expr.value, frame + inner)
        if not vars_of(inner) <= piece.dims:
            raise NotVector("a reduction over a dimension its value does not use")
        everything = piece.rank == len(inner)
        axis: ast.expr | None = None
        if not everything:
            axes = [py.number(-position) for position in range(len(inner), 0, -1)]
            axis = axes[0] if len(axes) == 1 else ast.Tuple(axes, ast.Load())
            if expr.op in ("argmin", "argmax") and len(inner) > 1:
                raise NotVector("the position of an extreme over several axes")
        node = self._reduced(expr, piece.node, axis, self._has_points(inner))
        return Piece(node, "numpy", piece.rank - len(inner), piece.dims - vars_of(inner))

    def _blows_up(self, value: Expr, frame: Frame) -> bool:
        if len(frame) < 3:
            return False
        everything = vars_of(frame)
        return not any(self.free(read) & everything == everything for read in reads(value))

    def _has_points(self, dims: Frame) -> bool:
        for dim in dims:
            lo, hi = self.facts.linear(dim.lo), self.facts.linear(dim.hi)
            if lo is None or hi is None or not self.facts.prove(hi - lo - Affine((), 1)):
                return False
        return True

    def _reduced(self, expr: Reduce, node: ast.expr, axis: ast.expr | None, has_points: bool) -> ast.expr:
        of = expr.value.type
        keywords: dict[str, ast.expr] = {} if axis is None else {"axis": axis}
        op = expr.op
        if of.dtype is DType.BOOL:
            op = {"add": "or", "mul": "and", "minimum": "and", "maximum": "or"}.get(op, op)
        methods = {"add": "sum", "mul": "prod", "minimum": "min", "maximum": "max", "and": "all", "or": "any"}
        if op in ("argmin", "argmax") and not has_points:
            return py.call("place_of", ast.Constant(op), node, **keywords)
        if op in ("argmin", "argmax"):
            return py.method(node, op, **keywords)
        if op not in methods:
            if axis is None:
                keywords["axis"] = py.number(None)
            return py.call(f"np.{_UFUNCS[op]}.reduce", node, **keywords)
        if op in ("add", "mul") and of.dtype.is_integer and of.dtype.size < 8:
            keywords["dtype"] = py.name(py.dtype_name(of.dtype))
        if op in ("minimum", "maximum") and not has_points:
            keywords["initial"] = py.number(REDUCTIONS[op].identity(of))
        return py.method(node, methods[op], **keywords)

    def _reduce_loop(self, expr: Reduce) -> Piece:
        """A reduction as a comprehension, for what has no array form."""
        of = expr.value.type
        with self.inside(expr.dims):
            piece = self.scalar(expr.value)
        generators = self.generators(expr.dims)
        each = ast.GeneratorExp(piece.node, generators)
        if expr.op in ("and", "or"):
            return Piece(py.call("all" if expr.op == "and" else "any", each), "python")
        if of == INT and expr.op in ("add", "mul"):
            return Piece(py.call("sum" if expr.op == "add" else "math.prod", each), "python")
        if of == INT and expr.op in ("minimum", "maximum"):
            default = py.number(REDUCTIONS[expr.op].identity(of))
            return Piece(py.call("min" if expr.op == "minimum" else "max", each, default=default), "python")
        dtype = py.name(py.dtype_name(of.dtype))
        values = py.call("np.array", ast.ListComp(piece.node, generators), dtype=dtype)
        node = self._reduced(expr, values, None, self._has_points(tuple(d for d in expr.dims if isinstance(d, Dim))))
        if expr.type == INT:
            return Piece(py.call("int", node), "python")
        return Piece(node)

    def generators(self, domain: Sequence[AnyDim]) -> list[ast.comprehension]:
        """`for i in range(...) for j in range(...)`, outer dimensions first."""
        found: list[ast.comprehension] = []
        outer = self.facts
        for dim in domain:
            for variable, values in self.ranges(dim):
                found.append(ast.comprehension(ast.Name(variable, ast.Store()), values, [], 0))
            self.facts = self.facts.with_dim(dim)
        self.facts = outer
        return found

    def ranges(self, dim: AnyDim) -> Iterator[tuple[str, ast.expr]]:
        """The loops of one dimension: variable and what it runs over (a compressed level's coordinate is one value)."""
        if isinstance(dim, Dim):
            zero = isinstance(dim.lo, Const) and dim.lo.value == 0
            lo, hi = self.scalar(dim.lo).node, self.scalar(dim.hi).node
            if dim.step != 1:
                yield self.names.of(dim.var), py.call("range", lo, hi, py.number(dim.step))
            else:
                yield self.names.of(dim.var), py.call("range", hi) if zero else py.call("range", lo, hi)
            return
        assert isinstance(dim, CompressedDim)
        pointer, coordinate = (py.name(self.names.of(name)) for name in (dim.pointer, dim.coordinate))
        row = self.scalar(dim.parent).node
        begin = py.call("int", py.subscript(pointer, [row]))
        end = py.call("int", py.subscript(pointer, [self.scalar(plus(dim.parent, integer(1))).node]))
        position = self.names.of(dim.position)
        yield position, py.call("range", begin, end)
        value = py.call("int", py.subscript(coordinate, [py.name(position)]))
        yield self.names.of(dim.var), ast.List([value], ast.Load())

    @contextmanager
    def inside(self, domain: Sequence[AnyDim]) -> Iterator[None]:
        """Where the variables of a domain have values."""
        outer = self.facts
        self.facts = self.facts.with_domain(domain)
        try:
            yield
        finally:
            self.facts = outer

    # --- products ---

    def _contraction(self, expr: Reduce, frame: Frame, inner: Frame) -> Piece | None:
        """sum[k] A * B with k in both factors --> A @ B, or einsum; None if it is no such product.

        The array A * B over all dimensions, which this avoids, would be larger than both.
        """
        value = expr.value
        if expr.op != "add" or not isinstance(value, Op) or value.op != "mul" or not _multiplies(value.of):
            return None
        everything = frame + inner
        summed = vars_of(inner)
        dims = [self.free(factor) & vars_of(everything) for factor in value.args]
        if not summed <= dims[0] & dims[1] or (dims[0] == dims[1] and len(dims[0]) > 1):
            return None
        layouts = [[dim for dim in everything if dim.var in own] for own in dims]
        outs = [[dim for dim in layout if dim.var not in summed] for layout in layouts]
        factors = list(value.args)
        plain = len(inner) == 1 and all(len(out) <= 1 for out in outs)
        if plain and outs[0] and outs[1]:
            if everything.index(outs[0][0]) > everything.index(outs[1][0]):
                outs.reverse()
                factors.reverse()
            if outs[0] == outs[1]:
                plain = False
        if plain:
            orders: list[Frame] = [(*outs[0], *inner), (*inner, *outs[1])]
        else:
            orders = [tuple(layout) for layout in layouts]
        pieces: list[Piece] = []
        for factor, order in zip(factors, orders):
            piece = self.value(factor, order)
            if piece.dims != vars_of(order) or piece.rank != len(order):
                return None
            pieces.append(piece)
        result = [dim for dim in frame if any(dim in out for out in outs)]
        left, right = (piece.node for piece in pieces)
        if plain:
            node: ast.expr = ast.BinOp(left, ast.MatMult(), right)
        else:
            node = py.call("np.einsum", py.number(_subscripts(orders, result, everything)), left, right)
        return replace(align(node, [dim.var for dim in result], frame), view=False)


# A literal's own Python type must be the dtype's: np.where(c, 1, 0) is not np.where(c, 1.0, 0.0).
_LITERAL: dict[str, Callable[..., bool | int | float | complex]] = {
    "b": bool,
    "i": int,
    "u": int,
    "f": float,
    "c": complex,
}
_UFUNCS = {"bitand": "bitwise_and", "bitor": "bitwise_or", "bitxor": "bitwise_xor"}


def _multiplies(of: ScalarType) -> bool:
    return of != INT and of.dtype is not DType.BOOL


def _subscripts(orders: Sequence[Sequence[Dim]], result: Sequence[Dim], everything: Frame) -> str:
    letters = {dim.var: chr(ord("a") + position) for position, dim in enumerate(everything)}
    left, right, out = ("".join(letters[dim.var] for dim in dims) for dims in (*orders, result))
    return f"{left},{right}->{out}"


def _column(node: ast.expr, rank: int) -> ast.expr:
    """A vector as the first of `rank` axes."""
    if rank == 1:
        return node
    return py.subscript(node, [py.span(None, None), *([py.number(None)] * (rank - 1))])


def _whole(node: ast.expr) -> bool:
    return isinstance(node, ast.Slice) and node.lower is None and node.upper is None and node.step is None


def _sliced(buffer: ast.expr, nodes: list[ast.expr]) -> ast.expr:
    return buffer if all(_whole(node) for node in nodes) else py.subscript(buffer, nodes)


def _flipped_axes(node: ast.expr, axes: Sequence[AxisSlice]) -> ast.expr:
    kept = [axis for axis in axes if axis.dim is not None]
    if not any(axis.flip for axis in kept):
        return node
    while not kept[-1].flip:
        kept = kept[:-1]
    backwards = ast.Slice(None, None, py.number(-1))
    return py.subscript(node, [backwards if axis.flip else py.span(None, None) for axis in kept])


def align(node: ast.expr, present: Sequence[str], frame: Frame) -> Piece:
    """An array whose axes are `present`, in the frame's order, with the axes between and behind them made."""
    if not present:
        return Piece(node)
    names = [dim.var for dim in frame]
    first = names.index(present[0])
    pattern = [py.span(None, None) if name in present else py.number(None) for name in names[first:]]
    if len(pattern) > len(present):
        node = py.subscript(node, pattern)
    return Piece(node, "numpy", len(pattern), frozenset(present), view=True)
