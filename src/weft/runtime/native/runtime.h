/* The record of a running call of Python.

   In: the table of services. Out: the frame that ties a running call to its Python thread, and the thread-local variable by
   which services called from deep inside a kernel find their way back. */

#ifndef WEFT_RUNTIME_H
#define WEFT_RUNTIME_H

#include "python_api.h"
#include "services.h"

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

#endif
