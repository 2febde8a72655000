/* The native core of the runtime: one shared object, built once per machine, loaded by `weft.runtime.dispatch`.

   In: NumPy's function table and one object of each layout the core reads by itself. Out: the Dispatcher type; and for
   the Python side of the runtime a few functions on the pool, the scratch memory and the BLAS table. */

#include "python_api.h"
#include "runtime.h"
#include "memory.c"
#include "handler.c"
#include "stack.c"
#include "pool.c"
#include "interrupts.c"
#include "tasks.c"
#include "routines.c"
#include "version.h"
#include "lists.c"
#include "stacks.c"
#include "containers.c"
#include "strings.c"
#include "sharing.c"
#include "guards.c"
#include "facts.c"
#include "trials.c"
#include "results.c"
#include "left.c"
#include "dispatcher.c"

#define CORE_VERSION 6

static weft_rt runtime_table = {
    .version = CORE_VERSION,
    .new_array = rt_new_array,
    .alloc = rt_alloc,
    .release = rt_release,
    .parallel = rt_parallel_or_tasks,
    .threads = rt_threads,
    .poll = rt_poll,
    .routine = rt_routine,
    .stack_floor = rt_stack_floor,
    .enter = rt_enter,
    .leave = rt_leave,
    .spawn = rt_spawn,
    .join = rt_join,
    .isolate = rt_isolate,
    .release_isolated = rt_release_isolated,
};

/* What the pieces of a region get that call BLAS themselves: threads of the library's own would be in their way. */
static weft_rt alone_table;

/* The hand-written layouts hold for the objects of this interpreter: number 1.5, list [number], array zeros((2, 3)). */
static int layout_agrees(PyObject *number, PyObject *list, PyObject *array)
{
    const ListHead *l = (const ListHead *)list;
    const ArrayHead *a = (const ArrayHead *)array;
    return number->type == &PyFloat_Type && ((FloatHead *)number)->value == 1.5 && l->base.type == &PyList_Type && l->size == 1 &&
           l->items[0] == number && a->base.type == numpy.array_type && a->rank == 2 && a->shape[0] == 2 && a->shape[1] == 3 &&
           a->strides[0] == 24 && a->strides[1] == 8 && a->descriptor->type_number == 12 && a->descriptor->byteorder == '=' &&
           (a->flags & ARRAY_WRITEABLE) && PyFloat_Type.flags == PyType_GetFlags(&PyFloat_Type);
}

static void before_fork(void) { scratch_before_fork(); }
static void after_fork_parent(void) { scratch_after_fork(); }

static void after_fork_child(void)
{
    scratch_after_fork();
    pool_after_fork();
    tasks_after_fork();
}

/* The Dispatcher type, or NULL with an exception. Called once, with the interpreter lock held. */
PyObject *weft_core_start(PyObject *capsule, PyObject *number, PyObject *list, PyObject *array, PyObject *guard_failed,
                          PyObject *builtins, PyObject *left, PyObject *same_code, PyObject *sample, PyObject *function)
{
    void **table = PyCapsule_GetPointer(capsule, NULL);
    if (table == NULL)
        return NULL;
    numpy.array_type = table[2];
    numpy.descriptor = (descriptor_from_type)table[45];
    numpy.scalar = (scalar_from_data)table[60];
    numpy.from_descriptor = (array_from_descriptor)table[94];
    numpy.zeros = (array_with_shape)table[183];
    numpy.empty = (array_with_shape)table[184];
    numpy.set_base = (set_base_object)table[282];
    numpy.set_handler = (set_data_handler)table[304];
    numpy.handler = PyCapsule_New(&result_handler, "mem_handler", NULL);
    if (numpy.handler == NULL)
        return NULL;
    if (!layout_agrees(number, list, array)) {
        PyErr_SetString(PyExc_RuntimeError, "objects of this interpreter are laid out in another way than the core expects");
        return NULL;
    }
    find_digits();
    guard_failed_type = new_reference(guard_failed);
    builtins_name = new_reference(builtins);
    left_answer = new_reference(left);
    code_is_same = new_reference(same_code);
    function_name = new_reference(function);
    find_change_counts((PyObject *)left->type, sample, builtins);
    if (pthread_atfork(before_fork, after_fork_parent, after_fork_child) != 0)
        return PyErr_NoMemory();
    return PyType_FromSpec(&dispatcher_spec);
}

/* Kernels read these at each call; a change may reach one in the middle, which then takes another branch. */
void weft_set_limits(const double *limits)
{
    for (int i = 0; i < LIMIT_PLACES; i++)
        alone_table.limits[i] = runtime_table.limits[i] = limits[i];
}

const weft_rt *weft_runtime_table(void) { return &runtime_table; }

void weft_set_blas(int64_t ilp64, void **functions)
{
    runtime_table.blas_ilp64 = ilp64;
    memcpy(runtime_table.blas, functions, sizeof runtime_table.blas);
}

/* Once, after weft_set_blas: functions of the same kind that use no other thread than the caller's. */
void weft_set_alone(void **functions)
{
    alone_table = runtime_table;
    memcpy(alone_table.blas, functions, sizeof alone_table.blas);
    __atomic_store_n(&runtime_table.alone, &alone_table, __ATOMIC_RELEASE);
}
