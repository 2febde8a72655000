/* Calls into Python for what has no native form: arguments are copied out, the result is converted in. */

#include "api.h"

/* --- exceptions of Python as native ones --- */

/* What the Python exception says in its only argument, if that is a scalar or a string. */
static void keep_argument(wp_error *error, PyObject *arguments)
{
    PyObject *only = PyTuple_Size(arguments) == 1 ? PyTuple_GetItem(arguments, 0) : NULL;
    error->mask = PyTuple_Size(arguments) == 0 ? 2 : 0;
    int overflow = 0;
    if (only == NULL)
        return;
    if (only->type == &PyUnicode_Type)
        error->argument = wp_of_p(str_in(only));
    else if (only->type == &PyFloat_Type)
        error->argument = wp_of_d(PyFloat_AsDouble(only));
    else if (only->type == &PyLong_Type) {
        error->argument = wp_of_i(PyLong_AsLongLongAndOverflow(only, &overflow));
        if (overflow)
            return;
    } else
        return;
    error->mask = 1;
}

/* The Python exception that is set becomes a native one. */
static void raise_python(int64_t line)
{
    PyObject *class, *value, *trace;
    if (!PyErr_ExceptionMatches(PyExc_Exception)) { /* KeyboardInterrupt, SystemExit */
        now.raised = 1;
        wp_deopt("an exception", line);
    }
    if (wp_handlers <= 0) {
        PyErr_Clear();
        wp_deopt("an exception", line);
    }
    PyErr_Fetch(&class, &value, &trace);
    PyErr_NormalizeException(&class, &value, &trace);
    int which = 0;
    while (which < WP_EXCEPTIONS && wp_error_types[which].python != class)
        which++;
    PyObject *arguments = value == NULL ? NULL : PyObject_GetAttrString(value, "args");
    if (which < WP_EXCEPTIONS && arguments != NULL) {
        wp_error *error = wp_new(&wp_error_types[which]);
        keep_argument(error, arguments);
        wp_exception = &error->head;
    }
    Py_DecRef(class);
    Py_DecRef(value);
    Py_DecRef(trace);
    Py_DecRef(arguments);
    PyErr_Clear();
    if (wp_exception == NULL)
        wp_deopt("an exception without a native form", line);
}

/* --- calls --- */

/* Runs Python code: other calls of compiled functions may come and go meanwhile. Takes the reference to `arguments`. */
static PyObject *run_python(PyObject *function, PyObject *arguments)
{
    before_others();
    char *written = memory_before();
    context *call = suspend();
    PyObject *result = PyObject_CallObject(function, arguments);
    Py_DecRef(arguments);
    resume(call);
    memory_after(written);
    return result;
}

static PyObject *arguments_out(const wp_val *args, int64_t count)
{
    PyObject *tuple = PyTuple_New(count);
    for (int64_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *value = copy_out(args[i]);
        if (value == NULL) {
            Py_DecRef(tuple);
            return NULL;
        }
        PyTuple_SetItem(tuple, i, value);
    }
    return tuple;
}

/* The result as a native value, with nothing remembered: containers are this call's own. Takes the reference. */
static wp_val result_in(PyObject *made, const wp_spec *result, int64_t line)
{
    wp_val slot = {0, {0}};
    if (made == NULL) {
        raise_python(line);
        return result->repr == 'v' ? wp_of_p(NULL) : wp_from_slot(&slot, result->repr);
    }
    const StrHead *text = (const StrHead *)made;
    if (made->type == &PyUnicode_Type && ascii_data != 0 && (text->state >> kind_shift & 24) == 24 && result->repr == 'p' &&
        result->count == 1 && result->types[0] == &wp_str_type) { /* copied: the object goes at once */
        wp_str *copy = str_of_ascii((const char *)made + ascii_data, text->length);
        Py_DecRef(made);
        return wp_of_p(copy);
    }
    int64_t place = now.held.count;
    hold_new(made); /* while it is converted, which may deoptimise */
    pair_map known = now.known;
    int frozen = now.heap.frozen, nesting = now.nesting;
    now.known = (pair_map){0};
    now.heap.frozen = 1;
    now.nesting = 0;
    now.anonymous = 1;
    int fits = in_slot(made, result, &slot);
    now.anonymous = 0;
    pair_free(&now.known);
    now.known = known;
    now.heap.frozen = frozen;
    now.nesting = nesting;
    int64_t number;
    if (!fits)
        wp_deopt(made->type == &PyLong_Type && !int_in(made, &number) ? "an integer beyond 64 bits" : "a result of a Python function that does not fit", line);
    now.held.items[place] = now.held.items[--now.held.count]; /* what was taken over of it is held */
    Py_DecRef(made);
    return wp_from_slot(&slot, result->repr);
}

wp_val wp_call_python(void *python, const wp_val *args, int64_t count, const wp_spec *result, int64_t line)
{
    PyObject *arguments = arguments_out(args, count);
    if (arguments == NULL) {
        PyErr_Clear();
        wp_deopt(now.reason != NULL ? now.reason : "out of memory", line);
    }
    return result_in(run_python(python, arguments), result, line);
}

wp_val wp_call_method(const char *name, const wp_val *args, int64_t count, const wp_spec *result, int64_t line)
{
    PyObject *self = copy_out(args[0]), *method = self == NULL ? NULL : PyObject_GetAttrString(self, name);
    PyObject *arguments = method == NULL ? NULL : arguments_out(args + 1, count - 1);
    Py_DecRef(self);
    if (arguments == NULL) {
        Py_DecRef(method);
        PyErr_Clear();
        wp_deopt(now.reason != NULL ? now.reason : "a method that is not there", line);
    }
    PyObject *made = run_python(method, arguments);
    Py_DecRef(method);
    return result_in(made, result, line);
}

/* Digits after the point of a specification like ".3f", or -1. */
static int fixed_digits(const wp_str *spec)
{
    int digits = 0;
    if (spec->width != 1 || spec->length < 3 || spec->length > 4 || spec->data[0] != '.' || spec->data[spec->length - 1] != 'f')
        return -1;
    for (int64_t i = 1; i < spec->length - 1; i++) {
        if (!is_digit(spec->data[i]))
            return -1;
        digits = digits * 10 + (spec->data[i] - '0');
    }
    return digits;
}

wp_str *wp_format(wp_val value, const wp_str *spec, int64_t conversion, int64_t line)
{
    if (conversion == 's')
        value = wp_of_p(wp_to_str(value));
    else if (conversion == 'r')
        value = wp_of_p(wp_to_repr(value));
    else if (conversion == 'a')
        value = wp_of_p(text_of(value, PyObject_ASCII));
    if (spec == NULL || spec->length == 0)
        return wp_to_str(value);
    int digits = value.tag == WP_FLOAT ? fixed_digits(spec) : -1;
    if (digits >= 0) {
        char *text = PyOS_double_to_string(value.u.d, 'f', digits, 0, NULL), copy[512];
        size_t length = text == NULL ? sizeof copy : strlen(text);
        if (length < sizeof copy)
            memcpy(copy, text, length);
        PyMem_Free(text);
        PyErr_Clear();
        if (length < sizeof copy)
            return str_of_ascii(copy, (int64_t)length);
    }
    PyObject *object = copy_out(value), *by = object == NULL ? NULL : copy_out(wp_of_p(spec));
    PyObject *made = by == NULL ? NULL : PyObject_Format(object, by);
    Py_DecRef(object);
    Py_DecRef(by);
    if (by == NULL) {
        PyErr_Clear();
        wp_deopt(now.reason != NULL ? now.reason : "out of memory", line);
    }
    wp_str *text = result_in(made, &str_spec, line).u.p;
    return text != NULL ? text : &empty_str; /* an exception is on its way */
}
