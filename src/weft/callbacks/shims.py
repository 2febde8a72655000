"""The C around a kernel of numbers.  In: a kernel and the types of its arguments and results; out: one translation unit
that exports a loop for NumPy's ufuncs, or a C function.

    weft_one(arguments, results)     the function itself, inlined
    weft_loop(args, dims, steps, _)  n of them: in vectors by another kernel where arrays do not overlap, else in order

Where a kernel's status is not 0, `weft_python` is called with the same arguments: plain Python has the last word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from weft.callbacks.scalar import Kernel, Leaf
from weft.ir.types import DType

#: Elements that are gathered side by side before the kernel in vectors runs.
CHUNK = 2048

_C: dict[DType, str] = {dtype: "b8" if dtype is DType.BOOL else dtype.value for dtype in DType}

#: At the end of a loop: what NumPy would warn of is cleared. That costs more than a short loop takes, and nearly every
#: sum is inexact, of which nobody asks.
CLEARED = """const int told = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID;
  if (fetestexcept(told)) feclearexcept(told);"""

#: Declarations for every unit.
HEAD = """
#include <fenv.h>
#include <string.h>
typedef struct _object PyObject;
extern int PyGILState_Ensure(void);
extern void PyGILState_Release(int);
extern int PyGILState_Check(void);
extern PyObject *PyErr_Occurred(void);
extern void PyErr_WriteUnraisable(PyObject *);
extern PyObject *PyObject_CallFunction(PyObject *, const char *, ...);
extern void Py_DecRef(PyObject *);
typedef i64 (*weft_kernel)(const weft_rt *, i64 *);
const weft_rt *weft_runtime;
weft_kernel weft_bulk;
PyObject *weft_python;
static inline i64 weft_word(f64 x) { i64 w; __builtin_memcpy(&w, &x, 8); return w; }
static inline f64 weft_unword(i64 w) { f64 x; __builtin_memcpy(&x, &w, 8); return x; }
"""

_ASK = """
/* Plain Python computes n elements; false if it raises. */
static int weft_ask(char **args, i64 n, const i64 *steps) {
  int state = PyGILState_Ensure(), done = 0;
  if (!PyErr_Occurred()) {
    PyObject *result = PyObject_CallFunction(weft_python, "LLL", (i64)args, n, (i64)steps);
    done = result != 0;
    if (result) Py_DecRef(result);
  }
  PyGILState_Release(state);
  return done;
}
"""


def c_type(dtype: DType) -> str:
    """The name of a dtype in the generated C."""
    return _C[dtype]


def inlined(text: str) -> str:
    """A kernel's text with the kernel itself for this unit alone, so that the compiler can inline it."""
    return text.replace("\ni64 kernel(", "\nstatic inline __attribute__((always_inline)) i64 kernel(", 1)


def stored(dtype: DType, name: str, word: int) -> str:
    """Put an argument into the words of the kernel."""
    if dtype.is_complex:
        return f"w[{word}] = weft_word(__real__ {name}); w[{word + 1}] = weft_word(__imag__ {name});"
    return f"w[{word}] = weft_word({name});" if dtype.is_float else f"w[{word}] = (i64){name};"


def loaded(leaf: Leaf, dtype: DType) -> str:
    """A number of the result, as the type that the caller gets."""
    if leaf.word is None:
        value = _constant(leaf.value)
    elif leaf.type.dtype.is_complex:
        value = f"__builtin_complex(weft_unword(w[{leaf.word}]), weft_unword(w[{leaf.word + 1}]))"
    elif leaf.type.dtype.is_float:
        value = f"weft_unword(w[{leaf.word}])"
    else:
        value = f"({_C[leaf.type.dtype]})w[{leaf.word}]"
    return f"({value}) != 0" if dtype is DType.BOOL else f"({_C[dtype]})({value})"


def _constant(value: Any) -> str:
    if isinstance(value, complex):
        return f"__builtin_complex({_constant(value.real)}, {_constant(value.imag)})"
    if isinstance(value, float):
        if math.isfinite(value):
            return value.hex()
        return '__builtin_nan("")' if math.isnan(value) else "-__builtin_inf()" if value < 0 else "__builtin_inf()"
    return f"{int(value)}LL"


def one(kernel: Kernel, inputs: Sequence[DType], outputs: Sequence[DType]) -> str:
    """`weft_one`: the kernel as a function of numbers; its status."""
    given = [f"{_C[dtype]} x{at}" for at, dtype in enumerate(inputs)]
    made = [f"{_C[dtype]} *r{at}" for at, dtype in enumerate(outputs)]
    lines = [f"static inline i64 weft_one({', '.join((*given, *made))}) {{"]
    lines += [f"  i64 w[{max(kernel.unit.layout.words, 8)}];", "  w[0] = 0;"]
    lines += [f"  {stored(d, f'x{at}', word)}" for at, (d, word) in enumerate(zip(inputs, kernel.params)) if word >= 0]
    lines += ["  i64 status = kernel(weft_runtime, w);", "  if (status) return status;"]
    for number, tree in enumerate(kernel.results):
        stores = " ".join(f"*r{at} = {loaded(leaf, d)};" for at, (leaf, d) in enumerate(zip(tree, outputs)))
        last = number == len(kernel.results) - 1
        lines.append(f"  {{ {stores} }}" if last else f"  if (w[0] == {number}) {{ {stores} return 0; }}")
    return "\n".join((*lines, "  return 0;", "}", ""))


def ufunc_unit(kernel: Kernel, inputs: Sequence[DType], outputs: Sequence[DType], bulk: Sequence[int]) -> str:
    """The unit of a loop; `bulk`: the first word of each array of the kernel in vectors, and how many words it has."""
    types = [_C[d] for d in (*inputs, *outputs)]
    operands = ", ".join(f"*({_C[d]} *)(args[{at}] + i * steps[{at}])" for at, d in enumerate(inputs))
    results = [f"r{at}" for at in range(len(outputs))]
    stores = " ".join(
        f"*({_C[d]} *)(args[{len(inputs) + at}] + i * steps[{len(inputs) + at}]) = r{at};"
        for at, d in enumerate(outputs)
    )
    declared = " ".join(f"{_C[d]} {name};" for d, name in zip(outputs, results))
    in_order = f"""
static void weft_in_order(char **args, i64 n, const i64 *steps) {{
  for (i64 i = 0; i < n; i++) {{
    {declared}
    if (weft_one({", ".join((*([operands] if operands else []), *(f"&{name}" for name in results)))})) {{
      char *here[{len(types)}];
      for (int k = 0; k < {len(types)}; k++) here[k] = args[k] + i * steps[k];
      if (!weft_ask(here, 1, steps)) return;
    }} else {{ {stores} }}
  }}
}}
"""
    sizes = ", ".join(f"sizeof({name})" for name in types)
    words = "\n".join(
        f"  w[{word}] = (i64)args[{at}]; w[{word + 1}] = n; w[{word + 2}] = 1;"
        for at, word in enumerate(bulk[:-1])
        if word >= 0
    )
    loop = _LOOP.format(
        count=len(types),
        given=len(inputs),
        sizes=sizes,
        words=words,
        total=max(bulk[-1], 8),
        chunk=CHUNK,
        cleared=CLEARED,
    )
    return "".join((inlined(kernel.unit.text), HEAD, _ASK, one(kernel, inputs, outputs), in_order, loop))


#: The loop that NumPy calls. Outputs that are an input, element by element, and operands with gaps or of one element
#: pass through memory of their own, piece by piece.
_LOOP = """
static const i64 weft_sizes[] = {{{sizes}}};
/* n elements side by side, no output in the memory of an input; false if the kernel in vectors has no answer */
int weft_side_by_side(char **args, i64 n) {{
  i64 w[{total}];
  w[0] = 0;
{words}
  return weft_bulk(weft_runtime, w) == 0;
}}
static int weft_apart(const char *a, i64 s, const char *b, i64 t, i64 n, i64 size_a, i64 size_b) {{
  const char *first = a + (s < 0 ? s * (n - 1) : 0), *end = a + (s > 0 ? s * (n - 1) : 0) + size_a;
  const char *other = b + (t < 0 ? t * (n - 1) : 0), *last = b + (t > 0 ? t * (n - 1) : 0) + size_b;
  return end <= other || last <= first;
}}
static void weft_copied(char *to, i64 t, const char *from, i64 s, i64 n, i64 size) {{
  switch (size) {{
  case 1: for (i64 i = 0; i < n; i++) *(u8 *)(to + i * t) = *(const u8 *)(from + i * s); break;
  case 2: for (i64 i = 0; i < n; i++) *(u16 *)(to + i * t) = *(const u16 *)(from + i * s); break;
  case 4: for (i64 i = 0; i < n; i++) *(u32 *)(to + i * t) = *(const u32 *)(from + i * s); break;
  case 8: for (i64 i = 0; i < n; i++) *(u64 *)(to + i * t) = *(const u64 *)(from + i * s); break;
  default: for (i64 i = 0; i < n; i++) memcpy(to + i * t, from + i * s, size);
  }}
}}
static void weft_pieces(char **args, i64 n, const i64 *steps, const int *own) {{
  char memory[{count}][{chunk} * 16] __attribute__((aligned(64)));
  for (i64 begin = 0; begin < n; begin += {chunk}) {{
    i64 now = n - begin < {chunk} ? n - begin : {chunk};
    char *at[{count}], *here[{count}];
    for (int k = 0; k < {count}; k++) {{
      here[k] = args[k] + begin * steps[k];
      at[k] = own[k] ? memory[k] : here[k];
      if (own[k] && k < {given} && (begin == 0 || steps[k]))
        weft_copied(memory[k], weft_sizes[k], here[k], steps[k], steps[k] || now == n ? now : {chunk}, weft_sizes[k]);
    }}
    if (!weft_side_by_side(at, now)) {{
      weft_in_order(here, now, steps);
      continue;
    }}
    for (int k = {given}; k < {count}; k++)
      if (own[k]) weft_copied(here[k], steps[k], memory[k], weft_sizes[k], now, weft_sizes[k]);
  }}
}}
void weft_loop(char **args, const i64 *dims, const i64 *steps, void *data) {{
  i64 n = dims[0];
  int own[{count}], any = 0, in_order = weft_bulk == 0;
  for (int k = 0; k < {count}; k++) any |= own[k] = steps[k] != weft_sizes[k];
  for (int o = {given}; o < {count} && !in_order; o++)
    for (int k = 0; k < o && !in_order; k++) {{
      if (weft_apart(args[o], steps[o], args[k], steps[k], n, weft_sizes[o], weft_sizes[k])) continue;
      if (k < {given} && args[o] == args[k] && steps[o] == steps[k] && steps[o] && weft_sizes[o] == weft_sizes[k])
        any = own[o] = 1;
      else
        in_order = 1;
    }}
  if (in_order) weft_in_order(args, n, steps);
  else if (any) weft_pieces(args, n, steps, own);
  else if (!weft_side_by_side(args, n)) weft_in_order(args, n, steps);
  {cleared}
}}
"""
