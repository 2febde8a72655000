/* Calls the library that `weft build --host c heat.py` makes: arrays in, arrays out, errors as codes.

   cc heat.c $(pkg-config --cflags --libs heat) -o heat */

#include "heat.h"

#include <math.h>
#include <stdio.h>

static double cube(double x) { return x * x * x; }

int main(void)
{
    double field[6 * 8] = {0};
    field[3 * 8 + 4] = 100.0;
    weft_error error;
    weft_f64_2 given = weft_f64_2_over(field, 6, 8), warm;
    if (heat_diffuse(&given, 0.1, 10, &warm, &error) != WEFT_OK) {
        fprintf(stderr, "%s (%s:%d): %s\n", error.function, error.file, error.line, error.message);
        return 1;
    }
    double least, greatest;
    heat_extremes(&warm, &least, &greatest, NULL);
    printf("diffuse %.12g %.12g %.12g\n", warm.data[3 * 8 + 4], least, greatest);
    heat_free(warm.memory);

    double values[4], padded[6] = {1, 2, 4, 8, 16, 32};
    weft_f64_1 to = weft_f64_1_over(values, 4), from = weft_f64_1_over(padded, 6);
    heat_smooth(&to, &from, &error);
    printf("smooth %g %g %g %g\n", values[0], values[1], values[2], values[3]);

    from.extent[0] = 5; /* the hint says N + 2 */
    int code = heat_smooth(&to, &from, &error);
    printf("error %d %d %s\n", code, code == WEFT_EXTENT, error.message);

    weft_f64_2 empty = weft_f64_2_over(field, 0, 8);
    code = heat_extremes(&empty, &least, &greatest, &error);
    printf("raised %d %s line %d: %s\n", code == WEFT_RAISED, error.exception, error.line, error.message);

    weft_f64_2 square = weft_f64_2_over(field, 6, 6), result;
    for (int i = 0; i < 36; i++)
        field[i] = i % 5 - 1.5;
    if (heat_product(&square, &square, &result, &error) != WEFT_OK)
        return 1;
    double wanted = 0.0;
    for (int k = 0; k < 6; k++)
        wanted += field[6 + k] * field[k * 6 + 2];
    printf("product %d\n", fabs(result.data[6 + 2] - wanted) < 1e-12);
    heat_free(result.memory);

    double area;
    heat_integral(cube, 0.0, 2.0, 1000, &area, NULL); /* a function of the host's */
    printf("integral %.4f\n", area);
    return 0;
}
