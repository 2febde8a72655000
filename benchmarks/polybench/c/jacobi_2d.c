#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static void sweep(int64_t n, const double *restrict a, double *restrict b)
{
#pragma omp parallel for
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++)
            b[i * n + j] = 0.2 * (a[i * n + j] + a[i * n + j - 1] + a[i * n + j + 1]
                                  + a[(i + 1) * n + j] + a[(i - 1) * n + j]);
}

void kernel(const int64_t *size, int64_t steps, double *restrict a, double *restrict b)
{
    for (int64_t t = 0; t < steps; t++) {
        sweep(size[1], a, b);
        sweep(size[1], b, a);
    }
}
