"""The recipe of docs/recipes.md for a method of a container, followed literally."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from weft.plain import values
from weft.plain.function import Native
from weft.plain.runtime import load
from weft.plain.values import dicts

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"


def emptied(d):
    d.clear()
    d["x"] = 1
    return len(d)


@pytest.mark.skipif(load() is None, reason="no C compiler")
def test_a_method_is_one_function(monkeypatch):
    recipe = re.search(r"### Add a method to dict.*?```py\n(.*?)```", GUIDE.read_text(), flags=re.DOTALL)
    assert recipe is not None
    for kind in ("dict", "defaultdict", "Counter", "OrderedDict"):
        monkeypatch.delitem(values._METHODS, (kind, "clear"))
    with pytest.raises(Exception, match="clear"):
        Native(emptied).extend(({"a": 2},))
    exec(compile(recipe[1], str(GUIDE), "exec"), dict(vars(dicts)))
    native = Native(emptied)
    native.extend(({"a": 2},))
    given = {"a": 2, "b": 3}
    assert native(given) == 1 and given == {"x": 1}
