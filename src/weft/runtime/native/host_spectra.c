/* Eigenvalues, singular values and orthogonal factors of real matrices for C hosts, as loops over matrices.

   Symmetric matrices are made diagonal by rotations of pairs of rows and columns, others by rotations of pairs of columns until
   these are orthogonal; orthogonal factors are products of reflections, with the signs of LAPACK. */

enum { MOST_SWEEPS = 60 };

/* The rotation by which one of two numbers vanishes: its tangent, from half the difference over what must vanish. */
static double tangent(double half)
{
    return (half < 0 ? -1 : 1) / (fabs(half) + sqrt(half * half + 1));
}

static void rotate(double *x, double *y, ptrdiff_t n, ptrdiff_t step, double c, double s)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        double held = x[i * step];
        x[i * step] = c * held - s * y[i * step];
        y[i * step] = s * held + c * y[i * step];
    }
}

/* a  -->  a diagonal; the rows of v, if it is not NULL, are the eigenvectors. 0: no end is found. */
static int diagonal(double *a, double *v, ptrdiff_t n)
{
    double sum = 0;
    for (ptrdiff_t i = 0; i < n * n; i++)
        sum += a[i] * a[i];
    if (!isfinite(sum))
        return 0;
    double small = DBL_EPSILON * sqrt(sum) / (double)(n + 1);
    for (ptrdiff_t i = 0; v != NULL && i < n * n; i++)
        v[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        int turned = 0;
        for (ptrdiff_t p = 0; p < n; p++)
            for (ptrdiff_t q = p + 1; q < n; q++) {
                if (fabs(a[p * n + q]) <= small)
                    continue;
                double t = tangent((a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q])), c = 1 / sqrt(t * t + 1);
                turned = 1;
                rotate(a + p * n, a + q * n, n, 1, c, t * c);
                rotate(a + p, a + q, n, n, c, t * c);
                if (v != NULL)
                    rotate(v + p * n, v + q * n, n, 1, c, t * c);
            }
        if (!turned)
            return 1;
    }
    return 0;
}

/* Places of numbers in order, the smallest first (or last). */
static void in_order(const double *values, ptrdiff_t n, ptrdiff_t step, ptrdiff_t *places, int falling)
{
    for (ptrdiff_t i = 0; i < n; i++) {
        ptrdiff_t at = i;
        for (; at > 0 && (falling ? values[places[at - 1] * step] < values[i * step] : values[places[at - 1] * step] > values[i * step]);
             at--)
            places[at] = places[at - 1];
        places[at] = i;
    }
}

/* One symmetric matrix, of which one triangle counts. `to` may be NULL. */
static void symmetric(const char *from, const ptrdiff_t *from_steps, char *values, ptrdiff_t value_step, char *to,
                      const ptrdiff_t *to_steps, ptrdiff_t n, int upper)
{
    double *a = routine_memory(2 * n * n, sizeof *a), *v = a + n * n;
    ptrdiff_t *places = routine_memory(n, sizeof *places);
    if (a != NULL && places != NULL) {
        for (ptrdiff_t i = 0; i < n; i++)
            for (ptrdiff_t j = 0; j <= i; j++)
                a[i * n + j] = a[j * n + i] = *(const double *)(from + (upper ? j : i) * from_steps[0] + (upper ? i : j) * from_steps[1]);
        int done = diagonal(a, to == NULL ? NULL : v, n);
        in_order(a, n, n + 1, places, 0);
        for (ptrdiff_t k = 0; k < n; k++) {
            *(double *)(values + k * value_step) = done ? a[places[k] * (n + 1)] : NAN;
            for (ptrdiff_t i = 0; to != NULL && i < n; i++)
                *(double *)(to + i * to_steps[0] + k * to_steps[1]) = done ? v[places[k] * n + i] : NAN;
        }
        routine_failed |= !done;
    }
    free(a);
    free(places);
}

#define SYMMETRIC(end, upper)                                                                                                 \
    static void host_eigh_##end##_d(char **a, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)                     \
    {                                                                                                                         \
        (void)data;                                                                                                           \
        for (ptrdiff_t b = 0; b < sizes[0]; b++)                                                                              \
            symmetric(a[0] + b * steps[0], steps + 3, a[1] + b * steps[1], steps[5], a[2] + b * steps[2], steps + 6, sizes[1], upper); \
    }                                                                                                                         \
    static void host_eigvalsh_##end##_d(char **a, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)                 \
    {                                                                                                                         \
        (void)data;                                                                                                           \
        for (ptrdiff_t b = 0; b < sizes[0]; b++)                                                                              \
            symmetric(a[0] + b * steps[0], steps + 2, a[1] + b * steps[1], steps[4], NULL, NULL, sizes[1], upper);            \
    }

SYMMETRIC(lo, 0)
SYMMETRIC(up, 1)

static double inner(const double *x, const double *y, ptrdiff_t n)
{
    double sum = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

/* The rows of g, of m numbers each, are made orthogonal; v (n x n) is what they were turned by. */
static int orthogonal(double *g, double *v, ptrdiff_t n, ptrdiff_t m)
{
    if (!isfinite(inner(g, g, n * m)))
        return 0;
    for (ptrdiff_t i = 0; i < n * n; i++)
        v[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < MOST_SWEEPS; sweep++) {
        int turned = 0;
        for (ptrdiff_t p = 0; p < n; p++)
            for (ptrdiff_t q = p + 1; q < n; q++) {
                double a = inner(g + p * m, g + p * m, m), b = inner(g + q * m, g + q * m, m), both = inner(g + p * m, g + q * m, m);
                if (fabs(both) <= DBL_EPSILON * sqrt(a * b) || both == 0)
                    continue;
                double t = tangent((b - a) / (2 * both)), c = 1 / sqrt(t * t + 1);
                turned = 1;
                rotate(g + p * m, g + q * m, m, 1, c, t * c);
                rotate(v + p * n, v + q * n, n, 1, c, t * c);
            }
        if (!turned)
            return 1;
    }
    return 0;
}

/* Row `at` of u, of m numbers: one of length 1 that is orthogonal to those before it. */
static void further_row(double *u, ptrdiff_t at, ptrdiff_t m)
{
    double *row = u + at * m;
    for (ptrdiff_t unit = 0; unit < m; unit++) {
        for (ptrdiff_t i = 0; i < m; i++)
            row[i] = i == unit;
        for (int twice = 0; twice < 2; twice++)
            for (ptrdiff_t k = 0; k < at; k++) {
                double share = inner(row, u + k * m, m);
                for (ptrdiff_t i = 0; i < m; i++)
                    row[i] -= share * u[k * m + i];
            }
        double length = sqrt(inner(row, row, m));
        if (length > 0.5 / sqrt((double)m)) {
            for (ptrdiff_t i = 0; i < m; i++)
                row[i] /= length;
            return;
        }
    }
}

typedef struct {
    char *place;
    ptrdiff_t row, column; /* steps; those of the vectors' numbers and of the vectors */
} vectors;

/* One matrix: its singular values, and `first` vectors on its longer side; none if there is no place for them. */
static void singular(const char *from, const ptrdiff_t *steps, ptrdiff_t m, ptrdiff_t n, char *values, ptrdiff_t value_step,
                     vectors longer, vectors shorter, ptrdiff_t first)
{
    double *g = routine_memory(n * m + n * n + first * m + n, sizeof *g), *v = g + n * m, *u = v + n * n, *size = u + first * m;
    ptrdiff_t *places = routine_memory(n, sizeof *places);
    if (g != NULL && places != NULL) {
        for (ptrdiff_t j = 0; j < n; j++)
            for (ptrdiff_t i = 0; i < m; i++)
                g[j * m + i] = *(const double *)(from + i * steps[0] + j * steps[1]);
        int done = orthogonal(g, v, n, m);
        for (ptrdiff_t j = 0; j < n; j++)
            size[j] = sqrt(inner(g + j * m, g + j * m, m));
        in_order(size, n, 1, places, 1);
        double least = n > 0 ? size[places[0]] * DBL_EPSILON * (double)m : 0;
        for (ptrdiff_t k = 0; k < n; k++)
            *(double *)(values + k * value_step) = done ? size[places[k]] : NAN;
        for (ptrdiff_t k = 0; longer.place != NULL && k < first; k++) {
            if (k < n && size[places[k]] > least)
                for (ptrdiff_t i = 0; i < m; i++)
                    u[k * m + i] = g[places[k] * m + i] / size[places[k]];
            else
                further_row(u, k, m);
            for (ptrdiff_t i = 0; i < m; i++)
                *(double *)(longer.place + i * longer.row + k * longer.column) = done ? u[k * m + i] : NAN;
            for (ptrdiff_t i = 0; k < n && i < n; i++)
                *(double *)(shorter.place + i * shorter.row + k * shorter.column) = done ? v[places[k] * n + i] : NAN;
        }
        routine_failed |= !done;
    }
    free(g);
    free(places);
}

/* u, s, vh of a batch: all vectors of the longer side, or as many as there are values. */
static void decomposed(char **a, const ptrdiff_t *sizes, const ptrdiff_t *steps, int all)
{
    ptrdiff_t m = sizes[1], n = sizes[2];
    const ptrdiff_t turned[] = {steps[5], steps[4]};
    for (ptrdiff_t b = 0; b < sizes[0]; b++) {
        char *from = a[0] + b * steps[0], *values = a[2] + b * steps[2];
        vectors left = {a[1] + b * steps[1], steps[6], steps[7]}, right = {a[3] + b * steps[3], steps[10], steps[9]};
        if (m >= n)
            singular(from, steps + 4, m, n, values, steps[8], left, right, all ? m : n);
        else
            singular(from, turned, n, m, values, steps[8], right, left, all ? n : m);
    }
}

static void host_svd_s_d(char **a, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    (void)data;
    decomposed(a, sizes, steps, 0);
}

static void host_svd_f_d(char **a, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    (void)data;
    decomposed(a, sizes, steps, 1);
}

static void host_svd_d(char **a, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    ptrdiff_t m = sizes[1], n = sizes[2];
    const ptrdiff_t turned[] = {steps[3], steps[2]};
    const vectors none = {0};
    (void)data;
    for (ptrdiff_t b = 0; b < sizes[0]; b++)
        singular(a[0] + b * steps[0], m >= n ? steps + 2 : turned, m >= n ? m : n, m >= n ? n : m, a[1] + b * steps[1], steps[4],
                 none, none, 0);
}

/* --- orthogonal factors --- */

/* The matrix becomes its upper factor; below it are the reflections, whose weights go into another array. */
static void host_qr_r_raw_d(char **arrays, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    ptrdiff_t m = sizes[1], n = sizes[2];
    double *a = routine_memory(m * n, sizeof *a);
    (void)data;
    for (ptrdiff_t b = 0; a != NULL && b < sizes[0]; b++) {
        char *place = arrays[0] + b * steps[0], *weights = arrays[1] + b * steps[1];
        get_d(a, place, m, n, steps + 2);
        for (ptrdiff_t k = 0; k < m && k < n; k++) {
            double below = 0, first = a[k * n + k], weight = 0;
            for (ptrdiff_t i = k + 1; i < m; i++)
                below = hypot(below, a[i * n + k]);
            if (below != 0) {
                double length = first < 0 ? hypot(first, below) : -hypot(first, below);
                weight = (length - first) / length;
                for (ptrdiff_t i = k + 1; i < m; i++)
                    a[i * n + k] /= first - length;
                a[k * n + k] = length;
            }
            for (ptrdiff_t j = k + 1; j < n && weight != 0; j++) {
                double sum = a[k * n + j];
                for (ptrdiff_t i = k + 1; i < m; i++)
                    sum += a[i * n + k] * a[i * n + j];
                a[k * n + j] -= weight * sum;
                for (ptrdiff_t i = k + 1; i < m; i++)
                    a[i * n + j] -= weight * sum * a[i * n + k];
            }
            *(double *)(weights + k * steps[4]) = weight;
        }
        put_d(place, a, m, n, steps + 2, 0);
    }
    free(a);
}

/* The first columns of the product of the reflections. */
static void reflected(char **arrays, const ptrdiff_t *sizes, const ptrdiff_t *steps, ptrdiff_t count, ptrdiff_t columns)
{
    ptrdiff_t m = sizes[1], n = sizes[2];
    double *a = routine_memory(m * (n + columns), sizeof *a), *q = a + m * n;
    for (ptrdiff_t b = 0; a != NULL && b < sizes[0]; b++) {
        char *weights = arrays[1] + b * steps[1];
        get_d(a, arrays[0] + b * steps[0], m, n, steps + 3);
        for (ptrdiff_t i = 0; i < m * columns; i++)
            q[i] = i / columns == i % columns;
        for (ptrdiff_t k = count - 1; k >= 0; k--) {
            double weight = *(double *)(weights + k * steps[5]);
            for (ptrdiff_t j = 0; j < columns; j++) {
                double sum = q[k * columns + j];
                for (ptrdiff_t i = k + 1; i < m; i++)
                    sum += a[i * n + k] * q[i * columns + j];
                q[k * columns + j] -= weight * sum;
                for (ptrdiff_t i = k + 1; i < m; i++)
                    q[i * columns + j] -= weight * sum * a[i * n + k];
            }
        }
        put_d(arrays[2] + b * steps[2], q, m, columns, steps + 6, 0);
    }
    free(a);
}

static void host_qr_reduced_d(char **arrays, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    (void)data;
    reflected(arrays, sizes, steps, sizes[3], sizes[3]);
}

static void host_qr_complete_d(char **arrays, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    (void)data;
    reflected(arrays, sizes, steps, sizes[2] < sizes[1] ? sizes[2] : sizes[1], sizes[1]);
}
