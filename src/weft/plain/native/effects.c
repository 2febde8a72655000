/* Output of a call.

   In: pieces of text in the order in which `print` would write them. Out: the same pieces, written to `sys.stdout` when the call
   has returned, or once it has run for a while. A call that deoptimises afterwards is repeated by Python, which then must not
   write again what is out already: `wp_written` says how many characters that are. */

#include "api.h"

static PyObject *write_pieces; /* a function of Python: writes a list of str, and flushes the stream if it is asked to */
static const int64_t WAIT = 500000000; /* nanoseconds that output may wait for the end of its call */

static int64_t written_before; /* characters that the last deoptimised call had written */

void wp_print(const wp_str *piece)
{
    output *o = &now.output;
    if (o->count == 0)
        o->since = clock_now();
    o->pieces = grown(o->pieces, o->count, &o->capacity, sizeof *o->pieces);
    o->pieces[o->count++] = piece;
    if (o->count >= 1 << 20)
        wp_flush();
}

/* The pieces as Python's objects: a new list, or NULL. */
static PyObject *pieces_out(int64_t *characters)
{
    output *o = &now.output;
    PyObject *list = PyList_New(o->count);
    for (int64_t i = 0; list != NULL && i < o->count; i++) {
        PyObject *text = copy_out(wp_of_p(o->pieces[i]));
        if (text == NULL) {
            Py_DecRef(list);
            return NULL;
        }
        ((ListHead *)list)->items[i] = text;
        *characters += o->pieces[i]->length;
    }
    return list;
}

static int write_out(PyObject *list, int flush)
{
    PyObject *done = PyObject_CallFunction(write_pieces, "Oi", list, flush);
    Py_DecRef(list);
    Py_DecRef(done);
    return done != NULL;
}

/* What a call that Ctrl-C ends has not written yet; NULL if there is nothing. An exception is set. */
static PyObject *unwritten(void)
{
    PyObject *class, *value, *trace;
    int64_t characters = 0;
    if (now.output.count == 0)
        return NULL;
    PyErr_Fetch(&class, &value, &trace);
    PyObject *list = pieces_out(&characters);
    PyErr_Restore(class, value, trace);
    return list;
}

static void write_despite(PyObject *list)
{
    PyObject *class, *value, *trace;
    PyErr_Fetch(&class, &value, &trace);
    write_out(list, 0);
    PyErr_Restore(class, value, trace);
}

/* Writes what there is, before the call ends. An exception of the stream ends the call as Python would see it. */
void wp_flush(void)
{
    output *o = &now.output;
    int64_t characters = 0;
    if (o->count == 0)
        return;
    PyObject *list = pieces_out(&characters);
    if (list == NULL) {
        PyErr_Clear();
        wp_deopt("out of memory", 0);
    }
    o->written += characters;
    o->count = 0;
    before_others();
    context *call = suspend();
    int done = write_out(list, 1);
    resume(call);
    if (!done) {
        now.raised = 1;
        wp_deopt("an exception of the output stream", 0);
    }
}

/* From time to time: output that has waited for long. */
static void flush_if_late(void)
{
    if (now.output.count > 0 && clock_now() - now.output.since > WAIT)
        wp_flush();
}

/* How many characters the call that Python is to repeat has written; asked once. */
int64_t wp_written(void)
{
    int64_t found = written_before;
    written_before = 0;
    return found;
}
