/* What libraries and modules without weft do by themselves: how many threads they begin with, and what a fork needs.

   In: memory.c, pool.c and tasks.c, included before. Out: threads_at_first() and start_threads(). */

#include <sched.h>

static int64_t processors_allowed(void)
{
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
#endif
    long found = sysconf(_SC_NPROCESSORS_ONLN);
    return found > 0 ? found : 1;
}

static int64_t threads_at_first(void)
{
    static const char *const names[] = {"WEFT_NUM_THREADS", "OMP_NUM_THREADS"};
    for (int i = 0; i < 2; i++) {
        const char *text = getenv(names[i]);
        char *end = NULL;
        long number = text == NULL ? 0 : strtol(text, &end, 10);
        if (number > 0 && (*end == 0 || *end == ','))
            return number;
    }
    return processors_allowed();
}

static void before_fork(void) { scratch_before_fork(); }
static void after_fork_parent(void) { scratch_after_fork(); }

static void after_fork_child(void)
{
    scratch_after_fork();
    pool_after_fork();
    tasks_after_fork();
}

static void start_threads(void)
{
    weft_set_threads(threads_at_first());
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}
