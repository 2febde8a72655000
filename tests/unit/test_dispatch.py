"""The dispatchers: guards, words, results, exceptions, references. Kernels are small C texts written for one test each;
guards are tried on the native and on the interpreted dispatcher, which must agree.
"""

from __future__ import annotations

import gc
import itertools
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import tracemalloc
import types
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from weft.runtime import blas, dispatch, interpreted, toolchain
from weft.runtime.descriptor import (
    CONTROL_WORDS,
    NO_DEFAULT,
    ArgResult,
    ArrayParam,
    ArrayResult,
    AttrParam,
    CellParam,
    ConstParam,
    ConstResult,
    ExceptionSpec,
    GlobalParam,
    GuardFailed,
    ListOfResult,
    ListParam,
    ListResult,
    NoneResult,
    ObjectParam,
    SameAsParam,
    ScalarParam,
    ScalarResult,
    Signature,
    SourceLocation,
    TupleResult,
    Version,
    ViewResult,
    result_base,
)

CORE = dispatch.load_core()
native = pytest.mark.skipif(CORE is None, reason="the native core cannot be built here")

PRELUDE = """
typedef long long int64_t;
typedef struct weft_rt {
    int64_t version;
    void *(*new_array)(int64_t *w, int64_t slot, int64_t typenum, int64_t rank, const int64_t *shape, int64_t zero);
    void *(*alloc)(int64_t bytes);
    void (*release)(void *p);
    void (*parallel)(void (*fn)(void *, int64_t, int64_t, int64_t), void *ctx, int64_t n, int64_t tasks);
    int64_t (*threads)(void);
    int64_t (*poll)(void);
    int64_t blas_ilp64;
    void *sgemm, *dgemm, *cgemm, *zgemm, *sgemv, *dgemv, *cgemv, *zgemv, *sdot, *ddot, *sger, *dger, *ssyrk, *dsyrk,
        *strsm, *dtrsm;
} weft_rt;
#define REAL(word) (((union { int64_t i; double d; }){.i = (word)}).d)
#define BITS(real) (((union { double d; int64_t i; }){.d = (real)}).i)
"""

F64 = np.dtype(np.float64).num
I64 = np.dtype(np.int64).num
MISSED = object()


class Missed(Exception):
    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any], status: int | None) -> None:
        super().__init__(f"no version for this call (status {status})")
        self.call = (args, kwargs, status)


def function_type(base: Any) -> Any:
    class Function(base):
        def _miss(self, args: tuple[Any, ...], kwargs: dict[str, Any], status: int | None) -> Any:
            raise Missed(args, kwargs, status)

    return Function


BASES = [pytest.param(interpreted.Dispatcher, id="interpreted")]
if CORE is not None:
    BASES.append(pytest.param(dispatch.dispatcher_type(), id="native"))


def kernel_function(body: str, params: tuple[Any, ...], *returns: Any, names: str = "abcdefgh", **fields: Any) -> Any:
    """A dispatcher with one native version; `B` in the body is the offset of the first result word."""
    compiler = toolchain.find()
    assert compiler is not None
    base = result_base(params, fields.get("hidden", ()))
    source = f"{PRELUDE}\n#define B {base}\nint64_t kernel(const weft_rt *rt, int64_t *w) {{\n{body}\n}}\n"
    if "helpers" in fields:
        source = source.replace("int64_t kernel(", fields.pop("helpers") + "\nint64_t kernel(", 1)
    kernel = dispatch.load_kernel(compiler.build_shared(source, name="test"))
    function = function_type(dispatch.dispatcher_type())(Signature(tuple(names[: len(params)])))
    function.add_version(
        Version(params, returns or (NoneResult(),), kernel.address, words=base + 40, keepalive=kernel, **fields)
    )
    return function


def accepts(base: Any, params: tuple[Any, ...], *values: Any, hidden: tuple[Any, ...] = ()) -> bool:
    """Whether a version with a Python body takes the call."""
    function = function_type(base)(Signature(tuple(f"p{i}" for i in range(len(params)))))
    function.add_version(Version(params, (), lambda *given: given, hidden=hidden))
    try:
        given = function(*values)
    except Missed:
        return False
    assert all(left is right for left, right in zip(given, values))
    return True


# --- guards --------------------------------------------------------------------------------------------------------


class Subclass(np.ndarray):
    pass


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


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


class Model:
    def __init__(self) -> None:
        self.array = np.arange(3.0)
        self.inner = types.SimpleNamespace(step=0.5)

    @property
    def broken(self) -> float:
        raise ValueError("no such thing")


def cell_of(value: Any) -> types.CellType:
    return types.CellType(value)


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
    cyclic = function_type(base)(Signature(()))
    cyclic.add_version(Version((), (), lambda: cyclic))
    cyclic_reference = weakref.ref(cyclic)
    assert cyclic() is cyclic
    del function, cyclic, bound, owner, Owner
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


# --- words in ------------------------------------------------------------------------------------------------------


@native
@pytest.mark.parametrize(
    "view",
    [
        np.arange(24.0).reshape(4, 6),
        np.arange(24.0).reshape(4, 6).T,
        np.arange(24.0).reshape(4, 6)[::-1, ::-2],
        np.asfortranarray(np.arange(24.0).reshape(4, 6)),
        np.zeros((0, 5)),
        np.broadcast_to(np.arange(3.0), (4, 3)),
    ],
)
def test_strided_arrays_reach_the_kernel(view: np.ndarray) -> None:
    body = """
    double *data = (double *)w[8], sum = 0;
    for (int64_t i = 0; i < w[9]; i++)
        for (int64_t j = 0; j < w[10]; j++)
            sum += (10 * i + j) * data[i * w[11] + j * w[12]];
    w[B] = BITS(sum);
    return 0;
    """
    params = (ArrayParam(F64, 2),)
    function = kernel_function(body, params, ScalarResult("float", result_base(params)))
    weights = 10 * np.arange(view.shape[0])[:, None] + np.arange(view.shape[1])
    assert function(view) == float((weights * view).sum())


@native
def test_a_zero_dimensional_array_is_written_in_place() -> None:
    function = kernel_function("*(double *)w[8] += 1; return 0;", (ArrayParam(F64, 0, written=True),))
    array = np.array(1.5)
    assert function(array) is None
    assert array == 2.5
    with pytest.raises(Missed):
        function(read_only(array))


SCALAR_VALUES: list[tuple[str, Any]] = [
    ("int", -(2**63)), ("int", 2**63 - 1), ("bool", True), ("bool", False), ("float", -0.0), ("float", 1e-310),
    ("complex", complex(1.5, -2.5)), ("np.bool", np.True_), ("np.int8", np.int8(-128)), ("np.int16", np.int16(-5)),
    ("np.int32", np.int32(-(2**31))), ("np.int64", np.int64(-(2**63))), ("np.uint8", np.uint8(255)),
    ("np.uint16", np.uint16(65535)), ("np.uint32", np.uint32(2**32 - 1)), ("np.uint64", np.uint64(2**64 - 1)),
    ("np.float16", np.float16(1.0 / 3)), ("np.float16", np.float16(6e-8)), ("np.float32", np.float32(1.0 / 3)),
    ("np.float64", np.float64(1.0 / 3)), ("np.complex64", np.complex64(1 / 3 - 2j)),
    ("np.complex128", np.complex128(1 / 3 - 2j)),
]  # fmt: skip


@native
@pytest.mark.parametrize(("kind", "value"), SCALAR_VALUES)
def test_scalars_go_in_and_out(kind: str, value: Any) -> None:
    params = (ScalarParam(kind),)
    base = result_base(params)
    function = kernel_function("w[B] = w[8]; w[B + 1] = w[9]; return 0;", params, ScalarResult(kind, base))
    result = function(value)
    assert type(result) is type(value)
    assert np.asarray(result).tobytes() == np.asarray(value).tobytes()
    if kind.endswith("float32"):
        word = kernel_function("w[B] = w[8]; return 0;", params, ScalarResult("float", base))
        assert word(value) == float(value)


@native
def test_many_words_and_many_parameters() -> None:
    params = (ArrayParam(I64, 3),) * 40
    terms = "".join(f"sum += {k + 1} * *(int64_t *)w[{8 + 7 * k}];" for k in range(40))
    names = tuple(f"p{k}" for k in range(40))
    function = kernel_function(
        f"int64_t sum = 0; {terms} w[B] = sum; return 0;", params, ScalarResult("int", 288), names=names
    )
    assert function(*(np.full((1, 1, 1), k) for k in range(40))) == sum(k * (k + 1) for k in range(40))
    limit = function_type(dispatch.dispatcher_type())(Signature(tuple(f"p{k}" for k in range(300))))
    with pytest.raises(TypeError, match="256"):
        limit.add_version(Version((ScalarParam("int"),) * 300, (), lambda *given: given))


# --- lists ---------------------------------------------------------------------------------------------------------

DOUBLE_ALL = """
    TYPE *data = (TYPE *)w[8];
    for (int64_t i = 0; i < COUNT; i++) data[i] = EXPRESSION;
    return STATUS;
"""


def list_kernel(kind: str, rank: int, expression: str, status: int = 0, **fields: Any) -> Any:
    count = "*".join(f"w[{9 + axis}]" for axis in range(rank))
    element = {"float": "double", "int": "int64_t", "bool": "char"}[kind]
    body = DOUBLE_ALL.replace("TYPE", element).replace("COUNT", count).replace("EXPRESSION", expression)
    param = ListParam(kind, rank, written=True)  # type: ignore[arg-type]
    return kernel_function(body.replace("STATUS", str(status)), (param,), **fields)


@native
def test_lists_are_copied_in_and_changes_copied_out() -> None:
    rows = [[1.0, 2.0, 3.0], [4.0, 0.0, 6.0]]
    first, second = rows
    kept = second[1]
    assert list_kernel("float", 2, "data[i] * 2")(rows) is None
    assert rows == [[2.0, 4.0, 6.0], [8.0, 0.0, 12.0]]
    assert rows[0] is first and rows[1] is second
    assert second[1] is kept
    numbers = [1, 2**40, -3]
    list_kernel("int", 1, "-data[i]")(numbers)
    assert numbers == [-1, -(2**40), 3]
    flags = [True, False]
    list_kernel("bool", 1, "!data[i]")(flags)
    assert flags == [False, True] and all(type(flag) is bool for flag in flags)
    cube = [[[1.0], [2.0]], [[3.0], [4.0]]]
    list_kernel("float", 3, "data[i] + i")(cube)
    assert cube == [[[1.0], [3.0]], [[5.0], [7.0]]]
    empty: list[list[float]] = [[], []]
    list_kernel("float", 2, "data[i]")(empty)
    assert empty == [[], []]


@native
def test_unchanged_elements_keep_their_objects_even_nan() -> None:
    values = [float("nan"), -0.0, 1.0]
    before = list(values)
    list_kernel("float", 1, "data[i]")(values)
    assert all(left is right for left, right in zip(values, before))


@native
def test_effects_before_an_exception_stay_and_a_guard_has_none() -> None:
    values = [1.0, 2.0]
    with pytest.raises(ValueError):
        list_kernel("float", 1, "data[i] + 1", 2, exceptions=(ExceptionSpec(ValueError, "stop"),))(values)
    assert values == [2.0, 3.0]
    with pytest.raises(Missed) as caught:
        list_kernel("float", 1, "data[i] + 1", 1)(values)
    assert caught.value.call[2] == 1
    assert values == [2.0, 3.0]


# --- results -------------------------------------------------------------------------------------------------------

NEW_ARRAYS = """
    int64_t shape[2] = {w[9], 2};
    double *first = rt->new_array(w, B, 12, 2, shape, 1);
    int64_t *second = rt->new_array(w, B + 1, 7, 1, shape, 0);
    if (!first || !second) return 4;
    for (int64_t i = 0; i < w[9]; i++) { first[2 * i] = i; second[i] = -i; }
"""


@native
def test_nested_results() -> None:
    params = (ArrayParam(F64, 1),)
    base = result_base(params)
    array, marker = ArrayResult(base), object()
    tree = TupleResult(
        (array, ListOfResult((ArrayResult(base + 1), ArgResult(0))), ListResult(array), ConstResult(marker), array,
         NoneResult(), TupleResult(()), ScalarResult("bool", base + 5))
    )  # fmt: skip
    function = kernel_function(NEW_ARRAYS + "w[B + 5] = 1; return 0;", params, tree)
    given = np.zeros(3)
    first, (second, argument), listed, constant, again, nothing, empty, flag = function(given)
    np.testing.assert_array_equal(first, [[0, 0], [1, 0], [2, 0]])
    assert first.flags.owndata and first.flags.c_contiguous and first.flags.writeable
    np.testing.assert_array_equal(second, [0, -1, -2])
    assert second.dtype == np.int64
    assert argument is given and constant is marker and again is first
    assert listed == first.tolist() and nothing is None and empty == () and flag is True
    assert sys.getrefcount(second) == 2
    assert function(np.zeros(0))[0].shape == (0, 2)


@native
def test_the_return_id_selects_the_result_and_arrays_not_returned_are_freed() -> None:
    params = (ArrayParam(F64, 1),)
    base = result_base(params)
    function = kernel_function(
        NEW_ARRAYS + "w[0] = w[9] > 2; return w[9] > 5 ? 1 : 0;", params, ArrayResult(base), ArrayResult(base + 1)
    )
    assert function(np.zeros(2)).shape == (2, 2)
    assert function(np.zeros(3)).shape == (3,)
    big = np.zeros(200_000)
    tracemalloc.start()
    for _ in range(5):
        with pytest.raises(Missed):
            function(big)
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert kept < big.nbytes


@native
def test_a_slot_used_twice_frees_the_first_array() -> None:
    function = kernel_function(
        "int64_t n = 100000; for (int i = 0; i < 50; i++) if (!rt->new_array(w, B, 12, 1, &n, 0)) return 4; return 0;",
        (),
        ArrayResult(CONTROL_WORDS),
    )
    tracemalloc.start()
    array = function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert array.shape == (100000,)
    assert peak < 4 * array.nbytes


VIEW = "w[B] = w[8] + 8 * w[11] * (w[9] - 1) + 8 * w[12]; w[B+1] = w[10] - 1; w[B+2] = w[9]; w[B+3] = w[12]; w[B+4] = -w[11];"


@native
@pytest.mark.parametrize("array", [np.arange(12.0).reshape(3, 4), np.arange(24.0).reshape(4, 6).T[::2, ::-1]])
def test_views_of_arguments(array: np.ndarray) -> None:
    params = (ArrayParam(F64, 2),)
    function = kernel_function(VIEW + "return 0;", params, ViewResult(0, result_base(params), 2))
    expected = array[::-1, 1:].T
    view = function(array)
    np.testing.assert_array_equal(view, expected)
    assert view.strides == expected.strides and view.base is expected.base
    assert np.shares_memory(view, array) and view.flags.writeable and not view.flags.owndata
    assert view.flags.c_contiguous == expected.flags.c_contiguous
    view[0, 0] = -1
    assert array[-1, 1] == -1
    assert not function(read_only(array.copy())).flags.writeable


@native
def test_views_of_new_arrays_keep_them_alive() -> None:
    body = """
    int64_t n = 5;
    double *data = rt->new_array(w, B, 12, 1, &n, 0);
    if (!data) return 4;
    for (int64_t i = 0; i < n; i++) data[i] = i;
    w[B+1] = (int64_t)(data + 4); w[B+2] = 5; w[B+3] = -1;
    return 0;
    """
    function = kernel_function(body, (), ViewResult(-1 - CONTROL_WORDS, CONTROL_WORDS + 1, 1))
    view = function()
    np.testing.assert_array_equal(view, [4, 3, 2, 1, 0])
    assert view.base.shape == (5,)


# --- statuses ------------------------------------------------------------------------------------------------------


@native
def test_exceptions_carry_message_and_line() -> None:
    source = "def user(x):\n    return table[x]\n"
    file = "<weft test>"
    import linecache

    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    table = (
        ExceptionSpec(IndexError, "index {0} is out of bounds for axis {1} with size {2}"),
        ExceptionSpec(StopIteration),
        ExceptionSpec(KeyError, ("as", {"is": 1})),
    )
    function = kernel_function(
        "w[1] = w[8]; w[2] = 2; w[3] = -7; w[4] = 0; w[5] = 3; return 2;",
        (ScalarParam("int"),),
        exceptions=table,
        location=SourceLocation(file, "user"),
    )
    with pytest.raises(IndexError, match="^index -7 is out of bounds for axis 0 with size 3$") as caught:
        function(0)
    last = traceback.extract_tb(caught.value.__traceback__)[-1]
    assert (last.filename, last.lineno, last.name, last.line) == (file, 2, "user", "return table[x]")
    with pytest.raises(StopIteration) as stopped:
        function(1)
    assert stopped.value.args == ()
    with pytest.raises(KeyError) as key:
        function(2)
    assert key.value.args == ("as", {"is": 1})
    with pytest.raises(SystemError):
        function(3)
    assert function.call_counts == (4,)


@native
@pytest.mark.parametrize(
    ("body", "error"),
    [
        ("return 3;", KeyboardInterrupt),
        ("return 4;", MemoryError),
        ("return 77;", SystemError),
        ("w[0] = 5; return 0;", SystemError),
        ("w[0] = 1; return 0;", SystemError),
        ("int64_t n = -1; return rt->new_array(w, B, 12, 1, &n, 0) ? 0 : 4;", ValueError),
        ("int64_t n = 1LL << 58; return rt->new_array(w, B, 12, 1, &n, 0) ? 0 : 4;", MemoryError),
        ("int64_t n[2] = {1LL << 40, 1LL << 40}; return rt->new_array(w, B, 12, 2, n, 0) ? 0 : 4;", ValueError),
    ],
)
def test_statuses_become_exceptions(body: str, error: type[BaseException]) -> None:
    function = kernel_function(body, (), NoneResult(), ArrayResult(CONTROL_WORDS))
    with pytest.raises(error):
        function()


@native
def test_the_guard_status_runs_the_plain_function() -> None:
    function = kernel_function("return w[8] < 0;", (ScalarParam("int"),))
    assert function(1) is None
    with pytest.raises(Missed) as caught:
        function(a=-1)
    assert caught.value.call == ((), {"a": -1}, 1)
    assert (function.call_counts, function.misses, function.guard_failures) == ((1,), 0, 1)


# --- references, memory, threads -----------------------------------------------------------------------------------


def references(objects: list[Any]) -> list[int]:
    return [sys.getrefcount(item) for item in objects]


@native
def test_no_reference_is_lost_or_kept() -> None:
    model = Model()
    row, array, text = [1.5, 2.5], np.arange(3.0), "".join(["un", "common"])
    namespace: dict[str, Any] = {"g": 123456.5}
    cell = cell_of(987654)
    params = (
        ArrayParam(F64, 1),
        ListParam("float", written=True),
        ObjectParam(Model),
        ConstParam(text),
        ScalarParam("float"),
    )
    hidden = (
        AttrParam(2, "array", ArrayParam(F64, 1)),
        AttrParam(2, "inner.step", ScalarParam("float")),
        GlobalParam(namespace, "g", ScalarParam("float")),
        CellParam(cell, ScalarParam("int")),
    )
    base = result_base(params, hidden)
    marker = object()
    tree = TupleResult(
        (ArrayResult(base), ArgResult(0), ConstResult(marker), ArgResult(5), ListOfResult((ArgResult(6),)))
    )
    body = "int64_t n = 4; if (!rt->new_array(w, B, 12, 1, &n, 1)) return 4; return w[14] == BITS(9.0) ? 2 : 0;"
    function = kernel_function(body, params, tree, hidden=hidden, exceptions=(ExceptionSpec(ValueError, "{0}"),))
    watched = [
        model,
        row,
        array,
        text,
        marker,
        model.array,
        model.inner,
        namespace["g"],
        cell,
        row[0],
        None,
        ValueError,
    ]

    def use() -> None:
        function(array, row, model, text, 1.0)
        function(array, row, d=text, c=model, e=1.0)
        for arguments in ((array, row, model, text, 9.0), (array, row, model, text, 1), (array, [1], model, text, 1.0)):
            with pytest.raises((ValueError, Missed)):
                function(*arguments)
        with pytest.raises(Missed):
            function(array, e=2.0)

    use()
    gc.collect()
    before = references(watched)
    for _ in range(50):
        use()
    gc.collect()
    after = references(watched)
    # None and ValueError are shared by the whole process; a leak would show as 50 or more.
    assert all(abs(left - right) < 40 for left, right in zip(before, after)), (before, after)
    assert before[:10] == after[:10]


@native
def test_memory_does_not_grow_over_many_calls() -> None:
    params = (ArrayParam(F64, 1), ListParam("int", 2, written=True))
    base = result_base(params)
    body = """
    int64_t n = w[9];
    double *out = rt->new_array(w, B, 12, 1, &n, 0), *scratch = rt->alloc(8 * n);
    if (!out || !scratch) return 4;
    for (int64_t i = 0; i < n; i++) scratch[i] = ((double *)w[8])[i * w[10]];
    for (int64_t i = 0; i < n; i++) out[i] = 2 * scratch[i];
    rt->release(scratch);
    ++*(int64_t *)w[11];
    return 0;
    """
    function = kernel_function(body, params, TupleResult((ArrayResult(base), ListResult(ArrayResult(base)))))
    array, rows = np.arange(1000.0), [[1000, 2], [3, 4]]
    function(array, rows)
    gc.collect()
    tracemalloc.start()
    for _ in range(20):
        function(array, rows)
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(500):
        function(array, rows)
    growth = tracemalloc.get_traced_memory()[0] - first
    tracemalloc.stop()
    assert rows[0][0] == 1521
    assert growth < 4000


@native
def test_scratch_memory_is_aligned_recycled_and_bounded() -> None:
    body = """
    void *blocks[100];
    for (int i = 0; i < 100; i++) {
        blocks[i] = rt->alloc(w[8]);
        if (!blocks[i] || (int64_t)blocks[i] % 64) return 1;
        if (w[8]) *(char *)blocks[i] = 1;
    }
    for (int i = 0; i < 100; i++) rt->release(blocks[i]);
    void *again = rt->alloc(w[8]);
    w[B] = 0;
    for (int i = 0; i < 100; i++) w[B] |= again == blocks[i];
    rt->release(again);
    rt->release(0);
    return rt->alloc(-1) || rt->alloc(1LL << 62);
    """
    function = kernel_function(body, (ScalarParam("int"),), ScalarResult("bool", CONTROL_WORDS + 1))
    assert CORE is not None
    for size in (0, 1, 100, 5000, 1 << 20, 10 << 20):
        assert function(size) is True
        assert CORE.scratch_kept <= 256 << 20


@native
def test_kernels_run_without_the_interpreter_lock() -> None:
    """The kernel waits for a flag that only another Python thread sets."""
    body = "volatile int64_t *flag = (int64_t *)w[8]; flag[0] = 1; for (int64_t i = 0; i < 20000000000 && !flag[1]; i++); return !flag[1];"
    function = kernel_function(body, (ArrayParam(I64, 1, written=True),))
    flags = np.zeros(2, np.int64)

    def answer() -> None:
        while not flags[0]:
            time.sleep(0.001)
        flags[1] = 1

    helper = threading.Thread(target=answer)
    helper.start()
    assert function(flags) is None
    helper.join()


@native
def test_small_work_may_keep_the_interpreter_lock() -> None:
    params = (ArrayParam(F64, 1),)
    base = result_base(params)
    body = "int64_t n = 2; w[B+1] = rt->threads(); rt->poll(); return rt->new_array(w, B, 12, 1, &n, 1) ? 0 : 4;"
    result = TupleResult((ArrayResult(base), ScalarResult("int", base + 1)))
    function = kernel_function(body, params, result, hold_below=100)
    array, threads = function(np.zeros(3))
    assert threads == 1 and array.tolist() == [0, 0]
    assert function(np.zeros(100))[1] >= 1


@native
def test_a_version_removed_while_it_runs_survives_the_call() -> None:
    body = "volatile int64_t *flag = (int64_t *)w[8]; flag[0] = 1; while (!flag[1]); return 0;"
    function = kernel_function(body, (ArrayParam(I64, 1, written=True),), ArgResult(0))
    flags = np.zeros(2, np.int64)
    answers: list[Any] = []
    helper = threading.Thread(target=lambda: answers.append(function(flags)))
    helper.start()
    while not flags[0]:
        time.sleep(0.001)
    function.clear_versions()
    gc.collect()
    flags[1] = 1
    helper.join()
    assert answers[0] is flags
    with pytest.raises(Missed):
        function(flags)


@native
def test_subclasses_keep_the_fast_path_unless_they_override_the_call() -> None:
    function_class = function_type(dispatch.dispatcher_type())
    vectorcall = 1 << 11
    assert function_class.__flags__ & vectorcall

    class Loud(function_class):  # type: ignore[misc]
        def __call__(self, *args: Any) -> Any:
            return ("loud", super().__call__(*args))

    assert not Loud.__flags__ & vectorcall
    loud = Loud(Signature(("x",)))
    loud.add_version(Version((ScalarParam("int"),), (), lambda x: x))
    assert loud(3) == ("loud", 3)


@native
def test_calls_in_other_forms() -> None:
    function = kernel_function("w[B] = w[8] - w[9]; return 0;", (ScalarParam("int"),) * 2, ScalarResult("int", 10))
    assert function(*[5, 3]) == 2
    assert function(**{"a": 5, "b": 3}) == 2
    assert list(map(function, [5, 6], [1, 2])) == [4, 4]
    assert function.__call__(5, 3) == 2
    uninitialised = function_type(dispatch.dispatcher_type()).__new__(type(function))
    with pytest.raises(Missed):
        uninitialised(1, 2)


@native
def test_ctrl_c_stops_a_kernel() -> None:
    """In a process of its own, so that the signal meets nothing else."""
    script = textwrap.dedent(
        """
        import os, signal, sys, threading, time
        sys.path[:0] = {paths!r}
        from tests_kernel import endless
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        start = time.perf_counter()
        try:
            endless({tasks})
        except KeyboardInterrupt:
            print("interrupted" if time.perf_counter() - start < 1.3 else "late")
        print(endless.call_counts)
        """
    )
    for tasks in (1, 2):
        answer = run_script(script, tasks=tasks)
        assert answer.splitlines() == ["interrupted", "(1,)"], answer


@native
def test_a_handler_that_returns_does_not_stop_a_kernel_and_its_exception_is_kept() -> None:
    body = "for (;;) { if (*(volatile int64_t *)w[8]) return 0; if (rt->poll()) return 3; }"
    function = kernel_function(body, (ArrayParam(I64, 1, written=True),))
    flag = np.zeros(1, np.int64)
    before = signal.signal(signal.SIGALRM, lambda *_: flag.fill(1))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        assert function(flag) is None

        def fail(*_: Any) -> None:
            raise LookupError("from the handler")

        signal.signal(signal.SIGALRM, fail)
        flag[0] = 0
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(LookupError, match="from the handler"):
            function(flag)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


ENDLESS = """
import sys
from weft.runtime import dispatch, threads, toolchain
from weft.runtime.descriptor import *
threads.set_num_threads(2)
source = PRELUDE + '''
static const weft_rt *services;
static void piece(void *ctx, int64_t begin, int64_t end, int64_t task) { while (!services->poll()); }
int64_t kernel(const weft_rt *rt, int64_t *w) {
    services = rt;
    if (w[8] == 1) { while (!rt->poll()); return 3; }
    rt->parallel(piece, 0, w[8], w[8]);
    return 3;
}
'''
loaded = dispatch.load_kernel(toolchain.find().build_shared(source, name="endless"))
endless = dispatch.dispatcher_type()(Signature(("tasks",)))
endless.add_version(Version((ScalarParam("int"),), (NoneResult(),), loaded.address, 20, keepalive=loaded))
"""


def run_script(script: str, **values: Any) -> str:
    import tempfile
    from pathlib import Path

    import weft

    with tempfile.TemporaryDirectory() as directory:
        (Path(directory) / "tests_kernel.py").write_text(f"PRELUDE = {PRELUDE!r}\n{ENDLESS}")
        paths = [directory, str(Path(weft.__file__).parents[1])]
        text = script.replace("{paths!r}", repr(paths))
        for name, value in values.items():
            text = text.replace("{" + name + "}", str(value))
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


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


# --- BLAS ----------------------------------------------------------------------------------------------------------


@native
def test_blas_of_numpy_serves_kernels() -> None:
    table = blas.find()
    if table is None:
        pytest.skip("NumPy has loaded no BLAS with C entry points")
    body = """
    typedef INTEGER integer;
    void (*gemm)(int, int, int, integer, integer, integer, double, double *, integer, double *, integer, double, double *,
                 integer) = rt->dgemm;
    double (*dot)(integer, double *, integer, double *, integer) = rt->ddot;
    int64_t shape[2] = {w[9], w[15]};
    double *out = rt->new_array(w, B, 12, 2, shape, 0);
    if (!out || rt->blas_ilp64 != (sizeof(integer) == 8)) return 4;
    gemm(101, 111, 111, w[9], w[15], w[10], 1.0, (double *)w[8], w[11], (double *)w[13], w[16], 0.0, out, w[15]);
    w[B + 1] = BITS(dot(w[10], (double *)w[8], 1, (double *)w[8], 1));
    return 0;
    """.replace("INTEGER", "int64_t" if table.ilp64 else "int")
    params = (ArrayParam(F64, 2),) * 2
    base = result_base(params)
    function = kernel_function(body, params, TupleResult((ArrayResult(base), ScalarResult("float", base + 1))))
    rng = np.random.default_rng(1)
    left, right = rng.random((30, 40)), rng.random((40, 20))
    result, dot = function(left, right)
    np.testing.assert_array_equal(result, left @ right)
    assert dot == pytest.approx(left[0] @ left[0], rel=1e-14)


def test_no_loaded_blas_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas, "_loaded_libraries", lambda: iter(["/nowhere/libopenblas.so", "/lib/libm.so.6"]))
    assert blas.find() is None


# --- both dispatchers on the same random calls ---------------------------------------------------------------------


@native
def test_both_dispatchers_accept_the_same_calls() -> None:
    array, row = np.arange(3.0), [1.0, 2.0]
    values: list[Any] = [
        array, array[::-1], array.astype(np.float32), array.astype(">f8"), np.array(1.0), read_only(np.arange(3.0)), row, [row, row],
        [[1.0], [2.0]], [1, 2], [], 1, 2**70, True, 1.0, -0.0, 1j, np.float64(1), np.float32(1), np.int64(1), None, "x", (1, 2),
    ]  # fmt: skip
    params: list[Any] = [
        ArrayParam(F64, 1), ArrayParam(F64, 1, written=True), ArrayParam(F64, 0), ListParam("float"),
        ListParam("float", written=True), ListParam("float", 2, written=True), ListParam("int"), ScalarParam("int"), ScalarParam("float"),
        ScalarParam("np.float64"), ConstParam(0.0), ConstParam((1, 2)), ConstParam("x"), SameAsParam(0), ObjectParam(type(None)),
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
