/* Native values out: one Python object for one native object, the very object where it came in as an argument.

   Failures give NULL, with the reason in `now.reason`; nothing of Python has been changed then. While `fresh` is set, values
   are copied for a call into Python: containers are new objects, and nothing is remembered beyond that call. */

#include "api.h"

static pair_map *fresh;

static PyObject *out_slot(const void *slot, char repr);
static PyObject *out_object(wp_object *o);

static PyObject *no_result(const char *reason)
{
    now.reason = reason;
    return NULL;
}

static void remember_out(wp_object *o, PyObject *made)
{
    if (fresh != NULL)
        pair_add(fresh, o, made);
    else if (in_heap(o))
        o->origin = made;
}

static PyObject *out_value(wp_val v)
{
    switch (v.tag) {
    case WP_NONE: return new_reference(&_Py_NoneStruct);
    case WP_INT: return PyLong_FromLongLong(v.u.i);
    case WP_FLOAT: return PyFloat_FromDouble(v.u.d);
    case WP_BOOL: return PyBool_FromLong((long)v.u.i);
    case WP_PTR: return out_object(v.u.p);
    default: return v.tag >= WP_NP ? scalar_out(v) : no_result("a variable without a value");
    }
}

static PyObject *out_slot(const void *slot, char repr)
{
    switch (repr) {
    case 'i': return PyLong_FromLongLong(*(const int64_t *)slot);
    case 'd': return PyFloat_FromDouble(*(const double *)slot);
    case 'b': return PyBool_FromLong((long)*(const int64_t *)slot);
    case 'p': {
        wp_object *o = *(wp_object *const *)slot;
        return o == NULL ? new_reference(&_Py_NoneStruct) : out_object(o);
    }
    default: return out_value(*(const wp_val *)slot);
    }
}

/* Whether a Python number is this value already. */
static int is_same(PyObject *old, wp_val v)
{
    int64_t number;
    switch (v.tag) {
    case WP_NONE: return old == &_Py_NoneStruct;
    case WP_INT: return old->type == &PyLong_Type && int_in(old, &number) && number == v.u.i;
    case WP_FLOAT: return old->type == &PyFloat_Type && bits_of(((FloatHead *)old)->value) == bits_of(v.u.d);
    default: return v.tag >= WP_NP && scalar_is_same(old, v);
    }
}

/* The old object where it holds the value of the slot, else a new one. */
static PyObject *out_reusing(PyObject *old, const void *slot, char repr)
{
    return old != NULL && is_same(old, wp_from_slot(slot, repr)) ? new_reference(old) : out_slot(slot, repr);
}

/* --- containers --- */

static PyObject *list_out(wp_list *l)
{
    const wp_type *type = l->head.type;
    char repr = item_repr(type);
    int64_t width = item_width(type);
    PyObject *list = PyList_New(l->length);
    if (list == NULL)
        return NULL;
    remember_out(&l->head, list);
    PyObject **items = ((ListHead *)list)->items;
    for (int64_t i = 0; i < l->length; i++)
        if ((items[i] = out_slot(l->data + i * width, repr)) == NULL) {
            Py_DecRef(list);
            return NULL;
        }
    return list;
}

static PyObject *tuple_out(wp_object *o)
{
    const wp_type *type = o->type;
    int64_t length = sequence_length(o);
    PyObject *tuple = type->python != NULL ? PyType_GenericAlloc(type->python, length) : PyTuple_New(length);
    if (tuple == NULL)
        return NULL;
    if (length > 0)
        remember_out(o, tuple);
    for (int64_t i = 0; i < length; i++)
        if ((((TupleHead *)tuple)->items[i] = out_value(sequence_item(o, i))) == NULL) {
            Py_DecRef(tuple);
            return NULL;
        }
    return tuple;
}

typedef PyObject *(*new_function)(PyTypeObject *, PyObject *, PyObject *);

/* A new dict of a subclass, without running its `__init__`. */
static PyObject *special_dict(const wp_dict *d)
{
    const wp_type *type = d->head.type;
    PyObject *nothing = PyTuple_New(0);
    PyObject *dict = nothing == NULL ? NULL : ((new_function)PyType_GetSlot(type->python, SLOT_NEW))(type->python, nothing, NULL);
    Py_DecRef(nothing);
    if (dict != NULL && d->factory != NULL) {
        PyObject *name = PyUnicode_InternFromString("default_factory"), *factory = out_slot(&d->factory, 'p');
        int failed = name == NULL || factory == NULL || PyObject_GenericSetAttr(dict, name, factory) < 0;
        Py_DecRef(name);
        Py_DecRef(factory);
        if (failed) {
            Py_DecRef(dict);
            return NULL;
        }
    }
    return dict;
}

static PyObject *dict_out(wp_dict *d)
{
    PyTypeObject *class = d->head.type->python;
    PyObject *dict = class == NULL ? PyDict_New() : special_dict(d);
    if (dict == NULL)
        return NULL;
    remember_out(&d->head, dict);
    for (int64_t i = wp_dict_next(d, 0); i >= 0; i = wp_dict_next(d, i + 1)) {
        PyObject *key = out_slot(wp_dict_key_at(d, i), d->key_repr);
        PyObject *value = key == NULL ? NULL : out_slot(wp_dict_value_at(d, i), d->value_repr);
        int failed = value == NULL || (class == NULL ? PyDict_SetItem(dict, key, value) : PyObject_SetItem(dict, key, value)) < 0;
        Py_DecRef(key);
        Py_DecRef(value);
        if (failed) {
            Py_DecRef(dict);
            return NULL;
        }
    }
    return dict;
}

/* Sets of new objects that are hashed by their address have no order that Python would have given. */
static int has_new_addresses(const wp_set *s)
{
    if (flavour_of(s->repr) != REFERENCES)
        return 0;
    for (int64_t i = wp_set_next(s, 0); i >= 0; i = wp_set_next(s, i + 1)) {
        wp_object *o = object_of(set_key(s, i));
        if (o != NULL && o->type->kind == WP_OBJECT && o->type->hash == NULL)
            return 1;
    }
    return 0;
}

/* Python's set with the very table: later changes in Python continue from the same state. */
static PyObject *set_out(wp_set *s)
{
    int frozen = s->head.type->kind == WP_FROZENSET, by_hand = !has_new_addresses(s);
    if (s->head.type->python != NULL)
        return no_result("a set of a class of its own");
    PyObject *set = frozen ? PyFrozenSet_New(NULL) : PySet_New(NULL);
    if (set == NULL)
        return NULL;
    SetHead *head = (SetHead *)set;
    remember_out(&s->head, set);
    if (!by_hand) {
        for (int64_t i = wp_set_next(s, 0); i >= 0; i = wp_set_next(s, i + 1)) {
            PyObject *key = out_value(set_key(s, i));
            int failed = key == NULL || PySet_Add(set, key) < 0;
            Py_DecRef(key);
            if (failed) {
                Py_DecRef(set);
                return NULL;
            }
        }
        return set;
    }
    if (s->mask > head->mask) {
        SetEntry *table = PyMem_Malloc((size_t)(s->mask + 1) * sizeof *table);
        if (table == NULL) {
            Py_DecRef(set);
            return PyErr_NoMemory();
        }
        memset(table, 0, (size_t)(s->mask + 1) * sizeof *table);
        head->table = table;
        head->mask = s->mask;
    }
    for (int64_t i = 0; i <= s->mask; i++) {
        const char *entry = set_entry(s, i);
        if (is_free(entry))
            continue;
        PyObject *key = is_live(entry) ? out_slot(entry + 8, s->repr) : set_dummy;
        if (key == NULL) {
            Py_DecRef(set);
            return NULL;
        }
        head->table[i] = (SetEntry){key, set_hash_at(entry)};
        head->fill++;
        head->used += is_live(entry);
    }
    head->finger = s->finger;
    return set;
}

static PyObject *deque_items(const wp_deque *q, PyObject *const *old, int64_t old_count)
{
    PyObject *list = PyList_New(q->length);
    if (list == NULL)
        return NULL;
    for (int64_t i = 0; i < q->length; i++) {
        PyObject *item = out_reusing(i < old_count ? old[i] : NULL, deque_slot(q, i), item_repr(q->head.type));
        if ((((ListHead *)list)->items[i] = item) == NULL) {
            Py_DecRef(list);
            return NULL;
        }
    }
    return list;
}

static PyObject *deque_out(wp_deque *q)
{
    PyObject *deque = q->maxlen < 0 ? PyObject_CallObject((PyObject *)deque_class, NULL)
                                    : PyObject_CallFunction((PyObject *)deque_class, "()n", (Py_ssize_t)q->maxlen);
    if (deque == NULL)
        return NULL;
    remember_out(&q->head, deque);
    PyObject *items = deque_items(q, NULL, 0);
    PyObject *done = items == NULL ? NULL : PyObject_CallMethod(deque, "extend", "(O)", items);
    Py_DecRef(items);
    Py_DecRef(done);
    if (done == NULL) {
        Py_DecRef(deque);
        return NULL;
    }
    return deque;
}

static PyObject *range_out(const wp_range *r)
{
    return PyObject_CallFunction((PyObject *)&PyRange_Type, "LLL", (long long)r->start, (long long)r->stop, (long long)r->step);
}

static PyObject *slice_out(wp_object *o)
{
    PyObject *parts[3] = {NULL}, *result = NULL;
    int made = 0;
    while (made < 3 && o->type->count == 3 && (parts[made] = out_value(sequence_item(o, made))) != NULL)
        made++;
    if (made == 3)
        result = PySlice_New(parts[0], parts[1], parts[2]);
    for (int k = 0; k < made; k++)
        Py_DecRef(parts[k]);
    return result;
}

/* --- objects --- */

static PyObject *error_out(const wp_error *error)
{
    if (error->mask == 0)
        return no_result("the message of an exception that is not known");
    if (error->mask == 2)
        return PyObject_CallObject(error->head.type->python, NULL);
    PyObject *argument = out_value(error->argument), *tuple = argument == NULL ? NULL : PyTuple_New(1);
    if (tuple == NULL) {
        Py_DecRef(argument);
        return NULL;
    }
    PyTuple_SetItem(tuple, 0, argument);
    PyObject *made = PyObject_CallObject(error->head.type->python, tuple);
    Py_DecRef(tuple);
    return made;
}

static PyObject *instance_of(PyTypeObject *class)
{
    new_function make = (new_function)PyType_GetSlot(class, SLOT_NEW);
    if (make != (new_function)PyType_GetSlot(&PyBaseObject_Type, SLOT_NEW))
        return no_result("an object of a class with a `__new__` of its own");
    /* object.__new__ and not the allocation alone: only then do attributes lie in the object, where Python finds them
       faster than in a dict. */
    PyObject *nothing = PyTuple_New(0), *made = nothing == NULL ? NULL : make(class, nothing, NULL);
    Py_DecRef(nothing);
    return made;
}

static const char *const DISORDERED = "attributes in another order than usual";

static PyObject *instance_out(wp_object *o)
{
    const wp_type *type = o->type;
    if (type >= wp_error_types && type < wp_error_types + WP_EXCEPTIONS)
        return error_out((wp_error *)o);
    if (fresh != NULL)
        return no_result("an object as an argument of a Python function");
    if (((wp_record *)o)->value[0] & WP_DISORDERED)
        return no_result(DISORDERED);
    PyObject *made = instance_of(type->python);
    if (made == NULL)
        return NULL;
    remember_out(o, made);
    uint64_t mask = (uint64_t)((wp_record *)o)->value[0];
    for (int32_t k = 0; k < type->count; k++) {
        if (!(mask >> k & 1))
            continue;
        PyObject *value = out_slot((char *)o + type->offsets[k], type->slots[k]->repr);
        int failed = value == NULL || PyObject_GenericSetAttr(made, type->names[k], value) < 0;
        Py_DecRef(value);
        if (failed) {
            Py_DecRef(made);
            return NULL;
        }
    }
    return made;
}

static PyObject *str_out(wp_str *s)
{
    PyObject *made = s->head.type->kind == WP_BYTES ? PyBytes_FromStringAndSize((char *)s->data, s->length)
                                                    : PyUnicode_FromKindAndData(s->width, s->data, s->length);
    if (made == NULL)
        return NULL;
    if (fresh != NULL)
        return made; /* does not outlive this call into Python */
    remember_out(&s->head, made);
    return made;
}

static PyObject *made_already(wp_object *o)
{
    int32_t kind = o->type->kind;
    if (fresh == NULL || kind == WP_STR || kind == WP_BYTES || kind == WP_RANGE || kind == WP_SLICE)
        return o->origin;
    if (kind == WP_OBJECT && !o->type->written)
        return o->origin;
    return pair_find(fresh, o);
}

static PyObject *out_object(wp_object *o)
{
    PyObject *made = made_already(o);
    if (made != NULL)
        return new_reference(made);
    if (stack_is_low())
        return no_result("a result that is nested deeply");
    switch (o->type->kind) {
    case WP_STR:
    case WP_BYTES: made = str_out((wp_str *)o); break;
    case WP_LIST: made = list_out((wp_list *)o); break;
    case WP_TUPLE: made = tuple_out(o); break;
    case WP_DICT: made = dict_out((wp_dict *)o); break;
    case WP_SET:
    case WP_FROZENSET: made = set_out((wp_set *)o); break;
    case WP_DEQUE: made = deque_out((wp_deque *)o); break;
    case WP_RANGE: made = range_out((wp_range *)o); break;
    case WP_SLICE: made = slice_out(o); break;
    case WP_OBJECT: made = instance_out(o); break;
    case WP_ARRAY: made = array_out((wp_array *)o); break;
    case WP_FUNCTION: made = new_reference(o->type->python); break;
    case WP_BYTEARRAY:
        if ((made = bytearray_made((wp_list *)o)) != NULL)
            remember_out(o, made);
        break;
    case WP_COMPLEX: made = complex_out((wp_complex *)o); break;
    case WP_OPAQUE: made = new_reference(((wp_opaque *)o)->object); break;
    default: made = no_result("a function or iterator as a result");
    }
    return made;
}

/* A value for a call into Python: immutable objects as they are, containers as copies. */
static PyObject *copy_out(wp_val value)
{
    pair_map made = {0}, *outer = fresh;
    int collects = value.tag == WP_PTR ? PyGC_Disable() : 0; /* a collection of Python's could run code */
    fresh = &made;
    PyObject *result = out_value(value);
    fresh = outer;
    if (collects)
        PyGC_Enable();
    pair_free(&made);
    return result;
}
