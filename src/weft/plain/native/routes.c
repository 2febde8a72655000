/* Routes: the run time's own ways to what a function of NumPy gives for whole arrays.

   In: a call that Python's NumPy could run as well. Out: its result, with the same bits: by the loops of NumPy's own ufuncs, called as
   NumPy calls them, or by loops that only move elements. A route that does not suit the arguments (another layout, an index out of
   bounds, no elements) gives 0, and Python's NumPy is asked. */

#include "api.h"

typedef struct {
    const wp_val *args;
    int64_t count;
    const wp_type *type; /* of the array that comes out; NULL: a number does */
    int64_t tag;         /* of its elements, or of the number */
    int64_t place;       /* of the loop that the route uses, in the table of loops */
    int64_t line;
    wp_val *out;
} route_call;

/* NumPy converts operands in portions of so many elements. */
enum { CONVERTED = 8192, MOST_OPERANDS = 4 };

static int gives(const route_call *c, const wp_array *made)
{
    *c->out = wp_of_p(made);
    return 1;
}

static int gives_number(const route_call *c, double x)
{
    *c->out = wp_np_d(c->tag, c->tag == WP_NP_FLOAT32 ? (float)x : x);
    return 1;
}

static int is_float(int64_t tag) { return tag == WP_NP_FLOAT64 || tag == WP_NP_FLOAT32; }
static int64_t rank_of(const wp_array *a) { return a->head.type->count; }
static int64_t tag_of(const wp_array *a) { return element_tag(a->head.type); }

/* An array of floats whose elements NumPy goes through in one run: one axis of any stride, or several in C order. */
static int is_run(const wp_array *a) { return a != NULL && (rank_of(a) == 1 || is_c_contiguous(a)); }
static int64_t run_stride(const wp_array *a) { return rank_of(a) == 1 ? a->extent[1] : element_size(tag_of(a)); }

/* A number of Python or NumPy as an element of this type; 0 if NumPy would compute in another type then. */
static int element_of(wp_val v, int64_t tag, char *at)
{
    double x;
    if (tag == WP_NP_INT64 && (v.tag == WP_INT || v.tag == tag)) {
        *(int64_t *)at = v.u.i;
        return 1;
    }
    if (v.tag == WP_FLOAT || (v.tag == tag && tag == WP_NP_FLOAT64))
        x = v.u.d;
    else if (v.tag == WP_INT && is_float(tag))
        x = (double)v.u.i;
    else if (v.tag == WP_NP_FLOAT32 && is_float(tag))
        x = v.u.d;
    else
        return 0;
    if (tag == WP_NP_FLOAT64)
        *(double *)at = x;
    else if (tag == WP_NP_FLOAT32 && fabs((float)x) <= __FLT_MAX__)
        *(float *)at = (float)x;
    else
        return 0;
    return 1;
}

/* f(x), f(x, y), ...: the loop of a ufunc over arrays of one shape, and numbers. */
static int route_each(const route_call *c)
{
    char held[MOST_OPERANDS][8], *at[MOST_OPERANDS + 1];
    intptr_t steps[MOST_OPERANDS + 1], count;
    const wp_array *model = NULL;
    for (int64_t k = 0; k < c->count; k++) {
        const wp_array *a = array_of(c->args[k]);
        if (a == NULL) {
            if (!element_of(c->args[k], c->tag, held[k]))
                return 0;
            continue;
        }
        int same = tag_of(a) == c->tag;
        if (!is_run(a) || (!same && (c->tag != WP_NP_FLOAT64 || wp_array_size(a, rank_of(a)) > CONVERTED)))
            return 0;
        if (model != NULL && (rank_of(a) != rank_of(model) || memcmp(a->extent, model->extent, (size_t)rank_of(a) * 8) != 0))
            return 0;
        model = a;
    }
    if (model == NULL || rank_of(model) != c->type->count)
        return 0;
    wp_array *made = array_like(c->type, model->extent, c->line);
    count = wp_array_size(made, c->type->count);
    for (int64_t k = 0; k < c->count; k++) {
        const wp_array *a = array_of(c->args[k]);
        at[k] = a == NULL ? held[k] : a->data;
        steps[k] = a == NULL ? 0 : run_stride(a);
        if (a != NULL && tag_of(a) != c->tag) {
            double *as_double = heap_block(PLAIN, (count < 2 ? 2 : count) * 8);
            load_d(as_double, a->data, run_stride(a), count, tag_of(a));
            at[k] = (char *)as_double;
            steps[k] = 8;
        }
    }
    at[c->count] = made->data;
    steps[c->count] = element_size(c->tag);
    const ufunc_loop *loop = loop_of(c->place, c->line);
    clear_trouble();
    if (count > 0)
        loop->run(at, &count, steps, loop->data);
    no_trouble(c->line);
    return gives(c, made);
}

/* a ** x with a number x: for some of these NumPy calls other functions. */
static int route_power(const route_call *c)
{
    double x;
    if (array_of(c->args[1]) != NULL || !element_of(c->args[1], WP_NP_FLOAT64, (char *)&x))
        return 0;
    return x == 0.0 || x == 0.5 || x == 1.0 || x == -1.0 || x == 2.0 ? 0 : route_each(c);
}

/* --- folds --- */



/* acc = f(acc, x) for each x in a run. */
static void fold(const ufunc_loop *loop, char *acc, char *data, intptr_t stride, intptr_t count)
{
    char *at[] = {acc, data, acc};
    const intptr_t steps[] = {0, stride, 0};
    if (count > 0)
        loop->run(at, &count, steps, loop->data);
}

static double element_at(const char *at, int64_t tag) { return tag == WP_NP_FLOAT32 ? *(const float *)at : *(const double *)at; }

static void put_float(char *at, int64_t tag, double x)
{
    if (tag == WP_NP_FLOAT32)
        *(float *)at = (float)x;
    else
        *(double *)at = x;
}

enum { FOLD_SUM, FOLD_PRODUCT, FOLD_EXTREME };

/* One number of a run of floats. A sum that is zero may be of negative zeros: NumPy knows their sign. */
static int folded(const ufunc_loop *loop, int kind, int64_t tag, char *acc, char *data, int64_t stride, int64_t count)
{
    if (kind == FOLD_EXTREME) {
        memcpy(acc, data, (size_t)element_size(tag));
        fold(loop, acc, data + stride, stride, count - 1);
        return element_at(acc, tag) != 0.0;
    }
    put_float(acc, tag, kind == FOLD_PRODUCT ? 1.0 : 0.0);
    fold(loop, acc, data, stride, count);
    return kind == FOLD_PRODUCT || element_at(acc, tag) != 0.0 || !signbit(element_at(data, tag));
}

/* The axis that an argument names: 0 or 1; 2: all of them; -1: something else. */
static int64_t axis_of(const route_call *c, int64_t rank)
{
    if (c->count < 2 || c->args[1].tag == WP_NONE)
        return 2;
    int64_t axis = c->args[1].u.i;
    if (c->args[1].tag != WP_INT || axis < -rank || axis >= rank)
        return -1;
    if (rank == 1)
        return 2;
    return axis < 0 ? axis + rank : axis;
}

/* f(a), or f(a, axis) of a matrix in C order. NumPy goes along rows: elements of a row meet in its own order of pairs, and rows are
   added to each other one by one. */
static int fold_by(const route_call *c, int kind)
{
    const wp_array *a = array_of(c->args[0]);
    if (!is_run(a) || !is_float(tag_of(a)) || tag_of(a) != c->tag)
        return 0;
    int64_t rank = rank_of(a), count = wp_array_size(a, rank), axis = axis_of(c, rank), size = element_size(c->tag);
    const ufunc_loop *loop = loop_of(c->place, c->line);
    char acc[8];
    if (count == 0 || axis < 0)
        return 0;
    clear_trouble();
    if (c->type == NULL) {
        if (axis != 2 || !folded(loop, kind, c->tag, acc, a->data, run_stride(a), count))
            return 0;
        no_trouble(c->line);
        return gives_number(c, element_at(acc, c->tag));
    }
    if (rank != 2 || axis == 2 || c->type->count != 1)
        return 0;
    int64_t rows = a->extent[0], columns = a->extent[1];
    wp_array *made = array_like(c->type, axis == 0 ? &columns : &rows, c->line);
    if (axis == 1 || columns == 1) {
        int64_t runs = axis == 1 ? rows : 1, length = axis == 1 ? columns : rows;
        if (axis == 1 && columns == 1)
            return 0;
        for (int64_t i = 0; i < runs; i++)
            if (!folded(loop, kind, c->tag, made->data + i * size, a->data + i * length * size, size, length))
                return 0;
    } else {
        if (kind == FOLD_EXTREME)
            memcpy(made->data, a->data, (size_t)(columns * size));
        else
            for (int64_t j = 0; j < columns; j++)
                put_float(made->data + j * size, c->tag, kind == FOLD_PRODUCT ? 1.0 : 0.0);
        for (int64_t i = kind == FOLD_EXTREME; i < rows; i++) {
            char *at[] = {made->data, a->data + i * columns * size, made->data};
            const intptr_t n = columns, steps[] = {size, size, size};
            loop->run(at, &n, steps, loop->data);
        }
        for (int64_t j = 0; j < columns && kind != FOLD_PRODUCT; j++)
            if (element_at(made->data + j * size, c->tag) == 0.0)
                return 0;
    }
    no_trouble(c->line);
    return gives(c, made);
}

static int route_sum(const route_call *c) { return fold_by(c, FOLD_SUM); }
static int route_product(const route_call *c) { return fold_by(c, FOLD_PRODUCT); }
static int route_extreme(const route_call *c) { return fold_by(c, FOLD_EXTREME); }

static int route_mean(const route_call *c)
{
    if (!fold_by(c, FOLD_SUM))
        return 0;
    const wp_array *a = array_of(c->args[0]);
    int64_t rank = rank_of(a), axis = axis_of(c, rank);
    double n = (double)(axis == 2 ? wp_array_size(a, rank) : a->extent[axis]);
    if (c->type == NULL)
        return gives_number(c, c->tag == WP_NP_FLOAT32 ? (float)c->out->u.d / (float)n : c->out->u.d / n);
    wp_array *made = c->out->u.p;
    for (int64_t j = 0; j < made->extent[0]; j++) {
        char *at = made->data + j * element_size(c->tag);
        put_float(at, c->tag, c->tag == WP_NP_FLOAT32 ? *(float *)at / (float)n : *(double *)at / n);
    }
    return 1;
}

/* The mean of squared distances from the mean. */
static int variance(const route_call *c, double *result)
{
    const wp_array *a = array_of(c->args[0]);
    if (c->count != 1 || c->tag != WP_NP_FLOAT64 || !is_run(a) || tag_of(a) != c->tag)
        return 0;
    int64_t count = wp_array_size(a, rank_of(a)), stride = run_stride(a);
    const ufunc_loop *loop = loop_of(c->place, c->line);
    double mean, total, *squares = heap_block(PLAIN, (count < 2 ? 2 : count) * 8);
    if (count == 0)
        return 0;
    clear_trouble();
    folded(loop, FOLD_SUM, c->tag, (char *)&mean, a->data, stride, count);
    mean /= (double)count;
    for (int64_t i = 0; i < count; i++) {
        double x = *(const double *)(a->data + i * stride) - mean;
        squares[i] = x * x;
    }
    folded(loop, FOLD_SUM, c->tag, (char *)&total, (char *)squares, 8, count);
    *result = total / (double)count;
    no_trouble(c->line);
    return 1;
}

static int route_variance(const route_call *c)
{
    double x;
    return variance(c, &x) && gives_number(c, x);
}

static int route_deviation(const route_call *c)
{
    double x;
    return variance(c, &x) && gives_number(c, sqrt(x));
}

static int route_running_sum(const route_call *c)
{
    const wp_array *a = array_of(c->args[0]);
    if (c->count != 1 || a == NULL || rank_of(a) != 1 || tag_of(a) != c->tag || (c->tag != WP_NP_FLOAT64 && c->tag != WP_NP_INT64))
        return 0;
    wp_array *made = array_like(c->type, a->extent, c->line);
    int64_t count = a->extent[0], stride = a->extent[1];
    if (c->tag == WP_NP_INT64) {
        uint64_t sum = 0;
        for (int64_t i = 0; i < count; i++)
            ((uint64_t *)made->data)[i] = sum += *(const uint64_t *)(a->data + i * stride);
        return gives(c, made);
    }
    clear_trouble();
    double *to = (double *)made->data;
    for (int64_t i = 0; i < count; i++)
        to[i] = i == 0 ? *(const double *)a->data : to[i - 1] + *(const double *)(a->data + i * stride);
    no_trouble(c->line);
    return gives(c, made);
}

/* --- products --- */

static wp_val multiplied(const route_call *c, const wp_array *a, const wp_array *b, wp_array *made, double *number)
{
    int64_t x = rank_of(a), y = rank_of(b), k = a->extent[x - 1], n = x == 2 ? a->extent[0] : 1, m = y == 2 ? b->extent[1] : 1;
    int64_t columns = made != NULL && rank_of(made) == 2 ? made->extent[3] : 0, size = element_size(c->tag);
    const ufunc_loop *loop = loop_of(c->place, c->line);
    char *at[] = {a->data, b->data, made != NULL ? made->data : (char *)number};
    const intptr_t counts[] = {1, n, k, m};
    const intptr_t steps[] = {0, 0, 0, x == 2 ? a->extent[2] : 0, a->extent[2 * x - 1], b->extent[y], y == 2 ? b->extent[3] : 0,
                              x == 2 && made != NULL ? made->extent[rank_of(made)] : 0, y == 2 ? (columns != 0 ? columns : size) : 0};
    clear_trouble();
    loop->run(at, counts, steps, loop->data);
    no_trouble(c->line);
    return made != NULL ? wp_of_p(made) : wp_np_d(c->tag, element_at((char *)number, c->tag));
}

/* Vectors and matrices in C order, or matrices whose transpose is. */
static int is_factor(const wp_array *a, int64_t tag)
{
    if (a == NULL || tag_of(a) != tag || rank_of(a) > 2 || wp_array_size(a, rank_of(a)) == 0)
        return 0;
    int64_t size = element_size(tag);
    if (rank_of(a) == 1)
        return a->extent[1] == size;
    if (a->extent[0] == 1 || a->extent[1] == 1)
        return is_c_contiguous(a);
    return is_c_contiguous(a) || (a->extent[2] == size && a->extent[3] == size * a->extent[0]);
}

static int route_product_of_matrices(const route_call *c)
{
    const wp_array *a = array_of(c->args[0]), *b = c->count == 2 ? array_of(c->args[1]) : NULL;
    if (!is_float(c->tag) || !is_factor(a, c->tag) || !is_factor(b, c->tag) || a->extent[rank_of(a) - 1] != b->extent[0])
        return 0;
    int64_t shape[2], rank = 0;
    double number = 0.0;
    if (rank_of(a) == 2)
        shape[rank++] = a->extent[0];
    if (rank_of(b) == 2)
        shape[rank++] = b->extent[1];
    if ((c->type == NULL ? 0 : c->type->count) != rank)
        return 0;
    *c->out = multiplied(c, a, b, rank == 0 ? NULL : array_like(c->type, shape, c->line), &number);
    return 1;
}

/* The root of the product of all elements with themselves. */
static int route_norm(const route_call *c)
{
    const wp_array *a = array_of(c->args[0]);
    double number = 0.0;
    if (c->count != 1 || c->tag != WP_NP_FLOAT64 || a == NULL || tag_of(a) != c->tag || rank_of(a) != 1 || !is_factor(a, c->tag))
        return 0;
    return gives_number(c, sqrt(multiplied(c, a, a, NULL, &number).u.d));
}

/* --- elements that are moved --- */

static void copy_elements(char *to, int64_t to_stride, const char *from, int64_t stride, int64_t count, int64_t size)
{
    for (int64_t i = 0; i < count; i++, to += to_stride, from += stride)
        switch (size) {
        case 1: *to = *from; break;
        case 2: *(uint16_t *)to = *(const uint16_t *)from; break;
        case 4: *(uint32_t *)to = *(const uint32_t *)from; break;
        default: *(uint64_t *)to = *(const uint64_t *)from;
        }
}

/* where(c, x, y) of arrays of one shape, and numbers. */
static int route_where(const route_call *c)
{
    const wp_array *test = array_of(c->args[0]);
    char held[2][8];
    const char *at[2];
    int64_t steps[2], size = element_size(c->tag);
    if (c->count != 3 || !is_run(test) || tag_of(test) != WP_NP_BOOL || c->type == NULL || rank_of(test) != c->type->count)
        return 0;
    for (int64_t k = 0; k < 2; k++) {
        const wp_array *a = array_of(c->args[k + 1]);
        if (a == NULL ? !element_of(c->args[k + 1], c->tag, held[k]) : !is_run(a) || tag_of(a) != c->tag || rank_of(a) != rank_of(test))
            return 0;
        if (a != NULL && memcmp(a->extent, test->extent, (size_t)rank_of(a) * 8) != 0)
            return 0;
        at[k] = a == NULL ? held[k] : a->data;
        steps[k] = a == NULL ? 0 : run_stride(a);
    }
    wp_array *made = array_like(c->type, test->extent, c->line);
    int64_t count = wp_array_size(made, c->type->count), stride = run_stride(test);
    for (int64_t i = 0; i < count; i++) {
        int64_t k = *(test->data + i * stride) == 0;
        copy_elements(made->data + i * size, size, at[k] + i * steps[k], 0, 1, size);
    }
    return gives(c, made);
}

/* a[i] with an array of places, or of truth values: rows of an array in C order, or elements. */
static int route_gather(const route_call *c)
{
    const wp_array *a = array_of(c->args[0]), *index = c->count == 2 ? array_of(c->args[1]) : NULL;
    if (!is_run(a) || index == NULL || c->type == NULL || tag_of(index) >= WP_NP_FLOAT32 || tag_of(a) != c->tag)
        return 0;
    int64_t rank = rank_of(a), size = element_size(c->tag), shape[WP_MAX_RANK], from = 0, count = 0;
    int is_mask = tag_of(index) == WP_NP_BOOL;
    if (is_mask ? !is_run(index) || rank_of(index) != rank || memcmp(index->extent, a->extent, (size_t)rank * 8) != 0 : rank_of(index) != 1)
        return 0;
    if (c->type->count != (is_mask ? 1 : rank))
        return 0;
    int64_t places = wp_array_size(index, rank_of(index)), step = run_stride(index), stride = run_stride(a);
    if (is_mask) {
        for (int64_t i = 0; i < places; i++)
            count += *(index->data + i * step) != 0;
        wp_array *made = array_like(c->type, &count, c->line);
        for (int64_t i = 0; i < places; i++)
            if (*(index->data + i * step) != 0)
                copy_elements(made->data + from++ * size, size, a->data + i * stride, 0, 1, size);
        return gives(c, made);
    }
    memcpy(shape, a->extent, (size_t)rank * 8);
    shape[0] = places;
    int64_t row = a->extent[0] == 0 ? 0 : wp_array_size(a, rank) / a->extent[0];
    wp_array *made = array_like(c->type, shape, c->line);
    for (int64_t i = 0; i < places; i++) {
        int64_t place;
        load_i(&place, index->data + i * step, step, 1, tag_of(index));
        place += place < 0 ? a->extent[0] : 0;
        if (place < 0 || place >= a->extent[0])
            return 0;
        if (rank == 1)
            copy_elements(made->data + i * size, size, a->data + place * stride, 0, 1, size);
        else
            memcpy(made->data + i * row * size, a->data + place * row * size, (size_t)(row * size));
    }
    return gives(c, made);
}

/* NumPy looks at all places before it writes to one. */
void wp_array_scatter(wp_array *to, const wp_array *index, wp_val x, int64_t line)
{
    const wp_array *from = array_of(x);
    int64_t rank = rank_of(to), tag = tag_of(to), size = element_size(tag), places = wp_array_size(index, rank_of(index)), count = 0, place;
    int is_mask = tag_of(index) == WP_NP_BOOL;
    if (tag_of(index) >= WP_NP_FLOAT32 || !is_run(index) || !is_run(to) || (from != NULL && (tag_of(from) != tag || rank_of(from) != 1)))
        wp_deopt("an index array, or values, of another type or layout", line);
    if (is_mask ? rank_of(index) != rank || memcmp(index->extent, to->extent, (size_t)rank * 8) != 0 : rank != 1 || rank_of(index) != 1)
        wp_deopt("an index array of another shape", line);
    int64_t step = run_stride(index), stride = run_stride(to);
    if (is_mask && from != NULL)
        for (int64_t i = 0; i < places; i++)
            count += *(index->data + i * step) != 0;
    if (from != NULL && from->extent[0] != (is_mask ? count : places))
        wp_deopt("values of another length than the index array", line);
    if (overlaps(to, index))
        index = wp_array_copy(index->head.type, index, line), step = run_stride(index);
    if (from != NULL && overlaps(to, from))
        from = wp_array_copy(from->head.type, from, line);
    int64_t *at = heap_block(PLAIN, (places < 2 ? 2 : places) * 8);
    count = 0;
    for (int64_t i = 0; i < places; i++) {
        load_i(&place, index->data + i * step, step, 1, tag_of(index));
        if (is_mask && place == 0)
            continue;
        place = is_mask ? i : place < 0 ? place + to->extent[0] : place;
        if (place < 0 || (!is_mask && place >= to->extent[0]))
            wp_deopt("a place outside an array", line);
        at[count++] = place;
    }
    if (from == NULL && tag == WP_NP_FLOAT32) {
        float single = (float)x.u.d;
        memcpy(&x.u, &single, sizeof single);
    }
    for (int64_t i = 0; i < count; i++) {
        char *element = to->data + at[i] * stride;
        if (!wp_touch(to, element, line))
            return;
        copy_elements(element, 0, from == NULL ? (const char *)&x.u : from->data + i * from->extent[1], 0, 1, size);
    }
}

static int is_below(double a, double b) { return a < b || (b != b && a == a); }

/* searchsorted(a, x): the place of a number among floats that rise. */
static int place_among(const route_call *c, int right)
{
    const wp_array *a = array_of(c->args[0]);
    double x;
    if (a == NULL || rank_of(a) != 1 || tag_of(a) != WP_NP_FLOAT64 || c->type != NULL || array_of(c->args[1]) != NULL ||
        !element_of(c->args[1], WP_NP_FLOAT64, (char *)&x))
        return 0;
    int64_t low = 0, high = a->extent[0];
    while (low < high) {
        int64_t middle = low + ((high - low) >> 1);
        double e = *(const double *)(a->data + middle * a->extent[1]);
        if (right ? is_below(x, e) : !is_below(e, x))
            high = middle;
        else
            low = middle + 1;
    }
    *c->out = wp_np_i(WP_NP_INT64, low);
    return 1;
}

static int route_search_left(const route_call *c) { return place_among(c, 0); }
static int route_search_right(const route_call *c) { return place_among(c, 1); }

/* Arrays of one axis, one behind the other. */
static int route_joined(const route_call *c)
{
    const wp_list *list = c->count == 1 && kind_of(c->args[0]) == WP_LIST ? c->args[0].u.p : NULL;
    if (list == NULL || item_repr(list->head.type) != 'p' || list->length == 0 || c->type == NULL || c->type->count != 1)
        return 0;
    void **items = (void **)list->data;
    int64_t count = 0, size = element_size(c->tag);
    for (int64_t k = 0; k < list->length; k++) {
        const wp_array *a = array_of(wp_of_p(items[k]));
        if (a == NULL || rank_of(a) != 1 || tag_of(a) != c->tag)
            return 0;
        count += a->extent[0];
    }
    wp_array *made = array_like(c->type, &count, c->line);
    char *to = made->data;
    for (int64_t k = 0; k < list->length; k++) {
        const wp_array *a = items[k];
        copy_elements(to, size, a->data, a->extent[1], a->extent[0], size);
        to += a->extent[0] * size;
    }
    return gives(c, made);
}

/* Arrays of one length as the rows of a matrix. */
static int route_rows(const route_call *c)
{
    const wp_list *list = c->count == 1 && kind_of(c->args[0]) == WP_LIST ? c->args[0].u.p : NULL;
    if (list == NULL || item_repr(list->head.type) != 'p' || list->length == 0 || c->type == NULL || c->type->count != 2)
        return 0;
    void **items = (void **)list->data;
    const wp_array *first = array_of(wp_of_p(items[0]));
    if (first == NULL || rank_of(first) != 1)
        return 0;
    for (int64_t k = 0; k < list->length; k++) {
        const wp_array *a = array_of(wp_of_p(items[k]));
        if (a == NULL || rank_of(a) != 1 || tag_of(a) != c->tag || a->extent[0] != first->extent[0])
            return 0;
    }
    int64_t shape[] = {list->length, first->extent[0]}, size = element_size(c->tag);
    wp_array *made = array_like(c->type, shape, c->line);
    for (int64_t k = 0; k < list->length; k++) {
        const wp_array *a = items[k];
        copy_elements(made->data + k * shape[1] * size, size, a->data, a->extent[1], shape[1], size);
    }
    return gives(c, made);
}

/* --- order --- */

/* Above so many elements NumPy's own sorts are the faster ones. */
enum { SORTED = 2048 };

typedef struct {
    union {
        double d;
        int64_t i;
    } key;
    int64_t place;
} sorted_item;

static int by_float(const void *p, const void *q)
{
    const sorted_item *a = p, *b = q;
    return a->key.d < b->key.d ? -1 : a->key.d > b->key.d ? 1 : a->place < b->place ? -1 : 1;
}

static int by_whole(const void *p, const void *q)
{
    const sorted_item *a = p, *b = q;
    return a->key.i < b->key.i ? -1 : a->key.i > b->key.i ? 1 : a->place < b->place ? -1 : 1;
}

/* The elements of a short array in rising order, equal ones by their places; NULL: too many, or NaN or a negative zero is among them,
   of whose order NumPy has its own idea. */
static sorted_item *sorted_items(const route_call *c, int64_t *count)
{
    const wp_array *a = array_of(c->args[0]);
    if (c->count != 1 || a == NULL || rank_of(a) != 1 || a->extent[0] == 0 || a->extent[0] > SORTED)
        return NULL;
    if (tag_of(a) != WP_NP_FLOAT64 && tag_of(a) != WP_NP_INT64)
        return NULL;
    int is_whole = tag_of(a) == WP_NP_INT64;
    sorted_item *items = heap_block(PLAIN, a->extent[0] * (int64_t)sizeof *items);
    for (int64_t i = 0; i < a->extent[0]; i++) {
        memcpy(&items[i].key, a->data + i * a->extent[1], 8);
        items[i].place = i;
        if (!is_whole && (items[i].key.d != items[i].key.d || (items[i].key.d == 0.0 && signbit(items[i].key.d))))
            return NULL;
    }
    *count = a->extent[0];
    qsort(items, (size_t)*count, sizeof *items, is_whole ? by_whole : by_float);
    return items;
}

static int route_sort(const route_call *c)
{
    int64_t count;
    const sorted_item *items = sorted_items(c, &count);
    if (items == NULL || tag_of(array_of(c->args[0])) != c->tag)
        return 0;
    wp_array *made = array_like(c->type, &count, c->line);
    for (int64_t i = 0; i < count; i++)
        memcpy(made->data + 8 * i, &items[i].key, 8);
    return gives(c, made);
}

/* Where elements are equal, the order of their places is NumPy's own. */
static int route_argsort(const route_call *c)
{
    int64_t count;
    const sorted_item *items = sorted_items(c, &count);
    for (int64_t i = 1; items != NULL && i < count; i++)
        if (items[i].key.i == items[i - 1].key.i)
            return 0;
    if (items == NULL || c->tag != WP_NP_INT64)
        return 0;
    wp_array *made = array_like(c->type, &count, c->line);
    for (int64_t i = 0; i < count; i++)
        ((int64_t *)made->data)[i] = items[i].place;
    return gives(c, made);
}

static int route_unique(const route_call *c)
{
    int64_t count, kept = 0;
    sorted_item *items = sorted_items(c, &count);
    if (items == NULL || c->type == NULL || tag_of(array_of(c->args[0])) != c->tag)
        return 0;
    for (int64_t i = 0; i < count; i++)
        if (i == 0 || items[i].key.i != items[i - 1].key.i)
            items[kept++].key = items[i].key;
    wp_array *made = array_like(c->type, &kept, c->line);
    for (int64_t i = 0; i < kept; i++)
        memcpy(made->data + 8 * i, &items[i].key, 8);
    return gives(c, made);
}

static int route_median(const route_call *c)
{
    int64_t count;
    const sorted_item *items = sorted_items(c, &count);
    if (items == NULL || c->type != NULL || c->tag != WP_NP_FLOAT64 || tag_of(array_of(c->args[0])) != c->tag)
        return 0;
    double high = items[count / 2].key.d, low = items[(count - 1) / 2].key.d, sum = count % 2 ? high : low + high;
    return sum != 0.0 && fabs(sum) <= __DBL_MAX__ && gives_number(c, count % 2 ? sum : sum / 2);
}

static int route_bincount(const route_call *c)
{
    const wp_array *a = array_of(c->args[0]);
    int64_t most = -1;
    if (c->count != 1 || a == NULL || rank_of(a) != 1 || tag_of(a) != WP_NP_INT64 || c->tag != WP_NP_INT64 || a->extent[0] == 0)
        return 0;
    for (int64_t i = 0; i < a->extent[0]; i++) {
        int64_t x = *(const int64_t *)(a->data + i * a->extent[1]);
        if (x < 0 || x >= 1 << 20)
            return 0;
        most = x > most ? x : most;
    }
    most++;
    wp_array *made = array_like(c->type, &most, c->line);
    for (int64_t i = 0; i < a->extent[0]; i++)
        ((int64_t *)made->data)[*(const int64_t *)(a->data + i * a->extent[1])]++;
    return gives(c, made);
}

static int route_diff(const route_call *c)
{
    const wp_array *a = array_of(c->args[0]);
    if (c->count != 1 || a == NULL || rank_of(a) != 1 || tag_of(a) != c->tag || (c->tag != WP_NP_FLOAT64 && c->tag != WP_NP_INT64))
        return 0;
    int64_t count = a->extent[0] > 0 ? a->extent[0] - 1 : 0, stride = a->extent[1];
    wp_array *made = array_like(c->type, &count, c->line);
    clear_trouble();
    for (int64_t i = 0; i < count; i++) {
        const char *at = a->data + i * stride;
        if (c->tag == WP_NP_INT64)
            ((uint64_t *)made->data)[i] = *(const uint64_t *)(at + stride) - *(const uint64_t *)at;
        else
            ((double *)made->data)[i] = *(const double *)(at + stride) - *(const double *)at;
    }
    no_trouble(c->line);
    return gives(c, made);
}

static int route_outer(const route_call *c)
{
    const wp_array *a = array_of(c->args[0]), *b = array_of(c->args[1]);
    if (c->count != 2 || a == NULL || b == NULL || rank_of(a) != 1 || rank_of(b) != 1 || c->tag != WP_NP_FLOAT64 || tag_of(a) != c->tag ||
        tag_of(b) != c->tag)
        return 0;
    int64_t shape[] = {a->extent[0], b->extent[0]};
    wp_array *made = array_like(c->type, shape, c->line);
    double *to = (double *)made->data;
    clear_trouble();
    for (int64_t i = 0; i < shape[0]; i++)
        for (int64_t j = 0; j < shape[1]; j++)
            *to++ = *(const double *)(a->data + i * a->extent[1]) * *(const double *)(b->data + j * b->extent[1]);
    no_trouble(c->line);
    return gives(c, made);
}

static int (*const routes[WP_ROUTES])(const route_call *) = {
    [WP_ROUTE_EACH] = route_each,
    [WP_ROUTE_POWER] = route_power,
    [WP_ROUTE_SUM] = route_sum,
    [WP_ROUTE_PRODUCT] = route_product,
    [WP_ROUTE_EXTREME] = route_extreme,
    [WP_ROUTE_MEAN] = route_mean,
    [WP_ROUTE_VARIANCE] = route_variance,
    [WP_ROUTE_DEVIATION] = route_deviation,
    [WP_ROUTE_RUNNING_SUM] = route_running_sum,
    [WP_ROUTE_MATMUL] = route_product_of_matrices,
    [WP_ROUTE_NORM] = route_norm,
    [WP_ROUTE_WHERE] = route_where,
    [WP_ROUTE_GATHER] = route_gather,
    [WP_ROUTE_SEARCH_LEFT] = route_search_left,
    [WP_ROUTE_SEARCH_RIGHT] = route_search_right,
    [WP_ROUTE_JOINED] = route_joined,
    [WP_ROUTE_ROWS] = route_rows,
    [WP_ROUTE_SORT] = route_sort,
    [WP_ROUTE_ARGSORT] = route_argsort,
    [WP_ROUTE_UNIQUE] = route_unique,
    [WP_ROUTE_MEDIAN] = route_median,
    [WP_ROUTE_BINCOUNT] = route_bincount,
    [WP_ROUTE_DIFF] = route_diff,
    [WP_ROUTE_OUTER] = route_outer,
};

wp_val wp_call_numpy(int64_t route, int64_t place, void *python, const wp_val *args, int64_t count, const wp_spec *result, int64_t line)
{
    wp_val out;
    const wp_type *type = result->count == 1 ? result->types[0] : NULL;
    int64_t tag = type == NULL ? __builtin_ctz(result->scalars) : element_tag(type);
    const route_call call = {args, count, type, tag, place, line, &out};
    return routes[route](&call) ? out : wp_call_python(python, args, count, result, line);
}
