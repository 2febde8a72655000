/* Values of any type: equality, order, hash, truth, text; and exceptions. */

#include "api.h"

enum { DEEPEST = 400 };

static void deeper(void)
{
    if (++now.nesting > DEEPEST || stack_is_low())
        wp_deopt("values that are nested deeply, or contain themselves", 0);
}

wp_val wp_from_slot(const void *slot, char repr)
{
    switch (repr) {
    case 'i': return wp_of_i(*(const int64_t *)slot);
    case 'b': return wp_of_b(*(const int64_t *)slot);
    case 'd': return wp_of_d(*(const double *)slot);
    case 'p': return wp_of_p(*(void *const *)slot);
    default: return *(const wp_val *)slot;
    }
}

int64_t wp_is(wp_val a, wp_val b)
{
    if (a.tag != b.tag)
        return 0;
    if (kind_of(a) == WP_OPAQUE && kind_of(b) == WP_OPAQUE)
        return ((wp_opaque *)a.u.p)->object == ((wp_opaque *)b.u.p)->object;
    if (a.tag == WP_PTR && ((wp_object *)a.u.p)->type->kind == WP_FUNCTION && ((wp_object *)b.u.p)->type->kind == WP_FUNCTION)
        return ((wp_object *)a.u.p)->type->python == ((wp_object *)b.u.p)->type->python;
    return a.tag == WP_NONE || a.tag == WP_UNSET || a.u.i == b.u.i;
}

/* --- what Python says of a class: asked once --- */

typedef struct {
    const wp_type *type;
    int plain_equal, plain_hash; /* as `object` has them: by identity */
    int like_builtin;            /* a subclass of dict or tuple that compares as they do */
    int has_dict, is_exception;
    char *members; /* of each name: 1 if it is a slot of the class */
    int64_t hash;  /* of a FUNCTION; -1: not asked */
} type_facts;

static struct {
    type_facts **places;
    int64_t count, capacity;
} all_facts;

static PyTypeObject *class_of_kind(int32_t kind);

static type_facts *make_facts(const wp_type *type)
{
    type_facts *facts = calloc(1, sizeof *facts);
    if (facts == NULL)
        wp_deopt("out of memory", 0);
    facts->type = type;
    facts->hash = -1;
    PyTypeObject *class = type->python, *builtin = class_of_kind(type->kind);
    if (class == NULL || type->kind == WP_FUNCTION || type->kind == WP_CLOSURE)
        return facts;
    facts->plain_equal = PyType_GetSlot(class, SLOT_RICHCOMPARE) == PyType_GetSlot(&PyBaseObject_Type, SLOT_RICHCOMPARE);
    facts->plain_hash = PyType_GetSlot(class, SLOT_HASH) == PyType_GetSlot(&PyBaseObject_Type, SLOT_HASH);
    if (builtin != NULL)
        facts->like_builtin = PyType_GetSlot(class, SLOT_RICHCOMPARE) == PyType_GetSlot(builtin, SLOT_RICHCOMPARE) &&
                              PyType_GetSlot(class, SLOT_HASH) == PyType_GetSlot(builtin, SLOT_HASH);
    facts->is_exception = PyType_IsSubtype(class, (PyTypeObject *)PyExc_BaseException);
    PyObject *offset = PyObject_GetAttrString((PyObject *)class, "__dictoffset__");
    facts->has_dict = offset != NULL && PyLong_AsLongLong(offset) != 0;
    Py_DecRef(offset);
    PyErr_Clear();
    if (type->kind == WP_OBJECT && type->count > 0 && type->names != NULL) {
        facts->members = calloc((size_t)type->count, 1);
        if (facts->members == NULL)
            wp_deopt("out of memory", 0);
        for (int32_t k = 0; k < type->count; k++) {
            PyObject *found = _PyType_Lookup(class, type->names[k]);
            facts->members[k] = found != NULL && found->type == &PyMemberDescr_Type;
        }
    }
    return facts;
}

static type_facts *facts_of(const wp_type *type)
{
    if (2 * (all_facts.count + 1) > all_facts.capacity) {
        int64_t capacity = all_facts.capacity ? 2 * all_facts.capacity : 64;
        type_facts **places = calloc((size_t)capacity, sizeof *places);
        if (places == NULL)
            wp_deopt("out of memory", 0);
        for (int64_t k = 0; k < all_facts.capacity; k++)
            if (all_facts.places[k] != NULL) {
                size_t i = (uintptr_t)all_facts.places[k]->type >> 4;
                while (places[i & (size_t)(capacity - 1)] != NULL)
                    i++;
                places[i & (size_t)(capacity - 1)] = all_facts.places[k];
            }
        free(all_facts.places);
        all_facts.places = places;
        all_facts.capacity = capacity;
    }
    size_t i = (uintptr_t)type >> 4, mask = (size_t)(all_facts.capacity - 1);
    for (; all_facts.places[i & mask] != NULL; i++)
        if (all_facts.places[i & mask]->type == type)
            return all_facts.places[i & mask];
    type_facts *facts = make_facts(type);
    all_facts.count++;
    return all_facts.places[i & mask] = facts;
}

/* --- sequences of any form --- */

static int64_t sequence_length(const wp_object *o)
{
    if (o->type->kind == WP_LIST || o->type->count < 0)
        return ((const wp_list *)o)->length;
    return o->type->kind == WP_DEQUE ? ((const wp_deque *)o)->length : o->type->count;
}

static wp_val sequence_item(const wp_object *o, int64_t i)
{
    const wp_type *type = o->type;
    if (type->kind == WP_DEQUE)
        return wp_from_slot(deque_slot((const wp_deque *)o, i), item_repr(type));
    if (type->kind == WP_LIST || type->count < 0)
        return wp_from_slot(((const wp_list *)o)->data + i * item_width(type), item_repr(type));
    return wp_from_slot((const char *)o + type->offsets[i], type->slots[i]->repr);
}

static int same_kind(int32_t a, int32_t b)
{
    return a == b || ((a == WP_SET || a == WP_FROZENSET) && (b == WP_SET || b == WP_FROZENSET));
}

/* --- equality --- */

static int is_number(wp_val x) { return x.tag == WP_INT || x.tag == WP_FLOAT || x.tag == WP_BOOL || x.tag >= WP_NP; }

/* A NumPy scalar as the Python number of the same value. */
static wp_val plain_number(wp_val x)
{
    if (x.tag >= WP_NP)
        x.tag = x.tag >= WP_NP_FLOAT32 ? WP_FLOAT : x.tag == WP_NP_BOOL ? WP_BOOL : WP_INT;
    return x;
}

/* Python compares numbers exactly, NumPy as the type that both are converted to: where that may differ, Python does it. */
static void plain_numbers(wp_val *a, wp_val *b)
{
    if (a->tag < WP_NP && b->tag < WP_NP)
        return;
    if ((a->tag == WP_NP_FLOAT32) != (b->tag == WP_NP_FLOAT32))
        wp_deopt("a comparison of numpy.float32 with another type", 0);
    *a = plain_number(*a);
    *b = plain_number(*b);
    const int64_t exact = (int64_t)1 << 53;
    if ((a->tag == WP_FLOAT) != (b->tag == WP_FLOAT)) {
        int64_t whole = a->tag == WP_FLOAT ? b->u.i : a->u.i;
        if (whole > exact || whole < -exact)
            wp_deopt("a comparison of a NumPy float with a large integer", 0);
    }
}

static int64_t numbers_equal(wp_val a, wp_val b)
{
    plain_numbers(&a, &b);
    if (a.tag == WP_FLOAT)
        return b.tag == WP_FLOAT ? a.u.d == b.u.d : wp_compare_id(b.u.i, a.u.d) == 0;
    return b.tag == WP_FLOAT ? wp_compare_id(a.u.i, b.u.d) == 0 : a.u.i == b.u.i;
}

static int64_t sequences_equal(const wp_object *a, const wp_object *b)
{
    if (a->type == b->type && is_fixed_tuple(a))
        return fixed_tuples_equal(a, b);
    int64_t length = sequence_length(a);
    if (length != sequence_length(b))
        return 0;
    for (int64_t i = 0; i < length; i++)
        if (!equal_items(sequence_item(a, i), sequence_item(b, i)))
            return 0;
    return 1;
}

static int64_t ranges_equal(const wp_range *a, const wp_range *b)
{
    int64_t length = wp_range_length(a->start, a->stop, a->step);
    if (length != wp_range_length(b->start, b->stop, b->step))
        return 0;
    return length == 0 || (a->start == b->start && (length == 1 || a->step == b->step));
}

static void check_class(const wp_object *o)
{
    if (o->type->python != NULL && o->type->kind != WP_FUNCTION && !facts_of(o->type)->like_builtin)
        wp_deopt("a comparison of objects that define their own", 0);
}

/* Whether Python must be asked how an object compares with one of another type. */
static int compares_otherwise(const wp_object *o)
{
    return o->type->kind == WP_OBJECT && !o->type->same_only && !facts_of(o->type)->plain_equal;
}

static int is_pythons(int32_t kind) { return kind == WP_OPAQUE || kind == WP_COMPLEX || kind == WP_BYTEARRAY; }

static int64_t objects_equal(const wp_object *a, const wp_object *b)
{
    int32_t x = a->type->kind, y = b->type->kind;
    if (a == b && x == WP_OBJECT && a->type->equal == NULL && facts_of(a->type)->plain_equal)
        return 1;
    if (x == WP_OBJECT && a->type == b->type && a->type->equal != NULL) {
        deeper();
        int64_t equal = a->type->equal((void *)a, (void *)b);
        now.nesting--;
        return equal;
    }
    if (compares_otherwise(a) || compares_otherwise(b))
        wp_deopt("a comparison of objects that define their own", 0);
    if (x == WP_METHOD || y == WP_METHOD || x == WP_ITERATOR || y == WP_ITERATOR || x == WP_CLOSURE || y == WP_CLOSURE)
        wp_deopt("a comparison of functions", 0);
    if (x == WP_FUNCTION && y == WP_FUNCTION)
        return a->type->python == b->type->python;
    if (x == WP_OBJECT || y == WP_OBJECT)
        return a == b;
    if (x == WP_FUNCTION || y == WP_FUNCTION)
        wp_deopt("a comparison with a constant of Python", 0);
    if (x == WP_ARRAY || y == WP_ARRAY)
        wp_deopt("a comparison of arrays", 0);
    check_class(a);
    check_class(b);
    if (!same_kind(x, y))
        return 0;
    if (a == b)
        return 1;
    switch (x) {
    case WP_STR:
    case WP_BYTES: return wp_str_equal((const wp_str *)a, (const wp_str *)b);
    case WP_SET:
    case WP_FROZENSET: return wp_set_equal((const wp_set *)a, (const wp_set *)b);
    case WP_RANGE: return ranges_equal((const wp_range *)a, (const wp_range *)b);
    case WP_DICT:
    case WP_LIST:
    case WP_TUPLE:
    case WP_DEQUE:
    case WP_SLICE: {
        deeper();
        int64_t equal = x == WP_DICT ? wp_dict_equal((const wp_dict *)a, (const wp_dict *)b) : sequences_equal(a, b);
        now.nesting--;
        return equal;
    }
    default: wp_deopt("a comparison without a native form", 0);
    }
}

int64_t wp_equal(wp_val a, wp_val b)
{
    if (is_number(a) && is_number(b))
        return numbers_equal(a, b);
    if (is_pythons(kind_of(a)) || is_pythons(kind_of(b)))
        return wp_compare_python(PY_EQ, a, b, 0) == 1;
    if (a.tag == WP_PTR && b.tag == WP_PTR)
        return objects_equal(a.u.p, b.u.p);
    wp_val other = a.tag == WP_PTR ? a : b;
    if (other.tag == WP_PTR && compares_otherwise(other.u.p))
        wp_deopt("a comparison of objects that define their own", 0);
    if (kind_of(other) == WP_ARRAY)
        wp_deopt("a comparison of arrays", 0);
    if (kind_of(other) == WP_FUNCTION && is_number(a.tag == WP_PTR ? b : a))
        wp_deopt("a comparison with a constant of Python", 0); /* a member of an IntEnum is a number */
    return a.tag == WP_NONE && b.tag == WP_NONE;
}

/* As a container compares what it holds: what is identical is equal. */
static int64_t equal_items(wp_val a, wp_val b)
{
    if (a.tag == WP_PTR && b.tag == WP_PTR && a.u.p == b.u.p)
        return 1;
    wp_val x = plain_number(a), y = plain_number(b);
    if (x.tag == WP_FLOAT && y.tag == WP_FLOAT && x.u.d != x.u.d && y.u.d != y.u.d)
        wp_deopt("NaN in a container: whether it is the same one matters", 0);
    return wp_equal(a, b);
}

/* --- order --- */

static int64_t sequences_less(const wp_object *a, const wp_object *b)
{
    int64_t n = sequence_length(a), m = sequence_length(b);
    for (int64_t i = 0; i < n && i < m; i++) {
        wp_val x = sequence_item(a, i), y = sequence_item(b, i);
        if (!equal_items(x, y))
            return wp_less(x, y);
    }
    return n < m;
}

int64_t wp_less(wp_val a, wp_val b)
{
    if (is_number(a) && is_number(b)) {
        plain_numbers(&a, &b);
        if (a.tag == WP_FLOAT)
            return b.tag == WP_FLOAT ? a.u.d < b.u.d : wp_compare_id(b.u.i, a.u.d) == 1;
        return b.tag == WP_FLOAT ? wp_compare_id(a.u.i, b.u.d) == -1 : a.u.i < b.u.i;
    }
    int32_t x = kind_of(a), y = kind_of(b);
    if (is_pythons(x) || is_pythons(y))
        return wp_compare_python(PY_LT, a, b, 0) == 1;
    if (x == WP_OBJECT || y == WP_OBJECT || x == WP_FUNCTION || y == WP_FUNCTION)
        wp_deopt("an order of objects", 0);
    if (x != 0 && y != 0 && same_kind(x, y)) {
        check_class(a.u.p);
        check_class(b.u.p);
        switch (x) {
        case WP_STR:
        case WP_BYTES: return wp_str_compare(a.u.p, b.u.p) < 0;
        case WP_SET:
        case WP_FROZENSET: return ((wp_set *)a.u.p)->used < ((wp_set *)b.u.p)->used && wp_set_subset(a.u.p, b.u.p);
        case WP_LIST:
        case WP_TUPLE:
        case WP_DEQUE: {
            deeper();
            int64_t less = sequences_less(a.u.p, b.u.p);
            now.nesting--;
            return less;
        }
        default: break;
        }
    }
    wp_raise(WP_TYPE_ERROR, NULL, 0);
    return 0;
}

/* --- hash --- */

static int64_t none_hash;

static int64_t hash_address(const void *p)
{
    uintptr_t y = (uintptr_t)p;
    int64_t hash = (int64_t)(y >> 4 | y << 60);
    return hash == -1 ? -2 : hash;
}

/* The hash of an item of a fixed tuple. */
static inline int64_t hash_slot(const void *slot, char repr)
{
    if (repr == 'i')
        return hash_int(*(const int64_t *)slot);
    if (repr != 'p')
        return wp_hash(wp_from_slot(slot, repr));
    const wp_object *o = *(wp_object *const *)slot;
    if (o == NULL || o->type->kind == WP_STR)
        return dict_hash_p(o);
    deeper();
    int64_t hash = hash_pointer(o);
    now.nesting--;
    return hash;
}

static int64_t hash_tuple(const wp_object *o)
{
    const wp_type *type = o->type;
    int is_fixed = type->count >= 0;
    const uint64_t prime_1 = 11400714785074694791u, prime_2 = 14029467366897019727u, prime_5 = 2870177450012600261u;
    int64_t length = sequence_length(o);
    uint64_t sum = prime_5;
    for (int64_t i = 0; i < length; i++) {
        int64_t lane = is_fixed ? hash_slot((const char *)o + type->offsets[i], type->slots[i]->repr)
                                : wp_hash(sequence_item(o, i));
        if (lane == -1)
            return -1;
        sum += (uint64_t)lane * prime_2;
        sum = sum << 31 | sum >> 33;
        sum *= prime_1;
    }
    sum += (uint64_t)length ^ (prime_5 ^ 3527539u);
    return sum == UINT64_MAX ? 1546275796 : (int64_t)sum;
}

static uint64_t shuffle_bits(uint64_t h) { return ((h ^ 89869747u) ^ (h << 16)) * 3644798167u; }

static int64_t hash_frozenset(wp_set *s)
{
    if (s->hash != -1)
        return s->hash;
    uint64_t hash = 0;
    for (int64_t i = wp_set_next(s, 0); i >= 0; i = wp_set_next(s, i + 1))
        hash ^= shuffle_bits((uint64_t)set_hash_at(set_entry(s, i)));
    hash ^= ((uint64_t)s->used + 1) * 1927868237u;
    hash ^= (hash >> 11) ^ (hash >> 25);
    hash = hash * 69069u + 907133923u;
    return s->hash = hash == UINT64_MAX ? 590923713 : (int64_t)hash;
}

static int64_t hash_function(const wp_type *type)
{
    type_facts *facts = facts_of(type);
    if (facts->hash == -1) {
        context *call = suspend(); /* the hash of an enumeration's member is a method in Python */
        int64_t hash = PyObject_Hash(type->python);
        PyErr_Clear();
        resume(call);
        if (hash == -1)
            wp_deopt("a constant of Python that cannot be hashed", 0);
        facts->hash = hash;
    }
    return facts->hash;
}

static int64_t hash_pointer(const void *p)
{
    const wp_object *o = p;
    if (o == NULL)
        return none_hash;
    switch (o->type->kind) {
    case WP_STR:
    case WP_BYTES: return hash_str(p);
    case WP_TUPLE: {
        check_class(o);
        if (is_fixed_tuple(o)) /* it looks how deep it is where it is nested */
            return hash_tuple(o);
        deeper();
        int64_t hash = hash_tuple(o);
        now.nesting--;
        return hash;
    }
    case WP_FROZENSET: return hash_frozenset((wp_set *)p);
    case WP_FUNCTION: return hash_function(o->type);
    case WP_OPAQUE:
    case WP_BYTEARRAY:
    case WP_COMPLEX: return hash_opaque(wp_of_p(p));
    case WP_OBJECT:
        if (o->type->hash != NULL)
            return o->type->hash((void *)o);
        if (!facts_of(o->type)->plain_hash)
            wp_deopt("a hash of objects that define their own", 0);
        return hash_address(o->origin != NULL ? o->origin : p);
    case WP_LIST:
    case WP_DICT:
    case WP_SET:
    case WP_DEQUE: {
        char message[80];
        static const char *const names[] = {[WP_LIST] = "list", [WP_DICT] = "dict", [WP_SET] = "set", [WP_DEQUE] = "collections.deque"};
        if (o->type->python != NULL)
            wp_deopt("a key that cannot be hashed", 0);
        snprintf(message, sizeof message, "unhashable type: '%s'", names[o->type->kind]);
        wp_raise(WP_TYPE_ERROR, message, 0);
        return -1;
    }
    default: wp_deopt("a hash without a native form", 0);
    }
}

int64_t wp_hash(wp_val a)
{
    a = plain_number(a);
    switch (a.tag) {
    case WP_NONE: return none_hash;
    case WP_INT:
    case WP_BOOL: return hash_int(a.u.i);
    case WP_FLOAT: return hash_double(a.u.d);
    case WP_PTR: return hash_pointer(a.u.p);
    default: wp_deopt("a variable without a value", 0);
    }
}

/* --- truth and text --- */

int64_t wp_truth(wp_val a)
{
    a = plain_number(a);
    switch (a.tag) {
    case WP_NONE: return 0;
    case WP_INT:
    case WP_BOOL: return a.u.i != 0;
    case WP_FLOAT: return a.u.d != 0.0;
    default: break;
    }
    const wp_object *o = a.u.p;
    switch (kind_of(a)) {
    case WP_ARRAY: wp_deopt("the truth of an array", 0);
    case WP_STR:
    case WP_BYTES: return ((const wp_str *)o)->length != 0;
    case WP_LIST:
    case WP_TUPLE:
    case WP_DEQUE: return sequence_length(o) != 0;
    case WP_DICT: return ((const wp_dict *)o)->used != 0;
    case WP_OPAQUE: return truth_of_opaque((const wp_opaque *)o);
    case WP_BYTEARRAY: return ((const wp_list *)o)->length != 0;
    case WP_COMPLEX: return ((const wp_complex *)o)->real != 0.0 || ((const wp_complex *)o)->imag != 0.0;
    case WP_SET:
    case WP_FROZENSET: return ((const wp_set *)o)->used != 0;
    case WP_RANGE: return wp_range_length(((const wp_range *)o)->start, ((const wp_range *)o)->stop, ((const wp_range *)o)->step) != 0;
    default: return 1;
    }
}

static wp_str *text_of(wp_val a, PyObject *(*text)(PyObject *))
{
    PyObject *value = copy_out(a);
    context *call = suspend(); /* of objects it is a method in Python */
    PyObject *made = value == NULL ? NULL : text(value);
    Py_DecRef(value);
    resume(call);
    if (made == NULL || made->type != &PyUnicode_Type) {
        Py_DecRef(made);
        PyErr_Clear();
        wp_deopt("text of a value without a native form", 0);
    }
    wp_str *result = str_in(made);
    Py_DecRef(made); /* the call holds it */
    return result;
}

static int is_simple(const wp_str *s)
{
    for (int64_t i = 0; i < s->length; i++)
        if (s->data[i] < 32 || s->data[i] == 127 || s->data[i] == '\'' || s->data[i] == '\\')
            return 0;
    return s->ascii;
}

wp_str *wp_to_repr(wp_val a)
{
    static const char *const words[] = {"None", "False", "True"};
    if (a.tag >= WP_NP)
        return text_of(a, PyObject_Repr);
    switch (a.tag) {
    case WP_NONE: return str_of_ascii(words[0], 4);
    case WP_BOOL: return str_of_ascii(words[1 + a.u.i], a.u.i ? 4 : 5);
    case WP_INT: return wp_str_of_i(a.u.i);
    case WP_FLOAT: return wp_str_of_d(a.u.d);
    case WP_PTR: break;
    default: wp_deopt("a variable without a value", 0);
    }
    const wp_str *s = a.u.p;
    if (s->head.type->kind == WP_STR && is_simple(s)) {
        wp_str *result = str_room(&wp_str_type, s->length + 2, 1, 1);
        memcpy(result->data + 1, s->data, (size_t)s->length);
        result->data[0] = result->data[s->length + 1] = '\'';
        return result;
    }
    return text_of(a, PyObject_Repr);
}

wp_str *wp_to_str(wp_val a)
{
    if (kind_of(a) == WP_STR)
        return a.u.p;
    return a.tag == WP_PTR || a.tag >= WP_NP ? text_of(a, PyObject_Str) : wp_to_repr(a);
}

/* --- exceptions --- */

static const wp_spec error_spec = {'v', 0, 0, NULL};
static const wp_spec *const error_slots[] = {&error_spec};
static const int32_t error_offsets[] = {offsetof(wp_error, argument)};
static PyObject *error_names[1];
wp_type wp_error_types[WP_EXCEPTIONS];

static void start_errors(void)
{
    PyObject *classes[WP_EXCEPTIONS] = {
        [WP_INDEX_ERROR] = PyExc_IndexError, [WP_KEY_ERROR] = PyExc_KeyError, [WP_VALUE_ERROR] = PyExc_ValueError,
        [WP_TYPE_ERROR] = PyExc_TypeError, [WP_ZERO_DIVISION] = PyExc_ZeroDivisionError,
        [WP_ATTRIBUTE_ERROR] = PyExc_AttributeError, [WP_STOP_ITERATION] = PyExc_StopIteration,
        [WP_RUNTIME_ERROR] = PyExc_RuntimeError, [WP_ASSERTION_ERROR] = PyExc_AssertionError,
        [WP_OVERFLOW_ERROR] = PyExc_OverflowError, [WP_UNBOUND_LOCAL] = PyExc_UnboundLocalError, [WP_NAME_ERROR] = PyExc_NameError,
    };
    error_names[0] = PyUnicode_InternFromString("args");
    for (int k = 0; k < WP_EXCEPTIONS; k++)
        wp_error_types[k] = (wp_type){.kind = WP_OBJECT, .count = 1, .size = sizeof(wp_error), .slots = error_slots,
                                      .offsets = error_offsets, .python = classes[k], .names = (void *const *)error_names,
                                      .name = "exception"};
}

wp_object *wp_error_new(int32_t which, wp_val argument)
{
    wp_error *error = wp_new(&wp_error_types[which]);
    error->mask = argument.tag == WP_UNSET ? 2 : 1;
    error->argument = argument;
    return &error->head;
}

wp_val wp_error_argument(const wp_object *error, int64_t line)
{
    if (((const wp_error *)error)->mask != 1)
        wp_deopt("the message of an exception that is not known", line);
    return ((const wp_error *)error)->argument;
}

void wp_raise(int32_t which, const char *message, int64_t line)
{
    if (nobody_catches())
        wp_deopt("an exception", line);
    wp_val argument = message == NULL ? wp_unset() : wp_of_p(str_of_ascii(message, (int64_t)strlen(message)));
    wp_exception = wp_error_new(which, argument);
    if (message == NULL)
        ((wp_error *)wp_exception)->mask = 0;
    raised_at(line);
}

void wp_raise_key(wp_val key, int64_t line)
{
    if (nobody_catches())
        wp_deopt("an exception", line);
    wp_exception = wp_error_new(WP_KEY_ERROR, key);
    raised_at(line);
}
