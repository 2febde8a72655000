"""The functions of generated C in the making.  In: what a translation unit shares and one function's own state; out:
the base of the statement translators, with new variables and the one way to fail.

Every function of the generated code has one exit, the label k_done, where scratch memory is released.  A failure stores
what happened and jumps there: in the kernel itself into the control words, inside a parallel loop into a record of
which the lowest iteration's wins.
"""

from __future__ import annotations

from dataclasses import field

from weft.analysis.scopes import Path
from weft.codegen import c_ops
from weft.codegen import syntax as C
from weft.codegen.binding import WordLayout
from weft.codegen.c_expr import OWN, Expressions, Names
from weft.errors import Span
from weft.ir.expr import Expr
from weft.ir.program import Block, Check, Node, Program
from weft.records import dataclass

WORDS, RESULTS, STATUS, TICKS, FAILED, CHOICES = (
    OWN + name for name in ("w", "results", "status", "ticks", "failed", "choices")
)
#: What belongs to one thread inside functions and tasks: where failures are noted, the stack, the queue of tasks.
THREAD = f"{OWN}own"
#: How many isolated blocks a function is in.
HELD = f"{OWN}held"
#: The control word that tells which way each choice by size went.
CHOICE_WORD = 6
#: Not zero: the kernel handed the call back after its entry guards had held, so that no other version need try.
BACK_WORD = 7
DONE = f"{OWN}done"
GUARD, RAISE, INTERRUPTED, MEMORY = 1, 2, 3, 4
OVERFLOW_ERROR = ("OverflowError", "a Python integer went beyond 64 bits in compiled code")


@dataclass
class Finish:
    """A finish of a function: its record, whether tasks were handed out in it, and which boxes these fill."""

    name: str
    opened: str
    filled: str
    boxes: dict[str, str] = field(default_factory=dict)  # C variables that tasks set: the box of each


@dataclass
class Frame:
    """One C function in the making."""

    parallel: bool
    iteration: str = ""  # in a parallel body: the variable with the iteration's number
    task: bool = False  # the function of a task
    heads: list[C.CStmt] = field(default_factory=list)
    owners: list[str] = field(default_factory=list)
    stack: int = 0
    finishes: list[Finish] = field(default_factory=list)  # in the order in which they begin
    around: list[Finish] = field(default_factory=list)  # those around the current place
    checked: bool = False  # whether the way to the current place has made sure that there is stack for a call
    checked_inside: bool = False  # the same at the end of the block that was written last


@dataclass(frozen=True)
class Callee:
    """A function of the program as its callers see it: its C name, its C parameters by the word each stands for, the
    first word of its results and how many there are.  `alone`: the C name of the same without handing out tasks.
    `levels`: how many copies of itself it holds one inside the other; `level`: which of them this is.
    """

    name: str
    program: Program
    layout: WordLayout
    parameters: dict[int, str]
    first: int
    count: int
    alone: str = ""
    levels: int = 0
    level: int = 0


@dataclass(frozen=True)
class EntryGuard:
    """What a kernel without Python behind it refuses a call for: a number out of range, an extent, a layout, memory
    that two arguments share, or a condition of the program (`check`)."""

    kind: str
    names: tuple[str, ...] = ()
    axis: int = 0
    size: Expr | None = None
    check: Check | None = None


@dataclass
class Unit:
    """What the C functions of one program share; `called`: the program is a function of another one."""

    program: Program
    whole: Program  # with the functions
    layout: WordLayout
    names: Names
    used: c_ops.Used
    declarations: dict[Path, tuple[str, ...]]
    exchanged: dict[str, frozenset[str]]
    guard_on_failure: bool  # nothing observable ever happens before a failure: Python may repeat the call
    threads: bool
    strict: bool
    put_back: frozenset[str] = frozenset()  # parameters that are put back before Python repeats the call
    undone: frozenset[str] = frozenset()  # parameters that are put back if an integer leaves 64 bits
    hands_over: bool = False  # what only Python can do is left to it
    checked: bool = False  # every access is tested
    brief: bool = False  # most of its loops have few iterations
    types: dict[str, str] = field(default_factory=dict)  # C variables and their types
    unaliased: set[str] = field(default_factory=set)  # pointer variables that nothing else may alias
    exceptions: dict[tuple[str, str], int] = field(default_factory=dict)
    files: tuple[str, ...] = ()  # of lines that raise
    functions: list[C.TopLevel] = field(default_factory=list)
    callees: dict[str, Callee] = field(default_factory=dict)
    called: Callee | None = None
    tasks: bool = False  # the whole program has some
    alone: bool = False  # this function hands out none
    choices: dict[int, int] = field(default_factory=dict)  # identity of a node that chooses by size: its number
    told: bool = False  # which entry guard failed is noted
    guards: list[EntryGuard] = field(default_factory=list)  # in the order of their numbers, if they are noted

    def place(self, span: Span) -> int:
        """A line, and above its 32 bits the number of its file where that is not the function's own."""
        return span.line + ((self.files.index(span.file) << 32) if span.file in self.files else 0)

    def exception(self, name: str, message: str) -> int:
        return self.exceptions.setdefault((name, message), len(self.exceptions))


@dataclass
class Emitter:
    """Translates into the frame of the current function."""

    unit: Unit
    expressions: Expressions
    frame: Frame
    line: tuple[str, int] = ("", 0)
    crowded: bool = False  # a loop around the current place calls a library that has threads of its own
    depth: int = 0  # loops around the current place, in this function
    lockstep: bool = False  # inside a VECTOR loop: nothing may be counted, nobody can be asked
    #: Accumulators of the current loop by minimum or maximum, each with the variable that tells a NaN was seen.
    extremes: dict[str, str] = field(default_factory=dict)
    #: Complex sums of the current loop, each with the variables of its real and imaginary part.
    parts: dict[str, tuple[str, str]] = field(default_factory=dict)

    def block(self, nodes: Block, path: Path) -> C.CBlock:
        """The C of a block; `path` tells which variables it declares."""
        raise NotImplementedError

    def variable(self, ctype: str, hint: str, value: C.CExpr | None, out: list[C.CStmt]) -> C.Name:
        """Declare a new variable here."""
        name = self.unit.names.own(hint)
        self.unit.types[name] = ctype
        out.append(C.Declare(ctype, name, value))
        return C.Name(name)

    def _scoped(self, out: list[C.CStmt]) -> list[C.CStmt]:
        return [C.Scope(tuple(out))]

    def chosen(self, node: Node, first: bool) -> list[C.CStmt]:
        """Note that a choice by size went this way; inside parallel and vector loops nobody counts."""
        number = self.unit.choices.get(id(node))
        if number is None or self.frame.parallel or self.frame.task or self.lockstep:
            return []
        return [C.Assign(C.Name(CHOICES), C.Number(f"{1 << (2 * number + (not first))}ULL"), "|=")]

    def failure(self, status: int, code: int = 0, line: int = 0, values: tuple[C.CExpr, ...] = ()) -> list[C.CStmt]:
        """Leave the function with a status."""
        padded = (*values, *[C.Number("0")] * (3 - len(values)))
        if self.frame.parallel:
            # An interruption is reported whatever else happened.
            iteration = C.Number("-1") if status == INTERRUPTED else C.Name(self.frame.iteration)
            numbers = (C.number(status), C.number(code), C.number(line))
            return [
                C.Evaluate(C.call("k_record", C.Name(FAILED), iteration, *numbers, *padded)),
                C.Jump(f"goto {DONE}"),
            ]
        out: list[C.CStmt] = []
        if status == RAISE:
            for word, value in enumerate((C.number(code), C.number(line), *values), 1):
                out.append(C.Assign(C.Subscript(C.Name(WORDS), C.number(word)), value))
        return [*out, C.Assign(C.Name(STATUS), C.number(status)), C.Jump(f"goto {DONE}")]
