"""Random numbers of NumPy: methods of `Generator` and `RandomState`, and the functions of `numpy.random`.

In: calls; out: the very numbers that NumPy draws. Single numbers come straight from the bits of the generator;
arrays, and the rarer distributions, are drawn by NumPy itself. Both work on the call's copy of the generator.
"""

from __future__ import annotations

from typing import Any, Final

from weft.plain import foreign, operators
from weft.plain.builtin import Function
from weft.plain.frame import Frame, Value
from weft.plain.library import arrays, callbacks
from weft.plain.types import NUMPY_SCALARS, Head
from weft.plain.values import as_int, given, numpy_scalars

Keywords = dict[str, Value]

_NUMBERS: Final = operators.NUMBERS | frozenset(NUMPY_SCALARS)
#: Methods that draw a single number natively, and their parameters.
_SINGLE: Final = {
    ("Generator", "random"): "",
    ("Generator", "standard_normal"): "",
    ("Generator", "standard_exponential"): "",
    ("Generator", "uniform"): "low high",
    ("Generator", "normal"): "loc scale",
    ("Generator", "exponential"): "scale",
    ("Generator", "integers"): "low high",
    ("RandomState", "random"): "",
    ("RandomState", "random_sample"): "",
    ("RandomState", "rand"): "",
    ("RandomState", "uniform"): "low high",
    ("RandomState", "randint"): "low high",
}


def function_for(callee: Any) -> Function | None:
    """How a function of `numpy.random` is called: it is a method of a generator that the module keeps."""
    owner, name = callee.__self__, callee.__name__
    rule = callbacks.METHODS.get((type(owner).__name__, name))
    if rule is None:
        return None

    def run(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
        from weft.plain.expressions import hidden

        return rule(cx, hidden(cx, owner), arguments, keywords)  # type: ignore[no-any-return]

    return run


def sample(cx: Frame, head: Head) -> Any:
    """A generator to try a call with."""
    import numpy as np

    cls = head.key[1]
    if cls not in (np.random.Generator, np.random.RandomState):
        raise cx.refuse(f"an argument of NumPy of type {head!r}")
    return cls(np.random.MT19937(0))


def _drawn(cls: str, name: str) -> Any:
    def rule(cx: Frame, owner: Value, arguments: list[Any], keywords: Keywords) -> Value:
        if not len(owner.node):
            return Value(cx.site(("drawn", name)), "0")
        names = _SINGLE.get((cls, name))
        given_ = [*arguments, *keywords.values()]
        is_single = names is not None and len(given_) <= len(names.split()) and set(keywords) <= set(names.split())
        if is_single and all(isinstance(value, Value) and value.kinds() <= _NUMBERS for value in given_):
            assert names is not None
            return _single(cx, cls, name, owner.code, given(cx, name, arguments, keywords, names))
        return arrays.call(cx, getattr(owner.head().key[1], name), [owner, *arguments], keywords)

    return rule


def _single(cx: Frame, cls: str, name: str, owner: str, values: list[Value | None]) -> Value:
    """One number. What NumPy refuses, or may refuse, deoptimises."""
    if name in ("integers", "randint"):
        return _whole(cx, cls, owner, *values)
    numbers = [_double(cx, value, place) for place, value in enumerate(values)]
    if name == "uniform":
        low, high = numbers[0] or "0.0", numbers[1] or "1.0"
        width = cx.held("double", f"{high} - {low}")
        with cx.block(f"if (WP_UNLIKELY(!({width} >= 0.0) || __builtin_isinf({width})))"):
            cx.deoptimise("a range that NumPy may refuse")
        return cx.scalar("float", f"({low} + {width} * {_draw('double', cx, owner)})")
    if name in ("normal", "exponential"):
        scale = cx.held("double", numbers[-1] or "1.0")
        with cx.block(f"if (WP_UNLIKELY(__builtin_signbit({scale}) || __builtin_isnan({scale})))"):
            cx.deoptimise("a scale that NumPy may refuse")
        drawn = f"{scale} * {_draw(name, cx, owner)}"
        return cx.scalar("float", f"({numbers[0] or '0.0'} + {drawn})" if name == "normal" else f"({drawn})")
    kind = name.removeprefix("standard_") if name.startswith("standard_") else "double"
    return cx.scalar("float", _draw(kind, cx, owner))


def _draw(kind: str, cx: Frame, owner: str) -> str:
    return f"wp_draw_{kind}({owner}, {cx.line})"


def _whole(cx: Frame, cls: str, owner: str, low: Value | None, high: Value | None) -> Value:
    if low is None:
        raise cx.refuse("a random whole number without a bound")
    with cx.inside("low"):
        first = as_int(cx, low, "a bound").code
    if high is None:
        first, last = "0", first
    else:
        with cx.inside("high"):
            last = as_int(cx, high, "a bound").code
    masked = int(cls == "RandomState")
    drawn = f"wp_draw_whole({owner}, {first}, {last}, {masked}, {cx.line})"
    return cx.scalar("int", drawn) if masked else numpy_scalars.made(cx, "np.int64", drawn)


def _double(cx: Frame, value: Value | None, place: int) -> str | None:
    if value is None:
        return None

    def one(x: Value) -> Value | None:
        return cx.scalar("float", numpy_scalars.as_double(x)) if x.head().kind in _NUMBERS else None

    with cx.inside(place):
        return cx.settled(cx.cases([value], one, "parameter"), "float").code


def _seed(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    """np.random.seed(n): the module's own function, for its generator."""
    import numpy as np

    from weft.plain.expressions import hidden

    owner = hidden(cx, np.random.mtrand._rand)
    result = callbacks.result_node(cx, "None")
    return callbacks.call(cx, np.random.RandomState.seed, [owner, *arguments], keywords, result)


def module_function(callee: Any) -> Function | None:
    """np.random.seed is no method, as the others are."""
    import numpy as np

    return _seed if callee is np.random.seed else None


for _cls in ("Generator", "RandomState"):
    for _name in foreign.DRAWS:
        callbacks.METHODS[_cls, _name] = _drawn(_cls, _name)
