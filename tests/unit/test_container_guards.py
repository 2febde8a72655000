"""Guards of containers: what the two dispatchers take and refuse, what a kernel sees of them, what is copied out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.unit.dispatching import BASES, F64, accepts, kernel_function, native, read_only
from weft.runtime import containers, dispatch, templates
from weft.runtime.descriptor import ArrayParam, ContainerParam, ListParam, ScalarResult, result_base

ROW = [1, 2]

CASES = [
    ("[[i]]", [[1], [2, 3], []], True),
    ("[[i]]", [], True),
    ("[[i]]", [[], []], True),
    ("[[i]]", [[1], [2.0]], False),
    ("[[i]]", [[1], [True]], False),
    ("[[i]]", [[1], [2**63]], False),
    ("[[i]]", [[1], (2,)], False),
    ("[[i]]", [[1], None], False),
    ("[[i]]", ([1], [2]), False),
    ("[[i]]", [ROW, ROW], True),
    ("[[b]]", [[True], [0]], False),
    ("[(if)]", [(1, 2.0), (-1, 0.0)], True),
    ("[(if)]", [(1, 2.0), (1, 2.0, 3)], False),
    ("[(if)]", [(1, 2.0), (1,)], False),
    ("[(if)]", [(1, 2.0), (1, 2)], False),
    ("[(if)]", [(1, 2.0), [1, 2.0]], False),
    ("[(i(ff))]", [(1, (2.0, 3.0))], True),
    ("[(i(ff))]", [(1, (2.0,))], False),
    ("[[(ic)]]", [[(1, 2j)], []], True),
    ("{i:f}", {1: 2.0}, True),
    ("{i:f}", {}, True),
    ("{i:f}", {1: 2.0, True + 1: 3}, False),
    ("{i:f}", {1: 2.0, "a": 3.0}, False),
    ("{i:f}", [1], False),
    ("{(ii):(if)}", {(1, 2): (3, 4.0)}, True),
    ("{i}", {1, 2}, True),
    ("{i}", {1, 2.5}, False),
    ("{i}", frozenset({1}), False),
    (f"<{F64}:1>", [np.ones(2), np.ones(2)], True),
    (f"<{F64}:1>", [np.ones(2), np.ones(3)], False),
    (f"<{F64}:1>", [], False),
    (f"<<{F64}:1>>", [np.ones(2), np.ones(3)[::2]], True),
    (f"<<{F64}:1>>", [np.ones(2), np.ones((3, 1))], False),
    (f"<<{F64}:1>>", [np.ones(2), np.ones(2, np.float32)], False),
    (f"<<{F64}:1>>", [np.ones(2), np.ones(2, ">f8")], False),
    (f"<<{F64}:1>>", [np.ones(2), [1.0]], False),
    (f"<<{F64}:1>>", [np.ones(2), np.frombuffer(b"0" * 17, np.uint8)[1:].view(np.float64)], False),
]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("template", "value", "expected"), CASES, ids=repr)
def test_guards(base: Any, template: str, value: Any, expected: bool) -> None:
    assert accepts(base, (ContainerParam(template),), value) is expected


@pytest.mark.parametrize("base", BASES)
def test_what_is_written_is_reached_once(base: Any) -> None:
    rows, written, changed = (
        ContainerParam("[[i]]"),
        ContainerParam("[[i]]", True),
        ContainerParam("[[i]]", changed=True),
    )
    plain = ListParam("int")
    assert not accepts(base, (written,), [ROW, ROW]) and not accepts(base, (changed,), [ROW, ROW])
    assert accepts(base, (rows, rows), [ROW], [ROW]) and not accepts(base, (rows, written), [ROW], [ROW])
    assert not accepts(base, (plain, written), ROW, [[1], ROW]) and accepts(base, (plain, written), ROW, [[1], [1]])
    table, items = {1: 2.0}, {1}
    entries, put = ContainerParam("{i:f}"), ContainerParam("{i:f}", changed=True)
    assert accepts(base, (entries, entries), table, table) and not accepts(base, (entries, put), table, table)
    assert not accepts(base, (ContainerParam("{i}"), ContainerParam("{i}", changed=True)), items, items)


@pytest.mark.parametrize("base", BASES)
def test_arrays_in_lists_share_nothing_with_what_is_written(base: Any) -> None:
    read, written = ContainerParam(f"<<{F64}:1>>"), ContainerParam(f"<<{F64}:1>>", True)
    plain, out = ArrayParam(F64, 1), ArrayParam(F64, 1, written=True)
    a, b = np.ones(6), np.ones(6)
    assert accepts(base, (read,), [a, a]) and not accepts(base, (written,), [a, a])
    assert accepts(base, (written,), [a[:3], a[3:]]) and not accepts(base, (written,), [a[:4], a[3:]])
    assert not accepts(base, (written,), [a, read_only(np.ones(2))])
    assert accepts(base, (read, plain), [a], a) and not accepts(base, (read, out), [a], a)
    assert accepts(base, (read, out), [a, a], b) and not accepts(base, (read, out), [b[:0], b[5:]], b[::-1])
    assert not accepts(base, (written, read), [a], [a])


@pytest.mark.parametrize(
    "template", ["", "[]", "[x]", "[(i]", "[[i]", "{i:}", "[i:f]", "[ii]", "[()]", "<12:0>", "<99:1>", "<<12:2>>"]
)
def test_templates_that_are_none(template: str) -> None:
    with pytest.raises(ValueError, match="not a"):
        templates.words(template)


def test_too_many_columns() -> None:
    with pytest.raises(ValueError, match="columns"):
        templates.parsed("[(" + "i" * 17 + ")]")


@native
def test_what_a_kernel_sees() -> None:
    body = """int64_t *s = (int64_t *)w[8], *v = (int64_t *)w[11];
        w[B] = 1000 * w[9] + 100 * w[12] + 10 * s[1] + v[2]; return 0;"""
    params = (ContainerParam("[[i]]"),)
    function = kernel_function(body, params, ScalarResult("int", result_base(params)))
    assert function([[4], [5, 6], []]) == 4000 + 300 + 10 + 6
    body = "int64_t *k = (int64_t *)w[8]; double *v = (double *)w[11]; w[B] = k[1] * 10 + (int64_t)v[0]; return 0;"
    params = (ContainerParam("{i:f}"),)
    assert kernel_function(body, params, ScalarResult("int", result_base(params)))({7: 1.0, 3: 2.0}) == 31


@native
def test_what_is_copied_out() -> None:
    body = "((int64_t *)w[11])[2] = 9; ((double *)w[14])[0] = -0.0; return 0;"
    function = kernel_function(body, (ContainerParam("[[(if)]]", written=True),))
    kept = (2, 0.5)
    rows: list[Any] = [[(1, 0.0)], [kept, (3, 1.5)]]
    first, second = rows
    function(rows)
    assert rows == [[(1, 0.0)], [(2, 0.5), (9, 1.5)]] and str(rows[0][0][1]) == "-0.0"
    assert rows[0] is first and rows[1] is second and second[0] is kept
    stack = [np.ones((2, 2))[:, ::-1], np.ones((2, 2)).T]
    kernel_function("((double *)w[8])[1] = 5; return 0;", (ContainerParam(f"<{F64}:2>", written=True),))(stack)
    assert stack[0].tolist() == [[1.0, 5.0], [1.0, 1.0]] and stack[1].tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("core", [True, False])
def test_what_results_change(core: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not core:
        monkeypatch.setattr(containers, "_core", lambda: None)
    elif dispatch.load_core() is None:
        pytest.skip("the native core cannot be built here")
    kept = 1000.5
    for before, after in (([kept, 2.0], [1000.5, 3.0, 4.0]), ([kept, 2.0, 3.0], [1000.5]), ([], [1.0]), ([1.0], [])):
        items = list(before)
        assert containers.changed_list("result", items, "[f]", np.array(after)) == "result"
        assert items == after and all(type(item) is float for item in items)
        assert not (before and after) or items[0] is kept
    for before, after in (
        ({1: 2.0, 3: 4.0}, {1: 2.0, 3: 5.0, 2: 1.0}),
        ({1: 2.0, 3: 4.0, 5: 6.0}, {1: 2.0, 5: 6.0}),
        ({1: 2.0, 3: 4.0}, {3: 4.0, 1: 2.0}),
        ({}, {1: -0.0}),
        ({1: 0.0}, {}),
    ):
        table = dict(before)
        containers.changed_dict(
            None, table, "{i:f}", np.array([*after], dtype=int), np.array([*after.values()], dtype=float)
        )
        assert list(table.items()) == list(after.items()) and str(table) == str(after)
