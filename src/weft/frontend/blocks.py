"""Arrays that are items of containers: `frames.append(u.copy())`, `tracks[k] = positions`.  In: an array that is put
into a container; out: its number among all arrays of its type and rank, which is what the container holds.

All arrays of one type and rank share memory: their elements, one array after the other in C order, and a row for each
tells where it begins and its shape.  An array in a container never changes its size, so that nothing is ever moved but
all of it together.  A name of such an array is a view of that memory: what is written through it is seen by all who
have the number.  Parts of arguments have memory of their own, since nothing of it may be returned.

An array that has memory of its own is copied when it is put into a container.  `weft.frontend.aliasing` follows these
copies as it does those of variables: as long as neither is written in place nobody can tell; otherwise the names of the
array are noted (`Decisions.escaping`), and in the next build it is in the shared memory from where it is made.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from weft.frontend import arith, arrays, growing, revisions
from weft.frontend.aliasing import Conflict, Given
from weft.frontend.arrays import Plan
from weft.frontend.building import Building
from weft.frontend.emit import Emitter, Restart
from weft.frontend.growing import Cells
from weft.frontend.items import row_of
from weft.frontend.slots import arrays_in, shared_memory
from weft.frontend.values import Array, ArrayOf, ArraysOf, Heap, Index, Iterable, Value, View
from weft.frontend.writing import Variable, counter, loop, variable, when
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import ONE, ZERO, Const, Expr, Op, Read, integer
from weft.ir.program import Role
from weft.ir.types import BOOL, INT

#: Bytes of all arrays of one type and rank in containers.
_MOST_BYTES = 2**32


def make(emitter: Emitter, layout: ArrayOf) -> Heap:
    """Memory for arrays of a type and rank, without any so far."""
    cells = growing.make(emitter, "elements", [layout.type])
    emitter.array_memory |= {*cells.data, *cells.spare}
    return Heap(cells, growing.make(emitter, "arrays", [INT] * (1 + layout.rank)))


class Blocks(Building):
    """Arrays in containers."""

    #: Whether this is a function that calls itself, whose caller knows its arguments otherwise.
    lent = False

    # --- many as one ------------------------------------------------------------------------------------------------

    def stacked(self, value: Value) -> Array:
        """np.array of a list of arrays."""
        made = joined_run(self, value, lambda part: (arrays.remap(part, (ONE, *part.shape), lambda at: at[1:]), 0))
        assert made is not None
        return made

    # --- names ------------------------------------------------------------------------------------------------------

    def share_from_start(self, found: Conflict) -> None:
        """A copy in a container would be told from the array it is of: build again with that itself in there."""
        emitter = self.emitter
        concerned = {found.copy, *found.others}
        if not concerned & emitter.array_memory:
            return
        outside = concerned - emitter.array_memory
        if any(emitter.buffers[name].role is Role.PARAM for name in outside):
            return
        sources = outside or set(emitter.copied_names)
        names = {place for name in sources for place in emitter.copied_names.get(name, ())}
        if not names <= emitter.decisions.escaping:
            revisions.escape(self, names)


def renumbered_array(builder: Building, value: Array, row: Expr) -> Array:
    layout = array_layout(builder, value)
    lasts = isinstance(row, Read) and builder.emitter.is_written_once(row.buffer)
    return array_at(builder, layout, row) if lasts else array_now(builder, layout, row)


def array_at(builder: Building, layout: ArrayOf, number: Expr) -> Array:
    """The array of this number, whatever becomes of the variable that tells which it is."""
    emitter, heap = builder.emitter, builder.heap(ArraysOf(layout))
    number = emitter.snapshot(number, "number")
    start, *shape = (emitter.snapshot(Read(name, (number,), INT), "part") for name in heap.rows.data)
    return _placed(heap, layout, number, start, tuple(shape))


def array_now(builder: Building, layout: ArrayOf, number: Expr) -> Array:
    """The array of the number that a variable has when it is looked at."""
    heap = builder.heap(ArraysOf(layout))
    start, *shape = (Read(name, (number,), INT) for name in heap.rows.data)
    return _placed(heap, layout, number, start, tuple(shape))


def array_layout(builder: Building, value: Array) -> ArrayOf:
    """The type of an array in a container: as what it is there, or would be put there."""
    buffer = None if value.view is None else value.view.buffer
    for kind, heap in builder.heaps.items():
        if isinstance(kind, ArraysOf) and buffer == heap.cells.data[0] and row_of(value) is not None:
            return kind.of
    whole = value.view is not None and value.view.whole
    lent = not whole and buffer is not None and builder.emitter.buffers[buffer].role is Role.PARAM
    return ArrayOf(value.type, value.rank, lent)


def array_number(builder: Building, layout: ArrayOf, value: Array) -> Expr:
    """The number of an array among those of its type and rank; one with memory of its own is copied."""
    known, view = row_of(value), value.view
    if known is not None and array_layout(builder, value) == layout:
        return known
    if view is None or not view.whole or builder.emitter.buffers[view.buffer].role is not Role.PARAM or builder.lent:
        return new_block(builder, layout, value)
    if builder.given_arrays.get(view.buffer, (layout, ""))[0] != layout:
        return new_block(builder, layout, value)
    if view.buffer not in builder.given_arrays:
        builder.emitter.decisions.placed[view.buffer] = layout
        raise Restart
    number = Variable(builder.emitter, builder.given_arrays[view.buffer][1], INT)
    with when(builder.emitter, Op("lt", (number.value, ZERO), BOOL)):
        number.set(new_block(builder, layout, value, tracked=True))
    return builder.emitter.snapshot(Op("add", (number.value, ZERO), INT), "number")


def number_arguments(builder: Building) -> None:
    """No argument is in a container when the program begins."""
    for name, layout in builder.emitter.decisions.placed.items() if not builder.lent else ():
        number = variable(builder.emitter, f"{name}_number", integer(-1))
        builder.given_arrays[name] = layout, number.name


def new_block(builder: Building, layout: ArrayOf, value: Array, tracked: bool = False) -> Expr:
    """The number of a new array with the elements of a value; `tracked`: for the caller it is the very object."""
    emitter, heap = builder.emitter, builder.heap(ArraysOf(layout))
    arrays.keepable(value, emitter)
    buffer = heap.cells.data[0]
    source = _source(builder, value)
    probe = value.element(emitter.domain(value.shape)[1])
    if buffer in walk.expr_buffers(probe):
        value = arrays.materialise(value, emitter, "block")  # it reads the memory that is written
    shape = tuple(emitter.stable(extent) for extent in value.shape)
    count = emitter.snapshot(arrays.count(shape), "count")
    _keep_small(builder, Op("add", (heap.cells.size, count), INT), layout)
    start = growing.taken_behind(emitter, heap.cells, count)
    rows = Cells(emitter, heap.rows)
    number = rows.last()
    rows.push((start, *shape))
    block, (dims, at) = emitter.blocks[-1], emitter.domain(shape)
    emitter.assign(dims, buffer, (ix.add(start, _linear(at, shape)),), value.element(at))
    emitter.note_given(block[-1], Given(buffer, source, tracked, adds=True))
    return number


def _keep_small(builder: Building, wanted: Expr, layout: ArrayOf) -> None:
    """Memory is given back at the end of the call only: a program that goes on making arrays is Python's."""
    most = _MOST_BYTES // layout.type.dtype.numpy.itemsize
    test = Op("le", (wanted, integer(most)), BOOL)
    if builder.emitter.decisions.unrepeatable:
        builder.emitter.check(test, "MemoryError", "arrays in containers of more than 4 GiB in one call")
    else:
        builder.emitter.rarely_fails(test, "arrays in containers of more than 4 GiB in one call")


def _source(builder: Building, value: Array) -> str | None:
    """The memory that NumPy would go on sharing with an array that is put into a container."""
    source = shared_memory(builder, value)
    if source is not None and builder.lent and builder.emitter.buffers[source].role is not Role.LOCAL:
        if source not in builder.emitter.array_memory:
            reason = "an array that a recursive function was given, in a container or as its result"
            raise builder.unsupported(None, reason, "add .copy()", array=value)
    if source is not None:
        builder.emitter.copied_names.setdefault(source, set()).update(_names_in(builder, source))
    return source


def _names_in(builder: Building, buffer: str) -> Iterator[tuple[int, str]]:
    """The names of arrays that lie in some memory."""
    for scope in builder._scopes():
        for name, value in scope.values.items():
            for array in arrays_in(value):
                if buffer == (array.view.buffer if array.view is not None else array.origin):
                    yield (scope.path, name)


def joined_run(builder: Building, value: Value, plan: Plan, node: ast.AST | None = None) -> Array | None:
    """The arrays of a sequence of the run time one after the other; None if it does not hold arrays."""
    run = builder.iteration(value, node)
    emitter = builder.emitter
    with emitter.capture():
        probe = run.item(ZERO)
    if not isinstance(probe, Array) or probe.is_list:
        return None
    count = emitter.snapshot(Op("add", (run.trips, ZERO), INT), "count")
    emitter.hand_back(Op("gt", (count, ZERO), BOOL), "an array made of a list that may be empty")
    first, axis = plan(_taken_array(builder, run, ZERO))
    shape = [emitter.stable(extent) for extent in first.shape]
    total = counter(emitter, "total")
    with loop(emitter, ZERO, count) as place:
        part = plan(_taken_array(builder, run, place))[0]
        for other, (own, extent) in enumerate(zip(shape, part.shape)):
            if other != axis and ix.difference(own, extent) != 0:
                emitter.hand_back(Op("eq", (own, extent), BOOL), "arrays of different shapes joined to one")
        total.set(Op("add", (total.value, arith.cast(part.shape[axis], total.of)), total.of))
    shape[axis] = emitter.snapshot(total.index, "total")
    buffer = emitter.allocate("joined", first.type, tuple(shape))
    whole = arrays.of_buffer(buffer)
    position = counter(emitter, "position")
    with loop(emitter, ZERO, count) as place:
        part = plan(_taken_array(builder, run, place))[0]
        offset = emitter.snapshot(position.index, "offset")
        extents = (*shape[:axis], part.shape[axis], *shape[axis + 1 :])
        part = Array(extents, part.type, part.element)
        arrays.store(_moved(whole, extents, axis, offset), part, emitter, fresh=True)
        position.set(Op("add", (position.value, arith.cast(part.shape[axis], position.of)), position.of))
    return whole


def _taken_array(builder: Building, run: Iterable, place: Expr) -> Array:
    part = run.item(place)
    assert isinstance(part, Array)
    return part


def packed_arrays(builder: Building, heap: Heap) -> list[Array]:
    """Where each array begins, and where the last one ends; the extents of each; the elements of all."""
    emitter = builder.emitter
    count = Cells(emitter, heap.rows).last()
    total = Cells(emitter, heap.cells).last()
    starts = emitter.allocate("starts", INT, (ix.add(count, ONE),))
    emitter.assign((), starts.name, (count,), total)
    found = [arrays.of_buffer(starts)]
    for place, name in enumerate(heap.rows.data):
        target = starts if place == 0 else emitter.allocate("extents", INT, (count,))
        dims, at = emitter.domain((count,))
        emitter.assign(dims, target.name, at, Read(name, at, INT))
        found += [arrays.of_buffer(target)] if place else []
    memory = heap.cells.data[0]
    if builder.lends_memory():
        elements = emitter.allocate("elements", emitter.buffers[memory].type, (total,))
        dims, at = emitter.domain((total,))
        emitter.assign(dims, elements.name, at, Read(memory, at, elements.type))
        emitter.note_given(emitter.blocks[-1][-1], Given(elements.name, memory, adds=True))
        return [*found, arrays.of_buffer(elements)]
    # The elements are handed over as they are: the caller makes an array of its own of each part.
    emitter.exchanged.append((memory, heap.cells.spare[0]))
    return [*found, arrays.view(emitter.buffers[memory], (total,), lambda at: at)]


def in_block(builder: Building, value: Array) -> Array:
    """An array of a name that is put into a container and written in place: in the shared memory from the start."""
    layout = array_layout(builder, value)
    return array_at(builder, layout, array_number(builder, layout, value))


def escape_together(builder: Building, names: set[str]) -> None:
    """Names that change places are all of arrays in the shared memory, or none is."""
    places = {(builder.scope.path, name) for name in names}
    known = builder.emitter.decisions.escaping
    of_arrays = all(isinstance(builder.scope.values.get(name), Array) for name in names)
    if of_arrays and places & known and not places <= known:
        revisions.escape(builder, places)


def _moved(whole: Array, shape: tuple[Expr, ...], axis: int, offset: Expr) -> Array:
    """The part of an array that begins at an offset along an axis."""
    return arrays.remap(whole, shape, lambda at: (*at[:axis], ix.add(at[axis], offset), *at[axis + 1 :]))


def _placed(heap: Heap, layout: ArrayOf, number: Expr, start: Expr, shape: tuple[Expr, ...]) -> Array:
    buffer = heap.cells.data[0]

    def index(at: Index) -> Index:
        return (ix.add(start, _linear(at, shape)),)

    held = View(buffer, index, number=number)
    return Array(shape, layout.type, lambda at: Read(buffer, index(at), layout.type), held)


def _linear(at: Index, shape: tuple[Expr, ...]) -> Expr:
    """The place of an element in C order."""
    place: Expr = at[0] if at else Const(0, INT)
    for position, extent in zip(at[1:], shape[1:]):
        place = ix.add(ix.mul(place, extent), position)
    return place
