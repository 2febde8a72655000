"""Radar data that is known to the last target. In comes a `Scene`; out come cubes of samples and what processing them
takes: steering vectors, the spectrum of the matched filter, the window over the pulses.

An array of channels half a wavelength apart moves along its axis and looks sideways. What a patch of ground at an angle
sends back has a Doppler frequency that follows from that angle, so all ground together is a ridge in the plane of angle
and Doppler frequency. A jammer is at one angle and at all frequencies. (J. Ward, Space-Time Adaptive Processing for
Airborne Radar, Lincoln Laboratory report 1015, 1994, chapter 2.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.complexfloating]


@dataclass(frozen=True)
class Target:
    """Where a target is: a range gate, a frequency in cycles a pulse, the sine of its angle, and how strong it is."""

    gate: int
    doppler: float
    sine: float
    decibels: float = 0.0


@dataclass(frozen=True)
class Jammer:
    """Noise from one direction, over the receiver's own noise by so many decibels."""

    sine: float
    decibels: float


@dataclass(frozen=True)
class Scene:
    """What is seen, and with what; `slope` is the ridge's: pulse spacings travelled in half the spacing of channels."""

    channels: int = 16
    pulses: int = 32
    samples: int = 512
    chirp: int = 64
    targets: tuple[Target, ...] = (Target(150, 0.25, 0.0), Target(300, -0.375, 0.0, -3.0))
    jammers: tuple[Jammer, ...] = (Jammer(0.45, 30.0),)
    clutter_decibels: float = 40.0
    patches: int = 90
    slope: float = 1.0
    beams: int = 8
    look: float = 0.0  # the sine of the angle
    dtype: type[np.complexfloating] = np.complex64
    seed: int = 1

    @property
    def size(self) -> int:
        """The length of transforms along the range: enough for a sample row and the chirp, a power of two."""
        return 1 << (self.samples + self.chirp - 2).bit_length()


def spatial(channels: int, sine: float) -> Array:
    """What a plane wave from an angle looks like in the channels."""
    return np.exp(1j * np.pi * sine * np.arange(channels))


def temporal(pulses: int, doppler: float) -> Array:
    """What a frequency of `doppler` cycles a pulse looks like in the pulses."""
    return np.exp(2j * np.pi * doppler * np.arange(pulses))


def chirp(length: int) -> Array:
    """A linear sweep over four fifths of the band, of energy one."""
    time = np.arange(length) - (length - 1) / 2
    return np.exp(0.8j * np.pi * time**2 / length) / np.sqrt(length)


def _noise(generator: np.random.Generator, shape: tuple[int, ...], dtype: type[np.complexfloating]) -> Array:
    """Complex Gaussian noise of power one."""
    noise = np.empty(shape, dtype)
    pairs = noise.view(noise.real.dtype)
    generator.standard_normal(out=pairs, dtype=pairs.dtype.type)
    pairs *= np.sqrt(0.5)
    return noise


def cube(scene: Scene, number: int = 0) -> Array:
    """The samples `[pulse, channel, range]` of one coherent interval; each `number` has noise and clutter of its own.

    A target of 0 dB has the power of the noise in every sample before any filter: the gains of the matched filter are
    in its echo, those of the array and of the pulses come from the processing.
    """
    generator = np.random.default_rng((scene.seed, number))
    pulses, channels, samples = scene.pulses, scene.channels, scene.samples
    data = _noise(generator, (pulses, channels, samples), scene.dtype)
    for jammer in scene.jammers:
        waveform = _noise(generator, (pulses, 1, samples), scene.dtype)
        strength = 10.0 ** (jammer.decibels / 20.0)
        data += waveform * (strength * spatial(channels, jammer.sine)[:, None]).astype(scene.dtype)
    # Every patch of ground at once, as a product of matrices: a sum over patches, one at a time, goes through the whole
    # cube for each of them.
    sines = np.linspace(-1.0, 1.0, scene.patches, endpoint=False)
    in_pulses = np.stack([temporal(pulses, scene.slope * sine / 2.0) for sine in sines], axis=1)
    in_channels = np.stack([spatial(channels, sine) for sine in sines], axis=1)
    seen_by = (in_pulses[:, None, :] * in_channels[None, :, :]).reshape(pulses * channels, scene.patches)
    strength = 10.0 ** (scene.clutter_decibels / 20.0) / np.sqrt(scene.patches)
    ground = _noise(generator, (scene.patches, samples), scene.dtype)
    data += ((strength * seen_by).astype(scene.dtype) @ ground).reshape(data.shape)
    echo = chirp(scene.chirp) * np.sqrt(scene.chirp)
    for target in scene.targets:
        seen = min(scene.chirp, samples - target.gate)
        response = np.outer(temporal(pulses, target.doppler), spatial(channels, target.sine))
        strength = 10.0 ** (target.decibels / 20.0)
        data[:, :, target.gate : target.gate + seen] += strength * response[:, :, None] * echo[:seen]
    return data


def cubes(scene: Scene, count: int) -> Array:
    """`count` cubes of one scene, `[cube, pulse, channel, range]`."""
    made = np.empty((count, scene.pulses, scene.channels, scene.samples), scene.dtype)
    for number in range(count):
        made[number] = cube(scene, number)
    return made


def steering(scene: Scene, sines: tuple[float, ...]) -> Array:
    """One column a beam, `[channel, beam]`, of length one."""
    columns = [spatial(scene.channels, sine) for sine in sines]
    return (np.stack(columns, axis=1) / np.sqrt(scene.channels)).astype(scene.dtype)


def matched_filter(scene: Scene) -> Array:
    """The spectrum of the filter that gathers an echo's energy in its first sample."""
    return np.conj(np.fft.fft(chirp(scene.chirp), scene.size)).astype(scene.dtype)


def window(scene: Scene) -> NDArray[np.floating]:
    """A Hamming window over the pulses, which keeps the ground's strong frequencies out of the other bins."""
    weights = np.hamming(scene.pulses)
    real = np.empty(0, scene.dtype).real.dtype
    return (weights / np.sqrt(np.sum(weights**2))).astype(real)


@dataclass(frozen=True)
class Tools:
    """What the processing takes besides the cubes, in the order of its parameters."""

    steering: Array
    look: Array
    response: Array
    window: NDArray[np.floating]
    size: int

    def __iter__(self) -> Iterator[Any]:
        return iter((self.steering, self.look, self.response, self.window, self.size))


def tools(scene: Scene) -> Tools:
    """Beams side by side around the look direction, how an echo from there looks in them, and the filters."""
    spacing = 2.0 / scene.channels
    sines = tuple(scene.look + (beam - (scene.beams - 1) / 2) * spacing for beam in range(scene.beams))
    beams = steering(scene, sines)
    look = beams.conj().T @ spatial(scene.channels, scene.look)
    look = (look / np.linalg.norm(look)).astype(scene.dtype)
    return Tools(beams, look, matched_filter(scene), window(scene), scene.size)
