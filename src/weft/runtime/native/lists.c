/* Nested Python lists as arrays: copied in before the kernel, and what it changed copied out after it.

   In: list objects. Out: one contiguous buffer each, and the rows it came from. A list that is reached twice would be two
   places of the buffer and one of Python, so a version that writes lists refuses it; one that only reads does not care. */

#include "version.h"

typedef struct {
    char *data;
    PyObject **rows; /* innermost lists in order, with a reference each; only if written */
    int64_t row_count, row_length;
    int64_t shape[MAX_RANK];
    list_kind kind;
    int rank, written;
} list_copy;

typedef struct container_copy container_copy;
typedef struct stack_copy stack_copy;

typedef struct {
    list_copy *copies;
    container_copy *containers; /* see containers.c */
    stack_copy *stacks;         /* see stacks.c */
    void **texts;               /* see strings.c */
    int count, container_count, stack_count, text_count;
    int track; /* some list is written: remember every list object met */
    PyObject **met;
    int64_t met_count, met_capacity;
} list_call;

static const int64_t list_item_bytes[LIST_KINDS] = {8, 8, 1, 16};

static int remember_list(list_call *lists, PyObject *list)
{
    if (!lists->track)
        return 1;
    if (lists->met_count == lists->met_capacity) {
        int64_t capacity = lists->met_capacity ? 2 * lists->met_capacity : 64;
        PyObject **met = realloc(lists->met, (size_t)capacity * sizeof *met);
        if (met == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        lists->met = met;
        lists->met_capacity = capacity;
    }
    lists->met[lists->met_count++] = list;
    return 1;
}

/* --- small integers, read without a call --- */

/* How an int of one digit of 30 bits says its sign: by a signed count of digits (before 3.12), or by two bits of a tag. */
static enum { DIGITS_UNKNOWN, DIGITS_COUNTED, DIGITS_TAGGED } digits;

/* 1 and the number, or 0 if it is longer, or laid out in a way that is not known. */
static inline int short_number(const PyObject *item, int64_t *number)
{
    const LongHead *head = (const LongHead *)item;
    if (digits == DIGITS_COUNTED && (size_t)(head->tag + 1) <= 2)
        *number = head->tag * (int64_t)head->digit;
    else if (digits == DIGITS_TAGGED && (size_t)head->tag < 16)
        *number = (1 - (head->tag & 3)) * (int64_t)head->digit;
    else
        return 0;
    return 1;
}

/* Whether numbers of all kinds are read as they are, if `digits` is right. */
static int digits_agree(void)
{
    static const int64_t tried[] = {0, 1, -1, 5, -5, 257, -300, 65537, (1 << 30) - 1, -((1 << 30) - 1),
                                    1LL << 30, -(1LL << 30), 1LL << 40, -(1LL << 40), INT64_MAX, INT64_MIN};
    int agree = 1, read = 0;
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        PyObject *item = PyLong_FromLongLong(tried[i]);
        int64_t number;
        if (item == NULL) {
            PyErr_Clear();
            return 0;
        }
        if (short_number(item, &number)) {
            read++;
            agree &= number == tried[i];
        }
        Py_DecRef(item);
    }
    return agree && read >= 10;
}

static void find_digits(void)
{
    digits = DIGITS_COUNTED;
    if (!digits_agree())
        digits = DIGITS_TAGGED;
    if (!digits_agree())
        digits = DIGITS_UNKNOWN;
}

static int read_item(list_kind kind, PyObject *item, char *place)
{
    int overflow;
    switch (kind) {
    case LIST_FLOAT:
        if (!is_exact(item, &PyFloat_Type))
            return 0;
        memcpy(place, &((FloatHead *)item)->value, 8);
        return 1;
    case LIST_INT:
        if (!is_exact(item, &PyLong_Type))
            return 0;
        int64_t number;
        overflow = 0;
        if (!short_number(item, &number))
            number = PyLong_AsLongLongAndOverflow(item, &overflow);
        memcpy(place, &number, 8);
        return !overflow;
    case LIST_BOOL:
        *place = item == &_Py_TrueStruct;
        return is_exact(item, &PyBool_Type);
    default:
        if (!is_exact(item, &PyComplex_Type))
            return 0;
        double parts[2] = {PyComplex_RealAsDouble(item), PyComplex_ImagAsDouble(item)};
        memcpy(place, parts, 16);
        return 1;
    }
}

/* How many items ahead objects are fetched into the cache; from how many items on all threads read them, in how many pieces
   for each. */
enum { READ_AHEAD = 24, READ_TOGETHER = 1 << 16, READ_PIECES = 8 };

/* Items of one kind, one after the other; the objects that come next are fetched ahead. 1 if all fit. */
static int read_in_order(list_kind kind, PyObject **items, int64_t length, char *place)
{
    int64_t bytes = list_item_bytes[kind], i = 0;
    int fits = 1;
    if (kind == LIST_FLOAT) {
        const PyTypeObject *wanted = &PyFloat_Type;
        double *numbers = (double *)place;
        for (; i + READ_AHEAD < length && items[i]->type == wanted; i++) {
            __builtin_prefetch(items[i + READ_AHEAD]);
            numbers[i] = ((FloatHead *)items[i])->value;
        }
    } else if (kind == LIST_INT) {
        const PyTypeObject *wanted = &PyLong_Type;
        int64_t *numbers = (int64_t *)place;
        for (; i < length && items[i]->type == wanted && short_number(items[i], &numbers[i]); i++)
            if (i + READ_AHEAD < length)
                __builtin_prefetch(items[i + READ_AHEAD]);
    }
    for (place += i * bytes; i < length && fits > 0; i++, place += bytes) {
        if (i + READ_AHEAD < length)
            __builtin_prefetch(items[i + READ_AHEAD]);
        fits = read_item(kind, items[i], place);
    }
    return fits;
}

typedef struct {
    PyObject **items;
    char *place;
    list_kind kind;
    int fits;
} reading;

static void read_piece(void *context, int64_t begin, int64_t end, int64_t piece)
{
    (void)piece;
    reading *r = context;
    if (!read_in_order(r->kind, r->items + begin, end - begin, r->place + begin * list_item_bytes[r->kind]))
        __atomic_store_n(&r->fits, 0, __ATOMIC_RELAXED);
}

/* Long lists by all threads: the interpreter waits in this one meanwhile, and nothing is done to the objects. */
static int read_items(list_kind kind, PyObject **items, int64_t length, char *place)
{
    if (length < READ_TOGETHER || rt_threads() <= 1)
        return read_in_order(kind, items, length, place);
    reading all = {items, place, kind, 1};
    rt_parallel(read_piece, &all, length, READ_PIECES * rt_threads());
    return all.fits;
}

static PyObject *item_object(list_kind kind, const char *place)
{
    double parts[2];
    int64_t number;
    switch (kind) {
    case LIST_FLOAT:
        memcpy(parts, place, 8);
        return PyFloat_FromDouble(parts[0]);
    case LIST_INT:
        memcpy(&number, place, 8);
        return PyLong_FromLongLong(number);
    case LIST_BOOL:
        return PyBool_FromLong(*place != 0);
    default:
        memcpy(parts, place, 16);
        return PyComplex_FromDoubles(parts[0], parts[1]);
    }
}

/* Copies the list at `depth` to `place`, which moves on; 1 if it fits the shape. */
static int fill_from(list_call *lists, list_copy *copy, PyObject *value, int depth, char **place)
{
    if (!is_exact(value, &PyList_Type) || ((ListHead *)value)->size != copy->shape[depth])
        return 0;
    int fits = remember_list(lists, value);
    PyObject **items = ((ListHead *)value)->items;
    int64_t length = copy->shape[depth], bytes = list_item_bytes[copy->kind];
    if (depth < copy->rank - 1) {
        for (int64_t i = 0; i < length && fits > 0; i++)
            fits = fill_from(lists, copy, items[i], depth + 1, place);
        return fits;
    }
    if (fits > 0)
        fits = read_items(copy->kind, items, length, *place);
    *place += length * bytes;
    if (fits > 0 && copy->written)
        copy->rows[copy->row_count++] = new_reference(value);
    return fits;
}

/* Shape by the first element of each level; below an empty level every length is zero. -1: not that deep. */
static int64_t measure_list(list_copy *copy, PyObject *value)
{
    int64_t rows = 1, total = 1;
    for (int depth = 0; depth < copy->rank; depth++) {
        if (value != NULL && !is_exact(value, &PyList_Type))
            return -1;
        copy->shape[depth] = value == NULL ? 0 : ((ListHead *)value)->size;
        value = copy->shape[depth] == 0 ? NULL : ((ListHead *)value)->items[0];
        if (depth == copy->rank - 1)
            copy->row_length = copy->shape[depth];
        else if (__builtin_mul_overflow(rows, copy->shape[depth], &rows))
            return -1;
        if (__builtin_mul_overflow(total, copy->shape[depth], &total))
            return -1;
    }
    int64_t bytes;
    if (__builtin_mul_overflow(total, list_item_bytes[copy->kind], &bytes))
        return -1;
    if (copy->written && (copy->rows = malloc((size_t)(rows + 1) * sizeof *copy->rows)) == NULL)
        return INT64_MAX;
    return bytes;
}

/* Fills the words of a list parameter. 1: fits, 0: does not, -1: exception. */
static int copy_list_in(list_call *lists, const parameter *p, PyObject *value, int64_t *w)
{
    list_copy *copy = &lists->copies[lists->count++];
    copy->kind = (list_kind)p->code;
    copy->rank = p->rank;
    copy->written = p->written == WRITTEN_ELEMENTS;
    int64_t bytes = measure_list(copy, value);
    if (bytes < 0)
        return 0;
    copy->data = bytes == INT64_MAX ? NULL : rt_alloc(bytes);
    if (copy->data == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    char *place = copy->data;
    int fits = fill_from(lists, copy, value, 0, &place);
    w[0] = (int64_t)(uintptr_t)copy->data;
    int64_t stride = 1;
    for (int axis = p->rank - 1; axis >= 0; axis--) {
        w[1 + axis] = copy->shape[axis];
        w[1 + p->rank + axis] = stride;
        stride *= copy->shape[axis];
    }
    return fits;
}

/* 1 if no list object was met twice: a table of twice their number, open addressing. */
static int lists_are_distinct(const list_call *lists)
{
    if (lists->met_count < 2)
        return 1;
    uint64_t size = 4;
    while (size < 2 * (uint64_t)lists->met_count)
        size *= 2;
    PyObject **table = calloc(size, sizeof *table);
    if (table == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    int distinct = 1;
    for (int64_t i = 0; i < lists->met_count && distinct; i++) {
        uint64_t at = ((uint64_t)(uintptr_t)lists->met[i] >> 4) * 0x9e3779b97f4a7c15u >> 20 & (size - 1);
        while (table[at] != NULL && table[at] != lists->met[i])
            at = (at + 1) & (size - 1);
        distinct = table[at] == NULL;
        table[at] = lists->met[i];
    }
    free(table);
    return distinct;
}

/* Whether an item is still what the kernel has left in its place. */
static inline int holds_still(list_kind kind, PyObject *item, const char *place)
{
    char before[16];
    if (read_item(kind, item, before) <= 0)
        return 0;
    if (list_item_bytes[kind] != 8)
        return memcmp(before, place, (size_t)list_item_bytes[kind]) == 0;
    int64_t old, now;
    memcpy(&old, before, 8);
    memcpy(&now, place, 8);
    return old == now;
}

/* Puts a new object wherever the kernel changed the value. 0, or -1 with an exception. */
static int copy_list_out(const list_copy *copy)
{
    int64_t bytes = list_item_bytes[copy->kind];
    const char *place = copy->data;
    for (int64_t r = 0; r < copy->row_count; r++) {
        for (int64_t i = 0; i < copy->row_length; i++, place += bytes) {
            ListHead *row = (ListHead *)copy->rows[r];
            /* Another thread may have changed the list meanwhile: what is no longer there is not written. */
            if (i >= row->size || holds_still(copy->kind, row->items[i], place))
                continue;
            PyObject *item = item_object(copy->kind, place);
            if (item == NULL || PyList_SetItem((PyObject *)row, i, item) < 0)
                return -1;
        }
    }
    return 0;
}

static int copy_lists_out(const list_call *lists)
{
    for (int i = 0; i < lists->count; i++)
        if (lists->copies[i].written && copy_list_out(&lists->copies[i]) < 0)
            return -1;
    return 0;
}

static void release_lists(list_call *lists)
{
    for (int i = 0; i < lists->count; i++) {
        list_copy *copy = &lists->copies[i];
        for (int64_t r = 0; r < copy->row_count; r++)
            Py_DecRef(copy->rows[r]);
        free(copy->rows);
        rt_release(copy->data);
    }
    free(lists->copies);
    free(lists->met);
}
