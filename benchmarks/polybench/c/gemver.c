#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, double alpha, double beta, double *restrict a, const double *restrict u1,
            const double *restrict v1, const double *restrict u2, const double *restrict v2, double *restrict w,
            double *restrict x, const double *restrict y, const double *restrict z)
{
    int64_t n = size[0];
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            a[i * n + j] = a[i * n + j] + u1[i] * v1[j] + u2[i] * v2[j];
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            x[i] = x[i] + beta * a[j * n + i] * y[j];
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        x[i] = x[i] + z[i];
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            w[i] = w[i] + alpha * a[i * n + j] * x[j];
}
