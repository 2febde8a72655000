"""Attributes of objects, classes and modules.  In: an owner and a name; out: what Python finds there."""

from __future__ import annotations

import enum
import types as python_types
from typing import Any, Final

from weft.frontend import reads
from weft.naming import undecorated
from weft.plain import calls
from weft.plain.frame import Frame, Value
from weft.plain.types import Head, representation
from weft.plain.unit import ClassInfo, Namespace, attributes_of, is_constant

#: Object slots begin behind the word that says which are set.
_FIRST_SLOT: Final = 1
#: The flag of types that a class statement has made: Py_TPFLAGS_HEAPTYPE.
_WRITTEN_IN_PYTHON: Final = 1 << 9


def read(cx: Frame, owner: Value, name: str) -> Value:
    return cx.cases([owner], lambda o: _read(cx, o, name), ("attribute", name))


def _read(cx: Frame, owner: Value, name: str) -> Value | None:
    from weft.plain import expressions
    from weft.plain.builtin import class_of
    from weft.plain.expressions import python_value
    from weft.plain.values import arrays, complexes, deques, sequences

    head = owner.head()
    if name == "__class__" and isinstance(class_of(head), type):
        return python_value(cx, class_of(head))
    if head.kind == "obj":
        return _read_object(cx, owner, name)
    if head.kind == "const":
        if isinstance(head.value, enum.Enum):
            of_member = reads.lookup(type(head.value), name)
            if isinstance(of_member, property) and isinstance(of_member.fget, python_types.FunctionType):
                if of_member.fget.__module__ != "enum":
                    return calls.call_function(cx, of_member.fget, [owner])
        variable = class_variable(cx, head.value, name) if isinstance(head.value, type) else None
        if variable is not None:
            return read_slot(cx, expressions.hidden(cx, variable.owner), variable, name, None)
        if isinstance(head.value, python_types.FunctionType) and not name.startswith("__"):
            if name in vars(head.value) or cx.unit.variable_of(head.value, name) is not None:
                of_function = cx.unit.written_name(head.value, name)  # such names are there to be changed
                return read_slot(cx, expressions.hidden(cx, of_function.owner), of_function, name, None)
        if isinstance(head.value, type) and _is_class_method(head.value, name):
            return _bound(cx, cx.new_head("bound", ("method", name), 1, name), owner)
        return python_value(cx, constant_attribute(cx, head.value, name))
    if head.kind == "tuple" and head.key[2] is not None:
        if name in head.key[2]._fields:
            return sequences.tuple_item(cx, owner, head.key[2]._fields.index(name))
        if name == "_fields":
            return python_value(cx, reads.lookup(head.key[2], name))
        of_class = reads.lookup(head.key[2], name)
        if isinstance(of_class, property) and isinstance(of_class.fget, python_types.FunctionType):
            return calls.call_function(cx, of_class.fget, [owner])
    if head.kind == "range" and name in ("start", "stop", "step"):
        return cx.scalar("int", f"((wp_range *){owner.code})->{name}")
    if head.kind == "complex" and name in ("real", "imag"):
        return cx.scalar("float", complexes.part(owner, name))
    if head.kind in ("int", "float") and name in ("real", "imag"):
        zero = Value(owner.node, "0LL" if head.kind == "int" else "0.0")
        return owner if name == "real" else zero
    if head.kind == "deque" and name == "maxlen":
        return deques.maxlen(cx, owner)
    if head.kind == "ndarray":
        return arrays.attribute(cx, owner, name)
    if head.kind == "none":
        cx.raises("WP_ATTRIBUTE_ERROR")
        return Value(cx.site("never"), "0")
    if head.kind == "py":
        from weft.plain.library import callbacks

        found = callbacks.read_attribute(cx, owner, name)
        if found is not None:
            return found
    if calls.has_method(head, name):
        bound = cx.new_head("bound", ("method", name), 1, name)
        return _bound(cx, bound, owner)
    cls = _builtin_class(head)
    if cls is not None and not hasattr(cls, name):
        cx.raises("WP_ATTRIBUTE_ERROR")
        return Value(cx.site("never"), "0")
    raise cx.refuse(f"the attribute `{name}` of a value of type {head!r}")


def _builtin_class(head: Head) -> type | None:
    """The class of a value whose attributes are those of its class and never change."""
    from weft.plain.builtin import class_of

    cls = class_of(head) if head.kind not in ("obj", "const", "py") else None
    return cls if isinstance(cls, type) and not cls.__flags__ & _WRITTEN_IN_PYTHON else None


def _is_class_method(cls: type, name: str) -> bool:
    """Whether a name of a class of the user's is a class method: each look at it makes another object."""
    held = reads.lookup(cls, name)
    return isinstance(held, classmethod) and isinstance(held.__func__, python_types.FunctionType)


def constant_attribute(cx: Frame, owner: Any, name: str) -> Any:
    """An attribute of a module, a class or a member of an enumeration."""
    if isinstance(owner, (python_types.ModuleType, type, enum.Enum)):
        found = reads.attribute(owner, name)
        if found is reads.ABSENT:
            raise cx.refuse(
                f"`{getattr(owner, '__name__', owner)}.{name}`, which does not exist when the function is compiled"
            )
        return found
    if name == "__name__" and hasattr(owner, "__name__"):
        return owner.__name__
    raise cx.refuse(f"the attribute `{name}` of `{getattr(owner, '__name__', owner)}`")


def _bound(cx: Frame, head: Head, owner: Value) -> Value:
    cx.flow(owner, head.part())
    made = cx.heap(head, f"wp_new({cx.type_of(head)})")
    cx.store(owner, head.part(), f"&((wp_record *){made.code})->value[0]")
    return made


def method_of(cx: Frame, head: Head, name: str) -> Any:
    """The Python function that a class defines under a special name; None if it defines none."""
    cls = head.key[1].cls
    found = undecorated(reads.lookup(cls, name))
    if found is reads.ABSENT or found is None:
        return None
    if isinstance(found, python_types.FunctionType):
        return found
    if not any(name in vars(base) for base in cls.__mro__ if base.__flags__ & _WRITTEN_IN_PYTHON):
        return None  # object's own
    raise cx.refuse(f"`{cls.__name__}.{name}`, which is no plain function")


def _read_object(cx: Frame, owner: Value, name: str) -> Value | None:
    from weft.plain.expressions import hidden, python_value

    info: ClassInfo = owner.head().key[1]
    if info.is_exception and name == "args":
        return read_slot(cx, owner, info, name, None)
    if name == "__class__":
        return python_value(cx, info.cls)
    if info.is_exception and name in _OF_EXCEPTIONS:
        cx.deoptimise(f"the attribute {name} of an exception")
        return cx.none
    found = reads.lookup(info.cls, name)
    if isinstance(found, property):
        if found.fget is None:
            return None
        return calls.call_function(cx, found.fget, [owner])
    if isinstance(found, python_types.MemberDescriptorType) or found is reads.ABSENT:
        return read_slot(cx, owner, info, name, None)
    if isinstance(found, python_types.FunctionType):
        if name in info.attributes:
            raise cx.refuse(f"`{name}` is a method of `{info.cls.__name__}` and an attribute of its objects")
        cx.unit.constant(found)
        bound = cx.new_head("bound", ("method", cx.unit.constant(found).key[1]), 1, found)
        return _bound(cx, bound, owner)
    if isinstance(found, staticmethod):
        return python_value(cx, found.__func__)
    if isinstance(found, classmethod):
        raise cx.refuse(f"the class method `{info.cls.__name__}.{name}` as a value", "call it where it is named")
    if is_descriptor(found):
        get = _of_descriptor(cx, info, name, found, "__get__")
        return calls.call_function(cx, get, [python_value(cx, found), owner, python_value(cx, info.cls)])
    shared = class_variable(cx, info.cls, name)
    if shared is not None:
        if name in info.attributes:
            raise cx.refuse(f"`{name}`, an attribute of `{info.cls.__name__}` and of its objects, which is written")
        return read_slot(cx, hidden(cx, shared.owner), shared, name, None)
    if name not in info.attributes:
        return python_value(cx, found)
    return read_slot(cx, owner, info, name, found)


def class_variable(cx: Frame, cls: type, name: str) -> Namespace | None:
    """The class whose attribute a name is for objects of `cls`, if that attribute is written."""
    for base in cls.__mro__ if cx.unit.namespaces else ():
        found = cx.unit.variable_of(base, name)
        if found is not None or name in vars(base):
            return found
    return None


def is_descriptor(found: Any) -> bool:
    return hasattr(type(found), "__get__") and not is_constant(found)


def _of_descriptor(cx: Frame, info: ClassInfo, name: str, found: Any, special: str) -> python_types.FunctionType:
    """What a class of the program's has for `__get__` or `__set__` of an object in another class, under a name."""
    function = reads.lookup(type(found), special)
    own = not hasattr(type(found), "__set__") and name in info.attributes
    if not isinstance(function, python_types.FunctionType) or own or type(found).__module__ in _LIBRARY:
        raise cx.refuse(f"`{info.cls.__name__}.{name}` is a descriptor of class {type(found).__name__}")
    for _, kept in attributes_of(found):  # setattr(owner, self.name, value) may make an attribute
        if isinstance(kept, str) and kept.isidentifier() and reads.lookup(info.cls, kept) is reads.ABSENT:
            info.attribute(cx.unit.lattice, kept)
    return function


#: Where descriptors know more than their attributes tell: locks, what they keep in the object's own dict.
_LIBRARY: Final = ("functools", "enum", "types", "dataclasses", "typing", "weakref")


def read_slot(
    cx: Frame, owner: Value, info: ClassInfo, name: str, default: Any, problem: str = "WP_ATTRIBUTE_ERROR"
) -> Value:
    """An attribute that the object itself holds; `default` is the class's, or None if it has none."""
    from weft.plain.expressions import python_value

    if name not in info.attributes:
        if cx.emitting:  # nobody ever sets it
            cx.raises(problem)
        return Value(cx.site("never"), "0")
    node = info.attribute(cx.unit.lattice, name)
    address = slot_address(cx, owner.code, info, name)
    unset = f"!(((wp_record *){owner.code})->value[0] & {1 << info.slot(name)}LL)"
    if default is not None:
        held = python_value(cx, default)
        result = cx.site("with default")
        cx.flow(node, result)
        cx.flow(held, result)
        made = cx.declared(representation(result))
        with cx.block(f"if ({unset})"):
            cx.write(f"{made} = {cx.as_node(held, result)};")
        with cx.block("else"):
            cx.write(f"{made} = {cx.as_node(cx.load(node, address), result)};")
        return Value(result, made)
    if name not in info.always:
        with cx.block(f"if (WP_UNLIKELY({unset}))"):
            cx.raises(problem)
    return cx.load(node, address)


def slot_address(cx: Frame, owner: str, info: ClassInfo, name: str) -> str:
    if not cx.emitting:
        return "0"
    at = _FIRST_SLOT
    for other, node in info.attributes.items():
        if other == name:
            break
        at += 2 if representation(node) == "v" else 1
    return f"&((wp_record *){owner})->value[{at}]"


def assign(cx: Frame, owner: Value, name: str, new: Value) -> None:
    cx.cases([owner], lambda o: _assign(cx, o, name, new), ("store", name))


def _assign(cx: Frame, owner: Value, name: str, new: Value) -> Value | None:
    from weft.plain.expressions import python_value

    head = owner.head()
    if head.kind == "none":
        cx.raises("WP_ATTRIBUTE_ERROR")
        return cx.none
    is_function = head.kind == "const" and isinstance(head.value, python_types.FunctionType)
    if is_function and name.startswith("__"):
        raise cx.refuse(f"a store into the attribute `{name}` of a function")
    if is_function or (head.kind == "const" and isinstance(head.value, type) and _has_own_names(head.value, name)):
        from weft.plain.expressions import hidden

        variables = cx.unit.written_name(head.value, name)
        set_slot(cx, hidden(cx, variables.owner), variables, name, new)
        return cx.none
    if head.kind != "obj":
        raise cx.refuse(f"a store into the attribute `{name}` of a value of type {head!r}")
    info: ClassInfo = head.key[1]
    found = reads.lookup(info.cls, name)
    if isinstance(found, property):
        if found.fset is None:
            cx.raises("WP_ATTRIBUTE_ERROR")
            return cx.none
        calls.call_function(cx, found.fset, [owner, new])
        return cx.none
    plain = (
        found is reads.ABSENT
        or isinstance(found, python_types.MemberDescriptorType)
        or not hasattr(type(found), "__set__")
    )
    if info.is_exception and (name in _OF_EXCEPTIONS or info.cls.__module__ == "builtins"):
        raise cx.refuse(f"a store into `{info.cls.__name__}.{name}`")
    if not plain:
        put = _of_descriptor(cx, info, name, found, "__set__")
        calls.call_function(cx, put, [python_value(cx, found), owner, new])
        return cx.none
    if _is_frozen(info.cls):
        cx.deoptimise("a store into a frozen object")
        return cx.none
    if found is reads.ABSENT and not has_dict(info.cls):
        cx.raises("WP_ATTRIBUTE_ERROR")
        return cx.none
    set_slot(cx, owner, info, name, new)
    return cx.none


def _has_own_names(cls: type, name: str) -> bool:
    """Whether a store into a class is nothing but that: no metaclass, no descriptor, no special name."""
    held = getattr(cls, name, None)
    plain = type(cls) is type or type(cls).__name__ == "ABCMeta"
    return bool(
        plain
        and cls.__flags__ & _WRITTEN_IN_PYTHON
        and not name.startswith("__")
        and not hasattr(type(held), "__get__")
    )


#: Attributes that every exception has.
_OF_EXCEPTIONS: Final = ("args", "with_traceback", "add_note", "__cause__", "__context__", "__traceback__")


def set_slot(cx: Frame, owner: Value, info: ClassInfo, name: str, new: Value) -> None:
    node = info.attribute(cx.unit.lattice, name)
    if len(info.attributes) > 60:
        raise cx.refuse(f"class `{info.cls.__name__}` has more than 60 attributes")
    cx.flow(new, node)
    cx.written(info.head)
    cx.store(new, node, slot_address(cx, owner.code, info, name))
    bit = 1 << info.slot(name)
    if cx.emitting and has_dict(info.cls):
        later = (1 << len(info.attributes)) - 2 * bit
        cx.write(f"wp_attribute_set((wp_record *){owner.code}, {bit}LL, {later}LL);")
    else:
        cx.write(f"((wp_record *){owner.code})->value[0] |= {bit}LL;")


def _is_frozen(cls: type) -> bool:
    """Whether a data class raises a FrozenInstanceError, which only Python has."""
    return bool(getattr(getattr(cls, "__dataclass_params__", None), "frozen", False))


def delete(cx: Frame, owner: Value, name: str) -> None:
    def one(o: Value) -> Value | None:
        if o.head().kind != "obj":
            raise cx.refuse(f"`del` of the attribute `{name}` of a value of type {o.head()!r}")
        info: ClassInfo = o.head().key[1]
        found = reads.lookup(info.cls, name)
        if isinstance(found, property) and isinstance(found.fdel, python_types.FunctionType):
            calls.call_function(cx, found.fdel, [o])
            return cx.none
        if isinstance(found, property) or _is_frozen(info.cls):
            cx.deoptimise("`del` of an attribute that stays")
            return cx.none
        if is_descriptor(found) and not isinstance(found, python_types.MemberDescriptorType):
            raise cx.refuse(f"`del` of `{info.cls.__name__}.{name}`, a descriptor of class {type(found).__name__}")
        read_slot(cx, o, info, name, None)
        cx.written(info.head)
        if cx.emitting and name in info.attributes:
            cx.write(f"((wp_record *){o.code})->value[0] &= ~{1 << info.slot(name)}LL;")
            cx.write(f"((wp_record *){o.code})->value[0] |= WP_DELETED;")
        return cx.none

    cx.cases([owner], one, ("delete", name))


def has_dict(cls: type) -> bool:
    return bool(getattr(cls, "__dictoffset__", 0))
