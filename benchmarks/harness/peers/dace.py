"""DaCe: the same source, `@dace.program` on the kernel and on the functions it calls; types and shapes come from the
arguments, and automatic optimisation is on. Where that fails, integers and sizes are written into the source as
numbers, as its users write symbols, and at last it goes without optimisation. It runs in an environment of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.harness.job import BY_RULE, SAME, Job, Nothing, Prepared
from benchmarks.harness.peers import LOOPS, SIZED, UNOPTIMISED
from benchmarks.harness.sources import Gathered, gather, load_text
from benchmarks.kernels.registry import Arguments, Benchmark


def prepare(job: Job, benchmark: Benchmark, sample: Arguments) -> Prepared:
    import dace

    function = benchmark.loops if job.form.startswith(LOOPS) else benchmark.plain
    if function is None:
        raise Nothing("the kernel has no loop form")
    dace.Config.set("default_build_folder", value=str(job.path / "dacecache"))
    gathered = gather(function)
    sized = job.form.endswith((SIZED, UNOPTIMISED))
    if sized:
        gathered = with_sizes(gathered, sample)
    optimise = not job.form.endswith(UNOPTIMISED)
    text = gathered.text(f"@dace.program(auto_optimize={optimise})", "import dace", "@dace.program")
    program: Any = getattr(load_text(text, job.path, "dace_kernel"), gathered.name)
    dynamic = [position for position, value in enumerate(sample) if not (sized and isinstance(value, int))]

    def call(arguments: Arguments) -> Any:
        return program(*(arguments[position] for position in dynamic))

    return Prepared(call, BY_RULE if sized else SAME)


def with_sizes(gathered: Gathered, sample: Arguments) -> Gathered:
    """`n, m = a.shape` and integer parameters of the kernel as the numbers they are for this sample."""
    *helpers, (name, text) = gathered.functions
    tree = ast.parse(text).body[0]
    assert isinstance(tree, ast.FunctionDef)
    parameters = [argument.arg for argument in tree.args.args]
    stored = [node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    values = dict(zip(parameters, sample))
    known = {name: value for name, value in values.items() if isinstance(value, int) and name not in stored}
    tree.args.args = [argument for argument in tree.args.args if argument.arg not in known]
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray) and name not in stored}
    kept: list[ast.stmt] = []
    for statement in tree.body:
        sizes = _sizes(statement, arrays)
        if sizes and all(stored.count(name) == 1 for name in sizes):
            known.update(sizes)
        else:
            kept.append(statement)
    tree.body = kept
    written = ast.unparse(ast.fix_missing_locations(_Numbers(known).visit(tree)))
    return Gathered(gathered.name, gathered.imports, (*helpers, (name, written)))


def _sizes(statement: ast.stmt, arrays: Mapping[str, np.ndarray]) -> dict[str, int]:
    """The names that a statement binds to extents of arguments."""
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return {}
    target, value = statement.targets[0], ast.unparse(statement.value)
    for array, of in arrays.items():
        if isinstance(target, ast.Tuple) and value == f"{array}.shape":
            return {ast.unparse(name): extent for name, extent in zip(target.elts, of.shape)}
        if isinstance(target, ast.Name):
            spellings = {f"len({array})": 0, **{f"{array}.shape[{axis}]": axis for axis in range(of.ndim)}}
            if value in spellings:
                return {target.id: of.shape[spellings[value]]}
    return {}


class _Numbers(ast.NodeTransformer):
    def __init__(self, known: Mapping[str, int]) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = isinstance(node.ctx, ast.Load) and node.id in self.known
        return ast.Constant(self.known[node.id]) if known else node
