"""Library routines for C hosts.  In: the addresses of routines as kernels ask for them; out: the functions of
native/host_routines.c that stand for these, as tables in C.

    numpy:sort_stable:d->d   -->   host_sort_d
"""

from __future__ import annotations

import re
from typing import Final

_TABLE: Final = re.compile(r'^const char weft_routine_names\[\] = "(.*)";\nvoid \*weft_routines\[\d+\];', re.M)
_SORTS: Final = ("sort", "argsort")
_FACTORS: Final = ("solve", "solve1", "inv", "det", "slogdet", "cholesky_lo", "cholesky_up")
_SPECTRA: Final = (
    *("eigh_lo", "eigh_up", "eigvalsh_lo", "eigvalsh_up", "svd", "svd_s", "svd_f"),
    *("qr_r_raw", "qr_reduced", "qr_complete", "lstsq"),
)
_GENERAL: Final = ("eig", "eigvals")


def function(address: str) -> str | None:
    """The C function of a routine; None if a C host has none."""
    _, name, types = address.split(":")
    what, letter = name.partition("_")[0], types[0]
    if what in _SORTS:
        return f"host_{what}_{'truth' if letter == '?' else letter}"
    if name in _FACTORS and letter in "dD":
        return f"host_{name}_{letter}"
    if name in _SPECTRA and letter == "d":
        return f"host_{name}_d"
    if name in _GENERAL and letter == "D":
        return f"host_{name}_D"
    return f"host_{name}_{letter}" if "fft" in name else None


def with_table(text: str, table: str) -> tuple[str, str]:
    """A kernel that takes its routines from a table of that name, and the table; "" if it calls none."""
    found = _TABLE.search(text)
    if found is None:
        return text, ""
    rows = ", ".join(f"(void *){function(address)}, NULL" for address in found[1].split(";"))
    own = f'#define weft_routines {table}\nextern void *{table}[] __attribute__((visibility("hidden")));'
    made = f'__attribute__((visibility("hidden"))) void *{table}[] = {{{rows}}};'
    return _TABLE.sub(lambda _: own, text, count=1), made
