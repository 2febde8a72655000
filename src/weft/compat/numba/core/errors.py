"""`numba.core.errors`: Numba's exceptions and warnings.  weft raises few of them, but programs name them in `except`
and in filters of warnings.
"""

from __future__ import annotations


class NumbaError(Exception):
    """The root of Numba's exceptions."""


class TypingError(NumbaError):
    """A signature or a call whose types make no sense."""


class UnsupportedError(NumbaError):
    """Something of Numba that has no counterpart in weft."""


class NumbaNotImplementedError(NumbaError, NotImplementedError):
    """Something that has no counterpart."""


class LoweringError(NumbaError):
    """Never raised here: what cannot be compiled runs as plain Python."""


class NumbaTypeError(TypingError):
    """A TypeError of Numba's."""


class NumbaValueError(TypingError):
    """A ValueError of Numba's."""


class UnsupportedRewriteError(UnsupportedError):
    """Never raised here."""


class UntypedAttributeError(TypingError):
    """Never raised here."""


class RequireLiteralValue(TypingError):
    """Never raised here: every value is known when weft compiles."""


class NumbaWarning(Warning):
    """The root of Numba's warnings."""


class NumbaPerformanceWarning(NumbaWarning):
    """Never issued here."""


class NumbaDeprecationWarning(NumbaWarning, DeprecationWarning):
    """Never issued here."""


class NumbaPendingDeprecationWarning(NumbaWarning, PendingDeprecationWarning):
    """Never issued here."""


class NumbaExperimentalFeatureWarning(NumbaWarning):
    """Never issued here."""


class NumbaTypeSafetyWarning(NumbaWarning):
    """Never issued here."""


class NumbaParallelSafetyWarning(NumbaWarning):
    """Never issued here."""
