"""Stages over a grid of ranks.  In: a plan; out: the plan with stages whose tiles are boxes, cut along two dimensions
of what they write, and the grid of ranks that costs least for them.

    C[i, j] = sum[k] A[i, k] * B[k, j]      tiles of rows: each rank needs its rows of A and all of B
      -->   tiles of rows and columns: on a grid of 4 x 4 ranks each needs a quarter of A and a quarter of B
    b[i, j] = a[i - 1, j] + a[i, j + 1]     halos along both axes, a fraction of what whole rows are
How products are cut depends on sizes alone, so that results have the same bits on any grid; who computes a tile depends
on what has to be sent for it, which is known beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from weft.cluster.driver import Programs
from weft.cluster.mpi_holdings import Holdings
from weft.cluster.mpi_layout import near_square, tile_size
from weft.cluster.mpi_stages import Numbers, Work, may_join, prepare
from weft.cluster.plan import Plan, Stage, Step, Swap, Whole, across, with_inner
from weft.cluster.sweeps import Sweep
from weft.cluster.tiles import Parameter, TileProgram, tile_program
from weft.ir import index
from weft.ir.expr import AnyDim, Dim, Expr, Read, Var, integer
from weft.ir.program import Argument, Node, Program, Stmt, Symbol
from weft.ir.walk import buffers_written, fresh, map_node_exprs, names_of, node_exprs, reads, rewrite, walk
from weft.records import dataclass

#: Seconds of a message whatever its size, and bytes in a second.
_MESSAGE, _RATE = 2e-5, 4e9
#: How many of the usual tiles one tile of a product has, along rows and columns: small products are slow.
_ROWS, _COLUMNS = 2, 6
#: The name of a parameter that is a bound of the second cut.
ACROSS = "across"


@dataclass(frozen=True)
class Grid(Stage):
    """A stage that is cut along a second dimension as well: `second` are its statements cut along that one."""

    second: Stage | None = None

    @property
    def across(self) -> Stage | None:
        return self.second


def with_grids(plan: Plan) -> Plan:
    """The plan with stages over two dimensions where statements have them."""

    def change(steps: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(map(one, steps))

    def one(step: Step) -> Step:
        if isinstance(step, Sweep):
            return replace(step, steps=change(step.steps))
        if isinstance(step, Stage):
            found = as_grid(plan.program, step)
            return step if isinstance(found, str) else found
        return with_inner(step, change)

    return replace(plan, steps=change(plan.steps))


def as_grid(program: Program, stage: Stage) -> Grid | str:
    """The stage over two dimensions, or why it is none."""
    if stage.partials or any(write.box is None for write in stage.writes):
        return "its tiles give shares or keep elements"
    if not stage.alone and not may_join(stage):
        return "its sums are cut by rows"
    second = across(program, stage)
    if isinstance(second, str):
        return second
    if any(len({(part.lo, part.hi) for part in one.parts}) > 1 for one in (stage, second)):
        return "its parts are of different ranges"
    if any(piece.clipped for piece in (*stage.reads, *second.reads)):
        return "a branch decides what it reads"
    columns = {write.buffer: write.axis for write in second.writes}
    written = {write.buffer: (write.axis, columns[write.buffer]) for write in stage.writes}
    for one, place in ((stage, 0), (second, 1)):
        for piece in one.reads:
            exact = (piece.axis, piece.below, piece.above) == (written.get(piece.buffer, (None,) * 2)[place], 0, 0)
            if piece.buffer in written and not exact:
                return f"{piece.buffer} is changed while others read it"
    fields = {name: getattr(stage, name) for name in Stage.__dataclass_fields__}
    return Grid(**fields, second=second)


# --- tile programs ----------------------------------------------------------------------------------------------------


class GridPrograms(Programs):
    """Tile programs for ranks: those of grids as well, and updates in place."""

    def tile(self, step: Stage | Whole) -> TileProgram:
        found = self._tiles.get(step.name)
        if found is None:
            if isinstance(step, Stage) and not isinstance(step, Sweep):
                made = tile_program(self.plan, step)
                found = in_place(with_columns(made, step) if isinstance(step, Grid) else made)
                self._tiles[step.name] = found
            else:
                found = super().tile(step)
        return found


def with_columns(tile: TileProgram, grid: Grid) -> TileProgram:
    """The program of a tile of rows for a box of them: its memory is still whole rows, of which it touches a part."""
    program = tile.program
    taken = names_of(program)
    names: list[str] = []
    for name in ("left", "right"):
        names.append(fresh(name, taken))
        taken.add(names[-1])
    cuts = {part.var: part.shift for part in grid.second.parts} if grid.second is not None else {}

    def visit(node: Node) -> Node:
        if not isinstance(node, Stmt):
            return node
        return replace(node, domain=tuple(map(narrowed, node.domain)))

    def narrowed(dim: AnyDim) -> AnyDim:
        if not isinstance(dim, Dim) or dim.var not in cuts:
            return dim
        first, past = (index.sub(Var(name), integer(cuts[dim.var])) for name in names)
        return Dim(dim.var, first, past, dim.step)

    changed = replace(
        program,
        params=(*names, *program.params),
        symbols=(*(Symbol(name, Argument(name)) for name in names), *program.symbols),
        body=tuple(map(visit, program.body)),
    )
    ends = (Parameter("lo", ACROSS), Parameter("hi", ACROSS))
    return TileProgram(changed, (*ends, *tile.parameters), tile.returned)


def in_place(tile: TileProgram) -> TileProgram:
    """`c[i] = f(c_old[i])  -->  c[i] = f(c[i])`: an array of which each element is read only to be replaced needs no
    copy of what it was, since a rank works in its own memory."""
    program = tile.program
    outputs = {(p.name, p.piece): name for name, p in zip(program.params, tile.parameters) if p.kind == "output"}
    same = {
        name: outputs[p.name, p.piece]
        for name, p in zip(program.params, tile.parameters)
        if p.kind == "input" and (p.name, p.piece) in outputs
    }
    gone = {old: new for old, new in same.items() if _replaces(program, old, new)}
    if not gone:
        return tile

    def visit(expr: Expr) -> Expr:
        return replace(expr, buffer=gone[expr.buffer]) if isinstance(expr, Read) and expr.buffer in gone else expr

    kept = [(name, p) for name, p in zip(program.params, tile.parameters) if name not in gone]
    changed = replace(
        program,
        params=tuple(name for name, _ in kept),
        buffers=tuple(buffer for buffer in program.buffers if buffer.name not in gone),
        disjoint=tuple(pair for pair in program.disjoint if not gone.keys() & set(pair)),
        body=tuple(map_node_exprs(node, lambda e: rewrite(e, visit)) for node in program.body),
    )
    return TileProgram(changed, tuple(p for _, p in kept), tile.returned)


def _replaces(program: Program, old: str, new: str) -> bool:
    """Whether every read of `old` is of the very element of `new` that the same statement writes, before others do."""
    for node in program.body:
        found = [read for inner in walk((node,)) for e in node_exprs(inner) for read in reads(e) if read.buffer == old]
        if not isinstance(node, Stmt):
            if found or new in buffers_written(node):
                return False
            continue
        if found and (node.buffer != new or any(read.index != node.index for read in found)):
            return False
        if node.buffer == new:
            # Later statements read what this one has written, and `old` no more.
            rest = program.body[program.body.index(node) + 1 :]
            return not any(r.buffer == old for n in walk(rest) for e in node_exprs(n) for r in reads(e))
    return False


# --- choosing ---------------------------------------------------------------------------------------------------------


def grids(ranks: int) -> list[tuple[int, int]]:
    """Grids of so many ranks: rows alone, whose parts are contiguous; both, as evenly as can be; columns alone."""
    rows, columns = near_square(ranks, (1 << 20,) * 2)
    return list(dict.fromkeys([(ranks, 1), (rows, columns), (columns, rows), (1, ranks)]))


def tile_sizes(stage: Stage, numbers: Numbers) -> tuple[int, int]:
    """Rows and columns of a tile of a grid."""
    rows, columns = numbers.size or tile_size(numbers.extent), tile_size(numbers.across)
    return (rows, columns) if may_join(stage) else (_ROWS * rows, _COLUMNS * columns)


def on_grid(stage: Grid, numbers: Numbers, grid: tuple[int, int]) -> Numbers:
    return replace(numbers, grid=grid, sizes=tile_sizes(stage, numbers), whole=may_join(stage))


def cost(work: Work, itemsizes: Mapping[str, int], ranks: int, seconds: float) -> float:
    """Seconds of a stage: its largest share of the work, and the messages of the rank that has most of them."""
    loads = [0.0] * ranks
    total = 0
    for tile in work.tiles:
        points = (tile.hi - tile.lo) * max(tile.right - tile.left, 1)
        loads[tile.rank] += points
        total += points
    times = [load / max(total, 1) * seconds for load in loads]
    for name, messages in work.messages:
        for message in messages:
            spent = _MESSAGE + message.elements * itemsizes[name] / _RATE
            times[message.source] += spent
            times[message.target] += spent
    return max(times, default=0.0)


def loop_grid(
    sweep: Sweep,
    numbers: Callable[[Stage], Numbers],
    held: Mapping[str, Holdings],
    sizes: Mapping[str, int],
    ranks: int,
    seconds: float,
    iterations: int,
    limit: float,
) -> tuple[float, tuple[int, int]] | None:
    """The seconds of a loop whose iterations are done one by one on the grid that costs least, and the grid;
    None if that would be more than `limit`."""
    stages = sum(isinstance(step, Grid) for step in sweep.steps)
    rows, columns = near_square(ranks, (1 << 20,) * 2)
    # Whole rows are what several iterations at once are for; each iteration has its messages.
    least = iterations * (seconds / ranks + 2 * stages * _MESSAGE)
    if not all(isinstance(step, (Grid, Swap)) for step in sweep.steps) or columns == 1 or least > limit:
        return None
    found: list[tuple[float, tuple[int, int]]] = []
    for grid in {(rows, columns), (columns, rows)}:
        state = dict(held)
        spent: list[float] = []
        for _ in range(2):  # the first iteration brings arrays where they are needed, further ones are alike
            each = 0.0
            for step in sweep.steps:
                if isinstance(step, Swap):
                    state.update(zip(step.targets, [state[name] for name in step.sources]))
                elif isinstance(step, Grid):
                    names = {piece.buffer for piece in step.reads} | {write.buffer for write in step.writes}
                    work = prepare(step, on_grid(step, numbers(step), grid), {n: state[n] for n in names}, ranks)
                    state.update(work.after)
                    each += cost(work, sizes, ranks, 0.0)
            spent.append(each)
        found.append((spent[0] + (iterations - 1) * spent[1] + iterations * seconds / ranks, grid))
    return min(found, key=lambda pair: pair[0])


def best_grid(
    stage: Grid, numbers: Numbers, held: Mapping[str, Holdings], sizes: Mapping[str, int], ranks: int, seconds: float
) -> Numbers:
    """The numbers of a stage on the grid that costs least now."""
    found: list[tuple[float, Numbers]] = []
    for grid in grids(ranks):
        on = on_grid(stage, numbers, grid)
        found.append((cost(prepare(stage, on, held, ranks), sizes, ranks, seconds), on))
    return min(found, key=lambda pair: pair[0])[1]
