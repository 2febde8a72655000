"""The cheap data classes behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
from dataclasses import FrozenInstanceError, field, fields, replace
from threading import Barrier, Thread
from typing import Any, ClassVar

import pytest

from weft.records import dataclass, hash_once


def _family(decorator: Any) -> dict[str, Any]:
    """The same classes by either decorator."""

    @decorator(frozen=True)
    class Base:
        a: int
        b: str = "x"

        @property
        def both(self) -> str:
            return f"{self.a}{self.b}"

    @decorator(frozen=True)
    class Child(Base):
        items: tuple[int, ...] = ()
        span: int = field(default=0, compare=False, repr=False)
        noted: list[int] = field(default_factory=list, hash=False)

    @decorator(frozen=True)
    class Plain(Base):
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Plain)

        def __hash__(self) -> int:
            return 7

    @decorator
    class Open:
        a: int
        made: dict[str, int] = field(default_factory=dict)
        later: int = field(init=False)
        fixed: int = field(default=3, init=False)

        def __post_init__(self) -> None:
            self.later = self.a + 1

    @decorator(frozen=True)
    class Empty:
        kind: ClassVar[str] = "nothing"

    @decorator(frozen=True)
    class Named(Empty):
        kind: ClassVar[str] = "named"
        a: int
        rest: int = field(kw_only=True)
        b: int = 2

    return {"Base": Base, "Child": Child, "Plain": Plain, "Open": Open, "Empty": Empty, "Named": Named}


OURS, THEIRS = _family(dataclass), _family(dataclasses.dataclass)


@pytest.mark.parametrize(
    ("name", "args", "kwargs"),
    [
        ("Base", (1,), {}),
        ("Base", (1, "y"), {}),
        ("Child", (1,), {"items": (2, 3), "span": 4}),
        ("Child", (1, "b", (5,), 6, [7]), {}),
        ("Plain", (2,), {"b": "z"}),
        ("Open", (1,), {}),
        ("Open", (), {"a": 2, "made": {"k": 1}}),
        ("Empty", (), {}),
        ("Named", (1,), {"rest": 3}),
        ("Named", (1, 5), {"rest": 3}),
    ],
)
def test_objects_are_those_of_the_standard_library(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    one, again, other = OURS[name](*args, **kwargs), OURS[name](*args, **kwargs), THEIRS[name](*args, **kwargs)
    assert repr(one) == repr(other)
    assert one == again and one != other and one != 3
    assert [(f.name, getattr(one, f.name)) for f in fields(one)] == [
        (f.name, getattr(other, f.name)) for f in fields(other)
    ]
    assert OURS[name].__match_args__ == THEIRS[name].__match_args__
    assert dataclasses.is_dataclass(OURS[name]) and copy.deepcopy(one) == one
    if name == "Open":
        with pytest.raises(TypeError):
            hash(one)
    else:
        assert hash(one) == hash(again) == hash(other)
        with pytest.raises(FrozenInstanceError):
            one.a = 5
        with pytest.raises(FrozenInstanceError):
            del one.a


def test_replace_and_fields_that_are_not_compared() -> None:
    first = OURS["Child"](1, span=3)
    second = replace(first, span=9)
    assert second.span == 9 and first == second and hash(first) == hash(second) and second.both == "1x"
    assert replace(first, a=2) != first and first.noted is not OURS["Child"](1).noted
    changed = OURS["Open"](1)
    changed.a = 4
    assert changed.a == 4 and changed.later == 2


@pytest.mark.parametrize("arguments", [(), (1, 2, 3, 4, 5, 6), (1, "b", (), 0, [], 9)])
def test_wrong_arguments_are_type_errors(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError):
        OURS["Child"](*arguments)
    with pytest.raises(TypeError):
        OURS["Base"](1, unknown=2)


def test_a_subclass_with_an_init_of_its_own() -> None:
    @dataclass(frozen=True)
    class Parent:
        a: int

    class Given(Parent):
        def __init__(self) -> None:
            super().__init__(5)

    assert Given().a == 5 and Given() == Given()


def test_families_mix_with_the_standard_decorator() -> None:
    @dataclasses.dataclass(frozen=True)
    class Under(OURS["Base"]):  # type: ignore[misc,name-defined]
        c: int = 1

    @dataclass(frozen=True)
    class Over(THEIRS["Base"]):  # type: ignore[misc,name-defined]
        c: int = 1

    assert Under(1, c=2) == Under(1, c=2) and Over(1, c=2) == Over(1, c=2) and Over(1).both == "1x"
    with pytest.raises(TypeError, match="frozen"):

        @dataclass
        class Loose(OURS["Base"]):  # type: ignore[misc,name-defined]
            c: int = 1


def test_the_first_objects_of_many_threads() -> None:
    for _ in range(20):

        @dataclass(frozen=True)
        class Fresh:
            a: int
            b: tuple[int, ...] = ()

        barrier, found = Barrier(4), []

        def work(kind: Any = Fresh, barrier: Barrier = barrier, found: list[Any] = found) -> None:
            barrier.wait()
            found.append(hash(kind(1)))

        threads = [Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 4 and len(set(found)) == 1


def test_methods_of_a_class_are_kept_and_those_that_compare_can_be_left_out() -> None:
    for decorator in (dataclass, dataclasses.dataclass):

        @decorator(frozen=True)
        class Shown:
            a: int

            def __repr__(self) -> str:
                return "mine"

        @decorator(frozen=True)
        class Loose:
            a: float

            def __eq__(self, other: object) -> bool:
                return True

        @decorator(frozen=True, eq=False)
        class Single:
            a: int

        @decorator
        class Counted:
            a: int

            def __hash__(self) -> int:
                return 5

        assert repr(Shown(1)) == "mine" and Shown(1) == Shown(1)
        assert Loose(1.0) == Loose(2.0) and hash(Loose(1.0)) == hash((1.0,))
        one = Single(1)
        assert one == one and one != Single(1) and hash(one) != hash((1,))
        assert hash(Counted(1)) == 5 and Counted(1) == Counted(1)


def test_a_hash_is_computed_once() -> None:
    counts = []

    class Part:
        def __hash__(self) -> int:
            counts.append(1)
            return 3

    @hash_once
    @dataclass(frozen=True)
    class Kept:
        part: Part
        span: int = field(default=0, compare=False)

    kept = Kept(Part())
    assert hash(kept) == hash(kept) == hash((kept.part,)) and len(counts) == 2
    assert replace(kept, span=3) == kept and hash(replace(kept, part=Part())) == hash(kept)


def test_fields_are_there_before_the_first_object() -> None:
    @dataclass(frozen=True)
    class Above:
        a: int
        kind: ClassVar[str] = "above"
        b: int = field(default=4, repr=False)

    @dataclass(frozen=True)
    class Below(Above):
        c: list[int] = field(default_factory=list)
        a: int = 7

    assert Above.b == 4 and Below.b == 4 and not hasattr(Below, "c")
    assert [f.name for f in fields(Below)] == ["a", "b", "c"] and Below.__match_args__ == ("a", "b", "c")
    assert [f.default for f in fields(Below)][:2] == [7, 4] and Below() == Below(7, 4, [])
    with pytest.raises(ValueError, match="default"):

        @dataclass
        class Shared:
            a: list[int] = []  # noqa: RUF008

        Shared()
