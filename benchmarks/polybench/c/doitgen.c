#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, double *restrict a, const double *restrict c4)
{
    int64_t nr = size[0], nq = size[1], np = size[2];
#pragma omp parallel for
    for (int64_t r = 0; r < nr; r++) {
        double *sum = malloc(sizeof *sum * np);
        for (int64_t q = 0; q < nq; q++) {
            for (int64_t p = 0; p < np; p++) {
                sum[p] = 0.0;
                for (int64_t s = 0; s < np; s++)
                    sum[p] += a[(r * nq + q) * np + s] * c4[s * np + p];
            }
            for (int64_t p = 0; p < np; p++)
                a[(r * nq + q) * np + p] = sum[p];
        }
        free(sum);
    }
}
