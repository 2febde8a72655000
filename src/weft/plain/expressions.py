"""Expressions of Core.  In: a frame and an expression; out: its value, in Python's order of evaluation."""

from __future__ import annotations

import ast
import sys
import types as python_types
from collections.abc import Callable
from typing import Any, Final

from weft.frontend import reads
from weft.plain import attributes, calls, displays, narrowing, operators, reduced, subscripts
from weft.plain.frame import C_TYPES, SCALAR_NODES, ZEROS, Frame, Value
from weft.plain.told import Refusal
from weft.plain.types import BIG, Node, representation
from weft.plain.unit import Namespace, is_constant


def value(cx: Frame, e: ast.expr) -> Value:
    """The value of an expression."""
    rule = _RULES.get(type(e))
    if rule is None:
        with cx.at(e):
            raise cx.refuse(f"the expression `{ast.unparse(e)[:60]}`")
    with cx.at(e):
        return rule(cx, e)


# --- constants and names ----------------------------------------


def python_value(cx: Frame, held: Any) -> Value:
    """A Python object that is known while compiling, as a value."""
    if held is None:
        return cx.none
    if held is True or held is False:
        return cx.literal("bool", "1" if held else "0")
    kind = type(held)
    if kind is int:
        if not -(1 << 63) <= held < 1 << 63:
            return Value(cx.single(BIG), cx.writer.big(held) if cx.writer else "0")
        return cx.literal("int", f"({held}LL)" if held != -(1 << 63) else "(-9223372036854775807LL - 1)")
    if kind is float:
        return cx.literal("float", float_literal(held))
    if kind is str:
        return Value(SCALAR_NODES["str"], cx.writer.string(held) if cx.writer else "0", held)
    if kind is bytes:
        return cx.literal("bytes", cx.writer.string(held) if cx.writer else "0")
    if kind is tuple:
        made = operators.make_tuple(cx, [python_value(cx, item) for item in held], ("constant", id(held)))
        if made.head().value is None and all(type(item) is str for item in held):
            made.head().value = held  # its items are known
            cx.unit.kept.append(held)
        return made
    if is_constant(held):
        head = cx.unit.constant(held)
        return Value(cx.single(head), cx.writer.constant(head) if cx.writer else "0")
    if kind is complex:
        return cx.literal("complex", cx.writer.complex(held) if cx.writer else "0")
    if kind is Ellipsis.__class__:
        raise cx.refuse(f"the constant {held!r}")
    return hidden(cx, held)


def hidden(cx: Frame, held: Any) -> Value:
    """A container or object outside the function: it comes as an argument."""
    try:
        found = cx.unit.hide(held)
    except Refusal as problem:
        raise cx.refuse(problem.reason, problem.remedy) from None  # where it is used, not where the function begins
    name = cx.writer.hidden(held) if cx.writer else "0"
    return Value(found.node.root(), name)


def float_literal(held: float) -> str:
    if held != held:
        return '(-__builtin_nan(""))' if str(held).startswith("-") else '__builtin_nan("")'
    if held in (float("inf"), float("-inf")):
        return "__builtin_inf()" if held > 0 else "(-__builtin_inf())"
    return f"({held.hex()})"


def _constant(cx: Frame, e: ast.Constant) -> Value:
    return python_value(cx, e.value)


def _name(cx: Frame, e: ast.Name) -> Value:
    return read_name(cx, e.id)


def read_name(cx: Frame, name: str) -> Value:
    found = cx.instance.variable(name) if name not in cx.info.global_names else None
    if found is None:
        there = written_variable(cx, name)
        if there is not None:
            info, slot = there
            return attributes.read_slot(cx, hidden(cx, info.owner), info, slot, None, "WP_NAME_ERROR")
        return python_value(cx, outside(cx, name))
    node, owner = found
    if owner is not cx.instance or name in cx.info.captured:
        return _read_cell(cx, name, node, owner is cx.instance)
    if name not in cx.assigned:
        cx.instance.flagged.add(name)
        with cx.block(f"if (WP_UNLIKELY(!{variable(cx, 'set_' + name)}))"):
            cx.raises("WP_UNBOUND_LOCAL")
    whole = Value(node, variable(cx, "v_" + name))
    keys = cx.narrow.get(name)
    if keys is None or len(node) <= 1 or not any(key in keys for key in node.heads):
        return whole
    part = Node()
    for head in node:
        if head.key in keys:
            part.heads[head.key] = head
    return Value(part, cx.as_repr(whole, representation(part)))


def variable(cx: Frame, name: str) -> str:
    return f"f->{c_name(name)}" if cx.info.is_generator else c_name(name)


def c_name(name: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c == "_") else f"_u{ord(c)}_" for c in name)


def _read_cell(cx: Frame, name: str, node: Node, own: bool) -> Value:
    """A variable that several functions share. Its cell has a slot, and a word that says whether it has a value."""
    cell = cell_of(cx, name)
    if cx.emitting:
        with cx.block(f"if (WP_UNLIKELY(!((wp_record *){cell})->value[0]))"):
            cx.raises("WP_UNBOUND_LOCAL" if own else "WP_NAME_ERROR")
    return cx.load(node, f"&((wp_record *){cell})->value[1]")


def cell_of(cx: Frame, name: str) -> str:
    """The C expression of a variable's cell."""
    if not cx.emitting:
        return "0"
    if name in cx.info.locals:
        return variable(cx, "c_" + name)
    assert cx.writer is not None
    place = cx.writer.cells_of(cx.instance).index(name)
    environment = "f->env" if cx.info.is_generator else "env"
    return f"((void *)((wp_record *){environment})->value[{place}])"


def outside(cx: Frame, name: str) -> Any:
    """The object behind a free name: in a cell of the Python function, a global or a builtin."""
    info = cx.info
    cell = info.cells.get(name) if name not in info.global_names else None
    if isinstance(cell, python_types.CellType):
        found = reads.outside(cell, name)
    else:
        found = reads.free_name(info.namespace, name)
    if found is reads.ABSENT:
        raise cx.refuse(f"`{name}` has no value when the function is compiled", "define it before the first call")
    return found


def _module(cx: Frame, name: str) -> python_types.ModuleType:
    """The module whose names a function writes."""
    found = sys.modules.get(cx.info.namespace.get("__name__", ""))
    if found is None or vars(found) is not cx.info.namespace or type(found) is not python_types.ModuleType:
        raise cx.refuse(f"an assignment to the global variable `{name}`", "return the value instead")
    return found


CONTENTS: Final = "cell_contents"


def _cell(cx: Frame, name: str) -> python_types.CellType | None:
    """The cell of a closure that exists, if that is where a function finds a name."""
    cell = cx.info.cells.get(name) if name not in cx.info.global_names else None
    return cell if isinstance(cell, python_types.CellType) else None


def written_variable(cx: Frame, name: str) -> tuple[Namespace, str] | None:
    """The module or cell around a function that holds a name, and under which name, if somebody writes it."""
    if not cx.unit.namespaces:
        return None
    cell = _cell(cx, name)
    if cell is not None:
        found = cx.unit.variable_of(cell, CONTENTS)
        return None if found is None else (found, CONTENTS)
    module = sys.modules.get(cx.info.namespace.get("__name__", ""))
    found = cx.unit.variable_of(module, name) if getattr(module, "__dict__", None) is cx.info.namespace else None
    return None if found is None else (found, name)


def assign_name(cx: Frame, name: str, new: Value) -> None:
    """Give a variable another value."""
    found = cx.instance.variable(name) if name not in cx.info.global_names else None
    if found is None:
        cell = _cell(cx, name)
        slot = name if cell is None else CONTENTS
        info = cx.unit.written_name(_module(cx, name) if cell is None else cell, slot)
        attributes.set_slot(cx, hidden(cx, info.owner), info, slot, new)
        return
    node, owner = found
    cx.flow(new, node)
    if not cx.emitting:
        cx.assigned.add(name)
        return
    if owner is not cx.instance or name in cx.info.captured:
        shared = cell_of(cx, name)
        cx.store(new, node, f"&((wp_record *){shared})->value[1]")
        cx.write(f"((wp_record *){shared})->value[0] = 1;")
        return
    cx.write(f"{variable(cx, 'v_' + name)} = {cx.as_node(new, node)};")
    if name in cx.instance.flagged:
        cx.write(f"{variable(cx, 'set_' + name)} = 1;")
    cx.assigned.add(name)


def delete_name(cx: Frame, name: str) -> None:
    found = cx.instance.variable(name) if name not in cx.info.global_names else None
    if found is None:
        raise cx.refuse(f"`del {name}` of a global variable")
    read_name(cx, name)
    unset_name(cx, name)


def unset_name(cx: Frame, name: str) -> None:
    """A variable of the function has no value any more."""
    found = cx.instance.variable(name)
    if found is None:
        raise cx.refuse(f"`{name}`, a global variable that loses its value")
    if found[1] is not cx.instance or name in cx.info.captured:
        cx.write(f"((wp_record *){cell_of(cx, name)})->value[0] = 0;")
    else:
        cx.instance.flagged.add(name)
        cx.write(f"{variable(cx, 'set_' + name)} = 0;")
    cx.assigned.discard(name)


# --- operators ----------------------------------------


def _binary(cx: Frame, e: ast.BinOp) -> Value:
    found = reduced.binary(cx, e)
    if found is not None:
        return found
    left = value(cx, e.left)
    right = value(cx, e.right)
    return operators.binary(cx, type(e.op).__name__, left, right, exponent_of(e.right))


def exponent_of(e: ast.expr) -> int | None:
    """A constant integer, for powers: its sign decides the type."""
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.USub):
        inner = exponent_of(e.operand)
        return None if inner is None else -inner
    return e.value if isinstance(e, ast.Constant) and type(e.value) is int else None


def _unary(cx: Frame, e: ast.UnaryOp) -> Value:
    if isinstance(e.op, ast.Not):
        return cx.scalar("bool", f"!({operators.truth(cx, value(cx, e.operand))})")
    inner = exponent_of(e)
    if inner is not None and isinstance(e.op, ast.USub):
        return python_value(cx, inner)
    return operators.unary(cx, type(e.op).__name__, value(cx, e.operand))


def _compare(cx: Frame, e: ast.Compare) -> Value:
    left = value(cx, e.left)
    right = value(cx, e.comparators[0])
    return operators.compare(cx, type(e.ops[0]).__name__, left, right)


def _boolean(cx: Frame, e: ast.BoolOp) -> Value:
    """`a and b`: the first value that decides, as it is."""
    result = cx.site("boolean")
    found = value(cx, e.values[0])
    cx.flow(found, result)
    name = cx.declared(representation(result))
    cx.write(f"{name} = {cx.as_node(found, result)};")
    opened = 0
    for operand in e.values[1:]:
        test = operators.truth(cx, found)
        cx.write(f"if ({test}) {{" if isinstance(e.op, ast.And) else f"if (!({test})) {{")
        cx.indent += 1
        opened += 1
        found = value(cx, operand)
        cx.flow(found, result)
        cx.write(f"{name} = {cx.as_node(found, result)};")
    for _ in range(opened):
        cx.indent -= 1
        cx.write("}")
    return Value(result, name)


def condition(cx: Frame, e: ast.expr) -> str:
    """The truth of an expression as C."""
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
        return f"!({condition(cx, e.operand)})"
    if isinstance(e, ast.BoolOp):
        name = cx.declared("b")
        stop = isinstance(e.op, ast.Or)
        before = cx.narrow
        for place, operand in enumerate(e.values):
            test = condition(cx, operand)
            cx.write(f"{name} = {test};")
            if place + 1 < len(e.values):
                cx.write(f"if ({'!' if stop else ''}{name}) {{")
                cx.indent += 1
                cx.narrow = {**cx.narrow, **narrowing.of_test(cx, operand, not stop)}
        cx.narrow = before
        for _ in e.values[1:]:
            cx.indent -= 1
            cx.write("}")
        return name
    return operators.truth(cx, value(cx, e))


def _conditional(cx: Frame, e: ast.IfExp) -> Value:
    test = condition(cx, e.test)
    result = cx.site("conditional")
    name = cx.declared(representation(result))
    known = constant_test(cx, e.test)
    for branch, body in ((True, e.body), (False, e.orelse)):
        if known is (not branch):
            continue
        narrowed = narrowing.of_test(cx, e.test, branch)
        with cx.block(f"if ({test})" if branch else f"if (!({test}))"), narrowing.within(cx, narrowed, []):
            found = value(cx, body)
            cx.flow(found, result)
            cx.write(f"{name} = {cx.as_node(found, result)};")
    return Value(result, name)


def constant_test(cx: Frame, e: ast.expr) -> bool | None:
    """Whether a test is decided while compiling; None if not. Only what can never change: tests of kinds."""
    if isinstance(e, ast.UnaryOp) and isinstance(e.op, ast.Not):
        inner = constant_test(cx, e.operand)
        return None if inner is None else not inner
    if isinstance(e, ast.Constant):
        return bool(e.value)
    return calls.known_test(cx, e)


# --- displays ----------------------------------------


def _tuple(cx: Frame, e: ast.Tuple) -> Value:
    return operators.make_tuple(cx, [value(cx, item) for item in e.elts], "tuple")


def _list(cx: Frame, e: ast.List) -> Value:
    items = [value(cx, item) for item in e.elts]
    return operators.make_list(cx, items, "list")


def _set(cx: Frame, e: ast.Set) -> Value:
    from weft.plain.values import sets

    folded = displays.folded(cx, e, displays.FOLDED_FROM)
    if folded is not None:
        return sets.updated(cx, sets.new_set(cx, "set"), constant_set(cx, folded))
    made = sets.new_set(cx, "set")
    for item in [value(cx, item) for item in e.elts]:
        sets.add(cx, made, item)
    return made


def constant_set(cx: Frame, items: list[ast.expr]) -> Value:
    """A display of constants as the frozenset that CPython makes of it while it compiles."""
    from weft.plain.values import sets

    made = sets.new_set(cx, "frozen", "frozenset")
    for item in items:
        sets.add(cx, made, value(cx, item))
    return made


def _dict(cx: Frame, e: ast.Dict) -> Value:
    from weft.plain.values import dicts

    head = cx.new_head("dict", ("dict",), 2)
    made = cx.heap(head, f"wp_dict_new({cx.type_of(head)})")
    if e.keys == [None]:  # {**mapping}
        return dicts.update_from(cx, made, value(cx, e.values[0]), only_dicts=True)
    pairs = []
    for key, held in zip(e.keys, e.values):
        assert key is not None
        pairs.append((value(cx, key), value(cx, held)))
    for place, (k, v) in enumerate(pairs):
        with cx.inside(place):
            dicts.put(cx, made, k, v)
    return made


def _joined(cx: Frame, e: ast.JoinedStr) -> Value:
    parts = []
    for part in e.values:
        if isinstance(part, ast.Constant):
            parts.append(python_value(cx, part.value))
        else:
            assert isinstance(part, ast.FormattedValue)
            parts.append(formatted(cx, part))
    if not parts:
        return python_value(cx, "")
    whole = parts[0]
    for text in parts[1:]:
        whole = cx.scalar("str", f"wp_str_concat({whole.code}, {text.code})")
    return whole


def formatted(cx: Frame, e: ast.FormattedValue) -> Value:
    from weft.plain.values import formats

    held = value(cx, e.value)
    spec = None
    if e.format_spec is not None:
        spec = value(cx, e.format_spec)
        constant = isinstance(e.format_spec, ast.JoinedStr) and not e.format_spec.values
        spec = None if constant else spec
    return formats.formatted(cx, held, spec, e.conversion if e.conversion > 0 else 0)


def _call(cx: Frame, e: ast.Call) -> Value:
    return calls.call(cx, e)


def _attribute(cx: Frame, e: ast.Attribute) -> Value:
    return attributes.read(cx, value(cx, e.value), e.attr)


def _subscript(cx: Frame, e: ast.Subscript) -> Value:
    owner = value(cx, e.value)
    return subscripts.get(cx, owner, index_of(cx, e.slice))


def index_of(cx: Frame, e: ast.expr) -> subscripts.Index:
    """An index, the three parts of a slice, or several of these."""
    if isinstance(e, ast.Tuple):
        return subscripts.Several([_index_part(cx, part) for part in e.elts])
    if isinstance(e, ast.Constant) and e.value is Ellipsis:
        return subscripts.Several([None])
    if isinstance(e, ast.Slice):
        parts = [value(cx, part) if part is not None else cx.none for part in (e.lower, e.upper, e.step)]
        return parts[0], parts[1], parts[2]
    return value(cx, e)


def _index_part(cx: Frame, e: ast.expr) -> subscripts.Part:
    if isinstance(e, ast.Constant) and e.value is Ellipsis:
        return None
    found = value(cx, e) if not isinstance(e, ast.Slice) else index_of(cx, e)
    assert not isinstance(found, subscripts.Several)
    return found


def zero(node: Node) -> str:
    return ZEROS[representation(node)]


def c_type(node: Node) -> str:
    return C_TYPES[representation(node)]


_RULES: Final[dict[type, Callable[..., Value]]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _boolean,
    ast.IfExp: _conditional,
    ast.Tuple: _tuple,
    ast.List: _list,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.JoinedStr: _joined,
    ast.FormattedValue: formatted,
    ast.Call: _call,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
}
assert SCALAR_NODES
