/* Strings made of strings: join, split, replace, strip, case, and tests of characters. */

#include "api.h"

static int is_space(uint32_t c, int of_bytes)
{
    if (c < 128)
        return c == ' ' || (c >= 9 && c <= 13) || (!of_bytes && c >= 28 && c <= 31);
    if (of_bytes)
        return 0;
    return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
           c == 0x202f || c == 0x205f || c == 0x3000;
}

static int is_line_break(uint32_t c, int of_bytes)
{
    if (c == '\n' || c == '\r')
        return 1;
    return !of_bytes && (c == 0x0b || c == 0x0c || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 || c == 0x2029);
}

wp_str *wp_str_join(const wp_str *separator, const wp_list *parts)
{
    wp_str **items = (wp_str **)parts->data;
    int64_t count = parts->length, length = 0;
    int32_t width = 1, ascii = 1;
    if (count == 0)
        return nothing_like(separator);
    for (int64_t i = 0; i < count; i++) {
        if (items[i] == NULL || items[i]->head.type->kind != separator->head.type->kind)
            wp_deopt("join() of what is no string", 0);
        length += items[i]->length;
        width = items[i]->width > width ? items[i]->width : width;
        ascii &= items[i]->ascii;
    }
    if (count == 1)
        return items[0];
    if (separator->length > 0) {
        length += (count - 1) * separator->length;
        width = separator->width > width ? separator->width : width;
        ascii &= separator->ascii;
    }
    if (length == 0)
        return nothing_like(separator);
    wp_str *result = str_room(separator->head.type, length, width, ascii);
    uint8_t *to = result->data;
    for (int64_t i = 0; i < count; i++) {
        if (i > 0 && separator->length > 0) {
            copy_characters(to, width, separator);
            to += separator->length * width;
        }
        copy_characters(to, width, items[i]);
        to += items[i]->length * width;
    }
    return result;
}

/* --- split --- */

static void add_part(wp_list *result, const wp_str *s, int64_t start, int64_t stop)
{
    wp_str *part = str_part(s, start, stop - start);
    wp_list_append_p(result, part);
}

static wp_list *split_blank(wp_list *result, const wp_str *s, int64_t most)
{
    int64_t i = 0, n = s->length;
    int of_bytes = is_bytes(s);
    for (;;) {
        while (i < n && is_space(wp_str_code(s, i), of_bytes))
            i++;
        if (i == n)
            return result;
        if (most-- == 0) {
            add_part(result, s, i, n);
            return result;
        }
        int64_t start = i;
        while (i < n && !is_space(wp_str_code(s, i), of_bytes))
            i++;
        add_part(result, s, start, i);
    }
}

static wp_list *rsplit_blank(wp_list *result, const wp_str *s, int64_t most)
{
    int64_t i = s->length;
    int of_bytes = is_bytes(s);
    for (;;) {
        while (i > 0 && is_space(wp_str_code(s, i - 1), of_bytes))
            i--;
        if (i == 0)
            break;
        if (most-- == 0) {
            add_part(result, s, 0, i);
            break;
        }
        int64_t stop = i;
        while (i > 0 && !is_space(wp_str_code(s, i - 1), of_bytes))
            i--;
        add_part(result, s, i, stop);
    }
    wp_list_reverse(result);
    return result;
}

wp_list *wp_str_split(const wp_type *list_type, const wp_str *s, const wp_str *separator, int64_t most, int64_t line)
{
    wp_list *result = wp_list_new(list_type, 0, 8);
    if (separator == NULL)
        return split_blank(result, s, most);
    if (separator->length == 0) {
        wp_raise(WP_VALUE_ERROR, "empty separator", line);
        return result;
    }
    int64_t start = 0, at;
    while (most-- != 0 && (at = search(s, separator, start, s->length)) >= 0) {
        add_part(result, s, start, at);
        start = at + separator->length;
    }
    add_part(result, s, start, s->length);
    return result;
}

wp_list *wp_str_rsplit(const wp_type *list_type, const wp_str *s, const wp_str *separator, int64_t most, int64_t line)
{
    wp_list *result = wp_list_new(list_type, 0, 8);
    if (separator == NULL)
        return rsplit_blank(result, s, most);
    if (separator->length == 0) {
        wp_raise(WP_VALUE_ERROR, "empty separator", line);
        return result;
    }
    int64_t stop = s->length, at;
    while (most-- != 0 && (at = search_back(s, separator, 0, stop)) >= 0) {
        add_part(result, s, at + separator->length, stop);
        stop = at;
    }
    add_part(result, s, 0, stop);
    wp_list_reverse(result);
    return result;
}

wp_list *wp_str_splitlines(const wp_type *list_type, const wp_str *s, int64_t keepends)
{
    wp_list *result = wp_list_new(list_type, 0, 8);
    int of_bytes = is_bytes(s);
    for (int64_t i = 0; i < s->length;) {
        int64_t start = i;
        while (i < s->length && !is_line_break(wp_str_code(s, i), of_bytes))
            i++;
        int64_t stop = i;
        if (i < s->length)
            i += wp_str_code(s, i) == '\r' && i + 1 < s->length && wp_str_code(s, i + 1) == '\n' ? 2 : 1;
        add_part(result, s, start, keepends ? i : stop);
    }
    return result;
}

wp_list *wp_str_chars(const wp_type *list_type, const wp_str *s)
{
    wp_list *result = wp_list_new(list_type, 0, s->length);
    for (int64_t i = 0; i < s->length; i++)
        wp_list_append_p(result, wp_str_char(wp_str_code(s, i)));
    return result;
}

/* --- replace, strip --- */

static uint8_t *put_characters(uint8_t *to, int32_t width, const wp_str *s, int64_t start, int64_t stop)
{
    wp_str part = *s;
    part.data = s->data + start * s->width;
    part.length = stop - start;
    copy_characters(to, width, &part);
    return to + part.length * width;
}

wp_str *wp_str_replace(const wp_str *s, const wp_str *old, const wp_str *new_, int64_t most)
{
    int64_t count = 0, at;
    if (most == 0 || (old->length > 0 && old->width > s->width))
        return (wp_str *)s;
    if (old->length == 0)
        count = s->length + 1;
    else
        for (at = search(s, old, 0, s->length); at >= 0; at = search(s, old, at + old->length, s->length))
            count++;
    if (most >= 0 && count > most)
        count = most;
    if (count == 0 || (s->length == 0 && new_->length == 0))
        return (wp_str *)s;
    int32_t width = s->width > new_->width || new_->length == 0 ? s->width : new_->width;
    int64_t added, length;
    if (__builtin_mul_overflow(count, new_->length - old->length, &added) || __builtin_add_overflow(s->length, added, &length))
        wp_deopt("a string beyond memory", 0);
    if (length == 0)
        return nothing_like(s);
    wp_str *result = str_room(s->head.type, length, width, s->ascii & new_->ascii);
    uint8_t *to = result->data;
    int64_t from = 0;
    for (int64_t k = 0; k < count; k++) {
        if (old->length == 0) {
            if (k > 0) {
                to = put_characters(to, width, s, from, from + 1);
                from++;
            }
        } else {
            at = search(s, old, from, s->length);
            to = put_characters(to, width, s, from, at);
            from = at + old->length;
        }
        to = put_characters(to, width, new_, 0, new_->length);
    }
    put_characters(to, width, s, from, s->length);
    return result->ascii || is_bytes(s) ? result : str_narrow(result);
}

static int is_among(uint32_t code, const wp_str *chars)
{
    for (int64_t i = 0; i < chars->length; i++)
        if (wp_str_code(chars, i) == code)
            return 1;
    return 0;
}

wp_str *wp_str_strip(const wp_str *s, const wp_str *chars, int64_t sides)
{
    int64_t start = 0, stop = s->length;
    int of_bytes = is_bytes(s);
#define STRIPPED(k) (chars == NULL ? is_space(wp_str_code(s, k), of_bytes) : is_among(wp_str_code(s, k), chars))
    if (sides & 1)
        while (start < stop && STRIPPED(start))
            start++;
    if (sides & 2)
        while (stop > start && STRIPPED(stop - 1))
            stop--;
#undef STRIPPED
    return str_part(s, start, stop - start);
}

/* --- case and tests --- */

static const wp_type *const str_types[] = {&wp_str_type};
static const wp_type *const bytes_types[] = {&wp_bytes_type};
static const wp_spec str_spec = {'p', 0, 1, str_types}, bytes_spec = {'p', 0, 1, bytes_types};
static const wp_spec bool_spec = {'b', 1u << WP_BOOL, 0, NULL};

static wp_str *by_method(const char *name, const wp_str *s)
{
    wp_val argument = wp_of_p(s);
    return wp_call_method(name, &argument, 1, is_bytes(s) ? &bytes_spec : &str_spec, 0).u.p;
}

wp_str *wp_str_upper(const wp_str *s)
{
    if (!s->ascii)
        return by_method("upper", s);
    wp_str *result = str_room(s->head.type, s->length, 1, 1);
    for (int64_t i = 0; i < s->length; i++)
        result->data[i] = s->data[i] >= 'a' && s->data[i] <= 'z' ? s->data[i] - 32 : s->data[i];
    return result;
}

wp_str *wp_str_lower(const wp_str *s)
{
    if (!s->ascii)
        return by_method("lower", s);
    wp_str *result = str_room(s->head.type, s->length, 1, 1);
    for (int64_t i = 0; i < s->length; i++)
        result->data[i] = s->data[i] >= 'A' && s->data[i] <= 'Z' ? s->data[i] + 32 : s->data[i];
    return result;
}

enum { IS_ALPHA, IS_DIGIT, IS_ALNUM, IS_SPACE, IS_UPPER, IS_LOWER, IS_DECIMAL, IS_NUMERIC, IS_TITLE, IS_IDENTIFIER, IS_PRINTABLE, IS_ASCII };

static inline int is_lower(uint8_t c) { return c >= 'a' && c <= 'z'; }
static inline int is_upper(uint8_t c) { return c >= 'A' && c <= 'Z'; }
static inline int is_digit(uint8_t c) { return c >= '0' && c <= '9'; }

/* One cased character at least, and none of the other case. */
static int64_t all_of_case(const wp_str *s, int upper)
{
    int cased = 0;
    for (int64_t i = 0; i < s->length; i++) {
        if (upper ? is_lower(s->data[i]) : is_upper(s->data[i]))
            return 0;
        cased |= is_lower(s->data[i]) || is_upper(s->data[i]);
    }
    return cased;
}

static int64_t is_title(const wp_str *s)
{
    int cased = 0, previous = 0;
    for (int64_t i = 0; i < s->length; i++) {
        uint8_t c = s->data[i];
        if ((is_upper(c) && previous) || (is_lower(c) && !previous))
            return 0;
        previous = is_upper(c) || is_lower(c);
        cased |= previous;
    }
    return cased;
}

int64_t wp_str_test(const wp_str *s, int32_t which)
{
    static const char *const names[] = {"isalpha", "isdigit", "isalnum", "isspace", "isupper", "islower", "isdecimal", "isnumeric", "istitle", "isidentifier", "isprintable", "isascii"};
    if (which == IS_ASCII && !is_bytes(s))
        return s->ascii;
    if (!s->ascii || is_bytes(s)) {
        wp_val argument = wp_of_p(s);
        return wp_call_method(names[which], &argument, 1, &bool_spec, 0).u.i;
    }
    if (which == IS_UPPER || which == IS_LOWER)
        return all_of_case(s, which == IS_UPPER);
    if (which == IS_TITLE)
        return is_title(s);
    if (s->length == 0)
        return which == IS_PRINTABLE;
    for (int64_t i = 0; i < s->length; i++) {
        uint8_t c = s->data[i];
        int letter = is_lower(c) || is_upper(c), fits = 0;
        switch (which) {
        case IS_ALPHA: fits = letter; break;
        case IS_DIGIT:
        case IS_DECIMAL:
        case IS_NUMERIC: fits = is_digit(c); break;
        case IS_ALNUM: fits = letter || is_digit(c); break;
        case IS_SPACE: fits = is_space(c, 0); break;
        case IS_IDENTIFIER: fits = letter || c == '_' || (i > 0 && is_digit(c)); break;
        default: fits = c >= 32 && c < 127;
        }
        if (!fits)
            return 0;
    }
    return 1;
}
