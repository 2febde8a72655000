"""What can be asked of a compiled function.  In: the function; out: its explanation, or the text of one of its
versions.

A mistake of weft's own that is met on the way is part of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from weft import net, steps
from weft.errors import Unsupported, WeftError
from weft.records import dataclass
from weft.runtime import machine

if TYPE_CHECKING:
    from weft import pipeline
    from weft.report.explain import CompiledLike, Explanation, FunctionSource
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


def explanation(function: Any) -> Explanation:
    """What became of each line of a `Jitted`, and why."""
    from weft.report.explain import explain

    parts = [*function._parts()]
    refused = [(p.span, p.reason, p.remedy) for part in parts for p in part._refused.values()]
    refused += [(part._place(), reason, "") for part in parts for reason in slower(part)]
    place = _bare_place(function)
    try:
        with steps.budget(function.options.compile_timeout):
            steps.enter("explain")
            place = _place(function)
            versions: list[CompiledLike] = [*function._prebuilt]
            versions += [part._full(version) for part in parts for version in part._compiled]
            return explain(versions, place, refused, _history(function, parts))
    except Exception as trouble:
        if net.is_meant(trouble, function.options):
            raise
        problem = net.refusal(trouble, function._place(), function.options)
        note = f"{sum(function.call_counts)} calls were native; how cannot be told: {problem.reason}"
        return explain([], place, [*refused, (problem.span, note, problem.remedy)])


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
    except Unsupported:
        return _bare_place(function)
    return FunctionSource(source.name, source.file, function.py_func.__code__.co_firstlineno, source.text)


def _bare_place(function: Any) -> FunctionSource:
    """Name and file of a function."""
    from weft.report.explain import FunctionSource

    code = function.py_func.__code__
    return FunctionSource(function.py_func.__name__, code.co_filename, code.co_firstlineno, "")


def _history(function: Any, parts: list[Any]) -> History:
    """How the calls of a function's versions went, in the order in which `explain` lists them."""
    from weft.codegen.binding import symbol_values
    from weft.report.tree import Calls, History
    from weft.runtime.threads import get_num_threads

    found: list[Calls] = []
    for part in parts:
        ahead = [None] * len(part._prebuilt)
        programs = [*ahead, *(part._full(version).program_lowered for version in part._compiled)]
        for count, profile, program in zip(part.call_counts, part.profiles, programs):
            sizes = {} if program is None or not count else symbol_values(program, profile.last)
            found.append(Calls(count, profile.refused, profile.choices, sizes, get_num_threads()))
    return History(tuple(found), function._plain_calls, machine.limits_here())


def text(function: Any, what: str, signature: str | int | None) -> str:
    """IR, C, Python or assembly of a version; `signature` picks one (default: the newest)."""
    if what not in ("ir", "c", "python", "asm"):
        raise ValueError(f"inspect({what!r}): choose one of 'ir', 'c', 'python', 'asm'")
    try:
        return _text(function._pick(signature), what)
    except WeftError:
        raise
    except Exception as trouble:
        if net.is_meant(trouble, function.options):
            raise
        problem = net.refusal(trouble, function._place(), function.options)
        raise WeftError(f"{function.py_func.__name__}: {problem.reason}; {problem.remedy}") from trouble


def _text(version: pipeline.Compiled, what: str) -> str:
    if what == "ir":
        from weft.ir.text import show

        return show(version.program_optimised, lines=True)
    if what == "python":
        from weft.codegen.python import generate

        return generate(version.program_optimised)
    if version.c_source is None:
        raise WeftError("there is no C compiler: this version is Python (see inspect('python'))")
    if what == "c":
        return version.c_source
    from weft.runtime import toolchain

    chain = toolchain.find()
    assert chain is not None
    return chain.assembly(version.c_source, version.flags)
