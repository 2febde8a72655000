/* Calls that are known to have no version.

   In: the arguments of a call that no version took. Out: whether plain Python runs it at once, without the question (some
   tens of microseconds in Python, and the source's analysis the first time) whether a version can be made.

   A kind is a hash of the types of the arguments, of the element types, ranks and layouts of arrays, and of the keywords: less than
   what versions are made for. So a kind must be answered with `LEFT` several times before the answer is taken for granted,
   and it is asked again when there were eight times as many calls. Plain Python is always right: two kinds of one hash, or
   one that would get a version by now, cost time and nothing else. */

#include "version.h"

enum { LEFT_KINDS = 16, LEFT_ANSWERS = 3, LEFT_AGAIN = 8, LEFT_FIRST = 64 };

typedef struct {
    uint64_t kind;
    int64_t answers, calls, again;
} left_kind;

typedef struct {
    left_kind kinds[LEFT_KINDS];
    int count, next; /* next: the place that a further kind takes when there are many */
} left_table;

static inline uint64_t mixed(uint64_t hash, uint64_t item)
{
    hash = (hash ^ item) * 0x9E3779B97F4A7C15u;
    return hash ^ (hash >> 29);
}

static uint64_t kind_of_call(PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    Py_ssize_t named = keywords == NULL ? 0 : PyTuple_Size(keywords);
    uint64_t hash = mixed((uint64_t)count + 1, (uint64_t)named);
    for (Py_ssize_t i = 0; i < count + named; i++) {
        const PyObject *value = args[i];
        hash = mixed(hash, (uint64_t)(uintptr_t)value->type);
        if (is_exact(value, numpy.array_type)) {
            const ArrayHead *array = (const ArrayHead *)value;
            hash = mixed(hash, ((uint64_t)array->descriptor->type_number << 16) + ((uint64_t)array->rank << 8) +
                                   (uint64_t)(array->flags & (ARRAY_C | ARRAY_F)));
        }
    }
    for (Py_ssize_t k = 0; k < named; k++) /* names of keywords are interned */
        hash = mixed(hash, (uint64_t)(uintptr_t)PyTuple_GetItem(keywords, k));
    return hash;
}

static left_kind *find_left(left_table *table, uint64_t kind)
{
    for (int i = 0; i < table->count; i++)
        if (table->kinds[i].kind == kind)
            return &table->kinds[i];
    return NULL;
}

/* Whether a call of this kind is to run in plain Python without a question, after `straight` others that did. */
static int is_left(left_table *table, uint64_t kind, int64_t straight)
{
    left_kind *known = find_left(table, kind);
    if (known == NULL || known->answers < LEFT_ANSWERS)
        return 0;
    known->calls += 1 + straight;
    if (known->calls < known->again)
        return 1;
    known->again *= LEFT_AGAIN;
    return 0;
}

/* A call of this kind was asked about, and left to Python. */
static void note_left(left_table *table, uint64_t kind)
{
    left_kind *known = find_left(table, kind);
    if (known == NULL) {
        if (table->count < LEFT_KINDS)
            known = &table->kinds[table->count++];
        else
            known = &table->kinds[table->next++ % LEFT_KINDS];
        *known = (left_kind){kind, 0, 0, LEFT_FIRST};
    }
    known->answers++;
}
