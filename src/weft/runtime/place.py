"""Where compiled code is kept.  In: the environment; out: a path as text.

Apart from the cache, which takes a while to load: `weft run` looks there before the program begins.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as typing has it, without loading typing: a script waits for these imports
if TYPE_CHECKING:
    from collections.abc import Mapping

STORE = "weft-store"  # the folder in it that is weft's own


def directory(environment: Mapping[str, str] | None = None) -> str:
    """$WEFT_CACHE_DIR, else `weft` in the user's cache directory."""
    environment = os.environ if environment is None else environment
    chosen = environment.get("WEFT_CACHE_DIR", "")
    if chosen:
        return os.path.join(os.getcwd(), chosen)
    base = environment.get("XDG_CACHE_HOME", "")
    if base and os.path.isabs(base):
        return os.path.join(base, "weft")
    if sys.platform == "win32" and environment.get("LOCALAPPDATA"):
        return os.path.join(environment["LOCALAPPDATA"], "weft", "cache")
    home = os.path.expanduser("~")
    if not os.path.isabs(home):
        # Nobody's home (a bare container): a place nobody can write leads to the private directory and its warning.
        return os.path.join(os.devnull, "weft")
    caches = ("Library", "Caches") if sys.platform == "darwin" else (".cache",)
    return os.path.join(home, *caches, "weft")
