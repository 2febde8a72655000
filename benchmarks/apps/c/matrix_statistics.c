#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* c = a' a for a matrix of `rows` rows and `n` columns */
static void squared(const double *a, double *c, int64_t rows, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0.0;
            for (int64_t k = 0; k < rows; k++)
                sum += a[k * n + i] * a[k * n + j];
            c[i * n + j] = sum;
        }
}

static void product(const double *a, const double *b, double *c, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = 0.0;
        for (int64_t k = 0; k < n; k++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}

/* The trace of (a' a) to the fourth. */
static double traced(const double *a, int64_t rows, int64_t n, double *once, double *twice, double *fourth)
{
    double sum = 0.0;
    squared(a, once, rows, n);
    product(once, once, twice, n);
    product(twice, twice, fourth, n);
    for (int64_t i = 0; i < n; i++)
        sum += fourth[i * n + i];
    return sum;
}

static double variation(const double *values, int64_t number)
{
    double mean = 0.0, squares = 0.0;
    for (int64_t i = 0; i < number; i++)
        mean += values[i];
    mean /= number;
    for (int64_t i = 0; i < number; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / number) / mean;
}

void kernel(const double *samples, int64_t number, int64_t four, int64_t n, int64_t same, double *first, double *second)
{
    double *v = malloc(number * sizeof(double)), *w = malloc(number * sizeof(double));
    double *P = malloc(4 * n * n * sizeof(double)), *Q = malloc(4 * n * n * sizeof(double));
    double *once = malloc(16 * n * n * sizeof(double)), *twice = malloc(16 * n * n * sizeof(double));
    double *fourth = malloc(16 * n * n * sizeof(double));
    for (int64_t t = 0; t < number; t++) {
        for (int64_t m = 0; m < 4; m++) {
            const double *from = samples + (t * four + m) * n * n;
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < n; j++) {
                    P[i * 4 * n + m * n + j] = from[i * n + j];
                    Q[(i + m / 2 * n) * 2 * n + m % 2 * n + j] = from[i * n + j];
                }
        }
        v[t] = traced(P, n, 4 * n, once, twice, fourth);
        w[t] = traced(Q, 2 * n, 2 * n, once, twice, fourth);
    }
    *first = variation(v, number);
    *second = variation(w, number);
    free(v), free(w), free(P), free(Q), free(once), free(twice), free(fourth);
}
