"""The contract of one call.  In: a program and how its arguments arrive; out: where each argument and result lies in
the word block (`layout`, which the generated C reads) and the run time's descriptor (`version`, for the dispatcher).
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Union

from weft.analysis import cost
from weft.analysis.brief import hold_below
from weft.analysis.scopes import exchanged, written_params
from weft.errors import Unsupported, exception_type, located
from weft.ir.program import (
    Argument,
    ArgumentOut,
    ArrayOut,
    Buffer,
    Check,
    ConstOut,
    Derived,
    Invoke,
    NoneOut,
    Out,
    Program,
    Role,
    ScalarOut,
    TupleOut,
    ViewOut,
)
from weft.ir.types import INT, DType, ScalarType
from weft.ir.walk import leaves, walk
from weft.records import dataclass
from weft.runtime import descriptor as D

_LIST_KINDS: dict[DType, D.ListKind] = {
    DType.BOOL: "bool",
    DType.I64: "int",
    DType.F64: "float",
    DType.C128: "complex",
}


@dataclass(frozen=True)
class WordLayout:
    """Offsets in the word block.

    `params`: the first word of each parameter of the program; `slots`: the word that holds the new array of each result
    buffer; `returns`: for each result tree, the first word of each of its leaves (None for one without words).
    """

    params: Mapping[str, int]
    slots: Mapping[str, int]
    returns: tuple[tuple[int | None, ...], ...]
    words: int


def param_words(program: Program, name: str) -> int:
    """How many words a parameter takes."""
    buffer = program.table.get(name)
    if buffer is None:
        return 1  # an integer argument that is a symbol
    if buffer.role is Role.HELD:
        return 1  # where the variable of the caller is
    if buffer.rank:
        return 1 + 2 * buffer.rank
    return 2 if buffer.type.dtype.is_complex else 1


def _leaf_words(program: Program, out: Out) -> int:
    if isinstance(out, ScalarOut):
        return 2 if program.buffer(out.buffer).type.dtype.is_complex else 1
    return 1 + 2 * len(out.dims) if isinstance(out, ViewOut) else 0


def result_buffers(program: Program) -> tuple[str, ...]:
    """The buffers whose memory may reach the caller as a new array: those returned, and what they are exchanged for."""
    returned = {out.buffer for tree in program.results for out in leaves(tree) if isinstance(out, (ArrayOut, ViewOut))}
    groups = exchanged(program)
    for name in tuple(returned):
        returned |= groups.get(name, frozenset())
    return tuple(b.name for b in program.buffers if b.name in returned and b.role is Role.RESULT)


def layout(program: Program) -> WordLayout:
    """Where everything lies: control words, parameters in order, new arrays, the words of whichever result returns."""
    offset = D.CONTROL_WORDS
    params: dict[str, int] = {}
    for name in program.params:
        params[name] = offset
        offset += param_words(program, name)
    slots: dict[str, int] = {}
    for name in result_buffers(program):
        slots[name] = offset
        offset += 1
    returns: list[tuple[int | None, ...]] = []
    end = offset
    for tree in program.results:
        here = offset  # only one result is ever returned, so that all trees may use the same words
        places: list[int | None] = []
        for out in leaves(tree):
            words = _leaf_words(program, out)
            places.append(here if words else None)
            here += words
        returns.append(tuple(places))
        end = max(end, here)
    return WordLayout(params, slots, tuple(returns), end)


def symbol_values(program: Program, words: Sequence[int]) -> dict[str, int]:
    """The symbols of a call, from the words of its parameters (without the control words in front of them)."""
    places = layout(program).params
    values: dict[str, int] = {}
    for symbol in program.symbols:
        found: float | None
        if isinstance(symbol.source, Derived):
            found = cost.evaluate(symbol.source.value, values)
        else:
            if isinstance(symbol.source, Argument):
                place = places[symbol.source.name] - D.CONTROL_WORDS
            else:
                place = places[symbol.source.buffer] - D.CONTROL_WORDS + 1 + symbol.source.axis
            found = words[place] if place < len(words) else None
        if found is not None:
            values[symbol.name] = int(found)
    return values


# --- descriptors ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Fills:
    """An argument that fills the program's parameter `name`; `as_list`: it is a nested list, copied in (and out).

    `changed`: results say what becomes of the list.  `single`: the argument is an array of rank 0.
    """

    name: str
    as_list: bool = False
    changed: bool = False
    single: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)


@dataclass(frozen=True)
class FillsColumns:
    """A list, dict or set that fills a parameter for each column of its template."""

    names: tuple[str, ...]
    template: str
    changed: bool = False


@dataclass(frozen=True)
class FillsMemory:
    """The memory of several arguments, which fills parameters: the memory, and where each argument is in it."""

    names: tuple[str, ...]
    typenum: int
    layout: str


#: How one argument of the call is bound: to a parameter of the program, or only looked at (a constant, any object).
Binding = Union[Fills, FillsColumns, FillsMemory, D.ConstParam, D.SameAsParam, D.ObjectParam]
#: A value that is no argument (an attribute, a global, a closure cell), with how the dispatcher fetches it.
HiddenBinding = tuple[Binding, Callable[[D.DirectParam], D.HiddenParam]]


def scalar_kind(of: ScalarType) -> str:
    """The dispatcher's name for a scalar type: Python's own, or NumPy's."""
    return str(of).replace("pybool", "bool") if of.weak else f"np.{of.dtype.numpy.name}"


def _array_param(buffer: Buffer, written: bool, binding: Fills) -> D.DirectParam:
    if binding.as_list:
        return D.ListParam(_LIST_KINDS[buffer.type.dtype], buffer.rank, written, binding.changed)
    return D.ArrayParam(buffer.type.dtype.typenum, 0 if binding.single else buffer.rank, written)


def _param(program: Program, binding: Binding, written: frozenset[str]) -> D.DirectParam:
    if isinstance(binding, FillsColumns):
        return D.ContainerParam(binding.template, not written.isdisjoint(binding.names), binding.changed)
    if isinstance(binding, FillsMemory):
        return D.MemoryParam(binding.typenum, binding.layout)
    if not isinstance(binding, Fills):
        return binding
    buffer = program.table.get(binding.name)
    if buffer is None:
        return D.ScalarParam(scalar_kind(INT))
    if buffer.rank:
        return _array_param(buffer, binding.name in written, binding)
    return D.ScalarParam(scalar_kind(buffer.type))


def _check_order(program: Program, bindings: Sequence[Binding]) -> None:
    """The dispatcher packs words in the order of the call: it must be the order of the program's parameters."""
    filling = (Fills, FillsColumns, FillsMemory)
    filled = tuple(name for binding in bindings if isinstance(binding, filling) for name in binding.names)
    if filled != program.params:
        raise ValueError(f"the arguments fill {filled}, the program's parameters are {program.params}")


def _result(
    program: Program, places: WordLayout, position: Mapping[str, int], out: Out, words: Iterator[int | None]
) -> D.Result:
    if isinstance(out, TupleOut):
        items = tuple(_result(program, places, position, item, words) for item in out.items)
        if out.named:
            return D.TupleResult(items, located(out.named))
        return D.ListOfResult(items) if out.as_list else D.TupleResult(items)
    offset = next(words)
    if isinstance(out, NoneOut):
        return D.NoneResult()
    if isinstance(out, ConstOut):
        return D.ConstResult(ast.literal_eval(out.text))
    if isinstance(out, ArgumentOut):
        return D.ArgResult(out.index)
    buffer = program.buffer(out.buffer)
    if isinstance(out, ScalarOut):
        assert offset is not None
        return D.ScalarResult(scalar_kind(buffer.type), offset)
    if isinstance(out, ArrayOut):
        if buffer.role is Role.PARAM:
            return D.ArgResult(position[out.buffer])
        array = D.ArrayResult(places.slots[out.buffer])
        return D.ListResult(array, not buffer.type.weak) if out.as_list else array
    assert offset is not None
    base = position[out.buffer] if buffer.role is Role.PARAM else -1 - places.slots[out.buffer]
    return D.ViewResult(base, offset, len(out.dims))


def returns(program: Program, places: WordLayout, bindings: Sequence[Binding]) -> tuple[D.Result, ...]:
    """The result descriptors, indexed by return id."""
    filling = [(at, b) for at, b in enumerate(bindings) if isinstance(b, (Fills, FillsColumns, FillsMemory))]
    position = {name: at for at, binding in filling for name in binding.names}
    copied = [b for _, b in filling if isinstance(b, FillsColumns) or (isinstance(b, Fills) and b.as_list)]
    lists = {name for binding in copied for name in binding.names}
    found: list[D.Result] = []
    for tree, words in zip(program.results, places.returns):
        for out in leaves(tree):
            if isinstance(out, ViewOut) and out.buffer in lists:
                raise Unsupported(program.span, f"a view of the list {out.buffer!r} is returned", "return a copy of it")
        found.append(_result(program, places, position, tree, iter(words)))
    known = set(D.array_slots(tuple(found)))
    spare = tuple(D.ArrayResult(slot) for slot in places.slots.values() if slot not in known)
    # A result that is never returned makes the dispatcher release arrays that no returned result mentions.
    return (*found, D.TupleResult(spare)) if spare else tuple(found)


def source_files(program: Program) -> tuple[str, ...]:
    """The files of the lines at which a program raises, its own first; others are those of inlined functions."""
    parts = (program, *program.functions)
    nodes = (node for part in parts for node in walk(part.body) if isinstance(node, (Check, Invoke)))
    spans = (*(part.span for part in parts), *(node.span for node in nodes))
    return tuple(dict.fromkeys([program.span.file, *(span.file for span in spans if span.line > 0)]))


def exception_specs(table: Sequence[tuple[str, str]]) -> tuple[D.ExceptionSpec, ...]:
    """The kernel's exception table with the exceptions themselves."""
    specs = []
    for name, message in table:
        kind = exception_type(name)
        assert kind is not None, name
        specs.append(D.ExceptionSpec(kind, message or None))
    return tuple(specs)


def version(
    program: Program,
    places: WordLayout,
    exceptions: Sequence[tuple[str, str]],
    call: Sequence[Binding],
    hidden: Sequence[HiddenBinding] = (),
    *,
    function: int | Callable[..., object],
    location: D.SourceLocation | None = None,
    keepalive: object = None,
    exact: bool = False,
    written: frozenset[str] = frozenset(),
) -> D.Version:
    """The descriptor of a compiled program: `call` binds the function's arguments, `hidden` what follows them.

    `written`: parameters that the function writes, though the program need not: `a[:] = a` of a read-only array raises.
    """
    bindings = (*call, *(binding for binding, _ in hidden))
    _check_order(program, bindings)
    written |= written_params(program)
    return D.Version(
        params=tuple(_param(program, binding, written) for binding in call),
        returns=returns(program, places, bindings),
        function=function,
        words=places.words,
        hidden=tuple(wrap(_param(program, binding, written)) for binding, wrap in hidden),
        exceptions=exception_specs(exceptions),
        location=location,
        keepalive=keepalive,
        exact=exact,
        hold_below=hold_below(program) if isinstance(function, int) else 0,
    )
