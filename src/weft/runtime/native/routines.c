/* Library routines for kernels: the inner loops of NumPy's generalised ufuncs.

   In: a loop and its data as `weft.runtime.routines` found them, the addresses, extents and strides of a call. Out: whether
   the routine reported a failure, which LAPACK's wrappers do by an invalid floating-point operation. The loops need no
   interpreter; only one that gets no memory takes the lock by itself, and leaves an exception behind. */

#include "runtime.h"

#include <fenv.h>

typedef void (*routine_loop)(char **arguments, const Py_ssize_t *sizes, const Py_ssize_t *steps, void *data);

static int64_t rt_routine(void *const *routine, char **arguments, const int64_t *sizes, const int64_t *steps)
{
    if (current_frame != NULL)
        current_frame->routines = 1;
    feclearexcept(FE_ALL_EXCEPT);
    ((routine_loop)routine[0])(arguments, (const Py_ssize_t *)sizes, (const Py_ssize_t *)steps, routine[1]);
    return fetestexcept(FE_INVALID) != 0;
}
