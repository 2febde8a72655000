/* Texts of values, hashes of texts, and what the run time asks of Python's own functions. */

#include "api.h"

#include <strings.h>

/* --- text of any value: repr() --- */

static wp_str *joined(wp_str *a, const char *text) { return wp_str_concat(a, str_of_ascii(text, (int64_t)strlen(text))); }

/* Whether Python shows a character as it is; of those beyond Latin-1 all but what surely is no letter or sign. */
static int is_printable(uint32_t c)
{
    if (c < 0x7f)
        return c >= 0x20;
    if (c < 0xa1 || c == 0xad)
        return 0;
    if ((c >= 0x2000 && c <= 0x200f) || (c >= 0x2028 && c <= 0x202f) || (c >= 0x205f && c <= 0x206f) || c == 0x3000 || c == 0x1680)
        return 0;
    return !(c >= 0xd800 && c <= 0xf8ff) && c != 0xfeff && c < 0xe0000;
}

static wp_str *escaped(const wp_str *s)
{
    int bytes = is_bytes(s), single = 0, twofold = 0;
    for (int64_t i = 0; i < s->length; i++) {
        single |= wp_str_code(s, i) == '\'';
        twofold |= wp_str_code(s, i) == '"';
    }
    uint32_t quote = single && !twofold ? '"' : '\'';
    wp_str *out = str_of_ascii(bytes ? "b" : "", bytes);
    out = wp_str_concat(out, wp_str_char(quote));
    for (int64_t i = 0; i < s->length; i++) {
        uint32_t c = wp_str_code(s, i);
        char text[16];
        if (c == quote || c == '\\')
            snprintf(text, sizeof text, "\\%c", (int)c);
        else if (c == '\n' || c == '\r' || c == '\t')
            snprintf(text, sizeof text, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
        else if (bytes ? c >= 0x20 && c < 0x7f : is_printable(c)) {
            out = wp_str_concat(out, wp_str_char(c));
            continue;
        } else
            snprintf(text, sizeof text, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
        out = joined(out, text);
    }
    return wp_str_concat(out, wp_str_char(quote));
}

static wp_str *listed(const wp_object *o, const char *begin, const char *end)
{
    wp_str *out = str_of_ascii(begin, (int64_t)strlen(begin));
    int64_t length = sequence_length(o);
    for (int64_t i = 0; i < length; i++) {
        out = i > 0 ? joined(out, ", ") : out;
        out = wp_str_concat(out, wp_to_repr(sequence_item(o, i)));
    }
    return joined(out, length == 1 && o->type->kind == WP_TUPLE ? ",)" : end);
}

static wp_str *repr_of_dict(const wp_dict *d)
{
    wp_str *out = str_of_ascii("{", 1);
    int first = 1;
    for (int64_t i = wp_dict_next(d, 0); i >= 0; i = wp_dict_next(d, i + 1), first = 0) {
        out = first ? out : joined(out, ", ");
        out = joined(wp_str_concat(out, wp_to_repr(wp_from_slot(wp_dict_key_at(d, i), d->key_repr))), ": ");
        out = wp_str_concat(out, wp_to_repr(wp_from_slot(wp_dict_value_at(d, i), d->value_repr)));
    }
    return joined(out, "}");
}

static wp_str *repr_of_set(const wp_set *s)
{
    int frozen = s->head.type->kind == WP_FROZENSET, first = 1;
    if (s->used == 0)
        return frozen ? str_of_ascii("frozenset()", 11) : str_of_ascii("set()", 5);
    wp_str *out = frozen ? str_of_ascii("frozenset({", 11) : str_of_ascii("{", 1);
    for (int64_t i = wp_set_next(s, 0); i >= 0; i = wp_set_next(s, i + 1), first = 0) {
        out = first ? out : joined(out, ", ");
        out = wp_str_concat(out, wp_to_repr(wp_from_slot(wp_set_key_at(s, i), s->repr)));
    }
    return joined(out, frozen ? "})" : "}");
}

PyObject *PyObject_Repr(PyObject *of)
{
    wp_val v = unboxed(of);
    const wp_object *o = v.u.p;
    wp_str *out = NULL;
    if (v.tag != WP_PTR || o->type->python != NULL)
        wp_deopt("the text of a value that only Python has", 0);
    deeper();
    switch (o->type->kind) {
    case WP_STR:
    case WP_BYTES: out = escaped((const wp_str *)o); break;
    case WP_LIST: out = listed(o, "[", "]"); break;
    case WP_TUPLE: out = listed(o, "(", ")"); break;
    case WP_DEQUE: out = ((const wp_deque *)o)->maxlen < 0 ? listed(o, "deque([", "])") : NULL; break;
    case WP_DICT: out = repr_of_dict((const wp_dict *)o); break;
    case WP_SET:
    case WP_FROZENSET: out = repr_of_set((const wp_set *)o); break;
    default: break;
    }
    now.nesting--;
    if (out == NULL)
        wp_deopt("the text of a value that only Python has", 0);
    return boxed(wp_of_p(out));
}

PyObject *PyObject_Str(PyObject *of) { return PyObject_Repr(of); }

PyObject *PyObject_ASCII(PyObject *of)
{
    wp_val v = unboxed(of);
    wp_str *s = v.tag == WP_PTR ? unboxed(PyObject_Repr(of)).u.p : wp_to_repr(v), *out = &empty_str;
    for (int64_t i = 0; i < s->length; i++) {
        uint32_t c = wp_str_code(s, i);
        char text[16];
        snprintf(text, sizeof text, c < 0x80 ? "%c" : c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", c);
        out = joined(out, text);
    }
    return boxed(wp_of_p(out));
}

/* --- hashes of texts: any will do, as they are not the same in two runs of Python either --- */

Py_ssize_t _Py_HashBytes(const void *data, Py_ssize_t bytes)
{
    const unsigned char *at = data;
    uint64_t hash = 0x9E3779B97F4A7C15u ^ (uint64_t)bytes, word;
    for (; bytes >= 8; bytes -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, at, (size_t)bytes);
    hash = (hash ^ word) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 29;
    return (Py_ssize_t)hash == -1 ? -2 : (Py_ssize_t)hash;
}

PyObject *PyUnicode_FromKindAndData(int kind, const void *data, Py_ssize_t length) { return (void)kind, (void)data, (void)length, NULL; }
PyObject *PyBytes_FromStringAndSize(const char *data, Py_ssize_t length) { return (void)data, (void)length, NULL; }

/* --- int(text, base), float(text), round(x, -n) --- */

static void raised_text(int32_t which, const char *before, const wp_str *s, int64_t line)
{
    wp_str *text = wp_str_concat(str_of_ascii(before, (int64_t)strlen(before)), wp_to_repr(wp_of_p(s)));
    wp_exception = wp_error_new(which, wp_of_p(text));
    raised_at(line);
}

/* A digit of a base up to 36. */
static inline int64_t digit_value(uint8_t c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }
static inline int is_digit_of(uint8_t c, int64_t base)
{
    return ((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z')) && digit_value(c) < base;
}

/* A copy of a text without the blanks around it, and without underscores between digits; NULL: it is none of digits. */
static char *bare(const wp_str *s)
{
    int64_t from = 0, to = s->length, at = 0;
    if (!s->ascii)
        wp_deopt("a number in letters beyond ASCII", 0);
    while (from < to && is_blank(s->data[from]))
        from++;
    while (to > from && is_blank(s->data[to - 1]))
        to--;
    char *out = heap_block(PLAIN, to - from + 1);
    for (int64_t i = from; i < to; i++) {
        if (s->data[i] == '_') {
            if (i == from || i + 1 == to || !is_digit_of(s->data[i - 1], 36) || !is_digit_of(s->data[i + 1], 36))
                return NULL;
        } else
            out[at++] = (char)s->data[i];
    }
    out[at] = 0;
    return at > 0 ? out : NULL;
}

static wp_val whole_of_text(const wp_str *s, int64_t base, int64_t line)
{
    char *text = bare(s), message[64];
    snprintf(message, sizeof message, "invalid literal for int() with base %lld: ", (long long)base);
    if (base != 0 && (base < 2 || base > 36)) {
        wp_raise(WP_VALUE_ERROR, "int() base must be >= 2 and <= 36, or 0", line);
        return wp_of_i(0);
    }
    const char *at = text == NULL ? "" : text;
    int negative = *at == '-';
    at += *at == '-' || *at == '+';
    if (at[0] == '0' && at[1] != 0) {
        int known = at[1] == 'x' || at[1] == 'X' ? 16 : at[1] == 'o' || at[1] == 'O' ? 8 : at[1] == 'b' || at[1] == 'B' ? 2 : 0;
        if (known != 0 && (base == 0 || base == known)) {
            base = known;
            at += 2;
        }
    }
    int64_t value = 0, wide = 0;
    int is_null = *at == '0' && base == 0, wrong = *at == 0;
    base = base == 0 ? 10 : base;
    for (; *at != 0 && !wrong; at++) {
        wrong = !is_digit_of((uint8_t)*at, base) || (is_null && *at != '0');
        wide |= __builtin_mul_overflow(value, base, &value) || __builtin_sub_overflow(value, digit_value((uint8_t)*at), &value);
    }
    if (wrong) {
        raised_text(WP_VALUE_ERROR, message, s, line);
        return wp_of_i(0);
    }
    if (wide || (!negative && value == INT64_MIN))
        wp_deopt(BEYOND, line);
    return wp_of_i(negative ? value : -value);
}

static wp_val real_of_text(const wp_str *s, int64_t line)
{
    char *text = bare(s), *end = text;
    const char *digits = text == NULL ? "" : text + (*text == '-' || *text == '+');
    int is_number = (*digits >= '0' && *digits <= '9') || *digits == '.';
    int is_known = is_number || strcasecmp(digits, "inf") == 0 || strcasecmp(digits, "infinity") == 0 || strcasecmp(digits, "nan") == 0;
    double value = is_known ? PyOS_string_to_double(text, &end, NULL) : 0.0;
    int refused = PyErr_Occurred() != NULL;
    PyErr_Clear();
    if (!is_known || refused || *end != 0)
        raised_text(WP_VALUE_ERROR, "could not convert string to float: ", s, line);
    return wp_of_d(value);
}

wp_val wp_call_python(void *python, const wp_val *args, int64_t count, const wp_spec *result, int64_t line)
{
    (void)result;
    if (python == &PyLong_Type && count == 2)
        return whole_of_text(args[0].u.p, args[1].u.i, line);
    if (python == &PyFloat_Type && count == 1)
        return real_of_text(args[0].u.p, line);
    wp_deopt("a call of a function of Python", line);
}

wp_val wp_call_method(const char *name, const wp_val *args, int64_t count, const wp_spec *result, int64_t line)
{
    static char reason[96]; /* one call at a time */
    char text[64];
    (void)result;
    if (count == 2 && strcmp(name, "__round__") == 0 && args[0].tag == WP_FLOAT) { /* to tens: digits before the point */
        char digits[40];
        int kept = digits_of(args[0].u.d, MOST_DIGITS, digits) + 1 + (int)args[1].u.i;
        if (kept > MOST_DIGITS)
            return args[0];
        if (kept < 0)
            return wp_of_d(0.0 * args[0].u.d);
        if (kept == 0) { /* it may be one in the place before its first digit */
            double limit = 0.5 * pow(10.0, (double)-args[1].u.i);
            return wp_of_d(fabs(args[0].u.d) > limit ? copysign(2 * limit, args[0].u.d) : 0.0 * args[0].u.d);
        }
        plainly(text, sizeof text, "%.*e", kept - 1, args[0].u.d);
        return wp_of_d(read_double(text, NULL));
    }
    snprintf(reason, sizeof reason, "%s() beyond ASCII", name);
    wp_deopt(reason, line);
}

/* --- complex numbers, as CPython computes them --- */

Py_complex _Py_c_prod(Py_complex a, Py_complex b)
{
    return (Py_complex){a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
}

Py_complex _Py_c_quot(Py_complex a, Py_complex b)
{
    const double real = fabs(b.real), imag = fabs(b.imag);
    if (real >= imag && real != 0.0) {
        const double ratio = b.imag / b.real, divisor = b.real + b.imag * ratio;
        return (Py_complex){(a.real + a.imag * ratio) / divisor, (a.imag - a.real * ratio) / divisor};
    }
    if (imag >= real && imag != 0.0) {
        const double ratio = b.real / b.imag, divisor = b.real * ratio + b.imag;
        return (Py_complex){(a.real * ratio + a.imag) / divisor, (a.imag * ratio - a.real) / divisor};
    }
    return (Py_complex){NAN, NAN};
}

double _Py_c_abs(Py_complex z)
{
    errno = 0;
    double size = hypot(z.real, z.imag);
    if (isinf(size) && isfinite(z.real) && isfinite(z.imag))
        errno = ERANGE;
    return size;
}
