/* Lists, and tuples of any length: a block of items of 8 or 16 bytes. */

#include "api.h"

wp_list *wp_list_new(const wp_type *type, int64_t length, int64_t capacity)
{
    if (capacity < length)
        capacity = length;
    wp_list *l = heap_block(OBJECTS, sizeof *l);
    l->head.type = type;
    if (capacity > 0) {
        if (capacity > (int64_t)1 << 42)
            wp_deopt("a list beyond memory", 0);
        l->data = heap_block(flavour_of(item_repr(type)), capacity * item_width(type));
    }
    l->length = length;
    l->capacity = capacity;
    return l;
}

static void list_reserve(wp_list *l, int64_t capacity)
{
    if (capacity <= l->capacity)
        return;
    int64_t width = item_width(l->head.type);
    if (capacity > (int64_t)1 << 42)
        wp_deopt("a list beyond memory", 0);
    l->data = heap_larger(l->data, flavour_of(item_repr(l->head.type)), l->capacity * width, capacity * width);
    l->capacity = capacity;
}

void wp_list_grow(wp_list *l, int64_t width)
{
    (void)width;
    list_reserve(l, l->capacity < 4 ? 4 : l->capacity < 4096 ? 2 * l->capacity : l->capacity + l->capacity / 2);
}

/* --- slices --- */

int64_t wp_range_length(int64_t start, int64_t stop, int64_t step)
{
    if (step > 0)
        return start < stop ? (int64_t)(((uint64_t)stop - (uint64_t)start - 1) / (uint64_t)step) + 1 : 0;
    return start > stop ? (int64_t)(((uint64_t)start - (uint64_t)stop - 1) / (0 - (uint64_t)step)) + 1 : 0;
}

static int64_t slice_place(wp_val value, int64_t length, int64_t low, int64_t high, int64_t missing)
{
    if (value.tag == WP_NONE)
        return missing;
    int64_t i = value.u.i;
    if (i < 0) {
        i += length;
        return i < low ? low : i;
    }
    return i > high ? high : i;
}

void wp_slice_bounds(wp_val start, wp_val stop, wp_val step, int64_t length, int64_t *out, int64_t line)
{
    int64_t by = step.tag == WP_NONE ? 1 : step.u.i;
    out[0] = out[1] = 0;
    out[2] = 1;
    if (by == 0) {
        wp_raise(WP_VALUE_ERROR, "slice step cannot be zero", line);
        return;
    }
    if (by == INT64_MIN)
        by = -INT64_MAX;
    int64_t low = by < 0 ? -1 : 0, high = by < 0 ? length - 1 : length;
    out[0] = slice_place(start, length, low, high, by < 0 ? high : low);
    out[1] = slice_place(stop, length, low, high, by < 0 ? low : high);
    out[2] = by;
}

wp_list *wp_list_slice(const wp_type *type, const wp_list *l, int64_t start, int64_t stop, int64_t step)
{
    int64_t count = wp_range_length(start, stop, step), width = item_width(l->head.type);
    wp_list *result = wp_list_new(type, count, count);
    if (count == 0)
        return result;
    if (step == 1)
        memcpy(result->data, l->data + start * width, (size_t)(count * width));
    else if (width == 8)
        for (int64_t k = 0; k < count; k++)
            ((int64_t *)result->data)[k] = ((int64_t *)l->data)[start + k * step];
    else
        for (int64_t k = 0; k < count; k++)
            ((wp_val *)result->data)[k] = ((wp_val *)l->data)[start + k * step];
    return result;
}

void wp_list_set_slice(wp_list *l, int64_t start, int64_t stop, const wp_list *items, int64_t line)
{
    (void)line;
    if (stop < start)
        stop = start;
    int64_t width = item_width(l->head.type), count = items->length, removed = stop - start, tail = l->length - stop;
    if (items == l) /* its own items move away while they are copied */
        items = wp_list_slice(l->head.type, l, 0, l->length, 1);
    list_reserve(l, l->length - removed + count);
    if (tail > 0 && removed != count)
        memmove(l->data + (start + count) * width, l->data + stop * width, (size_t)(tail * width));
    if (count > 0)
        memcpy(l->data + start * width, items->data, (size_t)(count * width));
    l->length += count - removed;
}

void wp_list_set_extended(wp_list *l, int64_t start, int64_t stop, int64_t step, const wp_list *items, int64_t line)
{
    int64_t count = wp_range_length(start, stop, step), width = item_width(l->head.type);
    if (step == 1) {
        wp_list_set_slice(l, start, stop, items, line);
        return;
    }
    if (items->length != count) {
        char message[120];
        snprintf(message, sizeof message, "attempt to assign sequence of size %lld to extended slice of size %lld",
                 (long long)items->length, (long long)count);
        wp_raise(WP_VALUE_ERROR, message, line);
        return;
    }
    if (items == l)
        items = wp_list_slice(l->head.type, l, 0, l->length, 1);
    for (int64_t k = 0; k < count; k++)
        memcpy(l->data + (start + k * step) * width, items->data + k * width, (size_t)width);
}

void wp_list_delete_slice(wp_list *l, int64_t start, int64_t stop, int64_t step)
{
    int64_t count = wp_range_length(start, stop, step), width = item_width(l->head.type);
    if (count == 0)
        return;
    if (step < 0) {
        start += (count - 1) * step;
        step = -step;
    }
    int64_t to = start;
    for (int64_t k = 0; k < count; k++) {
        int64_t from = start + k * step + 1, end = k + 1 < count ? from + step - 1 : l->length;
        memmove(l->data + to * width, l->data + from * width, (size_t)((end - from) * width));
        to += end - from;
    }
    l->length -= count;
}

/* --- changes --- */

void wp_list_extend(wp_list *l, const wp_list *items)
{
    int64_t width = item_width(l->head.type), count = items->length;
    if (count == 0)
        return;
    int64_t wanted = l->length + count;
    if (wanted > l->capacity)
        list_reserve(l, l->length == 0 || count > l->length ? wanted : wanted + wanted / 2);
    memcpy(l->data + l->length * width, items->data, (size_t)(count * width));
    l->length = wanted;
}

int64_t wp_list_clamp(const wp_list *l, int64_t index)
{
    if (index < 0) {
        index += l->length;
        return index < 0 ? 0 : index;
    }
    return index > l->length ? l->length : index;
}

void wp_list_insert_room(wp_list *l, int64_t index)
{
    int64_t width = item_width(l->head.type);
    if (l->length == l->capacity)
        wp_list_grow(l, width);
    memmove(l->data + (index + 1) * width, l->data + index * width, (size_t)((l->length - index) * width));
    memset(l->data + index * width, 0, (size_t)width);
    l->length++;
}

void wp_list_remove_at(wp_list *l, int64_t index, int64_t line)
{
    (void)line;
    int64_t width = item_width(l->head.type);
    l->length--;
    memmove(l->data + index * width, l->data + (index + 1) * width, (size_t)((l->length - index) * width));
}

int64_t wp_list_pop_index(wp_list *l, int64_t index, int64_t line)
{
    if (l->length == 0) {
        wp_raise(WP_INDEX_ERROR, "pop from empty list", line);
        return -1;
    }
    int64_t k = wp_index(index, l->length);
    if ((uint64_t)k >= (uint64_t)l->length) {
        wp_raise(WP_INDEX_ERROR, "pop index out of range", line);
        return -1;
    }
    return k;
}

wp_list *wp_list_repeat(const wp_type *type, const wp_list *l, int64_t times)
{
    int64_t width = item_width(l->head.type), length = l->length, total;
    if (times <= 0 || length == 0)
        return wp_list_new(type, 0, 0);
    if (__builtin_mul_overflow(length, times, &total))
        wp_deopt("a list beyond memory", 0);
    wp_list *result = wp_list_new(type, total, total);
    if (length == 1 && width == 8) {
        int64_t item = *(int64_t *)l->data;
        if (item != 0) /* memory comes zeroed */
            for (int64_t k = 0; k < total; k++)
                ((int64_t *)result->data)[k] = item;
        return result;
    }
    for (int64_t k = 0; k < times; k++)
        memcpy(result->data + k * length * width, l->data, (size_t)(length * width));
    return result;
}

void wp_list_repeat_in_place(wp_list *l, int64_t times)
{
    wp_list *repeated = wp_list_repeat(l->head.type, l, times);
    l->data = repeated->data;
    l->length = repeated->length;
    l->capacity = repeated->capacity;
}

wp_list *wp_list_concat(const wp_type *type, const wp_list *a, const wp_list *b)
{
    int64_t width = item_width(type);
    wp_list *result = wp_list_new(type, a->length + b->length, 0);
    if (a->length > 0)
        memcpy(result->data, a->data, (size_t)(a->length * width));
    if (b->length > 0)
        memcpy(result->data + a->length * width, b->data, (size_t)(b->length * width));
    return result;
}

void wp_list_reverse(wp_list *l)
{
    int64_t i = 0, k = l->length - 1;
    if (item_width(l->head.type) == 8)
        for (int64_t *items = (int64_t *)l->data; i < k; i++, k--) {
            int64_t item = items[i];
            items[i] = items[k];
            items[k] = item;
        }
    else
        for (wp_val *items = (wp_val *)l->data; i < k; i++, k--) {
            wp_val item = items[i];
            items[i] = items[k];
            items[k] = item;
        }
}

int64_t wp_list_find(const wp_list *l, wp_val x, int64_t start, int64_t stop)
{
    char repr = item_repr(l->head.type);
    int64_t width = item_width(l->head.type);
    if (stop > l->length)
        stop = l->length;
    if (repr == 'i' && (x.tag == WP_INT || x.tag == WP_BOOL)) {
        for (int64_t k = start; k < stop; k++)
            if (((int64_t *)l->data)[k] == x.u.i)
                return k;
        return -1;
    }
    if (repr == 'p' && kind_of(x) == WP_STR) {
        for (int64_t k = start; k < stop; k++) {
            wp_object *item = ((wp_object **)l->data)[k];
            if (item == x.u.p || (item != NULL && item->type->kind == WP_STR && wp_str_equal((wp_str *)item, x.u.p)))
                return k;
        }
        return -1;
    }
    for (int64_t k = start; k < stop && k < l->length; k++)
        if (equal_items(wp_from_slot(l->data + k * width, repr), x))
            return k;
    return -1;
}

/* --- sorting: stable, by merging runs --- */

static inline int less_i(int64_t a, int64_t b) { return a < b; }
static inline int less_d(double a, double b) { return a < b; }
static inline int less_s(const wp_str *a, const wp_str *b) { return wp_str_compare(a, b) < 0; }
static inline int less_v(wp_val a, wp_val b)
{
    int less = (int)wp_less(a, b);
    if (wp_exception != NULL)
        wp_deopt("items that cannot be compared", 0);
    return less;
}
static inline int less_p(void *a, void *b) { return less_v(wp_of_p(a), wp_of_p(b)); }

typedef wp_str *str_pointer;
typedef void *any_pointer;

#define SORT(R, T)                                                                                                     \
    static void insert_##R(T *items, int64_t low, int64_t high)                                                        \
    {                                                                                                                  \
        for (int64_t i = low + 1; i < high; i++) {                                                                     \
            T item = items[i];                                                                                         \
            int64_t k = i;                                                                                             \
            for (; k > low && less_##R(item, items[k - 1]); k--)                                                       \
                items[k] = items[k - 1];                                                                               \
            items[k] = item;                                                                                           \
        }                                                                                                              \
    }                                                                                                                  \
    static void merge_##R(T *from, T *to, int64_t low, int64_t middle, int64_t high)                                   \
    {                                                                                                                  \
        int64_t a = low, b = middle, k = low;                                                                          \
        if (middle >= high || !less_##R(from[middle], from[middle - 1])) {                                             \
            memcpy(to + low, from + low, (size_t)(high - low) * sizeof(T));                                            \
            return;                                                                                                    \
        }                                                                                                              \
        while (a < middle && b < high)                                                                                 \
            to[k++] = less_##R(from[b], from[a]) ? from[b++] : from[a++];                                              \
        memcpy(to + k, from + a, (size_t)(middle - a) * sizeof(T));                                                    \
        memcpy(to + k + (middle - a), from + b, (size_t)(high - b) * sizeof(T));                                       \
    }                                                                                                                  \
    /* One ascending run is left as it is, a strictly descending one is turned round. */                               \
    static int is_run_##R(T *items, int64_t count)                                                                     \
    {                                                                                                                  \
        int64_t k = 1;                                                                                                 \
        while (k < count && !less_##R(items[k], items[k - 1]))                                                         \
            k++;                                                                                                       \
        if (k == count)                                                                                                \
            return 1;                                                                                                  \
        if (k > 1)                                                                                                     \
            return 0;                                                                                                  \
        while (k < count && less_##R(items[k], items[k - 1]))                                                          \
            k++;                                                                                                       \
        if (k < count)                                                                                                 \
            return 0;                                                                                                  \
        for (int64_t i = 0; i < --k; i++) {                                                                            \
            T item = items[i];                                                                                         \
            items[i] = items[k];                                                                                       \
            items[k] = item;                                                                                           \
        }                                                                                                              \
        return 1;                                                                                                      \
    }                                                                                                                  \
    static void sort_##R(T *items, int64_t count)                                                                      \
    {                                                                                                                  \
        enum { RUN = 16 };                                                                                             \
        if (count < 2 || is_run_##R(items, count))                                                                     \
            return;                                                                                                    \
        for (int64_t low = 0; low < count; low += RUN)                                                                 \
            insert_##R(items, low, low + RUN < count ? low + RUN : count);                                             \
        if (count <= RUN)                                                                                              \
            return;                                                                                                    \
        T *from = items, *to = heap_block(REFERENCES, count * (int64_t)sizeof(T)), *other = to;                        \
        for (int64_t size = RUN; size < count; size *= 2) {                                                            \
            for (int64_t low = 0; low < count; low += 2 * size) {                                                      \
                int64_t middle = low + size < count ? low + size : count;                                              \
                merge_##R(from, to, low, middle, low + 2 * size < count ? low + 2 * size : count);                     \
            }                                                                                                          \
            T *swap = from;                                                                                            \
            from = to;                                                                                                 \
            to = swap;                                                                                                 \
        }                                                                                                              \
        if (from == other)                                                                                             \
            memcpy(items, other, (size_t)count * sizeof(T));                                                           \
    }
SORT(i, int64_t)
SORT(d, double)
SORT(s, str_pointer)
SORT(p, any_pointer)
SORT(v, wp_val)

/* Digits of 11 bits, from the lowest; for many integers. */
static void sort_digits(int64_t *items, int64_t count)
{
    enum { DIGIT = 11, PASSES = 6 };
    uint64_t low = UINT64_MAX, high = 0, flip = (uint64_t)1 << 63;
    for (int64_t k = 0; k < count; k++) {
        uint64_t x = (uint64_t)items[k] ^ flip;
        low = x < low ? x : low;
        high = x > high ? x : high;
    }
    uint64_t spread = high - low;
    int64_t *from = items, *to = heap_block(PLAIN, count * 8), *other = to;
    for (int pass = 0; pass < PASSES && (pass == 0 || spread >> (pass * DIGIT) != 0); pass++) {
        int64_t starts[1 << DIGIT] = {0}, sum = 0;
        int shift = pass * DIGIT;
        for (int64_t k = 0; k < count; k++)
            starts[(((uint64_t)from[k] ^ flip) - low) >> shift & ((1 << DIGIT) - 1)]++;
        for (int k = 0; k < 1 << DIGIT; k++) {
            int64_t here = starts[k];
            starts[k] = sum;
            sum += here;
        }
        for (int64_t k = 0; k < count; k++)
            to[starts[(((uint64_t)from[k] ^ flip) - low) >> shift & ((1 << DIGIT) - 1)]++] = from[k];
        int64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from == other)
        memcpy(items, other, (size_t)count * 8);
}

static int all_str(void **items, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        if (items[k] == NULL || ((wp_object *)items[k])->type->kind != WP_STR)
            return 0;
    return 1;
}

void wp_list_sort(wp_list *l, int64_t reverse, int64_t line)
{
    char repr = item_repr(l->head.type);
    if (l->length < 2)
        return;
    if (reverse)
        wp_list_reverse(l);
    switch (repr) {
    case 'i':
    case 'b':
        if (l->length > 2000 && !is_run_i((int64_t *)l->data, l->length))
            sort_digits((int64_t *)l->data, l->length);
        else
            sort_i((int64_t *)l->data, l->length);
        break;
    case 'd':
        for (int64_t k = 0; k < l->length; k++)
            if (((double *)l->data)[k] != ((double *)l->data)[k])
                wp_deopt("NaN in a list that is sorted", line);
        sort_d((double *)l->data, l->length);
        break;
    case 'p':
        if (all_str((void **)l->data, l->length))
            sort_s((wp_str **)l->data, l->length);
        else
            sort_p((void **)l->data, l->length);
        break;
    default: sort_v((wp_val *)l->data, l->length);
    }
    if (reverse)
        wp_list_reverse(l);
}
