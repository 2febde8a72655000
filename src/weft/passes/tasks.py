"""Tasks and their memory.  In: a program with TASK regions as the front end made it; out: the same with every array
that a task makes for others made before it, and every scalar that isolated blocks share in an array of one element.

    task { alloc t; t[:] = ...  }; use t           -->   alloc t; task { t[:] = ... }; use t
    finish { ... isolated { s = s + x } ... }      -->   box[0] = s; finish { ... box[0] = box[0] + x ... }; s = box[0]
What cannot be so is refused: containers that change inside a task, sizes that only the task knows, memory made once
for tasks of several iterations, and scalars of the compiler's own that one task would hand to another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from weft.analysis.scopes import written_first
from weft.errors import Unsupported
from weft.ir.expr import ONE, ZERO, Expr, Read
from weft.ir.program import (
    REGIONS,
    Alloc,
    Block,
    Buffer,
    If,
    Invoke,
    Loop,
    LoopKind,
    Node,
    Program,
    Rebind,
    Role,
    Stmt,
    While,
)
from weft.ir.verify import Stage
from weft.ir.walk import (
    buffers_read,
    buffers_written,
    expr_buffers,
    fresh,
    map_node_exprs,
    map_sub_blocks,
    mentions,
    names_of,
    rewrite,
    sub_blocks,
    walk,
)
from weft.passes import Knows, PassContext, declared


def has_regions(program: Program) -> bool:
    return any(isinstance(node, Loop) and node.kind in REGIONS for node in walk(program.body))


@declared("tasks", takes=Stage.BUILT, optional=False, knows=Knows.CALLS | Knows.TASKS)
def run(program: Program, context: PassContext) -> Program:
    """Memory of tasks settled; the program as it is, if it has none."""
    if not has_regions(program):
        return program
    program = _with_boxes(program)
    uses = mentions(program.body)
    body = _before_regions(program.body, program, uses)
    program = program if body is program.body else replace(program, body=body)
    for node in walk(program.body):
        if isinstance(node, Loop) and node.kind is LoopKind.FINISH:
            _Finish(program, mentions(program.body)).block(node.body)
    return program


# --- arrays that a task makes ------------------------------------------------------------------------------------


def _before_regions(block: Block, program: Program, uses: dict[str, int]) -> Block:
    nodes: list[Node] = []
    for node in block:
        node = map_sub_blocks(node, lambda inner: _before_regions(inner, program, uses))
        if isinstance(node, Loop) and node.kind in REGIONS:
            if node.kind is LoopKind.TASK:
                _refuse_containers(node, uses)
            moved, node = _given_out(node, program, uses)
            nodes += moved
        nodes.append(node)
    return block if len(nodes) == len(block) and all(a is b for a, b in zip(nodes, block)) else tuple(nodes)


def _outside(name: str, task: Loop, uses: dict[str, int]) -> bool:
    return uses.get(name, 0) > mentions((task,)).get(name, 0)


def _refuse_containers(task: Loop, uses: dict[str, int]) -> None:
    for node in walk(task.body):
        if isinstance(node, Rebind) and any(_outside(name, task, uses) for name in (*node.targets, *node.sources)):
            reason = "a list, dict or set that changes its size, or arrays that change places, inside a task"
            raise Unsupported(node.span, reason, "fill an array of known size, or make the container inside the task")


def _given_out(region: Loop, program: Program, uses: dict[str, int]) -> tuple[list[Node], Loop]:
    """The allocations of a region whose arrays others use, and the region without them."""
    written = set().union(*(buffers_written(node) for node in region.body))
    moved: list[Node] = []
    keep: list[Node] = []

    def is_given(node: Node) -> bool:
        if not isinstance(node, Alloc) or not program.table[node.buffer].rank:
            return False
        return program.table[node.buffer].role is Role.RESULT or _outside(node.buffer, region, uses)

    for node in region.body:
        if isinstance(node, Alloc) and is_given(node):
            shape = program.table[node.buffer].shape
            if not written.isdisjoint(frozenset().union(*map(expr_buffers, shape))):
                reason = "an array whose size only the task that makes it knows, used outside the task"
                raise Unsupported(node.span, reason, "make the array before the task")
            moved.append(node)
        else:
            keep.append(node)
    for node in walk(tuple(keep)):
        if is_given(node):
            reason = "an array made in a branch of a task, or a container that grows in it, used outside the task"
            raise Unsupported(node.span, reason, "make an array of known size before the task")
    return moved, replace(region, body=tuple(keep)) if moved else region


# --- scalars that isolated blocks share ------------------------------------------------------------------------------


def _with_boxes(program: Program) -> Program:
    taken = names_of(program)
    uses = mentions(program.body)
    known = program

    def block(nodes: Block) -> Block:
        out: list[Node] = []
        for node in nodes:
            # From the outside in: tasks of tasks share the box of the finish around all of them.
            made = boxed(node) if isinstance(node, Loop) and node.kind is LoopKind.FINISH else [node]
            out += [map_sub_blocks(inner, block) for inner in made]
        return nodes if len(out) == len(nodes) and all(a is b for a, b in zip(out, nodes)) else tuple(out)

    def boxed(node: Loop) -> list[Node]:
        nonlocal known
        boxes: dict[str, Buffer] = {}
        for name in sorted(_shared(node, known, uses)):
            of = known.table[name]
            boxes[name] = Buffer(fresh(f"{name}_box", taken), of.type, (ONE,), span=of.span)
        if not boxes:
            return [node]
        before: list[Node] = []
        for name, box in boxes.items():
            before.append(Alloc(box.name, span=node.span))
            if written_first(known, node.body, name) is not True:
                value = Read(name, (), box.type)
                before.append(Stmt((), box.name, (ZERO,), value, span=node.span))
        known = replace(known, buffers=(*known.buffers, *boxes.values()))
        after = [Stmt((), name, (), Read(box.name, (ZERO,), box.type), span=node.span) for name, box in boxes.items()]
        return [*before, _boxed(node, boxes), *after]

    body = block(program.body)
    return program if body is program.body else replace(known, body=body)


def _shared(finish: Loop, program: Program, uses: dict[str, int]) -> set[str]:
    """Scalars that isolated blocks in tasks of a finish write, and that something outside the task touches."""
    found: set[str] = set()
    for task in _own_tasks(finish.body):
        for node in walk(task.body):
            if isinstance(node, Loop) and node.kind is LoopKind.ISOLATED:
                written = set().union(*(buffers_written(inner) for inner in node.body))
                found |= {n for n in written if program.table[n].rank == 0 and _outside(n, task, uses)}
    return found


def _own_tasks(block: Block) -> Iterator[Loop]:
    """The tasks of a block, without those that other tasks begin: what is theirs is shared below them only."""
    for node in block:
        if isinstance(node, Loop) and node.kind is LoopKind.TASK:
            yield node
        else:
            for inner in sub_blocks(node):
                yield from _own_tasks(inner)


def _boxed(node: Node, boxes: dict[str, Buffer]) -> Node:
    """A node with the element of a box in place of each shared scalar."""

    def visit(expr: Expr) -> Expr:
        if isinstance(expr, Read) and expr.buffer in boxes:
            return Read(boxes[expr.buffer].name, (ZERO,), expr.type)
        return expr

    node = map_node_exprs(node, lambda e: rewrite(e, visit))
    if isinstance(node, Stmt) and node.buffer in boxes:
        return replace(node, buffer=boxes[node.buffer].name, index=(ZERO,))
    if isinstance(node, Invoke) and not boxes.keys().isdisjoint(node.results):
        raise Unsupported(node.span, "the result of a recursive call as a variable that tasks share", "give it a name")

    def inside(block: Block) -> Block:
        return tuple(_boxed(inner, boxes) for inner in block)

    return map_sub_blocks(node, inside)


# --- what is beside a task -------------------------------------------------------------------------------------------


class _Finish:
    """Follows a finish in the order of execution, with the scalars and the memory that tasks under way depend on."""

    def __init__(self, program: Program, uses: dict[str, int]) -> None:
        self.program = program
        self.uses = uses
        self.pending: set[str] = set()  # scalars that tasks write, and that are no task's own
        self.seen: set[str] = set()  # arrays that tasks which have begun touch

    def block(self, block: Block) -> None:
        for node in block:
            if isinstance(node, Loop) and node.kind is LoopKind.TASK:
                self._task(node)
            elif isinstance(node, Alloc) and node.buffer in self.seen:
                reason = "an array made anew in each iteration, for a task that may not be done with the last one"
                raise Unsupported(node.span, reason, "make the array inside the task")
            elif isinstance(node, Rebind) and not self.seen.isdisjoint(node.targets):
                raise Unsupported(node.span, "memory that moves while a task uses it", "let the container grow first")
            else:
                self._other(node)

    def _task(self, task: Loop) -> None:
        touched = buffers_read(task) | buffers_written(task)
        for name in sorted(touched & self.pending):
            if written_first(self.program, task.body, name) is not True:
                raise _handed_on(task, name)
        scalars = {name for name in buffers_written(task) if self.program.table[name].rank == 0}
        self.pending |= {name for name in scalars if _outside(name, task, self.uses)}
        own = {node.buffer for node in walk(task.body) if isinstance(node, Alloc)}
        self.seen |= {name for name in touched if self.program.table[name].rank} - own

    def _other(self, node: Node) -> None:
        """A node beside the tasks that have begun; loops twice, since the next iteration is beside the tasks of one."""
        if isinstance(node, (If, While)):
            read = expr_buffers(node.condition)
        else:
            read = buffers_read(replace(node, body=()) if isinstance(node, Loop) else node)
        for name in sorted(read & self.pending):
            raise _handed_on(node, name)
        repeats = isinstance(node, While) or (isinstance(node, Loop) and node.kind is LoopKind.SEQUENTIAL)
        for _ in range(2 if repeats else 1):
            for inner in sub_blocks(node):
                self.block(inner)


def _handed_on(node: Node, name: str) -> Unsupported:
    return Unsupported(node.span, f"{name}, which a task sets, is needed beside it", "use it after the finish")
