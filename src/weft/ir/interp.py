"""The reference interpreter.  In: a Program and the caller's arguments; out: the Python object the caller would get.

Slow and obviously right: it is the oracle for every pass and back end, and runs programs of every stage, from the
front end's to the lowered form.  It trusts nothing that a compiler bug could break: an access out of bounds, a read of
an element never written, a plain write that hits an element twice, or parallel iterations that touch a common element
all raise AssertionError.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from typing import Any, cast

import numpy as np

from weft.errors import exception_argument, exception_type
from weft.ir import results
from weft.ir.expr import AnyDim, Cast, Const, Dim, Domain, Expr, Limit, Op, Read, Reduce, Var
from weft.ir.ops import REDUCTIONS
from weft.ir.program import (
    HAND_BACK,
    Alloc,
    Argument,
    ArgumentOut,
    ArrayOut,
    Block,
    Break,
    Buffer,
    Call,
    Check,
    Continue,
    Derived,
    If,
    Invoke,
    Layout,
    Library,
    Loop,
    LoopKind,
    Node,
    Operand,
    Out,
    Program,
    Rebind,
    Return,
    Role,
    ScalarOut,
    SizeOf,
    Stmt,
    ViewOut,
    While,
)
from weft.ir.routines import ROUTINES, dtypes_of, run_routine, types_of
from weft.ir.scalar import IntegerOverflow, apply, convert, fold
from weft.ir.types import ScalarType, from_numpy, type_of_value
from weft.ir.walk import buffers_read, buffers_written, leaves, walk
from weft.limits import LIMIT
from weft.records import dataclass

__all__ = ["GuardFailed", "IntegerOverflow", "check_message", "run", "value_of"]

SYMBOL_LIMIT = 2**40  # what the entry guards promise of every symbol, see ir.expr
ORDERS = ("forward", "reversed", "shuffled")


class GuardFailed(Exception):
    """An entry guard does not hold: the plain Python function would run instead."""


@dataclass(frozen=True, eq=False)
class _Memory:
    """Elements, which of them were written, and the caller's object if they are an argument's."""

    data: np.ndarray[Any, Any]
    ready: np.ndarray[Any, Any]
    origin: object = None


@dataclass
class _Race:
    """Who touched what inside one PARALLEL loop: element -> the iteration that wrote it, and one that read it."""

    iteration: int = 0
    writer: dict[tuple[int, tuple[int, ...]], int] = field(default_factory=dict)
    reader: dict[tuple[int, tuple[int, ...]], int] = field(default_factory=dict)


@dataclass
class _State:
    program: Program
    vars: dict[str, int]
    memory: dict[str, _Memory]
    order: str
    random: random.Random
    races: list[_Race] = field(default_factory=list)
    functions: Mapping[str, Program] = field(default_factory=dict)
    private: dict[int, frozenset[str]] = field(default_factory=dict)  # by id of a PARALLEL loop
    keep: list[_Memory] = field(default_factory=list)  # memories a race table names by id must stay alive


Signal = Break | Continue | Return | None


def run(
    program: Program,
    arguments: Mapping[str, object],
    *,
    order: str = "forward",
    seed: int = 0,
) -> object:
    """Execute `program` on `arguments` (by the names in program.params) and give back what the caller would see.

    Raises GuardFailed if an entry guard (type, rank, layout, disjointness, a Check among the guards) does not hold,
    IntegerOverflow if a Python integer leaves 64 bits, and whatever exception a Check names.  `order` is that of the
    iterations of PARALLEL loops: "forward", "reversed" or "shuffled".
    """
    if order not in ORDERS:
        raise ValueError(f"order must be one of {ORDERS}, not {order!r}")
    state = _State(program, {}, {}, order, random.Random(seed))
    state.functions = {function.name: function for function in program.functions}
    _enter(state, arguments)
    try:
        signal = _block(state, program.body)
    except GuardFailed:
        raise  # the call is repeated: a list keeps its contents
    except BaseException:
        _copy_out(state, arguments)
        raise
    _copy_out(state, arguments)
    assert isinstance(signal, Return), f"{program.name}: control left the body without a Return"
    return _result(state, program.results[signal.result])


def value_of(expr: Expr, program: Program, variables: Mapping[str, int], scalars: Mapping[str, object]) -> Any:
    """The value of an expression over symbols, loop variables and buffers of a program: rank-0 ones, and ndarrays."""
    state = _State(program, dict(variables), {}, "forward", random.Random(0))
    for name, value in scalars.items():
        data = np.asarray(value, dtype=program.table[name].type.dtype.numpy)
        state.memory[name] = _Memory(data, np.broadcast_to(np.True_, data.shape))
    return _eval(state, expr)


def check_message(message: str, values: Iterable[object]) -> str:
    """The text of a failed Check: {0}, {1}, ... replaced by the values, every other brace kept."""
    for position, value in enumerate(values):
        message = message.replace("{" + str(position) + "}", str(value))
    return message


# --- entry ----------------------------------------------------------------------------------------------------------


def _enter(state: _State, arguments: Mapping[str, object]) -> None:
    program = state.program
    missing = [name for name in program.params if name not in arguments]
    if missing:
        raise TypeError(f"{program.name}: no argument for {', '.join(missing)}")
    written = {name for node in program.body for name in buffers_written(node)}
    for buffer in program.buffers:
        if buffer.role is Role.PARAM:
            state.memory[buffer.name] = _argument(buffer, arguments[buffer.name], buffer.name in written)
        elif buffer.role is Role.HELD:
            memory = arguments[buffer.name]
            assert isinstance(memory, _Memory), f"{buffer.name} is no variable of a caller"
            state.memory[buffer.name] = memory
        elif buffer.rank == 0:
            state.memory[buffer.name] = _allocate(buffer, (), zero=False)
    for symbol in program.symbols:
        if isinstance(symbol.source, SizeOf):
            value: object = state.memory[symbol.source.buffer].data.shape[symbol.source.axis]
        elif isinstance(symbol.source, Derived):
            value = int(_eval(state, symbol.source.value))
        else:
            assert isinstance(symbol.source, Argument)
            value = arguments[symbol.name] if symbol.name in arguments else arguments[symbol.source.name]
        if type(value) is not int or abs(value) >= SYMBOL_LIMIT:
            raise GuardFailed(f"{symbol.name} is {value!r}, not a Python integer below 2**40")
        state.vars[symbol.name] = value
    for buffer in program.buffers:
        if buffer.role is Role.PARAM and state.memory[buffer.name].data.shape != _shape(state, buffer):
            raise GuardFailed(f"{buffer.name} has shape {state.memory[buffer.name].data.shape}, not the declared one")
    for first, second in program.disjoint:
        if np.shares_memory(state.memory[first].data, state.memory[second].data):
            raise GuardFailed(f"{first} and {second} share memory")
    for guard in program.guards:
        for _ in _points(state, guard.domain):
            if not _eval(state, guard.condition):
                raise GuardFailed(_text(state, guard) or f"a guard of {program.name}")


def _argument(buffer: Buffer, value: object, written: bool) -> _Memory:
    """The memory of a parameter: the caller's own for an array, a copy for a scalar or a list."""
    if buffer.rank == 0:
        if type_of_value(value) != buffer.type:
            raise GuardFailed(f"{buffer.name} is {value!r}, not of type {buffer.type}")
        data = np.array(value, dtype=buffer.type.dtype.numpy)
        return _Memory(data, np.ones((), dtype=bool))
    if isinstance(value, list):
        data = np.array(value, dtype=buffer.type.dtype.numpy)
    elif isinstance(value, np.ndarray):
        data = value if value.ndim else value.reshape(1)  # a parameter for an array of rank 0 is of a single element
    else:
        raise GuardFailed(f"{buffer.name} is a {type(value).__name__}, not an array")
    if data.ndim != buffer.rank or from_numpy(data.dtype) is not buffer.type.dtype:
        raise GuardFailed(f"{buffer.name} is {data.dtype}, rank {data.ndim}; not {buffer.type}, rank {buffer.rank}")
    if (buffer.layout is Layout.C and not data.flags.c_contiguous) or (
        buffer.layout is Layout.F and not data.flags.f_contiguous
    ):
        raise GuardFailed(f"{buffer.name} has not the layout {buffer.layout.value}")
    if written and not data.flags.writeable:
        raise GuardFailed(f"{buffer.name} is read-only")
    return _Memory(data, np.ones(data.shape, dtype=bool), value)


def _copy_out(state: _State, arguments: Mapping[str, object]) -> None:
    """Lists were copied in: their new contents go back into the same list objects."""
    for memory in {id(m): m for m in state.memory.values()}.values():
        if isinstance(memory.origin, list) and any(memory.origin is value for value in arguments.values()):
            _fill_list(memory.origin, memory.data.tolist())


def _fill_list(target: list[Any], values: list[Any]) -> None:
    for position, value in enumerate(values):
        if isinstance(value, list):
            _fill_list(target[position], value)
        else:
            target[position] = value


# --- memory ---------------------------------------------------------------------------------------------------------


def _allocate(buffer: Buffer, shape: tuple[int, ...], zero: bool) -> _Memory:
    dtype = buffer.type.dtype
    if zero:
        return _Memory(np.zeros(shape, dtype=dtype.numpy), np.ones(shape, dtype=bool))
    # Undefined contents are made to be noticed, should they ever reach a result.
    garbage = np.nan if dtype.is_inexact else np.array(0xA5, dtype="u1").astype(dtype.numpy)
    return _Memory(np.full(shape, garbage, dtype=dtype.numpy), np.zeros(shape, dtype=bool))


def _shape(state: _State, buffer: Buffer) -> tuple[int, ...]:
    return tuple(int(_eval(state, extent)) for extent in buffer.shape)


def _locate(state: _State, name: str, index: tuple[Expr, ...]) -> tuple[_Memory, tuple[int, ...]]:
    memory = state.memory.get(name)
    assert memory is not None, f"{name} is used before its Alloc"
    place = tuple(int(_eval(state, e)) for e in index)
    return memory, _inside(name, memory, place)


def _inside(name: str, memory: _Memory, place: tuple[int, ...]) -> tuple[int, ...]:
    shape = memory.data.shape
    inside = len(place) == len(shape) and all(0 <= i < n for i, n in zip(place, shape))
    assert inside, f"{name}{list(place)} is outside shape {shape}"
    return place


def _load(state: _State, name: str, memory: _Memory, place: tuple[int, ...], of: ScalarType) -> Any:
    assert memory.ready[place], f"{name}{list(place)} is read before it is written"
    for race in state.races:
        key = (id(memory), place)
        writer = race.writer.get(key, race.iteration)
        assert writer == race.iteration, f"{name}{list(place)} is written and read by two parallel iterations"
        race.reader[key] = race.iteration
    value = memory.data[place]
    return value.item() if of.weak else value


def _store(state: _State, name: str, memory: _Memory, place: tuple[int, ...], value: Any) -> None:
    for race in state.races:
        key = (id(memory), place)
        others = {race.writer.get(key, race.iteration), race.reader.get(key, race.iteration)}
        assert others == {race.iteration}, f"{name}{list(place)} is touched by two parallel iterations and written"
        race.writer[key] = race.iteration
    memory.data[place] = value
    memory.ready[place] = True


# --- values ---------------------------------------------------------------------------------------------------------


def _eval(state: _State, expr: Expr) -> Any:
    """The value of an expression: a Python scalar if its type is weak, else a NumPy scalar."""
    if isinstance(expr, Const):
        return expr.value if expr.of.weak else expr.of.dtype.numpy.type(expr.value)
    if isinstance(expr, Limit):
        return LIMIT[expr.name].default
    if isinstance(expr, Var):
        return state.vars[expr.name]
    if isinstance(expr, Read):
        memory, place = _locate(state, expr.buffer, expr.index)
        return _load(state, expr.buffer, memory, place, expr.of)
    if isinstance(expr, Op):
        if expr.op == "select":  # lazy: the branch not chosen may be meaningless
            condition, then, orelse = expr.args
            chosen = then if _eval(state, condition) else orelse
            return convert(_eval(state, chosen), expr.of)
        return apply(expr.op, [_eval(state, a) for a in expr.args], expr.of)
    if isinstance(expr, Cast):
        return convert(_eval(state, expr.value), expr.of)
    assert isinstance(expr, Reduce)
    return fold(expr.op, (_eval(state, expr.value) for _ in _points(state, expr.dims)), expr.value.type)


def _points(state: _State, domain: Domain) -> Iterator[None]:
    """Set the variables of a domain to each of its points in turn, the last dimension fastest."""
    if not domain:
        yield
        return
    for _ in _steps(state, domain[0]):
        yield from _points(state, domain[1:])


def _steps(state: _State, dim: AnyDim) -> Iterator[None]:
    """Set the variables of one dimension to each of its values in turn, and remove them afterwards."""
    if isinstance(dim, Dim):
        for value in range(int(_eval(state, dim.lo)), int(_eval(state, dim.hi)), dim.step):
            state.vars[dim.var] = value
            yield
        state.vars.pop(dim.var, None)
        return
    pointer, coordinate = state.memory[dim.pointer], state.memory[dim.coordinate]
    parent = int(_eval(state, dim.parent))
    types = state.program.table
    begin, end = (
        int(_load(state, dim.pointer, pointer, _inside(dim.pointer, pointer, (row,)), types[dim.pointer].type))
        for row in (parent, parent + 1)
    )
    seen: set[int] = set()
    for position in range(begin, end):
        place = _inside(dim.coordinate, coordinate, (position,))
        value = int(_load(state, dim.coordinate, coordinate, place, types[dim.coordinate].type))
        assert value not in seen, f"coordinate {value} stands twice in fibre {parent} of {dim.coordinate}"
        seen.add(value)
        state.vars[dim.position], state.vars[dim.var] = position, value
        yield
    state.vars.pop(dim.position, None)
    state.vars.pop(dim.var, None)


# --- statements -----------------------------------------------------------------------------------------------------


def _block(state: _State, block: Block) -> Signal:
    for node in block:
        signal = _node(state, node)
        if signal is not None:
            return signal
    return None


def _node(state: _State, node: Node) -> Signal:
    if isinstance(node, (Stmt, Call)):
        _stmt(state, node if isinstance(node, Stmt) else node.stmt)
    elif isinstance(node, Check):
        for _ in _points(state, node.domain):
            if not _eval(state, node.condition):
                _raise(state, node)
    elif isinstance(node, Loop):
        return _loop(state, node)
    elif isinstance(node, While):
        return _while(state, node)
    elif isinstance(node, If):
        return _block(state, node.then if _eval(state, node.condition) else node.orelse)
    elif isinstance(node, (Break, Continue, Return)):
        return node
    elif isinstance(node, Alloc):
        buffer = state.program.buffer(node.buffer)
        state.memory[node.buffer] = _allocate(buffer, _shape(state, buffer), node.zero)
        if state.races:
            state.keep.append(state.memory[node.buffer])
    elif isinstance(node, Rebind):
        assert sorted(node.targets) == sorted(node.sources), "a Rebind permutes its names"
        state.memory.update({t: state.memory[s] for t, s in zip(node.targets, node.sources)})
    elif isinstance(node, Invoke):
        _invoke(state, node)
    else:
        _library(state, node)
    return None


def _stmt(state: _State, stmt: Stmt) -> None:
    """All values first, then all writes: that is what simultaneous means."""
    of = state.program.buffer(stmt.buffer).type
    assert stmt.value.type.dtype is of.dtype, f"{stmt.buffer} is {of}, the value {stmt.value.type}"
    if _copies_nothing(state, stmt):
        state.memory[stmt.buffer].ready[()] = False
        return
    writes: list[tuple[tuple[int, ...], Any]] = []
    for _ in _points(state, stmt.domain):
        value = _eval(state, stmt.value)
        _, place = _locate(state, stmt.buffer, stmt.index)
        writes.append((place, value))
    if not writes:
        return
    memory = state.memory[stmt.buffer]
    if stmt.reduce is None:
        assert len({place for place, _ in writes}) == len(writes), f"{stmt.buffer} is written twice at one element"
        for place, value in writes:
            _store(state, stmt.buffer, memory, place, value)
        return
    operation = REDUCTIONS[stmt.reduce].operation
    assert operation is not None, f"{stmt.reduce} cannot reduce into a buffer"
    for place, value in writes:
        old = _load(state, stmt.buffer, memory, place, of)
        _store(state, stmt.buffer, memory, place, apply(operation, [old, value], of))


def _copies_nothing(state: _State, stmt: Stmt) -> bool:
    """Whether a variable becomes a copy of one that has no value yet: harmless as long as nobody looks at it."""
    source = stmt.value
    if stmt.domain or stmt.index or stmt.reduce is not None or not isinstance(source, Read) or source.index:
        return False
    return source.buffer in state.memory and not state.memory[source.buffer].ready[()]


def _text(state: _State, check: Check) -> str:
    return check_message(check.message, [_eval(state, value) for value in check.values])


def _raise(state: _State, check: Check) -> None:
    if check.exception == HAND_BACK:
        raise GuardFailed(_text(state, check) or f"a test inside {state.program.name}")
    exception = exception_type(check.exception)
    assert exception is not None, check.exception
    message = _text(state, check)
    raise exception(exception_argument(exception, message)) if message else exception()


def _loop(state: _State, loop: Loop) -> Signal:
    if loop.kind is LoopKind.PARALLEL:
        return _parallel(state, loop)
    for _ in _steps(state, loop.dim):
        signal = _block(state, loop.body)
        if isinstance(signal, Break):
            break
        if isinstance(signal, Return):
            return signal
    return None


def _parallel(state: _State, loop: Loop) -> Signal:
    """Iterations in the order asked for; what is private to one is forgotten before the next."""
    dim = loop.dim
    assert isinstance(dim, Dim), "a PARALLEL loop has a dense dimension"
    if id(loop) not in state.private:
        state.private[id(loop)] = _private(state.program, loop)
    private = state.private[id(loop)]
    values = list(range(int(_eval(state, dim.lo)), int(_eval(state, dim.hi)), dim.step))
    if state.order == "reversed":
        values.reverse()
    elif state.order == "shuffled":
        state.random.shuffle(values)
    race = _Race()
    state.races.append(race)
    for value in values:
        state.vars[dim.var], race.iteration = value, value
        for name in private:
            buffer = state.program.buffer(name)
            if buffer.rank == 0:
                state.memory[name] = _allocate(buffer, (), zero=False)
                state.keep.append(state.memory[name])
            else:
                state.memory.pop(name, None)
        signal = _block(state, loop.body)
        assert signal is None or isinstance(signal, Continue), "a PARALLEL loop cannot be left early"
    state.races.pop()
    if not state.races:
        state.keep.clear()
    state.vars.pop(dim.var, None)
    return None


def _private(program: Program, loop: Loop) -> frozenset[str]:
    """Buffers of an iteration's own: allocated inside, or rank-0 locals touched nowhere else."""
    inside = list(walk(loop.body))
    allocated = {node.buffer for node in inside if isinstance(node, Alloc)}
    inner = {id(node) for node in inside}
    outside: set[str] = set()
    for node in walk(program.body):
        # A leaf outside the loop, or the bounds and conditions of a node around it.
        if id(node) not in inner:
            outside |= _touched_directly(node)
    touched = {name for node in inside for name in _touched_directly(node)}
    scalars = {
        name for name in touched - outside if program.buffer(name).role is Role.LOCAL and program.buffer(name).rank == 0
    }
    results = {out.buffer for out in program.results if isinstance(out, ScalarOut)}
    return frozenset(allocated | (scalars - results))


def _touched_directly(node: Node) -> set[str]:
    """Buffers a node touches itself, its nested blocks aside."""
    if isinstance(node, Loop):
        node = replace(node, body=())
    elif isinstance(node, While):
        node = replace(node, prelude=(), body=())
    elif isinstance(node, If):
        node = replace(node, then=(), orelse=())
    return buffers_read(node) | buffers_written(node)


def _while(state: _State, loop: While) -> Signal:
    while True:
        signal = _block(state, loop.prelude)
        if signal is None and not _eval(state, loop.condition):
            return None
        if signal is None:
            signal = _block(state, loop.body)
        if isinstance(signal, Break):
            return None
        if isinstance(signal, Return):
            return signal


def _library(state: _State, node: Library) -> None:
    """Read all inputs of one point of the batch, let NumPy compute, write all outputs."""
    table = state.program.table
    routine = ROUTINES[node.routine]
    dtypes = [[table[operand.buffer].type.dtype for operand in side] for side in (node.inputs, node.outputs)]
    types = types_of(*dtypes)
    succeeded = True
    for _ in _points(state, node.domain):
        inputs = [_gathered(state, operand) for operand in node.inputs]
        shapes = [tuple(len(_values(state, dim)) for dim in operand.dims) for operand in node.outputs]
        outputs = [np.empty(shape, dtype.numpy) for shape, dtype in zip(shapes, dtypes_of(types)[1])]
        succeeded &= run_routine(node.routine, types, inputs, outputs)
        for place in routine.overwrites:
            _scattered(state, node.inputs[place], inputs[place])
        for operand, values in zip(node.outputs, outputs):
            _scattered(state, operand, values)
    if node.status is not None:
        _store(state, node.status, state.memory[node.status], (), succeeded)


def _invoke(state: _State, node: Invoke) -> None:
    """A program of its own on views of this one's memory."""
    function = state.functions[node.function]
    given: dict[str, object] = {}
    held: dict[str, str] = {}
    for name, value in zip(function.params, node.arguments):
        if name in function.table and function.table[name].role is Role.HELD:
            assert isinstance(value, Operand)
            held[value.buffer] = name
            given[name] = state.memory[value.buffer]
        else:
            given[name] = _seen(state, value) if isinstance(value, Operand) else _eval(state, value)
    inner = _State(function, {}, {}, state.order, state.random, functions=state.functions)
    _enter(inner, given)
    signal = _block(inner, function.body)
    assert isinstance(signal, Return), f"{function.name}: control left the body without a Return"
    numbers = [leaf.buffer for leaf in leaves(function.results[signal.result]) if isinstance(leaf, ScalarOut)]
    for target, name in zip(node.results, numbers):
        value = _load(inner, name, inner.memory[name], (), function.buffer(name).type)
        _store(state, target, state.memory[target], (), value)
    for buffer, name in held.items():
        state.memory[buffer] = inner.memory[name]
    for buffer in set(node.writes) - held.keys():
        state.memory[buffer].ready[...] = True  # what the function left alone is its caller's own affair


def _seen(state: _State, operand: Operand) -> np.ndarray[Any, Any]:
    """An operand as a view of its buffer."""
    data = state.memory[operand.buffer].data
    ranges = [_values(state, dim) for dim in operand.dims]
    shape = tuple(map(len, ranges))
    if 0 in shape:
        return np.empty(shape, data.dtype)

    def place(axis: int | None) -> list[int]:
        """The index of the first element, or of the next one along an axis."""
        point = {dim.var: r[k == axis] for k, (dim, r) in enumerate(zip(operand.dims, ranges))}
        saved, state.vars = state.vars, {**state.vars, **point}
        index = [int(_eval(state, e)) for e in operand.index]
        state.vars = saved
        return list(_inside(operand.buffer, state.memory[operand.buffer], tuple(index)))

    start = place(None)
    strides = [
        sum((new - old) * stride for new, old, stride in zip(place(axis), start, data.strides)) if extent > 1 else 0
        for axis, extent in enumerate(shape)
    ]
    return np.lib.stride_tricks.as_strided(data[tuple(slice(k, None) for k in start)], shape, strides)


def _values(state: _State, dim: AnyDim) -> range:
    assert isinstance(dim, Dim), "a routine takes dense operands"
    return range(int(_eval(state, dim.lo)), int(_eval(state, dim.hi)), dim.step)


def _gathered(state: _State, operand: Operand) -> np.ndarray[Any, Any]:
    """An operand as an array of its own."""
    of = state.program.buffer(operand.buffer).type
    shape = tuple(len(_values(state, dim)) for dim in operand.dims)
    values = []
    for _ in _points(state, operand.dims):
        memory, place = _locate(state, operand.buffer, operand.index)
        values.append(_load(state, operand.buffer, memory, place, of))
    return np.array(values, dtype=of.dtype.numpy).reshape(shape)


def _scattered(state: _State, operand: Operand, values: np.ndarray[Any, Any]) -> None:
    flat = iter(values.ravel())
    for _ in _points(state, operand.dims):
        memory, place = _locate(state, operand.buffer, operand.index)
        _store(state, operand.buffer, memory, place, next(flat))


# --- results --------------------------------------------------------------------------------------------------------


def _result(state: _State, out: Out) -> object:
    return cast(object, results.assembled(out, lambda leaf: _leaf(state, leaf)))


def _leaf(state: _State, out: Out) -> object:
    if isinstance(out, ArgumentOut):
        raise NotImplementedError("the objects of a call are not part of a program")
    assert isinstance(out, (ScalarOut, ArrayOut, ViewOut))
    memory = state.memory[out.buffer]
    if isinstance(out, ScalarOut):
        return cast(object, _load(state, out.buffer, memory, (), state.program.buffer(out.buffer).type))
    if isinstance(out, ArrayOut):
        if memory.origin is not None:
            return memory.origin
        if not out.as_list:
            return memory.data
        return results.listed(memory.data, state.program.buffer(out.buffer).type.weak)

    def number(expr: Expr, at: Mapping[str, int]) -> int:
        state.vars.update(at)
        return int(_eval(state, expr))

    return results.view(memory.data, out, number)
