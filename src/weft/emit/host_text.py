"""Python between kernels or tasks.  In: the program of a plan; out: texts for its sizes, conditions and results, with
the user's names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection

from weft.codegen import python_syntax as py
from weft.device import host
from weft.ir.expr import Expr
from weft.ir.program import Argument, ArrayOut, ConstOut, Derived, NoneOut, Out, Program, ScalarOut, SizeOf, TupleOut
from weft.ir.types import DType, ScalarType
from weft.records import dataclass

_NAME = re.compile(r"v\['([^']*)'\]")
_PYTHON = {DType.BOOL: "bool", DType.I64: "int", DType.F64: "float", DType.C128: "complex"}
#: What the texts call.
HELPERS = '''
def _floordiv(a, b):
    return a // b if b else 0


def _mod(a, b):
    return a % b if b else 0


def _divide(a, b):
    if b:
        return a / b
    return math.nan if a == 0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _whole(value):
    """An integer of 64 bits, as the variant takes it for granted."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise GuardFailed
    return value
'''


@dataclass
class HostText:
    """The texts of one plan; `elsewhere`: numbers that `known` has to look up at another place."""

    program: Program
    names: py.Names
    elsewhere: Collection[str] = ()
    look_up: str = ""

    def of(self, name: str) -> str:
        return self.names.of(name)

    def value(self, expr: Expr) -> str:
        """An expression over sizes and numbers; ValueError if Python cannot compute it between two steps."""
        scalars = {buffer.name for buffer in self.program.buffers if not buffer.rank}
        text = host.text(expr, scalars)
        if text is None:
            raise ValueError("what decides about its steps is no plain number")

        def named(found: re.Match[str]) -> str:
            name = self.of(found[1])
            return f"{self.look_up}({name})" if found[1] in self.elsewhere else name

        return bare(_NAME.sub(named, text))

    def shape(self, buffer: str) -> str:
        extents = [self.value(extent) for extent in self.program.table[buffer].shape]
        return f"({', '.join(extents)}{',' if len(extents) == 1 else ''})"

    def dtype(self, buffer: str) -> str:
        return f"np.{self.program.table[buffer].type.dtype.numpy.name.replace('bool', 'bool_')}"

    def sizes(self) -> list[str]:
        """Statements that give the program's sizes their names."""
        lines: list[str] = []
        for symbol in self.program.symbols:
            name = self.of(symbol.name)
            if isinstance(symbol.source, SizeOf):
                lines.append(f"{name} = {self.of(symbol.source.buffer)}.shape[{symbol.source.axis}]")
            elif isinstance(symbol.source, Derived):
                lines.append(f"{name} = {self.value(symbol.source.value)}")
            else:
                assert isinstance(symbol.source, Argument)
                given = self.of(symbol.source.name)
                lines += [] if given == name else [f"{name} = {given}"]
        return lines

    def result(self, out: Out, array: Callable[[str], str], scalar: Callable[[str], str]) -> str:
        """A result as an expression; `array` and `scalar` give the text of one."""
        if isinstance(out, TupleOut):
            if out.named:
                raise ValueError("it returns objects of a class")
            items = [self.result(item, array, scalar) for item in out.items]
            return f"[{', '.join(items)}]" if out.as_list else f"({', '.join(items)}{',' if len(items) == 1 else ''})"
        if isinstance(out, NoneOut):
            return "None"
        if isinstance(out, ConstOut):
            return repr(ast.literal_eval(out.text))
        if isinstance(out, ScalarOut):
            return f"{converting(self.program.table[out.buffer].type)}({scalar(out.buffer)})"
        if isinstance(out, ArrayOut) and not out.as_list:
            return array(out.buffer)
        raise ValueError("it returns a view, or a list")


def converting(of: ScalarType) -> str:
    """The name of the type that a number has for the caller."""
    return _PYTHON[of.dtype] if of.weak else f"np.{of.dtype.numpy.type.__name__}"


def bare(text: str) -> str:
    """An expression without the brackets around all of it."""
    if not (text.startswith("(") and text.endswith(")")):
        return text
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if not depth and at < len(text) - 1:
            return text
    return text[1:-1]
