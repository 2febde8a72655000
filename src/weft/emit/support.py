"""What generated Python calls, as text.  In: the names that a module uses; out: definitions that need NumPy alone."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

from weft.codegen import python_support
from weft.ir.routines import ROUTINES

_ELEMENTS = '''
def _elements(function, count):
    """A function of `math` on numbers and arrays, total: where it raises, NaN or infinity."""
    def total(*values):
        try:
            return function(*map(float, values))
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf
    each = np.frompyfunc(total, count, 1)
    def evaluate(*values):
        kind = np.result_type(*values)
        return np.asarray(each(*values)).astype(kind if kind.kind == "f" else np.float64)[()]
    return evaluate
'''
_TEXTS = {
    **{name: f"{name} = _elements(math.{name}, 1)\n" for name in ("erf", "erfc", "gamma", "lgamma")},
    "remainder": "remainder = _elements(math.remainder, 2)\n",
    "ldexp": (
        "def ldexp(value, exponent):\n    return np.ldexp(value, np.clip(exponent, -5000, 5000).astype(np.int32))\n"
    ),
    "mantissa": "def mantissa(value):\n    return np.frexp(value)[0]\n",
    "exponent": "def exponent(value):\n    return np.frexp(value)[1].astype(np.asarray(value).dtype)\n",
    "bitcount": "def bitcount(value):\n    return type(value)(bin(abs(int(value))).count('1'))\n",
    "ratio": "def ratio(left, right):\n    return int(left) / int(right)\n",
    "literal_eval": "from ast import literal_eval\n",
    "original": "def original(value):\n    return value\n",
}
#: Taken over as they are written in weft.
_OWN = ("make_complex", "truncated_mod", "sign", "linear_view")
_NEEDS_ELEMENTS = frozenset({"erf", "erfc", "gamma", "lgamma", "remainder"})
_GUARD = '''
class GuardFailed(Exception):
    """A condition of a variant does not hold: the function as written runs."""
'''
_ROUTINE = '''
def run_routine(name, types, inputs, outputs):
    """Call a generalised ufunc of NumPy's own; whether it succeeded."""
    module, title, fails = _ROUTINES[name]
    if module == "numpy":
        what, _, kind = name.partition("_")
        outputs[0][...] = getattr(np, what)(inputs[0], axis=-1, kind=kind)
        return True
    failures = []
    function = getattr(importlib.import_module(module), title)
    invalid = "call" if fails else "ignore"
    with np.errstate(call=lambda kind, flag: failures.append(kind), invalid=invalid, over="ignore", divide="ignore"):
        function(*inputs, out=tuple(outputs), signature=types)
    return not failures
'''


def known(names: Iterable[str]) -> bool:
    """Whether all these names have a definition."""
    return set(names) <= {*_TEXTS, *_OWN, "run_routine", "GuardFailed"}


def definitions(names: Iterable[str], routines: Iterable[str]) -> str:
    """The definitions of these names; `routines`: the library routines that are called."""
    used = sorted(set(names))
    parts = [_GUARD]
    if _NEEDS_ELEMENTS & set(used):
        parts.append(_ELEMENTS)
    parts += [_TEXTS[name] for name in used if name in _TEXTS]
    parts += [inspect.getsource(getattr(python_support, name)) for name in used if name in _OWN]
    if "run_routine" in used:
        table = {
            name: (ROUTINES[name].module, ROUTINES[name].name, ROUTINES[name].fails) for name in sorted(set(routines))
        }
        parts.append(f"_ROUTINES = {table!r}\n{_ROUTINE}")
    return "\n".join(part.strip("\n") + "\n\n" for part in parts)
