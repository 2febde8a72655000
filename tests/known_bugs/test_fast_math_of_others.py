"""fp="fast" is for the function that asks for it: other code of the process keeps subnormal numbers."""

from __future__ import annotations

import numpy as np
import pytest

import weft


@pytest.mark.native
def test_subnormal_numbers_stay() -> None:
    @weft.jit(fp="fast", cache=False)
    def scaled(a):
        return (a * 3.0).sum()

    assert scaled(np.ones(5)) == 15.0
    tiny = 2.0**-1060
    assert tiny * 2.0 == 2.0**-1059 and tiny / 2.0 != 0.0
