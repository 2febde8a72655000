#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, int64_t steps, double *restrict a, double *restrict b)
{
    int64_t n = size[1];
    for (int64_t t = 0; t < steps; t++) {
#pragma omp parallel for
        for (int64_t i = 1; i < n - 1; i++)
            b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
#pragma omp parallel for
        for (int64_t i = 1; i < n - 1; i++)
            a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1]);
    }
}
