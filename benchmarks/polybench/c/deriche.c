#include <math.h>
#include <stdint.h>
#include <stdlib.h>

void kernel(const int64_t *size, double alpha, const double *restrict in, double *restrict out)
{
    int64_t w = size[0], h = size[1];
    double *y1 = malloc(sizeof *y1 * w * h), *y2 = malloc(sizeof *y2 * w * h);
    double k = (1.0 - exp(-alpha)) * (1.0 - exp(-alpha)) / (1.0 + 2.0 * alpha * exp(-alpha) - exp(2.0 * alpha));
    double a1 = k, a2 = k * exp(-alpha) * (alpha - 1.0), a3 = k * exp(-alpha) * (alpha + 1.0);
    double a4 = -k * exp(-2.0 * alpha), b1 = pow(2.0, -alpha), b2 = -exp(-2.0 * alpha);
#pragma omp parallel for
    for (int64_t i = 0; i < w; i++) {
        double ym1 = 0.0, ym2 = 0.0, xm1 = 0.0;
        for (int64_t j = 0; j < h; j++) {
            y1[i * h + j] = a1 * in[i * h + j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
            xm1 = in[i * h + j];
            ym2 = ym1;
            ym1 = y1[i * h + j];
        }
    }
#pragma omp parallel for
    for (int64_t i = 0; i < w; i++) {
        double yp1 = 0.0, yp2 = 0.0, xp1 = 0.0, xp2 = 0.0;
        for (int64_t j = h - 1; j >= 0; j--) {
            y2[i * h + j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
            xp2 = xp1;
            xp1 = in[i * h + j];
            yp2 = yp1;
            yp1 = y2[i * h + j];
        }
    }
#pragma omp parallel for
    for (int64_t i = 0; i < w; i++)
        for (int64_t j = 0; j < h; j++)
            out[i * h + j] = y1[i * h + j] + y2[i * h + j];
#pragma omp parallel for
    for (int64_t j = 0; j < h; j++) {
        double tm1 = 0.0, ym1 = 0.0, ym2 = 0.0;
        for (int64_t i = 0; i < w; i++) {
            y1[i * h + j] = a1 * out[i * h + j] + a2 * tm1 + b1 * ym1 + b2 * ym2;
            tm1 = out[i * h + j];
            ym2 = ym1;
            ym1 = y1[i * h + j];
        }
    }
#pragma omp parallel for
    for (int64_t j = 0; j < h; j++) {
        double tp1 = 0.0, tp2 = 0.0, yp1 = 0.0, yp2 = 0.0;
        for (int64_t i = w - 1; i >= 0; i--) {
            y2[i * h + j] = a3 * tp1 + a4 * tp2 + b1 * yp1 + b2 * yp2;
            tp2 = tp1;
            tp1 = out[i * h + j];
            yp2 = yp1;
            yp1 = y2[i * h + j];
        }
    }
#pragma omp parallel for
    for (int64_t i = 0; i < w; i++)
        for (int64_t j = 0; j < h; j++)
            out[i * h + j] = y1[i * h + j] + y2[i * h + j];
    free(y1);
    free(y2);
}
