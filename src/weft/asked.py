"""What can be asked of a compiled function.  In: the function; out: its explanation, or the text of one of its
versions.

A mistake of weft's own that is met on the way is part of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from weft import net, restored, steps
from weft.errors import NOWHERE, DimensionError, Span, Unsupported, WeftError, lacks_compiler, source_line
from weft.records import dataclass
from weft.runtime import machine

if TYPE_CHECKING:
    from weft.compiled import Compiled
    from weft.frontend.source import Source
    from weft.frontend.specs import Spec
    from weft.ir.program import Program
    from weft.options import Options
    from weft.report.explain import CompiledLike, Explanation, FunctionSource
    from weft.report.roofline import Roof
    from weft.report.tree import History


@dataclass(frozen=True)
class Prebuilt:
    """What is known of a version compiled ahead of time: its signature and nothing of how it was made."""

    signature: str
    program_built: None = None
    program_optimised: None = None
    program_lowered: None = None
    c_source: None = None
    remarks: tuple[Any, ...] = ()
    seconds: Mapping[str, float] = field(default_factory=dict)
    fallbacks: tuple[Any, ...] = ()


#: What to do about calls that plain Python runs faster.
_MORE_WORK = "do more in one call: put the loop that calls it into the compiled function"

#: What `inspect` shows.
INSPECTED = ("ir", "c", "python", "cupy", "asm", "pragmas", "types", "core")


def explanation(function: Any) -> Explanation:
    """What became of each line of a `Jitted`, and why."""
    from weft.report.explain import explain

    parts = [*function._parts()]
    refused = [(p.span, p.reason, p.remedy) for part in parts for p in part._refused.values()]
    refused += [(part._place(), reason, _MORE_WORK) for part in parts for reason in slower(part)]
    # Without a C compiler only the arrays' one was asked: what it refuses may well be native.
    refused = [one for one in refused if lacks_compiler(one[1])][:1] or refused
    mistakes = [(p.span, p.reason, p.remedy) for part in parts if (p := part.declared_wrongly) and not part._compiled]
    place = _bare_place(function)
    try:
        with steps.budget(function.options.compile_timeout):
            steps.enter("explain")
            place = _place(function)
            versions: list[CompiledLike] = [*function._prebuilt]
            versions += [restored.full(part, version) for part in parts for version in part._compiled]
            versions += [version for part in parts for version in part._plain_versions()]
            found = explain(versions, place, refused, _history(function, parts), mistakes)
            return replace(found, measured=function.measured, roofs=_roofs()) if function.measured else found
    except Exception as trouble:
        if net.is_meant(trouble, function.options):
            raise
        problem = net.refusal(trouble, function._place(), function.options)
        note = f"{sum(function.call_counts)} calls were native; how cannot be told: {problem.reason}"
        return explain([], place, [*refused, (problem.span, note, problem.remedy)])


def _roofs() -> tuple[Roof, ...]:
    """What one thread gets from the memories of this machine, if `weft doctor --calibrate` or an idle process knows."""
    from weft.report.roofline import Roof

    known = machine.stored()
    names = {"bytes_memory": "memory, one thread", "bytes_shared_cache": "last cache, one thread"}
    numbers = {} if known is None else known.numbers
    return tuple(Roof(text, bytes=numbers[name] * 1e9) for name, text in names.items() if numbers.get(name))


def no_version(function: Any) -> str:
    """Why there is no version to look at: the function was not called, or was refused."""
    name = function.py_func.__name__
    refused = next(iter(function._refused.values()), None) or function.declared_wrongly
    if refused is None and function._plain_calls:
        return f"{name} has no native version: its calls ran as plain Python"
    if refused is None:
        return f"{name} has not been compiled yet: call it once"
    remedy = f"; try: {refused.remedy}" if refused.remedy else ""
    return f"{name} has no native version: {refused.reason} ({refused.span}){remedy}"


def html(function: Any) -> str:
    """A compiled function for a notebook; nothing is compiled or restored for it."""
    from weft.report.drawn import function_html

    counts = function.stats["calls"]
    rows = [(signature, str(count)) for signature, count in counts.items()]
    regions = sum(1 for part in function._parts()) - 1
    told = f"compiled for {len(rows)} kind{'s' * (len(rows) != 1)} of arguments"
    if not rows:
        refused = next(iter(function._refused.values()), None)
        told = f"runs as plain Python: {refused.reason}" if refused is not None else "not compiled yet: call it once"
        if refused is None and function._plain_calls:
            told = "not compiled: its calls ran as plain Python"
        if function.declared_wrongly is not None:
            told = f"not compiled, its calls raise an error: {function.declared_wrongly.reason}"
    if regions:
        told += f"; {regions} region{'s' * (regions != 1)} native, Python between them"
    return function_html(function.py_func.__name__, rows, told)


def slower(function: Any) -> list[str]:
    """What was compiled and is not used, since plain Python took less time for the calls that were compared."""
    found: list[str] = []
    names = [*function._prebuilt, *function._compiled]
    for version, profile in zip(names, function.profiles):
        if profile.plain_time:
            times = f"{profile.plain_time / 1e3:.3g} us a call against {profile.native_time / 1e3:.3g} us"
            found.append(f"plain Python runs calls with {version.signature}: it takes {times}")
    both = None if function._in_regions is None else function._in_regions.slower
    if both is not None:
        took = f"{both[1] * 1e6:.3g} us a call against {both[0] * 1e6:.3g} us"
        found.append(f"plain Python runs all of it, without the regions: it takes {took}")
    return found


def _place(function: Any) -> FunctionSource:
    """Name, file and text of a function; without the text where it cannot be read."""
    from weft.report.explain import FunctionSource

    try:
        source = function._load()
    except Unsupported as problem:
        return _bare_place(function, problem.span)
    return FunctionSource(source.name, source.file, function.py_func.__code__.co_firstlineno, source.text)


def _bare_place(function: Any, problem: Span = NOWHERE) -> FunctionSource:
    """Name and file of a function; its text up to the place of what is wrong with it, if that is known."""
    from weft.report.explain import FunctionSource

    code = function.py_func.__code__
    first = code.co_firstlineno
    last = problem.end_line if problem.file == code.co_filename and problem.end_column else first - 1
    text = "\n".join(source_line(problem, line) for line in range(first, last + 1))
    return FunctionSource(function.py_func.__name__, code.co_filename, first, text)


def _history(function: Any, parts: list[Any]) -> History:
    """How the calls of a function's versions went, in the order in which `explain` lists them."""
    from weft.codegen.binding import symbol_values
    from weft.report.tree import Calls, History
    from weft.runtime.threads import get_num_threads

    found: list[Calls] = []
    for part in parts:
        ahead = [None] * len(part._prebuilt)
        programs = [*ahead, *(restored.full(part, version).program_lowered for version in part._compiled)]
        for count, profile, program in zip(part.call_counts, part.profiles, programs):
            sizes = {} if program is None or not count else symbol_values(program, profile.last)
            found.append(Calls(count, profile.refused, profile.choices, sizes, get_num_threads()))
    found += [Calls(version.calls, version.deopts) for part in parts for version in part._plain_versions()]
    return History(tuple(found), function._interpreted_calls(), machine.limits_here())


def require_dimensions(function: Any, values: tuple[Any, ...]) -> None:
    """PragmaError unless arrays have the dimensions that the option `dim_info` gives names to."""
    from inspect import signature

    given = dict(zip(signature(function.py_func).parameters, values))
    sizes: dict[str, tuple[int, str]] = {}
    for array, names in function.options.dim_info:
        shape = getattr(given.get(array), "shape", None)
        if shape is None:
            arrays = ", ".join(name for name, value in given.items() if hasattr(value, "shape")) or "there is none"
            told = f"dim_info names {array!r}, which is no array argument"
            raise DimensionError(function._place(), told, f"name an array argument: {arrays}")
        if len(shape) != len(names):
            told = f"dim_info gives {array} {len(names)} dimensions, it has {len(shape)}"
            raise DimensionError(function._place(), told, "name each of them")
        for axis, (name, size) in enumerate(zip(names, shape)):
            known, where = sizes.setdefault(name, (size, f"axis {axis} of {array}"))
            if known != size:
                told = f"dimension {name!r} is {known} ({where}) and {size} (axis {axis} of {array})"
                raise DimensionError(function._place(), told, "give dimensions of other sizes other names in dim_info")


def dump(function: Any, code: str | None) -> None:
    """Print what was generated, for the option `dump`."""
    import sys

    print(f"--- {function.py_func.__name__}\n{code or '(Python: see inspect)'}", file=sys.stderr)


def text(function: Any, what: str, signature: str | int | None) -> str:
    """IR, C, Python or assembly of a version; `signature` picks one (default: the newest)."""
    if what not in INSPECTED:
        raise ValueError(f"inspect({what!r}): choose one of {', '.join(map(repr, INSPECTED))}")
    plain = _plain_text(function, what, signature)
    if plain is not None:
        return plain
    try:
        return _text(function._pick(signature), what, function.options)
    except WeftError:
        raise
    except Exception as trouble:
        if net.is_meant(trouble, function.options):
            raise
        problem = net.refusal(trouble, function._place(), function.options)
        raise WeftError(f"{function.py_func.__name__}: {problem.reason}; {problem.remedy}") from trouble


def _plain_text(function: Any, what: str, signature: str | int | None) -> str | None:
    """The same of a version as plain Python; None if another one is meant."""
    if what == "core":
        from weft.plain.core import core_function, print_core

        return print_core(core_function(function._load().tree))
    name = function.py_func.__name__
    found = [version for version in function._plain_versions() if signature in (None, version.signature)]
    if not found:
        if what == "types":
            raise WeftError(f"{name} has no version as plain Python: its types are in inspect('ir')")
        return None
    if what in ("c", "types"):
        return str(found[-1].text[what])
    raise WeftError(f"{name} is compiled as plain Python: see inspect('core'), inspect('types') or inspect('c')")


def with_pragmas(
    source: Source, kinds: Sequence[Spec], options: Options, optimised: Program, lowered: Program
) -> str:
    """The text of a function with the pragmas that weft has inferred, and would take."""
    from weft import proposed
    from weft.report import pragmas

    found = pragmas.inferred(source.text, source.tree, optimised, lowered)
    return pragmas.annotated(source.text, source.tree, proposed.accepted(source, kinds, options, found))


def _text(version: Compiled, what: str, options: Options) -> str:
    if what == "ir":
        from weft.ir.text import show

        return show(version.program_optimised, lines=True)
    if what == "python":
        from weft.codegen.python import generate

        return generate(version.program_optimised)
    if what == "cupy":
        from weft.codegen.cupy import Plain, source

        module = str(version.source.namespace.get("__name__", "__main__"))
        return source(version.program_optimised, Plain(version.source.text, module), version.signature)
    if what == "pragmas":
        return with_pragmas(
            version.source, version.built.specs, options, version.program_optimised, version.program_lowered
        )
    if version.c_source is None:
        raise WeftError("there is no C compiler: this version is Python (see inspect('python'))")
    if what == "c":
        return version.c_source
    from weft.runtime import toolchain

    chain = toolchain.find()
    assert chain is not None
    return chain.assembly(version.c_source, version.flags)
