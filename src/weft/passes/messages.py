"""Messages: waits come as late as they may, and sends that nobody receives are found.  In: a program with messages
between ranks; out: the same with waits behind the statements that do not need them, and a warning for each send to a
neighbour by rank while no receive of the function is from the opposite one.

    wait (a under way);  b[i] = f(c[i]);  d[i] = a[i]     -->     b[i] = f(c[i]);  wait (a under way);  d[i] = a[i]

    Isend(a, (rank + 1) % size);  Irecv(b, (rank + 1) % size)      the first needs a receive from rank - 1

All ranks run the same function.  What a message to `rank + d` meets is the receive from `rank - d` with the same tag.
A receive whose source or tag is not known, as a number beside the rank, might be the one: then nothing is said.
"""

from __future__ import annotations

import warnings
from dataclasses import replace

from weft.errors import MessageWarning, Span
from weft.ir.expr import Cast, Const, Expr, Op, Read
from weft.ir.program import (
    Alloc,
    Block,
    Break,
    Check,
    Continue,
    If,
    Invoke,
    Library,
    Loop,
    Node,
    Operand,
    Program,
    Rebind,
    Return,
    Role,
    Stmt,
)
from weft.ir.routines import MESSAGES, ROUTINES
from weft.ir.walk import buffers_written, touched, walk
from weft.passes import Knows, PassContext, declared
from weft.records import dataclass

_NAME = "messages"


@dataclass(frozen=True)
class Message:
    """A message to, or from, rank + `distance` with a tag; None for what is not known."""

    distance: int | None
    tag: int | None
    span: Span


@declared("messages", after=("forward",), optional=True, knows=Knows.CALLS | Knows.TASKS | Knows.BESIDE)
def run(program: Program, context: PassContext) -> Program:
    """The program; what was found goes into the log."""
    for sent in unmatched(program) if _has_messages(program.body) else ():
        assert sent.distance is not None
        to, of = _neighbour(sent.distance), _neighbour(-sent.distance)
        text = f"the message to {to} has no receive from {of} with its tag in this function"
        remedy = f"receive from {of}, or look at the tags"
        context.missed(_NAME, text, sent.span, remedy)
        warnings.warn_explicit(f"{text}: {remedy}", MessageWarning, sent.span.file, max(sent.span.line, 1))
    return program if not _has_messages(program.body) else replace(program, body=later(program, context))


# --- waits ----------------------------------------------------------------------------------------------------------


def later(program: Program, context: PassContext) -> Block:
    """The body with its waits moved towards its end, past statements that touch nothing of theirs.

    What the caller sees stays behind a wait that may raise.
    """
    nodes = list(program.body)
    seen = {buffer.name for buffer in program.buffers if buffer.role is Role.PARAM}
    for position in reversed(range(len(nodes))):
        count = _wait_at(nodes, position)
        if not count:
            continue
        end = position + count
        used = {name for node in nodes[position:end] for part in walk((node,)) for name in touched(part)}
        while end < len(nodes) and _passes(nodes[end], used, seen):
            end += 1
        moved = nodes[position + count : end]
        if moved:
            own = {node.span.line for node in moved if node.span.file == program.span.file and node.span.line > 0}
            lines = ", ".join(map(str, sorted(own)))
            context.done(_NAME, f"the wait runs behind line {lines}, which does not need it", nodes[position].span)
            nodes[position:end] = [*moved, *nodes[position : position + count]]
    return tuple(nodes)


def _wait_at(nodes: list[Node], position: int) -> int:
    """How many nodes a wait at this position has: itself and its check, or a loop of waits; 0 if there is none."""
    node = nodes[position]
    if isinstance(node, Library) and node.routine.startswith("message_wait"):
        follows = nodes[position + 1] if position + 1 < len(nodes) else None
        own = isinstance(follows, Check) and node.status in touched(follows)
        return 1 + own
    inside = [part for part in walk((node,)) if isinstance(part, Library)]
    return int(isinstance(node, Loop) and bool(inside) and all(p.routine.startswith("message_wait") for p in inside))


def _passes(node: Node, used: set[str], seen: set[str]) -> bool:
    """Whether a node may run before a wait: it touches nothing of it, ends nothing, raises nothing, shows nothing."""
    inside = list(walk((node,)))
    if any(isinstance(part, (Check, Library, Invoke, Return, Break, Continue, Rebind)) for part in inside):
        return False
    if any(seen & buffers_written(part) for part in inside):
        return False
    return isinstance(node, (Stmt, Loop, If, Alloc)) and not any(used & touched(part) for part in inside)


def _has_messages(block: Block) -> bool:
    return any(isinstance(node, Library) and ROUTINES[node.routine].module == MESSAGES for node in walk(block))


# --- sends and receives ---------------------------------------------------------------------------------------------


def unmatched(program: Program) -> list[Message]:
    """The sends that no receive of the program can meet; none in a program that only sends."""
    nodes = [node for node in walk(program.body) if isinstance(node, Library)]
    nodes = [node for node in nodes if ROUTINES[node.routine].module == MESSAGES]
    known = _Known(program, nodes)
    sends = [known.message(node, 1) for node in nodes if node.routine.startswith("message_send")]
    receives = [known.message(node, 0) for node in nodes if node.routine.startswith("message_receive")]

    def may_meet(sent: Message, received: Message) -> bool:
        far = None in (sent.distance, received.distance) or sent.distance == -(received.distance or 0)
        return far and (None in (sent.tag, received.tag) or sent.tag == received.tag)

    found = [sent for sent in sends if sent.distance is not None]
    return [sent for sent in found if receives and not any(may_meet(sent, received) for received in receives)]


def _neighbour(distance: int) -> str:
    return f"rank {'+' if distance >= 0 else '-'} {abs(distance)}" if distance else "the rank itself"


class _Known:
    """Numbers of a program as far as they follow from the rank."""

    def __init__(self, program: Program, messages: list[Library]) -> None:
        self.values: dict[str, Expr] = {}
        written: list[str] = [name for node in walk(program.body) for name in buffers_written(node)]
        for node in walk(program.body):
            if isinstance(node, Stmt) and not node.index and written.count(node.buffer) == 1:
                self.values[node.buffer] = node.value
        self.ranks = {node.outputs[0].buffer for node in messages if node.routine == "message_rank"}
        self.sizes = {node.outputs[0].buffer for node in messages if node.routine == "message_size"}

    def message(self, node: Library, first: int) -> Message:
        distance = self.number(node.inputs[first], True)
        return Message(distance, self.number(node.inputs[first + 1], False), node.span)

    def number(self, operand: Operand, beside: bool) -> int | None:
        """A number itself, or, `beside`, how far it is from the rank."""
        value = self.values.get(operand.buffer)
        found = None if value is None else self.parts(value)
        return found[1] if found is not None and found[0] is beside else None

    def parts(self, expr: Expr) -> tuple[bool, int] | None:
        """Whether the rank is in a number, and what is added to it; None if there is more to it."""
        if isinstance(expr, Const) and isinstance(expr.value, int):
            return False, expr.value
        if isinstance(expr, Cast):
            return self.parts(expr.value)
        if isinstance(expr, Read) and not expr.index:
            if expr.buffer in self.ranks:
                return True, 0
            return self.parts(self.values[expr.buffer]) if expr.buffer in self.values else None
        if not isinstance(expr, Op) or len(expr.args) != 2:
            return None
        left, right = self.parts(expr.args[0]), self.parts(expr.args[1])
        if expr.op == "mod" and self.is_size(expr.args[1]) and left is not None and left[0]:
            return left
        if left is None or right is None or expr.op not in ("add", "sub") or (left[0] and right[0]):
            return None
        if expr.op == "sub":
            return None if right[0] else (left[0], left[1] - right[1])
        return left[0] or right[0], left[1] + right[1]

    def is_size(self, expr: Expr) -> bool:
        while isinstance(expr, Cast):
            expr = expr.value
        if not isinstance(expr, Read) or expr.index:
            return False
        known = self.values.get(expr.buffer)
        return expr.buffer in self.sizes or (known is not None and self.is_size(known))
