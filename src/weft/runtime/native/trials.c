/* Whether a version that copies containers in and out is worth its copies.

   In: how long calls took, and how much of that the kernel. Out: where the next call goes. A kernel that looks at one entry of
   a large dict takes longer than Python, which need not copy the dict. So if copying dwarfs the kernel, two calls run in plain
   Python, which means the same, and the faster way is kept; the question is asked again when there were twice as many calls. */

#include "version.h"

enum { TRIAL_CALLS = 2, COPY_DWARFS = 8 };
typedef enum { WAY_MEASURED, WAY_TRIAL, WAY_NATIVE, WAY_PLAIN } version_way;

static int64_t nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static int copies_containers(const version *v) { return v->list_count + v->container_count + v->stack_count > 0; }

/* Whether the next call that fits is to run in plain Python. */
static int prefers_plain(version *v)
{
    v->way_calls++;
    if ((v->way == WAY_NATIVE || v->way == WAY_PLAIN) && v->way_calls >= v->ask_again) {
        v->way = WAY_MEASURED;
        v->ask_again = 2 * v->way_calls;
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
