"""Each kind of redundant work is absent from the loop trees of mixed sparse and dense expressions: a sum that is
computed again for each element of its result, work that a loop repeats, memory that is written to be read once, and
values that nobody asks for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.sparse.sparse_support import agree, compiled_source, random_sparse
from weft import pipeline
from weft.ir.expr import Expr, Read
from weft.ir.program import Alloc, Block, Loop, Program, Stmt
from weft.ir.walk import free_vars, node_exprs, reads, sub_blocks, walk

SIZE = 40
RNG = np.random.default_rng(4)
S = random_sparse("csr_array", (SIZE, SIZE), density=0.3)
A, B, C = RNG.random((SIZE, 6)), RNG.random((6, SIZE)), RNG.random((6, 3))
X, Y = RNG.random(SIZE), RNG.random(SIZE) + 0.5


def lowered(source: str, *arguments: Any) -> Program:
    plain, compiled = compiled_source(source)
    agree(plain, compiled, *arguments)
    return pipeline.stages(plain, arguments)[-1][1]


def loops_around(block: Block, name: str, around: tuple[Loop, ...] = ()) -> list[tuple[Stmt, tuple[Loop, ...]]]:
    """The statements that read an array, each with the loops around it."""
    found: list[tuple[Stmt, tuple[Loop, ...]]] = []
    for node in block:
        if isinstance(node, Stmt) and any(read.buffer == name for e in node_exprs(node) for read in reads(e)):
            found.append((node, around))
        inner = (*around, node) if isinstance(node, Loop) else around
        for sub in sub_blocks(node):
            found += loops_around(sub, name, inner)
    return found


def over_entries(loops: tuple[Loop, ...]) -> int:
    """How many of the loops run over the entries of rows."""
    return sum(any(True for bound in (loop.dim.lo, loop.dim.hi) for _ in reads(bound)) for loop in loops)  # type: ignore[union-attr]


def arrays_made(program: Program) -> list[str]:
    """Temporaries that have as many elements as there are entries or more."""
    kept = {node.buffer for node in walk(program.body) if isinstance(node, Alloc)}
    table = program.table
    results = {buffer.name for buffer in program.buffers if buffer.role.value == "result"}
    large = [name for name in kept if table[name].rank and not all(_constant(size) for size in table[name].shape)]
    return sorted(set(large) - results)


def _constant(size: Expr) -> bool:
    return not free_vars(size) and not list(reads(size))


def test_a_sum_is_computed_once_for_a_row() -> None:
    program = lowered("def f(S):\n    return S / S.sum(axis=1)[:, None]\n", S)
    # Entries are read for the sum and for the quotient: two loops beside each other, none in the other.
    places = loops_around(program.body, "data")
    assert len(places) == 2 and all(over_entries(loops) == 1 for _, loops in places)
    assert places[0][1][0] is places[1][1][0]  # in one loop over rows


def test_what_an_entry_does_not_change_is_computed_before_its_row() -> None:
    program = lowered("def f(S, y, x):\n    return (S * (np.exp(y) / 3)[:, None]) @ x\n", S, Y, X)
    (place,) = loops_around(program.body, "y")
    assert over_entries(place[1]) == 0


def test_no_memory_between_a_product_and_its_only_use() -> None:
    program = lowered("def f(S, y, x):\n    return np.maximum((S * y[:, None]) @ x + 1.0, 0.0)\n", S, Y, X)
    assert arrays_made(program) == []


def test_rows_of_a_product_that_is_used_row_by_row() -> None:
    source = "def f(S, A):\n    return np.tanh(S @ A).sum(axis=1)\n"
    program = lowered(source, S, A)
    table = program.table
    assert all(table[name].rank < 2 for name in arrays_made(program))  # a row, not the matrix


def test_elements_that_nobody_asks_for_are_not_computed() -> None:
    program = lowered("def f(S, A, B):\n    return S.multiply(A @ B)\n", S, A, B)
    for _, loops in loops_around(program.body, "A"):
        assert over_entries(loops) == 1  # at the entries alone
    large = [program.table[name] for name in arrays_made(program)]
    assert all(buffer.rank < 2 or buffer.name == "B_columns" for buffer in large)
    program = lowered("def f(S, A, B):\n    (S.multiply(A @ B)).sum()\n    return S @ A[:, 0]\n", S, A, B)
    assert not loops_around(program.body, "B")


def test_a_masked_product_is_never_formed() -> None:
    lower = random_sparse("csr_array", (SIZE, SIZE), density=0.2, seed=7)
    program = lowered("def f(L):\n    return (L @ L).multiply(L).sum()\n", lower)
    shapes = {program.table[name].shape for name in arrays_made(program)}
    lengths = {size for shape in shapes for size in shape}
    entries = next(buffer for buffer in program.buffers if buffer.name == "indices").shape[0]
    # Nothing of the product's own number of entries, which would be counted first.
    counted = [size for size in lengths if isinstance(size, Read)]
    assert entries is not None and all("total" not in size.buffer for size in counted)


def test_the_cheaper_order_of_a_chain() -> None:
    plain, compiled = compiled_source("def f(S, A, B):\n    return S @ A @ B\n")
    for middle, last in ((6, 3), (3, 6), (1, 9)):
        agree(plain, compiled, S, RNG.random((SIZE, middle)), RNG.random((middle, last)))
    _, strict = compiled_source("def f(S, A, B):\n    return S @ A @ B\n", fp="strict")
    np.testing.assert_allclose(strict(S, A, C), plain(S, A, C))
    assert "nnz" not in strict.inspect("ir") and strict.inspect("ir").count("gemm") <= 1


def test_explain_shows_the_nests_and_what_became_of_each_temporary() -> None:
    _, compiled = compiled_source("def f(S, A, B):\n    return S.multiply(A @ B)\n")
    compiled(S, A, B)
    (version,) = compiled.explain().versions
    assert ("A @ B (product)", "never formed") in version.formed
    tree = "\n".join(version.index_tree)
    assert "entries of i" in tree and ", by indptr" in tree and "writes" in tree
    assert "index tree:" in str(compiled.explain())
    _, plain = compiled_source("def f(A, x):\n    return A @ x\n")
    plain(A, RNG.random(6))
    assert "index tree" not in str(plain.explain())


_MEMORY = """
import sys
import numpy as np, scipy.sparse as sp
rng = np.random.default_rng(0)
n = 3000
place = rng.integers(0, n, 4 * n), rng.integers(0, n, 4 * n)
S = sp.coo_array((rng.random(4 * n), place), shape=(n, n)).tocsr()
A, B = rng.random((n, 8)), rng.random((8, n))
def f(S, A, B):
    return S.multiply(A @ B)
if sys.argv[1] == "weft":
    import weft
    small = S[:50][:, :60].tocsr()
    f = weft.jit(fallback="error")(f)
    f(small, A[:50], np.ascontiguousarray(B[:, :60]))
def kilobytes(name):
    rows = open("/proc/self/status").read().splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith(name))
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
before = kilobytes("VmRSS")
f(S, A, B)
print(kilobytes("VmHWM") - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the peak is read from /proc")
def test_memory_of_a_sampled_product(tmp_path: Path) -> None:
    program = tmp_path / "sampled.py"
    program.write_text(_MEMORY, encoding="utf-8")

    def peak(who: str) -> int:
        done = subprocess.run([sys.executable, str(program), who], capture_output=True, text=True, check=True)
        return int(done.stdout.split()[-1])

    dense = 3000 * 3000 * 8 // 1024
    assert peak("scipy") > dense // 2
    assert peak("weft") < dense // 10
