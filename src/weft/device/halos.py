"""Stencils through local memory.  In: the statements of a rectangle of loops; out: the arrays whose neighbouring
elements a group fetches once, a tile with its halo, and the statements with reads of the tile.

    b[i, j] = a[i - 1, j] + a[i, j] + a[i + 1, j]   -->   tile = a[rows and columns of the group, one more each way]
                                                          barrier
                                                          b[i, j] = tile[y, x] + tile[y + 1, x] + tile[y + 2, x]
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.codegen import c_ops
from weft.codegen import syntax as C
from weft.codegen.c_expr import Storage
from weft.device.dialect import BARRIER, TILE
from weft.device.kernels import Staging, Unit
from weft.ir.expr import Dim, Expr, Op, Read, Var, integer
from weft.ir.index import affine
from weft.ir.program import Buffer, Layout, Node, Stmt
from weft.ir.types import INT
from weft.ir.walk import buffers_written, node_exprs, reads, rewrite
from weft.records import dataclass

#: Different neighbours from which on a tile is worth its barrier, and how far away they may be.
LEAST, FAR = 3, 4
_ROW, _COLUMN = "k_row", "k_column"


@dataclass(frozen=True)
class _Tile:
    """The part of an array that a group holds: leading indices, the least offsets, and rows and columns."""

    read: Read
    low: tuple[int, int]
    shape: tuple[int, int]


def _offsets(read: Read, rows: Dim, columns: Dim) -> tuple[int, int] | None:
    """How far an element is from that of the work-item, if it is a neighbour of it."""
    if len(read.index) < 2:
        return None
    found = []
    for index, dim in zip(read.index[-2:], (rows, columns)):
        form = affine(index)
        if form is None or form.terms != ((dim.var, 1),):
            return None
        found.append(form.constant)
    return found[0], found[1]


def staged(nodes: Sequence[Node], grid: Sequence[Dim], unit: Unit) -> Staging | None:
    """What a group fetches first; None if nothing is read often enough."""
    if len(grid) < 2 or any(dim.step != 1 for dim in grid[-2:]) or not all(isinstance(node, Stmt) for node in nodes):
        return None
    rows, columns = grid[-2:]
    written = {name for node in nodes for name in buffers_written(node)}
    places: dict[tuple[str, tuple[Expr, ...]], set[tuple[int, int]]] = {}
    met: dict[tuple[str, tuple[Expr, ...]], Read] = {}
    for read in (read for node in nodes for expr in node_exprs(node) for read in reads(expr)):
        offset = _offsets(read, rows, columns)
        if offset is not None and read.buffer not in written:
            key = (read.buffer, read.index[:-2])
            places.setdefault(key, set()).add(offset)
            met.setdefault(key, read)
    tiles: _Tiles = {}
    for key, near in places.items():
        low = min(r for r, _ in near), min(c for _, c in near)
        span = max(r for r, _ in near) - low[0], max(c for _, c in near) - low[1]
        if len(near) >= LEAST and max(span) <= 2 * FAR and any(span):
            tiles[key] = _Tile(met[key], low, (TILE[1] + span[0], TILE[0] + span[1]))
    return _staging(nodes, (rows, columns), tiles, unit) if tiles else None


_Tiles = dict[tuple[str, tuple[Expr, ...]], _Tile]


def _staging(nodes: Sequence[Node], grid: tuple[Dim, Dim], tiles: _Tiles, unit: Unit) -> Staging:
    names: dict[tuple[str, tuple[Expr, ...]], str] = {}
    heads: list[C.CStmt] = []
    code: list[C.CStmt] = []
    size = 0
    for key, tile in tiles.items():
        name = names[key] = f"{key[0]} near {len(unit.kernels)} {len(names)}"
        of, count = tile.read.type, tile.shape[0] * tile.shape[1]
        variable = unit.names.own("tile")
        unit.storages[name] = Storage(Buffer(name, of, (integer(count),)), variable, Layout.C, (C.number(count),))
        heads.append(C.Declare(f"K_LOCAL {unit.expressions.ctype(of)}", variable, extent=count))
        code += _fetched(tile, C.Name(variable), grid, unit)
        size += count * of.dtype.size
    code.append(C.Evaluate(C.call(BARRIER)))
    for axis, name in enumerate((_ROW, _COLUMN)):
        code.append(C.Declare("const i64", unit.names.of(name), C.call("k_local", C.number(1 - axis))))

    def near(expr: Expr) -> Expr:
        key = (expr.buffer, expr.index[:-2]) if isinstance(expr, Read) else None
        if key is None or key not in tiles or not isinstance(expr, Read):
            return expr
        offsets, tile = _offsets(expr, *grid), tiles[key]
        if offsets is None:
            return expr
        row, column = (
            Op("add", (Var(name), integer(offset - low)), INT)
            for name, offset, low in zip((_ROW, _COLUMN), offsets, tile.low)
        )
        place = Op("add", (Op("mul", (row, integer(tile.shape[1])), INT), column), INT)
        return Read(names[key], (place,), expr.of)

    changed = tuple(
        Stmt(node.domain, node.buffer, node.index, rewrite(node.value, near), node.reduce, node.span)
        for node in nodes
        if isinstance(node, Stmt)
    )
    return Staging(changed, tuple(heads), tuple(code), size)


def _fetched(tile: _Tile, local: C.Name, grid: tuple[Dim, Dim], unit: Unit) -> list[C.CStmt]:
    """All work-items of the group fetch the tile, neighbours neighbours; what is outside of the array is not read."""
    number, row, column = (C.Name(unit.names.own(name)) for name in ("n", "y", "x"))
    storage = unit.storages[tile.read.buffer]
    places: list[C.CExpr] = []
    for axis, (dim, low) in enumerate(zip(grid, tile.low)):
        first = C.times(C.call("k_block", C.number(1 - axis)), C.number(TILE[1 - axis]))
        places.append(C.plus(C.plus(unit.expressions.bound(dim.lo), first), C.number(low)))
    inside: C.CExpr = C.Number("1")
    for name, extent in zip((row, column), storage.extents[-2:]):
        inside = C.Infix("&&", inside, C.Infix("&&", C.Infix(">=", name, C.Number("0")), C.Infix("<", name, extent)))
    leading = tuple(unit.expressions.index(index) for index in tile.read.index[:-2])
    element = C.Subscript(C.Name(storage.name), storage.offset((*leading, row, column)))
    body: C.CBlock = (
        C.Declare("const i64", row.text, C.plus(places[0], C.Infix("/", number, C.number(tile.shape[1])))),
        C.Declare("const i64", column.text, C.plus(places[1], C.Infix("%", number, C.number(tile.shape[1])))),
        C.Assign(
            C.Subscript(local, number),
            C.Ternary(inside, element, c_ops.literal(0, tile.read.type.dtype, pairs=True)),
        ),
    )
    lane = C.plus(C.times(C.call("k_local", C.Number("1")), C.number(TILE[0])), C.call("k_local", C.Number("0")))
    return [C.For(number.text, lane, C.number(tile.shape[0] * tile.shape[1]), TILE[0] * TILE[1], body)]
