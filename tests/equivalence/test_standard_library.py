"""Any function that CPython can run gives the same answer under weft: modules of the standard library, with every
function decorated, pass CPython's own tests."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
#: A module, its tests, and those of them that cannot pass.
SHORT = [("colorsys", "test_colorsys"), ("graphlib", "test_graphlib"), ("reprlib", "test_reprlib")]
LONG = [
    ("calendar", "test_calendar"),
    ("collections", "test_collections"),
    ("configparser", "test_configparser"),
    ("copy", "test_copy", "test_deepcopy_atomic"),  # a float that is given back is an equal one
    ("csv", "test_csv"),
    ("difflib", "test_difflib"),
    ("fractions", "test_fractions"),
    ("html.parser", "test_htmlparser"),
    ("ipaddress", "test_ipaddress"),
    ("ntpath", "test_ntpath"),
    ("optparse", "test_optparse"),
    ("plistlib", "test_plistlib"),
    ("pprint", "test_pprint"),
    ("random", "test_random"),
    ("shlex", "test_shlex"),
    ("statistics", "test_statistics"),
    ("string", "test_string"),
    ("textwrap", "test_textwrap"),
    ("tokenize", "test_tokenize"),
    ("urllib.parse", "test_urlparse"),
]


@pytest.mark.parametrize(
    "names", [*SHORT, *(pytest.param(row, marks=pytest.mark.slow) for row in LONG)], ids=lambda row: row[0]
)
def test_a_module_under_weft_passes_its_own_tests(names: tuple[str, ...]) -> None:
    if importlib.util.find_spec("test.support") is None:
        pytest.skip("CPython's own tests are not installed")
    run = [sys.executable, str(HERE / "under_jit.py"), *names]
    ran = subprocess.run(run, capture_output=True, text=True, timeout=500)
    assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]
