"""Messages in compiled code.  In: calls of `weft.comm` while a function is built; out: `Library` nodes, and what runs
when a kernel meets one: a loop as NumPy's generalised ufuncs have them, which calls mpi4py on views of its operands.

    number, order = send_d1(a[0, :], target, tag, order)        a message begins; nobody may change a[0, :]
    a[-1, :], number, order = receive_d1(source, tag, order)    what arrives is not there yet
    a[-1, :], order = wait_s_d1_r_d1(number, a[0, :], a[-1, :], order)

All messages read and write one number, `order`, an element of an array outside of the function: so they stay in their
order, and a call that sends some is never repeated.  A wait reads all arrays that messages were started with before it,
and writes those that are received into: what uses them stays behind it, what does not may pass it.
"""

from __future__ import annotations

import ctypes
import functools
import re
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from weft.cluster import comm
from weft.errors import MessageFailed, Unsupported
from weft.frontend import arith, arrays, libraries
from weft.frontend.emit import Emitter
from weft.frontend.knowledge import Bound, native
from weft.frontend.values import Array, Maybe, Object, Scalar, Struct, Value, describe
from weft.ir.expr import ZERO, Op, Read
from weft.ir.program import Alloc, Library, Node, Operand, Role
from weft.ir.routines import MESSAGES, ROUTINES, Routine
from weft.ir.types import BOOL, INT, DType
from weft.records import dataclass

_WHOLE = DType.I64.numpy.char
_DIMENSIONS = "abcdefgh"
#: Operations of ranks by their numbers.
_OPERATIONS = tuple(comm._OPERATIONS)


@dataclass(frozen=True)
class Shape:
    """An operand in the name of a routine: its element type and rank."""

    letter: str
    rank: int

    @property
    def text(self) -> str:
        return f"{self.letter}{self.rank}"

    def core(self, number: int) -> str:
        return "(" + ",".join(f"{_DIMENSIONS[axis]}{number}" for axis in range(self.rank)) + ")"


_NUMBER = Shape(_WHOLE, 0)


def _routine(name: str, inputs: Sequence[Shape], outputs: Sequence[Shape], ties: Sequence[int] = ()) -> str:
    """A routine of these operands, made once; output k has the extents of input ties[k]."""
    places = [*range(len(inputs)), *(ties[k] if k < len(ties) else len(inputs) + k for k in range(len(outputs)))]
    cores = [shape.core(place) for shape, place in zip((*inputs, *outputs), places)]
    signature = f"{','.join(cores[: len(inputs)])}->{','.join(cores[len(inputs) :])}"
    types = "->".join("".join(shape.letter for shape in side) for side in (inputs, outputs))
    title = f"message_{name}"
    ROUTINES[title] = Routine(name, MESSAGES, signature, (types,))
    return title


# --- while a function is built ----------------------------------------------------------------------------------------


@dataclass
class _Messages:
    """What a function has started so far, each with the block where that was, and the outermost loops in which it has
    waited."""

    sent: list[tuple[Array, list[Node]]]
    received: list[tuple[Array, list[Node]]]
    waited: list[Any]


_of: weakref.WeakKeyDictionary[Emitter, _Messages] = weakref.WeakKeyDictionary()


def _messages(emitter: Emitter) -> _Messages:
    return _of.setdefault(emitter, _Messages([], [], []))


def _order(call: Bound) -> Operand:
    """The number that keeps messages in their order."""
    value = call.need("chain")
    assert isinstance(value, Array) and value.view is not None
    call.builder.emitter.changed(value.view.buffer)
    return Operand(value.view.buffer, (), value.view.index((ZERO,)))


def _number(call: Bound, name: str) -> Operand:
    value = call.need(name)
    if not isinstance(value, Scalar) or not value.type.dtype.is_integer:
        raise Unsupported(call.builder.emitter.span, f"a message whose {name} is {describe(value)}", "pass an integer")
    return _operand(libraries._scalar(value.expr, DType.I64, call.builder.emitter), call.builder.emitter)


def _operand(array: Array, emitter: Emitter) -> Operand:
    return libraries._operand(array, (), emitter)


def _array(call: Bound, name: str, written: bool) -> Array:
    """An array of a message: in its place, or, to be sent, a copy of what has none."""
    emitter, value = call.builder.emitter, call.need(name)
    if not isinstance(value, Array) or value.is_list:
        raise Unsupported(emitter.span, f"TypeError: a message that is {describe(value)}", "send arrays")
    if not libraries.is_strided(value):
        if written:
            raise Unsupported(emitter.span, "a message received into a value that is not an array in memory")
        value = libraries.in_memory(value, value.type.dtype, emitter, "message")
    if written:
        assert value.view is not None
        emitter.changed(value.view.buffer)
    return value


def _shape(array: Array) -> Shape:
    return Shape(array.type.dtype.numpy.char, array.rank)


def _emit(call: Bound, routine: str, inputs: Sequence[Operand], outputs: Sequence[Operand]) -> None:
    """The node, and what it has raised."""
    emitter = call.builder.emitter
    status = emitter.declare("succeeded", BOOL).name
    emitter.emit(Library(routine, (), tuple(inputs), tuple(outputs), status, emitter.span))
    emitter.check(Read(status, (), BOOL), "MessageFailed")


def _started(call: Bound) -> None:
    """Messages that are started behind a wait in the same loop may be waited for in its next round."""
    emitter = call.builder.emitter
    outer = emitter.blocks[1] if len(emitter.blocks) > 1 else None
    if outer is not None and any(outer is known for known in _messages(emitter).waited):
        raise Unsupported(emitter.span, "a message that is started behind a wait in the same loop", "start all first")


def _token(call: Bound) -> tuple[Operand, Value]:
    emitter = call.builder.emitter
    made = emitter.declare("message", INT)
    return Operand(made.name, (), ()), Scalar(Read(made.name, (), INT))


@native(comm._send, parameters="array target tag chain", name="weft.comm.Isend")
def _send(call: Bound) -> Value:
    _started(call)
    array = _array(call, "array", False)
    routine = _routine(f"send_{_shape(array).text}", (_shape(array), _NUMBER, _NUMBER, _NUMBER), (_NUMBER, _NUMBER))
    order, (token, value) = _order(call), _token(call)
    given = (_operand(array, call.builder.emitter), _number(call, "target"), _number(call, "tag"), order)
    _emit(call, routine, given, (token, order))
    _messages(call.builder.emitter).sent.append((array, call.builder.emitter.blocks[-1]))
    return value


@native(comm._receive, parameters="array source tag chain", name="weft.comm.Irecv")
def _receive(call: Bound) -> Value:
    _started(call)
    array = _array(call, "array", True)
    routine = _routine(f"receive_{_shape(array).text}", (_NUMBER,) * 3, (_shape(array), _NUMBER, _NUMBER))
    order, (token, value) = _order(call), _token(call)
    given = (_number(call, "source"), _number(call, "tag"), order)
    _emit(call, routine, given, (_operand(array, call.builder.emitter), token, order))
    _messages(call.builder.emitter).received.append((array, call.builder.emitter.blocks[-1]))
    return value


@native(comm._wait, parameters="number chain", name="weft.comm.Waitall")
def _wait(call: Bound) -> Value:
    emitter = call.builder.emitter
    known = _messages(emitter)
    if len(emitter.blocks) > 1:
        known.waited.append(emitter.blocks[1])
    received, sent = (_distinct([_seen(*each, emitter) for each in part]) for part in (known.received, known.sent))
    inputs = (_NUMBER, *map(_shape, sent), *map(_shape, received), _NUMBER)
    texts = [*(f"s{_shape(a).text}" for a in sent), *(f"r{_shape(a).text}" for a in received)]
    ties = tuple(1 + len(sent) + k for k in range(len(received)))
    routine = _routine("_".join(("wait", *texts)), inputs, (*map(_shape, received), _NUMBER), ties)
    order = _order(call)
    number = _number(call, "number")
    given = [_operand(array, emitter) for array in (*sent, *received)]
    for array in received:
        assert array.view is not None
        emitter.changed(array.view.buffer)
    _emit(call, routine, (number, *given, order), (*(_operand(array, emitter) for array in received), order))
    return Object(None)


def _seen(array: Array, block: list[Node], emitter: Emitter) -> Array:
    """The array of a message as a wait names it: what was started in a loop or branch that has ended may be anywhere.

    for k in range(n): r[k] = Isend(x[k], k)
    Waitall(r)                                    -->     wait (all of x)
    """
    if any(block is other for other in emitter.blocks):
        return array
    assert array.view is not None
    buffer = emitter.buffers[array.view.buffer]
    made_here = any(isinstance(node, Alloc) and node.buffer == buffer.name for each in emitter.blocks for node in each)
    if buffer.role is not Role.PARAM and not made_here:
        what = "a wait for the message of an array that was made in a loop or branch before it"
        raise Unsupported(emitter.span, what, "wait in the loop, or make the array before it")
    return arrays.of_buffer(buffer)


def _by_definition(function: Any, parameters: str) -> None:
    """What users call is its definition over the nodes, at the user's own line."""

    @native(function, parameters=parameters, name=f"weft.comm.{function.__name__}")
    def build(call: Bound) -> Value:
        return call.builder.expand(function, call.given)


for _function, _parameters in (
    (comm.Isend, "array target tag"),
    (comm.Irecv, "array source tag"),
    (comm.Send, "array target tag"),
    (comm.Recv, "array source tag"),
    (comm.Bcast, "array root"),
    (comm.Allreduce, "array op"),
    (comm.Reduce, "array op root"),
    (comm.Scatter, "array part root"),
    (comm.Gather, "part root"),
):
    _by_definition(_function, _parameters)


@native(comm.Waitall, parameters="requests", name="weft.comm.Waitall")
def _wait_for_all(call: Bound) -> Value:
    many = isinstance(call.need("requests"), Struct)
    return call.builder.expand(comm._wait_for_numbers if many else comm._wait_for_each, call.given)


def _distinct(found: Sequence[Array]) -> list[Array]:
    """Each array once."""
    kept: dict[Any, Array] = {}
    for array in found:
        assert array.view is not None
        at = tuple(Read(f"?{axis}", (), INT) for axis in range(array.rank))
        kept.setdefault((array.view.buffer, array.shape, array.view.index(at)), array)
    return list(kept.values())


@native(comm._bcast, parameters="array root chain", name="weft.comm.Bcast")
def _bcast(call: Bound) -> Value:
    array = _array(call, "array", True)
    shape = _shape(array)
    routine = _routine(f"bcast_{shape.text}", (shape, _NUMBER, _NUMBER), (shape, _NUMBER), (0,))
    order, operand = _order(call), _operand(array, call.builder.emitter)
    again = _operand(array, call.builder.emitter)
    _emit(call, routine, (operand, _number(call, "root"), order), (again, order))
    return Object(None)


@native(comm._combine, parameters="array op chain", name="weft.comm.Allreduce")
def _combine(call: Bound) -> Value:
    return _combined(call, "combine")


@native(comm._reduce, parameters="array op root chain", name="weft.comm.Reduce")
def _reduce(call: Bound) -> Value:
    return _at(call, _combined(call, "reduce", _number(call, "root")))


def _at(call: Bound, made: Array) -> Value:
    """An array that only one rank gets: None elsewhere."""
    here, root = _asked(call, "rank"), call.need("root")
    assert isinstance(here, Scalar) and isinstance(root, Scalar)
    there = Op("eq", (here.expr, arith.cast(root.expr, INT)), BOOL)
    return Maybe(call.builder.emitter.snapshot(there, "is_root"), made)


def _combined(call: Bound, what: str, *numbers: Operand) -> Array:
    emitter, op = call.builder.emitter, call.need("op")
    array = _array(call, "array", False)
    if not isinstance(op, Object) or op.value not in _OPERATIONS or array.type.dtype.is_complex:
        raise Unsupported(emitter.span, "ranks that combine arrays by an operation that is not known here")
    shape = _shape(array)
    made = arrays.of_buffer(emitter.allocate("combined", array.type, array.shape))
    given = (shape, *(_NUMBER for _ in numbers), _NUMBER)
    routine = _routine(f"{what}{op.value}_{shape.text}", given, (shape, _NUMBER), (0,))
    order = _order(call)
    _emit(call, routine, (_operand(array, emitter), *numbers, order), (_operand(made, emitter), order))
    return made


@native(comm._scatter, parameters="array part root chain", name="weft.comm.Scatter")
def _scatter(call: Bound) -> Value:
    emitter = call.builder.emitter
    array, part = _array(call, "array", False), _array(call, "part", True)
    shapes = _shape(array), _shape(part)
    name = f"scatter_{shapes[0].text}_{shapes[1].text}"
    routine = _routine(name, (shapes[0], _NUMBER, _NUMBER), (shapes[1], _NUMBER))
    order = _order(call)
    given = (_operand(array, emitter), _number(call, "root"), order)
    _emit(call, routine, given, (_operand(part, emitter), order))
    return Object(None)


@native(comm._gather, parameters="part root chain", name="weft.comm.Gather")
def _gather(call: Bound) -> Value:
    emitter = call.builder.emitter
    part = _array(call, "part", False)
    count = _asked(call, "size")
    assert isinstance(count, Scalar)
    made = arrays.of_buffer(emitter.allocate("gathered", part.type, (count.expr, *part.shape)))
    shapes = _shape(part), _shape(made)
    name = f"gather_{shapes[0].text}_{shapes[1].text}"
    routine = _routine(name, (shapes[0], _NUMBER, _NUMBER), (shapes[1], _NUMBER))
    order = _order(call)
    given = (_operand(part, emitter), _number(call, "root"), order)
    _emit(call, routine, given, (_operand(made, emitter), order))
    return _at(call, made)


@native(comm.rank, parameters="", name="weft.comm.rank")
def _rank(call: Bound) -> Value:
    return _asked(call, "rank")


@native(comm.size, parameters="", name="weft.comm.size")
def _size(call: Bound) -> Value:
    return _asked(call, "size")


def _asked(call: Bound, what: str) -> Value:
    """A number of this process: compiled code is kept for all ranks."""
    emitter = call.builder.emitter
    routine = _routine(what, (_NUMBER,), (_NUMBER,))
    made = emitter.declare(what, INT)
    nothing = _operand(libraries._scalar(ZERO, DType.I64, emitter), emitter)
    _emit(call, routine, (nothing,), (Operand(made.name, (), ()),))
    return Scalar(Read(made.name, (), INT))


# --- while a kernel runs ----------------------------------------------------------------------------------------------

_Sizes = ctypes.POINTER(ctypes.c_ssize_t)
_Loop = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), _Sizes, _Sizes, ctypes.c_void_p)
_FE_INVALID = 1


@dataclass(frozen=True)
class _Operand:
    """Where a loop finds an operand: the first of its extents and of its strides."""

    dtype: Any
    rank: int
    extents: int
    strides: int

    def view(self, place: int, sizes: Any, steps: Any) -> Any:
        shape = tuple(sizes[self.extents : self.extents + self.rank])
        strides = tuple(steps[self.strides : self.strides + self.rank])
        if not all(shape):
            return np.empty(shape, self.dtype)
        # NumPy wants the memory that its strides lead to, from the lowest address on.
        spans = [(extent - 1) * stride for extent, stride in zip(shape, strides)]
        low, high = sum(min(span, 0) for span in spans), sum(max(span, 0) for span in spans)
        memory = (ctypes.c_char * (high - low + self.dtype.itemsize)).from_address(place + low)
        return np.ndarray(shape, self.dtype, memory, -low, strides)


class _Call:
    """The operands of one call of a loop: numbers, and arrays as views."""

    def __init__(self, operands: Sequence[_Operand], places: Any, sizes: Any, steps: Any) -> None:
        self.operands, self.places, self.sizes, self.steps = operands, places, sizes, steps

    def number(self, at: int) -> int:
        return ctypes.c_int64.from_address(self.places[at]).value

    def give(self, at: int, value: int) -> None:
        ctypes.c_int64.from_address(self.places[at]).value = value

    def array(self, at: int) -> Any:
        return self.operands[at].view(self.places[at], self.sizes, self.steps)

    def settle(self, given: int, made: int) -> None:
        """An array that is changed in place, wherever its new contents are to be."""
        if self.places[given] != self.places[made]:
            self.array(made)[...] = self.array(given)


@functools.cache
def loop(name: str, types: str) -> int:
    """The address of what a kernel calls for the routine of a name; it stays."""
    operands = _operands(name, types)
    fenv = ctypes.CDLL(None)
    act = _action(name, len(types.split("->")[0]))

    def run(places: Any, sizes: Any, steps: Any, data: Any) -> None:
        try:
            act(_Call(operands, places, sizes, steps))
            fenv.feclearexcept(_FE_INVALID)
        except BaseException as problem:  # it is raised again where the kernel has ended
            MessageFailed.met[:] = [problem]
            fenv.feraiseexcept(_FE_INVALID)

    made = _Loop(run)
    _kept.append(made)
    return ctypes.cast(made, ctypes.c_void_p).value or 0


def _action(name: str, count: int) -> Callable[[_Call], None]:
    """What a routine of `count` inputs does."""
    what, *parts = name.split("_")
    order = comm._ORDER
    if what == "send":
        return lambda call: call.give(count, comm._send(call.array(0), call.number(1), call.number(2), order))
    if what == "receive":
        return lambda call: call.give(
            count + 1, comm._receive(call.array(count), call.number(0), call.number(1), order)
        )
    if what == "wait":
        first = 1 + sum(part.startswith("s") for part in parts)
        pairs = [(first + k, count + k) for k in range(len(parts) + 1 - first)]

        def wait(call: _Call) -> None:
            comm._wait(call.number(0), order)
            for given, made in pairs:
                call.settle(given, made)

        return wait
    if what == "bcast":

        def bcast(call: _Call) -> None:
            call.settle(0, count)
            comm._bcast(call.array(count), call.number(1), order)

        return bcast
    if what == "scatter":
        return lambda call: comm._scatter(call.array(0), call.array(count), call.number(1), order)
    if what == "gather" or what.startswith("reduce"):

        def collect(call: _Call) -> None:
            part, root = call.array(0), call.number(1)
            made = comm._gather(part, root, order) if what == "gather" else comm._reduce(part, what[6:], root, order)
            if made is not None:
                call.array(count)[...] = made

        return collect
    if what.startswith("combine"):

        def combine(call: _Call) -> None:
            call.array(count)[...] = comm._combine(call.array(0), what.removeprefix("combine"), order)

        return combine
    return lambda call: call.give(count, comm.rank() if what == "rank" else comm.size())


_kept: list[Any] = []  # kernels hold their addresses


def _ranks(name: str, types: str) -> list[int]:
    """The ranks of the operands of a routine, which its name tells."""
    what, *parts = name.split("_")
    shapes = [int(re.sub(r"\D", "", part[-1:])) for part in parts]
    inputs, outputs = (len(side) for side in types.split("->"))
    if what == "wait":
        received = [rank for rank, part in zip(shapes, parts) if part.startswith("r")]
        return [0, *shapes, 0, *received, 0]
    if what == "receive":
        return [0, 0, 0, shapes[0], 0, 0]
    if not parts:
        return [0] * (inputs + outputs)
    first = [shapes[0]] + [0] * (inputs - 1)
    return first + ([0] * outputs if what == "send" else [shapes[-1], *[0] * (outputs - 1)])


def _operands(name: str, types: str) -> list[_Operand]:
    """The operands of a routine: extents of one name are told once, in the order in which they appear."""
    what, *parts = name.split("_")
    letters, count = types.replace("->", ""), len(types.split("->")[0])
    received = [place for place, part in enumerate(parts) if part.startswith("r")]
    found: list[_Operand] = []
    at, inner = 1, len(letters)
    for place, (letter, rank) in enumerate(zip(letters, _ranks(name, types))):
        tied = None
        if what == "wait" and place >= count and rank:
            tied = found[1 + received[place - count]]
        elif what.startswith(("bcast", "combine", "reduce")) and place == count:
            tied = found[0]
        found.append(_Operand(np.dtype(letter), rank, at if tied is None else tied.extents, inner))
        at += rank if tied is None else 0
        inner += rank
    return found


def called(title: str) -> Callable[..., None]:
    """A routine as NumPy calls generalised ufuncs, for programs in Python: inputs, and arrays to fill."""
    name = title.removeprefix("message_")

    def act(*inputs: Any, out: tuple[Any, ...], signature: str) -> None:
        operands = [np.asarray(value) for value in inputs] + list(out)
        extents = [extent for operand in operands for extent in operand.shape]
        strides = [stride for operand in operands for stride in operand.strides]
        places = [operand.ctypes.data for operand in operands]
        at, found = 0, []
        for operand in operands:
            found.append(_Operand(operand.dtype, operand.ndim, at, at))
            at += operand.ndim
        _action(name, len(inputs))(_Call(found, places, extents, strides))

    return act
