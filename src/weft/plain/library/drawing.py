"""Functions of `random`, and methods of its generators.  In: calls; out: the very numbers that CPython draws."""

from __future__ import annotations

import random
from typing import Any, Final

from weft.plain.builtin import Function, called_back, native
from weft.plain.frame import Frame, Value
from weft.plain.models import chance, primitives
from weft.plain.types import scalar_node
from weft.plain.values import as_int, exactly, given, left_out

Keywords = dict[str, Value]

#: The parameters of functions that are models with the same parameters behind the generator.
_MODELS: Final = {
    "uniform": "a b",
    "choice": "seq",
    "shuffle": "x",
    "gauss": "mu sigma",
    "normalvariate": "mu sigma",
    "expovariate": "lambd",
    "triangular": "low high mode",
}


def drawn(cx: Frame, name: str, rng: Value, arguments: list[Any], keywords: Keywords) -> Value:
    """A function of the module (`rng` is None), or a method of a generator."""
    from weft.plain import calls

    if name in _MODELS:
        values = given(cx, f"random.{name}", arguments, keywords, _MODELS[name])
        while values and values[-1] is None:
            values.pop()
        if None in values or (name == "expovariate" and not values):
            raise cx.refuse(f"a call of `random.{name}` with these arguments")
        return calls.call_function(cx, getattr(chance, name), [rng, *values])
    if name in ("randint", "randrange"):
        exactly(cx, f"random.{name}", arguments, keywords, 1 + (name == "randint"), 3 - (name == "randint"))
        bounds = [as_int(cx, bound, "a bound") for bound in arguments]
        if name == "randint":
            return calls.call_function(cx, chance.randint, [rng, *bounds])
        model = (chance.randrange, chance.randrange_between, chance.randrange_by)[len(bounds) - 1]
        return calls.call_function(cx, model, [rng, *bounds])
    if name == "sample":
        population, count = given(cx, "random.sample", arguments, keywords, "population k", 2)
        if population is None or count is None or population.kinds() - {"list", "tuple", "vtuple", "range", "str"}:
            raise cx.refuse("a call of `random.sample` with these arguments")
        return calls.call_function(cx, chance.sample, [rng, population, as_int(cx, count, "a size")])
    return _choices(cx, rng, arguments, keywords)


def _choices(cx: Frame, rng: Value, arguments: list[Any], keywords: Keywords) -> Value:
    from weft.plain import calls

    if len(arguments) > 2:
        raise cx.refuse("a call of `random.choices` with these arguments")
    names = "population weights cum_weights k"
    values, weights, sums, count = given(cx, "random.choices", arguments, keywords, names, 1)
    assert values is not None
    number = cx.literal("int", "1LL") if count is None else as_int(cx, count, "a size")
    if sums is not None:
        return calls.call_function(cx, chance.choices_cumulative, [rng, values, sums, number])
    if weights is not None and not left_out(cx, weights, "weights"):
        return calls.call_function(cx, chance.choices_weighted, [rng, values, weights, number])
    return calls.call_function(cx, chance.choices, [rng, values, number])


def function_for(callee: Any) -> Function | None:
    """The rule of a function of the module; None if there is none."""
    name = getattr(callee, "__name__", "")
    if getattr(random, name, None) != callee or (name not in _NAMES and name not in _OWN):
        return None
    if name in _OWN:
        return _OWN[name]
    return lambda cx, arguments, keywords: drawn(cx, name, cx.none, arguments, keywords)


_NAMES: Final = frozenset((*_MODELS, "randint", "randrange", "sample", "choices"))


def _random(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    exactly(cx, "random.random", arguments, keywords, 0)
    return cx.scalar("float", "wp_random()")


def _bits(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    exactly(cx, "random.getrandbits", arguments, keywords, 1)
    count = as_int(cx, arguments[0], "a number of bits")
    with cx.block(f"if (WP_UNLIKELY((uint64_t){count.code} > 63))"):
        cx.deoptimise("many random bits")
    return cx.scalar("int", f"wp_random_bits({count.code})")


def _seed(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    exactly(cx, "random.seed", arguments, keywords, 0, 1)
    value = arguments[0] if arguments else cx.none
    if value.kinds() - {"none", "int", "float", "str", "bytes", "bool", "big"}:
        raise cx.refuse(f"`random.seed` with a value of type {value.node!r}")
    cx.write(f"wp_random_seed({cx.tagged(value)}, {cx.line});")
    return cx.none


_OWN: Final[dict[str, Function]] = {"random": _random, "getrandbits": _bits, "seed": _seed}


# --- the primitives of the models ----------------------------------------


@native(primitives.random_float)
def _float_of(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    rng = arguments[0]
    if rng.kinds() == {"none"}:
        return cx.scalar("float", "wp_random()")
    return called_back(cx, random.Random.random, [rng], scalar_node("float"))


@native(primitives.random_bits)
def _bits_of(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    rng, count = arguments
    if rng.kinds() == {"none"}:
        return cx.scalar("int", f"wp_random_bits({count.code})")
    return called_back(cx, random.Random.getrandbits, [rng, count], scalar_node("int"))


@native(primitives.random_gauss)
def _gauss(cx: Frame, arguments: list[Any], keywords: Keywords) -> Value:
    return cx.scalar("float", "wp_random_gauss()")
