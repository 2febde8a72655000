"""Incompressible flow through a channel, periodic along it and driven by a force, advanced until it hardly changes."""

import numpy as np

SIZES = {"tiny": (8, 9, 3, 0.9), "S": (61, 61, 10, 0.1), "M": (101, 101, 20, 0.03), "L": (151, 151, 50, 0.012)}


def initialise(size):
    ny, nx, sweeps, limit = size
    u, v = np.zeros((ny, nx)), np.zeros((ny, nx))
    dx, dy, viscosity = 2.0 / (nx - 1), 2.0 / (ny - 1), 0.1
    dt = min(0.002, 0.2 * min(dx, dy) ** 2 / viscosity)  # explicit diffusion is stable below a quarter
    return u, v, np.ones((ny, nx)), sweeps, limit, dt, dx, dy, 1.0, viscosity, 1.0


def numpy_form(u, v, p, sweeps, limit, dt, dx, dy, density, viscosity, force):
    steps = 0
    change = 1.0
    while change > limit:
        un = u.copy()
        vn = v.copy()
        east, west = np.roll(un, -1, axis=1), np.roll(un, 1, axis=1)
        v_east, v_west = np.roll(vn, -1, axis=1), np.roll(vn, 1, axis=1)
        ux = (east[1:-1] - west[1:-1]) / (2 * dx)
        vx = (v_east[1:-1] - v_west[1:-1]) / (2 * dx)
        uy = (un[2:] - un[:-2]) / (2 * dy)
        vy = (vn[2:] - vn[:-2]) / (2 * dy)
        b = density * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)
        for _ in range(sweeps):
            old = p.copy()
            p[1:-1] = (
                (np.roll(old, -1, axis=1)[1:-1] + np.roll(old, 1, axis=1)[1:-1]) * dy**2
                + (old[2:] + old[:-2]) * dx**2
                - dx**2 * dy**2 * b
            ) / (2 * (dx**2 + dy**2))
            p[-1, :] = p[-2, :]
            p[0, :] = p[1, :]
        p_east, p_west = np.roll(p, -1, axis=1), np.roll(p, 1, axis=1)
        u[1:-1] = (
            un[1:-1]
            - un[1:-1] * dt / dx * (un[1:-1] - west[1:-1])
            - vn[1:-1] * dt / dy * (un[1:-1] - un[:-2])
            - dt / (2 * density * dx) * (p_east[1:-1] - p_west[1:-1])
            + viscosity * dt / dx**2 * (east[1:-1] - 2 * un[1:-1] + west[1:-1])
            + viscosity * dt / dy**2 * (un[2:] - 2 * un[1:-1] + un[:-2])
            + force * dt
        )
        v[1:-1] = (
            vn[1:-1]
            - un[1:-1] * dt / dx * (vn[1:-1] - v_west[1:-1])
            - vn[1:-1] * dt / dy * (vn[1:-1] - vn[:-2])
            - dt / (2 * density * dy) * (p[2:] - p[:-2])
            + viscosity * dt / dx**2 * (v_east[1:-1] - 2 * vn[1:-1] + v_west[1:-1])
            + viscosity * dt / dy**2 * (vn[2:] - 2 * vn[1:-1] + vn[:-2])
        )
        u[0, :] = 0
        u[-1, :] = 0
        v[0, :] = 0
        v[-1, :] = 0
        change = (np.sum(u) - np.sum(un)) / np.sum(u)
        steps += 1
    return steps


def loop_form(u, v, p, sweeps, limit, dt, dx, dy, density, viscosity, force):
    ny, nx = p.shape
    un = np.zeros((ny, nx))
    vn = np.zeros((ny, nx))
    b = np.zeros((ny, nx))
    old = np.zeros((ny, nx))
    steps = 0
    change = 1.0
    while change > limit:
        for i in range(ny):
            for j in range(nx):
                un[i, j] = u[i, j]
                vn[i, j] = v[i, j]
        for i in range(1, ny - 1):
            for j in range(nx):
                east = (j + 1) % nx
                west = (j - 1) % nx
                ux = (un[i, east] - un[i, west]) / (2 * dx)
                vx = (vn[i, east] - vn[i, west]) / (2 * dx)
                uy = (un[i + 1, j] - un[i - 1, j]) / (2 * dy)
                vy = (vn[i + 1, j] - vn[i - 1, j]) / (2 * dy)
                b[i, j] = density * ((ux + vy) / dt - ux**2 - 2 * uy * vx - vy**2)
        for _ in range(sweeps):
            for i in range(ny):
                for j in range(nx):
                    old[i, j] = p[i, j]
            for i in range(1, ny - 1):
                for j in range(nx):
                    p[i, j] = (
                        (old[i, (j + 1) % nx] + old[i, (j - 1) % nx]) * dy**2
                        + (old[i + 1, j] + old[i - 1, j]) * dx**2
                        - dx**2 * dy**2 * b[i, j]
                    ) / (2 * (dx**2 + dy**2))
            for j in range(nx):
                p[ny - 1, j] = p[ny - 2, j]
                p[0, j] = p[1, j]
        total = 0.0
        before = 0.0
        for i in range(1, ny - 1):
            for j in range(nx):
                east = (j + 1) % nx
                west = (j - 1) % nx
                u[i, j] = (
                    un[i, j]
                    - un[i, j] * dt / dx * (un[i, j] - un[i, west])
                    - vn[i, j] * dt / dy * (un[i, j] - un[i - 1, j])
                    - dt / (2 * density * dx) * (p[i, east] - p[i, west])
                    + viscosity * dt / dx**2 * (un[i, east] - 2 * un[i, j] + un[i, west])
                    + viscosity * dt / dy**2 * (un[i + 1, j] - 2 * un[i, j] + un[i - 1, j])
                    + force * dt
                )
                v[i, j] = (
                    vn[i, j]
                    - un[i, j] * dt / dx * (vn[i, j] - vn[i, west])
                    - vn[i, j] * dt / dy * (vn[i, j] - vn[i - 1, j])
                    - dt / (2 * density * dy) * (p[i + 1, j] - p[i - 1, j])
                    + viscosity * dt / dx**2 * (vn[i, east] - 2 * vn[i, j] + vn[i, west])
                    + viscosity * dt / dy**2 * (vn[i + 1, j] - 2 * vn[i, j] + vn[i - 1, j])
                )
                total += u[i, j]
                before += un[i, j]
        for j in range(nx):
            u[0, j] = 0.0
            u[ny - 1, j] = 0.0
            v[0, j] = 0.0
            v[ny - 1, j] = 0.0
        change = (total - before) / total
        steps += 1
    return steps
