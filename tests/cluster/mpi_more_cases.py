"""Further cases of `mpi_cases.py`: functions around statements of Python, messages of loops waited for behind them."""

from __future__ import annotations

import warnings

import numpy as np

import weft
from weft import comm

seen: list[float] = []





def between(x, n):
    y = np.sqrt(x) * 2
    for _ in range(n):
        y = y + x
    open("/dev/null").close(), seen.append(float(y.sum()))  # noqa: SIM115
    z = y[1:] + y[:-1]
    return z.sum(axis=1)


def between_in_a_loop(x, n):
    s = x * 0.0
    for k in range(n):
        s = s + x * k
        open("/dev/null").close()  # noqa: SIM115
        s = np.sqrt(s + 1.0)
    return s


def written(x):
    x *= 2
    open("/dev/null").close()  # noqa: SIM115
    x += 1


def other_on_each_rank(x, numbers):
    y = x * 2
    open("/dev/null").close(), numbers.append(comm.rank() + 0.5)  # noqa: SIM115
    return y + numbers[-1]


def ends_by_itself(x):
    """How often the loop runs is each rank's own: its parts must not wait for those of others."""
    total = 0.0
    while not open("/dev/null").close() and total < comm.rank() + 1:  # noqa: SIM115
        total += 1.0
        x = x * 2
    return x


def spread(function, *arguments):
    """The function with target="mpi", and its result."""
    made = weft.jit(target="mpi")(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made, made(*arguments)


def case_statement_of_python():
    """One statement that only Python runs keeps itself on each rank, and not what is around it."""
    x = np.random.default_rng(0).random((60, 8))
    for function in (between, between_in_a_loop):
        for argument in (x, weft.distribute(x)):
            made, found = spread(function, argument, 3)
            np.testing.assert_allclose(np.asarray(found), function(x, 3))
            assert made._parts and any(part.versions() for part in made._parts), function
    for argument in (x.copy(), weft.distribute(x)):
        spread(written, argument)
        np.testing.assert_allclose(np.asarray(argument), x * 2 + 1)
    np.testing.assert_allclose(np.asarray(spread(other_on_each_rank, x, [])[1]), x * 2 + comm.rank() + 0.5)
    made, found = spread(ends_by_itself, x)
    np.testing.assert_allclose(np.asarray(found), x * 2 ** (comm.rank() + 1))
    assert not made._parts
    return "ok"


def everyone_to_everyone(x, y):
    ranks = comm.size()
    requests = comm.requests(2 * ranks)
    for k in range(ranks):
        requests[2 * k] = comm.Isend(x[k], k, 7)
        requests[2 * k + 1] = comm.Irecv(y[k], k, 7)
    comm.Waitall(requests)
    return y * 1.0


def started_in_a_branch(x, w):
    requests = comm.requests(2)
    got = np.zeros(3)
    if comm.rank() == 0:
        requests[0] = comm.Isend(x[1], 0, 7)
        requests[1] = comm.Irecv(got, 0, 7)
    z = w * 2
    comm.Waitall(requests)
    return got + z


def made_in_the_loop(x, y):
    ranks = comm.size()
    requests = comm.requests(2 * ranks)
    kept = []
    for k in range(ranks):
        part = x[k] * 2
        kept.append(part)
        requests[2 * k] = comm.Isend(part, k, 7)
        requests[2 * k + 1] = comm.Irecv(y[k], k, 7)
    comm.Waitall(requests)
    return y * 1.0


def case_messages_of_loops():
    """Messages that a loop or a branch starts are waited for behind it."""
    ranks, here = comm.size(), comm.rank()
    x = np.arange(3.0 * ranks).reshape(ranks, 3) + 100 * here
    wanted = np.array([np.arange(3.0) + 3 * here + 100 * k for k in range(ranks)])
    compiled = weft.jit(fallback="error")(everyone_to_everyone)
    for y in (np.zeros((ranks, 3)), np.zeros((3, ranks)).T):
        np.testing.assert_array_equal(compiled(x, y), wanted)
        np.testing.assert_array_equal(y, wanted)
    both = np.arange(6.0).reshape(2, 3)
    wanted_here = both[1] * (here == 0) + 2.0
    np.testing.assert_array_equal(weft.jit(fallback="error")(started_in_a_branch)(both, np.ones(3)), wanted_here)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = weft.jit(made_in_the_loop)(x, np.zeros((ranks, 3)))
    np.testing.assert_array_equal(found, wanted * 2)
    return "ok"
