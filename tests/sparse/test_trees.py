"""Random trees of operators over sparse and dense operands against SciPy. The number of trees is fixed and the choice
reproducible; WEFT_FUZZ=n tries n new ones."""

from __future__ import annotations

import os
import random
from typing import Any

import numpy as np
import pytest

from tests.sparse.sparse_support import agree, compiled_source, operator, random_sparse

MORE = int(os.environ.get("WEFT_FUZZ", "0"))
SEEDS = range(1000, 1000 + MORE) if MORE else range(12)
#: Sizes by name; an operand is named after its shape.
SIZES = {"n": 23, "m": 17, "k": 5}
RNG = np.random.default_rng(12)


class Tree:
    """A random expression of a kind (sparse or dense, with a shape) and the operands it uses."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names: dict[str, Any] = {}
        self.form = self.random.choice(["csr_array", "csr_array", "csc_array"])

    def leaf(self, kind: str, rows: str, columns: str) -> str:
        name = f"{kind}_{rows}{columns}{self.random.randrange(2)}"
        if name not in self.names:
            shape = tuple(SIZES[axis] for axis in (rows, columns) if axis)
            seed = self.random.randrange(1000)
            if kind == "S":
                self.names[name] = random_sparse(self.form, shape, seed=seed)  # type: ignore[arg-type]
            else:
                self.names[name] = np.random.default_rng(seed).random(shape) + 0.25
        return name

    def sparse(self, rows: str, columns: str, depth: int) -> str:
        """The text of a sparse matrix."""
        pick = self.random.randrange(8) if depth else 0
        again = depth - 1
        if pick <= 1:
            return self.leaf("S", rows, columns)
        if pick == 2:
            return f"(2.5 * {self.sparse(rows, columns, again)})"
        if pick == 3:
            return f"({self.sparse(rows, columns, again)} + {self.sparse(rows, columns, again)})"
        if pick == 4:
            other = self.random.choice([f"{self.vector(rows, again)}[:, None]", self.dense(rows, columns, again)])
            return f"{self.sparse(rows, columns, again)}.multiply({other}).{self.compressed()}"
        if pick == 5:
            return f"(-{self.sparse(rows, columns, again)})"
        if pick == 6:
            return f"abs({self.sparse(rows, columns, again)})"
        middle = self.random.choice("nm")
        return f"({self.sparse(rows, middle, again)} @ {self.sparse(middle, columns, again)})"

    def compressed(self) -> str:
        return "tocsc()" if self.form == "csc_array" else "tocsr()"

    def dense(self, rows: str, columns: str, depth: int) -> str:
        pick = self.random.randrange(6) if depth else 0
        again = depth - 1
        if pick <= 1:
            return self.leaf("D", rows, columns)
        if pick == 2:
            return f"np.maximum({self.dense(rows, columns, again)} - 0.5, 0.1)"
        if pick == 3:
            middle = self.random.choice("nm")
            return f"({self.sparse(rows, middle, again)} @ {self.dense(middle, columns, again)})"
        if pick == 4:
            middle = self.random.choice("nk")
            return f"({self.dense(rows, middle, again)} @ {self.dense(middle, columns, again)})"
        return f"({self.dense(rows, columns, again)} * {self.vector(rows, again)}[:, None])"

    def vector(self, size: str, depth: int) -> str:
        pick = self.random.randrange(5) if depth else 0
        again = depth - 1
        if pick <= 1:
            return self.leaf("v", size, "")
        if pick == 2:
            return f"({self.sparse(size, 'm', again)} @ {self.vector('m', again)})"
        if pick == 3:
            return f"({self.sparse('n', size, again)}.T @ {self.vector('n', again)})"
        return f"({self.vector(size, again)} / (1 + abs({self.sparse(size, 'm', again)}).sum(axis=1)))"

    def text(self) -> str:
        kind = self.random.randrange(3)
        if kind == 0:
            return f"({self.sparse('n', 'm', 3)}).copy()"
        return self.dense("n", "k", 3) if kind == 1 else self.vector("n", 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_trees(seed: int) -> None:
    tree = Tree(seed)
    text = tree.text()
    plain, compiled = compiled_source(operator(", ".join(tree.names) or "v", text))
    agree(plain, compiled, *(tree.names.values() or (1.0,)), tolerance=1e-9)
