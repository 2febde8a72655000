"""What `weft run` costs and gains on whole programs.  In: how often, and which; out: a table: seconds of plain Python
and of `weft run`, wall clock and processor, for scripts that must not become slower and for the programs of
`benchmarks/whole/`, which must become faster, with the geometric mean of their gains.

    python benchmarks/whole_programs.py [repeats [program ...]]     (a program: a name of the table, or "whole" for all)
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TINY = """
def add(a, b): return a + b
def mul(a, b): return a * b
def clamp(a): return a if a < 1000 else 0
class Point:
    def __init__(self): self.x = 0
    def step(self, k): self.x = clamp(add(self.x, mul(k, 3)))
def one(p, k):
    p.step(k)
    p.step(-k)
p = Point()
for i in range(5000000):
    one(p, i % 7)
"""

FILES = """
import json, os, tempfile, time
folder = tempfile.TemporaryDirectory()
def write(i, text):
    path = os.path.join(folder.name, f"{i}.json")
    with open(path, "w") as stream: json.dump({"i": i, "t": text}, stream)
    return path
def read(path):
    with open(path) as stream: return json.load(stream)["i"]
for i in range(5000):
    read(write(i % 50, "x" * (i % 300)))
    if i % 1000 == 0: time.sleep(0.01)
"""

NUMPY = """
import numpy as np
random = np.random.default_rng(0)
def step(a, b):
    c = a @ b
    c /= np.abs(c).max()
    return c
a, b = random.random((300, 300)), random.random((300, 300))
for i in range(300):
    a = step(a, b)
    np.fft.fft(np.sort(random.random(20000)))
"""

OBJECTS = """
import collections, re
words = ["alpha%d beta-%d gamma" % (i, i * 7 % 13) for i in range(300)]
pattern = re.compile(r"(\\w+)-(\\d+)")
class Node:
    def __init__(self, v): self.v = v; self.next = None
def find(ws):
    out = collections.OrderedDict()
    for w in ws:
        m = pattern.search(w)
        if m: out[m.group(1) + w[:3]] = m.group(2)
    return out
def chain(n):
    head = None
    for i in range(n):
        k = Node(i); k.next = head; head = k
    t = 0
    while head is not None:
        t += head.v; head = head.next
    return t
def mixed(n):
    return [i if i % 2 else hex(i) for i in range(n)]
for k in range(4000):
    find(words), chain(500), mixed(500)
"""

LOOPS = """
import numpy as np
def norm(a):
    s = 0.0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s += a[i, j] * a[i, j]
    return s ** 0.5
a = np.ones((100, 100))
for k in range(1500):
    norm(a)
"""

WHOLE = {path.stem: path for path in sorted((Path(__file__).parent / "whole").glob("*.py"))}
PROGRAMS = {"tiny functions": TINY, "files": FILES, "NumPy": NUMPY, "objects and text": OBJECTS, "loops": LOOPS}


def _seconds(command: list[str]) -> tuple[float, float]:
    """Wall clock and processor time of one run; the compiler, which runs elsewhere, is not counted."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return time.perf_counter() - began, used.ru_utime + used.ru_stime


def main(repeats: int, names: list[str]) -> None:
    print(f"{'program':18} {'plain':>8} {'weft run':>8} {'':>7} {'plain':>8} {'weft run':>8}   (wall, processor)")
    chosen = [part for name in names or PROGRAMS for part in (WHOLE if name == "whole" else [name])]
    gains: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            script = WHOLE.get(name) or Path(folder) / "program.py"
            if name not in WHOLE:
                script.write_text(PROGRAMS[name], encoding="utf-8")
            ways = ([sys.executable, str(script)], [sys.executable, "-m", "weft.cli", "run", str(script)])
            runs = [[_seconds(way) for way in ways] for _ in range(repeats)]
            cells = []
            for measure in (0, 1):
                plain, ours = (min(run[way][measure] for run in runs) for way in (0, 1))
                cells.append(f"{plain:8.3f} {ours:8.3f} {ours / plain - 1:+7.1%}")
                if name in WHOLE and measure == 0:
                    gains.append(plain / ours)
            print(f"{name:18} {' '.join(cells)}", flush=True)
    if gains:
        print(f"geometric mean of {len(gains)} programs: {math.exp(sum(map(math.log, gains)) / len(gains)):.2f}x")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3, sys.argv[2:])
