"""`numba.np.numpy_support`: types of Numba's for dtypes of NumPy's, and the other way round."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.compat.numba.core.errors import NumbaNotImplementedError
from weft.compat.numba.special import carray, farray
from weft.compat.numba.types import Type, from_dtype

__all__ = ["as_dtype", "carray", "farray", "from_dtype"]


def as_dtype(of: Type) -> np.dtype[Any]:
    """The dtype of a type of numbers."""
    found = getattr(of, "dtype", None)
    if not isinstance(found, np.dtype):
        raise NumbaNotImplementedError(f"{of} cannot be represented as a NumPy dtype")
    return found
