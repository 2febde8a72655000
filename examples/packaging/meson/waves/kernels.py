"""The functions that are compiled; where the compiled module is missing, this file is used as it is."""

import numpy as np

import weft

N = weft.symbol("N")


def energy(position: weft.f64[N], speed: weft.f64[N], stiffness: float) -> float:
    """The energy of a chain of unit masses."""
    total = 0.0
    for i in range(len(position) - 1):
        total += stiffness * (position[i + 1] - position[i]) ** 2
    return 0.5 * (total + (speed * speed).sum())


def damped(speed: weft.f64[N], rate: float, time: float) -> weft.f64[N]:
    """Speeds after a time of damping."""
    return speed * np.exp(-rate * time)
