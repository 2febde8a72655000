"""What a function gives back to a C host.  In: the results of its program, one tree for each return; out: numbers,
arrays and handles, and what becomes of lists and dicts that were arguments.

A container of Python's is a maker and columns there: `containers:dict_of`, templates, keys, values.  The makers that
native/handles.c has a form of are read here; others are refused, with the line of their return.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from weft.codegen.binding import WordLayout
from weft.errors import NOWHERE, Span, Unsupported
from weft.hosts.arguments import (
    Argument,
    ArrayArgument,
    Change,
    Contents,
    Fill,
    Given,
    HandleArgument,
    Result,
)
from weft.hosts.functions import Function
from weft.hosts.handles import BYTES, STR, Handle, item_name
from weft.ir.program import (
    ArgumentOut,
    ArrayOut,
    ConstOut,
    NoneOut,
    Out,
    Program,
    Return,
    Role,
    ScalarOut,
    TupleOut,
    ViewOut,
)
from weft.ir.types import INT, DType, ScalarType, type_of_value
from weft.ir.walk import walk
from weft.records import dataclass

_CONTAINERS, _TEXTS, _NESTED = "weft.runtime.containers:", "weft.runtime.texts:", "weft.runtime.nested:"
_DICTS = {"dict_of", "counter_of", "defaultdict_of"}
_EMPTY = {"builtins:dict": "dict", "collections:Counter": "dict"}
_LETTERS = {"i": "int", "f": "float", "b": "bool"}
_REMEDY = "return arrays, numbers, strings, lists of numbers or strings, or dicts of these"


@dataclass(frozen=True)
class Leaf:
    """One result on one way out."""

    type: ScalarType
    rank: int | None
    given: Given
    kind: Handle | None = None


def _of_items(form: str, item: str, value: str = "") -> Handle:
    return Handle(form, item, value)


@dataclass(frozen=True)
class Found:
    results: tuple[Result, ...]
    changes: tuple[tuple[Change, ...], ...]


def results_of(function: Function, program: Program, places: WordLayout, arguments: Sequence[Argument]) -> Found:
    """The results of all returns; `Unsupported` if they differ in kind, or C has no form of one."""
    spans = {node.result: node.span for node in walk(program.body) if isinstance(node, Return)}
    ways: list[list[Leaf]] = []
    changes: list[tuple[Change, ...]] = []
    located: list[Span] = []
    for number, tree in enumerate(program.results):
        span = spans.get(number, NOWHERE)
        located.append(span if span.line > 0 else function.span)
        way = _Way(program, places, arguments, located[-1], iter(places.returns[number]))
        ways.append(list(way.leaves(tree)))
        changes.append(tuple(way.changes))
        taken = [slot for leaf in ways[-1] for slot in _taken(leaf.given)]
        taken += [slot for change in way.changes for slot in _taken(Given(contents=change.contents))]
        if len(taken) != len(set(taken)):
            raise Unsupported(located[-1], "two results share memory", "return copies: a.copy()")
    found = []
    kinds = _kinds(ways, located)
    for position, leaves in enumerate(zip(*ways)):
        name = "result" if len(ways[0]) == 1 else f"result_{position}"
        given = tuple(leaf.given for leaf in leaves)
        found.append(Result(name, leaves[0].type, leaves[0].rank, given, kinds[position]))
    return Found(tuple(found), tuple(changes))


def _taken(given: Given) -> list[int]:
    """Slots whose memory goes to the caller as it is."""
    if given.contents is None:
        return [] if given.slot is None else [given.slot]
    return [fill.slots[0] for fill in given.contents.fills if fill.how == "column"]


def _kinds(ways: Sequence[Sequence[Leaf]], spans: Sequence[Span]) -> list[Handle | None]:
    """The kind of handle that each result is; an empty container is of the kind that the others are."""
    kinds = [leaf.kind for leaf in ways[0]]
    for way, span in zip(ways, spans):
        same = len(way) == len(kinds)
        for position, leaf in enumerate(way if same else ()):
            first, known = ways[0][position], kinds[position]
            if leaf.kind is not None and known is not None and leaf.kind.form in (known.form, "list"):
                if not known.item or (known.form == "list" and leaf.kind.form == "rows"):
                    kinds[position] = known = leaf.kind
                same = same and (leaf.kind == known or not leaf.kind.item)
            else:
                same = same and leaf.kind == known and (leaf.type.dtype, leaf.rank) == (first.type.dtype, first.rank)
        if not same:
            raise Unsupported(
                span, "what is returned here is of another kind than elsewhere", "return one kind of result"
            )
    for kind in kinds:
        if kind is not None and not kind.item:
            raise Unsupported(
                spans[0], f"an empty {kind.form} is returned, of which no type is known", "return an array"
            )
    return kinds


class _Way:
    """One return of a function."""

    def __init__(
        self,
        program: Program,
        places: WordLayout,
        arguments: Sequence[Argument],
        span: Span,
        words: Iterator[int | None],
    ) -> None:
        self.program, self.places, self.arguments = program, places, arguments
        self.span, self.words = span, words
        self.changes: list[Change] = []
        of_word = {a.word: a for a in arguments if isinstance(a, ArrayArgument)}
        of_word |= {word: a for a in arguments if isinstance(a, HandleArgument) for word in a.words}  # type: ignore[misc]
        self.owners: dict[str, ArrayArgument | HandleArgument] = {
            name: of_word[word] for name, word in places.params.items() if word in of_word
        }
        self.lists: dict[str, tuple[int, int]] = {}  # slots of all lists of a kind: where each begins, their items

    def refused(self, what: str, remedy: str = _REMEDY) -> Unsupported:
        return Unsupported(self.span, f"{what} is returned", remedy)

    def leaves(self, out: Out) -> Iterator[Leaf]:
        if isinstance(out, TupleOut):
            yield from self.of_tuple(out)
            return
        word = next(self.words)
        if isinstance(out, NoneOut):
            return
        if isinstance(out, ConstOut):
            yield self.constant(ast.literal_eval(out.text))
        elif isinstance(out, ArgumentOut):
            yield self.argument(self.arguments[out.index])
        elif isinstance(out, ScalarOut):
            yield Leaf(self.program.buffer(out.buffer).type, None, Given(word=word))
        else:
            yield self.of_array(out, word)

    def constant(self, value: object) -> Leaf:
        if isinstance(value, (str, bytes)):
            return self.handle(STR if isinstance(value, str) else BYTES, Contents(text=value))
        of = type_of_value(value)
        if of is None:
            raise self.refused(f"the constant {value!r}", "return numbers")
        return Leaf(of, None, Given(constant=value))

    def argument(self, given: Argument) -> Leaf:
        if not isinstance(given, HandleArgument):
            raise self.refused("an argument that is no array")
        return self.handle(given.kind, Contents(argument=given))

    def handle(self, kind: Handle, contents: Contents) -> Leaf:
        return Leaf(INT, None, Given(contents=contents), kind)

    def of_array(self, out: ArrayOut | ViewOut, word: int | None) -> Leaf:
        buffer = self.program.buffer(out.buffer)
        owner = self.owners.get(out.buffer)
        if buffer.role is Role.PARAM:
            if owner is None:
                raise self.refused("an array of the module", "return a copy of it")
            if isinstance(owner, HandleArgument):
                if isinstance(out, ViewOut):
                    raise self.refused("a part of a list")
                return self.argument(owner)
        if isinstance(out, ViewOut):
            slot = None if buffer.role is Role.PARAM else self.places.slots[out.buffer]
            return Leaf(buffer.type, len(out.dims), Given(word=word, slot=slot))
        if isinstance(owner, ArrayArgument):
            return Leaf(buffer.type, buffer.rank, Given(argument=owner))
        slot = self.places.slots[out.buffer]
        if not out.as_list:
            return Leaf(buffer.type, buffer.rank, Given(slot=slot))
        item = item_name(buffer.type)
        if item is None or not 1 <= buffer.rank <= 2:
            raise self.refused(f"a list of {buffer.type} of {buffer.rank} axes", "return an array")
        form, how = ("list", "column") if buffer.rank == 1 else ("rows", "rows")
        return self.handle(Handle(form, item), Contents(fills=(Fill(how, (slot,)),)))

    # --- containers -------------------------------------------------------------------------------------------------

    def of_tuple(self, out: TupleOut) -> Iterator[Leaf]:
        if out.as_list:
            yield self.of_numbers(out)
        elif out.named in _EMPTY and not out.items:
            yield self.handle(Handle(_EMPTY[out.named], ""), Contents())
        elif out.named.startswith(_TEXTS):
            yield self.of_text(out)
        elif out.named == f"{_NESTED}settled":
            yield from self.settled(out)
        elif out.named == f"{_NESTED}later":
            yield self.later(out)
        elif out.named.startswith(_CONTAINERS):
            yield from self.of_container(out, out.named.removeprefix(_CONTAINERS))
        elif out.named.startswith("weft."):
            raise self.refused("an object")
        else:
            for item in out.items:
                yield from self.leaves(item)

    def of_numbers(self, out: TupleOut) -> Leaf:
        """A list of single numbers."""
        found = [leaf for item in out.items for leaf in self.leaves(item)]
        items = {"" if leaf.rank is not None or leaf.kind is not None else item_name(leaf.type) for leaf in found}
        if len(items) > 1 or not items <= set(_LETTERS.values()) or len(found) != len(out.items):
            raise self.refused("a list of other things than numbers of one type")
        numbers = tuple(leaf.given for leaf in found)
        return self.handle(Handle("list", next(iter(items), "") or ""), Contents(numbers=numbers))

    def of_text(self, out: TupleOut) -> Leaf:
        kind = {"text_of": STR, "bytes_of": BYTES}.get(out.named.removeprefix(_TEXTS))
        if kind is None or not isinstance(out.items[0], ArrayOut):
            raise self.refused("a bytearray or a member of an enumeration")
        return self.handle(kind, Contents(fills=(Fill("column", (self.slot(out.items[0]),)),)))

    def slot(self, out: Out) -> int:
        """The slot of a column, which is the next leaf."""
        next(self.words)
        if not isinstance(out, ArrayOut) or out.buffer not in self.places.slots:
            raise self.refused("a container of this kind")
        return self.places.slots[out.buffer]

    def text_constant(self, out: Out) -> object:
        next(self.words)
        assert isinstance(out, ConstOut)
        return ast.literal_eval(out.text)

    def of_container(self, out: TupleOut, maker: str) -> Iterator[Leaf]:
        what, _, kind = maker.partition("_")
        if what in ("changed", "refilled") and kind in ("list", "dict"):
            yield from self.leaves(out.items[0])
            owner = self.changed(out.items[1])
            if what == "refilled":
                (new,) = self.leaves(out.items[2])
                known, contents = new.kind, new.given.contents
            else:
                template = str(self.text_constant(out.items[2]))
                known, contents = self.by_template(template, out.items[3:])
            if known != owner.kind or contents is None:
                raise Unsupported(self.span, f"the argument {owner.name} gets items of another kind", "make a new list")
            self.changes.append(Change(owner, contents))
            return
        if maker == "with_texts":
            yield self.with_texts(out)
            return
        if maker not in _DICTS and maker != "list_of":
            raise self.refused(f"a {maker.partition('_')[0]}")
        if maker == "defaultdict_of":
            self.text_constant(out.items[0])
            out = TupleOut(out.items[1:])
        count = 1 if maker == "list_of" else 2
        parts = [self.text_constant(item) for item in out.items[:count]]
        yield self.made(parts, [self.column(item) for item in out.items[count:]])

    def changed(self, out: Out) -> HandleArgument:
        next(self.words)
        owner: object = None
        if isinstance(out, ArgumentOut):
            owner = self.arguments[out.index]
        elif isinstance(out, ArrayOut):
            owner = self.owners.get(out.buffer)
        if not isinstance(owner, HandleArgument):
            raise Unsupported(self.span, "a container of the module is changed", "take it as an argument")
        return owner

    def by_template(self, template: str, columns: Sequence[Out]) -> tuple[Handle | None, Contents | None]:
        """What a list or dict of numbers holds now."""
        letters = template.strip("[]{}").split(":")
        if not all(letter in _LETTERS for letter in letters):
            return None, None
        form = "list" if template[0] == "[" else "dict"
        fills = tuple(Fill("column", (self.slot(column),)) for column in columns)
        return _of_items(form, *(_LETTERS[letter] for letter in letters)), Contents(fills=fills)

    def column(self, out: Out) -> tuple[str, int]:
        """The item and the slot of a column of numbers."""
        slot = self.slot(out)
        assert isinstance(out, ArrayOut)
        item = item_name(self.program.buffer(out.buffer).type)
        if item is None:
            raise self.refused("a container of such numbers", "return an array")
        return item, slot

    def made(self, parts: Sequence[object], columns: Sequence[tuple[str, int]]) -> Leaf:
        """A list or a dict of numbers."""
        if any(part != 0 for part in parts) or len(columns) != len(parts):
            raise self.refused("a container of tuples or other containers")
        form = "list" if len(parts) == 1 else "dict"
        if form == "dict" and columns[0][0] != "int":
            raise self.refused(f"a dict with {columns[0][0]} keys", "use int or str keys")
        fills = tuple(Fill("column", (slot,)) for _, slot in columns)
        return self.handle(_of_items(form, *(item for item, _ in columns)), Contents(fills=fills))

    def with_texts(self, out: TupleOut) -> Leaf:
        """A list or a dict with strings: (maker, codes, count of templates, templates, columns)."""
        maker = self.text_constant(out.items[0])
        codes = self.slot(out.items[1])
        count = self.text_constant(out.items[2])
        assert isinstance(count, int)
        rest = iter(out.items[3:])
        parts = [self.text_constant(next(rest)) for _ in range(count)]
        if maker == "defaultdict_of":
            parts = parts[1:]
        if maker not in _DICTS and maker != "list_of":
            raise self.refused(f"a {str(maker).partition('_')[0]} of strings")
        fills, items = [], []
        for part in parts:
            if part == "str":
                starts, lengths = self.column(next(rest)), self.column(next(rest))
                fills.append(Fill("parts", (codes, starts[1], lengths[1])))
                items.append("str")
            elif part == 0:
                item, slot = self.column(next(rest))
                fills.append(Fill("column", (slot,)))
                items.append(item)
            else:
                raise self.refused("a container of tuples or other containers")
        if len(items) == 2 and (items[0] not in ("str",)):
            raise self.refused(f"a dict[{items[0]}, {items[1]}]", "use str keys")
        return self.handle(_of_items("list" if len(items) == 1 else "dict", *items), Contents(fills=tuple(fills)))

    # --- lists of lists ---------------------------------------------------------------------------------------------

    def settled(self, out: TupleOut) -> Iterator[Leaf]:
        """Lists that are held by others: (result, plan, where each of a kind begins, items of all, ...)."""
        plan_out = out.items[1]
        assert isinstance(plan_out, ConstOut)
        kinds, arguments, arrays, has_texts = ast.literal_eval(plan_out.text)
        simple = all(len(kind) == 3 and kind[1] in _LETTERS for kind in kinds)
        if not simple or arguments or arrays or has_texts:
            raise self.refused("a container of containers")
        slots = [self.places.slots[item.buffer] for item in out.items[2:] if isinstance(item, ArrayOut)]
        if len(slots) != 2 * len(kinds):
            raise self.refused("a container of containers")
        self.lists = {kind: (slots[2 * at], slots[2 * at + 1]) for at, kind in enumerate(kinds)}
        yield from self.leaves(out.items[0])
        for _ in out.items[1:]:
            next(self.words)

    def later(self, out: TupleOut) -> Leaf:
        template = str(self.text_constant(out.items[0]))
        if len(template) != 5 or not template.startswith("[[") or template[1:4] not in self.lists:
            raise self.refused("a container of containers")
        starts, items = self.lists[template[1:4]]
        buffer = self.program.buffer(out.items[1].buffer) if isinstance(out.items[1], ArrayOut) else None
        numbers = self.slot(out.items[1])
        if buffer is None or buffer.type.dtype is not DType.I64:
            raise self.refused("a container of containers")
        return self.handle(
            Handle("rows", _LETTERS[template[2]]), Contents(fills=(Fill("numbered", (numbers, starts, items)),))
        )
