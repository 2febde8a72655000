"""What the tests of the C back end share: a lowered program, compiled and behind a dispatcher."""

from __future__ import annotations

import platform
from typing import Any

import pytest

from weft.codegen import binding, c
from weft.ir.program import Program
from weft.ir.text import parse
from weft.ir.verify import Stage, verify
from weft.options import Options
from weft.runtime import dispatch, toolchain
from weft.runtime.descriptor import Signature

TOOLCHAIN = toolchain.find()
native = pytest.mark.skipif(dispatch.load_core() is None, reason="the native core cannot be built here")
_GLIBC = tuple(int(part) for part in (platform.libc_ver()[1] or "0.0").split(".")[:2])
FEATURES = (
    c.CFeatures(TOOLCHAIN.supports_libmvec, (_GLIBC[0], _GLIBC[1]), TOOLCHAIN.widest_vectors)
    if TOOLCHAIN is not None
    else c.CFeatures()
)


class Missed(Exception):
    """No version fits the call; `status` is the kernel's, None if a guard of the dispatcher failed."""

    def __init__(self, status: int | None) -> None:
        super().__init__(f"status {status}")
        self.status = status


def lowered(text: str) -> Program:
    program = parse(text)
    verify(program, Stage.LOWERED)
    return program


def compiled(
    program: Program | str, options: Options = Options(), lists: tuple[str, ...] = (), features: c.CFeatures = FEATURES
) -> Any:
    """A callable with the program's parameters; `.source` is its C, `.program` what it was made of."""
    if isinstance(program, str):
        program = lowered(program)
    source = c.generate(program, options, features)
    assert TOOLCHAIN is not None
    path = TOOLCHAIN.build_shared(source.text, flags=c.flags(options), name=program.name)
    kernel = dispatch.load_kernel(path)

    class Function(dispatch.dispatcher_type()):  # type: ignore[misc]
        def _miss(self, args: tuple[Any, ...], kwargs: dict[str, Any], status: int | None) -> Any:
            raise Missed(status)

    bindings = [binding.Fills(name, name in lists) for name in program.params]
    function = Function(Signature(program.params))
    function.add_version(
        binding.version(program, source.layout, source.exceptions, bindings, function=kernel.address, keepalive=kernel)
    )
    function.source, function.program = source, program
    return function
