/* Memory for kernels and for their large results: 64-byte aligned blocks that are kept for the next call.

   In: sizes in bytes, from any thread. Out: blocks that are at least that long. Fresh pages cost a fault each, which for a
   temporary array can exceed the arithmetic on it; so released blocks stay in a list bounded in bytes and in number, and
   the smallest one that fits without much waste is given out again. The system may take back the pages of large blocks
   in the list whenever it is short of memory. */

#include "runtime.h"

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

static void *rt_alloc(int64_t bytes)
{
    if (bytes < 0 || bytes > INT64_MAX / 2)
        return NULL;
    int64_t unit = SCRATCH_UNIT(bytes);
    /* The first element of an empty block may be looked at: kernels do so before they know that there is none. */
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
    if (head != NULL)
        return (char *)head + SCRATCH_ALIGNMENT;

    int huge = size >= 2 * HUGE_PAGE;
    void *start;
    if (posix_memalign(&start, huge ? (size_t)HUGE_PAGE : SCRATCH_ALIGNMENT, (size_t)(size + SCRATCH_ALIGNMENT)) != 0)
        return NULL;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (huge)
        madvise(start, (size_t)(size + SCRATCH_ALIGNMENT) & ~(size_t)4095, MADV_HUGEPAGE);
#endif
    head = start;
    head->bytes = size;
    head->start = start;
    return (char *)start + SCRATCH_ALIGNMENT;
}

static void rt_release(void *block)
{
    if (block == NULL)
        return;
    scratch_head *head = (scratch_head *)((char *)block - SCRATCH_ALIGNMENT);
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

/* --- results: NumPy's way to allocate the data of an array elsewhere --- */

static void *result_malloc(void *unused, size_t bytes)
{
    (void)unused;
    return bytes > INT64_MAX / 2 ? NULL : rt_alloc((int64_t)bytes);
}

static void *result_calloc(void *unused, size_t count, size_t size)
{
    if (size != 0 && count > (size_t)(INT64_MAX / 2) / size)
        return NULL;
    void *block = result_malloc(unused, count * size);
    return block == NULL ? NULL : memset(block, 0, count * size);
}

static void result_free(void *unused, void *block, size_t bytes)
{
    (void)unused;
    (void)bytes;
    rt_release(block);
}

static void *result_realloc(void *unused, void *block, size_t bytes)
{
    void *moved = result_malloc(unused, bytes);
    if (moved == NULL || block == NULL)
        return moved;
    size_t held = (size_t)((scratch_head *)((char *)block - SCRATCH_ALIGNMENT))->bytes;
    memcpy(moved, block, held < bytes ? held : bytes);
    rt_release(block);
    return moved;
}

static DataHandler result_handler = {
    .name = "weft",
    .version = 1,
    .allocator = {NULL, result_malloc, result_calloc, result_realloc, result_free},
};

/* How many bytes are kept for reuse now. */
int64_t weft_scratch_kept(void)
{
    pthread_mutex_lock(&scratch.lock);
    int64_t bytes = scratch.bytes;
    pthread_mutex_unlock(&scratch.lock);
    return bytes;
}

/* A fork in the middle of an update would leave the child with a half-changed list: the forking thread holds the lock. */
static void scratch_before_fork(void) { pthread_mutex_lock(&scratch.lock); }
static void scratch_after_fork(void) { pthread_mutex_unlock(&scratch.lock); }
