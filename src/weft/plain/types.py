"""Types of plain Python: what a place may hold, found by a fixpoint.

In: facts as inference meets them ("this list gets a float"). Out: for each place a `Node`, the set of kinds of values
that were seen there. A kind is a `Head`: `int`, `str`, `list` of something, an object of a class, a function. What a
container holds is a node of its own, and containers that may be the same object share it: joining two heads of one
kind joins what they hold.

    x = [1]; x.append(2.0)      x: {list[{int, float}]}

Everything only grows, so inference ends. `Lattice.changed` says whether the last pass has added anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

#: Kinds without parts. `none` is None's type.
SCALARS: Final = ("int", "float", "bool", "none")
#: Kinds whose values are heap objects and whose one part is their items.
SEQUENCES: Final = ("list", "vtuple", "set", "frozenset", "deque")
#: Element types of arrays, in the order of their tags (native/plain.h).
DTYPES: Final = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "float32", "float64")
#: NumPy's scalars: kinds of their own, always with a tag.
NUMPY_SCALARS: Final = tuple(f"np.{dtype}" for dtype in DTYPES)
DICTS: Final = ("dict", "defaultdict", "Counter", "OrderedDict")

Key = tuple[Any, ...]


class Lattice:
    """What inference has added since it last asked."""

    def __init__(self) -> None:
        self.changed = False
        self.frozen = False

    def note(self) -> None:
        if self.frozen:
            raise AssertionError("a type changed after inference")
        self.changed = True


class Head:
    """One kind of value: its key, and what values of this kind hold. Heads that were joined have one representative."""

    __slots__ = ("bounded", "key", "parent", "parts", "value", "written")

    def __init__(self, key: Key, parts: tuple[Node, ...] = (), value: Any = None) -> None:
        self.key = key
        self.parts = parts
        self.value = value
        self.written = False
        self.parent: Head | None = None

    def root(self) -> Head:
        head = self
        while head.parent is not None:
            head = head.parent
        return head

    @property
    def kind(self) -> str:
        return self.key[0]  # type: ignore[no-any-return]

    def part(self, place: int = 0) -> Node:
        return self.root().parts[place].root()

    def __repr__(self) -> str:
        return describe_head(self)


class Node:
    """A place: the heads of the values it may hold."""

    __slots__ = ("heads", "parent")

    def __init__(self) -> None:
        self.heads: dict[Key, Head] = {}
        self.parent: Node | None = None

    def root(self) -> Node:
        node = self
        while node.parent is not None:
            node = node.parent
        return node

    def __iter__(self) -> Iterator[Head]:
        return iter([head.root() for head in self.root().heads.values()])

    def __len__(self) -> int:
        return len(self.root().heads)

    def kinds(self) -> set[str]:
        return {head.kind for head in self}

    def only(self) -> Head | None:
        """The one head, if there is just one."""
        heads = self.root().heads
        return next(iter(heads.values())).root() if len(heads) == 1 else None

    def __repr__(self) -> str:
        return describe(self)


def add(lattice: Lattice, node: Node, head: Head) -> None:
    """`node` may hold values of this head from now on."""
    node = node.root()
    head = head.root()
    known = node.heads.get(head.key)
    if known is None:
        lattice.note()
        node.heads[head.key] = head
    elif known.root() is not head:
        join_heads(lattice, known, head)


def flow(lattice: Lattice, source: Node, target: Node) -> None:
    """Whatever `source` holds may stand in `target`, too."""
    source, target = source.root(), target.root()
    if source is target:
        return
    for head in list(source.heads.values()):
        add(lattice, target, head)


def join_heads(lattice: Lattice, one: Head, other: Head) -> None:
    """Two heads of one key are one from now on."""
    one, other = one.root(), other.root()
    if one is other:
        return
    lattice.note()
    other.parent = one
    one.written = one.written or other.written
    if one.kind == "tuple" and one.value != other.value:
        one.value = ()  # not known any more
    for mine, theirs in zip(one.parts, other.parts):
        unify(lattice, mine, theirs)


def unify(lattice: Lattice, one: Node, other: Node) -> None:
    """Two nodes are one from now on."""
    one, other = one.root(), other.root()
    if one is other:
        return
    lattice.note()
    heads = other.heads
    other.parent = one
    other.heads = {}
    for head in heads.values():
        add(lattice, one, head)


def scalar_node(*kinds: str) -> Node:
    node = Node()
    for kind in kinds:
        node.heads[(kind,)] = SCALAR_HEADS[kind]
    return node


#: An integer beyond 64 bits: an object of Python (wide.py).
BIG: Final = Head(("big",))
#: A bytearray: its items are ints, and nothing else flows into them.
BYTEARRAY: Final = Head(("bytearray",), (Node(),))
SCALAR_HEADS: Final = {
    kind: Head((kind,)) for kind in (*SCALARS, *NUMPY_SCALARS, "str", "bytes", "complex", "range", "slice")
}
BYTEARRAY.parts[0].heads["int",] = SCALAR_HEADS["int"]
BYTEARRAY.written = True


def representation(node: Node) -> str:
    """How values of a place lie in memory: i, d, b, p or v (see native/plain.h)."""
    kinds = [head.kind for head in node]
    if kinds == ["int"]:
        return "i"
    if kinds == ["float"]:
        return "d"
    if kinds == ["bool"]:
        return "b"
    if any(kind in ("int", "float", "bool") or kind in NUMPY_SCALARS for kind in kinds):
        return "v"
    return "p"


def describe(node: Node, depth: int = 4) -> str:
    """A type as Python writes it: `list[int | None]`."""
    texts = sorted({describe_head(head, depth) for head in node})
    if "None" in texts:
        texts = [text for text in texts if text != "None"] + ["None"]
    return " | ".join(texts) if texts else "nothing"


def describe_head(head: Head, depth: int = 4) -> str:
    head = head.root()
    kind = head.kind
    if kind == "none":
        return "None"
    if kind == "py":
        return str(head.key[1].__name__)
    if kind == "big":
        return "int of any size"
    if depth == 0:
        return "..."
    if kind == "obj":
        return str(head.key[1].cls.__name__)
    if kind == "const":
        value = head.value
        return f"type[{value.__name__}]" if isinstance(value, type) else getattr(value, "__name__", repr(value))
    if kind == "tuple":
        if head.key[2] is not None:
            return str(head.key[2].__name__)
        return f"tuple[{', '.join(describe(part, depth - 1) for part in head.parts)}]" if head.parts else "tuple[()]"
    if kind == "ndarray":
        return f"ndarray[{head.key[1]}, {head.key[2]}d]"
    if kind == "vtuple":
        return f"tuple[{describe(head.part(), depth - 1)}, ...]"
    if kind == "partial":
        return "partial"
    if kind in ("closure", "generator", "iterator", "method"):
        return str(head.key[1]) if isinstance(head.key[1], str) else getattr(head.value, "name", kind)
    if kind in SEQUENCES:
        return f"{kind}[{describe(head.part(), depth - 1)}]"
    if kind == "Counter":
        return f"Counter[{describe(head.part(0), depth - 1)}]"
    if kind in DICTS:
        return f"{kind}[{describe(head.part(0), depth - 1)}, {describe(head.part(1), depth - 1)}]"
    return kind


class Signatures:
    """Structural names of types: equal text, equal layout. Recursive types are cut where a head comes again."""

    def __init__(self) -> None:
        self.known: dict[int, str] = {}

    def node(self, node: Node, within: tuple[int, ...] = ()) -> str:
        return "|".join(sorted(self.head(head, within) for head in node))

    def head(self, head: Head, within: tuple[int, ...] = ()) -> str:
        head = head.root()
        if not head.parts:
            return f"{head.kind}:{':'.join(_name(part) for part in head.key[1:])}"
        if id(head) in within:
            return f"^{within.index(id(head))}"
        known = self.known.get(id(head)) if not within else None
        if known is not None:
            return known
        inner = (*within, id(head))
        parts = ",".join(self.node(part, inner) for part in head.parts)
        keys = ":".join(_name(part) for part in head.key[1:])
        text = f"{head.kind}{'!' if head.written else ''}:{keys}({parts})"
        if not within:
            self.known[id(head)] = text
        return text


def _name(part: Any) -> str:
    return part if isinstance(part, str) else str(part) if isinstance(part, int) else hex(id(part))
