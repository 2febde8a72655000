/* Library routines for kernels: the inner loops of NumPy's generalised ufuncs.

   In: a loop and its data as `weft.runtime.routines` found them, the addresses, extents and strides of a call. Out: whether
   the routine reported a failure, which LAPACK's wrappers do by an invalid floating-point operation. The loops need no
   interpreter; only one that gets no memory takes the lock by itself, and leaves an exception behind. */

#include "runtime.h"

#include <fenv.h>

typedef void (*routine_loop)(char **arguments, const Py_ssize_t *sizes, const Py_ssize_t *steps, void *data);

/* --- NumPy's sorts, as such loops of the signature (n)->(n) --- */

typedef int (*sort_function)(void *items, Py_ssize_t n, void *array);
typedef int (*argsort_function)(void *items, Py_ssize_t *places, Py_ssize_t n, void *array);
typedef struct {
    void *function;  /* of the element type; what it is told of the array it does not look at */
    Py_ssize_t size; /* of an element */
} ordering;

static void copy_line(char *to, Py_ssize_t to_step, const char *from, Py_ssize_t from_step, Py_ssize_t n, Py_ssize_t size)
{
    if (to_step == size && from_step == size) {
        memmove(to, from, (size_t)(n * size));
        return;
    }
    for (Py_ssize_t i = 0; i < n; i++)
        memcpy(to + i * to_step, from + i * from_step, (size_t)size);
}

static void no_memory(void)
{
    int state = PyGILState_Ensure();
    PyErr_NoMemory();
    PyGILState_Release(state);
}

/* Each line in order: in its place if its items are adjacent there, else by way of a copy. */
void weft_sort_lines(char **arguments, const Py_ssize_t *sizes, const Py_ssize_t *steps, void *data)
{
    const ordering *order = data;
    Py_ssize_t n = sizes[1], size = order->size;
    char *line = steps[3] == size || n < 2 ? NULL : malloc((size_t)(n * size));
    if (line == NULL && !(steps[3] == size || n < 2)) {
        no_memory();
        return;
    }
    for (Py_ssize_t b = 0; b < sizes[0]; b++) {
        char *from = arguments[0] + b * steps[0], *to = arguments[1] + b * steps[1];
        char *place = line == NULL ? to : line;
        if (place != from || steps[2] != size)
            copy_line(place, line == NULL ? steps[3] : size, from, steps[2], n, size);
        if (n > 1 && ((sort_function)order->function)(place, n, NULL) < 0) {
            no_memory();
            break;
        }
        if (line != NULL)
            copy_line(to, steps[3], line, size, n, size);
    }
    free(line);
}

/* The places of the items of each line in order; items and places are copied where they are not adjacent. */
void weft_argsort_lines(char **arguments, const Py_ssize_t *sizes, const Py_ssize_t *steps, void *data)
{
    const ordering *order = data;
    Py_ssize_t n = sizes[1], size = order->size, word = sizeof(Py_ssize_t);
    int copies_items = steps[2] != size, copies_places = steps[3] != word;
    char *room = malloc((size_t)(n * (size + word) + word));
    if (room == NULL) {
        no_memory();
        return;
    }
    for (Py_ssize_t b = 0; b < sizes[0]; b++) {
        char *items = arguments[0] + b * steps[0], *to = arguments[1] + b * steps[1];
        Py_ssize_t *places = (Py_ssize_t *)(copies_places ? room : to);
        if (copies_items) {
            copy_line(room + n * word, size, items, steps[2], n, size);
            items = room + n * word;
        }
        for (Py_ssize_t i = 0; i < n; i++)
            places[i] = i;
        if (n > 1 && ((argsort_function)order->function)(items, places, n, NULL) < 0) {
            no_memory();
            break;
        }
        if (copies_places)
            copy_line(to, steps[3], room, word, n, word);
    }
    free(room);
}

static int64_t rt_routine(void *const *routine, char **arguments, const int64_t *sizes, const int64_t *steps)
{
    if (current_frame != NULL)
        current_frame->routines = 1;
    feclearexcept(FE_ALL_EXCEPT);
    __atomic_fetch_add(&pool.libraries, 1, __ATOMIC_RELAXED);
    ((routine_loop)routine[0])(arguments, (const Py_ssize_t *)sizes, (const Py_ssize_t *)steps, routine[1]);
    __atomic_fetch_sub(&pool.libraries, 1, __ATOMIC_RELAXED);
    return fetestexcept(FE_INVALID) != 0;
}
