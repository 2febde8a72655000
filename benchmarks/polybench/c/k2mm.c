#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, double alpha, double beta, const double *restrict a, const double *restrict b,
            const double *restrict c, double *restrict d)
{
    int64_t ni = size[0], nj = size[1], nk = size[2], nl = size[3];
    double *tmp = malloc(sizeof *tmp * ni * nj);
#pragma omp parallel for
    for (int64_t i = 0; i < ni; i++)
        for (int64_t j = 0; j < nj; j++) {
            tmp[i * nj + j] = 0.0;
            for (int64_t k = 0; k < nk; k++)
                tmp[i * nj + j] += alpha * a[i * nk + k] * b[k * nj + j];
        }
#pragma omp parallel for
    for (int64_t i = 0; i < ni; i++)
        for (int64_t j = 0; j < nl; j++) {
            d[i * nl + j] *= beta;
            for (int64_t k = 0; k < nj; k++)
                d[i * nl + j] += tmp[i * nj + k] * c[k * nl + j];
        }
    free(tmp);
}
