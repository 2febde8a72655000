"""Arrays: expressions over them, and calls of everything in the knowledge base with the arguments it covers.

The table of functions is weft's own (`weft support`), so that a new entry is hunted from the day it is there; what an
argument may be is told by its name.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from tests.hunt.expressions import array_literal, expression, index
from tests.hunt.writer import Type, Writer
from weft.report import support

#: Left out: what gives memory as it is found there, or asks for more than arrays and numbers.
_OMITTED = {"np.empty", "np.empty_like", "np.fromfunction", "np.piecewise", "np.finfo", "np.iinfo", "np.dtype"}
_OMITTED |= {"np.isdtype", "np.issubdtype", "np.mgrid", "np.ogrid", "np.r_", "np.c_", "np.s_", "np.index_exp"}
_OMITTED |= {"np.ndindex", "np.ndenumerate", "np.vectorize", "ndarray.tobytes", "ndarray.item", "np.select"}
_FAMILIES = ("np", "ufunc", "np.linalg", "np.fft", "ndarray")


@functools.cache
def functions() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Names and covered parameters of what is native, without aliases."""
    found = []
    for row in support.rows():
        if row.path == "Python" or row.alias_of or row.name in _OMITTED or row.family not in _FAMILIES:
            continue
        found.append((row.name, row.covered))
    return tuple(found)


# --- arguments by the name of their parameter -----------------------------------------------------------------------


def operand(w: Writer, ranks: tuple[int, ...] = ()) -> str:
    """An array in scope, a view of one, an expression of them, or a number."""
    arrays = [(name, of) for name, of in w.holding("array") if not ranks or of[2] in ranks]
    if not arrays or w.chance(4):
        return w.pick(("2", "0.5", "-1", "3.0", "True"))
    name, of = w.pick(arrays)
    form = w.number(0, 15)
    if form < 8:
        return name
    if form == 8:
        return f"{name}[::-1]"
    if form == 9:
        return f"{name}.T"
    if form == 10:
        return f"{name}[1:]"
    if form == 11:
        return f"{name}[::2]"
    if form == 12:
        return f"({name} {w.pick('+-*')} {w.pick(('1', '0.5', '2', name))})"
    if form == 13 and of[2] > 1:
        return w.pick((f"{name}[0]", f"{name}[:, 0]", f"{name}[:, 1:]", f"{name}[..., ::-1]", f"{name}[-1]"))
    if form == 14:
        return w.pick((f"{name}[{name} > 0]", f"{name}[None]", f"{name}[..., None]", f"{name}[:0]", f"{name}[:1]"))
    if form == 15 and w.chance(40):
        return w.pick(("[1, 2, 3]", "[0.5, 1.5]", "[[1, 2], [3, 4]]", "()", "[True, False]"))
    return name


def _axis(w: Writer) -> str:
    return w.pick(("0", "0", "-1", "-1", "1", "None", "2", "(0, 1)", "-2", "()"))


def _integers(w: Writer) -> str:
    """Integers: places in an array, shifts, counts."""
    arrays = [name for name, of in w.holding("array") if of[1] in ("int64", "int32", "uint8", "int16")]
    own = [w.pick(arrays)] * 3 if arrays else []
    return w.pick(
        (*own, "0", "1", "-1", "2", "[0, 1]", "[1, 0, 1]", "np.array([0, 2])", "[-1]", "[]", "np.array([1, 1, 0])")
    )


def _mask(w: Writer) -> str:
    arrays = w.holding("array")
    if not arrays:
        return "True"
    name, of = w.pick(arrays)
    return w.pick((f"{name} > 0", f"{name} != 0", f"{name} == {name}", "True", "False", name, f"{name}[0] > 0"))


def _shape(w: Writer) -> str:
    return w.pick(("3", "(2, 3)", "(4,)", "-1", "(-1, 1)", "(1, -1)", "(2, -1)", "()", "(0, 3)", "(3, 2)", "(2, 2)"))


def _dtype(w: Writer) -> str:
    return w.pick(
        ("np.float64", "np.float32", "np.int64", "float", "int", "bool", "np.complex128", "np.int32", "np.uint8")
    )


def _out(w: Writer) -> str:
    arrays = w.holding("array")
    return w.pick(arrays)[0] if arrays else "None"


def _several(w: Writer) -> str:
    left, right = w.pick("(["), ", ".join(operand(w) for _ in range(w.number(1, 3)))
    return f"({right},)" if left == "(" else f"[{right}]"


Maker = Callable[[Writer], str]


def _choice(*options: str) -> Maker:
    return lambda w: w.pick(options)


_SMALL = _choice("0", "1", "2", "-1", "3")
_SWITCH = _choice("True", "False")
_ARGUMENTS: dict[str, Maker] = {
    "axis": _axis,
    "axis1": _choice("0", "1", "-1"),
    "axis2": _choice("1", "0", "-2"),
    "axes": _choice("None", "(1, 0)", "0", "1", "(0, 1)", "(-1,)", "2", "([0], [1])"),
    "axisa": _SMALL,
    "axisb": _SMALL,
    "axisc": _SMALL,
    "keepdims": _SWITCH,
    "dtype": _dtype,
    "out": _out,
    "where": _mask,
    "initial": _choice("0", "1", "2.5", "-3", "10"),
    "casting": _choice("'same_kind'", "'unsafe'", "'safe'"),
    "order": _choice("'C'", "'F'", "'K'", "'A'"),
    "subok": _SWITCH,
    "ddof": _choice("0", "1", "2", "0.5"),
    "correction": _choice("0", "1"),
    "mean": _choice("0.0"),
    "indices": _integers,
    "obj": lambda w: w.pick((_integers(w), "slice(1, None)", _mask(w))),
    "ind": _integers,
    "repeats": lambda w: w.pick(("2", "0", "3", "[1, 2, 0]", _integers(w))),
    "shift": _choice("1", "-1", "0", "5", "(1, 2)", "-7"),
    "shape": _shape,
    "new_shape": _shape,
    "dimensions": _choice("(2, 3)", "(3,)", "(1, 2, 2)"),
    "dims": _choice("(3, 4)", "(9, 9)"),
    "multi_index": _choice("([0, 1], [2, 1])", "(1, 2)"),
    "k": _choice("0", "1", "-1", "2", "-3"),
    "offset": _choice("0", "1", "-1"),
    "n": _choice("1", "2", "3", "0", "4", "5"),
    "N": _choice("3", "2", "0", "4"),
    "M": _choice("3", "None", "2"),
    "num": _choice("5", "0", "1", "2", "7"),
    "start": _choice("0", "1", "-1.5", "2", "0.0"),
    "stop": _choice("5", "10", "1.5", "3", "-2"),
    "step": _choice("1", "2", "0.5", "-1", "3"),
    "endpoint": _SWITCH,
    "retstep": _SWITCH,
    "base": _choice("2.0", "10.0"),
    "decimals": _choice("0", "1", "2", "-1"),
    "mode": _choice(
        "'valid'", "'same'", "'full'", "'constant'", "'edge'", "'wrap'", "'clip'", "'raise'", "'reflect'", "'reduced'"
    ),
    "method": _choice("'linear'", "'lower'", "'higher'", "'nearest'", "'midpoint'"),
    "q": _choice("0.5", "50", "[0.25, 0.75]", "0", "1", "0.1"),
    "side": _choice("'left'", "'right'"),
    "kind": _choice("'stable'", "None", "'quicksort'", "'mergesort'"),
    "stable": _choice("True", "None"),
    "right": _SWITCH,
    "invert": _SWITCH,
    "assume_unique": _choice("False"),
    "return_index": _SWITCH,
    "return_inverse": _SWITCH,
    "return_counts": _SWITCH,
    "return_indices": _SWITCH,
    "returned": _SWITCH,
    "include_initial": _SWITCH,
    "equal_nan": _SWITCH,
    "rtol": _choice("1e-5", "0.5", "0"),
    "atol": _choice("0.0", "0.5", "1e-8"),
    "minlength": _choice("0", "5", "12"),
    "bins": lambda w: w.pick(("4", "1", "10", "[0, 1, 2]", "np.array([-1.0, 0.5, 2.0, 3.0])")),
    "range": _choice("(0, 2)", "(-1.0, 1.0)", "None"),
    "density": _SWITCH,
    "pad_width": _choice("1", "(1, 2)", "0", "((1, 0), (0, 2))", "2"),
    "constant_values": _choice("0", "3", "(1, 2)"),
    "reps": _choice("2", "(2, 1)", "0", "(1, 2, 2)", "3"),
    "indices_or_sections": _choice("2", "3", "[1, 2]", "1", "[0, 2, 5]"),
    "source": _choice("0", "1", "-1"),
    "destination": _choice("-1", "0", "1"),
    "subscripts": _choice("'ij,jk'", "'i,i'", "'ij->ji'", "'ij->'", "'ii'", "'i,j->ij'", "'ij,j->i'", "'ij,ij->j'"),
    "nan": _choice("0.0", "1.5"),
    "posinf": _choice("None", "9.0"),
    "neginf": _choice("None", "-9.0"),
    "left": _choice("None", "-1.0", "0"),
    "period": _choice("None", "3", "2.5"),
    "dx": _choice("1.0", "0.5", "2"),
    "d": _choice("1.0", "0.5"),
    "norm": _choice("None", "'ortho'", "'forward'", "'backward'"),
    "s": _choice("None", "(2, 2)", "(4, 3)"),
    "ord": _choice("None", "1", "2", "np.inf", "-np.inf", "0", "'fro'", "3", "-1"),
    "rowvar": _SWITCH,
    "bias": _SWITCH,
    "copy": _SWITCH,
    "sparse": _SWITCH,
    "indexing": _choice("'xy'", "'ij'"),
    "ndmin": _choice("0", "1", "2", "3"),
    "ndim": _choice("2", "1", "3"),
    "edge_order": _choice("1", "2"),
    "prepend": _choice("0", "1.5"),
    "append": _choice("0", "2"),
    "to_end": _choice("None", "1", "[1, 2]"),
    "to_begin": _choice("None", "0", "[0]"),
    "min": _choice("0", "None", "-0.5", "1"),
    "max": _choice("1", "None", "2.5", "0"),
    "a_min": _choice("0", "None", "-0.5", "1"),
    "a_max": _choice("1", "None", "2.5", "0"),
    "fill_value": _choice("0", "1.5", "True", "-1", "7"),
    "val": _choice("0", "1.5", "-1"),
    "vals": _choice("[1, 2]", "0", "[0.5]"),
    "wrap": _choice("False"),
    "deg": _SWITCH,
    "mask": _mask,
    "condition": _mask,
    "weights": lambda w: w.pick(("None", operand(w))),
    "sorter": _choice("None"),
    "optimize": _SWITCH,
    "overwrite_input": _choice("False"),
    "default": _choice("0", "-1.5"),
    "tup": _several,
    "arrays": _several,
    "choices": _several,
    "condlist": lambda w: f"[{_mask(w)}, {_mask(w)}]",
    "UPLO": _choice("'L'", "'U'"),
    "upper": _SWITCH,
    "full_matrices": _SWITCH,
    "compute_uv": _SWITCH,
    "hermitian": _choice("False"),
    "rcond": _choice("None"),
    "tol": _choice("None"),
    "type1": _dtype,
    "type2": _dtype,
    "from_": _dtype,
    "to": _dtype,
    "device": _choice("None"),
    "min_value": _SMALL,
}
_NEVER = {"device", "like"}


def call(w: Writer) -> tuple[str, bool]:
    """A call of a function of the knowledge base, as text; whether it is a statement (`np.put`, ufunc.at)."""
    name, covered = w.pick(functions())
    if name.startswith("np.") and name.count(".") == 2 and w.chance(70):
        name, covered = w.pick(functions())  # the methods of ufuncs are many
    method = name.startswith("ndarray.")
    arguments: list[str] = []
    given: list[str] = []
    for position, parameter in enumerate(covered):
        if parameter in _NEVER:
            continue
        if parameter.startswith("*"):
            arguments += [operand(w) for _ in range(w.number(1, 2))]
            continue
        maker = _ARGUMENTS.get(parameter)
        if maker is None or parameter in _REQUIRED.get(name, ()):
            arguments.append(operand(w) if maker is None else maker(w))
        elif position == 0 or w.chance(28):
            given.append(f"{parameter}={maker(w)}" if position else maker(w))
    reduces = name.count(".") > 1 or {"axis", "axes"} & set(covered)
    if not reduces and any(text.startswith("where=") for text in given) and not any("out=" in text for text in given):
        given = [text for text in given if not text.startswith("where=")]  # the rest would be memory as it is found
    place = _SORTED.get(name)
    if place is not None and place < len(arguments):
        arguments[place] = f"np.sort({arguments[place]})"
    if name in _SORTERS:
        given = [text for text in given if not text.startswith("sorter=")]
    if method:
        base = next((name for name, of in [w.pick(w.holding("array"))]), "a") if w.holding("array") else "np.arange(3)"
        own = name.removeprefix("ndarray.")
        base = f"np.sort({base})" if name in _SORTERS else base
        text = f"{base}.{own}({', '.join([*arguments, *given])})"
        return text, own in ("fill", "put", "sort", "partition", "itemset")
    positional = [a for a in given if "=" not in a.split("(")[0] or a[0] in "'(["]
    rest = [a for a in given if a not in positional]
    first = [*positional, *arguments] if given and positional else arguments
    return f"{name}({', '.join([*first, *rest])})", name in _IN_PLACE or name.endswith(".at")


#: Searches in what is not sorted give any place (docs/same_answer.md): the argument that is sorted first.
_SORTED = {"np.searchsorted": 0, "np.interp": 1}
_SORTERS = ("np.searchsorted", "ndarray.searchsorted")
_IN_PLACE = {"np.put", "np.putmask", "np.place", "np.put_along_axis", "np.copyto", "np.fill_diagonal"}
#: Parameters that have a maker by name and must be given.
_REQUIRED: dict[str, tuple[str, ...]] = {
    "np.take": ("indices",),
    "np.take_along_axis": ("indices", "axis"),
    "np.put_along_axis": ("indices", "axis"),
    "np.put": ("ind",),
    "np.putmask": ("mask",),
    "np.place": ("mask", "vals"),
    "np.compress": ("condition",),
    "np.extract": ("condition",),
    "np.where": ("condition",),
    "np.reshape": ("shape",),
    "np.resize": ("new_shape",),
    "np.broadcast_to": ("shape",),
    "np.repeat": ("repeats",),
    "np.roll": ("shift",),
    "np.tile": ("reps",),
    "np.insert": ("obj",),
    "np.delete": ("obj",),
    "np.pad": ("pad_width",),
    "np.quantile": ("q",),
    "np.percentile": ("q",),
    "np.nanquantile": ("q",),
    "np.nanpercentile": ("q",),
    "np.moveaxis": ("source", "destination"),
    "np.swapaxes": ("axis1", "axis2"),
    "np.rollaxis": ("axis",),
    "np.expand_dims": ("axis",),
    "np.split": ("indices_or_sections",),
    "np.array_split": ("indices_or_sections",),
    "np.hsplit": ("indices_or_sections",),
    "np.vsplit": ("indices_or_sections",),
    "np.dsplit": ("indices_or_sections",),
    "np.digitize": ("bins",),
    "np.full": ("shape", "fill_value"),
    "np.full_like": ("fill_value",),
    "np.linspace": ("start", "stop"),
    "np.geomspace": ("start", "stop"),
    "np.logspace": ("start", "stop"),
    "np.clip": ("a_min", "a_max"),
    "np.fill_diagonal": ("val",),
    "np.ravel_multi_index": ("multi_index", "dims"),
    "np.unravel_index": ("indices", "shape"),
    "np.linalg.matrix_power": ("n",),
    "np.can_cast": ("from_", "to"),
    "np.promote_types": ("type1", "type2"),
    "ndarray.astype": ("dtype",),
    "ndarray.take": ("indices",),
    "ndarray.put": ("ind",),
    "ndarray.repeat": ("repeats",),
    "ndarray.reshape": ("shape",),
    "ndarray.swapaxes": ("axis1", "axis2"),
    "ndarray.compress": ("condition",),
    "ndarray.clip": ("min", "max"),
}


# --- expressions of an array type -----------------------------------------------------------------------------------

_UNARY = (
    "np.abs",
    "-",
    "np.sqrt",
    "np.exp",
    "np.sin",
    "np.square",
    "np.floor",
    "np.sign",
    "np.cumsum",
    "np.sort",
    "np.flip",
)


def array_expression(w: Writer, kind: Type, depth: int) -> str:
    """An array of about this type: dtypes and shapes follow NumPy's own rules."""
    alike = [name for name, of in w.holding("array") if of[2] == kind[2]]
    if not alike or depth <= 0:
        return w.pick(alike) if alike and w.chance(80) else array_literal(w, kind)
    name = w.pick(alike)
    form = w.number(0, 13)
    if form < 4:
        other = w.pick((*alike, str(w.number(-2, 4)), "0.5", expression(w, "float", 0)))
        return f"({name} {w.pick(('+', '-', '*', '+', '//', '%', '/'))} {other})"
    if form == 4:
        unary = w.pick(_UNARY)
        return f"(-{name})" if unary == "-" else f"{unary}({name})"
    if form == 5:
        return f"np.where({name} {w.pick(('>', '<', '=='))} {w.number(-1, 2)}, {name}, {w.pick(alike)})"
    if form == 6:
        return f"{name}[{w.pick(('1:', ':-1', '::-1', '::2', ':2', '1:-1', '-1:', '2:1'))}]"
    if form == 7:
        return f"{w.pick(('np.minimum', 'np.maximum'))}({name}, {w.pick(alike)})"
    if form == 8:
        return f"{name}[{name} {w.pick(('>', '!='))} {w.number(-1, 2)}]" if kind[2] == 1 else f"{name}.T"
    if form == 9:
        return w.pick((f"{name}.copy()", f"np.zeros_like({name})", f"np.ones_like({name})", f"np.array({name})"))
    if form == 10 and kind[2] == 1:
        return f"np.array({expression(w, ('list', w.pick(('int', 'float'))), depth - 1)})"
    if form == 11 and kind[2] == 1:
        return f"{name}[{w.pick(('[0, -1]', '[1, 1, 0]', f'np.argsort({name})', '[]'))}]"
    if form == 12:
        return f"{name}.astype(np.{kind[1]})"
    deeper = [other for other, of in w.holding("array") if of[2] == kind[2] + 1]
    if deeper:
        return f"{w.pick(deeper)}[{index(w)}]"
    return f"({name} + {expression(w, 'int', 0)})"
