"""Counters: a variable that every iteration adds a constant to is a function of the loop's variable.

    k = 3; for i in 0 .. n: a[k] = x[i]; k = k + 1      -->   for i in 0 .. n: a[3 + i] = x[i];   k = 3 + n
    for i in 0 .. n: if k == room: grow(); a[k] = x[i]; k = k + 1
        -->   if k + n > room: grow();  for i in 0 .. n: a[k + i] = x[i];   k = k + n

In: loops with counters that serve as indices; out: loops whose indices are plain, so that they can become statements.
The second form is that of a list that grows by one item an iteration: its memory is made large enough beforehand.
"""

from __future__ import annotations

from dataclasses import field, replace

from weft.ir.expr import Const, Dim, Expr, Op, Read, Var
from weft.ir.index import add as plus
from weft.ir.index import canonical
from weft.ir.index import mul as product
from weft.ir.index import sub as minus
from weft.ir.program import Alloc, Block, Buffer, If, Loop, Node, Program, Rebind, Role, Stmt
from weft.ir.types import INT, PYBOOL
from weft.ir.walk import (
    buffers_written,
    domain_buffers,
    expr_buffers,
    fresh,
    has_exit,
    map_node_exprs,
    map_sub_blocks,
    names_of,
    node_exprs,
    reads,
    rewrite,
    walk,
)
from weft.passes import Knows, PassContext, declared
from weft.records import dataclass

_NAME = "counters"
_ZERO = Const(0, INT)


@declared("counters", after=("whiles",), knows=Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """Every loop of the program, innermost first."""
    if not any(isinstance(node, Loop) for node in walk(program.body)):
        return program
    counters = _Counters(program, context)
    body = counters.block(program.body)
    if body is program.body:
        return program
    return replace(program, body=body, buffers=(*program.buffers, *counters.made))


@dataclass(frozen=True)
class _Counter:
    """A scalar that the node at `position` of a body adds `step` to; `grows` is the node that makes room, if any."""

    name: str
    position: int
    step: int
    grows: int | None = None


@dataclass
class _Counters:
    program: Program
    context: PassContext
    made: list[Buffer] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.taken = names_of(self.program)
        # The size of memory made inside a loop must be what it was there.
        self.sizes = {name for b in self.program.buffers for extent in b.shape for name in expr_buffers(extent)}
        table = self.program.table
        self.scalars = {name for name, b in table.items() if b.role is Role.LOCAL and not b.rank and b.type == INT}

    def block(self, block: Block) -> Block:
        out: list[Node] = []
        for node in block:
            new = map_sub_blocks(node, self.block)
            after: list[Node] = []
            while isinstance(new, Loop) and (counter := self.counter(new)) is not None:
                before, new, end = self.counted(new, counter, out)
                out += before
                after += end
                self.context.done(_NAME, f"`{counter.name}` counts the iterations of the loop", new.span)
            out += (new, *after)
        unchanged = len(out) == len(block) and all(a is b for a, b in zip(out, block))
        return block if unchanged else tuple(out)

    def counter(self, loop: Loop) -> _Counter | None:
        """A counter of a loop that is worth being replaced: an index uses it."""
        if not isinstance(loop.dim, Dim) or abs(loop.dim.step) != 1 or has_exit(loop.body):
            return None
        written = [name for node in walk(loop.body) if not _nests(node) for name in buffers_written(node)]
        if domain_buffers((loop.dim,)) & set(written):
            return None
        for position, node in enumerate(loop.body):
            step = step_of(node)
            if step is None or not isinstance(node, Stmt) or node.buffer not in self.scalars - self.sizes:
                continue
            name = node.buffer
            if written.count(name) == 1 and name in _in_indices(loop.body):
                grows = self.growth(loop.body[:position], name, written) if step == 1 else None
                return _Counter(name, position, step, grows)
        return None

    def growth(self, body: Block, name: str, written: list[str]) -> int | None:
        """The position of `if name == room: room = 2 * room; ...; rebind`, if nothing else changes the room."""
        for position, node in enumerate(body):
            if not isinstance(node, If) or node.orelse or not isinstance(node.condition, Op):
                continue
            condition = node.condition
            if condition.op != "eq":
                continue
            counted, full = condition.args
            if counted != Read(name, (), INT) or not isinstance(full, Read):
                continue
            first = node.then[0]
            sets_room = isinstance(first, Stmt) and first.buffer == full.buffer and not first.index
            only_moves = all(isinstance(inner, (Stmt, Alloc, Rebind)) for inner in node.then)
            moves = only_moves and any(isinstance(inner, Rebind) for inner in node.then)
            if moves and sets_room and written.count(full.buffer) == 1:
                return position
        return None

    def counted(self, loop: Loop, counter: _Counter, before: list[Node]) -> tuple[Block, Loop, Block]:
        """What comes before the loop, the loop without the counter, and what comes after it."""
        dim = loop.dim
        assert isinstance(dim, Dim)
        start, first = self.start(counter.name, before)
        done, count = (
            (minus(Var(dim.var), dim.lo), minus(dim.hi, dim.lo))
            if dim.step == 1
            else (minus(dim.lo, Var(dim.var)), minus(dim.lo, dim.hi))
        )
        trips = Op("maximum", (count, _ZERO), INT)
        step = Const(counter.step, INT)
        here = plus(start, product(step, done))
        body: list[Node] = []
        grown: Block = ()
        for position, node in enumerate(loop.body):
            if position == counter.position:
                here = plus(here, step)
            elif position == counter.grows:
                assert isinstance(node, If)
                grown = (_grown(node, plus(start, trips)),)
            else:
                value = here
                body.append(map_node_exprs(node, lambda e, v=value: replaced(e, counter.name, v)))  # type: ignore[misc]
        end = Stmt((), counter.name, (), plus(start, product(step, trips)), span=loop.span)
        return (*first, *grown), replace(loop, body=tuple(body)), (end,)

    def start(self, name: str, before: list[Node]) -> tuple[Expr, Block]:
        """The counter's value before the loop: what is known of it in this block, or a scalar of its own."""
        value = value_after(before, name)
        if value is not None:
            return value, ()
        buffer = Buffer(fresh(f"{name}_start", self.taken), INT, ())
        self.made.append(buffer)
        return Read(buffer.name, (), INT), (Stmt((), buffer.name, (), Read(name, (), INT)),)


def value_after(block: list[Node], name: str) -> Expr | None:
    """A scalar's value after a block in terms of symbols and variables around it, if assignments there tell."""
    value: Expr | None = None
    for node in block:
        if isinstance(node, Stmt) and node.buffer == name and not (node.domain or node.reduce):
            new = node.value if value is None else replaced(node.value, name, value)
            value = None if expr_buffers(new) else canonical(new)
        elif name in buffers_written(node):
            value = None
    return value


def _nests(node: Node) -> bool:
    return isinstance(node, (Loop, If)) or type(node).__name__ == "While"


def step_of(node: Node) -> int | None:
    """c, if the node is k = k + c."""
    if not isinstance(node, Stmt) or node.index or node.domain or node.reduce or not isinstance(node.value, Op):
        return None
    value = node.value
    if value.op not in ("add", "sub") or value.type != INT or value.args[0] != Read(node.buffer, (), INT):
        return None
    amount = value.args[1]
    if not isinstance(amount, Const) or not isinstance(amount.value, int) or abs(amount.value) > 2**20:
        return None
    return amount.value if value.op == "add" else -amount.value


def _in_indices(body: Block) -> set[str]:
    """The scalars that indices are computed from."""
    found: set[str] = set()
    feeds: dict[str, set[str]] = {}
    for node in walk(body):
        places = list(node.index) if isinstance(node, Stmt) else []
        exprs = (*node_exprs(node), *places)
        places += [part for expr in exprs for read in reads(expr) for part in read.index]
        found |= {name for place in places for name in expr_buffers(place)}
        if isinstance(node, Stmt) and not node.index and node.value.type == INT:
            feeds.setdefault(node.buffer, set()).update(expr_buffers(node.value))
    waiting = list(found)
    while waiting:
        new = feeds.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def replaced(expr: Expr, name: str, value: Expr) -> Expr:
    """An expression with the value of a variable instead of the variable."""

    def visit(part: Expr) -> Expr:
        return value if isinstance(part, Read) and part.buffer == name else part

    return rewrite(expr, visit)


def _grown(node: If, wanted: Expr) -> If:
    """if k == room: room = 2 * room; ...   -->   if wanted > room: room = max(2 * room, wanted); ..."""
    assert isinstance(node.condition, Op)
    room, first = node.condition.args[1], node.then[0]
    assert isinstance(first, Stmt)
    enough = replace(first, value=Op("maximum", (first.value, wanted), INT))
    return replace(node, condition=Op("gt", (wanted, room), PYBOOL), then=(enough, *node.then[1:]))


__all__ = ["run"]
