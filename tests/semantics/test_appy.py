"""Every listing of the slides on APPy as it is printed there, with weft's decorator, on the CPU and on a device; and
the options of the decorator that come with them.  Garbled letters of the print are mended; `appy` and `torch` are weft
and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy import dot, empty, exp, maximum, sum  # noqa: A004

import weft
from tests.support import opencl_device
from weft import vidx
from weft.errors import OptionError, PragmaError


def vector_add(a, b, c, N):
    #pragma parallel for
    for i in range(N):
        c[i] = a[i] + b[i]


def vector_add_simd(a, b, c, N):
    #pragma parallel for simd
    for i in range(N):
        c[i] = a[i] + b[i]


def vector_add_generated(a, b, c, N):
    #pragma parallel for
    for i in range(0, N, weft.MVL):
        v = weft.vidx(i, weft.MVL, N)
        c[v] = a[v] + b[v]


def softmax_loop_oriented(a, b, M, N):
    #pragma parallel for
    for i in range(M):
        m = float('-inf')
        #pragma simd
        for j in range(N):
            m = maximum(m, a[i, j])
        s = 0.0
        #pragma simd
        for j in range(N):
            s += exp(a[i, j] - m)
        #pragma simd
        for j in range(N):
            b[i, j] = exp(a[i, j] - m) / s


def softmax_tensor_oriented(a, b, M, N):
    #pragma parallel for
    for i in range(M):
        m = max(a[i, :N])
        s = sum(exp(a[i, :N] - m))
        b[i, :N] = exp(a[i, :N] - m) / s


def sliced(A, B, C, D, E, M, N):
    #pragma :M=>parallel :N=>parallel
    C[:M, :N] = A[:M, :N] + B[:M, :N]
    #pragma :M=>parallel :N=>reduction(sum:D)
    D[:M] = sum(A[:M, :N], axis=1)
    #pragma :M=>parallel :N=>parallel
    A[:M, :N] = D[:M, None] + E[None, :N]
    #pragma 1:M-1=>parallel 1:N-1=>parallel
    B[1:M-1, 1:N-1] = 0.2 * (A[1:M-1, 1:N-1] + A[1:M-1, :N-2] + A[1:M-1, 2:N])


def mv(alpha, A, x, y):
    M, N = A.shape
    #pragma :M=>parallel :N=>reduction(sum:y)
    y[:M] = dot(alpha * A[:M, :N], x[:N])


def mv_generated(alpha, A, x, y):
    M, N = A.shape
    #pragma parallel for
    for _i0 in range(0, M, 1):
        y[_i0] = 0.0
        for _i1 in range(0, N, weft.MVL):
            _v1 = weft.vidx(_i1, weft.MVL, N)
            y[_i0] += sum(alpha * A[_i0, _v1] * x[_v1])


def spmv_by_operators(A_row, A_col, A_val, x):
    N = A_row.shape[0]
    y = empty([N - 1], dtype=A_val.dtype)
    for i in range(N - 1):
        cols = A_col[A_row[i]:A_row[i + 1]]
        vals = A_val[A_row[i]:A_row[i + 1]]
        y[i] = dot(vals, x[cols])
    return y


def spmv(A_row, A_col, A_val, x):
    N = A_row.shape[0]
    y = empty([N - 1], dtype=A_val.dtype)
    #pragma parallel for
    for i in range(N - 1):
        start = A_row[i]
        end = A_row[1+i]
        y[i] = 0.0
        #pragma simd
        for j in range(start, end):
            cols = A_col[j]
            y[i] += A_val[j] * x[cols]
    return y


def spmv_blocked(A_row, A_col, A_val, x, Bj=128):
    N = A_row.shape[0]
    y = empty([N - 1], dtype=A_val.dtype)
    #pragma parallel
    for i in range(N - 1):
        start = A_row[i]
        end = A_row[1+i]
        y[i] = 0.0
        for j in range(start, end, Bj):
            vj = vidx(j, Bj, end)
            cols = A_col[vj]
            vals = A_val[vj]
            y[i] += sum(vals * x[cols])
    return y


def azimint_kernel(radius, r1, r2, data, data_sum, \
                   mask_sum, N):
    #pragma parallel for simd
    for i in range(0, N):
        mask = np.logical_and(r1 <= radius[i], radius[i] < r2)
        #pragma atomic
        data_sum[0] += np.where(mask, data[i], 0)
        #pragma atomic
        mask_sum[0] += mask


def azimint_blocked(radius, r1, r2, data, data_sum, mask_sum, N, BN=512):
    #pragma parallel
    for i in range(0, N, BN):
        i = weft.vidx(i, BN, N)
        mask = np.logical_and(r1 <= radius[i], radius[i] < r2)
        mask = mask.astype(np.float64)
        #pragma atomic
        data_sum[0] += np.sum(data[i] * mask)
        #pragma atomic
        mask_sum[0] += np.sum(mask)


def heat_3d(TSTEPS, A, B):
    M, N, K = A.shape
    for t in range(1, TSTEPS):
        #pragma 1:M-1=>parallel 1:N-1=>parallel 1:K-1=>parallel
        B[1:-1, 1:-1, 1:-1] = (0.125 * (A[2:, 1:-1, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] +
                                        A[:-2, 1:-1, 1:-1]) + 0.125 *
                               (A[1:-1, 2:, 1:-1] - 2.0 * A[1:-1, 1:-1, 1:-1] +
                                A[1:-1, :-2, 1:-1]) + 0.125 *
                               (A[1:-1, 1:-1, 2:] - 2.0 * A[1:-1, 1:-1, 1:-1] +
                                A[1:-1, 1:-1, 0:-2]) + A[1:-1, 1:-1, 1:-1])
        #pragma 1:M-1=>parallel 1:N-1=>parallel 1:K-1=>parallel
        A[1:-1, 1:-1, 1:-1] = (0.125 * (B[2:, 1:-1, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] +
                                        B[:-2, 1:-1, 1:-1]) + 0.125 *
                               (B[1:-1, 2:, 1:-1] - 2.0 * B[1:-1, 1:-1, 1:-1] +
                                B[1:-1, :-2, 1:-1]) + 0.125 *
                               (B[1:-1, 1:-1, 2:] - 2.0 * B[1:-1, 1:-1, 1:-1] +
                                B[1:-1, 1:-1, 0:-2]) + B[1:-1, 1:-1, 1:-1])
    return A, B


def loop_kernel(a, b, c, N, BN=256):
    #pragma parallel
    for i in range(0, N, BN):
        i = weft.vidx(i, BN, bound=N)
        c[i] = a[i] + b[i]


def add(a, b, c, N, BN=128):
    #pragma :N=>parallel,block(BN)
    c[:N] = a[:N] + b[:N]


def add_by_blocks(a, b, c, N, BN=128):
    #pragma parallel
    for i in range(0, N, BN):
        vi = weft.vidx(i, BN, bound=N)
        c[vi] = a[vi] + b[vi]


def syrk(alpha, beta, C, A):
    M, N = A.shape
    M, M = C.shape
    alpha, beta = float(alpha), float(beta)
    #pragma parallel
    for i in range(M):
        #pragma :i+1=>block(2048), single_block
        C[i, :i+1] *= beta
        for k in range(N):
            #pragma :i+1=>block(2048), single_block
            C[i, :i+1] += alpha * A[i, k] * A[:i+1, k]
    return C


def gesummv_part(alpha, A, x, y1):
    M, N = A.shape
    #pragma :M=>parallel,block(2) :N=>reduce(sum:y1)
    y1[:M] = np.matmul(alpha * A[:M, :N], x[:N])


def floyd_warshall(path):
    M, N = path.shape
    for k in range(M):
        #pragma :M=>parallel, block(2) :N=>parallel
        path[:M, :N] = np.minimum(path[:M, :N], path[:M, k][:, None] + path[k, :N][None, :])


def covariance(cov, data):
    float_n, M = data.shape
    #pragma parallel
    for i in range(M):
        #pragma i:M=>block(2) :float_n=>block(2048), in_reg
        cov[i, i:M] = np.sum(data[:float_n, i][:, None] * data[:float_n, i:M], axis=0)
        #pragma i:M=>block(256)
        cov[i:M, i] = cov[i, i:M]


def go_fast(a):
    trace = np.zeros(1, dtype=a.dtype)
    N = a.shape[0]
    #pragma parallel
    for i in range(N):
        #pragma atomic
        trace[0] += np.tanh(a[i, i])
    return a + trace


def tuned_by_name(a, b, c, N):
    #pragma parallel
    for _top_var_0 in range(0, N, APPY_BLOCK):  # noqa: F821
        _top_0 = vidx(_top_var_0, APPY_BLOCK, N)  # noqa: F821
        c[_top_0] = a[_top_0] + b[_top_0]


def _random(*shape):
    return np.random.default_rng(len(shape) + shape[0]).random(shape)


def _three(count=700):
    return _random(count), _random(count), np.zeros(count), count


def _sparse():
    pattern = np.random.default_rng(3).integers(0, 40, 31)
    rows = np.concatenate(([0], np.cumsum(pattern)))
    return rows, np.random.default_rng(4).integers(0, 60, rows[-1]), _random(rows[-1]), _random(60)


def _azimint():
    return _random(900), 0.2, 0.6, _random(900), np.zeros(1), np.zeros(1), 900


LISTINGS = [
    (vector_add, {}, _three),
    (vector_add_simd, {}, _three),
    (vector_add_generated, {}, _three),
    (softmax_loop_oriented, {}, lambda: (_random(20, 70), np.zeros((20, 70)), 20, 70)),
    (softmax_tensor_oriented, {"auto_simd": True}, lambda: (_random(20, 70), np.zeros((20, 70)), 20, 70)),
    (softmax_tensor_oriented, {"auto_simd": False}, lambda: (_random(20, 70), np.zeros((20, 70)), 20, 70)),
    (sliced, {}, lambda: (*(_random(20, 30) for _ in "ABC"), _random(20), _random(30), 20, 30)),
    (mv, {"auto_simd": True}, lambda: (1.5, _random(40, 60), _random(60), np.zeros(40))),
    (mv_generated, {}, lambda: (1.5, _random(40, 60), _random(60), np.zeros(40))),
    (spmv_by_operators, {}, _sparse),
    (spmv, {}, _sparse),
    (spmv_blocked, {}, _sparse),
    (azimint_kernel, {}, _azimint),
    (azimint_blocked, {"dump": True}, _azimint),
    (
        heat_3d,
        {"dim_info": {"A": ("M", "N", "K"), "B": ("M", "N", "K")}, "auto_simd": True},
        lambda: (6, _random(9, 10, 11), _random(9, 10, 11)),
    ),
    (loop_kernel, {}, _three),
    (add, {"auto_simd": True}, _three),
    (add_by_blocks, {"tune": {"BN": [64, 128]}}, _three),
    (tuned_by_name, {"tune": {"APPY_BLOCK": [128, 256, 512, 1024]}}, _three),
    (syrk, {}, lambda: (1.5, 0.5, _random(30, 30), _random(30, 20))),
    (gesummv_part, {}, lambda: (1.5, _random(40, 60), _random(60), np.zeros(40))),
    (floyd_warshall, {}, lambda: (_random(25, 25),)),
    (covariance, {}, lambda: (np.zeros((12, 12)), _random(50, 12))),
    (go_fast, {}, lambda: (_random(60, 60),)),
]


def _agree(function, compiled, make):
    ours, theirs = make(), make()
    result = compiled(*ours)
    space = function.__globals__
    space.setdefault("APPY_BLOCK", 128)
    expected = function(*theirs)
    for one, other in zip((result, *ours), (expected, *theirs)):
        assert other is None or np.allclose(one, other)


@pytest.mark.parametrize("function, options, make", LISTINGS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_listing_on_the_cpu(function, options, make):
    _agree(function, weft.jit(function, fallback="error", **options), make)


@pytest.mark.parametrize("function, options, make", LISTINGS, ids=lambda value: getattr(value, "__name__", ""))
def test_a_listing_on_a_device(function, options, make):
    opencl_device()
    _agree(function, weft.jit(function, target="opencl", fallback="error", **options), make)


# --- options ----------------------------------------------------------------------------------------------------------


def test_dimensions_of_one_name_have_one_size():
    compiled = weft.jit(heat_3d, dim_info={"A": ("M", "N", "K"), "B": ("M", "N", "K")})
    with pytest.raises(PragmaError, match=r"dimension 'N' is 10 \(axis 1 of A\) and 12 \(axis 1 of B\)"):
        compiled(3, _random(9, 10, 11), _random(9, 12, 11))
    compiled(3, _random(9, 10, 11), _random(9, 10, 11))
    with pytest.raises(PragmaError, match="dimension 'K'"):
        compiled(3, _random(9, 10, 11), _random(9, 10, 12))


def test_dim_info_names_arrays_and_all_their_dimensions():
    with pytest.raises(PragmaError, match="names 'C', which is no array"):
        weft.jit(heat_3d, dim_info={"C": ("M",)})(3, _random(9, 10, 11), _random(9, 10, 11))
    with pytest.raises(PragmaError, match="gives A 2 dimensions, it has 3"):
        weft.jit(heat_3d, dim_info={"A": ("M", "N")})(3, _random(9, 10, 11), _random(9, 10, 11))


@pytest.mark.parametrize(
    "options, text",
    [
        ({"tune": {"N": [1, 2]}}, "needs a default"),
        ({"tune": {"Z": [1, 2]}}, "does not use 'Z'"),
        ({"tune": {"BN": []}}, "is not a name with integers"),
        ({"tune": 3}, "is not a dict"),
        ({"dim_info": {"a": [3]}}, "is not a name with names of dimensions"),
        ({"dump": "yes"}, "is not one of True, False"),
    ],
)
def test_wrong_options_are_named(options, text):
    with pytest.raises(OptionError, match=text):
        weft.jit(add, **options)


def test_the_clock_chooses_a_number_for_each_kind_of_arguments(monkeypatch):
    from weft import blocksizes

    # Three calls that compile, then two rounds in which the second number is the fastest.
    ticks = iter([0, 9, 0, 9, 0, 9, 0, 5, 0, 2, 0, 5, 0, 5, 0, 2, 0, 5, *[0, 1] * 9])
    monkeypatch.setattr(blocksizes, "perf_counter", lambda: float(next(ticks)))
    compiled = weft.jit(add_by_blocks, tune={"BN": [64, 128, 256]})
    for _ in range(9):
        _agree(add_by_blocks, compiled, _three)
    assert compiled.stats["tuned"] == [{"BN": 128}]
    arguments = _three()
    compiled(*arguments, BN=32)  # the caller's own choice
    assert np.allclose(arguments[2], arguments[0] + arguments[1])


def test_pragmas_inferred_on_a_device():
    opencl_device()
    compiled = weft.jit(plain_copy, target="opencl", fallback="error")
    compiled(_random(30, 40), np.zeros((30, 40)))
    assert "#pragma parallel for" in compiled.explain("pragmas")
    compiled = weft.jit(looked_up, target="opencl", fallback="error")
    compiled(_random(3000), np.arange(3000)[::-1].copy())
    assert "parallel for" not in compiled.explain("pragmas")


def test_dump_prints_what_was_generated(capsys):
    weft.jit(vector_add, dump=True)(*_three())
    assert "--- vector_add" in capsys.readouterr().err


# --- what weft infers -------------------------------------------------------------------------------------------------


def plain_rows(a, y):
    for i in range(a.shape[0]):
        s = 0.0
        for j in range(a.shape[1]):
            s += a[i, j] * a[i, j]
        y[i] = s
    t = a * 2.0 + 1.0
    return t.sum(axis=0)


def plain_copy(a, b):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j] + 1.0


def factored(a):
    """Passes make other loops of these, some of which run at once; none of the source's outermost ones may."""
    for i in range(a.shape[0]):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])


def on_one_line(a, y):
    for i in range(a.shape[0]): y[i] = a[i, :].sum()  # noqa: E701
    u = a * 2.0; v = u + 1.0  # noqa: E702
    return v


def looked_up(a, k):
    """Two loops are parallel by themselves, but what reads any element of the other is not parallel with it."""
    b = np.zeros(a.shape[0])
    c = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        b[i] = a[i] * 2.0
        c[i] = b[k[i]] + 1.0
    return c


@pytest.mark.parametrize(
    "function, make, words",
    [
        (factored, lambda: (_random(30, 30) @ _random(30, 30).T + 30.0 * np.eye(30),), ()),
        (on_one_line, lambda: (_random(30, 40), np.zeros(30)), ()),
        (looked_up, lambda: (_random(3000), np.arange(3000)[::-1].copy()), ()),
        (plain_rows, lambda: (_random(300, 400), np.zeros(300)), ("#pragma parallel for", "#pragma simd")),
        (plain_copy, lambda: (_random(300, 400), np.zeros((300, 400))), ("#pragma parallel for", "#pragma simd")),
    ],
)
def test_inferred_pragmas_are_pragmas_that_weft_takes(function, make, words, tmp_path):
    compiled = weft.jit(function, fallback="error")
    compiled(*make())
    text = compiled.explain("pragmas")
    assert text == compiled.inspect("pragmas")
    assert all(word in text for word in words)
    file = tmp_path / "annotated.py"
    file.write_text("import numpy as np\n" + text)
    space: dict = {}
    exec(compile(file.read_text(), str(file), "exec"), space)
    again = weft.jit(space[function.__name__], fallback="error")
    ours, theirs = make(), make()
    result, expected = again(*ours), function(*theirs)
    assert expected is None or np.allclose(result, expected)
    assert all(np.allclose(one, other) for one, other in zip(ours, theirs))


@pytest.mark.parametrize("function, argument", [(factored, np.eye(40)), (looked_up, None)])
def test_no_pragma_is_inferred_that_asserts_too_much(function, argument):
    compiled = weft.jit(function, fallback="error")
    compiled(*((argument,) if argument is not None else (_random(3000), np.arange(3000)[::-1].copy())))
    lines = compiled.explain("pragmas").splitlines()
    outer = next(number for number, line in enumerate(lines) if "for i in" in line)
    assert "parallel" not in lines[outer - 1]
