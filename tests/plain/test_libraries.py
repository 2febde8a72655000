"""Compiled plain Python that uses the standard library, by calls back into Python."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import pytest

import weft
from tests.plain import (
    programs_bytes,
    programs_calls,
    programs_complex,
    programs_copies,
    programs_everyday,
    programs_exceptions,
    programs_generators,
    programs_language,
    programs_libraries,
    programs_objects,
    programs_tools,
    programs_unions,
)
from tests.plain.warm import settled
from weft.plain.function import Native
from weft.plain.runtime import last, load

pytestmark = pytest.mark.skipif(load() is None, reason="no C compiler")
MODULES = (
    programs_libraries,
    programs_tools,
    programs_objects,
    programs_exceptions,
    programs_generators,
    programs_complex,
    programs_language,
    programs_bytes,
    programs_copies,
    programs_calls,
    programs_everyday,
    programs_unions,
)
CASES = [case for module in MODULES for case in module.CASES]


@pytest.mark.parametrize("function, arguments", CASES, ids=[f"{f.__name__}-{k}" for k, (f, _) in enumerate(CASES)])
def test_library_functions_and_objects(function, arguments):
    settled(function, arguments, calls=3)


def test_a_generator_of_the_module_goes_on_where_a_call_left_it():
    rng = programs_libraries.SHARED
    native = Native(programs_libraries.shared)
    version = native.extend((3,))
    state = rng.getstate()
    expected = [rng.random() for _ in range(6)]
    rng.setstate(state)
    assert native(3) + native(3) == expected
    assert last(version.call).deopts == 0


def test_a_generator_that_is_left_inside_finally_is_pythons():
    native = Native(programs_generators.left_early)
    version = native.extend(([1, 2, 3],))
    assert native([1, 2, 3]) == [1, "closed"]
    assert last(version.call).deopts == 1
    assert native([1, 1]) == [1, 1, "closed"]
    assert last(version.call).deopts == 1


@pytest.mark.parametrize("given", [{"b": 1, "c": 2}, {"c": 2}, {}, {"d": 1}])
def test_parameters_that_have_names_only(given):
    function = programs_calls.only_named
    compiled = weft.jit(function)
    for number in (1, 2):
        try:
            expected = function(number, **given)
        except TypeError as problem:
            with pytest.raises(TypeError, match=re.escape(str(problem))):
                compiled(number, **given)
        else:
            assert compiled(number, **given) == expected
            assert compiled.stats["python_calls"] == 0


@pytest.mark.parametrize(
    "function, arguments",
    [(programs_calls.by_dict, ({"a": 1},)), (programs_calls.by_dict, ({"zz": 1},)), (programs_calls.made, ([[]],))],
)
def test_arguments_that_do_not_fit_raise_as_in_python(function, arguments):
    native = Native(function)
    native.extend(arguments)
    with pytest.raises(TypeError) as expected:
        function(*arguments)
    with pytest.raises(TypeError, match=re.escape(str(expected.value))):
        native(*arguments)


def test_each_number_of_arguments_has_a_native_form():
    compiled = weft.jit(programs_calls.gather)
    for _ in range(2):
        assert compiled("a", 1, 2) == ("a-1-2", {}, 2)
        assert compiled("a", sep="+", k="v") == ("a", {"k": "v"}, 0)
    assert compiled.stats["python_calls"] == 0


def test_lambdas_that_call_lambdas_of_the_same_line():
    compiled = weft.jit(programs_calls.composed)
    for number in (4, 5):
        assert compiled(number) == programs_calls.composed(number)
    assert compiled.stats["python_calls"] == 0


@pytest.mark.parametrize(
    "function, arguments",
    [
        *[(programs_everyday.by_zero, pair) for pair in ((1.0, 0.0), (1, 0.0), (True, 0.0), (1, 0))],
        *[(programs_everyday.frozen, (3, deletes)) for deletes in (False, True)],
    ],
)
def test_errors_that_only_python_words(function, arguments):
    native = Native(function)
    native.extend(arguments)
    assert native(*arguments) == function(*arguments)


def test_recursion_over_new_lists_is_one_function():
    native = Native(programs_everyday.determinant)
    version = native.extend(([[1, 2, 3], [4, 5, 6], [7, 8, 10]],))
    made = set(re.findall(r"\bf\d+_(?:of|permuted)\(", version.text["c"]))
    assert len(made) <= 4, made  # the first call of each may have one of its own
    assert native([[2, 0], [0, 3]]) == (6, [[1, 2], [2, 1]])


def test_integers_from_python_are_those_of_the_machine_until_one_is_larger():
    native = Native(programs_bytes.words)
    version = native.extend((b"abcdefgh",))
    assert "any size" not in version.text["types"]


@pytest.mark.parametrize("pair", [(1000, 1000), (1.5, 1.5), ("long text", "long text"), (float("nan"), 1.0)])
def test_identity_of_equal_values_is_for_python(pair):
    native = Native(programs_unions.same_numbers)
    version = native.extend(pair)
    copies = tuple(type(value)(str(value)) for value in pair)
    for given in (pair, copies, (pair[0], pair[0])):
        assert native(*given) == programs_unions.same_numbers(*given)
    assert last(version.call).deopts > 0


def test_a_type_that_one_of_several_cannot_do_is_for_python():
    text = "[1,2]"
    native = Native(programs_unions.read)
    native.extend((text,))
    with pytest.raises(TypeError) as expected:
        programs_unions.read(text)
    with pytest.raises(TypeError, match=re.escape(str(expected.value))):
        native(text)


class Moved(NamedTuple):
    x: float
    y: float

    def __add__(self, other: Any) -> Any:
        return Moved(self.x + other.x, self.y + other.y)


class Told(NamedTuple):
    x: int

    def __repr__(self) -> str:
        return "told"


class Listed(NamedTuple):
    x: int

    def double(self) -> int:
        return 2 * self.x


def made_there(n):
    return Moved(n, 2) + Moved(1, n), str(Told(n)), Listed(n).double(), Listed(n) + Listed(1)


def added_here(p, q):
    return p + q, f"{p}", len(p)


@pytest.mark.parametrize("arguments", [(Moved(1, 2), Moved(3, 4)), (Told(1), Told(2)), (Listed(1), (2,))])
def test_operators_of_named_tuples_are_those_of_their_class(arguments):
    """What a class of named tuples defines itself is called, or Python runs."""
    compiled = weft.jit(added_here, fallback="silent")
    for _ in range(2):
        assert repr(compiled(*arguments)) == repr(added_here(*arguments))
    assert repr(weft.jit(made_there, fallback="silent")(3)) == repr(made_there(3))
