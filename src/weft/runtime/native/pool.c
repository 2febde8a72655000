/* The fork-join pool.

   In: a function over [0, n) and a number of pieces. Out: every piece has been run once, on this thread and on workers that
   were free. The cut depends on (n, tasks) alone. A thread starts with a share of the pieces that is its own, so that in
   region after region it finds in its cache what it left there, and then helps with the shares of others. A region waits
   only for workers that joined it, so a sleeping worker never delays a short one. One region runs at a time: a second
   Python thread, or a region inside a region, runs its pieces itself.

   Others may want the processors, too. A worker that waits for work gives way to whoever is ready to run, and sleeps
   while a library with threads of its own is at work. A worker that has joined and is then put aside by the system keeps
   its region waiting: if that took longer than the work, the regions of the next milliseconds do without workers, and of
   twice as many if it happens again. */

#include "services.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#endif

/* What the pool asks of the runtime around it (interrupts.c with Python, host.c without). */
static int64_t rt_poll(void);             /* not zero: the call is to end */
static const int *interrupt_of_call(void); /* what becomes not zero when the call of this thread is to end, or NULL */

/* On a worker: the flag of the call it helps. */
static __thread const int *helped_interrupt;

#define POLL_INTERVAL 50000000   /* ns between two looks at pending signals */
#define SPIN_INTERVAL 20000      /* ns a thread stays awake in the hope of more work */
#define LONG_SPIN 400000         /* the same where the last region came that soon after the one before it */
#define LONG_WAIT 200000         /* ns that a region may wait for workers without a consequence */
#define LEAST_ALONE 2000000      /* ns without workers after a region that waited for too long, */
#define MOST_ALONE 64000000      /* and if that has happened again and again */
#define WORKER_STACK ((size_t)8 << 20)
#define MAX_WORKERS 1023
#define REGION_OPEN 0x10000u     /* region state: this bit, and the number of workers inside below it */
#define REGION_COUNT 0xffffu

static struct {
    int busy;              /* a region runs: taken by compare-and-swap */
    int started;           /* workers alive */
    int wanted;            /* threads of a region, the caller's included */
    uint32_t generation;   /* one more for each region; sleeping workers watch it */
    int sleepers;          /* workers that may need a system call to wake */
    uint32_t region;
    uint32_t limit;        /* workers that may join */
    task_function function;
    void *context;
    int64_t n, tasks;
    int shares;            /* one for each thread of the region */
    int processor;         /* where the caller runs */
    const int *interrupt;
    int libraries;         /* calls of libraries under way that may have threads of their own */
    int64_t alone_until;   /* when regions may have workers again */
    int64_t alone;         /* how long they had none the last time */
} pool = {.wanted = 1};

/* The next piece of each share, on a cache line of its own. */
static struct {
    int64_t next;
    char apart[64 - sizeof(int64_t)];
} share[MAX_WORKERS + 1] __attribute__((aligned(64)));

/* Depth of regions on this thread: a nested one runs serially. */
static __thread int region_depth;

static int64_t now_ns(void)
{
    struct timespec t;
#if defined(CLOCK_MONOTONIC_COARSE)
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
#else
    clock_gettime(CLOCK_MONOTONIC, &t);
#endif
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t precise_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* --- sleeping until a word changes --- */

#if defined(__linux__)
static void wait_while(uint32_t *word, uint32_t value, int64_t timeout_ns)
{
    struct timespec limit = {timeout_ns / 1000000000, timeout_ns % 1000000000};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout_ns < 0 ? NULL : &limit, NULL, 0);
}

static void wake(uint32_t *word, int count) { syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0); }
static void waiting_after_fork(void) {}
#else
static pthread_mutex_t wait_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wait_changed = PTHREAD_COND_INITIALIZER;

static void wait_while(uint32_t *word, uint32_t value, int64_t timeout_ns)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += timeout_ns / 1000000000;
    limit.tv_nsec += timeout_ns % 1000000000;
    if (limit.tv_nsec >= 1000000000) {
        limit.tv_sec++;
        limit.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&wait_lock);
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value) {
        if (timeout_ns < 0)
            pthread_cond_wait(&wait_changed, &wait_lock);
        else
            pthread_cond_timedwait(&wait_changed, &wait_lock, &limit);
    }
    pthread_mutex_unlock(&wait_lock);
}

static void wake(uint32_t *word, int count)
{
    (void)word;
    (void)count;
    pthread_mutex_lock(&wait_lock);
    pthread_cond_broadcast(&wait_changed);
    pthread_mutex_unlock(&wait_lock);
}

static void waiting_after_fork(void)
{
    pthread_mutex_init(&wait_lock, NULL);
    pthread_cond_init(&wait_changed, NULL);
}
#endif

/* True as soon as the word differs from `value`; false when the spin time is over. */
static int spin_for_change(uint32_t *word, uint32_t value, int64_t interval)
{
    int64_t now = precise_ns(), end = now + interval, polite = now + SPIN_INTERVAL;
    int busy = 0; /* looks in a row that found a library at work: a short call is no reason to sleep */
    do {
        for (int i = 0; i < 64; i++) {
            if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value)
                return 1;
            relax();
        }
        busy = __atomic_load_n(&pool.libraries, __ATOMIC_RELAXED) > 0 ? busy + 1 : 0;
        now = precise_ns();
        if (now > polite)
            sched_yield();
    } while (now < end && busy < 3);
    return 0;
}

/* --- processors --- */

#if defined(__linux__)
extern int sched_getcpu(void);
#define MASK_WORDS 128 /* 8192 processors */

static int processor_here(void) { return sched_getcpu(); }

/* Leaves the caller's processor. A busy system may wake a worker in the queue behind the thread that it should help, where
   it gets its turn when there is nothing left to do, call after call.

   Only for a worker that has joined a region: the caller waits for it, so that between two regions no worker is about to
   set the processors that it has read before. A user who places the threads there has the last word. */
static void step_aside(unsigned long *own, unsigned long *chosen)
{
    const int bits = 8 * (int)sizeof(unsigned long);
    int processor = __atomic_load_n(&pool.processor, __ATOMIC_RELAXED);
    if (processor < 0 || processor >= MASK_WORDS * bits || processor != processor_here())
        return;
    unsigned long now[MASK_WORDS] = {0};
    if (syscall(SYS_sched_getaffinity, 0, sizeof now, now) <= 0)
        return;
    if (memcmp(now, chosen, sizeof now) != 0) /* not what was set here: the user's wish */
        memcpy(own, now, sizeof now);
    memcpy(now, own, sizeof now);
    now[processor / bits] &= ~(1UL << processor % bits);
    int others = 0;
    for (int i = 0; i < MASK_WORDS; i++)
        others |= now[i] != 0;
    if (others && syscall(SYS_sched_setaffinity, 0, sizeof now, now) == 0)
        memcpy(chosen, now, sizeof now);
}
#else
#define MASK_WORDS 1
static int processor_here(void) { return -1; }
static void step_aside(unsigned long *own, unsigned long *chosen) { (void)own, (void)chosen; }
#endif

/* --- regions --- */

static void run_piece(task_function function, void *context, int64_t n, int64_t tasks, int64_t task)
{
    int64_t size = n / tasks, longer = n % tasks;
    int64_t begin = task * size + (task < longer ? task : longer);
    function(context, begin, begin + size + (task < longer), task);
}

/* Where a share begins: as even as whole pieces allow. */
static int64_t share_start(int64_t tasks, int64_t shares, int64_t which) { return tasks * which / shares; }

static void run_pieces(int own)
{
    task_function function = pool.function;
    void *context = pool.context;
    int64_t n = pool.n, tasks = pool.tasks, task;
    int shares = pool.shares;
    for (int i = 0; i < shares; i++) {
        int which = (own + i) % shares;
        int64_t end = share_start(tasks, shares, which + 1);
        /* Looked at first: a share that is done already is not worth an exclusive access to its line. */
        while (__atomic_load_n(&share[which].next, __ATOMIC_RELAXED) < end &&
               (task = __atomic_fetch_add(&share[which].next, 1, __ATOMIC_RELAXED)) < end)
            run_piece(function, context, n, tasks, task);
    }
}

static void *worker_main(void *number)
{
    region_depth = 1;
    uint32_t seen = 0;
    int64_t hope = SPIN_INTERVAL;
    unsigned long own[MASK_WORDS] = {0}, chosen[MASK_WORDS] = {0};
    for (;;) {
        int64_t idle_since = precise_ns();
        if (!spin_for_change(&pool.generation, seen, hope)) {
            __atomic_fetch_add(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
            while (__atomic_load_n(&pool.generation, __ATOMIC_SEQ_CST) == seen)
                wait_while(&pool.generation, seen, -1);
            __atomic_fetch_sub(&pool.sleepers, 1, __ATOMIC_SEQ_CST);
        }
        /* To be woken takes longer than many a region: one that comes soon again and again is waited for. */
        hope = precise_ns() - idle_since < LONG_SPIN ? LONG_SPIN : SPIN_INTERVAL;
        seen = __atomic_load_n(&pool.generation, __ATOMIC_ACQUIRE);
        uint32_t region = __atomic_load_n(&pool.region, __ATOMIC_ACQUIRE);
        int joined = 0;
        while (!joined && (region & REGION_OPEN) && (region & REGION_COUNT) < __atomic_load_n(&pool.limit, __ATOMIC_RELAXED))
            joined = __atomic_compare_exchange_n(&pool.region, &region, region + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        if (!joined)
            continue;
        step_aside(own, chosen);
        helped_interrupt = pool.interrupt;
        run_pieces((int)((intptr_t)number % pool.shares));
        helped_interrupt = NULL;
        if (__atomic_sub_fetch(&pool.region, 1, __ATOMIC_ACQ_REL) == 0)
            wake(&pool.region, 1);
    }
    return NULL;
}

/* Signals are for Python's threads: a worker that took SIGINT would leave the main thread asleep. */
static void start_workers(int count)
{
    if (pool.started >= count)
        return;
    sigset_t all, before;
    pthread_attr_t attributes;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, WORKER_STACK);
    pthread_t thread;
    while (pool.started < count &&
           pthread_create(&thread, &attributes, worker_main, (void *)(intptr_t)(pool.started + 1)) == 0)
        pool.started++;
    pthread_attr_destroy(&attributes);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void run_serially(task_function function, void *context, int64_t n, int64_t tasks)
{
    region_depth++;
    for (int64_t task = 0; task < tasks; task++)
        run_piece(function, context, n, tasks, task);
    region_depth--;
}

/* After a region, on the thread that holds `busy`: whether workers were worth waiting for. */
static void judge_wait(int64_t worked, int64_t now, int64_t waited)
{
    if (waited <= LONG_WAIT || waited <= worked) {
        pool.alone /= 2;
        return;
    }
    pool.alone = 2 * pool.alone < LEAST_ALONE ? LEAST_ALONE : 2 * pool.alone > MOST_ALONE ? MOST_ALONE : 2 * pool.alone;
    __atomic_store_n(&pool.alone_until, now + pool.alone, __ATOMIC_RELAXED);
}

static void rt_parallel(task_function function, void *context, int64_t n, int64_t tasks)
{
    int wanted = __atomic_load_n(&pool.wanted, __ATOMIC_RELAXED);
    int idle = 0;
    int64_t start = tasks <= 1 || wanted <= 1 || region_depth > 0 ? 0 : precise_ns();
    if (start == 0 || start < __atomic_load_n(&pool.alone_until, __ATOMIC_RELAXED) ||
        !__atomic_compare_exchange_n(&pool.busy, &idle, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        run_serially(function, context, n, tasks);
        return;
    }
    int helpers = (int)(tasks < wanted ? tasks : wanted) - 1;
    start_workers(helpers);
    pool.function = function;
    pool.context = context;
    pool.n = n;
    pool.tasks = tasks;
    pool.shares = helpers + 1;
    for (int i = 0; i <= helpers; i++)
        share[i].next = share_start(tasks, helpers + 1, i);
    pool.interrupt = interrupt_of_call();
    __atomic_store_n(&pool.processor, processor_here(), __ATOMIC_RELAXED);
    __atomic_store_n(&pool.limit, (uint32_t)helpers, __ATOMIC_RELAXED);
    __atomic_store_n(&pool.region, REGION_OPEN, __ATOMIC_RELEASE);
    __atomic_fetch_add(&pool.generation, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pool.sleepers, __ATOMIC_SEQ_CST) > 0)
        wake(&pool.generation, helpers);
    region_depth++;
    run_pieces(0);
    region_depth--;
    uint32_t region = __atomic_and_fetch(&pool.region, ~REGION_OPEN, __ATOMIC_ACQ_REL);
    int64_t done = region != 0 ? precise_ns() : 0;
    while (region != 0) {
        if (!spin_for_change(&pool.region, region, SPIN_INTERVAL)) {
            wait_while(&pool.region, region, POLL_INTERVAL);
            rt_poll();
        }
        region = __atomic_load_n(&pool.region, __ATOMIC_ACQUIRE);
    }
    if (done != 0) {
        int64_t now = precise_ns();
        judge_wait(done - start, now, now - done);
    }
    __atomic_store_n(&pool.busy, 0, __ATOMIC_RELEASE);
}

static int64_t rt_threads(void) { return region_depth > 0 ? 1 : __atomic_load_n(&pool.wanted, __ATOMIC_RELAXED); }

void weft_set_threads(int64_t count)
{
    __atomic_store_n(&pool.wanted, (int)(count > MAX_WORKERS + 1 ? MAX_WORKERS + 1 : count), __ATOMIC_RELAXED);
}

/* Workers do not survive a fork: the child starts with none, whatever the parent's region was doing. */
static void pool_after_fork(void)
{
    pool.started = 0;
    pool.sleepers = 0;
    pool.busy = 0;
    pool.generation = 0;
    pool.region = 0;
    pool.libraries = 0;
    pool.alone_until = pool.alone = 0;
    waiting_after_fork();
}
