/* Lists of arrays: copied one after the other into one buffer before the kernel, and out again if it has written there.

   In: a list of arrays of one type and rank. Out: an array with one more axis, or, if their lengths differ (rank 1), their
   elements one after the other and where each begins. What a kernel writes must not be seen through two names, so a call in
   which such an array shares memory with another one is refused as soon as the version writes any array. */

#include "version.h"

struct stack_copy {
    char *data;
    int64_t *starts;    /* of arrays of different lengths */
    PyObject **arrays;  /* with a reference each */
    int64_t count, item_bytes;
    int rank, written, unequal;
};

typedef struct {
    const char *low, *high;
    int copied; /* an array of a list */
} memory_range;

/* Copies `count` elements of an axis (and the axes after it) between an array and adjacent memory, which moves on. */
static void copy_axis(const ArrayHead *array, int axis, char *at, int64_t bytes, char **place, int out)
{
    int64_t length = axis < array->rank ? array->shape[axis] : 1;
    if (axis >= array->rank - 1) {
        int64_t stride = axis < array->rank ? array->strides[axis] : bytes;
        if (stride == bytes) {
            memcpy(out ? at : *place, out ? *place : at, (size_t)(length * bytes));
            *place += length * bytes;
            return;
        }
        for (int64_t i = 0; i < length; i++, at += stride, *place += bytes)
            memcpy(out ? at : *place, out ? *place : at, (size_t)bytes);
        return;
    }
    for (int64_t i = 0; i < length; i++, at += array->strides[axis])
        copy_axis(array, axis + 1, at, bytes, place, out);
}

static int array_fits(const parameter *p, PyObject *value, const ArrayHead *first, int unequal)
{
    if (value->type != numpy.array_type)
        return 0;
    const ArrayHead *array = (const ArrayHead *)value;
    if (array->descriptor->type_number != p->code || array->rank != p->rank || !(array->flags & ARRAY_ALIGNED) ||
        (array->descriptor->byteorder != '=' && array->descriptor->byteorder != '|'))
        return 0;
    if (p->written && (!(array->flags & ARRAY_WRITEABLE) || (array->flags & ARRAY_WARN_ON_WRITE)))
        return 0;
    for (int axis = 0; axis < p->rank && !unequal; axis++)
        if (array->shape[axis] != first->shape[axis])
            return 0;
    return 1;
}

/* The number of elements of all arrays; -1 if one of them does not fit. */
static int64_t measure_arrays(const parameter *p, const ListHead *list, int unequal)
{
    int64_t total = 0;
    for (int64_t i = 0; i < list->size; i++) {
        if (!array_fits(p, list->items[i], (const ArrayHead *)list->items[0], unequal))
            return -1;
        const ArrayHead *array = (const ArrayHead *)list->items[i];
        int64_t size = 1;
        for (int axis = 0; axis < array->rank; axis++)
            size *= array->shape[axis];
        if (__builtin_add_overflow(total, size, &total))
            return -1;
    }
    return total;
}

/* Fills the words of a list of arrays. 1: fits, 0: does not, -1: exception. */
static int copy_stack_in(list_call *lists, const parameter *p, PyObject *value, int64_t *w)
{
    stack_copy *copy = &lists->stacks[lists->stack_count++];
    const ListHead *list = (const ListHead *)value;
    if (!is_exact(value, &PyList_Type) || list->size == 0)
        return 0;
    copy->unequal = p->template[1] == '<';
    copy->rank = p->rank;
    copy->written = p->written;
    copy->item_bytes = (int64_t)1 << p->item_shift;
    int64_t total = measure_arrays(p, list, copy->unequal), bytes;
    if (total < 0 || __builtin_mul_overflow(total, copy->item_bytes, &bytes))
        return 0;
    copy->data = rt_alloc(bytes);
    copy->arrays = malloc((size_t)list->size * sizeof *copy->arrays);
    copy->starts = copy->unequal ? rt_alloc((list->size + 1) * 8) : NULL;
    if (copy->data == NULL || copy->arrays == NULL || (copy->unequal && copy->starts == NULL)) {
        PyErr_NoMemory();
        return -1;
    }
    char *place = copy->data;
    for (int64_t i = 0; i < list->size; i++) {
        const ArrayHead *array = (const ArrayHead *)list->items[i];
        if (copy->unequal)
            copy->starts[i] = (place - copy->data) / copy->item_bytes;
        copy->arrays[copy->count++] = new_reference(list->items[i]);
        copy_axis(array, 0, array->data, copy->item_bytes, &place, 0);
    }
    if (copy->unequal) {
        copy->starts[copy->count] = total;
        w[0] = (int64_t)(uintptr_t)copy->starts;
        w[1] = copy->count + 1;
        w[2] = 1;
        w[3] = (int64_t)(uintptr_t)copy->data;
        w[4] = total;
        w[5] = 1;
        return 1;
    }
    const ArrayHead *first = (const ArrayHead *)copy->arrays[0];
    int64_t stride = 1;
    w[0] = (int64_t)(uintptr_t)copy->data;
    for (int axis = p->rank; axis >= 0; axis--) {
        w[1 + axis] = axis == 0 ? copy->count : first->shape[axis - 1];
        w[2 + p->rank + axis] = stride;
        stride *= w[1 + axis];
    }
    return 1;
}

static void copy_stack_out(const stack_copy *copy)
{
    char *place = copy->data;
    for (int64_t i = 0; i < copy->count; i++) {
        const ArrayHead *array = (const ArrayHead *)copy->arrays[i];
        copy_axis(array, 0, array->data, copy->item_bytes, &place, 1);
    }
}

static void release_stack(stack_copy *copy)
{
    for (int64_t i = 0; i < copy->count; i++)
        Py_DecRef(copy->arrays[i]);
    free(copy->arrays);
    rt_release(copy->data);
    rt_release(copy->starts);
}

static int note_range(memory_range *range, const ArrayHead *array, int64_t item_bytes, int copied)
{
    int64_t low = 0, high = 0;
    for (int axis = 0; axis < array->rank; axis++) {
        int64_t reach = (array->shape[axis] - 1) * array->strides[axis];
        if (array->shape[axis] == 0)
            return 0;
        *(reach < 0 ? &low : &high) += reach;
    }
    *range = (memory_range){array->data + low, array->data + high + item_bytes, copied};
    return 1;
}

static int compare_ranges(const void *one, const void *other)
{
    const char *a = ((const memory_range *)one)->low, *b = ((const memory_range *)other)->low;
    return (a > b) - (a < b);
}

/* 1 if no array of a list shares memory with another array of the call, 0 if one may, -1 without memory. */
static int stacks_are_apart(const version *v, const list_call *lists, PyObject *const *values)
{
    int64_t count = v->value_count, many = 0;
    int written = 0;
    for (int i = 0; i < lists->stack_count; i++) {
        count += lists->stacks[i].count;
        written |= lists->stacks[i].written;
    }
    memory_range *ranges = malloc((size_t)(count + 1) * sizeof *ranges);
    if (ranges == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int i = 0; i < lists->stack_count; i++)
        for (int64_t k = 0; k < lists->stacks[i].count; k++)
            many += note_range(&ranges[many], (const ArrayHead *)lists->stacks[i].arrays[k], lists->stacks[i].item_bytes, 1);
    for (int i = 0; i < v->value_count; i++)
        if (v->parameters[i].test == TEST_ARRAY)
            many += note_range(&ranges[many], (const ArrayHead *)values[i], (int64_t)1 << v->parameters[i].item_shift, 0);
    qsort(ranges, (size_t)many, sizeof *ranges, compare_ranges);
    const char *copied_end = NULL, *other_end = NULL;
    int apart = 1;
    for (int64_t i = 0; i < many && apart; i++) {
        const memory_range *range = &ranges[i];
        if (range->copied)
            apart = range->low >= other_end && (!written || range->low >= copied_end);
        else
            apart = range->low >= copied_end;
        const char **end = range->copied ? &copied_end : &other_end;
        if (range->high > *end)
            *end = range->high;
    }
    free(ranges);
    return apart;
}
