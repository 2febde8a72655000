"""Where the entries are.  In: the name of a library function; out: the modules of the knowledge base that declare an
entry of it.

A program uses a few functions, and loading the entries of all others would take longer than compiling it.  The table
is written by `pytest tests/unit/test_knowledge_index.py --update-golden`, which also tests that it is complete.  A
function of these libraries that is missing from it (another version of NumPy) has all entries loaded.
"""

from __future__ import annotations

from typing import Any

from weft.naming import home_of

#: Module --> the functions, and after a dot the methods of arrays, that it has entries for.
MODULES: dict[str, str] = {
    "assembling": (
        ".diagonal .repeat numpy.append numpy.atleast_1d numpy.atleast_2d numpy.atleast_3d numpy.column_stack "
        "numpy.cross numpy.diagonal numpy.dstack numpy.fill_diagonal numpy.kron numpy.norm numpy.pad "
        "numpy.repeat numpy.tile numpy.tri numpy.vander"
    ),
    "compose": "weft.at_least weft.mostly",
    "concurrent": "weft.Map weft.prange",
    "containers": (
        "_bisect.bisect_left _bisect.bisect_right _bisect.insort_left _bisect.insort_right _heapq.heapify "
        "_heapq.heappop _heapq.heappush _heapq.heappushpop _heapq.heapreplace builtins.dict builtins.set "
        "collections.Counter collections.defaultdict collections.deque heapq.nlargest heapq.nsmallest"
    ),
    "counting": "numpy.bincount numpy.histogram numpy.histogram2d numpy.histogram_bin_edges",
    "creation": (
        ".copy numpy.arange numpy.array numpy.asarray numpy.copy numpy.empty numpy.empty_like numpy.eye "
        "numpy.full numpy.full_like numpy.identity numpy.ones numpy.ones_like numpy.zeros numpy.zeros_like"
    ),
    "dtypes": (
        "numpy.can_cast numpy.common_type numpy.dtype numpy.finfo numpy.iinfo numpy.isdtype numpy.issubdtype "
        "numpy.promote_types numpy.result_type"
    ),
    "editing": "numpy.CClass numpy.IndexExpression numpy.RClass numpy.block numpy.delete numpy.insert numpy.resize",
    "elementwise": (
        ".clip .round numpy.angle numpy.around numpy.clip numpy.fix numpy.imag numpy.iscomplex "
        "numpy.iscomplexobj numpy.isneginf numpy.isposinf numpy.isreal numpy.isrealobj numpy.nan_to_num "
        "numpy.real numpy.round numpy.sinc numpy.unwrap numpy.where"
    ),
    "fourier": (
        "numpy.fft numpy.fft2 numpy.fftfreq numpy.fftn numpy.fftshift numpy.hfft numpy.ifft numpy.ifft2 "
        "numpy.ifftn numpy.ifftshift numpy.ihfft numpy.irfft numpy.irfft2 numpy.irfftn numpy.rfft numpy.rfft2 "
        "numpy.rfftfreq numpy.rfftn"
    ),
    "grids": (
        "numpy.MGridClass numpy.OGridClass numpy.diag_indices numpy.fromfunction numpy.indices numpy.ix_ "
        "numpy.meshgrid numpy.tril_indices numpy.tril_indices_from numpy.triu_indices numpy.triu_indices_from"
    ),
    "indices": "numpy.einsum numpy.tensordot",
    "linalg": (
        "numpy.cholesky numpy.det numpy.eig numpy.eigh numpy.eigvals numpy.eigvalsh numpy.inv numpy.lstsq "
        "numpy.qr numpy.slogdet numpy.solve numpy.svd numpy.svdvals"
    ),
    "linear": (
        ".dot .trace numpy.dot numpy.inner numpy.matmul numpy.matvec numpy.outer numpy.trace numpy.vdot "
        "numpy.vecdot numpy.vecmat"
    ),
    "mathematics": (
        "cmath.acos cmath.acosh cmath.asin cmath.asinh cmath.atan cmath.atanh cmath.cos cmath.cosh cmath.exp "
        "cmath.isclose cmath.isfinite cmath.isinf cmath.isnan cmath.log cmath.log10 cmath.phase cmath.polar "
        "cmath.rect cmath.sin cmath.sinh cmath.sqrt cmath.tan cmath.tanh math.acos math.acosh math.asin "
        "math.asinh math.atan math.atan2 math.atanh math.cbrt math.ceil math.comb math.copysign math.cos "
        "math.cosh math.degrees math.dist math.erf math.erfc math.exp math.exp2 math.expm1 math.fabs "
        "math.factorial math.floor math.fmod math.frexp math.gamma math.gcd math.hypot math.isclose "
        "math.isfinite math.isinf math.isnan math.isqrt math.lcm math.ldexp math.lgamma math.log math.log10 "
        "math.log1p math.log2 math.modf math.nextafter math.perm math.pow math.prod math.radians "
        "math.remainder math.sin math.sinh math.sqrt math.tan math.tanh math.trunc math.ulp"
    ),
    "matrices": (
        "numpy.cond numpy.cross numpy.diagonal numpy.matmul numpy.matrix_norm numpy.matrix_power "
        "numpy.matrix_rank numpy.matrix_transpose numpy.multi_dot numpy.outer numpy.pinv numpy.tensordot "
        "numpy.trace numpy.vecdot numpy.vector_norm"
    ),
    "methods": "builtins.accumulate builtins.at builtins.outer builtins.reduce builtins.reduceat",
    "missing": (
        "numpy.nanargmax numpy.nanargmin numpy.nancumprod numpy.nancumsum numpy.nanmax numpy.nanmean "
        "numpy.nanmin numpy.nanprod numpy.nanstd numpy.nansum numpy.nanvar"
    ),
    "models": (
        "weft.axis_of weft.covered weft.dense_pays weft.entry_greatest weft.entry_least weft.entry_row_sums "
        "weft.entry_sums weft.entry_values weft.equal_sizes weft.holds weft.is_dense weft.is_matrix "
        "weft.is_number weft.larger weft.or_python weft.ordered weft.ordered_or_python weft.reordered "
        "weft.stretches"
    ),
    "placing": (
        ".put numpy.copyto numpy.diag_indices_from numpy.piecewise numpy.place numpy.put_along_axis "
        "numpy.putmask numpy.ravel_multi_index numpy.select numpy.unravel_index"
    ),
    "python": (
        ".bit_count .bit_length .conj .conjugate .is_integer builtins.abs builtins.all builtins.any "
        "builtins.bool builtins.complex builtins.divmod builtins.enumerate builtins.float builtins.int "
        "builtins.isinstance builtins.len builtins.max builtins.min builtins.pow builtins.range "
        "builtins.reversed builtins.round builtins.slice builtins.sum builtins.tuple builtins.zip numpy.bool "
        "numpy.complex128 numpy.complex64 numpy.float32 numpy.float64 numpy.int16 numpy.int32 numpy.int64 "
        "numpy.int8 numpy.isscalar numpy.ndim numpy.ndindex numpy.shape numpy.size numpy.uint16 numpy.uint32 "
        "numpy.uint64 numpy.uint8"
    ),
    "quantiles": "numpy.median numpy.nanmedian numpy.nanpercentile numpy.nanquantile numpy.percentile numpy.quantile",
    "rearranging": (
        ".item .tolist numpy.array_split numpy.ascontiguousarray numpy.asfortranarray numpy.broadcast_arrays "
        "numpy.dsplit numpy.fliplr numpy.flipud numpy.hsplit numpy.ndenumerate numpy.rollaxis numpy.rot90 "
        "numpy.sliding_window_view numpy.split numpy.unstack numpy.vsplit"
    ),
    "reductions": (
        ".all .any .argmax .argmin .max .mean .min .prod .std .sum .var numpy.all numpy.amax numpy.amin "
        "numpy.any numpy.argmax numpy.argmin numpy.count_nonzero numpy.max numpy.mean numpy.min numpy.prod "
        "numpy.ptp numpy.std numpy.sum numpy.var"
    ),
    "reshaping": ".flatten .ravel .reshape numpy.ravel numpy.reshape",
    "scans": (
        ".cumprod .cumsum numpy.convolve numpy.correlate numpy.cumprod numpy.cumsum numpy.diff numpy.gradient "
        "numpy.interp numpy.trapezoid"
    ),
    "selecting": (
        ".choose .compress .nonzero .take numpy.allclose numpy.argwhere numpy.array_equal numpy.choose "
        "numpy.compress numpy.extract numpy.flatnonzero numpy.isclose numpy.nonzero numpy.put numpy.take "
        "numpy.take_along_axis"
    ),
    "sequences": (
        "_functools.reduce builtins.list builtins.map builtins.sorted itertools.accumulate itertools.chain "
        "itertools.combinations itertools.product"
    ),
    "shaping": (
        ".astype .fill .squeeze .swapaxes .transpose numpy.broadcast_to numpy.concatenate numpy.diag "
        "numpy.diagflat numpy.expand_dims numpy.flip numpy.hstack numpy.moveaxis numpy.roll numpy.squeeze "
        "numpy.stack numpy.swapaxes numpy.transpose numpy.tril numpy.triu numpy.vstack"
    ),
    "sorting": (
        ".argsort .searchsorted .sort numpy.argsort numpy.digitize numpy.isin numpy.lexsort "
        "numpy.searchsorted numpy.sort numpy.unique"
    ),
    "spacing": "numpy.geomspace numpy.linspace numpy.logspace",
    "statistics": (
        "numpy.average numpy.corrcoef numpy.cov numpy.cumulative_prod numpy.cumulative_sum numpy.ediff1d "
        "numpy.intersect1d numpy.polyadd numpy.polyder numpy.polyint numpy.polysub numpy.polyval "
        "numpy.setdiff1d numpy.setxor1d numpy.union1d"
    ),
    "streams": "weft.item_of weft.length_of weft.whole",
    "texts": (
        "builtins.bin builtins.chr builtins.hex builtins.oct builtins.ord builtins.str weft.code_at "
        "weft.is_of weft.one_at weft.require"
    ),
    "ufuncs": (
        "numpy.absolute numpy.add numpy.arccos numpy.arccosh numpy.arcsin numpy.arcsinh numpy.arctan "
        "numpy.arctan2 numpy.arctanh numpy.bitwise_and numpy.bitwise_count numpy.bitwise_or numpy.bitwise_xor "
        "numpy.cbrt numpy.ceil numpy.conjugate numpy.copysign numpy.cos numpy.cosh numpy.deg2rad "
        "numpy.degrees numpy.divide numpy.divmod numpy.equal numpy.exp numpy.exp2 numpy.expm1 numpy.fabs "
        "numpy.float_power numpy.floor numpy.floor_divide numpy.fmax numpy.fmin numpy.fmod numpy.frexp "
        "numpy.gcd numpy.greater numpy.greater_equal numpy.heaviside numpy.hypot numpy.invert numpy.isfinite "
        "numpy.isinf numpy.isnan numpy.lcm numpy.ldexp numpy.left_shift numpy.less numpy.less_equal numpy.log "
        "numpy.log10 numpy.log1p numpy.log2 numpy.logaddexp numpy.logaddexp2 numpy.logical_and "
        "numpy.logical_not numpy.logical_or numpy.logical_xor numpy.maximum numpy.minimum numpy.modf "
        "numpy.multiply numpy.negative numpy.nextafter numpy.not_equal numpy.positive numpy.power "
        "numpy.rad2deg numpy.radians numpy.reciprocal numpy.remainder numpy.right_shift numpy.rint numpy.sign "
        "numpy.signbit numpy.sin numpy.sinh numpy.spacing numpy.sqrt numpy.square numpy.subtract numpy.tan "
        "numpy.tanh numpy.trunc"
    ),
}

_HOMES: dict[str, list[str]] = {}
for _module, _names in MODULES.items():
    for _name in _names.split():
        _HOMES.setdefault(_name, []).append(_module)
_LIBRARIES = {name.partition(".")[0] for name in _HOMES} - {""}


def name_of(thing: Any) -> str:
    """np.exp --> numpy.exp, np.add.at --> builtins.at"""
    name = getattr(thing, "__name__", None)
    return f"{_library(thing)}.{name if isinstance(name, str) else type(thing).__name__}"


def _library(thing: Any) -> str:
    module = getattr(thing, "__module__", None)
    return (module if isinstance(module, str) else home_of(type(thing))).partition(".")[0]


def homes(name: str) -> list[str]:
    """The modules with entries of this name."""
    return _HOMES.get(name, [])


def may_be_known(thing: Any) -> bool:
    """Whether something comes from a library that some entry is of."""
    return _library(thing) in _LIBRARIES
