"""Arrays that a cluster holds.  In: blocks of an engine's; out: an object that is used as an ndarray and fetches its
elements when they are looked at.

Reading gives read-only memory: the blocks stay what they are.  Assignments to elements (`x[0] = 1`, `x += y`) bring the
array here; the next distributed call sends it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weft.cluster.drawn import blocks_html
from weft.cluster.spread import Spread

Array = np.ndarray[Any, Any]


class ClusterArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array in blocks.  `gather` makes one ndarray of a spread array."""

    __array_priority__ = 1000.0

    def __init__(self, spread: Spread, gather: Callable[[Spread], Array]) -> None:
        self._spread = spread
        self._gather = gather
        self._local: Array | None = None

    # --- without a look at the elements ---

    @property
    def shape(self) -> tuple[int, ...]:
        return self._spread.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        found: np.dtype[Any] = np.dtype(self._spread.dtype)
        return found

    @property
    def ndim(self) -> int:
        return len(self._spread.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self._spread.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self._spread.nbytes

    @property
    def is_here(self) -> bool:
        """Whether the elements are in this process."""
        return self._local is not None or self._spread.source is not None

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    # --- the elements ---

    def _read(self) -> Array:
        """The elements, not to be changed."""
        if self._spread.source is not None:
            view: Array = self._spread.source.view()
            view.flags.writeable = False
            return view
        if self._local is None:
            self._local = self._gather(self._spread)
            self._local.flags.writeable = False
        return self._local

    def _writable(self) -> Array:
        """The elements, to be changed: from now on this memory is the array."""
        if self._spread.source is None:
            array = np.array(self._read())
            self._take(array)
        assert self._spread.source is not None
        return self._spread.source

    def _take(self, array: Array) -> None:
        self._spread = Spread(array.shape, array.dtype, source=array)
        self._local = None

    def _become(self, spread: Spread) -> None:
        """A distributed call has changed the array."""
        self._spread = spread
        self._local = None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = self._read()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ValueError("a copy is needed to convert the elements")
            return array.astype(dtype)
        return np.array(array) if copy else array

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        outputs = kwargs.get("out", ())
        if outputs:
            kwargs["out"] = tuple(o._writable() if isinstance(o, ClusterArray) else o for o in outputs)
        if "where" in kwargs:
            kwargs["where"] = _plain(kwargs["where"])
        result = getattr(ufunc, method)(*(_plain(value) for value in inputs), **kwargs)
        if outputs and len(outputs) == 1 and isinstance(outputs[0], ClusterArray):
            return outputs[0]
        return result

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return function(*_plain(args), **_plain(kwargs))

    def __getitem__(self, place: Any) -> Any:
        return self._read()[_plain(place)]

    def __setitem__(self, place: Any, value: Any) -> None:
        self._writable()[_plain(place)] = _plain(value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._read())

    def __contains__(self, value: Any) -> bool:
        return value in self._read()

    def __bool__(self) -> bool:
        return bool(self._read())

    def __int__(self) -> int:
        return int(self._read())

    def __float__(self) -> float:
        return float(self._read())

    def __complex__(self) -> complex:
        return complex(self._read())

    def __index__(self) -> int:
        return self._read().__index__()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in _CHANGING:
            return getattr(self._writable(), name)
        return getattr(self._read(), name)

    def __reduce__(self) -> Any:
        return np.asarray, (np.array(self._read()),)

    def __copy__(self) -> Array:
        return np.array(self._read())

    def __deepcopy__(self, memo: Any) -> Array:
        return np.array(self._read())

    def __repr__(self) -> str:
        if self.is_here:
            return repr(self._read())
        return f"<array of {self.shape} {self.dtype} on the cluster, in {len(self._spread.pieces)} blocks>"

    def _blocks(self) -> list[tuple[int, Sequence[tuple[int, int]]]]:
        """Who holds which part, as ranges of the axes: the number of a block here, that of a rank with MPI."""
        spread, whole = self._spread, [(0, extent) for extent in self.shape]
        cuts = [(piece.first, piece.past) for piece in spread.pieces]
        if spread.axis is None:
            return [(number, whole) for number in range(len(cuts))]
        return [(number, [*whole[: spread.axis], cut, *whole[spread.axis + 1 :]]) for number, cut in enumerate(cuts)]

    def _repr_html_(self) -> str:
        """For notebooks: the blocks drawn, without bringing them here."""
        return blocks_html(repr(self), self.shape, [] if self.is_here else self._blocks())

    def __str__(self) -> str:
        return str(self._read())

    def __format__(self, text: str) -> str:
        return format(self._read(), text)


#: Methods of an array that change it.
_CHANGING = frozenset({"fill", "sort", "partition", "put", "itemset", "resize", "setfield", "byteswap"})


def _plain(value: Any) -> Any:
    """A value with every array of a cluster in it brought here."""
    if isinstance(value, ClusterArray):
        return value._read()
    if type(value) in (tuple, list):
        return type(value)(_plain(item) for item in value)
    if type(value) is dict:
        return {key: _plain(item) for key, item in value.items()}
    return value
