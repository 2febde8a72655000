"""Fields in JAX: sweeps in Gauss and Seidel's order, flow until it hardly changes, columns of the atmosphere."""

import jax.numpy as np
from jax import lax


def seidel_2d(steps, a):
    n = a.shape[0]

    def row(i, a):
        known = (
            a[i - 1, :-2]
            + a[i - 1, 1:-1]
            + a[i - 1, 2:]
            + a[i, 1:-1]
            + a[i, 2:]
            + a[i + 1, :-2]
            + a[i + 1, 1:-1]
            + a[i + 1, 2:]
        )

        def point(left, value):
            new = (value + left) / 9.0
            return new, new

        return a.at[i, 1:-1].set(lax.scan(point, a[i, 0], known)[1])

    def sweep(_, a):
        return lax.fori_loop(1, n - 1, row, a)

    return None, (lax.fori_loop(0, steps, sweep, a),)


def channel_flow(u, v, p, sweeps, limit, dt, dx, dy, density, viscosity, force):
    def advance(state):
        un, vn, p, _, steps = state
        east, west = np.roll(un, -1, axis=1), np.roll(un, 1, axis=1)
        v_east, v_west = np.roll(vn, -1, axis=1), np.roll(vn, 1, axis=1)
        ux = (east[1:-1] - west[1:-1]) / (2 * dx)
        vx = (v_east[1:-1] - v_west[1:-1]) / (2 * dx)
        uy = (un[2:] - un[:-2]) / (2 * dy)
        vy = (vn[2:] - vn[:-2]) / (2 * dy)
        b = density * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)

        def relax(_, p):
            inner = (
                (np.roll(p, -1, axis=1)[1:-1] + np.roll(p, 1, axis=1)[1:-1]) * dy**2
                + (p[2:] + p[:-2]) * dx**2
                - dx**2 * dy**2 * b
            ) / (2 * (dx**2 + dy**2))
            return np.concatenate((inner[:1], inner, inner[-1:]))

        p = lax.fori_loop(0, sweeps, relax, p)
        p_east, p_west = np.roll(p, -1, axis=1), np.roll(p, 1, axis=1)
        u = (
            un[1:-1]
            - un[1:-1] * dt / dx * (un[1:-1] - west[1:-1])
            - vn[1:-1] * dt / dy * (un[1:-1] - un[:-2])
            - dt / (2 * density * dx) * (p_east[1:-1] - p_west[1:-1])
            + viscosity * dt / dx**2 * (east[1:-1] - 2 * un[1:-1] + west[1:-1])
            + viscosity * dt / dy**2 * (un[2:] - 2 * un[1:-1] + un[:-2])
            + force * dt
        )
        v = (
            vn[1:-1]
            - un[1:-1] * dt / dx * (vn[1:-1] - v_west[1:-1])
            - vn[1:-1] * dt / dy * (vn[1:-1] - vn[:-2])
            - dt / (2 * density * dy) * (p[2:] - p[:-2])
            + viscosity * dt / dx**2 * (v_east[1:-1] - 2 * vn[1:-1] + v_west[1:-1])
            + viscosity * dt / dy**2 * (vn[2:] - 2 * vn[1:-1] + vn[:-2])
        )
        u, v = np.pad(u, ((1, 1), (0, 0))), np.pad(v, ((1, 1), (0, 0)))
        return u, v, p, (np.sum(u) - np.sum(un)) / np.sum(u), steps + 1

    state = lax.while_loop(lambda state: state[3] > limit, advance, (u, v, p, 1.0, 0))
    return state[4], state[:3]


def vadv(tendency, field, wind, position, stage, dt):
    nk = field.shape[2]
    speed = 0.25 * (wind[1:] + wind[:-1])
    below = np.where(np.arange(nk) > 0, -0.5 * speed, 0.0)
    above = np.where(np.arange(nk) < nk - 1, 0.5 * np.roll(speed, -1, axis=2), 0.0)
    correction = -below * (np.roll(stage, 1, axis=2) - stage) - above * (np.roll(stage, -1, axis=2) - stage)
    centre = 1.0 / dt - below - above
    forcing = position / dt + tendency + correction

    def forward(last, level):
        below, above, centre, forcing = level
        divided = 1.0 / (centre - last[0] * below)
        now = above * divided, (forcing - last[1] * below) * divided
        return now, now

    def backward(value, level):
        value = level[1] - level[0] * value
        return value, value

    levels = tuple(np.moveaxis(array, 2, 0) for array in (below, above, centre, forcing))
    zero = np.zeros(field.shape[:2])
    sweep = lax.scan(forward, (zero, zero), levels)[1]
    value = lax.scan(backward, zero, sweep, reverse=True)[1]
    return None, ((np.moveaxis(value, 0, 2) - position) / dt,)


def mandelbrot1(x_min, x_max, nx, y_min, y_max, ny, iterations):
    c = np.linspace(x_min, x_max, nx) + np.linspace(y_min, y_max, ny)[:, None] * 1j

    def step(n, state):
        z, escaped = state
        inside = np.abs(z) < 2.0
        return np.where(inside, z**2 + c, z), np.where(inside, n, escaped)

    z, escaped = lax.fori_loop(0, iterations, step, (np.zeros_like(c), np.zeros(c.shape, dtype=np.int64)))
    return (z, np.where(escaped == iterations - 1, 0, escaped)), ()


def mandelbrot2(x_min, x_max, nx, y_min, y_max, ny, iterations):
    c = np.linspace(x_min, x_max, nx) + np.linspace(y_min, y_max, ny)[:, None] * 1j

    def step(n, state):
        z, steps = state
        z = np.where(steps == 0, z * z + c, z)
        return z, np.where((steps == 0) & (np.abs(z) > 2.0), n + 1, steps)

    return lax.fori_loop(0, iterations, step, (c, np.zeros(c.shape, dtype=np.int64)))[1], ()
