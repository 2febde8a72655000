/* NumPy arrays and scalars in compiled plain Python.

   In: nothing; generated code that has arrays, and the run time, include this behind plain.h. Out: how an array lies in memory, its
   element access, and the arithmetic of NumPy's scalars. Wherever NumPy would warn (overflow, division by zero, an invalid value)
   the call deoptimises, and Python's NumPy does what it is told to do about it. */

#ifndef WEFT_PLAIN_ARRAYS_H
#define WEFT_PLAIN_ARRAYS_H

/* The memory of an array argument. Native code works in it directly; before a block of it is first written, its content is kept,
   and put back if the call deoptimises. */
typedef struct wp_memory {
    char *start; /* the lowest address */
    int64_t bytes;
    uint8_t *saved; /* a byte for each block; NULL: nothing was written yet */
    int32_t writeable;
    int32_t owned; /* by NumPy: nobody else, no other process, writes there */
    struct wp_memory *next;
} wp_memory;

typedef struct wp_array {
    wp_object head;
    char *data;            /* of the first element */
    wp_memory *memory;     /* NULL: memory of this call */
    void *block;           /* memory of this call */
    struct wp_array *base; /* of a view: whose memory it is */
    int64_t extent[];      /* the shape, then strides in bytes */
} wp_array;

enum { WP_BLOCK_BITS = 12, WP_MAX_RANK = 8 };

/* A part of an index: a place, a slice, or a new axis. */
typedef struct {
    int64_t kind;          /* 0, 1, 2 */
    int64_t start, count, step;
} wp_part;

int64_t wp_bad_index(int64_t i, int64_t axis, int64_t size, int64_t line); /* IndexError as NumPy says it; gives 0 */
int64_t wp_array_save(wp_memory *m, char *at, int64_t bytes, int64_t line); /* 0: it may not be written, and an exception is set */
wp_array *wp_array_new(const wp_type *type, const int64_t *shape, int64_t line); /* zeros */
wp_array *wp_array_view(const wp_type *type, wp_array *a, const wp_part *parts, int64_t count);
wp_array *wp_array_transposed(const wp_type *type, wp_array *a);
wp_array *wp_array_reshaped(const wp_type *type, wp_array *a, const int64_t *shape, int64_t line);
wp_array *wp_array_copy(const wp_type *type, const wp_array *a, int64_t line); /* in C order; elements are converted */
int64_t wp_array_assign(wp_array *to, const wp_array *from, int64_t line); /* to[...] = from; 0: an exception is set */
int64_t wp_array_fill(wp_array *to, wp_val x, int64_t line);               /* x has the type of the elements */
/* to[index] = x, of an array or a value that has the type of the elements */
void wp_array_scatter(wp_array *to, const wp_array *index, wp_val x, int64_t line);
/* to = a op b, element by element and computed in the type `tag`; `to` has the shape of the result, or is made. NULL: an exception. */
wp_array *wp_array_binary(const wp_type *type, wp_array *to, int64_t op, int64_t tag, wp_val a, wp_val b, int64_t line);
wp_array *wp_array_unary(const wp_type *type, int64_t op, int64_t tag, const wp_array *a, int64_t line);
wp_val wp_array_reduce(int64_t op, const wp_array *a, int64_t line); /* of all elements: any, all, least, largest, their places, whole sums */
int64_t wp_array_has(const wp_array *a, wp_val x, int64_t tag);
int64_t wp_array_is_c(const wp_array *a); /* in C order, without gaps */
double wp_np_pow(double a, double b, int64_t line);
__attribute__((cold)) void wp_np_unusual(double r, double a, double b, int64_t line); /* deoptimises unless an operand explains it */

/* --- elements --- */

static inline int64_t wp_axis(const wp_array *a, int64_t axis, int64_t i, int64_t line)
{
    int64_t n = a->extent[axis], k = i < 0 ? i + n : i;
    return WP_UNLIKELY((uint64_t)k >= (uint64_t)n) ? wp_bad_index(i, axis, n, line) : k;
}

/* Whether an address may be written; what is there is kept. */
static inline int64_t wp_touch(const wp_array *a, char *at, int64_t line)
{
    wp_memory *m = a->memory;
    if (m == 0 || WP_LIKELY(m->saved != 0 && m->saved[(uint64_t)(at - m->start) >> WP_BLOCK_BITS])) return 1;
    return wp_array_save(m, at, 1, line);
}

static inline int64_t wp_array_size(const wp_array *a, int64_t rank)
{
    int64_t size = 1;
    for (int64_t k = 0; k < rank; k++) size *= a->extent[k];
    return size;
}

/* --- scalars --- */

static inline wp_val wp_np_i(int64_t tag, int64_t x) { wp_val v; v.tag = tag; v.u.i = x; return v; }
static inline wp_val wp_np_d(int64_t tag, double x) { wp_val v; v.tag = tag; v.u.d = x; return v; }

/* x as a whole number of this type wraps it. */
static inline int64_t wp_np_wrap(int64_t x, int64_t tag)
{
    switch (tag) {
    case WP_NP_BOOL: return x != 0;
    case WP_NP_INT8: return (__INT8_TYPE__)x;
    case WP_NP_INT16: return (__INT16_TYPE__)x;
    case WP_NP_INT32: return (int32_t)x;
    case WP_NP_UINT8: return (uint8_t)x;
    case WP_NP_UINT16: return (uint16_t)x;
    case WP_NP_UINT32: return (uint32_t)x;
    default: return x;
    }
}

static inline int64_t wp_np_bits(int64_t tag)
{
    return tag == WP_NP_INT8 || tag == WP_NP_UINT8 ? 8 : tag == WP_NP_INT16 || tag == WP_NP_UINT16 ? 16 : tag == WP_NP_INT32 || tag == WP_NP_UINT32 ? 32 : 64;
}

static inline int64_t wp_np_fit(int64_t x, int64_t tag, int64_t line)
{
    if (WP_UNLIKELY(wp_np_wrap(x, tag) != x)) wp_deopt("a NumPy integer beyond its type", line);
    return x;
}

static inline int64_t wp_np_trunc(double x, int64_t tag, int64_t line)
{
    if (WP_UNLIKELY(!(x > -9223372036854775808.0 && x < 9223372036854775808.0))) wp_deopt("a float beyond integers", line);
    return wp_np_fit((int64_t)x, tag, line);
}

static inline double wp_f32_of_d(double x, int64_t line)
{
    double r = (float)x;
    if (WP_UNLIKELY(!(__builtin_fabs(r) <= __FLT_MAX__)) && __builtin_fabs(x) <= __DBL_MAX__) wp_deopt("a float beyond numpy.float32", line);
    return r;
}
static inline double wp_f32_of_i(int64_t x) { return (float)x; }

#define WP_NP_FLOATS(NAME, OP)                                                                                                   \
    static inline double wp_f64_##NAME(double a, double b, int64_t line)                                                        \
    {                                                                                                                            \
        double r = a OP b;                                                                                                       \
        if (WP_UNLIKELY(!(__builtin_fabs(r) <= __DBL_MAX__))) wp_np_unusual(r, a, b, line);                                     \
        return r;                                                                                                                \
    }                                                                                                                            \
    static inline double wp_f32_##NAME(double a, double b, int64_t line)                                                        \
    {                                                                                                                            \
        float r = (float)a OP (float)b;                                                                                          \
        if (WP_UNLIKELY(!(__builtin_fabsf(r) <= __FLT_MAX__))) wp_np_unusual(r, a, b, line);                                    \
        return r;                                                                                                                \
    }
WP_NP_FLOATS(add, +)
WP_NP_FLOATS(sub, -)
WP_NP_FLOATS(mul, *)
WP_NP_FLOATS(div, /)

/* Where a number is Python's or NumPy's, by the tags of the operands. */
static inline int64_t wp_either(int64_t a, int64_t b, int64_t plain, int64_t numpys) { return a == plain && b == plain ? plain : numpys; }
#define WP_EITHER_FLOATS(NAME, OP)                                                                                               \
    static inline wp_val wp_np_either_d_##NAME(wp_val a, wp_val b, int64_t line)                                                \
    {                                                                                                                            \
        double r = a.u.d OP b.u.d;                                                                                               \
        int64_t tag = wp_either(a.tag, b.tag, WP_FLOAT, WP_NP_FLOAT64);                                                         \
        if (WP_UNLIKELY(!(__builtin_fabs(r) <= __DBL_MAX__)) && tag != WP_FLOAT) wp_np_unusual(r, a.u.d, b.u.d, line);          \
        return wp_np_d(tag, r);                                                                                                  \
    }                                                                                                                            \
    static inline wp_val wp_np_either_i_##NAME(wp_val a, wp_val b, int64_t line)                                                \
    {                                                                                                                            \
        return wp_np_i(wp_either(a.tag, b.tag, WP_INT, WP_NP_INT64), wp_##NAME##_ii(a.u.i, b.u.i, line));                       \
    }
WP_EITHER_FLOATS(add, +)
WP_EITHER_FLOATS(sub, -)
WP_EITHER_FLOATS(mul, *)

/* NumPy's floor division and remainder are Python's for what is finite. */
static inline void wp_np_finite(double a, double b, int64_t line)
{
    if (WP_UNLIKELY(!(__builtin_fabs(a) <= __DBL_MAX__) || !(__builtin_fabs(b) <= __DBL_MAX__) || b == 0.0)) wp_deopt("a division that NumPy warns of", line);
}
static inline double wp_f64_floordiv(double a, double b, int64_t line) { wp_np_finite(a, b, line); return wp_floordiv_dd(a, b, line); }
static inline double wp_f64_mod(double a, double b, int64_t line) { wp_np_finite(a, b, line); return wp_mod_dd(a, b, line); }

static inline int64_t wp_np_add(int64_t a, int64_t b, int64_t tag, int64_t line)
{
    int64_t r;
    if (WP_UNLIKELY(__builtin_add_overflow(a, b, &r))) wp_deopt("a NumPy integer beyond its type", line);
    return wp_np_fit(r, tag, line);
}
static inline int64_t wp_np_sub(int64_t a, int64_t b, int64_t tag, int64_t line)
{
    int64_t r;
    if (WP_UNLIKELY(__builtin_sub_overflow(a, b, &r))) wp_deopt("a NumPy integer beyond its type", line);
    return wp_np_fit(r, tag, line);
}
static inline int64_t wp_np_mul(int64_t a, int64_t b, int64_t tag, int64_t line)
{
    int64_t r;
    if (WP_UNLIKELY(__builtin_mul_overflow(a, b, &r))) wp_deopt("a NumPy integer beyond its type", line);
    return wp_np_fit(r, tag, line);
}
static inline int64_t wp_np_floordiv(int64_t a, int64_t b, int64_t tag, int64_t line)
{
    if (WP_UNLIKELY(b == 0)) wp_deopt("a division that NumPy warns of", line);
    if (b == -1) return wp_np_sub(0, a, tag, line);
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int64_t wp_np_mod(int64_t a, int64_t b, int64_t tag, int64_t line)
{
    if (WP_UNLIKELY(b == 0)) wp_deopt("a division that NumPy warns of", line);
    if (b == -1) return 0;
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
static inline int64_t wp_np_pow_i(int64_t a, int64_t b, int64_t tag, int64_t line) { return wp_np_fit(wp_pow_ii(a, b, line), tag, line); }
static inline int64_t wp_np_shl(int64_t a, int64_t b, int64_t tag, int64_t line)
{
    if (WP_UNLIKELY((uint64_t)b >= (uint64_t)wp_np_bits(tag))) wp_deopt("a shift by more than the bits of the type", line);
    return wp_np_wrap((int64_t)((uint64_t)a << b), tag);
}
static inline int64_t wp_np_shr(int64_t a, int64_t b, int64_t tag, int64_t line)
{
    if (WP_UNLIKELY((uint64_t)b >= (uint64_t)wp_np_bits(tag))) wp_deopt("a shift by more than the bits of the type", line);
    return a >> b;
}

#endif
