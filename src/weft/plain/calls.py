"""Calls.  In: a callee and arguments; out: the result, from an instance of the function for these kinds of arguments.

A callee is a Python function (compiled as well), a class, a builtin (`builtin.py`), a method of a builtin type
(`values/`), a nested function or a bound method. Which it is, is a matter of the value's type.
"""

from __future__ import annotations

import ast
import contextlib
import enum
import functools
import types as python_types
from collections.abc import Callable, Iterator
from typing import Any

from weft.frontend import reads
from weft.naming import is_jitted
from weft.plain import foreign
from weft.plain.binding import NAMES, Keywords, Parameters, Star, bound, without_names
from weft.plain.frame import C_TYPES, Frame, Value
from weft.plain.types import Head, Node, representation
from weft.plain.unit import FunctionInfo, Instance, function_info


@contextlib.contextmanager
def _nothing() -> Iterator[None]:
    yield


#: The code of all functions that `contextlib.contextmanager` has made, and `functools.singledispatch`.
_MANAGER_CODE = _nothing.__code__
_DISPATCHING: Any = functools.singledispatch(print)
_DISPATCHING_CODE = _DISPATCHING.__code__


def call(cx: Frame, e: ast.Call) -> Value:
    from weft.plain import builtin
    from weft.plain.expressions import value

    if isinstance(e.func, ast.Attribute):
        through_super = _super_owner(cx, e.func.value)
        if through_super is not None:
            return _call_super(cx, e, through_super)
        owner = value(cx, e.func.value)
        arguments, keywords = evaluated(cx, e)
        name = e.func.attr
        return cx.cases([owner], lambda o: call_method(cx, o, name, arguments, keywords), ("method", name))
    special = builtin.lazy_call(cx, e)
    if special is not None:
        return special
    callee = value(cx, e.func)
    arguments, keywords = evaluated(cx, e)
    if any(isinstance(held, Star) and not len(held.value.node) for held in arguments):
        cx.deoptimise("a value of no known type")
        return Value(Node(), "0")
    return call_value(cx, callee, arguments, keywords)


def evaluated(cx: Frame, e: ast.Call) -> tuple[list[Any], Keywords]:
    """The arguments in order; fixed tuples behind a star are spread."""
    from weft.plain.expressions import value
    from weft.plain.values import sequences

    arguments: list[Any] = []
    for given in e.args:
        if isinstance(given, ast.Starred):
            held = value(cx, given.value)
            head = held.node.only()
            if head is not None and head.kind == "tuple":
                arguments += [sequences.tuple_item(cx, held, place) for place in range(len(head.parts))]
            else:
                arguments.append(Star(held))
        else:
            arguments.append(value(cx, given))
    keywords: Keywords = {}
    for keyword in e.keywords:
        if keyword.arg is None:
            held = value(cx, keyword.value)
            head = held.node.only()
            if head is None or head.kind != "dict" or NAMES in keywords:
                raise cx.refuse("a call with `**` arguments", "name the arguments")
            if len(head.part(0)):
                keywords[NAMES] = held
            continue
        keywords[keyword.arg] = value(cx, keyword.value)
    return arguments, keywords


def call_value(cx: Frame, callee: Value, arguments: list[Any], keywords: Keywords) -> Value:
    return cx.cases([callee], lambda f: _call_one(cx, f, arguments, keywords), "call")


def _call_one(cx: Frame, callee: Value, arguments: list[Any], keywords: Keywords) -> Value | None:
    from weft.plain import attributes

    head = callee.head()
    if head.kind == "const":
        return call_constant(cx, head.value, arguments, keywords)
    if head.kind == "closure":
        info, outer = head.value
        return _call_info(cx, info, outer, callee, arguments, keywords)
    if head.kind == "partial":
        from weft.plain.library import callables

        return callables.call_partial(cx, callee, arguments, keywords)
    if head.kind == "method":
        owner = cx.load(head.part(), f"&((wp_record *){callee.code})->value[0]")
        if isinstance(head.value, str):
            name = head.value
            return cx.cases([owner], lambda o: call_method(cx, o, name, arguments, keywords), "bound")
        return call_function(cx, head.value, [owner, *arguments], keywords)
    if head.kind == "obj":
        function = attributes.method_of(cx, head, "__call__")
        if function is not None:
            return call_function(cx, function, [callee, *arguments], keywords)
    return None


def call_constant(cx: Frame, callee: Any, arguments: list[Any], keywords: Keywords) -> Value | None:
    from weft.plain import builtin

    found = builtin.function_for(callee)
    if found is not None:
        return found(cx, arguments, keywords if callee is dict else without_names(cx, keywords))
    model = builtin.model_for(callee)
    if model is not None:
        takes = builtin.MODEL_TAKES.get(callee)
        if takes and arguments and isinstance(arguments[0], Value) and not arguments[0].kinds() <= set(takes):
            raise cx.refuse(f"a call of `{callee.__name__}` with {arguments[0].node!r}")
        return call_function(cx, model, arguments, keywords)
    if isinstance(callee, python_types.FunctionType):
        inner = getattr(callee, "__wrapped__", None)
        if callee.__code__ is _MANAGER_CODE and isinstance(inner, python_types.FunctionType):
            from weft.plain.models.contexts import Managed

            return construct(cx, Managed, [call_function(cx, inner, arguments, keywords)], {})
        if callee.__code__ is _DISPATCHING_CODE:
            return _dispatched(cx, callee, arguments, keywords)
        return call_function(cx, callee, arguments, keywords)
    if is_jitted(callee):
        return call_function(cx, callee.py_func, arguments, keywords)
    if isinstance(callee, type):
        return construct(cx, callee, arguments, keywords)
    if isinstance(callee, python_types.MethodDescriptorType):  # str.upper
        return _call_through_class(cx, callee.__objclass__, callee.__name__, arguments, keywords)
    from weft.plain.library import callables

    if isinstance(callee, (functools.partial, *callables.GETTERS)):
        return callables.called(cx, callee, arguments, keywords)
    raise cx.refuse(f"a call of `{getattr(callee, '__qualname__', callee)}`")


def _dispatched(cx: Frame, callee: Any, arguments: list[Any], keywords: Keywords) -> Value | None:
    """A call of what `functools.singledispatch` has made: the class of the first argument decides, by its bases."""
    from weft.plain.builtin import class_of

    dispatch = callee.dispatch
    cells = dict(zip(dispatch.__code__.co_freevars, dispatch.__closure__))
    registry = cells["registry"].cell_contents
    if not arguments or not isinstance(arguments[0], Value) or any(map(_is_abstract, registry)):
        raise cx.refuse(f"a call of `{callee.__name__}`, which dispatches by an abstract class or without an argument")

    def one(first: Value) -> Value | None:
        cls = class_of(first.head())
        for base in getattr(cls, "__mro__", ()):
            found = reads.item(registry, base)
            if found is not reads.ABSENT:
                return call_constant(cx, found, [first, *arguments[1:]], keywords)
        raise cx.refuse(f"a call of `{callee.__name__}` for a value of type {first.head()!r}")

    return cx.cases([arguments[0]], one, "dispatch")


def _is_abstract(cls: type) -> bool:
    return hasattr(cls, "__abstractmethods__")


# --- methods ----------------------------------------


def has_method(head: Head, name: str) -> bool:
    from weft.plain import values
    from weft.plain.library import callbacks

    if head.kind == "py":
        return callbacks.has_method(head, name)
    return values.method(head.kind, name) is not None


def call_method(cx: Frame, owner: Value, name: str, arguments: list[Any], keywords: Keywords) -> Value | None:
    """owner.name(...)"""
    from weft.plain import attributes, values

    head = owner.head()
    if head.kind == "obj":
        return _call_object_method(cx, owner, name, arguments, keywords)
    if head.kind == "const":
        if isinstance(head.value, type):
            return _call_through_class(cx, head.value, name, arguments, keywords)
        if isinstance(head.value, enum.Enum):
            method_found = reads.lookup(type(head.value), name)
            if isinstance(method_found, python_types.FunctionType):
                return call_function(cx, method_found, [owner, *arguments], keywords)
        found = attributes.constant_attribute(cx, head.value, name)
        return call_constant(cx, found, arguments, keywords)
    if head.kind == "py":
        from weft.plain.library import callbacks

        return callbacks.call_method(cx, owner, name, arguments, keywords)
    if head.kind == "tuple" and head.key[2] is not None:  # a named tuple
        of_class = reads.lookup(head.key[2], name)
        if isinstance(of_class, python_types.FunctionType) and of_class.__module__ == head.key[2].__module__:
            return call_function(cx, of_class, [owner, *arguments], keywords)
    method = values.method(head.kind, name)
    if method is not None:
        return method(cx, owner, arguments, keywords)
    if head.kind == "none":
        cx.raises("WP_ATTRIBUTE_ERROR")
        return Value(cx.site("never"), "0")
    of_class = _of_class(head, name)
    if of_class is not None:
        return of_class(cx, arguments, keywords)
    found_value = attributes.read(cx, owner, name)
    return call_value(cx, found_value, arguments, keywords)


def _of_class(head: Head, name: str) -> Callable[..., Value | None] | None:
    """What a builtin class's own function does, asked for through a value: `text.maketrans(...)`, `d.fromkeys(...)`."""
    from weft.plain import builtin

    cls = builtin.class_of(head) if head.kind not in ("obj", "const", "py") else None
    return builtin.class_method(cls, name) if isinstance(cls, type) else None


def _call_object_method(cx: Frame, owner: Value, name: str, arguments: list[Any], keywords: Keywords) -> Value | None:
    from weft.plain import attributes

    info = owner.head().key[1]
    found = reads.lookup(info.cls, name)
    if name not in info.attributes:
        if isinstance(found, python_types.FunctionType):
            return call_function(cx, found, [owner, *arguments], keywords)
        if isinstance(found, staticmethod):
            return call_constant(cx, found.__func__, arguments, keywords)
        if isinstance(found, classmethod):
            from weft.plain.expressions import python_value

            return call_function(cx, found.__func__, [python_value(cx, info.cls), *arguments], keywords)
    return call_value(cx, attributes.read(cx, owner, name), arguments, keywords)


def _call_through_class(cx: Frame, cls: type, name: str, arguments: list[Any], keywords: Keywords) -> Value | None:
    """Class.method(...): of a user's class, or `str.lower(x)`, `dict.fromkeys(...)` of a builtin one."""
    from weft.plain import builtin, values
    from weft.plain.expressions import python_value

    if not cls.__flags__ & (1 << 9) or foreign.is_carried(cls):
        made = builtin.class_method(cls, name)
        if made is not None:
            return made(cx, arguments, keywords)
        if arguments and isinstance(arguments[0], Value):
            first, rest = arguments[0], arguments[1:]

            def one(o: Value) -> Value | None:
                own = builtin.class_of(o.head())
                method = values.method(o.head().kind, name) if own is cls else None
                if method is not None:
                    return method(cx, o, rest, keywords)
                # What all objects have, or the class itself, takes any first argument.
                slot = reads.lookup(cls, name)
                is_bound = isinstance(slot, python_types.MethodDescriptorType)
                if is_bound and isinstance(own, type) and not issubclass(own, slot.__objclass__):
                    return None
                raise cx.refuse(f"a call of `{cls.__name__}.{name}`")

            return cx.cases([first], one, ("through", name))
        if cls is set and len(arguments) == 1 and name in ("union", "intersection"):  # of the sets behind a star
            return _of_sets(cx, name, arguments[0].value)
    if name == "_make" and hasattr(cls, "_fields") and len(arguments) == 1 and not keywords:  # a named tuple
        return construct(cx, cls, [Star(arguments[0])], {})
    found = reads.lookup(cls, name)
    if isinstance(found, type):
        return call_constant(cx, found, arguments, keywords)
    if isinstance(found, python_types.FunctionType):
        return call_function(cx, found, arguments, keywords)
    if isinstance(found, staticmethod):
        return call_constant(cx, found.__func__, arguments, keywords)
    if isinstance(found, classmethod) and isinstance(found.__func__, python_types.FunctionType):
        return call_function(cx, found.__func__, [python_value(cx, cls), *arguments], keywords)
    raise cx.refuse(f"a call of `{cls.__name__}.{name}`")


def _of_sets(cx: Frame, name: str, rows: Value) -> Value:
    """set.union(*rows), set.intersection(*rows)"""
    from weft.plain.models import sequences as models
    from weft.plain.values import sequences

    listed = sequences.as_list(cx, rows, "sets")
    if any(head.kind != "set" for head in listed.head().part()):
        raise cx.refuse(f"a call of `set.{name}` with what is no set", "make sets of them")
    return call_function(cx, models.union_of if name == "union" else models.intersection_of, [listed])


def _super_owner(cx: Frame, e: ast.expr) -> Value | None:
    """The first parameter, if the expression is `super()`."""
    from weft.plain.expressions import outside, read_name

    if not (isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == "super" and not e.args):
        return None
    if cx.instance.variable("super") is not None or outside(cx, "super") is not super:
        return None
    return read_name(cx, cx.info.parameters[0])


def _call_super(cx: Frame, e: ast.Call, owner: Value) -> Value:
    from weft.plain import classes

    assert isinstance(e.func, ast.Attribute)
    name = e.func.attr
    arguments, keywords = evaluated(cx, e)
    home = cx.info.owner

    def one(o: Value) -> Value | None:
        if o.head().kind != "obj" or home is None:
            raise cx.refuse("`super()` outside a method of a plain class")
        mro = o.head().key[1].cls.__mro__
        rest = mro[mro.index(home) + 1 :]
        for base in rest:
            reads.own(base, name)
            found = vars(base).get(name)
            if isinstance(found, python_types.FunctionType):
                return call_function(cx, found, [o, *arguments], keywords)
            if isinstance(found, property) and found.fget is not None:
                return call_value(cx, call_function(cx, found.fget, [o]), arguments, keywords)
            if found is not None and issubclass(base, BaseException) and name == "__init__":
                classes.set_arguments(cx, o, arguments)
                return cx.none
            if found is not None and base is object and name in ("__init__", "__init_subclass__"):
                return cx.none
        raise cx.refuse(f"`super().{name}`")

    return cx.cases([owner], one, "super")


# --- functions ----------------------------------------


def call_function(cx: Frame, function: Any, arguments: list[Any], keywords: Keywords | None = None) -> Value:
    """A call of a Python function."""
    info = function_info(cx.unit, function, cx.span())
    if info.owner is None:
        info.owner = _class_of(function)
    return _call_info(cx, info, None, None, arguments, keywords or {})


def call_special(cx: Frame, function: Any, arguments: list[Any], *kinds: str) -> Value:
    """A call of a special method whose result must be of these kinds: of any other one Python raises TypeError."""
    found = call_function(cx, function, arguments)
    if found.kinds() <= {*kinds}:
        return found

    def one(x: Value) -> Value | None:
        if x.head().kind in kinds:
            return x
        if x.head().kind not in ("none", "bool", "int", "float", "str", "list", "tuple", "dict") or kinds[0] == "int":
            raise cx.refuse(f"`{function.__qualname__}`, which gives {x.node!r}")
        return None

    return cx.cases([found], one, ("special", function.__name__))


def _class_of(function: Any) -> type | None:
    """The class whose body defined a method: where `super()` starts."""
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or ()):
        if name == "__class__":
            try:
                return cell.cell_contents  # type: ignore[no-any-return]
            except ValueError:
                return None
    return None


def _call_info(
    cx: Frame,
    info: FunctionInfo,
    outer: Instance | None,
    closure: Value | None,
    arguments: list[Any],
    keywords: Keywords,
) -> Value:
    values = bound(cx, _parameters(cx, info, closure), arguments, keywords)
    given = [values[name] for name in info.parameters]
    instance = cx.unit.instance(info, outer, [value.node for value in given], cx.instance)
    for name, held in zip(info.parameters, given):
        cx.flow(held, instance.locals[name])
    cx.instance.calls.add(instance)
    if cx.guarded and not instance.guarded:
        cx.unit.lattice.note()
        instance.guarded = True
    passed = [cx.as_node(held, instance.locals[name]) for name, held in zip(info.parameters, given)]
    if outer is not None:
        passed.insert(0, closure.code if closure is not None else "env")
    if cx.emitting:
        assert cx.writer is not None
        cx.writer.need(instance)
    if info.is_generator:
        assert instance.head is not None
        return cx.heap(instance.head, f"{instance.c_name}_make({', '.join(passed)})")
    code = f"{instance.c_name}({', '.join(passed)})"
    result = instance.result.root()
    if not len(result):  # it never returns a value: it raises, or has not been looked at
        cx.write(f"{code};")
        cx.check()
        return Value(result, "(void *)0")
    return cx.make(result, code, check=True)


def _parameters(cx: Frame, info: FunctionInfo, closure: Value | None) -> Parameters:
    return Parameters(
        info.name,
        tuple(info.positional),
        lambda name: has_default(info, name),
        lambda name: default_of(cx, info, closure, name),
        tuple(info.keyword_only),
        frozenset(argument.arg for argument in info.tree.args.posonlyargs),
        info.vararg,
        info.kwarg,
    )


def has_default(info: FunctionInfo, name: str) -> bool:
    if info.function is not None:
        return name in reads.defaults(info.function)
    return name in default_names(info)


def default_of(cx: Frame, info: FunctionInfo, closure: Value | None, name: str) -> Value | None:
    """The default value of a parameter: of a Python function its own, of a nested one what its closure keeps."""
    from weft.plain.expressions import python_value

    if info.function is not None:
        defaults = reads.defaults(info.function)
        return python_value(cx, defaults[name]) if name in defaults else None
    if closure is None or name not in (names := default_names(info)):
        return None
    head = closure.head()
    place = names.index(name)
    return cx.load(head.part(place), f"&((wp_record *){closure.code})->value[{_default_place(cx, head, place)}]")


def _default_place(cx: Frame, head: Head, place: int) -> int:
    if cx.writer is None:
        return 0
    cells = len(cx.writer.cells_of_info(head.value[0], head.value[1]))
    return cells + sum(2 if representation(part) == "v" else 1 for part in head.root().parts[:place])


def default_names(info: FunctionInfo) -> list[str]:
    """Parameters of a nested function that have a default value, in order."""
    names = info.positional[len(info.positional) - len(info.tree.args.defaults) :] if info.tree.args.defaults else []
    return names + [name for name, held in zip(info.keyword_only, info.tree.args.kw_defaults) if held is not None]


def make_closure(cx: Frame, tree: ast.FunctionDef) -> Value:
    """The function object that a nested `def` makes: the cells of what it uses, and its default values."""
    from weft.plain.expressions import cell_of, value

    info = cx.info.nested_info(tree)
    defaults = [held for held in (*tree.args.defaults, *tree.args.kw_defaults) if held is not None]
    held = [value(cx, e) for e in defaults]
    head = cx.new_head("closure", ("closure", id(tree), id(cx.instance)), len(held), (info, cx.instance))
    for one, part in zip(held, head.parts):
        cx.flow(one, part)
    made = cx.heap(head, f"wp_new({cx.type_of(head)})")
    if cx.writer is not None:
        names = cx.writer.cells_of_info(info, cx.instance)
        for place, name in enumerate(names):
            cx.write(f"((wp_record *){made.code})->value[{place}] = (int64_t){cell_of(cx, name)};")
        for place, one in enumerate(held):
            address = f"&((wp_record *){made.code})->value[{_default_place(cx, head, place)}]"
            cx.store(one, head.part(place), address)
    return made


# --- objects ----------------------------------------


def construct(cx: Frame, cls: type, arguments: list[Any], keywords: Keywords) -> Value:
    """Class(...): a new object, and its `__init__`."""
    from weft.plain import classes

    return classes.construct(cx, cls, arguments, keywords)


def known_test(cx: Frame, e: ast.expr) -> bool | None:
    """`isinstance(x, T)` and `x is None`, where the type of x decides; else None."""
    from weft.plain import builtin

    if isinstance(e, ast.Compare) and isinstance(e.ops[0], (ast.Is, ast.IsNot)):
        other = e.comparators[0]
        if isinstance(other, ast.Constant) and other.value is None and isinstance(e.left, ast.Name):
            node = _variable_node(cx, e.left.id)
            if node is not None and len(node) and "none" not in node.kinds():
                return isinstance(e.ops[0], ast.IsNot)
            if node is not None and node.kinds() == {"none"}:
                return isinstance(e.ops[0], ast.Is)
    if isinstance(e, ast.Call) and isinstance(e.func, ast.Name) and e.func.id == "isinstance" and len(e.args) == 2:
        if cx.instance.variable("isinstance") is None and isinstance(e.args[0], ast.Name):
            node = _variable_node(cx, e.args[0].id)
            if node is not None and len(node):
                answers = {builtin.is_instance(cx, head, e.args[1]) for head in node}
                if len(answers) == 1:
                    return answers.pop()
    return None


def _variable_node(cx: Frame, name: str) -> Node | None:
    found = cx.instance.variable(name)
    return None if found is None else found[0]


assert C_TYPES
