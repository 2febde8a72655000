"""Where a call stands under the roof of its machine.  In: an optimised program, the sizes of a call and the seconds it
took; out: its floating-point operations and bytes, and a drawing of them below what memory can deliver.

Operations are counted in the program. Bytes are those that must move at least: every array of the caller that is read
once, every one that is written once. A call that fetches an array several times stands lower than it could.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from weft.analysis import cost
from weft.ir.expr import Expr, Op, Reduce, real
from weft.ir.program import Block, Loop, Program, Role, Stmt, While
from weft.ir.walk import children, expr_buffers, sub_blocks
from weft.records import dataclass
from weft.report.memory import buffer_bytes

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 560, 300, 56, 44
_DOTS = ("#3b7ddd", "#2e8b57", "#c0504d", "#b8860b", "#7b5ea7", "#4a90a4")


@dataclass(frozen=True)
class Work:
    """What one call has to do."""

    flops: float
    bytes: float

    @property
    def intensity(self) -> float:
        """Operations a byte."""
        return self.flops / self.bytes if self.bytes else 0.0


@dataclass(frozen=True)
class Roof:
    """A limit by bandwidth: bytes a second of some memory, or by arithmetic (`flops`), operations a second."""

    name: str
    bytes: float = math.inf
    flops: float = math.inf


@dataclass(frozen=True)
class Point:
    """A measured call."""

    name: str
    work: Work
    seconds: float


def work(program: Program, sizes: Mapping[str, float]) -> Work:
    """The operations and bytes of a call with these sizes."""
    found = _Count(program, sizes)
    found.block(program.body, real(1.0))
    return Work(found.flops, sum(found.read.values()) + sum(found.written.values()))


class _Count:
    """A walk over a program: operations, and the part of each array of the caller that is touched."""

    def __init__(self, program: Program, sizes: Mapping[str, float]) -> None:
        self.program, self.sizes = program, sizes
        self.flops = 0.0
        self.read: dict[str, float] = {}
        self.written: dict[str, float] = {}

    def block(self, block: Block, trips: Expr) -> None:
        for node in block:
            inner = trips
            if isinstance(node, Loop):
                inner = cost.times(trips, cost.as_float(cost.extent(node.dim)))
            elif isinstance(node, While):
                inner = cost.times(trips, real(float(cost.GUESSED_EXTENT)))
            if isinstance(node, Stmt):
                self._statement(node, _number(trips, self.sizes))
            for body in sub_blocks(node):
                self.block(body, inner)

    def _statement(self, node: Stmt, trips: float) -> None:
        points = _number(cost.points(node.domain), self.sizes)
        each, most = _operations(node.value, points, self.sizes)
        self.flops += each * trips
        self._touch(self.written, node.buffer, points * trips)
        for name in expr_buffers(node.value):
            self._touch(self.read, name, most * trips)

    def _touch(self, touched: dict[str, float], name: str, elements: float) -> None:
        buffer = self.program.buffer(name)
        if buffer.rank and buffer.role is not Role.LOCAL:
            size = min(_number(buffer_bytes(buffer), self.sizes), elements * buffer.type.dtype.size)
            touched[name] = max(touched.get(name, 0.0), size)


def _operations(expr: Expr, points: float, sizes: Mapping[str, float]) -> tuple[float, float]:
    """The floating-point operations of a value at so many points, and the most points that one part of it has."""
    flops, most = 0.0, points
    if isinstance(expr, Reduce):
        points *= _number(cost.points(expr.dims), sizes)
        most = points
    if isinstance(expr, (Op, Reduce)) and expr.type.dtype.is_float:
        flops = points
    for child in children(expr):
        more, inner = _operations(child, points, sizes)
        flops, most = flops + more, max(most, inner)
    return flops, most


def _number(size: Expr, sizes: Mapping[str, float]) -> float:
    return max(cost.evaluate(size, sizes, float(cost.GUESSED_EXTENT)) or 1.0, 1.0)


def sentence(point: Point, roofs: Sequence[Roof]) -> str:
    """One call in words."""
    done = point.work
    told = f"{_with_unit(done.flops, 'FLOP')} and at least {_with_unit(done.bytes, 'B')} in {_duration(point.seconds)}"
    told += f": {_with_unit(done.flops / point.seconds, 'FLOP/s')}, {_with_unit(done.bytes / point.seconds, 'B/s')}"
    roof = next((roof for roof in roofs if math.isfinite(roof.bytes)), None)
    return told if roof is None else f"{told} ({roof.name} gives {_with_unit(roof.bytes, 'B/s')})"


def _with_unit(value: float, unit: str) -> str:
    for factor, prefix in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def _duration(seconds: float) -> str:
    for factor, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def drawn(points: Sequence[Point], roofs: Sequence[Roof], title: str = "Roofline") -> str:
    """An SVG on logarithmic axes: operations a byte to the right, operations a second upwards."""
    shown = [point for point in points if point.work.flops and point.work.bytes and point.seconds]
    if not shown:
        return ""
    across = [point.work.intensity for point in shown]
    low, high = min(0.02, min(across) / 2), max(8.0, 2 * max(across))
    rates = [point.work.flops / point.seconds for point in shown]
    peak = min((roof.flops for roof in roofs), default=math.inf)
    rates += [min(roof.bytes * high, peak) for roof in roofs]
    bottom, top = min(rates) / 4, 2 * max(rates)

    def x(value: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 20) * math.log(value / low) / math.log(high / low)

    def y(value: float) -> float:
        return (_HEIGHT - _BOTTOM) - (_HEIGHT - _BOTTOM - 34) * math.log(value / bottom) / math.log(top / bottom)

    frame = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" font-family="sans-serif"'
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {frame}>',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" rx="8" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="22" font-size="14" fill="#1c2430">{escape(title)}</text>',
    ]
    out += _axes(x, y, (low, high), (bottom, top))
    out += _roofs(x, y, roofs, low, high)
    for at, point in enumerate(shown):
        place = x(point.work.intensity), y(point.work.flops / point.seconds)
        colour = _DOTS[at % len(_DOTS)]
        anchor = "end" if place[0] > 0.72 * _WIDTH else "start"
        shift = -9 if anchor == "end" else 9
        out.append(f'<circle cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="5" fill="{colour}"/>')
        text = f'font-size="12" fill="#1c2430" text-anchor="{anchor}"'
        out.append(f'<text x="{place[0] + shift:.1f}" y="{place[1] + 4:.1f}" {text}>{escape(point.name)}</text>')
    return "\n".join([*out, "</svg>"])


def _axes(x: object, y: object, across: tuple[float, float], up: tuple[float, float]) -> list[str]:
    assert callable(x) and callable(y)
    out = []
    soft = 'font-size="11" fill="#5d6b7c"'
    for power in range(math.ceil(math.log10(across[0])), math.floor(math.log10(across[1])) + 1):
        at, foot = x(10.0**power), _HEIGHT - _BOTTOM
        out.append(f'<line x1="{at:.1f}" y1="34" x2="{at:.1f}" y2="{foot}" stroke="#e4e9ef"/>')
        out.append(f'<text x="{at:.1f}" y="{foot + 16}" {soft} text-anchor="middle">{10.0**power:g}</text>')
    for power in range(math.ceil(math.log10(up[0])), math.floor(math.log10(up[1])) + 1):
        at = y(10.0**power)
        out.append(f'<line x1="{_LEFT}" y1="{at:.1f}" x2="{_WIDTH - 20}" y2="{at:.1f}" stroke="#e4e9ef"/>')
        label = _with_unit(10.0**power, "")
        out.append(f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" {soft} text-anchor="end">{label}</text>')
    out.append(f'<text x="{_WIDTH / 2}" y="{_HEIGHT - 10}" {soft} text-anchor="middle">operations a byte</text>')
    out.append(f'<text x="14" y="{_HEIGHT / 2}" {soft} transform="rotate(-90 14 {_HEIGHT / 2})">FLOP/s</text>')
    return out


def _roofs(x: object, y: object, roofs: Sequence[Roof], low: float, high: float) -> list[str]:
    assert callable(x) and callable(y)
    peak = min((roof.flops for roof in roofs), default=math.inf)
    out = []
    for number, roof in enumerate(roofs):
        limit = min(peak, roof.flops)
        ends = (low, high)
        corners = ends if math.isinf(roof.bytes) else (low, min(high, peak / roof.bytes))
        heights = [limit if math.isinf(roof.bytes) else roof.bytes * end for end in corners]
        line = f'x1="{x(corners[0]):.1f}" y1="{y(heights[0]):.1f}" x2="{x(corners[1]):.1f}" y2="{y(heights[1]):.1f}"'
        out.append(f'<line {line} stroke="#5d6b7c" stroke-width="1.5"/>')
        is_flat = math.isinf(roof.bytes)
        at = high if is_flat else math.sqrt(corners[0] * corners[1])
        height = limit if is_flat else roof.bytes * at
        slanted = sum(math.isfinite(other.bytes) for other in roofs)
        above = is_flat or number > 0 or slanted == 1  # of two slanted lines one has its name below
        shift, drop, anchor = (-6, -7, "end") if above else (6, 14, "start")
        place = f'x="{x(at) + shift:.1f}" y="{y(height) + drop:.1f}" text-anchor="{anchor}"'
        out.append(f'<text {place} font-size="11" fill="#5d6b7c">{escape(roof.name)}</text>')
    return out
