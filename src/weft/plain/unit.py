"""What is compiled together: functions, classes, constants.  In: a Python function; out: a `Unit` with one `Instance`
for each function and kinds of arguments that it is called with.

An instance has a node for each variable, one for its result, and one for each expression that makes something (a
"site").
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
import enum
import sys
import types
from collections import deque
from typing import Any, Final

from weft.errors import APART, Span
from weft.frontend import reads
from weft.naming import is_jitted, library_of
from weft.plain import foreign
from weft.plain.runtime import own_attributes
from weft.plain.told import Refusal
from weft.plain.types import BIG, BYTEARRAY, DTYPES, SCALAR_HEADS, Head, Key, Lattice, Node, add

#: Instances of one function before all further calls share one.
_MAX_INSTANCES: Final = 24
#: Instances of one function before calls with containers of the same types share one.
_MANY_INSTANCES: Final = 6
#: Dimensions of arrays (native/arrays.h).
MAX_RANK: Final = 8
#: Instances of a unit: what needs more is left to Python.
_MAX_ALL: Final = 1500


class FunctionInfo:
    """One function definition in Core, and where its free names come from."""

    def __init__(
        self,
        tree: ast.FunctionDef,
        file: str,
        namespace: dict[str, Any],
        cells: dict[str, Any],
        outer: FunctionInfo | None,
        function: Any,
    ) -> None:
        self.tree = tree
        self.name = tree.name
        self.file = file
        self.namespace = namespace
        self.cells = cells  # of the Python function: name -> cell
        self.outer = outer
        self.function = function  # the Python function; None of a nested definition
        self.owner: type | None = None  # the class whose body holds the definition, for super()
        self.model = namespace.get("__name__", "").startswith("weft.plain.models")
        arguments = tree.args
        self.positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
        self.keyword_only = [a.arg for a in arguments.kwonlyargs]
        self.vararg = arguments.vararg.arg if arguments.vararg else None
        self.kwarg = arguments.kwarg.arg if arguments.kwarg else None
        self.parameters = [*self.positional, *self.keyword_only]
        self.parameters += [name for name in (self.vararg, self.kwarg) if name]
        found = _Names()
        for statement in tree.body:
            found.visit(statement)
        self.global_names = found.global_names
        self.nonlocal_names = found.nonlocal_names
        self.locals = (found.stored | set(self.parameters)) - found.global_names - found.nonlocal_names
        self.is_generator = found.yields
        self.returns_value = found.yields and found.returns
        self.nested = found.nested
        used_inside: set[str] = set()
        for inner in found.nested:
            used_inside |= _free_names(inner)
        #: Variables that nested functions use: they are kept in cells.
        self.captured = self.locals & used_inside
        self.infos: dict[int, FunctionInfo] = {}  # of nested definitions

    def nested_info(self, tree: ast.FunctionDef) -> FunctionInfo:
        info = self.infos.get(id(tree))
        if info is None:
            info = self.infos[id(tree)] = FunctionInfo(tree, self.file, self.namespace, self.cells, self, None)
            info.owner = self.owner
            info.model = self.model
        return info

    def span(self, node: ast.AST) -> Span:
        line, column = getattr(node, "lineno", 0), getattr(node, "col_offset", 0)
        end = getattr(node, "end_col_offset", None) or column
        return Span(self.file, line, column, getattr(node, "end_lineno", None) or line, end)


class _Names(ast.NodeVisitor):
    """Names that a body stores, without those of nested functions."""

    def __init__(self) -> None:
        self.stored: set[str] = set()
        self.loaded: set[str] = set()
        self.global_names: set[str] = set()
        self.nonlocal_names: set[str] = set()
        self.nested: list[ast.FunctionDef] = []
        self.yields = False
        self.returns = False  # a value that is not None

    def visit_Name(self, node: ast.Name) -> None:
        (self.loaded if isinstance(node.ctx, ast.Load) else self.stored).add(node.id)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self.stored.add(node.name)
        self.nested.append(node)
        for default in (*node.args.defaults, *(d for d in node.args.kw_defaults if d is not None)):
            self.visit(default)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.stored.add(node.name)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self.stored.add(node.name)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.global_names.update(node.names)

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.nonlocal_names.update(node.names)

    def visit_Import(self, node: ast.Import) -> None:
        self.stored.update((alias.asname or alias.name.partition(".")[0]) for alias in node.names)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.stored.update(alias.asname or alias.name for alias in node.names)

    def visit_Return(self, node: ast.Return) -> None:
        is_none = node.value is None or (isinstance(node.value, ast.Constant) and node.value.value is None)
        self.returns = self.returns or not is_none
        self.generic_visit(node)

    def visit_Yield(self, node: ast.Yield) -> None:
        self.yields = True
        self.generic_visit(node)

    def visit_YieldFrom(self, node: ast.YieldFrom) -> None:
        self.yields = True
        self.generic_visit(node)


def _free_names(tree: ast.FunctionDef) -> set[str]:
    """Names that a nested function, or one nested in it, takes from outside."""
    found = _Names()
    for statement in tree.body:
        found.visit(statement)
    arguments = tree.args
    own = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    own |= {a.arg for a in (arguments.vararg, arguments.kwarg) if a is not None}
    own |= found.stored - found.nonlocal_names - found.global_names
    free = (found.loaded | found.nonlocal_names) - own - found.global_names
    for inner in found.nested:
        free |= _free_names(inner) - own
    return free


class ClassInfo:
    """A class whose objects are native: its attributes are slots."""

    def __init__(self, cls: type) -> None:
        self.cls = cls
        self.attributes: dict[str, Node] = {}
        self.always: set[str] = set()
        self.head = Head(("obj", self))
        self.is_exception = issubclass(cls, BaseException)
        self.number = 0
        self.operations: dict[str, Instance] = {}  # what containers call: "equal", "hashed"

    def attribute(self, lattice: Lattice, name: str) -> Node:
        node = self.attributes.get(name)
        if node is None:
            lattice.note()
            node = self.attributes[name] = Node()
        return node.root()

    def slot(self, name: str) -> int:
        return list(self.attributes).index(name)


class Namespace(ClassInfo):
    """A module, class or cell of a closure of which some names are written: those are its slots."""

    def __init__(self, owner: Any, number: int) -> None:
        super().__init__(type(owner))
        self.owner = owner
        self.number = number


class Instance:
    """A function for certain kinds of arguments."""

    def __init__(self, info: FunctionInfo, outer: Instance | None, number: int) -> None:
        self.info = info
        self.outer = outer
        self.number = number
        self.locals: dict[str, Node] = {name: Node() for name in info.locals}
        self.result = Node()
        self.yielded = Node()
        self.sent = Node()
        self.returned = Node()  # of a generator: the value of a `yield from` that runs it
        self.sites: dict[Any, Any] = {}
        self.guarded = False  # an exception may be caught by a caller
        self.recursive = False
        self.calls: set[Instance] = set()
        self.maker: Instance | None = None  # in which the first call stands
        self.within: list[Instance] = []  # in which it calls itself, each for other types of arguments
        self.head = Head(("generator", self), (self.yielded,), info) if info.is_generator else None
        self.flagged: set[str] = set()  # variables that may be read before they have a value

    @property
    def arguments(self) -> list[Node]:
        return [self.locals[name].root() for name in self.info.parameters]

    @property
    def c_name(self) -> str:
        plain = "".join(c if c.isalnum() and c.isascii() else "_" for c in self.info.name)
        return f"f{self.number}_{plain}"

    def variable(self, name: str) -> tuple[Node, Instance] | None:
        """The node of a variable, and the instance that owns it."""
        at: Instance | None = self
        while at is not None:
            if name in at.info.locals:
                return at.locals[name].root(), at
            at = at.outer
        return None


@dataclasses.dataclass
class Hidden:
    """A mutable object outside the function, which comes as a further argument: how to get it, and its node."""

    value: Any
    node: Node


class Unit:
    """Everything that is compiled for one call."""

    def __init__(self, span: Span, wide: frozenset[int] = frozenset(), hosted: bool = False) -> None:
        self.wide = wide  # lines on which integers have overflowed
        self.hosted = hosted  # there is no Python behind it that raises what nobody catches
        self.lattice = Lattice()
        self.span = span
        self.classes: dict[type, ClassInfo] = {}
        self.functions: dict[Any, FunctionInfo] = {}
        self.instances: dict[Any, Instance] = {}
        self.counts: dict[Any, int] = {}
        self.constants: dict[int, Head] = {}
        self.kept: list[Any] = []  # objects whose address is a key
        self.hidden: dict[int, Hidden] = {}
        self.foreign: dict[Key, Head] = {}
        self.made: dict[Any, Any] = {}  # Python objects that are made while compiling
        self.lengths: dict[int, set[int]] = {}  # of tuples that a sum makes, by its place
        self.arrays: dict[Key, Head] = {}
        self.observed: set[Any] = set()  # forms of what library functions gave for samples, by place
        self.namespaces: dict[int, Namespace] = {}
        self.changing: set[tuple[int, str]] = set()  # globals that functions of the files at hand assign to
        self.observer = Observer(self)
        self.number = 0
        self.uses_random = False

    # --- classes and constants ----------------------------------------

    def class_info(self, cls: type, span: Span) -> ClassInfo:
        info = self.classes.get(cls)
        if info is None:
            why = why_not_native(cls)
            if why is not None:
                remedy = "keep the attributes plain, or leave this function to Python" if is_own(cls) else APART
                if is_own(cls) and why.startswith(_INHERITS):
                    remedy = f"hold a {why.removeprefix(_INHERITS)} in an attribute instead"
                raise Refusal(span, f"objects of class `{cls.__name__}`: {why}", remedy)
            info = self.classes[cls] = ClassInfo(cls)
            info.number = len(self.classes)
        return info

    def array(self, dtype: str, rank: int) -> Head:
        """The head of arrays of an element type and a rank."""
        key = ("ndarray", dtype, rank)
        if key not in self.arrays:
            self.arrays[key] = Head(key)
        return self.arrays[key]

    def constant(self, value: Any) -> Head:
        """The head of a callable, class, module or other object that is known while compiling."""
        head = self.constants.get(id(value))
        if head is None:
            self.kept.append(value)
            head = self.constants[id(value)] = Head(("const", len(self.kept)), (), value)
        return head

    def hide(self, value: Any) -> Hidden:
        """A container or object that is a global or in a closure of the function."""
        found = self.hidden.get(id(value))
        if found is None:
            self.lattice.note()
            found = self.hidden[id(value)] = Hidden(value, Node())
            self.observer.see(value, found.node)
        return found

    def foreign_head(self, cls: type, detail: Any = None) -> Head:
        """The head of objects of a library class that is carried (foreign.py); `detail` tells some of them apart."""
        key: Key = ("py", cls) if detail is None else ("py", cls, detail)
        head = self.foreign.get(key)
        if head is None:
            head = self.foreign[key] = Head(key)
            head.written = foreign.full_name(cls) in foreign.CHANGING
        return head

    # --- names of modules and classes that are written ----------------------------------------

    def written_name(self, owner: Any, name: str) -> Namespace:
        """From now on a name of a module, class or cell is a variable, which a call takes over and gives back."""
        found = self.namespaces.get(id(owner))
        if found is None:
            found = self.namespaces[id(owner)] = Namespace(owner, len(self.classes) + len(self.namespaces) + 1)
            self.hidden[id(owner)] = Hidden(owner, Node())
            add(self.lattice, self.hidden[id(owner)].node, found.head)
        if name not in found.attributes:
            node = found.attribute(self.lattice, name)
            is_cell = isinstance(owner, types.CellType)
            held = reads.contents(owner) if is_cell else getattr(owner, name, reads.ABSENT)
            if held is not reads.ABSENT:
                self.observer.see(held, node)
        found.head.root().written = True
        return found

    def variable_of(self, owner: Any, name: str) -> Namespace | None:
        """The module or class among whose variables a name is; None if it is not written."""
        found = self.namespaces.get(id(owner))
        return found if found is not None and name in found.attributes else None

    def is_variable(self, read: reads.Read) -> bool:
        """Whether a fact is about a name that is written, and so is no fact."""
        for found in self.namespaces.values():
            if isinstance(found.owner, types.CellType):
                if found.owner is read.owner:
                    return True
            elif read.name in found.attributes:
                owned = vars(found.owner) is read.owner or found.owner is read.owner
                if owned or (isinstance(read.owner, type) and found.owner in read.owner.__mro__):
                    return True
        return False

    # --- instances ----------------------------------------

    def instance(
        self, info: FunctionInfo, outer: Instance | None, arguments: list[Node], caller: Instance | None = None
    ) -> Instance:
        """The instance for these kinds of arguments."""
        home = (id(info.tree), id(outer))
        key: Any = (home, tuple(_argument_key(node) for node in arguments))
        found = self.instances.get(key)
        first = None
        if found is None:
            first = _first_call(info, outer, arguments, caller)
            found = first and next((one for one in first.within if _are_alike(one.arguments, arguments)), None)
            if found is None and self.counts.get(home, 0) >= _MANY_INSTANCES:
                found = self._known(home, arguments)
            if found is not None:
                self.instances[key] = found
        if found is None:
            if self.counts.get(home, 0) >= _MAX_INSTANCES:
                key = (home, "any")
                found = self.instances.get(key)
        if found is None:
            if len(self.instances) >= _MAX_ALL:
                raise Refusal(info.span(info.tree), f"`{info.name}` is called with too many kinds of arguments")
            self.counts[home] = self.counts.get(home, 0) + 1
            self.number += 1
            self.lattice.note()
            found = self.instances[key] = Instance(info, outer, self.number)
            found.maker = caller
            if first is not None:
                first.within.append(found)
        return found

    def _known(self, home: Any, arguments: list[Node]) -> Instance | None:
        """An instance for containers of the same types that others have made."""
        shape = tuple(_shape(node) for node in arguments)
        if not all(map(_is_complete, shape)):
            return None
        made = (one for key, one in self.instances.items() if key[0] == home)
        return next((one for one in made if tuple(map(_shape, one.arguments)) == shape), None)


def _argument_key(node: Node) -> Any:
    return frozenset((head.key if not head.parts else (head.key, id(head))) for head in node)


def _shape(node: Node, depth: int = 4) -> Any:
    """The kinds of values that a node stands for, and of what they hold, some levels deep."""
    if depth == 0:
        return None
    return frozenset((head.key, tuple(_shape(part, depth - 1) for part in head.parts)) for head in node)


def _is_complete(shape: Any) -> bool:
    """Whether something is known of everything that a shape shows."""
    if shape is None:
        return True
    return bool(shape) and all(_is_complete(part) for _, parts in shape for part in parts)


def _are_alike(some: list[Node], others: list[Node]) -> bool:
    """Whether the kinds of values are the same as far as they are known."""
    return all(_may_equal(_shape(one), _shape(other)) for one, other in zip(some, others))


def _may_equal(one: Any, other: Any) -> bool:
    if not one or not other:
        return True
    mine, theirs = dict(one), dict(other)
    if len(mine) < len(one) or len(theirs) < len(other):  # containers that differ in what they hold
        return bool(one == other)
    return mine.keys() == theirs.keys() and all(
        _may_equal(part, of_other) for key, parts in mine.items() for part, of_other in zip(parts, theirs[key])
    )


def _first_call(
    info: FunctionInfo, outer: Instance | None, arguments: list[Node], caller: Instance | None
) -> Instance | None:
    """The outermost call of a function that leads to a call of it with containers of the same types.

    All calls within share an instance, since each would make containers for others. The first call has one of its own:
    its arguments are somebody else's.

        def place(row, columns): ... place(row + 1, columns | {c})
    """
    found: Instance | None = None
    while caller is not None:
        if caller.info is info and caller.outer is outer and _are_alike(caller.arguments, arguments):
            found = caller
        caller = caller.maker
    return found


#: What classes of named tuples hold anyway.
_OF_NAMED_TUPLES: Final = {
    *("__module__", "__doc__", "__slots__", "__new__", "__getnewargs__", "__match_args__", "__orig_bases__"),
    *("__annotations__", "__dict__", "__weakref__", "__qualname__", "__firstlineno__", "__static_attributes__"),
    *("__replace__", "__annotate__", "__annotate_func__", "__annotations_cache__", "__classcell__", "__parameters__"),
    "__slotnames__",  # left there by copy and pickle
}


def own_operator(cls: type) -> str | None:
    """A special method that a class of named tuples defines itself: the operators of tuples would not call it."""
    for base in cls.__mro__[: cls.__mro__.index(tuple)]:
        for name, held in vars(base).items():
            is_special = name.startswith("__") and name.endswith("__") and name not in _OF_NAMED_TUPLES
            if is_special and not (name == "__repr__" and getattr(held, "__module__", None) == "collections"):
                return name
    return None


#: What a class may not define to be native: it would see or change what is read and stored.
_FOREIGN: Final = ("__getattribute__", "__getattr__", "__setattr__", "__delattr__", "__new__", "__del__")
_BASES_FINE: Final = (object, BaseException, Exception)


_INHERITS: Final = "it inherits from "


def is_own(cls: type) -> bool:
    """Whether a class is one of the program's, written in Python and not in a library."""
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return bool(cls.__flags__ & (1 << 9)) and (file is None or library_of(file) is None)


def why_not_native(cls: type) -> str | None:
    """Why objects of a class cannot be native; None if they can."""
    if issubclass(cls, BaseException):
        own = [base for base in cls.__mro__ if base.__flags__ & (1 << 9)]
        return next((f"it defines {name}" for base in own for name in _FOREIGN if name in vars(base)), None)
    if type(cls) is not type and type(cls).__name__ != "ABCMeta":
        return f"its metaclass is {type(cls).__name__}"
    frozen = getattr(getattr(cls, "__dataclass_params__", None), "frozen", False)
    for base in cls.__mro__:
        if base is object or base.__module__ in ("typing", "abc"):
            continue
        if not base.__flags__ & (1 << 9):
            return f"{_INHERITS}{base.__name__}" if base is not cls else "it is no class written in Python"
        for name in _FOREIGN:
            if name in vars(base) and not (frozen and name in ("__setattr__", "__delattr__")):
                return f"it defines {name}"
    return None


class Observer:
    """The types of arguments as they are.  In: values; out: heads in nodes."""

    def __init__(self, unit: Unit, most: int = 1000) -> None:
        self.unit = unit
        self.seen: dict[int, Head] = {}
        self.most = most
        self._waiting: deque[tuple[Any, Node]] = deque()
        self._is_at_work = False

    def see(self, value: Any, node: Node) -> None:
        """Let a node hold the type of a value; what the value refers to follows, however long the chain is."""
        self._waiting.append((value, node))
        if self._is_at_work:
            return
        self._is_at_work = True
        try:
            while self._waiting:
                self._see(*self._waiting.popleft())
        finally:
            self._is_at_work = False
            self._waiting.clear()

    def _see(self, value: Any, node: Node) -> None:
        lattice, unit = self.unit.lattice, self.unit
        kind = type(value)
        simple = _SIMPLE.get(kind)
        if simple is not None:
            if kind is int and not -(1 << 63) <= value < 1 << 63:
                add(lattice, node, BIG)
                return
            add(lattice, node, SCALAR_HEADS[simple])
            return
        known = self.seen.get(id(value))
        if known is not None:
            add(lattice, node, known)
            return
        if kind.__module__ == "numpy":
            found = self._numpy(value)
            if found is not None:
                add(lattice, node, found)
                return
        if kind in _ONE_PART:
            head = self._new(value, (_ONE_PART[kind],), 1)
            self._items(value, head.part())
        elif kind is dict or (
            kind.__name__ in ("defaultdict", "Counter", "OrderedDict") and kind.__module__ == "collections"
        ):
            head = self._new(value, (kind.__name__,), 3 if kind.__name__ == "defaultdict" else 2)
            if kind.__name__ == "defaultdict":
                self.see(value.default_factory, head.part(2))
            self._items(value, head.part(0))
            self._items(value.values(), head.part(1))
        elif kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
            cls = None if kind is tuple else kind
            own = None if cls is None else own_operator(cls)
            if cls is not None and own is not None:
                raise Refusal(unit.span, f"`{cls.__name__}` is a named tuple with a method `{own}` of its own")
            if cls is None and len(value) > 8:
                head = self._new(value, ("vtuple",), 1)
                self._items(value, head.part())
            else:
                head = self._new(value, ("tuple", len(value), cls), len(value))
                for item, part in zip(value, head.parts):
                    self.see(item, part)
        elif kind is bytearray:
            head = BYTEARRAY
        elif is_constant(value):
            head = unit.constant(value)
        elif foreign.is_carried(kind):
            head = unit.foreign_head(kind, value.groups if kind.__name__ == "Pattern" else None)
        else:
            head = self._object(value)
        add(lattice, node, head)

    def _numpy(self, value: Any) -> Head | None:
        """A NumPy scalar or array; None of other objects."""
        kind = type(value)
        dtype: Any = getattr(value, "dtype", None)
        name = getattr(dtype, "name", "")
        if kind.__name__ == "ndarray":
            if name not in DTYPES or dtype.byteorder not in "=|" or dtype.metadata or not 1 <= value.ndim <= MAX_RANK:
                raise Refusal(self.unit.span, f"an array of {value.ndim} dimensions and dtype {dtype}")
            return self.unit.array(name, value.ndim)
        return SCALAR_HEADS[f"np.{name}"] if name in DTYPES and dtype.type is kind else None

    def _new(self, value: Any, key: Key, parts: int) -> Head:
        head = self.seen[id(value)] = Head(key, tuple(Node() for _ in range(parts)))
        return head

    def _items(self, items: Any, node: Node) -> None:
        kinds = set(map(type, items))
        plain = {kind for kind in kinds if kind in _SIMPLE and kind is not int}
        for kind in plain:
            add(self.unit.lattice, node, SCALAR_HEADS[_SIMPLE[kind]])
        if int in kinds:
            add(self.unit.lattice, node, SCALAR_HEADS["int"])
            if any(type(item) is int and not -(1 << 63) <= item < 1 << 63 for item in items):
                add(self.unit.lattice, node, BIG)
        if kinds - plain - {int}:
            for count, item in enumerate(items):
                if count >= self.most:
                    break
                if type(item) not in _SIMPLE:
                    self.see(item, node)

    def _object(self, value: Any) -> Head:
        info = self.unit.class_info(type(value), self.unit.span)
        if info.is_exception:
            raise Refusal(self.unit.span, f"an exception as an argument: {type(value).__name__}")
        self.seen[id(value)] = info.head
        for name, held in attributes_of(value):
            self.see(held, info.attribute(self.unit.lattice, name))
        return info.head


def attributes_of(value: Any) -> list[tuple[str, Any]]:
    """The attributes that an object holds itself, from its dict and its slots."""
    found = list(own_attributes(value).items())
    for base in type(value).__mro__:
        slots = vars(base).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                found.append((name, getattr(value, name)))
    return found


def is_constant(value: Any) -> bool:
    """Whether an object is known by itself while compiling: a callable, a class, a module, a member of an
    enumeration."""
    kinds = (
        types.FunctionType,
        types.BuiltinFunctionType,
        types.ModuleType,
        type,
        enum.Enum,
        types.MethodDescriptorType,
    )
    if isinstance(value, enum.Enum) and not _is_plain_member(value):
        return False
    return (
        isinstance(value, kinds)
        or value is NotImplemented
        or is_jitted(value)
        or (type(value).__module__ in ("functools", "operator", "_operator", "numpy") and callable(value))
    )


def _is_plain_member(value: enum.Enum) -> bool:
    """Whether a member of an enumeration is compared by identity and is nothing but a member."""
    cls = type(value)
    return (
        not isinstance(value, (int, str, float, tuple))
        and cls.__eq__ is object.__eq__
        and cls.__hash__ is enum.Enum.__hash__
    )


_SIMPLE: Final[dict[type, str]] = {
    int: "int",
    float: "float",
    bool: "bool",
    type(None): "none",
    str: "str",
    bytes: "bytes",
    complex: "complex",
    range: "range",
}
_ONE_PART: Final[dict[Any, str]] = {list: "list", set: "set", frozenset: "frozenset", deque: "deque"}


def function_info(unit: Unit, function: Any, span: Span) -> FunctionInfo:
    """The Core of a Python function."""
    from weft.frontend.source import load
    from weft.plain.core import NotCore, core_function

    key = id(function)
    found = unit.functions.get(key)
    if found is None:
        reads.function(function)
        source = load(function)
        try:
            known = set(vars(builtins))
            # Globals, builtins and cells are guarded: within a call they stay what they are unless it writes them.
            home = id(source.namespace)
            unit.changing |= {(home, name) for name in source.changing}
            fixed = {name for name in known | set(source.namespace) if (home, name) not in unit.changing}
            fixed |= {name for name, cell in source.cells.items() if callable(reads.contents(cell))}
            tree = core_function(source.tree, fixed=fixed, shadowed=known & (set(source.namespace) | set(source.cells)))
        except NotCore as problem:
            at = Span(source.file, problem.line, problem.column, problem.end_line, problem.end_column)
            raise Refusal(at if problem.line else span, problem.reason, problem.remedy) from None
        cells = dict(source.cells)
        found = unit.functions[key] = FunctionInfo(tree, source.file, source.namespace, cells, None, function)
        unit.kept.append(function)
    return found


def ordered(instances: set[Instance]) -> list[Instance]:
    """By number: generated C is the same in every process, so that one finds what another has compiled."""
    return sorted(instances, key=lambda instance: instance.number)
