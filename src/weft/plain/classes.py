"""Objects of classes: construction, exceptions, data classes, named tuples."""

from __future__ import annotations

import ast
import dataclasses
import enum
from typing import Any, Final

from weft.frontend import reads
from weft.plain import attributes, calls, operators
from weft.plain.binding import Parameters, bound
from weft.plain.frame import Frame, Value
from weft.plain.types import Node, representation, scalar_node
from weft.plain.unit import ClassInfo, is_constant, own_operator


def construct(cx: Frame, cls: type, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    """cls(...)"""
    from weft.plain.expressions import python_value

    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return _named_tuple(cx, cls, arguments, keywords)
    if issubclass(cls, BaseException):
        return exception(cx, cls, arguments, keywords)
    if isinstance(cls, enum.EnumMeta) and len(arguments) == 1 and isinstance(arguments[0], Value) and not keywords:
        member = _member(cls, arguments[0])
        if member is not None:
            return python_value(cx, member)
        if _is_looked_up(cls):
            return _member_of(cx, cls, arguments[0])
    if isinstance(cls, enum.EnumMeta) or not (cls.__flags__ & (1 << 9) or cls is object):
        raise cx.refuse(f"a call of `{cls.__name__}`")
    abstract = getattr(cls, "__abstractmethods__", None)
    if abstract:
        raise cx.refuse(f"an object of the abstract class `{cls.__name__}`")
    info = cx.unit.class_info(cls, cx.span())
    made = cx.heap(info.head, f"wp_new({cx.type_of(info.head)})")
    generated = _generated_init(cx, cls)
    if generated is not None:
        _initialise(cx, made, info, generated, arguments, keywords)
        return made
    function = reads.lookup(cls, "__init__")
    if function is object.__init__:
        if arguments or keywords:
            raise cx.refuse(f"arguments for `{cls.__name__}`, which has no `__init__`")
        return made
    init = attributes.method_of(cx, info.head, "__init__")
    if init is None:
        raise cx.refuse(f"`{cls.__name__}.__init__`, which is no plain function")
    calls.call_function(cx, init, [made, *arguments], keywords)
    return made


def _member(cls: enum.EnumMeta, value: Value) -> enum.Enum | None:
    """The member of an enumeration with a value that stands in the source; None if it is not known."""
    from weft.plain.library.callables import literal_of

    wanted = literal_of(value)
    found: list[Any] = [member for member in cls if member.value == wanted]  # type: ignore[var-annotated]
    return found[0] if wanted is not None and found and type(found[0].value) is type(wanted) else None


#: Members of an enumeration that a value is compared with, one after the other.
_MAX_MEMBERS: Final = 16


def _is_looked_up(cls: enum.EnumMeta) -> bool:
    """Whether `cls(value)` does nothing but look for the member with this value."""
    own = [name for base in cls.__mro__ if base.__module__ != "enum" for name in vars(base)]
    plain = "_missing_" not in own and type(cls) is enum.EnumMeta and 0 < len(cls) <= _MAX_MEMBERS
    return plain and all(map(is_constant, cls))


def _member_of(cx: Frame, cls: enum.EnumMeta, wanted: Value) -> Value:
    """cls(wanted), for a value that is not known while compiling."""
    reads.lookup(cls, "_missing_")
    members: list[Any] = list(cls)
    name, found, result = _chosen(cx, wanted, [(member.value, member) for member in members])
    with cx.block(f"if (!{found})"):
        cx.raises("WP_VALUE_ERROR")
    return Value(result, name)


def member_by_name(cx: Frame, cls: enum.EnumMeta, wanted: Value) -> Value | None:
    """cls[wanted]"""
    members: list[tuple[str, Any]] = list(cls.__members__.items())
    if type(cls) is not enum.EnumMeta or not 0 < len(members) <= _MAX_MEMBERS or wanted.kinds() - {"str"}:
        return None
    if not all(is_constant(member) for _, member in members):
        return None
    reads.lookup(cls, "__members__")
    name, found, result = _chosen(cx, wanted, members)
    with cx.block(f"if (!{found})"):
        cx.deoptimise(f"a name that `{cls.__name__}` does not have")
    return Value(result, name)


def _chosen(cx: Frame, wanted: Value, members: list[tuple[Any, Any]]) -> tuple[str, str, Node]:
    """The member whose key is the wanted one: its name in C, whether there is one, and its node."""
    from weft.plain.expressions import python_value

    result = cx.site("member")
    name = cx.declared(representation(result)) if cx.emitting else "0"
    found = cx.temporary("i", "0")
    for key, member in members:
        with cx.inside(repr(key)), cx.block(f"if (!{found})"):
            test = operators.compare(cx, "Eq", wanted, python_value(cx, key))
            with cx.block(f"if ({operators.truth(cx, test)})"):
                held = python_value(cx, member)
                cx.flow(held, result)
                cx.write(f"{name} = {cx.as_node(held, result)}; {found} = 1;")
    return name, found, result


def _named_tuple(cx: Frame, cls: Any, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.expressions import python_value

    reads.lookup(cls, "__new__")
    made = getattr(vars(cls).get("__new__"), "__func__", vars(cls).get("__new__"))
    if getattr(made, "__module__", None) != f"namedtuple_{cls.__name__}" or cls.__bases__ != (tuple,):
        raise cx.refuse(f"a call of `{cls.__name__}`, a class derived from a named tuple")
    if (own := own_operator(cls)) is not None:
        raise cx.refuse(f"a call of `{cls.__name__}`, a named tuple with a method `{own}` of its own")
    names, defaults = tuple(cls._fields), cls._field_defaults

    def default(name: str) -> Value | None:
        return python_value(cx, defaults[name]) if name in defaults else None

    found = bound(cx, Parameters(cls.__name__, names, defaults.__contains__, default), arguments, keywords)
    return operators.make_tuple(cx, [found[name] for name in names], ("named", cls.__name__), cls)


# --- data classes ----------------------------------------


def _generated_init(cx: Frame, cls: type) -> list[Any] | None:
    """The fields of a data class whose `__init__` is the generated one; None if the class has its own."""
    if not dataclasses.is_dataclass(cls):
        return None
    init = reads.lookup(cls, "__init__")
    owner = next(base for base in cls.__mro__ if "__init__" in vars(base))
    if not dataclasses.is_dataclass(owner) or getattr(init, "__code__", None) is None:
        return None
    fields = getattr(owner, "__dataclass_fields__", {})
    code = init.__code__
    of_class = dataclasses._FIELD_CLASSVAR  # type: ignore[attr-defined]
    names = [field.name for field in fields.values() if field.init and field._field_type is not of_class]
    given = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    if code.co_filename != "<string>" or code.co_name != "__init__" or set(given) != set(names):
        return None
    return [field for field in fields.values() if field._field_type is not of_class]


def _initialise(
    cx: Frame, made: Value, info: ClassInfo, fields: list[Any], arguments: list[Any], keywords: dict[str, Value]
) -> None:
    """What the generated `__init__` does: each field from its argument, its default or its factory, then
    `__post_init__`."""
    from weft.plain.expressions import python_value

    by_name = {field.name: field for field in fields}
    taken = [field for field in fields if field.init]

    def has(name: str) -> bool:
        field = by_name[name]
        return field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING

    def default(name: str) -> Value | None:
        field = by_name[name]
        if field.default is not dataclasses.MISSING:
            return python_value(cx, field.default)
        if field.default_factory is dataclasses.MISSING:
            return None
        with cx.inside(name):
            return calls.call_constant(cx, field.default_factory, [], {})

    parameters = Parameters(
        info.cls.__name__,
        tuple(field.name for field in taken if not field.kw_only),
        has,
        default,
        tuple(field.name for field in taken if field.kw_only),
    )
    found = bound(cx, parameters, arguments, keywords)
    for field in fields:
        if not field.init and field.default_factory is dataclasses.MISSING and "__slots__" not in vars(info.cls):
            continue  # the class has the default
        held = found[field.name] if field.init else default(field.name)
        if held is None:
            continue
        if field._field_type is dataclasses._FIELD_INITVAR:  # type: ignore[attr-defined]
            raise cx.refuse(f"`{info.cls.__name__}.{field.name}`, an InitVar")
        attributes.set_slot(cx, made, info, field.name, held)
    post = attributes.method_of(cx, info.head, "__post_init__")
    if post is not None:
        calls.call_function(cx, post, [made])


# --- exceptions ----------------------------------------


#: Exceptions that look at their arguments when they are made: OSError(2, "x") is a FileNotFoundError, others want five.
READ_THEIR_ARGUMENTS = (OSError, SyntaxError, UnicodeError, ImportError)


def exception(cx: Frame, cls: type, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    """A new exception with its arguments."""
    init = attributes.method_of(cx, cx.unit.class_info(cls, cx.span()).head, "__init__")
    if any(not isinstance(a, Value) for a in arguments) or (keywords and init is None):
        raise cx.refuse(f"a call of `{cls.__name__}` with these arguments")
    wants_five = issubclass(cls, (UnicodeDecodeError, UnicodeEncodeError, UnicodeTranslateError))
    if wants_five or (issubclass(cls, READ_THEIR_ARGUMENTS) and len(arguments) > 1):
        raise cx.refuse(f"`{cls.__name__}` with {len(arguments)} arguments", "pass one text")
    info = cx.unit.class_info(cls, cx.span())
    made = cx.heap(info.head, f"wp_new({cx.type_of(info.head)})")
    set_arguments(cx, made, list(arguments))
    if init is not None:
        calls.call_function(cx, init, [made, *arguments], keywords)
    return made


def set_arguments(cx: Frame, made: Value, arguments: list[Value]) -> None:
    """What `BaseException` does with its arguments."""
    attributes.set_slot(cx, made, made.head().key[1], "args", operators.make_tuple(cx, arguments, "args"))


def raised(cx: Frame, held: str, node: Node, wanted: list[type]) -> str:
    """The exception that a handler has caught, as an object that it can look at; of the run time's own, one is made."""
    found = cx.held("void *", held)
    for number, cls in enumerate(RAISED_NATIVELY):
        if not issubclass(cls, tuple(wanted)):
            continue
        info = cx.unit.class_info(cls, cx.span())
        cx.add(node, info.head)
        with cx.inside(cls), cx.block(f"if (wp_is_builtin({held}, {number}))"):
            argument = cx.temporary("v", f"wp_error_argument({held}, {cx.line})")
            kinds = ("str", "int") if cls is KeyError else ("str",)
            fits = f"({argument}.tag == WP_PTR && ((wp_object *){argument}.u.p)->type == &wp_str_type)"
            fits += f" || {argument}.tag == WP_INT" if cls is KeyError else ""
            # Messages are those of the versions of Python that were looked at.
            cx.write(f'if (!({fits}) || {int(reads.is_python(3, 14))}) wp_deopt("the text of an error", {cx.line});')
            message = Value(scalar_node(*kinds), argument if len(kinds) > 1 else f"{argument}.u.p")
            cx.write(f"{found} = {exception(cx, cls, [message], {}).code};")
    if cx.emitting:
        cx.write(f'if (wp_is_foreign({found})) wp_deopt("a look at an exception", {cx.line});')
    return found


#: In the order of native/plain.h.
RAISED_NATIVELY: Final = (
    IndexError,
    KeyError,
    ValueError,
    TypeError,
    ZeroDivisionError,
    AttributeError,
    StopIteration,
    RuntimeError,
    AssertionError,
    OverflowError,
    UnboundLocalError,
    NameError,
)


def text_of(cx: Frame, held: Value, name: str) -> Value:
    """str(exception): of one argument its text; repr(exception): the class and the arguments."""
    from weft.plain.expressions import python_value
    from weft.plain.values import sequences, texts

    info: ClassInfo = held.head().key[1]
    function = attributes.method_of(cx, held.head(), name)
    if function is not None:
        return calls.call_function(cx, function, [held])
    keyed = issubclass(info.cls, KeyError) and name == "__str__"
    holder = next(cls for cls in info.cls.__mro__ if name in vars(cls))  # C gives some of Python's classes a copy
    if holder.__module__ != "builtins" or issubclass(info.cls, READ_THEIR_ARGUMENTS):
        raise cx.refuse(f"the text of a {info.cls.__name__}")
    args = attributes.read_slot(cx, held, info, "args", None)

    def parts(found: Value) -> list[Value]:
        count = len(found.head().parts)
        if name == "__str__":
            if count == 1:
                only = sequences.tuple_item(cx, found, 0)
                return [texts.as_repr(cx, only) if keyed else texts.as_str(cx, only)]
            return [texts.as_str(cx, found)] if count else [python_value(cx, "")]
        title = info.cls.__name__
        if count > 1:
            return [python_value(cx, title), texts.as_repr(cx, found)]
        inner = [texts.as_repr(cx, sequences.tuple_item(cx, found, 0))] if count else []
        return [python_value(cx, f"{title}("), *inner, python_value(cx, ")")]

    def one(found: Value) -> Value | None:
        if found.head().kind != "tuple":
            raise cx.refuse(f"the text of a {info.cls.__name__}")
        whole, *rest = parts(found)
        for part in rest:
            whole = operators.binary(cx, "Add", whole, part)
        return whole

    return cx.cases([args], one, ("text", name))


def matches(cx: Frame, held: Value, handler: ast.expr | None) -> list[type]:
    """The classes that a handler names."""
    from weft.plain.builtin import resolved

    if handler is None:
        return [BaseException]
    parts = handler.elts if isinstance(handler, ast.Tuple) else [handler]
    found = [resolved(cx, part) for part in parts]
    if any(not isinstance(cls, type) or not issubclass(cls, BaseException) for cls in found):
        raise cx.refuse(f"a handler for `{ast.unparse(handler)}`, which is no known exception class")
    return found
