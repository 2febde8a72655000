"""Ufuncs and C callbacks: `weft.vectorize` beside NumPy's `add` and `numba.vectorize`, `weft.cfunc` beside C.

python -m benchmarks.callbacks
"""

from __future__ import annotations

import ctypes
import math
import subprocess
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import weft

C = """
#include <math.h>
double bell(double x) { return exp(-x * x) * cos(3 * x); }
int spread(double *w, long n, double *r, void *u) {
  double high = w[0], low = w[0];
  for (long i = 1; i < n; i++) { if (w[i] > high) high = w[i]; if (w[i] < low) low = w[i]; }
  *r = high - low;
  return 1;
}
"""


def add(x, y):
    return x + y


def axpy(x, y):
    return 2.0 * x + y


def soft(x, y):
    if x > y:
        return x - y
    if x < -y:
        return x + y
    return 0.0


def decay(x, y):
    return math.exp(-x) * y


def length(x, y):
    return math.sqrt(x * x + y * y)


def poly(x, y):
    return ((x * y + 1.0) * y + 2.0) * y + 3.0


def larger(x, y):
    return x if x > y else y


def waves(x, y):
    return math.sin(x) * math.cos(y)


def sigmoid(x, y):
    return 1.0 / (1.0 + math.exp(-(x + y)))


def ratio(x, y):
    return x / (y + 1.0)


FUNCTIONS = (add, axpy, soft, decay, length, poly, larger, waves, sigmoid, ratio)


def bell(x):
    return math.exp(-x * x) * math.cos(3 * x)


def spread(window):
    return window.max() - window.min()


def best(action, repeats=25):
    """Microseconds of the fastest of some runs."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        action()
        found.append(time.perf_counter() - start)
    return min(found) * 1e6


def ufuncs():
    try:
        import numba
    except ImportError:
        numba = None
    types = ["float64(float64, float64)"]
    for n in (1_000, 100_000, 1_000_000):
        x, y, out = np.random.rand(n), np.random.rand(n) + 0.1, np.empty(n)
        print(f"{n} elements, us; np.add {best(lambda x=x, y=y, out=out: np.add(x, y, out=out)):.2f}")
        for function in FUNCTIONS:
            ours = (weft.vectorize(types)(function), weft.vectorize(types, parallel=False)(function))
            theirs = () if numba is None else (numba.vectorize(types)(function),)
            times = [best(lambda u=u, x=x, y=y, out=out: u(x, y, out=out)) for u in (*ours, *theirs)]
            names = ("weft", "one thread", "numba")
            print(f"  {function.__name__:8}", *(f"{name} {t:9.2f}" for name, t in zip(names, times)))


def callbacks():
    from scipy import LowLevelCallable, integrate, ndimage

    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "c.c", Path(folder) / "c.so"
        source.write_text(C)
        subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", source, "-o", made, "-lm"], check=True)
        library = ctypes.CDLL(str(made))
    library.bell.restype, library.bell.argtypes = ctypes.c_double, [ctypes.c_double]
    pointer = ctypes.POINTER(ctypes.c_double)
    library.spread.argtypes = [pointer, ctypes.c_long, pointer, ctypes.c_void_p]
    image = np.random.rand(200, 200)
    forms = {
        "C": (LowLevelCallable(library.bell), LowLevelCallable(library.spread)),
        "weft": (
            weft.cfunc("double (double)")(bell).low_level(),
            weft.cfunc(like="generic_filter", sizes={"size": 9})(spread).low_level(),
        ),
    }
    for name, (curve, window) in forms.items():
        area = best(lambda f=curve: integrate.quad(f, 0, 200, limit=500, epsabs=1e-14, epsrel=1e-14))
        filtered = best(lambda f=window: ndimage.generic_filter(image, f, size=3))
        print(f"{name:5} quad {area:8.1f} us   generic_filter 200x200, 3x3 {filtered:8.1f} us")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    ufuncs()
    callbacks()
