"""Directed transformations: legal ones change nothing but the loops, illegal ones are refused with the accesses that
forbid them; on random nests the interpreter tells no difference.
"""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy as np
import pytest

from weft.directives import (
    Directive,
    Directives,
    Fuse,
    Interchange,
    Parallel,
    Place,
    Sequential,
    Tile,
    Unroll,
    Vectorise,
)
from weft.errors import TransformError
from weft.ir import interp
from weft.ir.program import Loop, Program
from weft.ir.text import parse, show
from weft.ir.verify import Stage, verify
from weft.ir.walk import walk
from weft.options import Options
from weft.passes import PassContext, directed

HEAD = """program f(a, b, c):
  size n = a.shape[0]
  param a: f64[n, n] C
  param b: f64[n, n] C
  param c: f64[n] C
  local s: f64
  local t: f64
  output #0 = None
  guard 3 <= n else ValueError "n"

"""


def program_of(body: str) -> Program:
    text = HEAD + "".join(f"  {line}\n" for line in body.strip("\n").splitlines()) + "  return #0\n"
    program = parse(text)
    verify(program, Stage.LOWERED)
    return program


def directed_by(program: Program, *directives: Directive, fp: Any = "numpy", lenient: bool = False) -> Program:
    context = PassContext(Options(fp=fp), directives=Directives(directives, lenient))
    after = directed.run(program, context)
    verify(after, Stage.LOWERED)
    assert parse(show(after)) == after
    return after


def same(before: Program, after: Program, sizes: tuple[int, ...] = (3, 4, 9, 18), order: str = "shuffled") -> None:
    rng = np.random.default_rng(3)
    for n in sizes:
        first = {"a": rng.random((n, n)), "b": rng.random((n, n)), "c": rng.random(n)}
        second = copy.deepcopy(first)
        interp.run(before, first)
        interp.run(after, second, order=order)  # type: ignore[arg-type]
        for name in first:
            np.testing.assert_array_equal(first[name], second[name])


def places(*names: str) -> tuple[Place, ...]:
    return tuple(Place.of(name) for name in names)


def shape(program: Program) -> list[str]:
    return [f"{node.kind.value} {node.dim.var}" for node in walk(program.body) if isinstance(node, Loop)]


COPY = """
parallel i in 0 .. n:
  vector j in 0 .. n:
    b[i, j] = a[i, j] * 2.0_f64
"""
PRODUCT = """
parallel i in 0 .. n:
  vector j in 0 .. n:
    b[i, j] = 0.0_f64
  for k in 0 .. n:
    vector j_2 in 0 .. n:
      b[i, j_2] = b[i, j_2] + a[i, k] * a[k, j_2]
"""
SWEEP = """
for i in 1 .. n:
  for j in 1 .. n:
    a[i, j] = a[i - 1, j] + a[i, j - 1]
"""
SKEWED = """
for i in 1 .. n:
  for j in 0 .. n - 1:
    a[i, j] = a[i - 1, j + 1]
"""
TRIANGLE = """
for i in 0 .. n:
  for j in 0 .. i:
    a[i, j] = b[j, i]
"""
CROOKED = """
for i in 0 .. n:
  for j in 0 .. i // 2:
    a[i, j] = b[j, i]
"""
SUM = """
for i in 0 .. n:
  s = 0.0_f64
  for j in 0 .. n:
    s = s + a[i, j]
  c[i] = s
"""


def test_tiles() -> None:
    program = program_of(COPY)
    after = directed_by(program, Tile(places("i", "j"), (4, 5)))
    assert shape(after) == ["parallel i_block", "for j_block", "for i", "vector j"]
    same(program, after)


def test_tiles_of_a_product_cut_off_what_stands_between() -> None:
    program = program_of(PRODUCT)
    after = directed_by(program, Tile(places("i", "j", "k"), (4, 5, 2)))
    assert shape(after)[:2] == ["parallel i", "vector j"]
    assert shape(after)[2:] == ["parallel i_block", "for k_block", "for j_2_block", "for i_2", "for k", "vector j_2"]
    same(program, after)


def test_tiles_and_interchange_of_a_sweep() -> None:
    program = program_of(SWEEP)
    same(program, directed_by(program, Tile(places("i", "j"), (2, 3))))
    after = directed_by(program, Interchange(places("i", "j")))
    assert shape(after) == ["for j", "for i"]
    same(program, after)


@pytest.mark.parametrize("bounds", ["0 .. i", "i .. n", "i + 1 .. n", "n - i .. n", "0 .. n - i", "1 .. i - 1"])
@pytest.mark.parametrize("sizes", [(2, 3), (4, 2), (32, 32)])
def test_tiles_of_triangles(bounds: str, sizes: tuple[int, int]) -> None:
    program = program_of(f"parallel i in 0 .. n:\n  vector j in {bounds}:\n    a[i, j] = a[i, j] * 2.0_f64 + b[i, j]")
    after = directed_by(program, Tile(places("i", "j"), sizes))
    assert shape(after) == ["parallel i_block", "for j_block", "for i", "vector j"]
    same(program, after)


def test_a_loop_between_the_tiled_ones() -> None:
    body = "for i in 0 .. n:\n  for k in 0 .. i:\n    for j in k .. n:\n      b[i, j] = b[i, j] + a[i, k] * a[k, j]"
    program = program_of(body)
    after = directed_by(program, Tile(places("i", "j"), (3, 4)))
    assert shape(after) == ["for i_block", "for j_block", "for i", "for k", "for j"]
    same(program, after)


def test_one_loop_can_always_be_cut_into_blocks() -> None:
    for body in (SWEEP, SKEWED, TRIANGLE, SUM):
        program = program_of(body)
        same(program, directed_by(program, Tile(places("i"), (3,))))
        same(program, directed_by(program, Tile(places("j"), (2,))))


@pytest.mark.parametrize("factor", [2, 3, 8])
@pytest.mark.parametrize("body", [COPY, PRODUCT, SWEEP, TRIANGLE, SUM])
@pytest.mark.parametrize("loop", ["i", "j"])
def test_unrolled(body: str, loop: str, factor: int) -> None:
    program = program_of(body)
    same(program, directed_by(program, Unroll(Place.of(loop), factor)))


def test_unrolled_as_a_whole() -> None:
    program = program_of("for i in 0 .. 3:\n  c[i] = a[i, 0]")
    after = directed_by(program, Unroll(Place.of("i"), 4))
    assert shape(after) == []
    same(program, after)
    after = directed_by(program_of("for i in 0 .. 4:\n  c[i - 1 + 1 - i] = a[0, 0]"), Unroll(Place.of("i"), 2))
    assert shape(after) == ["for i_block"]


def test_the_work_of_an_inner_loop_is_that_of_its_copy() -> None:
    body = "for i in 0 .. n:\n  parallel j in i .. n work float(n - i) * 2.0:\n    a[i, j] = a[i, j] * 2.0_f64"
    program = program_of(body)
    after = directed_by(program, Unroll(Place.of("i"), 3))
    inner = [node for node in walk(after.body) if isinstance(node, Loop) and node.work is not None]
    assert len({str(node.work) for node in inner}) > 1
    same(program, after)


def test_unrolling_a_loop_that_counts_down() -> None:
    program = program_of("for i in n - 1 .. -1 step -2:\n  c[i] = c[i] + a[i, 0]")
    same(program, directed_by(program, Unroll(Place.of("i"), 2)))


def test_parallel_moves_to_the_loop_that_is_named() -> None:
    program = program_of(PRODUCT)
    assert shape(directed_by(program, Sequential(Place.of("i"))))[0] == "for i"
    nest = "parallel i in 0 .. n:\n  for j in 0 .. n:\n    for k in 0 .. n:\n      b[i, j] = b[i, j] + a[i, k] * c[k]"
    program = program_of(nest)
    after = directed_by(program, Parallel(Place.of("j")))
    assert shape(after) == ["for i", "parallel j", "for k"]
    same(program, after)
    # An innermost loop keeps its vectors inside the blocks that the threads share.
    after = directed_by(program_of("for i in 0 .. n:\n  c[i] = a[i, 0]"), Parallel(Place.of("i")))
    assert shape(after) == ["parallel i_block", "vector i"]


def test_vectorise() -> None:
    program = program_of("for i in 0 .. n:\n  c[i] = a[i, 0]")
    assert shape(directed_by(program, Vectorise(Place.of("i")))) == ["vector i"]
    program = program_of(SUM)
    after = directed_by(program, Vectorise(Place.of("j")))
    assert shape(after) == ["for i", "vector j"]
    with pytest.raises(TransformError, match="s"):
        directed_by(program, Vectorise(Place.of("j")), fp="strict")


def test_fusion() -> None:
    program = program_of(
        "for i in 0 .. n:\n  for j in 0 .. n:\n    b[i, j] = a[i, j]\n"
        "for k in 0 .. n:\n  for l in 0 .. n:\n    a[k, l] = b[k, l] * 2.0_f64"
    )
    # Lines are those of the text, which the parser does not keep: a place without one is every line.
    after = directed.run(
        _with_lines(program), PassContext(directives=Directives((Fuse((Place(line=1), Place(line=2))),)))
    )
    assert shape(after) == ["for i", "vector j"]
    same(program, after)


def test_fusion_that_would_read_what_is_not_computed_yet() -> None:
    program = program_of("for i in 0 .. n:\n  c[i] = a[i, 0]\nfor k in 0 .. n - 1:\n  b[k, 0] = c[k + 1]")
    wanted = Directives((Fuse((Place(line=1), Place(line=2))),))
    with pytest.raises(TransformError, match="different bounds"):
        directed.run(_with_lines(program), PassContext(directives=wanted))
    program = program_of("for i in 0 .. n - 1:\n  c[i] = a[i, 0]\nfor k in 0 .. n - 1:\n  b[k, 0] = c[k + 1]")
    with pytest.raises(TransformError, match=r"c\[.*c\[i \+ 1\]"):
        directed.run(_with_lines(program), PassContext(directives=wanted))


def _with_lines(program: Program) -> Program:
    """The top-level nests on lines 1, 2, ..."""
    from dataclasses import replace

    from weft.errors import Span
    from weft.ir.walk import map_sub_blocks

    def put(node: Any, line: int) -> Any:
        inner = map_sub_blocks(node, lambda block: tuple(put(child, line) for child in block))
        return replace(inner, span=Span("f.py", line, 0, line, 0))

    return replace(program, body=tuple(put(node, number + 1) for number, node in enumerate(program.body)))


# --- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "directive", "reason"),
    [
        (SKEWED, Tile(places("i", "j"), (2, 2)), r"a\[i - 1, j \+ 1\].*a\[i, j\]|a\[i, j\].*a\[i - 1, j \+ 1\]"),
        (SKEWED, Interchange(places("i", "j")), r"a\[i - 1, j \+ 1\]"),
        (SWEEP, Parallel(Place.of("i")), r"a\[i - 1, j\]"),
        (SWEEP, Parallel(Place.of("j")), r"a\[i, j - 1\]"),
        (SWEEP, Vectorise(Place.of("j")), r"a\[i, j - 1\]"),
        (SWEEP, Vectorise(Place.of("i")), "not an innermost loop"),
        (TRIANGLE, Interchange(places("i", "j")), "bounds of the loop over j depend on i"),
        (
            CROOKED,
            Tile(places("i", "j"), (2, 2)),
            "bounds of the loop over j depend on the loops around it in no simple",
        ),
        (SUM, Interchange(places("i", "j")), "stand between the loops, and `s`"),
        (SUM, Parallel(Place.of("j")), "`s`"),
        (COPY, Tile(places("i", "z"), (2, 2)), "no loop"),
        (COPY, Unroll(Place.of("k"), 2), "no loop"),
    ],
)
def test_illegal(body: str, directive: Directive, reason: str) -> None:
    program = program_of(body)
    with pytest.raises(TransformError, match=reason) as caught:
        directed_by(program, directive)
    assert len(str(caught.value).splitlines()) <= 15


def test_a_scalar_that_is_needed_afterwards() -> None:
    program = program_of("for i in 0 .. n:\n  t = a[i, 0]\n  c[i] = t\nb[0, 0] = t")
    with pytest.raises(TransformError, match="`t` is set in it and used after it"):
        directed_by(program, Parallel(Place.of("i")))


def test_an_iteration_that_may_raise() -> None:
    program = program_of('for i in 0 .. n:\n  check a[i, 0] > 0.5_f64 else ValueError "no"\n  c[i] = a[i, 0]')
    with pytest.raises(TransformError, match="exception"):
        directed_by(program, Parallel(Place.of("i")))


def test_a_loop_that_another_version_has() -> None:
    program = program_of(COPY)
    assert directed_by(program, Unroll(Place.of("k"), 2), lenient=True) == program


# --- random nests ----------------------------------------------------------------------------------------------------


def random_nest(draw: random.Random) -> str:
    """One or two statements in a nest of two loops, with neighbours at small distances."""

    def element(name: str) -> str:
        i, j = (v + draw.choice(["", "", " - 1", " + 1"]) for v in draw.choice([("i", "j"), ("i", "j"), ("j", "i")]))
        return f"{name}[{i}, {j}]"

    lines = ["for i in 1 .. n - 1:"]
    if draw.random() < 0.3:
        lines.append(f"  c[i{draw.choice(['', ' - 1'])}] = {element('a').replace('j', 'i')}")
    lines.append(f"  for j in {draw.choice(['1 .. n - 1', '1 .. n - 1', '1 .. i', 'i .. n - 1', '1 .. n - i'])}:")
    for _ in range(draw.choice([1, 1, 2])):
        target = draw.choice([element("a"), element("b"), "c[i]", "c[j]", "c[j - 1]"])
        terms = [draw.choice([element("a"), element("b"), "c[i]", "c[j]"]) for _ in range(draw.choice([1, 2]))]
        lines.append(f"    {target} = {' * 0.5_f64 + '.join(terms)}")
    if draw.random() < 0.3:
        lines.append("  c[i] = c[i] * 0.5_f64")
    return "\n".join(lines)


def random_directive(draw: random.Random) -> Directive:
    return draw.choice(
        [
            Tile(places("i", "j"), (draw.choice([2, 3]), draw.choice([2, 5]))),
            Interchange(places("i", "j")),
            Unroll(Place.of(draw.choice("ij")), draw.choice([2, 3])),
            Parallel(Place.of(draw.choice("ij"))),
            Vectorise(Place.of("j")),
        ]
    )


def test_random_nests() -> None:
    applied = refused = 0
    for seed in range(120):
        draw = random.Random(seed)
        program = program_of(random_nest(draw))
        after = program
        try:
            for _ in range(draw.choice([1, 1, 2, 3])):
                after = directed_by(after, random_directive(draw))
                applied += 1
        except TransformError:
            refused += 1
        if after is not program:
            same(program, after, (3, 4, 8), order=draw.choice(["forward", "reversed", "shuffled"]))
    assert applied > 30 and refused > 30
