"""Where rank-0 locals are declared: as deep as no value is carried past the declaration."""

from __future__ import annotations

import pytest

from weft.analysis.scopes import declarations, exchanged
from weft.ir.text import parse

HEAD = """
program f(n):
  symbol n = argument n
  local s: int
  local c: int
  local a: f64[n]
  local b: f64[n]
  output #0 = scalar c

"""


def places(body: str) -> dict[str, tuple[int, ...]]:
    return {name: path for path, names in declarations(parse(HEAD + body)).items() for name in names}


@pytest.mark.parametrize(
    "body, path",
    [
        ("  for i in 0 .. n:\n    s = i\n    c = s\n", (0, 0)),
        ("  s = 0\n  for i in 0 .. n:\n    s = s + i\n  c = s\n", ()),
        ("  for i in 0 .. n:\n    c = s\n    s = i\n", ()),  # read before written: carried
        ("  for i in 0 .. n:\n    for j in 0 .. n:\n      s = j\n      c = s\n", (0, 0, 0, 0)),
        ("  for i in 0 .. n:\n    if i > 2:\n      s = i\n    c = s\n", ()),  # written on one path only
        ("  for i in 0 .. n:\n    if i > 2:\n      s = i\n    else:\n      s = 0\n    c = s\n", (0, 0)),
        ("  for i in 0 .. n:\n    if i > 2:\n      s = i\n      c = s\n", (0, 0, 0, 0)),
        ("  for i in 0 .. n:\n    for j in 0 .. n:\n      s = j\n    c = s\n", ()),  # the inner loop may not run
        ("  for i in 0 .. n:\n    if i > 2:\n      continue\n    s = i\n    c = s\n", (0, 0)),
        ("  parallel i in 0 .. n:\n    for j in 0 .. n:\n      s = j\n      a[i] = f64(s)\n", (0, 0, 0, 0)),
        ("  if n > 2:\n    s = 1\n    c = s\n", (0, 0)),
        ("  while n > 2:\n    s = 1\n    c = s\n", (0, 1)),
        ("  prelude:\n    s = 1\n  while s > 2:\n    c = s\n", ()),
    ],
)
def test_declaration(body, path):
    if "a[i]" in body:
        body = "  alloc a\n" + body
        path = (path[0] + 1, *path[1:])
    assert places(body + "  return #0\n")["s"] == path


def test_a_returned_scalar_lives_where_it_is_returned():
    found = places("  for i in 0 .. n:\n    c = i\n    if c > 3:\n      return #0\n  c = 0\n  return #0\n")
    assert found["c"] == ()


def test_exchange_classes_are_closed():
    body = "  alloc a\n  alloc b\n  rebind a, b = b, a\n  c = 0\n  return #0\n"
    assert exchanged(parse(HEAD + body)) == {"a": frozenset("ab"), "b": frozenset("ab")}
