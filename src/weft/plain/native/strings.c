/* Strings and bytes: making, comparing, searching. Characters of 1, 2 or 4 bytes, always the least that holds them all.

   Short strings carry their characters in their own block; slices share those of what they are cut from. */

#include "api.h"

enum { SHORT_BYTES = 72 };

const wp_type wp_str_type = {.kind = WP_STR, .size = sizeof(wp_str), .name = "str"};
const wp_type wp_bytes_type = {.kind = WP_BYTES, .size = sizeof(wp_str), .name = "bytes"};

__attribute__((weak)) Py_ssize_t _Py_HashBytes(const void *, Py_ssize_t);
__attribute__((weak)) Py_ssize_t Py_HashBuffer(const void *, Py_ssize_t);

static wp_str one_character[256];
static uint8_t latin_characters[256];
static wp_str empty_str, empty_bytes;

static inline int is_bytes(const wp_str *s) { return s->head.type->kind == WP_BYTES; }

static void start_strings(void)
{
    for (int c = 0; c < 256; c++) {
        latin_characters[c] = (uint8_t)c;
        one_character[c] = (wp_str){{&wp_str_type, NULL}, -1, 1, 1, c < 128, &latin_characters[c], NULL};
    }
    empty_str = (wp_str){{&wp_str_type, NULL}, 0, 0, 1, 1, latin_characters, NULL};
    empty_bytes = (wp_str){{&wp_bytes_type, NULL}, 0, 0, 1, 1, latin_characters, NULL};
}

static inline wp_str *nothing_like(const wp_str *s) { return is_bytes(s) ? &empty_bytes : &empty_str; }

/* A string whose characters are to be written. */
static wp_str *str_room(const wp_type *type, int64_t length, int32_t width, int32_t ascii)
{
    int64_t bytes = length * width;
    wp_str *s;
    if (length > (int64_t)1 << 40)
        wp_deopt("a string beyond memory", 0);
    if (bytes <= SHORT_BYTES) {
        s = heap_block(OBJECTS, (int64_t)sizeof *s + bytes);
        s->data = (uint8_t *)(s + 1);
    } else {
        struct wp_buffer *buffer = heap_block(PLAIN, (int64_t)sizeof *buffer + bytes);
        buffer->used = buffer->capacity = bytes;
        s = heap_block(OBJECTS, sizeof *s);
        s->data = buffer->data;
        s->buffer = buffer;
    }
    s->head.type = type;
    s->hash = -1;
    s->length = length;
    s->width = width;
    s->ascii = ascii;
    return s;
}

/* Characters [start, start + length) of the same buffer. */
static wp_str *str_part(const wp_str *s, int64_t start, int64_t length)
{
    if (length == s->length)
        return (wp_str *)s;
    if (length == 0)
        return nothing_like(s);
    if (!is_bytes(s) && length == 1) {
        uint32_t code = wp_str_code(s, start);
        if (code < 256)
            return &one_character[code];
    }
    if (s->width == 1) {
        wp_str *part = heap_block(OBJECTS, sizeof *part);
        part->head.type = s->head.type;
        part->hash = -1;
        part->length = length;
        part->width = 1;
        part->data = s->data + start;
        part->buffer = s->buffer;
        part->ascii = s->ascii;
        if (!s->ascii && !is_bytes(s)) {
            uint8_t any = 0;
            for (int64_t i = 0; i < length; i++)
                any |= part->data[i];
            part->ascii = any < 128;
        }
        return part;
    }
    uint32_t any = 0;
    for (int64_t i = 0; i < length; i++)
        any |= wp_str_code(s, start + i);
    int32_t width = any < 0x100 ? 1 : any < 0x10000 ? 2 : 4;
    if (width == s->width) {
        wp_str *part = heap_block(OBJECTS, sizeof *part);
        *part = *s;
        part->head.origin = NULL;
        part->hash = -1;
        part->length = length;
        part->data = s->data + start * width;
        return part;
    }
    wp_str *part = str_room(s->head.type, length, width, any < 128);
    for (int64_t i = 0; i < length; i++) {
        uint32_t code = wp_str_code(s, start + i);
        if (width == 1)
            part->data[i] = (uint8_t)code;
        else
            ((uint16_t *)part->data)[i] = (uint16_t)code;
    }
    return part;
}

/* The same characters in the least width: for a string that was made in too large a one. */
static wp_str *str_narrow(wp_str *s)
{
    if (s->length == 0)
        return nothing_like(s);
    uint32_t any = 0;
    for (int64_t i = 0; i < s->length; i++)
        any |= wp_str_code(s, i);
    int32_t width = any < 0x100 ? 1 : any < 0x10000 ? 2 : 4;
    if (width == s->width) {
        s->ascii = any < 128;
        return s;
    }
    wp_str *result = str_room(s->head.type, s->length, width, any < 128);
    for (int64_t i = 0; i < s->length; i++) {
        uint32_t code = wp_str_code(s, i);
        if (width == 1)
            result->data[i] = (uint8_t)code;
        else
            ((uint16_t *)result->data)[i] = (uint16_t)code;
    }
    return result;
}

static void copy_characters(uint8_t *to, int32_t width, const wp_str *s)
{
    if (width == s->width)
        memcpy(to, s->data, (size_t)(s->length * width));
    else if (width == 2)
        for (int64_t i = 0; i < s->length; i++)
            ((uint16_t *)to)[i] = s->data[i];
    else if (s->width == 1)
        for (int64_t i = 0; i < s->length; i++)
            ((uint32_t *)to)[i] = s->data[i];
    else
        for (int64_t i = 0; i < s->length; i++)
            ((uint32_t *)to)[i] = ((uint16_t *)s->data)[i];
}

static wp_str *str_of_ascii(const char *text, int64_t length)
{
    wp_str *s = str_room(&wp_str_type, length, 1, 1);
    memcpy(s->data, text, (size_t)length);
    return s;
}

wp_str *wp_str_char(uint32_t code)
{
    if (code < 256)
        return &one_character[code];
    wp_str *s = str_room(&wp_str_type, 1, code < 0x10000 ? 2 : 4, 0);
    if (s->width == 2)
        *(uint16_t *)s->data = (uint16_t)code;
    else
        *(uint32_t *)s->data = code;
    return s;
}

wp_str *wp_str_item(const wp_str *s, int64_t i, int64_t line)
{
    int64_t k = wp_index(i, s->length);
    if (WP_UNLIKELY((uint64_t)k >= (uint64_t)s->length)) {
        wp_raise(WP_INDEX_ERROR, "string index out of range", line);
        return &empty_str;
    }
    return wp_str_char(wp_str_code(s, k));
}

int64_t wp_bytes_item(const wp_str *s, int64_t i, int64_t line)
{
    int64_t k = wp_index(i, s->length);
    if (WP_UNLIKELY((uint64_t)k >= (uint64_t)s->length)) {
        wp_raise(WP_INDEX_ERROR, "index out of range", line);
        return 0;
    }
    return s->data[k];
}

wp_str *wp_str_slice(const wp_str *s, int64_t start, int64_t stop, int64_t step)
{
    int64_t count = wp_range_length(start, stop, step);
    if (count == 0)
        return nothing_like(s);
    if (step == 1)
        return str_part(s, start, count);
    wp_str *result = str_room(s->head.type, count, s->width, s->ascii);
    for (int64_t k = 0; k < count; k++) {
        uint32_t code = wp_str_code(s, start + k * step);
        if (s->width == 1)
            result->data[k] = (uint8_t)code;
        else if (s->width == 2)
            ((uint16_t *)result->data)[k] = (uint16_t)code;
        else
            ((uint32_t *)result->data)[k] = code;
    }
    return s->ascii || is_bytes(s) ? result : str_narrow(result);
}

wp_str *wp_str_concat(wp_str *a, wp_str *b)
{
    if (b->length == 0)
        return a;
    if (a->length == 0)
        return b;
    int32_t width = a->width > b->width ? a->width : b->width;
    int64_t length = a->length + b->length, bytes = length * width;
    struct wp_buffer *buffer = a->buffer;
    int at_end = buffer != NULL && width == a->width && a->data + a->length * width == buffer->data + buffer->used;
    if (at_end && buffer->capacity - buffer->used >= b->length * width) {
        wp_str *s = heap_block(OBJECTS, sizeof *s);
        *s = *a;
        s->head.origin = NULL;
        s->hash = -1;
        copy_characters(buffer->data + buffer->used, width, b);
        buffer->used += b->length * width;
        s->length = length;
        s->ascii = a->ascii & b->ascii;
        return s;
    }
    if (bytes <= SHORT_BYTES) {
        wp_str *s = str_room(a->head.type, length, width, a->ascii & b->ascii);
        copy_characters(s->data, width, a);
        copy_characters(s->data + a->length * width, width, b);
        return s;
    }
    int64_t capacity = at_end || a->buffer == NULL ? 2 * bytes : bytes + 32;
    buffer = heap_block(PLAIN, (int64_t)sizeof *buffer + capacity);
    buffer->capacity = capacity;
    buffer->used = bytes;
    wp_str *s = heap_block(OBJECTS, sizeof *s);
    s->head.type = a->head.type;
    s->hash = -1;
    s->length = length;
    s->width = width;
    s->ascii = a->ascii & b->ascii;
    s->data = buffer->data;
    s->buffer = buffer;
    copy_characters(s->data, width, a);
    copy_characters(s->data + a->length * width, width, b);
    return s;
}

wp_str *wp_str_repeat(const wp_str *s, int64_t times)
{
    int64_t length;
    if (times <= 0 || s->length == 0)
        return nothing_like(s);
    if (times == 1)
        return (wp_str *)s;
    if (__builtin_mul_overflow(s->length, times, &length))
        wp_deopt("a string beyond memory", 0);
    wp_str *result = str_room(s->head.type, length, s->width, s->ascii);
    int64_t bytes = s->length * s->width;
    if (bytes == 1)
        memset(result->data, s->data[0], (size_t)length);
    else
        for (int64_t k = 0; k < times; k++)
            memcpy(result->data + k * bytes, s->data, (size_t)bytes);
    return result;
}

/* --- hash and comparison --- */

static int64_t hash_str(const wp_str *s)
{
    if (s->hash != -1)
        return s->hash;
    int64_t hash;
    if (s->length == 0)
        hash = 0;
    else if (_Py_HashBytes != NULL)
        hash = _Py_HashBytes(s->data, s->length * s->width);
    else if (Py_HashBuffer != NULL)
        hash = Py_HashBuffer(s->data, s->length * s->width);
    else {
        PyObject *python = is_bytes(s) ? PyBytes_FromStringAndSize((char *)s->data, s->length)
                                       : PyUnicode_FromKindAndData(s->width, s->data, s->length);
        if (python == NULL) {
            PyErr_Clear();
            wp_deopt("out of memory", 0);
        }
        hash = PyObject_Hash(python);
        Py_DecRef(python);
    }
    ((wp_str *)s)->hash = hash;
    return hash;
}

int64_t wp_str_equal(const wp_str *a, const wp_str *b)
{
    if (a == b)
        return 1;
    if (a->length != b->length || a->width != b->width || (a->hash != b->hash && a->hash != -1 && b->hash != -1))
        return 0;
    return memcmp(a->data, b->data, (size_t)(a->length * a->width)) == 0;
}

int64_t wp_str_compare(const wp_str *a, const wp_str *b)
{
    int64_t common = a->length < b->length ? a->length : b->length;
    if (a->width == 1 && b->width == 1) {
        int order = memcmp(a->data, b->data, (size_t)common);
        if (order != 0)
            return order < 0 ? -1 : 1;
    } else
        for (int64_t i = 0; i < common; i++) {
            uint32_t x = wp_str_code(a, i), y = wp_str_code(b, i);
            if (x != y)
                return x < y ? -1 : 1;
        }
    return a->length < b->length ? -1 : a->length > b->length;
}

/* --- searching --- */

static void adjust(int64_t *start, int64_t *stop, int64_t length)
{
    if (*stop > length)
        *stop = length;
    else if (*stop < 0)
        *stop = *stop + length < 0 ? 0 : *stop + length;
    if (*start < 0)
        *start = *start + length < 0 ? 0 : *start + length;
}

static inline int matches(const wp_str *s, const wp_str *part, int64_t at)
{
    if (s->width == part->width)
        return memcmp(s->data + at * s->width, part->data, (size_t)(part->length * part->width)) == 0;
    for (int64_t i = 0; i < part->length; i++)
        if (wp_str_code(s, at + i) != wp_str_code(part, i))
            return 0;
    return 1;
}

/* The first match at or after `start` that ends at or before `stop`; the part is not empty. */
static int64_t search(const wp_str *s, const wp_str *part, int64_t start, int64_t stop)
{
    if (stop - start < part->length || part->width > s->width)
        return -1;
    if (s->width == 1) {
        const uint8_t *found = part->length == 1 ? memchr(s->data + start, part->data[0], (size_t)(stop - start))
                                                 : memmem(s->data + start, (size_t)(stop - start), part->data, (size_t)part->length);
        return found == NULL ? -1 : found - s->data;
    }
    uint32_t first = wp_str_code(part, 0);
    for (int64_t i = start; i + part->length <= stop; i++)
        if (wp_str_code(s, i) == first && matches(s, part, i))
            return i;
    return -1;
}

static int64_t search_back(const wp_str *s, const wp_str *part, int64_t start, int64_t stop)
{
    if (part->width > s->width)
        return -1;
    uint32_t first = wp_str_code(part, 0);
    for (int64_t i = stop - part->length; i >= start; i--)
        if (wp_str_code(s, i) == first && matches(s, part, i))
            return i;
    return -1;
}

int64_t wp_str_find(const wp_str *s, const wp_str *part, int64_t start, int64_t stop)
{
    adjust(&start, &stop, s->length);
    if (stop - start < part->length)
        return -1;
    return part->length == 0 ? start : search(s, part, start, stop);
}

int64_t wp_str_rfind(const wp_str *s, const wp_str *part, int64_t start, int64_t stop)
{
    adjust(&start, &stop, s->length);
    if (stop - start < part->length)
        return -1;
    return part->length == 0 ? stop : search_back(s, part, start, stop);
}

int64_t wp_str_count(const wp_str *s, const wp_str *part, int64_t start, int64_t stop)
{
    adjust(&start, &stop, s->length);
    if (stop - start < part->length)
        return 0;
    if (part->length == 0)
        return stop - start + 1;
    int64_t count = 0;
    for (int64_t at = search(s, part, start, stop); at >= 0; at = search(s, part, at + part->length, stop))
        count++;
    return count;
}

int64_t wp_str_starts(const wp_str *s, const wp_str *part, int64_t start, int64_t stop)
{
    adjust(&start, &stop, s->length);
    if (stop - part->length < start)
        return 0;
    return part->length == 0 || matches(s, part, start);
}

int64_t wp_str_ends(const wp_str *s, const wp_str *part, int64_t start, int64_t stop)
{
    adjust(&start, &stop, s->length);
    if (stop - part->length < start)
        return 0;
    return part->length == 0 || matches(s, part, stop - part->length);
}

int64_t wp_str_ord(const wp_str *s, int64_t line)
{
    if (s->length != 1) {
        char message[96];
        snprintf(message, sizeof message, "ord() expected a character, but string of length %lld found", (long long)s->length);
        wp_raise(WP_TYPE_ERROR, message, line);
        return 0;
    }
    return wp_str_code(s, 0);
}

/* --- numbers --- */

wp_str *wp_str_of_i(int64_t x)
{
    char text[24], *at = text + sizeof text;
    uint64_t size = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    if (size < 10 && x >= 0)
        return &one_character['0' + size];
    do {
        *--at = (char)('0' + size % 10);
        size /= 10;
    } while (size != 0);
    if (x < 0)
        *--at = '-';
    return str_of_ascii(at, text + sizeof text - at);
}

wp_str *wp_str_of_d(double x)
{
    char *text = PyOS_double_to_string(x, 'r', 0, 2 /* add ".0" */, NULL);
    if (text == NULL) {
        PyErr_Clear();
        wp_deopt("out of memory", 0);
    }
    char copy[64];
    size_t length = strlen(text);
    memcpy(copy, text, length < sizeof copy ? length : sizeof copy);
    PyMem_Free(text);
    return str_of_ascii(copy, (int64_t)length);
}
