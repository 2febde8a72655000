"""Recomputation.  In: a chain of stencils (see `tile`); out: the last atom with everything it needs of the temporaries
computed on the spot, each needed element once, so that the temporaries disappear.

    t[i] = f(a[i]);  b[i] = t[i+1] - t[i]   -->   b[i] = (x = f(a[i+1]); y = f(a[i]); x - y)

Arithmetic is repeated, memory traffic is not: for cheap producers the processor computes while it waits for memory
anyway, whereas tiles load and compute one after the other.
"""

from __future__ import annotations

from dataclasses import field, replace

from weft.analysis import cost
from weft.ir import index as affine_index
from weft.ir.expr import Expr, Op, Read, Var, integer
from weft.ir.index import affine
from weft.ir.walk import map_children, reads, substitute
from weft.passes.scheduling.lower import Atom, Let, Workspace
from weft.passes.scheduling.tile import Chain, recomputation
from weft.records import dataclass

MAX_LETS = 48
# Bytes a cycle that one core gets from memory, operations a cycle in vectors: their ratio decides, not their size.
_BYTES_A_CYCLE = 5.0
_OPERATIONS_A_CYCLE = 8.0


class _NotOnTheSpot(Exception):
    """An element is needed only under a condition: computing it always might read out of bounds."""


@dataclass
class _Inliner:
    chain: Chain
    workspace: Workspace
    lets: list[Let] = field(default_factory=list)
    known: dict[tuple[str, tuple[Expr, ...]], Read] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.producers = {atom.buffer: atom for atom in self.chain.atoms[:-1]}

    def value(self, expr: Expr, places: dict[str, Expr], certain: bool) -> Expr:
        """A value at another point (`places` of the variables), temporaries replaced by what they hold there."""
        if isinstance(expr, Read) and expr.buffer in self.producers:
            return self._element(expr, places, certain)
        if isinstance(expr, Op) and expr.op == "select":
            test = self.value(expr.args[0], places, certain)
            branches = (self.value(branch, places, False) for branch in expr.args[1:])
            return replace(expr, args=(test, *branches))
        if isinstance(expr, Var):
            return places.get(expr.name, expr)
        new = map_children(expr, lambda e: self.value(e, places, certain))
        if isinstance(new, Read) and new is not expr:
            return replace(new, index=tuple(affine_index.canonical(e) for e in new.index))
        return new

    def _element(self, read: Read, places: dict[str, Expr], certain: bool) -> Read:
        index = tuple(affine_index.canonical(substitute(e, places)) for e in read.index)
        key = (read.buffer, index)
        if key not in self.known:
            if not certain or len(self.lets) >= MAX_LETS:
                raise _NotOnTheSpot
            producer = self.producers[read.buffer]
            there: dict[str, Expr] = {}
            for position, wanted in zip(producer.index, index):
                form = affine(position)
                assert form is not None and len(form.terms) == 1  # a chain has only such indices
                there[form.terms[0][0]] = affine_index.sub(wanted, integer(form.constant))
            value = self.value(producer.value, there, certain)
            scalar = self.workspace.new_buffer(f"{read.buffer}_at", self.workspace.table[read.buffer].type)
            self.lets.append(Let(scalar.name, value))
            self.known[key] = Read(scalar.name, (), read.of)
        return self.known[key]


def recomputed(chain: Chain, workspace: Workspace) -> Atom | None:
    """The last atom of a chain without temporaries; None if some element must not always be computed."""
    inliner = _Inliner(chain, workspace)
    try:
        value = inliner.value(chain.sink.value, {}, True)
    except _NotOnTheSpot:
        return None
    return replace(chain.sink, value=value, lets=tuple(inliner.lets))


def pays(chain: Chain, atom: Atom, sizes: dict[str, int] | None, workspace: Workspace) -> bool:
    """Whether recomputation beats tiles (`sizes`; None: whole temporaries in memory)."""
    outside = {a.buffer for a in chain.atoms} | {r.buffer for a in chain.atoms for r in reads(a.value)}
    table = workspace.table
    transfer = sum(table[name].type.dtype.size for name in outside - chain.regions.keys() if table[name].rank)
    on_the_spot = _operations((atom.value, *(let.value for let in atom.lets))) / _OPERATIONS_A_CYCLE
    separate = sum(1.0 + _operations((a.value,)) for a in chain.atoms) / _OPERATIONS_A_CYCLE
    if sizes is None:
        transfer_all = transfer + sum(3 * table[name].type.dtype.size for name in chain.regions)
        return max(transfer / _BYTES_A_CYCLE, on_the_spot) < max(transfer_all / _BYTES_A_CYCLE, separate)
    tiled = transfer / _BYTES_A_CYCLE + separate * recomputation(chain, sizes)
    return max(transfer / _BYTES_A_CYCLE, on_the_spot) < tiled


def _operations(values: tuple[Expr, ...]) -> float:
    """Cycles of operations, and one for each distinct element read."""
    arrays = [read for value in values for read in reads(value) if read.index]
    return sum(cost.expr_cycles(value) for value in values) - len(arrays) + len(set(arrays))
