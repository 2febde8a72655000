/* NumPy's functions of single numbers, by the loops of its own ufuncs: the same bits, without the interpreter.

   Steps are 0, as NumPy has them for arrays of one element: loops look at them (a power of 2 is a square then).

   A result that is not finite, or comes from a number that is not, may be one that NumPy warns of: the call deoptimises. */

#include "api.h"

typedef struct {
    void (*run)(char **, const intptr_t *, const intptr_t *, void *);
    void *data;
} ufunc_loop;

enum { MOST_LOOPS = 128 };

/* By the place of a function in the lists of foreign.py. */
static ufunc_loop loops[MOST_LOOPS];

static ufunc_loop *loop_of(int64_t place, int64_t line)
{
    ufunc_loop *found = &loops[place];
    if (found->run == NULL) {
        context *call = suspend();
        PyObject *pair = PyObject_CallFunction(address_of, "L", (long long)place);
        int64_t run = 0, data = 0;
        int known = pair != NULL && pair->type == &PyTuple_Type && PyTuple_Size(pair) == 2 &&
                    int_in(PyTuple_GetItem(pair, 0), &run) && int_in(PyTuple_GetItem(pair, 1), &data);
        Py_DecRef(pair);
        PyErr_Clear();
        resume(call);
        if (!known || run == 0)
            wp_deopt("a function of NumPy that cannot be reached", line);
        found->data = (void *)(intptr_t)data;
        found->run = (void (*)(char **, const intptr_t *, const intptr_t *, void *))(intptr_t)run;
    }
    return found;
}

double wp_numpy_one(int64_t place, double x, int64_t line)
{
    const ufunc_loop *loop = loop_of(place, line);
    double result = 0.0;
    char *operands[] = {(char *)&x, (char *)&result};
    const intptr_t count = 1, steps[] = {0, 0};
    loop->run(operands, &count, steps, loop->data);
    if (WP_UNLIKELY(!isfinite(result) || !isfinite(x)))
        wp_deopt("an operation that NumPy may warn of", line);
    return result;
}

double wp_numpy_two(int64_t place, double x, double y, int64_t line)
{
    const ufunc_loop *loop = loop_of(place, line);
    double result = 0.0;
    char *operands[] = {(char *)&x, (char *)&y, (char *)&result};
    const intptr_t count = 1, steps[] = {0, 0, 0};
    loop->run(operands, &count, steps, loop->data);
    if (WP_UNLIKELY(!isfinite(result) || !isfinite(x) || !isfinite(y)))
        wp_deopt("an operation that NumPy may warn of", line);
    return result;
}
