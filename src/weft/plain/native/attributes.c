/* The attributes of an object, without a dict made of them.

   In: an object. Out: the attributes that it has itself, one after the other. From 3.11 on CPython keeps their values in an array
   whose names the class has. Who asks for `__dict__` has a dict made of them for good, and all that the program does with the
   object afterwards is slower. Where the array lies is tried out at start; if it is not as known, the dict is asked for. */

#include "api.h"

enum { VALUES_UNKNOWN, VALUES_BESIDE_DICT, VALUES_FOR_DICT }; /* 3.11: two words before an object; 3.12: one, with a mark */
enum { SPLIT_KEYS = 2 };
extern PyTypeObject PyType_Type;
int PyDict_SetItemString(PyObject *, const char *, PyObject *);
#define MANAGED_DICT (1ul << 4) /* of the flags of a class */

typedef struct {
    PyObject *name, *unused;
} NameEntry;

/* The names of a class's attributes: a table of hashes, and behind it the names in the order of the values. */
typedef struct {
    Py_ssize_t references;
    uint8_t log_size, log_bytes, kind;
    uint32_t version;
    Py_ssize_t usable, count;
    char table[];
} KeysHead;

static int values_kept;
static Py_ssize_t keys_offset; /* of the names, in a class */

__attribute__((weak)) extern const unsigned long Py_Version; /* from 3.11 on */

typedef struct {
    PyObject *dict; /* a new reference; NULL: they are values and names */
    PyObject *const *values;
    const NameEntry *names;
    Py_ssize_t count, position;
} attribute_walk;

static inline PyObject *const *values_of(PyObject *o)
{
    if (!values_kept || !(o->type->flags & MANAGED_DICT))
        return NULL;
    if (values_kept == VALUES_BESIDE_DICT)
        return ((PyObject *const **)o)[-4];
    uintptr_t word = ((const uintptr_t *)o)[-3];
    return word & 1 ? (PyObject *const *)(word + 1) : NULL;
}

static inline const KeysHead *keys_of(const PyTypeObject *class) { return *(KeysHead *const *)((const char *)class + keys_offset); }

static inline const NameEntry *names_of(const KeysHead *keys)
{
    return (const NameEntry *)(keys->table + ((size_t)1 << keys->log_bytes));
}

/* Before the first attribute; 0 with an exception. Nothing of Python may run until `end_walk`. */
static int begin_walk(attribute_walk *w, PyObject *o)
{
    *w = (attribute_walk){.values = values_of(o)};
    if (w->values == NULL)
        return (w->dict = PyObject_GenericGetDict(o, NULL)) != NULL;
    const KeysHead *keys = keys_of(o->type);
    w->names = names_of(keys);
    w->count = keys->count;
    return 1;
}

static int next_attribute(attribute_walk *w, PyObject **name, PyObject **value)
{
    if (w->dict != NULL)
        return PyDict_Next(w->dict, &w->position, name, value);
    while (w->position < w->count) {
        Py_ssize_t k = w->position++;
        if ((*value = w->values[k]) != NULL) {
            *name = w->names[k].name;
            return 1;
        }
    }
    return 0;
}

static void end_walk(attribute_walk *w) { Py_DecRef(w->dict); }

/* One attribute, borrowed; NULL: the object has none of this name itself. `likely`: which one it may be. */
static PyObject *own_value(const attribute_walk *w, PyObject *name, Py_ssize_t likely)
{
    if (w->dict != NULL) {
        PyObject *found = PyDict_GetItemWithError(w->dict, name);
        PyErr_Clear();
        return found;
    }
    for (Py_ssize_t step = 0; step < w->count; step++) {
        Py_ssize_t k = (likely + step) % w->count;
        if (w->names[k].name == name)
            return w->values[k];
    }
    for (Py_ssize_t k = 0; k < w->count; k++)
        if (w->names[k].name != NULL && PyObject_RichCompareBool(w->names[k].name, name, PY_EQ) == 1)
            return w->values[k];
    return NULL;
}

/* The attributes of an object as a new dict, which is not the object's. */
PyObject *wp_attributes(PyObject *o)
{
    attribute_walk w;
    PyObject *found = PyDict_New(), *name, *value;
    if (found == NULL || !begin_walk(&w, o)) {
        Py_DecRef(found);
        return NULL;
    }
    while (next_attribute(&w, &name, &value))
        if (PyDict_SetItem(found, name, value) < 0) {
            Py_DecRef(found);
            found = NULL;
            break;
        }
    end_walk(&w);
    return found;
}

/* --- where the values lie: tried out --- */

/* Where a class holds an object, counted in bytes; 0: nowhere. */
static Py_ssize_t place_in(PyObject *class, const PyObject *held)
{
    PyObject *size = PyObject_GetAttrString((PyObject *)class->type, "__basicsize__");
    Py_ssize_t end = size == NULL ? 0 : (Py_ssize_t)PyLong_AsLongLong(size), found = 0;
    Py_DecRef(size);
    for (Py_ssize_t at = sizeof(PyTypeObject); at + 2 * (Py_ssize_t)sizeof held <= end; at += sizeof held)
        if (*(PyObject *const *)((const char *)class + at) == held)
            found = at;
    return found;
}

/* Whether three attributes of an object are found as they were set, and its dict, if it has `made` one, in its own place. */
static int values_agree(PyObject *o, PyObject *const *names, PyObject *const *set, int made)
{
    PyObject *dict = made ? PyObject_GenericGetDict(o, NULL) : NULL;
    PyObject *const *values = values_of(o);
    if (made) {
        int agrees = dict != NULL && values == NULL && ((PyObject *const *)o)[-3] == dict;
        Py_DecRef(dict);
        return agrees;
    }
    const KeysHead *keys = keys_of(o->type);
    if (values == NULL || keys == NULL || keys->kind != SPLIT_KEYS || keys->count != 3 || keys->log_bytes > 6)
        return 0;
    for (int k = 0; k < 3; k++)
        if (names_of(keys)[k].name != names[k] || values[k] != set[k])
            return 0;
    return 1;
}

static int try_values(PyObject *class, PyObject *qualified)
{
    static const char *const texts[] = {"weft_first", "weft_second", "weft_third"};
    PyObject *names[3], *set[3], *o[2];
    int agree = 1;
    for (int k = 0; k < 3; k++) {
        names[k] = PyUnicode_InternFromString(texts[k]);
        set[k] = PyFloat_FromDouble(1.5 + k);
        agree = agree && names[k] != NULL && set[k] != NULL;
    }
    for (int i = 0; i < 2; i++) {
        o[i] = PyObject_CallObject(class, NULL);
        for (int k = 0; k < 3; k++)
            agree = agree && o[i] != NULL && PyObject_GenericSetAttr(o[i], names[k], set[k]) == 0;
    }
    keys_offset = place_in(class, qualified) + (Py_ssize_t)sizeof(PyObject *); /* the names are behind the qualified name */
    agree = agree && keys_offset > (Py_ssize_t)sizeof(PyObject *) && (((PyTypeObject *)class)->flags & MANAGED_DICT);
    agree = agree && values_agree(o[0], names, set, 0) && values_agree(o[1], names, set, 1) && values_agree(o[0], names, set, 0);
    for (int k = 0; k < 3; k++) {
        Py_DecRef(names[k]);
        Py_DecRef(set[k]);
    }
    for (int i = 0; i < 2; i++)
        Py_DecRef(o[i]);
    return agree;
}

static void find_values(void)
{
    unsigned long version = &Py_Version == NULL ? 0 : Py_Version >> 16;
    values_kept = version == 0x30b ? VALUES_BESIDE_DICT : version == 0x30c ? VALUES_FOR_DICT : VALUES_UNKNOWN;
    PyObject *content = PyDict_New(), *qualified = PyUnicode_FromString("weft.<attributes that are tried out>");
    PyObject *class = NULL;
    if (values_kept && content != NULL && qualified != NULL && PyDict_SetItemString(content, "__qualname__", qualified) == 0)
        class = PyObject_CallFunction((PyObject *)&PyType_Type, "s()O", "Tried", content);
    if (class == NULL || !try_values(class, qualified))
        values_kept = VALUES_UNKNOWN;
    PyErr_Clear();
    Py_DecRef(class);
    Py_DecRef(content);
    Py_DecRef(qualified);
}

/* For tests: whether attributes are read without a dict. */
int wp_values_kept(void) { return values_kept; }
