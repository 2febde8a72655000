"""Functions of plain Python for C hosts.  In: functions whose hints say all types; out: their interface, and C over the
run time without Python (plain/native/hosted.c).

    f(words: list[str]) -> dict[str, list[int]]
        -->   int m_f(const weft_list_str *words, weft_dict_str_list_int **result, weft_error *error)

Types are inferred as elsewhere, and must be what the hints say: handles have no place for others. What would call
Python's own functions is refused.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from weft.errors import Span, Unsupported
from weft.frontend.hints import ArrayHint, DTypeHint, array_by_use, extents_of
from weft.frontend.source import load
from weft.hosts import functions, hosted_objects, plain_functions, spelling, typed
from weft.hosts.arguments import Argument, ArrayArgument, HandleArgument, Interface, Result, ScalarArgument
from weft.hosts.c_header import Entry, parameters
from weft.hosts.handles import handle_of_hint
from weft.hosts.hint_samples import NoSample
from weft.hosts.shapes import constraints
from weft.ir.types import FLOAT, INT, PYBOOL, DType, ScalarType
from weft.plain.compiling import Front, front
from weft.plain.runtime import expanded
from weft.plain.types import DTYPES, Node
from weft.records import dataclass

_SCALARS: Final[Mapping[Any, tuple[ScalarType, str]]] = {int: (INT, "i"), float: (FLOAT, "d"), bool: (PYBOOL, "b")}
_TAGS: Final = {
    DType.BOOL: "bool", DType.I8: "int8", DType.I16: "int16", DType.I32: "int32", DType.I64: "int64",
    DType.U8: "uint8", DType.U16: "uint16", DType.U32: "uint32", DType.F32: "float32", DType.F64: "float64",
}  # fmt: skip
#: Arguments and results, as native/hosted_calls.c has room for.
_MOST: Final = 32
_REMEDY: Final = "take and return numbers, strings, arrays, and lists, dicts, sets or tuples of these"
#: Functions of the run time that are Python's own.
_PYTHONS: Final = re.compile(r"\bwp_(call_\w+|random\w*|draw_\w+|numpy_\w+|\w+_python|array_scatter)\((.*)\)")
#: What writes into arrays.
_WRITES: Final = ("wp_touch", "wp_array_assign", "wp_array_fill", "wp_array_binary")
_CALLED: Final = {
    "call_python": "a function of Python's libraries",
    "call_method": "a method that only Python has",
    "call_numpy": "a function of NumPy",
    "random": "random numbers",
    "draw": "NumPy's random numbers",
    "numpy": "a function of NumPy for single numbers",
}


@dataclass(frozen=True)
class HostedFunction:
    """A function as plain Python for a C host."""

    name: str
    plain: types.FunctionType
    front: Front
    interface: Interface
    span: Span

    @property
    def entry(self) -> Entry:
        title = (inspect.getdoc(self.plain) or "").partition("\n")[0]
        return Entry(self.name, title, self.span.line, self.interface)

    @property
    def signature(self) -> str:
        return self.front.signature


def goes_first(function: Any, known: Mapping[str, Any]) -> bool:
    """Whether `weft.jit` would take such calls for plain Python at once."""
    plain = function.py_func
    if any(functions.is_callable(hint) for hint in functions.hints_of(plain).values()):
        return False  # a pointer to a function of the host's
    try:
        return plain_functions.goes_first(plain, load(plain).tree, plain_functions.samples(plain, known))
    except (NoSample, Unsupported):
        return False


def has_containers(function: Any) -> bool:
    """Whether a parameter is a container that is no list of numbers: the compiler of arrays has little to say of it."""
    kinds = [handle_of_hint(hint) for hint in functions.hints_of(function.py_func).values()]
    return any(kind is not None and (kind.form not in ("list", "rows") or kind.item == "str") for kind in kinds)


def made(function: Any, known: Mapping[str, Any]) -> HostedFunction:
    """A function for C; `Unsupported` if it has no such form, NoSample if its hints say too little."""
    plain = function.py_func
    span = load(plain).span(load(plain).tree)
    for name, parameter in inspect.signature(plain).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise Unsupported(span, f"its parameter {name} takes any number of arguments", "take a list or a dict")
    if constraints(extents_of(plain), span).tests:
        reason = "its hints say sizes that depend on each other, which are tested for functions over arrays alone"
        raise Unsupported(span, reason, "write `:` for the sizes, and test them in the function")
    samples = plain_functions.samples(plain, known)
    found = front(plain, samples, hosted=True)
    _refuse_python(found, span)
    arguments = tuple(_arguments(plain, found, span))
    results = tuple(_results(plain, found, span))
    if len(arguments) + len(results) > _MOST:
        raise Unsupported(span, f"it has more than {_MOST} arguments and results", "put some of them into a list")
    return HostedFunction(plain.__name__, plain, found, Interface(arguments, (), results, (), 0), span)


def is_pythons(name: str) -> bool:
    """Whether a function of the run time is there with Python alone."""
    return _PYTHONS.match(f"{name}()") is not None


def _refuse_python(found: Front, span: Span) -> None:
    if found.hidden:
        reason = "it reads a variable of the module, which a C host does not have"
        raise Unsupported(span, reason, "take it as an argument, or make it inside the function")
    for row in found.source.splitlines():
        called = _PYTHONS.search(row)
        if called is None:
            continue
        numbers = re.findall(r"\b\d+\b", called[2])
        line = int(numbers[-1]) if numbers and int(numbers[-1]) > 0 else span.line
        kind = next((told for name, told in _CALLED.items() if called[1].startswith(name)), "an operation of Python's")
        where = Span(span.file, line, 0, line, 0)
        name = re.match(r'"(\w+)"', called[2])
        told = f"{kind} ({name[1]})" if name else kind
        raise Unsupported(where, f"it needs {told}, which a C host does not have", "write it in plain Python")


def _arguments(plain: types.FunctionType, found: Front, span: Span) -> Iterator[Argument]:
    hints = inspect.get_annotations(plain, eval_str=True)
    for name in inspect.signature(plain).parameters:
        node = found.root.locals[name].root()
        by_use = array_by_use(plain, name, hints.get(name))
        hint = hints[name] if by_use is None else ArrayHint(by_use.dtype, (None,) * by_use.rank)
        told = _hint_of(node)
        if isinstance(hint, DTypeHint) or hint in _SCALARS:
            of = ScalarType(hint.dtype) if isinstance(hint, DTypeHint) else _SCALARS[hint][0]
            yield ScalarArgument(name, of, 0)
            continue
        if isinstance(hint, ArrayHint):
            is_written = any(f"{name}(" in found.source for name in _WRITES)  # this array, or another one
            yield ArrayArgument(name, hint.dtype, len(hint.shape), is_written, 0)
            continue
        kind = handle_of_hint(hint)
        if kind is None:
            raise Unsupported(span, f"the argument {name}: {_spelled(hint)} has no form in C", _REMEDY)
        if told is None or handle_of_hint(told) != kind:
            reason = f"{name} is {_spelled(hint)} by its hint, and gets {node} in the function"
            raise Unsupported(span, reason, "let it hold what its hint says, and nothing else", {name: str(node)})
        is_written = _is_written(node)
        yield HandleArgument(name, kind, (), is_written, is_written)


def _results(plain: types.FunctionType, found: Front, span: Span) -> Iterator[Result]:
    node = found.root.result.root()
    hint = _hint_of(node)
    if hint is None:  # an empty container is returned, or a value of several kinds
        hint = inspect.get_annotations(plain, eval_str=True).get("return")
        if hint is None:
            reason = f"it returns {node}: C has one kind of result"
            raise Unsupported(span, reason, "return one kind of value, and say it: -> list[int]")
    if hint in (None, type(None)):
        return
    inner = typing.get_args(hint)
    many = typing.get_origin(hint) is tuple and Ellipsis not in inner and inner
    for place, part in enumerate(inner if many else (hint,)):
        name = f"result_{place}" if many and len(inner) > 1 else "result"
        if isinstance(part, DTypeHint) or part in _SCALARS:
            of = ScalarType(part.dtype) if isinstance(part, DTypeHint) else _SCALARS[part][0]
            yield Result(name, of, None, ())
        elif isinstance(part, ArrayHint):
            yield Result(name, ScalarType(part.dtype), len(part.shape), ())
        else:
            kind = handle_of_hint(part)
            if kind is None and type(None) in typing.get_args(part):
                remedy = "return an empty container, or a number that stands for None"
                raise Unsupported(span, "it returns None on some ways, and something else on others", remedy)
            if kind is None:
                raise Unsupported(span, f"it returns {_spelled(part)}, which has no form in C", _REMEDY)
            yield Result(name, INT, None, (), kind)


def _hint_of(node: Node) -> Any:
    try:
        return typed.of_node(node)
    except typed.NoHint:
        return None


def _spelled(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) and not typing.get_args(hint) else str(hint)


def _is_written(node: Node) -> bool:
    """Whether something that an argument holds may be changed."""
    return any(head.written or any(_is_written(part.root()) for part in head.parts) for head in node)


# --- C --------------------------------------------------------------------------------------------------------------


def runtime() -> str:
    """The run time without Python, for all functions of a library."""
    return expanded('#include "hosted.c"\n')


def kernel(function: HostedFunction, prefix: str) -> str:
    """The C of a function; its names are the library's own."""
    own = spelling.name(function.name)
    text = expanded(function.front.source)
    text = text.replace("weft_version", f"{prefix}_version_{own}").replace("weft_setup", f"{prefix}_setup_{own}")
    return apart(text, prefix)


def apart(text: str, prefix: str) -> str:
    """C whose names of the run time, and of Python's functions, belong to this library alone."""
    return re.sub(r"\b(_?Py[A-Z_]\w*|_Py_\w+|wp_\w+)\b", rf"{prefix}_own_\1", text)


def entry_function(function: HostedFunction, prefix: str) -> str:
    """The tables of a function, and what the host calls."""
    own, interface = spelling.name(function.name), function.interface
    version, setup = f"{prefix}_version_{own}", f"{prefix}_setup_{own}"
    file = spelling.quoted(function.span.file.replace("\\", "/").rsplit("/", 1)[-1])
    taken = [_slot(each.name, *_of_argument(each)) for each in interface.arguments]
    given = [_slot(each.name, *_of_result(each)) for each in interface.results]
    told = f"{spelling.quoted(function.name)}, {file}, {function.span.line}, &{version}, {setup}"
    counts = f"{len(taken)}, {len(given)}, arguments_{own}, given_{own}"
    tables = [
        hosted_objects.table(function.front, own),
        f"static const hosted_slot arguments_{own}[] = {{{', '.join(taken) or '{0}'}}};",
        f"static const hosted_slot given_{own}[] = {{{', '.join(given) or '{0}'}}};",
        f"extern wp_version {version};\nextern void {setup}(void **);\nstatic int ready_{own};",
        f"static const hosted_function function_{own} = {{{told}, objects_{own}, &ready_{own}, {counts}}};",
    ]
    words = [_word(each) for each in interface.arguments]
    places = ", ".join(result.name for result in interface.results) or "NULL"
    body = [
        f"HOST_API int {prefix}_{own}({', '.join(parameters(function.entry))})",
        "{",
        f"    int64_t given[] = {{{', '.join(words) or '0'}}};",
        f"    void *const results[] = {{{places}}};",
        *_arrays(interface.arguments, function, file),
        f"    return hosted_call(&function_{own}, given, results, error);",
        "}",
        "",
    ]
    return "\n".join((*tables, *body))


def _slot(name: str, what: str, kind: str, changed: bool, tag: str, size: int, rank: int) -> str:
    return f"{{'{what}', {spelling.quoted(name)}, {kind}, {int(changed)}, {tag}, {size}, {rank}}}"


def _of_argument(argument: Argument) -> tuple[str, str, bool, str, int, int]:
    if isinstance(argument, HandleArgument):
        return "h", f"&weft_kind_{argument.kind.name}", argument.changed, "0", 0, 0
    if isinstance(argument, ArrayArgument):
        return "a", "NULL", False, _tag(argument.dtype), argument.dtype.size, argument.rank
    assert isinstance(argument, ScalarArgument)
    return _of_scalar(argument.type)


def _of_result(result: Result) -> tuple[str, str, bool, str, int, int]:
    if result.kind is not None:
        return "h", f"&weft_kind_{result.kind.name}", False, "0", 0, 0
    if result.rank is not None:
        return "a", "NULL", False, _tag(result.type.dtype), result.type.dtype.size, result.rank
    return _of_scalar(result.type)


def _of_scalar(of: ScalarType) -> tuple[str, str, bool, str, int, int]:
    letter = next((letter for known, letter in _SCALARS.values() if known == of), None)
    if letter is not None:
        return letter, "NULL", False, "0", 8, 0
    return "n", "NULL", False, _tag(of.dtype), of.dtype.size, 0


def _tag(dtype: DType) -> str:
    return f"WP_NP + {DTYPES.index(_TAGS[dtype])}"


def _word(argument: Argument) -> str:
    name = spelling.name(argument.name)
    if not isinstance(argument, ScalarArgument):
        return f"(int64_t)(uintptr_t){name}"
    return f"bits_of((double){name})" if argument.type.dtype.is_float else f"(int64_t){name}"


def _arrays(arguments: Sequence[Argument], function: HostedFunction, file: str) -> Iterator[str]:
    """Tests of arrays, whose structs are looked at as others are."""
    name = spelling.quoted(function.name)
    for at, argument in enumerate(arguments):
        if isinstance(argument, ArrayArgument):
            words = 1 + 2 * argument.rank
            told = f"{name}, {file}, {spelling.quoted(argument.name)}, {argument.rank}, {argument.dtype.size}"
            told += f", {int(argument.written)}"
            yield f"    int64_t words_{at}[{words}];"
            yield f"    int status_{at} = HOST(own_array)({told}, {spelling.name(argument.name)}, words_{at}, error);"
            yield f"    if (status_{at} != WEFT_OK)\n        return status_{at};"
            yield f"    given[{at}] = (int64_t)(uintptr_t)words_{at};"
