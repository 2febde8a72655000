#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, const double *restrict r, double *restrict y)
{
    int64_t n = size[0];
    double *z = malloc(sizeof *z * n);
    double alpha = -r[0], beta = 1.0;
    y[0] = -r[0];
    for (int64_t k = 1; k < n; k++) {
        beta = (1 - alpha * alpha) * beta;
        double sum = 0.0;
        for (int64_t i = 0; i < k; i++)
            sum += r[k - i - 1] * y[i];
        alpha = -(r[k] + sum) / beta;
#pragma omp parallel for
        for (int64_t i = 0; i < k; i++)
            z[i] = y[i] + alpha * y[k - i - 1];
        for (int64_t i = 0; i < k; i++)
            y[i] = z[i];
        y[k] = alpha;
    }
    free(z);
}
