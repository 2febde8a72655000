#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, double *restrict ex, double *restrict ey, double *restrict hz,
            const double *restrict source)
{
    int64_t tmax = size[0], nx = size[1], ny = size[2];
    for (int64_t t = 0; t < tmax; t++) {
        for (int64_t j = 0; j < ny; j++)
            ey[j] = source[t];
#pragma omp parallel for
        for (int64_t i = 1; i < nx; i++)
            for (int64_t j = 0; j < ny; j++)
                ey[i * ny + j] = ey[i * ny + j] - 0.5 * (hz[i * ny + j] - hz[(i - 1) * ny + j]);
#pragma omp parallel for
        for (int64_t i = 0; i < nx; i++)
            for (int64_t j = 1; j < ny; j++)
                ex[i * ny + j] = ex[i * ny + j] - 0.5 * (hz[i * ny + j] - hz[i * ny + j - 1]);
#pragma omp parallel for
        for (int64_t i = 0; i < nx - 1; i++)
            for (int64_t j = 0; j < ny - 1; j++)
                hz[i * ny + j] = hz[i * ny + j] - 0.7 * (ex[i * ny + j + 1] - ex[i * ny + j]
                                                         + ey[(i + 1) * ny + j] - ey[i * ny + j]);
    }
}
