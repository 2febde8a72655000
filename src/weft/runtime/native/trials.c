/* Whether a version is worth its call.

   In: how long calls took, and how much of that the kernel. Out: where the next call goes. A kernel that looks at one entry of
   a large dict takes longer than Python, which need not copy the dict; so may one that does next to nothing. So calls of a
   version run by turns natively and in plain Python, which means the same to the last bit (`timed` versions only), and the
   faster way is kept; the question is asked again when there were eight times as many calls, or when a plain call takes far
   longer than those of the trial. No call runs twice.

   A plain call may take a hundred times as long as the kernel: it is tried only where that is soon over, or copying dwarfs the
   kernel. One that takes twice as long as a native call ends the trial. */

#include "version.h"

#include <time.h>

enum { FEW_CALLS = 3, COPY_DWARFS = 8, ASK_AGAIN = 8, ASK_FIRST = 64, MOST_DISTURBED = 8 };
#define CHEAP_CALL 1000000       /* ns of a native call that may be repeated TRIAL_CALLS times */
#define SHORT_CALL 5000          /* ns of a native call that copies nothing */
#define SHORT_KERNEL 2500000     /* ns of a kernel whose work plain Python does in a quarter of a second at worst */
#define WORTH_A_TRIAL 20000      /* ns of a call: a trial of longer ones costs next to nothing */
#define BEARABLE_KERNEL 25000000 /* the same, where copying takes longer than the kernel */
typedef enum { WAY_MEASURED, WAY_TRIAL, WAY_NATIVE, WAY_PLAIN } version_way;

/* Time of this thread alone: on a busy machine a call may wait for a processor any time. */
static int64_t thread_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t (*given_clock)(void);

/* What takes less than a look at the thread's clock is timed by a quicker one: the least of several calls counts there. */
static int64_t trial_clock(const version *v)
{
    return given_clock != NULL ? given_clock() : v->converts ? thread_ns() : precise_ns();
}
static int64_t questions; /* calls that were asked about in Python, of all functions: they may have been compiled */

/* For tests, which must not depend on how fast anything is; NULL: the machine's own. */
void weft_set_trial_clock(int64_t (*clock)(void)) { given_clock = clock; }

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

/* What calls of a version take: the median, or of very short ones the least. */
static int64_t typical(const version *v, const int64_t *times, int count)
{
    int64_t sorted[TRIAL_CALLS] = {0};
    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > times[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = times[i];
    }
    return count == 0 ? 0 : sorted[v->converts ? (count - 1) / 2 : 0];
}

/* Of the native calls that were timed. */
static int64_t native_time(const version *v)
{
    return typical(v, v->native_times, v->measured > TRIAL_CALLS ? TRIAL_CALLS : v->measured - 1);
}

/* A call that was to be timed, and did not fit. */
static void note_unfit(version *v)
{
    if (v->way == WAY_MEASURED && ++v->disturbed == MOST_DISTURBED)
        v->way = WAY_NATIVE;
}

static void measure_again(version *v)
{
    v->way = WAY_MEASURED;
    v->measured = v->trials = v->disturbed = v->lost = 0;
    v->copy_time = 0;
    v->watch.limit = 0;
}

/* Python takes `plain` for a call, and so is the faster way: until calls are much longer. The more often that was found, the
   longer they must be. */
static void leave_to_python(version *v, int64_t plain)
{
    v->way = WAY_PLAIN;
    v->worth = v->worth == 0 ? WORTH_A_TRIAL : 2 * v->worth;
    v->watch.limit = 8 * plain > v->worth ? 8 * plain : v->worth;
}

/* Whether the next call that fits is to run in plain Python. */
static int prefers_plain(version *v)
{
    v->way_calls++;
    if ((v->way == WAY_NATIVE || v->way == WAY_PLAIN) && v->way_calls >= v->ask_again) {
        v->ask_again = ASK_AGAIN * v->way_calls;
        measure_again(v);
    }
    return v->way == WAY_TRIAL || v->way == WAY_PLAIN;
}

/* Whether a plain call may be tried after native ones that took `native`, of which `copies` were not the kernel. */
static int may_try_plain(const version *v, int64_t native, int64_t copies)
{
    int64_t kernel = native - copies;
    if (!v->converts)
        return native < SHORT_CALL;
    return kernel < SHORT_KERNEL || copies > COPY_DWARFS * kernel || (copies > kernel && kernel < BEARABLE_KERNEL);
}

/* A native call took `total`, of which `kernel` was the kernel and `packed` the way to it. */
static void note_native(version *v, int64_t total, int64_t kernel, int64_t packed)
{
    if (v->way != WAY_MEASURED)
        return;
    int64_t index = v->searched ? (kernel < packed ? kernel : packed) : 0; /* a kernel makes the index of a dict first */
    v->copy_time = total - kernel + index;
    if (v->measured++ == 0)
        return; /* memory is cold */
    v->native_times[(v->measured - 2) % TRIAL_CALLS] = total;
    v->way = may_try_plain(v, total, v->copy_time) ? WAY_TRIAL : WAY_NATIVE;
}

/* A plain call took `total`; `disturbed`: something was compiled meanwhile, perhaps. */
static void note_plain(version *v, int64_t total, int disturbed)
{
    if (v->way != WAY_TRIAL)
        return;
    if (disturbed) {
        if (++v->disturbed == MOST_DISTURBED)
            v->way = WAY_NATIVE;
        return;
    }
    v->plain_times[v->trials++] = total;
    int64_t native = native_time(v), plain = typical(v, v->plain_times, v->trials);
    if (plain > 2 * native && (v->trials > 1 || native > CHEAP_CALL / 10)) /* one alone may have met the garbage collector */
        v->way = WAY_NATIVE;
    else if (v->trials < (native < CHEAP_CALL ? TRIAL_CALLS : FEW_CALLS))
        v->way = WAY_MEASURED;
    if (v->way == WAY_TRIAL && 20 * plain < 19 * native)
        leave_to_python(v, plain);
    else if (v->way == WAY_TRIAL)
        v->way = WAY_NATIVE;
}

/* Python had to run a call that this version had begun. If that is the rule, Python runs such calls from the start. */
static void note_lost(version *v)
{
    if (++v->lost >= ASK_AGAIN && v->lost > v->calls / 2 && v->way != WAY_PLAIN) {
        v->way = WAY_PLAIN;
        v->ask_again = ASK_AGAIN * (v->way_calls > ASK_FIRST ? v->way_calls : ASK_FIRST);
    }
}

/* --- calls that are longer than those of the trial --- */

enum { SELDOM_WAITED = 30000000 }; /* ns; nobody waits so long for a processor without something being odd */
enum { SUSPECTED_CALLS = 8 };      /* calls that are measured after one that may be long: long and short ones may take turns */

static int64_t tick_ns(void)
{
#ifdef CLOCK_MONOTONIC_COARSE
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
#else
    return 0;
#endif
}

static inline int64_t watch_clock(int precisely)
{
    return given_clock != NULL ? given_clock() : precisely ? thread_ns() : tick_ns();
}

/* Whether a call that took so long is longer than those by which the way was chosen. */
static int is_longer(call_watch *watch, int64_t passed, int precisely)
{
    if (precisely)
        watch->suspected -= watch->suspected > 0;
    else if (passed > 0)
        watch->suspected = SUSPECTED_CALLS;
    return passed > watch->limit && (precisely || passed > SELDOM_WAITED);
}

/* A plain call of a version for which Python is the faster way took `passed`: of a long one that need not be so. */
static void note_left_to_python(version *v, int64_t passed, int precisely)
{
    if (v->way == WAY_PLAIN && is_longer(&v->watch, passed, precisely))
        measure_again(v);
}
