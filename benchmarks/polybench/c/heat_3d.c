#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static void sweep(int64_t n, const double *restrict a, double *restrict b)
{
    int64_t m = n * n;
#pragma omp parallel for
    for (int64_t i = 1; i < n - 1; i++)
        for (int64_t j = 1; j < n - 1; j++)
            for (int64_t k = 1; k < n - 1; k++) {
                int64_t p = i * m + j * n + k;
                b[p] = 0.125 * (a[p + m] - 2.0 * a[p] + a[p - m]) + 0.125 * (a[p + n] - 2.0 * a[p] + a[p - n])
                       + 0.125 * (a[p + 1] - 2.0 * a[p] + a[p - 1]) + a[p];
            }
}

void kernel(const int64_t *size, int64_t steps, double *restrict a, double *restrict b)
{
    for (int64_t t = 0; t < steps; t++) {
        sweep(size[1], a, b);
        sweep(size[1], b, a);
    }
}
