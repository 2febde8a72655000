#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, double *restrict data, double *restrict corr)
{
    int64_t n = size[0], m = size[1];
    double *mean = malloc(sizeof *mean * m), *stddev = malloc(sizeof *stddev * m);
#pragma omp parallel for
    for (int64_t j = 0; j < m; j++) {
        mean[j] = 0.0;
        for (int64_t i = 0; i < n; i++)
            mean[j] += data[i * m + j];
        mean[j] /= n;
    }
#pragma omp parallel for
    for (int64_t j = 0; j < m; j++) {
        stddev[j] = 0.0;
        for (int64_t i = 0; i < n; i++)
            stddev[j] += (data[i * m + j] - mean[j]) * (data[i * m + j] - mean[j]);
        stddev[j] = sqrt(stddev[j] / n);
        stddev[j] = stddev[j] <= 0.1 ? 1.0 : stddev[j];
    }
#pragma omp parallel for
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            data[i * m + j] -= mean[j];
            data[i * m + j] /= sqrt((double)n) * stddev[j];
        }
#pragma omp parallel for schedule(guided)
    for (int64_t i = 0; i < m - 1; i++) {
        corr[i * m + i] = 1.0;
        for (int64_t j = i + 1; j < m; j++) {
            corr[i * m + j] = 0.0;
            for (int64_t k = 0; k < n; k++)
                corr[i * m + j] += data[k * m + i] * data[k * m + j];
            corr[j * m + i] = corr[i * m + j];
        }
    }
    corr[(m - 1) * m + m - 1] = 1.0;
    free(mean);
    free(stddev);
}
