/* Arguments that lie in one piece of memory: the words of one array around all of them, and where each is in it.

   In: the arguments that a version names, and along which axis of that array each of their axes is. Out: the words of the
   array; then, for each argument, where it starts on each axis, its shape, and its steps. The same steps as in
   weft/runtime/sharing.py, which says why. */

#include "version.h"

static inline int pack_array(const parameter *p, PyObject *value, int64_t *w);

enum { MOST_MEMBERS = 8, MOST_AXES = 8 };

typedef struct {
    int argument, writeable, rank;
    int axes[MOST_AXES];
    int64_t words[1 + 2 * MOST_AXES];
    int64_t low, high;         /* in bytes */
    int64_t rest;              /* the elements between the lowest address of the first array and this one's, not yet split */
    int64_t spans[MOST_AXES];  /* how far it reaches along each axis of the memory, in elements */
    int64_t starts[MOST_AXES];
} sharing_member;

static int64_t modulo(int64_t a, int64_t b)
{
    int64_t rest = a % b;
    return rest < 0 ? rest + b : rest;
}

static int64_t divisor(int64_t a, int64_t b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* "rank:0w01,2r1": returns how many arguments there are. */
static int read_members(const char *text, sharing_member *members)
{
    int count = 0;
    const char *at = strchr(text, ':');
    while (at != NULL && *at != 0 && count < MOST_MEMBERS) {
        sharing_member *m = &members[count++];
        m->argument = m->rank = 0;
        for (at++; *at >= '0' && *at <= '9'; at++)
            m->argument = 10 * m->argument + (*at - '0');
        m->writeable = *at == 'w';
        for (at++; *at >= '0' && *at <= '9' && m->rank < MOST_AXES; at++)
            m->axes[m->rank++] = *at - '0';
    }
    return count;
}

/* Whether each element has a place of its own, as far as one can tell by steps and extents. */
static int is_injective(const sharing_member *m)
{
    for (int d = 1; d <= m->rank; d++) {
        int64_t step = m->words[m->rank + d], reach = 1;
        step = step < 0 ? -step : step;
        for (int e = 1; m->words[d] > 1 && e <= m->rank; e++) {
            int64_t other = m->words[m->rank + e];
            other = other < 0 ? -other : other;
            if (e != d && m->words[e] > 1 && (other < step || (other == step && e < d)))
                reach += other * (m->words[e] - 1);
        }
        if (m->words[d] > 1 && step < reach)
            return 0;
    }
    return 1;
}

static int pack_member(const parameter *p, PyObject *value, sharing_member *m)
{
    parameter one = {.code = p->code, .rank = m->rank, .written = m->writeable, .item_shift = p->item_shift};
    if (!pack_array(&one, value, m->words))
        return 0;
    m->low = m->high = m->words[0];
    memset(m->spans, 0, sizeof m->spans);
    for (int d = 0; d < m->rank; d++) {
        int64_t reach = (m->words[1 + d] - 1) * m->words[1 + m->rank + d];
        if (m->words[1 + d] == 0)
            return 0;
        m->spans[m->axes[d]] += reach < 0 ? -reach : reach;
        if (reach < 0)
            m->low += reach * ((int64_t)1 << p->item_shift);
        else
            m->high += reach << p->item_shift;
    }
    m->high += (int64_t)1 << p->item_shift;
    return !m->writeable || is_injective(m);
}

/* Where an array starts between steps of this many bytes; returns how wide it is there. */
static int64_t width_within(const sharing_member *m, int shift, int64_t step, int64_t *first)
{
    int64_t width = (int64_t)1 << shift;
    *first = m->words[0];
    for (int d = 1; d <= m->rank; d++) {
        int64_t stride = m->words[m->rank + d] * ((int64_t)1 << shift), reach = (m->words[d] - 1) * stride;
        if (m->words[d] == 1 || stride % step == 0)
            continue;
        *first += reach < 0 ? reach : 0;
        width += reach < 0 ? -reach : reach;
    }
    return width;
}

static int lies_between(const sharing_member *one, const sharing_member *other, int shift)
{
    for (int d = 1; d <= one->rank; d++) {
        int64_t step = one->words[one->rank + d] * ((int64_t)1 << shift), first, second;
        step = step < 0 ? -step : step;
        if (one->words[d] == 1 || step == 0)
            continue;
        int64_t wide = width_within(one, shift, step, &first), width = width_within(other, shift, step, &second);
        int64_t gap = modulo(second - first, step);
        if (wide <= gap && width <= step - gap)
            return 1;
    }
    return 0;
}

/* Whether the arrays overlap, one with the next, as far as entry guards can tell: others are the business of other
   versions. */
static int are_connected(const sharing_member *members, int count, int shift)
{
    uint32_t met = 1, before = 0, all = (1u << count) - 1;
    while (met != before && met != all) {
        before = met;
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count && (met >> i & 1); j++) {
                const sharing_member *one = &members[i], *other = &members[j];
                if ((met >> j & 1) || one->high <= other->low || other->high <= one->low)
                    continue;
                if (!lies_between(one, other, shift) && !lies_between(other, one, shift))
                    met |= 1u << j;
            }
    }
    return met == all;
}

/* The step along each axis of the memory: what divides all steps along it. */
static int find_units(const sharing_member *members, int count, int rank, int64_t *units)
{
    memset(units, 0, (size_t)rank * sizeof *units);
    for (int i = 0; i < count; i++) {
        const sharing_member *m = &members[i];
        for (int d = 0; d < m->rank; d++)
            if (m->words[1 + d] > 1)
                units[m->axes[d]] = divisor(units[m->axes[d]], m->words[1 + m->rank + d]);
        if (rank == 1)
            units[0] = divisor(units[0], m->rest);
    }
    if (rank == 1 && units[0] == 0)
        units[0] = 1;
    for (int axis = 1; axis < rank; axis++)
        if (units[axis - 1] <= units[axis])
            return 0;
    return units[rank - 1] > 0;
}

/* Whether the arrays have places on the axes behind `axis` if their elements are counted from `cut` on. */
static int cut_suits(const sharing_member *members, int count, int axis, int rank, int64_t unit, int64_t cut)
{
    for (int i = 0; i < count; i++) {
        int64_t place = modulo(members[i].rest - cut, unit), wide = 0;
        for (int inner = axis + 1; inner < rank; inner++)
            wide += members[i].spans[inner];
        if (axis + 1 == rank ? place != 0 : place + wide >= unit)
            return 0;
    }
    return 1;
}

static int split_places(sharing_member *members, int count, int rank, const int64_t *units)
{
    for (int axis = 0; axis < rank; axis++) {
        int64_t unit = units[axis], least = INT64_MAX, cut;
        int chosen = 0;
        while (chosen < count && !cut_suits(members, count, axis, rank, unit, members[chosen].rest))
            chosen++;
        if (chosen == count)
            return 0;
        cut = members[chosen].rest;
        for (int i = 0; i < count; i++) {
            int64_t place = modulo(members[i].rest - cut, unit);
            members[i].starts[axis] = (members[i].rest - cut - place) / unit;
            members[i].rest = place;
            least = members[i].starts[axis] < least ? members[i].starts[axis] : least;
        }
        for (int i = 0; i < count; i++)
            members[i].starts[axis] -= least;
    }
    return 1;
}

/* The words of the memory; 0 if its elements would have two places in it. */
static int fill_memory(const sharing_member *members, int count, int rank, int shift, const int64_t *units, int64_t *w)
{
    int64_t before = 0;
    for (int axis = rank - 1; axis >= 0; axis--) {
        int64_t extent = 1;
        for (int i = 0; i < count; i++) {
            int64_t reach = members[i].starts[axis] + members[i].spans[axis] / units[axis] + 1;
            extent = reach > extent ? reach : extent;
        }
        if (axis + 1 < rank && before >= units[axis])
            return 0;
        before += (extent - 1) * units[axis];
        w[1 + axis] = extent;
        w[1 + rank + axis] = units[axis];
    }
    w[0] = members[0].low;
    for (int axis = 0; axis < rank; axis++)
        w[0] -= (members[0].starts[axis] * units[axis]) << shift;
    return 1;
}

static int pack_memory(const parameter *p, PyObject *const *values, int64_t *w)
{
    sharing_member members[MOST_MEMBERS];
    int count = read_members(p->template, members), rank = p->rank;
    int64_t units[MOST_AXES];
    for (int i = 0; i < count; i++) {
        sharing_member *m = &members[i];
        if (!pack_member(p, values[m->argument], m) || ((m->low - members[0].low) & (((int64_t)1 << p->item_shift) - 1)))
            return 0;
        m->rest = (m->low - members[0].low) >> p->item_shift;
    }
    if (!are_connected(members, count, p->item_shift) || !find_units(members, count, rank, units) ||
        !split_places(members, count, rank, units) || !fill_memory(members, count, rank, p->item_shift, units, w))
        return 0;
    w += 1 + 2 * rank;
    for (int i = 0; i < count; i++) {
        const sharing_member *m = &members[i];
        int64_t *start = w, *shape = w + rank, *steps = shape + m->rank;
        memcpy(start, m->starts, (size_t)rank * sizeof *w);
        for (int d = 0; d < m->rank; d++) {
            shape[d] = m->words[1 + d];
            steps[d] = shape[d] == 1 ? 0 : m->words[1 + m->rank + d] / units[m->axes[d]];
            if (steps[d] < 0)
                start[m->axes[d]] -= steps[d] * (shape[d] - 1);
        }
        w = steps + m->rank;
    }
    return 1;
}
