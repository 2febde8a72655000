"""Support routines of generated C that are not about single values: entry guards, failures inside parallel loops, BLAS.
In: nothing; out: C texts that the generator includes when it uses them.
"""

from __future__ import annotations

from string import Template

#: The functions and types below: names that no variable may have.
FUNCTIONS = frozenset(
    f"k_{name}" for name in ("is_c", "is_f", "span", "disjoint", "trips", "bytes", "record", "failure", "matrix")
) | frozenset(
    f"k_{name}"
    for name in (
        *("within", "between", "pieces", "piece", "balance_i32", "balance_i64"),
        *("shared", "c", "context", "begin", "end", "task", "done"),
        *("f64x8", "i32x8", "i64x8", "mask", "entries", "told_i32", "told_i64", "added", "total"),
        *("greatest", "least", "nans", "alike", "call_back", "exchange", "keep"),
    )
)
#: Those of calls and tasks (c_invoke.py, c_tasks.py).
FUNCTIONS |= frozenset(
    f"k_{name}"
    for name in (
        *("thread", "self", "pass", "near", "room", "note", "isolate", "release", "alone"),
        *("finish", "services", "worker", "owner", "number", "depth"),
    )
)

#: Entry guards on an array parameter: its words are data, extents, strides in elements.
IS_C = """static i64 k_is_c(const i64 *w, i64 rank) {
  i64 step = 1, same = 1;
  for (i64 d = rank; d >= 1; d--) {
    if (w[d] == 0) return 1;
    same &= (w[d] == 1) | (w[rank + d] == step);
    step *= w[d];
  }
  return same;
}"""

IS_F = """static i64 k_is_f(const i64 *w, i64 rank) {
  i64 step = 1, same = 1;
  for (i64 d = 1; d <= rank; d++) {
    if (w[d] == 0) return 1;
    same &= (w[d] == 1) | (w[rank + d] == step);
    step *= w[d];
  }
  return same;
}"""

#: Whether two arrays share no byte: extents of memory, exact for arrays without gaps and safe for all.  Where extents
#: overlap, by the places that the elements take between the steps of one axis: two columns, or the parts of complex
#: numbers, are never at the same one.
DISJOINT = """static i64 k_span(const i64 *w, i64 rank, i64 size, i64 *first, i64 *last) {
  *first = *last = w[0];
  for (i64 d = 1; d <= rank; d++) {
    if (w[d] == 0) return 0;
    i64 reach = (w[d] - 1) * w[rank + d] * size;
    if (reach < 0) *first += reach; else *last += reach;
  }
  *last += size;
  return 1;
}
__attribute__((cold, noinline)) static i64 k_within(const i64 *w, i64 rank, i64 size, i64 step, i64 *first) {
  i64 width = size;
  *first = w[0];
  for (i64 d = 1; d <= rank; d++) {
    i64 stride = w[rank + d] * size;
    if (w[d] == 1 || stride % step == 0) continue;
    i64 reach = (w[d] - 1) * stride;
    if (reach < 0) *first += reach, reach = -reach;
    width += reach;
  }
  return width;
}
__attribute__((cold, noinline))
static i64 k_between(const i64 *a, i64 ra, i64 sa, const i64 *b, i64 rb, i64 sb) {
  for (i64 d = 1; d <= ra; d++) {
    i64 step = a[ra + d] * sa, a0, b0;
    if (step < 0) step = -step;
    if (a[d] == 1 || step == 0) continue;
    i64 wide = k_within(a, ra, sa, step, &a0), other = k_within(b, rb, sb, step, &b0);
    i64 apart = (b0 - a0) % step;
    if (apart < 0) apart += step;
    if (wide <= apart && other <= step - apart) return 1;
  }
  return 0;
}
static i64 k_disjoint(const i64 *a, i64 ra, i64 sa, const i64 *b, i64 rb, i64 sb) {
  i64 a0, a1, b0, b1;
  if (!k_span(a, ra, sa, &a0, &a1) || !k_span(b, rb, sb, &b0, &b1)) return 1;
  return a1 <= b0 || b1 <= a0 || k_between(a, ra, sa, b, rb, sb) || k_between(b, rb, sb, a, ra, sa);
}"""

#: How many steps a counting loop makes.
TRIPS = """static inline i64 k_trips(i64 lo, i64 hi, i64 step) {
  return step > 0 ? (hi > lo ? (hi - lo - 1) / step + 1 : 0) : (lo > hi ? (lo - hi - 1) / -step + 1 : 0);
}"""

#: What a kernel exports whose threads call BLAS each for itself; both parts of a unit may say so.
ALONE = "__attribute__((weak)) const char weft_alone = 1;"

#: Iterations in pieces of about equal work: `before[i]` steps come before iteration i, which is a step itself.  Bounds
#: only rise, whatever the array holds.
PIECES = """typedef struct {
  void (*body)(void *, i64, i64, i64);
  void *context;
  i64 bounds[65];
} k_pieces;
static void k_piece(void *pieces, i64 begin, i64 end, i64 task) {
  const k_pieces *p = pieces;
  for (i64 t = begin; t < end; t++)
    if (p->bounds[t] < p->bounds[t + 1]) p->body(p->context, p->bounds[t], p->bounds[t + 1], task);
}"""

BALANCE = Template("""static void k_balance_${type}(k_pieces *p, const ${type} *before, i64 step, i64 count,
    i64 pieces) {
  i64 first = before[0], total = (i64)before[count * step] - first + count;
  p->bounds[0] = 0;
  for (i64 t = 1; t < pieces; t++) {
    i64 wanted = (i64)((f64)total / (f64)pieces * (f64)t), low = p->bounds[t - 1], high = count;
    while (low < high) {
      i64 middle = low + (high - low) / 2;
      if ((i64)before[middle * step] - first + middle < wanted) low = middle + 1; else high = middle;
    }
    p->bounds[t] = low;
  }
  p->bounds[pieces] = count;
}""")

#: The bytes of an array; less than 0 if no memory could hold them.
BYTES = """static i64 k_bytes(i64 size, i64 rank, const i64 *shape) {
  i64 empty = 0, over = 0;
  for (i64 d = 0; d < rank; d++) empty |= shape[d] == 0;
  if (empty) return 0;
  for (i64 d = 0; d < rank; d++) over |= shape[d] < 0 || __builtin_mul_overflow(size, shape[d], &size);
  return over || size > (1LL << 46) ? -1 : size;
}"""

#: The first failure of a parallel loop is the one of its lowest iteration, whatever the threads do.
FAILURE = """typedef struct { i64 lock, first, status, overflow, code, line, values[3]; } k_failure;
static void k_record(k_failure *f, i64 iteration, i64 status, i64 code, i64 line, i64 v0, i64 v1, i64 v2) {
  while (__atomic_exchange_n(&f->lock, 1, __ATOMIC_ACQUIRE)) {}
  if (iteration < f->first) {
    f->first = iteration; f->status = status; f->code = code; f->line = line;
    f->values[0] = v0; f->values[1] = v1; f->values[2] = v2;
  }
  __atomic_store_n(&f->lock, 0, __ATOMIC_RELEASE);
}"""

# --- BLAS: row-major calls through the table; 0 if these sizes and strides are none of BLAS's, and loops must do it --

# Of a matrix of rows x columns with strides (r, c): 0 if no call can take it, else the order (111 as it is, 112
# transposed) and the leading dimension.
_MATRIX = """static i64 k_matrix(i64 rows, i64 columns, i64 r, i64 c, i64 *ld) {
  if (rows == 1 && columns == 1) { *ld = 1; return 111; }
  if ((c == 1 || columns == 1) && (r >= columns || rows == 1)) { *ld = rows == 1 ? columns : r; return 111; }
  if ((r == 1 || rows == 1) && (c >= rows || columns == 1)) { *ld = columns == 1 ? rows : c; return 112; }
  return 0;
}"""

_GEMM = """static i64 gemm_$t(const weft_rt *rt, i64 m, i64 n, i64 k, $t alpha, const $t *a, i64 ai, i64 ak,
    const $t *b, i64 bk, i64 bj, $t beta, i64 keep, $t *c, i64 ci, i64 cj) {
  if (!rt->${p}gemm || m < 1 || n < 1 || k < 1 || alpha == 0 || (keep && beta == 0)) return 0;
  if ((m | n | k) >> 31) return 0;
  i64 la, lb, lc, ta, tb;
  i64 tc = k_matrix(m, n, ci, cj, &lc);
  if (!tc) return 0;
  if (tc == 112) { /* the transposed product, of the transposed factors in the other order */
    const $t *x = a; a = b; b = x;
    i64 x0 = ai, x1 = ak, s = m;
    ai = bj; ak = bk; bk = x1; bj = x0; m = n; n = s;
  }
  ta = k_matrix(m, k, ai, ak, &la);
  tb = k_matrix(k, n, bk, bj, &lb);
  if (!ta || !tb || (la | lb | lc) >> 31) return 0;
  if (rt->blas_ilp64)
    ((void (*)(i32, i32, i32, i64, i64, i64, $s, const void *, i64, const void *, i64, $s, void *, i64))rt->${p}gemm)(
        101, (i32)ta, (i32)tb, m, n, k, ${r}alpha, a, la, b, lb, ${r}beta, c, lc);
  else
    ((void (*)(i32, i32, i32, i32, i32, i32, $s, const void *, i32, const void *, i32, $s, void *, i32))rt->${p}gemm)(
        101, (i32)ta, (i32)tb, (i32)m, (i32)n, (i32)k, ${r}alpha, a, (i32)la, b, (i32)lb, ${r}beta, c, (i32)lc);
  return 1;
}"""

# The product of a matrix with its own transpose is symmetric: half of it is computed, the other half copied, in blocks
# that fit the first cache.  The arguments are those of a product: 0 if it is no such one.
_MIRRORED = """static i64 mirrored_$t(const weft_rt *rt, i64 m, i64 n, i64 k, $t alpha, const $t *a, i64 ai, i64 ak,
    const $t *b, i64 bk, i64 bj, $t beta, i64 keep, $t *c, i64 ci, i64 cj) {
  if (!rt->${p}syrk || a != b || m != n || ai != bj || ak != bk || keep || m < 2 || k < 1 || alpha == 0) return 0;
  i64 lc, la, tc = k_matrix(n, n, ci, cj, &lc), ta = k_matrix(n, k, ai, ak, &la);
  if (!tc || !ta || (n | k | la | lc) >> 31) return 0;
  if (rt->blas_ilp64)
    ((void (*)(i32, i32, i32, i64, i64, $t, const $t *, i64, $t, $t *, i64))rt->${p}syrk)(
        101, 121, (i32)ta, n, k, alpha, a, la, 0, c, lc);
  else
    ((void (*)(i32, i32, i32, i32, i32, $t, const $t *, i32, $t, $t *, i32))rt->${p}syrk)(
        101, 121, (i32)ta, (i32)n, (i32)k, alpha, a, (i32)la, 0, c, (i32)lc);
  for (i64 ib = 0; ib < n; ib += 32)
    for (i64 jb = 0; jb <= ib; jb += 32)
      for (i64 i = ib; i < ib + 32 && i < n; i++)
        for (i64 j = jb; j < jb + 32 && j < i; j++) c[i * lc + j] = c[j * lc + i];
  return 1;
}"""

# Half of such a product, with its diagonal: the other half is somebody else's.
_SYRK = """static i64 syrk_$t(const weft_rt *rt, i64 upper, i64 n, i64 k, $t alpha, const $t *a, i64 ai, i64 ak,
    $t beta, i64 keep, $t *c, i64 ci, i64 cj) {
  if (!rt->${p}syrk || n < 2 || k < 1 || alpha == 0 || (keep && beta == 0)) return 0;
  i64 lc, la, tc = k_matrix(n, n, ci, cj, &lc), ta = k_matrix(n, k, ai, ak, &la);
  if (!tc || !ta || (n | k | la | lc) >> 31) return 0;
  i32 half = upper == (tc == 111) ? 121 : 122;
  if (rt->blas_ilp64)
    ((void (*)(i32, i32, i32, i64, i64, $t, const $t *, i64, $t, $t *, i64))rt->${p}syrk)(
        101, half, (i32)ta, n, k, alpha, a, la, keep ? beta : 0, c, lc);
  else
    ((void (*)(i32, i32, i32, i32, i32, $t, const $t *, i32, $t, $t *, i32))rt->${p}syrk)(
        101, half, (i32)ta, (i32)n, (i32)k, alpha, a, (i32)la, keep ? beta : 0, c, (i32)lc);
  return 1;
}"""

_GEMV = """static i64 gemv_$t(const weft_rt *rt, i64 m, i64 k, $t alpha, const $t *a, i64 ai, i64 ak,
    const $t *x, i64 xk, $t beta, i64 keep, $t *y, i64 yi) {
  if (!rt->${p}gemv || m < 1 || k < 1 || alpha == 0 || (keep && beta == 0)) return 0;
  if (m == 1) yi = 1;
  if (k == 1) xk = 1;
  i64 la, ta = k_matrix(m, k, ai, ak, &la);
  if (!ta || xk < 1 || yi < 1 || (m | k | la | xk | yi) >> 31) return 0;
  i64 rows = ta == 111 ? m : k, columns = ta == 111 ? k : m;
  if (rt->blas_ilp64)
    ((void (*)(i32, i32, i64, i64, $s, const void *, i64, const void *, i64, $s, void *, i64))rt->${p}gemv)(
        101, (i32)ta, rows, columns, ${r}alpha, a, la, x, xk, ${r}beta, y, yi);
  else
    ((void (*)(i32, i32, i32, i32, $s, const void *, i32, const void *, i32, $s, void *, i32))rt->${p}gemv)(
        101, (i32)ta, (i32)rows, (i32)columns, ${r}alpha, a, (i32)la, x, (i32)xk, ${r}beta, y, (i32)yi);
  return 1;
}"""

_DOT = """static i64 dot_$t(const weft_rt *rt, i64 k, $t alpha, const $t *x, i64 xk, const $t *y, i64 yk,
    $t beta, i64 keep, $t *r) {
  if (!rt->${p}dot || k < 2 || xk < 1 || yk < 1 || (k | xk | yk) >> 31) return 0;
  $t d;
  if (rt->blas_ilp64) d = (($t (*)(i64, const $t *, i64, const $t *, i64))rt->${p}dot)(k, x, xk, y, yk);
  else d = (($t (*)(i32, const $t *, i32, const $t *, i32))rt->${p}dot)((i32)k, x, (i32)xk, y, (i32)yk);
  d = alpha * d;
  *r = keep ? d + beta * *r : d;
  return 1;
}"""

_GER = """static i64 ger_$t(const weft_rt *rt, i64 m, i64 n, $t alpha, const $t *x, i64 xi, const $t *y, i64 yj,
    $t *a, i64 ai, i64 aj) {
  if (!rt->${p}ger || m < 2 || n < 2 || alpha == 0 || xi < 1 || yj < 1) return 0;
  i64 la, ta = k_matrix(m, n, ai, aj, &la);
  if (!ta || (m | n | xi | yj | la) >> 31) return 0;
  if (ta == 112) { const $t *z = x; x = y; y = z; i64 s = m, i = xi; m = n; n = s; xi = yj; yj = i; }
  if (rt->blas_ilp64)
    ((void (*)(i32, i64, i64, $t, const $t *, i64, const $t *, i64, $t *, i64))rt->${p}ger)(
        101, m, n, alpha, x, xi, y, yj, a, la);
  else
    ((void (*)(i32, i32, i32, $t, const $t *, i32, const $t *, i32, $t *, i32))rt->${p}ger)(
        101, (i32)m, (i32)n, alpha, x, (i32)xi, y, (i32)yj, a, (i32)la);
  return 1;
}"""

_ROUTINES = {"gemm": _GEMM, "mirrored": _MIRRORED, "syrk": _SYRK, "gemv": _GEMV, "dot": _DOT, "ger": _GER}
_LETTER = {"f32": "s", "f64": "d", "c64": "c", "c128": "z"}
#: Element types that the runtime's table has each routine for.
BLAS_TYPES: dict[str, tuple[str, ...]] = {
    "gemm": ("f32", "f64", "c64", "c128"),
    "mirrored": ("f32", "f64"),
    "syrk": ("f32", "f64"),
    "gemv": ("f32", "f64", "c64", "c128"),
    "dot": ("f32", "f64"),
    "ger": ("f32", "f64"),
}


def blas(routine: str, element: str) -> tuple[str, ...]:
    """The C text of a BLAS routine's wrapper, after what it needs."""
    composite = element.startswith("c")
    text = Template(_ROUTINES[routine]).substitute(
        t=element, p=_LETTER[element], s="const void *" if composite else element, r="&" if composite else ""
    )
    return (text,) if routine == "dot" else (_MATRIX, text)
