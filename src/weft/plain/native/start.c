/* What is tried out when the run time is loaded: layouts of objects, hashes, and the order of sets. */

#include "api.h"

static int ints_agree(void)
{
    static const int64_t tried[] = {0, 1, -1, 5, -300, 65537, (1 << 30) - 1, 1LL << 30, -(1LL << 30), 1LL << 40, -(1LL << 59) - 7, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
        PyObject *item = PyLong_FromLongLong(tried[i]);
        int64_t number;
        int agrees = item != NULL && int_in(item, &number) && number == tried[i];
        Py_DecRef(item);
        if (!agrees)
            return 0;
    }
    return 1;
}

static void find_ints(void)
{
    digits_known = 1;
    for (digits_tagged = 0; digits_tagged < 2; digits_tagged++)
        if (ints_agree())
            return;
    digits_known = 0;
}

static int string_agrees(int kind, const uint32_t *codes, int64_t length, int is_ascii)
{
    uint8_t narrow[16];
    uint16_t middle[16];
    for (int64_t i = 0; i < length; i++) {
        narrow[i] = (uint8_t)codes[i];
        middle[i] = (uint16_t)codes[i];
    }
    const void *data = kind == 1 ? (void *)narrow : kind == 2 ? (void *)middle : (const void *)codes;
    PyObject *s = PyUnicode_FromKindAndData(kind, data, length);
    if (s == NULL)
        return 0;
    const StrHead *head = (const StrHead *)s;
    uint32_t bits = head->state >> kind_shift;
    int agrees = (bits & 7) == (uint32_t)kind && (bits & 8) && !(bits & 16) == !is_ascii && head->length == length &&
                 memcmp((char *)s + (is_ascii ? ascii_data : compact_data), data, (size_t)(length * kind)) == 0 &&
                 PyObject_Hash(s) == head->hash;
    Py_DecRef(s);
    return agrees;
}

static void find_strings(void)
{
    static const uint32_t plain[] = {'w', 'e', 'f', 't', ' ', 'x'}, latin[] = {'w', 0xe9, 'f', 0xff, 'q'},
                          basic[] = {'w', 0x20ac, 'f', 0xe9, 'z'}, astral[] = {'w', 0x1f600, 0x20ac, 'y'};
    static const struct { int64_t ascii, compact; uint32_t shift; } layouts[] = {{48, 72, 2}, {40, 56, 2}, {40, 56, 16}, {40, 56, 8}};
    for (size_t k = 0; k < sizeof layouts / sizeof *layouts; k++) {
        ascii_data = layouts[k].ascii;
        compact_data = layouts[k].compact;
        kind_shift = layouts[k].shift;
        if (string_agrees(1, plain, 6, 1) && string_agrees(1, latin, 5, 0) && string_agrees(2, basic, 5, 0) &&
            string_agrees(4, astral, 4, 0))
            return;
    }
    ascii_data = 0;
}

/* --- hashes and sets: within a call of their own --- */

static const wp_spec any_spec = {'v', 0xff, 0, NULL}, whole_spec = {'i', 1u << WP_INT, 0, NULL};
static const wp_spec *const any_slots[] = {&any_spec}, *const whole_slots[] = {&whole_spec};
static const wp_type any_tuple = {.kind = WP_TUPLE, .count = -1, .slots = any_slots},
                     any_frozenset = {.kind = WP_FROZENSET, .count = 1, .slots = any_slots},
                     whole_set = {.kind = WP_SET, .count = 1, .slots = whole_slots};

static int hash_agrees(wp_val v)
{
    PyObject *o = copy_out(v);
    int agrees = o != NULL && PyObject_Hash(o) == wp_hash(v);
    Py_DecRef(o);
    return agrees;
}

static int hashes_agree(void)
{
    static const double reals[] = {0.0, -0.0, 1.0, -1.0, 0.5, 3.14159, -2.5e300, 1e-310, 123456789.25, HUGE_VAL, -HUGE_VAL};
    static const int64_t wholes[] = {0, 1, -1, -2, 12345, INT64_MAX, INT64_MIN, (1LL << 61) - 1, -(1LL << 61) + 1, 1LL << 61};
    wp_list *all = wp_list_new(&any_tuple, 0, 0);
    int agree = 1;
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        wp_list_append_v(all, wp_of_d(reals[i]));
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        wp_list_append_v(all, wp_of_i(wholes[i]));
    wp_list_append_v(all, wp_of_p(NULL));
    wp_list_append_v(all, wp_of_b(1));
    wp_list_append_v(all, wp_of_p(str_of_ascii("weft", 4)));
    wp_list_append_v(all, wp_of_p(wp_str_char(0x20ac)));
    wp_list_append_v(all, wp_of_p(&empty_str));
    wp_set *frozen = wp_set_new(&any_frozenset);
    for (int64_t i = 0; i < all->length; i++) {
        wp_val v = ((wp_val *)all->data)[i];
        agree = agree && hash_agrees(v);
        wp_set_add_v(frozen, v);
    }
    return agree && hash_agrees(wp_of_p(all)) && hash_agrees(wp_of_p(frozen));
}

static int tables_agree(const wp_set *s, const SetHead *head)
{
    if (head->mask != s->mask || head->fill != s->fill || head->used != s->used || head->finger != s->finger)
        return 0;
    for (int64_t i = 0; i <= s->mask; i++) {
        const char *entry = set_entry(s, i);
        const SetEntry *other = &head->table[i];
        int64_t number = 0;
        if (is_free(entry) ? other->key != NULL : set_hash_at(entry) == -1 ? other->key != set_dummy
                : other->key == NULL || other->key == set_dummy || other->hash != set_hash_at(entry) ||
                      !int_in(other->key, &number) || number != *(const int64_t *)(entry + 8))
            return 0;
    }
    return 1;
}

/* The same additions and removals in a set of Python and in one of ours. */
static int same_history(void)
{
    PyObject *set = PySet_New(NULL);
    if (set == NULL)
        return 0;
    hold_new(set);
    wp_set *s = wp_set_new(&whole_set);
    uint64_t x = 88172645463325252u;
    for (int step = 0; step < 600; step++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        int64_t key = (int64_t)(step < 200 ? x % 64 : x % 4096) * (x & 1024 ? 1 : 1024);
        PyObject *number = PyLong_FromLongLong(key);
        int added = step % 3 != 2;
        int failed = number == NULL || (added ? PySet_Add(set, number) : PySet_Discard(set, number)) < 0;
        Py_DecRef(number);
        if (failed)
            return 0;
        if (added)
            wp_set_add_i(s, key);
        else
            wp_set_discard_i(s, key);
        if (step % 50 == 0 && !tables_agree(s, (SetHead *)set))
            return 0;
    }
    return tables_agree(s, (SetHead *)set);
}

static int history_found(void)
{
    for (int choice = TAKE_FREE; choice <= TAKE_LAST; choice++) {
        taken_entry = choice;
        if (same_history())
            return 1;
    }
    return 0;
}

static int layout_of_sets(PyObject *set)
{
    const SetHead *head = (const SetHead *)set;
    PyObject *number = PyLong_FromLongLong(3);
    if (number == NULL || PySet_Add(set, number) < 0)
        return 0;
    Py_DecRef(number);
    if (head->fill != 1 || head->used != 1 || head->mask != 7 || head->table != head->small || head->small[3].key != number ||
        head->small[3].hash != 3 || PySet_Discard(set, number) != 1 || head->small[3].hash != -1)
        return 0;
    set_dummy = head->small[3].key;
    return head->fill == 1 && head->used == 0 && set_dummy != NULL;
}

static void try_sets(void)
{
    jmp_buf back;
    PyObject *set = PySet_New(NULL);
    begin_call((char *)__builtin_frame_address(0), &back);
    now.heap.frozen = 1;
    sets_agree = 1;
    if (set == NULL || setjmp(back) != 0 || !layout_of_sets(set) || !history_found() || !hashes_agree())
        sets_agree = 0;
    end_call();
    Py_DecRef(set);
    PyErr_Clear();
}

/* Whether complex(0.0, -0.0) + 0.0 has an imaginary part of 0.0: newer versions leave it alone. */
static void find_mixing(void)
{
    PyObject *x = PyComplex_FromDoubles(0.0, -0.0), *y = PyFloat_FromDouble(0.0), *sum = x == NULL || y == NULL ? NULL : PyNumber_Add(x, y);
    complex_start();
    wp_complex_mixes = sum != NULL && !signbit(PyComplex_ImagAsDouble(sum));
    Py_DecRef(x);
    Py_DecRef(y);
    Py_DecRef(sum);
    PyErr_Clear();
}

/* Once, with the interpreter lock held. The samples: 1.5, [1.5], (1.5,). None, or a text that says why not. */
PyObject *wp_start(PyObject *miss, PyObject *deque, PyObject *ordered, PyObject *random, PyObject *helpers, PyObject *number, PyObject *list, PyObject *tuple)
{
    if (_PyType_Lookup == NULL || _Py_c_prod == NULL || _Py_c_quot == NULL || _Py_c_abs == NULL)
        return PyUnicode_FromString("this interpreter has not all the functions that the run time calls");
    const ListHead *l = (const ListHead *)list;
    const TupleHead *t = (const TupleHead *)tuple;
    if (number->type != &PyFloat_Type || ((FloatHead *)number)->value != 1.5 || l->size != 1 || l->items[0] != number ||
        t->size != 1 || t->items[0] != number)
        return PyUnicode_FromString("objects of this interpreter are laid out in another way than the run time expects");
    const char *every = getenv("WEFT_PLAIN_GC");
    collect_every = until_collect = every == NULL ? 0 : atoll(every);
    wp_miss = new_reference(miss);
    deque_class = (PyTypeObject *)new_reference(deque);
    ordered_class = (PyTypeObject *)new_reference(ordered);
    random_module = new_reference(random);
    write_pieces = new_reference(PyTuple_GetItem(helpers, 0));
    copy_state = new_reference(PyTuple_GetItem(helpers, 1));
    give_state = new_reference(PyTuple_GetItem(helpers, 2));
    address_of = new_reference(PyTuple_GetItem(helpers, 3));
    same_state = new_reference(PyTuple_GetItem(helpers, 4));
    none_hash = PyObject_Hash(&_Py_NoneStruct);
    start_strings();
    start_errors();
    wp_big_type.python = &PyLong_Type;
    wp_bytearray_type.python = &PyByteArray_Type;
    wp_complex_type.python = &PyComplex_Type;
    find_mixing();
    find_ints();
    find_strings();
    find_values();
    try_sets();
    return new_reference(&_Py_NoneStruct);
}

/* For tests: a collection at every allocation of this number, 0 for those that are due. */
void wp_collect_every(int64_t count) { collect_every = until_collect = count; }

int wp_sets_agree(void) { return sets_agree; }
