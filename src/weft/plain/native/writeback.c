/* Arguments that were changed: their new content is made first, and put into place when nothing can fail any more.

   In: the containers and objects that came in and whose type says that they may have been written. Out: the same Python
   objects with new content; what did not change is left alone, and items that came in go back as the very objects. */

#include "api.h"

typedef struct {
    PyObject *target;     /* held: another change may take away all else that holds it */
    int32_t kind;
    PyObject *content;    /* a list of items, a set to swap with, or NULL */
    object_list keys;     /* dict: keys and values in turn; list: indices (as addresses) and items; object: names and values */
    int whole;            /* dict: everything anew */
    int ordered;          /* an OrderedDict, or another class with methods of its own */
} change;

static struct {
    change *items;
    int64_t count, capacity;
} changes;

static void add_two(object_list *list, PyObject *first, PyObject *second)
{
    list->items = grown(list->items, list->count + 1, &list->capacity, sizeof(PyObject *));
    list->items[list->count++] = first;
    list->items[list->count++] = second;
}

static void drop_change(change *c)
{
    Py_DecRef(c->content);
    for (int64_t i = 0; i < c->keys.count; i++)
        if (!(c->kind == WP_LIST && i % 2 == 0))
            Py_DecRef(c->keys.items[i]);
    free(c->keys.items);
    Py_DecRef(c->target);
}

/* --- what is to be changed --- */

static int prepare_list(change *c, wp_list *l)
{
    ListHead *old = (ListHead *)c->target;
    char repr = item_repr(l->head.type);
    int64_t width = item_width(l->head.type);
    if (old->size != l->length) {
        c->content = PyList_New(l->length);
        if (c->content == NULL)
            return 0;
        for (int64_t i = 0; i < l->length; i++) {
            PyObject *item = out_reusing(i < old->size ? old->items[i] : NULL, l->data + i * width, repr);
            if ((((ListHead *)c->content)->items[i] = item) == NULL)
                return 0;
        }
        return 1;
    }
    for (int64_t i = 0; i < l->length; i++) {
        PyObject *item = out_reusing(old->items[i], l->data + i * width, repr);
        if (item == NULL)
            return 0;
        if (item == old->items[i])
            Py_DecRef(item);
        else
            add_two(&c->keys, (PyObject *)(uintptr_t)i, item);
    }
    return 1;
}

static int prepare_dict(change *c, wp_dict *d)
{
    PyObject *old_key, *old_value;
    Py_ssize_t position = 0;
    int64_t same = 0;
    c->ordered = c->target->type != &PyDict_Type && ordered_class != NULL && PyType_IsSubtype(c->target->type, ordered_class);
    int aligned = !c->ordered;
    for (int64_t i = wp_dict_next(d, 0); i >= 0; i = wp_dict_next(d, i + 1)) {
        if (aligned && !PyDict_Next(c->target, &position, &old_key, &old_value))
            aligned = 0;
        PyObject *key = out_reusing(aligned ? old_key : NULL, wp_dict_key_at(d, i), d->key_repr);
        if (key == NULL)
            return 0;
        if (aligned && key != old_key)
            aligned = 0;
        PyObject *value = out_reusing(aligned ? old_value : NULL, wp_dict_value_at(d, i), d->value_repr);
        if (value == NULL) {
            Py_DecRef(key);
            return 0;
        }
        same += aligned && value == old_value;
        add_two(&c->keys, key, value);
    }
    c->whole = !aligned || PyDict_Size(c->target) != d->used;
    if (!c->whole && same == d->used) {
        for (int64_t i = 0; i < c->keys.count; i++)
            Py_DecRef(c->keys.items[i]);
        c->keys.count = 0;
    }
    return 1;
}

static int set_is_same(const SetHead *a, const SetHead *b)
{
    if (a->mask != b->mask || a->fill != b->fill || a->used != b->used || a->finger != b->finger)
        return 0;
    for (int64_t i = 0; i <= a->mask; i++)
        if (a->table[i].key != b->table[i].key || a->table[i].hash != b->table[i].hash)
            return 0;
    return 1;
}

static int prepare_set(change *c, wp_set *s)
{
    PyObject *target = s->head.origin;
    s->head.origin = NULL;
    c->content = set_out(s);
    s->head.origin = target;
    if (c->content == NULL)
        return 0;
    SetHead *fresh_set = (SetHead *)c->content, *old = (SetHead *)target;
    for (int64_t i = 0; i <= old->mask && i <= fresh_set->mask && old->mask == fresh_set->mask; i++) {
        PyObject *was = old->table[i].key, *is = fresh_set->table[i].key; /* numbers that stayed keep their objects */
        if (was != NULL && was != set_dummy && is != NULL && is != set_dummy && was != is && is_live(set_entry(s, i)) &&
            is_same(was, set_key(s, i))) {
            fresh_set->table[i].key = new_reference(was);
            Py_DecRef(is);
        }
    }
    if (set_is_same(fresh_set, old)) {
        Py_DecRef(c->content);
        c->content = NULL;
    }
    return 1;
}

static int prepare_deque(change *c, wp_deque *q)
{
    PyObject *old = PySequence_List(c->target);
    if (old == NULL)
        return 0;
    ListHead *before = (ListHead *)old;
    c->content = deque_items(q, before->items, before->size);
    if (c->content != NULL && before->size == q->length &&
        (q->length == 0 || memcmp(before->items, ((ListHead *)c->content)->items, (size_t)q->length * sizeof(PyObject *)) == 0)) {
        Py_DecRef(c->content);
        Py_DecRef(old);
        c->content = NULL;
        return 1;
    }
    Py_DecRef(old);
    return c->content != NULL;
}

/* The instance's own value, not its class's; a new reference or NULL. */
static PyObject *own_attribute(PyObject *o, const attribute_walk *attributes, PyObject *name, int32_t likely, int is_member)
{
    PyObject *found = NULL;
    if (is_member)
        found = PyObject_GenericGetAttr(o, name);
    else if (attributes != NULL && (found = own_value(attributes, name, likely)) != NULL)
        Py_IncRef(found);
    PyErr_Clear();
    return found;
}

static int prepare_object(change *c, wp_record *o)
{
    const wp_type *type = o->head.type;
    const type_facts *facts = facts_of(type);
    uint64_t mask = (uint64_t)o->value[0];
    if (o->value[0] & WP_DISORDERED) {
        no_result(DISORDERED);
        return 0;
    }
    attribute_walk walk, *attributes = facts->has_dict && begin_walk(&walk, c->target) ? &walk : NULL;
    if (attributes != NULL && walk.dict != NULL)
        hold_new(walk.dict);
    for (int32_t k = 0; k < type->count; k++) {
        PyObject *old = own_attribute(c->target, attributes, type->names[k], k, facts->members[k]), *value = NULL;
        if (mask >> k & 1) {
            value = out_reusing(old, (char *)o + type->offsets[k], type->slots[k]->repr);
            if (value == NULL) {
                Py_DecRef(old);
                return 0;
            }
        }
        if (value == old)
            Py_DecRef(value);
        else
            add_two(&c->keys, new_reference(type->names[k]), value);
        Py_DecRef(old);
    }
    return 1;
}

static int prepare_names(change *c, wp_record *o)
{
    const wp_type *type = o->head.type;
    uint64_t mask = (uint64_t)o->value[0];
    for (int32_t k = 0; k < type->count; k++) {
        PyObject *old = PyObject_GetAttr(c->target, type->names[k]);
        PyErr_Clear();
        PyObject *value = mask >> k & 1 ? out_reusing(old, (char *)o + type->offsets[k], type->slots[k]->repr) : NULL;
        Py_DecRef(old);
        if (mask >> k & 1 && value == NULL)
            return 0;
        if (value == old)
            Py_DecRef(value);
        else
            add_two(&c->keys, new_reference(type->names[k]), value); /* NULL: deleted */
    }
    return 1;
}

static int prepare_change(PyObject *target, wp_object *native)
{
    changes.items = grown(changes.items, changes.count, &changes.capacity, sizeof(change));
    change *c = &changes.items[changes.count++];
    *c = (change){.target = new_reference(target), .kind = native->type->kind};
    switch (c->kind) {
    case WP_LIST: return prepare_list(c, (wp_list *)native);
    case WP_DICT: return prepare_dict(c, (wp_dict *)native);
    case WP_SET: return prepare_set(c, (wp_set *)native);
    case WP_DEQUE: return prepare_deque(c, (wp_deque *)native);
    case WP_OBJECT: return prepare_object(c, (wp_record *)native);
    case WP_NAMESPACE: return prepare_names(c, (wp_record *)native);
    case WP_BYTEARRAY: return (c->content = bytearray_made((wp_list *)native)) != NULL;
    case WP_OPAQUE: c->content = new_reference(((wp_opaque *)native)->object); return 1;
    default: return 1;
    }
}

/* --- into place --- */

static void swap_sets(SetHead *a, SetHead *b)
{
    SetHead old = *a;
    SetEntry small[8];
    memcpy(small, a->small, sizeof small);
    int a_small = a->table == a->small, b_small = b->table == b->small;
    a->fill = b->fill;
    a->used = b->used;
    a->mask = b->mask;
    a->finger = b->finger;
    a->table = b_small ? a->small : b->table;
    memcpy(a->small, b->small, sizeof small);
    b->fill = old.fill;
    b->used = old.used;
    b->mask = old.mask;
    b->table = a_small ? b->small : old.table;
    memcpy(b->small, small, sizeof small);
}

static int apply_dict(change *c)
{
    if (c->whole) {
        if (c->ordered) {
            PyObject *done = PyObject_CallMethod(c->target, "clear", NULL);
            if (done == NULL)
                return -1;
            Py_DecRef(done);
        } else
            PyDict_Clear(c->target);
    }
    for (int64_t i = 0; i < c->keys.count; i += 2)
        if ((c->ordered ? PyObject_SetItem : PyDict_SetItem)(c->target, c->keys.items[i], c->keys.items[i + 1]) < 0)
            return -1;
    return 0;
}

static int apply_deque(change *c)
{
    PyObject *done = PyObject_CallMethod(c->target, "clear", NULL);
    Py_DecRef(done);
    if (done != NULL)
        done = PyObject_CallMethod(c->target, "extend", "(O)", c->content);
    Py_DecRef(done);
    return done == NULL ? -1 : 0;
}

static int apply_change(change *c)
{
    switch (c->kind) {
    case WP_LIST:
        if (c->content != NULL)
            return PyList_SetSlice(c->target, 0, ((ListHead *)c->target)->size, c->content);
        for (int64_t i = 0; i < c->keys.count; i += 2) {
            PyObject *item = c->keys.items[i + 1];
            c->keys.items[i + 1] = NULL; /* the list takes the reference */
            if (PyList_SetItem(c->target, (Py_ssize_t)(uintptr_t)c->keys.items[i], item) < 0)
                return -1;
        }
        return 0;
    case WP_DICT: return c->keys.count > 0 || c->whole ? apply_dict(c) : 0;
    case WP_SET:
        if (c->content != NULL)
            swap_sets((SetHead *)c->target, (SetHead *)c->content);
        return 0;
    case WP_DEQUE: return c->content != NULL ? apply_deque(c) : 0;
    case WP_BYTEARRAY: return bytearray_back(c->target, c->content);
    case WP_OPAQUE: {
        PyObject *done = PyObject_CallFunction(give_state, "OO", c->target, c->content);
        Py_DecRef(done);
        return done == NULL ? -1 : 0;
    }
    case WP_NAMESPACE:
        for (int64_t i = 0; i < c->keys.count; i += 2)
            if (PyObject_SetAttr(c->target, c->keys.items[i], c->keys.items[i + 1]) < 0)
                return -1;
        return 0;
    case WP_OBJECT:
        for (int64_t i = 0; i < c->keys.count; i += 2)
            if (PyObject_GenericSetAttr(c->target, c->keys.items[i], c->keys.items[i + 1]) < 0)
                return -1;
        return 0;
    default: return 0;
    }
}

/* All changes of the call; 0: one has no Python form, and nothing was changed. */
static int prepare_changes(void)
{
    changes.count = 0;
    for (int64_t i = 0; i < now.changed.count; i++)
        if (!prepare_change(now.changed.items[i].key, now.changed.items[i].value)) {
            for (int64_t k = 0; k < changes.count; k++)
                drop_change(&changes.items[k]);
            changes.count = 0;
            return 0;
        }
    return 1;
}

/* Python code may run here (a destructor), and call compiled functions: the changes are this function's own by then. */
static int apply_changes(void)
{
    change *items = changes.items;
    int64_t count = changes.count;
    int failed = 0;
    changes.items = NULL;
    changes.count = changes.capacity = 0;
    for (int64_t i = 0; i < count; i++) {
        failed |= apply_change(&items[i]) < 0;
        drop_change(&items[i]);
    }
    free(items);
    return !failed;
}
