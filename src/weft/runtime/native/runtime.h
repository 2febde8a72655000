/* What a kernel sees of the runtime, and the record of a running call.

   In: nothing. Out: the table of services handed to every kernel (its layout is the contract with generated code), the
   frame that ties a running call to its Python thread, and the two thread-local variables by which services called from
   deep inside a kernel find their way back. */

#ifndef WEFT_RUNTIME_H
#define WEFT_RUNTIME_H

#include "python_api.h"

enum { STATUS_OK = 0, STATUS_GUARD = 1, STATUS_RAISE = 2, STATUS_INTERRUPTED = 3, STATUS_MEMORY = 4 };
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

/* One running kernel. `error` holds an exception that a service met while the kernel was running: it is kept away from the
   interpreter until the kernel has returned, so that further services start from a clean state. `thread` is NULL if the
   kernel runs with the interpreter lock held. */
typedef struct frame {
    PyThreadState *thread;
    PyObject *error[3];
    int64_t next_poll;
    int interrupted;
    int routines; /* library routines were called: they report that memory ran out as a pending Python exception */
} frame;

/* The frame of the kernel this thread runs, NULL on the pool's workers. */
static __thread frame *current_frame;

static inline void release_interpreter(frame *f) { f->thread = PyEval_SaveThread(); }

/* A service needs the interpreter: true if it must be released again. */
static inline int acquire_interpreter(frame *f)
{
    if (f->thread == NULL)
        return 0;
    PyEval_RestoreThread(f->thread);
    return 1;
}

/* On a worker: the flag of the call it helps. */
static __thread const int *helped_interrupt;

#endif
