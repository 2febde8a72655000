"""Common: what two statements compute alike is computed once.  In: statements in order; out: readers of the second
result read the first one, sums that stand in several places have a name, and a test made before is not made again.

    t[i] = exp(a[i]);  u[k] = exp(a[k]);  f(t, u)    -->    t[i] = exp(a[i]);  f(t, t)
    x = sum[k] a[k] / n;  y = sum[l] a[l] - 1        -->    c = sum[k] a[k];  x = c / n;  y = c - 1

Contents are numbered: what the memory of a buffer holds is described by the statements that wrote it and the contents
that they read, up to the names of dimensions.  Equal numbers are equal contents, so nothing need be known about what
lies between two statements; any write that is not understood gives its target a number of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import field, replace

from weft.analysis.effects import flops, sets_all
from weft.errors import Span
from weft.ir.expr import ZERO, Cast, Const, Dim, Domain, Expr, Op, Read, Reduce, Var, dim_vars, is_const
from weft.ir.program import Alloc, Block, Buffer, Check, If, Library, Loop, Node, Program, Role, Stmt, While
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    children,
    free_vars,
    fresh,
    map_children,
    map_dim,
    map_node_exprs,
    names_of,
    rewrite,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.passes.forward import is_cheap
from weft.passes.simplifying import deadcode
from weft.records import dataclass

_NAME = "common"
# A reduction of fewer cycles than this (a sum of a known few terms has become operations) is no reason for a variable.
_DEAR = 1000

Names = dict[str, int]


@declared("common", after=("raise",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Two walks: the first counts sums, the second rewrites."""
    if sum(isinstance(node, (Stmt, Library)) for node in walk(program.body)) < 2:
        return program
    numbering = _Numbering(program)
    _Walk(program, context, numbering, None).block(program.body)
    repeated = {number for number, count in numbering.sums.items() if count > 1}
    rewriter = _Walk(program, context, _Numbering(program), repeated)
    body = rewriter.block(program.body)
    if not rewriter.count:
        return program
    return deadcode.remove(replace(program, body=body, buffers=program.buffers + tuple(rewriter.made)))


@dataclass
class _Numbering:
    """Numbers of contents: equal descriptions have equal numbers, in both walks the same ones."""

    program: Program
    table: dict[Hashable, int] = field(default_factory=dict)
    state: dict[str, int] = field(default_factory=dict)
    sums: dict[int, int] = field(default_factory=dict)
    events: int = 0

    def __post_init__(self) -> None:
        self.parameters = [b.name for b in self.program.buffers if b.role is Role.PARAM and b.rank > 0]
        for buffer in self.program.buffers:
            self.state[buffer.name] = self.number(("entry", buffer.name))

    def number(self, key: Hashable) -> int:
        return self.table.setdefault(key, len(self.table))

    def unknown(self, names: Iterable[str]) -> None:
        """Buffers were written in a way that is not followed."""
        for name in sorted(names):
            self.events += 1
            self.set(name, self.number(("unknown", self.events)))

    def set(self, name: str, number: int) -> None:
        """A write to one array of the caller may change another one that shares its memory."""
        if name in self.parameters:
            for other in self.parameters:
                self.events += 1
                self.state[other] = self.number(("unknown", self.events))
        self.state[name] = number

    def axes(self, name: str) -> tuple[bool, ...]:
        """Of each axis of an array, whether there is more than one place along it."""
        buffer = self.program.table.get(name)
        return () if buffer is None else tuple(not is_const(size, 1) for size in buffer.shape)

    def long(self, name: str, index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """An index without the axes along which there is one place: a row is a vector."""
        axes = self.axes(name)
        return tuple(part for part, is_long in zip(index, axes) if is_long) if len(axes) == len(index) else index

    # --- expressions ---

    def expr(self, expr: Expr, names: Names) -> int:
        if isinstance(expr, Var):
            return self.number(("bound", names[expr.name]) if expr.name in names else ("var", expr.name))
        if isinstance(expr, Const):
            return self.number(expr)
        if isinstance(expr, Read):
            index = tuple(self.expr(part, names) for part in self.long(expr.buffer, expr.index))
            return self.number(("read", self.state[expr.buffer], index, expr.of))
        if isinstance(expr, Op):
            return self.number((expr.op, tuple(self.expr(part, names) for part in expr.args), expr.of))
        if isinstance(expr, Cast):
            return self.number(("cast", self.expr(expr.value, names), expr.of))
        if isinstance(expr, Reduce):
            dims, inner = self.domain(expr.dims, names)
            return self.number(("reduce", expr.op, dims, self.expr(expr.value, inner)))
        return self.number(expr)

    def domain(self, domain: Domain, names: Names) -> tuple[tuple[Hashable, ...], Names]:
        """The dimensions by their bounds, and their variables by the order in which they are bound."""
        out: list[Hashable] = []
        for dim in domain:
            if isinstance(dim, Dim):
                out.append((self.expr(dim.lo, names), self.expr(dim.hi, names), dim.step))
            else:
                held = (self.state[dim.pointer], self.state[dim.coordinate])
                out.append((held, self.expr(dim.parent, names)))
            for name in dim_vars((dim,)):
                names = {**names, name: len(names)}
        return tuple(out), names

    # --- nodes ---

    def write(self, stmt: Stmt) -> int:
        """The number of what the statement's target holds behind it."""
        dims, names = self.domain(stmt.domain, {})
        index = tuple(self.expr(part, names) for part in self.long(stmt.buffer, stmt.index))
        value = self.expr(stmt.value, names)
        table = self.program.table
        held = table[stmt.buffer].shape if stmt.index else ()
        before = None if sets_all(stmt, held) else self.state[stmt.buffer]
        sizes = self.long(stmt.buffer, table[stmt.buffer].shape) if stmt.buffer in table else ()
        shape = tuple(self.expr(size, {}) for size in sizes)
        return self.number(("stmt", before, shape, dims, index, value, stmt.reduce))

    def library(self, node: Library) -> None:
        """A routine's outputs, told by its inputs; where it overwrites these, nothing is known."""
        written = buffers_written(node)
        if written & buffers_read(node) or len(written) != len(node.outputs) + (node.status is not None):
            self.unknown(written)
            return
        dims, names = self.domain(node.domain, {})
        sides: list[tuple[Hashable, ...]] = []
        for side in (node.inputs, node.outputs):
            places: list[Hashable] = []
            for operand in side:
                over, inner = self.domain(operand.dims, names)
                index = tuple(self.expr(part, inner) for part in operand.index)
                shape = tuple(self.expr(size, {}) for size in self.program.table[operand.buffer].shape)
                places.append((over, index, shape, self.state[operand.buffer]))
            sides.append(tuple(places))
        rest = replace(node, domain=(), inputs=(), outputs=(), status=None)
        number = self.number(("library", rest, dims, tuple(sides)))
        for place, operand in enumerate(node.outputs):
            self.set(operand.buffer, self.number(("output", number, place)))
        if node.status is not None:
            self.set(node.status, self.number(("status", number)))

    def alloc(self, node: Alloc) -> None:
        buffer = self.program.table[node.buffer]
        shape = tuple(self.expr(size, {}) for size in buffer.shape)
        self.set(node.buffer, self.number(("alloc", node.zero, shape, buffer.type)))

    def check(self, check: Check) -> int:
        dims, names = self.domain(check.domain, {})
        values = tuple(self.expr(part, names) for part in check.values)
        return self.number(("check", dims, self.expr(check.condition, names), check.exception, check.message, values))


@dataclass
class _Walk:
    """One walk in the order of execution; `repeated` (None: only count) are the sums worth a variable."""

    program: Program
    context: PassContext
    numbering: _Numbering
    repeated: set[int] | None
    count: int = 0
    made: list[Buffer] = field(default_factory=list)
    holders: dict[int, str] = field(default_factory=dict)  # contents that were not cheap: a buffer that has them
    tested: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.taken = names_of(self.program)
        self.kinds = {b.name: (b.type, b.rank, b.role) for b in self.program.buffers}

    def block(self, block: Block) -> Block:
        out: list[Node] = []
        for node in block:
            out += self.node(node)
        return block if len(out) == len(block) and all(a is b for a, b in zip(out, block)) else tuple(out)

    def node(self, node: Node) -> Block:
        numbering = self.numbering
        if isinstance(node, Stmt):
            return self.statement(node)
        if isinstance(node, Check):
            number = numbering.check(node)
            if number in self.tested and self.repeated is not None:
                self.count += 1
                return ()
            self.tested.add(number)
            return (self.reading(node),)
        if isinstance(node, Alloc):
            numbering.alloc(node)
        elif isinstance(node, Library):
            numbering.library(node)
            for operand in node.outputs:
                self.hold(operand.buffer)
        elif isinstance(node, If):
            return (self.branch(node),)
        elif isinstance(node, (Loop, While)):
            return (self.repetition(node),)
        else:
            numbering.unknown(buffers_written(node))
        return (node,)

    def statement(self, stmt: Stmt) -> Block:
        before, named = self.named(stmt)
        number = self.numbering.write(stmt)
        new = self.reading(named)
        self.numbering.set(stmt.buffer, number)
        if not (isinstance(stmt.value, (Const, Var)) or (stmt.index and is_cheap(stmt.value))):
            self.hold(stmt.buffer)
        return (*before, new)

    def hold(self, name: str) -> None:
        number = self.numbering.state[name]
        if name in self.kinds and self.holder(number) is None:
            self.holders[number] = name

    def holder(self, number: int) -> str | None:
        """A buffer that has these contents at this moment."""
        name = self.holders.get(number)
        return name if name is not None and self.numbering.state[name] == number else None

    def branch(self, node: If) -> If:
        condition = self.expression(node.condition)
        blocks: list[Block] = []
        for inner in (node.then, node.orelse):
            saved = dict(self.numbering.state), dict(self.holders), set(self.tested)
            blocks.append(self.block(inner))
            self.numbering.state, self.holders, self.tested = saved
        self.numbering.unknown(buffers_written(node))
        if condition is node.condition and blocks[0] is node.then and blocks[1] is node.orelse:
            return node
        return replace(node, condition=condition, then=blocks[0], orelse=blocks[1])

    def repetition(self, node: Loop | While) -> Loop | While:
        new: Loop | While = node
        if isinstance(node, Loop):
            dim = map_dim(node.dim, self.expression)
            new = node if dim is node.dim else replace(node, dim=dim)
        written = buffers_written(node)
        self.numbering.unknown(written)
        saved = dict(self.numbering.state), dict(self.holders), set(self.tested)
        if isinstance(new, Loop):
            body = self.block(new.body)
            new = new if body is new.body else replace(new, body=body)
        else:
            prelude = self.block(new.prelude)
            condition = self.expression(new.condition)
            body = self.block(new.body)
            if prelude is not new.prelude or condition is not new.condition or body is not new.body:
                new = replace(new, prelude=prelude, condition=condition, body=body)
        self.numbering.state, self.holders, self.tested = saved
        self.numbering.unknown(written)
        return new

    # --- reading the first of equal contents ---

    def expression(self, expr: Expr, target: str = "") -> Expr:
        """The expression reading, instead of a buffer, the one that had the same contents before it; not for `target`,
        since a statement is known for an accumulation by its own target's name."""
        if self.repeated is None:
            return expr

        def visit(part: Expr) -> Expr:
            other = self.first(part.buffer) if isinstance(part, Read) and part.buffer != target else None
            if other is None:
                return part
            assert isinstance(part, Read)
            self.count += 1
            parts = iter(self.numbering.long(part.buffer, part.index))
            index = tuple(next(parts) if is_long else ZERO for is_long in self.numbering.axes(other))
            return replace(part, buffer=other, index=index)

        return rewrite(expr, visit)

    def first(self, name: str) -> str | None:
        if name not in self.kinds or self.kinds[name][2] is not Role.LOCAL:
            return None
        other = self.holder(self.numbering.state[name])
        if other is None or other == name or self.kinds[other][0] != self.kinds[name][0]:
            return None
        return other if sum(self.numbering.axes(other)) == sum(self.numbering.axes(name)) else None

    def reading(self, node: Stmt | Check) -> Stmt | Check:
        if self.repeated is None or not any(self.first(name) for name in buffers_read(node)):
            return node
        count = self.count
        target = node.buffer if isinstance(node, Stmt) else ""
        new = map_node_exprs(node, lambda e: self.expression(e, target))
        assert isinstance(new, (Stmt, Check))
        if self.count > count:
            self.context.done(_NAME, "reads what was computed before instead of computing it again", node.span)
        return new

    # --- sums in several places ---

    def named(self, stmt: Stmt) -> tuple[Block, Stmt]:
        """Sums that other places need as well are variables; a whole value of a variable is one already."""
        own = set(dim_vars(stmt.domain))
        found = [part for part in closed_sums(stmt.value, own) if flops(part) >= _DEAR]
        before: list[Node] = []
        for part in dict.fromkeys(found):
            number = self.numbering.expr(part, {})
            if self.repeated is None:
                self.numbering.sums[number] = self.numbering.sums.get(number, 0) + found.count(part)
            elif number in self.repeated:
                alone = part is stmt.value and not stmt.index and not stmt.domain and stmt.reduce is None
                stmt = self.variable(part, number, stmt, before, alone)
        return tuple(before), stmt

    def variable(self, part: Expr, number: int, stmt: Stmt, before: list[Node], alone: bool) -> Stmt:
        content = self.numbering.number(("stmt", None, (), (), (), number, None))
        name = self.holder(content)
        if name is None and alone:
            return stmt
        if name is None or self.kinds[name][0] != part.type:
            name = self.new_scalar(part, stmt.span)
            before.append(Stmt((), name, (), part, span=stmt.span))
            self.numbering.state[name] = content
            self.holders[content] = name
        self.count += 1
        self.context.done(_NAME, "a sum that stands in several places is computed once", stmt.span)
        read = Read(name, (), part.type)
        return replace(stmt, value=_with(stmt.value, part, read))

    def new_scalar(self, part: Expr, span: Span) -> str:
        buffer = Buffer(fresh("common", self.taken), part.type, (), span=span)
        self.made.append(buffer)
        self.kinds[buffer.name] = (buffer.type, 0, Role.LOCAL)
        return buffer.name


def closed_sums(expr: Expr, own: set[str]) -> Iterator[Expr]:
    """The outermost reductions that do not depend on a statement's dimensions, and are evaluated in any case."""
    if isinstance(expr, Reduce):
        if not free_vars(expr) & own:
            yield expr
    elif isinstance(expr, Op) and expr.op == "select":
        yield from closed_sums(expr.args[0], own)
    elif not isinstance(expr, Read):
        for child in children(expr):
            yield from closed_sums(child, own)


def _with(expr: Expr, old: Expr, new: Expr) -> Expr:
    if expr == old:
        return new
    return expr if isinstance(expr, Reduce) else map_children(expr, lambda e: _with(e, old, new))


__all__ = ["closed_sums", "run"]
