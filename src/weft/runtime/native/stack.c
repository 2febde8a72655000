/* How much of this thread's stack is left.

   In: nothing. Out: whether a call back into Python may go deeper, whether a kernel fits, and how far recursive kernels
   may go. A user who raises the recursion limit gets a RecursionError from a recursive compiled function, where the
   interpreter's own count would let the process die; a thread with a small stack runs plain Python. */

#include "services.h"

#include <pthread.h>

#define STACK_MARGIN ((size_t)512 << 10)
#define KERNEL_STACK ((uintptr_t)160 << 10)  /* local arrays of a kernel (codegen/c_memory.py), and what it calls */
#define RECURSION_STACK ((uintptr_t)3 << 20) /* of a recursive function, wherever there is more */

/* The lowest address calls may reach, and the lowest there is; 0: not known yet, 1: this system does not say. */
static __thread uintptr_t stack_floor, stack_end;

static void find_stack(void)
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
    stack_end = low == 0 ? 1 : low;
    stack_floor = low == 0 ? 1 : low + (size / 4 < STACK_MARGIN ? size / 4 : STACK_MARGIN);
}

/* Whether a kernel may be called here. */
static inline int stack_holds_kernel(void)
{
    if (stack_floor == 0)
        find_stack();
    return (uintptr_t)__builtin_frame_address(0) - stack_end > KERNEL_STACK;
}

/* The address below which a recursive function of a kernel must not go. */
static int64_t rt_stack_floor(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    if (stack_floor == 0)
        find_stack();
    return (int64_t)(here - stack_floor > RECURSION_STACK && here > stack_floor ? here - RECURSION_STACK : stack_floor);
}
