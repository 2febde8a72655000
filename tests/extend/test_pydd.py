"""`weft.pydd`: the listings of the paper on Intrepydd, and the names of its tables."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import weft
from weft import pydd

sparse = pytest.importorskip("scipy.sparse")


def test_parallel_loops(tmp_path: Path) -> None:
    """Listing 1."""
    source = tmp_path / "double.pydd"
    source.write_text(
        "# Double each element of array A\n"
        "def twice(A: Array(double, 1)):\n"
        "    pfor i in range(A.shape[0]):\n"
        "        temp = 2 * A[i]\n"
        "        A[i] = temp\n"
    )
    module = pydd.load(source, fallback="error")
    a = np.arange(5000.0)
    module.twice(a)
    assert np.array_equal(a, 2 * np.arange(5000.0))
    assert "k_rt->parallel" in module.twice.inspect("c")


def test_page_rank_nibble() -> None:
    """Listing 3: the sweep and the new frontier."""
    module = pydd.module_of(
        """
def sweep(frontier, indptr, indices, degrees, r, p, alpha, epsilon):
    r_prime = copy(r)
    for i in frontier:
        p[i] += ((2.0 * alpha) / (1.0 + alpha)) * r[i]
        r_prime[i] = 0.0

    for i in frontier:
        for j in range(indptr[i], indptr[i+1]):
            dst_idx = indices[j]
            update = (((1.0 - alpha) / (1.0 + alpha))
                    * r[i] / degrees[i])
            r_prime[dst_idx] = r_prime[dst_idx] + update
    r = r_prime
    frontier = where(r >= degrees*epsilon and degrees > 0)
    return r, frontier
""",
        fallback="error",
    )
    graph = sparse.random_array((30, 30), density=0.2, rng=np.random.default_rng(0)).tocsr()
    degrees = np.diff(graph.indptr).astype(float)
    r, p = np.zeros(30), np.zeros(30)
    r[3] = 1.0
    frontier = np.array([3])
    indices, indptr = graph.indices.astype(np.int64), graph.indptr.astype(np.int64)
    wanted = r.copy()
    wanted[3] = 0.0
    for j in range(indptr[3], indptr[4]):
        wanted[indices[j]] += (1 - 0.1) / (1 + 0.1) * r[3] / degrees[3]
    found, front = module.sweep(frontier, indptr, indices, degrees, r, p, 0.1, 1e-3)
    assert np.allclose(found, wanted)
    assert np.array_equal(front, np.where((wanted >= degrees * 1e-3) & (degrees > 0))[0])
    assert p[3] == pytest.approx(0.2 / 1.1)


def test_shapes_and_dense_fusion() -> None:
    """Listings 4 and 7."""
    module = pydd.module_of(
        """
def foo(xs: Array(double, 2)) -> double:
    total = 0.0
    for i in range(shape(xs, 0)):
        for j in range(shape(xs, 1)):
            a = xs[i, j]
            total += a
    return total

def fused(a, b, c):
    d = sqrt(abs(a)) / b * c.T
    return d

def by_hand(a, b, c):
    v1 = c.T
    d = empty([a.shape(0), a.shape(1)], float64())
    for i1 in range(a.shape(0)):
        for i2 in range(a.shape(1)):
            d[i1,i2] = sqrt(abs(a[i1,i2])) / b[i2] * v1[i1,i2]
    return d
""",
        fallback="error",
    )
    a, b, c = np.random.default_rng(0).random((4, 5)), np.ones(5) * 2, np.random.default_rng(1).random((5, 4))
    assert module.foo(a) == pytest.approx(a.sum())
    assert np.array_equal(module.fused(a, b, c), np.sqrt(np.abs(a)) / b * c.T)
    assert np.array_equal(module.by_hand(a, b, c), module.fused(a, b, c))


def test_sparsity() -> None:
    """Listing 8: the statement, and what the paper makes of it."""
    module = pydd.module_of(
        """
def statement(s, a, b, x, y):
    t = spm_mul(s, a @ b / x * y)
    return t

def by_hand(s, a, b, x, y):
    t = empty_spm([s.shape(0), s.shape(1)], float64())
    for (row, col, val) in s.nonzero_elements():
        # Scalarized loop body
        v1 = 0.0
        for i1 in range(a.shape(1)):
            v1 += a[row,i1] * b[i1,col]
        spm_set_item(t, val*v1 / x[row,col] * y[col], row, col)
    return t
""",
        fallback="silent",
    )
    draw = np.random.default_rng(0)
    s = sparse.random_array((6, 7), density=0.3, rng=draw).tocsr()
    a, b, x, y = draw.random((6, 4)), draw.random((4, 7)), draw.random((6, 7)) + 1, draw.random(7)
    wanted = s.toarray() * (a @ b / x * y)
    assert np.allclose(module.statement(s, a, b, x, y).toarray(), wanted)
    assert np.allclose(module.by_hand(s, a, b, x, y).toarray(), wanted)


def test_outer_products_with_tasks() -> None:
    """Listing 10."""
    module = pydd.module_of(
        """
def SpGEMM_OuterProduct(A: SparseMat, B: SparseMat) -> SparseMat:
    C = empty_spm(A.shape(0), B.shape(1))
    Y = A.getNonZeroColumnIndices() # Set of valid column indices
    Z = B.getNonZeroRowIndices()    # Set of valid row indices
    X = sorted(Y & Z)                # Sorted list of valid indices
    finish:
        for x in X:
            colA = A.getCol(x) # List of non-zeros (index, value)
            rowB = B.getRow(x) # List of non-zeros (index, value)
            for (i, A_ix) in colA:
                for (j, B_xj) in rowB:
                    partial = A_ix * B_xj
                    async:
                        isolated:
                            C[i,j] += partial
    return C
""",
        fallback="silent",
    )
    draw = np.random.default_rng(0)
    a = sparse.random_array((5, 6), density=0.4, rng=draw).tocsr()
    b = sparse.random_array((6, 4), density=0.4, rng=draw).tocsr()
    assert np.allclose(module.SpGEMM_OuterProduct(a, b).toarray(), (a @ b).toarray())


def test_sinkhorn() -> None:
    """Listing 13, against Listing 11."""
    module = pydd.module_of(
        """
def kernel(K, M, x: Array(float64, 2),
          r, values, columns, indexes: Array(float64, 1),
          max_iter, ncols_c: int32) -> Array(float64, 1):
    c = csr_to_spm(values, columns, indexes, ncols_c)
    it = 0
    while it < max_iter:
        u = 1.0 / x
        v = c.spm_mul(1 / (K.T @ u))
        x = spmm_dense((1 / r) * K, v)
        it += 1
    u = 1.0 / x
    v = c.spm_mul(1 / (K.T @ u))
    return (u * spmm_dense(K * M, v)).sum(0)
""",
        fallback="silent",
    )
    draw = np.random.default_rng(0)
    c = sparse.random_array((8, 5), density=0.5, rng=draw).tocsr()
    K, M, r = draw.random((6, 8)) + 0.1, draw.random((6, 8)), draw.random((6, 1)) + 0.1
    x = np.ones((6, 5)) / 6

    def python(K, M, x, r, c, max_iter):
        for _ in range(max_iter):
            u = 1.0 / x
            v = c.multiply(1 / (K.T @ u))
            x = (1 / r) * K @ v.tocsc()
        u = 1.0 / x
        v = c.multiply(1 / (K.T @ u))
        return (u * ((K * M) @ v)).sum(axis=0)

    places = c.indices.astype(float), c.indptr.astype(float)
    found = module.kernel(K, M, x, r, c.data, *places, 4, 5)
    assert np.allclose(found, python(K, M, x, r, c, 4))


def test_tasks_run() -> None:
    module = pydd.module_of(
        """
def total(a, parts):
    finish:
        for k in range(4):
            async:
                s = 0.0
                for i in range(k, a.shape[0], 4):
                    s += a[i]
                isolated:
                    parts[0] += s
    return parts[0]
""",
        fallback="error",
    )
    assert module.total(np.arange(100.0), np.zeros(1)) == 4950.0


def test_heaps_of_both_orders() -> None:
    def ordered(items):
        low = pydd.MinHeap()
        high = pydd.MaxHeap()
        for item in items:
            low.push(item)
            high.push(item)
        made = []
        while len(low) > 0:
            made.append(low.pop())
            made.append(high.peek())
            high.pop()
        return made

    items = [3.0, 1.0, 4.0, 1.5, 9.0, 2.0]
    rising = sorted(items)
    wanted = [value for pair in zip(rising, rising[::-1]) for value in pair]
    assert ordered(items) == wanted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert weft.jit(ordered)(items) == wanted


TABLE = """sum prod min max argmin argmax any all allclose where abs minus isnan isinf logical_not sqrt exp cos sin tan
acos asin atan copy add sub mul maximum pow div log eq neq lt gt le ge logical_and logical_or transpose matmult
innerprod matvect
vectmat matmat syr syr2k symm trmm lu ludcmp spm_add spm_mul spmv spmm spmm_dense Array SparseMat List Dict Heap MinHeap
MaxHeap pfor async_ finish isolated shape ndim csr_to_spm empty_spm double float64 int32""".split()


def test_the_names_of_the_tables() -> None:
    assert set(TABLE) <= set(pydd.__all__)
    assert pydd.Array(pydd.double, 2) == weft.f64[:, :]

    @weft.jit(fallback="error")
    def algebra(a, b, x):
        lower = pydd.lu(a)
        return pydd.syr2k(a, b), pydd.symm(a, b), pydd.trmm(a, b), lower, pydd.ludcmp(a, x), pydd.matvect(a, x)

    draw = np.random.default_rng(0)
    a, b, x = draw.random((5, 5)) + 5 * np.eye(5), draw.random((5, 5)), draw.random(5)
    twice, symmetric, triangular, factors, solution, product = algebra(a, b, x)
    assert np.allclose(twice, a @ b.T + b @ a.T)
    assert np.allclose(symmetric, (np.tril(a) + np.tril(a, -1).T) @ b)
    assert np.allclose(triangular, np.tril(a) @ b)
    assert np.allclose((np.tril(factors, -1) + np.eye(5)) @ np.triu(factors), a)
    assert np.allclose(a @ solution, x) and np.allclose(product, a @ x)
    s = sparse.csr_array(np.triu(a))
    assert np.allclose(pydd.spmv(s, x), np.triu(a) @ x)
    assert np.allclose(pydd.spmm(s, s).toarray(), np.triu(a) @ np.triu(a))
    assert np.allclose(pydd.spm_add(s, s).toarray(), 2 * np.triu(a))
    assert np.allclose(pydd.spmm_dense(b, s), b @ np.triu(a))


def _forms() -> list[tuple[str, str]]:
    """Every function of Table 2: a call, and what it means. Operands are arrays, numbers and sparse matrices."""
    plain = {"minus": "negative", "sub": "subtract", "mul": "multiply", "pow": "power", "div": "true_divide"}
    plain |= {
        "eq": "equal",
        "neq": "not_equal",
        "lt": "less",
        "gt": "greater",
        "le": "less_equal",
        "ge": "greater_equal",
    }
    plain |= {"acos": "arccos", "asin": "arcsin", "atan": "arctan"}
    unary = "abs minus isnan isinf sqrt exp cos sin tan acos asin atan log logical_not".split()
    binary = "add sub mul maximum pow div eq neq lt gt le ge logical_and logical_or".split()
    pairs = ("A, B", "A, b", "a, B", "a, b")
    calls = [(name, "A") for name in "sum prod min max argmin argmax any all".split()]
    calls += [(name, "aA"[at % 2]) for at, name in enumerate(unary)]
    calls += [(name, pairs[at % 4]) for at, name in enumerate(binary)]
    found = [(f"{name}({given})", f"np.{plain.get(name, name)}({given})") for name, given in calls]
    found += [("log(A, b)", "np.log(A) / np.log(b)"), ("copy(A)", "A"), ("allclose(A, B)", "False")]
    found += [("transpose(A)", "A.T"), ("innerprod(v, w)", "v @ w"), ("vectmat(v, A)", "v @ A")]
    found += [(f"{name}(A, B)", "A @ B") for name in ("matmult", "matmat")]
    for one, other in (("S", "A"), ("A", "S"), ("S", "a"), ("a", "S"), ("S", "T"), ("S", "v"), ("v", "S")):
        dense = [f"{name}.toarray()" if name in "ST" else name for name in (one, other)]
        found.append((f"spm_add({one}, {other})", " + ".join(dense)))
        found.append((f"spm_mul({one}, {other})", " * ".join(dense)))
        if "a" not in (one, other):
            found += [(f"{name}({one}, {other})", " @ ".join(dense)) for name in ("spmm", "spmm_dense")]
    return [*found, ("spmv(S, v)", "S.toarray() @ v")]


def test_every_function_of_the_table_is_native_over_all_its_operands() -> None:
    draw = np.random.default_rng(0)
    space = {"A": draw.random((4, 4)) / 2, "B": draw.random((4, 4)), "a": 0.3, "b": 0.7, "v": draw.random(4)}
    space |= {"w": draw.random(4), "np": np}
    for name in "ST":
        space[name] = sparse.random_array((4, 4), density=0.5, rng=draw).tocsr()
    forms = _forms()
    names = ", ".join(name for name in space if name != "np")
    groups = [forms[at : at + 12] for at in range(0, len(forms), 12)]
    texts = [", ".join(call for call, _ in group) for group in groups]
    text = "".join(f"def f{at}({names}):\n    return {calls}\n\n" for at, calls in enumerate(texts))
    module = pydd.module_of(text, fallback="error")
    arguments = [value for name, value in space.items() if name != "np"]
    for at, group in enumerate(groups):
        for (call, meaning), found in zip(group, getattr(module, f"f{at}")(*arguments)):
            found = found.toarray() if sparse.issparse(found) else found
            assert np.allclose(found, eval(meaning, dict(space))), call
