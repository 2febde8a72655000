"""A program to look at.  In: the stages of a compiled function; out: a `ProgramView`: its text, its statements and its
loops with the names by which `weft.transform` knows them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from weft.errors import Span, source_line
from weft.ir.program import Block, Call, Library, Loop, Node, Program, Stmt
from weft.ir.text import show, show_dim, show_node
from weft.ir.walk import sub_blocks, walk
from weft.records import dataclass

_NUMBERS = re.compile(r"(_\d+)+$")


@dataclass(frozen=True)
class LoopView:
    """A loop: `name` is what weft.transform takes; `kind` is for, parallel or vector; `range` its bounds as text."""

    name: str
    variable: str
    line: int
    kind: str
    range: str
    depth: int
    source: str


@dataclass(frozen=True)
class StatementView:
    """A statement: where it comes from, the loops around it by name, and its text in the IR."""

    line: int
    loops: tuple[str, ...]
    text: str
    source: str


@dataclass(frozen=True)
class ProgramView:
    """The program of one version at one stage; `str` gives its text."""

    stage: str
    stages: Mapping[str, Program]

    @property
    def program(self) -> Program:
        """The program itself, as weft.ir defines it."""
        return self.stages[self.stage]

    def at(self, stage: str) -> ProgramView:
        """The same version at another stage: "built", "optimised" or "lowered"."""
        if stage not in self.stages:
            raise ValueError(f"there is no stage {stage!r}: choose one of {', '.join(self.stages)}")
        return ProgramView(stage, self.stages)

    @property
    def loops(self) -> tuple[LoopView, ...]:
        """Every loop, outermost first, in program order."""
        names = self._names()
        return tuple(
            LoopView(
                names[id(loop)],
                loop.dim.var,
                place.line,
                loop.kind.value,
                show_dim(loop.dim, self.program.table),
                depth,
                source_line(place).strip() if place.line > 0 else "",
            )
            for loop, depth in _nested(self.program.body, 0)
            for place in (_place(loop),)
        )

    @property
    def statements(self) -> tuple[StatementView, ...]:
        """Every statement and call of a library, in program order."""
        names = self._names()
        return tuple(
            StatementView(
                node.span.line,
                tuple(names[id(loop)] for loop in around),
                show_node(node, self.program.table),
                source_line(node.span).strip() if node.span.line > 0 else "",
            )
            for node, around in _statements(self.program.body, ())
        )

    def show(self) -> None:
        """Print the loops as a tree, with the statements in them."""
        print(self.outline())

    def outline(self) -> str:
        """The loops as a tree, with the lines of the source that run in them."""
        names = self._names()
        lines: list[str] = [f"{self.program.name}, {self.stage}"]

        def visit(block: Block, depth: int) -> None:
            for node in block:
                pad = "  " * depth
                if isinstance(node, Loop):
                    bounds = show_dim(node.dim, self.program.table).partition(": ")[2]
                    lines.append(f"{pad}{node.kind.value} {names[id(node)]}   {bounds}")
                elif isinstance(node, (Stmt, Call, Library)):
                    where = f"line {node.span.line}: " if node.span.line > 0 else ""
                    lines.append(f"{pad}{where}{show_node(node, self.program.table)}")
                elif sub_blocks(node):
                    lines.append(f"{pad}{type(node).__name__.lower()}")
                for inner in sub_blocks(node):
                    visit(inner, depth + 1)

        visit(self.program.body, 1)
        return "\n".join(lines)

    def _names(self) -> dict[int, str]:
        """Names of loops: the variable of the source and the line, or the program's own variable where that is not
        enough to tell two loops apart."""
        loops = [node for node in walk(self.program.body) if isinstance(node, Loop)]
        short = {id(loop): _name(_NUMBERS.sub("", loop.dim.var), _place(loop)) for loop in loops}
        often = Counter(short.values())
        return {
            id(loop): short[id(loop)] if often[short[id(loop)]] == 1 else _name(loop.dim.var, _place(loop))
            for loop in loops
        }

    def __str__(self) -> str:
        return show(self.program, lines=True)

    def _repr_html_(self) -> str:
        """The loops as nested boxes, for notebooks."""
        from weft.report.drawn import program_html

        return program_html(self.stages, self.stage)

    def __repr__(self) -> str:
        return f"<program of {self.program.name}, {self.stage}: {len(self.loops)} loops>"


def _name(variable: str, place: Span) -> str:
    return f"{variable}@{place.line}" if place.line > 0 else variable


def _place(node: Node) -> Span:
    """Where a node comes from: its own place, or that of the first statement in it."""
    return next((inner.span for inner in walk((node,)) if inner.span.line > 0), node.span)


def _nested(block: Block, depth: int) -> Iterator[tuple[Loop, int]]:
    for node in block:
        if isinstance(node, Loop):
            yield node, depth
        for inner in sub_blocks(node):
            yield from _nested(inner, depth + isinstance(node, Loop))


def _statements(block: Block, around: tuple[Loop, ...]) -> Iterator[tuple[Node, tuple[Loop, ...]]]:
    for node in block:
        if isinstance(node, (Stmt, Call, Library)):
            yield node, around
        for inner in sub_blocks(node):
            yield from _statements(inner, (*around, node) if isinstance(node, Loop) else around)
