"""Memory of containers: none is lost over many calls, also when a call raises midway, and where there is none left a
MemoryError says so.
"""

from __future__ import annotations

import gc
import subprocess
import sys
from collections import defaultdict, deque
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

import pytest

import weft

CALLS = 100_000
#: Pages of the process; beyond what the allocator keeps for itself.
MOST_GROWTH = 3_000_000


@dataclass
class Pair:
    left: float
    right: float


def lists(items, key):
    made = []
    for item in items:
        made.append(item * 2)
    items.append(items[key])
    return made


def dicts(items, key):
    made = {}
    for item in items:
        made[item] = item * 0.5
    return made[key]


def sets(items, key):
    made = set(items)
    made.remove(key)
    return made


def queues(items, key):
    queue = deque([1])
    for item in items:
        queue.append(item)
    for _ in range(key):
        queue.popleft()
    return queue


def heaps(items, key):
    heap = []
    for item in items:
        heappush(heap, (item, 1))
    for _ in range(key):
        heappop(heap)
    return heap


def objects(items, key):
    pair = Pair(0.0, 1.0)
    for item in items:
        pair.left += item / (key - 1)
    return pair


def rows(items, key):
    made = defaultdict(list)
    for item in items:
        made[item % 2].append(item)
    items.append(len(made))
    if key > 50:
        return items[key]
    return made


#: A kernel, a key with which it ends, and one with which it raises.
KERNELS = [
    (lists, 0, 99),
    (dicts, 1, 99),
    (sets, 1, 99),
    (queues, 1, 99),
    (heaps, 1, 99),
    (objects, 5, 1),
    (rows, 0, 99),
]


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def _call(function: Any, key: int) -> None:
    try:
        function([1, 2, 3, 4], key)
    except (IndexError, KeyError, ZeroDivisionError):
        pass


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the size of the process is read from /proc")
@pytest.mark.parametrize(("kernel", "good", "bad"), KERNELS, ids=[kernel.__name__ for kernel, _, _ in KERNELS])
def test_nothing_is_lost(kernel, good, bad):
    compiled = weft.jit(fallback="error")(kernel)
    for _ in range(2000):
        _call(compiled, good)
        _call(compiled, bad)
    gc.collect()
    before = _resident()
    for _ in range(CALLS // 2):
        _call(compiled, good)
        _call(compiled, bad)
    gc.collect()
    assert _resident() - before < MOST_GROWTH


@pytest.mark.parametrize("count", [10**13, 10**15, 2**62])
def test_a_list_that_is_too_large(count):
    def zeros(count):
        return [0] * count

    compiled = weft.jit(fallback="error")(zeros)
    assert compiled(3) == [0, 0, 0]
    with pytest.raises(MemoryError):
        compiled(count)
    assert compiled(2) == [0, 0]


_GROWING = '''
import resource
import weft
from collections import deque

def lists(count):
    made = []
    for i in range(count):
        made.append(i * 2)
    return made[count // 2] + len(made)

def dicts(count):
    made = {}
    for i in range(count):
        made[i * 3] = i
    return made[3] + len(made)

def rows(count):
    made = [[] for _ in range(4)]
    for i in range(count):
        made[i % 4].append(i)
    return made[1][count // 8]

def queues(count):
    made = deque()
    for i in range(count):
        made.appendleft(i * 2)
    return made[count // 2]

kernels = [weft.jit(fallback="error")(kernel) for kernel in (lists, dicts, rows, queues)]
first = [kernel(1000) for kernel in kernels]
resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, 1_500_000_000))
for kernel, expected in zip(kernels, first):
    try:
        kernel(4 * 10**8)
    except MemoryError:
        print("MemoryError")
    assert kernel(1000) == expected
'''


@pytest.mark.slow  # near the limit of memory the last of them now and then takes minutes
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux's")
def test_growing_beyond_the_memory_there_is(tmp_path):
    script = tmp_path / "growing.py"
    script.write_text(_GROWING, encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["MemoryError"] * 4
