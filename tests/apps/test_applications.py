"""The applications: each is native and gives what plain Python gives, and so do the ports it is compared with."""

from __future__ import annotations

import copy
import importlib.util
import shutil
from pathlib import Path

import pytest

import weft
from benchmarks.apps import textbook
from benchmarks.apps.registry import JULIA, NAMES, load, same
from benchmarks.apps.worker import PORTS, build_cython


@pytest.mark.parametrize("name", NAMES)
def test_native_application_equals_plain_python(name: str) -> None:
    application = load(name)
    compiled = weft.jit(fallback="error")(application.function)
    expected, actual = application.arguments("S"), application.arguments("S")
    value = application.function(*expected)
    for _ in range(2):
        given = copy.deepcopy(actual)
        result = compiled(*given)
        assert type(result) is type(value)
        assert same(result, value, application.tolerance)
        assert same(given, expected, application.tolerance)
    assert compiled.stats["python_calls"] == 0


@pytest.mark.skipif(shutil.which("gcc") is None, reason="textbook C needs gcc")
@pytest.mark.parametrize("name", JULIA)
def test_textbook_c_computes_the_same(name: str, tmp_path: Path) -> None:
    application = load(name)
    expected = application.arguments("S")
    given = textbook.staged(application.arguments("S"))
    value = textbook.build(name, tmp_path)(given)
    assert same(value, application.function(*expected), application.tolerance)
    assert all(same(one, other, 0.0) for one, other in zip(given, expected))


def test_numba_forms_compute_the_same() -> None:
    """In plain Python: how Numba compiles them is measured, not tested."""
    for name in NAMES:
        application = load(name)
        if application.numba_form is application.function:
            continue
        expected, actual = application.arguments("S"), application.arguments("S")
        value = application.function(*expected)
        assert same(application.numba_form(*actual), value, application.tolerance), name
        assert same(actual, expected, application.tolerance), name


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("Cython") is None, reason="Cython is not installed")
@pytest.mark.parametrize("name", sorted(path.stem for path in PORTS.glob("*.pyx")))
def test_cython_ports_compute_the_same(name: str, tmp_path: Path) -> None:
    application = load(name)
    expected, actual = application.arguments("S"), application.arguments("S")
    value = application.function(*expected)
    assert same(getattr(build_cython(PORTS / f"{name}.pyx", tmp_path), name)(*actual), value, application.tolerance)
    assert same(actual, expected, application.tolerance)


def test_every_application_has_every_size() -> None:
    assert set(textbook.RESULTS) == set(JULIA) == {path.stem for path in textbook.SOURCES.glob("*.c")}
    assert all(set(load(name).sizes) == {"S", "M", "L"} for name in NAMES)
