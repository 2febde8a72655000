"""What a compiled version expects of a call and gives back, as plain frozen data.

In: the code generator, which knows how its kernel reads the word block. Out: descriptors that the native dispatcher
turns into C structures and that the interpreted dispatcher walks directly. Nothing here knows the compiler's own types;
`validate` is the one place that decides whether a version is well formed, so both dispatchers refuse the same mistakes.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal, TypeAlias

from weft.records import dataclass

#: The words at the head of every block: return id, exception code, source line, three message values, two reserved.
CONTROL_WORDS: Final = 8

#: Statuses a kernel returns.
STATUS_OK: Final = 0
STATUS_GUARD: Final = 1
STATUS_RAISE: Final = 2
STATUS_INTERRUPTED: Final = 3
STATUS_MEMORY: Final = 4

#: NumPy allows 64 dimensions; one limit for lists and arrays keeps every shape buffer of the core on the stack.
MAX_RANK: Final = 32

PYTHON_SCALARS: Final = ("int", "bool", "float", "complex")
NUMPY_SCALARS: Final = (
    "np.bool", "np.int8", "np.int16", "np.int32", "np.int64", "np.uint8", "np.uint16", "np.uint32", "np.uint64",
    "np.float16", "np.float32", "np.float64", "np.complex64", "np.complex128",
)  # fmt: skip
LIST_KINDS: Final = ("float", "int", "bool", "complex")

ListKind: TypeAlias = Literal["float", "int", "bool", "complex"]


class GuardFailed(Exception):
    """Raised by a Python version that found, before any effect, that it does not apply: plain Python runs instead."""


class Left:
    """What `_miss` answers for a call that it leaves to plain Python: the dispatcher makes it, and remembers that."""

    def __repr__(self) -> str:
        return "LEFT"


LEFT: Final = Left()


# --- what a call must look like ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ArrayParam:
    """An exact `numpy.ndarray` of this type number and rank: native byte order, aligned, strides whole elements.

    The kernel sees one of rank 0 as one of a single element.
    """

    typenum: int
    rank: int
    written: bool = False


@dataclass(frozen=True)
class ListParam:
    """A rectangular nested list whose leaves are exactly of one Python type; copied in, and out again if written."""

    kind: ListKind
    rank: int = 1
    written: bool = False
    changed: bool = False  # the result says what becomes of it


@dataclass(frozen=True)
class ContainerParam:
    """A list, dict or set that holds what its template says (`weft.runtime.templates`); an array for each column.

    `written`: elements of the columns are changed, and copied out; `changed`: the result says what becomes of it.
    """

    template: str
    written: bool = False
    changed: bool = False


@dataclass(frozen=True)
class ScalarParam:
    """A Python scalar of exactly this type, or a NumPy scalar (`np.float32`, ...) of exactly this type."""

    kind: str


@dataclass(frozen=True)
class ConstParam:
    """The very object, or an equal plain value of the same exact type (0.0 and -0.0 differ, so do 1 and True)."""

    value: object


@dataclass(frozen=True)
class SameAsParam:
    """The very object that the earlier parameter `index` is."""

    index: int


@dataclass(frozen=True)
class MemoryParam:
    """The memory that several array arguments lie in, as an array of this type number, and where each of them is in it.

    `layout` says which they are and along which axis of the memory each of their axes is (`weft.runtime.sharing`).
    """

    typenum: int
    layout: str


@dataclass(frozen=True)
class ObjectParam:
    """Any object of exactly this type (of any type when None): the `self` whose attributes are read by AttrParam."""

    type: type | None = None


#: Parts of the path of an AttrParam: what an entry of a dict begins with, the length of a tuple, what an attribute of
#: all items of a list begins with.
KEY, LENGTH, EACH = "@", "#", "*"
#: Whether a dict has no such key.
NOT_KEY = "!"
#: Whether no item of a list has an attribute of its own, behind which its class's would be hidden.
NOT_OWN = "~"


@dataclass(frozen=True)
class AttrParam:
    """The attribute `name` of argument `index`, fetched at each call.

    In a dotted path a number is an item, "@key" the entry of a dict, "#" the length of a tuple, "*name" the list of an
    attribute of all items of a list of different objects of one class. "!key" is True if a dict does not have the key,
    "~name" if no item of a list has the attribute itself. Without a name it is the argument itself.
    """

    index: int
    name: str
    param: DirectParam

    @property
    def parts(self) -> list[str]:
        """The steps of the path."""
        return self.name.split(".") if self.name else []


@dataclass(frozen=True)
class GlobalParam:
    """The value of `name` in a globals dictionary, read at each call (then in its builtins, as Python does)."""

    namespace: dict[str, object]
    name: str
    param: DirectParam


@dataclass(frozen=True)
class CellParam:
    """What a closure cell holds at each call."""

    cell: types.CellType
    param: DirectParam


DirectParam: TypeAlias = (
    ArrayParam | ListParam | ContainerParam | ScalarParam | ConstParam | SameAsParam | MemoryParam | ObjectParam
)
HiddenParam: TypeAlias = AttrParam | GlobalParam | CellParam


FactKind: TypeAlias = Literal["entry", "lookup", "attribute", "code", "defaults", "keywords", "cell"]


@dataclass(frozen=True, eq=False)
class Fact:
    """What a version was made from besides its arguments: `owner` has `value` under `name`, nothing if not `present`.

    The kinds are: the entry of a dict; what a class and its bases have in their dicts; what `getattr` gives; the code,
    the defaults and the keyword defaults of a function; the contents of a cell.
    """

    kind: FactKind
    owner: Any
    name: str
    value: Any
    present: bool = True


def facts_of(found: Iterable[Any]) -> tuple[Fact, ...]:
    """The facts among what a build has read (frontend/reads.py): in a process the version of Python is none."""
    return tuple(Fact(r.kind, r.owner, r.name, r.value, r.present) for r in found if r.kind != "python")


# --- what a call gives back ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NoneResult:
    """None."""


@dataclass(frozen=True)
class ConstResult:
    """The same object at every call."""

    value: object


@dataclass(frozen=True)
class ScalarResult:
    """A scalar of the kinds of ScalarParam, from the word (complex: two words) at `offset`."""

    kind: str
    offset: int


@dataclass(frozen=True)
class ArrayResult:
    """The array that the kernel made by `new_array` in the word at `offset`."""

    offset: int


@dataclass(frozen=True)
class ArgResult:
    """The very object that parameter `index` (call parameters, then hidden ones) is."""

    index: int


@dataclass(frozen=True)
class ViewResult:
    """A view of array parameter `index`, or of the new array in slot s if `index` is -1-s: data, shape, strides."""

    index: int
    offset: int
    rank: int


@dataclass(frozen=True)
class ListResult:
    """The (nested) list of a new array's elements; `strong`: of NumPy scalars, not of Python's numbers."""

    array: ArrayResult
    strong: bool = False


@dataclass(frozen=True)
class TupleResult:
    """A tuple of results; what `kind` (a class of named tuples, a maker of containers) makes of them, if given."""

    items: tuple[Result, ...]
    kind: Callable[..., object] | None = None


@dataclass(frozen=True)
class ListOfResult:
    """A list of results."""

    items: tuple[Result, ...]


Result: TypeAlias = (
    NoneResult
    | ConstResult
    | ScalarResult
    | ArrayResult
    | ArgResult
    | ViewResult
    | ListResult
    | TupleResult
    | ListOfResult
)


# --- the callable and its versions ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class ExceptionSpec:
    """One entry of a kernel's exception table.

    `message` is a `str.format` template over the three message words, or None for an exception without arguments, or a
    tuple that is the exception's arguments as they are.
    """

    type: type[BaseException]
    message: str | tuple[object, ...] | None = None


@dataclass(frozen=True)
class SourceLocation:
    """Where the user's function is, so that the traceback of a kernel's exception shows the user's line; `others` are
    the files of functions that were inlined from elsewhere.
    """

    file: str
    function: str
    others: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        return (self.file, *self.others)


@dataclass(frozen=True, eq=False)
class Version:
    """One specialisation of a function: its guards, its code and how to read its results.

    `function` is the address of a native kernel, or a Python callable that takes the values of all parameters (the
    call's, then the hidden ones) and returns the result itself; `words` is the length of the whole block (unused for a
    callable); `keepalive` is held as long as the version is. When the work of a kernel is bounded by the sizes of its
    arrays, `hold_below` says below how many elements in all the interpreter lock is kept (and regions run serially):
    giving it up and taking it again costs as much as some hundred additions. 0 always gives it up. `exact`: Python's
    own results are the same to the last bit, so that whichever is faster may run.
    """

    params: tuple[DirectParam, ...]
    returns: tuple[Result, ...]
    function: int | Callable[..., object]
    words: int = CONTROL_WORDS
    hidden: tuple[HiddenParam, ...] = ()
    facts: tuple[Fact, ...] = ()
    exceptions: tuple[ExceptionSpec, ...] = ()
    location: SourceLocation | None = None
    keepalive: object = None
    hold_below: int = 0
    exact: bool = False

    @property
    def native(self) -> bool:
        return isinstance(self.function, int)


@dataclass(frozen=True)
class Profile:
    """What is known of the calls of a version: how many its own guards refused, how often each choice by size took its
    first and its second branch (two numbers a choice), and the words of the parameters of its last call. Nanoseconds of
    a native and of a plain call, if plain ones have taken its place."""

    refused: int
    choices: tuple[int, ...] = ()
    last: tuple[int, ...] = ()
    native_time: int = 0
    plain_time: int = 0


class _NoDefault:
    def __repr__(self) -> str:
        return "NO_DEFAULT"


NO_DEFAULT: Final = _NoDefault()


@dataclass(frozen=True)
class Signature:
    """The parameters of the user's function in order; a variadic function (`*args`, `**kwargs`) is always a miss."""

    names: tuple[str, ...]
    defaults: tuple[object, ...] = ()
    positional_only: int = 0
    keyword_only: int = 0
    variadic: bool = False

    def __post_init__(self) -> None:
        if not self.defaults and self.names:
            object.__setattr__(self, "defaults", (NO_DEFAULT,) * len(self.names))
        if len(self.defaults) != len(self.names):
            raise TypeError("a signature needs one default (or NO_DEFAULT) for each name")
        if (
            self.positional_only < 0
            or self.keyword_only < 0
            or self.positional_only + self.keyword_only > len(self.names)
        ):
            raise TypeError("a signature cannot have more positional-only and keyword-only parameters than names")

    @staticmethod
    def of(function: Callable[..., object]) -> Signature:
        """The signature of a Python function, its decorators (`__wrapped__`) not followed."""
        parameters = list(inspect.signature(function, follow_wrapped=False).parameters.values())
        variadic = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
        plain = [parameter for parameter in parameters if parameter.kind not in variadic]
        return Signature(
            names=tuple(parameter.name for parameter in plain),
            defaults=tuple(NO_DEFAULT if p.default is inspect.Parameter.empty else p.default for p in plain),
            positional_only=sum(p.kind is inspect.Parameter.POSITIONAL_ONLY for p in plain),
            keyword_only=sum(p.kind is inspect.Parameter.KEYWORD_ONLY for p in plain),
            variadic=len(plain) != len(parameters),
        )


# --- layout and validation -----------------------------------------------------------------------------------------


def words_of(param: DirectParam | HiddenParam) -> int:
    """How many words of the block a parameter takes."""
    if isinstance(param, (AttrParam, GlobalParam, CellParam)):
        return words_of(param.param)
    if isinstance(param, (ArrayParam, ListParam)):
        return 1 + 2 * max(param.rank, 1)
    if isinstance(param, ContainerParam):
        from weft.runtime import templates  # loads NumPy, which versions of plain Python do without

        return templates.words(param.template)
    if isinstance(param, MemoryParam):
        from weft.runtime import sharing

        return sharing.parse(param.layout).words
    if isinstance(param, ScalarParam):
        return 2 if param.kind in ("complex", "np.complex64", "np.complex128") else 1
    return 0


def result_base(params: tuple[DirectParam, ...], hidden: tuple[HiddenParam, ...] = ()) -> int:
    """The offset of the first result word: control words, then the words of every parameter."""
    return CONTROL_WORDS + sum(words_of(param) for param in params) + sum(words_of(param) for param in hidden)


def array_slots(results: tuple[Result, ...]) -> tuple[int, ...]:
    """The words that may hold a new array, in ascending order: whatever path was taken, each is released once."""
    slots: set[int] = set()
    for result in _leaves(results):
        if isinstance(result, ArrayResult):
            slots.add(result.offset)
        elif isinstance(result, ListResult):
            slots.add(result.array.offset)
        elif isinstance(result, ViewResult) and result.index < 0:
            slots.add(-1 - result.index)
    return tuple(sorted(slots))


def _leaves(results: tuple[Result, ...]) -> Iterator[Result]:
    for result in results:
        if isinstance(result, (TupleResult, ListOfResult)):
            yield from _leaves(result.items)
        else:
            yield result


def validate(version: Version, signature: Signature) -> None:
    """TypeError, saying which field is wrong, unless the version can be installed for a function of this signature."""
    if len(version.params) != len(signature.names):
        raise TypeError(
            f"the version describes {len(version.params)} parameters, the function has {len(signature.names)}"
        )
    if not isinstance(version.function, int) and not callable(version.function):
        raise TypeError("the code of a version is an address or a Python callable")
    if isinstance(version.function, int) and version.function <= 0:
        raise TypeError("the address of a kernel cannot be zero or negative")
    for position, param in enumerate(version.params):
        _validate_param(param, position)
    for position, hidden in enumerate(version.hidden, len(version.params)):
        _validate_hidden(hidden, len(version.params), position)
    if not version.native:
        return
    base = result_base(version.params, version.hidden)
    if version.words < base:
        raise TypeError(f"the parameters take {base} words, the block has {version.words}")
    if not version.returns:
        raise TypeError("a native version needs at least one result")
    for result in _leaves(version.returns):
        _validate_result(result, version, base)
    for entry in version.exceptions:
        if not isinstance(entry, ExceptionSpec) or not issubclass(entry.type, BaseException):
            raise TypeError(f"not an entry of an exception table: {entry!r}")


def _validate_param(param: DirectParam, position: int) -> None:
    if isinstance(param, (ArrayParam, ListParam)):
        lowest = 0 if isinstance(param, ArrayParam) else 1
        if not lowest <= param.rank <= MAX_RANK:
            raise TypeError(f"a rank from {lowest} to {MAX_RANK} is needed, not {param.rank}")
        if isinstance(param, ListParam) and param.kind not in LIST_KINDS:
            raise TypeError(f"a list of {param.kind!r} cannot be passed; kinds: {', '.join(LIST_KINDS)}")
        if isinstance(param, ArrayParam) and not (0 <= param.typenum <= 16 or param.typenum == 23):
            raise TypeError(f"arrays of NumPy type number {param.typenum} are not plain numbers")
    elif isinstance(param, ContainerParam):
        from weft.runtime import templates

        try:
            templates.words(param.template)
        except ValueError as problem:
            raise TypeError(str(problem)) from None
        if param.written and param.template[0] not in "[<":
            raise TypeError("only lists are copied out")
    elif isinstance(param, ScalarParam):
        if param.kind not in PYTHON_SCALARS and param.kind not in NUMPY_SCALARS:
            raise TypeError(f"unknown scalar kind {param.kind!r}")
    elif isinstance(param, SameAsParam):
        if not 0 <= param.index < position:
            raise TypeError(f"there is no earlier parameter {param.index} to be the same as")
    elif isinstance(param, ObjectParam):
        if param.type is not None and not isinstance(param.type, type):
            raise TypeError(f"not a type: {param.type!r}")
    elif isinstance(param, MemoryParam):
        from weft.runtime import sharing

        layout = sharing.parse(param.layout)
        if not all(0 <= member.argument < position for member in layout.members):
            raise TypeError(f"the memory of arguments that there are not: {param.layout}")
        if not 1 <= layout.rank <= sharing.MOST_AXES or len(layout.members) > sharing.MOST_MEMBERS:
            raise TypeError(f"too many axes or arguments in one memory: {param.layout}")
    elif not isinstance(param, ConstParam):
        raise TypeError(f"not a parameter descriptor: {param!r}")


def _validate_hidden(hidden: HiddenParam, arguments: int, position: int) -> None:
    if isinstance(hidden, AttrParam):
        if not 0 <= hidden.index < arguments:
            raise TypeError(f"there is no argument {hidden.index} to read {hidden.name!r} from")
        parts = [part.lstrip(KEY + EACH + NOT_OWN + NOT_KEY) for part in hidden.parts]
        if not all(part.isidentifier() or part.isdigit() or part == LENGTH for part in parts):
            raise TypeError(f"not an attribute name: {hidden.name!r}")
    elif isinstance(hidden, GlobalParam):
        if type(hidden.namespace) is not dict:
            raise TypeError("a namespace must be a plain dictionary")
    elif not isinstance(hidden, CellParam) or not isinstance(hidden.cell, types.CellType):
        raise TypeError(f"not a hidden parameter: {hidden!r}")
    _validate_param(hidden.param, position)


def _validate_result(result: Result, version: Version, base: int) -> None:
    parameters = (*version.params, *(hidden.param for hidden in version.hidden))
    first, length = base, 0
    if isinstance(result, ScalarResult):
        if result.kind not in PYTHON_SCALARS and result.kind not in NUMPY_SCALARS:
            raise TypeError(f"unknown scalar kind {result.kind!r}")
        first, length = result.offset, words_of(ScalarParam(result.kind))
    elif isinstance(result, ArrayResult):
        first, length = result.offset, 1
    elif isinstance(result, ListResult):
        first, length = result.array.offset, 1
    elif isinstance(result, ViewResult):
        if not 0 <= result.rank <= MAX_RANK:
            raise TypeError(f"a rank from 0 to {MAX_RANK} is needed, not {result.rank}")
        if result.index >= len(parameters) or (
            result.index >= 0 and not isinstance(_resolved(parameters, result.index), (ArrayParam, MemoryParam))
        ):
            raise TypeError(f"a view needs an array, parameter {result.index} is none")
        if result.index < 0 and not base <= -1 - result.index < version.words:
            raise TypeError(f"slot {-1 - result.index} of a view's base lies outside the result words")
        first, length = result.offset, 1 + 2 * result.rank
    elif isinstance(result, ArgResult):
        if not 0 <= result.index < len(parameters):
            raise TypeError(f"there is no parameter {result.index} to return")
    elif not isinstance(result, (NoneResult, ConstResult)):
        raise TypeError(f"not a result descriptor: {result!r}")
    if first < base or first + length > version.words:
        raise TypeError(f"result words {first}..{first + length} lie outside {base}..{version.words}: {result!r}")


def _resolved(parameters: tuple[DirectParam, ...], index: int) -> DirectParam:
    """The descriptor behind a chain of SameAsParam, each of which names an earlier parameter."""
    while isinstance(param := parameters[index], SameAsParam):
        index = param.index
    return param
