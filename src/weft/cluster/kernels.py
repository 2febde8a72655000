"""Kernels that travel.  In: a tile program; out: a `Kernel`, its C and the description of its call as plain data, which
any machine compiles through its own disk cache and calls.

Nothing of the compiler's passes runs where a kernel arrives: the sender has lowered the program.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from weft.cluster.tiles import Parameter, TileProgram
from weft.errors import CompileError, WeftError
from weft.ir.program import Program
from weft.options import Options
from weft.records import dataclass


class HandedBack(WeftError):
    """A kernel found that it does not apply: the function must run in plain Python."""


@dataclass(frozen=True)
class Kernel:
    """A compiled tile program as data: `digest` names it on every machine."""

    name: str
    digest: str
    parameters: tuple[Parameter, ...]
    returned: tuple[str, ...]
    text: str
    parts: tuple[str, ...]
    flags: tuple[str, ...]
    descriptor: dict[str, Any]


def lowered(program: Program, options: Options) -> Program:
    """A tile program through the passes that decide and lower the loops."""
    from weft import pipeline
    from weft.ir import verify
    from weft.passes import PassContext, simplify

    context = PassContext(options, [])
    program = simplify.run(program, context)
    for _, run in pipeline.LOWERING:
        program = run(program, context)
    verify.verify(program, verify.Stage.LOWERED)
    return program


def compile_tile(tile: TileProgram, options: Options) -> Kernel:
    """The kernel of a tile program; CompileError if there is no compiler or the program has no portable form."""
    from weft import pipeline
    from weft.codegen import binding, c
    from weft.codegen.c_ops import CFeatures
    from weft.runtime import cache, portable, toolchain
    from weft.runtime import descriptor as D

    chain = toolchain.find()
    if chain is None:
        raise CompileError("no C compiler works here", "pip install 'weft[zig]'")
    program = lowered(tile.program, options)
    features = CFeatures(chain.supports_libmvec, pipeline._glibc(), chain.widest_vectors)
    unit = c.generate(program, options, features)
    span = program.span
    location = D.SourceLocation(span.file, program.name, binding.source_files(program)[1:])
    call = [binding.Fills(name) for name in program.params]
    version = binding.version(program, unit.layout, unit.exceptions, call, function=1, location=location)
    data = portable.portable(version)
    if data is None:
        raise CompileError("a kernel is bound to this process", "")
    digest = cache.digest(unit.text, c.flags(options), data)
    return Kernel(
        program.name, digest, tile.parameters, tile.returned, unit.text, tuple(unit.parts), c.flags(options), data
    )


_loaded: dict[str, Callable[..., Any]] = {}
_lock = threading.Lock()


def load(kernel: Kernel) -> Callable[..., Any]:
    """The kernel as a function of this process: compiled once on this machine, loaded once in this process."""
    found = _loaded.get(kernel.digest)
    if found is None:
        with _lock:
            found = _loaded.get(kernel.digest)
            if found is None:
                found = _loaded[kernel.digest] = _loading(kernel)
    return found


def _loading(kernel: Kernel) -> Callable[..., Any]:
    from weft.runtime import dispatch, portable, toolchain
    from weft.runtime.descriptor import NO_DEFAULT, Signature

    chain = toolchain.find()
    if chain is None or dispatch.load_core() is None:
        raise CompileError("no C compiler works on this machine of the cluster", "pip install 'weft[zig]' there")
    path = chain.build_shared(kernel.text, flags=kernel.flags, name=kernel.name, parts=kernel.parts)
    code = dispatch.load_kernel(path)
    version = portable.restored(kernel.descriptor, code.address, {}, code)
    base: Any = dispatch.dispatcher_type()

    class Called(base):  # type: ignore[misc]
        """The dispatcher of one kernel: it has no plain Python to go back to."""

        def _miss(self, args: tuple[Any, ...], kwargs: dict[str, Any], status: int | None) -> Any:
            raise HandedBack(f"{kernel.name} does not take these arguments (status {status})")

    names = tuple(f"p{number}" for number in range(len(kernel.parameters)))
    made = Called(Signature(names=names, defaults=(NO_DEFAULT,) * len(names)))
    made.add_version(version)
    return made
