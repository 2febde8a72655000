/* Where Python enters compiled functions, and where they leave: the state of a call, deoptimisation, signals.

   In: versions, as generated code lays them out. Out: Python callables that take positional arguments and give the result, or
   the object `miss` if the arguments do not fit or the call deoptimised; nothing visible has happened then. */

#include "api.h"

int64_t wp_ticks, wp_depth, wp_handlers, wp_unfinished;
wp_object *wp_exception;
PyObject *wp_miss;

typedef struct {
    const wp_version *version;
    PyMethodDef method;
    int64_t calls, misses, deopts; /* calls: those that were done */
    const char *reason;
    int64_t line;
    PyObject *still; /* see `context` */
} entry;

static const char *const CAPSULE = "weft.plain";

/* --- one call at a time; others wait --- */

static struct {
    context *items[16];
    int count;
} idle; /* contexts that wait for a call, all zero */

static context *suspend(void)
{
    size_t own = now.version == NULL ? 0 : (size_t)now.version->own_size;
    context *other = idle.count > 0 ? idle.items[--idle.count] : calloc(1, sizeof *other), *kept = current_context;
    if (other == NULL || (own && (now.own = malloc(own)) == NULL)) {
        free(other);
        wp_deopt("out of memory", 0);
    }
    if (own)
        memcpy(now.own, now.version->own, own);
    now.ticks = wp_ticks;
    now.depth = wp_depth;
    now.handlers = wp_handlers;
    now.unfinished = wp_unfinished;
    now.exception = wp_exception;
    current_context = other;
    return kept;
}

static void resume(context *kept)
{
    if (current_context != &first_context && idle.count < 16)
        idle.items[idle.count++] = current_context;
    else if (current_context != &first_context)
        free(current_context);
    current_context = kept;
    if (now.own != NULL) { /* another call of the same version may have used them */
        memcpy(now.version->own, now.own, (size_t)now.version->own_size);
        free(now.own);
        now.own = NULL;
    }
    wp_ticks = now.ticks;
    wp_depth = now.depth;
    wp_handlers = now.handlers;
    wp_unfinished = now.unfinished;
    wp_exception = now.exception;
}

void wp_deopt(const char *reason, int64_t line)
{
    now.reason = reason;
    now.line = line;
    longjmp(*now.back, 1);
}

static const int64_t FIRST_TICKS = 1 << 14;
static int64_t ticks_each = 1 << 14, polled_at;

static int64_t clock_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Whether a function of Python says so, or fails. */
static int is_true(PyObject *function)
{
    PyObject *answer = PyObject_CallObject(function, NULL);
    int result = answer == NULL || answer == &_Py_TrueStruct;
    PyErr_Clear();
    Py_DecRef(answer);
    return result;
}

/* Called often enough to see about every 20 ms whether somebody waits. */
void wp_poll(void)
{
    const int64_t interval = 20000000;
    int64_t time = clock_now(), passed = time - polled_at;
    if (passed < interval) {
        if (passed < interval / 4 && ticks_each < (int64_t)1 << 24)
            ticks_each *= 2;
        wp_ticks = ticks_each;
        return;
    }
    if (passed > 2 * interval && ticks_each > 16)
        ticks_each /= 2;
    before_others();
    char *written = memory_before();
    context *call = suspend();
    int failed = PyErr_CheckSignals(), current = 1;
    if (!failed) {
        PyEval_RestoreThread(PyEval_SaveThread());
        if (call->still != NULL && call->watched_since != 0)
            current = is_true(call->still);
    }
    resume(call);
    memory_after(written);
    if (failed) {
        now.raised = 1;
        wp_deopt("a signal", 0);
    }
    if (!current)
        wp_deopt("another thread changed what the code was made from", 0);
    after_others();
    flush_if_late();
    polled_at = clock_now();
    wp_ticks = ticks_each;
}

/* --- how deep calls may nest: as deep as Python would let them, and as the stack of the thread holds --- */

enum { STACK_MARGIN = 256 << 10, FIRST_FRAME = 4096 };

static __thread char *stack_floor; /* NULL: not asked yet */

static char *floor_of_stack(void)
{
    if (stack_floor == NULL) {
        char *low = NULL;
        size_t size = 0;
#if defined(__linux__)
        pthread_attr_t attributes;
        void *start;
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            if (pthread_attr_getstack(&attributes, &start, &size) == 0)
                low = start;
            pthread_attr_destroy(&attributes);
        }
#elif defined(__APPLE__)
        size = pthread_get_stacksize_np(pthread_self());
        low = (char *)pthread_get_stackaddr_np(pthread_self()) - size;
#endif
        if (low == NULL) /* not known: half a megabyte from here */
            return (char *)__builtin_frame_address(0) - (512 << 10);
        stack_floor = low + (size / 4 < STACK_MARGIN ? size / 4 : STACK_MARGIN);
    }
    return stack_floor;
}

static int stack_is_low(void) { return (char *)__builtin_frame_address(0) < floor_of_stack(); }

static int64_t frames_of_python(void)
{
    int64_t frames = 1;
    PyObject *frame = new_reference(PyEval_GetFrame());
    while (frame != NULL) {
        PyObject *outer = PyFrame_GetBack(frame);
        Py_DecRef(frame);
        frame = outer;
        frames++;
    }
    return frames;
}

/* What was granted is used up: more as far as Python allows, and as frames of the size seen so far fit into half of the rest. */
void wp_deeper(int64_t line)
{
    enum { MARGIN = 20 };
    char *here = __builtin_frame_address(0), *floor = floor_of_stack();
    if (now.python_frames == 0)
        now.python_frames = frames_of_python();
    int64_t frame = (now.stack_base - here) / (now.granted + 1) + 64;
    int64_t allowed = Py_GetRecursionLimit() - now.python_frames - MARGIN - now.granted;
    int64_t fitting = here > floor ? (here - floor) / (2 * frame) : 0;
    int64_t more = allowed < fitting ? allowed : fitting;
    if (more < 1)
        wp_deopt("recursion as deep as Python or the stack allows", line);
    now.granted += more;
    wp_depth = more - 1;
}

/* --- a call --- */

static void begin_call(char *stack_base, jmp_buf *back)
{
    heap_begin();
    now.active = 1;
    now.back = back;
    now.stack_base = stack_base;
    ticks_each = wp_ticks = FIRST_TICKS;
    polled_at = clock_now();
    int64_t fitting = (stack_base - floor_of_stack()) / FIRST_FRAME, quarter = Py_GetRecursionLimit() / 4;
    now.granted = wp_depth = fitting < 0 ? 0 : fitting < quarter ? fitting : quarter;
    wp_handlers = 0;
    wp_unfinished = 0;
    wp_exception = NULL;
}

static void end_call(void)
{
    opaque_list opaque = now.opaque;
    int64_t references = opaque.count;
    for (int64_t i = 0; i < references; i++) /* the cells go with the heap */
        opaque.items[i] = opaque.items[i]->object;
    heap_end();
    object_list held = now.held;
    watched *seen = now.watched;
    int64_t seen_count = now.watched_count;
    pair_free(&now.known);
    forget_memory();
    free(now.changed.items);
    if (now.random != NULL)
        Py_DecRef(now.random->rest);
    free(now.random);
    free(now.output.pieces);
    const size_t heap = __builtin_offsetof(context, heap), behind = heap + sizeof now.heap; /* which is as it was */
    memset(&now, 0, heap);
    memset((char *)&now + behind, 0, sizeof now - behind);
    for (int64_t i = 0; i < held.count; i++) /* may run Python code */
        Py_DecRef(held.items[i]);
    free(held.items);
    drop_watched(seen, seen_count);
    for (int64_t i = 0; i < references; i++)
        Py_DecRef((PyObject *)opaque.items[i]);
    free(opaque.items);
}

static int arguments_in(const wp_version *version, PyObject *const *args, int64_t *block)
{
    now.heap.frozen = 1;
    for (int32_t i = 0; i < version->count; i++) {
        if (!in_slot(args[i], version->arguments[i], block))
            return 0;
        block += version->arguments[i]->repr == 'v' ? 2 : 1;
    }
    now.heap.frozen = 0;
    pair_free(&now.known);
    return 1;
}

typedef struct {
    PyObject *result, *output; /* new references */
    int stage;                 /* 0 arguments, 1 the kernel, 2 results, 3 done */
    int collects;              /* Python's collector was on */
} outcome;

static void run_call(const wp_version *version, PyObject *const *args, int64_t *block, volatile outcome *out)
{
    int64_t result[2] = {0, 0};
    if (!arguments_in(version, args, block))
        return;
    out->stage = 1;
    if (out->collects)
        PyGC_Enable();
    version->kernel(block, result);
    if (wp_exception != NULL)
        wp_deopt("an exception that nobody catches", 0);
    if (wp_unfinished > 0)
        wp_deopt("a generator that is left inside a try block", 0);
    if (now.changed.count > 0 && (others_changed(0) || generators_changed()))
        wp_deopt(CHANGED_BY_OTHERS, 0);
    if (out->collects)
        PyGC_Disable();
    out->stage = 2;
    now.nesting = 0;
    now.heap.frozen = 1;
    PyObject *made = out_slot(result, version->result->repr);
    if (made == NULL)
        return;
    out->result = made;
    if (!prepare_changes())
        return;
    int64_t characters = 0;
    if (now.output.count > 0 && (out->output = pieces_out(&characters)) == NULL)
        return;
    if (now.random != NULL) {
        PyObject *state = random_after(now.random);
        int given = state != NULL && give_random(now.random, state);
        Py_DecRef(state);
        if (!given)
            wp_deopt("random numbers that another thread has drawn", 0);
    }
    out->stage = 3;
}

static PyObject *give_up(entry *e, volatile outcome *out, int raised)
{
    Py_DecRef(out->result);
    Py_DecRef(out->output);
    if (raised)
        return NULL;
    PyErr_Clear();
    return new_reference(wp_miss);
    (void)e;
}

static PyObject *call_entry(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    entry *e = PyCapsule_GetPointer(self, CAPSULE);
    if (e == NULL)
        return NULL;
    if (count != e->version->count) {
        e->misses++;
        e->reason = "another number of arguments";
        e->line = 0;
        return new_reference(wp_miss);
    }
    context *volatile outer = now.active ? suspend() : NULL;
    volatile outcome out = {0};
    jmp_buf back;
    int64_t block[2 * count + 2];
    memset(block, 0, sizeof block);
    begin_call((char *)__builtin_frame_address(0), &back);
    out.collects = PyGC_Disable();
    now.version = e->version;
    now.still = e->still;
    if (setjmp(back) == 0)
        run_call(e->version, args, block, &out);
    int raised = now.raised;
    written_before = now.output.written;
    if (out.stage != 3) {
        restore_memory();
        if (out.stage == 0)
            e->misses++;
        else
            e->deopts++;
        e->reason = now.reason != NULL ? now.reason : out.stage == 0 ? "arguments of other types" : "out of memory";
        e->line = now.line;
    }
    if (fresh != NULL)
        fresh = NULL;
    PyObject *last_words = raised ? unwritten() : NULL;
    end_call();
    if (outer != NULL)
        resume(outer);
    if (out.collects)
        PyGC_Enable();
    if (last_words != NULL)
        write_despite(last_words);
    if (out.stage != 3)
        return give_up(e, &out, raised);
    e->calls++;
    int done = apply_changes();
    if (out.output != NULL)
        done = write_out(out.output, 0) && done;
    if (!done) {
        Py_DecRef(out.result);
        return NULL;
    }
    return out.result;
}

/* --- for Python --- */

static void free_entry(PyObject *capsule)
{
    entry *e = PyCapsule_GetPointer(capsule, CAPSULE);
    if (e != NULL) {
        free((void *)(uintptr_t)e->method.name);
        Py_DecRef(e->still);
    }
    free(e);
}

/* A callable for a version. The library that holds the version must stay loaded. */
PyObject *wp_make(const wp_version *version, const char *name)
{
    entry *e = calloc(1, sizeof *e);
    char *copy = strdup(name);
    PyObject *capsule = e == NULL || copy == NULL ? NULL : PyCapsule_New(e, CAPSULE, free_entry);
    if (capsule == NULL) {
        free(e);
        free(copy);
        return PyErr_Occurred() ? NULL : PyErr_NoMemory();
    }
    e->version = version;
    e->method = (PyMethodDef){copy, (PyObject * (*)(PyObject *, PyObject *))(void (*)(void)) call_entry, METHOD_FASTCALL, NULL};
    PyObject *made = PyCFunction_NewEx(&e->method, capsule, NULL);
    Py_DecRef(capsule);
    return made;
}

/* `still` tells whether what the version was made from is as it was; a long call asks while other threads run. */
void wp_watch(PyObject *callable, PyObject *still)
{
    PyObject *self = PyObject_GetAttrString(callable, "__self__");
    entry *e = self == NULL ? NULL : PyCapsule_GetPointer(self, CAPSULE);
    PyErr_Clear();
    if (e != NULL)
        e->still = new_reference(still);
    Py_DecRef(self);
}

/* (calls whose arguments did not fit, calls that deoptimised, the last reason or None, its line, calls that were done) */
PyObject *wp_last(PyObject *callable)
{
    PyObject *self = PyObject_GetAttrString(callable, "__self__");
    entry *e = self == NULL ? NULL : PyCapsule_GetPointer(self, CAPSULE);
    PyObject *result = PyTuple_New(5);
    if (e != NULL && result != NULL) {
        PyTuple_SetItem(result, 0, PyLong_FromLongLong(e->misses));
        PyTuple_SetItem(result, 1, PyLong_FromLongLong(e->deopts));
        PyTuple_SetItem(result, 2, e->reason == NULL ? new_reference(&_Py_NoneStruct) : PyUnicode_FromString(e->reason));
        PyTuple_SetItem(result, 3, PyLong_FromLongLong(e->line));
        PyTuple_SetItem(result, 4, PyLong_FromLongLong(e->calls));
    } else {
        Py_DecRef(result);
        result = NULL;
    }
    Py_DecRef(self);
    return result;
}
