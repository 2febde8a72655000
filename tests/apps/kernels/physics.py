"""Simulation and numerical analysis: bodies, fractals, differential equations, transforms, finance."""

from __future__ import annotations

import math

import numpy as np

from tests.apps.kernels.registry import Kernel


def forces_numpy(position, mass, softening):
    d = position[None, :, :] - position[:, None, :]
    inverse = (np.sum(d * d, axis=2) + softening) ** -1.5
    return np.sum(d * (inverse * mass[None, :])[:, :, None], axis=1)


def forces_loops(position, mass, softening):
    n = position.shape[0]
    out = np.zeros((n, 3))
    for i in range(n):
        for j in range(n):
            dx = position[j, 0] - position[i, 0]
            dy = position[j, 1] - position[i, 1]
            dz = position[j, 2] - position[i, 2]
            inverse = (dx * dx + dy * dy + dz * dz + softening) ** -1.5
            out[i, 0] += dx * inverse * mass[j]
            out[i, 1] += dy * inverse * mass[j]
            out[i, 2] += dz * inverse * mass[j]
    return out


def forces_lists(position, mass, softening):
    n = len(position)
    out = [[0.0] * 3 for _ in range(n)]
    for i in range(n):
        for j in range(n):
            if i != j:
                square = softening
                for k in range(3):
                    square += (position[j][k] - position[i][k]) ** 2
                for k in range(3):
                    out[i][k] += (position[j][k] - position[i][k]) * mass[j] / (square * math.sqrt(square))
    return out


def mandelbrot_numpy(xs, ys, limit):
    """Escape times with a mask over real and imaginary parts."""
    cx = xs[None, :] + np.zeros_like(ys)[:, None]
    cy = ys[:, None] + np.zeros_like(xs)[None, :]
    x = np.zeros_like(cx)
    y = np.zeros_like(cx)
    count = np.zeros(cx.shape, dtype=np.int64)
    for step in range(limit):
        inside = x * x + y * y < 4.0
        count[inside] = step + 1
        new = np.where(inside, x * x - y * y + cx, x)
        y = np.where(inside, 2.0 * x * y + cy, y)
        x = new
    return count


def mandelbrot_loops(xs, ys, limit):
    count = np.zeros((len(ys), len(xs)), dtype=np.int64)
    for i in range(len(ys)):
        for j in range(len(xs)):
            x = 0.0
            y = 0.0
            step = 0
            while step < limit and x * x + y * y < 4.0:
                x, y = x * x - y * y + xs[j], 2.0 * x * y + ys[i]
                step += 1
            count[i, j] = step
    return count


def mandelbrot_complex_loops(xs, ys, limit):
    count = np.zeros((len(ys), len(xs)), dtype=np.int32)
    for i, y in enumerate(ys):
        for j, x in enumerate(xs):
            c = x + 1j * y
            z = 0j
            for step in range(limit):
                if z.real * z.real + z.imag * z.imag > 4.0:
                    break
                z = z * z + c
                count[i, j] = step
    return count


def julia_numpy(z, c, steps):
    for _ in range(steps):
        z = z * z + c
    return z, abs(z) < 2.0


def julia_loops(z, c, steps):
    out = np.empty_like(z)
    inside = np.zeros(z.shape, dtype=np.bool_)
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            w = z[i, j]
            for _ in range(steps):
                w = w * w + c
            out[i, j] = w
            inside[i, j] = abs(w) < 2.0
    return out, inside


def lorenz_loops(state, steps, h, sigma, rho, beta):
    x, y, z = state[0], state[1], state[2]
    path = np.empty((steps, 3))
    for n in range(steps):
        k1x, k1y, k1z = sigma * (y - x), x * (rho - z) - y, x * y - beta * z
        ax, ay, az = x + 0.5 * h * k1x, y + 0.5 * h * k1y, z + 0.5 * h * k1z
        k2x, k2y, k2z = sigma * (ay - ax), ax * (rho - az) - ay, ax * ay - beta * az
        ax, ay, az = x + 0.5 * h * k2x, y + 0.5 * h * k2y, z + 0.5 * h * k2z
        k3x, k3y, k3z = sigma * (ay - ax), ax * (rho - az) - ay, ax * ay - beta * az
        ax, ay, az = x + h * k3x, y + h * k3y, z + h * k3z
        k4x, k4y, k4z = sigma * (ay - ax), ax * (rho - az) - ay, ax * ay - beta * az
        x += h / 6.0 * (k1x + 2.0 * k2x + 2.0 * k3x + k4x)
        y += h / 6.0 * (k1y + 2.0 * k2y + 2.0 * k3y + k4y)
        z += h / 6.0 * (k1z + 2.0 * k2z + 2.0 * k3z + k4z)
        path[n, 0] = x
        path[n, 1] = y
        path[n, 2] = z
    return path


def _lorenz_slope(s, sigma, rho, beta):
    out = np.empty(3)
    out[0] = sigma * (s[1] - s[0])
    out[1] = s[0] * (rho - s[2]) - s[1]
    out[2] = s[0] * s[1] - beta * s[2]
    return out


def lorenz_numpy(state, steps, h, sigma, rho, beta):
    path = np.empty((steps, 3))
    s = state.copy()
    for n in range(steps):
        k1 = _lorenz_slope(s, sigma, rho, beta)
        k2 = _lorenz_slope(s + 0.5 * h * k1, sigma, rho, beta)
        k3 = _lorenz_slope(s + 0.5 * h * k2, sigma, rho, beta)
        k4 = _lorenz_slope(s + h * k3, sigma, rho, beta)
        s = s + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        path[n] = s
    return path


def _normal_cdf(x):
    """Abramowitz and Stegun 7.1.26."""
    a = np.abs(x) / np.sqrt(2.0)
    t = 1.0 / (1.0 + 0.3275911 * a)
    series = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    value = 1.0 - series * np.exp(-a * a)
    return 0.5 * (1.0 + np.where(x < 0, -value, value))


def black_scholes_numpy(spot, strike, time, rate, volatility):
    root = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * time) / root
    d2 = d1 - root
    discount = strike * np.exp(-rate * time)
    call = spot * _normal_cdf(d1) - discount * _normal_cdf(d2)
    put = call - spot + discount
    return call, put


def black_scholes_loops(spot, strike, time, rate, volatility):
    n = len(spot)
    call = np.empty(n)
    put = np.empty(n)
    for i in range(n):
        root = volatility * math.sqrt(time[i])
        d1 = (math.log(spot[i] / strike[i]) + (rate + 0.5 * volatility**2) * time[i]) / root
        d2 = d1 - root
        discount = strike[i] * math.exp(-rate * time[i])
        call[i] = spot[i] * _normal_cdf(d1) - discount * _normal_cdf(d2)
        put[i] = call[i] - spot[i] + discount
    return call, put


def dft_loops(signal):
    n = len(signal)
    out = np.zeros(n, dtype=np.complex128)
    for k in range(n):
        for t in range(n):
            angle = -2.0 * math.pi * k * t / n
            out[k] += signal[t] * complex(math.cos(angle), math.sin(angle))
    return out


def dft_numpy(signal):
    n = signal.shape[0]
    k = np.arange(n)
    kernel = np.exp(-2j * np.pi * k[:, None] * k[None, :] / n)
    return kernel @ signal


def bilinear_loops(image, xs, ys):
    rows, columns = image.shape
    out = np.empty(len(xs))
    for p in range(len(xs)):
        i = min(int(ys[p]), rows - 2)
        j = min(int(xs[p]), columns - 2)
        fy = ys[p] - i
        fx = xs[p] - j
        top = image[i, j] * (1.0 - fx) + image[i, j + 1] * fx
        bottom = image[i + 1, j] * (1.0 - fx) + image[i + 1, j + 1] * fx
        out[p] = top * (1.0 - fy) + bottom * fy
    return out


def bilinear_numpy(image, xs, ys):
    i = np.minimum(ys.astype(np.int64), image.shape[0] - 2)
    j = np.minimum(xs.astype(np.int64), image.shape[1] - 2)
    fy = ys - i
    fx = xs - j
    top = image[i, j] * (1.0 - fx) + image[i, j + 1] * fx
    bottom = image[i + 1, j] * (1.0 - fx) + image[i + 1, j + 1] * fx
    return top * (1.0 - fy) + bottom * fy


def horner_numpy(coefficients, x):
    value = np.zeros_like(x)
    for c in coefficients:
        value = value * x + c
    return value


def horner_loops(coefficients, x):
    out = np.empty(len(x))
    for i in range(len(x)):
        value = 0.0
        for k in range(len(coefficients)):
            value = value * x[i] + coefficients[k]
        out[i] = value
    return out


def horner_lists(coefficients, x):
    out = [0.0] * len(x)
    for i in range(len(x)):
        value = 0.0
        for c in coefficients:
            value = value * x[i] + c
        out[i] = value
    return out


KERNELS = (
    Kernel(
        "forces",
        {"numpy": forces_numpy, "loops": forces_loops, "lists": forces_lists},
        lambda n, rng: (rng.random((n, 3)), rng.random(n), 0.01),
        medium=40,
        tolerance=1e-11,
    ),
    Kernel(
        "mandelbrot",
        {"numpy": mandelbrot_numpy, "loops": mandelbrot_loops},
        lambda n, rng: (np.linspace(-2.0, 0.6, n), np.linspace(-1.2, 1.2, n + 1), 30),
        small=(1, 2, 9),
        medium=40,
    ),
    Kernel(
        "mandelbrot_complex",
        {"loops": mandelbrot_complex_loops},
        lambda n, rng: (np.linspace(-2.0, 0.6, n), np.linspace(-1.2, 1.2, n + 1), 20),
        small=(1, 2, 9),
        medium=30,
    ),
    Kernel(
        "julia",
        {"numpy": julia_numpy, "loops": julia_loops},
        lambda n, rng: (0.5 * (rng.random((n, n)) + 1j * rng.random((n, n))), -0.4 + 0.6j, 5),
        small=(1, 2, 9),
        medium=30,
        tolerance=1e-10,
    ),
    Kernel(
        "lorenz",
        {"numpy": lorenz_numpy, "loops": lorenz_loops},
        lambda n, rng: (np.array([1.0, 1.0, 1.0]), n, 0.01, 10.0, 28.0, 8.0 / 3.0),
        small=(1, 2, 9),
        medium=100,
    ),
    Kernel(
        "black_scholes",
        {"numpy": black_scholes_numpy, "loops": black_scholes_loops},
        lambda n, rng: (80.0 + 40.0 * rng.random(n), 80.0 + 40.0 * rng.random(n), 0.1 + rng.random(n), 0.03, 0.25),
        medium=300,
        tolerance=1e-12,
    ),
    Kernel(
        "dft",
        {"numpy": dft_numpy, "loops": dft_loops},
        lambda n, rng: (rng.random(n) + 1j * rng.random(n),),
        small=(1, 2, 9),
        medium=40,
        tolerance=1e-11,
    ),
    Kernel(
        "bilinear",
        {"numpy": bilinear_numpy, "loops": bilinear_loops},
        lambda n, rng: (rng.random((n + 1, n + 2)), rng.random(n) * (n + 1), rng.random(n) * n),
        small=(1, 2, 9),
    ),
    Kernel(
        "horner",
        {"numpy": horner_numpy, "loops": horner_loops, "lists": horner_lists},
        lambda n, rng: (rng.normal(size=6), rng.normal(size=n)),
        small=(1, 2, 9),
        medium=300,
    ),
)
