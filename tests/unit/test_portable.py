"""Versions as JSON data: everything comes back exactly, and what cannot travel says so."""

from __future__ import annotations

import json
import os
import types
from pathlib import Path

import pytest

from weft.runtime import descriptor as D
from weft.runtime import stamps
from weft.runtime.portable import portable, restored

NAMESPACE = {"g": 1.0}


def version(**changes):
    given = dict(
        params=(
            D.ArrayParam(12, 2, True),
            D.ListParam("float", 1, False),
            D.ScalarParam("np.float32"),
            D.ConstParam((1, True, -0.0, "x", None, 1j)),
            D.SameAsParam(0),
            D.ObjectParam(),
        ),
        hidden=(D.AttrParam(5, "a.b", D.ScalarParam("int")), D.GlobalParam(NAMESPACE, "g", D.ScalarParam("float"))),
        returns=(
            D.TupleResult((D.ScalarResult("int", 20), D.ArrayResult(21), D.ViewResult(0, 22, 1), D.ArgResult(0))),
            D.ListOfResult((D.NoneResult(), D.ConstResult(2.5), D.ListResult(D.ArrayResult(21)))),
        ),
        exceptions=(
            D.ExceptionSpec(IndexError, "index {0}"),
            D.ExceptionSpec(ValueError, ("a", 1)),
            D.ExceptionSpec(KeyError),
        ),
        words=40,
        location=D.SourceLocation("f.py", "f"),
        function=1234,
    )
    return D.Version(**{**given, **changes})


def test_round_trip_through_json():
    original = version()
    data = json.loads(json.dumps(portable(original)))
    back = restored(data, 99, NAMESPACE)
    assert back.function == 99
    for field in ("params", "returns", "exceptions", "words", "location"):
        assert getattr(back, field) == getattr(original, field)
    assert back.hidden[0] == original.hidden[0] and back.hidden[1].namespace is NAMESPACE
    constant = back.params[3].value
    assert repr(constant) == repr(original.params[3].value)


@pytest.mark.parametrize(
    "changes",
    [
        {"params": (D.ObjectParam(type("Nameless", (), {})),)},
        {"params": (D.ConstParam(object()),)},
        {"hidden": (D.CellParam(types.CellType(1), D.ScalarParam("int")),)},
        {"exceptions": (D.ExceptionSpec(type("Own", (Exception,), {})),)},
    ],
)
def test_what_belongs_to_a_process_has_no_portable_form(changes):
    assert portable(version(**changes)) is None


def test_the_stamp_of_weft_knows_every_source_file(tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "native").mkdir(parents=True)
    names = ("module.py", "native/part.c", "native/part.h")
    for name in names:
        (package / name).write_text("1")
    known = {stamps.stamp_of(str(package))}
    (package / "notes.txt").write_text("not a source")
    assert stamps.stamp_of(str(package)) in known
    for number, name in enumerate(names, start=1):
        (package / name).write_text("12")  # another size
        known.add(stamps.stamp_of(str(package)))
        os.utime(package / name, ns=(number, number))  # another time
        known.add(stamps.stamp_of(str(package)))
    (package / "module.py").rename(package / "native" / "module.py")
    known.add(stamps.stamp_of(str(package)))
    (package / "native" / "part.c").unlink()
    known.add(stamps.stamp_of(str(package)))
    assert len(known) == 2 * len(names) + 3
