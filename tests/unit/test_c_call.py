"""Library calls of the C back end: products of any strides and sizes, by BLAS or by the loops beside it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.codegen import compiled, native

pytestmark = native

GEMM = """
program f(a, b, c):
  size n = c.shape[0]
  size m = c.shape[1]
  size l = a.shape[1]
  param a: f64[n, l] strided
  param b: f64[l, m] strided
  param c: f64[n, m] strided
  disjoint a, c
  disjoint b, c
  output #0 = None
  call gemm(a[i, k], b[k, j]){factors}: c[i, j] = {value}   for i: 0 <= i < n, j: 0 <= j < m
  return #0
"""
PRODUCT = "(sum[k: 0 <= k < l] a[i, k] * b[k, j])"


@pytest.mark.parametrize("factors", ["plain", "scaled", "kept"])
@pytest.mark.parametrize("sizes", [(5, 4, 3), (1, 4, 3), (5, 1, 3), (5, 4, 1), (0, 3, 2), (3, 2, 0), (1, 1, 1)])
def test_matrix_products_of_any_strides(factors, sizes):
    n, m, l = sizes
    given = {
        "plain": ("", PRODUCT),
        "scaled": (" scale 2.5_f64", f"2.5_f64 * {PRODUCT}"),
        "kept": (" scale 2.5_f64 keep 0.5_f64", f"2.5_f64 * {PRODUCT} + 0.5_f64 * c[i, j]"),
    }
    function = compiled(GEMM.format(factors=given[factors][0], value=given[factors][1]))
    rng = np.random.default_rng(2)
    scale, keep = {"plain": (1, 0), "scaled": (2.5, 0), "kept": (2.5, 0.5)}[factors]
    forms = [
        lambda r, s: rng.random((r, s)),
        lambda r, s: rng.random((s, r)).T,
        lambda r, s: rng.random((2 * r, s + 3))[::2, 1 : s + 1],
        lambda r, s: rng.random((r, 2 * s))[:, ::2],
        lambda r, s: rng.random((r, s))[::-1],
    ]
    for fa in forms:
        for fb in forms:
            for fc in forms[:4]:
                a, b, target = fa(n, l), fb(l, m), fc(n, m)
                wanted = scale * (a @ b) + (keep * target if keep else 0)
                function(a, b, target)
                np.testing.assert_allclose(target, wanted, rtol=1e-13, atol=1e-13)


def test_the_product_is_that_of_blas():
    if "->dgemm" not in (source := compiled(GEMM.format(factors="", value=PRODUCT)).source.text):
        pytest.fail(source)
    function = compiled(GEMM.format(factors="", value=PRODUCT))
    rng = np.random.default_rng(2)
    a, b, target = rng.random((120, 130)), rng.random((130, 110)), np.full((120, 110), np.nan)
    function(a, b, target)
    np.testing.assert_array_equal(target, a @ b)


@pytest.mark.parametrize("kind", ["f64", "f32", "c128", "c64"])
def test_matrix_vector_outer_and_inner_products(kind):
    numpy = {"f64": np.float64, "f32": np.float32, "c128": np.complex128, "c64": np.complex64}[kind]
    one = "j(1.0, 0.0)" if kind[0] == "c" else "1.0"
    text = f"""
program f(a, x, y, z):
  size n = a.shape[0]
  size m = a.shape[1]
  param a: {kind}[n, m] strided
  param x: {kind}[m] strided
  param y: {kind}[n] strided
  param z: {kind}[n, m] strided
  local s: {kind}
  disjoint a, y
  disjoint x, y
  disjoint z, x
  disjoint z, y
  disjoint z, a
  output #0 = scalar s
  call gemv(a[i, k], x[k]): y[i] = sum[k: 0 <= k < m] a[i, k] * x[k]   for i: 0 <= i < n
  call ger(y[p], x[q]) keep {one}_{kind}: z[p, q] = z[p, q] + y[p] * x[q]   for p: 0 <= p < n, q: 0 <= q < m
  call dot(x[u], z[0, u]): s = sum[u: 0 <= u < m] x[u] * z[0, u]
  return #0
"""
    function = compiled(text)
    rng = np.random.default_rng(4)

    def random(*shape):
        values = rng.random(shape)
        return (values + 1j * rng.random(shape) if kind[0] == "c" else values).astype(numpy)

    for n, m in ((6, 5), (1, 5), (6, 1), (2, 0), (1, 1)):
        for a in (random(n, m), random(m, n).T, random(n, 2 * m)[:, ::2]):
            x, y, z = random(2 * m)[::2], random(n), random(n, m)
            product, outer = a @ x, z + np.outer(a @ x, x)
            s = function(a, x, y, z)
            tolerance = 1e-5 if numpy in (np.float32, np.complex64) else 1e-13
            np.testing.assert_allclose(y, product, rtol=tolerance)
            np.testing.assert_allclose(z, outer, rtol=tolerance)
            np.testing.assert_allclose(s, x @ outer[0], rtol=tolerance)
