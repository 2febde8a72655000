"""Code in which nothing repeats and that has no arrays is not compiled around a statement that stays Python."""

from __future__ import annotations

import numpy as np
import pytest

import weft
import weft.pipeline


def record(row):
    name = row["name"].strip().lower()
    first, _, last = name.partition(" ")
    total = float(row["price"]) * int(row["count"]) + len(name)
    made = type("Row", (), {}).__name__
    key = "-".join([last, first, str(int(total))])
    return {"key": key, "total": round(total * 1.19 + len(key), 2), "made": made}


def ratio(d):
    a = d["a"] * 2.0 + d["b"]
    b = d["b"] - a * a + abs(a)
    made = type("Row", (), {}).__name__
    e = a * a + b * a - d["a"] * 3.0
    return e * b + max(a, e), made


def filled(d, n):
    total = 0.0
    for i in range(n):
        total += i * d["a"]
    made = type("Row", (), {}).__name__
    return total, made


def summed(n):
    total = 0.0
    for i in range(n):
        total += i * 0.5
    return total


def calling(n, text):
    a = summed(n) + summed(n + 1) - summed(n + 2) * summed(3)
    made = type(text, (), {}).__name__
    return a, made


def whole_arrays(a, b):
    c = a * 2.0 + b * b - a
    made = type("Row", (), {}).__name__
    d = c * c + b * a - b / 2.0
    return c, d, made


def numeric(a, b):
    return a * 2.0 + b * b - a


def naming(x):
    a = x * 2.0 + x * x - 1.0
    b = a * a + x * a - 2.0
    print(end="")
    names = sorted(locals())
    c = a * b + x * b - 3.0
    return c, names, sorted(vars())


@pytest.fixture
def asked(monkeypatch):
    """The functions that the compiler of arrays was asked for."""
    found = []
    compile_for = weft.pipeline.compile_for

    def noting(source, *rest):
        found.append(source.name)
        return compile_for(source, *rest)

    monkeypatch.setattr(weft.pipeline, "compile_for", noting)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (record, ({"name": "Ada Lovelace", "price": "12.5", "count": "3"},)),
        (ratio, ({"a": 1.5, "b": 2.5},)),
    ],
)
def test_straight_line_code_over_dicts_stays_python(asked, function, arguments):
    compiled = weft.jit(function, cache=False)
    for _ in range(3):
        assert compiled(*arguments) == function(*arguments)
    assert asked == []
    assert not compiled.signatures and not compiled._regions
    assert "a call of `type`" in str(compiled.explain())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (filled, ({"a": 1.5}, 50)),
        (calling, (50, "Row")),
        (whole_arrays, (np.arange(5.0), np.ones(5))),
    ],
)
def test_loops_and_whole_arrays_are_compiled_around_it(asked, function, arguments):
    compiled = weft.jit(function, cache=False)
    for _ in range(3):
        assert str(compiled(*arguments)) == str(function(*arguments))
    assert asked
    assert any(region.signatures for region in compiled._regions)


def test_straight_line_code_over_arrays_and_numbers_is_compiled():
    for arguments in ((np.arange(5.0), np.ones(5)), (1.5, 2)):
        compiled = weft.jit(numeric, cache=False)
        assert np.array_equal(compiled(*arguments), numeric(*arguments))
        assert len(compiled.signatures) == 1


@pytest.mark.filterwarnings("ignore")
def test_arrays_are_compiled_after_a_dict_was_refused():
    compiled = weft.jit(whole_arrays, cache=False)
    with pytest.raises(TypeError):
        compiled({"a": 1}, {"b": 2})
    arguments = (np.arange(5.0), np.ones(5))
    assert str(compiled(*arguments)) == str(whole_arrays(*arguments))
    assert any(region.signatures for region in compiled._regions)


@pytest.mark.filterwarnings("ignore")
def test_what_sees_variables_by_name_sees_them_all():
    compiled = weft.jit(naming, cache=False)
    for value in (1.5, np.arange(3.0)):
        for _ in range(2):
            assert str(compiled(value)) == str(naming(value))
