#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Row i needs the rows below as they were; the columns are independent. */
void kernel(const int64_t *size, double alpha, const double *restrict a, double *restrict b)
{
    int64_t m = size[0], n = size[1];
    for (int64_t i = 0; i < m; i++)
#pragma omp parallel for
        for (int64_t j = 0; j < n; j++) {
            for (int64_t k = i + 1; k < m; k++)
                b[i * n + j] += a[k * m + i] * b[k * n + j];
            b[i * n + j] = alpha * b[i * n + j];
        }
}
