"""The targets of `weft build --emit`: C++ for Vitis HLS, and OpenCL C of a single work-item.  In: an optimised program;
out: text for a vendor's tool chain, which nothing here runs.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from weft.hls import returns
from weft.hls.plan import Emitted
from weft.ir.program import Buffer, Layout, Program, Space
from weft.limits import LIMIT
from weft.options import Options
from weft.passes import schedule, simplify, store, version
from weft.targets import Target


class Circuit(Target):
    """Loops are fused where that saves memory; no caches, threads or libraries are planned for."""

    space = Space.DEVICE
    apart = True
    lowering = (simplify.run, schedule.run, store.run, version.run)
    limits = MappingProxyType({name: limit.default for name, limit in LIMIT.items()})

    def __init__(self, name: str) -> None:
        self.name = name

    def prepared(self, program: Program) -> Program:
        """A board has copies of its own, in C order, and a kernel one way out."""
        return returns.single(replace(program, buffers=tuple(map(_copied, program.buffers))))

    def generate(self, program: Program, options: Options) -> Emitted:
        from weft.hls.generate import single, vitis

        return (vitis if self.name == "hls" else single)(program, options.fp == "strict")


def _copied(buffer: Buffer) -> Buffer:
    return replace(buffer, layout=Layout.C, space=Space.DEVICE if buffer.rank else Space.HOST)


VITIS, INTEL = Circuit("hls"), Circuit("intel")
