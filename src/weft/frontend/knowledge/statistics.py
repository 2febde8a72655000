"""Averages, correlation, sets and polynomials, written over other functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.frontend.knowledge.compose import at_least, composed

# --- averages -------------------------------------------------------------------------------------------------------


@composed(np.average)
def average(a: Any, axis: Any = None, weights: Any = None, returned: Any = False, keepdims: Any = False) -> Any:
    a = np.asarray(a)
    if weights is None:
        mean = np.mean(a, axis=axis, keepdims=keepdims)
        scale = mean.dtype.type(a.size / mean.size)
    else:
        shares = np.asarray(weights)
        if a.dtype.kind in ("b", "i", "u"):
            dtype = np.result_type(a.dtype, shares.dtype, np.float64)
        else:
            dtype = np.result_type(a.dtype, shares.dtype)
        if shares.ndim != a.ndim:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            if shares.ndim != 1:
                raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
            if shares.shape[0] != a.shape[axis]:
                raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
            shares = shares.reshape((-1,) + (1,) * ((a.ndim - 1 - axis) % a.ndim))
        elif a.shape != shares.shape:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        scale = np.sum(shares, axis=_own_axis(axis, a.ndim, shares.ndim), dtype=dtype, keepdims=keepdims)
        if np.any(scale == 0.0):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        mean = np.sum(np.multiply(a, shares, dtype=dtype), axis=axis, keepdims=keepdims) / scale
    if returned:
        if mean.shape == ():
            return mean, scale
        return mean, np.broadcast_to(scale, mean.shape).copy()
    return mean


def _own_axis(axis: Any, rank: Any, own: Any) -> Any:
    """An axis of the array as one of the weights, which have as many axes from it on."""
    if own == rank:
        return axis
    return 0


@composed(np.cov)
def cov(m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None) -> Any:
    m = np.asarray(m)
    dtype = np.result_type(m, np.float64) if y is None else np.result_type(m, y, np.float64)
    x = _variables(m, rowvar).astype(dtype)
    if y is not None:
        at_least(x.shape[0], 1)  # of no variables NumPy forgets the others
        if not rowvar and np.ndim(y) > 1:
            at_least(y.shape[0], 2)  # NumPy leaves a single row as it is
        x = np.concatenate((x, _variables(np.asarray(y), rowvar).astype(dtype)))
    # NumPy drops axes of extent one from the result.
    at_least(x.shape[0], 2)
    lost = (0 if bias else 1) if ddof is None else ddof
    centred = x - np.mean(x, axis=1, keepdims=True)
    return np.dot(centred, centred.T.conj()) * np.true_divide(1, max(x.shape[1] - lost, 0))


def _variables(m: Any, rowvar: Any) -> Any:
    """One variable a row."""
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if m.ndim < 2:
        return np.asarray(m).reshape(1, -1)
    return m if rowvar else m.T


@composed(np.corrcoef)
def corrcoef(x: Any, y: Any = None, rowvar: Any = True) -> Any:
    c = np.cov(x, y, rowvar)
    deviation = np.sqrt(np.diag(c).real)
    c = c / deviation[:, None] / deviation[None, :]
    if np.iscomplexobj(c):
        return np.clip(c.real, -1, 1) + 1j * np.clip(c.imag, -1, 1)
    return np.clip(c, -1, 1)


# --- differences and sums -------------------------------------------------------------------------------------------


@composed(np.ediff1d)
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    flat = _line(ary)
    steps = flat[1:] - flat[:-1]
    if to_begin is not None:
        first = _line(to_begin)
        if not np.can_cast(first.dtype, flat.dtype, casting="same_kind"):
            raise TypeError("dtype of `to_begin` must be compatible with input `ary` under the `same_kind` rule.")
        steps = np.concatenate((first.astype(flat.dtype), steps))
    if to_end is not None:
        final = _line(to_end)
        if not np.can_cast(final.dtype, flat.dtype, casting="same_kind"):
            raise TypeError("dtype of `to_end` must be compatible with input `ary` under the `same_kind` rule.")
        steps = np.concatenate((steps, final.astype(flat.dtype)))
    return steps


def cumulative_sum(x: Any, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> Any:
    return _running(np.cumsum, np.zeros, x, axis, dtype, include_initial)


def cumulative_prod(x: Any, axis: Any = None, dtype: Any = None, include_initial: Any = False) -> Any:
    return _running(np.cumprod, np.ones, x, axis, dtype, include_initial)


def _running(scan: Any, first: Any, x: Any, axis: Any, dtype: Any, include_initial: Any) -> Any:
    """The running totals or products; before them, if wanted, what they begin with."""
    x = np.asarray(x)
    if axis is None and x.ndim != 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    if not include_initial:
        return scan(x, axis=0 if axis is None else axis, dtype=dtype)
    line = np.moveaxis(scan(x, axis=0 if axis is None else axis, dtype=dtype), 0 if axis is None else axis, 0)
    return np.moveaxis(np.concatenate((first((1, *line.shape[1:]), line.dtype), line)), 0, 0 if axis is None else axis)


if hasattr(np, "cumulative_sum"):
    composed(np.cumulative_sum)(cumulative_sum)
    composed(np.cumulative_prod)(cumulative_prod)


def _line(values: Any) -> Any:
    """All values in one row."""
    return np.ravel(np.asarray(values) if isinstance(values, (list, tuple)) else values)


# --- sets -----------------------------------------------------------------------------------------------------------


@composed(np.union1d, kinds="biuf")
def union1d(ar1: Any, ar2: Any) -> Any:
    return np.unique(np.concatenate((ar1, ar2), axis=None))


@composed(np.intersect1d, kinds="biuf")
def intersect1d(ar1: Any, ar2: Any, assume_unique: Any = False, return_indices: Any = False) -> Any:
    first, second = _line(ar1), _line(ar2)
    if not return_indices:
        if not assume_unique:
            first, second = np.unique(first), np.unique(second)
        together = np.sort(np.concatenate((first, second)))
        return together[:-1][together[1:] == together[:-1]]
    if not assume_unique:
        first, from_first = np.unique(first, return_index=True)
        second, from_second = np.unique(second, return_index=True)
    count = first.size
    together = np.concatenate((first, second))
    order = np.argsort(together, kind="stable")
    together = together[order]
    both = together[1:] == together[:-1]
    own, other = order[:-1][both], order[1:][both] - count
    if not assume_unique:
        own, other = from_first[own], from_second[other]
    return together[:-1][both], own, other


@composed(np.setdiff1d, kinds="biuf")
def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    own = _line(ar1) if assume_unique else np.unique(_line(ar1))
    return own[np.isin(own, _line(ar2), invert=True)]


@composed(np.setxor1d, kinds="biuf")
def setxor1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    first, second = _line(ar1), _line(ar2)
    if not assume_unique:
        first, second = np.unique(first), np.unique(second)
    together = np.sort(np.concatenate((first, second)))
    starts, ends = np.ones(together.size, dtype=np.bool_), np.ones(together.size, dtype=np.bool_)
    starts[1:] = together[1:] != together[:-1]
    ends[:-1] = together[1:] != together[:-1]
    return together[starts & ends]


# --- polynomials ----------------------------------------------------------------------------------------------------


@composed(np.polyval, only={"p": "not empty"})
def polyval(p: Any, x: Any) -> Any:
    p, x = np.asarray(p), np.positive(x) if np.isscalar(x) else np.asarray(x)
    at_least(len(p), 1)
    dtype = np.result_type(p, x)
    value = np.zeros_like(x, dtype=dtype) if np.ndim(x) else dtype.type(0)
    for k in range(len(p)):
        value = value * x + p[k]
    return value


@composed(np.polyder, only={"p": "not empty"})
def polyder(p: Any, m: Any = 1) -> Any:
    p = np.asarray(p)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    if m == 0:
        return p
    at_least(len(p), 1)
    return np.polyder(p[:-1] * np.arange(len(p) - 1, 0, -1), m - 1)


@composed(np.polyint)
def polyint(p: Any, m: Any = 1) -> Any:
    p = np.asarray(p)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    if m == 0:
        return p
    return np.polyint(np.concatenate((p / np.arange(len(p), 0, -1), np.zeros(1))), m - 1)


@composed(np.polyadd)
def polyadd(a1: Any, a2: Any) -> Any:
    a1, a2 = np.asarray(a1), np.asarray(a2)
    at_least(1, max(a1.ndim, a2.ndim))
    n = max(len(a1), len(a2))
    result = np.zeros(n, dtype=np.result_type(a1, a2))
    result[n - len(a1) :] = a1
    result[n - len(a2) :] += a2
    return result


@composed(np.polysub)
def polysub(a1: Any, a2: Any) -> Any:
    a1, a2 = np.asarray(a1), np.asarray(a2)
    at_least(1, max(a1.ndim, a2.ndim))
    n = max(len(a1), len(a2))
    result = np.zeros(n, dtype=np.result_type(a1, a2))
    result[n - len(a1) :] = a1
    result[n - len(a2) :] -= a2
    return result
