/* The part of CPython and of NumPy that the core uses, declared by hand.

   In: nothing; no Python or NumPy header is needed, so the core builds on machines that have a C compiler and a Python
   without its development files. Out: prototypes of exported functions, and the heads of four object layouts that have
   not changed from CPython 3.10 to 3.14 (builds with a global interpreter lock) and from NumPy 1.7 on. `layout_agrees`
   in core.c compares them with the running interpreter before anything else is done. */

#ifndef WEFT_PYTHON_API_H
#define WEFT_PYTHON_API_H

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1 /* pthread_getattr_np */
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef ptrdiff_t Py_ssize_t;
typedef struct type_object PyTypeObject;

typedef struct object {
    Py_ssize_t refcount;
    PyTypeObject *type;
} PyObject;

/* Only addresses of type objects are used, and the word of flags, whose place is checked against PyType_GetFlags. */
struct type_object {
    PyObject base;
    void *before_flags[19];
    unsigned long flags;
};

typedef struct thread_state PyThreadState;
typedef PyObject *(*vectorcall)(PyObject *, PyObject *const *, size_t, PyObject *);
typedef int (*visitor)(PyObject *, void *);

typedef struct {
    PyObject base;
    double value;
} FloatHead;

/* Not the same in all versions: see lists.c, which tries it out. */
typedef struct {
    PyObject base;
    Py_ssize_t tag;
    uint32_t digit;
} LongHead;

typedef struct {
    PyObject base;
    Py_ssize_t size;
    PyObject **items;
} ListHead;

typedef struct {
    PyObject base;
    PyTypeObject *scalar_type;
    char kind, type, byteorder, former_flags;
    int type_number;
} DescriptorHead;

typedef struct {
    PyObject base;
    char *data;
    int rank;
    Py_ssize_t *shape, *strides;
    PyObject *owner;
    DescriptorHead *descriptor;
    int flags;
} ArrayHead;

/* A NumPy scalar keeps its value right behind the object head. */
typedef struct {
    PyObject base;
    char value[16];
} ScalarHead;

enum { ARRAY_C = 1, ARRAY_F = 2, ARRAY_ALIGNED = 0x100, ARRAY_WRITEABLE = 0x400 };
#define ARRAY_WARN_ON_WRITE ((int)(1u << 31))

typedef struct {
    const char *name;
    PyObject *(*function)(PyObject *, PyObject *);
    int flags;
    const char *doc;
} PyMethodDef;

typedef struct {
    const char *name;
    int type;
    Py_ssize_t offset;
    int flags;
    const char *doc;
} PyMemberDef;

typedef struct {
    int slot;
    void *function;
} PyType_Slot;

typedef struct {
    const char *name;
    int basicsize, itemsize;
    unsigned int flags;
    PyType_Slot *slots;
} PyType_Spec;

enum { METHOD_VARARGS = 1, METHOD_NOARGS = 4, METHOD_O = 8, METHOD_CLASS = 16 };
enum { MEMBER_OBJECT = 6, MEMBER_LONGLONG = 17, MEMBER_SSIZE = 19, MEMBER_READONLY = 1 };
enum {
    SLOT_CALL = 50, SLOT_CLEAR = 51, SLOT_DEALLOC = 52, SLOT_DESCR_GET = 54, SLOT_DOC = 56, SLOT_INIT = 60,
    SLOT_METHODS = 64, SLOT_NEW = 65, SLOT_TRAVERSE = 71, SLOT_MEMBERS = 72
};
#define TYPE_BASETYPE (1ul << 10)
#define TYPE_VECTORCALL (1ul << 11)
#define TYPE_GC (1ul << 14)
#define TYPE_METHOD_DESCRIPTOR (1ul << 17)
#define TYPE_VERSION_TAG (1ul << 18)
#define TYPE_VALID_VERSION (1ul << 19)
#define VECTORCALL_OFFSET_BIT ((size_t)1 << (8 * sizeof(size_t) - 1))

extern PyTypeObject PyFloat_Type, PyLong_Type, PyBool_Type, PyComplex_Type, PyList_Type, PyUnicode_Type, PyTuple_Type,
    PyBytes_Type, PyByteArray_Type, PyDict_Type, PySet_Type, PyFunction_Type;
extern PyObject _Py_NoneStruct, _Py_TrueStruct;
extern PyObject *PyExc_TypeError, *PyExc_SystemError, *PyExc_Exception, *PyExc_KeyboardInterrupt, *PyExc_RuntimeError,
    *PyExc_RecursionError;

void Py_IncRef(PyObject *);
void Py_DecRef(PyObject *);
PyObject *PyErr_Occurred(void);
void PyErr_Clear(void);
int PyErr_ExceptionMatches(PyObject *);
void PyErr_Fetch(PyObject **, PyObject **, PyObject **);
void PyErr_NormalizeException(PyObject **, PyObject **, PyObject **);
int PyException_SetTraceback(PyObject *, PyObject *);
void PyErr_Restore(PyObject *, PyObject *, PyObject *);
void PyErr_SetString(PyObject *, const char *);
void PyErr_SetNone(PyObject *);
PyObject *PyErr_NoMemory(void);
int PyErr_CheckSignals(void);
PyThreadState *PyEval_SaveThread(void);
void PyEval_RestoreThread(PyThreadState *);
int PyGILState_Ensure(void);
void PyGILState_Release(int);
unsigned long PyType_GetFlags(PyTypeObject *);
void *PyType_GetSlot(PyTypeObject *, int);
PyObject *PyType_FromSpec(PyType_Spec *);
PyObject *PyType_GenericAlloc(PyTypeObject *, Py_ssize_t);
void PyObject_GC_UnTrack(void *);
void PyObject_GC_Del(void *);
PyObject *PyVectorcall_Call(PyObject *, PyObject *, PyObject *);
PyObject *_PyFunction_Vectorcall(PyObject *, PyObject *const *, size_t, PyObject *);
PyObject *PyObject_Call(PyObject *, PyObject *, PyObject *);
PyObject *PyObject_CallFunction(PyObject *, const char *, ...);
PyObject *PyObject_CallMethod(PyObject *, const char *, const char *, ...);
PyObject *PySequence_List(PyObject *);
PyObject *PyImport_ImportModule(const char *);
PyObject *PyObject_GetAttr(PyObject *, PyObject *);
PyObject *PyObject_GetItem(PyObject *, PyObject *);
PyObject *PyObject_GetAttrString(PyObject *, const char *);
int PyObject_RichCompareBool(PyObject *, PyObject *, int);
PyObject *PyMethod_New(PyObject *, PyObject *);
PyObject *PyCell_Get(PyObject *);
PyObject *PyFunction_GetCode(PyObject *);
PyObject *PyFunction_GetDefaults(PyObject *);
PyObject *PyFunction_GetKwDefaults(PyObject *);
PyObject *_PyType_Lookup(PyTypeObject *, PyObject *);
int PyObject_SetAttr(PyObject *, PyObject *, PyObject *);
/* Missing from some versions. */
__attribute__((weak)) int _PyObject_GetMethod(PyObject *, PyObject *, PyObject **);
PyObject *PyDict_New(void);
PyObject *PyDict_GetItemWithError(PyObject *, PyObject *);
int PyDict_SetItem(PyObject *, PyObject *, PyObject *);
int PyDict_Next(PyObject *, Py_ssize_t *, PyObject **, PyObject **);
Py_ssize_t PyDict_Size(PyObject *);
Py_ssize_t PySet_Size(PyObject *);
PyObject *PyObject_GetIter(PyObject *);
PyObject *PyIter_Next(PyObject *);
char *PyBytes_AsString(PyObject *);
Py_ssize_t PyBytes_Size(PyObject *);
char *PyByteArray_AsString(PyObject *);
Py_ssize_t PyByteArray_Size(PyObject *);
Py_ssize_t PyUnicode_GetLength(PyObject *);
PyObject *PyUnicode_FromKindAndData(int, const void *, Py_ssize_t);
PyObject *PyUnicode_DecodeUTF32(const char *, Py_ssize_t, const char *, int *);
PyObject *PyBytes_FromStringAndSize(const char *, Py_ssize_t);
uint32_t *PyUnicode_AsUCS4(PyObject *, uint32_t *, Py_ssize_t, int);
PyObject *PyTuple_New(Py_ssize_t);
PyObject *PyTuple_GetItem(PyObject *, Py_ssize_t);
int PyTuple_SetItem(PyObject *, Py_ssize_t, PyObject *);
Py_ssize_t PyTuple_Size(PyObject *);
PyObject *PyList_New(Py_ssize_t);
int PyList_SetItem(PyObject *, Py_ssize_t, PyObject *);
int PyList_SetSlice(PyObject *, Py_ssize_t, Py_ssize_t, PyObject *);
void PyDict_Clear(PyObject *);
PyObject *PyLong_FromLongLong(long long);
long long PyLong_AsLongLong(PyObject *);
long long PyLong_AsLongLongAndOverflow(PyObject *, int *);
PyObject *PyBool_FromLong(long);
PyObject *PyFloat_FromDouble(double);
double PyFloat_AsDouble(PyObject *);
PyObject *PyComplex_FromDoubles(double, double);
double PyComplex_RealAsDouble(PyObject *);
double PyComplex_ImagAsDouble(PyObject *);
int PyArg_ParseTuple(PyObject *, const char *, ...);
void *PyCapsule_GetPointer(PyObject *, const char *);
PyObject *PyCapsule_New(void *, const char *, void (*)(PyObject *));

/* The functions of NumPy's table, by their fixed index. */
typedef PyObject *(*descriptor_from_type)(int);
typedef PyObject *(*scalar_from_data)(void *, PyObject *, PyObject *);
typedef PyObject *(*array_with_shape)(int, const Py_ssize_t *, PyObject *, int);
typedef PyObject *(*array_from_descriptor)(PyTypeObject *, PyObject *, int, const Py_ssize_t *, const Py_ssize_t *, void *,
                                           int, PyObject *);
typedef int (*set_base_object)(PyObject *, PyObject *);
typedef PyObject *(*set_data_handler)(PyObject *);

/* How NumPy is told to allocate the data of the arrays it makes (PyDataMem_Handler). */
typedef struct {
    char name[127];
    uint8_t version;
    struct {
        void *context;
        void *(*malloc)(void *context, size_t size);
        void *(*calloc)(void *context, size_t count, size_t size);
        void *(*realloc)(void *context, void *block, size_t size);
        void (*free)(void *context, void *block, size_t size);
    } allocator;
} DataHandler;

static struct {
    PyTypeObject *array_type;
    descriptor_from_type descriptor;
    scalar_from_data scalar;
    array_with_shape zeros, empty;
    array_from_descriptor from_descriptor;
    set_base_object set_base;
    set_data_handler set_handler;
    PyObject *handler; /* the core's own, or NULL: then large results come from NumPy's memory, too */
} numpy;

static inline int is_exact(const PyObject *value, const PyTypeObject *type) { return value->type == type; }

static inline PyObject *new_reference(PyObject *value)
{
    Py_IncRef(value);
    return value;
}

static inline int64_t bits_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double double_of(int64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
