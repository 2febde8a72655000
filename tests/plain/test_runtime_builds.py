"""The run time of plain Python builds. Other tests are skipped without it, so an error in its C must fail here."""

import pytest

from weft.plain import runtime


@pytest.mark.native
def test_the_run_time_builds_where_there_is_a_compiler() -> None:
    if unfit := runtime._unfit():
        pytest.skip(unfit)
    assert runtime.why_not() is None
