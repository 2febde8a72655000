"""What the parts of the builder need of each other.  Each part is a class on this one: what it does for the others is
declared here, once, and a function that takes a builder asks for no more.  `Builder` puts the parts together.
"""

from __future__ import annotations

from collections import abc
from contextlib import contextmanager
from typing import TYPE_CHECKING

from weft.ir.expr import ZERO

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from weft.errors import Span, Unsupported
    from weft.frontend.aliasing import Conflict
    from weft.frontend.builder import Builder, Built
    from weft.frontend.emit import Decisions, Emitter
    from weft.frontend.growing import Cells
    from weft.frontend.mixed import Mixed
    from weft.frontend.recursion import Entry, Functions, Key, Kind
    from weft.frontend.scope import Scope, Slot
    from weft.frontend.source import Source
    from weft.frontend.sparse_indexing import Chosen
    from weft.frontend.sparse_making import Shared
    from weft.frontend.specs import ContainerSpec
    from weft.frontend.textpool import Element, TextPool
    from weft.frontend.values import (
        Array,
        ArrayOf,
        Caught,
        Dict,
        EitherType,
        Generator,
        Growing,
        Heap,
        HeapKind,
        Instance,
        ItemType,
        Iterable,
        Keyed,
        Loaded,
        Maybe,
        Method,
        Range,
        Records,
        Scalar,
        Struct,
        Text,
        Tuple,
        Value,
    )
    from weft.ir.expr import ZERO, Const, Expr, Read
    from weft.ir.program import Block, Buffer, Node, Out
    from weft.ir.types import ScalarType


class Building:
    """State and operations of a build."""

    emitter: Emitter
    scope: Scope
    undecided: set[str]  # scalar buffers that hold a Python float or, as soon as something was added, a NumPy one
    widened: dict[str, tuple[int, str]]
    others: dict[tuple[int, str], ScalarType]  # of such variables: the first type of a number that is not theirs
    mixed_exprs: dict[int, Mixed]
    unsettled: dict[int, str]  # choices of which one side is such a buffer
    _keep: list[Expr]
    decided: set[int]  # reads of numbers of which that is known, whatever else their variable may hold
    rounding: set[str]  # scalar buffers of floats that hold an integer, which may have been rounded
    firsts: dict[str, tuple[Read, Expr | None]]  # of tags: the number, and the one constant of the other type it may be
    untold: dict[str, Read]  # tags that are not kept up, and the numbers that they are of
    constants_of: dict[str, Const | None]  # buffers of numbers: what those are where they are Python's
    lent: bool  # it is built for a recursive function
    #: What stands for an argument that is a list, dict or set: its parameter, and the argument's name.
    own: dict[str, str]
    argument_of: dict[str, str]
    #: Arguments that results change: the parameter and the value that tells what they hold then.
    changed: dict[str, tuple[str, Value]]
    #: Dicts that loops around here run through.
    run_through: frozenset[str | None]
    _pool: TextPool | None
    #: Strings that have been made keys: their place, and the block after which that is known.
    _keys: dict[Text, tuple[Expr, list[Node]]]
    #: Of which kind the strings are that are arguments, by their parameters.
    text_kinds: dict[str, str]
    heaps: dict[HeapKind, Heap]
    #: Arguments that are put into containers, and the scalars that tell their numbers (-1 as long as they have none).
    given_arrays: dict[str, tuple[ArrayOf, str]]
    #: The memory of the objects that containers hold, by their class: a column for each number of an attribute.
    pools: dict[type, Growing]
    pending: Unsupported | None
    _before: Decisions
    #: Generators that wait for what is done with an item of theirs.
    suspended: tuple[Scope, ...]
    #: Memory of lists of lists: the argument it is of, or the expression that made it.
    rows_of_argument: dict[str, str]
    row_sites: dict[str, tuple[int, str]]
    #: Where lists and deques are made, by their memory.
    made_at: dict[str, tuple[int, str]]
    statement: ast.stmt
    calling: ast.AST
    _as_condition: bool
    choice: ast.IfExp | None  # the conditional expression that is the whole value of a statement
    functions: Functions
    active: list[Key]  # the functions whose bodies are being executed, the outermost first
    #: Of kinds of lists of numbers: how many there were at the start, and how many numbers in them.
    marks: dict[ItemType, tuple[Expr, Expr]]
    row_params: list[tuple[ItemType, Expr]]  # lists that are parameters: what they hold, and their numbers
    kinds_given: tuple[Kind, ...]
    #: Of the scalars that are results: what kind of list or object they are the number of.
    row_results: dict[str, ItemType]
    entry: Entry | None
    #: Arguments whose lists are among those of their kind.
    loaded: list[Loaded]
    #: What lists hold that the result being built refers to.
    _shown_kinds: list[HeapKind]
    _shows_texts: bool
    _returned_twice: bool  # whether one array stands in two places of the result
    _late: Mapping[Expr, Expr]  # the tests of the choices of the result at hand
    swap_flags: dict[frozenset[str], str]
    _returning: frozenset[str]
    swapped: set[str]
    loops_open: tuple[object, ...]  # one mark for each loop whose body is being executed, in all scopes
    #: The names that were not None where the try begins that is being executed.
    _known_before: frozenset[str]
    #: Exceptions being handled, the innermost last.
    handled: list[Caught]
    #: The classes of exceptions that are not built in, by the names that checks have for them.
    own_exceptions: dict[str, type[BaseException]]
    depth: int
    #: Where attributes are set for the first time: by the object's attributes and the name.
    first_set: dict[tuple[int, str], tuple[int, str]]
    _objects: list[object]  # so that identities stay their own
    #: The functions that wait for the one that is executed in place of a call.
    callers: list[Scope]
    inlined: int
    sources: dict[Any, Source]
    #: Calls, by their identity, that have given iterators.
    fleeting: set[int]
    _bodies: dict[int, list[ast.stmt]]
    #: Slots of values that may be those of an argument.
    borrowed: set[str]
    #: The fields of all objects that slots have held.
    made_objects: list[dict[str, Any]]
    #: The arrays that were given to a constructor and the copies that were made of them, with how many statements
    #: write to each so far: SciPy's object would share the memory.
    shared: list[Shared]
    #: Objects (their fields) whose entries are in another order now.
    reordered: list[dict[str, Any]]
    #: The fields of matrices as constructors made them.
    constructed: list[dict[str, Any]]
    #: Whether the user's code looks at arrays of a matrix that a loop carries; whether such a one is put in order.
    looked: bool
    ordered_again: bool
    #: The fields of those arguments.
    sparse_arguments: list[dict[str, Any]]
    #: Arrays of places that a result has.
    given: frozenset[str]
    #: How many statements put the arguments in place, before the function's own.
    loaded_until: int
    columns_given: set[str]
    #: The list of which `sort` is asking a function for the keys.
    sorted_now: Value | None
    specs: tuple[Any, ...]
    hidden: dict[Any, Any]
    #: The objects among the arguments, by the argument and the path of names that leads from it to the object.
    objects_given: dict[tuple[int, tuple[str, ...]], Struct]
    #: The lists of objects among the arguments: the argument, the class, the number of the first object, the memory of
    #: the list.
    lists_given: list[tuple[int, type, Expr, frozenset[str]]]
    lender: Builder | None  # of a recursive function: what calls it

    def _part_from(self, name: str, buffer: Buffer) -> None:
        raise NotImplementedError

    def held(self, slot: Slot, shape: tuple[Expr, ...] | None = None, is_list: bool = False) -> Array:
        """The array in a slot."""
        raise NotImplementedError

    def open_array(self, name: str, slot: Slot, value: Array) -> None:
        """The value that a name has where its slot is opened."""
        raise NotImplementedError

    def made_arrays(self, value: Value) -> Value:
        """A tuple or list whose arrays are in memory: what they are computed from may change, and so may they."""
        raise NotImplementedError

    def refresh(self) -> None:
        """Where paths meet, the sizes of arrays that vary are what the scalars say."""
        raise NotImplementedError

    def share_from_start(self, found: Conflict) -> None:
        """A copy in a container would be told from the array it is of: build again with that itself in there."""
        raise NotImplementedError

    def unsupported(self, node: ast.AST | None, reason: str, remedy: str = "", **values: Value) -> Unsupported:
        raise NotImplementedError

    def _is_long(self, value: Expr) -> Expr:
        raise NotImplementedError

    def is_choice(self, value: Value) -> bool:
        """Whether a value is a number of one of two types: a list of such tells which, an array does not."""
        raise NotImplementedError

    def is_other(self, value: Expr, of: EitherType) -> Expr:
        """Whether a number is of the second of two types."""
        raise NotImplementedError

    def lost(self, expr: Expr) -> str | None:
        """The buffer in which it was lost of what Python type a value is; None if its own type is right."""
        raise NotImplementedError

    def _all_may_be_python(self, expr: Expr) -> bool:
        raise NotImplementedError

    def _tag(self, slot: Slot, value: Expr, held: Read) -> None:
        raise NotImplementedError

    def at(self, node: ast.AST | None) -> Span:
        """Remember where we are: errors, checks and statements emitted next carry this place; None keeps the last."""
        raise NotImplementedError

    def bind(self, name: str, value: Value) -> None:
        """name = value"""
        raise NotImplementedError

    def _kept(self, expr: Expr, name: str) -> Expr:
        raise NotImplementedError

    def _assign_slot(self, name: str, slot: Slot, value: Value) -> None:
        raise NotImplementedError

    def open_maybe(self, name: str, slot: Slot, value: Value | None) -> bool:
        """The first contents of a slot that may hold None; False if it is another."""
        raise NotImplementedError

    def maybe_instead(self, slot: Slot, old: Value | None, new: Value, error: Unsupported) -> Exception:
        """What to raise where a variable is None on one path and something else on another."""
        raise NotImplementedError

    def layout(self, value: Value) -> ItemType | None:
        """The type of an item; None if a container of such items has no native form."""
        raise NotImplementedError

    def is_given_object(self, value: Value) -> bool:
        """Whether a value is an argument's object, or holds one."""
        raise NotImplementedError

    def widens(self, slot: Slot, of: ScalarType) -> bool:
        """Whether this attempt goes on with a slot that becomes wider, in order to find all such slots."""
        raise NotImplementedError

    def other_scopes(self) -> Iterator[Scope]:
        """All scopes whose names may denote what an object holds."""
        raise NotImplementedError

    def open_slots(self, names: abc.Iterable[str], owner: ast.AST) -> list[str]:
        """Make `names` slots until `close_slots`; values they have now are the slots' first contents."""
        raise NotImplementedError

    def same_rows(self, one: Value, other: Value) -> bool:
        """Whether two lists among others are of one kind."""
        raise NotImplementedError

    def kept_maybe(self, value: Maybe, name: str) -> Maybe:
        """The value as it is now, whatever becomes of the variables that it comes from."""
        raise NotImplementedError

    def data_text(self, value: Value) -> Value:
        """A string as data, kept from later changes of what it is taken from."""
        raise NotImplementedError

    def close_slots(self, names: abc.Iterable[str]) -> None:
        raise NotImplementedError

    def truth(self, value: Value, node: ast.AST | None) -> Scalar | bool:
        """bool(value): a Python bool if it is known now."""
        raise NotImplementedError

    def identity(self, value: Value) -> str | None:
        """What two names of one container have in common."""
        raise NotImplementedError

    def will_change(self, value: Value) -> None:
        """A container gets or loses items: an argument then has memory of its own, and the build starts again."""
        raise NotImplementedError

    @contextmanager
    def assuming(self, names: set[str]) -> Iterator[None]:
        """The names are not None in a part of an expression."""
        raise NotImplementedError

    def present(self, value: Value) -> Value:
        """A value of which more is wanted than whether it is None."""
        raise NotImplementedError

    def _number(self, name: str, slot: Slot, value: Scalar) -> Value:
        raise NotImplementedError

    def accepts(self, layout: ItemType, value: Value) -> bool:
        """Whether a container of items of this type takes a value; what it tells of empty lists starts a new build."""
        raise NotImplementedError

    def numbers(self, layout: ItemType, value: Value) -> list[Expr]:
        """The numbers of an item of a type that it fits: lists in it become lists of their kind."""
        raise NotImplementedError

    def assembled(self, layout: ItemType, numbers: Iterator[Expr], certain: bool = True) -> Value:
        """The item that consists of these numbers; `certain`: it is there, so that its memory may be looked at."""
        raise NotImplementedError

    @property
    def pool(self) -> TextPool:
        raise NotImplementedError

    def text(self, value: Value) -> Text:
        """The string that a value is; an argument that was taken for a constant becomes data."""
        raise NotImplementedError

    def code(self, text: Text, at: Expr) -> Expr:
        """The code point at a position that is in range."""
        raise NotImplementedError

    def located(self, text: Text) -> Text:
        """The same string in memory."""
        raise NotImplementedError

    def element(self, text: Text) -> Element:
        """From a position to the code point."""
        raise NotImplementedError

    def codes(self, text: Text) -> Array:
        """The code points as an array."""
        raise NotImplementedError

    def text_of(self, kind: str, start: Expr, length: Expr) -> Text:
        raise NotImplementedError

    def text_comparison(self, name: str, left: Value, right: Value, node: ast.AST) -> Value:
        raise NotImplementedError

    def find_text(self, text: Text, part: Text, node: ast.AST) -> Expr:
        raise NotImplementedError

    def heap(self, kind: HeapKind) -> Heap:
        raise NotImplementedError

    def _scopes(self) -> Iterator[Scope]:
        raise NotImplementedError

    def stacked(self, value: Value) -> Array:
        """np.array of a list of arrays."""
        raise NotImplementedError

    def iteration(self, value: Value, node: ast.AST | None) -> Iterable:
        """Anything a `for` runs over, as a number of trips and a function from the trip to the item."""
        raise NotImplementedError

    def lends_memory(self) -> bool:
        """Whether functions that call themselves get this memory: then it is not the caller's to have."""
        raise NotImplementedError

    def object_type(self, value: Struct) -> ItemType | None:
        """The type of an object in a container: from then on all objects of its class are made side by side."""
        raise NotImplementedError

    def site(self, node: ast.AST) -> tuple[int, str]:
        """Where a list is made: the same in every attempt at a build."""
        raise NotImplementedError

    def new_row(self, item: ItemType, value: Value) -> Expr:
        """The number of a new list with the items of a value."""
        raise NotImplementedError

    def escape(self, value: Value) -> None:
        """A list that is put into a container and has a name is one among others from the start: build again."""
        raise NotImplementedError

    def named(self, value: Value) -> bool:
        """Whether a list has a name, or is part of something that has."""
        raise NotImplementedError

    def _grown(self) -> frozenset[str]:
        raise NotImplementedError

    def record(self, base: Records, key: Value, node: ast.AST | None) -> Value:
        """base[key]"""
        raise NotImplementedError

    def columns(self, cells: Cells, many: int, first: Expr = ZERO) -> list[Array]:
        """The first `many` numbers of all items, or of those from one on, each in a list of its own memory."""
        raise NotImplementedError

    def list_method(self, receiver: Value, name: str, args: list[Value], node: ast.AST) -> Value | None:
        """A method of a list or deque that changes its length; None if it is another one."""
        raise NotImplementedError

    def tuple_order(self, name: str, left: Tuple, right: Tuple, node: ast.AST) -> Value:
        """left < right: the first parts that differ decide."""
        raise NotImplementedError

    def _copied(
        self, cells: Cells, layout: ItemType, value: Value, node: ast.AST
    ) -> tuple[Callable[[Expr], list[Expr]], Expr]:
        raise NotImplementedError

    def evaluate_all(self, nodes: Sequence[ast.expr], open_ones: bool = False) -> list[Value]:
        """Several operands, left to right; an operand that is still lazy must not see what a later one changes."""
        raise NotImplementedError

    def listed(self, value: Value, title: str = "list") -> Value:
        """list(value); `title` tells lists apart that one expression makes."""
        raise NotImplementedError

    def subscript(self, base: Value, key: Value, node: ast.AST | None, store: bool = False) -> Value:
        raise NotImplementedError

    def _eval_dict(self, node: ast.Dict) -> Value:
        raise NotImplementedError

    def keyed_display(self, node: ast.AST, keys: Sequence[Value], values: Sequence[Value]) -> Keyed | None:
        """{"a": ..., "b": ...} if no table holds these values."""
        raise NotImplementedError

    def keyed_instead(self, base: Dict, key: Value) -> None:
        """A dict turns out to hold several types: it begins anew as one of known keys, if it can."""
        raise NotImplementedError

    def new_dict(self, node: ast.AST) -> Dict:
        """An empty dict; what is put into it first tells its types, and the build starts again with them."""
        raise NotImplementedError

    def item(self, base: Dict, key: Value, node: ast.AST) -> Value:
        """base[key]"""
        raise NotImplementedError

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        raise NotImplementedError

    def contains(self, base: Dict, key: Value, node: ast.AST) -> Expr:
        """key in base"""
        raise NotImplementedError

    def dict_method(self, base: Dict, name: str, args: list[Value], node: ast.AST) -> Value:
        raise NotImplementedError

    def expand(self, function: Callable[..., Any], given: Mapping[str, Value], args: Sequence[Value] = ()) -> Value:
        """A library function by its definition over others; what that emits stands where the user's call stands."""
        raise NotImplementedError

    def trips(self, value: Range) -> Expr:
        """How often a range is run through."""
        raise NotImplementedError

    def _comparison(self, op: ast.cmpop, left: Value, right: Value, node: ast.Compare) -> Value:
        raise NotImplementedError

    def _membership(self, positive: bool, left: Value, right: Value, node: ast.AST) -> Value:
        raise NotImplementedError

    def evaluate(self, node: ast.expr) -> Value:
        raise NotImplementedError

    def evaluate_open(self, node: ast.expr) -> Value:
        """An expression whose value may be None: it is assigned, returned, handed on or compared with None."""
        raise NotImplementedError

    def run_of(self, value: Value, node: ast.AST) -> Value:
        """What a loop over a value runs through."""
        raise NotImplementedError

    def tuple_item(self, base: Tuple, key: Value, node: ast.AST | None) -> Value:
        raise NotImplementedError

    def _eval_call(self, node: ast.Call) -> Value:
        raise NotImplementedError

    def _eval_name(self, node: ast.Name) -> Value:
        raise NotImplementedError

    def outside(self, name: str, value: Any, home: Any, node: ast.AST) -> Value:
        """A global or closure variable: an array is a hidden argument, anything else a constant (see `reads`)."""
        raise NotImplementedError

    def spread(self, nodes: Sequence[ast.expr], values: Sequence[Value]) -> list[Value]:
        """The items of a display or of a call, with those of starred ones among them."""
        raise NotImplementedError

    def defaults(self, spec: ast.arguments) -> dict[str, Value]:
        """The default values of a function's parameters, which are evaluated where it is defined."""
        raise NotImplementedError

    def _eval_binop(self, node: ast.BinOp) -> Value:
        raise NotImplementedError

    def binary(self, op: str, left: Value, right: Value, node: ast.AST, span: Span) -> Value:
        """left OP right"""
        raise NotImplementedError

    def field(self, base: Struct, name: str, node: ast.AST) -> Value:
        """base.name"""
        raise NotImplementedError

    def store_attribute(self, base: Struct, name: str, value: Value, node: ast.AST) -> None:
        """base.name = value"""
        raise NotImplementedError

    def struct_sign(self, op: str, value: Struct, node: ast.AST) -> Value:
        """OP value, of an object."""
        raise NotImplementedError

    def struct_operator(self, op: str, left: Value, right: Value, node: ast.AST) -> Value:
        """left OP right, where one of them is an object."""
        raise NotImplementedError

    def matmul(self, left: Value, right: Value, node: ast.AST) -> Value:
        raise NotImplementedError

    def _in_memory(self, item: Value) -> Value:
        raise NotImplementedError

    def _list_operator(self, op: str, left: Value, right: Value, node: ast.AST) -> Value:
        raise NotImplementedError

    def array_of(self, value: Tuple, node: ast.AST | None, of: ScalarType | None = None) -> Array:
        """np.array of a literal (nested) sequence."""
        raise NotImplementedError

    def attribute(self, base: Value, name: str, node: ast.AST) -> Value:
        raise NotImplementedError

    def object_attribute(self, owner: Any, name: str, node: ast.AST) -> Any:
        """owner.name of a module, class or other constant; refused where looking it up runs code of the user's."""
        raise NotImplementedError

    def instance_attribute(self, base: Instance, name: str, node: ast.AST) -> Value:
        raise NotImplementedError

    def _computed_range(self, value: Range) -> Iterable:
        raise NotImplementedError

    def nested(self, source: Source, specs: Sequence[Kind], entry: Entry) -> Built:
        """A program of its own for a function, sharing the functions of this build."""
        raise NotImplementedError

    def _looked_up(self, value: Value) -> Value:
        raise NotImplementedError

    def is_nested(self, value: Value) -> bool:
        """Whether a value is a list, dict or set among others, or holds such."""
        raise NotImplementedError

    def plain_out(self, column: Array, node: ast.AST) -> Out:
        raise NotImplementedError

    def branched(self, node: ast.Assign | ast.Return, value: ast.IfExp) -> ast.If | None:
        """x = a if c else b   -->   if c: x = a else: x = b   where a and b are more than numbers."""
        raise NotImplementedError

    def _exec_if(self, node: ast.If) -> bool:
        raise NotImplementedError

    def finish(self, value: Value, node: ast.AST) -> None:
        """Return `value` to the Python caller."""
        raise NotImplementedError

    def out(self, value: Value, node: ast.AST) -> Out:
        raise NotImplementedError

    def execute(self, node: ast.stmt) -> bool:
        raise NotImplementedError

    def _exec_expr(self, node: ast.Expr) -> None:
        raise NotImplementedError

    def _part(self, base: Array, target: ast.Attribute) -> Array:
        raise NotImplementedError

    def reshape(self, array: Array, shape: Value) -> Array:
        raise NotImplementedError

    def _taken(self, value: Value) -> Value:
        raise NotImplementedError

    def store_special(self, base: Value, key: Value, value: Value, node: ast.AST) -> bool:
        """base[key] = value by the class of base; False if it has no such method."""
        raise NotImplementedError

    def _augment_name(self, node: ast.AugAssign, target: ast.Name) -> None:
        raise NotImplementedError

    def as_run(self, value: Value) -> Value:
        """A sequence that can be run through at run time: a compile-time list goes into memory."""
        raise NotImplementedError

    def _assigned(self, nodes: Sequence[ast.AST]) -> set[str]:
        raise NotImplementedError

    def _exec_for(self, node: ast.For) -> bool:
        raise NotImplementedError

    def _for_value(self, node: ast.For, value: Value) -> bool:
        raise NotImplementedError

    @contextmanager
    def running_through(self, node: ast.expr) -> Iterator[None]:
        """The dicts and deques that an iteration looks at, unless it makes a list of them first."""
        raise NotImplementedError

    def stores_objects(self) -> bool:
        """Whether the function assigns to attributes of arguments."""
        raise NotImplementedError

    def calls_are_caught(self) -> None:
        """Calls of recursive functions stand inside a try: if one raises, Python repeats the whole call."""
        raise NotImplementedError

    def _left_to_python(self, nodes: Block) -> Block:
        raise NotImplementedError

    def closure_call(self, tree: ast.FunctionDef, args: list[Value], node: ast.AST) -> Value:
        """A call of a function made here, as if it were defined where it is called."""
        raise NotImplementedError

    def run_generator(self, made: Generator, visit: Callable[[Value], None], node: ast.AST) -> None:
        """The body of a generator, with what `visit` makes of each item in place of its yields."""
        raise NotImplementedError

    def comprehension(self, node: ast.ListComp | ast.GeneratorExp, lists: bool) -> Value:
        """The items of a comprehension: as a list, or (not `lists`) as the array that np.array makes of them."""
        raise NotImplementedError

    @contextmanager
    def _looking_at(self, generator: ast.comprehension, iterable: Value) -> Iterator[None]:
        raise NotImplementedError

    @contextmanager
    def _step_by_step(self, items: Iterable) -> Iterator[Expr]:
        raise NotImplementedError

    def accumulate(self, iterable: Value, start: Value) -> Value:
        raise NotImplementedError

    def _body_of(self, tree: ast.FunctionDef | ast.Lambda, namespace: Any) -> list[ast.stmt]:
        raise NotImplementedError

    def enter_call(self, name: str, node: ast.AST) -> None:
        """Refuse calls without end, and more of them than can be compiled in good time."""
        raise NotImplementedError

    def generator(self, tree: ast.FunctionDef, values: dict[str, Value], source: Source, parent: Scope | None) -> Value:
        raise NotImplementedError

    def _inline_function(self, function: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        raise NotImplementedError

    def construct(self, kind: type, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        """kind(*args)"""
        raise NotImplementedError

    def assigns(self, kind: type, name: str) -> None:
        """An attribute of an object in a container is assigned to."""
        raise NotImplementedError

    def fill(self, made: Struct, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> None:
        """What the generated __init__ of a dataclass does."""
        raise NotImplementedError

    def not_shadowed(self, base: Struct, name: str, node: ast.AST) -> None:
        """What the class has under a name is what the object has; an argument could have an attribute of its own."""
        raise NotImplementedError

    def struct_method(
        self, base: Struct, name: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST
    ) -> Value:
        raise NotImplementedError

    def _call_object(self, thing: Any, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        raise NotImplementedError

    def _call_method(self, function: Method, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value:
        raise NotImplementedError

    def known_places(self, value: Struct) -> None:
        """Note what the arrays of a well-formed matrix hold, from now on."""
        raise NotImplementedError

    def is_carried(self, value: Struct) -> bool:
        raise NotImplementedError

    def _made(self, title: str, args: list[Value], kwargs: dict[str, Value], node: ast.AST) -> Value | None:
        raise NotImplementedError

    def _values(self, value: Value, node: ast.AST) -> Array:
        raise NotImplementedError

    def _places(self, given: Sequence[Value], sizes: Sequence[Scalar], is_array: bool, node: ast.AST) -> list[Array]:
        raise NotImplementedError

    def _along(
        self, part: Struct, item: Scalar | tuple[Expr, Expr] | Chosen | None, names: tuple[str, str, str], node: ast.AST
    ) -> Struct:
        raise NotImplementedError

    def modelled(self, base: Instance, node: ast.AST) -> Value:
        """The object of a model for an argument that has one; else what it was."""
        raise NotImplementedError

    def special(self, value: Value, name: str, args: list[Value], node: ast.AST) -> Value | None:
        """value.name(*args) as Python calls it by itself; None if its class has no such method."""
        raise NotImplementedError

    def _object_comparison(self, name: str, left: Value, right: Value, node: ast.Compare) -> Value | None:
        raise NotImplementedError

    def filled_one(self, name: str, kind: ContainerSpec, data: tuple[str, ...], count: Expr) -> Value:
        """The container whose items are in these columns."""
        raise NotImplementedError

    def is_argument(self, name: str, buffer: str, value: Value) -> None:
        """Note that a value stands for an argument, and whether results must tell what becomes of it."""
        raise NotImplementedError

    def parameter(self, name: str, kind: Any, sample: Any, position: int) -> tuple[Value, Any]:
        """The value an argument denotes, and the program parameter that carries it."""
        raise NotImplementedError

    def parameters(self) -> None:
        raise NotImplementedError
