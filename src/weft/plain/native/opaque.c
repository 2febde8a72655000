/* Objects of Python that compiled code carries but does not look into: integers beyond 64 bits, and objects of library classes.

   In: an object and the type that stands for its class. Out: a heap object that owns a reference. Operations on it are Python's
   own, on what `copy_out` gives of the operands. */

#include "api.h"

wp_type wp_big_type = {.kind = WP_OPAQUE, .size = sizeof(wp_opaque), .name = "int"};

/* Memory that an object holds beside its cell, for the collector. */
static size_t weight_of(PyObject *o)
{
    if (o->type != &PyLong_Type || !digits_known)
        return 128;
    int64_t tag = ((const LongHead *)o)->tag, digits = digits_tagged ? tag >> 3 : tag < 0 ? -tag : tag;
    return 32 + 4 * (size_t)digits;
}

/* Takes the reference. */
static wp_opaque *opaque_of(const wp_type *type, PyObject *o)
{
    now.opaque.items = grown(now.opaque.items, now.opaque.count, &now.opaque.capacity, sizeof *now.opaque.items);
    wp_opaque *made = wp_new(type);
    made->object = o;
    made->inside = NULL;
    now.opaque.items[now.opaque.count++] = made;
    now.heap.since += weight_of(o);
    return made;
}

static wp_object *opaque_in(PyObject *o, const wp_type *type)
{
    if (type->written && !now.anonymous) { /* the call works on a copy */
        context *call = suspend();
        PyObject *copy = PyObject_CallFunction(copy_state, "O", o);
        resume(call);
        if (copy == NULL)
            return NULL;
        wp_opaque *own = opaque_of(type, copy);
        remember_in(o, own, type);
        return &own->head;
    }
    Py_IncRef(o);
    wp_opaque *made = opaque_of(type, o);
    if (o->type != &PyLong_Type)
        pair_add(&now.known, o, made);
    return &made->head;
}

/* Whether an object that the call has a copy of is no longer as it was then. */
static int generators_changed(void)
{
    int changed = 0;
    for (int64_t i = 0; i < now.changed.count && !changed; i++) {
        PyObject *held = now.changed.items[i].key;
        const wp_opaque *own = now.changed.items[i].value;
        if (own->head.type->kind != WP_OPAQUE)
            continue;
        context *call = suspend();
        PyObject *same = PyObject_CallFunction(same_state, "OO", held, own->object);
        resume(call);
        changed = same == NULL || PyObject_IsTrue(same) != 1;
        Py_DecRef(same);
        PyErr_Clear();
    }
    return changed;
}

/* While the collector sweeps: those that nobody refers to give their reference back. */
static void release_opaque(void)
{
    opaque_list *list = &now.opaque;
    int64_t kept = 0;
    for (int64_t i = 0; i < list->count; i++)
        if (is_marked(list->items[i]))
            list->items[kept++] = list->items[i];
        else
            Py_DecRef(list->items[i]->object);
    list->count = kept;
}

static PyObject *call_binary(int32_t op, PyObject *a, PyObject *b)
{
    switch (op) {
    case '+': return PyNumber_Add(a, b);
    case '-': return PyNumber_Subtract(a, b);
    case '*': return PyNumber_Multiply(a, b);
    case '/': return PyNumber_TrueDivide(a, b);
    case '_': return PyNumber_FloorDivide(a, b);
    case '%': return PyNumber_Remainder(a, b);
    case '^': return PyNumber_Power(a, b, &_Py_NoneStruct);
    case '<': return PyNumber_Lshift(a, b);
    case '>': return PyNumber_Rshift(a, b);
    case '&': return PyNumber_And(a, b);
    case '|': return PyNumber_Or(a, b);
    default: return PyNumber_Xor(a, b);
    }
}

static inline PyObject *operand_out(wp_val v)
{
    if (v.tag == WP_INT)
        return PyLong_FromLongLong(v.u.i);
    return kind_of(v) == WP_OPAQUE ? new_reference(((wp_opaque *)v.u.p)->object) : copy_out(v);
}

/* Two operands for Python; 0: there is no memory. */
static int pair_out(wp_val a, wp_val b, PyObject **x, PyObject **y)
{
    *x = operand_out(a);
    *y = *x == NULL ? NULL : operand_out(b);
    if (*y == NULL) {
        Py_DecRef(*x);
        PyErr_Clear();
        wp_deopt(now.reason != NULL ? now.reason : "out of memory", 0);
    }
    return 1;
}

wp_val wp_wide(int32_t op, wp_val a, wp_val b, int64_t line)
{
    PyObject *x, *y;
    wp_val result = wp_of_i(0);
    pair_out(a, b, &x, &y);
    if ((op == '<' || op == '^') && b.tag == WP_INT && b.u.i > 1 << 20) {
        Py_DecRef(x);
        Py_DecRef(y);
        wp_deopt("a very large integer", line); /* nobody could interrupt that */
    }
    PyObject *made = call_binary(op, x, y);
    Py_DecRef(x);
    Py_DecRef(y);
    if (made == NULL) {
        raise_python(line);
        return result;
    }
    if (made->type == &PyFloat_Type)
        result = wp_of_d(((FloatHead *)made)->value);
    else if (made->type != &PyLong_Type) {
        Py_DecRef(made);
        wp_deopt("arithmetic with another result", line);
    } else if (!int_in(made, &result.u.i))
        return wp_of_p(opaque_of(&wp_big_type, made));
    Py_DecRef(made);
    return result;
}

wp_val wp_binary_python(int32_t op, wp_val a, wp_val b, const wp_spec *result, int64_t line)
{
    PyObject *x, *y;
    pair_out(a, b, &x, &y);
    context *call = suspend();
    PyObject *made = call_binary(op, x, y);
    Py_DecRef(x);
    Py_DecRef(y);
    resume(call);
    return result_in(made, result, line);
}

/* a op b as a bool; -1 if it raised. */
int64_t wp_compare_python(int32_t op, wp_val a, wp_val b, int64_t line)
{
    PyObject *x, *y;
    pair_out(a, b, &x, &y);
    int both_whole = x->type == &PyLong_Type && y->type == &PyLong_Type;
    context *call = both_whole ? NULL : suspend();
    PyObject *made = PyObject_RichCompare(x, y, op);
    int64_t found = made == NULL ? -1 : PyObject_IsTrue(made);
    Py_DecRef(x);
    Py_DecRef(y);
    Py_DecRef(made);
    if (call != NULL)
        resume(call);
    if (found < 0)
        raise_python(line);
    return found;
}

static int64_t truth_of_opaque(const wp_opaque *o)
{
    context *call = suspend();
    int found = PyObject_IsTrue(o->object);
    resume(call);
    if (found < 0)
        raise_python(0);
    return found > 0;
}

static int64_t hash_opaque(wp_val v)
{
    PyObject *o = copy_out(v);
    context *call = suspend();
    int64_t hash = o == NULL ? -1 : PyObject_Hash(o);
    Py_DecRef(o);
    resume(call);
    if (hash == -1)
        raise_python(0);
    return hash;
}

static inline int is_opaque(wp_val v) { return kind_of(v) == WP_OPAQUE; }
