"""Each remedy that a reason gives, tried.  In: remedies.txt, a function that is refused, the remedy that is told, the
same function after it, which is native and gives Python's answer.  test_remedies.py has those about arguments.

    === name (backend)       "python": only the compiler of arrays is asked; "auto": that of plain Python, too
    reason: how it begins; remedy: a part of it; arguments: of the call; then: those after the remedy, if others
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from tests.support import function_from_source
from weft.runtime.toolchain import find


@dataclass(frozen=True)
class _Row:
    backend: str
    reason: str
    remedy: str
    arguments: str
    before: str
    after: str
    then: str


def _rows() -> dict[str, _Row]:
    found: dict[str, _Row] = {}
    text = (Path(__file__).parent / "remedies.txt").read_text(encoding="utf-8")
    for part in re.split(r"^=== ", text, flags=re.M)[1:]:
        head, before, after = re.split(r"^--- (?:before|after)\n", part, flags=re.M)
        title, *fields = head.splitlines()
        name, backend = re.fullmatch(r"(.*) \((\w+)\)", title).groups()
        given = dict(field.split(": ", 1) for field in fields)
        then = given.get("then", given["arguments"])
        told = (given["reason"], given["remedy"], given["arguments"])
        found[name] = _Row(backend, *told, before, after.rstrip() + "\n", then)
    return found


_ROWS = _rows()


@pytest.mark.parametrize("name", _ROWS)
def test_the_remedy_works(name: str) -> None:
    row = _ROWS[name]
    if row.backend == "auto" and find() is None:
        pytest.skip("no C compiler works here")
    before = function_from_source(row.before)
    refused: Any = weft.jit(before, backend=row.backend, cache=False)
    arguments = eval(row.arguments)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            made = refused(*arguments)
            if hasattr(made, "close"):
                made.close()
        except (TypeError, ValueError, IndexError, ImportError, NameError):
            pass  # plain Python raises here, too
    told = [str(one.message) for one in caught if issubclass(one.category, weft.FallbackWarning)]
    assert told, refused.explain().short()
    assert row.remedy in told[0].rpartition("try:")[2], told[0]
    place, _, text = told[0].partition(": runs as plain Python: ")
    assert text.startswith(row.reason)
    assert int(place.rpartition(":")[2]) >= before.__code__.co_firstlineno and " this " not in told[0]
    assert row.remedy in refused.explain().short()

    plain = function_from_source(row.after)
    after: Any = weft.jit(plain, backend=row.backend, cache=False, fallback="error")
    found, expected = after(*eval(row.then)), plain(*eval(row.then))
    assert after.signatures and type(found) is type(expected)
    if hasattr(found, "toarray"):
        found, expected = found.toarray(), expected.toarray()
    np.testing.assert_equal(found, expected)
