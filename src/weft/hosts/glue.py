"""The entry functions of a library in C.  In: interfaces, guards and exceptions of its functions; out: C text: for each
function one that turns structs into the words of its kernel, calls it, and turns words into results or an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from weft.codegen.binding import source_files
from weft.codegen.c import CSource
from weft.codegen.c_frame import EntryGuard
from weft.compiled import Compiled
from weft.frontend.sizes import SizeSum
from weft.hosts import spelling
from weft.hosts.arguments import (
    ArrayArgument,
    ConstantArray,
    FunctionArgument,
    Given,
    HandleArgument,
    Interface,
    Result,
    ScalarArgument,
)
from weft.hosts.c_header import Entry, parameters
from weft.hosts.functions import Function
from weft.hosts.handle_glue import by_way, handle_in, handles_out
from weft.ir.program import HAND_BACK, SizeOf
from weft.ir.types import DType, ScalarType, from_numpy, type_of_value
from weft.records import dataclass
from weft.report.texts import guard_texts, symbol_text

_NOT_COVERED = "here the compiled code needs Python to go on"


@dataclass(frozen=True)
class Version:
    """One version of a function: what C sees of it, and its C for one processor (texts are the same for all)."""

    compiled: Compiled
    interface: Interface
    source: CSource
    kernels: str  # the table of its kernels, one for each processor


def entry_function(module: str, entry: Entry, function: Function, versions: Sequence[Version]) -> str:
    """Everything of one function."""
    parts = [text for number, version in enumerate(versions) for text in _tables(entry, function, version, number)]
    body = [f"HOST_API int {module}_{spelling.name(entry.name)}({', '.join(parameters(entry))})", "{"]
    body += [f"    if ({r.name} == NULL)\n        return {_null(entry, r)};" for r in entry.interface.results]
    body += ["    if (error != NULL)\n        error->code = WEFT_OK;"]
    body += [f"    int64_t w[{max(v.interface.words for v in versions)}];", "    int status;"]
    for number, version in enumerate(versions):
        again = number + 1 < len(versions)
        body += _attempt(entry, function, version, number, again)
    return "\n".join((*parts, *body, "}", ""))


def _null(entry: Entry, result: Result) -> str:
    text = spelling.quoted(f"{result.name} is a null pointer")
    return f'refuse(error, WEFT_NULL, {spelling.quoted(entry.name)}, "", 0, "", "%s", {text})'


# --- tables ---------------------------------------------------------------------------------------------------------


def _tables(entry: Entry, function: Function, version: Version, number: int) -> Iterable[str]:
    own = f"{spelling.name(entry.name)}_{number}"
    shown = ", ".join(spelling.quoted(_short(file)) for file in _files(version, function))
    yield f"static const char *const files_{own}[] = {{{shown}}};"
    rows = [_guard(guard, version, function) for guard in version.source.guards]
    yield f"static const entry_guard guards_{own}[] = {{{', '.join(rows) or '{0}'}}};"
    raised = [_exception(*pair) for pair in version.source.exceptions]
    yield f"static const entry_exception exceptions_{own}[] = {{{', '.join(raised) or '{0}'}}};"
    slots = ", ".join(map(str, (*version.interface.slots, -1)))
    yield f"static const int slots_{own}[] = {{{slots}}};"
    title = spelling.quoted(entry.name)
    yield f"static const entry entry_{own} = {{{title}, files_{own}, guards_{own}, exceptions_{own}, slots_{own}}};"
    for argument in version.interface.arguments:
        if isinstance(argument, ArrayArgument):
            name, of = spelling.name(argument.name), argument
            row = f"{{{spelling.quoted(of.name)}, {of.rank}, {_alignment(of.dtype)}, {int(of.written)}}}"
            yield f"static const entry_array array_{own}_{name} = {row};"
    for constant in version.interface.constants:
        if isinstance(constant, ConstantArray):
            yield _static_array(f"constant_{own}_{constant.word}", constant.value)


def _alignment(dtype: DType) -> int:
    return dtype.real.size if dtype.is_complex else dtype.size


def _files(version: Version, function: Function) -> list[str]:
    """In the order of the numbers that the kernel knows them by."""
    return list(source_files(version.compiled.program_lowered)) or [function.source.file]


def _short(file: str) -> str:
    """The name of a file without the folders of the machine it was built on."""
    return file.replace("\\", "/").rsplit("/", 1)[-1]


def _guard(guard: EntryGuard, version: Version, function: Function) -> str:
    """{code, line, file, exception, message} of an entry guard."""
    program = version.compiled.program_lowered
    code, span, exception = "GUARD", function.span, ""
    if guard.kind == "range":
        symbol = next(s for s in program.symbols if s.name == guard.names[0])
        code = "EXTENT" if isinstance(symbol.source, SizeOf) else "GUARD"
        text = f"{symbol_text(symbol)} is out of range: sizes are below 2**40"
    elif guard.kind == "extent":
        assert guard.size is not None
        code, text = "EXTENT", f"{guard.names[0]}.shape[{guard.axis}] is not what the function was built for"
    elif guard.kind == "layout":
        code, text = "LAYOUT", f"{guard.names[0]} is not in C order (only built with --no-general)"
    elif guard.kind == "overlap":
        code, text = "LAYOUT", f"{guard.names[0]} and {guard.names[1]} overlap in memory, and one is written"
    else:
        assert guard.check is not None
        told = guard_texts(program, [guard.check.condition])
        text = f"needs {told[0]}" if told else "a condition at entry does not hold"
        exception = "" if guard.check.exception in (HAND_BACK, "RuntimeError") else guard.check.exception
        span = guard.check.span if guard.check.span.line > 0 else span
    file = spelling.quoted(_short(span.file))
    return f"{{WEFT_{code}, {span.line}, {file}, {spelling.quoted(exception)}, {spelling.quoted(text)}}}"


def _exception(name: str, message: str) -> str:
    if name == HAND_BACK:
        name, message = "NotImplementedError", _NOT_COVERED
    return f"{{{spelling.quoted(name)}, {spelling.quoted(message)}}}"


def _static_array(name: str, value: Any) -> str:
    data = np.frombuffer(value.tobytes() or b"\0", np.uint8)
    numbers = ",".join(map(str, data.tolist()))
    return f"static const unsigned char {name}[] __attribute__((aligned(64))) = {{{numbers}}};"


# --- one call -------------------------------------------------------------------------------------------------------


def _attempt(entry: Entry, function: Function, version: Version, number: int, again: bool) -> list[str]:
    """Words in, kernel, words out; `again`: a version for other arguments follows."""
    own = f"{spelling.name(entry.name)}_{number}"
    uneven = [a for a in version.interface.arguments if isinstance(a, HandleArgument) and a.even and again]
    body = ["    memset(w, 0, 8 * sizeof *w);"]
    body += [f"    w[{slot}] = 0;" for slot in version.interface.slots]
    for argument in version.interface.arguments:
        name = spelling.name(argument.name)
        if isinstance(argument, FunctionArgument):
            text = spelling.quoted(f"{argument.name} is a null pointer")
            where = f'{spelling.quoted(entry.name)}, files_{own}[0], 0, "", "%s", {text}'
            body.append(f"    if ({name} == NULL)\n        return refuse(error, WEFT_NULL, {where});")
            body.append(f"    w[{argument.word}] = (int64_t)(uintptr_t){name};")
        elif isinstance(argument, ScalarArgument):
            body += [f"    {line}" for line in _scalar_in(argument.type, name, argument.word)]
        elif isinstance(argument, HandleArgument):
            where = f"{spelling.quoted(entry.name)}, files_{own}[0]"
            body += [f"    {line}" for line in handle_in(argument, version.interface.arguments, where, again)]
        else:
            taken = f"take_array(&entry_{own}, &array_{own}_{name}, {name}, w + {argument.word}, error)"
            body.append(f"    if ((status = {taken}) != 0)\n        return status;")
    if number == 0:
        body += _constraints(entry, function, version, own)
    for constant in version.interface.constants:
        body += [f"    {line}" for line in _constant_in(constant, own)]
    run = f"(int)run_kernel({version.kernels}, w)"
    if uneven:
        even = " && ".join(f"has_even_rows({spelling.name(each.name)})" for each in uneven)
        run = f"{even} ? {run} : STATUS_GUARD"
    body.append(f"    status = {run};")
    fails = [f"return failed_call(&entry_{own}, status, w, error);"]
    if again:
        body.append(f"    if (status != 0 && status != STATUS_GUARD)\n        {fails[0]}")
        body.append("    if (status == 0) {")
    else:
        body.append(f"    if (status != 0)\n        {fails[0]}")
    done = [*_results(version, own), "return WEFT_OK;"]
    body += [f"    {'    ' if again else ''}{line}" for line in done]
    return [*body, "    }", f"    release_arrays(&entry_{own}, w);"] if again else body


def _scalar_in(of: ScalarType, name: str, word: int) -> list[str]:
    if of.dtype.is_complex:
        return [f"w[{word}] = bits_of((double){name}.real);", f"w[{word + 1}] = bits_of((double){name}.imag);"]
    if of.dtype.is_float:
        return [f"w[{word}] = bits_of((double){name});"]
    return [f"w[{word}] = (int64_t){name};"]


def _constant_in(constant: Any, own: str) -> list[str]:
    word = constant.word
    if not isinstance(constant, ConstantArray):
        of = type_of_value(constant.value)
        assert of is not None
        if of.dtype.is_inexact:
            number = complex(constant.value)
            parts = [number.real, number.imag] if of.dtype.is_complex else [number.real]
            return [f"w[{word + at}] = bits_of({spelling.double(part)});" for at, part in enumerate(parts)]
        return [f"w[{word}] = {spelling.integer(int(constant.value))};"]
    value, rank = constant.value, constant.value.ndim
    assert from_numpy(value.dtype) is not None
    out = [f"w[{word}] = (int64_t)(uintptr_t)constant_{own}_{word};"]
    for axis in range(rank):
        out.append(f"w[{word + 1 + axis}] = {value.shape[axis]};")
        out.append(f"w[{word + 1 + rank + axis}] = {value.strides[axis] // value.itemsize};")
    return out


def _constraints(entry: Entry, function: Function, version: Version, own: str) -> list[str]:
    """Named sizes that must agree."""
    arrays = {a.name: a for a in version.interface.arguments if isinstance(a, ArrayArgument)}
    out = []
    for found in function.constraints.definitions:
        place = arrays[found.parameter].word + 1 + found.axis
        less = f" - {found.constant}" if found.constant else ""
        out.append(f"    const int64_t size_{found.name} = w[{place}]{less};\n    (void)size_{found.name};")
    for test in function.constraints.tests:
        place = arrays[test.parameter].word + 1 + test.axis
        wanted = _sum(test.size)
        format_ = f"{test.parameter} has extent %lld along axis {test.axis}, its hint says {test.size}"
        if test.size.terms:
            format_ += ", which is %lld"
        values = f"(long long)w[{place}]" + (f", (long long)({wanted})" if test.size.terms else "")
        where = f'{spelling.quoted(entry.name)}, files_{own}[0], {entry.line}, "ValueError", {spelling.quoted(format_)}'
        out.append(f"    if (w[{place}] != {wanted})\n        return refuse(error, WEFT_EXTENT, {where}, {values});")
    return out


def _sum(size: SizeSum) -> str:
    parts = [str(size.constant), *(f"{factor} * size_{name}" for name, factor in size.terms)]
    return " + ".join(parts)


def _results(version: Version, own: str) -> list[str]:
    """Out of the words, by the way on which the function returned."""
    handles = handles_out(version.interface, own)
    results = [result for result in version.interface.results if result.kind is None]
    if handles:
        plain = by_way([[_give(r, given) for r, given in zip(results, way)] for way in _ways(results)])
        return [*handles, *plain, f"release_arrays(&entry_{own}, w);"]
    if not results:
        return []
    count = len(results[0].given)
    out = by_way([[_give(result, given) for result, given in zip(results, way)] for way in _ways(results)])
    given = {way.slot for result in results for way in result.given if way.slot is not None}
    spare = len(version.interface.slots) > len(given) or (count > 1 and bool(given))
    return [*out, f"release_arrays(&entry_{own}, w);"] if spare else out


def _ways(results: Sequence[Result]) -> list[tuple[Given, ...]]:
    return list(zip(*(result.given for result in results)))


def _give(result: Result, given: Given) -> str:
    of, name = result.type, result.name
    if result.rank is None:
        return _number_out(of, name, given)
    if given.argument is not None:
        kind = f"*{spelling.name(given.argument.name)}"
        return f"*{name} = {kind};\n    {name}->memory = NULL;"
    if given.word is not None:
        slot = -1 if given.slot is None else given.slot
        return f"give_view(w, {given.word}, {slot}, {name}, {result.rank});"
    return f"give_array(w, {given.slot}, {name}, {result.rank});"


def _number_out(of: ScalarType, name: str, given: Given) -> str:
    kind, word = spelling.C_TYPES[of.dtype], given.word
    if word is None:
        value = given.constant
        if of.dtype.is_complex:
            return (
                f"*{name} = ({kind}){{{spelling.double(complex(value).real)}, {spelling.double(complex(value).imag)}}};"
            )
        return f"*{name} = {spelling.double(value) if of.dtype.is_float else spelling.integer(int(value))};"
    if of.dtype.is_complex:
        part = "float" if of.dtype is DType.C64 else "double"
        return f"*{name} = ({kind}){{({part})double_of(w[{word}]), ({part})double_of(w[{word + 1}])}};"
    if of.dtype.is_float:
        return f"*{name} = ({kind})double_of(w[{word}]);"
    return f"*{name} = w[{word}] != 0;" if of.dtype is DType.BOOL else f"*{name} = ({kind})w[{word}];"
