"""Overlapped tiling.  In: atoms in which temporaries are read at several constant offsets by later atoms and are dead
afterwards (a chain of stencils); out: one loop over tiles of the last atom, inside which every temporary is computed
over the tile and its halo into scratch memory that stays in the cache.

    t[i] = f(a[i], a[i+1]);  b[i] = t[i+1] - t[i]
      -->  parallel tile: { for i in tile + halo: s[i - start] = f(a[i], a[i+1]);  for i in tile: b[i] = s[..] - s[..] }

Tiles share nothing, so they run in parallel; what they compute twice (the halos) must stay a small part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace

from weft.analysis import cost
from weft.ir import index as affine_index
from weft.ir.expr import Dim, Expr, Op, Read, Var, integer, real
from weft.ir.index import affine
from weft.ir.program import Buffer, Stmt
from weft.ir.types import INT
from weft.ir.walk import map_children, reads
from weft.passes.scheduling.fuse import Facts, depends
from weft.passes.scheduling.lower import Atom, Workspace
from weft.records import dataclass

# What a tile may hold in scratch: about half of a second-level cache.
SCRATCH_BYTES = 256 * 1024
# How much work halos may add.
MAX_RATIO = 1.3
# Tile sizes to try, largest first: of the innermost dimension, and of the others when they have a halo.
_INNER_SIZES = (256, 128, 64, 32)
_OUTER_SIZES = (64, 32, 16, 8)


@dataclass(frozen=True)
class Reach:
    """The values of one dimension that a tile needs: from its start + first to its end + last, along a dimension."""

    along: str
    first: int
    last: int

    def joined(self, other: Reach) -> Reach | None:
        if self.along != other.along:
            return None
        return Reach(self.along, min(self.first, other.first), max(self.last, other.last))

    @property
    def halo(self) -> int:
        return self.last - self.first


@dataclass
class Chain:
    """A last atom and the producers of the temporaries it needs, in program order.

    `reaches` tells for each atom (by position in `atoms`) and dimension what a tile of the last atom needs of it;
    `regions` the elements of each temporary, by axis.
    """

    atoms: list[Atom]
    reaches: list[dict[str, Reach]] = field(default_factory=list)
    regions: dict[str, tuple[Reach, ...]] = field(default_factory=dict)

    @property
    def sink(self) -> Atom:
        return self.atoms[-1]


def find_chain(atoms: Sequence[Atom], temporaries: set[str], facts: Facts) -> Chain | None:
    """The first chain of stencils among atoms; `temporaries` are dead after them."""
    writers: dict[str, list[int]] = {}
    readers: dict[str, set[int]] = {}
    for at, atom in enumerate(atoms):
        writers.setdefault(atom.buffer, []).append(at)
        for access in facts.accesses(atom):
            if not access.writes:
                readers.setdefault(access.buffer, set()).add(at)
    # The longest chains end last.
    for at in reversed(range(len(atoms))):
        members = _members(at, atoms, temporaries, writers, readers)
        if len(members) < 2 or _blocked(members, atoms, facts):
            continue
        chain = Chain([atoms[m] for m in members])
        if _reaches(chain, temporaries) and any(r.halo for region in chain.regions.values() for r in region):
            return chain
    return None


def _members(
    at: int, atoms: Sequence[Atom], temporaries: set[str], writers: dict[str, list[int]], readers: dict[str, set[int]]
) -> list[int]:
    """The atom and, as far as they serve nothing else, those it gets its temporaries from."""
    if atoms[at].buffer in temporaries or not _tileable(atoms[at]):
        return []
    members = {at}
    grown = True
    while grown:
        grown = False
        for name in {read.buffer for m in members for read in reads(atoms[m].value)} & temporaries:
            makers = writers.get(name, [])
            if len(makers) == 1 and makers[0] not in members and makers[0] < min(readers[name]):
                if readers[name] <= members and _tileable(atoms[makers[0]]):
                    members.add(makers[0])
                    grown = True
    return sorted(members)


def _tileable(atom: Atom) -> bool:
    names = {dim.var for dim in atom.dims}
    if not atom.dims or atom.reduce is not None or atom.ordered or any(dim.step != 1 for dim in atom.dims):
        return False
    bounds = [affine(bound) for dim in atom.dims for bound in (dim.lo, dim.hi)]
    return all(form is not None and names.isdisjoint(form.names) for form in bounds)


def _blocked(members: list[int], atoms: Sequence[Atom], facts: Facts) -> bool:
    """Whether the producers cannot be moved down to the last atom, or read what it overwrites."""
    inside = set(members)
    for member in members[:-1]:
        for other in range(member + 1, members[-1]):
            if other not in inside and depends(atoms[member], atoms[other], facts):
                return True
        if any(access.buffer == atoms[members[-1]].buffer for access in facts.accesses(atoms[member])):
            return True
    return False


def _shift(position: Expr, dims: Sequence[Dim]) -> tuple[str, int] | None:
    """The variable and the offset of an index `variable + offset`."""
    form = affine(position)
    own = {dim.var for dim in dims}
    if form is None or len(form.terms) != 1 or form.terms[0][1] != 1 or form.terms[0][0] not in own:
        return None
    return form.terms[0][0], form.constant


def _reaches(chain: Chain, temporaries: set[str]) -> bool:
    """Fill in what a tile needs of every atom, last atom first; False if some index is not `variable + offset`."""
    made = {atom.buffer for atom in chain.atoms[:-1]}
    reaches: list[dict[str, Reach]] = [{} for _ in chain.atoms]
    reaches[-1] = {dim.var: Reach(dim.var, 0, 0) for dim in chain.sink.dims}
    for at in reversed(range(len(chain.atoms))):
        atom = chain.atoms[at]
        if at < len(chain.atoms) - 1:
            needed = _needed_of(atom, chain.regions)
            if needed is None:
                return False
            reaches[at] = needed
        for read in reads(atom.value):
            if read.buffer in made and not _add_region(chain, read, atom, reaches[at]):
                return False
    chain.reaches = reaches
    return True


def _needed_of(atom: Atom, regions: dict[str, tuple[Reach, ...]]) -> dict[str, Reach] | None:
    """What a tile needs of a producer: the elements of its temporary, as values of its dimensions."""
    region = regions.get(atom.buffer)
    if region is None:
        return None
    needed: dict[str, Reach] = {}
    for position, reach in zip(atom.index, region):
        shift = _shift(position, atom.dims)
        if shift is None or shift[0] in needed:
            return None
        needed[shift[0]] = Reach(reach.along, reach.first - shift[1], reach.last - shift[1])
    return needed if len(needed) == len(atom.dims) else None


def _add_region(chain: Chain, read: Read, atom: Atom, reach: dict[str, Reach]) -> bool:
    places: list[Reach] = []
    for position in read.index:
        shift = _shift(position, atom.dims)
        if shift is None:
            return False
        own = reach[shift[0]]
        places.append(Reach(own.along, own.first + shift[1], own.last + shift[1]))
    known = chain.regions.get(read.buffer)
    if known is not None:
        joined = [old.joined(new) for old, new in zip(known, places)]
        if any(place is None for place in joined):
            return False
        places = [place for place in joined if place is not None]
    if len({place.along for place in places}) != len(places):
        return False
    chain.regions[read.buffer] = tuple(places)
    return True


# --- sizes -----------------------------------------------------------------------------------------------------------


def tile_sizes(chain: Chain, dims: Sequence[Dim], table: dict[str, Buffer]) -> dict[str, int] | None:
    """Sizes of a tile by dimension: scratch fits the cache, halos are a small part of the work; None: impossible."""
    halo = {dim.var: 0 for dim in dims}
    for region in chain.regions.values():
        for reach in region:
            halo[reach.along] = max(halo[reach.along], reach.halo)
    stored = [name for name in chain.regions if not _pointwise(chain, name)]
    inner = dims[-1].var
    outer = [dim.var for dim in dims[:-1]]
    best: tuple[float, dict[str, int]] | None = None
    for inner_size in _INNER_SIZES:
        for outer_size in _OUTER_SIZES:
            sizes = {name: outer_size if halo[name] else 1 for name in outer} | {inner: inner_size}
            if scratch_bytes(chain, stored, sizes, table) > SCRATCH_BYTES:
                continue
            ratio = recomputation(chain, sizes)
            # A short inner loop costs about as much as a halo of two elements.
            score = ratio * (1.0 + 2.0 / inner_size)
            if ratio <= MAX_RATIO and (best is None or score < best[0]):
                best = (score, sizes)
    return None if best is None else best[1]


def scratch_bytes(chain: Chain, stored: list[str], sizes: dict[str, int], table: dict[str, Buffer]) -> int:
    """Bytes of the temporaries of a tile that do not contract to scalars."""
    return sum(
        table[name].type.dtype.size * math.prod(sizes[reach.along] + reach.halo for reach in chain.regions[name])
        for name in stored
    )


def _pointwise(chain: Chain, name: str) -> bool:
    """Whether a temporary is read only at the point at which it is made, by atoms that run over the same points."""
    at = next(k for k, atom in enumerate(chain.atoms) if atom.buffer == name)
    made = [_shift(position, chain.atoms[at].dims) for position in chain.atoms[at].index]
    reach = [chain.reaches[at][shift[0]] for shift in made if shift is not None]
    for other, atom in enumerate(chain.atoms):
        for read in reads(atom.value):
            if read.buffer != name:
                continue
            seen = [_shift(position, atom.dims) for position in read.index]
            if [s and s[1] for s in seen] != [m and m[1] for m in made]:
                return False
            if [chain.reaches[other][s[0]] for s in seen if s is not None] != reach:
                return False
    return True


def recomputation(chain: Chain, sizes: dict[str, int]) -> float:
    """Work with halos over work without."""
    plain = total = 0.0
    for atom, reach in zip(chain.atoms, chain.reaches):
        cycles = 1.0 + cost.expr_cycles(atom.value)
        plain += cycles
        total += cycles * math.prod((sizes[r.along] + r.halo) / sizes[r.along] for r in reach.values())
    return total / plain


# --- the rewrite -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tiling:
    """The parts of a tiled chain: the loops over tiles, outermost first, and the atoms of one tile."""

    loops: tuple[Dim, ...]
    work: Expr
    atoms: list[Atom]
    scratch: set[str]


def tiled(chain: Chain, dims: tuple[Dim, ...], sizes: dict[str, int], workspace: Workspace) -> Tiling:
    """The chain over tiles of its last atom, whose dimensions in loop order are `dims`.

    The variable of a tile loop is where the tile starts, so that all indices inside stay affine.
    """
    loops: list[Dim] = []
    starts: dict[str, Expr] = {}
    ends: dict[str, Expr] = {}
    for dim in dims:
        size = sizes[dim.var]
        loop = replace(dim, var=workspace.new_var(f"{dim.var}_start"), step=size)
        loops.append(loop)
        starts[dim.var] = Var(loop.var)
        end = affine_index.add(Var(loop.var), integer(size))
        ends[dim.var] = Op("minimum", (end, dim.hi), INT) if size > 1 else end
    scratch = _scratch(chain, sizes, workspace)
    sink_dims = {dim.var: dim for dim in dims}
    atoms = [
        _tile_atom(atom, reach, chain, sink_dims, starts, ends, scratch)
        for atom, reach in zip(chain.atoms, chain.reaches)
    ]
    work: Expr = real(0.0)
    for atom in chain.atoms:
        work = cost.plus(work, cost.work(Stmt(atom.dims, atom.buffer, atom.index, atom.value)))
    return Tiling(tuple(loops), work, atoms, set(scratch.values()))


def _scratch(chain: Chain, sizes: dict[str, int], workspace: Workspace) -> dict[str, str]:
    """Scratch memory in place of each temporary: the size of a tile and its halo, known now."""
    names: dict[str, str] = {}
    for name, region in chain.regions.items():
        shape = tuple(integer(sizes[reach.along] + reach.halo) for reach in region)
        names[name] = workspace.new_buffer(f"{name}_tile", workspace.table[name].type, shape).name
    return names


def _tile_atom(
    atom: Atom,
    reach: dict[str, Reach],
    chain: Chain,
    sink_dims: dict[str, Dim],
    starts: dict[str, Expr],
    ends: dict[str, Expr],
    scratch: dict[str, str],
) -> Atom:
    """An atom restricted to what one tile needs of it, reading and writing scratch instead of temporaries."""

    def place(name: str, index: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(
            affine_index.sub(affine_index.sub(position, integer(part.first)), starts[part.along])
            for position, part in zip(index, chain.regions[name])
        )

    def visit(expr: Expr) -> Expr:
        new = map_children(expr, visit)
        if isinstance(new, Read) and new.buffer in scratch:
            return replace(new, buffer=scratch[new.buffer], index=place(new.buffer, new.index))
        return new

    dims = []
    for dim in atom.dims:
        part, whole = reach[dim.var], sink_dims[reach[dim.var].along]
        lo = affine_index.add(starts[part.along], integer(part.first))
        hi = ends[part.along] if part.last == 0 else affine_index.add(ends[part.along], integer(part.last))
        # A producer's own bounds matter only where the halo reaches beyond them.
        if affine_index.difference(dim.lo, affine_index.add(whole.lo, integer(part.first))) != 0:
            lo = Op("maximum", (lo, dim.lo), INT)
        if affine_index.difference(dim.hi, affine_index.add(whole.hi, integer(part.last))) != 0:
            hi = Op("minimum", (hi, dim.hi), INT)
        dims.append(replace(dim, lo=lo, hi=hi))
    new = replace(atom, dims=tuple(dims), value=visit(atom.value))
    if atom.buffer in scratch:
        new = replace(new, buffer=scratch[atom.buffer], index=place(atom.buffer, atom.index))
    return new
