"""Libraries for C, C++ and Fortran.  In: functions with hints; out: a folder that a C project can use:

    build/heat/  include/heat.h heat.hpp heat.f90   lib/libheat.so libheat.a   lib/pkgconfig/heat.pc
                 lib/cmake/heat/heatConfig.cmake    manifest.json

The library holds its own copy of the run time (threads, memory, products): it needs neither Python nor weft.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Sequence
from pathlib import Path

from weft import __version__
from weft.codegen import c
from weft.errors import CompileError, WeftError
from weft.folders import replaced, write_manifest
from weft.hosts import c_header, cpp_header, fortran, hosted_functions, packages, spelling
from weft.hosts.accessors import accessors
from weft.hosts.functions import Function
from weft.hosts.glue import Version, entry_function
from weft.hosts.handles import Handle
from weft.hosts.hosted_functions import HostedFunction
from weft.hosts.interface import interface, refuse_routines
from weft.hosts.processors import Processor
from weft.hosts.processors import macros as processor_macros
from weft.hosts.routines import with_table
from weft.limits import LIMITS, POSITION
from weft.records import dataclass
from weft.runtime.dispatch import native_source
from weft.runtime.toolchain import sanitizers

_SUFFIX = ".dylib" if sys.platform == "darwin" else ".so"


@dataclass(frozen=True)
class Plan:
    """What to build: the module's name, its functions, processors, the BLAS to link with ("": none); and functions of
    plain Python."""

    module: str
    functions: tuple[Function, ...]
    processors: tuple[Processor, ...]
    blas: str = ""
    plain: tuple[HostedFunction, ...] = ()


@dataclass(frozen=True)
class Parts:
    """The texts of a library, before any compiler has run: the glue, and for each processor its kernels by name; the
    run time of plain Python with its entry functions ("": none), and its kernels."""

    glue: str
    plain: str
    plain_kernels: tuple[tuple[str, str], ...]
    kernels: tuple[tuple[Processor, str, str, tuple[str, ...]], ...]
    entries: tuple[c_header.Entry, ...]


def build(plan: Plan, folder: Path) -> None:
    """Write the library's folder; nothing is written if anything cannot be built."""
    parts = texts(plan)
    objects = _objects(plan, parts)
    replaced(folder, lambda staged: _fill(staged, plan, parts, objects))


def texts(plan: Plan) -> Parts:
    """Everything up to the compiler; `Unsupported` if a function has no C interface."""
    prefix = spelling.prefix(plan.module)
    kernels: list[tuple[Processor, str, str, tuple[str, ...]]] = []
    entries: list[c_header.Entry] = []
    functions: list[str] = []
    tables: list[str] = []
    needs_routines = False
    for function in plan.functions:
        refuse_routines(function)
        versions: list[Version] = []
        for number, compiled in enumerate(function.versions):
            name = f"{prefix}_kernel_{spelling.name(function.name)}_{number}"
            source = None
            # The last version is the one behind the others, as Python is elsewhere.
            alone = compiled is function.versions[-1]
            for processor in plan.processors:
                program, options = compiled.program_lowered, function.options
                source = c.generate(program, options, processor.features, alone=alone)
                symbol = name + processor.suffix
                flags = (*processor.chain.lean(source.straight), *c.flags(options), f"-Dkernel={symbol}")
                text, made = with_table(_apart(source.text, symbol), f"{symbol}_routines")
                kernels.append((processor, symbol, text, flags))
                tables += [made] if made else []
                needs_routines |= bool(made)
            assert source is not None
            variants = [name + processor.suffix for processor in plan.processors]
            tables += [f"extern int64_t {variant}(const weft_rt *, int64_t *);" for variant in variants]
            tables.append(f"static const kernel_function {name}[] = {{{', '.join(variants)}}};")
            versions.append(Version(compiled, interface(function, compiled, source.layout), source, name))
        title = (inspect.getdoc(function.plain) or "").partition("\n")[0]
        line = function.source.tree.lineno
        entry = c_header.Entry(function.name, title, line, versions[0].interface)
        entries.append(entry)
        functions.append(entry_function(prefix, entry, function, versions))
    entries += [function.entry for function in plan.plain]
    entries.sort(key=lambda entry: entry.line)
    header = c_header.header(prefix, entries, __version__)
    macros = (*_macros(plan, prefix), f"#define HOST_ROUTINES {int(needs_routines)}")
    runtime = (*macros, native_source("host.c"))
    kinds = c_header.handle_types(entries)
    over = [kind.described() for kind in kinds]
    over += [each.defined(prefix, kind) for kind in kinds for each in accessors(kind)]
    glue = "\n".join(("#define _GNU_SOURCE 1", header, *runtime, *over, *tables, *functions))
    plain_kernels = [(spelling.name(each.name), hosted_functions.kernel(each, prefix)) for each in plan.plain]
    return Parts(glue, _plain(plan, prefix, header, kinds), tuple(plain_kernels), tuple(kernels), tuple(entries))


def _plain(plan: Plan, prefix: str, header: str, kinds: Sequence[Handle]) -> str:
    """The run time of plain Python and the functions over it; "" if there are none."""
    if not plan.plain:
        return ""
    entries = [hosted_functions.entry_function(function, prefix) for function in plan.plain]
    over = [kind.described() for kind in kinds]
    text = "\n".join((header, hosted_functions.runtime(), *over, *entries))
    return "\n".join(("#define _GNU_SOURCE 1", *_names(prefix), hosted_functions.apart(text, prefix)))


def _apart(text: str, symbol: str) -> str:
    """A kernel whose own functions for vectors have names that no other kernel of the library has."""
    return text.replace('__asm__("weft_', f'__asm__("{symbol}_').replace("_weft_", f"_{symbol}_")


def _macros(plan: Plan, prefix: str) -> list[str]:
    limits = ", ".join(repr(limit.default) for limit in LIMITS)
    products = [f"{{own_sgemm_{prefix}{p.suffix}, own_dgemm_{prefix}{p.suffix}}}" for p in plan.processors]
    declared = [f"extern void {name}(void);" for row in products for name in row.strip("{}").split(", ")]
    return [
        *_names(prefix),
        # Two libraries may stand in one program.
        *(f"#define {name} {prefix}_own_{name}" for name in ("weft_set_threads", "weft_scratch_kept")),
        f"#define HOST_LIMITS {limits}",
        f"#define HOST_GEMM_LIMIT {POSITION['gemm']}",
        *(f"#define {name} {value}" for name, value in processor_macros(plan.processors).items()),
        f"#define HOST_BLAS {int(bool(plan.blas))}",
        *declared,
        f"static void (*const own_products[][2])(void) = {{{', '.join(products)}}};",
    ]


def _names(prefix: str) -> list[str]:
    return ['#define HOST_API __attribute__((visibility("default")))', f"#define HOST(name) {prefix}_##name"]


def _objects(plan: Plan, parts: Parts) -> list[Path]:
    prefix, first = spelling.prefix(plan.module), plan.processors[0]
    flags: tuple[str, ...] = ("-O2", "-pthread", "-Wno-unused-function")
    try:
        found = [first.compiled(parts.glue, f"{prefix}_entry", flags, anywhere=True)]
        products = native_source("products.c")
        for processor in plan.processors:
            flags = (f"-DSUFFIX=_{prefix}{processor.suffix}", "-ffp-contract=fast")
            found.append(processor.compiled(products, f"{prefix}_products{processor.suffix}", flags))
        for processor, name, text, flags in parts.kernels:
            found.append(processor.compiled(text, name, flags))
        flags = ("-O2", "-w", "-pthread", "-ffp-contract=off")
        if parts.plain:
            found.append(first.compiled(parts.plain, f"{prefix}_plain", flags, anywhere=True))
        for name, text in parts.plain_kernels:
            found.append(first.compiled(text, f"{prefix}_plain_{name}", flags))
    except CompileError as problem:
        raise WeftError(f"the C compiler failed: {problem}") from problem
    return found


def _fill(staged: Path, plan: Plan, parts: Parts, objects: Sequence[Path]) -> None:
    prefix = spelling.prefix(plan.module)
    chain = plan.processors[0].chain
    include, lib = staged / "include", staged / "lib"
    include.mkdir()
    lib.mkdir()
    (include / f"{prefix}.h").write_text(c_header.header(prefix, parts.entries, __version__), encoding="utf-8")
    (include / f"{prefix}.hpp").write_text(cpp_header.header(prefix, parts.entries, __version__), encoding="utf-8")
    (include / f"{prefix}.f90").write_text(fortran.module(prefix, parts.entries, __version__), encoding="utf-8")
    libraries = [*([f"-l{plan.blas}"] if plan.blas else []), *chain.libraries, "-lpthread"]
    shared = lib / f"lib{prefix}{_SUFFIX}"
    named = f"-Wl,-install_name,@rpath/{shared.name}" if sys.platform == "darwin" else f"-Wl,-soname,{shared.name}"
    complete = () if sys.platform == "darwin" or sanitizers() else ("-Wl,-z,defs",)
    try:
        chain.link_shared(objects, shared, (named, *complete, *libraries))
    except CompileError as problem:
        if not plan.blas:
            raise
        remedy = "install it, or name the place of it in LIBRARY_PATH"
        text = f"there is no library {plan.blas} with the functions of CBLAS to link with: {remedy} ({problem.reason})"
        raise WeftError(text) from problem
    chain.archive(objects, lib / f"lib{prefix}.a")
    packages.write(staged, prefix, libraries, shared.name)
    functions = [entry.name for entry in parts.entries]
    write_manifest(staged, {"format": 1, "host": "c", "functions": functions, "weft": __version__})
