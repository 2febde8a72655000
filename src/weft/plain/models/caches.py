"""functools.cache and lru_cache of nested functions: the results are kept for one call of the compiled function, as the
function itself lives no longer."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any


def unlimited(function: Any) -> Any:
    memo = {}  # type: ignore[var-annotated]

    def remembered(*arguments: Any) -> Any:
        if arguments in memo:
            return memo[arguments]
        result = function(*arguments)
        memo[arguments] = result
        return result

    return remembered


def limited(most: Any) -> Any:
    def around(function: Any) -> Any:
        memo = OrderedDict()  # type: ignore[var-annotated]

        def remembered(*arguments: Any) -> Any:
            if arguments in memo:
                memo.move_to_end(arguments)
                return memo[arguments]
            result = function(*arguments)
            if arguments not in memo:
                if most > 0:
                    memo[arguments] = result
                if len(memo) > most:
                    memo.popitem(last=False)
            return result

        return remembered

    return around
