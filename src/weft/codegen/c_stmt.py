"""Statements in C.  In: blocks of a lowered program; out: C blocks, and the functions that parallel loops become.

Every function of the generated code has one exit, the label k_done, where scratch memory is released.  A failure stores
what happened and jumps there: in the kernel itself into the control words, inside a parallel loop into a record of which
the lowest iteration's wins.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from weft.analysis import ranges
from weft.analysis.scopes import Path, leaves
from weft.codegen import c_call, c_ops, c_support
from weft.codegen import syntax as C
from weft.codegen.binding import WordLayout
from weft.codegen.c_expr import OVERFLOW, OWN, RT, Expressions, Names, Storage
from weft.errors import Span, Unsupported
from weft.ir.expr import CompressedDim, Const, Dim, Domain, Expr, Op, Read, Var
from weft.ir.index import affine
from weft.ir.program import (
    Accumulator,
    Alloc,
    Block,
    Break,
    Buffer,
    Call,
    Check,
    Continue,
    If,
    Layout,
    Loop,
    LoopKind,
    Node,
    Program,
    Rebind,
    Return,
    ScalarOut,
    Stmt,
    ViewOut,
    While,
)
from weft.ir.types import INT
from weft.ir.walk import free_vars, node_exprs, reads, substitute, walk

WORDS, STATUS, TICKS, FAILED = (OWN + name for name in ("w", "status", "ticks", "failed"))
DONE = f"{OWN}done"
GUARD, RAISE, INTERRUPTED, MEMORY = 1, 2, 3, 4

#: Cycles below which a parallel loop is not worth waking threads for.
PARALLEL_CYCLES = 30_000
#: Pieces handed out for each thread, so that uneven iterations even out.
TASKS_PER_THREAD = 4
#: Inner iterations between two looks at a pending Ctrl-C: some milliseconds.
POLL_ITERATIONS = 1 << 20
#: Local arrays of constant size up to this many bytes live on the stack, up to the second number in one function.
STACK_BYTES, STACK_TOTAL = 4096, 65536
#: Terms up to this size cannot overflow a sum of as many as an index can count.
SUMMABLE = 2**22

_ATTRIBUTE = "__attribute__((aligned(64)))"
_CLAUSE = {"add": "+", "mul": "*", "and": "&", "or": "|", "bitand": "&", "bitor": "|", "bitxor": "^"}


@dataclass
class Frame:
    """One C function in the making."""

    parallel: bool
    iteration: str = ""  # in a parallel body: the variable with the iteration's number
    heads: list[C.CStmt] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    stack: int = 0


@dataclass
class Unit:
    """What the functions of one translation unit share."""

    program: Program
    layout: WordLayout
    names: Names
    used: c_ops.Used
    declarations: dict[Path, tuple[str, ...]]
    exchanged: dict[str, frozenset[str]]
    guard_on_failure: bool  # nothing observable ever happens before a failure: Python may repeat the call
    threads: bool
    strict: bool
    types: dict[str, str] = field(default_factory=dict)  # C variables and their types
    unaliased: set[str] = field(default_factory=set)  # pointer variables that nothing else may alias
    exceptions: dict[tuple[str, str], int] = field(default_factory=dict)
    functions: list[C.TopLevel] = field(default_factory=list)

    def exception(self, name: str, message: str) -> int:
        return self.exceptions.setdefault((name, message), len(self.exceptions))


def _jumps(block: C.CBlock) -> bool:
    """Whether something can leave the block: what a simd loop must not contain."""
    for node in block:
        if isinstance(node, (C.Leave, C.Forever)) or (isinstance(node, C.Jump) and node.text != "continue"):
            return True
        if isinstance(node, C.IfElse) and (_jumps(node.then) or _jumps(node.otherwise)):
            return True
        if isinstance(node, (C.Scope, C.For)) and _jumps(node.body):
            return True
    return False


def _exits(block: Block) -> bool:
    """Whether a Break, a Return or a failing Check can leave the loop that has this body."""
    return any(isinstance(node, (Break, Return, Check, Alloc)) for node in walk(block))


def _has_loop(block: Block) -> bool:
    return any(isinstance(node, (Loop, While, Call)) for node in walk(block))


@dataclass
class Statements:
    """Translates blocks into the frame of the current function."""

    unit: Unit
    expressions: Expressions
    frame: Frame
    line: tuple[str, int] = ("", 0)
    depth: int = 0  # loops around the current place, in this function
    lockstep: bool = False  # inside a VECTOR loop: nothing may be counted, nobody can be asked
    extremes: dict[str, str] = field(
        default_factory=dict
    )  # accumulators of the current loop by minimum or maximum: NaN flags

    # --- blocks -----------------------------------------------------------------------------------------------------

    def block(self, nodes: Block, path: Path) -> C.CBlock:
        """A block; variables that live in it are declared at its head."""
        out: list[C.CStmt] = []
        for name in self.unit.declarations.get(path, ()):
            storage = self.expressions.storages[name]
            self.unit.types[storage.name] = storage.type
            out.append(C.Declare(storage.type, storage.name, C.Number("0") if self._maybe_unset(nodes, name) else None))
        for position, node in enumerate(nodes):
            self._comment(node.span, out)
            out.extend(self._node(node, (*path, position)))
        return tuple(out)

    def _maybe_unset(self, nodes: Block, name: str) -> bool:
        """Whether the compiler could see a path on which the variable has no value (it would warn, or worse)."""
        first = next((n for n in nodes if isinstance(n, Stmt) and n.buffer == name), None)
        return first is None or first is not nodes[0]

    def _comment(self, span: Span, out: list[C.CStmt]) -> None:
        place = (os.path.basename(span.file), span.line)
        if span.line > 0 and place != self.line:
            self.line = place
            out.append(C.Comment(f"{place[0]}:{place[1]}"))

    def _node(self, node: Node, path: Path) -> list[C.CStmt]:
        if isinstance(node, Stmt):
            return self._stmt(node)
        if isinstance(node, Check):
            return self._check(node)
        if isinstance(node, Loop):
            return self._loop(node, path)
        if isinstance(node, While):
            return self._while(node, path)
        if isinstance(node, If):
            then, otherwise = self.block(node.then, (*path, 0)), self.block(node.orelse, (*path, 1))
            return [C.IfElse(self.expressions.value(node.condition), then, otherwise)]
        if isinstance(node, (Break, Continue)):
            return [C.Jump("break" if isinstance(node, Break) else "continue")]
        if isinstance(node, Return):
            return self._return(node)
        if isinstance(node, Alloc):
            return self._alloc(node)
        if isinstance(node, Rebind):
            return self._rebind(node)
        if isinstance(node, Call):
            return c_call.call(node, self)
        raise Unsupported(node.span, "a Python statement inside native code", "")

    def variable(self, ctype: str, hint: str, value: C.CExpr | None, out: list[C.CStmt]) -> C.Name:
        """Declare a new variable here."""
        name = self.unit.names.own(hint)
        self.unit.types[name] = ctype
        out.append(C.Declare(ctype, name, value))
        return C.Name(name)

    # --- leaves -----------------------------------------------------------------------------------------------------

    def _stmt(self, stmt: Stmt) -> list[C.CStmt]:
        assert not stmt.domain and stmt.reduce is None, "a lowered statement is one assignment"
        if stmt.buffer in self.extremes and not stmt.index:
            return self._extreme(stmt)
        target = self.expressions.element(stmt.buffer, stmt.index)
        return [C.Assign(target, self.expressions.value(stmt.value))]

    def _extreme(self, stmt: Stmt) -> list[C.CStmt]:
        """s = minimum(s, e)  -->  x = e; s = x < s ? x : s; nan |= x != x, a form that vectorises."""
        assert isinstance(stmt.value, Op)
        term = _term(stmt, stmt.value.op)
        assert term is not None
        out: list[C.CStmt] = []
        target = C.Name(self.expressions.storages[stmt.buffer].name)
        x = self.variable(self.expressions.ctype(term.type), "x", self.expressions.value(term), out)
        sign = "<" if stmt.value.op == "minimum" else ">"
        out.append(C.Assign(target, C.Ternary(C.Infix(sign, x, target), x, target)))
        out.append(C.Assign(C.Name(self.extremes[stmt.buffer]), C.Infix("!=", x, x), "|="))
        return [C.Scope(tuple(out))]

    def failure(self, status: int, code: int = 0, line: int = 0, values: tuple[C.CExpr, ...] = ()) -> list[C.CStmt]:
        """Leave the function with a status."""
        padded = (*values, *[C.Number("0")] * (3 - len(values)))
        if self.frame.parallel:
            # An interruption is reported whatever else happened.
            iteration = C.Number("-1") if status == INTERRUPTED else C.Name(self.frame.iteration)
            numbers = (C.number(status), C.number(code), C.number(line))
            return [
                C.Evaluate(C.call("k_record", C.Name(FAILED), iteration, *numbers, *padded)),
                C.Jump(f"goto {DONE}"),
            ]
        out: list[C.CStmt] = []
        if status == RAISE:
            for word, value in enumerate((C.number(code), C.number(line), *values), 1):
                out.append(C.Assign(C.Subscript(C.Name(WORDS), C.number(word)), value))
        return [*out, C.Assign(C.Name(STATUS), C.number(status)), C.Jump(f"goto {DONE}")]

    def _check(self, check: Check) -> list[C.CStmt]:
        condition = self.expressions.value(check.condition)
        if self.unit.guard_on_failure:
            failed = self.failure(GUARD)
        else:
            code = self.unit.exception(check.exception, check.message)
            failed = self.failure(
                RAISE, code, check.span.line, tuple(self.expressions.value(v) for v in check.values[:3])
            )
        return self.nest(check.domain, [C.IfElse(C.Prefix("!", condition), tuple(failed))])

    def nest(self, domain: Domain, body: list[C.CStmt]) -> list[C.CStmt]:
        """`body` at every point of a domain, in order."""
        for dim in reversed(domain):
            out: list[C.CStmt] = []
            self._counted(dim, tuple(body), out)
            body = out
        return body

    def _return(self, node: Return) -> list[C.CStmt]:
        out: list[C.CStmt] = []

        def store(word: int, value: C.CExpr) -> None:
            out.append(C.Assign(C.Subscript(C.Name(WORDS), C.number(word)), value))

        tree = self.unit.program.results[node.result]
        for leaf, offset in zip(leaves(tree), self.unit.layout.returns[node.result]):
            if isinstance(leaf, ScalarOut):
                assert offset is not None
                self._store_scalar(self.expressions.storages[leaf.buffer], offset, store)
            elif isinstance(leaf, ViewOut):
                assert offset is not None
                self._store_view(leaf, offset, store)
        if node.result:
            store(0, C.number(node.result))
        return [*out, C.Assign(C.Name(STATUS), C.number(0)), C.Jump(f"goto {DONE}")]

    def _store_scalar(self, storage: Storage, offset: int, store: Callable[[int, C.CExpr], None]) -> None:
        value, dtype = C.Name(storage.name), storage.buffer.type.dtype
        if dtype.is_complex:
            bits = self.unit.used.helper("bits", dtype.real)
            store(offset, C.call(bits, C.Prefix("__real__ ", value)))
            store(offset + 1, C.call(bits, C.Prefix("__imag__ ", value)))
        elif dtype.is_float:
            store(offset, C.call(self.unit.used.helper("bits", dtype), value))
        else:
            store(offset, value)

    def _store_view(self, view: ViewOut, offset: int, store: Callable[[int, C.CExpr], None]) -> None:
        """Pointer, extents and strides of a view: what one step of each dimension adds to the address."""
        storage = self.expressions.storages[view.buffer]
        dims = [dim for dim in view.dims if isinstance(dim, Dim)]
        start: dict[str, Expr] = {dim.var: dim.lo for dim in dims}

        def place(values: dict[str, Expr]) -> C.CExpr:
            return storage.offset(tuple(self.expressions.index(substitute(e, values)) for e in view.index))

        store(offset, C.Convert("i64", C.Infix("+", C.Name(storage.name), place(start))))
        for axis, dim in enumerate(dims):
            store(offset + 1 + axis, self.trips(dim))
            moved = {**start, dim.var: Op("add", (dim.lo, Const(dim.step, INT)), INT)}
            store(offset + 1 + len(dims) + axis, C.Infix("-", place(moved), place(start)))

    # --- memory -----------------------------------------------------------------------------------------------------

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
        if storage.owner not in self.frame.owners:
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

    def _scoped(self, out: list[C.CStmt]) -> list[C.CStmt]:
        return [C.Scope(tuple(out))]

    def _rebind(self, node: Rebind) -> list[C.CStmt]:
        """a, b = b, a: every variable that says where the memory is moves along."""
        out: list[C.CStmt] = []
        later: list[C.CStmt] = []
        for target, source in zip(node.targets, node.sources):
            if target == source:
                continue
            to, of = self.expressions.storages[target], self.expressions.storages[source]
            moves = [(to.name, of.name), *zip(to.strides, of.strides)]
            if to.owner is not None and of.owner is not None:
                moves.append((to.owner, of.owner))
            for new, old in moves:
                saved = self.variable(self.unit.types[old], "old", C.Name(old), out)
                later.append(C.Assign(C.Name(new), saved))
            slots = self.unit.layout.slots
            if target in slots:
                saved = self.variable("i64", "old", C.Subscript(C.Name(WORDS), C.number(slots[source])), out)
                later.append(C.Assign(C.Subscript(C.Name(WORDS), C.number(slots[target])), saved))
        return self._scoped(out + later)

    # --- loops ------------------------------------------------------------------------------------------------------

    def trips(self, dim: Dim) -> C.CExpr:
        """How many values a dimension takes."""
        if affine(dim.lo) is not None and dim.step == 1 and affine(dim.lo) == affine(Const(0, INT)):
            hi = self.expressions.bound(dim.hi)
            return C.Ternary(C.Infix(">", hi, C.Number("0")), hi, C.Number("0"))
        self.unit.used.text(c_support.TRIPS)
        return C.call("k_trips", self.expressions.bound(dim.lo), self.expressions.bound(dim.hi), C.number(dim.step))

    def _counted(
        self, dim: Dim | CompressedDim, body: C.CBlock, out: list[C.CStmt], pragmas: tuple[str, ...] = ()
    ) -> None:
        """A C loop over a dimension; bounds that are not plain sums are computed once, before it."""
        names = self.unit.names
        if isinstance(dim, CompressedDim):
            position = names.of(dim.position)
            after = Op("add", (dim.parent, Const(1, INT)), INT)
            lo, hi = (
                self.variable("i64", "bound", self.expressions.element(dim.pointer, (parent,)), out)
                for parent in (dim.parent, after)
            )
            coordinate = self.expressions.element(dim.coordinate, (Var(dim.position),))
            body = (C.Declare("const i64", names.of(dim.var), coordinate), *body)
            self.unit.types[position] = self.unit.types[names.of(dim.var)] = "i64"
            out.append(C.For(position, lo, hi, 1, body, pragmas))
            return
        bounds = []
        for bound in (dim.lo, dim.hi):
            value = self.expressions.bound(bound)
            bounds.append(value if affine(bound) is not None else self.variable("i64", "bound", value, out))
        self.unit.types[names.of(dim.var)] = "i64"
        out.append(C.For(names.of(dim.var), bounds[0], bounds[1], dim.step, body, pragmas))

    def poll(self) -> list[C.CStmt]:
        """Look for a pending Ctrl-C once in a while."""
        pending = C.IfElse(C.through(RT, "poll"), tuple(self.failure(INTERRUPTED)))
        reset = C.Assign(C.Name(TICKS), C.Number("0"))
        return [C.IfElse(C.Infix(">", C.Name(TICKS), C.number(POLL_ITERATIONS)), (reset, pending))]

    def _tick(self, steps: C.CExpr) -> C.CStmt:
        return C.Assign(C.Name(TICKS), steps, "+=")

    def _loop(self, loop: Loop, path: Path) -> list[C.CStmt]:
        if loop.kind is LoopKind.PARALLEL and self.unit.threads and not self.frame.parallel:
            return self._parallel(loop, path)
        self.expressions.env.update(ranges.dimension(loop.dim, self.expressions.env))
        out: list[C.CStmt] = []
        if loop.kind is LoopKind.VECTOR and not self.unit.strict and self._reducible(loop):
            self._reducing(loop, path, out)
            return out if len(out) == 1 else self._scoped(out)
        body = self._body(loop, path)
        if loop.kind is LoopKind.VECTOR:
            pragmas = ("#pragma omp simd",) if not loop.accumulators and self._lockstep(loop, body) else ()
            self._ticked(loop.dim, body, out, pragmas)
        elif self.lockstep:
            self._counted(loop.dim, body, out)
        elif _has_loop(loop.body):
            self._counted(loop.dim, (*self.poll(), *body), out)
        elif _exits(loop.body) or isinstance(loop.dim, CompressedDim):
            self._counted(loop.dim, (self._tick(C.Number("1")), *self.poll(), *body), out)
        elif isinstance(loop.dim.lo, Const) and isinstance(loop.dim.hi, Const):
            self._ticked(loop.dim, body, out, ())
        else:
            self._long(loop.dim, body, out)
        return out if len(out) == 1 else self._scoped(out)

    def _body(self, loop: Loop, path: Path) -> C.CBlock:
        outer = self.lockstep
        self.depth += 1
        self.lockstep = outer or loop.kind is LoopKind.VECTOR
        body = self.block(loop.body, (*path, 0))
        self.depth -= 1
        self.lockstep = outer
        return body

    def _ticked(self, dim: Dim | CompressedDim, body: C.CBlock, out: list[C.CStmt], pragmas: tuple[str, ...]) -> None:
        """An innermost loop: its steps are counted before it, so that it needs no counter of its own."""
        inner: list[C.CStmt] = []
        self._counted(dim, body, inner, pragmas)
        loop = inner.pop()
        assert isinstance(loop, C.For)
        out.extend(inner)
        if not self.lockstep and (self.depth > 0 or self.frame.parallel):
            low, high = (loop.start, loop.bound) if loop.step > 0 else (loop.bound, loop.start)
            out.append(self._tick(high if low == C.Number("0") else C.Infix("-", high, low)))
        out.append(loop)

    def _long(self, dim: Dim, body: C.CBlock, out: list[C.CStmt]) -> None:
        """An innermost loop that may take long: in pieces, with a look for Ctrl-C between them."""
        inner: list[C.CStmt] = []
        self._counted(dim, body, inner)
        loop = inner.pop()
        assert isinstance(loop, C.For)
        out.extend(inner)
        piece, reach = self.unit.names.own("piece"), loop.step * POLL_ITERATIONS
        self.unit.types[piece] = "i64"
        head: list[C.CStmt] = []
        left = C.Infix("-", loop.bound, C.Name(piece))
        more = C.Infix(">" if reach > 0 else "<", left, C.number(reach))
        end = self.variable("i64", "end", C.Ternary(more, C.plus(C.Name(piece), C.number(reach)), loop.bound), head)
        done = C.Infix("-", end, C.Name(piece)) if reach > 0 else C.Infix("-", C.Name(piece), end)
        pieces = (*head, self._tick(done), *self.poll(), replace(loop, start=C.Name(piece), bound=end))
        out.append(C.For(piece, loop.start, loop.bound, reach, pieces))

    def _lockstep(self, loop: Loop, body: C.CBlock) -> bool:
        """Whether a VECTOR loop's body is fit for the simd pragma: nothing leaves it and it sets no shared variable."""
        shared = {OVERFLOW, TICKS} & set(C.free_names(body))
        if shared or _jumps(body) or isinstance(loop.dim, CompressedDim):
            return False
        free = set(C.free_names(body))
        allowed = {self.expressions.storages[a.buffer].name for a in loop.accumulators}
        return not any(
            isinstance(node, Stmt)
            and not node.index
            and (name := self.expressions.storages[node.buffer].name) in free
            and name not in allowed
            for node in walk(loop.body)
        )

    # --- reductions -------------------------------------------------------------------------------------------------

    def _reducible(self, loop: Loop) -> bool:
        return bool(loop.accumulators) and all(self._reduction_form(loop, a) is not None for a in loop.accumulators)

    def _reduction_form(self, loop: Loop, accumulator: Accumulator) -> str | None:
        """How an accumulator is written: "clause", "extreme" (minimum or maximum of floats), "weak" (a Python integer's
        sum that is checked after the loop); None if the loop must stay as it is."""
        of = self.expressions.storages[accumulator.buffer].buffer.type
        dtype = of.dtype
        updates = [n for n in walk(loop.body) if isinstance(n, Stmt) and n.buffer == accumulator.buffer]
        terms = [_term(update, accumulator.op) for update in updates]
        uses = sum(
            read.buffer == accumulator.buffer
            for node in walk(loop.body)
            for expr in node_exprs(node)
            for read in reads(expr)
        )
        if not updates or any(term is None for term in terms) or uses != len(updates):
            return None
        if of == INT and accumulator.op in ("add", "mul"):
            env = self.expressions.env
            small = all(ranges.interval(term, env).magnitude <= SUMMABLE for term in terms if term is not None)
            return "weak" if accumulator.op == "add" and small and len(terms) == 1 else None
        if accumulator.op in ("minimum", "maximum"):
            return None if dtype.is_complex else "extreme" if dtype.is_float else "clause"
        return None if dtype.is_complex else "clause" if accumulator.op in _CLAUSE else None

    def _reducing(self, loop: Loop, path: Path, out: list[C.CStmt]) -> None:
        """A VECTOR loop with accumulators: private partial results in each lane, combined after it."""
        clauses: list[str] = []
        after: list[C.CStmt] = []
        outer = self.extremes
        self.extremes = {}
        weak: dict[str, Storage] = {}
        for accumulator in loop.accumulators:
            storage = self.expressions.storages[accumulator.buffer]
            form = self._reduction_form(loop, accumulator)
            if form == "weak":
                partial = self.variable("i64", "sum", C.Number("0"), out)
                total = c_ops.build_checked("add", (C.Name(storage.name), partial), OVERFLOW, self.unit.used)
                after.append(C.Assign(C.Name(storage.name), total))
                weak[accumulator.buffer] = storage
                self.expressions.storages[accumulator.buffer] = replace(storage, name=partial.text)
                self.expressions.unchecked.add(accumulator.buffer)
                clauses.append(f"reduction(+:{partial.text})")
                continue
            if form == "extreme":
                value = C.Name(storage.name)
                width = "i64" if storage.buffer.type.dtype.size == 8 else "i32"
                flag = self.variable(width, "nan", C.Infix("!=", value, value), out)
                suffix = "" if storage.buffer.type.dtype.size == 8 else "f"
                after.append(C.IfElse(flag, (C.Assign(value, C.Number(f'__builtin_nan{suffix}("")')),)))
                self.extremes[accumulator.buffer] = flag.text
                clauses.append(f"reduction(|:{flag.text})")
            operator = {"minimum": "min", "maximum": "max"}.get(accumulator.op) or _CLAUSE[accumulator.op]
            clauses.append(f"reduction({operator}:{storage.name})")
        body = self._body(loop, path)
        pragmas = (f"#pragma omp simd {' '.join(clauses)}",) if self._lockstep(loop, body) else ()
        self._ticked(loop.dim, body, out, pragmas)
        out.extend(after)
        self.extremes = outer
        for name, storage in weak.items():
            self.expressions.storages[name] = storage
            self.expressions.unchecked.discard(name)

    # --- while ------------------------------------------------------------------------------------------------------

    def _while(self, node: While, path: Path) -> list[C.CStmt]:
        self.depth += 1
        prelude = self.block(node.prelude, (*path, 0))
        stop = C.IfElse(C.Prefix("!", self.expressions.value(node.condition)), (C.Jump("break"),))
        body = self.block(node.body, (*path, 1))
        self.depth -= 1
        head: list[C.CStmt] = [self._tick(C.Number("1")), *self.poll()]
        if OVERFLOW in C.free_names((*prelude, stop, *body)):
            # A number that wrapped might keep the loop going for ever.
            head.append(C.IfElse(C.Name(OVERFLOW), (C.Jump(f"goto {DONE}"),)))
        return [C.Forever((*head, *prelude, stop, *body))]

    # --- parallel loops ---------------------------------------------------------------------------------------------

    def _parallel(self, loop: Loop, path: Path) -> list[C.CStmt]:
        """A loop body becomes a function over a range of iterations; its free variables travel in a structure."""
        dim = loop.dim
        if not isinstance(dim, Dim):
            raise Unsupported(loop.span, "a parallel loop over a compressed dimension", "")
        out: list[C.CStmt] = []
        self.expressions.env.update(ranges.dimension(dim, self.expressions.env))
        count = self.variable("i64", "count", self.trips(dim), out)
        start = self.variable("i64", "start", self.expressions.bound(dim.lo), out)
        number = len(self.unit.functions)
        function, structure = f"{OWN}body_{number}", f"{OWN}context_{number}"
        captured, overflows = self._outline(loop, path, start, function, structure)
        context = self.unit.names.own("context")
        out.append(C.Declare(f"struct {structure}", context))
        for name in captured:
            value: C.CExpr = C.Prefix("&", C.Name(FAILED)) if name == FAILED else C.Name(name)
            out.append(C.Assign(C.Dot(C.Name(context), name), value))
        address = C.Prefix("&", C.Name(context))
        threads = self.variable("i64", "threads", C.through(RT, "threads"), out)
        tasks = C.Infix("*", C.number(TASKS_PER_THREAD), threads)
        fewer = C.Ternary(C.Infix("<", count, tasks), count, tasks)
        many = C.Evaluate(C.through(RT, "parallel", C.Name(function), address, count, fewer))
        alone = C.Evaluate(C.call(function, address, C.Number("0"), count, C.Number("0")))
        conditions: list[C.CExpr] = [C.Infix(">", threads, C.Number("1")), C.Infix(">", count, C.Number("1"))]
        if loop.work is not None:
            conditions.append(C.Infix(">", self.expressions.estimate(loop.work), C.Number(f"{PARALLEL_CYCLES}.0")))
        condition = C.all_of(conditions)
        assert condition is not None
        out.append(C.IfElse(condition, (many,), (alone,)))
        if FAILED in captured:
            out.extend(self._collect_failure(overflows))
        return self._scoped(out)

    def _outline(
        self, loop: Loop, path: Path, start: C.Name, function: str, structure: str
    ) -> tuple[tuple[str, ...], bool]:
        """Write the body function and its context structure; the variables the context holds, and whether a Python
        integer may overflow inside."""
        dim = loop.dim
        assert isinstance(dim, Dim)
        self.unit.functions.append(C.Text(""))  # reserves the number; functions inside come before
        iteration = self.unit.names.own("t")
        var = self.unit.names.of(dim.var)
        inner = Statements(self.unit, self.expressions, Frame(parallel=True, iteration=iteration), self.line)
        body = inner.block(loop.body, (*path, 0))
        head: list[C.CStmt] = inner.poll() if _has_loop(loop.body) else []
        value = C.plus(start, C.times(C.Name(iteration), C.number(dim.step)))
        self.unit.types[var] = "i64"
        each = C.For(
            iteration, C.Name(f"{OWN}begin"), C.Name(f"{OWN}end"), 1, (C.Declare("const i64", var, value), *head, *body)
        )
        free = set(C.free_names((each,)))
        tail: list[C.CStmt] = []
        heads = list(inner.frame.heads)
        for name in (OVERFLOW, TICKS):
            if name in free:
                heads.append(C.Declare("i64", name, C.Number("0")))
        if OVERFLOW in free:
            self.unit.used.text(c_support.FAILURE)
            shared = C.Prefix("&", C.Arrow(C.Name(FAILED), "overflow"))
            stored = C.Evaluate(C.call("__atomic_store_n", shared, C.Number("1"), C.Number("__ATOMIC_RELAXED")))
            tail.append(C.IfElse(C.Name(OVERFLOW), (stored,)))
        for owner in inner.frame.owners:
            tail.append(C.IfElse(C.Name(owner), (C.Evaluate(C.through(RT, "release", C.Name(owner))),)))
        label: list[C.CStmt] = [C.Label(DONE)] if _jumps_to_done((each,)) else []
        code: C.CBlock = (*heads, each, *label, *tail)
        own = {f"{OWN}begin", f"{OWN}end"}
        captured = tuple(name for name in C.free_names(code) if name not in own)
        self._write_function(function, structure, captured, code)
        return captured, OVERFLOW in free

    def _write_function(self, function: str, structure: str, captured: tuple[str, ...], code: C.CBlock) -> None:
        members, loads = [], []
        for name in captured:
            ctype = self.type_of(name)
            members.append(C.Declare(ctype, name))
            alone = ctype.endswith("*") and name in self.unit.unaliased
            ctype = f"{ctype}restrict" if alone else ctype
            loads.append(C.Declare(ctype, name, C.Arrow(C.Name(f"{OWN}c"), name)))
        if FAILED in captured:
            self.unit.used.text(c_support.FAILURE)
        if captured:
            loads.insert(0, C.Declare(f"const struct {structure} *", f"{OWN}c", C.Name(f"{OWN}context")))
        head = f"static void {function}(void *{OWN}context, i64 {OWN}begin, i64 {OWN}end, i64 {OWN}task)"
        self.unit.functions.append(C.Structure(structure, tuple(members or [C.Declare("char", "none")])))
        self.unit.functions.append(C.Function(head, (*loads, *code)))

    def type_of(self, name: str) -> str:
        """The C type of a variable of the enclosing function."""
        fixed = {RT: "const weft_rt *", FAILED: "k_failure *", WORDS: "i64 *"}
        return fixed[name] if name in fixed else self.unit.types[name]

    def _collect_failure(self, overflows: bool) -> list[C.CStmt]:
        """After a parallel loop: the failure of the lowest iteration becomes the kernel's."""
        failed = C.Name(FAILED)
        stores: list[C.CStmt] = []
        for word, member in enumerate(("code", "line"), 1):
            stores.append(C.Assign(C.Subscript(C.Name(WORDS), C.number(word)), C.Dot(failed, member)))
        for position in range(3):
            value = C.Subscript(C.Dot(failed, "values"), C.number(position))
            stores.append(C.Assign(C.Subscript(C.Name(WORDS), C.number(3 + position)), value))
        stores.append(C.Assign(C.Name(STATUS), C.Dot(failed, "status")))
        stores.append(C.Jump(f"goto {DONE}"))
        out: list[C.CStmt] = [C.IfElse(C.Dot(failed, "status"), tuple(stores))]
        if overflows:
            out.insert(0, C.Assign(C.Name(OVERFLOW), C.Dot(failed, "overflow"), "|="))
        return out


def _jumps_to_done(block: C.CBlock) -> bool:
    for node in block:
        if isinstance(node, C.Jump) and node.text.startswith("goto"):
            return True
        if isinstance(node, C.IfElse) and (_jumps_to_done(node.then) or _jumps_to_done(node.otherwise)):
            return True
        if isinstance(node, (C.Scope, C.For, C.Forever)) and _jumps_to_done(node.body):
            return True
    return False


def _term(stmt: Stmt, op: str) -> Expr | None:
    """e, if the statement is s = s op e or s = e op s; None otherwise."""
    value = stmt.value
    if not isinstance(value, Op) or value.op != op or len(value.args) != 2 or stmt.index:
        return None
    for this, other in (value.args, value.args[::-1]):
        if isinstance(this, Read) and this.buffer == stmt.buffer:
            return other
    return None


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
