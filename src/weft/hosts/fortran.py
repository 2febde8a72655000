"""The Fortran module of a library.  In: the interfaces of its functions; out: the text of <module>.f90, which binds to
the C library by iso_c_binding.

Fortran's first index is the adjacent one: an array of extents (n, m) there is one of extents (m, n) for the function.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.hosts import spelling
from weft.hosts.accessors import Accessor, accessors
from weft.hosts.arguments import ArrayArgument, FunctionArgument, HandleArgument, ScalarArgument
from weft.hosts.c_header import Entry, array_types, handle_types
from weft.hosts.handles import Handle
from weft.ir.types import DType

_ERROR = """  integer(c_int), parameter :: weft_ok = 0, weft_null = 1, weft_extent = 2, weft_layout = 3, &
    weft_guard = 4, weft_raised = 5, weft_memory = 6, weft_processor = 7

  type, bind(c) :: weft_error
    integer(c_int) :: code = 0
    integer(c_int) :: line = 0
    type(c_ptr) :: file = c_null_ptr
    type(c_ptr) :: function = c_null_ptr
    type(c_ptr) :: exception = c_null_ptr
    character(kind=c_char) :: message(256) = c_null_char
  end type
"""

_MESSAGE = """  !> The message of an error as Fortran has strings.
  function weft_message(error) result(text)
    type(weft_error), intent(in) :: error
    character(len=:), allocatable :: text
    integer :: length
    length = 0
    do while (length < 256)
      if (error%message(length + 1) == c_null_char) exit
      length = length + 1
    end do
    allocate (character(len=length) :: text)
    text = transfer(error%message(1:length), text)
  end function
"""


def module(name: str, entries: Sequence[Entry], version: str) -> str:
    """The whole module; lines stay short enough for every compiler."""
    kinds = array_types(entries)
    over = [(kind, each) for kind in handle_types(entries) for each in accessors(kind)]
    public = ["weft_error", "weft_message", f"{name}_set_threads"]
    makers = [f"{spelling.array(*kind)}_over" for kind in kinds]
    parts = [
        f"! {name}: compiled from {name}.py by weft {version}. An array of extents (n, m) here is one of extents",
        "! (m, n) for the functions: the first index is the adjacent one in Fortran, the last one there.",
        f"module {name}",
        "  use, intrinsic :: iso_c_binding",
        "  implicit none",
        "  private",
        *(f"  public :: {each}" for each in public),
        "  public :: weft_ok, weft_null, weft_extent, weft_layout, weft_guard, weft_raised, weft_memory, &",
        "    weft_processor",
        *(f"  public :: {spelling.array(*kind)}" for kind in kinds),
        *([f"  public :: weft_over, weft_pointer, {name}_release"] if kinds else []),
        *(f"  public :: {name}_{spelling.name(entry.name)}" for entry in entries),
        *(f"  public :: {name}_{kind.name}_{each.name}" for kind, each in over),
        "",
        _ERROR,
        *(_type(dtype, rank) for dtype, rank in kinds),
        *(_generic("weft_over", makers) if kinds else []),
        *(_generic("weft_pointer", [f"{spelling.array(*kind)}_pointer" for kind in kinds]) if kinds else []),
        *(_generic(f"{name}_release", [f"{spelling.array(*kind)}_release" for kind in kinds]) if kinds else []),
        "  interface",
        f"    subroutine {name}_set_threads(count) bind(c, name='{name}_set_threads')",
        "      import :: c_int",
        "      integer(c_int), value :: count",
        "    end subroutine",
        f"    subroutine free_memory(memory) bind(c, name='{name}_free')",
        "      import :: c_ptr",
        "      type(c_ptr), value :: memory",
        "    end subroutine",
        *(_accessor(name, kind, each) for kind, each in over),
        *(_interface(name, entry) for entry in entries),
        "  end interface",
        "",
        "contains",
        "",
        _MESSAGE,
        *(_helpers(dtype, rank) for dtype, rank in kinds),
        f"end module {name}",
        "",
    ]
    return "\n".join(parts)


def _type(dtype: DType, rank: int) -> str:
    return f"""  type, bind(c) :: {spelling.array(dtype, rank)}
    type(c_ptr) :: data = c_null_ptr
    integer(c_int64_t) :: extent({rank}) = 0
    integer(c_int64_t) :: stride({rank}) = 0
    type(c_ptr) :: memory = c_null_ptr
  end type
"""


def _generic(name: str, procedures: Sequence[str]) -> list[str]:
    return [f"  interface {name}", *(f"    module procedure {each}" for each in procedures), "  end interface", ""]


def _interface(module: str, entry: Entry) -> str:
    declared, names, imported = [], [], {"c_int", "weft_error"}
    for argument in entry.interface.arguments:
        name = spelling.name(argument.name)
        names.append(name)
        if isinstance(argument, FunctionArgument):
            imported.add("c_funptr")
            declared.append(f"type(c_funptr), value :: {name}")
        elif isinstance(argument, HandleArgument):
            imported.add("c_ptr")
            declared.append(f"type(c_ptr), value :: {name}")
        elif isinstance(argument, ArrayArgument):
            kind = spelling.array(argument.dtype, argument.rank)
            imported.add(kind)
            declared.append(f"type({kind}), intent(in) :: {name}")
        else:
            imported.add(_kind(argument.type.dtype))
            declared.append(f"{_fortran(argument)}, value :: {name}")
    for result in entry.interface.results:
        names.append(result.name)
        if result.kind is not None:
            kind = "type(c_ptr)"
            imported.add("c_ptr")
        elif result.rank is None:
            kind = spelling.FORTRAN_TYPES[result.type.dtype]
            imported.add(_kind(result.type.dtype))
        else:
            imported.add(spelling.array(result.type.dtype, result.rank))
            kind = f"type({spelling.array(result.type.dtype, result.rank)})"
        declared.append(f"{kind}, intent(out) :: {result.name}")
    title = f"{module}_{spelling.name(entry.name)}"
    arguments = ", &\n        ".join((*names, "error"))
    lines = [
        f"    function {title}( &\n        {arguments}) &\n        bind(c, name='{title}') result(status)",
        *(f"      import :: {each}" for each in sorted(imported)),
        *(f"      {each}" for each in declared),
        "      type(weft_error), intent(out) :: error",
        "      integer(c_int) :: status",
        "    end function",
    ]
    return "\n".join(lines)


_C_KINDS = {
    "int": "integer(c_int)",
    "int64_t": "integer(c_int64_t)",
    "double": "real(c_double)",
    "bool": "logical(c_bool)",
    "uint8_t": "integer(c_int8_t)",
    "char": "character(kind=c_char)",
}


def _accessor(module: str, kind: Handle, accessor: Accessor) -> str:
    """An accessor of handles, which are c_ptr here; texts end with c_null_char where C wants a zero."""
    title = f"{module}_{kind.name}_{accessor.name}"
    declared = []
    for of, name in accessor.parameters:
        item = of.removeprefix("const ").removesuffix("*").strip()
        if not of.endswith("*"):
            declared.append(f"{_C_KINDS[item]}, value :: {name}")
        elif item not in _C_KINDS:
            declared.append(f"type(c_ptr), value :: {name}")
        elif of.startswith("const ") or item == "char":
            intent = "in" if of.startswith("const ") else "inout"
            declared.append(f"{_C_KINDS[item]}, intent({intent}) :: {name}(*)")
        else:
            declared.append(f"{_C_KINDS[item]}, intent(out) :: {name}")
    names = ", &\n        ".join(name for _, name in accessor.parameters)
    what = "subroutine" if accessor.returns == "void" else "function"
    gives = "" if accessor.returns == "void" else " result(found)"
    returned = "type(c_ptr)" if accessor.returns.endswith("*") else _C_KINDS.get(accessor.returns, "")
    lines = [
        f"    {what} {title}( &\n        {names}) &\n        bind(c, name='{title}'){gives}",
        "      import :: c_ptr, c_int, c_int64_t, c_int8_t, c_double, c_bool, c_char",
        *(f"      {each}" for each in declared),
        *([f"      {returned} :: found"] if returned else []),
        f"    end {what}",
    ]
    return "\n".join(lines)


def _kind(dtype: DType) -> str:
    return spelling.FORTRAN_TYPES[dtype].partition("(")[2].rstrip(")")


def _fortran(argument: ScalarArgument) -> str:
    # A complex number passed by value is a struct of two numbers for C: the same on every machine that has both.
    return spelling.FORTRAN_TYPES[argument.type.dtype]


def _helpers(dtype: DType, rank: int) -> str:
    """An array over one of Fortran's, a pointer to one that came back, and its end."""
    kind, item = spelling.array(dtype, rank), spelling.FORTRAN_TYPES[dtype]
    colons = ", ".join([":"] * rank)
    backwards = ", ".join(f"int(size(given, {rank - axis}), c_int64_t)" for axis in range(rank))
    shape = ", ".join(f"array%extent({rank - axis})" for axis in range(rank))
    strides = "".join(
        f"\n    array%stride({axis}) = array%stride({axis + 1}) * array%extent({axis + 1})"
        for axis in range(rank - 1, 0, -1)
    )
    return f"""  !> The elements of a Fortran array, which must live as long as this is used.
  function {kind}_over(given) result(array)
    {item}, intent(in), target, contiguous :: given({colons})
    type({kind}) :: array
    array%data = c_loc(given)
    array%extent = [{backwards}]
    array%stride({rank}) = 1{strides}
  end function

  !> A pointer to the elements of an array that a function gave back, in C order.
  subroutine {kind}_pointer(array, elements)
    type({kind}), intent(in) :: array
    {item}, pointer, intent(out) :: elements({colons})
    call c_f_pointer(array%data, elements, [{shape}])
  end subroutine

  !> Frees an array that a function gave back.
  subroutine {kind}_release(array)
    type({kind}), intent(inout) :: array
    call free_memory(array%memory)
    array%data = c_null_ptr
    array%memory = c_null_ptr
  end subroutine
"""
