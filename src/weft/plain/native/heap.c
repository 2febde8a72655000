/* The heap of a call: a conservative mark-and-sweep collector.

   In: sizes and flavours of blocks (objects that have a type, memory with references, plain memory). Out: zeroed blocks. Small
   ones lie in chunks of one size and flavour each, with a bit for every cell that is taken; a run of free cells is taken at
   once and given out by moving a pointer. Large ones come from malloc. */

#include "api.h"

enum { CHUNK = 1 << 18, CHUNK_HEAD = 4352, CHUNKS_AT_ONCE = 16, BIT_WORDS = CHUNK / 16 / 64, LARGEST_CELL = 8192 };
enum { KEPT_CHUNKS = (64 << 20) / CHUNK };
enum { RUN = 512 }; /* cells that are taken at once, at most: a short call needs few */
static const size_t LEAST_LIMIT = (size_t)64 << 20;

struct chunk {
    chunk *next;
    uint64_t owner; /* number of the call; 0: nobody's */
    uint32_t size, count, cursor; /* bytes of a cell, cells, the first one not looked at */
    int32_t flavour;
    uint64_t taken[BIT_WORDS], marked[BIT_WORDS];
};

_Static_assert(sizeof(chunk) <= CHUNK_HEAD, "the head of a chunk fits its place");

static const uint32_t cell_sizes[CLASSES] = {
    16,  16,  32,  48,  64,  80,  96,  112, 128, 144, 160, 176, 192, 208, 224, 240, 256, 272,  288,  304,  320, 336,
    352, 368, 384, 400, 416, 432, 448, 464, 480, 496, 512, 640, 768, 1024, 1280, 1536, 2048, 3072, 4096, 6144, 8192,
};

static inline int class_of(size_t bytes)
{
    if (bytes <= 512)
        return (int)((bytes + 15) >> 4);
    int found = SMALL_CLASSES;
    while (cell_sizes[found] < bytes)
        found++;
    return found;
}

/* --- chunks of the process: those in use are found by address --- */

static struct {
    chunk **table; /* by address, open addressing; never shrinks: chunks stay mapped or are remembered as gone */
    int64_t places, count;
    chunk *free;
    int64_t free_count;
    uintptr_t low, high;
} chunks;

static int64_t collect_every, until_collect; /* WEFT_PLAIN_GC */
static uint64_t calls_made;

static void collect(void);

static inline size_t chunk_place(uintptr_t address) { return (address >> 18) * 0x9E3779B97F4A7C15u >> 20; }

static chunk *find_chunk(uintptr_t address)
{
    if (address < chunks.low || address >= chunks.high)
        return NULL;
    uintptr_t start = address & ~(uintptr_t)(CHUNK - 1);
    for (size_t i = chunk_place(start);; i++) {
        chunk *found = chunks.table[i & (size_t)(chunks.places - 1)];
        if ((uintptr_t)found == start)
            return found;
        if (found == NULL)
            return NULL;
    }
}

static int remember_chunk(chunk *fresh)
{
    if (2 * (chunks.count + 1) > chunks.places) {
        int64_t places = chunks.places ? 2 * chunks.places : 256;
        chunk **table = calloc((size_t)places, sizeof *table);
        if (table == NULL)
            return 0;
        for (int64_t k = 0; k < chunks.places; k++) {
            if (chunks.table[k] == NULL)
                continue;
            size_t i = chunk_place((uintptr_t)chunks.table[k]);
            while (table[i & (size_t)(places - 1)] != NULL)
                i++;
            table[i & (size_t)(places - 1)] = chunks.table[k];
        }
        free(chunks.table);
        chunks.table = table;
        chunks.places = places;
    }
    size_t i = chunk_place((uintptr_t)fresh);
    while (chunks.table[i & (size_t)(chunks.places - 1)] != NULL)
        i++;
    chunks.table[i & (size_t)(chunks.places - 1)] = fresh;
    chunks.count++;
    if (chunks.low == 0 || (uintptr_t)fresh < chunks.low)
        chunks.low = (uintptr_t)fresh;
    if ((uintptr_t)fresh + CHUNK > chunks.high)
        chunks.high = (uintptr_t)fresh + CHUNK;
    return 1;
}

/* More chunks from the system, into the list of free ones. */
static int map_chunks(void)
{
    size_t bytes = (size_t)CHUNK * (CHUNKS_AT_ONCE + 1);
    char *area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED)
        return 0;
    char *start = (char *)(((uintptr_t)area + CHUNK - 1) & ~(uintptr_t)(CHUNK - 1));
    if (start > area)
        munmap(area, (size_t)(start - area));
    char *end = start + (size_t)CHUNK * CHUNKS_AT_ONCE;
    if (area + bytes > end)
        munmap(end, (size_t)(area + bytes - end));
    for (int k = CHUNKS_AT_ONCE - 1; k >= 0; k--) {
        chunk *fresh = (chunk *)(start + (size_t)k * CHUNK);
        if (!remember_chunk(fresh))
            return 0;
        fresh->next = chunks.free;
        chunks.free = fresh;
        chunks.free_count++;
    }
    return 1;
}

/* Words of bits that the cells of a chunk need; those behind are never looked at. */
static inline size_t words_of(const chunk *c) { return (c->count + 63) / 64; }

static chunk *take_chunk(int flavour, int which)
{
    if (chunks.free == NULL && !map_chunks())
        wp_deopt("out of memory", 0);
    chunk *taken = chunks.free;
    chunks.free = taken->next;
    chunks.free_count--;
    now.heap.used = 1;
    taken->next = NULL;
    taken->owner = now.heap.number;
    taken->size = cell_sizes[which];
    taken->count = (CHUNK - CHUNK_HEAD) / taken->size;
    taken->cursor = 0;
    taken->flavour = flavour;
    size_t bytes = words_of(taken) * sizeof(uint64_t);
    memset(taken->taken, 0, bytes);
    memset(taken->marked, 0, bytes);
    now.heap.taken[flavour] |= (uint64_t)1 << which;
    return taken;
}

/* --- cells --- */

static inline int bit_at(const uint64_t *bits, uint32_t i) { return bits[i >> 6] >> (i & 63) & 1; }

/* The first cell at or after `from` whose bit is as wanted, or count. */
static uint32_t next_bit(const uint64_t *bits, uint32_t from, uint32_t count, int wanted)
{
    while (from < count) {
        uint64_t word = (wanted ? bits[from >> 6] : ~bits[from >> 6]) >> (from & 63);
        if (word != 0) {
            from += (uint32_t)__builtin_ctzll(word);
            return from < count ? from : count;
        }
        from = (from | 63) + 1;
    }
    return count;
}

static void set_bits(uint64_t *bits, uint32_t from, uint32_t to, int value)
{
    while (from < to) {
        uint32_t end = (from | 63) + 1 < to ? (from | 63) + 1 : to;
        uint64_t mask = (end - from == 64 ? ~(uint64_t)0 : ((uint64_t)1 << (end - from)) - 1) << (from & 63);
        bits[from >> 6] = value ? bits[from >> 6] | mask : bits[from >> 6] & ~mask;
        from = end;
    }
}

static inline char *cell_at(chunk *c, uint32_t i) { return (char *)c + CHUNK_HEAD + (size_t)i * c->size; }

/* A run of free cells of the class: bump and end are set. */
static void take_run(int flavour, int which)
{
    cells *class = &now.heap.classes[flavour][which];
    for (;;) {
        chunk *c = class->current;
        if (c != NULL) {
            uint32_t from = next_bit(c->taken, c->cursor, c->count, 0);
            if (from < c->count) {
                uint32_t most = c->count - from < RUN ? c->count : from + RUN;
                uint32_t to = collect_every ? from + 1 : next_bit(c->taken, from, most, 1);
                set_bits(c->taken, from, to, 1);
                c->cursor = to;
                class->bump = cell_at(c, from);
                class->end = cell_at(c, to);
                now.heap.since += (size_t)(to - from) * c->size;
                return;
            }
            if (c->next != NULL) {
                class->current = c->next;
                continue;
            }
        }
        chunk *fresh = take_chunk(flavour, which);
        if (c != NULL)
            c->next = fresh;
        else
            class->first = fresh;
        class->current = fresh;
    }
}

static int collection_is_due(void)
{
    if (now.heap.frozen)
        return 0;
    if (collect_every && --until_collect <= 0) {
        until_collect = collect_every;
        return 1;
    }
    return now.heap.since > now.heap.limit;
}

/* Blocks of arrays that calls are done with, and later ones begin with: memory that the system has just given must be cleared by
   it first, page by page, which takes longer than the arithmetic. */

enum { KEPT_BLOCKS = 64, LARGEST_KEPT = 4 << 20, MOST_KEPT = 16 << 20 };

static struct {
    large *items[KEPT_BLOCKS];
    int count;
    size_t bytes;
} kept_blocks;

static void release_block(large *block)
{
    if (block->room == 0 || block->room > LARGEST_KEPT || kept_blocks.bytes + block->room > MOST_KEPT || kept_blocks.count == KEPT_BLOCKS) {
        free(block);
        return;
    }
    kept_blocks.bytes += block->room;
    kept_blocks.items[kept_blocks.count++] = block;
}

/* A block that is not cleared; NULL: there is no memory. */
static large *block_to_fill(size_t bytes)
{
    size_t room = (bytes + 4095) & ~(size_t)4095;
    large *block = NULL;
    for (int i = kept_blocks.count - 1; i >= 0 && block == NULL; i--)
        if (kept_blocks.items[i]->room == room) {
            block = kept_blocks.items[i];
            kept_blocks.items[i] = kept_blocks.items[--kept_blocks.count];
            kept_blocks.bytes -= room;
        }
    if (block == NULL && (block = malloc(sizeof *block + room)) == NULL)
        return NULL;
    *block = (large){.room = room};
    return block;
}

static void *large_block(int flavour, size_t bytes, int is_cleared)
{
    heap_state *h = &now.heap;
    if (collection_is_due())
        collect();
    if (h->block_count == h->block_capacity) {
        int64_t capacity = h->block_capacity ? 2 * h->block_capacity : 64;
        large **blocks = realloc(h->blocks, (size_t)capacity * sizeof *blocks);
        if (blocks == NULL)
            wp_deopt("out of memory", 0);
        h->blocks = blocks;
        h->block_capacity = capacity;
    }
    large *block = is_cleared ? calloc(1, sizeof *block + bytes) : block_to_fill(bytes);
    if (block == NULL)
        wp_deopt("out of memory", 0);
    block->size = bytes;
    block->flavour = flavour;
    block->position = h->block_count;
    h->blocks[h->block_count++] = block;
    h->used = 1;
    h->since += bytes;
    return block + 1;
}

static __attribute__((noinline)) void *slow_block(int flavour, size_t bytes)
{
    if (bytes > LARGEST_CELL)
        return large_block(flavour, bytes, 1);
    if (collection_is_due())
        collect();
    int which = class_of(bytes);
    cells *class = &now.heap.classes[flavour][which];
    if (class->bump == class->end)
        take_run(flavour, which);
    char *cell = class->bump;
    class->bump += cell_sizes[which];
    return memset(cell, 0, cell_sizes[which]);
}

static inline void *heap_block(int flavour, int64_t bytes)
{
    if (WP_UNLIKELY((uint64_t)bytes > ((uint64_t)1 << 46)))
        wp_deopt("out of memory", 0);
    if (WP_LIKELY(bytes <= 512)) {
        int which = (int)((bytes + 15) >> 4);
        cells *class = &now.heap.classes[flavour][which];
        char *cell = class->bump;
        if (WP_LIKELY(cell != class->end)) {
            class->bump = cell + (which ? which << 4 : 16);
            return memset(cell, 0, (size_t)which << 4);
        }
    }
    return slow_block(flavour, (size_t)bytes);
}

/* A block without references whose every byte is about to be written. */
static void *heap_unfilled(int64_t bytes)
{
    int is_large = bytes > LARGEST_CELL && bytes < (int64_t)1 << 46;
    return is_large ? large_block(PLAIN, (size_t)bytes, 0) : heap_block(PLAIN, bytes);
}

/* A block of the same content with room for more; the old one must not be used any more. */
static void *heap_larger(void *block, int flavour, int64_t old_bytes, int64_t bytes)
{
    if (old_bytes > LARGEST_CELL && bytes < (int64_t)1 << 46) {
        large *old = (large *)block - 1;
        int64_t position = old->position;
        large *grown = realloc(old, sizeof *grown + (size_t)bytes);
        if (grown == NULL)
            wp_deopt("out of memory", 0);
        memset((char *)(grown + 1) + old_bytes, 0, (size_t)(bytes - old_bytes));
        grown->size = (size_t)bytes;
        grown->room = 0;
        now.heap.blocks[position] = grown;
        now.heap.since += (size_t)(bytes - old_bytes);
        return grown + 1;
    }
    void *fresh = heap_block(flavour, bytes);
    if (old_bytes > 0)
        memcpy(fresh, block, (size_t)old_bytes);
    return fresh;
}

/* --- marking --- */

static struct {
    wp_object **objects;
    int64_t count, capacity;
    struct { char *start; size_t bytes; } *areas; /* found from the stack only: searched word by word */
    int64_t area_count, area_capacity;
    int failed;
} marking;

static void push_object(wp_object *object)
{
    if (marking.count == marking.capacity) {
        int64_t capacity = marking.capacity ? 2 * marking.capacity : 4096;
        void *grown = realloc(marking.objects, (size_t)capacity * sizeof *marking.objects);
        if (grown == NULL) {
            marking.failed = 1;
            return;
        }
        marking.objects = grown;
        marking.capacity = capacity;
    }
    marking.objects[marking.count++] = object;
}

static void push_area(char *start, size_t bytes)
{
    if (marking.area_count == marking.area_capacity) {
        int64_t capacity = marking.area_capacity ? 2 * marking.area_capacity : 64;
        void *grown = realloc(marking.areas, (size_t)capacity * sizeof *marking.areas);
        if (grown == NULL) {
            marking.failed = 1;
            return;
        }
        marking.areas = grown;
        marking.area_capacity = capacity;
    }
    marking.areas[marking.area_count].start = start;
    marking.areas[marking.area_count++].bytes = bytes;
}

static large *find_large(uintptr_t address)
{
    int64_t low = 0, high = now.heap.block_count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if ((uintptr_t)(now.heap.blocks[middle] + 1) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    large *block = now.heap.blocks[low - 1];
    return address < (uintptr_t)(block + 1) + block->size ? block : NULL;
}

/* Any word: if it is an address inside a block, that block stays. `searched`: its owner may be unknown. */
static void mark_word(uintptr_t address, int searched)
{
    chunk *c = find_chunk(address);
    if (c != NULL) {
        if (c->owner != now.heap.number || address < (uintptr_t)c + CHUNK_HEAD)
            return;
        uint32_t i = (uint32_t)(address - (uintptr_t)c - CHUNK_HEAD) / c->size;
        if (i >= c->count || !bit_at(c->taken, i) || bit_at(c->marked, i))
            return;
        c->marked[i >> 6] |= (uint64_t)1 << (i & 63);
        if (c->flavour == OBJECTS)
            push_object((wp_object *)cell_at(c, i));
        else if (searched && c->flavour == REFERENCES)
            push_area(cell_at(c, i), c->size);
        return;
    }
    large *block = find_large(address);
    if (block == NULL || block->marked)
        return;
    block->marked = 1;
    if (block->flavour == OBJECTS)
        push_object((wp_object *)(block + 1));
    else if (searched && block->flavour == REFERENCES)
        push_area((char *)(block + 1), block->size);
}

static inline void mark_slot(const void *slot, char repr)
{
    if (repr == 'p') {
        void *p = *(void *const *)slot;
        if (p != NULL)
            mark_word((uintptr_t)p, 0);
    } else if (repr == 'v' && ((const wp_val *)slot)->tag == WP_PTR)
        mark_word((uintptr_t)((const wp_val *)slot)->u.p, 0);
}

static void mark_items(const char *data, int64_t count, int64_t stride, char repr)
{
    if (flavour_of(repr) == REFERENCES)
        for (int64_t i = 0; i < count; i++)
            mark_slot(data + i * stride, repr);
}

static void trace_dict(const wp_dict *d)
{
    mark_word((uintptr_t)d->index, 0);
    mark_word((uintptr_t)d->entries, 0);
    mark_slot(&d->factory, 'p');
    for (int64_t i = d->first; i < d->count; i++) {
        const char *entry = d->entries + i * d->stride;
        if (*(const int64_t *)entry != -1) {
            mark_slot(entry + 8, d->key_repr);
            mark_slot(entry + d->value_offset, d->value_repr);
        }
    }
}

static void trace_set(const wp_set *s)
{
    mark_word((uintptr_t)s->table, 0);
    if (flavour_of(s->repr) == REFERENCES)
        for (int64_t i = wp_set_next(s, 0); i >= 0; i = wp_set_next(s, i + 1))
            mark_slot(wp_set_key_at(s, i), s->repr);
}

static void trace_deque(const wp_deque *q)
{
    char repr = item_repr(q->head.type);
    mark_word((uintptr_t)q->data, 0);
    mark_slot(&q->taken, repr);
    if (flavour_of(repr) == REFERENCES)
        for (int64_t i = 0; i < q->length; i++)
            mark_slot(q->data + ((q->start + i) & (q->capacity - 1)) * q->width, repr);
}

static void trace(wp_object *object)
{
    const wp_type *type = object->type;
    if (type == NULL)
        return;
    switch (type->kind) {
    case WP_STR:
    case WP_BYTES:
        mark_word((uintptr_t)((wp_str *)object)->data, 0); /* in a buffer, or in the string that this is a part of */
        return;
    case WP_DICT: trace_dict((wp_dict *)object); return;
    case WP_SET:
    case WP_FROZENSET: trace_set((wp_set *)object); return;
    case WP_DEQUE: trace_deque((wp_deque *)object); return;
    case WP_ARRAY:
        mark_word((uintptr_t)((wp_array *)object)->block, 0);
        mark_word((uintptr_t)((wp_array *)object)->base, 0);
        return;
    case WP_RANGE:
    case WP_OPAQUE:
    case WP_COMPLEX:
    case WP_FUNCTION: return;
    case WP_BYTEARRAY: mark_word((uintptr_t)((const wp_list *)object)->data, 0); return;
    case WP_LIST:
    case WP_TUPLE:
        if (type->kind == WP_LIST || type->count < 0) {
            const wp_list *list = (const wp_list *)object;
            mark_word((uintptr_t)list->data, 0);
            mark_items(list->data, list->length, item_width(type), item_repr(type));
            return;
        }
        break;
    default: break;
    }
    if (type->slots != NULL && type->offsets != NULL) {
        for (int32_t k = 0; k < type->count; k++)
            mark_slot((char *)object + type->offsets[k], type->slots[k]->repr);
        return;
    }
    for (int64_t at = (int64_t)sizeof(wp_object); at + 8 <= type->size; at += 8)
        mark_word(*(uintptr_t *)((char *)object + at), 1);
}

static void drain(void)
{
    while (marking.count > 0 || marking.area_count > 0) {
        while (marking.count > 0)
            trace(marking.objects[--marking.count]);
        if (marking.area_count > 0) {
            marking.area_count--;
            char *start = marking.areas[marking.area_count].start;
            size_t bytes = marking.areas[marking.area_count].bytes;
            for (size_t at = 0; at + 8 <= bytes; at += 8)
                mark_word(*(uintptr_t *)(start + at), 1);
        }
    }
}

__attribute__((noinline, no_sanitize("address"))) static void mark_stack(void)
{
    jmp_buf registers;
    setjmp(registers);
    for (size_t at = 0; at + 8 <= sizeof registers; at += 8)
        mark_word(*(uintptr_t *)((char *)&registers + at), 1);
    for (char *at = (char *)__builtin_frame_address(0); at + 8 <= now.stack_base; at += 8)
        mark_word(*(uintptr_t *)at, 1);
}

static void mark_roots(void)
{
    mark_stack();
    if (wp_exception != NULL)
        mark_word((uintptr_t)wp_exception, 1);
    for (int64_t i = 0; i < now.changed.count; i++)
        mark_word((uintptr_t)now.changed.items[i].value, 1);
    for (int64_t i = 0; i < now.output.count; i++)
        mark_word((uintptr_t)now.output.pieces[i], 1);
    drain();
}

/* --- sweeping --- */

static int is_marked(const void *cell)
{
    chunk *c = find_chunk((uintptr_t)cell);
    return bit_at(c->marked, (uint32_t)((uintptr_t)cell - (uintptr_t)c - CHUNK_HEAD) / c->size);
}

static int by_address(const void *a, const void *b)
{
    const large *x = *(large *const *)a, *y = *(large *const *)b;
    return x < y ? -1 : x > y;
}

static size_t sweep_large(int keep_all)
{
    size_t live = 0;
    int64_t kept = 0;
    for (int64_t i = 0; i < now.heap.block_count; i++) {
        large *block = now.heap.blocks[i];
        if (!block->marked && !keep_all) {
            release_block(block);
            continue;
        }
        block->marked = 0;
        block->position = kept;
        live += block->size;
        now.heap.blocks[kept++] = block;
    }
    now.heap.block_count = kept;
    return live;
}

/* While collections are tested: what was freed by mistake is seen when it is used. */
static void poison(chunk *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        if (bit_at(c->taken, i) && !bit_at(c->marked, i))
            memset(cell_at(c, i), 0xdb, c->size);
}

static size_t sweep_cells(int keep_all)
{
    size_t live = 0;
    for (int flavour = 0; flavour < FLAVOURS; flavour++)
        for (int which = 0; which < CLASSES; which++) {
            cells *class = &now.heap.classes[flavour][which];
            for (chunk *c = class->first; c != NULL; c = c->next) {
                if (collect_every && !keep_all)
                    poison(c);
                for (size_t w = 0; w < words_of(c); w++) {
                    if (!keep_all)
                        c->taken[w] = c->marked[w];
                    c->marked[w] = 0;
                    live += (size_t)__builtin_popcountll(c->taken[w]) * c->size;
                }
                c->cursor = 0;
            }
            class->current = class->first;
            class->bump = class->end = NULL;
        }
    return live;
}

static void collect(void)
{
    for (int flavour = 0; flavour < FLAVOURS; flavour++)
        for (int which = 0; which < CLASSES; which++) {
            cells *class = &now.heap.classes[flavour][which];
            if (class->bump != class->end) {
                chunk *c = class->current;
                set_bits(c->taken, (uint32_t)(class->bump - cell_at(c, 0)) / c->size, c->cursor, 0);
            }
        }
    if (now.heap.block_count > 1)
        qsort(now.heap.blocks, (size_t)now.heap.block_count, sizeof(large *), by_address);
    marking.failed = 0;
    mark_roots();
    if (!marking.failed)
        release_opaque();
    size_t live = sweep_cells(marking.failed) + sweep_large(marking.failed);
    now.heap.since = 0;
    now.heap.limit = live > LEAST_LIMIT ? live : LEAST_LIMIT;
}

/* --- begin and end of a call --- */

static void heap_begin(void)
{
    now.heap.number = ++calls_made; /* the rest is zero */
    now.heap.limit = LEAST_LIMIT;
    now.heap.frozen = 0;
}

/* Everything at once; chunks are kept for the next call, up to a bound. */
static void heap_end(void)
{
    if (!now.heap.used)
        return;
    for (int flavour = 0; flavour < FLAVOURS; flavour++)
        for (uint64_t left = now.heap.taken[flavour]; left != 0; left &= left - 1) {
            cells *class = &now.heap.classes[flavour][__builtin_ctzll(left)];
            for (chunk *c = class->first; c != NULL;) {
                chunk *next = c->next;
                c->owner = 0;
                if (chunks.free_count >= KEPT_CHUNKS) /* the address stays ours, its memory goes back */
                    madvise((char *)c + 4096, CHUNK - 4096, MADV_DONTNEED);
                c->next = chunks.free;
                chunks.free = c;
                chunks.free_count++;
                c = next;
            }
            memset(class, 0, sizeof *class);
        }
    for (int64_t i = 0; i < now.heap.block_count; i++)
        release_block(now.heap.blocks[i]);
    free(now.heap.blocks);
    const size_t behind = __builtin_offsetof(heap_state, classes) + sizeof now.heap.classes;
    memset(&now.heap, 0, __builtin_offsetof(heap_state, classes));
    memset((char *)&now.heap + behind, 0, sizeof now.heap - behind);
}

/* Whether an object is one of this call, and not a constant of compiled code. */
static int in_heap(const void *address)
{
    chunk *c = find_chunk((uintptr_t)address);
    if (c != NULL)
        return c->owner == now.heap.number;
    for (int64_t i = 0; i < now.heap.block_count; i++)
        if ((const char *)address >= (char *)(now.heap.blocks[i] + 1) &&
            (const char *)address < (char *)(now.heap.blocks[i] + 1) + now.heap.blocks[i]->size)
            return now.heap.blocks[i]->flavour == OBJECTS;
    return 0;
}

void *wp_new(const wp_type *type)
{
    wp_object *object = heap_block(OBJECTS, type->size < 16 ? 16 : type->size);
    object->type = type;
    return object;
}
