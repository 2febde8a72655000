"""`weft.transform`: control for experts.  In: a function and named transformations of its loops; out: the function,
compiled that way from then on.

    weft.transform(f).tile("i", "j", sizes=(32, 64)).parallel("i").save()

Each is checked for legality: at once if the function has been called, else when it is first compiled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.directives import (
    Directive,
    Fuse,
    Group,
    Interchange,
    NoFuse,
    NoLibrary,
    On,
    Parallel,
    Place,
    Sequential,
    SkipPass,
    Threads,
    Tile,
    Unroll,
    Vectorise,
)
from weft.errors import WeftError
from weft.jitted import Jitted
from weft.options import make_options

Where = Place | str | int


def transform(function: Callable[..., Any]) -> Transformer:
    """Transformations of a function; a plain one is compiled by `weft.jit`, and is the `function` of the result."""
    there: Any = function
    if hasattr(there, "directed_by"):
        return Transformer(there.local, there)
    if getattr(function, "__weft_distributed__", False):
        target = function.options.target  # type: ignore[attr-defined]
        raise WeftError(f"{function.__name__} has target={target!r}: only functions of one machine can be transformed")
    if not isinstance(function, Jitted):
        function = Jitted(function, make_options())
    return Transformer(function)


class Transformer:
    """Each method asks for one transformation and gives this object back, so that they can be chained.

    A place is a loop variable ("i"), a line of the file (12) or both ("i@12").
    """

    def __init__(self, function: Jitted, there: Any = None) -> None:
        self.function = function
        #: The function on a device, of which `function` is the part for the CPU.
        self.there = there

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return (self.there or self.function)(*args, **kwargs)

    # --- loops -------------------------------------------------------------------------------------------------------

    def tile(self, *loops: Where, sizes: tuple[int, ...] | int) -> Transformer:
        """Run a nest in blocks of `sizes` iterations, one size for each of the loops (or one for all)."""
        places = _places(loops, 1)
        given = (sizes,) * len(places) if isinstance(sizes, int) else tuple(sizes)
        return self._add(Tile(places, given))

    def group(self, *loops: Where, sizes: tuple[int, ...] | int) -> Transformer:
        """Let a work-group of an accelerator take so many points of a nest (a processor has no groups)."""
        places = _places(loops, 1)
        given = (sizes,) * len(places) if isinstance(sizes, int) else tuple(sizes)
        return self._add(Group(places, given))

    def on(self, device: str) -> Transformer:
        """Run a function whose target is "auto" on the "cpu" or on the "device", without timing both."""
        return self._set((*(each for each in self.directives if not isinstance(each, On)), On(device)))

    def interchange(self, first: Where, second: Where) -> Transformer:
        """Let two loops of a nest change places."""
        return self._add(Interchange(_places((first, second), 2)))

    def unroll(self, loop: Where, factor: int) -> Transformer:
        """Repeat the body of a loop `factor` times in each iteration."""
        return self._add(Unroll(Place.of(loop), factor))

    def parallel(self, loop: Where) -> Transformer:
        """Share the iterations of this loop among the threads, not those of loops around or inside it."""
        return self._add(Parallel(Place.of(loop)))

    def sequential(self, loop: Where) -> Transformer:
        """Keep the iterations of a loop on one thread."""
        return self._add(Sequential(Place.of(loop)))

    def threads(self, count: int) -> Transformer:
        """Run the parallel loops of the function on so many threads at most."""
        return self._set((*(each for each in self.directives if not isinstance(each, Threads)), Threads(count)))

    def vectorise(self, loop: Where) -> Transformer:
        """Run an innermost loop in vectors."""
        return self._add(Vectorise(Place.of(loop)))

    # --- statements --------------------------------------------------------------------------------------------------

    def fuse(self, first: Where, second: Where) -> Transformer:
        """Make one loop of the loops of two lines that follow each other."""
        return self._add(Fuse(_places((first, second), 2)))

    def no_fuse(self, first: Where, second: Where) -> Transformer:
        """End the loops of one line before those of a later one begin, and keep in memory what the first computes."""
        places = _places((first, second), 2)
        if not all(place.line for place in places):
            raise ValueError(f"no_fuse({first!r}, {second!r}): the line of a statement or a loop is needed for both")
        return self._add(NoFuse(places))

    def no_library(self, line: Where | None = None) -> Transformer:
        """Make loops of the products on a line (without one: of all), whatever their size."""
        return self._add(NoLibrary(Place() if line is None else Place.of(line)))

    # --- passes ------------------------------------------------------------------------------------------------------

    def skip_pass(self, name: str) -> Transformer:
        """Leave out a pass of the optimiser."""
        from weft.passes.order import require_optional

        require_optional(name)
        return self._add(SkipPass(name))

    def pass_(self, name: str, on: bool) -> Transformer:
        """Switch a pass of the optimiser off, or on again."""
        if not on:
            return self.skip_pass(name)
        return self._set(tuple(d for d in self.directives if d != SkipPass(name)))

    # --- keeping -----------------------------------------------------------------------------------------------------

    @property
    def directives(self) -> tuple[Directive, ...]:
        """All that has been asked for, in order."""
        return self.function.transforms()

    def clear(self) -> Transformer:
        """Ask for nothing any more; the file beside the source stays as it is until `save`."""
        return self._set(())

    def save(self) -> Transformer:
        """Keep the transformations in `<module>.weft.toml` beside the source: they are applied wherever it is used."""
        from weft import transform_file

        source = self.function._load()
        file = transform_file.place(source.file)
        if not file.parent.is_dir() or source.file.startswith("<"):
            raise WeftError(f"{source.name} is not from a file: its transformations cannot be kept beside it")
        try:
            transform_file.write(file, self.function.py_func.__qualname__, source.tree, self.directives)
        except ValueError as problem:
            raise WeftError(f"{file} cannot be read, so nothing is written: {problem}") from None
        return self

    def _add(self, directive: Directive) -> Transformer:
        return self._set((*self.directives, directive))

    def _set(self, directives: tuple[Directive, ...]) -> Transformer:
        if self.there is not None:
            self.there.directed_by(directives)
        else:
            self.function.direct(directives)
        return self

    def __repr__(self) -> str:
        steps = "".join(f".{directive}" for directive in self.directives)
        return f"<weft.transform({self.function.py_func.__qualname__}){steps}>"


def _places(given: tuple[Where, ...], least: int) -> tuple[Place, ...]:
    places = tuple(Place.of(each) for each in given)
    if len(places) < least or len(set(places)) != len(places):
        raise ValueError(f"{', '.join(map(repr, given)) or 'nothing'}: {least} or more different places are needed")
    return places
