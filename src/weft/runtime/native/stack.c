/* How much of this thread's stack is left.

   In: nothing. Out: whether a call back into Python may go deeper. A user who raises the recursion limit gets a
   RecursionError from a recursive compiled function, where the interpreter's own count would let the process die. */

#include "runtime.h"

#include <pthread.h>

#define STACK_MARGIN ((size_t)512 << 10)

/* The lowest address calls may reach; 0: not known yet, 1: this system does not say. */
static __thread uintptr_t stack_floor;

static uintptr_t find_stack_floor(void)
{
    uintptr_t low = 0;
    size_t size = 0;
#if defined(__linux__)
    pthread_attr_t attributes;
    void *start;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &start, &size) == 0)
            low = (uintptr_t)start;
        pthread_attr_destroy(&attributes);
    }
#elif defined(__APPLE__)
    size = pthread_get_stacksize_np(pthread_self());
    low = (uintptr_t)pthread_get_stackaddr_np(pthread_self()) - size;
#endif
    return low == 0 ? 1 : low + (size / 4 < STACK_MARGIN ? size / 4 : STACK_MARGIN);
}

/* 1, or 0 with a RecursionError. */
static int stack_suffices(void)
{
    if (stack_floor == 0)
        stack_floor = find_stack_floor();
    if ((uintptr_t)__builtin_frame_address(0) > stack_floor)
        return 1;
    PyErr_SetString(PyExc_RecursionError, "maximum recursion depth exceeded: the stack of this thread is used up");
    return 0;
}
