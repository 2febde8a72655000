"""The state of one walk over a function.  In: an instance and its unit; out: types in its nodes, or lines of C.

Every operation is written once, as a function over a `Frame` and values. While inference runs, `emitting` is False:
lines are dropped, and what counts is which heads flow where. When nothing changes any more the same functions run
once with `emitting` set, and the lines are the code. So what is inferred and what is emitted cannot differ.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable, Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from weft.errors import APART, Span
from weft.frontend import reads
from weft.options import wants_lines
from weft.plain import types
from weft.plain.told import Refusal
from weft.plain.types import SCALAR_HEADS, Head, Key, Node, representation
from weft.plain.unit import Instance, Unit

if TYPE_CHECKING:
    from weft.plain.emit import Writer

C_TYPES: Final = {"i": "int64_t", "b": "int64_t", "d": "double", "p": "void *", "v": "wp_val"}
ZEROS: Final = {"i": "0", "b": "0", "d": "0.0", "p": "(void *)0", "v": "wp_of_p(0)"}
TO_TAGGED: Final = {"i": "wp_of_i", "d": "wp_of_d", "b": "wp_of_b", "p": "wp_of_p"}
#: Kinds whose values are objects of Python that compiled code does not look into.
OPAQUE: Final = frozenset(("big", "py"))
#: Combinations of heads that one operation tells apart.
_MAX_CASES: Final = 40


class Value:
    """A value on its way: its type, and the C expression for it (a name or a constant, without effect)."""

    __slots__ = ("code", "node", "text")

    def __init__(self, node: Node, code: str, text: str | None = None) -> None:
        self.node = node
        self.code = code
        self.text = text  # of a string constant

    @property
    def repr(self) -> str:
        return representation(self.node)

    def kinds(self) -> set[str]:
        return self.node.kinds()

    def head(self) -> Head:
        """The one head: after `Frame.cases` each value has one."""
        head = self.node.only()
        assert head is not None
        return head

    def constant(self) -> Any:
        """The Python object, if it is known; else None."""
        head = self.node.only()
        return head.value if head is not None and head.kind == "const" else None


Operation = Callable[..., "Value | None"]


class Frame:
    """One walk over an instance."""

    def __init__(self, unit: Unit, instance: Instance, writer: Writer | None) -> None:
        self.unit = unit
        self.instance = instance
        self.info = instance.info
        self.writer = writer
        self.emitting = writer is not None
        self.lines: list[str] = []
        self.shows_lines = wants_lines()
        self.indent = 1
        self.temporaries = 0
        self.node: ast.AST = instance.info.tree
        self.path: tuple[Any, ...] = ()
        self.frame_fields: list[tuple[str, str]] = []  # of a generator: C type and name
        self.handlers: list[Any] = []  # what encloses the current place: see statements.py
        self.assigned: set[str] = set()  # variables that certainly have a value here
        self.labels = 0
        self.in_try = 0
        self.yields = 0
        self.reachable = True
        self.ends: tuple[bool, ...] = ()  # of the last `if`: whether its branches come back
        self.narrow: dict[str, frozenset[Key]] = {}  # heads that variables can have here: see narrowing.py

    # --- places ----------------------------------------

    @property
    def line(self) -> int:
        return getattr(self.node, "lineno", 0)

    def span(self) -> Span:
        return self.info.span(self.node)

    def refuse(self, reason: str, remedy: str = APART) -> Refusal:
        return Refusal(self.span(), reason, remedy)

    @contextlib.contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        before = self.node
        self.node = node
        try:
            yield
        finally:
            self.node = before

    @contextlib.contextmanager
    def inside(self, step: Any) -> Iterator[None]:
        """Sites made here have names of their own."""
        before = self.path
        self.path = (*before, step)
        try:
            yield
        finally:
            self.path = before

    def site(self, tag: Any) -> Node:
        """The node of something that is made at the current place."""
        key = (id(self.node), tag, self.path)
        node = self.instance.sites.get(key)
        if node is None:
            self.unit.lattice.note()
            node = self.instance.sites[key] = Node()
        return node.root()

    def new_head(self, tag: Any, key: Key, parts: int, value: Any = None) -> Head:
        """The head of a container that is made at the current place."""
        name = (id(self.node), tag, key, self.path)
        head = self.instance.sites.get(name)
        if head is None:
            self.unit.lattice.note()
            head = self.instance.sites[name] = Head(key, tuple(Node() for _ in range(parts)), value)
        return head.root()

    # --- types ----------------------------------------

    def flow(self, source: Value | Node, target: Node) -> None:
        types.flow(self.unit.lattice, source.node if isinstance(source, Value) else source, target)

    def unify(self, one: Node, other: Node) -> None:
        types.unify(self.unit.lattice, one, other)

    def add(self, node: Node, head: Head) -> None:
        types.add(self.unit.lattice, node, head)

    def written(self, head: Head) -> None:
        head = head.root()
        if not head.written:
            self.unit.lattice.note()
            head.written = True

    # --- code ----------------------------------------

    def write(self, text: str) -> None:
        if self.emitting:
            if self.shows_lines and self.line:
                self.lines.append(f"#line {self.line} {c_string(self.info.file)}")
            self.lines.append("    " * self.indent + text)

    def name(self) -> str:
        self.temporaries += 1
        return f"t{self.temporaries}"

    def temporary(self, letter: str, code: str) -> str:
        """A C variable for the rest of the block."""
        if not self.emitting:
            return "0"
        name = self.name()
        self.write(f"{C_TYPES[letter]} {name} = {code};")
        return name

    def held(self, c_type: str, code: str) -> str:
        """A C variable that outlives a `yield`: of a generator, a field of its frame."""
        if not self.emitting:
            return "0"
        name = self.name()
        if self.info.is_generator:
            self.frame_fields.append((c_type, name))
            self.write(f"f->{name} = {code};")
            return f"f->{name}"
        self.write(f"{c_type} {name} = {code};")
        return name

    def declared(self, letter: str) -> str:
        """A C variable that branches assign to."""
        if not self.emitting:
            return "0"
        name = self.name()
        self.write(f"{C_TYPES[letter]} {name} = {ZEROS[letter]};")
        return name

    def label(self, stem: str) -> str:
        self.labels += 1
        return f"{stem}{self.labels}"

    @contextlib.contextmanager
    def block(self, opening: str) -> Iterator[None]:
        self.write(opening + " {")
        self.indent += 1
        try:
            yield
        finally:
            self.indent -= 1
            self.write("}")

    def make(self, node: Node, code: str, check: bool = False) -> Value:
        """A value computed now, once."""
        name = self.temporary(representation(node), code) if self.emitting else "0"
        if check:
            self.check()
        return Value(node, name)

    def scalar(self, kind: str, code: str, check: bool = False) -> Value:
        return self.make(SCALAR_NODES[kind], code, check)

    def literal(self, kind: str, code: str) -> Value:
        return Value(SCALAR_NODES[kind], code)

    @property
    def none(self) -> Value:
        return Value(SCALAR_NODES["none"], "(void *)0")

    def settled(self, value: Value, kind: str) -> Value:
        """A value that is a number of this kind; where code never runs it may have no type."""
        return value if len(value.node) or not self.emitting else self.literal(kind, "0")

    def heap(self, head: Head, code: str, check: bool = False) -> Value:
        """A value with this one head."""
        return self.make(self.single(head), code, check)

    def single(self, head: Head) -> Node:
        """A node that holds just one head."""
        node = Node()
        node.heads[head.key] = head
        return node

    def type_of(self, head: Head) -> str:
        """The C name of a heap type's description."""
        return self.writer.type_of(head) if self.writer is not None else "0"

    def as_node(self, value: Value, node: Node) -> str:
        """The value in the representation of a place that it flows into."""
        return self.as_repr(value, representation(node)) if self.emitting else "0"

    def as_repr(self, value: Value, letter: str) -> str:
        if not self.emitting:
            return "0"
        mine = value.repr
        if len(value.node) == 0:
            return ZEROS[letter]
        if mine == letter:
            return value.code
        if letter == "v":
            return f"{TO_TAGGED[mine]}({value.code})"
        if mine == "v":
            part = {"i": "i", "b": "i", "d": "d", "p": "p"}[letter]
            return f"({value.code}).u.{part}"
        raise AssertionError(f"{describe(value)} has no representation {letter}")

    def tagged(self, value: Value) -> str:
        return self.as_repr(value, "v")

    def load(self, node: Node, address: str) -> Value:
        """The value in a slot of memory."""
        letter = representation(node)
        return self.make(node, f"*({C_TYPES[letter]} *)({address})")

    def store(self, value: Value, node: Node, address: str) -> None:
        self.write(f"*({C_TYPES[representation(node)]} *)({address}) = {self.as_node(value, node)};")

    # --- exceptions ----------------------------------------

    @property
    def guarded(self) -> bool:
        return self.in_try > 0 or self.instance.guarded

    def check(self) -> None:
        """Leave for the handler if the last operation raised."""
        if self.emitting and self.guarded:
            self.write(f"if (WP_UNLIKELY(wp_exception != 0)) goto {self.exception_target()};")

    def exception_target(self) -> str:
        for handler in reversed(self.handlers):
            if getattr(handler, "catches", False):
                handler.used = True
                return str(handler.label)
        return "raised"

    def raises(self, which: str, message: str | None = None) -> None:
        """Raise a builtin exception here."""
        text = "0" if message is None else c_string(message)
        self.write(f"wp_raise({which}, {text}, {self.line});")
        if self.emitting and self.guarded:
            self.write(f"goto {self.exception_target()};")
        elif self.emitting:
            self.write(f'wp_deopt("an exception", {self.line});')

    def deoptimise(self, reason: str) -> None:
        self.write(f"wp_deopt({c_string(reason)}, {self.line});")

    # --- values of several kinds ----------------------------------------

    def narrowed(self, value: Value, head: Head) -> tuple[str, Value]:
        """The test whether a value is of this head, and the value if it is."""
        node = self.single(head)
        if not self.emitting:
            return "1", Value(node, "0")
        letter = representation(node)
        code = self.as_repr(value, letter) if value.repr != letter else value.code
        return self.writer.test(value, head), Value(node, code)  # type: ignore[union-attr]

    def _without_form(self, values: tuple[Value, ...]) -> None:
        """Python raises TypeError for these kinds; of objects that only Python knows it decides itself, and NumPy of
        its own."""
        kinds = {head.kind for value in values for head in value.node}
        is_numpys = "ndarray" in kinds or not kinds.isdisjoint(types.NUMPY_SCALARS)
        if is_numpys and "none" in kinds:  # what gets its value later is None until then
            self.deoptimise("an operation on None")
        elif is_numpys:
            texts = ", ".join(types.describe(value.node) for value in values)
            raise self.refuse(f"this operation on {texts}")
        elif not kinds.isdisjoint(OPAQUE):
            self.deoptimise("an operation on an object of Python")
        elif any(head.kind == "obj" and _converts(head.key[1].cls) for value in values for head in value.node):
            self.deoptimise("an operation on an object that may stand for a number or a container")
        else:
            self.raises("WP_TYPE_ERROR")

    def cases(self, values: list[Value], operation: Operation, tag: Any) -> Value:
        """Do an operation for each combination of kinds that the values may have.

        `operation` gets values of one kind each and gives a value, or None if Python raises TypeError for these kinds.
        What it refuses for some kinds only, Python does when such values come.
        """
        if all(len(value.node) == 1 for value in values):
            found = operation(*values)
            if found is None:
                self._without_form(tuple(values))
                return Value(Node(), "0")
            return found
        combinations = list(product(*(list(value.node) for value in values)))
        if len(combinations) > _MAX_CASES:
            texts = ", ".join(dict.fromkeys(types.describe(value.node) for value in values))
            raise self.refuse(f"an operation on values of too many kinds: {texts}", "keep few types in one container")
        result = self.site(("cases", tag))
        refused: Refusal | None = None
        is_native = False
        if not self.emitting:
            for heads in combinations:
                with self.inside(tuple(head.key for head in heads)):
                    singles = tuple(Value(self.single(head), "0") for head in heads)
                    try:
                        found = operation(*singles)
                    except Refusal as problem:
                        refused = refused or self._only_here(problem, heads)
                        continue
                if found is not None:
                    is_native = True
                    self.flow(found, result)
                else:
                    self._without_form(singles)
            if refused is not None and not is_native:
                raise refused
            return Value(result, "0")
        if not combinations:
            self.deoptimise("a value of no known type")
            return Value(result, ZEROS[representation(result)])
        name = self.declared(representation(result))
        lead = "if"
        for heads in combinations:
            tested = [self.narrowed(value, head) for value, head in zip(values, heads)]
            test = " && ".join(test for test, _ in tested if test != "1") or "1"
            with self.inside(tuple(head.key for head in heads)), self.block(f"{lead} ({test})"):
                try:
                    found = operation(*(value for _, value in tested))
                except Refusal as problem:
                    self.deoptimise(self._only_here(problem, heads).reason)
                else:
                    if found is None:
                        self._without_form(tuple(value for _, value in tested))
                    elif len(result):
                        self.write(f"{name} = {self.as_node(found, result)};")
            lead = "else if"
        return Value(result, name)

    def _only_here(self, problem: Refusal, heads: tuple[Head, ...]) -> Refusal:
        """A refusal that concerns one of several kinds: calls in which such a value comes deoptimise.

        Arrays are for the other compiler, which is asked when this one refuses.
        """
        if any(head.kind == "ndarray" or head.kind in types.NUMPY_SCALARS for head in heads):
            raise problem
        return problem


#: By these a class may take part in what is defined for numbers and containers.
_CONVERSIONS: Final = (
    *("__index__", "__int__", "__float__", "__complex__", "__floor__", "__ceil__", "__trunc__", "__bytes__"),
    *("__iter__", "__getitem__", "__len__", "__reversed__", "keys"),
)


def _converts(cls: type) -> bool:
    return any(reads.lookup(cls, name) is not reads.ABSENT for name in _CONVERSIONS)


def describe(value: Value) -> str:
    return types.describe(value.node)


def c_string(text: str) -> str:
    quoted = "".join(
        c
        if 32 <= ord(c) < 127 and c not in '\\"?'
        else "".join(f"\\{byte:03o}" for byte in c.encode("utf-8", "surrogatepass"))
        for c in text
    )
    return f'"{quoted}"'


def numpy_tag(kind: str) -> str:
    """The tag of a NumPy scalar in C: `WP_NP_FLOAT64`."""
    return f"WP_NP_{kind[3:].upper()}"


def _scalar_nodes() -> dict[str, Node]:
    nodes = {}
    for kind, head in SCALAR_HEADS.items():
        node = Node()
        node.heads[(kind,)] = head
        nodes[kind] = node
    return nodes


#: Nodes that hold one kind without parts. Nothing flows into them.
SCALAR_NODES: Final = _scalar_nodes()
