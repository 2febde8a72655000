/* Results: from the words a kernel left behind to the objects its caller gets.

   In: the word block, the values of the call and the result description of the path the kernel took. Out: a new
   reference, or NULL with an exception. Also the service by which a kernel makes the array it will return. */

#include "version.h"

/* Results from so many elements on live in memory that the core keeps for the next one when they are gone. */
#define LARGE_RESULT ((int64_t)1 << 18)

static PyObject *empty_array(int rank, const Py_ssize_t *shape, PyObject *descriptor)
{
    int64_t elements = 1;
    for (int axis = 0; axis < rank && elements < LARGE_RESULT; axis++)
        elements *= shape[axis] > LARGE_RESULT ? LARGE_RESULT : shape[axis];
    PyObject *before = elements < LARGE_RESULT ? NULL : numpy.set_handler(numpy.handler);
    if (before == NULL) {
        if (elements >= LARGE_RESULT)
            PyErr_Clear();
        return numpy.empty(rank, shape, descriptor, 0);
    }
    PyObject *array = numpy.empty(rank, shape, descriptor, 0);
    PyObject *error[3];
    PyErr_Fetch(&error[0], &error[1], &error[2]);
    PyObject *own = numpy.set_handler(before);
    if (own == NULL)
        PyErr_Clear();
    else
        Py_DecRef(own);
    Py_DecRef(before);
    PyErr_Restore(error[0], error[1], error[2]);
    return array;
}

/* Called with or without the interpreter lock. What NumPy raised waits in the frame: it says more than "out of memory". */
static void *rt_new_array(int64_t *w, int64_t slot, int64_t typenum, int64_t rank, const int64_t *shape, int64_t zero)
{
    frame *f = current_frame;
    int released = 0, state = 0;
    if (f != NULL)
        released = acquire_interpreter(f);
    else
        state = PyGILState_Ensure();
    void *data = NULL;
    if (w[slot] != 0)
        Py_DecRef((PyObject *)(uintptr_t)w[slot]);
    w[slot] = 0;
    PyObject *descriptor = numpy.descriptor((int)typenum);
    PyObject *array = NULL;
    if (descriptor != NULL)
        array = zero ? numpy.zeros((int)rank, (const Py_ssize_t *)shape, descriptor, 0)
                     : empty_array((int)rank, (const Py_ssize_t *)shape, descriptor);
    if (array != NULL) {
        w[slot] = (int64_t)(uintptr_t)array;
        data = ((ArrayHead *)array)->data;
    } else if (f != NULL && f->error[0] == NULL) {
        PyErr_Fetch(&f->error[0], &f->error[1], &f->error[2]);
    } else {
        PyErr_Clear();
    }
    if (f == NULL)
        PyGILState_Release(state);
    else if (released)
        release_interpreter(f);
    return data;
}

static PyObject *scalar_object(const result *r, const int64_t *w)
{
    union {
        int8_t i8; int16_t i16; int32_t i32; int64_t i64; float f32[2]; double f64[2];
    } value;
    double number = double_of(w[0]);
    switch ((scalar_kind)r->code) {
    case SCALAR_INT: return PyLong_FromLongLong(w[0]);
    case SCALAR_BOOL: return PyBool_FromLong(w[0] != 0);
    case SCALAR_FLOAT: return PyFloat_FromDouble(number);
    case SCALAR_COMPLEX: return PyComplex_FromDoubles(number, double_of(w[1]));
    case SCALAR_FLOAT16: return PyObject_CallFunction(r->object, "d", number); /* NumPy rounds to half precision */
    case SCALAR_NP_BOOL: value.i8 = w[0] != 0; break;
    case SCALAR_INT8: case SCALAR_UINT8: value.i8 = (int8_t)w[0]; break;
    case SCALAR_INT16: case SCALAR_UINT16: value.i16 = (int16_t)w[0]; break;
    case SCALAR_INT32: case SCALAR_UINT32: value.i32 = (int32_t)w[0]; break;
    case SCALAR_FLOAT32: value.f32[0] = (float)number; break;
    case SCALAR_COMPLEX64: value.f32[0] = (float)number; value.f32[1] = (float)double_of(w[1]); break;
    case SCALAR_COMPLEX128: value.f64[0] = number; value.f64[1] = double_of(w[1]); break;
    default: value.i64 = w[0]; break;
    }
    return numpy.scalar(&value, r->object, NULL);
}

static PyObject *new_array_object(const int64_t *w, int slot)
{
    PyObject *array = (PyObject *)(uintptr_t)w[slot];
    if (array == NULL)
        PyErr_SetString(PyExc_SystemError, "the kernel returned an array that it did not make");
    return array;
}

static PyObject *view_object(const result *r, const int64_t *w, PyObject *const *values)
{
    PyObject *base = r->code >= 0 ? values[r->code] : new_array_object(w, -1 - r->code);
    if (base == NULL)
        return NULL;
    PyObject *item_size = PyObject_GetAttrString(base, "itemsize");
    if (item_size == NULL)
        return NULL;
    int64_t bytes = PyLong_AsLongLong(item_size);
    Py_DecRef(item_size);
    const int64_t *words = w + r->offset;
    Py_ssize_t shape[MAX_RANK], strides[MAX_RANK];
    for (int axis = 0; axis < r->rank; axis++) {
        shape[axis] = (Py_ssize_t)words[1 + axis];
        strides[axis] = (Py_ssize_t)(words[1 + r->rank + axis] * bytes);
    }
    const ArrayHead *array = (const ArrayHead *)base;
    PyObject *descriptor = new_reference((PyObject *)array->descriptor);
    PyObject *view = numpy.from_descriptor(numpy.array_type, descriptor, r->rank, shape, strides,
                                           (void *)(uintptr_t)words[0], array->flags & ARRAY_WRITEABLE, NULL);
    if (view != NULL && numpy.set_base(view, new_reference(base)) < 0) {
        Py_DecRef(view);
        return NULL;
    }
    return view;
}

/* The nested list of an array's elements as NumPy's own scalars, which `tolist` does not keep. */
static PyObject *list_of_scalars(PyObject *array)
{
    PyObject *list = PySequence_List(array);
    if (list == NULL || ((ArrayHead *)array)->rank < 2)
        return list;
    for (Py_ssize_t place = 0; place < ((ListHead *)list)->size; place++) {
        PyObject *row = list_of_scalars(((ListHead *)list)->items[place]);
        if (row == NULL || PyList_SetItem(list, place, row) < 0) {
            Py_DecRef(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *build_result(const result *r, const int64_t *w, PyObject *const *values);

static PyObject *sequence_object(const result *r, const int64_t *w, PyObject *const *values)
{
    int tuple = r->kind == RESULT_TUPLE;
    PyObject *sequence = tuple ? PyTuple_New(r->count) : PyList_New(r->count);
    for (int i = 0; sequence != NULL && i < r->count; i++) {
        PyObject *item = build_result(&r->items[i], w, values);
        if (item == NULL || (tuple ? PyTuple_SetItem : PyList_SetItem)(sequence, i, item) < 0) {
            Py_DecRef(sequence);
            return NULL;
        }
    }
    if (sequence == NULL || r->object == NULL || r->object == &_Py_NoneStruct)
        return sequence;
    PyObject *named = PyObject_Call(r->object, sequence, NULL);
    Py_DecRef(sequence);
    return named;
}

static PyObject *build_result(const result *r, const int64_t *w, PyObject *const *values)
{
    PyObject *array;
    switch (r->kind) {
    case RESULT_NONE:
        return new_reference(&_Py_NoneStruct);
    case RESULT_CONST:
        return new_reference(r->object);
    case RESULT_SCALAR:
        return scalar_object(r, w + r->offset);
    case RESULT_ARRAY:
        return (array = new_array_object(w, r->offset)) == NULL ? NULL : new_reference(array);
    case RESULT_ARGUMENT:
        return new_reference(values[r->code]);
    case RESULT_VIEW:
        return view_object(r, w, values);
    case RESULT_LIST:
        if ((array = new_array_object(w, r->offset)) == NULL)
            return NULL;
        return r->code ? list_of_scalars(array) : PyObject_CallMethod(array, "tolist", NULL);
    default:
        return sequence_object(r, w, values);
    }
}

/* The tuple of some integers. */
static PyObject *tuple_of(const int64_t *numbers, Py_ssize_t count)
{
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple != NULL && i < count; i++)
        if (PyTuple_SetItem(tuple, i, PyLong_FromLongLong(numbers[i])) < 0) {
            Py_DecRef(tuple);
            return NULL;
        }
    return tuple;
}
