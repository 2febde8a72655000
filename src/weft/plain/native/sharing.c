/* Other threads, while a call lets them run.

   In: the containers and objects that came in. Out: whether another thread has changed one of them since. A call works on copies,
   so that what it would write back then, or what it waits for, is out of date: it deoptimises, and Python runs it on what is there
   now. Nothing is looked at before the first time that others may run, nor where there is one thread alone. */

#include "api.h"

static const char *const CHANGED_BY_OTHERS = "another thread changed an argument";
static const int64_t PATIENCE = 500000000; /* nanoseconds after which a change of what is only read counts: a call may wait for it */

typedef struct watched {
    PyObject *object;
    const wp_type *type; /* its attributes are watched; NULL: its items */
    int written, attributes; /* attributes: all that the object has itself are watched, and not its items */
    object_list items; /* as they were, owned: an address means the same object */
} watched;

static void add_item(object_list *list, PyObject *item)
{
    list->items = grown(list->items, list->count, &list->capacity, sizeof(PyObject *));
    list->items[list->count++] = item;
    Py_IncRef(item);
}

static void drop_items(object_list *list)
{
    for (int64_t i = 0; i < list->count; i++)
        Py_DecRef(list->items[i]);
    free(list->items);
    *list = (object_list){0};
}

static int is_container(const PyObject *o)
{
    return o->type == &PyList_Type || o->type == &PySet_Type || o->type == &PyByteArray_Type || o->type == deque_class ||
           PyType_IsSubtype(o->type, &PyDict_Type);
}

static int is_watched(PyObject *o) { return is_container(o) || values_of(o) != NULL; }

/* What a container or object holds now, as new references. */
static void content_of(const watched *w, object_list *into)
{
    PyObject *o = w->object, *key, *value;
    Py_ssize_t position = 0;
    if (w->type != NULL) {
        for (int32_t k = 0; k < w->type->count; k++) {
            PyObject *held = PyObject_GetAttr(o, w->type->names[k]);
            PyErr_Clear();
            add_item(into, held != NULL ? held : &_Py_NoneStruct);
            Py_DecRef(held);
        }
    } else if (o->type == &PyList_Type) {
        for (Py_ssize_t i = 0; i < ((ListHead *)o)->size; i++)
            add_item(into, ((ListHead *)o)->items[i]);
    } else if (w->attributes) {
        attribute_walk walk;
        if (begin_walk(&walk, o))
            while (next_attribute(&walk, &key, &value)) {
                add_item(into, key);
                add_item(into, value);
            }
        PyErr_Clear();
        end_walk(&walk);
    } else if (PyType_IsSubtype(o->type, &PyDict_Type)) {
        while (PyDict_Next(o, &position, &key, &value)) {
            add_item(into, key);
            add_item(into, value);
        }
    } else {
        PyObject *list = PySequence_List(o);
        PyErr_Clear();
        for (Py_ssize_t i = 0; list != NULL && i < ((ListHead *)list)->size; i++)
            add_item(into, ((ListHead *)list)->items[i]);
        Py_DecRef(list);
    }
}

static void watch(PyObject *o, const wp_type *type, int written)
{
    now.watched = grown(now.watched, now.watched_count, &now.watched_capacity, sizeof(watched));
    watched *w = &now.watched[now.watched_count++];
    *w = (watched){.object = o, .type = type, .written = written, .attributes = type == NULL && !is_container(o)};
    content_of(w, &w->items);
}

/* Others are about to run for the first time: what came in is as it was until now. */
static void before_others(void)
{
    if (now.watched_since != 0 || !several_threads())
        return;
    now.watched_since = clock_now();
    pair_map written = {0};
    for (int64_t i = 0; i < now.changed.count; i++) {
        PyObject *o = now.changed.items[i].key;
        const wp_type *type = ((wp_object *)now.changed.items[i].value)->type;
        pair_add(&written, o, o);
        if (type->kind == WP_NAMESPACE || (type->kind == WP_OBJECT && !facts_of(type)->has_dict))
            watch(o, type, 1);
        else if (type->kind == WP_OBJECT && values_of(o) == NULL) {
            PyObject *attributes = PyObject_GenericGetDict(o, NULL);
            PyErr_Clear();
            if (attributes != NULL)
                pair_add(&written, attributes, attributes);
            Py_DecRef(attributes);
        }
    }
    for (int64_t i = 0, count = now.held.count; i < count; i++)
        if (is_watched(now.held.items[i]))
            watch(now.held.items[i], NULL, pair_find(&written, now.held.items[i]) != NULL);
    pair_free(&written);
}

/* Whether another thread has changed what the call writes, or anything that came in. */
static int others_changed(int anything)
{
    int changed = 0;
    for (int64_t i = 0; i < now.watched_count && !changed; i++) {
        const watched *w = &now.watched[i];
        if (!w->written && !anything)
            continue;
        if (w->type == NULL && w->object->type == &PyList_Type) {
            const ListHead *list = (const ListHead *)w->object;
            changed = list->size != w->items.count ||
                      (list->size > 0 && memcmp(list->items, w->items.items, (size_t)list->size * sizeof(PyObject *)) != 0);
            continue;
        }
        object_list content = {0};
        content_of(w, &content);
        changed = content.count != w->items.count ||
                  (content.count > 0 && memcmp(content.items, w->items.items, (size_t)content.count * sizeof(PyObject *)) != 0);
        drop_items(&content);
    }
    return changed;
}

/* Others have run. Looking takes time in proportion to the arguments: a tenth of the call's at most. */
static void after_others(void)
{
    int64_t start = clock_now();
    if (now.watched_count == 0 || start < now.look_at)
        return;
    if (others_changed(start - now.watched_since > PATIENCE))
        wp_deopt(CHANGED_BY_OTHERS, 0);
    int64_t end = clock_now();
    now.look_at = end + 9 * (end - start);
}

/* May run Python code. */
static void drop_watched(watched *items, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        drop_items(&items[i].items);
    free(items);
}
