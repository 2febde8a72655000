/* Lists of tuples, lists of lists of any lengths, dicts and sets as columns of numbers: copied in before the kernel, and
   what it changed in lists copied out after it.

   In: Python objects and the template of what they hold (weft.runtime.templates says how to read one). Out: a buffer for each
   column. Containers that a result changes are copied in here, too; what becomes of them is told by weft.runtime.containers. */

#include "version.h"

enum { MAX_COLUMNS = 16 };

struct container_copy {
    const char *item, *value; /* where the items begin in the template; `value` of a dict */
    char *columns[MAX_COLUMNS];
    list_kind kinds[MAX_COLUMNS];
    int column_count, ragged, written;
    int64_t *starts; /* of rows, and the end of the last; also the first column */
    int64_t row_count, total;
    PyObject **rows; /* the lists that hold the items, with a reference each; only if written */
};

static list_kind kind_of_letter(char letter)
{
    return letter == 'f' ? LIST_FLOAT : letter == 'i' ? LIST_INT : letter == 'b' ? LIST_BOOL : LIST_COMPLEX;
}

/* Where an item ends in a template; the kinds of its numbers are noted on the way. */
static const char *note_kinds(container_copy *copy, const char *t)
{
    int depth = 0;
    do {
        if (*t == '(')
            depth++;
        else if (*t == ')')
            depth--;
        else
            copy->kinds[copy->column_count++] = kind_of_letter(*t);
        t++;
    } while (depth > 0);
    return t;
}

static void read_template(container_copy *copy, const char *t)
{
    copy->ragged = t[0] == '[' && t[1] == '[';
    if (copy->ragged)
        copy->kinds[copy->column_count++] = LIST_INT;
    copy->item = t + 1 + copy->ragged;
    t = note_kinds(copy, copy->item);
    if (*t == ':') {
        copy->value = t + 1;
        note_kinds(copy, copy->value);
    }
}

/* Copies the numbers of an item to position `at` of the columns from `*column` on; both pointers move on. 1 if it fits. */
static int take_item(const container_copy *copy, const char **t, PyObject *item, char *const *columns, int *column, int64_t at)
{
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

static int take_items(const container_copy *copy, PyObject *list, int64_t at)
{
    int first = copy->ragged, fits = 1;
    PyObject **items = ((ListHead *)list)->items;
    int64_t length = ((ListHead *)list)->size;
    if (*copy->item != '(') {
        list_kind kind = copy->kinds[first];
        int64_t bytes = list_item_bytes[kind];
        char *place = copy->columns[first] + at * bytes;
        for (int64_t i = 0; i < length && fits > 0; i++, place += bytes)
            fits = read_item(kind, items[i], place);
        return fits;
    }
    for (int64_t i = 0; i < length && fits > 0; i++) {
        const char *t = copy->item;
        int column = first;
        fits = take_item(copy, &t, items[i], copy->columns, &column, at + i);
    }
    return fits;
}

/* 1, or -1 without memory. */
static int make_columns(container_copy *copy, int64_t rows, int64_t total)
{
    copy->total = total;
    for (int i = 0; i < copy->column_count; i++) {
        int64_t count = copy->ragged && i == 0 ? rows + 1 : total, bytes;
        if (__builtin_mul_overflow(count, list_item_bytes[copy->kinds[i]], &bytes) || (copy->columns[i] = rt_alloc(bytes)) == NULL) {
            PyErr_NoMemory();
            return -1;
        }
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
    int fits = make_columns(copy, 1, ((ListHead *)list)->size);
    if (fits > 0)
        fits = take_items(copy, list, 0);
    if (fits > 0 && copy->written)
        copy->rows[copy->row_count++] = new_reference(list);
    return fits;
}

static int copy_dict_in(container_copy *copy, PyObject *dict)
{
    int64_t count = PyDict_Size(dict), at = 0;
    int fits = make_columns(copy, 1, count);
    PyObject *key, *value;
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

/* Fills the words of a container parameter. 1: fits, 0: does not, -1: exception. */
static int copy_container_in(list_call *lists, const parameter *p, PyObject *value, int64_t *w)
{
    container_copy *copy = &lists->containers[lists->container_count++];
    read_template(copy, p->template);
    copy->written = p->written == WRITTEN_ELEMENTS;
    const PyTypeObject *wanted = *p->template == '[' ? &PyList_Type : copy->value != NULL ? &PyDict_Type : &PySet_Type;
    if (!is_exact(value, wanted))
        return 0;
    int fits = remember_list(lists, value);
    if (fits > 0)
        fits = wanted == &PyDict_Type  ? copy_dict_in(copy, value)
               : wanted == &PySet_Type ? copy_set_in(copy, value)
               : copy->ragged          ? copy_rows_in(lists, copy, value)
                                       : copy_plain_in(copy, value);
    for (int i = 0; fits > 0 && i < copy->column_count; i++, w += 3) {
        w[0] = (int64_t)(uintptr_t)copy->columns[i];
        w[1] = copy->ragged && i == 0 ? ((ListHead *)value)->size + 1 : copy->total;
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

static int is_unchanged(const container_copy *copy, PyObject *item, int64_t at)
{
    char numbers[MAX_COLUMNS][16];
    char *places[MAX_COLUMNS];
    for (int i = 0; i < copy->column_count; i++)
        places[i] = numbers[i];
    const char *t = copy->item;
    int column = copy->ragged;
    if (take_item(copy, &t, item, places, &column, 0) <= 0)
        return 0;
    for (int i = copy->ragged; i < copy->column_count; i++) {
        int64_t bytes = list_item_bytes[copy->kinds[i]];
        if (memcmp(numbers[i], copy->columns[i] + at * bytes, (size_t)bytes) != 0)
            return 0;
    }
    return 1;
}

static int copy_container_out(const container_copy *copy)
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

/* --- all lists and containers of a call --- */

static int copy_all_out(const list_call *lists)
{
    if (copy_lists_out(lists) < 0)
        return -1;
    for (int i = 0; i < lists->container_count; i++)
        if (lists->containers[i].written && copy_container_out(&lists->containers[i]) < 0)
            return -1;
    return 0;
}

static void release_all(list_call *lists)
{
    for (int i = 0; i < lists->container_count; i++)
        release_container(&lists->containers[i]);
    free(lists->containers);
    release_lists(lists);
}
