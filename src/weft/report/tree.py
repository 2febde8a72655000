"""The decision tree of a function.  In: its versions, and how their calls went; out: one tree, in the order in which a
call decides: kinds of the arguments, then what must hold for a version to be right, then what makes it fast.

    a: float64[:, :]
    └─ version 1, if a.shape[0] >= 3 and a, b share no memory; else plain Python     12 calls, 1 refused
       ├─ line 5: a.shape[0] * a.shape[0] > 64
       │  ├─ yes: gemm     10 calls
       │  └─ no: own loops     2 calls
       └─ line 7: 0.5 * a.shape[0] > 20000 cycles
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

from weft.analysis import cost
from weft.analysis.choices import SEVERAL_PRODUCTS, Choice, calls_library, choices
from weft.ir.expr import Expr, Op
from weft.ir.ops import COMPARISONS
from weft.ir.program import Block, Call, Loop, LoopKind, Program
from weft.ir.types import FLOAT
from weft.ir.walk import walk
from weft.records import dataclass
from weft.report.texts import guard_texts, size_text


@dataclass(frozen=True)
class Calls:
    """How the calls of one version went; `choices`: two counts for each choice by size; `sizes`: of the last call."""

    calls: int = 0
    refused: int = 0
    choices: tuple[int, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)
    threads: int = 1


@dataclass(frozen=True)
class History:
    """How the calls of a function went: those of each version, those that ran as Python; and the limits in force."""

    versions: tuple[Calls, ...] = ()
    python: int = 0
    limits: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Branch:
    """One node of the tree; `calls`: how many went through it (None: not counted)."""

    text: str
    calls: int | None = None
    branches: tuple[Branch, ...] = ()

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"text": self.text, "calls": self.calls}
        if self.branches:
            found["branches"] = [branch.to_json() for branch in self.branches]
        return found


class VersionLike(Protocol):
    @property
    def signature(self) -> str: ...
    @property
    def program_optimised(self) -> Program | None: ...
    @property
    def program_lowered(self) -> Program | None: ...
    @property
    def c_source(self) -> str | None: ...


def decision_tree(
    versions: Sequence[VersionLike],
    calls: Sequence[Calls],
    python_calls: int = 0,
    limits: Mapping[str, float] | None = None,
) -> Branch:
    """The tree of all versions; those for the same kinds of arguments stand under one branch."""
    groups: dict[str, list[Branch]] = {}
    total = python_calls
    for number, (version, counted) in enumerate(zip(versions, calls), 1):
        groups.setdefault(version.signature, []).append(_version(number, version, counted, limits or {}))
        total += counted.calls
    branches = [
        Branch(signature or "no arguments", sum(branch.calls or 0 for branch in inside), tuple(inside))
        for signature, inside in groups.items()
    ]
    branches.append(Branch("anything else: a new version, or plain Python", python_calls))
    return Branch("a call", total, tuple(branches))


def guards_of(program: Program) -> list[str]:
    """What must hold for a version to be right, as the user would write it."""
    found = guard_texts(program, [check.condition for check in program.guards])
    found += [f"{first} and {second} share no memory" for first, second in program.disjoint]
    return list(dict.fromkeys(found))


_SHOWN = 8


def _version(number: int, version: VersionLike, counted: Calls, limits: Mapping[str, float]) -> Branch:
    program = version.program_lowered or version.program_optimised
    name = f"version {number}"
    if program is None:
        how = "as plain Python" if hasattr(version, "native_lines") else "compiled ahead of time"
        return Branch(f"{name}, {how}", counted.calls)
    guards = guards_of(program)
    if len(guards) > _SHOWN:
        guards = [*guards[:_SHOWN], f"{len(guards) - _SHOWN} more conditions"]
    condition = f", if {' and '.join(guards)}" if guards else ""
    inside = _choices(program, counted, limits) if version.c_source is not None else ()
    if guards or counted.refused:
        inside = (*inside, Branch("otherwise: another version, or plain Python", counted.refused))
    return Branch(name + condition, counted.calls, inside)


# --- choices by size -------------------------------------------------------------------------------------------------


def _choices(program: Program, counted: Calls, limits: Mapping[str, float]) -> tuple[Branch, ...]:
    found = choices(program)
    below: dict[tuple[tuple[int, bool], ...], list[Choice]] = {}
    for choice in found:
        below.setdefault(choice.inside, []).append(choice)

    def taken(choice: Choice, first: bool) -> int | None:
        place = 2 * choice.number + (not first)
        return counted.choices[place] if place < len(counted.choices) else None

    def branches(inside: tuple[tuple[int, bool], ...]) -> tuple[Branch, ...]:
        return tuple(one(choice) for choice in below.get(inside, ()))

    def one(choice: Choice) -> Branch:
        question, yes, no = _words(choice, program, limits)
        place = f"line {choice.node.span.line}: " if choice.node.span.line > 0 else ""
        ways = [
            Branch(f"{answer}: {way}", taken(choice, first), branches((*choice.inside, (choice.number, first))))
            for answer, way, first in (("yes", yes, True), ("no", no, False))
        ]
        return Branch(place + question, None, tuple(ways))

    return branches(())


def _words(choice: Choice, program: Program, limits: Mapping[str, float]) -> tuple[str, str, str]:
    """The question of a choice and its two answers."""
    node = choice.node
    if isinstance(node, Loop):
        assert node.work is not None
        if calls_library(node.body):
            count = size_text(program, cost.as_float(cost.extent(node.dim)))
            return f"{count} >= {SEVERAL_PRODUCTS} products?", "threads", "threads of the library"
        least = limits.get("crowded" if choice.crowded else "parallel", 0.0)
        enough = f" > {least:.0f}" if least else " enough to share"
        return f"about {size_text(program, node.work)} cycles{enough}?", "threads", "one thread"
    routines = tuple(dict.fromkeys(inner.routine for inner in walk(node.then) if isinstance(inner, Call)))
    way = " and ".join(routines) if routines else _kind(node.then)
    other = "own loops" if routines else _kind(node.orelse)
    if way == other:
        way, other = "the form for large sizes", "the form for small sizes"
    return f"{_question(node.condition, program, limits)}?", way, other


def _kind(block: Block) -> str:
    loops = [node for node in walk(block) if isinstance(node, Loop)]
    return "in blocks" if any(loop.kind is LoopKind.PARALLEL for loop in loops) else "one loop" if loops else "nothing"


def _question(condition: Expr, program: Program, limits: Mapping[str, float]) -> str:
    """The comparisons of estimates in a condition."""
    if isinstance(condition, Op) and condition.op in ("and", "or"):
        return f" {condition.op} ".join(_question(part, program, limits) for part in condition.args)
    if isinstance(condition, Op) and condition.op in COMPARISONS and condition.args[0].type == FLOAT:
        signs = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
        left, right = (size_text(program, side, limits) for side in condition.args)
        return f"{left} {signs[condition.op]} {right}"
    return guard_texts(program, [condition])[0]


# --- text ------------------------------------------------------------------------------------------------------------


def tree_text(root: Branch) -> Iterator[str]:
    """The tree with lines of its own for each branch."""
    yield _row(root)
    yield from _below(root.branches, "")


def _below(branches: Sequence[Branch], before: str) -> Iterator[str]:
    for position, branch in enumerate(branches):
        last = position == len(branches) - 1
        lead = "└─ " if last else "├─ "
        if is_short(branch):
            yield f"{before}{lead}{branch.text}  {', '.join(map(_row, branch.branches))}"
            continue
        yield f"{before}{lead}{_row(branch)}"
        yield from _below(branch.branches, before + ("   " if last else "│  "))


def is_short(branch: Branch) -> bool:
    """A question whose two answers lead to no further questions: it fits one line."""
    return branch.calls is None and len(branch.branches) == 2 and not any(way.branches for way in branch.branches)


def _row(branch: Branch) -> str:
    return branch.text if branch.calls is None else f"{branch.text}  [{calls_text(branch.calls)}]"


def calls_text(count: int) -> str:
    return "1 call" if count == 1 else f"{count} calls"
