"""The PolyBench kernels: every form is native and gives what plain Python gives, the forms are the same mathematics,
and the textbook C that they are compared with computes that too.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import weft
from benchmarks.kernels.registry import agree, copies
from benchmarks.polybench import compare, textbook
from benchmarks.polybench.registry import FORMS, LISTS, NAMES, OPERATORS, load, nested
from benchmarks.polybench.schedule import signature
from tests.support import same_as_plain


def _given(name: str, form: str) -> tuple[Any, ...]:
    arguments = load(name).arguments("S")
    return tuple(nested(value) for value in arguments) if form == LISTS else arguments


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", NAMES)
def test_native_form_equals_plain_python(name: str, form: str) -> None:
    kernel = load(name)
    compiled = weft.jit(fallback="error")(kernel.forms[form])
    same_as_plain(compiled, kernel.forms[form], lambda: _given(name, form), kernel.tolerance)
    assert compiled.stats["python_calls"] == 0


@pytest.mark.parametrize("name", NAMES)
def test_forms_are_the_same_mathematics(name: str) -> None:
    kernel = load(name)
    expected = _given(name, OPERATORS)
    value = kernel.forms[OPERATORS](*expected)
    for form in FORMS:
        actual = _given(name, form)
        assert agree((kernel.forms[form](*actual), actual), (value, expected), kernel.tolerance), form


@pytest.mark.skipif(shutil.which("gcc") is None, reason="textbook C needs gcc")
@pytest.mark.parametrize("name", NAMES)
def test_textbook_c_is_the_same_mathematics(name: str, tmp_path: Path) -> None:
    kernel = load(name)
    expected = kernel.arguments("S")
    actual = copies(expected)
    value = kernel.forms[OPERATORS](*expected)
    returned = textbook.results(kernel.shapes("S"), actual)
    textbook.build(name, tmp_path, parallel=True)(kernel.sizes["S"], *actual, *returned)
    wanted = () if value is None else value if isinstance(value, tuple) else (value,)
    assert agree((returned, actual), (wanted, expected), kernel.tolerance)


def test_every_kernel_has_a_file_in_c_and_every_size() -> None:
    assert len(NAMES) == 30 and {path.stem for path in textbook.SOURCES.glob("*.c")} == set(NAMES)
    for name in NAMES:
        assert set(load(name).sizes) == {"S", "M", "L"}
        assert load(name).work("L") > load(name).work("M")


def test_schedules_are_compared_apart_from_names_and_arithmetic() -> None:
    kernel = load("gemm")
    found = {}
    for form in FORMS:
        compiled = weft.jit(fallback="error", cache=False)(kernel.forms[form])
        compiled(*_given("gemm", form))
        found[form] = signature(compiled._pick(None).program_lowered, kernel.arguments("S"))
    assert found["lists"] == found["loops"] and "call gemm" in found["operators"]
    assert "parallel i" in found["loops"] and "work" not in found["loops"]


@pytest.mark.parametrize("name", NAMES)
def test_forms_become_one_schedule(name: str) -> None:
    found = compare.schedules(name)
    differences = {form: compare.first_difference(found[LISTS], found[form]) for form in FORMS}
    if name in compare.DIFFERENT:
        assert any(differences.values()), "no longer different: take it out of the exceptions"
    else:
        assert not any(differences.values()), differences
