#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, double alpha, double beta, double *restrict c, const double *restrict a,
            const double *restrict b)
{
    int64_t ni = size[0], nj = size[1], nk = size[2];
#pragma omp parallel for
    for (int64_t i = 0; i < ni; i++) {
        for (int64_t j = 0; j < nj; j++)
            c[i * nj + j] *= beta;
        for (int64_t k = 0; k < nk; k++)
            for (int64_t j = 0; j < nj; j++)
                c[i * nj + j] += alpha * a[i * nk + k] * b[k * nj + j];
    }
}
