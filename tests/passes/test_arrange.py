"""The memory order of new arrays: which lie as what they are made of, and that their elements are the same."""

from __future__ import annotations

import numpy as np
import pytest

from tests.passes.lowering import program
from weft.ir import interp
from weft.ir.program import ArrayOut, Program, ViewOut
from weft.ir.text import parse, show
from weft.passes import PassContext, arrange

A = np.asfortranarray(np.arange(12.0).reshape(3, 4))
B = np.asfortranarray(np.cos(A))
BUFFERS = "local t: f64[a_0, a_1]\nresult c: f64[a_0, a_1]"
DOMAIN = "for i: 0 <= i < a_0, j: 0 <= j < a_1"


def made(*lines: str, layout: str = "F", ordered: str = "") -> Program:
    body = "alloc t\nalloc c\n" + "\n".join(line.replace("...", DOMAIN) for line in lines)
    return program({"a": ("f64", 2), "b": ("f64", 2)}, body, BUFFERS + ordered, "array c", layout)


def arranged(before: Program) -> set[str]:
    """The arrays in Fortran order; results are those of the program before."""
    after = arrange.run(before, PassContext())
    assert np.array_equal(*(interp.run(one, {"a": A.copy(order="K"), "b": B}) for one in (before, after)))
    after = parse(show(after))
    turned = {b.name for b in after.buffers if b.shape != before.table[b.name].shape}
    (out,) = after.results
    assert isinstance(out, ViewOut if "c" in turned else ArrayOut)
    return turned


FOLLOWING = [
    (("t[i, j] = a[i, j] + b[i, j]   ...", "c[i, j] = t[i, j] * a[i, j]   ..."), {"t", "c"}),
    (("t[i, j] = 1.0_f64   ...", "c[i, j] = a[i, j] * b[i, j]   ..."), {"c"}),
    # a result that is set in parts, or not by the elements of the same places, is in C order in NumPy too
    (("c[i, j] = 0.0_f64   ...", "c[i, j] = c[i, j] + a[i, j]   ..."), set()),
    (("t[i, j] = a[i, j] * b[i, j]   ...", "c[i, j] = t[a_0 - 1 - i, j]   ..."), set()),
]


@pytest.mark.parametrize(("lines", "turned"), FOLLOWING)
def test_arrays_lie_as_what_they_are_made_of(lines: tuple[str, ...], turned: set[str]) -> None:
    assert arranged(made(*lines)) == turned


def test_what_stays_in_c_order() -> None:
    copied = "c[i, j] = a[i, j] * 2.0_f64   ..."
    assert arranged(made(copied)) == {"c"}
    assert arranged(made(copied, ordered="\nordered c")) == set()  # the source asks for it
    other = program(
        {"a": ("f64", 2), "b": ("f64", 2)},
        f"alloc c\nc[i, j] = a[i, j] * 2.0_f64   {DOMAIN}",
        "result c: f64[a_0, a_1]",
        "array c",
    )
    assert arrange.run(other, PassContext()) is other
