/* Dictionaries: entries in the order of insertion, and beyond eight of them an index by hash.

   Only the order is visible, so hashes of ints and floats are dicts' own; those of other keys are CPython's. An entry whose
   hash is -1 is dead. */

#include "api.h"

static wp_val plain_number(wp_val x);

enum { WITHOUT_INDEX = 8 };

wp_dict *wp_dict_new(const wp_type *type)
{
    wp_dict *d = heap_block(OBJECTS, sizeof *d);
    d->head.type = type;
    d->key_repr = type->slots[0]->repr;
    d->value_repr = type->slots[1]->repr;
    d->value_offset = 8 + WP_WIDTH(d->key_repr);
    d->stride = d->value_offset + WP_WIDTH(d->value_repr);
    return d;
}

static inline int dict_flavour(const wp_dict *d)
{
    return flavour_of(d->key_repr) == REFERENCES || flavour_of(d->value_repr) == REFERENCES ? REFERENCES : PLAIN;
}

static inline char *entry_at(const wp_dict *d, int64_t position) { return d->entries + position * d->stride; }
static inline int64_t hash_at(const wp_dict *d, int64_t position) { return *(int64_t *)entry_at(d, position); }

static inline uint64_t dict_place(const wp_dict *d, int64_t hash)
{
    return ((uint64_t)hash * 0x9E3779B97F4A7C15u) >> (64 - d->bits);
}

static inline uint32_t short_hash(int64_t hash) { return (uint32_t)((uint64_t)hash ^ (uint64_t)hash >> 32); }

static void index_entry(wp_dict *d, int64_t position, int64_t hash)
{
    uint64_t mask = ((uint64_t)1 << d->bits) - 1, i = dict_place(d, hash);
    while (d->index[i].entry >= 0)
        i = (i + 1) & mask;
    if (d->index[i].entry == -1)
        d->taken++;
    d->index[i].entry = (int32_t)position;
    d->index[i].hash = short_hash(hash);
}

/* Dead entries leave, and there is room for at least `wanted` of them. */
static void dict_rebuild(wp_dict *d, int64_t wanted)
{
    if (wanted > INT32_MAX / 2)
        wp_deopt("a dict with more than 2**30 items", 0);
    if (wanted > d->capacity || d->used < d->count) {
        int64_t capacity = d->capacity < 8 ? 8 : d->capacity;
        while (capacity < wanted)
            capacity *= 2;
        if (d->used == d->count && d->entries != NULL) {
            d->entries = heap_larger(d->entries, dict_flavour(d), d->capacity * d->stride, capacity * d->stride);
        } else {
            char *entries = heap_block(dict_flavour(d), capacity * d->stride);
            int64_t kept = 0;
            for (int64_t i = d->first; i < d->count; i++)
                if (hash_at(d, i) != -1)
                    memcpy(entries + kept++ * d->stride, entry_at(d, i), (size_t)d->stride);
            d->entries = entries;
            d->count = kept;
            d->first = 0;
        }
        d->capacity = capacity;
    }
    if (d->capacity <= WITHOUT_INDEX) {
        d->bits = 0;
        d->index = NULL;
        return;
    }
    int32_t bits = 4;
    while (((int64_t)1 << bits) < d->capacity + d->capacity / 2)
        bits++;
    if (bits != d->bits)
        d->index = heap_block(PLAIN, ((int64_t)sizeof(wp_place)) << bits);
    d->bits = bits;
    memset(d->index, 0xff, sizeof(wp_place) << bits);
    d->taken = 0;
    for (int64_t i = d->first; i < d->count; i++)
        if (hash_at(d, i) != -1)
            index_entry(d, i, hash_at(d, i));
}

static void *dict_append(wp_dict *d, int64_t hash)
{
    if (d->count == d->capacity)
        dict_rebuild(d, d->used * 2 < d->count ? d->used + 1 : d->used + d->used / 2 + 1);
    else if (d->bits && (d->taken + 1) * 8 > ((int64_t)7 << d->bits))
        dict_rebuild(d, d->used + 1);
    int64_t position = d->count++;
    char *entry = entry_at(d, position);
    memset(entry, 0, (size_t)d->stride);
    *(int64_t *)entry = hash;
    if (d->bits)
        index_entry(d, position, hash);
    d->used++;
    d->changes++;
    return entry;
}

/* --- by the representation of the key --- */

static inline int64_t not_dead(uint64_t hash) { return hash == UINT64_MAX ? -2 : (int64_t)hash; }

static inline int64_t dict_hash_i(int64_t key) { return not_dead((uint64_t)key ^ (uint64_t)key >> 32); }
static inline int64_t dict_hash_b(int64_t key) { return key; }
static inline int64_t dict_hash_d(double key)
{
    if (key != key)
        wp_deopt("NaN as a key", 0);
    uint64_t bits = (uint64_t)bits_of(key + 0.0); /* -0.0 and 0.0 are one key */
    return not_dead(bits ^ bits >> 32);
}
static inline int64_t dict_hash_p(const void *key)
{
    const wp_str *s = key;
    if (s != NULL && s->head.type->kind == WP_STR && s->hash != -1)
        return s->hash;
    return hash_pointer(key);
}
static inline int64_t dict_hash_v(wp_val key)
{
    int64_t hash = wp_hash(key);
    if (WP_UNLIKELY(hash == -1))
        wp_deopt("a key that cannot be hashed", 0);
    return hash;
}

/* Tuples of numbers and strings are what most keys are that are no numbers or strings themselves. */
static inline int is_fixed_tuple(const wp_object *o)
{
    return o->type->kind == WP_TUPLE && o->type->count >= 0 && o->type->python == NULL;
}

/* Whether two fixed tuples of one type are equal, as containers compare. */
static int fixed_tuples_equal(const wp_object *a, const wp_object *b)
{
    const wp_type *type = a->type;
    for (int32_t k = 0; k < type->count; k++) {
        const void *x = (const char *)a + type->offsets[k], *y = (const char *)b + type->offsets[k];
        char repr = type->slots[k]->repr;
        if (repr == 'i' || repr == 'b') {
            if (*(const int64_t *)x != *(const int64_t *)y)
                return 0;
            continue;
        }
        if (repr == 'p') {
            const wp_object *p = *(wp_object *const *)x, *q = *(wp_object *const *)y;
            if (p == q)
                continue;
            if (p != NULL && q != NULL && p->type->kind == WP_STR && q->type->kind == WP_STR) {
                if (!wp_str_equal((const wp_str *)p, (const wp_str *)q))
                    return 0;
                continue;
            }
        }
        if (!equal_items(wp_from_slot(x, repr), wp_from_slot(y, repr)))
            return 0;
    }
    return 1;
}

static inline int same_i(const void *slot, int64_t key) { return *(const int64_t *)slot == key; }
static inline int same_b(const void *slot, int64_t key) { return *(const int64_t *)slot == key; }
static inline int same_d(const void *slot, double key) { return *(const double *)slot == key; }
static inline int same_p(const void *slot, const void *key)
{
    const wp_object *other = *(wp_object *const *)slot;
    if (other == key)
        return 1;
    if (other == NULL || key == NULL)
        return 0;
    if (other->type->kind == WP_STR && ((const wp_object *)key)->type->kind == WP_STR)
        return (int)wp_str_equal((const wp_str *)other, key);
    if (other->type == ((const wp_object *)key)->type && is_fixed_tuple(other))
        return fixed_tuples_equal(other, key);
    return (int)equal_items(wp_of_p(other), wp_of_p(key));
}
static inline int same_v(const void *slot, wp_val key) { return (int)equal_items(*(const wp_val *)slot, key); }

#define WP_DICT_DEFINE(R, T)                                                                                           \
    static inline int64_t dict_look_##R(const wp_dict *d, T key, int64_t hash)                                         \
    {                                                                                                                  \
        if (d->bits == 0) {                                                                                            \
            for (int64_t i = d->first; i < d->count; i++)                                                              \
                if (hash_at(d, i) == hash && same_##R(entry_at(d, i) + 8, key))                                        \
                    return i;                                                                                          \
            return -1;                                                                                                 \
        }                                                                                                              \
        uint64_t mask = ((uint64_t)1 << d->bits) - 1, i = dict_place(d, hash);                                         \
        uint32_t wanted = short_hash(hash);                                                                            \
        for (;; i = (i + 1) & mask) {                                                                                  \
            wp_place place = d->index[i];                                                                              \
            if (place.hash == wanted && place.entry >= 0 && hash_at(d, place.entry) == hash &&                         \
                same_##R(entry_at(d, place.entry) + 8, key))                                                           \
                return place.entry;                                                                                    \
            if (place.entry == -1)                                                                                     \
                return -1;                                                                                             \
        }                                                                                                              \
    }                                                                                                                  \
    void *wp_dict_find_##R(wp_dict *d, T key)                                                                          \
    {                                                                                                                  \
        int64_t position = dict_look_##R(d, key, dict_hash_##R(key));                                                  \
        return position < 0 ? NULL : entry_at(d, position) + d->value_offset;                                          \
    }                                                                                                                  \
    void *wp_dict_put_##R(wp_dict *d, T key, int64_t *fresh)                                                           \
    {                                                                                                                  \
        int64_t hash = dict_hash_##R(key), position = dict_look_##R(d, key, hash);                                     \
        *fresh = position < 0;                                                                                         \
        if (position >= 0)                                                                                             \
            return entry_at(d, position) + d->value_offset;                                                            \
        char *entry = dict_append(d, hash);                                                                            \
        memcpy(entry + 8, &key, sizeof(T));                                                                            \
        return entry + d->value_offset;                                                                                \
    }                                                                                                                  \
    int64_t wp_dict_delete_##R(wp_dict *d, T key)                                                                      \
    {                                                                                                                  \
        int64_t position = dict_look_##R(d, key, dict_hash_##R(key));                                                  \
        if (position < 0)                                                                                              \
            return 0;                                                                                                  \
        wp_dict_delete_at(d, position);                                                                                \
        return 1;                                                                                                      \
    }
WP_DICT_DEFINE(i, int64_t)
WP_DICT_DEFINE(b, int64_t)
WP_DICT_DEFINE(d, double)
WP_DICT_DEFINE(p, void *)
WP_DICT_DEFINE(v, wp_val)

/* --- by position --- */

int64_t wp_dict_length(const wp_dict *d) { return d->used; }
int64_t wp_dict_state(const wp_dict *d) { return d->changes; }

int64_t wp_dict_next(const wp_dict *d, int64_t position)
{
    for (int64_t i = position < d->first ? d->first : position; i < d->count; i++)
        if (hash_at(d, i) != -1)
            return i;
    return -1;
}

int64_t wp_dict_before(const wp_dict *d, int64_t position)
{
    for (int64_t i = (position < d->count ? position : d->count) - 1; i >= d->first; i--)
        if (hash_at(d, i) != -1)
            return i;
    return -1;
}

int64_t wp_dict_last(const wp_dict *d) { return wp_dict_before(d, d->count); }
void *wp_dict_key_at(const wp_dict *d, int64_t position) { return entry_at(d, position) + 8; }
void *wp_dict_value_at(const wp_dict *d, int64_t position) { return entry_at(d, position) + d->value_offset; }

void wp_dict_delete_at(wp_dict *d, int64_t position)
{
    char *entry = entry_at(d, position);
    if (d->bits) {
        uint64_t mask = ((uint64_t)1 << d->bits) - 1, i = dict_place(d, *(int64_t *)entry);
        while (d->index[i].entry != position)
            i = (i + 1) & mask;
        d->index[i].entry = -2;
        d->index[i].hash = 0;
    }
    *(int64_t *)entry = -1;
    d->used--;
    d->changes++;
    if (position == d->first)
        while (d->first < d->count && hash_at(d, d->first) == -1)
            d->first++;
    if (position == d->count - 1)
        while (d->count > d->first && hash_at(d, d->count - 1) == -1)
            d->count--;
}

void wp_dict_clear(wp_dict *d)
{
    d->used = d->count = d->first = d->capacity = d->taken = 0;
    d->changes++;
    d->bits = 0;
    d->index = NULL;
    d->entries = NULL;
}

wp_dict *wp_dict_copy(const wp_type *type, const wp_dict *d)
{
    wp_dict *result = wp_dict_new(type);
    result->factory = d->factory;
    if (d->used == 0)
        return result;
    dict_rebuild(result, d->used);
    for (int64_t i = d->first; i < d->count; i++)
        if (hash_at(d, i) != -1) {
            memcpy(entry_at(result, result->count), entry_at(d, i), (size_t)d->stride);
            if (result->bits)
                index_entry(result, result->count, hash_at(d, i));
            result->count++;
            result->used++;
        }
    return result;
}

void wp_dict_move_to_end(wp_dict *d, int64_t position, int64_t last)
{
    char moved[8 + 16 + 16];
    memcpy(moved, entry_at(d, position), (size_t)d->stride);
    if (last) {
        if (position == d->count - 1)
            return;
        wp_dict_delete_at(d, position);
        char *entry = dict_append(d, *(int64_t *)moved);
        memcpy(entry, moved, (size_t)d->stride);
        return;
    }
    if (position == d->first)
        return;
    wp_dict_delete_at(d, position);
    if (d->first == 0) { /* room in front, as much as there are entries, so that the next moves are cheap */
        int64_t room = d->count + 4, capacity = d->capacity + room;
        char *entries = heap_block(dict_flavour(d), capacity * d->stride);
        memcpy(entries + room * d->stride, d->entries, (size_t)(d->count * d->stride));
        for (int64_t i = 0; i < room; i++)
            *(int64_t *)(entries + i * d->stride) = -1;
        d->entries = entries;
        d->capacity = capacity;
        d->count += room;
        d->first = room;
        if (capacity > INT32_MAX)
            wp_deopt("a dict with more than 2**30 items", 0);
        int32_t bits = 4;
        while (((int64_t)1 << bits) < capacity + capacity / 2)
            bits++;
        d->index = heap_block(PLAIN, ((int64_t)sizeof(wp_place)) << bits);
        memset(d->index, 0xff, sizeof(wp_place) << bits);
        d->bits = bits;
        d->taken = 0;
        for (int64_t i = d->first; i < d->count; i++)
            if (hash_at(d, i) != -1)
                index_entry(d, i, hash_at(d, i));
    }
    d->first--;
    memcpy(entry_at(d, d->first), moved, (size_t)d->stride);
    d->used++;
    d->changes++;
    if (d->bits)
        index_entry(d, d->first, *(int64_t *)moved);
}

/* --- keys as tagged values, for dicts of different types --- */

/* The key as the dict represents it, or 0 if no equal key could be in it. */
static int64_t dict_look(const wp_dict *d, wp_val key)
{
    if (d->key_repr != 'v')
        key = plain_number(key);
    switch (d->key_repr) {
    case 'i':
    case 'b':
        if (key.tag == WP_FLOAT) {
            if (!(key.u.d >= -9223372036854775808.0 && key.u.d < 9223372036854775808.0) || key.u.d != floor(key.u.d))
                return -1;
            key = wp_of_i((int64_t)key.u.d);
        }
        if (key.tag != WP_INT && key.tag != WP_BOOL)
            return -1;
        return d->key_repr == 'b' ? ((uint64_t)key.u.i > 1 ? -1 : dict_look_b(d, key.u.i, dict_hash_b(key.u.i)))
                                  : dict_look_i(d, key.u.i, dict_hash_i(key.u.i));
    case 'd':
        if (key.tag == WP_INT || key.tag == WP_BOOL) {
            double value = (double)key.u.i;
            if (wp_compare_id(key.u.i, value) != 0)
                return -1;
            key = wp_of_d(value);
        }
        return key.tag == WP_FLOAT ? dict_look_d(d, key.u.d, dict_hash_d(key.u.d)) : -1;
    case 'p':
        return key.tag == WP_PTR || key.tag == WP_NONE ? dict_look_p(d, object_of(key), dict_hash_p(object_of(key))) : -1;
    default: return dict_look_v(d, key, dict_hash_v(key));
    }
}

int64_t wp_dict_equal(const wp_dict *a, const wp_dict *b)
{
    if (a->used != b->used)
        return 0;
    for (int64_t i = wp_dict_next(a, 0); i >= 0; i = wp_dict_next(a, i + 1)) {
        int64_t k = dict_look(b, wp_from_slot(wp_dict_key_at(a, i), a->key_repr));
        if (k < 0 || !equal_items(wp_from_slot(wp_dict_value_at(a, i), a->value_repr),
                                  wp_from_slot(wp_dict_value_at(b, k), b->value_repr)))
            return 0;
    }
    return 1;
}

void *wp_dict_factory(wp_dict *d) { return &d->factory; }

int64_t wp_dict_position(const wp_dict *d, const void *slot) { return ((const char *)slot - d->entries) / d->stride; }
