/* Strings and bytes as arrays of code points.

   In: a str, bytes or bytearray, or a list of str or of bytes. Out: the 32-bit code points of a str, the bytes of the others;
   of a list also where each of its strings begins, and where the last one ends. Bytes are read where they are: the caller keeps
   the object alive, and nothing changes it. */

#include "version.h"

static void *keep_text(list_call *lists, int64_t bytes)
{
    void *block = rt_alloc(bytes > 0 ? bytes : 1);
    if (block == NULL)
        PyErr_NoMemory();
    else
        lists->texts[lists->text_count++] = block;
    return block;
}

static int fill_text(int64_t *w, const void *data, int64_t length)
{
    w[0] = (int64_t)(uintptr_t)data;
    w[1] = length;
    w[2] = 1;
    return 1;
}

static int copy_str_in(list_call *lists, PyObject *value, int64_t *w)
{
    if (!is_exact(value, &PyUnicode_Type))
        return 0;
    Py_ssize_t length = PyUnicode_GetLength(value);
    uint32_t *codes = keep_text(lists, (int64_t)length * 4);
    if (codes == NULL || (length > 0 && PyUnicode_AsUCS4(value, codes, length, 0) == NULL))
        return -1;
    return fill_text(w, codes, length);
}

static int copy_bytes_in(list_call *lists, char kind, PyObject *value, int64_t *w)
{
    if (kind == 'y')
        return is_exact(value, &PyBytes_Type) ? fill_text(w, PyBytes_AsString(value), PyBytes_Size(value)) : 0;
    if (!is_exact(value, &PyByteArray_Type))
        return 0;
    Py_ssize_t length = PyByteArray_Size(value);
    char *data = keep_text(lists, length); /* it may change while the kernel runs */
    if (data == NULL)
        return -1;
    memcpy(data, PyByteArray_AsString(value), (size_t)length);
    return fill_text(w, data, length);
}

/* The number of characters of all strings; -1 if one is none. */
static int64_t measure_texts(const ListHead *list, int is_str)
{
    int64_t total = 0;
    for (int64_t i = 0; i < list->size; i++) {
        PyObject *item = list->items[i];
        if (!is_exact(item, is_str ? &PyUnicode_Type : &PyBytes_Type))
            return -1;
        total += is_str ? PyUnicode_GetLength(item) : PyBytes_Size(item);
    }
    return total;
}

static int copy_text_list_in(list_call *lists, int is_str, PyObject *value, int64_t *w)
{
    if (!is_exact(value, &PyList_Type))
        return 0;
    const ListHead *list = (const ListHead *)value;
    int64_t total = measure_texts(list, is_str), width = is_str ? 4 : 1, at = 0;
    if (total < 0)
        return 0;
    int64_t *starts = keep_text(lists, (list->size + 1) * 8);
    char *data = starts == NULL ? NULL : keep_text(lists, total * width);
    if (data == NULL || remember_list(lists, value) < 0)
        return -1;
    for (int64_t i = 0; i < list->size; i++) {
        PyObject *item = list->items[i];
        int64_t length = is_str ? PyUnicode_GetLength(item) : PyBytes_Size(item);
        starts[i] = at;
        if (!is_str)
            memcpy(data + at, PyBytes_AsString(item), (size_t)length);
        else if (length > 0 && PyUnicode_AsUCS4(item, (uint32_t *)data + at, length, 0) == NULL)
            return -1;
        at += length;
    }
    starts[list->size] = at;
    fill_text(w, starts, list->size + 1);
    return fill_text(w + 3, data, total);
}

/* Fills the words of a string, or of a list of them. 1: fits, 0: does not, -1: exception. */
static int copy_text_in(list_call *lists, const parameter *p, PyObject *value, int64_t *w)
{
    const char *t = p->template;
    if (*t == '[')
        return copy_text_list_in(lists, t[1] == 's', value, w);
    return *t == 's' ? copy_str_in(lists, value, w) : copy_bytes_in(lists, *t, value, w);
}

static void release_texts(list_call *lists)
{
    for (int i = 0; i < lists->text_count; i++)
        rt_release(lists->texts[i]);
    free(lists->texts);
}
