/* Memory for kernels and for their large results: 64-byte aligned blocks that are kept for the next call.

   In: sizes in bytes, from any thread. Out: blocks that are at least that long. Fresh pages cost a fault each, which for a
   temporary array can exceed the arithmetic on it; so released blocks stay in a list bounded in bytes and in number, and
   the smallest one that fits without much waste is given out again. The system may take back the pages of large blocks
   in the list whenever it is short of memory. Small blocks, of which containers ask for many in every iteration of a
   parallel loop, stay with the thread that released them, by powers of two: no lock, no search, no line of another core. */

#include "services.h"

#include <pthread.h>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHECKED_MEMORY
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define CHECKED_MEMORY
#endif

#define SCRATCH_ALIGNMENT 64
#if defined(CHECKED_MEMORY) /* every block is of its own and as long as asked for, so that what leaves it is seen */
#define SCRATCH_LIMIT ((int64_t)-1)
#define SCRATCH_UNIT(bytes) ((int64_t)1)
#else
#define SCRATCH_LIMIT ((int64_t)512 << 20)
#define SCRATCH_UNIT(bytes) ((int64_t)((bytes) < 4096 ? SCRATCH_ALIGNMENT : 4096))
#endif
#define SCRATCH_LARGE ((int64_t)16 << 20)
#define SCRATCH_BLOCKS 64
#define HUGE_PAGE ((int64_t)2 << 20)
#define SMALL_CLASSES 9 /* 64 bytes to 16 KiB */
#define SMALL_BLOCKS 16 /* that a thread keeps of each class */
#if defined(CHECKED_MEMORY)
#define SMALL_LIMIT ((int64_t)-1)
#else
#define SMALL_LIMIT ((int64_t)SCRATCH_ALIGNMENT << (SMALL_CLASSES - 1))
#endif

/* Lies in the 64 bytes before the data. */
typedef struct {
    int64_t bytes;
    void *start;
} scratch_head;

static struct {
    pthread_mutex_t lock;
    scratch_head *kept[SCRATCH_BLOCKS]; /* oldest first */
    int count;
    int64_t bytes;
} scratch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static scratch_head *scratch_forget(int index)
{
    scratch_head *head = scratch.kept[index];
    scratch.count--;
    scratch.bytes -= head->bytes;
    memmove(&scratch.kept[index], &scratch.kept[index + 1], (size_t)(scratch.count - index) * sizeof head);
    return head;
}

/* The most that a kept block may have for a request: half of a small one may be wasted, little of a large one. */
static int64_t scratch_fit(int64_t size) { return size < SCRATCH_LARGE ? 2 * size : size + size / 8; }

/* --- small blocks, by thread --- */

static __thread struct {
    scratch_head *kept[SMALL_CLASSES][SMALL_BLOCKS];
    int count[SMALL_CLASSES];
    int state; /* 0: not used yet, 1: freed when the thread ends, 2: it has ended */
} small;

static pthread_key_t small_key;
static pthread_once_t small_once = PTHREAD_ONCE_INIT;
static int small_keyed;

static void small_thread_ends(void *unused)
{
    (void)unused;
    for (int i = 0; i < SMALL_CLASSES; i++)
        while (small.count[i] > 0)
            free(small.kept[i][--small.count[i]]->start);
    small.state = 2;
}

static void small_make_key(void) { small_keyed = pthread_key_create(&small_key, small_thread_ends) == 0; }

/* Whether this thread may keep blocks: only if they are freed when it ends. */
static int small_usable(void)
{
    if (small.state == 0) {
        pthread_once(&small_once, small_make_key);
        small.state = small_keyed && pthread_setspecific(small_key, &small) == 0 ? 1 : 2;
    }
    return small.state == 1;
}

/* The class whose blocks have room for `bytes`: the logarithm of how many times 64. An empty block has room as well: its
   first element may be looked at, kernels do so before they know that there is none. */
static int small_class(int64_t bytes)
{
    return bytes <= SCRATCH_ALIGNMENT ? 0 : 64 - __builtin_clzll((uint64_t)(bytes - 1) / SCRATCH_ALIGNMENT);
}

static int64_t small_bytes(void)
{
    int64_t bytes = 0;
    for (int i = 0; i < SMALL_CLASSES; i++)
        bytes += (int64_t)small.count[i] * ((int64_t)SCRATCH_ALIGNMENT << i);
    return bytes;
}

/* A block of its own, from the system. */
static void *fresh_block(int64_t size)
{
    int huge = size >= 2 * HUGE_PAGE;
    void *start;
    if (posix_memalign(&start, huge ? (size_t)HUGE_PAGE : SCRATCH_ALIGNMENT, (size_t)(size + SCRATCH_ALIGNMENT)) != 0)
        return NULL;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (huge)
        madvise(start, (size_t)(size + SCRATCH_ALIGNMENT) & ~(size_t)4095, MADV_HUGEPAGE);
#endif
    scratch_head *head = start;
    head->bytes = size;
    head->start = start;
    return (char *)start + SCRATCH_ALIGNMENT;
}

static void *small_alloc(int64_t bytes)
{
    int class = small_class(bytes);
    if (small.count[class] > 0)
        return (char *)small.kept[class][--small.count[class]] + SCRATCH_ALIGNMENT;
    return fresh_block((int64_t)SCRATCH_ALIGNMENT << class);
}

static void small_release(scratch_head *head)
{
    int class = small_class(head->bytes);
    if (small.count[class] < SMALL_BLOCKS && small_usable())
        small.kept[class][small.count[class]++] = head;
    else
        free(head->start);
}

static void *rt_alloc(int64_t bytes)
{
    if (bytes < 0 || bytes > INT64_MAX / 2)
        return NULL;
    if (bytes <= SMALL_LIMIT)
        return small_alloc(bytes);
    int64_t unit = SCRATCH_UNIT(bytes);
    int64_t size = bytes == 0 ? SCRATCH_ALIGNMENT : (bytes + unit - 1) / unit * unit;
    scratch_head *head = NULL;
    pthread_mutex_lock(&scratch.lock);
    int best = -1;
    for (int i = 0; i < scratch.count; i++) {
        int64_t kept = scratch.kept[i]->bytes;
        if (kept >= size && kept <= scratch_fit(size) && (best < 0 || kept < scratch.kept[best]->bytes))
            best = i;
    }
    if (best >= 0)
        head = scratch_forget(best);
    pthread_mutex_unlock(&scratch.lock);
    return head != NULL ? (char *)head + SCRATCH_ALIGNMENT : fresh_block(size);
}

static void rt_release(void *block)
{
    if (block == NULL)
        return;
    scratch_head *head = (scratch_head *)((char *)block - SCRATCH_ALIGNMENT);
    if (head->bytes <= SMALL_LIMIT) {
        small_release(head);
        return;
    }
    if (head->bytes > SCRATCH_LIMIT) {
        free(head->start);
        return;
    }
#if defined(__linux__) && defined(MADV_FREE)
    if (head->bytes >= SCRATCH_LARGE) {
        uintptr_t first = ((uintptr_t)block + 4095) & ~(uintptr_t)4095;
        uintptr_t end = ((uintptr_t)block + (uintptr_t)head->bytes) & ~(uintptr_t)4095;
        madvise((void *)first, end - first, MADV_FREE);
    }
#endif
    scratch_head *dropped[SCRATCH_BLOCKS];
    int drop = 0;
    pthread_mutex_lock(&scratch.lock);
    while (scratch.count == SCRATCH_BLOCKS || scratch.bytes + head->bytes > SCRATCH_LIMIT)
        dropped[drop++] = scratch_forget(0);
    scratch.kept[scratch.count++] = head;
    scratch.bytes += head->bytes;
    pthread_mutex_unlock(&scratch.lock);
    while (drop > 0)
        free(dropped[--drop]->start);
}

/* How many bytes are kept for reuse now, by all threads or by this one. */
int64_t weft_scratch_kept(void)
{
    pthread_mutex_lock(&scratch.lock);
    int64_t bytes = scratch.bytes;
    pthread_mutex_unlock(&scratch.lock);
    return bytes + small_bytes();
}

/* A fork in the middle of an update would leave the child with a half-changed list: the forking thread holds the lock. */
static void scratch_before_fork(void) { pthread_mutex_lock(&scratch.lock); }
static void scratch_after_fork(void) { pthread_mutex_unlock(&scratch.lock); }
