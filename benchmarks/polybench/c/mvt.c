#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, double *restrict x1, double *restrict x2, const double *restrict y1,
            const double *restrict y2, const double *restrict a)
{
    int64_t n = size[0];
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            x1[i] = x1[i] + a[i * n + j] * y1[j];
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            x2[i] = x2[i] + a[j * n + i] * y2[j];
}
