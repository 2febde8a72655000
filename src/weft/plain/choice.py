"""Which compiler a function goes to first.  In: a function and arguments; out: whether it is plain Python.

Arrays, and loops over numbers in lists, are for the array compiler, which makes vectors and threads of them. Code
that works with strings, dicts, sets, objects, closures or generators is for the compiler of plain Python. What the
first refuses the other may take: functions that mix arrays with all that, too.
"""

from __future__ import annotations

import ast
import dis
import gc
import itertools
import types
from collections.abc import Iterable, Iterator
from typing import Any, Final

from weft.naming import home_of
from weft.plain import foreign

#: Modules whose names say that a function asks for weft's own means, or for what only the array compiler knows.
_FOREIGN: Final = ("scipy", "weft", "cupy", "jax", "torch", "ray", "mpi4py")
_NUMBERS: Final = (int, float, bool, complex, type(None))


def uses_arrays(function: Any, arguments: tuple[Any, ...]) -> bool:
    """Whether arrays come in, or NumPy is named."""
    return _uses(("numpy",), function, arguments)


def holds_containers(arguments: tuple[Any, ...]) -> bool:
    """Whether an argument is more than a number, an array or a list of such: only plain Python compiles these."""
    import numpy as np

    return any(not isinstance(value, (np.ndarray, np.generic)) and not _is_numeric(value) for value in arguments)


def uses_foreign(function: Any, arguments: tuple[Any, ...]) -> bool:
    """Whether something comes in, or is named, that only the array compiler knows."""
    return _uses(_FOREIGN, function, arguments)


def _uses(modules: tuple[str, ...], function: Any, arguments: tuple[Any, ...]) -> bool:
    if any(_is_of(modules, value) for value in arguments):
        return True
    return any(_is_name_of(modules, value) for value in _names(function, 0, set()))


def _is_of(modules: tuple[str, ...], value: Any, depth: int = 0) -> bool:
    """Whether a value is of one of these modules, or holds such a one: containers by their first items."""
    kind = type(value)
    if home_of(kind).partition(".")[0] in modules:
        return True
    if depth > 4 or isinstance(value, (type, types.ModuleType, types.FunctionType)):
        return False
    if kind in (list, tuple):
        return any(_is_of(modules, item, depth + 1) for item in value[:3])
    return any(_is_of(modules, item, depth + 1) for item in itertools.islice(_held_by(value), 12))


def _held_by(value: Any) -> Iterable[Any]:
    """The items of a dict, or what an object's attributes hold: asking for `__dict__` would make a dict for good."""
    if isinstance(value, dict):
        return value.values()
    return gc.get_referents(value) if type(value).__dictoffset__ else ()


def _is_name_of(modules: tuple[str, ...], value: Any) -> bool:
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] in modules
    home = getattr(value, "__module__", None)
    if home_of(type(value)).startswith("weft."):
        return "weft" in modules and type(value).__name__ != "Jitted"
    if home_of(type(value)) == "numpy":
        home = "numpy"
    return isinstance(home, str) and home.partition(".")[0] in modules


def _names(function: Any, depth: int, seen: set[int]) -> list[Any]:
    """The objects behind the global names of a function and of those it calls."""
    if id(function) in seen or depth > 3 or len(seen) > 100:
        return []
    seen.add(id(function))
    found = []
    codes = [function.__code__]
    while codes:
        code = codes.pop()
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
        for name in code.co_names:
            if name in function.__globals__:
                value = function.__globals__[name]
                found.append(value)
                inner = getattr(value, "py_func", value)
                if isinstance(inner, types.FunctionType):
                    found += _names(inner, depth + 1, seen)
    for cell in function.__closure__ or ():
        try:
            value = cell.cell_contents
        except ValueError:
            continue
        found.append(value)
        inner = getattr(value, "py_func", value)
        if isinstance(inner, types.FunctionType):
            found += _names(inner, depth + 1, seen)
    return found


def is_plain(function: Any, tree: ast.FunctionDef, arguments: tuple[Any, ...]) -> bool:
    """Whether a function that uses no arrays is better off as plain Python than as loops over numbers."""
    if any(not _is_numeric(value) for value in arguments):
        return True
    names = [a.arg for a in (*tree.args.posonlyargs, *tree.args.args)]
    lists = {name for name, value in zip(names, arguments) if type(value) is list}
    if lists and any(_changes_one_of(lists, node) or _is_call_of(tree.name, node) for node in ast.walk(tree)):
        return True
    return any(map(_is_object_code, _working_nodes(tree))) or calls_objects(function)


#: Instructions of loops, in the versions of CPython that there are.
_LOOPS: Final = ("FOR_ITER", "JUMP_BACKWARD", "POP_JUMP_BACKWARD", "JUMP_ABSOLUTE")


def has_loops(function: Any) -> bool:
    """Whether a function, or one that it calls, runs loops of its own or calls itself: else it only has NumPy work."""
    called = [getattr(value, "py_func", value) for value in _names(function, 0, set())]
    inner = [value for value in called if isinstance(value, types.FunctionType)]
    return function in inner or any(_loops(value.__code__) for value in (function, *inner))


def may_hold_arrays(function: Any, tree: ast.FunctionDef, arguments: tuple[Any, ...]) -> bool:
    """Whether arrays come in, or something is named that may make them."""
    if uses_arrays(function, arguments) or uses_foreign(function, arguments):
        return True
    return any(isinstance(node, (ast.Import, ast.ImportFrom, ast.MatMult)) for node in ast.walk(tree))


_COMPREHENSIONS: Final = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_BUILTIN: Final = (dict, list, tuple, set, str, bytes, bytearray, int, float, complex)
_METHODS: Final = frozenset(itertools.chain.from_iterable(map(dir, _BUILTIN)))


def repeats(function: Any, tree: ast.FunctionDef, arguments: tuple[Any, ...]) -> bool:
    """Whether statements may run many times in a call: in loops of the function, or in what it calls. Of a method that
    no built-in type has, and of a class of the program, nobody knows."""
    if any(isinstance(node, (ast.For, ast.While, *_COMPREHENSIONS)) for node in ast.walk(tree)) or has_loops(function):
        return True
    if calls_objects(function) or any(type(value).__flags__ & (1 << 9) for value in arguments):
        return True
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return any(isinstance(called, ast.Attribute) and _may_loop(function, called) for called in calls)


def _may_loop(function: Any, called: ast.Attribute) -> bool:
    """Whether a method, or a function of a module, may have loops that can be compiled."""
    value = called.value
    module = function.__globals__.get(value.id) if isinstance(value, ast.Name) else None
    if isinstance(module, types.ModuleType):
        found = getattr(module, called.attr, None)
        inner = getattr(found, "py_func", found)
        return not isinstance(inner, types.BuiltinFunctionType) and (
            not isinstance(inner, types.FunctionType) or has_loops(inner)
        )
    return called.attr not in _METHODS


def has_loops_beside(tree: ast.stmt, line: int, arrays: set[int] | None = None) -> bool:
    """Whether a function or statement has loops over arrays that a statement on `line` does not stand in.

    A loop that makes a list longer or shorter that others work on as well (the frontier of a search) is none of them:
    as a region of its own it would get a list to change, of items that are NumPy's numbers. Nor is a loop that works
    with a dict or set that is made on that line. `arrays`: the lines on which there are arrays, if that is known.
    """
    made = _containers_made(tree, line)
    for loop in ast.walk(tree):
        if not isinstance(loop, (ast.For, ast.While)) or loop.lineno <= line <= (loop.end_lineno or line):
            continue
        if any(isinstance(node, ast.Name) and node.id in made for node in ast.walk(loop)):
            continue
        lists = _lists_around(tree, loop)
        if arrays is not None and arrays.isdisjoint(range(loop.lineno, (loop.end_lineno or line) + 1)):
            continue
        if not any(_is_object_code(node) or _draws(node) or _changes_one_of(lists, node) for node in ast.walk(loop)):
            return True
    return False


def _containers_made(tree: ast.stmt, line: int) -> set[str]:
    """Names that are bound to a new dict or set by the statement on a line."""
    return {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.lineno <= line <= (node.end_lineno or node.lineno)
        if isinstance(node.value, (ast.Dict, ast.DictComp, ast.Set, ast.SetComp)) or _makes_container(node.value)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }


def _makes_container(node: ast.expr | None) -> bool:
    """Whether an expression calls one of the classes of containers, by whatever name its module is known."""
    called = node.func if isinstance(node, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in _OBJECT_CALLS and name != "str"


def _lists_around(tree: ast.stmt, loop: ast.AST) -> set[str]:
    """Names that are bound to new lists outside a loop."""
    inside = set(map(id, ast.walk(loop)))
    return {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and id(node) not in inside and isinstance(node.value, (ast.List, ast.ListComp))
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _draws(node: ast.AST) -> bool:
    """Whether a node draws a single random number, and no array of them: no method of an array has such a name."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in foreign.DRAWS):
        return False
    most = 0 if node.func.attr.startswith(("rand", "standard_")) and node.func.attr != "randint" else 2
    return len(node.args) <= most and all(keyword.arg != "size" for keyword in node.keywords)


def _loops(code: types.CodeType) -> bool:
    if any(instruction.opname.startswith(_LOOPS) for instruction in dis.get_instructions(code)):
        return True
    return any(_loops(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))


def _is_numeric(value: Any, depth: int = 0) -> bool:
    """Numbers, and lists of them of any depth."""
    kind = type(value)
    if kind in _NUMBERS:
        return True
    return kind is list and len(value) > 0 and depth < 8 and all(_is_numeric(item, depth + 1) for item in value[:3])


_CHANGES: Final = ("append", "extend", "insert", "pop", "remove", "clear", "sort", "reverse")


def _changes_one_of(lists: set[str], node: ast.AST) -> bool:
    """Whether a node makes a list argument longer or shorter, or sorts it: it is then more than numbers in a row."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return node.target.id in lists
    if isinstance(node, ast.Delete):
        return any(isinstance(target, ast.Subscript) for target in node.targets)
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _CHANGES):
        return False
    return isinstance(node.func.value, ast.Name) and node.func.value.id in lists


def _is_call_of(name: str, node: ast.AST) -> bool:
    """Whether a node calls a function by name: recursion over lists makes new ones at every depth."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


_OBJECT_NODES: Final = (ast.Dict, ast.DictComp, ast.Set, ast.SetComp, ast.JoinedStr, ast.Try, ast.Yield)
_OBJECT_CALLS: Final = ("dict", "set", "str", "frozenset", "defaultdict", "Counter", "deque", "OrderedDict")


def _working_nodes(tree: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of the body but for docstrings, which say nothing of what is computed."""
    for statement in tree.body:
        nodes = list(ast.walk(statement))
        texts = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
        yield from (node for node in nodes if not (isinstance(node, ast.Constant) and id(node) in texts))


def _is_object_code(node: ast.AST) -> bool:
    """Whether a node works on more than numbers. Closures do not say: both compilers have them."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in _OBJECT_CALLS
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and len(node.value) < 20
    return isinstance(node, _OBJECT_NODES)


def calls_objects(function: Any) -> bool:
    """Whether classes of the program, or methods, are called."""
    return any(isinstance(value, type) and value.__flags__ & (1 << 9) for value in _names(function, 0, set()))
