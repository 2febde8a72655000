/* Lists of tuples, lists of lists of any lengths, deques, dicts and sets as columns of numbers: copied in before the kernel,
   and what it changed in lists copied out after it.

   In: Python objects and the template of what they hold (weft.runtime.templates says how to read one). Out: a buffer for each
   column. Containers that a result changes are copied in here, too; what becomes of them is told by weft.runtime.containers. */

#include "version.h"

enum { MAX_COLUMNS = 16 };

struct container_copy {
    const char *item, *value; /* where the items begin in the template; `value` of a dict */
    char *columns[MAX_COLUMNS];
    list_kind kinds[MAX_COLUMNS];
    int64_t counts[MAX_COLUMNS]; /* entries of each column */
    int64_t used[MAX_COLUMNS];   /* of a column that tells where lists begin: how many items those so far have */
    char begins[MAX_COLUMNS];    /* whether it is such a column */
    int column_count, ragged, written;
    list_call *lists;
    int64_t *starts; /* of rows, and the end of the last; also the first column */
    int64_t row_count, total;
    PyObject **rows; /* the lists that hold the items, with a reference each; only if written */
};

static list_kind kind_of_letter(char letter)
{
    return letter == 'f' ? LIST_FLOAT : letter == 'i' ? LIST_INT : letter == 'b' ? LIST_BOOL : LIST_COMPLEX;
}

/* What a dict in a template is besides: 'C' for a Counter, 'D' and a letter for a defaultdict. */
static const char *skip_prefix(const char *t) { return *t == 'C' ? t + 1 : *t == 'D' ? t + 2 : t; }

static int opens(char letter) { return letter == '(' || letter == '[' || letter == '{'; }
static int closes(char letter) { return letter == ')' || letter == ']' || letter == '}'; }
static int has_column(char letter) { return letter != '(' && letter != ':' && !closes(letter); }
static int is_number(char letter) { return letter == 'i' || letter == 'f' || letter == 'b' || letter == 'c'; }

/* Where an item ends in a template; the kinds of its numbers are noted on the way. */
static const char *note_kinds(container_copy *copy, const char *t)
{
    int depth = 0;
    do {
        t = skip_prefix(t);
        if (has_column(*t)) {
            copy->begins[copy->column_count] = opens(*t);
            copy->kinds[copy->column_count++] = opens(*t) ? LIST_INT : kind_of_letter(*t);
        }
        depth += opens(*t) - closes(*t);
        t++;
    } while (depth > 0);
    return t;
}

/* Where an item ends in a template, and how many columns it has. */
static const char *skip_item(const char *t, int *column)
{
    int depth = 0;
    do {
        t = skip_prefix(t);
        depth += opens(*t) - closes(*t);
        *column += has_column(*t);
        t++;
    } while (depth > 0);
    return t;
}

/* Where the values of a dict begin in its template; NULL for a set or list. */
static const char *values_of(const char *t)
{
    int column = 0;
    const char *end = skip_item(skip_prefix(t) + 1, &column);
    return *end == ':' ? end + 1 : NULL;
}

static int is_of_type(const char *t, PyObject *value);

static int64_t container_length(const char *t, PyObject *value)
{
    return *t == '[' ? ((ListHead *)value)->size : values_of(t) != NULL ? PyDict_Size(value) : PySet_Size(value);
}

static void read_template(container_copy *copy, const char *t)
{
    copy->ragged = t[0] == '[' && t[1] == '[' && strpbrk(t + 2, "[{") == NULL;
    if (copy->ragged)
        copy->kinds[copy->column_count++] = LIST_INT;
    t += strcspn(t, "[{");
    copy->item = t + 1 + copy->ragged;
    t = note_kinds(copy, copy->item);
    if (*t == ':') {
        copy->value = t + 1;
        note_kinds(copy, copy->value);
    }
}

static int take_inner(container_copy *copy, const char **t, PyObject *item, char *const *columns, int *column, int64_t at);

/* Copies the numbers of an item to position `at` of the columns from `*column` on; both pointers move on. 1 if it fits. */
static int take_item(container_copy *copy, const char **t, PyObject *item, char *const *columns, int *column, int64_t at)
{
    if (**t != '(' && !is_number(**t))
        return take_inner(copy, t, item, columns, column, at);
    if (*(*t)++ != '(') {
        list_kind kind = copy->kinds[*column];
        return read_item(kind, item, columns[(*column)++] + at * list_item_bytes[kind]);
    }
    if (!is_exact(item, &PyTuple_Type))
        return 0;
    Py_ssize_t size = PyTuple_Size(item), i = 0;
    int fits = 1;
    for (; fits > 0 && **t != ')'; i++)
        fits = i < size && take_item(copy, t, PyTuple_GetItem(item, i), columns, column, at);
    (*t)++;
    return fits > 0 && i == size;
}

/* The items of a list that is an item, from a position on. */
static int take_list(container_copy *copy, const char *inner, PyObject *list, char *const *columns, int first, int64_t start)
{
    PyObject **items = ((ListHead *)list)->items;
    int64_t length = ((ListHead *)list)->size;
    if (is_number(*inner)) {
        list_kind kind = copy->kinds[first];
        return read_items(kind, items, length, columns[first] + start * list_item_bytes[kind]);
    }
    int fits = 1;
    for (int64_t i = 0; i < length && fits > 0; i++) {
        const char *part = inner;
        int from = first;
        fits = take_item(copy, &part, items[i], columns, &from, start + i);
    }
    return fits;
}

static int take_dict(container_copy *copy, const char *inner, PyObject *dict, char *const *columns, int first, int64_t start)
{
    PyObject *key, *value;
    int fits = 1;
    for (Py_ssize_t place = 0; fits > 0 && PyDict_Next(dict, &place, &key, &value); start++) {
        const char *part = inner;
        int from = first;
        fits = take_item(copy, &part, key, columns, &from, start);
        part++;
        if (fits > 0)
            fits = take_item(copy, &part, value, columns, &from, start);
    }
    return fits;
}

static int take_set(container_copy *copy, const char *inner, PyObject *set, char *const *columns, int first, int64_t start)
{
    PyObject *run = PyObject_GetIter(set), *key;
    int fits = run == NULL ? -1 : 1;
    for (; fits > 0 && (key = PyIter_Next(run)) != NULL; start++) {
        const char *part = inner;
        int from = first;
        fits = take_item(copy, &part, key, columns, &from, start);
        Py_DecRef(key);
    }
    Py_DecRef(run);
    return PyErr_Occurred() ? -1 : fits;
}

/* A list, dict or set that is an item: its items go behind those of the ones before it. */
static int take_inner(container_copy *copy, const char **t, PyObject *item, char *const *columns, int *column, int64_t at)
{
    const char *outer = *t, *inner = skip_prefix(outer) + 1;
    int first = *column;
    int64_t *starts = (int64_t *)columns[first], start = copy->used[first];
    if (!is_of_type(outer, item))
        return 0;
    int fits = remember_list(copy->lists, item);
    int64_t length = container_length(outer, item);
    *t = skip_item(outer, column);
    copy->used[first] = starts[at + 1] = start + length;
    if (fits <= 0)
        return fits;
    return *outer == '['                ? take_list(copy, inner, item, columns, first + 1, start)
           : values_of(outer) != NULL ? take_dict(copy, inner, item, columns, first + 1, start)
                                        : take_set(copy, inner, item, columns, first + 1, start);
}

static int measure_item(container_copy *copy, const char *t, PyObject *item, int *column);

/* Adds up what is in the items of a list, or in the values of a dict. */
static int measure_inner(container_copy *copy, const char *t, PyObject *container, int column)
{
    const char *values = values_of(t);
    if (*t == '[') {
        for (int64_t i = 0; i < ((ListHead *)container)->size; i++) {
            int from = column;
            if (!measure_item(copy, t + 1, ((ListHead *)container)->items[i], &from))
                return 0;
        }
        return 1;
    }
    PyObject *key, *value;
    skip_item(skip_prefix(t) + 1, &column);
    for (Py_ssize_t place = 0; values != NULL && PyDict_Next(container, &place, &key, &value);) {
        int from = column;
        if (!measure_item(copy, values, value, &from))
            return 0;
    }
    return 1;
}

/* Adds up how many items the lists, dicts and sets have that are items, by column. 1 if all of them are such. */
static int measure_item(container_copy *copy, const char *t, PyObject *item, int *column)
{
    if (*t == '(') {
        if (!is_exact(item, &PyTuple_Type))
            return 0;
        Py_ssize_t size = PyTuple_Size(item);
        t++;
        for (Py_ssize_t i = 0; *t != ')'; i++) {
            int before = *column;
            if (i >= size || !measure_item(copy, t, PyTuple_GetItem(item, i), column))
                return 0;
            t = skip_item(t, &before);
        }
        return 1;
    }
    int first = *column, nested = 0;
    const char *end = skip_item(t, column);
    if (is_number(*t))
        return 1;
    if (!is_of_type(t, item))
        return 0;
    for (const char *part = skip_prefix(t) + 1; part < end; part++)
        nested |= *part == '[' || *part == '{';
    copy->used[first] += container_length(t, item);
    return !nested || measure_inner(copy, t, item, first + 1);
}

/* How many entries the columns of an item have, of which there are so many. */
static const char *count_entries(container_copy *copy, const char *t, int *column, int64_t count)
{
    t = skip_prefix(t);
    if (*t == '(') {
        for (t++; *t != ')';)
            t = count_entries(copy, t, column, count);
        return t + 1;
    }
    int here = (*column)++;
    copy->counts[here] = count + opens(*t);
    if (!opens(*t))
        return t + 1;
    t = count_entries(copy, t + 1, column, copy->used[here]);
    if (*t == ':')
        t = count_entries(copy, t + 1, column, copy->used[here]);
    return t + 1;
}

static int take_items(container_copy *copy, PyObject *list, int64_t at)
{
    int first = copy->ragged, fits = 1;
    PyObject **items = ((ListHead *)list)->items;
    int64_t length = ((ListHead *)list)->size;
    if (is_number(*copy->item)) {
        list_kind kind = copy->kinds[first];
        int64_t bytes = list_item_bytes[kind];
        return read_items(kind, items, length, copy->columns[first] + at * bytes);
    }
    for (int64_t i = 0; i < length && fits > 0; i++) {
        const char *t = copy->item;
        int column = first;
        if (i + READ_AHEAD < length)
            __builtin_prefetch(items[i + READ_AHEAD]);
        fits = take_item(copy, &t, items[i], copy->columns, &column, at + i);
    }
    return fits;
}

/* 1, or -1 without memory. What lists that are items hold has been measured. */
static int make_columns(container_copy *copy, int64_t rows, int64_t total)
{
    int column = copy->ragged;
    copy->total = total;
    copy->counts[0] = rows + 1;
    count_entries(copy, copy->item, &column, total);
    if (copy->value != NULL)
        count_entries(copy, copy->value, &column, total);
    memset(copy->used, 0, sizeof copy->used);
    for (int i = 0; i < copy->column_count; i++) {
        int64_t count = copy->counts[i], bytes;
        if (__builtin_mul_overflow(count, list_item_bytes[copy->kinds[i]], &bytes) || (copy->columns[i] = rt_alloc(bytes)) == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        if (copy->begins[i])
            *(int64_t *)copy->columns[i] = 0;
    }
    if (copy->written && (copy->rows = malloc((size_t)(rows + 1) * sizeof *copy->rows)) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (copy->ragged)
        copy->starts = (int64_t *)copy->columns[0];
    return 1;
}

static int copy_rows_in(list_call *lists, container_copy *copy, PyObject *list)
{
    PyObject **rows = ((ListHead *)list)->items;
    int64_t count = ((ListHead *)list)->size, total = 0;
    for (int64_t r = 0; r < count; r++) {
        if (!is_exact(rows[r], &PyList_Type) || __builtin_add_overflow(total, ((ListHead *)rows[r])->size, &total))
            return 0;
    }
    int fits = make_columns(copy, count, total);
    int64_t at = 0;
    for (int64_t r = 0; r < count && fits > 0; r++) {
        copy->starts[r] = at;
        fits = remember_list(lists, rows[r]);
        if (fits > 0)
            fits = take_items(copy, rows[r], at);
        if (fits > 0 && copy->written)
            copy->rows[copy->row_count++] = new_reference(rows[r]);
        at += ((ListHead *)rows[r])->size;
    }
    if (fits > 0)
        copy->starts[count] = at;
    return fits;
}

static int copy_plain_in(container_copy *copy, PyObject *list)
{
    int64_t length = ((ListHead *)list)->size;
    for (int64_t i = 0; strpbrk(copy->item, "[{") != NULL && i < length; i++) {
        int column = 0;
        if (!measure_item(copy, copy->item, ((ListHead *)list)->items[i], &column))
            return 0;
    }
    int fits = make_columns(copy, 1, length);
    if (fits > 0)
        fits = take_items(copy, list, 0);
    if (fits > 0 && copy->written)
        copy->rows[copy->row_count++] = new_reference(list);
    return fits;
}

static int copy_dict_in(container_copy *copy, PyObject *dict)
{
    int64_t count = PyDict_Size(dict), at = 0;
    PyObject *key, *value;
    for (Py_ssize_t place = 0; strpbrk(copy->value, "[{") != NULL && PyDict_Next(dict, &place, &key, &value);) {
        int column = 0;
        skip_item(copy->item, &column);
        if (!measure_item(copy, copy->value, value, &column))
            return 0;
    }
    int fits = make_columns(copy, 1, count);
    for (Py_ssize_t place = 0; fits > 0 && PyDict_Next(dict, &place, &key, &value); at++) {
        const char *t = copy->item;
        int column = 0;
        fits = at < count && take_item(copy, &t, key, copy->columns, &column, at);
        t = copy->value;
        if (fits > 0)
            fits = take_item(copy, &t, value, copy->columns, &column, at);
    }
    return fits;
}

static int copy_set_in(container_copy *copy, PyObject *set)
{
    int64_t count = PySet_Size(set), at = 0;
    int fits = make_columns(copy, 1, count);
    PyObject *run = fits > 0 ? PyObject_GetIter(set) : NULL, *key;
    if (run == NULL)
        return -1;
    for (; fits > 0 && (key = PyIter_Next(run)) != NULL; at++) {
        const char *t = copy->item;
        int column = 0;
        fits = at < count && take_item(copy, &t, key, copy->columns, &column, at);
        Py_DecRef(key);
    }
    Py_DecRef(run);
    return PyErr_Occurred() ? -1 : fits;
}

/* A class of Python's collections; NULL if there is none of that name. It stays as long as the process. */
static const PyTypeObject *collection(const PyTypeObject **known, const char *name)
{
    if (*known == NULL) {
        PyObject *module = PyImport_ImportModule("collections");
        *known = module == NULL ? NULL : (const PyTypeObject *)PyObject_GetAttrString(module, name);
        Py_DecRef(module);
    }
    return *known;
}

/* The class that a template is for. */
static const PyTypeObject *container_type(const char *t)
{
    static const PyTypeObject *deque, *defaultdict, *counter;
    switch (*t) {
    case 'd': return collection(&deque, "deque");
    case 'D': return collection(&defaultdict, "defaultdict");
    case 'C': return collection(&counter, "Counter");
    case '{': return values_of(t) != NULL ? &PyDict_Type : &PySet_Type;
    default: return &PyList_Type;
    }
}

/* A deque by way of a list of its items. */
static int copy_deque_in(container_copy *copy, PyObject *deque)
{
    PyObject *list = PySequence_List(deque);
    int fits = list == NULL ? -1 : copy_plain_in(copy, list);
    Py_DecRef(list);
    return fits;
}

/* Whether an attribute of an object is this very object. */
static int attribute_is(PyObject *value, const char *name, const void *wanted)
{
    PyObject *found = PyObject_GetAttrString(value, name);
    Py_DecRef(found);
    return found == wanted;
}

/* Whether a value is of the very class of a template, and a defaultdict of the very function. */
static int is_of_type(const char *t, PyObject *value)
{
    if (!is_exact(value, container_type(t)))
        return 0;
    if (*t == 'd')
        return attribute_is(value, "maxlen", &_Py_NoneStruct);
    if (*t != 'D')
        return 1;
    const void *factory = t[1] == 'i'   ? (const void *)&PyLong_Type
                          : t[1] == 'f' ? (const void *)&PyFloat_Type
                          : t[1] == 's' ? (const void *)&PySet_Type
                          : t[1] == 'd' ? (const void *)&PyDict_Type
                                        : (const void *)&PyList_Type;
    return attribute_is(value, "default_factory", factory);
}

/* Fills the words of a container parameter. 1: fits, 0: does not, -1: exception. */
static int copy_container_in(list_call *lists, const parameter *p, PyObject *value, int64_t *w)
{
    container_copy *copy = &lists->containers[lists->container_count++];
    const char *t = p->template;
    read_template(copy, t);
    copy->lists = lists;
    copy->written = p->written == WRITTEN_ELEMENTS;
    if (!is_of_type(t, value))
        return 0;
    int fits = remember_list(lists, value);
    if (fits > 0)
        fits = copy->value != NULL ? copy_dict_in(copy, value)
               : *t == '{'         ? copy_set_in(copy, value)
               : *t == 'd'         ? copy_deque_in(copy, value)
               : copy->ragged      ? copy_rows_in(lists, copy, value)
                                   : copy_plain_in(copy, value);
    for (int i = 0; fits > 0 && i < copy->column_count; i++, w += 3) {
        w[0] = (int64_t)(uintptr_t)copy->columns[i];
        w[1] = copy->counts[i];
        w[2] = 1;
    }
    return fits;
}

/* The item at a position of the columns, as a new object. */
static PyObject *make_item(const container_copy *copy, const char **t, int *column, int64_t at)
{
    if (*(*t)++ != '(') {
        list_kind kind = copy->kinds[*column];
        return item_object(kind, copy->columns[(*column)++] + at * list_item_bytes[kind]);
    }
    Py_ssize_t size = 0;
    int depth = 0;
    for (const char *part = *t; depth > 0 || *part != ')'; part++) {
        size += depth == 0;
        depth += *part == '(' ? 1 : *part == ')' ? -1 : 0;
    }
    PyObject *tuple = PyTuple_New(size);
    for (Py_ssize_t i = 0; tuple != NULL && i < size; i++) {
        PyObject *part = make_item(copy, t, column, at);
        if (part == NULL || PyTuple_SetItem(tuple, i, part) < 0) {
            Py_DecRef(tuple);
            return NULL;
        }
    }
    (*t)++;
    return tuple;
}

/* Whether an object stands for the numbers at a position, from a column on; `t` is where its item begins. */
static int stands_for(container_copy *copy, const char *t, PyObject *item, int first, int64_t at)
{
    char numbers[MAX_COLUMNS][16];
    char *places[MAX_COLUMNS];
    for (int i = 0; i < copy->column_count; i++)
        places[i] = numbers[i];
    int column = first;
    if (take_item(copy, &t, item, places, &column, 0) <= 0)
        return 0;
    for (int i = first; i < column; i++) {
        int64_t bytes = list_item_bytes[copy->kinds[i]];
        if (memcmp(numbers[i], copy->columns[i] + at * bytes, (size_t)bytes) != 0)
            return 0;
    }
    return 1;
}

static int is_unchanged(container_copy *copy, PyObject *item, int64_t at)
{
    return stands_for(copy, copy->item, item, copy->ragged, at);
}

static int copy_container_out(container_copy *copy)
{
    for (int64_t r = 0; r < copy->row_count; r++) {
        int64_t start = copy->ragged ? copy->starts[r] : 0, end = copy->ragged ? copy->starts[r + 1] : copy->total;
        for (int64_t at = start; at < end; at++) {
            ListHead *row = (ListHead *)copy->rows[r];
            /* Another thread may have changed the list meanwhile: what is no longer there is not written. */
            if (at - start >= row->size || is_unchanged(copy, row->items[at - start], at))
                continue;
            const char *t = copy->item;
            int column = copy->ragged;
            PyObject *item = make_item(copy, &t, &column, at);
            if (item == NULL || PyList_SetItem((PyObject *)row, at - start, item) < 0)
                return -1;
        }
    }
    return 0;
}

static void release_container(container_copy *copy)
{
    for (int64_t r = 0; r < copy->row_count; r++)
        Py_DecRef(copy->rows[r]);
    free(copy->rows);
    for (int i = 0; i < copy->column_count; i++)
        rt_release(copy->columns[i]);
}

/* --- containers that a result changes: given what they hold now, as arrays --- */

static PyObject *nothing_or_error(void) { return PyErr_Occurred() ? NULL : new_reference(&_Py_NoneStruct); }

/* A copy whose columns are the memory of one-dimensional arrays, one for each number of the template. */
static void read_arrays(container_copy *copy, PyObject *template, PyObject *arrays)
{
    memset(copy, 0, sizeof *copy);
    read_template(copy, PyBytes_AsString(template));
    for (int i = 0; i < copy->column_count; i++) {
        const ArrayHead *array = (const ArrayHead *)PyTuple_GetItem(arrays, i);
        copy->columns[i] = array->data;
        copy->total = array->shape[0];
    }
}

static PyObject *item_at(const container_copy *copy, int64_t at)
{
    const char *t = copy->item;
    int column = 0;
    return make_item(copy, &t, &column, at);
}

/* The list gets the items of the arrays; objects that stand for the same numbers stay. */
PyObject *weft_change_list(PyObject *list, PyObject *template, PyObject *arrays)
{
    container_copy copy;
    read_arrays(&copy, template, arrays);
    ListHead *head = (ListHead *)list;
    for (int64_t at = 0; at < copy.total && at < head->size; at++) {
        if (is_unchanged(&copy, head->items[at], at))
            continue;
        PyObject *item = item_at(&copy, at);
        if (item == NULL || PyList_SetItem(list, at, item) < 0)
            return NULL;
    }
    if (head->size > copy.total && PyList_SetSlice(list, copy.total, head->size, NULL) < 0)
        return NULL;
    int64_t size = head->size;
    if (size == copy.total)
        return nothing_or_error();
    PyObject *added = PyList_New(copy.total - size);
    for (int64_t at = size; added != NULL && at < copy.total; at++) {
        PyObject *item = item_at(&copy, at);
        if (item == NULL || PyList_SetItem(added, at - size, item) < 0) {
            Py_DecRef(added);
            return NULL;
        }
    }
    if (added != NULL)
        PyList_SetSlice(list, size, size, added);
    Py_DecRef(added);
    return nothing_or_error();
}

static int put_entry(const container_copy *copy, PyObject *dict, PyObject *known, int keys, int64_t at)
{
    const char *t = copy->value;
    int column = keys;
    PyObject *key = known == NULL ? item_at(copy, at) : new_reference(known);
    PyObject *value = key == NULL ? NULL : make_item(copy, &t, &column, at);
    int status = value == NULL ? -1 : PyDict_SetItem(dict, key, value);
    Py_DecRef(key);
    Py_DecRef(value);
    return status;
}

/* The dict gets the entries of the arrays, in their order; entries that stand for the same numbers stay. */
PyObject *weft_change_dict(PyObject *dict, PyObject *template, PyObject *arrays, PyObject *key_count)
{
    container_copy copy;
    read_arrays(&copy, template, arrays);
    int keys = (int)PyLong_AsLongLong(key_count);
    int64_t at = 0;
    PyObject *key, *value;
    for (Py_ssize_t place = 0; PyDict_Next(dict, &place, &key, &value); at++) {
        if (at >= copy.total || !stands_for(&copy, copy.item, key, 0, at)) {
            PyDict_Clear(dict); /* entries were taken out: the others are put in again, in order */
            at = 0;
            break;
        }
        if (!stands_for(&copy, copy.value, value, keys, at) && put_entry(&copy, dict, key, keys, at) < 0)
            return NULL;
    }
    for (; at < copy.total; at++)
        if (put_entry(&copy, dict, NULL, keys, at) < 0)
            return NULL;
    return nothing_or_error();
}

/* --- all lists and containers of a call --- */

static int copy_all_out(const list_call *lists)
{
    if (copy_lists_out(lists) < 0)
        return -1;
    for (int i = 0; i < lists->container_count; i++)
        if (lists->containers[i].written && copy_container_out(&lists->containers[i]) < 0)
            return -1;
    for (int i = 0; i < lists->stack_count; i++)
        if (lists->stacks[i].written)
            copy_stack_out(&lists->stacks[i]);
    return 0;
}

static void release_all(list_call *lists)
{
    for (int i = 0; i < lists->container_count; i++)
        release_container(&lists->containers[i]);
    for (int i = 0; i < lists->stack_count; i++)
        release_stack(&lists->stacks[i]);
    free(lists->containers);
    free(lists->stacks);
    release_lists(lists);
}
