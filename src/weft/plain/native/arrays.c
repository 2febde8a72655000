/* Arrays: the caller's memory with a way back, new memory, and views. How they come in and go out: numpy_arrays.c. */

#include "api.h"

enum { DTYPES = WP_NP_END - WP_NP };

static const int64_t dtype_sizes[DTYPES] = {1, 1, 2, 4, 8, 1, 2, 4, 4, 8};

static inline int64_t element_tag(const wp_type *type) { return __builtin_ctz(type->slots[0]->scalars); }
static inline int64_t element_size(int64_t tag) { return dtype_sizes[tag - WP_NP]; }

/* --- the way back --- */

struct saved_block {
    saved_block *next;
    char *at;
    int64_t bytes;
    char old[];
};

static void save_block(char *at, int64_t bytes)
{
    saved_block *b = malloc(sizeof *b + (size_t)bytes);
    if (b == NULL)
        wp_deopt("out of memory", 0);
    b->at = at;
    b->bytes = bytes;
    memcpy(b->old, at, (size_t)bytes);
    b->next = now.saved;
    now.saved = b;
    now.saved_bytes += bytes;
}

int64_t wp_array_save(wp_memory *m, char *at, int64_t bytes, int64_t line)
{
    const int64_t block = (int64_t)1 << WP_BLOCK_BITS;
    if (!m->writeable) {
        wp_raise(WP_VALUE_ERROR, "assignment destination is read-only", line);
        return 0;
    }
    if (!m->owned)
        wp_deopt("a write into memory that is not NumPy's own", line);
    if (m->saved == NULL && (m->saved = calloc((size_t)((m->bytes >> WP_BLOCK_BITS) + 1), 1)) == NULL)
        wp_deopt("out of memory", line);
    for (int64_t k = (at - m->start) >> WP_BLOCK_BITS, last = (at + bytes - 1 - m->start) >> WP_BLOCK_BITS; k <= last; k++)
        if (!m->saved[k]) {
            int64_t rest = m->bytes - k * block;
            save_block(m->start + k * block, rest < block ? rest : block);
            m->saved[k] = 1;
        }
    return 1;
}

/* Blocks in the reverse order of saving: where memory overlaps, the oldest content is the last to be put back. */
static void restore_memory(void)
{
    for (saved_block *b = now.saved; b != NULL; b = b->next)
        memcpy(b->at, b->old, (size_t)b->bytes);
}

static void forget_memory(void)
{
    while (now.saved != NULL) {
        saved_block *b = now.saved;
        now.saved = b->next;
        free(b);
    }
    while (now.memories != NULL) {
        wp_memory *m = now.memories;
        now.memories = m->next;
        free(m->saved);
        free(m);
    }
}

/* --- memory of arrays --- */

static wp_array *array_head(const wp_type *type)
{
    wp_array *a = heap_block(OBJECTS, (int64_t)sizeof *a + 16 * type->count);
    a->head.type = type;
    return a;
}

/* The bytes from the lowest to behind the highest element; `low`: where they begin, seen from the first element. */
static int64_t array_span(const int64_t *shape, const int64_t *strides, int64_t rank, int64_t size, int64_t *low)
{
    int64_t first = 0, last = 0;
    for (int64_t k = 0; k < rank; k++) {
        if (shape[k] == 0) {
            *low = 0;
            return 0;
        }
        *(strides[k] < 0 ? &first : &last) += (shape[k] - 1) * strides[k];
    }
    *low = first;
    return last - first + size;
}

/* Whether elements fill their memory without gaps, in whatever order of axes. */
static int is_dense(const int64_t *shape, const int64_t *strides, int64_t rank, int64_t size)
{
    int64_t low, count = 1;
    for (int64_t k = 0; k < rank; k++) {
        count *= shape[k];
        if (strides[k] < 0)
            return 0;
    }
    return array_span(shape, strides, rank, size, &low) == count * size;
}

static void c_strides(int64_t *extent, int64_t rank, int64_t size)
{
    for (int64_t k = rank - 1; k >= 0; k--) {
        extent[rank + k] = size;
        size *= extent[k] > 0 ? extent[k] : 1;
    }
}

static wp_array *array_made(const wp_type *type, const int64_t *shape, int is_filled, int64_t line)
{
    int64_t size = element_size(element_tag(type)), rank = type->count, bytes = size;
    for (int64_t k = 0; k < rank; k++) {
        if (shape[k] < 0) {
            wp_raise(WP_VALUE_ERROR, "negative dimensions are not allowed", line);
            return NULL;
        }
        if (__builtin_mul_overflow(bytes, shape[k], &bytes))
            wp_deopt("out of memory", line);
    }
    wp_array *a = array_head(type);
    memcpy(a->extent, shape, (size_t)rank * 8);
    c_strides(a->extent, rank, size);
    bytes = bytes < 16 ? 16 : bytes;
    a->block = a->data = is_filled ? heap_unfilled(bytes) : heap_block(PLAIN, bytes);
    return a;
}

static wp_array *array_like(const wp_type *type, const int64_t *shape, int64_t line) { return array_made(type, shape, 0, line); }

/* For a caller that writes all of its elements at once. */
static wp_array *array_to_fill(const wp_type *type, const int64_t *shape, int64_t line) { return array_made(type, shape, 1, line); }

wp_array *wp_array_new(const wp_type *type, const int64_t *shape, int64_t line) { return array_like(type, shape, line); }

/* --- indices and views --- */

int64_t wp_bad_index(int64_t i, int64_t axis, int64_t size, int64_t line)
{
    char message[120];
    if (wp_exception == NULL) {
        snprintf(message, sizeof message, "index %lld is out of bounds for axis %lld with size %lld", (long long)i, (long long)axis, (long long)size);
        wp_raise(WP_INDEX_ERROR, message, line);
    }
    return 0;
}

static wp_array *view_of(const wp_type *type, wp_array *a)
{
    wp_array *v = array_head(type);
    v->data = a->data;
    v->memory = a->memory;
    v->block = a->block;
    v->base = a->base != NULL ? a->base : a;
    return v;
}

wp_array *wp_array_view(const wp_type *type, wp_array *a, const wp_part *parts, int64_t count)
{
    wp_array *v = view_of(type, a);
    int64_t rank = a->head.type->count, made = type->count, from = 0, to = 0;
    for (int64_t k = 0; k < count; k++) {
        const wp_part *p = &parts[k];
        if (p->kind == 2) {
            v->extent[to] = 1;
            v->extent[made + to++] = 0;
            continue;
        }
        int64_t stride = a->extent[rank + from++];
        v->data += p->start * stride;
        if (p->kind == 1) {
            v->extent[to] = p->count;
            v->extent[made + to++] = p->step * stride;
        }
    }
    for (; from < rank; from++, to++) {
        v->extent[to] = a->extent[from];
        v->extent[made + to] = a->extent[rank + from];
    }
    return v;
}

wp_array *wp_array_transposed(const wp_type *type, wp_array *a)
{
    wp_array *v = view_of(type, a);
    int64_t rank = type->count;
    for (int64_t k = 0; k < rank; k++) {
        v->extent[k] = a->extent[rank - 1 - k];
        v->extent[rank + k] = a->extent[2 * rank - 1 - k];
    }
    return v;
}

static int is_c_contiguous(const wp_array *a)
{
    int64_t rank = a->head.type->count, size = element_size(element_tag(a->head.type));
    for (int64_t k = rank - 1; k >= 0; k--) {
        if (a->extent[k] != 1 && a->extent[rank + k] != size)
            return 0;
        size *= a->extent[k];
    }
    return 1;
}

wp_array *wp_array_reshaped(const wp_type *type, wp_array *a, const int64_t *shape, int64_t line)
{
    int64_t count = wp_array_size(a, a->head.type->count), known = 1, open = -1;
    for (int64_t k = 0; k < type->count; k++)
        if (shape[k] >= 0)
            known *= shape[k];
        else if (open >= 0 || shape[k] != -1)
            wp_deopt("a shape that does not fit", line);
        else
            open = k;
    if (open >= 0 ? known == 0 || count % known != 0 : known != count)
        wp_deopt("a shape that does not fit", line);
    if (count == 0 || !is_c_contiguous(a))
        wp_deopt("another shape of an array that is not contiguous", line);
    wp_array *v = view_of(type, a);
    memcpy(v->extent, shape, (size_t)type->count * 8);
    if (open >= 0)
        v->extent[open] = count / known;
    c_strides(v->extent, type->count, element_size(element_tag(type)));
    return v;
}

/* --- scalars --- */

void wp_np_unusual(double r, double a, double b, int64_t line)
{
    if (r != r ? a == a && b == b : fabs(a) <= __DBL_MAX__ && fabs(b) <= __DBL_MAX__)
        wp_deopt("an operation that NumPy warns of", line);
}

double wp_np_pow(double a, double b, int64_t line)
{
    double r = pow(a, b);
    if (!(fabs(r) <= __DBL_MAX__) || !(fabs(a) <= __DBL_MAX__) || !(fabs(b) <= __DBL_MAX__))
        wp_deopt("a power that is not finite", line);
    return r;
}
