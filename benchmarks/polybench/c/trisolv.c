#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Every unknown needs those before it: no loop but the sum could be parallel. */
void kernel(const int64_t *size, const double *restrict l, const double *restrict b, double *restrict x)
{
    int64_t n = size[0];
    for (int64_t i = 0; i < n; i++) {
        x[i] = b[i];
        for (int64_t j = 0; j < i; j++)
            x[i] -= l[i * n + j] * x[j];
        x[i] = x[i] / l[i * n + i];
    }
}
