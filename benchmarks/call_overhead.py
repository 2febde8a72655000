"""What a call costs before any work is done. In comes a number of repetitions (and `--json`); out comes a table, or one
JSON object, of nanoseconds for a call through the native dispatcher, for a plain Python function with the same
parameters, and for an empty parallel region. Each figure is the best of several runs.
"""

from __future__ import annotations

import argparse
import json
import timeit
from typing import Any

import numpy as np

from weft.runtime import dispatch, interpreted, threads, toolchain
from weft.runtime.descriptor import (
    ArrayParam,
    ArrayResult,
    DirectParam,
    ListParam,
    NoneResult,
    Result,
    ScalarParam,
    ScalarResult,
    Signature,
    Version,
    result_base,
)

SOURCE = """
typedef long long int64_t;
typedef struct {
    int64_t version;
    void *(*new_array)(int64_t *, int64_t, int64_t, int64_t, const int64_t *, int64_t);
    void *(*alloc)(int64_t);
    void (*release)(void *);
    void (*parallel)(void (*)(void *, int64_t, int64_t, int64_t), void *, int64_t, int64_t);
} weft_rt;
int64_t nothing(const weft_rt *rt, int64_t *w) { return 0; }
int64_t fresh(const weft_rt *rt, int64_t *w) { int64_t n = 10; return rt->new_array(w, RESULT, 12, 1, &n, 0) ? 0 : 4; }
static void piece(void *ctx, int64_t begin, int64_t end, int64_t task) {}
int64_t region(const weft_rt *rt, int64_t *w) { rt->parallel(piece, 0, 2, 2); return 0; }
"""

ARRAY, FLOAT = ArrayParam(np.dtype(np.float64).num, 1), ScalarParam("float")
FIVE: tuple[DirectParam, ...] = (ARRAY, ARRAY, ARRAY, FLOAT, FLOAT)


def function(symbol: str, params: tuple[DirectParam, ...], result: Result, hold_below: int = 0) -> Any:
    compiler = toolchain.find()
    assert compiler is not None
    source = SOURCE.replace("RESULT", str(result_base(params)))
    kernel = dispatch.load_kernel(compiler.build_shared(source, name="call_overhead"), symbol)
    words = result_base(params) + 2
    made = dispatch.dispatcher_type()(Signature(tuple("abcdefgh"[: len(params)])))
    made.add_version(Version(params, (result,), kernel.address, words, keepalive=kernel, hold_below=hold_below))
    return made


def interpreted_function() -> Any:
    made = interpreted.Dispatcher(Signature(tuple("abcde")))
    made.add_version(Version(FIVE, (), lambda a, b, c, d, e: None))
    return made


def nanoseconds(statement: str, names: dict[str, Any], number: int) -> float:
    return 1e9 * min(timeit.repeat(statement, globals=names, number=number, repeat=7)) / number


def measure(number: int) -> dict[str, float]:
    base = result_base(FIVE)
    names: dict[str, Any] = {"a": np.zeros(10), "l": [0.5] * 10}
    five = "f(a, a, a, 1.5, 2.5)"
    cases: list[tuple[str, str, Any]] = [
        ("plain Python function, 3 arrays + 2 floats", five, lambda a, b, c, d, e: None),
        ("interpreted dispatcher, 3 arrays + 2 floats", five, interpreted_function()),
    ]
    if dispatch.load_core() is not None:
        threads.set_num_threads(2)
        cases += [
            ("native, 3 arrays + 2 floats", five, function("nothing", FIVE, NoneResult())),
            ("native, the same by keyword", "f(a, a, c=a, d=1.5, e=2.5)", function("nothing", FIVE, NoneResult())),
            ("native, the same, float result", five, function("nothing", FIVE, ScalarResult("float", base))),
            ("native, the same, new array", five, function("fresh", FIVE, ArrayResult(base))),
            ("native, lock kept", five, function("nothing", FIVE, NoneResult(), 500)),
            ("native, lock kept, new array", five, function("fresh", FIVE, ArrayResult(base), 500)),
            ("native, no parameters", "f()", function("nothing", (), NoneResult())),
            ("native, list of 10 floats", "f(l)", function("nothing", (ListParam("float"),), NoneResult())),
            ("native, empty region on 2 threads", "f()", function("region", (), NoneResult())),
        ]
    return {label: nanoseconds(statement, {**names, "f": f}, number) for label, statement, f in cases}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--number", type=int, default=100_000)
    arguments = parser.parse_args()
    figures = measure(arguments.number)
    if arguments.json:
        print(json.dumps(figures, indent=2))
        return
    for label, figure in figures.items():
        print(f"{label:48s} {figure:8.0f} ns")


if __name__ == "__main__":
    main()
