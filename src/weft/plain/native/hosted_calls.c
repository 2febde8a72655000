/* Calls from a C host: in, the kernel, out, and what a call that failed says.

   In: words of arguments: numbers, handles, and structs of arrays. Out: numbers and handles in the host's variables, changed
   handles with their new content; or an error, and nothing has changed. One call at a time: others wait. */

#include "api.h"

enum { MOST_SLOTS = 32 };

/* An argument or a result. */
typedef struct {
    char what;             /* i d b numbers, h a handle, a an array, n NumPy's number of this tag */
    const char *name;
    const weft_kind *kind; /* of a handle */
    int changed;           /* an argument whose new content goes back */
    int64_t tag, size;     /* elements of an array, or a number of NumPy's */
    int rank;
} hosted_slot;

typedef struct {
    const char *name, *file;
    int line;
    const wp_version *version;
    void (*setup)(void **);
    void **objects; /* that the code names */
    int *is_set_up;
    int count, results;
    const hosted_slot *arguments, *given;
} hosted_function;

static pthread_mutex_t calls = PTHREAD_MUTEX_INITIALIZER;

/* --- deep calls --- */

enum { STACK_MARGIN = 256 << 10, DEEPEST_CALLS = 1000, FEW_CALLS = 100 };

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

/* As many calls nest as Python allows by itself, if the stack holds them. */
void wp_deeper(int64_t line)
{
    char *here = __builtin_frame_address(0), *floor = floor_of_stack();
    int64_t frame = (now.stack_base - here) / (now.granted + 1) + 64;
    int64_t allowed = DEEPEST_CALLS - now.granted, fitting = here > floor ? (here - floor) / (2 * frame) : 0;
    int64_t more = allowed < fitting ? allowed : fitting;
    if (more < 1) {
        now.python_frames = 1; /* that this is the reason */
        wp_deopt("maximum recursion depth exceeded", line);
    }
    now.granted += more;
    wp_depth = more - 1;
}

void wp_poll(void) { wp_ticks = (int64_t)1 << 24; }

/* --- what Python alone could do --- */

__attribute__((noreturn)) static void only_python(int64_t line) { wp_deopt("an operation of Python's own objects", line); }

wp_type wp_big_type = {.kind = WP_OPAQUE, .size = sizeof(wp_opaque), .name = "int"};
wp_val wp_wide(int32_t op, wp_val a, wp_val b, int64_t line) { (void)op, (void)a, (void)b; wp_deopt(BEYOND, line); }
wp_val wp_binary_python(int32_t op, wp_val a, wp_val b, const wp_spec *result, int64_t line)
{
    (void)op, (void)a, (void)b, (void)result;
    only_python(line);
}
int64_t wp_compare_python(int32_t op, wp_val a, wp_val b, int64_t line)
{
    if (op != PY_EQ && op != PY_LT)
        only_python(line);
    if (op == PY_EQ && kind_of(a) == WP_COMPLEX && kind_of(b) == WP_COMPLEX)
        return ((wp_complex *)a.u.p)->real == ((wp_complex *)b.u.p)->real && ((wp_complex *)a.u.p)->imag == ((wp_complex *)b.u.p)->imag;
    only_python(line);
}

/* --- one call --- */

static void start(const hosted_function *f)
{
    static int started;
    if (!started) {
        start_strings();
        start_errors();
        none_hash = 0x77656674;
        sets_agree = 1;
        taken_entry = TAKE_FREE;
        complex_start();
        started = 1;
    }
    if (!*f->is_set_up)
        f->setup(f->objects);
    *f->is_set_up = 1;
}

static wp_array *array_taken(const int64_t *given, const hosted_slot *slot, const wp_type *type)
{
    int64_t low, rank = slot->rank;
    wp_array *a = array_head(type);
    wp_memory *m = calloc(1, sizeof *m);
    if (m == NULL)
        wp_deopt("out of memory", 0);
    m->next = now.memories;
    now.memories = m;
    for (int64_t k = 0; k < rank; k++) {
        a->extent[k] = given[1 + k];
        a->extent[rank + k] = given[1 + rank + k] * slot->size;
    }
    a->data = (char *)(uintptr_t)given[0];
    m->bytes = array_span(a->extent, a->extent + rank, rank, slot->size, &low);
    m->start = a->data + low;
    m->writeable = m->owned = 1;
    a->memory = m;
    return a;
}

static void taken(const hosted_function *f, const int64_t *given, int64_t *block)
{
    now.heap.frozen = 1;
    for (int at = 0; at < f->count; at++) {
        const hosted_slot *slot = &f->arguments[at];
        const wp_spec *spec = f->version->arguments[at];
        wp_val v;
        switch (slot->what) {
        case 'h': v = handle_in((const weft_handle *)(uintptr_t)given[at], spec); break;
        case 'a': v = wp_of_p(array_taken((const int64_t *)(uintptr_t)given[at], slot, type_in(spec, WP_ARRAY))); break;
        case 'd': v = wp_of_d(0.0), v.u.i = given[at]; break;
        case 'b': v = wp_of_b(given[at] != 0); break;
        case 'n': v = wp_np_i(slot->tag, given[at]); break;
        default: v = wp_of_i(given[at]);
        }
        store(block, spec->repr, v);
        block += spec->repr == 'v' ? 2 : 1;
    }
    now.heap.frozen = 0;
}

/* A struct of pointer, extents, strides and memory. */
static int array_given(const wp_array *a, const hosted_slot *slot, int64_t *words)
{
    int64_t rank = slot->rank, size = slot->size, step = 1, count = wp_array_size(a, rank);
    char *data = rt_alloc(count * size > 0 ? count * size : 1);
    if (data == NULL)
        return -1;
    words[0] = words[1 + 2 * rank] = (int64_t)(uintptr_t)data;
    for (int64_t k = rank - 1; k >= 0; k--) {
        words[1 + k] = a->extent[k];
        words[1 + rank + k] = step;
        step *= a->extent[k];
    }
    for (int64_t at = 0; at < count; at++) {
        int64_t rest = at, place = 0;
        for (int64_t k = rank - 1; k >= 0; rest /= a->extent[k], k--)
            place += rest % a->extent[k] * a->extent[rank + k];
        memcpy(data + at * size, a->data + place, (size_t)size);
    }
    return 0;
}

/* New memory that a call makes for the host; nothing is given before everything is there. */
typedef struct {
    weft_handle *handles[2 * MOST_SLOTS];
    int64_t arrays[MOST_SLOTS][2 + 2 * WP_MAX_RANK];
    int64_t words[MOST_SLOTS];
} gifts;

static wp_val result_at(const hosted_function *f, wp_val all, int at)
{
    return f->results == 1 ? all : sequence_item(all.u.p, at);
}

static int made_of(const hosted_function *f, const int64_t *block, wp_val all, gifts *out)
{
    now.nesting = 0;
    for (int at = 0; at < f->results; at++) {
        const hosted_slot *slot = &f->given[at];
        wp_val v = result_at(f, all, at);
        if (slot->what == 'h') {
            if ((out->handles[at] = handle_out(v, slot->kind)) == NULL)
                return -1;
        } else if (slot->what == 'a') {
            if (array_given((const wp_array *)object_in(v), slot, out->arrays[at]) != 0)
                return -1;
        } else
            out->words[at] = word_of(v, slot->what == 'n' && slot->tag >= WP_NP_FLOAT32 ? 'd' : slot->what == 'n' ? 'i' : slot->what);
    }
    for (int at = 0; at < f->count; at++) {
        char repr = f->version->arguments[at]->repr;
        if (f->arguments[at].changed && (out->handles[f->results + at] = handle_out(wp_from_slot(block, repr), f->arguments[at].kind)) == NULL)
            return -1;
        block += repr == 'v' ? 2 : 1;
    }
    return 0;
}

static void give(const hosted_function *f, const int64_t *given, void *const *results, gifts *out)
{
    for (int at = 0; at < f->results; at++) {
        const hosted_slot *slot = &f->given[at];
        if (slot->what == 'h')
            *(void **)results[at] = out->handles[at];
        else if (slot->what == 'a')
            memcpy(results[at], out->arrays[at], (size_t)(2 + 2 * slot->rank) * 8);
        else if (slot->what == 'n' && slot->tag == WP_NP_FLOAT32)
            *(float *)results[at] = (float)double_of(out->words[at]);
        else if (slot->what == 'b')
            *(bool *)results[at] = out->words[at] != 0;
        else
            memcpy(results[at], &out->words[at], slot->what == 'n' ? (size_t)slot->size : 8);
    }
    for (int at = 0; at < f->count; at++)
        if (f->arguments[at].changed)
            refill((void *)(uintptr_t)given[at], out->handles[f->results + at]);
}

static void drop_gifts(const hosted_function *f, gifts *out)
{
    while (making.count > 0)
        free_handle(making.items[--making.count]);
    for (int at = 0; at < f->results + f->count; at++)
        free_handle(out->handles[at]);
    for (int at = 0; at < f->results; at++)
        if (f->given[at].what == 'a')
            rt_release((void *)(uintptr_t)out->arrays[at][0]);
}

/* --- errors --- */

static void text_to(char *text, size_t room, const wp_str *s)
{
    size_t at = 0;
    for (int64_t i = 0; i < s->length && at + 5 < room; i++)
        at += (size_t)utf8_of((int32_t)wp_str_code(s, i), text + at);
    text[at] = 0;
}

/* The arguments of an exception: of the run time's own, or in the attribute `args`. */
static wp_val argument_of(const wp_object *error)
{
    const wp_type *type = error->type;
    if (type >= wp_error_types && type < wp_error_types + WP_EXCEPTIONS)
        return ((const wp_error *)error)->mask == 1 ? ((const wp_error *)error)->argument : wp_unset();
    for (int32_t k = 0; k < type->count; k++)
        if (type->names != NULL && strcmp(((const hosted_name *)type->names[k])->text, "args") == 0) {
            wp_val all = wp_from_slot((const char *)error + type->offsets[k], type->slots[k]->repr);
            if (all.tag == WP_PTR && sequence_length(all.u.p) == 1)
                return sequence_item(all.u.p, 0);
        }
    return wp_unset();
}

static int told(const hosted_function *f, weft_error *error)
{
    int line = now.line > 0 ? (int)now.line : f->line;
    char text[sizeof error->message] = "";
    if (wp_exception != NULL) {
        const hosted_class *class = wp_exception->type->python;
        wp_val argument = argument_of(wp_exception);
        jmp_buf back;
        now.back = &back;
        if (argument.tag != WP_UNSET && setjmp(back) == 0) {
            int is_key = class == (const hosted_class *)PyExc_KeyError;
            text_to(text, sizeof text, is_key ? wp_to_repr(argument) : wp_to_str(argument));
        }
        return refuse(error, WEFT_RAISED, f->name, f->file, line, class->name, "%s", text);
    }
    if (strcmp(now.reason, "out of memory") == 0)
        return refuse(error, WEFT_MEMORY, f->name, f->file, line, "MemoryError", "there is not enough memory");
    if (now.python_frames)
        return refuse(error, WEFT_RAISED, f->name, f->file, line, "RecursionError", "%s", now.reason);
    if (now.reason == BEYOND)
        return refuse(error, WEFT_RAISED, f->name, f->file, line, "OverflowError", "%s", now.reason);
    if (strcmp(now.reason, BEYOND) == 0)
        return refuse(error, WEFT_RAISED, f->name, f->file, line, "OverflowError", "%s", now.reason);
    return refuse(error, WEFT_RAISED, f->name, f->file, line, "NotImplementedError", "%s: this needs Python", now.reason);
}

/* What is wrong with the pointers of a call, or 0. */
static int unfit(const hosted_function *f, const int64_t *given, void *const *results, weft_error *error)
{
    for (int at = 0; at < f->results; at++)
        if (results[at] == NULL)
            return refuse(error, WEFT_NULL, f->name, "", 0, "", "result is a null pointer");
    int writes = 0;
    for (int at = 0; at < f->count; at++) {
        if (f->arguments[at].what != 'h')
            continue;
        if (given[at] == 0)
            return refuse(error, WEFT_NULL, f->name, f->file, 0, "", "%s is a null pointer", f->arguments[at].name);
        writes |= f->arguments[at].changed;
        for (int before = 0; before < at; before++)
            if (f->arguments[before].what == 'h' && given[before] == given[at] && (f->arguments[before].changed || f->arguments[at].changed))
                return refuse(error, WEFT_LAYOUT, f->name, f->file, 0, "", "%s and %s are one container, and it is written",
                              f->arguments[before].name, f->arguments[at].name);
    }
    for (int at = 0; at < f->count && writes && f->count > 1; at++)
        if (f->arguments[at].what == 'h' && ((const weft_handle *)(uintptr_t)given[at])->is_inner)
            return refuse(error, WEFT_LAYOUT, f->name, f->file, 0, "", "%s is a part of another container, and one is written: pass a copy",
                          f->arguments[at].name);
    return 0;
}

static void end_call(void)
{
    heap_end();
    forget_memory();
    free(now.output.pieces);
    const size_t heap = __builtin_offsetof(context, heap), behind = heap + sizeof now.heap; /* which is as it was */
    memset(&now, 0, heap);
    memset((char *)&now + behind, 0, sizeof now - behind);
    wp_exception = NULL;
    pending.class = NULL;
}

static __attribute__((noinline)) int run_call(const hosted_function *f, const int64_t *given, void *const *results, weft_error *error)
{
    static gifts out; /* one call at a time */
    jmp_buf back;
    int64_t block[2 * MOST_SLOTS + 2], result[2] = {0, 0};
    memset(&out.handles, 0, (size_t)(f->results + f->count) * sizeof *out.handles);
    for (int at = 0; at < f->results; at++)
        out.arrays[at][0] = 0;
    start(f);
    heap_begin();
    now.active = 1;
    now.back = &back;
    now.stack_base = (char *)__builtin_frame_address(0);
    now.version = f->version;
    wp_ticks = (int64_t)1 << 24;
    int64_t fitting = (now.stack_base - floor_of_stack()) >> 12;
    now.granted = wp_depth = fitting < 0 ? 0 : fitting < FEW_CALLS ? fitting : FEW_CALLS;
    wp_handlers = wp_unfinished = 0;
    int status;
    if (setjmp(back) == 0) {
        taken(f, given, block);
        f->version->kernel(block, result);
        now.heap.frozen = 1;
        wp_val all = wp_from_slot(result, f->version->result->repr);
        if (made_of(f, block, all, &out) != 0)
            wp_deopt("out of memory", 0);
        wp_flush();
        give(f, given, results, &out);
        status = WEFT_OK;
    } else {
        status = told(f, error);
        wp_flush();
        restore_memory();
        drop_gifts(f, &out);
    }
    end_call();
    return status;
}

static int hosted_call(const hosted_function *f, const int64_t *given, void *const *results, weft_error *error)
{
    if (error != NULL)
        error->code = WEFT_OK;
    if (HOST(own_processor)() < 0)
        return refuse(error, WEFT_PROCESSOR, f->name, f->file, 0, "", "the library was built for another processor than this one");
    int status = unfit(f, given, results, error);
    if (status != 0)
        return status;
    pthread_mutex_lock(&calls);
    status = run_call(f, given, results, error);
    pthread_mutex_unlock(&calls);
    return status;
}

/* A child that the host forks while another thread is in a call. */
static void lock_calls(void) { pthread_mutex_lock(&calls); }
static void unlock_calls(void) { pthread_mutex_unlock(&calls); }
__attribute__((constructor)) static void before_forks(void) { pthread_atfork(lock_calls, unlock_calls, unlock_calls); }
