"""What runs on every rank of the MPI tests: `mpiexec -n P python mpi_cases.py OUT`.  Each case compares with NumPy and
returns what must be the same on any number of ranks; rank 0 writes all of it to OUT.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
import threading
import traceback
import warnings

import mpi_more_cases
import numpy as np

import weft
from weft import comm
from weft.cluster import mpi_linalg, mpi_world
from weft.cluster.mpi_layout import near_square

mpi = weft.jit(target="mpi", fallback="error")
TOLERANCE = {"f": 1e-4, "d": 1e-9, "D": 1e-9, "F": 1e-4}


def numbers(*shape, dtype="d", seed=0):
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(-50, 50, shape).astype(dtype)
    if np.dtype(dtype).kind == "c":
        return (rng.random(shape) + 1j * rng.random(shape)).astype(dtype)
    return rng.random(shape).astype(dtype)


def digest(*values):
    return hashlib.sha1(b"".join(np.ascontiguousarray(value).tobytes() for value in values)).hexdigest()[:12]


def near(got, expected):
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape and got.dtype == expected.dtype, (got.shape, got.dtype, expected.dtype)
    np.testing.assert_allclose(got, expected, rtol=TOLERANCE.get(expected.dtype.char, 0), atol=0)


def sent(action):
    """What all ranks together send meanwhile."""
    world = mpi_world.world()
    world.traffic.clear()
    action()
    total = world.total()
    return total.messages, total.bytes


# --- kernels ----------------------------------------------------------------------------------------------------------


@mpi
def jacobi(steps, A, B):
    for _ in range(1, steps):
        B[1:-1, 1:-1] = 0.2 * (A[1:-1, 1:-1] + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1])
        A[1:-1, 1:-1] = 0.2 * (B[1:-1, 1:-1] + B[1:-1, :-2] + B[1:-1, 2:] + B[2:, 1:-1] + B[:-2, 1:-1])


@mpi
def gemm(alpha, beta, C, A, B):
    C[:] = alpha * A @ B + beta * C


@mpi
def two_products(alpha, beta, A, B, C, D):
    D[:] = alpha * A @ B @ C + beta * D


@mpi
def softmax(x):
    t = np.exp(x - x.max(axis=1)[:, None])
    return t / t.sum(axis=1)[:, None]


@mpi
def norm(x):
    return np.sqrt((x * x).sum())


@mpi
def atax(A, x):
    return (A @ x) @ A


@mpi
def scaled(x, a):
    return x * a + x


@mpi
def in_place(x):
    x[1:] = x[:-1] + 1.0


@mpi
def spectrum(x):
    return np.fft.fft(np.fft.fft(x, axis=1), axis=0)


@mpi
def turned(x):
    return np.ascontiguousarray(x.T) * 2.0


@mpi
def gemver(alpha, beta, A, u, v, w, x, y):
    A += np.outer(u, v)
    x += beta * y @ A
    w += alpha * A @ x


@mpi
def converged(x, limit):
    steps = 0
    change = limit + 1.0
    while change > limit:
        y = x.copy()
        y[1:-1] = 0.5 * (x[:-2] + x[2:])
        change = np.abs(y - x).max()
        x[:] = y
        steps += 1
    return steps


@mpi
def swapped(x, steps):
    a, b = x.copy(), x.copy()
    for _ in range(steps):
        b[1:-1] = 0.5 * (a[:-2] + a[2:])
        a, b = b, a
    return a


@mpi
def guarded(x, limit):
    for i in range(x.shape[0]):
        if x[i, 0] > limit:
            raise ValueError("too large")
    return x * 2.0


def compare(function, *arguments):
    """Plain and distributed arguments against NumPy; gives the digest of everything that came out."""
    out = []
    expected = [np.array(a, order="K") if isinstance(a, np.ndarray) else a for a in arguments]
    result = function.py_func(*expected)
    for spread in (False, True):
        given = [
            (weft.distribute(a) if spread else a.copy(order="K")) if isinstance(a, np.ndarray) else a for a in arguments
        ]
        got = function(*given)
        if result is not None:
            near(got, result)
            out.append(np.asarray(got))
        for mine, wanted in zip(given, expected):
            if isinstance(wanted, np.ndarray):
                near(mine, wanted)
                out.append(np.asarray(mine))
    return digest(*out)


# --- cases ------------------------------------------------------------------------------------------------------------


def case_distributions():
    ranks, rank = comm.size(), comm.rank()
    for shape, blocks, grid in [
        ((10, 7), (2, 3), (ranks, 1)),
        ((10, 7), (3, 2), (1, ranks)),
        ((5,), (1,), (ranks,)),
        ((0, 3), None, None),
        ((2, 3, 4), None, (1, 1, ranks)),
        ((), None, None),
    ]:
        for dtype in ("d", "i4", "?", "D", "f2"):
            whole = numbers(*shape, dtype="i8").astype(dtype)
            array = weft.distribute(whole, blocks=blocks, grid=grid)
            layout = array.distribution
            if whole.ndim:
                assert array.local.shape == layout.local_shape(rank)
            other = weft.distribute(array, blocks=(1,) * whole.ndim, grid=layout.grid[::-1])
            again = weft.distribute(other)
            for found in (array, other, again):
                near(found, whole)
    strided = numbers(9, 12)[::-2, 1::3]
    near(weft.distribute(strided), strided)
    near(weft.distribute(np.asfortranarray(strided), grid=(1, ranks)), strided)
    return "ok"


def case_arrays():
    whole = numbers(9, 4)
    array = weft.distribute(whole)
    near(array + 1, whole + 1)
    near(2 * array, 2 * whole)
    near(np.concatenate([array, whole]), np.concatenate([whole, whole]))
    near(array.sum(axis=0), whole.sum(axis=0))
    assert float(array[3, 2]) == whole[3, 2] and len(array) == 9 and array.T.shape == (4, 9)
    array[0, 0] = 5.0
    view = np.asarray(array)
    scaled_again = scaled(array, 2.0)
    near(scaled_again, np.asarray(array) * 3.0)
    in_place_view = weft.distribute(np.zeros(30))
    seen = np.asarray(in_place_view)
    in_place(in_place_view)
    assert seen[1] == 1.0 and seen[29] == 1.0 and view[0, 0] == 5.0  # views of the memory follow what is done to it
    return "ok"


def case_linear():
    out = []
    for m, k, n in [(50, 30, 20), (61, 47, 33), (3, 5, 2), (1, 1, 1)]:
        A, B = numbers(m, k), numbers(k, n, seed=1)
        for result, expected in [
            (mpi_linalg.matmul(weft.distribute(A), weft.distribute(B)), A @ B),
            (mpi_linalg.matmul(weft.distribute(A), weft.distribute(B[:, 0])), A @ B[:, 0]),
            (mpi_linalg.transpose(weft.distribute(A, blocks=(2, 3), grid=(1, comm.size()))), A.T),
            (mpi_linalg.fft(weft.distribute(A), axis=0), np.fft.fft(A, axis=0)),
            (mpi_linalg.fft(weft.distribute(A)), np.fft.fft(A)),
            (mpi_linalg.fft(weft.distribute(A[:, 0])), np.fft.fft(A[:, 0])),
        ]:
            whole = np.asarray(result)
            np.testing.assert_allclose(whole, expected, atol=1e-9)
            out.append(whole)
        total = mpi_linalg.total(weft.distribute(A))
        np.testing.assert_allclose(total, A.sum())
        out.append(total)
    return digest(*out)


def case_jacobi():
    return [compare(jacobi, 4, numbers(n, m), numbers(n, m, seed=1)) for n, m in ((48, 48), (50, 9), (7, 5), (3, 3))]


def case_gemm():
    return [
        compare(gemm, 1.5, 0.5, numbers(n, m), numbers(n, k), numbers(k, m))
        for n, k, m in ((48, 48, 48), (31, 20, 17), (3, 5, 4))
    ]


def case_rows():
    return [compare(softmax, numbers(n, 11)) for n in (48, 50, 5, 1)]


def case_sums():
    sums = [compare(norm, numbers(n, 3)) for n in (100, 5)]
    return sums + [compare(atax, numbers(n, 7), numbers(7)) for n in (50, 5)]


def case_element_wise():
    out = [compare(scaled, numbers(37, 3, dtype=kind), kind(3)) for kind in (np.float32, np.int64, np.complex128)]
    out.append(compare(scaled, numbers(0, 3), 2.0))
    out.append(compare(scaled, numbers(40, 6)[::-2, ::3], 2.0))
    out.append(compare(scaled, np.asfortranarray(numbers(40, 6)), 2.0))
    return [*out, compare(in_place, numbers(55)), compare(in_place, numbers(2))]


def case_other_axes():
    """Arrays that are needed along another axis than the one they are cut along."""
    vectors = [numbers(30, seed=seed) for seed in range(5)]
    return [
        compare(spectrum, numbers(30, 20)),
        compare(turned, numbers(30, 20)),
        compare(gemver, 1.5, 1.2, numbers(30, 30), *vectors),
    ]


def case_control():
    """Loops that end by values, and names that change places."""
    return [compare(converged, numbers(n), 0.3) for n in (50, 9)] + [compare(swapped, numbers(50, 2), 5)]


def case_chain():
    """Results stay spread between calls: only what halos need is sent."""
    A = weft.distribute(numbers(48, 48))
    first = scaled(A, 2.0)

    def chain():
        second = scaled(first, 3.0)
        softmax(second)

    assert sent(chain) == (0, 0)
    near(first, np.asarray(A) * 3.0)
    return "ok"


def square():
    """A grid that is cut along both axes, if the number of ranks has factors."""
    return near_square(comm.size(), (100, 100))


@mpi
def three_products(A, B, C, D):
    return (A @ B) @ (C @ D)


@mpi
def blurred_copy(x, steps):
    a, b = x.copy(), x.copy()
    for _ in range(steps):
        b[1:-1, 2:-2] = 0.25 * (a[:-2, 2:-2] + a[2:, 2:-2] + a[1:-1, :-4] + a[1:-1, 4:])
        a, b = b, a
    return a


@mpi
def shifted_sums(a, b, steps):
    for t in range(steps):
        b[1:] = a[:-1] + t
        a[:, 1:] = a[:, 1:] * 0.5 + b[:, :-1]


def case_grids():
    """Products and element-wise statements of arrays that lie on a grid, and of results that do."""
    grid, out = square(), []
    for n in (48, 37):
        given = [numbers(n, n, seed=seed) for seed in range(4)]
        a, b, c, d = (weft.distribute(one, grid=grid) for one in given)
        product = three_products(a, b, c, d)
        near(product, np.linalg.multi_dot([given[0] @ given[1], given[2] @ given[3]]))
        gemm(1.5, 0.5, c, a, b)
        near(c, 1.5 * given[0] @ given[1] + 0.5 * given[2])
        again = scaled(d, 3.0)
        near(again, given[3] * 4.0)
        near(three_products(*given), np.asarray(product))
        out += [product, c, again]
    return [*map(digest, map(np.asarray, out)), compare(three_products, *[numbers(9, 9, seed=s) for s in range(4)])]


def case_loops():
    """Loops over time: several steps between messages, on rows and on a grid, arrays that change places."""
    from weft.cluster import mpi_grid

    out = [compare(blurred_copy, numbers(n, m), steps) for n, m, steps in ((60, 7, 9), (29, 11, 40), (5, 5, 3))]
    out += [compare(shifted_sums, numbers(40, 6), numbers(40, 6, seed=1), steps) for steps in (0, 1, 7)]
    compare(jacobi, 2, numbers(9, 9), numbers(9, 9, seed=1))
    known = jacobi.versions()[0].extra
    message, mpi_grid._MESSAGE = mpi_grid._MESSAGE, 0.0  # messages that cost their bytes alone
    try:
        known.loops.clear()
        expected = [numbers(50, 50), numbers(50, 50, seed=1)]
        a, b = (weft.distribute(one, grid=square()) for one in expected)
        jacobi(8, a, b)
        jacobi.py_func(8, *expected)
        near(a, expected[0])
        near(b, expected[1])
        chosen = {grid for grid, _ in known.loops.values()}
        assert comm.size() not in (4, 6, 8) or chosen != {None}, chosen
        out.append(digest(np.asarray(a), np.asarray(b)))
    finally:
        mpi_grid._MESSAGE = message
        known.loops.clear()
    return out


def case_timeline():
    """One file for all ranks: computing, transfers, idle."""
    folder = tempfile.mkdtemp() if comm.rank() == 0 else ""
    path = os.path.join(mpi_world.world().allgather(folder)[0], "run.json")
    A, B, C = (weft.distribute(numbers(48, 48)) for _ in range(3))
    with weft.cluster.trace(path):
        jacobi(5, A, B)
        gemm(1.5, 0.5, A, B, C)
    if comm.rank() == 0:
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        for rank in range(comm.size()):
            names = {event["name"] for event in events if event["pid"] == f"rank {rank}"}
            assert any(name.startswith("jacobi") for name in names) and any(n.startswith("gemm") for n in names), names
            assert comm.size() == 1 or "transfer" in names, names
        assert all(event["dur"] >= 0 for event in events)
        shutil.rmtree(folder)
    return "ok"


def case_scalapack():
    """Products of matrices that are dealt in blocks: by ScaLAPACK where there is one, else by SUMMA, as good."""
    from weft.cluster import mpi_scalapack

    for grid in dict.fromkeys([square(), square()[::-1]]):
        for dtype in "dfDF":
            A, B = numbers(37, 29, dtype=dtype), numbers(29, 23, dtype=dtype, seed=1)
            a, b = weft.distribute(A, blocks=(4, 3), grid=grid), weft.distribute(B, blocks=(3, 5), grid=grid)
            why = mpi_scalapack.why_not(a, b)
            assert why is None or mpi_scalapack.library() is None, why
            assert "do not fit" in mpi_scalapack.why_not(a, weft.distribute(B, blocks=(4, 5), grid=grid))
            near(mpi_linalg.matmul(a, b), A @ B)
    one = weft.distribute(numbers(12, 12), blocks=(12, 12), grid=(1, 1))
    assert "one block" in mpi_scalapack.why_not(one, one)
    return "ok"


def case_counts():
    """Messages and bytes of one call; arrays of 48 x 48 float64, distributed by rows."""
    one, two, three, four = (weft.distribute(numbers(48, 48, seed=seed)) for seed in range(4))
    squares = [weft.distribute(numbers(48, 48), grid=square()) for _ in range(3)]
    return {
        "squares": sent(lambda: gemm(1.5, 0.5, *squares)),
        "gemm": sent(lambda: gemm(1.5, 0.5, one, two, three)),
        "2mm": sent(lambda: two_products(1.5, 0.5, *map(weft.distribute, [numbers(48, 48)] * 3), four)),
        "jacobi": sent(lambda: jacobi(5, *map(weft.distribute, [numbers(48, 48)] * 2))),
        "plain": sent(lambda: gemm(1.5, 0.5, *[numbers(48, 48) for _ in range(3)])),
    }


def case_errors():
    """Errors are the same on every rank, and nobody waits for a rank that has raised."""
    found = []

    def noted(action):
        try:
            action()
            found.append("nothing")
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")

    x = numbers(48, 3)
    bad = x.copy()
    bad[40, 0] = 9.0
    noted(lambda: guarded(bad, 5.0))
    near(guarded(x, 5.0), x * 2.0)
    if comm.size() > 1:
        other = x.copy()
        other[7, 1] += comm.rank() == 1
        noted(lambda: scaled(other, 2.0))
        noted(lambda: scaled(x, float(comm.rank())))
        noted(lambda: scaled(x[: 48 - comm.rank()], 2.0))
        assert all("'x' of rank 1" in found[at] for at in (1, 3)) and "'a' of rank 1" in found[2], found
    noted(lambda: weft.distribute(x, grid=(comm.size() + 1, 1)))
    noted(lambda: weft.distribute(x, blocks=(0, 1)))
    noted(lambda: weft.distribute(np.array([None])))
    assert not any(text == "nothing" for text in found), found
    return found[0]


def case_refused():
    """What cannot be cut says why and runs on each rank."""

    def recurrence(x):
        for i in range(1, x.shape[0]):
            x[i] = x[i - 1] * 0.5 + x[i]
        return x[-1]

    x, y = numbers(60), numbers(60)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        got = weft.jit(target="mpi")(recurrence)(x)
    near(got, recurrence(y))
    near(x, y)
    assert any("runs on this machine alone" in str(warning.message) for warning in told), told

    def swapping(a, b, steps):
        for _ in range(steps):
            b[1:-1] = 0.5 * (a[:-2] + a[2:])
            a, b = b, a
        return a

    expected = swapping(x.copy(), y.copy(), 3)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        got = weft.jit(target="mpi")(swapping)(x, y, 3)
    near(got, expected)
    assert any("an argument changes places" in str(warning.message) for warning in told), told
    return "ok"


@weft.jit(target="mpi", fallback="error")
def sparse_steps(a, x, steps):
    for _ in range(steps):
        y = a @ x
        x = y / np.sqrt((y * y).sum())
    return x


@weft.jit(target="mpi", fallback="error")
def squares(items):
    return [item * item + 1 for item in items]


@weft.jit(target="mpi", fallback="error")
def weighted(items, y):
    out = np.empty(len(y))
    for i in range(len(y)):
        out[i] = items[i] * y[i]
    return out


@weft.jit(target="mpi", fallback="error")
def inner_part(x):
    y = x * 2.0
    return y[1:-1]


@weft.jit(target="mpi", fallback="error")
def doubled_across(x):
    x[:] = x * 2.0
    return x.T


def case_views():
    """Results that are views: of a new array, and of an argument."""
    x = numbers(90, 7)
    out = compare(inner_part, x) + compare(doubled_across, x)
    given = x.copy()
    turned = doubled_across(given)
    given[3, 4] = -1.0
    assert turned[4, 3] == -1.0 and turned.shape == (7, 90)
    return out


def case_parts():
    """Sparse matrices and lists: every rank computes its rows."""
    from scipy.sparse import random_array

    a = random_array((90, 90), density=0.1, format="csr", rng=np.random.default_rng(4))
    out = compare(sparse_steps, a, numbers(90), 3)
    assert squares(list(range(90))) == squares.py_func(list(range(90)))
    assert squares([10**11] * 90) == [10**22 + 1] * 90  # beyond 64 bits: in Python, on all ranks
    items = [float(item) for item in range(90)]
    out += compare(weighted, items, numbers(90))
    if comm.size() > 1:
        try:
            squares([comm.rank()] * 90)
        except weft.ClusterError as error:
            assert "'items'" in str(error), error
        else:
            raise AssertionError("ranks were called with different lists")
    return out


def case_odd_arguments():
    """Arrays that may not be written, closures that cannot be pickled, functions of a closure's array."""
    x = numbers(60, 4)
    fixed = x.copy()
    fixed.flags.writeable = False
    near(scaled(fixed, 2.0), x * 3.0)
    noted = ""
    try:
        weft.jit(target="mpi", fallback="silent")(in_place.py_func)(fixed)
    except ValueError as error:
        noted = str(error)
    assert "read-only" in noted and (fixed == x).all(), noted
    factor, lock = 2.5, threading.Lock()

    def closed(values):
        assert lock is not None
        return values * factor

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        near(weft.jit(target="mpi")(closed)(x), x * 2.5)
    return noted


def half_step(inside, outside, before, after):
    requests = [comm.Isend(inside[1, 1:-1], before, 0), comm.Isend(inside[-2, 1:-1], after, 1)]
    requests += [comm.Irecv(inside[0, 1:-1], before, 1), comm.Irecv(inside[-1, 1:-1], after, 0)]
    comm.Waitall(requests)
    outside[1:-1, 1:-1] = 0.25 * (inside[:-2, 1:-1] + inside[2:, 1:-1] + inside[1:-1, :-2] + inside[1:-1, 2:])


def local_views(A, step, across):
    """A stencil by hand, periodic along the axis that is cut; `across`: columns, whose edges are strided."""
    grid = comm.Cart((1, comm.size()) if across else (comm.size(), 1), periodic=True)
    part = comm.BlockScatter(A, grid)
    a = np.zeros((part.shape[0] + 2, part.shape[1] + 2))
    b = np.zeros_like(a)
    a[1:-1, 1:-1] = part
    before, after = grid.shift(1 if across else 0)
    for _ in range(2):
        step(*((a.T, b.T) if across else (a, b)), before, after)
        step(*((b.T, a.T) if across else (b, a)), before, after)
    return comm.BlockGather(a[1:-1, 1:-1], A.shape, grid)


def case_local_views():
    A = numbers(48, 48)
    a = np.pad(A, 1)
    for _ in range(4):
        a[0, 1:-1], a[-1, 1:-1] = a[-2, 1:-1].copy(), a[1, 1:-1].copy()
        b = np.zeros_like(a)
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        a = b
    compiled = weft.jit(fallback="error")(half_step)
    for step in (half_step, compiled):
        np.testing.assert_allclose(local_views(A, step, False), a[1:-1, 1:-1])
        np.testing.assert_allclose(local_views(np.ascontiguousarray(A.T), step, True), a[1:-1, 1:-1].T)
    # Messages are nodes: there is nothing but one native version.
    assert not compiled._regions and sum(compiled.stats["calls"].values()) > 0, compiled.stats
    grid = comm.Cart(2)
    assert np.prod(grid.dims) == comm.size() and grid.rank_at(grid.coordinates) == comm.rank()
    assert comm.size() != 4 or grid.dims == (2, 2)
    assert comm.Cart((comm.size(),)).shift(0)[0] == comm.rank() - 1
    return "ok"


def around_the_ring(a, steps):
    """Requests in an array, messages in a loop, and collective ones."""
    here, ranks = comm.rank(), comm.size()
    requests = comm.requests(2)
    got = np.zeros(a.shape[0])
    for t in range(steps):
        requests[0] = comm.Isend(a, (here + 1) % ranks, t)
        requests[1] = comm.Irecv(got, (here - 1) % ranks, t)
        comm.Waitall(requests)
        a[:] = got + here
    whole = comm.Allreduce(2 * a, "max")
    comm.Bcast(a, ranks - 1)
    return whole, a.sum()


def collected(mine, table, part, root):
    comm.Scatter(table, part, root)
    sums = comm.Reduce(mine, "sum", root)
    rows = comm.Gather(mine[0], root)
    if rows is None or sums is None:
        return -1.0
    return rows.sum() + sums.sum() + part.sum()


def sent_astray(a, target):
    comm.Send(a, target)
    return a.sum()


def received_behind(a, b, here, ranks):
    """What does not touch the message's array may run before it is there; what reads it may not."""
    sent = comm.Isend(a, (here + 1) % ranks)
    arriving = comm.Irecv(b, (here - 1) % ranks)
    total = 0.0
    for i in range(100):
        total += i * 0.5
    arriving.wait()
    sent.wait()
    b += total
    return b * 2


def case_native_messages():
    for steps in (0, 3):
        mine, theirs = np.arange(5.0) + comm.rank(), np.arange(5.0) + comm.rank()
        compiled = weft.jit(fallback="error")(around_the_ring)
        found, wanted = compiled(mine, steps), around_the_ring(theirs, steps)
        near(found[0], wanted[0])
        near(found[1], wanted[1])
        near(mine, theirs)
        assert not compiled._regions and compiled.versions
    gathering = weft.jit(fallback="error")(collected)
    table, part = numbers(comm.size(), 3), np.zeros(3)
    mine = numbers(2, 3) + comm.rank()
    wanted = collected(mine, table, part.copy(), comm.size() - 1)
    near(gathering(mine, table, part, comm.size() - 1), wanted)
    near(part, table[comm.rank()])
    assert not gathering._regions
    strided, got = np.arange(12.0).reshape(3, 4)[:, 1], np.zeros((3, 2))
    behind = weft.jit(fallback="error")(received_behind)
    near(behind(strided, got[:, 0], comm.rank(), comm.size()), (strided + 2475.0) * 2)
    assert not behind._regions
    wrong = weft.jit(fallback="error")(sent_astray)
    try:
        wrong(np.ones(3), comm.size() + 4)
        raise AssertionError("it was sent")
    except ValueError as problem:
        assert f"there is no rank {comm.size() + 4}" in str(problem)
    return "ok"


def exchanged(A, grid):
    """All of the local view in one function: blocks of an array, both halos of both axes, and back."""
    part = comm.BlockScatter(A, grid)
    rows, columns = part.shape
    a = np.zeros((rows + 2, columns + 2))
    a[1:-1, 1:-1] = part
    up, down = grid.shift(0)
    left, right = grid.shift(1)
    comm.Waitall(
        [
            comm.Isend(a[1, 1:-1], up, 0),
            comm.Isend(a[-2, 1:-1], down, 1),
            comm.Isend(a[1:-1, 1], left, 2),
            comm.Isend(a[1:-1, -2], right, 3),
            comm.Irecv(a[-1, 1:-1], down, 0),
            comm.Irecv(a[0, 1:-1], up, 1),
            comm.Irecv(a[1:-1, -1], right, 2),
            comm.Irecv(a[1:-1, 0], left, 3),
        ]
    )
    b = a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:]
    return comm.BlockGather(b, A.shape, grid)


def case_compiled_views():
    """Halos of both axes on a grid, in Python and compiled, open and periodic, sizes that do not divide."""
    compiled = weft.jit(fallback="silent")(exchanged)
    for shape, periodic in (((24, 24), True), ((23, 17), False)):
        A = numbers(*shape)
        p = np.pad(A, 1, mode="wrap") if periodic else np.pad(A, 1)
        wanted = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
        for function in (exchanged, compiled):
            grid = comm.Cart(2, periodic=periodic)
            np.testing.assert_allclose(function(A if comm.rank() == 0 else np.empty_like(A), grid), wanted)
    return "ok"


def case_collectives():
    """Every rank has its own part; what they combine is the same as computed by one."""
    ranks, here, last = comm.size(), comm.rank(), comm.size() - 1
    mine = np.arange(6.0).reshape(2, 3) * (here + 1)
    parts = [np.arange(6.0).reshape(2, 3) * (rank + 1) for rank in range(ranks)]
    table = np.zeros((2, 6))
    if here == last:
        table[:, ::2] = 7.0
    comm.Bcast(table[:, ::2], last)
    np.testing.assert_array_equal(table[:, ::2], 7.0)
    np.testing.assert_array_equal(table[:, 1::2], 0.0)
    for op, combine in (("sum", np.add), ("max", np.maximum), ("min", np.minimum), ("prod", np.multiply)):
        wanted = parts[0]
        for part in parts[1:]:
            wanted = combine(wanted, part)
        np.testing.assert_allclose(comm.Allreduce(mine.T, op), wanted.T)
        found = comm.Reduce(mine, op, last)
        assert (found is None) == (here != last)
        if found is not None:
            np.testing.assert_allclose(found, wanted)
    gathered = comm.Gather(mine, last)
    if here == last:
        np.testing.assert_array_equal(gathered, parts)
    got = np.zeros((3, 2)).T
    comm.Scatter(gathered, got, last)
    np.testing.assert_array_equal(got, mine)
    around = comm.requests(2)
    received = np.zeros(3)
    around[0] = comm.Isend(mine[1], (here + 1) % ranks)
    around[1] = comm.Irecv(received, (here - 1) % ranks)
    comm.Waitall(around)
    np.testing.assert_array_equal(received, parts[(here - 1) % ranks][1])
    for wrong, kind in ((lambda: comm.Allreduce(mine, "mean"), ValueError), (lambda: comm.Bcast(3.0), TypeError)):
        try:
            wrong()
        except kind:
            continue
        raise AssertionError("a mistake was not seen")
    return "ok"


def case_blocking_messages():
    """A chain: each rank adds its own number to what the one before it sends; strided on both sides."""
    comm.Barrier()
    table = np.zeros((4, 3))
    if comm.rank() > 0:
        comm.Recv(table[::2, 1], comm.rank() - 1)
    table[::2, 1] += comm.rank() + 1
    if comm.rank() < comm.size() - 1:
        comm.Send(table[::2, 1], comm.rank() + 1)
    wanted = np.zeros((4, 3))
    wanted[::2, 1] = sum(range(1, comm.rank() + 2))
    np.testing.assert_array_equal(table, wanted)
    return "ok"


def main(path):
    weft.cluster.connect(least_seconds=0.0)
    found = {}
    for name, case in [*globals().items(), *vars(mpi_more_cases).items()]:
        if not name.startswith("case_"):
            continue
        try:
            value = case()
        except Exception:
            value = "FAILED\n" + traceback.format_exc()
        everyone = mpi_world.world().allgather(value)
        failed = [text for text in everyone if isinstance(text, str) and text.startswith("FAILED")]
        found[name[5:]] = failed[0] if failed else value
        assert failed or all(other == value for other in everyone), (name, everyone)
    if comm.rank() == 0:
        with open(path, "w", encoding="utf-8") as file:
            json.dump(found, file)


if __name__ == "__main__":
    main(sys.argv[1])
