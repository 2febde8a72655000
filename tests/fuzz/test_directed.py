"""Random affine programs with random transformations: each is refused, or changes nothing that the interpreter sees, in
any order of parallel iterations.  And random loops declared parallel: an error means a race that a trace of the program
finds as well; where the trace finds none, the compiled loop computes what Python does.
"""

from __future__ import annotations

import inspect
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import weft
from tests.fuzz.affine import AffineProgram, affine_programs
from tests.fuzz.test_random_programs import MORE, budget
from tests.support import function_from_source
from weft.directives import (
    Directive,
    Directives,
    Interchange,
    NoFuse,
    NoLibrary,
    Parallel,
    Place,
    Sequential,
    SkipPass,
    Tile,
    Unroll,
    Vectorise,
)
from weft.ir.interp import GuardFailed, IntegerOverflow, run
from weft.ir.program import Loop
from weft.ir.walk import walk
from weft.passes.order import LOWERING, PASSES
from weft.pipeline import stages

SKIPPABLE = [each.name for each in (*PASSES, *LOWERING) if each.optional]


def directive(draw: Any, names: list[str], lines: int) -> Directive:
    """Any directive about loops of a program."""
    loops = st.sampled_from([Place.of(name) for name in names])
    two = draw(st.lists(loops, min_size=2, max_size=2, unique=True)) if len(set(names)) > 1 else [draw(loops)] * 2
    small = st.integers(2, 5)
    return draw(
        st.sampled_from(
            [
                Tile((draw(loops),), (draw(small),)),
                Tile(tuple(dict.fromkeys(two)), (draw(small),) * len(dict.fromkeys(two))),
                Interchange(tuple(two)),
                Unroll(draw(loops), draw(small)),
                Parallel(draw(loops)),
                Sequential(draw(loops)),
                Vectorise(draw(loops)),
                NoFuse((Place(line=draw(st.integers(2, lines))), Place(line=draw(st.integers(2, lines))))),
                NoLibrary(),
                SkipPass(draw(st.sampled_from(SKIPPABLE))),
            ]
        )
    )


@pytest.mark.timeout(0 if MORE else 600)
@given(data=st.data(), program=affine_programs())
@budget(40)
def test_transformed_programs_compute_the_same(data: Any, program: AffineProgram) -> None:
    function = function_from_source(program.source)
    names = tuple(inspect.signature(function).parameters)
    arguments = program.make(program.sizes[0])
    note(program.source)
    try:
        plain = stages(function, arguments)[-1][1]
    except weft.Unsupported:
        return
    variables = sorted({node.dim.var for node in walk(plain.body) if isinstance(node, Loop)})
    if not variables:
        return
    lines = program.source.count("\n")
    asked = tuple(directive(data.draw, variables, lines) for _ in range(data.draw(st.integers(1, 3))))
    note(str([str(each) for each in asked]))
    try:
        transformed = stages(function, arguments, directives=Directives(asked))[-1][1]
    except weft.TransformError:
        return
    for size in program.sizes:
        results = []
        for version, order in ((plain, "forward"), (transformed, "shuffled")):
            given = dict(zip(names, program.make(size)))
            try:
                value = run(version, given, order=order)  # type: ignore[arg-type]
            except (GuardFailed, IntegerOverflow):
                return
            results.append((value, given))
        (one, left), (other, right) = results
        np.testing.assert_allclose(_flat(one), _flat(other), rtol=1e-9)
        for name in names:
            np.testing.assert_allclose(left[name], right[name], rtol=1e-9, err_msg=name)


def _flat(value: Any) -> np.ndarray:
    if value is None:
        return np.zeros(0)
    parts = value if isinstance(value, tuple) else (value,)
    return np.concatenate([np.ravel(np.asarray(part, complex)) for part in parts if part is not None])


# --- prange ----------------------------------------------------------------------------------------------------------


class Trace:
    """An array that notes which iteration reads and writes which element."""

    def __init__(self, values: np.ndarray, clock: list[int]) -> None:
        self.values, self.clock = values, clock
        self.shape = values.shape
        self.seen: dict[Any, set[tuple[int, bool]]] = {}

    def __getitem__(self, index: Any) -> Any:
        self.seen.setdefault(index, set()).add((self.clock[0], False))
        return self.values[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        self.seen.setdefault(index, set()).add((self.clock[0], True))
        self.values[index] = value

    def races(self) -> bool:
        for touched in self.seen.values():
            writers = {when for when, writes in touched if writes}
            if writers and len({when for when, _ in touched}) > 1:
                return True
        return False


def loop_text(draw: random.Random) -> str:
    """A loop declared parallel with one or two statements, perhaps in an inner loop or under a condition."""

    def vector(name: str) -> str:
        return f"{name}[i{draw.choice(['', '', '', ' - 1', ' + 1'])}]"

    def matrix() -> str:
        return f"m[{draw.choice(['i', 'i', 'i - 1', 'j', '2'])}, {draw.choice(['j', 'j', 'i', 'j + 1'])}]"

    lines = [f"for i in prange(1, n - 1{draw.choice(['', '', ', 2'])}):"]
    pad = "    "
    inner = draw.random() < 0.5
    if draw.random() < 0.3:
        lines.append(pad + f"t = {vector('a')} * 2.0")
        lines.append(pad + f"{vector('b')} = t + 1.0")
    if inner:
        lines.append(pad + "for j in range(1, n - 1):")
        pad += "    "
    if draw.random() < 0.25:
        lines.append(pad + f"if i {draw.choice(['> 3', '< 5', '== 2'])}:")
        pad += "    "
    for _ in range(draw.choice([1, 2])):
        element = matrix if inner and draw.random() < 0.7 else (lambda: vector(draw.choice("abc")))
        lines.append(pad + f"{element()} = {element()} + {vector('k')}")
    return "def f(a, b, c, k, m, n, prange):\n" + "\n".join("    " + line for line in lines) + "\n"


def test_errors_are_races_and_what_has_none_is_right() -> None:
    errors = races = 0
    for seed in range(int(MORE or 120)):
        text = loop_text(random.Random(seed))
        rng = np.random.default_rng(seed)
        n = 9
        arrays = {name: rng.integers(1, 9, n) / 4 for name in "abck"} | {"m": rng.integers(1, 9, (n, n)) / 4}
        clock = [0]

        def counted(*bounds: int, clock: list[int] = clock) -> Any:
            for number in range(*bounds):
                clock[0] = number
                yield number

        traced = {name: Trace(values.copy(), clock) for name, values in arrays.items()}
        function_from_source(text)(*traced.values(), n, counted)
        race = any(trace.races() for trace in traced.values())
        races += race
        compiled = text.replace(", prange", "").replace("prange", "weft.prange")
        function = function_from_source(compiled, namespace={"weft": weft})
        given = {name: values.copy() for name, values in arrays.items()} | {"n": n}
        try:
            lowered = stages(function, tuple(given.values()))[-1][1]
        except weft.ParallelError as problem:
            errors += 1
            assert race, f"{text}\n{problem}"
            continue
        if race:
            continue
        run(lowered, given, order="shuffled")
        for name, trace in traced.items():
            np.testing.assert_array_equal(given[name], trace.values, err_msg=f"{name}\n{text}")
    assert errors > 0.9 * races > 0
