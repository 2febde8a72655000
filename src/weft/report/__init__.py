"""What weft did to each source line, and why it did not do more: as text, JSON and an HTML page."""

from __future__ import annotations

from weft.report.explain import Explanation, FunctionSource, LineReport, Note, VersionReport, explain

__all__ = ["Explanation", "FunctionSource", "LineReport", "Note", "VersionReport", "explain"]
