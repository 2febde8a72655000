"""A module in plain Python.  In: the text of a file and the versions of its functions; out: the text of a module in
which every function is a decision tree over its variants, with the function as written behind them.

    def f(a, n):
        if type(a) is np.ndarray and a.dtype == np.float64 and ...:
            try:
                return _f_1(a, n)
            except GuardFailed:
                pass
        return _f_as_written(a, n)
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from weft import restored
from weft.analysis.scopes import lasting_writes
from weft.compiled import Compiled
from weft.emit import forms, guards, support
from weft.frontend.specs import ArraySpec
from weft.records import dataclass

_HEAD = '''"""{doc}

Written by weft {version} from {file}: each function decides by its arguments between variants that were made
for them and itself as it was written. It imports {libraries} and nothing of weft.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import math
{imports}
import numpy as np

'''
#: What the source may say of weft beside decorators, as plain Python.
_PLAIN_WEFT = """
class _Hint:
    def __init__(self, *_):
        pass

    def _same(self, *_):
        return self

    __getitem__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same


class _Map:
    def __getitem__(self, key):
        parts = key if isinstance(key, tuple) else (key,)
        ranges = [range(part.start or 0, part.stop, part.step or 1) for part in parts]
        return itertools.product(*ranges) if isinstance(key, tuple) else ranges[0]


class weft:  # what the source says of weft, as plain Python
    prange = range
    map = _Map()
    vidx = staticmethod(lambda start, length, bound: slice(start, min(start + length, bound)))
    symbol = _Hint
    task = finish = isolated = contextlib.nullcontext
    b1 = i8 = i16 = i32 = i64 = u8 = u16 = u32 = u64 = f32 = f64 = c64 = c128 = _Hint()

    def jit(function=None, **_):
        return function if function is not None else lambda function: function

"""


@dataclass(frozen=True)
class Variant:
    """One variant of a function: its definition, when it may run, and the names and routines that it needs."""

    name: str
    text: str
    tests: tuple[str, ...]
    caught: str
    names: frozenset[str]
    routines: frozenset[str]


@dataclass(frozen=True)
class Emitted:
    """A module, why functions have no variant, and why they have none for the place that was asked for."""

    text: str
    variants: Mapping[str, int]
    skipped: Mapping[str, str]
    notes: Mapping[str, str]


def emitted(
    file: str,
    text: str,
    functions: Mapping[str, Sequence[Compiled]],
    version: str,
    form: forms.Form = forms.PYTHON,
) -> Emitted:
    """The module of a file; `functions`: the versions of each of its functions by name."""
    tree = ast.parse(text)
    definitions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    made: dict[str, list[Variant]] = {}
    skipped: dict[str, str] = {}
    notes: dict[str, str] = {}
    for name, versions in functions.items():
        if name not in definitions:
            skipped[name] = "it is not defined at the top of the file"
            continue
        made[name] = []
        reasons: list[str] = []
        for number, compiled in enumerate(versions, 1):
            found, why = _variants(f"_{name}_{number}", compiled, form)
            made[name] += found
            reasons += why
        if not made[name]:
            skipped[name] = reasons[0] if reasons else "it was compiled for no arguments"
        elif reasons:
            notes[name] = reasons[0]
    used = [variant for variants in made.values() for variant in variants]
    names = frozenset().union(*(variant.names for variant in used)) if used else frozenset()
    routines = frozenset().union(*(variant.routines for variant in used)) if used else frozenset()
    doc = (ast.get_docstring(tree) or file).strip().splitlines()[0]
    libraries = f"NumPy, {form.library}" if form.library else "NumPy"
    head = _HEAD.format(doc=doc, version=version, file=file, imports=form.imports, libraries=libraries)
    runtime = [forms.LEAST.format(least=f"{form.least:_}")] if form.least else []
    parts = [head, support.definitions(names, routines), *runtime, form.runtime, _plain(text, tree)]
    for name, variants in made.items():
        if variants:
            parts += [_title(name), *(variant.text for variant in variants), _decision(definitions[name], variants)]
    whole = "\n\n\n".join(part.strip("\n") for part in parts if part) + "\n"
    compile(whole, file, "exec")
    return Emitted(whole, {name: len(variants) for name, variants in made.items() if variants}, skipped, notes)


def _title(name: str) -> str:
    return f"# {'-' * 20} {name} {'-' * max(3, 92 - len(name))}"


def _plain(text: str, tree: ast.Module) -> str:
    """The file without its decorators and imports of weft, and its docstring; comments stay where they are."""
    lines = text.splitlines()
    dropped: set[int] = set()
    instead: dict[int, str] = {}
    marks = [mark for node in ast.walk(tree) for mark in getattr(node, "decorator_list", []) if _is_of_weft(mark)]
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    in_marks = {id(node) for mark in marks for node in ast.walk(mark)}
    used = frozenset(node.id for node in names if id(node) not in in_marks)
    for mark in marks:
        dropped.update(range(mark.lineno, (mark.end_lineno or mark.lineno) + 1))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)) and (other := _without_weft(node, used)) is not None:
            dropped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
            instead[node.lineno] = " " * node.col_offset + (other or ("pass" if node.col_offset else ""))
    if tree.body and isinstance(tree.body[0], ast.Expr) and isinstance(tree.body[0].value, ast.Constant):
        dropped.update(range(tree.body[0].lineno, (tree.body[0].end_lineno or 1) + 1))
    kept = "\n".join(
        instead.get(number, line)
        for number, line in enumerate(lines, 1)
        if number not in dropped or instead.get(number, "").strip()
    )
    still = {node.id for node in ast.walk(ast.parse(kept)) if isinstance(node, ast.Name)}
    return (_PLAIN_WEFT if "weft" in still else "") + kept


def _without_weft(node: ast.Import | ast.ImportFrom, used: frozenset[str]) -> str | None:
    """What stands in the place of an import, for the names that are used; None if nothing of weft is imported.

    import weft, math    -->  import math
    from weft import prange as loop   -->  loop = weft.prange
    """
    if isinstance(node, ast.ImportFrom):
        if node.module == "__future__":
            return ""
        if node.module != "weft":
            return None
        names = [(alias.asname or alias.name, alias.name) for alias in node.names]
        return "; ".join(f"{name} = weft.{of}" for name, of in names if name in used)
    mine = [alias for alias in node.names if alias.name.split(".")[0] == "weft"]
    if not mine:
        return None
    others = [alias for alias in node.names if alias not in mine]
    parts = [ast.unparse(ast.Import(names=others))] if others else []
    return "; ".join((*parts, *(f"{alias.asname} = weft" for alias in mine if alias.asname in used)))


def _is_of_weft(mark: ast.expr) -> bool:
    inner = mark.func if isinstance(mark, ast.Call) else mark
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return isinstance(inner, ast.Name) and inner.id in ("weft", "jit")


def _variants(name: str, compiled: Compiled, form: forms.Form) -> tuple[list[Variant], list[str]]:
    """The variants of one version, and why there are not all: one in the form, and in NumPy behind another place."""
    built = compiled.built
    if built.hidden:
        return [], [f"it reads {built.hidden[0].name!r} at each call"]
    reason = guards.why_not(built.specs)
    if reason is not None:
        return [], [reason]
    found: list[Variant] = []
    reasons: list[str] = []
    wanted = [(name, form.written, form.least)]
    if form.least:
        wanted.append((f"{name}_here", forms.in_python, 0))
    for each, written, least in wanted:
        try:
            found.append(_variant(each, written(each, compiled), compiled, least))
        except ValueError as problem:
            reasons.append(str(problem))
    return found, reasons


def _variant(name: str, made: forms.Text, compiled: Compiled, least: int) -> Variant:
    built, program = compiled.built, compiled.program_optimised
    given = compiled.source.tree.args
    names = [arg.arg for arg in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    filled = [param if isinstance(param, str) else None for param in built.names]
    tests = guards.conditions(names, built.specs, program, filled)
    if least:
        arrays = [name for name, kind in zip(names, built.specs) if isinstance(kind, ArraySpec)]
        tests.append(f"_elements_of({', '.join(arrays)}) >= LEAST")
    passed = [name for name, param in zip(names, filled) if param is not None]
    caught = "GuardFailed" if lasting_writes(program) else "(GuardFailed, OverflowError)"
    head = f"# for {compiled.signature}\n"
    call = f"{name}({', '.join(passed)})"
    return Variant(
        call, head + made.text, tuple(tests), "Exception" if made.safe else caught, made.names, made.routines
    )


def _decision(definition: ast.FunctionDef, variants: Sequence[Variant]) -> str:
    """The function that chooses."""
    name, args = definition.name, definition.args
    written = f"_{name}_as_written"
    lines = [f"{written} = {name}", "", "", f"def {name}({_bare(args)}):"]
    doc = ast.get_docstring(definition)
    if doc:
        lines.append(f"    {doc!r}")
    for variant in variants:
        tests = "\n        and ".join(variant.tests) or "True"
        lines += [f"    if (\n        {tests}\n    ):", "        try:", f"            return {variant.name}"]
        lines += [f"        except {variant.caught}:", "            pass"]
    lines.append(f"    return {written}({_passed(args)})")
    lines.append(f"\n\n{name}.__defaults__, {name}.__kwdefaults__ = {written}.__defaults__, {written}.__kwdefaults__")
    return "\n".join(lines)


def _bare(args: ast.arguments) -> str:
    """Parameters without annotations; defaults are those of the function as written, set afterwards."""
    bare = ast.arguments(
        posonlyargs=[ast.arg(arg=a.arg) for a in args.posonlyargs],
        args=[ast.arg(arg=a.arg) for a in args.args],
        vararg=None if args.vararg is None else ast.arg(arg=args.vararg.arg),
        kwonlyargs=[ast.arg(arg=a.arg) for a in args.kwonlyargs],
        kw_defaults=[None for _ in args.kwonlyargs],
        kwarg=None if args.kwarg is None else ast.arg(arg=args.kwarg.arg),
        defaults=[],
    )
    return ast.unparse(bare)


def _passed(args: ast.arguments) -> str:
    parts = [a.arg for a in (*args.posonlyargs, *args.args)]
    parts += [] if args.vararg is None else [f"*{args.vararg.arg}"]
    parts += [f"{a.arg}={a.arg}" for a in args.kwonlyargs]
    parts += [] if args.kwarg is None else [f"**{args.kwarg.arg}"]
    return ", ".join(parts)


def versions_of(function: Any) -> list[Compiled]:
    """The versions of a compiled function, general ones last."""
    return [restored.full(function, version) for version in function._compiled]
