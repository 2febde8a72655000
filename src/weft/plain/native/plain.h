/* Values and run-time functions of compiled plain Python.

   In: nothing; generated code and the run time include this file, and it needs no other header. Out: how values lie in memory,
   what generated code may call, and the small operations that are inlined into it.

   A call is a transaction. Arguments are copied in, the function works on a heap of its own, and only when it has returned are
   results made and changed arguments written back. Whatever has no native answer (an integer beyond 64 bits, an exception that
   nobody catches) calls `wp_deopt`: the heap is dropped, nothing has happened, and Python runs the call. */

#ifndef WEFT_PLAIN_H
#define WEFT_PLAIN_H

typedef __INT64_TYPE__ int64_t;
typedef __UINT64_TYPE__ uint64_t;
typedef __INT32_TYPE__ int32_t;
typedef __UINT32_TYPE__ uint32_t;
typedef __UINT8_TYPE__ uint8_t;
typedef __UINT16_TYPE__ uint16_t;
typedef __SIZE_TYPE__ wp_size;

#define WP_LIKELY(x) __builtin_expect(!!(x), 1)
#define WP_UNLIKELY(x) __builtin_expect(!!(x), 0)

/* How a value is represented: one letter.
     i  a Python int, as int64_t          d  a Python float, as double          b  a bool, as int64_t 0 or 1
     p  a heap object, or NULL for None   v  any of these with a tag, as wp_val (16 bytes) */
enum { WP_NONE = 0, WP_INT = 1, WP_FLOAT = 2, WP_BOOL = 3, WP_PTR = 4, WP_UNSET = 5 };
/* NumPy scalars are values of their own and always tagged: whole ones and bools in u.i, floats in u.d. */
enum {
    WP_NP = 8, WP_NP_BOOL = WP_NP, WP_NP_INT8, WP_NP_INT16, WP_NP_INT32, WP_NP_INT64, WP_NP_UINT8, WP_NP_UINT16, WP_NP_UINT32,
    WP_NP_FLOAT32, WP_NP_FLOAT64, WP_NP_END
};

typedef struct {
    int64_t tag;
    union {
        int64_t i;
        double d;
        void *p;
    } u;
} wp_val;

enum {
    WP_STR = 1, WP_BYTES, WP_LIST, WP_TUPLE, WP_DICT, WP_SET, WP_FROZENSET, WP_DEQUE, WP_RANGE, WP_SLICE,
    WP_OBJECT, /* an instance of a user's class, or an exception */
    WP_FUNCTION, /* a Python callable that is known while compiling: function, class, builtin, module, enumeration member */
    WP_CLOSURE, /* a nested function with its cells */
    WP_METHOD, /* a bound method: slot 0 the object, slot 1 the function */
    WP_CELL, /* a variable that closures share: slot 0 */
    WP_ITERATOR, /* a generator or other iterator: a frame */
    WP_OPAQUE, /* an object of Python that is carried and not looked into */
    WP_COMPLEX,
    WP_BYTEARRAY, /* laid out as a LIST of ints */
    WP_NAMESPACE, /* a module or class of which some names are read and written: laid out as an OBJECT */
    WP_BUFFER, /* memory of a container: no references are found through it but through its owner */
    WP_ARRAY /* numpy.ndarray: see arrays.h */
};

struct wp_type;

/* What may stand in a place: its representation, which scalars (bit 1 << WP_NONE, ...), which heap types. */
typedef struct {
    char repr;
    uint32_t scalars;
    int32_t count;
    const struct wp_type *const *types;
} wp_spec;

/* A heap type. Generated code defines those that it needs; two heap objects of one kind may have different types.
   slots: LIST, SET, FROZENSET, DEQUE and TUPLE of any length: one for the items; DICT: key and value, and the factory
   of a defaultdict (repr p); TUPLE of fixed length,
   OBJECT, CLOSURE, CELL, ITERATOR: one for each slot. ARRAY: one for the elements; `count` is the rank. */
typedef struct wp_type {
    int32_t kind;
    int32_t count;               /* slots; -1: a tuple of any length (items as in a list) */
    int32_t size;                /* bytes of the object, for kinds with fixed slots */
    int32_t written;             /* objects of this type may have been changed: arguments are written back */
    const wp_spec *const *slots;
    const int32_t *offsets;      /* of each fixed slot in the object */
    void *python;                /* PyObject: the class of an OBJECT or named tuple or special dict; the callable of a FUNCTION */
    void *const *names;          /* PyObject (str) of each attribute of an OBJECT */
    const char *name;            /* for messages */
    int64_t (*equal)(void *, void *); /* of an OBJECT whose class defines it: with one of the same type */
    int64_t (*hash)(void *);          /* likewise */
    int32_t same_only;                /* it is equal to objects of its own class only */
} wp_type;

/* The head of every heap object. */
typedef struct wp_object {
    const wp_type *type;
    void *origin; /* the PyObject that this was made from (borrowed from the arguments), or NULL */
} wp_object;

/* Strings share buffers: `s + t` continues the buffer of `s` in place if `s` ends where its buffer does, so that building a
   string by += is linear. */
typedef struct {
    wp_object head;
    int64_t hash;  /* CPython's hash; -1: not computed */
    int64_t length;
    int32_t width; /* bytes a character: 1, 2 or 4; the least that holds all characters, as CPython has it */
    int32_t ascii;
    uint8_t *data;
    struct wp_buffer *buffer; /* NULL: the data are an argument's or static */
} wp_str; /* also bytes: width 1 */

typedef struct {
    wp_object head;
    int64_t length;
    int64_t capacity;
    char *data; /* items of 8 bytes, or 16 for repr v */
} wp_list; /* also WP_TUPLE of any length */

typedef struct {
    wp_object head;
    int64_t value[]; /* slots one after the other: 8 bytes each, 16 for repr v */
} wp_record; /* TUPLE of fixed length, CELL, CLOSURE, METHOD. OBJECT: value[0] is the mask of attributes that are set */
/* Bits beside that mask: an attribute was deleted; the order in which attributes were set is not that of the type. */
#define WP_DELETED ((int64_t)1 << 61)
#define WP_DISORDERED ((int64_t)1 << 62)

typedef struct {
    wp_object head;
    int64_t start, stop, step;
} wp_range;

typedef struct {
    wp_object head;
    void *object; /* PyObject, owned */
    void *inside; /* of a generator of random numbers: where its bits come from */
} wp_opaque;

typedef struct {
    wp_object head;
    double real, imag;
} wp_complex;

typedef struct wp_dict wp_dict;   /* insertion order as CPython's; entries by position */
typedef struct wp_set wp_set;     /* CPython's own table, so that iteration has CPython's order */
typedef struct wp_deque wp_deque; /* a ring */

/* --- state -------------------------------------------------------------------------------------------------------------- */

extern int64_t wp_ticks;        /* loops count it down; below zero: wp_poll */
extern int64_t wp_depth;        /* calls that may still nest */
extern int64_t wp_handlers;     /* try blocks around the current place: without one an exception deoptimises */
extern int64_t wp_unfinished;   /* generators that wait inside a block which Python would leave when it drops them */
extern wp_object *wp_exception; /* the exception on its way, or NULL */

__attribute__((noreturn)) void wp_deopt(const char *reason, int64_t line);
void wp_deeper(int64_t line); /* wp_depth is used up: look how deep Python is, and go on or deoptimise */
void wp_poll(void); /* Ctrl-C and other signals; lets other threads run; may not return */

#define WP_POLL() do { if (WP_UNLIKELY(--wp_ticks < 0)) wp_poll(); } while (0)

/* --- memory -------------------------------------------------------------------------------------------------------------
   A conservative mark-and-sweep collector: the stack and registers are searched for addresses (also of the inside of a
   block), heap objects by their types. Memory comes zeroed. */
void *wp_new(const wp_type *type);              /* type->size bytes, head filled in */
wp_list *wp_list_new(const wp_type *type, int64_t length, int64_t capacity);
wp_dict *wp_dict_new(const wp_type *type);
wp_set *wp_set_new(const wp_type *type);
wp_deque *wp_deque_new(const wp_type *type, int64_t maxlen /* -1: none */);

/* --- exceptions ---------------------------------------------------------------------------------------------------------
   Sets wp_exception if a handler is near (wp_handlers > 0), else deoptimises. `which` is an index into the table of
   builtin exceptions; the message is CPython's, or NULL if it is not known (whoever looks at it then deoptimises). */
enum {
    WP_INDEX_ERROR, WP_KEY_ERROR, WP_VALUE_ERROR, WP_TYPE_ERROR, WP_ZERO_DIVISION, WP_ATTRIBUTE_ERROR, WP_STOP_ITERATION,
    WP_RUNTIME_ERROR, WP_ASSERTION_ERROR, WP_OVERFLOW_ERROR, WP_UNBOUND_LOCAL, WP_NAME_ERROR, WP_EXCEPTIONS
};
void wp_raise(int32_t which, const char *message, int64_t line);
void wp_raise_key(wp_val key, int64_t line); /* KeyError(key) */
/* What wp_raise makes: an OBJECT of one of these types. value[0]: 1 if `argument` is the only argument, 2 if there is none, 0 if
   the message is not known. */
typedef struct {
    wp_object head;
    int64_t mask;
    wp_val argument;
} wp_error;
extern wp_type wp_error_types[WP_EXCEPTIONS];
wp_object *wp_error_new(int32_t which, wp_val argument /* WP_UNSET: none */);
wp_val wp_error_argument(const wp_object *error, int64_t line); /* e.args[0]; deoptimises where it is not known */

/* --- values in general: by tag and type ----------------------------------------------------------------------------------- */
int64_t wp_equal(wp_val a, wp_val b);            /* ==, as CPython has it for builtin types; deoptimises on what it cannot compare
                                                    (objects with __eq__, NaN inside containers: identity would matter) */
int64_t wp_less(wp_val a, wp_val b);             /* <; TypeError where Python has it */
int64_t wp_hash(wp_val a);                       /* CPython's hash; TypeError for unhashable ones; objects: deoptimise unless hashed by identity */
int64_t wp_truth(wp_val a);                      /* bool() of builtin types; objects: 1 */
wp_str *wp_to_str(wp_val a);                     /* str(); deoptimises for objects */
wp_str *wp_to_repr(wp_val a);                    /* repr() */
wp_val wp_arith(int32_t op, wp_val a, wp_val b, int64_t line); /* numbers of any mix; op is a character: + - * / % '_' for // and '^' for ** */
wp_val wp_from_slot(const void *slot, char repr);
int64_t wp_is(wp_val a, wp_val b);               /* identity of heap objects, None and bools */

static inline wp_val wp_of_i(int64_t x) { wp_val v; v.tag = WP_INT; v.u.i = x; return v; }
static inline wp_val wp_of_d(double x) { wp_val v; v.tag = WP_FLOAT; v.u.d = x; return v; }
static inline wp_val wp_of_b(int64_t x) { wp_val v; v.tag = WP_BOOL; v.u.i = x; return v; }
static inline wp_val wp_of_p(const void *x) { wp_val v; v.tag = x ? WP_PTR : WP_NONE; v.u.p = (void *)x; return v; }
static inline wp_val wp_unset(void) { wp_val v; v.tag = WP_UNSET; v.u.i = 0; return v; }

/* --- numbers: Python's rules ---------------------------------------------------------------------------------------------- */
int64_t wp_pow_ii(int64_t a, int64_t b, int64_t line); /* b >= 0, else deoptimises; overflow deoptimises */
double wp_pow_dd(double a, double b, int64_t line);    /* OverflowError, ZeroDivisionError as Python; complex results deoptimise */
int64_t wp_floordiv_any(int64_t a, int64_t b, int64_t line);
int64_t wp_mod_any(int64_t a, int64_t b, int64_t line);
double wp_floordiv_dd(double a, double b, int64_t line);
double wp_mod_dd(double a, double b, int64_t line);
double wp_truediv_ii(int64_t a, int64_t b, int64_t line); /* correctly rounded, as Python */
int64_t wp_int_of_d(double x, int64_t line);           /* int(x): NaN and infinity raise, beyond 64 bits deoptimises */
int64_t wp_int_of_str(const wp_str *s, int64_t base, int64_t line); /* int(s, base): ValueError with CPython's message */
double wp_float_of_str(const wp_str *s, int64_t line);
int64_t wp_round_d(double x, int64_t line);            /* round(x) */
double wp_round_dn(double x, int64_t digits);          /* round(x, n) as CPython */
int64_t wp_compare_id(int64_t a, double b);            /* exact comparison of int and float: -1, 0, 1; 2 for NaN */
int64_t wp_bit_length(int64_t a);

static inline int64_t wp_add_ii(int64_t a, int64_t b, int64_t line) { int64_t r; if (WP_UNLIKELY(__builtin_add_overflow(a, b, &r))) wp_deopt("an integer beyond 64 bits", line); return r; }
static inline int64_t wp_sub_ii(int64_t a, int64_t b, int64_t line) { int64_t r; if (WP_UNLIKELY(__builtin_sub_overflow(a, b, &r))) wp_deopt("an integer beyond 64 bits", line); return r; }
static inline int64_t wp_mul_ii(int64_t a, int64_t b, int64_t line) { int64_t r; if (WP_UNLIKELY(__builtin_mul_overflow(a, b, &r))) wp_deopt("an integer beyond 64 bits", line); return r; }
/* By a positive number, mostly a constant: a few instructions where they are used. */
static inline int64_t wp_floordiv_ii(int64_t a, int64_t b, int64_t line) { return WP_LIKELY(b > 0) ? a / b - (a % b < 0) : wp_floordiv_any(a, b, line); }
static inline int64_t wp_mod_ii(int64_t a, int64_t b, int64_t line) { if (WP_UNLIKELY(b <= 0)) return wp_mod_any(a, b, line); int64_t r = a % b; return r < 0 ? r + b : r; }
int64_t wp_shl_ii(int64_t a, int64_t b, int64_t line);
int64_t wp_shr_ii(int64_t a, int64_t b, int64_t line);

double wp_exp(double), wp_expm1(double), wp_log(double), wp_log2(double), wp_log10(double), wp_log1p(double), wp_sinh(double),
    wp_cosh(double), wp_asin(double), wp_acos(double), wp_atan2(double, double), wp_pow(double, double), wp_fmod(double, double);

/* Integers of any size: values of kind int, or of wp_big_type where 64 bits do not hold them. op as in wp_arith, and < > & | x. */
extern wp_type wp_big_type;
wp_val wp_wide(int32_t op, wp_val a, wp_val b, int64_t line);
int64_t wp_pow_mod(int64_t base, int64_t exponent, int64_t modulus, int64_t line); /* pow(base, exponent, modulus) */
/* Objects of Python as operands. The result is converted by its specification; what does not fit deoptimises. */
wp_val wp_binary_python(int32_t op, wp_val a, wp_val b, const wp_spec *result, int64_t line);
int64_t wp_compare_python(int32_t op, wp_val a, wp_val b, int64_t line); /* op: 0 <, 1 <=, 2 ==, 3 !=, 4 >, 5 >=; -1 if it raised */

extern wp_type wp_bytearray_type;
void *wp_bytearray_of(const wp_str *bytes);
wp_str *wp_bytes_of(const wp_list *array);
extern wp_type wp_complex_type;
void *wp_complex_new(double real, double imag);
void *wp_complex_op(int32_t op, wp_val a, wp_val b, int64_t line); /* + - * / ^, one operand at least complex, the other one a number */
double wp_complex_abs(double real, double imag, int64_t line);
extern int64_t wp_complex_exact; /* CPython rounds each product before it adds */
double wp_complex_product(double a, double b, double c, double d, int64_t imaginary);

/* --- lists. Slot addresses are checked by the inline functions; wp_list_grow makes room for one more ------------------------- */
void wp_list_grow(wp_list *l, int64_t width);
#define WP_WIDTH(repr) ((repr) == 'v' ? 16 : 8)

static inline int64_t wp_index(int64_t i, int64_t n) { return i < 0 ? i + n : i; }

/* Names end in the representation of the items: wp_list_get_i, wp_list_append_v, ... */
#define WP_LIST_INLINE(R, T)                                                                                                     \
    static inline T wp_list_get_##R(const wp_list *l, int64_t i, int64_t line)                                                  \
    {                                                                                                                            \
        int64_t k = i < 0 ? i + l->length : i;                                                                                  \
        if (WP_UNLIKELY((uint64_t)k >= (uint64_t)l->length)) { wp_raise(WP_INDEX_ERROR, "list index out of range", line); T z; __builtin_memset(&z, 0, sizeof z); return z; } \
        return ((T *)l->data)[k];                                                                                               \
    }                                                                                                                            \
    static inline void wp_list_set_##R(wp_list *l, int64_t i, T x, int64_t line)                                                \
    {                                                                                                                            \
        int64_t k = i < 0 ? i + l->length : i;                                                                                  \
        if (WP_UNLIKELY((uint64_t)k >= (uint64_t)l->length)) { wp_raise(WP_INDEX_ERROR, "list assignment index out of range", line); return; } \
        ((T *)l->data)[k] = x;                                                                                                  \
    }                                                                                                                            \
    static inline void wp_list_append_##R(wp_list *l, T x)                                                                      \
    {                                                                                                                            \
        if (WP_UNLIKELY(l->length == l->capacity)) wp_list_grow(l, sizeof(T));                                                  \
        ((T *)l->data)[l->length++] = x;                                                                                        \
    }
WP_LIST_INLINE(i, int64_t)
WP_LIST_INLINE(b, int64_t)
WP_LIST_INLINE(d, double)
WP_LIST_INLINE(p, void *)
WP_LIST_INLINE(v, wp_val)

/* The others work on bytes: `width` is 8 or 16 as the list's type says. */
wp_list *wp_list_slice(const wp_type *type, const wp_list *l, int64_t start, int64_t stop, int64_t step); /* bounds as given by wp_slice_bounds */
void wp_list_set_slice(wp_list *l, int64_t start, int64_t stop, const wp_list *items, int64_t line);       /* l[start:stop] = items, step 1 */
void wp_list_set_extended(wp_list *l, int64_t start, int64_t stop, int64_t step, const wp_list *items, int64_t line); /* ValueError for sizes */
void wp_list_delete_slice(wp_list *l, int64_t start, int64_t stop, int64_t step);
void wp_list_extend(wp_list *l, const wp_list *items); /* same representation of items; may be the same list */
void wp_list_insert_room(wp_list *l, int64_t index);   /* opens a zeroed slot at the clamped index; see wp_list_clamp */
int64_t wp_list_clamp(const wp_list *l, int64_t index);
void wp_list_remove_at(wp_list *l, int64_t index, int64_t line); /* closes the slot; index already normalised and checked */
int64_t wp_list_pop_index(wp_list *l, int64_t index, int64_t line); /* normalised index, or IndexError as list.pop has it (then -1) */
wp_list *wp_list_repeat(const wp_type *type, const wp_list *l, int64_t times);
void wp_list_repeat_in_place(wp_list *l, int64_t times);
wp_list *wp_list_concat(const wp_type *type, const wp_list *a, const wp_list *b);
void wp_list_reverse(wp_list *l);
void wp_list_sort(wp_list *l, int64_t reverse, int64_t line); /* items int, float, bool or str, or tuples of builtin types by wp_less: stable, as list.sort */
int64_t wp_list_find(const wp_list *l, wp_val x, int64_t start, int64_t stop); /* first position of an equal item, or -1 */
/* start, stop, step of a slice (tags WP_NONE or WP_INT) for a length, as slice.indices; step 0: ValueError */
void wp_slice_bounds(wp_val start, wp_val stop, wp_val step, int64_t length, int64_t *out /* 3 */, int64_t line);
int64_t wp_range_length(int64_t start, int64_t stop, int64_t step);

/* --- dicts: functions end in the representation of the key: i b d p v. They give the address of the value's slot ---------------- */
#define WP_DICT_DECLARE(R, T)                                                                                                    \
    void *wp_dict_find_##R(wp_dict *d, T key);          /* NULL: not there */                                                   \
    void *wp_dict_put_##R(wp_dict *d, T key, int64_t *fresh); /* a slot for the key; *fresh = 1 if it was not there (slot zeroed) */ \
    int64_t wp_dict_delete_##R(wp_dict *d, T key);      /* 1 if it was there */
WP_DICT_DECLARE(i, int64_t)
WP_DICT_DECLARE(b, int64_t)
WP_DICT_DECLARE(d, double)
WP_DICT_DECLARE(p, void *)
WP_DICT_DECLARE(v, wp_val)
int64_t wp_dict_length(const wp_dict *d);
int64_t wp_dict_state(const wp_dict *d);                  /* changes whenever a key comes or goes */
int64_t wp_dict_next(const wp_dict *d, int64_t position); /* the first entry at or after this position, or -1 */
int64_t wp_dict_last(const wp_dict *d);                   /* position of the newest entry, or -1 */
int64_t wp_dict_before(const wp_dict *d, int64_t position); /* the last entry before this position, or -1: for reversed() */
void *wp_dict_key_at(const wp_dict *d, int64_t position);   /* address of the key's slot */
void *wp_dict_value_at(const wp_dict *d, int64_t position);
void wp_dict_delete_at(wp_dict *d, int64_t position);
void wp_dict_clear(wp_dict *d);
wp_dict *wp_dict_copy(const wp_type *type, const wp_dict *d);
void wp_dict_move_to_end(wp_dict *d, int64_t position, int64_t last); /* OrderedDict */
int64_t wp_dict_equal(const wp_dict *a, const wp_dict *b);
void *wp_dict_factory(wp_dict *d);                           /* address of a defaultdict's factory: a heap object or NULL */
int64_t wp_dict_position(const wp_dict *d, const void *slot); /* of the entry that this value's slot belongs to */

/* --- sets (and frozensets): CPython's table and its order ------------------------------------------------------------------------ */
#define WP_SET_DECLARE(R, T)                                                                                                     \
    int64_t wp_set_has_##R(wp_set *s, T key);                                                                                   \
    int64_t wp_set_add_##R(wp_set *s, T key);     /* 1 if it was not there */                                                   \
    int64_t wp_set_discard_##R(wp_set *s, T key); /* 1 if it was there */
WP_SET_DECLARE(i, int64_t)
WP_SET_DECLARE(b, int64_t)
WP_SET_DECLARE(d, double)
WP_SET_DECLARE(p, void *)
WP_SET_DECLARE(v, wp_val)
int64_t wp_set_length(const wp_set *s);
int64_t wp_set_next(const wp_set *s, int64_t position); /* the first used place at or after, or -1 */
void *wp_set_key_at(const wp_set *s, int64_t position);
void wp_set_clear(wp_set *s);
int64_t wp_set_pop_place(wp_set *s); /* the place that set.pop() would take, or -1; then wp_set_remove_at */
void wp_set_remove_at(wp_set *s, int64_t place);
wp_set *wp_set_copy(const wp_type *type, const wp_set *s);
void wp_set_update(wp_set *s, const wp_set *other);
wp_set *wp_set_union(const wp_type *type, const wp_set *a, const wp_set *b);
wp_set *wp_set_intersection(const wp_type *type, const wp_set *a, const wp_set *b);
wp_set *wp_set_difference(const wp_type *type, const wp_set *a, const wp_set *b);
wp_set *wp_set_symmetric(const wp_type *type, const wp_set *a, const wp_set *b);
void wp_set_intersection_update(wp_set *a, const wp_set *b); /* a &= b, with CPython's resulting order; likewise the next two */
void wp_set_difference_update(wp_set *a, const wp_set *b);
void wp_set_symmetric_update(wp_set *a, const wp_set *b);
int64_t wp_set_subset(const wp_set *a, const wp_set *b); /* a <= b */
int64_t wp_set_disjoint(const wp_set *a, const wp_set *b);
int64_t wp_set_equal(const wp_set *a, const wp_set *b);
void wp_set_update_list(wp_set *s, const wp_list *items); /* set(list), s.update(list): one by one */
void wp_set_update_dict(wp_set *s, const wp_dict *keys);  /* set(dict): CPython presizes here */

/* --- deques ------------------------------------------------------------------------------------------------------------------------ */
int64_t wp_deque_length(const wp_deque *q);
int64_t wp_deque_maxlen(const wp_deque *q);
void *wp_deque_at(const wp_deque *q, int64_t index, int64_t line);  /* address of a slot; IndexError "deque index out of range" (then NULL) */
void *wp_deque_push(wp_deque *q);       /* room on the right; drops the left item when bounded; the slot's address, NULL if maxlen is 0 */
void *wp_deque_push_left(wp_deque *q);
void *wp_deque_pop(wp_deque *q, int64_t line);      /* address of the item taken (valid until the next change); IndexError "pop from an empty deque" (NULL) */
void *wp_deque_pop_left(wp_deque *q, int64_t line);
void wp_deque_clear(wp_deque *q);
void wp_deque_rotate(wp_deque *q, int64_t n);
wp_deque *wp_deque_copy(const wp_type *type, const wp_deque *q);
int64_t wp_deque_state(const wp_deque *q); /* changes with every change of length: iteration raises RuntimeError "deque mutated during iteration" */

/* --- strings and bytes ---------------------------------------------------------------------------------------------------------------- */
extern const wp_type wp_str_type, wp_bytes_type;
wp_str *wp_str_char(uint32_t code);                       /* chr(); cached below 256; surrogates and > 0x10FFFF: caller checks */
wp_str *wp_str_item(const wp_str *s, int64_t i, int64_t line); /* s[i]; IndexError "string index out of range" */
wp_str *wp_str_slice(const wp_str *s, int64_t start, int64_t stop, int64_t step); /* bounds from wp_slice_bounds */
wp_str *wp_str_concat(wp_str *a, wp_str *b);              /* linear when repeated, see above */
wp_str *wp_str_repeat(const wp_str *s, int64_t times);
int64_t wp_str_equal(const wp_str *a, const wp_str *b);
int64_t wp_str_compare(const wp_str *a, const wp_str *b); /* -1, 0, 1 by code points */
int64_t wp_str_find(const wp_str *s, const wp_str *part, int64_t start, int64_t stop);  /* start/stop as str.find takes them after None -> 0/length; -1 */
int64_t wp_str_rfind(const wp_str *s, const wp_str *part, int64_t start, int64_t stop);
int64_t wp_str_count(const wp_str *s, const wp_str *part, int64_t start, int64_t stop);
int64_t wp_str_starts(const wp_str *s, const wp_str *part, int64_t start, int64_t stop);
int64_t wp_str_ends(const wp_str *s, const wp_str *part, int64_t start, int64_t stop);
wp_str *wp_str_join(const wp_str *separator, const wp_list *parts); /* parts: list or tuple of any length with repr p */
wp_list *wp_str_split(const wp_type *list_type, const wp_str *s, const wp_str *separator /* NULL: whitespace */, int64_t most, int64_t line);
wp_list *wp_str_rsplit(const wp_type *list_type, const wp_str *s, const wp_str *separator, int64_t most, int64_t line);
wp_list *wp_str_splitlines(const wp_type *list_type, const wp_str *s, int64_t keepends);
wp_list *wp_str_chars(const wp_type *list_type, const wp_str *s); /* list(s) */
wp_str *wp_str_replace(const wp_str *s, const wp_str *old, const wp_str *new_, int64_t most /* -1: all */);
wp_str *wp_str_strip(const wp_str *s, const wp_str *chars /* NULL: whitespace */, int64_t sides /* 1 left, 2 right, 3 both */);
wp_str *wp_str_upper(const wp_str *s);
wp_str *wp_str_lower(const wp_str *s);
/* Tests of characters: which is one of "isalpha" "isdigit" "isalnum" "isspace" "isupper" "islower" "isdecimal" "isnumeric" "istitle" "isidentifier" "isprintable" "isascii" by index */
int64_t wp_str_test(const wp_str *s, int32_t which);
int64_t wp_str_ord(const wp_str *s, int64_t line);        /* ord(): TypeError unless one character */
wp_str *wp_str_of_i(int64_t x);                           /* str(int) */
wp_str *wp_str_of_d(double x);                            /* repr(float) */
int64_t wp_bytes_item(const wp_str *s, int64_t i, int64_t line);
static inline int64_t wp_str_length(const wp_str *s) { return s->length; }
static inline uint32_t wp_str_code(const wp_str *s, int64_t i) /* i in bounds */
{
    return s->width == 1 ? s->data[i] : s->width == 2 ? ((const uint16_t *)s->data)[i] : ((const uint32_t *)s->data)[i];
}

/* --- everything else: a pure Python callable, with arguments copied out and the result copied in ------------------------------------ */
/* Calls python(*args); an exception it raises is raised natively if a handler is near (message kept), else deoptimises. The result is
   converted by `result`; what does not fit deoptimises. Only used for callables that have no effect and keep no argument. */
wp_val wp_call_python(void *python, const wp_val *args, int64_t count, const wp_spec *result, int64_t line);
/* The same for a method: str.center, float.hex, int.to_bytes ... */
wp_val wp_call_method(const char *name, const wp_val *args /* self first */, int64_t count, const wp_spec *result, int64_t line);
wp_str *wp_format(wp_val value, const wp_str *spec, int64_t conversion /* 0, 's', 'r', 'a' */, int64_t line); /* f"{value!c:spec}" */

/* --- random numbers: the state of the module `random`, taken at first use and written back on return --------------------------------- */
double wp_random(void);                   /* random.random() */
double wp_random_gauss(void);             /* random.gauss(0.0, 1.0) */
void wp_random_seed(wp_val seed, int64_t line); /* random.seed(seed) */
int64_t wp_random_bits(int64_t bits);     /* getrandbits, up to 63 */
/* The same of NumPy's generators: */
double wp_draw_double(void *generator, int64_t line);
double wp_draw_normal(void *generator, int64_t line);
double wp_draw_exponential(void *generator, int64_t line);
double wp_numpy_one(int64_t place, double x, int64_t line); /* a ufunc of one number, by its place in a list */
double wp_numpy_two(int64_t place, double x, double y, int64_t line);
/* A function of NumPy of whole arrays by a route of the run time's own, where one suits the arguments; else as wp_call_python. `place`:
   of the loop that it uses. */
enum {
    WP_ROUTE_EACH, WP_ROUTE_POWER, WP_ROUTE_SUM, WP_ROUTE_PRODUCT, WP_ROUTE_EXTREME, WP_ROUTE_MEAN, WP_ROUTE_VARIANCE, WP_ROUTE_DEVIATION,
    WP_ROUTE_RUNNING_SUM, WP_ROUTE_MATMUL, WP_ROUTE_NORM, WP_ROUTE_WHERE, WP_ROUTE_GATHER, WP_ROUTE_SEARCH_LEFT, WP_ROUTE_SEARCH_RIGHT,
    WP_ROUTE_JOINED, WP_ROUTE_ROWS, WP_ROUTE_SORT, WP_ROUTE_ARGSORT, WP_ROUTE_UNIQUE, WP_ROUTE_MEDIAN, WP_ROUTE_BINCOUNT, WP_ROUTE_DIFF,
    WP_ROUTE_OUTER, WP_ROUTES
};
wp_val wp_call_numpy(int64_t route, int64_t place, void *python, const wp_val *args, int64_t count, const wp_spec *result, int64_t line);
int64_t wp_draw_whole(void *generator, int64_t low, int64_t high, int64_t masked, int64_t line);

/* --- output: what `print` writes, piece by piece; it is written when the call has returned, or has run for a while -------------------- */
void wp_print(const wp_str *piece);
void wp_flush(void);

/* --- entry -------------------------------------------------------------------------------------------------------------------------------
   One compiled version. `kernel` gets converted arguments side by side (8 bytes, 16 for v) and leaves its result in *result. */
typedef struct {
    int32_t count;                       /* arguments, hidden ones (globals, cells) included */
    const wp_spec *const *arguments;
    const wp_spec *result;
    void (*kernel)(int64_t *arguments, int64_t *result);
    void *own;         /* static variables of the kernel, kept apart for each call that waits */
    int64_t own_size;
} wp_version;

#endif
