#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static void product(int64_t n, int64_t m, int64_t inner, const double *restrict a, const double *restrict b,
                    double *restrict c)
{
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            c[i * m + j] = 0.0;
            for (int64_t k = 0; k < inner; k++)
                c[i * m + j] += a[i * inner + k] * b[k * m + j];
        }
}

void kernel(const int64_t *size, const double *restrict a, const double *restrict b, const double *restrict c,
            const double *restrict d, double *restrict g)
{
    int64_t ni = size[0], nj = size[1], nk = size[2], nl = size[3], nm = size[4];
    double *e = malloc(sizeof *e * ni * nj), *f = malloc(sizeof *f * nj * nl);
    product(ni, nj, nk, a, b, e);
    product(nj, nl, nm, c, d, f);
    product(ni, nl, nj, e, f, g);
    free(e);
    free(f);
}
