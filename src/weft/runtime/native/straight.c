/* Calls that go to plain Python with nothing asked but their kind.

   In: a call that was left to Python (left.c), or for which Python was found to be the faster way (trials.c). Out: whether the
   next calls of its kind go there at once: until the cheap clock moves, some milliseconds later at most, as one of them may
   then have been a long one, for which the way was not chosen. So a function that is faster in Python costs one look at the
   types of its arguments and one at that clock.

   Other versions must not be there for such calls: two lists have one kind, whatever they hold. */

enum { STRAIGHT_CALLS = 1 << 12, STRAIGHT_SUSPECTED = 2 };

/* How many such calls there were since the last that was not. */
static inline int64_t straight_calls(dispatcher *d)
{
    int64_t done = d->straight.done;
    d->straight.done = 0;
    return done;
}

static inline int is_suspected(const call_watch *watch) { return watch->limit != 0 && watch->suspected > 0; }

/* A call has run in plain Python, because of the version's trial or (NULL) as no version is for it: so may others. */
static void begin_straight(dispatcher *d, version *chosen, uint64_t kind)
{
    straight_way *s = &d->straight;
    if (chosen != NULL)
        chosen->way_calls += straight_calls(d);
    s->left = 0;
    s->watched = d->watch.limit != 0;
    if (is_suspected(&d->watch))
        return;
    for (int i = 0; i < d->version_count; i++) {
        const version *v = d->versions[i];
        if (!v->dropped && (v->way != WAY_PLAIN || is_suspected(&v->watch) || !d->may_run_plain))
            return;
        s->watched |= v->watch.limit != 0;
    }
    s->kind = kind;
    s->missed = chosen == NULL;
    s->tick = s->watched ? watch_clock(0) : 0;
    s->left = STRAIGHT_CALLS;
}

/* The clock has moved: the next calls are measured. */
static void suspect_all(dispatcher *d)
{
    d->straight.left = 0;
    d->watch.suspected = STRAIGHT_SUSPECTED;
    for (int i = 0; i < d->version_count; i++)
        d->versions[i]->watch.suspected = STRAIGHT_SUSPECTED;
    for (int i = 0; i < MOST_FORMS && d->variadic; i++)
        if (d->forms[i] != NULL)
            suspect_all((dispatcher *)d->forms[i]);
}

static inline int goes_straight(const dispatcher *d, PyObject *const *args, Py_ssize_t count, PyObject *keywords)
{
    return kind_of_call(args, count, keywords) == d->straight.kind && d->plain != NULL && is_exact(d->plain, &PyFunction_Type) &&
           (d->may_run_plain || (d->version_count == 0 && !d->variadic));
}

static PyObject *call_straight(dispatcher *d, PyObject *const *args, size_t count, PyObject *keywords)
{
    if (!stack_suffices())
        return NULL;
    straight_way *s = &d->straight;
    PyObject *plain = new_reference(d->plain); /* the call may put another one in its place */
    s->left--;
    s->done++;
    d->plain_calls++;
    d->misses += s->missed;
    PyObject *answer = _PyFunction_Vectorcall(plain, args, count, keywords);
    Py_DecRef(plain);
    if (s->watched && answer != NULL && watch_clock(0) != s->tick)
        suspect_all(d);
    return answer;
}
