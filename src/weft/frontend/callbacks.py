"""Functions of the host.  In: a parameter that is a function pointer, and calls of it; out: a parameter that holds an
address, and `Library` nodes that call what is there.

    def area(f: Callable[[float], float], ...): ... f(x) ...        for C hosts: double (*f)(double)

The function is taken to be one of mathematics: its result follows from its arguments alone, calls may be moved, left
out if nobody needs them, and made by several threads at once.
"""

from __future__ import annotations

from typing import Any

from weft.errors import Unsupported
from weft.frontend import arith, libraries
from weft.frontend.arrays import of_buffer
from weft.frontend.emit import Emitter
from weft.frontend.specs import FunctionSpec
from weft.frontend.values import Array, Object, Scalar, Value
from weft.ir.program import Role
from weft.ir.routines import MOST_ARGUMENTS
from weft.ir.types import FLOAT, I64
from weft.records import dataclass


@dataclass(frozen=True)
class HostFunction:
    """A function whose address is in a parameter: of so many floats, and it gives one."""

    name: str
    buffer: str
    count: int


def parameter(emitter: Emitter, name: str, kind: FunctionSpec) -> tuple[Value, str]:
    """The parameter of an address, and the function behind it."""
    if not 1 <= kind.count <= MOST_ARGUMENTS:
        reason = f"the function {name} takes {kind.count} arguments"
        raise Unsupported(emitter.span, reason, f"a host's function takes 1 to {MOST_ARGUMENTS} floats")
    buffer = emitter.declare(name, I64, (), Role.PARAM)
    emitter.params.append(buffer.name)
    emitter._written_once.add(buffer.name)
    return Object(HostFunction(name, buffer.name, kind.count)), buffer.name


def call(function: HostFunction, args: list[Value], kwargs: dict[str, Any], emitter: Emitter) -> Value:
    """The result of a call."""
    if kwargs or len(args) != function.count or not all(isinstance(value, Scalar) for value in args):
        reason = f"a call of {function.name}, a function of the host, with other arguments than {function.count} floats"
        raise Unsupported(emitter.span, reason, "call it with numbers, one element at a time")
    address = of_buffer(emitter.buffers[function.buffer])
    given = tuple(_number(value) for value in args if isinstance(value, Scalar))
    types = "l" + "d" * function.count + "->d"
    request = libraries.Request(f"callback_{function.count}", types, (), (address, *given), (("answer", ()),))
    (answer,) = libraries.call(request, emitter)
    assert isinstance(answer, Scalar)
    return Scalar(emitter.snapshot(arith.cast(answer.expr, FLOAT), "answer"))


def _number(value: Scalar) -> Array:
    """A number as an array of rank 0."""
    return Array((), FLOAT.strong, lambda at: arith.cast(value.expr, FLOAT.strong))

