/* format(value, specification), and print.

   [[fill]align][sign][#][0][width][, or _][.precision][type], as Python reads it; what is rare ends the call with an error. */

#include "api.h"

typedef struct {
    uint32_t fill;
    char align, sign, group, type; /* 0: not said */
    int alternate, zeros;
    int64_t width, precision; /* -1: not said */
} layout;

static int64_t number_at(const wp_str *s, int64_t *at)
{
    int64_t value = -1;
    for (; *at < s->length && is_digit_of((uint8_t)wp_str_code(s, *at), 10) && wp_str_code(s, *at) < 128; (*at)++)
        value = (value < 0 ? 0 : value) * 10 + (int64_t)wp_str_code(s, *at) - '0';
    return value > 1 << 20 ? 1 << 20 : value;
}

static inline uint32_t code_or_zero(const wp_str *s, int64_t at) { return at < s->length ? wp_str_code(s, at) : 0; }
static int is_one_of(uint32_t c, const char *of) { return c != 0 && c < 128 && strchr(of, (int)c) != NULL; }

static layout layout_of(const wp_str *s, int64_t line)
{
    layout l = {.fill = ' ', .width = -1, .precision = -1};
    int64_t at = 0;
    if (is_one_of(code_or_zero(s, 1), "<>=^")) {
        l.fill = wp_str_code(s, 0);
        l.align = (char)wp_str_code(s, 1);
        at = 2;
    } else if (is_one_of(code_or_zero(s, 0), "<>=^"))
        l.align = (char)wp_str_code(s, at++);
    if (is_one_of(code_or_zero(s, at), "+- "))
        l.sign = (char)wp_str_code(s, at++);
    if (code_or_zero(s, at) == '#') {
        l.alternate = 1;
        at++;
    }
    if (code_or_zero(s, at) == '0') {
        l.zeros = 1;
        at++;
    }
    l.width = number_at(s, &at);
    if (is_one_of(code_or_zero(s, at), ",_"))
        l.group = (char)wp_str_code(s, at++);
    if (code_or_zero(s, at) == '.') {
        at++;
        l.precision = number_at(s, &at);
        if (l.precision < 0)
            wp_deopt("a format that Python refuses", line);
    }
    if (at < s->length && wp_str_code(s, at) < 128)
        l.type = (char)wp_str_code(s, at++);
    if (at < s->length || l.width >= 1 << 20 || l.precision >= 400)
        wp_deopt("a format that is rare", line);
    if (l.zeros && l.align == 0) {
        l.align = '=';
        l.fill = '0';
    }
    return l;
}

/* A text with its sign (the first `kept` characters) in a field. */
static wp_str *in_field(wp_str *s, int64_t kept, const layout *l, char usual)
{
    char align = l->align != 0 ? l->align : usual;
    int64_t missing = l->width - s->length;
    if (missing <= 0)
        return s;
    wp_str *fill = wp_str_char(l->fill);
    int64_t left = align == '<' ? 0 : align == '^' ? missing / 2 : missing;
    if (align == '=')
        return wp_str_concat(wp_str_concat(str_part(s, 0, kept), wp_str_repeat(fill, missing)), str_part(s, kept, s->length - kept));
    return wp_str_concat(wp_str_concat(wp_str_repeat(fill, left), s), wp_str_repeat(fill, missing - left));
}

/* Digits in groups, up to the end of the whole part. */
static void grouped(char *out, const char *digits, char group, int size)
{
    int whole = (int)strspn(digits, "0123456789abcdefABCDEF"), at = 0;
    if (size == 3)
        whole = (int)strspn(digits, "0123456789");
    for (int i = 0; i < whole; i++) {
        if (i > 0 && (whole - i) % size == 0)
            out[at++] = group;
        out[at++] = digits[i];
    }
    strcpy(out + at, digits + whole);
}

static wp_str *number_in_field(int negative, const char *prefix, const char *digits, const layout *l, int size, int64_t line)
{
    char sign[8], spread[1024];
    snprintf(sign, sizeof sign, "%s%s", negative ? "-" : l->sign == '+' ? "+" : l->sign == ' ' ? " " : "", prefix);
    if (l->group && l->align == '=' && l->fill == '0')
        wp_deopt("a format that is rare", line);
    if (strlen(digits) > 700)
        wp_deopt("a format that is rare", line);
    if (l->group)
        grouped(spread, digits, l->group, size);
    wp_str *text = joined(str_of_ascii(sign, (int64_t)strlen(sign)), l->group ? spread : digits);
    return in_field(text, (int64_t)strlen(sign), l, '>');
}

static wp_str *format_real(double x, layout l, int64_t line)
{
    char type = l.type, digits[1024];
    if (type == 'n' || (type != 0 && !is_one_of((uint32_t)type, "eEfFgG%")))
        wp_deopt("a format that is rare", line);
    int negative = signbit(x) && x == x;
    double size = type == '%' ? fabs(x) * 100.0 : fabs(x);
    int precision = l.precision >= 0 ? (int)l.precision : 6;
    char lower = type == '%' || type == 'F' ? 'f' : type == 'E' ? 'e' : type == 'G' ? 'g' : type;
    if (lower == 0)
        lower = l.precision < 0 ? 'r' : 'g';
    if (lower == 'g' && precision == 0)
        precision = 1;
    char *text = PyOS_double_to_string(size, lower, precision, lower == 'r' ? 2 : l.alternate ? 4 : 0, NULL);
    if (text == NULL || strlen(text) > sizeof digits - 8) {
        free(text);
        wp_deopt("out of memory", line);
    }
    strcpy(digits, text);
    free(text);
    if (type == 0 && l.precision >= 0 && is_digit_of((uint8_t)digits[0], 10)) { /* a digit behind the point, or an exponent */
        char *exponent = strchr(digits, 'e');
        if (strchr(digits, '.') == NULL && exponent == NULL) {
            if ((int64_t)strlen(digits) >= l.precision)
                plainly(digits, sizeof digits, "%.*e", precision > 1 ? precision - 1 : 0, size);
            else
                strcat(digits, ".0");
        }
        if ((exponent = strchr(digits, 'e')) != NULL) { /* without zeros before it */
            char *end = exponent;
            while (strchr(digits, '.') != NULL && end > digits && (end[-1] == '0' || end[-1] == '.') && (end--, *end != '.'))
                ;
            memmove(end, exponent, strlen(exponent) + 1);
        }
    }
    if (type == 'E' || type == 'G' || type == 'F')
        for (char *c = digits; *c; c++)
            *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
    if (type == '%')
        strcat(digits, "%");
    return number_in_field(negative, "", digits, &l, 3, line);
}

static wp_str *format_whole(int64_t x, layout l, int64_t line)
{
    char digits[80];
    int negative = x < 0;
    uint64_t size = negative ? 0 - (uint64_t)x : (uint64_t)x, base = 10;
    if (is_one_of((uint32_t)l.type, "eEfFgG%"))
        return format_real((double)x, l, line);
    switch (l.type) {
    case 0:
    case 'd': break;
    case 'b': base = 2; break;
    case 'o': base = 8; break;
    case 'x':
    case 'X': base = 16; break;
    case 'c': return in_field(wp_str_char((uint32_t)(x < 0 || x > 0x10ffff ? (wp_deopt("chr() of no character", line), 0) : x)), 0, &l, '<');
    default: wp_deopt("a format that is rare", line);
    }
    if (l.precision >= 0 || (l.group == ',' && base != 10))
        wp_deopt("a format that Python refuses", line);
    char *at = digits + sizeof digits;
    *--at = 0;
    do {
        *--at = (l.type == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[size % base];
        size /= base;
    } while (size != 0);
    const char *prefix = !l.alternate || base == 10 ? "" : base == 2 ? "0b" : base == 8 ? "0o" : l.type == 'X' ? "0X" : "0x";
    return number_in_field(negative, prefix, at, &l, base == 10 ? 3 : 4, line);
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
    layout l = layout_of(spec, line);
    if (value.tag == WP_FLOAT)
        return format_real(value.u.d, l, line);
    if (value.tag == WP_INT || value.tag == WP_BOOL)
        return format_whole(value.u.i, l, line);
    if (kind_of(value) != WP_STR || l.sign || l.alternate || l.group || (l.type != 0 && l.type != 's') || l.align == '=')
        wp_deopt("a format that Python refuses, or that is rare", line);
    wp_str *s = value.u.p;
    if (l.precision >= 0 && l.precision < s->length)
        s = str_part(s, 0, l.precision);
    return in_field(s, 0, &l, '<');
}

static int utf8_of(int32_t code, char *text);

/* --- print: to the host's standard output, when the call has ended --- */

static void *grown(void *items, int64_t count, int64_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    int64_t larger = *capacity ? 2 * *capacity : 16;
    void *result = realloc(items, (size_t)larger * size);
    if (result == NULL)
        wp_deopt("out of memory", 0);
    *capacity = larger;
    return result;
}

void wp_flush(void)
{
    output *o = &now.output;
    for (int64_t i = 0; i < o->count; i++)
        for (int64_t k = 0; k < o->pieces[i]->length; k++) {
            char text[4];
            int32_t code = (int32_t)wp_str_code(o->pieces[i], k);
            fwrite(text, 1, (size_t)utf8_of(code, text), stdout);
        }
    o->count = 0;
}

void wp_print(const wp_str *piece)
{
    output *o = &now.output;
    o->pieces = grown(o->pieces, o->count, &o->capacity, sizeof *o->pieces);
    o->pieces[o->count++] = piece;
    if (o->count >= 1 << 12)
        wp_flush();
}
