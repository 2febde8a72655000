"""The state of one build: buffers, blocks, symbols, guards, and what is known of sizes.  Every other module of the
front end puts statements into the program through an `Emitter`.

Facts about sizes (`0 <= i < n`, `a.shape[0] == b.shape[0]`) are linear inequalities over index variables.  `assure`
decides each: proved from the enclosing loops, or made an entry guard (worst case over the loops) if it holds for the
arguments at hand; otherwise the caller takes the general form (a wrapped index, a clamped slice, a check in place).
"""

from __future__ import annotations

import ast
import copy
import dataclasses
import keyword
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from typing import Any

from weft.errors import Span, Unsupported
from weft.frontend import arith, spelling
from weft.frontend.aliasing import Given
from weft.frontend.sides import Sides, either_side
from weft.frontend.values import Array, ArrayOf, HeapKind, ItemType, Records, Scalar, Tuple
from weft.ir import index as ix
from weft.ir import walk
from weft.ir.expr import TRUE, ZERO, Cast, Const, Dim, Domain, Expr, Op, Read, Var, integer
from weft.ir.index import Affine, affine
from weft.ir.program import (
    HAND_BACK,
    Alloc,
    Argument,
    Block,
    Buffer,
    Check,
    Derived,
    Layout,
    Node,
    Out,
    Program,
    Role,
    SizeOf,
    Stmt,
    Symbol,
)
from weft.ir.types import BOOL, FLOAT, INT, ScalarType
from weft.records import dataclass

#: No machine that weft knows has as much memory as that.
_MOST_BYTES = 2.0**40


class Restart(Exception):
    """A decision was revised (see `Decisions`): build again from the start."""


class Choosing(Exception):
    """What is added up is of one of two types: the sum is a variable like those of the user's."""


class Untyped(Unsupported):
    """An item is taken out of a container before it is known what it holds, which statements further on may tell."""


class NeedConstant(Exception):
    """A symbol's value must be known to compile: build again with the argument as a constant."""

    def __init__(self, symbol: str, span: Span) -> None:
        super().__init__(symbol)
        self.symbol = symbol
        self.span = span


class NeedData(Exception):
    """A string that is an argument is more than a constant: build again with its characters as data."""

    def __init__(self, argument: int) -> None:
        super().__init__(argument)
        self.argument = argument


@dataclass(frozen=True)
class LateArray:
    """The first array of a variable that has none before the loop or branch; `shape`, if it is known at entry."""

    type: ScalarType
    rank: int
    shape: tuple[Expr, ...] | None
    is_list: bool


@dataclass(frozen=True)
class Kept:
    """A variable that was an argument when its slot was opened: `flag` tells whether it still is that very object."""

    param: str
    flag: str


@dataclass
class TaskDecisions:
    """What becomes of the tasks of a program, in all its functions."""

    met: bool = False  # there are some
    in_sequence: bool = False  # they run one after the other, as in Python
    declared: bool = True  # prange declares iterations parallel; else it is a range


@dataclass
class Decisions:
    """What earlier attempts at the same build have found out; only ever grows, so building ends."""

    slot_types: dict[tuple[int, str], ScalarType] = field(default_factory=dict)
    tagged: dict[tuple[int, str], ScalarType | None] = field(default_factory=dict)  # slots that hold a second type
    varying: dict[tuple[int, str], frozenset[int]] = field(default_factory=dict)  # axes of arrays that change size
    late: dict[tuple[int, str], LateArray] = field(default_factory=dict)
    duplicated: dict[tuple[int, int], ast.If | None] = field(default_factory=dict)  # branches that take the rest along
    branched: dict[int, ast.If | None] = field(default_factory=dict)  # `x = a if c else b` as a branch, by statement
    missing: dict[tuple[int, str], int] = field(default_factory=dict)  # slots of None or so many numbers (0: just one)
    absent: dict[tuple[int, str], ItemType] = field(default_factory=dict)  # slots of None, or something of this type
    unset: dict[str, ast.stmt] = field(default_factory=dict)  # variables that may be read unset: `x = None`
    roomy: set[tuple[int, str]] = field(default_factory=set)  # slots that hold integers of two types, one of them wider
    items: dict[tuple[int, str], ItemType] = field(default_factory=dict)  # what lists hold that are empty at first
    entries: dict[tuple[int, str], tuple[ItemType, ItemType | None]] = field(default_factory=dict)  # of dicts
    keyed: set[tuple[int, str]] = field(default_factory=set)  # dicts of constant keys and values of several types
    tupled: set[tuple[int, str]] = field(default_factory=set)  # tuples of numbers whose parts change
    private: set[tuple[int, str]] = field(default_factory=set)
    constants: set[str] = field(default_factory=set)
    guessed: set[tuple[int, str]] = field(default_factory=set)  # dicts among `entries` whose values are not known yet
    changing: set[str] = field(default_factory=set)  # arguments that get or lose items
    left_to_python: set[tuple[int, int]] = field(default_factory=set)  # handlers of exceptions without a native form
    heaps: list[HeapKind] = field(default_factory=list)  # what lists hold that are items of containers
    renewed: set[tuple[int, str]] = field(default_factory=set)  # attributes that get another array, or None
    placed: dict[str, ArrayOf] = field(default_factory=dict)  # arguments that are arrays and are put into containers
    objects: dict[type, dict[str, ItemType]] = field(default_factory=dict)  # classes in containers: their attributes
    escaping: set[tuple[int, str]] = field(default_factory=set)  # names of lists that are put into containers
    indexed: set[tuple[int, str]] = field(default_factory=set)  # names of lists that need memory to be indexed
    nested: set[tuple[int, str]] = field(default_factory=set)  # lists of lists whose rows change their length
    texts: dict[tuple[int, str], tuple[str, bool]] = field(default_factory=dict)  # slots of strings, of one character?
    watched: set[tuple[int, int]] = field(default_factory=set)  # loops over lists whose length changes in the loop
    shuffled: set[tuple[int, str]] = field(default_factory=set)  # slots of sparse matrices with entries out of order
    outside: dict[tuple[int, str], object] = field(default_factory=dict)  # containers that are globals: where they are
    parts: set[tuple[int, tuple[str, ...]]] = field(default_factory=set)  # containers that are attributes of arguments
    stored: set[tuple[int, tuple[str, ...], str]] = field(default_factory=set)  # attributes of arguments that change
    assigned: set[tuple[type, str]] = field(default_factory=set)  # attributes that change, of objects in arguments
    rounding: set[tuple[int, str]] = field(default_factory=set)  # slots of floats that hold integers of any size
    exact: bool = False  # the caller gets to see whether a float is Python's or NumPy's
    specialise: bool = True
    guarded: bool = True  # what cannot be proved may be made a guard at entry
    small: bool = True  # small sizes are compiled in
    strict: bool = False  # sums and products keep the order of the source
    tasks: TaskDecisions = field(default_factory=TaskDecisions)
    unrepeatable: bool = False  # the function writes what the caller sees: Python cannot begin again
    alone: bool = False  # there is no Python to begin again, or to say more


#: What is learnt of containers although statements were skipped that could not be built yet.
_LEARNT = frozenset({"items", "entries", "heaps", "objects", "keyed"})


def without_guesses(before: Decisions, now: Decisions) -> None:
    """`now` becomes what it was `before`, but for what containers hold."""
    for entry in dataclasses.fields(Decisions):
        if entry.name not in _LEARNT:
            setattr(now, entry.name, getattr(before, entry.name))


class Widenings:
    """Variables that turned out to hold wider types, all of one attempt: it goes on to its end, with the types that
    they will have, and is then repeated.  Whatever else it decides is forgotten: it was built with wrong types."""

    def __init__(self, decisions: Decisions) -> None:
        self._decisions = decisions
        self._before: dict[str, Any] = {}
        self._found: dict[tuple[int, str], ScalarType] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def note(self, key: tuple[int, str], of: ScalarType) -> None:
        if not self._found:
            for entry in dataclasses.fields(Decisions):
                kept = copy.copy(getattr(self._decisions, entry.name))
                if entry.name == "objects":
                    kept = {owner: dict(attributes) for owner, attributes in kept.items()}
                self._before[entry.name] = kept
        self._found[key] = of

    def keep(self) -> None:
        """The decisions become what they were, but for the types of these variables."""
        for name, value in self._before.items():
            setattr(self._decisions, name, value)
        self._decisions.slot_types.update(self._found)


@dataclass(frozen=True)
class Counted:
    """How many elements of a mask are true, and where in the program that was found out."""

    block: list[Node]
    mutations: int
    count: Expr


class Emitter:
    """Collects one program."""

    def __init__(self, name: str, decisions: Decisions, sample: Mapping[str, int] | None) -> None:
        self.name = name
        self.decisions = decisions
        self.widenings = Widenings(decisions)
        self.sample: dict[str, int] | None = None if sample is None else dict(sample)
        self.taken: set[str] = set()
        self.buffers: dict[str, Buffer] = {}
        self.symbols: dict[str, Symbol] = {}
        self.guards: list[Check] = []
        self.guarded = decisions.guarded
        self.facts: list[Affine] = []
        self.equal: dict[str, Expr] = {}
        self.blocks: list[list[Node]] = [[]]
        self.branching = [False]  # of each block, whether it is a branch
        self.searches: dict[object, object] = {}  # what has been looked for in hash tables, as `tables.py` keeps it
        self.dims: list[Dim] = []
        #: Snapshots of what nothing can change: the block and the scalar of a value, and the value of a scalar.
        self._snapshots: dict[Expr, tuple[object, str]] = {}
        self._values: dict[str, Expr] = {}
        self.results: list[Out] = []
        #: Arrays of integers from 0 to a greatest one, which nobody writes any more.
        self.contents: dict[str, Expr] = {}
        self.order_sites = 0  # places that add to a set whose order matters: each is long
        self.handed: list[tuple[Span, str]] = []
        self.stretching: set[Expr] = set()  # extents that may be 1 where others are not
        self.rarities = 0  # how many tests there are after which Python begins again, if it can
        self.params: list[str] = []
        self.products: dict[str, Expr] = {}  # scalars computed of symbols alone, and how: n = x_0 * x_1
        self.remainders: dict[str, Expr] = {}  # scalars that hold a remainder, and its modulus
        self.counts: dict[tuple[Expr, tuple[Expr, ...]], Counted] = {}
        self.boxed: set[str] = set()  # scalars that NumPy has as arrays of rank 0: not to be shown as what they are
        self.disjoint: set[tuple[str, str]] = set()  # pairs of arguments that must not share memory: else Python runs
        self.arranged: set[str] = set()  # arguments whose layout decided between a view and a copy
        self.exchanged: list[tuple[str, ...]] = []  # buffers that change places
        self.array_memory: set[str] = set()  # the buffers of arrays in containers
        self.copied_names: dict[str, set[tuple[int, str]]] = {}  # names of arrays that such buffers have copies of
        self.given: dict[int, Given] = {}  # statements that give a variable its array, by identity
        self._given_nodes: list[Node] = []
        self.slot_copies: set[str] = set()  # buffers that stand for what a variable held when they were made
        self.order: dict[str, bool] = {}  # buffers of which it is known whether NumPy has them in C order
        self.taken_as_c: dict[str, Span] = {}  # buffers taken to be in C order, and where
        self.branches: dict[str, tuple[int, int]] = {}  # the branch that opened the slot of each buffer
        self.kept: dict[str, Kept] = {}  # slots that were opened with an argument
        self.flags: set[str] = set()  # and the scalars that tell whether they still are it
        self.literal: Callable[[Tuple], Array] | None = None  # how a literal list becomes an array: the builder tells
        self.stacked: Callable[[Records], Array] | None = None  # how a list of arrays becomes one: the builder tells
        #: Sees to it that a result is of one type, whichever types numbers among its operands have: the builder tells.
        self.settle: Callable[[Sequence[Expr], Callable[[Sequence[ScalarType]], object]], None] | None = None
        self.delivers = False  # what is computed goes to an `out`, whose shape NumPy's messages tell as well
        self.sound = False  # inside of a library function whose indices are in range by construction
        self.mutations = 0  # counts writes to memory that an earlier, still lazy value may read
        self.span = Span("<unknown>", 0, 0, 0, 0)

    # --- names and memory -------------------------------------------------------------------------------------------

    def fresh(self, name: str) -> str:
        name = name.replace(".", "_")  # a part of a tuple
        return walk.fresh(f"{name}_" if keyword.iskeyword(name) else name, self.taken)

    def size_symbol(self, buffer: str, axis: int, value: int | None) -> Var:
        name = self.fresh(f"{buffer}_{axis}")
        self.symbols[name] = Symbol(name, SizeOf(buffer, axis))
        if self.sample is not None and value is not None:
            self.sample[name] = value
        return Var(name)

    def argument_symbol(self, name: str, value: int | None) -> Var:
        unique = self.fresh(name)
        self.symbols[unique] = Symbol(unique, Argument(unique))
        if self.sample is not None and value is not None:
            self.sample[unique] = value
        return Var(unique)

    def declare(
        self,
        name: str,
        of: ScalarType,
        shape: tuple[Expr, ...] = (),
        role: Role = Role.LOCAL,
        layout: Layout = Layout.C,
    ) -> Buffer:
        buffer = Buffer(self.fresh(name), of, shape, role, layout, span=self.span)
        self.buffers[buffer.name] = buffer
        return buffer

    def allocate(self, name: str, of: ScalarType, shape: tuple[Expr, ...], zero: bool = False) -> Buffer:
        """A new local array."""
        buffer = self.declare(name, of, tuple(self.stable(extent) for extent in shape))
        self.affordable(buffer.shape, of)
        self.emit(Alloc(buffer.name, zero, self.span))
        return buffer

    def affordable(self, shape: tuple[Expr, ...], of: ScalarType | None = None) -> None:
        """Python fails at once to make an array beyond all memory: a test, since passes may do without the array.

        Without a type: of the extents that are computed on the way.
        """
        forms = [affine(extent) for extent in shape]
        symbols = {name for form in forms if form is not None for name in form.names}
        computed = None in forms
        if computed is (of is not None) or not (computed or self._of_arguments(symbols)):
            return  # arrays as large as arguments, or as long as loops, can be made
        size: Expr = Const(float(of.dtype.size if of is not None else 8), FLOAT)
        for extent in shape:
            size = Op("mul", (size, arith.cast(extent, FLOAT)), FLOAT)
        test = Op("le", (size, Const(_MOST_BYTES, FLOAT)), BOOL)
        if self.decisions.alone and (computed or not self.guarded):
            self.check(test, "MemoryError", "an array larger than memory")
        elif computed or not self.guarded:
            self.rarely_fails(test, "an array larger than memory")
        elif not any(test == other.condition for other in self.guards):
            self.guards.append(Check((), test, "MemoryError", "", (), self.span))

    def _of_arguments(self, names: Iterable[str]) -> bool:
        """Whether all these are symbols, and an integer argument is among what they are made of."""
        if not all(name in self.symbols for name in names):
            return False
        sources = [self.symbols[name].source for name in names]
        derived = [walk.free_vars(each.value) for each in sources if isinstance(each, Derived)]
        return any(isinstance(each, Argument) for each in sources) or any(map(self._of_arguments, derived))

    def stable(self, expr: Expr) -> Expr:
        """`expr` as one that later writes cannot change: reads go through a scalar of their own."""
        return expr if not any(True for _ in walk.reads(expr)) or self._single(expr) else self.snapshot(expr, "n")

    def _single(self, expr: Expr) -> bool:
        return isinstance(expr, Read) and self.is_written_once(expr.buffer)

    def is_written_once(self, buffer: str) -> bool:
        """Whether a scalar keeps the value it has."""
        return buffer in self._written_once

    @property
    def _written_once(self) -> set[str]:
        found: set[str] = self.__dict__.setdefault("_once", set())
        return found

    def _sides(self, expr: Expr) -> Sides | None:
        """The cases of a minimum or maximum in an expression, or in a snapshot that it reads."""
        known = self._values
        opened = walk.rewrite(expr, lambda e: known.get(e.buffer, e) if isinstance(e, Read) and not e.index else e)
        return either_side(opened)

    def snapshot(self, expr: Expr, name: str = "t") -> Expr:
        """The value of `expr` now, kept in a scalar that is written once."""
        expr = self.derived(expr)
        if isinstance(expr, (Const, Var)) or self._single(expr) or affine(expr) is not None:
            return expr
        known = self._kept(expr)
        if known is not None:
            return known
        buffer = self.declare(name, expr.type)
        self.assign((), buffer.name, (), expr)
        self._written_once.add(buffer.name)
        if all(self._single(read) and not read.index for read in walk.reads(expr)):
            self._snapshots[self.resolve(expr)] = (self.blocks[-1], buffer.name)
            self._values[buffer.name] = expr
        if walk.free_vars(expr) <= self.symbols.keys() and not walk.expr_buffers(expr):
            self.products[buffer.name] = expr
        modulus = self.modulus(expr)
        if modulus is not None:
            self.remainders[buffer.name] = modulus
        return Read(buffer.name, (), expr.type)

    def _kept(self, expr: Expr) -> Expr | None:
        """A snapshot of what nothing can change, taken before in a block that is still open: `x[v]` and `y[v]` have one
        length."""
        block, name = self._snapshots.get(self.resolve(expr), (None, ""))
        return Read(name, (), expr.type) if any(each is block for each in self.blocks) else None

    def modulus(self, expr: Expr) -> Expr | None:
        """The m of a remainder `e % m`, over symbols alone, also of one kept in a scalar: 0 <= expr < m, if m > 0."""
        if isinstance(expr, Read):
            return self.remainders.get(expr.buffer)
        if not isinstance(expr, Op) or expr.op != "mod" or expr.type != INT:
            return None
        form = affine(expr.args[1])
        lasting = form is not None and all(name in self.symbols for name in form.names)
        return expr.args[1] if lasting else None

    def remember_count(self, key: tuple[Expr, tuple[Expr, ...]], count: Expr) -> None:
        """A count holds for the statements that follow in the same block, until an array changes."""
        self.counts[key] = Counted(self.blocks[-1], self.mutations, count)

    def changed(self, buffer: str) -> None:
        """Note a write to memory; counts of masks that do not read it still hold."""
        before, self.mutations = self.mutations, self.mutations + 1
        written = self.buffers[buffer].role
        for key, known in self.counts.items():
            if known.mutations != before:
                continue
            read = [self.buffers[name] for name in walk.expr_buffers(key[0]) if name in self.buffers]
            shares = any(b.name == buffer or (b.role is Role.PARAM and written is Role.PARAM) for b in read)
            if not shares:
                self.counts[key] = replace(known, mutations=self.mutations)

    # --- blocks -----------------------------------------------------------------------------------------------------

    def emit(self, node: Node) -> None:
        self.blocks[-1].append(node)

    @contextmanager
    def capture(self, branch: bool = False) -> Iterator[list[Node]]:
        """Statements emitted inside go into the list, not into the program; `branch`: done once or not at all."""
        block: list[Node] = []
        self.blocks.append(block)
        self.branching.append(branch)
        try:
            yield block
        finally:
            popped = self.blocks.pop()
            self.branching.pop()
            assert popped is block

    def unchanged(self, block: list[Node], since: int, names: frozenset[str]) -> bool:
        """Whether what held after the first `since` nodes of a block holds here: they were done on the way to this
        place, in the same iteration of every loop, and nothing after them changes one of the buffers."""
        depth = next((depth for depth, other in enumerate(self.blocks) if other is block), None)
        if depth is None or not all(self.branching[depth + 1 :]):
            return False
        later = [*block[since:], *(node for other in self.blocks[depth + 1 :] for node in other)]
        return all(names.isdisjoint(walk.buffers_written(node)) for node in later)

    @contextmanager
    def inside(self, dim: Dim) -> Iterator[None]:
        """What is emitted inside may use the dimension."""
        self.dims.append(dim)
        try:
            yield
        finally:
            self.dims.pop()

    def assign(
        self, domain: Domain, buffer: str, index: tuple[Expr, ...], value: Expr, reduce: str | None = None
    ) -> None:
        if isinstance(value, Read) and value.buffer in self.boxed and not index:
            self.boxed.add(buffer)  # under whatever name
        self.emit(Stmt(domain, buffer, index, value, reduce, self.span))

    def is_boxed(self, value: object) -> bool:
        """Whether NumPy has an array of rank 0 where there is a number here."""
        if isinstance(value, Array):
            return not value.rank and not value.is_list
        return isinstance(value, Scalar) and isinstance(value.expr, Read) and value.expr.buffer in self.boxed

    def note_given(self, node: Node, given: Given) -> None:
        """Remember what a statement gives to a variable; the node is kept, so that its identity stays its own."""
        self.given[id(node)] = given
        self._given_nodes.append(node)

    def given_nodes(self) -> Iterator[tuple[Node, Given]]:
        """The statements that give variables their arrays."""
        return ((node, self.given[id(node)]) for node in self._given_nodes)

    def domain(self, shape: tuple[Expr, ...], hint: str = "i") -> tuple[Domain, tuple[Expr, ...]]:
        """Fresh dimensions over a shape and their variables."""
        letters = "ijklmnpq" if hint == "i" else hint
        dims = tuple(
            Dim(self.fresh(letters[axis] if axis < len(letters) else f"d{axis}"), ZERO, extent)
            for axis, extent in enumerate(shape)
        )
        return dims, tuple(Var(dim.var) for dim in dims)

    # --- what is known of sizes -------------------------------------------------------------------------------------

    def resolve(self, expr: Expr) -> Expr:
        """`expr` with sizes that are known to be equal written the same way."""
        return ix.canonical(walk.substitute(expr, self.equal)) if self.equal else expr

    def spelled(self, expr: Expr) -> Expr:
        """`expr` in the symbols of the entry where these tell it, so that sizes can be compared as polynomials."""
        def visit(part: Expr) -> Expr:
            return self.products.get(part.buffer, part) if isinstance(part, Read) and not part.index else part

        return self.resolve(walk.rewrite(expr, visit) if self.products else expr)

    def _least(self, expr: Expr) -> Affine | None:
        """The least value of an expression as a linear form, with elements of known arrays at their worst."""
        extremes: dict[str, Expr] = {}

        def visit(part: Expr) -> Expr:
            if isinstance(part, Read) and part.buffer in self.contents:
                name = f"{part.buffer}@{len(extremes)}"
                extremes[name] = self.contents[part.buffer]
                return Var(name)
            return part.value if isinstance(part, Cast) and part.of == INT and isinstance(part.value, Var) else part

        form = affine(self.resolve(walk.rewrite(expr, visit) if self.contents else expr))
        for name, greatest in extremes.items():
            if form is None:
                return None
            coefficient = form.coefficient(name)
            most = affine(self.resolve(greatest)) if coefficient < 0 else Affine((), 0)
            if most is None:
                return None
            form = form.without(name) + most.scaled(coefficient)
        return form

    def worst(self, form: Affine) -> Affine | None:
        """The least value of a linear form over the enclosing loops, in symbols alone; None if that is not affine."""
        for dim in reversed(self.dims):
            coefficient = form.coefficient(dim.var)
            if coefficient == 0:
                continue
            low, high = (dim.lo, ix.sub(dim.hi, integer(1))) if dim.step > 0 else (ix.add(dim.hi, integer(1)), dim.lo)
            bound = self._least(low) if coefficient > 0 else self._least(ix.sub(ZERO, high))
            if bound is None:
                return None
            form = form.without(dim.var) + bound.scaled(abs(coefficient))
        return form if all(name in self.symbols for name in form.names) else None

    def _evident(self, form: Affine) -> bool:
        return form.constant >= 0 and all(c > 0 and self._never_negative(name) for name, c in form.terms)

    def _never_negative(self, name: str) -> bool:
        source = self.symbols[name].source
        if isinstance(source, Derived) and isinstance(source.value, Op):
            return source.value.op == "mod" or Affine(((name, 1),), 0) in self.facts
        return isinstance(source, SizeOf) or any(
            value == Var(name) and isinstance(self.symbols[size].source, SizeOf) for size, value in self.equal.items()
        )

    def proved(self, expr: Expr) -> bool:
        """Whether expr >= 0 for every iteration, whatever the arguments (that pass the guards so far)."""
        form = self._least(expr)
        if form is None:
            sides = self._sides(expr)
            return sides is not None and sides.holds(map(self.proved, sides.parts))
        worst = self.worst(form)
        return worst is not None and self._implied(worst)

    def _implied(self, form: Affine) -> bool:
        return self._evident(form) or any(self._evident(form - fact) for fact in (*self.facts, *self._entered()))

    def _entered(self) -> Iterator[Affine]:
        """What holds because the loops around have an iteration: 0 <= n - 1 inside a loop up to n."""
        for dim in self.dims:
            first, last = (dim.lo, dim.hi) if dim.step > 0 else (dim.hi, dim.lo)
            form = affine(self.resolve(ix.sub(ix.sub(last, first), integer(1))))
            if form is not None and all(name in self.symbols for name in form.names):
                yield form

    def derived(self, expr: Expr) -> Expr:
        """An integer expression over symbols alone (n // 2, min(n, m)) as a symbol of its own, so that it is affine."""
        if (
            affine(expr) is not None
            or not isinstance(expr, Op)
            or expr.op not in ("floordiv", "mod", "minimum", "maximum")
        ):
            return expr
        operands = [affine(self.resolve(arg)) for arg in expr.args]
        if not all(form is not None and all(name in self.symbols for name in form.names) for form in operands):
            return expr
        second = operands[1]
        if expr.op in ("floordiv", "mod") and not (second is not None and second.is_constant and second.constant > 0):
            return expr
        value = Op(expr.op, tuple(self.resolve(arg) for arg in expr.args), INT)
        known = next((s.name for s in self.symbols.values() if s.source == Derived(value)), None)
        if known is not None:
            return Var(known)
        name = self.fresh("part" if expr.op in ("floordiv", "mod") else "least" if expr.op == "minimum" else "most")
        self.symbols[name] = Symbol(name, Derived(value))
        bounds = ix.derived_bounds(name, value)
        self.facts += bounds
        if expr.op == "floordiv" and operands[0] is not None and self._implied(operands[0]):
            self.facts.append(Affine(((name, 1),), 0))
        self._sample_derived(name, value, operands)
        return Var(name)

    def _sample_derived(self, name: str, value: Op, operands: list[Affine | None]) -> None:
        values = [None if form is None else self.sample_value(ix.expression(form)) for form in operands]
        if self.sample is None or any(v is None for v in values):
            return
        left, right = (v for v in values if v is not None)
        compute = {"floordiv": lambda: left // right, "mod": lambda: left % right}
        self.sample[name] = compute.get(value.op, lambda: (min if value.op == "minimum" else max)(left, right))()

    def assure(self, expr: Expr, exception: str, message: str = "") -> bool:
        """Make sure that expr >= 0 in every iteration: True if it is proved or is now an entry guard, False if the
        caller must take the general form.
        """
        form = self._least(expr)
        if form is None:
            sides = self._sides(expr)
            if sides is None or sides.holds is all or self.proved(expr):
                return self.proved(expr)
            return any(self.assure(part, exception, message) for part in sides.parts)
        worst = self.worst(form)
        if worst is None:
            return False
        if self._implied(worst):
            return True
        if worst.is_constant or not self._holds(worst):
            return False
        equal = self._equal_now(worst)
        if equal is not None:
            left, right = equal
            self.guards.append(Check((), Op("eq", (left, right), BOOL), exception, message, (), self.span))
            self._unify(left, right)
            return True
        self.facts.append(worst)
        test = Op("ge", (ix.expression(worst), ZERO), BOOL)
        self.guards.append(Check((), test, exception, message, (), self.span))
        return True

    def _equal_now(self, form: Affine) -> tuple[Expr, Expr] | None:
        """Two sides that are equal for these arguments, and whose equality implies form >= 0: then that is the guard,
        since equal sizes share loops.  (A later attempt, for arguments that do not fit, takes the inequality.)
        """
        sizes = [name for name, c in form.terms if c == 1 and isinstance(self.symbols[name].source, SizeOf)]
        if not self.decisions.specialise or not sizes or len(form.terms) < 2 or self.sample is None:
            return None
        if not all(name in self.sample for name in form.names):
            return None
        if form.constant > 0 and len(form.terms) == 2:
            form = Affine(form.terms, 0)  # n >= m - 1 where n == m
        if form.constant + sum(c * self.sample[name] for name, c in form.terms) != 0:
            return None
        return spelling.sides(form)

    def _holds(self, form: Affine) -> bool:
        """Whether an inequality may be made a guard: a function that calls itself is entered too often to hope."""
        if not self.guarded:
            return False
        if self.sample is None:
            return True
        if not all(name in self.sample for name in form.names):
            return True
        return form.constant + sum(c * self.sample[name] for name, c in form.terms) >= 0

    def sample_value(self, expr: Expr) -> int | None:
        """The value of a size for the arguments at hand, if it is known."""
        form = affine(expr)
        if form is None or self.sample is None or not all(name in self.sample for name in form.names):
            return None
        return form.constant + sum(c * self.sample[name] for name, c in form.terms)

    def same_size(self, left: Expr, right: Expr, exception: str, message: str, whole: bool = True) -> Expr:
        """Both extents are equal, or the exception is raised; returns one spelling of the extent.

        `whole`: the message is all that NumPy says; otherwise Python raises, and arguments are put back first.
        """
        left, right = self.resolve(left), self.resolve(right)
        delta = ix.difference(left, right)
        if delta == 0:
            return left
        if delta is not None:
            raise Unsupported(self.span, f"{exception}: {message or 'sizes differ'}")
        test = Op("eq", (left, right), BOOL)
        if self.known_at_entry(left) and self.known_at_entry(right):
            self.guards.append(Check((), test, exception, message, (), self.span))
            self._unify(left, right)
            return self.resolve(left)
        self.check(test, exception if whole or self.decisions.alone else "RuntimeError", message, (left, right))
        return left

    def known_at_entry(self, extent: Expr) -> bool:
        """Whether a guard can test an extent: calls where it does not fit are Python's."""
        form = affine(extent)
        return self.guarded and form is not None and all(name in self.symbols for name in form.names)

    def never_one(self, extent: Expr) -> bool:
        """Whether an array has surely not one element along an axis, where NumPy would stretch it or drop the axis:
        by a guard, if it can be tested at entry and holds for the arguments at hand."""
        extent = self.resolve(extent)
        if isinstance(extent, Const):
            return extent.value != 1
        if self.proved(ix.sub(extent, integer(2))):
            return True
        if not self.known_at_entry(extent) or self.sample_value(extent) == 1:
            return False
        guard = Check((), Op("ne", (extent, integer(1)), BOOL), "RuntimeError", "", (), self.span)
        if all(known.condition != guard.condition for known in self.guards):
            self.guards.append(guard)
        return True

    def likely_equal(self, left: Expr, right: Expr) -> bool:
        """Whether two extents are equal, or may be made so by a guard that holds for the arguments at hand."""
        left, right = self.resolve(left), self.resolve(right)
        delta = ix.difference(left, right)
        if delta is not None:
            return delta == 0
        forms = affine(left), affine(right)
        known = all(form is not None and all(name in self.symbols for name in form.names) for form in forms)
        if not known or not self.decisions.specialise:
            return False
        values = self.sample_value(left), self.sample_value(right)
        return None in values or values[0] == values[1]

    def _unify(self, left: Expr, right: Expr) -> None:
        """After a guard left == right: write the later size symbol in terms of the earlier ones."""
        order = list(self.symbols)
        delta = affine(ix.sub(left, right))
        assert delta is not None
        units = [name for name, c in delta.terms if abs(c) == 1 and isinstance(self.symbols[name].source, SizeOf)]
        if not units:
            return
        name = max(units, key=order.index)
        value = ix.expression(delta.without(name).scaled(-delta.coefficient(name)))
        self.equal = {known: ix.canonical(walk.substitute(e, {name: value})) for known, e in self.equal.items()}
        self.equal[name] = value
        self.facts = [f for f in (affine(self.resolve(ix.expression(fact))) for fact in self.facts) if f is not None]

    # --- checks -----------------------------------------------------------------------------------------------------

    def check(
        self, test: Expr, exception: str, message: str = "", values: tuple[Expr, ...] = (), domain: Domain = ()
    ) -> None:
        """In place: `test` holds or the exception is raised."""
        if test == TRUE or (isinstance(test, Const) and test.value):
            return
        self.emit(Check(domain, test, exception, message, values, self.span))

    def hand_back(self, test: Expr, reason: str) -> None:
        """`test` holds or the whole call is repeated in Python: in functions that write no memory of the caller."""
        self.handed.append((self.span, reason))
        self.check(test, HAND_BACK)

    def rarely_fails(self, test: Expr, reason: str, domain: Domain = ()) -> None:
        """`test` holds or the whole call is repeated in Python; where that would be seen, RuntimeError says why."""
        if self.decisions.unrepeatable:
            self.check(test, "RuntimeError", f"{reason}: run this function with WEFT_DISABLE=1", (), domain)
        else:
            self.rarities += 1
            self.check(test, HAND_BACK, domain=domain)

    def in_range(self, expr: Expr, low: int, high: int, exception: str, message: str) -> None:
        """low <= expr <= high, by guard if possible, else by a check in place."""
        # What every integer of 64 bits keeps is no question; asked, the answer would not fit into 64 bits itself.
        above, below = low > -(2**63), high < 2**63 - 1
        least = not above or self.assure(ix.sub(expr, integer(low)), exception, message)
        if least and (not below or self.assure(ix.sub(integer(high), expr), exception, message)):
            return
        inside: Expr = Op("ge", (expr, integer(low)), BOOL)
        if below:
            most = Op("le", (expr, integer(high)), BOOL)
            inside = arith.conjunction(inside, most) if above else most
        self.check(inside, exception, message, (expr,))

    # --- the end ----------------------------------------------------------------------------------------------------

    def _share_roles(self) -> None:
        """Buffers that change places with one that is returned may be returned as well."""
        pairs = list(self.exchanged)
        while pairs:
            changed = [pair for pair in pairs if any(self.buffers[name].role is Role.RESULT for name in pair)]
            for name in {name for pair in changed for name in pair}:
                if self.buffers[name].role is Role.LOCAL:
                    self.buffers[name] = replace(self.buffers[name], role=Role.RESULT)
            if not changed:
                return
            pairs = [pair for pair in pairs if pair not in changed]

    def program(self, span: Span) -> Program:
        """The finished program, with equal sizes written the same way everywhere."""
        body: Block = tuple(self.blocks[0])
        self._share_roles()

        def resolve(expr: Expr) -> Expr:
            return walk.rewrite(walk.substitute(expr, self.equal), spelling.canonical_int)

        if self.equal:
            body = walk.map_block(body, lambda node: walk.map_node_exprs(node, resolve))
            self.buffers = {n: replace(b, shape=tuple(resolve(e) for e in b.shape)) for n, b in self.buffers.items()}
        results = tuple(spelling.resolved_out(out, resolve) for out in self.results)
        return Program(
            self.name,
            tuple(self.params),
            tuple(self.symbols.values()),
            tuple(self.buffers.values()),
            tuple(self.guards),
            body,
            results,
            tuple(sorted(self.disjoint)),
            arranged=tuple(sorted(self.arranged)),
            ordered=self._ordered(),
            span=span,
        )

    def _ordered(self) -> tuple[str, ...]:
        """Results in C order that might lie in another one: where some array in Fortran order is about."""
        if all(buffer.layout is not Layout.F for buffer in self.buffers.values()):
            return ()
        results = {name for name, buffer in self.buffers.items() if buffer.role is Role.RESULT and buffer.rank > 1}
        return tuple(sorted(name for name in results if self.order.get(name)))
