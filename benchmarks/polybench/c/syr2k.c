#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, double alpha, double beta, double *restrict c, const double *restrict a,
            const double *restrict b)
{
    int64_t n = size[0], m = size[1];
#pragma omp parallel for schedule(guided)
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j <= i; j++)
            c[i * n + j] *= beta;
        for (int64_t k = 0; k < m; k++)
            for (int64_t j = 0; j <= i; j++)
                c[i * n + j] += a[j * m + k] * alpha * b[i * m + k] + b[j * m + k] * alpha * a[i * m + k];
    }
}
