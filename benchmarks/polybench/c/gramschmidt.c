#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, double *restrict a, double *restrict q, double *restrict r)
{
    int64_t m = size[0], n = size[1];
    for (int64_t i = 0; i < n * n; i++)
        r[i] = 0.0;
    for (int64_t k = 0; k < n; k++) {
        double norm = 0.0;
        for (int64_t i = 0; i < m; i++)
            norm += a[i * n + k] * a[i * n + k];
        r[k * n + k] = sqrt(norm);
        for (int64_t i = 0; i < m; i++)
            q[i * n + k] = a[i * n + k] / r[k * n + k];
#pragma omp parallel for
        for (int64_t j = k + 1; j < n; j++) {
            for (int64_t i = 0; i < m; i++)
                r[k * n + j] += q[i * n + k] * a[i * n + j];
            for (int64_t i = 0; i < m; i++)
                a[i * n + j] = a[i * n + j] - q[i * n + k] * r[k * n + j];
        }
    }
}
