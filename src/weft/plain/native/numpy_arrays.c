/* Arrays of NumPy in and out.

   In: numpy.ndarray objects and specifications. Out: native arrays over the same memory, and new arrays for new memory. */

#include "api.h"

/* --- NumPy, as it is found when a function with arrays is first compiled --- */

enum { NEW_FROM_DESCRIPTOR = 94, SET_BASE_OBJECT = 282, ARRAY_OWNDATA = 4, SLOT_ALLOC = 47 };

typedef PyObject *(*new_array_function)(PyTypeObject *, PyObject *, int, const Py_ssize_t *, const Py_ssize_t *, void *, int, PyObject *);
typedef int (*set_base_function)(PyObject *, PyObject *);
typedef PyObject *(*alloc_function)(PyTypeObject *, Py_ssize_t);

static new_array_function new_array;
static set_base_function set_base;
static PyObject *descriptors[DTYPES], *numpy_true, *numpy_false;
static PyTypeObject *scalar_classes[DTYPES];

typedef struct interpreter_state PyInterpreterState;
PyInterpreterState *PyInterpreterState_Get(void);
PyThreadState *PyInterpreterState_ThreadHead(PyInterpreterState *);
PyThreadState *PyThreadState_Next(PyThreadState *);

/* --- other threads --- */

static int several_threads(void)
{
    PyThreadState *first = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
    return first != NULL && PyThreadState_Next(first) != NULL;
}

/* While other threads run they may write beside what this call has written: that must stay if the call is undone. The content of
   saved blocks before, or NULL if there is nothing to look at. */
static char *memory_before(void)
{
    if (now.saved == NULL || !several_threads())
        return NULL;
    char *content = malloc((size_t)now.saved_bytes), *at = content;
    if (content == NULL)
        wp_deopt("out of memory", 0);
    for (saved_block *b = now.saved; b != NULL; at += b->bytes, b = b->next)
        memcpy(at, b->at, (size_t)b->bytes);
    return content;
}

static void memory_after(char *content)
{
    if (content == NULL)
        return;
    char *at = content;
    for (saved_block *b = now.saved; b != NULL; at += b->bytes, b = b->next)
        if (memcmp(at, b->at, (size_t)b->bytes) != 0)
            for (int64_t i = 0; i < b->bytes; i++)
                if (at[i] != b->at[i])
                    b->old[i] = b->at[i];
    free(content);
}

/* --- in --- */

static int array_fits(const ArrayHead *o, const wp_type *type)
{
    return o->rank == type->count && (PyObject *)o->descriptor == descriptors[element_tag(type) - WP_NP] && o->flags & ARRAY_ALIGNED &&
           !(o->flags & ARRAY_WARN_ON_WRITE);
}

static int is_owned(const ArrayHead *o)
{
    while (o->owner != NULL) {
        if (o->owner->type != array_class)
            return 0;
        o = (const ArrayHead *)o->owner;
    }
    return (o->flags & ARRAY_OWNDATA) != 0;
}

static wp_array *array_shared(const ArrayHead *o, const wp_type *type)
{
    wp_array *a = array_head(type);
    wp_memory *m = calloc(1, sizeof *m);
    int64_t low;
    if (m == NULL)
        wp_deopt("out of memory", 0);
    m->next = now.memories;
    now.memories = m;
    memcpy(a->extent, o->shape, (size_t)type->count * 8);
    memcpy(a->extent + type->count, o->strides, (size_t)type->count * 8);
    m->bytes = array_span(a->extent, a->extent + type->count, type->count, element_size(element_tag(type)), &low);
    m->start = o->data + low;
    m->writeable = (o->flags & ARRAY_WRITEABLE) != 0;
    m->owned = is_owned(o);
    a->data = o->data;
    a->memory = m;
    return a;
}

/* An array of Python as one of this call, laid out as it is where it has no gaps. */
static wp_array *array_copied(const ArrayHead *o, const wp_type *type)
{
    int64_t rank = type->count, size = element_size(element_tag(type));
    wp_array *a = array_like(type, (const int64_t *)o->shape, 0);
    if (is_dense((const int64_t *)o->shape, (const int64_t *)o->strides, rank, size)) {
        memcpy(a->extent + rank, o->strides, (size_t)rank * 8);
        memcpy(a->data, o->data, (size_t)(wp_array_size(a, rank) * size));
        return a;
    }
    wp_array *from = array_head(type);
    memcpy(from->extent, o->shape, (size_t)rank * 8);
    memcpy(from->extent + rank, o->strides, (size_t)rank * 8);
    from->data = o->data;
    wp_array_assign(a, from, 0);
    return a;
}

static int scalar_in(PyObject *o, wp_val *out)
{
    int k = 0;
    while (k < DTYPES && o->type != scalar_classes[k])
        k++;
    if (k == DTYPES)
        return 0;
    const void *value = ((const ScalarHead *)o)->value;
    out->tag = WP_NP + k;
    switch (out->tag) {
    case WP_NP_BOOL:
    case WP_NP_UINT8: out->u.i = *(const uint8_t *)value; break;
    case WP_NP_INT8: out->u.i = *(const int8_t *)value; break;
    case WP_NP_INT16: out->u.i = *(const int16_t *)value; break;
    case WP_NP_INT32: out->u.i = *(const int32_t *)value; break;
    case WP_NP_INT64: out->u.i = *(const int64_t *)value; break;
    case WP_NP_UINT16: out->u.i = *(const uint16_t *)value; break;
    case WP_NP_UINT32: out->u.i = *(const uint32_t *)value; break;
    case WP_NP_FLOAT32: out->u.d = *(const float *)value; break;
    default: out->u.d = *(const double *)value;
    }
    return 1;
}

/* --- out --- */

static PyObject *scalar_out(wp_val v)
{
    if (v.tag == WP_NP_BOOL)
        return new_reference(v.u.i ? numpy_true : numpy_false);
    PyTypeObject *class = scalar_classes[v.tag - WP_NP];
    ScalarHead *made = (ScalarHead *)((alloc_function)PyType_GetSlot(class, SLOT_ALLOC))(class, 0);
    if (made == NULL)
        return NULL;
    if (v.tag == WP_NP_FLOAT32)
        *(float *)made->value = (float)v.u.d;
    else
        memcpy(made->value, &v.u, (size_t)element_size(v.tag)); /* little endian: wp_start_arrays looks */
    return &made->base;
}

static int scalar_is_same(PyObject *old, wp_val v)
{
    wp_val held;
    return scalar_in(old, &held) && held.tag == v.tag && held.u.i == v.u.i;
}

static PyObject *make_array(const wp_array *a, char *data, int flags)
{
    const wp_type *type = a->head.type;
    return new_array(array_class, new_reference(descriptors[element_tag(type) - WP_NP]), type->count, (const Py_ssize_t *)a->extent,
                     (const Py_ssize_t *)a->extent + type->count, data, flags, NULL);
}

static PyObject *out_object(wp_object *o);
static void remember_out(wp_object *o, PyObject *made);

static PyObject *view_out(wp_array *a)
{
    PyObject *owner = out_object(&a->base->head);
    if (owner == NULL)
        return NULL;
    const ArrayHead *head = (const ArrayHead *)owner;
    PyObject *made = make_array(a, head->data + (a->data - a->base->data), ARRAY_ALIGNED | (head->flags & ARRAY_WRITEABLE));
    if (made == NULL || set_base(made, owner) < 0) {
        Py_DecRef(made);
        return NULL;
    }
    return made;
}

static pair_map *fresh;

static PyObject *array_out(wp_array *a)
{
    PyObject *made;
    if (fresh != NULL)
        made = make_array(a, a->data, ARRAY_ALIGNED); /* for a call into Python that keeps nothing and writes nothing */
    else if (a->base != NULL)
        made = view_out(a);
    else if ((made = make_array(a, NULL, 0)) != NULL)
        memcpy(((ArrayHead *)made)->data, a->data, (size_t)(wp_array_size(a, a->head.type->count) * element_size(element_tag(a->head.type))));
    if (made != NULL)
        remember_out(&a->head, made);
    return made;
}

/* --- start --- */

/* NumPy's table of functions, numpy.ndarray, the dtypes and scalar classes in the order of tags, an array of the floats 0 to 5 in
   two rows, numpy.True_ and numpy.False_. None, or a text that says why not. */
PyObject *wp_start_arrays(void **table, PyObject *class, PyObject *dtypes, PyObject *classes, PyObject *sample, PyObject *true_, PyObject *false_)
{
    const char *other = "NumPy's arrays are laid out in another way than the run time expects";
    const ArrayHead *s = (const ArrayHead *)sample;
    if (sample->type != (PyTypeObject *)class || s->rank != 2 || s->shape[0] != 2 || s->shape[1] != 3 || s->strides[0] != 24 ||
        s->strides[1] != 8 || ((double *)s->data)[4] != 4.0 || (PyObject *)s->descriptor != PyTuple_GetItem(dtypes, DTYPES - 1))
        return PyUnicode_FromString(other);
    array_class = (PyTypeObject *)new_reference(class);
    new_array = (new_array_function)table[NEW_FROM_DESCRIPTOR];
    set_base = (set_base_function)table[SET_BASE_OBJECT];
    for (int k = 0; k < DTYPES; k++) {
        descriptors[k] = new_reference(PyTuple_GetItem(dtypes, k));
        scalar_classes[k] = (PyTypeObject *)new_reference(PyTuple_GetItem(classes, k));
    }
    numpy_true = new_reference(true_);
    numpy_false = new_reference(false_);
    for (int64_t tag = WP_NP; tag < WP_NP_END; tag++) {
        wp_val v = tag >= WP_NP_FLOAT32 ? wp_np_d(tag, 1.5) : wp_np_i(tag, 1), back;
        PyObject *made = scalar_out(v), *number = made == NULL ? NULL : PyNumber_Float(made);
        int agrees = number != NULL && scalar_in(made, &back) && back.tag == tag && back.u.i == v.u.i &&
                     ((FloatHead *)number)->value == (tag >= WP_NP_FLOAT32 ? 1.5 : 1.0);
        Py_DecRef(number);
        Py_DecRef(made);
        if (!agrees) {
            PyErr_Clear();
            return PyUnicode_FromString(other);
        }
    }
    return new_reference(&_Py_NoneStruct);
}
