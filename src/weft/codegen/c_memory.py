"""Memory in C.  In: Alloc and Rebind nodes; out: C that takes scratch memory, small arrays on the stack and new arrays
for the caller, and moves names from one memory to another; and `storage_of`, how each buffer is kept.
"""

from __future__ import annotations

from weft.codegen import c_support
from weft.codegen import syntax as C
from weft.codegen.c_expr import RT, Expressions, Names, Storage
from weft.codegen.c_frame import MEMORY, WORDS, Emitter
from weft.errors import Unsupported
from weft.ir.expr import Const
from weft.ir.index import affine
from weft.ir.program import Alloc, Buffer, Layout, Program, Rebind, Role
from weft.ir.walk import free_vars
from weft.records import dataclass

#: Local arrays of constant size up to this many bytes live on the stack, up to the second number in one function.
STACK_BYTES, STACK_TOTAL = 4096, 65536
_ATTRIBUTE = "__attribute__((aligned(64)))"


@dataclass
class Memory(Emitter):
    """Where arrays come from and go to."""

    def _alloc(self, node: Alloc) -> list[C.CStmt]:
        storage = self.expressions.storages[node.buffer]
        buffer = storage.buffer
        if buffer.rank == 0:
            return [C.Assign(C.Name(storage.name), C.Number("0"))] if node.zero else []
        if node.buffer in self.unit.layout.slots:
            return self._new_array(node, storage)
        count = _constant_count(buffer)
        if count is not None and node.buffer not in self.unit.exchanged:
            size = max(count, 1) * buffer.type.dtype.size
            if size <= STACK_BYTES and self.frame.stack + size <= STACK_TOTAL:
                return self._on_stack(node, storage, max(count, 1))
        return self._on_heap(node, storage)

    def _on_stack(self, node: Alloc, storage: Storage, count: int) -> list[C.CStmt]:
        if not any(isinstance(h, C.Declare) and h.name == storage.name for h in self.frame.heads):
            self.frame.stack += count * storage.buffer.type.dtype.size
            self.frame.heads.append(C.Declare(storage.type, storage.name, extent=count, attribute=_ATTRIBUTE))
        self.unit.types[storage.name] = f"{storage.type} *"
        return [self._clear(storage, C.number(count * storage.buffer.type.dtype.size))] if node.zero else []

    def _clear(self, storage: Storage, size: C.CExpr) -> C.CStmt:
        return C.Evaluate(C.call("__builtin_memset", C.Name(storage.name), C.Number("0"), size))

    def _shape(self, storage: Storage, out: list[C.CStmt]) -> C.Name:
        """The extents as an array of words; those not fixed at entry are remembered for later index computations."""
        extents = []
        for axis, extent in enumerate(storage.buffer.shape):
            value = self.expressions.bound(extent)
            known = storage.extents[axis]
            if isinstance(known, C.Name) and known.text in storage.remembered:
                out.append(C.Assign(known, value))
                value = known
            extents.append(value)
        name = self.unit.names.own("shape")
        out.append(C.Declare("i64", name, extent=len(extents)))
        out.extend(C.Assign(C.Subscript(C.Name(name), C.number(axis)), value) for axis, value in enumerate(extents))
        if storage.layout is Layout.STRIDED:
            step: C.CExpr = C.Number("1")
            for axis in reversed(range(len(extents))):
                out.append(C.Assign(C.Name(storage.strides[axis]), step))
                step = C.times(C.Name(storage.strides[axis]), extents[axis])
        return C.Name(name)

    def _new_array(self, node: Alloc, storage: Storage) -> list[C.CStmt]:
        buffer = storage.buffer
        if self.frame.parallel:
            raise Unsupported(node.span, "a new array for the caller made inside a parallel loop", "")
        out: list[C.CStmt] = []
        shape = self._shape(storage, out)
        self.unit.used.text(c_support.BYTES)
        size = C.call("k_bytes", C.number(buffer.type.dtype.size), C.number(buffer.rank), shape)
        out.append(C.IfElse(C.Infix("<", size, C.Number("0")), tuple(self.failure(MEMORY))))
        arguments = (
            C.Name(WORDS),
            C.number(self.unit.layout.slots[node.buffer]),
            C.number(buffer.type.dtype.typenum),
            C.number(buffer.rank),
            shape,
            C.number(int(node.zero)),
        )
        out.append(C.Assign(C.Name(storage.name), C.through(RT, "new_array", *arguments)))
        out.append(C.IfElse(C.Prefix("!", C.Name(storage.name)), tuple(self.failure(MEMORY))))
        return self._scoped(out)

    def _on_heap(self, node: Alloc, storage: Storage) -> list[C.CStmt]:
        """Scratch memory; a buffer whose size never changes keeps the memory of the last time."""
        assert storage.owner is not None
        owner = C.Name(storage.owner)
        fixed = node.buffer not in self.unit.exchanged and not storage.remembered
        if storage.owner not in self.frame.owners and storage.buffer.role is not Role.HELD:
            self._own(storage)
        out: list[C.CStmt] = []
        shape = self._shape(storage, out)
        self.unit.used.text(c_support.BYTES)
        count = C.call("k_bytes", C.number(storage.buffer.type.dtype.size), C.number(storage.buffer.rank), shape)
        size = self.variable("i64", "bytes", count, out)
        get: list[C.CStmt] = [
            C.IfElse(C.Infix("<", size, C.Number("0")), tuple(self.failure(MEMORY))),
            C.Assign(owner, C.through(RT, "alloc", C.plus(size, C.Infix("==", size, C.Number("0"))))),
            C.IfElse(C.Prefix("!", owner), tuple(self.failure(MEMORY))),
        ]
        if fixed:
            out.append(C.IfElse(C.Prefix("!", owner), tuple(get)))
        else:
            out.append(C.IfElse(owner, (C.Evaluate(C.through(RT, "release", owner)), C.Assign(owner, C.Number("0")))))
            out.extend(get)
        out.append(C.Assign(C.Name(storage.name), owner))
        if node.zero:
            out.append(self._clear(storage, size))
        return self._scoped(out)

    def _own(self, storage: Storage) -> None:
        """The function owns the memory of a buffer: its variables stand at the function's head."""
        assert storage.owner is not None
        self.frame.owners.append(storage.owner)
        self.unit.types[storage.owner] = "void *"
        self.unit.types[storage.name] = f"{storage.type} *"
        self.unit.unaliased.add(storage.name)
        self.frame.heads.append(C.Declare("void *", storage.owner, C.Number("0")))
        self.declare_pointer(storage)

    def declare_pointer(self, storage: Storage, value: C.CExpr | None = None) -> None:
        """Pointer, strides and remembered extents of an array buffer at the head of the current function."""
        self.unit.types[storage.name] = f"{storage.type} *"
        self.frame.heads.append(C.Declare(f"{storage.type} *", storage.name, value or C.Number("0")))
        for name in (*storage.strides, *storage.remembered):
            self.unit.types[name] = "i64"
            self.frame.heads.append(C.Declare("i64", name, C.Number("0")))

    def _rebind(self, node: Rebind) -> list[C.CStmt]:
        """a, b = b, a: every variable that says where the memory is moves along."""
        out: list[C.CStmt] = []
        later: list[C.CStmt] = []
        for target, source in zip(node.targets, node.sources):
            if target == source:
                continue
            to, of = self.expressions.storages[target], self.expressions.storages[source]
            moves = [(to.name, of.name), *zip(to.strides, of.strides), *zip(to.remembered, of.remembered)]
            if to.owner is not None and of.owner is not None:
                moves.append((to.owner, of.owner))
            for new, old in moves:
                saved = self.variable(self.unit.types[old], "old", C.Name(old), out)
                later.append(C.Assign(C.Name(new), saved))
            slots = self.unit.layout.slots
            if target in slots and source in slots:
                saved = self.variable("i64", "old", C.Subscript(C.Name(WORDS), C.number(slots[source])), out)
                later.append(C.Assign(C.Subscript(C.Name(WORDS), C.number(slots[target])), saved))
        return self._scoped(out + later)


def _constant_count(buffer: Buffer) -> int | None:
    """The number of elements, if it is known."""
    count = 1
    for extent in buffer.shape:
        if not isinstance(extent, Const) or not isinstance(extent.value, int):
            return None
        count *= extent.value
    return count


def storage_of(program: Program, buffer: Buffer, names: Names, expressions: Expressions, owns: bool) -> Storage:
    """How a buffer is stored; `owns`: it may hold scratch memory."""
    name = names.of(buffer.name)
    if buffer.rank == 0:
        return Storage(buffer, name, Layout.C)
    fixed = {symbol.name for symbol in program.symbols}
    extents: list[C.CExpr] = []
    remembered: list[str] = []
    for axis, extent in enumerate(buffer.shape):
        if affine(extent) is not None and free_vars(extent) <= fixed:
            extents.append(expressions.index(extent))
        else:
            remembered.append(names.fresh(f"{buffer.name}_n{axis}"))
            extents.append(C.Name(remembered[-1]))
    strides = (
        tuple(names.fresh(f"{buffer.name}_s{axis}") for axis in range(buffer.rank))
        if buffer.layout is Layout.STRIDED
        else ()
    )
    owner = names.own(f"m_{buffer.name}") if owns else None
    return Storage(buffer, name, buffer.layout, tuple(extents), strides, tuple(remembered), owner)
