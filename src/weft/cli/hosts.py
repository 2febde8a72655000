"""`weft build --host`: a module's functions for another host.  In: a file and options; out: a folder with a library for
C, C++ and Fortran, or an extension module for Python that needs no weft.
"""

from __future__ import annotations

import contextlib
import sys
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weft.cli import DONE, FAILED, WRONG_REQUEST, complain
from weft.cli.load import functions_of, import_file

if TYPE_CHECKING:
    import argparse

HOSTS = ("python", "c", "cpp", "weft")


def add_options(build: argparse.ArgumentParser) -> None:
    """What `weft build` asks about hosts."""
    text = "what will call the functions: Python without weft (the default), C or C++, or Python with this weft"
    build.add_argument("--host", choices=HOSTS, default="python", help=text)
    build.add_argument("--march", metavar="CPU", help="compile for one processor, not for x86-64-v2, -v3 and -v4")
    text = "no second version for arrays that are not in C order, and whatever else the first one refuses"
    build.add_argument("--no-general", dest="general", action="store_false", help=text)
    build.add_argument("--blas", metavar="LIBRARY", default="", help="C hosts: link with this BLAS, such as openblas")
    build.add_argument("--function", action="append", default=[], metavar="NAME", help="build this function only")


def build_for_host(parsed: argparse.Namespace) -> int:
    """Compile the functions of a file for the host that was asked for."""
    from weft.folders import require_own
    from weft.hosts import extension
    from weft.hosts.processors import processors

    path: Path = parsed.file
    if parsed.host == "python":
        place = parsed.output / f"{path.stem}{extension.SUFFIX}"
        extension.require_own(place)
    else:
        place = parsed.output / path.stem
        require_own(place)
    chosen = parsed.chosen = processors(parsed.march)
    module = import_file(path)
    # Of a function for a cluster or a device: what it is on one machine.
    known = {name: getattr(function, "local", function) for name, function in functions_of(module).items()}
    for name in parsed.function:
        if name not in known:
            return complain(f"{path} has no function {name}", WRONG_REQUEST)
    if parsed.function:
        known = {name: known[name] for name in parsed.function}
    if parsed.host == "python":
        return _build_extension(parsed, module, known, chosen, place)
    return _build_library(parsed, known, chosen, place)


def _build_library(parsed: argparse.Namespace, known: Mapping[str, Any], chosen: Any, folder: Path) -> int:
    """For C hosts: a function with hints that cannot be built is an error."""
    from weft.errors import ParallelError, Unsupported
    from weft.hosts import hosted_functions, library
    from weft.hosts.functions import Function
    from weft.hosts.hosted_functions import HostedFunction

    built: list[Function | HostedFunction] = []
    for name, function in known.items():
        if name.startswith("_") and name not in parsed.function:
            continue
        try:
            found = _for_library(parsed, name, function, known)
        except (Unsupported, ParallelError) as problem:
            return complain(problem.told(f"{name} cannot be built"), FAILED)
        if isinstance(found, str):
            print(f"{name}: not built ({found})", file=sys.stderr)
        else:
            built.append(found)
    if not built:
        return complain(f"{parsed.file} has no function with complete hints to build: annotate its parameters", FAILED)
    over_arrays = tuple(each for each in built if isinstance(each, Function))
    plain = tuple(each for each in built if isinstance(each, hosted_functions.HostedFunction))
    try:
        library.build(library.Plan(parsed.file.stem, over_arrays, chosen, parsed.blas, plain), folder)
    except Unsupported as problem:
        return complain(problem.told("cannot be built for a C host"), FAILED)
    for made in built:
        print(f"{made.name}{made.versions[0].signature if isinstance(made, Function) else made.signature}")
    print(f"wrote {folder}")
    return DONE


def _for_library(parsed: argparse.Namespace, name: str, function: Any, known: Mapping[str, Any]) -> Any:
    """A function for C, by the compiler that `weft.jit` would choose, or else the other one; a reason if it has no
    hints, and `Unsupported` if it cannot be built."""
    from weft.errors import Unsupported
    from weft.hosts import functions, hosted_functions, library
    from weft.hosts.hint_samples import NoSample

    kinds = _kinds(parsed.file, function, pointers=True)

    def over_arrays() -> Any:
        made = functions.made(function, kinds, general=parsed.general, alone=True)
        library.texts(library.Plan(parsed.file.stem, (made,), parsed.chosen[:1]))
        return made

    def as_plain() -> Any:
        return hosted_functions.made(function, known)

    ways = [over_arrays, as_plain]
    if isinstance(kinds, str) or hosted_functions.goes_first(function, known):
        ways = [as_plain] if isinstance(kinds, str) else [as_plain, over_arrays]
    told: list[tuple[bool, Unsupported]] = []
    for way in ways:
        try:
            return way()
        except NoSample:
            continue
        except Unsupported as problem:
            told.append((way is as_plain, problem))
    if not told:
        return kinds
    # Of containers the compiler of arrays has little to say.
    is_told = hosted_functions.has_containers(function)
    raise next((problem for is_plain, problem in told if is_plain == is_told), told[0][1])


def _build_extension(
    parsed: argparse.Namespace, module: types.ModuleType, known: Mapping[str, Any], chosen: Any, place: Path
) -> int:
    """For Python: what cannot be built stays Python."""
    from weft.errors import ParallelError
    from weft.hosts import extension, module_functions

    _complete(parsed.file, module)
    try:
        found = module_functions.found(module, known, _recorded(parsed.file), parsed.general, bool(parsed.function))
    except ParallelError as problem:
        return complain(str(problem), FAILED)
    source = parsed.file.read_text(encoding="utf-8")
    plan = extension.Plan(parsed.file.stem, source, vars(module), found.arrays, chosen, found.plain, found.parted)
    parts = extension.build(plan, place)
    for name, reason in {**found.left, **parts.left}.items():
        print(f"{name}: stays Python ({reason})", file=sys.stderr)
    for made in found.parted:
        if "." not in made.place or made.place == made.plain.__qualname__:
            print(f"{made.place}: Python runs some of it, compiled code the rest ({made.reason})", file=sys.stderr)
    if not parts.built:
        remedy = "annotate parameters completely, or record types by `weft profile`"
        return complain(f"{parsed.file} has no function that can be built: {remedy}", FAILED)
    for name, signature in parts.built.items():
        print(f"{name}{signature}")
    print(f"wrote {place}")
    return DONE


def _complete(path: Path, module: types.ModuleType) -> None:
    """Give the functions and methods of a module the hints that `weft profile` has recorded beside the file."""
    from weft.errors import Unsupported
    from weft.heat import hints
    from weft.hosts.embedded import function_of

    if not hints.place(path).is_file():
        return
    entries = hints.read(hints.place(path))
    classes = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
    for holder in (vars(module), *map(vars, classes)):
        for value in tuple(holder.values()):
            plain = function_of(value)
            if plain is not None and plain.__module__ == module.__name__:
                with contextlib.suppress(Unsupported):
                    hints.complete(plain, entries)


def _kinds(path: Path, function: Any, pointers: bool = False) -> Any:
    """The specs of a function's arguments, or the reason why it is not built."""
    from weft.hosts import functions

    return functions.hinted(function.py_func, _recorded(path), pointers)


def _recorded(path: Path) -> Callable[[Any], Any] | None:
    """Hints that `weft profile` has recorded beside the file."""
    from weft.heat import hints

    if not hints.place(path).is_file():
        return None
    entries = hints.read(hints.place(path))
    return lambda function: hints.specs_for(function, entries)
