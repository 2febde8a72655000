"""The C header of a library.  In: the interfaces of its functions; out: the text of <module>.h."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from weft.hosts import spelling
from weft.hosts.accessors import accessors
from weft.hosts.arguments import Argument, ArrayArgument, FunctionArgument, HandleArgument, Interface, ScalarArgument
from weft.hosts.handles import Handle, in_order
from weft.ir.types import DType
from weft.records import dataclass
from weft.runtime.blas import FUNCTIONS


@dataclass(frozen=True)
class Entry:
    """A function of the library: its name in Python, its first line of documentation and its interface."""

    name: str
    title: str
    line: int
    interface: Interface


_TYPES = """#ifndef WEFT_TYPES
#define WEFT_TYPES
/* What a call returns: 0, or why nothing was computed. */
enum {
    WEFT_OK = 0,
    WEFT_NULL = 1,   /* a pointer is null */
    WEFT_EXTENT = 2, /* an extent is not what the function needs */
    WEFT_LAYOUT = 3, /* strides, alignment, or arrays that overlap */
    WEFT_GUARD = 4,  /* the compiled code relies on a condition that does not hold */
    WEFT_RAISED = 5, /* what Python would raise: `exception` names it */
    WEFT_MEMORY = 6, /* not enough memory, or stack */
    WEFT_PROCESSOR = 7 /* the library was built for another processor */
};

/* What happened, for people: `file` and `line` are those of the Python source, 0 where no line is to blame. */
typedef struct weft_error {
    int code;
    int line;
    const char *file;
    const char *function;
    const char *exception;
    char message[256];
} weft_error;

typedef struct { float real, imag; } weft_c64;
typedef struct { double real, imag; } weft_c128;

/* CBLAS functions that the host brings, each may be NULL; `ilp64`: their integers have 64 bits. */
typedef struct weft_blas {
    int64_t ilp64;
    void %s;
} weft_blas;
#endif
"""


def array_types(entries: Iterable[Entry]) -> list[tuple[DType, int]]:
    """The kinds of arrays that functions take or give, each once."""
    found: dict[tuple[DType, int], None] = {}
    for entry in entries:
        for argument in entry.interface.arguments:
            if isinstance(argument, ArrayArgument):
                found[argument.dtype, argument.rank] = None
        for result in entry.interface.results:
            if result.rank is not None and result.kind is None:
                found[result.type.dtype, result.rank] = None
    return sorted(found, key=lambda kind: (kind[0].value, kind[1]))


def handle_types(entries: Iterable[Entry]) -> list[Handle]:
    """The kinds of handles that functions take or give, and what these hold, each once."""
    found: dict[Handle, None] = {}
    for entry in entries:
        for argument in entry.interface.arguments:
            if isinstance(argument, HandleArgument):
                found[argument.kind] = None
        for result in entry.interface.results:
            if result.kind is not None:
                found[result.kind] = None
    return in_order(found)


def header(module: str, entries: Sequence[Entry], version: str) -> str:
    """The whole header."""
    guard = f"{module.upper()}_H"
    parts = [
        f"/* {module}: compiled from {module}.py by weft {version}. Arrays are structs of a pointer, extents and",
        "   strides (in elements). What a function gives back is the caller's: free its `memory`, NULL for a view. */",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <stdbool.h>",
        "#include <stddef.h>",
        "#include <stdint.h>",
        "",
        _TYPES % ", *".join(("*" + FUNCTIONS[0], *FUNCTIONS[1:])),
        *(_array(dtype, rank) for dtype, rank in array_types(entries)),
        *(_opaque(kind) for kind in handle_types(entries)),
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        "",
        "/* Gives back the memory of a result. NULL is fine. */",
        f"void {module}_free(void *memory);",
        "/* How many threads parallel loops use: at first WEFT_NUM_THREADS, OMP_NUM_THREADS or all processors. */",
        f"void {module}_set_threads(int count);",
        f"int {module}_get_threads(void);",
        "/* Matrix products by these functions; NULL: by the library's own. Not while another thread is in a call. */",
        f"void {module}_set_blas(const weft_blas *table);",
        "",
        *(_accessors(module, kind) for kind in handle_types(entries)),
        *(_declaration(module, entry) for entry in entries),
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "#endif",
        "",
    ]
    return "\n".join(parts)


def _array(dtype: DType, rank: int) -> str:
    kind, item = spelling.array(dtype, rank), spelling.C_TYPES[dtype]
    extents = [f"n{axis}" for axis in range(rank)]
    sizes = ", ".join(f"int64_t {extent}" for extent in extents)
    strides = ", ".join(" * ".join(extents[axis + 1 :]) or "1" for axis in range(rank))
    return f"""#ifndef {kind.upper()}
#define {kind.upper()}
typedef struct {kind} {{
    {item} *data;
    int64_t extent[{rank}];
    int64_t stride[{rank}];
    void *memory;
}} {kind};

/* An array over memory of the caller's, its last index adjacent. */
static inline {kind} {kind}_over({item} *data, {sizes})
{{
    {kind} array = {{data, {{{", ".join(extents)}}}, {{{strides}}}, NULL}};
    return array;
}}
#endif
"""


def parameters(entry: Entry) -> list[str]:
    """The parameters of a function in C: its arguments, its results, the error."""
    found = []
    for argument in entry.interface.arguments:
        name = spelling.name(argument.name)
        if isinstance(argument, FunctionArgument):
            found.append(spelling.pointer(name, argument.count))
        elif isinstance(argument, HandleArgument):
            constant = "" if is_changed(argument) else "const "
            found.append(f"{constant}{argument.kind.type} *{name}")
        elif isinstance(argument, ScalarArgument):
            found.append(f"{spelling.C_TYPES[argument.type.dtype]} {name}")
        else:
            found.append(f"const {spelling.array(argument.dtype, argument.rank)} *{name}")
    for result in entry.interface.results:
        dtype = result.type.dtype
        if result.kind is not None:
            found.append(f"{result.kind.type} **{result.name}")
            continue
        kind = spelling.C_TYPES[dtype] if result.rank is None else spelling.array(dtype, result.rank)
        found.append(f"{kind} *{result.name}")
    return [*found, "weft_error *error"]


def is_changed(argument: Argument) -> bool:
    """Whether a call changes what the host has passed."""
    if isinstance(argument, HandleArgument):
        return argument.written or argument.changed
    return isinstance(argument, ArrayArgument) and argument.written


def _opaque(kind: Handle) -> str:
    guard = kind.type.upper()
    return f"#ifndef {guard}\n#define {guard}\ntypedef struct {kind.type} {kind.type}; /* {kind.python} */\n#endif\n"


def _accessors(module: str, kind: Handle) -> str:
    lines = [f"/* {kind.python}: a handle of the caller's, for one thread at a time */"]
    for each in accessors(kind):
        lines.append(f"{each.declared(module, kind)};{f' /* {each.about} */' if each.about else ''}")
    return "\n".join((*lines, ""))


def _declaration(module: str, entry: Entry) -> str:
    written = [a.name for a in entry.interface.arguments if is_changed(a)]
    title = entry.title.replace("*/", "* /")
    effect = f"; writes {', '.join(written)}" if written else ""
    about = f"/* {title or entry.name} ({module}.py:{entry.line}){effect} */"
    return f"{about}\nint {module}_{spelling.name(entry.name)}({', '.join(parameters(entry))});\n"
