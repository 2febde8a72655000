"""Library calls between launches.  In: a product of matrices, or a routine of LAPACK, FFT or sorting; out: a step that
calls the array module of the device on views of its memory.

CuPy is the module of CUDA (cuBLAS, cuSOLVER, cuFFT); a processor's is NumPy, on the very memory that kernels use.  For
any other device, and for what CuPy does not have, operands go to the host and results back.
"""

from __future__ import annotations

import contextlib
import importlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from weft.device import host
from weft.device.plan import Refused, Routine
from weft.ir.expr import Dim, Expr, Read
from weft.ir.program import Call, Layout, Library, Operand, Program
from weft.ir.routines import CALLBACK, ROUTINES, find, run_routine, types_of
from weft.ir.walk import dim_children, overwritten, subexpressions
from weft.records import dataclass

#: Multiplications and additions from which on the library computes a product.
LEAST = 2e5


@dataclass(frozen=True)
class Loan:
    """Memory that a routine looks at: its elements, their type, and whether it changes them."""

    memory: Any
    count: int
    dtype: np.dtype[Any]
    written: bool


def why_not(node: Call | Library, operands: Sequence[Operand], program: Program) -> str | None:
    """Why the host cannot make the call."""
    scalars = {buffer.name for buffer in program.buffers if not buffer.rank}
    if isinstance(node, Library):
        if ROUTINES[node.routine].module == CALLBACK or find(node.routine) is None:
            return f"{node.routine} is a routine of the CPU"
        known: list[Expr] = []
    else:
        known = [factor for factor in (node.scale, node.keep) if factor is not None]
        if any(isinstance(part, Read) and part.index for factor in known for part in subexpressions(factor)):
            return "its factors are elements of arrays"
    for operand in operands:
        if not all(isinstance(dim, Dim) for dim in operand.dims):
            return "it runs over compressed entries"
        known += [*operand.index, *(expr for dim in operand.dims for expr in dim_children(dim))]
    return (
        None
        if all(host.evaluable(expr, scalars) for expr in known)
        else "the host does not know where its operands are"
    )


def operands_of(step: Routine) -> tuple[tuple[Operand, ...], tuple[Operand, ...]]:
    """The views that a call reads and fills, with the dimensions of its batch first."""
    node = step.node
    if isinstance(node, Library):
        return tuple(
            tuple(Operand(o.buffer, (*node.domain, *o.dims), o.index) for o in side)
            for side in (node.inputs, node.outputs)
        )  # type: ignore[return-value]
    batch = (step.batch,) if step.batch is not None else ()
    rows, columns, terms = step.dims
    left, right = step.factors
    inputs = (
        Operand(left.buffer, (*batch, rows, terms), left.index),
        Operand(right.buffer, (*batch, terms, columns), right.index),
    )
    return inputs, (Operand(node.stmt.buffer, (*batch, rows, columns), node.stmt.index),)


# --- running --------------------------------------------------------------------------------------------------------


def action(step: Routine, prepared: Any) -> Callable[[Any], None]:
    """What a call does in a run."""
    node = step.node
    sides = operands_of(step)
    places = [[_Place(operand, prepared) for operand in side] for side in sides]
    written = {operand.buffer for operand in sides[1]}
    if isinstance(node, Library):
        written |= overwritten(node)
        types = types_of(*([prepared.table[o.buffer].type.dtype for o in side] for side in sides))
    else:
        scale, keep = (None if factor is None else prepared.value(factor) for factor in (node.scale, node.keep))

    here = isinstance(node, Library) and node.routine not in _MODULE

    def call(run: Any) -> None:
        if run.complained():
            return  # nothing runs after a complaint
        with contextlib.ExitStack() as stack:
            views = _Views(run, prepared.table, written, stack, [place for side in places for place in side], here)
            begun = perf_counter()
            inputs, outputs = ([views.of(place) for place in side] for side in places)
            if isinstance(node, Library):
                succeeded = all(not view.size for view in outputs) or _called(
                    views.module, node.routine, types, inputs, outputs
                )
                if node.status is not None:
                    run.values[node.status] = bool(succeeded)
            else:
                _multiplied(views.module, inputs, outputs[0], scale and scale(run), keep and keep(run))
            seconds = perf_counter() - begun
        run.counts.launches += 1
        run.counts.events.append((node.routine, lambda: seconds))

    return call


def _multiplied(xp: Any, factors: Sequence[Any], out: Any, scale: Any, keep: Any) -> None:
    if scale is None and keep is None:
        out[...] = xp.matmul(*factors)
        return
    product = xp.matmul(*factors)
    if scale is not None:
        product *= scale
    if keep is not None:
        product += keep * out
    out[...] = product


class _Place:
    """Where an operand is in its buffer: computed from the index at the first point, and one further each way."""

    def __init__(self, operand: Operand, prepared: Any) -> None:
        self.buffer = operand.buffer
        self.rank = prepared.table[operand.buffer].rank
        self.reverse = -1 if prepared.table[operand.buffer].layout is Layout.F else 1
        self.dims = tuple(dim for dim in operand.dims if isinstance(dim, Dim))
        self.bounds = tuple((prepared.value(dim.lo), prepared.value(dim.hi)) for dim in self.dims)
        self.index = tuple(prepared.value(index) for index in operand.index)

    def found(self, run: Any) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
        """The first element, the shape, and the strides in elements."""
        ranges = [range(low(run), high(run), dim.step) for dim, (low, high) in zip(self.dims, self.bounds)]
        shape = tuple(map(len, ranges))
        if 0 in shape:
            return 0, shape, (0,) * len(shape)
        saved = dict(run.values)

        def at(axis: int | None) -> int:
            for number, (dim, points) in enumerate(zip(self.dims, ranges)):
                run.values[dim.var] = points[0] + (dim.step if number == axis else 0)
            place = 0
            extents = run.shapes.get(self.buffer, ())
            for index, extent in zip(self.index[:: self.reverse], extents[:: self.reverse]):
                place = place * extent + index(run)
            return place

        start = at(None)
        strides = tuple(at(axis) - start if size > 1 else 0 for axis, size in enumerate(shape))
        run.values = saved
        return start, shape, strides


class _Views:
    """The operands of one call as arrays of the device's module."""

    def __init__(
        self, run: Any, table: Mapping[str, Any], written: set[str], stack: Any, places: Sequence[Any], here: bool
    ) -> None:
        self.run = run
        loans = {}
        for place in places:
            name = place.buffer
            if name in loans or (not place.rank and name not in run.prepared.resident):
                continue
            memory = run.memory[name] if place.rank else run.cell(name)
            count = math.prod(run.shapes[name]) if place.rank else 1
            loans[name] = Loan(memory, count, table[name].type.dtype.numpy, name in written)
        self.module, flat = stack.enter_context(run.device.lent(list(loans.values()), here))
        self.flat = dict(zip(loans, flat))

    def of(self, place: _Place) -> Any:
        start, shape, strides = place.found(self.run)
        if place.buffer not in self.flat:
            return self.module.asarray(self.run.values[place.buffer])
        flat = self.flat[place.buffer]
        size = flat.dtype.itemsize
        strided = self.module.lib.stride_tricks.as_strided
        return strided(flat[start:], shape, tuple(stride * size for stride in strides))


# --- routines of array modules ----------------------------------------------------------------------------------------


def _scaled(values: Any, factor: Any) -> Any:
    return values * factor[..., None]


#: Routines that CuPy has, by its own functions: operands first, then the extents of the outputs' last axes.
_MODULE: dict[str, Callable[..., tuple[Any, ...]]] = {
    "cholesky_lo": lambda xp, last, a: (xp.linalg.cholesky(a),),
    "inv": lambda xp, last, a: (xp.linalg.inv(a),),
    "solve": lambda xp, last, a, b: (xp.linalg.solve(a, b),),
    "solve1": lambda xp, last, a, b: (xp.linalg.solve(a, b[..., None])[..., 0],),
    "det": lambda xp, last, a: (xp.linalg.det(a),),
    "slogdet": lambda xp, last, a: tuple(xp.linalg.slogdet(a)),
    "eigh_lo": lambda xp, last, a: tuple(xp.linalg.eigh(a, UPLO="L")),
    "eigh_up": lambda xp, last, a: tuple(xp.linalg.eigh(a, UPLO="U")),
    "eigvalsh_lo": lambda xp, last, a: (xp.linalg.eigvalsh(a, UPLO="L"),),
    "eigvalsh_up": lambda xp, last, a: (xp.linalg.eigvalsh(a, UPLO="U"),),
    "svd": lambda xp, last, a: (xp.linalg.svd(a, compute_uv=False),),
    "svd_f": lambda xp, last, a: tuple(xp.linalg.svd(a, full_matrices=True)),
    "svd_s": lambda xp, last, a: tuple(xp.linalg.svd(a, full_matrices=False)),
    "fft": lambda xp, last, a, f: (_scaled(xp.fft.fft(a, last[0]), f),),
    "ifft": lambda xp, last, a, f: (_scaled(xp.fft.ifft(a, last[0]) * last[0], f),),
    "rfft_n_even": lambda xp, last, a, f: (_scaled(xp.fft.rfft(a, 2 * last[0] - 2), f),),
    "rfft_n_odd": lambda xp, last, a, f: (_scaled(xp.fft.rfft(a, 2 * last[0] - 1), f),),
    "irfft": lambda xp, last, a, f: (_scaled(xp.fft.irfft(a, last[0]) * last[0], f),),
    "sort_quicksort": lambda xp, last, a: (xp.sort(a),),
    "argsort_stable": lambda xp, last, a: (xp.argsort(a, kind="stable"),),
}


def _called(xp: Any, name: str, types: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
    """The routine of a module; whether it succeeded."""
    if xp is np:
        return run_routine(name, types, inputs, outputs)
    return by_module(xp, name, inputs, outputs)


def by_module(xp: Any, name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> bool:
    """A routine by the functions of an array module."""
    last = tuple(out.shape[-1] if out.ndim else 0 for out in outputs)
    try:
        with _raising(xp):
            found = _MODULE[name](xp, last, *inputs)
    except np.linalg.LinAlgError:
        return False
    for out, values in zip(outputs, found):
        out[...] = values
    return True


@contextlib.contextmanager
def _raising(xp: Any) -> Iterator[None]:
    """CuPy looks for failures only where it is asked to."""
    if xp.__name__ == "cupy":
        with importlib.import_module("cupyx").errstate(linalg="raise"):
            yield
    else:
        yield


def refused(node: Library, operands: Sequence[Operand], program: Program) -> Refused | None:
    problem = why_not(node, operands, program)
    return None if problem is None else Refused(f"{node.routine} of line {node.span.line}: {problem}")
