#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Rows add to all of s: the outer loop is parallel as a reduction. */
void kernel(const int64_t *size, const double *restrict a, const double *restrict p, const double *restrict r,
            double *restrict s, double *restrict q)
{
    int64_t n = size[0], m = size[1];
    for (int64_t j = 0; j < m; j++)
        s[j] = 0.0;
#pragma omp parallel for reduction(+ : s[:m])
    for (int64_t i = 0; i < n; i++) {
        q[i] = 0.0;
        for (int64_t j = 0; j < m; j++) {
            s[j] += r[i] * a[i * m + j];
            q[i] += a[i * m + j] * p[j];
        }
    }
}
