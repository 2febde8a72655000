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

int64_t wp_complex_exact;

/* Where a compiler has made one instruction of a product and a sum, some results differ in the last bit. */
static void complex_start(void)
{
    volatile double x = 1.0 + 0x1p-30, y = 1.0 - 0x1p-31;
    Py_complex z = {x, y}, w = {y, x};
    Py_complex r = _Py_c_prod(z, w), s = _Py_c_prod(z, z);
    volatile double p = x * y, q = y * x, xx = x * x, yy = y * y;
    Py_complex infinite = _Py_c_prod((Py_complex){INFINITY, 0.0}, (Py_complex){1.0, 0.0}); /* nor is anything mended */
    wp_complex_exact = isnan(infinite.imag) && r.real == p - q && r.imag == xx + yy && s.real == xx - yy && s.imag == p + q;
}

double wp_complex_product(double a, double b, double c, double d, int64_t imaginary)
{
    Py_complex r = _Py_c_prod((Py_complex){a, b}, (Py_complex){c, d});
    return imaginary ? r.imag : r.real;
}

double wp_complex_abs(double real, double imag, int64_t line)
{
    errno = 0;
    double result = _Py_c_abs((Py_complex){real, imag});
    if (errno == ERANGE && isinf(result))
        wp_raise(WP_OVERFLOW_ERROR, "absolute value too large", line);
    return result;
}
