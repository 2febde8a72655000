#include <stdint.h>

double kernel(int64_t times, int64_t terms)
{
    double total = 0.0;
    for (int64_t n = 0; n < times; n++) {
        total = 0.0;
        for (int64_t k = 1; k <= terms; k++)
            total += 1.0 / (k * k);
    }
    return total;
}
