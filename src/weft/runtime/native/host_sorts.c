/* Sorts for C hosts, as loops over lines of the signature (n)->(n): lines in order, and the places of their items in order.

   NaN comes last; complex numbers are compared by their real parts first. Every sort is stable: runs of a few items are sorted by
   insertion, then merged. */

typedef struct { float real, imag; } complex_float;
typedef struct { double real, imag; } complex_double;

enum { RUN = 16 };

#define MERGE_SORT(name, item, key, before)                                                                                   \
    static void name(item *x, ptrdiff_t n, item *room, const key *keys)                                                       \
    {                                                                                                                         \
        (void)keys;                                                                                                           \
        for (ptrdiff_t start = 0; start < n; start += RUN) {                                                                  \
            ptrdiff_t end = start + RUN < n ? start + RUN : n;                                                                \
            for (ptrdiff_t i = start + 1; i < end; i++) {                                                                     \
                item moved = x[i];                                                                                            \
                ptrdiff_t at = i;                                                                                             \
                for (; at > start && before(moved, x[at - 1]); at--)                                                          \
                    x[at] = x[at - 1];                                                                                        \
                x[at] = moved;                                                                                                \
            }                                                                                                                 \
        }                                                                                                                     \
        item *from = x, *to = room;                                                                                           \
        for (ptrdiff_t width = RUN; width < n; width *= 2) {                                                                  \
            for (ptrdiff_t start = 0; start < n; start += 2 * width) {                                                        \
                ptrdiff_t middle = start + width < n ? start + width : n, end = start + 2 * width < n ? start + 2 * width : n; \
                ptrdiff_t i = start, j = middle;                                                                              \
                for (ptrdiff_t k = start; k < end; k++)                                                                       \
                    to[k] = j < end && (i >= middle || before(from[j], from[i])) ? from[j++] : from[i++];                     \
            }                                                                                                                 \
            item *other = from;                                                                                               \
            from = to;                                                                                                        \
            to = other;                                                                                                       \
        }                                                                                                                     \
        if (from != x)                                                                                                        \
            memcpy(x, from, (size_t)n * sizeof *x);                                                                           \
    }

#define OF_WHOLE(a, b) ((a) < (b))
#define OF_REAL(a, b) ((a) < (b) || ((b) != (b) && (a) == (a)))
#define NANS(a) (2 * ((a).real != (a).real) + ((a).imag != (a).imag)) /* numbers, then NaN in one part, then in both */
#define OF_COMPLEX(a, b)                                                                                                      \
    (NANS(a) != NANS(b) ? NANS(a) < NANS(b)                                                                                   \
                        : (a).real < (b).real || (!((b).real < (a).real) && (a).imag < (b).imag))

/* Each line is copied to where it is adjacent, sorted, and copied to where it belongs. */
#define SORT(letter, type, order)                                                                                             \
    MERGE_SORT(merge_##letter, type, type, order)                                                                             \
    static void host_sort_##letter(char **arguments, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)              \
    {                                                                                                                         \
        ptrdiff_t n = sizes[1];                                                                                               \
        type *line = routine_memory(2 * n, sizeof *line);                                                                     \
        (void)data;                                                                                                           \
        for (ptrdiff_t b = 0; line != NULL && b < sizes[0]; b++) {                                                            \
            const char *from = arguments[0] + b * steps[0];                                                                   \
            char *to = arguments[1] + b * steps[1];                                                                           \
            for (ptrdiff_t i = 0; i < n; i++)                                                                                 \
                line[i] = *(const type *)(from + i * steps[2]);                                                               \
            merge_##letter(line, n, line + n, NULL);                                                                          \
            for (ptrdiff_t i = 0; i < n; i++)                                                                                 \
                *(type *)(to + i * steps[3]) = line[i];                                                                       \
        }                                                                                                                     \
        free(line);                                                                                                           \
    }

#define PLACES(letter, type, compared)                                                                                        \
    MERGE_SORT(merge_places_##letter, int64_t, type, compared)                                                                \
    static void host_argsort_##letter(char **arguments, const ptrdiff_t *sizes, const ptrdiff_t *steps, void *data)           \
    {                                                                                                                         \
        ptrdiff_t n = sizes[1];                                                                                               \
        type *line = routine_memory(n, sizeof *line);                                                                         \
        int64_t *places = routine_memory(2 * n, sizeof *places);                                                              \
        (void)data;                                                                                                           \
        for (ptrdiff_t b = 0; line != NULL && places != NULL && b < sizes[0]; b++) {                                          \
            const char *from = arguments[0] + b * steps[0];                                                                   \
            char *to = arguments[1] + b * steps[1];                                                                           \
            for (ptrdiff_t i = 0; i < n; i++) {                                                                               \
                line[i] = *(const type *)(from + i * steps[2]);                                                               \
                places[i] = i;                                                                                                \
            }                                                                                                                 \
            merge_places_##letter(places, n, places + n, line);                                                               \
            for (ptrdiff_t i = 0; i < n; i++)                                                                                 \
                *(int64_t *)(to + i * steps[3]) = places[i];                                                                  \
        }                                                                                                                     \
        free(line);                                                                                                           \
        free(places);                                                                                                         \
    }

#define BY_WHOLE(i, j) OF_WHOLE(keys[i], keys[j])
#define BY_REAL(i, j) OF_REAL(keys[i], keys[j])
#define BY_COMPLEX(i, j) OF_COMPLEX(keys[i], keys[j])
#define SORTS(letter, type, kind) SORT(letter, type, OF_##kind) PLACES(letter, type, BY_##kind)

SORTS(truth, uint8_t, WHOLE)
SORTS(b, int8_t, WHOLE)
SORTS(h, int16_t, WHOLE)
SORTS(i, int32_t, WHOLE)
SORTS(l, int64_t, WHOLE)
SORTS(B, uint8_t, WHOLE)
SORTS(H, uint16_t, WHOLE)
SORTS(I, uint32_t, WHOLE)
SORTS(L, uint64_t, WHOLE)
SORTS(f, float, REAL)
SORTS(d, double, REAL)
SORTS(F, complex_float, COMPLEX)
SORTS(D, complex_double, COMPLEX)
