"""A package whose kernels are compiled ahead of time."""

from waves.kernels import damped, energy

__all__ = ["damped", "energy"]
