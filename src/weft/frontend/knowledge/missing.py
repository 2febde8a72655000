"""Reductions that leave out NaN, written over the plain ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.frontend.knowledge import ARRAYS
from weft.frontend.knowledge.compose import at_least, composed, mostly


@composed(np.nansum, ranks=ARRAYS)
def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = 0,
    where: Any = True,
) -> Any:  # fmt: skip
    a = np.asarray(a)
    present = np.where(np.isnan(a), 0, a)
    return np.sum(present, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)


@composed(np.nanprod, ranks=ARRAYS)
def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = 1,
    where: Any = True,
) -> Any:  # fmt: skip
    a = np.asarray(a)
    present = np.where(np.isnan(a), 1, a)
    return np.prod(present, axis=axis, dtype=dtype, out=out, keepdims=keepdims, initial=initial, where=where)


@composed(np.nanmax, ranks=ARRAYS, kinds="biuf")
def nanmax(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return np.fmax.reduce(a, axis=axis, out=out, keepdims=keepdims)


@composed(np.nanmin, ranks=ARRAYS, kinds="biuf")
def nanmin(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    return np.fmin.reduce(a, axis=axis, out=out, keepdims=keepdims)


@composed(np.nanmean, ranks=ARRAYS)
def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    a = np.asarray(a)
    if a.dtype.kind not in ("f", "c"):
        return np.mean(a, axis=axis, dtype=dtype, out=out, keepdims=keepdims)
    present = ~np.isnan(a)
    count = np.sum(present, axis=axis, dtype=np.intp, keepdims=keepdims)
    total = np.sum(np.where(present, a, 0), axis=axis, dtype=dtype, keepdims=keepdims)
    if out is not None:
        at_least(np.ndim(total), np.ndim(out))
        at_least(int(out.dtype == total.dtype), 1)  # NumPy computes in the type of `out`
        mostly(out.shape == np.shape(total), "an out of another shape")
    return np.divide(total, count.astype(total.dtype), out=out)


@composed(np.nanvar, ranks=ARRAYS)
def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False
) -> Any:
    a = np.asarray(a)
    if a.dtype.kind not in ("f", "c"):
        return np.var(a, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims)
    present = ~np.isnan(a)
    number = np.sum(present, axis=axis, dtype=np.intp, keepdims=True)
    added = np.sum(np.where(present, a, 0), axis=axis, dtype=dtype, keepdims=True)
    gap = np.where(present, a - added / number.astype(added.dtype), 0)
    if a.dtype.kind == "c":
        square = np.square(gap.real) + np.square(gap.imag)
    else:
        square = np.square(gap)
    total = np.sum(square, axis=axis, dtype=dtype, keepdims=keepdims)
    freedom = np.sum(present, axis=axis, dtype=np.intp, keepdims=keepdims) - ddof
    if out is not None:
        at_least(np.ndim(total), np.ndim(out))
        at_least(int(out.dtype == total.dtype), 1)  # NumPy computes in the type of `out`
        mostly(out.shape == np.shape(total), "an out of another shape")
    spread = np.divide(total, freedom.astype(total.dtype))
    return np.add(np.where(freedom > 0, spread, np.nan), 0, out=out)


@composed(np.nanstd, ranks=ARRAYS)
def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False
) -> Any:
    variance = np.nanvar(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims)
    if out is not None:
        at_least(np.ndim(variance), np.ndim(out))
        at_least(int(out.dtype == variance.dtype), 1)
        mostly(out.shape == np.shape(variance), "an out of another shape")
    return np.sqrt(variance, out=out)


@composed(np.nanargmax, ranks=ARRAYS)
def nanargmax(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    a = np.asarray(a)
    missing = np.isnan(a)
    found = np.argmax(np.where(missing, -np.inf, a) if a.dtype.kind in ("f", "c") else a, axis=axis, keepdims=keepdims)
    if np.any(np.all(missing, axis=axis)):
        raise ValueError("All-NaN slice encountered")
    return found


@composed(np.nanargmin, ranks=ARRAYS)
def nanargmin(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    a = np.asarray(a)
    missing = np.isnan(a)
    found = np.argmin(np.where(missing, np.inf, a) if a.dtype.kind in ("f", "c") else a, axis=axis, keepdims=keepdims)
    if np.any(np.all(missing, axis=axis)):
        raise ValueError("All-NaN slice encountered")
    return found


@composed(np.nancumsum, ranks=ARRAYS)
def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    a = np.asarray(a)
    return np.cumsum(np.where(np.isnan(a), 0, a), axis=axis, dtype=dtype, out=out)


@composed(np.nancumprod, ranks=ARRAYS)
def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    a = np.asarray(a)
    return np.cumprod(np.where(np.isnan(a), 1, a), axis=axis, dtype=dtype, out=out)
