/* What a kernel sees of the runtime: the table of services handed to every kernel. Its layout is the contract with generated
   code.

   In: nothing, no header of Python. Out: the table, the statuses of a kernel and the number of its control words. */

#ifndef WEFT_SERVICES_H
#define WEFT_SERVICES_H

#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE 1 /* pthread_getattr_np */
#endif

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_OK = 0, STATUS_GUARD = 1, STATUS_RAISE = 2, STATUS_INTERRUPTED = 3, STATUS_MEMORY = 4, STATUS_PROCESSOR = 5 };
enum { CONTROL_WORDS = 8, MAX_RANK = 32, BLAS_FUNCTIONS = 16, LIMIT_PLACES = 16 };

typedef void (*task_function)(void *context, int64_t begin, int64_t end, int64_t task);
typedef struct weft_worker weft_worker;
struct weft_finish;

typedef struct weft_rt {
    int64_t version;
    void *(*new_array)(int64_t *w, int64_t slot, int64_t typenum, int64_t rank, const int64_t *shape, int64_t zero);
    void *(*alloc)(int64_t bytes);
    void (*release)(void *p);
    void (*parallel)(task_function fn, void *ctx, int64_t n, int64_t tasks);
    int64_t (*threads)(void);
    int64_t (*poll)(void);
    int64_t blas_ilp64;
    void *blas[BLAS_FUNCTIONS]; /* sgemm dgemm cgemm zgemm sgemv dgemv cgemv zgemv sdot ddot sger dger ssyrk dsyrk strsm dtrsm */
    int64_t (*routine)(void *const *routine, char **arguments, const int64_t *sizes, const int64_t *steps);
    double limits[LIMIT_PLACES]; /* weft.limits, in its order */
    int64_t (*stack_floor)(void);
    const struct weft_rt *alone; /* the same table with a BLAS that computes on the caller's thread; NULL without one */
    /* For kernels with tasks (tasks.c); others do not know of what follows. */
    weft_worker *(*enter)(const struct weft_rt *rt);
    void (*leave)(weft_worker *self);
    void (*spawn)(weft_worker *self, struct weft_finish *finish,
                  void (*function)(const struct weft_rt *, weft_worker *, void *, struct weft_finish *, int64_t, int64_t),
                  const void *context, int64_t bytes, int64_t number, int64_t depth);
    void (*join)(weft_worker *self, struct weft_finish *finish);
    void (*isolate)(void);
    void (*release_isolated)(void);
} weft_rt;

typedef int64_t (*kernel_function)(const weft_rt *rt, int64_t *w);

#endif
