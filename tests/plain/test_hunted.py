"""What random programs have found in the compiler of plain Python (see tests/hunt), by class."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

import weft
from tests.hunt.case import Case
from tests.hunt.modes import Mode, expected_of, judge
from weft.options import Stress
from weft.plain.function import Native
from weft.plain.runtime import last, load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")

SETS = """
def f(n):
    one = list({0, (0, 1), (2, 2)})
    other = [item for item in {(5, 1), (0, 1), (2, 2), (1, 9)}]
    return one, other, list({7, 15, 1}), list({16, 0, 8, n}), list({-1, -2, 2 + 3})
"""

OBJECTS = """
class Base:
    def __init__(self, x):
        self.x = x
        self.more()
    def more(self):
        self.items = [1]
class Derived(Base):
    def __init__(self, x):
        self.before = 1
        super().__init__(x)
        self.after = 2
def f(n):
    made = Derived(n)
    made.items = made.items
    if n > 3:
        made.first = 1
    made.second = 2
    made.first = 3
    if n == 9:
        del made.x
        made.x = 4
    return made
"""


@pytest.mark.parametrize("source", [SETS, OBJECTS], ids=["order of sets", "order of attributes"])
def test_the_same_answer(source):
    case = Case(source, ("return (1,)", "return (5,)", "return (9,)"))
    verdict = judge(case, Mode("plain"), expected_of(case)[0])
    assert not verdict.kind, f"{verdict.kind}: {verdict.text}"
    assert verdict.native


def test_the_order_of_a_set_from_a_compiled_file(tmp_path: Path, monkeypatch):
    """A frozenset from a .pyc file may have another order than the one that the compiler made."""
    (tmp_path / "kept_in_a_file.py").write_text("def f():\n    return list({7, 15, 1}), list({23, 7, 15, 31})\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for _ in range(2):
        sys.modules.pop("kept_in_a_file", None)
        importlib.invalidate_caches()
        function = importlib.import_module("kept_in_a_file").f
        native = Native(function)
        version = native.extend(())
        assert native() == function()
        assert last(version.call).deopts == 0
    sys.modules.pop("kept_in_a_file", None)


@pytest.mark.parametrize("number", [0, 3, 9])
def test_a_call_may_stop_at_any_statement(number):
    """Whatever was changed until then, Python finds the arguments as they were."""
    source = """
LOG = []
def f(rows, table, q):
    rows[0].append(q)
    rows.append(rows[0])
    table['n'] = table.get('n', 0) + 1
    LOG.append(len(rows))
    del rows[1:2]
    q += 1
    return rows, table, q, LOG
"""
    case = Case(source, ("x = [1]\nreturn ([x, x], {'a': x}, 2)",) * 2)
    verdict = judge(case, Mode("plain", stress=Stress(deoptimise=number), collect=1), expected_of(case)[0])
    assert not verdict.kind, f"{verdict.kind}: {verdict.text}"


EXCEPTIONS = """
class Problem(Exception):
    pass
class Worded(Exception):
    def __str__(self):
        return 'own'
class Inherits(Worded):
    pass
def f(n):
    found = []
    for k in range(5):
        try:
            if k == 0:
                raise Problem
            elif k == 1:
                raise Problem(n)
            elif k == 2:
                raise Problem(n, 'a')
            elif k == 3:
                raise ValueError('x')
        except Exception as problem:
            found.append((repr(problem), str(problem), f'{problem!r}'))
    return found
def g(n):
    try:
        raise Inherits(n)
    except Inherits as problem:
        return str(problem)
"""


def test_the_texts_of_exceptions():
    case = Case(EXCEPTIONS, ("return (1,)",))
    verdict = judge(case, Mode("plain"), expected_of(case)[0])
    assert not verdict.kind and verdict.native, f"{verdict.kind}: {verdict.text} {verdict.refusal}"
    function = case.function().__globals__["g"]
    native = Native(function)
    native.extend((1,))
    assert native(1) == function(1) == "own"


def test_an_argument_that_is_nested_deeply_is_refused():
    nested = [1]
    for _ in range(5000):
        nested = [nested]

    def f(rows):
        return rows, len(rows)

    with pytest.raises(weft.Unsupported, match="nested too deeply"):
        Native(f).extend((nested,))


def test_exceptions_that_read_their_arguments():
    """OSError(2, "x") is a FileNotFoundError, UnicodeDecodeError("x") a TypeError."""
    for made in ("OSError(2, 'x')", "UnicodeDecodeError('x')", "OSError('x')", "OSError()"):
        source = f"def f(n):\n    try:\n        raise {made}\n    except Exception as problem:\n"
        case = Case(source + "        return type(problem).__name__\n", ("return (1,)",))
        verdict = judge(case, Mode("plain"), expected_of(case)[0])
        assert not verdict.kind, f"{verdict.kind}: {verdict.text}"
