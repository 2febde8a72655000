"""What compiled functions print.  In: pieces of text, in order; out: the same characters on `sys.stdout`, once.

The run time keeps what a call prints until the call returns, or has run for a while (native/effects.c). A call that
deoptimises is repeated by Python: then what is out already is not written again.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator
from typing import Any


def write(pieces: list[str], flush: int) -> None:
    """As `print` would have written them, piece by piece; at once where nobody can tell."""
    stream = sys.stdout
    if stream is None:
        return
    if type(stream) in (io.TextIOWrapper, io.StringIO):
        stream.write("".join(pieces))
    else:
        for piece in pieces:
            stream.write(piece)
    if flush:
        stream.flush()


class _Resumed:
    """A stream that has had the first characters already."""

    def __init__(self, stream: Any, left: int) -> None:
        self._stream = stream
        self._left = left

    def write(self, text: str) -> int:
        passed = min(self._left, len(text))
        self._left -= passed
        if passed < len(text) or not text:
            self._stream.write(text[passed:])
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextlib.contextmanager
def without_first(characters: int) -> Iterator[None]:
    """Python repeats a call that has written so many characters."""
    stream = sys.stdout
    if stream is None:
        yield
        return
    resumed: Any = _Resumed(stream, characters)
    sys.stdout = resumed
    try:
        yield
    finally:
        if sys.stdout is resumed:
            sys.stdout = stream
