"""What an expert asks of the optimiser, as data.  In: places in the user's source and options; out: frozen records that
passes read from their context, and that JSON and TOML can hold.

A place is a loop variable (`i`), a line (12), or both (`i@12`).  Every layer may import this module.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, fields, replace
from typing import Any, ClassVar

from weft.records import dataclass

_PLACE = re.compile(r"(?P<variable>[^\W\d]\w*)?(?:@(?P<line>\d+))?")
#: Where a function with target="auto" may run.
PLACES = ("cpu", "device")
# What passes add to the name of a loop's variable: numbers that make it unique, and `block` for blocks of iterations.
_ADDED = r"(?:_\d+)*"
_BLOCKS = rf"(?:_block{_ADDED})*"


@dataclass(frozen=True)
class Place:
    """A loop or a statement of the source: by variable, by line, or by both; `last` is where the lines end."""

    variable: str = ""
    line: int = 0
    last: int = field(default=0, compare=False)

    @staticmethod
    def of(given: Place | str | int) -> Place:
        """A place as users write it: "i", 12, "i@12"."""
        if isinstance(given, Place):
            return given
        if isinstance(given, int) and not isinstance(given, bool) and given > 0:
            return Place(line=given)
        found = _PLACE.fullmatch(given) if isinstance(given, str) and given else None
        if found is None:
            raise ValueError(f"{given!r} is no place: give a loop variable, a line, or both as 'i@12'")
        return Place(found["variable"] or "", int(found["line"] or 0))

    def __str__(self) -> str:
        if not self.line:
            return self.variable
        return f"{self.variable}@{self.line}" if self.variable else f"line {self.line}"

    def is_variable(self, name: str, blocks: bool = False) -> bool:
        """Whether a dimension is the one named; `blocks`: or a loop over blocks of it."""
        return (
            not self.variable
            or re.fullmatch(re.escape(self.variable) + _ADDED + (_BLOCKS if blocks else ""), name) is not None
        )

    def has_line(self, line: int) -> bool:
        return not self.line or self.line <= line <= max(self.line, self.last)

    def moved(self, lines: int) -> Place:
        return replace(self, line=self.line + lines) if self.line else self


@dataclass(frozen=True)
class Directive:
    """One transformation that was asked for; `name` is that of the method of weft.transform."""

    name: ClassVar[str] = ""

    def places(self) -> tuple[Place, ...]:
        found: list[Place] = []
        for each in fields(self):
            value = getattr(self, each.name)
            found += [part for part in (value if isinstance(value, tuple) else (value,)) if isinstance(part, Place)]
        return tuple(found)

    def moved(self, change: Callable[[Place], Place]) -> Directive:
        """The directive with `change` applied to each of its places."""

        def visit(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(visit(part) for part in value)
            return change(value) if isinstance(value, Place) else value

        return replace(self, **{each.name: visit(getattr(self, each.name)) for each in fields(self)})

    def __str__(self) -> str:
        parts: list[str] = []
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, tuple) and value and isinstance(value[0], Place):
                parts.append(", ".join(map(str, value)))
            elif isinstance(value, Place):
                parts += [str(value)] if value != Place() else []
            else:
                parts.append(f"{each.name}={value}" if not isinstance(value, str) else value)
        return f"{self.name}({', '.join(parts)})"


def _is_count(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value < 2**31


def _require_two(places: tuple[Place, ...]) -> None:
    if len(places) != 2:
        raise ValueError(f"{', '.join(map(str, places)) or 'nothing'}: two places are needed")


def _check_sizes(sizes: tuple[int, ...], loops: tuple[Place, ...]) -> None:
    if not isinstance(sizes, tuple) or not all(_is_count(size, 1) for size in sizes) or len(sizes) != len(loops):
        raise ValueError(f"sizes={sizes!r}: a positive integer for each of {len(loops)} loops is needed")


@dataclass(frozen=True)
class Tile(Directive):
    """The loops of a nest in blocks of these sizes."""

    name: ClassVar[str] = "tile"
    loops: tuple[Place, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        # Here, and not where users write it: a file of transformations is edited by hand, too.
        _check_sizes(self.sizes, self.loops)


@dataclass(frozen=True)
class Group(Directive):
    """The points of a nest that a work-group of an accelerator takes, along these loops."""

    name: ClassVar[str] = "group"
    loops: tuple[Place, ...]
    sizes: tuple[int, ...]

    def __post_init__(self) -> None:
        _check_sizes(self.sizes, self.loops)


@dataclass(frozen=True)
class On(Directive):
    """Where calls run of a function whose target is "auto": on the "cpu" or on the "device"."""

    name: ClassVar[str] = "on"
    device: str

    def __post_init__(self) -> None:
        if self.device not in PLACES:
            raise ValueError(f"on({self.device!r}): a function runs on the {' or the '.join(PLACES)}")


@dataclass(frozen=True)
class Interchange(Directive):
    """Two loops of a nest change places."""

    name: ClassVar[str] = "interchange"
    loops: tuple[Place, ...]

    def __post_init__(self) -> None:
        _require_two(self.loops)


@dataclass(frozen=True)
class Unroll(Directive):
    """The body of a loop several times over."""

    name: ClassVar[str] = "unroll"
    loop: Place
    factor: int

    def __post_init__(self) -> None:
        if not _is_count(self.factor, 2):
            raise ValueError(f"factor={self.factor!r}: an integer above 1 is needed")


@dataclass(frozen=True)
class Parallel(Directive):
    """The iterations of a loop shared among the threads."""

    name: ClassVar[str] = "parallel"
    loop: Place


@dataclass(frozen=True)
class Sequential(Directive):
    """The iterations of a loop one after the other, on one thread."""

    name: ClassVar[str] = "sequential"
    loop: Place


@dataclass(frozen=True)
class Threads(Directive):
    """The parallel loops of a function on so many threads at most."""

    name: ClassVar[str] = "threads"
    count: int

    def __post_init__(self) -> None:
        if not _is_count(self.count, 1):
            raise ValueError(f"count={self.count!r}: a positive number of threads is needed")


@dataclass(frozen=True)
class Vectorise(Directive):
    """An innermost loop in vectors."""

    name: ClassVar[str] = "vectorise"
    loop: Place


@dataclass(frozen=True)
class Fuse(Directive):
    """The loops of two lines become one."""

    name: ClassVar[str] = "fuse"
    lines: tuple[Place, ...]

    def __post_init__(self) -> None:
        _require_two(self.lines)


@dataclass(frozen=True)
class NoFuse(Directive):
    """The loops of the first line end before those of the second begin, and what it computes is kept in memory."""

    name: ClassVar[str] = "no_fuse"
    lines: tuple[Place, ...]

    def __post_init__(self) -> None:
        _require_two(self.lines)


@dataclass(frozen=True)
class NoLibrary(Directive):
    """Products of a line (or of all) stay loops."""

    name: ClassVar[str] = "no_library"
    line: Place = Place()


@dataclass(frozen=True)
class Expand(Directive):
    """How the operation on a line is carried out: by the expansion of this name."""

    name: ClassVar[str] = "expand"
    line: Place
    expansion: str


@dataclass(frozen=True)
class SkipPass(Directive):
    """A pass of the optimiser that is left out."""

    name: ClassVar[str] = "skip_pass"
    skipped: str


KINDS: dict[str, type[Directive]] = {
    kind.name: kind
    for kind in (
        *(Tile, Group, On, Interchange, Unroll, Parallel, Sequential, Threads, Vectorise),
        *(Fuse, NoFuse, NoLibrary, Expand, SkipPass),
    )
}
#: Directives that the pass `directed` carries out on loops, in the order in which they were given.
ON_LOOPS = (Tile, Interchange, Unroll, Parallel, Sequential, Vectorise, Fuse)


@dataclass(frozen=True)
class Dimension:
    """What a comment says of one dimension of a tensor expression: `:N=>parallel,block(128)`.

    `axis`: of the target of the assignment, None if it is not among its slices; `most`: extents beyond it are not met.
    """

    name: str
    axis: int | None = None
    reduced: bool = False
    parallel: bool = False
    vector: bool = False
    block: int = 0
    most: int = 0
    single: bool = False
    registers: bool = False


@dataclass(frozen=True)
class Shape:
    """The dimensions that a comment names, outermost first, and the lines of its statement."""

    line: int
    last: int
    dimensions: tuple[Dimension, ...]

    def place(self, dimension: Dimension) -> Place:
        return Place(self.variable(dimension), self.line, self.last)

    def variable(self, dimension: Dimension) -> str:
        """The loop variable of a dimension, from the end of its slice: `over_N`."""
        words = re.findall(r"\w+", dimension.name.rpartition(":")[2])
        return "_".join(("over", *words)) if words else f"over_{self.dimensions.index(dimension)}"

    @property
    def steers(self) -> bool:
        """Whether it asks for more than what weft finds out by itself."""
        shares = [dimension.parallel for dimension in self.dimensions if not dimension.reduced]
        # Only an inner dimension is to be shared.
        late = any(shares) and not shares[0]
        return late or any(d.block or d.most or d.single or d.registers for d in self.dimensions)

    def directives(self) -> tuple[Directive, ...]:
        """What it asks of loops with caches, vectors and threads."""
        found: list[Directive] = []
        cut = [d for d in self.dimensions if d.block and not d.single and not d.reduced]
        if cut:
            found.append(Tile(tuple(map(self.place, cut)), tuple(d.block for d in cut)))
        outer = next((d for d in self.dimensions if d.parallel), None)
        if outer is not None and outer is not self.dimensions[0]:
            found.append(Parallel(self.place(outer)))
        found += [Sequential(self.place(d)) for d in self.dimensions if d.single or d.most]
        found += [Vectorise(self.place(d)) for d in self.dimensions if d.vector and self.steers]
        return tuple(found)


@dataclass(frozen=True)
class Directives:
    """All directives of one function; `lenient`: a loop that is not there is no error (another version had it).

    `shapes`: what comments say of tensor expressions; `literal`: loops run in the order in which these name dimensions,
    also where sums would rather run along memory: on an accelerator.
    """

    items: tuple[Directive, ...] = ()
    lenient: bool = field(default=False, compare=False)
    shapes: tuple[Shape, ...] = ()
    literal: bool = False

    def __bool__(self) -> bool:
        return bool(self.items) or bool(self.shapes)

    def on_loops(self) -> tuple[Directive, ...]:
        return tuple(item for item in self.items if isinstance(item, ON_LOOPS))

    def hints(self) -> tuple[Directive, ...]:
        """What comments ask of loops: where that is not legal, or there is no such loop, weft's own stay."""
        return tuple(each for shape in self.shapes for each in shape.directives())

    def shape_of(self, line: int) -> Shape | None:
        """The comment on the statement of a line."""
        return next((shape for shape in self.shapes if shape.line <= line <= shape.last), None)

    def dimension(self, variable: str, line: int) -> Dimension | None:
        """What a comment says of a loop of the lowered program that holds a statement of this line."""
        shape = self.shape_of(line)
        dimensions = shape.dimensions if shape is not None else ()
        for dimension in dimensions:
            if shape is not None and Place(shape.variable(dimension)).is_variable(variable, blocks=True):
                return dimension
        return None

    def group(self, variable: str, line: int) -> int:
        """How many points of a loop a work-group takes; 0 if nobody asks."""
        for item in self.items:
            if isinstance(item, Group):
                for place, size in zip(item.loops, item.sizes):
                    if place.is_variable(variable) and place.has_line(line):
                        return size
        told = self.dimension(variable, line)
        return told.block if told is not None else 0

    def by_one(self, variable: str, line: int) -> Dimension | None:
        """A dimension that one work-item runs by itself: few elements, or sums that stay in its registers."""
        dimension, shape = self.dimension(variable, line), self.shape_of(line)
        if dimension is None or shape is None:
            return None
        summed = dimension.reduced and any(each.registers for each in shape.dimensions)
        return dimension if dimension.most or dimension.registers or summed else None

    def threads(self) -> int:
        """How many threads may share a loop; 0 if nobody asks."""
        return min((item.count for item in self.items if isinstance(item, Threads)), default=0)

    def skips(self, name: str) -> bool:
        return any(isinstance(item, SkipPass) and item.skipped == name for item in self.items)

    def keeps_loops(self, line: int, variables: Iterator[str] | tuple[str, ...]) -> bool:
        """Whether a statement of this line over these dimensions must become loops, and no call of a library."""
        names = tuple(variables)
        shape = self.shape_of(line)
        if shape is not None and shape.steers:
            return True
        for item in self.items:
            if isinstance(item, NoLibrary) and item.line.has_line(line):
                return True
            if isinstance(item, Expand) and item.expansion != "openblas" and item.line.has_line(line):
                return True
            if isinstance(item, ON_LOOPS) and not isinstance(item, Fuse):
                for place in item.places():
                    if place.has_line(line) and any(place.is_variable(name) for name in names):
                        return True
        return False

    def wants_library(self, line: int) -> bool:
        """Whether products of a line are the library's, whatever their size."""
        chosen = (item for item in self.items if isinstance(item, Expand) and item.expansion == "openblas")
        return any(item.line.has_line(line) for item in chosen)

    def separates(self, first: int, second: int) -> bool:
        """Whether the loops of two lines are to be kept apart: somebody asked for it, or for blocks of one of them."""
        shapes = self.shape_of(first), self.shape_of(second)
        if shapes[0] is not shapes[1] and any(shape is not None and shape.steers for shape in shapes):
            return True
        for item in self.items:
            if isinstance(item, NoFuse):
                here = [{k for k, place in enumerate(item.lines) if place.has_line(line)} for line in (first, second)]
                if here[0] and here[1] and here[0] != here[1]:
                    return True
        return False


NONE = Directives()


# --- as data ---------------------------------------------------------------------------------------------------------


def to_data(directive: Directive) -> dict[str, Any]:
    """The directive as JSON and TOML hold it: {"do": "tile", "loops": ["i", "j@4"], "sizes": [32, 64]}."""

    def visit(value: Any) -> Any:
        if isinstance(value, tuple):
            return [visit(part) for part in value]
        if isinstance(value, Place):
            return value.line if value.line and not value.variable else str(value)
        return value

    found = {each.name: visit(getattr(directive, each.name)) for each in fields(directive)}
    return {"do": directive.name, **{name: value for name, value in found.items() if value != ""}}


def from_data(data: Mapping[str, Any]) -> Directive:
    """The directive of `to_data`; ValueError if it is none."""
    kind = KINDS.get(str(data.get("do")))
    if kind is None:
        raise ValueError(f"{data.get('do')!r} is no transformation; there are {', '.join(KINDS)}")
    given = {name: value for name, value in data.items() if name != "do"}
    names = {each.name: each.type for each in fields(kind)}
    if not given.keys() <= names.keys():
        raise ValueError(f"{kind.name} takes {', '.join(names)}, not {', '.join(sorted(given.keys() - names.keys()))}")

    def visit(value: Any, of: str) -> Any:
        if of.startswith("tuple") != isinstance(value, list):
            raise ValueError(f"{kind.name}: {value!r} is {'a' if isinstance(value, list) else 'no'} list")
        if isinstance(value, list):
            part = of.removeprefix("tuple[").partition(",")[0]
            found = tuple(visit(each, part) for each in value)
            if part == "Place" and len(set(found)) < len(found):
                raise ValueError(f"{kind.name}: {value!r} names a place twice")
            return found
        if of == "Place":
            return Place.of(value)
        if not isinstance(value, int if of == "int" else str):
            raise ValueError(f"{kind.name}: {value!r} is no {of}")
        return value

    try:
        return kind(**{name: visit(value, str(names[name])) for name, value in given.items()})
    except TypeError as problem:
        raise ValueError(f"{kind.name} is not complete: {problem}") from None
