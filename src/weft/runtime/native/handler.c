/* NumPy's way to allocate the data of an array elsewhere: large results live in memory that is kept for the next one.

   In: NumPy's requests for the data of one array. Out: blocks of memory.c. */

#include "runtime.h"
#include "memory.c"

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
