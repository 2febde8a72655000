/* The answer to Ctrl-C, and to a stack that is used up.

   In: a running kernel that looks up now and then, from whichever thread. Out: whether its call is to end; what Python's
   handlers raised waits in the frame of the call. */

#include "runtime.h"
#include "stack.c"
#include "pool.c"

static int on_main_thread(void)
{
#if defined(__linux__)
    return (pid_t)syscall(SYS_gettid) == getpid();
#elif defined(__APPLE__)
    return pthread_main_np();
#else
    return 1;
#endif
}

/* Python's handlers run here, with the lock held; what they raise waits in the frame until the kernel has returned. */
static void check_signals(frame *f)
{
    int released = acquire_interpreter(f);
    current_frame = NULL;
    if (PyErr_CheckSignals() != 0) {
        if (f->error[0] == NULL)
            PyErr_Fetch(&f->error[0], &f->error[1], &f->error[2]);
        else
            PyErr_Clear();
        __atomic_store_n(&f->interrupted, 1, __ATOMIC_RELAXED);
    }
    current_frame = f;
    if (released)
        release_interpreter(f);
}

static int64_t rt_poll(void)
{
    frame *f = current_frame;
    if (f == NULL)
        return helped_interrupt != NULL && __atomic_load_n(helped_interrupt, __ATOMIC_RELAXED);
    if (f->interrupted)
        return 1;
    int64_t now = now_ns();
    if (now < f->next_poll)
        return 0;
    /* A call shorter than the interval never pays for the lock. */
    int first = f->next_poll == 0;
    f->next_poll = now + POLL_INTERVAL;
    if (!first && on_main_thread())
        check_signals(f);
    return f->interrupted;
}

static const int *interrupt_of_call(void) { return current_frame != NULL ? &current_frame->interrupted : NULL; }

/* 1, or 0 with a RecursionError. */
static int stack_suffices(void)
{
    if (stack_floor == 0)
        find_stack();
    if ((uintptr_t)__builtin_frame_address(0) > stack_floor)
        return 1;
    PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded: the stack of this thread is used up");
    return 0;
}
