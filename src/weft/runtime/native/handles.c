/* Lists, strings and dicts of a C host: what an opaque handle points to.

   In: calls of the generated accessors, and words of kernels. Out: columns of numbers, as kernels have them. A handle has one
   column, or two if it is a dict: keys and values. A column is one number an entry, or (`starts`) a row of numbers an entry:
   then one more array tells where each row begins, and where the last one ends. A string is a column of code points, a list of
   strings one of rows of code points. An index by hash finds the keys of dicts; it is made when somebody looks for one. */

typedef struct {
    char *items;
    int64_t *starts; /* NULL: one number an entry */
    int64_t count;   /* entries */
    int64_t filled;  /* numbers */
    int64_t room, starts_room;
    int size; /* bytes of a number */
} weft_column;

typedef struct {
    weft_column parts[2];
    int64_t *index; /* 1 + the entry of a key, 0: none */
    int64_t index_room;
} weft_handle;

static const int64_t nothing[2]; /* where an empty column is */

static int grow(void **memory, int64_t *room, int64_t needed, int64_t used, int size)
{
    if (needed <= *room)
        return 0;
    int64_t more = *room * 2 > needed ? *room * 2 : needed < 8 ? 8 : needed, bytes;
    void *now = __builtin_mul_overflow(more, (int64_t)size, &bytes) ? NULL : rt_alloc(bytes);
    if (now == NULL)
        return -1;
    if (used > 0)
        memcpy(now, *memory, (size_t)(used * size));
    rt_release(*memory);
    *memory = now;
    *room = more;
    return 0;
}

/* Room for one entry of so many numbers more. */
static int make_room(weft_column *c, int64_t numbers)
{
    int64_t needed;
    if (__builtin_add_overflow(c->filled, numbers, &needed) || needed >= LARGEST_EXTENT)
        return -1;
    if (c->starts != NULL && grow((void **)&c->starts, &c->starts_room, c->count + 2, c->count + 1, (int)sizeof *c->starts) != 0)
        return -1;
    return grow((void **)&c->items, &c->room, needed, c->filled, c->size);
}

static int begin_column(weft_column *c, int size, int has_rows)
{
    c->size = size;
    if (!has_rows)
        return 0;
    c->starts = rt_alloc(8 * (int64_t)sizeof *c->starts);
    if (c->starts == NULL)
        return -1;
    c->starts_room = 8;
    c->starts[0] = 0;
    return 0;
}

static void end_column(weft_column *c)
{
    rt_release(c->items);
    rt_release(c->starts);
    memset(c, 0, sizeof *c);
}

static void free_handle(void *given)
{
    weft_handle *h = given;
    if (h == NULL)
        return;
    end_column(&h->parts[0]);
    end_column(&h->parts[1]);
    rt_release(h->index);
    rt_release(h);
}

/* A new weft_handle; `second`: the bytes of a value, 0 if it is no dict. */
static weft_handle *new_handle(int first, int first_rows, int second, int second_rows)
{
    weft_handle *h = rt_alloc((int64_t)sizeof *h);
    if (h == NULL)
        return NULL;
    memset(h, 0, sizeof *h);
    if (begin_column(&h->parts[0], first, first_rows) != 0 || begin_column(&h->parts[1], second, second_rows) != 0) {
        free_handle(h);
        return NULL;
    }
    return h;
}

static int append_entry(weft_column *c, const void *numbers, int64_t count)
{
    if (make_room(c, count) != 0)
        return -1;
    if (count > 0)
        memcpy(c->items + c->filled * c->size, numbers, (size_t)(count * c->size));
    c->filled += count;
    c->count++;
    if (c->starts != NULL)
        c->starts[c->count] = c->filled;
    return 0;
}

/* Many numbers at once, an entry each. */
static int extend_column(weft_column *c, const void *numbers, int64_t count)
{
    if (make_room(c, count) != 0)
        return -1;
    if (count > 0)
        memcpy(c->items + c->filled * c->size, numbers, (size_t)(count * c->size));
    c->filled += count;
    c->count += count;
    return 0;
}

static int64_t begin_of(const weft_column *c, int64_t at) { return c->starts != NULL ? c->starts[at] : at; }
static int64_t length_of(const weft_column *c, int64_t at) { return c->starts != NULL ? c->starts[at + 1] - c->starts[at] : 1; }
static void *entry_of(const weft_column *c, int64_t at) { return c->items + begin_of(c, at) * c->size; }

/* Another entry in the place of one. */
static int replace_entry(weft_column *c, int64_t at, const void *numbers, int64_t count)
{
    int64_t before = length_of(c, at), more = count - before;
    if (more > 0 && make_room(c, more) != 0)
        return -1;
    if (more != 0) {
        int64_t end = begin_of(c, at) + before;
        memmove(c->items + (end + more) * c->size, c->items + end * c->size, (size_t)((c->filled - end) * c->size));
        for (int64_t next = at + 1; next <= c->count; next++)
            c->starts[next] += more;
        c->filled += more;
    }
    if (count > 0)
        memcpy(entry_of(c, at), numbers, (size_t)(count * c->size));
    return 0;
}

static int copy_column(weft_column *to, const weft_column *from)
{
    if (begin_column(to, from->size, from->starts != NULL) != 0 || make_room(to, from->filled) != 0)
        return -1;
    if (from->starts != NULL) {
        if (grow((void **)&to->starts, &to->starts_room, from->count + 1, 1, (int)sizeof *to->starts) != 0)
            return -1;
        memcpy(to->starts, from->starts, (size_t)(from->count + 1) * sizeof *to->starts);
    }
    if (from->filled > 0)
        memcpy(to->items, from->items, (size_t)(from->filled * from->size));
    to->filled = from->filled;
    to->count = from->count;
    return 0;
}

static weft_handle *copy_handle(const void *given)
{
    const weft_handle *from = given;
    weft_handle *h = new_handle(0, 0, 0, 0);
    if (h != NULL && (copy_column(&h->parts[0], &from->parts[0]) != 0 || copy_column(&h->parts[1], &from->parts[1]) != 0)) {
        free_handle(h);
        return NULL;
    }
    return h;
}

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

static weft_handle *new_text(const char *text, int64_t bytes)
{
    decoded given;
    if (read_text(text, bytes, &given) != WEFT_OK)
        return NULL;
    weft_handle *h = new_handle(4, 0, 0, 0);
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

/* A handle of the caller's gets what a new one holds, which is gone then. */
static void refill(void *given, weft_handle *made)
{
    weft_handle *h = given;
    end_column(&h->parts[0]);
    end_column(&h->parts[1]);
    rt_release(h->index);
    *h = *made;
    rt_release(made);
}
