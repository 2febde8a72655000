"""`weft doctor`: it names what there is, what is missing and what to do, and never fails itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from weft.runtime import doctor
from weft.runtime import toolchain as toolchain_module
from weft.runtime.doctor import Fact, facts


def _about(topic: str) -> list[Fact]:
    return [fact for fact in facts() if fact.topic == topic]


@pytest.mark.native
def test_a_working_machine_has_nothing_bad() -> None:
    found = facts()
    assert [fact for fact in found if fact.status == "bad"] == []
    topics = ["weft", "python", "numpy", "compiler", "core", "cpu", "threads", "blas", "machine", "cache"]
    topics += ["compiling", "bytecode", "isl", "extras", "settings"]
    assert list(dict.fromkeys(fact.topic for fact in found)) == topics
    assert sum("used (from" in fact.text for fact in found) == 1


def test_without_a_compiler_it_says_what_to_install(
    private_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolchain_module, "_zig", lambda: None)
    last = _about("compiler")[-1]
    assert last.status == "bad" and "weft[zig]" in last.remedy


def test_an_unwritable_cache_is_bad(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("WEFT_CACHE_DIR", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(doctor, "examine", lambda: ())
    (fact,) = _about("cache")
    assert fact.status == "bad" and "WEFT_CACHE_DIR" in fact.remedy


@pytest.mark.native
def test_it_says_why_first_calls_are_slow(private_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_SLOW_COMPILER", 1e9)
    (kept,) = _about("compiling")
    assert kept.status == "good" and "C compiler" in kept.text and "kept" in kept.text
    monkeypatch.setenv("WEFT_CACHE", "0")
    (again,) = _about("compiling")
    assert again.status == "note" and "every process compiles again" in again.text and "WEFT_CACHE" in again.remedy
    monkeypatch.setattr(doctor, "_SLOW_COMPILER", 0.0)
    (slow,) = _about("compiling")
    assert slow.status == "note" and "the compiler is slow" in slow.text and slow.remedy


def test_it_says_when_python_compiles_weft_itself_in_every_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "cache_from_source", lambda source: str(tmp_path / Path(source).name))
    monkeypatch.setattr(doctor.sys, "dont_write_bytecode", False)
    (later,) = _about("bytecode")
    assert later.status == "good" and "first imported" in later.text
    monkeypatch.setattr(doctor.sys, "dont_write_bytecode", True)
    (never,) = _about("bytecode")
    assert never.status == "note" and "PYTHONDONTWRITEBYTECODE" in never.text and "compileall" in never.remedy
    for source in Path(doctor.__file__).parents[1].rglob("*.py"):
        (tmp_path / source.name).touch()
    (kept,) = _about("bytecode")
    assert kept.status == "good" and "kept for all" in kept.text


def test_a_first_call_without_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find", lambda: None)
    (fact,) = _about("compiling")
    assert "generates Python" in fact.text


def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEFT_FP", "exact")
    (fact,) = _about("settings")
    assert fact.status == "bad" and "WEFT_FP" in fact.text
    monkeypatch.setenv("WEFT_FP", "strict")
    monkeypatch.delenv("WEFT_COMPILE_TIMEOUT", raising=False)  # the tests have one of their own
    assert _about("settings")[0].text == "fp='strict'"


def test_a_section_that_fails_does_not_end_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> object:
        raise RuntimeError("no such machine")

    monkeypatch.setattr(doctor, "cpu_identity", broken)
    (fact,) = _about("cpu")
    assert fact.status == "bad" and "no such machine" in fact.text
    assert _about("settings")
