"""Every kernel of the corpus, in every spelling, gives under `fallback="error"` what plain Python gives: results,
types and the arguments changed in place, at tiny and odd sizes, on the first call and on the next.
"""

from __future__ import annotations

import pytest

import weft
from tests.apps.kernels import FAMILIES, KERNELS
from tests.support import compare, outcome, same_as_plain

CASES = [(name, form) for name, kernel in KERNELS.items() for form in kernel.forms]


@pytest.mark.parametrize(("name", "form"), CASES, ids=[f"{name}-{form}" for name, form in CASES])
def test_kernel_equals_plain_python(name: str, form: str) -> None:
    kernel = KERNELS[name]
    function = kernel.forms[form]
    native = form not in kernel.partial
    compiled = weft.jit(fallback="error" if native else "silent")(function)
    for size in (kernel.medium, *kernel.small):
        same_as_plain(compiled, function, lambda size=size: kernel.arguments(form, size), kernel.tolerance)
    if native:
        assert compiled.stats["python_calls"] == 0


# Their spellings return more or other things than one another, by intent.
DIFFERENT_RESULTS = {"running_maximum", "knapsack", "sieve", "life"}
BOTH = [name for name, kernel in KERNELS.items() if {"numpy", "loops"} <= set(kernel.forms)]
COMPARED = [name for name in BOTH if name not in DIFFERENT_RESULTS]


@pytest.mark.parametrize("name", COMPARED)
def test_spellings_agree_in_plain_python(name: str) -> None:
    """The corpus itself: the spellings of a kernel that return the same things are the same mathematics."""
    kernel = KERNELS[name]
    size = kernel.medium
    one = outcome(kernel.forms["numpy"], kernel.arguments("numpy", size))
    other = outcome(kernel.forms["loops"], kernel.arguments("loops", size))
    assert one.error is None and other.error is None
    why = compare(other, one, max(kernel.tolerance, 1e-9), memory=False, zero_signs=False)
    assert why is None, why


def test_each_kernel_has_one_name() -> None:
    assert len(KERNELS) == sum(len(family.KERNELS) for family in FAMILIES)


@pytest.mark.parametrize("fp", ["strict", "fast"])
@pytest.mark.parametrize("name", ["jacobi_2d", "gesummv", "softmax", "forces"])
def test_floating_point_modes(name: str, fp: str) -> None:
    """strict: the loops' own order of sums, bit for bit; fast: close."""
    kernel = KERNELS[name]
    compiled = weft.jit(fallback="error", fp=fp)(kernel.forms["loops"])
    exact = fp == "strict" and name not in ("softmax", "forces")  # elementary functions may differ in the last bit
    same_as_plain(
        compiled,
        kernel.forms["loops"],
        lambda: kernel.arguments("loops", kernel.medium),
        0.0 if exact else 1e-10,
        zero_signs=exact,
    )
