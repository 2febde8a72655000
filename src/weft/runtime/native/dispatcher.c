/* The callable that a user's function becomes: binds a call, finds a version whose guards it passes, runs it.

   In: a vectorcall. Out: the result of a version, or of the Python method `_miss(args, kwargs, status)` when none fits
   (status None) or its kernel found out before any effect that it does not apply (status 1). If that answers `left_answer`,
   `_plain` runs, and is called at once when such calls come again (see left.c). Versions for
   fewer arguments come first, and among equals the most recently used. The interpreter lock is released while a kernel runs. */

#include "version.h"

enum { STACK_WORDS = 192, MANY_REFUSALS = 16, DEMOTED = 1 << 20, MOST_FORMS = 64 };

typedef struct {
    PyObject base;
    vectorcall call;
    PyObject *names, *defaults, *no_default;
    int64_t count, positional_only, keyword_only, variadic;
    version **versions;
    int version_count;
    long long misses, guard_failures, may_run_plain, plain_calls;
    PyObject *plain; /* what runs where no version does; NULL before it is set */
    PyObject *forms[MOST_FORMS]; /* of a function with * parameters: what takes calls of so many arguments without names */
    left_table left;
    call_watch watch;
    straight_way straight;
    /* The function that all of this is of, and what it was made from: code, defaults and keyword defaults. */
    PyObject *defined, *code, *given, *named;
    uint64_t named_changes;
} dispatcher;

/* ATTEMPT_PYTHON: the call fits a version of Python code, whose arguments are in the place of the answer. ATTEMPT_PLAIN: it
   fits one that plain Python is preferred to. ATTEMPT_UNMADE: the result could not be made, and nothing else has happened. */
typedef enum { ATTEMPT_UNFIT, ATTEMPT_DONE, ATTEMPT_GUARD, ATTEMPT_BACK, ATTEMPT_PYTHON, ATTEMPT_PLAIN,
    ATTEMPT_UNMADE } attempt_outcome;

static PyObject *guard_failed_type, *left_answer;
static weft_rt runtime_table;

/* --- the function itself --- */

static void forget_function(dispatcher *d)
{
    PyObject *held[] = {d->defined, d->code, d->given, d->named};
    d->defined = d->code = d->given = d->named = NULL;
    for (int i = 0; i < 4; i++)
        Py_DecRef(held[i]);
}

static PyObject *dispatcher_watch(PyObject *self, PyObject *function)
{
    dispatcher *d = (dispatcher *)self;
    if (!is_exact(function, &PyFunction_Type)) {
        PyErr_SetString(PyExc_TypeError, "a Python function is needed");
        return NULL;
    }
    forget_function(d);
    d->defined = new_reference(function);
    d->code = new_reference(code_of(function));
    d->given = defaults_of(function);
    d->named = keywords_of(function);
    Py_IncRef(d->given);
    Py_IncRef(d->named);
    d->named_changes = d->named == NULL ? 0 : changes_of_dict(d->named);
    return new_reference(&_Py_NoneStruct);
}

static inline int is_redefined(const dispatcher *d)
{
    if (d->defined == NULL)
        return 0;
    if (code_of(d->defined) != d->code || defaults_of(d->defined) != d->given || keywords_of(d->defined) != d->named)
        return 1;
    return d->named != NULL && changes_of_dict(d->named) != d->named_changes;
}

/* --- binding --- */

static int64_t find_name(const dispatcher *d, PyObject *name)
{
    for (int64_t i = d->positional_only; i < d->count; i++)
        if (PyTuple_GetItem(d->names, i) == name)
            return i;
    for (int64_t i = d->positional_only; i < d->count; i++)
        if (PyObject_RichCompareBool(PyTuple_GetItem(d->names, i), name, 2) > 0)
            return i;
    return -1;
}

/* Borrowed references to all values in order. 0 if the call is not one that Python would accept: it then says why. */
static int bind(const dispatcher *d, PyObject *const *args, Py_ssize_t count, PyObject *keywords, PyObject **bound)
{
    if (count > d->count - d->keyword_only)
        return 0;
    for (int64_t i = 0; i < d->count; i++)
        bound[i] = i < count ? args[i] : NULL;
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_Size(keywords);
    for (Py_ssize_t k = 0; k < named; k++) {
        int64_t i = find_name(d, PyTuple_GetItem(keywords, k));
        if (i < 0 || bound[i] != NULL)
            return 0;
        bound[i] = args[count + k];
    }
    for (int64_t i = 0; i < d->count; i++)
        if (bound[i] == NULL && (bound[i] = PyTuple_GetItem(d->defaults, i)) == d->no_default)
            return 0;
    return 1;
}

/* The arguments of a vectorcall as a tuple and a dict; 0 with an exception. Both are to be given back in any case. */
static int packed_call(PyObject *const *args, Py_ssize_t count, PyObject *keywords, PyObject **positional, PyObject **named)
{
    *positional = PyTuple_New(count);
    *named = PyDict_New();
    int built = *positional != NULL && *named != NULL;
    for (Py_ssize_t i = 0; built && i < count; i++)
        built = PyTuple_SetItem(*positional, i, new_reference(args[i])) == 0;
    Py_ssize_t named_count = keywords == NULL ? 0 : PyTuple_Size(keywords);
    for (Py_ssize_t k = 0; built && k < named_count; k++)
        built = PyDict_SetItem(*named, PyTuple_GetItem(keywords, k), args[count + k]) == 0;
    return built;
}

/* The call in plain Python, with no frame of weft's between. */
static PyObject *call_plain(dispatcher *d, PyObject *const *args, size_t flags, PyObject *keywords)
{
    if (!stack_suffices())
        return NULL;
    d->plain_calls++;
    long long limit = d->watch.limit;
    int precisely = d->watch.suspected;
    int64_t began = limit == 0 ? 0 : watch_clock(precisely);
    PyObject *plain = new_reference(d->plain), *answer = NULL; /* the call may put another one in its place */
    if (is_exact(plain, &PyFunction_Type)) {
        answer = _PyFunction_Vectorcall(plain, args, flags & ~VECTORCALL_OFFSET_BIT, keywords);
    } else {
        PyObject *positional, *named;
        if (packed_call(args, (Py_ssize_t)(flags & ~VECTORCALL_OFFSET_BIT), keywords, &positional, &named))
            answer = PyObject_Call(plain, positional, named);
        Py_DecRef(positional);
        Py_DecRef(named);
    }
    Py_DecRef(plain);
    if (limit != 0 && limit == d->watch.limit && is_longer(&d->watch, watch_clock(precisely) - began, precisely) && answer != NULL)
        Py_DecRef(PyObject_CallMethod((PyObject *)d, "_grown", NULL)); /* which raises nothing */
    return answer;
}

#include "straight.c"

/* Asks `_miss` about a call that no version takes. */
static PyObject *miss(dispatcher *d, PyObject *const *args, size_t flags, PyObject *keywords, int status)
{
    Py_ssize_t count = (Py_ssize_t)(flags & ~VECTORCALL_OFFSET_BIT);
    d->misses += status == 0;
    d->guard_failures += status == STATUS_GUARD;
    uint64_t kind = kind_of_call(args, count, keywords);
    if (d->plain != NULL && is_left(&d->left, kind, straight_calls(d))) {
        PyObject *answer = call_plain(d, args, flags, keywords);
        begin_straight(d, NULL, kind);
        return answer;
    }
    if (!stack_suffices())
        return NULL;
    questions++;
    PyObject *positional, *named, *answer = NULL;
    if (packed_call(args, count, keywords, &positional, &named)) {
        if (status == 0)
            answer = PyObject_CallMethod((PyObject *)d, "_miss", "OOO", positional, named, &_Py_NoneStruct);
        else
            answer = PyObject_CallMethod((PyObject *)d, "_miss", "OOi", positional, named, status);
    }
    Py_DecRef(positional);
    Py_DecRef(named);
    if (answer != left_answer || d->plain == NULL)
        return answer;
    Py_DecRef(answer);
    note_left(&d->left, kind);
    return call_plain(d, args, flags, keywords);
}

/* --- running --- */

static attempt_outcome python_arguments(const version *v, PyObject *const *values, PyObject **out)
{
    *out = PyTuple_New(v->value_count);
    for (int i = 0; *out != NULL && i < v->value_count; i++)
        PyTuple_SetItem(*out, i, new_reference(values[i]));
    return *out == NULL ? ATTEMPT_DONE : ATTEMPT_PYTHON;
}

static attempt_outcome run_python(const version *v, PyObject **out)
{
    PyObject *args = *out;
    *out = stack_suffices() ? PyObject_Call(v->callable, args, NULL) : NULL;
    Py_DecRef(args);
    if (*out == NULL && PyErr_ExceptionMatches(guard_failed_type)) {
        PyErr_Clear();
        return ATTEMPT_GUARD;
    }
    return ATTEMPT_DONE;
}

static void drop_error(frame *f)
{
    for (int i = 0; i < 3; i++)
        Py_DecRef(f->error[i]);
}

/* Sets the exception that a status other than OK and GUARD stands for. */
static void set_exception(const version *v, const int64_t *w, int64_t status)
{
    if (status == STATUS_MEMORY) {
        PyErr_NoMemory();
    } else if (status == STATUS_INTERRUPTED) {
        PyErr_SetNone(PyExc_KeyboardInterrupt);
    } else if (status == STATUS_RAISE) {
        /* The call raises in a frame of its own, which is all that the traceback shows. */
        PyObject *thrower = PyObject_CallFunction(v->raiser, "LLLLL", (long long)w[1], (long long)w[2], (long long)w[3],
                                                  (long long)w[4], (long long)w[5]);
        PyObject *answer = thrower == NULL ? NULL : PyObject_CallFunction(thrower, NULL);
        Py_DecRef(thrower);
        Py_DecRef(answer);
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_SystemError, "the exception of a kernel was not raised");
    } else {
        PyErr_SetString(PyExc_SystemError, "a kernel returned an unknown status");
    }
}

static PyObject *finish(const version *v, const int64_t *w, PyObject *const *values, int64_t status)
{
    if (status != STATUS_OK) {
        set_exception(v, w, status);
        return NULL;
    }
    if (w[0] < 0 || w[0] >= v->result_count) {
        PyErr_SetString(PyExc_SystemError, "a kernel returned an unknown result");
        return NULL;
    }
    return build_result(&v->results[w[0]], w, values);
}

#include "calling.c"

/* What `explain` tells of a call: its sizes and which branches it took. */
static inline void note_call(version *v, const int64_t *w)
{
    for (uint64_t taken = (uint64_t)w[CHOICE_WORD]; taken != 0; taken &= taken - 1)
        v->choices[__builtin_ctzll(taken)]++;
    memcpy(v->last, w + CONTROL_WORDS, (size_t)(v->result_base - CONTROL_WORDS) * sizeof *w);
}

static attempt_outcome run_kernel(version *v, PyObject *const *values, const list_call *lists, int64_t *w, PyObject **out)
{
    frame f = {0};
    int64_t start = v->way == WAY_MEASURED && v->timed && v->converts ? trial_clock(v) : 0;
    int64_t status = call_kernel(v, &f, w);
    v->packed_time = start;
    v->kernel_time = start == 0 ? 0 : trial_clock(v) - start;
    attempt_outcome outcome = ATTEMPT_DONE;
    *out = NULL;
    if (status == STATUS_GUARD && !f.interrupted) {
        drop_error(&f);
        outcome = w[BACK_WORD] ? ATTEMPT_BACK : ATTEMPT_GUARD;
    } else if (lists->count + lists->container_count + lists->stack_count > 0 && copy_all_out(lists) < 0) {
        drop_error(&f);
    } else if (f.error[0] != NULL) {
        PyErr_Restore(f.error[0], f.error[1], f.error[2]);
    } else if (f.routines && PyErr_Occurred()) {
        ; /* that exception is the outcome */
    } else {
        note_call(v, w);
        *out = finish(v, w, values, status);
        if (*out == NULL && status == STATUS_OK && v->repeatable && PyErr_ExceptionMatches(PyExc_Exception))
            outcome = ATTEMPT_UNMADE;
    }
    for (int i = 0; i < v->slot_count; i++)
        Py_DecRef((PyObject *)(uintptr_t)w[v->slots[i]]);
    return outcome;
}

/* The end of an attempt: `fits` is what the guards said of all values. */
static inline attempt_outcome run_if(int fits, version *v, PyObject *const *values, list_call *lists, int64_t *w, PyObject **out)
{
    if (fits > 0 && v->written_lists)
        fits = lists_are_distinct(lists);
    if (fits > 0 && v->stack_count && v->written_arrays)
        fits = stacks_are_apart(v, lists, values);
    if (fits == 0)
        return ATTEMPT_UNFIT;
    if (fits < 0) {
        *out = NULL;
        return ATTEMPT_DONE;
    }
    if (v->kernel == NULL)
        return python_arguments(v, values, out);
    memset(w, 0, CONTROL_WORDS * sizeof *w);
    memset(w + v->result_base, 0, (size_t)(v->words - v->result_base) * sizeof *w);
    return run_kernel(v, values, lists, w, out);
}

/* Functions with a large frame are kept out of line, and have returned when a call that misses or that runs Python code
   goes on: it may recurse. */
static __attribute__((noinline)) attempt_outcome attempt_hidden(version *v, PyObject *const *arguments, list_call *lists,
                                                                int64_t *w, PyObject **out)
{
    PyObject *values[MAX_VALUES];
    memcpy(values, arguments, (size_t)v->argument_count * sizeof *values);
    memset(values + v->argument_count, 0, (size_t)(v->value_count - v->argument_count) * sizeof *values);
    attempt_outcome outcome = run_if(pack_hidden(v, values, lists, w), v, values, lists, w, out);
    for (int i = v->argument_count; i < v->value_count; i++)
        Py_DecRef(values[i]);
    return outcome;
}

static __attribute__((noinline)) attempt_outcome attempt(version *v, PyObject *const *arguments, PyObject **out)
{
    int64_t stack[STACK_WORDS], *w = stack;
    list_call lists = {0};
    v->references++;
    lists.track = v->written_lists > 0;
    attempt_outcome outcome = ATTEMPT_DONE;
    if (v->words > STACK_WORDS)
        w = malloc((size_t)v->words * sizeof *w);
    if (v->list_count > 0)
        lists.copies = calloc((size_t)v->list_count, sizeof *lists.copies);
    if (v->container_count > 0)
        lists.containers = calloc((size_t)v->container_count, sizeof *lists.containers);
    if (v->stack_count > 0)
        lists.stacks = calloc((size_t)v->stack_count, sizeof *lists.stacks);
    if (v->text_count > 0)
        lists.texts = calloc(4 * (size_t)v->text_count, sizeof *lists.texts);
    if (w == NULL || (v->list_count > 0 && lists.copies == NULL) || (v->container_count > 0 && lists.containers == NULL) ||
        (v->stack_count > 0 && lists.stacks == NULL) || (v->text_count > 0 && lists.texts == NULL)) {
        *out = PyErr_NoMemory();
    } else {
        int fits = facts_hold(v);
        if (fits > 0)
            fits = pack_arguments(v, arguments, &lists, w);
        if (fits > 0 && v->value_count > v->argument_count)
            outcome = attempt_hidden(v, arguments, &lists, w, out);
        else
            outcome = run_if(fits, v, arguments, &lists, w, out);
    }
    if (v->list_count + v->container_count + v->stack_count > 0)
        release_all(&lists);
    if (v->text_count > 0)
        release_texts(&lists);
    if (w != stack)
        free(w);
    release_version(v);
    return outcome;
}

/* Where a version that was used or added last belongs: in front of those that are as general as it, behind those that are
   made for fewer arguments and so are better where they fit. */
static int place_for(const dispatcher *d, const version *v)
{
    int at = 0;
    while (at < d->version_count && d->versions[at]->generality < v->generality)
        at++;
    return at;
}

static void move_to_front(dispatcher *d, version *v)
{
    int to = place_for(d, v), at = to;
    while (at < d->version_count && d->versions[at] != v)
        at++;
    if (at == d->version_count) /* removed while it ran */
        return;
    memmove(&d->versions[to + 1], &d->versions[to], (size_t)(at - to) * sizeof *d->versions);
    d->versions[to] = v;
}

/* Put a version that refuses most calls, after its guards have held, behind all others. Whether it was moved. */
static int demote(dispatcher *d, version *v)
{
    if (v->demoted || v->refused < MANY_REFUSALS || v->refused < 4 * v->calls)
        return 0;
    int at = 0;
    while (at < d->version_count && d->versions[at] != v)
        at++;
    if (at == d->version_count)
        return 0;
    v->demoted = 1;
    v->generality += DEMOTED;
    memmove(&d->versions[at], &d->versions[at + 1], (size_t)(d->version_count - 1 - at) * sizeof *d->versions);
    d->versions[d->version_count - 1] = v;
    return 1;
}

/* An attempt that is timed, or none if plain Python is preferred. */
static attempt_outcome attempt_measured(version *v, PyObject *const *values, PyObject **out)
{
    if (prefers_plain(v) && seems_to_fit(v, values))
        return ATTEMPT_PLAIN;
    int measured = v->way == WAY_MEASURED;
    int64_t start = measured ? trial_clock(v) : 0;
    attempt_outcome outcome = attempt(v, values, out);
    if (measured && outcome == ATTEMPT_DONE)
        note_native(v, trial_clock(v) - start, v->kernel_time, v->packed_time == 0 ? 0 : v->packed_time - start);
    else if (measured)
        note_unfit(v);
    return outcome;
}

/* Whether a call whose result could not be made is left to Python: `_survives` says if the exception is the caller's. Nothing
   that anybody sees has happened: the version writes no array and no container (`repeatable`), and makes only new objects. */
static int survives_unmade(dispatcher *d, version *v)
{
    PyObject *error[3];
    PyErr_Fetch(&error[0], &error[1], &error[2]);
    PyErr_NormalizeException(&error[0], &error[1], &error[2]);
    if (error[1] != NULL && error[2] != NULL)
        PyException_SetTraceback(error[1], error[2]);
    PyObject *answer = error[1] == NULL ? NULL : PyObject_CallMethod((PyObject *)d, "_survives", "(O)", error[1]);
    int survives = answer == &_Py_TrueStruct;
    Py_DecRef(answer);
    if (survives) {
        v->dropped = 1; /* it would happen again, after all of the kernel's work */
        for (int i = 0; i < 3; i++)
            Py_DecRef(error[i]);
    } else {
        PyErr_Clear();
        PyErr_Restore(error[0], error[1], error[2]);
    }
    return survives;
}

/* The first version that takes the call. If none does: ATTEMPT_GUARD if a kernel refused it (nothing has happened then, and
   another version may still take it, unless the values are to blame), else ATTEMPT_UNFIT. */
static inline attempt_outcome attempt_versions(dispatcher *d, PyObject *const *values, PyObject **answer, version **plain)
{
    attempt_outcome refused = ATTEMPT_UNFIT;
    for (int i = 0; i < d->version_count; i++) {
        version *v = d->versions[i];
        if (v->dropped)
            continue;
        v->references++; /* an attribute's or the answer's making may run Python code that removes it */
        int on_trial = d->may_run_plain && d->plain != NULL && v->timed;
        attempt_outcome outcome = on_trial ? attempt_measured(v, values, answer) : attempt(v, values, answer);
        if (outcome == ATTEMPT_PYTHON)
            outcome = run_python(v, answer);
        if (outcome == ATTEMPT_UNMADE)
            outcome = d->plain != NULL && survives_unmade(d, v) ? ATTEMPT_BACK : ATTEMPT_DONE;
        if (outcome == ATTEMPT_DONE)
            v->calls++;
        if (outcome == ATTEMPT_GUARD || outcome == ATTEMPT_BACK) {
            v->refused++;
            refused = ATTEMPT_GUARD;
            if (outcome == ATTEMPT_BACK && on_trial && !v->dropped)
                note_lost(v);
        }
        if (outcome == ATTEMPT_DONE && i > 0)
            move_to_front(d, v);
        if (outcome == ATTEMPT_GUARD && i < d->version_count - 1 && demote(d, v))
            i--; /* the next one has taken its place */
        if (outcome == ATTEMPT_PLAIN)
            *plain = v; /* the reference goes along */
        else
            release_version(v);
        if (outcome == ATTEMPT_DONE || outcome == ATTEMPT_PLAIN)
            return outcome;
        if (outcome == ATTEMPT_BACK)
            break;
    }
    return refused;
}

static __attribute__((noinline)) attempt_outcome attempt_bound(dispatcher *d, PyObject *const *args, Py_ssize_t count,
                                                               PyObject *keywords, PyObject **answer, version **plain)
{
    PyObject *values[MAX_VALUES];
    return bind(d, args, count, keywords, values) ? attempt_versions(d, values, answer, plain) : ATTEMPT_UNFIT;
}

static PyObject *call_form(dispatcher *d, PyObject *form, PyObject *const *args, size_t flags);

static PyObject *dispatcher_vectorcall(PyObject *self, PyObject *const *args, size_t flags, PyObject *keywords)
{
    dispatcher *d = (dispatcher *)self;
    Py_ssize_t count = (Py_ssize_t)(flags & ~VECTORCALL_OFFSET_BIT);
    PyObject *answer = NULL;
    if (is_redefined(d)) {
        d->straight.left = 0;
        PyObject *renewed = PyObject_CallMethod(self, "_renew", NULL);
        if (renewed == NULL)
            return NULL;
        Py_DecRef(renewed);
    }
    if (d->straight.left > 0 && goes_straight(d, args, count, keywords))
        return call_straight(d, args, (size_t)count, keywords);
    version *plain = NULL;
    attempt_outcome outcome = ATTEMPT_UNFIT;
    if (d->variadic && keywords == NULL && count < MOST_FORMS && d->forms[count] != NULL)
        return call_form(d, d->forms[count], args, flags);
    if (d->version_count > 0 && !stack_holds_kernel())
        return d->plain != NULL ? call_plain(d, args, flags, keywords) : miss(d, args, flags, keywords, 0);
    if (d->version_count > 0 && !d->variadic) {
        if (keywords == NULL && count == d->count && d->keyword_only == 0)
            outcome = attempt_versions(d, args, &answer, &plain);
        else
            outcome = attempt_bound(d, args, count, keywords, &answer, &plain);
    }
    if (outcome == ATTEMPT_DONE)
        return answer;
    if (outcome == ATTEMPT_PLAIN) {
        int on_trial = plain->way == WAY_TRIAL, watched = !on_trial && plain->watch.limit != 0, precisely = plain->watch.suspected > 0;
        int64_t start = on_trial ? trial_clock(plain) : watched ? watch_clock(precisely) : 0, before = questions;
        answer = call_plain(d, args, flags, keywords);
        if (on_trial)
            note_plain(plain, trial_clock(plain) - start, questions != before);
        else if (watched)
            note_left_to_python(plain, watch_clock(precisely) - start, precisely);
        if (!on_trial && plain->way == WAY_PLAIN)
            begin_straight(d, plain, kind_of_call(args, count, keywords));
        release_version(plain);
        return answer;
    }
    return miss(d, args, flags, keywords, outcome == ATTEMPT_GUARD ? STATUS_GUARD : 0);
}

/* A call by the form that it has. If such calls go straight to what that form was made of, they need not come by here. */
static PyObject *call_form(dispatcher *d, PyObject *form, PyObject *const *args, size_t flags)
{
    dispatcher *made = (dispatcher *)new_reference(form);
    PyObject *answer = dispatcher_vectorcall(form, args, flags, NULL);
    if (made->straight.left > 0 && made->plain == made->defined && d->plain == d->defined) {
        d->straight = made->straight;
        d->straight.missed = 0;
        made->straight.left = 0;
    }
    Py_DecRef((PyObject *)made);
    return answer;
}

/* --- the type --- */

static PyObject *dispatcher_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    (void)args;
    (void)keywords;
    dispatcher *d = (dispatcher *)PyType_GenericAlloc(type, 0);
    if (d != NULL)
        d->call = dispatcher_vectorcall;
    return (PyObject *)d;
}

static int dispatcher_init(PyObject *self, PyObject *args, PyObject *keywords)
{
    dispatcher *d = (dispatcher *)self;
    PyObject *names, *defaults, *no_default;
    long long positional_only, keyword_only;
    int variadic;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "O!O!OLLp", &PyTuple_Type, &names, &PyTuple_Type, &defaults, &no_default, &positional_only,
                          &keyword_only, &variadic))
        return -1;
    if (PyTuple_Size(names) != PyTuple_Size(defaults) || d->version_count > 0) {
        PyErr_SetString(PyExc_TypeError, "a dispatcher is set up without versions, with one default for each name");
        return -1;
    }
    /* Whoever sets it up again keeps the old ones: calls that are under way borrow from them. */
    Py_DecRef(d->names);
    Py_DecRef(d->defaults);
    Py_DecRef(d->no_default);
    d->names = new_reference(names);
    d->defaults = new_reference(defaults);
    d->no_default = new_reference(no_default);
    d->count = PyTuple_Size(names);
    d->positional_only = positional_only;
    d->keyword_only = keyword_only;
    d->variadic = variadic;
    return 0;
}

static PyObject *dispatcher_add(PyObject *self, PyObject *encoded)
{
    dispatcher *d = (dispatcher *)self;
    if (!is_exact(encoded, &PyTuple_Type) || d->names == NULL) {
        PyErr_SetString(PyExc_TypeError, "an encoded version and an initialised dispatcher are needed");
        return NULL;
    }
    version **versions = realloc(d->versions, (size_t)(d->version_count + 1) * sizeof *versions);
    if (versions == NULL)
        return PyErr_NoMemory();
    d->versions = versions;
    version *v = read_version(encoded);
    if (v == NULL)
        return NULL;
    if (v->argument_count != d->count) {
        release_version(v);
        PyErr_SetString(PyExc_TypeError, "the version describes another number of parameters than the function has");
        return NULL;
    }
    v->index = d->version_count;
    int at = place_for(d, v);
    memmove(&versions[at + 1], &versions[at], (size_t)(d->version_count - at) * sizeof *versions);
    versions[at] = v;
    d->version_count++;
    d->straight.left = 0;
    return PyLong_FromLongLong(v->index);
}

static void drop_forms(dispatcher *d)
{
    for (int i = 0; i < MOST_FORMS; i++) {
        PyObject *form = d->forms[i];
        d->forms[i] = NULL;
        Py_DecRef(form);
    }
}

static PyObject *dispatcher_drop_versions(PyObject *self, PyObject *unused)
{
    (void)unused;
    dispatcher *d = (dispatcher *)self;
    version **versions = d->versions;
    int count = d->version_count;
    d->versions = NULL;
    d->version_count = 0;
    d->left.count = 0;
    d->straight.left = 0;
    drop_forms(d);
    for (int i = 0; i < count; i++)
        release_version(versions[i]);
    free(versions);
    return new_reference(&_Py_NoneStruct);
}

/* (count, dispatcher): calls with so many arguments and no keywords go there. */
static PyObject *dispatcher_set_form(PyObject *self, PyObject *args)
{
    dispatcher *d = (dispatcher *)self;
    long long count;
    PyObject *form;
    if (!PyArg_ParseTuple(args, "LO!", &count, self->type, &form))
        return NULL;
    if (count >= 0 && count < MOST_FORMS && d->forms[count] == NULL)
        d->forms[count] = new_reference(form);
    return new_reference(&_Py_NoneStruct);
}

/* Calls of each version, in the order they were added. */
static PyObject *dispatcher_call_counts(PyObject *self, PyObject *unused)
{
    (void)unused;
    dispatcher *d = (dispatcher *)self;
    PyObject *counts = PyTuple_New(d->version_count);
    for (int i = 0; counts != NULL && i < d->version_count; i++)
        if (PyTuple_SetItem(counts, d->versions[i]->index, PyLong_FromLongLong(d->versions[i]->calls)) < 0) {
            Py_DecRef(counts);
            return NULL;
        }
    return counts;
}

/* (refused calls, calls by branch of each choice, words of the last call's parameters, nanoseconds of a native and of a plain
   call if plain ones are preferred), versions as they were added. */
static PyObject *dispatcher_profiles(PyObject *self, PyObject *unused)
{
    (void)unused;
    dispatcher *d = (dispatcher *)self;
    PyObject *profiles = PyTuple_New(d->version_count);
    for (int i = 0; profiles != NULL && i < d->version_count; i++) {
        const version *v = d->versions[i];
        PyObject *choices = tuple_of(v->choices, CHOICE_BITS), *last = tuple_of(v->last, v->result_base - CONTROL_WORDS);
        PyObject *one = NULL;
        if (choices != NULL && last != NULL)
            one = PyObject_CallFunction((PyObject *)&PyTuple_Type, "((LOOLL))", (long long)v->refused, choices, last,
                                        (long long)(v->way == WAY_PLAIN ? native_time(v) : 0),
                                        (long long)(v->way == WAY_PLAIN ? typical(v, v->plain_times, v->trials) : 0));
        Py_DecRef(choices);
        Py_DecRef(last);
        if (one == NULL || PyTuple_SetItem(profiles, v->index, one) < 0) {
            Py_DecRef(profiles);
            return NULL;
        }
    }
    return profiles;
}

static PyObject *dispatcher_get(PyObject *self, PyObject *instance, PyObject *type)
{
    (void)type;
    if (instance == NULL || instance == &_Py_NoneStruct)
        return new_reference(self);
    return PyMethod_New(self, instance);
}

static PyObject *dispatcher_call(PyObject *self, PyObject *args, PyObject *keywords)
{
    return PyVectorcall_Call(self, args, keywords);
}

static int dispatcher_traverse(PyObject *self, visitor visit, void *context)
{
    dispatcher *d = (dispatcher *)self;
    PyObject *direct[] = {(PyObject *)self->type, d->names, d->defaults, d->no_default, d->plain,
                          d->defined, d->code, d->given, d->named};
    int stop = 0;
    for (int i = 0; i < 9 && !stop; i++)
        if (direct[i] != NULL)
            stop = visit(direct[i], context);
    for (int i = 0; i < d->version_count && !stop; i++)
        stop = visit(d->versions[i]->owner, context);
    for (int i = 0; i < MOST_FORMS && !stop; i++)
        if (d->forms[i] != NULL)
            stop = visit(d->forms[i], context);
    return stop;
}

static int dispatcher_clear(PyObject *self)
{
    dispatcher *d = (dispatcher *)self;
    Py_DecRef(dispatcher_drop_versions(self, NULL));
    PyObject *names = d->names, *defaults = d->defaults, *no_default = d->no_default, *plain = d->plain;
    d->names = d->defaults = d->no_default = d->plain = NULL;
    d->count = 0;
    Py_DecRef(names);
    Py_DecRef(defaults);
    Py_DecRef(no_default);
    Py_DecRef(plain);
    forget_function(d);
    return 0;
}

static void dispatcher_dealloc(PyObject *self)
{
    PyTypeObject *type = self->type;
    PyObject_GC_UnTrack(self);
    dispatcher_clear(self);
    PyObject_GC_Del(self);
    Py_DecRef((PyObject *)type);
}

/* Up to CPython 3.11 a Python subclass loses the vectorcall flag even if it leaves __call__ alone, and in all versions the
   method flag: both are put back when the subclass inherits the two slots. The place of the flags was checked at start. */

static PyObject *dispatcher_init_subclass(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyTypeObject *type = (PyTypeObject *)self;
    if (PyType_GetSlot(type, SLOT_CALL) == (void *)dispatcher_call)
        type->flags |= TYPE_VECTORCALL;
    if (PyType_GetSlot(type, SLOT_DESCR_GET) == (void *)dispatcher_get)
        type->flags |= TYPE_METHOD_DESCRIPTOR;
    return new_reference(&_Py_NoneStruct);
}

static PyMethodDef dispatcher_methods[] = {
    {"_watch", dispatcher_watch, METHOD_O, "Call `_renew` as soon as this function has other code or defaults."},
    {"_add", dispatcher_add, METHOD_O, "Install an encoded version; returns its index."},
    {"_drop_versions", dispatcher_drop_versions, METHOD_NOARGS, "Remove all versions."},
    {"_set_form", dispatcher_set_form, METHOD_VARARGS, "Send calls of so many arguments to another dispatcher."},
    {"_call_counts", dispatcher_call_counts, METHOD_NOARGS, "Calls of each version, in order of installation."},
    {"_profiles", dispatcher_profiles, METHOD_NOARGS, "What is known of the calls of each version."},
    {"__init_subclass__", dispatcher_init_subclass, METHOD_NOARGS | METHOD_CLASS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef dispatcher_members[] = {
    {"__vectorcalloffset__", MEMBER_SSIZE, offsetof(dispatcher, call), MEMBER_READONLY, NULL},
    {"_plain", MEMBER_OBJECT, offsetof(dispatcher, plain), 0, "What runs where no version does."},
    {"_plain_calls", MEMBER_LONGLONG, offsetof(dispatcher, plain_calls), 0, "Calls that ran in plain Python."},
    {"_longest", MEMBER_LONGLONG, offsetof(dispatcher, watch.limit), 0,
     "Nanoseconds; after a call in plain Python that takes longer `_grown` is called. 0: never."},
    {"misses", MEMBER_LONGLONG, offsetof(dispatcher, misses), MEMBER_READONLY, "Calls that no version fitted."},
    {"may_run_plain", MEMBER_LONGLONG, offsetof(dispatcher, may_run_plain), 0,
     "Not zero: calls whose containers take longer to copy than Python takes for the rest may run in plain Python."},
    {"guard_failures", MEMBER_LONGLONG, offsetof(dispatcher, guard_failures), MEMBER_READONLY,
     "Calls whose kernel found before any effect that it does not apply."},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot dispatcher_slots[] = {
    {SLOT_NEW, (void *)dispatcher_new},
    {SLOT_INIT, (void *)dispatcher_init},
    {SLOT_DEALLOC, (void *)dispatcher_dealloc},
    {SLOT_TRAVERSE, (void *)dispatcher_traverse},
    {SLOT_CLEAR, (void *)dispatcher_clear},
    {SLOT_CALL, (void *)dispatcher_call},
    {SLOT_DESCR_GET, (void *)dispatcher_get},
    {SLOT_METHODS, dispatcher_methods},
    {SLOT_MEMBERS, dispatcher_members},
    {SLOT_DOC, (void *)"A callable that runs the first of its versions whose guards a call passes."},
    {0, NULL},
};

static PyType_Spec dispatcher_spec = {
    .name = "weft.runtime.core.Dispatcher",
    .basicsize = sizeof(dispatcher),
    .flags = TYPE_BASETYPE | TYPE_VECTORCALL | TYPE_GC | TYPE_METHOD_DESCRIPTOR | TYPE_VERSION_TAG,
    .slots = dispatcher_slots,
};
