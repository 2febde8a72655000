"""Random stretches of statements for the scheduler: shifted, transposed, triangular, reducing, in place, in loops."""

from __future__ import annotations

import random

from tests.passes.lowering import program
from weft.ir.program import Program

SIZE = 6
MATRICES, VECTORS = ("a", "b", "t", "u"), ("x", "v")


class Writer:
    """Writes one program; every index stays within 0 .. SIZE whatever the choices."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"i{self.count}"

    def index(self, names: list[str]) -> str:
        """An index within bounds for variables that run within 2 .. 4."""
        pick = self.random.choice
        if names and self.random.random() < 0.85:
            return f"{pick(names)} {pick(['+ 0', '+ 1', '- 1', '+ 2', '- 2', '+ 0', '+ 0'])}"
        return str(self.random.randrange(SIZE))

    def read(self, names: list[str]) -> str:
        if self.random.random() < 0.65:
            return f"{self.random.choice(MATRICES)}[{self.index(names)}, {self.index(names)}]"
        if self.random.random() < 0.8:
            return f"{self.random.choice(VECTORS)}[{self.index(names)}]"
        return "s"

    def dim(self, names: list[str]) -> tuple[str, str]:
        own = self.name()
        bounds = self.random.choice([("2", "4"), ("2", "4"), ("2", "4"), ("2", "3"), ("3", "4"), ("3", "3")])
        if names and self.random.random() < 0.2:
            outer = self.random.choice(names)
            bounds = self.random.choice([(outer, "4"), ("2", f"{outer} + 1")])
        return own, f"{own}: {bounds[0]} <= {own} < {bounds[1]}"

    def value(self, names: list[str], depth: int) -> str:
        roll = self.random.random()
        if depth == 0 or roll < 0.25:
            return self.read(names)
        if roll < 0.4 and depth > 1:
            own, dim = self.dim(names)
            reduction = self.random.choice(["sum", "sum", "max", "min"])
            return f"({reduction}[{dim}] {self.value([*names, own], depth - 1)})"
        if roll < 0.5:
            left, right = self.value(names, depth - 1), self.value(names, depth - 1)
            return f"select({self.read(names)} > 1.0_f64, {left}, {right})"
        left, right = self.value(names, depth - 1), self.value(names, depth - 1)
        operator = self.random.choice(["+", "-", "*", "+"])
        return f"({left} {operator} 0.5_f64 * ({right}))"

    def statement(self) -> str:
        rank = self.random.choice([0, 1, 1, 2, 2, 2])
        names: list[str] = []
        dims: list[str] = []
        for _ in range(rank):
            own, dim = self.dim(names)
            names.append(own)
            dims.append(dim)
        offsets = [self.random.choice(["+ 0", "+ 0", "+ 0", "+ 1", "- 1"]) for _ in names]
        places = [f"{name} {offset}" for name, offset in zip(names, offsets)]
        self.random.shuffle(places)
        if rank == 2:
            target = f"{self.random.choice(MATRICES)}[{', '.join(places)}]"
        elif rank == 1:
            fixed = str(self.random.randrange(SIZE))
            pair = [places[0], fixed] if self.random.random() < 0.5 else [fixed, places[0]]
            matrix = f"{self.random.choice(MATRICES)}[{', '.join(pair)}]"
            target = self.random.choice([f"{self.random.choice(VECTORS)}[{places[0]}]", matrix])
        else:
            target = self.random.choice(["s", "x[3]", "a[1, 2]"])
        over = f"   for {', '.join(dims)}" if dims else ""
        return f"{target} = {self.value(names, 3)}{over}"

    def body(self) -> str:
        lines = ["alloc t", "alloc u", "alloc v", "s = 0.25_f64"]
        for name in ("t", "u"):
            i, j = self.name(), self.name()
            lines.append(f"{name}[{i}, {j}] = a[{i}, {j}]   for {i}: 0 <= {i} < {SIZE}, {j}: 0 <= {j} < {SIZE}")
        k = self.name()
        lines.append(f"v[{k}] = x[{k}]   for {k}: 0 <= {k} < {SIZE}")
        lines += [self.statement() for _ in range(self.random.randint(1, 6))]
        if self.random.random() < 0.3:
            loop = self.name()
            lines.append(f"for {loop} in 2 .. 4:")
            lines += ["  " + self.statement() for _ in range(self.random.randint(1, 3))]
        return "\n".join(lines)


def random_program(seed: int) -> Program:
    buffers = "local t: f64[6, 6]\nlocal u: f64[6, 6]\nlocal v: f64[6]\nlocal s: f64"
    return program({"a": ("f64", 2), "b": ("f64", 2), "x": ("f64", 1)}, Writer(seed).body(), buffers, "scalar s")
