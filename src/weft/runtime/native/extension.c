/* A module that stands alone: compiled functions without weft, by the limited API of CPython 3.10.

   In: kernels for several processors, the module's source and a Python text that describes its versions, all generated in
   front of and behind this file. Out: the module: its source executed, and callables in the place of the functions that were
   compiled. A call goes to the first version that takes its arguments, or to the plain function. Guards, containers, results,
   threads and memory are those of weft's own core. */

#define STANDALONE 1

#include "python_api.h"
#include "runtime.h"
#include "memory.c"
#include "handler.c"
#include "stack.c"
#include "pool.c"
#include "interrupts.c"
#include "tasks.c"
#include "routines.c"
#include "version.h"
#include "lists.c"
#include "stacks.c"
#include "containers.c"
#include "strings.c"
#include "sharing.c"
#include "guards.c"
#include "results.c"
#include "processor.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { STACK_WORDS = 256, MOST_VERSIONS = 16 };

extern PyObject *PyExc_ImportError;
extern PyTypeObject PyUnicode_Type;
PyObject *PyUnicode_FromString(const char *);
int PyUnicode_CompareWithASCIIString(PyObject *, const char *);
PyObject *PyErr_Format(PyObject *, const char *, ...);
PyObject *Py_CompileString(const char *, const char *, int);
PyObject *PyEval_EvalCode(PyObject *, PyObject *, PyObject *);
PyObject *PyEval_GetBuiltins(void);
PyObject *PyModule_GetDict(PyObject *);
PyObject *PyObject_GenericGetAttr(PyObject *, PyObject *);
PyObject *PyCFunction_NewEx(PyMethodDef *, PyObject *, PyObject *);
PyObject *PyModuleDef_Init(struct module_definition *);
PyObject *PyBytes_FromString(const char *);
int PyDict_SetItemString(PyObject *, const char *, PyObject *);
const char *PyUnicode_AsUTF8AndSize(PyObject *, Py_ssize_t *);
extern PyObject *PyExc_AttributeError;

/* --- a compiled function --- */

typedef struct {
    PyObject base;
    vectorcall call;
    PyObject *plain, *names, *defaults, *no_default;
    int64_t count, positional_only, keyword_only;
    PyObject *prepare; /* called once, before the first call that may be native; NULL afterwards */
    /* Of a function compiled as plain Python, else NULL: what runs its calls, what counts them, and what is asked after a call
       that took longer than `longest` ns (0: any), or when there have been `next_time` calls. */
    PyObject *entry, *count_native, *asked;
    long long longest, next_time;
    int version_count;
    version *versions[MOST_VERSIONS];
    long long native_calls, plain_calls;
} function;

static PyObject *method_type; /* types.MethodType */
static weft_rt runtime_table;

/* The result of a call, or NULL after a Ctrl-C meanwhile. */
static __attribute__((noinline)) PyObject *after_asking(function *f, int has_grown, PyObject *answer)
{
    Py_DecRef(PyObject_CallFunction(f->asked, "i", has_grown));
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_Exception)) {
        PyErr_Clear();
        return answer;
    }
    Py_DecRef(answer);
    return NULL;
}

static PyObject *call_plain(function *f, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    f->plain_calls++;
    PyObject *positional = PyTuple_New(count), *named = keywords == NULL ? NULL : PyDict_New(), *answer = NULL;
    int built = positional != NULL && (keywords == NULL || named != NULL);
    for (Py_ssize_t i = 0; built && i < count; i++)
        built = PyTuple_SetItem(positional, i, new_reference(args[i])) == 0;
    for (Py_ssize_t k = 0; built && keywords != NULL && k < PyTuple_Size(keywords); k++)
        built = PyDict_SetItem(named, PyTuple_GetItem(keywords, k), args[count + k]) == 0;
    if (built && stack_suffices()) {
        int64_t start = f->longest > 0 ? now_ns() : 0;
        PyObject *way = new_reference(f->entry != NULL ? f->entry : f->plain);
        answer = PyObject_Call(way, positional, named);
        Py_DecRef(way);
        int has_grown = start != 0 && f->longest > 0 && now_ns() - start > f->longest;
        if (answer != NULL && f->asked != NULL && (has_grown || (f->longest > 0 && f->plain_calls >= f->next_time)))
            answer = after_asking(f, has_grown, answer);
    }
    Py_DecRef(positional);
    Py_DecRef(named);
    return answer;
}

static int64_t find_name(const function *f, PyObject *name)
{
    for (int64_t i = f->positional_only; i < f->count; i++) {
        PyObject *own = PyTuple_GetItem(f->names, i);
        if (own == name || PyObject_RichCompareBool(own, name, 2) > 0)
            return i;
    }
    return -1;
}

/* Borrowed references to all values in order. 0 if the call is not one that Python would accept: it then says why. */
static int bind(const function *f, PyObject *const *args, Py_ssize_t count, PyObject *keywords, PyObject **bound)
{
    if (count > f->count - f->keyword_only)
        return 0;
    for (int64_t i = 0; i < f->count; i++)
        bound[i] = i < count ? args[i] : NULL;
    for (Py_ssize_t k = 0; keywords != NULL && k < PyTuple_Size(keywords); k++) {
        int64_t i = find_name(f, PyTuple_GetItem(keywords, k));
        if (i < 0 || bound[i] != NULL)
            return 0;
        bound[i] = args[count + k];
    }
    for (int64_t i = 0; i < f->count; i++)
        if (bound[i] == NULL && (bound[i] = PyTuple_GetItem(f->defaults, i)) == f->no_default)
            return 0;
    return 1;
}

/* Whether what a version was made from is still there. */
static int facts_hold(const version *v)
{
    for (int i = 0; i < v->fact_count; i++) {
        const fact *known = &v->facts[i];
        PyObject *found = known->kind == FACT_ENTRY ? PyDict_GetItemWithError(known->owner, known->name)
                                                    : PyObject_GetAttr(known->owner, known->name);
        if (found == NULL)
            PyErr_Clear();
        int same = found == NULL || known->value == NULL ? found == known->value : same_constant(found, known->value);
        if (known->kind != FACT_ENTRY)
            Py_DecRef(found);
        if (same <= 0)
            return same;
    }
    return 1;
}

/* Raises what a status other than OK and GUARD stands for. */
static void set_exception(const version *v, const int64_t *w, int64_t status)
{
    if (status == STATUS_MEMORY)
        PyErr_NoMemory();
    else if (status == STATUS_INTERRUPTED)
        PyErr_SetNone(PyExc_KeyboardInterrupt);
    else
        Py_DecRef(PyObject_CallFunction(v->raiser, "LLLLL", (long long)w[1], (long long)w[2], (long long)w[3], (long long)w[4],
                                        (long long)w[5]));
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_SystemError, "the exception of a kernel was not raised");
}

#include "calling.c"

/* 1 and the result, or NULL with an exception; 0: the version does not apply, and nothing has happened. */
static int run_kernel(version *v, PyObject *const *values, const list_call *lists, int64_t *w, PyObject **out)
{
    frame f = {0};
    memset(w, 0, CONTROL_WORDS * sizeof *w);
    memset(w + v->result_base, 0, (size_t)(v->words - v->result_base) * sizeof *w);
    int64_t status = call_kernel(v, &f, w);
    int done = 1;
    *out = NULL;
    if (status == STATUS_GUARD && !f.interrupted) {
        for (int i = 0; i < 3; i++)
            Py_DecRef(f.error[i]);
        done = 0;
    } else if (lists->count + lists->container_count + lists->stack_count > 0 && copy_all_out(lists) < 0) {
        for (int i = 0; i < 3; i++)
            Py_DecRef(f.error[i]);
    } else if (f.error[0] != NULL) {
        PyErr_Restore(f.error[0], f.error[1], f.error[2]);
    } else if (f.routines && PyErr_Occurred()) {
        ; /* that exception is the outcome */
    } else if (status != STATUS_OK) {
        set_exception(v, w, status);
    } else {
        *out = build_result(&v->results[w[0]], w, values);
        if (*out == NULL && v->repeatable && PyErr_ExceptionMatches(PyExc_Exception)) {
            PyErr_Clear(); /* the result could not be made: nothing has happened, Python may do it */
            done = 0;
        }
    }
    for (int i = 0; i < v->slot_count; i++)
        Py_DecRef((PyObject *)(uintptr_t)w[v->slots[i]]);
    return done;
}

/* Room for what a call copies of its lists, containers and strings. 1, or 0 without memory. */
static int make_room(const version *v, list_call *lists)
{
    lists->track = v->written_lists > 0;
    if (v->list_count > 0)
        lists->copies = calloc((size_t)v->list_count, sizeof *lists->copies);
    if (v->container_count > 0)
        lists->containers = calloc((size_t)v->container_count, sizeof *lists->containers);
    if (v->stack_count > 0)
        lists->stacks = calloc((size_t)v->stack_count, sizeof *lists->stacks);
    if (v->text_count > 0)
        lists->texts = calloc(4 * (size_t)v->text_count, sizeof *lists->texts);
    return (v->list_count == 0 || lists->copies != NULL) && (v->container_count == 0 || lists->containers != NULL) &&
           (v->stack_count == 0 || lists->stacks != NULL) && (v->text_count == 0 || lists->texts != NULL);
}

/* 1: the call is done, with a result or an exception. 0: the version does not apply. */
static int attempt_in(version *v, PyObject *const *arguments, list_call *lists, int64_t *w, PyObject **out)
{
    PyObject *values[MAX_VALUES];
    memcpy(values, arguments, (size_t)v->argument_count * sizeof *values);
    memset(values + v->argument_count, 0, (size_t)(v->value_count - v->argument_count) * sizeof *values);
    int fits = facts_hold(v);
    if (fits > 0)
        fits = pack_arguments(v, values, lists, w);
    if (fits > 0 && v->value_count > v->argument_count)
        fits = pack_hidden(v, values, lists, w);
    if (fits > 0 && v->written_lists)
        fits = lists_are_distinct(lists);
    if (fits > 0 && v->stack_count && v->written_arrays)
        fits = stacks_are_apart(v, lists, values);
    int done = fits > 0 ? run_kernel(v, values, lists, w, out) : fits < 0;
    for (int i = v->argument_count; i < v->value_count; i++)
        Py_DecRef(values[i]);
    return done;
}

static __attribute__((noinline)) int attempt(version *v, PyObject *const *arguments, PyObject **out)
{
    int64_t stack[STACK_WORDS], *w = v->words > STACK_WORDS ? malloc((size_t)v->words * sizeof *w) : stack;
    list_call lists = {0};
    int done = 1;
    *out = NULL;
    if (w != NULL && make_room(v, &lists))
        done = attempt_in(v, arguments, &lists, w, out);
    else
        PyErr_NoMemory();
    if (v->list_count + v->container_count + v->stack_count > 0)
        release_all(&lists);
    if (v->text_count > 0)
        release_texts(&lists);
    if (w != stack)
        free(w);
    return done;
}

/* Whatever is in the way of native code is no matter of the call's: plain Python runs. 0 after a Ctrl-C. */
static __attribute__((noinline)) int prepare(function *f)
{
    PyObject *callable = f->prepare;
    f->prepare = NULL;
    Py_DecRef(PyObject_CallFunction(callable, NULL));
    if (PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception))
        PyErr_Clear();
    Py_DecRef(callable);
    return !PyErr_Occurred();
}

static PyObject *function_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    function *f = (function *)self;
    Py_ssize_t count = (Py_ssize_t)(flags & ~VECTORCALL_OFFSET_BIT);
    PyObject *bound[MAX_VALUES], *out;
    if (f->prepare != NULL && !prepare(f))
        return NULL;
    if (stack_holds_kernel() && bind(f, args, count, keywords, bound)) {
        for (int i = 0; i < f->version_count; i++)
            if (attempt(f->versions[i], bound, &out)) {
                f->native_calls++;
                return out;
            }
    }
    if (PyErr_Occurred())
        return NULL;
    return call_plain(f, args, count, keywords);
}

/* A call by a tuple and a dict. */
static PyObject *function_call_packed(PyObject *self, PyObject *args, PyObject *keywords)
{
    Py_ssize_t count = PyTuple_Size(args), named = keywords == NULL ? 0 : PyDict_Size(keywords), place = 0;
    PyObject **values = malloc((size_t)(count + named + 1) * sizeof *values), *names = PyTuple_New(named), *key, *value;
    PyObject *answer = NULL;
    if (values != NULL && names != NULL) {
        for (Py_ssize_t i = 0; i < count; i++)
            values[i] = PyTuple_GetItem(args, i);
        for (Py_ssize_t i = 0; i < named && PyDict_Next(keywords, &place, &key, &value); i++) {
            PyTuple_SetItem(names, i, new_reference(key));
            values[count + i] = value;
        }
        answer = function_call(self, values, (size_t)count, named > 0 ? names : NULL);
    } else {
        PyErr_NoMemory();
    }
    Py_DecRef(names);
    free(values);
    return answer;
}

static PyObject *function_get(PyObject *self, PyObject *object, PyObject *type)
{
    (void)type;
    if (object == NULL || object == &_Py_NoneStruct)
        return new_reference(self);
    return PyObject_CallFunction(method_type, "OO", self, object);
}

/* Whatever is not its own is the plain function's: its name, its documentation, its hints. */
static PyObject *function_attribute(PyObject *self, PyObject *name)
{
    function *f = (function *)self;
    int native = f->entry != NULL && PyUnicode_CompareWithASCIIString(name, "native_calls") == 0;
    if (native || (f->entry != NULL && PyUnicode_CompareWithASCIIString(name, "plain_calls") == 0)) {
        PyObject *counted = PyObject_CallFunction(f->count_native, NULL);
        long long calls = counted == NULL ? -1 : PyLong_AsLongLong(counted);
        Py_DecRef(counted);
        return PyErr_Occurred() ? NULL : PyLong_FromLongLong(native ? calls : f->plain_calls - calls);
    }
    static const char *const plain_names[] = {"__module__", "__name__", "__qualname__", "__doc__"};
    for (int i = 0; i < 4; i++)
        if (PyUnicode_CompareWithASCIIString(name, plain_names[i]) == 0)
            return PyObject_GetAttr(((function *)self)->plain, name);
    PyObject *found = PyObject_GenericGetAttr(self, name);
    if (found != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError))
        return found;
    PyErr_Clear();
    return PyObject_GetAttr(((function *)self)->plain, name);
}

static PyObject *function_reduce(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyObject_GetAttrString(((function *)self)->plain, "__qualname__");
}

static void function_free(PyObject *self)
{
    function *f = (function *)self;
    PyTypeObject *type = self->type;
    for (int i = 0; i < f->version_count; i++)
        release_version(f->versions[i]);
    Py_DecRef(f->prepare);
    Py_DecRef(f->entry);
    Py_DecRef(f->count_native);
    Py_DecRef(f->asked);
    Py_DecRef(f->plain);
    Py_DecRef(f->names);
    Py_DecRef(f->defaults);
    Py_DecRef(f->no_default);
    ((void (*)(void *))PyType_GetSlot(type, 74 /* Py_tp_free */))(self);
    Py_DecRef((PyObject *)type);
}

static PyMethodDef function_methods[] = {{"__reduce__", function_reduce, METHOD_NOARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyMemberDef function_members[] = {
    {"__vectorcalloffset__", MEMBER_SSIZE, offsetof(function, call), MEMBER_READONLY, NULL},
    {"__wrapped__", MEMBER_OBJECT, offsetof(function, plain), MEMBER_READONLY, NULL},
    {"native_calls", MEMBER_LONGLONG, offsetof(function, native_calls), MEMBER_READONLY, NULL},
    {"plain_calls", MEMBER_LONGLONG, offsetof(function, plain_calls), MEMBER_READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};
static PyType_Slot function_slots[] = {
    {SLOT_CALL, (void *)function_call_packed}, {SLOT_DEALLOC, (void *)function_free}, {SLOT_DESCR_GET, (void *)function_get},
    {58 /* Py_tp_getattro */, (void *)function_attribute}, {SLOT_METHODS, function_methods}, {SLOT_MEMBERS, function_members},
    {0, NULL},
};
static PyType_Spec function_spec = {
    "weft.compiled", sizeof(function), 0, TYPE_VECTORCALL | TYPE_METHOD_DESCRIPTOR | TYPE_VERSION_TAG, function_slots};
static PyObject *function_type;

/* --- what the module's start asks for --- */

/* (plain, names, defaults, no default, positional only, keyword only): a compiled function without versions. */
static PyObject *make_function(PyObject *unused, PyObject *args)
{
    (void)unused;
    PyObject *plain, *names, *defaults, *no_default;
    long long positional_only, keyword_only;
    if (!PyArg_ParseTuple(args, "OOOOLL", &plain, &names, &defaults, &no_default, &positional_only, &keyword_only))
        return NULL;
    function *f = (function *)PyType_GenericAlloc((PyTypeObject *)function_type, 0);
    if (f == NULL)
        return NULL;
    f->call = function_call;
    f->plain = new_reference(plain);
    f->names = new_reference(names);
    f->defaults = new_reference(defaults);
    f->no_default = new_reference(no_default);
    f->count = PyTuple_Size(names);
    f->positional_only = positional_only;
    f->keyword_only = keyword_only;
    return (PyObject *)f;
}

/* (compiled function, versions) */
static PyObject *add_versions(PyObject *unused, PyObject *args)
{
    (void)unused;
    PyObject *compiled, *versions;
    if (!PyArg_ParseTuple(args, "OO", &compiled, &versions))
        return NULL;
    function *f = (function *)compiled;
    for (Py_ssize_t i = 0; i < PyTuple_Size(versions) && f->version_count < MOST_VERSIONS; i++) {
        version *v = read_version(PyTuple_GetItem(versions, i));
        if (v == NULL)
            return NULL;
        f->versions[f->version_count++] = v;
    }
    return new_reference(&_Py_NoneStruct);
}

/* Where the functions of a BLAS are: (whether its integers have 64 bits, addresses). */
static PyObject *use_blas(PyObject *unused, PyObject *args)
{
    (void)unused;
    long long ilp64;
    PyObject *addresses;
    if (!PyArg_ParseTuple(args, "LO", &ilp64, &addresses))
        return NULL;
    runtime_table.blas_ilp64 = ilp64;
    for (int i = 0; i < BLAS_FUNCTIONS; i++)
        runtime_table.blas[i] = (void *)(uintptr_t)PyLong_AsLongLong(PyTuple_GetItem(addresses, i));
    return PyErr_Occurred() ? NULL : new_reference(&_Py_NoneStruct);
}

/* (compiled function, callable that is called once before its versions are asked for the first time) */
static PyObject *set_prepare(PyObject *unused, PyObject *args)
{
    (void)unused;
    PyObject *compiled, *callable;
    if (!PyArg_ParseTuple(args, "OO", &compiled, &callable))
        return NULL;
    ((function *)compiled)->prepare = new_reference(callable);
    return new_reference(&_Py_NoneStruct);
}

/* (compiled function, what runs its calls, what gives how many of them were native, what is asked later) */
static PyObject *set_entry(PyObject *unused, PyObject *args)
{
    (void)unused;
    PyObject *compiled, *entry, *count, *asked;
    if (!PyArg_ParseTuple(args, "OOOO", &compiled, &entry, &count, &asked))
        return NULL;
    function *f = (function *)compiled;
    f->entry = new_reference(entry);
    f->count_native = new_reference(count);
    f->asked = new_reference(asked);
    return new_reference(&_Py_NoneStruct);
}

/* (compiled function, what runs its calls now, ns of a call and number of calls after which somebody asks again) */
static PyObject *set_way(PyObject *unused, PyObject *args)
{
    (void)unused;
    PyObject *compiled, *entry;
    long long longest, next_time;
    if (!PyArg_ParseTuple(args, "OOLL", &compiled, &entry, &longest, &next_time))
        return NULL;
    function *f = (function *)compiled;
    PyObject *before = f->entry;
    f->entry = new_reference(entry);
    Py_DecRef(before);
    f->longest = longest;
    f->next_time = next_time;
    return new_reference(&_Py_NoneStruct);
}

/* How many calls of a function there were that no version took. */
static PyObject *entry_calls(PyObject *unused, PyObject *args)
{
    (void)unused;
    PyObject *compiled;
    return PyArg_ParseTuple(args, "O", &compiled) ? PyLong_FromLongLong(((function *)compiled)->plain_calls) : NULL;
}

extern void *const extension_plain[];

/* The entry points of the run time of plain Python and of its kernels (plain_parts.py). */
static PyObject *plain_addresses(PyObject *unused, PyObject *args)
{
    (void)unused;
    (void)args;
    int count = 0;
    while (extension_plain[count] != NULL)
        count++;
    PyObject *addresses = PyTuple_New(count);
    for (int i = 0; addresses != NULL && i < count; i++)
        PyTuple_SetItem(addresses, i, PyLong_FromLongLong((long long)(uintptr_t)extension_plain[i]));
    return addresses;
}

extern void **const extension_tables[];

/* (number of a table, position, address, data): where a kernel finds a function of a library. */
static PyObject *put_address(PyObject *unused, PyObject *args)
{
    (void)unused;
    long long table, position, address, data;
    if (!PyArg_ParseTuple(args, "LLLL", &table, &position, &address, &data))
        return NULL;
    extension_tables[table][2 * position] = (void *)(uintptr_t)address;
    extension_tables[table][2 * position + 1] = (void *)(uintptr_t)data;
    return new_reference(&_Py_NoneStruct);
}

/* The loops that sort lines, and lines of places. */
static PyObject *sort_loops(PyObject *unused, PyObject *args)
{
    (void)unused;
    (void)args;
    const int64_t places[] = {(int64_t)(uintptr_t)weft_sort_lines, (int64_t)(uintptr_t)weft_argsort_lines};
    return tuple_of(places, 2);
}

static PyObject *change_list(PyObject *unused, PyObject *args)
{
    (void)unused;
    PyObject *list, *template, *arrays;
    return PyArg_ParseTuple(args, "OOO", &list, &template, &arrays) ? weft_change_list(list, template, arrays) : NULL;
}

static PyObject *change_dict(PyObject *unused, PyObject *args)
{
    (void)unused;
    PyObject *dict, *template, *arrays, *keys;
    return PyArg_ParseTuple(args, "OOOO", &dict, &template, &arrays, &keys) ? weft_change_dict(dict, template, arrays, keys) : NULL;
}

static PyObject *texts(PyObject *unused, PyObject *args)
{
    (void)unused;
    PyObject *codes, *starts, *lengths, *is_str;
    return PyArg_ParseTuple(args, "OOOO", &codes, &starts, &lengths, &is_str) ? weft_texts(codes, starts, lengths, is_str) : NULL;
}

/* The names are those that embedded.py calls them by. */
static PyMethodDef helpers[] = {
    {"make_function", make_function, METHOD_VARARGS, NULL},
    {"add_versions", add_versions, METHOD_VARARGS, NULL},
    {"use_blas", use_blas, METHOD_VARARGS, NULL},
    {"set_prepare", set_prepare, METHOD_VARARGS, NULL},
    {"set_entry", set_entry, METHOD_VARARGS, NULL},
    {"set_way", set_way, METHOD_VARARGS, NULL},
    {"entry_calls", entry_calls, METHOD_VARARGS, NULL},
    {"plain_addresses", plain_addresses, METHOD_NOARGS, NULL},
    {"put_address", put_address, METHOD_VARARGS, NULL},
    {"sort_loops", sort_loops, METHOD_NOARGS, NULL},
    {"weft_change_list", change_list, METHOD_VARARGS, NULL},
    {"weft_change_dict", change_dict, METHOD_VARARGS, NULL},
    {"weft_texts", texts, METHOD_VARARGS, NULL},
};
enum { HELPERS = sizeof helpers / sizeof *helpers };

/* All helpers by their names. */
static PyObject *helpers_by_name(void)
{
    PyObject *found = PyDict_New();
    for (int i = 0; found != NULL && i < HELPERS; i++) {
        PyObject *helper = PyCFunction_NewEx(&helpers[i], NULL, NULL);
        if (helper != NULL)
            PyDict_SetItemString(found, helpers[i].name, helper);
        Py_DecRef(helper);
    }
    return found;
}

/* --- the start --- */

#include "alone.c"

/* NumPy's functions; 0 if there is no NumPy, or one whose arrays are laid out in another way. */
static int find_numpy(void)
{
    PyObject *internal = PyImport_ImportModule("numpy._core._multiarray_umath");
    if (internal == NULL) {
        PyErr_Clear();
        internal = PyImport_ImportModule("numpy.core._multiarray_umath");
    }
    PyObject *capsule = internal == NULL ? NULL : PyObject_GetAttrString(internal, "_ARRAY_API");
    void **table = capsule == NULL ? NULL : PyCapsule_GetPointer(capsule, NULL);
    Py_DecRef(internal);
    if (table == NULL) {
        PyErr_Clear();
        return 0;
    }
    numpy.array_type = table[2];
    numpy.descriptor = (descriptor_from_type)table[45];
    numpy.scalar = (scalar_from_data)table[60];
    numpy.from_descriptor = (array_from_descriptor)table[94];
    numpy.zeros = (array_with_shape)table[183];
    numpy.empty = (array_with_shape)table[184];
    numpy.set_base = (set_base_object)table[282];
    numpy.set_handler = (set_data_handler)table[304];
    numpy.handler = PyCapsule_New(&result_handler, "mem_handler", NULL);
    const Py_ssize_t shape[] = {2, 3};
    PyObject *number = PyFloat_FromDouble(1.5), *list = PyList_New(1), *made = numpy.zeros(2, shape, numpy.descriptor(12), 0);
    int agrees = 0;
    if (numpy.handler != NULL && number != NULL && list != NULL && made != NULL && PyList_SetItem(list, 0, new_reference(number)) == 0) {
        const ListHead *l = (const ListHead *)list;
        const ArrayHead *a = (const ArrayHead *)made;
        agrees = number->type == &PyFloat_Type && ((FloatHead *)number)->value == 1.5 && l->base.type == &PyList_Type && l->size == 1 &&
                 l->items[0] == number && a->base.type == numpy.array_type && a->rank == 2 && a->shape[1] == 3 && a->strides[0] == 24 &&
                 a->descriptor->type_number == 12 && a->descriptor->byteorder == '=' && (a->flags & ARRAY_WRITEABLE);
    }
    Py_DecRef(number);
    Py_DecRef(list);
    Py_DecRef(made);
    PyErr_Clear();
    return agrees;
}

/* What runs before the file is known to be whole stands in its first pages (first.ld). */
#if defined(__ELF__)
#define FIRST_CODE __attribute__((section(".text.first"), noinline))
#define FIRST_DATA __attribute__((section(".rodata.first")))
#else
#define FIRST_CODE
#define FIRST_DATA
#endif

FIRST_CODE static uint64_t summed(uint64_t sum, const unsigned char *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + at, size - at < 8 ? size - at : 8);
        sum = (sum ^ word) * 1099511628211ull;
        sum ^= sum >> 29;
    }
    return sum;
}

/* Behind this mark 16 digits are the checksum of all other bytes of the file. */
FIRST_DATA static const char checksum_mark[] = EXTENSION_MARK "0000000000000000";

FIRST_DATA static const char digits_format[] = "%016llx";
FIRST_DATA static const char file_attribute[] = "__file__";
FIRST_DATA static const char extension_name[] = EXTENSION_NAME;
FIRST_DATA static const char not_whole[] = "%s is not the file that weft has built: build it again";

/* Whether the file is the one that was built. */
FIRST_CODE static int is_whole(const char *path)
{
    int file = open(path, O_RDONLY | O_CLOEXEC), whole = 0;
    struct stat status;
    if (file < 0)
        return 0;
    size_t size = fstat(file, &status) == 0 && status.st_size > 0 ? (size_t)status.st_size : 0;
    unsigned char *bytes = size == 0 ? MAP_FAILED : mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (bytes == MAP_FAILED)
        return 0;
    size_t length = sizeof checksum_mark - 17;
    unsigned char *place = memmem(bytes, size, checksum_mark, length);
    if (place != NULL && (size_t)(place - bytes) + length + 16 <= size) {
        char digits_found[17];
        unsigned char *first = place + length;
        uint64_t sum = summed(14695981039346656037ull ^ size, bytes, (size_t)(first - bytes));
        sum = summed(sum, first + 16, (size_t)(bytes + size - first - 16));
        snprintf(digits_found, sizeof digits_found, digits_format, (unsigned long long)sum);
        whole = memcmp(digits_found, first, 16) == 0;
    }
    munmap(bytes, size);
    return whole;
}

static weft_rt runtime_table = {
    .version = 1, .new_array = rt_new_array, .alloc = rt_alloc, .release = rt_release, .parallel = rt_parallel_or_tasks,
    .threads = rt_threads, .poll = rt_poll, .limits = {EXTENSION_LIMITS}, .stack_floor = rt_stack_floor, .enter = rt_enter,
    .routine = rt_routine, .leave = rt_leave, .spawn = rt_spawn, .join = rt_join, .isolate = rt_isolate, .release_isolated = rt_release_isolated,
};

extern const kernel_function extension_kernels[];
extern const int extension_kernel_count;
extern const char extension_start[], extension_source[], extension_versions[];

static PyObject *addresses_of(int level)
{
    PyObject *addresses = PyTuple_New(extension_kernel_count);
    for (int i = 0; addresses != NULL && i < extension_kernel_count; i++) {
        uintptr_t address = level < 0 ? 0 : (uintptr_t)extension_kernels[level * extension_kernel_count + i];
        PyTuple_SetItem(addresses, i, PyLong_FromLongLong((long long)address));
    }
    return addresses;
}

/* Once in a process: the type of compiled functions, threads, NumPy. Gives whether native code can run. */
static int start_once(void)
{
    static int state; /* 0: not yet, 1: native, 2: plain */
    if (state != 0)
        return state;
    builtins_name = PyUnicode_FromString("__builtins__");
    PyObject *types = PyImport_ImportModule("types");
    method_type = types == NULL ? NULL : PyObject_GetAttrString(types, "MethodType");
    function_type = PyType_FromSpec(&function_spec);
    Py_DecRef(types);
    if (builtins_name == NULL || method_type == NULL || function_type == NULL)
        return -1;
    find_digits();
    start_threads();
    return state = find_numpy() ? 1 : 2;
}

static __attribute__((noinline)) int execute_whole(PyObject *module)
{
    int level = best_level(PROCESSOR_LEVELS);
    if (level < 0) {
        PyErr_Format(PyExc_ImportError, "%s was built for %s, which this processor is not", EXTENSION_NAME, PROCESSOR_NAME);
        return -1;
    }
    int state = start_once();
    if (state < 0)
        return -1;
    PyObject *scope = PyDict_New(), *start = Py_CompileString(extension_start, "<weft>", 257 /* Py_file_input */);
    PyObject *answer = NULL, *run = NULL, *addresses = addresses_of(level);
    if (scope != NULL && start != NULL && addresses != NULL) {
        PyDict_SetItemString(scope, "__builtins__", PyEval_GetBuiltins());
        PyObject *named = helpers_by_name();
        Py_DecRef(PyEval_EvalCode(start, scope, scope));
        if (!PyErr_Occurred())
            run = PyObject_CallFunction((PyObject *)&PyUnicode_Type, "s", "start");
        PyObject *entry = run == NULL ? NULL : PyDict_GetItemWithError(scope, run);
        if (entry != NULL && named != NULL)
            answer = PyObject_CallFunction(entry, "OssOiO", PyModule_GetDict(module), extension_source, extension_versions, addresses,
                                           state == 1, named);
        Py_DecRef(named);
    }
    Py_DecRef(run);
    Py_DecRef(scope);
    Py_DecRef(start);
    Py_DecRef(addresses);
    Py_DecRef(answer);
    return answer == NULL ? -1 : 0;
}

FIRST_CODE static int execute(PyObject *module)
{
    PyObject *origin = PyObject_GetAttrString(module, file_attribute);
    const char *path = origin == NULL ? NULL : PyUnicode_AsUTF8AndSize(origin, NULL);
    PyErr_Clear();
    int whole = path != NULL && is_whole(path);
    if (!whole)
        PyErr_Format(PyExc_ImportError, not_whole, path == NULL ? extension_name : path);
    Py_DecRef(origin);
    return whole ? execute_whole(module) : -1;
}

typedef struct module_definition {
    struct {
        PyObject base;
        PyObject *(*init)(void);
        Py_ssize_t index;
        PyObject *copy;
    } head;
    const char *name, *doc;
    Py_ssize_t size;
    PyMethodDef *methods;
    PyType_Slot *slots;
    void *traverse, *clear, *free;
} module_definition;

static PyType_Slot module_slots[] = {{2 /* Py_mod_exec */, (void *)execute}, {0, NULL}};
static module_definition definition = {.head = {.base = {.refcount = 1}}, .name = extension_name, .slots = module_slots};

__attribute__((visibility("default"))) FIRST_CODE PyObject *EXTENSION_INIT(void) { return PyModuleDef_Init(&definition); }
