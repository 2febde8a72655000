/* What stands for Python's objects where there is no Python.

   Files that are shared with the run time for Python hand numbers and texts to functions of its interface, and get results and
   exceptions back. Here such an object is a box around a native value, in the heap of the call; an exception that is set is the
   number of its class and a message. Nothing is ever counted: boxes go with the heap. */

#include "api.h"

typedef struct {
    PyObject base;
    wp_val value;
} box;

/* A class that compiled code names: what is asked of it. `slots`: how its objects compare, how they are hashed. */
typedef struct {
    PyTypeObject head;
    const void *slots[2];
    const char *name;
    int is_exception;
} hosted_class;

/* The name of an attribute. */
typedef struct {
    PyObject base;
    const char *text;
} hosted_name;

enum { HOSTED_CLASS = 0x77656674 }; /* in the flags of a class */

PyTypeObject PyFloat_Type, PyLong_Type, PyBool_Type, PyComplex_Type, PyList_Type, PyUnicode_Type, PyTuple_Type, PyBytes_Type,
    PyByteArray_Type, PyDict_Type, PySet_Type, PyFrozenSet_Type, PyRange_Type, PySlice_Type, PyBaseObject_Type, PyMemberDescr_Type;
PyObject _Py_NoneStruct, _Py_TrueStruct;

#define HOSTED_EXCEPTIONS(X)                                                                                                     \
    X(IndexError) X(KeyError) X(ValueError) X(TypeError) X(ZeroDivisionError) X(AttributeError) X(StopIteration) X(RuntimeError) \
    X(AssertionError) X(OverflowError) X(UnboundLocalError) X(NameError) X(Exception) X(BaseException)
#define HOSTED_ONE(NAME)                                                                                                         \
    static hosted_class hosted_##NAME = {.head = {.flags = HOSTED_CLASS}, .name = #NAME, .is_exception = 1};                    \
    PyObject *PyExc_##NAME = &hosted_##NAME.head.base;
HOSTED_EXCEPTIONS(HOSTED_ONE)

int64_t wp_ticks, wp_depth, wp_handlers, wp_unfinished;
wp_object *wp_exception;

/* --- the exception that is set --- */

static struct {
    PyObject *class; /* NULL: none */
    const char *message;
} pending;

static PyObject *failed(PyObject *class, const char *message)
{
    pending.class = class;
    pending.message = message;
    return NULL;
}

PyObject *PyErr_Occurred(void) { return pending.class; }
void PyErr_Clear(void) { pending.class = NULL; }
void Py_DecRef(PyObject *o) { (void)o; }
void Py_IncRef(PyObject *o) { (void)o; }

/* --- the end of a call --- */

__attribute__((noreturn)) void wp_deopt(const char *reason, int64_t line)
{
    now.reason = reason;
    if (line != 0)
        now.line = line;
    longjmp(*now.back, 1);
}

/* An exception is on its way: without a handler it ends the call. */
static void raised_at(int64_t line)
{
    now.line = line;
    if (wp_handlers <= 0)
        wp_deopt("an exception", line);
}

/* The exception that is set becomes a native one. */
static void raise_python(int64_t line)
{
    int which = 0;
    while (which < WP_EXCEPTIONS && wp_error_types[which].python != (void *)pending.class)
        which++;
    const char *message = pending.message;
    pending.class = NULL;
    if (which == WP_EXCEPTIONS)
        wp_deopt("an exception without a native form", line);
    wp_raise(which, message, line);
}

/* --- boxes --- */

static PyObject *boxed(wp_val v)
{
    box *made = heap_block(REFERENCES, sizeof *made);
    made->base.type = v.tag == WP_FLOAT ? &PyFloat_Type : v.tag == WP_INT ? &PyLong_Type : NULL;
    if (v.tag == WP_PTR && ((wp_object *)v.u.p)->type->kind == WP_STR)
        made->base.type = &PyUnicode_Type;
    if (v.tag == WP_PTR && ((wp_object *)v.u.p)->type->kind == WP_COMPLEX)
        made->base.type = &PyComplex_Type;
    made->value = v;
    return &made->base;
}

static wp_val unboxed(PyObject *o) { return ((box *)o)->value; }

static PyObject *copy_out(wp_val v) { return boxed(v); }
static wp_str *str_in(PyObject *o) { return unboxed(o).u.p; }
PyObject *PyFloat_FromDouble(double x) { return boxed(wp_of_d(x)); }
PyObject *PyLong_FromLongLong(long long x) { return boxed(wp_of_i(x)); }

/* --- classes --- */

void *PyType_GetSlot(PyTypeObject *class, int slot)
{
    if (class->flags != HOSTED_CLASS) /* a class of Python's own: all compare in a way of their own, but `object` */
        return class;
    const void *held = ((const hosted_class *)class)->slots[slot == SLOT_HASH];
    return held != NULL ? (void *)(uintptr_t)held : class;
}

int PyType_IsSubtype(PyTypeObject *class, PyTypeObject *base)
{
    return class->flags == HOSTED_CLASS && ((const hosted_class *)class)->is_exception && base == (PyTypeObject *)PyExc_BaseException;
}

PyObject *PyObject_GetAttrString(PyObject *o, const char *name) { return (void)o, (void)name, NULL; }
PyObject *_PyType_Lookup(PyTypeObject *class, PyObject *name) { return (void)class, (void)name, NULL; }
PyObject *PyUnicode_InternFromString(const char *text) { return (void)text, NULL; }
Py_ssize_t PyObject_Hash(PyObject *o) { return (Py_ssize_t)((uintptr_t)o >> 4); }

static PyTypeObject *class_of_kind(int32_t kind)
{
    return kind == WP_TUPLE ? &PyTuple_Type : kind == WP_DICT ? &PyDict_Type : NULL;
}

/* --- what has no meaning here --- */

static context *suspend(void) { return current_context; }
static void resume(context *kept) { (void)kept; }
static void release_opaque(void) {}
static int64_t truth_of_opaque(const wp_opaque *o) { return o != NULL; }
static int64_t hash_opaque(wp_val v) { return (void)v, (wp_deopt("a hash without a native form", 0), 0); }
