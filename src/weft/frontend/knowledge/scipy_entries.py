"""SciPy's functions, by the interface that users have (`registering`): `scipy.special` through the loops of its own
ufuncs, so that results are SciPy's to the last bit; `scipy.signal` and `scipy.linalg` as Python bodies that add and
multiply in SciPy's order.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from weft.frontend.knowledge.registering import entry_of_body, entry_of_ufunc
from weft.frontend.models.primitives import covered, is_dense, or_python

#: Ufuncs of scipy.special, with what one value costs, in cycles.
_SPECIAL = {
    **dict.fromkeys(("erf", "erfc", "erfcx", "expit", "logit", "log_expit", "ndtr", "log1p", "expm1", "exprel"), 40),
    **dict.fromkeys(("gamma", "gammaln", "loggamma", "rgamma", "digamma", "psi", "entr", "i0", "i0e", "i1", "i1e"), 60),
    **dict.fromkeys(("j0", "j1", "y0", "y1", "k0", "k0e", "k1", "k1e", "ellipk", "ellipe", "ellipkm1", "dawsn"), 80),
    **dict.fromkeys(("erfinv", "erfcinv", "ndtri", "log_ndtr", "xlogy", "xlog1py", "cbrt", "exp2", "exp10"), 60),
    **dict.fromkeys(("jv", "yv", "iv", "kv", "ive", "kve", "jve", "yve", "gammainc", "gammaincc", "zeta"), 300),
    **dict.fromkeys(("beta", "betaln", "binom", "poch", "rel_entr", "kl_div", "spence", "zetac", "struve"), 200),
    **dict.fromkeys(("cosm1", "sindg", "cosdg", "tandg", "hyp0f1", "boxcox", "huber", "pseudo_huber"), 60),
}

_done: set[str] = set()


def load_for(thing: Any) -> bool:
    """Make the entries of the module that a function comes from; whether there are new ones."""
    part = _part_of(thing)
    if part is None or part in _done:
        return False
    _done.add(part)
    {"special": _special, "signal": _signal, "linalg": _linalg}[part]()
    return True


def _part_of(thing: Any) -> str | None:
    if isinstance(thing, np.ufunc):
        special = sys.modules.get("scipy.special")
        return "special" if special is not None and getattr(special, thing.__name__, None) is thing else None
    home = str(getattr(thing, "__module__", "")).split(".")
    return home[1] if home[0] == "scipy" and len(home) > 1 and home[1] in ("signal", "linalg") else None


def _special() -> None:
    from scipy import special

    for name, cost in _SPECIAL.items():
        ufunc = getattr(special, name, None)
        if isinstance(ufunc, np.ufunc) and ufunc.nout == 1 and ufunc.signature is None:
            entry_of_ufunc(ufunc, "scipy.special", name, cost)


# --- scipy.signal ---------------------------------------------------------------------------------------------------


def _lfilter(b: Any, a: Any, x: Any) -> Any:
    """The transposed direct form II: a sum for each sample, and the delays behind it."""
    covered(is_dense(b) and is_dense(a) and is_dense(x), "lfilter() of lists")
    covered(b.ndim == 1 and a.ndim == 1 and x.ndim == 1, "lfilter() of several signals")
    covered(np.result_type(b, a, x) == np.float64, "lfilter() of other numbers than float64")
    or_python(len(a) > 1, "a filter without feedback")  # SciPy computes these by convolution
    or_python(len(b) > 0, "a filter without coefficients")
    or_python(a[0] != 0, "a filter whose first coefficient is 0")
    count = max(len(b), len(a))
    first = float(a[0])
    numerator, denominator = np.zeros(count), np.zeros(count)
    for k in range(len(b)):
        numerator[k] = b[k] / first
    for k in range(len(a)):
        denominator[k] = a[k] / first
    delay = np.zeros(count + 1)
    y = np.empty(len(x))
    for n in range(len(x)):
        value = delay[0] + numerator[0] * x[n]
        y[n] = value
        for k in range(count - 1):
            delay[k] = delay[k + 1] + x[n] * numerator[k + 1] - value * denominator[k + 1]
    return y


def _sosfilt(sos: Any, x: Any) -> Any:
    """One section of second order after the other, for each sample."""
    covered(is_dense(sos) and is_dense(x), "sosfilt() of lists")
    covered(sos.ndim == 2 and x.ndim == 1, "sosfilt() of several signals")
    covered(np.result_type(sos, x) == np.float64, "sosfilt() of other numbers than float64")
    or_python(sos.shape[1] == 6, "sections of another size than 6")
    or_python((sos[:, 3] == 1).all(), "sections that are not normalised")
    sections = sos.shape[0]
    delay = np.zeros((sections, 2))
    y = np.empty(len(x))
    for n in range(len(x)):
        value = x[n] * 1.0
        for s in range(sections):
            before = value
            value = sos[s, 0] * before + delay[s, 0]
            delay[s, 0] = sos[s, 1] * before - sos[s, 4] * value + delay[s, 1]
            delay[s, 1] = sos[s, 2] * before - sos[s, 5] * value
        y[n] = value
    return y


def _signal() -> None:
    from scipy import signal

    entry_of_body(signal.lfilter, _lfilter, "scipy.signal.lfilter")
    entry_of_body(signal.sosfilt, _sosfilt, "scipy.signal.sosfilt")


# --- scipy.linalg ---------------------------------------------------------------------------------------------------


def _toeplitz(c: Any, r: Any = None) -> Any:
    covered(is_dense(c) and (r is None or is_dense(r)), "toeplitz() of lists")
    covered(c.ndim == 1 and (r is None or r.ndim == 1), "toeplitz() of several vectors")
    covered(not np.iscomplexobj(c), "toeplitz() of complex numbers")
    other = c if r is None else r
    made = np.empty((len(c), len(other)), np.result_type(c, other))
    for i in range(len(c)):
        for j in range(len(other)):
            made[i, j] = c[i - j] if i >= j else other[j - i]
    return made


def _circulant(c: Any) -> Any:
    covered(is_dense(c), "circulant() of a list")
    covered(c.ndim == 1, "circulant() of several vectors")
    made = np.empty((len(c), len(c)), c.dtype)
    for i in range(len(c)):
        for j in range(len(c)):
            made[i, j] = c[(i - j) % len(c)]
    return made


def _hilbert(n: int) -> Any:
    made = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            made[i, j] = 1.0 / (1 + i + j)
    return made


def _linalg() -> None:
    from scipy import linalg

    entry_of_body(linalg.toeplitz, _toeplitz, "scipy.linalg.toeplitz")
    entry_of_body(linalg.circulant, _circulant, "scipy.linalg.circulant")
    entry_of_body(linalg.hilbert, _hilbert, "scipy.linalg.hilbert")
