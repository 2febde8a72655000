"""Passes of users.  In: functions from Program to Program with a declared stage; out: the pipeline with them in it.
Each is verified before and after.

    built       before weft's own passes
    optimised   statements over domains, before they are tidied up for the last time
    lowered     loops, before their assumptions are written down
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
from collections.abc import Callable, Mapping
from typing import Any

from weft.errors import OptionError, TransformError
from weft.ir import verify
from weft.ir.expr import Expr, Op
from weft.ir.ops import OPERATIONS
from weft.ir.program import Program
from weft.ir.walk import map_children, map_program_exprs
from weft.passes import Knows, Pass, PassContext
from weft.records import dataclass

Run = Callable[[Program, PassContext], Program]

#: Where the passes of a stage stand: before this one of weft's own.
BEFORE = {"built": "tasks", "optimised": "tidy", "lowered": "version"}
_STAGES = {
    "built": verify.Stage.BUILT,
    "optimised": verify.Stage.OPTIMISED,
    "lowered": verify.Stage.LOWERED,
}
#: Names of passes to load: "module:function", or an entry point of the group `weft.passes`.
VARIABLE, GROUP = "WEFT_PASSES", "weft.passes"


@dataclass(frozen=True)
class UserPass:
    """A pass, and what was given for it."""

    name: str
    stage: str
    run: Callable[..., Any]

    def __call__(self, program: Program, context: PassContext) -> Program:
        """The pass between two verifications; what is wrong is told as a TransformError."""
        stage = _STAGES[self.stage]
        verify.verify(program, stage)
        try:
            takes_context = len(inspect.signature(self.run).parameters) > 1
            after = self.run(program, context) if takes_context else self.run(program)
        except Exception as trouble:
            raise TransformError(
                program.span, f"the pass {self.name!r} fails: {type(trouble).__name__}: {trouble}"
            ) from trouble
        if not isinstance(after, Program):
            reason = f"the pass {self.name!r} gives a {type(after).__name__}, and no Program"
            raise TransformError(program.span, reason, "return the program where there is nothing to change")
        problem = verify.problem(after, stage)
        if problem is not None:
            raise TransformError(program.span, f"what the pass {self.name!r} makes is no legal program: {problem}")
        if after is not program:
            context.done(self.name, f"your pass {self.name} changed the program", program.span)
        return after


_passes: dict[str, UserPass] = {}
_loaded: set[str] = set()


def add(run: Callable[..., Program], stage: str, name: str) -> UserPass:
    """A pass from now on; one of the same name is replaced."""
    if stage not in BEFORE:
        raise ValueError(f"stage={stage!r}: a pass is declared for one of {', '.join(BEFORE)}")
    made = _passes[name] = UserPass(name, stage, run)
    return made


def remove(name: str) -> None:
    """Leave out a pass of this name from now on."""
    _passes.pop(name, None)


def inserted(passes: tuple[Pass, ...]) -> tuple[Pass, ...]:
    """The pipeline with the passes of users."""
    _load()
    if not _passes:
        return passes
    found: list[Pass] = []
    for known in passes:
        found += [_declared(p) for p in _passes.values() if BEFORE[p.stage] == known.name]
        found.append(known)
    return tuple(found)


def _declared(made: UserPass) -> Pass:
    stage = _STAGES[made.stage]
    return Pass(made.name, made, stage, stage, knows=Knows.CALLS | Knows.TASKS, wholes=True)


def _load() -> None:
    for name in filter(None, (part.strip() for part in os.environ.get("WEFT_PASSES", "").split(","))):
        if name not in _loaded:
            _loaded.add(name)
            found = _from_module(name) if ":" in name else _from_entry_point(name)
            if not isinstance(found, UserPass) and callable(found):
                add(found, getattr(found, "stage", "optimised"), name)


def _from_module(name: str) -> Any:
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as problem:
        raise OptionError(f"{VARIABLE} names {name!r}, which cannot be loaded: {problem}") from None


def _from_entry_point(name: str) -> Any:
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP):
        if point.name == name:
            return point.load()
    raise OptionError(f"{VARIABLE} names {name!r}: no installed package has such an entry point of {GROUP}")


# --- patterns -------------------------------------------------------------------------------------------------------


def rewriting(pattern: str, replacement: str) -> Callable[[Program], Program]:
    """A pass that replaces expressions: "exp(a) * exp(b)" --> "exp(a + b)", for numbers of one type."""
    shape, made = _expression(pattern), _expression(replacement)
    unknown = _names(made) - _names(shape)
    if unknown:
        raise ValueError(f"the pattern {pattern!r} has no {sorted(unknown)[0]!r}")
    if isinstance(shape, ast.Name):
        raise ValueError(f"the pattern {pattern!r} is every expression")

    def rewrite(expr: Expr) -> Expr:
        expr = map_children(expr, rewrite)
        found: dict[str, Expr] = {}
        if isinstance(expr, Op) and _matches(shape, expr, found, expr):
            return _filled(made, found, expr)
        return expr

    def run(program: Program) -> Program:
        return map_program_exprs(program, rewrite)

    return run


_OPERATORS: Mapping[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.Pow: "pow",
    ast.USub: "neg",
}


def _expression(text: str) -> ast.expr:
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise ValueError(f"{text!r} is no expression") from None
    for node in ast.walk(tree):
        _operation(node, text)
    return tree


def _operation(node: ast.AST, text: str = "") -> str | None:
    """The operation that a node stands for; None for a name or a number."""
    if isinstance(node, (ast.BinOp, ast.UnaryOp)) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id not in OPERATIONS or OPERATIONS[node.func.id].arity != len(node.args):
            raise ValueError(f"{text!r}: there is no operation {node.func.id} of {len(node.args)} operands")
        return node.func.id
    if isinstance(node, (ast.BinOp, ast.UnaryOp, ast.Call)) or not isinstance(
        node, (ast.Name, ast.Constant, ast.expr_context, ast.operator, ast.unaryop)
    ):
        raise ValueError(f"{text!r}: patterns are made of names, numbers, + - * / ** and operations of the IR")
    return None


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    assert isinstance(node, ast.Call)
    return list(node.args)


def _names(tree: ast.expr) -> set[str]:
    functions = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in functions}


def _matches(shape: ast.expr, expr: Expr, found: dict[str, Expr], whole: Expr) -> bool:
    from weft.ir.expr import Const

    if expr.type != whole.type:
        return False
    if isinstance(shape, ast.Name):
        return found.setdefault(shape.id, expr) == expr
    if isinstance(shape, ast.Constant):
        return isinstance(expr, Const) and expr.value == shape.value
    if not isinstance(expr, Op) or expr.op != _operation(shape):
        return False
    return all(_matches(part, arg, found, whole) for part, arg in zip(_operands(shape), expr.args, strict=True))


def _filled(made: ast.expr, found: dict[str, Expr], whole: Op) -> Expr:
    from weft.ir.expr import Const

    if isinstance(made, ast.Name):
        return found[made.id]
    if isinstance(made, ast.Constant):
        kind: Any = {"i": int, "u": int, "f": float, "c": complex, "b": bool}[whole.type.dtype.kind]
        return Const(kind(made.value), whole.type)
    op = _operation(made)
    assert op is not None
    return Op(op, tuple(_filled(part, found, whole) for part in _operands(made)), whole.type, whole.span)
