/* The runtime of a library for a C host: no Python, no NumPy.

   In: calls of generated entry functions, which bring the words of their arguments and a description of their kernel. Out: the
   services that kernels ask for (the same pool, scratch memory and tasks as with Python), arrays that the host owns, and
   errors as codes with a message and a line of the source. In front of this file stand the generated header, and macros:
   HOST(name) makes a name of this library of `name`. */

#include "services.h"
#include "memory.c"
#include "stack.c"
#include "pool.c"
#include "tasks.c"
#include "processor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_EXTENT ((int64_t)1 << 40)
#define LARGEST_SPAN ((int64_t)1 << 46)

static int64_t rt_poll(void) { return 0; }
static const int *interrupt_of_call(void) { return NULL; }

/* --- what an entry function says of its kernel --- */

typedef struct {
    int code;
    int line;
    const char *file;
    const char *exception;
    const char *message;
} entry_guard;

typedef struct {
    const char *name, *message;
} entry_exception;

typedef struct {
    const char *name;
    const char *const *files;
    const entry_guard *guards;
    const entry_exception *exceptions;
    const int *slots; /* words that may hold a new array; ends with -1 */
} entry;

/* A new array in the making: what the word of its slot points to. */
typedef struct {
    void *data;
    int64_t rank, shape[];
} made_array;

/* --- errors --- */

#include "host_errors.c"

/* A message with {0}, {1}, {2} in the place of numbers. */
__attribute__((cold)) static void format_message(char *text, size_t room, const char *message, const int64_t *values)
{
    size_t at = 0;
    while (*message && at + 24 < room) {
        if (message[0] == '{' && message[1] >= '0' && message[1] <= '2' && message[2] == '}') {
            at += (size_t)snprintf(text + at, room - at, "%lld", (long long)values[message[1] - '0']);
            message += 3;
        } else {
            if ((message[0] == '{' || message[0] == '}') && message[1] == message[0])
                message++;
            text[at++] = *message++;
        }
    }
    text[at] = 0;
}

static void release_arrays(const entry *e, int64_t *w)
{
    for (const int *slot = e->slots; *slot >= 0; slot++) {
        made_array *made = (made_array *)(uintptr_t)w[*slot];
        if (made != NULL) {
            rt_release(made->data);
            rt_release(made);
        }
        w[*slot] = 0;
    }
}

/* The code of a call whose kernel did not succeed. */
__attribute__((cold, noinline)) static int failed_call(const entry *e, int64_t status, int64_t *w, weft_error *error)
{
    release_arrays(e, w);
    if (status == STATUS_GUARD) {
        const entry_guard *guard = &e->guards[w[1]];
        return refuse(error, guard->code, e->name, guard->file, guard->line, guard->exception, "%s", guard->message);
    }
    if (status == STATUS_RAISE) {
        const entry_exception *raised = &e->exceptions[w[1]];
        char text[sizeof ((weft_error *)0)->message];
        format_message(text, sizeof text, raised->message, w + 3);
        return refuse(error, WEFT_RAISED, e->name, e->files[w[2] >> 32], (int)(w[2] & 0xffffffff), raised->name, "%s", text);
    }
    if (status == STATUS_PROCESSOR)
        return refuse(error, WEFT_PROCESSOR, e->name, e->files[0], 0, "", "the library was built for %s, which this processor is not",
                      PROCESSOR_NAME);
    return refuse(error, WEFT_MEMORY, e->name, e->files[0], 0, "MemoryError", "there is not enough memory");
}

/* --- arguments --- */

/* Whether no two indices lead to one element: each axis steps over all that the axes with shorter steps reach. */
static int holds_each_once(const int64_t *array, int rank)
{
    int64_t steps[MAX_RANK], reach[MAX_RANK], within = 0;
    int count = 0;
    for (int axis = 1; axis <= rank; axis++) {
        int64_t step = array[rank + axis] < 0 ? -array[rank + axis] : array[rank + axis];
        if (array[axis] == 0)
            return 1;
        if (array[axis] == 1)
            continue;
        int at = count++;
        for (; at > 0 && steps[at - 1] > step; at--) {
            steps[at] = steps[at - 1];
            reach[at] = reach[at - 1];
        }
        steps[at] = step;
        reach[at] = step * (array[axis] - 1);
    }
    for (int at = 0; at < count; within += reach[at++])
        if (steps[at] <= within)
            return 0;
    return 1;
}

typedef struct {
    const char *name;
    int rank, size, written;
} entry_array;

__attribute__((cold, noinline)) static int refused_array(const entry *e, const entry_array *a, const int64_t *array, weft_error *error)
{
    const char *file = e->files[0];
    if (array == NULL)
        return refuse(error, WEFT_NULL, e->name, file, 0, "", "%s is a null pointer", a->name);
    int64_t elements = 1;
    for (int axis = 1; axis <= a->rank; axis++) {
        if (array[axis] < 0 || array[axis] >= LARGEST_EXTENT)
            return refuse(error, WEFT_EXTENT, e->name, file, 0, "", "%s: its extent along axis %d is %lld", a->name, axis - 1,
                          (long long)array[axis]);
        elements = elements == 0 || array[axis] == 0 ? 0 : 1;
    }
    if (array[0] == 0 && elements != 0)
        return refuse(error, WEFT_NULL, e->name, file, 0, "", "%s: its data is a null pointer", a->name);
    if (a->written && !holds_each_once(array, a->rank))
        return refuse(error, WEFT_LAYOUT, e->name, file, 0, "", "%s is written, and its strides lead to an element twice", a->name);
    return refuse(error, WEFT_LAYOUT, e->name, file, 0, "", "%s: its data is not aligned, or its strides span too much memory",
                  a->name);
}

/* The words of an array argument, 0, or the code of what is wrong with it. `given` is a struct of pointer, extents and
   strides. */
static inline int take_array(const entry *e, const entry_array *a, const void *given, int64_t *w, weft_error *error)
{
    if (given == NULL)
        return refused_array(e, a, NULL, error);
    memcpy(w, given, (size_t)(1 + 2 * a->rank) * sizeof *w);
    int64_t step = 1, empty = 0, ordered = 1, wrong = (w[0] & (a->size - 1)) != 0, span = 0;
    for (int axis = a->rank; axis >= 1; axis--) {
        int64_t extent = w[axis], stride = w[a->rank + axis], reach;
        wrong |= extent < 0 || extent >= LARGEST_EXTENT;
        empty |= extent == 0;
        if (extent > 1) {
            ordered &= stride == step;
            wrong |= __builtin_mul_overflow(extent - 1, stride < 0 ? -(uint64_t)stride : (uint64_t)stride, &reach) ||
                     reach > LARGEST_SPAN || (span += reach) > LARGEST_SPAN;
            wrong |= __builtin_mul_overflow(step, extent, &step);
        }
    }
    wrong |= w[0] == 0 && !empty;
    if (__builtin_expect(wrong || (a->written && !ordered && !holds_each_once(w, a->rank)), 0)) {
        for (int axis = 1; axis <= a->rank && empty; axis++) /* nobody looks at an element of an empty array */
            empty &= w[axis] >= 0 && w[axis] < LARGEST_EXTENT;
        if (!empty || (w[0] & (a->size - 1)) != 0)
            return refused_array(e, a, w, error);
    }
    return 0;
}

/* --- services --- */

static int64_t item_size(int64_t typenum)
{
    static const signed char sizes[] = {1, 1, 1, 2, 2, 4, 4, 8, 8, 8, 8, 4, 8, 0, 8, 16};
    return sizes[typenum];
}

static void *rt_new_array(int64_t *w, int64_t slot, int64_t typenum, int64_t rank, const int64_t *shape, int64_t zero)
{
    made_array *made = (made_array *)(uintptr_t)w[slot];
    if (made != NULL) {
        rt_release(made->data);
        rt_release(made);
    }
    w[slot] = 0;
    int64_t bytes = item_size(typenum);
    for (int64_t axis = 0; axis < rank; axis++)
        if (shape[axis] < 0 || __builtin_mul_overflow(bytes, shape[axis], &bytes))
            return NULL;
    made = rt_alloc((int64_t)(sizeof *made + (size_t)rank * sizeof *shape));
    if (made == NULL)
        return NULL;
    made->data = rt_alloc(bytes);
    if (made->data == NULL) {
        rt_release(made);
        return NULL;
    }
    made->rank = rank;
    memcpy(made->shape, shape, (size_t)rank * sizeof *shape);
    if (zero)
        memset(made->data, 0, (size_t)bytes);
    w[slot] = (int64_t)(uintptr_t)made;
    return made->data;
}

#if HOST_ROUTINES
#include "host_routines.c"
#else
#define rt_routine NULL
static const unsigned routines_without_memory = 0;
#endif

static weft_rt runtime_table = {
    .version = 1,
    .routine = rt_routine,
    .new_array = rt_new_array,
    .alloc = rt_alloc,
    .release = rt_release,
    .parallel = rt_parallel_or_tasks,
    .threads = rt_threads,
    .poll = rt_poll,
    .limits = {HOST_LIMITS},
    .stack_floor = rt_stack_floor,
    .enter = rt_enter,
    .leave = rt_leave,
    .spawn = rt_spawn,
    .join = rt_join,
    .isolate = rt_isolate,
    .release_isolated = rt_release_isolated,
};

/* The same with a product that uses no other thread than the caller's: there is none if the host has brought a BLAS. */
static weft_rt alone_table;

/* --- results --- */

/* A new array as a struct of pointer, extents, strides and what is to be freed. */
static inline void give_array(int64_t *w, int slot, void *given, int rank)
{
    made_array *made = (made_array *)(uintptr_t)w[slot];
    int64_t words[2 + 2 * MAX_RANK], step = 1;
    words[0] = words[1 + 2 * rank] = (int64_t)(uintptr_t)made->data;
    for (int axis = rank - 1; axis >= 0; axis--) {
        words[1 + axis] = made->shape[axis];
        words[1 + rank + axis] = step;
        step *= made->shape[axis];
    }
    memcpy(given, words, (size_t)(2 + 2 * rank) * sizeof *words);
    rt_release(made);
    w[slot] = 0;
}

/* A view: of an argument if there is no slot, else of a new array, which goes along with it. */
static inline void give_view(int64_t *w, int place, int slot, void *given, int rank)
{
    int64_t words[2 + 2 * MAX_RANK];
    memcpy(words, w + place, (size_t)(1 + 2 * rank) * sizeof *words);
    words[1 + 2 * rank] = 0;
    if (slot >= 0) {
        made_array *made = (made_array *)(uintptr_t)w[slot];
        words[1 + 2 * rank] = (int64_t)(uintptr_t)made->data;
        rt_release(made);
        w[slot] = 0;
    }
    memcpy(given, words, (size_t)(2 + 2 * rank) * sizeof *words);
}

static inline int64_t bits_of(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double double_of(int64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* --- the library as a whole --- */

static int processor_level; /* which of the variants of each kernel runs here */

#include "handles.c"
#include "alone.c"

#if HOST_BLAS
extern void cblas_sgemm(void), cblas_dgemm(void), cblas_cgemm(void), cblas_zgemm(void), cblas_sgemv(void), cblas_dgemv(void),
    cblas_cgemv(void), cblas_zgemv(void), cblas_sdot(void), cblas_ddot(void), cblas_sger(void), cblas_dger(void),
    cblas_ssyrk(void), cblas_dsyrk(void), cblas_strsm(void), cblas_dtrsm(void);
static void (*const linked_blas[BLAS_FUNCTIONS])(void) = {
    cblas_sgemm, cblas_dgemm, cblas_cgemm, cblas_zgemm, cblas_sgemv, cblas_dgemv, cblas_cgemv, cblas_zgemv,
    cblas_sdot, cblas_ddot, cblas_sger, cblas_dger, cblas_ssyrk, cblas_dsyrk, cblas_strsm, cblas_dtrsm,
};
#endif

static void use_own_products(void)
{
    static const double plain[LIMIT_PLACES] = {HOST_LIMITS};
    memset(runtime_table.blas, 0, sizeof runtime_table.blas);
    runtime_table.blas_ilp64 = 0;
    memcpy(runtime_table.limits, plain, sizeof plain);
    runtime_table.limits[HOST_GEMM_LIMIT] = 4096.0; /* below that loops are as fast */
    int known = processor_level < 0 ? 0 : processor_level; /* below 0 no call gets as far as to use it */
    runtime_table.blas[0] = (void *)(uintptr_t)own_products[known][0];
    runtime_table.blas[1] = (void *)(uintptr_t)own_products[known][1];
    alone_table = runtime_table;
    runtime_table.alone = &alone_table;
}

static void use_products(int64_t ilp64, void *const *functions)
{
    static const double plain[LIMIT_PLACES] = {HOST_LIMITS};
    runtime_table.alone = NULL;
    memcpy(runtime_table.limits, plain, sizeof plain);
    runtime_table.blas_ilp64 = ilp64;
    memcpy(runtime_table.blas, functions, sizeof runtime_table.blas);
}

__attribute__((constructor)) static void start(void)
{
    processor_level = best_level(PROCESSOR_LEVELS);
    start_threads();
#if HOST_BLAS
    use_products(0, (void *const *)linked_blas);
#else
    use_own_products();
#endif
}

static inline int64_t run_kernel(const kernel_function *kernels, int64_t *w)
{
    if (__builtin_expect(!stack_holds_kernel(), 0))
        return STATUS_MEMORY;
    if (__builtin_expect(processor_level < 0, 0))
        return STATUS_PROCESSOR;
    unsigned before = routines_without_memory;
    int64_t status = kernels[processor_level](&runtime_table, w);
    return __builtin_expect(routines_without_memory != before, 0) ? STATUS_MEMORY : status;
}

/* For the part of the library that is compiled from plain Python. */
void *HOST(own_alloc)(int64_t bytes) { return rt_alloc(bytes); }
void HOST(own_release)(void *memory) { rt_release(memory); }
int HOST(own_processor)(void) { return processor_level; }
int HOST(own_array)(const char *function, const char *file, const char *name, int rank, int size, int written, const void *given,
                    int64_t *w, weft_error *error)
{
    const char *const files[] = {file};
    const entry e = {.name = function, .files = files};
    const entry_array a = {name, rank, size, written};
    return take_array(&e, &a, given, w, error);
}

HOST_API void HOST(free)(void *memory) { rt_release(memory); }
HOST_API void HOST(set_threads)(int count) { weft_set_threads(count < 1 ? 1 : count); }
HOST_API int HOST(get_threads)(void) { return (int)__atomic_load_n(&pool.wanted, __ATOMIC_RELAXED); }

HOST_API void HOST(set_blas)(const weft_blas *table)
{
    if (table == NULL)
        use_own_products();
    else
        use_products(table->ilp64, (void *const *)&table->sgemm);
}
