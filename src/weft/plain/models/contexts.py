"""What `contextlib.contextmanager` makes of a generator."""

from __future__ import annotations

from typing import Any

from weft.plain.models.primitives import leave


class Managed:
    def __init__(self, generator: Any) -> None:
        self.generator = generator

    def __enter__(self) -> Any:
        for item in self.generator:
            return item
        raise RuntimeError("generator didn't yield")

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> Any:
        if kind is not None:
            leave("a context manager that gets an exception")
        for _ in self.generator:
            raise RuntimeError("generator didn't stop")
        return False
