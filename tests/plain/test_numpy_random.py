"""NumPy's generators in compiled plain Python: the numbers NumPy draws, and the state it leaves."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft
from tests.plain.kernels import load

pytestmark = [
    pytest.mark.native,
    pytest.mark.skipif(not load() or np.__version__ < "2", reason="no run time of plain Python with arrays here"),
]

BITS = (np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64, np.random.PCG64DXSM)


def state(generator: Any) -> str:
    if isinstance(generator, np.random.RandomState):
        return repr(generator.get_state(legacy=False))
    return repr(generator.bit_generator.state)


def result(function: Any, *arguments: Any) -> Any:
    try:
        return repr(function(*arguments))
    except Exception as problem:
        return type(problem), str(problem)


def same(function: Any, *arguments: Any, calls: int = 3, native: bool = True) -> None:
    """Calls with copies of the arguments: results, and the states of all generators, those of the module included."""
    compiled = weft.jit(function, fallback="silent")
    for _ in range(calls):
        theirs, ours = copy.deepcopy(arguments), copy.deepcopy(arguments)
        before = np.random.get_state()
        expected = result(function, *theirs)
        after = state(np.random.mtrand._rand)
        np.random.set_state(before)
        assert result(compiled, *ours) == expected
        assert state(np.random.mtrand._rand) == after
        for one, other in zip(ours, theirs):
            if isinstance(one, (np.random.Generator, np.random.RandomState)):
                assert state(one) == state(other)
    assert any(compiled.stats["calls"].values()) == native, compiled.stats


def singles(rng, n):
    found = []
    for i in range(n):
        found.append((rng.random(), rng.uniform(), rng.uniform(-2, i), rng.uniform(high=3.5), rng.normal()))
        found.append((rng.normal(1.0, 2), rng.normal(scale=0.5), rng.standard_normal(), rng.exponential()))
        found.append((rng.exponential(2.5), rng.standard_exponential(), rng.normal(np.float64(3.0), np.int64(2))))
    return found


def wholes(rng, n):
    found = {}
    for i in range(1, n):
        k = rng.integers(i)
        found[int(k)] = (k, rng.integers(-i, i), rng.integers(0, 2**32), rng.integers(-(2**62), 2**62))
        found[-i] = rng.integers(0, 1), rng.integers(3, high=9), rng.integers(high=9, low=3)
    return found


def by_numpy(rng, n):
    found = []
    for i in range(n):
        found.append((rng.random(3), rng.normal(size=(2, 2)), rng.integers(0, 9, size=4), rng.permutation(5)))
        found.append((rng.choice(7), rng.poisson(3.0), rng.gamma(2.0), rng.standard_normal(2), rng.uniform(0, 1, n)))
    return found


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("function", [singles, wholes, by_numpy])
def test_every_bit_generator(function, bits):
    same(function, np.random.Generator(bits(7)), 12)


def legacy(rng, n):
    found = []
    for i in range(1, n):
        found.append((rng.random_sample(), rng.rand(), rng.uniform(2, 5), rng.randint(i), rng.randint(-5, 2**40)))
        found.append((rng.randn(), rng.normal(1.0, 0.5), rng.random(), rng.rand(2, 2), rng.randint(0, 5, 3)))
    return found


def of_the_module(n):
    found = []
    np.random.seed(n)
    for i in range(1, n):
        found.append((np.random.rand(), np.random.randint(i), np.random.randn(), np.random.uniform(-1, 1)))
        found.append((np.random.random(2), np.random.choice(4), np.random.normal(size=3)))
    return found


def made_inside(n):
    rng, old = np.random.default_rng(n), np.random.RandomState(n)
    hits = 0
    for _ in range(n):
        if rng.random() ** 2 + old.rand() ** 2 < 1.0:
            hits += 1
    return hits, rng.integers(100), old.randint(100)


def test_legacy_generators_and_the_module():
    same(legacy, np.random.RandomState(3), 9)
    same(of_the_module, 6)
    same(made_inside, 40)


class Walker:
    def __init__(self, rng):
        self.rng, self.place = rng, 0

    def go(self, n):
        for _ in range(n):
            self.place += int(self.rng.integers(-1, 2))
        return self.place


SHARED = np.random.default_rng(11)


def test_generators_in_objects_globals_and_twice():
    def walk(walker, n):
        return walker.go(n), walker.go(n)

    def both(a, b, n):
        total = 0.0
        for _ in range(n):
            total += a.random() - b.random()
        return total

    def shared(n):
        total = 0.0
        for _ in range(n):
            total += SHARED.random()
        return total

    ours, theirs = Walker(np.random.default_rng(2)), Walker(np.random.default_rng(2))
    compiled = weft.jit(walk, fallback="silent")
    for _ in range(3):
        assert compiled(ours, 20) == walk(theirs, 20)
        assert state(ours.rng) == state(theirs.rng)
    one, other = np.random.default_rng(5), np.random.default_rng(5)
    compiled = weft.jit(both, fallback="silent")
    for _ in range(3):
        assert compiled(one, one, 9) == both(other, other, 9)
        assert state(one) == state(other)
    compiled = weft.jit(shared, fallback="silent")
    for _ in range(3):
        before = SHARED.bit_generator.state
        expected = shared(9)
        after = state(SHARED)
        SHARED.bit_generator.state = before
        assert compiled(9) == expected
        assert state(SHARED) == after


def refused_range(rng, n):
    total = 0.0
    for i in range(n):
        total += rng.random()
        total += rng.uniform(5.0, 5.0 - i)
    return total


def refused_scale(rng, n):
    total = 0.0
    for i in range(n):
        total += rng.normal(0.0, 2.0 - i)
    return total


def empty_range(rng, n):
    total = 0
    for i in range(n):
        total += int(rng.integers(5 - i))
    return total


def leaves_64_bits(rng, n):
    total = 1
    for _ in range(n):
        total *= 3 + int(rng.integers(5))
    return total


@pytest.mark.parametrize("function", [refused_range, refused_scale, empty_range, leaves_64_bits])
def test_what_deoptimises_has_drawn_nothing(function):
    compiled = weft.jit(function, fallback="silent")
    for n in (3, 60, 2, 60):
        ours, theirs = np.random.default_rng(1), np.random.default_rng(1)
        assert result(compiled, ours, n) == result(function, theirs, n)
        assert state(ours) == state(theirs)


def test_a_list_that_is_shuffled_stays_pythons():
    def mixed(rng, values):
        for _ in range(3):
            rng.shuffle(values)
        return values

    same(mixed, np.random.default_rng(4), [1, 2, 3, 4, 5], native=False)


def test_a_second_process_draws_the_same(tmp_path: Path):
    program = """
import numpy as np, weft

@weft.jit
def area(rng, n):
    hits = 0
    for _ in range(n):
        if rng.random() ** 2 + rng.random() ** 2 < 1.0:
            hits += 1
    return hits, rng.normal(), np.random.rand() >= 0.0

print([area(np.random.default_rng(s), 100) for s in range(3)])
"""
    (tmp_path / "area.py").write_text(program)
    texts = {
        subprocess.run([sys.executable, "area.py"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(texts) == 1
