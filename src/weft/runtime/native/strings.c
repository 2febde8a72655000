/* Strings and bytes as arrays of code points.

   In: a str, bytes or bytearray, a list of str or of bytes, a dict whose keys are str. Out: the 32-bit code points of a str, the
   bytes of the others; of several strings also where each of them begins, and where the last one ends. Bytes are read where they are: the caller keeps
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

/* --- dicts whose keys are strings --- */

static int64_t measure_text(PyObject *text, int64_t total)
{
    return total < 0 || !is_exact(text, &PyUnicode_Type) ? -1 : total + PyUnicode_GetLength(text);
}

/* Puts a string behind the others of its column. 1, or -1 for an exception. */
static int add_text(PyObject *text, int64_t *starts, uint32_t *codes, int64_t i)
{
    int64_t length = PyUnicode_GetLength(text);
    starts[i + 1] = starts[i] + length;
    return length > 0 && PyUnicode_AsUCS4(text, codes + starts[i], length, 0) == NULL ? -1 : 1;
}

/* A column of strings: where each begins, and their code points. 1, or -1 without memory. */
static int make_text_column(list_call *lists, int64_t count, int64_t total, int64_t *w, int64_t **starts, uint32_t **codes)
{
    *starts = keep_text(lists, (count + 1) * 8);
    *codes = *starts == NULL ? NULL : keep_text(lists, total * 4);
    if (*codes == NULL)
        return -1;
    (*starts)[0] = 0;
    fill_text(w, *starts, count + 1);
    return fill_text(w + 3, *codes, total);
}

static int copy_text_dict_in(list_call *lists, char letter, PyObject *dict, int64_t *w)
{
    if (!is_exact(dict, &PyDict_Type))
        return 0;
    PyObject *key, *value;
    int64_t count = PyDict_Size(dict), keys = 0, values = 0, at = 0;
    for (Py_ssize_t place = 0; PyDict_Next(dict, &place, &key, &value);) {
        keys = measure_text(key, keys);
        values = letter == 's' ? measure_text(value, values) : 0;
    }
    if (keys < 0 || values < 0)
        return 0;
    int64_t *key_starts, *value_starts = NULL;
    uint32_t *key_codes, *value_codes = NULL;
    list_kind kind = letter == 'f' ? LIST_FLOAT : letter == 'b' ? LIST_BOOL : LIST_INT;
    char *numbers = NULL;
    int fits = make_text_column(lists, count, keys, w, &key_starts, &key_codes);
    if (fits > 0 && letter == 's') {
        fits = make_text_column(lists, count, values, w + 6, &value_starts, &value_codes);
    } else if (fits > 0) {
        numbers = keep_text(lists, count * list_item_bytes[kind]);
        fits = numbers == NULL ? -1 : fill_text(w + 6, numbers, count);
    }
    for (Py_ssize_t place = 0; fits > 0 && PyDict_Next(dict, &place, &key, &value); at++) {
        fits = add_text(key, key_starts, key_codes, at);
        if (fits > 0)
            fits = letter == 's' ? add_text(value, value_starts, value_codes, at)
                                 : read_item(kind, value, numbers + at * list_item_bytes[kind]);
    }
    return fits > 0 ? remember_list(lists, dict) : fits;
}

/* Fills the words of a string, or of a list or dict of them. 1: fits, 0: does not, -1: exception. */
static int copy_text_in(list_call *lists, const parameter *p, PyObject *value, int64_t *w)
{
    const char *t = p->template;
    if (*t == '{')
        return copy_text_dict_in(lists, t[3], value, w);
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

/* --- strings for the caller --- */

static PyObject *make_text(const int32_t *codes, int64_t length, int is_str)
{
#if defined(STANDALONE) /* by the limited API */
    int order = 0;
    if (is_str)
        return PyUnicode_DecodeUTF32((const char *)codes, length * 4, "surrogatepass", &order);
#else
    if (is_str)
        return PyUnicode_FromKindAndData(4, codes, length);
#endif
    PyObject *made = PyBytes_FromStringAndSize(NULL, length);
    for (int64_t i = 0; made != NULL && i < length; i++)
        PyBytes_AsString(made)[i] = (char)codes[i];
    return made;
}

/* A list of the strings that begin at `starts` among the code points and have these lengths: three arrays of rank 1. */
PyObject *weft_texts(PyObject *codes, PyObject *starts, PyObject *lengths, PyObject *is_str)
{
    const int32_t *data = (const int32_t *)((ArrayHead *)codes)->data;
    const int64_t *start = (const int64_t *)((ArrayHead *)starts)->data, *length = (const int64_t *)((ArrayHead *)lengths)->data;
    int64_t count = ((ArrayHead *)starts)->shape[0];
    PyObject *list = PyList_New(count);
    for (int64_t i = 0; list != NULL && i < count; i++) {
        PyObject *text = make_text(data + start[i], length[i], is_str == &_Py_TrueStruct);
        if (text == NULL || PyList_SetItem(list, i, text) < 0) {
            Py_DecRef(list);
            return NULL;
        }
    }
    return list;
}
