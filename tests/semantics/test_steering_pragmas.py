"""What comments on dimensions ask of the loops: blocks, few elements, sums in registers, one group, the order of loops;
on the CPU, on a device that is a processor, and in the form for accelerators.  Each test looks at the code and at the
answer."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

import weft
from tests.support import opencl_device


def blocked(a, b, c):
    M, N = a.shape
    #pragma :M=>parallel,block(4) :N=>parallel,block(32)
    c[:M, :N] = a[:M, :N] + b[:M, :N]


def blocked_by_name(a, c, N, BN=128):
    #pragma :N=>parallel,block(BN)
    c[:N] = a[:N] * 2.0


def columns_in_registers(a, y):
    M, N = a.shape
    #pragma :N=>parallel :M=>reduce(sum:y),in_reg
    y[:N] = np.sum(a[:M, :N] * 2.0, axis=0)


def one_block(a, c):
    M, N = a.shape
    #pragma :M=>parallel :N=>single_block
    c[:M, :N] = a[:M, :N] * 2.0


def one_block_alone(a, c, N):
    #pragma :N=>single_block
    c[:N] = a[:N] * 2.0


def few(a, c):
    M, D = a.shape
    #pragma :M=>parallel :D=>le(20)
    c[:M, :D] = a[:M, :D] * 2.0


def turned(a, c):
    M, N = a.shape
    #pragma :N=>parallel,block(16) :M=>parallel
    c[:M, :N] = a[:M, :N] * 2.0


def in_order(a, c):
    M, N = a.shape
    #pragma :N=>parallel :M=>parallel
    c[:M, :N] = a[:M, :N] * 2.0


def triangle(data, cov):
    K, M = data.shape
    #pragma parallel
    for i in range(M):
        #pragma i:M=>block(2) :K=>block(2048), in_reg
        cov[i, i:M] = np.sum(data[:K, i][:, None] * data[:K, i:M], axis=0)
        #pragma i:M=>block(256)
        cov[i:M, i] = cov[i, i:M]


def only_inner_is_shared(a, c):
    M, N = a.shape
    #pragma :M=>simd :N=>parallel
    c[:M, :N] = a[:M, :N] * 2.0


def halo(a, b, T):
    M, N = a.shape
    for t in range(T):
        #pragma 1:M-1=>parallel,block(8) 1:N-1=>parallel,block(8)
        b[1:-1, 1:-1] = 0.25 * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
        #pragma 1:M-1=>parallel,block(8) 1:N-1=>parallel,block(8)
        a[1:-1, 1:-1] = b[1:-1, 1:-1]


def _random(*shape):
    return np.random.default_rng(sum(shape)).random(shape)


def _pair(*shape):
    return _random(*shape), np.zeros(shape)


CASES = {
    blocked: lambda: (_random(50, 70), _random(50, 70), np.zeros((50, 70))),
    blocked_by_name: lambda: (*_pair(700), 700),
    columns_in_registers: lambda: (_random(60, 90), np.zeros(90)),
    one_block: lambda: _pair(60, 90),
    one_block_alone: lambda: (*_pair(700), 700),
    few: lambda: _pair(600, 18),
    turned: lambda: _pair(60, 90),
    in_order: lambda: _pair(60, 90),
    triangle: lambda: (_random(50, 40), np.zeros((40, 40))),
    only_inner_is_shared: lambda: _pair(60, 90),
    halo: lambda: (*_pair(40, 50), 4),
}


def _agree(function, compiled, make):
    ours, theirs = make(), make()
    compiled(*ours)
    function(*theirs)
    assert all(np.allclose(one, other) for one, other in zip(ours, theirs))


@pytest.mark.parametrize("fp", ["numpy", "strict", "fast"])
@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_answers_on_the_cpu(function, fp):
    compiled = weft.jit(function, fallback="error", fp=fp)
    _agree(function, compiled, CASES[function])
    _agree(function, compiled, CASES[function])


@pytest.fixture(params=["processor", "accelerator"])
def device(request, monkeypatch):
    opencl_device()
    from weft.device import opencl

    if request.param == "accelerator":
        monkeypatch.setattr(opencl.OpenCL, "is_processor", property(lambda self: False))
    return request.param


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_answers_on_a_device(function, device):
    compiled = weft.jit(function, target="opencl", fallback="error")
    _agree(function, compiled, CASES[function])
    _agree(function, compiled, CASES[function])


@pytest.fixture
def accelerator(monkeypatch):
    opencl_device()
    from weft.device import opencl

    monkeypatch.setattr(opencl.OpenCL, "is_processor", property(lambda self: False))


def _on(function, target="opencl"):
    compiled = weft.jit(function, target=target, fallback="error")
    compiled(*CASES[function]())
    return compiled


def test_blocks_are_groups_of_an_accelerator(accelerator):
    compiled = _on(blocked)
    assert [kernel.group for kernel in compiled.versions()[0].plan.kernels] == [(32, 4)]
    assert "groups of 32 x 4, as asked" in str(compiled.explain())
    assert compiled.versions()[0].last.groups == {"k_kernel0": (32, 4)}
    assert _on(blocked_by_name).versions()[0].last.groups == {"k_kernel0": (128,)}
    assert set(_on(halo).versions()[0].last.groups.values()) == {(8, 8)}


def test_a_large_block_is_as_large_as_a_group_may_be(accelerator):
    def large(a, c, N):
        #pragma :N=>parallel,block(4096)
        c[:N] = a[:N] * 2.0

    compiled = weft.jit(large, target="opencl", fallback="error")
    compiled(*_pair(9000), 9000)
    assert compiled.versions()[0].last.groups == {"k_kernel0": (256,)}


def test_blocks_are_tiles_on_a_processor():
    compiled = weft.jit(blocked, fallback="error")
    _agree(blocked, compiled, CASES[blocked])
    text = str(compiled.program())
    assert re.search(r"for over_M in 4 \* over_M_block", text), text
    assert "tile(over_M" in str(compiled.explain()) and "as a comment asks" in str(compiled.explain())


def test_sums_in_registers(accelerator):
    text = _on(columns_in_registers).inspect("kernels").partition("__kernel")[2]
    assert "k_tree" not in text and "k_barrier" not in text  # no group adds them up
    assert re.search(r"over_N = k_item\(0\)", text)
    assert re.search(r"for \(i64 over_M = 0; .*\n\s*(\w+) = \1 \+ a\[", text)


def test_one_block_is_one_group(accelerator):
    text = _on(one_block).inspect("kernels").partition("__kernel")[2]
    assert re.search(r"over_M = k_group", text) and re.search(r"over_N = k_lane", text)
    compiled = _on(one_block_alone)
    assert re.search(r"over_N = k_lane", compiled.inspect("kernels").partition("__kernel")[2])
    assert "one group runs it" in str(compiled.explain())


def test_few_elements_are_one_work_items(accelerator):
    compiled = _on(few)
    text = compiled.inspect("kernels").partition("__kernel")[2]
    assert re.search(r"over_M = k_item\(0\)", text) and re.search(r"for \(i64 over_D = 0", text)
    assert ":D: a work-item runs it by itself, in registers" in str(compiled.explain())


def test_more_elements_than_few_are_right_all_the_same():
    compiled = weft.jit(few)
    for width in (18, 30, 5, 200, 201):
        ours = _pair(100, width)
        compiled(*ours)
        assert np.array_equal(ours[1], ours[0] * 2.0)


def test_loops_run_in_the_order_of_the_dimensions(accelerator):
    text = _on(in_order).inspect("kernels").partition("__kernel")[2]
    assert re.search(r"over_N = k_item\(1\)", text) and re.search(r"over_M = k_item\(0\)", text)
    here = weft.jit(in_order, fallback="error")
    _agree(in_order, here, CASES[in_order])
    assert re.search(r"over_N\b.*\n.*over_M", str(here.program()))


def test_a_comment_that_is_not_legal_changes_nothing():
    def running(a):
        M, N = a.shape
        for i in range(1, M):
            #pragma :N=>parallel,block(8)
            a[i, :N] = a[i - 1, :N] + a[i, :N]

    compiled = weft.jit(running, fallback="error")
    _agree(running, compiled, lambda: (_random(30, 40),))


def test_names_of_blocks_are_tuned(monkeypatch):
    def named(a, c, N, BN=64):
        #pragma :N=>parallel,block(BN)
        c[:N] = a[:N] * 2.0

    compiled = weft.jit(named, tune={"BN": [64, 512]})
    for _ in range(8):
        ours = _pair(700)
        compiled(*ours, 700)
        assert np.array_equal(ours[1], ours[0] * 2.0)
    texts = {key: str(function.program()) for key, function in compiled._own.items()}
    assert all(f"{value} * over_N_block" in texts[((name, value),)] for ((name, value),) in texts)
    assert len(texts) == 2


MODULE = """
import numpy as np, weft

@weft.jit
def place(out, where, a):
    {comment}
    for i in range(a.shape[0]):
        out[where[i]] = a[i]

place(np.zeros(3), np.zeros(2000, dtype=np.int64), np.zeros(2000))
print("weft_parallel" in place.inspect("c"), place.stats["misses"])
print(place.inspect("c"))
"""


def test_another_process_does_not_get_loops_of_another_comment(tmp_path):
    """Comments are no part of the code that Python compiles."""
    file, texts = tmp_path / "placing.py", []
    for comment in ("#pragma parallel for", "# nothing else here ", "#pragma parallel for"):
        file.write_text(MODULE.format(comment=comment))
        done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, check=True)
        texts.append(done.stdout)
    assert texts[0] == texts[2] != texts[1]
