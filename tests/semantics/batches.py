"""Many expressions compared in one compilation: those NumPy refuses for the arguments at hand are left out."""

from __future__ import annotations

from collections.abc import Sequence

from tests.support import Maker, differential_source, function_from_source, lines, outcome


def check_batch(
    expressions: Sequence[str], make: Maker, tolerance: float = 0.0, header: str = "a", **how: object
) -> None:
    """Each expression of the parameters in `header` gives what NumPy gives; at least one must be accepted by NumPy."""
    usable = [
        text
        for text in expressions
        if outcome(function_from_source(lines(header, f"return {text}")), make()).error is None
    ]
    assert usable, "NumPy accepts none of the expressions: the test tests nothing"
    source = lines(header, "return " + ", ".join(usable) + ",")
    differential_source(source, make, tolerance=tolerance, **{"zero_signs": False, "memory": False, **how})


def check_statements(header: str, *body: str, make: Maker, **how: object) -> None:
    """The statements leave the arguments and the result as plain Python leaves them, or raise the same exception."""
    differential_source(lines(header, *body), make, **how)
