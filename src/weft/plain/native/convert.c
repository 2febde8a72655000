/* Python objects in: by specification, exact types only, one native object for one Python object.

   In: an object and what may stand in its place. Out: the slot filled and 1, or 0 if it does not fit. Nothing of Python runs
   here but the building of small temporary objects, and nothing is changed. */

#include "api.h"

/* --- lists and maps of the call --- */

static void *grown(void *items, int64_t count, int64_t *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    int64_t larger = *capacity ? 2 * *capacity : 16;
    void *result = realloc(items, (size_t)larger * size);
    if (result == NULL)
        wp_deopt("out of memory", 0);
    *capacity = larger;
    return result;
}

/* Keeps a new reference until the call ends. */
static void hold_new(PyObject *o)
{
    now.held.items = grown(now.held.items, now.held.count, &now.held.capacity, sizeof(PyObject *));
    now.held.items[now.held.count++] = o;
}

static void hold(PyObject *o)
{
    hold_new(o);
    Py_IncRef(o);
}

static inline size_t pair_place(const void *key) { return (uintptr_t)key * 0x9E3779B97F4A7C15u >> 20; }

static void pair_index(pair_map *map, int64_t places)
{
    int32_t *index = realloc(map->index, (size_t)places * sizeof *index);
    if (index == NULL)
        wp_deopt("out of memory", 0);
    memset(index, 0xff, (size_t)places * sizeof *index);
    map->index = index;
    map->places = places;
    for (int64_t k = 0; k < map->count; k++) {
        size_t i = pair_place(map->items[k].key);
        while (index[i & (size_t)(places - 1)] >= 0)
            i++;
        index[i & (size_t)(places - 1)] = (int32_t)k;
    }
}

static int pair_add(pair_map *map, void *key, void *value)
{
    if (2 * (map->count + 1) > map->places)
        pair_index(map, map->places ? 2 * map->places : 32);
    map->items = grown(map->items, map->count, &map->capacity, sizeof *map->items);
    size_t i = pair_place(key);
    while (map->index[i & (size_t)(map->places - 1)] >= 0)
        i++;
    map->index[i & (size_t)(map->places - 1)] = (int32_t)map->count;
    map->items[map->count++] = (pair){key, value};
    return 1;
}

static void *pair_find(const pair_map *map, const void *key)
{
    if (map->count == 0)
        return NULL;
    for (size_t i = pair_place(key);; i++) {
        int32_t k = map->index[i & (size_t)(map->places - 1)];
        if (k < 0)
            return NULL;
        if (map->items[k].key == key)
            return map->items[k].value;
    }
}

/* Forgets what was added last. */
static void pair_cut(pair_map *map, int64_t count)
{
    if (map->count > count) {
        map->count = count;
        pair_index(map, map->places);
    }
}

static void pair_free(pair_map *map)
{
    free(map->items);
    free(map->index);
    *map = (pair_map){0};
}

static void add_changed(PyObject *o, void *native)
{
    now.changed.items = grown(now.changed.items, now.changed.count, &now.changed.capacity, sizeof(pair));
    now.changed.items[now.changed.count++] = (pair){o, native};
}

/* --- layouts that differ between versions: tried out at start --- */

static int digits_tagged;                /* ints: a tag with sign and count of digits (3.12 on), else a signed count */
static int digits_known;
static int64_t ascii_data, compact_data; /* where the characters of a str begin; 0: not known */
static uint32_t kind_shift;              /* of the word of state: three bits of kind, compact, ascii */
static PyObject *set_dummy;
static PyTypeObject *deque_class, *ordered_class;

static inline int int_in(PyObject *o, int64_t *out)
{
    const LongHead *head = (const LongHead *)o;
    if (WP_LIKELY(digits_known)) {
        if (digits_tagged) {
            if ((size_t)head->tag < 16) {
                *out = (1 - (head->tag & 3)) * (int64_t)head->digit;
                return 1;
            }
            if (head->tag >> 3 == 2) {
                *out = (1 - (head->tag & 3)) * ((int64_t)head->digit | (int64_t)(&head->digit)[1] << 30);
                return 1;
            }
        } else {
            if ((size_t)(head->tag + 1) <= 2) {
                *out = head->tag * (int64_t)head->digit;
                return 1;
            }
            if (head->tag == 2 || head->tag == -2) {
                *out = head->tag / 2 * ((int64_t)head->digit | (int64_t)(&head->digit)[1] << 30);
                return 1;
            }
        }
    }
    int overflow;
    *out = PyLong_AsLongLongAndOverflow(o, &overflow);
    return !overflow;
}

static wp_str *str_copied_in(PyObject *o)
{
    Py_ssize_t length = PyUnicode_GetLength(o);
    wp_str *wide = str_room(&wp_str_type, length, 4, 0);
    if (length > 0 && PyUnicode_AsUCS4(o, (uint32_t *)wide->data, length, 0) == NULL) {
        PyErr_Clear();
        wp_deopt("out of memory", 0);
    }
    wp_str *s = str_narrow(wide);
    if (s->length == 0) {
        s = wp_new(&wp_str_type);
        *s = empty_str;
    }
    return s;
}

static wp_str *str_in(PyObject *o)
{
    const StrHead *head = (const StrHead *)o;
    uint32_t bits = head->state >> kind_shift, width = bits & 7;
    wp_str *s;
    if (ascii_data != 0 && bits & 8 && width != 0) {
        s = heap_block(OBJECTS, sizeof *s);
        s->head.type = &wp_str_type;
        s->hash = head->hash;
        s->length = head->length;
        s->width = (int32_t)width;
        s->ascii = (bits & 16) != 0;
        s->data = (uint8_t *)o + (s->ascii ? ascii_data : compact_data);
    } else
        s = str_copied_in(o);
    s->head.origin = o;
    hold(o);
    return s;
}

static wp_str *bytes_in(PyObject *o)
{
    wp_str *s = heap_block(OBJECTS, sizeof *s);
    s->head.type = &wp_bytes_type;
    s->head.origin = o;
    s->hash = -1;
    s->length = PyBytes_Size(o);
    s->width = 1;
    s->data = (uint8_t *)PyBytes_AsString(o);
    hold(o);
    return s;
}

/* --- containers --- */

static PyTypeObject *class_of_kind(int32_t kind)
{
    switch (kind) {
    case WP_STR: return &PyUnicode_Type;
    case WP_BYTES: return &PyBytes_Type;
    case WP_LIST: return &PyList_Type;
    case WP_TUPLE: return &PyTuple_Type;
    case WP_DICT: return &PyDict_Type;
    case WP_SET: return &PySet_Type;
    case WP_FROZENSET: return &PyFrozenSet_Type;
    case WP_DEQUE: return deque_class;
    case WP_RANGE: return &PyRange_Type;
    case WP_SLICE: return &PySlice_Type;
    case WP_ARRAY: return array_class;
    default: return NULL;
    }
}

static void remember_in(PyObject *o, void *native, const wp_type *type)
{
    if (now.anonymous) {
        pair_add(&now.known, o, native);
        return;
    }
    ((wp_object *)native)->origin = o;
    if (now.nesting <= 1 || o->refcount > 1) /* else nobody else refers to it */
        pair_add(&now.known, o, native);
    hold(o);
    if (type->written)
        add_changed(o, native);
}

static int items_in(PyObject *const *items, int64_t count, const wp_spec *spec, char *data)
{
    if (spec->repr == 'd') {
        for (int64_t i = 0; i < count; i++) {
            if (items[i]->type != &PyFloat_Type)
                return 0;
            ((double *)data)[i] = ((const FloatHead *)items[i])->value;
        }
        return 1;
    }
    if (spec->repr == 'i') {
        for (int64_t i = 0; i < count; i++)
            if (items[i]->type != &PyLong_Type || !int_in(items[i], &((int64_t *)data)[i]))
                return 0;
        return 1;
    }
    int64_t width = WP_WIDTH(spec->repr);
    for (int64_t i = 0; i < count; i++)
        if (!in_slot(items[i], spec, data + i * width))
            return 0;
    return 1;
}

static wp_object *list_in(PyObject *o, const wp_type *type)
{
    PyObject *const *items = type->kind == WP_LIST ? ((ListHead *)o)->items : ((TupleHead *)o)->items;
    int64_t count = ((ListHead *)o)->size;
    wp_list *l = wp_list_new(type, count, count);
    remember_in(o, l, type);
    if (flavour_of(item_repr(type)) == REFERENCES)
        l->length = 0; /* nothing to see before it is there */
    if (!items_in(items, count, type->slots[0], l->data))
        return NULL;
    l->length = count;
    return &l->head;
}

static wp_object *tuple_in(PyObject *o, const wp_type *type)
{
    const TupleHead *tuple = (const TupleHead *)o;
    if (type->count < 0)
        return list_in(o, type);
    if (tuple->size != type->count)
        return NULL;
    wp_object *result = wp_new(type);
    remember_in(o, result, type);
    for (int32_t k = 0; k < type->count; k++)
        if (!in_slot(tuple->items[k], type->slots[k], (char *)result + type->offsets[k]))
            return NULL;
    return result;
}

/* One entry, whose key is not there yet. */
static int entry_in(wp_dict *d, PyObject *key, PyObject *value)
{
    wp_val slot;
    int64_t hash;
    if (!in_slot(key, d->head.type->slots[0], &slot))
        return 0;
    switch (d->key_repr) {
    case 'i': hash = dict_hash_i(slot.tag); break;
    case 'b': hash = dict_hash_b(slot.tag); break;
    case 'd': hash = dict_hash_d(double_of(slot.tag)); break;
    case 'p': hash = dict_hash_p((void *)(uintptr_t)slot.tag); break;
    default: hash = dict_hash_v(slot);
    }
    if (hash == -1)
        return 0;
    char *entry = dict_append(d, hash);
    memcpy(entry + 8, &slot, (size_t)WP_WIDTH(d->key_repr));
    int64_t position = d->count - 1;
    wp_val held = {0, {0}};
    if (!in_slot(value, d->head.type->slots[1], &held))
        return 0;
    memcpy(wp_dict_value_at(d, position), &held, (size_t)WP_WIDTH(d->value_repr));
    return 1;
}

static wp_object *dict_in(PyObject *o, const wp_type *type)
{
    wp_dict *d = wp_dict_new(type);
    remember_in(o, d, type);
    Py_ssize_t position = 0, count = PyDict_Size(o);
    PyObject *key, *value;
    if (type->count == 3) {
        PyObject *factory = PyObject_GetAttrString(o, "default_factory");
        if (factory == NULL)
            return NULL;
        hold_new(factory);
        if (type->slots[2]->repr != 'p' || !in_slot(factory, type->slots[2], &d->factory))
            return NULL;
    }
    if (count > 0)
        dict_rebuild(d, count);
    if (ordered_class != NULL && PyType_IsSubtype(o->type, ordered_class)) { /* has an order of its own */
        PyObject *keys = PySequence_List(o);
        if (keys == NULL)
            return NULL;
        hold_new(keys);
        for (Py_ssize_t i = 0; i < ((ListHead *)keys)->size; i++) {
            key = ((ListHead *)keys)->items[i];
            value = PyDict_GetItemWithError(o, key);
            if (value == NULL || !entry_in(d, key, value))
                return NULL;
        }
        return &d->head;
    }
    while (PyDict_Next(o, &position, &key, &value))
        if (!entry_in(d, key, value))
            return NULL;
    return &d->head;
}

static wp_object *set_in(PyObject *o, const wp_type *type)
{
    const SetHead *head = (const SetHead *)o;
    wp_set *s = wp_set_new(type);
    remember_in(o, s, type);
    if (head->mask != s->mask) {
        s->mask = head->mask;
        s->table = set_table(s, s->mask + 1);
    }
    for (int64_t i = 0; i <= head->mask; i++) {
        const SetEntry *from = &head->table[i];
        char *entry = set_entry(s, i);
        if (from->key == NULL)
            continue;
        if (from->key == set_dummy) {
            *(int64_t *)entry = -1;
            *(int64_t *)(entry + 8) = 0;
            continue;
        }
        if (from->key->type == &PyFloat_Type && ((FloatHead *)from->key)->value != ((FloatHead *)from->key)->value)
            return NULL;
        wp_val slot;
        if (!in_slot(from->key, type->slots[0], &slot))
            return NULL;
        memcpy(entry + 8, &slot, (size_t)WP_WIDTH(s->repr));
        *(int64_t *)entry = from->hash;
    }
    s->fill = head->fill;
    s->used = head->used;
    s->finger = head->finger;
    return &s->head;
}

static wp_object *deque_in(PyObject *o, const wp_type *type)
{
    int64_t maxlen = -1;
    PyObject *limit = PyObject_GetAttrString(o, "maxlen"), *items = PySequence_List(o);
    if (limit == NULL || items == NULL) {
        Py_DecRef(limit);
        Py_DecRef(items);
        return NULL;
    }
    hold_new(limit);
    hold_new(items);
    if (limit != &_Py_NoneStruct && !int_in(limit, &maxlen))
        return NULL;
    wp_deque *q = wp_deque_new(type, maxlen);
    remember_in(o, q, type);
    for (Py_ssize_t i = 0; i < ((ListHead *)items)->size; i++) {
        wp_val slot;
        if (!in_slot(((ListHead *)items)->items[i], type->slots[0], &slot))
            return NULL;
        memcpy(wp_deque_push(q), &slot, (size_t)q->width);
    }
    return &q->head;
}

static int attribute_in(PyObject *o, const char *name, PyObject **out)
{
    *out = PyObject_GetAttrString(o, name);
    if (*out != NULL)
        hold_new(*out);
    return *out != NULL;
}

static wp_object *range_in(PyObject *o, const wp_type *type)
{
    static const char *const names[] = {"start", "stop", "step"};
    wp_range *r = heap_block(OBJECTS, sizeof *r);
    r->head.type = type;
    remember_in(o, r, type);
    for (int k = 0; k < 3; k++) {
        PyObject *value;
        if (!attribute_in(o, names[k], &value) || value->type != &PyLong_Type || !int_in(value, &r->start + k))
            return NULL;
    }
    return &r->head;
}

static wp_object *slice_in(PyObject *o, const wp_type *type)
{
    static const char *const names[] = {"start", "stop", "step"};
    if (type->count != 3)
        return NULL;
    wp_object *result = wp_new(type);
    remember_in(o, result, type);
    for (int k = 0; k < 3; k++) {
        PyObject *value;
        if (!attribute_in(o, names[k], &value) || !in_slot(value, type->slots[k], (char *)result + type->offsets[k]))
            return NULL;
    }
    return result;
}

/* --- objects --- */

static int32_t name_index(const wp_type *type, PyObject *name, int32_t likely)
{
    for (int32_t step = 0; step < type->count; step++) {
        int32_t k = (likely + step) % type->count;
        if (type->names[k] == (void *)name)
            return k;
    }
    for (int32_t k = 0; k < type->count; k++)
        if (PyObject_RichCompareBool(type->names[k], name, PY_EQ) == 1)
            return k;
    return -1;
}

/* What looking up a name gave, into its slot, and noted in the mask; a name that is missing stays unset. */
static int looked_up_in(PyObject *value, wp_record *result, const wp_type *type, int32_t k, uint64_t *mask)
{
    if (value == NULL) {
        PyErr_Clear();
        return 1;
    }
    hold_new(value);
    *mask |= (uint64_t)1 << k;
    return in_slot(value, type->slots[k], (char *)result + type->offsets[k]);
}

static wp_object *object_in(PyObject *o, const wp_type *type)
{
    const type_facts *facts = facts_of(type);
    if (facts->is_exception || type->count > 63)
        return NULL;
    wp_record *result = wp_new(type);
    remember_in(o, result, type);
    uint64_t mask = 0;
    if (facts->has_dict) {
        attribute_walk walk;
        PyObject *name, *value;
        int32_t likely = 0;
        if (!begin_walk(&walk, o))
            return NULL;
        if (walk.dict != NULL)
            hold_new(walk.dict);
        while (next_attribute(&walk, &name, &value)) {
            int32_t k = type->count == 0 ? -1 : name_index(type, name, likely);
            if (k < 0 || facts->members[k] || !in_slot(value, type->slots[k], (char *)result + type->offsets[k]))
                return NULL;
            mask |= (uint64_t)1 << k;
            likely = k + 1;
        }
    }
    for (int32_t k = 0; k < type->count; k++)
        if (facts->members[k] && !looked_up_in(PyObject_GenericGetAttr(o, type->names[k]), result, type, k, &mask))
            return NULL;
    result->value[0] = (int64_t)mask;
    return &result->head;
}

/* The array itself, in the caller's memory; a result of Python that belongs to this call is copied. */
static wp_object *array_in(PyObject *o, const wp_type *type)
{
    if (!array_fits((ArrayHead *)o, type))
        return NULL;
    wp_array *a = now.anonymous ? array_copied((ArrayHead *)o, type) : array_shared((ArrayHead *)o, type);
    remember_in(o, a, type);
    return &a->head;
}

/* The names that compiled code uses of a module or class. */
static wp_object *names_in(PyObject *o, const wp_type *type)
{
    if (type->count > 63)
        return NULL;
    wp_record *result = wp_new(type);
    remember_in(o, result, type);
    uint64_t mask = 0;
    for (int32_t k = 0; k < type->count; k++)
        if (!looked_up_in(PyObject_GetAttr(o, type->names[k]), result, type, k, &mask))
            return NULL;
    result->value[0] = (int64_t)mask;
    return &result->head;
}

static wp_object *convert_in(PyObject *o, const wp_type *type)
{
    switch (type->kind) {
    case WP_STR: return &str_in(o)->head;
    case WP_BYTES: return &bytes_in(o)->head;
    case WP_LIST: return list_in(o, type);
    case WP_TUPLE: return tuple_in(o, type);
    case WP_DICT: return dict_in(o, type);
    case WP_SET:
    case WP_FROZENSET: return set_in(o, type);
    case WP_DEQUE: return deque_in(o, type);
    case WP_RANGE: return range_in(o, type);
    case WP_SLICE: return slice_in(o, type);
    case WP_OBJECT: return object_in(o, type);
    case WP_ARRAY: return array_in(o, type);
    case WP_OPAQUE: return opaque_in(o, type);
    case WP_COMPLEX: return complex_in(o);
    case WP_BYTEARRAY: return bytearray_in(o, type);
    case WP_NAMESPACE: return names_in(o, type);
    case WP_FUNCTION: {
        wp_object *result = wp_new(type);
        pair_add(&now.known, o, result);
        return result;
    }
    default: return NULL;
    }
}

static int class_fits(PyObject *o, const wp_type *type)
{
    if (type->kind == WP_FUNCTION)
        return o == type->python;
    return o->type == (type->python != NULL ? type->python : class_of_kind(type->kind));
}

static wp_object *pointer_in(PyObject *o, const wp_spec *spec)
{
    if (o->type != &PyUnicode_Type && o->type != &PyBytes_Type) {
        wp_object *known = pair_find(&now.known, o);
        if (known != NULL) {
            for (int32_t k = 0; k < spec->count; k++)
                if (known->type == spec->types[k])
                    return known;
            return NULL;
        }
    }
    now.nesting++;
    if (stack_is_low())
        wp_deopt("arguments that are nested deeply", 0);
    wp_object *result = NULL;
    for (int32_t k = 0; k < spec->count && result == NULL; k++) {
        if (!class_fits(o, spec->types[k]))
            continue;
        int64_t known = now.known.count, changed = now.changed.count;
        result = convert_in(o, spec->types[k]);
        if (PyErr_Occurred())
            PyErr_Clear();
        if (result == NULL) {
            pair_cut(&now.known, known);
            now.changed.count = changed;
        }
    }
    now.nesting--;
    return result;
}

static int in_slot(PyObject *o, const wp_spec *spec, void *slot)
{
    wp_val v;
    if (o->type == &PyFloat_Type)
        v = wp_of_d(((FloatHead *)o)->value);
    else if (o->type == &PyLong_Type) {
        v.tag = WP_INT;
        if (!int_in(o, &v.u.i) && (v = wp_of_p(pointer_in(o, spec))).tag == WP_NONE)
            return 0;
    } else if (o->type == &PyBool_Type)
        v = wp_of_b(o == &_Py_TrueStruct);
    else if (o == &_Py_NoneStruct)
        v = wp_of_p(NULL);
    else if (spec->scalars >> WP_NP && scalar_in(o, &v))
        ;
    else {
        v = wp_of_p(pointer_in(o, spec));
        if (v.tag == WP_NONE)
            return 0;
    }
    if (v.tag != WP_PTR && !(spec->scalars >> v.tag & 1))
        return 0;
    static const char reprs[] = {'p', 'i', 'd', 'b', 'p'};
    if (spec->repr == 'v')
        *(wp_val *)slot = v;
    else if (v.tag >= WP_NP || spec->repr != reprs[v.tag])
        return 0;
    else
        *(int64_t *)slot = v.tag == WP_NONE ? 0 : v.u.i;
    return 1;
}

/* --- bytearrays --- */

static wp_object *bytearray_in(PyObject *o, const wp_type *type)
{
    wp_list *l = bytes_spread((const uint8_t *)PyByteArray_AsString(o), PyByteArray_Size(o));
    remember_in(o, l, type);
    return &l->head;
}

static PyObject *bytearray_made(const wp_list *l)
{
    uint8_t *data = bytes_joined(l);
    PyObject *made = PyByteArray_FromStringAndSize((const char *)data, l->length);
    free(data);
    return made;
}

/* The new content of an argument. */
static int bytearray_back(PyObject *target, PyObject *content)
{
    Py_ssize_t size = PyByteArray_Size(content);
    if (PyByteArray_Size(target) != size && PyByteArray_Resize(target, size) < 0)
        return -1;
    memcpy(PyByteArray_AsString(target), PyByteArray_AsString(content), (size_t)size);
    return 0;
}
