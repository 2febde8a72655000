"""Arguments that overlap.  In: specs that say how arrays lie in one piece of memory; out: one parameter for that memory,
and the arguments as views of it, so that every part of the compiler sees who reads what whom has written.

    f(x[1:], x[:-1])  -->  memory: float64[n + 1];  a[i] is memory[i + 1], b[i] is memory[i]
Where an array starts and how long its steps are is a number of each call.  Steps that are short are compiled in, behind
a guard, since only then are the places affine; so is where arrays start, in the first version.
"""

from __future__ import annotations

from weft.frontend import arrays
from weft.frontend.emit import Emitter
from weft.frontend.small import small_axes
from weft.frontend.specs import MemberSpec, MemorySpec
from weft.frontend.values import Array, Index
from weft.ir import index as ix
from weft.ir.expr import ONE, Expr, Op, integer
from weft.ir.program import Buffer, Check, Role
from weft.ir.types import BOOL, ScalarType
from weft.records import dataclass

#: Longer steps are numbers of the call.
_LONGEST_STEP = 16
#: Arrays that start further in than this start at a number of the call.
_LARGEST_START = 8


@dataclass(frozen=True)
class Memory:
    """The memory of several arguments: its buffer, all its parameters, and the arguments as views, by their numbers."""

    spec: MemorySpec
    params: tuple[str, ...]
    views: dict[int, Array]


def declare(emitter: Emitter, spec: MemorySpec) -> Memory:
    """The parameters of a memory; they come behind those of the arguments."""
    buffer = _buffer(emitter, spec)
    params = [buffer.name]
    views: dict[int, Array] = {}
    for member in spec.members:
        views[member.argument] = _view(emitter, buffer, member, params)
    return Memory(spec, tuple(params), views)


def _buffer(emitter: Emitter, spec: MemorySpec) -> Buffer:
    unique = emitter.fresh("memory")
    emitter.taken.discard(unique)  # the sizes are named after the buffer
    shape = tuple(emitter.size_symbol(unique, axis, extent) for axis, extent in enumerate(spec.shape))
    buffer = emitter.declare("memory", ScalarType(spec.dtype), shape, Role.PARAM, spec.layout)
    assert buffer.name == unique
    return buffer


def _view(emitter: Emitter, buffer: Buffer, member: MemberSpec, params: list[str]) -> Array:
    """One argument, in the order in which the call brings its numbers: start, shape, steps."""
    title = f"{buffer.name}_{member.argument}"

    def number(name: str, value: int, constant: bool) -> Expr:
        symbol = emitter.argument_symbol(f"{title}_{name}", value)
        params.append(symbol.name)
        if not constant:
            return symbol
        test = Op("eq", (symbol, integer(value)), BOOL)
        emitter.guards.append(Check((), test, "RuntimeError", "", (), emitter.span))
        return integer(value)

    small = emitter.decisions.small
    short = small_axes(member.shape) if small else frozenset()
    start = [number(f"start{at}", value, small and value <= _LARGEST_START) for at, value in enumerate(member.start)]
    shape = [number(f"n{at}", extent, member.ones[at] or at in short) for at, extent in enumerate(member.shape)]
    steps = [number(f"step{at}", step, abs(step) <= _LONGEST_STEP) for at, step in enumerate(member.steps)]
    _bound(emitter, buffer, member, start, shape, steps)

    def index(at: Index) -> Index:
        place = list(start)
        for position, step, axis in zip(at, steps, member.axes):
            place[axis] = ix.add(place[axis], ix.mul(step, position))
        return tuple(place)

    made = arrays.view(buffer, tuple(shape), index, argument=member.argument)
    return made if member.writeable else arrays.read_only(made)


def _bound(
    emitter: Emitter, buffer: Buffer, member: MemberSpec, start: list[Expr], shape: list[Expr], steps: list[Expr]
) -> None:
    """What is known of the numbers of each call: no array is empty, and all of it lies in the memory."""
    least, most = list(start), list(start)
    for extent, step, sample, axis in zip(shape, steps, member.steps, member.axes):
        emitter.assure(ix.sub(extent, ONE), "RuntimeError")
        end = most if sample > 0 else least
        end[axis] = ix.add(end[axis], ix.mul(step, ix.sub(extent, ONE)))
    for low, high, extent in zip(least, most, buffer.shape):
        emitter.assure(low, "RuntimeError")
        emitter.assure(ix.sub(ix.sub(extent, ONE), high), "RuntimeError")
