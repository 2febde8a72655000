"""Variants for Ray.  In: a version; out: the statements of its plan as tasks over tiles, in readable Python.

    v = _tiles(_heat_1_stage_2, n - 2, (0, n - 2), _LO, _HI, m, _part(u, 0, 0, 2), v=_own(v, 0))

Arrays are cut along one axis into blocks that Ray holds; a task gets the slices that its tile needs and gives blocks.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from weft.cluster import driver
from weft.cluster.plan import make
from weft.cluster.steps import Again, Choice, Fresh, Leave, Plan, Refused, Repeat, Stage, Step, Swap, Whole, inner_steps
from weft.cluster.tiles import Parameter, TileProgram, tile_program, whole_program
from weft.codegen import python_syntax as py
from weft.compiled import Compiled
from weft.emit.forms import Form, Text, fitting, joined, program_text
from weft.emit.host_text import HELPERS, HostText
from weft.emit.ray_runtime import RUNTIME
from weft.ir.expr import Expr
from weft.ir.program import Role
from weft.ir.walk import buffers_written, walk

#: How the messages of guards end that hold for every tile.
_HOLDING = ("a size", "another extent", "share memory")
_IMPORTS = "import functools\nimport os\nimport sys\n"
#: Names of the module that variants use.
_OWN = ("_LO", "_HI", "_part", "_start", "_own", "_all", "_share", "_tiles", "_once", "_known", "_Spread", "done")


def _written(name: str, compiled: Compiled) -> Text:
    program = replace(compiled.program_optimised, name=name)
    try:
        plan = make(program, {}, control=True)
        driver.check(plan)
    except Refused as problem:
        raise ValueError(str(problem)) from None
    variant = _Variant(name, plan)
    main = variant.text()
    return joined([fitting(f"{name}_fits", program), *variant.tasks, Text(main)])


class _Variant:
    """The text of one plan."""

    def __init__(self, name: str, plan: Plan) -> None:
        self.name, self.plan = name, plan
        self.tasks: list[Text] = []
        program = plan.program
        names = py.Names()
        for each in (*_OWN, name):
            names.fresh(each)
        scalars = {buffer.name for buffer in program.buffers if not buffer.rank and buffer.role is not Role.PARAM}
        self.host = HostText(program, names, scalars, "_known")
        self.params = [names.of(param) for param in program.params]
        self.lines: list[str] = []
        changed = {name for node in walk(program.body) for name in buffers_written(node)}
        self.written = sorted(name for name in changed if name in program.params and program.table[name].rank)

    def add(self, depth: int, *lines: str) -> None:
        self.lines += [f"{'    ' * depth}{line}" if line else "" for line in lines]

    def text(self) -> str:
        program, host = self.plan.program, self.host
        self.add(0, f"def {self.name}({', '.join(self.params)}):")
        self.add(1, f"{self.name}_fits({', '.join(self.params)})", *host.sizes(), "done = []")
        for param in program.params:
            if param in program.table and program.table[param].rank:
                self.add(1, f"{self.array(param)} = _Spread.of({host.of(param)})")
        # Shares of tiles, and arrays whose elements all come from one step, have no step that begins them.
        begun = {step.buffer for step in self._all_steps(self.plan.steps) if isinstance(step, Fresh)}
        for step in self._all_steps(self.plan.steps):
            for name in self._made(step) - begun:
                self.add(1, f"{self.array(name)} = _Spread({host.shape(name)}, {host.dtype(name)})")
                begun.add(name)
        self.steps(self.plan.steps, 1)
        self.leave(self.plan.result, 1)
        return "\n".join(self.lines)

    def _all_steps(self, steps: tuple[Step, ...]) -> list[Step]:
        found: list[Step] = []
        for step in steps:
            found.append(step)
            for inner in inner_steps(step):
                found += self._all_steps(inner)
        return found

    def _made(self, step: Step) -> set[str]:
        """Arrays, no arguments, that a step writes."""
        if not isinstance(step, (Stage, Whole)):
            return set()
        table = self.plan.program.table
        named = {parameter.name for parameter in self._tile(step).parameters if parameter.kind in ("output", "share")}
        return {name for name in named if table[name].rank and table[name].role is not Role.PARAM}

    def _tile(self, step: Stage | Whole) -> TileProgram:
        return tile_program(self.plan, step) if isinstance(step, Stage) else whole_program(self.plan, step)

    def array(self, buffer: str) -> str:
        """The variable of a spread array: an argument's own name stays the caller's array."""
        name = self.host.of(buffer)
        return f"{name}_there" if self.plan.program.table[buffer].role is Role.PARAM else name

    def steps(self, steps: tuple[Step, ...], depth: int) -> None:
        for step in steps:
            self.step(step, depth)
        if not steps:
            self.add(depth, "pass")

    def step(self, step: Step, depth: int) -> None:
        host = self.host
        if isinstance(step, Stage):
            self.stage(step, depth)
        elif isinstance(step, Whole):
            self.whole(step, depth)
        elif isinstance(step, Fresh):
            zero = ", zero=True" if step.zero else ""
            made = f"_Spread({host.shape(step.buffer)}, {host.dtype(step.buffer)}{zero})"
            self.add(depth, f"{self.array(step.buffer)} = {made}")
        elif isinstance(step, Swap):
            targets, sources = (", ".join(map(self.array, names)) for names in (step.targets, step.sources))
            self.add(depth, f"{targets} = {sources}")
        elif isinstance(step, Repeat):
            lo, hi = host.value(step.dim.lo), host.value(step.dim.hi)
            by = "" if step.dim.step == 1 else f", {step.dim.step}"
            self.add(depth, f"for {host.of(step.dim.var)} in range({lo}, {hi}{by}):")
            self.steps(step.steps, depth + 1)
        elif isinstance(step, Choice):
            self.add(depth, f"if {host.value(step.condition)}:")
            self.steps(step.then, depth + 1)
            if step.orelse:
                self.add(depth, "else:")
                self.steps(step.orelse, depth + 1)
        elif isinstance(step, Again):
            self.add(depth, "while True:")
            if step.prelude:
                self.steps(step.prelude, depth + 1)
            self.add(depth + 1, f"if not ({host.value(step.condition)}):", "    break")
            self.steps(step.body, depth + 1)
        else:
            assert isinstance(step, Leave)
            if step.kind == "return":
                self.leave(step.result, depth)
            else:
                self.add(depth, step.kind)

    # --- tasks --------------------------------------------------------------------------------------------------------

    def task(self, step: Stage | Whole) -> tuple[str, TileProgram]:
        """The function of a step's tasks, and what its parameters stand for."""
        tile = self._tile(step)
        name = f"{self.name}_{'tile' if isinstance(step, Stage) else 'step'}_{len(self.tasks) + 1}"
        self.tasks.append(_bare(program_text(replace(tile.program, name=name))))
        return name, tile

    def note(self, step: Stage | Whole, depth: int) -> None:
        lines = sorted({node.span.line for node in step.nodes if node.span.line > 0})
        if lines:
            self.add(depth, f"# line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}")

    def stage(self, stage: Stage, depth: int) -> None:
        name, tile = self.task(stage)
        ops = {partial.buffer: partial.op for partial in stage.partials}
        targets = [self.array(p.name) for p in tile.parameters if p.kind in ("output", "share")]
        targets += [self.host.of(each) for each in tile.returned]
        given = [self.argument(p, tile, ops) for p in tile.parameters]
        shares = repr(tuple(ops[each] for each in tile.returned))
        lo, hi = (self._ends([getattr(part, end) for part in stage.parts], how)
                  for end, how in (("lo", "min"), ("hi", "max")))
        self.note(stage, depth)
        head = f"{', '.join(targets)} = " if targets else ""
        first = f"{self.host.value(stage.extent)}, ({lo}, {hi}), {shares}, done"
        self.add(depth, f"{head}_tiles(", f"    {name}, {first},", f"    {', '.join(given)},", ")")

    def _ends(self, values: list[Expr], how: str) -> str:
        texts = list(dict.fromkeys(map(self.host.value, values)))
        return texts[0] if len(texts) == 1 else f"{how}({', '.join(texts)})"

    def whole(self, step: Whole, depth: int) -> None:
        name, tile = self.task(step)
        targets = [self.array(p.name) for p in tile.parameters if p.kind == "output"]
        targets += [self.host.of(each) for each in tile.returned]
        given = [self.argument(p, tile, {}) for p in tile.parameters]
        self.note(step, depth)
        head = f"{', '.join(targets)} = " if targets else ""
        self.add(depth, f"{head}_once({', '.join((name, str(len(tile.returned)), 'done', *given))})")

    def argument(self, parameter: Parameter, tile: TileProgram, ops: dict[str, str]) -> str:
        kind, name, piece = parameter.kind, parameter.name, parameter.piece
        if kind in ("lo", "hi"):
            return f"_{kind.upper()}"
        if kind in ("number", "scalar"):
            return self.host.of(name)
        if kind == "start":
            place = next(at for at, p in enumerate(tile.parameters) if p.kind == "input" and p.name == name)
            return f"_start({place})"
        if kind == "share":
            return f"_share({self.array(name)}, {ops[name]!r})"
        if piece is None or piece.axis is None:
            return f"_all({self.array(name)}{', changed=True' if kind == 'output' else ''})"
        if kind == "output":
            return f"_own({self.array(name)}, {piece.axis})"
        assert kind == "input"
        clipped = ", clipped=True" if piece.clipped else ""
        return f"_part({self.array(name)}, {piece.axis}, {piece.below}, {piece.above}{clipped})"

    def leave(self, number: int, depth: int) -> None:
        """The end of a call: what was written goes into the caller's arrays, once all tasks have ended well."""
        host, program = self.host, self.plan.program
        self.add(depth, "_settled(done)")

        def array(name: str) -> str:
            return host.of(name) if program.table[name].role is Role.PARAM else f"{host.of(name)}.here()"

        result = host.result(program.results[number], array, lambda name: f"_known({host.of(name)})")
        if self.written:
            self.add(depth, f"result = {result}")
            fetched = ", ".join(f"{self.array(name)}.here()" for name in self.written)
            targets = ", ".join(f"{host.of(name)}[...]" for name in self.written)
            self.add(depth, f"{targets} = {fetched}", "return result")
        else:
            self.add(depth, f"return {result}")


def _bare(made: Text) -> Text:
    """A task without what holds for every tile: bounds are sizes, slices have the extents that were cut. Its caller
    silences floating-point warnings: a decorated function would not travel."""
    tree = ast.parse(made.text)
    dropped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for mark in node.decorator_list:
                dropped.update(range(mark.lineno, (mark.end_lineno or mark.lineno) + 1))
        told = re.search(r"raise GuardFailed\('.*?(\w+ \w+)'\)$", ast.unparse(node))
        if isinstance(node, ast.If) and told is not None and told[1] in _HOLDING:
            dropped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    kept = [line for number, line in enumerate(made.text.splitlines(), 1) if number not in dropped]
    return replace(made, text="\n".join(kept))


FORM = Form("Ray where a call is large", _IMPORTS, HELPERS + RUNTIME, _written, 4_000_000)
