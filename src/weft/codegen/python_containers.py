"""Containers as arguments of generated Python.  In: a function of columns and which arguments they come from; out: a
function of the arguments themselves, whose elements are copied out if it has written them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.analysis.scopes import written_params
from weft.codegen.python import originals
from weft.codegen.python_support import standing_for
from weft.ir.program import Program
from weft.runtime import templates
from weft.runtime.descriptor import GuardFailed

#: The parameters that an argument fills, and the template of a container.
Filling = tuple[str | tuple[str, ...] | None, str | None]


def with_containers(
    program: Program, code: Callable[..., object], arguments: Sequence[Filling]
) -> Callable[..., object]:
    """The function of the arguments that `code`, of their columns, stands for."""
    written = written_params(program)
    out = {
        at: template
        for at, (names, template) in enumerate(arguments)
        if template is not None and isinstance(names, tuple) and not written.isdisjoint(names)
    }

    def function(*values: object) -> object:
        passed: list[object] = []
        copies: dict[int, list[Any]] = {}
        for at, (value, (_, template)) in enumerate(zip(values, arguments)):
            if template is None:
                passed.append(value)
            else:
                copies[at] = list(templates.columns_of(template, value))
                passed.extend(copies[at])
        pairs: list[tuple[object, object]] = [(columns[0], values[at]) for at, columns in copies.items()]
        ended = True
        try:
            with standing_for(pairs):
                result = code(*passed)
        except GuardFailed:
            ended = False  # the call is repeated: the containers keep what they hold
            raise
        finally:
            for at, template in out.items():
                if ended:
                    templates.copy_out(template, values[at], copies[at])  # type: ignore[arg-type]
        return originals(result, pairs)

    return function
