"""A version of a function of plain Python, compiled.  In: the function and the arguments of a call; out: native code
for such arguments, loaded.  All of the compiler is loaded with this module.
"""

from __future__ import annotations

from collections.abc import Callable
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
    try:
        with reads.recording() as recorder:
            unit, root = infer.infer(function, arguments, wide)
        steps.enter("emit")
        hidden = [held.value for held in unit.hidden.values()]
        writer = Writer(unit, deoptimise)
        source = writer.source(root, hidden)
    except RecursionError:
        raise Refusal(span, f"`{function.__name__}`, or an argument of it, is nested too deeply") from None
    middle = perf_counter()
    try:
        library = build(source)
    except CompileError as problem:
        raise Refusal(span, f"the C compiler failed: {problem.reason}", problem.remedy) from problem
    told = ", ".join(f"{name}: {describe(root.locals[name])}" for name in root.info.parameters)
    texts = {"c": source, "types": infer.printed(unit, root), "signature": f"({told})"}
    facts: tuple[Any, ...] = tuple(read for read in recorder.found if not unit.is_variable(read))
    kinds = (held if isinstance(held, type) else type(held) for held in writer.objects)
    classes = tuple(dict.fromkeys((*unit.classes, *filter(is_own, kinds))))
    made = Made(library, tuple(writer.objects), tuple(hidden), facts, classes, writer.uses_numpy)
    try:
        version = loaded(function, made, texts)
    except CompileError as problem:
        raise Refusal(span, problem.reason) from problem
    version.made = made
    version.native_lines = infer.native_lines(root)
    version.remarks = infer.remarks(root)
    version.seconds = {"front": middle - start, "compiler": perf_counter() - middle, "total": perf_counter() - start}
    _kept.append(unit.kept)
    return version


#: Objects whose address the compiler has used as a key.
_kept: list[Any] = []
