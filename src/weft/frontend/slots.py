"""Variables that hold arrays and that a loop carries or branches merge.  In: values assigned to such a name; out: one
buffer that holds whichever array the name denotes, and the statements that put it there.

An array of always the same size is stored into the buffer.  If the size changes (`z = z[keep]`) it is kept in scalars,
and the buffer has a twin: the new array is made there, and then the two change places.

    z = z[keep]     -->     n = count; alloc twin; twin[k] = ...; rebind z, twin = twin, z
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import replace

from weft.errors import Unsupported
from weft.frontend import arrays, revisions
from weft.frontend.aliasing import Given, conflict
from weft.frontend.building import Building
from weft.frontend.emit import Emitter, Kept, LateArray, Restart
from weft.frontend.scope import Scope, Slot
from weft.frontend.values import Array, Keyed, Maybe, Struct, Tuple, Value, describe
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import ZERO, Const, Expr, Read
from weft.ir.index import affine
from weft.ir.program import Alloc, ArrayOut, Block, Buffer, Node, Rebind, Role, Stmt, ViewOut
from weft.ir.types import BOOL, INT

#: Each duplicate may double the code that follows.
_MOST_DUPLICATES = 5


class ArraySlots(Building):
    """Slots of arrays: opened, assigned, merged."""

    def held(self, slot: Slot, shape: tuple[Expr, ...] | None = None, is_list: bool = False) -> Array:
        """The array in a slot."""
        assert slot.buffer is not None
        return arrays.view(slot.buffer, shape or slot.buffer.shape, lambda at: at, is_list, whole=True)

    # --- opening ----------------------------------------------------------------------------------------------------

    def open_array(self, name: str, slot: Slot, value: Array) -> None:
        """The value that a name has where its slot is opened."""
        _open(self, name, slot, value)
        slot.is_list = value.is_list
        _note_branch(self, slot)

    # --- assignment -------------------------------------------------------------------------------------------------

    def made_arrays(self, value: Value) -> Value:
        """A tuple or list whose arrays are in memory: what they are computed from may change, and so may they."""
        if isinstance(value, Array) and value.view is None and value.origin is None and value.rank:
            arrays.keepable(value, self.emitter)
            return arrays.materialise(value, self.emitter, "item")
        if not isinstance(value, Tuple):
            return value
        items = tuple(map(self.made_arrays, value.items))
        return value if all(new is old for new, old in zip(items, value.items)) else replace(value, items=items)

    # --- merging ----------------------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Where paths meet, the sizes of arrays that vary are what the scalars say."""
        for name, slot in self.scope.slots.items():
            value = self.scope.values.get(name)
            if slot.sizes is None or slot.buffer is None:
                continue
            if isinstance(value, Maybe) and isinstance(value.held, Array):
                self.scope.values[name] = replace(value, held=held_now(self, name, slot))
            elif isinstance(value, Array):
                self.scope.values[name] = held_now(self, name, slot)


def apart(builder: Building, branch: tuple[int, int] | None, error: Unsupported) -> Exception:
    """What to raise where the values of two branches cannot be merged: if the statements that follow can go into
    both branches nothing needs to be merged, and the build starts again; else the error.
    """
    duplicated = builder.emitter.decisions.duplicated
    if branch is None or branch in duplicated or len(duplicated) >= _MOST_DUPLICATES:
        return error
    duplicated[branch] = None
    return Restart()


def _note_branch(builder: Building, slot: Slot) -> None:
    if slot.buffer is not None and slot.branch is not None:
        builder.emitter.branches[slot.buffer.name] = slot.branch


def _note_kept(builder: Building, name: str, slot: Slot, value: Array) -> None:
    """A variable that is an argument when its slot is opened may still be that object when it is returned."""
    view = value.view
    if view is None or not view.whole or value.is_list or slot.buffer is None:
        return
    known = builder.emitter.kept.get(view.buffer)
    is_argument = builder.emitter.buffers[view.buffer].role is Role.PARAM
    if not is_argument and known is None:
        return
    flag = builder.emitter.declare(f"{name}_kept", BOOL).name
    builder.emitter.flags.add(flag)
    param = view.buffer if known is None else known.param
    builder.emitter.kept[slot.buffer.name] = Kept(param, flag)


def _flag(builder: Building, buffer: str, value: Array) -> bool:
    """Note whether the array given to a variable is the argument it was; True if a flag says so at run time."""
    kept = builder.emitter.kept.get(buffer)
    if kept is None:
        return False
    view = value.view
    whole = view is not None and view.whole and not value.is_list
    state: Expr = Const(False, BOOL)
    tracked = False
    if view is not None and whole and view.buffer == kept.param:
        state, tracked = Const(True, BOOL), True
    elif view is not None and whole and view.buffer in builder.emitter.kept:
        other = builder.emitter.kept[view.buffer]
        if other.param == kept.param:
            state, tracked = Read(other.flag, (), BOOL), True
    builder.emitter.assign((), kept.flag, (), state)
    return tracked


def without_unread_flags(emitter: Emitter, body: Block) -> Block:
    """A flag is kept for every variable that may still be an argument; few are ever looked at."""
    if not emitter.flags:
        return body
    reads: dict[str | None, set[str]] = {}  # by flags, and by all else
    for node in walk.walk(body):
        reader = node.buffer if isinstance(node, Stmt) and node.buffer in emitter.flags else None
        read = reads.setdefault(reader, set())
        for expr in walk.node_exprs(node):
            read |= walk.expr_buffers(expr) & emitter.flags
    wanted, more = set[str](), reads.get(None, set())
    while more:
        wanted |= more
        more = set[str]().union(*(reads.get(flag, ()) for flag in more)) - wanted
    unread = emitter.flags - wanted
    for name in unread:
        del emitter.buffers[name]
    return _without_writes(body, unread)


def _without_writes(body: Block, names: set[str]) -> Block:
    left = tuple(node for node in body if not (isinstance(node, Stmt) and node.buffer in names))
    left = walk.map_block(left, lambda node: walk.map_sub_blocks(node, lambda inner: _without_writes(inner, names)))
    return body if len(left) == len(body) and all(map(operator.is_, left, body)) else left


def _open(builder: Building, name: str, slot: Slot, value: Array) -> None:
    view = value.view
    if view is not None and view.argument is not None:
        reason = f"{name} overlaps another argument, and is another array later"
        raise Unsupported(builder.emitter.span, reason, "pass arrays that do not overlap, or use another name")
    varying = builder.emitter.decisions.varying.get(slot.key)
    shape = None
    if varying is not None:
        shape = tuple(builder.emitter.stable(extent) for extent in value.shape)
        _declare_varying(builder, name, slot, value.type, shape, varying)
    elif view is not None and view.whole and exclusive(builder, name, view.buffer):
        slot.buffer = builder.emitter.buffers[view.buffer]
        builder.scope.values[name] = builder.held(slot, None, value.is_list)
        return
    else:
        slot.buffer = builder.emitter.allocate(name, value.type, value.shape)
    _note_kept(builder, name, slot, value)
    give(builder, slot, builder.held(slot, shape, value.is_list), value)
    builder.scope.values[name] = builder.held(slot, shape, value.is_list)


def open_late(builder: Building, name: str, slot: Slot) -> None:
    """A name that gets its first array inside the loop or branch: the memory must be there before."""
    late = builder.emitter.decisions.late.get(slot.key)
    if late is None:
        return
    slot.is_list = late.is_list
    known = all(symbol in builder.emitter.symbols for extent in late.shape or () for symbol in walk.free_vars(extent))
    if slot.key not in builder.emitter.decisions.varying and late.shape is not None and known:
        slot.buffer = builder.emitter.allocate(name, late.type, late.shape)
        _note_branch(builder, slot)
        return
    everything = frozenset(range(late.rank))
    varying = builder.emitter.decisions.varying.get(slot.key, everything) | everything
    _declare_varying(builder, name, slot, late.type, (ZERO,) * late.rank, varying)
    _note_branch(builder, slot)


def _declare_varying(
    builder: Building, name: str, slot: Slot, of: object, shape: tuple[Expr, ...], varying: frozenset[int]
) -> None:
    emitter = builder.emitter
    sizes: dict[int, Buffer] = {}
    declared = list(shape)
    for axis in sorted(varying):
        sizes[axis] = emitter.declare(f"{name}_n{axis}", INT)
        emitter.assign((), sizes[axis].name, (), shape[axis])
        declared[axis] = Read(sizes[axis].name, (), INT)
    slot.sizes = sizes
    slot.buffer = emitter.declare(name, of, tuple(declared))  # type: ignore[arg-type]
    slot.twin = emitter.declare(name, of, tuple(declared))  # type: ignore[arg-type]
    emitter.emit(Alloc(slot.buffer.name, False, emitter.span))
    emitter.exchanged.append((slot.buffer.name, slot.twin.name))


def copied_slot(builder: Building, value: Array) -> Array:
    """The array of a variable as it is now, for another name: a copy that stands for the array itself."""
    assert value.view is not None
    block = builder.emitter.blocks[-1]
    before = len(block)
    copy = arrays.materialise(value, builder.emitter)
    assert copy.view is not None
    for node in block[before:]:
        if isinstance(node, Stmt) and node.buffer == copy.view.buffer:
            builder.emitter.note_given(node, Given(copy.view.buffer, value.view.buffer))
            builder.emitter.slot_copies.add(copy.view.buffer)
    return copy


def exclusive(builder: Building, name: str | None, buffer: str) -> bool:
    """Whether `name` alone denotes a local buffer (None: no name does)."""
    if builder.emitter.buffers[buffer].role is Role.PARAM:
        return False
    scope: Scope | None = builder.scope
    while scope is not None:
        for other, value in scope.values.items():
            for array in arrays_in(value, of_fields=True):
                shown = array.view.buffer if array.view is not None else array.origin
                if shown == buffer and (other != name or scope is not builder.scope):
                    return False
        scope = scope.parent
    # An inlined function's caller may know the buffer under a name that is not in this chain of scopes.
    return name is None or not builder.scope.inlined


def only_list(builder: Building, name: str, buffer: str) -> bool:
    """Whether a list is nowhere but in `name`: no variable of a loop or branch that was given another's list."""
    given = builder.emitter.given.values()
    copied = any(entry.target == buffer and entry.source is not None for entry in given)
    return not copied and exclusive(builder, name, buffer)


def assign_array(builder: Building, name: str, slot: Slot, value: Array) -> None:
    current = builder.scope.values.get(name)
    if slot.buffer is None:
        note_late(builder, slot, value)
        raise Restart
    assert slot.buffer is not None
    same_kind = slot.buffer.type.dtype is value.type.dtype and value.is_list == slot.is_list
    if not same_kind or slot.buffer.rank != value.rank:
        _refuse_type(builder, name, slot, value)
    if slot.sizes is not None:
        _assign_varying(builder, name, slot, value, current if isinstance(current, Array) else None)
        return
    _hold_size(builder, slot, value)
    builder._part_from(name, slot.buffer)
    give(builder, slot, builder.held(slot, None, value.is_list), value)
    builder.scope.values[name] = builder.held(slot, None, value.is_list)


def note_late(builder: Building, slot: Slot, value: Array) -> None:
    """A variable gets its first array where its memory must have been there before."""
    lasting = all(
        form is not None and all(symbol in builder.emitter.symbols for symbol in form.names)
        for form in map(affine, value.shape)
    )
    shape = value.shape if lasting else None
    builder.emitter.decisions.late[slot.key] = LateArray(value.type, value.rank, shape, value.is_list)


def _refuse_type(builder: Building, name: str, slot: Slot, value: Array) -> None:
    assert slot.buffer is not None
    first = f"{slot.buffer.type.dtype.value} of rank {slot.buffer.rank}"
    error = Unsupported(
        builder.emitter.span,
        f"{name} changes from {first} to {describe(value)} in a loop or branch",
        "convert it before, or use another name",
    )
    raise apart(builder, slot.branch, error)


def _hold_size(builder: Building, slot: Slot, value: Array) -> None:
    """The value has the size of the slot, by a guard if need be; if not, the size varies."""
    assert slot.buffer is not None
    emitter = builder.emitter
    sizes = list(zip(slot.buffer.shape, value.shape))
    varying = [axis for axis, (own, other) in enumerate(sizes) if not emitter.likely_equal(own, other)]
    if varying or emitter.decisions.varying.get(slot.key):
        revisions.varies(builder, slot, varying)
    for own, other in sizes:
        emitter.same_size(own, other, "RuntimeError", "")


def _assign_varying(builder: Building, name: str, slot: Slot, value: Array, current: Array | None) -> None:
    emitter = builder.emitter
    assert slot.buffer is not None and slot.twin is not None and slot.sizes is not None
    fixed = [axis for axis in range(value.rank) if axis not in slot.sizes]
    if not all(emitter.likely_equal(slot.buffer.shape[axis], value.shape[axis]) for axis in fixed):
        revisions.varies(builder, slot, range(value.rank))
    for axis in fixed:
        emitter.same_size(slot.buffer.shape[axis], value.shape[axis], "RuntimeError", "")
    same = current is not None and all(
        ix.difference(emitter.resolve(a), emitter.resolve(b)) == 0 for a, b in zip(current.shape, value.shape)
    )
    builder._part_from(name, slot.buffer)
    if same and current is not None:
        give(builder, slot, builder.held(slot, current.shape, value.is_list), value)
        return
    shape = tuple(emitter.stable(extent) for extent in value.shape)
    sizes: list[Node] = [
        Stmt((), buffer.name, (), shape[axis], None, emitter.span) for axis, buffer in sorted(slot.sizes.items())
    ]
    source = _noted_source(builder, slot, value)
    tracked = _flag(builder, slot.buffer.name, value)
    if source is None and _made_in_twin(builder, slot, value, sizes):
        pass
    else:
        for node in sizes:
            emitter.emit(node)
        emitter.emit(Alloc(slot.twin.name, False, emitter.span))
        twin = arrays.view(slot.twin, shape, lambda at: at, value.is_list, whole=True)
        arrays.store(twin, replace(value, shape=shape), emitter, fresh=True)
    exchange = Rebind((slot.buffer.name, slot.twin.name), (slot.twin.name, slot.buffer.name), emitter.span)
    emitter.note_given(exchange, Given(slot.buffer.name, source, tracked))
    emitter.emit(exchange)
    emitter.changed(slot.buffer.name)
    builder.scope.values[name] = builder.held(slot, shape, value.is_list)


def _made_in_twin(builder: Building, slot: Slot, value: Array, sizes: Sequence[Node]) -> bool:
    """A value that was just made in memory of its own is made in the slot's twin instead."""
    assert slot.twin is not None
    view = value.view
    if view is None or not view.whole or not exclusive(builder, None, view.buffer) or builder.scope.keeping:
        return False
    block = builder.emitter.blocks[-1]
    allocs = [at for at, node in enumerate(block) if isinstance(node, Alloc) and node.buffer == view.buffer]
    made = allocs[-1] if allocs else None
    shared = any(view.buffer in pair for pair in builder.emitter.exchanged)
    if made is None or shared or builder.emitter.buffers[view.buffer].type != slot.twin.type:
        return False
    alloc = block[made]
    assert isinstance(alloc, Alloc)
    if alloc.zero:
        return False
    if any(id(node) in builder.emitter.given for node in walk.walk(tuple(block[made:]))):
        return False
    names = {view.buffer: slot.twin.name}
    later = [walk.rename_buffers(node, names) for node in block[made + 1 :]]
    block[made:] = [*sizes, replace(alloc, buffer=slot.twin.name), *later]
    del builder.emitter.buffers[view.buffer]
    return True


def shared_memory(builder: Building, value: Array) -> str | None:
    """The buffer whose memory NumPy would share with the value, if a name still denotes it."""
    if value.view is None:
        return value.origin
    buffer = value.view.buffer
    if buffer in builder.emitter.slot_copies:
        return buffer
    local = builder.emitter.buffers[buffer].role is not Role.PARAM and value.view.whole
    return None if local and not builder.scope.keeping and exclusive(builder, None, buffer) else buffer


def _noted_source(builder: Building, slot: Slot, value: Array) -> str | None:
    """The same; of an array in a container it is noted which variable holds a copy."""
    source = shared_memory(builder, value)
    if source in builder.emitter.array_memory and slot.buffer is not None:
        names = builder.emitter.copied_names.setdefault(slot.buffer.name, set())
        names.add((builder.scope.path, slot.key[1]))
    return source


def give(builder: Building, slot: Slot, target: Array, value: Array) -> None:
    """Store the array that a name now denotes."""
    assert slot.buffer is not None
    source = _noted_source(builder, slot, value)
    tracked = _flag(builder, slot.buffer.name, value)
    block = builder.emitter.blocks[-1]
    before = len(block)
    arrays.store(target, replace(value, shape=target.shape), builder.emitter)
    for node in block[before:]:
        if isinstance(node, Stmt) and node.buffer == slot.buffer.name:
            builder.emitter.note_given(node, Given(slot.buffer.name, source, tracked))


def held_now(builder: Building, name: str, slot: Slot) -> Array:
    """The array in a slot, of the size that it has here."""
    assert slot.buffer is not None
    shape = list(slot.buffer.shape)
    for axis, buffer in (slot.sizes or {}).items():
        shape[axis] = builder.emitter.snapshot(Read(buffer.name, (), INT), f"{name}_n{axis}")
    return builder.held(slot, tuple(shape), slot.is_list)


def check_aliases(builder: Building, body: Block) -> None:
    """Refuse a program in which a copy would be told from the view it stands for."""
    results = [
        frozenset(leaf.buffer for leaf in walk.leaves(out) if isinstance(leaf, (ArrayOut, ViewOut)))
        for out in builder.emitter.results
    ]
    arguments = frozenset(b.name for b in builder.emitter.buffers.values() if b.role is Role.PARAM)
    found = conflict(body, builder.emitter.given, results, arguments, frozenset(builder.emitter.array_memory))
    if found is not None:
        builder.share_from_start(found)
        copy = "an array in a container" if {found.copy, *found.others} & builder.emitter.array_memory else found.copy
        error = Unsupported(
            found.span,
            f"{copy} may share memory with another array here, and one of them is written in place",
            "add .copy() where it is assigned",
        )
        raise apart(builder, builder.emitter.branches.get(found.copy), error)


def arrays_in(value: Value, of_fields: bool = False) -> Sequence[Array]:
    """The arrays that a value is made of; `of_fields`: also those in memory that belongs to an object's attribute."""
    if isinstance(value, Array):
        return (value,)
    if isinstance(value, Tuple):
        return [array for item in value.items for array in arrays_in(item, of_fields)]
    if isinstance(value, Maybe):
        return arrays_in(value.held, of_fields)
    if isinstance(value, Keyed):
        return arrays_in(value.entries, of_fields)
    if isinstance(value, Struct):
        slots = [item.buffer for item in value.fields.values() if isinstance(item, Slot)] if of_fields else []
        own = [arrays.of_buffer(buffer) for buffer in slots if buffer is not None and buffer.rank]
        others = [item for item in value.fields.values() if not isinstance(item, Slot)]
        return own + [array for item in others for array in arrays_in(item, of_fields)]
    return ()
