#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, double *restrict a, const double *restrict b, double *restrict x, double *restrict y)
{
    int64_t n = size[0];
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            double w = a[i * n + j];
            for (int64_t k = 0; k < j; k++)
                w -= a[i * n + k] * a[k * n + j];
            a[i * n + j] = w / a[j * n + j];
        }
#pragma omp parallel for
        for (int64_t j = i; j < n; j++) {
            double w = a[i * n + j];
            for (int64_t k = 0; k < i; k++)
                w -= a[i * n + k] * a[k * n + j];
            a[i * n + j] = w;
        }
    }
    for (int64_t i = 0; i < n; i++) {
        double w = b[i];
        for (int64_t j = 0; j < i; j++)
            w -= a[i * n + j] * y[j];
        y[i] = w;
    }
    for (int64_t i = n - 1; i >= 0; i--) {
        double w = y[i];
        for (int64_t j = i + 1; j < n; j++)
            w -= a[i * n + j] * x[j];
        x[i] = w / a[i * n + i];
    }
}
