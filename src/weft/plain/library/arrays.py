"""Functions of NumPy.  In: calls; out: new arrays and numbers, by the run time or by NumPy itself.

What makes arrays is native. Every other function in the list below is NumPy's own: it is called with views of the
arguments, and its result is copied in. All of them give new arrays and have no effect.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any, Final

from weft.plain import foreign, operators
from weft.plain.builtin import Function
from weft.plain.called import is_shared, quiet
from weft.plain.frame import Frame, Value
from weft.plain.library import routes
from weft.plain.told import Refusal
from weft.plain.types import DTYPES, NUMPY_SCALARS, Head, Node, representation
from weft.plain.unit import MAX_RANK, Observer
from weft.plain.values import arrays, as_int, exactly, given, numpy_scalars, sequences
from weft.plain.values.arrays import array, dtype_of, rank_of, type_of

_SCALARS: Final = operators.NUMBERS | frozenset(NUMPY_SCALARS)

#: Functions that give new arrays, or numbers, and change nothing.
_PURE: Final = """
    sum prod mean std var median min max amin amax ptp argmin argmax argsort sort cumsum cumprod dot matmul vdot inner
    outer cross kron trace tensordot where clip nonzero argwhere flatnonzero searchsorted bincount histogram unique
    concatenate stack vstack hstack column_stack tile repeat roll diff gradient interp linspace logspace isnan isfinite
    isinf isclose allclose array_equal all any count_nonzero percentile quantile average exp exp2 log log2 log10 log1p
    expm1 sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh hypot power maximum minimum fmax fmin floor ceil rint
    trunc sign mod fmod remainder floor_divide true_divide divide add subtract multiply negative logical_and logical_or
    logical_not logical_xor bitwise_and bitwise_or bitwise_xor invert left_shift right_shift greater greater_equal less
    less_equal equal not_equal take eye identity tri tril triu round around sqrt cbrt abs absolute fabs square
    reciprocal deg2rad rad2deg radians degrees copysign signbit heaviside nan_to_num isin setdiff1d union1d intersect1d
    digitize convolve correlate polyval cov corrcoef lexsort partition argpartition nanmin nanmax nansum nanmean
    insert append delete pad trapezoid ediff1d unwrap sinc vander polyfit polyadd polysub polymul packbits
    unpackbits nanargmin nanargmax nanprod nancumsum nancumprod nanstd nanvar nanmedian nanpercentile nanquantile
    compress extract take_along_axis indices diag diagflat geomspace gcd lcm
    float_power nextafter isposinf isneginf array_equiv setxor1d dstack meshgrid logaddexp logaddexp2 arcsinh arccosh
    arctanh angle conj conjugate positive fix triu_indices tril_indices hanning hamming blackman bartlett kaiser
"""
_PURE_LINALG: Final = "norm solve inv det eigh eigvalsh cholesky qr svd lstsq matrix_rank pinv slogdet cond"
_PURE_FFT: Final = "fftfreq rfftfreq fftshift ifftshift"  # complex arrays have no native form


def function_for(callee: Any) -> Function | None:
    """How a function or class of NumPy is called; None if it is not native."""
    import numpy as np

    name = getattr(callee, "__name__", "")
    if isinstance(callee, type):
        dtype = _dtype_name(callee)
        return None if dtype is None or not issubclass(callee, np.generic) else functools.partial(_scalar_made, dtype)
    rule = _RULES.get(name)
    if rule is not None and getattr(np, name, None) is callee:
        return rule
    homes = ((np, _PURE), (np.linalg, _PURE_LINALG), (np.fft, _PURE_FFT))
    if not any(name in names.split() and getattr(home, name, None) is callee for home, names in homes):
        return None

    def run(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
        return arrays.by_numpy(cx, callee, arguments, keywords)

    return run


# --- types that are known while compiling ----------------------------------------


def _dtype_name(held: Any) -> str | None:
    import numpy as np

    try:
        dtype = np.dtype(held)
    except TypeError:
        return None
    return dtype.name if dtype.name in DTYPES and dtype.isnative else None


def known_dtype(cx: Frame, value: Value | None, default: str = "float64") -> str:
    """The element type that an argument `dtype` names."""
    if value is None or value.kinds() == {"none"}:
        return default
    held = value.text if value.text is not None else value.constant()
    found = _dtype_name(held) if held is not None else None
    if found is None:
        raise cx.refuse(f"a dtype that is not known while compiling, or has no native form: {value.node!r}")
    return found


def extents(cx: Frame, shape: Value) -> tuple[str, int]:
    """A shape as a C array, and its length."""
    head = shape.node.only()
    if head is not None and head.kind == "tuple":
        items = [sequences.tuple_item(cx, shape, place) for place in range(len(head.parts))]
    else:
        items = [shape]
    if not 1 <= len(items) <= MAX_RANK:
        raise cx.refuse(f"an array of {len(items)} dimensions")
    codes = []
    for place, item in enumerate(items):
        with cx.inside(place):
            codes.append(as_int(cx, item, "an extent").code)
    if not cx.emitting:
        return "0", len(items)
    name = cx.name()
    cx.write(f"int64_t {name}[] = {{{', '.join(codes)}}};")
    return name, len(items)


# --- making arrays ----------------------------------------


def new(cx: Frame, dtype: str, shape: Value) -> Value:
    codes, rank = extents(cx, shape)
    return array(cx, dtype, rank, f"wp_array_new({type_of(cx, dtype, rank)}, {codes}, {cx.line})", check=True)


def filled(cx: Frame, made: Value, value: Value) -> Value:
    dtype = dtype_of(made.head())
    code = numpy_scalars.converted(cx, dtype, value)
    if code is None:
        raise cx.refuse(f"an array of {dtype} filled with a value of type {value.node!r}")
    cx.write(f"wp_array_fill({made.code}, {numpy_scalars.literal(dtype, code)}, {cx.line});")
    return made


def _zeros(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    shape, dtype = given(cx, "numpy.zeros", arguments, keywords, "shape dtype", 1)
    if shape is None:
        raise cx.refuse("an array without a shape")
    return new(cx, known_dtype(cx, dtype), shape)


def _ones(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    return filled(cx, _zeros(cx, arguments, keywords), cx.literal("int", "(1LL)"))


def _full(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    shape, value, dtype = given(cx, "numpy.full", arguments, keywords, "shape fill_value dtype", 2)
    if shape is None or value is None:
        raise cx.refuse("a call of `numpy.full` with these arguments")
    return filled(cx, new(cx, _dtype_for(cx, dtype, value), shape), value)


def _dtype_for(cx: Frame, dtype: Value | None, value: Value) -> str:
    """The element type that is asked for, or that of the value."""
    kinds = {"float": "float64", "int": "int64", "bool": "bool"}
    found = {kinds.get(kind, kind.removeprefix("np.")) for kind in value.kinds() & _SCALARS}
    if dtype is None and (len(found) != 1 or not value.kinds() <= _SCALARS):
        raise cx.refuse(f"an array of values of type {value.node!r}", "give a dtype")
    return known_dtype(cx, dtype, found.pop() if found else "float64")


def _like(fill: str | None) -> Function:
    def rule(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
        names = "a dtype" if fill != "full" else "a fill_value dtype"
        parts = given(cx, "numpy.zeros_like", arguments, keywords, names)
        model, dtype, value = parts[0], parts[-1], parts[1] if fill == "full" else cx.literal("int", "(1LL)")

        def one(a: Value) -> Value:
            if a.head().kind != "ndarray" or value is None or (rank_of(a.head()) > 1 and fill is None):
                raise cx.refuse(f"an array like a value of type {a.node!r}")
            to = known_dtype(cx, dtype, dtype_of(a.head()))
            made = _shaped_like(cx, a, to)
            return filled(cx, made, value) if fill is not None else made

        if model is None:
            raise cx.refuse("a call of `numpy.zeros_like` with these arguments")
        return cx.cases([model], one, "like")

    return rule


def _shaped_like(cx: Frame, a: Value, dtype: str) -> Value:
    """NumPy lays it out as the model lies: an array that is not in C order is left to Python."""
    rank = rank_of(a.head())
    if rank > 1:
        with cx.block(f"if (WP_UNLIKELY(!wp_array_is_c({a.code})))"):
            cx.deoptimise("an array like one that is not in C order")
    return array(
        cx, dtype, rank, f"wp_array_new({type_of(cx, dtype, rank)}, ((wp_array *){a.code})->extent, {cx.line})"
    )


def _zeros_like(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    model, dtype = given(cx, "numpy.zeros_like", arguments, keywords, "a dtype", 1)

    def one(a: Value) -> Value:
        if a.head().kind != "ndarray":
            raise cx.refuse(f"an array like a value of type {a.node!r}")
        return _shaped_like(cx, a, known_dtype(cx, dtype, dtype_of(a.head())))

    if model is None:
        raise cx.refuse("a call of `numpy.zeros_like` with these arguments")
    return cx.cases([model], one, "like")


def _arange(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    """arange(start, stop, step) of whole numbers; of others NumPy computes it."""
    from weft.plain import iteration

    if keywords or not all(isinstance(a, Value) and a.kinds() <= {"int", "np.int64"} for a in arguments):
        return arrays.by_numpy(cx, _numpy("arange"), arguments, keywords)
    exactly(cx, "numpy.arange", arguments, keywords, 1, 3)
    codes = []
    for place, a in enumerate(arguments):
        with cx.inside(place):
            codes.append(as_int(cx, a, "a bound").code)
    start, stop, step = ["0", codes[0], "1"] if len(codes) == 1 else [*codes, "1"][:3]
    if len(codes) == 3:
        with cx.block(f"if ({step} == 0)"):
            cx.deoptimise("a step of 0")
    length = cx.scalar("int", f"wp_range_length({start}, {stop}, {step})")
    made = new(cx, "int64", length)
    held = cx.held("wp_array *", made.code)
    number = cx.held("int64_t", "0")
    with iteration.loop(cx, iteration.Counted(start, stop, step, 0)) as item:
        cx.write(f"((int64_t *){held}->data)[{number}++] = {item.code};")
    return Value(made.node, held)


def _numpy(name: str) -> Any:
    import numpy as np

    return getattr(np, name)


def from_items(cx: Frame, items: Value, dtype: Value | None) -> Value:
    """np.array(items): of numbers, or of rows of equal length."""
    head = items.node.only()
    if head is not None and head.kind == "ndarray":
        if rank_of(head) > 1:
            return arrays.by_numpy(cx, _numpy("array"), [items], {} if dtype is None else {"dtype": dtype})
        return arrays.copied(cx, items, known_dtype(cx, dtype, dtype_of(head)))
    if head is None or head.kind not in ("list", "tuple", "vtuple"):
        raise cx.refuse(f"an array of a value of type {items.node!r}")
    inner = _item_node(cx, head)
    if not inner.kinds() <= _SCALARS or not len(inner):
        return arrays.by_numpy(cx, _numpy("array"), [items], {} if dtype is None else {"dtype": dtype})
    return _from_numbers(cx, items, inner, dtype)


def _item_node(cx: Frame, head: Head) -> Node:
    node = cx.site("items of an array")
    for part in head.parts:
        cx.flow(part.root(), node)
    return node


def _from_numbers(cx: Frame, items: Value, inner: Node, dtype: Value | None) -> Value:
    from weft.plain import iteration
    from weft.plain.values import lengths

    to = _dtype_for(cx, dtype, Value(inner, "0"))
    length = lengths.length(cx, items)
    assert length is not None
    if items.head().kind != "tuple":
        with cx.block(f"if ({length.code} == 0)"):
            if dtype is None:
                cx.deoptimise("an array of nothing")
    made = new(cx, to, length)
    held = cx.held("wp_array *", made.code)
    number = cx.held("int64_t", "0")
    element = arrays.C_ELEMENTS[to]
    with iteration.loop(cx, iteration.plan_value(cx, items)) as item:
        code = numpy_scalars.converted(cx, to, item)
        cx.write(f"(({element} *){held}->data)[{number}++] = {code};")
    return Value(made.node, held)


def _array(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    items, dtype = given(cx, "numpy.array", arguments, keywords, "object dtype", 1)
    if items is None:
        raise cx.refuse("a call of `numpy.array` with these arguments")
    return from_items(cx, items, dtype)


def _asarray(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    """An array of this dtype is itself; of anything else a new one is made."""
    items, dtype = given(cx, "numpy.asarray", arguments, keywords, "a dtype", 1)
    if items is None:
        raise cx.refuse("a call of `numpy.asarray` with these arguments")
    head = items.node.only()
    if head is not None and head.kind == "ndarray" and known_dtype(cx, dtype, dtype_of(head)) == dtype_of(head):
        return items
    return from_items(cx, items, dtype)


def _like_method(name: str, method: Callable[..., Value | None]) -> Function:
    """np.reshape(a, ...) of an array is a.reshape(...)"""

    def rule(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
        if not arguments or not all(isinstance(argument, Value) for argument in arguments):
            raise cx.refuse(f"a call of `numpy.{name}` with these arguments")

        def one(a: Value) -> Value:
            found = method(cx, a, arguments[1:], keywords) if a.head().kind == "ndarray" else None
            if found is None:
                raise cx.refuse(f"`numpy.{name}` of a value of type {a.node!r}")
            return found

        return cx.cases([arguments[0]], one, name)

    return rule


def _scalar_made(dtype: str, cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    """np.float64(x)"""
    exactly(cx, f"numpy.{dtype}", arguments, keywords, 0, 1)
    value = arguments[0] if arguments else cx.literal("int", "(0LL)")
    code = numpy_scalars.converted(cx, dtype, value)
    if code is None:
        raise cx.refuse(f"`numpy.{dtype}` of a value of type {value.node!r}")
    return numpy_scalars.made(cx, f"np.{dtype}", code)


def _of_numbers(name: str, compute: Callable[[Frame, Value], Value | None]) -> Function:
    """A function of one number that is exact; of arrays NumPy computes it."""

    def rule(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
        callee = _numpy(name)
        if keywords or len(arguments) != 1 or not isinstance(arguments[0], Value):
            return arrays.by_numpy(cx, callee, arguments, keywords)

        def one(x: Value) -> Value:
            found = compute(cx, x)
            return arrays.by_numpy(cx, callee, [x], {}) if found is None else found

        return cx.cases([arguments[0]], one, name)

    return rule


def _sqrt(cx: Frame, x: Value) -> Value | None:
    if x.head().kind not in ("int", "float", "np.float64", "np.int64"):
        return None
    number = numpy_scalars.as_double(x)
    with cx.block(f"if (WP_UNLIKELY({number} < 0.0))"):
        cx.deoptimise("an operation that NumPy warns of")
    return numpy_scalars.made_float(cx, "np.float64", f"__builtin_sqrt({number})")


def _absolute(cx: Frame, x: Value) -> Value | None:
    kind = x.head().kind
    if kind == "float":
        return numpy_scalars.made_float(cx, "np.float64", f"__builtin_fabs({x.code})")
    return numpy_scalars.unary(cx, "Abs", x) if kind in NUMPY_SCALARS else None


def _asked(name: str) -> Callable[[Frame, Value], Value | None]:
    def rule(cx: Frame, x: Value) -> Value | None:
        if x.head().kind not in ("float", "np.float64"):
            return None
        return numpy_scalars.made_whole(cx, "np.bool", f"!!__builtin_{name}({numpy_scalars.as_double(x)})")

    return rule


def _rounded(name: str) -> Callable[[Frame, Value], Value | None]:
    def rule(cx: Frame, x: Value) -> Value | None:
        if x.head().kind not in ("float", "np.float64"):
            return None
        return numpy_scalars.made_float(cx, "np.float64", f"__builtin_{name}({numpy_scalars.as_double(x)})")

    return rule


def _folded(name: str) -> Function:
    """A fold of all elements of an array, as by the method."""

    def rule(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
        only = arguments[0].node.only() if len(arguments) == 1 and isinstance(arguments[0], Value) else None
        if only is None or only.kind != "ndarray" or keywords:
            return arrays.by_numpy(cx, _numpy(name), arguments, keywords)
        return arrays.reduced(cx, {"amin": "min", "amax": "max"}.get(name, name), arguments[0], [], {})

    return rule


_IN_DOUBLE: Final = frozenset(("int", "float", "np.float64", "np.int64"))


def _by_loop(place: int) -> Callable[[Frame, Value], Value | None]:
    """By NumPy's own loop, called for one number."""

    def rule(cx: Frame, x: Value) -> Value | None:
        if x.head().kind not in _IN_DOUBLE:
            return None
        code = f"wp_numpy_one({place}, {numpy_scalars.as_double(x)}, {cx.line})"
        return numpy_scalars.made_float(cx, "np.float64", code)

    return rule


def _by_loop_of_two(name: str, place: int) -> Function:
    def rule(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
        callee = _numpy(name)
        if keywords or len(arguments) != 2 or not all(isinstance(argument, Value) for argument in arguments):
            return arrays.by_numpy(cx, callee, arguments, keywords)

        def one(x: Value, y: Value) -> Value:
            kinds = {x.head().kind, y.head().kind}
            if not kinds <= _IN_DOUBLE or not kinds & {"float", "np.float64"}:
                return arrays.by_numpy(cx, callee, [x, y], {})
            operands = f"{numpy_scalars.as_double(x)}, {numpy_scalars.as_double(y)}"
            return numpy_scalars.made_float(cx, "np.float64", f"wp_numpy_two({place}, {operands}, {cx.line})")

        return cx.cases(arguments, one, name)

    return rule


def _copy(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    return arrays.by_numpy(cx, _numpy("copy"), arguments, keywords)


_RULES: dict[str, Function] = {
    "zeros": _zeros,
    "empty": _zeros,
    "ones": _ones,
    "full": _full,
    "zeros_like": _zeros_like,
    "empty_like": _zeros_like,
    "ones_like": _like("ones"),
    "full_like": _like("full"),
    "arange": _arange,
    "array": _array,
    "asarray": _asarray,
    "reshape": _like_method("reshape", arrays.reshape),
    "ravel": _like_method("ravel", arrays.ravel),
    "transpose": _like_method("transpose", arrays.transpose),
    "copy": _copy,
    "sqrt": _of_numbers("sqrt", _sqrt),
    "abs": _of_numbers("abs", _absolute),
    "absolute": _of_numbers("abs", _absolute),
    "isnan": _of_numbers("isnan", _asked("isnan")),
    "isinf": _of_numbers("isinf", _asked("isinf")),
    "isfinite": _of_numbers("isfinite", _asked("isfinite")),
    "floor": _of_numbers("floor", _rounded("floor")),
    "ceil": _of_numbers("ceil", _rounded("ceil")),
}
_RULES |= {name: _folded(name) for name in ("any", "all", "min", "max", "amin", "amax", "argmin", "argmax", "sum")}
_RULES |= {name: _of_numbers(name, _by_loop(foreign.LOOPS[name, "d->d"])) for name in foreign.LOOPS_OF_ONE}
_RULES |= {name: _by_loop_of_two(name, foreign.LOOPS[name, "dd->d"]) for name in foreign.LOOPS_OF_TWO}


# --- calls of NumPy ----------------------------------------


def _sample(cx: Frame, value: Value) -> Any:
    """A value of the type of an argument; a constant as it is."""
    head = value.node.only()
    if value.text is not None:
        return value.text
    if head is None:
        raise cx.refuse(f"an argument of NumPy of type {value.node!r}")
    if head.kind == "const":
        return head.value
    if head.kind == "int" and value.code.startswith("(") and value.code.endswith("LL)"):
        return int(value.code[1:-3])
    if head.kind == "bool":
        return value.code == "1"
    return _sample_of(cx, head)


def _sample_of(cx: Frame, head: Head) -> Any:
    if head.kind == "none":
        return None
    if head.kind == "ndarray" or head.kind in _SCALARS:
        return arrays.sample(head)
    if head.kind == "py":
        from weft.plain.library import numpy_random

        return numpy_random.sample(cx, head)
    if head.kind in ("tuple", "list", "vtuple") and (head.kind != "tuple" or head.key[2] is None):
        inner = []
        for part in head.parts:
            only = part.root().only()
            if only is None:
                raise cx.refuse(f"an argument of NumPy of type {head!r}")
            inner.append(_sample_of(cx, only))
        return tuple(inner) if head.kind == "tuple" else inner * 2 if head.kind == "list" else tuple(inner * 2)
    raise cx.refuse(f"an argument of NumPy of type {head!r}")


def call(cx: Frame, callee: Any, arguments: list[Value], keywords: dict[str, Value]) -> Value:
    """callee(*arguments, **keywords) by NumPy."""
    if "out" in keywords:
        raise cx.refuse(f"a call of `{callee.__name__}` with `out`")
    values = [*arguments, *keywords.values()]
    result = cx.site(("numpy", callee.__name__))
    if not all(len(value.node) for value in values):
        return Value(result, "0")
    if not cx.emitting and any(map(_is_open, values)):
        return Value(result, "0")  # what a list holds is not known yet
    if any(len(value.node) > 1 for value in values):
        return _call_of_each(cx, callee, arguments, keywords)
    if cx.writer is None:
        _observe(
            cx, callee, [_sample(cx, a) for a in arguments], {k: _sample(cx, v) for k, v in keywords.items()}, result
        )
        return Value(result, "0")
    name = cx.name()
    cx.write(f"wp_val {name}[] = {{{', '.join(cx.tagged(value) for value in values) or 'wp_of_p(0)'}}};")
    python = cx.writer.called(quiet(callee, len(arguments), tuple(keywords)))
    call = f"{python}, {name}, {len(values)}, {cx.writer.spec(result)}, {cx.line}"
    route = routes.route_for(callee, arguments, keywords, result.only())
    way = "wp_call_python(" if route is None else f"wp_call_numpy(WP_ROUTE_{route.name}, {route.place}, "
    found = cx.temporary("v", f"{way}{call})")
    cx.check()
    letter = representation(result)
    code = found if letter == "v" else f"{found}.u.{'d' if letter == 'd' else 'p' if letter == 'p' else 'i'}"
    return cx.make(result, code)


def _call_of_each(cx: Frame, callee: Any, arguments: list[Value], keywords: dict[str, Value]) -> Value:
    """A call whose arguments may be of several kinds. None among them is an attribute that gets its array later."""

    def one(*values: Value) -> Value:
        if any(len(value.node) > 1 and each.kinds() == {"none"} for value, each in zip(several, values)):
            cx.deoptimise("None where an array is expected")
            return Value(Node(), "0")
        return call(cx, callee, list(values[: len(arguments)]), dict(zip(keywords, values[len(arguments) :])))

    several = [*arguments, *keywords.values()]
    return cx.cases(several, one, ("numpy", callee.__name__))


def _is_open(value: Value) -> bool:
    """Whether nothing has been found as yet that a container holds."""
    return any(not len(part.root()) for head in value.node if head.kind != "py" for part in head.parts)


def _observe(cx: Frame, callee: Any, samples: list[Any], keywords: dict[str, Any], result: Node) -> None:
    """The type of a result, from a call with samples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = callee(*samples, **keywords)
        except Exception as trouble:
            raise cx.refuse(f"a call of `{callee.__name__}` ({type(trouble).__name__}: {str(trouble)[:80]})") from None
    if is_shared(found, [*samples, *keywords.values()]):
        raise cx.refuse(f"a call of `{callee.__name__}` whose result shares memory with an argument")
    seen = (id(cx.instance), id(cx.node), cx.path, _form(found))
    if seen in cx.unit.observed:
        return  # a new tuple in each pass would be a change in each pass
    cx.unit.observed.add(seen)
    try:
        Observer(cx.unit).see(found, result)
    except Refusal as problem:
        raise cx.refuse(f"a call of `{callee.__name__}`: its result is {problem.reason}") from None


def _form(value: Any) -> Any:
    """What `Observer` sees of a value."""
    if isinstance(value, (tuple, list)):
        return type(value), tuple(_form(item) for item in value)
    return type(value), getattr(value, "dtype", None), getattr(value, "ndim", 0)
