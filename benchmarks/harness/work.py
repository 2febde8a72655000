"""What a kernel has to do at least. In comes a kernel and a size; out come its operations on elements and the bytes of
arguments and results that must be read and written once, counted in weft's optimised program of the NumPy form.

Sums over loops and domains are integrals: a variable that bounds something further in is sampled at Gauss's points,
which is exact for triangles and pyramids, and any other one multiplies by its extent. Loops whose end depends on
computed data, and library routines, leave the operations unknown, unless the kernel's file says them (`operations`).

    python -m benchmarks.harness.work KERNEL SIZE
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.harness.model import Work
from benchmarks.kernels import load
from benchmarks.kernels.registry import Arguments, Benchmark

_NODES = ((-math.sqrt(0.6), 5 / 18), (0.0, 8 / 18), (math.sqrt(0.6), 5 / 18))
_EXACT = 4  # extents up to this are enumerated
_COUNTED_AS_NOTHING = {"select", "and", "or", "not", "real", "imag", "complex", "conj"}
_COMPLEX_COST = {"add": 2, "sub": 2, "neg": 2}
_COMPLEX = 6  # a product; quotients and powers count as one

Environment = dict[str, float]


class Unknown(Exception):
    """A number that only a run can tell."""


def measure(benchmark: Benchmark, size: str) -> Work:
    arguments = benchmark.arguments(size)
    single = any(isinstance(value, np.ndarray) and value.dtype in (np.float32, np.complex64) for value in arguments)
    told = float(benchmark.operations(*arguments)) if benchmark.operations is not None else None
    held = sum(value.nbytes for value in arguments if isinstance(value, np.ndarray))
    found = Work(told, float(held), single)
    for function in filter(None, (benchmark.plain, benchmark.loops)):
        try:
            counter = Counter(function, arguments)
        except Exception as problem:  # weft has no program of this form
            print(f"{benchmark.name}: {problem}", file=sys.stderr)
            continue
        found = Work(counter.operations() if told is None else told, counter.bytes(), single)
        if found.operations is not None:
            break
    return found


class Counter:
    def __init__(self, function: Callable[..., Any], arguments: Arguments) -> None:
        from weft import pipeline
        from weft.frontend import specs
        from weft.frontend.source import load as load_source
        from weft.options import Options

        compiled = pipeline.front(
            load_source(function), specs.specs_of(tuple(arguments)), arguments, Options(fallback="error")
        )
        self.program = compiled.program_optimised
        self.given = {name: value for name, value in zip(compiled.built.names, arguments) if name is not None}
        self.symbols: Environment = {}
        for symbol in self.program.symbols:
            self.symbols[symbol.name] = self._symbol(symbol.source)
        self.bounding = self._bounding()

    def _symbol(self, source: Any) -> float:
        from weft.ir.program import Argument, SizeOf

        if isinstance(source, SizeOf):
            return float(self.given[source.buffer].shape[source.axis])
        return (
            float(self.given[source.name]) if isinstance(source, Argument) else self.value(source.value, self.symbols)
        )

    # --- numbers ----------------------------------------------------------------------------------------------------

    def value(self, expr: Any, env: Mapping[str, float]) -> float:
        """An integer expression at a point, which need not be a whole one."""
        from weft.ir.expr import Cast, Const, Op, Read, Var

        if isinstance(expr, Const):
            return float(expr.value.real)
        if isinstance(expr, Var):
            return env[expr.name]
        if isinstance(expr, Cast):
            return self.value(expr.value, env)
        if isinstance(expr, Read):
            return self._element(expr, env)
        if isinstance(expr, Op) and expr.op in _ARITHMETIC:
            return float(_ARITHMETIC[expr.op](*(self.value(argument, env) for argument in expr.args)))
        raise Unknown(type(expr).__name__)

    def _element(self, read: Any, env: Mapping[str, float]) -> float:
        """An element of an argument: the ends of a sparse row."""
        held = self.given.get(read.buffer)
        if held is None:
            raise Unknown(f"{read.buffer} is computed")
        place = tuple(math.floor(self.value(index, env)) for index in read.index)
        try:
            return float(held[place]) if place else float(held)
        except IndexError:
            raise Unknown("a sample outside") from None

    def samples(self, dim: Any, env: Mapping[str, float]) -> list[tuple[float, float]]:
        """Values of a dimension's variable, and how many of its values each stands for."""
        from weft.ir.expr import Dim

        if not isinstance(dim, Dim):
            raise Unknown("a compressed dimension")
        low, high = self.value(dim.lo, env), self.value(dim.hi, env)
        extent = max(0.0, (high - low) / dim.step)
        if extent <= 0.0:
            return []
        middle = (low + high - dim.step) / 2
        if dim.var not in self.bounding:
            return [(middle, extent)]
        if extent <= _EXACT:
            return [(low + dim.step * k, 1.0) for k in range(math.ceil(extent))]
        return [(middle + abs(dim.step) * extent / 2 * node, extent * weight) for node, weight in _NODES]

    def over(self, dims: Sequence[Any], env: Mapping[str, float], inner: Callable[[Environment], float]) -> float:
        """The sum of `inner` over the points of a domain."""
        if not dims:
            return inner(dict(env))
        total = 0.0
        for value, weight in self.samples(dims[0], env):
            total += weight * self.over(dims[1:], {**env, dims[0].var: value}, inner)
        return total

    def _bounding(self) -> set[str]:
        """The variables that something further in depends on for its extent."""
        from weft.ir.walk import dim_children, free_vars

        return {name for dim in self._dims() for bound in dim_children(dim) for name in free_vars(bound)}

    def _dims(self) -> Iterator[Any]:
        from weft.ir.expr import Reduce
        from weft.ir.program import Loop
        from weft.ir.walk import node_domain, node_exprs, subexpressions, walk

        for node in walk(self.program.body):
            yield from node_domain(node)
            if isinstance(node, Loop):
                yield node.dim
            for expr in node_exprs(node):
                for part in subexpressions(expr):
                    if isinstance(part, Reduce):
                        yield from part.dims

    # --- operations -------------------------------------------------------------------------------------------------

    def operations(self) -> float | None:
        try:
            return self._block(self.program.body, self.symbols)
        except Unknown as why:
            print(f"{self.program.name}: operations unknown: {why}", file=sys.stderr)
            return None

    def _block(self, block: Any, env: Mapping[str, float]) -> float:
        return sum(self._node(node, env) for node in block)

    def _node(self, node: Any, env: Mapping[str, float]) -> float:
        from weft.ir.program import Alloc, Check, If, Loop, Rebind, Return, Stmt

        if isinstance(node, Stmt):
            extra = 1.0 if node.reduce else 0.0
            return self.over(node.domain, env, lambda inside: extra + self._cost(node.value, inside))
        if isinstance(node, Loop):
            return self.over((node.dim,), env, lambda inside: self._block(node.body, inside))
        if isinstance(node, If):
            return max(self._block(node.then, env), self._block(node.orelse, env))
        if isinstance(node, (Alloc, Check, Rebind, Return)):
            return 0.0
        raise Unknown(f"a {type(node).__name__}")

    def _cost(self, expr: Any, env: Mapping[str, float]) -> float:
        from weft.ir.expr import Op, Read, Reduce
        from weft.ir.walk import children

        if isinstance(expr, Read):
            return 0.0
        if isinstance(expr, Reduce):
            width = 2.0 if expr.type.dtype.is_complex else 1.0
            return self.over(expr.dims, env, lambda inside: width + self._cost(expr.value, inside))
        own = 0.0
        if isinstance(expr, Op) and expr.op not in _COUNTED_AS_NOTHING:
            own = float(_COMPLEX_COST.get(expr.op, _COMPLEX)) if expr.type.dtype.is_complex else 1.0
        return own + sum(self._cost(child, env) for child in children(expr))

    # --- bytes ------------------------------------------------------------------------------------------------------

    def bytes(self) -> float:
        """Each element of an argument or result that is read counts once, and so does each that is written."""
        from weft.ir.program import Role

        most: dict[tuple[str, bool], float] = {}
        for buffer, written, index, dims in self._accesses():
            size = self._size(buffer)
            if size and self.program.buffer(buffer).role is not Role.LOCAL:
                touched = size if index is None else min(size, self._touched(index, dims))
                most[buffer, written] = max(most.get((buffer, written), 0.0), touched)
        return sum(count * self.program.buffer(name).type.dtype.size for (name, _), count in most.items())

    def _size(self, name: str) -> float:
        shape = self.program.buffer(name).shape
        try:
            return math.prod(self.value(extent, self.symbols) for extent in shape) if shape else 0.0
        except Unknown:
            return 0.0

    def _touched(self, index: Sequence[Any], dims: Sequence[Any]) -> float:
        """The number of elements that an access reaches: the points of the dimensions that its index depends on."""
        from weft.ir.walk import dim_children, free_vars

        wanted = set().union(*(free_vars(one) for one in index))
        for dim in reversed(dims):
            if dim.var in wanted:
                wanted |= set().union(*(free_vars(bound) for bound in dim_children(dim)))
        try:
            return self.over([dim for dim in dims if dim.var in wanted], self.symbols, lambda inside: 1.0)
        except Unknown:
            return math.inf

    def _accesses(self) -> Iterator[tuple[str, bool, Sequence[Any] | None, tuple[Any, ...]]]:
        """Buffer, whether it is written, index (None: the whole of it) and the dimensions around."""
        yield from self._in_block(self.program.body, ())

    def _in_block(self, block: Any, around: tuple[Any, ...]) -> Iterator[Any]:
        from weft.ir.program import Loop, Stmt
        from weft.ir.walk import buffers_read, buffers_written, node_exprs, sub_blocks

        for node in block:
            if isinstance(node, Stmt):
                dims = (*around, *node.domain)
                yield node.buffer, True, node.index, dims
                if node.reduce:
                    yield node.buffer, False, node.index, dims
                for expr in (*node.index, node.value):
                    yield from self._in_expr(expr, dims)
                continue
            inner = (*around, node.dim) if isinstance(node, Loop) else around
            blocks = sub_blocks(node)
            for one in blocks:
                yield from self._in_block(one, inner)
            if blocks:
                for expr in node_exprs(node):
                    yield from self._in_expr(expr, around)
            else:
                yield from ((name, False, None, around) for name in buffers_read(node))
                yield from ((name, True, None, around) for name in buffers_written(node))

    def _in_expr(self, expr: Any, dims: tuple[Any, ...]) -> Iterator[Any]:
        from weft.ir.expr import Read, Reduce
        from weft.ir.walk import children

        if isinstance(expr, Read):
            yield expr.buffer, False, expr.index, dims
        inner = (*dims, *expr.dims) if isinstance(expr, Reduce) else dims
        for child in children(expr):
            yield from self._in_expr(child, inner)


_ARITHMETIC: dict[str, Callable[..., float]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b if b else 0.0,
    "mod": lambda a, b: a % b if b else 0.0,
    "neg": lambda a: -a,
    "abs": abs,
    "minimum": min,
    "maximum": max,
}


def main() -> int:
    kernel, size = sys.argv[1:3]
    print(json.dumps(asdict(measure(load(kernel, hand=False), size))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
