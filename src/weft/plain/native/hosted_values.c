/* Handles of a C host in and out, in the place of Python's objects (convert.c, results.c).

   In: columns (handle_columns.c) and what may stand in a place. Out: native values in the heap of the call; and new handles of
   what a call gives back, or has changed. */

#include "api.h"

/* --- in --- */

static const wp_type *type_in(const wp_spec *spec, int32_t kind)
{
    for (int32_t i = 0; i < spec->count; i++)
        if (spec->types[i]->kind == kind || (kind == WP_LIST && spec->types[i]->kind == WP_TUPLE && spec->types[i]->count < 0) ||
            (kind == WP_SET && spec->types[i]->kind == WP_FROZENSET))
            return spec->types[i];
    wp_deopt("an argument of another kind", 0);
}

static void store(void *slot, char repr, wp_val v)
{
    if (repr == 'v')
        *(wp_val *)slot = v;
    else
        *(int64_t *)slot = v.u.i; /* the same bits for all of them */
}

static wp_val text_in(const int32_t *codes, int64_t count)
{
    uint32_t any = 0;
    if (count == 0)
        return wp_of_p(&empty_str);
    for (int64_t i = 0; i < count; i++)
        any |= (uint32_t)codes[i];
    int32_t width = any < 0x100 ? 1 : any < 0x10000 ? 2 : 4;
    wp_str *s = str_room(&wp_str_type, count, width, any < 0x80);
    for (int64_t i = 0; i < count; i++)
        if (width == 1)
            s->data[i] = (uint8_t)codes[i];
        else if (width == 2)
            ((uint16_t *)s->data)[i] = (uint16_t)codes[i];
        else
            ((uint32_t *)s->data)[i] = (uint32_t)codes[i];
    return wp_of_p(s);
}

static wp_val bytes_in(const void *data, int64_t count)
{
    wp_str *s = str_room(&wp_bytes_type, count, 1, 0);
    if (count > 0)
        memcpy(s->data, data, (size_t)count);
    return wp_of_p(s);
}

static wp_val number_in(char item, const void *at)
{
    return item == 'd' ? wp_of_d(*(const double *)at) : item == 'b' ? wp_of_b(*(const uint8_t *)at != 0) : wp_of_i(*(const int64_t *)at);
}

static wp_val handle_in(const weft_handle *h, const wp_spec *spec);

/* An entry of a column. */
static wp_val entry_in(const weft_column *c, const weft_part *part, int64_t at, const wp_spec *spec)
{
    switch (part->item) {
    case 's': return text_in(entry_of(c, at), length_of(c, at));
    case 'y': return bytes_in(entry_of(c, at), length_of(c, at));
    case 'h': return handle_in(((weft_handle **)c->items)[at], spec);
    case 'k': {
        const wp_type *type = type_in(spec, WP_TUPLE);
        const int64_t *words = entry_of(c, at);
        wp_object *made = wp_new(type);
        for (int32_t k = 0; k < type->count; k++)
            store((char *)made + type->offsets[k], type->slots[k]->repr, number_in(part->fields[k], words + k));
        return wp_of_p(made);
    }
    default: return number_in(part->item, entry_of(c, at));
    }
}

static wp_val list_in(const weft_column *c, const weft_part *part, int64_t from, int64_t count, const wp_type *type)
{
    const wp_spec *items = type->slots[0];
    int64_t width = items->repr == 'v' ? 16 : 8;
    wp_list *l = wp_list_new(type, count, count);
    if ((part->item == 'i' && items->repr == 'i') || (part->item == 'd' && items->repr == 'd')) {
        if (count > 0)
            memcpy(l->data, c->items + from * 8, (size_t)count * 8);
        return wp_of_p(l);
    }
    if (part->item == 'i' || part->item == 'd' || part->item == 'b')
        for (int64_t i = 0; i < count; i++)
            store(l->data + i * width, items->repr, number_in(part->item, c->items + (from + i) * c->size));
    else
        for (int64_t i = 0; i < count; i++)
            store(l->data + i * width, items->repr, entry_in(c, part, from + i, items));
    return wp_of_p(l);
}

static void *key_place(wp_dict *d, wp_val key)
{
    int64_t fresh_one;
    switch (d->key_repr) {
    case 'i': return wp_dict_put_i(d, key.u.i, &fresh_one);
    case 'b': return wp_dict_put_b(d, key.u.i, &fresh_one);
    case 'd': return wp_dict_put_d(d, key.u.d, &fresh_one);
    case 'p': return wp_dict_put_p(d, key.u.p, &fresh_one);
    default: return wp_dict_put_v(d, key, &fresh_one);
    }
}

static void set_put(wp_set *s, wp_val key)
{
    switch (s->repr) {
    case 'i': wp_set_add_i(s, key.u.i); break;
    case 'b': wp_set_add_b(s, key.u.i); break;
    case 'd': wp_set_add_d(s, key.u.d); break;
    case 'p': wp_set_add_p(s, key.u.p); break;
    default: wp_set_add_v(s, key);
    }
}

static wp_val tuple_in(const weft_handle *h, int64_t at, const wp_type *type)
{
    wp_object *made = wp_new(type);
    for (int32_t k = 0; k < type->count; k++) {
        const wp_spec *spec = type->slots[k];
        store((char *)made + type->offsets[k], spec->repr, entry_in(&h->parts[k], &h->kind->parts[k], at, spec));
    }
    return wp_of_p(made);
}

static wp_val handle_in(const weft_handle *h, const wp_spec *spec)
{
    const weft_column *c = h->parts;
    const weft_part *part = h->kind->parts;
    switch (h->kind->form) {
    case 's': return text_in((const int32_t *)c->items, c->count);
    case 'y': return bytes_in(c->items, c->count);
    case 'l': return list_in(c, part, 0, c->count, type_in(spec, WP_LIST));
    case 'r': {
        const wp_type *type = type_in(spec, WP_LIST), *inner = type_in(type->slots[0], WP_LIST);
        wp_list *l = wp_list_new(type, c->count, c->count);
        for (int64_t i = 0; i < c->count; i++)
            store(l->data + i * item_width(type), item_repr(type), list_in(c, part, c->starts[i], c->starts[i + 1] - c->starts[i], inner));
        return wp_of_p(l);
    }
    case 'c': {
        const wp_type *type = type_in(spec, WP_LIST), *inner = type_in(type->slots[0], WP_TUPLE);
        wp_list *l = wp_list_new(type, c->count, c->count);
        for (int64_t i = 0; i < c->count; i++)
            store(l->data + i * item_width(type), item_repr(type), tuple_in(h, i, inner));
        return wp_of_p(l);
    }
    case 't': return tuple_in(h, 0, type_in(spec, WP_TUPLE));
    case 'd': {
        const wp_type *type = type_in(spec, WP_DICT);
        wp_dict *d = wp_dict_new(type);
        for (int64_t i = 0; i < c->count; i++) {
            wp_val key = entry_in(c, part, i, type->slots[0]), value = entry_in(c + 1, part + 1, i, type->slots[1]);
            store(key_place(d, key), d->value_repr, value);
        }
        return wp_of_p(d);
    }
    default: {
        wp_set *s = wp_set_new(type_in(spec, WP_SET));
        for (int64_t i = 0; i < c->count; i++)
            set_put(s, entry_in(c, part, i, s->head.type->slots[0]));
        return wp_of_p(s);
    }
    }
}

/* --- out: 0, or -1 without memory --- */

static weft_handle *handle_out(wp_val v, const weft_kind *kind);

static int text_out(weft_column *c, const wp_str *s, int is_row)
{
    if (make_room(c, s->length) != 0)
        return -1;
    int32_t *codes = (int32_t *)c->items + c->filled;
    for (int64_t i = 0; i < s->length; i++)
        codes[i] = (int32_t)wp_str_code(s, i);
    c->filled += s->length;
    c->count += is_row ? 1 : s->length;
    if (is_row)
        c->starts[c->count] = c->filled;
    return 0;
}

static int64_t word_of(wp_val v, char item)
{
    int is_float = v.tag == WP_FLOAT || v.tag == WP_NP_FLOAT32 || v.tag == WP_NP_FLOAT64;
    if (is_float != (item == 'd') || v.tag == WP_NONE || v.tag == WP_PTR || v.tag == WP_UNSET)
        wp_deopt("a value of another kind than the hints say", 0);
    return v.u.i;
}

static const wp_object *object_in(wp_val v)
{
    if (v.tag != WP_PTR)
        wp_deopt("None in the place of a container", 0);
    return v.u.p;
}

static int entry_out(weft_column *c, const weft_part *part, wp_val v)
{
    switch (part->item) {
    case 's': return text_out(c, (const wp_str *)object_in(v), 1);
    case 'y': {
        const wp_str *s = (const wp_str *)object_in(v);
        return append_entry(c, s->data, s->length);
    }
    case 'h': {
        weft_handle *inner = handle_out(v, part->inner);
        if (inner == NULL || append_entry(c, &inner, 1) != 0) {
            free_handle(inner);
            return -1;
        }
        inner->is_inner = 1;
        return 0;
    }
    case 'k': {
        const wp_object *o = object_in(v);
        int64_t words[MOST_PARTS], count = (int64_t)strlen(part->fields);
        for (int64_t k = 0; k < count; k++)
            words[k] = word_of(sequence_item(o, k), part->fields[k]);
        return append_entry(c, words, count);
    }
    default: {
        int64_t word = word_of(v, part->item);
        return append_entry(c, &word, 1); /* little endian: a bool is its first byte */
    }
    }
}

static int list_out(weft_column *c, const weft_part *part, const wp_list *l)
{
    char repr = item_repr(l->head.type);
    if ((part->item == 'i' && repr == 'i') || (part->item == 'd' && repr == 'd'))
        return extend_column(c, l->data, l->length);
    int64_t width = item_width(l->head.type);
    for (int64_t i = 0; i < l->length; i++)
        if (entry_out(c, part, wp_from_slot(l->data + i * width, repr)) != 0)
            return -1;
    return 0;
}

/* A list as a row of numbers. */
static int row_out(weft_column *c, const weft_part *part, const wp_list *l)
{
    if (make_room(c, l->length) != 0)
        return -1;
    char repr = item_repr(l->head.type);
    int64_t width = item_width(l->head.type);
    for (int64_t i = 0; i < l->length; i++) {
        int64_t word = word_of(wp_from_slot(l->data + i * width, repr), part->item);
        memcpy(c->items + (c->filled + i) * c->size, &word, (size_t)c->size);
    }
    c->filled += l->length;
    c->starts[++c->count] = c->filled;
    return 0;
}

static int tuple_out(weft_handle *h, const wp_object *o)
{
    for (int k = 0; k < h->kind->count; k++)
        if (entry_out(&h->parts[k], &h->kind->parts[k], sequence_item(o, k)) != 0)
            return -1;
    return 0;
}

static int items_out(weft_handle *h, wp_val v)
{
    const wp_object *o = object_in(v);
    weft_column *c = h->parts;
    const weft_part *part = h->kind->parts;
    switch (h->kind->form) {
    case 's': return text_out(c, (const wp_str *)o, 0);
    case 'y': return extend_column(c, ((const wp_str *)o)->data, ((const wp_str *)o)->length);
    case 'l':
        if (o->type->kind == WP_LIST || o->type->count < 0)
            return list_out(c, part, (const wp_list *)o);
        for (int64_t i = 0; i < sequence_length(o); i++)
            if (entry_out(c, part, sequence_item(o, i)) != 0)
                return -1;
        return 0;
    case 'r':
        for (int64_t i = 0; i < sequence_length(o); i++)
            if (row_out(c, part, (const wp_list *)object_in(sequence_item(o, i))) != 0)
                return -1;
        return 0;
    case 'c':
        for (int64_t i = 0; i < sequence_length(o); i++)
            if (tuple_out(h, object_in(sequence_item(o, i))) != 0)
                return -1;
        return 0;
    case 't': return tuple_out(h, o);
    case 'd': {
        const wp_dict *d = (const wp_dict *)o;
        for (int64_t i = wp_dict_next(d, 0); i >= 0; i = wp_dict_next(d, i + 1))
            if (entry_out(c, part, wp_from_slot(wp_dict_key_at(d, i), d->key_repr)) != 0 ||
                entry_out(c + 1, part + 1, wp_from_slot(wp_dict_value_at(d, i), d->value_repr)) != 0)
                return -1;
        return 0;
    }
    default: {
        const wp_set *s = (const wp_set *)o;
        for (int64_t i = wp_set_next(s, 0); i >= 0; i = wp_set_next(s, i + 1))
            if (entry_out(c, part, wp_from_slot(wp_set_key_at(s, i), s->repr)) != 0)
                return -1;
        return 0;
    }
    }
}

/* Handles under way, which a call that deoptimises frees. */
static struct {
    weft_handle *items[64];
    int count;
} making;

static weft_handle *handle_out(wp_val v, const weft_kind *kind)
{
    weft_handle *made = new_handle(kind);
    if (made == NULL)
        return NULL;
    if (making.count == 64) {
        free_handle(made);
        wp_deopt("containers that are nested deeply", 0);
    }
    making.items[making.count++] = made;
    int done = items_out(made, v) == 0;
    making.count--;
    if (!done) {
        free_handle(made);
        return NULL;
    }
    return made;
}

/* --- UTF-8 --- */

static int utf8_of(int32_t code, char *text)
{
    uint32_t c = (uint32_t)code;
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    for (int next = more; next > 0; next--, c >>= 6)
        text[next] = (char)(0x80 | (c & 0x3F));
    text[0] = (char)(more == 0 ? c : c | (0xFF00u >> (more + 1) & 0xFFu));
    return more + 1;
}
