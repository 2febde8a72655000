"""C functions over arrays as generalised ufuncs.  In: an address, a C signature whose arrays name their extents, and
which arrays are read and written; out: an `np.ufunc` whose loop calls the function.

    void (double *x[n], double *y[n], double a, long n)   reads x, writes y   -->   (n),()->(n)

Arrays reach the function in C order: others are copied, and what was written is copied back.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from weft.callbacks import ufuncs
from weft.callbacks.declarations import Declaration, Parameter, declared
from weft.callbacks.scalar import chain
from weft.ir.types import DType
from weft.records import dataclass
from weft.runtime import dispatch

_C = {
    DType.BOOL: "_Bool", DType.I8: "int8_t", DType.I16: "int16_t", DType.I32: "int32_t", DType.I64: "int64_t",
    DType.U8: "uint8_t", DType.U16: "uint16_t", DType.U32: "uint32_t", DType.U64: "uint64_t",
    DType.F32: "float", DType.F64: "double",
}  # fmt: skip
#: What such a function may return.
_RESULTS = (DType.F32, DType.F64, DType.I8, DType.I16, DType.I32, DType.I64, DType.U8, DType.U16, DType.U32)


@dataclass(frozen=True)
class ArrayFunction:
    """A C function over arrays: its parameters as Python passes them, and which of those it reads and writes."""

    declaration: Declaration
    reads: frozenset[str]
    written: tuple[Parameter, ...]

    @property
    def inputs(self) -> tuple[Parameter, ...]:
        """Numbers, and arrays that are read."""
        return tuple(p for p in self.declaration.passed if not p.extents or p.name in self.reads)

    @property
    def layout(self) -> str:
        parts = ",".join(f"({','.join(p.extents)})" for p in self.inputs)
        made = ",".join(f"({','.join(p.extents)})" for p in self.outputs)
        return f"{parts}->{made}"

    @property
    def outputs(self) -> tuple[Parameter, ...]:
        """Arrays that are written, and what the function returns."""
        result = self.declaration.result
        return self.written if result is None else (*self.written, Parameter("result", result))


def described(
    function: Callable[..., Any], signature: str, reads: Sequence[str], writes: Sequence[str]
) -> ArrayFunction:
    """What is declared; TypeError or ValueError if it does not fit together."""
    found = declared(signature, function)
    arrays = {p.name: p for p in found.passed if p.extents}
    named = {*reads, *writes}
    if not writes and found.result is None:
        raise ValueError("effects: a function that returns nothing writes at least one array")
    unknown = next((name for name in (*reads, *writes) if name not in arrays), None)
    if unknown is not None:
        raise ValueError(f"effects: {signature!r} has no array {unknown!r}")
    silent = next((name for name in arrays if name not in named), None)
    if silent is not None:
        raise ValueError(f"effects: nothing is said of the array {silent!r}: name it in reads or writes")
    if found.result is not None and found.result not in _RESULTS:
        raise TypeError(f"{signature!r}: a native function over arrays returns nothing or one number of C")
    if any(extent.isdigit() for p in arrays.values() for extent in p.extents) or any(
        p.dtype not in _C for p in found.parameters
    ):
        raise TypeError(f"{signature!r}: extents are counts, and types are C's numbers")
    made = ArrayFunction(found, frozenset(reads), tuple(arrays[name] for name in dict.fromkeys(writes)))
    given = {extent for p in made.inputs for extent in p.extents}
    lost = next(((p.name, extent) for p in made.written for extent in p.extents if extent not in given), None)
    if lost is not None:
        raise ValueError(f"effects: no array that is read has the extent {lost[1]!r} of {lost[0]!r}")
    return made


def ufunc_of(made: ArrayFunction, name: str, address: int) -> Any:
    """The generalised ufunc that calls the function."""
    path = chain().build_shared(_text(made), flags=("-O2",), name="weft_array_function")
    # A file of its own: its variable belongs to one function.
    library = dispatch.load_library(path, ctypes.CDLL)
    caller = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(("weft_loop_for", library))
    number = caller(address)
    if not number:
        raise MemoryError("too many functions of one signature are registered")
    inputs, outputs = (tuple(p.dtype for p in part) for part in (made.inputs, made.outputs))
    loop = ufuncs.CLoop(inputs, outputs, number, (library,))
    return ufuncs.ufunc([loop], name, None, None, made.layout)


_HEAD = """
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef int64_t i64;
static i64 items_of(int rank, const i64 *extents) {
  i64 count = 1;
  for (int axis = 0; axis < rank; axis++) count *= extents[axis];
  return count;
}
static int is_packed(int rank, const i64 *extents, const i64 *steps, i64 size) {
  for (int axis = rank - 1; axis >= 0; size *= extents[axis--])
    if (extents[axis] > 1 && steps[axis] != size) return 0;
  return 1;
}
/* all elements, to or from memory in C order */
static void moved(char *place, char *packed, int rank, const i64 *extents, const i64 *steps, i64 size, int out) {
  i64 count = items_of(rank, extents);
  for (i64 at = 0; at < count; at++) {
    char *here = place;
    i64 rest = at;
    for (int axis = rank - 1; axis >= 0; axis--) {
      here += rest % extents[axis] * steps[axis];
      rest /= extents[axis];
    }
    if (out) memcpy(here, packed + at * size, size);
    else memcpy(packed + at * size, here, size);
  }
}
"""
_MOST = 16


def _text(made: ArrayFunction) -> str:
    """The loop in C, as often as functions of one signature may be registered: each has the address of its own."""
    operands = (*made.inputs, *made.outputs)
    sizes = list(dict.fromkeys(extent for p in operands for extent in p.extents))
    lines, after, before = [], [], len(operands)
    for k, p in enumerate(operands):
        if not p.extents:
            continue
        extents = ", ".join(f"dims[{1 + sizes.index(extent)}]" for extent in p.extents)
        steps = ", ".join(f"steps[{before + axis}]" for axis in range(len(p.extents)))
        before += len(p.extents)
        rank, size = len(p.extents), f"(i64)sizeof({_C[p.dtype]})"
        about = f"{rank}, e{k}, s{k}, {size}"
        lines += [f"const i64 e{k}[] = {{{extents}}}, s{k}[] = {{{steps}}};"]
        lines += [f"char *p{k} = args[{k}] + o * steps[{k}], *q{k} = p{k};"]
        lines += [f"if (!is_packed({about})) {{ q{k} = malloc(items_of({rank}, e{k}) * {size} + 1);"]
        lines += [f"  if (!q{k}) abort(); moved(p{k}, q{k}, {about}, 0); }}"]
        if k >= len(made.inputs):
            after.append(f"if (q{k} != p{k}) moved(p{k}, q{k}, {about}, 1);")
        after.append(f"if (q{k} != p{k}) free(q{k});")
    for out, p in enumerate(made.written, len(made.inputs)):
        if p.name not in made.reads:
            continue
        k = next(k for k, each in enumerate(made.inputs) if each.name == p.name)  # what it holds before was read
        count = f"items_of({len(p.extents)}, e{out})"
        lines.append(f"if (q{out} != q{k}) memcpy(q{out}, q{k}, {count} * sizeof({_C[p.dtype]}));")
    passed = ", ".join(_passed(p, made, operands, sizes) for p in made.declaration.parameters)
    kinds = ", ".join(f"{_C[p.dtype]}{' *' if p.pointer else ''}" for p in made.declaration.parameters)
    returned, last = made.declaration.result, len(operands) - 1
    of = "void" if returned is None else _C[returned]
    kept = "" if returned is None else f"*({of} *)(args[{last}] + o * steps[{last}]) = "
    body = "\n    ".join((*lines, f"{kept}(({of} (*)({kinds}))target)({passed});", *after))
    loops = "\n".join(
        f"static void loop_{n}(char **args, const i64 *dims, const i64 *steps, void *data) "
        f"{{ weft_call(args, dims, steps, targets[{n}]); }}"
        for n in range(_MOST)
    )
    names = ", ".join(f"loop_{n}" for n in range(_MOST))
    return f"""{_HEAD}
static void weft_call(char **args, const i64 *dims, const i64 *steps, void *target) {{
  for (i64 o = 0; o < dims[0]; o++) {{
    {body}
  }}
}}
static void *targets[{_MOST}];
{loops}
void *weft_loop_for(void *target) {{
  static void (*const loops[])(char **, const i64 *, const i64 *, void *) = {{{names}}};
  for (int n = 0; n < {_MOST}; n++)
    if (!targets[n] || targets[n] == target) {{ targets[n] = target; return (void *)loops[n]; }}
  return 0;
}}
"""


def _passed(p: Parameter, made: ArrayFunction, operands: Sequence[Parameter], sizes: Sequence[str]) -> str:
    """The C of one argument."""
    out = next((k for k, each in enumerate(made.written, len(made.inputs)) if each.name == p.name), None)
    if out is not None:
        return f"({_C[p.dtype]} *)q{out}"
    place = next((k for k, each in enumerate(made.inputs) if each.name == p.name), None)
    if place is None:
        return f"({_C[p.dtype]})dims[{1 + sizes.index(p.name)}]"
    if p.extents:
        return f"({_C[p.dtype]} *)q{place}"
    return f"*({_C[p.dtype]} *)(args[{place}] + o * steps[{place}])"
