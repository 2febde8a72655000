#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Rows add to all of y: the outer loop is parallel as a reduction. */
void kernel(const int64_t *size, const double *restrict a, const double *restrict x, double *restrict y)
{
    int64_t m = size[0], n = size[1];
    for (int64_t j = 0; j < n; j++)
        y[j] = 0.0;
#pragma omp parallel for reduction(+ : y[:n])
    for (int64_t i = 0; i < m; i++) {
        double product = 0.0;
        for (int64_t j = 0; j < n; j++)
            product += a[i * n + j] * x[j];
        for (int64_t j = 0; j < n; j++)
            y[j] += a[i * n + j] * product;
    }
}
