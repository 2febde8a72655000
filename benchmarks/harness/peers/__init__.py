"""The frameworks. In comes a name; out come the forms of a kernel to give it and the module that compiles them."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from benchmarks.harness.job import Prepare

PLAIN, LOOPS, HAND = "numpy form", "loop form", "hand-parallel"
PORT, ROLLED, UNROLLED = "port", "rolled", "unrolled"
SIZED = "with sizes written in"
UNOPTIMISED = "unoptimised"


@dataclass(frozen=True)
class Framework:
    """`rounds` are groups of forms: all of a group are tried, and the next group only if none of it was right.

    `package` is what must be importable, in an environment of its own if `own_environment`.
    """

    name: str
    module: str
    package: str
    rounds: tuple[tuple[str, ...], ...]
    own_environment: bool = False

    def prepare(self) -> Prepare:
        found: Prepare = import_module(f"benchmarks.harness.peers.{self.module}").prepare
        return found


_BOTH = (PLAIN, LOOPS)
FRAMEWORKS = {
    framework.name: framework
    for framework in (
        Framework("numpy", "numpy", "numpy", ((PLAIN,),)),
        Framework("numba", "numba", "numba", ((*_BOTH, HAND),)),
        Framework("numba-parallel", "numba", "numba", ((*_BOTH, HAND),)),
        Framework("pythran", "pythran", "pythran", (_BOTH,)),
        Framework("jax", "jax", "jax", ((PORT,), (ROLLED,), (UNROLLED,))),
        Framework(
            "dace",
            "dace",
            "dace",
            (_BOTH, *(tuple(f"{form}, {way}" for form in _BOTH) for way in (SIZED, UNOPTIMISED))),
            own_environment=True,
        ),
        Framework("weft", "weft", "weft", (_BOTH,)),
    )
}


def framework_of(name: str) -> Framework:
    """The framework of a column; `weft@commit` is weft of another commit."""
    return FRAMEWORKS[name.split("@")[0]]
