/* Complex numbers, by the functions that CPython itself uses. */

#include "api.h"

wp_type wp_complex_type = {.kind = WP_COMPLEX, .size = sizeof(wp_complex), .name = "complex"};

typedef struct {
    double real, imag;
} Py_complex;

__attribute__((weak)) Py_complex _Py_c_prod(Py_complex, Py_complex);
__attribute__((weak)) Py_complex _Py_c_quot(Py_complex, Py_complex);
__attribute__((weak)) double _Py_c_abs(Py_complex);

void *wp_complex_new(double real, double imag)
{
    wp_complex *made = wp_new(&wp_complex_type);
    made->real = real;
    made->imag = imag;
    return made;
}

static wp_object *complex_in(PyObject *o)
{
    return wp_complex_new(PyComplex_RealAsDouble(o), PyComplex_ImagAsDouble(o));
}

static PyObject *complex_out(const wp_complex *c) { return PyComplex_FromDoubles(c->real, c->imag); }

static Py_complex complex_of(wp_val v)
{
    if (v.tag == WP_FLOAT)
        return (Py_complex){v.u.d, 0.0};
    if (v.tag != WP_PTR)
        return (Py_complex){(double)v.u.i, 0.0};
    return (Py_complex){((wp_complex *)v.u.p)->real, ((wp_complex *)v.u.p)->imag};
}

/* What is rare, and what raises. */
static void *by_number(int32_t op, wp_val a, wp_val b, int64_t line)
{
    PyObject *x, *y;
    pair_out(a, b, &x, &y);
    PyObject *made = call_binary(op, x, y);
    Py_DecRef(x);
    Py_DecRef(y);
    if (made == NULL) {
        raise_python(line);
        return NULL;
    }
    if (made->type != &PyComplex_Type)
        wp_deopt("arithmetic with another result", line);
    wp_object *result = complex_in(made);
    Py_DecRef(made);
    return result;
}

void *wp_complex_op(int32_t op, wp_val a, wp_val b, int64_t line)
{
    if (op == '^' || (!wp_complex_mixes && (a.tag != WP_PTR || b.tag != WP_PTR)))
        return by_number(op, a, b, line);
    Py_complex x = complex_of(a), y = complex_of(b), r;
    if (op == '+' || op == '-')
        return op == '+' ? wp_complex_new(x.real + y.real, x.imag + y.imag) : wp_complex_new(x.real - y.real, x.imag - y.imag);
    if (op == '*')
        r = _Py_c_prod(x, y);
    else {
        if (y.real == 0.0 && y.imag == 0.0)
            return by_number(op, a, b, line);
        r = _Py_c_quot(x, y);
    }
    return wp_complex_new(r.real, r.imag);
}

double wp_complex_abs(const wp_complex *c, int64_t line)
{
    errno = 0;
    double result = _Py_c_abs((Py_complex){c->real, c->imag});
    if (errno == ERANGE && isinf(result))
        wp_raise(WP_OVERFLOW_ERROR, "absolute value too large", line);
    return result;
}
