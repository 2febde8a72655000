#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Row and column k do not change in step k, so its rows are independent. */
void kernel(const int64_t *size, int64_t *restrict path)
{
    int64_t n = size[0];
    for (int64_t k = 0; k < n; k++)
#pragma omp parallel for
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++)
                path[i * n + j] = path[i * n + j] < path[i * n + k] + path[k * n + j]
                                      ? path[i * n + j]
                                      : path[i * n + k] + path[k * n + j];
}
