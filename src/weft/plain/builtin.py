"""Builtin functions and classes, and those of the standard library that are native.

In: a call; out: its value. A function that is plain Python over others stands in `models/`; what takes an iterable
runs through it without making an iterator (`iteration.plan_of`).
"""

from __future__ import annotations

import ast
import collections
import itertools
import operator
from collections.abc import Callable
from typing import Any, Final

from weft.naming import home_of
from weft.plain import iteration, wide
from weft.plain.binding import Star
from weft.plain.frame import Frame, Value
from weft.plain.types import DICTS, NUMPY_SCALARS, Head, Node, representation, scalar_node
from weft.plain.values import as_int, exactly, given, left_out

Function = Callable[[Frame, list[Any], dict[str, Value]], "Value | None"]
_FUNCTIONS: dict[Any, Function] = {}
#: What runs through its first argument: gets a plan instead of a value.
_CONSUMERS: dict[Any, Callable[[Frame, iteration.Plan, list[Value], dict[str, Value]], Value | None]] = {}


#: Of consumers: their form without an iterable (`list()`, `max(a, b)`), and for kinds that need no loop.
WITHOUT_ITERABLE: dict[Any, Any] = {}
DIRECT: dict[Any, Any] = {}
#: Library functions that are plain Python: names in models/sequences.py. Methods of builtin classes, by class and name.
MODELS: dict[Any, str] = {}
#: Kinds that the first argument of such a function must be of.
MODEL_TAKES: dict[Any, tuple[str, ...]] = {}
CLASS_METHODS: dict[tuple[type, str], Function] = {}


def _loaded() -> None:
    """The modules that fill the tables are loaded."""
    from weft.plain.library import callables, containers, copies, drawing, mathematics, names, printing, scalars, tools
    from weft.plain.values import bytearrays, complexes

    assert all((bytearrays, callables, complexes, containers, copies, drawing))
    assert all((mathematics, names, printing, scalars, tools))


def function_for(callee: Any) -> Function | None:
    from weft.plain.library import drawing, mathematics, numpy_random

    _loaded()
    try:
        found = _FUNCTIONS.get(callee)
    except TypeError:
        return None
    if found is None and is_numpy(callee):
        from weft.plain.library import arrays

        found = arrays.function_for(callee) or numpy_random.module_function(callee)
    if found is None and getattr(callee, "__module__", None) == "math":
        found = mathematics.function_for(callee)
    if found is None and getattr(getattr(callee, "__self__", None), "__module__", "") == "random":
        found = drawing.function_for(callee)
    if found is None and home_of(type(getattr(callee, "__self__", None))) == "numpy.random.mtrand":
        found = numpy_random.function_for(callee)
    if found is None:
        from weft.plain.library import callbacks

        return callbacks.function_for(callee)  # type: ignore[no-any-return]
    return found


def is_numpy(callee: Any) -> bool:
    """Whether a callable is NumPy's."""
    home = getattr(callee, "__module__", None)
    return home_of(type(callee)) == "numpy" or (isinstance(home, str) and home.partition(".")[0] == "numpy")


def native(*callees: Any) -> Callable[[Function], Function]:
    def put(function: Function) -> Function:
        for callee in callees:
            _FUNCTIONS[callee] = function
        return function

    return put


def consumer(*callees: Any) -> Callable[[Any], Any]:
    """Makes a function the form of a builtin that runs through its first argument."""

    def put(function: Any) -> Any:
        for callee in callees:
            _CONSUMERS[callee] = function

            def from_value(
                cx: Frame, arguments: list[Any], keywords: dict[str, Value], callee: Any = callee
            ) -> Value | None:
                return _consume_value(cx, callee, function, arguments, keywords)

            _FUNCTIONS[callee] = from_value
        return function

    return put


def _consume_value(
    cx: Frame, callee: Any, function: Any, arguments: list[Any], keywords: dict[str, Value]
) -> Value | None:
    if any(not isinstance(a, Value) for a in arguments):
        from weft.plain.values import sequences

        if callee not in (min, max):
            raise cx.refuse(f"a call of `{callee.__name__}` with `*`")
        spread = sequences.tuple_from(cx, arguments)
        with cx.block(f"if (WP_UNLIKELY(((wp_list *){spread.code})->length < 2))"):
            cx.deoptimise(f"{callee.__name__}() of one value")  # which Python runs through
        arguments = [spread]
    special = WITHOUT_ITERABLE.get(callee)
    if special is not None and (len(arguments) != 1 or not isinstance(arguments[0], Value)):
        return special(cx, arguments, keywords)  # type: ignore[no-any-return]
    if not arguments or not all(isinstance(a, Value) for a in arguments):
        raise cx.refuse(f"a call of `{callee.__name__}` with these arguments")
    first, rest = arguments[0], arguments[1:]
    direct = DIRECT.get(callee)

    def one(x: Value) -> Value | None:
        if x.head().kind in ("int", "float", "bool", "none"):
            return None
        if direct is not None and not rest:
            found = direct(cx, x, keywords)
            if found is not None:
                return found  # type: ignore[no-any-return]
        return function(cx, iteration.plan_value(cx, x), rest, keywords)  # type: ignore[no-any-return]

    return cx.cases([first], one, ("consume", callee.__name__))


def resolved(cx: Frame, e: ast.expr) -> Any:
    """The builtin or library function that an expression names; None if it names none."""
    from weft.plain.expressions import outside

    if isinstance(e, ast.Name) and cx.instance.variable(e.id) is None:
        found = outside(cx, e.id)
        return found if callable(found) else None
    if isinstance(e, ast.Attribute) and isinstance(e.value, ast.Name) and cx.instance.variable(e.value.id) is None:
        from types import ModuleType

        from weft.frontend import reads

        module = outside(cx, e.value.id)
        if isinstance(module, ModuleType):
            return reads.attribute(module, e.attr)
    return None


def lazy_call(cx: Frame, e: ast.Call) -> Value | None:
    """A call of a builtin that runs through its first argument, itself a call that makes an iterator."""
    from weft.plain.expressions import value

    if not e.args or any(isinstance(a, ast.Starred) for a in e.args) or any(k.arg is None for k in e.keywords):
        return None
    if not isinstance(e.args[0], ast.Call):
        return None
    _loaded()
    callee = resolved(cx, e.func)
    try:
        function = _CONSUMERS.get(callee)
    except TypeError:
        return None
    if function is None or (callee in WITHOUT_ITERABLE and len(e.args) != 1):
        return None
    plan = lazy_plan(cx, e.args[0])
    if plan is None:
        return None
    rest = [value(cx, a) for a in e.args[1:]]
    keywords = {k.arg: value(cx, k.value) for k in e.keywords if k.arg is not None}
    return function(cx, plan, rest, keywords)


# --- iterators that need no object ----------------------------------------


def lazy_plan(cx: Frame, e: ast.expr) -> iteration.Plan | None:
    """range, enumerate, zip, map, filter, reversed, and views of dicts, where a loop runs through them at once."""
    from weft.plain.expressions import value

    if not isinstance(e, ast.Call):
        return None
    if any(isinstance(a, ast.Starred) for a in e.args):
        return None
    if (
        isinstance(e.func, ast.Attribute)
        and e.func.attr in ("keys", "values", "items")
        and not e.args
        and not e.keywords
    ):
        owner = value(cx, e.func.value)
        only = owner.node.only()
        if only is not None and only.kind in DICTS:
            return iteration.Entries(owner, e.func.attr)
        from weft.plain import calls

        name = e.func.attr
        return iteration.plan_value(
            cx, cx.cases([owner], lambda o: calls.call_method(cx, o, name, [], {}), ("method", name))
        )
    callee = resolved(cx, e.func)
    if callee not in (range, enumerate, zip, map, filter, reversed) or (e.keywords and callee is not enumerate):
        return None
    if callee is range:
        return _range_plan(cx, [value(cx, a) for a in e.args])
    if callee is reversed and len(e.args) == 1:
        inner = lazy_range(cx, e.args[0])
        if inner is not None:
            return inner
        return iteration.plan_value(cx, value(cx, e.args[0]), backwards=True)
    if callee is enumerate and e.args:
        plan = iteration.plan_of(cx, e.args[0])
        rest = [value(cx, a) for a in (*e.args[1:], *(k.value for k in e.keywords))]
        first = as_int(cx, rest[0], "the start of enumerate") if rest else cx.literal("int", "0")
        return iteration.Numbered(plan, first)
    if callee is zip:
        plans = []
        for place, a in enumerate(e.args):
            with cx.inside(place):
                plans.append(iteration.plan_of(cx, a))
        return iteration.Together(plans)
    if callee is map and len(e.args) >= 2:
        function = value(cx, e.args[0])
        plans = []
        for place, a in enumerate(e.args[1:]):
            with cx.inside(place):
                plans.append(iteration.plan_of(cx, a))
        return iteration.Mapped(function, plans)
    if callee is filter and len(e.args) == 2:
        return iteration.Filtered(value(cx, e.args[0]), iteration.plan_of(cx, e.args[1]))
    return None


def _range_plan(cx: Frame, bounds: list[Value]) -> iteration.Plan:
    start, stop, step = _range_bounds(cx, bounds)
    sign = 1 if len(bounds) < 3 else 0
    return iteration.Counted(start, stop, step, sign)


def _range_bounds(cx: Frame, bounds: list[Value]) -> tuple[str, str, str]:
    if not 1 <= len(bounds) <= 3:
        raise cx.refuse("a call of `range` with these arguments")
    codes = []
    for place, bound in enumerate(bounds):
        with cx.inside(place):
            codes.append(as_int(cx, bound, "a bound of range").code)
    if len(codes) == 1:
        return "0LL", codes[0], "1LL"
    if len(codes) == 2:
        return codes[0], codes[1], "1LL"
    with cx.block(f"if (WP_UNLIKELY({codes[2]} == 0))"):
        cx.raises("WP_VALUE_ERROR", "range() arg 3 must not be zero")
    return codes[0], codes[1], codes[2]


def lazy_range(cx: Frame, e: ast.expr) -> iteration.Plan | None:
    """reversed(range(...))"""
    from weft.plain.expressions import value

    if isinstance(e, ast.Call) and resolved(cx, e.func) is range and not e.keywords:
        start, stop, step = _range_bounds(cx, [value(cx, a) for a in e.args])
        n = cx.temporary("i", f"wp_range_length({start}, {stop}, {step})")
        last = cx.temporary("i", f"{start} + ({n} - 1) * {step}")
        return iteration.Counted(last, f"({last} - {n} * {step})", f"(-({step}))", 0)
    return None


@native(range)
def _range(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "range", arguments, keywords, 1, 3)
    start, stop, step = _range_bounds(cx, arguments)
    return cx.scalar("range", f"wp_range_new({start}, {stop}, {step})")


def _streams() -> Any:
    from weft.plain.models import streams

    return streams


def _register_iterators() -> None:
    """Iterators as objects: generators of models/streams.py, by function and number of arguments."""
    table: list[tuple[Any, dict[int, str]]] = [
        (enumerate, {1: "enumerated", 2: "enumerated"}),
        (zip, {1: "zipped_one", 2: "zipped", 3: "zipped_three"}),
        (map, {2: "mapped", 3: "mapped_two"}),
        (itertools.count, {0: "count", 1: "count", 2: "count"}),
        (itertools.cycle, {1: "cycle"}),
        (itertools.repeat, {1: "repeat", 2: "repeat_times"}),
        (itertools.chain, {1: "iterate", 2: "chain_two", 3: "chain_three"}),
        (itertools.islice, {2: "islice_stop", 3: "islice_range", 4: "islice_range"}),
        (itertools.takewhile, {2: "takewhile"}),
        (itertools.dropwhile, {2: "dropwhile"}),
        (itertools.accumulate, {1: "accumulate", 2: "accumulate_by", 3: "accumulate_from"}),
        (itertools.pairwise, {1: "pairwise"}),
        (itertools.tee, {1: "tee", 2: "tee"}),
        (itertools.starmap, {2: "starmap"}),
        (itertools.groupby, {1: "grouped_equal", 2: "grouped"}),
        (itertools.compress, {2: "compressed"}),
        (itertools.filterfalse, {2: "filtered_false"}),
        (itertools.permutations, {1: "permutations", 2: "permutations"}),
        (itertools.combinations, {2: "combinations"}),
        (itertools.combinations_with_replacement, {2: "combinations_with_replacement"}),
    ]
    for callee, models in table:

        def make(
            cx: Frame,
            arguments: list[Any],
            keywords: dict[str, Value],
            callee: Any = callee,
            models: dict[int, str] = models,
        ) -> Value:
            from weft.plain import calls
            from weft.plain.values import sequences

            if callee is zip and len(arguments) == 1 and isinstance(arguments[0], Star) and not keywords:
                return _zip_rows(cx, arguments[0].value)
            if callee is zip and any(isinstance(a, Star) for a in arguments) and not keywords:
                return _zip_rows(cx, sequences.tuple_from(cx, arguments))
            if callee is zip and keywords:
                return _zip_strict(cx, arguments, keywords)
            if callee is itertools.chain and not keywords and len(arguments) not in models:
                return _chain_rows(cx, [sequences.tuple_from(cx, arguments)], {})
            if keywords and callee in _PARAMETERS:
                arguments, keywords = _in_order(cx, callee, arguments, keywords), {}
            if callee is itertools.chain and not keywords and isinstance(arguments[0], Star):
                return _chain_rows(cx, [sequences.tuple_from(cx, arguments)], {})
            if len(arguments) not in models or keywords or not all(isinstance(a, Value) for a in arguments):
                raise cx.refuse(f"a call of `{callee.__name__}` with these arguments")
            return calls.call_function(cx, getattr(_streams(), models[len(arguments)]), arguments)

        native(callee)(make)


_register_iterators()


#: Names of the parameters of iterators that are given by keyword.
_PARAMETERS: Final = {
    enumerate: "iterable start",
    itertools.count: "start step",
    itertools.repeat: "object times",
    itertools.groupby: "iterable key",
    itertools.accumulate: "iterable func initial",
    itertools.permutations: "iterable r",
    itertools.combinations: "iterable r",
    itertools.combinations_with_replacement: "iterable r",
}


def _in_order(cx: Frame, callee: Any, arguments: list[Any], keywords: dict[str, Value]) -> list[Any]:
    """Arguments by position; those that are left out, or None, at the end are dropped."""
    values = given(cx, callee.__name__, arguments, keywords, _PARAMETERS[callee])
    if callee is itertools.accumulate and len(values) == 3 and values[2] is not None and values[1] is None:
        from weft.plain.expressions import python_value

        values[1] = python_value(cx, operator.add)
    while values and (values[-1] is None or values[-1].kinds() == {"none"}):
        values.pop()
    if None in values:
        raise cx.refuse(f"a call of `{callee.__name__}` with these arguments")
    return values


def _zip_rows(cx: Frame, rows: Value) -> Value:
    """zip(*rows)"""
    from weft.plain import calls

    kinds = {row.kind for head in rows.node for part in head.parts for row in part}
    model = "zipped_lists" if kinds <= {"list"} else "zipped_fixed" if kinds <= _UNCHANGING else "zipped_rows"
    if any(head.kind not in ("list", "tuple", "vtuple") for head in rows.node):
        model = "zipped_rows"
    return calls.call_function(cx, getattr(_streams(), model), [rows])


#: Kinds of sequences that stay as they are.
_UNCHANGING: Final = {"tuple", "vtuple", "str", "bytes", "range"}


def _zip_strict(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    """zip(a, b, strict=...), where it is known whether it is strict."""
    from weft.plain import calls

    strict = keywords["strict"].code if keywords.keys() == {"strict"} else ""
    if strict == "0" and keywords["strict"].kinds() == {"bool"}:
        return _FUNCTIONS[zip](cx, arguments, {})  # type: ignore[return-value]
    if strict != "1" or len(arguments) != 2 or not all(isinstance(a, Value) for a in arguments):
        raise cx.refuse("a call of `zip` with these arguments")
    return calls.call_function(cx, _streams().zipped_strict, arguments)


@native(itertools.zip_longest)
def _zip_longest(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls

    if len(arguments) != 2 or keywords.keys() - {"fillvalue"} or not all(isinstance(a, Value) for a in arguments):
        raise cx.refuse("a call of `zip_longest` with these arguments")
    return calls.call_function(cx, _streams().zipped_longest, [*arguments, keywords.get("fillvalue", cx.none)])


def _chain_rows(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls

    exactly(cx, "chain.from_iterable", arguments, keywords, 1)
    return calls.call_function(cx, _streams().chained, arguments)


CLASS_METHODS[itertools.chain, "from_iterable"] = _chain_rows


@native(itertools.product)
def _product(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls

    streams = _streams()
    if keywords.keys() == {"repeat"} and len(arguments) == 1:
        return calls.call_function(cx, streams.product_repeat, [*arguments, keywords["repeat"]])
    if keywords or len(arguments) not in (2, 3) or not all(isinstance(a, Value) for a in arguments):
        raise cx.refuse("a call of `itertools.product` with these arguments")
    return calls.call_function(cx, streams.product_two if len(arguments) == 2 else streams.product_three, arguments)


@native(filter)
def _filter(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain import calls

    exactly(cx, "filter", arguments, keywords, 2)
    model = _streams().filtered_true if left_out(cx, arguments[0], "a test") else _streams().filtered
    return calls.call_function(cx, model, arguments)


@native(reversed)
def _reversed(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "reversed", arguments, keywords, 1)
    return iteration.through_generator(cx, arguments[0], backwards=True)


@native(iter)
def _iter(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "iter", arguments, keywords, 1, 2)
    if len(arguments) == 2:
        from weft.plain import calls

        return calls.call_function(cx, _streams().call_until, arguments)
    return iteration.through_generator(cx, arguments[0])


@native(next)
def _next(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    exactly(cx, "next", arguments, keywords, 1, 2)
    return next_value(cx, arguments[0], arguments[1] if len(arguments) > 1 else None)


def next_value(cx: Frame, iterator: Value, default: Value | None) -> Value:
    """next(iterator[, default])"""
    result = cx.site("next value")
    name = cx.declared(representation(result)) if cx.emitting else "0"
    done, past = cx.label("none_left"), cx.label("past")
    item = iteration.next_item(cx, iterator, done)
    cx.flow(item, result)
    cx.write(f"{name} = {cx.as_node(item, result)};")
    cx.write(f"goto {past};")
    cx.write(f"{done}:;")
    if default is None:
        iteration.raise_stop(cx, iterator)
    else:
        cx.flow(default, result)
        cx.write(f"{name} = {cx.as_node(default, result)};")
    cx.write(f"{past}:;")
    return Value(result, name)


# --- types ----------------------------------------


def class_of(head: Head) -> Any:
    """The Python class of values of a head."""
    kind = head.kind
    if kind == "obj":
        return head.key[1].cls
    if kind == "tuple":
        return head.key[2] or tuple
    if kind == "const":
        return type(head.value)
    if kind == "py":
        return head.key[1]
    if kind == "ndarray" or kind in NUMPY_SCALARS:
        import numpy as np

        return np.ndarray if kind == "ndarray" else np.dtype(kind[3:]).type
    return _CLASSES.get(kind)


_CLASSES: Final = {
    "int": int,
    "big": int,
    "float": float,
    "bool": bool,
    "none": type(None),
    "str": str,
    "bytes": bytes,
    "bytearray": bytearray,
    "complex": complex,
    "list": list,
    "vtuple": tuple,
    "set": set,
    "frozenset": frozenset,
    "dict": dict,
    "defaultdict": collections.defaultdict,
    "Counter": collections.Counter,
    "OrderedDict": collections.OrderedDict,
    "deque": collections.deque,
    "range": range,
    "slice": slice,
}
#: Those of which there is a sample without arguments.
SAMPLED: Final = frozenset(_CLASSES.values()) - {range, slice}


def _known(cx: Frame, e: ast.expr) -> Any:
    """The class that an expression names, also by a variable that holds nothing else."""
    found = cx.instance.variable(e.id) if isinstance(e, ast.Name) else None
    if found is None:
        return resolved(cx, e)
    head = found[0].only()
    return head.value if head is not None and head.kind == "const" else None


def is_instance(cx: Frame, head: Head, e: ast.expr) -> bool | None:
    """isinstance(value of this head, e), if that is known while compiling."""
    classes = [_known(cx, item) for item in e.elts] if isinstance(e, ast.Tuple) else [_known(cx, e)]
    mine = class_of(head)
    if mine is None or any(not isinstance(cls, type) for cls in classes):
        return None
    return issubclass(mine, tuple(classes))


@native(isinstance)
def _isinstance(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.values import sequences

    exactly(cx, "isinstance", arguments, keywords, 2)
    wanted = arguments[1]
    head = wanted.node.only()
    if head is not None and head.kind == "tuple":
        classes = [sequences.tuple_item(cx, wanted, place).constant() for place in range(len(head.parts))]
    elif len(wanted.node) > 1 and all(h.kind == "const" and isinstance(h.value, type) for h in wanted.node):
        return cx.cases(arguments, lambda x, cls: _isinstance(cx, [x, cls], {}), "isinstance of one")
    else:
        classes = [wanted.constant()]
    if any(not isinstance(cls, type) for cls in classes):
        raise cx.refuse("`isinstance` with a class that is not known while compiling")

    def one(x: Value) -> Value:
        mine = class_of(x.head())
        if mine is None:
            raise cx.refuse(f"`isinstance` of a value of type {x.head()!r}")
        return cx.literal("bool", "1" if issubclass(mine, tuple(classes)) else "0")

    return cx.cases([arguments[0]], one, "isinstance")


@native(type)
def _type(cx: Frame, arguments: list[Any], keywords: dict[str, Value]) -> Value:
    from weft.plain.expressions import python_value

    exactly(cx, "type", arguments, keywords, 1)

    def one(x: Value) -> Value:
        mine = class_of(x.head())
        if mine is None:
            raise cx.refuse(f"`type` of a value of type {x.head()!r}")
        return python_value(cx, mine)

    return cx.cases([arguments[0]], one, "type")


def class_method(cls: type, name: str) -> Function | None:
    """dict.fromkeys and the like."""
    from weft.plain.library import callbacks

    _loaded()
    return CLASS_METHODS.get((cls, name)) or callbacks.class_method(cls, name)


def model_for(callee: Any) -> Any:
    """The model of a library function; None if there is none."""
    from weft.plain.models import sequences as models

    _loaded()
    try:
        name = MODELS.get(callee)
    except TypeError:
        return None
    return None if name is None else getattr(models, name)


def by_python(cx: Frame, callee: Any, arguments: list[Value], kind: str) -> Value:
    """A function without effect that Python itself runs."""
    if kind == "int" and wide.may_be_wide(cx):
        return called_back(cx, callee, arguments, wide.any_whole())
    if cx.writer is None:
        cx.unit.constant(callee)
        return cx.literal(kind, "0")
    array = cx.name()
    cx.write(f"wp_val {array}[] = {{{', '.join(cx.tagged(a) for a in arguments)}}};")
    spec = cx.writer.spec(scalar_node(kind))
    python = cx.writer.called(callee)
    result = cx.temporary("v", f"wp_call_python({python}, {array}, {len(arguments)}, {spec}, {cx.line})")
    cx.check()
    letter = {"int": "i", "float": "d", "bool": "b"}.get(kind, "p")
    return cx.scalar(kind, cx.as_repr(Value(scalar_node(kind, "int", "float"), result), letter))


def called_back(cx: Frame, callee: Any, arguments: list[Value], result: Node) -> Value:
    """A call of a function without effect that Python runs, whose result is of these kinds; any other deoptimises."""
    if cx.writer is None:
        cx.unit.constant(callee)
        return Value(result, "0")
    array = cx.name()
    values = ", ".join(cx.tagged(argument) for argument in arguments) or "wp_of_p(0)"
    cx.write(f"wp_val {array}[] = {{{values}}};")
    python, spec = cx.writer.called(callee), cx.writer.spec(result)
    found = cx.temporary("v", f"wp_call_python({python}, {array}, {len(arguments)}, {spec}, {cx.line})")
    cx.check()
    letter = representation(result)
    part = {"i": ".u.i", "b": ".u.i", "d": ".u.d", "p": ".u.p", "v": ""}[letter]
    return Value(result, cx.temporary(letter, f"{found}{part}"))
