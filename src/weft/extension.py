"""Doors into the compiler: expansions, passes, patterns and programs of users.  In: their functions and texts; out: the
pipeline with them in it, or a compiled function.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

from weft import pipeline
from weft.directives import Directive, Expand, Place
from weft.errors import TransformError, WeftError
from weft.frontend.builder import Built
from weft.frontend.source import Source
from weft.frontend.specs import ArraySpec, ListSpec, ScalarSpec, Spec
from weft.ir import verify
from weft.ir.program import Argument, Program, is_list
from weft.ir.text_parse import ParseError, parse_program
from weft.ir.types import INT
from weft.jitted import Jitted
from weft.options import make_options
from weft.passes import expand as expanding
from weft.passes import users
from weft.runtime import foreign

# --- expansions -----------------------------------------------------------------------------------------------------


def expand(function: Any, line: int | str, *names: str) -> str:
    """Choose how the operation on a line is carried out: the first of the expansions that applies; its name.

    "openblas": the library, whatever the size; "loops": loops, whatever the size; "blocked": sums in blocks of terms;
    or one of your own (`weft.expansion`).  The function must have been called: its newest version decides.
    """
    if not isinstance(function, Jitted):
        raise WeftError("weft.expand needs a function of weft.jit that runs on one machine")
    if not names:
        raise ValueError(f"weft.expand needs the name of an expansion: {', '.join(expanding.names())}")
    unknown = [name for name in names if name not in expanding.names()]
    if unknown:
        raise ValueError(f"there is no expansion {unknown[0]!r}; there are: {', '.join(expanding.names())}")
    where = Place.of(line)
    if not where.line:
        raise ValueError(f"weft.expand({line!r}): the line of a statement is needed")
    kept = tuple(d for d in function.transforms() if not (isinstance(d, Expand) and d.line == where))
    problems: list[TransformError] = []
    for name in names:
        chosen: tuple[Directive, ...] = (*kept, Expand(where, name))
        try:
            function.direct(chosen)
        except TransformError as problem:
            problems.append(problem)
        else:
            return name
    raise problems[0]


def expansion(name: str) -> Callable[[Any], Any]:
    """Add an expansion: `@weft.expansion("mine")` on a function from a statement (and a workspace, which makes new
    variables and buffers) to nodes of the same meaning, or to None where it does not apply."""
    if not isinstance(name, str) or not name.isidentifier() or name in expanding.OF_MATCH:
        raise ValueError(f"{name!r} cannot be the name of an expansion")

    def decorate(function: Any) -> Any:
        expanding.EXPANSIONS[name] = function
        foreign.note(f"expansion {name} {_digest(function)}")
        return function

    return decorate


def _digest(function: Any) -> str:
    code = getattr(function, "__code__", None)
    text = repr(function).encode() if code is None else code.co_code + repr(code.co_consts).encode()
    return hashlib.blake2b(text, digest_size=8).hexdigest()


# --- passes ---------------------------------------------------------------------------------------------------------


def add_pass(function: Any = None, /, *, stage: str = "optimised", name: str = "") -> Any:
    """Add a pass: a function from a `weft.ir.program.Program` (and a context, for remarks) to an equal one.

    `stage`: "built", "optimised" or "lowered".  The program is verified before and after.  Functions that are compiled
    from now on go through it.
    """

    def decorate(run: Any) -> Any:
        if not callable(run):
            raise TypeError(f"a pass is a function, not {type(run).__name__}")
        title = name or run.__name__
        users.add(run, stage, title)
        foreign.note(f"pass {title} {stage} {_digest(run)}")
        return run

    return decorate if function is None else decorate(function)


def remove_pass(name: str) -> None:
    """Leave out a pass that was added."""
    users.remove(name)
    foreign.note(f"without {name}")


def add_pattern(pattern: str, replacement: str, *, name: str = "", stage: str = "optimised") -> None:
    """Replace expressions of numbers of one type: weft.add_pattern("exp(a) * exp(b)", "exp(a + b)")."""
    title = name or f"{pattern} -> {replacement}"
    users.add(users.rewriting(pattern, replacement), stage, title)
    foreign.note(f"pattern {title} {stage}")


# --- programs as text -----------------------------------------------------------------------------------------------


def compile_ir(text: str, **options: Any) -> Jitted:
    """Compile the text of a program, as `f.inspect("ir")` gives it and people edit it; a function of its parameters.

    The text is verified; its guards, sizes and types are checked at each call, and arguments that do not fit are a
    TypeError, since there is no Python function behind it.
    """
    try:
        program = parse_program(text)
        verify.verify(program, verify.Stage.OPTIMISED)
    except (ParseError, verify.VerifyError) as problem:
        raise WeftError(f"this is no program of weft: {problem}") from None
    chosen = make_options({"cache": False, "fallback": "silent", **options})
    kinds = [_spec(program, name) for name in program.params]
    stub = _stub(program)
    source = Source(program.name, "<ir>", _tree(program), text, {}, {})
    built = Built(program, tuple(kinds), tuple(program.params))
    compiled = pipeline.compile_program(source, built, chosen)
    made = Jitted(stub, chosen)
    made._add_compiled(compiled, kinds)
    return made


def _spec(program: Program, name: str) -> Spec:
    buffer = program.table.get(name)
    if buffer is None:
        assert any(isinstance(s.source, Argument) and s.source.name == name for s in program.symbols)
        return ScalarSpec(INT, True)
    if not buffer.rank:
        return ScalarSpec(buffer.type)
    if is_list(buffer):
        return ListSpec(buffer.type, buffer.rank)
    return ArraySpec(buffer.type.dtype, (False,) * buffer.rank, buffer.layout)


def _definition(program: Program, body: str) -> str:
    return f"def {program.name}({', '.join(program.params)}):\n    {body}\n"


def _tree(program: Program) -> Any:
    import ast

    return ast.parse(_definition(program, "pass")).body[0]


def _stub(program: Program) -> Callable[..., Any]:
    namespace: dict[str, Any] = {}
    message = f"{program.name}() was compiled from IR for other arguments than these"
    exec(_definition(program, f"raise TypeError({message!r})"), namespace)
    made: Callable[..., Any] = namespace[program.name]
    return made


__all__: Sequence[str] = ("add_pass", "add_pattern", "compile_ir", "expand", "expansion", "remove_pass")
