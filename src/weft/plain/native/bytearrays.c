/* Bytearrays: lists of ints in memory, bytes outside. */

#include "api.h"

static const wp_spec byte_spec = {'i', 1u << WP_INT, 0, NULL};
static const wp_spec *const byte_slots[] = {&byte_spec};
wp_type wp_bytearray_type = {.kind = WP_BYTEARRAY, .count = 1, .written = 1, .slots = byte_slots, .name = "bytearray"};

static wp_list *bytes_spread(const uint8_t *data, int64_t count)
{
    wp_list *l = wp_list_new(&wp_bytearray_type, count, count);
    for (int64_t i = 0; i < count; i++)
        ((int64_t *)l->data)[i] = data[i];
    return l;
}

static uint8_t *bytes_joined(const wp_list *l)
{
    uint8_t *data = malloc(l->length > 0 ? (size_t)l->length : 1);
    if (data == NULL)
        wp_deopt("out of memory", 0);
    for (int64_t i = 0; i < l->length; i++)
        data[i] = (uint8_t)((const int64_t *)l->data)[i];
    return data;
}

void *wp_bytearray_of(const wp_str *bytes) { return bytes_spread(bytes->data, bytes->length); }

wp_str *wp_bytes_of(const wp_list *l)
{
    wp_str *made = str_room(&wp_bytes_type, l->length, 1, 0);
    for (int64_t i = 0; i < l->length; i++)
        made->data[i] = (uint8_t)((const int64_t *)l->data)[i];
    return made;
}
