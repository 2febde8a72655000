/* Least squares, and eigenvalues of complex matrices without symmetry, for C hosts.

   Least squares by singular values. Eigenvalues by the Schur form: reflections leave one diagonal below the main one, and
   rotations with a shift make it vanish; eigenvectors of the triangle that remains are turned back. */

/* --- least squares --- */

/* Everything of one system: a's singular vectors, the part of b along each, and what is left of b. */
static void least_squares(char **p, ptrdiff_t m, ptrdiff_t n, ptrdiff_t count, const ptrdiff_t *steps, double *left, double *right,
                          double *share)
{
    const ptrdiff_t least = m < n ? m : n, turned[] = {steps[1], steps[0]};
    const vectors of_rows = {(char *)left, 8, 8 * m}, of_columns = {(char *)right, 8, 8 * n};
    const double cutoff = *(const double *)p[2];
    char *values = p[6];
    if (m >= n)
        singular(p[0], steps, m, n, values, steps[7], of_rows, of_columns, least);
    else
        singular(p[0], turned, n, m, values, steps[7], of_columns, of_rows, least);
    double limit = (cutoff < 0 ? DBL_EPSILON : cutoff) * *(const double *)values;
    ptrdiff_t rank = 0;
    while (rank < least && *(const double *)(values + rank * steps[7]) > limit)
        rank++;
    *(int32_t *)p[5] = (int32_t)rank;
    for (ptrdiff_t j = 0; j < count; j++) {
        const char *b = p[1] + j * steps[3];
        for (ptrdiff_t k = 0; k < rank; k++) {
            share[k] = 0;
            for (ptrdiff_t i = 0; i < m; i++)
                share[k] += left[k * m + i] * *(const double *)(b + i * steps[2]);
            share[k] /= *(const double *)(values + k * steps[7]);
        }
        for (ptrdiff_t i = 0; i < n; i++) {
            double sum = 0;
            for (ptrdiff_t k = 0; k < rank; k++)
                sum += right[k * n + i] * share[k];
            *(double *)(p[3] + i * steps[4] + j * steps[5]) = sum;
        }
        double squares = 0;
        for (ptrdiff_t i = 0; i < m; i++) {
            double rest = *(const double *)(b + i * steps[2]);
            for (ptrdiff_t c = 0; c < n; c++)
                rest -= *(const double *)(p[0] + i * steps[0] + c * steps[1]) * *(const double *)(p[3] + c * steps[4] + j * steps[5]);
            squares += rest * rest;
        }
        *(double *)(p[4] + j * steps[6]) = squares;
    }
}

static void host_lstsq_d(char **arrays, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    ptrdiff_t m = sizes[1], n = sizes[2], least = m < n ? m : n;
    double *memory = routine_memory(least * (m + n + 1), sizeof *memory);
    (void)data;
    for (ptrdiff_t b = 0; memory != NULL && b < sizes[0]; b++) {
        char *p[7];
        for (int k = 0; k < 7; k++)
            p[k] = arrays[k] + b * steps[k];
        least_squares(p, m, n, sizes[3], steps + 7, memory, memory + least * m, memory + least * (m + n));
    }
    free(memory);
}

/* --- eigenvalues --- */

typedef double complex number;

/* Rows `at` and `at + 1` from column `from` on, or columns up to `to`, are turned: c x + s y, -conj(s) x + c y. */
static void turn_rows(number *a, ptrdiff_t n, ptrdiff_t at, ptrdiff_t from, double c, number s)
{
    for (ptrdiff_t j = from; j < n; j++) {
        number x = a[at * n + j], y = a[(at + 1) * n + j];
        a[at * n + j] = c * x + s * y;
        a[(at + 1) * n + j] = c * y - conj(s) * x;
    }
}

static void turn_columns(number *a, ptrdiff_t n, ptrdiff_t at, ptrdiff_t to, double c, number s)
{
    for (ptrdiff_t i = 0; i < to; i++) {
        number x = a[i * n + at], y = a[i * n + at + 1];
        a[i * n + at] = c * x + conj(s) * y;
        a[i * n + at + 1] = c * y - s * x;
    }
}

/* a  -->  q* a q with one diagonal below the main one; q, if it is not NULL, begins as the unit matrix. */
static void hessenberg(number *a, number *q, ptrdiff_t n, number *v)
{
    for (ptrdiff_t k = 0; k + 2 < n; k++) {
        double below = 0;
        for (ptrdiff_t i = k + 1; i < n; i++) {
            v[i] = a[i * n + k];
            below = hypot(below, cabs(v[i]));
        }
        if (below == 0)
            continue;
        double first = cabs(v[k + 1]);
        v[k + 1] += first == 0 ? below : v[k + 1] / first * below;
        double square = 0;
        for (ptrdiff_t i = k + 1; i < n; i++)
            square += creal(v[i]) * creal(v[i]) + cimag(v[i]) * cimag(v[i]);
        for (ptrdiff_t j = 0; j < n; j++) {
            number sum = 0;
            for (ptrdiff_t i = k + 1; i < n; i++)
                sum += conj(v[i]) * a[i * n + j];
            for (ptrdiff_t i = k + 1; i < n; i++)
                a[i * n + j] -= 2 / square * sum * v[i];
        }
        for (int which = 0; which < (q != NULL ? 2 : 1); which++) {
            number *of = which == 0 ? a : q;
            for (ptrdiff_t i = 0; i < n; i++) {
                number sum = 0;
                for (ptrdiff_t j = k + 1; j < n; j++)
                    sum += of[i * n + j] * v[j];
                for (ptrdiff_t j = k + 1; j < n; j++)
                    of[i * n + j] -= 2 / square * sum * conj(v[j]);
            }
        }
    }
}

/* The eigenvalue of the last two rows that is nearer to the last element. */
static number shift_of(const number *a, ptrdiff_t n, ptrdiff_t last)
{
    number x = a[(last - 1) * n + last - 1], y = a[(last - 1) * n + last], z = a[last * n + last - 1], w = a[last * n + last];
    number half = (x - w) / 2, root = csqrt(half * half + y * z);
    number sum = cabs(half + root) > cabs(half - root) ? half + root : half - root;
    return sum == 0 ? w : w - y * z / sum;
}

/* a  -->  a triangle. 0: no end is found. */
static int triangle(number *a, number *q, ptrdiff_t n)
{
    ptrdiff_t last = n - 1;
    for (int step = 1; last > 0; step++) {
        ptrdiff_t first = last;
        for (; first > 0; first--) {
            double around = cabs(a[first * n + first]) + cabs(a[(first - 1) * n + first - 1]);
            if (cabs(a[first * n + first - 1]) <= DBL_EPSILON * (around == 0 ? 1 : around))
                break;
        }
        if (first > 0)
            a[first * n + first - 1] = 0;
        if (first == last) {
            last--;
            step = 0;
            continue;
        }
        if (step > MOST_SWEEPS)
            return 0;
        number shift = step % 10 == 0 ? a[last * n + last] + cabs(a[last * n + last - 1]) : shift_of(a, n, last);
        number x = a[first * n + first] - shift, y = a[(first + 1) * n + first];
        for (ptrdiff_t k = first; k < last; k++) {
            double size = hypot(cabs(x), cabs(y)), c = size == 0 ? 1 : cabs(x) / size;
            number phase = cabs(x) == 0 ? 1 : x / cabs(x), s = size == 0 ? 0 : phase * conj(y) / size;
            turn_rows(a, n, k, k > first ? k - 1 : first, c, s);
            if (k > first)
                a[(k + 1) * n + k - 1] = 0;
            turn_columns(a, n, k, (k + 3 < last + 1 ? k + 3 : last + 1), c, s);
            if (q != NULL)
                turn_columns(q, n, k, n, c, s);
            if (k + 1 < last) {
                x = a[(k + 1) * n + k];
                y = a[(k + 2) * n + k];
            }
        }
    }
    return 1;
}

/* Column `k` of the eigenvectors: of length 1, its largest number real. */
static void eigenvector(const number *a, const number *q, ptrdiff_t n, ptrdiff_t k, number *x, char *to, ptrdiff_t step)
{
    double size = 0, length = 0;
    for (ptrdiff_t i = 0; i < n * n; i++)
        size = fmax(size, cabs(a[i]));
    double least = DBL_EPSILON * (size == 0 ? 1 : size);
    x[k] = 1;
    for (ptrdiff_t i = k - 1; i >= 0; i--) {
        number sum = 0, difference = a[i * n + i] - a[k * n + k];
        for (ptrdiff_t j = i + 1; j <= k; j++)
            sum += a[i * n + j] * x[j];
        x[i] = -sum / (cabs(difference) < least ? (number)least : difference);
        double large = cabs(x[i]);
        for (ptrdiff_t j = i; large > 1e100 && j <= k; j++)
            x[j] /= large;
    }
    number *turned = x + n, largest = 0;
    for (ptrdiff_t i = 0; i < n; i++) {
        turned[i] = 0;
        for (ptrdiff_t j = 0; j <= k; j++)
            turned[i] += q[i * n + j] * x[j];
        largest = cabs(turned[i]) > cabs(largest) ? turned[i] : largest;
        length = hypot(length, cabs(turned[i]));
    }
    for (ptrdiff_t i = 0; i < n; i++)
        *(number *)(to + i * step) = turned[i] / length * (cabs(largest) / largest);
}

static void general(const char *from, const ptrdiff_t *steps, ptrdiff_t n, char *values, ptrdiff_t value_step, vectors to)
{
    number *a = routine_memory(2 * n * n + 2 * n, sizeof *a), *q = to.place == NULL ? NULL : a + n * n, *x = a + 2 * n * n;
    if (a == NULL)
        return;
    get_D(a, (char *)(uintptr_t)from, n, n, steps);
    for (ptrdiff_t i = 0; q != NULL && i < n * n; i++)
        q[i] = i % (n + 1) == 0;
    hessenberg(a, q, n, x);
    int done = triangle(a, q, n);
    for (ptrdiff_t k = 0; k < n; k++) {
        *(number *)(values + k * value_step) = done ? a[k * n + k] : CMPLX(NAN, NAN);
        if (q != NULL)
            eigenvector(a, q, n, k, x, to.place + k * to.column, to.row);
    }
    routine_failed |= !done;
    free(a);
}

static void host_eig_D(char **p, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    (void)data;
    for (ptrdiff_t b = 0; b < sizes[0]; b++) {
        vectors to = {p[2] + b * steps[2], steps[6], steps[7]};
        general(p[0] + b * steps[0], steps + 3, sizes[1], p[1] + b * steps[1], steps[5], to);
    }
}

static void host_eigvals_D(char **p, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)
{
    (void)data;
    for (ptrdiff_t b = 0; b < sizes[0]; b++)
        general(p[0] + b * steps[0], steps + 2, sizes[1], p[1] + b * steps[1], steps[4], (vectors){0});
}
