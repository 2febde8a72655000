"""A version of a function of plain Python, compiled.  In: the function and the arguments of a call; out: native code
for such arguments, loaded.  All of the compiler is loaded with this module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from weft import steps
from weft.errors import CompileError, Span
from weft.frontend import reads
from weft.plain import infer
from weft.plain.emit import Writer
from weft.plain.function import PlainVersion, loaded
from weft.plain.kept import Made, is_own
from weft.plain.runtime import compile_kernel, load, why_not
from weft.plain.told import Refusal
from weft.plain.types import describe
from weft.plain.unit import Instance, Unit
from weft.records import dataclass
from weft.runtime.descriptor import Fact, facts_of


@dataclass(frozen=True)
class Front:
    """A version before any compiler has run: its C, and what that was made from and names."""

    source: str
    objects: tuple[Any, ...]  # that the code names, by number
    called: frozenset[int]  # of which it has Python call these
    hidden: tuple[Any, ...]  # that come behind the arguments
    facts: tuple[Fact, ...]
    classes: tuple[type, ...]
    uses_numpy: bool
    pythons: tuple[tuple[str, bool], ...]  # versions of Python, and whether this one is as new
    unit: Unit
    root: Instance

    @property
    def types(self) -> dict[str, str]:
        """What is known of each parameter."""
        return {name: describe(self.root.locals[name]) for name in self.root.info.parameters}

    @property
    def signature(self) -> str:
        return f"({', '.join(f'{name}: {told}' for name, told in self.types.items())})"

    @property
    def kept(self) -> list[Any]:
        """Objects whose address the compiler has used as a key."""
        return self.unit.kept


def front(
    function: Any,
    samples: Sequence[Sequence[Any]],
    wide: frozenset[int] = frozenset(),
    deoptimise: int | None = None,
    hosted: bool = False,
) -> Front:
    """A version for arguments of the types that samples of each have, as C; Refusal if there is none. `hosted`: for a
    host that is not Python."""
    code = function.__code__
    span = Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0)
    try:
        with reads.recording() as recorder:
            unit, root = infer.infer(function, samples, wide, hosted)
        steps.enter("emit")
        hidden = [held.value for held in unit.hidden.values()]
        writer = Writer(unit, deoptimise)
        source = writer.source(root, hidden)
    except RecursionError:
        raise Refusal(span, f"`{function.__name__}`, or an argument of it, is nested too deeply") from None
    facts = facts_of(read for read in recorder.found if not unit.is_variable(read))
    pythons = tuple((read.name, read.value) for read in recorder.found if read.kind == "python")
    kinds = (held if isinstance(held, type) else type(held) for held in writer.objects)
    classes = tuple(dict.fromkeys((*unit.classes, *filter(is_own, kinds))))
    objects, called = tuple(writer.objects), frozenset(writer.called_numbers)
    return Front(source, objects, called, tuple(hidden), facts, classes, writer.uses_numpy, pythons, unit, root)


def compile_version(
    function: Any,
    arguments: tuple[Any, ...],
    build: Callable[[str], Path] = compile_kernel,
    wide: frozenset[int] = frozenset(),
    deoptimise: int | None = None,
) -> PlainVersion:
    """A version for these arguments, from what `build` makes of its C; Refusal if there is none.

    `wide`: lines on which integers have overflowed. `deoptimise`, for tests: each call deoptimises before the statement
    of this number, in the order of execution.
    """
    code = function.__code__
    span = Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0)
    if load() is None:
        raise Refusal(span, why_not() or "there is no run time for plain Python")
    start = perf_counter()
    found = front(function, [(value,) for value in arguments], wide, deoptimise)
    middle = perf_counter()
    try:
        library = build(found.source)
    except CompileError as problem:
        raise Refusal(span, f"the C compiler failed: {problem.reason}", problem.remedy) from problem
    texts = {"c": found.source, "types": infer.printed(found.unit, found.root), "signature": found.signature}
    made = Made(library, found.objects, found.hidden, found.facts, found.classes, found.uses_numpy)
    try:
        version = loaded(function, made, texts)
    except CompileError as problem:
        raise Refusal(span, problem.reason) from problem
    version.made = made
    version.native_lines = infer.native_lines(found.root)
    version.remarks = infer.remarks(found.root)
    version.seconds = {"front": middle - start, "compiler": perf_counter() - middle, "total": perf_counter() - start}
    _kept.append(found.kept)
    return version


#: Objects whose address the compiler has used as a key.
_kept: list[Any] = []
