/* Sets and frozensets: CPython's own table (3.10 to 3.14), step by step, so that iteration has CPython's order.

   An entry is a hash and a key. Free: the hash is 0 and the first word of the key FREE, which no key with that hash has.
   Deleted: the hash is -1, which no key has. `entry.c` compares the algorithm with the running interpreter at start; where
   it differs, `sets_agree` is 0 and every use of a set deoptimises. */

#include "api.h"

static wp_val plain_number(wp_val x);

enum { FREE = WP_UNSET, LEAST_SET = 8, LINEAR_PROBES = 9, PERTURB_SHIFT = 5 };

static int sets_agree;
/* Where a new key goes if the search for it met deleted entries. CPython's choice is found out at start. */
static enum { TAKE_FREE, TAKE_FIRST, TAKE_LAST } taken_entry;

static inline char *set_entry(const wp_set *s, int64_t i) { return s->table + i * s->stride; }
static inline int64_t set_hash_at(const char *entry) { return *(const int64_t *)entry; }
static inline int is_free(const char *entry) { return set_hash_at(entry) == 0 && *(const int64_t *)(entry + 8) == FREE; }
static inline int is_live(const char *entry) { return set_hash_at(entry) != -1 && !is_free(entry); }

static char *set_table(const wp_set *s, int64_t places)
{
    char *table = heap_block(flavour_of(s->repr), places * s->stride);
    for (int64_t i = 0; i < places; i++)
        *(int64_t *)(table + i * s->stride + 8) = FREE;
    return table;
}

wp_set *wp_set_new(const wp_type *type)
{
    if (!sets_agree)
        wp_deopt("sets of this Python have another order", 0);
    wp_set *s = heap_block(OBJECTS, sizeof *s);
    s->head.type = type;
    s->repr = item_repr(type);
    s->stride = 8 + WP_WIDTH(s->repr);
    s->hash = -1;
    s->mask = -1; /* a collection may see it before it has a table */
    s->table = set_table(s, LEAST_SET);
    s->mask = LEAST_SET - 1;
    return s;
}

/* Into a table without deleted entries and without an equal key. */
static void insert_clean(wp_set *s, const char *from)
{
    uint64_t mask = (uint64_t)s->mask, perturb = (uint64_t)set_hash_at(from), i = perturb & mask;
    for (;;) {
        uint64_t k = i;
        for (int probes = i + LINEAR_PROBES <= mask ? LINEAR_PROBES : 0; probes >= 0; probes--, k++)
            if (is_free(set_entry(s, (int64_t)k))) {
                memcpy(set_entry(s, (int64_t)k), from, (size_t)s->stride);
                return;
            }
        perturb >>= PERTURB_SHIFT;
        i = (i * 5 + 1 + perturb) & mask;
    }
}

static void set_resize(wp_set *s, int64_t wanted)
{
    int64_t places = LEAST_SET, old_mask = s->mask;
    while (places <= wanted)
        places <<= 1;
    char *old = s->table;
    char *table = set_table(s, places);
    s->table = table;
    s->mask = places - 1;
    for (int64_t i = 0, left = s->used; left > 0 && i <= old_mask; i++)
        if (is_live(old + i * s->stride)) {
            insert_clean(s, old + i * s->stride);
            left--;
        }
    s->fill = s->used;
}

static inline void set_grown(wp_set *s)
{
    s->fill++;
    s->used++;
    if (WP_UNLIKELY(s->fill * 5 >= s->mask * 3))
        set_resize(s, s->used > 50000 ? s->used * 2 : s->used * 4);
}

/* The deleted entry that a new key takes: one before the free entry where the search for the key ended, or NULL. */
static char *deleted_on_way(const wp_set *s, int64_t hash, const char *end)
{
    uint64_t mask = (uint64_t)s->mask, perturb = (uint64_t)hash, i = perturb & mask;
    char *found = NULL;
    if (taken_entry == TAKE_FREE)
        return NULL;
    for (;;) {
        char *entry = set_entry(s, (int64_t)i);
        for (int probes = i + LINEAR_PROBES <= mask ? LINEAR_PROBES : 0; probes >= 0; probes--) {
            if (entry == end)
                return found;
            if (set_hash_at(entry) == -1 && (found == NULL || taken_entry == TAKE_LAST))
                found = entry;
            entry += s->stride;
        }
        perturb >>= PERTURB_SHIFT;
        i = (i * 5 + 1 + perturb) & mask;
    }
}

/* --- by the representation of the key --- */

static const uint64_t MODULUS = ((uint64_t)1 << 61) - 1;

static inline int64_t hash_int(int64_t x)
{
    uint64_t size = x < 0 ? 0 - (uint64_t)x : (uint64_t)x;
    int64_t hash = (int64_t)(size < MODULUS ? size : size % MODULUS);
    if (x < 0)
        hash = -hash;
    return hash == -1 ? -2 : hash;
}

static int64_t hash_double(double x)
{
    if (x != x)
        wp_deopt("NaN in a set or as a key", 0);
    if (isinf(x))
        return x > 0 ? 314159 : -314159;
    int exponent, sign = 1;
    double fraction = frexp(x, &exponent);
    if (fraction < 0) {
        sign = -1;
        fraction = -fraction;
    }
    uint64_t hash = 0;
    while (fraction != 0) {
        hash = ((hash << 28) & MODULUS) | hash >> (61 - 28);
        fraction *= 268435456.0;
        exponent -= 28;
        uint64_t part = (uint64_t)fraction;
        fraction -= (double)part;
        hash += part;
        if (hash >= MODULUS)
            hash -= MODULUS;
    }
    exponent = exponent >= 0 ? exponent % 61 : 60 - (-1 - exponent) % 61;
    hash = ((hash << exponent) & MODULUS) | hash >> (61 - exponent);
    int64_t result = sign * (int64_t)hash;
    return result == -1 ? -2 : result;
}

static inline int64_t set_hash_i(int64_t key) { return hash_int(key); }
static inline int64_t set_hash_b(int64_t key) { return key; }
static inline int64_t set_hash_d(double key) { return hash_double(key); }
static inline int64_t set_hash_p(const void *key) { return dict_hash_p(key); }
static inline int64_t set_hash_v(wp_val key) { return dict_hash_v(key); }

#define WP_SET_DEFINE(R, T)                                                                                            \
    /* The entry of the key, or the free one where a search for it ends. */                                            \
    static inline char *set_look_##R(const wp_set *s, T key, int64_t hash)                                             \
    {                                                                                                                  \
        uint64_t mask = (uint64_t)s->mask, perturb = (uint64_t)hash, i = perturb & mask;                               \
        for (;;) {                                                                                                     \
            char *entry = set_entry(s, (int64_t)i);                                                                    \
            for (int probes = i + LINEAR_PROBES <= mask ? LINEAR_PROBES : 0; probes >= 0; probes--) {                  \
                if (is_free(entry) || (set_hash_at(entry) == hash && same_##R(entry + 8, key)))                        \
                    return entry;                                                                                      \
                entry += s->stride;                                                                                    \
            }                                                                                                          \
            perturb >>= PERTURB_SHIFT;                                                                                 \
            i = (i * 5 + 1 + perturb) & mask;                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static int64_t set_add_##R(wp_set *s, T key, int64_t hash)                                                         \
    {                                                                                                                  \
        char *entry = set_look_##R(s, key, hash), *deleted = NULL;                                                     \
        if (!is_free(entry))                                                                                           \
            return 0;                                                                                                  \
        if (s->fill != s->used)                                                                                        \
            deleted = deleted_on_way(s, hash, entry);                                                                  \
        if (deleted != NULL)                                                                                           \
            entry = deleted;                                                                                           \
        *(int64_t *)entry = hash;                                                                                      \
        memcpy(entry + 8, &key, sizeof(T));                                                                            \
        if (deleted != NULL)                                                                                           \
            s->used++;                                                                                                 \
        else                                                                                                           \
            set_grown(s);                                                                                              \
        return 1;                                                                                                      \
    }                                                                                                                  \
    static int64_t set_discard_##R(wp_set *s, T key, int64_t hash)                                                     \
    {                                                                                                                  \
        char *entry = set_look_##R(s, key, hash);                                                                      \
        if (is_free(entry))                                                                                            \
            return 0;                                                                                                  \
        wp_set_remove_at(s, (entry - s->table) / s->stride);                                                           \
        return 1;                                                                                                      \
    }                                                                                                                  \
    int64_t wp_set_has_##R(wp_set *s, T key) { return !is_free(set_look_##R(s, key, set_hash_##R(key))); }             \
    int64_t wp_set_add_##R(wp_set *s, T key) { return set_add_##R(s, key, set_hash_##R(key)); }                        \
    int64_t wp_set_discard_##R(wp_set *s, T key) { return set_discard_##R(s, key, set_hash_##R(key)); }
WP_SET_DEFINE(i, int64_t)
WP_SET_DEFINE(b, int64_t)
WP_SET_DEFINE(d, double)
WP_SET_DEFINE(p, void *)
WP_SET_DEFINE(v, wp_val)

/* --- keys of one set in another, which may have another representation --- */

/* The value as the set would hold it; 0 if it cannot hold an equal one. */
static int as_key(char repr, wp_val *key)
{
    switch (repr) {
    case 'i':
    case 'b':
        if (key->tag == WP_FLOAT) {
            double x = key->u.d;
            if (!(x >= -9223372036854775808.0 && x < 9223372036854775808.0) || x != floor(x))
                return 0;
            *key = wp_of_i((int64_t)x);
        }
        return (key->tag == WP_INT || key->tag == WP_BOOL) && (repr == 'i' || (uint64_t)key->u.i <= 1);
    case 'd':
        if (key->tag == WP_INT || key->tag == WP_BOOL) {
            double x = (double)key->u.i;
            if (wp_compare_id(key->u.i, x) != 0)
                return 0;
            *key = wp_of_d(x);
        }
        return key->tag == WP_FLOAT;
    case 'p': return key->tag == WP_PTR || key->tag == WP_NONE;
    default: return 1;
    }
}

static char *set_look(const wp_set *s, wp_val key, int64_t hash)
{
    if (s->repr != 'v')
        key = plain_number(key);
    if (!as_key(s->repr, &key))
        return NULL;
    char *entry;
    switch (s->repr) {
    case 'i':
    case 'b': entry = set_look_i(s, key.u.i, hash); break;
    case 'd': entry = set_look_d(s, key.u.d, hash); break;
    case 'p': entry = set_look_p(s, object_of(key), hash); break;
    default: entry = set_look_v(s, key, hash);
    }
    return is_free(entry) ? NULL : entry;
}

static void set_add(wp_set *s, wp_val key, int64_t hash)
{
    if (set_look(s, key, hash) != NULL)
        return;
    static const char reprs[] = {'p', 'i', 'd', 'b', 'p', 0}; /* by tag: the one that holds the value as it is */
    if (s->repr != 'v' && (key.tag >= WP_NP || s->repr != reprs[key.tag]))
        wp_deopt("a key of another type in a set", 0);
    switch (s->repr) {
    case 'i':
    case 'b': set_add_i(s, key.u.i, hash); return;
    case 'd': set_add_d(s, key.u.d, hash); return;
    case 'p': set_add_p(s, object_of(key), hash); return;
    default: set_add_v(s, key, hash);
    }
}

static inline wp_val set_key(const wp_set *s, int64_t i) { return wp_from_slot(set_entry(s, i) + 8, s->repr); }

/* The entry of the key that another set has at a place, or NULL. */
static char *look_entry(const wp_set *s, const wp_set *other, int64_t i)
{
    const char *from = set_entry(other, i);
    if (s->repr != other->repr || s->repr == 'v')
        return set_look(s, set_key(other, i), set_hash_at(from));
    char *entry;
    switch (s->repr) {
    case 'd': entry = set_look_d(s, *(const double *)(from + 8), set_hash_at(from)); break;
    case 'p': entry = set_look_p(s, *(void *const *)(from + 8), set_hash_at(from)); break;
    default: entry = set_look_i(s, *(const int64_t *)(from + 8), set_hash_at(from));
    }
    return is_free(entry) ? NULL : entry;
}
static inline int has_entry(const wp_set *s, const wp_set *other, int64_t i) { return look_entry(s, other, i) != NULL; }
static void add_entry(wp_set *s, const wp_set *other, int64_t i)
{
    const char *from = set_entry(other, i);
    if (s->repr != other->repr || s->repr == 'v') {
        set_add(s, set_key(other, i), set_hash_at(from));
        return;
    }
    switch (s->repr) {
    case 'd': set_add_d(s, *(const double *)(from + 8), set_hash_at(from)); return;
    case 'p': set_add_p(s, *(void *const *)(from + 8), set_hash_at(from)); return;
    default: set_add_i(s, *(const int64_t *)(from + 8), set_hash_at(from));
    }
}
static inline int discard_entry(wp_set *s, const wp_set *other, int64_t i)
{
    char *entry = look_entry(s, other, i);
    if (entry == NULL)
        return 0;
    wp_set_remove_at(s, (entry - s->table) / s->stride);
    return 1;
}

/* --- by place --- */

int64_t wp_set_length(const wp_set *s) { return s->used; }

int64_t wp_set_next(const wp_set *s, int64_t position)
{
    for (int64_t i = position; i <= s->mask; i++)
        if (is_live(set_entry(s, i)))
            return i;
    return -1;
}

void *wp_set_key_at(const wp_set *s, int64_t position) { return set_entry(s, position) + 8; }

void wp_set_clear(wp_set *s)
{
    if (s->mask == LEAST_SET - 1 && s->fill == 0)
        return;
    char *table = set_table(s, LEAST_SET);
    s->table = table;
    s->mask = LEAST_SET - 1;
    s->fill = s->used = 0;
}

int64_t wp_set_pop_place(wp_set *s)
{
    if (s->used == 0)
        return -1;
    int64_t i = s->finger & s->mask;
    while (!is_live(set_entry(s, i)))
        i = i == s->mask ? 0 : i + 1;
    s->finger = i + 1;
    return i;
}

void wp_set_remove_at(wp_set *s, int64_t place)
{
    memset(set_entry(s, place), 0, (size_t)s->stride);
    *(int64_t *)set_entry(s, place) = -1;
    s->used--;
}

/* --- whole sets, as setobject.c has them --- */

void wp_set_update(wp_set *s, const wp_set *other)
{
    if (other == s || other->used == 0)
        return;
    if ((s->fill + other->used) * 5 >= s->mask * 3)
        set_resize(s, (s->used + other->used) * 2);
    if (s->repr != other->repr || s->fill != 0) {
        for (int64_t i = 0, left = other->used; left > 0; i++)
            if (is_live(set_entry(other, i))) {
                add_entry(s, other, i);
                left--;
            }
        return;
    }
    if (s->mask == other->mask && other->fill == other->used)
        memcpy(s->table, other->table, (size_t)((s->mask + 1) * s->stride));
    else
        for (int64_t i = 0, left = other->used; left > 0; i++)
            if (is_live(set_entry(other, i))) {
                insert_clean(s, set_entry(other, i));
                left--;
            }
    s->fill = s->used = other->used;
}

wp_set *wp_set_copy(const wp_type *type, const wp_set *s)
{
    wp_set *result = wp_set_new(type);
    wp_set_update(result, s);
    return result;
}

wp_set *wp_set_union(const wp_type *type, const wp_set *a, const wp_set *b)
{
    wp_set *result = wp_set_copy(type, a);
    if (a != b)
        wp_set_update(result, b);
    return result;
}

wp_set *wp_set_intersection(const wp_type *type, const wp_set *a, const wp_set *b)
{
    if (a == b)
        return wp_set_copy(type, a);
    wp_set *result = wp_set_new(type);
    if (b->used > a->used) {
        const wp_set *swap = a;
        a = b;
        b = swap;
    }
    for (int64_t i = wp_set_next(b, 0); i >= 0; i = wp_set_next(b, i + 1))
        if (has_entry(a, b, i))
            add_entry(result, b, i);
    return result;
}

wp_set *wp_set_difference(const wp_type *type, const wp_set *a, const wp_set *b)
{
    if (a->used >> 2 > b->used) {
        wp_set *result = wp_set_copy(type, a);
        wp_set_difference_update(result, b);
        return result;
    }
    wp_set *result = wp_set_new(type);
    for (int64_t i = wp_set_next(a, 0); i >= 0; i = wp_set_next(a, i + 1))
        if (!has_entry(b, a, i))
            add_entry(result, a, i);
    return result;
}

wp_set *wp_set_symmetric(const wp_type *type, const wp_set *a, const wp_set *b)
{
    wp_set *result = wp_set_copy(type, b);
    wp_set_symmetric_update(result, a);
    return result;
}

void wp_set_intersection_update(wp_set *a, const wp_set *b)
{
    wp_set *result = wp_set_intersection(a->head.type, a, b);
    a->table = result->table;
    a->mask = result->mask;
    a->fill = result->fill;
    a->used = result->used;
}

void wp_set_difference_update(wp_set *a, const wp_set *b)
{
    if (a == b) {
        wp_set_clear(a);
        return;
    }
    if (b->used >> 3 > a->used)
        b = wp_set_intersection(a->head.type, a, b);
    for (int64_t i = wp_set_next(b, 0); i >= 0; i = wp_set_next(b, i + 1))
        discard_entry(a, b, i);
    if ((uint64_t)(a->fill - a->used) > (uint64_t)a->mask / 4)
        set_resize(a, a->used > 50000 ? a->used * 2 : a->used * 4);
}

void wp_set_symmetric_update(wp_set *a, const wp_set *b)
{
    if (a == b) {
        wp_set_clear(a);
        return;
    }
    for (int64_t i = wp_set_next(b, 0); i >= 0; i = wp_set_next(b, i + 1))
        if (!discard_entry(a, b, i))
            add_entry(a, b, i);
}

int64_t wp_set_subset(const wp_set *a, const wp_set *b)
{
    if (a->used > b->used)
        return 0;
    for (int64_t i = wp_set_next(a, 0); i >= 0; i = wp_set_next(a, i + 1))
        if (!has_entry(b, a, i))
            return 0;
    return 1;
}

int64_t wp_set_disjoint(const wp_set *a, const wp_set *b)
{
    if (a->used > b->used) {
        const wp_set *swap = a;
        a = b;
        b = swap;
    }
    for (int64_t i = wp_set_next(a, 0); i >= 0; i = wp_set_next(a, i + 1))
        if (has_entry(b, a, i))
            return 0;
    return 1;
}

int64_t wp_set_equal(const wp_set *a, const wp_set *b) { return a->used == b->used && wp_set_subset(a, b); }

void wp_set_update_list(wp_set *s, const wp_list *items)
{
    char repr = item_repr(items->head.type);
    int64_t width = item_width(items->head.type);
    if (repr == 'i' && s->repr == 'i') {
        for (int64_t i = 0; i < items->length; i++)
            wp_set_add_i(s, ((int64_t *)items->data)[i]);
        return;
    }
    for (int64_t i = 0; i < items->length; i++) {
        wp_val key = wp_from_slot(items->data + i * width, repr);
        set_add(s, key, dict_hash_v(key));
    }
}

void wp_set_update_dict(wp_set *s, const wp_dict *keys)
{
    if ((s->fill + keys->used) * 5 >= s->mask * 3)
        set_resize(s, (s->used + keys->used) * 2);
    for (int64_t i = wp_dict_next(keys, 0); i >= 0; i = wp_dict_next(keys, i + 1)) {
        wp_val key = wp_from_slot(wp_dict_key_at(keys, i), keys->key_repr);
        set_add(s, key, dict_hash_v(key));
    }
}
