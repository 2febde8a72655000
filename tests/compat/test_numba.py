"""`weft.compat.numba`: decorators, types, containers and ufuncs under Numba's names, with Python's answers."""

from __future__ import annotations

import importlib
import math
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import weft
from weft import compat
from weft.compat import numba
from weft.compat.numba import float64, guvectorize, int64, njit, prange, typed, types, vectorize
from weft.compat.numba.types import parsed


@pytest.mark.parametrize(
    "decorator",
    [
        njit,
        numba.jit,
        njit(),
        njit(cache=True, nogil=True),
        njit("float64(float64[:])"),
        njit(float64(float64[::1])),
        njit([float64(float64[:]), "float32(float32[:])"]),
        numba.jit(nopython=True, fastmath=True),
        numba.jit("f8(f8[:])", nopython=True, boundscheck=True, error_model="numpy", inline="always"),
        njit((float64[:],)),
    ],
)
def test_every_way_to_decorate(decorator: Any) -> None:
    def total(a: Any) -> Any:
        s = 0.0
        for i in range(a.shape[0]):
            s += a[i]
        return s

    made = decorator(total)
    assert made(np.arange(10.0)) == 45.0
    assert made.py_func is total
    assert made.signatures, made.stats["fallbacks"]
    assert decorator(made).py_func is total


def test_options_become_those_of_weft() -> None:
    def f(x: Any) -> Any:
        return x + 1

    assert njit(f).options.parallel is False
    assert njit(parallel=True)(f).options.parallel is True
    assert njit(fastmath=True)(f).options.fp == "fast"
    assert njit(f).options.fp == "numpy"
    assert njit(fastmath={"nsz", "reassoc", "arcp"})(f).options.fp == "regroup"  # NaN keeps its meaning
    for part in ({"nsz"}, {"reassoc"}, {"nnan", "ninf", "nsz"}, set()):
        assert njit(fastmath=part)(f).options.fp == "numpy"
    assert njit(fastmath={"fast"})(f).options.fp == "fast"
    assert njit(parallel=True, fastmath={"nnan"})(f).targetoptions["parallel"] is True
    with pytest.raises(KeyError, match="fastmaths"):
        njit(fastmaths=True)


def test_options_that_a_program_changes_hold_after_recompile() -> None:
    @njit(fastmath=True)
    def shifted(x: Any, y: Any) -> Any:
        return (x - y) + y

    shifted(1.0, 2.0)
    shifted.targetoptions["fastmath"] = False
    shifted.recompile()
    assert shifted.options.fp == "numpy" and not shifted.signatures
    assert np.isnan(shifted(0.0, np.inf))
    shifted.targetoptions["fastmath"] = {"nsz", "reassoc"}
    shifted.recompile()
    assert shifted.options.fp == "regroup" and np.isnan(shifted(np.nan, 1.0))
    assert shifted(0.0, np.inf) == 0.0 or not shifted.signatures  # x - y + y is x
    shifted.targetoptions["fastmath"] = True
    shifted.recompile()
    assert shifted.options.fp == "fast"
    assert shifted(1.0, 2.0) == 1.0 and len(shifted.signatures) == 1
    shifted.recompile()  # nothing has changed: what was compiled stays
    assert len(shifted.signatures) == 1


def test_prange_is_a_range_where_parallel_was_not_asked_for() -> None:
    def running(a: Any) -> Any:
        for i in prange(1, a.shape[0]):
            a[i] = a[i - 1] + 1.0
        return a

    assert njit(running)(np.zeros(4)).tolist() == [0, 1, 2, 3]
    with pytest.raises(weft.ParallelError):
        njit(parallel=True)(running)(np.zeros(4))


def test_prange_with_a_break_where_parallel_was_not_asked_for() -> None:
    @njit
    def first(a: Any) -> Any:
        for i in prange(a.shape[0]):
            if a[i] > 2:
                break
        return i

    assert first(np.arange(9.0)) == 3
    assert first.signatures


def test_python_s_integers_and_indices() -> None:
    @njit
    def power(n: Any) -> Any:
        return 3**n

    @njit
    def item(a: Any, i: Any) -> Any:
        return a[i]

    assert power(50) == 3**50
    with pytest.raises(IndexError):
        item(np.zeros(3), 3)


def test_typed_containers_are_native() -> None:
    @njit
    def filled(n: Any) -> Any:
        squares = typed.List.empty_list(types.int64)
        for i in range(n):
            squares.append(i * i)
        halves = typed.Dict.empty(key_type=types.int64, value_type=types.float64)
        for i in range(n):
            halves[i] = i * 0.5
        more = typed.List()
        more.append(1.5)
        return squares, halves, more

    assert filled(3) == ([0, 1, 4], {0: 0.0, 1: 0.5, 2: 1.0}, [1.5])
    assert filled.signatures and not filled.stats["fallbacks"]
    assert typed.List([1, 2]) == [1, 2] and isinstance([1], typed.List)
    assert typed.Dict({1: 2}) == {1: 2} and isinstance({}, typed.Dict)


def test_types_are_dtypes_and_conversions() -> None:
    @njit
    def made(n: Any) -> Any:
        z = np.zeros(n, dtype=int64)
        z[0] = int64(3.7)
        return z

    assert made(2).tolist() == [3, 0] and made(2).dtype == np.int64
    assert made.signatures
    assert np.zeros(1, dtype=types.float32).dtype == np.float32
    assert types.uint8.maxval == 255 and types.intp is types.int64


@pytest.mark.parametrize(
    ("text", "count"),
    [("void(float64[:, ::1], int64)", 2), ("f8(f8)", 1), ("(i8, i8)", 2), ("types.float64()", 0), ("b1(string)", 1)],
)
def test_signatures_are_read(text: str, count: int) -> None:
    assert len(parsed(text).args) == count


@pytest.mark.parametrize("text", ["float64(", "nothing(float64)", "__import__('os')", "float64[3]"])
def test_what_is_no_signature(text: str) -> None:
    with pytest.raises(numba.TypingError):
        njit(text)


def test_typeof() -> None:
    assert numba.typeof(np.zeros((2, 2), order="F")).layout == "F"
    assert numba.typeof(1.5) == types.float64
    assert numba.typeof((1, 2)) == types.UniTuple(types.int64, 2)


def test_objmode_runs_as_python() -> None:
    @njit
    def shown(x: Any) -> Any:
        y = x * 2
        with numba.objmode(z="float64[:]"):
            z = np.array([float(str(q)) for q in y])
        return z + 1

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", weft.FallbackWarning)
        assert shown(np.arange(3.0)).tolist() == [1, 3, 5]


def test_vectorize_with_signatures() -> None:
    @vectorize(["int64(int64, int64)", "float64(float64, float64)"])
    def larger(a: Any, b: Any) -> Any:
        return a if a > b else b

    x = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(larger(x, 2.5), np.maximum(x, 2.5))
    assert larger(np.arange(3), 1).dtype == np.int64
    assert larger(1.5, 2) == 2.0
    assert larger.reduce(np.array([1.0, 5.0, 2.0])) == 5.0
    out = np.empty((2, 3))
    assert larger(x, x.T[:, :1].T, out) is out
    with pytest.raises(TypeError):
        larger(x, 1j)


def test_vectorize_without_signatures_takes_the_type_of_all_values() -> None:
    """The first element is a whole number and another is not: none is cut off."""

    @vectorize
    def mixed(a: Any) -> Any:
        return a if a < 3 else 0.5

    found = mixed(np.arange(5))
    assert found.tolist() == [0.0, 1.0, 2.0, 0.5, 0.5]
    assert mixed(np.zeros(0)).shape == (0,)


def test_guvectorize() -> None:
    @guvectorize([(float64[:], float64, float64[:])], "(n),()->(n)")
    def shifted(x: Any, y: Any, out: Any) -> None:
        for i in range(x.shape[0]):
            out[i] = x[i] + y

    @guvectorize(["void(int64[:], int64[:], int64[:])"], "(n),(n)->()")
    def inner(a: Any, b: Any, out: Any) -> None:
        out[0] = 0
        for i in range(a.shape[0]):
            out[0] += a[i] * b[i]

    assert shifted(np.ones((2, 3)), np.arange(2.0)).tolist() == [[1, 1, 1], [2, 2, 2]]
    assert shifted(np.ones(3), 1).tolist() == [2, 2, 2]
    assert inner(np.arange(3), np.arange(3)) == 5
    assert inner(np.arange(6).reshape(2, 3), np.arange(3)).tolist() == [5, 14]
    with pytest.raises(ValueError, match="dimension n"):
        inner(np.arange(3), np.arange(4))
    with pytest.raises(ValueError, match="no layout"):
        guvectorize(["void(int64[:])"], "n->n")(lambda a, b: None)


def test_guvectorize_writes_the_operands_of_a_layout_without_outputs() -> None:
    @guvectorize(["void(float64[:], float64[:])"], "(n),(n)")
    def add_to(a: Any, b: Any) -> None:
        for i in range(a.shape[0]):
            b[i] += a[i]

    b = np.zeros((2, 3))
    add_to(np.ones((2, 3)), b)
    assert b.tolist() == [[1, 1, 1], [1, 1, 1]]


def test_overload_takes_the_place_of_a_body_that_only_raises() -> None:
    def thrice(x: Any) -> Any:
        raise NotImplementedError("only in compiled code")

    @numba.extending.overload(thrice)
    def _(x: Any) -> Any:
        return lambda x: 3 * x

    @njit
    def total(a: Any) -> Any:
        s = 0.0
        for x in a:
            s += thrice(x)
        return s

    assert total(np.arange(4.0)) == 18.0

    def kept(x: Any) -> Any:
        if x > 0:
            raise NotImplementedError
        return x

    @numba.extending.overload(kept)
    def _(x: Any) -> Any:
        return lambda x: 3 * x

    assert kept(-1) == -1


def test_structures_whose_properties_hand_out_their_fields() -> None:
    structref = importlib.import_module("weft.compat.numba.experimental.structref")

    class PointType(types.StructRef):  # type: ignore[misc]
        pass

    class Point(structref.StructRefProxy):  # type: ignore[misc]
        def __new__(cls, x: Any, y: Any) -> Any:
            return structref.StructRefProxy.__new__(cls, x, y)

        @property
        def x(self) -> Any:
            return x_of(self)

    @njit
    def x_of(point: Any) -> Any:
        return point.x

    structref.define_proxy(Point, PointType, ["x", "y"])
    assert Point(3, 4).x == 3 and x_of(Point(1.0, 2.0)) == 1.0
    assert njit(lambda p: p.x + p.y)(Point(1.0, 2.0)) == 3.0


def test_a_class_that_holds_objects_of_its_own_kind() -> None:
    kind = numba.deferred_type()

    @numba.experimental.jitclass([("data", int64), ("next", types.Optional(kind))])
    class Node:
        def __init__(self, data: Any) -> None:
            self.data = data
            self.next = None

    kind.define(Node.class_type.instance_type)
    first, second = Node(1), Node(2)
    first.next = second
    assert first.next.data == 2 and njit(lambda node: node.data + 1)(second) == 3


def test_names_that_programs_ask_for() -> None:
    from weft.compat.numba.np import numpy_support

    assert str(types.Tuple((int64, int64))) == "UniTuple(int64 x 2)" == str(types.UniTuple(int64, 2))
    assert types.Tuple((int64, int64)) == types.UniTuple(int64, 2) != types.Tuple((int64, float64))
    assert numpy_support.as_dtype(int64) == np.int64 and numpy_support.from_dtype(np.dtype("f8")) == float64
    with pytest.raises(NotImplementedError):
        numpy_support.as_dtype(types.UniTuple(int64, 2))

    @njit
    def plus(x: Any) -> Any:
        return x + 1

    assert len(plus.nopython_signatures) == 0
    with numba.parallel_chunksize(4):
        assert plus(1) == 2
    assert list(plus.nopython_signatures) == plus.signatures != []
    assert len(njit("int64(int64)")(lambda x: x).nopython_signatures) == 1


def test_overload_fills_a_function_without_a_body() -> None:
    def twice(x):  # type: ignore[no-untyped-def]
        """For Numba's compiler."""

    @numba.extending.overload(twice)
    def _(x: Any) -> Any:
        if x == types.float64:
            return lambda x: x * 2
        return None

    assert twice(1.5) == 3.0
    with pytest.raises(numba.TypingError):
        twice("a")


def test_structures_are_objects_with_fields() -> None:
    from weft.compat.numba.experimental import structref

    class Pair(structref.StructRefProxy):
        pass

    structref.define_proxy(Pair, types.StructRef, ["left", "right"])
    pair = Pair(1, 2.5)
    assert (pair.left, pair.right) == (1, 2.5)
    with pytest.raises(TypeError, match="2 fields"):
        Pair(1)


def test_cfunc_has_an_address() -> None:
    @numba.cfunc("float64(float64)")
    def half(x: Any) -> Any:
        return x / 2

    assert half.ctypes(3.0) == 1.5 and isinstance(half.address, int)


def test_cfunc_takes_pointers() -> None:
    import ctypes

    number = ctypes.POINTER(ctypes.c_double)

    @numba.cfunc(types.void(types.CPointer(types.double), types.CPointer(float64), types.intc))
    def doubled(given: Any, out: Any, n: Any) -> None:
        source, target = numba.carray(given, n), numba.farray(out, (n,))
        for i in range(n):
            target[i] = 2 * source[i]

    a, b = np.arange(3.0), np.zeros(3)
    doubled.ctypes(a.ctypes.data_as(number), b.ctypes.data_as(number), 3)
    assert b.tolist() == [0.0, 2.0, 4.0]


def test_no_warning_of_what_the_program_gives_to_the_interpreter() -> None:
    @njit
    def sorted_down(x: Any) -> Any:
        y = np.zeros(3)
        with numba.objmode(y="float64[:]", t="float64"):
            t = float(len(str(x)))
            y = np.array(sorted(x)[::-1])
        return y * t

    def kind(x):  # type: ignore[no-untyped-def]
        pass

    @numba.extending.overload(kind)
    def _(x: Any) -> Any:
        return (lambda x: x + 1) if isinstance(x, types.Integer) else (lambda x: x * 10)

    @njit
    def asks(x: Any) -> Any:
        return kind(x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sorted_down(np.array([1.0, 3.0, 2.0])).tolist() == [30.0, 20.0, 10.0]
        assert (asks(1), asks(2.0)) == (2, 20.0)


def test_types_of_records_and_overloads() -> None:
    record = numba.from_dtype(np.dtype([("x", "f8"), ("y", "i4")]))
    assert record.fields == {"x": types.float64, "y": types.int32}
    assert numba.from_dtype(np.dtype("f4")) == types.float32

    @njit
    def same(x: Any) -> Any:
        return x

    assert len(same.overloads) == 0
    same(np.ones(2))
    assert list(same.overloads) == same.signatures


@pytest.mark.parametrize(("name", "told"), [("numba.pycc", "weft build"), ("numba.core.ir", "Numba's compiler")])
def test_a_module_that_is_not_there_says_what_to_do(name: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for loaded in [module for module in sys.modules if module.partition(".")[0] == "numba"]:
        monkeypatch.delitem(sys.modules, loaded)  # another test has imported Numba itself
    compat.install()
    try:
        with pytest.raises(ModuleNotFoundError, match=f"{name} has no counterpart in weft: .*{told}"):
            importlib.import_module(name)
    finally:
        compat.uninstall()
    with pytest.raises(AttributeError, match="numba.nothing has no counterpart"):
        numba.nothing  # noqa: B018


@pytest.mark.parametrize("name", ["generated_jit"])
def test_what_has_no_counterpart_says_so(name: str) -> None:
    with pytest.raises(numba.errors.UnsupportedError, match=name):
        getattr(numba, name)(lambda a: a)


def test_no_device() -> None:
    @numba.cuda.jit
    def kernel(a: Any) -> None: ...

    assert not numba.cuda.is_available()
    with pytest.raises(RuntimeError, match="no device"):
        kernel[1, 1](np.zeros(1))


def test_one_note_for_each_thing() -> None:
    compat.clear()
    for _ in range(3):
        njit("float64(float64)")(math.sqrt.__class__ and (lambda x: x))
    njit(error_model="numpy")(lambda x: x)
    assert [note.count for note in compat.notes()] == [3, 1]
    assert "ZeroDivisionError" in compat.note_text()[1]
    compat.clear()


def test_disable_jit_gives_the_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)

    def f() -> None: ...

    assert njit(f) is f
