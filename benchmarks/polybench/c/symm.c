#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Row i adds to all rows above it; the columns are independent. */
void kernel(const int64_t *size, double alpha, double beta, double *restrict c, const double *restrict a,
            const double *restrict b)
{
    int64_t m = size[0], n = size[1];
    for (int64_t i = 0; i < m; i++)
#pragma omp parallel for
        for (int64_t j = 0; j < n; j++) {
            double temp = 0.0;
            for (int64_t k = 0; k < i; k++) {
                c[k * n + j] += alpha * b[i * n + j] * a[i * m + k];
                temp += b[k * n + j] * a[i * m + k];
            }
            c[i * n + j] = beta * c[i * n + j] + alpha * b[i * n + j] * a[i * m + i] + alpha * temp;
        }
}
