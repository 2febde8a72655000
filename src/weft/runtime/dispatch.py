"""Which dispatcher this machine has, and versions in the form it reads.

In: `Version` descriptors and kernels as shared objects. Out: `dispatcher_type()`, the class a compiled function derives
from: the native core where a C compiler, a 64-bit POSIX system and an interpreter with a global lock are found, the
dispatcher in plain Python everywhere else. The choice is made here and nowhere else.
"""

from __future__ import annotations

import ast
import ctypes
import functools
import linecache
import os
import re
import sys
import sysconfig
import types
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias, get_args

import numpy as np

from weft import steps
from weft.errors import CompileError, CoreWarning, exception_argument
from weft.forking import Lock, working
from weft.records import dataclass
from weft.runtime import (
    blas,
    cache,
    containers,
    foreign,
    interpreted,
    machine,
    routines,
    sharing,
    templates,
    texts,
    threads,
    toolchain,
    trusted,
)
from weft.runtime.descriptor import (
    EACH,
    KEY,
    LEFT,
    LENGTH,
    LIST_KINDS,
    NO_DEFAULT,
    NOT_KEY,
    NOT_OWN,
    NUMPY_SCALARS,
    PYTHON_SCALARS,
    ArgResult,
    ArrayParam,
    ArrayResult,
    AttrParam,
    CellParam,
    ConstParam,
    ConstResult,
    ContainerParam,
    DirectParam,
    ExceptionSpec,
    Fact,
    FactKind,
    GlobalParam,
    GuardFailed,
    HiddenParam,
    ListOfResult,
    ListParam,
    ListResult,
    MemoryParam,
    ObjectParam,
    Profile,
    Result,
    SameAsParam,
    ScalarParam,
    ScalarResult,
    Signature,
    SourceLocation,
    TupleResult,
    Version,
    ViewResult,
    array_slots,
    result_base,
    validate,
    words_of,
)
from weft.standins import same_code

Encoded: TypeAlias = tuple[Any, ...]

_SCALAR_CODES: Final = {kind: code for code, kind in enumerate((*PYTHON_SCALARS, *NUMPY_SCALARS))}
#: A kernel that exports this calls BLAS in the pieces of its regions.
_ALONE: Final = "weft_alone"
_NATIVE_SOURCES: Final = Path(__file__).parent / "native"
_WITHOUT_CORE: Final = "everything runs in weft's slower Python back end; `weft doctor` shows what the compiler said"


# --- the core ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Core:
    """The loaded native core: its library, its Dispatcher type and the BLAS it offers to kernels."""

    library: ctypes.PyDLL
    dispatcher: type
    blas: blas.BlasTable | None
    path: Path

    @property
    def runtime_table(self) -> int:
        """The address of the table that kernels receive."""
        address: int = self.library.weft_runtime_table()
        return address

    @property
    def scratch_kept(self) -> int:
        """Bytes of scratch memory kept for reuse."""
        kept: int = self.library.weft_scratch_kept()
        return kept


_core_lock = Lock()
_core: Core | None = None
_core_problem: str | None = None
_offered: tuple[Path, str] | None = None


def offer_core(path: Path, checksum: str) -> None:
    """A core that was built elsewhere for this very kind of machine: used where no compiler can build one.

    It must be offered before the first compiled function is made, since the choice of the dispatcher is final.
    """
    global _offered
    _offered = path, checksum


def load_core() -> Core | None:
    """The native core, built at the first need on a machine and loaded once a process; None where it cannot be."""
    global _core, _core_problem
    with working(), _core_lock:
        if _core is None and _core_problem is None:
            _core_problem = _why_not_native()
            if _core_problem is None:
                try:
                    _core = _start_core()
                except (CompileError, OSError, RuntimeError, AttributeError) as problem:
                    _core_problem = f"the native core cannot be used: {problem}"
                    # Without a compiler the Python back end is what to expect; with one it is a surprise, and slow.
                    warnings.warn(f"{_core_problem}\n  {_WITHOUT_CORE}", CoreWarning, stacklevel=2)
    return _core


def core_problem() -> str | None:
    """Why `load_core` gave None, in one sentence."""
    return None if load_core() is not None else _core_problem


def core_is_expected() -> bool:
    """Whether this system has everything that the native core needs: if it is missing, something is broken."""
    return _why_not_native() is None


def _why_not_native() -> str | None:
    if os.name != "posix" or ctypes.sizeof(ctypes.c_void_p) != 8:
        return "the native core needs a 64-bit POSIX system"
    if (
        sys.implementation.name != "cpython"
        or sysconfig.get_config_var("Py_GIL_DISABLED")
        or hasattr(sys, "getobjects")
    ):
        return "the native core needs a regular build of CPython with its global lock"
    if toolchain.find() is None and _offered is None:
        return "no C compiler was found"
    return None


def core_source() -> str:
    """The core as one text."""
    return native_source("core.c")


def native_source(main: str) -> str:
    """A file of `native/` with others of them put in the place of their `#include`: each once, or `again`."""
    done: set[str] = set()

    def expand(name: str, again: str | None = None) -> str:
        if name in done and not again:
            return ""
        done.add(name)
        text = (_NATIVE_SOURCES / name).read_text(encoding="utf-8")
        include = r'^#include "([^"]+)"( /\* again \*/)?$'
        return re.sub(include, lambda found: expand(found[1], found[2]), text, flags=re.MULTILINE)

    return expand(main)


def _with_defaults(first: int = 1, *, second: int = 2) -> None:
    """What the core tries out at start how functions are laid out on."""


def _start_core() -> Core:
    compiler = toolchain.find()
    if compiler is not None:
        path = compiler.build_shared(core_source(), flags=("-pthread",), name="weft_core")
        library = load_library(path, ctypes.PyDLL)
    elif _offered is not None:
        path, checksum = _offered
        library = load_library(path, ctypes.PyDLL, checksum)
    else:
        raise OSError("no C compiler was found")
    library.weft_core_start.restype = ctypes.py_object
    library.weft_core_start.argtypes = [ctypes.py_object] * 10
    library.weft_runtime_table.restype = ctypes.c_void_p
    library.weft_scratch_kept.restype = ctypes.c_int64
    library.weft_set_threads.argtypes = [ctypes.c_int64]
    library.weft_set_blas.argtypes = [ctypes.c_int64, ctypes.c_void_p]
    library.weft_set_alone.argtypes = [ctypes.c_void_p]
    library.weft_set_trial_clock.argtypes = [ctypes.c_void_p]
    for name, count in (("weft_change_list", 3), ("weft_change_dict", 4), ("weft_texts", 4)):
        getattr(library, name).restype = ctypes.py_object
        getattr(library, name).argtypes = [ctypes.py_object] * count
    library.weft_set_limits.argtypes = [ctypes.POINTER(ctypes.c_double)]
    array_api = np._core._multiarray_umath._ARRAY_API  # type: ignore[attr-defined]
    number = 1.5
    samples = (number, [number], np.zeros((2, 3)))
    names = ("__builtins__", sys.intern("__func__"))
    dispatcher = library.weft_core_start(
        array_api, *samples, GuardFailed, names[0], LEFT, same_code, _with_defaults, names[1]
    )
    table = blas.find()
    if table is not None:
        addresses = (ctypes.c_void_p * len(table.addresses))(*table.addresses)
        library.weft_set_blas(int(table.ilp64), addresses)
    threads.attach_pool(library.weft_set_threads)
    routines.attach(library)
    found = "" if table is None else table.path
    machine.attach(lambda limits: library.weft_set_limits((ctypes.c_double * len(limits))(*limits)), found)
    return Core(library, dispatcher, table, path)


# --- the dispatcher ------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1)
def dispatcher_type() -> type[interpreted.Dispatcher]:
    """The base class of compiled functions; its interface is that of `interpreted.Dispatcher`."""
    core = load_core()
    return interpreted.Dispatcher if core is None else _native_dispatcher(core.dispatcher)


def _native_dispatcher(base: Any) -> type[interpreted.Dispatcher]:
    class NativeDispatcher(base):  # type: ignore[misc]
        """`interpreted.Dispatcher` with calls, guards and kernels in native code."""

        def __init__(self, signature: Signature) -> None:
            self._signed: list[tuple[object, ...]] = []  # calls that are under way borrow from earlier ones
            self.sign(signature)
            self._own: object = None
            self._installed: list[Version] = []

        def sign(self, signature: Signature) -> None:
            # Keyword names of calls are interned: with interned names here one pointer comparison finds them.
            names = tuple(map(sys.intern, signature.names))
            kinds = (signature.positional_only, signature.keyword_only, signature.variadic)
            super().__init__(names, signature.defaults, NO_DEFAULT, *kinds)
            self._signed.append((names, signature.defaults))
            self.signature = signature

        def watch(self, function: Callable[..., Any]) -> None:
            if isinstance(function, types.FunctionType):
                self._watch(function)
                self._own = function

        def add_version(self, version: Version, generality: int = 0) -> int:
            validate(version, self.signature)
            # The dispatcher itself watches its own function.
            others = tuple(fact for fact in version.facts if fact.owner is not self._own)
            index: int = self._add(encode_version(replace(version, facts=others), generality))
            self._installed.append(version)
            return index

        def clear_versions(self) -> None:
            self._drop_versions()
            self._installed = []

        @property
        def versions(self) -> tuple[Version, ...]:
            return tuple(self._installed)

        @property
        def call_counts(self) -> tuple[int, ...]:
            counts: tuple[int, ...] = self._call_counts()
            return counts

        @property
        def profiles(self) -> tuple[Profile, ...]:
            return tuple(Profile(*found) for found in self._profiles())

        _miss = interpreted.Dispatcher._miss
        _renew = interpreted.Dispatcher._renew

    native: Any = NativeDispatcher
    return native  # type: ignore[no-any-return]


# --- kernels -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kernel:
    """A kernel of a loaded shared object; the library must live as long as the address is used."""

    address: int
    library: ctypes.CDLL
    path: Path


def load_library(path: Path, kind: type[trusted.Library], checksum: str | None = None) -> trusted.Library:
    """Load what a file holds, after it was checked: a file of the cache, or one whose content has the checksum."""
    if checksum is None:
        return cache.library(path, kind)
    return trusted.load(trusted.opened(path), path, checksum, kind)


def load_kernel(path: Path, symbol: str = "kernel", checksum: str | None = None) -> Kernel:
    """Load a shared object, give it the library routines it names and find its kernel; CompileError if that fails."""
    try:
        library = load_library(path, ctypes.CDLL, checksum)
        address = ctypes.cast(getattr(library, symbol), ctypes.c_void_p).value
    except (OSError, AttributeError) as problem:
        raise CompileError(f"a compiled kernel cannot be loaded: {problem}") from None
    if not address:
        raise CompileError(f"the kernel {symbol} has no address")
    routines.bind(library)
    foreign.bind(library)
    if hasattr(library, _ALONE):
        _offer_blas_alone()
    return Kernel(address, library, path)


@functools.lru_cache(maxsize=1)
def _offer_blas_alone() -> None:
    """Kernels whose threads call BLAS each for itself find a library for that from now on, where there is one."""
    core = load_core()
    found = None if core is None or core.blas is None else blas.alone(core.blas)
    if core is not None and found is not None:
        core.library.weft_set_alone((ctypes.c_void_p * len(found.addresses))(*found.addresses))


# --- versions as tuples, in the order of native/version.h ----------------------------------------------------------


def encode_version(version: Version, generality: int = 0) -> Encoded:
    """owner of a native version: it also keeps every object alive that the native structures name."""
    params = (*map(_encode_param, version.params), *map(_encode_hidden, version.hidden))
    address, callable_ = (version.function, None) if isinstance(version.function, int) else (0, version.function)
    return (
        address,
        callable_,
        functools.partial(thrower, version.exceptions, version.location),
        len(version.params),
        max(version.words, result_base(version.params, version.hidden)),
        params,
        tuple(map(_encode_result, version.returns)),
        array_slots(version.returns),
        version.hold_below,
        version,
        generality,
        int(is_repeatable(version)),
        int(version.exact and version.native),
        int(_converts(version)),
        _encode_facts(version.facts),
    )


_FACT_KINDS: Final = {kind: code for code, kind in enumerate(get_args(FactKind))}


def _encode_facts(facts: tuple[Fact, ...]) -> Encoded:
    """owner, kind, name and value (none: there is nothing) of each, those of one owner side by side"""
    ordered = sorted(facts, key=lambda fact: (_FACT_KINDS[fact.kind], id(fact.owner)))
    return tuple(
        (f.owner, _FACT_KINDS[f.kind], sys.intern(f.name), *((f.value,) if f.present else ())) for f in ordered
    )


def _converts(version: Version) -> bool:
    """Whether containers are copied for a call: arguments into columns, or columns into results."""
    params = (*version.params, *(hidden.param for hidden in version.hidden))
    if any(isinstance(param, (ListParam, ContainerParam)) for param in params):
        return True
    if any(isinstance(hidden, AttrParam) and any(map(_is_call, hidden.parts)) for hidden in version.hidden):
        return True
    return any(map(_is_made, version.returns))


def _is_call(part: str) -> bool:
    """Whether a step along a path makes something of all items there."""
    return part.startswith(EACH)


def _is_made(result: Result) -> bool:
    if isinstance(result, (ListResult, ListOfResult)):
        return True
    return isinstance(result, TupleResult) and (result.kind is not None or any(map(_is_made, result.items)))


def is_repeatable(version: Version) -> bool:
    """Whether nothing that a version does can be seen until its result is there: it changes no argument."""
    params = (*version.params, *(hidden.param for hidden in version.hidden))
    if any(getattr(param, "written", False) or getattr(param, "changed", False) for param in params):
        return False
    return not any(map(_changes, version.returns))


def _changes(result: Result) -> bool:
    """Whether making a result also changes arguments."""
    if not isinstance(result, (TupleResult, ListOfResult)):
        return False
    maker = result.kind if isinstance(result, TupleResult) else None
    if maker is containers.with_texts:  # the one that it calls is named by its first argument
        first = result.items[0]
        maker = getattr(containers, str(first.value), _changes) if isinstance(first, ConstResult) else _changes
    if maker is not None and not isinstance(maker, type) and maker not in containers.MAKERS:
        return True
    return any(map(_changes, result.items))


def _encode_param(param: DirectParam) -> Encoded:
    return (0, 0, None, None, *_encode_test(param))


def _encode_part(part: str) -> int | str | tuple[str] | functools.partial[Any] | None:
    """A part of the path of an AttrParam, as fetch_part of native/guards.c takes it."""
    if part == LENGTH:
        return None
    if part.startswith(KEY):
        return (sys.intern(part[1:]),)
    if part.startswith(EACH):
        return functools.partial(steps.watched("read attributes", templates.attribute_of_each), part[1:])
    if part.startswith(NOT_KEY):
        return functools.partial(templates.not_key, part[1:])
    if part.startswith(NOT_OWN):
        return functools.partial(steps.watched("read attributes", templates.not_own), part[1:])
    return int(part) if part.isdigit() else sys.intern(part)


def _encode_hidden(hidden: HiddenParam) -> Encoded:
    if isinstance(hidden, AttrParam):
        return (1, hidden.index, None, tuple(map(_encode_part, hidden.parts)), *_encode_test(hidden.param))
    if isinstance(hidden, GlobalParam):
        return (2, 0, hidden.namespace, sys.intern(hidden.name), *_encode_test(hidden.param))
    if isinstance(hidden, CellParam):
        return (3, 0, hidden.cell, None, *_encode_test(hidden.param))
    raise TypeError(f"not a hidden parameter: {hidden!r}")


def _encode_test(param: DirectParam) -> Encoded:
    """test, code, rank, written, log2 of the item size, words, object"""
    words = words_of(param)
    if isinstance(param, ArrayParam):
        shift = _item_size(param.typenum).bit_length() - 1
        return (0, param.typenum, param.rank, int(param.written), shift, words, None)
    if isinstance(param, ListParam):
        change = 2 if param.changed else int(param.written)
        return (1, LIST_KINDS.index(param.kind), param.rank, change, 0, words, None)
    if isinstance(param, ScalarParam):
        return (2, _SCALAR_CODES[param.kind], 0, 0, 0, words, interpreted.scalar_type(param.kind))
    if isinstance(param, ConstParam):
        return (3, 0, 0, 0, 0, words, param.value)
    if isinstance(param, SameAsParam):
        return (4, param.index, 0, 0, 0, words, None)
    if isinstance(param, MemoryParam):
        shift = _item_size(param.typenum).bit_length() - 1
        rank = sharing.parse(param.layout).rank
        return (9, param.typenum, rank, 0, shift, words, param.layout.encode())
    if isinstance(param, ObjectParam):
        return (5, 0, 0, 0, 0, words, param.type)
    if isinstance(param, ContainerParam):
        change = 2 if param.changed else int(param.written)
        arrays = templates.arrays_of(param.template)
        if arrays is not None:
            shift = _item_size(arrays.typenum).bit_length() - 1
            return (7, arrays.typenum, arrays.rank, change, shift, words, param.template.encode())
        kind = 8 if param.template in texts.TEMPLATES else 6
        return (kind, 0, 1, change, 0, words, param.template.encode())
    raise TypeError(f"not a parameter descriptor: {param!r}")


def _item_size(typenum: int) -> int:
    size = next(np.dtype(code).itemsize for code in np.typecodes["All"] if np.dtype(code).num == typenum)
    if size & (size - 1):
        raise TypeError(f"arrays of NumPy type number {typenum} have items of {size} bytes, which is no power of two")
    return size


def _encode_result(result: Result) -> Encoded:
    """kind, code, offset, rank, object, items"""
    if isinstance(result, ConstResult):
        return (1, 0, 0, 0, result.value, ())
    if isinstance(result, ScalarResult):
        return (2, _SCALAR_CODES[result.kind], result.offset, 0, _scalar_maker(result.kind), ())
    if isinstance(result, ArrayResult):
        return (3, 0, result.offset, 0, None, ())
    if isinstance(result, ArgResult):
        return (4, result.index, 0, 0, None, ())
    if isinstance(result, ViewResult):
        return (5, result.index, result.offset, result.rank, None, ())
    if isinstance(result, ListResult):
        return (6, int(result.strong), result.array.offset, 0, None, ())
    if isinstance(result, TupleResult):
        maker = result.kind if result.kind is None else steps.watched("make result", result.kind)
        return (7, 0, 0, 0, maker, tuple(map(_encode_result, result.items)))
    if isinstance(result, ListOfResult):
        return (8, 0, 0, 0, None, tuple(map(_encode_result, result.items)))
    return (0, 0, 0, 0, None, ())


def _scalar_maker(kind: str) -> object:
    """What makes a NumPy scalar from its bytes: its dtype; half precision is rounded by its own type."""
    if kind in PYTHON_SCALARS:
        return None
    return np.float16 if kind == "np.float16" else np.dtype(kind.removeprefix("np."))


# --- exceptions of kernels -----------------------------------------------------------------------------------------


def thrower(
    exceptions: tuple[ExceptionSpec, ...],
    location: SourceLocation | None,
    code: int,
    line: int,
    first: int,
    second: int,
    third: int,
) -> Callable[[], NoReturn]:
    """What raises entry `code` of a kernel's exception table, as if from the user's line where that is known.

    `line` also tells the file, if that is not the function's own: its number is above the lowest 32 bits.
    """
    if not 0 <= code < len(exceptions):
        raise SystemError(f"a kernel raised exception {code} of {len(exceptions)}")
    entry = exceptions[code]
    if entry.message is None:
        error = entry.type()
    elif isinstance(entry.message, tuple):
        error = entry.type(*entry.message)
    else:
        error = entry.type(exception_argument(entry.type, entry.message.format(first, second, third)))
    if location is None or line <= 0:
        raise error
    file, line = location.files[line >> 32], line & 0xFFFFFFFF
    return types.FunctionType(_raising_code(file, location.function, line), {"error": error})


def raise_at(error: BaseException, file: str, function: str, line: int) -> NoReturn:
    """Raise an exception as if from a line of the user's: it was raised there, in another process."""
    types.FunctionType(_raising_code(file, function, line), {"error": error})()
    raise error


@functools.lru_cache(maxsize=256)
def _raising_code(file: str, function: str, line: int) -> types.CodeType:
    """Code whose only statement raises at the user's line, so that the traceback shows that line."""
    text = linecache.getline(file, line).rstrip()
    function = _function_at(file, line) or function
    tree = ast.parse("def raising():\n    raise error")
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            position: Any = node
            position.lineno = position.end_lineno = line
            position.col_offset = len(text) - len(text.lstrip())
            position.end_col_offset = max(len(text), position.col_offset + 1)
    code = next(item for item in compile(tree, file, "exec").co_consts if isinstance(item, types.CodeType))
    replace: Callable[..., types.CodeType] = code.replace
    names = {"co_name": function, **({"co_qualname": function} if sys.version_info >= (3, 11) else {})}
    return replace(**names)


def _function_at(file: str, line: int) -> str:
    """The name of the innermost function around a line: that of an inlined one is not the compiled function's."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return ""
    defined = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    around = [node for node in defined if node.lineno <= line <= (node.end_lineno or node.lineno)]
    return max(around, key=lambda node: node.lineno).name if around else ""
