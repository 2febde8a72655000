/* Linear equations for C hosts: factors of a matrix of real or of complex numbers, as loops over matrices.

   This file is compiled once for each type: NUMBER, NAME(of), CONJUGATE(x), SIZE_OF(x), which is what pivots are compared by,
   and NOT_A_NUMBER are defined before. Matrices are copied, row by row; a failure fills the result with NaN. */

static void NAME(get)(NUMBER *to, const char *from, ptrdiff_t rows, ptrdiff_t columns, const ptrdiff_t *steps)
{
    for (ptrdiff_t i = 0; i < rows; i++)
        for (ptrdiff_t j = 0; j < columns; j++)
            to[i * columns + j] = *(const NUMBER *)(from + i * steps[0] + j * steps[1]);
}

static void NAME(put)(char *to, const NUMBER *from, ptrdiff_t rows, ptrdiff_t columns, const ptrdiff_t *steps, int failed)
{
    for (ptrdiff_t i = 0; i < rows; i++)
        for (ptrdiff_t j = 0; j < columns; j++)
            *(NUMBER *)(to + i * steps[0] + j * steps[1]) = failed ? NOT_A_NUMBER : from[i * columns + j];
    if (failed)
        routine_failed = 1;
}

/* a  -->  the factors of a with rows exchanged; whether all pivots differ from zero. `swaps`: how many exchanges. */
static int NAME(factored)(NUMBER *a, ptrdiff_t n, ptrdiff_t *rows, ptrdiff_t *swaps)
{
    int regular = 1;
    *swaps = 0;
    for (ptrdiff_t k = 0; k < n; k++) {
        ptrdiff_t best = k;
        for (ptrdiff_t i = k + 1; i < n; i++)
            if (SIZE_OF(a[i * n + k]) > SIZE_OF(a[best * n + k]))
                best = i;
        rows[k] = best;
        if (best != k) {
            ++*swaps;
            for (ptrdiff_t j = 0; j < n; j++) {
                NUMBER held = a[k * n + j];
                a[k * n + j] = a[best * n + j];
                a[best * n + j] = held;
            }
        }
        if (a[k * n + k] == 0) {
            regular = 0;
            continue;
        }
        for (ptrdiff_t i = k + 1; i < n; i++) {
            NUMBER share = a[i * n + k] /= a[k * n + k];
            for (ptrdiff_t j = k + 1; j < n; j++)
                a[i * n + j] -= share * a[k * n + j];
        }
    }
    return regular;
}

/* x  -->  the solutions of a x = x, for all `count` columns of x. */
static void NAME(substituted)(const NUMBER *a, ptrdiff_t n, const ptrdiff_t *rows, NUMBER *x, ptrdiff_t count)
{
    for (ptrdiff_t k = 0; k < n; k++)
        for (ptrdiff_t j = 0; j < count && rows[k] != k; j++) {
            NUMBER held = x[k * count + j];
            x[k * count + j] = x[rows[k] * count + j];
            x[rows[k] * count + j] = held;
        }
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t k = 0; k < i; k++)
            for (ptrdiff_t j = 0; j < count; j++)
                x[i * count + j] -= a[i * n + k] * x[k * count + j];
    for (ptrdiff_t i = n - 1; i >= 0; i--) {
        for (ptrdiff_t k = i + 1; k < n; k++)
            for (ptrdiff_t j = 0; j < count; j++)
                x[i * count + j] -= a[i * n + k] * x[k * count + j];
        for (ptrdiff_t j = 0; j < count; j++)
            x[i * count + j] /= a[i * n + i];
    }
}

/* Solutions for right-hand sides of `count` columns; those of the identity without one. */
static void NAME(solve)(const char *a, const ptrdiff_t *a_steps, const char *b, const ptrdiff_t *b_steps, char *to,
                        const ptrdiff_t *to_steps, ptrdiff_t n, ptrdiff_t count)
{
    NUMBER *matrix = routine_memory(n * (n + count), sizeof *matrix), *x = matrix + n * n;
    ptrdiff_t *rows = routine_memory(n, sizeof *rows), swaps;
    if (matrix != NULL && rows != NULL) {
        NAME(get)(matrix, a, n, n, a_steps);
        if (b != NULL)
            NAME(get)(x, b, n, count, b_steps);
        for (ptrdiff_t i = 0; b == NULL && i < n * n; i++)
            x[i] = i % (n + 1) == 0;
        int regular = NAME(factored)(matrix, n, rows, &swaps);
        if (regular)
            NAME(substituted)(matrix, n, rows, x, count);
        NAME(put)(to, x, n, count, to_steps, !regular);
    }
    free(matrix);
    free(rows);
}

static void NAME(host_solve)(char **a, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    (void)data;
    for (ptrdiff_t b = 0; b < sizes[0]; b++)
        NAME(solve)(a[0] + b * steps[0], steps + 3, a[1] + b * steps[1], steps + 5, a[2] + b * steps[2], steps + 7, sizes[1], sizes[2]);
}

static void NAME(host_solve1)(char **a, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    const ptrdiff_t given[] = {steps[5], 0}, made[] = {steps[6], 0};
    (void)data;
    for (ptrdiff_t b = 0; b < sizes[0]; b++)
        NAME(solve)(a[0] + b * steps[0], steps + 3, a[1] + b * steps[1], given, a[2] + b * steps[2], made, sizes[1], 1);
}

static void NAME(host_inv)(char **a, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    (void)data;
    for (ptrdiff_t b = 0; b < sizes[0]; b++)
        NAME(solve)(a[0] + b * steps[0], steps + 2, NULL, NULL, a[1] + b * steps[1], steps + 4, sizes[1], sizes[1]);
}

/* The sign of a determinant, and the logarithm of its size. */
static int NAME(determined)(const char *a, const ptrdiff_t *a_steps, ptrdiff_t n, NUMBER *sign, double *logarithm)
{
    NUMBER *matrix = routine_memory(n * n, sizeof *matrix);
    ptrdiff_t *rows = routine_memory(n, sizeof *rows), swaps;
    int ready = matrix != NULL && rows != NULL;
    if (ready) {
        NAME(get)(matrix, a, n, n, a_steps);
        *sign = 0;
        *logarithm = -INFINITY;
        if (NAME(factored)(matrix, n, rows, &swaps)) {
            *sign = swaps % 2 ? -1 : 1;
            *logarithm = 0;
            for (ptrdiff_t i = 0; i < n; i++) {
                double size = LENGTH_OF(matrix[i * n + i]);
                *sign *= matrix[i * n + i] / size;
                *logarithm += log(size);
            }
        }
    }
    free(matrix);
    free(rows);
    return ready;
}

static void NAME(host_slogdet)(char **a, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    (void)data;
    for (ptrdiff_t b = 0; b < sizes[0]; b++)
        NAME(determined)(a[0] + b * steps[0], steps + 3, sizes[1], (NUMBER *)(a[1] + b * steps[1]), (double *)(a[2] + b * steps[2]));
}

static void NAME(host_det)(char **a, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    (void)data;
    for (ptrdiff_t b = 0; b < sizes[0]; b++) {
        NUMBER sign;
        double logarithm;
        if (NAME(determined)(a[0] + b * steps[0], steps + 2, sizes[1], &sign, &logarithm))
            *(NUMBER *)(a[1] + b * steps[1]) = sign * exp(logarithm);
    }
}

/* The factor of a positive definite matrix, from its lower triangle, or from the upper one. */
static void NAME(cholesky)(char **a, const ptrdiff_t *sizes, const ptrdiff_t *steps, int upper)
{
    ptrdiff_t n = sizes[1];
    const ptrdiff_t given[] = {steps[2 + upper], steps[3 - upper]}, made[] = {steps[4 + upper], steps[5 - upper]};
    NUMBER *l = routine_memory(n * n, sizeof *l);
    for (ptrdiff_t b = 0; l != NULL && b < sizes[0]; b++) {
        int failed = 0;
        NAME(get)(l, a[0] + b * steps[0], n, n, given); /* the upper triangle turned over: its conjugate is the lower one */
        for (ptrdiff_t i = 0; i < n && !failed; i++) {
            for (ptrdiff_t j = 0; j <= i; j++) {
                NUMBER sum = upper ? CONJUGATE(l[i * n + j]) : l[i * n + j];
                for (ptrdiff_t k = 0; k < j; k++)
                    sum -= l[i * n + k] * CONJUGATE(l[j * n + k]);
                if (j < i)
                    l[i * n + j] = sum / l[j * n + j];
                else if (REAL_OF(sum) > 0)
                    l[i * n + i] = sqrt(REAL_OF(sum));
                else
                    failed = 1;
            }
            for (ptrdiff_t j = i + 1; j < n; j++)
                l[i * n + j] = 0;
        }
        for (ptrdiff_t i = 0; upper && i < n * n; i++)
            l[i] = CONJUGATE(l[i]);
        NAME(put)(a[1] + b * steps[1], l, n, n, made, failed);
    }
    free(l);
}

static void NAME(host_cholesky_lo)(char **a, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    (void)data;
    NAME(cholesky)(a, sizes, steps, 0);
}

static void NAME(host_cholesky_up)(char **a, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    (void)data;
    NAME(cholesky)(a, sizes, steps, 1);
}

#undef NUMBER
#undef NAME
#undef CONJUGATE
#undef SIZE_OF
#undef LENGTH_OF
#undef REAL_OF
#undef NOT_A_NUMBER
