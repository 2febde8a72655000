"""Random affine programs beside a task, and behind one: passes work on their parts, every stage computes what Python
does, and so does the native code.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from tests.fuzz.affine import AffineProgram, affine_programs
from tests.fuzz.test_affine import _interpreted, _native
from tests.fuzz.test_random_programs import MORE, budget
from tests.support import function_from_source
from weft.ir.program import Loop, LoopKind
from weft.ir.walk import walk
from weft.pipeline import stages

_TASK = "    spare = np.zeros(2)\n    with weft.finish():\n        with weft.task():\n            spare[0] = 1.0\n"


def tasked(program: AffineProgram, beside: bool) -> AffineProgram:
    """The same program with a task; `beside`: its loops run beside the task, else after it."""
    head, *lines = program.source.splitlines(keepends=True)
    first = next(number for number, line in enumerate(lines) if line.startswith("    for"))
    before, loops, last = lines[:first], lines[first:-1], lines[-1]
    assert last.startswith("    return")
    used = last.replace("return ", "return spare[0], ", 1)
    inner = [f"    {line}" for line in loops] if beside else loops
    return replace(program, source="".join(("import weft\n\n", head, *before, _TASK, *inner, used)))


@pytest.mark.parametrize("beside", [True, False], ids=["beside", "after"])
@pytest.mark.timeout(0 if MORE else 600)
@given(program=affine_programs())
@budget(8)
def test_every_pass_preserves_the_interpreters_result(beside: bool, program: AffineProgram) -> None:
    _interpreted(tasked(program, beside))


@pytest.mark.parametrize("beside", [True, False], ids=["beside", "after"])
@pytest.mark.timeout(0 if MORE else 600)
@given(program=affine_programs())
@budget(5)
def test_native_equals_python(beside: bool, program: AffineProgram) -> None:
    _native(tasked(program, beside))


def test_the_programs_have_tasks() -> None:
    """So that the tests above look at what they are about."""
    source = "def f(a, n):\n    s = 0.0\n    for i in range(n):\n        a[i] = a[i] + 1.0\n    return s\n"
    for beside in (True, False):
        made = tasked(AffineProgram(source, (5,), 0), beside)
        function = function_from_source(made.source)
        found = dict(stages(function, (np.ones(5), 5)))["version"]
        kinds = {node.kind for node in walk(found.body) if isinstance(node, Loop)}
        assert LoopKind.TASK in kinds and kinds & {LoopKind.VECTOR, LoopKind.PARALLEL}
