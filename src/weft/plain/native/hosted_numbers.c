/* Numbers as text and back, and the exceptions of arithmetic, where CPython has functions for them.

   In: doubles and texts. Out: the shortest digits that give a number again, as `repr` has them; the nearest double of a text. */

#include "api.h"

#include <locale.h>
#include <stdarg.h>

/* --- the C library, whatever language the host has set --- */

static locale_t plain_locale(void)
{
    static locale_t made;
    if (made == (locale_t)0)
        made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return made;
}

__attribute__((format(printf, 3, 4))) static int plainly(char *text, size_t room, const char *format, ...)
{
    locale_t before = uselocale(plain_locale());
    va_list values;
    va_start(values, format);
    int length = vsnprintf(text, room, format, values);
    va_end(values);
    uselocale(before);
    return length;
}

static double read_double(const char *text, char **end)
{
    locale_t before = uselocale(plain_locale());
    double value = strtod(text, end);
    uselocale(before);
    return value;
}

/* --- digits --- */

enum { MOST_DIGITS = 17 };

/* So many significant digits of a finite number; the exponent of the first one. */
static int digits_of(double x, int count, char *digits)
{
    char text[40];
    plainly(text, sizeof text, "%.*e", count - 1, x < 0 ? -x : x);
    int at = 0;
    for (const char *c = text; *c != 'e'; c++)
        if (*c != '.')
            digits[at++] = *c;
    digits[at] = 0;
    return atoi(strchr(text, 'e') + 1);
}

static int gives(const char *digits, int exponent, double x)
{
    char text[40];
    plainly(text, sizeof text, "%c.%se%d", digits[0], digits + 1, exponent);
    return read_double(text, NULL) == x;
}

/* The next digits above; 0 if there are none of that length. */
static int next_above(char *digits)
{
    for (int at = (int)strlen(digits) - 1; at >= 0; at--) {
        if (digits[at] != '9') {
            digits[at]++;
            return 1;
        }
        digits[at] = '0';
    }
    return 0;
}

/* The fewest digits that give a finite number again, without zeros at the end. */
static int shortest(double x, char *digits)
{
    double size = x < 0 ? -x : x;
    int power;
    int at_power = frexp(size, &power) == 0.5; /* its neighbour below is nearer: rounding may lead past it */
    int exponent = 0;
    for (int count = size < 0x1p-1000 ? 1 : 15; count <= MOST_DIGITS; count++) {
        exponent = digits_of(size, count, digits);
        if (count == MOST_DIGITS || gives(digits, exponent, size))
            break;
        if (at_power && next_above(digits) && gives(digits, exponent, size))
            break;
    }
    for (int end = (int)strlen(digits); end > 1 && digits[end - 1] == '0'; end--)
        digits[end - 1] = 0;
    return exponent;
}

/* As PyOS_double_to_string, of the formats that are asked for: 'r', and 'e', 'f', 'g' with a precision. */
char *PyOS_double_to_string(double x, char format, int precision, int flags, int *type)
{
    (void)type;
    size_t room = format == 'f' ? (size_t)precision + 330 : (size_t)precision + 40;
    char *text = malloc(room);
    if (text == NULL)
        return NULL;
    if (x != x || x - x != 0.0) {
        snprintf(text, room, "%s", x != x ? "nan" : x < 0 ? "-inf" : "inf");
        return text;
    }
    if (format != 'r') {
        const char formats[] = {'%', flags & 4 ? '#' : '.', flags & 4 ? '.' : '*', flags & 4 ? '*' : format, flags & 4 ? format : 0, 0};
        locale_t before = uselocale(plain_locale());
        snprintf(text, room, formats, precision, x);
        uselocale(before);
        return text;
    }
    char digits[MOST_DIGITS + 4];
    int exponent = x == 0.0 ? (strcpy(digits, "0"), 0) : shortest(x, digits), count = (int)strlen(digits), at = 0;
    if (signbit(x))
        text[at++] = '-';
    if (exponent >= -4 && exponent < 16) {
        if (exponent < 0) {
            at += snprintf(text + at, room - (size_t)at, "0.");
            for (int place = exponent + 1; place < 0; place++)
                text[at++] = '0';
        }
        for (int place = 0; place < count || place <= exponent; place++) {
            if (exponent >= 0 && place == exponent + 1)
                text[at++] = '.';
            text[at++] = place < count ? digits[place] : '0';
        }
        text[at] = 0;
        if (strchr(text, '.') == NULL && flags & 2)
            snprintf(text + at, room - (size_t)at, ".0");
        return text;
    }
    at += snprintf(text + at, room - (size_t)at, "%c%s%s", digits[0], count > 1 ? "." : "", digits + 1);
    snprintf(text + at, room - (size_t)at, "e%c%02d", exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
    return text;
}

/* Of a text that is a number up to its end, or as far as `end` says. */
double PyOS_string_to_double(const char *text, char **end, PyObject *overflow)
{
    (void)overflow;
    char *stop;
    const char *digits = text + (*text == '-' || *text == '+');
    int is_hexadecimal = digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X');
    double value = is_hexadecimal ? -1.0 : read_double(text, &stop);
    if (is_hexadecimal || (end == NULL && *stop != 0)) {
        failed(PyExc_ValueError, NULL);
        return -1.0;
    }
    if (end != NULL)
        *end = stop;
    return value;
}

void PyMem_Free(void *memory) { free(memory); }

/* --- the exceptions of arithmetic --- */

static int is_zero(PyObject *o)
{
    wp_val v = unboxed(o);
    return v.tag == WP_FLOAT ? v.u.d == 0.0 : v.tag != WP_PTR && v.u.i == 0;
}

static int is_whole(PyObject *a, PyObject *b) { return unboxed(a).tag != WP_FLOAT && unboxed(b).tag != WP_FLOAT; }

PyObject *PyNumber_FloorDivide(PyObject *a, PyObject *b)
{
    const char *message = is_whole(a, b) ? "integer division or modulo by zero" : "float floor division by zero";
    return is_zero(b) ? failed(PyExc_ZeroDivisionError, message) : a;
}

PyObject *PyNumber_Remainder(PyObject *a, PyObject *b)
{
    return is_zero(b) ? failed(PyExc_ZeroDivisionError, is_whole(a, b) ? "integer modulo by zero" : "float modulo") : a;
}

PyObject *PyNumber_TrueDivide(PyObject *a, PyObject *b)
{
    return is_zero(b) ? failed(PyExc_ZeroDivisionError, is_whole(a, b) ? "division by zero" : "float division by zero") : a;
}

PyObject *PyNumber_Power(PyObject *a, PyObject *b, PyObject *modulus)
{
    (void)modulus, (void)b;
    if (is_zero(a))
        return failed(PyExc_ZeroDivisionError, "0.0 cannot be raised to a negative power");
    return failed(PyExc_OverflowError, "(34, 'Numerical result out of range')");
}

PyObject *PyNumber_Lshift(PyObject *a, PyObject *b) { return (void)a, (void)b, failed(PyExc_ValueError, "negative shift count"); }
PyObject *PyNumber_Rshift(PyObject *a, PyObject *b) { return PyNumber_Lshift(a, b); }

PyObject *PyNumber_Long(PyObject *o)
{
    double x = unboxed(o).u.d;
    if (x != x)
        return failed(PyExc_ValueError, "cannot convert float NaN to integer");
    return failed(PyExc_OverflowError, "cannot convert float infinity to integer");
}

static void pair_out(wp_val a, wp_val b, PyObject **x, PyObject **y)
{
    *x = boxed(a);
    *y = boxed(b);
}

/* What complex numbers leave to Python: powers, and what raises. */
static PyObject *call_binary(int32_t op, PyObject *a, PyObject *b)
{
    (void)a, (void)b;
    if (op == '/')
        return failed(PyExc_ZeroDivisionError, "complex division by zero");
    wp_deopt("a power of complex numbers", 0);
}
