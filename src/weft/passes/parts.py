"""Parts of a program as programs.  In: a program with calls of its own functions, or with tasks, and a pass that knows
neither; out: the program with the pass applied to every run of statements that has none of them.

    finish { task { A; B } ; task { C } } ; D ; invoke f ; E      -->   the pass on (A; B), (C), (D) and (E)

In the program of a part everything that the rest of the program can see is a parameter: memory from outside, and
variables that are alive around the part.  The variables of loops around it are symbols, and their bounds guards, from
which a pass may conclude.  What a pass does is taken over if it asks nothing of the caller: no guard, no argument apart
from another, no call that Python would have to repeat.

Beside other tasks a part must not write elements that its source does not write, not even what they hold already.  Such
parts only see passes that know this (`Knows.BESIDE`), and none of their statements writes memory from outside under a
condition, which passes would turn into a choice between the new and the old value.
"""

from __future__ import annotations

from dataclasses import replace

from weft.analysis.effects import Liveness
from weft.ir.expr import Dim, Expr, Op, Reduce, Var, dim_vars
from weft.ir.program import (
    HAND_BACK,
    REGIONS,
    Alloc,
    Argument,
    Block,
    Buffer,
    Call,
    Check,
    If,
    Invoke,
    Library,
    Loop,
    LoopKind,
    Node,
    NoneOut,
    Program,
    Rebind,
    Return,
    Role,
    Stmt,
    Symbol,
    While,
)
from weft.ir.types import BOOL, INT
from weft.ir.walk import (
    buffers_written,
    expr_buffers,
    has_exit,
    mentions,
    names_of,
    node_exprs,
    sub_blocks,
    subexpressions,
    touched,
    walk,
)
from weft.passes import Knows, Pass, PassContext
from weft.records import dataclass


def applied(each: Pass, program: Program, context: PassContext, function: bool, beside: bool) -> Program:
    """A pass on every part of a program, which is a `function` of another or the main one; `beside`: tasks may run
    beside the whole of it."""
    return _Parts(each, program, context, function).whole(beside)


@dataclass
class _Parts:
    """One pass on the parts of one program; `program` is what has become of it so far."""

    each: Pass
    program: Program
    context: PassContext
    function: bool

    def whole(self, beside: bool) -> Program:
        self.live = Liveness(self.program)
        self.uses = mentions(self.program.body)
        self.moving = _moving(self.program)
        body = self.block(self.program.body, (), beside)
        return self.program if body is self.program.body else replace(self.program, body=body)

    def block(self, block: Block, around: tuple[Loop, ...], beside: bool) -> Block:
        nodes: list[Node] = []
        run: list[Node] = []
        for node in (*block, None):
            if node is not None and self._fits(node, beside):
                run.append(node)
                continue
            nodes += self._treated(tuple(run), around, beside)
            run = []
            if node is not None:
                nodes.append(self._inside(node, around, beside))
        return block if len(nodes) == len(block) and all(a is b for a, b in zip(nodes, block)) else tuple(nodes)

    def _inside(self, node: Node, around: tuple[Loop, ...], beside: bool) -> Node:
        if isinstance(node, Loop):
            inner = self.block(node.body, (*around, node), beside or node.kind is LoopKind.FINISH)
            return node if inner is node.body else replace(node, body=inner)
        if isinstance(node, While):
            inner = self.block(node.body, around, beside)
            return node if inner is node.body else replace(node, body=inner)
        if isinstance(node, If):
            then, orelse = (self.block(inner, around, beside) for inner in (node.then, node.orelse))
            unchanged = then is node.then and orelse is node.orelse
            return node if unchanged else replace(node, then=then, orelse=orelse)
        return node

    def _fits(self, node: Node, beside: bool) -> bool:
        """Whether a node may belong to a part."""
        if has_exit((node,)):
            return False
        for inner in walk((node,)):
            if isinstance(inner, (Invoke, Rebind)) or (isinstance(inner, Loop) and inner.kind in REGIONS):
                return False
            if beside and isinstance(inner, (If, While)) and self._writes_memory(inner):
                return False
        return self.moving.isdisjoint(touched(node) | _allocated(node))

    def _writes_memory(self, node: Node) -> bool:
        """Whether a branch writes arrays that it does not make itself."""
        made = _allocated(node)
        written = {name for block in sub_blocks(node) for inner in block for name in buffers_written(inner)}
        return any(self.program.table[name].rank and name not in made for name in written)

    # --- one part -----------------------------------------------------------------------------------------------------

    def _treated(self, run: Block, around: tuple[Loop, ...], beside: bool) -> Block:
        if not any(map(_is_work, run)) or (beside and Knows.BESIDE not in self.each.knows):
            return run
        whole = run
        before, run = self._memory_first(run)
        inside = mentions(run)
        if any(self._is_outside(name, inside) for node in run for name in _allocated(node)):
            return whole  # memory that others see is made in the midst of it
        part = self._part(run, around)
        log = len(self.context.log)
        new = self.each(part, self.context)
        body = None if new is part else self._taken_over(part, new)
        if body is None:
            del self.context.log[log:]
            return whole
        return (*before, *body)

    def _memory_first(self, run: Block) -> tuple[Block, Block]:
        """Allocations of memory that others see, as far as they can be made before the part; and the part."""
        inside = mentions(run)
        before: list[Node] = []
        written: set[str] = set()
        rest: list[Node] = []
        for node in run:
            shape = self.program.table[node.buffer].shape if isinstance(node, Alloc) else ()
            if isinstance(node, Alloc) and self._is_outside(node.buffer, inside):
                if written.isdisjoint(frozenset().union(*map(expr_buffers, shape))):
                    before.append(node)
                    continue
            written |= buffers_written(node)
            rest.append(node)
        return tuple(before), tuple(rest)

    def _is_outside(self, name: str, inside: dict[str, int]) -> bool:
        table = self.program.table
        return table[name].role is not Role.LOCAL or self.uses.get(name, 0) > inside.get(name, 0)

    def _part(self, run: Block, around: tuple[Loop, ...]) -> Program:
        """The program of a part; what is outside of it is a parameter."""
        inside = mentions(run)
        after = self.live.live_after(run[-1])
        alive = after | self.live.live_before(run, after)
        made = set().union(*map(_allocated, run))
        buffers: list[Buffer] = []
        for buffer in self.program.buffers:
            name = buffer.name
            if buffer.role is Role.PARAM:
                buffers.append(buffer)
            elif name not in inside:
                buffers.append(Buffer(name, INT, ()))  # no new name is this one
            elif name in made or (not buffer.rank and name not in alive):
                buffers.append(buffer)
            else:
                buffers.append(replace(buffer, role=Role.PARAM))
        variables = [name for loop in around for name in dim_vars((loop.dim,))]
        known = {buffer.name for buffer in buffers} | {symbol.name for symbol in self.program.symbols}
        own = names_of(replace(self.program, buffers=(), symbols=(), guards=(), results=(), body=run))
        taken = names_of(self.program) - known - own - set(variables)
        arguments = [symbol.name for symbol in self.program.symbols if isinstance(symbol.source, Argument)]
        return replace(
            self.program,
            params=(*variables, *arguments, *(buffer.name for buffer in buffers if buffer.role is Role.PARAM)),
            symbols=(*self.program.symbols, *(Symbol(name, Argument(name)) for name in variables)),
            buffers=(*buffers, *(Buffer(name, INT, ()) for name in sorted(taken))),
            guards=(*self._guards(), *_bounds(around)),
            body=(*run, Return(0)),
            results=(NoneOut(),),
            functions=(),
            arranged=(),
        )

    def _guards(self) -> tuple[Check, ...]:
        """What holds at the entry of the program and cannot change."""
        guards = self.program.guards
        return tuple(guard for guard in guards if not any(expr_buffers(expr) for expr in node_exprs(guard)))

    def _taken_over(self, part: Program, new: Program) -> Block | None:
        """The new body of a part, its memory noted in the program; None if it asks what only a caller can answer."""
        *body, last = new.body
        ended = isinstance(last, Return) and not any(isinstance(node, Return) for node in walk(tuple(body)))
        pairs = self._pairs(part, new)
        known = {buffer.name: buffer for buffer in part.buffers}
        made = [buffer for buffer in new.buffers if buffer.name not in known]
        if (
            not ended
            or pairs is None
            or new.symbols != part.symbols
            or len(new.guards) > len(part.guards)
            or (_repeats(tuple(body)) and not _repeats(part.body))
            or any(buffer.role is not Role.LOCAL for buffer in made)
        ):
            return None
        changed = {
            buffer.name: buffer
            for buffer in new.buffers
            if buffer.role is Role.LOCAL and known.get(buffer.name, buffer) != buffer
        }
        buffers = tuple(changed.get(buffer.name, buffer) for buffer in self.program.buffers)
        self.program = replace(self.program, buffers=(*buffers, *made), disjoint=(*self.program.disjoint, *pairs))
        return tuple(body)

    def _pairs(self, part: Program, new: Program) -> tuple[tuple[str, str], ...] | None:
        """Arguments that the new part takes to be apart; None if nobody could make sure of that."""
        table = self.program.table
        found = [pair for pair in new.disjoint if pair not in part.disjoint]
        pairs = tuple(pair for pair in found if all(table[name].role is Role.PARAM for name in pair))
        return None if pairs and self.function else pairs


def _moving(program: Program) -> set[str]:
    """Buffers that are not the same memory all along, as those of lists, dicts and sets: no parameter is like that."""
    found = {buffer.name for buffer in program.buffers if buffer.role is Role.HELD}
    written = {name for node in program.body for name in buffers_written(node)}
    fixed = {buffer.name for buffer in program.buffers if buffer.role is Role.PARAM and buffer.name not in written}
    for buffer in program.buffers:
        read = set().union(*map(expr_buffers, buffer.shape)) - fixed  # what grows has a size that is written
        if read or (buffer.rank and buffer.type.weak and buffer.role is not Role.PARAM):
            found |= {buffer.name, *read}
    for node in walk(program.body):
        if isinstance(node, Rebind):
            found |= {*node.targets, *node.sources}
        if isinstance(node, Invoke):
            found |= {operand.buffer for operand in node.operands if not operand.index}
    return found


def _allocated(node: Node) -> set[str]:
    return {inner.buffer for inner in walk((node,)) if isinstance(inner, Alloc)}


def _is_work(node: Node) -> bool:
    """Whether a node repeats anything: passes have nothing to do elsewhere."""
    if isinstance(node, (Loop, While, Call, Library)) or (isinstance(node, Stmt) and node.domain):
        return True
    if any(isinstance(sub, Reduce) for expr in node_exprs(node) for sub in subexpressions(expr)):
        return True
    return any(_is_work(inner) for block in sub_blocks(node) for inner in block)


def _bounds(around: tuple[Loop, ...]) -> list[Check]:
    """What is known of the variables of loops around a part."""
    found: list[Check] = []
    for loop in around:
        dim = loop.dim
        if isinstance(dim, Dim) and dim.step == 1 and loop.kind not in REGIONS:
            var: Expr = Var(dim.var)
            tests = [Op("le", (dim.lo, var), BOOL), Op("lt", (var, dim.hi), BOOL)]
            found += [Check((), test, HAND_BACK) for test in tests if not expr_buffers(test)]
    return found


def _repeats(block: Block) -> bool:
    """Whether there are checks after which Python would repeat the call: only the front end knows whether it may."""
    return any(isinstance(node, Check) and node.exception == HAND_BACK for node in walk(block))
