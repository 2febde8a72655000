"""Integers written out as expressions are computed while compiling, as CPython does, whatever is between."""

from __future__ import annotations

import numpy as np
import pytest

import weft

MASKED = [
    "14695981039346656037 & 0xFFFFFFFF",
    "0xFFFFFFFFFFFFFFFF >> 1",
    "2**63 - 1",
    "-(2**63)",
    "(1 << 70) // 3 % 1000",
    "(1 << 64 | 5) ^ (1 << 64)",
    "7 - 2**3 * 2",
]


@pytest.mark.parametrize("text", MASKED)
def test_only_the_value_must_fit(text, tmp_path):
    source = f"def f(a):\n  s = 0\n  for i in range(a.size):\n    s += ({text}) % (i + 7)\n  return s, {text}\n"
    path = tmp_path / "written.py"
    path.write_text(source)
    namespace: dict[str, object] = {}
    exec(compile(source, str(path), "exec"), namespace)
    function = namespace["f"]
    given = np.zeros(20)
    assert weft.jit(fallback="error")(function)(given) == function(given)


@pytest.mark.parametrize("text", ["1 // 0", "1 << -1", "2 ** -1", "1 % 0"])
def test_what_raises_or_is_no_integer_stays_python(text, tmp_path):
    source = f"def f(a):\n    if a.size > 3:\n        return {text}\n    return a.sum()\n"
    path = tmp_path / "written.py"
    path.write_text(source)
    namespace: dict[str, object] = {}
    exec(compile(source, str(path), "exec"), namespace)
    function, compiled = namespace["f"], weft.jit(namespace["f"])
    for size in (2, 5):
        try:
            expected = function(np.ones(size))
        except Exception as error:
            with pytest.raises(type(error)):
                compiled(np.ones(size))
        else:
            assert compiled(np.ones(size)) == expected
