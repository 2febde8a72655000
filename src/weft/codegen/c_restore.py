"""Arrays of the caller that are put back.  In: a program that writes arrays of the caller and may find out later that
only Python can go on; out: C that keeps what they held, and puts it back if the call is handed back.

    kept = k_keep(words of a);  ...the body...;  done: if (status == GUARD) k_put_back(kept, words of a);  release(kept)

So Python repeats the call from the state that it began with. An integer that leaves 64 bits may be found out by any
arithmetic: arrays that are small, or that loops run all over, are kept then; with others the call raises OverflowError.
"""

from __future__ import annotations

from weft.analysis.scopes import swept
from weft.codegen import syntax as C
from weft.codegen.c_expr import OWN, RT
from weft.codegen.c_frame import DONE, GUARD, OVERFLOW_ERROR, RAISE, STATUS, WORDS, Unit
from weft.ir.program import Buffer

#: The words of an array are data, extents, strides in elements.
TEXT = """static void k_exchange(char *kept, const i64 *w, i64 rank, i64 size, i64 back) {
  i64 at[32] = {0}, rows = 1, last = rank ? w[rank] : 1, step = rank ? w[2 * rank] * size : size;
  for (i64 d = 1; d < rank; d++) rows *= w[d];
  if (last <= 0) return;
  for (i64 row = 0; row < rows; row++) {
    char *data = (char *)w[0];
    for (i64 d = 1; d < rank; d++) data += at[d] * w[rank + d] * size;
    if (step == size) {
      if (back) __builtin_memcpy(data, kept, (unsigned long)(last * size));
      else __builtin_memcpy(kept, data, (unsigned long)(last * size));
      kept += last * size;
    } else {
      for (i64 k = 0; k < last; k++, kept += size, data += step) {
        if (back) __builtin_memcpy(data, kept, (unsigned long)size);
        else __builtin_memcpy(kept, data, (unsigned long)size);
      }
    }
    for (i64 d = rank - 1; d >= 1 && ++at[d] == w[d]; d--) at[d] = 0;
  }
}
static char *k_keep(const weft_rt *rt, const i64 *w, i64 rank, i64 size) {
  i64 bytes = size;
  for (i64 d = 1; d <= rank; d++) bytes *= w[d];
  char *kept = (char *)rt->alloc(bytes > 0 ? bytes : 1);
  if (kept) k_exchange(kept, w, rank, size, 0);
  return kept;
}"""


def kept(buffers: list[Buffer], unit: Unit) -> tuple[list[C.CStmt], list[C.CStmt]]:
    """What keeps these arrays before the body, and what puts them back behind it; Python runs if memory is short."""
    if not buffers:
        return [], []
    unit.used.text(TEXT)
    before: list[C.CStmt] = []
    behind: list[C.CStmt] = []
    for number, buffer in enumerate(buffers):
        name = C.Name(f"{OWN}kept_{number}")
        words = C.plus(C.Name(WORDS), C.number(unit.layout.params[buffer.name]))
        shape = (words, C.number(buffer.rank), C.number(buffer.type.dtype.size))
        before.append(C.Assign(name, C.call("k_keep", C.Name(RT), *shape)))
        before.append(C.IfElse(C.Prefix("!", name), (C.Jump(f"goto {DONE}"),)))
        back = C.Evaluate(C.call("k_exchange", name, *shape, C.number(1)))
        failed = C.Infix("==", C.Name(STATUS), C.number(GUARD))
        behind.append(C.IfElse(name, (C.IfElse(failed, (back,)), C.Evaluate(C.through(RT, "release", name)))))
    return before, behind


#: So many bytes are kept for the case that an integer leaves 64 bits: of arrays that loops run all over, and of others.
_SWEPT, _SMALL = 1 << 23, 1 << 12


def undone(buffers: list[Buffer], unit: Unit) -> tuple[list[C.CStmt], list[C.CStmt]]:
    """What keeps these arrays, unless they are large, and what puts them back if an integer has left 64 bits."""
    if not buffers:
        return [], []
    unit.used.text(TEXT)
    unit.used.text(LIMITED)
    all_over = swept(unit.program)
    before: list[C.CStmt] = []
    back: list[C.CStmt] = []
    release: list[C.CStmt] = []
    code = C.number(unit.exception(*OVERFLOW_ERROR))
    happened: C.CExpr = C.Infix("==", C.Name(STATUS), C.number(RAISE))
    happened = C.Infix("&&", happened, C.Infix("==", C.Subscript(C.Name(WORDS), C.number(1)), code))
    for number, buffer in enumerate(buffers):
        name = C.Name(f"{OWN}kept_{number}")
        words = C.plus(C.Name(WORDS), C.number(unit.layout.params[buffer.name]))
        shape = (words, C.number(buffer.rank), C.number(buffer.type.dtype.size))
        limit = C.number(_SWEPT if buffer.name in all_over else _SMALL)
        before.append(C.Assign(name, C.call("k_keep_limited", C.Name(RT), *shape, limit)))
        back.append(C.Evaluate(C.call("k_exchange", name, *shape, C.number(1))))
        release.append(C.IfElse(name, (C.Evaluate(C.through(RT, "release", name)),)))
        happened = C.Infix("&&", happened, name)
    back.append(C.Assign(C.Name(STATUS), C.number(GUARD)))
    return before, [C.IfElse(happened, tuple(back)), *release]


LIMITED = """static char *k_keep_limited(const weft_rt *rt, const i64 *w, i64 rank, i64 size, i64 limit) {
  i64 bytes = size;
  for (i64 d = 1; d <= rank; d++) bytes *= w[d];
  return bytes <= limit ? k_keep(rt, w, rank, size) : 0;
}"""


def declared(buffers: list[Buffer]) -> list[C.CStmt]:
    return [C.Declare("char *", f"{OWN}kept_{number}", C.Number("0")) for number, _ in enumerate(buffers)]
