/* Whether a version that copies containers in and out is worth its copies.

   In: how long calls took, and how much of that the kernel. Out: where the next call goes. A kernel that looks at one entry of
   a large dict takes longer than Python, which need not copy the dict. So if copying dwarfs the kernel, two calls run in plain
   Python, which means the same, and the faster way is kept; the question is asked again when there were eight times as many calls. */

#include "version.h"

enum { TRIAL_CALLS = 2, COPY_DWARFS = 8, ASK_AGAIN = 8 };
typedef enum { WAY_MEASURED, WAY_TRIAL, WAY_NATIVE, WAY_PLAIN } version_way;

static int copies_containers(const version *v) { return v->list_count + v->container_count + v->stack_count + v->text_count > 0; }

/* Whether a call looks like one for this version, without a look at every item. */
static int seems_to_fit(const version *v, PyObject *const *values)
{
    int64_t words[1 + 2 * MAX_RANK];
    char number[16];
    for (int i = 0; i < v->argument_count; i++) {
        const parameter *p = &v->parameters[i];
        PyObject *value = values[i];
        if (p->test == TEST_CONTAINER || p->test == TEST_STACK) {
            if (!is_exact(value, container_type(p->template)))
                return 0;
        } else if (p->test == TEST_TEXT) {
            const char *t = p->template;
            const PyTypeObject *wanted = *t == '{'   ? &PyDict_Type
                                         : *t == '[' ? &PyList_Type
                                         : *t == 's' ? &PyUnicode_Type
                                         : *t == 'y' ? &PyBytes_Type
                                                     : &PyByteArray_Type;
            if (!is_exact(value, wanted))
                return 0;
        } else if (p->test == TEST_LIST) {
            int depth = 0;
            for (; depth < p->rank && is_exact(value, &PyList_Type) && ((ListHead *)value)->size > 0; depth++)
                value = ((ListHead *)value)->items[0];
            if (depth < p->rank ? !is_exact(value, &PyList_Type) : read_item((list_kind)p->code, value, number) <= 0)
                return 0;
        } else if (pack_value(p, value, values, NULL, words) <= 0) {
            return 0;
        }
    }
    return 1;
}

/* Whether the next call that fits is to run in plain Python. */
static int prefers_plain(version *v)
{
    v->way_calls++;
    if ((v->way == WAY_NATIVE || v->way == WAY_PLAIN) && v->way_calls >= v->ask_again) {
        v->way = WAY_MEASURED;
        v->ask_again = ASK_AGAIN * v->way_calls;
        v->measured = v->native_time = v->copy_time = v->plain_time = v->trials = 0;
    }
    return v->way == WAY_TRIAL || v->way == WAY_PLAIN;
}

/* A native call took `total`, of which `kernel` was the kernel and `packed` the way to it. */
static void note_native(version *v, int64_t total, int64_t kernel, int64_t packed)
{
    if (v->way != WAY_MEASURED)
        return;
    int64_t index = v->searched ? (kernel < packed ? kernel : packed) : 0; /* a kernel makes the index of a dict first */
    v->measured++;
    v->native_time += total;
    v->copy_time += total - kernel + index;
    if (v->measured < TRIAL_CALLS + 1)
        return;
    v->way = v->copy_time > COPY_DWARFS * (v->native_time - v->copy_time) ? WAY_TRIAL : WAY_NATIVE;
}

static void note_plain(version *v, int64_t total)
{
    if (v->way != WAY_TRIAL)
        return;
    v->plain_time += total;
    if (++v->trials == TRIAL_CALLS)
        v->way = v->plain_time * v->measured < v->native_time * TRIAL_CALLS ? WAY_PLAIN : WAY_NATIVE;
}
