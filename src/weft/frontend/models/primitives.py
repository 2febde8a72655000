"""What the bodies of models may say beyond Python: conditions under which they are the library's own answer.

In: sizes and types while a model is compiled in; out: a guard of the compiled version, or a refusal, after which the
library itself is called.
"""

from __future__ import annotations

from typing import Any


def equal_sizes(first: int, second: int) -> None:
    """The model covers calls with equal sizes; the library has the right error, or another meaning, for the rest."""
    assert first == second


def covered(condition: bool, what: str) -> None:
    """The model covers calls for which the condition is known to hold while compiling."""
    assert condition, what


def is_number(value: Any) -> bool:
    """Whether a value is one number."""
    return not hasattr(value, "shape") or value.shape == ()


def is_dense(value: Any) -> bool:
    """Whether a value is an array of NumPy's."""
    return hasattr(value, "strides")
