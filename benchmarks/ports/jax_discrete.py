"""Bits, tables and blocks in JAX."""

import jax.numpy as np
from jax import lax


def crc16(data, polynomial):
    def byte(crc, value):
        crc = crc ^ value
        for _ in range(8):
            crc = np.where(crc & 1, (crc >> 1) ^ polynomial, crc >> 1)
        return crc, None

    crc = ~lax.scan(byte, np.array(0xFFFF), data.astype(np.int64))[0] & 0xFFFF
    return ((crc << 8) | ((crc >> 8) & 0xFF)) & 0xFFFF, ()


def nussinov(strand):
    n = len(strand)
    index = np.arange(n)

    def row(step, table):
        i = n - 1 - step
        pairs = np.where(strand[i] + strand == 3, 1, 0)

        def column(j, table):
            best = np.maximum(table[i, j - 1], table[i + 1, j])
            best = np.maximum(best, table[i + 1, j - 1] + np.where(i < j - 1, pairs[j], 0))
            split = table[i] + np.roll(table[:, j], -1)
            best = np.maximum(best, np.max(np.where((index > i) & (index < j), split, 0)))
            return table.at[i, j].set(best)

        return lax.fori_loop(i + 1, n, column, table)

    return lax.fori_loop(0, n, row, np.zeros((n, n), dtype=np.int64)), ()


def scattering_self_energies(index, gradient, green, phonon, energy):
    directions, energies = gradient.shape[2], green.shape[1]
    neighbours = green[:, :, index]
    for w in range(phonon.shape[1]):
        # Electrons that have lost w quanta: the energies below are empty.
        shifted = neighbours[:, : energies - w]
        for i in range(directions):
            left = np.einsum("keabrs,absc->keabrc", shifted, gradient[:, :, i])
            right = np.einsum("abjsc,qabj->absc", gradient, phonon[:, w, :, :, i])
            energy = energy.at[:, w:].add(np.einsum("keabrs,absc->kearc", left, right))
    return None, (energy,)
