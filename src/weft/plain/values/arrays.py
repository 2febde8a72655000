"""NumPy arrays.  In: indices, attributes, methods and operators of arrays; out: inline access to elements, views, and
calls of the run time, or of NumPy where its bits or its order of adding are its own.

An argument is worked on in the caller's memory (native/arrays.c keeps what is overwritten until the call is over).
"""

from __future__ import annotations

import functools
import warnings
from typing import Any, Final

from weft.plain.frame import Frame, Value, numpy_tag
from weft.plain.operators import NUMBERS, make_tuple, payload
from weft.plain.subscripts import Index, Part, Several
from weft.plain.types import DTYPES, NUMPY_SCALARS, Head, Node
from weft.plain.unit import MAX_RANK
from weft.plain.values import WHOLE_SCALARS, as_int, exactly, numpy_scalars, register, sequences

C_ELEMENTS: Final = {
    "bool": "uint8_t",
    "int8": "__INT8_TYPE__",
    "int16": "__INT16_TYPE__",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint8": "uint8_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "float32": "float",
    "float64": "double",
}
_SCALARS: Final = NUMBERS | frozenset(NUMPY_SCALARS)


def dtype_of(head: Head) -> str:
    return str(head.key[1])


def rank_of(head: Head) -> int:
    return int(head.key[2])


def array(cx: Frame, dtype: str, rank: int, code: str, check: bool = False) -> Value:
    """A new array, or view."""
    return cx.heap(cx.unit.array(dtype, rank), code, check)


def type_of(cx: Frame, dtype: str, rank: int) -> str:
    return cx.type_of(cx.unit.array(dtype, rank))


def _array(owner: Value) -> str:
    return f"((wp_array *){owner.code})"


# --- items ----------------------------------------


def item_at(cx: Frame, owner: Value, place: str) -> Value:
    """owner[place], which is in bounds."""
    head = owner.head()
    dtype, rank = dtype_of(head), rank_of(head)
    if rank == 1:
        return element(cx, dtype, f"{_array(owner)}->data + {place} * {_array(owner)}->extent[1]")
    parts = _part_array(cx, [f"{{0, {place}, 0, 0}}"])
    return array(cx, dtype, rank - 1, f"wp_array_view({type_of(cx, dtype, rank - 1)}, {owner.code}, {parts}, 1)")


def element(cx: Frame, dtype: str, address: str) -> Value:
    return numpy_scalars.made(cx, f"np.{dtype}", f"*({C_ELEMENTS[dtype]} *)({address})")


def _parts(cx: Frame, owner: Value, index: Index) -> list[Part]:
    """One part for each axis, as far as they are given; a tuple counts by its items."""
    given_parts: list[Part] = list(index.parts) if isinstance(index, Several) else [index]
    found: list[Part] = []
    for part in given_parts:
        only = part.node.only() if isinstance(part, Value) else None
        if isinstance(part, Value) and only is not None and only.kind == "tuple" and len(given_parts) == 1:
            found += [sequences.tuple_item(cx, part, place) for place in range(len(only.parts))]
        else:
            found.append(part)
    rank = rank_of(owner.head())
    axes = [part for part in found if part is not None and not _is_new_axis(part)]
    if len(axes) > rank:
        raise cx.refuse(f"{len(axes)} indices of a value of type {owner.head()!r}")
    if found.count(None) > 1:
        raise cx.refuse("an index with several ellipses")
    if None in found:
        at = found.index(None)
        whole: Part = (cx.none, cx.none, cx.none)
        found[at : at + 1] = [whole] * (rank - len(axes))
    return found


def _is_new_axis(part: Part) -> bool:
    return isinstance(part, Value) and part.kinds() == {"none"}


def _is_place(part: Part) -> bool:
    return isinstance(part, Value) and part.kinds() <= WHOLE_SCALARS


def _is_gathered(parts: list[Part]) -> bool:
    """Whether arrays are among the indices: NumPy copies then."""
    return any(isinstance(part, Value) and "ndarray" in part.kinds() for part in parts)


def _without_none(cx: Frame, part: Part) -> Part:
    """A place that may be None, which would be a new axis, is one that is not."""
    if not isinstance(part, Value) or "none" not in part.kinds():
        return part
    others = [head for head in part.node if head.kind != "none"]
    if len(others) != 1 or others[0].kind not in WHOLE_SCALARS:
        return part
    test, place = cx.narrowed(part, others[0])
    with cx.block(f"if (!({test}))"):
        cx.deoptimise("None as one of the indices of an array")
    return place


def _is_open(cx: Frame, parts: list[Part]) -> bool:
    """Whether the type of an index is not known as yet: it may be a place, or an array."""
    return not cx.emitting and any(isinstance(part, Value) and not len(part.node) for part in parts)


def _as_array(cx: Frame, part: Part) -> Part:
    """A list of places, or of truth values, is taken for an array of them."""
    from weft.plain.library import arrays

    head = part.node.only() if isinstance(part, Value) else None
    if not isinstance(part, Value) or head is None or head.kind != "list":
        return part
    inner = head.parts[0].root()
    if not len(inner) and not cx.emitting:
        return Value(Node(), "0")
    return arrays.from_items(cx, part, None) if inner.kinds() <= WHOLE_SCALARS | {"bool"} else part


def _check_parts(cx: Frame, parts: list[Part]) -> None:
    for part in parts:
        if isinstance(part, Value) and len(part.node) and not _is_place(part) and not _is_new_axis(part):
            raise cx.refuse(f"an index of type {part.node!r} of an array")


def _place_code(cx: Frame, owner: Value, axis: int, part: Value) -> str:
    place = as_int(cx, part, "an index").code
    return cx.temporary("i", f"wp_axis({owner.code}, {axis}, {place}, {cx.line})")


def _address(cx: Frame, owner: Value, parts: list[Part]) -> str:
    """The address of an element, all of whose places are given."""
    rank = rank_of(owner.head())
    places = []
    for axis, part in enumerate(parts):
        assert isinstance(part, Value)
        with cx.inside(axis):
            places.append(_place_code(cx, owner, axis, part))
    cx.check()
    terms = " + ".join(f"{place} * {_array(owner)}->extent[{rank + axis}]" for axis, place in enumerate(places))
    return f"{_array(owner)}->data + {terms}"


def _part_array(cx: Frame, parts: list[str]) -> str:
    if not cx.emitting:
        return "0"
    name = cx.name()
    cx.write(f"wp_part {name}[] = {{{', '.join(parts) or '{0, 0, 0, 0}'}}};")
    return name


def _view(cx: Frame, owner: Value, parts: list[Part]) -> Value:
    """A part of an array, in its memory."""
    head = owner.head()
    axis, codes, rank = 0, [], rank_of(head)
    for place, part in enumerate(parts):
        with cx.inside(place):
            if isinstance(part, tuple):
                b = sequences.slice_bounds(cx, part, f"{_array(owner)}->extent[{axis}]")
                codes.append(f"{{1, {b}[0], wp_range_length({b}[0], {b}[1], {b}[2]), {b}[2]}}")
                axis += 1
            elif _is_new_axis(part):
                codes.append("{2, 0, 0, 0}")
                rank += 1
            else:
                assert isinstance(part, Value)
                codes.append(f"{{0, {_place_code(cx, owner, axis, part)}, 0, 0}}")
                axis += 1
                rank -= 1
    cx.check()
    if rank > MAX_RANK:
        raise cx.refuse(f"an array of {rank} dimensions")
    listed = _part_array(cx, codes)
    dtype = dtype_of(head)
    return array(cx, dtype, rank, f"wp_array_view({type_of(cx, dtype, rank)}, {owner.code}, {listed}, {len(codes)})")


def get_item(cx: Frame, owner: Value, index: Index) -> Value | None:
    """owner[index]: an element, or a view."""
    parts = [_without_none(cx, _as_array(cx, part)) for part in _parts(cx, owner, index)]
    if _is_open(cx, parts):
        return Value(Node(), "0")
    if _is_gathered(parts):
        return _gathered(cx, owner, parts)
    _check_parts(cx, parts)
    if len(parts) == rank_of(owner.head()) and all(_is_place(part) for part in parts):
        if isinstance(index, Several) and None in index.parts:
            raise cx.refuse("an array of rank 0")
        return element(cx, dtype_of(owner.head()), _address(cx, owner, parts))
    return _view(cx, owner, parts)


def _gathered(cx: Frame, owner: Value, parts: list[Part]) -> Value:
    import operator

    if not all(isinstance(part, Value) for part in parts):
        raise cx.refuse("an index with arrays and slices")
    values = [part for part in parts if isinstance(part, Value)]
    index = values[0] if len(values) == 1 else make_tuple(cx, values, "gathered")
    return by_numpy(cx, operator.getitem, [owner, index], {})


def put_item(cx: Frame, owner: Value, index: Index, new: Value) -> Value | None:
    """owner[index] = new"""
    head = owner.head()
    parts = [_without_none(cx, _as_array(cx, part)) for part in _parts(cx, owner, index)]
    if _is_open(cx, parts):
        return cx.none
    if len(parts) == 1 and _is_gathered(parts):
        assert isinstance(parts[0], Value)
        return _scattered(cx, owner, parts[0], new)
    _check_parts(cx, parts)
    dtype = dtype_of(head)
    if len(parts) == rank_of(head) and all(_is_place(part) for part in parts):
        at = cx.temporary("p", _address(cx, owner, parts))
        code = numpy_scalars.converted(cx, dtype, new)
        if code is None:
            raise cx.refuse(f"a store of a value of type {new.node!r} into an element of an array of {dtype}")
        cx.write(f"if (wp_touch({owner.code}, {at}, {cx.line})) *({C_ELEMENTS[dtype]} *){at} = {code};")
        cx.check()
        return cx.none
    view = _view(cx, owner, parts)
    return _assign(cx, view, new)


def _scattered(cx: Frame, owner: Value, index: Value, new: Value) -> Value | None:
    """owner[index] = new, of an array of places or of truth values."""
    dtype = dtype_of(owner.head())

    def one(places: Value, value: Value) -> Value | None:
        code = cx.tagged(value)
        if value.head().kind in _SCALARS:
            converted = numpy_scalars.converted(cx, dtype, value)
            assert converted is not None
            code = numpy_scalars.literal(dtype, converted)
        elif value.head().kind != "ndarray":
            raise cx.refuse(f"a store of a value of type {value.node!r} into places of an array of {dtype}")
        cx.write(f"wp_array_scatter({owner.code}, {places.code}, {code}, {cx.line});")
        cx.check()
        return cx.none

    return cx.cases([index, new], one, "scatter")


def _assign(cx: Frame, view: Value, new: Value) -> Value | None:
    """view[...] = new"""

    def one(value: Value) -> Value | None:
        kind = value.head().kind
        dtype = dtype_of(view.head())
        if kind == "ndarray":
            cx.write(f"wp_array_assign({view.code}, {value.code}, {cx.line});")
        elif kind in _SCALARS:
            code = numpy_scalars.converted(cx, dtype, value)
            assert code is not None
            cx.write(f"wp_array_fill({view.code}, {numpy_scalars.literal(dtype, code)}, {cx.line});")
        elif kind in ("list", "tuple", "vtuple"):
            from weft.plain.library import arrays

            return _assign(cx, view, arrays.from_items(cx, value, None))
        else:
            raise cx.refuse(f"a store of a value of type {value.node!r} into an array of {dtype}")
        cx.check()
        return cx.none

    return cx.cases([new], one, "assign")


# --- operators ----------------------------------------

#: Operations with loops of our own: those of floats are correctly rounded, those of whole numbers wrap as NumPy's do.
_FLOAT_OPS: Final = {"Add": "'+'", "Sub": "'-'", "Mult": "'*'", "Div": "'/'"}
_WHOLE_OPS: Final = {
    "Add": "'+'",
    "Sub": "'-'",
    "Mult": "'*'",
    "FloorDiv": "'_'",
    "Mod": "'%'",
    "BitAnd": "'&'",
    "BitOr": "'|'",
    "BitXor": "'x'",
    "LShift": "'L'",
    "RShift": "'R'",
}
_BOOL_OPS: Final = {"Add": "'|'", "Mult": "'&'", "BitAnd": "'&'", "BitOr": "'|'", "BitXor": "'x'"}
_COMPARED: Final = {"Eq": "'='", "NotEq": "'!'", "Lt": "'<'", "LtE": "'l'", "Gt": "'>'", "GtE": "'g'"}


def sample(head: Head) -> Any:
    """An array, or a number, of a type."""
    import numpy as np

    if head.kind != "ndarray":
        return numpy_scalars.sample(head.kind)
    rank = rank_of(head)
    made = np.ones((2,) * rank, dtype_of(head))
    if rank == 2 and dtype_of(head) != "bool":
        made[0, 0] = made[1, 1] = 2
    return made


@functools.cache
def result_type(op: str, x: tuple[Any, ...], y: tuple[Any, ...], in_place: bool) -> tuple[str, int] | None:
    """Element type and rank of an operation, as NumPy has them; None if it raises."""
    import operator

    function = numpy_scalars.FUNCTIONS[op]
    if in_place:
        function = getattr(operator, "i" + function.__name__.strip("_"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = function(sample(Head(x)), sample(Head(y)))
        except (TypeError, ValueError):
            return None
    name = getattr(getattr(found, "dtype", None), "name", "")
    return (name, found.ndim) if name in DTYPES else None


def binary(cx: Frame, op: str, a: Value, b: Value, exponent: int | None, in_place: bool) -> Value | None:
    """left op right, one of them an array; `left op= right` stays in the memory of left."""
    x, y = a.head(), b.head()
    if "none" in (x.kind, y.kind):
        return None
    for head in (x, y):
        if head.kind != "ndarray" and head.kind not in _SCALARS:
            raise cx.refuse(f"an operator between values of type {x!r} and {y!r}")
    in_place = in_place and x.kind == "ndarray"
    result = result_type(op, x.key, y.key, in_place)
    common = result_type("Add" if op in _COMPARED or op == "Pow" else op, x.key, y.key, False)
    if result is None or common is None:
        return None
    if op == "Pow" and exponent == 2 and not in_place and dtype_of(x) != "bool":
        return _unary(cx, "'s'", a)
    code = _native_op(op, common[0])
    if code is None:
        if in_place:
            found = by_numpy(cx, numpy_scalars.FUNCTIONS[op], [a, b], {})
            return None if _assign(cx, a, found) is None else a
        return by_numpy(cx, numpy_scalars.FUNCTIONS[op], [a, b], {})
    dtype, rank = result
    tag = numpy_tag(f"np.{common[0]}")
    to = a.code if in_place else "(wp_array *)0"
    made = type_of(cx, dtype, rank)
    call = f"wp_array_binary({made}, {to}, {code}, {tag}, {cx.tagged(a)}, {cx.tagged(b)}, {cx.line})"
    if in_place:
        cx.write(f"{call};")
        cx.check()
        return a
    return array(cx, dtype, rank, call, check=True)


def _native_op(op: str, dtype: str) -> str | None:
    """How the run time names an operation; None if NumPy does it."""
    if op in _COMPARED:
        return _COMPARED[op]
    return (_FLOAT_OPS if "float" in dtype else _BOOL_OPS if dtype == "bool" else _WHOLE_OPS).get(op)


def _unary(cx: Frame, code: str, a: Value) -> Value:
    dtype, rank = dtype_of(a.head()), rank_of(a.head())
    tag = numpy_tag(f"np.{dtype}")
    made = type_of(cx, dtype, rank)
    return array(cx, dtype, rank, f"wp_array_unary({made}, {code}, {tag}, {a.code}, {cx.line})")


def unary(cx: Frame, op: str, a: Value) -> Value | None:
    dtype = dtype_of(a.head())
    if op == "UAdd" and dtype != "bool":
        return copied(cx, a)
    refused = "USub" if dtype == "bool" else "Invert" if "float" in dtype else ""
    return _unary(cx, {"USub": "'n'", "Abs": "'a'", "Invert": "'~'"}[op], a) if op != refused else None


def contains(cx: Frame, owner: Value, item: Value) -> Value | None:
    """item in owner: whether any element is equal."""

    def one(x: Value) -> Value | None:
        if x.head().kind not in _SCALARS:
            return None
        common = result_type("Add", owner.head().key, x.head().key, False)
        if common is None:
            return None
        tag = numpy_tag(f"np.{common[0]}")
        return cx.scalar("bool", f"wp_array_has({owner.code}, {cx.tagged(x)}, {tag})")

    return cx.cases([item], one, "contains")


# --- attributes and methods ----------------------------------------


def attribute(cx: Frame, owner: Value, name: str) -> Value | None:
    head = owner.head()
    rank = rank_of(head)
    if name == "shape":
        return make_tuple(cx, [cx.scalar("int", f"{_array(owner)}->extent[{k}]") for k in range(rank)], "shape")
    if name == "size":
        return cx.scalar("int", f"wp_array_size({owner.code}, {rank})")
    if name == "ndim":
        return cx.literal("int", f"({rank}LL)")
    if name == "T":
        return array(cx, dtype_of(head), rank, f"wp_array_transposed({cx.type_of(head)}, {owner.code})")
    if name in ("itemsize", "nbytes"):
        import numpy as np

        size = np.dtype(dtype_of(head)).itemsize
        return cx.scalar("int", f"{size}LL" if name == "itemsize" else f"{size} * wp_array_size({owner.code}, {rank})")
    raise cx.refuse(f"the attribute `{name}` of a value of type {head!r}")


def copied(cx: Frame, owner: Value, dtype: str | None = None) -> Value:
    """A new array in C order, of another element type perhaps."""
    head = owner.head()
    to, rank = dtype or dtype_of(head), rank_of(head)
    return array(cx, to, rank, f"wp_array_copy({type_of(cx, to, rank)}, {owner.code}, {cx.line})")


@register("ndarray", "copy")
def copy(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "ndarray.copy", arguments, keywords, 0)
    return copied(cx, owner)


@register("ndarray", "fill")
def fill(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value | None:
    exactly(cx, "ndarray.fill", arguments, keywords, 1)
    if not arguments[0].kinds() <= _SCALARS:
        raise cx.refuse(f"`fill` with a value of type {arguments[0].node!r}")
    return _assign(cx, owner, arguments[0])


@register("ndarray", "tolist")
def tolist(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "ndarray.tolist", arguments, keywords, 0)
    return nested_list(cx, owner)


def nested_list(cx: Frame, owner: Value) -> Value:
    """Lists of Python's numbers."""
    from weft.plain import iteration

    made = sequences.new_list(cx, ("tolist", rank_of(owner.head())))
    held = Value(made.node, cx.held("void *", made.code))
    with iteration.loop(cx, iteration.Elements(owner)) as found, cx.inside("row"):
        row = rank_of(owner.head()) > 1
        sequences.append(cx, held, nested_list(cx, found) if row else python_number(cx, found))
    return held


def python_number(cx: Frame, element_: Value) -> Value:
    """The Python number of the same value."""
    kind = element_.head().kind
    plain = "float" if "float" in kind else "bool" if kind == "np.bool" else "int"
    return cx.scalar(plain, payload(element_))


@register("ndarray", "item")
def item(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "ndarray.item", arguments, keywords, rank_of(owner.head()))
    if not all(_is_place(part) for part in arguments):
        raise cx.refuse("`item` with these indices")
    return python_number(cx, element(cx, dtype_of(owner.head()), _address(cx, owner, arguments)))


@register("ndarray", "astype")
def astype(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.library import arrays

    exactly(cx, "ndarray.astype", arguments, keywords, 1)
    dtype = arrays.known_dtype(cx, arguments[0])
    if rank_of(owner.head()) > 1:
        return by_numpy(cx, _method("astype"), [owner, arguments[0]], {})
    return copied(cx, owner, dtype)


@register("ndarray", "reshape")
def reshape(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.library import arrays

    shape = arguments[0] if len(arguments) == 1 else make_tuple(cx, arguments, "shape")
    if keywords or not arguments:
        raise cx.refuse("`reshape` with these arguments")
    extents, rank = arrays.extents(cx, shape)
    dtype = dtype_of(owner.head())
    return array(
        cx, dtype, rank, f"wp_array_reshaped({type_of(cx, dtype, rank)}, {owner.code}, {extents}, {cx.line})", True
    )


@register("ndarray", "ravel")
def ravel(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value | None:
    """A view of an array in C order; of others NumPy makes a copy."""
    exactly(cx, "ndarray.ravel", arguments, keywords, 0)
    with cx.block(f"if (WP_UNLIKELY(!wp_array_is_c({owner.code})))"):
        cx.deoptimise("`ravel` of an array that is not in C order")
    return reshape(cx, owner, [cx.literal("int", "(-1LL)")], {})


@register("ndarray", "transpose")
def transpose(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value | None:
    exactly(cx, "ndarray.transpose", arguments, keywords, 0)
    return attribute(cx, owner, "T")


_REDUCTIONS: Final = {"any": "y", "all": "Y", "min": "m", "max": "M", "argmin": "i", "argmax": "I", "sum": "+"}


def _reduction(name: str) -> Any:
    def rule(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value | None:
        return reduced(cx, name, owner, arguments, keywords)

    return rule


def reduced(cx: Frame, name: str, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    """owner.name(): by loops of our own where the order of elements does not matter, else by NumPy."""
    head = owner.head()
    dtype = dtype_of(head)
    if arguments or keywords or (name == "sum" and ("float" in dtype or dtype.startswith("u"))):
        return by_numpy(cx, _method(name), [owner, *arguments], keywords)
    kind = "np.bool" if name in ("any", "all") else f"np.{dtype}" if name in ("min", "max") else "np.int64"
    return cx.scalar(kind, f"wp_array_reduce('{_REDUCTIONS[name]}', {owner.code}, {cx.line})")


for _name in _REDUCTIONS:
    register("ndarray", _name)(_reduction(_name))


def _method(name: str) -> Any:
    import numpy as np

    return getattr(np.ndarray, name)


def _by_method(name: str) -> Any:
    def rule(cx: Frame, owner: Value, arguments: list[Any], keywords: dict[str, Value]) -> Value:
        return by_numpy(cx, _method(name), [owner, *arguments], keywords)

    return rule


#: Methods that give new arrays and change nothing.
_PURE: Final = "mean std var prod cumsum cumprod dot argsort flatten repeat round clip nonzero take trace searchsorted"
for _name in _PURE.split():
    register("ndarray", _name)(_by_method(_name))


# --- what NumPy computes ----------------------------------------


def by_numpy(cx: Frame, callee: Any, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    """A call of NumPy, for functions that change nothing and give new arrays. The type of the result is that of a call
    with samples; a result of another type deoptimises."""
    from weft.plain.library import arrays

    if not all(isinstance(argument, Value) for argument in arguments):
        raise cx.refuse(f"a call of `{callee.__name__}` with `*`")
    return arrays.call(cx, callee, arguments, keywords)
