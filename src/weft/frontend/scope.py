"""The names of one function while it is built: what each denotes, and which are *slots*.

A slot is a variable that a loop carries or that branches merge: it has one buffer, and an assignment writes it.  Any
other assignment simply binds the name to a new value.  Which names are slots follows from liveness alone.
"""

from __future__ import annotations

import ast
from dataclasses import field

from weft.frontend.liveness import Liveness, assigned, target_names
from weft.frontend.source import Source
from weft.frontend.values import Value
from weft.ir.program import Buffer, LoopKind, Node
from weft.ir.types import ScalarType
from weft.records import dataclass


@dataclass
class LoopFrame:
    """An open loop of the user's: its `else` flag, if it has one; `label`, if there is no loop of its own to leave."""

    completed: str | None = None
    label: str | None = None


@dataclass
class Slot:
    """`buffer` is None until the first assignment gives the type; `key` names the slot across attempts."""

    key: tuple[int, str]
    buffer: Buffer | None = None
    entry: ScalarType | None = None  # the type of the value it had when it was opened
    history: list[ScalarType] = field(default_factory=list)  # the types of the values assigned so far
    doubtful: bool = False  # whether it is not known of a value assigned so far whether it is Python's or NumPy's
    tag: Buffer | None = None  # whether the number is of the other of two types that the slot holds
    there: Buffer | None = None  # whether it holds anything but None
    parts: list[Slot] | None = None  # of a tuple of numbers: the slots of those
    last: Value | None = None  # what was assigned last
    swapped: bool = False  # only ever permuted with other arrays: `a, b = b, a`
    is_list: bool = False
    sizes: dict[int, Buffer] | None = None  # an array whose size changes: the extents, by axis, in scalars
    twin: Buffer | None = None  # where the next array of another size is made
    branch: tuple[int, int] | None = None  # the branch that opened it, if the statements after it can go into it


@dataclass
class Scope:
    source: Source
    liveness: Liveness
    body: list[ast.stmt]
    values: dict[str, Value] = field(default_factory=dict)
    slots: dict[str, Slot] = field(default_factory=dict)
    parent: Scope | None = None  # the scope a nested function was defined in
    loops: list[LoopFrame] = field(default_factory=list)
    unbound: set[str] = field(default_factory=set)  # names that may be unbound here
    bound_in: dict[str, list[Node]] = field(default_factory=dict)  # the block of each name's last binding
    stale: set[str] = field(default_factory=set)  # names of memory that may hold a newer array of another name
    followed: set[int] = field(default_factory=set)  # branches that other statements of their block follow
    keeping: bool = False  # the value being assigned goes to several names
    grown: frozenset[str] | None = None  # names of lists that change their length, once they have been looked for
    stored: frozenset[str] | None = None  # names whose items are assigned to, once they have been looked for
    kept: frozenset[int] | None = None  # calls whose values are not consumed at once, once they have been looked for
    outer: set[str] = field(default_factory=set)  # names of enclosing functions that are assigned to (nonlocal)
    known: set[str] = field(default_factory=set)  # names that are not None here
    shared: set[str] = field(default_factory=set)  # names that nested functions assign to
    departed: bool = False  # an inlined function has returned here: what follows is under the test of a flag
    trying: int = 0  # how many try blocks are being executed
    consumer: object = None  # of a running generator: what its items go to
    assigned: frozenset[str] | None = None
    targets: frozenset[str] | None = None
    path: int = 0  # tells inlined copies of one function apart
    inlined: bool = False

    @property
    def variables(self) -> frozenset[str]:
        """Names that the function assigns to: never those of a global, whether they have a value yet or not."""
        if self.assigned is None:
            names = {name for node in self.body if isinstance(node, ast.Global) for name in node.names}
            self.assigned = frozenset(assigned(self.body) - names)
        return self.assigned

    @property
    def comprehended(self) -> frozenset[str]:
        """Variables of comprehensions: a function made in one may outlive them, and does not mean a global then."""
        if self.targets is None:
            nodes = [node for statement in self.body for node in ast.walk(statement)]
            found = [node.target for node in nodes if isinstance(node, ast.comprehension)]
            self.targets = frozenset(name for target in found for name in target_names(target))
        return self.targets
    regions: list[LoopKind] = field(default_factory=list)  # the regions around the current statement
