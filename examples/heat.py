"""Heat on a plate: the same step in NumPy form and as loops; both become the same program."""

import time

import numpy as np

import weft


@weft.jit
def sweep_numpy(a, b, k):
    b[1:-1, 1:-1] = a[1:-1, 1:-1] + k * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - 4.0 * a[1:-1, 1:-1])


@weft.jit
def sweep_loops(a, b, k):
    for i in range(1, a.shape[0] - 1):
        for j in range(1, a.shape[1] - 1):
            b[i, j] = a[i, j] + k * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1] - 4.0 * a[i, j])


def run(sweep, plate, sweeps):
    a, b = plate.copy(), plate.copy()
    for _ in range(sweeps):
        sweep(a, b, 0.2)
        a, b = b, a
    return a


def main():
    plate = np.zeros((100, 120))
    plate[0, :] = 100.0
    results = []
    for name, sweep in (("NumPy form", sweep_numpy), ("loops", sweep_loops)):
        run(sweep, plate, 1)  # compiles
        start = time.perf_counter()
        results.append(run(sweep, plate, 20))
        print(f"{name:<11} {1e3 * (time.perf_counter() - start):8.2f} ms for 20 sweeps")
    print("same answer:", np.array_equal(*results))


if __name__ == "__main__":
    main()
