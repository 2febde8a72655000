"""Calls drawn from the entries of the knowledge base.  In: an entry, its recipe (recipes.py) and a number; out: a
`Case`, the text of one call and its arguments: always the same for the same number, so that a failure can be repeated.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.semantics.samples import ALL, LAYOUTS, awkward, ordinary
from tests.support import Arguments, function_from_source, lines, outcome
from weft.frontend import knowledge
from weft.frontend.knowledge import Entry
from weft.report.support import title

LENGTHS = (2, 3, 4, 5)


@dataclass(frozen=True)
class Recipe:
    """How calls of a function are made.

    required: the arguments that must be there, in order, as templates; None: derived from the names of the parameters.
    options: templates for arguments that may be left out, by name; they come before those of recipes.OPTIONS.
    ranks: of the first operand (0: a NumPy scalar).  dtypes: of the first operand.  awkward: extremes, inf and NaN too.
    call: the text of the call, {} where the arguments go; None: derived from the name.
    """

    required: tuple[str, ...] | None = None
    options: dict[str, tuple[str, ...]] = field(default_factory=dict)
    ranks: tuple[int, ...] = (0, 1, 2, 3)
    dtypes: tuple[str, ...] = ALL
    awkward: bool = False
    call: str | None = None
    tolerance: float = 1e-12
    body: tuple[str, ...] = ("return {call}",)


@dataclass(frozen=True)
class Sample:
    """An argument: a scalar or a list as it is, an array by its values and the layout they are laid out in."""

    value: Any
    layout: str = "contiguous"

    def fresh(self) -> Any:
        if isinstance(self.value, np.ndarray):
            return LAYOUTS[self.layout](self.value)
        return list(self.value) if isinstance(self.value, list) else self.value


@dataclass(frozen=True)
class Case:
    """One call: its text, its arguments by name, and what the entry's coverage is asked about."""

    entry: Entry
    text: str
    samples: dict[str, Sample]
    passed: dict[str, str]
    first_rank: int
    tolerance: float
    body: tuple[str, ...]

    def source(self) -> str:
        return lines(", ".join(self.samples), *(line.format(call=self.text) for line in self.body))

    def make(self) -> Arguments:
        return tuple(sample.fresh() for sample in self.samples.values())

    def statements(self, number: int) -> tuple[list[str], str | None]:
        """The case as a part of a larger function: its lines, and the name of its result if it has one."""
        result, body = None, []
        for line in self.body:
            text = re.sub(r"\bv(\d*)\b", rf"c{number}v\1", line.format(call=self.text))
            if text.startswith("return "):
                result = f"r{number}"
                text = f"{result} = {text.removeprefix('return ')}"
            body.append(text)
        return body, result

    def covered(self) -> bool:
        """Whether the entry declares that it covers such a call."""
        coverage = self.entry.coverage
        taken = " ".join(self.passed.get(name, "") for name in (*knowledge.operands(self.entry), "*0", "*1", "*2"))
        kinds = {
            np.asarray(sample.value).dtype.kind
            for name, sample in self.samples.items()
            if name in taken and isinstance(sample.value, np.ndarray | np.generic | complex)
        }
        if self.first_rank == 0 and "axis" in self.passed:
            return False  # NumPy lets numbers have an axis 0
        for parameter, values in self.entry.limits.items():
            given = self.passed.get(parameter)
            if given is not None and (isinstance(values, str) or given not in values):
                return False
        inside = coverage.ranks is None or self.first_rank in coverage.ranks
        return inside and kinds <= set(coverage.kinds)

    def __str__(self) -> str:
        shown = [
            f"{name}: {s.value.dtype}{list(s.value.shape)} {s.layout}" if isinstance(s.value, np.ndarray)
            else f"{name} = {s.value!r}"
            for name, s in self.samples.items()
        ]  # fmt: skip
        return f"{self.text}  with {', '.join(shown) or 'nothing'}"


class Draw:
    """The random choices of one case.  `draw[placeholder]` is the text of an argument made for a placeholder."""

    def __init__(self, recipe: Recipe, seed: tuple[int, int], number: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.recipe = recipe
        self.samples: dict[str, Sample] = {}
        self.dtype = recipe.dtypes[number % len(recipe.dtypes)]
        self.rank = int(self.choice(recipe.ranks))
        self.layout = str(self.choice(list(LAYOUTS)))
        self.shape = self._shape(self.rank)
        self.first: Sample | None = None

    def choice(self, options: Any) -> Any:
        return options[int(self.rng.integers(len(options)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.random() < probability)

    def _shape(self, rank: int) -> tuple[int, ...]:
        extents = [int(self.choice(LENGTHS)) for _ in range(rank)]
        if rank and self.chance(0.12):
            extents[int(self.rng.integers(rank))] = 0
        elif rank and self.chance(0.15):
            extents[int(self.rng.integers(rank))] = 1
        return tuple(extents)

    def __getitem__(self, placeholder: str) -> str:
        kind, _, detail = placeholder.partition(" ")
        maker: Callable[..., str] = getattr(self, f"draw_{kind}")
        return maker(detail) if detail else maker()

    def add(self, value: Any, layout: str | None = None) -> str:
        name = f"v{len(self.samples)}"
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        self.samples[name] = Sample(value, layout or self.layout)
        if self.first is None:
            self.first = self.samples[name]
        return name

    def values(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        seed = int(self.rng.integers(1000))
        use_awkward = self.recipe.awkward and self.chance(0.4)
        return (awkward if use_awkward else ordinary)(dtype, shape, seed)

    # --- arrays ---------------------------------------------------------------------------------------------------

    def draw_a(self) -> str:
        """The first operand."""
        return self.add(self.values(self.dtype, self.shape))

    def draw_same(self) -> str:
        """Another array of the shape and dtype of the first."""
        return self.add(self.values(self.dtype, self.shape))

    def draw_like(self) -> str:
        """Another array of the same shape, of the same or another dtype."""
        return self.add(self.values(self._other(), self.shape))

    def draw_b(self) -> str:
        """An operand that broadcasts with the first: an array, a NumPy scalar or a Python number."""
        if self.chance(0.2):
            return self.draw_number()
        rank = int(self.rng.integers(len(self.shape) + 1))
        shape = tuple(1 if self.chance(0.15) else n for n in self.shape[len(self.shape) - rank :])
        return self.add(self.values(self._other(), shape))

    def _other(self) -> str:
        return self.dtype if self.chance(0.5) else str(self.choice(self.recipe.dtypes))

    def draw_array(self, detail: str) -> str:
        """array f8 3 4: a given dtype and shape; `self` for the dtype of the case."""
        dtype, *shape = detail.split()
        return self.add(self.values(self.dtype if dtype == "self" else dtype, tuple(int(n) for n in shape)))

    def draw_vector(self) -> str:
        return self.add(self.values(self._other(), self._shape(1)))

    def draw_mask(self) -> str:
        return self.add(ordinary("bool", self.shape, int(self.rng.integers(1000))))

    def draw_sorted(self) -> str:
        """A sorted vector of the dtype of the case."""
        return self.add(np.sort(self.values(self.dtype, self._shape(1))))

    def draw_distinct(self) -> str:
        """The first operand with no value twice if the dtype has so many: the order of equal ones is NumPy's own."""
        size = int(np.prod(self.shape))
        values = self.rng.permutation(size).reshape(self.shape)
        return self.add((values % 2 if self.dtype == "bool" and size <= 2 else values).astype(self.dtype))

    def draw_rising(self) -> str:
        """A strictly rising vector with at least one element."""
        return self.add(np.unique(ordinary(self.dtype, (6,), int(self.rng.integers(1000)))))

    def draw_counts(self) -> str:
        """Small integers, not negative."""
        dtype = str(self.choice(("int64", "int32", "uint8", "int16")))
        return self.add(self.rng.integers(0, 4, self._shape(1)).astype(dtype))

    def draw_index(self, detail: str = "size") -> str:
        """An index array for the whole of the first operand, or for one axis of it."""
        size = int(np.prod(self.shape)) if detail == "size" else (self.shape or (1,))[int(detail)]
        dtype = str(self.choice(("int64", "int32", "int8")))
        if size == 0:
            return self.add(np.zeros(0, dtype))
        return self.add(self.rng.integers(-size, size, self._shape(int(self.rng.integers(1, 3)))).astype(dtype))

    def draw_spd(self) -> str:
        """A symmetric positive definite matrix."""
        n = int(self.choice((1, 2, 3, 4)))
        base = ordinary(self.dtype, (n, n), int(self.rng.integers(1000)))
        return self.add((base @ base.conj().T + n * np.eye(n)).astype(self.dtype))

    def draw_square(self) -> str:
        """A well conditioned square matrix."""
        n = self.shape[-1] if self.shape else 2
        base = ordinary(self.dtype, (*self.shape[:-2], n, n), int(self.rng.integers(1000)))
        return self.add((base + 7 * np.eye(n)).astype(self.dtype))

    # --- numbers and literals ---------------------------------------------------------------------------------------

    def draw_number(self) -> str:
        return str(self.choice(("2", "3", "1.5", "-2", "0", "True", "0.25")))

    def draw_real(self) -> str:
        """An argument that is a number: of Python or of NumPy, ordinary or not."""
        numbers = (0.5, 2.0, -1.25, 0.0, 1.0, 3, -2, 1, 0, True, 1e300, 720.0, float("inf"), float("nan"), -0.75, 12)
        value: Any = self.choice(numbers)
        if isinstance(value, float) and self.chance(0.3):
            value = self.choice((np.float64, np.float32))(np.clip(value, -1e30, 1e30))
        return self.add(value)

    def draw_whole(self) -> str:
        value: Any = int(self.rng.integers(-12, 13))
        return self.add(self.choice((int, np.int64, np.int32))(value) if self.chance(0.5) else value)

    def draw_extent(self) -> str:
        return self.add(int(self.choice((0, 1, 2, 3, 5))))

    def draw_scalar(self) -> str:
        """A NumPy scalar of the dtype of the case, or the Python number equal to it."""
        value = self.values(self.dtype, (1,))[0]
        return self.add(value.item() if self.chance(0.5) else value)

    def draw_axis(self) -> str:
        rank = len(self.shape)
        return str(int(self.rng.integers(-rank, rank))) if rank else "0"

    def draw_axes(self) -> str:
        rank = len(self.shape)
        chosen = self.rng.permutation(rank)[: int(self.rng.integers(1, rank + 1))] if rank else []
        return "(" + "".join(f"{int(k) - (rank if self.chance(0.3) else 0)}, " for k in chosen) + ")"

    def draw_permutation(self) -> str:
        return "(" + "".join(f"{int(k)}, " for k in self.rng.permutation(len(self.shape))) + ")"

    def draw_shape(self) -> str:
        """The shape of the first operand in another form: as many elements."""
        size = int(np.prod(self.shape))
        forms = [str((size,)), "-1" if size else "(0,)", str((1, size)), str((size, 1)), str(self.shape[::-1])]
        return str(self.choice(forms))

    def draw_dtype(self) -> str:
        return str(self.choice(("np.float64", "np.int32", "np.complex128", "np.float32", "float", "'i8'", "bool")))

    def draw_pair(self) -> str:
        """A tuple or list of the first operand and arrays of the same shape."""
        inner = ", ".join([self.draw_a(), self.draw_like(), *([self.draw_same()] if self.chance(0.4) else [])])
        return f"({inner})" if self.chance(0.7) else f"[{inner}]"


# --- cases ----------------------------------------------------------------------------------------------------------


def draw_case(entry: Entry, recipe: Recipe, options: dict[str, tuple[str, ...]], number: int) -> Case:
    """The case `number` of an entry.  `options` are the templates of its optional arguments."""
    name = title(entry)
    draw = Draw(recipe, (zlib.crc32(name.encode()), number), number)
    required = recipe.required or ()
    names = entry.plain[: len(required)] + tuple(f"*{k}" for k in range(len(required) - len(entry.plain)))
    passed = {parameter: template.format_map(draw) for parameter, template in zip(names, required)}
    forced = list(options)[number % len(options)] if options and number % 3 else None
    later = []
    for parameter, templates in options.items():
        if parameter in names or not (parameter == forced or draw.chance(0.25)):
            continue
        if parameter in ("out", "where"):
            later.append(parameter)
        else:
            passed[parameter] = str(draw.choice(templates)).format_map(draw)
    text = _call(entry, recipe, names, passed, draw)
    if later:
        _add_outputs(entry, recipe, names, passed, draw, later)
        text = _call(entry, recipe, names, passed, draw)
    first = draw.first.value if draw.first is not None else 0
    return Case(entry, text, draw.samples, passed, np.ndim(first), recipe.tolerance, recipe.body)


def _add_outputs(
    entry: Entry, recipe: Recipe, names: tuple[str, ...], passed: dict[str, str], draw: Draw, wanted: list[str]
) -> None:
    """`out=` fits the result of the call without it; `where=` of a ufunc leaves elements of it as they are."""
    source = lines(", ".join(draw.samples), f"return {_call(entry, recipe, names, passed, draw)}")
    plain = outcome(function_from_source(source), tuple(sample.fresh() for sample in draw.samples.values()))
    reduces = "axis" in entry.parameters
    if "where" in wanted and reduces:
        passed["where"] = draw.draw_mask()
    if isinstance(plain.value, np.ndarray) and ("out" in wanted or "where" in wanted):
        wider = np.result_type(plain.value.dtype, draw.choice(("bool", "float64", plain.value.dtype)))
        if "out" in entry.parameters:
            passed["out"] = draw.add(np.zeros(plain.value.shape, wider if draw.chance(0.5) else plain.value.dtype))
        if "where" in wanted and not reduces:
            passed["where"] = draw.add(ordinary("bool", plain.value.shape, int(draw.rng.integers(1000))))


def _call(entry: Entry, recipe: Recipe, names: tuple[str, ...], passed: dict[str, str], draw: Draw) -> str:
    positional = [passed[name] for name in names]
    keywords = {name: text for name, text in passed.items() if name not in names}
    real = knowledge.signature(entry)
    if real is not None and keywords and not any(p.kind is p.VAR_POSITIONAL for p in real):
        # The next arguments may as well be given by position.
        for place in real[len(positional) :]:
            if place.name == "out" and entry.is_method:
                break  # any() and all() of arrays take it by name alone, whatever their signature says
            if place.kind is not place.POSITIONAL_OR_KEYWORD or place.name not in keywords or not draw.chance(0.5):
                break
            positional.append(keywords.pop(place.name))
    written = ", ".join([*positional, *(f"{name}={text}" for name, text in keywords.items())])
    if recipe.call is not None:
        return recipe.call.format(written)
    if entry.is_method:
        rest = ", ".join([*positional[1:], *(f"{name}={text}" for name, text in keywords.items())])
        receiver = positional[0] if positional[0].isidentifier() else f"({positional[0]})"
        return f"{receiver}.{entry.name}({rest})"
    return f"{title(entry)}({written})"


def cases(entry: Entry, recipe: Recipe, options: dict[str, tuple[str, ...]], count: int) -> Iterator[Case]:
    for number in range(count):
        yield draw_case(entry, recipe, options, number)
