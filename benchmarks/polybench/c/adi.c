#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, int64_t steps, double *restrict u)
{
    int64_t n = size[1];
    double along = (double)n * n / steps, across = 2.0 * along;
    double a = -across / 2.0, b = 1.0 + across, c = a, d = -along / 2.0, e = 1.0 + along, f = d;
    double *v = malloc(sizeof *v * n * n), *p = malloc(sizeof *p * n * n), *q = malloc(sizeof *q * n * n);
    for (int64_t t = 0; t < steps; t++) {
#pragma omp parallel for
        for (int64_t i = 1; i < n - 1; i++) {
            v[i] = 1.0;
            p[i * n] = 0.0;
            q[i * n] = v[i];
            for (int64_t j = 1; j < n - 1; j++) {
                p[i * n + j] = -c / (a * p[i * n + j - 1] + b);
                q[i * n + j] = (-d * u[j * n + i - 1] + (1.0 + 2.0 * d) * u[j * n + i] - f * u[j * n + i + 1]
                                - a * q[i * n + j - 1]) / (a * p[i * n + j - 1] + b);
            }
            v[(n - 1) * n + i] = 1.0;
            for (int64_t j = n - 2; j >= 1; j--)
                v[j * n + i] = p[i * n + j] * v[(j + 1) * n + i] + q[i * n + j];
        }
#pragma omp parallel for
        for (int64_t i = 1; i < n - 1; i++) {
            u[i * n] = 1.0;
            p[i * n] = 0.0;
            q[i * n] = u[i * n];
            for (int64_t j = 1; j < n - 1; j++) {
                p[i * n + j] = -f / (d * p[i * n + j - 1] + e);
                q[i * n + j] = (-a * v[(i - 1) * n + j] + (1.0 + 2.0 * a) * v[i * n + j] - c * v[(i + 1) * n + j]
                                - d * q[i * n + j - 1]) / (d * p[i * n + j - 1] + e);
            }
            u[i * n + n - 1] = 1.0;
            for (int64_t j = n - 2; j >= 1; j--)
                u[i * n + j] = p[i * n + j] * u[i * n + j + 1] + q[i * n + j];
        }
    }
    free(v);
    free(p);
    free(q);
}
