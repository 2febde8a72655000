"""Functions over arrays that also keep objects in containers, or run through sets: one compiler takes all of each, or,
of what only that of plain Python has, of each region beside what stays Python."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict, namedtuple
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import weft
from tests.support import same_as_plain

Place = namedtuple("Place", "x y")


@dataclass
class Body:
    mass: float
    x: float
    speed: float


def of_bodies(bodies, grid):
    field = np.zeros(len(grid))
    for body in bodies:
        for i in range(len(grid)):
            field[i] += body.mass / (abs(grid[i] - body.x) + 1)
        body.x += body.speed
    return float(field.sum()), bodies[0].x


def made_here(masses):
    cells = []
    for i in range(len(masses)):
        cells.append(Body(masses[i], i * 1.0, 0.0))
    best = cells[0]
    for cell in cells:
        if cell.mass * cell.x > best.mass * best.x:
            best = cell
    return float(best.mass), sum(cell.x for cell in cells)


def of_places(places, weights):
    total = 0.0
    for place in places:
        total += place.x * place.y
    return total * float(weights.sum())


def distinct(labels):
    found = set()
    for i in range(len(labels)):
        found.add(int(labels[i]))
    total = 0
    for label in found:
        total = total * 3 + label
    found.discard(1)
    return total, found, [label for label in found]


@dataclass
class Ball:
    x: float
    v: float
    name: str = "b"


def counted(balls, field):
    """Attributes that are no numbers, and objects that stand in the list twice."""
    hits = 0
    for _ in range(30):
        for ball in balls:
            ball.x += ball.v * 0.1
            if ball.x < 0 or ball.x > 1:
                ball.v = -ball.v
                hits += 1
            field[int(min(max(ball.x, 0.0), 0.999) * len(field))] += 1
    return hits, {ball.name: ball.x for ball in balls}


def balls():
    return [Ball(0.1, 0.5), Ball(0.9, -1.3, "c")]


def bodies():
    return [Body(1.0, 0.5, 0.1), Body(2.0, 1.5, -0.1)]


CALLS = [
    (of_bodies, lambda: (bodies(), np.linspace(0, 1, 50))),
    (of_bodies, lambda: (bodies(), np.zeros(0))),
    (made_here, lambda: (np.arange(20.0),)),
    (made_here, lambda: (np.zeros(0),)),
    (of_places, lambda: ([Place(1.0, 2.0), Place(3.0, 4.0)], np.ones(3))),
    (distinct, lambda: (np.array([3, 1, 99, 2, 3, 1, 1024]),)),
    (distinct, lambda: (np.array([], dtype=np.int32),)),
]


@pytest.mark.native
@pytest.mark.parametrize("function, arguments", CALLS, ids=lambda given: getattr(given, "__name__", ""))
def test_one_compiler_takes_all_of_it(function, arguments):
    compiled = weft.jit(function)
    same_as_plain(compiled, function, arguments, calls=2)
    assert compiled.stats["python_calls"] == 0 or len(arguments()[-1]) == 0


@pytest.mark.native
@pytest.mark.parametrize(
    "arguments",
    [lambda: (balls(), np.zeros(7)), lambda: (balls() * 2, np.zeros(14)[::-2]), lambda: (balls()[:1], np.ones(3))],
    ids=["two", "twice", "one"],
)
def test_objects_that_only_plain_python_has_a_form_of(arguments):
    compiled = weft.jit(counted)
    same_as_plain(compiled, counted, arguments, calls=2)
    assert compiled._native is not None


@pytest.mark.native
def test_a_second_process_goes_the_same_way(tmp_path, private_cache, subprocess_environment):
    """What the first compiler has refused is kept on disk, and so is that the other one has it."""
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, weft\nfrom tests.plain.test_with_arrays import distinct\n"
        "compiled = weft.jit(distinct)\ncompiled(np.arange(5))\n"
        "print(compiled.stats['python_calls'], compiled._native is not None)\n"
    )
    root = Path(__file__).resolve().parents[2]
    environment = {**subprocess_environment, "WEFT_CACHE_DIR": str(private_cache)}
    environment["PYTHONPATH"] = f"{environment.get('PYTHONPATH', '')}:{root}"
    for _ in range(2):
        done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=300)
        assert done.stdout == "0 True\n", done.stdout + done.stderr


def between_two_libraries(labels):
    scale = len(np.frompyfunc(abs, 1, 1)(labels[:3]))
    found = set()
    for i in range(len(labels)):
        found.add(int(labels[i]) * scale)
    total = 0
    for label in found:
        total = total * 3 + label
    scale += len(np.frompyfunc(abs, 1, 1)(labels[:4]))
    for i in range(len(labels)):
        total += int(labels[i]) * scale
    return total, len(found)


def taken_by_plain(compiled):
    """The regions, at any depth, that the compiler of plain Python has taken, and what they did natively."""
    for region in compiled._regions:
        if region._native is not None:
            yield sum(version.calls for version in region._native.versions)
        yield from taken_by_plain(region)


@pytest.mark.native
def test_what_is_around_a_statement_that_stays_python_goes_there_too():
    compiled = weft.jit(fallback="silent")(between_two_libraries)
    same_as_plain(compiled, between_two_libraries, lambda: (np.array([3, 1, 99, 2, 3, 1, 1024]),), calls=3)
    assert list(taken_by_plain(compiled)) == [3]


def spread_by_rows(rows, field):
    """Loops over arrays in one over tuples with strings."""
    out = np.zeros(field.shape)
    n, m = field.shape
    for name, w in rows:
        if name != "skip":
            for i in range(1, n - 1):
                for j in range(1, m - 1):
                    out[i, j] += w * (field[i - 1, j] + field[i + 1, j] + field[i, j - 1] + field[i, j + 1])
    return out


def decayed_by_rows(rows, field):
    """Expressions of whole arrays in a loop over tuples with strings."""
    total = 0.0
    for name, w in rows:
        if len(name) < 5:
            total += w * np.abs(-field * w).max() + np.sqrt(field * 2.0).max()
    return total


def weighed_graph(graph, field):
    """A loop over dicts in a list, and one over an array."""
    total = 0.0
    for edges in graph:
        for j, w in edges.items():
            total += w * j
        edges[0] = total
    out = np.empty(field.shape)
    for i in range(field.shape[0]):
        for j in range(field.shape[1]):
            out[i, j] = np.sqrt(field[i, j]) + total
    return out, graph


def graph_made(n, field):
    graph = [dict() for _ in range(n)]
    for i in range(n):
        for j in range(0, n, 2):
            graph[i][j] = float(field[i, j])
    total = 0.0
    for edges in graph:
        for j, w in edges.items():
            total += w * j
    return (np.sqrt(field) * 2.0 + total) / 3.0, total


def distinct_values(field):
    """A set that a loop over an array fills, and a loop over arrays beside it."""
    seen = set()
    for i in range(field.shape[0]):
        seen.add(int(field[i, 0]) % 12)
    out = np.zeros(field.shape)
    for i in range(1, field.shape[0]):
        for j in range(field.shape[1]):
            out[i, j] = field[i, j] - field[i - 1, j]
    return out, seen


def grouped_rows(field):
    """The same of a defaultdict and a Counter."""
    rows, counts = defaultdict(list), Counter()
    for i in range(field.shape[0]):
        rows[i % 2].append(i)
        counts[int(field[i, 0]) % 5] += 1
    out = np.empty(field.shape)
    for i in range(field.shape[0]):
        for j in range(field.shape[1]):
            out[i, j] = field[i, j] * field[i, j] + 1.0
    return rows, counts.most_common(2), out


def merged_settings(field):
    """Dicts as wholes: copies, unions, comparisons."""
    first = {i: float(field[i, 0]) for i in range(field.shape[0])}
    second = {**first, 99: 1.5}
    second.update({98: 2.0})
    out = np.zeros(field.shape)
    for i in range(field.shape[0]):
        for j in range(1, field.shape[1]):
            out[i, j] = field[i, j] + field[i, j - 1]
    return out, second, first.copy() == second, second.pop(5, -1.0)


def grid():
    return np.arange(36.0).reshape(6, 6)


def rows():
    return [("a", 1.0), ("skip", 0.5), ("b", 2.0)]


APART = [
    (spread_by_rows, lambda: (rows(), grid()), False),
    (spread_by_rows, lambda: (rows(), grid().astype(np.float32)[::2, ::-1]), False),
    (decayed_by_rows, lambda: (rows(), grid()), False),
    (decayed_by_rows, lambda: (rows()[:1], grid()[::-1]), False),
    (weighed_graph, lambda: ([{1: 2.0}, {}, {3: 4.0, 1: 1.0}], grid()), True),
    (weighed_graph, lambda: ([{1: 2.0}] * 2, grid().T), True),
    (graph_made, lambda: (5, grid()), True),
    (graph_made, lambda: (0, grid()), True),
    (distinct_values, lambda: (grid(),), True),
    (distinct_values, lambda: (grid().T[:, ::-1],), True),
    (grouped_rows, lambda: (grid(),), True),
    (merged_settings, lambda: (grid(),), True),
]


@pytest.mark.native
@pytest.mark.parametrize("function, arguments, by_plain", APART, ids=lambda given: getattr(given, "__name__", ""))
def test_loops_over_arrays_stay_apart_from_containers_in_containers(function, arguments, by_plain):
    """What is done with arrays keeps its vectors, whatever becomes of the containers beside it."""
    compiled = weft.jit(fallback="silent")(function)
    same_as_plain(compiled, function, arguments, calls=2)
    assert compiled._native is None
    assert any(region._compiled for region in compiled._regions) or not arguments()[-1].size
    assert any(region._native is not None for region in compiled._regions) == by_plain


def labels_seen(labels, weights):
    seen, total = set(), 0.0
    for i in range(len(labels)):
        if int(labels[i]) not in seen:
            seen.add(int(labels[i]))
            total += weights[i]
    return total, seen


@pytest.mark.native
def test_a_loop_that_fills_a_set_goes_where_the_set_is():
    """Not as a region of its own, which would get the set as a copy."""
    compiled = weft.jit(fallback="error")(labels_seen)
    same_as_plain(compiled, labels_seen, lambda: (np.array([3, 1, 3, 2, 1]), np.arange(5.0)), calls=2)
    assert compiled._native is not None and not compiled._regions


def test_a_mistake_in_the_statement_apart_is_pythons():
    compiled = weft.jit(fallback="silent")(weighed_graph)
    for _ in range(2):
        graph = [{1: 2.0}, {2: "x"}]
        with pytest.raises(TypeError, match="can't multiply sequence|unsupported operand"):
            compiled(graph, grid())
        assert graph == [{1: 2.0, 0: 2.0}, {2: "x"}]


class Kept:
    def __init__(self, rows):
        self.rows = rows


def rolled(kept, count):
    """Arrays that are made, given up, and made again: of one size, of others, and such as must be zero."""
    sums = []
    for k in range(count):
        twice = kept.rows * 2.0 + float(k)
        kept.rows = np.maximum(twice - kept.rows, 0.0)
        fresh = np.zeros(len(kept.rows) + k % 3)
        fresh[k] += kept.rows[k]
        sums.append(fresh[k] + fresh[k + 1] + twice[0])
    return sums


@pytest.mark.parametrize("size", [3000, 5000, 300_000])
def test_memory_of_arrays_is_used_again_and_zero_where_it_must_be(size: int) -> None:
    native = weft.jit(rolled, fallback="silent")
    ours, same = Kept(np.linspace(-1.0, 1.0, size)), Kept(np.linspace(-1.0, 1.0, size))
    for count in (3, 40, 7):
        assert native(ours, count) == rolled(same, count)
        np.testing.assert_array_equal(ours.rows, same.rows)
    assert native._native is not None
