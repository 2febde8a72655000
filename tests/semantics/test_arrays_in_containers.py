"""Lists, tuples and dicts that hold arrays: frames of a simulation, rows that are collected, windows that move.

Results are compared with what plain Python gives, and so is which arrays of results and arguments are one object or
share memory: an array in a list is the very one that was put there.
"""

# ruff: noqa: B007
from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import weft
from tests.semantics.wide import needs_compiler, shown

pytestmark = needs_compiler


def _arrays(value):
    if isinstance(value, np.ndarray):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return [array for part in parts for array in _arrays(part)]


def _outcome(function, arguments):
    given = copy.deepcopy(arguments)
    try:
        result = function(*given)
    except weft.errors.WeftError:
        raise
    except Exception as error:
        return type(error).__name__, str(error), shown(given)
    found = _arrays([result, given])
    one = [next(place for place, other in enumerate(found) if other is array) for array in found]
    shared = [[np.shares_memory(array, other) for other in found] for array in found]
    return shown(result), shown(given), one, shared


def natively(function, *calls):
    compiled = weft.jit(fallback="error")(function)
    for arguments in calls:
        assert _outcome(compiled, arguments) == _outcome(function, arguments)


def by_python(function, *calls):
    with pytest.raises(weft.errors.WeftError, match="share memory"):
        weft.jit(fallback="error")(function)(*copy.deepcopy(calls[0]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = weft.jit(function)
        for arguments in calls:
            assert _outcome(compiled, arguments) == _outcome(function, arguments)


def vector(n=5):
    return np.arange(float(n)) + 0.5


def matrix(n, m):
    return np.arange(float(n * m)).reshape(n, m) + 0.5


# --- what is done with such lists -----------------------------------------------------------------------------------


def history(u, n):
    frames = []
    for _ in range(n):
        u = u * 2
        frames.append(u.copy())
    return frames


def looked_at(u, n):
    frames = [u * i for i in range(n)]
    total = frames[-1].sum() + frames[1][2] + len(frames)
    for i, frame in enumerate(frames):
        total += i * frame[0]
    for one, other in zip(frames, reversed(frames)):
        total += (one * other).sum()
    return total, max(frame.sum() for frame in frames), [frame.mean() for frame in frames]


def joined(a, n):
    xs = []
    for i in range(n):
        xs.append(a + i)
    stacks = np.array(xs), np.stack(xs, axis=1), np.stack(xs, axis=-1), np.vstack(xs), np.hstack(xs), np.dstack(xs)
    return stacks, np.concatenate(xs), np.column_stack(xs), sum(xs), np.mean(xs, axis=0), np.max(xs)


def joined_flat(a, n):
    xs = [a[i:] * i for i in range(n)]
    return np.concatenate(xs), np.hstack(xs), xs


def changed(u, n):
    xs = [u * i for i in range(n)]
    xs[0] = xs[1]
    xs[1][0] = 100.0
    xs.insert(1, u)
    del xs[3]
    rest = xs[1:]
    both = xs + rest
    both.extend(xs)
    xs.reverse()
    last = both.pop()
    return len(both), np.array(both), xs, last.sum()


def in_tuples(u, n):
    kept = []
    t = 0.0
    for _ in range(n):
        t += 0.5
        kept.append((t, u * t))
    return kept, sum([time * state.sum() for time, state in kept]), kept[-1][1][2]


def in_dicts(u, n):
    held = {}
    for i in range(n):
        held[i] = u * i
    held[1][0] = 4
    total = 0.0
    for key, value in held.items():
        total += key * value[1]
    return held, total


def in_lists_of_lists(u, n):
    groups = [[] for _ in range(2)]
    for i in range(n):
        groups[i % 2].append(u * i)
    return [len(group) for group in groups], np.array(groups[0]), groups


def _advanced(frames, u):
    frames.append(u + 1)
    return frames[-1] * 2


def by_a_function(u, n):
    frames = []
    for _ in range(n):
        u = _advanced(frames, u)
    return frames, u


def given_back(xs, u):
    xs.append(u * 2)
    xs.append(u * 3)
    return len(xs)


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (history, [(vector(), 3), (vector(), 0), (vector(0), 2), (np.arange(4)[::-2], 40)]),
        (looked_at, [(vector(), 3), (vector(3), 20)]),
        (joined, [(matrix(3, 4), 3), (matrix(4, 3).T, 2), (matrix(3, 4)[::-1, ::2], 1), (matrix(0, 2), 2)]),
        (joined, [(np.arange(6, dtype=np.int32).reshape(2, 3), 3)]),
        (joined_flat, [(vector(), 4), (vector(2), 1), (vector(1), 3)]),
        (changed, [(vector(), 4)]),
        (in_tuples, [(vector(), 3)]),
        (in_dicts, [(vector(), 4)]),
        (in_lists_of_lists, [(vector(), 5)]),
        (by_a_function, [(vector(), 3), (vector(), 0)]),
        (given_back, [([], vector())]),
    ],
)
def test_lists_of_arrays(function, calls):
    natively(function, *calls)


# --- which array it is ----------------------------------------------------------------------------------------------


def put_and_written(u0, n):
    frames = []
    u = u0.copy()
    for _ in range(n):
        frames.append(u)
        u[0] += 1
    return frames[0][0], np.array(frames), frames


def put_and_replaced(u0, n):
    frames = [u0]
    u = u0
    for _ in range(n):
        u = u + 1
        frames.append(u)
    return frames, u


def in_two_lists(u0, n):
    a, b = [], []
    for i in range(n):
        x = u0 * i
        a.append(x)
        b.append(x)
    a[0][1] = 99.0
    return a, b


def twice_in_one(u0, n):
    a = []
    for i in range(n):
        x = u0 * i
        a.append(x)
        a.append(x)
    a[0][2] = 7
    return a


def through_names(u0, n):
    a = [u0 * i for i in range(n)]
    x = a[1]
    x[0] = 3
    x += 1
    a[2] *= 2
    y = a[0]
    y = y + 5
    y[1] = 8
    return a, y


def through_a_variable(u0, n):
    a = [u0 * i for i in range(n)]
    x = a[0]
    for i in range(n):
        x = a[i]
        x[0] = 3 + i
    return a, x


def of_a_branch(u0, n):
    a = []
    for i in range(n):
        y = u0 * i if i % 2 else u0 + i
        a.append(y)
        y[0] = i
    return a


def exchanged(u0, n):
    now, then = u0.copy(), np.zeros_like(u0)
    a = []
    for _ in range(n):
        for j in range(1, u0.shape[0] - 1):
            then[j] = 0.5 * (now[j - 1] + now[j + 1])
        now, then = then, now
        a.append(now)
    return np.array(a), len(a)


def some_of_them(u0, n):
    a = [u0 * i for i in range(n)]
    return a[0], a, a[0]


def computed_items(u):
    y = u * 2
    b = [y + 1, u * 4]
    y[2] = 3
    b[0][1] = 9
    x = b[1]
    x[0] = 7
    return b, x, y


def items_of_a_tuple(u):
    b = (u + 1, u * 4)
    for w in b:
        w[1] = 5
    c = list(b)
    return b, c


def rows_of_an_argument(m):
    a = []
    for i in range(m.shape[0]):
        a.append(m[i])
    return np.array(a), a[-1].sum()


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (put_and_written, [(vector(), 3)]),
        (put_and_replaced, [(vector(), 3), (vector(), 0)]),
        (in_two_lists, [(vector(), 3)]),
        (twice_in_one, [(vector(), 3)]),
        (through_names, [(vector(), 3)]),
        (through_a_variable, [(vector(), 3)]),
        (of_a_branch, [(vector(), 4)]),
        (exchanged, [(vector(), 4), (vector(2), 3)]),
        (some_of_them, [(vector(), 3)]),
        (computed_items, [(vector(),)]),
        (items_of_a_tuple, [(vector(),)]),
        (rows_of_an_argument, [(matrix(4, 5),), (matrix(4, 5)[::2, ::-1],)]),
    ],
)
def test_an_array_is_the_one_that_was_put_there(function, calls):
    natively(function, *calls)


def an_argument_written(u, n):
    frames = []
    for _ in range(n):
        frames.append(u)
        u[0] += 1
    return frames[0][0]


def rows_written(m):
    b = m * 2
    a = []
    for i in range(m.shape[0]):
        a.append(b[i])
    b[0, 0] = 77
    return np.array(a)


def views_returned(m):
    a = []
    for i in range(m.shape[0]):
        a.append(m[i])
    return a


def collected_apart(m, labels):
    groups = {}
    for i in range(len(labels)):
        if labels[i] not in groups:
            groups[labels[i]] = []
        groups[labels[i]].append(m[i])
    return {key: np.mean(np.array(rows), axis=0) for key, rows in groups.items()}


def test_parts_of_arguments_beside_arrays_that_are_returned():
    natively(collected_apart, (matrix(3, 2), [0, 1, 0]), (matrix(3, 2)[::-1], [2, 2, 1]))


def a_part_and_the_whole(u, n):
    a = [u * i for i in range(n)]
    return a[0][1:3], a


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (an_argument_written, [(vector(), 3)]),
        (rows_written, [(matrix(3, 4),)]),
        (views_returned, [(matrix(3, 4),)]),
        (a_part_and_the_whole, [(vector(), 3)]),
    ],
)
def test_what_the_array_compiler_cannot_tell_apart_is_native_as_plain_python(function, calls):
    natively(function, *calls)


# --- bad input ------------------------------------------------------------------------------------------------------


def beyond(u, k):
    xs = [u * 1]
    xs.append(u * 2)
    return xs[k]


def taken(u, n):
    xs = []
    xs.append(u * 2)
    for _ in range(n):
        xs.pop()
    return len(xs)


def of_two_sizes(u, v):
    xs = []
    xs.append(u * 1)
    xs.append(v * 2)
    return np.array(xs)


def none_to_stack(u, n):
    xs = []
    for i in range(n):
        xs.append(u * i)
    return np.vstack(xs)


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (beyond, [(vector(), 1), (vector(), -2), (vector(), 2), (vector(), -3)]),
        (taken, [(vector(), 1), (vector(), 2)]),
        (of_two_sizes, [(vector(), vector()), (vector(), vector(6))]),
        (none_to_stack, [(vector(), 2), (vector(), 0)]),
    ],
)
def test_errors_are_pythons(function, calls):
    natively(function, *calls)


def of_two_types(u, v):
    xs = []
    xs.append(u)
    xs.append(v)
    return xs


def test_arrays_of_two_types_are_left_to_python():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = weft.jit(of_two_types)
        for other in (np.arange(3), matrix(2, 2), vector()):
            assert _outcome(compiled, (vector(), other)) == _outcome(of_two_types, (vector(), other))
