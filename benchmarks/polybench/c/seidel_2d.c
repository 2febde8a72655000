#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Every point needs its neighbours above and on the left of the same sweep: no loop as written is parallel. */
void kernel(const int64_t *size, int64_t steps, double *restrict a)
{
    int64_t n = size[1];
    for (int64_t t = 0; t < steps; t++)
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < n - 1; j++)
                a[i * n + j] = (a[(i - 1) * n + j - 1] + a[(i - 1) * n + j] + a[(i - 1) * n + j + 1] + a[i * n + j - 1]
                                + a[i * n + j] + a[i * n + j + 1] + a[(i + 1) * n + j - 1] + a[(i + 1) * n + j]
                                + a[(i + 1) * n + j + 1]) / 9.0;
}
