"""The dispatchers: guards, binding, versions and their choice. Guards are tried on the native and on the interpreted
dispatcher, which must agree.
"""

import gc
import itertools
import subprocess
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.unit.dispatching import (
    BASES,
    F64,
    Missed,
    Model,
    accepts,
    cell_of,
    function_type,
    native,
    read_only,
)
from weft.runtime import dispatch, interpreted, toolchain
from weft.runtime.descriptor import (
    CONTROL_WORDS,
    NO_DEFAULT,
    ArgResult,
    ArrayParam,
    ArrayResult,
    AttrParam,
    CellParam,
    ConstParam,
    GlobalParam,
    GuardFailed,
    ListParam,
    NoneResult,
    ObjectParam,
    SameAsParam,
    ScalarParam,
    ScalarResult,
    Signature,
    TupleResult,
    Version,
    ViewResult,
)

# --- guards --------------------------------------------------------------------------------------------------------


class Subclass(np.ndarray):
    pass


def unaligned() -> np.ndarray:
    return np.zeros(8 * 5 + 1, np.uint8)[1:].view(np.float64)


def partial_strides() -> np.ndarray:
    record = np.zeros(4, dtype=[("a", "f8"), ("b", "i4")], order="C")
    return record["a"]


ARRAYS = [
    (np.zeros(3), 1, True),
    (np.zeros((2, 3)), 1, False),
    (np.zeros((2, 3), order="F"), 2, True),
    (np.zeros((4, 6))[::-2, ::3], 2, True),
    (np.array(1.0), 0, True),
    (np.float64(1.0), 0, False),
    (np.zeros((0, 3)), 2, True),
    (np.zeros(3, np.float32), 1, False),
    (np.zeros(3, ">f8"), 1, False),
    (np.zeros(3).view(Subclass), 1, False),
    (np.ma.zeros(3), 1, False),
    (unaligned(), 1, False),
    (partial_strides(), 1, False),
    ([0.0, 1.0], 1, False),
    (None, 1, False),
    (np.zeros(3, object), 1, False),
]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("value", "rank", "expected"), ARRAYS)
def test_array_guard(base: Any, value: Any, rank: int, expected: bool) -> None:
    assert accepts(base, (ArrayParam(F64, rank),), value) is expected


@pytest.mark.parametrize("base", BASES)
def test_written_arrays_must_be_writeable(base: Any) -> None:
    fixed = read_only(np.zeros(3))
    warning = np.broadcast_arrays(np.zeros(3), np.zeros((2, 3)))[0]
    assert accepts(base, (ArrayParam(F64, 1),), fixed)
    assert not accepts(base, (ArrayParam(F64, 1, written=True),), fixed)
    assert accepts(base, (ArrayParam(F64, 2),), warning)
    assert not accepts(base, (ArrayParam(F64, 2, written=True),), warning)
    assert accepts(base, (ArrayParam(F64, 1, written=True),), np.zeros(3))


class IntSubclass(int):
    pass


SCALARS = [
    ("int", 3, True), ("int", -(2**63), True), ("int", 2**63 - 1, True), ("int", 2**63, False), ("int", 10**40, False),
    ("int", -(10**40), False), ("int", True, False), ("int", 3.0, False), ("int", np.int64(3), False),
    ("int", IntSubclass(3), False), ("bool", True, True), ("bool", 1, False), ("bool", np.True_, False),
    ("float", 1.5, True), ("float", 1, False), ("float", np.float64(1.5), False), ("complex", 1j, True),
    ("complex", 1.0, False), ("np.float64", np.float64(1), True), ("np.float64", 1.0, False),
    ("np.float32", np.float32(1), True), ("np.float32", np.float64(1), False), ("np.bool", np.True_, True),
    ("np.bool", True, False), ("np.int64", np.int64(1), True), ("np.int64", np.longlong(1), np.longlong is np.int64),
    ("np.int64", 1, False), ("np.uint8", np.uint8(1), True), ("np.complex64", np.complex64(1), True),
]  # fmt: skip


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("kind", "value", "expected"), SCALARS)
def test_scalar_guard(base: Any, kind: str, value: Any, expected: bool) -> None:
    assert accepts(base, (ScalarParam(kind),), value) is expected


shared_row = [1.0, 2.0]
LISTS = [
    (ListParam("float"), [1.0, 2.0], True),
    (ListParam("float"), [], True),
    (ListParam("float"), (1.0, 2.0), False),
    (ListParam("float"), [1.0, 2], False),
    (ListParam("float"), [1.0, np.float64(2)], False),
    (ListParam("float"), None, False),
    (ListParam("int"), [1, 2**62], True),
    (ListParam("int"), [1, 2**63], False),
    (ListParam("int"), [1, True], False),
    (ListParam("bool"), [True, False], True),
    (ListParam("bool"), [True, 0], False),
    (ListParam("complex"), [1j, 2j], True),
    (ListParam("float", 2), [[1.0], [2.0]], True),
    (ListParam("float", 2), [[1.0], [2.0, 3.0]], False),
    (ListParam("float", 2), [[1.0], 2.0], False),
    (ListParam("float", 2), [1.0, 2.0], False),
    (ListParam("float", 2), [], True),
    (ListParam("float", 3), [[], []], True),
    (ListParam("float", 3), [[[1.0]], [[2.0], [3.0]]], False),
    (ListParam("float", 2), [shared_row, shared_row], True),
    (ListParam("float", 2, written=True), [shared_row, shared_row], False),
    (ListParam("float", 2, written=True), [[1.0], [2.0]], True),
]


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("param", "value", "expected"), LISTS)
def test_list_guard(base: Any, param: ListParam, value: Any, expected: bool) -> None:
    assert accepts(base, (param,), value) is expected


@pytest.mark.parametrize("base", BASES)
def test_a_list_must_not_be_reached_through_two_parameters(base: Any) -> None:
    row = [1.0, 2.0]
    read, written = ListParam("float"), ListParam("float", written=True)
    assert accepts(base, (read, read), row, row)
    assert not accepts(base, (read, written), row, row)
    assert not accepts(base, (ListParam("float", 2), written), [[0.0, 0.0], row], row)
    assert accepts(base, (read, written), row, list(row))
    assert accepts(base, (written, SameAsParam(0)), row, row)


nan = float("nan")
CONSTANTS = [
    (None, None, True), (None, 0, False), (1, 1, True), (1, True, False), (1, 1.0, False), (10**30, 10**30, True),
    (0.0, 0.0, True), (0.0, -0.0, False), (nan, nan, True), (1.5, 1.5, True), ("abc", "".join(["a", "bc"]), True),
    ("abc", "abd", False), ((1, (2.0, "x")), (1, (2.0, "x")), True), ((1, 2), (1, True), False), ((1,), (1, 2), False),
    (0j, complex(0.0, -0.0), False), (1j, complex("1j"), True), (b"a", bytes([97]), True), ([1], [1], False),
    (np.float64, np.float64, True), (len, len, True), (True, True, True), (True, False, False),
]  # fmt: skip


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("constant", "value", "expected"), CONSTANTS)
def test_constant_guard(base: Any, constant: Any, value: Any, expected: bool) -> None:
    assert accepts(base, (ConstParam(constant),), value) is expected


@pytest.mark.parametrize("base", BASES)
def test_same_object_and_exact_type_guards(base: Any) -> None:
    array = np.zeros(3)
    assert accepts(base, (ArrayParam(F64, 1), SameAsParam(0)), array, array)
    assert not accepts(base, (ArrayParam(F64, 1), SameAsParam(0)), array, array.copy())
    assert accepts(base, (ObjectParam(int),), 3)
    assert not accepts(base, (ObjectParam(int),), True)
    assert accepts(base, (ObjectParam(None),), "anything")


@pytest.mark.parametrize("base", BASES)
def test_hidden_parameters_are_read_at_each_call(base: Any) -> None:
    namespace: dict[str, Any] = {"scale": 2.0, "__builtins__": __builtins__}
    cell = cell_of(7)
    hidden = (
        AttrParam(0, "array", ArrayParam(F64, 1)),
        AttrParam(0, "inner.step", ScalarParam("float")),
        GlobalParam(namespace, "scale", ScalarParam("float")),
        GlobalParam(namespace, "len", ConstParam(len)),
        CellParam(cell, ScalarParam("int")),
    )
    function = function_type(base)(Signature(("self",)))
    function.add_version(Version((ObjectParam(Model),), (), lambda *given: given[1:], hidden=hidden))
    model = Model()
    assert function(model) == (model.array, 0.5, 2.0, len, 7)
    namespace["scale"], cell.cell_contents, model.inner.step = 3.0, 8, 0.25
    assert function(model)[1:] == (0.25, 3.0, len, 8)
    for spoil in (
        lambda: namespace.update(scale=3),
        lambda: namespace.update(scale=3.0, len=max),
        lambda: (namespace.pop("len"), setattr(model, "array", None)),
        lambda: (setattr(model, "array", np.zeros(2)), delattr(model.inner, "step")),
    ):
        spoil()
        with pytest.raises(Missed):
            function(model)
    model.inner.step = 1.0
    assert function(model)[1] == 1.0
    del cell.cell_contents
    with pytest.raises(Missed):
        function(model)


@pytest.mark.parametrize("base", BASES)
def test_an_attribute_that_raises_is_a_miss(base: Any) -> None:
    assert not accepts(base, (ObjectParam(Model),), Model(), hidden=(AttrParam(0, "broken", ScalarParam("float")),))


# --- binding and versions ------------------------------------------------------------------------------------------


def sample(a: int, b: int = 2, /, c: int = 3, *, d: int, e: int = 5) -> tuple[int, ...]:
    return a, b, c, d, e


BINDINGS: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
    ((1,), {"d": 4}), ((1, 7, 8), {"d": 4, "e": 9}), ((1,), {"c": 6, "d": 4}), ((1, 2, 3), {"e": 1, "d": 0}),
    ((), {"d": 4}), ((1,), {}), ((1,), {"d": 4, "z": 0}), ((1, 2, 3, 4), {"d": 4}), ((1, 2, 3), {"c": 1, "d": 4}),
    ((1,), {"b": 2, "d": 4}),
]  # fmt: skip


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize(("args", "kwargs"), BINDINGS)
def test_calls_bind_as_python_binds_them(base: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    function = function_type(base)(Signature.of(sample))
    function.add_version(Version((ScalarParam("int"),) * 5, (), lambda *given: given))
    try:
        expected = sample(*args, **kwargs)
    except TypeError:
        with pytest.raises(Missed) as caught:
            function(*args, **kwargs)
        assert caught.value.call == (args, kwargs, None)
    else:
        assert function(*args, **kwargs) == expected
        assert function(*args, **{"".join(list(name)): value for name, value in kwargs.items()}) == expected


@pytest.mark.parametrize("base", BASES)
def test_variadic_functions_and_functions_without_versions_miss(base: Any) -> None:
    variadic = function_type(base)(Signature.of(lambda a, *rest, **named: None))
    assert variadic.signature == Signature(("a",), variadic=True)
    variadic.add_version(Version((ScalarParam("int"),), (), lambda a: a))
    with pytest.raises(Missed) as caught:
        variadic(1, x=2)
    assert caught.value.call == ((1,), {"x": 2}, None)
    empty = function_type(base)(Signature(()))
    with pytest.raises(Missed):
        empty()
    assert (empty.misses, empty.guard_failures) == (1, 0)
    empty.add_version(Version((), (), lambda: "now"))
    assert empty() == "now"


@pytest.mark.parametrize("base", BASES)
def test_versions_counts_and_removal(base: Any) -> None:
    function = function_type(base)(Signature(("x",)))
    kinds = ("int", "float", "np.float32")
    versions = [Version((ScalarParam(kind),), (), lambda x, kind=kind: kind) for kind in kinds]
    assert [function.add_version(version) for version in versions] == [0, 1, 2]
    assert function.versions == tuple(versions)
    for value, kind in ((1, "int"), (1.0, "float"), (1, "int"), (np.float32(1), "np.float32"), (2, "int")):
        assert function(value) == kind
    with pytest.raises(Missed):
        function("text")
    assert function.call_counts == (3, 1, 1)
    assert function.misses == 1
    function.clear_versions()
    assert function.versions == () and function.call_counts == ()
    with pytest.raises(Missed):
        function(1)


@pytest.mark.parametrize("base", BASES)
def test_the_latest_version_is_tried_first(base: Any) -> None:
    function = function_type(base)(Signature(("x",)))
    function.add_version(Version((ScalarParam("int"),), (), lambda x: "old"))
    function.add_version(Version((ScalarParam("int"),), (), lambda x: "new"))
    assert function(1) == "new"


@pytest.mark.parametrize("base", BASES)
def test_a_python_version_may_refuse_and_may_raise(base: Any) -> None:
    def body(x: int) -> int:
        if x < 0:
            raise GuardFailed
        return 10 // x

    function = function_type(base)(Signature(("x",)))
    function.add_version(Version((ScalarParam("int"),), (), body))
    assert function(5) == 2
    with pytest.raises(Missed) as caught:
        function(-1)
    assert caught.value.call == ((-1,), {}, 1)
    with pytest.raises(ZeroDivisionError):
        function(0)
    assert (function.guard_failures, function.misses, function.call_counts) == (1, 0, (2,))


@pytest.mark.parametrize("base", BASES)
def test_methods_attributes_weak_references_and_collection(base: Any) -> None:
    function = function_type(base)(Signature(("self", "x")))
    function.add_version(Version((ObjectParam(None), ScalarParam("int")), (), lambda owner, x: (owner, x)))

    class Owner:
        method = function

    owner = Owner()
    assert owner.method(3) == (owner, 3)
    assert owner.method(x=4) == (owner, 4)
    assert Owner.method is function
    assert Owner.method(owner, 5) == (owner, 5)
    bound = owner.method
    assert bound(6) == (owner, 6)
    function.note = "mine"
    assert function.note == "mine"
    reference = weakref.ref(function)
    # A cycle through the version's own body: only the collector can free it.
    holder: dict[str, Any] = {"cyclic": function_type(base)(Signature(()))}
    holder["cyclic"].add_version(Version((), (), lambda holder=holder: holder["cyclic"]))
    cyclic_reference = weakref.ref(holder["cyclic"])
    assert holder["cyclic"]() is cyclic_reference()
    del function, holder, bound, owner, Owner
    gc.collect()
    assert reference() is None
    assert cyclic_reference() is None


@pytest.mark.parametrize("base", BASES)
def test_bad_descriptors_are_type_errors(base: Any) -> None:
    integer = ScalarParam("int")
    bad: list[Version] = [
        Version((), (), lambda: 0),
        Version((integer,), (), 0),
        Version((integer,), (), "text"),  # type: ignore[arg-type]
        Version((ScalarParam("decimal"),), (), lambda x: 0),
        Version((ListParam("text"),), (), lambda x: 0),  # type: ignore[arg-type]
        Version((ListParam("int", 0),), (), lambda x: 0),
        Version((ArrayParam(17, 1),), (), lambda x: 0),
        Version((ArrayParam(F64, 99),), (), lambda x: 0),
        Version((SameAsParam(0),), (), lambda x: 0),
        Version((3,), (), lambda x: 0),  # type: ignore[arg-type]
        Version((integer,), (), lambda x: 0, hidden=(AttrParam(1, "a", integer),)),
        Version((integer,), (), lambda x: 0, hidden=(AttrParam(0, "a b", integer),)),
        Version((integer,), (), lambda x: 0, hidden=(CellParam(3, integer),)),  # type: ignore[arg-type]
        Version((integer,), (NoneResult(),), 4096, words=CONTROL_WORDS),
        Version((integer,), (), 4096, words=20),
        Version((integer,), (ScalarResult("int", 8),), 4096, words=20),
        Version((integer,), (ScalarResult("complex", 19),), 4096, words=20),
        Version((integer,), (TupleResult((ArrayResult(20),)),), 4096, words=20),
        Version((integer,), (ViewResult(0, 9, 1),), 4096, words=20),
        Version((integer,), (ArgResult(1),), 4096, words=20),
        Version((integer,), (None,), 4096, words=20),  # type: ignore[arg-type]
        Version((integer,), (NoneResult(),), 4096, words=20, exceptions=(ValueError,)),  # type: ignore[arg-type]
    ]
    function = function_type(base)(Signature(("x",)))
    for version in bad:
        with pytest.raises(TypeError):
            function.add_version(version)
    assert function.versions == ()
    with pytest.raises(TypeError):
        Signature(("a", "b"), (NO_DEFAULT,))


def test_the_interpreted_dispatcher_refuses_native_code() -> None:
    function = interpreted.Dispatcher(Signature(()))
    with pytest.raises(TypeError, match="native core"):
        function.add_version(Version((), (NoneResult(),), 4096))
    with pytest.raises(NotImplementedError):
        function()


# --- choosing ------------------------------------------------------------------------------------------------------


def test_without_a_compiler_the_interpreted_dispatcher_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "_core", None)
    monkeypatch.setattr(dispatch, "_core_problem", None)
    monkeypatch.setattr(toolchain, "find", lambda: None)
    dispatch.dispatcher_type.cache_clear()
    try:
        assert dispatch.load_core() is None
        assert dispatch.core_problem() == "no C compiler was found"
        assert dispatch.dispatcher_type() is interpreted.Dispatcher
    finally:
        dispatch.dispatcher_type.cache_clear()


@native
def test_a_broken_kernel_file_is_a_compile_error(tmp_path: Any) -> None:
    from weft.errors import CompileError

    (tmp_path / "broken.so").write_bytes(b"no object")
    with pytest.raises(CompileError):
        dispatch.load_kernel(tmp_path / "broken.so")
    compiler = toolchain.find()
    assert compiler is not None
    with pytest.raises(CompileError):
        dispatch.load_kernel(compiler.build_shared("int other(void) { return 0; }", name="test"), "kernel")


# --- both dispatchers on the same calls ----------------------------------------------------------------------------


@native
def test_both_dispatchers_accept_the_same_calls() -> None:
    array, row = np.arange(3.0), [1.0, 2.0]
    values: list[Any] = [
        array, array[::-1], array.astype(np.float32), array.astype(">f8"), np.array(1.0), read_only(np.arange(3.0)),
        row, [row, row], [[1.0], [2.0]], [1, 2], [], 1, 2**70, True, 1.0, -0.0, 1j, np.float64(1), np.float32(1),
        np.int64(1), None, "x", (1, 2),
    ]  # fmt: skip
    params: list[Any] = [
        ArrayParam(F64, 1), ArrayParam(F64, 1, written=True), ArrayParam(F64, 0), ListParam("float"),
        ListParam("float", written=True), ListParam("float", 2, written=True), ListParam("int"), ScalarParam("int"),
        ScalarParam("float"), ScalarParam("np.float64"), ConstParam(0.0), ConstParam((1, 2)), ConstParam("x"),
        SameAsParam(0), ObjectParam(type(None)),
    ]  # fmt: skip
    first_params = [param for param in params if not isinstance(param, SameAsParam)]
    decisions: Callable[[Any], list[bool]] = lambda base: [
        accepts(base, pair, left, right)
        for pair in itertools.product(first_params[::2], params)
        for left, right in itertools.product(values[::3], values)
    ]
    expected = decisions(interpreted.Dispatcher)
    assert decisions(dispatch.dispatcher_type()) == expected
    assert any(expected) and not all(expected)


@pytest.mark.parametrize("base", BASES)
def test_deep_recursion_through_misses_and_versions(base: Any) -> None:
    """A recursive function goes as deep as plain Python does: one call must not take much of the C stack."""

    class Recursive(base):
        def _miss(self, args: tuple[Any, ...], kwargs: dict[str, Any], status: int | None) -> Any:
            return 0 if args[0] == 0 else 1 + self(args[0] - 1)

    missing = Recursive(Signature(("n",)))
    missing.add_version(Version((ScalarParam("float"),), (), lambda n: None))
    through_version = Recursive(Signature(("n",)))
    through_version.add_version(Version((ScalarParam("int"),), (), lambda n: n and 1 + through_version(n - 1)))
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(5_000)
    try:
        for function in (missing, through_version):
            assert function(300) == 300
    finally:
        sys.setrecursionlimit(before)
    through_version.clear_versions()


@pytest.mark.parametrize("base", BASES)
def test_endless_recursion_is_an_error_whatever_the_limit(base: Any) -> None:
    script = f"""
import sys
sys.path[:0] = {sys.path!r}
from weft.runtime import dispatch, interpreted
from weft.runtime.descriptor import *
base = interpreted.Dispatcher if {base is interpreted.Dispatcher} else dispatch.dispatcher_type()
class Endless(base):
    def _miss(self, args, kwargs, status):
        return self(*args, **kwargs)
functions = [Endless(Signature(("n",))) for _ in range(2)]
functions[1].add_version(Version((ScalarParam("int"),), (), lambda n: functions[1](n=n)))
sys.setrecursionlimit({1000 if base is interpreted.Dispatcher else 10**6})
for function in functions:
    try:
        function(1)
    except RecursionError:
        print("RecursionError")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == ["RecursionError"] * 2, done.stderr[-2000:]
