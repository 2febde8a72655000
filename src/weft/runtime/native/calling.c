/* A kernel is called: with the interpreter lock for small calls, without it for others.

   In: a version and the words of a call. Out: the status of its kernel. In front of this file stands `runtime_table`. */

/* Whether the call is so small that giving up the interpreter lock and taking it again would cost more than the work. */
static int is_small(const version *v, const int64_t *w)
{
    int64_t elements = 0;
    w += CONTROL_WORDS;
    for (int i = 0; i < v->value_count && elements < v->hold_below; i++) {
        const parameter *p = &v->parameters[i];
        if (p->test == TEST_CONTAINER || p->test == TEST_TEXT || (p->test == TEST_STACK && p->template[1] == '<')) {
            for (int column = 0; column < p->words; column += 3)
                elements += w[column + 1];
        } else if (p->test == TEST_ARRAY || p->test == TEST_LIST || p->test == TEST_STACK) {
            int64_t size = 1;
            for (int axis = 0; axis < (p->words - 1) / 2; axis++)
                size *= w[1 + axis];
            elements += size;
        } else if (p->test == TEST_MEMORY) {
            int64_t size = 1;
            for (int axis = 0; axis < p->rank; axis++)
                size *= w[1 + axis];
            elements += size;
        }
        w += p->words;
    }
    return elements < v->hold_below;
}

/* With the lock held nothing may wait for another thread that could need it: regions run serially. */
static int64_t call_kernel(const version *v, frame *f, int64_t *w)
{
    frame *outer = current_frame;
    int64_t status;
    current_frame = f;
    if (v->hold_below > 0 && is_small(v, w)) {
        region_depth++;
        status = v->kernel(&runtime_table, w);
        region_depth--;
    } else {
        release_interpreter(f);
        status = v->kernel(&runtime_table, w);
        PyEval_RestoreThread(f->thread);
    }
    current_frame = outer;
    return status;
}
