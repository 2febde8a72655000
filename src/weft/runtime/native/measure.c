/* How fast this machine runs the kinds of loops that weft generates.

   In: the run-time table and buffers. Out: nanoseconds, each the best of several runs, so that what else runs on the machine
   shows as little as possible. Built as a shared object of its own, by the tool chain and flags of kernels. */

#include "runtime.h"

#include <time.h>

#if WEFT_LIBMVEC
#pragma omp declare simd notinbranch
#endif
extern __attribute__((const)) double exp(double);

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

#define LOOP(name, expression)                                                                            \
    static __attribute__((noinline)) void name(int64_t n, double *restrict a, const double *restrict b,   \
                                               const double *restrict c, const int64_t *restrict at)      \
    {                                                                                                     \
        (void)at;                                                                                         \
        (void)c;                                                                                          \
        for (int64_t i = 0; i < n; i++)                                                                   \
            a[i] = expression;                                                                            \
    }

LOOP(stream, b[i] * 2.0 + c[i])
LOOP(arithmetic, ((b[i] * c[i] + 1.0) * b[i] + c[i]) * b[i] - c[i] * c[i] + b[i] * b[i] * c[i])
LOOP(division, b[i] / (c[i] + 1.5))
LOOP(root, __builtin_sqrt(b[i] + c[i]))
LOOP(exponential, exp(-b[i] * c[i]))
LOOP(gathering, b[at[i]])

static __attribute__((noinline)) void recurrence(int64_t n, double *restrict a, const double *restrict b,
                                                 const double *restrict c, const int64_t *restrict at)
{
    double s = 0.0;
    (void)c;
    (void)at;
    for (int64_t i = 0; i < n; i++) {
        s = s * 0.5 + b[i];
        a[i] = s;
    }
}

typedef void (*loop_function)(int64_t, double *, const double *, const double *, const int64_t *);
static loop_function loops[] = {stream, arithmetic, division, root, exponential, gathering, recurrence};

/* Nanoseconds an element of loop `kind` over n elements. */
double weft_measure_loop(int64_t kind, int64_t n, double *a, const double *b, const double *c, const int64_t *at, int64_t runs)
{
    double best = 1e300;
    int64_t inner = n < 20000 ? 40000 / n : 1;
    for (int64_t run = 0; run < runs; run++) {
        double start = now();
        for (int64_t i = 0; i < inner; i++)
            loops[kind](n, a, b, c, at);
        double took = (now() - start) / (double)(inner * n);
        best = took < best ? took : best;
    }
    return best;
}

static void nothing(void *context, int64_t begin, int64_t end, int64_t task)
{
    (void)context;
    (void)begin;
    (void)end;
    (void)task;
}

/* Nanoseconds that the caller of an empty region loses: `pause` ns after the one before, when workers may be asleep. */
double weft_measure_region(const weft_rt *rt, int64_t tasks, int64_t pause, int64_t runs)
{
    double best = 1e300;
    for (int64_t run = 0; run < runs; run++) {
        struct timespec wait = {0, pause};
        if (pause > 0)
            nanosleep(&wait, NULL);
        double start = now();
        rt->parallel(nothing, NULL, tasks, tasks);
        double took = now() - start;
        best = took < best ? took : best;
    }
    return best;
}

/* --- products: the library's time (which = 1) and that of plain loops (which = 0), for n x n or n --- */

enum { DGEMM = 1, DGEMV = 5, DDOT = 9 };

static __attribute__((noinline)) void own_gemm(int64_t n, double *restrict c, const double *restrict a, const double *restrict b)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = 0.0;
        for (int64_t k = 0; k < n; k++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += a[i * n + k] * b[k * n + j];
    }
}

static __attribute__((noinline)) void own_gemv(int64_t n, double *restrict y, const double *restrict a, const double *restrict x)
{
    for (int64_t i = 0; i < n; i++) {
        double s = 0.0;
#pragma omp simd reduction(+ : s)
        for (int64_t k = 0; k < n; k++)
            s += a[i * n + k] * x[k];
        y[i] = s;
    }
}

static __attribute__((noinline)) void own_dot(int64_t n, double *restrict y, const double *restrict a, const double *restrict x)
{
    double s = 0.0;
#pragma omp simd reduction(+ : s)
    for (int64_t k = 0; k < n; k++)
        s += a[k] * x[k];
    *y = s;
}

static void library_gemm(const weft_rt *rt, int64_t n, double *c, const double *a, const double *b)
{
    if (rt->blas_ilp64)
        ((void (*)(int, int, int, int64_t, int64_t, int64_t, double, const double *, int64_t, const double *, int64_t, double,
                   double *, int64_t))rt->blas[DGEMM])(101, 111, 111, n, n, n, 1.0, a, n, b, n, 0.0, c, n);
    else
        ((void (*)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *,
                   int))rt->blas[DGEMM])(101, 111, 111, (int)n, (int)n, (int)n, 1.0, a, (int)n, b, (int)n, 0.0, c, (int)n);
}

static void library_gemv(const weft_rt *rt, int64_t n, double *y, const double *a, const double *x)
{
    if (rt->blas_ilp64)
        ((void (*)(int, int, int64_t, int64_t, double, const double *, int64_t, const double *, int64_t, double, double *,
                   int64_t))rt->blas[DGEMV])(101, 111, n, n, 1.0, a, n, x, 1, 0.0, y, 1);
    else
        ((void (*)(int, int, int, int, double, const double *, int, const double *, int, double, double *,
                   int))rt->blas[DGEMV])(101, 111, (int)n, (int)n, 1.0, a, (int)n, x, 1, 0.0, y, 1);
}

static void library_dot(const weft_rt *rt, int64_t n, double *y, const double *a, const double *x)
{
    if (rt->blas_ilp64)
        *y = ((double (*)(int64_t, const double *, int64_t, const double *, int64_t))rt->blas[DDOT])(n, a, 1, x, 1);
    else
        *y = ((double (*)(int, const double *, int, const double *, int))rt->blas[DDOT])((int)n, a, 1, x, 1);
}

static void product(const weft_rt *rt, int64_t routine, int64_t library, int64_t n, double *c, const double *a, const double *b)
{
    static void (*const own[])(int64_t, double *, const double *, const double *) = {own_gemm, own_gemv, own_dot};
    static void (*const theirs[])(const weft_rt *, int64_t, double *, const double *, const double *) = {
        library_gemm, library_gemv, library_dot};
    if (library)
        theirs[routine](rt, n, c, a, b);
    else
        own[routine](n, c, a, b);
}

/* Nanoseconds of one product (routine 0 gemm, 1 gemv, 2 dot); 0 if there is no such routine in the table. */
double weft_measure_product(const weft_rt *rt, int64_t routine, int64_t library, int64_t n, double *c, const double *a,
                            const double *b, int64_t runs)
{
    static const int place[] = {DGEMM, DGEMV, DDOT};
    double best = 1e300;
    if (library && rt->blas[place[routine]] == NULL)
        return 0.0;
    int64_t inner = 1;
    for (;;) { /* long enough for the clock */
        double start = now();
        for (int64_t i = 0; i < inner; i++)
            product(rt, routine, library, n, c, a, b);
        if (now() - start > 20000.0 || inner >= 4096)
            break;
        inner *= 4;
    }
    for (int64_t run = 0; run < runs; run++) {
        double start = now();
        for (int64_t i = 0; i < inner; i++)
            product(rt, routine, library, n, c, a, b);
        double took = (now() - start) / (double)inner;
        best = took < best ? took : best;
    }
    return best;
}
