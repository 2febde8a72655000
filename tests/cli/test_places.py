"""Where functions come from: notebooks, the interactive interpreter, `python -c`, `exec`, lambdas, methods. What has no
source stays Python with one warning; what has one is compiled.
"""

from __future__ import annotations

import functools
import linecache
import warnings

import numpy as np
import pytest

import weft

TEXT = "@weft.jit\ndef total(x):\n    s = 0.0\n    for v in x:\n        s += v\n    return s\n"
VALUES = np.arange(5.0)


def test_a_notebook_cell_has_a_source():
    name = "<ipython-input-7-0123456789ab>"
    linecache.cache[name] = (len(TEXT), None, TEXT.splitlines(keepends=True), name)
    namespace = {"weft": weft}
    exec(compile(TEXT.replace("@weft.jit", "@weft.jit(fallback='error')"), name, "exec"), namespace)
    assert namespace["total"](VALUES) == 10.0 and namespace["total"].signatures == ["(f64[:])"]


def test_code_without_a_source_stays_python():
    namespace = {"weft": weft}
    exec(TEXT.replace("s +=", "s += 0 +"), namespace)  # nobody else compiles it, and leaves it in the cache
    with pytest.warns(weft.FallbackWarning, match="the source of total cannot be found"):
        assert namespace["total"](VALUES) == 10.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert namespace["total"](VALUES) == 10.0  # it is told once


def test_python_dash_c_and_the_interactive_interpreter(command):
    use = "import numpy as np, weft\n" + TEXT + "\nprint(total(np.arange(5.0)))\n"
    # On other lines it is another function, which no other way to run it leaves in the cache.
    for arguments, stdin in ((("-c", use), None), (("-i", "-q"), "\n" + use), (("-",), "\n\n" + use)):
        result = command(*arguments, stdin=stdin)
        assert result.stdout.strip() == "10.0", result.stderr
        # Only the text of `-c` can be had again.
        assert result.stderr.count("FallbackWarning") == ("-c" not in arguments) and "Traceback" not in result.stderr


class _Kinds:
    factor = 2.0

    def __init__(self):
        self.weight = 3.0

    @weft.jit
    def method(self, x):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i] * self.weight
        return s

    @staticmethod
    @weft.jit
    def static(x):
        return x.sum()

    @weft.jit
    @staticmethod
    def wrapped(x):
        return x.sum()

    @classmethod
    @weft.jit
    def of_class(cls, x):
        return x.sum() * cls.factor

    @property
    @weft.jit
    def twice(self):
        return self.weight * 2


@pytest.mark.filterwarnings("ignore::weft.errors.FallbackWarning")
def test_methods_of_every_kind():
    item = _Kinds()
    assert item.method(VALUES) == _Kinds.method(item, VALUES) == 30.0
    assert item.static(VALUES) == _Kinds.static(VALUES) == item.wrapped(VALUES) == _Kinds.wrapped(VALUES) == 10.0
    assert item.of_class(VALUES) == _Kinds.of_class(VALUES) == 20.0 and item.twice == 6.0


@pytest.mark.filterwarnings("ignore::weft.errors.FallbackWarning")
def test_what_is_no_def():
    assert weft.jit(lambda y: (y * 2).sum())(VALUES) == 20.0
    assert weft.jit(len)([1, 2]) == 2 and weft.jit(functools.partial(max, 3))(5) == 5

    async def coroutine(x):
        return x

    def generator(n):
        yield from range(n)

    started = weft.jit(coroutine)(1)
    started.close()
    assert list(weft.jit(generator)(3)) == [0, 1, 2]
