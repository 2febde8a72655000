/* One installed version in the form the dispatcher walks at each call.

   In: the tuple that `weft.runtime.dispatch` makes of a `Version`. Out: flat C structures. Every Python object they name is
   kept alive by that tuple, the only reference a version holds; so garbage collection sees one edge per version. */

#ifndef WEFT_VERSION_H
#define WEFT_VERSION_H

#include "runtime.h"

enum { MAX_VALUES = 256, CHOICE_BITS = 64, TRIAL_CALLS = 7 };

/* In this control word a kernel notes which way its choices by size went: bit 2i if choice i took its first branch, bit
   2i + 1 if its second. */
enum { CHOICE_WORD = 6 };

/* Not zero: the kernel handed the call back after its entry guards had held. Whatever made it do so concerns the values, and
   other versions would come to the same end. */
enum { BACK_WORD = 7 };

typedef enum { FETCH_ARGUMENT, FETCH_ATTRIBUTE, FETCH_GLOBAL, FETCH_CELL } fetch_kind;
typedef enum { TEST_ARRAY, TEST_LIST, TEST_SCALAR, TEST_CONST, TEST_SAME, TEST_OBJECT, TEST_CONTAINER, TEST_STACK, TEST_TEXT,
    TEST_MEMORY } test_kind;
typedef enum {
    RESULT_NONE, RESULT_CONST, RESULT_SCALAR, RESULT_ARRAY, RESULT_ARGUMENT, RESULT_VIEW, RESULT_LIST, RESULT_TUPLE,
    RESULT_LIST_OF
} result_kind;
typedef enum {
    SCALAR_INT, SCALAR_BOOL, SCALAR_FLOAT, SCALAR_COMPLEX, SCALAR_NP_BOOL, SCALAR_INT8, SCALAR_INT16, SCALAR_INT32,
    SCALAR_INT64, SCALAR_UINT8, SCALAR_UINT16, SCALAR_UINT32, SCALAR_UINT64, SCALAR_FLOAT16, SCALAR_FLOAT32, SCALAR_FLOAT64,
    SCALAR_COMPLEX64, SCALAR_COMPLEX128, SCALAR_KINDS
} scalar_kind;
/* What becomes of a list that is an argument: nothing, its elements are copied out, or the result changes it. */
enum { WRITTEN_NOT, WRITTEN_ELEMENTS, WRITTEN_BY_RESULT };

typedef enum { LIST_FLOAT, LIST_INT, LIST_BOOL, LIST_COMPLEX, LIST_KINDS } list_kind;

typedef struct {
    fetch_kind fetch;
    test_kind test;
    int64_t fetch_index;
    PyObject *fetch_from;  /* namespace or cell */
    PyObject *fetch_name;  /* a name, or a tuple of attribute names */
    int code;              /* type number, list kind, scalar kind, index of the same parameter */
    int rank;
    int written;
    int item_shift;        /* log2 of the item size */
    int words;
    PyObject *object;      /* scalar type, constant, object type, template */
    const char *template;  /* of a container; which arguments lie in a memory */
} parameter;

typedef struct result {
    result_kind kind;
    int code; /* scalar kind; parameter index, or -1-slot, of an argument or view */
    int offset;
    int rank;
    PyObject *object; /* constant; dtype (float16: scalar type) of a NumPy scalar */
    struct result *items;
    int count;
} result;

typedef enum { FACT_ENTRY, FACT_LOOKUP, FACT_ATTRIBUTE, FACT_CODE, FACT_DEFAULTS, FACT_KEYWORDS, FACT_CELL } fact_kind;

/* value: NULL if there is none. accepted: code that stands in for it, with a reference. */
typedef struct {
    fact_kind kind;
    PyObject *owner, *name, *value, *accepted;
} fact;

/* The facts of one owner, and the number of its changes when all of them held. */
typedef struct {
    fact_kind kind;
    PyObject *owner;
    int first, count;
    uint64_t changes;
} fact_group;

/* The way was chosen by calls of at most `limit` ns (0: it was not). A look at the precise clock at each call would be felt; so
   a cheap one that moves some hundred times a second says which calls may be long ones, and the next calls are measured. */
typedef struct {
    long long limit;
    int suspected;
} call_watch;

/* Calls of one kind that run in plain Python, see straight.c: `left` more of them, and `done` since the last other one; `tick`
   of the cheap clock, which is looked at if some way is `watched`; `missed`: no version is for them. */
typedef struct {
    uint64_t kind;
    int64_t left, done, tick;
    int watched, missed;
} straight_way;

typedef struct {
    PyObject *owner;
    int references;
    int index; /* in order of installation */
    int64_t generality; /* versions for fewer arguments are tried first: their code is better */
    int64_t calls, refused; /* refused: the kernel found before any effect that it does not apply */
    int repeatable; /* nothing that it does is seen before its result: Python may do it instead as long as there is none */
    int dropped;    /* no more calls */
    int demoted;    /* it refuses most calls: others come first */
    int timed;      /* plain Python gives the same to the last bit: the faster way is taken */
    int converts;   /* arguments or results are containers that are copied */
    int way, searched, measured, trials, disturbed, lost; /* see trials.c */
    call_watch watch;
    int64_t worth; /* ns of a plain call that is worth another trial */
    int64_t way_calls, ask_again, copy_time, kernel_time, packed_time, native_times[TRIAL_CALLS], plain_times[TRIAL_CALLS];
    int64_t choices[CHOICE_BITS]; /* calls that took each branch of each choice, see CHOICE_WORD */
    int64_t *last; /* the words of the parameters of the last call */
    kernel_function kernel; /* NULL: `callable` is Python code */
    PyObject *callable;
    PyObject *raiser; /* called with code, line and three values; raises the kernel's exception */
    int argument_count, value_count, list_count, container_count, stack_count, text_count, written_lists, written_arrays;
    parameter *parameters;
    int result_count;
    result *results;
    int words, result_base;
    int64_t hold_below; /* the interpreter lock is kept for arrays with fewer elements in all */
    int slot_count;
    int *slots;
    fact *facts; /* see facts.c */
    fact_group *groups;
    int fact_count, group_count;
} version;

static void free_results(result *items, int count)
{
    if (items == NULL)
        return;
    for (int i = 0; i < count; i++)
        free_results(items[i].items, items[i].count);
    free(items);
}

/* Called with the interpreter lock held, as everything that counts references here. */
static void release_version(version *v)
{
    if (--v->references > 0)
        return;
    free_results(v->results, v->result_count);
    free(v->parameters);
    free(v->slots);
    free(v->last);
    for (int i = 0; i < v->fact_count; i++)
        Py_DecRef(v->facts[i].accepted);
    free(v->facts);
    free(v->groups);
    Py_DecRef(v->owner);
    free(v);
}

/* --- reading the tuple --- */

static int64_t field_int(PyObject *tuple, Py_ssize_t index)
{
    PyObject *item = PyTuple_GetItem(tuple, index);
    return item == NULL ? -1 : PyLong_AsLongLong(item);
}

static int read_parameter(PyObject *tuple, parameter *p)
{
    p->fetch = (fetch_kind)field_int(tuple, 0);
    p->fetch_index = field_int(tuple, 1);
    p->fetch_from = PyTuple_GetItem(tuple, 2);
    p->fetch_name = PyTuple_GetItem(tuple, 3);
    p->test = (test_kind)field_int(tuple, 4);
    p->code = (int)field_int(tuple, 5);
    p->rank = (int)field_int(tuple, 6);
    p->written = (int)field_int(tuple, 7);
    p->item_shift = (int)field_int(tuple, 8);
    p->words = (int)field_int(tuple, 9);
    p->object = PyTuple_GetItem(tuple, 10);
    if (p->test == TEST_CONTAINER || p->test == TEST_STACK || p->test == TEST_TEXT || p->test == TEST_MEMORY)
        p->template = PyBytes_AsString(p->object);
    return PyErr_Occurred() ? -1 : 0;
}

static result *read_results(PyObject *tuple, int *count)
{
    Py_ssize_t size = PyTuple_Size(tuple);
    if (size < 0)
        return NULL;
    result *items = calloc((size_t)size + 1, sizeof *items);
    if (items == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    *count = (int)size;
    for (Py_ssize_t i = 0; i < size; i++) {
        PyObject *entry = PyTuple_GetItem(tuple, i);
        items[i].kind = (result_kind)field_int(entry, 0);
        items[i].code = (int)field_int(entry, 1);
        items[i].offset = (int)field_int(entry, 2);
        items[i].rank = (int)field_int(entry, 3);
        items[i].object = PyTuple_GetItem(entry, 4);
        PyObject *children = PyTuple_GetItem(entry, 5);
        if (PyErr_Occurred() || (items[i].items = read_results(children, &items[i].count)) == NULL)
            return items;
    }
    return items;
}

static int read_slots(PyObject *tuple, version *v)
{
    v->slot_count = (int)PyTuple_Size(tuple);
    v->slots = calloc((size_t)(v->slot_count > 0 ? v->slot_count : 0) + 1, sizeof *v->slots);
    for (int i = 0; v->slots != NULL && i < v->slot_count; i++)
        v->slots[i] = (int)field_int(tuple, i);
    if (v->slots == NULL)
        PyErr_NoMemory();
    return PyErr_Occurred() ? -1 : 0;
}

static int read_parameters(PyObject *tuple, version *v)
{
    v->value_count = (int)PyTuple_Size(tuple);
    if (v->value_count > MAX_VALUES) {
        PyErr_SetString(PyExc_TypeError, "a version can have at most 256 parameters, hidden ones included");
        return -1;
    }
    v->parameters = calloc((size_t)(v->value_count > 0 ? v->value_count : 0) + 1, sizeof *v->parameters);
    if (v->parameters == NULL)
        PyErr_NoMemory();
    if (PyErr_Occurred())
        return -1;
    v->result_base = CONTROL_WORDS;
    for (int i = 0; i < v->value_count; i++) {
        parameter *p = &v->parameters[i];
        if (read_parameter(PyTuple_GetItem(tuple, i), p) < 0)
            return -1;
        v->result_base += p->words;
        v->list_count += p->test == TEST_LIST;
        v->container_count += p->test == TEST_CONTAINER;
        v->stack_count += p->test == TEST_STACK;
        v->text_count += p->test == TEST_TEXT;
        v->searched |= p->test == TEST_CONTAINER && strchr(p->template, '{') != NULL;
        v->written_arrays += (p->test == TEST_ARRAY || p->test == TEST_STACK) && p->written;
        v->written_lists += (p->test == TEST_LIST || p->test == TEST_CONTAINER || p->test == TEST_TEXT) && p->written;
    }
    v->last = calloc((size_t)(v->result_base - CONTROL_WORDS) + 1, sizeof *v->last);
    if (v->last == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

static int read_facts(PyObject *tuple, version *v)
{
    Py_ssize_t count = PyTuple_Size(tuple);
    v->facts = calloc((size_t)(count > 0 ? count : 0) + 1, sizeof *v->facts);
    v->groups = calloc((size_t)(count > 0 ? count : 0) + 1, sizeof *v->groups);
    if (v->facts == NULL || v->groups == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *entry = PyTuple_GetItem(tuple, i);
        fact *f = &v->facts[v->fact_count++];
        f->owner = PyTuple_GetItem(entry, 0);
        f->kind = (fact_kind)field_int(entry, 1);
        f->name = PyTuple_GetItem(entry, 2);
        f->value = PyTuple_Size(entry) > 3 ? PyTuple_GetItem(entry, 3) : NULL;
        fact_group *g = &v->groups[v->group_count - (v->group_count > 0)];
        if (v->group_count == 0 || g->owner != f->owner || g->kind != f->kind) {
            g = &v->groups[v->group_count++];
            *g = (fact_group){f->kind, f->owner, (int)i, 0, 0};
        }
        g->count++;
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* owner: (address or 0, callable or None, raiser, argument count, words, parameters, results, slots, hold_below, keepalive,
   generality, repeatable, timed, converts, facts) */
static version *read_version(PyObject *owner)
{
    version *v = calloc(1, sizeof *v);
    if (v == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    v->references = 1;
    v->ask_again = 64;
    v->owner = new_reference(owner);
    v->kernel = (kernel_function)(uintptr_t)field_int(owner, 0);
    v->callable = PyTuple_GetItem(owner, 1);
    v->raiser = PyTuple_GetItem(owner, 2);
    v->argument_count = (int)field_int(owner, 3);
    v->words = (int)field_int(owner, 4);
    v->hold_below = field_int(owner, 8);
    v->generality = field_int(owner, 10);
    v->repeatable = (int)field_int(owner, 11);
    v->timed = (int)field_int(owner, 12);
    v->converts = (int)field_int(owner, 13);
    if (!PyErr_Occurred() && read_parameters(PyTuple_GetItem(owner, 5), v) == 0 &&
        (v->results = read_results(PyTuple_GetItem(owner, 6), &v->result_count)) != NULL && !PyErr_Occurred() &&
        read_slots(PyTuple_GetItem(owner, 7), v) == 0 && read_facts(PyTuple_GetItem(owner, 14), v) == 0)
        return v;
    release_version(v);
    return NULL;
}

#endif
