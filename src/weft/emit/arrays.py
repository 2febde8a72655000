"""Variants on CuPy.  In: a version; out: its program on an array module, region by region (`codegen/cupy.py`)."""

from __future__ import annotations

from weft.codegen import cupy
from weft.compiled import Compiled
from weft.emit.forms import Form, Text, program_text
from weft.errors import Unsupported

RUNTIME = '''
def _module():
    """CuPy, where there is a device for it."""
    try:
        import cupy
    except ImportError:
        raise GuardFailed from None
    return cupy

''' + cupy.MOVES


def _written(name: str, compiled: Compiled) -> Text:
    program = compiled.program_optimised
    known = program_text(program)  # its names and routines, or why it cannot stand alone
    try:
        text = cupy.arrays(program, name)
    except Unsupported as problem:
        raise ValueError(problem.reason) from None
    params = ", ".join(program.params)
    call = [
        f"def {name}({params}):",
        '    with np.errstate(all="ignore"):',
        f"        return here({name}_arrays(_module(), {params}))",
    ]
    return Text("\n".join((text, "", "", *call)), known.names, known.routines, safe=True)


FORM = Form("CuPy where a call is large", "", RUNTIME, _written, cupy.LEAST)
