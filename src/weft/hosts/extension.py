"""Modules for Python that stand alone.  In: a module's source and its functions with hints; out: one file
<module>.abi3.so for CPython 3.10 and newer that imports like the module, with weft or without.

    C for each function and processor  +  native/extension.c  +  the source, and a text that describes the versions
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from weft import parallel
from weft.codegen import c
from weft.errors import CompileError, WeftError
from weft.frontend.source import load
from weft.hosts import embedded, plain_parts, spelling
from weft.hosts.expressions import MAKERS, NotPortable, expression
from weft.hosts.functions import Function
from weft.hosts.parted_functions import Parted
from weft.hosts.plain_functions import PlainFunction
from weft.hosts.processors import Processor, macros
from weft.hosts.standin_texts import standins
from weft.limits import LIMITS
from weft.pipeline import described
from weft.records import dataclass
from weft.runtime.blas import FUNCTIONS
from weft.runtime.descriptor import Signature
from weft.runtime.dispatch import native_source
from weft.runtime.toolchain import Toolchain, sanitizers
from weft.targets import Coded

SUFFIX = ".abi3.so"
MARK = "weft-extension-checksum:"
_DIGITS = 16
#: Where a kernel has the addresses of the functions of libraries that it calls, and their names.
_TABLE = re.compile(r'^const char \w+_names\[\] = "(.*)";\nvoid \*(\w+)\[\d+\];', re.M)
#: A class that is compiled in, as a signature has it.
_CLASS = re.compile(r"=<class '(?:\w+\.)*(\w+)'>")
#: What embedded.py executes when a function needs it: to make containers, to find routines.
_BUNDLE = (*MAKERS, "weft.runtime.foreign", "weft.runtime.routines")
_BLAS = re.compile(rf"rt->(?:{'|'.join(FUNCTIONS)})\b")


@dataclass(frozen=True)
class Plan:
    """What to build: the module's name and source, its functions and the processors to build them for."""

    module: str
    source: str
    namespace: dict[str, Any]
    functions: tuple[Function, ...]
    processors: tuple[Processor, ...]
    plain: tuple[PlainFunction, ...] = ()
    parted: tuple[Parted, ...] = ()


@dataclass
class Parts:
    """The texts of a module, before any compiler has run."""

    kernels: list[tuple[Processor, str, str, tuple[str, ...]]]
    count: int
    versions: str
    tables: list[tuple[str, ...]]  # what each table of addresses is for
    built: dict[str, str]  # functions, with their signatures
    left: dict[str, str]  # functions that stay Python, with the reason
    plain: list[tuple[str, str, tuple[str, ...]]]  # kernels of plain Python


def texts(plan: Plan) -> Parts:
    """Everything up to the compiler."""
    parts = Parts([], 0, "", [], {}, {}, [])
    lines: list[str] = []
    listed: list[str] = []
    needs_blas = False
    for function in plan.functions:
        made: list[str] = []
        tables: list[int] = []
        for version in function.versions:
            try:
                sources = [c.generate(version.program_lowered, function.options, p.features) for p in plan.processors]
                known = described(version, Coded(version.program_lowered, sources[0].layout, sources[0].exceptions, 1))
                text = expression(known, parts.count, plan.namespace, function.plain)
                found = [_names(each[1]) for each in _TABLE.finditer(sources[0].text)]
            except NotPortable as problem:
                parts.left[function.qualified] = str(problem)
                break
            first = len(parts.tables)
            tables += range(first, first + len(found))
            parts.tables += found
            for processor, source in zip(plan.processors, sources):
                symbol = f"kernel_{parts.count}{processor.suffix}"
                flags = (*processor.chain.lean(source.straight), *c.flags(function.options), f"-Dkernel={symbol}")
                renamed = source.text.replace('__asm__("weft_', f'__asm__("{symbol}_').replace("_weft_", f"_{symbol}_")
                parts.kernels.append((processor, symbol, _with_tables(renamed, first), flags))
                needs_blas |= bool(_BLAS.search(source.text))
            made.append(f"_version_{parts.count}")
            pythons = {(read.name, read.value) for read in version.built.reads if read.kind == "python"}
            start = f"def {made[-1]}(ns, addresses, raiser, module, fact, made):"
            lines.append(f"{start}\n{_since(pythons)}    return {text}")
            parts.count += 1
        if not made:
            continue
        parts.left.pop(function.qualified, None)
        parts.built[function.qualified] = _CLASS.sub(r"type[\1]", function.versions[0].signature)
        named = {number: parts.tables[number] for number in tables}
        listed.append(f"({function.qualified!r}, {_shape(function.plain)}, [{', '.join(made)}], {named!r})")
    plainly = list(_plain(plan, parts, lines))
    regions = [_regions(made) for made in plan.parted]
    head = [f"FILE = {plan.module + '.py'!r}", f"NEEDS_BLAS = {needs_blas}"]
    tail = [f"FUNCTIONS = [{', '.join(listed)}]", f"PLAIN = [{', '.join(plainly)}]"]
    tail += [f"PARTED = [{', '.join(regions)}]", ""]
    parts.versions = "\n".join((*head, *lines, *tail))
    return parts


def _since(pythons: Iterable[tuple[str, bool]]) -> str:
    """Statements that raise Unfit where Python is not as new, or older, as it was."""
    return "".join(f"    since({known!r}, {expected})\n" for known, expected in sorted(pythons))


def _shape(plain: Any) -> str:
    signed = Signature.of(plain)
    return repr((signed.names, signed.positional_only, signed.keyword_only))


def _plain(plan: Plan, parts: Parts, lines: list[str]) -> Iterator[str]:
    """The functions of plain Python, one by one, and their kernels."""
    for function in plan.plain:
        made: list[str] = []
        first = len(parts.plain)
        try:
            for version in function.versions:
                number = first + len(made)
                text = plain_parts.version_text(version, number, plan.namespace, function.plain)
                made.append(f"_plain_{number}")
                lines.append(f"def {made[-1]}(ns, module, fact):\n{_since(version.pythons)}    return {text}")
        except NotPortable as problem:
            parts.left[function.place] = str(problem)
            continue
        parts.plain += [plain_parts.kernel(version, first + at) for at, version in enumerate(function.versions)]
        parts.left.pop(function.place, None)
        parts.built[function.place] = f"({', '.join(function.versions[0].types.values())})"
        yield f"({function.place!r}, {_shape(function.plain)}, [{', '.join(made)}], {function.timed})"


def _regions(made: Parted) -> str:
    """A function that runs in regions: (place, signature, its tree, regions by name: place, signature, tree)."""
    regions = {name: (place, Signature.of(plain), load(plain).tree) for name, (place, plain) in made.regions.items()}
    texts = [
        f"{name!r}: ({place!r}, {(signed.names, 0, 0)!r}, {ast.dump(tree, include_attributes=True)!r})"
        for name, (place, signed, tree) in regions.items()
    ]
    text = ast.dump(made.tree, include_attributes=True)
    return f"({made.place!r}, {_shape(made.plain)}, {text!r}, {{{', '.join(texts)}}})"


def _names(text: str) -> tuple[str, ...]:
    """The functions that a kernel calls by a table; NotPortable if one is not in every process."""
    names = tuple(text.split(";"))
    for name in names:
        if name.startswith(("offered|", "weft.")):
            raise NotPortable(f"it calls {name.partition('|')[2] or name}, which was registered for this process only")
    return names


def _with_tables(text: str, number: int) -> str:
    """A kernel whose tables are those of the module, from a number on."""
    for found in _TABLE.findall(text):
        text = _TABLE.sub("", text, count=1)
        text = f"#define {found[1]} extension_table_{number}\nextern void *{found[1]}[];\n{text}"
        number += 1
    return text


def build(plan: Plan, output: Path) -> Parts:
    """Write the module in its place, in one step; a file there that weft has not built stays, and is a WeftError."""
    require_own(output)
    parts = texts(plan)
    if not parts.built:
        return parts
    staged = output.with_name(f".{output.name}-{os.getpid()}")
    chain = plan.processors[0].chain
    try:
        objects = list(_objects(plan, parts))
        output.parent.mkdir(parents=True, exist_ok=True)
        _link(chain, objects, staged)
        staged.write_bytes(sealed(staged.read_bytes()))
        staged.chmod(0o755)
        require_own(output)
        os.replace(staged, output)
    except CompileError as problem:
        raise WeftError(f"the C compiler failed: {problem}") from problem
    except OSError as problem:
        raise WeftError(f"{output} cannot be written: {problem.strerror or problem}") from problem
    finally:
        staged.unlink(missing_ok=True)
    return parts


def _link(chain: Toolchain, objects: Sequence[Path], output: Path) -> None:
    """In the order of first.ld, if the linker takes it: then a file that was cut off is found before it is used."""
    libraries = (*chain.libraries, "-lpthread")
    if sys.platform.startswith("linux") and not sanitizers():
        with contextlib.suppress(CompileError):
            chain.link_shared(objects, output, ("-Wl,-z,norelro", *libraries), script=native_source("first.ld"))
            return
    chain.link_shared(objects, output, libraries)


def require_own(output: Path) -> None:
    """WeftError if there is something in that place that weft has not built."""
    if not os.path.lexists(output):
        return
    if output.is_symlink() or not output.is_file() or MARK.encode() not in output.read_bytes():
        raise WeftError(f"{output} stays as it is: `weft build` has not written it. Remove it, or choose -o")


def _objects(plan: Plan, parts: Parts) -> Iterator[Path]:
    first = plan.processors[0]
    lean = ("-O2", "-pthread", "-Wno-unused-function")
    yield first.compiled(_entry(plan, parts), f"{plan.module}_module", lean, anywhere=True)
    for processor, name, text, flags in parts.kernels:
        yield processor.compiled(text, name, flags)
    # On every processor: nothing there is made of vectors.
    for text, name, flags in (plain_parts.runtime(), *parts.plain) if parts.plain else ():
        yield first.compiled(text, name, flags)


def _entry(plan: Plan, parts: Parts) -> str:
    """The C of the module itself."""
    start = f"{inspect.getsource(embedded)}\nPARALLEL = {inspect.getsource(parallel)!r}\nBLAS = {FUNCTIONS!r}\n"
    if parts.tables or parts.plain or "made('" in parts.versions:
        start += f"BUNDLE = {_bundle(bool(parts.plain))!r}\n"
    tables = [f"extension_table_{i}" for i in range(len(parts.tables))]
    limits = ", ".join(repr(limit.default) for limit in LIMITS)
    symbols = [symbol for processor in plan.processors for symbol in _of(parts, processor)]
    defined = {
        "EXTENSION_NAME": spelling.quoted(plan.module),
        "EXTENSION_INIT": f"PyInit_{plan.module}",
        "EXTENSION_LIMITS": limits,
        **macros(plan.processors),
        "EXTENSION_MARK": spelling.quoted(MARK),
    }
    return "\n".join(
        (
            "#define _GNU_SOURCE 1",
            *(f"#define {name} {value}" for name, value in defined.items()),
            native_source("extension.c"),
            *(f"extern int64_t {symbol}(const weft_rt *, int64_t *);" for symbol in symbols),
            f"const kernel_function extension_kernels[] = {{{', '.join(symbols)}}};",
            f"const int extension_kernel_count = {parts.count};",
            *(f"void *extension_table_{i}[{2 * len(names)}];" for i, names in enumerate(parts.tables)),
            f"void **const extension_tables[] = {{{', '.join([*tables, 'NULL'])}}};",
            plain_parts.addresses(len(parts.plain)),
            _string("extension_start", start),
            _string("extension_source", plan.source),
            _string("extension_versions", parts.versions),
            "",
        )
    )


def _bundle(plain: bool) -> dict[str, str]:
    """The texts by the names of their modules."""
    home = Path(__file__).parent.parent
    names = (*_BUNDLE, *(plain_parts.BUNDLE if plain else ()))
    texts = {name: home.joinpath(*name.split(".")[1:]).with_suffix(".py") for name in names}
    return {**{name: place.read_text("utf-8") for name, place in texts.items()}, **standins(plain)}


def _of(parts: Parts, processor: Processor) -> list[str]:
    return [symbol for which, symbol, _, _ in parts.kernels if which is processor]


def _string(name: str, text: str) -> str:
    lines = [spelling.quoted(line) for line in text.splitlines(keepends=True)] or ['""']
    return f"const char {name}[] =\n" + "\n".join(lines) + ";"


# --- the checksum that a file holds of itself -------------------------------------------------------------------------


def sealed(content: bytes) -> bytes:
    """The file with its checksum behind the mark."""
    place = content.index(MARK.encode()) + len(MARK)
    assert content[place : place + _DIGITS] == b"0" * _DIGITS
    before, after = content[:place], content[place + _DIGITS :]
    start = 14695981039346656037 ^ len(content)
    digits = f"{_summed(_summed(start, before), after):0{_DIGITS}x}"
    return before + digits.encode() + after


def _summed(total: int, content: bytes) -> int:
    """As `summed` of native/extension.c has it."""
    padded = content + b"\0" * (-len(content) % 8)
    for (word,) in _words(padded):
        total = ((total ^ word) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
        total ^= total >> 29
    return total


def _words(content: bytes) -> Iterator[tuple[int]]:
    import struct

    return struct.iter_unpack("<Q", content)
