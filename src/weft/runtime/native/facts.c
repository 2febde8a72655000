/* What a version was made from besides its arguments: globals, builtins, attributes of modules and classes, code and defaults
   of functions, closure variables. In: a version. Out: 1 if all of it is still so, 0 if not, -1 with an exception.

   Facts of one dict or class stand side by side. CPython counts the changes of each: as long as the number is the one of the
   last look, nothing is looked up. Where it does not count (which is tried out at start), everything is looked up. */

#include "version.h"

typedef struct {
    PyObject base;
    Py_ssize_t used;
    uint64_t changes;
} DictHead;

/* As CPython 3.10 to 3.13 lay them out; whether this one does is tried out at start. */
typedef struct {
    PyObject base;
    PyObject *globals, *builtins, *name, *qualified_name, *code, *defaults, *keywords;
} FunctionHead;

enum { TYPE_VERSION_PLACE = 384 };

static int dicts_count_changes, types_count_changes, functions_are_open;

/* The number of changes of a dict or class; 0 if it is unknown. */
static inline uint64_t changes_of_dict(const PyObject *dict)
{
    return dicts_count_changes ? ((const DictHead *)dict)->changes : 0;
}

static inline uint64_t changes_of_type(const PyObject *type)
{
    if (!types_count_changes || !(((const PyTypeObject *)type)->flags & TYPE_VALID_VERSION))
        return 0;
    uint32_t version;
    memcpy(&version, (const char *)type + TYPE_VERSION_PLACE, sizeof version);
    return version;
}

static inline PyObject *code_of(PyObject *function)
{
    return functions_are_open ? ((FunctionHead *)function)->code : PyFunction_GetCode(function);
}

static inline PyObject *defaults_of(PyObject *function)
{
    return functions_are_open ? ((FunctionHead *)function)->defaults : PyFunction_GetDefaults(function);
}

static inline PyObject *keywords_of(PyObject *function)
{
    return functions_are_open ? ((FunctionHead *)function)->keywords : PyFunction_GetKwDefaults(function);
}

/* `type` is a class of weft's own that may be changed, `function` one with defaults and keyword defaults. */
static void find_change_counts(PyObject *type, PyObject *function, PyObject *name)
{
    const FunctionHead *head = (const FunctionHead *)function;
    functions_are_open = head->code == PyFunction_GetCode(function) && head->defaults == PyFunction_GetDefaults(function) &&
                         head->keywords == PyFunction_GetKwDefaults(function) && head->defaults != NULL && head->keywords != NULL;
    PyObject *dict = PyDict_New();
    uint64_t of_dict[4] = {0}, of_type[4] = {0};
    dicts_count_changes = types_count_changes = 1;
    for (int i = 0; dict != NULL && i < 4; i++) {
        if (PyDict_SetItem(dict, name, i % 2 ? name : function) != 0 || PyObject_SetAttr(type, name, i % 2 ? name : function) != 0)
            break;
        _PyType_Lookup((PyTypeObject *)type, name);
        of_dict[i] = changes_of_dict(dict);
        of_type[i] = changes_of_type(type);
    }
    for (int i = 0; i < 4; i++) {
        dicts_count_changes &= of_dict[i] != 0 && (i == 0 || of_dict[i] != of_dict[i - 1]);
        types_count_changes &= of_type[i] != 0 && (i == 0 || of_type[i] != of_type[i - 1]);
    }
    PyErr_Clear();
    Py_DecRef(dict);
}

/* `found` is given back unless it is borrowed. */
static int is_as_before(const fact *f, PyObject *found, int borrowed)
{
    if (found == NULL && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_Exception))
            return -1;
        PyErr_Clear();
    }
    int same = found == NULL || f->value == NULL ? found == f->value : same_constant(found, f->value);
    if (!borrowed)
        Py_DecRef(found);
    return same;
}

static PyObject *code_is_same; /* function(code, known): whether one stands in for the other */

static int has_code(fact *f)
{
    PyObject *code = code_of(f->owner);
    if (code == f->value || code == f->accepted)
        return 1;
    PyObject *answer = PyObject_CallFunction(code_is_same, "OO", code, f->value);
    if (answer == NULL)
        return -1;
    int same = answer == &_Py_TrueStruct;
    Py_DecRef(answer);
    if (same) {
        Py_DecRef(f->accepted);
        f->accepted = new_reference(code);
    }
    return same;
}

static int is_or_none(const PyObject *found, const PyObject *value)
{
    return (found == NULL ? &_Py_NoneStruct : found) == value;
}

static int fact_holds(fact *f)
{
    switch (f->kind) {
    case FACT_ENTRY:
        return is_as_before(f, PyDict_GetItemWithError(f->owner, f->name), 1);
    case FACT_LOOKUP:
        return is_as_before(f, _PyType_Lookup((PyTypeObject *)f->owner, f->name), 1);
    case FACT_ATTRIBUTE:
        return is_as_before(f, PyObject_GetAttr(f->owner, f->name), 0);
    case FACT_CODE:
        return has_code(f);
    case FACT_DEFAULTS:
        return is_or_none(defaults_of(f->owner), f->value);
    case FACT_KEYWORDS:
        return is_or_none(keywords_of(f->owner), f->value);
    default:
        return is_as_before(f, PyCell_Get(f->owner), 0);
    }
}

static __attribute__((noinline)) int group_holds(version *v, const fact_group *g)
{
    for (int i = g->first; i < g->first + g->count; i++) {
        int same = fact_holds(&v->facts[i]);
        if (same <= 0)
            return same;
    }
    return 1;
}

static inline uint64_t changes_of(const fact_group *g)
{
    if (g->kind == FACT_ENTRY)
        return changes_of_dict(g->owner);
    return g->kind == FACT_LOOKUP ? changes_of_type(g->owner) : 0;
}

static inline int facts_hold(version *v)
{
    for (int i = 0; i < v->group_count; i++) {
        fact_group *g = &v->groups[i];
        if (g->changes != 0 && g->changes == changes_of(g))
            continue;
        int same = group_holds(v, g);
        if (same <= 0)
            return same;
        g->changes = changes_of(g); /* nothing has run that could change the owner since the look at it */
    }
    return 1;
}
