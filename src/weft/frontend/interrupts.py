"""What leaves a block before its end.  In: the nodes of a block; out: the same nodes with a scalar that tells how the
block was left, and nothing that leaves it.

    check c1 : KeyError              if c1:
    s1                                   s1
    for i in ...:                        for i in ...:
        check c2 : IndexError   -->          if not c2: left = 2; break
        s2                                   s2
    s3                                   if left == 0: s3
                                     else: left = 1
That is how `try` catches exceptions, how `finally` runs on the way of a `return` or `break`, and how the consumer of a
generator leaves loops that are not its own.  The result is ordinary IR: no pass moves what it does past what it tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from weft.errors import Unsupported
from weft.frontend import arith
from weft.frontend.emit import Emitter
from weft.ir import walk
from weft.ir.expr import TRUE, ZERO, Const, Expr, Op, Read, integer
from weft.ir.program import (
    HAND_BACK,
    Block,
    Break,
    Check,
    Continue,
    If,
    Invoke,
    Loop,
    LoopKind,
    Node,
    Return,
    Stmt,
    While,
)
from weft.ir.types import BOOL, INT
from weft.records import dataclass

#: The exception of a Check that is a jump of the user's (`break` of a loop over a generator): "->name".
_JUMP = "->"
#: The exception of a Check that passes by the handlers of a generator: "~label~name".
_FOREIGN = "~"
FALSE = Const(False, BOOL)


def jump(label: str) -> str:
    """The exception that stands for leaving what has this label."""
    return _JUMP + label


def is_jump(check: Check) -> bool:
    return check.exception.startswith(_JUMP)


def foreign(node: Node, label: str) -> Node:
    """A node of a generator's consumer inside the generator: what it raises is not for the generator's handlers."""
    if isinstance(node, Check) and node.exception != HAND_BACK and not is_jump(node):
        return replace(node, exception=f"{_FOREIGN}{label}{_FOREIGN}{node.exception}")
    return walk.map_sub_blocks(node, lambda block: walk.map_block(block, lambda inner: foreign(inner, label)))


def is_foreign(check: Check) -> bool:
    return check.exception.startswith(_FOREIGN)


def at_home(node: Node, label: str) -> Node:
    """The node behind the generator: what it raises is what it was."""
    mark = f"{_FOREIGN}{label}{_FOREIGN}"
    if isinstance(node, Check):
        return replace(node, exception=node.exception.removeprefix(mark))
    return walk.map_sub_blocks(node, lambda block: walk.map_block(block, lambda inner: at_home(inner, label)))


@dataclass
class Exits:
    """The ways in which a block is left: number k of `checks` as k + 1 in the scalar `left`, of `leaves` as -(k + 1).

    `values` keep what the message of a check shows.
    """

    left: str
    emitter: Emitter
    checks: list[Check] = field(default_factory=list)
    leaves: list[Node] = field(default_factory=list)
    values: list[str] = field(default_factory=list)

    @property
    def now(self) -> Expr:
        return Read(self.left, (), INT)

    @property
    def normal(self) -> Expr:
        """Whether the block was run to its end."""
        return Op("eq", (self.now, ZERO), BOOL)

    def raised(self, check: Check) -> Block:
        """What notes that a check has failed."""
        self.checks.append(check)
        while len(self.values) < len(check.values):
            self.values.append(self.emitter.declare("shown", INT).name)
        shown = [
            Stmt((), name, (), arith.cast(value, INT), None, check.span)
            for name, value in zip(self.values, check.values)
        ]
        return (*shown, Stmt((), self.left, (), integer(len(self.checks)), None, check.span))

    def departed(self, node: Node) -> Block:
        """What notes that control leaves by a return, break or continue."""
        if node not in self.leaves:
            self.leaves.append(node)
        return (Stmt((), self.left, (), integer(-1 - self.leaves.index(node)), None, node.span),)

    def among(self, places: list[int]) -> Expr:
        """Whether one of these checks has failed."""
        if len(places) == len(self.checks):
            return Op("gt", (self.now, ZERO), BOOL)
        tests = [Op("eq", (self.now, integer(place + 1)), BOOL) for place in places]
        result: Expr = tests[0] if tests else FALSE
        for test in tests[1:]:
            result = Op("or", (result, test), BOOL)
        return result

    def again(self, places: list[int]) -> tuple[Check, ...]:
        """The checks, to fail again if it was one of them."""
        return tuple(self._again(place) for place in places)

    def _again(self, place: int) -> Check:
        check = self.checks[place]
        values = tuple(Read(name, (), INT) for name in self.values[: len(check.values)])
        passed = Op("ne", (self.now, integer(place + 1)), BOOL)
        return Check((), passed, check.exception, check.message, values, check.span)

    def leave(self) -> Block:
        """What was to leave the block leaves now."""
        return tuple(
            If(Op("eq", (self.now, integer(-1 - place)), BOOL), (node,), (), node.span)
            for place, node in enumerate(self.leaves)
        )


class Interrupts:
    """Rewrites one block; `catches` says which checks end there, `leaving` whether returns and jumps do."""

    def __init__(self, emitter: Emitter, catches: Callable[[Check], bool], leaving: bool = False) -> None:
        self.exits = Exits(emitter.declare("left", INT).name, emitter)
        self.catches = catches
        self.leaving = leaving
        #: Calls of recursive functions in the block: what they raise is not known here.
        self.calls: list[Invoke] = []

    def run(self, nodes: Block) -> Block:
        """The nodes, none of which leaves the block any more."""
        block, stops = self._block(nodes, looping=False)
        if not stops:
            return nodes
        return (Stmt((), self.exits.left, (), ZERO, None, nodes[0].span), *block)

    def _block(self, nodes: Block, looping: bool) -> tuple[Block, bool]:
        """The nodes rewritten, and whether they may stop; inside a loop, what stops also breaks it."""
        done: list[Node] = []
        stops = False
        for place, node in enumerate(nodes):
            rest = nodes[place + 1 :]
            ending = self._ending(node, looping)
            if ending is not None:
                return (*done, *ending), True
            if isinstance(node, Check) and self.catches(node):
                stops = True
                inside_loop = looping or bool(node.domain)
                failed = (*self.exits.raised(replace(node, domain=())), *_broken(inside_loop, node))
                if node.domain:
                    done += self._everywhere(node, failed)
                elif looping:
                    done.append(If(arith.negate(node.condition), failed, (), node.span))
                    continue
                else:
                    after, _ = self._block(rest, looping)
                    return (*done, If(node.condition, after, failed, node.span)), True
                inner_loop = True
            else:
                if isinstance(node, Invoke) and self.catches(Check((), FALSE, "Exception", "", (), node.span)):
                    self.calls.append(node)
                node, inside = self._inner(node, looping)
                done.append(node)
                stops, inner_loop = stops or inside, isinstance(node, (Loop, While))
                if not inside:
                    continue
            if looping and inner_loop:
                done.append(If(arith.negate(self.exits.normal), (Break(node.span),), (), node.span))
            elif not looping:
                after, _ = self._block(rest, looping)
                if after:
                    done.append(If(self.exits.normal, after, (), node.span))
                return tuple(done), True
        return (tuple(done), True) if stops else (nodes, False)

    def _ending(self, node: Node, looping: bool) -> Block | None:
        """What stands for a node after which nothing of its block runs; None if it is none that concerns this."""
        if isinstance(node, Check) and self.catches(node) and node.condition == FALSE and not node.domain:
            return (*self.exits.raised(node), *_broken(looping, node))
        mine = isinstance(node, Return) or (isinstance(node, (Break, Continue)) and not looping)
        if self.leaving and mine:
            return (*self.exits.departed(node), *_broken(looping, node))
        return None

    def _everywhere(self, check: Check, failed: Block) -> Block:
        """A check at every point of its domain."""
        nodes: Block = (If(arith.negate(check.condition), failed, (), check.span),)
        for depth, dim in enumerate(reversed(check.domain)):
            if depth:
                nodes = (*nodes, If(arith.negate(self.exits.normal), (Break(check.span),), (), check.span))
            nodes = (Loop(dim, nodes, span=check.span),)
        return nodes

    def _inner(self, node: Node, looping: bool) -> tuple[Node, bool]:
        """A compound node with its blocks rewritten."""
        if isinstance(node, If):
            then, one = self._block(node.then, looping)
            orelse, other = self._block(node.orelse, looping)
            return (replace(node, then=then, orelse=orelse), True) if one or other else (node, False)
        if isinstance(node, Loop):
            body, stops = self._block(node.body, looping=True)
            if stops and node.kind is not LoopKind.SEQUENTIAL:
                raise Unsupported(node.span, "an exception that would leave a parallel loop for a handler around it")
            return (replace(node, body=body), True) if stops else (node, False)
        if isinstance(node, While):
            prelude, first = self._block(node.prelude, looping=True)
            body, second = self._block(node.body, looping=True)
            if first:
                body = (*prelude, If(arith.negate(node.condition), (Break(node.span),), (), node.span), *body)
                return While((), TRUE, body, node.span), True
            return (replace(node, body=body), True) if second else (node, False)
        return node, False


def _broken(looping: bool, node: Node) -> Block:
    return (Break(node.span),) if looping else ()


def uncaught_jumps(nodes: Block) -> list[Check]:
    """Jumps that nothing around them has taken."""
    return [node for node in walk.walk(nodes) if isinstance(node, Check) and is_jump(node)]


def always(check: Check) -> bool:
    """Whether a check stands for a `raise` of the program's own."""
    return isinstance(check.condition, Const)
