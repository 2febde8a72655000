/* Fourier transforms for C hosts, as loops of the signatures that NumPy gives them: (n),()->(m), the factor of all results
   second.

   A length is split into its prime factors; one with a large factor goes by way of a product of longer transforms whose length
   is a power of two. Everything is computed in doubles. */

typedef struct {
    ptrdiff_t n;           /* the length */
    ptrdiff_t factors[64]; /* ends with 1 */
    complex_double *roots; /* exp(-2 pi i k / n); conjugated for the other direction */
} transform;

static complex_double times(complex_double a, complex_double b)
{
    return (complex_double){a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
}

/* exp(2 pi i k / n) for 0 <= k < n, from an angle of at most a quarter of pi. */
static complex_double root_of_one(ptrdiff_t k, ptrdiff_t n)
{
    ptrdiff_t quarter = 4 * k / n, rest = 4 * k % n;
    double turned = 2 * rest > n, angle = 1.57079632679489661923 * (double)(turned ? n - rest : rest) / (double)n;
    double x = turned ? sin(angle) : cos(angle), y = turned ? cos(angle) : sin(angle);
    return quarter == 0   ? (complex_double){x, y}
           : quarter == 1 ? (complex_double){-y, x}
           : quarter == 2 ? (complex_double){-x, -y}
                          : (complex_double){y, -x};
}

enum { LARGEST_FACTOR = 31 };

/* 1: ready; 0: the length has a large prime factor; -1: no memory. */
static int plan_transform(transform *plan, ptrdiff_t n, int forward)
{
    int count = 0;
    ptrdiff_t rest = n;
    for (ptrdiff_t p = 4; rest > 1; p = p == 4 ? 2 : p == 2 ? 3 : p + 2) {
        while (rest % p == 0) {
            plan->factors[count++] = p;
            rest /= p;
        }
        if (p >= LARGEST_FACTOR && rest > 1)
            return 0;
    }
    plan->factors[count] = 1;
    plan->n = n;
    plan->roots = routine_memory(n, sizeof *plan->roots);
    for (ptrdiff_t k = 0; plan->roots != NULL && k < n; k++) {
        plan->roots[k] = root_of_one(k, n);
        if (forward)
            plan->roots[k].imag = -plan->roots[k].imag;
    }
    return plan->roots == NULL ? -1 : 1;
}

/* The transform of n items of x, `stride` apart, into y. */
static void transformed(const transform *plan, const ptrdiff_t *factor, ptrdiff_t n, ptrdiff_t stride, const complex_double *x,
                        complex_double *y)
{
    ptrdiff_t p = *factor, m = n / p;
    if (n == 1) {
        y[0] = x[0];
        return;
    }
    for (ptrdiff_t q = 0; q < p; q++)
        transformed(plan, factor + 1, m, stride * p, x + q * stride, y + q * m);
    const complex_double *root = plan->roots;
    double turn = plan->n > 1 ? root[plan->n / 4].imag : 0; /* of a quarter: -1 forward, 1 backward */
    for (ptrdiff_t k = 0; k < m; k++) {
        complex_double part[LARGEST_FACTOR];
        part[0] = y[k];
        for (ptrdiff_t q = 1; q < p; q++)
            part[q] = times(y[q * m + k], root[q * k * stride]);
        if (p == 2) {
            y[k] = (complex_double){part[0].real + part[1].real, part[0].imag + part[1].imag};
            y[k + m] = (complex_double){part[0].real - part[1].real, part[0].imag - part[1].imag};
        } else if (p == 4) {
            complex_double even = {part[0].real + part[2].real, part[0].imag + part[2].imag};
            complex_double odd = {part[1].real + part[3].real, part[1].imag + part[3].imag};
            complex_double less = {part[0].real - part[2].real, part[0].imag - part[2].imag};
            complex_double side = {-turn * (part[1].imag - part[3].imag), turn * (part[1].real - part[3].real)};
            y[k] = (complex_double){even.real + odd.real, even.imag + odd.imag};
            y[k + m] = (complex_double){less.real + side.real, less.imag + side.imag};
            y[k + 2 * m] = (complex_double){even.real - odd.real, even.imag - odd.imag};
            y[k + 3 * m] = (complex_double){less.real - side.real, less.imag - side.imag};
        } else {
            for (ptrdiff_t r = 0; r < p; r++) {
                complex_double sum = part[0];
                for (ptrdiff_t q = 1; q < p; q++) {
                    complex_double one = times(part[q], root[q * r % p * (plan->n / p)]);
                    sum.real += one.real;
                    sum.imag += one.imag;
                }
                y[k + r * m] = sum;
            }
        }
    }
}

/* The same for a length with a large prime factor: x[k] w[k^2/2] convolved with conj(w)[k^2/2], by transforms of length m. */
static int transformed_by_product(ptrdiff_t n, int forward, const complex_double *x, complex_double *y)
{
    ptrdiff_t m = 4;
    while (m < 2 * n - 1)
        m *= 2;
    transform there = {0}, back = {0};
    complex_double *room = routine_memory(n + 4 * m, sizeof *room);
    int ready = room != NULL && plan_transform(&there, m, 1) > 0 && plan_transform(&back, m, 0) > 0;
    if (ready) {
        complex_double *chirp = room, *a = chirp + n, *b = a + m, *fa = b + m, *fb = fa + m;
        memset(a, 0, 2 * (size_t)m * sizeof *a);
        for (ptrdiff_t k = 0; k < n; k++) {
            chirp[k] = root_of_one((ptrdiff_t)((unsigned __int128)k * (unsigned __int128)k % (unsigned __int128)(2 * n)), 2 * n);
            if (forward)
                chirp[k].imag = -chirp[k].imag;
            a[k] = times(x[k], chirp[k]);
            b[k] = (complex_double){chirp[k].real, -chirp[k].imag};
            if (k > 0)
                b[m - k] = b[k];
        }
        transformed(&there, there.factors, m, 1, a, fa);
        transformed(&there, there.factors, m, 1, b, fb);
        for (ptrdiff_t k = 0; k < m; k++)
            fa[k] = times(fa[k], fb[k]);
        transformed(&back, back.factors, m, 1, fa, a);
        for (ptrdiff_t k = 0; k < n; k++) {
            complex_double one = times(a[k], chirp[k]);
            y[k] = (complex_double){one.real / (double)m, one.imag / (double)m};
        }
    }
    free(there.roots);
    free(back.roots);
    free(room);
    return ready;
}

static complex_double item_at(const char *place, char letter)
{
    return letter == 'D'   ? *(const complex_double *)place
           : letter == 'd' ? (complex_double){*(const double *)place, 0}
           : letter == 'F' ? (complex_double){((const complex_float *)place)->real, ((const complex_float *)place)->imag}
                           : (complex_double){*(const float *)place, 0};
}

static void put_at(char *place, char letter, complex_double value)
{
    if (letter == 'D')
        *(complex_double *)place = value;
    else if (letter == 'd')
        *(double *)place = value.real;
    else if (letter == 'F')
        *(complex_float *)place = (complex_float){(float)value.real, (float)value.imag};
    else
        *(float *)place = (float)value.real;
}

/* Lines of `given` items into lines of `made`, transforms of n items; `halved`: items are those of one half, the others are
   their conjugates. */
static void transform_lines(char **arguments, const ptrdiff_t *sizes, const ptrdiff_t *steps, ptrdiff_t n, int forward, int halved,
                            char from, char to)
{
    ptrdiff_t given = sizes[1], made = sizes[2];
    transform plan = {0};
    complex_double *x = routine_memory(2 * n, sizeof *x), *y = x + n;
    int way = x == NULL ? -1 : plan_transform(&plan, n, forward);
    for (ptrdiff_t b = 0; way >= 0 && b < sizes[0]; b++) {
        char *line = arguments[0] + b * steps[0], *out = arguments[2] + b * steps[2];
        char *factor = arguments[1] + b * steps[1];
        double scale = from == 'D' || from == 'd' ? *(double *)factor : (double)*(float *)factor;
        for (ptrdiff_t k = 0; k < n; k++)
            x[k] = k < given && (!halved || k <= n / 2) ? item_at(line + k * steps[3], from) : (complex_double){0, 0};
        if (halved) {
            x[0].imag = 0;
            if (n % 2 == 0)
                x[n / 2].imag = 0;
            for (ptrdiff_t k = n / 2 + 1; k < n; k++)
                x[k] = (complex_double){x[n - k].real, -x[n - k].imag};
        }
        if (way == 0 && !transformed_by_product(n, forward, x, y))
            break;
        if (way > 0)
            transformed(&plan, plan.factors, n, 1, x, y);
        for (ptrdiff_t k = 0; k < made; k++)
            put_at(out + k * steps[4], to, (complex_double){scale * y[k].real, scale * y[k].imag});
    }
    free(plan.roots);
    free(x);
}

#define TRANSFORM(name, n, forward, halved, from, to)                                                                         \
    static void host_##name(char **arguments, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)                     \
    {                                                                                                                         \
        (void)data;                                                                                                           \
        transform_lines(arguments, sizes, steps, n, forward, halved, from, to);                                               \
    }

TRANSFORM(fft_D, sizes[2], 1, 0, 'D', 'D')
TRANSFORM(fft_F, sizes[2], 1, 0, 'F', 'F')
TRANSFORM(ifft_D, sizes[2], 0, 0, 'D', 'D')
TRANSFORM(ifft_F, sizes[2], 0, 0, 'F', 'F')
TRANSFORM(rfft_n_even_d, 2 * (sizes[2] - 1), 1, 0, 'd', 'D')
TRANSFORM(rfft_n_even_f, 2 * (sizes[2] - 1), 1, 0, 'f', 'F')
TRANSFORM(rfft_n_odd_d, 2 * sizes[2] - 1, 1, 0, 'd', 'D')
TRANSFORM(rfft_n_odd_f, 2 * sizes[2] - 1, 1, 0, 'f', 'F')
TRANSFORM(irfft_D, sizes[2], 0, 1, 'D', 'd')
TRANSFORM(irfft_F, sizes[2], 0, 1, 'F', 'f')
