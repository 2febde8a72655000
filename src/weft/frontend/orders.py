"""The order in memory that NumPy gives a new array.  In: the statements that made it; out: whether it surely is in
C order.

weft keeps every array that it makes in C order.  NumPy follows the operands: `a.T + 1` lies as `a.T` does, and `ravel`
of it is a copy where weft's own memory would allow a view.  Both agree if every element is read along the axes of the
result in turn, from arrays that are in C order themselves.  Anything else counts as unknown, and `layouts` then takes a
copy that stands for a view.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from weft.errors import Unsupported
from weft.frontend.emit import Emitter
from weft.frontend.polynomials import Poly, poly
from weft.frontend.values import Array
from weft.ir import walk
from weft.ir.expr import Expr, Read, Var
from weft.ir.program import Alloc, Layout, Library, Node, Operand, Rebind, Role, Stmt

Block = Iterable[Node]


def is_c(name: str, emitter: Emitter) -> bool:
    """Whether NumPy's array for a buffer surely lies in C order; asked again when all statements are there."""
    found = _Orders(emitter).is_c(name)
    if found:
        emitter.taken_as_c.setdefault(name, emitter.span)
    return found


def follows(array: Array, emitter: Emitter) -> bool:
    """Whether a new array that is like this one surely lies in C order."""
    probes = tuple(Var(f"@{axis}") for axis in range(array.rank))
    axes = {probe.name: axis for axis, probe in enumerate(probes)}
    return array.rank < 2 or (not array.turned and _Orders(emitter).reads_in_turn(array.element(probes), axes))


def is_fortran(array: Array, emitter: Emitter) -> bool:
    """Whether an array is an argument in Fortran order, as a whole."""
    whole = array.view is not None and array.view.whole and array.rank > 1
    return whole and array.view is not None and emitter.buffers[array.view.buffer].layout is Layout.F


def verify(emitter: Emitter) -> None:
    """Refuse a program that gives a variable an array of another order after its order was relied on."""
    for name, span in emitter.taken_as_c.items():
        if not _Orders(emitter).is_c(name):
            raise Unsupported(span, f"a view of the array {name}, which later is an array in another memory order")


class _Orders:
    """One question; `asked` are the buffers on the way to it."""

    def __init__(self, emitter: Emitter) -> None:
        self.emitter = emitter
        self.asked: set[str] = set()

    def is_c(self, name: str) -> bool:
        buffer = self.emitter.buffers[name]
        if buffer.rank < 2 or name in self.asked:
            return True
        if buffer.role is Role.PARAM:
            return buffer.layout is Layout.C
        if name in self.emitter.order:
            return self.emitter.order[name]
        self.asked.add(name)
        return all(self._made_in_turn(node, name) for node in self._makers(name))

    def _makers(self, name: str) -> Iterator[Node]:
        """The first write after each allocation, and what gives the array to a variable."""
        for block in self.emitter.blocks:
            yield from _first_writes(block, name)
        yield from (node for node, given in self.emitter.given_nodes() if given.target == name)

    def _made_in_turn(self, node: Node, name: str) -> bool:
        if isinstance(node, Stmt):
            axes = {var: axis for axis, part in enumerate(node.index) for var in walk.free_vars(part)}
            return self.reads_in_turn(node.value, axes)
        if isinstance(node, Rebind):
            return all(self.is_c(source) for source in node.sources)
        if isinstance(node, Library):
            return all(self._is_handed_over_in_turn(node, operand) for operand in node.inputs)
        inner = [part for block in walk.sub_blocks(node) for part in block if name in walk.buffers_written(part)]
        return bool(inner) and all(self._made_in_turn(part, name) for part in inner)

    def _is_handed_over_in_turn(self, node: Library, operand: Operand) -> bool:
        axes = {dim.var: axis for axis, dim in enumerate((*node.domain, *operand.dims))}
        return self._in_turn(Read(operand.buffer, operand.index, self.emitter.buffers[operand.buffer].type), axes)

    def reads_in_turn(self, value: Expr, axes: dict[str, int]) -> bool:
        return all(self._in_turn(read, axes) for read in walk.reads(value))

    def _in_turn(self, read: Read, axes: dict[str, int]) -> bool:
        """Whether steps along the axes of the result become shorter from one to the next."""
        moving = [(part, sorted({axes[v] for v in walk.free_vars(part) if v in axes})) for part in read.index]
        moving = [(part, found) for part, found in moving if found]
        order = [axis for _, found in moving for axis in found]
        if len(order) < 2:
            return True
        buffer = self.emitter.buffers[read.buffer]
        if buffer.layout is not Layout.C or not self.is_c(read.buffer) or order != sorted(set(order)):
            return False
        for place, (part, found) in enumerate(moving):
            if any(True for _ in walk.reads(part)):
                if place:
                    return False  # NumPy puts the axes of index arrays first
            elif len(found) > 1 and not _descending(part, axes):
                return False
        return True


def _descending(part: Expr, axes: dict[str, int]) -> bool:
    """Whether an index moves by multiples of its own steps: i * n + j, not j * n + i."""
    steps: dict[int, Poly] = {}
    for monomial, factor in poly(part).terms:
        moving = [atom for atom in monomial if walk.free_vars(atom) & axes.keys()]
        if not moving:
            continue
        if len(moving) > 1 or not isinstance(moving[0], Var) or axes[moving[0].name] in steps:
            return False
        rest = list(monomial)
        rest.remove(moving[0])
        steps[axes[moving[0].name]] = Poly.make({tuple(rest): factor})
    ordered = [steps[axis] for axis in sorted(steps)]
    return all(shorter.divides(longer) for longer, shorter in itertools.pairwise(ordered))


def _first_writes(block: Block, name: str) -> Iterator[Node]:
    allocated = False
    for node in block:
        if isinstance(node, Alloc):
            allocated = allocated or node.buffer == name
        elif allocated and name in walk.buffers_written(node):
            yield node
            allocated = False
        else:
            for inner in walk.sub_blocks(node):
                yield from _first_writes(inner, name)
