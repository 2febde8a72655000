"""NumPy source as JAX source, by rule. In come functions that write arrays in place; out comes a module of pure ones:

    a[i] = v                    -->  a = a.at[i].set(v)
    a[i] += v                   -->  a = a.at[i].add(v)
    helper(a, b)   (writes b)   -->  (b,) = helper(a, b)
    for i in range(n): body     -->  def body(i, carry): ...;  carry = lax.fori_loop(0, n, body, carry)   (rolled)
    return x                    -->  return x, (the arguments that are written)

What the rules do not cover raises `NoRule`; what JAX cannot trace it says itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from benchmarks.harness.sources import Gathered

_UPDATES: dict[type[ast.operator], str] = {ast.Add: "add", ast.Mult: "multiply", ast.Div: "divide", ast.Pow: "power"}


class NoRule(Exception):
    """A construct that has no pure form by rule."""


@dataclass(frozen=True)
class Signature:
    """The parameters of a function, and those whose elements it writes."""

    parameters: tuple[str, ...]
    written: tuple[str, ...]

    def written_by(self, call: ast.Call) -> tuple[str, ...]:
        """The caller's names for what a call writes."""
        names = []
        for parameter in self.written:
            argument = call.args[self.parameters.index(parameter)]
            if not isinstance(argument, ast.Name):
                raise NoRule(f"{ast.unparse(argument)} as an argument that is written")
            names.append(argument.id)
        return tuple(names)


def port(gathered: Gathered, rolled: bool) -> str:
    """The text of a module in which the kernel returns its value and the arguments that it has written."""
    known = signatures(gathered)
    lines = ["import jax", "from jax import lax", *map(_import, gathered.imports)]
    for name, text in gathered.functions:
        tree = _function(text)
        body = _Rewriter(known, rolled).block(tree.body, set(known[name].parameters))
        tree.body = _returning(body, known[name].written, name == gathered.name)
        lines.append("\n\n" + ast.unparse(ast.fix_missing_locations(tree)))
    return "\n".join(lines) + "\n"


def signatures(gathered: Gathered) -> dict[str, Signature]:
    """What each function writes, itself or through the functions it calls."""
    found: dict[str, Signature] = {}
    for name, text in gathered.functions:
        tree = _function(text)
        touched: set[str] = set()
        rebound: set[str] = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
                touched.add(_base(node))
            elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                touched.add(node.target.id)
            elif isinstance(node, ast.Assign):
                rebound.update(target.id for target in node.targets if isinstance(target, ast.Name))
            elif (call := _call_of(node, found)) is not None:
                touched.update(found[_callee(call)].written_by(call))
        parameters = tuple(argument.arg for argument in tree.args.args)
        found[name] = Signature(parameters, tuple(p for p in parameters if p in touched and p not in rebound))
    return found


def _function(text: str) -> ast.FunctionDef:
    tree = ast.parse(text).body[0]
    assert isinstance(tree, ast.FunctionDef)
    return tree


def _import(line: str) -> str:
    return line.replace("import numpy as", "import jax.numpy as").replace("import math", "import jax.numpy as math")


def _callee(call: ast.Call) -> str:
    assert isinstance(call.func, ast.Name)
    return call.func.id


def _call_of(node: ast.AST, known: Mapping[str, Signature]) -> ast.Call | None:
    """The call that a statement consists of, if it is of one of our functions."""
    if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Call):
        return None
    call = node.value
    return call if isinstance(call.func, ast.Name) and call.func.id in known else None


def _base(target: ast.expr) -> str:
    """The name of the array that a store goes to."""
    while isinstance(target, ast.Subscript):
        target = target.value
    if not isinstance(target, ast.Name):
        raise NoRule(f"a store to {ast.unparse(target)}")
    return target.id


def _names(names: Iterable[str], context: ast.expr_context) -> ast.Tuple:
    return ast.Tuple([ast.Name(name, context) for name in names], context)


def _assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _returning(body: list[ast.stmt], written: tuple[str, ...], kernel: bool) -> list[ast.stmt]:
    """Every way out hands over what was written: with the value from the kernel, alone from a helper."""
    extra = _names(written, ast.Load())

    class Returns(ast.NodeTransformer):
        def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
            return node  # the body of a loop, with a return of its own

        def visit_Return(self, node: ast.Return) -> ast.Return:
            if kernel:
                return ast.Return(ast.Tuple([node.value or ast.Constant(None), extra], ast.Load()))
            if written and node.value is not None:
                raise NoRule("a function that both returns a value and writes its arguments")
            return ast.Return(extra) if written else node

    done = [Returns().visit(statement) for statement in body]
    if not isinstance(done[-1], ast.Return):
        if kernel:
            done.append(ast.Return(ast.Tuple([ast.Constant(None), extra], ast.Load())))
        elif written:
            done.append(ast.Return(extra))
    return done


class _Rewriter:
    def __init__(self, known: Mapping[str, Signature], rolled: bool) -> None:
        self.known = known
        self.rolled = rolled
        self.counter = 0

    def fresh(self, stem: str) -> str:
        self.counter += 1
        return f"_{stem}_{self.counter}"

    def block(self, statements: list[ast.stmt], defined: set[str]) -> list[ast.stmt]:
        """Statements with `defined` names before them; the set grows by what they define."""
        out: list[ast.stmt] = []
        for statement in statements:
            out.extend(self.statement(statement, defined))
        return out

    def statement(self, node: ast.stmt, defined: set[str]) -> list[ast.stmt]:
        if isinstance(node, ast.Assign):
            return self.assign(node, defined)
        if isinstance(node, ast.AugAssign):
            return [self.augmented(node)]
        if (call := _call_of(node, self.known)) is not None:
            written = self.known[_callee(call)].written_by(call)
            return [ast.Assign([_names(written, ast.Store())], call)] if written else [node]
        if isinstance(node, ast.For):
            return self.loop(node, defined)
        if isinstance(node, ast.If):
            before = set(defined)
            node.body = self.block(node.body, defined)
            other = set(before)
            node.orelse = self.block(node.orelse, other)
            defined |= other
            return [node]
        if isinstance(node, ast.While):
            if self.rolled:
                raise NoRule("a while loop")
            node.body = self.block(node.body, defined)
        return [node]

    def assign(self, node: ast.Assign, defined: set[str]) -> list[ast.stmt]:
        targets = [
            one for target in node.targets for one in (target.elts if isinstance(target, ast.Tuple) else [target])
        ]
        defined.update(target.id for target in targets if isinstance(target, ast.Name))
        if not any(isinstance(target, ast.Subscript) for target in targets):
            return [node]
        if len(targets) == 1:
            return [self.store(targets[0], "set", node.value)]
        if len(node.targets) == 1:
            names = [self.fresh("part") for _ in targets]
            out: list[ast.stmt] = [ast.Assign([_names(names, ast.Store())], node.value)]
        else:
            names = [self.fresh("value")] * len(targets)
            out = [_assign(names[0], node.value)]
        for target, name in zip(targets, names):
            value = ast.Name(name, ast.Load())
            plain = isinstance(target, ast.Name)
            out.append(ast.Assign([target], value) if plain else self.store(target, "set", value))
        return out

    def augmented(self, node: ast.AugAssign) -> ast.stmt:
        if not isinstance(node.target, ast.Subscript):
            return node
        if isinstance(node.op, ast.Sub):
            return self.store(node.target, "add", ast.UnaryOp(ast.USub(), node.value))
        update = _UPDATES.get(type(node.op))
        if update is not None:
            return self.store(node.target, update, node.value)
        old = ast.Subscript(node.target.value, node.target.slice, ast.Load())
        return self.store(node.target, "set", ast.BinOp(old, node.op, node.value))

    def store(self, target: ast.expr, update: str, value: ast.expr) -> ast.stmt:
        assert isinstance(target, ast.Subscript)
        name = _base(target)
        if not isinstance(target.value, ast.Name):
            raise NoRule("a store through an index of an index")
        place = ast.Subscript(ast.Attribute(ast.Name(name, ast.Load()), "at", ast.Load()), target.slice, ast.Load())
        return _assign(name, ast.Call(ast.Attribute(place, update, ast.Load()), [value], []))

    def loop(self, node: ast.For, defined: set[str]) -> list[ast.stmt]:
        if not self.rolled:
            inner = set(defined)
            node.body = self.block(node.body, inner)
            defined |= inner
            return [node]
        if any(isinstance(part, (ast.Break, ast.Continue, ast.Return)) for part in ast.walk(node)):
            raise NoRule("a loop that is left early")
        if not isinstance(node.target, ast.Name):
            raise NoRule("a loop over several names")
        counter, function, carry = self.fresh("k"), self.fresh("body"), self.fresh("carry")
        count, value = _bounds(node.iter, counter)
        inner = set(defined)
        body = self.block(node.body, inner)
        carried = sorted({name for part in body for name in _assigned(part)} & defined)
        take = ast.Assign([_names(carried, ast.Store())], ast.Name(carry, ast.Load()))
        give = ast.Return(_names(carried, ast.Load()))
        text = f"def {function}({counter}, {carry}): pass"
        made = ast.parse(text).body[0]
        assert isinstance(made, ast.FunctionDef)
        made.body = [take, _assign(node.target.id, value), *body, give]
        run = _expression(f"lax.fori_loop(0, {count}, {function}, {ast.unparse(_names(carried, ast.Load()))})")
        return [made, ast.Assign([_names(carried, ast.Store())], run)]


def _bounds(iterable: ast.expr, counter: str) -> tuple[str, ast.expr]:
    """The number of rounds of a loop, and its variable in terms of the counter."""
    if isinstance(iterable, ast.Name):
        return f"{iterable.id}.shape[0]", _expression(f"{iterable.id}[{counter}]")
    if not isinstance(iterable, ast.Call) or ast.unparse(iterable.func) != "range":
        raise NoRule(f"a loop over {ast.unparse(iterable)}")
    words = [ast.unparse(argument) for argument in iterable.args]
    start, stop, step = ("0", *words, "1") if len(words) == 1 else (*words, "1") if len(words) == 2 else words
    if step == "1":
        return f"({stop}) - ({start})", _expression(f"({start}) + {counter}")
    if step == "-1":
        return f"({start}) - ({stop})", _expression(f"({start}) - {counter}")
    raise NoRule(f"a loop with step {step}")


def _assigned(node: ast.AST) -> set[str]:
    """Names that a statement binds, bodies of inner loops aside: they hand over what they carry."""
    if isinstance(node, ast.FunctionDef):
        return set()
    own = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else set()
    return own.union(*map(_assigned, ast.iter_child_nodes(node)))
