"""Programs: buffers, symbols and a tree of statements.  The front end makes one; every pass takes one and gives one.

Grammar
    Program := symbols, buffers, guards, body, results
    Node    := Stmt | Check | Loop | While | If | Break | Continue | Return | Alloc | Rebind | Call | Library | Invoke
    Block   := tuple of Nodes, executed in order

Semantics
    Stmt     for every point of its domain, buffer[index] = value  (or  buffer[index] = buffer[index] REDUCE value).
             *Simultaneous*: every read sees the state before the statement (the target of a reduction aside), and a
             plain write touches each element at most once.  An empty domain () is one point: a scalar assignment.
    Check    at every point of its domain the condition holds, or the exception is raised.  A check among the
             program's guards is decided before anything else: if it fails, the plain Python function runs.  The
             exception HAND_BACK does the same later on, in a program that writes no memory of the caller.
    Loop     sequential by meaning.  Its kind tells the back end what it may do: PARALLEL iterations touch no common
             element, VECTOR ones may run in lockstep (accumulators aside).  ASSERTED: the user says that iterations
             need nothing of each other but reductions; the schedule makes another kind of it.
             A region has one iteration.  TASK: it may run beside what follows, up to the end of the FINISH around it
             (the nearest region around a TASK); what it writes is touched by nothing that runs beside it, unless both
             are inside regions ISOLATED, of which one runs at a time.
    While    executes `prelude`, tests `condition`, executes `body`, and again.
    Return   ends the function; `result` selects one of the program's result trees.
    Alloc    makes a local buffer of its declared shape, contents undefined (or zero).
    Rebind   the names `targets` now denote the memory of `sources` (a permutation of the targets): `a, b = b, a`.
    Call     a library routine that has exactly the meaning of its Stmt.
    Library  a routine of `ir.routines` (LAPACK, FFT) at every point of its domain: all inputs are read, then all
             outputs written whole.
    Invoke   one of the program's functions is called: a program of its own, with memory of its own for each call.
Every name (buffer, symbol, dimension) is unique in a program.  Spans never take part in equality.
"""

from __future__ import annotations

import enum
from dataclasses import field
from typing import Union

from weft.errors import NOWHERE, Span
from weft.ir.expr import AnyDim, Domain, Expr, Read
from weft.ir.types import ScalarType
from weft.records import dataclass


class Role(enum.Enum):
    """What a buffer is to the caller."""

    PARAM = "param"  # memory of an argument (array, list copied in, or a scalar argument of rank 0)
    LOCAL = "local"  # memory of the function's own
    RESULT = "result"  # a new array handed to the caller
    HELD = "held"  # of a function: a variable of its caller, which may also get other memory


class Layout(enum.Enum):
    """How the elements of a buffer lie in memory; an entry guard holds a parameter to its layout."""

    C = "C"  # last axis adjacent (all but parameters are so)
    F = "F"  # first axis adjacent
    STRIDED = "strided"  # any strides, known at run time


class Space(enum.Enum):
    """Which memory the elements of a buffer are in."""

    HOST = "host"  # of this process
    DEVICE = "device"  # of an accelerator: kernels reach it, Python does not
    BLOCKS = "blocks"  # of several processes, each of which has a part


@dataclass(frozen=True)
class Buffer:
    """A block of elements.  Rank 0 is a scalar variable."""

    name: str
    type: ScalarType
    shape: tuple[Expr, ...]
    role: Role = Role.LOCAL
    layout: Layout = Layout.C
    space: Space = Space.HOST
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def rank(self) -> int:
        return len(self.shape)


def is_list(buffer: Buffer) -> bool:
    """Whether a parameter is a (nested) list: its elements are Python's own numbers."""
    return buffer.role is Role.PARAM and buffer.rank > 0 and buffer.type.weak


@dataclass(frozen=True)
class SizeOf:
    """The symbol's value is the extent of a parameter buffer along an axis."""

    buffer: str
    axis: int


@dataclass(frozen=True)
class Argument:
    """The symbol's value is an integer argument."""

    name: str


@dataclass(frozen=True)
class Derived:
    """The symbol's value is computed at entry from symbols declared before it: `n // 2`, `min(n, m)`.

    Naming it makes an index that uses it affine.
    """

    value: Expr


@dataclass(frozen=True)
class Symbol:
    """An integer known at entry and never changed."""

    name: str
    source: SizeOf | Argument | Derived


class LoopKind(enum.Enum):
    SEQUENTIAL = "for"
    ASSERTED = "prange"
    PARALLEL = "parallel"
    VECTOR = "vector"
    FINISH = "finish"
    TASK = "task"
    ISOLATED = "isolated"


#: Kinds of loops that repeat nothing: a block that has a meaning as a whole.
REGIONS = frozenset({LoopKind.FINISH, LoopKind.TASK, LoopKind.ISOLATED})


@dataclass(frozen=True)
class Accumulator:
    """A rank-0 buffer that a VECTOR loop reduces into by `op` (a binary operation of ops.REDUCTIONS)."""

    buffer: str
    op: str


@dataclass(frozen=True)
class Stmt:
    domain: Domain
    buffer: str
    index: tuple[Expr, ...]
    value: Expr
    reduce: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Check:
    """`exception` names an exception (see errors.exception_type); `message` may use {0}, {1}, {2} for the integer
    expressions `values`.
    """

    domain: Domain
    condition: Expr
    exception: str
    message: str = ""
    values: tuple[Expr, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Loop:
    """`work` estimates the cycles of the whole loop: a PARALLEL loop runs on one thread when that is too little, and
    never on more than `threads`, if that is not 0.
    """

    dim: AnyDim
    body: Block
    kind: LoopKind = LoopKind.SEQUENTIAL
    accumulators: tuple[Accumulator, ...] = ()
    work: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    threads: int = 0


@dataclass(frozen=True)
class While:
    """`brief` loops end after so few steps that nobody looks for Ctrl-C in them: searches in hash tables and heaps."""

    prelude: Block
    condition: Expr
    body: Block
    span: Span = field(default=NOWHERE, compare=False, repr=False)
    brief: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True)
class If:
    condition: Expr
    then: Block
    orelse: Block = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Break:
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Continue:
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Return:
    result: int
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Alloc:
    buffer: str
    zero: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Rebind:
    targets: tuple[str, ...]
    sources: tuple[str, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Call:
    """A library routine `routine` (gemm, gemv, dot, ...) with the meaning of `stmt`.

    `operands` are the reads of `stmt` that the routine takes, in its order; the back end derives sizes and strides from
    their index maps and the domain.  `scale` multiplies the product, `keep` the old contents (None: overwritten).
    """

    routine: str
    stmt: Stmt
    operands: tuple[Read, ...]
    scale: Expr | None = None
    keep: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Operand:
    """An array that a routine takes or fills: its element at a core point is buffer[index], over `dims`.

    The index is affine in the domain of the node and in `dims`, so that every operand is a strided array: a slice, a
    transpose or a broadcast is no copy.
    """

    buffer: str
    dims: Domain
    index: tuple[Expr, ...]


@dataclass(frozen=True)
class Library:
    """The routine `routine` of ir.routines, once for every point of `domain` (the batch).

    `status`, a rank-0 buffer of bools, becomes whether all of them succeeded; the node itself never raises.  An output
    may be an input, element by element: the routine works in place.
    """

    routine: str
    domain: Domain
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    status: str | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Invoke:
    """A call of the function `function` of the program: a number for each scalar parameter, a strided array for each
    other one.

    A parameter of role HELD gets an operand without index: the buffer itself, contents and memory, for the time of the
    call.  The numbers it returns go into the rank-0 buffers `results`; `writes` names the buffers of operands whose
    elements it may change.  What it raises, the caller raises.
    """

    function: str
    arguments: tuple[Expr | Operand, ...]
    results: tuple[str, ...]
    writes: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    @property
    def operands(self) -> tuple[Operand, ...]:
        return tuple(argument for argument in self.arguments if isinstance(argument, Operand))


#: The exception of a Check that fails: plain Python repeats the call.
HAND_BACK = "GuardFailed"
#: The message of such a check if what follows reads or writes where it could not if the check failed.
OF_PLACE = "of a place"
#: The exception of a check after which Python must not repeat the call: it would read outside of memory.
MALFORMED = "MalformedSparse"

#: An access outside of an array, in checked kernels: a mistake of weft's own, never repeated in Python.
OUTSIDE = "SystemError"

Node = Union[Stmt, Check, Loop, While, If, Break, Continue, Return, Alloc, Rebind, Call, Library, Invoke]
Block = tuple[Node, ...]


# --- results: what the Python caller gets -------------------------------------------------------------------------


@dataclass(frozen=True)
class NoneOut:
    pass


@dataclass(frozen=True)
class ScalarOut:
    """The value of a rank-0 buffer (weak: a Python scalar, strong: a NumPy scalar)."""

    buffer: str


@dataclass(frozen=True)
class ArrayOut:
    """A buffer of role RESULT, handed over; or an argument's own object (role PARAM); as_list: as nested lists."""

    buffer: str
    as_list: bool = False


@dataclass(frozen=True)
class ViewOut:
    """A view of a parameter or result buffer: element (d0, d1, ...) is buffer[index] over the dims.

    The index is affine in the dims with constant or symbolic strides, so the view is a strided NumPy array.
    """

    buffer: str
    dims: tuple[AnyDim, ...]
    index: tuple[Expr, ...]


@dataclass(frozen=True)
class TupleOut:
    """A tuple or list; `named`: one of this class of named tuples, as errors.located finds it ("module:name"), or what
    its parts mean to the compiler ("weft:str")."""

    items: tuple[Out, ...]
    as_list: bool = False
    named: str = ""

    @property
    def has_class(self) -> bool:
        return bool(self.named) and not self.named.startswith("weft:")


@dataclass(frozen=True)
class ArgumentOut:
    """The very object that the argument `index` of the call is."""

    index: int


@dataclass(frozen=True)
class ConstOut:
    """A constant of the program: None, a string, a tuple of ints...; `text` is its repr (evaluated by literal_eval)."""

    text: str


OutLeaf = Union[NoneOut, ScalarOut, ArrayOut, ViewOut, ArgumentOut, ConstOut]
Out = Union[OutLeaf, TupleOut]


@dataclass(frozen=True)
class Program:
    """A whole function.  `params` names, in call order, the buffer or symbol each run-time argument fills.

    `disjoint` are pairs of parameter buffers assumed not to share memory: a guard, as `guards` are.  `functions` are
    what Invoke nodes call, in this program and in each other.  `arranged` are parameters whose layout decides what the
    program computes (a view or a copy): a back end that reads any layout guards theirs.  `ordered` are results that the
    source asks to lie in C order, whatever they are made of.
    """

    name: str
    params: tuple[str, ...]
    symbols: tuple[Symbol, ...]
    buffers: tuple[Buffer, ...]
    guards: tuple[Check, ...]
    body: Block
    results: tuple[Out, ...]
    disjoint: tuple[tuple[str, str], ...] = ()
    functions: tuple[Program, ...] = ()
    arranged: tuple[str, ...] = ()
    ordered: tuple[str, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)

    def buffer(self, name: str) -> Buffer:
        return self.table[name]

    @property
    def table(self) -> dict[str, Buffer]:
        """Buffers by name (made once, since a Program never changes)."""
        cached = self.__dict__.get("_table")
        if cached is None:
            cached = {buffer.name: buffer for buffer in self.buffers}
            object.__setattr__(self, "_table", cached)
        result: dict[str, Buffer] = cached
        return result
