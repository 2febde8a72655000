"""The parser of the text form.  In: text as `text.show` prints it; out: an equal Program, or ParseError with the line.

Lines and their indentation give the blocks; within a line a recursive descent over tokens.  Words such as `alloc` or
`sum` are not reserved: what follows them tells a keyword from a buffer of that name.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from weft.ir.expr import AnyDim, Cast, CompressedDim, Const, Dim, Domain, Expr, Limit, Op, Read, Reduce, Var
from weft.ir.ops import OPERATIONS
from weft.ir.program import (
    Accumulator,
    Alloc,
    Argument,
    ArgumentOut,
    ArrayOut,
    Block,
    Break,
    Buffer,
    Call,
    Check,
    ConstOut,
    Continue,
    Derived,
    If,
    Invoke,
    Layout,
    Library,
    Loop,
    LoopKind,
    Node,
    NoneOut,
    Operand,
    Out,
    Program,
    Rebind,
    Return,
    Role,
    ScalarOut,
    SizeOf,
    Space,
    Stmt,
    Symbol,
    TupleOut,
    ViewOut,
    While,
)
from weft.ir.routines import ROUTINES
from weft.ir.text import ASSIGNMENTS, BINDING, COMPARISON, REDUCE_NAMES, inferred_type
from weft.ir.types import BOOL, PYBOOL, ScalarType, type_named, type_of_value
from weft.records import dataclass

T = TypeVar("T")

_TOKEN = re.compile(
    r"""(?P<space>[ \t]+)|(?P<comment>\#(?![0-9]).*)
      |(?P<special>float\.(?:inf|nan)|bool\.(?:True|False))
      |(?P<number>\d+(?:\.\d+)?(?:e[+-]?\d+)?)
      |(?P<assign>(?:and|or|min|max|argmin|argmax)=(?!=))
      |(?P<name>[^\W\d]\w*)
      |(?P<string>"(?:[^"\\]|\\.)*")
      |(?P<mark>\.\.|//|\*\*|<<|>>|<=|>=|==|!=|\+=|\*=|&=|\|=|\^=|[-+*/%<>=&|^~()\[\]{},:.\#])""",
    re.VERBOSE,
)
_REDUCTIONS = {name: op for op, name in REDUCE_NAMES.items()}
_ASSIGNS = {text: op for op, text in ASSIGNMENTS.items()}
_INFIX = {operation.symbol: operation.name for operation in OPERATIONS.values() if operation.symbol is not None}
_TYPES = {str(of): of for of in (type_named(n) for n in ("pybool", "int", "float", "complex"))} | {
    name: type_named(name)
    for name in ("bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "c64", "c128")
}
_KINDS = {kind.value: kind for kind in LoopKind}
_LAYOUTS = {layout.value: layout for layout in Layout}
_SPACES = {space.value: space for space in Space}
_ROLES = {role.value: role for role in Role}
_HEADER = ("size", "symbol", "disjoint", "arranged", "ordered", "output", "guard", *_ROLES)


class ParseError(ValueError):
    """The text is no program: which line, and what was expected there."""


@dataclass
class _Line:
    """The tokens of one line and how far they were read."""

    number: int
    indent: int
    tokens: list[tuple[str, str]]
    at: int = 0

    def fail(self, wanted: str) -> ParseError:
        return ParseError(f"line {self.number}: {wanted} expected, not {self.peek() or 'the end of the line'!r}")

    def peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.tokens[place][1] if place < len(self.tokens) else ""

    def kind(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.tokens[place][0] if place < len(self.tokens) else ""

    def take(self, text: str) -> bool:
        """Whether the next token is `text`; it is read if so."""
        if self.peek() == text and self.kind() != "string":
            self.at += 1
            return True
        return False

    def need(self, text: str) -> None:
        if not self.take(text):
            raise self.fail(repr(text))

    def read(self, kind: str) -> str:
        if self.kind() != kind:
            raise self.fail(f"a {kind}")
        self.at += 1
        return self.tokens[self.at - 1][1]

    def name(self) -> str:
        return self.read("name")

    def number_value(self) -> int | float:
        text = self.read("number")
        return int(text) if text.isdigit() else float(text)

    def string(self) -> str:
        return str(json.loads(self.read("string")))

    def several(self, item: Callable[[], T], end: str) -> tuple[T, ...]:
        """Items between commas up to the token `end`, which is read too."""
        items: list[T] = []
        while not self.take(end):
            if items:
                self.need(",")
            items.append(item())
        return tuple(items)

    def listed(self, item: Callable[[], T]) -> tuple[T, ...]:
        """One or more items between commas."""
        items = [item()]
        while self.take(","):
            items.append(item())
        return tuple(items)

    def done(self) -> None:
        if self.at < len(self.tokens):
            raise self.fail("the end of the line")


def _lines(text: str) -> list[_Line]:
    found: list[_Line] = []
    for number, raw in enumerate(text.split("\n"), start=1):
        tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(raw):
            match = _TOKEN.match(raw, at)
            if match is None:
                raise ParseError(f"line {number}: no token begins at {raw[at:]!r}")
            at = match.end()
            if match.lastgroup not in ("space", "comment"):
                tokens.append((str(match.lastgroup), match.group()))
        if tokens:
            found.append(_Line(number, len(raw) - len(raw.lstrip(" ")), tokens))
    return found


def parse_program(text: str) -> Program:
    lines = _lines(text)
    if not lines:
        raise ParseError("line 1: an empty text is no program")
    starts = [at for at, line in enumerate(lines) if not line.indent]
    main, *functions = [_Parser(lines[a:b]).program() for a, b in zip(starts, (*starts[1:], None))]
    return replace(main, functions=tuple(functions))


class _Parser:
    """Reads lines from the front; `buffers` tells a rank-0 read from an index variable."""

    def __init__(self, lines: list[_Line]) -> None:
        self.lines = lines
        self.next = 0
        self.buffers: dict[str, Buffer] = {}

    # --- programs ---

    def program(self) -> Program:
        line = self.lines[0]
        line.need("program")
        name = line.string() if line.kind() == "string" else line.name()
        line.need("(")
        params = line.several(line.name, ")")
        line.need(":")
        line.done()
        self.next = 1
        self._declare()
        symbols: list[Symbol] = []
        results: list[Out] = []
        disjoint: list[tuple[str, str]] = []
        named: dict[str, list[str]] = {"arranged": [], "ordered": []}
        guards: list[Check] = []
        while self.next < len(self.lines) and self._in_header(self.lines[self.next]):
            line = self.lines[self.next]
            self.next += 1
            word = line.name()
            if word in ("size", "symbol"):
                symbols.append(self._symbol(line, word))
            elif word == "disjoint":
                first = line.name()
                line.need(",")
                disjoint.append((first, line.name()))
            elif word in named:
                named[word].append(line.name())
            elif word == "output":
                line.need("#")
                line.number_value()
                line.need("=")
                results.append(self._out(line))
            elif word == "guard":
                guards.append(self._check(line))
            else:
                self._buffer(line, _ROLES[word])
            line.done()
        body = self._block(self.lines[0].indent)
        if self.next < len(self.lines):
            raise self.lines[self.next].fail("a line of the program's block")
        buffers = tuple(self.buffers.values())
        program = Program(name, params, tuple(symbols), buffers, tuple(guards), body, tuple(results), tuple(disjoint))
        return replace(program, arranged=tuple(named["arranged"]), ordered=tuple(named["ordered"]))

    def _declare(self) -> None:
        """Note the type of every buffer first: the shape of one may read another that stands below it."""
        for line in self.lines[1:]:
            if not self._in_header(line):
                return
            if line.peek() in _ROLES:
                name, of = line.peek(1), line.peek(3)
                if of not in _TYPES:
                    line.at = 3
                    raise line.fail("a type")
                self.buffers[name] = Buffer(name, _TYPES[of], ())

    def _in_header(self, line: _Line) -> bool:
        return line.peek() in _HEADER and not self._is_stmt(line)

    def _symbol(self, line: _Line, word: str) -> Symbol:
        name = line.name()
        line.need("=")
        if word == "symbol":
            if line.take("argument"):
                return Symbol(name, Argument(line.name()))
            return Symbol(name, Derived(self._expr(line)))
        buffer = line.name()
        line.need(".")
        line.need("shape")
        line.need("[")
        axis = line.number_value()
        line.need("]")
        return Symbol(name, SizeOf(buffer, int(axis)))

    def _buffer(self, line: _Line, role: Role) -> None:
        name = line.name()
        line.need(":")
        of = self._type(line)
        shape = line.several(lambda: self._expr(line), "]") if line.take("[") else ()
        layout = _LAYOUTS[line.name()] if line.peek() in _LAYOUTS else Layout.C
        space = _SPACES[line.name()] if line.peek() in _SPACES else Space.HOST
        self.buffers[name] = Buffer(name, of, shape, role, layout, space)

    def _type(self, line: _Line) -> ScalarType:
        name = line.name()
        if name not in _TYPES:
            line.at -= 1
            raise line.fail("a type")
        return _TYPES[name]

    def _out(self, line: _Line) -> Out:
        word = line.name()
        if word == "None":
            return NoneOut()
        if word == "argument":
            return ArgumentOut(int(line.number_value()))
        if word == "scalar":
            return ScalarOut(line.name())
        if word == "const":
            return ConstOut(line.string())
        if word == "named":
            named = line.string()
            line.need("(")
            return TupleOut(line.several(lambda: self._out(line), ")"), named=named)
        if word in ("tuple", "list") and line.take("("):
            return TupleOut(line.several(lambda: self._out(line), ")"), as_list=word == "list")
        if word in ("array", "list"):
            return ArrayOut(line.name(), as_list=word == "list")
        if word != "view":
            raise line.fail("a kind of result")
        line.need("(")
        buffer = line.name()
        index = self._index(line)
        dims = self._over(line)
        line.need(")")
        return ViewOut(buffer, dims, index)

    # --- statements ---

    def _block(self, outer: int) -> Block:
        """The lines that are indented more than `outer`."""
        nodes: list[Node] = []
        while self.next < len(self.lines) and self.lines[self.next].indent > outer:
            line = self.lines[self.next]
            self.next += 1
            if line.peek() == "pass" and len(line.tokens) == 1:
                continue
            nodes.append(self._node(line))
            line.done()
        return tuple(nodes)

    def _is_stmt(self, line: _Line) -> bool:
        """`x = ...`, `x[...] = ...`, `x += ...`, `x min= ...`, whatever the word x."""
        return line.peek(1) in ("=", "[") or line.peek(1) in _ASSIGNS

    def _node(self, line: _Line) -> Node:
        if line.kind() == "name" and self._is_stmt(line):
            return self._stmt(line)
        word = line.name()
        if word in _KINDS:
            return self._loop(line, _KINDS[word])
        if word == "if":
            return self._if(line)
        if word in ("prelude", "while"):
            return self._while(line, word)
        if word == "check":
            return self._check(line)
        if word == "break":
            return Break()
        if word == "continue":
            return Continue()
        if word == "return":
            line.need("#")
            return Return(int(line.number_value()))
        if word == "alloc":
            return Alloc(line.name(), line.take("zero"))
        if word == "rebind":
            targets = line.listed(line.name)
            line.need("=")
            return Rebind(targets, line.listed(line.name))
        if word == "call":
            return self._call(line)
        if word == "library":
            return self._library(line)
        if word == "invoke":
            return self._invoke(line)
        line.at -= 1
        raise line.fail("a statement")

    def _index(self, line: _Line) -> tuple[Expr, ...]:
        return line.several(lambda: self._expr(line), "]") if line.take("[") else ()

    def _over(self, line: _Line) -> Domain:
        return line.listed(lambda: self._dim(line)) if line.take("for") else ()

    def _stmt(self, line: _Line) -> Stmt:
        buffer = line.name()
        index = self._index(line)
        reduce: str | None = None
        if not line.take("="):
            if line.peek() not in _ASSIGNS:
                raise line.fail("an assignment")
            reduce = _ASSIGNS[line.peek()]
            line.at += 1
        value = self._expr(line)
        return Stmt(self._over(line), buffer, index, value, reduce)

    def _check(self, line: _Line) -> Check:
        condition = self._expr(line)
        line.need("else")
        exception = line.name()
        message = line.string() if line.kind() == "string" else ""
        values = line.several(lambda: self._expr(line), "}") if line.take("{") else ()
        return Check(self._over(line), condition, exception, message, values)

    def _loop(self, line: _Line, kind: LoopKind) -> Loop:
        var = line.name()
        dim: AnyDim
        if line.take("("):
            position = line.name()
            line.need(")")
            line.need("in")
            dim = self._level(line, var, position)
        else:
            line.need("in")
            lo = self._expr(line)
            line.need("..")
            dim = Dim(var, lo, self._expr(line), self._step(line))
        accumulators = line.listed(lambda: self._accumulator(line)) if line.take("reducing") else ()
        work = self._expr(line) if line.take("work") else None
        threads = int(line.number_value()) if line.take("threads") else 0
        line.need(":")
        return Loop(dim, self._block(line.indent), kind, accumulators, work, threads=threads)

    def _accumulator(self, line: _Line) -> Accumulator:
        buffer = line.name()
        line.need("by")
        return Accumulator(buffer, line.name())

    def _follows(self, line: _Line, word: str) -> _Line | None:
        """The next line, if it stands at the same depth and begins with `word`; it counts as read."""
        if self.next < len(self.lines):
            following = self.lines[self.next]
            if following.indent == line.indent and following.take(word):
                self.next += 1
                return following
        return None

    def _if(self, line: _Line) -> If:
        condition = self._expr(line)
        line.need(":")
        then = self._block(line.indent)
        otherwise = self._follows(line, "else")
        if otherwise is None:
            return If(condition, then)
        otherwise.need(":")
        otherwise.done()
        return If(condition, then, self._block(line.indent))

    def _while(self, line: _Line, word: str) -> While:
        prelude: Block = ()
        head: _Line | None = line
        if word == "prelude":
            line.need(":")
            prelude = self._block(line.indent)
            head = self._follows(line, "while")
            if head is None:
                raise line.fail("a while line after the prelude")
        assert head is not None
        condition = self._expr(head)
        head.need(":")
        if head is not line:
            head.done()
        return While(prelude, condition, self._block(line.indent))

    def _call(self, line: _Line) -> Call:
        routine = line.name()
        line.need("(")
        operands = line.several(lambda: self._operand(line), ")")
        scale = self._expr(line) if line.take("scale") else None
        keep = self._expr(line) if line.take("keep") else None
        line.need(":")
        return Call(routine, self._stmt(line), operands, scale, keep)

    def _library(self, line: _Line) -> Library:
        routine = line.name()
        if routine not in ROUTINES:
            line.at -= 1
            raise line.fail("a library routine")
        inputs = self._routine_operands(line)
        line.need("gives")
        outputs = self._routine_operands(line)
        status = line.name() if line.take("status") else None
        return Library(routine, self._over(line), inputs, outputs, status)

    def _invoke(self, line: _Line) -> Invoke:
        function = line.name()
        line.need("(")
        arguments = line.several(lambda: self._argument(line), ")")
        results = line.listed(line.name) if line.take("gives") else ()
        return Invoke(function, arguments, results, line.listed(line.name) if line.take("writes") else ())

    def _argument(self, line: _Line) -> Expr | Operand:
        return self._routine_operands(line)[0] if line.peek() == "{" else self._expr(line)

    def _routine_operands(self, line: _Line) -> tuple[Operand, ...]:
        found: list[Operand] = []
        while line.take("{"):
            buffer = line.name()
            index = self._index(line)
            found.append(Operand(buffer, self._over(line), index))
            line.need("}")
        return tuple(found)

    def _operand(self, line: _Line) -> Read:
        read = self._expr(line)
        if not isinstance(read, Read):
            raise line.fail("a read as operand of the call")
        return read

    # --- dimensions ---

    def _step(self, line: _Line) -> int:
        if not line.take("step"):
            return 1
        sign = -1 if line.take("-") else 1
        return sign * int(line.number_value())

    def _dim(self, line: _Line) -> AnyDim:
        var = line.name()
        if line.take("("):
            position = line.name()
            line.need(")")
            line.need(":")
            return self._level(line, var, position)
        line.need(":")
        lo = self._expr(line, COMPARISON + 1)
        if not line.take("<="):
            line.need(">=")
        line.need(var)
        if not line.take("<"):
            line.need(">")
        return Dim(var, lo, self._expr(line, COMPARISON + 1), self._step(line))

    def _level(self, line: _Line, var: str, position: str) -> CompressedDim:
        line.need("csr")
        line.need("(")
        pointer = line.name()
        line.need(",")
        coordinate = line.name()
        line.need(")")
        line.need("[")
        parent = self._expr(line)
        line.need("]")
        return CompressedDim(var, position, pointer, coordinate, parent)

    # --- expressions ---

    def _expr(self, line: _Line, binding: int = 0) -> Expr:
        """An expression whose infix operators bind at least as tightly as `binding`."""
        left = self._prefix(line)
        while (own := BINDING.get(line.peek(), -1)) >= max(binding, 1):
            op = _INFIX[line.peek()]
            line.at += 1
            right = self._expr(line, own + 1)
            left = self._op(op, (left, right))
        return left

    def _op(self, op: str, args: tuple[Expr, ...]) -> Op:
        return Op(op, args, inferred_type(op, args))

    def _prefix(self, line: _Line) -> Expr:
        if line.take("not"):
            return self._op("not", (self._expr(line, 3),))
        if line.take("~"):
            return self._op("invert", (self._expr(line, 11),))
        if line.take("-"):
            if line.kind() == "number" or line.peek().startswith("float."):
                return self._literal(line, negative=True)
            return self._op("neg", (self._expr(line, 11),))
        return self._primary(line)

    def _literal(self, line: _Line, negative: bool = False) -> Const:
        value = self._real(line)
        if negative:
            value = -value
        default = type_of_value(value)
        assert default is not None
        return Const(value, self._suffix(line) or default)

    def _real(self, line: _Line) -> int | float:
        if line.kind() == "special":
            return math.inf if line.read("special") == "float.inf" else math.nan
        return line.number_value()

    def _suffix(self, line: _Line) -> ScalarType | None:
        """The type after an underscore, if one stands there."""
        word = line.peek()
        if word.startswith("_") and word[1:] in _TYPES:
            line.at += 1
            return _TYPES[word[1:]]
        return None

    def _primary(self, line: _Line) -> Expr:
        if line.take("("):
            inner = self._expr(line)
            if line.take("as"):
                of = self._type(line)
                if not isinstance(inner, (Op, Read)):
                    raise line.fail("an operation or a read before 'as'")
                inner = replace(inner, of=of)
            line.need(")")
            return inner
        if line.peek() in ("bool.True", "bool.False"):
            return Const(line.read("special") == "bool.True", BOOL)
        if line.kind() in ("number", "special"):
            return self._literal(line)
        name = line.name()
        if name in ("True", "False"):
            return Const(name == "True", PYBOOL)
        if line.peek() == "(":
            return self._called(line, name)
        if name in _REDUCTIONS and self._binds(line):
            line.need("[")
            dims = line.several(lambda: self._dim(line), "]")
            return Reduce(_REDUCTIONS[name], dims, self._expr(line, 1))
        if name in self.buffers:
            return Read(name, self._index(line), self.buffers[name].type)
        return Var(name)

    def _binds(self, line: _Line) -> bool:
        """Whether a dimension follows ([k: ... or [j(p): ... or []), and not an index."""
        if line.peek() != "[":
            return False
        return line.peek(1) == "]" or line.peek(2) == ":" or (line.peek(2) == "(" and line.peek(5) == ":")

    def _called(self, line: _Line, name: str) -> Expr:
        line.need("(")
        if name == "j":
            real = self._signed(line)
            line.need(",")
            imaginary = self._signed(line)
            line.need(")")
            of = self._suffix(line)
            if of is None:
                raise line.fail("the type of a complex literal")
            return Const(complex(real, imaginary), of)
        if name == "const":
            value = line.name() == "True"
            line.need(",")
            of = self._type(line)
            line.need(")")
            return Const(value, of)
        if name == "limit":
            limit = Limit(line.name())
            line.need(")")
            return limit
        args = line.several(lambda: self._expr(line), ")")
        if name in _TYPES and len(args) == 1:
            return Cast(args[0], _TYPES[name])
        if name not in OPERATIONS or OPERATIONS[name].arity != len(args):
            raise line.fail(f"an operation of {len(args)} operands before this (there is no such {name})")
        return self._op(name, args)

    def _signed(self, line: _Line) -> float:
        negative = line.take("-")
        value = float(self._real(line))
        return -value if negative else value
