/* Matrix products for hosts that bring no BLAS.

   In: the arguments of CBLAS' sgemm and dgemm, row by row, on one thread. Out: the product. Panels of the right factor are
   packed, four rows at a time meet eight (sixteen) columns in registers. Compiled once for each kind of processor; SUFFIX
   tells the functions apart. */

#include <stdlib.h>
#include <string.h>

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define DEPTH 256
#define WIDTH 512
#define ROWS 4

#define PRODUCT(name, real, lanes)                                                                                            \
    typedef real JOIN(name, _vector) __attribute__((vector_size(64), aligned(sizeof(real)), may_alias));                      \
                                                                                                                              \
    static void JOIN(name, _block)(int rows, long depth, const real *a, long ai, long ak, const real *panel, int columns,     \
                                   real alpha, real *c, long ldc)                                                             \
    {                                                                                                                         \
        JOIN(name, _vector) sum[ROWS] = {{0}, {0}, {0}, {0}};                                                                 \
        const real *row[ROWS];                                                                                                \
        for (int r = 0; r < ROWS; r++)                                                                                        \
            row[r] = a + (r < rows ? r : 0) * ai;                                                                             \
        for (long k = 0; k < depth; k++) {                                                                                    \
            JOIN(name, _vector) b = *(const JOIN(name, _vector) *)(panel + k * lanes);                                        \
            for (int r = 0; r < ROWS; r++)                                                                                    \
                sum[r] += row[r][k * ak] * b;                                                                                 \
        }                                                                                                                     \
        for (int r = 0; r < rows; r++)                                                                                        \
            for (int j = 0; j < columns; j++)                                                                                 \
                c[r * ldc + j] += alpha * sum[r][j];                                                                          \
    }                                                                                                                         \
                                                                                                                              \
    __attribute__((visibility("hidden"))) void JOIN(name, SUFFIX)(int order, int ta, int tb, int m, int n, int k, real alpha, \
                                                                  const real *a, int lda, const real *b, int ldb, real beta,  \
                                                                  real *c, int ldc)                                           \
    {                                                                                                                         \
        long ai = ta == 111 ? lda : 1, ak = ta == 111 ? 1 : lda, bk = tb == 111 ? ldb : 1, bj = tb == 111 ? 1 : ldb;          \
        (void)order;                                                                                                          \
        for (long i = 0; i < m; i++)                                                                                          \
            for (long j = 0; j < n; j++)                                                                                      \
                c[i * ldc + j] = beta == 0 ? 0 : beta * c[i * ldc + j];                                                       \
        real *packed = aligned_alloc(64, sizeof(real) * DEPTH * WIDTH);                                                       \
        if (packed == NULL) { /* slowly, then */                                                                              \
            for (long i = 0; i < m; i++)                                                                                      \
                for (long p = 0; p < k; p++)                                                                                  \
                    for (long j = 0; j < n; j++)                                                                              \
                        c[i * ldc + j] += alpha * a[i * ai + p * ak] * b[p * bk + j * bj];                                    \
            return;                                                                                                           \
        }                                                                                                                     \
        for (long j0 = 0; j0 < n; j0 += WIDTH)                                                                                \
            for (long k0 = 0; k0 < k; k0 += DEPTH) {                                                                          \
                long width = n - j0 < WIDTH ? n - j0 : WIDTH, depth = k - k0 < DEPTH ? k - k0 : DEPTH;                        \
                for (long j = 0; j < width; j += lanes)                                                                       \
                    for (long p = 0; p < depth; p++)                                                                          \
                        for (long l = 0; l < lanes; l++)                                                                      \
                            packed[j * depth + p * lanes + l] =                                                               \
                                j + l < width ? b[(k0 + p) * bk + (j0 + j + l) * bj] : 0;                                     \
                for (long i = 0; i < m; i += ROWS)                                                                            \
                    for (long j = 0; j < width; j += lanes)                                                                   \
                        JOIN(name, _block)((int)(m - i < ROWS ? m - i : ROWS), depth, a + i * ai + k0 * ak, ai, ak,           \
                                           packed + j * depth, (int)(width - j < lanes ? width - j : lanes), alpha,           \
                                           c + i * ldc + j0 + j, ldc);                                                        \
            }                                                                                                                 \
        free(packed);                                                                                                         \
    }

PRODUCT(own_sgemm, float, 16)
PRODUCT(own_dgemm, double, 8)
