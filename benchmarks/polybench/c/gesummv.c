#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, double alpha, double beta, const double *restrict a, const double *restrict b,
            const double *restrict x, double *restrict y)
{
    int64_t n = size[0];
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++) {
        double first = 0.0, second = 0.0;
        for (int64_t j = 0; j < n; j++) {
            first += a[i * n + j] * x[j];
            second += b[i * n + j] * x[j];
        }
        y[i] = alpha * first + beta * second;
    }
}
