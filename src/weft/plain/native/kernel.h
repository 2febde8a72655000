/* What generated code has of its own, behind plain.h: small operations that are inlined. */

#ifndef INT64_MAX
#define INT64_MAX 9223372036854775807LL
#endif

typedef struct {
    wp_object object;
    int64_t state; /* where the generator goes on: 0 at its start, -1 at its end */
} wp_frame;

static int64_t wp_fresh;

#define WP_ENTER(line) do { if (WP_UNLIKELY(--wp_depth < 0)) wp_deeper(line); } while (0)
#define WP_LEAVE() (wp_depth++)

/* An exception that the run time raised. */
static inline int64_t wp_is_foreign(const wp_object *e) { return e->type >= wp_error_types && e->type < wp_error_types + WP_EXCEPTIONS; }
static inline int64_t wp_is_builtin(const wp_object *e, int64_t which) { return e->type == &wp_error_types[which]; }

static inline double wp_sub_dd(double a, double b) { return a - b; }
static inline double wp_div_dd(double a, double b, int64_t line)
{
    if (WP_UNLIKELY(b == 0.0)) { wp_raise(WP_ZERO_DIVISION, "float division by zero", line); return 0.0; }
    return a / b;
}

static inline double wp_div_ii(int64_t a, int64_t b, int64_t line)
{
    if (WP_UNLIKELY(b == 0)) { wp_raise(WP_ZERO_DIVISION, "division by zero", line); return 0.0; }
    if (WP_LIKELY(a <= (1LL << 53) && a >= -(1LL << 53) && b <= (1LL << 53) && b >= -(1LL << 53))) return (double)a / (double)b;
    return wp_truediv_ii(a, b, line);
}

/* The product of a + bi and c + di. */
static inline double wp_complex_mul_real(double a, double b, double c, double d)
{
    return WP_LIKELY(wp_complex_exact) ? a * c - b * d : wp_complex_product(a, b, c, d, 0);
}
static inline double wp_complex_mul_imag(double a, double b, double c, double d)
{
    return WP_LIKELY(wp_complex_exact) ? a * d + b * c : wp_complex_product(a, b, c, d, 1);
}

static inline double wp_complex_magnitude(double a, double b, int64_t line)
{
    double result = __builtin_hypot(a, b);
    return WP_LIKELY(__builtin_isfinite(result)) ? result : wp_complex_abs(a, b, line);
}

/* Numbers whose kind is only known at run time. */
static inline wp_val wp_mixed(int32_t op, wp_val a, wp_val b, int64_t line)
{
    if (a.tag == WP_FLOAT && b.tag == WP_FLOAT) {
        if (op == '+') return wp_of_d(a.u.d + b.u.d);
        if (op == '-') return wp_of_d(a.u.d - b.u.d);
        if (op == '*') return wp_of_d(a.u.d * b.u.d);
    }
    if (a.tag == WP_INT && b.tag == WP_INT) {
        if (op == '+') return wp_of_i(wp_add_ii(a.u.i, b.u.i, line));
        if (op == '-') return wp_of_i(wp_sub_ii(a.u.i, b.u.i, line));
        if (op == '*') return wp_of_i(wp_mul_ii(a.u.i, b.u.i, line));
    }
    return wp_arith(op, a, b, line);
}

/* Integers that may be beyond 64 bits; what fits stays a number of the machine. */
static inline wp_val wp_add_wide(wp_val a, wp_val b, int64_t line)
{
    int64_t r;
    if (WP_LIKELY(a.tag != WP_PTR && b.tag != WP_PTR && !__builtin_add_overflow(a.u.i, b.u.i, &r))) return wp_of_i(r);
    return wp_wide('+', a, b, line);
}
static inline wp_val wp_sub_wide(wp_val a, wp_val b, int64_t line)
{
    int64_t r;
    if (WP_LIKELY(a.tag != WP_PTR && b.tag != WP_PTR && !__builtin_sub_overflow(a.u.i, b.u.i, &r))) return wp_of_i(r);
    return wp_wide('-', a, b, line);
}
static inline wp_val wp_mul_wide(wp_val a, wp_val b, int64_t line)
{
    int64_t r;
    if (WP_LIKELY(a.tag != WP_PTR && b.tag != WP_PTR && !__builtin_mul_overflow(a.u.i, b.u.i, &r))) return wp_of_i(r);
    return wp_wide('*', a, b, line);
}

/* a % b of a number that 64 bits may not hold */
static inline int64_t wp_mod_128(__int128 a, int64_t b, int64_t line)
{
    if (WP_UNLIKELY(b == 0 || b == -1)) return wp_mod_any(1, b, line);
    int64_t r = (int64_t)(a % b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline int64_t wp_range_has(int64_t start, int64_t stop, int64_t step, int64_t x)
{
    if (step > 0 ? x < start || x >= stop : x > start || x <= stop) return 0;
    return ((__int128)x - start) % step == 0;
}

static inline int64_t wp_list_has_i(const wp_list *l, int64_t x)
{
    const int64_t *items = (const int64_t *)l->data;
    for (int64_t i = 0; i < l->length; i++) if (items[i] == x) return 1;
    return 0;
}

static inline int64_t wp_list_has_s(const wp_list *l, const void *x)
{
    void *const *items = (void *const *)l->data;
    for (int64_t i = 0; i < l->length; i++) if (items[i] == x || wp_str_equal((const wp_str *)items[i], (const wp_str *)x)) return 1;
    return 0;
}

/* Whether containers take two items for the same. Two NaNs may be one object or two: Python knows. */
static inline int64_t wp_same(wp_val a, wp_val b)
{
    int64_t whole_a = a.tag == WP_INT || a.tag == WP_NP_INT64, whole_b = b.tag == WP_INT || b.tag == WP_NP_INT64;
    if (whole_a && whole_b) return a.u.i == b.u.i;
    int64_t double_a = a.tag == WP_FLOAT || a.tag == WP_NP_FLOAT64, double_b = b.tag == WP_FLOAT || b.tag == WP_NP_FLOAT64;
    if (double_a && double_b && (a.u.d == a.u.d || b.u.d == b.u.d)) return a.u.d == b.u.d;
    int64_t floats = (a.tag == WP_FLOAT || a.tag >= WP_NP_FLOAT32) && (b.tag == WP_FLOAT || b.tag >= WP_NP_FLOAT32);
    if (floats && a.u.d != a.u.d && b.u.d != b.u.d) wp_deopt("NaN in a container", 0);
    if (a.tag == WP_PTR && b.tag == WP_PTR && a.u.p == b.u.p) return 1;
    return wp_equal(a, b);
}

static inline int64_t wp_round_in(int64_t x, int64_t digits, int64_t line)
{
    if (digits >= 0) return x;
    wp_deopt("round() to tens of an integer", line);
}

static const wp_type wp_range_type = {WP_RANGE, 0, sizeof(wp_range), 0, 0, 0, 0, 0, "range"};

static inline void *wp_range_new(int64_t start, int64_t stop, int64_t step)
{
    wp_range *r = (wp_range *)wp_new(&wp_range_type);
    r->start = start;
    r->stop = stop;
    r->step = step;
    return r;
}

/* Attribute `bit` of an object gets a value; `later` are the bits behind it. A new one must come after all that are there. */
static inline void wp_attribute_set(wp_record *o, int64_t bit, int64_t later)
{
    if (WP_UNLIKELY(!(o->value[0] & bit) && o->value[0] & (later | WP_DELETED))) o->value[0] |= WP_DISORDERED;
    o->value[0] |= bit;
}
