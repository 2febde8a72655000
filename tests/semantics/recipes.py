"""What sample arguments look like: by the name of a parameter, and for functions with a domain of their own.

Templates are Python text; a placeholder in braces is a sample that `Draw` (drawing.py) makes.
"""

from __future__ import annotations

import fnmatch

import numpy as np

from tests.semantics.drawing import Recipe
from tests.semantics.samples import COMPLEX, FLOATS, INTEGERS, REAL
from weft.frontend import knowledge
from weft.frontend.knowledge import Entry
from weft.report.support import title

COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")

#: Operands, by name.
REQUIRED: dict[str, str] = {
    **dict.fromkeys(
        ("a", "x", "x1", "array", "arr", "val", "z", "f", "ar", "a1", "element", "object", "prototype"), "{a}"
    ),
    **dict.fromkeys(("x2", "b"), "{b}"),
    "shape": "(2, 3)",
    "dtype": "{dtype}",
    "axis": "{axis}",
}

#: Arguments that may be left out, by name.
OPTIONS: dict[str, tuple[str, ...]] = {
    "axis": ("{axis}", "{axis}", "None", "{axes}"),
    "keepdims": ("True", "True", "False"),
    "dtype": ("{dtype}",),
    "out": ("",),
    "where": ("",),
    "initial": ("2", "0"),
    "ddof": ("1", "0", "3"),
    "decimals": ("0", "1", "2", "-1"),
    "k": ("0", "1", "-1", "2", "-7"),
    "order": ("'C'", "'K'", "'A'", "'F'"),
    "subok": ("False", "True"),
    "casting": ("'unsafe'", "'same_kind'", "'safe'"),
    "copy": ("True", "False"),
    "equal_nan": ("True", "False"),
    "rtol": ("1e-3", "0.5"),
    "atol": ("0.1", "0.0"),
    "kind": ("'stable'", "'quicksort'", "'mergesort'"),
    "stable": ("True", "False"),
    "mode": ("'raise'", "'wrap'", "'clip'"),
    "overwrite_input": ("False", "True"),
    "correction": ("1", "0"),
    "offset": ("0", "1", "-1", "4"),
    "axis1": ("0", "-1", "1"),
    "axis2": ("1", "0", "-2"),
    "deg": ("True", "False"),
    "ndmin": ("0", "1", "3"),
    "mean": ("0.5",),
    "nan": ("2.0",),
    "posinf": ("9.0",),
    "neginf": ("-9.0",),
    "upper": ("True", "False"),
    "UPLO": ("'L'", "'U'"),
    "hermitian": ("True", "False"),
    "full_matrices": ("True", "False"),
    "compute_uv": ("True", "False"),
    "rcond": ("None", "1e-10"),
    "signature": ("None",),
    "norm": ("None", "'ortho'", "'forward'", "'backward'"),
}

_EDGE = tuple(d for d in FLOATS)
_SCALARS = Recipe(required=("{real}",), ranks=(0,))
_GRID = ("0:{extent}, 0:3", "-1:2:4j", "0:1:0.25, 2:0:-1", "1:2:3j, 0:4", "{extent}:7:2")

# NumPy 2.4 crashes in comparisons with dtype=, where= and a Python integer outside of the dtype.
_COMPARISON = Recipe(("{a}", "{b}"), {"dtype": ("None",)}, awkward=True)

_RECIPES: dict[str, Recipe] = {
    **dict.fromkeys((f"np.{name}" for name in COMPARISONS), _COMPARISON),
    # element by element
    "np.power": Recipe(("{a}", "{b}"), tolerance=1e-12),
    "np.where": Recipe(("{mask}", "{b}", "{b}")),
    "np.clip": Recipe(("{a}", "{number}", "4"), {"min": ("",), "max": ("",)}, awkward=True),
    "ndarray.clip": Recipe(
        ("{a}",), {"a_min": ("",), "a_max": ("",), "min": ("{number}", "{b}"), "max": ("4",)}, (1, 2, 3)
    ),
    "np.*shift": Recipe(("{a}", "{number}")),
    "np.nextafter": Recipe(("{a}", "{b}"), awkward=True),
    # reductions
    "np.*.reduce": Recipe(("{a}",), ranks=(1, 2, 3)),
    "np.*.accumulate": Recipe(("{a}",), {"axis": ("{axis}",)}, (1, 2, 3)),
    "np.*.at": Recipe(("{a}", "{index 0}", "{number}"), ranks=(1, 2), body=("{call}",)),
    "np.*.outer": Recipe(("{a}", "{vector}"), ranks=(0, 1, 2)),
    "np.*.reduceat": Recipe(("{a}", "[0, 1]"), {"axis": ("{axis}",)}, (1, 2, 3)),
    "np.size": Recipe(("{a}",), {"axis": ("{axis}", "None")}),
    "np.count_nonzero": Recipe(("{a}",)),
    "np.arg*": Recipe(("{a}",), {"axis": ("{axis}", "None")}, (1, 2, 3)),
    "np.ptp": Recipe(("{a}",)),
    "np.cum*": Recipe(("{a}",), {"axis": ("{axis}", "None")}),
    "np.average": Recipe(("{a}",), {"weights": ("{same}",), "returned": ("True",)}),
    # scans
    "np.diff": Recipe(
        ("{a}",), {"n": ("1", "2", "0"), "prepend": ("0",), "append": ("{number}",), "axis": ("{axis}",)}, (1, 2, 3)
    ),
    "np.gradient": Recipe(("{a}",), {"axis": ("{axis}", "None"), "edge_order": ("1", "2")}, (1, 2), REAL),
    "np.trap*": Recipe(("{a}",), {"x": ("{like}",), "dx": ("0.5",), "axis": ("{axis}",)}, (1, 2, 3)),
    "np.convolve": Recipe(("{a}", "{vector}"), {"mode": ("'full'", "'same'", "'valid'")}, (1,)),
    "np.correlate": Recipe(("{a}", "{vector}"), {"mode": ("'full'", "'same'", "'valid'")}, (1,)),
    "np.interp": Recipe(
        ("{array float64 4}", "{rising}", "{array float64 6}[:len(v1)]"),
        {"left": ("-1.5",), "right": ("7",), "period": ("4.0",)},
        (1,),
        REAL,
    ),
    # chosen elements
    "np.nonzero": Recipe(("{a}",), ranks=(1, 2, 3)),
    "np.compress": Recipe(("{array bool 2}", "{a}"), {"axis": ("{axis}", "None")}, (1, 2, 3)),
    "ndarray.compress": Recipe(("{a}", "{array bool 2}"), {"axis": ("{axis}", "None")}, (1, 2, 3)),
    "np.extract": Recipe(("{mask}", "{a}"), ranks=(1, 2, 3)),
    "np.take": Recipe(("{a}", "{index}"), {"axis": ("0", "None")}, (1, 2, 3)),
    "np.take_along_axis": Recipe(("{a}", "{array int64 2 2} % 2"), {"axis": ("0", "-1")}, (2,)),
    "np.choose": Recipe(
        ("{array int64 2 3} % 2", "({array self 2 3}, {array float64 2 3})"), {"mode": ("'wrap'", "'clip'")}
    ),
    "np.put": Recipe(("{a}", "{index}", "{same}"), ranks=(1, 2, 3), body=("{call}",)),
    "np.array_equal": Recipe(("{a}", "{like}")),
    "np.isclose": Recipe(("{a}", "{b}"), awkward=True),
    "np.allclose": Recipe(("{a}", "{b}"), awkward=True),
    # shapes
    "np.transpose": Recipe(("{a}",), {"axes": ("{permutation}", "None")}),
    "ndarray.transpose": Recipe(("{a}", "{permutation}"), ranks=(1, 2, 3)),
    "np.swapaxes": Recipe(("{a}", "{axis}", "{axis}"), ranks=(1, 2, 3)),
    "np.moveaxis": Recipe(("{a}", "{axis}", "{axis}"), ranks=(1, 2, 3)),
    "np.expand_dims": Recipe(("{a}", "{axis}")),
    "np.squeeze": Recipe(("{a}",), {"axis": ("{axis}", "None")}, (1, 2, 3)),
    "np.broadcast_to": Recipe(("{a}", "(2, 3) + v0.shape"), ranks=(1, 2, 3)),
    "ndarray.astype": Recipe(("{a}", "{dtype}")),
    "ndarray.fill": Recipe(("{a}", "{number}"), ranks=(1, 2, 3), body=("{call}",)),
    "np.reshape": Recipe(("{a}", "{shape}"), {"order": ("'C'", "'F'")}, (1, 2, 3)),
    "ndarray.reshape": Recipe(("{a}", "{shape}"), {}, (1, 2, 3)),
    "np.ravel": Recipe(("{a}",), ranks=(1, 2, 3)),
    "ndarray.flatten": Recipe(("{a}",), ranks=(1, 2, 3)),
    "ndarray.ravel": Recipe(("{a}",), ranks=(1, 2, 3)),
    "np.diag": Recipe(("{a}",), ranks=(1, 2)),
    "np.tri[ul]": Recipe(("{a}",), ranks=(1, 2, 3)),
    "np.tri[ul]_indices_from": Recipe(("{a}",), ranks=(2,)),
    "np.tri[ul]_indices": Recipe(("{extent}",), {"k": ("1", "-1"), "m": ("{extent}",)}, (0,)),
    "np.diag_indices": Recipe(("{extent}",), {"ndim": ("2", "3")}, (0,)),
    "np.concatenate": Recipe(("{pair}",), {"axis": ("{axis}", "None")}, (1, 2, 3)),
    "np.stack": Recipe(("{pair}",), {"axis": ("{axis}", "-1")}, (1, 2, 3)),
    "np.?stack": Recipe(("{pair}",), {}, (0, 1, 2, 3)),
    "np.column_stack": Recipe(("{pair}",), {}, (0, 1, 2, 3)),
    "np.append": Recipe(("{a}", "{like}"), {"axis": ("{axis}", "None")}),
    "np.roll": Recipe(("{a}", "{whole}"), {"axis": ("{axis}", "None")}, (1, 2, 3)),
    "np.repeat": Recipe(("{a}", "{extent}"), {"axis": ("{axis}", "None")}),
    "np.tile": Recipe(("{a}", "(2, 1)")),
    "np.pad": Recipe(
        ("{a}", "((1, 2),)"),
        {"mode": ("'constant'", "'edge'", "'reflect'", "'symmetric'", "'wrap'", "'mean'"), "constant_values": ("3",)},
        (1, 2, 3),
    ),
    "np.diagonal": Recipe(("{a}",), ranks=(2, 3)),
    "np.trace": Recipe(("{a}",), ranks=(2, 3)),
    "np.fill_diagonal": Recipe(("{a}", "{number}"), {"wrap": ("True", "False")}, (2,), body=("{call}",)),
    "np.vander": Recipe(("{a}",), {"N": ("3", "0"), "increasing": ("True", "False")}, (1,)),
    "np.kron": Recipe(("{a}", "{like}")),
    "np.cross": Recipe(
        ("{array self 3}", "{array float64 2 3}"),
        {"axisa": ("0", "-1"), "axisb": ("-1", "1"), "axisc": ("-1", "0"), "axis": ("-1",)},
        dtypes=REAL + COMPLEX,
    ),
    "np.atleast_?d": Recipe(("{a}",)),
    "np.flip": Recipe(("{a}",), ranks=(1, 2, 3)),
    "np.unstack": Recipe(("{a}",), {"axis": ("{axis}",)}, (1, 2, 3)),
    "np.array_split": Recipe(("{a}", "3"), {"axis": ("{axis}",)}, (1, 2, 3)),
    "np.?split": Recipe(("{a}", "[1, 2]"), ranks=(1, 2, 3)),
    "np.split": Recipe(("{a}", "[1, 2]"), {"axis": ("{axis}",)}, (1, 2, 3)),
    "np.block": Recipe(("[[{a}, {like}], [{same}, {same}]]",), ranks=(1, 2)),
    "np.[cr]_": Recipe(("{a}", "{like}"), call="{title}[{}]", ranks=(1, 2)),
    "np.s_": Recipe(("1:3",), call="np.arange(9)[np.s_[{}]]", ranks=(0,)),
    "np.index_exp": Recipe(("1:3",), call="np.arange(9)[np.index_exp[{}]]", ranks=(0,)),
    "np.copyto": Recipe(("{a}", "{same}"), {"where": ("",), "casting": ("'same_kind'",)}, (1, 2, 3), body=("{call}",)),
    "np.delete": Recipe(("{a}", "1"), {"axis": ("0", "None")}, (1, 2)),
    "np.insert": Recipe(("{a}", "1", "{number}"), {"axis": ("0", "None")}, (1, 2)),
    "np.flip??": Recipe(("{a}",), ranks=(1, 2, 3)),
    "np.rot90": Recipe(("{a}",), {"k": ("1", "2", "-1", "4"), "axes": ("(0, 1)", "(1, 0)")}, (2, 3)),
    "np.rollaxis": Recipe(("{a}", "{axis}"), {"start": ("0", "1")}, (2, 3)),
    "np.resize": Recipe(("{a}", "(2, 5)")),
    "np.select": Recipe(("[{mask}, {mask}]", "[{a}, {like}]"), {"default": ("0", "2.5")}, (1, 2)),
    "np.piecewise": Recipe(("{a}", "[v0 < 0, v0 >= 0]", "[-1, 2]"), ranks=(1, 2), dtypes=FLOATS),
    "np.nditer": Recipe(("{a}",), ranks=(1, 2), dtypes=FLOATS, call="sum(float(x) for x in np.nditer({}))"),
    "np.place": Recipe(("{a}", "{mask}", "{vector}"), ranks=(1, 2), body=("{call}",)),
    "np.putmask": Recipe(("{a}", "{mask}", "{same}"), ranks=(1, 2), body=("{call}",)),
    "np.put_along_axis": Recipe(("{a}", "{array int64 2 2} % 2", "1"), {"axis": ("0",)}, (2,), body=("{call}",)),
    "np.ravel_multi_index": Recipe(
        ("(np.array([1, 0]), np.array([2, 3]))", "(2, 4)"),
        {"mode": ("'raise'", "'wrap'", "'clip'"), "order": ("'C'", "'F'")},
        ranks=(0,),
    ),
    "np.unravel_index": Recipe(("{array uint8 3} % 8", "(2, 4)"), {"order": ("'C'", "'F'")}, (0,)),
    "np.lib.stride_tricks.sliding_window_view": Recipe(
        ("{a}", "2"), {"axis": ("0", "-1"), "writeable": ("False",)}, (1, 2)
    ),
    # new arrays
    "np.zeros": Recipe(("({extent}, 3)",)),
    "np.ones": Recipe(("({extent}, 3)",)),
    "np.empty": Recipe(("({extent}, 3)",), body=("v = {call}", "v[:] = 1", "return v")),
    "np.empty_like": Recipe(("{a}",), {"shape": ("(2, 3)",)}, (1, 2, 3), body=("v = {call}", "v[:] = 1", "return v")),
    "np.zeros_like": Recipe(("{a}",), {"shape": ("(2, 3)",)}),
    "np.ones_like": Recipe(("{a}",), {"shape": ("(2, 3)",)}),
    "np.full": Recipe(("({extent}, 3)", "{scalar}"), ranks=(0,)),
    "np.full_like": Recipe(("{a}", "{number}"), {"shape": ("(2, 3)",)}),
    "np.eye": Recipe(("{extent}",), {"M": ("{extent}", "None")}, (0,)),
    "np.tri": Recipe(("{extent}",), {"M": ("{extent}", "None")}, (0,)),
    "np.identity": Recipe(("{extent}",), ranks=(0,)),
    "np.arange": Recipe(("{scalar}",), {"stop": ("15", "27.5"), "step": ("2", "0.5", "3")}, (0,), INTEGERS + FLOATS),
    "np.linspace": Recipe(
        ("{scalar}", "{number}"),
        {"num": ("{extent}", "7"), "endpoint": ("True", "False"), "retstep": ("False", "True")},
        (0,),
    ),
    "np.array": Recipe(("{a}",)),
    "np.asarray": Recipe(("{a}",), {}, (1, 2, 3)),
    "np.ascontiguousarray": Recipe(("{a}",), ranks=(1, 2, 3)),
    "np.diagflat": Recipe(("{a}",), ranks=(1, 2)),
    "np.logspace": Recipe(
        ("{scalar}", "{number}"),
        {"num": ("{extent}", "7"), "endpoint": ("True", "False"), "base": ("2.0", "3"), "axis": ("0",)},
        (0,),
        FLOATS,
    ),
    "np.geomspace": Recipe(("1.5", "7.0"), {"num": ("{extent}", "7"), "endpoint": ("True", "False")}, (0,)),
    "np.meshgrid": Recipe(
        ("{vector}", "{vector}"), {"copy": ("True",), "sparse": ("True", "False"), "indexing": ("'xy'", "'ij'")}
    ),
    "np.indices": Recipe(("({extent}, 3)",), {"sparse": ("True", "False")}, (0,)),
    "np.fromfunction": Recipe(("lambda i, j: i * 2 + j", "({extent}, 3)"), {}, (0,)),
    "np.ix_": Recipe(("{vector}", "{vector}"), dtypes=("int64", "bool", "int32")),
    "np.[mo]grid": Recipe(("{extent}:7:2",), call="{title}[{}]", ranks=(0,)),
    # products
    "np.matmul": Recipe(("{a}", "{like}.T"), ranks=(1, 2)),
    "np.dot": Recipe(("{a}", "{like}.T"), ranks=(1, 2)),
    "np.inner": Recipe(("{a}", "{like}"), ranks=(0, 1, 2)),
    "np.vdot": Recipe(("{a}", "{like}"), ranks=(1, 2)),
    "np.outer": Recipe(("{a}", "{vector}"), ranks=(0, 1, 2)),
    "np.einsum": Recipe(("'ij,kj->ik'", "{a}", "{same}"), ranks=(2,)),
    "np.tensordot": Recipe(("{a}", "{like}"), {"axes": ("2", "([0, 1], [0, 1])", "((1,), (1,))", "0")}, (2,)),
    "np.cov": Recipe(("{a}",), {"rowvar": ("True", "False"), "bias": ("True", "False"), "y": ("{same}",)}, (2,)),
    "np.linalg.norm": Recipe(
        ("{a}",), {"ord": ("None", "1", "2", "np.inf", "-np.inf", "'fro'", "0", "3", "-1")}, (1, 2, 3)
    ),
    # sorting, counting
    "np.sort": Recipe(("{a}",), {"axis": ("{axis}", "None"), "order": ("None",)}, (1, 2, 3), awkward=True),
    "ndarray.sort": Recipe(
        ("{a}",), {"axis": ("{axis}",), "order": ("None",)}, (1, 2, 3), awkward=True, body=("{call}",)
    ),
    "np.argsort": Recipe(("{distinct}",), {"axis": ("{axis}", "None"), "order": ("None",)}, (1, 2, 3)),
    "np.searchsorted": Recipe(("{sorted}", "{b}"), {"side": ("'left'", "'right'"), "sorter": ("np.argsort(v0)",)}),
    "np.lexsort": Recipe(("({distinct}, {same})",), {"axis": ("{axis}",)}, (1, 2)),
    "np.digitize": Recipe(("{a}", "{sorted}"), {"right": ("True", "False")}),
    "np.isin": Recipe(("{a}", "{vector}"), {"assume_unique": ("False",), "invert": ("True", "False")}),
    "np.unique": Recipe(
        ("{a}",), {"return_index": ("True",), "return_inverse": ("True",), "return_counts": ("True",)}, (1, 2, 3)
    ),
    "np.bincount": Recipe(("{counts}",), {"weights": ("{array float64 3}",), "minlength": ("0", "7")}, (1,)),
    "np.histogram": Recipe(
        ("{a}",),
        {"bins": ("4", "{rising}"), "range": ("(-3.0, 5.0)",), "density": ("True", "False"), "weights": ("{same}",)},
        (1, 2),
    ),
    "np.median": Recipe(("{a}",), {"axis": ("{axis}", "None")}, (1, 2, 3)),
    "np.percentile": Recipe(
        ("{a}", "37.5"), {"axis": ("{axis}", "None"), "method": ("'linear'", "'lower'")}, (1, 2, 3)
    ),
    "np.quantile": Recipe(
        ("{a}", "0.375"), {"axis": ("{axis}", "None"), "method": ("'linear'", "'higher'")}, (1, 2, 3)
    ),
    "np.unwrap": Recipe(("{a}",), {"discont": ("2.0",), "period": ("4", "5.0"), "axis": ("{axis}",)}, (1, 2)),
    "np.corrcoef": Recipe(("{a}",), {"rowvar": ("True", "False"), "y": ("{same}",)}, (2,)),
    "np.cumulative_*": Recipe(("{a}",), {"include_initial": ("True", "False"), "axis": ("{axis}",)}, (1, 2, 3)),
    "np.ediff1d": Recipe(("{a}",), {"to_end": ("{same}",), "to_begin": ("{same}",)}, (1, 2)),
    **dict.fromkeys(
        ("np.union1d", "np.intersect1d", "np.setdiff1d", "np.setxor1d"),
        Recipe(("{a}", "{vector}"), {"assume_unique": ("False",), "return_indices": ("True",)}, (1, 2)),
    ),
    **dict.fromkeys(("np.polyadd", "np.polysub", "np.polymul"), Recipe(("{a}", "{vector}"), ranks=(1,))),
    "np.polyval": Recipe(("{vector}", "{a}")),
    "np.polyder": Recipe(("{a}",), {"m": ("1", "2", "0")}, (1,)),
    "np.polyint": Recipe(("{a}",), {"m": ("1", "2", "0"), "k": ("None", "2.5")}, (1,)),
    "np.histogram2d": Recipe(
        ("{a}", "{same}"),
        {"bins": ("3", "(2, 4)"), "range": ("((-3, 3), (-2, 5))",), "density": ("True",), "weights": ("{same}",)},
        (1,),
    ),
    "np.histogram_bin_edges": Recipe(
        ("{a}",), {"bins": ("4", "{rising}"), "range": ("(-3.0, 5.0)",), "weights": ("{same}",)}, (1, 2)
    ),
    "np.nanpercentile": Recipe(("{a}", "37.5"), {"axis": ("{axis}", "None"), "method": ("'linear'",)}, (1, 2, 3)),
    "np.nanquantile": Recipe(("{a}", "0.375"), {"axis": ("{axis}", "None"), "method": ("'linear'",)}, (1, 2, 3)),
    # dtypes
    "np.can_cast": Recipe(("{dtype}", "{dtype}"), {"casting": ("'same_kind'", "'unsafe'")}, (0,)),
    "np.promote_types": Recipe(("{dtype}", "{dtype}"), ranks=(0,), call="np.zeros(2, np.promote_types({}))"),
    "np.result_type": Recipe(("{a}", "{dtype}"), call="np.zeros(2, np.result_type({}))"),
    "np.issubdtype": Recipe(("{dtype}", "np.floating"), ranks=(0,)),
    "np.isdtype": Recipe(("np.dtype({dtype})", "'real floating'"), ranks=(0,)),
    "np.dtype": Recipe(("{dtype}",), ranks=(0,), call="np.zeros(2, np.dtype({}))"),
    "np.iinfo": Recipe(("np.int16",), ranks=(0,), call="np.iinfo({}).max"),
    "np.finfo": Recipe(("np.float32",), ranks=(0,), call="np.finfo({}).eps"),
    "np.common_type": Recipe(("{a}",), ranks=(1, 2), call="np.zeros(2, np.common_type({}))"),
    # library
    "np.fft.*freq": Recipe(("{extent}",), {"d": ("0.5", "2"), "device": ("None",)}, (0,)),
    "np.fft.*shift": Recipe(("{a}",), {"axes": ("{axis}", "None", "{axes}")}, (1, 2, 3)),
    "np.fft.*fft[2n]": Recipe(("{a}",), {"s": ("(2, 3)",), "axes": ("(0, 1)", "(-1, 0)")}, (2, 3), tolerance=1e-11),
    "np.fft.*": Recipe(("{a}",), {"n": ("3", "6", "None"), "axis": ("{axis}",)}, (1, 2, 3), tolerance=1e-11),
    "np.linalg.cross": Recipe(("{array self 3}", "{array float64 2 3}"), {"axis": ("-1",)}, dtypes=REAL + COMPLEX),
    "np.linalg.matmul": Recipe(("{a}", "{like}.T"), ranks=(1, 2)),
    "np.linalg.vecdot": Recipe(("{a}", "{like}"), {"axis": ("-1", "0")}, (1, 2)),
    "np.linalg.outer": Recipe(("{a}", "{vector}"), ranks=(1,)),
    "np.linalg.tensordot": Recipe(("{a}", "{like}"), {"axes": ("2", "((1,), (1,))", "0")}, (2,)),
    "np.linalg.matrix_power": Recipe(("{square}", "3"), {"n": ("2",)}, (2, 3), tolerance=1e-9),
    "np.linalg.matrix_rank": Recipe(("{square}",), {"tol": ("1e-6",), "rtol": ("1e-6",)}, (2, 3)),
    "np.linalg.matrix_norm": Recipe(("{a}",), {"ord": ("'fro'", "1", "-1", "np.inf")}, (2, 3)),
    "np.linalg.vector_norm": Recipe(("{a}",), {"ord": ("2", "1", "0", "np.inf")}, (1, 2, 3)),
    "np.linalg.cond": Recipe(("{square}",), {"p": ("None", "1", "'fro'", "2")}, (2, 3), tolerance=1e-9),
    "np.linalg.multi_dot": Recipe(("({square}, {same}, {same})",), ranks=(2,), tolerance=1e-9),
    "np.linalg.diagonal": Recipe(("{a}",), ranks=(2, 3)),
    "np.linalg.trace": Recipe(("{a}",), ranks=(2, 3)),
    "np.linalg.cholesky": Recipe(("{spd}",), dtypes=FLOATS + COMPLEX, tolerance=1e-9),
    "np.linalg.eig*": Recipe(("{spd}",), dtypes=FLOATS + COMPLEX, tolerance=1e-9),
    "np.linalg.solve": Recipe(("{square}", "{b}"), ranks=(1, 2, 3), dtypes=FLOATS + COMPLEX, tolerance=1e-9),
    "np.linalg.lstsq": Recipe(("{square}", "{vector}"), ranks=(2,), dtypes=FLOATS + COMPLEX, tolerance=1e-9),
    "np.linalg.*": Recipe(("{square}",), ranks=(2, 3), tolerance=1e-9),
    # Python
    "math.*": _SCALARS,
    "math.log": Recipe(("{real}",), {"base": ("2", "10.0")}, (0,)),
    "math.gcd": Recipe(("{whole}", "{whole}"), ranks=(0,)),
    **dict.fromkeys(
        ("math.atan2", "math.copysign", "math.fmod", "math.hypot", "math.pow", "math.nextafter", "math.remainder"),
        Recipe(("{real}", "{real}"), ranks=(0,)),
    ),
    "cmath.*": Recipe(("{scalar}",), ranks=(0,), dtypes=COMPLEX + FLOATS),
    "math.ldexp": Recipe(("{real}", "{whole}"), ranks=(0,)),
    "math.isclose": Recipe(("{real}", "{real}"), {"rel_tol": ("0.5",), "abs_tol": ("1.0",)}, (0,)),
    "cmath.isclose": Recipe(("{scalar}", "{scalar}"), {"rel_tol": ("0.5",), "abs_tol": ("1.0",)}, (0,)),
    "cmath.log": Recipe(("{scalar}",), {"base": ("2", "10.0")}, (0,), COMPLEX + FLOATS),
    "cmath.rect": Recipe(("{real}", "{real}"), ranks=(0,)),
    **dict.fromkeys(("math.comb", "math.perm"), Recipe(("{extent}", "{extent}"), ranks=(0,))),
    **dict.fromkeys(("math.factorial", "math.isqrt"), Recipe(("{extent}",), ranks=(0,))),
    "math.lcm": Recipe(("{whole}", "{whole}"), ranks=(0,)),
    "math.dist": Recipe(("({real}, {real})", "(0.5, {real})"), ranks=(0,)),
    "math.sumprod": Recipe(("{a}", "{same}"), ranks=(1,), dtypes=FLOATS),
    **dict.fromkeys(("math.fsum", "math.prod"), Recipe(("{a}",), {"start": ("2",)}, (1,), FLOATS)),
    "heapq.heapify": Recipe(("v",), body=("v = [4.5, 1.5, 2.5]", "{call}", "return v[0] + 2 * v[1]"), ranks=(0,)),
    "heapq.heappush": Recipe(("v", "2.0"), body=("v = [1.5, 2.5]", "{call}", "return v[0] + 2 * v[1]"), ranks=(0,)),
    "heapq.heappop": Recipe(("v",), body=("v = [1.5, 2.5, 4.0]", "return {call} + 2 * v[0]"), ranks=(0,)),
    "heapq.heap*": Recipe(("v", "2.0"), body=("v = [1.5, 2.5, 4.0]", "return {call} + 2 * v[0]"), ranks=(0,)),
    "bisect.bisect*": Recipe(("{sorted}", "1.5"), {"lo": ("0", "1"), "hi": ("2", "None")}, (1,), FLOATS),
    "bisect.insort*": Recipe(
        ("v", "2.0"), body=("v = [1.5]", "v.append(2.5)", "{call}", "return v[0] + 2 * v[1]"), ranks=(0,)
    ),
    "collections.deque": Recipe(
        (), {"iterable": ("",), "maxlen": ("3", "None")}, (0,), body=("v = {call}", "v.append(2.5)", "return v[0]")
    ),
    "heapq.nlargest": Recipe(("2", "[1.5, -4.0, 3.0]"), {"key": ("abs",)}, (0,)),
    "heapq.nsmallest": Recipe(("2", "[1.5, -4.0, 3.0]"), {"key": ("abs",)}, (0,)),
    "collections.OrderedDict": Recipe(
        ("[(3, 1.5), (1, 2.5)]",), ranks=(0,), body=("v = {call}", "v.move_to_end(3)", "return list(v)")
    ),
    "collections.defaultdict": Recipe(("float",), ranks=(0,), body=("v = {call}", "v[3] += 1.5", "return v[3]")),
    "collections.Counter": Recipe(("[3, 1, 3]",), ranks=(0,), body=("v = {call}", "v[3] += 1", "return v[3]")),
    "dict": Recipe((), {"mapping": ("",)}, ranks=(0,), body=("v = {call}", "v[3] = 1.5", "return v[3]")),
    "set": Recipe((), {"iterable": ("",)}, ranks=(0,), body=("v = {call}", "v.add(3)", "return len(v)")),
    "list": Recipe(("{a}",), ranks=(1,), dtypes=FLOATS, call="len(list({}))"),
    "tuple": Recipe(("{a}.shape",), ranks=(1, 2, 3)),
    **dict.fromkeys(("all", "any"), Recipe(("{a}",), ranks=(1,))),
    "map": Recipe(("lambda x: x * x", "{a}"), ranks=(1,), dtypes=FLOATS, call="sum(x for x in map({}))"),
    "filter": Recipe(("lambda x: x > 0", "{a}"), ranks=(1,), dtypes=FLOATS, call="sum(x for x in filter({}))"),
    "functools.reduce": Recipe(
        ("lambda x, y: x * 2 + y", "{a}"), {"initial": ("",), "initializer": ("",)}, (1,), ("float64",)
    ),
    "itertools.product": Recipe(("range(3)", "range({extent})"), ranks=(0,), call="sum(i * j for i, j in {title}({}))"),
    "itertools.combinations": Recipe(("range(4)", "2"), ranks=(0,), call="sum(i * j for i, j in {title}({}))"),
    "itertools.accumulate": Recipe(
        ("[2.5, 1.0, 4.0]",), {"func": ("max", "lambda x, y: x - 2 * y"), "initial": ("1.5",)}, (0,),
        call="sum(x for x in {title}({}))",
    ),
    "itertools.*": Recipe(("{a}",), ranks=(1,), dtypes=("float64",), call="sum(x for x in {title}({}))"),
    "sorted": Recipe(("{a}",), {"key": ("",), "reverse": ("True", "False")}, (1,), FLOATS, call="sorted({})[0]"),
    "number.bit_count": Recipe(("{scalar}",), ranks=(0,), dtypes=INTEGERS),
    "number.*": Recipe(("{scalar}",), ranks=(0,)),
    "abs": Recipe(("{a}",)),
    "len": Recipe(("{a}",), ranks=(1, 2, 3)),
    "range": Recipe(("{whole}", "{whole}", "3"), ranks=(0,), call="sum(k for k in range({}))"),
    "slice": Recipe(("1", "{whole}", "2"), ranks=(0,), call="np.arange(9)[slice({})]"),
    "enumerate": Recipe(
        ("{a}",), {"start": ("3",)}, (1,), INTEGERS + FLOATS, call="sum(k * x for k, x in enumerate({}))"
    ),
    "zip": Recipe(("{a}", "{vector}"), ranks=(1,), dtypes=FLOATS, call="sum(x * y for x, y in zip({}))"),
    "reversed": Recipe(("{a}",), ranks=(1,), dtypes=FLOATS, call="sum(x for x in reversed({}))"),
    "np.ndenumerate": Recipe(
        ("{a}",), ranks=(2,), dtypes=FLOATS, call="sum(i * x + j for (i, j), x in np.ndenumerate({}))"
    ),
    "np.ndindex": Recipe(("{extent}", "3"), ranks=(0,), call="sum(i * j for i, j in np.ndindex({}))"),
    "min": Recipe(("{real}", "{real}"), ranks=(0,)),
    "max": Recipe(("{real}", "{real}"), ranks=(0,)),
    "sum": Recipe(("{a}",), {"start": ("3",)}, (1,)),
    "round": Recipe(("{real}",), {"ndigits": ("2",)}, (0,)),
    "int": Recipe(_SCALARS.required, {"base": ("",)}, (0,)),
    "ord": Recipe(("'x'",), ranks=(0,)),
    "chr": Recipe(("65 + {extent}",), ranks=(0,)),
    "hex": Recipe(("{extent}",), ranks=(0,)),
    "oct": Recipe(("{extent}",), ranks=(0,)),
    "bin": Recipe(("{extent}",), ranks=(0,)),
    "str": Recipe(("{extent}",), ranks=(0,)),
    "float": _SCALARS,
    "bool": _SCALARS,
    "complex": Recipe((), {"real": ("{real}",), "imag": ("{real}",)}, (0,)),
    "divmod": Recipe(("{whole}", "{whole}"), ranks=(0,)),
    "pow": Recipe(("{whole}", "{extent}"), {"mod": ("7", "-5")}, (0,)),
    "isinstance": Recipe(("{a}", "(int, np.ndarray, float)")),
    "np.bool": Recipe(("{scalar}",), ranks=(0,)),
    **{f"np.{kind}": Recipe(("{scalar}",), ranks=(0,)) for kind in (*INTEGERS, *FLOATS, *COMPLEX)},
    "ndarray.item": Recipe(("{a}",), ranks=(0,)),
    "np.isscalar": Recipe(("{a}",)),
}


class NoRecipe(AssertionError):
    """An entry or argument for which nothing says how to make samples."""


def recipe_for(entry: Entry) -> tuple[Recipe, dict[str, tuple[str, ...]]]:
    """The recipe of an entry with its required arguments, and the templates of its optional ones."""
    name = title(entry)
    recipe = _named(name) or Recipe(awkward=isinstance(entry.target, np.ufunc))
    required = recipe.required
    if required is None:
        required = tuple(_template(entry, parameter) for parameter in _needed(entry))
    if len(entry.plain) == len(entry.parameters):
        required = required[: len(entry.plain)]
    taken = entry.plain[: len(required)]
    options = {}
    for parameter in entry.plain:
        if parameter in taken:
            continue
        templates = recipe.options.get(parameter) or OPTIONS.get(parameter)
        if templates is None:
            raise NoRecipe(f"the argument {parameter} of {name} has no samples: name them in recipes.py")
        if templates != ("",) or parameter in ("out", "where"):
            options[parameter] = templates
    call = recipe.call.replace("{title}", name) if recipe.call else None
    return Recipe(**{**vars(recipe), "required": required, "call": call}), options


def _named(name: str) -> Recipe | None:
    candidates = (name, name.replace("ndarray.", "np.")) if name.startswith("ndarray.") else (name,)
    for candidate in candidates:
        if candidate in _RECIPES:
            return _RECIPES[candidate]
    fitting = [pattern for pattern in _RECIPES for candidate in candidates if fnmatch.fnmatchcase(candidate, pattern)]
    # The more a pattern says, the better it fits.
    return _RECIPES[max(fitting, key=len)] if fitting else None


def _needed(entry: Entry) -> tuple[str, ...]:
    """The parameters without a default; of a method the array as well."""
    if knowledge.signature(entry) is None:
        raise NoRecipe(f"{title(entry)} has no signature to go by: give it a recipe in recipes.py")
    return knowledge.operands(entry)


def _template(entry: Entry, parameter: str) -> str:
    if parameter not in REQUIRED:
        raise NoRecipe(f"the argument {parameter} of {title(entry)} has no samples: give it a recipe in recipes.py")
    return REQUIRED[parameter]
