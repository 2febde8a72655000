/* NumPy's random numbers, drawn from its own bit generators.

   In: an opaque object, the call's copy of a Generator or RandomState. Out: what its methods would give, by the functions that
   NumPy exports for this. The copy's state is given back to the object when the call has returned. */

#include "api.h"

/* As numpy/random/bitgen.h has it. */
typedef struct {
    void *state;
    uint64_t (*next_uint64)(void *);
    uint32_t (*next_uint32)(void *);
    double (*next_double)(void *);
    uint64_t (*next_raw)(void *);
} bit_source;

static PyObject *address_of; /* a function of Python: where the bits of a generator come from, or a function by its name */

/* Takes the reference. */
static void *found_address(PyObject *what, int64_t line)
{
    int64_t place = 0;
    context *call = suspend();
    PyObject *found = what == NULL ? NULL : PyObject_CallFunction(address_of, "O", what);
    int known = found != NULL && int_in(found, &place);
    Py_DecRef(found);
    Py_DecRef(what);
    PyErr_Clear();
    resume(call);
    if (!known || place == 0)
        wp_deopt("a generator of NumPy whose bits cannot be reached", line);
    return (void *)(intptr_t)place;
}

static void *distribution(void **kept, const char *name, int64_t line)
{
    if (*kept == NULL)
        *kept = found_address(PyUnicode_FromString(name), line);
    return *kept;
}

static bit_source *bit_source_of(void *generator, int64_t line)
{
    wp_opaque *own = generator;
    if (own->inside == NULL)
        own->inside = found_address(new_reference(own->object), line);
    return own->inside;
}

double wp_draw_double(void *generator, int64_t line)
{
    bit_source *bits = bit_source_of(generator, line);
    return bits->next_double(bits->state);
}

double wp_draw_normal(void *generator, int64_t line)
{
    static void *kept;
    double (*draw)(bit_source *) = distribution(&kept, "random_standard_normal", line);
    return draw(bit_source_of(generator, line));
}

double wp_draw_exponential(void *generator, int64_t line)
{
    static void *kept;
    double (*draw)(bit_source *) = distribution(&kept, "random_standard_exponential", line);
    return draw(bit_source_of(generator, line));
}

/* A whole number from low to high - 1; `masked` as RandomState draws it. */
int64_t wp_draw_whole(void *generator, int64_t low, int64_t high, int64_t masked, int64_t line)
{
    static void *kept;
    uint64_t found = 0;
    if (low >= high)
        wp_deopt("a range without numbers", line);
    void (*draw)(bit_source *, uint64_t, uint64_t, intptr_t, _Bool, uint64_t *) =
        distribution(&kept, "random_bounded_uint64_fill", line);
    draw(bit_source_of(generator, line), (uint64_t)low, (uint64_t)high - 1 - (uint64_t)low, 1, masked != 0, &found);
    return (int64_t)found;
}
