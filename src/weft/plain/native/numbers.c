/* Numbers by Python's rules: bit for bit what CPython's longobject.c and floatobject.c give. */

#include "api.h"

static const char *const BEYOND = "an integer beyond 64 bits";

typedef PyObject *(*number_function)(PyObject *, PyObject *);

static PyObject *number_out(wp_val x)
{
    return x.tag == WP_FLOAT ? PyFloat_FromDouble(x.u.d) : PyLong_FromLongLong(x.u.i);
}

static PyObject *power_of(PyObject *a, PyObject *b) { return PyNumber_Power(a, b, &_Py_NoneStruct); }

/* The exception that Python raises for an operation, with the message of this version. */
static void raise_number(number_function function, wp_val a, wp_val b, int64_t line)
{
    if (nobody_catches())
        wp_deopt("an exception", line);
    PyObject *x = number_out(a), *y = number_out(b);
    PyObject *result = x == NULL || y == NULL ? NULL : function(x, y);
    Py_DecRef(x);
    Py_DecRef(y);
    if (result != NULL) {
        Py_DecRef(result);
        wp_deopt("an exception", line);
    }
    raise_python(line);
}

int64_t wp_pow_ii(int64_t a, int64_t b, int64_t line)
{
    if (b < 0)
        wp_deopt("a negative power of an integer", line);
    int64_t result = 1;
    for (;;) {
        if (b & 1 && __builtin_mul_overflow(result, a, &result))
            wp_deopt(BEYOND, line);
        b >>= 1;
        if (b == 0)
            return result;
        if (__builtin_mul_overflow(a, a, &a))
            wp_deopt(BEYOND, line);
    }
}

static int is_odd(double x) { return fmod(fabs(x), 2.0) == 1.0; }

double wp_pow_dd(double a, double b, int64_t line)
{
    wp_val x = wp_of_d(a), y = wp_of_d(b);
    if (b == 0)
        return 1.0;
    if (a != a)
        return a;
    if (b != b)
        return a == 1.0 ? 1.0 : b;
    if (isinf(b)) {
        a = fabs(a);
        if (a == 1.0)
            return 1.0;
        return (b > 0.0) == (a > 1.0) ? fabs(b) : 0.0;
    }
    if (isinf(a)) {
        if (b > 0.0)
            return is_odd(b) ? a : fabs(a);
        return is_odd(b) ? copysign(0.0, a) : 0.0;
    }
    if (a == 0.0) {
        if (b < 0.0) {
            raise_number(power_of, x, y, line);
            return 0.0;
        }
        return is_odd(b) ? a : 0.0;
    }
    int negative = 0;
    if (a < 0.0) {
        if (b != floor(b))
            wp_deopt("a complex power", line);
        a = -a;
        negative = is_odd(b);
    }
    if (a == 1.0)
        return negative ? -1.0 : 1.0;
    errno = 0;
    double result = pow(a, b);
    int failed = errno;
    if (failed == 0 && isinf(result))
        failed = ERANGE;
    else if (failed == ERANGE && result == 0.0)
        failed = 0;
    if (failed != 0) {
        raise_number(power_of, x, y, line);
        return 0.0;
    }
    return negative ? -result : result;
}

int64_t wp_floordiv_any(int64_t a, int64_t b, int64_t line)
{
    if (WP_UNLIKELY(b == 0)) {
        raise_number(PyNumber_FloorDivide, wp_of_i(a), wp_of_i(b), line);
        return 0;
    }
    if (WP_UNLIKELY(b == -1))
        return wp_sub_ii(0, a, line);
    int64_t q = a / b;
    return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}

int64_t wp_mod_any(int64_t a, int64_t b, int64_t line)
{
    if (WP_UNLIKELY(b == 0)) {
        raise_number(PyNumber_Remainder, wp_of_i(a), wp_of_i(b), line);
        return 0;
    }
    if (WP_UNLIKELY(b == -1))
        return 0;
    int64_t r = a % b;
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

double wp_floordiv_dd(double a, double b, int64_t line)
{
    if (WP_UNLIKELY(b == 0.0)) {
        raise_number(PyNumber_FloorDivide, wp_of_d(a), wp_of_d(b), line);
        return 0.0;
    }
    double mod = fmod(a, b), div = (a - mod) / b;
    if (mod != 0.0 && (b < 0) != (mod < 0))
        div -= 1.0;
    if (div != 0.0) {
        double result = floor(div);
        return div - result > 0.5 ? result + 1.0 : result;
    }
    return copysign(0.0, a / b);
}

double wp_mod_dd(double a, double b, int64_t line)
{
    if (WP_UNLIKELY(b == 0.0)) {
        raise_number(PyNumber_Remainder, wp_of_d(a), wp_of_d(b), line);
        return 0.0;
    }
    double mod = fmod(a, b);
    if (mod != 0.0)
        return (b < 0) != (mod < 0) ? mod + b : mod;
    return copysign(0.0, b);
}

double wp_truediv_ii(int64_t a, int64_t b, int64_t line)
{
    const int64_t exact = (int64_t)1 << 53;
    if (WP_UNLIKELY(b == 0)) {
        raise_number(PyNumber_TrueDivide, wp_of_i(a), wp_of_i(b), line);
        return 0.0;
    }
    if (WP_LIKELY(a <= exact && a >= -exact && b <= exact && b >= -exact))
        return (double)a / (double)b;
    uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    if (x == 0)
        return b < 0 ? -0.0 : 0.0;
    int shift = 56 + (64 - __builtin_clzll(y)) - (64 - __builtin_clzll(x));
    if (shift < 0)
        shift = 0;
    unsigned __int128 wide = (unsigned __int128)x << shift;
    uint64_t quotient = (uint64_t)(wide / y);
    if (wide % y != 0)
        quotient |= 1; /* below the last bit that counts */
    double result = ldexp((double)quotient, -shift);
    return (a < 0) != (b < 0) ? -result : result;
}

/* --- conversions --- */

int64_t wp_int_of_d(double x, int64_t line)
{
    if (WP_LIKELY(x > -9223372036854775809.0 && x < 9223372036854775808.0))
        return (int64_t)x;
    if (x - x == 0.0)
        wp_deopt(BEYOND, line);
    if (nobody_catches())
        wp_deopt("an exception", line);
    PyObject *value = PyFloat_FromDouble(x), *result = value == NULL ? NULL : PyNumber_Long(value);
    Py_DecRef(value);
    if (result != NULL) {
        Py_DecRef(result);
        wp_deopt(BEYOND, line);
    }
    raise_python(line);
    return 0;
}

static int is_blank(uint32_t c) { return c == ' ' || (c >= 9 && c <= 13); }

int64_t wp_int_of_str(const wp_str *s, int64_t base, int64_t line)
{
    if (base == 10 && s->ascii) {
        int64_t i = 0, end = s->length, value = 0;
        while (i < end && is_blank(s->data[i]))
            i++;
        while (end > i && is_blank(s->data[end - 1]))
            end--;
        int negative = i < end && s->data[i] == '-';
        if (negative || (i < end && s->data[i] == '+'))
            i++;
        if (i < end && end - i <= 18) {
            for (; i < end && s->data[i] >= '0' && s->data[i] <= '9'; i++)
                value = value * 10 + (s->data[i] - '0');
            if (i == end)
                return negative ? -value : value;
        }
    }
    static const wp_spec whole = {'i', 1u << WP_INT, 0, NULL};
    wp_val arguments[2] = {wp_of_p(s), wp_of_i(base)};
    return wp_call_python(&PyLong_Type, arguments, 2, &whole, line).u.i;
}

double wp_float_of_str(const wp_str *s, int64_t line)
{
    static const wp_spec real = {'d', 1u << WP_FLOAT, 0, NULL};
    wp_val argument = wp_of_p(s);
    char text[48], *end;
    if (s->ascii && s->length > 0 && s->length < (int64_t)sizeof text && (s->data[0] == '-' || (s->data[0] >= '0' && s->data[0] <= '9'))) {
        memcpy(text, s->data, (size_t)s->length);
        text[s->length] = 0;
        double value = PyOS_string_to_double(text, &end, NULL);
        if (!(value == -1.0 && PyErr_Occurred()) && end == text + s->length)
            return value;
        PyErr_Clear();
    }
    return wp_call_python(&PyFloat_Type, &argument, 1, &real, line).u.d;
}

int64_t wp_round_d(double x, int64_t line)
{
    double rounded = round(x);
    if (fabs(x - rounded) == 0.5)
        rounded = 2.0 * round(x / 2.0);
    return wp_int_of_d(rounded, line);
}

double wp_round_dn(double x, int64_t digits)
{
    if (x - x != 0.0 || digits > 323)
        return x;
    if (digits < -308)
        return 0.0 * x;
    if (digits >= 0) {
        char *text = PyOS_double_to_string(x, 'f', (int)digits, 0, NULL);
        double result = text == NULL ? -1.0 : PyOS_string_to_double(text, NULL, NULL);
        PyMem_Free(text);
        if (text == NULL || (result == -1.0 && PyErr_Occurred()) || isinf(result)) {
            PyErr_Clear();
            wp_deopt("round() has no float result", 0);
        }
        return result;
    }
    static const wp_spec real = {'d', 1u << WP_FLOAT, 0, NULL};
    wp_val arguments[2] = {wp_of_d(x), wp_of_i(digits)};
    return wp_call_method("__round__", arguments, 2, &real, 0).u.d;
}

int64_t wp_compare_id(int64_t a, double b)
{
    if (b != b)
        return 2;
    if (b >= 9223372036854775808.0)
        return -1;
    if (b < -9223372036854775808.0)
        return 1;
    int64_t whole = (int64_t)b; /* towards zero */
    if (a != whole)
        return a < whole ? -1 : 1;
    double rest = b - (double)whole;
    return rest > 0 ? -1 : rest < 0;
}

int64_t wp_bit_length(int64_t a)
{
    uint64_t size = a < 0 ? 0 - (uint64_t)a : (uint64_t)a;
    return size == 0 ? 0 : 64 - __builtin_clzll(size);
}

int64_t wp_shl_ii(int64_t a, int64_t b, int64_t line)
{
    if (b < 0) {
        raise_number(PyNumber_Lshift, wp_of_i(a), wp_of_i(b), line);
        return 0;
    }
    if (a == 0)
        return 0;
    if (b > 62)
        wp_deopt(BEYOND, line);
    int64_t result = (int64_t)((uint64_t)a << b);
    if (result >> b != a)
        wp_deopt(BEYOND, line);
    return result;
}

int64_t wp_shr_ii(int64_t a, int64_t b, int64_t line)
{
    if (b < 0) {
        raise_number(PyNumber_Rshift, wp_of_i(a), wp_of_i(b), line);
        return 0;
    }
    return a >> (b > 63 ? 63 : b);
}

/* --- numbers of any mix --- */

static double as_double(wp_val x) { return x.tag == WP_FLOAT ? x.u.d : (double)x.u.i; }

wp_val wp_arith(int32_t op, wp_val a, wp_val b, int64_t line)
{
    int whole = a.tag != WP_FLOAT && b.tag != WP_FLOAT;
    if ((a.tag != WP_INT && a.tag != WP_FLOAT && a.tag != WP_BOOL) || (b.tag != WP_INT && b.tag != WP_FLOAT && b.tag != WP_BOOL))
        wp_deopt("arithmetic on what is no number", line);
    double x = as_double(a), y = as_double(b);
    switch (op) {
    case '+': return whole ? wp_of_i(wp_add_ii(a.u.i, b.u.i, line)) : wp_of_d(x + y);
    case '-': return whole ? wp_of_i(wp_sub_ii(a.u.i, b.u.i, line)) : wp_of_d(x - y);
    case '*': return whole ? wp_of_i(wp_mul_ii(a.u.i, b.u.i, line)) : wp_of_d(x * y);
    case '/':
        if (whole)
            return wp_of_d(wp_truediv_ii(a.u.i, b.u.i, line));
        if (y == 0.0) {
            raise_number(PyNumber_TrueDivide, a, b, line);
            return wp_of_d(0.0);
        }
        return wp_of_d(x / y);
    case '%': return whole ? wp_of_i(wp_mod_ii(a.u.i, b.u.i, line)) : wp_of_d(wp_mod_dd(x, y, line));
    case '_': return whole ? wp_of_i(wp_floordiv_ii(a.u.i, b.u.i, line)) : wp_of_d(wp_floordiv_dd(x, y, line));
    case '^':
        if (!whole)
            return wp_of_d(wp_pow_dd(x, y, line));
        if (b.u.i >= 0)
            return wp_of_i(wp_pow_ii(a.u.i, b.u.i, line));
        return wp_of_d(wp_pow_dd(x, y, line));
    default: wp_deopt("an operation without a native form", line);
    }
}

/* --- powers modulo a number --- */

static uint64_t power_below(uint64_t base, uint64_t exponent, uint64_t modulus)
{
    uint64_t result = 1 % modulus;
    for (base %= modulus; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result = (uint64_t)((unsigned __int128)result * base % modulus);
        base = (uint64_t)((unsigned __int128)base * base % modulus);
    }
    return result;
}

/* 1 / a modulo m, or -1 if there is none. */
static __int128 inverse_below(__int128 a, __int128 m)
{
    __int128 old = a, rest = m, x = 1, next = 0;
    while (rest != 0) {
        __int128 quotient = old / rest, held = old - quotient * rest;
        old = rest;
        rest = held;
        held = x - quotient * next;
        x = next;
        next = held;
    }
    return old != 1 ? -1 : x < 0 ? x + m : x;
}

int64_t wp_pow_mod(int64_t base, int64_t exponent, int64_t modulus, int64_t line)
{
    if (modulus == 0) {
        wp_raise(WP_VALUE_ERROR, "pow() 3rd argument cannot be 0", line);
        return 0;
    }
    __int128 m = modulus < 0 ? -(__int128)modulus : modulus, b = base % m;
    uint64_t times = exponent < 0 ? -(uint64_t)exponent : (uint64_t)exponent;
    if (b < 0)
        b += m;
    if (exponent < 0) {
        b = m == 1 ? 0 : inverse_below(b, m);
        if (b < 0) {
            wp_raise(WP_VALUE_ERROR, "base is not invertible for the given modulus", line);
            return 0;
        }
    }
    __int128 result = power_below((uint64_t)b, times, (uint64_t)m);
    return (int64_t)(modulus < 0 && result > 0 ? result - m : result);
}

/* --- functions of the C library, out of reach of a compiler that would compute them itself --- */

double wp_exp(double x) { return exp(x); }
double wp_expm1(double x) { return expm1(x); }
double wp_log(double x) { return log(x); }
double wp_log2(double x) { return log2(x); }
double wp_log10(double x) { return log10(x); }
double wp_log1p(double x) { return log1p(x); }
double wp_sinh(double x) { return sinh(x); }
double wp_cosh(double x) { return cosh(x); }
double wp_asin(double x) { return asin(x); }
double wp_acos(double x) { return acos(x); }
double wp_atan2(double y, double x) { return atan2(y, x); }
double wp_pow(double x, double y) { return pow(x, y); }
double wp_fmod(double x, double y) { return fmod(x, y); }
