"""The Python back end, which serves where there is no C compiler: every kernel of the corpus, in every spelling,
gives what plain Python gives.
"""

from __future__ import annotations

import pytest

import weft
from tests.apps.kernels import KERNELS
from tests.support import same_as_plain

CASES = [(name, form) for name, kernel in KERNELS.items() for form in kernel.forms]


@pytest.mark.parametrize(("name", "form"), CASES, ids=[f"{name}-{form}" for name, form in CASES])
def test_kernel_equals_plain_python(name: str, form: str) -> None:
    kernel = KERNELS[name]
    function = kernel.forms[form]
    compiled = weft.jit(fallback="error", backend="python")(function)
    for size in kernel.small:
        same_as_plain(compiled, function, lambda size=size: kernel.arguments(form, size), max(kernel.tolerance, 1e-12))
