"""The index of the knowledge base: every entry is found through it, and a program loads what it uses."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from weft.frontend import knowledge
from weft.frontend.knowledge import index

_PACKAGE = knowledge.__name__ + "."
#: Modules that entries are declared with, and those whose entries depend on what else is there.
_OTHERS = {"index", "registering", "scipy_entries"}


def _declared() -> dict[str, set[str]]:
    """Module --> names of functions and methods, as the modules declare them."""
    for module in pkgutil.iter_modules(knowledge.__path__):
        if module.name not in _OTHERS:
            importlib.import_module(_PACKAGE + module.name)
    found: dict[str, set[str]] = {}
    for name, homes in knowledge.declared_in.items():
        for home in homes:
            if home.startswith(_PACKAGE) and home.removeprefix(_PACKAGE) not in _OTHERS:
                found.setdefault(home.removeprefix(_PACKAGE), set()).add(name)
    return found


def _text(table: dict[str, set[str]]) -> str:
    lines = ["MODULES: dict[str, str] = {"]
    for module, names in sorted(table.items()):
        joined = textwrap.wrap(" ".join(sorted(names)), 100, break_long_words=False, break_on_hyphens=False)
        parts = [f'        "{part}{" " if part is not joined[-1] else ""}"' for part in joined]
        lines += [f'    "{module}": "{joined[0]}",'] if len(joined) == 1 else [f'    "{module}": (', *parts, "    ),"]
    return "\n".join([*lines, "}\n"])


def test_every_entry_is_in_the_index(update_golden: bool) -> None:
    declared = _declared()
    known = {module: set(names.split()) for module, names in index.MODULES.items()}
    if update_golden:
        path = Path(str(index.__file__))
        text = path.read_text(encoding="utf-8")
        start = text.index("MODULES: dict[str, str] = {")
        end = text.index("\n\n", start) + 1
        path.write_text(text[:start] + _text(declared) + text[end:], encoding="utf-8")
        return
    how = "run pytest tests/unit/test_knowledge_index.py --update-golden"
    assert {module: names - known.get(module, set()) for module, names in declared.items()} == {
        module: set() for module in declared
    }, how
    for module, names in known.items():
        gone = names - declared[module]
        assert not {name for name in gone if hasattr(np, name.partition(".")[2])}, how


@pytest.mark.parametrize(
    ("thing", "home"),
    [(np.exp, "ufuncs"), (np.add.at, "methods"), (np.mgrid, "grids"), (np.linalg.det, "linalg"), (sum, "python")],
    ids=["function", "method of a ufunc", "object", "submodule", "builtin"],
)
def test_names_of_things(thing: object, home: str) -> None:
    assert home in index.homes(index.name_of(thing)) and knowledge.lookup(thing) is not None


def test_what_is_not_known_is_not_looked_for() -> None:
    assert knowledge.lookup(_declared) is None and not index.may_be_known(_declared)
    assert index.may_be_known(np.save) and knowledge.lookup(np.save) is None


def test_a_program_loads_the_entries_it_uses(subprocess_environment: dict[str, str]) -> None:
    code = """
import sys, numpy as np, weft
from weft.frontend import knowledge
weft.register(np.sinc, body=lambda x: x)
mine = knowledge.lookup(np.sinc)
assert knowledge.lookup(np.fft.fft) is not None and knowledge.method("cumsum") is not None
print(*sorted(name for name in sys.modules if name.startswith("weft.frontend.knowledge.")))
knowledge.entries()
assert knowledge.lookup(np.sinc) is mine, "what a user registers stays"
print(len([name for name in sys.modules if name.startswith("weft.frontend.knowledge.")]))
"""
    done = subprocess.check_output([sys.executable, "-c", code], env=subprocess_environment, text=True, timeout=600)
    first, count = done.splitlines()
    loaded = {name.removeprefix(_PACKAGE) for name in first.split()}
    assert {"fourier", "scans"} <= loaded and not loaded & {"quantiles", "linalg", "statistics"}
    assert int(count) > len(loaded) + 10
