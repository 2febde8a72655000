"""Functions of other libraries in C.  In: an operation of `ir.foreign`; out: a call through a table of addresses that
the run time fills when the kernel is loaded.

    static inline f64 foreign_erf_f64(f64 a0) { ...weft_foreign[0]... }
"""

from __future__ import annotations

from weft.codegen.c_helpers import C_TYPE
from weft.ir.foreign import Foreign
from weft.ir.types import DType

_LOOP = "void (*)(char **, const i64 *, const i64 *, void *)"


def note(function: Foreign, dtype: DType, noted: dict[str, str]) -> str:
    """The C name of the function for operands of a dtype; its definition is noted by its key."""
    key, of = function.keys[dtype], C_TYPE[dtype]
    name = f"{function.op}_{of}"
    if key not in noted:
        place = 2 * len(noted)
        names = [f"a{number}" for number in range(function.arity)]
        head = f"static inline {of} {name}({', '.join(f'{of} {a}' for a in names)})"
        noted[key] = f"{head} {{ {_body(function, of, names, place)} }}"
    return name


def _body(function: Foreign, of: str, names: list[str], place: int) -> str:
    if function.ctypes is not None:
        *given, result = function.ctypes
        pointer = f"({result} (*)({', '.join(given)}))weft_foreign[{place}]"
        return f"return ({of})({pointer})({', '.join(f'({kind}){a}' for kind, a in zip(given, names))});"
    count = len(names) + 1
    operands = ", ".join(f"(char *)&{a}" for a in (*names, "r"))
    steps = ", ".join([f"sizeof({of})"] * count)
    return (
        f"{of} r; char *args[] = {{{operands}}}; i64 n = 1, steps[] = {{{steps}}}; "
        f"(({_LOOP})weft_foreign[{place}])(args, &n, steps, weft_foreign[{place + 1}]); return r;"
    )


def declaration(noted: dict[str, str]) -> list[str]:
    """The table with its names, and the functions that call through it."""
    if not noted:
        return []
    names = ";".join(noted)
    return [f'const char weft_foreign_names[] = "{names}";\nvoid *weft_foreign[{2 * len(noted)}];', *noted.values()]
