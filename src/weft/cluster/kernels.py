"""Kernels that travel.  In: a tile program; out: a `Kernel`, its C and the description of its call as plain data, which
any machine compiles through its own disk cache and calls.

Nothing of the compiler's passes runs where a kernel arrives: the sender has lowered the program.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from typing import Any

from weft import targets
from weft.cluster.settings import current
from weft.cluster.tiles import Parameter, TileProgram
from weft.codegen import binding, c, c_frame
from weft.errors import CompileError, WeftError
from weft.ir.program import Program, Space
from weft.options import Options
from weft.passes import PassContext, simplify
from weft.passes.order import LOWERING
from weft.records import dataclass
from weft.runtime import cache, dispatch, portable
from weft.runtime import descriptor as D
from weft.runtime.descriptor import NO_DEFAULT, Signature
from weft.targets import Target

#: Where tiles get their form for devices.
_DEVICES = "weft.device.tiles"


class HandedBack(WeftError):
    """A kernel found that it does not apply: the function must run in plain Python."""


def is_beyond(error: BaseException) -> bool:
    """Whether a kernel found a Python integer beyond 64 bits: plain Python has an answer then."""
    return isinstance(error, OverflowError) and error.args == (c_frame.OVERFLOW_ERROR[1],)


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
    straight: bool = False
    device: Any = None  # its plans for a device, if tasks ask for one


class TileTarget(Target):
    """A target whose engine runs tiles of a program in many processes, each as a kernel of the CPU's own target."""

    space = Space.BLOCKS
    apart = True
    lowering = (simplify.run, *LOWERING)

    @property
    def tiles(self) -> Any:
        """The target of a single tile."""
        return targets.find("c")

    def missing(self) -> CompileError | None:
        found: CompileError | None = self.tiles.missing()
        return found

    def why_not(self, program: Program) -> str | None:
        found: str | None = self.tiles.why_not(program)
        return found

    def generate(self, program: Program, options: Options) -> Any:
        return self.tiles.generate(program, options)


#: What all targets with tiles have in common.
TILES = TileTarget()


def lowered(program: Program, options: Options) -> Program:
    """A tile program through the passes that decide and lower the loops."""
    return targets.lowered(program, TILES, PassContext(options, []))


def compile_tile(tile: TileProgram, options: Options) -> Kernel:
    """The kernel of a tile program; CompileError if there is no compiler or the program has no portable form."""
    program = lowered(tile.program, options)
    unit = TILES.generate(program, options)
    span = program.span
    location = D.SourceLocation(span.file, program.name, binding.source_files(program)[1:])
    call = [binding.Fills(name) for name in program.params]
    version = binding.version(program, unit.layout, unit.exceptions, call, function=1, location=location)
    data = portable.portable(version)
    if data is None:
        raise CompileError("a kernel is bound to this process", "")
    target = current().device
    device = importlib.import_module(_DEVICES).prepared(tile.program, options, target) if target else None
    flags = c.flags(options)
    digest = cache.digest(unit.text, flags, data, target)
    parts = tuple(unit.parts)
    given = (tile.parameters, tile.returned, unit.text, parts, flags, data)
    return Kernel(program.name, digest, *given, unit.straight, device)


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
    target = TILES.tiles
    if target.missing() is not None:
        raise CompileError("no C compiler works on this machine of the cluster", "pip install 'weft[zig]' there")
    path = target.built(kernel.text, target.flags(kernel.flags, kernel.straight), kernel.name, kernel.parts)
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
    return made if kernel.device is None else importlib.import_module(_DEVICES).loaded(kernel.device, made)
