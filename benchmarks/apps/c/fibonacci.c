#include <stdint.h>

int64_t kernel(int64_t n)
{
    return n < 2 ? n : kernel(n - 1) + kernel(n - 2);
}
