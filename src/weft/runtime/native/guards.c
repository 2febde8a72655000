/* Guards: does this call fit a version, and if so, the words its kernel reads.

   In: the values of a call and a version. Out: 1 and the filled word block, 0 if some value does not fit, -1 with an
   exception that has nothing to do with fitting (no memory, Ctrl-C in an attribute). Nothing a user could observe happens,
   except that attributes are read. */

#include "version.h"

/* Equal plain values of one exact type. Floats by their bits: 0.0 == -0.0, but a kernel built for one is wrong for the other. */
static int same_constant(PyObject *value, PyObject *expected)
{
    if (value == expected)
        return 1;
    if (value->type != expected->type)
        return 0;
    if (is_exact(value, &PyFloat_Type))
        return bits_of(((FloatHead *)value)->value) == bits_of(((FloatHead *)expected)->value);
    if (is_exact(value, &PyComplex_Type))
        return bits_of(PyComplex_RealAsDouble(value)) == bits_of(PyComplex_RealAsDouble(expected)) &&
               bits_of(PyComplex_ImagAsDouble(value)) == bits_of(PyComplex_ImagAsDouble(expected));
    if (is_exact(value, &PyLong_Type) || is_exact(value, &PyUnicode_Type) || is_exact(value, &PyBytes_Type))
        return PyObject_RichCompareBool(value, expected, 2);
    if (!is_exact(value, &PyTuple_Type))
        return 0;
    Py_ssize_t size = PyTuple_Size(value);
    int same = PyTuple_Size(expected) == size;
    for (Py_ssize_t i = 0; i < size && same > 0; i++)
        same = same_constant(PyTuple_GetItem(value, i), PyTuple_GetItem(expected, i));
    return same;
}

/* Whether no two indices of an array may lead to one element: each axis steps over all that the axes with shorter steps
   reach.  What does not fit that pattern is taken to hold an element twice. */
static int holds_each_once(const ArrayHead *array)
{
    int64_t steps[MAX_RANK], reach[MAX_RANK];
    int count = 0;
    for (int axis = 0; axis < array->rank; axis++) {
        int64_t step = array->strides[axis] < 0 ? -array->strides[axis] : array->strides[axis];
        if (array->shape[axis] == 0)
            return 1;
        if (array->shape[axis] == 1)
            continue;
        int at = count++;
        for (; at > 0 && steps[at - 1] > step; at--) {
            steps[at] = steps[at - 1];
            reach[at] = reach[at - 1];
        }
        steps[at] = step;
        reach[at] = step * (array->shape[axis] - 1);
    }
    int64_t within = 0;
    for (int at = 0; at < count; within += reach[at++])
        if (steps[at] <= within)
            return 0;
    return 1;
}

static inline int pack_array(const parameter *p, PyObject *value, int64_t *w)
{
    if (value->type != numpy.array_type)
        return 0;
    const ArrayHead *array = (const ArrayHead *)value;
    const DescriptorHead *descriptor = array->descriptor;
    /* A native array says '=', or '|' for single bytes; only the other order is spelled out. */
    const char swapped = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '>' : '<';
    int flags = ARRAY_ALIGNED | (p->written ? ARRAY_WRITEABLE : 0);
    int refused = p->written ? ARRAY_WARN_ON_WRITE : 0;
    if (descriptor->type_number != p->code || array->rank != p->rank || descriptor->byteorder == swapped ||
        (array->flags & flags) != flags || (array->flags & refused))
        return 0;
    if (p->written && !(array->flags & (ARRAY_C | ARRAY_F)) && !holds_each_once(array))
        return 0;
    int rank = p->rank, shift = p->item_shift;
    int64_t partial = 0;
    w[0] = (int64_t)(uintptr_t)array->data;
    if (rank == 0) /* to the kernel it is one of a single element */
        w[1] = w[2] = 1;
    for (int axis = 0; axis < rank; axis++) {
        w[1 + axis] = array->shape[axis];
        w[1 + rank + axis] = array->strides[axis] >> shift;
        partial |= array->strides[axis];
    }
    return (partial & (((int64_t)1 << shift) - 1)) == 0;
}

#define LOAD(type, source)                                                                                                    \
    {                                                                                                                         \
        type loaded;                                                                                                          \
        memcpy(&loaded, source, sizeof loaded);                                                                               \
        w[0] = (int64_t)loaded;                                                                                               \
        return 1;                                                                                                             \
    }

static int pack_numpy_scalar(const parameter *p, PyObject *value, int64_t *w)
{
    const char *source = ((ScalarHead *)value)->value;
    float single[2];
    switch ((scalar_kind)p->code) {
    case SCALAR_NP_BOOL:
        w[0] = *source != 0;
        return 1;
    case SCALAR_INT8: LOAD(int8_t, source)
    case SCALAR_INT16: LOAD(int16_t, source)
    case SCALAR_INT32: LOAD(int32_t, source)
    case SCALAR_UINT8: LOAD(uint8_t, source)
    case SCALAR_UINT16: LOAD(uint16_t, source)
    case SCALAR_UINT32: LOAD(uint32_t, source)
    case SCALAR_FLOAT16: {
        double number = PyFloat_AsDouble(value);
        if (number == -1.0 && PyErr_Occurred())
            return -1;
        w[0] = bits_of(number);
        return 1;
    }
    case SCALAR_FLOAT32:
        memcpy(single, source, 4);
        w[0] = bits_of((double)single[0]);
        return 1;
    case SCALAR_COMPLEX64:
        memcpy(single, source, 8);
        w[0] = bits_of((double)single[0]);
        w[1] = bits_of((double)single[1]);
        return 1;
    case SCALAR_COMPLEX128:
        memcpy(w, source, 16);
        return 1;
    default: /* 64 bits as they are */
        memcpy(w, source, 8);
        return 1;
    }
}

static inline int pack_scalar(const parameter *p, PyObject *value, int64_t *w)
{
    if ((PyObject *)value->type != p->object)
        return 0;
    int overflow;
    switch ((scalar_kind)p->code) {
    case SCALAR_INT:
        w[0] = PyLong_AsLongLongAndOverflow(value, &overflow);
        return !overflow;
    case SCALAR_BOOL:
        w[0] = value == &_Py_TrueStruct;
        return 1;
    case SCALAR_FLOAT:
        w[0] = bits_of(((FloatHead *)value)->value);
        return 1;
    case SCALAR_COMPLEX:
        w[0] = bits_of(PyComplex_RealAsDouble(value));
        w[1] = bits_of(PyComplex_ImagAsDouble(value));
        return 1;
    default:
        return pack_numpy_scalar(p, value, w);
    }
}

/* --- values that are not arguments --- */

/* An attribute that cannot be read makes the version unfit: plain Python then meets the same error at its own place. */
static int absent(void)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))
        return -1;
    PyErr_Clear();
    return 0;
}

/* An attribute by its name, an item by its number, the item of a dict by its key (in a tuple), the length of a tuple
   (None), what a function gives of it. A new reference, or NULL: not there. */
static PyObject *fetch_part(PyObject *value, PyObject *part)
{
    if (is_exact(part, &PyLong_Type))
        return PyObject_GetItem(value, part);
    if (part == &_Py_NoneStruct)
        return is_exact(value, &PyTuple_Type) ? PyLong_FromLongLong(PyTuple_Size(value)) : NULL;
    if (is_exact(part, &PyUnicode_Type))
        return PyObject_GetAttr(value, part);
    if (!is_exact(part, &PyTuple_Type))
        return PyObject_CallFunction(part, "(O)", value);
    PyObject *held = is_exact(value, &PyDict_Type) ? PyDict_GetItemWithError(value, PyTuple_GetItem(part, 0)) : NULL;
    return held == NULL ? NULL : new_reference(held);
}

#if !defined(STANDALONE)
static PyObject *function_name; /* "__func__" */
#endif

static int fetch_attribute(const parameter *p, PyObject *value, PyObject **out)
{
    Py_ssize_t depth = PyTuple_Size(p->fetch_name);
    Py_IncRef(value);
    for (Py_ssize_t i = 0; i < depth; i++) {
        PyObject *part = PyTuple_GetItem(p->fetch_name, i), *next = NULL;
#if !defined(STANDALONE)
        if (i + 2 == depth && PyTuple_GetItem(p->fetch_name, i + 1) == function_name && _PyObject_GetMethod != NULL) {
            if (_PyObject_GetMethod(value, part, &next))
                i++; /* the function itself, without a method around it */
        } else
#endif
            next = fetch_part(value, part);
        Py_DecRef(value);
        if (next == NULL)
            return absent();
        value = next;
    }
    *out = value;
    return 1;
}

static int fetch_global(const parameter *p, PyObject *builtins_name, PyObject **out)
{
    PyObject *value = PyDict_GetItemWithError(p->fetch_from, p->fetch_name);
    if (value != NULL) {
        *out = new_reference(value);
        return 1;
    }
    PyObject *builtins = PyErr_Occurred() ? NULL : PyDict_GetItemWithError(p->fetch_from, builtins_name);
    if (builtins == NULL)
        return absent();
    if (PyType_GetFlags(builtins->type) & (1ul << 29)) /* a dictionary; otherwise the module */
        *out = (value = PyDict_GetItemWithError(builtins, p->fetch_name)) == NULL ? NULL : new_reference(value);
    else
        *out = PyObject_GetAttr(builtins, p->fetch_name);
    return *out == NULL ? absent() : 1;
}

static PyObject *builtins_name; /* "__builtins__" */

static int fetch_value(const parameter *p, PyObject *const *values, PyObject **out)
{
    switch (p->fetch) {
    case FETCH_ATTRIBUTE:
        return fetch_attribute(p, values[p->fetch_index], out);
    case FETCH_GLOBAL:
        return fetch_global(p, builtins_name, out);
    default:
#if defined(STANDALONE)
        return 0;
#else
        *out = PyCell_Get(p->fetch_from);
        return *out == NULL ? absent() : 1;
#endif
    }
}

/* --- one call against one version --- */

static inline int pack_value(const parameter *p, PyObject *value, PyObject *const *values, list_call *lists, int64_t *w)
{
    switch (p->test) {
    case TEST_ARRAY:
        return pack_array(p, value, w);
    case TEST_SCALAR:
        return pack_scalar(p, value, w);
    case TEST_LIST:
        return copy_list_in(lists, p, value, w);
    case TEST_CONTAINER:
        return copy_container_in(lists, p, value, w);
    case TEST_STACK:
        return copy_stack_in(lists, p, value, w);
    case TEST_TEXT:
        return copy_text_in(lists, p, value, w);
    case TEST_MEMORY:
        return pack_memory(p, values, w);
    case TEST_CONST:
        return same_constant(value, p->object);
    case TEST_SAME:
        return value == values[p->code];
    default:
        return p->object == &_Py_NoneStruct || (PyObject *)value->type == p->object;
    }
}

/* Fills `w` behind the control words. Hidden values go to `values`, with a reference each that the caller gives back. */
static int pack_arguments(const version *v, PyObject *const *values, list_call *lists, int64_t *w)
{
    w += CONTROL_WORDS;
    for (int i = 0; i < v->argument_count; i++) {
        const parameter *p = &v->parameters[i];
        int fits = pack_value(p, values[i], values, lists, w);
        if (fits <= 0)
            return fits;
        w += p->words;
    }
    return 1;
}

static int pack_hidden(const version *v, PyObject **values, list_call *lists, int64_t *w)
{
    for (int i = 0; i < v->argument_count; i++)
        w += v->parameters[i].words;
    w += CONTROL_WORDS;
    for (int i = v->argument_count; i < v->value_count; i++) {
        const parameter *p = &v->parameters[i];
        int fits = fetch_value(p, values, &values[i]);
        if (fits > 0)
            fits = pack_value(p, values[i], values, lists, w);
        if (fits <= 0)
            return fits;
        w += p->words;
    }
    return 1;
}
