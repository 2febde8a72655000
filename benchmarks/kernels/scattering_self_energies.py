"""Self-energies of electron-phonon scattering: Green's functions of neighbouring atoms at shifted energies, multiplied
block by block.
"""

import numpy as np

SIZES = {
    "tiny": (2, 3, 2, 2, 2, 4, 2, 2),
    "S": (2, 4, 2, 2, 3, 4, 3, 3),
    "M": (3, 5, 3, 2, 3, 8, 4, 4),
    "L": (4, 10, 3, 3, 3, 16, 4, 4),
}


def initialise(size):
    nkz, ne, nqz, nw, directions, atoms, orbitals, neighbours = size
    rng = np.random.default_rng(40)
    index = rng.integers(0, atoms, (atoms, neighbours))

    def field(*shape):
        return rng.random(shape) + 1j * rng.random(shape)

    return (
        index,
        field(atoms, neighbours, directions, orbitals, orbitals),
        field(nkz, ne, atoms, orbitals, orbitals),
        field(nqz, nw, atoms, neighbours, directions, directions),
        np.zeros((nkz, ne, atoms, orbitals, orbitals), dtype=np.complex128),
    )


def numpy_form(index, gradient, green, phonon, energy):
    atoms, neighbours, directions = gradient.shape[:3]
    for k in range(green.shape[0]):
        for e in range(green.shape[1]):
            for q in range(phonon.shape[0]):
                for w in range(phonon.shape[1]):
                    for i in range(directions):
                        for j in range(directions):
                            for a in range(atoms):
                                for b in range(neighbours):
                                    if e - w >= 0:
                                        left = green[k, e - w, index[a, b]] @ gradient[a, b, i]
                                        right = gradient[a, b, j] * phonon[q, w, a, b, i, j]
                                        energy[k, e, a] += left @ right


def loop_form(index, gradient, green, phonon, energy):
    atoms, neighbours, directions, orbitals = gradient.shape[:4]
    left = np.zeros((orbitals, orbitals), dtype=np.complex128)
    for k in range(green.shape[0]):
        for e in range(green.shape[1]):
            for q in range(phonon.shape[0]):
                for w in range(min(phonon.shape[1], e + 1)):
                    for i in range(directions):
                        for j in range(directions):
                            for a in range(atoms):
                                for b in range(neighbours):
                                    for r in range(orbitals):
                                        for c in range(orbitals):
                                            left[r, c] = 0.0
                                            for s in range(orbitals):
                                                left[r, c] += (
                                                    green[k, e - w, index[a, b], r, s] * gradient[a, b, i, s, c]
                                                )
                                    for r in range(orbitals):
                                        for c in range(orbitals):
                                            for s in range(orbitals):
                                                energy[k, e, a, r, c] += (
                                                    left[r, s] * gradient[a, b, j, s, c] * phonon[q, w, a, b, i, j]
                                                )
