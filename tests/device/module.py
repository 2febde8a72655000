"""An array module for tests, as strict as CuPy: its arrays and NumPy's never meet in one operation."""

from __future__ import annotations

import types
from typing import Any

import numpy as np


def _inner(value: Any) -> Any:
    if isinstance(value, Array):
        return value._data
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("an array of NumPy's among those of the module")
    if isinstance(value, (tuple, list)):
        return type(value)(map(_inner, value))
    return value


def _outer(value: Any) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        return Array(np.asarray(value))
    return tuple(map(_outer, value)) if isinstance(value, tuple) else value


def _calling(function: Any) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        return _outer(function(*map(_inner, args), **{name: _inner(value) for name, value in kwargs.items()}))

    return call


class Array:
    """An array of the module.  NumPy's functions and operators refuse it."""

    __array_ufunc__ = None

    def __init__(self, data: Any) -> None:
        self._data = data

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("an array of the module becomes NumPy's by get() alone")

    def get(self, out: Any = None) -> Any:
        if out is None:
            return self._data.copy()
        assert (out.shape, out.dtype) == (self._data.shape, self._data.dtype) and out.flags.forc
        out[...] = self._data
        return out

    def set(self, array: Any) -> None:
        assert isinstance(array, np.ndarray) and array.flags.forc
        assert (array.shape, array.dtype) == (self._data.shape, self._data.dtype)
        self._data[...] = array

    @property
    def __cuda_array_interface__(self) -> Any:
        return {**self._data.__array_interface__, "version": 3}

    @property
    def data(self) -> Any:
        return types.SimpleNamespace(ptr=self._data.ctypes.data)

    @property
    def T(self) -> Any:
        return Array(self._data.T)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._data, name)
        return _calling(value) if callable(value) else _outer(value) if isinstance(value, np.ndarray) else value

    def __getitem__(self, index: Any) -> Any:
        return _outer(self._data[_inner(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._data[_inner(index)] = _inner(value)

    def __len__(self) -> int:
        return len(self._data)

    def __bool__(self) -> bool:
        return bool(self._data)

    def __int__(self) -> int:
        return int(self._data)

    def __float__(self) -> float:
        return float(self._data)

    def __complex__(self) -> complex:
        return complex(self._data)

    __index__ = __int__


def _operator(name: str) -> Any:
    return lambda self, *others: _outer(getattr(self._data, name)(*map(_inner, others)))


_NAMES = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
for _name in [*_NAMES, *(f"r{name}" for name in _NAMES), *"lt le gt ge eq ne neg pos abs invert".split()]:
    setattr(Array, f"__{_name}__", _operator(f"__{_name}__"))


class Module:
    """What generated code calls `xp`."""

    ndarray = Array

    def __init__(self, inside: Any = np) -> None:
        self._inside = inside
        self.moved = 0

    def asarray(self, value: Any) -> Any:
        self.moved += 1
        return value if isinstance(value, Array) else Array(np.array(value))

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inside, name)
        if isinstance(value, np.ufunc):
            return _Ufunc(value)
        return _calling(value) if callable(value) else Module(value)


class _Ufunc:
    def __init__(self, function: Any) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _calling(self._function)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return _calling(getattr(self._function, name))
