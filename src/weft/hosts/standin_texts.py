"""What texts of weft ask of other modules of weft, in a module that stands alone.  In: whether it has plain Python;
out: texts in the place of these modules, by their names.
"""

from __future__ import annotations

import inspect

from weft import errors
from weft.hosts import embedded_plain
from weft.plain.types import DTYPES

#: A data class looks for its module by name: it has none.
_RECORDS = """
import dataclasses
def dataclass(**options):
    def wrap(cls):
        cls.__module__ = "builtins"
        return dataclasses.dataclass(**options)(cls)
    return wrap
"""
_DISPATCH = """
import types
helpers = {}
def load_core():
    return types.SimpleNamespace(library=types.SimpleNamespace(**helpers))
"""
_ERRORS = f"""
import importlib
from typing import Any
class CompileError(Exception): pass
class Span: pass
{inspect.getsource(errors.located)}
def hide_own_frames(error):
    found = error.__traceback__
    while found is not None and found.tb_frame.f_code.co_filename.startswith("<weft"):
        found = found.tb_next
    error.__traceback__ = found
"""


def standins(plain: bool) -> dict[str, str]:
    found = {"weft.records": _RECORDS, "weft.runtime.dispatch": _DISPATCH, "weft.errors": _ERRORS}
    if plain:
        found["weft.plain.runtime"] = inspect.getsource(embedded_plain)
        found["weft.plain.kept"] = "Made = Store = Texts = None\n"
        found["weft.plain.told"] = "class Refusal(Exception): pass\n"
        found["weft.plain.types"] = f"DTYPES = {tuple(DTYPES)!r}\n"
    return found
