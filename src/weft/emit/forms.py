"""What variants are written in.  In: a version of a function; out: its text, in Python, C, or for an array module, a
device or a cluster; ValueError with the reason if it has none.

A form for another place (CuPy, OpenCL, Ray) works on copies: nothing of the caller's has changed when it fails, so that
the variants behind it, and the function as written, may run instead.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from weft.codegen import python as codegen
from weft.codegen import python_syntax as py
from weft.compiled import Compiled
from weft.emit import support
from weft.ir.program import Library, NoneOut, Program, Return
from weft.ir.walk import walk
from weft.records import dataclass

#: What decides whether another place is worth it, in modules that know one.
LEAST = '''
#: Elements of all arguments below which the way to another place costs more than it brings.
LEAST = {least}


def _elements_of(*arrays):
    """How many elements the arguments of a call have."""
    return sum(array.size for array in arrays)
'''


@dataclass(frozen=True)
class Text:
    """The definition of a variant, what it needs of `support`, and whether any exception may be repeated elsewhere."""

    text: str
    names: frozenset[str] = frozenset()
    routines: frozenset[str] = frozenset()
    safe: bool = False


@dataclass(frozen=True)
class Form:
    """One kind of module: the libraries that it imports beside NumPy, the text before all variants, and a function that
    writes a variant of a name; `least`: the elements from which on another place is worth it."""

    library: str
    imports: str
    runtime: str
    written: Callable[[str, Compiled], Text]
    least: int = 0


def in_python(name: str, compiled: Compiled) -> Text:
    """A version as NumPy statements."""
    return program_text(replace(compiled.program_optimised, name=name))


def program_text(program: Program) -> Text:
    """A program as Python functions; ValueError if it cannot stand alone."""
    try:
        whole = codegen.generate(program)
    except Exception as problem:
        raise ValueError(f"it has no form in Python: {problem}") from None
    tree = ast.parse(whole)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    needed = frozenset((py.SUPPORT | {"GuardFailed"}) & used)
    if not support.known(needed):
        raise ValueError("it makes objects that only weft makes")
    body = [node for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    start = min(min([node.lineno, *(mark.lineno for mark in getattr(node, "decorator_list", []))]) for node in body)
    routines = frozenset(node.routine for node in walk(program.body) if isinstance(node, Library))
    return Text("\n".join(whole.splitlines()[start - 1 :]), needed, routines)


def fitting(name: str, program: Program) -> Text:
    """A function of the same parameters that raises GuardFailed where a program does not fit, and does nothing else."""
    empty = replace(program, name=name, body=(Return(0),), results=(NoneOut(),), functions=())
    return program_text(empty)


def joined(parts: list[Text], safe: bool = True) -> Text:
    """Several definitions as one variant."""
    names = frozenset().union(*(part.names for part in parts))
    routines = frozenset().union(*(part.routines for part in parts))
    return Text("\n\n\n".join(part.text.strip("\n") for part in parts), names, routines, safe)


PYTHON = Form("", "", "", in_python)
