"""The front end's entry: `build` makes a Program from a function and the specs of its arguments.

Arguments become parameter buffers and symbols, globals and closure variables become constants that are re-checked at
each call or, if they are arrays, hidden parameters; then the body is executed statement by statement (`statements`).
"""

from __future__ import annotations

import ast
import types
from collections.abc import Sequence
from dataclasses import field, replace
from typing import Any

import numpy as np

from weft import steps
from weft.errors import LeftToLibrary, Unsupported
from weft.frontend import arrays, callbacks, growing, nested, orders, reads, reasons, sharing
from weft.frontend.arguments import (
    Arguments,
    array_list,
    changing_list,
    container,
    hand_exceptions_back,
    text_dict,
    text_parameter,
)
from weft.frontend.blocks import Blocks, number_arguments
from weft.frontend.calls import Calls
from weft.frontend.carried import CarriedMatrices
from weft.frontend.changed import is_changed
from weft.frontend.choices import Choices
from weft.frontend.comparisons import Comparisons
from weft.frontend.comprehensions import Comprehensions
from weft.frontend.contexts import without_contexts
from weft.frontend.core import Core, written_by
from weft.frontend.dicts import Dicts
from weft.frontend.emit import Decisions, Emitter, NeedConstant, NeedData, Restart
from weft.frontend.exceptions import Exceptions, settle_exceptions
from weft.frontend.expressions import Expressions, constant_value
from weft.frontend.fields import Fields
from weft.frontend.generators import Generators, first_yield, is_generator
from weft.frontend.handover import Handover
from weft.frontend.held import Held, Parts, PoolText, Row
from weft.frontend.held import parameter as held_parameter
from weft.frontend.instances import (
    Hidden,
    Instances,
    check_lists_given,
    is_object,
    list_of_objects,
    load_stored,
    object_argument,
)
from weft.frontend.items import types_in
from weft.frontend.keyed import KeyedDicts
from weft.frontend.listparts import ListParts
from weft.frontend.lists import Lists
from weft.frontend.liveness import Liveness
from weft.frontend.loading import check_loaded, rows_list
from weft.frontend.loops import Loops
from weft.frontend.missing import Missing
from weft.frontend.mixed import MixedNumbers, settle
from weft.frontend.models.given import model_of
from weft.frontend.nested import Nested, learn
from weft.frontend.recursion import (
    Entry,
    Fixed,
    Functions,
    Kind,
    Recursion,
    borrow,
    key_of,
    mark_memory,
    places_of,
    with_functions,
)
from weft.frontend.results import Results
from weft.frontend.scope import Scope, Slot
from weft.frontend.slots import ArraySlots, check_aliases, without_unread_flags
from weft.frontend.small import LARGEST, inner_counts, small_axes
from weft.frontend.source import Source
from weft.frontend.sparse import SparseObjects
from weft.frontend.sparse_chains import SparseChains
from weft.frontend.sparse_functions import SparseFunctions
from weft.frontend.sparse_indexing import SparseIndices
from weft.frontend.sparse_making import MadeMatrices, settle_structures
from weft.frontend.special import SpecialMethods
from weft.frontend.specs import (
    ArraySpec,
    ArraysSpec,
    ConstSpec,
    ContainerSpec,
    FunctionSpec,
    ListSpec,
    MemorySpec,
    ObjectSpec,
    SameSpec,
    ScalarSpec,
    SharedSpec,
    Spec,
    TextDictSpec,
    TextSpec,
    spec_of,
)
from weft.frontend.statements import Statements, execute_all, share_names
from weft.frontend.strings import Strings, is_text, text_prelude
from weft.frontend.structs import Structs
from weft.frontend.tasks import Tasks, with_finish
from weft.frontend.textpool import TextPool
from weft.frontend.transposed import Transposed
from weft.frontend.values import Instance, ListOf, Object, Scalar, Tuple, Value
from weft.ir.expr import ONE, Const, Expr, Op, Read, Var, integer
from weft.ir.program import Buffer, Check, Layout, NoneOut, Program, Role, SizeOf, Symbol, is_list
from weft.ir.types import BOOL, INT, ScalarType
from weft.ir.walk import buffers_written, sub_blocks, walk
from weft.records import dataclass

#: A function with many containers needs one for each: what is put into it tells what it holds.
_ATTEMPTS = 100

_ABSENT: Any = object()
_CONTAINERS = (ListSpec, ContainerSpec, ArraysSpec, TextSpec, TextDictSpec)


@dataclass
class Built:
    """A program with what the run time must know besides."""

    program: Program
    specs: tuple[Spec, ...]  # of the call's arguments, as compiled (some turned into constants)
    names: tuple[str | tuple[str, ...] | None, ...]  # program parameters of each argument, None if it has none
    changed: frozenset[str] = frozenset()  # parameters of lists, dicts and sets that results change
    hidden: list[Hidden] = field(default_factory=list)
    reads: tuple[reads.Read, ...] = ()  # what was looked up outside the function


class Builder(
    Instances,
    SparseChains,
    Arguments,
    Transposed,
    SpecialMethods,
    SparseObjects,
    SparseFunctions,
    SparseIndices,
    MadeMatrices,
    CarriedMatrices,
    Calls,
    KeyedDicts,
    Structs,
    Fields,
    Generators,
    Comprehensions,
    Tasks,
    Exceptions,
    Loops,
    Statements,
    Results,
    Handover,
    Recursion,
    Expressions,
    Choices,
    Comparisons,
    Dicts,
    ListParts,
    Lists,
    Nested,
    Blocks,
    Strings,
    Missing,
    Core,
    MixedNumbers,
    ArraySlots,
):
    """One attempt at one function."""

    def __init__(
        self,
        source: Source,
        specs: Sequence[Kind],
        arguments: Sequence[Any] | None,
        decisions: Decisions,
        sources: dict[Any, Source],
        bodies: dict[int, list[ast.stmt]],
        functions: Functions,
        entry: Entry | None = None,
    ) -> None:
        self.emitter = Emitter(source.name, decisions, {} if arguments is not None else None)
        self.sources = sources
        self._bodies = bodies
        self.functions = functions
        self.active = [key_of(source, source.tree)]
        self.entry, self.lent = entry, entry is not None
        self.constants: dict[tuple[int, str], Value] = {}  # globals and closure variables that are compiled in
        self.mixed_exprs = {}
        self.made_at = {}
        self.unsettled = {}
        self.widened, self.others = {}, {}
        self.emitter.literal = lambda value: self.array_of(value, None)
        self.emitter.stacked = self.stacked
        self.emitter.settle = lambda value, result: settle(self, value, result)
        self.undecided = set()
        self.rounding = set()
        self.decided = set()
        self.firsts = {}
        self.untold, self.constants_of = {}, {}
        self._keep = []
        self.depth = 0
        self.fleeting = set()
        self.inlined = 0
        self.swapped = set()
        self.swap_flags = {}
        self.handled, self.own_exceptions = [], {}
        self.hidden: dict[tuple[int, tuple[str, ...]], tuple[Hidden, Value]] = {}
        self.specs = tuple(specs)
        self.arguments = arguments
        self.names: list[str | tuple[str, ...] | None] = []
        self.own, self.argument_of, self.changed = {}, {}, {}
        self.text_kinds, self._keys = {}, {}
        self.heaps, self.pools, self.rows_of_argument, self.row_sites = {}, {}, {}, {}
        self.loaded, self._shown_kinds, self.given_arrays = [], [], {}
        self.first_set, self._objects, self.callers = {}, [], []
        # Under another key than the body of the same function inlined.
        body = bodies.get(-id(source.tree))
        if body is None:
            plain = without_contexts(source.tree.body, source.namespace, source.tree)
            body = bodies[-id(source.tree)] = with_finish(plain, source.namespace)
        self.body = [*decisions.unset.values(), *body] if entry is None else body
        self.sparse_arguments, self.shared, self.reordered, self.constructed = [], [], [], []
        self.borrowed, self.made_objects = set(), []
        self.row_results, self.lender, self.objects_given, self.lists_given = {}, None, {}, []
        self.columns_given: set[str] = set()
        self.sorted_now = None
        self.marks, self.row_params, self.kinds_given = {}, [], tuple(specs)
        self.memories: dict[MemorySpec, sharing.Memory] = {}
        self.has_small = False  # a small size is compiled in
        self.scope, self.statement = Scope(source, Liveness(body), body), body[0]

    # --- arguments --------------------------------------------------------------------------------------------------

    def parameters(self) -> None:
        tree = self.scope.source.tree
        spec = tree.args
        if spec.vararg or spec.kwarg:
            raise self.unsupported(tree, "a function with * or ** parameters")
        names = self.parameter_names
        # Names that the body uses for its own variables must not capture generated ones.
        self.emitter.span = self.scope.source.span(tree)
        for item in self.emitter.decisions.heaps if self.entry is None else ():
            self.heaps[item] = nested.make(self.emitter, item)
        if self.entry is None and self.functions.texts.shared:
            self._pool = TextPool(self.emitter, self.functions.texts)
        for owner, attributes in self.emitter.decisions.objects.items() if self.entry is None else ():
            columns = [of for layout in attributes.values() for of in types_in(layout)]
            self.pools[owner] = growing.make(self.emitter, owner.__name__.lower(), columns)
        if self.lender is not None:
            borrow(self, self.lender)
            mark_memory(self)
        for position, (name, kind) in enumerate(zip(names, self.specs)):
            if _surely_changes(self, name, kind):
                self.emitter.decisions.changing.add(name)
            sample = None if self.arguments is None else self.arguments[position]
            value, param = self.parameter(name, kind, sample, position)
            self.scope.values[name] = value
            self.names.append(param)
        for memory in self.memories.values():
            emitter, first = self.emitter, memory.spec.members[0].argument
            emitter.params += memory.params
            self.hidden[first, ()] = (Hidden("memory", first, memory.spec, memory.params), Object(None))
        for (_, name), home in self.emitter.decisions.outside.items() if self.entry is None else ():
            _outside_container(self, name, home)
        for argument, path in sorted(self.emitter.decisions.parts) if self.entry is None else ():
            _part_container(self, argument, path)
        for name, value in self.scope.values.items():  # hidden parameters come behind the others
            if isinstance(value, Instance):
                self.scope.values[name] = self.modelled(value, tree)
        if self.stores_objects():
            load_stored(self)
        self.loaded_until = len(self.emitter.blocks[0])

    @property
    def parameter_names(self) -> list[str]:
        spec = self.scope.source.tree.args
        return [a.arg for a in [*spec.posonlyargs, *spec.args, *spec.kwonlyargs]]

    def parameter(
        self, name: str, kind: Kind, sample: Any, position: int
    ) -> tuple[Value, str | tuple[str, ...] | None]:
        """The value an argument denotes, and the program parameter that carries it."""
        emitter = self.emitter
        if isinstance(kind, Fixed):
            return kind.value, None
        if isinstance(kind, Held):
            return held_parameter(emitter, name, kind)
        if isinstance(kind, Row):
            number = emitter.declare(name, INT, (), Role.PARAM)
            emitter.params.append(number.name)
            emitter._written_once.add(number.name)
            if isinstance(kind.layout, ListOf) and kind.layout.item is not None:
                self.row_params.append((kind.layout.item, Read(number.name, (), INT)))
            return self.assembled(kind.layout, iter([Read(number.name, (), INT)])), number.name
        if isinstance(kind, PoolText):
            names = tuple(emitter.declare(f"{name}_{part}", INT, (), Role.PARAM).name for part in ("start", "length"))
            emitter.params.extend(names)
            emitter._written_once.update(names)
            return self.text_of(kind.kind, *(Read(part, (), INT) for part in names)), names
        if isinstance(kind, Parts):
            items: tuple[Any, ...] = kind.items
            parts = [self.parameter(f"{name}_{place}", part, None, -1) for place, part in enumerate(items)]
            return Tuple(tuple(value for value, _ in parts), named=kind.named), None
        if isinstance(kind, SameSpec):
            array = self.scope.values[list(self.scope.values)[kind.index]]
            return array, None
        if isinstance(kind, SharedSpec):
            memory = self.memories.get(kind.memory)
            if memory is None:
                memory = self.memories[kind.memory] = sharing.declare(emitter, kind.memory, self.parameter_names)
            return memory.views[position], None
        if isinstance(kind, ConstSpec):
            value = constant_value(kind.value)
            if value is None:
                raise self.unsupported(
                    self.scope.source.tree, f"an argument {name} of type {type(kind.value).__name__}"
                )
            if is_text(value) and position >= 0 and self.entry is None:
                value = Object(kind.value, position)
            return value, None
        if isinstance(kind, ObjectSpec):
            return Instance(position, (), sample), None
        if isinstance(kind, ScalarSpec):
            return _scalar_parameter(self, name, kind, sample)
        if isinstance(kind, FunctionSpec):
            return callbacks.parameter(emitter, name, kind)
        if isinstance(kind, ContainerSpec):
            return container(self, name, kind, sample, self.entry is not None)
        if isinstance(kind, TextSpec):
            return text_parameter(self, name, kind, sample, self.entry is not None)
        if isinstance(kind, TextDictSpec):
            return text_dict(self, name, kind, sample, self.entry is not None)
        if isinstance(kind, ArraysSpec):
            return array_list(self, name, kind, sample, self.entry is not None)
        if isinstance(kind, ArraySpec) and not kind.rank:
            return arrays.single(emitter, name, kind, position)
        rank = kind.rank
        extents = sample.shape if isinstance(sample, np.ndarray) else _list_shape(sample, rank)
        unique = emitter.fresh(name)
        emitter.taken.discard(unique)
        shape: list[Expr] = []
        short = small_axes(extents) if self.emitter.decisions.small else frozenset()
        for axis in range(rank):
            if isinstance(kind, ArraySpec) and kind.ones[axis]:
                shape.append(ONE)
            elif extents is not None and axis in short:
                shape.append(integer(extents[axis]))
                self.has_small = True
            else:
                shape.append(emitter.size_symbol(unique, axis, None if extents is None else extents[axis]))
        of = kind.type if isinstance(kind, ListSpec) else ScalarType(kind.dtype)
        layout = kind.layout if isinstance(kind, ArraySpec) else Layout.C
        buffer = emitter.declare(name, of, tuple(shape), Role.PARAM, layout)
        if buffer.name != unique:  # the sizes are named after the buffer
            raise AssertionError(buffer.name)
        emitter.params.append(buffer.name)
        _fixed_extents(self, buffer)
        array = arrays.of_buffer(buffer, isinstance(kind, ListSpec))
        if isinstance(kind, ListSpec) and rank > 1 and self.entry is None:
            if name in emitter.decisions.changing:
                return rows_list(self, name, buffer.name), buffer.name
            self.rows_of_argument[buffer.name] = self.argument_of[buffer.name] = name
        if not isinstance(kind, ListSpec) or rank != 1 or self.entry is not None:
            return array, buffer.name
        if name in emitter.decisions.changing:
            return changing_list(self, name, buffer.name, sample), buffer.name
        self.is_argument(name, buffer.name, array)
        return array, buffer.name

    # --- values from outside ----------------------------------------------------------------------------------------

    def outside(self, name: str, value: Any, home: Any, node: ast.AST) -> Value:
        """A global or closure variable: an array is a hidden argument, anything else a constant (see `reads`)."""
        key = (id(home), (name,))
        if (id(home), name) in self.constants:
            return self.constants[id(home), name]
        known = self.hidden.get(key)
        if known is not None:
            return known[1]
        if isinstance(value, np.ndarray):
            spec = spec_of(value)
            if not isinstance(spec, ArraySpec):
                raise self.unsupported(node, f"the array {name} from outside the function")
            made, param = self.parameter(name, spec, value, -1)
            self.hidden[key] = (Hidden(name, home, spec, param), made)
            return made
        constant = constant_value(value)
        if constant is None and isinstance(spec_of(value), _CONTAINERS) and self.entry is None:
            self.emitter.decisions.outside[id(home), name] = home
            raise Restart  # it is a parameter from the start
        if constant is None:
            if callable(value):
                constant = Object(value)
            else:
                remedy = reasons.outside_remedy(value)
                raise self.unsupported(node, f"{name} is an object of type {type(value).__name__}", remedy)
        reads.outside(home, name)
        self.constants[id(home), name] = constant
        return constant

    def instance_attribute(self, base: Instance, name: str, node: ast.AST) -> Value:
        path = (*base.path, name)
        key = (base.argument, path)
        known = self.hidden.get(key)
        if known is not None:
            return known[1]
        value = _part_of(base.sample, name)
        if value is _ABSENT:
            raise self.unsupported(node, f"the attribute {name} of an object")
        if isinstance(value, types.MethodType):
            raise self.unsupported(node, f"a call of the method {name}", "make it a function")
        spec = spec_of(value)
        if isinstance(spec, ObjectSpec):
            return self.modelled(Instance(base.argument, path, value), node)
        if isinstance(spec, _CONTAINERS):
            if self.entry is not None:
                raise self.unsupported(node, f"the attribute {name}, a list", "pass it as an argument")
            self.emitter.decisions.parts.add((base.argument, path))
            raise Restart  # it is a parameter from the start
        title = "_".join(("item", *path) if name.isdigit() else path).replace("@", "")
        made, param = self.parameter(title, spec, value, -1)
        self.hidden[key] = (Hidden(name, base.argument, spec, param, path), made)
        return made

    def modelled(self, base: Instance, node: ast.AST) -> Value:
        """An argument that is an object: a sparse matrix; a tuple, which has as many items each time."""
        if is_object(base.sample) and model_of(base.sample) is None and self.entry is None:
            return object_argument(self, base)
        if type(base.sample) is list and base.sample:
            found = list_of_objects(self, base, node)
            if found is None and is_object(base.sample[0]):
                reason = f"a list of objects of type {type(base.sample[0]).__name__}"
                raise reasons.left_to_plain(self.unsupported(node, reason))
            return found or super().modelled(base, node)
        if type(base.sample) is not tuple:
            return super().modelled(base, node)
        path = (*base.path, "#")
        length = ConstSpec(len(base.sample))
        self.hidden[base.argument, path] = (Hidden("#", base.argument, length, None, path), Object(length.value))
        return Tuple(tuple(self.instance_attribute(base, str(place), node) for place in range(length.value)))

    # --- the whole --------------------------------------------------------------------------------------------------

    def widens(self, slot: Slot, of: ScalarType) -> bool:
        if self.pending is not None or self.entry is not None or self.functions.entries:
            return False  # other attempts depend on what this one decides
        self.emitter.widenings.note(slot.key, of)
        if slot.buffer is not None:
            slot.buffer = self.emitter.buffers[slot.buffer.name] = replace(slot.buffer, type=of)
        return True

    def nested(self, source: Source, specs: Sequence[Kind], entry: Entry) -> Built:
        own = self.emitter.decisions
        decisions = Decisions(specialise=False, small=False, heaps=own.heaps, objects=own.objects, strict=own.strict)
        decisions.tasks = own.tasks
        decisions.items.update(entry.items)
        for _ in range(_ATTEMPTS):
            inner = Builder(source, specs, None, decisions, self.sources, self._bodies, self.functions, entry)
            inner.emitter.guarded = False
            inner.lender = self
            entry.attempt = inner
            before = self.functions.mark(own)
            try:
                built = run(inner)
            except Restart:
                if self.functions.mark(own) != before:
                    raise  # every function of the build is concerned
                _learn_from(self, decisions, specs)
                continue
            except NeedConstant as need:
                raise Unsupported(need.span, f"{need.symbol} must be known to compile a recursive function") from None
            if built.program.guards:
                raise Unsupported(built.program.guards[0].span, "a condition on sizes in a recursive function")
            for key, (hidden, value) in inner.hidden.items():
                if hidden.param is not None:
                    reason = f"the array {hidden.name} from outside a recursive function"
                    raise Unsupported(source.span(source.tree), reason, "pass it as an argument")
                self.hidden.setdefault(key, (hidden, value))
            return built
        raise Unsupported(source.span(source.tree), "types of variables that do not settle", "give variables one type")


def _fixed_extents(builder: Builder, buffer: Buffer) -> None:
    """Extents that are compiled in (1, which broadcasts, and small ones): the guards hold the argument to them."""
    for axis, extent in enumerate(buffer.shape):
        if isinstance(extent, Const):
            symbol = builder.emitter.fresh(f"{buffer.name}_{axis}")
            builder.emitter.symbols[symbol] = Symbol(symbol, SizeOf(buffer.name, axis))
            _hold(builder, symbol, extent)


def _hold(builder: Builder, symbol: str, value: Const) -> None:
    test = Op("eq", (Var(symbol), value), BOOL)
    builder.emitter.guards.append(Check((), test, "RuntimeError", "", (), builder.emitter.span))


def _scalar_parameter(builder: Builder, name: str, kind: ScalarSpec, sample: Any) -> tuple[Value, str]:
    emitter = builder.emitter
    if kind.type == INT and kind.small:
        symbol = emitter.argument_symbol(name, sample if isinstance(sample, int) else None)
        emitter.params.append(symbol.name)
        if _is_small_count(builder, name, sample):
            _hold(builder, symbol.name, integer(sample))
            builder.has_small = True
            return Scalar(integer(sample)), symbol.name
        return Scalar(symbol), symbol.name
    buffer = emitter.declare(name, kind.type, (), Role.PARAM)
    emitter.params.append(buffer.name)
    emitter._written_once.add(buffer.name)
    return Scalar(Read(buffer.name, (), kind.type)), buffer.name


def _is_small_count(builder: Builder, name: str, sample: Any) -> bool:
    """Whether an integer argument becomes a constant: a small number of iterations of an inner loop."""
    if not (builder.emitter.decisions.small and isinstance(sample, int)):
        return False
    return 1 <= sample <= LARGEST and name in inner_counts(builder.scope.source.tree)


def _surely_changes(builder: Builder, name: str, kind: Kind) -> bool:
    """Whether an argument is a list, dict or set that gets or loses items."""
    is_list = isinstance(kind, ListSpec) and kind.rank == 1
    if builder.entry is not None or not (is_list or isinstance(kind, (ContainerSpec, TextDictSpec))):
        return False
    of_items = is_list or (isinstance(kind, ContainerSpec) and kind.kind in ("list", "deque"))
    return is_changed(builder.scope.body, name, is_table=not of_items)


def _outside_container(builder: Builder, name: str, home: Any) -> None:
    """A list, dict or set that is a global or closure variable: copied in at each call, and never changed."""
    held = home[name] if isinstance(home, dict) else home.cell_contents
    spec, title = spec_of(held), f"outside_{name}"
    if title in builder.emitter.decisions.changing:
        reason = f"a change of {name}, which is from outside the function"
        raise builder.unsupported(builder.scope.source.tree, reason, "pass it as an argument")
    made, param = builder.parameter(title, spec, held, -1)
    builder.hidden[id(home), (name,)] = (Hidden(name, home, spec, param), made)


def _part_container(builder: Builder, argument: int, path: tuple[str, ...]) -> None:
    """A list, dict or set that is an attribute of an argument: as one from outside."""
    held = None if builder.arguments is None else builder.arguments[argument]
    for part in path:
        held = _part_of(held, part)
    title = "outside_" + "_".join(path).replace("@", "")
    if title in builder.emitter.decisions.changing:
        reason = f"a change of the attribute {path[-1]}, a list, dict or set"
        raise builder.unsupported(builder.scope.source.tree, reason, "pass it as an argument")
    spec = spec_of(held)
    made, param = builder.parameter(title, spec, held, -1)
    builder.hidden[argument, path] = (Hidden(path[-1], argument, spec, param, path), made)


def _check_repeated(builder: Builder, program: Program) -> None:
    """Refuse to write an argument that holds an element twice: what NumPy then does depends on its own order."""
    repeated = {n for n, kind in zip(builder.names, builder.specs) if isinstance(kind, ArraySpec) and kind.repeats}
    for node in program.body if repeated else ():
        for name in repeated & buffers_written(node):
            raise Unsupported(node.span, f"a write to the array {name}, which holds an element twice")


def _check_outside(builder: Builder, program: Program) -> None:
    """Refuse a program that changes elements of a list from outside: only arguments are copied back."""
    names: dict[str, str] = {}
    for hidden, _ in builder.hidden.values():
        if isinstance(hidden.spec, _CONTAINERS):
            params = (hidden.param,) if isinstance(hidden.param, str) else hidden.param or ()
            names.update(dict.fromkeys(params, hidden.name))
    for node in walk(program.body) if names else ():
        if not sub_blocks(node):
            for buffer in buffers_written(node) & set(names):
                reason = f"a change of {names[buffer]}, which is from outside the function"
                raise Unsupported(getattr(node, "span", program.span), reason, "pass it as an argument")


def run(builder: Builder) -> Built:
    try:
        built = _run(builder)
        if not builder.emitter.widenings:
            return built
    except (steps.OutOfTime, MemoryError, RecursionError):
        raise
    except Exception as problem:
        if steps.from_handler(problem):
            raise
        if not builder.emitter.widenings:
            if isinstance(problem, Restart):
                learn(builder)
            elif builder.pending is not None:
                raise builder.pending from None  # what follows a skipped statement may make no sense
            raise
    builder.emitter.widenings.keep()
    raise Restart


def _run(builder: Builder) -> Built:
    source = builder.scope.source
    if builder.entry is None and is_generator(source.tree):
        reason = "a generator that is returned to its caller"
        raise builder.unsupported(first_yield(source.tree), reason, reasons.RETURN_LIST)
    builder.parameters()
    number_arguments(builder)
    if builder.entry is not None and builder.entry.captured is not None:
        builder.scope.values[source.name] = builder.entry.captured
        builder.open_slots(builder.entry.captured.shared, builder.body[0])  # calls set them
    share_names(builder, builder.body)
    if execute_all(builder, builder.body):
        builder.at(source.tree)
        builder.finish(Object(None), source.tree)
    if builder.pending is not None:
        raise builder.pending
    check_loaded(builder)
    if not builder.emitter.results:
        builder.emitter.results.append(NoneOut())  # the function always raises
    builder.emitter.blocks[0][:0] = text_prelude(builder)
    orders.verify(builder.emitter)
    check_aliases(builder, tuple(builder.emitter.blocks[0]))
    settle_structures(builder)
    settle_exceptions(builder)
    builder.emitter.blocks[0][:] = without_unread_flags(builder.emitter, tuple(builder.emitter.blocks[0]))
    program = builder.emitter.program(source.span(source.tree))
    if builder.entry is None:
        program = with_functions(program, builder.functions)
    _check_outside(builder, program)
    _check_repeated(builder, program)
    check_lists_given(builder)
    program = hand_exceptions_back(builder, program)
    _check_repeatable(builder, program)
    hidden = [entry for entry, _ in builder.hidden.values()]
    specs = tuple(kind for kind in builder.specs if not isinstance(kind, (Fixed, Held, Row, Parts, PoolText)))
    changed = frozenset(param for param, _ in builder.changed.values())
    return Built(program, specs, tuple(builder.names), changed, hidden)


def _learn_from(builder: Builder, inner: Decisions, specs: Sequence[Kind]) -> None:
    """What a function has found out about containers that are not its own: this build starts again with it."""
    places = {place for kind in specs for place in places_of(kind)}
    own = builder.emitter.decisions
    items = {place: item for place, item in inner.items.items() if place in places and own.items.get(place) != item}
    entries = {place: kinds for place, kinds in inner.entries.items() if own.entries.get(place) != kinds}
    entries = {place: kinds for place, kinds in entries.items() if place in places}
    if items or entries:
        own.items.update(items)
        own.entries.update(entries)
        own.guessed |= inner.guessed & places
        raise Restart


def _check_repeatable(builder: Builder, program: Program) -> None:
    """Refuse a program that may have to be repeated in Python and writes what the caller sees."""
    buffers = builder.emitter.buffers
    written = written_by(builder, program.body)
    lasting = [b for b in map(buffers.__getitem__, written) if b.role is Role.PARAM and b.rank and not is_list(b)]
    if builder.emitter.handed and lasting:
        span, reason = builder.emitter.handed[0]
        raise Unsupported(span, reason)
    if builder.emitter.rarities and lasting:
        builder.emitter.decisions.unrepeatable = True
        raise Restart


def _part_of(sample: Any, part: str) -> Any:
    """The attribute of an object, the item of a tuple by its number or of a dict by "@" and its key."""
    if part.startswith("@"):
        return sample.get(part[1:], _ABSENT)
    if part.isdigit():
        return sample[int(part)]
    return _ABSENT if sample is None else getattr(sample, part, _ABSENT)


def _list_shape(value: Any, rank: int) -> tuple[int, ...] | None:
    if not isinstance(value, list):
        return None
    shape: list[int] = []
    for _ in range(rank):
        shape.append(len(value))
        value = value[0] if value else []
    return tuple(shape)


def build(
    source: Source,
    specs: Sequence[Spec],
    arguments: Sequence[Any] | None = None,
    specialise: bool = True,
    strict: bool = False,
    in_sequence: bool = False,
    guarded: bool = True,
    declared: bool = True,
    alone: bool = False,
) -> Built:
    """The Program of a function for arguments of these specs; `arguments` are samples that help to choose guards.

    `specialise`: sizes that are equal in the sample are taken to be equal, behind a guard.  `strict`: sums and products
    keep the order of the source.  `in_sequence`: tasks run one after the other.  `guarded`: what cannot be proved may
    be made a guard at entry; else it is tested in its place.  `declared`: prange declares its iterations parallel,
    else it is a range.  `alone`: there is no Python that could repeat the call.

    Raises Unsupported, with the place, for what has no native form.
    """
    with reads.recording() as recorder:
        if source.function is not None:
            reads.function(source.function)
        decisions = Decisions(specialise=specialise, small=specialise, strict=strict, guarded=guarded, alone=alone)
        decisions.tasks.in_sequence, decisions.tasks.declared = in_sequence, declared
        built = _settled(source, specs, arguments, decisions)
        return replace(built, reads=recorder.found)


def _settled(source: Source, specs: Sequence[Spec], arguments: Sequence[Any] | None, decisions: Decisions) -> Built:
    """The first attempt whose decisions all hold; what earlier attempts have read counts as well."""
    sources: dict[Any, Source] = {}
    bodies: dict[int, list[ast.stmt]] = {}
    functions = Functions()
    current = list(specs)
    for _ in range(_ATTEMPTS):
        builder = Builder(source, current, arguments, decisions, sources, bodies, functions)
        before = functions.mark(decisions)
        try:
            return run(builder)
        except Restart:
            if functions.mark(decisions) != before:
                functions.entries.clear()
            continue
        except NeedConstant as need:
            _make_constant(current, builder, need, arguments)
        except NeedData as need:
            known = current[need.argument]
            assert isinstance(known, ConstSpec)
            current[need.argument] = TextSpec(type(known.value).__name__)
        except LeftToLibrary:
            raise
        except Unsupported as problem:
            if not (decisions.small and builder.has_small):
                problem.in_tasks = decisions.tasks.met
                raise
            decisions.small = False  # what is no program for these sizes may be one for any
    raise Unsupported(source.span(source.tree), "types of variables that do not settle", "give variables one type")


def _make_constant(specs: list[Spec], builder: Builder, need: NeedConstant, arguments: Sequence[Any] | None) -> None:
    for position, param in enumerate(builder.names):
        # None in place of a number: sizes are known, and numbers are not.
        if param == need.symbol and arguments is not None and arguments[position] is not None:
            specs[position] = ConstSpec(arguments[position])
            return
    for entry, _ in builder.hidden.values():
        if entry.param == need.symbol and isinstance(entry.home, int) and arguments is not None:
            if type(arguments[entry.home]) is tuple:
                specs[entry.home] = ConstSpec(arguments[entry.home])
                return
    raise Unsupported(
        need.span, f"{need.symbol} must be known to compile", "write it as a literal, or pass it as an argument"
    )
