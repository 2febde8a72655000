/* What an opaque handle of a C host points to: columns of numbers.

   A handle has one column, two if it is a dict (keys and values), or one for each field of tuples. A column is one number an
   entry, or (`starts`) a row of numbers an entry: then one more array tells where each row begins, and where the last one ends.
   A string is a column of code points, a list of strings one of rows of code points. Containers in containers are handles that
   the outer one owns. An index by hash finds the keys of dicts and sets; it is made when somebody looks for one.

   In front of this file stand the generated header, `rt_alloc`, `rt_release` and LARGEST_EXTENT. */

enum { MOST_PARTS = 8 };

/* What a column holds: i integers, d floats, b bools, s texts, y bytes, h handles, k tuples of numbers side by side. */
typedef struct {
    char item;
    int size;                      /* bytes of a number */
    int has_rows;
    const struct weft_kind *inner; /* h: of which kind; k: NULL */
    const char *fields;            /* k: of which numbers */
} weft_part;

/* form: l list, r rows of numbers, s text, y bytes, d dict, e set, t tuple, c list of tuples */
typedef struct weft_kind {
    char form;
    int count;
    weft_part parts[MOST_PARTS];
} weft_kind;

typedef struct {
    char *items;
    int64_t *starts; /* NULL: one number an entry */
    int64_t count;   /* entries */
    int64_t filled;  /* numbers */
    int64_t room, starts_room;
    int size; /* bytes of a number */
} weft_column;

typedef struct {
    const weft_kind *kind;
    int is_inner; /* another handle owns it */
    int64_t *index; /* 1 + the entry of a key, 0: none */
    int64_t index_room;
    weft_column parts[];
} weft_handle;

static const int64_t nothing[2]; /* where an empty column is */

static int grow(void **memory, int64_t *room, int64_t needed, int64_t used, int size)
{
    if (needed <= *room)
        return 0;
    int64_t more = *room * 2 > needed ? *room * 2 : needed < 8 ? 8 : needed, bytes;
    void *larger = __builtin_mul_overflow(more, (int64_t)size, &bytes) ? NULL : rt_alloc(bytes);
    if (larger == NULL)
        return -1;
    if (used > 0)
        memcpy(larger, *memory, (size_t)(used * size));
    rt_release(*memory);
    *memory = larger;
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
    for (int part = 0; part < h->kind->count; part++) {
        weft_column *c = &h->parts[part];
        for (int64_t at = 0; h->kind->parts[part].item == 'h' && at < c->count; at++)
            free_handle(((weft_handle **)c->items)[at]);
        end_column(c);
    }
    rt_release(h->index);
    rt_release(h);
}

static weft_handle *new_handle(const weft_kind *kind)
{
    int64_t bytes = (int64_t)(sizeof(weft_handle) + (size_t)kind->count * sizeof(weft_column));
    weft_handle *h = rt_alloc(bytes);
    if (h == NULL)
        return NULL;
    memset(h, 0, (size_t)bytes);
    h->kind = kind;
    for (int part = 0; part < kind->count; part++)
        if (begin_column(&h->parts[part], kind->parts[part].size, kind->parts[part].has_rows) != 0) {
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
    weft_handle *h = new_handle(from->kind);
    for (int part = 0; h != NULL && part < from->kind->count; part++) {
        const weft_column *c = &from->parts[part];
        int wrong = 0;
        if (from->kind->parts[part].item != 'h') {
            end_column(&h->parts[part]);
            wrong = copy_column(&h->parts[part], c) != 0;
        }
        for (int64_t at = 0; from->kind->parts[part].item == 'h' && at < c->count && !wrong; at++) {
            weft_handle *inner = copy_handle(((weft_handle **)c->items)[at]);
            wrong = inner == NULL || append_entry(&h->parts[part], &inner, 1) != 0;
            if (inner != NULL)
                inner->is_inner = 1;
            if (wrong)
                free_handle(inner);
        }
        if (wrong) {
            free_handle(h);
            h = NULL;
        }
    }
    return h;
}

/* A handle of the caller's gets what a new one holds, which is gone then. */
static void refill(void *given, weft_handle *made)
{
    weft_handle *h = given;
    for (int part = 0; part < h->kind->count; part++) {
        weft_column *c = &h->parts[part], before = *c, *fresh = &made->parts[part];
        if (c->starts == NULL && h->kind->parts[part].item != 'h' && fresh->filled <= c->room) { /* where it is it stays */
            if (fresh->filled > 0)
                memcpy(c->items, fresh->items, (size_t)(fresh->filled * c->size));
            c->filled = fresh->filled;
            c->count = fresh->count;
            continue;
        }
        *c = *fresh;
        *fresh = before;
    }
    rt_release(h->index);
    h->index = NULL;
    h->index_room = 0;
    free_handle(made);
}
