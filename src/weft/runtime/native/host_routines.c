/* Library routines for C hosts, in plain C: what NumPy's machine code does elsewhere.

   In: addresses, extents and strides, as NumPy's generalised ufuncs take them. Out: whether a routine failed, as a singular
   matrix makes it; a call that gets no memory is found by run_kernel. */

#include <float.h>
#include <stddef.h>

typedef void (*routine_loop)(char **arguments, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data);

static __thread int routine_failed;
static unsigned routines_without_memory; /* grows with each; calls look whether it has */

static void *routine_memory(ptrdiff_t count, size_t size)
{
    void *made = malloc((size_t)(count < 1 ? 1 : count) * size);
    if (made == NULL)
        __atomic_fetch_add(&routines_without_memory, 1, __ATOMIC_RELAXED);
    return made;
}

#include "host_sorts.c"
#include "host_transforms.c"

#include <complex.h>
#undef I

#define NUMBER double
#define NAME(of) of##_d
#define CONJUGATE(x) (x)
#define REAL_OF(x) (x)
#define SIZE_OF(x) fabs(x)
#define LENGTH_OF(x) fabs(x)
#define NOT_A_NUMBER NAN
#include "host_factors.c"

#define NUMBER double complex
#define NAME(of) of##_D
#define CONJUGATE(x) conj(x)
#define REAL_OF(x) creal(x)
#define SIZE_OF(x) (fabs(creal(x)) + fabs(cimag(x)))
#define LENGTH_OF(x) cabs(x)
#define NOT_A_NUMBER CMPLX(NAN, NAN)
#include "host_factors.c" /* again */

#include "host_spectra.c"
#include "host_general.c"

static int64_t rt_routine(void *const *routine, char **arguments, const int64_t *sizes, const int64_t *steps)
{
    routine_failed = 0;
    ((routine_loop)routine[0])(arguments, (const ptrdiff_t *)sizes, (const ptrdiff_t *)steps, routine[1]);
    return routine_failed;
}
