/* Tasks: work that a kernel hands out while it goes on, and waits for at the end of a `finish`.

   In: functions with a copy of their context, each counted by the finish it belongs to. Out: each has been run once, by the
   thread that handed it out or by one that was idle. A thread keeps what it hands out in a queue of its own: it takes back
   the newest, others steal the oldest, which is the largest part of a recursion. Generated code looks at its worker before
   it hands anything out: with enough in the queue, or deep in a recursion, it does the work in place, which costs next to
   nothing. How deep is deep (`reach`, in bytes of stack) begins small and doubles while threads starve. The threads
   are the pool's, lent for the time of one call (a session); a call inside a parallel region, or beside another session,
   finds no room and runs in place. A thread that waits for a finish works on whatever is there, unless its stack is
   half used: what it waits for is then in the hands of others, who get on. */

#include "services.h"
#include "stack.c"
#include "pool.c"

#include <sched.h>

#define QUEUE_PLACES 1024
#define PAYLOAD_WORDS 24
#define IDLE_SPINS 2000
#define FIRST_REACH 1024             /* bytes of stack in which tasks are handed out at first */
#define STARVED 400                  /* fruitless turns after which tasks are handed out further down */
#define IDLE_SLEEP 200000            /* ns an idle thread sleeps before it looks again */
#define LARGEST_REACH ((int64_t)1 << 20)

typedef struct weft_finish {
    int64_t pending; /* tasks handed out and not done; what follows belongs to generated code */
} weft_finish;

typedef void (*spawned_function)(const weft_rt *rt, weft_worker *self, void *context, weft_finish *finish, int64_t number,
                                 int64_t depth);

typedef struct {
    spawned_function function;
    weft_finish *finish;
    int64_t number;
    int64_t depth;  /* of the recursion, in bytes of stack */
    int64_t *large; /* a context that does not fit */
    int64_t context[PAYLOAD_WORDS];
} task_record;

struct weft_worker {
    int64_t queued, room, reach; /* read by generated code */
    uintptr_t half;              /* below this address half of its thread's stack is used */
    int lock;
    uint32_t oldest;
    task_record *places;
    char apart[64];
} __attribute__((aligned(64)));

static struct {
    const weft_rt *rt;
    int helpers;
    int opened;      /* threads were asked to come */
    int closed;      /* they may go */
    int members;     /* workers in use, the caller's included */
    int sleepers;
    uint32_t signal; /* changes when there is something to do */
} session;

static int isolated_lock;
static __thread int isolated_depth;
static __thread int64_t isolated_room;

static weft_worker alone;
static weft_worker crew[MAX_WORKERS + 1];
static __thread weft_worker *current_worker;

static void lock_word(int *word)
{
    int turns = 0;
    while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE)) {
        while (__atomic_load_n(word, __ATOMIC_RELAXED)) {
            if (++turns > 1000)
                sched_yield();
            else
                relax();
        }
    }
}

static void unlock_word(int *word) { __atomic_store_n(word, 0, __ATOMIC_RELEASE); }

/* --- queues --- */

static int put_task(weft_worker *self, const task_record *task, int64_t words)
{
    lock_word(&self->lock);
    int taken = self->queued < QUEUE_PLACES;
    if (taken) {
        task_record *place = &self->places[(self->oldest + (uint32_t)self->queued) % QUEUE_PLACES];
        memcpy(place, task, offsetof(task_record, context) + (size_t)words * sizeof(int64_t));
        __atomic_store_n(&self->queued, self->queued + 1, __ATOMIC_RELAXED);
    }
    unlock_word(&self->lock);
    return taken;
}

static int take_task(weft_worker *from, task_record *task, int newest)
{
    if (__atomic_load_n(&from->queued, __ATOMIC_RELAXED) == 0)
        return 0;
    lock_word(&from->lock);
    int taken = from->queued > 0;
    if (taken) {
        uint32_t at = newest ? from->oldest + (uint32_t)from->queued - 1 : from->oldest;
        *task = from->places[at % QUEUE_PLACES];
        from->oldest += !newest;
        __atomic_store_n(&from->queued, from->queued - 1, __ATOMIC_RELAXED);
    }
    unlock_word(&from->lock);
    return taken;
}

static int find_task(weft_worker *self, task_record *task)
{
    if (take_task(self, task, 1))
        return 1;
    int members = __atomic_load_n(&session.members, __ATOMIC_ACQUIRE), own = (int)(self - crew);
    for (int i = 1; i < members; i++)
        if (take_task(&crew[(own + i) % members], task, 0))
            return 1;
    return 0;
}

static void run_task(weft_worker *self, task_record *task)
{
    weft_finish *finish = task->finish;
    task->function(session.rt, self, task->large != NULL ? task->large : task->context, finish, task->number,
                   task->depth);
    free(task->large);
    __atomic_sub_fetch(&finish->pending, 1, __ATOMIC_RELEASE); /* the finish may be gone from here on */
}

/* --- sessions --- */

static uintptr_t half_of_stack(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), floor = (uintptr_t)rt_stack_floor();
    return here > floor ? here - (here - floor) / 2 : here;
}

static int start_worker(weft_worker *self)
{
    if (self->places == NULL)
        self->places = malloc(QUEUE_PLACES * sizeof(task_record));
    if (self->places == NULL)
        return 0;
    int64_t room = 8 * (int64_t)(session.helpers + 1);
    self->room = room < 16 ? 16 : room > QUEUE_PLACES ? QUEUE_PLACES : room;
    self->reach = FIRST_REACH;
    self->half = half_of_stack();
    return 1;
}

static void idle(int *turns)
{
    if (++*turns % STARVED == 0) {
        int members = __atomic_load_n(&session.members, __ATOMIC_ACQUIRE);
        for (int i = 0; i < members; i++) {
            int64_t reach = __atomic_load_n(&crew[i].reach, __ATOMIC_RELAXED);
            if (reach < LARGEST_REACH)
                __atomic_store_n(&crew[i].reach, reach * 2, __ATOMIC_RELAXED);
        }
    }
    if (*turns < IDLE_SPINS) {
        relax();
        return;
    }
    uint32_t signal = __atomic_load_n(&session.signal, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&session.sleepers, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&session.closed, __ATOMIC_SEQ_CST))
        wait_while(&session.signal, signal, IDLE_SLEEP);
    __atomic_fetch_sub(&session.sleepers, 1, __ATOMIC_SEQ_CST);
}

static void rouse(int count)
{
    if (__atomic_load_n(&session.sleepers, __ATOMIC_SEQ_CST) > 0) {
        __atomic_fetch_add(&session.signal, 1, __ATOMIC_SEQ_CST);
        wake(&session.signal, count);
    }
}

/* A thread of the pool for the time of the session. */
static void help_with_tasks(void *context, int64_t begin, int64_t end, int64_t piece)
{
    (void)context;
    (void)begin;
    (void)end;
    (void)piece;
    if (__atomic_load_n(&session.closed, __ATOMIC_ACQUIRE))
        return;
    int number = __atomic_fetch_add(&session.members, 1, __ATOMIC_ACQ_REL);
    weft_worker *self = &crew[number];
    task_record task;
    current_worker = self;
    self->half = half_of_stack();
    region_depth = 0;
    int turns = 0;
    while (!__atomic_load_n(&session.closed, __ATOMIC_ACQUIRE)) {
        if (find_task(self, &task)) {
            run_task(self, &task);
            turns = 0;
        } else
            idle(&turns);
    }
    region_depth = 1;
    current_worker = NULL;
}

static void open_session(void)
{
    int helpers = session.helpers;
    session.opened = 1;
    for (int i = 1; i <= helpers; i++)
        if (!start_worker(&crew[i])) {
            helpers = i - 1;
            break;
        }
    if (helpers == 0)
        return;
    start_workers(helpers);
    pool.function = help_with_tasks;
    pool.context = NULL;
    pool.n = pool.tasks = pool.shares = helpers;
    for (int i = 0; i < helpers; i++)
        share[i].next = i;
    pool.interrupt = interrupt_of_call();
    __atomic_store_n(&pool.processor, processor_here(), __ATOMIC_RELAXED);
    __atomic_store_n(&pool.limit, (uint32_t)helpers, __ATOMIC_RELAXED);
    __atomic_store_n(&pool.region, REGION_OPEN, __ATOMIC_RELEASE);
    __atomic_fetch_add(&pool.generation, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pool.sleepers, __ATOMIC_SEQ_CST) > 0)
        wake(&pool.generation, helpers);
}

static weft_worker *rt_enter(const weft_rt *rt)
{
    int wanted = __atomic_load_n(&pool.wanted, __ATOMIC_RELAXED), idle_pool = 0;
    if (wanted <= 1 || region_depth > 0 || current_worker != NULL ||
        !__atomic_compare_exchange_n(&pool.busy, &idle_pool, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return &alone;
    session.rt = rt;
    session.helpers = wanted - 1;
    session.opened = session.closed = 0;
    session.members = 1;
    if (!start_worker(&crew[0])) {
        __atomic_store_n(&pool.busy, 0, __ATOMIC_RELEASE);
        return &alone;
    }
    current_worker = &crew[0];
    return &crew[0];
}

static void rt_leave(weft_worker *self)
{
    if (self == &alone)
        return;
    if (session.opened) {
        __atomic_store_n(&session.closed, 1, __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&session.signal, 1, __ATOMIC_SEQ_CST);
        wake(&session.signal, session.helpers);
        uint32_t region = __atomic_and_fetch(&pool.region, ~REGION_OPEN, __ATOMIC_ACQ_REL);
        while (region != 0) {
            if (!spin_for_change(&pool.region, region, SPIN_INTERVAL))
                wait_while(&pool.region, region, POLL_INTERVAL);
            region = __atomic_load_n(&pool.region, __ATOMIC_ACQUIRE);
        }
    }
    current_worker = NULL;
    __atomic_store_n(&pool.busy, 0, __ATOMIC_RELEASE);
}

/* --- handing out and waiting --- */

static void rt_spawn(weft_worker *self, weft_finish *finish, spawned_function function, const void *context, int64_t bytes,
                     int64_t number, int64_t depth)
{
    task_record task;
    task.function = function;
    task.finish = finish;
    task.number = number;
    task.depth = depth;
    task.large = NULL;
    int64_t words = (bytes + 7) / 8;
    if (words > PAYLOAD_WORDS) {
        task.large = malloc((size_t)bytes);
        words = 0;
    }
    if (task.large != NULL || bytes <= (int64_t)sizeof task.context) {
        memcpy(task.large != NULL ? task.large : task.context, context, (size_t)bytes);
        __atomic_fetch_add(&finish->pending, 1, __ATOMIC_RELAXED);
        if (put_task(self, &task, words)) {
            if (!session.opened)
                open_session();
            rouse(1);
            return;
        }
        __atomic_fetch_sub(&finish->pending, 1, __ATOMIC_RELAXED);
        free(task.large);
    }
    function(session.rt, self, (void *)context, finish, number, depth);
}

static void rt_join(weft_worker *self, weft_finish *finish)
{
    task_record task;
    int turns = 0;
    int spacious = (uintptr_t)__builtin_frame_address(0) > self->half;
    while (__atomic_load_n(&finish->pending, __ATOMIC_ACQUIRE) > 0) {
        if (spacious ? find_task(self, &task) : take_task(self, &task, 1)) {
            run_task(self, &task);
            turns = 0;
        } else {
            if (turns >= IDLE_SPINS)
                rt_poll();
            idle(&turns);
        }
    }
}

/* --- parallel loops inside a session: their pieces are tasks --- */

typedef struct {
    task_function function;
    void *context;
    int64_t n, tasks;
} loop_pieces;

static void run_loop_piece(const weft_rt *rt, weft_worker *self, void *context, weft_finish *finish, int64_t number,
                           int64_t depth)
{
    (void)rt;
    (void)depth;
    (void)self;
    (void)finish;
    const loop_pieces *loop = context;
    region_depth++;
    run_piece(loop->function, loop->context, loop->n, loop->tasks, number);
    region_depth--;
}

static void rt_parallel_or_tasks(task_function function, void *context, int64_t n, int64_t tasks)
{
    weft_worker *self = current_worker;
    if (isolated_depth > 0) { /* a piece that wanted the lock would be waited for in vain */
        run_serially(function, context, n, tasks);
        return;
    }
    if (self == NULL || region_depth > 0 || tasks <= 1) {
        rt_parallel(function, context, n, tasks);
        return;
    }
    loop_pieces loop = {function, context, n, tasks};
    weft_finish finish = {0};
    for (int64_t i = tasks - 1; i > 0; i--)
        rt_spawn(self, &finish, run_loop_piece, &loop, sizeof loop, i, 0);
    run_loop_piece(session.rt, self, &loop, &finish, 0, 0);
    rt_join(self, &finish);
}

/* --- one at a time --- */

/* What holds the lock hands nothing out: a task that wanted the lock would be waited for in vain. */
static void rt_isolate(void)
{
    if (isolated_depth++ > 0)
        return;
    lock_word(&isolated_lock);
    if (current_worker != NULL) {
        isolated_room = current_worker->room;
        current_worker->room = 0;
    }
}

static void rt_release_isolated(void)
{
    if (--isolated_depth > 0)
        return;
    if (current_worker != NULL)
        current_worker->room = isolated_room;
    unlock_word(&isolated_lock);
}

static void tasks_after_fork(void)
{
    for (int i = 0; i <= MAX_WORKERS; i++) {
        crew[i].lock = 0;
        crew[i].queued = 0;
        crew[i].oldest = 0;
    }
    session.sleepers = 0;
    isolated_lock = 0;
    isolated_depth = 0;
    current_worker = NULL;
}
