"""Explain: states of lines are read off the lowered program; text, JSON and HTML say the same."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import weft
from weft.errors import Span
from weft.ir.program import Call, Loop, LoopKind, Program, Return, Stmt
from weft.ir.text import parse
from weft.passes import Remark
from weft.report import FunctionSource, explain
from weft.report.explain import c_by_line
from weft.report.html import page

SOURCE = FunctionSource(
    "step",
    "heat.py",
    10,
    """def step(a, b, c):
    # a comment
    t = a * 2.0
    for i in range(5):
        b[:] = t + 1.0
        c[:] = b - t
    print(len(a))
    return c
""",
)

BUILT = """
program step(a, b, c):
  size n = a.shape[0]
  param a: f64[n] C
  param b: f64[n] C
  param c: f64[n] C
  local t: f64[n]
  output #0 = array c
  guard n > 3 else ValueError "short"
  disjoint b, a
  alloc t
  t[x] = a[x] * 2.0_f64   for x: 0 <= x < n
  for i in 0 .. 5:
    b[y] = t[y] + 1.0_f64   for y: 0 <= y < n
    c[z] = b[z] - t[z]   for z: 0 <= z < n
  return #0
"""

LOWERED = """
program step(a, b, c):
  size n = a.shape[0]
  param a: f64[n] C
  param b: f64[n] C
  param c: f64[n] C
  output #0 = array c
  guard n > 3 else ValueError "short"
  disjoint b, a
  for i in 0 .. 5:
    parallel p in 0 .. n:
      b[p] = a[p] * 2.0_f64 + 1.0_f64
      c[p] = b[p] - a[p] * 2.0_f64
  return #0
"""


def span(line):
    return Span("heat.py", line, 4, line, 20)


@dataclass(frozen=True)
class Compiled:
    signature: str = "f64[:], f64[:], f64[:]"
    program_built: Program | None = None
    program_optimised: Program | None = None
    program_lowered: Program | None = None
    c_source: str | None = "void f(void) {}\n"
    remarks: tuple[Remark, ...] = ()
    seconds: dict[str, float] = field(default_factory=lambda: {"frontend": 0.004, "cc": 0.12})
    fallbacks: tuple[tuple[Span, str, str], ...] = ()


def placed(program, lines):
    """The program with the statements, in program order, at the given source lines."""
    remaining = iter(lines)

    def visit(node):
        if isinstance(node, Loop):
            node = replace(node, span=span(next(remaining)))
            return replace(node, body=tuple(visit(inner) for inner in node.body))
        return replace(node, span=span(next(remaining)))

    return replace(program, body=tuple(visit(node) for node in program.body))


@pytest.fixture
def explanation():
    built = placed(parse(BUILT), [12, 12, 13, 14, 15, 17])
    lowered = placed(parse(LOWERED), [13, 14, 14, 15, 17])
    compiled = Compiled(
        program_built=built,
        program_optimised=built,
        program_lowered=lowered,
        c_source="void f(void) {\n  /* heat.py:14 */\n  b[p] = a[p] * 2.0 + 1.0;\n  /* heat.py:15 */\n  c[p] = 1;\n}\n",
        remarks=(Remark(span(14), "tile", "the array is small", "missed", "nothing to do"),),
        fallbacks=((span(16), "a call of print", "move it out of the function"),),
    )
    return explain([compiled], SOURCE)


def line(explanation, number):
    return next(item for item in explanation.lines if item.number == number)


def test_states_come_from_the_loops_around_a_line(explanation):
    assert line(explanation, 14).state == "native" and line(explanation, 14).traits == ("parallel",)
    assert line(explanation, 14).fused_with == (15,) and line(explanation, 15).fused_with == (14,)
    assert line(explanation, 16).state == "python"
    assert line(explanation, 12).traits == ("merged into its uses",)
    assert line(explanation, 11).state == line(explanation, 10).state == "none"


def test_a_loop_of_the_user_is_not_fusion():
    """Two array statements in one Python loop share that loop, but no loop that the compiler made."""
    text = LOWERED.replace("      c[p]", "    parallel q in 0 .. n:\n      c[p]").replace("c[p] = b[p]", "c[q] = b[q]")
    text = text.replace("- a[p]", "- a[q]")
    compiled = Compiled(
        program_optimised=parse(BUILT),
        program_lowered=placed(parse(text), [13, 14, 14, 15, 15, 17]),
    )
    found = explain([compiled], SOURCE)
    assert line(found, 14).traits == ("parallel",) and line(found, 14).fused_with == ()


def test_library_calls_are_named():
    lowered = placed(parse(LOWERED), [13, 14, 14, 15, 17])
    stmt = next(node for node in lowered.body[0].body[0].body if isinstance(node, Stmt))
    body = (Call("gemm", replace(stmt, span=span(14)), (), span=span(14)), Return(0))
    found = explain([Compiled(program_lowered=replace(lowered, body=body))], SOURCE)
    assert line(found, 14).traits == ("gemm",)


def test_vector_loops_are_named():
    lowered = parse(LOWERED.replace("parallel p", "vector p"))
    found = explain([Compiled(program_lowered=placed(lowered, [13, 14, 14, 15, 17]))], SOURCE)
    assert line(found, 15).traits == ("vectorised",)
    assert LoopKind.VECTOR in {node.kind for node in lowered.body[0].body if isinstance(node, Loop)}


def test_text_says_why_and_what_to_do(explanation):
    text = str(explanation)
    assert "parallel" in text and "one loop with line 15" in text
    assert "left to Python: a call of print; try: move it out of the function" in text
    assert "not done: the array is small" in text
    assert "if a.shape[0] >= 4" in text and "b and a share no memory" in text
    assert "compiled in 124 ms (frontend 4, cc 120)" in text


def test_json_is_plain_and_complete(explanation):
    data = json.loads(json.dumps(explanation.to_json()))
    assert [item["line"] for item in data["lines"]] == list(range(10, 18))
    assert data["lines"][4]["traits"] == ["parallel"] and data["versions"][0]["backend"] == "c"
    assert data["versions"][0]["seconds"]["cc"] == pytest.approx(0.12)


def test_c_of_a_line(explanation):
    assert line(explanation, 14).c == ("b[p] = a[p] * 2.0 + 1.0;",)
    assert c_by_line("/* other.py:14 */\nx = 1;\n", "heat.py") == {}


class Balanced(HTMLParser):
    """Fails on a tag closed out of order."""

    void = {"meta", "br"}

    def __init__(self):
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        assert "src" not in dict(attrs) and str(dict(attrs).get("href", "#")).startswith("#")
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_one_well_formed_page(explanation):
    text = page([explanation], "<heat & co>")
    parser = Balanced()
    parser.feed(text)
    assert parser.open == [] and "script" not in parser.seen
    assert "&lt;heat &amp; co&gt;" in text and 'class="row parallel"' in text and 'class="row python"' in text


def test_a_function_not_compiled_says_so():
    found = explain([], SOURCE)
    assert "not compiled yet" in str(found) and all(item.state == "none" for item in found.lines)


def test_without_a_compiler_no_line_is_called_native() -> None:
    """The Python back end has neither threads nor vector lanes, whatever the passes have found."""

    def halves(a: Any) -> Any:
        return a / 2

    compiled = weft.jit(halves, backend="python", cache=False)
    compiled(np.arange(4.0))
    found = compiled.explain()
    assert "generated Python, no machine code: 1 version, 1 call" in found.short()
    assert repr(found) == found.short()  # what a prompt shows
    assert {each.traits for each in found.lines if each.state == "native"} == {("generated Python",)}
