"""Circuits: a function as source for high-level synthesis.  In: a function and the kinds of its arguments; out:
`Emitted`, C++ for Vitis HLS or OpenCL C of a single work-item for Intel's compiler, and what its arguments are.

    lowered Program --stages--> regions of stages and streams --vitis / single--> text
No board and no vendor's compiler was at hand: the C++ is checked by simulation, the OpenCL C on a CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from weft.hls.plan import Emitted
from weft.options import Options


def emit(function: Any, kinds: Sequence[Any], form: str = "hls", sample: Sequence[Any] | None = None) -> Emitted:
    """The source of a compiled function for arguments of these kinds; `form`: "hls" or "intel".

    `Unsupported` names what has no form as a circuit.
    """
    from dataclasses import replace

    from weft import pipeline, targets
    from weft.passes import PassContext

    target = targets.find(form)
    options: Options = replace(function.options, target="cpu", parallel=False)
    source, directives = function._load(), function._directives()
    compiled = pipeline.front(source, tuple(kinds), sample, options, sample is not None, directives, lower=False)
    built = compiled.built
    if any(not isinstance(name, (str, type(None))) for name in built.names):
        from weft.errors import Unsupported

        raise Unsupported(source.span(source.tree), "a circuit takes no lists, dicts or strings", "pass arrays")
    program = target.prepared(compiled.program_optimised)
    lowered = targets.lowered(program, target, PassContext(options, [], directives))
    made: Emitted = target.generate(lowered, options)
    return made
