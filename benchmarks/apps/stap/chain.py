"""Space-time adaptive processing as people write it in NumPy. In come cubes of samples; out comes where targets are.

Beam-space, post-Doppler (Ward 1994, chapter 5): the channels become a few beams around the look direction, the matched
filter gathers every echo along the range, a transform over the pulses sorts by Doppler frequency. In each bin of that
the beams' covariance says what clutter and jammers look like there; the weights that leave an echo from the look
direction as it is, and as little as possible of all else, follow by solving with it. What then stands out of its
neighbours along the range is a target.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def matched_beams(cube: Array, steering: Array, response: Array, size: int) -> Array:
    """Beams of one cube, compressed along the range: `[pulse, beam, range]`."""
    pulses, _, samples = cube.shape
    weights = steering.conj().T
    beams = np.empty((pulses, steering.shape[1], samples), cube.dtype)
    for pulse in range(pulses):
        beams[pulse] = weights @ cube[pulse]
    spectra = np.fft.fft(beams, size, axis=2)
    return np.fft.ifft(spectra * response, axis=2)[:, :, :samples]


def adaptive_power(doppler: Array, look: Array, loading: float) -> Array:
    """How much of each range gate is an echo from the look direction, in units of what else there is: `[bin, range]`.

    The adaptive matched filter: |w^H x|^2 / w^H s with w = R^-1 s, R the mean of x x^H over the range, made regular by
    a share of its own trace.
    """
    bins, beams, samples = doppler.shape
    power = np.empty((bins, samples), look.real.dtype)
    for index in range(bins):
        snapshots = doppler[index]
        covariance = snapshots @ snapshots.conj().T / samples
        covariance += loading * np.trace(covariance).real / beams * np.eye(beams, dtype=look.dtype)
        weights = np.linalg.solve(covariance, look)
        gain = np.sum(look.conj() * weights).real
        power[index] = np.abs(weights.conj() @ snapshots) ** 2 / gain
    return power


def exceeds_neighbours(power: Array, guard: int, training: int, factor: float) -> Array:
    """Which gates exceed `factor` times the mean of the `training` gates on each side, `guard` gates away."""
    bins, samples = power.shape
    sums = np.zeros((bins, samples + 1), power.dtype)
    sums[:, 1:] = np.cumsum(power, axis=1)
    gates = np.arange(samples)
    first, last = np.maximum(gates - guard - training, 0), np.minimum(gates + guard + training + 1, samples)
    left, right = np.maximum(gates - guard, 0), np.minimum(gates + guard + 1, samples)
    around = sums[:, last] - sums[:, right] + sums[:, left] - sums[:, first]
    count = last - right + left - first
    return power * count > factor * around


def process(
    cube: Array,
    steering: Array,
    look: Array,
    response: Array,
    window: Array,
    size: int,
    loading: float = 1e-4,
    guard: int = 4,
    training: int = 32,
    factor: float = 16.0,
) -> tuple[Array, Array]:
    """The power of every Doppler bin and range gate of a cube, and which of them are targets."""
    compressed = matched_beams(cube, steering, response, size)
    doppler = np.fft.fft(compressed * window[:, None, None], axis=0)
    power = adaptive_power(doppler, look, loading)
    return power, exceeds_neighbours(power, guard, training, factor)


def process_all(
    cubes: Array, steering: Array, look: Array, response: Array, window: Array, size: int, loading: float = 1e-4
) -> tuple[Array, Array]:
    """All cubes, one after the other: `[cube, bin, range]`, powers and what was found."""
    count, pulses, _, samples = cubes.shape
    powers = np.empty((count, pulses, samples), cubes.real.dtype)
    found = np.empty((count, pulses, samples), np.bool_)
    for number in range(count):
        powers[number], found[number] = process(cubes[number], steering, look, response, window, size, loading)
    return powers, found
