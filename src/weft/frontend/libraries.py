"""Calls of library routines.  In: arrays and the name of a routine of `ir.routines`; out: a Library node and the arrays
it fills.

An operand that is a strided view of the right type is handed over as it is; anything else (a list, another dtype, a
lazy expression, a gather) is put into memory first.
"""

from __future__ import annotations

from dataclasses import replace

from weft.errors import Unsupported
from weft.frontend import arith, arrays
from weft.frontend.emit import Emitter
from weft.frontend.values import Array, Scalar, Value
from weft.ir import walk
from weft.ir.expr import Expr, Read, Var
from weft.ir.index import affine
from weft.ir.program import Library, Operand
from weft.ir.routines import ROUTINES, dtypes_of, find
from weft.ir.types import BOOL, DType, ScalarType
from weft.records import dataclass

Shape = tuple[Expr, ...]


@dataclass(frozen=True)
class Request:
    """One call: `inputs` are arrays over the batch (its shape is `batch`) and their core dimensions, `outputs` the
    core shapes of what is filled, with names for people.  `into` is an array to fill instead of a new one (the first
    output), `error` the message of the LinAlgError that a failure is; None if a failure shows in the values alone.
    """

    routine: str
    types: str
    batch: Shape
    inputs: tuple[Array, ...]
    outputs: tuple[tuple[str, Shape], ...]
    error: str | None = None
    into: Array | None = None


def available(routine: str, types: str, emitter: Emitter) -> None:
    """Refuse a routine that this NumPy does not have in the form that is known here."""
    if types not in ROUTINES[routine].loops or find(routine) is None:
        raise Unsupported(emitter.span, f"this version of NumPy has no routine {routine} that weft can call")


def cast(array: Array, of: ScalarType) -> Array:
    """The array with its elements converted, still lazy."""
    if array.type == of:
        return array
    return Array(array.shape, of, lambda at: arith.cast(array.element(at), of), cost=array.cost + 1)


def in_memory(array: Array, dtype: DType, emitter: Emitter, name: str = "operand") -> Array:
    """The array as a strided operand of this element type: itself if it is one, else a copy."""
    if array.type.dtype is dtype and is_strided(array):
        return array
    return arrays.materialise(cast(replace(array, is_list=False), ScalarType(dtype)), emitter, name)


def is_strided(array: Array) -> bool:
    """Whether an array is a view whose place in memory is affine in its index."""
    if array.view is None or array.is_list:
        return False
    probe = tuple(Var(f"?{axis}") for axis in range(array.rank))
    return all(affine(e) is not None and not walk.expr_buffers(e) for e in array.view.index(probe))


def call(request: Request, emitter: Emitter) -> list[Value]:
    """Emit the call, and the check that it succeeded; the arrays (or scalars) that it fills."""
    routine = ROUTINES[request.routine]
    available(request.routine, request.types, emitter)
    taken, made = dtypes_of(request.types)
    placed = [
        _placed(array, dtype, request.batch, len(core), emitter)
        for array, dtype, core in zip(request.inputs, taken, routine.inputs, strict=True)
    ]
    targets = [
        _target(name, (*request.batch, *core), dtype, emitter) if position or request.into is None else request.into
        for position, ((name, core), dtype) in enumerate(zip(request.outputs, made, strict=True))
    ]
    status = emitter.declare("succeeded", BOOL).name if request.error is not None and routine.fails else None
    domain, at = emitter.domain(request.batch, "bcdefgh")
    inputs, outputs = (tuple(_operand(array, at, emitter) for array in side) for side in (placed, targets))
    emitter.emit(Library(request.routine, domain, inputs, outputs, status, emitter.span))
    if status is not None:
        emitter.check(Read(status, (), BOOL), "LinAlgError", request.error or "")
    return [array if array.rank else Scalar(array.element(())) for array in targets]


def _placed(array: Array, dtype: DType, batch: Shape, core: int, emitter: Emitter) -> Array:
    """An input in memory, stretched over the batch."""
    if not array.rank:
        return _scalar(array.element(()), dtype, emitter)
    array = in_memory(array, dtype, emitter)
    return arrays.broadcast_to(array, (*batch, *array.shape[array.rank - core :]), emitter)


def _scalar(value: Expr, dtype: DType, emitter: Emitter) -> Array:
    """A number in a variable of its own, whose address a routine can take."""
    buffer = emitter.declare("factor", ScalarType(dtype))
    emitter.assign((), buffer.name, (), arith.cast(value, buffer.type))
    return arrays.of_buffer(buffer)


def _target(name: str, shape: Shape, dtype: DType, emitter: Emitter) -> Array:
    of = ScalarType(dtype)
    return arrays.of_buffer(emitter.allocate(name, of, shape) if shape else emitter.declare(name, of))


def _operand(array: Array, at: tuple[Expr, ...], emitter: Emitter) -> Operand:
    assert array.view is not None
    if not array.rank:
        return Operand(array.view.buffer, (), array.view.index(()))
    dims, core = emitter.domain(array.shape[len(at) :])
    return Operand(array.view.buffer, dims, array.view.index((*at, *core)))
