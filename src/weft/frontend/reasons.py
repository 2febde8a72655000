"""Reasons that name what they are about.  In: a reason that says "this", the syntax node and the types seen; out: the
reason with the source in its place, and the types by the source that has them.

    "the return of this"  -->  "the return of `a if n else b` (value: str)"
    "this comparison"     -->  "the comparison in `a < b` (left: list, right: int)"
    {"left": "list"}      -->  {"a": "list"}
    a refusal inside json.loads  -->  one of the call of json.loads, at the user's line
"""

from __future__ import annotations

import ast
import re
import sys
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from weft.errors import Span, Unsupported, source_line
from weft.frontend.specs import MAX_RANK
from weft.naming import home_of, library_of

if TYPE_CHECKING:
    import numpy as np

#: What to do about a generator that leaves the function.
RETURN_LIST = "return a list of its items, or use it in a loop of a compiled function"
#: What to do about a result that no native code makes: a function, a module, an iterator, a view of a dict.
ONLY_PYTHON = "return the numbers, arrays or lists that it is made of, and make it outside of the compiled function"
_LONGEST = 50
_LONGEST_INSIDE = 90
_LONGEST_NAME = 30
#: Words after "this" that are no noun: "a list of this in a dict" is about the source, not about "the in".
NO_NOUNS = frozenset({"as", "at", "by", "divided", "for", "from", "in", "into", "of", "on", "to", "with", "without"})
_THIS = re.compile(rf"\b(?:this|these)\b(?: (?!(?:{'|'.join(sorted(NO_NOUNS))})\b)(?=[a-z]+))?")
#: Where in a node the value of a role stands.
_ROLES: dict[str, tuple[str, ...]] = {
    "left": ("left",),
    "right": ("right", "comparators.0"),
    "base": ("value", "target.value", "targets.0.value", "func.value"),
    "key": ("slice", "target.slice", "targets.0.slice"),
    "receiver": ("func.value",),
    "function": ("func",),
    "value": ("value", "test", "operand", "iter", "args.0"),
    "then": ("body",),
    "orelse": ("orelse",),
}
#: What people call statements and expressions, by the names of the syntax tree.
_CONSTRUCTS = {
    "With": "a `with` block",
    "AsyncWith": "an `async with` block",
    "AsyncFor": "an `async for` loop",
    "AsyncFunctionDef": "an `async def`",
    "Match": "a `match` statement",
    "ClassDef": "a class defined inside the function",
    "Delete": "a `del` statement",
    "Await": "an `await`",
    "Yield": "a `yield`",
    "YieldFrom": "a `yield from`",
    "TryStar": "an `except*`",
}


def construct(node: ast.AST) -> str:
    """A statement or expression in the words of people: with lock: ... --> "a `with` block of `lock`"."""
    name = type(node).__name__
    if isinstance(node, (ast.With, ast.AsyncWith)):
        of = _short_source(node.items[0].context_expr)
        return f"{_CONSTRUCTS[name]} of `{of}`" if of else _CONSTRUCTS[name]
    return _CONSTRUCTS.get(name) or f"the {'statement' if isinstance(node, ast.stmt) else 'expression'} {name.lower()}"


def by_source(node: ast.AST | None, types: Mapping[str, str]) -> dict[str, str]:
    """{"left": "int"}  -->  {"n": "int"}, where the node tells what stands on the left."""
    found: dict[str, str] = {}
    for role, kind in types.items():
        texts = (_short_source(_part(node, path)) for path in _ROLES.get(role, ()))
        name = next((text for text in texts if text), role)
        found[role if found.get(name, kind) != kind else name] = kind
    return found


def _part(node: ast.AST | None, path: str) -> object:
    found: object = node
    for step in path.split("."):
        found = (found[0] if found else None) if isinstance(found, list) else getattr(found, step, None)
    return found


def _short_source(node: object) -> str:
    text = _unparsed(node) if isinstance(node, ast.expr) and not isinstance(node, ast.Constant) else ""
    return text if len(text) <= _LONGEST_NAME else ""


def out_of_place(span: Span) -> str:
    """What to write instead of an update in place: a += b  -->  a = a + b."""
    try:
        node = ast.parse(source_line(span).strip()).body[0]
    except (SyntaxError, IndexError):
        return "make a new array"
    if not isinstance(node, ast.AugAssign) or not isinstance(node.target, ast.Name):
        return "convert the array first, with .astype"
    name = node.target.id
    value = ast.BinOp(ast.Name(name, ast.Load()), node.op, node.value)
    return f"make a new array: {_unparsed(ast.Assign([node.target], value, lineno=1))}"


def array_remedy(name: str, sample: object) -> str:
    """What to do about an argument that is an array of a kind which has no native form; "" for anything else."""
    kind = type(sample)
    if not any(base.__name__ == "ndarray" for base in kind.__mro__):
        return ""
    sample = cast("np.ndarray[Any, Any]", sample)
    dtype = sample.dtype
    if kind.__name__ == "MaskedArray":
        return f"pass {name}.data and {name}.mask as two arrays"
    if kind.__name__ != "ndarray":
        return f"pass np.asarray({name})"
    if dtype.names:
        return f"pass its fields as arrays: {name}[{dtype.names[0]!r}]"
    if dtype.kind in "mM":
        return f"pass {name}.view(np.int64)"
    if dtype.kind in "US":
        return f"pass {name}.tolist()"
    if dtype.kind == "O":
        return f"pass {name}.astype(float)"
    if dtype.char in "egG":
        wider = "np.complex128" if dtype.kind == "c" else "np.float64" if dtype.itemsize > 2 else "np.float32"
        return f"pass {name}.astype({wider})"
    if not dtype.isnative:
        return f"pass {name}.astype(np.{dtype.newbyteorder('=').name})"
    if not sample.flags.aligned:
        return f"pass {name}.copy(), whose elements are aligned"
    return f"pass a view of at most {MAX_RANK} axes: {name}.reshape(...)" if sample.ndim > MAX_RANK else ""


def outside_remedy(value: object) -> str:
    """What to do about an object from outside: one of a library's class is none that weft takes as an argument."""
    module = sys.modules.get(home_of(type(value)))
    file = getattr(module, "__file__", None)
    if module is not None and (file is None or library_of(file) is not None):
        return "use it outside the compiled function, and pass what you need of it"
    return "pass it as an argument"


def title_of(thing: object) -> str:
    """The name of a function, with its module unless that is plain."""
    name = getattr(thing, "__name__", repr(thing))
    module = getattr(thing, "__module__", None) or ""
    owner = getattr(thing, "__self__", None)
    if isinstance(thing, types.BuiltinMethodType) and owner is not None and not isinstance(owner, types.ModuleType):
        kind = owner if isinstance(owner, type) else type(owner)
        home = sys.modules.get(kind.__module__)
        # random.random is a method of an object that its module keeps, datetime.now one of a class.
        is_public = getattr(home, name, None) == thing
        module, name = kind.__module__, name if is_public else f"{kind.__name__}.{name}"
    return f"{module}.{name}" if module and module != "builtins" else name


def no_native_form(thing: object) -> tuple[str, str]:
    """Why a function that is not Python's own text is not called, and what to do about it."""
    return f"a call of {title_of(thing)}, which weft has no native form for", "call it outside the compiled function"


def is_stand_in(function: object, file: str) -> bool:
    """Whether a library puts its function in the place of one written in C, as notebooks do with `open`."""
    wrapped = getattr(function, "__wrapped__", None)
    return isinstance(wrapped, types.BuiltinFunctionType) and library_of(file) is not None


def told_at_call(problem: Unsupported, node: ast.AST, file: str, call: Span) -> Unsupported:
    """A refusal inside a library's function, told at its call: the user cannot change the library's lines."""
    home = library_of(file)
    is_inside = home is not None and home != library_of(call.file) and home == library_of(problem.span.file)
    if not is_inside or type(problem) is not Unsupported:
        return problem
    place = _short_source(getattr(node, "func", None)) or _short_source(node) or home
    inside = problem.reason if len(problem.reason) <= _LONGEST_INSIDE else problem.reason[:_LONGEST_INSIDE] + "..."
    reason = f"a call of `{place}`, which weft does not compile (line {problem.span.line} of {home}: {inside})"
    told = Unsupported(call, reason, "call it outside the compiled function, and pass its result")
    told.whole, told.in_tasks = problem.whole, problem.in_tasks
    told.by_plain, told.apart = problem.by_plain, problem.apart
    return told


def left_to_plain(problem: Unsupported, apart: bool = False) -> Unsupported:
    """A refusal of what the compiler of plain Python has a form of, and this one has none. `apart`: of the statement
    alone, where loops over arrays stand beside it."""
    problem.by_plain, problem.apart = True, apart
    return problem


def named(reason: str, node: ast.AST | None, types: Mapping[str, str]) -> str:
    """The reason with source and types instead of the word "this"; as it is where it has no such word."""
    found = _THIS.search(reason)
    if found is None or node is None:
        return reason
    text = _source(node)
    if not text:
        return reason
    before, after = reason[: found.start()], reason[found.end() :]
    if found[0] in ("this", "these"):
        told = f"{before}`{text}`{after}"
    else:
        noun, _, rest = after.partition(" ")
        told = f"{before}the {noun} in `{text}`" + (f" {rest}" if rest else "")
    kinds = ", ".join(f"{name}: {kind}" for name, kind in types.items())
    return f"{told} ({kinds})" if kinds else told


def _source(node: ast.AST) -> str:
    """The expression that a reason is about, in a few words: of a statement its value."""
    has_value = isinstance(node, (ast.Return, ast.Assign, ast.Expr, ast.AnnAssign))
    inner = getattr(node, "value", None) if has_value else None
    text = _unparsed(inner if isinstance(inner, ast.AST) else node)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def _unparsed(node: ast.AST) -> str:
    """The first line of a node's source; "" for what has none."""
    try:
        text = ast.unparse(node)
    except (AttributeError, ValueError, RecursionError):
        return ""
    return text.splitlines()[0] if text else ""
