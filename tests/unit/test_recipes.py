"""The recipes of docs/recipes.md, followed to the letter: a target is a module and a line, a pass is a module and a
line, and both work.
"""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import weft
import weft.passes
from weft import registry, targets
from weft.errors import OptionError
from weft.ir import interp, text
from weft.ir.verify import Stage
from weft.passes import PassContext, order, running
from weft.registry import Entry

RECIPES = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"


def recipe(title: str) -> tuple[str, str]:
    """The first Python block of a section, and the whole section."""
    section = RECIPES.read_text(encoding="utf-8").split(f"## {title}\n")[1].split("\n## ")[0]
    return section.split("```python\n")[1].split("```")[0], section


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that writes a module into a package of weft, for the time of a test."""

    def write(package: ModuleType, name: str, code: str) -> ModuleType:
        (tmp_path / f"{name}.py").write_text(code)
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
        module = importlib.import_module(f"{package.__name__}.{name}")
        monkeypatch.delitem(sys.modules, module.__name__)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return module

    return write


def test_adding_a_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, section = recipe("Adding a target")
    with pytest.raises(OptionError):
        weft.jit(backend="slow")
    (tmp_path / "slow_target.py").write_text(code)
    monkeypatch.syspath_prepend(tmp_path)
    entry = eval(re.search(r"`(Entry\(.*?\))`", section)[1])  # type: ignore[index]
    assert isinstance(entry, Entry)
    monkeypatch.setattr(registry, "ENTRIES", [*registry.ENTRIES, entry])

    def f(a, n):
        total = 0.0
        for i in range(n):
            total += a[i] * a[i]
        return total, a + 1.0

    compiled = weft.jit(f, backend="slow", fallback="error", cache=False)
    a = np.arange(6.0)
    (total, more), (expected, array) = compiled(a, 5), f(a, 5)
    assert total == expected and np.array_equal(more, array)
    assert sum(compiled.stats["calls"].values()) == 1, compiled.stats["calls"]
    assert weft.jit(f, backend="c", fallback="error", cache=False)(a, 5)[0] == expected


def test_adding_a_pass(written: Any) -> None:
    code, _ = recipe("Adding a pass")
    module = written(weft.passes, "negations", code)
    source = """
program f(a):
  size n = a.shape[0]
  param a: f64[n] C
  local s: f64
  output #0 = scalar s
  s = sum[i: 0 <= i < n] neg(neg(a[i]))
  return #0
"""
    program = text.parse(source)
    passes = (*order.PASSES[:2], module.run, *order.PASSES[2:], *order.LOWERING)
    assert order.problems(passes) == []
    assert order.problems((module.run, *order.PASSES)) == [
        "negations takes a program that is optimised, but finds one that is built",
        "negations runs before simplify, which it relies on",
        "tasks takes a program that is built, but finds one that is optimised",
    ]
    found = dict(running.stages(passes, program, PassContext()))
    assert "--a" in text.show(found["tasks"]) and "--a" not in text.show(module.run(found["tasks"], PassContext()))
    assert "--a" not in text.show(found["negations"])
    a = np.arange(5.0)
    assert interp.run(found["version"], {"a": a}) == a.sum()


@pytest.mark.parametrize("entry", registry.ENTRIES, ids=lambda entry: entry.name)
def test_targets_are_what_they_declare(entry: Entry) -> None:
    target = targets.find(entry.name)
    assert target.name == entry.name and isinstance(target, targets.Target)
    assert isinstance(target, targets.Backend) == (entry.option == "backend")
    begun = {each.name for each in target.lowering} & {each.name for each in order.PASSES}
    lowering = [each for each in target.lowering if each.name not in begun]
    assert order.problems((*order.PASSES, *lowering)) == []
    assert order.problems(target.lowering, Stage.OPTIMISED) == []
    assert target.lowering[-1].gives is Stage.LOWERED


def test_a_back_end_refuses_memory_that_it_cannot_reach() -> None:
    head = "program f(a):\n  size n = a.shape[0]\n  param a: f64[n] C device\n"
    program = text.parse(head + "  output #0 = None\n  return #0\n")
    assert text.parse(text.show(program)) == program
    assert targets.find("c").why_not(program) == "`a` is in device memory"
