#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, double *restrict a)
{
    int64_t n = size[0];
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < i; j++) {
            for (int64_t k = 0; k < j; k++)
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
            a[i * n + j] /= a[j * n + j];
        }
#pragma omp parallel for
        for (int64_t j = i; j < n; j++)
            for (int64_t k = 0; k < i; k++)
                a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
}
