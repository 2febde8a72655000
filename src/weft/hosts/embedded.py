"""What a module that stands alone does when it is imported.  In: the module's namespace, its source, a text that
describes its versions and the addresses of their kernels; out: the source executed, and compiled functions in the place
of plain ones.

This text is part of every such module and must not import weft.  Where the source does, it gets a stand-in with hints,
`jit` and loops that are declared parallel as plain Python has them; anything else is asked of weft itself.  What makes
containers for the caller and finds routines of libraries are texts of weft's own (BUNDLE), executed when they are
needed for the first time.
"""

from __future__ import annotations

import builtins
import functools
import os
import sys
import types
from typing import Any

#: The text of weft/parallel.py, the names of BLAS functions and other texts by the names of their modules, put here
#: when a module is built.
PARALLEL = ""
BLAS: tuple[str, ...] = ()
BUNDLE: dict[str, str] = {}
_DTYPES = ("b1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "c64", "c128")
_NO_DEFAULT = object()
_ENTRY, _ATTRIBUTE = 0, 2
_HEAP_TYPE = 1 << 9
_HERE = ("cpu", "python", "c")
_PARTS = {"code": "__code__", "defaults": "__defaults__", "keywords": "__kwdefaults__"}


class Unfit(Exception):
    """Something is not as it was when the module was built."""


class _Hint:
    """A hint that nobody looks at."""

    def __init__(self, name: str = "", *_: object) -> None:
        self.name = name

    def _same(self, *_: object) -> _Hint:
        return self

    __getitem__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __neg__ = _same

    def __repr__(self) -> str:
        return f"weft.{self.name}"


def _stand_in() -> types.ModuleType:
    """A module in the place of weft."""
    module = types.ModuleType("weft")
    exec(compile(PARALLEL, "<weft.parallel>", "exec"), module.__dict__)

    def jit(function: Any = None, **options: Any) -> Any:
        if options.get("target", "cpu") not in _HERE and sys.modules.get("weft") is module and _is_installed():
            return missing("jit")(function, **options)
        return (lambda target: target) if function is None else function

    def missing(name: str) -> Any:
        import importlib

        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get("weft") is module:
            del sys.modules["weft"]
        try:
            return getattr(importlib.import_module("weft"), name)
        except ImportError:
            raise AttributeError(f"weft is not installed, and a built module brings no weft.{name} along") from None

    module.__dict__.update({name: _Hint(name) for name in _DTYPES}, symbol=_Hint, jit=jit, __getattr__=missing)
    return module


def _is_installed() -> bool:
    """Whether weft itself could be imported where its stand-in is."""
    import importlib.machinery

    return importlib.machinery.PathFinder.find_spec("weft") is not None


def start(
    namespace: dict[str, Any],
    source: str,
    versions: str,
    addresses: tuple[int, ...],
    native: int,
    helpers: dict[str, Any],
) -> None:
    """Called once the module is there, and empty; `helpers` are functions of native/extension.c by their names."""
    described: dict[str, Any] = {"cell": _cell, "intern": sys.intern, "since": _since, "bundled": _bundled}
    described["rows"] = _rows
    exec(compile(versions, "<weft>", "exec"), described)
    file = os.path.join(os.path.dirname(namespace["__file__"]), described["FILE"])
    stand_in: types.ModuleType | None = None
    if "weft" not in sys.modules:
        stand_in = sys.modules["weft"] = _stand_in()
    try:
        exec(compile(source, file, "exec", dont_inherit=True), namespace)
    finally:
        if stand_in is not None and sys.modules.get("weft") is stand_in:
            del sys.modules["weft"]
    import linecache

    if not os.path.exists(file):  # tracebacks show the lines of the source
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    if not native:
        return
    if described["NEEDS_BLAS"]:
        _offer_blas(helpers["use_blas"])
    _helpers.update(helpers)
    for place, signed, tree, regions in described["PARTED"]:
        _install_parted(namespace, file, (place, signed), tree, regions, helpers)
    # All functions are in their places before any version looks at what it depends on: they may call each other.
    installed = [
        (_install(namespace, name, signed, helpers["make_function"]), made, tables)
        for name, signed, made, tables in described["FUNCTIONS"]
    ]
    make_function = helpers["make_function"]
    plainly = [(_install(namespace, name, signed, make_function), *rest) for name, signed, *rest in described["PLAIN"]]
    before = _Before(namespace if plainly else {})
    for compiled, *rest in plainly:
        if compiled is not None:
            helpers["set_prepare"](compiled, functools.partial(_prepare_plain, compiled, before, *rest))
    for compiled, made, tables in installed:
        if compiled is None:
            continue
        fitting = tuple(_fitting(namespace, made, addresses, file))
        if tables:  # a kernel must not run before it knows where the functions are that it calls
            helpers["set_prepare"](compiled, functools.partial(_prepare, compiled, fitting, tables))
        else:
            helpers["add_versions"](compiled, fitting)


def _prepare(compiled: Any, versions: tuple[Any, ...], tables: dict[int, tuple[str, ...]]) -> None:
    """At the first call of a function: the addresses of what its kernels call; LookupError if one is not to be had."""
    for table, names in tables.items():
        for position, name in enumerate(names):
            place = "weft.runtime.foreign" if "|" in name else "weft.runtime.routines"
            found = _bundled(place).address(name)
            if found is None:
                raise LookupError(name)
            _helpers["put_address"](table, position, found[0], found[1] or 0)
    _helpers["add_versions"](compiled, versions)


class _Before:
    """What a module and its classes had when it was imported: functions of plain Python start at their first call, and
    what has changed until then is not what they were made from."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self.namespace = namespace
        self.entries = dict(namespace)
        home = namespace.get("__name__")
        self.classes = {v: dict(vars(v)) for v in namespace.values() if isinstance(v, type) and v.__module__ == home}
        held = [*namespace.values(), *(value for each in self.classes.values() for value in each.values())]
        self.codes = {plain: plain.__code__ for value in held if (plain := function_of(value)) is not None}

    def fact(
        self, kind: str, owner: Any, name: str, present: bool, expected: tuple[str, ...] | None = None
    ) -> types.SimpleNamespace:
        """What a version was made from; Unfit if it is not what it was at the build and at the import."""
        holding = _bundled("weft.runtime.holding")
        if kind in _PARTS:
            owner = function_of(owner)
        fact = types.SimpleNamespace(kind=kind, owner=owner, name=name, value=None, present=present)
        now = holding.now(fact)
        if (now is not holding.ABSENT) != present or (expected is not None and told(now, expected[0]) != expected):
            raise Unfit(name)
        was = now
        if owner is self.namespace:
            was = self.entries.get(name, holding.ABSENT)
        elif kind == "code":
            was = self.codes.get(owner, now)
        elif kind == "lookup":
            base = next((base for base in owner.__mro__ if name in vars(base)), owner)
            was = self.classes.get(base, {name: now}).get(name, holding.ABSENT)
        if was is not now:
            raise Unfit(name)
        fact.value = now if present else None
        return fact


def _prepare_plain(compiled: Any, before: _Before, made: list[Any], timed: bool) -> None:
    """At the first call of a function of plain Python: what runs its calls from now on."""
    versions = []
    for make in made:
        try:
            versions.append(make(before.namespace, _module, before.fact))
        except (Unfit, LookupError, AttributeError, ImportError):
            continue
    _bundled("weft.plain.runtime").install(compiled, tuple(versions), timed)


def _since(known: str, expected: bool) -> None:
    """Unfit unless this Python is (or is not) of a version or newer, as that of the build was."""
    if (sys.version_info >= tuple(map(int, known.split(".")))) != expected:
        raise Unfit(known)


def _cell(function: Any, name: str) -> Any:
    """The cell of a closure."""
    plain = function_of(function)
    return dict(zip(plain.__code__.co_freevars, plain.__closure__))[name]


def _fitting(namespace: dict[str, Any], made: list[Any], addresses: tuple[int, ...], file: str) -> list[Any]:
    """The versions of a function for which nothing differs from the build."""
    versions = []
    for make in made:
        try:
            versions.append(make(namespace, addresses, _raiser(file), _module, _fact, _made))
        except (Unfit, LookupError, AttributeError, ImportError):
            continue
    return versions


def _install(namespace: dict[str, Any], name: str, signed: tuple[tuple[str, ...], int, int], make_function: Any) -> Any:
    """A compiled function, without versions yet, in the place of a plain one; None if that is not there.

    A function for a cluster or a device stays what weft has made of it, where there is weft.
    """
    if name in _regions:
        return _regions[name]
    *path, last = name.split(".")
    owner: Any = None
    for part in path:
        owner = namespace.get(part) if owner is None else getattr(owner, part, None)
    found = namespace.get(last) if not path else vars(owner).get(last) if owner is not None else None
    plain = function_of(found)
    if plain is None or hasattr(found, "local"):
        return None
    names, positional_only, keyword_only = signed
    given, named = plain.__defaults__ or (), plain.__kwdefaults__ or {}
    positional = names[: len(names) - keyword_only]
    defaults = [_NO_DEFAULT] * (len(positional) - len(given)) + list(given)
    defaults += [named.get(each, _NO_DEFAULT) for each in names[len(positional) :]]
    signature = (tuple(map(sys.intern, names)), tuple(defaults), _NO_DEFAULT, positional_only, keyword_only)
    compiled = make_function(plain, *signature)
    if isinstance(found, property):
        setattr(owner, last, property(compiled, found.fset, found.fdel, found.__doc__))
    elif path:
        bound = type(found) if isinstance(found, (staticmethod, classmethod)) else None
        setattr(owner, last, compiled if bound is None else bound(compiled))
    else:
        namespace[last] = compiled
    return compiled


def _install_parted(
    namespace: dict[str, Any], file: str, function: tuple[str, Any], tree: str, regions: Any, helpers: Any
) -> None:
    """A function that runs in regions, and these, without versions yet."""
    compiled = _install(namespace, *function, helpers["make_function"])
    if compiled is None:
        return
    called: dict[str, Any] = {}
    for name, (place, (names, *counts), text) in regions.items():
        plain = _defined(text, file, namespace, {})
        defaults = (_NO_DEFAULT,) * len(names)
        signature = (tuple(map(sys.intern, names)), defaults, _NO_DEFAULT, *counts)
        called[name] = _regions[place] = helpers["make_function"](plain, *signature)
    whole = compiled.__wrapped__
    running = _defined(tree, file, namespace, called)
    running.__defaults__, running.__kwdefaults__ = whole.__defaults__, whole.__kwdefaults__
    running.__name__, running.__qualname__ = whole.__name__, whole.__qualname__

    def native_calls() -> int:
        most = max(int(region.native_calls) for region in called.values())
        return min(most, int(helpers["entry_calls"](compiled)))

    helpers["set_entry"](compiled, running, native_calls, None)


def _defined(text: str, file: str, namespace: dict[str, Any], called: dict[str, Any]) -> Any:
    """The function of a syntax tree, with what it calls by names of weft's own."""
    import ast

    tree = eval(text, vars(ast))
    own, tree.name = tree.name, "__weft_made"  # a region may call one of the same name
    names = list(called)
    given = ast.arguments(
        posonlyargs=[], args=[ast.arg(arg=n) for n in names], kwonlyargs=[], kw_defaults=[], defaults=[]
    )
    made = ast.Return(value=ast.Name(id=tree.name, ctx=ast.Load()))
    factory = ast.FunctionDef(name="__weft_make", args=given, body=[tree, made], decorator_list=[])
    for node in ast.walk(ast.copy_location(factory, tree)):
        for field in node._fields:  # what versions of Python have or leave out
            if not hasattr(node, field):
                setattr(node, field, ast.Load() if field == "ctx" else [])
    scope: dict[str, Any] = {}
    module = ast.Module(body=[ast.fix_missing_locations(factory)], type_ignores=[])
    exec(compile(module, file, "exec", dont_inherit=True), namespace, scope)
    function = scope["__weft_make"](*called.values())
    function.__code__ = function.__code__.replace(co_name=own)
    function.__name__ = own
    return function


def function_of(value: Any) -> Any:
    """The function that a class or module holds: as it is, compiled, as a static method, a class method or as a
    property's getter."""
    if isinstance(value, (staticmethod, classmethod)):
        value = value.__func__
    elif isinstance(value, property):
        value = value.fget
    value = getattr(value, "py_func", value)
    value = value.__wrapped__ if hasattr(type(value), "native_calls") else value
    return value if isinstance(value, types.FunctionType) else None


def _module(name: str) -> Any:
    import importlib

    return importlib.import_module(name)


def _raiser(file: str) -> Any:
    """What makes the exceptions of kernels: (type, message template) each, raised as if from a line of the source."""

    def for_table(table: Any) -> Any:
        def throw(code: int, line: int, first: int, second: int, third: int) -> None:
            kind, message = table[code]
            if message is None:
                error = kind()
            elif isinstance(message, tuple):
                error = kind(*message)
            else:
                text = message.format(first, second, third)
                error = kind(__import__("ast").literal_eval(text) if kind is KeyError else text)
            line &= 0xFFFFFFFF
            if line <= 0:
                raise error
            exec(compile("\n" * (line - 1) + "raise error", file, "exec"), {"error": error})

        return throw

    return for_table


# --- texts of weft's own ----------------------------------------------------------------------------------------------

_helpers: dict[str, Any] = {}
_regions: dict[str, Any] = {}
_loaded: dict[str, Any] = {}


def _made(place: str, *bound: Any) -> Any:
    """What stands at "module:name" of the bundle, loaded when it is called for the first time."""
    module, _, name = place.partition(":")

    def call(*arguments: Any) -> Any:
        return getattr(_bundled(module), name)(*bound, *arguments)

    return call


def _bundled(name: str) -> Any:
    """A module of the bundle."""
    if name not in _loaded:
        module = types.ModuleType(name)
        module.__file__ = f"<{name}>"
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import}
        _loaded[name] = module
        try:
            exec(compile(BUNDLE[name], f"<{name}>", "exec"), module.__dict__)
        except BaseException:
            del _loaded[name]
            raise
        if name == "weft.runtime.routines":
            sort, argsort = _helpers["sort_loops"]()
            module.__dict__["attach"](types.SimpleNamespace(weft_sort_lines=sort, weft_argsort_lines=argsort))
        if "helpers" in module.__dict__:
            module.__dict__["helpers"].update(_helpers)
    return _loaded[name]


def _import(name: str, space: Any = None, scope: Any = None, wanted: Any = (), level: int = 0) -> Any:
    """An import in a text of the bundle: of another one, or of anything else."""
    if name.partition(".")[0] != "weft":
        return builtins.__import__(name, space, scope, wanted, level)
    if name in BUNDLE:
        return _bundled(name)
    return types.SimpleNamespace(**{each: _bundled(f"{name}.{each}") for each in wanted})


def _fact(
    kind: str, owner: Any, name: str, present: bool, expected: tuple[str, ...] | None = None
) -> tuple[tuple[Any, ...], ...]:
    """What a version was made from, as it is now: rows (owner, kind, name[, value]); Unfit if it is not what it was."""
    if kind == "entry":
        if present and name not in owner and "__getattr__" in owner:
            getattr(sys.modules.get(owner.get("__name__")), name, None)  # a module that is loaded now
        now, code = owner.get(name, _NO_DEFAULT), _ENTRY
    else:
        name = "cell_contents" if kind == "cell" else _PARTS.get(kind, name)
        now, code = getattr(owner, name, _NO_DEFAULT), _ATTRIBUTE
        if now is not getattr(owner, name, _NO_DEFAULT):
            raise Unfit(name)
    if (now is not _NO_DEFAULT) != present:
        raise Unfit(name)
    if present and expected is not None and told(now, expected[0]) != expected:
        raise Unfit(name)
    if kind == "lookup" and isinstance(owner, type):
        return _in_classes(owner, sys.intern(name))
    return ((owner, code, sys.intern(name), now) if present else (owner, code, sys.intern(name)),)


def _rows(*rows: tuple[Any, ...]) -> tuple[tuple[Any, ...], ...]:
    """Facts, each once."""
    return tuple({(id(row[0]), *row[1:3]): row for row in rows}.values())


def _in_classes(owner: type, name: str) -> tuple[tuple[Any, ...], ...]:
    """What the dicts of a class and of its bases say of a name: asking the class for what it has not is slow."""
    import gc

    rows: list[tuple[Any, ...]] = [(owner, _ATTRIBUTE, "__mro__", owner.__mro__)]
    for base in owner.__mro__:
        if name in vars(base):
            if base.__flags__ & _HEAP_TYPE:
                rows.append((gc.get_referents(vars(base))[0], _ENTRY, name, vars(base)[name]))
            break
        if base.__flags__ & _HEAP_TYPE:
            rows.append((gc.get_referents(vars(base))[0], _ENTRY, name))
    return tuple(rows)


def told(value: Any, how: str) -> tuple[str, ...]:
    """A value as a text that is the same in every process and every Python: its literal, its name, its source."""
    if how == "literal":
        return (how, type(value).__name__, repr(value))
    if how == "source":
        import hashlib
        import inspect

        text = inspect.getsource(value)
        return (how, hashlib.blake2s(text.encode()).hexdigest())
    if isinstance(value, types.ModuleType):  # a stand-in of weft must not be asked for anything
        return (how, value.__name__)
    value = getattr(value, "py_func", value)
    return (how, str(getattr(value, "__qualname__", getattr(value, "__name__", type(value).__name__))))


def _offer_blas(use_blas: Any) -> None:
    """The BLAS that NumPy has loaded, for products to be NumPy's own to the last bit."""
    import ctypes

    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            paths = {line.split(maxsplit=5)[5].strip() for line in maps if "openblas" in line and line.count("/")}
    except OSError:
        return
    for path in sorted(paths, key=lambda path: ("numpy" not in path, "scipy.libs" in path, path)):
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for prefix, suffix in (("scipy_", "64_"), ("", "64_"), ("scipy_", ""), ("", "")):
            if not hasattr(library, f"{prefix}cblas_dgemm{suffix}"):
                continue
            describe = getattr(library, f"{prefix}openblas_get_config{suffix}", None)
            wide = bool(suffix)
            if describe is not None:
                describe.restype = ctypes.c_char_p
                wide = b"USE64BITINT" in (describe() or b"")
            found = [getattr(library, f"{prefix}cblas_{each}{suffix}", None) for each in BLAS]
            use_blas(int(wide), tuple(ctypes.cast(each, ctypes.c_void_p).value or 0 if each else 0 for each in found))
            return
