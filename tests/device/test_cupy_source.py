"""The program as source for an array module: executed with NumPy as the module, and with one as strict as CuPy."""

from __future__ import annotations

import numpy as np
import pytest

import weft
from benchmarks.kernels import NAMES, load
from benchmarks.kernels.registry import agree
from tests.device import programs, programs_complex
from tests.device.module import Array, Module

PROGRAMS = (*programs.PROGRAMS, *programs_complex.PROGRAMS)


def _made(function, arguments):
    compiled = weft.jit(function, fallback="silent")
    compiled(*arguments)
    text = compiled.inspect("cupy")
    space: dict = {}
    exec(compile(text, "<generated>", "exec"), space)
    space["LEAST"] = 0
    return space, text


def _agree(one, other):
    if isinstance(other, tuple):
        return len(one) == len(other) and all(map(_agree, one, other))
    if other is None:
        return one is None
    single = getattr(other, "dtype", None) in (np.float32, np.complex64)
    return np.allclose(one, other, rtol=1e-4 if single else 1e-10, equal_nan=True)


@pytest.mark.parametrize("strict", (False, True))
@pytest.mark.parametrize("function, make", PROGRAMS, ids=lambda value: getattr(value, "__name__", ""))
def test_generated_source_computes_what_numpy_does(function, make, strict):
    space, text = _made(function, make())
    chosen = space[function.__name__]
    xp = Module() if strict else np
    ours, theirs = make(), make()
    # The variant itself: a guard that sends everything to the plain function must not pass.
    names = chosen.__code__.co_varnames[: chosen.__code__.co_argcount - 1]
    variant = space[f"{function.__name__}_arrays"]
    taken = [dict(zip(names, ours))[name] for name in variant.__code__.co_varnames[1 : variant.__code__.co_argcount]]
    with np.errstate(all="ignore"):
        result = space["here"](variant(xp, *taken))
    assert _agree(result, function(*theirs))
    assert all(map(_agree, ours, theirs))
    ours, theirs = make(), make()
    assert _agree(chosen(*ours, xp=xp), function(*theirs))


def test_small_arguments_and_other_types_take_the_plain_variant():
    space, _ = _made(programs.softmax, (np.random.rand(5, 6),))
    xp = Module()
    space["LEAST"] = 100
    x = np.random.rand(5, 6)
    assert np.allclose(space["softmax"](x, xp=xp), programs.softmax(x)) and not xp.moved
    big = np.random.rand(20, 30)
    assert np.allclose(space["softmax"](big, xp=xp), programs.softmax(big)) and xp.moved == 1
    single = big.astype(np.float32)
    assert space["softmax"](single, xp=xp).dtype == np.float32 and xp.moved == 1


def _weighted(x, weights):
    return x * weights[0] + weights[-1]


def test_lists_and_numbers_take_the_plain_variant():
    space, _ = _made(_weighted, (np.random.rand(5), [1.0, 2.0]))
    x, xp = np.random.rand(4), Module()
    assert np.allclose(space["_weighted"](x, [3.0, 4.0], xp=xp), x * 3 + 4) and not xp.moved
    assert space["_weighted"](2.0, [3.0, 4.0], xp=xp) == 10.0
    with pytest.raises(TypeError, match="arrays of a module"):
        space["_weighted"](Array(x), [3.0, 4.0], xp=xp)


def test_arrays_of_the_module_stay_there():
    space, _ = _made(programs.jacobi, (np.random.rand(9, 8), np.random.rand(9, 8), 2))
    a, b = np.random.rand(9, 8), np.random.rand(9, 8)
    there = Array(a.copy()), Array(b.copy())
    space["jacobi"](*there, 3, xp=Module())
    programs.jacobi(a, b, 3)
    assert np.allclose(there[0].get(), a) and np.allclose(there[1].get(), b)


def mixed(x, n):
    t = np.exp(x) * 2
    h = np.zeros(n, dtype=np.int64)
    for i in range(t.size):
        h[int(t[i]) % n] += 1
    return h / h.sum(), t.sum()


def test_regions_are_split_and_arrays_move_between_them():
    space, text = _made(mixed, (np.random.rand(50), 7))
    body = text.partition("def mixed_arrays")[2].partition("\ndef ")[0]
    assert "xp.exp" in body and "# to the processor" in body and "# to the module" in body
    x = np.random.rand(300)
    assert _agree(space["mixed"](x, 7, xp=Module()), mixed(x, 7))


def test_an_exception_is_pythons_and_comes_from_the_plain_variant():
    space, _ = _made(programs.gathered, (np.random.rand(10), np.arange(10)))
    with pytest.raises(IndexError, match="index 12 is out of bounds"):
        space["gathered"](np.random.rand(10), np.array([1, 12]), xp=Module())


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_the_benchmarks_as_source(name):
    benchmark = load(name)
    compiled = weft.jit(benchmark.plain, fallback="silent")
    compiled(*benchmark.arguments("tiny"))
    if not compiled.signatures:
        pytest.skip("it is not native as a whole")
    try:
        text = compiled.inspect("cupy")
    except weft.Unsupported as problem:
        pytest.skip(problem.reason)
    space: dict = {}
    exec(compile(text, "<generated>", "exec"), space)
    space["LEAST"] = 0
    ours, theirs = benchmark.arguments("tiny"), benchmark.arguments("tiny")
    result = space[benchmark.plain.__name__](*ours, xp=Module())
    assert agree(result, benchmark.plain(*theirs), benchmark.tolerance)
    assert all(agree(one, other, benchmark.tolerance) for one, other in zip(ours, theirs))
