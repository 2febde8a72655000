"""Incompressible flow in a lid-driven cavity: explicit momentum steps, and a pressure Poisson equation relaxed by
Jacobi sweeps at each of them.
"""

import numpy as np

SIZES = {"tiny": (9, 8, 3, 4), "S": (61, 61, 4, 40), "M": (101, 101, 15, 50), "L": (201, 201, 40, 50)}


def initialise(size):
    ny, nx, steps, sweeps = size
    u, v, p = (np.zeros((ny, nx)) for _ in range(3))
    return u, v, p, steps, sweeps, 0.1 / steps / 10, 2.0 / (nx - 1), 2.0 / (ny - 1), 1.0, 0.1


def source_term(b, density, dt, u, v, dx, dy):
    b[1:-1, 1:-1] = density * (
        1 / dt * ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx) + (v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, :-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, :-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[:-2, 1:-1]) / (2 * dy)) ** 2
    )


def relax_pressure(p, b, dx, dy, sweeps):
    for _ in range(sweeps):
        old = p.copy()
        p[1:-1, 1:-1] = ((old[1:-1, 2:] + old[1:-1, :-2]) * dy**2 + (old[2:, 1:-1] + old[:-2, 1:-1]) * dx**2) / (
            2 * (dx**2 + dy**2)
        ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[1:-1, 1:-1]
        p[:, -1] = p[:, -2]
        p[0, :] = p[1, :]
        p[:, 0] = p[:, 1]
        p[-1, :] = 0


def numpy_form(u, v, p, steps, sweeps, dt, dx, dy, density, viscosity):
    b = np.zeros_like(p)
    for _ in range(steps):
        un = u.copy()
        vn = v.copy()
        source_term(b, density, dt, u, v, dx, dy)
        relax_pressure(p, b, dx, dy, sweeps)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (un[1:-1, 1:-1] - un[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (un[1:-1, 1:-1] - un[:-2, 1:-1])
            - dt / (2 * density * dx) * (p[1:-1, 2:] - p[1:-1, :-2])
            + viscosity
            * (
                dt / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, :-2])
                + dt / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[:-2, 1:-1])
            )
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * dt / dx * (vn[1:-1, 1:-1] - vn[1:-1, :-2])
            - vn[1:-1, 1:-1] * dt / dy * (vn[1:-1, 1:-1] - vn[:-2, 1:-1])
            - dt / (2 * density * dy) * (p[2:, 1:-1] - p[:-2, 1:-1])
            + viscosity
            * (
                dt / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, :-2])
                + dt / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[:-2, 1:-1])
            )
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0


def loop_form(u, v, p, steps, sweeps, dt, dx, dy, density, viscosity):
    ny, nx = p.shape
    b = np.zeros((ny, nx))
    un = np.zeros((ny, nx))
    vn = np.zeros((ny, nx))
    old = np.zeros((ny, nx))
    for _ in range(steps):
        for i in range(ny):
            for j in range(nx):
                un[i, j] = u[i, j]
                vn[i, j] = v[i, j]
        for i in range(1, ny - 1):
            for j in range(1, nx - 1):
                ux = (u[i, j + 1] - u[i, j - 1]) / (2 * dx)
                vy = (v[i + 1, j] - v[i - 1, j]) / (2 * dy)
                uy = (u[i + 1, j] - u[i - 1, j]) / (2 * dy)
                vx = v[i, j + 1] - v[i, j - 1]
                b[i, j] = density * (1 / dt * (ux + vy) - ux**2 - 2 * (uy * vx / (2 * dx)) - vy**2)
        for _ in range(sweeps):
            for i in range(ny):
                for j in range(nx):
                    old[i, j] = p[i, j]
            for i in range(1, ny - 1):
                for j in range(1, nx - 1):
                    p[i, j] = ((old[i, j + 1] + old[i, j - 1]) * dy**2 + (old[i + 1, j] + old[i - 1, j]) * dx**2) / (
                        2 * (dx**2 + dy**2)
                    ) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * b[i, j]
            for i in range(ny):
                p[i, nx - 1] = p[i, nx - 2]
            for j in range(nx):
                p[0, j] = p[1, j]
            for i in range(ny):
                p[i, 0] = p[i, 1]
            for j in range(nx):
                p[ny - 1, j] = 0.0
        for i in range(1, ny - 1):
            for j in range(1, nx - 1):
                u[i, j] = (
                    un[i, j]
                    - un[i, j] * dt / dx * (un[i, j] - un[i, j - 1])
                    - vn[i, j] * dt / dy * (un[i, j] - un[i - 1, j])
                    - dt / (2 * density * dx) * (p[i, j + 1] - p[i, j - 1])
                    + viscosity
                    * (
                        dt / dx**2 * (un[i, j + 1] - 2 * un[i, j] + un[i, j - 1])
                        + dt / dy**2 * (un[i + 1, j] - 2 * un[i, j] + un[i - 1, j])
                    )
                )
                v[i, j] = (
                    vn[i, j]
                    - un[i, j] * dt / dx * (vn[i, j] - vn[i, j - 1])
                    - vn[i, j] * dt / dy * (vn[i, j] - vn[i - 1, j])
                    - dt / (2 * density * dy) * (p[i + 1, j] - p[i - 1, j])
                    + viscosity
                    * (
                        dt / dx**2 * (vn[i, j + 1] - 2 * vn[i, j] + vn[i, j - 1])
                        + dt / dy**2 * (vn[i + 1, j] - 2 * vn[i, j] + vn[i - 1, j])
                    )
                )
        for j in range(nx):
            u[0, j] = 0.0
        for i in range(ny):
            u[i, 0] = 0.0
            u[i, nx - 1] = 0.0
        for j in range(nx):
            u[ny - 1, j] = 1.0
            v[0, j] = 0.0
            v[ny - 1, j] = 0.0
        for i in range(ny):
            v[i, 0] = 0.0
            v[i, nx - 1] = 0.0
