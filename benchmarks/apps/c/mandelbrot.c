#include <complex.h>
#include <stdint.h>

static int64_t steps(double complex z, int64_t limit)
{
    double complex c = z;
    for (int64_t n = 0; n < limit; n++) {
        if (creal(z) * creal(z) + cimag(z) * cimag(z) > 4.0)
            return n;
        z = z * z + c;
    }
    return limit;
}

int64_t kernel(int64_t width, int64_t height, int64_t limit)
{
    int64_t total = 0;
    for (int64_t i = 0; i < width; i++)
        for (int64_t j = 0; j < height; j++)
            total += steps(CMPLX(-2.0 + 2.5 * i / (width - 1), -1.0 + 2.0 * j / (height - 1)), limit);
    return total;
}
