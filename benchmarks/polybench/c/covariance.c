#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, double *restrict data, double *restrict cov)
{
    int64_t n = size[0], m = size[1];
    double *mean = malloc(sizeof *mean * m);
#pragma omp parallel for
    for (int64_t j = 0; j < m; j++) {
        mean[j] = 0.0;
        for (int64_t i = 0; i < n; i++)
            mean[j] += data[i * m + j];
        mean[j] /= n;
    }
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            data[i * m + j] -= mean[j];
#pragma omp parallel for schedule(guided)
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = i; j < m; j++) {
            cov[i * m + j] = 0.0;
            for (int64_t k = 0; k < n; k++)
                cov[i * m + j] += data[k * m + i] * data[k * m + j];
            cov[i * m + j] /= n - 1.0;
            cov[j * m + i] = cov[i * m + j];
        }
    free(mean);
}
