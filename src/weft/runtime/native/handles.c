/* Lists, strings and dicts of a C host.  In: calls of the generated accessors, and words of kernels. Out: columns of numbers, as
   kernels have them (handle_columns.c). */

#include "handle_columns.c"

/* --- accessors --- */

static int64_t handle_length(const void *given) { return given == NULL ? -1 : ((const weft_handle *)given)->parts[0].count; }

static int read_entry(const void *given, int part, int64_t at, void *item)
{
    const weft_handle *h = given;
    if (h == NULL || item == NULL)
        return WEFT_NULL;
    if (at < 0 || at >= h->parts[part].count)
        return WEFT_RAISED;
    memcpy(item, entry_of(&h->parts[part], at), (size_t)h->parts[part].size);
    return WEFT_OK;
}

static int write_entry(void *given, int64_t at, const void *numbers, int64_t count)
{
    weft_handle *h = given;
    if (h == NULL || (numbers == NULL && count > 0))
        return WEFT_NULL;
    if (at < 0 || at >= h->parts[0].count)
        return WEFT_RAISED;
    return replace_entry(&h->parts[0], at, numbers, count) != 0 ? WEFT_MEMORY : WEFT_OK;
}

static int add_entry(void *given, const void *numbers, int64_t count)
{
    weft_handle *h = given;
    if (h == NULL || (numbers == NULL && count > 0))
        return WEFT_NULL;
    if (count < 0)
        return WEFT_EXTENT;
    return append_entry(&h->parts[0], numbers, count) != 0 ? WEFT_MEMORY : WEFT_OK;
}

/* The place of element `j` of row `i`; NULL if there is none. */
static void *row_element(const void *given, int64_t i, int64_t j)
{
    const weft_handle *h = given;
    const weft_column *c = &h->parts[0];
    if (i < 0 || i >= c->count || j < 0 || j >= length_of(c, i))
        return NULL;
    return (char *)entry_of(c, i) + j * c->size;
}

/* --- text: UTF-8 outside, code points inside --- */

/* The code points of a text, into `codes` if that is not NULL; how many, or -1 if it is not UTF-8. */
static int64_t decode(const char *text, int64_t bytes, int32_t *codes)
{
    const unsigned char *from = (const unsigned char *)text;
    int64_t count = 0;
    for (int64_t at = 0; at < bytes; count++) {
        uint32_t first = from[at], code = first;
        int more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
        if ((first >= 0x80 && first < 0xC2) || first >= 0xF5 || at + more >= bytes)
            return -1;
        if (more > 0)
            code = first & (0x3Fu >> more);
        for (int next = 1; next <= more; next++) {
            if ((from[at + next] & 0xC0) != 0x80)
                return -1;
            code = code << 6 | (from[at + next] & 0x3F);
        }
        if ((more == 2 && (code < 0x800 || (code >= 0xD800 && code < 0xE000))) || (more == 3 && (code < 0x10000 || code > 0x10FFFF)))
            return -1;
        if (codes != NULL)
            codes[count] = (int32_t)code;
        at += more + 1;
    }
    return count;
}

/* Code points as UTF-8 with a zero behind, as far as there is room for whole characters; the bytes of all of them. */
static int64_t encode(const int32_t *codes, int64_t count, char *text, int64_t room)
{
    int64_t bytes = 0, end = 0;
    for (int64_t at = 0; at < count; at++) {
        uint32_t code = (uint32_t)codes[at];
        int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        if (text != NULL && end == bytes && bytes + more + 1 < room) {
            for (int next = more; next > 0; next--, code >>= 6)
                text[bytes + next] = (char)(0x80 | (code & 0x3F));
            text[bytes] = (char)(more == 0 ? code : code | (0xFF00u >> (more + 1) & 0xFFu));
            end += more + 1;
        }
        bytes += more + 1;
    }
    if (text != NULL && room > 0)
        text[end] = 0;
    return bytes;
}

typedef struct {
    int32_t *codes;
    int64_t count;
    int32_t few[64]; /* where short texts are */
} decoded;

/* 0, or the code of what is wrong; `bytes` below 0: up to the zero. */
static int read_text(const char *text, int64_t bytes, decoded *out)
{
    out->codes = NULL;
    if (text == NULL && bytes != 0)
        return WEFT_NULL;
    if (bytes < 0)
        bytes = (int64_t)strlen(text);
    out->count = decode(text, bytes, NULL);
    if (out->count < 0)
        return WEFT_RAISED;
    out->codes = out->count <= 64 ? out->few : rt_alloc(out->count * (int64_t)sizeof *out->codes);
    if (out->codes == NULL)
        return WEFT_MEMORY;
    decode(text, bytes, out->codes);
    return WEFT_OK;
}

static void drop_text(decoded *text)
{
    if (text->codes != text->few)
        rt_release(text->codes);
}

static const weft_kind text_kind = {'s', 1, {{.item = 's', .size = 4}}};

static weft_handle *new_text(const char *text, int64_t bytes)
{
    decoded given;
    if (read_text(text, bytes, &given) != WEFT_OK)
        return NULL;
    weft_handle *h = new_handle(&text_kind);
    if (h != NULL && extend_column(&h->parts[0], given.codes, given.count) != 0) {
        free_handle(h);
        h = NULL;
    }
    drop_text(&given);
    return h;
}

static int64_t show_text(const void *given, char *text, int64_t room)
{
    const weft_handle *h = given;
    return h == NULL ? -1 : encode((const int32_t *)h->parts[0].items, h->parts[0].count, text, room);
}

/* A text that is an entry; -1 if there is none. */
static int64_t show_entry(const void *given, int part, int64_t at, char *text, int64_t room)
{
    const weft_handle *h = given;
    if (h == NULL || at < 0 || at >= h->parts[part].count)
        return -1;
    return encode(entry_of(&h->parts[part], at), length_of(&h->parts[part], at), text, room);
}

static int add_text(void *given, const char *text)
{
    decoded item;
    int status = read_text(text, -1, &item);
    if (status == WEFT_OK) {
        status = add_entry(given, item.codes, item.count);
        drop_text(&item);
    }
    return status;
}

static int write_text(void *given, int64_t at, const char *text)
{
    decoded item;
    int status = read_text(text, -1, &item);
    if (status == WEFT_OK) {
        status = write_entry(given, at, item.codes, item.count);
        drop_text(&item);
    }
    return status;
}

/* --- dicts --- */

static uint64_t hash_of(const void *numbers, int64_t bytes)
{
    const unsigned char *from = numbers;
    uint64_t hash = 0x9E3779B97F4A7C15u;
    for (int64_t at = 0; at < bytes; at++)
        hash = (hash ^ from[at]) * 0x100000001B3u;
    return hash ^ hash >> 29;
}

static int64_t slot_of(const weft_handle *h, const void *key, int64_t count)
{
    const weft_column *keys = &h->parts[0];
    int64_t mask = h->index_room - 1, place = (int64_t)hash_of(key, count * keys->size) & mask;
    for (;; place = (place + 1) & mask) {
        int64_t at = h->index[place] - 1;
        if (at < 0 || (length_of(keys, at) == count && memcmp(entry_of(keys, at), key, (size_t)(count * keys->size)) == 0))
            return place;
    }
}

/* An index of all keys, with room for one more; of equal keys the first is in it. */
static int make_index(weft_handle *h)
{
    const weft_column *keys = &h->parts[0];
    if (h->index != NULL && h->index_room >= 2 * (keys->count + 1))
        return 0;
    int64_t room = 16;
    while (room < 4 * (keys->count + 1))
        room *= 2;
    int64_t *now = rt_alloc(room * (int64_t)sizeof *now);
    if (now == NULL)
        return -1;
    memset(now, 0, (size_t)room * sizeof *now);
    rt_release(h->index);
    h->index = now;
    h->index_room = room;
    for (int64_t at = 0; at < keys->count; at++) {
        int64_t place = slot_of(h, entry_of(keys, at), length_of(keys, at));
        if (now[place] == 0)
            now[place] = at + 1;
    }
    return 0;
}

/* The entry of a key, -1 if there is none, -2 without memory. */
static int64_t find_key(const void *given, const void *key, int64_t count)
{
    weft_handle *h = (weft_handle *)(uintptr_t)given;
    return make_index(h) != 0 ? -2 : h->index[slot_of(h, key, count)] - 1;
}

static int put_entry(void *given, const void *key, int64_t key_count, const void *value, int64_t value_count)
{
    weft_handle *h = given;
    if (h == NULL)
        return WEFT_NULL;
    int64_t at = find_key(h, key, key_count);
    if (at == -2)
        return WEFT_MEMORY;
    if (at >= 0)
        return replace_entry(&h->parts[1], at, value, value_count) != 0 ? WEFT_MEMORY : WEFT_OK;
    if (make_room(&h->parts[0], key_count) != 0 || append_entry(&h->parts[1], value, value_count) != 0)
        return WEFT_MEMORY;
    append_entry(&h->parts[0], key, key_count);
    h->index[slot_of(h, key, key_count)] = h->parts[0].count;
    return WEFT_OK;
}

/* --- to kernels and back --- */

static inline int64_t where_is(const void *items) { return (int64_t)(uintptr_t)(items == NULL ? nothing : items); }

/* The words of a column: of its starts, if it has rows, and of its numbers. */
static inline void take_column(const weft_column *c, int64_t *starts, int64_t *numbers)
{
    if (starts != NULL) {
        starts[0] = where_is(c->starts);
        starts[1] = c->count + 1;
        starts[2] = 1;
    }
    numbers[0] = where_is(c->items);
    numbers[1] = c->filled;
    numbers[2] = 1;
}

/* Whether all rows have one length. */
static int has_even_rows(const void *given)
{
    const weft_column *c = &((const weft_handle *)given)->parts[0];
    for (int64_t at = 1; at < c->count; at++)
        if (length_of(c, at) != length_of(c, 0))
            return 0;
    return 1;
}

/* The words of rows of one length. */
static inline void take_rows(const void *given, int64_t *w)
{
    const weft_column *c = &((const weft_handle *)given)->parts[0];
    int64_t length = c->count > 0 ? length_of(c, 0) : 0;
    w[0] = where_is(c->items);
    w[1] = c->count;
    w[2] = w[3] = length;
    w[4] = 1;
}

/* The numbers of a new array become a column, and are its own from then on. */
static int give_column(weft_column *c, int64_t *w, int slot, int size)
{
    made_array *made = (made_array *)(uintptr_t)w[slot];
    end_column(c);
    c->size = size;
    if (made == NULL)
        return -1;
    c->items = made->data;
    c->count = c->filled = c->room = made->shape[0];
    rt_release(made);
    w[slot] = 0;
    return 0;
}

/* The rows of a new matrix. */
static int give_rows(weft_column *c, int64_t *w, int slot, int size)
{
    const made_array *made = (const made_array *)(uintptr_t)w[slot];
    end_column(c);
    if (made == NULL || begin_column(c, size, 1) != 0)
        return -1;
    for (int64_t at = 0; at < made->shape[0]; at++)
        if (append_entry(c, (const char *)made->data + at * made->shape[1] * size, made->shape[1]) != 0)
            return -1;
    return 0;
}

/* Parts of a new array, by where each begins and how long it is. */
static int give_parts(weft_column *c, int64_t *w, int from, int starts, int lengths, int size)
{
    const made_array *items = (const made_array *)(uintptr_t)w[from], *begin = (const made_array *)(uintptr_t)w[starts],
                     *length = (const made_array *)(uintptr_t)w[lengths];
    end_column(c);
    if (items == NULL || begin == NULL || length == NULL || begin_column(c, size, 1) != 0)
        return -1;
    for (int64_t at = 0; at < begin->shape[0]; at++)
        if (append_entry(c, (const char *)items->data + ((const int64_t *)begin->data)[at] * size, ((const int64_t *)length->data)[at]) != 0)
            return -1;
    return 0;
}

/* Lists by their numbers among all; one below 0 is empty. */
static int give_numbered(weft_column *c, int64_t *w, int numbers, int starts, int items, int size)
{
    const made_array *which = (const made_array *)(uintptr_t)w[numbers], *begin = (const made_array *)(uintptr_t)w[starts],
                     *all = (const made_array *)(uintptr_t)w[items];
    end_column(c);
    if (which == NULL || begin == NULL || all == NULL || begin_column(c, size, 1) != 0)
        return -1;
    for (int64_t at = 0; at < which->shape[0]; at++) {
        int64_t number = ((const int64_t *)which->data)[at];
        const int64_t *bounds = (const int64_t *)begin->data + (number < 0 ? 0 : number);
        if (append_entry(c, (const char *)all->data + bounds[0] * size, number < 0 ? 0 : bounds[1] - bounds[0]) != 0)
            return -1;
    }
    return 0;
}

/* --- what containers in containers, tuples and sets have besides --- */

/* An item on its way into a container: numbers, a text, or a copy of another container. */
typedef struct {
    const void *numbers;
    int64_t count, words[MOST_PARTS];
    decoded text;
    int has_text;
    weft_handle *inner;
} weft_item;

static int begin_items(const void *given, weft_item *items, int count)
{
    for (int at = 0; at < count; at++) {
        items[at].has_text = 0;
        items[at].inner = NULL;
    }
    return given == NULL ? WEFT_NULL : WEFT_OK;
}

static int number_item(weft_item *item, const void *number, int size)
{
    memcpy(item->words, number, (size_t)size);
    item->numbers = item->words;
    item->count = 1;
    return WEFT_OK;
}

/* Numbers of a tuple, side by side. */
static int words_item(weft_item *item, int count, const void *const *numbers, const size_t *sizes)
{
    memset(item->words, 0, sizeof item->words);
    for (int place = 0; place < count; place++)
        memcpy(&item->words[place], numbers[place], sizes[place]);
    item->numbers = item->words;
    item->count = count;
    return WEFT_OK;
}

static int text_item(weft_item *item, const char *text)
{
    int status = read_text(text, -1, &item->text);
    if (status != WEFT_OK)
        return status;
    item->has_text = 1;
    item->numbers = item->text.codes;
    item->count = item->text.count;
    return WEFT_OK;
}

static int inner_item(weft_item *item, const void *given)
{
    if (given == NULL)
        return WEFT_NULL;
    item->inner = copy_handle(given);
    if (item->inner == NULL)
        return WEFT_MEMORY;
    item->inner->is_inner = 1;
    item->numbers = &item->inner;
    item->count = 1;
    return WEFT_OK;
}

/* What was not put anywhere is freed. */
static int end_items(int status, weft_item *items, int count)
{
    for (int at = 0; at < count; at++) {
        if (items[at].has_text)
            drop_text(&items[at].text);
        if (status != WEFT_OK)
            free_handle(items[at].inner);
    }
    return status;
}

/* One more entry in every column, or in none. */
static int append_items(int status, void *given, weft_item *items)
{
    weft_handle *h = given;
    const int count = h == NULL ? 0 : h->kind->count;
    for (int part = 0; part < count && status == WEFT_OK; part++)
        if (make_room(&h->parts[part], items[part].count) != 0)
            status = WEFT_MEMORY;
    for (int part = 0; part < count && status == WEFT_OK; part++)
        append_entry(&h->parts[part], items[part].numbers, items[part].count);
    return end_items(status, items, count > 0 ? count : 1);
}

/* Another item in the place of one. */
static int replace_item(int status, void *given, int part, int64_t at, weft_item *item)
{
    weft_handle *h = given;
    if (status == WEFT_OK && (at < 0 || at >= h->parts[part].count))
        status = WEFT_RAISED;
    weft_handle *before = status == WEFT_OK && item->inner != NULL ? ((weft_handle **)h->parts[part].items)[at] : NULL;
    if (status == WEFT_OK && replace_entry(&h->parts[part], at, item->numbers, item->count) != 0)
        status = WEFT_MEMORY;
    if (status == WEFT_OK)
        free_handle(before);
    return end_items(status, item, 1);
}

/* An entry of a dict or set: the key is the first item, a value the second. */
static int put_items(int status, void *given, weft_item *items)
{
    weft_handle *h = given;
    const int count = h == NULL ? 1 : h->kind->count;
    int64_t at = status == WEFT_OK ? find_key(h, items[0].numbers, items[0].count) : -1;
    if (status == WEFT_OK && at == -2)
        status = WEFT_MEMORY;
    if (status == WEFT_OK && at >= 0) {
        if (count > 1)
            status = replace_item(status, given, 1, at, &items[1]);
        return end_items(status, items, 1);
    }
    status = append_items(status, given, items);
    if (status == WEFT_OK) { /* texts are gone, but in the column */
        const weft_column *keys = &h->parts[0];
        h->index[slot_of(h, entry_of(keys, keys->count - 1), length_of(keys, keys->count - 1))] = keys->count;
    }
    return status;
}

/* The container that is an entry, as its owner has it; NULL if there is none. */
static void *inner_at(const void *given, int part, int64_t at)
{
    const weft_handle *h = given;
    return h == NULL || at < 0 || at >= h->parts[part].count ? NULL : ((void **)h->parts[part].items)[at];
}

/* A number of a tuple that is an entry. */
static int read_word(const void *given, int part, int64_t at, int place, void *number, int size)
{
    const weft_handle *h = given;
    if (h == NULL || number == NULL)
        return WEFT_NULL;
    if (at < 0 || at >= h->parts[part].count)
        return WEFT_RAISED;
    memcpy(number, (const int64_t *)entry_of(&h->parts[part], at) + place, (size_t)size);
    return WEFT_OK;
}
