/* Element by element: assignment, arithmetic, comparisons and reductions of whole arrays.

   In: arrays of any strides, and scalars. Out: an array. Elements are brought to the type of the computation in strips of a few
   hundred, which NumPy's own loops do as well; sums of floats are not here, since NumPy's order of adding is its own. */

#include "api.h"

#include <fenv.h>

enum { STRIP = 256, FLOAT_TROUBLE = FE_DIVBYZERO | FE_OVERFLOW | FE_INVALID };

/* What the operations that follow must not set. The C library saves and loads the whole state of the x87 unit for that. */
static inline void clear_trouble(void)
{
#ifdef __x86_64__
    unsigned state = __builtin_ia32_stmxcsr();
    __asm__ volatile("fnclex");
    if (state & FLOAT_TROUBLE)
        __builtin_ia32_ldmxcsr(state & ~(unsigned)FLOAT_TROUBLE);
#else
    feclearexcept(FLOAT_TROUBLE);
#endif
}

static inline void no_trouble(int64_t line)
{
    if (WP_UNLIKELY(fetestexcept(FLOAT_TROUBLE)))
        wp_deopt("an operation that NumPy warns of", line);
}

typedef struct {
    char *data;
    int64_t strides[WP_MAX_RANK];
    int64_t tag;
    wp_val held; /* of a scalar */
} operand;

/* --- strips: elements of any type from and to double, float and int64_t --- */

/* GCC makes vectors of such loops at this level only. */
#if defined(__GNUC__) && !defined(__clang__)
#define VECTORS __attribute__((optimize("O3")))
#else
#define VECTORS
#endif

#define EACH for (int64_t i = 0; i < n; i++, p += stride)
#define LOADS(NAME, T)                                                                                                           \
    static VECTORS void load_##NAME(T *out, const char *p, int64_t stride, int64_t n, int64_t tag)                              \
    {                                                                                                                            \
        if (stride == 0 && n > 1) {                                                                                              \
            load_##NAME(out, p, 0, 1, tag);                                                                                      \
            for (int64_t i = 1; i < n; i++)                                                                                      \
                out[i] = out[0];                                                                                                 \
            return;                                                                                                              \
        }                                                                                                                        \
        switch (tag) {                                                                                                           \
        case WP_NP_BOOL:                                                                                                         \
        case WP_NP_UINT8: EACH out[i] = (T) * (const uint8_t *)p; break;                                                         \
        case WP_NP_INT8: EACH out[i] = (T) * (const int8_t *)p; break;                                                           \
        case WP_NP_INT16: EACH out[i] = (T) * (const int16_t *)p; break;                                                         \
        case WP_NP_INT32: EACH out[i] = (T) * (const int32_t *)p; break;                                                         \
        case WP_NP_INT64: EACH out[i] = (T) * (const int64_t *)p; break;                                                         \
        case WP_NP_UINT16: EACH out[i] = (T) * (const uint16_t *)p; break;                                                       \
        case WP_NP_UINT32: EACH out[i] = (T) * (const uint32_t *)p; break;                                                       \
        case WP_NP_FLOAT32: EACH out[i] = (T) * (const float *)p; break;                                                         \
        default: EACH out[i] = (T) * (const double *)p;                                                                          \
        }                                                                                                                        \
    }
LOADS(d, double)
LOADS(f, float)
LOADS(i, int64_t)

static void store_i(const int64_t *from, char *p, int64_t stride, int64_t n, int64_t tag)
{
    switch (tag) {
    case WP_NP_BOOL: EACH *(uint8_t *)p = from[i] != 0; break;
    case WP_NP_UINT8:
    case WP_NP_INT8: EACH *(uint8_t *)p = (uint8_t)from[i]; break;
    case WP_NP_UINT16:
    case WP_NP_INT16: EACH *(uint16_t *)p = (uint16_t)from[i]; break;
    case WP_NP_UINT32:
    case WP_NP_INT32: EACH *(uint32_t *)p = (uint32_t)from[i]; break;
    case WP_NP_INT64: EACH *(int64_t *)p = from[i]; break;
    case WP_NP_FLOAT32: EACH *(float *)p = (float)from[i]; break;
    default: EACH *(double *)p = (double)from[i];
    }
}

static void store_d(const double *from, char *p, int64_t stride, int64_t n, int64_t tag, int64_t line)
{
    int64_t whole[STRIP];
    switch (tag) {
    case WP_NP_FLOAT64: EACH *(double *)p = from[i]; return;
    case WP_NP_FLOAT32: EACH *(float *)p = (float)from[i]; return;
    case WP_NP_BOOL: EACH *(uint8_t *)p = from[i] != 0.0; return;
    default:
        for (int64_t i = 0; i < n; i++)
            whole[i] = wp_np_trunc(from[i], tag, line);
        store_i(whole, p, stride, n, tag);
    }
}

static void store_f(const float *from, char *p, int64_t stride, int64_t n, int64_t tag, int64_t line)
{
    double wide[STRIP];
    if (tag == WP_NP_FLOAT32) {
        EACH *(float *)p = from[i];
        return;
    }
    for (int64_t i = 0; i < n; i++)
        wide[i] = from[i];
    store_d(wide, p, stride, n, tag, line);
}

/* --- operations on strips --- */

#define ALL for (int64_t i = 0; i < n; i++)
#define FLOAT_OPS(NAME, T, FLOOR, ABS, SQRT, CEIL)                                                                               \
    static VECTORS void compute_##NAME(int64_t op, const T *x, const T *y, T *r, int64_t n)                                     \
    {                                                                                                                            \
        switch (op) {                                                                                                            \
        case '+': ALL r[i] = x[i] + y[i]; break;                                                                                 \
        case '-': ALL r[i] = x[i] - y[i]; break;                                                                                 \
        case '*': ALL r[i] = x[i] * y[i]; break;                                                                                 \
        case '/': ALL r[i] = x[i] / y[i]; break;                                                                                 \
        case 'M': ALL r[i] = x[i] >= y[i] || x[i] != x[i] ? x[i] : y[i]; break;                                                  \
        case 'm': ALL r[i] = x[i] <= y[i] || x[i] != x[i] ? x[i] : y[i]; break;                                                  \
        case 'n': ALL r[i] = -x[i]; break;                                                                                       \
        case 'a': ALL r[i] = ABS(x[i]); break;                                                                                   \
        case 'q': ALL r[i] = SQRT(x[i]); break;                                                                                  \
        case 's': ALL r[i] = x[i] * x[i]; break;                                                                                 \
        case 'f': ALL r[i] = FLOOR(x[i]); break;                                                                                 \
        case 'c': ALL r[i] = CEIL(x[i]); break;                                                                                  \
        default: wp_deopt("an operation without a native form", 0);                                                              \
        }                                                                                                                        \
    }                                                                                                                            \
    static VECTORS void compare_##NAME(int64_t op, const T *x, const T *y, int64_t *r, int64_t n)                               \
    {                                                                                                                            \
        switch (op) {                                                                                                            \
        case '=': ALL r[i] = x[i] == y[i]; break;                                                                                \
        case '!': ALL r[i] = x[i] != y[i]; break;                                                                                \
        case '<': ALL r[i] = x[i] < y[i]; break;                                                                                 \
        case 'l': ALL r[i] = x[i] <= y[i]; break;                                                                                \
        case '>': ALL r[i] = x[i] > y[i]; break;                                                                                 \
        default: ALL r[i] = x[i] >= y[i];                                                                                        \
        }                                                                                                                        \
    }
FLOAT_OPS(d, double, floor, fabs, sqrt, ceil)
FLOAT_OPS(f, float, floorf, fabsf, sqrtf, ceilf)

static int is_comparison(int64_t op) { return op == '=' || op == '!' || op == '<' || op == 'l' || op == '>' || op == 'g'; }

static VECTORS void compute_i(int64_t op, const int64_t *x, const int64_t *y, int64_t *r, int64_t n, int64_t tag, int64_t line)
{
    switch (op) {
    case '+': ALL r[i] = (int64_t)((uint64_t)x[i] + (uint64_t)y[i]); break;
    case '-': ALL r[i] = (int64_t)((uint64_t)x[i] - (uint64_t)y[i]); break;
    case '*': ALL r[i] = (int64_t)((uint64_t)x[i] * (uint64_t)y[i]); break;
    case 's': ALL r[i] = (int64_t)((uint64_t)x[i] * (uint64_t)x[i]); break;
    case '_': ALL r[i] = wp_np_floordiv(x[i], y[i], tag, line); break;
    case '%': ALL r[i] = wp_np_mod(x[i], y[i], tag, line); break;
    case '&': ALL r[i] = x[i] & y[i]; break;
    case '|': ALL r[i] = x[i] | y[i]; break;
    case 'x': ALL r[i] = x[i] ^ y[i]; break;
    case 'L': ALL r[i] = wp_np_shl(x[i], y[i], tag, line); break;
    case 'R': ALL r[i] = wp_np_shr(x[i], y[i], tag, line); break;
    case 'M': ALL r[i] = x[i] > y[i] ? x[i] : y[i]; break;
    case 'm': ALL r[i] = x[i] < y[i] ? x[i] : y[i]; break;
    case 'n': ALL r[i] = (int64_t)(0 - (uint64_t)x[i]); break;
    case 'a': ALL r[i] = x[i] < 0 ? (int64_t)(0 - (uint64_t)x[i]) : x[i]; break;
    case '~': ALL r[i] = tag == WP_NP_BOOL ? !x[i] : ~x[i]; break;
    default: wp_deopt("an operation without a native form", line);
    }
}

#define AS(T, NAME, BUFFER, O, P, STRIDE)                                                                                        \
    ((O)->tag == OWN && (STRIDE) == (int64_t)sizeof(T) ? (const T *)(P) : (load_##NAME(BUFFER, P, STRIDE, n, (O)->tag), (const T *)BUFFER))

/* n elements in a row: r = x op y; y may be NULL. */
static void run_strip(int64_t op, int64_t tag, const operand *r, char *rp, int64_t rs, const operand *x, const char *xp, int64_t xs,
                      const operand *y, const char *yp, int64_t ys, int64_t n, int64_t line)
{
    int64_t whole[STRIP];
    if (tag == WP_NP_FLOAT64) {
        enum { OWN = WP_NP_FLOAT64 };
        double a[STRIP], b[STRIP], c[STRIP];
        const double *u = AS(double, d, a, x, xp, xs), *v = y == NULL ? u : AS(double, d, b, y, yp, ys);
        if (is_comparison(op)) {
            compare_d(op, u, v, whole, n);
            store_i(whole, rp, rs, n, r->tag);
        } else if (op == '=' + 256)
            store_d(u, rp, rs, n, r->tag, line);
        else if (r->tag == OWN && rs == (int64_t)sizeof(double))
            compute_d(op, u, v, (double *)rp, n);
        else {
            compute_d(op, u, v, c, n);
            store_d(c, rp, rs, n, r->tag, line);
        }
    } else if (tag == WP_NP_FLOAT32) {
        enum { OWN = WP_NP_FLOAT32 };
        float a[STRIP], b[STRIP], c[STRIP];
        const float *u = AS(float, f, a, x, xp, xs), *v = y == NULL ? u : AS(float, f, b, y, yp, ys);
        if (is_comparison(op)) {
            compare_f(op, u, v, whole, n);
            store_i(whole, rp, rs, n, r->tag);
        } else if (op == '=' + 256)
            store_f(u, rp, rs, n, r->tag, line);
        else if (r->tag == OWN && rs == (int64_t)sizeof(float))
            compute_f(op, u, v, (float *)rp, n);
        else {
            compute_f(op, u, v, c, n);
            store_f(c, rp, rs, n, r->tag, line);
        }
    } else {
        enum { OWN = WP_NP_INT64 };
        int64_t a[STRIP], b[STRIP];
        const int64_t *u = AS(int64_t, i, a, x, xp, xs), *v = y == NULL ? u : AS(int64_t, i, b, y, yp, ys);
        if (is_comparison(op)) {
            switch (op) {
            case '=': ALL whole[i] = u[i] == v[i]; break;
            case '!': ALL whole[i] = u[i] != v[i]; break;
            case '<': ALL whole[i] = u[i] < v[i]; break;
            case 'l': ALL whole[i] = u[i] <= v[i]; break;
            case '>': ALL whole[i] = u[i] > v[i]; break;
            default: ALL whole[i] = u[i] >= v[i];
            }
            store_i(whole, rp, rs, n, r->tag);
        } else if (op == '=' + 256)
            store_i(u, rp, rs, n, r->tag);
        else {
            compute_i(op, u, v, whole, n, r->tag, line);
            store_i(whole, rp, rs, n, r->tag);
        }
    }
}

/* --- whole arrays --- */

static void run_all(int64_t op, int64_t tag, const int64_t *shape, int64_t rank, const operand *r, const operand *x, const operand *y, int64_t line)
{
    int64_t at[WP_MAX_RANK] = {0}, inner = shape[rank - 1];
    for (int64_t k = 0; k < rank; k++)
        if (shape[k] == 0)
            return;
    char *rp = r->data, *xp = x->data, *yp = y == NULL ? NULL : y->data;
    int64_t rs = r->strides[rank - 1], xs = x->strides[rank - 1], ys = y == NULL ? 0 : y->strides[rank - 1];
    for (;;) {
        for (int64_t k = 0; k < inner; k += STRIP) {
            int64_t n = inner - k < STRIP ? inner - k : STRIP;
            run_strip(op, tag, r, rp + k * rs, rs, x, xp + k * xs, xs, y, yp + k * ys, ys, n, line);
        }
        WP_POLL();
        int64_t axis = rank - 2;
        for (; axis >= 0; axis--) {
            rp += r->strides[axis];
            xp += x->strides[axis];
            yp += y == NULL ? 0 : y->strides[axis];
            if (++at[axis] < shape[axis])
                break;
            rp -= shape[axis] * r->strides[axis];
            xp -= shape[axis] * x->strides[axis];
            yp -= y == NULL ? 0 : shape[axis] * y->strides[axis];
            at[axis] = 0;
        }
        if (axis < 0)
            return;
    }
}

static void with_float_flags(int64_t op, int64_t tag, const int64_t *shape, int64_t rank, const operand *r, const operand *x, const operand *y, int64_t line)
{
    int checked = (tag >= WP_NP_FLOAT32 || r->tag >= WP_NP_FLOAT32) && !is_comparison(op);
    if (checked)
        clear_trouble();
    run_all(op, tag, shape, rank, r, x, y, line);
    if (checked)
        no_trouble(line);
}

/* The operand as it is seen from a result of this shape: axes of extent 1 and missing ones stand still. */
static void broadcast(operand *o, const wp_array *a, const int64_t *shape, int64_t rank, int64_t line)
{
    int64_t mine = a->head.type->count;
    o->data = a->data;
    o->tag = element_tag(a->head.type);
    if (mine > rank)
        wp_deopt("shapes that do not fit", line);
    for (int64_t k = 0; k < rank; k++) {
        int64_t from = k - (rank - mine);
        if (from >= 0 && a->extent[from] != shape[k] && a->extent[from] != 1)
            wp_deopt("shapes that do not fit", line);
        o->strides[k] = from < 0 || (a->extent[from] == 1 && shape[k] != 1) ? 0 : a->extent[mine + from];
    }
}

/* A scalar that Python or NumPy has, as an element of this type. */
static void scalar_operand(operand *o, wp_val x, int64_t tag)
{
    memset(o, 0, sizeof *o);
    int is_float = x.tag == WP_FLOAT || x.tag >= WP_NP_FLOAT32;
    o->tag = tag == WP_NP_FLOAT64 || tag == WP_NP_FLOAT32 ? WP_NP_FLOAT64 : WP_NP_INT64;
    if (o->tag == WP_NP_FLOAT64)
        o->held.u.d = is_float ? x.u.d : (double)x.u.i;
    else if (x.tag < WP_NP)
        o->held.u.i = tag == WP_NP_BOOL ? x.u.i : wp_np_fit(x.u.i, tag, 0); /* Python's number is one of the type, or an error */
    else
        o->held.u.i = x.u.i;
    if (tag == WP_NP_FLOAT32)
        o->held.u.d = wp_f32_of_d(o->held.u.d, 0);
    o->data = (char *)&o->held.u;
}

static int overlaps(const wp_array *a, const wp_array *b)
{
    int64_t low_a, low_b, rank_a = a->head.type->count, rank_b = b->head.type->count;
    int64_t bytes_a = array_span(a->extent, a->extent + rank_a, rank_a, element_size(element_tag(a->head.type)), &low_a);
    int64_t bytes_b = array_span(b->extent, b->extent + rank_b, rank_b, element_size(element_tag(b->head.type)), &low_b);
    const char *start_a = a->data + low_a, *start_b = b->data + low_b;
    return start_a < start_b + bytes_b && start_b < start_a + bytes_a;
}

static int same_elements(const wp_array *a, const wp_array *b)
{
    return a->data == b->data && a->head.type->count == b->head.type->count &&
           memcmp(a->extent, b->extent, (size_t)a->head.type->count * 16) == 0 && element_tag(a->head.type) == element_tag(b->head.type);
}

/* Whether all of an array may be written; what is there is kept. */
static int64_t touch_all(wp_array *to, int64_t line)
{
    int64_t low, rank = to->head.type->count;
    int64_t bytes = array_span(to->extent, to->extent + rank, rank, element_size(element_tag(to->head.type)), &low);
    if (to->memory == NULL)
        return 1;
    if (bytes == 0) {
        if (!to->memory->writeable)
            wp_raise(WP_VALUE_ERROR, "assignment destination is read-only", line);
        return to->memory->writeable;
    }
    return wp_array_save(to->memory, to->data + low, bytes, line);
}

static wp_array *plain_copy(const wp_type *type, const wp_array *a, int64_t line)
{
    wp_array *made = array_to_fill(type, a->extent, line);
    int64_t rank = type->count;
    operand r, x;
    broadcast(&r, made, made->extent, rank, line);
    broadcast(&x, a, made->extent, rank, line);
    int64_t wide = x.tag >= WP_NP_FLOAT32 ? x.tag : WP_NP_INT64;
    with_float_flags('=' + 256, wide, made->extent, rank, &r, &x, NULL, line);
    return made;
}

wp_array *wp_array_copy(const wp_type *type, const wp_array *a, int64_t line)
{
    if (type->slots[0]->scalars == a->head.type->slots[0]->scalars && is_c_contiguous(a)) {
        wp_array *made = array_to_fill(type, a->extent, line);
        memcpy(made->data, a->data, (size_t)(wp_array_size(a, type->count) * element_size(element_tag(type))));
        return made;
    }
    return plain_copy(type, a, line);
}

int64_t wp_array_assign(wp_array *to, const wp_array *from, int64_t line)
{
    int64_t rank = to->head.type->count, extra = from->head.type->count - rank;
    operand r, x;
    wp_array *seen = NULL;
    if (extra > 0) { /* leading axes of extent 1 fall away */
        for (int64_t k = 0; k < extra; k++)
            if (from->extent[k] != 1)
                wp_deopt("shapes that do not fit", line);
        wp_deopt("an assignment of an array with more axes", line);
    }
    if (!touch_all(to, line))
        return 0;
    if (overlaps(to, from) && !same_elements(to, from))
        from = seen = wp_array_copy(from->head.type, from, line);
    broadcast(&r, to, to->extent, rank, line);
    broadcast(&x, from, to->extent, rank, line);
    with_float_flags('=' + 256, x.tag >= WP_NP_FLOAT32 ? x.tag : WP_NP_INT64, to->extent, rank, &r, &x, NULL, line);
    return 1 + (seen == to);
}

int64_t wp_array_fill(wp_array *to, wp_val value, int64_t line)
{
    int64_t rank = to->head.type->count;
    operand r, x = {0};
    if (!touch_all(to, line))
        return 0;
    broadcast(&r, to, to->extent, rank, line);
    x.held = value;
    x.tag = r.tag >= WP_NP_FLOAT32 ? WP_NP_FLOAT64 : WP_NP_INT64;
    x.data = (char *)&x.held.u;
    run_all('=' + 256, x.tag, to->extent, rank, &r, &x, NULL, line);
    return 1;
}

static const wp_array *array_of(wp_val v) { return kind_of(v) == WP_ARRAY ? v.u.p : NULL; }

/* NumPy lays a result out as its operands lie; here it is in C order, which is the same if they are. */
static void require_c_order(const wp_array *a, int64_t line)
{
    if (a != NULL && a->head.type->count > 1 && !is_c_contiguous(a))
        wp_deopt("arithmetic of arrays that are not in C order", line);
}

wp_array *wp_array_binary(const wp_type *type, wp_array *to, int64_t op, int64_t tag, wp_val left, wp_val right, int64_t line)
{
    const wp_array *a = array_of(left), *b = array_of(right);
    int64_t rank = type->count, shape[WP_MAX_RANK];
    operand r, x, y;
    for (int64_t k = 0; k < rank; k++) {
        int64_t p = a == NULL ? -1 : k - (rank - a->head.type->count), q = b == NULL ? -1 : k - (rank - b->head.type->count);
        int64_t m = p < 0 ? 1 : a->extent[p], n = q < 0 ? 1 : b->extent[q];
        shape[k] = m == 1 ? n : m;
    }
    if (to == NULL) {
        require_c_order(a, line);
        require_c_order(b, line);
        to = array_to_fill(type, shape, line);
    } else {
        if (memcmp(shape, to->extent, (size_t)rank * 8) != 0)
            wp_deopt("shapes that do not fit", line);
        if (!touch_all(to, line))
            return NULL;
        if (a != NULL && overlaps(to, a) && !same_elements(to, a))
            a = wp_array_copy(a->head.type, a, line);
        if (b != NULL && overlaps(to, b) && !same_elements(to, b))
            b = wp_array_copy(b->head.type, b, line);
    }
    broadcast(&r, to, shape, rank, line);
    if (a != NULL)
        broadcast(&x, a, shape, rank, line);
    else
        scalar_operand(&x, left, tag);
    if (b != NULL)
        broadcast(&y, b, shape, rank, line);
    else
        scalar_operand(&y, right, tag);
    with_float_flags(op, tag, shape, rank, &r, &x, &y, line);
    return to;
}

wp_array *wp_array_unary(const wp_type *type, int64_t op, int64_t tag, const wp_array *a, int64_t line)
{
    int64_t rank = type->count;
    operand r, x;
    require_c_order(a, line);
    wp_array *to = array_to_fill(type, a->extent, line);
    broadcast(&r, to, to->extent, rank, line);
    broadcast(&x, a, to->extent, rank, line);
    with_float_flags(op, tag, to->extent, rank, &r, &x, NULL, line);
    return to;
}

/* --- all elements in one --- */

static int64_t any_or_all(const wp_array *a, int64_t wanted)
{
    int64_t rank = a->head.type->count, tag = element_tag(a->head.type), count = wp_array_size(a, rank);
    int64_t at[WP_MAX_RANK] = {0}, inner = a->extent[rank - 1], stride = a->extent[2 * rank - 1];
    const char *p = a->data;
    double strip[STRIP];
    for (int64_t done = 0; done < count; done += inner) {
        for (int64_t k = 0; k < inner; k += STRIP) {
            int64_t n = inner - k < STRIP ? inner - k : STRIP;
            load_d(strip, p + k * stride, stride, n, tag);
            for (int64_t i = 0; i < n; i++)
                if ((strip[i] != 0.0) == wanted)
                    return 1;
        }
        for (int64_t axis = rank - 2; axis >= 0; axis--) {
            p += a->extent[rank + axis];
            if (++at[axis] < a->extent[axis])
                break;
            p -= a->extent[axis] * a->extent[rank + axis];
            at[axis] = 0;
        }
    }
    return 0;
}

/* The sum of whole numbers wraps as NumPy's does, and the least and largest have no order to keep. */
wp_val wp_array_reduce(int64_t op, const wp_array *a, int64_t line)
{
    int64_t rank = a->head.type->count, tag = element_tag(a->head.type), count = wp_array_size(a, rank);
    if (op == 'y')
        return wp_np_i(WP_NP_BOOL, any_or_all(a, 1));
    if (op == 'Y')
        return wp_np_i(WP_NP_BOOL, !any_or_all(a, 0));
    if (count == 0 && op != '+')
        wp_deopt("the least of no elements", line);
    int64_t at[WP_MAX_RANK] = {0}, inner = a->extent[rank - 1], stride = a->extent[2 * rank - 1], place = 0, found = 0, best = 0;
    double best_d = 0.0;
    int least = op == 'm' || op == 'i';
    const char *p = a->data;
    double strip_d[STRIP];
    int64_t strip_i[STRIP];
    uint64_t sum = 0;
    for (int64_t done = 0; done < count; done += inner) {
        for (int64_t k = 0; k < inner; k += STRIP) {
            int64_t n = inner - k < STRIP ? inner - k : STRIP;
            if (tag >= WP_NP_FLOAT32) {
                load_d(strip_d, p + k * stride, stride, n, tag);
                for (int64_t i = 0; i < n; i++) {
                    double e = strip_d[i];
                    if (e != e || (e == 0.0 && best_d == 0.0 && found && signbit(e) != signbit(best_d)))
                        wp_deopt("NaN or a negative zero among elements", line);
                    if (!found || (least ? e < best_d : e > best_d)) {
                        best_d = e;
                        place = done + k + i;
                        found = 1;
                    }
                }
                continue;
            }
            load_i(strip_i, p + k * stride, stride, n, tag);
            for (int64_t i = 0; i < n; i++) {
                int64_t e = strip_i[i];
                sum += (uint64_t)e;
                if (!found || (least ? e < best : e > best)) {
                    best = e;
                    place = done + k + i;
                    found = 1;
                }
            }
        }
        for (int64_t axis = rank - 2; axis >= 0; axis--) {
            p += a->extent[rank + axis];
            if (++at[axis] < a->extent[axis])
                break;
            p -= a->extent[axis] * a->extent[rank + axis];
            at[axis] = 0;
        }
    }
    if (op == '+')
        return wp_np_i(WP_NP_INT64, (int64_t)sum);
    if (op == 'i' || op == 'I')
        return wp_np_i(WP_NP_INT64, place);
    return tag >= WP_NP_FLOAT32 ? wp_np_d(tag, best_d) : wp_np_i(tag, best);
}

int64_t wp_array_has(const wp_array *a, wp_val x, int64_t tag)
{
    int64_t rank = a->head.type->count;
    operand e, s;
    wp_array *equal = array_like(a->head.type, a->extent, 0);
    operand r = {.tag = element_tag(a->head.type)};
    broadcast(&r, equal, equal->extent, rank, 0);
    broadcast(&e, a, equal->extent, rank, 0);
    scalar_operand(&s, x, tag);
    run_all('=', tag, equal->extent, rank, &r, &e, &s, 0);
    return any_or_all(equal, 1);
}

int64_t wp_array_is_c(const wp_array *a) { return is_c_contiguous(a); }
