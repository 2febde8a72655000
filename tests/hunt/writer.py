"""The state of one program being written: its lines, what is in scope, and the choices, all from one seed.

A type is a word ("int", "float", "bool", "str", "None") or a tuple: ("list", T), ("dict", K, V), ("set", K),
("tuple", T, ...), ("opt", T), ("array", dtype, rank), ("object", name of the class).
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")
Type = Any

SCALARS = ("int", "float", "bool", "str")
DTYPES = ("float64", "float64", "float64", "int64", "int64", "float32", "int32", "bool", "uint8", "complex128", "int16")


@dataclass(frozen=True)
class ClassOf:
    """A class of the program: its fields, and methods with the types of parameter and result."""

    name: str
    fields: tuple[tuple[str, Type], ...]
    methods: tuple[tuple[str, Type, Type], ...] = ()


@dataclass(frozen=True)
class FunctionOf:
    """A helper: `kind` is function, generator or recursive."""

    name: str
    params: tuple[Type, ...]
    result: Type
    kind: str = "function"


@dataclass
class Writer:
    """`scope` maps names to types; `taste` weighs kinds of statements, so that programs differ in character."""

    random: random.Random
    lines: list[str] = field(default_factory=list)
    depth: int = 0
    scope: dict[str, Type] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)  # loop counters and the like, not to be assigned
    classes: dict[str, ClassOf] = field(default_factory=dict)
    functions: list[FunctionOf] = field(default_factory=list)
    taste: dict[str, float] = field(default_factory=dict)
    loops: int = 0
    tries: int = 0
    budget: int = 14
    fresh: int = 0
    ready: list[str] = field(default_factory=list)  # expressions that use what was defined (`plain_flow.py`)
    result: Type = None  # of the function being written, where it matters

    def pick(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]

    def chance(self, percent: float) -> bool:
        return self.random.random() * 100 < percent

    def number(self, low: int, high: int) -> int:
        return self.random.randint(low, high)

    def emit(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def name(self, stem: str) -> str:
        self.fresh += 1
        return f"{stem}{self.fresh}"

    @contextlib.contextmanager
    def block(self) -> Iterator[None]:
        """An indented block.  What it binds may be unbound afterwards: mostly it is out of scope."""
        before = dict(self.scope)
        self.depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.emit("pass")
        self.depth -= 1
        if not self.chance(6):
            self.scope = {name: kind for name, kind in self.scope.items() if name in before}

    @contextlib.contextmanager
    def inner(self, **names: Type) -> Iterator[None]:
        """More names in scope, for a comprehension or a lambda."""
        before = dict(self.scope)
        self.scope.update(names)
        yield
        self.scope = before

    def named(self, kind: Type) -> list[str]:
        return [name for name, of in self.scope.items() if of == kind]

    def holding(self, head: str) -> list[tuple[str, Type]]:
        """Variables of a kind of container."""
        return [(name, of) for name, of in self.scope.items() if isinstance(of, tuple) and of[0] == head]

    def plain_type(self) -> Type:
        return self.pick(("int", "int", "int", "float", "float", "str", "bool"))

    def key_type(self) -> Type:
        return self.pick(("int", "int", "str", ("tuple", "int", "int")))

    def any_type(self, depth: int = 2) -> Type:
        """A type of a variable; containers of containers up to a depth."""
        if depth == 0 or self.chance(35):
            return self.plain_type()
        form = self.number(0, 11)
        if form < 4:
            return ("list", self.any_type(depth - 1))
        if form < 6:
            return ("dict", self.key_type(), self.any_type(depth - 1))
        if form == 6:
            return ("set", self.pick(("int", "int", "str")))
        if form == 7:
            return ("tuple", *(self.any_type(depth - 1) for _ in range(self.number(1, 3))))
        if form == 8:
            return ("opt", self.pick(("int", "float", "str")))
        if form == 9 and self.classes:
            return ("object", self.pick(sorted(self.classes)))
        if form == 10 or self.chance(self.taste.get("arrays", 10)):
            return self.array_type()
        return ("list", self.plain_type())

    def array_type(self) -> Type:
        return ("array", self.pick(DTYPES), self.pick((1, 1, 1, 2, 2, 3)))
