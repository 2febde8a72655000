"""Arguments that overlap.  In: specs that say how arrays lie in one piece of memory; out: a parameter for that memory,
and the arguments as views of it, so that every part of the compiler sees who reads what another has written.

    f(x[1:], x[:-1])  -->  memory: float64[n + 1];  a[i] is memory[i + 1], b[i] is memory[i]
Where an array starts and how long its steps are is a number of each call.  Steps that are short are compiled in, behind
a guard, since only then are the places affine; so is where arrays start, in the first version.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

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

#: Arrays that start further in than this start at a number of the call.
_LARGEST_START = 8


@dataclass(frozen=True)
class Memory:
    """The memory of several arguments: its buffer, all its parameters, and the arguments as views, by their numbers."""

    spec: MemorySpec
    params: tuple[str, ...]
    views: dict[int, Array]


def declare(emitter: Emitter, spec: MemorySpec, names: Sequence[str]) -> Memory:
    """The parameters of a memory; they come behind those of the arguments, which have these names."""
    buffer = _buffer(emitter, spec)
    params = [buffer.name]
    views: dict[int, Array] = {}
    places: list[_Place] = []
    for member in spec.members:
        same = None if member.same is None else places[member.same]
        places.append(_place(emitter, buffer, member, names[member.argument], same, params))
        views[member.argument] = _view(buffer, member, places[-1])
    return Memory(spec, tuple(params), views)


@dataclass(frozen=True)
class _Place:
    """Where a view starts on each axis of the memory, its shape, and its step along each of its own axes."""

    start: tuple[Expr, ...]
    shape: tuple[Expr, ...]
    steps: tuple[Expr, ...]


def _buffer(emitter: Emitter, spec: MemorySpec) -> Buffer:
    unique = emitter.fresh("memory")
    emitter.taken.discard(unique)  # the sizes are named after the buffer
    shape = tuple(emitter.size_symbol(unique, axis, extent) for axis, extent in enumerate(spec.shape))
    buffer = emitter.declare("memory", ScalarType(spec.dtype), shape, Role.PARAM, spec.layout)
    assert buffer.name == unique
    return buffer


def _place(
    emitter: Emitter, buffer: Buffer, member: MemberSpec, title: str, same: _Place | None, params: list[str]
) -> _Place:
    """The numbers of one argument, as the call brings them; those of one with the `same` elements are equal to its."""
    small = emitter.decisions.small
    short = small_axes(member.shape) if small else frozenset()

    def hold(symbol: Expr, value: Expr) -> Expr:
        test = Op("eq", (symbol, value), BOOL)
        emitter.guards.append(Check((), test, "RuntimeError", "", (), emitter.span))
        return value

    def numbers(name: str, values: tuple[int, ...], constant: Callable[[int], bool]) -> tuple[Expr, ...]:
        found: list[Expr] = []
        for at, value in enumerate(values):
            symbol = emitter.argument_symbol(f"{title}_{name}_{at}", value)
            params.append(symbol.name)
            if same is not None:
                found.append(hold(symbol, getattr(same, name)[at]))
            else:
                found.append(hold(symbol, integer(value)) if constant(at) else symbol)
        return tuple(found)

    start = numbers("start", member.start, lambda at: small and member.start[at] <= _LARGEST_START)
    shape = numbers("shape", member.shape, lambda at: member.ones[at] or at in short)
    steps = numbers("steps", member.steps, lambda at: member.fixed[at] is not None)
    place = _Place(start, shape, steps)
    if same is None:
        _bound(emitter, buffer, member, place)
    return place


def _bound(emitter: Emitter, buffer: Buffer, member: MemberSpec, place: _Place) -> None:
    """What is known of the numbers of each call: no array is empty, and all of it lies in the memory."""
    least, most = list(place.start), list(place.start)
    for extent, step, sample, axis in zip(place.shape, place.steps, member.steps, member.axes):
        emitter.assure(ix.sub(extent, ONE), "RuntimeError")
        end = most if sample > 0 else least
        end[axis] = ix.add(end[axis], ix.mul(step, ix.sub(extent, ONE)))
    for low, high, extent in zip(least, most, buffer.shape):
        emitter.assure(low, "RuntimeError")
        emitter.assure(ix.sub(ix.sub(extent, ONE), high), "RuntimeError")


def _view(buffer: Buffer, member: MemberSpec, place: _Place) -> Array:
    def index(at: Index) -> Index:
        found = list(place.start)
        for position, step, axis in zip(at, place.steps, member.axes):
            found[axis] = ix.add(found[axis], ix.mul(step, position))
        return tuple(found)

    made = arrays.view(buffer, place.shape, index, argument=member.argument)
    return made if member.writeable else arrays.read_only(made)
