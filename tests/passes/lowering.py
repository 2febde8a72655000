"""What the tests of lowering share: programs in text form, and a comparison of the interpreter before and after."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import numpy as np

from weft.ir import interp
from weft.ir.program import Loop, LoopKind, Node, Program
from weft.ir.text import parse
from weft.ir.verify import Stage, verify
from weft.ir.walk import walk
from weft.options import Options
from weft.passes import PassContext, schedule

HEADERS = {
    0: "",
    1: "  size {0}_0 = {0}.shape[0]\n",
    2: "  size {0}_0 = {0}.shape[0]\n  size {0}_1 = {0}.shape[1]\n",
    3: "  size {0}_0 = {0}.shape[0]\n  size {0}_1 = {0}.shape[1]\n  size {0}_2 = {0}.shape[2]\n",
}


def program(
    arrays: Mapping[str, tuple[str, int]], body: str, buffers: str = "", output: str = "None", layout: str = "C"
) -> Program:
    """A program over parameter arrays (name: dtype and rank), with further buffer lines and a body."""
    lines = f"program test({', '.join(arrays)}):\n"
    for name, (_, rank) in arrays.items():
        lines += HEADERS[rank].format(name)
    for name, (dtype, rank) in arrays.items():
        shape = ", ".join(f"{name}_{axis}" for axis in range(rank))
        lines += f"  param {name}: {dtype}[{shape}] {layout}\n" if rank else f"  param {name}: {dtype}\n"
    for line in buffers.strip().splitlines():
        lines += f"  {line.strip()}\n"
    lines += f"  output #0 = {output}\n\n"
    text = body.strip("\n")
    indent = len(text) - len(text.lstrip())
    for line in text.splitlines():
        lines += "  " + line[indent:] + "\n"
    lines += "  return #0\n"
    return parse(lines)


def lowered(before: Program, **options: object) -> Program:
    after = schedule.run(before, PassContext(Options(**options)))  # type: ignore[arg-type]
    verify(after, Stage.LOWERED)
    return after


def assert_same(
    before: Program, arguments: Mapping[str, object], after: Program | None = None, **options: object
) -> Program:
    """The lowered program gives what the original gives, in every order of parallel iterations."""
    after = lowered(before, **options) if after is None else after
    expected = copy.deepcopy(dict(arguments))
    result = interp.run(before, expected)
    for order in interp.ORDERS:
        actual = copy.deepcopy(dict(arguments))
        outcome = interp.run(after, actual, order=order)
        same(result, outcome)
        for name in arguments:
            same(expected[name], actual[name])
    return after


def same(expected: object, actual: object) -> None:
    if isinstance(expected, tuple):
        assert isinstance(actual, tuple) and len(expected) == len(actual)
        for left, right in zip(expected, actual):
            same(left, right)
    elif isinstance(expected, (np.ndarray, np.generic, float, complex)):
        assert type(expected) is type(actual)
        if np.asarray(expected).dtype.kind in "fc":
            np.testing.assert_allclose(np.asarray(actual), np.asarray(expected), rtol=1e-12, atol=1e-300)
        else:
            np.testing.assert_array_equal(np.asarray(actual), np.asarray(expected))
    else:
        assert expected == actual


def loops(program: Program, kind: LoopKind | None = None) -> list[Loop]:
    nodes: list[Node] = list(walk(program.body))
    return [node for node in nodes if isinstance(node, Loop) and (kind is None or node.kind is kind)]
