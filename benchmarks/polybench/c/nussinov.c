#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Every cell needs the one on its left and the one below: no loop as written is parallel but the innermost maximum. */
#define LARGER(a, b) ((a) >= (b) ? (a) : (b))

void kernel(const int64_t *size, const int64_t *restrict seq, int64_t *restrict table)
{
    int64_t n = size[0];
    for (int64_t i = 0; i < n * n; i++)
        table[i] = 0;
    for (int64_t i = n - 1; i >= 0; i--)
        for (int64_t j = i + 1; j < n; j++) {
            int64_t *cell = &table[i * n + j];
            *cell = LARGER(*cell, table[i * n + j - 1]);
            *cell = LARGER(*cell, table[(i + 1) * n + j]);
            if (i < j - 1)
                *cell = LARGER(*cell, table[(i + 1) * n + j - 1] + (seq[i] + seq[j] == 3));
            else
                *cell = LARGER(*cell, table[(i + 1) * n + j - 1]);
            for (int64_t k = i + 1; k < j; k++)
                *cell = LARGER(*cell, table[i * n + k] + table[(k + 1) * n + j]);
        }
}
