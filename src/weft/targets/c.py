"""The C target.  In: a lowered program; out: C, compiled by the machine's own compiler into a shared object that the
dispatcher calls; parallel loops run on the pool of threads, vector loops are the compiler's.
"""

from __future__ import annotations

import platform
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from weft import steps
from weft.codegen import c, c_library, lines
from weft.codegen.c_ops import CFeatures
from weft.compiled import Compiled
from weft.errors import CompileError
from weft.ir.program import Program
from weft.options import LINE_FLAGS, Options, wants_lines
from weft.runtime import cache, dispatch, routines, toolchain
from weft.targets import Backend, Coded


class C(Backend):
    """Kernels in C."""

    name = "c"

    def missing(self) -> CompileError | None:
        if dispatch.load_core() is not None and toolchain.find() is not None:
            return None
        return CompileError("no C compiler works here, and the options ask for C", "pip install 'weft[zig]'")

    def why_not(self, program: Program) -> str | None:
        for name in c_library.addresses(program):
            if not routines.address(name):
                return f"{name} of this NumPy cannot be called by its address: Python calls it"
        return super().why_not(program)

    def generate(self, program: Program, options: Options) -> c.CSource:
        chain = self.chain()
        return c.generate(program, options, CFeatures(chain.supports_libmvec, glibc(), chain.widest_vectors))

    def text(self, compiled: Compiled, options: Options) -> c.CSource:
        """The C of a lowered program, which its version keeps."""
        unit = self.generate(compiled.program_lowered, options)
        compiled.c_source = unit.text
        compiled.flags = self.flags(c.flags(options), unit.straight)
        return unit

    def coded(self, compiled: Compiled, options: Options) -> Coded:
        start = perf_counter()
        steps.enter("generate C")
        unit = self.text(compiled, options)
        compiled.seconds["codegen"] = perf_counter() - start
        start = perf_counter()
        kept = None if options.cache else cache.process_cache()
        steps.enter("C compiler")
        text, parts = unit.text, unit.parts
        if wants_lines():
            parts = ()
            text = lines.with_names(lines.with_lines(text, compiled.source.file), compiled.source.name)
            compiled.flags = (*compiled.flags, *LINE_FLAGS)
        path = self.built(text, compiled.flags, compiled.source.name, parts, kept)
        compiled.library = path
        steps.enter("load")
        kernel = dispatch.load_kernel(path)
        compiled.seconds["compiler"] = perf_counter() - start
        return Coded(compiled.program_lowered, unit.layout, unit.exceptions, kernel.address, kernel)

    def chain(self) -> toolchain.Toolchain:
        """This machine's compiler; CompileError if there is none."""
        chain = toolchain.find()
        if chain is None:
            raise CompileError("no C compiler works here", "pip install 'weft[zig]'")
        return chain

    def flags(self, asked: Sequence[str], straight: bool) -> tuple[str, ...]:
        """The flags for a kernel on this machine; `asked`: those that its options mean."""
        return (*self.chain().lean(straight), *asked)

    def built(
        self,
        text: str,
        flags: Sequence[str],
        name: str,
        parts: Sequence[str] = (),
        kept: cache.Cache | None = None,
    ) -> Path:
        """The shared object of a kernel, compiled now or known."""
        return self.chain().build_shared(text, flags=flags, name=name, cache=kept, parts=parts)


def glibc() -> tuple[int, int]:
    name, version = platform.libc_ver()
    parts = version.split(".")
    if name != "glibc" or len(parts) < 2 or not (parts[0].isdigit() and parts[1].isdigit()):
        return (0, 0)
    return int(parts[0]), int(parts[1])


TARGET = C()
