/* What the run time of compiled plain Python uses of CPython beyond `python_api.h`, and what its files share.

   In: nothing. Out: prototypes of exported functions, object layouts that `entry.c` compares with the running interpreter at
   start, and the state of one call. */

#ifndef WEFT_PLAIN_API_H
#define WEFT_PLAIN_API_H

#include "python_api.h"
#include "plain.h"
#include "arrays.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

enum { METHOD_FASTCALL = 0x80 };
enum { SLOT_HASH = 59, SLOT_RICHCOMPARE = 67 };
enum { PY_LT, PY_LE, PY_EQ, PY_NE, PY_GT, PY_GE };

extern PyTypeObject PyFrozenSet_Type, PyRange_Type, PySlice_Type, PyBaseObject_Type, PyMemberDescr_Type;
extern PyObject *PyExc_IndexError, *PyExc_KeyError, *PyExc_ValueError, *PyExc_ZeroDivisionError, *PyExc_AttributeError,
    *PyExc_StopIteration, *PyExc_AssertionError, *PyExc_OverflowError, *PyExc_UnboundLocalError, *PyExc_NameError,
    *PyExc_BaseException;

PyObject *PyObject_Str(PyObject *);
int PyObject_IsTrue(PyObject *);
PyObject *PyObject_Repr(PyObject *);
PyObject *PyObject_ASCII(PyObject *);
PyObject *PyObject_Format(PyObject *, PyObject *);
Py_ssize_t PyObject_Hash(PyObject *);
PyObject *PyObject_RichCompare(PyObject *, PyObject *, int);
int PyObject_SetItem(PyObject *, PyObject *, PyObject *);
PyObject *PyObject_GenericGetDict(PyObject *, void *);
PyObject *PyObject_GenericGetAttr(PyObject *, PyObject *);
int PyObject_GenericSetAttr(PyObject *, PyObject *, PyObject *);
PyObject *PyObject_CallObject(PyObject *, PyObject *);
extern PyTypeObject PyByteArray_Type;
char *PyByteArray_AsString(PyObject *);
Py_ssize_t PyByteArray_Size(PyObject *);
int PyByteArray_Resize(PyObject *, Py_ssize_t);
PyObject *PyByteArray_FromStringAndSize(const char *, Py_ssize_t);
extern PyTypeObject PyComplex_Type;
double PyComplex_RealAsDouble(PyObject *);
double PyComplex_ImagAsDouble(PyObject *);
PyObject *PyComplex_FromDoubles(double, double);
PyObject *PyNumber_Add(PyObject *, PyObject *);
PyObject *PyNumber_Subtract(PyObject *, PyObject *);
PyObject *PyNumber_Multiply(PyObject *, PyObject *);
PyObject *PyNumber_TrueDivide(PyObject *, PyObject *);
PyObject *PyNumber_FloorDivide(PyObject *, PyObject *);
PyObject *PyNumber_Remainder(PyObject *, PyObject *);
PyObject *PyNumber_Power(PyObject *, PyObject *, PyObject *);
PyObject *PyNumber_Lshift(PyObject *, PyObject *);
PyObject *PyNumber_Rshift(PyObject *, PyObject *);
PyObject *PyNumber_And(PyObject *, PyObject *);
PyObject *PyNumber_Or(PyObject *, PyObject *);
PyObject *PyNumber_Xor(PyObject *, PyObject *);
PyObject *PyNumber_Long(PyObject *);
PyObject *PyNumber_Float(PyObject *);
int PyDict_Contains(PyObject *, PyObject *);
PyObject *PySet_New(PyObject *);
PyObject *PyFrozenSet_New(PyObject *);
int PySet_Add(PyObject *, PyObject *);
int PySet_Discard(PyObject *, PyObject *);
PyObject *PySlice_New(PyObject *, PyObject *, PyObject *);
PyObject *PyUnicode_FromString(const char *);
PyObject *PyUnicode_InternFromString(const char *);
PyObject *PyCFunction_NewEx(PyMethodDef *, PyObject *, PyObject *);
char *PyOS_double_to_string(double, char, int, int, int *);
double PyOS_string_to_double(const char *, char **, PyObject *);
void *PyMem_Malloc(size_t);
void PyMem_Free(void *);
int PyGC_Enable(void);
int PyGC_Disable(void);
int Py_GetRecursionLimit(void);
PyObject *PyEval_GetFrame(void);
PyObject *PyFrame_GetBack(PyObject *);
__attribute__((weak)) PyObject *_PyType_Lookup(PyTypeObject *, PyObject *); /* CPython's own; start.c looks whether it is there */
PyObject *PyObject_GetAttr(PyObject *, PyObject *);
int PyObject_SetAttr(PyObject *, PyObject *, PyObject *);
int PyObject_SetAttrString(PyObject *, const char *, PyObject *);
int PyType_IsSubtype(PyTypeObject *, PyTypeObject *);
PyObject *PySequence_Tuple(PyObject *);

typedef struct {
    PyObject base;
    Py_ssize_t size;
    PyObject *items[];
} TupleHead;

typedef struct {
    PyObject *key;
    Py_ssize_t hash;
} SetEntry;

typedef struct {
    PyObject base;
    Py_ssize_t fill, used, mask;
    SetEntry *table;
    Py_ssize_t hash, finger;
    SetEntry small[8];
} SetHead;

typedef struct {
    PyObject base;
    Py_ssize_t length, hash;
    uint32_t state;
} StrHead;

/* --- internals of containers that plain.h leaves open --- */

struct wp_buffer {
    int64_t used; /* bytes */
    int64_t capacity;
    uint8_t data[];
};

typedef struct {
    int32_t entry; /* -1: never used, -2: deleted */
    uint32_t hash;
} wp_place;

struct wp_dict {
    wp_object head;
    int64_t used;     /* live entries */
    int64_t count;    /* entries, dead ones included */
    int64_t first;    /* no live entry is before it */
    int64_t capacity; /* of entries */
    int64_t taken;    /* places of the index that are not free */
    int32_t bits;     /* the index has 1 << bits places; 0: none */
    int32_t stride, value_offset;
    char key_repr, value_repr;
    wp_place *index;
    char *entries; /* hash, key, value */
    wp_object *factory; /* of a defaultdict */
    int64_t changes;    /* of its keys */
};

struct wp_set {
    wp_object head;
    int64_t used, fill, mask, finger;
    int64_t hash; /* of a frozenset; -1: not computed */
    int32_t stride;
    char repr;
    char *table; /* hash, key */
};

struct wp_deque {
    wp_object head;
    int64_t length, capacity, start, maxlen, state;
    int64_t width;
    char *data;
    wp_val taken; /* the item taken last */
};

/* --- the state of one call --- */

enum { OBJECTS, REFERENCES, PLAIN, FLAVOURS };
enum { SMALL_CLASSES = 33, CLASSES = SMALL_CLASSES + 10 };

typedef struct chunk chunk;

typedef struct {
    char *bump, *end;
    chunk *first, *current;
} cells;

typedef struct large {
    size_t size;
    int32_t flavour, marked;
    int64_t position; /* in the table of large blocks */
    size_t room; /* bytes behind this head, of one that may be used again as it is; 0: it may not */
} large;

typedef struct {
    cells classes[FLAVOURS][CLASSES];
    uint64_t taken[FLAVOURS]; /* the classes that have chunks, as bits */
    large **blocks;
    int64_t block_count, block_capacity;
    size_t since, limit; /* bytes since the last collection, and when the next one is due */
    int used;            /* some memory was taken */
    int frozen;          /* no collection now: references are in places that are not searched */
    uint64_t number;     /* chunks belong to the call with this number */
} heap_state;

typedef struct {
    void *key, *value;
} pair;

typedef struct {
    pair *items;
    int64_t count, capacity;
    int32_t *index; /* of items, by the address that is the key; -1: free */
    int64_t places;
} pair_map;

typedef struct {
    PyObject **items;
    int64_t count, capacity;
} object_list;

typedef struct {
    wp_opaque **items;
    int64_t count, capacity;
} opaque_list;

typedef struct random_state random_state;

/* What a call has changed in memory of its arguments: see arrays.c. */
typedef struct saved_block saved_block;
typedef struct {
    const wp_str **pieces; /* not written yet */
    int64_t count, capacity, since;
    int64_t written; /* characters */
} output;

typedef struct watched watched; /* see sharing.c */

typedef struct context {
    int active;
    const wp_version *version;
    jmp_buf *back;
    heap_state heap;
    char *stack_base;
    object_list held;   /* references that the call keeps */
    pair_map known;     /* arguments that were converted in */
    pair_map changed;   /* those that may have to be written back */
    const char *reason; /* why it deoptimised */
    int64_t line;
    int anonymous; /* what is converted in is a copy of the call's own, and no argument */
    int raised; /* a Python exception ends the call */
    int64_t granted;       /* nested calls that were allowed so far */
    int64_t python_frames; /* around the call; 0: not counted yet */
    random_state *random;
    watched *watched; /* what other threads may change */
    int64_t watched_count, watched_capacity, watched_since /* 0: others have not run yet */, look_at;
    PyObject *still; /* a function of Python: whether what the code was made from is as it was; or NULL */
    saved_block *saved; /* the newest first */
    int64_t saved_bytes;
    wp_memory *memories;
    output output;
    void *own; /* variables of the version, while another call runs */
    opaque_list opaque; /* references that the heap owns */
    int nesting; /* of comparisons and hashes: cycles deoptimise */
    int64_t ticks, depth, handlers, unfinished; /* while another call runs */
    wp_object *exception;
} context;

/* The context of the running call, or one that is idle: all zero. While Python code runs, other calls find an idle one. */
static context first_context, *current_context = &first_context;
#define now (*current_context)

/* Without a handler Python raises an exception anew. A C host has no Python: there it is made, and ends the call. */
#ifdef WP_HOSTED
static void raised_at(int64_t line);
static inline int nobody_catches(void) { return 0; }
#else
static inline void raised_at(int64_t line) { (void)line; }
static inline int nobody_catches(void) { return wp_handlers <= 0; }
#endif

static void *heap_block(int flavour, int64_t bytes);
static int in_heap(const void *address);
static int stack_is_low(void);
static int64_t clock_now(void);
static context *suspend(void);
static void resume(context *);
static wp_object *bytearray_in(PyObject *o, const wp_type *type);
static PyObject *copy_out(wp_val value);
static int in_slot(PyObject *o, const wp_spec *spec, void *slot);
static int pair_add(pair_map *map, void *key, void *value);
static void *pair_find(const pair_map *map, const void *key);
static void hold(PyObject *o);
static wp_str *str_in(PyObject *o);
static int64_t equal_items(wp_val a, wp_val b);
static int64_t hash_pointer(const void *p);
static void raise_python(int64_t line);
static PyObject *array_out(wp_array *a);
static PyObject *scalar_out(wp_val v);
static int scalar_in(PyObject *o, wp_val *out);
static int scalar_is_same(PyObject *old, wp_val v);
static PyTypeObject *array_class;
static wp_object *opaque_in(PyObject *o, const wp_type *type);
static wp_opaque *opaque_of(const wp_type *type, PyObject *o);
static void release_opaque(void);
static void remember_in(PyObject *o, void *native, const wp_type *type);
static wp_object *complex_in(PyObject *o);
static PyObject *complex_out(const wp_complex *c);
static int wp_complex_mixes; /* a real operand is taken as complex with 0 as its imaginary part */
static PyObject *copy_state, *give_state; /* functions of Python: a copy of an object; the state of a copy for the object */
static PyObject *same_state; /* a function of Python: whether an object is as it was when it was copied */
static int64_t truth_of_opaque(const wp_opaque *o);
static int64_t hash_opaque(wp_val v);

static inline char item_repr(const wp_type *type) { return type->slots[0]->repr; }
static inline int64_t item_width(const wp_type *type) { return item_repr(type) == 'v' ? 16 : 8; }
static inline int flavour_of(char repr) { return repr == 'p' || repr == 'v' ? REFERENCES : PLAIN; }
static inline wp_object *object_of(wp_val v) { return v.tag == WP_PTR ? v.u.p : NULL; }
static inline int32_t kind_of(wp_val v) { return v.tag == WP_PTR ? ((wp_object *)v.u.p)->type->kind : 0; }

#endif
