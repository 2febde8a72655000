"""The Python target, for machines without a C compiler.  In: an optimised program; out: Python over NumPy, called by
the dispatcher with the arguments that fill its parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from weft import steps
from weft.codegen import binding
from weft.compiled import Compiled
from weft.frontend import specs
from weft.ir.program import Program
from weft.options import Options
from weft.runtime import sharing
from weft.targets import Backend, Coded


class Python(Backend):
    """Whole statements as NumPy expressions: the loops of other targets would only slow them down."""

    name = "python"

    def generate(self, program: Program, options: Options) -> Callable[..., Any]:
        """A Python function of an optimised program."""
        from weft.codegen.python import compile_python

        return compile_python(program)

    def coded(self, compiled: Compiled, options: Options) -> Coded:
        from weft.codegen.python_containers import with_containers

        steps.enter("generate Python")
        program, built = compiled.program_optimised, compiled.built
        code = self.generate(program, options)
        names = (*built.names, *(entry.param for entry in built.hidden))
        kinds = (*built.specs, *(entry.spec for entry in built.hidden))
        templates = [kind.template if isinstance(kind, specs.COLUMNS) else None for kind in kinds]
        filling = [position for position, name in enumerate(names) if name is not None]
        if any(templates):
            code = with_containers(program, code, [(names[at], templates[at]) for at in filling])

        def function(*values: object) -> object:
            """The dispatcher passes every value, also those that are only compared."""
            passed: list[object] = []
            for position in filling:
                kind = kinds[position]
                if isinstance(kind, specs.MemorySpec):
                    filled = sharing.fill(sharing.parse(kind.text), values)
                    assert filled is not None  # the dispatcher has asked
                    passed += filled.values
                elif isinstance(kind, specs.ArraySpec) and not kind.rank:
                    passed.append(np.reshape(cast(Any, values[position]), 1))  # a view
                else:
                    passed.append(values[position])
            return code(*passed)

        return Coded(program, binding.layout(program), (), function)


TARGET = Python()
