/* The run time of compiled plain Python without Python, for the library of a C host.

   In: calls of the library's entry functions, one at a time. Out: the same values and operations as in runtime.c; handles in the
   place of Python's objects; exceptions by name, message and line. What only Python itself could do ends the call with an error. */

#define WP_HOSTED 1
#include "api.h"
#include "hosted_memory.h"
#include "host_errors.c"
#include "handle_columns.c"
#include "hosted_objects.c"
#include "heap.c"
#include "lists.c"
#include "dicts.c"
#include "sets.c"
#include "deques.c"
#include "hosted_numbers.c"
#include "numbers.c"
#include "strings.c"
#include "splitting.c"
#include "values.c"
#include "bytearrays.c"
#include "arrays.c"
#include "elementwise.c"
#include "complexes.c"
#include "hosted_texts.c"
#include "hosted_formats.c"
#include "hosted_values.c"
#include "hosted_calls.c"
