/* Random numbers: the generator of the module `random`, a Mersenne Twister.

   In: its state, taken at first use in a call. Out: the numbers that `random.random` and `random.getrandbits` would give, and
   the state written back when the call has returned, unless others have drawn numbers since: then the call deoptimises. */

#include "api.h"

enum { TWISTER = 624, TWIST = 397 };

struct random_state {
    uint32_t words[TWISTER];
    int64_t position;
    double spare; /* of two numbers that gauss() makes, the second one */
    int has_spare;
    PyObject *rest; /* what `getstate` says besides */
};

static PyObject *random_module;

static int read_state(random_state *r, PyObject *state)
{
    PyObject *words = PyTuple_Size(state) == 3 ? PyTuple_GetItem(state, 1) : NULL;
    if (words == NULL || PyTuple_Size(words) != TWISTER + 1)
        return 0;
    for (int k = 0; k <= TWISTER; k++) {
        int64_t word;
        if (!int_in(PyTuple_GetItem(words, k), &word))
            return 0;
        if (k < TWISTER)
            r->words[k] = (uint32_t)word;
        else
            r->position = word;
    }
    PyObject *spare = PyTuple_GetItem(state, 2);
    r->has_spare = spare->type == &PyFloat_Type;
    r->spare = r->has_spare ? ((const FloatHead *)spare)->value : 0.0;
    return r->has_spare || spare == &_Py_NoneStruct;
}

static random_state *take_random(void)
{
    if (now.random != NULL)
        return now.random;
    random_state *r = calloc(1, sizeof *r);
    context *call = suspend();
    PyObject *state = r == NULL || random_module == NULL ? NULL : PyObject_CallMethod(random_module, "getstate", NULL);
    PyErr_Clear();
    resume(call);
    if (state == NULL || !read_state(r, state)) {
        Py_DecRef(state);
        PyErr_Clear();
        free(r);
        wp_deopt("the state of the module random", 0);
    }
    r->rest = state;
    return now.random = r;
}

static uint32_t next_word(void)
{
    random_state *r = take_random();
    uint32_t *w = r->words;
    if (r->position >= TWISTER) {
        for (int k = 0; k < TWISTER; k++) {
            uint32_t y = (w[k] & 0x80000000u) | (w[(k + 1) % TWISTER] & 0x7fffffffu);
            w[k] = w[(k + TWIST) % TWISTER] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
        }
        r->position = 0;
    }
    uint32_t y = w[r->position++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

double wp_random(void)
{
    uint32_t a = next_word() >> 5, b = next_word() >> 6;
    return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
}

int64_t wp_random_bits(int64_t bits)
{
    if (bits <= 0)
        return 0;
    if (bits <= 32)
        return next_word() >> (32 - bits);
    uint64_t low = next_word();
    return (int64_t)(low | (uint64_t)(next_word() >> (64 - bits)) << 32);
}

double wp_random_gauss(void)
{
    random_state *r = take_random();
    if (r->has_spare) {
        r->has_spare = 0;
        return r->spare;
    }
    double angle = wp_random() * (2.0 * 3.14159265358979323846), radius = sqrt(-2.0 * log(1.0 - wp_random()));
    r->spare = sin(angle) * radius;
    r->has_spare = 1;
    return cos(angle) * radius;
}

void wp_random_seed(wp_val seed, int64_t line)
{
    PyObject *value = copy_out(seed);
    random_state *r = value == NULL ? NULL : take_random();
    context *call = suspend();
    PyObject *fresh_one = r == NULL ? NULL : PyObject_CallMethod(random_module, "Random", "O", value);
    PyObject *state = fresh_one == NULL ? NULL : PyObject_CallMethod(fresh_one, "getstate", NULL);
    PyErr_Clear();
    Py_DecRef(value);
    Py_DecRef(fresh_one);
    resume(call);
    int done = state != NULL && read_state(r, state);
    Py_DecRef(state);
    if (!done) {
        PyErr_Clear();
        wp_deopt("a seed of the module random", line);
    }
}

/* A new state for the module, or NULL. */
static PyObject *random_after(const random_state *r)
{
    PyObject *words = PyTuple_New(TWISTER + 1), *state = PyTuple_New(3);
    for (int k = 0; words != NULL && k <= TWISTER; k++)
        PyTuple_SetItem(words, k, PyLong_FromLongLong(k < TWISTER ? (long long)r->words[k] : (long long)r->position));
    if (words == NULL || state == NULL) {
        Py_DecRef(words);
        Py_DecRef(state);
        return NULL;
    }
    PyTuple_SetItem(state, 0, new_reference(PyTuple_GetItem(r->rest, 0)));
    PyTuple_SetItem(state, 1, words);
    PyTuple_SetItem(state, 2, r->has_spare ? PyFloat_FromDouble(r->spare) : new_reference(&_Py_NoneStruct));
    return state;
}

/* Gives the module a new state. 0: it is not the one that the call has taken, or cannot be given. The functions that are called
   here are written in C: no other thread runs between the look and the change. */
static int give_random(const random_state *r, PyObject *state)
{
    PyObject *method = PyObject_GetAttrString(random_module, "getstate"), *home = PyObject_GetAttrString(random_module, "_random");
    PyObject *owner = method == NULL ? NULL : PyObject_GetAttrString(method, "__self__");
    PyObject *twister = home == NULL ? NULL : PyObject_GetAttrString(home, "Random");
    PyObject *words = owner == NULL || twister == NULL ? NULL : PyObject_CallMethod(twister, "getstate", "O", owner);
    PyObject *spare = words == NULL ? NULL : PyObject_GetAttrString(owner, "gauss_next"), *set = NULL;
    if (spare == PyTuple_GetItem(r->rest, 2) && PyObject_RichCompareBool(words, PyTuple_GetItem(r->rest, 1), PY_EQ) == 1)
        set = PyObject_CallMethod(twister, "setstate", "OO", owner, PyTuple_GetItem(state, 1));
    int done = set != NULL && PyObject_SetAttrString(owner, "gauss_next", PyTuple_GetItem(state, 2)) == 0;
    PyErr_Clear();
    PyObject *parts[] = {method, home, owner, twister, words, spare, set};
    for (int k = 0; k < 7; k++)
        Py_DecRef(parts[k]);
    return done;
}
