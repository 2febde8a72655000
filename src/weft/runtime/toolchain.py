"""Finding and running a C compiler. In comes C source; out comes the path of a shared object in the cache (or assembly
text). Candidates are $CC, gcc, clang, cc and the compiler inside the `ziglang` wheel; each is believed only after it
compiled, linked and ran a tiny program here. Any failure is a `CompileError` that says what to do.

WEFT_MARCH=x86-64-v2 has everything compiled for another processor than this one: an older one of its kind.

WEFT_SANITIZE=address,undefined (or thread) has everything compiled with checks of the compiler's own, for tests: the
process must have been started with their library, which is what `tools/sanitize.py` does.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import platform
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal

from weft.errors import CompileError
from weft.records import dataclass
from weft.runtime.cache import Cache, default_cache, digest
from weft.runtime.threads import get_num_threads

Kind = Literal["gcc", "clang", "zig"]

_SUFFIX = {"win32": ".dll", "darwin": ".dylib"}.get(sys.platform, ".so")

# The flags without which no shared object comes out, and those that make it fast or exact and are dropped one by one
# where a compiler does not know them. -ffp-contract=off is about exactness: no fused multiply-add behind NumPy's back.
_REQUIRED = ("-shared", "-fPIC", "-O3")
_WANTED = (
    "-fno-math-errno",
    "-fno-trapping-math",
    "-ffp-contract=off",
    "-fopenmp-simd",
    "-fno-sanitize=undefined",
    # Instructions that gather are slower than as many loads on most x86 processors, by far on those whose microcode was
    # mended. One of these is how a gcc is told.
    "-mtune-ctrl=^use_gather,^use_gather_2parts,^use_gather_4parts",
    "-mno-gather",
    # Without AVX gcc moves integers through MMX registers, and leaves them marked as used: the next number of type long
    # double, in NumPy's printing for one, is then NaN.
    "-mno-mmx",
)
_ESSENTIAL = ("-ffp-contract=off",)
# Parts of gcc that take time and change nothing: instructions are put in order by the processor itself, and where loops
# count and do not branch, neither jumps nor ranges of values lead to anything.
_REORDERING = ("x86_64", "AMD64")
_UNORDERED = ("-fno-schedule-insns2",)
_STRAIGHT = ("-fno-tree-vrp", "-fno-thread-jumps")
# With WEFT_SANITIZE: checks compile in tolerable time, name lines of the C, and go on after a finding.
_CHECKED = ("-O1", "-g1", "-fno-omit-frame-pointer")

# Like the dispatcher, it refers to a symbol that only the running Python brings.
_PROBE = """
extern int Py_IsInitialized(void);
long weft_probe(const double *a, long n) {
    double s = 0.0;
    for (long i = 0; i < n; i++) s += a[i];
    return Py_IsInitialized() ? (long)s : -1;
}
"""
_PROBE_VECTOR = """
#pragma omp declare simd notinbranch
extern double exp(double) __attribute__((const));
void weft_probe(const double *restrict a, double *restrict b, long n) {
    #pragma omp simd
    for (long i = 0; i < n; i++) b[i] = exp(a[i]);
}
"""
# The names by which the vector variants are called: their presence shows that vectorisation really happened.
_VECTOR_NAME = re.compile(rb"_ZGV([bcden])N\d+v_exp")


@dataclass(frozen=True)
class Toolchain:
    """One compiler that works here, with the flags it was proven to accept."""

    command: tuple[str, ...]
    kind: Kind
    version: str
    cpu: str
    flags: tuple[str, ...]
    libraries: tuple[str, ...]
    supports_libmvec: bool
    #: The letter of the widest vectors for which loops call libmvec on x86, if the functions may get other names.
    widest_vectors: str = ""

    def build_shared(
        self,
        source: str,
        *,
        flags: Sequence[str] = (),
        name: str = "kernel",
        cache: Cache | None = None,
        parts: Sequence[str] = (),
    ) -> Path:
        """The path of the shared object for this source: from the cache, else compiled now; `parts` are definitions of
        a macro with which the source is a part of itself, for several compilers side by side."""
        cache = default_cache() if cache is None else cache
        stem, key = self._stem_and_key(source, flags, name)
        known = cache.get(key)
        if known is not None:
            return known / (stem + _SUFFIX)
        # Of many processes that need the same, one compiles it.
        with cache.building(key), cache.workspace() as directory:
            known = cache.get(key)
            if known is not None:
                return known / (stem + _SUFFIX)
            output = directory / (stem + _SUFFIX)
            options = (*self.flags, *flags)
            if len(parts) > 1 and self.kind != "zig" and get_num_threads() > 1:
                _compile_parts(self, source, options, parts, output=output, name=name, cache=cache)
            else:
                _compile(self.command, source, options, self.libraries, output=output, name=name, cache=cache)
            return cache.put(key, {output.name: output}, {"name": name, "compiler": self.version}) / output.name

    def build_object(self, source: str, *, flags: Sequence[str] = (), name: str = "kernel") -> Path:
        """The path of the object file for this source: from the cache, else compiled now."""
        cache = default_cache()
        stem = re.sub(r"\W+", "_", name)[:60] or "kernel"
        key = digest("object file", self, source, tuple(flags), stem)
        known = cache.get(key)
        if known is not None:
            return known / f"{stem}.o"
        with cache.building(key), cache.workspace() as directory:
            output = directory / f"{stem}.o"
            options = (*(flag for flag in self.flags if flag != "-shared"), *flags, "-c")
            _compile(self.command, source, options, (), output=output, name=name, cache=cache)
            return cache.put(key, {output.name: output}, {"name": name, "compiler": self.version}) / output.name

    def link_shared(
        self, objects: Sequence[Path], output: Path, flags: Sequence[str] = (), script: str = ""
    ) -> None:
        """A shared object of object files, in its place; `script` tells the linker the order of sections."""
        cache = default_cache()
        with cache.workspace() as directory:
            local = []
            for number, path in enumerate(objects):  # the linker writes names of files into its output
                local.append(f"{number}.o")
                shutil.copyfile(path, directory / local[-1])
            if script:
                (directory / "order.ld").write_text(script, encoding="utf-8")
                flags = ("-Wl,-T,order.ld", *flags)
            checks = checking_flags(sanitizers())
            command = (*self.command, "-shared", "-fPIC", *checks, *_link_flags(), "-o", output.name, *local, *flags)
            log = _run(command, directory=directory, name=output.name, cache=cache)
            _require(directory / output.name, command, output.name, log)
            shutil.copyfile(directory / output.name, output)

    def archive(self, objects: Sequence[Path], output: Path) -> None:
        """A static library of object files, in its place, the same for the same content."""
        tool = shutil.which("ar") or shutil.which("llvm-ar")
        if self.kind != "zig" and tool is None:
            raise CompileError("there is no ar to make a static library with", "install binutils")
        cache = default_cache()
        with cache.workspace() as directory:
            local = []
            for number, path in enumerate(objects):
                local.append(f"{output.stem}_{number}.o")
                shutil.copyfile(path, directory / local[-1])
            archiver = (self.command[0], "ar") if self.kind == "zig" else (tool or "ar",)
            command = (*archiver, "rcsD", output.name, *local)
            log = _run(command, directory=directory, name=output.name, cache=cache)
            _require(directory / output.name, command, output.name, log)
            shutil.copyfile(directory / output.name, output)

    def _stem_and_key(self, source: str, flags: Sequence[str], name: str) -> tuple[str, str]:
        stem = re.sub(r"\W+", "_", name)[:60] or "kernel"
        return stem, digest("shared object", self, source, tuple(flags), stem)

    def built_shared(self, source: str, *, flags: Sequence[str] = (), name: str = "kernel") -> Path | None:
        """What `build_shared` would find in the cache; None if it would have to compile."""
        stem, key = self._stem_and_key(source, flags, name)
        known = default_cache().get(key)
        return None if known is None else known / (stem + _SUFFIX)

    def lean(self, straight: bool) -> tuple[str, ...]:
        """Flags for a kernel that spare time of the compiler; `straight`: its loops count and do not branch."""
        if self.kind != "gcc":
            return ()
        return (*(_UNORDERED if platform.machine() in _REORDERING else ()), *(_STRAIGHT if straight else ()))

    def assembly(self, source: str, flags: Sequence[str] = ()) -> str:
        """The assembly of the source with the flags of `build_shared`."""
        cache = default_cache()
        with cache.workspace() as directory:
            output = directory / "kernel.s"
            options = (*(flag for flag in self.flags if flag != "-shared"), *flags, "-S")
            _compile(self.command, source, options, (), output=output, name="assembly", cache=cache)
            return output.read_text(errors="replace")


@dataclass(frozen=True)
class Verdict:
    """What became of one candidate: a toolchain, or the reason why not."""

    origin: str
    command: tuple[str, ...]
    toolchain: Toolchain | None
    reason: str


# ------------------------------------------------------------------------------------------------------ running one


def _is_zig(command: Sequence[str]) -> bool:
    return Path(command[0]).stem == "zig"


def _environment(command: Sequence[str], cache: Cache, directory: Path) -> dict[str, str]:
    # Whatever a killed compiler leaves behind lies in our workspace and is swept with it.
    changes = {"LC_ALL": "C", "TMPDIR": str(directory)}
    if sanitizers():
        # The library that checks the kernels would check the compiler, too.
        changes["LD_PRELOAD"] = ""
    if _is_zig(command):
        # What every compilation shares is kept; what belongs to this one goes with the workspace.
        changes["ZIG_GLOBAL_CACHE_DIR"] = str(cache.auxiliary("zig"))
        changes["ZIG_LOCAL_CACHE_DIR"] = str(directory / "zig")
    return {**os.environ, **changes}


def _run(*commands: Sequence[str], directory: Path, name: str, cache: Cache) -> str:
    """Run the compiler, several times at once if there are several commands; what it said, or a `CompileError`."""
    # Loaded late: a call served from the cache never starts a process.
    from weft.runtime.process import run

    return run(*commands, directory=directory, name=name, environment=_environment(commands[0], cache, directory))


def _compile(
    command: Sequence[str],
    source: str,
    options: Sequence[str],
    libraries: Sequence[str],
    *,
    output: Path,
    name: str,
    cache: Cache,
) -> None:
    """Compile and link the source beside `output`, which must exist afterwards."""
    directory = output.parent
    options = (*options, "-o", output.name)
    (directory / "kernel.c").write_text(source, encoding="utf-8")
    command = (*command, *options, "kernel.c", *libraries)
    log = _run(command, directory=directory, name=name, cache=cache)
    _require(output, command, name, log)


def _compile_parts(
    chain: Toolchain,
    source: str,
    options: Sequence[str],
    parts: Sequence[str],
    *,
    output: Path,
    name: str,
    cache: Cache,
) -> None:
    """Compile the parts of a source at once, and link them."""
    directory = output.parent
    (directory / "kernel.c").write_text(source, encoding="utf-8")
    alone = tuple(option for option in options if option != "-shared")
    objects = tuple(f"part_{number}.o" for number in range(len(parts)))
    commands = [
        (*chain.command, *alone, f"-D{part}", "-c", "kernel.c", "-o", made) for part, made in zip(parts, objects)
    ]
    _run(*commands, directory=directory, name=name, cache=cache)
    command = (*chain.command, *options, "-o", output.name, *objects, *chain.libraries)
    log = _run(command, directory=directory, name=name, cache=cache)
    _require(output, command, name, log)


def _require(output: Path, command: Sequence[str], name: str, log: str) -> None:
    if not output.exists():
        raise CompileError(f"the C compiler wrote no output for {name}", "run `weft doctor`", command, log)


# --------------------------------------------------------------------------------------------------------- probing


def _wanted() -> tuple[str, ...]:
    """The flags that every compiler is asked to take."""
    return (f"-march={processor_wanted()}", *_WANTED)


def processor_wanted() -> str:
    """The processor to compile for, as compilers spell it: this one, unless WEFT_MARCH names another."""
    return os.environ.get("WEFT_MARCH", "").strip() or "native"


def sanitizers() -> str:
    """The checks that WEFT_SANITIZE asks for, as compilers spell them; "" for none."""
    asked = os.environ.get("WEFT_SANITIZE", "")
    return {"0": "", "1": "address,undefined"}.get(asked, asked)


def checking_flags(checks: str) -> tuple[str, ...]:
    """What a compiler is told in order to check; nothing for no checks."""
    if not checks:
        return ()
    recover = ",".join(name for name in checks.split(",") if name != "thread")
    return (*_CHECKED, f"-fsanitize={checks}", *([f"-fsanitize-recover={recover}"] if recover else []))


def _checks_are_loaded(checks: str) -> bool:
    """Whether the library of the checks is in the process: loading a checked kernel without it would end that."""
    names = {"address": "__asan_init", "thread": "__tsan_init"}
    wanted = [names[check] for check in checks.split(",") if check in names]
    return all(hasattr(ctypes.CDLL(None), name) for name in wanted)


@lru_cache(maxsize=1)
def cpu_identity() -> str:
    """What decides which instructions -march=native may use: model and feature flags of the processor."""
    x86 = ("vendor_id", "model name", "cpu family", "model", "stepping", "flags")
    others = ("Features", "CPU implementer", "CPU architecture", "CPU variant", "CPU part", "isa", "cpu")
    found: list[str] = [platform.machine()]
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
            # The first processor speaks for all: the whole file takes milliseconds on machines with many cores.
            for line in stream:
                label, colon, value = line.partition(":")
                if colon and label.strip() in (*x86, *others):
                    found.append(f"{label.strip()}={value.strip()}")
                if not line.strip() and len(found) > 1:
                    break
    except OSError:
        found += [platform.processor(), platform.system()]
    return "; ".join(found)


def _link_flags() -> tuple[str, ...]:
    # Symbols of Python and of weft's own table are found when the object is loaded; only macOS must be told so.
    return ("-Wl,-undefined,dynamic_lookup",) if sys.platform == "darwin" else ()


def _shared(
    command: tuple[str, ...], source: str, flags: Sequence[str], libraries: Sequence[str], cache: Cache
) -> bytes:
    """Compile, link, load and call a probe; the bytes of the shared object."""
    with cache.workspace() as directory:
        output = directory / f"probe{_SUFFIX}"
        _compile(command, source, flags, libraries, output=output, name="a probe", cache=cache)
        try:
            function = ctypes.CDLL(str(output)).weft_probe
        except (OSError, AttributeError) as problem:
            raise CompileError(f"what it compiles cannot be loaded here: {problem}", command=command) from None
        values = (ctypes.c_double * 9)(*range(9))
        if source is _PROBE:
            function.restype = ctypes.c_long
            if function(values, ctypes.c_long(9)) != 36:
                raise CompileError("what it compiles gives wrong results", command=command)
        else:
            results = (ctypes.c_double * 9)()
            function(values, results, ctypes.c_long(9))
            if not (results[0] == 1.0 and abs(results[1] - 2.718281828459045) < 1e-14):
                raise CompileError("its vector mathematics gives wrong results", command=command)
        return output.read_bytes()


def _accepted_flags(command: tuple[str, ...], cache: Cache) -> tuple[str, ...]:
    """All wanted flags if they work together, else those that work one by one."""
    required = (*_REQUIRED, *_link_flags())
    try:
        _shared(command, _PROBE, (*required, *_wanted()), ("-lm",), cache)
        return (*required, *_wanted())
    except CompileError:
        _shared(command, _PROBE, (*required, *_ESSENTIAL), ("-lm",), cache)
    accepted = (*required, *_ESSENTIAL)
    for flag in _wanted():
        if flag in accepted:
            continue
        with contextlib.suppress(CompileError):
            _shared(command, _PROBE, (*accepted, flag), ("-lm",), cache)
            accepted = (*accepted, flag)
    return accepted


def _vector_maths(
    command: tuple[str, ...], kind: Kind, flags: tuple[str, ...], cache: Cache
) -> tuple[tuple[str, ...], tuple[str, ...], str] | None:
    """The flags and libraries with which a loop over exp becomes calls of libmvec, and for which vectors at most (see
    `Toolchain`); None where it does not."""
    extra = () if kind == "gcc" else ("-fveclib=libmvec",)
    libraries = ("-lmvec", "-lm")
    try:
        content = _shared(command, _PROBE_VECTOR, (*flags, *extra), libraries, cache)
    except CompileError:
        return None
    letters = {name.decode() for name in _VECTOR_NAME.findall(content)}
    # AVX alone has two halves of b for c; clang knows the functions by their own names only.
    widest = max(letters - {"c", "n"}, default="b") if kind == "gcc" and "n" not in letters else ""
    return (extra, libraries, widest) if letters else None


def _kind_and_version(command: tuple[str, ...], cache: Cache) -> tuple[Kind, str]:
    with cache.workspace() as directory:
        text = _run((*command, "--version"), directory=directory, name="its version", cache=cache)
    first = text.strip().splitlines()[0] if text.strip() else "unknown"
    if _is_zig(command):
        return "zig", first
    return ("clang", first) if "clang" in text.lower() else ("gcc", first)


def _probe(command: tuple[str, ...], cache: Cache) -> Toolchain:
    """Try everything weft needs of a compiler; a `CompileError` if it cannot serve."""
    kind, version = _kind_and_version(command, cache)
    if not _checks_are_loaded(sanitizers()):
        raise CompileError("the library of WEFT_SANITIZE's checks is not loaded", "start with tools/sanitize.py")
    flags = (*_accepted_flags(command, cache), *checking_flags(sanitizers()))
    vector = _vector_maths(command, kind, flags, cache)
    extra, libraries, widest = vector if vector is not None else ((), ("-lm",), "")
    return Toolchain(command, kind, version, cpu_identity(), (*flags, *extra), libraries, vector is not None, widest)


def _stamp(command: tuple[str, ...]) -> tuple[str, int, int]:
    """What changes when the compiler behind a command is replaced: an upgrade must be probed anew."""
    state = os.stat(command[0])
    return os.path.realpath(command[0]), state.st_mtime_ns, state.st_size


def _remembered(command: tuple[str, ...], cache: Cache) -> Toolchain:
    """`_probe`, with a good verdict kept on disk. Bad ones are not: what is missing may be installed tomorrow."""
    probes = (_PROBE, _PROBE_VECTOR, _VECTOR_NAME.pattern.decode())
    known_by = (_REQUIRED, _wanted(), *probes, checking_flags(sanitizers()))
    key = digest("toolchain", command, _stamp(command), cpu_identity(), *known_by)
    entry = cache.entry(key)
    if entry is None:
        with cache.building(key):
            entry = cache.entry(key)
            if entry is None:
                toolchain = _probe(command, cache)
                cache.put(key, {}, asdict(toolchain))
                return toolchain
    # JSON knows no tuples.
    known: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in entry.metadata.items()
    }
    return Toolchain(**known)


# ------------------------------------------------------------------------------------------------------- discovery


def _zig() -> str | None:
    """The compiler inside the ziglang wheel, called directly: `python -m ziglang` would start a Python each time."""
    specification = importlib.util.find_spec("ziglang")
    if specification is None or specification.origin is None:
        return None
    return os.path.join(os.path.dirname(specification.origin), "zig.exe" if sys.platform == "win32" else "zig")


def _candidates() -> list[tuple[str, tuple[str, ...]]]:
    """Where a compiler may come from and how it is called, in order of preference."""
    wanted: list[tuple[str, tuple[str, ...]]] = []
    try:
        chosen = tuple(shlex.split(os.environ.get("CC", "")))
    except ValueError:
        chosen = (os.environ["CC"],)
    if chosen:
        wanted.append(("$CC", chosen))
    wanted += [(name, (name,)) for name in ("gcc", "clang", "cc")]
    zig = _zig()
    if zig is not None:
        wanted.append(("ziglang wheel", (zig, "cc")))
    return wanted


def _judge(origin: str, command: tuple[str, ...], cache: Cache) -> Verdict:
    program = shutil.which(command[0])
    if program is None:
        return Verdict(origin, command, None, "not found")
    command = (os.path.abspath(program), *command[1:])
    try:
        toolchain = _remembered(command, cache)
    except (CompileError, OSError) as problem:
        return Verdict(origin, command, None, str(problem).splitlines()[0])
    return Verdict(origin, command, toolchain, toolchain.version)


def examine() -> tuple[Verdict, ...]:
    """Every candidate with its verdict: for `weft doctor`."""
    return tuple(_judge(origin, command, default_cache()) for origin, command in _candidates())


@cache
def _find(compiler: str, search_path: str, checks: str, processor: str, cache: Cache) -> Toolchain | None:
    for origin, command in _candidates():
        toolchain = _judge(origin, command, cache).toolchain
        if toolchain is not None:
            return toolchain
    return None


def find() -> Toolchain | None:
    """The first compiler that works here, None without any. Asked once for each $CC, $PATH and cache directory."""
    path = os.environ.get("PATH", "")
    return _find(os.environ.get("CC", ""), path, sanitizers(), processor_wanted(), default_cache())
