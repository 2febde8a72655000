"""What a C compiler is spared: loops that need less of it are recognised, and a unit is cut where both parts take about
as long."""

from __future__ import annotations

import pytest

from tests.unit.codegen import lowered
from weft.codegen import c, c_parts
from weft.codegen import syntax as C
from weft.options import Options

COUNTED = """
program f(x, n):
  symbol n = argument n
  size x_0 = x.shape[0]
  param x: f64[x_0]
  local r: float
  output #0 = scalar r
  r = 0.0
  if n > 3:
    r = 1.0
  for i in 0 .. x_0:
{body}
  return #0
"""


@pytest.mark.parametrize(
    ("body", "straight"),
    [
        ("    r = r + float(x[i])", True),
        ("    if n > 3:\n      for j in 0 .. n:\n        r = r + float(x[i])", True),
        ("    if x[i] > 0.5_f64:\n      r = r + 1.0", False),
        ("    if x[i] > 0.5_f64:\n      for j in 0 .. n:\n        r = r + 1.0\n    else:\n      r = 2.0", False),
        ("    if r > 2.0:\n      break\n    r = r + 1.0", False),
        ("    while r < float(x[i]):\n      r = r + 1.0", False),
    ],
)
def test_straight_loops_count_and_do_not_branch(body, straight):
    assert c.generate(lowered(COUNTED.format(body=body)), Options()).straight is straight


def test_parts_of_a_unit_take_about_as_long():
    """Loops are what takes time: long text without any weighs less than short text with many."""

    def function(name, loops, assignments):
        single = C.Assign(C.Name("x"), C.Number("1"))
        block = (single,)
        for _ in range(loops):
            block = (C.For("i", C.Number("0"), C.Name("n"), 1, block),)
        return C.Function(f"static void {name}(void)", (*block, *(single for _ in range(assignments))))

    bodies = [function("many_loops", 12, 0), function("long_text", 0, 1200), function("some_loops", 7, 0)]
    kernel = C.Function("i64 kernel(void)", (C.Assign(C.Name("x"), C.Number("1")),))
    code, definitions = c_parts.halves(bodies, kernel)
    assert len(definitions) == 2
    first, second = C.print_unit(code).split("#if K_PART != 2")[1].split("#if K_PART != 1")
    assert "many_loops(void) {" in first
    assert "long_text(void) {" in second and "some_loops(void) {" in second and "kernel" in second
