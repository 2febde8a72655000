/* Deques: a ring whose capacity is a power of two. */

#include "api.h"

wp_deque *wp_deque_new(const wp_type *type, int64_t maxlen)
{
    wp_deque *q = heap_block(OBJECTS, sizeof *q);
    q->head.type = type;
    q->maxlen = maxlen;
    q->width = item_width(type);
    return q;
}

static inline char *deque_slot(const wp_deque *q, int64_t i)
{
    return q->data + ((q->start + i) & (q->capacity - 1)) * q->width;
}

static void deque_grow(wp_deque *q)
{
    int64_t capacity = q->capacity ? 2 * q->capacity : 8;
    char *data = heap_block(flavour_of(item_repr(q->head.type)), capacity * q->width);
    int64_t first = q->capacity - q->start < q->length ? q->capacity - q->start : q->length;
    if (q->length > 0) {
        memcpy(data, q->data + q->start * q->width, (size_t)(first * q->width));
        memcpy(data + first * q->width, q->data, (size_t)((q->length - first) * q->width));
    }
    q->data = data;
    q->start = 0;
    q->capacity = capacity;
}

int64_t wp_deque_length(const wp_deque *q) { return q->length; }
int64_t wp_deque_maxlen(const wp_deque *q) { return q->maxlen; }
int64_t wp_deque_state(const wp_deque *q) { return q->state; }

void *wp_deque_at(const wp_deque *q, int64_t index, int64_t line)
{
    int64_t k = wp_index(index, q->length);
    if ((uint64_t)k >= (uint64_t)q->length) {
        wp_raise(WP_INDEX_ERROR, "deque index out of range", line);
        return NULL;
    }
    return deque_slot(q, k);
}

static void *deque_drop(wp_deque *q, int64_t i)
{
    memcpy(&q->taken, deque_slot(q, i), (size_t)q->width);
    memset(deque_slot(q, i), 0, (size_t)q->width);
    if (i == 0)
        q->start = (q->start + 1) & (q->capacity - 1);
    q->length--;
    q->state++;
    return &q->taken;
}

void *wp_deque_push(wp_deque *q)
{
    q->state++;
    if (q->maxlen == 0)
        return NULL;
    if (q->length == q->maxlen)
        deque_drop(q, 0);
    if (q->length == q->capacity)
        deque_grow(q);
    return deque_slot(q, q->length++);
}

void *wp_deque_push_left(wp_deque *q)
{
    q->state++;
    if (q->maxlen == 0)
        return NULL;
    if (q->length == q->maxlen)
        deque_drop(q, q->length - 1);
    if (q->length == q->capacity)
        deque_grow(q);
    q->start = (q->start - 1) & (q->capacity - 1);
    q->length++;
    return deque_slot(q, 0);
}

void *wp_deque_pop(wp_deque *q, int64_t line)
{
    if (q->length == 0) {
        wp_raise(WP_INDEX_ERROR, "pop from an empty deque", line);
        return NULL;
    }
    return q->length == 1 ? deque_drop(q, 0) : deque_drop(q, q->length - 1);
}

void *wp_deque_pop_left(wp_deque *q, int64_t line)
{
    if (q->length == 0) {
        wp_raise(WP_INDEX_ERROR, "pop from an empty deque", line);
        return NULL;
    }
    return deque_drop(q, 0);
}

void wp_deque_clear(wp_deque *q)
{
    q->length = q->start = q->capacity = 0;
    q->data = NULL;
    q->state++;
}

void wp_deque_rotate(wp_deque *q, int64_t n)
{
    if (q->length <= 1)
        return;
    n %= q->length;
    if (n < 0)
        n += q->length;
    if (n == 0)
        return;
    q->state++;
    if (q->length == q->capacity) {
        q->start = (q->start - n) & (q->capacity - 1);
        return;
    }
    if (n <= q->length / 2)
        for (; n > 0; n--) {
            memcpy(deque_slot(q, -1), deque_slot(q, q->length - 1), (size_t)q->width);
            q->start = (q->start - 1) & (q->capacity - 1);
        }
    else
        for (n = q->length - n; n > 0; n--) {
            memcpy(deque_slot(q, q->length), deque_slot(q, 0), (size_t)q->width);
            q->start = (q->start + 1) & (q->capacity - 1);
        }
}

wp_deque *wp_deque_copy(const wp_type *type, const wp_deque *q)
{
    wp_deque *result = wp_deque_new(type, q->maxlen);
    for (int64_t i = 0; i < q->length; i++)
        memcpy(wp_deque_push(result), deque_slot(q, i), (size_t)q->width);
    return result;
}
