"""Complex numbers, and contexts made of generators."""

import cmath
import contextlib


def mandel(w, h, it):
    rows = []
    for y in range(h):
        row = ""
        for x in range(w):
            c = complex(-2 + 3 * x / w, -1 + 2 * y / h)
            z = 0j
            n = 0
            while abs(z) <= 2 and n < it:
                z = z * z + c
                n += 1
            row += " .:-=+*#%@"[min(n // 2, 9)]
        rows.append(row)
    return rows


def fft(xs):
    n = len(xs)
    if n <= 1:
        return xs
    even, odd = fft(xs[0::2]), fft(xs[1::2])
    t = [cmath.exp(-2j * cmath.pi * k / n) * odd[k] for k in range(n // 2)]
    return [even[k] + t[k] for k in range(n // 2)] + [even[k] - t[k] for k in range(n // 2)]


def roots(a, b, c):
    d = cmath.sqrt(b * b - 4 * a * c)
    r = [(-b + d) / (2 * a), (-b - d) / (2 * a)]
    z = r[0]
    out = [
        z.real,
        z.imag,
        z.conjugate(),
        z == r[1],
        z != 0,
        bool(z),
        abs(z),
        cmath.polar(z),
        cmath.phase(z),
        z**2,
        z**0.5,
        2**z,
        -z,
        +z,
        z - 1,
        1 - z,
        z * 2.5,
        3 / z,
        str(z),
        f"{z:.2f}",
        {z: 1},
        z in r,
        sum(r),
        complex(1, 2),
        complex("1+2j"),
        complex(3),
        complex(),
        (3).real,
        (2.5).imag,
        hash(complex(2, 0)) == hash(2),
        complex(2, 0) == 2,
        [-0j + 0.0, (-0.0 - 0j) * 1],
    ]
    return r, out


def div0(z):
    try:
        return z / 0j
    except ZeroDivisionError as e:
        return str(e)


@contextlib.contextmanager
def timer(log, name):
    log.append("start " + name)
    try:
        yield log
    finally:
        log.append("end " + name)


def ctx():
    log = []
    with timer(log, "a") as same:
        same.append("body")
    with timer(log, "b"):
        pass
    return log


CASES = [
    (mandel, (20, 10, 20)),
    (fft, ([1, 2, 3, 4],)),
    (fft, ([1 + 1j, 2.5, 3j, 4],)),
    (roots, (1, 2, 5)),
    (roots, (1.0, -3.0, 2.0)),
    (div0, (1 + 2j,)),
    (ctx, ()),
]
