"""Inference.  In: a Python function and samples of its arguments; out: a unit whose types are settled, or a `Refusal`.

All instances are walked again and again until a pass adds nothing. Nothing is emitted here; what has no native form
is found here.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Final

from weft import steps
from weft.errors import Span
from weft.plain import statements
from weft.plain.emit import mark_recursive
from weft.plain.frame import Frame
from weft.plain.layout import order_attributes
from weft.plain.told import Refusal, TypeRemark
from weft.plain.types import Node, describe, flow
from weft.plain.unit import FunctionInfo, Instance, Unit, function_info, ordered

_MAX_PASSES: Final = 60
#: What cannot leave a native call.
_INNER: Final = ("closure", "generator", "method", "partial", "view", "cell")
_KEPT_INSIDE: Final = "return what it computes, and make it outside the compiled function"


def infer(
    function: Any, samples: Sequence[Sequence[Any]], wide: frozenset[int] = frozenset(), hosted: bool = False
) -> tuple[Unit, Instance]:
    """The types of everything that a call may reach whose arguments have the types of these samples of each. `hosted`:
    by a host that is not Python."""
    code = function.__code__
    span = Span(code.co_filename, code.co_firstlineno, 0, code.co_firstlineno, 0)
    unit = Unit(span, wide, hosted)
    info = function_info(unit, function, span)
    if info.is_generator:
        raise Refusal(span, f"`{info.name}` is a generator", "call it inside a compiled function")
    observer = unit.observer
    nodes = [Node() for _ in info.parameters]
    for node, values in zip(nodes, samples):
        for held in values:
            observer.see(held, node)
    root = unit.instance(info, None, nodes)
    for name, node in zip(info.parameters, nodes):
        flow(unit.lattice, node, root.locals[name])
    settle(unit, root)
    order_attributes(unit)
    check_result(unit, root)
    return unit, root


def settle(unit: Unit, root: Instance) -> None:
    lattice = unit.lattice
    for _ in range(_MAX_PASSES):
        lattice.changed = False
        steps.enter("infer")
        reached = walk(unit, root)
        if not lattice.changed:
            lattice.frozen = True
            mark_recursive(reached)
            return
    raise Refusal(unit.span, "types that do not settle")


def walk(unit: Unit, root: Instance) -> list[Instance]:
    """One pass over all instances that calls reach, each once.

    A generator that was made when less was known of its arguments is in the types of variables, and is written: it is
    looked at in every pass, although no call makes it any more.
    """
    seen: set[Instance] = set()
    order: list[Instance] = []
    work = [root]
    while work:
        instance = work.pop()
        if instance in seen:
            continue
        seen.add(instance)
        order.append(instance)
        instance.calls = set()
        visit(unit, instance)
        work.extend(ordered(instance.calls - seen))
        if not work:
            made = {other for other in unit.instances.values() if other.info.is_generator}
            work.extend(ordered(made - seen)[:1])
    return order


def visit(unit: Unit, instance: Instance) -> None:
    cx = Frame(unit, instance, None)
    cx.assigned = set(instance.info.parameters)
    statements.block(cx, instance.info.tree.body)
    if cx.reachable and instance.info.returns_value:
        cx.flow(cx.none, instance.returned)
    if cx.reachable and not instance.info.is_generator:
        cx.flow(cx.none, instance.result)


def _returned(root: Instance) -> Span | None:
    """The last `return` of a function."""
    own = [node for node in ast.walk(root.info.tree) if isinstance(node, ast.Return) and node.value is not None]
    return max((root.info.span(node) for node in own), key=lambda span: span.line, default=None)


def check_result(unit: Unit, root: Instance) -> None:
    """Refuse results that have no form outside."""
    seen: set[int] = set()
    work = [root.result.root()]
    while work:
        node = work.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        for head in node:
            if head.kind in _INNER:
                raise Refusal(_returned(root) or unit.span, f"the return of a {head.kind}", _KEPT_INSIDE)
            work.extend(head.parts)
            if head.kind == "obj":
                if head.key[1].is_exception:
                    raise Refusal(unit.span, f"`{root.info.name}` returns an exception")
                work.extend(part.root() for part in head.key[1].attributes.values())


def printed(unit: Unit, root: Instance) -> str:
    """The types of all variables, function by function."""
    lines = []
    for instance in walk_order(root):
        info: FunctionInfo = instance.info
        parameters = ", ".join(f"{name}: {describe(instance.locals[name])}" for name in info.parameters)
        lines.append(f"{info.name}({parameters}) -> {describe(instance.result)}")
        for name in sorted(info.locals - set(info.parameters)):
            lines.append(f"    {name}: {describe(instance.locals[name])}")
    for cls, class_info in unit.classes.items():
        lines.append(f"class {cls.__name__}")
        for name, node in class_info.attributes.items():
            lines.append(f"    {name}: {describe(node)}")
    return "\n".join(lines)


def walk_order(root: Instance) -> list[Instance]:
    order, seen, work = [], set(), [root]
    while work:
        instance = work.pop()
        if instance in seen or instance.info.model:
            continue
        seen.add(instance)
        order.append(instance)
        work.extend(sorted(instance.calls - seen, key=lambda other: -other.number))
    return order


def native_lines(root: Instance) -> frozenset[int]:
    """The lines of the function's file that are native."""
    found: set[int] = set()
    for instance in walk_order(root):
        if instance.info.file == root.info.file:
            for statement in instance.info.tree.body:
                for node in ast.walk(statement):
                    if isinstance(node, ast.stmt):
                        found.add(node.lineno)
    return frozenset(found)


def remarks(root: Instance) -> tuple[TypeRemark, ...]:
    """What `explain` says of the variables of a function."""
    found = []
    names: set[str] = set()
    for statement in root.info.tree.body:
        for node in ast.walk(statement):
            if (
                isinstance(node, ast.Name)
                and isinstance(node.ctx, ast.Store)
                and node.id in root.locals
                and node.id not in names
            ):
                names.add(node.id)
                if not node.id.startswith("_t"):
                    text = f"`{node.id}` is {describe(root.locals[node.id])}"
                    found.append(TypeRemark(root.info.span(node), text))
    return tuple(found)
